//! The engine: a fixed pool of search threads with a bounded queue for each urgency.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use claimeven_arena::AgentSpec;
use claimeven_game::Position;
use claimeven_search::{Agent, Decision, Limits};
use tokio::sync::oneshot;

/// A pool of search threads and their queues.
pub(crate) struct Engine {
    shared: Arc<Shared>,
    threads: usize,
}

/// The priority of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Urgency {
    /// A person is waiting for the move.
    Person,
    /// Short work: after people's moves, but also on their reserved thread, so that it never waits for
    /// long searches.
    Brief,
    /// Games between agents, hints and everything that takes long.
    Other,
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
    /// The queue is full.
    Busy,
    /// It was cancelled.
    Cancelled,
    /// The agent does not support the board or the rules.
    Unsuited(String),
    /// The agent panicked.
    Failed(String),
}

type Work = Box<dyn FnOnce(&Shared, &Arc<AtomicBool>) + Send>;

/// Work for a search thread, with the flag that cancels it.
struct Task {
    work: Work,
    cancel: Arc<AtomicBool>,
}

struct Shared {
    queues: Mutex<Queues>,
    work: Condvar,
    agents: Agents,
}

#[derive(Default)]
struct Queues {
    people: VecDeque<Task>,
    brief: VecDeque<Task>,
    others: VecDeque<Task>,
    most_people: usize,
    most_others: usize,
    thinking: usize,
    closed: bool,
}

impl Engine {
    /// Starts the threads. With two or more, one of them is reserved for people.
    pub(crate) fn new(threads: usize, people: usize, others: usize, agents: usize) -> Engine {
        let queues = Queues { most_people: people, most_others: others, ..Queues::default() };
        let shared = Arc::new(Shared {
            queues: Mutex::new(queues),
            work: Condvar::new(),
            agents: Agents { kept: Mutex::default(), most: agents },
        });
        for number in 0..threads.max(1) {
            let shared = Arc::clone(&shared);
            let people_only = number == 0 && threads > 1;
            let builder = thread::Builder::new().name(format!("thinker-{number}"));
            let spawned = builder.spawn(move || shared.work(people_only));
            spawned.expect("the system has a thread left");
        }
        Engine { shared, threads }
    }

    /// Searches for a move. Dropping the future cancels the search.
    pub(crate) async fn decide(
        &self,
        urgency: Urgency,
        mut question: Question,
    ) -> Result<Decision, EngineError> {
        let cancel = question.limits.cancel.get_or_insert_default().clone();
        let name = format!("{} on {:?}", question.spec, question.position);
        let decide = move |shared: &Shared, _: &Arc<AtomicBool>| shared.decide(&question);
        self.queue(urgency, cancel, name, decide).await?
    }

