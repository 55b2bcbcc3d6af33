//! Training runs: networks that learn from games against themselves, begun and watched by visitors
//! where the server allows it.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use claimeven_game::Setup;
use claimeven_zero::{
    Architecture, Event, Metrics, Parameters, Resources, Run, RunError, kept_networks,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::config::Config;
use crate::error::{Error, ErrorView};
use crate::guard::Address;
use crate::jobs::{JobContext, TurnEnd, lock};
use crate::routes::{ApiResult, Body, Id, Query, SetupInput, title};
use crate::store::{Job, Kind, State as JobState, now_ms};
use crate::visitor::{Visitor, random_name};

pub(crate) fn api() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(create, list))
        .routes(routes!(show, delete))
        .routes(routes!(stop))
        .routes(routes!(resume))
        .routes(routes!(games))
}

/// What a run may begin with: a name, and what it is.
const PRESETS: [(&str, &str); 3] = [
    ("quick", "a small network that learns in iterations of seconds, to see how it goes"),
    ("10min", "a network that visibly learns within ten minutes of two cores"),
    ("1h", "a good network within an hour of two cores"),
];

/// Runs that a server keeps at most.
const MOST_RUNS: usize = 50;

/// A run to be begun.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RunInput {
    /// What people call it.
    #[serde(default)]
    title: String,
    /// `quick`, `10min` or `1h`.
    preset: String,
    /// How long it is to work, in minutes.
    minutes: f64,
    #[serde(default)]
    seed: u32,
    #[serde(default)]
    setup: SetupInput,
}

impl RunInput {
    fn parameters(&self) -> ApiResult<Parameters> {
        let setup = self.setup.setup()?;
        let mut parameters = match self.preset.as_str() {
            "quick" => quick(setup),
            name => Parameters::preset(name, setup)
                .filter(|_| PRESETS.iter().any(|(known, _)| *known == name))
                .ok_or_else(|| {
                    let names: Vec<&str> = PRESETS.iter().map(|(name, _)| *name).collect();
                    Error::Bad(format!("preset is one of {}, not '{name}'", names.join(", ")))
                })?,
        };
        // A seed of 0 is that of the preset.
        if self.seed > 0 {
            parameters.seed = self.seed.into();
        }
        parameters.check().map_err(|error| Error::Bad(error.to_string()))?;
        Ok(parameters)
    }
}

/// Iterations of some seconds.
fn quick(setup: Setup) -> Parameters {
    let mut parameters = Parameters::ten_minutes(setup);
    parameters.architecture = Architecture::new(setup, 2, 16);
    parameters.self_play.games = 100;
    parameters.self_play.full_simulations = 24;
    parameters.self_play.fast_simulations = 8;
    parameters.learning.window_start = 5_000;
    parameters.gate.every = 2;
    parameters.gate.pairs = 20;
    parameters.gate.simulations = 8;
    parameters.exam.positions = 200;
    parameters.exam.simulations = 8;
    parameters
}

fn check_minutes(minutes: f64, config: &Config) -> ApiResult<()> {
    let most = config.training_minutes.max(1);
    if minutes > 0.0 && minutes <= most as f64 {
        return Ok(());
    }
    Err(Error::Bad(format!("minutes is more than 0 and at most {most}, not {minutes}")))
}

fn whole_seconds(seconds: f64) -> u64 {
    Duration::try_from_secs_f64(seconds.ceil()).map_or(0, |duration| duration.as_secs())
}

/// Whether networks can be trained here, or why not.
fn allowed(app: &App) -> Result<PathBuf, String> {
    let config = &app.games.config;
    match config.training.as_str() {
        "everyone" => {}
        "local" if config.addr.ip().is_loopback() && !config.trust_proxy => {}
        "local" => {
            return Err("networks are trained here only when the server listens at an address of its own machine \
                 (the setting training)".to_owned());
        }
        _ => return Err("no networks are trained here (the setting training)".to_owned()),
    }
    let folder = config.runs_folder();
    folder.ok_or_else(|| "there is no folder for runs (the setting runs)".to_owned())
}

/// Whether and how networks are trained here, and the runs that there are.
#[derive(Debug, Serialize, ToSchema)]
struct TrainingView {
    /// Whether a run can be begun.
    allowed: bool,
    /// Why not.
    reason: Option<String>,
    presets: Vec<PresetView>,
    most_minutes: u64,
    runs: Vec<RunSummary>,
}

