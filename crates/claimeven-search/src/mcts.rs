//! Monte Carlo tree search with UCB1 (UCT) and random playouts.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::ops::Range;
use std::time::Duration;

use claimeven_game::{Bits, Board, Column, Player, Position, Rules, with_board};
use fastrand::Rng;

use crate::agent::{
    Agent, AgentError, BoundKind, ColumnValue, Decision, Limits, SearchStats, Value,
};
use crate::stop::Stop;
use crate::tie_break::{TieBreak, generator};
use crate::tree::{NodeContent, Playout, Tree, TreeNode};

/// Monte Carlo tree search (UCT): plays the most visited move.
///
/// A simulation has four steps: *selection* walks down the tree along the moves with the greatest
/// upper confidence bound (UCB1), *expansion* adds the moves after a leaf, *simulation* plays a
/// random game from there, and *backpropagation* adds its result to the nodes of the path. Proven
/// wins and losses are backed up as in MCTS-Solver (Winands, Björnsson and Saito).
///
/// The tree is kept between moves: if the next position is one or two moves from the previous one,
/// the search continues with that part of it.
///
/// ```
/// use claimeven_game::{Position, Setup};
/// use claimeven_search::{Agent, Limits, Mcts, MctsParameters};
///
/// let parameters = MctsParameters { simulations: 500, ..MctsParameters::default() };
/// let position = Position::from_moves(Setup::STANDARD, "4455")?;
/// let decision = Mcts::new(parameters).decide(&position, &Limits::default())?;
/// println!("{} after {} simulations", decision.column, decision.stats.simulations);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Mcts {
    parameters: MctsParameters,
    tree: Option<GameTree>,
}

/// The parameters of [`Mcts`].
///
/// ```
/// use claimeven_search::{Mcts, MctsParameters};
///
/// let player = Mcts::new(MctsParameters { simulations: 500, seed: 7, ..MctsParameters::default() });
/// ```
#[derive(Clone, Debug)]
pub struct MctsParameters {
    /// Simulations per move.
    pub simulations: u64,
    /// The time limit per move.
    pub time: Option<Duration>,
    /// The exploration constant: the factor of the confidence interval.
    pub exploration: f64,
    /// Whether forced wins and losses are proven (MCTS-Solver).
    pub proofs: bool,
    /// Which of several equally good moves is played.
    pub tie_break: TieBreak,
    /// The seed of the playouts.
    pub seed: u64,
}

impl Default for MctsParameters {
    fn default() -> Self {
        MctsParameters {
            simulations: 10_000,
            time: None,
            exploration: 1.0,
            proofs: true,
            tie_break: TieBreak::default(),
            seed: 0,
        }
    }
}

/// Simulations between two reports to a monitor: a few milliseconds.
const REPORT_INTERVAL: u64 = 256;

/// Simulations between two checks of the clock: tens of microseconds.
const CLOCK_INTERVAL: u64 = 16;

/// The maximum number of nodes without a limit: about 1 GiB. A full tree is no longer expanded, but
/// simulations continue.
const MAX_NODES: usize = 1 << 24;

impl Mcts {
    /// A player with an empty tree.
    pub fn new(parameters: MctsParameters) -> Mcts {
        Mcts { parameters, tree: None }
    }

    /// Drops the tree, so that the next decision does not depend on earlier ones.
    pub fn clear(&mut self) {
        self.tree = None;
    }

