//! Tournaments, played one turn at a time.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use claimeven_arena::{
    Fixture, GameRecord, MatchError, OpeningError, OpeningSearch, Tournament, TournamentError,
    TournamentPlan, TournamentProgress, TournamentResults,
};
use claimeven_game::Game;
use claimeven_work::{Nats, WorkError};
use claimeven_zero::ModelStore;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::engine::{Engine, EngineError, Urgency};
use super::jobs::{JobContext, TurnEnd, lock};
use crate::client::Client;
use crate::config::Config;
use crate::monitor::WorkKind;
use crate::store::{Job, Kind};

/// How long a tournament runs while another one is waiting.
const TURN: Duration = Duration::from_secs(20);

/// How often games and standings are stored.
const INTERVAL: Duration = Duration::from_millis(300);

/// A game in progress, or one that workers have just played.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct BoardView {
    /// The number of the game, from 1.
    pub(crate) number: usize,
    /// The players' names.
    pub(crate) players: [String; 2],
    /// Which of them moved first.
    pub(crate) first: usize,
    pub(crate) moves: String,
}

/// The field of a stored plan with the chosen openings, so that they are chosen only once.
pub(crate) const CHOSEN: &str = "chosen_openings";

/// The plan of a job, with its openings if they are chosen.
fn plan_of(job: &Job, models: &ModelStore) -> Result<TournamentPlan, String> {
    let mut document: Map<String, Value> =
        serde_json::from_str(&job.plan).map_err(|error| error.to_string())?;
    let chosen = document.remove(CHOSEN);
    document.extend(chosen.map(|chosen| ("openings".to_owned(), chosen)));
    let plan = TournamentPlan::from_json_with(&Value::Object(document).to_string(), models);
    plan.map_err(|error| error.to_string())
}

/// The stored plan with its chosen openings.
fn with_openings(job: &Job, openings: &[String]) -> String {
    let mut document: Value = serde_json::from_str(&job.plan).unwrap_or_default();
    document[CHOSEN] = openings.into();
    document.to_string()
}

/// Whether a tournament has to choose its openings before it can be played.
pub(crate) fn needs_openings(job: &Job) -> bool {
    let document: Value = serde_json::from_str(&job.plan).unwrap_or_default();
    document.get(CHOSEN).is_none()
}

/// How long the choice of openings occupies a search thread, unless a single position takes longer.
const SLICE: Duration = Duration::from_secs(1);

/// Chooses the openings of a tournament and returns its plan with them, or why that failed. Balanced
/// openings can take minutes, so the search takes turns with other work in the engine's background
/// lane, where the client that has used the least recently comes first.
pub(crate) async fn choose_openings(
    job: &Job,
    client: &Client,
    engine: &Engine,
    config: &Arc<Config>,
    cancel: &Arc<AtomicBool>,
) -> Result<String, TurnEnd> {
    let search: Arc<Mutex<Option<OpeningSearch>>> = Arc::default();
    loop {
        let name = format!("the choice of openings of tournament {}", job.id);
        let (config, job, search) = (Arc::clone(config), job.clone(), Arc::clone(&search));
        let slice = engine.run(client, Urgency::Background, name, move |cancel| {
            let failed = |error: &dyn ToString| TurnEnd::Failed(error.to_string());
            let mut search = lock(&search);
            let search = match &mut *search {
                Some(search) => search,
                not_started => {
                    let plan = plan_of(&job, &config.models()).map_err(|error| failed(&error))?;
                    not_started.insert(plan.opening_search().map_err(|error| failed(&error))?)
                }
            };
            let (mut solver, started) = (OpeningSearch::solver(), Instant::now());
            while started.elapsed() < SLICE {
                match search.advance(&mut solver, cancel) {
                    Ok(true) => return Ok(Some(with_openings(&job, &search.texts()))),
                    Ok(false) => {}
                    Err(OpeningError::Stopped) => return Err(TurnEnd::Cancelled),
                    Err(error) => return Err(failed(&error)),
                }
            }
            Ok(None)
        });
        let slice = tokio::select! {
            slice = slice => slice,
            () = until_set(cancel) => return Err(TurnEnd::Cancelled),
        };
        match slice {
            Ok(Ok(Some(plan))) => return Ok(plan),
            Ok(Ok(None)) => {}
            Ok(Err(end)) => return Err(end),
            // The address has too much other work in the queue.
            Err(EngineError::Busy) => tokio::time::sleep(SLICE).await,
            Err(EngineError::Cancelled) => return Err(TurnEnd::Cancelled),
            Err(EngineError::Unsupported(reason) | EngineError::Failed(reason)) => {
                return Err(TurnEnd::Failed(reason));
            }
        }
    }
}

