//! Starting, running and shutting down the server.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use claimeven_arena::FLEET_VERSION;
use sha2::{Digest, Sha256};
use tokio::net::TcpListener;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use crate::admin::{Admin, Retention};
use crate::bans::Bans;
use crate::bus::{Inbox, Message, ServerStatus};
use crate::config::Config;
use crate::error::Error;
use crate::fleet::Fleet;
use crate::http::listener::{self, CLOSING_TIME};
use crate::http::request::Refusals;
use crate::http::status::Readiness;
use crate::http::tls::Tls;
use crate::http::{self, Guard, Reach};
use crate::live_games::LiveGames;
use crate::metrics::Metrics;
use crate::monitor::Monitor;
use crate::quota::Quota;
use crate::secret_key::signing_key;
use crate::store::{Store, StoreError};
use crate::visitor::{Signer, hex};
use crate::work::analyzers::Analyzers;
use crate::work::coaches::Coaches;
use crate::work::engine::Engine;
use crate::work::jobs::Jobs;
use crate::work::review::{Failures, Reviewed, UnfinishedReviews, review_when_idle};

/// The state shared by all handlers.
pub(crate) struct App {
    pub(crate) config: Arc<Config>,
    pub(crate) store: Store,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) guard: Guard,
    pub(crate) reach: Reach,
    pub(crate) bans: Bans,
    pub(crate) readiness: Readiness,
    pub(crate) refusals: Refusals,
    pub(crate) signer: Signer,
    pub(crate) games: Arc<LiveGames>,
    pub(crate) engine: Arc<Engine>,
    pub(crate) analyzers: Analyzers,
    pub(crate) coaches: Arc<Coaches>,
    pub(crate) unfinished_reviews: UnfinishedReviews,
    pub(crate) jobs: Arc<Jobs>,
    pub(crate) monitor: Arc<Monitor>,
    started: Instant,
}

impl App {
    /// The status that this server publishes.
    pub(crate) fn status(&self) -> ServerStatus {
        ServerStatus {
            version: FLEET_VERSION.to_owned(),
            leased_games: self.games.fleet().leased_games(),
            live_games: self.games.len(),
            seconds: self.started.elapsed().as_secs(),
        }
    }
}

/// A server with an open database, bound to its address.
pub struct Server {
    listener: TcpListener,
    tls: Option<Arc<Tls>>,
    app: Arc<App>,
    /// The messages of the other servers of the database.
    inbox: Option<Inbox>,
}

