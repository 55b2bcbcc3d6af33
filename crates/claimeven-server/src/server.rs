//! Starting, running and shutting down the server.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use crate::config::Config;
use crate::http::listener::{self, CLOSING_TIME};
use crate::http::places::Places;
use crate::http::{self, Guard, Reach};
use crate::live_games::LiveGames;
use crate::metrics::Metrics;
use crate::store::{Store, StoreError};
use crate::visitor::Signer;
use crate::work::analyzers::Analyzers;
use crate::work::engine::Engine;
use crate::work::jobs::Jobs;
use crate::work::review::{Reviewed, review_idly};

/// What all handlers share.
pub(crate) struct App {
    pub(crate) config: Arc<Config>,
    pub(crate) store: Store,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) guard: Guard,
    pub(crate) reach: Reach,
    pub(crate) signer: Signer,
    pub(crate) games: Arc<LiveGames>,
    pub(crate) engine: Arc<Engine>,
    pub(crate) analyzers: Analyzers,
    pub(crate) jobs: Arc<Jobs>,
}

/// A server with an open database, bound to its address.
pub struct Server {
    listener: TcpListener,
    app: Arc<App>,
}

/// Why a server cannot start or continue.
#[derive(Debug)]
pub enum ServerError {
    /// The database cannot be opened.
    Database {
        /// Its URL, without a password.
        database: String,
        /// The error of the database.
        reason: String,
    },
    /// The address cannot be bound.
    Address {
        /// The address.
        addr: SocketAddr,
        /// The error of the operating system.
        reason: String,
    },
    /// Anything else.
    Other(String),
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServerError::Database { database, reason } => {
                write!(f, "cannot open database {database}: {reason}")
            }
            ServerError::Address { addr, reason } => {
                write!(f, "cannot listen on {addr}: {reason}")
            }
            ServerError::Other(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for ServerError {}

impl Server {
    /// Opens the database, binds the address and resumes games and jobs.
    pub async fn start(config: Config) -> Result<Server, ServerError> {
        let database = |error: StoreError| ServerError::Database {
            database: without_password(&config.database),
            reason: match error {
                StoreError::Broken(reason) => reason,
                StoreError::Stale => "changed in the meantime".to_owned(),
            },
        };
        let reach = Reach::new(&config).map_err(ServerError::Other)?;
        let store = Store::open(&config.database, config.database_connections.max(2))
            .await
            .map_err(database)?;
        let secret = match &config.secret[..] {
            "" => store.secret("cookie").await.map_err(database)?,
            secret => secret.to_owned(),
        };
        let signer = Signer::new(&secret, config.secure_cookies);
        let addr = config.addr;
        let listener = TcpListener::bind(addr).await;
        let listener =
            listener.map_err(|error| ServerError::Address { addr, reason: error.to_string() })?;
        let metrics = Metrics::new().map_err(|error| ServerError::Other(error.to_string()))?;
        let (config, metrics) = (Arc::new(config), Arc::new(metrics));
        let engine = Arc::new(Engine::new(&config));
        let games = LiveGames::new(
            Arc::clone(&config),
            store.clone(),
            Arc::clone(&engine),
            Arc::clone(&metrics),
        );
        let other = |error: StoreError| ServerError::Other(format!("{error:?}"));
        let resumed = games.resume().await.map_err(other)?;
        if resumed > 0 {
            tracing::info!(games = resumed, "Resumed games");
        }
        let jobs = Jobs::new(Arc::clone(&config), store.clone());
        jobs.start().await.map_err(other)?;
        let app = App {
            guard: Guard::new(Arc::clone(&config)),
            reach,
            analyzers: Analyzers::default(),
            config,
            store,
            metrics,
            signer,
            games,
            engine,
            jobs,
        };
        Ok(Server { listener, app: Arc::new(app) })
    }

    /// The address it listens on.
    pub fn addr(&self) -> Result<SocketAddr, ServerError> {
        self.listener.local_addr().map_err(|error| ServerError::Other(error.to_string()))
    }

    /// Serves until `stop` completes, then shuts down within ten seconds: no new requests, moves in
    /// progress are stored, watchers are notified. What is not done by then is given up and logged.
    pub async fn run(self, stop: impl Future<Output = ()> + Send) -> Result<(), ServerError> {
        let Server { listener, app } = self;
        listener::raise_file_limit();
        let sweeper = AbortOnDropHandle::new(tokio::spawn(sweep(Arc::clone(&app.games))));
        let reviewer = AbortOnDropHandle::new(tokio::spawn(review(Arc::clone(&app))));
        let places = Places::new(app.config.connections, app.config.connections_per_address);
        let proxies = Arc::clone(&app);
        let is_proxy = move |peer: SocketAddr| proxies.reach.is_proxy(peer.ip());
        let router = http::router(Arc::clone(&app));
        let connections = listener::serve(listener, router, places, is_proxy, stop).await;
        tracing::info!("Shutting down");
        drop((sweeper, reviewer));
        let work = async { tokio::join!(app.jobs.close(), app.games.close()) };
        // Watchers keep their connections open until their games say goodbye.
        let (stored, ()) = tokio::join!(timeout(CLOSING_TIME, work), connections.close());
        if stored.is_err() {
            tracing::warn!("Gave up on work that did not end; it resumes from what is stored");
        }
        Ok(())
    }
}

async fn sweep(games: Arc<LiveGames>) {
    const TICKS_TO_OLD_GAMES: u64 = 100;
    let mut interval = tokio::time::interval(Duration::from_secs(5));
    for tick in 0_u64.. {
        interval.tick().await;
        games.sweep().await;
        if tick.is_multiple_of(TICKS_TO_OLD_GAMES) {
            games.abandon_old().await;
        }
    }
}

/// Reviews finished games one after the other while nobody is thinking. A failure is logged and
/// followed by a pause that grows.
async fn review(app: Arc<App>) {
    const IDLE: Duration = Duration::from_secs(3);
    const MAX_PAUSE: Duration = Duration::from_mins(10);
    let mut pause = IDLE;
    loop {
        match review_idly(&app.engine, &app.store).await {
            Ok(Reviewed::Game) => {
                pause = IDLE;
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            Ok(Reviewed::Nothing) => tokio::time::sleep(IDLE).await,
            Err(error) => {
                pause = (2 * pause).min(MAX_PAUSE);
                tracing::warn!(?error, ?pause, "Failed to review a game");
                tokio::time::sleep(pause).await;
            }
        }
    }
}

/// A database URL without its password.
fn without_password(url: &str) -> String {
    let hidden = url.split_once("://").and_then(|(scheme, rest)| {
        let (_, place) = rest.rsplit_once('@')?;
        Some(format!("{scheme}://…@{place}"))
    });
    hidden.unwrap_or_else(|| url.to_owned())
}
