//! The threads that search, and their priorities.

use std::sync::mpsc;
use std::thread;

use crate::work::priority::{self, Priority};

/// Which searches a thread serves; the quickest lane first.
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

/// A thread that does one piece of work after the other until this is dropped.
pub(super) struct SearchThread {
    lane: Lane,
    inbox: mpsc::Sender<Work>,
}

impl SearchThread {
    pub(super) fn start(lane: Lane, number: usize) -> SearchThread {
        let (inbox, works) = mpsc::channel::<Work>();
        let builder = thread::Builder::new().name(format!("{}-{number}", lane.name()));
        let spawned = builder.spawn(move || {
            priority::set(lane.priority());
            for work in works {
                work();
            }
        });
        spawned.expect("the system has a thread left");
        SearchThread { lane, inbox }
    }

    pub(super) fn lane(&self) -> Lane {
        self.lane
    }

    /// Begins work; whether the thread is there to do it.
    pub(super) fn run(&self, work: Work) -> bool {
        self.inbox.send(work).is_ok()
    }
}
