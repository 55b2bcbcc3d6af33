//! The player `zero`: a network with PUCT search.

use std::sync::Arc;
use std::time::Duration;

use claimeven_game::{Column, Position, mix_key};
use claimeven_search::{
    Agent, AgentError, BoundKind, ColumnValue, Decision, Limits, NodeContent, SearchStats, Tree,
    TreeNode, Value,
};
use claimeven_solver::Stop;
use fastrand::Rng;

use crate::cache::Cache;
use crate::evaluator::{Evaluation, Evaluator, Wdl};
use crate::inference::Inference;
use crate::network::Network;
use crate::search_tree::{Gathered, Node, Proof, SearchTree, TreeParameters};

/// The parameters of [`Zero`].
///
/// ```
/// use claimeven_game::Setup;
/// use claimeven_zero::{Zero, ZeroParameters, embedded_network};
///
/// let parameters = ZeroParameters::new(embedded_network(Setup::STANDARD)?, 400);
/// let player = Zero::new(ZeroParameters { temperature: 1.0, seed: 7, ..parameters });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ZeroParameters {
    /// The network.
    pub network: Arc<Network>,
    /// Simulations per move; 0 plays by the policy alone, without search.
    pub simulations: u64,
    /// The time limit per move.
    pub time: Option<Duration>,
    /// Chooses between equal moves, and samples moves if there is a temperature.
    pub seed: u64,
    /// Positions per batch of the network. A larger batch is faster and slightly weaker.
    pub batch: usize,
    /// The temperature: 0 plays the best move, 1 samples moves in proportion to their visits, or
    /// by the policy if there is no search. A proven result is never given away.
    pub temperature: f32,
    /// The parameters of PUCT.
    pub tree: TreeParameters,
}

impl ZeroParameters {
    /// Batches of 8, temperature 0 and seed 0.
    #[must_use]
    pub fn new(network: Arc<Network>, simulations: u64) -> ZeroParameters {
        let tree = TreeParameters::default();
        let (time, temperature) = (None, 0.0);
        ZeroParameters { network, simulations, time, seed: 0, batch: 8, temperature, tree }
    }
}

/// A player with a network and PUCT search.
///
/// It keeps a cache of evaluations and the tree of its last move, which it reuses if the game
/// continues from there.
///
/// ```
/// use claimeven_game::{Position, Setup};
/// use claimeven_search::{Agent, Limits};
/// use claimeven_zero::{Zero, ZeroParameters, embedded_network};
///
/// let network = embedded_network(Setup::STANDARD)?;
/// let mut zero = Zero::new(ZeroParameters::new(network, 50));
/// let decision = zero.decide(&Position::new(Setup::STANDARD), &Limits::default())?;
/// assert_eq!(decision.column.number(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Zero {
    parameters: ZeroParameters,
    evaluator: Cache<Inference>,
    last: Option<SearchTree>,
}

/// The size of the cache, in evaluations.
const CACHE: usize = 1 << 15;

impl Zero {
    /// A player with an empty cache.
    #[must_use]
    pub fn new(parameters: ZeroParameters) -> Zero {
        let evaluator = Cache::new(Inference::new(&parameters.network), CACHE);
        Zero { parameters, evaluator, last: None }
    }

    /// Starts the clock.
    fn stop(&self, limits: &Limits) -> Stop {
        let time = [limits.time, self.parameters.time].into_iter().flatten().min();
        Stop::new(&claimeven_solver::Limits { time, ..limits.for_solver() })
    }

    fn check(&self, position: &Position) -> Result<(), AgentError> {
        let setup = position.setup();
        let own = self.parameters.network.setup();
        if setup != own {
            let reason = format!("its network is for {own}");
            return Err(AgentError::Unsupported { agent: "zero", setup, reason });
        }
        if position.outcome().is_some() { Err(AgentError::GameOver) } else { Ok(()) }
    }