/// What a run may begin with.
#[derive(Debug, Serialize, ToSchema)]
struct PresetView {
    name: &'static str,
    about: &'static str,
}

/// A run in a list.
#[derive(Debug, Serialize, ToSchema)]
struct RunSummary {
    id: String,
    title: String,
    /// `queued`, `running`, `stopped`, `done` or `failed`.
    state: &'static str,
    /// When it was begun, in milliseconds since 1970.
    created: i64,
    /// The game that it learns.
    setup: SetupInput,
    mine: bool,
    /// Seconds worked, and to be worked.
    done: u64,
    total: u64,
    /// Iterations done.
    iterations: u64,
}

/// A run as it stands.
#[derive(Debug, Serialize, ToSchema)]
struct RunView {
    #[serde(flatten)]
    summary: RunSummary,
    error: Option<String>,
    /// What was asked for.
    #[schema(value_type = Object)]
    plan: Value,
    /// What it is doing.
    stage: Option<StageView>,
    /// What each iteration did, as `claimeven train --json` has it.
    #[schema(value_type = Vec<Object>)]
    history: Vec<Metrics>,
    /// The iterations whose networks are kept. `zero:model=ID@N` plays with one of them,
    /// `zero:model=ID` with the best.
    networks: Vec<u64>,
}

/// What a run is doing.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct StageView {
    /// `preparing`, `playing`, `learning` or `testing`.
    kind: &'static str,
    done: u64,
    of: u64,
}

/// A game of a network against itself.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
struct ShownGame {
    iteration: u64,
    moves: String,
    /// How many of the moves were made at random, to begin with.
    opening: usize,
}

fn summary(job: &Job, who: &Visitor, iterations: u64) -> RunSummary {
    let plan: Option<RunInput> = serde_json::from_str(&job.plan).ok();
    RunSummary {
        setup: plan.map(|plan| plan.setup).unwrap_or_default(),
        id: job.id.clone(),
        title: job.title.clone(),
        state: job.state.name(),
        created: job.created,
        mine: job.owner == *who,
        done: job.done,
        total: job.total,
        iterations,
    }
}

fn folder_of(config: &Config, id: &str) -> Option<PathBuf> {
    config.runs_folder().map(|folder| folder.join(id))
}

async fn view(app: &App, id: &str, who: &Visitor) -> ApiResult<Json<RunView>> {
    let job = app.jobs.find(Kind::Training, id).await?;
    let folder = folder_of(&app.games.config, id).unwrap_or_default();
    // A run that has not begun has no folder yet.
    let read = tokio::task::spawn_blocking(move || {
        (Run::metrics_of(&folder).unwrap_or_default(), kept_networks(&folder))
    });
    let (history, networks) = read.await.map_err(|error| Error::Internal(error.to_string()))?;
    let stage = app.jobs.running(id).and_then(|running| lock(&running.stage).clone());
    Ok(Json(RunView {
        summary: summary(&job, who, history.last().map_or(0, |last| last.state.iteration)),
        error: job.error.clone(),
        plan: serde_json::from_str(&job.plan).unwrap_or_default(),
        stage,
        history,
        networks,
    }))
}

/// Whether networks can be trained here, and the runs that there are.
#[utoipa::path(get, path = "/api/training", responses((status = 200, body = TrainingView)))]
async fn list(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Visitor>,
) -> ApiResult<Json<TrainingView>> {
    let jobs = app.jobs.store.jobs(Kind::Training, None).await?;
    let iterations = |job: &Job| {
        let state: Option<Value> =
            job.result.as_deref().and_then(|text| serde_json::from_str(text).ok());
        state.and_then(|state| state["iteration"].as_u64()).unwrap_or(0)
    };
    let reason = allowed(&app).err();
    let presets = PRESETS.map(|(name, about)| PresetView { name, about });
    Ok(Json(TrainingView {
        allowed: reason.is_none(),
        reason,
        presets: presets.into(),
        most_minutes: app.games.config.training_minutes.max(1),
        runs: jobs.iter().map(|job| summary(job, &who, iterations(job))).collect(),
    }))
}

