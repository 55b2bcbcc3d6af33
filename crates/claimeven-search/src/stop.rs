//! The limits of one search, and its reports to a [`SearchMonitor`].

use std::sync::Arc;
use std::time::Duration;

use claimeven_game::Column;
use claimeven_solver::{Limits as SolverLimits, Stop as SolverStop, Stopped};

use crate::agent::{Limits, Value};
use crate::monitor::SearchMonitor;

/// The limits of a running search, and the monitor that receives its progress.
pub(crate) struct Stop {
    condition: SolverStop,
    max_nodes: u64,
    monitor: Option<Arc<SearchMonitor>>,
}

impl Stop {
    /// Starts the clock. `time` and `nodes` are the player's own limits.
    pub(crate) fn new(limits: &Limits, time: Option<Duration>, nodes: Option<u64>) -> Stop {
        if let Some(monitor) = &limits.monitor {
            monitor.reset();
        }
        let time = [limits.time, time].into_iter().flatten().min();
        let nodes = [limits.nodes, nodes].into_iter().flatten().min();
        let condition = SolverStop::new(&SolverLimits { time, nodes, ..limits.for_solver() });
        Stop { condition, max_nodes: nodes.unwrap_or(u64::MAX), monitor: limits.monitor.clone() }
    }

    /// Fails if a limit is reached at this number of nodes.
    #[inline]
    pub(crate) fn check(&mut self, nodes: u64) -> Result<(), Stopped> {
        if nodes.is_multiple_of(SolverStop::POLL_INTERVAL) {
            self.report_nodes(nodes);
        }
        self.condition.check(nodes)
    }

    /// Fails if a limit is reached. Reads the clock every time, for steps that take longer than a
    /// node of a depth-limited search.
    pub(crate) fn check_now(&self, nodes: u64) -> Result<(), Stopped> {
        if nodes >= self.max_nodes || self.condition.is_requested() { Err(Stopped) } else { Ok(()) }
    }

    /// What is left of the limits after this many nodes, for a search within this one.
    pub(crate) fn remaining(&self, nodes: u64) -> Limits {
        let SolverLimits { nodes, time, cancel } = self.condition.remaining(nodes);
        Limits { nodes, time, cancel, ..Limits::default() }
    }

    #[cold]
    fn report_nodes(&self, nodes: u64) {
        if let Some(monitor) = &self.monitor {
            monitor.set_nodes(nodes);
        }
    }

    /// Reports the result at this number of nodes.
    pub(crate) fn report(&self, nodes: u64, depth: u32, value: Value, pv: &[Column]) {
        if let Some(monitor) = &self.monitor {
            monitor.set_nodes(nodes);
            monitor.set_depth(depth);
            monitor.set_best(value, pv);
        }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.condition.elapsed()
    }
}
