//! The threads that think while the screen goes on.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use claimeven_arena::{AgentSpec, Review, ReviewOptions};
use claimeven_game::{Game, Setup};
use claimeven_search::{Agent, Decision, Limits, Thoughts};

use super::app::{App, Job, Slot, TRUTH_TIME, Task};

/// Makes the threads do what the state asks for: what it does not want any more is cancelled, what
/// it wants is begun.
#[derive(Default)]
pub(crate) struct Crew {
    workers: [Option<Worker>; 3],
    /// Players remember earlier moves of their game, so they are kept.
    agents: HashMap<(usize, Setup, String), SharedAgent>,
}

type SharedAgent = Arc<Mutex<Option<Box<dyn Agent>>>>;

/// A thread with something to think about. Who drops it does not want the answer any more.
struct Worker {
    job: Job,
    began: Instant,
    cancel: Arc<AtomicBool>,
    thoughts: Arc<Thoughts>,
    answer: Receiver<Answer>,
}

enum Answer {
    Decision(Result<Decision, String>),
    Review(Review),
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::Relaxed);
    }
}

impl Crew {
    /// Whether anybody thinks.
    pub(crate) fn is_busy(&self) -> bool {
        self.workers.iter().any(Option::is_some)
    }

    /// Tells the state what has been found, and begins what it wants next.
    pub(crate) fn serve(&mut self, app: &mut App) {
        for (index, slot) in Slot::ALL.into_iter().enumerate() {
            // 1. Nobody waits for an answer to an old question.
            self.workers[index].take_if(|worker| app.wants(slot).as_ref() != Some(&worker.job));

            // 2. What is found is told, while it is being found as well.
            if let Some(worker) = &self.workers[index] {
                match worker.answer.try_recv() {
                    Ok(answer) => {
                        let task = worker.job.task.clone();
                        self.workers[index] = None;
                        tell(app, task, answer);
                    }
                    Err(TryRecvError::Empty) if slot == Slot::Move => {
                        app.thought(worker.thoughts.now(), worker.began.elapsed());
                    }
                    Err(TryRecvError::Empty) => {}
                    Err(TryRecvError::Disconnected) => {
                        let task = worker.job.task.clone();
                        self.workers[index] = None;
                        tell(app, task, Answer::Decision(Err("the player has failed".to_owned())));
                    }
                }
            }

            // 3. What is wanted now is begun.
            if self.workers[index].is_none()
                && let Some(job) = app.wants(slot)
            {
                self.workers[index] = Some(self.begin(index, job, app.move_time()));
            }
        }
    }

    fn begin(&mut self, index: usize, job: Job, move_time: Option<Duration>) -> Worker {
        let cancel = Arc::new(AtomicBool::new(false));
        let thoughts = Arc::new(Thoughts::default());
        let (sender, answer) = mpsc::channel();
        let limits = |time| Limits {
            time,
            cancel: Some(Arc::clone(&cancel)),
            thoughts: Some(Arc::clone(&thoughts)),
            ..Limits::default()
        };
        let game = job.game.clone();
        let work: Box<dyn FnOnce() -> Answer + Send> = match &job.task {
            Task::Move(spec) | Task::Opinion(spec) => {
                let (agent, spec) = (self.agent(index, spec, &game), spec.clone());
                let is_move = matches!(job.task, Task::Move(_));
                let limits = limits(if is_move { move_time } else { Some(TRUTH_TIME) });
                Box::new(move || decide(&agent, &spec, &game, &limits))
            }
            Task::Review => {
                let options =
                    ReviewOptions { cancel: Some(Arc::clone(&cancel)), ..ReviewOptions::default() };
                Box::new(move || Answer::Review(Review::of(&game, &options)))
            }
        };
        thread::spawn(move || {
            // A player that panics loses its game and does not take the screen with it.
            if let Ok(answer) = catch_unwind(AssertUnwindSafe(work)) {
                // Nobody listens if the question is an old one.
                let _ = sender.send(answer);
            }
        });
        Worker { job, began: Instant::now(), cancel, thoughts, answer }
    }

    fn agent(&mut self, index: usize, spec: &AgentSpec, game: &Game) -> SharedAgent {
        let key = (index, game.position().setup(), spec.to_string());
        Arc::clone(self.agents.entry(key).or_default())
    }
}

/// Lets a player decide; it is made when it is needed first.
fn decide(agent: &SharedAgent, spec: &AgentSpec, game: &Game, limits: &Limits) -> Answer {
    // The thread before may still be on its way out.
    let mut agent = agent.lock().unwrap_or_else(PoisonError::into_inner);
    let mut decide = || {
        let position = game.position();
        let agent = match &mut *agent {
            Some(agent) => agent,
            none => none.insert(spec.build(position.setup(), 0)?),
        };
        agent.decide(position, limits)
    };
    Answer::Decision(decide().map_err(|error| error.to_string()))
}

fn tell(app: &mut App, task: Task, answer: Answer) {
    match (task, answer) {
        (Task::Move(_), Answer::Decision(decision)) => app.decided(decision),
        (Task::Opinion(spec), Answer::Decision(decision)) => app.advised(spec, decision),
        (_, Answer::Review(review)) => app.reviewed(review),
        (Task::Review, Answer::Decision(decision)) => app.message = decision.err(),
    }
}
