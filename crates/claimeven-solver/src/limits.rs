//! Limits and cancellation of searches, shared by all crates.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Limits of a search. The default is no limit at all.
///
/// The searches of all crates take these; those that can also be limited by depth or by
/// simulations have additional limits.
///
/// ```
/// use std::time::Duration;
///
/// use claimeven_game::{Position, Ruleset, Setup};
/// use claimeven_solver::{Limits, Solver};
///
/// let too_large = Setup::new(10, 10, 4, Ruleset::Standard)?;
/// let limits = Limits::default().with_time(Duration::from_millis(30)).with_nodes(100_000);
/// let bounds = Solver::default().score_within(&Position::new(too_large), &limits)?;
/// assert_eq!(bounds.exact(), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Limits {
    /// The maximum number of nodes.
    pub nodes: Option<u64>,
    /// The maximum time.
    pub time: Option<Duration>,
    /// Another thread sets this flag to end the search.
    pub cancel: Option<Arc<AtomicBool>>,
}

impl Limits {
    /// Limits the number of nodes.
    pub fn with_nodes(self, nodes: u64) -> Limits {
        Limits { nodes: Some(nodes), ..self }
    }

    /// Limits the time.
    pub fn with_time(self, time: Duration) -> Limits {
        Limits { time: Some(time), ..self }
    }

    /// Adds a flag that ends the search.
    pub fn with_cancel(self, cancel: Arc<AtomicBool>) -> Limits {
        Limits { cancel: Some(cancel), ..self }
    }
}

/// The limits of a running search, cheap enough to be checked at every node.
///
/// Creating one starts the clock, so create it where the search begins and pass it down to every
/// part of the search:
///
/// ```
/// use claimeven_solver::{Limits, Stop, Stopped};
///
/// fn count(to: u64, stop: &mut Stop) -> Result<u64, Stopped> {
///     for nodes in 0..to {
///         stop.check(nodes)?;
///     }
///     Ok(to)
/// }
///
/// let mut stop = Stop::new(&Limits::default().with_nodes(5_000));
/// assert_eq!(count(3_000, &mut stop), Ok(3_000));
/// assert_eq!(count(10_000, &mut stop), Err(Stopped));
/// ```
///
/// [`Stop::check`] reads the clock and the flag once every [`Stop::POLL_INTERVAL`] nodes. A search
/// whose nodes take longer than 20 microseconds (a network's, for example) calls
/// [`Stop::is_requested`] instead. A nested search that takes [`Limits`] gets [`Stop::remaining`].
#[derive(Clone, Debug)]
pub struct Stop {
    start: Instant,
    deadline: Option<Instant>,
    cancel: Option<Arc<AtomicBool>>,
    /// Set by the first of several threads that finds the answer they all search for.
    answered: Option<Arc<AtomicBool>>,
    nodes: u64,
    next_poll: u64,
}

impl Stop {
    /// Nodes between two checks of clock and flag: less than a millisecond for searches that count
    /// nodes.
    pub const POLL_INTERVAL: u64 = 1024;

    /// Starts the clock of the limits.
    pub fn new(limits: &Limits) -> Stop {
        let start = Instant::now();
        Stop {
            start,
            // A time beyond the clock's range is no limit.
            deadline: limits.time.and_then(|time| start.checked_add(time)),
            cancel: limits.cancel.clone(),
            answered: None,
            nodes: limits.nodes.unwrap_or(u64::MAX),
            next_poll: 0,
        }
    }

    /// Fails if a limit is reached; `nodes` is the total number of nodes so far.
    #[inline]
    pub fn check(&mut self, nodes: u64) -> Result<(), Stopped> {
        if nodes < self.next_poll { Ok(()) } else { self.poll(nodes) }
    }

    #[cold]
    fn poll(&mut self, nodes: u64) -> Result<(), Stopped> {
        self.next_poll = nodes.saturating_add(Stop::POLL_INTERVAL).min(self.nodes);
        if nodes >= self.nodes || self.is_requested() { Err(Stopped) } else { Ok(()) }
    }

    /// Whether the time is up or the search is cancelled. Reads the clock.
    pub fn is_requested(&self) -> bool {
        let is_set = |flag: &Arc<AtomicBool>| flag.load(Ordering::Relaxed);
        self.answered.as_ref().is_some_and(is_set)
            || self.cancel.as_ref().is_some_and(is_set)
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// The time since the search began.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// What is left of the limits after this many nodes, for a search within this one.
    pub fn remaining(&self, nodes: u64) -> Limits {
        Limits {
            nodes: (self.nodes < u64::MAX).then(|| self.nodes.saturating_sub(nodes)),
            time: self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())),
            cancel: self.cancel.clone(),
        }
    }

    /// The same limits, with a flag that one of several threads sets when it has the answer.
    pub(crate) fn with_answered(&self, answered: &Arc<AtomicBool>) -> Stop {
        Stop { answered: Some(Arc::clone(answered)), ..self.clone() }
    }

    /// The maximum number of nodes of the search.
    pub(crate) fn max_nodes(&self) -> u64 {
        self.nodes
    }
}

impl Default for Stop {
    fn default() -> Stop {
        Stop::new(&Limits::default())
    }
}

/// The error of a search that a limit has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a limit ended the search")
    }
}

impl std::error::Error for Stopped {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_counted_exactly() {
        for limit in [0, 1, 1023, 1024, 1025, 5000] {
            let mut stop = Stop::new(&Limits::default().with_nodes(limit));
            let last = (0..=limit).find(|&nodes| stop.check(nodes).is_err());
            assert_eq!(last, Some(limit));
        }
    }

    #[test]
    fn flag_and_clock_are_checked_within_one_interval() {
        let cancel = Arc::new(AtomicBool::new(false));
        let mut stop = Stop::new(&Limits::default().with_cancel(Arc::clone(&cancel)));
        assert!((0..5000).all(|nodes| stop.check(nodes).is_ok()));
        cancel.store(true, Ordering::Relaxed);
        assert!((5000..5000 + Stop::POLL_INTERVAL).any(|nodes| stop.check(nodes).is_err()));

        let mut stop = Stop::new(&Limits::default().with_time(Duration::ZERO));
        assert_eq!(stop.check(0), Err(Stopped));
        let mut stop = Stop::new(&Limits::default().with_time(Duration::MAX));
        assert_eq!(stop.check(0), Ok(()));
    }

    #[test]
    fn remaining_limits_exclude_what_was_used() {
        let limits = Limits::default().with_nodes(10).with_time(Duration::from_mins(1));
        let left = Stop::new(&limits).remaining(4);
        assert_eq!(left.nodes, Some(6));
        assert!(left.time.unwrap() <= Duration::from_mins(1));
        assert_eq!(Stop::new(&limits).remaining(40).nodes, Some(0));
        let left = Stop::default().remaining(4);
        assert!(left.nodes.is_none() && left.time.is_none() && left.cancel.is_none());
    }
}