    /// The average of the evaluations of a position and of its mirror image.
    fn evaluate(&mut self, position: &Position) -> Evaluation {
        let mut evaluations = Vec::new();
        let both = [*position, position.mirror()];
        self.evaluator.evaluator_mut().evaluate(&both, &mut evaluations);
        let [mut evaluation, mut mirrored] =
            <[Evaluation; 2]>::try_from(evaluations).expect("two evaluations");
        mirrored.policy.reverse();
        for (probability, other) in evaluation.policy.iter_mut().zip(mirrored.policy) {
            *probability = 0.5 * (*probability + other);
        }
        evaluation.value = evaluation.value.lerp(mirrored.value, 0.5);
        evaluation
    }

    fn decide_by_policy(&mut self, position: &Position, stop: &Stop) -> Decision {
        let evaluation = self.evaluate(position);
        let column = self.sample(position, |column| evaluation.policy[column.index()]);
        Decision {
            column,
            value: expected_value(evaluation.value),
            columns: vec![None; evaluation.policy.len()],
            shares: evaluation.policy.iter().copied().map(f64::from).collect(),
            pv: vec![column],
            stats: SearchStats { nodes: 1, leaves: 1, ..SearchStats::default() },
            time: stop.elapsed(),
            stopped: false,
        }
    }

    fn decide_by_search(
        &mut self,
        position: &Position,
        limits: &Limits,
        stop: &Stop,
    ) -> (Decision, SearchTree) {
        // Visits are 32-bit counters.
        let requested = self.parameters.simulations.min(u64::from(u32::MAX) / 2);
        let simulations = limits.simulations.map_or(requested, |max| max.clamp(1, requested));
        let mut tree = self.tree_at(position);
        let reused = u64::from(tree.root().visits);
        let max_nodes = limits.nodes.unwrap_or(u64::MAX);
        let fitting = limits.memory.map(|bytes| (bytes / size_of::<Node>()) as u64);
        let max_nodes = max_nodes.min(fitting.unwrap_or(u64::MAX));
        let is_limit_reached =
            |tree: &SearchTree| tree.len() as u64 >= max_nodes || stop.is_requested();
        if let Some(monitor) = &limits.monitor {
            monitor.reset();
        }
        let (mut positions, mut evaluations) = (Vec::new(), Vec::new());
        let mut stopped = simulations < requested;
        loop {
            // 1. Gather a batch of positions. Proven results need no evaluation, so any number of
            //    simulations can pass here, and each of them checks the limits.
            positions.clear();
            let mut is_stopped = false;
            while positions.len() < self.parameters.batch.max(1) {
                let root = tree.root();
                let visits = u64::from(root.visits) + positions.len() as u64;
                if root.proof.is_some() || visits > simulations.max(reused) {
                    break;
                }
                // The first simulation is always made, because it finds a move.
                is_stopped = visits > 0 && is_limit_reached(&tree);
                if is_stopped {
                    break;
                }
                match tree.gather(None) {
                    Gathered::Position(position) => positions.push(position),
                    Gathered::Result => {}
                    Gathered::Waiting => break,
                }
            }
            // 2. Evaluate them and back the evaluations up.
            self.evaluator.evaluate(&positions, &mut evaluations);
            for evaluation in &evaluations {
                tree.apply(evaluation);
            }
            if let Some(monitor) = &limits.monitor {
                monitor.set_nodes(u64::from(tree.root().visits) - reused);
                let value = value_of(tree.root());
                monitor.set_best(value, &principal_variation(&tree, self.best_column(&tree)));
            }
            stopped |= is_stopped;
            if is_stopped || positions.is_empty() {
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
            time: stop.elapsed(),
            stopped,
        };
        (decision, tree)
    }

    /// The subtree of the last search for a position two plies later, or a new tree.
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
            return self.sample(tree.position(), |column| {
                let is_one = |node: &Node| node.column == column && is_as_good(node);
                f32::from(tree.moves().iter().any(is_one))
            });
        }
        self.sample(tree.position(), |column| {
            let node = tree.moves().iter().find(|node| node.column == column);
            let node = node.filter(|node| !matches!(node.proof, Some(Proof::Win(_))));
            // Without visits, the policy decides.
            node.map_or(0.0, |node| node.visits as f32 + node.prior)
        })
    }

    /// Samples a legal column in proportion to its weight to the power of 1/temperature. With
    /// temperature 0, only columns with the highest weight count.
    fn sample(&self, position: &Position, weight: impl Fn(Column) -> f32) -> Column {
        let columns: Vec<Column> = position.legal().collect();
        let weights: Vec<f32> = columns.iter().map(|&column| weight(column)).collect();
        let highest = weights.iter().copied().fold(0.0, f32::max);
        let power = 1.0 / self.parameters.temperature;
        let probability = |&weight: &f32| {
            if weight >= highest { 1.0 } else { (weight / highest).powf(power) }
        };
        let probabilities: Vec<f32> = weights.iter().map(probability).collect();
        let mut rest = Rng::with_seed(self.parameters.seed ^ mix_key(position.key())).f32();
        rest *= probabilities.iter().sum::<f32>();
        let drawn = probabilities.iter().position(|probability| {
            rest -= probability;
            rest < 0.0
        });
        // Rounding can leave a remainder.
        let drawn = drawn.or_else(|| weights.iter().position(|&weight| weight >= highest));
        columns[drawn.expect("some column has the highest weight")]
    }
}

