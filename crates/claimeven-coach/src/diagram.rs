//! Diagrams: numbers on the empty cells, which together with a few rules are a complete strategy.
//!
//! The owner of a diagram moves by the first rule that applies:
//!
//! 1. connect four;
//! 2. block the opponent's four;
//! 3. win by force: make a threat that has to be blocked, and so on until there are two at once;
//! 4. play the cell with the highest number, the leftmost of equal ones.
//!
//! By rule 4 the owner never plays directly below a cell where the opponent would connect four,
//! unless nothing else is left. A diagram may have exceptions: a cell has another, higher number as
//! soon as a player has a disc in some other cell. A [`Strategy`] is a diagram with overrides:
//! single positions in which another move than that of rule 4 is played. Whether it wins is checked
//! by playing it out against every reply.

use claimeven_game::{Bits, Board, Cell, Column, Player, Position, Rules, Setup, with_board};

/// A diagram: a number for every cell of a board, with exceptions.
///
/// Together with a few rules (see `docs/coach.md`), a diagram answers every move.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Diagram {
    /// By the bit index of the cell.
    pub(crate) numbers: Vec<u8>,
    pub(crate) exceptions: Vec<Exception>,
}

/// A cell has another number once a player has a disc in some other cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Exception {
    /// The bit index of the cell that has another number.
    pub(crate) cell: u8,
    /// The bit index of the cell with the disc.
    pub(crate) disc: u8,
    /// Whether the disc is the owner's.
    pub(crate) is_own: bool,
    /// The other number; the higher one counts.
    pub(crate) number: u8,
}

impl Diagram {
    /// A diagram with all numbers 0.
    pub(crate) fn empty(setup: Setup) -> Diagram {
        let size = setup.stride() as usize * usize::from(setup.cols());
        Diagram { numbers: vec![0; size], exceptions: Vec::new() }
    }

    /// The number of a cell, apart from exceptions.
    pub fn number(&self, setup: Setup, cell: Cell) -> u8 {
        self.numbers.get(cell.index(setup) as usize).copied().unwrap_or(0)
    }

    /// The exceptions: once the player has a disc in the second cell, the first one has the number.
    pub fn exceptions(
        &self,
        setup: Setup,
        owner: Player,
    ) -> impl Iterator<Item = (Cell, Cell, Player, u8)> {
        let cell = move |index: u8| {
            let (column, row) =
                (u32::from(index) / setup.stride(), u32::from(index) % setup.stride());
            Cell {
                column: Column::from_index(column as usize).expect("on the board"),
                row: row as u8,
            }
        };
        self.exceptions.iter().map(move |exception| {
            let player = if exception.is_own { owner } else { owner.opponent() };
            (cell(exception.cell), cell(exception.disc), player, exception.number)
        })
    }

    /// The move of the owner, who is to move; `None` if the game is over.
    pub fn answer(&self, position: &Position) -> Option<Column> {
        with_board!(position, board => {
            if board.is_over() {
                return None;
            }
            let cell = match tactics(board) {
                Tactics::Wins(cell) | Tactics::Forced(cell) => cell,
                Tactics::Free(cells) => self.choose(board, cells),
            };
            Some(column_of(board.rules(), cell))
        })
    }

    /// Rule 4.
    #[inline]
    pub(crate) fn choose<R: Rules>(&self, board: Board<R>, cells: R::Bits) -> R::Bits {
        let mut best = (0, 0);
        for (nth, index) in cells.indices().enumerate() {
            let mut number = self.numbers[index as usize];
            for exception in &self.exceptions {
                if u32::from(exception.cell) == index && exception.applies(board) {
                    number = number.max(exception.number);
                }
            }
            if nth == 0 || number > best.0 {
                best = (number, index);
            }
        }
        R::Bits::ONE << best.1
    }

    /// A diagram that makes the same choices from a position on, in which the opponent is to move:
    /// exceptions that are already decided there are applied or dropped.
    pub(crate) fn simplified_at(&self, leaf: &Position) -> Diagram {
        let setup = leaf.setup();
        let mut seen = Diagram::empty(setup);
        seen.numbers.clone_from(&self.numbers);
        let owner = leaf.player().opponent();
        for (&exception, (cell, disc, player, number)) in
            self.exceptions.iter().zip(self.exceptions(setup, owner))
        {
            match leaf.disc(disc) {
                _ if leaf.disc(cell).is_some() => {}
                None => seen.exceptions.push(exception),
                Some(there) if there == player => {
                    let usual = &mut seen.numbers[usize::from(exception.cell)];
                    *usual = number.max(*usual);
                }
                Some(_) => {}
            }
        }
        seen
    }
}

