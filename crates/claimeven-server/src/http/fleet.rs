//! The state of the fleet, for visitors who may see it.

use axum::Json;
use axum::extract::State;
use claimeven_arena::FLEET_VERSION;
use claimeven_work::{JobStatus, WorkerStatus};
use serde::Serialize;
use utoipa::ToSchema;

use super::extract::{ApiResult, AppState, IsLocal};
use crate::App;
use crate::monitor::{FleetState, waiting_units};
use crate::store::now_ms;

/// Whether the visitor may see the fleet, and the fleet.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FleetView {
    /// Whether the visitor may see it.
    allowed: bool,
    /// Why not.
    reason: Option<String>,
    /// The fleet, unless the server has none (setting: nats).
    fleet: Option<Fleet>,
}

/// A fleet.
#[derive(Debug, Serialize, ToSchema)]
struct Fleet {
    /// The NATS server, without a password.
    nats: String,
    /// Whether it can be reached. If not, workers and jobs are those last seen.
    connected: bool,
    /// How many seconds it has been unreachable.
    away_seconds: u64,
    /// The version of this server, which workers must have as well.
    version: &'static str,
    /// The time of this view, in milliseconds since 1970.
    now: i64,
    /// Units per second of all workers.
    rate: f64,
    /// Units waiting for a worker.
    waiting: u64,
    workers: Vec<WorkerView>,
    /// Workers that have left in the last ten minutes, the latest first.
    gone: Vec<GoneView>,
    jobs: Vec<FleetJobView>,
    servers: Vec<ServerView>,
    /// The last five minutes.
    history: Vec<PointView>,
}

/// A worker.
#[derive(Debug, Serialize, ToSchema)]
struct WorkerView {
    /// The name of its machine with a random suffix.
    id: String,
    version: String,
    /// Whether it has the version of this server, so that it can help.
    compatible: bool,
    threads: usize,
    /// Units that it is computing.
    running: usize,
    /// Units waiting for one of its threads.
    waiting: usize,
    /// Units that it has completed.
    done: u64,
    /// Units that it has handed back because it was stopped or they failed.
    handed_back: u64,
    /// Units per second, over the last ten seconds.
    rate: f64,
    /// `fused` or `unfused` multiply-add, on which the results of networks depend.
    arithmetic: String,
    kinds: Vec<String>,
    /// Seconds since it was started.
    seconds: u64,
}

/// A worker that has left.
#[derive(Debug, Serialize, ToSchema)]
struct GoneView {
    id: String,
    /// Seconds since then.
    seconds: u64,
    /// Whether it was stopped; otherwise it fell silent.
    stopped: bool,
    /// Units that it had completed.
    done: u64,
}

/// A job of the fleet.
#[derive(Debug, Serialize, ToSchema)]
struct FleetJobView {
    id: String,
    kind: String,
    title: String,
    version: String,
    /// The machine of its coordinator.
    host: String,
    units: u64,
    done: u64,
    /// Results received more than once.
    repeated: u64,
    /// Units computed by a second worker for comparison.
    checked: u64,
    /// Units that were set aside, and why.
    set_aside: Vec<ReasonView>,
    /// Workers that were dismissed, and why.
    dismissed: Vec<ReasonView>,
    /// Units per second, over the last ten seconds.
    rate: f64,
    /// Estimated remaining time.
    seconds_left: Option<f64>,
}

/// A unit or worker, and why it was set aside or dismissed.
#[derive(Debug, Serialize, ToSchema)]
struct ReasonView {
    name: String,
    reason: String,
}

/// A server of the database.
#[derive(Debug, Serialize, ToSchema)]
struct ServerView {
    name: String,
    /// Whether it is the responding server.
    this: bool,
    /// Whether it reaches the NATS server.
    connected: bool,
    /// `null` if it cannot be reached.
    version: Option<String>,
    /// Games whose lease it holds.
    leased_games: Option<usize>,
    /// Games in its memory.
    live_games: Option<usize>,
    /// Seconds since it was started.
    seconds: Option<u64>,
}

/// A point of the history.
#[derive(Debug, Serialize, ToSchema)]
struct PointView {
    /// Milliseconds since 1970.
    at: i64,
    workers: usize,
    /// Units per second.
    rate: f64,
    /// Units waiting for a worker.
    waiting: u64,
}

/// The workers, jobs and servers of the fleet. The setting `fleet_page` decides who sees them, because
/// their names come from the operator's machines.
#[utoipa::path(get, path = "/api/fleet", operation_id = "get_fleet", responses((status = 200, body = FleetView)))]
pub(crate) async fn show(State(app): AppState, is_local: IsLocal) -> ApiResult<Json<FleetView>> {
    if let Err(reason) = allowed(&app, is_local) {
        return Ok(Json(FleetView { allowed: false, reason: Some(reason), fleet: None }));
    }
    let fleet = match app.monitor.nats() {
        Some(nats) => Some(fleet(&app, nats).await?),
        None => None,
    };
    Ok(Json(FleetView { allowed: true, reason: None, fleet }))
}

