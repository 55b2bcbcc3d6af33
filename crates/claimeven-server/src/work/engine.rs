//! The engine: search threads that are shared fairly.
//!
//! A search cannot be interrupted for another one, so fairness depends on which search starts
//! where. Three lanes of threads take their searches from one queue:
//!
//! * the **express** lane, with normal priority, serves clients that have used little recently, one
//!   search per address at a time, so that one address can never occupy all of its threads;
//! * the **common** lane, with lower priority, serves everyone;
//! * the **background** lane, with the lowest priority, serves the lab and reviews in advance.
//!
//! In each lane, the next search is that of the client that has used least recently.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use claimeven_arena::AgentSpec;
use claimeven_game::Position;
use claimeven_search::{Agent, Decision, Limits};
use tokio::sync::oneshot;

use super::usage::Usage;
use crate::client::Client;
use crate::config::Config;

/// A pool of search threads and their queue.
pub(crate) struct Engine {
    shared: Arc<Shared>,
}

/// The purpose of a search. Among the searches of one client, the more urgent one comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Urgency {
    /// A person is waiting for the move.
    Person,
    /// A short search.
    Brief,
    /// Games between agents, hints and other long searches.
    Other,
    /// The lab, and work that nobody waits for.
    Background,
}

/// A position to search.
pub(crate) struct Question {
    pub(crate) spec: AgentSpec,
    pub(crate) seed: u64,
    pub(crate) position: Position,
    pub(crate) limits: Limits,
    /// The game and the player, for agents that keep a tree or a table between moves.
    pub(crate) seat: Option<(String, usize)>,
}

/// Why a search has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EngineError {
    /// The client has too many searches in the queue.
    Busy,
    /// It was cancelled.
    Cancelled,
    /// The agent does not support the board or the rules.
    Unsuited(String),
    /// The agent panicked.
    Failed(String),
}

type Work = Box<dyn FnOnce(&Shared) + Send>;

/// A search in the queue.
struct Task {
    client: Client,
    urgency: Urgency,
    cancel: Arc<AtomicBool>,
    work: Work,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lane {
    Express,
    Common,
    Background,
}

/// A search in progress.
struct Running {
    number: u64,
    client: Client,
    cancel: Arc<AtomicBool>,
    lane: Lane,
    since: Instant,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    agents: KeptAgents,
    queue_people: usize,
    queue_others: usize,
    background_threads: usize,
}

#[derive(Default)]
struct State {
    /// In order of arrival.
    queue: Vec<Task>,
    running: Vec<Running>,
    usage: Usage,
    started: u64,
    closed: bool,
}

impl Engine {
    /// Starts the threads.
    pub(crate) fn new(config: &Config) -> Engine {
        let threads = config.engine_threads();
        // At least two, so that one address cannot occupy all of them.
        let express = threads.max(2);
        let background_threads = config.lab_searches.max(1);
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
            agents: KeptAgents::new(config),
            queue_people: config.queue_people,
            queue_others: config.queue_others,
            background_threads,
        });
        let lanes = [
            (Lane::Express, "express", express),
            (Lane::Common, "common", threads),
            (Lane::Background, "background", background_threads),
        ];
        for (lane, name, count) in lanes {
            for number in 0..count {
                let shared = Arc::clone(&shared);
                let builder = thread::Builder::new().name(format!("{name}-{number}"));
                let spawned = builder.spawn(move || shared.work(lane));
                spawned.expect("the system has a thread left");
            }
        }
        Engine { shared }
    }

    /// Searches for a move. Dropping the future cancels the search.
    pub(crate) async fn decide(
        &self,
        client: &Client,
        urgency: Urgency,
        mut question: Question,
    ) -> Result<Decision, EngineError> {
        let cancel = question.limits.cancel.get_or_insert_default().clone();
        let name = format!("{} on {:?}", question.spec, question.position);
        let decide = move |shared: &Shared, _: &Arc<AtomicBool>| shared.decide(question);
        self.queue(client, urgency, cancel, name, decide).await?
    }

    /// Runs other work on a search thread. Dropping the future sets the flag, after which the work must
    /// end soon.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        client: &Client,
        urgency: Urgency,
        name: String,
        work: impl FnOnce(&Arc<AtomicBool>) -> T + Send + 'static,
    ) -> Result<T, EngineError> {
        let cancel = Arc::default();
        self.queue(client, urgency, cancel, name, move |_, cancel| work(cancel)).await
    }

    async fn queue<T: Send + 'static>(
        &self,
        client: &Client,
        urgency: Urgency,
        cancel: Arc<AtomicBool>,
        name: String,
        work: impl FnOnce(&Shared, &Arc<AtomicBool>) -> T + Send + 'static,
    ) -> Result<T, EngineError> {
        let (answer, answered) = oneshot::channel();
        let gone = CancelOnDrop(Arc::clone(&cancel));
        let flag = Arc::clone(&cancel);
        let work = move |shared: &Shared| {
            if cancel.load(Ordering::Relaxed) || answer.is_closed() {
                return;
            }
            let result = match catch_unwind(AssertUnwindSafe(|| work(shared, &cancel))) {
                // A cancelled search has no valid result.
                Ok(_) if cancel.load(Ordering::Relaxed) => Err(EngineError::Cancelled),
                Ok(result) => Ok(result),
                Err(_) => Err(EngineError::Failed(format!("{name} broke"))),
            };
            // The caller may be gone.
            let _ = answer.send(result);
        };
        {
            let mut state = self.shared.lock();
            if state.closed {
                return Err(EngineError::Cancelled);
            }
            if !self.shared.has_room(&state, client, urgency) {
                return Err(EngineError::Busy);
            }
            let (client, work) = (client.clone(), Box::new(work));
            state.queue.push(Task { client, urgency, cancel: flag, work });
        }
        // The lanes serve different searches, so wake all of them.
        self.shared.changed.notify_all();
        let answer = answered.await.unwrap_or(Err(EngineError::Cancelled));
        drop(gone);
        answer
    }

    /// Whether the queue has room for a client.
    pub(crate) fn has_room(&self, client: &Client, urgency: Urgency) -> bool {
        self.shared.has_room(&self.shared.lock(), client, urgency)
    }

    /// Queued searches for people, other queued searches, and searches in progress.
    pub(crate) fn load(&self) -> (usize, usize, usize) {
        let state = self.shared.lock();
        let people = state.queue.iter().filter(|task| task.urgency == Urgency::Person).count();
        (people, state.queue.len() - people, state.running.len())
    }

    /// The memory of the agents between their moves, in bytes.
    pub(crate) fn kept_bytes(&self) -> usize {
        self.shared.agents.bytes()
    }

    /// Drops the agents of a finished game.
    pub(crate) fn forget(&self, game: &str) {
        self.shared.agents.forget(game);
    }

    /// Cancels all searches and accepts no more.
    pub(crate) fn close(&self) {
        let mut state = self.shared.lock();
        state.closed = true;
        state.queue.clear();
        for running in &state.running {
            running.cancel.store(true, Ordering::Relaxed);
        }
        drop(state);
        self.shared.changed.notify_all();
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.close();
    }
}

struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Lane {
    /// The `nice` value of its threads.
    fn niceness(self) -> i32 {
        match self {
            Lane::Express => 0,
            Lane::Common => 10,
            Lane::Background => 15,
        }
    }
}

impl State {
    /// How heavily a client has used the engine recently: first its address, then the visitor, who
    /// may share the address with others. Small amounts count as none, so that urgency decides.
    fn weight(&self, client: &Client, now: Instant) -> (u32, u32) {
        let running = |same: &dyn Fn(&Client) -> bool| -> Duration {
            let running = self.running.iter().filter(|running| same(&running.client));
            running.map(|running| now.saturating_duration_since(running.since)).sum()
        };
        let address = running(&|other| other.address == client.address);
        let visitor = running(&|other| other.visitor == client.visitor);
        // One class for each doubling of the allowance.
        let class = |recent: Duration| {
            let doublings = (recent.as_millis() / ALLOWANCE.as_millis()).checked_ilog2();
            doublings.map_or(0, |doublings| doublings + 1)
        };
        (
            class(self.usage.of_address(client.address, now) + address),
            class(self.usage.of_visitor(client.visitor.as_ref(), now) + visitor),
        )
    }

    /// How many searches of the client's address are running in a lane.
    fn running_in(&self, lane: Lane, client: &Client) -> usize {
        let running = self.running.iter().filter(|running| running.lane == lane);
        running.filter(|running| running.client.address == client.address).count()
    }
}

/// How much a client may have used recently to be served by the express lane.
const ALLOWANCE: Duration = Duration::from_secs(1);

