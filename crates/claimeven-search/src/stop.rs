//! When a search is to end before it has its answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use claimeven_game::Column;

use crate::agent::{Limits, Value};
use crate::monitor::SearchMonitor;

/// A search was ended by a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stopped;

/// The limits of one search, cheap enough to be asked at every node.
pub(crate) struct Stop {
    start: Instant,
    nodes: u64,
    deadline: Option<Instant>,
    cancel: Option<Arc<AtomicBool>>,
    monitor: Option<Arc<SearchMonitor>>,
    /// The clock is read and the flag looked at when the search has come to so many nodes.
    next_look: u64,
}

/// Nodes between two looks at the clock: some tens of microseconds.
const LOOK_INTERVAL: u64 = 1024;

impl Stop {
    /// The limits from now on; `time` is the player's own limit.
    pub(crate) fn new(limits: &Limits, time: Option<Duration>) -> Stop {
        let start = Instant::now();
        if let Some(monitor) = &limits.monitor {
            monitor.reset();
        }
        let time = [limits.time, time].into_iter().flatten().min();
        Stop {
            start,
            nodes: limits.nodes.unwrap_or(u64::MAX),
            deadline: time.and_then(|time| start.checked_add(time)),
            cancel: limits.cancel.clone(),
            monitor: limits.monitor.clone(),
            next_look: 0,
        }
    }

    /// Ends the search if a limit is reached at this number of nodes.
    #[inline]
    pub(crate) fn check(&mut self, nodes: u64) -> Result<(), Stopped> {
        if nodes < self.next_look { Ok(()) } else { self.look(nodes) }
    }

    #[cold]
    fn look(&mut self, nodes: u64) -> Result<(), Stopped> {
        self.next_look = (nodes + LOOK_INTERVAL).min(self.nodes);
        if let Some(monitor) = &self.monitor {
            monitor.set_nodes(nodes);
        }
        if nodes >= self.nodes || self.is_requested() { Err(Stopped) } else { Ok(()) }
    }

    /// Whether the time is up or somebody has asked to stop.
    pub(crate) fn is_requested(&self) -> bool {
        self.cancel.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Tells whoever watches what has been found at this number of nodes.
    pub(crate) fn tell(&self, nodes: u64, depth: u32, value: Value, pv: &[Column]) {
        if let Some(monitor) = &self.monitor {
            monitor.set_nodes(nodes);
            monitor.set_depth(depth);
            monitor.set_best(value, pv);
        }
    }

    /// How long the search has taken.
    pub(crate) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}