    fn search(
        &mut self,
        position: &Position,
        limits: &Limits,
        playouts: Option<&mut Vec<RecordedPlayout>>,
    ) -> Result<Decision, AgentError> {
        if position.outcome().is_some() {
            return Err(AgentError::GameOver);
        }
        let stop = Stop::new(limits, self.parameters.time, None);
        let kept = self.tree.take().and_then(|tree| tree.moved_to(position, &stop));
        let tree = self.tree.insert(kept.unwrap_or_else(|| GameTree::new(position)));
        let max_nodes = limits.memory.map_or(MAX_NODES, |bytes| bytes / size_of::<Node>());
        let mut simulator = Simulator {
            tree,
            max_nodes: max_nodes.min(MAX_NODES),
            parameters: &self.parameters,
            random: generator(position, self.parameters.seed),
            path: Vec::new(),
            playouts,
        };
        let wanted = self.parameters.simulations.min(limits.simulations.unwrap_or(u64::MAX)).max(1);
        let order = self.parameters.tie_break.order(position, self.parameters.seed);
        let (mut done, mut stopped) = (0, false);
        while done < wanted && simulator.tree.nodes[0].proof.is_none() {
            // The first simulation adds the moves of the root, without which there is no decision.
            let is_due = done.is_multiple_of(CLOCK_INTERVAL)
                || limits.nodes.is_some_and(|nodes| done >= nodes);
            stopped = done > 0 && is_due && stop.check_now(done).is_err();
            if stopped || simulator.tree.nodes[0].visits == u32::MAX {
                stopped = true;
                break;
            }
            with_board!(position, board => simulator.simulate(board));
            done += 1;
            if done.is_multiple_of(REPORT_INTERVAL) && limits.monitor.is_some() {
                let Decision { value, pv, .. } = simulator.tree.decision(&order);
                stop.report(done, 0, value, &pv);
            }
        }
        let decision = tree.decision(&order);
        stop.report(done, 0, decision.value, &decision.pv);
        Ok(Decision {
            stats: SearchStats {
                nodes: tree.visited,
                leaves: done,
                simulations: done,
                ..SearchStats::default()
            },
            time: stop.elapsed(),
            stopped,
            ..decision
        })
    }
}

impl Agent for Mcts {
    fn decide(&mut self, position: &Position, limits: &Limits) -> Result<Decision, AgentError> {
        self.search(position, limits, None)
    }

    fn decide_with_tree(
        &mut self,
        position: &Position,
        limits: &Limits,
        levels: u32,
    ) -> Result<(Decision, Tree), AgentError> {
        let mut playouts = Vec::new();
        let decision = self.search(position, limits, Some(&mut playouts))?;
        let tree = self.tree.as_ref().expect("the search has built one");
        Ok((decision, tree.to_tree(levels, &playouts)))
    }

    fn memory(&self) -> usize {
        self.tree.as_ref().map_or(0, |tree| tree.nodes.capacity() * size_of::<Node>())
    }
}

/// The search tree. It stores no positions: each simulation replays its moves on a board.
struct GameTree {
    position: Position,
    nodes: Vec<Node>,
    /// Nodes with at least one visit.
    visited: u64,
}

/// A set of nodes as a bit vector.
struct NodeSet(Vec<u64>);

impl NodeSet {
    fn new(nodes: usize) -> NodeSet {
        NodeSet(vec![0; nodes.div_ceil(64)])
    }

    fn insert(&mut self, nodes: Range<usize>) {
        for node in nodes {
            self.0[node / 64] |= 1 << (node % 64);
        }
    }

    fn contains(&self, node: usize) -> bool {
        self.0[node / 64] >> (node % 64) & 1 == 1
    }

    /// For each word, the number of nodes of the set before it.
    fn ranks(&self) -> Vec<u32> {
        let before = self.0.iter().scan(0, |count, word| {
            let before = *count;
            *count += word.count_ones();
            Some(before)
        });
        before.collect()
    }

    /// The number of nodes of the set before this one.
    fn rank(&self, ranks: &[u32], node: usize) -> u32 {
        let before = self.0[node / 64] & ((1 << (node % 64)) - 1);
        ranks[node / 64] + before.count_ones()
    }
}

/// A move, with its results for the player who made it.
#[derive(Clone)]
struct Node {
    column: Column,
    /// The replies, which are consecutive nodes.
    children: Range<u32>,
    visits: u32,
    /// Two for each win, one for each draw.
    half_points: u64,
    proof: Option<Proof>,
}

/// A proven result and the plies to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Proof {
    /// Two for a win, one for a draw, zero for a loss.
    half_points: u64,
    plies: u32,
}

