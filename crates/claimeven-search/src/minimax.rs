//! Minimax: every move, every reply, to a fixed depth.

use claimeven_game::{Board, Rules};
use claimeven_solver::Stopped;

use crate::agent::BoundKind;
use crate::depth_search::{Algorithm, DepthParameters, DepthSearch, INFINITY, Root};
use crate::tree::Trace;

/// Plain minimax: a full-width search to a fixed depth.
///
/// ```
/// use claimeven_game::{Position, Setup};
/// use claimeven_search::{Agent, DepthParameters, Limits, Minimax};
///
/// let parameters = DepthParameters { depth: 2, ..DepthParameters::default() };
/// let empty = Position::new(Setup::STANDARD);
/// let decision = Minimax { parameters }.decide(&empty, &Limits::default())?;
/// assert_eq!(decision.stats.nodes, 1 + 7 + 49);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Minimax {
    /// Depth, heuristic and the other parameters.
    pub parameters: DepthParameters,
}

impl Algorithm for Minimax {
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
            let points = -search.minimax(child, depth - 1, 1)?;
            root.add(column, points, BoundKind::Exact, search.pv(1));
            search.report(root);
        }
        search.stats.depth = depth;
        search.report(root);
        search.leave(root.best_points(), -INFINITY, INFINITY);
        Ok(())
    }
}

impl<R: Rules, T: Trace> DepthSearch<'_, R, T> {
    /// The points of a position for the side to move, searched to `depth` plies.
    fn minimax(&mut self, board: Board<R>, depth: u32, ply: u32) -> Result<i32, Stopped> {
        self.enter(-INFINITY, INFINITY)?;

        // 1. The game is over or the horizon is reached.
        if let Some(points) = self.leaf(&board, depth, ply) {
            return Ok(points);
        }

        // 2. Search the moves.
        let mut best = -INFINITY;
        for index in 0..self.move_count() {
            let Some((column, child)) = self.child(&board, index) else { continue };
            let points = -self.minimax(child, depth - 1, ply + 1)?;
            if points > best {
                best = points;
                self.extend_pv(ply, column);
            }
        }
        Ok(self.leave(best, -INFINITY, INFINITY))
    }
}
