//! Alpha-beta with a transposition table, the basis of MTD(f) and iterative deepening.

use claimeven_game::{Bits, Board, Column, Rules, Setup, mix_key};
use claimeven_solver::Stopped;

use crate::agent::BoundKind;
use crate::depth_search::{DepthSearch, INFINITY, Root};
use crate::tree::{Trace, ValueSource};

/// The transposition table of the depth-limited searches.
///
/// A position is always the same number of plies from the empty board, so within one search to one
/// depth its points do not depend on how it was reached, and an entry needs no depth. The next
/// search has another root or another horizon, so it uses old entries only for their best moves.
pub(crate) struct TranspositionTable {
    /// Packed entries, a power of two of them, or none before the first search. The table grows as
    /// it fills up, so that a short search does not wait for memory that it does not need.
    entries: Vec<Packed>,
    max_entries: usize,
    /// The number of slots that the current search has written to.
    filled: usize,
    /// The setup of the positions.
    setup: Option<Setup>,
    /// The number of the current search.
    search: u32,
}

/// The number of entries of a new table: 128 KiB.
const FIRST_ENTRIES: usize = 1 << 12;

/// The number of entries up to which a table grows in steps: 8 MiB.
const LARGE: usize = 1 << 18;

/// The bounds and best move of a position.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    key: u128,
    low: i32,
    high: i32,
    search: u32,
    /// The index of the best move in the move order.
    best: u8,
}

/// A packed entry. No search has the number 0, so zeroed memory is an empty table.
type Packed = [u64; 4];

impl Entry {
    const UNKNOWN: Entry = Entry { key: 0, low: -INFINITY, high: INFINITY, search: 0, best: 0 };

    fn pack(self) -> Packed {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let bounds = pair(self.low.cast_unsigned(), self.high.cast_unsigned());
        [self.key as u64, (self.key >> 64) as u64, bounds, pair(self.search, self.best.into())]
    }

    fn unpack([key_low, key_high, bounds, rest]: Packed) -> Entry {
        Entry {
            key: u128::from(key_low) | u128::from(key_high) << 64,
            low: bounds as i32,
            high: (bounds >> 32) as i32,
            search: rest as u32,
            best: (rest >> 32) as u8,
        }
    }
}

impl TranspositionTable {
    /// An empty table of at most this many MiB, at least 1.
    pub(crate) fn new(megabytes: u32) -> TranspositionTable {
        let fitting = ((megabytes.max(1) as usize) << 20) / size_of::<Packed>();
        let max_entries = 1 << fitting.ilog2();
        TranspositionTable { entries: Vec::new(), max_entries, filled: 0, setup: None, search: 0 }
    }

    /// Starts a search. Entries of another setup are dropped.
    pub(crate) fn begin(&mut self, setup: Setup) {
        self.search += 1;
        self.filled = 0;
        if self.setup != Some(setup) {
            self.setup = Some(setup);
            self.entries = vec![[0; 4]; FIRST_ENTRIES.min(self.max_entries)];
        }
    }

    /// The size in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.entries.capacity() * size_of::<Packed>()
    }

    fn index(&self, key: u128) -> usize {
        (mix_key(key) >> (u64::BITS - self.entries.len().ilog2())) as usize
    }

    fn get(&self, key: u128) -> Entry {
        match Entry::unpack(self.entries[self.index(key)]) {
            entry if entry.key != key => Entry { key, ..Entry::UNKNOWN },
            entry if entry.search != self.search => Entry { best: entry.best, ..Entry::UNKNOWN },
            entry => entry,
        }
    }

    fn put(&mut self, key: u128, entry: Entry) {
        let index = self.index(key);
        if Entry::unpack(self.entries[index]).search != self.search {
            self.filled += 1;
        }
        self.entries[index] = Entry { key, search: self.search, ..entry }.pack();
        if self.filled > self.entries.len() / 2 && self.entries.len() < self.max_entries {
            self.grow();
        }
    }

    /// Grows fourfold while that takes about a millisecond, then at once to the full size, so that
    /// copying a large table never makes a search miss its deadline.
    #[cold]
    fn grow(&mut self) {
        let size = match 4 * self.entries.len() {
            larger if larger <= LARGE => larger.min(self.max_entries),
            _ => self.max_entries,
        };
        // Without this check, an allocation that the system refuses would abort the program.
        if Vec::<Packed>::new().try_reserve_exact(size).is_err() {
            self.max_entries = self.entries.len();
            return;
        }
        let old = std::mem::replace(&mut self.entries, vec![[0; 4]; size]);
        for packed in old {
            let index = self.index(Entry::unpack(packed).key);
            self.entries[index] = packed;
        }
    }
}

