//! Tournaments, played one turn at a time.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use claimeven_arena::{OpeningError, Plan, Tournament, TournamentResults};
use claimeven_search::Limits;
use claimeven_zero::ModelStore;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::jobs::{JobContext, TurnEnd, lock};
use crate::store::{Job, Kind, StoreError};

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

/// The plan of a job, and whether an earlier turn has chosen its openings.
fn plan_of(job: &Job, models: &ModelStore) -> Result<(Plan, bool), String> {
    let mut document: Map<String, Value> =
        serde_json::from_str(&job.plan).map_err(|error| error.to_string())?;
    let chosen = document.remove(CHOSEN);
    let is_chosen = chosen.is_some();
    document.extend(chosen.map(|chosen| ("openings".to_owned(), chosen)));
    let plan = Plan::from_json_with(&Value::Object(document).to_string(), models);
    Ok((plan.map_err(|error| error.to_string())?, is_chosen))
}

fn keep_openings(job: &Job, context: &JobContext, openings: &[String]) -> Result<(), StoreError> {
    let mut document: Value = serde_json::from_str(&job.plan).unwrap_or_default();
    document[CHOSEN] = openings.into();
    let (id, plan, total) = (job.id.clone(), document.to_string(), job.total);
    context.with_store(|store| async move { store.replan_job(&id, plan, total).await })
}

/// Plays a tournament until it is done, cancelled, or another one is due.
pub(crate) fn perform(job: &Job, context: &JobContext) -> TurnEnd {
    let failed = |error: &dyn ToString| TurnEnd::Failed(error.to_string());
    let (plan, is_chosen) = match plan_of(job, &context.config.models()) {
        Ok(plan) => plan,
        Err(error) => return failed(&error),
    };
    let running = &context.running;
    let limits = Limits::default().with_cancel(Arc::clone(&running.cancel)).for_solver();
    let tournament = match Tournament::new_within(&plan, &limits) {
        Ok(tournament) => tournament,
        Err(OpeningError::Stopped) => return TurnEnd::Cancelled,
        Err(error) => return failed(&error),
    };
    if !is_chosen && let Err(error) = keep_openings(job, context, &tournament.opening_texts()) {
        return TurnEnd::Failed(format!("{error:?}"));
    }
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
