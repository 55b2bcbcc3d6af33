//! The engine: search threads that are shared fairly.
//!
//! A search cannot be interrupted for another one, so fairness depends on which search starts
//! where. Four lanes of threads take their searches from one queue:
//!
//! * the **express** lane, with normal priority, serves clients that have used little recently, one
//!   search per address at a time, so that one address can never occupy all of its threads; one of
//!   its threads serves only brief searches, so that many addresses cannot occupy all of them for long;
//! * the **common** lane, with lower priority, serves everyone;
//! * the **background** lane, with the lowest priority, serves the lab;
//! * the **idle** lane, with the scheduler's idle policy, prepares reviews in advance.
//!
//! In each lane the next search is that of the client that has used the least recently.
//!
//! Search threads take no lock that others wait for: a thread of low priority could hold it for a long
//! time without running. Searches are handed to idle threads by the threads that serve requests,
//! whenever a search is queued or ends.

mod kept_agents;
mod lanes;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use claimeven_arena::AgentSpec;
use claimeven_game::Position;
use claimeven_search::{Agent, Decision, Limits};
use tokio::sync::oneshot;

use super::usage::Usage;
use crate::agents;
use crate::client::Client;
use crate::config::Config;
use crate::metrics::Metrics;
use kept_agents::{KeptAgent, KeptAgents, SeatKey, Surplus};
use lanes::{Lane, SearchThread};

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
    /// The lab.
    Background,
    /// Work that nobody waits for.
    Idle,
}

/// A position to search.
pub(crate) struct SearchRequest {
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
    Cancelled,
    /// The agent does not support the board or the rules.
    Unsupported(String),
    /// The agent panicked.
    Failed(String),
}

/// A search in the queue.
struct QueuedSearch {
    number: u64,
    client: Client,
    urgency: Urgency,
    /// Whether it takes about a second at most.
    is_brief: bool,
    cancel: Arc<AtomicBool>,
    since: Instant,
    grant: oneshot::Sender<GrantedThread>,
}

/// A search in progress.
struct RunningSearch {
    number: u64,
    client: Client,
    is_brief: bool,
    cancel: Arc<AtomicBool>,
    lane: Lane,
    since: Instant,
}

struct Shared {
    /// Locked by threads of normal priority only, like `agents`.
    state: Mutex<State>,
    agents: KeptAgents,
    metrics: Arc<Metrics>,
    queue_people: usize,
    queue_others: usize,
    background_threads: usize,
    express_threads: usize,
}

#[derive(Default)]
struct State {
    /// In order of arrival.
    queue: Vec<QueuedSearch>,
    running: Vec<RunningSearch>,
    idle: Vec<SearchThread>,
    usage: Usage,
    /// How many searches have ever been queued.
    count: u64,
    closed: bool,
}

impl Engine {
    /// Starts the threads.
    pub(crate) fn new(config: &Config, metrics: &Arc<Metrics>) -> Engine {
        let threads = config.engine_threads();
        let background_threads = config.background_threads();
        let lanes = [
            (Lane::Express, config.express_threads()),
            (Lane::Common, threads),
            (Lane::Background, background_threads),
            (Lane::Idle, 1),
        ];
        let threads = lanes.into_iter().flat_map(|(lane, count)| {
            (0..count).map(move |number| SearchThread::start(lane, number))
        });
        let state = State { idle: threads.collect(), ..State::default() };
        Engine {
            shared: Arc::new(Shared {
                state: Mutex::new(state),
                agents: KeptAgents::new(config),
                metrics: Arc::clone(metrics),
                queue_people: config.queue_people,
                queue_others: config.queue_others,
                background_threads,
                express_threads: config.express_threads(),
            }),
        }
    }