impl Proof {
    fn for_player(winner: Option<Player>, player: Player) -> Proof {
        let half_points = winner.map_or(1, |winner| if winner == player { 2 } else { 0 });
        Proof { half_points, plies: 0 }
    }

    /// The order of preference: fast wins, draws, slow losses.
    fn rank(self) -> (u64, i64) {
        let plies = i64::from(self.plies);
        (self.half_points, if self.half_points == 2 { -plies } else { plies })
    }

    /// The same result for the preceding move, which the opponent made.
    fn before(self) -> Proof {
        Proof { half_points: 2 - self.half_points, plies: self.plies + 1 }
    }
}

impl Node {
    fn new(column: Column) -> Node {
        Node { column, children: 0..0, visits: 0, half_points: 0, proof: None }
    }

    /// The mean or proven result for the player who made the move. Plies are counted from the node
    /// `level` plies above.
    fn value(&self, level: u32) -> Value {
        match self.proof {
            Some(Proof { half_points: 2, plies }) => Value::Win(plies + level),
            Some(Proof { half_points: 1, .. }) => Value::Draw,
            Some(Proof { plies, .. }) => Value::Loss(plies + level),
            None => Value::Expected(self.mean()),
        }
    }

    fn mean(&self) -> f64 {
        if self.visits == 0 {
            return 0.5;
        }
        self.half_points as f64 / (2.0 * f64::from(self.visits))
    }

    /// The ranking for the final choice: proven results first, then visits.
    fn rank(&self) -> (i8, i64) {
        match self.proof.map(Proof::rank) {
            Some((2, plies)) => (1, plies),
            Some((0, plies)) => (-1, plies),
            _ => (0, self.visits.into()),
        }
    }
}

/// A recorded playout: the node it started from, and its result for the player who had moved there
/// (2 for a win, 1 for a draw).
struct RecordedPlayout {
    node: u32,
    half_points: u8,
}

/// The maximum number of recorded playouts.
const MAX_PLAYOUTS: usize = 1 << 20;

struct Simulator<'a> {
    tree: &'a mut GameTree,
    max_nodes: usize,
    parameters: &'a MctsParameters,
    random: Rng,
    /// The nodes of the current simulation, from the root.
    path: Vec<usize>,
    /// The recorded playouts, if the tree is to be drawn.
    playouts: Option<&'a mut Vec<RecordedPlayout>>,
}

