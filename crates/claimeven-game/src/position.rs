//! `Position`: a board of any setup with a side to move.

use std::fmt;

use crate::bits::Bits;
use crate::board::Board;
use crate::rules::{AnySize, Rules, Standard};
use crate::{Cell, Column, Outcome, Player, Ruleset, Setup};

/// A position: the discs on a board and the side to move, without the order of the moves.
///
/// Positions are equal if their setups and discs are. Illegal moves are errors, and a finished
/// game has no legal moves:
///
/// ```
/// use claimeven_game::{Column, Outcome, Player, Position, Setup};
///
/// let mut position = Position::new(Setup::STANDARD);
/// for index in [0, 1, 0, 1, 0, 1, 0] {
///     position.play(Column::from_index(index).unwrap()).unwrap();
/// }
/// assert_eq!(position.outcome(), Some(Outcome::Win(Player::First)));
/// assert_eq!(position.legal().count(), 0);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Position {
    board: AnyBoard,
}

/// The bit board of a position, of the fastest kind for its setup.
///
/// [`with_board!`](crate::with_board) passes it to generic code without naming the kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AnyBoard {
    /// The standard game.
    Standard(Board<Standard>),
    /// Any other game of at most 64 bits.
    Narrow(Board<AnySize<u64>>),
    /// Games of more than 64 bits.
    Wide(Board<AnySize<u128>>),
}

/// Runs an expression on the bit board of a position, compiled once for each kind of board.
///
/// ```
/// use claimeven_game::{Board, Position, Rules, Setup, with_board};
///
/// fn replies<R: Rules>(board: Board<R>) -> usize {
///     use claimeven_game::Bits;
///     board.legal().count() as usize
/// }
///
/// let position = Position::new(Setup::STANDARD);
/// assert_eq!(with_board!(position, board => replies(board)), 7);
/// ```
#[macro_export]
macro_rules! with_board {
    ($position:expr, $board:pat => $body:expr) => {
        match $position.board() {
            $crate::AnyBoard::Standard($board) => $body,
            $crate::AnyBoard::Narrow($board) => $body,
            $crate::AnyBoard::Wide($board) => $body,
        }
    };
}

/// Maps the bit board of a position to that of another position of the same setup.
macro_rules! map_board {
    ($position:expr, $board:pat => $body:expr) => {
        Position {
            board: match $position.board {
                AnyBoard::Standard($board) => AnyBoard::Standard($body),
                AnyBoard::Narrow($board) => AnyBoard::Narrow($body),
                AnyBoard::Wide($board) => AnyBoard::Wide($body),
            },
        }
    };
}

impl Position {
    /// The empty board of a setup.
    pub fn new(setup: Setup) -> Position {
        Position::with_discs(setup, 0, 0)
    }

    /// A position with these discs, which must be legal.
    pub(crate) fn with_discs(setup: Setup, filled: u128, own: u128) -> Position {
        fn board<R: Rules>(rules: R, filled: u128, own: u128) -> Board<R> {
            Board::with_discs(rules, R::Bits::truncate(filled), R::Bits::truncate(own))
        }
        let board = if setup == Setup::STANDARD {
            AnyBoard::Standard(board(Standard::default(), filled, own))
        } else if let Some(rules) = AnySize::new(setup) {
            AnyBoard::Narrow(board(rules, filled, own))
        } else {
            let rules = AnySize::new(setup).expect("a setup has at most 128 bits");
            AnyBoard::Wide(board(rules, filled, own))
        };
        Position { board }
    }

    /// The bit board of the position, for code that has to be fast.
    #[inline]
    pub fn board(&self) -> AnyBoard {
        self.board
    }

    /// The setup of the game.
    #[inline]
    pub fn setup(&self) -> Setup {
        with_board!(self, board => board.rules().setup())
    }

    /// The number of discs on the board.
    pub fn ply(&self) -> u32 {
        with_board!(self, board => board.ply())
    }

    /// The side to move; after the end of the game, the player who would move next.
    pub fn player(&self) -> Player {
        with_board!(self, board => board.player())
    }

    /// The player whose disc is on a cell, if there is one.
    pub fn disc(&self, cell: Cell) -> Option<Player> {
        let setup = self.setup();
        if cell.column.index() >= setup.cols().into() || cell.row >= setup.rows() {
            return None;
        }
        let has_disc = |player| {
            let discs: u128 = with_board!(self, board => board.discs(player).widen());
            discs >> cell.index(setup) & 1 == 1
        };
        Player::BOTH.into_iter().find(|&player| has_disc(player))
    }

    /// The legal moves of the side to move, left to right; none once the game is over.
    pub fn legal(&self) -> impl Iterator<Item = Column> {
        let setup = self.setup();
        let cells: u128 = with_board!(self, board => board.legal().widen());
        cells.indices().map(move |index| Cell::from_index(setup, index).column)
    }

    /// The legal moves from the centre outwards, the left one of two at the same distance first.
    ///
    /// ```
    /// use claimeven_game::{Position, Setup};
    ///
    /// let columns = Position::from_moves(Setup::STANDARD, "444444").unwrap().legal_from_centre();
    /// assert_eq!(columns.map(|column| column.to_char()).collect::<String>(), "352617");
    /// ```
    pub fn legal_from_centre(&self) -> impl Iterator<Item = Column> + use<> {
        let legal: Vec<Column> = self.legal().collect();
        Column::from_centre(self.setup()).filter(move |column| legal.contains(column))
    }

