//! Searches of many positions at once, without noise.

use claimeven_game::Position;

use crate::evaluator::{Evaluation, Evaluator};
use crate::search_tree::{Gathered, SearchTree, TreeParameters};

/// Searches every position with so many simulations beyond the first judgement, or until it is
/// proven; 0 is the bare policy.
pub fn search_many(
    evaluator: &mut impl Evaluator,
    positions: &[Position],
    simulations: u32,
    parameters: TreeParameters,
) -> Vec<SearchTree> {
    let tree = |position: &Position| SearchTree::new(*position, parameters);
    let mut trees: Vec<SearchTree> = positions.iter().map(tree).collect();
    let mut evaluations: Vec<Evaluation> = Vec::new();
    loop {
        let mut questions = Vec::new();
        for tree in &mut trees {
            while tree.root().visits <= simulations && tree.root().proof.is_none() {
                if let Gathered::Position(position) = tree.gather(None) {
                    questions.push(position);
                    break;
                }
            }
        }
        if questions.is_empty() {
            return trees;
        }
        evaluator.evaluate(&questions, &mut evaluations);
        let waiting = trees.iter_mut().filter(|tree| tree.waiting() > 0);
        for (tree, evaluation) in waiting.zip(&evaluations) {
            tree.apply(evaluation);
        }
    }
}
