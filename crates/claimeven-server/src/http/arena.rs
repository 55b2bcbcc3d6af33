//! Tournaments: starting, watching, stopping and downloading them.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use claimeven_arena::{EndReason, GameRecord, Report, TournamentPlan};
use claimeven_game::Setup;
use futures_util::stream;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{ApiResult, Body, Id, Query, SetupSchema, Visit, run_blocking, title};
use super::names;
use crate::App;
use crate::agents;
use crate::client::Client;
use crate::error::{Error, ErrorView};
use crate::store::{Job, JobState, Kind, now_ms};
use crate::visitor::{Visitor, random_name};
use crate::work::jobs::{OTHERS_ACTIVE, lock};
use crate::work::tournament::{BoardView, CHOSEN};

pub(crate) fn api() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(create, list))
        .routes(routes!(show, delete))
        .routes(routes!(stop))
        .routes(routes!(resume))
        .routes(routes!(games))
        .routes(routes!(download))
}

const MAX_PLAYERS: usize = 12;

/// A new tournament.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct TournamentInput {
    /// The displayed title.
    #[serde(default)]
    title: String,
    /// `round-robin`, or `gauntlet` for the first player against all others.
    #[serde(default = "round_robin")]
    format: String,
    players: Vec<EntrantInput>,
    /// Games of each pairing.
    games: u64,
    /// `none`, `balanced:PLIES` or `random:PLIES`.
    #[serde(default)]
    openings: Option<String>,
    seed: Option<u64>,
    #[serde(default)]
    #[schema(value_type = SetupSchema)]
    setup: Setup,
}

fn round_robin() -> String {
    "round-robin".to_owned()
}

/// A player of a tournament.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct EntrantInput {
    agent: String,
    name: Option<String>,
}

impl TournamentInput {
    /// The plan, as JSON and parsed.
    fn plan(&self, app: &App) -> ApiResult<(Value, TournamentPlan)> {
        let config = &app.config;
        let setup = self.setup;
        if self.players.len() > MAX_PLAYERS {
            let count = self.players.len();
            return Err(Error::Bad(format!(
                "a tournament must have at most {MAX_PLAYERS} players, not {count}"
            )));
        }
        let mut players = Vec::new();
        for EntrantInput { agent, name } in &self.players {
            // Checked against the server's limits before the plan parses it.
            let spec = agents::parse(agent, setup, config).map_err(Error::Bad)?;
            let name = names::agent(name.as_deref().unwrap_or_default(), &spec)?;
            players.push(json!({ "agent": spec.to_string(), "name": name }));
        }
        if let Some(openings) = &self.openings {
            check_openings(openings)?;
        }
        if !matches!(self.format.as_str(), "round-robin" | "gauntlet") {
            return Err(Error::Bad(format!(
                "format must be round-robin or gauntlet, not '{}'",
                self.format
            )));
        }
        let mut document = json!({
            "format": self.format,
            "players": players,
            "games": self.games,
            "seed": self.seed.unwrap_or(1),
            "setup": setup,
            // No player may block the tournament.
            "move_time": config.think_others_ms.max(1),
        });
        if config.max_agent_mb() > 0 {
            document["memory_mb"] = config.max_agent_mb().into();
        }
        if let Some(title) = title(&self.title)? {
            document["title"] = title.into();
        }
        if let Some(openings) = &self.openings {
            document["openings"] = openings.clone().into();
        }
        let plan = TournamentPlan::from_json_with(&document.to_string(), &config.models());
        let plan = plan.map_err(|error| Error::Bad(error.message))?;
        let (games, max) = (plan.games(), config.arena_games);
        if max > 0 && games > max {
            return Err(Error::Bad(format!(
                "a tournament must have at most {max} games on this server, not {games}"
            )));
        }
        Ok((document, plan))
    }
}

fn check_openings(text: &str) -> ApiResult<()> {
    let bad = || {
        Err(Error::Bad(format!(
            "openings must be none, balanced:1 to balanced:8 or random:1 to random:20, not '{text}'"
        )))
    };
    let Some((kind, plies)) = text.split_once(':') else {
        return if text == "none" { Ok(()) } else { bad() };
    };
    match (kind, plies.parse::<u32>()) {
        ("balanced", Ok(1..=8)) | ("random", Ok(1..=20)) => Ok(()),
        _ => bad(),
    }
}

