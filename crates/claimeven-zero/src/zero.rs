//! The player with a network.

use std::sync::Arc;
use std::time::Instant;

use claimeven_game::{Column, Position, mix_key};
use claimeven_search::{
    Agent, AgentError, BoundKind, ColumnValue, Content, Decision, Limits, Node as DrawnNode,
    SearchStats, Tree, Value,
};
use fastrand::Rng;

use crate::cache::Cache;
use crate::evaluator::{Evaluation, Evaluator, Wdl};
use crate::inference::Inference;
use crate::network::Network;
use crate::search_tree::{Gathered, Node, Proof, SearchTree, TreeParameters};

/// How the player with a network decides.
#[derive(Clone, Debug)]
pub struct ZeroParameters {
    /// The network.
    pub network: Arc<Network>,
    /// Simulations of a move; 0 is the bare policy, without any looking ahead.
    pub simulations: u64,
    /// Chooses between moves that look the same.
    pub seed: u64,
    /// Positions that are judged together. More is faster and a little weaker.
    pub batch: usize,
    /// How much is left to chance: 0 plays the best move, 1 draws one by how often the search came
    /// through it, or by the bare policy. No proven result is given away.
    pub temperature: f32,
    /// How simulations are divided.
    pub tree: TreeParameters,
}

impl ZeroParameters {
    /// So many simulations with a network, and all else as usual.
    pub fn new(network: Arc<Network>, simulations: u64) -> ZeroParameters {
        let tree = TreeParameters::default();
        ZeroParameters { network, simulations, seed: 0, batch: 8, temperature: 0.0, tree }
    }
}

/// Plays by a network and a search.
///
/// It remembers what the network has said of positions and the tree of its last move, which
/// becomes part of the next one if the game goes on from there.
pub struct Zero {
    parameters: ZeroParameters,
    evaluator: Cache<Inference>,
    last: Option<SearchTree>,
}

/// Answers that are remembered.
const CACHE: usize = 1 << 15;

impl Zero {
    /// A player.
    pub fn new(parameters: ZeroParameters) -> Zero {
        let evaluator = Cache::new(Inference::new(&parameters.network), CACHE);
        Zero { parameters, evaluator, last: None }
    }

    fn check(&self, position: &Position) -> Result<(), AgentError> {
        let setup = position.setup();
        let own = self.parameters.network.setup();
        if setup != own {
            let reason = format!("its network is for {own}");
            return Err(AgentError::Unsuited { agent: "zero", setup, reason });
        }
        if position.outcome().is_some() { Err(AgentError::GameOver) } else { Ok(()) }
    }

    /// The bare policy. Its two opinions, on the position and on its mirror image, are averaged.
    fn judge(&mut self, position: &Position) -> Evaluation {
        let mut evaluations = Vec::new();
        let both = [*position, position.mirror()];
        self.evaluator.evaluator_mut().evaluate(&both, &mut evaluations);
        let [mut evaluation, mut mirrored] =
            <[Evaluation; 2]>::try_from(evaluations).expect("two evaluations");
        mirrored.policy.reverse();
        for (chance, other) in evaluation.policy.iter_mut().zip(mirrored.policy) {
            *chance = 0.5 * (*chance + other);
        }
        evaluation.value = evaluation.value.lerp(mirrored.value, 0.5);
        evaluation
    }

    fn decide_by_policy(&mut self, position: &Position, start: Instant) -> Decision {
        let evaluation = self.judge(position);
        let column = self.draw(position, |column| evaluation.policy[column.index()]);
        Decision {
            column,
            value: chance(evaluation.value),
            columns: vec![None; evaluation.policy.len()],
            shares: evaluation.policy.iter().copied().map(f64::from).collect(),
            pv: vec![column],
            stats: SearchStats { nodes: 1, leaves: 1, ..SearchStats::default() },
            time: start.elapsed(),
            stopped: false,
        }
    }

