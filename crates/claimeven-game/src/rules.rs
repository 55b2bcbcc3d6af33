//! A setup as a type, so that generic code is compiled for each kind of board.

use std::fmt::Debug;
use std::hash::Hash;

use crate::bits::Bits;
use crate::{Column, Ruleset, Setup};

/// The geometry of a board and the rules played on it.
///
/// Cells are numbered column by column from the bottom up, and at least one spare row on top stays
/// empty, so that lines and carries end there. On a 7x6 board each column takes a byte:
///
/// ```text
///   7 15 23 31 39 47 55   spare
///   6 14 22 30 38 46 54   spare
///  ┌────────────────────┐
///  │5 13 21 29 37 45 53 │
///  │4 12 20 28 36 44 52 │
///  │3 11 19 27 35 43 51 │
///  │2 10 18 26 34 42 50 │
///  │1  9 17 25 33 41 49 │
///  │0  8 16 24 32 40 48 │  <- `bottom()`
///  └────────────────────┘
/// ```
///
/// A step up is a shift by 1, a step right by `stride()`, and the diagonal steps by one more and
/// one less than that.
pub trait Rules: Copy + Debug + Eq + Hash + Send + Sync + 'static {
    /// The integer that holds a set of cells.
    type Bits: Bits;

    /// The setup.
    fn setup(self) -> Setup;

    /// The lowest cell of every column.
    fn bottom(self) -> Self::Bits;

    /// The number of bits from one column to the next.
    #[inline]
    fn stride(self) -> u32 {
        self.setup().stride()
    }

    /// Every cell of the board.
    ///
    /// In each column, subtracting the lowest bit from the spare one leaves the rows between them,
    /// and the columns do not borrow from each other.
    #[inline]
    fn cells(self) -> Self::Bits {
        (self.bottom() << u32::from(self.setup().rows())) - self.bottom()
    }

    /// The lowest cell of one column.
    #[inline]
    fn column_bottom(self, column: Column) -> Self::Bits {
        Self::Bits::ONE << (column.index() as u32 * self.stride())
    }

    /// Every cell of one column.
    #[inline]
    fn column(self, column: Column) -> Self::Bits {
        let bottom = self.column_bottom(column);
        (bottom << u32::from(self.setup().rows())) - bottom
    }

    /// The shifts of the four directions: up, right, down right, up right.
    #[inline]
    fn directions(self) -> [u32; 4] {
        let stride = self.stride();
        [1, stride, stride - 1, stride + 1]
    }

    /// The lines of `connect` discs in one direction, each by its first cell.
    ///
    /// Known runs are doubled in length until one more overlap completes them:
    ///
    /// ```text
    /// discs            . X X X X X .
    /// runs of two      . 1 1 1 1 . .
    /// runs of four     . 1 1 . . . .   two lines in a run of five
    /// ```
    #[inline]
    fn lines(self, discs: Self::Bits, direction: u32) -> Self::Bits {
        let connect = u32::from(self.setup().connect());
        let mut runs = discs;
        let mut length = 1;
        while 2 * length <= connect {
            runs &= runs.shifted_down(direction * length);
            length *= 2;
        }
        runs & runs.shifted_down(direction * (connect - length))
    }

    /// Whether the discs contain a line.
    #[inline]
    fn has_line(self, discs: Self::Bits) -> bool {
        self.directions()
            .into_iter()
            .fold(Self::Bits::ZERO, |found, direction| found | self.lines(discs, direction))
            != Self::Bits::ZERO
    }

    /// The number of lines among the discs.
    #[inline]
    fn count_lines(self, discs: Self::Bits) -> u32 {
        self.directions().into_iter().map(|direction| self.lines(discs, direction).count()).sum()
    }

    /// The cells of all lines among the discs.
    fn line_cells(self, discs: Self::Bits) -> Self::Bits {
        let mut cells = Self::Bits::ZERO;
        for direction in self.directions() {
            for first in self.lines(discs, direction).indices() {
                for step in 0..u32::from(self.setup().connect()) {
                    cells |= Self::Bits::ONE << (first + step * direction);
                }
            }
        }
        cells
    }

    /// The cells that would complete a line of these discs, whether they are empty or not.
    ///
    /// ```text
    /// discs     . X X . X . .
    /// threats   . . . 1 . . .   two before it and one after it, in lines of four
    /// ```
    #[inline]
    fn threats(self, discs: Self::Bits) -> Self::Bits {
        let setup = self.setup();
        let missing = u32::from(setup.connect()) - 1;
        let mut threats = Self::Bits::ZERO;
        if setup.connect() > setup.cols().max(setup.rows()) {
            return threats;
        }
        if missing == 3 {
            // Connect four, unrolled: searches need it at every node.
            for direction in self.directions() {
                let before = discs << direction;
                let after = discs.shifted_down(direction);
                let two_before = (before & discs) << direction;
                let two_after = (after & discs).shifted_down(direction);
                threats |= (two_before & discs) << direction;
                threats |= (two_before & after) | (before & two_after);
                threats |= (two_after & discs).shifted_down(direction);
            }
            return threats & self.cells();
        }
        for direction in self.directions() {
            for before in 0..=missing {
                let mut cells = self.cells();
                for _ in 0..before {
                    cells = (cells & discs) << direction;
                }
                // The discs after a cell are collected from the far end towards it.
                let mut after = self.cells();
                for _ in before..missing {
                    after = (after & discs).shifted_down(direction);
                }
                threats |= cells & after;
            }
        }
        threats & self.cells()
    }

    /// The mirror image of a set of cells, or of a sum such as a key whose columns do not carry into
    /// each other.
    #[inline]
    fn mirror(self, cells: Self::Bits) -> Self::Bits {
        let (stride, cols) = (self.stride(), u32::from(self.setup().cols()));
        if stride == 8 {
            return cells.swapped_bytes().shifted_down(Self::Bits::WIDTH - 8 * cols);
        }
        let column = (Self::Bits::ONE << stride) - Self::Bits::ONE;
        (0..cols).fold(Self::Bits::ZERO, |mirrored, index| {
            let content = cells.shifted_down(index * stride) & column;
            mirrored | content << ((cols - 1 - index) * stride)
        })
    }

    /// Whether a game with these discs is over; `last` are the discs of the player who moved last.
    #[inline]
    fn is_over(self, filled: Self::Bits, last: Self::Bits) -> bool {
        filled == self.cells()
            || (self.setup().ruleset() == Ruleset::Standard && self.has_line(last))
    }
}

