//! The search tree: PUCT with proven results, split into gathering positions and applying their
//! evaluations.

use std::collections::VecDeque;

use claimeven_game::{Bits, Column, Outcome, Position, Rules, Ruleset, with_board};
use serde::{Deserialize, Serialize};

use crate::evaluator::{Evaluation, Wdl};

/// The parameters of the search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeParameters {
    /// How a move is selected.
    #[serde(default)]
    pub rule: SelectionRule,
    /// The exploration constant: the weight of the policy against the values found (c_puct).
    pub exploration: f32,
    /// First-play urgency: the value of an unvisited move is its parent's value minus this, times
    /// the square root of the visited moves' share of the policy.
    pub first_play_reduction: f32,
    /// The weight of the confidence interval in [`SelectionRule::Ucb`].
    #[serde(default = "TreeParameters::default_c1")]
    pub c1: f32,
    /// The weight of the policy in [`SelectionRule::Ucb`].
    #[serde(default = "TreeParameters::default_c2")]
    pub c2: f32,
}

impl TreeParameters {
    fn default_c1() -> f32 {
        TreeParameters::default().c1
    }

    fn default_c2() -> f32 {
        TreeParameters::default().c2
    }
}

impl Default for TreeParameters {
    fn default() -> Self {
        let rule = SelectionRule::Puct;
        TreeParameters { rule, exploration: 1.4, first_play_reduction: 0.3, c1: 1.0, c2: 1.0 }
    }
}

/// How a simulation selects a move, by its value v, its policy P, its n visits and the N visits of
/// its position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SelectionRule {
    /// v + c_puct P sqrt(N) / (1 + n), with first-play urgency.
    #[default]
    Puct,
    /// v + c1 sqrt(ln N / n) + c2 P / (n + 1), the rule of an older project. Every move is tried
    /// once, the most likely first.
    Ucb,
}

/// A search tree by PUCT.
///
/// A simulation is [`gather`](SearchTree::gather), which descends to a position without an
/// evaluation, and [`apply`](SearchTree::apply), which backs its evaluation up. Several positions
/// can be gathered before their evaluations are applied, in the same order; meanwhile they count
/// as losses (*virtual loss*).
///
/// Finished games have their exact value, and proofs are backed up (*MCTS-Solver*, Winands et al.,
/// 2008): a position is won if a move leads to a lost one, and lost if all moves lead to won ones.
/// What differs: expanding a position detects immediate wins and double threats, and a position in
/// which all moves but one lose is not evaluated but takes that move's value.
///
/// ```
/// use claimeven_game::{Position, Setup};
/// use claimeven_zero::{Evaluator, Gathered, SearchTree, TreeParameters, UniformEvaluator};
///
/// let mut tree = SearchTree::new(Position::new(Setup::STANDARD), TreeParameters::default());
/// let mut evaluations = Vec::new();
/// for _ in 0..100 {
///     if let Gathered::Position(position) = tree.gather(None) {
///         UniformEvaluator.evaluate(&[position], &mut evaluations);
///         tree.apply(&evaluations[0]);
///     }
/// }
/// assert_eq!(tree.root().visits, 100);
/// ```
#[derive(Clone, Debug)]
pub struct SearchTree {
    parameters: TreeParameters,
    position: Position,
    nodes: Vec<Node>,
    /// The paths to the positions that wait for evaluation, as node indices.
    waiting: VecDeque<Vec<u32>>,
}

/// A position of the tree. Values are from the point of view of its side to move.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// The move that leads to it.
    pub column: Column,
    /// The policy's probability of that move.
    pub prior: f32,
    /// The number of simulations through it.
    pub visits: u32,
    /// The proven result, if there is one.
    pub proof: Option<Proof>,
    /// The value of its own evaluation.
    first_value: Wdl,
    /// Sums over the visits. In single precision they would stop growing after 16 million visits
    /// and lose precision long before.
    win_sum: f64,
    draw_sum: f64,
    /// Simulations through it that wait for evaluation.
    pending: u32,
    first_child: u32,
    child_count: u8,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    New,
    Waiting,
    Evaluated,
}

