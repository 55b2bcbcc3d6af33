//! Dividing the work among threads: simplified ABDADA.
//!
//! ABDADA (Weill, 1996) has all threads search the same tree with a shared transposition table in
//! which each marks the node it is in; the others defer such a node until their other moves are
//! searched. What differs here: the marks are kept in a small separate table instead of in the
//! transposition table's entries (as in Tom Kerrigan's simplified ABDADA), a mark names one
//! searcher at most instead of counting them, and a node that was deferred once is searched when
//! its turn comes again, marked or not. A mark is a hint, not a lock: marks may overwrite each
//! other, and no thread ever waits.

use std::sync::atomic::{AtomicU64, Ordering};

const ENTRIES: usize = 1 << 12;

/// The positions being searched, each in the slot chosen by its id; 0 means free.
pub(crate) struct CurrentlySearching {
    entries: Box<[AtomicU64]>,
}

impl CurrentlySearching {
    pub(crate) fn new() -> CurrentlySearching {
        CurrentlySearching { entries: (0..ENTRIES).map(|_| AtomicU64::new(0)).collect() }
    }

    pub(crate) fn contains(&self, id: u64) -> bool {
        self.entry(id).load(Ordering::Relaxed) == id
    }

    pub(crate) fn enter(&self, id: u64) {
        self.entry(id).store(id, Ordering::Relaxed);
    }

    pub(crate) fn leave(&self, id: u64) {
        self.entry(id).store(0, Ordering::Relaxed);
    }

    fn entry(&self, id: u64) -> &AtomicU64 {
        // The lowest bit of an id is always set; the others come from a multiplication.
        &self.entries[(id >> 1) as usize % ENTRIES]
    }
}