    fn decide_by_search(
        &mut self,
        position: &Position,
        limits: &Limits,
        start: Instant,
    ) -> (Decision, SearchTree) {
        let asked = self.parameters.simulations;
        let simulations = limits.simulations.map_or(asked, |max| max.clamp(1, asked));
        let mut tree = self.tree_at(position);
        let reused = u64::from(tree.root().visits);
        let is_up = |tree: &SearchTree| {
            limits.nodes.is_some_and(|nodes| tree.len() as u64 >= nodes.max(1))
                || limits.time.is_some_and(|time| start.elapsed() >= time)
                || limits
                    .cancel
                    .as_ref()
                    .is_some_and(|flag| flag.load(std::sync::atomic::Ordering::Relaxed))
        };
        if let Some(monitor) = &limits.monitor {
            monitor.reset();
        }
        let (mut questions, mut evaluations) = (Vec::new(), Vec::new());
        let mut stopped = simulations < asked;
        loop {
            // 1. Gather a few positions.
            questions.clear();
            while questions.len() < self.parameters.batch.max(1) {
                let root = tree.root();
                let visits = u64::from(root.visits) + questions.len() as u64;
                if root.proof.is_some() || visits > simulations.max(reused) {
                    break;
                }
                match tree.gather(None) {
                    Gathered::Position(position) => questions.push(position),
                    Gathered::Result => {}
                    Gathered::Waiting => break,
                }
            }
            // 2. Judge them and apply what is said of them.
            if questions.is_empty() {
                break;
            }
            self.evaluator.evaluate(&questions, &mut evaluations);
            for evaluation in &evaluations {
                tree.apply(evaluation);
            }
            if let Some(monitor) = &limits.monitor {
                monitor.set_nodes(u64::from(tree.root().visits) - reused);
                let value = value_of(tree.root());
                monitor.set_best(value, &principal_variation(&tree, self.best_column(&tree)));
            }
            if is_up(&tree) {
                stopped = true;
                break;
            }
        }
        let column = self.best_column(&tree);
        let decision = Decision {
            column,
            value: value_of(tree.root()),
            columns: columns(&tree),
            shares: shares(&tree),
            pv: principal_variation(&tree, column),
            stats: SearchStats {
                nodes: tree.len() as u64,
                leaves: u64::from(tree.root().visits),
                simulations: u64::from(tree.root().visits) - reused,
                ..SearchStats::default()
            },
            time: start.elapsed(),
            stopped,
        };
        (decision, tree)
    }

    /// The tree of the last move where the game has gone on from there, or else a new one.
    fn tree_at(&mut self, position: &Position) -> SearchTree {
        let new = || SearchTree::new(*position, self.parameters.tree);
        let Some(mut tree) = self.last.take() else { return new() };
        let columns: Vec<Column> = tree.position().legal().collect();
        for own in columns {
            let mut after = *tree.position();
            after.play(own).expect("a legal move");
            let replies: Vec<Column> = after.legal().collect();
            for reply in replies {
                let mut then = after;
                then.play(reply).expect("a legal move");
                if then == *position {
                    tree.play(own);
                    tree.play(reply);
                    return tree;
                }
            }
        }
        new()
    }

    fn best_column(&self, tree: &SearchTree) -> Column {
        let best = tree.best_move().expect("the root has been visited");
        let is_decided = tree.root().proof.is_some() || best.proof.is_some();
        if is_decided || self.parameters.temperature == 0.0 {
            let is_as_good = |node: &Node| {
                (node.proof, node.visits) == (best.proof, best.visits) && node.prior >= best.prior
            };
            return self.draw(tree.position(), |column| {
                let is_one = |node: &Node| node.column == column && is_as_good(node);
                f32::from(tree.moves().iter().any(is_one))
            });
        }
        self.draw(tree.position(), |column| {
            let node = tree.moves().iter().find(|node| node.column == column);
            let node = node.filter(|node| !matches!(node.proof, Some(Proof::Win(_))));
            // Before the search has come through any, the policy decides.
            node.map_or(0.0, |node| node.visits as f32 + node.prior)
        })
    }

    /// One of the legal columns, by the seed. Weights count to the power of the temperature's
    /// inverse, so that without temperature only the greatest count.
    fn draw(&self, position: &Position, weight: impl Fn(Column) -> f32) -> Column {
        let columns: Vec<Column> = position.legal().collect();
        let weights: Vec<f32> = columns.iter().map(|&column| weight(column)).collect();
        let greatest = weights.iter().copied().fold(0.0, f32::max);
        let power = 1.0 / self.parameters.temperature;
        let chance = |&weight: &f32| {
            if weight >= greatest { 1.0 } else { (weight / greatest).powf(power) }
        };
        let chances: Vec<f32> = weights.iter().map(chance).collect();
        let mut rest = Rng::with_seed(self.parameters.seed ^ mix_key(position.key())).f32();
        rest *= chances.iter().sum::<f32>();
        let drawn = chances.iter().position(|chance| {
            rest -= chance;
            rest < 0.0
        });
        // Rounding can leave a little beyond the last one.
        let drawn = drawn.or_else(|| weights.iter().position(|&weight| weight >= greatest));
        columns[drawn.expect("one is the greatest")]
    }
}

