//! The transposition table: bounds of positions, shared without locks.
//!
//! An entry is one word as wide as the board's, read and written whole with
//! relaxed atomics (plain moves for 64 bits), so threads never see a torn one.
//! A position's key is scrambled by a bijection on `key_width` bits; the top
//! bits choose the bucket and *all* the others are kept as the entry's tag. An
//! entry that matches therefore belongs to that very position.
//!
//! ```text
//!   63 .. epoch .. | ........ tag ........ | at most? (1) | score + 64 (7)
//! ```
//!
//! Clearing costs nothing: entries of another epoch are as good as empty.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::shape::Shape;
use crate::word::Word;

/// What the table knows about a position, seen from the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    AtMost(i32),
    AtLeast(i32),
}

impl Bound {
    /// The bound's score if it tells on which side of `alpha` the position is.
    #[inline(always)]
    pub(crate) fn decides(self, alpha: i32) -> Option<i32> {
        match self {
            Bound::AtMost(score) if score <= alpha => Some(score),
            Bound::AtLeast(score) if score > alpha => Some(score),
            _ => None,
        }
    }
}

/// Where a position lives and how it is recognised there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot<B> {
    bucket: u32,
    tag: B,
}

impl<B: Word> Slot<B> {
    /// A number for the position, which others have only by accident.
    #[inline(always)]
    pub(crate) fn id(self) -> u64 {
        (self.tag.low_u64() ^ u64::from(self.bucket) << 32) | 1
    }
}

/// Bounds of positions of one shape.
pub(crate) struct Table<B: Word> {
    buckets: Vec<Bucket<B>>,
    tag_bits: u32,
    epoch: AtomicU64,
}

/// Two entries, never split between cache lines: the first for positions that
/// took work, the second for whatever came last.
#[repr(align(16))]
struct Bucket<B: Word> {
    hard: B::Atomic,
    last: B::Atomic,
}

const BOUND_BITS: u32 = 8;
const BIAS: i32 = 64;
const MIN_EPOCH_BITS: u32 = 4;
const MAX_EPOCH_BITS: u32 = 20;

impl<B: Word> Table<B> {
    /// A table of about so many bytes for positions of this shape, at least large enough that an
    /// entry can identify its position.
    pub(crate) fn new<S: Shape<Bits = B>>(shape: S, bytes: usize) -> Self {
        let wanted = (bytes / size_of::<Bucket<B>>()).max(1).ilog2();
        let least = (shape.key_width() + BOUND_BITS + MIN_EPOCH_BITS).saturating_sub(B::WIDTH);
        let bucket_bits = wanted.max(least).min(shape.key_width() - 1).min(u32::BITS);
        let tag_bits = shape.key_width() - bucket_bits;
        assert!(
            tag_bits + BOUND_BITS + MIN_EPOCH_BITS <= B::WIDTH,
            "an entry has room for its tag"
        );
        assert!((shape.size() as i32 + 1) / 2 < BIAS, "scores fit their seven bits");
        Table { buckets: zeroed(1 << bucket_bits), tag_bits, epoch: AtomicU64::new(1) }
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        let epoch = self.epoch.load(Ordering::Relaxed) + 1;
        let spent = epoch >> self.epoch_bits() != 0;
        if spent {
            for bucket in &self.buckets {
                B::store(&bucket.hard, B::ZERO);
                B::store(&bucket.last, B::ZERO);
            }
        }
        self.epoch.store(if spent { 1 } else { epoch }, Ordering::Relaxed);
    }

    /// `key` must be below `1 << key_width`.
    #[inline(always)]
    pub(crate) fn slot<S: Shape<Bits = B>>(&self, shape: S, key: B) -> Slot<B> {
        // An odd factor and a cut to `key_width` bits: a bijection on them.
        let unused = B::WIDTH - shape.key_width();
        let scrambled = (key.times(B::MIX) << unused) >> unused;
        let bucket = (scrambled >> self.tag_bits).low_u64() as u32;
        let tag = scrambled & (B::ONE << self.tag_bits).minus(B::ONE);
        Slot { bucket, tag }
    }

    /// Asks for the memory of a slot before it is needed.
    #[inline(always)]
    #[allow(
        unsafe_code,
        reason = "there is no safe way to say it, and it hides the table's latency"
    )]
    pub(crate) fn prefetch(&self, slot: Slot<B>) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let bucket = &raw const self.buckets[slot.bucket as usize];
            // SAFETY: a prefetch only hints at an address, here one of ours.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(bucket.cast()) };
        }
    }

    #[inline(always)]
    pub(crate) fn get(&self, slot: Slot<B>) -> Option<Bound> {
        let mark = self.mark(slot);
        let bucket = &self.buckets[slot.bucket as usize];
        let mut word = B::load(&bucket.hard);
        if word >> BOUND_BITS != mark {
            word = B::load(&bucket.last);
            if word >> BOUND_BITS != mark {
                return None;
            }
        }
        let code = word.low_u64();
        let score = (code & 0x7f) as i32 - BIAS;
        Some(if code & 0x80 != 0 { Bound::AtMost(score) } else { Bound::AtLeast(score) })
    }

    /// Remembers a bound; a `hard` one took more work and stays longer.
    #[inline(always)]
    pub(crate) fn put(&self, slot: Slot<B>, bound: Bound, hard: bool) {
        let code = match bound {
            Bound::AtMost(score) => 0x80 | (score + BIAS).cast_unsigned(),
            Bound::AtLeast(score) => (score + BIAS).cast_unsigned(),
        };
        let mark = self.mark(slot);
        let word = (mark << BOUND_BITS) | B::truncate(code.into());
        let bucket = &self.buckets[slot.bucket as usize];
        let first = B::load(&bucket.hard);
        if first >> BOUND_BITS == mark {
            B::store(&bucket.hard, word);
        } else if hard {
            B::store(&bucket.last, first);
            B::store(&bucket.hard, word);
        } else {
            B::store(&bucket.last, word);
        }
    }

    fn epoch_bits(&self) -> u32 {
        (B::WIDTH - BOUND_BITS - self.tag_bits).min(MAX_EPOCH_BITS)
    }

    /// All of an entry but its bound.
    #[inline(always)]
    fn mark(&self, slot: Slot<B>) -> B {
        let epoch = self.epoch.load(Ordering::Relaxed);
        slot.tag | (B::truncate(epoch.into()) << self.tag_bits)
    }
}

impl<B: Word> Bucket<B> {
    fn empty() -> Self {
        Bucket { hard: B::ZERO.atomic(), last: B::ZERO.atomic() }
    }
}

/// Empty buckets, on huge pages where the system offers them.
#[allow(
    unsafe_code,
    reason = "the advice has no safe form, and saves a fifth of the time with 64 MB"
)]
fn zeroed<B: Word>(len: usize) -> Vec<Bucket<B>> {
    let mut buckets = Vec::with_capacity(len);
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 4096;
        let start: *mut Bucket<B> = buckets.as_mut_ptr();
        let end = start as usize + len * size_of::<Bucket<B>>();
        let first_page = (start as usize).next_multiple_of(PAGE);
        let length = end.saturating_sub(first_page) / PAGE * PAGE;
        // SAFETY: the pages lie inside our own allocation, and the advice
        // changes how they are backed, not what they hold.
        unsafe { libc::madvise(first_page as *mut libc::c_void, length, libc::MADV_HUGEPAGE) };
    }
    buckets.resize_with(len, Bucket::empty);
    buckets
}

impl<B: Word> Default for Slot<B> {
    fn default() -> Self {
        Slot { bucket: 0, tag: B::ZERO }
    }
}
