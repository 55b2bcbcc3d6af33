//! Gumbel root selection: which moves of the root are simulated, and the policy target.
//!
//! Gumbel AlphaZero (Danihelka, Guez, Schrittwieser, Silver, "Policy improvement by planning with
//! Gumbel", 2022): the improved policy is better than the network's even when most moves were
//! never simulated. What differs from the paper: moves that are proven to lose are dropped and a
//! proven result decides policy and choice; the noise has a temperature that falls with the plies;
//! below the root, PUCT selects moves instead of the paper's deterministic rule; values are
//! expected scores from 0 to 1, not rescaled to the range found in the tree.

use fastrand::Rng;
use serde::{Deserialize, Serialize};

use crate::activations::softmax;
use crate::evaluator::Wdl;
use crate::search_tree::{Proof, SearchTree};

/// The parameters of Gumbel root selection.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GumbelParameters {
    /// The maximum number of moves that are simulated.
    pub considered: usize,
    /// The weight of a move's value before any visit (c_visit).
    pub visit_offset: f32,
    /// The scale of that weight, which grows with the visits (c_scale).
    pub value_scale: f32,
}

impl Default for GumbelParameters {
    fn default() -> Self {
        GumbelParameters { considered: 8, visit_offset: 50.0, value_scale: 0.4 }
    }
}

/// Sequential halving: distributes the simulations of a search among the root's moves. All
/// candidates get the same number, then the better half, and so on.
#[derive(Clone, Debug)]
pub struct SequentialHalving {
    parameters: GumbelParameters,
    /// Gumbel noise for each of the root's moves, which makes the choice a sample of the policy.
    noise: Vec<f32>,
    /// The indices of the remaining moves.
    candidates: Vec<usize>,
    /// Simulations of each candidate in this round.
    per_round: u32,
    /// The simulations made in this round so far.
    given: u32,
    rounds: u32,
    simulations: u32,
}

impl SequentialHalving {
    /// Starts a search of this many simulations in a tree whose root has been evaluated. The noise is
    /// multiplied by `temperature`; without noise, the best move is chosen.
    pub fn new(
        tree: &SearchTree,
        parameters: GumbelParameters,
        simulations: u32,
        temperature: f32,
        random: &mut Rng,
    ) -> SequentialHalving {
        let noise = tree.moves().iter().map(|_| temperature * gumbel(random)).collect::<Vec<f32>>();
        let mut halving = SequentialHalving {
            parameters,
            noise,
            candidates: (0..tree.moves().len()).collect(),
            per_round: 0,
            given: 0,
            rounds: 0,
            simulations,
        };
        halving.keep_best(tree, parameters.considered);
        halving.rounds = halving.candidates.len().max(2).next_power_of_two().ilog2();
        halving.start_round();
        halving
    }

    /// The index of the root's move for the next simulation.
    pub fn next(&mut self, tree: &SearchTree) -> usize {
        self.drop_losses(tree);
        let round = self.per_round * self.candidates.len() as u32;
        if self.given >= round && self.candidates.len() > 1 {
            self.keep_best(tree, self.candidates.len().div_ceil(2));
            self.start_round();
        }
        let index = self.candidates[self.given as usize % self.candidates.len()];
        self.given += 1;
        index
    }

    /// The index of the move to play.
    pub fn choice(&self, tree: &SearchTree) -> usize {
        let scores = self.scores(tree);
        let candidates = self.candidates.iter().copied();
        candidates
            .max_by(|&a, &b| scores[a].total_cmp(&scores[b]))
            .expect("at least one candidate remains")
    }

    fn start_round(&mut self) {
        let share = self.simulations / (self.rounds * self.candidates.len() as u32);
        self.per_round = share.max(1);
        self.given = 0;
    }

    /// Drops moves that are proven to lose, unless all are.
    fn drop_losses(&mut self, tree: &SearchTree) {
        let is_lost = |index: usize| matches!(tree.moves()[index].proof, Some(Proof::Win(_)));
        if self.candidates.iter().any(|&index| !is_lost(index)) {
            self.candidates.retain(|&index| !is_lost(index));
        }
    }

    fn keep_best(&mut self, tree: &SearchTree, count: usize) {
        self.drop_losses(tree);
        let scores = self.scores(tree);
        self.candidates.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        self.candidates.truncate(count.max(1));
    }

    fn scores(&self, tree: &SearchTree) -> Vec<f32> {
        let mut logits = improved_logits(tree, self.parameters);
        for (logit, noise) in logits.iter_mut().zip(&self.noise) {
            *logit += noise;
        }
        logits
    }
}