impl Exception {
    /// Whether the disc is there; the owner is to move.
    #[inline]
    pub(crate) fn applies<R: Rules>(self, board: Board<R>) -> bool {
        let discs = if self.is_own { board.own() } else { board.other() };
        !(discs & (R::Bits::ONE << u32::from(self.disc))).is_empty()
    }
}

/// A diagram with overrides: single positions in which the owner plays another move.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Strategy {
    pub(crate) diagram: Diagram,
    /// The keys of the positions, with the columns to play.
    pub(crate) overrides: Vec<(u128, Column)>,
}

impl Strategy {
    /// The move of the owner, who is to move; `None` if the game is over.
    pub(crate) fn answer(&self, position: &Position) -> Option<Column> {
        let key = position.key();
        match self.overrides.iter().find(|(other, _)| *other == key) {
            Some(&(_, column)) => Some(column),
            None => self.diagram.answer(position),
        }
    }
}

/// The result of the first three rules.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tactics<B> {
    /// The owner wins by force, with this move first.
    Wins(B),
    /// The only move.
    Forced(B),
    /// Rule 4 chooses among these cells.
    Free(B),
}

/// The first three rules, for the side to move in an unfinished game.
#[inline]
pub(crate) fn tactics<R: Rules>(board: Board<R>) -> Tactics<R::Bits> {
    let (rules, open) = (board.rules(), board.open());
    let wins = rules.threats(board.own()) & open;
    if !wins.is_empty() {
        return Tactics::Wins(lowest(wins));
    }
    let losses = rules.threats(board.other());
    if !(losses & open).is_empty() {
        return Tactics::Forced(lowest(losses & open));
    }
    let safe = open & !losses.shifted_down(1);
    if safe.is_empty() {
        return Tactics::Forced(lowest(open));
    }
    match forcing_move(board, safe) {
        Some(cell) => Tactics::Wins(cell),
        None => Tactics::Free(safe),
    }
}

/// Whether the side to move wins by force.
pub(crate) fn wins_by_force<R: Rules>(board: Board<R>) -> bool {
    let (rules, open) = (board.rules(), board.open());
    if !(rules.threats(board.own()) & open).is_empty() {
        return true;
    }
    let losses = rules.threats(board.other());
    let cells = match (losses & open).count() {
        0 => open,
        1 => losses & open,
        _ => return false,
    };
    forcing_move(board, cells & !losses.shifted_down(1)).is_some()
}

/// A move to one of these cells that makes two threats, or one whose block lets the same side win
/// by force. None of the cells must let the opponent connect four.
fn forcing_move<R: Rules>(board: Board<R>, cells: R::Bits) -> Option<R::Bits> {
    let mut single = R::Bits::ZERO;
    for index in cells.indices() {
        let cell = R::Bits::ONE << index;
        match threats_after(board, cell).count() {
            0 => {}
            1 => single |= cell,
            _ => return Some(cell),
        }
    }
    single.indices().map(|index| R::Bits::ONE << index).find(|&cell| {
        let block = threats_after(board, cell);
        let mut board = board;
        board.play_cell(cell);
        board.play_cell(block);
        !board.is_over() && wins_by_force(board)
    })
}

/// The cells in which the side to move could connect four right after playing a cell.
#[inline]
fn threats_after<R: Rules>(board: Board<R>, cell: R::Bits) -> R::Bits {
    let rules = board.rules();
    let open = (board.open() ^ cell) | ((cell << 1) & rules.cells());
    rules.threats(board.own() | cell) & open
}

/// The column of a cell.
#[inline]
pub(crate) fn column_of<R: Rules>(rules: R, cell: R::Bits) -> Column {
    Column::from_index((cell.lowest_index() / rules.stride()) as usize).expect("on the board")
}

#[inline]
fn lowest<B: Bits>(cells: B) -> B {
    cells & !(cells - B::ONE)
}
