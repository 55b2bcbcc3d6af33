//! Cells of the board.

use std::fmt;

use crate::{Column, Setup};

/// A cell by its column and its row, row 0 at the bottom.
///
/// ```
/// use claimeven_game::{Cell, Position, Setup};
///
/// let position = Position::from_moves(Setup::STANDARD, "4453")?;
/// let cell = Cell { column: "4".parse()?, row: 1 };
/// assert_eq!(cell.to_string(), "column 4, row 2");
/// assert!(position.disc(cell).is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "self-explanatory")]
pub struct Cell {
    pub column: Column,
    /// The number of cells below it.
    pub row: u8,
}

impl Cell {
    /// The bit index of the cell on the boards of a setup.
    pub const fn index(self, setup: Setup) -> u32 {
        self.column.index() as u32 * setup.stride() + self.row as u32
    }

    /// The cell with a bit index on the boards of a setup.
    pub(crate) const fn from_index(setup: Setup, index: u32) -> Cell {
        let column = Column::at((index / setup.stride()) as u8);
        Cell { column, row: (index % setup.stride()) as u8 }
    }

    /// All cells of a setup in reading order: row by row from the top, each from the left.
    pub fn in_reading_order(
        setup: Setup,
    ) -> impl DoubleEndedIterator<Item = Cell> + ExactSizeIterator + Clone {
        let (cols, rows) = (usize::from(setup.cols()), usize::from(setup.rows()));
        (0..cols * rows).map(move |index| Cell {
            column: Column::at((index % cols) as u8),
            row: (rows - 1 - index / cols) as u8,
        })
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}, row {}", self.column, self.row + 1)
    }
}
