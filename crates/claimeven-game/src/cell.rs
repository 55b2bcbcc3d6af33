//! Columns, cells and the two players.

use std::fmt;

use crate::Setup;

/// A column by its place from the left; some setup has it, though not every one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Column(u8);

impl Column {
    /// The column at a 0-based index, as programs count; `None` where no board is that wide.
    pub const fn from_index(index: usize) -> Option<Column> {
        if index < Setup::MAX_SIDE as usize { Some(Column(index as u8)) } else { None }
    }

    /// The column that a character names in move text: `1`-`9`, then `a`-`z`.
    pub const fn from_char(character: char) -> Option<Column> {
        match character {
            '1'..='9' => Some(Column(character as u8 - b'1')),
            'a'..='z' => Some(Column(character as u8 - b'a' + 9)),
            _ => None,
        }
    }

    /// The 0-based index from the left.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The 1-based number from the left, as people count.
    pub const fn number(self) -> u8 {
        self.0 + 1
    }

    /// The character that names the column in move text.
    pub const fn to_char(self) -> char {
        (if self.0 < 9 { b'1' + self.0 } else { b'a' + self.0 - 9 }) as char
    }

    /// How the columns of a setup are written in move text, as in `1 to 7`.
    pub fn names(setup: Setup) -> String {
        match Column(setup.cols() - 1) {
            Column(0) => "1".to_owned(),
            last @ Column(..9) => format!("1 to {last}"),
            last => format!("1 to 9 and a to {last}"),
        }
    }

    /// All columns of a setup, left to right.
    pub fn all(
        setup: Setup,
    ) -> impl DoubleEndedIterator<Item = Column> + ExactSizeIterator + Clone {
        (0..setup.cols()).map(Column)
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.to_char())
    }
}

/// A cell by its column and its row, row 0 at the bottom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cell {
    /// The column it is in.
    pub column: Column,
    /// How many cells are below it.
    pub row: u8,
}

impl Cell {
    /// The bit that stands for the cell on the boards of a setup.
    pub const fn index(self, setup: Setup) -> u32 {
        self.column.0 as u32 * setup.stride() + self.row as u32
    }

    /// The cell that a bit stands for on the boards of a setup.
    pub(crate) const fn from_index(setup: Setup, index: u32) -> Cell {
        let column = Column((index / setup.stride()) as u8);
        Cell { column, row: (index % setup.stride()) as u8 }
    }

    /// All cells of a setup as one reads a picture: the top row first, each from the left.
    pub fn in_reading_order(
        setup: Setup,
    ) -> impl DoubleEndedIterator<Item = Cell> + ExactSizeIterator + Clone {
        let (cols, rows) = (usize::from(setup.cols()), usize::from(setup.rows()));
        (0..cols * rows).map(move |index| Cell {
            column: Column((index % cols) as u8),
            row: (rows - 1 - index / cols) as u8,
        })
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}, row {}", self.column, self.row + 1)
    }
}

/// One of the two players: the first to move has the discs `X`, the second `O`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Player {
    /// Moves first; `X`.
    First,
    /// Moves second; `O`.
    Second,
}

impl Player {
    /// Both players in the order of their moves.
    pub const BOTH: [Player; 2] = [Player::First, Player::Second];

    /// The other one.
    pub const fn opponent(self) -> Player {
        match self {
            Player::First => Player::Second,
            Player::Second => Player::First,
        }
    }

    /// 0 for the first player, 1 for the second.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The player's disc in a picture.
    pub const fn disc(self) -> char {
        match self {
            Player::First => 'X',
            Player::Second => 'O',
        }
    }
}

impl fmt::Display for Player {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.disc())
    }
}

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// This player won.
    Win(Player),
    /// Nobody won.
    Draw,
}

impl Outcome {
    /// The player who won, if one did.
    pub const fn winner(self) -> Option<Player> {
        match self {
            Outcome::Win(player) => Some(player),
            Outcome::Draw => None,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Win(player) => write!(f, "{player} wins"),
            Outcome::Draw => f.write_str("draw"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn column_characters_and_indices_go_both_ways() {
        let text: String = (0..35).map(|i| Column::from_index(i).unwrap().to_char()).collect();
        assert_eq!(text, "123456789abcdefghijklmnopqrstuvwxyz");
        for (index, character) in text.chars().enumerate() {
            assert_eq!(Column::from_char(character), Column::from_index(index));
        }
        assert_eq!(Column::from_index(35), None);
        for character in ['0', 'A', 'Z', ' ', '-', 'ä', '４'] {
            assert_eq!(Column::from_char(character), None, "{character}");
        }
    }
}
