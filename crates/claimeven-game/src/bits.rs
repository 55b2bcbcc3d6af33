//! The unsigned integers that hold a board.

use std::fmt::Debug;
use std::hash::Hash;
use std::ops::{Add, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, Not, Shl, Shr, Sub};

/// A set of cells as an unsigned integer: `u64` for boards that fit, `u128` for the rest.
pub trait Bits:
    Copy
    + Debug
    + Eq
    + Ord
    + Hash
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + BitAnd<Output = Self>
    + BitAndAssign
    + BitOr<Output = Self>
    + BitOrAssign
    + BitXor<Output = Self>
    + Not<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
    /// The number of bits.
    const WIDTH: u32;
    /// The empty set.
    const ZERO: Self;
    /// The cell of the lowest bit.
    const ONE: Self;

    /// The low bits of a wider integer.
    fn truncate(wide: u128) -> Self;

    /// The same bits as a `u128`.
    fn widen(self) -> u128;

    /// Shifts down; 0 if `by` is the width or more.
    fn shifted_down(self, by: u32) -> Self;

    /// The bytes in reverse order.
    fn swapped_bytes(self) -> Self;

    /// The number of cells in the set.
    fn count(self) -> u32;

    /// The index of the lowest bit, or the width if the set is empty.
    fn lowest_index(self) -> u32;

    /// Whether the set is empty.
    fn is_empty(self) -> bool {
        self == Self::ZERO
    }

    /// The indices of the bits, lowest first.
    fn indices(self) -> impl Iterator<Item = u32> {
        let mut rest = self;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let index = rest.lowest_index();
            rest &= rest - Self::ONE;
            Some(index)
        })
    }
}

macro_rules! impl_bits {
    ($($integer:ty),*) => {$(
        #[allow(clippy::useless_conversion, reason = "`u128` is widened to itself")]
        impl Bits for $integer {
            const WIDTH: u32 = Self::BITS;
            const ZERO: Self = 0;
            const ONE: Self = 1;

            #[inline]
            fn truncate(wide: u128) -> Self {
                wide as Self
            }

            #[inline]
            fn widen(self) -> u128 {
                self.into()
            }

            #[inline]
            fn shifted_down(self, by: u32) -> Self {
                self.checked_shr(by).unwrap_or(0)
            }

            #[inline]
            fn swapped_bytes(self) -> Self {
                self.swap_bytes()
            }

            #[inline]
            fn count(self) -> u32 {
                self.count_ones()
            }

            #[inline]
            fn lowest_index(self) -> u32 {
                self.trailing_zeros()
            }
        }
    )*};
}

impl_bits!(u64, u128);
