//! Extensions of [`Rules`] that only the search needs.

use claimeven_game::{Bits, Rules};

use crate::word::Word;

/// The geometry of a board. Every [`Rules`] has one.
pub(crate) trait Shape: Rules<Bits: Word> {
    #[inline(always)]
    fn cols(self) -> u32 {
        self.setup().cols().into()
    }

    #[inline(always)]
    fn rows(self) -> u32 {
        self.setup().rows().into()
    }

    #[inline(always)]
    fn connect(self) -> u32 {
        self.setup().connect().into()
    }

    /// The number of cells.
    #[inline(always)]
    fn size(self) -> u32 {
        self.setup().cells()
    }

    /// The number of bits of a board; a position's key fits in them.
    #[inline(always)]
    fn key_width(self) -> u32 {
        self.cols() * self.stride()
    }

    /// The follow rows, an even number of rows below the top one: those of a player who always
    /// replies directly above.
    ///
    /// ```text
    ///   six rows          five rows
    ///   6  x x x x
    ///   5  . . . .        5  x x x x
    ///   4  x x x x        4  . . . .
    ///   3  . . . .        3  x x x x
    ///   2  x x x x        2  . . . .
    ///   1  . . . .        1  x x x x
    /// ```
    #[inline(always)]
    fn follow_rows(self) -> Self::Bits {
        const EVERY_OTHER: u64 = 0x5555_5555_5555_5555;
        let column = (EVERY_OTHER << ((self.rows() + 1) % 2)) & ((1 << self.rows()) - 1);
        self.bottom().times(Self::Bits::truncate(column.into()))
    }

    /// The lowest empty cell of each column that has one.
    #[inline(always)]
    fn playable(self, occupied: Self::Bits) -> Self::Bits {
        occupied.plus(self.bottom()) & self.cells()
    }

    /// All cells of a cell's column.
    #[inline(always)]
    fn column_of(self, cell: Self::Bits) -> Self::Bits {
        let column = cell.lowest_index() / self.stride();
        ((Self::Bits::ONE << self.rows()).minus(Self::Bits::ONE)) << (column * self.stride())
    }

    /// The lowest `height` rows.
    #[inline(always)]
    fn rows_up_to(self, height: u32) -> Self::Bits {
        self.bottom().times((Self::Bits::ONE << height).minus(Self::Bits::ONE))
    }
}

impl<R: Rules<Bits: Word>> Shape for R {}
