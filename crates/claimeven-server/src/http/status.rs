//! For operators: health, readiness and metrics.

use std::time::Duration;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::extract::{ApiResult, AppState};
use crate::error::{Error, ErrorView};

/// Whether the server responds.
#[utoipa::path(get, path = "/healthz", responses((status = 200, body = String)))]
pub(crate) async fn health() -> &'static str {
    "ok\n"
}

/// Whether the server is ready for games: it is not shutting down, and a write to the database can be
/// read over another connection.
#[utoipa::path(get, path = "/readyz", responses((status = 200, body = String), (status = 503, body = ErrorView)))]
pub(crate) async fn ready(State(app): AppState) -> ApiResult<&'static str> {
    const TIMEOUT: Duration = Duration::from_secs(5);
    if app.games.is_closing() {
        return Err(Error::Busy("The server is shutting down".to_owned(), 5));
    }
    let error = match tokio::time::timeout(TIMEOUT, app.store.check_health()).await {
        Ok(Ok(())) => return Ok("ready\n"),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "no response in time".to_owned(),
    };
    tracing::error!(error, "The database is not available");
    Err(Error::Busy("The database is not available".to_owned(), 5))
}

/// Metrics in Prometheus' text format.
#[utoipa::path(get, path = "/metrics", responses((status = 200, body = String), (status = 404, body = ErrorView)))]
pub(crate) async fn metrics(State(app): AppState) -> ApiResult<Response> {
    if !app.config.metrics {
        return Err(Error::NotFound("Metrics are disabled".to_owned()));
    }
    let (people, others, thinking) = app.engine.load();
    app.metrics.live_games.set(app.games.len() as i64);
    let fleet = app.games.fleet();
    app.metrics.leased_games.set(fleet.leased_games() as i64);
    let is_connected = app.monitor.nats().is_none() || app.monitor.is_connected();
    app.metrics.connected.set(i64::from(fleet.is_connected() && is_connected));
    app.metrics.waiting_people.set(people as i64);
    app.metrics.waiting_others.set(others as i64);
    app.metrics.thinking.set(thinking as i64);
    app.metrics.agent_bytes.set(app.engine.kept_bytes() as i64);
    let text = app.metrics.text().map_err(|error| Error::Internal(error.to_string()))?;
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response())
}
