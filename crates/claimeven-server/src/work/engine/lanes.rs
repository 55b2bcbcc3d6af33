//! The search threads and their priorities.

use std::sync::mpsc;
use std::thread;

use crate::work::priority::{self, Priority};

/// Which searches a thread serves; the fastest lane first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    Express,
    Common,
    Background,
    Idle,
}

impl Lane {
    pub(super) const ALL: [Lane; 4] = [Lane::Express, Lane::Common, Lane::Background, Lane::Idle];

    pub(super) fn name(self) -> &'static str {
        match self {
            Lane::Express => "express",
            Lane::Common => "common",
            Lane::Background => "background",
            Lane::Idle => "idle",
        }
    }

    fn priority(self) -> Priority {
        match self {
            Lane::Express => Priority::Normal,
            Lane::Common => Priority::Low,
            Lane::Background => Priority::Lowest,
            Lane::Idle => Priority::Idle,
        }
    }
}

type Work = Box<dyn FnOnce() + Send>;

/// A thread that runs one piece of work after another until this handle is dropped.
pub(super) struct SearchThread {
    lane: Lane,
    queue: mpsc::Sender<Work>,
}

impl SearchThread {
    pub(super) fn start(lane: Lane, number: usize) -> SearchThread {
        let (queue, incoming) = mpsc::channel::<Work>();
        let builder = thread::Builder::new().name(format!("{}-{number}", lane.name()));
        let spawned = builder.spawn(move || {
            priority::set(lane.priority());
            for work in incoming {
                work();
            }
        });
        spawned.expect("the system should be able to start a thread");
        SearchThread { lane, queue }
    }

    pub(super) fn lane(&self) -> Lane {
        self.lane
    }

    /// Starts work; returns whether the thread is still alive.
    pub(super) fn run(&self, work: Work) -> bool {
        self.queue.send(work).is_ok()
    }
}