    /// Searches for a move. Dropping the future cancels the search.
    pub(crate) async fn decide(
        &self,
        client: &Client,
        urgency: Urgency,
        mut request: SearchRequest,
    ) -> Result<Decision, EngineError> {
        let name = format!("{} on {:?}", request.spec, request.position);
        let cancel = request.limits.cancel.get_or_insert_default().clone();
        let _cancel_on_drop = CancelOnDrop(Arc::clone(&cancel));
        request.limits.memory = self.shared.agents.max_each();
        let seat = request.seat.take().map(|(game, player)| {
            let spec = request.spec.to_string();
            SeatKey { game, player, spec }
        });
        let is_brief = agents::is_brief(&request.spec, request.position.setup());
        let thread = self.acquire_thread(client, urgency, is_brief, &cancel).await?;
        complete(async move {
            let (kept, surplus) = thread.shared.agents.begin(seat.as_ref());
            let work = move || {
                drop(surplus);
                search(request, kept)
            };
            let searched = thread.run(name, cancel, work).await;
            let (agent, decision) = match searched {
                Ok((agent, decision)) => (agent, decision),
                Err(error) => (None, Err(error)),
            };
            let kept = seat.zip(agent);
            let kept = kept.map(|(seat, (agent, bytes))| KeptAgent { seat, agent, bytes });
            thread.shared.agents.end(kept);
            decision
        })
        .await
    }

    /// Runs other work on a search thread. Dropping the future sets the flag passed to `work`, which must
    /// then end soon.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        client: &Client,
        urgency: Urgency,
        name: String,
        work: impl FnOnce(&Arc<AtomicBool>) -> T + Send + 'static,
    ) -> Result<T, EngineError> {
        let cancel = Arc::default();
        let _cancel_on_drop = CancelOnDrop(Arc::clone(&cancel));
        let is_brief = urgency == Urgency::Brief;
        let thread = self.acquire_thread(client, urgency, is_brief, &cancel).await?;
        let flag = Arc::clone(&cancel);
        complete(async move {
            // Reviews and lab searches may use as much memory as an agent; brief work uses little.
            let is_counted = !is_brief;
            let surplus = is_counted.then(|| thread.shared.agents.begin(None));
            let work = move || {
                drop(surplus);
                work(&flag)
            };
            let done = thread.run(name, cancel, work).await;
            if is_counted {
                thread.shared.agents.end(None);
            }
            done
        })
        .await
    }

    /// Waits in the queue for a thread.
    async fn acquire_thread(
        &self,
        client: &Client,
        urgency: Urgency,
        is_brief: bool,
        cancel: &Arc<AtomicBool>,
    ) -> Result<GrantedThread, EngineError> {
        let (grant, granted) = oneshot::channel();
        let _place = {
            let mut state = self.shared.lock();
            if state.closed {
                return Err(EngineError::Cancelled);
            }
            if !self.shared.has_room(&state, client, urgency) {
                return Err(EngineError::Busy);
            }
            state.count += 1;
            let (number, since) = (state.count, Instant::now());
            let (client, cancel) = (client.clone(), Arc::clone(cancel));
            state.queue.push(QueuedSearch {
                number,
                client,
                urgency,
                is_brief,
                cancel,
                since,
                grant,
            });
            self.shared.dispatch(&mut state);
            PlaceInQueue { shared: &self.shared, number }
        };
        granted.await.map_err(|_| EngineError::Cancelled)
    }

    /// Whether the queue has room for a client.
    pub(crate) fn has_room(&self, client: &Client, urgency: Urgency) -> bool {
        self.shared.has_room(&self.shared.lock(), client, urgency)
    }

    /// Queued searches for people, other queued searches, and searches in progress.
    pub(crate) fn load(&self) -> (usize, usize, usize) {
        let state = self.shared.lock();
        let people = state.queue.iter().filter(|queued| queued.urgency == Urgency::Person).count();
        (people, state.queue.len() - people, state.running.len())
    }

    /// Reserves memory for agents that search on other threads. The search must drop the surplus before
    /// it starts.
    pub(crate) fn reserve_agents(&self, agents: usize) -> (ReservedAgents, Surplus) {
        let surplus = self.shared.agents.reserve(agents);
        (ReservedAgents { shared: Arc::clone(&self.shared), agents }, surplus)
    }

    /// The largest transposition table that other work may use, in MiB.
    pub(crate) fn max_table_mb(&self) -> usize {
        self.shared.agents.max_each().map_or(usize::MAX, |bytes| (bytes >> 20).max(1))
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
        state.idle.clear();
        for running in &state.running {
            running.cancel.store(true, Ordering::Relaxed);
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.close();
    }
}

