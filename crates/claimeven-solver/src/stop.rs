//! When a search is to end before it has its answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::solver::Limits;

/// The reasons to end a search that do not depend on its own nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop {
    deadline: Option<Instant>,
    cancel: Option<Arc<AtomicBool>>,
    /// Set by the member of a team who finds the answer first.
    answered: Option<Arc<AtomicBool>>,
}

impl Stop {
    pub(crate) fn new(limits: &Limits) -> Stop {
        let deadline = limits.time.and_then(|time| Instant::now().checked_add(time));
        Stop { deadline, cancel: limits.cancel.clone(), answered: None }
    }

    /// The same, and as soon as somebody has the answer.
    pub(crate) fn or_when(&self, answered: &Arc<AtomicBool>) -> Stop {
        Stop { answered: Some(Arc::clone(answered)), ..self.clone() }
    }

    pub(crate) fn is_requested(&self) -> bool {
        let is_set = |flag: &Arc<AtomicBool>| flag.load(Ordering::Relaxed);
        self.answered.as_ref().is_some_and(is_set)
            || self.cancel.as_ref().is_some_and(is_set)
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}
