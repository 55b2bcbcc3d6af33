//! Alpha-beta: minimax without the moves that cannot matter.

use claimeven_game::{Board, Rules};

use crate::agent::BoundKind;
use crate::depth_search::{Algorithm, DepthParameters, DepthSearch, INFINITY, Root};
use crate::stop::Stopped;
use crate::tree::Trace;

/// Finds the value and the move of [`Minimax`](crate::Minimax) with fewer nodes.
#[derive(Clone, Debug, Default)]
pub struct AlphaBeta {
    /// What it is to do.
    pub parameters: DepthParameters,
    /// Whether every move of the root is to be given its exact value, which takes longer. Else
    /// moves that are no better than the best are only known to be that.
    pub every_move: bool,
}

impl Algorithm for AlphaBeta {
    fn parameters(&self) -> &DepthParameters {
        &self.parameters
    }

    fn search<R: Rules, T: Trace>(
        &mut self,
        search: &mut DepthSearch<'_, R, T>,
        board: Board<R>,
        depth: u32,
        root: &mut Root,
    ) -> Result<(), Stopped> {
        search.enter(-INFINITY, INFINITY)?;
        for column in root.order() {
            let child = search.play(&board, column);
            // Only a better move than the best so far is of interest: of equals the first is taken.
            let alpha = if self.every_move { -INFINITY } else { root.best_points() };
            let points = -search.alphabeta(child, depth - 1, 1, -INFINITY, -alpha)?;
            let bound = if points > alpha { BoundKind::Exact } else { BoundKind::Upper };
            root.add(column, points, bound, search.pv(1));
            search.tell(root);
        }
        search.stats.depth = depth;
        search.tell(root);
        search.leave(root.best_points(), -INFINITY, INFINITY);
        Ok(())
    }
}

impl<R: Rules, T: Trace> DepthSearch<'_, R, T> {
    /// The points of a position for the side to move, looking `depth` plies ahead.
    ///
    /// The side to move has `alpha` for sure by another choice before, and the opponent will not
    /// let it have `beta` or more. Points between the two are exact; others are a bound on the same
    /// side of the window, as near to the truth as the search has come (*fail-soft*).
    fn alphabeta(
        &mut self,
        board: Board<R>,
        depth: u32,
        ply: u32,
        alpha: i32,
        beta: i32,
    ) -> Result<i32, Stopped> {
        self.enter(alpha, beta)?;

        // 1. The game is over, or this is as far as we look.
        if let Some(points) = self.leaf(&board, depth, ply) {
            return Ok(points);
        }

        // 2. The best move is the one that leaves the opponent the least.
        let mut best = -INFINITY;
        for place in 0..self.move_count() {
            let Some((column, child)) = self.child(&board, place) else { continue };
            let sure = alpha.max(best);
            let points = -self.alphabeta(child, depth - 1, ply + 1, -beta, -sure)?;
            if points > best {
                best = points;
                self.extend_pv(ply, column);
            }

            // 3. It is too good: the opponent will not let it come to this position.
            if best >= beta {
                self.prune_all_but(&board, |other| other <= place);
                break;
            }
        }
        Ok(self.leave(best, alpha, beta))
    }
}