impl Agent for Zero {
    fn memory(&self) -> usize {
        self.evaluator.memory() + self.last.as_ref().map_or(0, SearchTree::memory)
    }

    fn decide(&mut self, position: &Position, limits: &Limits) -> Result<Decision, AgentError> {
        let stop = self.stop(limits);
        self.check(position)?;
        if self.parameters.simulations == 0 {
            return Ok(self.decide_by_policy(position, &stop));
        }
        let (decision, tree) = self.decide_by_search(position, limits, &stop);
        self.last = Some(tree);
        Ok(decision)
    }

    fn decide_with_tree(
        &mut self,
        position: &Position,
        limits: &Limits,
        levels: u32,
    ) -> Result<(Decision, Tree), AgentError> {
        let stop = self.stop(limits);
        self.check(position)?;
        if self.parameters.simulations == 0 {
            return Err(AgentError::NoTree);
        }
        // The tree shows only the search of this move.
        self.last = None;
        let (decision, tree) = self.decide_by_search(position, limits, &stop);
        let drawing = drawing(&tree, levels);
        self.last = Some(tree);
        Ok((decision, drawing))
    }
}

fn expected_value(value: Wdl) -> Value {
    Value::Expected(f64::from(value.expected()))
}

/// The value of a node for its side to move.
fn value_of(node: &Node) -> Value {
    match node.proof {
        Some(Proof::Win(plies)) => Value::Win(plies),
        Some(Proof::Draw) => Value::Draw,
        Some(Proof::Loss(plies)) => Value::Loss(plies),
        None => expected_value(node.value()),
    }
}

fn columns(tree: &SearchTree) -> Vec<Option<ColumnValue>> {
    let mut columns = vec![None; tree.position().setup().cols().into()];
    for node in tree.moves().iter().filter(|node| node.visits > 0 || node.proof.is_some()) {
        columns[node.column.index()] =
            Some(ColumnValue { value: value_of(node).before(), bound: BoundKind::Exact });
    }
    columns
}

/// The share of the simulations through each column.
fn shares(tree: &SearchTree) -> Vec<f64> {
    let visits: u32 = tree.moves().iter().map(|node| node.visits).sum();
    let mut shares = vec![0.0; tree.position().setup().cols().into()];
    for node in tree.moves() {
        shares[node.column.index()] = f64::from(node.visits) / f64::from(visits.max(1));
    }
    shares
}

/// The principal variation: the most visited moves, from the one that is played.
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