/// A proven result of perfect play, with the number of plies to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The side to move wins.
    Win(u32),
    /// Nobody wins.
    Draw,
    /// The side to move loses.
    Loss(u32),
}

impl Proof {
    /// The proven result as probabilities.
    pub const fn wdl(self) -> Wdl {
        match self {
            Proof::Win(_) => Wdl::WIN,
            Proof::Draw => Wdl::DRAW,
            Proof::Loss(_) => Wdl::LOSS,
        }
    }
}

/// Where a simulation ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gathered {
    /// At a position that needs an evaluation.
    Position(Position),
    /// At a proven result, which has been backed up.
    Result,
    /// At a position that already waits for evaluation; nothing was counted.
    Waiting,
}

impl Node {
    fn new(column: Column) -> Node {
        Node {
            column,
            prior: 0.0,
            visits: 0,
            proof: None,
            first_value: Wdl::LOSS,
            win_sum: 0.0,
            draw_sum: 0.0,
            pending: 0,
            first_child: 0,
            child_count: 0,
            state: State::New,
        }
    }

    /// The value: the proven result, or the mean over the simulations.
    pub fn value(&self) -> Wdl {
        if let Some(proof) = self.proof {
            return proof.wdl();
        }
        let visits = f64::from(self.visits.max(1));
        Wdl { win: (self.win_sum / visits) as f32, draw: (self.draw_sum / visits) as f32 }
    }

    /// The value of its own evaluation; meaningless before it has been evaluated.
    pub fn first_value(&self) -> Wdl {
        self.first_value
    }

    /// The value of the move to it, from -1 to 1, with virtual losses.
    fn move_value(&self) -> f32 {
        if let Some(proof) = self.proof {
            return 1.0 - 2.0 * proof.wdl().expected();
        }
        let (visits, pending) = (f64::from(self.visits), f64::from(self.pending));
        let sum = visits - 2.0 * self.win_sum - self.draw_sum;
        ((sum - pending) / (visits + pending)) as f32
    }
}

impl SearchTree {
    /// A tree that consists of its root.
    ///
    /// # Panics
    ///
    /// If the game is over.
    pub fn new(position: Position, parameters: TreeParameters) -> SearchTree {
        let column = position.legal().next().expect("the game is not over");
        let waiting = VecDeque::new();
        SearchTree { parameters, position, nodes: vec![Node::new(column)], waiting }
    }

    /// The position at the root.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// The root. Its `column` and `prior` are meaningless.
    pub fn root(&self) -> &Node {
        &self.nodes[0]
    }

    /// The root's moves, from the left; none before its first visit.
    pub fn moves(&self) -> &[Node] {
        self.children(self.root())
    }

    /// The moves of a node.
    pub fn children(&self, node: &Node) -> &[Node] {
        &self.nodes[node.first_child as usize..][..node.child_count.into()]
    }

