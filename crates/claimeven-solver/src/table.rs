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
//! Clearing the table starts a new epoch: entries of earlier ones count as empty.

use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::limits::Stop;
use crate::shape::Shape;
use crate::word::Word;

/// A bound from the table, from the point of view of the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    AtMost(i32),
    AtLeast(i32),
}

impl Bound {
    /// The score of the bound, if it decides on which side of `alpha` the position is.
    #[inline(always)]
    pub(crate) fn decides(self, alpha: i32) -> Option<i32> {
        match self {
            Bound::AtMost(score) if score <= alpha => Some(score),
            Bound::AtLeast(score) if score > alpha => Some(score),
            _ => None,
        }
    }
}

/// The place of a position in the table, and the tag that identifies it there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot<B> {
    bucket: u32,
    tag: B,
}

impl<B: Word> Slot<B> {
    /// An id of the position, almost always unique.
    #[inline(always)]
    pub(crate) fn id(self) -> u64 {
        (self.tag.low_u64() ^ u64::from(self.bucket) << 32) | 1
    }
}

/// A transposition table for positions of one shape.
pub(crate) struct Table<B: Word> {
    buckets: Vec<Bucket<B>>,
    tag_bits: u32,
    epoch: AtomicU64,
    /// The pages of the buckets before this one have been written to.
    warm: AtomicUsize,
}

/// Two entries: the first for positions that took many nodes, the second for the latest one.
///
/// A bucket of two 64-bit entries never crosses a cache line. One of two 128-bit entries may: it
/// takes 32 bytes, and the allocation begins at any multiple of 16.
#[repr(align(16))]
struct Bucket<B: Word> {
    hard: B::Atomic,
    latest: B::Atomic,
}

const BOUND_BITS: u32 = 8;
const BIAS: i32 = 64;
const MIN_EPOCH_BITS: u32 = 4;
const MAX_EPOCH_BITS: u32 = 20;

impl<B: Word> Table<B> {
    /// A table of at most this many bytes for positions of this shape. The number of buckets is a
    /// power of two, lower if memory is short, and at least high enough for entries to identify
    /// their positions.
    pub(crate) fn new<S: Shape<Bits = B>>(shape: S, bytes: usize) -> Self {
        let wanted = (bytes / size_of::<Bucket<B>>()).max(1).ilog2();
        let min_bits = (shape.key_width() + BOUND_BITS + MIN_EPOCH_BITS).saturating_sub(B::WIDTH);
        let mut bucket_bits = wanted.max(min_bits).min(shape.key_width() - 1).min(u32::BITS);
        let buckets = loop {
            match zeroed(1 << bucket_bits) {
                Some(buckets) => break buckets,
                None if bucket_bits > min_bits => bucket_bits -= 1,
                None => handle_alloc_error(Layout::new::<Bucket<B>>()),
            }
        };
        let tag_bits = shape.key_width() - bucket_bits;
        assert!(
            tag_bits + BOUND_BITS + MIN_EPOCH_BITS <= B::WIDTH,
            "an entry has room for its tag"
        );
        assert!((shape.size() as i32 + 1) / 2 < BIAS, "scores fit their seven bits");
        Table { buckets, tag_bits, epoch: AtomicU64::new(1), warm: AtomicUsize::new(0) }
    }

    /// Writes to every huge page of a new table until `stop` is requested; the next call continues
    /// from there.
    ///
    /// The system clears a page when it is first written to, which takes milliseconds for a huge
    /// one. In a search, a few nodes could touch hundreds of them between two checks of the clock.
    pub(crate) fn warm_up(&self, stop: &Stop) {
        const HUGE_PAGE: usize = 2 << 20;
        let per_page = HUGE_PAGE / size_of::<Bucket<B>>();
        let mut next = self.warm.load(Ordering::Relaxed);
        while next < self.buckets.len() && !stop.is_requested() {
            // Nothing is stored here yet, so nothing is lost.
            B::store(&self.buckets[next].latest, B::ZERO);
            next += per_page;
            self.warm.store(next, Ordering::Relaxed);
        }
    }

