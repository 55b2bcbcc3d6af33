//! What a search has found so far, for whoever watches it.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use claimeven_game::Column;

use crate::agent::Value;

/// Where a search leaves word while it runs.
///
/// It is put into [`Limits`](crate::Limits) and read by anyone at any time. A search writes to it
/// where it rests anyway: when it looks at the clock, and when it is through with a move or a depth.
#[derive(Debug, Default)]
pub struct SearchMonitor {
    nodes: AtomicU64,
    depth: AtomicU32,
    best: Mutex<Best>,
}

/// What a search has found so far. Players that decide at once leave it empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchInfo {
    /// Positions visited; for players that simulate games, simulations.
    pub nodes: u64,
    /// How many plies ahead the whole search has looked; 0 before it has, and for players that do
    /// not search by depth.
    pub depth: u32,
    /// What the position is worth to the side to move, by the best line.
    pub value: Option<Value>,
    /// The best line of play, from the side to move on.
    pub pv: Vec<Column>,
}

#[derive(Debug, Default)]
struct Best {
    value: Option<Value>,
    pv: Vec<Column>,
}

impl SearchMonitor {
    /// What the search has found so far.
    pub fn snapshot(&self) -> SearchInfo {
        let best = self.best();
        SearchInfo {
            nodes: self.nodes.load(Ordering::Relaxed),
            depth: self.depth.load(Ordering::Relaxed),
            value: best.value,
            pv: best.pv.clone(),
        }
    }

    /// Forgets what an earlier search has left here.
    pub fn reset(&self) {
        self.set_nodes(0);
        self.set_depth(0);
        *self.best() = Best::default();
    }

    /// Takes note of how many positions have been visited.
    pub fn set_nodes(&self, nodes: u64) {
        self.nodes.store(nodes, Ordering::Relaxed);
    }

    /// Takes note of how many plies ahead the whole search has looked.
    pub fn set_depth(&self, depth: u32) {
        self.depth.store(depth, Ordering::Relaxed);
    }

    /// Takes note of the best line and what it is worth.
    pub fn set_best(&self, value: Value, pv: &[Column]) {
        let mut best = self.best();
        best.value = Some(value);
        best.pv.clear();
        best.pv.extend_from_slice(pv);
    }

    /// Every state of it is a sound one, even one that a panicking thread has left.
    fn best(&self) -> MutexGuard<'_, Best> {
        self.best.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