/// A tournament and its current results.
#[derive(Debug, Serialize, ToSchema)]
struct TournamentView {
    id: String,
    title: String,
    /// `queued`, `running`, `stopped`, `done` or `failed`.
    state: &'static str,
    /// Milliseconds since 1970.
    created: i64,
    /// Whether it belongs to the visitor.
    mine: bool,
    /// Games played.
    done: u64,
    /// Games planned.
    total: u64,
    /// Why it failed.
    error: Option<String>,
    /// The request.
    #[schema(value_type = Object)]
    plan: Value,
    /// The results so far, as `claimeven arena --json` prints them; `null` before the first game.
    #[schema(value_type = Option<Object>)]
    report: Option<Value>,
    /// How many workers of the fleet play it; 0 if this server does, `null` if it is not running here.
    workers: Option<usize>,
    /// The games in progress or, if workers play them, the latest results.
    boards: Vec<BoardView>,
}

/// A tournament in a list.
#[derive(Debug, Serialize, ToSchema)]
struct TournamentSummary {
    id: String,
    title: String,
    state: &'static str,
    created: i64,
    done: u64,
    total: u64,
    /// The players' names.
    players: Vec<String>,
}

/// A finished game.
#[derive(Debug, Serialize, ToSchema)]
struct PlayedView {
    number: u64,
    players: [String; 2],
    first: usize,
    moves: String,
    /// How many of the moves are the opening.
    opening: usize,
    /// `null` for a draw.
    winner: Option<usize>,
    #[schema(value_type = String)]
    reason: EndReason,
}

fn view(app: &App, job: &Job, who: &Visitor) -> TournamentView {
    let mut plan: Value = serde_json::from_str(&job.plan).unwrap_or_default();
    if let Some(plan) = plan.as_object_mut() {
        plan.remove(CHOSEN);
    }
    let running = app.jobs.running(&job.id);
    let workers = running.as_ref().map(|running| running.workers.load(Ordering::Relaxed));
    let boards = running.map(|running| lock(&running.boards).values().cloned().collect());
    TournamentView {
        id: job.id.clone(),
        title: job.title.clone(),
        state: job.state.name(),
        created: job.created,
        mine: job.owner == *who,
        done: job.done,
        total: job.total,
        error: job.error.clone(),
        workers,
        plan,
        report: job.result.as_deref().and_then(|text| serde_json::from_str(text).ok()),
        boards: boards.unwrap_or_default(),
    }
}

/// Starts a tournament.
#[utoipa::path(post, path = "/api/arena", operation_id = "create_tournament", request_body = TournamentInput, responses(
    (status = 201, body = TournamentView), (status = 400, body = ErrorView), (status = 409, body = ErrorView),
    (status = 429, body = ErrorView), (status = 503, body = ErrorView),
))]
async fn create(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Visitor>,
    Extension(client): Extension<Client>,
    Body(input): Body<TournamentInput>,
) -> ApiResult<Response> {
    let worker = Arc::clone(&app);
    let (document, plan) = run_blocking(move || input.plan(&worker)).await??;
    app.guard.new_tournament(&client, plan.games())?;
    let own = app.store.jobs(Kind::Tournament, Some(&who)).await?;
    check_free(&app, &own)?;
    let config = &app.config;
    if own.len() >= config.jobs_kept.max(1) {
        let message = format!("You have {} tournaments: delete one first", own.len());
        return Err(Error::Conflict(message));
    }
    if app.store.active_jobs(Kind::Tournament).await? >= config.jobs_queue.max(1) {
        return Err(Error::Busy(
            "Too many tournaments are waiting, try again later".to_owned(),
            60,
        ));
    }
    let names: Vec<&str> = plan.players().iter().map(|player| player.name.as_str()).collect();
    let job = Job {
        id: random_name(),
        kind: Kind::Tournament,
        owner: who.clone(),
        created: now_ms(),
        state: JobState::Queued,
        title: plan.title().map_or_else(|| names.join(", "), str::to_owned),
        plan: document.to_string(),
        done: 0,
        total: plan.games(),
        result: None,
        error: None,
    };
    app.jobs.add(&job, &client).await?;
    Ok((StatusCode::CREATED, Json(view(&app, &job, &who))).into_response())
}