/// The improved policy of a search, by column: the network's policy, shifted towards moves with
/// higher values. Proofs decide: the fastest wins share all of it, losing moves get nothing.
#[must_use]
pub fn improved_policy(tree: &SearchTree, parameters: GumbelParameters) -> Vec<f32> {
    let mut policy = vec![0.0; tree.position().setup().cols().into()];
    let moves = tree.moves();
    let probabilities: Vec<f32> = match tree.root().proof {
        // Play for the fastest win or the slowest loss.
        Some(Proof::Win(plies)) => {
            moves.iter().map(|node| f32::from(node.proof == Some(Proof::Loss(plies - 1)))).collect()
        }
        Some(Proof::Loss(plies)) => {
            moves.iter().map(|node| f32::from(node.proof == Some(Proof::Win(plies - 1)))).collect()
        }
        _ => {
            let mut logits = improved_logits(tree, parameters);
            softmax(&mut logits);
            logits
        }
    };
    let sum: f32 = probabilities.iter().sum();
    for (node, probability) in moves.iter().zip(probabilities) {
        policy[node.column.index()] = probability / sum;
    }
    policy
}

/// The logits of the improved policy: log prior plus the scaled value; minus infinity for moves
/// that lose.
fn improved_logits(tree: &SearchTree, parameters: GumbelParameters) -> Vec<f32> {
    let moves = tree.moves();
    let max_visits = moves.iter().map(|node| node.visits).max().unwrap_or(0) as f32;
    let scale = (parameters.visit_offset + max_visits) * parameters.value_scale;
    let unknown = mixed_value(tree);
    moves
        .iter()
        .map(|node| {
            let value = match node.proof {
                Some(Proof::Win(_)) => return f32::NEG_INFINITY,
                Some(proof) => proof.wdl().reversed(),
                None if node.visits > 0 => node.value().reversed(),
                None => unknown,
            };
            node.prior.max(1e-9).ln() + scale * value.expected()
        })
        .collect()
}

/// The value of unvisited moves (v_mix): a mean of the root's own evaluation and the visited moves'
/// values, weighted by the policy.
fn mixed_value(tree: &SearchTree) -> Wdl {
    let tried = || tree.moves().iter().filter(|node| node.visits > 0);
    let policy: f32 = tried().map(|node| node.prior.max(1e-9)).sum();
    if policy == 0.0 {
        return tree.root().value();
    }
    let mut mean = Wdl::LOSS;
    for node in tried() {
        let (value, share) = (node.value().reversed(), node.prior.max(1e-9) / policy);
        mean.win += share * value.win;
        mean.draw += share * value.draw;
    }
    let visits: u32 = tried().map(|node| node.visits).sum();
    mean.lerp(tree.root().first_value(), 1.0 / (1 + visits) as f32)
}

fn gumbel(random: &mut Rng) -> f32 {
    let uniform = random.f32().clamp(1e-9, 1.0 - 1e-7);
    -(-uniform.ln()).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluator::{Evaluation, Evaluator, UniformEvaluator};
    use crate::search_tree::{Gathered, TreeParameters};
    use claimeven_game::{Position, Setup};

    fn evaluate_and_apply(tree: &mut SearchTree, position: Position) {
        let mut evaluations: Vec<Evaluation> = Vec::new();
        UniformEvaluator.evaluate(&[position], &mut evaluations);
        tree.apply(&evaluations[0]);
    }

    fn searched(moves: &str, simulations: u32) -> (SearchTree, SequentialHalving) {
        let position = Position::from_moves(Setup::STANDARD, moves).unwrap();
        let mut tree = SearchTree::new(position, TreeParameters::default());
        let Gathered::Position(first) = tree.gather(None) else {
            panic!("no position was gathered")
        };
        evaluate_and_apply(&mut tree, first);
        let mut random = Rng::with_seed(1);
        let mut halving = SequentialHalving::new(
            &tree,
            GumbelParameters::default(),
            simulations,
            1.0,
            &mut random,
        );
        for _ in 0..simulations {
            let first = halving.next(&tree);
            if let Gathered::Position(position) = tree.gather(Some(first)) {
                evaluate_and_apply(&mut tree, position);
            }
        }
        (tree, halving)
    }

    #[test]
    fn sequential_halving_distributes_the_simulations() {
        let (tree, _) = searched("", 42);
        let mut visits: Vec<u32> = tree.moves().iter().map(|node| node.visits).collect();
        visits.sort_unstable();
        // Three rounds of fourteen: all seven moves, four of them, two of them.
        assert_eq!(visits, [2, 2, 2, 5, 5, 12, 14]);
    }

    #[test]
    fn a_threat_is_blocked_in_choice_and_policy() {
        // The second player must block the first player's column.
        let (tree, halving) = searched("41414", 60);
        let column = tree.moves()[halving.choice(&tree)].column;
        assert_eq!(column.number(), 4);
        let policy = improved_policy(&tree, GumbelParameters::default());
        assert!(policy[3] > 0.999, "{policy:?}");
        assert!((policy.iter().sum::<f32>() - 1.0).abs() < 1e-5);
    }
}