impl<R: Rules, T: Trace> DepthSearch<'_, R, T> {
    /// Searches the moves of the root within a window, in the root's order, and returns the points
    /// of the best one.
    pub(crate) fn search_root(
        &mut self,
        table: &mut TranspositionTable,
        board: Board<R>,
        depth: u32,
        (alpha, beta): (i32, i32),
        root: &mut Root,
    ) -> Result<i32, Stopped> {
        self.enter(alpha, beta)?;
        root.clear();
        for column in root.order() {
            let child = self.play(&board, column);
            let lower = alpha.max(root.best_points());
            let points = -self.alphabeta_with_table(table, child, depth - 1, 1, (-beta, -lower))?;
            let bound = match points {
                _ if points <= lower => BoundKind::Upper,
                _ if points >= beta => BoundKind::Lower,
                _ => BoundKind::Exact,
            };
            root.add(column, points, bound, self.pv(1));
            if points >= beta {
                self.prune_root(root.unknown());
                break;
            }
        }
        Ok(self.leave(root.best_points(), alpha, beta))
    }

    /// Alpha-beta with the transposition table; see `alphabeta`.
    pub(crate) fn alphabeta_with_table(
        &mut self,
        table: &mut TranspositionTable,
        board: Board<R>,
        depth: u32,
        ply: u32,
        (alpha, beta): (i32, i32),
    ) -> Result<i32, Stopped> {
        self.enter(alpha, beta)?;

        // 1. The game is over or the horizon is reached.
        if let Some(points) = self.leaf(&board, depth, ply) {
            return Ok(points);
        }

        // 2. The table may have a value or a bound that decides, or one that narrows the window.
        let key = board.key().widen();
        let known = table.get(key);
        if known.low >= beta || known.low == known.high {
            return Ok(self.leave_known(ply, known.low, known));
        }
        if known.high <= alpha {
            return Ok(self.leave_known(ply, known.high, known));
        }
        let (alpha, beta) = (alpha.max(known.low), beta.min(known.high));
        self.trace.narrow(alpha, beta);

        // 3. The best move of the table first, then the others from the centre outwards.
        let mut best = -INFINITY;
        let mut best_index = known.best;
        let table_move = usize::from(known.best);
        let others = (0..self.move_count()).filter(|&index| index != table_move);
        for index in [table_move].into_iter().chain(others) {
            let Some((column, child)) = self.child(&board, index) else { continue };
            let window = (-beta, -alpha.max(best));
            let points = -self.alphabeta_with_table(table, child, depth - 1, ply + 1, window)?;
            if points > best {
                best = points;
                best_index = index as u8;
                self.extend_pv(ply, column);
            }
            if best >= beta {
                let tried = |other| {
                    other == index || other == table_move || (index != table_move && other < index)
                };
                self.prune_all_but(&board, tried);
                break;
            }
        }

        // 4. Store the new bounds.
        let low = if best > alpha { best } else { known.low };
        let high = if best < beta { best } else { known.high };
        table.put(key, Entry { low, high, best: best_index, ..known });
        Ok(self.leave(best, alpha, beta))
    }

    /// The principal variation of a search that has just found the value `points` of `board`. The
    /// moves of the root are tried in the order given.
    pub(crate) fn principal_variation(
        &mut self,
        table: &mut TranspositionTable,
        mut board: Board<R>,
        depth: u32,
        mut points: i32,
        root_order: Vec<Column>,
    ) -> Result<Vec<Column>, Stopped> {
        let mut pv = Vec::new();
        let mut order = root_order;
        for ply in 1..=depth {
            let mut next = None;
            for &column in &order {
                let mut child = board;
                child.play_unchecked(column);
                // No move is better than its position, so a move that is not worse is best.
                let window = (-points, 1 - points);
                let reply = self.alphabeta_with_table(table, child, depth - ply, ply, window)?;
                if -reply >= points {
                    next = Some((column, child));
                    break;
                }
            }
            let Some((column, child)) = next else { break };
            pv.push(column);
            board = child;
            points = -points;
            if board.is_over() {
                break;
            }
            order = self.open_columns(&board);
        }
        Ok(pv)
    }

    fn leave_known(&mut self, ply: u32, points: i32, known: Entry) -> i32 {
        let bound = match points {
            _ if known.low == known.high => BoundKind::Exact,
            _ if points == known.low => BoundKind::Lower,
            _ => BoundKind::Upper,
        };
        self.stats.table_hits += 1;
        self.clear_pv(ply);
        self.trace.leave(points, bound, ValueSource::Table);
        points
    }
}