    /// The size in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.buckets.len() * size_of::<Bucket<B>>()
    }

    /// Removes all entries.
    pub(crate) fn clear(&self) {
        let epoch = self.epoch.load(Ordering::Relaxed) + 1;
        let wrapped = epoch >> self.epoch_bits() != 0;
        if wrapped {
            for bucket in &self.buckets {
                B::store(&bucket.hard, B::ZERO);
                B::store(&bucket.latest, B::ZERO);
            }
        }
        self.epoch.store(if wrapped { 1 } else { epoch }, Ordering::Relaxed);
    }

    /// `key` must be below `1 << key_width`.
    #[inline(always)]
    pub(crate) fn slot<S: Shape<Bits = B>>(&self, shape: S, key: B) -> Slot<B> {
        // Multiplication by an odd factor modulo 2^`key_width` is a bijection.
        let unused = B::WIDTH - shape.key_width();
        let scrambled = (key.times(B::MIX) << unused) >> unused;
        let bucket = (scrambled >> self.tag_bits).low_u64() as u32;
        let tag = scrambled & (B::ONE << self.tag_bits).minus(B::ONE);
        Slot { bucket, tag }
    }

    /// Prefetches a slot.
    #[inline(always)]
    #[allow(
        unsafe_code,
        reason = "prefetching has no safe interface, and it hides the table's latency"
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
            word = B::load(&bucket.latest);
            if word >> BOUND_BITS != mark {
                return None;
            }
        }
        let code = word.low_u64();
        let score = (code & 0x7f) as i32 - BIAS;
        Some(if code & 0x80 != 0 { Bound::AtMost(score) } else { Bound::AtLeast(score) })
    }

    /// Stores a bound; a `hard` one took more nodes and is kept longer.
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
            B::store(&bucket.latest, first);
            B::store(&bucket.hard, word);
        } else {
            B::store(&bucket.latest, word);
        }
    }

    fn epoch_bits(&self) -> u32 {
        (B::WIDTH - BOUND_BITS - self.tag_bits).min(MAX_EPOCH_BITS)
    }

    /// An entry without its bound.
    #[inline(always)]
    fn mark(&self, slot: Slot<B>) -> B {
        let epoch = self.epoch.load(Ordering::Relaxed);
        slot.tag | (B::truncate(epoch.into()) << self.tag_bits)
    }
}

/// Empty buckets, on huge pages where the system offers them.
///
/// The system provides zeroed pages when they are first touched, so even a large table is allocated
/// at once. `None` if there is not enough memory for this many buckets.
#[allow(
    unsafe_code,
    reason = "`madvise` has no safe interface, and saves a fifth of the time with 64 MB"
)]
fn zeroed<B: Word>(len: usize) -> Option<Vec<Bucket<B>>> {
    let layout = Layout::array::<Bucket<B>>(len).ok().filter(|layout| layout.size() > 0)?;
    // SAFETY: the layout is not empty. A bucket of zeros is an empty one, and the layout is that
    // of a boxed slice of buckets.
    let buckets = unsafe {
        let start = alloc_zeroed(layout);
        if start.is_null() {
            return None;
        }
        Box::from_raw(std::ptr::slice_from_raw_parts_mut(start.cast::<Bucket<B>>(), len)).into_vec()
    };
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 4096;
        let start = buckets.as_ptr();
        let end = start as usize + len * size_of::<Bucket<B>>();
        let first_page = (start as usize).next_multiple_of(PAGE);
        let length = end.saturating_sub(first_page) / PAGE * PAGE;
        // SAFETY: the pages lie inside our own allocation, and the advice
        // changes how they are backed, not what they hold.
        unsafe { libc::madvise(first_page as *mut libc::c_void, length, libc::MADV_HUGEPAGE) };
    }
    Some(buckets)
}

