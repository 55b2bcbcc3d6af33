//! The agents between their moves.

use std::sync::{Mutex, MutexGuard, PoisonError};

use claimeven_search::Agent;

use crate::config::Config;

/// The memory of all agents: those that search may each hold `max_each`, and what that leaves is
/// for those between their moves, whose memory only makes them faster. The ones that have waited
/// longest are dropped first.
pub(super) struct KeptAgents {
    kept: Mutex<Kept>,
    /// What all agents may hold, in bytes.
    max: usize,
    /// What one of them may hold; `None` for no limit.
    max_each: Option<usize>,
}

#[derive(Default)]
struct Kept {
    /// The most recent last.
    agents: Vec<(SeatKey, Box<dyn Agent>)>,
    searching: usize,
}

/// Whose agent it is.
#[derive(PartialEq, Eq)]
pub(super) struct SeatKey {
    pub(super) game: String,
    pub(super) player: usize,
    pub(super) spec: String,
}

impl KeptAgents {
    pub(super) fn new(config: &Config) -> KeptAgents {
        let max = config.memory().unwrap_or(usize::MAX);
        KeptAgents { kept: Mutex::default(), max, max_each: config.agent_memory() }
    }

    /// What an agent that searches may hold, in bytes; `None` for no limit.
    pub(super) fn max_each(&self) -> Option<usize> {
        self.max_each
    }

    /// Makes room for an agent that searches; the one that was kept for the seat.
    pub(super) fn begin(&self, seat: Option<&SeatKey>) -> Option<Box<dyn Agent>> {
        let mut kept = self.lock();
        let place = seat.and_then(|seat| kept.agents.iter().position(|(key, _)| key == seat));
        let agent = place.map(|place| kept.agents.remove(place).1);
        kept.searching += 1;
        self.shrink(kept);
        agent
    }

    /// Keeps the agent of a search that has ended.
    pub(super) fn end(&self, agent: Option<(SeatKey, Box<dyn Agent>)>) {
        let mut kept = self.lock();
        kept.searching -= 1;
        kept.agents.extend(agent);
        self.shrink(kept);
    }

    /// Drops the agents of a game.
    pub(super) fn forget(&self, game: &str) {
        let forgotten = self.lock().agents.extract_if(.., |(seat, _)| seat.game == game).collect();
        discard(forgotten);
    }

    /// What all of them hold, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.lock().agents.iter().map(held).sum()
    }

    fn shrink(&self, mut kept: MutexGuard<'_, Kept>) {
        let in_use = self.max_each.unwrap_or_default().saturating_mul(kept.searching);
        let max = self.max.saturating_sub(in_use);
        let mut bytes: usize = kept.agents.iter().map(held).sum();
        let surplus = kept.agents.iter().take_while(|agent| {
            let exceeds = bytes > max;
            bytes -= held(agent);
            exceeds
        });
        let surplus = surplus.count();
        let surplus = kept.agents.drain(..surplus).collect();
        drop(kept);
        discard(surplus);
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Frees agents elsewhere: a large tree takes milliseconds, for which requests do not wait.
fn discard(agents: Vec<(SeatKey, Box<dyn Agent>)>) {
    if !agents.is_empty() {
        tokio::task::spawn_blocking(move || drop(agents));
    }
}

/// What an agent holds, with something for itself.
fn held((_, agent): &(SeatKey, Box<dyn Agent>)) -> usize {
    const OVERHEAD: usize = 1024;
    OVERHEAD + agent.memory()
}