fn allowed(app: &App, IsLocal(is_local): IsLocal) -> Result<(), String> {
    match app.config.fleet_page.as_str() {
        "everyone" => Ok(()),
        "local" if is_local => Ok(()),
        "local" => Err("The fleet is shown only to browsers on the machine of the server, for \
             example through an SSH tunnel (setting: fleet_page)"
            .to_owned()),
        _ => Err("The fleet is not shown on this server (setting: fleet_page)".to_owned()),
    }
}

async fn fleet(app: &App, nats: String) -> ApiResult<Fleet> {
    let state = app.monitor.state();
    let now = now_ms();
    let status = state.fleet.as_ref();
    let version = FLEET_VERSION;
    let workers: Vec<WorkerView> = status
        .map_or(&[][..], |status| &status.workers)
        .iter()
        .map(|worker| worker_view(worker, version))
        .collect();
    let seconds = |at: i64| u64::try_from((now - at) / 1000).unwrap_or(0);
    let gone = state.gone.iter().map(|gone| GoneView {
        id: gone.id.clone(),
        seconds: seconds(gone.at),
        stopped: gone.was_stopped,
        done: gone.done,
    });
    let history = state.points.iter().map(|point| PointView {
        at: point.at,
        workers: point.workers,
        rate: tenths(point.rate),
        waiting: point.waiting,
    });
    Ok(Fleet {
        nats,
        connected: state.is_connected,
        away_seconds: state.lost_at.map_or(0, |lost| lost.elapsed().as_secs()),
        version,
        now,
        rate: tenths(workers.iter().map(|worker| worker.rate).sum()),
        waiting: status.map_or(0, |status| waiting_units(status, state.has_streams)),
        workers,
        gone: gone.collect(),
        jobs: status.map_or(&[][..], |status| &status.jobs).iter().map(job_view).collect(),
        servers: servers(app, &state).await?,
        history: history.collect(),
    })
}

/// Rounds to tenths and turns -0, the sum of no numbers, into 0.
fn tenths(number: f64) -> f64 {
    (10.0 * number).round() / 10.0 + 0.0
}

fn worker_view(worker: &WorkerStatus, version: &str) -> WorkerView {
    WorkerView {
        id: worker.id.clone(),
        version: worker.version.clone(),
        compatible: worker.version == version,
        threads: worker.threads,
        running: worker.running,
        waiting: worker.waiting,
        done: worker.done,
        handed_back: worker.handed_back,
        rate: tenths(worker.rate),
        arithmetic: worker.arithmetic.clone(),
        kinds: worker.kinds.clone(),
        seconds: worker.seconds,
    }
}

fn job_view(job: &JobStatus) -> FleetJobView {
    let left = job.units.saturating_sub(job.done) as f64 / job.rate;
    let reason = |name: String, reason: &String| ReasonView { name, reason: reason.clone() };
    FleetJobView {
        id: job.id.clone(),
        kind: job.kind.clone(),
        title: job.title.clone(),
        version: job.version.clone(),
        host: job.host.clone(),
        units: job.units,
        done: job.done,
        repeated: job.repeated,
        checked: job.checked,
        set_aside: job.set_aside.iter().map(|(unit, why)| reason(unit.to_string(), why)).collect(),
        dismissed: job.dismissed.iter().map(|(id, why)| reason(id.clone(), why)).collect(),
        rate: tenths(job.rate),
        seconds_left: left.is_finite().then(|| left.ceil()),
    }
}

/// The servers of the database, this one first.
async fn servers(app: &App, state: &FleetState) -> ApiResult<Vec<ServerView>> {
    let own = app.status();
    let fleet = app.games.fleet();
    let name = app.store.server_name().map_or_else(|| app.config.addr.to_string(), str::to_owned);
    let mut servers = vec![ServerView {
        name: name.clone(),
        this: true,
        connected: state.is_connected && fleet.is_connected(),
        version: Some(own.version),
        leased_games: fleet.is_shared().then_some(own.leased_games),
        live_games: Some(own.live_games),
        seconds: Some(own.seconds),
    }];
    if !fleet.is_shared() {
        return Ok(servers);
    }
    let statuses: std::collections::BTreeMap<_, _> = state.live_servers().collect();
    for other in app.store.servers().await?.into_iter().filter(|other| *other != name) {
        let status = statuses.get(&other);
        servers.push(ServerView {
            this: false,
            connected: status.is_some(),
            version: status.map(|status| status.version.clone()),
            leased_games: status.map(|status| status.leased_games),
            live_games: status.map(|status| status.live_games),
            seconds: status.map(|status| status.seconds),
            name: other,
        });
    }
    Ok(servers)
}
