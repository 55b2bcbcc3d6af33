//! The progress of a running search, for other threads.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use claimeven_game::Column;

use crate::agent::Value;

/// A monitor of a running search: the search writes its progress, another thread reads it.
///
/// Put it into [`Limits`](crate::Limits) and read it from any thread. A search writes to it when it
/// checks the clock and when it has finished a move of the root or an iteration.
///
/// ```
/// use std::sync::Arc;
///
/// use claimeven_game::{Position, Setup};
/// use claimeven_search::{Agent, AlphaBeta, Limits, SearchMonitor};
///
/// let monitor = Arc::new(SearchMonitor::default());
/// let limits = Limits::default().with_monitor(Arc::clone(&monitor));
/// AlphaBeta::default().decide(&Position::new(Setup::STANDARD), &limits)?;
/// println!("{} nodes", monitor.snapshot().nodes);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct SearchMonitor {
    nodes: AtomicU64,
    depth: AtomicU32,
    best: Mutex<Best>,
}

/// The progress of a search: its result so far. Players that do not search leave it empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchInfo {
    /// Nodes, or simulations for players that simulate.
    pub nodes: u64,
    /// The depth of the last finished iteration in plies; 0 for players without iterations.
    pub depth: u32,
    /// The value of the position for the side to move.
    pub value: Option<Value>,
    /// The principal variation.
    pub pv: Vec<Column>,
}

#[derive(Debug, Default)]
struct Best {
    value: Option<Value>,
    pv: Vec<Column>,
}

impl SearchMonitor {
    /// The result so far.
    pub fn snapshot(&self) -> SearchInfo {
        let best = self.best();
        SearchInfo {
            nodes: self.nodes.load(Ordering::Relaxed),
            depth: self.depth.load(Ordering::Relaxed),
            value: best.value,
            pv: best.pv.clone(),
        }
    }

    /// Clears the result of the previous search.
    pub fn reset(&self) {
        self.set_nodes(0);
        self.set_depth(0);
        *self.best() = Best::default();
    }

    /// Sets the number of nodes.
    pub fn set_nodes(&self, nodes: u64) {
        self.nodes.store(nodes, Ordering::Relaxed);
    }

    /// Sets the depth of the last finished iteration.
    pub fn set_depth(&self, depth: u32) {
        self.depth.store(depth, Ordering::Relaxed);
    }

    /// Sets the value and the principal variation.
    pub fn set_best(&self, value: Value, pv: &[Column]) {
        let mut best = self.best();
        best.value = Some(value);
        best.pv.clear();
        best.pv.extend_from_slice(pv);
    }

    /// Every state is valid, even after a panic in the searching thread.
    fn best(&self) -> MutexGuard<'_, Best> {
        self.best.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
