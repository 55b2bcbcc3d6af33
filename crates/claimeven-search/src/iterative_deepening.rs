//! Iterative deepening: searches to depth 1, 2, 3 and so on until a limit is reached.

use claimeven_game::{Board, Rules};
use claimeven_solver::Stopped;

use crate::agent::BoundKind;
use crate::depth_search::{Algorithm, DepthParameters, DepthSearch, INFINITY, Root};
use crate::transposition_table::TranspositionTable;
use crate::tree::Trace;

/// Iterative deepening with aspiration windows.
///
/// Searches to depth 1, then 2, and so on, until a limit is reached, a win or a loss is proven or
/// the search has reached the end of the game. It plays the best move of the deepest search. A move
/// that an unfinished iteration has proven better than the previous best move counts as well.
///
/// Each iteration starts with the best move of the previous one and a window of 50 points on either
/// side of its value; if the value is outside, the iteration is repeated with an open window.
pub struct IterativeDeepening {
    parameters: DepthParameters,
    table: TranspositionTable,
}

/// Half the width of the aspiration window.
const ASPIRATION: i32 = 50;

impl IterativeDeepening {
    /// A player with an empty transposition table of at most `table_mb` MiB.
    pub fn new(parameters: DepthParameters, table_mb: u32) -> IterativeDeepening {
        IterativeDeepening { parameters, table: TranspositionTable::new(table_mb) }
    }
}

impl Algorithm for IterativeDeepening {
    fn parameters(&self) -> &DepthParameters {
        &self.parameters
    }

    fn search<R: Rules, T: Trace>(
        &mut self,
        search: &mut DepthSearch<'_, R, T>,
        board: Board<R>,
        max_depth: u32,
        root: &mut Root,
    ) -> Result<(), Stopped> {
        let table = &mut self.table;
        let mut guess = search.evaluate(&board);
        for depth in 1..=max_depth {
            let (mut alpha, mut beta) = (guess - ASPIRATION, guess + ASPIRATION);
            loop {
                table.begin(board.rules().setup());
                let mut deeper = root.best_first();
                let end = search.iteration(table, board, depth, (alpha, beta), &mut deeper);
                guess = deeper.best_points();
                let is_inside = alpha < guess && guess < beta;
                // The previous best move is searched first, so a partial result is no worse than it.
                if is_inside {
                    *root = deeper;
                }
                match end {
                    Err(Stopped) => return Err(Stopped),
                    Ok(()) if is_inside => break,
                    Ok(()) if guess <= alpha => alpha = -INFINITY,
                    Ok(()) => beta = INFINITY,
                }
            }
            search.stats.depth = depth;
            search.report(root);
            if search.is_proven(guess) {
                break;
            }
        }
        Ok(())
    }
}

impl<R: Rules, T: Trace> DepthSearch<'_, R, T> {
    /// Searches the moves of the root to one depth.
    fn iteration(
        &mut self,
        table: &mut TranspositionTable,
        board: Board<R>,
        depth: u32,
        (alpha, beta): (i32, i32),
        root: &mut Root,
    ) -> Result<(), Stopped> {
        self.trace.begin_pass(|_| format!("depth {depth}"));
        self.enter(alpha, beta)?;
        for column in root.order() {
            let child = self.play(&board, column);
            let sure = alpha.max(root.best_points());
            let points = -self.alphabeta_with_table(table, child, depth - 1, 1, (-beta, -sure))?;
            let bound = match points {
                _ if points <= sure => BoundKind::Upper,
                _ if points >= beta => BoundKind::Lower,
                _ => BoundKind::Exact,
            };
            root.add(column, points, bound, self.pv(1));
            if points >= beta {
                self.prune_root(root.unknown());
                break;
            }
        }
        self.leave(root.best_points(), alpha, beta);
        Ok(())
    }
}