/// Begins a run.
#[utoipa::path(post, path = "/api/training", request_body = RunInput, responses(
    (status = 201, body = RunView), (status = 400, body = ErrorView), (status = 403, body = ErrorView),
    (status = 409, body = ErrorView), (status = 429, body = ErrorView),
))]
async fn create(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Visitor>,
    Extension(address): Extension<Address>,
    Body(input): Body<RunInput>,
) -> ApiResult<Response> {
    input.parameters()?;
    check_minutes(input.minutes, &app.games.config)?;
    let title = title(&input.title)?;
    allowed(&app).map_err(Error::Forbidden)?;
    app.guard.new_game(address)?;
    check_room(&app).await?;
    let job = Job {
        id: random_name(),
        kind: Kind::Training,
        owner: who.clone(),
        created: now_ms(),
        state: JobState::Queued,
        title: title.unwrap_or_else(|| input.preset.clone()),
        plan: serde_json::to_string(&input).map_err(|error| Error::Internal(error.to_string()))?,
        done: 0,
        total: whole_seconds(60.0 * input.minutes),
        result: None,
        error: None,
    };
    app.jobs.add(&job).await?;
    let view = view(&app, &job.id, &who).await?;
    Ok((StatusCode::CREATED, view).into_response())
}

/// One run at a time.
async fn check_room(app: &App) -> ApiResult<()> {
    let runs = app.jobs.store.jobs(Kind::Training, None).await?;
    if let Some(other) = runs.iter().find(|job| job.state.is_active()) {
        let message = format!("one run at a time: '{}' has to end first", other.title);
        return Err(Error::Conflict(message, None));
    }
    if runs.len() >= MOST_RUNS {
        let message = format!("there are {} runs; delete one of them first", runs.len());
        return Err(Error::Conflict(message, None));
    }
    Ok(())
}

/// A run as it stands.
#[utoipa::path(get, path = "/api/training/{id}", params(("id" = String, Path)), responses(
    (status = 200, body = RunView), (status = 404, body = ErrorView),
))]
async fn show(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Visitor>,
    Id(id): Id,
) -> ApiResult<Json<RunView>> {
    view(&app, &id, &who).await
}

/// Stops a run at its last iteration.
#[utoipa::path(post, path = "/api/training/{id}/stop", params(("id" = String, Path)), responses(
    (status = 200, body = RunView), (status = 403, body = ErrorView), (status = 404, body = ErrorView),
))]
async fn stop(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Visitor>,
    Id(id): Id,
) -> ApiResult<Json<RunView>> {
    app.jobs.own(Kind::Training, &id, &who).await?;
    app.jobs.stop(&id).await?;
    view(&app, &id, &who).await
}

/// How long a run is to work.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ResumeInput {
    /// In minutes, all that it has worked included; as before if not given.
    minutes: Option<f64>,
}

/// Goes on with a run.
#[utoipa::path(post, path = "/api/training/{id}/resume", params(("id" = String, Path)), request_body = ResumeInput, responses(
    (status = 200, body = RunView), (status = 400, body = ErrorView), (status = 403, body = ErrorView),
    (status = 404, body = ErrorView), (status = 409, body = ErrorView),
))]
async fn resume(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Visitor>,
    Id(id): Id,
    Body(input): Body<ResumeInput>,
) -> ApiResult<Json<RunView>> {
    let job = app.jobs.own(Kind::Training, &id, &who).await?;
    allowed(&app).map_err(Error::Forbidden)?;
    if job.state.is_active() {
        return Err(Error::Conflict("the run is under way".to_owned(), None));
    }
    check_room(&app).await?;
    if let Some(minutes) = input.minutes {
        check_minutes(minutes, &app.games.config)?;
        let mut plan: Value = serde_json::from_str(&job.plan).unwrap_or_default();
        plan["minutes"] = minutes.into();
        let total = whole_seconds(60.0 * minutes);
        app.jobs.store.replan_job(&id, plan.to_string(), total).await?;
    }
    app.jobs.resume(&job).await?;
    view(&app, &id, &who).await
}