/// Why a server cannot start or continue.
#[derive(Debug)]
#[non_exhaustive]
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
    pub async fn start(mut config: Config) -> Result<Server, ServerError> {
        if let Some(limit) = listener::raise_file_limit()
            && config.fit_connections(limit)
        {
            tracing::warn!(
                limit,
                connections = config.connections,
                sockets = config.sockets,
                "Accepts fewer connections, because this process may open only a few files"
            );
        }
        let database = |error: StoreError| ServerError::Database {
            database: config.redacted_database(),
            reason: error.to_string(),
        };
        let reach = Reach::new(&config).map_err(ServerError::Other)?;
        let tls = Tls::new(&config).map_err(ServerError::Other)?;
        // An SQLite file has only one server, although that may have workers.
        let is_shared = !config.nats.is_empty() && config.is_postgres();
        let name: Option<Arc<str>> = is_shared.then(|| claimeven_work::process_name().into());
        let connections = config.database_connections.max(2);
        let opened = Store::open(&config.database, connections, name.clone()).await;
        let store = opened.map_err(database)?;
        let secret = signing_key(&config, &store).await?;
        let signer = Signer::new(&secret, config.secure_cookies || config.has_tls());
        let addr = config.addr;
        let listener = TcpListener::bind(addr).await;
        let listener =
            listener.map_err(|error| ServerError::Address { addr, reason: error.to_string() })?;
        let metrics = Metrics::new().map_err(|error| ServerError::Other(error.to_string()))?;
        let metrics = Arc::new(metrics);
        let (fleet, inbox, is_first) = match &name {
            None => (Fleet::alone(store.clone(), Arc::clone(&metrics)), None, true),
            Some(name) => {
                let key = hash_key(&secret);
                let joined = Fleet::join(&config, store.clone(), name, key, &metrics).await;
                let (fleet, inbox, is_first) = joined.map_err(ServerError::Other)?;
                tracing::info!(name = &**name, is_first, "Joined the servers of the database");
                (fleet, Some(inbox), is_first)
            }
        };
        let fleet = Arc::new(fleet);
        let monitor = Arc::new(Monitor::new(&config));
        let config = Arc::new(config);
        let engine = Arc::new(Engine::new(&config, &metrics));
        let games = LiveGames::new(
            Arc::clone(&config),
            store.clone(),
            Arc::clone(&fleet),
            Arc::clone(&engine),
            Arc::clone(&metrics),
        );
        let other = |error: StoreError| ServerError::Other(format!("{error:?}"));
        // In a fleet, the other servers have taken over the games of a server that stopped or died.
        let resumed = if is_first { games.resume().await.map_err(other)? } else { 0 };
        if resumed > 0 {
            tracing::info!(games = resumed, "Resumed games");
        }
        let jobs = Jobs::new(
            Arc::clone(&config),
            store.clone(),
            fleet,
            Arc::clone(&engine),
            Arc::clone(&monitor),
        );
        jobs.start().await.map_err(other)?;
        let app = App {
            guard: Guard::new(Arc::clone(&config)),
            reach,
            bans: Bans::default(),
            readiness: Readiness::default(),
            refusals: Refusals::default(),
            analyzers: Analyzers::default(),
            coaches: Arc::default(),
            unfinished_reviews: UnfinishedReviews::default(),
            config,
            store,
            metrics,
            signer,
            games,
            engine,
            jobs,
            monitor,
            started: Instant::now(),
        };
        Ok(Server { listener, tls, app: Arc::new(app), inbox })
    }

    /// The address it listens on.
    pub fn addr(&self) -> Result<SocketAddr, ServerError> {
        self.listener.local_addr().map_err(|error| ServerError::Other(error.to_string()))
    }

    /// Serves until `stop` completes or another server takes over the database, then shuts down within
    /// ten seconds: no new requests, moves in progress are stored, watchers are notified. Work that is
    /// unfinished by then is aborted and logged.
    pub async fn run(self, stop: impl Future<Output = ()> + Send) -> Result<(), ServerError> {
        let Server { listener, tls, app, inbox } = self;
        let acceptor = tls.as_ref().map(Tls::acceptor).transpose().map_err(ServerError::Other)?;
        let _renewal = tls.map(|tls| AbortOnDropHandle::new(tokio::spawn(tls.keep_current())));
        let mut sweeper = AbortOnDropHandle::new(tokio::spawn(sweep(Arc::clone(&app.games))));
        let reviewer = AbortOnDropHandle::new(tokio::spawn(review(Arc::clone(&app))));
        let operator = AbortOnDropHandle::new(tokio::spawn(follow_operator(Arc::clone(&app))));
        let pruner = AbortOnDropHandle::new(tokio::spawn(prune(Arc::clone(&app.config))));
        let counter = AbortOnDropHandle::new(tokio::spawn(count(app.store.clone())));
        let fleet = inbox.map(|inbox| join_fleet(&app, inbox));
        let watcher = AbortOnDropHandle::new(tokio::spawn(watch_fleet(Arc::clone(&app))));
        let quota = Quota::new(app.config.connections, app.config.connections_per_address, 0);
        let proxies = Arc::clone(&app);
        let is_proxy = move |peer: SocketAddr| proxies.reach.is_proxy(peer.ip());
        let router = http::router(Arc::clone(&app));
        let mut failure = None;
        let stop = async {
            failure = tokio::select! {
                () = stop => None,
                // Two servers that write the same games would contradict each other.
                () = app.store.taken_over().cancelled() => {
                    Some("another server has taken over the database")
                }
                // A server that stores nothing, or that never looks after its games, is of no use. A
                // supervisor can start it again.
                () = app.store.writer_ended().cancelled() => {
                    Some("the task that writes to the database has failed")
                }
                _ = &mut sweeper => Some("the task that looks after the games has failed"),
            };
        };
        let connections = listener::serve(listener, router, quota, is_proxy, acceptor, stop).await;
        tracing::info!("Shutting down");
        drop((sweeper, reviewer, operator, pruner, counter, fleet, watcher));
        let work = async { tokio::join!(app.jobs.close(), app.games.close()) };
        // Watchers keep their connections open until their games disconnect them.
        let (stored, ()) = tokio::join!(timeout(CLOSING_TIME, work), connections.close());
        if stored.is_err() {
            tracing::warn!(
                jobs = app.jobs.running_ids().join(" "),
                changes = app.games.unfinished_changes(),
                "Aborted unfinished work; jobs resume from their last stored state"
            );
        }
        failure.map_or(Ok(()), |reason| Err(ServerError::Other(reason.to_owned())))
    }
}

/// A hash by which servers compare their keys.
fn hash_key(key: &str) -> String {
    hex(&Sha256::digest(format!("claimeven fleet {key}").as_bytes()))
}

