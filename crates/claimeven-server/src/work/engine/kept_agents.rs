//! Agents that keep their trees and tables between moves.

use std::sync::{Mutex, MutexGuard, PoisonError};

use claimeven_search::Agent;

use crate::config::Config;

/// The memory budget of all agents. Each searching agent may use `max_each`; the rest is for agents
/// between their moves, whose memory only makes them faster. Those that have waited longest are
/// dropped first.
pub(super) struct KeptAgents {
    kept: Mutex<Kept>,
    /// The limit for all agents, in bytes.
    max: usize,
    /// The limit for one agent, in bytes; `None` for no limit.
    max_each: Option<usize>,
}

#[derive(Default)]
struct Kept {
    /// The most recent last.
    agents: Vec<KeptAgent>,
    /// The memory of all of them.
    bytes: usize,
    searching: usize,
}

/// An agent between its moves.
pub(super) struct KeptAgent {
    pub(super) seat: SeatKey,
    pub(super) agent: Box<dyn Agent>,
    /// The memory it uses.
    pub(super) bytes: usize,
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

    /// The memory limit of a searching agent, in bytes; `None` for no limit.
    pub(super) fn max_each(&self) -> Option<usize> {
        self.max_each
    }

    /// Makes room for a searching agent; returns the one that was kept for the seat.
    pub(super) fn begin(&self, seat: Option<&SeatKey>) -> (Option<Box<dyn Agent>>, Surplus) {
        let mut kept = self.lock();
        let index = seat.and_then(|seat| kept.agents.iter().position(|agent| agent.seat == *seat));
        let agent = index.map(|index| {
            let KeptAgent { agent, bytes, .. } = kept.agents.remove(index);
            kept.bytes -= bytes;
            agent
        });
        kept.searching += 1;
        (agent, self.shrink(&mut kept))
    }

    /// Makes room for agents that search elsewhere.
    pub(super) fn reserve(&self, agents: usize) -> Surplus {
        let mut kept = self.lock();
        kept.searching += agents;
        self.shrink(&mut kept)
    }

    /// Ends a reservation.
    pub(super) fn release(&self, agents: usize) {
        self.lock().searching -= agents;
    }

    /// Keeps the agent of a search that has ended.
    pub(super) fn end(&self, agent: Option<KeptAgent>) {
        let mut kept = self.lock();
        kept.searching -= 1;
        kept.bytes += agent.as_ref().map_or(0, |agent| agent.bytes);
        kept.agents.extend(agent);
        let surplus = self.shrink(&mut kept);
        drop(kept);
        discard(surplus);
    }

    /// Drops the agents of a game.
    pub(super) fn forget(&self, game: &str) {
        let mut kept = self.lock();
        let of_game = |agent: &mut KeptAgent| agent.seat.game == game;
        let forgotten: Vec<KeptAgent> = kept.agents.extract_if(.., of_game).collect();
        kept.bytes -= forgotten.iter().map(|agent| agent.bytes).sum::<usize>();
        drop(kept);
        discard(Surplus(forgotten));
    }

    /// The memory of all kept agents, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.lock().bytes
    }

    /// Removes the agents that exceed the budget.
    fn shrink(&self, kept: &mut Kept) -> Surplus {
        let in_use = self.max_each.unwrap_or_default().saturating_mul(kept.searching);
        let max = self.max.saturating_sub(in_use);
        let mut surplus = 0;
        while kept.bytes > max && surplus < kept.agents.len() {
            kept.bytes -= kept.agents[surplus].bytes;
            surplus += 1;
        }
        Surplus(kept.agents.drain(..surplus).collect())
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Agents that are no longer kept. The search that they make room for drops them before it starts;
/// otherwise the memory of both would be in use for a moment.
#[must_use]
pub(crate) struct Surplus(Vec<KeptAgent>);

/// Frees agents on another thread: a large tree takes milliseconds, which would delay requests.
fn discard(surplus: Surplus) {
    if !surplus.0.is_empty() {
        tokio::task::spawn_blocking(move || drop(surplus));
    }
}

/// The memory of an agent in bytes, including a fixed overhead.
pub(super) fn memory_of(agent: &dyn Agent) -> usize {
    const OVERHEAD: usize = 1024;
    OVERHEAD + agent.memory()
}