    /// The size in bytes.
    pub fn memory(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether the tree has only its root.
    pub fn is_empty(&self) -> bool {
        self.nodes.len() == 1
    }

    /// The number of positions that wait for evaluation.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Starts a simulation. With `first`, its first move is the root's move with that index.
    ///
    /// # Panics
    ///
    /// If the root has been evaluated and `first` is not the index of one of its
    /// [moves](SearchTree::moves).
    pub fn gather(&mut self, mut first: Option<usize>) -> Gathered {
        let mut position = self.position;
        let mut path = vec![0];
        let mut node = 0;
        loop {
            // 1. The first visit expands the node. If only one move does not lose, it is followed.
            self.open(node, &position);

            // 2. A proven result or a position without an evaluation ends the simulation.
            if let Some(proof) = self.nodes[node].proof {
                self.back_up(&path, proof.wdl());
                return Gathered::Result;
            }
            match self.nodes[node].state {
                State::Waiting => return Gathered::Waiting,
                State::New => {
                    self.nodes[node].state = State::Waiting;
                    for &index in &path {
                        self.nodes[index as usize].pending += 1;
                    }
                    self.waiting.push_back(path);
                    return Gathered::Position(position);
                }
                State::Evaluated => {}
            }

            // 3. Select a move.
            let choice = match first.take() {
                Some(index) => {
                    assert!(index < self.moves().len(), "the root has no move with index {index}");
                    index
                }
                None => self.select(node),
            };
            node = self.nodes[node].first_child as usize + choice;
            position.play(self.nodes[node].column).expect("moves of the tree are legal");
            path.push(node as u32);
        }
    }

    /// Expands the root, which finds immediate wins and forced moves without an evaluation.
    pub fn expand_root(&mut self) {
        let position = self.position;
        self.open(0, &position);
    }

    /// Whether the expanded root needs no search: an immediate win or one by a double threat, an
    /// unavoidable loss, or only one move that does not lose at once.
    pub fn is_obvious(&self) -> bool {
        match self.root().proof {
            Some(Proof::Win(plies)) => plies <= 3,
            Some(Proof::Loss(plies)) => plies <= 2,
            Some(Proof::Draw) => self.moves().len() == 1,
            None => self.only_move(0).is_some(),
        }
    }

    /// Completes the oldest pending simulation with the evaluation of its position.
    ///
    /// # Panics
    ///
    /// If no position waits for evaluation.
    pub fn apply(&mut self, evaluation: &Evaluation) {
        let path = self.waiting.pop_front().expect("a position waits for its evaluation");
        for &index in &path {
            self.nodes[index as usize].pending -= 1;
        }
        let leaf = *path.last().expect("a path starts at the root") as usize;
        let Node { first_child, child_count, .. } = self.nodes[leaf];
        for child in &mut self.nodes[first_child as usize..][..child_count.into()] {
            child.prior = evaluation.policy[child.column.index()];
        }
        self.nodes[leaf].state = State::Evaluated;
        self.nodes[leaf].first_value = evaluation.value;
        self.back_up(&path, evaluation.value);
    }

    /// Plays a move and keeps the subtree of the position after it.
    ///
    /// # Panics
    ///
    /// If a position waits for evaluation, or if the move is illegal or ends the game.
    pub fn play(&mut self, column: Column) {
        assert!(self.waiting.is_empty(), "no position waits for its evaluation");
        self.position.play(column).expect("the move is a legal one");
        let Some(child) = self.moves().iter().position(|node| node.column == column) else {
            *self = SearchTree::new(self.position, self.parameters);
            return;
        };
        let old = std::mem::take(&mut self.nodes);
        let mut nodes = vec![old[old[0].first_child as usize + child]];
        let mut next = 0;
        while next < nodes.len() {
            let Node { first_child, child_count, .. } = nodes[next];
            if child_count > 0 {
                nodes[next].first_child = nodes.len() as u32;
                nodes.extend_from_slice(&old[first_child as usize..][..child_count.into()]);
            }
            next += 1;
        }
        self.nodes = nodes;
        // An immediate result was found without expanding the node.
        if self.nodes[0].proof.is_some() && self.nodes[0].child_count == 0 {
            let position = self.position;
            self.expand(0, &position);
        }
    }

    /// The root's best move by visits: proven wins first, fastest first; proven losses last,
    /// slowest first. `None` before the first visit.
    pub fn best_move(&self) -> Option<&Node> {
        self.best_of(self.root())
    }

    /// A node's best move, in the same order.
    pub fn best_of(&self, node: &Node) -> Option<&Node> {
        let rank = |node: &Node| match node.proof {
            Some(Proof::Loss(plies)) => (2, -i64::from(plies), 0.0),
            Some(Proof::Win(plies)) => (0, i64::from(plies), node.prior),
            _ => (1, i64::from(node.visits), node.prior - 1e3 * node.value().expected()),
        };
        let better = |a: &&Node, b: &&Node| {
            let (a, b) = (rank(a), rank(b));
            (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2))
        };
        self.children(node).iter().max_by(better)
    }

