//! Coaches that keep their transposition tables between requests.

use std::sync::{Mutex, PoisonError};

use claimeven_coach::Coach;

/// A pool of coaches, as many as were ever in use at the same time.
#[derive(Default)]
pub(crate) struct Coaches {
    free: Mutex<Vec<Coach>>,
}

impl Coaches {
    /// Runs `work` with a free coach. Call it on a thread of the engine.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut Coach) -> T) -> T {
        let lock = || self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let free = lock().pop();
        let mut coach = free.unwrap_or_default();
        let result = work(&mut coach);
        lock().push(coach);
        result
    }
}