impl Simulator<'_> {
    fn simulate<R: Rules>(&mut self, mut board: Board<R>) {
        // 1. Selection: down to a leaf.
        self.path.clear();
        self.path.push(0);
        let mut node = 0;
        while !self.tree.nodes[node].children.is_empty() {
            node = self.select(node);
            board.play_unchecked(self.tree.nodes[node].column);
            self.path.push(node);
        }

        // 2. Expansion: a leaf that has been visited before gets its moves, and one is tried.
        let has_room = self.tree.nodes.len() < self.max_nodes && self.tree.nodes[node].visits > 0;
        if (node == 0 || has_room) && !board.is_over() {
            node = self.expand(node, &board);
            board.play_unchecked(self.tree.nodes[node].column);
            self.path.push(node);
        }

        // 3. Simulation: a random game.
        let mover = board.player().opponent();
        if self.parameters.proofs && board.is_over() {
            self.tree.nodes[node].proof = Some(Proof::for_player(board.leader(), mover));
            self.propagate_proofs();
        }
        let winner = self.playout(board);

        // 4. Backpropagation: every other node of the path is a move of the same player.
        let mut half_points = Proof::for_player(winner, mover).half_points;
        if let Some(playouts) =
            self.playouts.as_mut().filter(|playouts| playouts.len() < MAX_PLAYOUTS)
        {
            playouts.push(RecordedPlayout { node: node as u32, half_points: half_points as u8 });
        }
        for &node in self.path.iter().rev() {
            let node = &mut self.tree.nodes[node];
            self.tree.visited += u64::from(node.visits == 0);
            node.visits += 1;
            node.half_points += half_points;
            half_points = 2 - half_points;
        }
    }

    /// The child with the greatest upper confidence bound; unvisited children come first.
    fn select(&mut self, node: usize) -> usize {
        let Node { children, visits, .. } = self.tree.nodes[node].clone();
        let log_visits = f64::from(visits).ln();
        let bound = |child: &Node| match child {
            // A proven loss needs no further visits.
            Node { proof: Some(Proof { half_points: 0, .. }), .. } => -1.0,
            Node { visits: 0, .. } => f64::INFINITY,
            _ => {
                let interval = (log_visits / f64::from(child.visits)).sqrt();
                child.mean() + self.parameters.exploration * interval
            }
        };
        let (mut best, mut best_bound) = (children.start as usize, f64::NEG_INFINITY);
        for index in children {
            let bound = bound(&self.tree.nodes[index as usize]);
            if bound > best_bound {
                (best, best_bound) = (index as usize, bound);
            }
        }
        best
    }

    /// Adds the moves of a leaf in random order and returns the first of them.
    fn expand<R: Rules>(&mut self, node: usize, board: &Board<R>) -> usize {
        let mut columns: Vec<Column> = Column::all(board.rules().setup())
            .filter(|&column| !(board.open() & board.rules().column(column)).is_empty())
            .collect();
        self.random.shuffle(&mut columns);
        let start = self.tree.nodes.len();
        self.reserve(columns.len());
        self.tree.nodes.extend(columns.into_iter().map(Node::new));
        self.tree.nodes[node].children = start as u32..self.tree.nodes.len() as u32;
        start
    }

    /// Makes room for nodes. The memory grows twofold, but not beyond the limit.
    fn reserve(&mut self, count: usize) {
        let nodes = &mut self.tree.nodes;
        if nodes.capacity() - nodes.len() < count {
            let larger = (2 * nodes.capacity()).min(self.max_nodes).max(nodes.len() + count);
            nodes.reserve_exact(larger - nodes.len());
        }
    }

    /// Plays random moves to the end of the game and returns the winner, if any.
    fn playout<R: Rules>(&mut self, mut board: Board<R>) -> Option<Player> {
        while !board.is_over() {
            let mut open = board.open();
            for _ in 0..self.random.u32(..open.count()) {
                open &= open - R::Bits::ONE;
            }
            board.play_cell(R::Bits::ONE << open.lowest_index());
        }
        board.leader()
    }

    /// Backs up a new proof from the end of the path: a move that the opponent can refute is lost,
    /// and a move whose replies are all proven has the value of the opponent's best reply.
    fn propagate_proofs(&mut self) {
        for &node in self.path.iter().rev().skip(1) {
            let replies = self.tree.children(node);
            let best = replies.iter().filter_map(|reply| reply.proof).max_by_key(|p| p.rank());
            let Some(best) = best else { return };
            if best.half_points < 2 && replies.iter().any(|reply| reply.proof.is_none()) {
                return;
            }
            self.tree.nodes[node].proof = Some(best.before());
        }
    }
}

impl GameTree {
    fn new(position: &Position) -> GameTree {
        // The root has no move; its column is never read.
        let column = Column::from_index(0).expect("every board has a first column");
        GameTree { position: *position, nodes: vec![Node::new(column)], visited: 0 }
    }

    fn children(&self, node: usize) -> &[Node] {
        let Range { start, end } = self.nodes[node].children;
        &self.nodes[start as usize..end as usize]
    }

    /// The subtree of a position that is the root or one or two moves after it. `None` for other
    /// positions, or if a limit is reached.
    fn moved_to(self, position: &Position, stop: &Stop) -> Option<GameTree> {
        let mut places = vec![(0, self.position)];
        for _ in 0..3 {
            if let Some(&(node, _)) = places.iter().find(|(_, here)| here == position) {
                return self.rooted_at(node, position, stop);
            }
            let nodes = &self.nodes;
            let after = |(node, here): (usize, Position)| {
                nodes[node].children.clone().filter_map(move |child| {
                    let mut position = here;
                    position.play(nodes[child as usize].column).ok()?;
                    Some((child as usize, position))
                })
            };
            places = places.into_iter().flat_map(after).collect();
        }
        None
    }