/// Checks the limit of active tournaments per visitor.
fn check_free(app: &App, own: &[Job]) -> ApiResult<()> {
    let active = own.iter().filter(|job| job.state.is_active()).count();
    if active < app.config.jobs_each.max(1) {
        return Ok(());
    }
    Err(Error::Conflict(OTHERS_ACTIVE.to_owned()))
}

/// The visitor's tournaments, the latest first.
#[utoipa::path(get, path = "/api/arena", operation_id = "list_tournaments", responses((status = 200, body = Vec<TournamentSummary>)))]
async fn list(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Visitor>,
) -> ApiResult<Json<Vec<TournamentSummary>>> {
    let jobs = app.store.jobs(Kind::Tournament, Some(&who)).await?;
    let summary = |job: Job| {
        let plan: Value = serde_json::from_str(&job.plan).unwrap_or_default();
        let players = plan["players"].as_array().map(Vec::as_slice).unwrap_or_default();
        let name = |player: &Value| player["name"].as_str().unwrap_or_default().to_owned();
        TournamentSummary {
            players: players.iter().map(name).collect(),
            id: job.id,
            title: job.title,
            state: job.state.name(),
            created: job.created,
            done: job.done,
            total: job.total,
        }
    };
    Ok(Json(jobs.into_iter().map(summary).collect()))
}

/// A tournament and its current results.
#[utoipa::path(get, path = "/api/arena/{id}", operation_id = "get_tournament", params(("id" = String, Path)), responses(
    (status = 200, body = TournamentView), (status = 404, body = ErrorView),
))]
async fn show(Visit { app, who, id, .. }: Visit) -> ApiResult<Json<TournamentView>> {
    let job = app.jobs.find(Kind::Tournament, &id).await?;
    Ok(Json(view(&app, &job, &who)))
}

/// Stops a tournament. It can be resumed.
#[utoipa::path(post, path = "/api/arena/{id}/stop", operation_id = "stop_tournament", params(("id" = String, Path)), responses(
    (status = 200, body = TournamentView), (status = 403, body = ErrorView), (status = 404, body = ErrorView),
))]
async fn stop(Visit { app, who, id, .. }: Visit) -> ApiResult<Json<TournamentView>> {
    app.jobs.own(Kind::Tournament, &id, &who).await?;
    app.jobs.stop(&id).await?;
    let job = app.jobs.find(Kind::Tournament, &id).await?;
    Ok(Json(view(&app, &job, &who)))
}

/// Resumes a stopped tournament.
#[utoipa::path(post, path = "/api/arena/{id}/resume", operation_id = "resume_tournament", params(("id" = String, Path)), responses(
    (status = 200, body = TournamentView), (status = 403, body = ErrorView), (status = 404, body = ErrorView),
    (status = 409, body = ErrorView),
))]
async fn resume(Visit { app, who, client, id }: Visit) -> ApiResult<Json<TournamentView>> {
    let job = app.jobs.own(Kind::Tournament, &id, &who).await?;
    let own = app.store.jobs(Kind::Tournament, Some(&who)).await?;
    check_free(&app, &own)?;
    app.jobs.resume(&job, &client).await?;
    let job = app.jobs.find(Kind::Tournament, &id).await?;
    Ok(Json(view(&app, &job, &who)))
}

