//! The one door to thinking: a few threads, a queue for each urgency, and a refusal when it is full.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use claimeven_arena::AgentSpec;
use claimeven_game::Position;
use claimeven_search::{Agent, Decision, Limits};
use tokio::sync::oneshot;

/// Threads that think, and what waits for them.
pub(crate) struct Engine {
    shared: Arc<Shared>,
    threads: usize,
}

/// Whose thought comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Urgency {
    /// A person waits for the move.
    Person,
    /// What is done in a moment: it comes after people's moves and may use their thread, so that
    /// it is never stuck behind long thoughts.
    Brief,
    /// Games without a person, hints, and all that takes long.
    Other,
}

/// A move to be found.
pub(crate) struct Question {
    pub(crate) spec: AgentSpec,
    pub(crate) seed: u64,
    pub(crate) position: Position,
    pub(crate) limits: Limits,
    /// The game and the player, for agents that remember.
    pub(crate) seat: Option<(String, usize)>,
}

/// Why there is no move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EngineError {
    /// Too many thoughts wait already.
    Busy,
    /// Nobody waits for it any more.
    Cancelled,
    /// The agent cannot play that game.
    Unsuited(String),
    /// The agent broke.
    Failed(String),
}

type Work = Box<dyn FnOnce(&Shared, &Arc<AtomicBool>) + Send>;

/// Something to do on a thread that thinks, with the flag that ends it.
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
    /// Starts the threads. If there are two or more, one of them is for people alone.
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

    /// Asks for a move. Whoever stops waiting for it ends the search.
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

    /// Does other work on a thinking thread. It must end soon after its flag is set, which
    /// whoever stops waiting for it does.
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
                // What was found in a hurry is not what was asked for.
                Ok(_) if cancel.load(Ordering::Relaxed) => Err(EngineError::Cancelled),
                Ok(result) => Ok(result),
                Err(_) => Err(EngineError::Failed(format!("{name} broke"))),
            };
            // Whoever has gone meanwhile needs no answer.
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
        // Threads that wait do not wait for the same: all have a look.
        self.shared.work.notify_all();
        let _gone = CancelOnDrop(cancel);
        answered.await.unwrap_or(Err(EngineError::Cancelled))
    }

    /// How many threads think.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Whether a thought could wait.
    pub(crate) fn has_room(&self, urgency: Urgency) -> bool {
        self.shared.lock().has_room(urgency)
    }

    /// Thoughts that wait, those of people first, and those under way.
    pub(crate) fn load(&self) -> (usize, usize, usize) {
        let queues = self.shared.lock();
        (queues.people.len(), queues.brief.len() + queues.others.len(), queues.thinking)
    }

    /// Forgets the agents of a game that is over.
    pub(crate) fn forget(&self, game: &str) {
        self.shared.agents.lock().retain(|(seat, _)| seat.game != game);
    }

    /// Ends all searches and takes no more.
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

    /// A thread's life.
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

/// Agents between their moves, the latest last. What they remember only makes them faster, so the
/// oldest can go at any time.
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
