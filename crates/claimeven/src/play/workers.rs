//! The threads that search while the screen stays responsive.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use claimeven_arena::{AgentSpec, Review, ReviewOptions};
use claimeven_coach::{Coach, English, TextLevel};
use claimeven_game::{Game, Player, Setup};
use claimeven_search::{Agent, Decision, Limits, SearchMonitor};
use claimeven_solver::Unsolvable;

use super::app::{ANALYSIS_TIME, App, Request, Slot, Task};
use super::look::Look;

/// Runs the searches that the state wants, and cancels those that it no longer wants.
pub(crate) struct Workers {
    running: [Option<Worker>; 4],
    /// The language of explanations, with the players' names on this screen.
    english: English,
    /// Agents are kept because some reuse their search tree.
    agents: HashMap<(usize, Setup, String), SharedAgent>,
}

type SharedAgent = Arc<Mutex<Option<Box<dyn Agent>>>>;

/// A running search. Dropping it cancels the search.
struct Worker {
    request: Request,
    start: Instant,
    cancel: Arc<AtomicBool>,
    monitor: Arc<SearchMonitor>,
    response: Receiver<Response>,
}

enum Response {
    Decision(Result<Decision, String>),
    Review(Review),
    Explanation(String),
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::Relaxed);
    }
}

impl Workers {
    pub(crate) fn new(look: Look) -> Workers {
        let names = Player::BOTH.map(|player| look.player_name(player).to_owned());
        Workers { running: Default::default(), english: English { names }, agents: HashMap::new() }
    }

    /// Whether a search is running.
    pub(crate) fn is_busy(&self) -> bool {
        self.running.iter().any(Option::is_some)
    }

    /// Reports results and progress to the state, and starts the searches that it wants next.
    pub(crate) fn update(&mut self, app: &mut App) {
        for (index, slot) in Slot::ALL.into_iter().enumerate() {
            // 1. Cancel a search that is no longer wanted.
            self.running[index].take_if(|worker| app.wants(slot).as_ref() != Some(&worker.request));

            // 2. Report the result, or the progress.
            if let Some(worker) = &self.running[index] {
                match worker.response.try_recv() {
                    Ok(response) => {
                        let request = worker.request.clone();
                        self.running[index] = None;
                        deliver(app, request, response);
                    }
                    Err(TryRecvError::Empty) if slot == Slot::Move => {
                        app.search_progress(worker.monitor.snapshot(), worker.start.elapsed());
                    }
                    Err(TryRecvError::Empty) => {}
                    Err(TryRecvError::Disconnected) => {
                        let request = worker.request.clone();
                        self.running[index] = None;
                        let failed = Response::Decision(Err("the player failed".to_owned()));
                        deliver(app, request, failed);
                    }
                }
            }

            // 3. Start the search that is wanted now.
            if self.running[index].is_none()
                && let Some(request) = app.wants(slot)
            {
                self.running[index] = Some(self.start(index, request, app.move_time()));
            }
        }
    }

    fn start(&mut self, index: usize, request: Request, move_time: Option<Duration>) -> Worker {
        let cancel = Arc::new(AtomicBool::new(false));
        let monitor = Arc::new(SearchMonitor::default());
        let (sender, response) = mpsc::channel();
        let limits = |time| Limits {
            time,
            cancel: Some(Arc::clone(&cancel)),
            monitor: Some(Arc::clone(&monitor)),
            ..Limits::default()
        };
        let game = request.game.clone();
        let work: Box<dyn FnOnce() -> Response + Send> = match &request.task {
            Task::Move(spec) | Task::Analysis(spec) => {
                let (agent, spec) = (self.agent(index, spec, &game), spec.clone());
                let is_move = matches!(request.task, Task::Move(_));
                let limits = limits(if is_move { move_time } else { Some(ANALYSIS_TIME) });
                Box::new(move || decide(&agent, &spec, &game, &limits))
            }
            Task::Review => {
                let options =
                    ReviewOptions { cancel: Some(Arc::clone(&cancel)), ..ReviewOptions::default() };
                Box::new(move || Response::Review(Review::of(&game, &options)))
            }
            Task::ExplainPosition | Task::ExplainMove => {
                let explain = match request.task {
                    Task::ExplainMove => explain_last_move,
                    _ => explain_position,
                };
                let english = self.english.clone();
                Box::new(move || {
                    let text = explain(&game, &english);
                    Response::Explanation(text.unwrap_or_else(|error| error.to_string()))
                })
            }
        };
        thread::spawn(move || {
            // A player that panics loses its game; the application keeps running.
            if let Ok(response) = catch_unwind(AssertUnwindSafe(work)) {
                // The search may have been cancelled.
                let _ = sender.send(response);
            }
        });
        Worker { request, start: Instant::now(), cancel, monitor, response }
    }

    fn agent(&mut self, index: usize, spec: &AgentSpec, game: &Game) -> SharedAgent {
        let key = (index, game.position().setup(), spec.to_string());
        Arc::clone(self.agents.entry(key).or_default())
    }
}

/// Lets an agent choose a move; it is built on first use.
fn decide(agent: &SharedAgent, spec: &AgentSpec, game: &Game, limits: &Limits) -> Response {
    // A cancelled search may still hold the lock.
    let mut agent = agent.lock().unwrap_or_else(PoisonError::into_inner);
    let mut decide = || {
        let position = game.position();
        let agent = match &mut *agent {
            Some(agent) => agent,
            none => none.insert(spec.build(position.setup(), 0)?),
        };
        agent.decide(position, limits)
    };
    Response::Decision(decide().map_err(|error| error.to_string()))
}

fn explain_position(game: &Game, english: &English) -> Result<String, Unsolvable> {
    let explanation = Coach::new().explain(game.position())?;
    Ok(english.explanation(&explanation, TextLevel::Player))
}

fn explain_last_move(game: &Game, english: &English) -> Result<String, Unsolvable> {
    let mut game = game.clone();
    let Some(column) = game.undo() else { return explain_position(&game, english) };
    let played = Coach::new().explain_move(game.position(), column)?;
    Ok(english.played(&played, TextLevel::Player))
}

fn deliver(app: &mut App, request: Request, response: Response) {
    match (request.task.clone(), response) {
        (_, Response::Explanation(text)) => app.explained(request, text),
        (Task::ExplainPosition | Task::ExplainMove, Response::Decision(decision)) => {
            app.explained(request, decision.err().unwrap_or_default());
        }
        (Task::Move(_), Response::Decision(decision)) => app.decided(decision),
        (Task::Analysis(spec), Response::Decision(decision)) => app.analyzed(spec, decision),
        (_, Response::Review(review)) => app.reviewed(review),
        (Task::Review, Response::Decision(decision)) => app.message = decision.err(),
    }
}
