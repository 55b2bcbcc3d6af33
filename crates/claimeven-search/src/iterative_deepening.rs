//! Iterative deepening: searches to depth 1, 2, 3 and so on until a limit is reached.

use claimeven_game::{Board, Rules};
use claimeven_solver::Stopped;

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
///
/// ```
/// use std::time::Duration;
///
/// use claimeven_game::{Position, Setup};
/// use claimeven_search::{Agent, DepthParameters, IterativeDeepening, Limits};
///
/// let parameters = DepthParameters { depth: 42, ..DepthParameters::default() };
/// let mut player = IterativeDeepening::new(parameters, 8);
/// let limits = Limits::default().with_time(Duration::from_millis(20));
/// let decision = player.decide(&Position::new(Setup::STANDARD), &limits)?;
/// assert!(decision.stopped && decision.stats.depth > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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

    fn memory(&self) -> usize {
        self.table.memory()
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
                search.trace.begin_pass(|_| format!("depth {depth}"));
                let end = search.search_root(table, board, depth, (alpha, beta), &mut deeper);
                guess = deeper.best_points();
                let is_inside = alpha < guess && guess < beta;
                // The previous best move is searched first, so a partial result is no worse than it.
                if is_inside {
                    *root = deeper;
                }
                match end {
                    Err(Stopped) => return Err(Stopped),
                    Ok(_) if is_inside => break,
                    Ok(_) if guess <= alpha => alpha = -INFINITY,
                    Ok(_) => beta = INFINITY,
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
