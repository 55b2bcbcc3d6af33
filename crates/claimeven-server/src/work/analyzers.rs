//! Analyzers that keep their transposition tables between requests.

use std::sync::{Mutex, PoisonError};

use claimeven_arena::Analyzer;

/// A pool of analyzers, as many as were ever in use at the same time.
#[derive(Default)]
pub(crate) struct Analyzers {
    free: Mutex<Vec<Analyzer>>,
}

impl Analyzers {
    /// Runs `work` with a free analyzer. Call it on a thread of the engine.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut Analyzer) -> T) -> T {
        let lock = || self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let free = lock().pop();
        let mut analyzer = free.unwrap_or_default();
        let result = work(&mut analyzer);
        lock().push(analyzer);
        result
    }
}
