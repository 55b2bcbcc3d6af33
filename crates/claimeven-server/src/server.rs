//! The server as a whole: from a configuration to an orderly end.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{StatusCode, header};
use axum::routing::get;
use axum::{Router, middleware};
use tokio::net::TcpListener;
use tower_http::compression::CompressionLayer;
use tower_http::timeout::TimeoutLayer;
use tower_http::trace::TraceLayer;

use crate::background::BackgroundPool;
use crate::config::Config;
use crate::error::Error;
use crate::guard::{self, Guard};
use crate::jobs::Jobs;
use crate::live_games::LiveGames;
use crate::metrics::Metrics;
use crate::store::{Store, StoreError};
use crate::study::{Study, review_idly};
use crate::visitor::Signer;
use crate::{page, routes};

/// What all handlers share.
pub(crate) struct App {
    pub(crate) games: Arc<LiveGames>,
    pub(crate) guard: Guard,
    pub(crate) signer: Signer,
    pub(crate) study: Study,
    pub(crate) background: BackgroundPool,
    pub(crate) jobs: Arc<Jobs>,
}

/// A server that has its database and its address.
pub struct Server {
    listener: TcpListener,
    app: Arc<App>,
}

/// Why a server cannot begin or go on.
#[derive(Debug)]
pub enum ServerError {
    /// The database cannot be used.
    Database {
        /// Its address, without a password.
        database: String,
        /// What it said.
        reason: String,
    },
    /// The address cannot be listened at.
    Address {
        /// The address.
        addr: SocketAddr,
        /// What the system said.
        reason: String,
    },
    /// Anything else.
    Other(String),
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServerError::Database { database, reason } => {
                write!(f, "the database {database} cannot be used: {reason}")
            }
            ServerError::Address { addr, reason } => {
                write!(f, "cannot listen at {addr}: {reason}")
            }
            ServerError::Other(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for ServerError {}

impl Server {
    /// Opens the database, goes on with its games, and takes the address.
    pub async fn start(config: Config) -> Result<Server, ServerError> {
        let database = |error: StoreError| ServerError::Database {
            database: without_password(&config.database),
            reason: match error {
                StoreError::Broken(reason) => reason,
                StoreError::Stale => "it was changed meanwhile".to_owned(),
            },
        };
        let store = Store::open(&config.database, config.database_connections.max(2))
            .await
            .map_err(database)?;
        let secret = match &config.secret[..] {
            "" => store.secret("cookie").await.map_err(database)?,
            secret => secret.to_owned(),
        };
        let signer = Signer::new(&secret, config.secure_cookies);
        let metrics = Metrics::new().map_err(|error| ServerError::Other(error.to_string()))?;
        let guard = Guard::new(config.clone());
        let addr = config.addr;
        let listener = TcpListener::bind(addr).await;
        let listener =
            listener.map_err(|error| ServerError::Address { addr, reason: error.to_string() })?;
        let background = BackgroundPool::new(config.lab_searches, config.lab_queue);
        if let Some(runs) = config.runs_folder() {
            claimeven_zero::find_runs_in(&runs);
        }
        let jobs = Jobs::new(config.clone(), store.clone());
        let live_games = LiveGames::new(config, store, metrics);
        let games =
            live_games.resume().await.map_err(|error| ServerError::Other(error.message()))?;
        if games > 0 {
            tracing::info!(games, "going on with games");
        }
        let other = |error: StoreError| ServerError::Other(format!("{error:?}"));
        jobs.start().await.map_err(other)?;
        let study = Study::default();
        Ok(Server {
            listener,
            app: Arc::new(App { games: live_games, guard, signer, study, background, jobs }),
        })
    }

    /// Where it listens.
    pub fn addr(&self) -> Result<SocketAddr, ServerError> {
        self.listener.local_addr().map_err(|error| ServerError::Other(error.to_string()))
    }

    /// Serves until `stop` comes, and then ends in order: no new requests, moves under way are
    /// stored, watchers are told.
    pub async fn run(
        self,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), ServerError> {
        let Server { listener, app } = self;
        let live_games = Arc::clone(&app.games);
        let sweeper = tokio::spawn(sweep(Arc::clone(&live_games)));
        let reviewer = tokio::spawn(review(Arc::clone(&live_games)));
        let closing = Arc::clone(&app);
        let service = router(app).into_make_service_with_connect_info::<SocketAddr>();
        let stopped = async move {
            stop.await;
            tracing::info!("stopping");
            closing.background.close();
            closing.jobs.close().await;
            // Watchers would keep the connections open.
            closing.games.close().await;
        };
        let served = axum::serve(listener, service).with_graceful_shutdown(stopped);
        let result = served.await.map_err(|error| ServerError::Other(error.to_string()));
        sweeper.abort();
        reviewer.abort();
        live_games.close().await;
        result
    }
}

async fn sweep(live_games: Arc<LiveGames>) {
    const TICKS_TO_OLD_GAMES: u64 = 100;
    let mut interval = tokio::time::interval(Duration::from_secs(5));
    for tick in 0_u64.. {
        interval.tick().await;
        live_games.sweep().await;
        if tick.is_multiple_of(TICKS_TO_OLD_GAMES) {
            live_games.abandon_old().await;
        }
    }
}

/// Judges finished games, one after the other, whenever nobody is thinking.
async fn review(live_games: Arc<LiveGames>) {
    loop {
        let pause = if review_idly(&live_games).await { 100 } else { 3000 };
        tokio::time::sleep(Duration::from_millis(pause)).await;
    }
}

fn router(app: Arc<App>) -> Router {
    let seconds = match app.games.config.request_seconds {
        0 => u64::from(u32::MAX),
        seconds => seconds,
    };
    let (api, description) = routes::api().split_for_parts();
    // Written once: the document does not change.
    let description = Bytes::from(serde_json::to_vec(&description).expect("it has text keys"));
    let is_json = [(header::CONTENT_TYPE, "application/json")];
    let openapi = get(move || async move { (is_json, description.clone()) });
    api.route("/api/openapi.json", openapi)
        .method_not_allowed_fallback(|| async { Error::Method })
        .layer(middleware::from_fn_with_state(Arc::clone(&app), guard::check))
        .fallback(page::serve)
        .layer(TimeoutLayer::with_status_code(
            StatusCode::SERVICE_UNAVAILABLE,
            Duration::from_secs(seconds),
        ))
        .layer(CompressionLayer::new())
        .layer(middleware::from_fn_with_state(Arc::clone(&app), guard::security_headers))
        .layer(TraceLayer::new_for_http())
        .with_state(app)
}

/// An address of a database for the eyes of others.
fn without_password(url: &str) -> String {
    let hidden = url.split_once("://").and_then(|(scheme, rest)| {
        let (_, place) = rest.rsplit_once('@')?;
        Some(format!("{scheme}://…@{place}"))
    });
    hidden.unwrap_or_else(|| url.to_owned())
}