    /// Expands a node at its first visit.
    fn open(&mut self, index: usize, position: &Position) {
        let Node { state, proof, child_count, .. } = self.nodes[index];
        if state != State::New || proof.is_some() || child_count > 0 {
            return;
        }
        self.expand(index, position);
        if let Some(only) = self.only_move(index) {
            self.nodes[only].prior = 1.0;
            self.nodes[index].state = State::Evaluated;
        }
    }

    /// The only move that does not lose, if there is exactly one and it is not proven itself.
    fn only_move(&self, index: usize) -> Option<usize> {
        let Node { first_child, child_count, .. } = self.nodes[index];
        let moves = first_child as usize..first_child as usize + usize::from(child_count);
        let mut left =
            moves.filter(|&child| !matches!(self.nodes[child].proof, Some(Proof::Win(_))));
        left.next().filter(|&only| self.nodes[only].proof.is_none() && left.next().is_none())
    }

    fn expand(&mut self, index: usize, position: &Position) {
        let first_child = self.nodes.len();
        for column in position.legal() {
            let mut after = *position;
            after.play(column).expect("the column is a legal one");
            let mut child = Node::new(column);
            child.proof = immediate_result(&after);
            self.nodes.push(child);
        }
        self.nodes[index].first_child = first_child as u32;
        self.nodes[index].child_count = (self.nodes.len() - first_child) as u8;
        self.nodes[index].proof = self.prove(index);
    }

    /// The result that follows from proofs of a node's moves.
    fn prove(&self, index: usize) -> Option<Proof> {
        let moves = self.children(&self.nodes[index]);
        let fastest_win = moves.iter().filter_map(|node| match node.proof {
            Some(Proof::Loss(plies)) => Some(plies),
            _ => None,
        });
        if let Some(plies) = fastest_win.min() {
            return Some(Proof::Win(plies + 1));
        }
        let mut proof = Proof::Loss(0);
        for node in moves {
            proof = match (proof, node.proof?) {
                (Proof::Loss(max), Proof::Win(plies)) => Proof::Loss(max.max(plies + 1)),
                _ => Proof::Draw,
            };
        }
        Some(proof)
    }

    /// Backs up the value of a path's last position to the root.
    fn back_up(&mut self, path: &[u32], mut value: Wdl) {
        for (height, &index) in path.iter().rev().enumerate() {
            let index = index as usize;
            if height > 0 {
                value = value.reversed();
                // A proof below may complete one here.
                if self.nodes[index].proof.is_none() {
                    self.nodes[index].proof = self.prove(index);
                }
                if let Some(proof) = self.nodes[index].proof {
                    value = proof.wdl();
                }
            }
            let node = &mut self.nodes[index];
            node.visits += 1;
            node.win_sum += f64::from(value.win);
            node.draw_sum += f64::from(value.draw);
        }
    }

    /// The index of the move that the rule selects.
    fn select(&self, index: usize) -> usize {
        let node = &self.nodes[index];
        let moves = self.children(node);
        let greatest = |bound: &dyn Fn(&Node) -> f32| {
            let bounds = moves.iter().map(|node| match node.proof {
                Some(Proof::Win(_)) => f32::NEG_INFINITY,
                _ => bound(node),
            });
            let greatest = bounds.enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
            greatest.expect("an unproven position has moves").0
        };
        let TreeParameters { rule, exploration, first_play_reduction, c1, c2 } = self.parameters;
        let all_visits = (node.visits + node.pending).max(1) as f32;
        if rule == SelectionRule::Ucb {
            let log_visits = all_visits.ln();
            return greatest(&|node| {
                let visits = (node.visits + node.pending) as f32;
                if visits == 0.0 {
                    // Ahead of all moves that have been tried.
                    return 1e6 + node.prior;
                }
                node.move_value()
                    + c1 * (log_visits / visits).sqrt()
                    + c2 * node.prior / (visits + 1.0)
            });
        }
        let tried = |node: &&Node| node.visits + node.pending > 0;
        let tried_policy: f32 = moves.iter().filter(tried).map(|node| node.prior).sum();
        let own_value = 2.0 * node.value().expected() - 1.0;
        let first_play = own_value - first_play_reduction * tried_policy.sqrt();
        let factor = exploration * all_visits.sqrt();
        greatest(&|node| {
            let visits = node.visits + node.pending;
            let value =
                if visits > 0 || node.proof.is_some() { node.move_value() } else { first_play };
            value + factor * node.prior / (1 + visits) as f32
        })
    }
}