/// Waits until another thread sets a flag.
pub(crate) async fn until_set(flag: &AtomicBool) {
    while !flag.load(Ordering::Relaxed) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Plays a tournament whose openings are chosen until it is done or cancelled, or another one is due.
pub(crate) fn perform(job: &Job, context: &JobContext) -> TurnEnd {
    let failed = |error: &dyn ToString| TurnEnd::Failed(error.to_string());
    let plan = match plan_of(job, &context.config.models()) {
        Ok(plan) => plan,
        Err(error) => return failed(&error),
    };
    let tournament = match Tournament::new(&plan) {
        Ok(tournament) => tournament,
        Err(error) => return failed(&error),
    };
    let threads = context.config.arena_threads.max(1);
    let mut turn = Turn::new(job, context, &plan);
    let mut fleet = context.machines.fleet(WorkKind::Games, threads);
    loop {
        let ended = match &fleet {
            Some(fleet) => turn.play_on(fleet, &tournament),
            None => turn.play_here(&tournament, threads),
        };
        lock(&context.running.boards).clear();
        context.running.workers.store(0, Ordering::Relaxed);
        match ended {
            Ok(Some(results)) => return turn.end(&results),
            // The fleet cannot play it, or is no longer reachable.
            Ok(None) => (fleet, turn.is_refused) = (None, true),
            Err(error) => return error,
        }
    }
}

/// A turn of a tournament.
struct Turn<'a> {
    job: &'a Job,
    context: &'a JobContext,
    plan: &'a TournamentPlan,
    started: Instant,
    /// When games were last stored.
    stored: Instant,
    /// Games that are not stored yet.
    unstored: Vec<GameRecord>,
    /// The numbers of those that were stored in this turn.
    numbers: Vec<i64>,
    yields: bool,
    /// Whether the fleet could not play it.
    is_refused: bool,
    broken: Option<String>,
}

/// How many of the fleet's latest games are shown.
const MAX_SHOWN: usize = 4;

/// How long a tournament is played here before workers that have joined in the meantime take over.
const MIN_TIME_HERE: Duration = Duration::from_secs(5);

