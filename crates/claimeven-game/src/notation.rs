//! Positions and games as text, and in the formats of other programs.
//!
//! | notation | looks like | first / second player | columns counted from |
//! |---|---|---|---|
//! | move text | `4453` | by turns | 1 |
//! | picture | lines of `.`, `X`, `O`, top row first | `X` / `O` | |
//! | OpenSpiel state string | lines of `.`, `x`, `o`, top row first | `x` / `o` | 0 in its actions |
//! | Kaggle ConnectX board | a flat list of 0, 1, 2, top row first | 1 / 2 | 0 in its actions |
//!
//! A picture shows discs without their order. It is accepted if no disc floats, the numbers of
//! discs fit alternating turns, and the last move can have completed all lines; that some
//! sequence of moves leads to it is not checked.

use std::fmt;
use std::str::FromStr;

use crate::{Cell, Column, Game, ParseSetupError, PlayError, Player, Position, Ruleset, Setup};

impl Game {
    /// Replays move text: one character per move, `1`-`9` and then `a`-`z` for the columns from
    /// the left. The empty text is the empty board.
    ///
    /// ```
    /// use claimeven_game::{Game, Setup};
    ///
    /// let game = Game::parse(Setup::STANDARD, "4453").unwrap();
    /// assert_eq!(game.move_text(), "4453");
    ///
    /// let error = Game::parse(Setup::STANDARD, "44444445").unwrap_err();
    /// assert_eq!(error.to_string(), "move 7, '4': column 4 is full");
    /// ```
    pub fn parse(setup: Setup, text: &str) -> Result<Game, MoveTextError> {
        let mut game = Game::new(setup);
        for (index, character) in text.chars().enumerate() {
            let error = |reason| MoveTextError { number: index + 1, character, reason };
            let column = Column::from_char(character)
                .ok_or_else(|| error(MoveTextReason::NotAColumn(setup)))?;
            game.play(column).map_err(|reason| error(MoveTextReason::Illegal(reason)))?;
        }
        Ok(game)
    }

    /// The moves as text that [`Game::parse`] reads.
    pub fn move_text(&self) -> String {
        self.moves().iter().map(|column| column.to_char()).collect()
    }
}

impl fmt::Display for Game {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position().setup() {
            Setup::STANDARD => f.pad(&self.move_text()),
            setup => f.pad(&format!("{setup}: {}", self.move_text())),
        }
    }
}

impl FromStr for Game {
    type Err = ParseGameError;

    fn from_str(text: &str) -> Result<Game, ParseGameError> {
        let (setup, moves) = match text.split_once(':') {
            Some((setup, moves)) => (setup.parse().map_err(ParseGameError::Setup)?, moves.trim()),
            None => (Setup::STANDARD, text),
        };
        Game::parse(setup, moves).map_err(ParseGameError::Moves)
    }
}

/// Why a text is not a game.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseGameError {
    /// The setup is invalid.
    Setup(ParseSetupError),
    /// A move is invalid.
    Moves(MoveTextError),
}

impl fmt::Display for ParseGameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseGameError::Setup(error) => error.fmt(f),
            ParseGameError::Moves(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ParseGameError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ParseGameError::Setup(error) => Some(error),
            ParseGameError::Moves(error) => Some(error),
        }
    }
}

/// A move in a text that cannot be played.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MoveTextError {
    /// Which move, counted from 1.
    pub number: usize,
    /// The character in the text.
    pub character: char,
    /// Why the move is invalid.
    pub reason: MoveTextReason,
}

/// Why a move in a text is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MoveTextReason {
    /// The character is not a column of any board.
    NotAColumn(Setup),
    /// The rules do not allow the move.
    Illegal(PlayError),
}

impl fmt::Display for MoveTextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MoveTextError { number, character, reason } = self;
        write!(f, "move {number}, {character:?}: ")?;
        match reason {
            MoveTextReason::NotAColumn(setup) => {
                write!(f, "not a column (expected {})", Column::names(*setup))
            }
            MoveTextReason::Illegal(PlayError::GameOver(outcome)) => {
                write!(f, "the game was already over on move {} ({outcome})", number - 1)
            }
            MoveTextReason::Illegal(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for MoveTextError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.reason {
            MoveTextReason::NotAColumn(_) => None,
            MoveTextReason::Illegal(error) => Some(error),
        }
    }
}

impl Position {
    /// The position after the moves of a text; see [`Game::parse`].
    pub fn from_moves(setup: Setup, text: &str) -> Result<Position, MoveTextError> {
        Game::parse(setup, text).map(|game| *game.position())
    }