/// A result found without search: the game is over, the side to move can connect four, or the
/// opponent can connect four after every move.
fn immediate_result(position: &Position) -> Option<Proof> {
    match position.outcome() {
        Some(Outcome::Draw) => return Some(Proof::Draw),
        Some(Outcome::Win(winner)) if winner == position.player() => return Some(Proof::Win(0)),
        Some(Outcome::Win(_)) => return Some(Proof::Loss(0)),
        None => {}
    }
    if position.setup().ruleset() != Ruleset::Standard {
        return None;
    }
    with_board!(position, board => {
        let open = board.open();
        if !(board.rules().threats(board.own()) & open).is_empty() {
            return Some(Proof::Win(1));
        }
        let threats = board.rules().threats(board.other());
        let urgent = threats & open;
        let replies = if urgent.is_empty() { open } else { urgent };
        // A disc below a threat makes it playable.
        let is_lost = urgent.count() > 1 || (replies & !(threats >> 1)).is_empty();
        is_lost.then_some(Proof::Loss(2))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluator::{Evaluator, UniformEvaluator};
    use claimeven_game::Setup;

    /// A tree after this many simulations with the uniform evaluator, `batch` at a time.
    fn searched(moves: &str, simulations: u32, batch: usize) -> SearchTree {
        let position = Position::from_moves(Setup::STANDARD, moves).unwrap();
        let mut tree = SearchTree::new(position, TreeParameters::default());
        let mut evaluations = Vec::new();
        while tree.root().visits < simulations {
            let mut positions = Vec::new();
            while positions.len() < batch {
                match tree.gather(None) {
                    Gathered::Position(position) => positions.push(position),
                    Gathered::Result => {}
                    Gathered::Waiting => break,
                }
                if tree.root().proof.is_some() {
                    break;
                }
            }
            UniformEvaluator.evaluate(&positions, &mut evaluations);
            for evaluation in &evaluations {
                tree.apply(evaluation);
            }
        }
        tree
    }

    #[test]
    fn an_immediate_win_needs_no_evaluation() {
        let tree = searched("121212", 1, 1);
        assert_eq!(tree.root().proof, Some(Proof::Win(1)));
        assert_eq!(tree.best_move().unwrap().column.number(), 1);
    }

    #[test]
    fn immediate_results_are_correct() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut seen = [0; 2];
        while seen != [200; 2] {
            let position =
                crate::self_play::random_position(Setup::STANDARD, random.u32(6..36), &mut random);
            let Some(proof) = immediate_result(&position) else { continue };
            let (of, wins_in, loses_in) = match proof {
                Proof::Win(1) => (0, true, false),
                Proof::Loss(2) => (1, false, true),
                other => panic!("{other:?} of an unfinished game"),
            };
            assert_eq!(can_connect_four(&position), wins_in, "{position:?}");
            assert!(!loses_in || after_each(&position).all(|after| can_connect_four(&after)));
            seen[of] = 200.min(seen[of] + 1);
        }
    }

    fn after_each(position: &Position) -> impl Iterator<Item = Position> {
        position.legal().map(|column| {
            let mut after = *position;
            after.play(column).unwrap();
            after
        })
    }

    fn can_connect_four(position: &Position) -> bool {
        after_each(position).any(|after| matches!(after.outcome(), Some(Outcome::Win(_))))
    }

    #[test]
    fn a_forced_move_is_made_without_an_evaluation() {
        // The second player must block a column of three; only the position after that is
        // evaluated.
        let position = Position::from_moves(Setup::STANDARD, "41414").unwrap();
        let mut tree = SearchTree::new(position, TreeParameters::default());
        tree.expand_root();
        assert!(tree.is_obvious());
        let mut forced = position;
        forced.play(Column::from_char('4').unwrap()).unwrap();
        assert_eq!(tree.gather(None), Gathered::Position(forced));
        assert_eq!(tree.best_move().unwrap().column.number(), 4);
    }

    #[test]
    fn proofs_are_backed_up() {
        // An open three wins in two moves.
        let tree = searched("4455", 2000, 1);
        assert_eq!(tree.root().proof, Some(Proof::Win(3)));
        assert!(matches!(tree.best_move().unwrap().column.number(), 3 | 6));
        // The other side blocks it one move earlier.
        let tree = searched("445", 4000, 8);
        assert_eq!(tree.root().proof, None);
        let best = tree.best_move().unwrap();
        assert!(matches!(best.column.number(), 3 | 6), "{best:?}");
        assert_eq!(
            tree.moves().iter().filter(|node| matches!(node.proof, Some(Proof::Win(_)))).count(),
            5
        );
    }

    #[test]
    fn ucb_tries_every_move_and_then_follows_the_bounds() {
        let position = Position::from_moves(Setup::STANDARD, "44").unwrap();
        let parameters = TreeParameters { rule: SelectionRule::Ucb, ..TreeParameters::default() };
        let mut tree = SearchTree::new(position, parameters);
        let mut evaluations = Vec::new();
        let mut simulate = |tree: &mut SearchTree, simulations: u32| {
            while tree.root().visits < simulations {
                if let Gathered::Position(position) = tree.gather(None) {
                    UniformEvaluator.evaluate(&[position], &mut evaluations);
                    tree.apply(&evaluations[0]);
                }
            }
        };
        simulate(&mut tree, 8);
        assert!(tree.moves().iter().all(|node| node.visits == 1));
        simulate(&mut tree, 500);
        // v + c1 sqrt(ln N / n) + c2 P / (n + 1), by its definition.
        let bound = |node: &Node| {
            let visits = node.visits as f32;
            let interval = (500_f32.ln() / visits).sqrt();
            1.0 - 2.0 * node.value().expected() + interval + node.prior / (visits + 1.0)
        };
        let best = tree.moves().iter().max_by(|a, b| bound(a).total_cmp(&bound(b))).unwrap();
        let next = &tree.moves()[tree.select(0)];
        assert_eq!(next.column, best.column);
    }

    #[test]
    fn the_root_has_the_visits_of_its_moves_and_its_own_evaluation() {
        for batch in [1, 8] {
            let tree = searched("", 500, batch);
            let visits: u32 = tree.moves().iter().map(|node| node.visits).sum();
            assert_eq!(visits + 1, tree.root().visits);
            assert_eq!(tree.waiting(), 0);
            assert!(tree.nodes.iter().all(|node| node.pending == 0));
        }
    }

    #[test]
    fn playing_a_move_keeps_its_subtree() {
        let mut tree = searched("", 500, 4);
        let before = *tree.best_move().unwrap();
        let replies: Vec<u32> = tree.children(&before).iter().map(|node| node.visits).collect();
        tree.play(before.column);
        assert_eq!(tree.root().visits, before.visits);
        assert_eq!(tree.moves().iter().map(|node| node.visits).collect::<Vec<_>>(), replies);
        let nodes = tree.len();
        assert!(nodes < 3500 && nodes > 7, "{nodes}");
    }

    #[test]
    fn the_end_of_a_drawn_game_is_proven() {
        let mut random = fastrand::Rng::with_seed(1);
        let drawn = loop {
            let mut game = claimeven_game::Game::new(Setup::STANDARD);
            while game.position().outcome().is_none() {
                let legal: Vec<_> = game.position().legal().collect();
                game.play(*random.choice(&legal).unwrap()).unwrap();
            }
            if game.position().outcome() == Some(Outcome::Draw) {
                game.undo();
                break game.move_text();
            }
        };
        assert_eq!(searched(&drawn, 1, 1).root().proof, Some(Proof::Draw));
    }
}
