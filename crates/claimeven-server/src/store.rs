//! Storage: one set of statements for SQLite and PostgreSQL.
//!
//! A single task writes, over a separate connection. It applies all changes that arrived while it was
//! busy in one transaction and replies after the commit, so that a slow disk does not cause a long
//! queue. Reads use a pool, examine a bounded number of rows and have a deadline.

mod games;
mod jobs;
mod leases;
mod lock;
mod maintenance;
mod migrations;
mod puzzles;
mod reviews;
mod statistics;
mod totals;
mod visitors;
mod writer;

use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use sqlx::any::{AnyArguments, AnyConnectOptions, AnyPoolOptions, AnyRow};
use sqlx::query::Query;
use sqlx::{Any, AnyConnection, AnyPool, AssertSqlSafe, ConnectOptions, Connection, Executor, Row};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::session::GameSession;
use crate::visitor::{Visitor, random_hex};

pub(crate) use games::load as load_game;
pub(crate) use games::{Filter, Page};
pub(crate) use jobs::{Job, JobState, Kind};
pub(crate) use leases::SERVER_LIFETIME;
pub(crate) use maintenance::{
    check_schema, connect, create, delete_games, delete_jobs, is_served, latest_schema, lock,
    migrate, notify_server, schema_of, unreadable_games,
};
pub(crate) use migrations::is_table;
pub(crate) use puzzles::Attempts;
pub(crate) use reviews::StoredReview;
pub(crate) use statistics::{Progress, Statistics};
pub(crate) use totals::{Tally, count_all};
pub(crate) use visitors::forget as forget_games;

use jobs::JobChange;
use leases::LeaseChange;
use lock::ServerLock;
use writer::Writer;

/// A handle to the database.
#[derive(Clone)]
pub(crate) struct Store {
    pool: AnyPool,
    changes: mpsc::Sender<Request>,
    /// The name of this server, if others share the database.
    server: Option<Arc<str>>,
    /// Held during a health check.
    health: Arc<tokio::sync::Mutex<()>>,
    /// Held as long as any handle exists.
    lock: Arc<ServerLock>,
    /// Cancelled when the writing task has ended.
    writer_ended: CancellationToken,
}

/// A change, and the channel for its result: the number of rows changed.
type Request = (Change, oneshot::Sender<Result<u64, StoreError>>);