    /// The subtree below a node; `None` if a limit is reached. Its nodes are moved to the front of
    /// the list, because a copy would temporarily take twice the memory.
    fn rooted_at(mut self, node: usize, position: &Position, stop: &Stop) -> Option<GameTree> {
        // 1. Mark the subtree. Nodes come after their parents, so the node itself comes first.
        let mut kept = NodeSet::new(self.nodes.len());
        kept.insert(node..node + 1);
        for index in node..self.nodes.len() {
            if index.is_multiple_of(4096) && stop.check_now(0).is_err() {
                return None;
            }
            if kept.contains(index) {
                let Range { start, end } = self.nodes[index].children;
                kept.insert(start as usize..end as usize);
            }
        }

        // 2. Move it, in order.
        let ranks = kept.ranks();
        (self.position, self.visited) = (*position, 0);
        let mut count = 0;
        for index in node..self.nodes.len() {
            if index.is_multiple_of(4096) && stop.check_now(0).is_err() {
                return None;
            }
            if kept.contains(index) {
                let mut moved = self.nodes[index].clone();
                if !moved.children.is_empty() {
                    let first = kept.rank(&ranks, moved.children.start as usize);
                    moved.children = first..first + moved.children.len() as u32;
                }
                self.visited += u64::from(moved.visits > 0);
                self.nodes[count] = moved;
                count += 1;
            }
        }
        self.nodes.truncate(count);
        self.nodes.shrink_to_fit();
        Some(self)
    }

    /// The decision so far, without statistics and time.
    fn decision(&self, order: &[Column]) -> Decision {
        let mut columns = vec![None; self.position.setup().cols().into()];
        for child in self.children(0).iter().filter(|child| child.visits > 0) {
            let known = ColumnValue { value: child.value(1), bound: BoundKind::Exact };
            columns[child.column.index()] = Some(known);
        }
        let visits: u64 = self.children(0).iter().map(|child| u64::from(child.visits)).sum();
        let mut shares = vec![0.0; columns.len()];
        for child in self.children(0) {
            shares[child.column.index()] = f64::from(child.visits) / visits.max(1) as f64;
        }
        let place = |child: &Node| order.iter().position(|&column| column == child.column);
        let moves = self.nodes[0].children.clone().map(|child| child as usize);
        let rank = |&child: &usize| (self.nodes[child].rank(), Reverse(place(&self.nodes[child])));
        let best = moves.max_by_key(rank).expect("a simulation has added the moves of the root");
        Decision {
            column: self.nodes[best].column,
            value: self.nodes[best].value(1),
            columns,
            shares,
            pv: self.pv_from(best),
            stats: SearchStats::default(),
            time: Duration::ZERO,
            stopped: false,
        }
    }

    /// The principal variation: a move and the most visited ones after it.
    fn pv_from(&self, mut node: usize) -> Vec<Column> {
        let mut pv = vec![self.nodes[node].column];
        while let Some(child) = self.nodes[node]
            .children
            .clone()
            .filter(|&child| self.nodes[child as usize].visits > 0)
            .max_by_key(|&child| self.nodes[child as usize].rank())
        {
            node = child as usize;
            pv.push(self.nodes[node].column);
        }
        pv
    }

