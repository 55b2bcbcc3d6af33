//! Searching ahead from a position to the ply of a book.

use std::collections::HashMap;

use claimeven_game::{Bits, Board, Column, Position, Rules, with_board};

use crate::Score;
use crate::book::{Book, has_winning_move};
use crate::limits::{Stop, Stopped};

impl Book {
    /// The score of a position at or before the book's ply, by an alpha-beta search to that ply.
    /// The position must be reachable and unfinished.
    pub(crate) fn look_ahead(&self, position: &Position, stop: &Stop) -> Result<Score, Stopped> {
        let max = position.setup().cells() as i32;
        let mut reader = BookReader {
            book: self,
            order: Column::from_centre(position.setup()).collect(),
            known: HashMap::new(),
            stop,
            nodes: 0,
        };
        with_board!(position, board => reader.score(board, -max, max)).map(Score::new)
    }
}

/// An alpha-beta search whose leaves are the book's positions.
struct BookReader<'a> {
    book: &'a Book,
    /// The columns from the centre outwards.
    order: Vec<Column>,
    /// Bounds of positions before the book's ply, by canonical key: low and high.
    known: HashMap<u128, (i32, i32)>,
    stop: &'a Stop,
    nodes: u64,
}

impl BookReader<'_> {
    /// The score of a reachable position: exact if it is within the window, otherwise a bound on
    /// the same side of it.
    fn score<R: Rules>(
        &mut self,
        board: Board<R>,
        mut alpha: i32,
        mut beta: i32,
    ) -> Result<i32, Stopped> {
        self.nodes += 1;
        if self.nodes.is_multiple_of(Stop::POLL_INTERVAL) && self.stop.is_requested() {
            return Err(Stopped);
        }
        let rules = board.rules();
        let (cells, ply) = (rules.setup().cells() as i32, board.ply() as i32);
        let key = board.canonical_key().widen();

        // 1. Immediate wins are not in the book.
        if has_winning_move(&board) {
            return Ok((cells + 1 - ply) / 2);
        }
        if board.ply() >= self.book.ply() {
            return Ok(self.book.score_of_key(key).value());
        }

        // 2. A full board, which a book of a later ply does not contain.
        let open = board.open();
        if open.is_empty() {
            return Ok(0);
        }

        // 3. Bounds found earlier in this search.
        let (low, high) = *self.known.get(&key).unwrap_or(&(-cells, cells));
        alpha = alpha.max(low);
        beta = beta.min(high);
        if alpha >= beta {
            return Ok(if low >= beta { low } else { high });
        }

        // 4. Every move, from the centre outwards.
        let (mut best, first_alpha) = (-cells, alpha);
        for index in 0..self.order.len() {
            let cell = open & rules.column(self.order[index]);
            if cell.is_empty() {
                continue;
            }
            let mut child = board;
            child.play_cell(cell);
            best = best.max(-self.score(child, -beta, -alpha)?);
            alpha = alpha.max(best);
            if alpha >= beta {
                break;
            }
        }
        let low = if best > first_alpha { low.max(best) } else { low };
        let high = if best < beta { high.min(best) } else { high };
        self.known.insert(key, (low, high));
        Ok(best)
    }
}
