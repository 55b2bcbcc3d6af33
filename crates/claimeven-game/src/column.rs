//! Columns, by index and by the character of move text.

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

    /// The column at an index that is known to be in range.
    pub(crate) const fn at(index: u8) -> Column {
        debug_assert!(index < Setup::MAX_SIDE);
        Column(index)
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

    /// All columns of a setup from the centre outwards, the left one first of two at the same
    /// distance: the static move ordering of every search.
    ///
    /// ```
    /// use claimeven_game::{Column, Setup};
    ///
    /// let order: String = Column::from_centre(Setup::STANDARD).map(Column::to_char).collect();
    /// assert_eq!(order, "4352617");
    /// ```
    pub fn from_centre(
        setup: Setup,
    ) -> impl DoubleEndedIterator<Item = Column> + ExactSizeIterator + Clone {
        let mut columns: Vec<Column> = Column::all(setup).collect();
        columns.sort_by_key(|column| column.distance_from_centre(setup));
        columns.into_iter()
    }

    /// The distance from the centre of a setup's board, in half columns: 0 for the middle column
    /// of an odd number, 1 for both middle columns of an even number, and 2 more for each step
    /// outwards.
    pub const fn distance_from_centre(self, setup: Setup) -> u32 {
        (2 * self.0 as u32).abs_diff(setup.cols() as u32 - 1)
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.to_char())
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
