//! Training runs: starting, watching and stopping them, where the server allows it.

use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use claimeven_game::Setup;
use claimeven_zero::{Metrics, Run, kept_networks};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{
    ApiResult, Body, Id, IsLocal, Query, SetupSchema, Visit, run_blocking, title,
};
use crate::App;
use crate::client::Client;
use crate::config::Config;
use crate::error::{Error, ErrorView};
use crate::store::{Job, JobState, Kind, now_ms};
use crate::visitor::{Visitor, random_name};
use crate::work::jobs::lock;
use crate::work::training::{
    PRESETS, RunInput, ShownGame, StageView, folder_of, remove_networks, whole_seconds,
};

pub(crate) fn api() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(create, list))
        .routes(routes!(show, delete))
        .routes(routes!(stop))
        .routes(routes!(resume))
        .routes(routes!(games))
}

/// Maximum number of stored runs.
const MAX_RUNS: usize = 50;

fn check_minutes(minutes: f64, config: &Config) -> ApiResult<()> {
    let max = config.training_minutes.max(1);
    if minutes > 0.0 && minutes <= max as f64 {
        return Ok(());
    }
    Err(Error::Bad(format!("minutes must be more than 0 and at most {max}, not {minutes}")))
}

/// The folder for runs, or why training is not allowed.
fn allowed(app: &App, is_local: IsLocal) -> Result<PathBuf, String> {
    let config = &app.config;
    match config.training.as_str() {
        "everyone" => {}
        "local" if config.addr.ip().is_loopback() && is_local.0 => {}
        "local" => {
            return Err(
                "Training is only allowed from the machine of the server, which must listen \
                 on a loopback address (setting: training)"
                    .to_owned(),
            );
        }
        _ => return Err("Training is disabled on this server (setting: training)".to_owned()),
    }
    let folder = config.runs_folder();
    folder.ok_or_else(|| "No folder for training runs is set (setting: runs)".to_owned())
}

/// Whether training is allowed, and all runs.
#[derive(Debug, Serialize, ToSchema)]
struct TrainingView {
    /// Whether a run can be started.
    allowed: bool,
    /// Why not.
    reason: Option<String>,
    presets: Vec<PresetView>,
    max_minutes: u64,
    runs: Vec<RunSummary>,
}

/// A preset.
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
    /// Milliseconds since 1970.
    created: i64,
    /// The board and the rules.
    #[schema(value_type = SetupSchema)]
    setup: Setup,
    mine: bool,
    /// Seconds trained, and the total to train.
    done: u64,
    total: u64,
    /// The number of finished iterations.
    iterations: u64,
}

/// A run and its progress.
#[derive(Debug, Serialize, ToSchema)]
struct RunView {
    #[serde(flatten)]
    summary: RunSummary,
    error: Option<String>,
    /// The request.
    #[schema(value_type = Object)]
    plan: Value,
    /// The current stage.
    stage: Option<StageView>,
    /// The metrics of each iteration, as `claimeven train --json` prints them.
    #[schema(value_type = Vec<Object>)]
    history: Vec<Metrics>,
    /// The iterations whose networks are kept. `zero:model=ID@N` plays with one of them,
    /// `zero:model=ID` with the best.
    networks: Vec<u64>,
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

async fn view(app: &App, id: &str, who: &Visitor) -> ApiResult<Json<RunView>> {
    let job = app.jobs.find(Kind::Training, id).await?;
    let folder = folder_of(&app.config, id).unwrap_or_default();
    // A queued run has no folder yet.
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

/// Whether training is allowed, and all runs.
#[utoipa::path(get, path = "/api/training", operation_id = "list_runs", responses((status = 200, body = TrainingView)))]
async fn list(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Visitor>,
    is_local: IsLocal,
) -> ApiResult<Json<TrainingView>> {
    let jobs = app.store.jobs(Kind::Training, None).await?;
    let iterations = |job: &Job| {
        let state: Option<Value> =
            job.result.as_deref().and_then(|text| serde_json::from_str(text).ok());
        state.and_then(|state| state["iteration"].as_u64()).unwrap_or(0)
    };
    let reason = allowed(&app, is_local).err();
    let presets = PRESETS.map(|(name, about)| PresetView { name, about });
    Ok(Json(TrainingView {
        allowed: reason.is_none(),
        reason,
        presets: presets.into(),
        max_minutes: app.config.training_minutes.max(1),
        runs: jobs.iter().map(|job| summary(job, &who, iterations(job))).collect(),
    }))
}

/// Starts a run.
#[utoipa::path(post, path = "/api/training", operation_id = "create_run", request_body = RunInput, responses(
    (status = 201, body = RunView), (status = 400, body = ErrorView), (status = 403, body = ErrorView),
    (status = 409, body = ErrorView), (status = 429, body = ErrorView),
))]
async fn create(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Visitor>,
    Extension(client): Extension<Client>,
    is_local: IsLocal,
    Body(input): Body<RunInput>,
) -> ApiResult<Response> {
    input.parameters()?;
    check_minutes(input.minutes, &app.config)?;
    let title = title(&input.title)?;
    allowed(&app, is_local).map_err(Error::Forbidden)?;
    app.guard.new_game(&client)?;
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
    app.jobs.add(&job, &client).await?;
    let view = view(&app, &job.id, &who).await?;
    Ok((StatusCode::CREATED, view).into_response())
}

