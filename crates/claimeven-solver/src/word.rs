//! Extensions of [`Bits`] that only the search needs.

use std::sync::atomic::{AtomicU64, Ordering};

use claimeven_game::Bits;
use portable_atomic::AtomicU128;

/// An integer that holds a board, with wrapping arithmetic and an atomic counterpart.
pub(crate) trait Word: Bits {
    /// An odd factor without visible structure: multiplication by it is a bijection modulo every
    /// power of two and spreads low bits to high ones.
    const MIX: Self;

    /// The atomic type, which is read and written as a whole.
    type Atomic: Send + Sync;

    fn load(atomic: &Self::Atomic) -> Self;
    fn store(atomic: &Self::Atomic, word: Self);

    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;

    fn low_u64(self) -> u64;

    /// Whether the set is not empty.
    #[inline(always)]
    fn any(self) -> bool {
        self != Self::ZERO
    }

    /// The set of its lowest cell.
    #[inline(always)]
    fn lowest(self) -> Self {
        self & Self::ZERO.minus(self)
    }

    /// The set without its lowest cell.
    #[inline(always)]
    fn without_lowest(self) -> Self {
        self & self.minus(Self::ONE)
    }
}

macro_rules! impl_word {
    ($word:ty, $atomic:ty, $mix:expr) => {
        impl Word for $word {
            const MIX: Self = $mix;

            type Atomic = $atomic;

            // Relaxed: a word is self-contained, so the order in which others become visible does
            // not matter.
            #[inline(always)]
            fn load(atomic: &$atomic) -> Self {
                atomic.load(Ordering::Relaxed)
            }

            #[inline(always)]
            fn store(atomic: &$atomic, word: Self) {
                atomic.store(word, Ordering::Relaxed);
            }

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }

            #[inline(always)]
            fn low_u64(self) -> u64 {
                self as u64
            }
        }
    };
}

impl_word!(u64, AtomicU64, 0x9e37_79b9_7f4a_7c15);
impl_word!(u128, AtomicU128, 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
