//! Which positions the members of a team are searching.
//!
//! Searchers that share a table get in each other's way only by doing the same work at the same
//! time. So each enters the position it goes into, and the others try their other moves first. It
//! is a hint and no lock: entries may overwrite each other, and nobody waits.

use std::sync::atomic::{AtomicU64, Ordering};

const ENTRIES: usize = 1 << 12;

/// The positions at work, each in the place that its number chooses; 0 where there is none.
pub(crate) struct Busy {
    entries: Box<[AtomicU64]>,
}

impl Busy {
    pub(crate) fn new() -> Busy {
        Busy { entries: (0..ENTRIES).map(|_| AtomicU64::new(0)).collect() }
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
        // The number's low bits have been through a multiplication, but not its lowest one.
        &self.entries[(id >> 1) as usize % ENTRIES]
    }
}