    /// The visited part of the tree as a [`Tree`]: moves from left to right.
    fn to_tree(&self, levels: u32, playouts: &[RecordedPlayout]) -> Tree {
        let mut tree = Tree { position: self.position, nodes: Vec::new(), playouts: Vec::new() };
        // Each node's index in the drawing, or that of the ancestor it is hidden below; and its
        // level.
        let mut places = vec![(0, 0); self.nodes.len()];
        let mut waiting = VecDeque::from([(0, None::<usize>, 0)]);
        while let Some((index, parent, level)) = waiting.pop_front() {
            let node = &self.nodes[index];
            let drawn = match parent {
                Some(parent) if level > levels => {
                    tree.nodes[parent].hidden += 1;
                    parent
                }
                _ => {
                    // A node's value is for the player who moved to it, not for the one to move.
                    let value = node.value(level);
                    let value = if level % 2 == 1 { value } else { value.reversed() };
                    tree.add(TreeNode {
                        column: parent.map(|_| node.column),
                        level,
                        ..TreeNode::new(parent, NodeContent::Visits { visits: node.visits, value })
                    })
                }
            };
            places[index] = (drawn, level);
            let children = node.children.clone().map(|child| child as usize);
            let mut visited: Vec<usize> =
                children.filter(|&child| self.nodes[child].visits > 0).collect();
            visited.sort_by_key(|&child| self.nodes[child].column.index());
            waiting.extend(visited.into_iter().map(|child| (child, Some(drawn), level + 1)));
        }
        tree.playouts.extend(playouts.iter().map(|playout| {
            let (node, level) = places[playout.node as usize];
            let share = f64::from(playout.half_points) / 2.0;
            Playout { node, result: if level % 2 == 1 { share } else { 1.0 - share } }
        }));
        tree
    }
}

#[cfg(test)]
mod tests {
    use claimeven_game::Setup;

    use super::*;

    fn same_tree(one: &GameTree, node: usize, other: &GameTree, place: usize) -> usize {
        let [a, b] = [&one.nodes[node], &other.nodes[place]];
        let content = |node: &Node| (node.column, node.visits, node.half_points, node.proof);
        assert_eq!(content(a), content(b));
        assert_eq!(a.children.len(), b.children.len());
        let pairs = a.children.clone().zip(b.children.clone());
        1 + pairs.map(|(a, b)| same_tree(one, a as usize, other, b as usize)).sum::<usize>()
    }

    #[test]
    fn the_subtree_of_the_new_position_is_kept() {
        let start = Position::from_moves(Setup::STANDARD, "4455").unwrap();
        let parameters = MctsParameters { simulations: 5_000, ..MctsParameters::default() };
        let stop = Stop::new(&Limits::default(), None, None);
        let searched = || {
            let mut mcts = Mcts::new(parameters.clone());
            mcts.decide(&start, &Limits::default()).unwrap();
            mcts.tree.unwrap()
        };
        let tree = searched();
        let mut places = vec![(0, start)];
        for place in 0..57 {
            let Some(&(node, position)) = places.get(place) else { break };
            let moved = searched().moved_to(&position, &stop).unwrap();
            assert_eq!(same_tree(&tree, node, &moved, 0), moved.nodes.len());
            let visited = moved.nodes.iter().filter(|node| node.visits > 0).count();
            assert_eq!((moved.visited, moved.position), (visited as u64, position));
            if place < 8 {
                places.extend(tree.nodes[node].children.clone().map(|child| {
                    let mut next = position;
                    next.play(tree.nodes[child as usize].column).unwrap();
                    (child as usize, next)
                }));
            }
        }
        let elsewhere = Position::from_moves(Setup::STANDARD, "11").unwrap();
        assert!(searched().moved_to(&elsewhere, &stop).is_none());
        let cancelled = Limits::default().with_time(Duration::ZERO);
        let cancelled = Stop::new(&cancelled, None, None);
        assert!(searched().moved_to(&start, &cancelled).is_none());
    }

    #[test]
    fn a_tree_stays_within_its_memory_limit() {
        const BYTES: usize = 1 << 18;
        let limits = Limits { memory: Some(BYTES), ..Limits::default() };
        let parameters = MctsParameters { simulations: 40_000, ..MctsParameters::default() };
        let mut mcts = Mcts::new(parameters);
        let mut position = Position::new(Setup::STANDARD);
        for _ in 0..6 {
            let decision = mcts.decide(&position, &limits).unwrap();
            // The last expansion may exceed it.
            let max = BYTES + usize::from(Setup::STANDARD.cols()) * size_of::<Node>();
            assert!(mcts.memory() <= max, "{} of {max} bytes", mcts.memory());
            assert!(mcts.memory() > BYTES / 8, "the tree is small: {} bytes", mcts.memory());
            position.play(decision.column).unwrap();
        }
    }
}