    /// Drops a disc of the side to move into a column.
    #[inline]
    pub fn play(&mut self, column: Column) -> Result<(), PlayError> {
        #[inline]
        fn play<R: Rules>(board: &mut Board<R>, column: Column) -> bool {
            if column.index() >= board.rules().setup().cols().into() {
                return false;
            }
            let cell = board.legal() & board.rules().column(column);
            let is_legal = !cell.is_empty();
            if is_legal {
                board.play_cell(cell);
            }
            is_legal
        }
        let is_legal = match &mut self.board {
            AnyBoard::Standard(board) => play(board, column),
            AnyBoard::Narrow(board) => play(board, column),
            AnyBoard::Wide(board) => play(board, column),
        };
        if is_legal { Ok(()) } else { Err(self.play_error(column)) }
    }

    /// Why a column is not a legal move.
    #[cold]
    fn play_error(&self, column: Column) -> PlayError {
        let cols = self.setup().cols();
        if column.index() >= cols.into() {
            return PlayError::NoSuchColumn { column, cols };
        }
        match self.outcome() {
            Some(outcome) => PlayError::GameOver(outcome),
            None => PlayError::ColumnFull(column),
        }
    }

    /// Takes back the top disc of a column, if it can have been the last move.
    pub fn undo(&mut self, column: Column) -> Result<(), UndoError> {
        let setup = self.setup();
        let last_mover_on_top = column.index() < setup.cols().into()
            && with_board!(self, board => !(board.top(column) & board.other()).is_empty());
        if !last_mover_on_top {
            return Err(UndoError { column });
        }
        let before = map_board!(self, mut board => {
            board.undo_unchecked(column);
            board
        });
        // If there is a line without that disc, the game was over before it.
        if setup.ruleset() == Ruleset::Standard && before.scores() != [0, 0] {
            return Err(UndoError { column });
        }
        *self = before;
        Ok(())
    }

    /// Whether a column is full. A column outside the board counts as full.
    #[inline]
    pub fn is_full(&self, column: Column) -> bool {
        if column.index() >= self.setup().cols().into() {
            return true;
        }
        with_board!(self, board => (board.open() & board.rules().column(column)).is_empty())
    }

    /// The result of a finished game; `None` if it is not over.
    #[inline]
    pub fn outcome(&self) -> Option<Outcome> {
        with_board!(self, board => board
            .is_over()
            .then(|| board.leader().map_or(Outcome::Draw, Outcome::Win)))
    }

    /// The number of lines of each player, the first player's first: the points in the ruleset
    /// `lines`.
    pub fn scores(&self) -> [u32; 2] {
        with_board!(self, board => board.scores())
    }

    /// The winner's discs that belong to a line, column by column from the bottom up; empty in a
    /// draw or an unfinished game.
    pub fn winning_cells(&self) -> Vec<Cell> {
        match self.outcome() {
            Some(Outcome::Win(winner)) => self.line_cells(winner),
            _ => Vec::new(),
        }
    }

    /// The cells of all lines of a player, column by column from the bottom up.
    pub fn line_cells(&self, player: Player) -> Vec<Cell> {
        let cells: u128 =
            with_board!(self, board => board.rules().line_cells(board.discs(player)).widen());
        cells.indices().map(|index| Cell::from_index(self.setup(), index)).collect()
    }

    /// The lines of a player, each starting from its leftmost or lowest cell.
    pub fn lines(&self, player: Player) -> Vec<Vec<Cell>> {
        let setup = self.setup();
        with_board!(self, board => {
            let (rules, discs) = (board.rules(), board.discs(player));
            let lines_towards = |direction: u32| {
                rules.lines(discs, direction).indices().map(move |first| {
                    let step = |step| Cell::from_index(setup, first + step * direction);
                    (0..setup.connect().into()).map(step).collect()
                })
            };
            rules.directions().into_iter().flat_map(lines_towards).collect()
        })
    }

    /// A player's threats: the empty cells that would complete a line, playable now or not, column
    /// by column from the bottom up.
    pub fn threats(&self, player: Player) -> Vec<Cell> {
        let cells: u128 = with_board!(self, board => {
            (board.rules().threats(board.discs(player)) & !board.filled()).widen()
        });
        cells.indices().map(|index| Cell::from_index(self.setup(), index)).collect()
    }

    /// The mirror image, with left and right exchanged.
    pub fn mirror(&self) -> Position {
        map_board!(self, board => board.mirror())
    }

    /// A number that identifies the position among those of the same setup.
    pub fn key(&self) -> u128 {
        with_board!(self, board => board.key().widen())
    }

    /// A key that only a position and its mirror image share.
    pub fn canonical_key(&self) -> u128 {
        with_board!(self, board => board.canonical_key().widen())
    }
}

/// Why a move cannot be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlayError {
    /// The board has fewer columns.
    #[allow(missing_docs, reason = "self-explanatory")]
    NoSuchColumn { column: Column, cols: u8 },
    /// The column is full.
    ColumnFull(Column),
    /// The game is over.
    GameOver(Outcome),
}

impl fmt::Display for PlayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlayError::NoSuchColumn { column, cols } => {
                let plural = if *cols == 1 { "" } else { "s" };
                write!(f, "no column {column}: the board has {cols} column{plural}")
            }
            PlayError::ColumnFull(column) => write!(f, "column {column} is full"),
            PlayError::GameOver(outcome) => write!(f, "the game is already over ({outcome})"),
        }
    }
}

impl std::error::Error for PlayError {}

/// A disc that cannot be taken back, because it was not the last move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "self-explanatory")]
#[non_exhaustive]
pub struct UndoError {
    pub column: Column,
}

impl fmt::Display for UndoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the last move was not in column {}", self.column)
    }
}

impl std::error::Error for UndoError {}