    /// Reads a picture of `.`, `X` and `O`, one line per row, top row first. Spaces are ignored.
    ///
    /// ```
    /// use claimeven_game::{Game, Position, Ruleset, Setup};
    ///
    /// let setup = Setup::new(4, 3, 3, Ruleset::Standard).unwrap();
    /// let position = Position::from_picture(setup, "....\n.O..\n.XX.").unwrap();
    /// assert_eq!(position, Position::from_moves(setup, "223").unwrap());
    /// assert_eq!(position.to_string(), "....\n.O..\n.XX.");
    /// ```
    pub fn from_picture(setup: Setup, picture: &str) -> Result<Position, BoardError> {
        Position::from_lines(setup, picture, ['X', 'O'])
    }

    /// Reads the text of an OpenSpiel `connect_four` state: `.`, `x` and `o`, top row first.
    pub fn from_openspiel(setup: Setup, state: &str) -> Result<Position, BoardError> {
        Position::from_lines(setup, state, ['x', 'o'])
    }

    /// The text of the OpenSpiel `connect_four` state, its last newline included.
    pub fn to_openspiel(&self) -> String {
        self.to_string().to_ascii_lowercase() + "\n"
    }

    /// Reads the board of a Kaggle ConnectX observation: 0 for an empty cell, 1 and 2 for the
    /// players, row by row from the top. (Its actions count columns from 0: see
    /// [`Column::from_index`].)
    pub fn from_kaggle(setup: Setup, board: &[u8]) -> Result<Position, BoardError> {
        let expected = setup.cells() as usize;
        if board.len() != expected {
            return Err(BoardError::Length { found: board.len(), expected });
        }
        let cells = board.iter().enumerate().map(|(index, &value)| match value {
            0 => Ok(None),
            1 => Ok(Some(Player::First)),
            2 => Ok(Some(Player::Second)),
            _ => Err(BoardError::Value { value, index }),
        });
        Position::from_cells(setup, &cells.collect::<Result<Vec<_>, _>>()?)
    }

    /// The board as in a Kaggle ConnectX observation; see [`Position::from_kaggle`].
    pub fn to_kaggle(&self) -> Vec<u8> {
        Cell::in_reading_order(self.setup())
            .map(|cell| self.disc(cell).map_or(0, |player| player.index() as u8 + 1))
            .collect()
    }

    fn from_lines(setup: Setup, text: &str, discs: [char; 2]) -> Result<Position, BoardError> {
        let (cols, rows) = (usize::from(setup.cols()), usize::from(setup.rows()));
        let mut cells = Vec::with_capacity(cols * rows);
        let lines: Vec<&str> = text.trim().lines().collect();
        for (line, content) in (1..).zip(&lines) {
            let characters: Vec<char> = content.chars().filter(|c| !c.is_whitespace()).collect();
            for (column, &character) in (1..).zip(&characters) {
                cells.push(match character {
                    '.' => None,
                    c if c == discs[0] => Some(Player::First),
                    c if c == discs[1] => Some(Player::Second),
                    _ => return Err(BoardError::Character { character, line, column, discs }),
                });
            }
            if characters.len() != cols {
                return Err(BoardError::Width { line, found: characters.len(), cols });
            }
        }
        if lines.len() != rows {
            return Err(BoardError::Height { found: lines.len(), rows });
        }
        Position::from_cells(setup, &cells)
    }

    /// The position with these discs, given row by row from the top, if it is legal.
    fn from_cells(setup: Setup, discs: &[Option<Player>]) -> Result<Position, BoardError> {
        // 1. Every disc rests on another or on the bottom.
        let mut cells = [0u128; 2];
        for (cell, disc) in Cell::in_reading_order(setup).zip(discs).rev() {
            let Some(player) = *disc else { continue };
            let bit = 1 << cell.index(setup);
            if cell.row > 0 && (cells[0] | cells[1]) & bit >> 1 == 0 {
                return Err(BoardError::Floating { cell, player });
            }
            cells[player.index()] |= bit;
        }

        // 2. The players have taken turns.
        let [first, second] = cells.map(u128::count_ones);
        if first != second && first != second + 1 {
            return Err(BoardError::Turns { first, second });
        }
        let filled = cells[0] | cells[1];
        let position = Position::with_discs(setup, filled, cells[usize::from(first > second)]);

        // 3. Under the standard rules only the last move can have completed a line.
        if setup.ruleset() == Ruleset::Standard && position.scores() != [0, 0] {
            let before = |column| { position }.undo(column).is_ok();
            if !Column::all(setup).any(before) {
                return Err(BoardError::AfterTheEnd);
            }
        }
        Ok(position)
    }
}