    /// Runs other work on a search thread. Dropping the future sets the flag, after which the work must
    /// end soon.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        urgency: Urgency,
        name: String,
        work: impl FnOnce(&Arc<AtomicBool>) -> T + Send + 'static,
    ) -> Result<T, EngineError> {
        let cancel = Arc::default();
        self.queue(urgency, cancel, name, move |_, cancel| work(cancel)).await
    }

    async fn queue<T: Send + 'static>(
        &self,
        urgency: Urgency,
        cancel: Arc<AtomicBool>,
        name: String,
        work: impl FnOnce(&Shared, &Arc<AtomicBool>) -> T + Send + 'static,
    ) -> Result<T, EngineError> {
        let (answer, answered) = oneshot::channel();
        let work = move |shared: &Shared, cancel: &Arc<AtomicBool>| {
            if cancel.load(Ordering::Relaxed) || answer.is_closed() {
                return;
            }
            let result = match catch_unwind(AssertUnwindSafe(|| work(shared, cancel))) {
                // The result of a cancelled search is not what was asked for.
                Ok(_) if cancel.load(Ordering::Relaxed) => Err(EngineError::Cancelled),
                Ok(result) => Ok(result),
                Err(_) => Err(EngineError::Failed(format!("{name} broke"))),
            };
            // The caller may be gone.
            let _ = answer.send(result);
        };
        {
            let mut queues = self.shared.lock();
            if queues.closed {
                return Err(EngineError::Cancelled);
            }
            if !queues.has_room(urgency) {
                return Err(EngineError::Busy);
            }
            let task = Task { work: Box::new(work), cancel: cancel.clone() };
            match urgency {
                Urgency::Person => queues.people.push_back(task),
                Urgency::Brief => queues.brief.push_back(task),
                Urgency::Other => queues.others.push_back(task),
            }
        }
        // The threads serve different queues: wake all of them.
        self.shared.work.notify_all();
        let _gone = CancelOnDrop(cancel);
        answered.await.unwrap_or(Err(EngineError::Cancelled))
    }

    /// The number of search threads.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Whether the queue has room.
    pub(crate) fn has_room(&self, urgency: Urgency) -> bool {
        self.shared.lock().has_room(urgency)
    }

    /// Queued searches for people, other queued searches, and searches in progress.
    pub(crate) fn load(&self) -> (usize, usize, usize) {
        let queues = self.shared.lock();
        (queues.people.len(), queues.brief.len() + queues.others.len(), queues.thinking)
    }

    /// Drops the agents of a finished game.
    pub(crate) fn forget(&self, game: &str) {
        self.shared.agents.lock().retain(|(seat, _)| seat.game != game);
    }

    /// Cancels all searches and accepts no more.
    pub(crate) fn close(&self) {
        let mut queues = self.shared.lock();
        queues.closed = true;
        queues.people.clear();
        queues.brief.clear();
        queues.others.clear();
        drop(queues);
        self.shared.work.notify_all();
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

impl Queues {
    fn has_room(&self, urgency: Urgency) -> bool {
        match urgency {
            Urgency::Person => self.people.len() < self.most_people,
            Urgency::Brief => self.brief.len() < self.most_others,
            Urgency::Other => self.others.len() < self.most_others,
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The loop of a search thread.
    fn work(&self, people_only: bool) {
        let mut queues = self.lock();
        while !queues.closed {
            let task = queues.people.pop_front().or_else(|| queues.brief.pop_front());
            let task = task.or_else(|| if people_only { None } else { queues.others.pop_front() });
            let Some(task) = task else {
                queues = self.work.wait(queues).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            queues.thinking += 1;
            drop(queues);
            (task.work)(self, &task.cancel);
            queues = self.lock();
            queues.thinking -= 1;
        }
    }

    fn decide(&self, question: &Question) -> Result<Decision, EngineError> {
        let Question { spec, seed, position, limits, seat } = question;
        let seat = seat.as_ref().map(|(game, player)| SeatKey {
            game: game.clone(),
            player: *player,
            spec: spec.to_string(),
        });
        let kept = seat.as_ref().and_then(|seat| self.agents.take(seat));
        let mut agent = match kept {
            Some(agent) => agent,
            None => spec
                .build(position.setup(), *seed)
                .map_err(|error| EngineError::Unsuited(error.to_string()))?,
        };
        let decision = agent.decide(position, limits);
        if let Some(seat) = seat {
            self.agents.keep(seat, agent);
        }
        decision.map_err(|error| EngineError::Unsuited(error.to_string()))
    }
}

/// Agents between their moves, the most recent last. Their memory only makes them faster, so the
/// oldest can be dropped at any time.
struct Agents {
    kept: Mutex<Vec<(SeatKey, Box<dyn Agent>)>>,
    most: usize,
}

#[derive(PartialEq, Eq)]
struct SeatKey {
    game: String,
    player: usize,
    spec: String,
}

impl Agents {
    fn lock(&self) -> MutexGuard<'_, Vec<(SeatKey, Box<dyn Agent>)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, seat: &SeatKey) -> Option<Box<dyn Agent>> {
        let mut kept = self.lock();
        let place = kept.iter().position(|(key, _)| key == seat)?;
        Some(kept.remove(place).1)
    }

    fn keep(&self, seat: SeatKey, agent: Box<dyn Agent>) {
        let mut kept = self.lock();
        kept.push((seat, agent));
        let surplus = kept.len().saturating_sub(self.most);
        kept.drain(..surplus);
    }
}
