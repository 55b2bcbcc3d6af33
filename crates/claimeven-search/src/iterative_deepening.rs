//! The timed search: one ply deeper and deeper, until the time is up.

use claimeven_game::{Board, Rules};

use crate::agent::BoundKind;
use crate::depth_search::{Algorithm, DepthParameters, DepthSearch, INFINITY, Root};
use crate::stop::Stopped;
use crate::transposition_table::TranspositionTable;
use crate::tree::Trace;

/// Searches one ply deep, then two, and so on (*iterative deepening*), and plays what the deepest
/// search has found when the time is up, a win or a loss is proven or the game's end is in sight.
///
/// Each search begins with the best move of the one before and expects its points to be near
/// those of the one before (*aspiration window*); where they are not, it is done again without
/// that expectation.
pub struct IterativeDeepening {
    parameters: DepthParameters,
    table: TranspositionTable,
}

/// How far the points may be from those of the search before.
const ASPIRATION: i32 = 50;

impl IterativeDeepening {
    /// A player with an empty table of at most so many megabytes.
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
                // What a search has found before its end is better than what it began with.
                if is_inside {
                    *root = deeper;
                }
                match end {
                    Err(Stopped) if depth > 1 => return Ok(()),
                    Err(Stopped) => return Err(Stopped),
                    Ok(()) if is_inside => break,
                    Ok(()) if guess <= alpha => alpha = -INFINITY,
                    Ok(()) => beta = INFINITY,
                }
            }
            search.stats.depth = depth;
            search.tell(root);
            if search.is_proven(guess) {
                break;
            }
        }
        Ok(())
    }
}

impl<R: Rules, T: Trace> DepthSearch<'_, R, T> {
    /// The moves of the root to one depth.
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