/// A client this many classes below the heaviest is served by the express lane, too.
const LIGHTER: u32 = 2;

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether an address may queue another search; one visitor may use half of its places.
    fn has_room(&self, state: &State, client: &Client, urgency: Urgency) -> bool {
        let is_person = urgency == Urgency::Person;
        let most = if is_person { self.queue_people } else { self.queue_others };
        let queued = state.queue.iter().filter(|task| {
            (task.urgency == Urgency::Person) == is_person && task.client.address == client.address
        });
        let (mut address, mut visitor) = (0, 0);
        for task in queued {
            address += 1;
            visitor += usize::from(task.client.visitor == client.visitor);
        }
        most == 0 || address < most && visitor < most.div_ceil(2)
    }

    /// The index in the queue of the next search for a lane.
    fn next(&self, state: &State, lane: Lane) -> Option<usize> {
        let now = Instant::now();
        let weigh = |(place, task): (usize, &Task)| (state.weight(&task.client, now), place);
        let weights: Vec<((u32, u32), usize)> = state.queue.iter().enumerate().map(weigh).collect();
        let running = state.running.iter().map(|running| state.weight(&running.client, now).0);
        let queued = weights.iter().map(|&((address, _), _)| address);
        let heaviest = running.chain(queued).max().unwrap_or(0);
        let is_light = |weight: u32| weight == 0 || weight + LIGHTER <= heaviest;
        let may_run = |&((address, _), place): &((u32, u32), usize)| {
            let task = &state.queue[place];
            let is_background = task.urgency == Urgency::Background;
            match lane {
                Lane::Express => {
                    !is_background && is_light(address) && state.running_in(lane, &task.client) == 0
                }
                Lane::Common => !is_background,
                Lane::Background => {
                    let most = (self.background_threads - 1).max(1);
                    is_background && state.running_in(lane, &task.client) < most
                }
            }
        };
        let order =
            |&(weight, place): &((u32, u32), usize)| (weight, state.queue[place].urgency, place);
        weights.into_iter().filter(may_run).min_by_key(order).map(|(_, place)| place)
    }

    /// The loop of a search thread.
    fn work(&self, lane: Lane) {
        lower_priority(lane.niceness());
        let mut state = self.lock();
        while !state.closed {
            let Some(place) = self.next(&state, lane) else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let Task { client, cancel, work, .. } = state.queue.remove(place);
            state.started += 1;
            let number = state.started;
            state.running.push(Running { number, client, cancel, lane, since: Instant::now() });
            drop(state);
            work(self);
            state = self.lock();
            let place = state.running.iter().position(|running| running.number == number);
            let Running { client, since, .. } =
                state.running.swap_remove(place.expect("this thread has added it"));
            state.usage.add(&client, since.elapsed(), Instant::now());
            // The address may use this lane again.
            self.changed.notify_all();
        }
    }

    fn decide(&self, question: Question) -> Result<Decision, EngineError> {
        let Question { spec, seed, position, limits, seat } = question;
        let limits = Limits { memory: self.agents.most_each, ..limits };
        let seat = seat.map(|(game, player)| SeatKey { game, player, spec: spec.to_string() });
        let kept = seat.as_ref().and_then(|seat| self.agents.take(seat));
        let searching = self.agents.begin();
        let mut agent = match kept {
            Some(agent) => agent,
            None => spec
                .build(position.setup(), seed)
                .map_err(|error| EngineError::Unsuited(error.to_string()))?,
        };
        let decision = agent.decide(&position, &limits);
        drop(searching);
        if let Some(seat) = seat {
            self.agents.keep(seat, agent);
        }
        decision.map_err(|error| EngineError::Unsuited(error.to_string()))
    }
}

/// Lowers the priority of this thread, which the threads it starts inherit.
pub(crate) fn lower_priority(niceness: i32) {
    // On other systems the priority applies to the whole process.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, niceness);
}

/// The memory of all agents. Each searching agent may use `most_each`; the rest is for agents
/// between their moves, whose memory only makes them faster. The least recently used ones are
/// dropped first.
struct KeptAgents {
    kept: Mutex<Kept>,
    /// The memory limit of all agents, in bytes.
    most: usize,
    /// The memory limit of one agent; `None` for no limit.
    most_each: Option<usize>,
}

#[derive(Default)]
struct Kept {
    /// The most recent last.
    agents: Vec<(SeatKey, Box<dyn Agent>)>,
    searching: usize,
}

#[derive(PartialEq, Eq)]
struct SeatKey {
    game: String,
    player: usize,
    spec: String,
}

impl KeptAgents {
    fn new(config: &Config) -> KeptAgents {
        let most = config.memory().unwrap_or(usize::MAX);
        KeptAgents { kept: Mutex::default(), most, most_each: config.agent_memory() }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes room for an agent that starts to search.
    fn begin(&self) -> Searching<'_> {
        let mut kept = self.lock();
        kept.searching += 1;
        self.shrink(&mut kept);
        Searching(self)
    }

    fn take(&self, seat: &SeatKey) -> Option<Box<dyn Agent>> {
        let mut kept = self.lock();
        let place = kept.agents.iter().position(|(key, _)| key == seat)?;
        Some(kept.agents.remove(place).1)
    }

    fn keep(&self, seat: SeatKey, agent: Box<dyn Agent>) {
        let mut kept = self.lock();
        kept.agents.push((seat, agent));
        self.shrink(&mut kept);
    }

    fn shrink(&self, kept: &mut Kept) {
        let in_use = self.most_each.unwrap_or_default().saturating_mul(kept.searching);
        let most = self.most.saturating_sub(in_use);
        let mut bytes: usize = kept.agents.iter().map(held).sum();
        let surplus = kept.agents.iter().take_while(|agent| {
            let exceeds = bytes > most;
            bytes -= held(agent);
            exceeds
        });
        let surplus = surplus.count();
        kept.agents.drain(..surplus);
    }

    fn forget(&self, game: &str) {
        self.lock().agents.retain(|(seat, _)| seat.game != game);
    }

    fn bytes(&self) -> usize {
        self.lock().agents.iter().map(held).sum()
    }
}

/// A search in progress, until it is dropped.
struct Searching<'a>(&'a KeptAgents);

impl Drop for Searching<'_> {
    fn drop(&mut self) {
        self.0.lock().searching -= 1;
    }
}

/// The memory of an agent, including some overhead.
fn held((_, agent): &(SeatKey, Box<dyn Agent>)) -> usize {
    const OVERHEAD: usize = 1024;
    OVERHEAD + agent.memory()
}

#[cfg(test)]
mod tests;