impl Agent for Zero {
    fn decide(&mut self, position: &Position, limits: &Limits) -> Result<Decision, AgentError> {
        let start = Instant::now();
        self.check(position)?;
        if self.parameters.simulations == 0 {
            return Ok(self.decide_by_policy(position, start));
        }
        let (decision, tree) = self.decide_by_search(position, limits, start);
        self.last = Some(tree);
        Ok(decision)
    }

    fn decide_with_tree(
        &mut self,
        position: &Position,
        limits: &Limits,
        levels: u32,
    ) -> Result<(Decision, Tree), AgentError> {
        let start = Instant::now();
        self.check(position)?;
        if self.parameters.simulations == 0 {
            return Err(AgentError::NoTree);
        }
        // A drawing shows the search of this move and nothing of the moves before it.
        self.last = None;
        let (decision, tree) = self.decide_by_search(position, limits, start);
        let drawn = drawn(&tree, levels);
        self.last = Some(tree);
        Ok((decision, drawn))
    }
}

fn chance(value: Wdl) -> Value {
    Value::Chance(f64::from(value.expected()))
}

/// The value of a node for its side to move.
fn value_of(node: &Node) -> Value {
    match node.proof {
        Some(Proof::Win(plies)) => Value::Win(plies),
        Some(Proof::Draw) => Value::Draw,
        Some(Proof::Loss(plies)) => Value::Loss(plies),
        None => chance(node.value()),
    }
}

/// What the move to a node is worth to the one who makes it.
fn move_value(node: &Node) -> Value {
    match value_of(node).reversed() {
        Value::Win(plies) => Value::Win(plies + 1),
        Value::Loss(plies) => Value::Loss(plies + 1),
        value => value,
    }
}

fn columns(tree: &SearchTree) -> Vec<Option<ColumnValue>> {
    let mut columns = vec![None; tree.position().setup().cols().into()];
    for node in tree.moves().iter().filter(|node| node.visits > 0 || node.proof.is_some()) {
        columns[node.column.index()] =
            Some(ColumnValue { value: move_value(node), bound: BoundKind::Exact });
    }
    columns
}

/// The part of the simulations that went through each column.
fn shares(tree: &SearchTree) -> Vec<f64> {
    let visits: u32 = tree.moves().iter().map(|node| node.visits).sum();
    let mut shares = vec![0.0; tree.position().setup().cols().into()];
    for node in tree.moves() {
        shares[node.column.index()] = f64::from(node.visits) / f64::from(visits.max(1));
    }
    shares
}

/// The moves that were looked at most, from the one that is played.
fn principal_variation(tree: &SearchTree, column: Column) -> Vec<Column> {
    let mut pv = vec![column];
    let mut node = tree.moves().iter().find(|node| node.column == column);
    while let Some(next) = node.and_then(|node| tree.best_of(node))
        && (next.visits > 0 || next.proof.is_some())
    {
        pv.push(next.column);
        node = Some(next);
    }
    pv
}