/// Checks the limits: one active run, and the number of stored ones.
async fn check_room(app: &App) -> ApiResult<()> {
    let runs = app.store.jobs(Kind::Training, None).await?;
    if let Some(other) = runs.iter().find(|job| job.state.is_active()) {
        let message =
            format!("Only one run at a time: wait for '{}' to end or stop it", other.title);
        return Err(Error::Conflict(message));
    }
    if runs.len() >= MAX_RUNS {
        let message = format!("This server keeps at most {MAX_RUNS} runs: delete one first");
        return Err(Error::Conflict(message));
    }
    Ok(())
}

/// A run and its progress.
#[utoipa::path(get, path = "/api/training/{id}", operation_id = "get_run", params(("id" = String, Path)), responses(
    (status = 200, body = RunView), (status = 404, body = ErrorView),
))]
async fn show(Visit { app, who, id, .. }: Visit) -> ApiResult<Json<RunView>> {
    view(&app, &id, &who).await
}

/// Stops a run after its last finished iteration.
#[utoipa::path(post, path = "/api/training/{id}/stop", operation_id = "stop_run", params(("id" = String, Path)), responses(
    (status = 200, body = RunView), (status = 403, body = ErrorView), (status = 404, body = ErrorView),
))]
async fn stop(Visit { app, who, id, .. }: Visit) -> ApiResult<Json<RunView>> {
    app.jobs.own(Kind::Training, &id, &who).await?;
    app.jobs.stop(&id).await?;
    view(&app, &id, &who).await
}

/// The new duration of a run.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ResumeInput {
    /// Total duration in minutes; unchanged if omitted.
    minutes: Option<f64>,
}

/// Resumes a run.
#[utoipa::path(post, path = "/api/training/{id}/resume", operation_id = "resume_run", params(("id" = String, Path)), request_body = ResumeInput, responses(
    (status = 200, body = RunView), (status = 400, body = ErrorView), (status = 403, body = ErrorView),
    (status = 404, body = ErrorView), (status = 409, body = ErrorView),
))]
async fn resume(
    Visit { app, who, client, id }: Visit,
    is_local: IsLocal,
    Body(input): Body<ResumeInput>,
) -> ApiResult<Json<RunView>> {
    let job = app.jobs.own(Kind::Training, &id, &who).await?;
    allowed(&app, is_local).map_err(Error::Forbidden)?;
    if job.state.is_active() {
        return Err(Error::Conflict("The run is in progress".to_owned()));
    }
    check_room(&app).await?;
    if let Some(minutes) = input.minutes {
        check_minutes(minutes, &app.config)?;
        let mut plan: Value = serde_json::from_str(&job.plan).unwrap_or_default();
        plan["minutes"] = minutes.into();
        let total = whole_seconds(60.0 * minutes);
        app.store.replan_job(&id, plan.to_string(), total).await?;
    }
    app.jobs.resume(&job, &client).await?;
    view(&app, &id, &who).await
}

/// Deletes a run with its networks.
#[utoipa::path(delete, path = "/api/training/{id}", operation_id = "delete_run", params(("id" = String, Path)), responses(
    (status = 204), (status = 403, body = ErrorView), (status = 404, body = ErrorView),
    (status = 409, body = ErrorView),
))]
async fn delete(Visit { app, who, id, .. }: Visit) -> ApiResult<StatusCode> {
    let job = app.jobs.own(Kind::Training, &id, &who).await?;
    app.jobs.delete(&job).await?;
    run_blocking(move || remove_networks(&app.config, &id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Which games to show.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ShownInput {
    /// Games of this iteration and earlier ones.
    iteration: Option<u32>,
}

/// Some self-play games, those of the latest iterations first.
#[utoipa::path(get, path = "/api/training/{id}/games", operation_id = "list_run_games", params(("id" = String, Path), ShownInput), responses(
    (status = 200, body = Vec<ShownGame>), (status = 404, body = ErrorView),
))]
async fn games(
    State(app): State<Arc<App>>,
    Id(id): Id,
    Query(query): Query<ShownInput>,
) -> ApiResult<Json<Vec<ShownGame>>> {
    app.jobs.find(Kind::Training, &id).await?;
    let before = query.iteration.map_or(i64::MAX, |last| 10 * (i64::from(last) + 1));
    let games = app.store.job_games(&id, before, 24).await?;
    Ok(Json(games.iter().filter_map(|text| serde_json::from_str(text).ok()).collect()))
}
