//! MTD(f): the value by a series of guesses.

use claimeven_game::{Board, Rules};

use crate::agent::BoundKind;
use crate::depth_search::{Algorithm, DepthParameters, DepthSearch, INFINITY, Root};
use crate::stop::Stopped;
use crate::transposition_table::TranspositionTable;
use crate::tree::Trace;

/// Finds the value and the move of [`Minimax`](crate::Minimax) by asking again and again whether
/// the value is at least a guess.
///
/// A question of that kind lets alpha-beta prune the most, and what one pass has seen the table
/// remembers for the next.
pub struct Mtdf {
    parameters: DepthParameters,
    table: TranspositionTable,
}

impl Mtdf {
    /// A player with an empty table of at most so many megabytes.
    pub fn new(parameters: DepthParameters, table_mb: u32) -> Mtdf {
        Mtdf { parameters, table: TranspositionTable::new(table_mb) }
    }
}

impl Algorithm for Mtdf {
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
        let table = &mut self.table;
        table.begin(board.rules().setup());
        // 1. Each answer is a bound; the guesses end when the bounds meet.
        let (mut low, mut high) = (-INFINITY, INFINITY);
        let mut guess = search.evaluate(&board);
        while low < high {
            let beta = if guess == low { guess + 1 } else { guess };
            guess = search.pass(table, board, depth, beta, root)?;
            if guess < beta {
                high = guess;
            } else {
                low = guess;
                search.tell(root);
            }
        }

        // 2. The first move that is worth as much is found by asking for just that.
        search.pass(table, board, depth, low, root)?;
        root.settle();
        search.stats.depth = depth;

        // 3. Play after it, from the table.
        search.trace.end();
        let pv = search.principal_variation(table, board, depth, low, root.order())?;
        root.set_pv(pv);
        search.tell(root);
        Ok(())
    }
}

impl<R: Rules, T: Trace> DepthSearch<'_, R, T> {
    /// Whether the root is worth at least `beta`: points of that or more say yes, and the best
    /// move is then the first that is.
    fn pass(
        &mut self,
        table: &mut TranspositionTable,
        board: Board<R>,
        depth: u32,
        beta: i32,
        root: &mut Root,
    ) -> Result<i32, Stopped> {
        self.trace.begin_pass(|scale| format!("{} or better?", scale.value(beta)));
        self.enter(beta - 1, beta)?;
        root.forget();
        for column in root.order() {
            let child = self.play(&board, column);
            let window = (-beta, 1 - beta);
            let points = -self.alphabeta_with_table(table, child, depth - 1, 1, window)?;
            let bound = if points < beta { BoundKind::Upper } else { BoundKind::Lower };
            root.add(column, points, bound, self.pv(1));
            if points >= beta {
                self.prune_root(root.unknown());
                break;
            }
        }
        Ok(self.leave(root.best_points(), beta - 1, beta))
    }
}