/// Deletes a run with its networks.
#[utoipa::path(delete, path = "/api/training/{id}", params(("id" = String, Path)), responses(
    (status = 204), (status = 403, body = ErrorView), (status = 404, body = ErrorView),
    (status = 409, body = ErrorView),
))]
async fn delete(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Visitor>,
    Id(id): Id,
) -> ApiResult<StatusCode> {
    let job = app.jobs.own(Kind::Training, &id, &who).await?;
    app.jobs.delete(&job).await?;
    if let Some(folder) = folder_of(&app.games.config, &id)
        && folder.join("parameters.json").is_file()
    {
        let removed = tokio::task::spawn_blocking(move || fs::remove_dir_all(folder)).await;
        if !matches!(removed, Ok(Ok(()))) {
            tracing::warn!(id, ?removed, "the folder of a run cannot be removed");
        }
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Which games are to be shown.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ShownInput {
    /// Games of this iteration and earlier ones.
    iteration: Option<u32>,
}

/// Some games of the networks against themselves, those of the latest iterations first.
#[utoipa::path(get, path = "/api/training/{id}/games", params(("id" = String, Path), ShownInput), responses(
    (status = 200, body = Vec<ShownGame>), (status = 404, body = ErrorView),
))]
async fn games(
    State(app): State<Arc<App>>,
    Id(id): Id,
    Query(query): Query<ShownInput>,
) -> ApiResult<Json<Vec<ShownGame>>> {
    app.jobs.find(Kind::Training, &id).await?;
    let before = query.iteration.map_or(i64::MAX, |last| 10 * (i64::from(last) + 1));
    let games = app.jobs.store.job_games(&id, before, 24).await?;
    Ok(Json(games.iter().filter_map(|text| serde_json::from_str(text).ok()).collect()))
}

/// Trains for as long as the run was given.
pub(crate) fn perform(job: &Job, context: &JobContext) -> TurnEnd {
    let failed = |error: &dyn ToString| TurnEnd::Failed(error.to_string());
    let input: RunInput = match serde_json::from_str(&job.plan) {
        Ok(input) => input,
        Err(error) => return failed(&error),
    };
    let parameters = match input.parameters() {
        Ok(parameters) => parameters,
        Err(error) => return TurnEnd::Failed(error.message()),
    };
    let Some(folder) = folder_of(&context.config, &job.id) else {
        return TurnEnd::Failed("there is no folder for runs (the setting runs)".to_owned());
    };
    match train(job, context, &folder, &parameters, 60.0 * input.minutes) {
        Ok(end) => end,
        Err(RunError::Stopped(_)) => TurnEnd::Cancelled,
        Err(error) => {
            tracing::warn!(%error, run = job.id, "a training run failed");
            // Where the run is on the disk is nobody's business.
            failed(&error.to_string().replace(&*folder.to_string_lossy(), "its folder"))
        }
    }
}

fn train(
    job: &Job,
    context: &JobContext,
    folder: &Path,
    parameters: &Parameters,
    seconds: f64,
) -> Result<TurnEnd, RunError> {
    let running = &context.running;
    let wish = || {
        if running.cancel.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let mut observer = |event: Event<'_>| {
        let stage = match event {
            Event::PreparingExam { solved, of } => ("preparing", solved as u64, of as u64),
            Event::Playing { games, of, .. } => ("playing", games, of),
            Event::Played { iteration, shown } => {
                let games: Vec<(i64, String)> = (0..)
                    .zip(shown)
                    .filter_map(|(place, game)| {
                        let shown = ShownGame {
                            iteration,
                            moves: game.moves.clone(),
                            opening: game.opening,
                        };
                        Some((10 * iteration as i64 + place, serde_json::to_string(&shown).ok()?))
                    })
                    .collect();
                let stored = context
                    .with_store(|store| async move { store.show_games(&job.id, &games).await });
                if let Err(error) = stored {
                    tracing::warn!(?error, "games of a training run cannot be stored");
                }
                return wish();
            }
            Event::Learning { steps, of, .. } => ("learning", steps, of),
            Event::Testing { .. } => ("testing", 0, 0),
            Event::Done(metrics) => {
                let state = metrics.state;
                let text = serde_json::to_string(&state).ok();
                let stored = context.with_store(|store| async move {
                    store.advance_job(&job.id, &[], whole_seconds(state.seconds), text).await
                });
                if let Err(error) = stored {
                    tracing::warn!(?error, "a training run cannot be stored");
                }
                return wish();
            }
        };
        let (kind, done, of) = stage;
        *lock(&running.stage) = Some(StageView { kind, done, of });
        wish()
    };
    let resources = Resources::new(context.config.training_threads.max(1));
    let mut run = if folder.join("parameters.json").is_file() {
        Run::resume(folder, None, resources, &mut observer)?
    } else {
        fs::create_dir_all(folder).map_err(|error| RunError::Io(folder.to_owned(), error))?;
        Run::begin(folder, parameters, None, resources, &mut observer)?
    };
    while run.state().seconds < seconds {
        if running.cancel.load(Ordering::Relaxed) || run.iterate(&mut observer)?.is_none() {
            return Ok(TurnEnd::Cancelled);
        }
    }
    Ok(TurnEnd::Done)
}