/// Memory reserved for agents, released on drop.
pub(crate) struct ReservedAgents {
    shared: Arc<Shared>,
    agents: usize,
}

impl Drop for ReservedAgents {
    fn drop(&mut self) {
        self.shared.agents.release(self.agents);
    }
}

struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The place of a waiting search; dropping it leaves the queue.
struct PlaceInQueue<'a> {
    shared: &'a Shared,
    number: u64,
}

impl Drop for PlaceInQueue<'_> {
    fn drop(&mut self) {
        self.shared.lock().queue.retain(|queued| queued.number != self.number);
    }
}

/// A thread that was granted to a search. Dropping it passes the thread to the next search.
struct GrantedThread {
    shared: Arc<Shared>,
    number: u64,
    /// `None` once it has been returned.
    thread: Option<SearchThread>,
}

impl GrantedThread {
    /// Runs work on the thread.
    async fn run<T: Send + 'static>(
        &self,
        name: String,
        cancel: Arc<AtomicBool>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, EngineError> {
        let (sender, receiver) = oneshot::channel();
        let work = move || {
            // The caller may have been dropped.
            let _ = sender.send(catch_unwind(AssertUnwindSafe(work)));
        };
        let thread = self.thread.as_ref().ok_or(EngineError::Cancelled)?;
        if cancel.load(Ordering::Relaxed) || !thread.run(Box::new(work)) {
            return Err(EngineError::Cancelled);
        }
        match receiver.await {
            // The result of a cancelled search is incomplete.
            _ if cancel.load(Ordering::Relaxed) => Err(EngineError::Cancelled),
            Ok(Ok(result)) => Ok(result),
            Ok(Err(_)) | Err(_) => Err(EngineError::Failed(format!("{name} panicked"))),
        }
    }
}

impl Drop for GrantedThread {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        let mut state = self.shared.lock();
        self.shared.return_thread(&mut state, self.number, thread);
        self.shared.dispatch(&mut state);
    }
}

/// Completes a search even if the caller is dropped: its thread is not free before that.
async fn complete<T: Send + 'static>(
    search: impl Future<Output = Result<T, EngineError>> + Send + 'static,
) -> Result<T, EngineError> {
    tokio::spawn(search).await.unwrap_or(Err(EngineError::Cancelled))
}

/// The agent of a search with its memory in bytes, so that it can be kept, and its decision.
type Searched = (Option<(Box<dyn Agent>, usize)>, Result<Decision, EngineError>);

fn search(request: SearchRequest, kept: Option<Box<dyn Agent>>) -> Searched {
    let SearchRequest { spec, seed, position, limits, .. } = request;
    let unsupported = |error: &dyn ToString| EngineError::Unsupported(error.to_string());
    let built = kept.map_or_else(|| spec.build(position.setup(), seed), Ok);
    let mut agent = match built {
        Ok(agent) => agent,
        Err(error) => return (None, Err(unsupported(&error))),
    };
    let decision = agent.decide(&position, &limits).map_err(|error| unsupported(&error));
    let bytes = kept_agents::memory_of(&*agent);
    (Some((agent, bytes)), decision)
}