impl<B: Word> Default for Slot<B> {
    fn default() -> Self {
        Slot { bucket: 0, tag: B::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use claimeven_game::{AnySize, Bits, Fixed, Ruleset, Setup};

    use super::*;

    /// A bound derived from the key, so that an entry of another position is detected.
    fn bound_of(key: u64) -> Bound {
        let score = (key % 60) as i32 - 30;
        if key.is_multiple_of(3) { Bound::AtMost(score) } else { Bound::AtLeast(score) }
    }

    #[test]
    fn nothing_survives_a_clear_even_when_epochs_wrap() {
        // The board takes all 64 bits, so a small table has 4 bits left for the epoch.
        let shape = Fixed::<8, 7, 4>;
        let table = Table::new(shape, 1);
        assert_eq!(table.epoch_bits(), MIN_EPOCH_BITS);
        let slots: Vec<_> =
            (0..2000u64).map(|key| (key, table.slot(shape, key.wrapping_mul(u64::MIX)))).collect();
        for round in 0..100 {
            for &(key, slot) in &slots {
                assert_eq!(table.get(slot), None, "round {round}, key {key}");
            }
            // A different part of the keys in each round, so that old entries stay in the table.
            for &(key, slot) in slots.iter().filter(|(key, _)| key % 7 == round % 7) {
                table.put(slot, bound_of(key), key.is_multiple_of(2));
                assert_eq!(table.get(slot), Some(bound_of(key)));
            }
            table.clear();
        }
    }

    #[test]
    fn a_hard_entry_stays_until_a_harder_search_replaces_it() {
        let shape = Fixed::<8, 7, 4>;
        let table = Table::new(shape, 1);
        let first = table.slot(shape, 1);
        let same_bucket = |key: &u64| table.slot(shape, *key).bucket == first.bucket;
        let others: Vec<_> =
            (2..).filter(same_bucket).take(3).map(|key| table.slot(shape, key)).collect();
        table.put(first, Bound::AtLeast(5), true);
        table.put(others[0], Bound::AtMost(1), false);
        table.put(others[1], Bound::AtMost(2), false);
        assert_eq!(table.get(first), Some(Bound::AtLeast(5)));
        assert_eq!((table.get(others[0]), table.get(others[1])), (None, Some(Bound::AtMost(2))));
        table.put(others[2], Bound::AtMost(3), true);
        assert_eq!(table.get(first), Some(Bound::AtLeast(5)), "it moved to the other entry");
        assert_eq!(table.get(others[2]), Some(Bound::AtMost(3)));
    }

    /// Threads write and read a few buckets at once: no entry ever mixes two positions.
    fn check_shared<S: Shape>(shape: S) {
        let table = Table::new(shape, 1 << 8);
        std::thread::scope(|scope| {
            for thread in 0..4u64 {
                let table = &table;
                scope.spawn(move || {
                    let mut random = fastrand::Rng::with_seed(thread);
                    for _ in 0..200_000 {
                        let key = random.u64(..500);
                        // The key fills the whole word, so that a torn entry is detected.
                        let wide = S::Bits::truncate(key.into()).times(S::Bits::MIX);
                        let unused = S::Bits::WIDTH - shape.key_width();
                        let slot = table.slot(shape, (wide << unused) >> unused);
                        if random.bool() {
                            table.put(slot, bound_of(key), random.bool());
                        } else if let Some(found) = table.get(slot) {
                            assert_eq!(found, bound_of(key));
                        }
                    }
                });
            }
        });
    }

    #[test]
    fn no_thread_sees_a_torn_entry() {
        check_shared(Fixed::<8, 7, 4>);
        let wide = Setup::new(10, 10, 4, Ruleset::Standard).unwrap();
        check_shared(AnySize::<u128>::new(wide).unwrap());
    }
}