/// The picture that [`Position::from_picture`] reads; with `{:#}`, the setup on a line above it.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            writeln!(f, "{}", self.setup())?;
        }
        for cell in Cell::in_reading_order(self.setup()) {
            if cell.column.index() == 0 && cell.row + 1 < self.setup().rows() {
                f.write_str("\n")?;
            }
            write!(f, "{}", self.disc(cell).map_or('.', Player::disc))?;
        }
        Ok(())
    }
}

/// Reads a picture with its setup on a line above it. Without that line, the setup is the standard
/// game on a board of the picture's size.
impl FromStr for Position {
    type Err = ParsePositionError;

    fn from_str(text: &str) -> Result<Position, ParsePositionError> {
        let text = text.trim();
        let (first, below) = text.split_once('\n').unwrap_or((text, ""));
        let (setup, picture) = if first.contains('x') {
            (first.parse().map_err(ParsePositionError::Setup)?, below)
        } else {
            let cells = first.chars().filter(|character| !character.is_whitespace());
            let size = format!("{}x{}", cells.count(), text.lines().count());
            (size.parse().map_err(ParsePositionError::Setup)?, text)
        };
        Position::from_picture(setup, picture).map_err(ParsePositionError::Board)
    }
}

/// Why a text is not a position.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParsePositionError {
    /// The setup is invalid.
    Setup(ParseSetupError),
    /// The picture is invalid.
    Board(BoardError),
}

impl fmt::Display for ParsePositionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParsePositionError::Setup(error) => error.fmt(f),
            ParsePositionError::Board(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ParsePositionError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ParsePositionError::Setup(error) => Some(error),
            ParsePositionError::Board(error) => Some(error),
        }
    }
}

impl fmt::Debug for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Position({}: {})", self.setup(), self.to_string().replace('\n', "/"))
    }
}

/// Why a board is not a position of the game.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BoardError {
    /// A character that is neither a disc nor an empty cell.
    Character {
        #[allow(missing_docs, reason = "self-explanatory")]
        character: char,
        /// The line, counted from 1 at the top.
        line: usize,
        /// The column, counted from 1.
        column: usize,
        /// The characters of the two players' discs.
        discs: [char; 2],
    },
    /// A line with too few or too many cells.
    #[allow(missing_docs, reason = "self-explanatory")]
    Width { line: usize, found: usize, cols: usize },
    /// Too few or too many lines.
    #[allow(missing_docs, reason = "self-explanatory")]
    Height { found: usize, rows: usize },
    /// A list with too few or too many cells.
    #[allow(missing_docs, reason = "self-explanatory")]
    Length { found: usize, expected: usize },
    /// A number that is neither a player nor an empty cell.
    Value {
        #[allow(missing_docs, reason = "self-explanatory")]
        value: u8,
        /// The index in the list, counted from 0.
        index: usize,
    },
    /// A disc above an empty cell.
    #[allow(missing_docs, reason = "self-explanatory")]
    Floating { cell: Cell, player: Player },
    /// Disc counts that cannot come from alternating turns.
    #[allow(missing_docs, reason = "self-explanatory")]
    Turns { first: u32, second: u32 },
    /// Lines that the last move cannot all have completed, so the game was over before it.
    AfterTheEnd,
}

impl fmt::Display for BoardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BoardError::Character { character, line, column, discs: [first, second] } => write!(
                f,
                "line {line}, column {column}: {character:?} is not '.', {first:?} or {second:?}"
            ),
            BoardError::Width { line, found, cols } => {
                let than = if found > cols { "more" } else { "fewer" };
                write!(f, "line {line} has {found} cells, {than} than the board's {cols} columns")
            }
            BoardError::Height { found, rows } => {
                let than = if found > rows { "more" } else { "fewer" };
                write!(f, "{found} lines, {than} than the board's {rows} rows")
            }
            BoardError::Length { found, expected } => {
                let than = if found > expected { "more" } else { "fewer" };
                write!(f, "{found} values, {than} than the board's {expected} cells")
            }
            BoardError::Value { value, index } => {
                write!(f, "value {value} at index {index} (from 0) is not 0, 1 or 2")
            }
            BoardError::Floating { cell, player } => {
                write!(f, "the {player} at {cell} has no disc below it")
            }
            BoardError::Turns { first, second } => write!(
                f,
                "{first} X and {second} O: X moves first, so it has as many discs as O or one more"
            ),
            BoardError::AfterTheEnd => {
                f.write_str("the game would have been over before the last move")
            }
        }
    }
}

impl std::error::Error for BoardError {}
