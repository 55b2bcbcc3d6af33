//! The memory limit, shared by all threads.

use std::sync::atomic::{AtomicU64, Ordering};

/// The bytes in use, their limit and their peak.
pub(crate) struct Budget {
    limit: u64,
    used: AtomicU64,
    peak: AtomicU64,
}

/// An allocation would have exceeded the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutOfMemory;

impl Budget {
    pub(crate) fn new(limit: u64) -> Budget {
        Budget { limit, used: AtomicU64::new(0), peak: AtomicU64::new(0) }
    }

    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    pub(crate) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// The peak of the bytes in use since the previous call.
    pub(crate) fn take_peak(&self) -> u64 {
        self.peak.swap(self.used(), Ordering::Relaxed)
    }

    /// Claims bytes before they are allocated.
    pub(crate) fn reserve(&self, bytes: usize) -> Result<(), OutOfMemory> {
        let claim = |used: u64| used.checked_add(bytes as u64).filter(|&sum| sum <= self.limit);
        let before = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, claim);
        let now = before.map_err(|_| OutOfMemory)? + bytes as u64;
        self.peak.fetch_max(now, Ordering::Relaxed);
        Ok(())
    }

    pub(crate) fn release(&self, bytes: usize) {
        self.used.fetch_sub(bytes as u64, Ordering::Relaxed);
    }
}