impl<'a> Turn<'a> {
    fn new(job: &'a Job, context: &'a JobContext, plan: &'a TournamentPlan) -> Turn<'a> {
        let now = Instant::now();
        Turn {
            job,
            context,
            plan,
            started: now,
            stored: now,
            unstored: Vec::new(),
            numbers: Vec::new(),
            yields: false,
            is_refused: false,
            broken: None,
        }
    }

    /// The stored games.
    fn played(&self) -> Result<Vec<GameRecord>, TurnEnd> {
        let stored = self.context.with_store(|store| {
            let id = self.job.id.clone();
            async move { store.job_games(&id, i64::MAX, u32::MAX).await }
        });
        let stored = stored.map_err(|error| TurnEnd::Interrupted(error.to_string()))?;
        Ok(stored.iter().rev().filter_map(|text| serde_json::from_str(text).ok()).collect())
    }

    /// Plays with the threads of this server.
    fn play_here(
        &mut self,
        tournament: &Tournament,
        threads: usize,
    ) -> Result<Option<TournamentResults>, TurnEnd> {
        let (played, running) = (self.played()?, &self.context.running);
        let (plan, boards) = (self.plan, &running.boards);
        let watch = |number: usize, fixture: Fixture, game: &Game| {
            let name = |index: usize| plan.players()[index].name.clone();
            let board = BoardView {
                number: number + 1,
                players: fixture.players.map(name),
                first: fixture.first_player,
                moves: game.move_text(),
            };
            lock(boards).insert(number, board);
        };
        let ended =
            tournament.resume(played, threads, &running.cancel, watch, |record, results| {
                if let Ok(number) = record.id.parse::<usize>() {
                    lock(boards).remove(&(number - 1));
                }
                let machines = &self.context.machines;
                self.yields |=
                    self.started.elapsed() > MIN_TIME_HERE && machines.workers(WorkKind::Games) > 0;
                self.take(record, results)
            });
        ended.map(Some).map_err(|error| TurnEnd::Failed(error.to_string()))
    }

    /// Plays on the workers of the fleet; `None` if the games have to be played on this server.
    fn play_on(
        &mut self,
        fleet: &Nats,
        tournament: &Tournament,
    ) -> Result<Option<TournamentResults>, TurnEnd> {
        let (played, running) = (self.played()?, &self.context.running);
        let at_start = (played.len() as u64, self.job.result.clone());
        // The id makes tournaments with the same players different jobs.
        let title = format!("tournament {}: {}", self.job.id, self.job.title);
        let machines = &self.context.machines;
        running.workers.store(machines.workers(WorkKind::Games), Ordering::Relaxed);
        let (ended, is_lost) = machines.run_watched(&running.cancel, |stop| {
            tournament.resume_on(fleet, &title, played, stop, |progress, results| {
                let workers = machines.workers(WorkKind::Games).max(1);
                running.workers.store(workers, Ordering::Relaxed);
                match progress {
                    TournamentProgress::Game(record) => {
                        self.show(&record);
                        self.take(*record, results)
                    }
                    TournamentProgress::Restart => self.retract(&at_start),
                }
            })
        });
        match ended {
            Ok(results) if is_lost && results.games() < self.plan.games() => {
                tracing::warn!(
                    job = self.job.id,
                    "NATS server unreachable: playing a tournament here"
                );
                self.store(&results).map_err(TurnEnd::Interrupted)?;
                Ok(None)
            }
            Ok(results) => Ok(Some(results)),
            Err(TournamentError::Game(MatchError::Work(
                error @ (WorkError::LocalOnly(_) | WorkError::Broker(_) | WorkError::Claimed(_)),
            ))) => {
                tracing::warn!(%error, job = self.job.id, "The fleet cannot play a tournament");
                Ok(None)
            }
            Err(error) => Err(TurnEnd::Failed(error.to_string())),
        }
    }

    /// Shows a game of the fleet, whose moves are known only after its end.
    fn show(&self, record: &GameRecord) {
        let Some(number) = record.id.parse::<usize>().ok().and_then(|id| id.checked_sub(1)) else {
            return;
        };
        let board = BoardView {
            number: number + 1,
            players: record.players.each_ref().map(|player| player.name.clone()),
            first: record.first_player,
            moves: record.move_text(),
        };
        let mut boards = lock(&self.context.running.boards);
        while boards.len() >= MAX_SHOWN {
            boards.pop_first();
        }
        boards.insert(number, board);
    }

    /// Keeps a game that has ended.
    fn take(&mut self, record: GameRecord, results: &TournamentResults) -> ControlFlow<()> {
        self.unstored.push(record);
        if self.stored.elapsed() > INTERVAL {
            self.stored = Instant::now();
            if let Err(error) = self.store(results) {
                self.broken = Some(error);
                return ControlFlow::Break(());
            }
            if self.started.elapsed() > TURN {
                let active = self
                    .context
                    .with_store(|store| async move { store.active_jobs(Kind::Tournament).await });
                self.yields |= active.is_ok_and(|active| active > 1);
            }
        }
        if self.yields { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Stores games and standings.
    fn store(&mut self, results: &TournamentResults) -> Result<(), String> {
        let games = std::mem::take(&mut self.unstored);
        self.numbers.extend(games.iter().filter_map(|game| game.id.parse::<i64>().ok()));
        let report = serde_json::to_string(&results.report(self.plan)).ok();
        let stored = self.context.with_store(|store| {
            let (id, done) = (self.job.id.clone(), results.games());
            async move { store.advance_job(&id, &games, done, report).await }
        });
        stored.map_err(|error| error.to_string())
    }

    /// Removes the games of this turn because a worker returned wrong results. Earlier games stay.
    fn retract(&mut self, (done, result): &(u64, Option<String>)) -> ControlFlow<()> {
        self.unstored.clear();
        lock(&self.context.running.boards).clear();
        let (games, done, result) = (std::mem::take(&mut self.numbers), *done, result.clone());
        let stored = self.context.with_store(|store| {
            let id = self.job.id.clone();
            async move { store.retract_games(&id, games, done, result).await }
        });
        match stored {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.broken = Some(error.to_string());
                ControlFlow::Break(())
            }
        }
    }

    fn end(mut self, results: &TournamentResults) -> TurnEnd {
        if let Some(error) = self.broken.take().or_else(|| self.store(results).err()) {
            return TurnEnd::Interrupted(error);
        }
        if results.games() >= self.plan.games() {
            TurnEnd::Done
        } else if self.yields {
            TurnEnd::Yielded
        } else {
            TurnEnd::Cancelled
        }
    }
}