impl State {
    /// How heavily a client has used the engine recently: by address, then by visitor, because several
    /// may share an address. Small amounts count as none, so that urgency decides.
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

/// How much engine time a client may have used recently to be served by the express lane.
const ALLOWANCE: Duration = Duration::from_secs(1);

/// A client this many classes below the heaviest is also served by the express lane.
const LIGHT_MARGIN: u32 = 2;

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether an address may queue another search; one visitor may use half of its places.
    fn has_room(&self, state: &State, client: &Client, urgency: Urgency) -> bool {
        let is_person = urgency == Urgency::Person;
        let max = if is_person { self.queue_people } else { self.queue_others };
        let queued = state.queue.iter().filter(|queued| {
            (queued.urgency == Urgency::Person) == is_person
                && queued.client.address == client.address
        });
        let (mut address, mut visitor) = (0, 0);
        for queued in queued {
            address += 1;
            visitor += usize::from(queued.client.visitor == client.visitor);
        }
        max == 0 || address < max && visitor < max.div_ceil(2)
    }

    /// Assigns idle threads to the next searches, the fastest lane first.
    fn dispatch(self: &Arc<Self>, state: &mut State) {
        for lane in Lane::ALL {
            while let Some(idle) = state.idle.iter().position(|thread| thread.lane() == lane) {
                let Some(index) = self.next(state, lane) else { break };
                let QueuedSearch { number, client, is_brief, cancel, since, grant, .. } =
                    state.queue.remove(index);
                self.metrics.waited(lane.name(), since.elapsed());
                let since = Instant::now();
                let running = RunningSearch { number, client, is_brief, cancel, lane, since };
                state.running.push(running);
                let thread = Some(state.idle.swap_remove(idle));
                let granted = GrantedThread { shared: Arc::clone(self), number, thread };
                // It fails if the caller is about to leave the queue.
                if let Err(mut refused) = grant.send(granted)
                    && let Some(thread) = refused.thread.take()
                {
                    self.return_thread(state, number, thread);
                }
            }
        }
    }

    /// Takes back the thread of a search.
    fn return_thread(&self, state: &mut State, number: u64, thread: SearchThread) {
        if let Some(index) = state.running.iter().position(|running| running.number == number) {
            let RunningSearch { client, lane, since, .. } = state.running.swap_remove(index);
            let now = Instant::now();
            self.metrics.searched(lane.name(), now.duration_since(since));
            state.usage.add(&client, now.duration_since(since), now);
        }
        if !state.closed {
            state.idle.push(thread);
        }
    }

    /// The index in the queue of the next search for a lane.
    fn next(&self, state: &State, lane: Lane) -> Option<usize> {
        let now = Instant::now();
        let weigh =
            |(index, queued): (usize, &QueuedSearch)| (state.weight(&queued.client, now), index);
        let weights: Vec<((u32, u32), usize)> = state.queue.iter().enumerate().map(weigh).collect();
        let running = state.running.iter().map(|running| state.weight(&running.client, now).0);
        let queued = weights.iter().map(|&((address, _), _)| address);
        let heaviest = running.chain(queued).max().unwrap_or(0);
        let is_long = |running: &&RunningSearch| running.lane == Lane::Express && !running.is_brief;
        let long = state.running.iter().filter(is_long).count();
        let is_light = |weight: u32| weight == 0 || weight + LIGHT_MARGIN <= heaviest;
        let may_run = |&((address, _), index): &((u32, u32), usize)| {
            let queued = &state.queue[index];
            let is_for_people = queued.urgency < Urgency::Background;
            match lane {
                Lane::Express => {
                    is_for_people
                        && is_light(address)
                        && (queued.is_brief || long < self.express_threads - 1)
                        && state.running_in(lane, &queued.client) == 0
                }
                Lane::Common => is_for_people,
                Lane::Background => {
                    let max = (self.background_threads - 1).max(1);
                    queued.urgency == Urgency::Background
                        && state.running_in(lane, &queued.client) < max
                }
                Lane::Idle => queued.urgency == Urgency::Idle,
            }
        };
        let order =
            |&(weight, index): &((u32, u32), usize)| (weight, state.queue[index].urgency, index);
        weights.into_iter().filter(may_run).min_by_key(order).map(|(_, index)| index)
    }
}

#[cfg(test)]
mod tests;