/// The tree as it is drawn: all values are those of the player to move at the root.
fn drawn(tree: &SearchTree, levels: u32) -> Tree {
    let content = |node: &Node, level: u32| {
        let value = value_of(node);
        let value = if level.is_multiple_of(2) { value } else { value.reversed() };
        Content::Visits { visits: node.visits, value }
    };
    let mut nodes = vec![DrawnNode {
        parent: None,
        column: None,
        pass: None,
        level: 0,
        content: content(tree.root(), 0),
        children: Vec::new(),
        pruned: Vec::new(),
        hidden: 0,
    }];
    let mut sources = vec![*tree.root()];
    let mut index = 0;
    while index < nodes.len() {
        let level = nodes[index].level + 1;
        let visited = tree.children(&sources[index]).iter().filter(|child| child.visits > 0);
        for child in visited {
            if level > levels {
                nodes[index].hidden += u64::from(child.visits);
                continue;
            }
            let place = nodes.len();
            nodes[index].children.push(place);
            nodes.push(DrawnNode {
                parent: Some(index),
                column: Some(child.column),
                pass: None,
                level,
                content: content(child, level),
                children: Vec::new(),
                pruned: Vec::new(),
                hidden: 0,
            });
            sources.push(*child);
        }
        index += 1;
    }
    Tree { position: *tree.position(), nodes, walks: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Architecture;
    use claimeven_game::{Ruleset, Setup};
    use claimeven_search::SearchMonitor;

    fn zero(simulations: u64) -> Zero {
        let network = Network::new(Architecture::new(Setup::STANDARD, 1, 8), 1).unwrap();
        Zero::new(ZeroParameters::new(Arc::new(network), simulations))
    }

    fn position(moves: &str) -> Position {
        Position::from_moves(Setup::STANDARD, moves).unwrap()
    }

    #[test]
    fn wins_and_threats_are_seen_by_any_network() {
        let mut zero = zero(200);
        let limits = Limits::default();
        let decision = zero.decide(&position("121212"), &limits).unwrap();
        assert_eq!((decision.column.number(), decision.value), (1, Value::Win(1)));
        let decision = zero.decide(&position("12121"), &limits).unwrap();
        assert_eq!(decision.column.number(), 1);
        let decision = zero.decide(&position("4455"), &limits).unwrap();
        assert_eq!(decision.value, Value::Win(3));
        assert!(matches!(decision.column.number(), 3 | 6));
    }

    #[test]
    fn the_bare_policy_does_not_search() {
        let decision = zero(0).decide(&position("44"), &Limits::default()).unwrap();
        assert_eq!(decision.stats.nodes, 1);
        assert!(zero(0).decide_with_tree(&position(""), &Limits::default(), 2).is_err());
    }

    #[test]
    fn warm_players_vary_and_give_no_proven_result_away() {
        let columns = |simulations: u64, temperature: f32, moves: &str| {
            let mut zero = zero(simulations);
            zero.parameters.temperature = temperature;
            let mut columns: Vec<u8> = (0..100)
                .map(|seed| {
                    (zero.parameters.seed, zero.last) = (seed, None);
                    zero.decide(&position(moves), &Limits::default()).unwrap().column.number()
                })
                .collect();
            columns.sort_unstable();
            columns.dedup();
            columns
        };
        for simulations in [0, 100] {
            assert_eq!(columns(simulations, 0.0, "43").len(), 1);
            assert!(columns(simulations, 1.0, "43").len() > 3);
        }
        assert_eq!(columns(200, 5.0, "121212"), [1]);
        // All but one lose at once, which the search has proven.
        assert_eq!(columns(200, 5.0, "12121"), [1]);
    }

    #[test]
    fn limits_are_kept_and_reported() {
        let limits = Limits { simulations: Some(30), ..Limits::default() };
        let decision = zero(200).decide(&position("44"), &limits).unwrap();
        assert!(decision.stopped);
        assert!((30..=31).contains(&decision.stats.simulations), "{decision:?}");
        let limits = Limits { cancel: Some(Arc::new(true.into())), ..Limits::default() };
        let decision = zero(1_000_000).decide(&position("44"), &limits).unwrap();
        assert!(decision.stopped && decision.stats.simulations <= 8);
    }

    #[test]
    fn its_thoughts_can_be_watched() {
        let monitor = Arc::new(SearchMonitor::default());
        let limits = Limits { monitor: Some(Arc::clone(&monitor)), ..Limits::default() };
        let decision = zero(100).decide(&position("44"), &limits).unwrap();
        let thought = monitor.snapshot();
        assert_eq!(thought.nodes, decision.stats.simulations);
        assert_eq!((thought.value, thought.pv), (Some(decision.value), decision.pv));
    }

    #[test]
    fn games_it_cannot_play_are_refused() {
        let limits = Limits::default();
        assert_eq!(zero(1).decide(&position("1212121"), &limits), Err(AgentError::GameOver));
        let setup = Setup::new(5, 5, 4, Ruleset::Standard).unwrap();
        let error = zero(1).decide(&Position::new(setup), &limits).unwrap_err();
        assert_eq!(
            error.to_string(),
            "zero cannot play 5x5, connect 4, standard: its network is for 7x6, connect 4, standard"
        );
    }

    #[test]
    fn a_game_keeps_its_tree_and_a_drawing_shows_it() {
        let mut zero = zero(100);
        let first = zero.decide(&position("44"), &Limits::default()).unwrap();
        let mut after = position("44");
        after.play(first.column).unwrap();
        after.play(first.pv[1]).unwrap();
        let second = zero.decide(&after, &Limits::default()).unwrap();
        assert!(second.stats.simulations < 100, "{second:?}");

        let (decision, tree) =
            zero.decide_with_tree(&position("44"), &Limits::default(), 2).unwrap();
        assert_eq!(decision.stats.simulations, 101);
        assert!(tree.nodes.iter().all(|node| node.level <= 2));
        assert!(matches!(tree.nodes[0].content, Content::Visits { visits: 101, .. }));
        assert_eq!(tree.nodes_on(&decision.pv[..2]).len(), 3);
    }
}