/// Handles messages of the other servers and sends heartbeats until the handles are dropped.
fn join_fleet(app: &Arc<App>, inbox: Inbox) -> [AbortOnDropHandle<()>; 2] {
    let (jobs, monitor) = (Arc::clone(&app.jobs), Arc::clone(&app.monitor));
    let listener = Arc::clone(&app.games).listen(inbox, move |server, message| match message {
        Message::StopJob { job } => jobs.cancel(job),
        message => monitor.record_server(server, message),
    });
    let (lapsed, ticking) = (Arc::clone(&app.jobs), Arc::clone(app));
    let on_lapse = move || lapsed.cancel_all();
    let on_tick = move || {
        let app = Arc::clone(&ticking);
        async move {
            app.games.fleet().publish(Message::Status(app.status()));
            if let Err(error) = app.jobs.requeue().await {
                tracing::warn!(?error, "Failed to look for jobs to take over");
            }
        }
    };
    let fleet_tasks = Arc::clone(&app.games).run_fleet_tasks(on_lapse, on_tick);
    [tokio::spawn(listener), tokio::spawn(fleet_tasks)].map(AbortOnDropHandle::new)
}

/// Watches the workers.
async fn watch_fleet(app: Arc<App>) {
    let name = app.store.server_name().unwrap_or("claimeven serve");
    Box::pin(app.monitor.watch(name, &app.metrics)).await;
}

async fn sweep(games: Arc<LiveGames>) {
    const TICKS_PER_ABANDON_CHECK: u64 = 100;
    let mut interval = tokio::time::interval(Duration::from_secs(5));
    for tick in 0_u64.. {
        interval.tick().await;
        games.sweep().await;
        if tick.is_multiple_of(TICKS_PER_ABANDON_CHECK) {
            games.abandon_old().await;
        }
    }
}

/// Applies the changes that operators' commands have written into the database.
async fn follow_operator(app: Arc<App>) {
    let mut interval = tokio::time::interval(Duration::from_secs(2));
    let mut known = None;
    loop {
        interval.tick().await;
        let applied = async {
            app.refusals.report();
            // Bans also expire by themselves.
            app.bans.set(app.store.bans().await?);
            let notice = app.store.notice().await?;
            if known != notice {
                app.jobs.stop_deleted().await?;
                app.games.reload_changed().await?;
                known = notice;
            }
            Ok::<(), Error>(())
        };
        if let Err(error) = applied.await {
            tracing::error!(?error, "Failed to apply the operator's changes");
        }
    }
}

/// Deletes what the retention settings do not keep, at the start and every hour.
async fn prune(config: Arc<Config>) {
    let limit = |limit: u64| Some(limit).filter(|limit| *limit > 0);
    let retention = Retention {
        older_than: limit(config.prune_days).map(|days| Duration::from_hours(24) * days as u32),
        max_bytes: limit(config.prune_mb).map(|mb| mb * 1_000_000),
    };
    if retention.older_than.is_none() && retention.max_bytes.is_none() {
        return;
    }
    let mut interval = tokio::time::interval(Duration::from_hours(1));
    loop {
        interval.tick().await;
        let pruned = async { Admin::open(&config).await?.prune(&retention).await };
        match pruned.await {
            Ok(pruned) if pruned.games + pruned.tournaments > 0 => {
                tracing::info!(?pruned, "Deleted old games");
            }
            Ok(_) => {}
            Err(error) => tracing::error!(%error, "Failed to delete old games"),
        }
    }
}

/// Adds the finished games of an older database to the totals, in batches that take at most half of
/// the writer's time.
async fn count(store: Store) {
    const MAX_PAUSE: Duration = Duration::from_mins(1);
    let (mut counted, mut pause) = (0, Duration::from_secs(1));
    loop {
        let started = Instant::now();
        match store.count_finished().await {
            Ok(0) => break,
            Ok(games) => {
                counted += games;
                pause = Duration::from_secs(1);
                tokio::time::sleep(started.elapsed()).await;
            }
            Err(error) => {
                tracing::warn!(?error, ?pause, "Failed to count finished games");
                tokio::time::sleep(pause).await;
                pause = (2 * pause).min(MAX_PAUSE);
            }
        }
    }
    if counted > 0 {
        tracing::info!(games = counted, "Counted finished games");
    }
}

/// Reviews finished games one after another while the engine is idle. A failure is logged and
/// followed by a growing pause; a game that keeps failing is skipped.
async fn review(app: Arc<App>) {
    const IDLE: Duration = Duration::from_secs(3);
    const MAX_PAUSE: Duration = Duration::from_mins(10);
    let (mut pause, mut failures) = (IDLE, Failures::default());
    loop {
        match review_when_idle(&app.engine, &app.coaches, &app.store, &mut failures).await {
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
