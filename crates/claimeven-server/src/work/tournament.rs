//! Tournaments, played one turn at a time.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use claimeven_arena::{OpeningError, OpeningSearch, Plan, Tournament, TournamentResults};
use claimeven_zero::ModelStore;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::engine::{Engine, EngineError, Urgency};
use super::jobs::{JobContext, TurnEnd, lock};
use crate::client::Client;
use crate::config::Config;
use crate::store::{Job, Kind};

/// How long a tournament runs while another one is waiting.
const TURN: Duration = Duration::from_secs(20);

/// How often games and standings are stored.
const INTERVAL: Duration = Duration::from_millis(300);

/// A game in progress.
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

/// The chosen openings in a stored plan, so that they are chosen once.
pub(crate) const CHOSEN: &str = "chosen_openings";

/// The plan of a job, with its openings if they are chosen.
fn plan_of(job: &Job, models: &ModelStore) -> Result<Plan, String> {
    let mut document: Map<String, Value> =
        serde_json::from_str(&job.plan).map_err(|error| error.to_string())?;
    let chosen = document.remove(CHOSEN);
    document.extend(chosen.map(|chosen| ("openings".to_owned(), chosen)));
    let plan = Plan::from_json_with(&Value::Object(document).to_string(), models);
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

/// How long a choice of openings keeps a search thread, unless a single position takes longer.
const SLICE: Duration = Duration::from_secs(1);

/// Chooses the openings of a tournament and returns its plan with them, or why it has none. Balanced
/// ones can take minutes, so the choice takes turns with other work in the background lane of the
/// engine, where whoever has used least comes first.
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
            let (mut solver, began) = (OpeningSearch::solver(), Instant::now());
            while began.elapsed() < SLICE {
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
            // The address has other work in the queue.
            Err(EngineError::Busy) => tokio::time::sleep(SLICE).await,
            Err(EngineError::Cancelled) => return Err(TurnEnd::Cancelled),
            Err(EngineError::Unsuited(reason) | EngineError::Failed(reason)) => {
                return Err(TurnEnd::Failed(reason));
            }
        }
    }
}

/// Waits until another thread sets a flag.
async fn until_set(flag: &AtomicBool) {
    while !flag.load(Ordering::Relaxed) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Plays a tournament, whose openings are chosen, until it is done, cancelled, or another one is due.
pub(crate) fn perform(job: &Job, context: &JobContext) -> TurnEnd {
    let failed = |error: &dyn ToString| TurnEnd::Failed(error.to_string());
    let plan = match plan_of(job, &context.config.models()) {
        Ok(plan) => plan,
        Err(error) => return failed(&error),
    };
    let running = &context.running;
    let tournament = match Tournament::new(&plan) {
        Ok(tournament) => tournament,
        Err(error) => return failed(&error),
    };
    let stored = context.with_store(|store| {
        let id = job.id.clone();
        async move { store.job_games(&id, i64::MAX, u32::MAX).await }
    });
    let stored = match stored {
        Ok(stored) => stored,
        Err(error) => return TurnEnd::Failed(format!("{error:?}")),
    };
    let played = stored.iter().rev().filter_map(|text| serde_json::from_str(text).ok());

    let watch = |number: usize, fixture: claimeven_arena::Fixture, game: &claimeven_game::Game| {
        let name = |place: usize| plan.players()[place].name.clone();
        let board = BoardView {
            number: number + 1,
            players: fixture.players.map(name),
            first: fixture.first_player,
            moves: game.move_text(),
        };
        lock(&running.boards).insert(number, board);
    };
    let began = Instant::now();
    let mut stored = Instant::now();
    let mut yields = false;
    let mut broken = None;
    let unstored = RefCell::new(Vec::new());
    let store = |results: &TournamentResults| {
        let games = unstored.take();
        let report = serde_json::to_string(&results.report(&plan)).ok();
        context.with_store(|store| {
            let (id, done) = (job.id.clone(), results.games());
            async move { store.advance_job(&id, &games, done, report).await }
        })
    };
    let ended = tournament.resume(
        played,
        context.config.arena_threads.max(1),
        &running.cancel,
        watch,
        |record, results| {
            if let Ok(number) = record.id.parse::<usize>() {
                lock(&running.boards).remove(&(number - 1));
            }
            unstored.borrow_mut().push(record);
            if stored.elapsed() > INTERVAL {
                stored = Instant::now();
                if let Err(error) = store(results) {
                    broken = Some(format!("{error:?}"));
                    return ControlFlow::Break(());
                }
                if began.elapsed() > TURN {
                    let active = context.with_store(|store| async move {
                        store.active_jobs(Kind::Tournament).await
                    });
                    yields = active.is_ok_and(|active| active > 1);
                }
            }
            if yields { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        },
    );
    let results = match ended {
        Ok(results) => results,
        Err(error) => return failed(&error),
    };
    if let Some(error) = broken.or_else(|| store(&results).err().map(|error| format!("{error:?}")))
    {
        tracing::error!(error, "Failed to store a tournament");
        return TurnEnd::Failed("The games could not be stored".to_owned());
    }
    if results.games() >= plan.games() {
        TurnEnd::Done
    } else if yields {
        TurnEnd::Yielded
    } else {
        TurnEnd::Cancelled
    }
}
