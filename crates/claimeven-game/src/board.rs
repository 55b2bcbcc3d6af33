//! The bit board for searching and counting.

use crate::bits::Bits;
use crate::{Column, Player, Rules, Ruleset};

/// A bit board: a position packed into two sets of cells, small enough to be copied at every move.
///
/// `filled` has every disc and `own` those of the side to move, so changing sides is one XOR:
/// the discs of the other side are `own ^ filled`.
///
/// ```
/// use claimeven_game::{Bits, Board, Standard};
///
/// let mut board = Board::new(Standard::default());
/// for _ in 0..3 {
///     let cell = 1 << board.legal().lowest_index();
///     board.play_cell(cell);
/// }
/// assert_eq!((board.ply(), board.legal().count()), (3, 7));
/// ```
///
/// Moves are checked by debug assertions only; [`Position`](crate::Position) is the checked type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Board<R: Rules> {
    rules: R,
    filled: R::Bits,
    own: R::Bits,
}

impl<R: Rules> Board<R> {
    /// The empty board.
    pub fn new(rules: R) -> Self {
        Board { rules, filled: R::Bits::ZERO, own: R::Bits::ZERO }
    }

    /// A board with these discs, which must form a legal position.
    pub(crate) fn with_discs(rules: R, filled: R::Bits, own: R::Bits) -> Self {
        debug_assert!(filled & own == own && filled & rules.cells() == filled);
        Board { rules, filled, own }
    }

    /// The rules.
    #[inline]
    pub fn rules(&self) -> R {
        self.rules
    }

    /// The cells with a disc.
    #[inline]
    pub fn filled(&self) -> R::Bits {
        self.filled
    }

    /// The discs of the side to move.
    #[inline]
    pub fn own(&self) -> R::Bits {
        self.own
    }

    /// The discs of the side that has just moved.
    #[inline]
    pub fn other(&self) -> R::Bits {
        self.own ^ self.filled
    }

    /// The discs of a player.
    #[inline]
    pub fn discs(&self, player: Player) -> R::Bits {
        if player == self.player() { self.own } else { self.other() }
    }

    /// The number of discs on the board.
    #[inline]
    pub fn ply(&self) -> u32 {
        self.filled.count()
    }

    /// The side to move.
    #[inline]
    pub fn player(&self) -> Player {
        if self.ply().is_multiple_of(2) { Player::First } else { Player::Second }
    }

    /// The cell in which the next disc of each column lands; full columns have none.
    ///
    /// Adding the bottom row carries through the discs of a column into the cell above them:
    ///
    /// ```text
    ///  filled     open
    ///  . . X .    . . . .      the third column is full
    ///  . . O .    1 . . .
    ///  X . X .  → . . . .
    ///  O . X X    . 1 . .  …
    /// ```
    #[inline]
    pub fn open(&self) -> R::Bits {
        (self.filled + self.rules.bottom()) & self.rules.cells()
    }

    /// The legal moves as cells: the open ones, or none if the game is over.
    #[inline]
    pub fn legal(&self) -> R::Bits {
        if self.is_over() { R::Bits::ZERO } else { self.open() }
    }

    /// Plays in an open cell.
    #[inline]
    pub fn play_cell(&mut self, cell: R::Bits) {
        debug_assert!(cell.count() == 1 && cell & self.open() == cell, "the cell is open");
        self.own = self.other();
        self.filled |= cell;
    }

    /// Plays in a column, which must not be full.
    #[inline]
    pub fn play_unchecked(&mut self, column: Column) {
        self.play_cell(self.open() & self.rules.column(column));
    }

    /// Takes back the top disc of a column, which must belong to the side that has just moved.
    #[inline]
    pub fn undo_unchecked(&mut self, column: Column) {
        let top = self.top(column);
        debug_assert!(top.count() == 1 && top & self.other() == top, "the last mover's disc");
        self.filled = self.filled ^ top;
        self.own = self.other();
    }

    /// The top disc of a column, if it has one.
    #[inline]
    pub(crate) fn top(&self, column: Column) -> R::Bits {
        let discs = self.filled & self.rules.column(column);
        discs & !discs.shifted_down(1)
    }

    /// Whether the side that has just moved has a line.
    #[inline]
    pub fn has_line(&self) -> bool {
        self.rules.has_line(self.other())
    }

    /// Whether the game is over.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.rules.is_over(self.filled, self.other())
    }

    /// The number of lines of each player, the first player's first.
    pub fn scores(&self) -> [u32; 2] {
        Player::BOTH.map(|player| self.rules.count_lines(self.discs(player)))
    }

    /// The player who is ahead: the one with a line, or with more lines; `None` if they are level.
    pub fn leader(&self) -> Option<Player> {
        if self.rules.setup().ruleset() == Ruleset::Standard {
            return self.has_line().then(|| self.player().opponent());
        }
        let [first, second] = self.scores();
        match first.cmp(&second) {
            std::cmp::Ordering::Greater => Some(Player::First),
            std::cmp::Ordering::Less => Some(Player::Second),
            std::cmp::Ordering::Equal => None,
        }
    }

    /// The mirror image, with left and right exchanged.
    pub fn mirror(&self) -> Self {
        let Board { rules, filled, own } = *self;
        Board { rules, filled: rules.mirror(filled), own: rules.mirror(own) }
    }

    /// A number that identifies the position among those of the same setup.
    ///
    /// A column of `n` discs contributes `2^n - 1`, and at most as much again for the discs of the
    /// side to move, so columns of different heights never have the same sum and none overflows.
    #[inline]
    pub fn key(&self) -> R::Bits {
        self.filled + self.own
    }

    /// A key that only a position and its mirror image share.
    pub fn canonical_key(&self) -> R::Bits {
        self.key().min(self.rules.mirror(self.key()))
    }
}
