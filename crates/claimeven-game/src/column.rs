//! Columns, by index and by the character of move text.

use std::fmt;
use std::str::FromStr;

use crate::Setup;

/// A column of a board. It may be outside a narrow board, which is checked where a column is used
/// with a position.
///
/// People count columns from 1 and use letters from the tenth on; other programs count from 0:
///
/// ```
/// use claimeven_game::Column;
///
/// let column: Column = "4".parse()?;
/// assert_eq!((column.index(), column.number(), column.to_string()), (3, 4, "4".to_owned()));
/// assert_eq!(Column::from_index(9).map(Column::to_char), Some('a'));
/// # Ok::<(), claimeven_game::ParseColumnError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Column(u8);

impl Column {
    /// The column at an index from 0; `None` if no board is that wide.
    pub const fn from_index(index: usize) -> Option<Column> {
        if index < Setup::MAX_SIDE as usize { Some(Column(index as u8)) } else { None }
    }

    /// The column at an index, which must be in range.
    pub(crate) const fn at(index: u8) -> Column {
        debug_assert!(index < Setup::MAX_SIDE);
        Column(index)
    }

    /// The column of a character of move text: `1`-`9`, then `a`-`z`.
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

    /// The 1-based number from the left.
    pub const fn number(self) -> u8 {
        self.0 + 1
    }

    /// The character of the column in move text.
    pub const fn to_char(self) -> char {
        (if self.0 < 9 { b'1' + self.0 } else { b'a' + self.0 - 9 }) as char
    }

    /// The range of column characters of a setup, as in `1 to 7`.
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

    /// All columns of a setup from the centre outwards, the left one of two at the same distance
    /// first: the static move ordering of every search.
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

impl FromStr for Column {
    type Err = ParseColumnError;

    fn from_str(text: &str) -> Result<Column, ParseColumnError> {
        let mut characters = text.chars();
        match (characters.next().and_then(Column::from_char), characters.next()) {
            (Some(column), None) => Ok(column),
            _ => Err(ParseColumnError(text.to_owned())),
        }
    }
}

impl TryFrom<char> for Column {
    type Error = ParseColumnError;

    fn try_from(character: char) -> Result<Column, ParseColumnError> {
        Column::from_char(character).ok_or_else(|| ParseColumnError(character.to_string()))
    }
}

/// A text that is not a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseColumnError(String);

impl fmt::Display for ParseColumnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid column '{}' (expected 1 to 9 or a to z)", self.0)
    }
}

impl std::error::Error for ParseColumnError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn column_characters_and_indices_round_trip() {
        let text: String = (0..35).map(|i| Column::from_index(i).unwrap().to_char()).collect();
        assert_eq!(text, "123456789abcdefghijklmnopqrstuvwxyz");
        for (index, character) in text.chars().enumerate() {
            assert_eq!(Column::from_char(character), Column::from_index(index));
        }
        assert_eq!(Column::from_index(35), None);
        for column in Column::all(Setup::STANDARD) {
            assert_eq!(column.to_string().parse(), Ok(column));
            assert_eq!(Column::try_from(column.to_char()), Ok(column));
        }
        for text in ["", "0", "12", "A", "4 ", "é"] {
            let error = text.parse::<Column>().unwrap_err().to_string();
            assert_eq!(error, format!("invalid column '{text}' (expected 1 to 9 or a to z)"));
        }
        for character in ['0', 'A', 'Z', ' ', '-', 'ä', '４'] {
            assert_eq!(Column::from_char(character), None, "{character}");
        }
    }
}