/// The tree for drawing, in which all values are from the point of view of the player to move at
/// the root, and plies are counted from there.
fn drawing(tree: &SearchTree, levels: u32) -> Tree {
    let content = |node: &Node, level: u32| {
        let value = (0..level).fold(value_of(node), |value, _| value.before());
        NodeContent::Visits { visits: node.visits, value }
    };
    let mut nodes = vec![TreeNode::new(None, content(tree.root(), 0))];
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
            let mut node = TreeNode::new(Some(index), content(child, level));
            (node.column, node.level) = (Some(child.column), level);
            nodes.push(node);
            sources.push(*child);
        }
        index += 1;
    }
    Tree { position: *tree.position(), nodes, playouts: Vec::new() }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::time::Instant;

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
    fn any_network_finds_wins_and_blocks() {
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
    fn the_policy_alone_does_not_search() {
        let decision = zero(0).decide(&position("44"), &Limits::default()).unwrap();
        assert_eq!(decision.stats.nodes, 1);
        assert!(zero(0).decide_with_tree(&position(""), &Limits::default(), 2).is_err());
    }

    #[test]
    fn a_network_whose_sums_overflow_still_plays() {
        let architecture = Architecture::new(Setup::STANDARD, 1, 8);
        let tensors = architecture.tensors();
        let tensors = tensors.iter().map(|tensor| vec![1e38; tensor.len()]).collect();
        let network = Arc::new(Network::from_tensors(architecture, tensors).unwrap());
        for (simulations, temperature) in [(0, 0.0), (0, 1.0), (50, 0.0), (50, 1.0)] {
            let parameters = ZeroParameters::new(Arc::clone(&network), simulations);
            let mut zero = Zero::new(ZeroParameters { temperature, ..parameters });
            let decision = zero.decide(&position("44"), &Limits::default()).unwrap();
            assert!(matches!(decision.value, Value::Expected(value) if value.is_finite()));
        }
    }

    #[test]
    fn players_with_temperature_vary_but_keep_proven_results() {
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
        // All moves but one lose at once, which the search has proven.
        assert_eq!(columns(200, 5.0, "12121"), [1]);
    }

    #[test]
    fn limits_are_obeyed_and_reported() {
        let limits = Limits { simulations: Some(30), ..Limits::default() };
        let decision = zero(200).decide(&position("44"), &limits).unwrap();
        assert!(decision.stopped);
        assert!((30..=31).contains(&decision.stats.simulations), "{decision:?}");
        let limits = Limits { cancel: Some(Arc::new(true.into())), ..Limits::default() };
        let decision = zero(1_000_000).decide(&position("44"), &limits).unwrap();
        assert!(decision.stopped && decision.stats.simulations <= 8);
    }

    #[test]
    fn its_search_can_be_monitored() {
        let monitor = Arc::new(SearchMonitor::default());
        let limits = Limits { monitor: Some(Arc::clone(&monitor)), ..Limits::default() };
        let decision = zero(100).decide(&position("44"), &limits).unwrap();
        let snapshot = monitor.snapshot();
        assert_eq!(snapshot.nodes, decision.stats.simulations);
        assert_eq!((snapshot.value, snapshot.pv), (Some(decision.value), decision.pv));
    }

    #[test]
    fn unsupported_games_are_rejected() {
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
    fn the_tree_is_reused_in_a_game_and_can_be_drawn() {
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
        assert!(matches!(tree.nodes[0].content, NodeContent::Visits { visits: 101, .. }));
        assert_eq!(tree.nodes_on(&decision.pv[..2]).len(), 3);
    }

    #[test]
    fn time_limit_and_cancel_flag_end_every_search() {
        let limit = Duration::from_millis(30);
        let limits = Limits { time: Some(limit), ..Limits::default() };
        let decide = |position: &Position, limits: &Limits| {
            let mut zero = zero(u64::MAX);
            let start = Instant::now();
            let decision = zero.decide(position, limits).unwrap();
            (start.elapsed(), decision)
        };
        // In late positions most simulations end with a proven result and need no evaluation.
        let mut random = Rng::with_seed(1);
        let mut positions: Vec<Position> = (0..12)
            .map(|_| crate::self_play::random_position(Setup::STANDARD, 28, &mut random))
            .collect();
        positions.extend(["", "444444"].map(position));
        let mut stopped = 0;
        for position in positions {
            // On a busy machine a search may be interrupted, so one undisturbed attempt is enough.
            let is_in_time = (0..20).any(|_| {
                let (time, decision) = decide(&position, &limits);
                assert!(decision.stopped || !matches!(decision.value, Value::Expected(_)));
                stopped += u32::from(decision.stopped);
                time < limit + Duration::from_millis(20)
            });
            assert!(is_in_time, "{position:?}");
            let cancelled =
                Limits { cancel: Some(Arc::new(AtomicBool::new(true))), ..Limits::default() };
            let (_, decision) = decide(&position, &cancelled);
            assert!(decision.stats.simulations <= 1, "{decision:?}");
        }
        assert!(stopped >= 2, "the positions are all proven at once");
    }
}