/// A change to the database.
#[derive(Clone, Debug)]
enum Change {
    Create(Box<GameSession>),
    /// The new state of a game, and the range of stored moves at the end that it no longer has.
    Update(Box<GameSession>, Range<usize>),
    Delete(String, u64),
    Abandon(i64),
    RestartTurns(i64),
    Review(Box<StoredReview>),
    /// A first attempt at a puzzle, and whether it was solved.
    Attempt(&'static str, bool),
    CountFinished,
    Job(Box<JobChange>),
    Lease(Box<LeaseChange>),
    /// Sets a text in `settings`.
    Set(&'static str, String),
    /// Removes a text from `settings`.
    Unset(&'static str),
    /// Removes a visitor from some of their games.
    ForgetVisitor(Visitor),
}

/// Why a database operation failed.
#[derive(Clone, Debug)]
pub(crate) enum StoreError {
    /// Another process has changed the game in the meantime.
    Stale,
    /// A read timed out.
    Busy,
    /// Two transactions waited for each other, and this one was aborted.
    Deadlock,
    /// The database cannot be reached, or it rejected a statement.
    Unavailable(String),
    /// Anything else, for the log.
    Broken(String),
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Unavailable(reason) | StoreError::Broken(reason) => f.write_str(reason),
            StoreError::Stale => f.write_str("changed in the meantime"),
            StoreError::Busy => f.write_str("the database did not respond in time"),
            StoreError::Deadlock => f.write_str("two changes waited for each other"),
        }
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> StoreError {
        const DEADLOCK: &str = "40P01";
        let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
        if code.is_some_and(|code| code == DEADLOCK) {
            return StoreError::Deadlock;
        }
        match error {
            sqlx::Error::Database(_)
            | sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::WorkerCrashed => StoreError::Unavailable(error.to_string()),
            error => StoreError::Broken(error.to_string()),
        }
    }
}

#[allow(clippy::needless_pass_by_value, reason = "the signature that `map_err` needs")]
fn broken(message: impl ToString) -> StoreError {
    StoreError::Broken(message.to_string())
}

type AnyQuery<'q> = Query<'q, Any, AnyArguments>;

/// How long a read may wait for a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);

/// A connection that was idle for longer is tested before it is used.
const MAX_UNTESTED: Duration = Duration::from_secs(1);

/// How long a read may take.
const READ_TIMEOUT: Duration = Duration::from_secs(5);

impl Store {
    /// Opens or creates the database and runs its migrations. Fails if another server uses it, unless both
    /// have names, with which they share a PostgreSQL database.
    pub(crate) async fn open(
        url: &str,
        connections: u32,
        server: Option<Arc<str>>,
    ) -> Result<Store, StoreError> {
        sqlx::any::install_default_drivers();
        let is_sqlite = url.starts_with("sqlite:");
        let url = if is_sqlite && !url.contains('?') {
            format!("{url}?mode=rwc")
        } else {
            url.to_owned()
        };
        let options = AnyConnectOptions::from_str(&url)?;
        let lock = if is_sqlite {
            ServerLock::sqlite(sqlite_file(&url)).await?
        } else {
            ServerLock::postgres(options.clone(), server.is_some()).await?
        };
        // Over a connection without a timeout, because a migration may take minutes.
        let mut connection = options.connect().await?;
        prepare(&mut connection, is_sqlite).await?;
        migrations::migrator().run(&mut connection).await.map_err(broken)?;
        visitors::hash_ids(&mut connection).await?;
        connection.close().await?;
        let pool = AnyPoolOptions::new()
            .max_connections(connections)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            // A connection is tested whenever it is returned, which is recent enough for most reads.
            .test_before_acquire(false)
            .before_acquire(|connection, state| {
                Box::pin(async move {
                    if state.idle_for > MAX_UNTESTED {
                        connection.ping().await?;
                    }
                    Ok(true)
                })
            })
            .after_connect(move |connection, _| {
                Box::pin(async move {
                    prepare(connection, is_sqlite).await?;
                    limit_reads(connection, is_sqlite).await
                })
            })
            .connect_with(options.clone())
            .await?;
        let (changes, inbox) = mpsc::channel(1024);
        let (writer, writer_ended) = (Writer::new(options, is_sqlite), CancellationToken::new());
        let guard = writer_ended.clone().drop_guard();
        tokio::spawn(async move {
            // Dropped even if the writer panics.
            let _guard = guard;
            writer.run(inbox).await;
        });
        let (health, lock) = (Arc::default(), Arc::new(lock));
        Ok(Store { pool, changes, server, health, lock, writer_ended })
    }

    /// Cancelled when another server has taken over the database.
    pub(crate) fn taken_over(&self) -> &CancellationToken {
        self.lock.lost()
    }

    /// Cancelled when nothing can be written any more, because the writing task has failed.
    pub(crate) fn writer_ended(&self) -> &CancellationToken {
        &self.writer_ended
    }

    /// The signing key that earlier versions kept in the database.
    pub(crate) async fn old_signing_key(&self) -> Result<Option<String>, StoreError> {
        self.setting(OLD_KEY).await
    }

    /// Removes the signing key that earlier versions kept in the database.
    pub(crate) async fn remove_old_signing_key(&self) -> Result<(), StoreError> {
        self.change(Change::Unset(OLD_KEY)).await.map(drop)
    }

    /// Checks that the database works: writes a text and reads it back over another connection.
    pub(crate) async fn check_health(&self) -> Result<(), StoreError> {
        const NAME: &str = "health";
        // Another server may write between the two steps.
        const ATTEMPTS: usize = 3;
        // The checks of this server take turns.
        let _turn = self.health.lock().await;
        for _ in 0..ATTEMPTS {
            let written = random_hex::<8>();
            self.change(Change::Set(NAME, written.clone())).await?;
            if self.setting(NAME).await? == Some(written) {
                return Ok(());
            }
        }
        Err(broken("a committed write cannot be read back"))
    }

    async fn setting(&self, name: &'static str) -> Result<Option<String>, StoreError> {
        let query = sqlx::query("SELECT content FROM settings WHERE name = $1").bind(name);
        let row = self.fetch_optional(query).await?;
        Ok(row.map(|row| row.try_get(0)).transpose()?)
    }

    /// Reads all rows of a query, within a deadline.
    async fn fetch(&self, query: AnyQuery<'_>) -> Result<Vec<AnyRow>, StoreError> {
        self.fetch_each([query]).await.map(|[rows]| rows)
    }

    /// Reads all rows of several queries over one connection, each within a deadline.
    async fn fetch_each<const N: usize>(
        &self,
        queries: [AnyQuery<'_>; N],
    ) -> Result<[Vec<AnyRow>; N], StoreError> {
        let mut connection = match self.pool.acquire().await {
            Err(sqlx::Error::PoolTimedOut) => return Err(StoreError::Busy),
            connection => connection?,
        };
        let mut results = [const { Vec::new() }; N];
        for (query, rows) in queries.into_iter().zip(&mut results) {
            match timeout(READ_TIMEOUT, query.fetch_all(&mut *connection)).await {
                Ok(Err(sqlx::Error::Database(error))) if is_timeout(&*error) => {
                    return Err(StoreError::Busy);
                }
                Ok(read) => *rows = read?,
                Err(_) => {
                    tracing::warn!("A read took too long");
                    // Free its slot in the pool at once, without waiting for the database.
                    drop(connection.detach());
                    return Err(StoreError::Busy);
                }
            }
        }
        Ok(results)
    }

    async fn fetch_optional(&self, query: AnyQuery<'_>) -> Result<Option<AnyRow>, StoreError> {
        Ok(self.fetch(query).await?.into_iter().next())
    }

    /// Applies a change; returns the number of rows changed after the commit.
    async fn change(&self, change: Change) -> Result<u64, StoreError> {
        let (reply, result) = oneshot::channel();
        let closed = || broken("the database is closed");
        self.changes.send((change, reply)).await.map_err(|_| closed())?;
        result.await.map_err(|_| closed())?
    }

    /// Applies a change to one game, which must still have the expected version.
    async fn change_one(&self, change: Change) -> Result<(), StoreError> {
        if self.change(change).await? == 0 { Err(StoreError::Stale) } else { Ok(()) }
    }
}

/// The name of the setting in which earlier versions kept the signing key.
const OLD_KEY: &str = "cookie";

/// The file of an SQLite URL, if there is one.
pub(crate) fn sqlite_file(url: &str) -> Option<&str> {
    let path = url.strip_prefix("sqlite:")?;
    let path = path.strip_prefix("//").unwrap_or(path);
    path.split('?').next().filter(|path| !path.is_empty() && *path != ":memory:")
}

/// Configures a new connection.
async fn prepare(connection: &mut AnyConnection, is_sqlite: bool) -> Result<(), sqlx::Error> {
    if is_sqlite {
        // Commits are durable, readers do not wait for the writer, and deleted rows are
        // overwritten.
        let pragmas = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
                       PRAGMA busy_timeout = 10000; PRAGMA secure_delete = FAST;";
        connection.execute(sqlx::raw_sql(pragmas)).await?;
    }
    Ok(())
}

/// Makes PostgreSQL cancel queries that have timed out.
async fn limit_reads(connection: &mut AnyConnection, is_sqlite: bool) -> Result<(), sqlx::Error> {
    if !is_sqlite {
        let sql = format!("SET statement_timeout = {}", READ_TIMEOUT.as_millis());
        connection.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await?;
    }
    Ok(())
}

/// Whether PostgreSQL has cancelled a query because of its timeout.
fn is_timeout(error: &dyn sqlx::error::DatabaseError) -> bool {
    error.code().is_some_and(|code| code == "57014")
}

/// How far the clock of a shared database is ahead of this machine's, in milliseconds.
static DATABASE_AHEAD: AtomicI64 = AtomicI64::new(0);

/// Milliseconds since 1970, by the clock of the database if it is shared.
pub(crate) fn now_ms() -> i64 {
    machine_ms() + DATABASE_AHEAD.load(Ordering::Relaxed)
}

fn machine_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

impl Store {
    /// Compares the clock of this machine with that of the database, which `now_ms` follows from then on.
    pub(crate) async fn measure_clock(&self) -> Result<(), StoreError> {
        // Smaller differences are within the measurement error.
        const MIN_DIFFERENCE: i64 = 20;
        let sent = machine_ms();
        let database = self.database_time().await?;
        let taken = machine_ms() - sent;
        let ahead = database - sent - taken / 2;
        let error = MIN_DIFFERENCE + taken / 2;
        if (ahead - DATABASE_AHEAD.load(Ordering::Relaxed)).abs() > error {
            DATABASE_AHEAD.store(ahead, Ordering::Relaxed);
            tracing::info!(ms = ahead, "The clock of the database is ahead of this machine's");
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests;
