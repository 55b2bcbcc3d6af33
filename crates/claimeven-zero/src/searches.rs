//! Searches of many positions in lockstep, so that each batch contains a position of every search.

use claimeven_game::Position;

use crate::evaluator::{Evaluation, Evaluator};
use crate::search_tree::{Gathered, SearchTree, TreeParameters};

/// Searches every position with this many simulations after its own evaluation, or until its result
/// is proven. With 0 simulations the best move is the policy's.
///
/// # Panics
///
/// If one of the games is over.
///
/// ```
/// use claimeven_game::{Position, Setup};
/// use claimeven_zero::{TreeParameters, UniformEvaluator, search_many};
///
/// let positions = [Position::from_moves(Setup::STANDARD, "12121")?];
/// let trees = search_many(&mut UniformEvaluator, &positions, 100, TreeParameters::default());
/// // The second player has to block.
/// assert_eq!(trees[0].best_move().map(|node| node.column.number()), Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
        let mut positions_to_evaluate = Vec::new();
        for tree in &mut trees {
            while tree.root().visits <= simulations && tree.root().proof.is_none() {
                if let Gathered::Position(position) = tree.gather(None) {
                    positions_to_evaluate.push(position);
                    break;
                }
            }
        }
        if positions_to_evaluate.is_empty() {
            return trees;
        }
        evaluator.evaluate(&positions_to_evaluate, &mut evaluations);
        let waiting = trees.iter_mut().filter(|tree| tree.waiting() > 0);
        for (tree, evaluation) in waiting.zip(&evaluations) {
            tree.apply(evaluation);
        }
    }
}