/// The standard ruleset on a board whose size is known at compile time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Fixed<const COLS: u8, const ROWS: u8, const CONNECT: u8>;

/// The standard game: seven columns, six rows, connect 4.
pub type Standard = Fixed<7, 6, 4>;

impl<const COLS: u8, const ROWS: u8, const CONNECT: u8> Fixed<COLS, ROWS, CONNECT> {
    const SETUP: Setup = match Setup::new(COLS, ROWS, CONNECT, Ruleset::Standard) {
        Ok(setup) if setup.bits() <= u64::BITS => setup,
        _ => panic!("a fixed board is a valid one of at most 64 bits"),
    };
    const BOTTOM: u64 = bottom(Self::SETUP) as u64;
}

impl<const COLS: u8, const ROWS: u8, const CONNECT: u8> Rules for Fixed<COLS, ROWS, CONNECT> {
    type Bits = u64;

    #[inline]
    fn setup(self) -> Setup {
        Self::SETUP
    }

    #[inline]
    fn bottom(self) -> u64 {
        Self::BOTTOM
    }
}

/// Any setup whose board fits in the integer `B`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AnySize<B> {
    setup: Setup,
    bottom: B,
}

impl<B: Bits> AnySize<B> {
    /// The rules of a setup; `None` if its board does not fit.
    pub fn new(setup: Setup) -> Option<Self> {
        (setup.bits() as usize <= 8 * size_of::<B>())
            .then(|| AnySize { setup, bottom: B::truncate(bottom(setup)) })
    }
}

impl<B: Bits> Rules for AnySize<B> {
    type Bits = B;

    #[inline]
    fn setup(self) -> Setup {
        self.setup
    }

    #[inline]
    fn bottom(self) -> B {
        self.bottom
    }
}

const fn bottom(setup: Setup) -> u128 {
    let mut cells = 0;
    let mut column = 0;
    while column < setup.cols() {
        cells |= 1 << (column as u32 * setup.stride());
        column += 1;
    }
    cells
}
