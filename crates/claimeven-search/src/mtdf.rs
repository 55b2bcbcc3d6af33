//! MTD(f): a series of null-window searches that converges to the minimax value.

use claimeven_game::{Board, Rules};
use claimeven_solver::Stopped;

use crate::depth_search::{Algorithm, DepthParameters, DepthSearch, INFINITY, Root};
use crate::transposition_table::TranspositionTable;
use crate::tree::Trace;

/// MTD(f) by Plaat, Schaeffer, Pijls and de Bruin: a series of null-window searches with a
/// transposition table.
///
/// It finds the same value and move as [`Minimax`](crate::Minimax). Each pass decides whether the
/// value is at least a guess, and improves the guess. Null windows prune the most, and the table
/// passes results from one pass to the next.
///
/// ```
/// use claimeven_game::{Position, Setup};
/// use claimeven_search::{Agent, DepthParameters, Limits, Mtdf};
///
/// let parameters = DepthParameters { depth: 8, ..DepthParameters::default() };
/// let empty = Position::new(Setup::STANDARD);
/// let decision = Mtdf::new(parameters, 8).decide(&empty, &Limits::default())?;
/// assert_eq!(decision.stats.depth, 8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Mtdf {
    parameters: DepthParameters,
    table: TranspositionTable,
}

impl Mtdf {
    /// A player with an empty transposition table of at most `table_mb` MiB.
    pub fn new(parameters: DepthParameters, table_mb: u32) -> Mtdf {
        Mtdf { parameters, table: TranspositionTable::new(table_mb) }
    }
}

impl Algorithm for Mtdf {
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
        depth: u32,
        root: &mut Root,
    ) -> Result<(), Stopped> {
        let table = &mut self.table;
        table.begin(board.rules().setup());
        // 1. Each pass returns a bound; the search ends when lower and upper bound meet.
        let (mut low, mut high) = (-INFINITY, INFINITY);
        let mut guess = search.evaluate(&board);
        while low < high {
            let beta = if guess == low { guess + 1 } else { guess };
            guess = search.pass(table, board, depth, beta, root)?;
            if guess < beta {
                high = guess;
            } else {
                low = guess;
                search.report(root);
            }
        }

        // 2. One more pass finds the first move with that value.
        search.pass(table, board, depth, low, root)?;
        root.mark_best_exact();
        search.stats.depth = depth;

        // 3. The principal variation from the table; it stays incomplete if a limit is reached here.
        search.trace.end();
        if let Ok(pv) = search.principal_variation(table, board, depth, low, root.order()) {
            root.set_pv(pv);
        }
        search.report(root);
        Ok(())
    }
}

impl<R: Rules, T: Trace> DepthSearch<'_, R, T> {
    /// One null-window search. It returns `beta` or more if the root's value is at least `beta`;
    /// the best move is then the first one with such a value.
    fn pass(
        &mut self,
        table: &mut TranspositionTable,
        board: Board<R>,
        depth: u32,
        beta: i32,
        root: &mut Root,
    ) -> Result<i32, Stopped> {
        self.trace.begin_pass(|scale| format!("{} or better?", scale.value(beta)));
        self.search_root(table, board, depth, (beta - 1, beta), root)
    }
}
