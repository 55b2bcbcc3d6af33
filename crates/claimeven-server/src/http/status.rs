//! For operators: health, readiness and metrics.

use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::extract::{ApiResult, AppState};
use crate::error::{Error, ErrorView};
use crate::store::Store;

/// Whether the server responds.
#[utoipa::path(get, path = "/healthz", responses((status = 200, body = String)))]
pub(crate) async fn health() -> &'static str {
    "ok\n"
}

/// Whether the server is ready for games: it is not shutting down, and a write to the database can be
/// read over another connection.
#[utoipa::path(get, path = "/readyz", responses((status = 200, body = String), (status = 503, body = ErrorView)))]
pub(crate) async fn ready(State(app): AppState) -> ApiResult<&'static str> {
    if app.games.is_closing() {
        return Err(Error::Busy("The server is shutting down".to_owned(), 5));
    }
    if app.readiness.check(&app.store).await {
        return Ok("ready\n");
    }
    Err(Error::Busy("The database is not available".to_owned(), 5))
}

/// Checks of the database. Each of them writes, so requests at the same time share one.
#[derive(Default)]
pub(crate) struct Readiness {
    /// When the database was last checked, and whether it worked. Locked during a check.
    last: tokio::sync::Mutex<Option<(Instant, bool)>>,
}

impl Readiness {
    /// Whether the database works.
    async fn check(&self, store: &Store) -> bool {
        const TIMEOUT: Duration = Duration::from_secs(5);
        /// How long the database counts as working after a check.
        const VALID: Duration = Duration::from_secs(1);
        let asked = Instant::now();
        let mut last = self.last.lock().await;
        if let Some((checked, works)) = *last
            && (checked >= asked || (works && checked.elapsed() < VALID))
        {
            return works;
        }
        let error = match tokio::time::timeout(TIMEOUT, store.check_health()).await {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("no response in time".to_owned()),
        };
        if let Some(error) = &error {
            tracing::error!(error, "The database is not available");
        }
        *last = Some((Instant::now(), error.is_none()));
        error.is_none()
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::sqlite;

    #[tokio::test(flavor = "multi_thread")]
    async fn checks_at_the_same_time_share_one_write() {
        let (store, _folder) = sqlite().await;
        store.execute("CREATE TABLE writes (number)").await;
        for (name, write) in [("a", "INSERT"), ("b", "UPDATE")] {
            let trigger = format!(
                "CREATE TRIGGER {name} AFTER {write} ON settings WHEN NEW.name = 'health' \
                 BEGIN INSERT INTO writes VALUES (1); END"
            );
            store.execute(trigger.leak()).await;
        }
        let readiness = Readiness::default();
        let checks = (0..50).map(|_| readiness.check(&store));
        assert!(futures_util::future::join_all(checks).await.into_iter().all(|works| works));
        assert_eq!(store.number("SELECT COUNT(*) FROM writes").await, 1);
    }
}
