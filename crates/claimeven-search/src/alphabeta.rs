//! Alpha-beta pruning.

use claimeven_game::{Board, Rules};
use claimeven_solver::Stopped;

use crate::agent::BoundKind;
use crate::depth_search::{Algorithm, DepthParameters, DepthSearch, INFINITY, Root};
use crate::transposition_table::TranspositionTable;
use crate::tree::Trace;

/// Fail-soft alpha-beta: the value and the move of [`Minimax`](crate::Minimax) with fewer nodes.
///
/// ```
/// use claimeven_game::{Position, Setup};
/// use claimeven_search::{Agent, AlphaBeta, DepthParameters, Limits};
///
/// let parameters = DepthParameters { depth: 6, ..DepthParameters::default() };
/// let mut player = AlphaBeta::new(parameters);
/// let decision = player.decide(&Position::new(Setup::STANDARD), &Limits::default())?;
/// assert_eq!((decision.column.number(), decision.stats.depth), (4, 6));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct AlphaBeta {
    parameters: DepthParameters,
    exact_moves: bool,
    table: Option<TranspositionTable>,
}

impl AlphaBeta {
    /// A player without a transposition table. Moves that are no better than the best have an upper
    /// bound.
    pub fn new(parameters: DepthParameters) -> AlphaBeta {
        AlphaBeta { parameters, exact_moves: false, table: None }
    }

    /// The same player with exact values for all moves of the root, which takes longer.
    #[must_use]
    pub fn with_exact_moves(self) -> AlphaBeta {
        AlphaBeta { exact_moves: true, ..self }
    }

    /// The same player with a transposition table of at most `table_mb` MiB, like those of MTD(f)
    /// and iterative deepening.
    #[must_use]
    pub fn with_table(self, table_mb: u32) -> AlphaBeta {
        AlphaBeta { table: Some(TranspositionTable::new(table_mb)), ..self }
    }
}

impl Algorithm for AlphaBeta {
    fn parameters(&self) -> &DepthParameters {
        &self.parameters
    }

    fn memory(&self) -> usize {
        self.table.as_ref().map_or(0, TranspositionTable::memory)
    }

    fn search<R: Rules, T: Trace>(
        &mut self,
        search: &mut DepthSearch<'_, R, T>,
        board: Board<R>,
        depth: u32,
        root: &mut Root,
    ) -> Result<(), Stopped> {
        if let Some(table) = &mut self.table {
            table.begin(board.rules().setup());
        }
        search.enter(-INFINITY, INFINITY)?;
        for column in root.order() {
            let child = search.play(&board, column);
            // The first of several equal moves is taken, so only a better one matters.
            let alpha = if self.exact_moves { -INFINITY } else { root.best_points() };
            let points = -match &mut self.table {
                Some(table) => {
                    let window = (-INFINITY, -alpha);
                    search.alphabeta_with_table(table, child, depth - 1, 1, window)?
                }
                None => search.alphabeta(child, depth - 1, 1, -INFINITY, -alpha)?,
            };
            let bound = if points > alpha { BoundKind::Exact } else { BoundKind::Upper };
            root.add(column, points, bound, search.pv(1));
            search.report(root);
        }
        search.stats.depth = depth;
        search.report(root);
        search.leave(root.best_points(), -INFINITY, INFINITY);
        // Table hits have no principal variation.
        if let Some(table) = &mut self.table {
            search.trace.end();
            let (points, order) = (root.best_points(), root.order());
            if let Ok(pv) = search.principal_variation(table, board, depth, points, order) {
                root.set_pv(pv);
            }
            search.report(root);
        }
        Ok(())
    }
}

impl<R: Rules, T: Trace> DepthSearch<'_, R, T> {
    /// The points of a position for the side to move, searched to `depth` plies with the window
    /// (`alpha`, `beta`). Points inside the window are exact; others are bounds, which may lie
    /// beyond the window (*fail-soft*).
    fn alphabeta(
        &mut self,
        board: Board<R>,
        depth: u32,
        ply: u32,
        alpha: i32,
        beta: i32,
    ) -> Result<i32, Stopped> {
        self.enter(alpha, beta)?;

        // 1. The game is over or the horizon is reached.
        if let Some(points) = self.leaf(&board, depth, ply) {
            return Ok(points);
        }

        // 2. Search the moves.
        let mut best = -INFINITY;
        for index in 0..self.move_count() {
            let Some((column, child)) = self.child(&board, index) else { continue };
            let lower = alpha.max(best);
            let points = -self.alphabeta(child, depth - 1, ply + 1, -beta, -lower)?;
            if points > best {
                best = points;
                self.extend_pv(ply, column);
            }

            // 3. Beta cutoff: the opponent has a better choice earlier.
            if best >= beta {
                self.prune_all_but(&board, |other| other <= index);
                break;
            }
        }
        Ok(self.leave(best, alpha, beta))
    }
}