/// Deletes a tournament and its games.
#[utoipa::path(delete, path = "/api/arena/{id}", operation_id = "delete_tournament", params(("id" = String, Path)), responses(
    (status = 204), (status = 403, body = ErrorView), (status = 404, body = ErrorView),
    (status = 409, body = ErrorView),
))]
async fn delete(Visit { app, who, id, .. }: Visit) -> ApiResult<StatusCode> {
    let job = app.jobs.own(Kind::Tournament, &id, &who).await?;
    app.jobs.delete(&job).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Which games to list.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct GamesInput {
    /// Games with lower numbers than this.
    before: Option<u32>,
    /// Maximum number of games, from 1 to 200.
    limit: Option<u32>,
}

/// The games of a tournament, the latest first.
#[utoipa::path(get, path = "/api/arena/{id}/games", operation_id = "list_tournament_games", params(("id" = String, Path), GamesInput), responses(
    (status = 200, body = Vec<PlayedView>), (status = 400, body = ErrorView), (status = 404, body = ErrorView),
))]
async fn games(
    State(app): State<Arc<App>>,
    Id(id): Id,
    Query(query): Query<GamesInput>,
) -> ApiResult<Json<Vec<PlayedView>>> {
    let limit = query.limit.unwrap_or(50);
    if !(1..=200).contains(&limit) {
        return Err(Error::Bad(format!("limit must be 1 to 200, not {limit}")));
    }
    app.jobs.find(Kind::Tournament, &id).await?;
    let before = query.before.map_or(i64::MAX, i64::from);
    let records = app.store.job_games(&id, before, limit).await?;
    let read = move || records.iter().filter_map(|text| played(text)).collect();
    Ok(Json(run_blocking(read).await?))
}

fn played(text: &str) -> Option<PlayedView> {
    let record: GameRecord = serde_json::from_str(text).ok()?;
    let [first, second] = record.players.clone();
    Some(PlayedView {
        number: record.id.parse().ok()?,
        players: [first.name, second.name],
        first: record.first_player,
        moves: record.move_text(),
        opening: record.opening_moves,
        winner: record.result.winner,
        reason: record.result.reason,
    })
}

/// The format of a download.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct DownloadInput {
    /// `json` (standings), `csv` (standings) or `games` (records as JSON lines).
    format: Option<String>,
}

/// A tournament as a file.
#[utoipa::path(get, path = "/api/arena/{id}/download", operation_id = "download_tournament", params(("id" = String, Path), DownloadInput), responses(
    (status = 200, body = String), (status = 400, body = ErrorView), (status = 404, body = ErrorView),
    (status = 409, body = ErrorView),
))]
async fn download(
    State(app): State<Arc<App>>,
    Id(id): Id,
    Query(query): Query<DownloadInput>,
) -> ApiResult<Response> {
    let job = app.jobs.find(Kind::Tournament, &id).await?;
    let format = query.format.as_deref().unwrap_or("json");
    let (kind, extension, content): (_, _, axum::body::Body) = match format {
        "json" | "csv" | "games" if job.result.is_none() => {
            return Err(Error::Conflict("No game has ended yet".to_owned()));
        }
        "json" => ("application/json", "json", job.result.unwrap_or_default().into()),
        "csv" => {
            let result = job.result.unwrap_or_default();
            let csv = run_blocking(move || csv_of(&result)).await?.map_err(Error::Internal)?;
            ("text/csv; charset=utf-8", "csv", csv.into())
        }
        "games" => ("application/jsonl", "jsonl", all_games(&app, &id)),
        other => {
            return Err(Error::Bad(format!("format must be json, csv or games, not '{other}'")));
        }
    };
    let file = format!("attachment; filename=\"tournament-{id}.{extension}\"");
    let headers = [(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, file)];
    Ok((headers, content).into_response())
}

/// The standings of a stored result.
fn csv_of(result: &str) -> Result<Vec<u8>, String> {
    let report: Report = serde_json::from_str(result).map_err(|error| error.to_string())?;
    let mut csv = Vec::new();
    report.write_csv(&mut csv).map_err(|error| error.to_string())?;
    Ok(csv)
}

/// All records of a tournament, one per line, read at the client's pace, so that slow clients take little
/// memory.
fn all_games(app: &App, id: &str) -> axum::body::Body {
    const PAGE: u32 = 50;
    let start = (app.store.clone(), id.to_owned(), 0);
    let pages = stream::try_unfold(start, |(store, id, after)| async move {
        let page = store.job_games_after(&id, after, PAGE).await;
        let page = page.map_err(|error| std::io::Error::other(format!("{error:?}")))?;
        let Some(&(last, _)) = page.last() else { return Ok(None) };
        let lines: String = page.into_iter().map(|(_, record)| record + "\n").collect();
        Ok::<_, std::io::Error>(Some((lines, (store, id, last))))
    });
    axum::body::Body::from_stream(pages)
}
