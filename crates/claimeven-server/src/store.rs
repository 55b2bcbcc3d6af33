//! Storage: one set of statements for SQLite and PostgreSQL.
//!
//! One task writes, over a connection of its own. It takes all changes that arrived while it was
//! busy, makes them in one transaction and answers after the commit, so a slow disk does not turn
//! into a queue. Reads use a pool.

mod games;
mod jobs;
mod lock;
mod migrations;
mod reviews;
mod statistics;
mod writer;

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use sqlx::any::{AnyConnectOptions, AnyPoolOptions};
use sqlx::{AnyConnection, AnyPool, Executor, Row};
use tokio::sync::{mpsc, oneshot};

use crate::session::GameSession;
use crate::visitor::random_hex;

pub(crate) use games::Filter;
pub(crate) use jobs::{Job, Kind, State};
pub(crate) use reviews::StoredReview;
pub(crate) use statistics::{Played, PlayedSeat};

use jobs::JobChange;
use lock::ServerLock;
use writer::Writer;

/// A handle to the database.
#[derive(Clone)]
pub(crate) struct Store {
    pool: AnyPool,
    changes: mpsc::Sender<Request>,
    /// Kept for as long as anyone uses the database.
    _lock: Arc<ServerLock>,
}

/// A change, and where its result goes: how many rows it changed.
type Request = (Change, oneshot::Sender<Result<u64, StoreError>>);

/// Something to write.
#[derive(Clone, Debug)]
enum Change {
    Create(Box<GameSession>),
    /// The new state of a game, and how many of the stored moves stay.
    Update(Box<GameSession>, usize),
    Delete(String, u64),
    Abandon(i64),
    RestartTurns(i64),
    Review(Box<StoredReview>),
    Job(Box<JobChange>),
    /// Sets a text in `settings`.
    Set(&'static str, String),
    /// Sets a text in `settings` unless it is set already.
    SetOnce(&'static str, String),
}

/// Why the database did not do what it was asked.
#[derive(Clone, Debug)]
pub(crate) enum StoreError {
    /// Another process has changed the game in the meantime.
    Stale,
    /// Anything else, for the log.
    Broken(String),
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> StoreError {
        StoreError::Broken(error.to_string())
    }
}

#[allow(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
fn broken(message: impl ToString) -> StoreError {
    StoreError::Broken(message.to_string())
}

impl Store {
    /// Opens or creates the database and runs its migrations. Fails if another server uses it.
    pub(crate) async fn open(url: &str, connections: u32) -> Result<Store, StoreError> {
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
            ServerLock::postgres(options.clone()).await?
        };
        let pool = AnyPoolOptions::new()
            .max_connections(connections)
            .acquire_timeout(Duration::from_secs(10))
            .after_connect(move |connection, _| {
                Box::pin(async move { prepare(connection, is_sqlite).await })
            })
            .connect_with(options.clone())
            .await?;
        migrations::migrator().run(&pool).await.map_err(broken)?;
        let (changes, inbox) = mpsc::channel(1024);
        tokio::spawn(Writer::new(options, is_sqlite).run(inbox));
        Ok(Store { pool, changes, _lock: Arc::new(lock) })
    }

    /// A text that is generated once and kept, such as the key that signs cookies.
    pub(crate) async fn secret(&self, name: &'static str) -> Result<String, StoreError> {
        self.change(Change::SetOnce(name, random_hex::<32>())).await?;
        self.setting(name).await?.ok_or_else(|| broken(format!("setting '{name}' is missing")))
    }

    /// Whether the database stores what it is given: writes a text and reads it back over another
    /// connection.
    pub(crate) async fn check_health(&self) -> Result<(), StoreError> {
        const NAME: &str = "health";
        let written = random_hex::<8>();
        self.change(Change::Set(NAME, written)).await?;
        match self.setting(NAME).await? {
            // Another check may have written in the meantime.
            Some(_) => Ok(()),
            None => Err(broken("a committed write cannot be read back")),
        }
    }

    async fn setting(&self, name: &'static str) -> Result<Option<String>, StoreError> {
        let row = sqlx::query("SELECT content FROM settings WHERE name = $1")
            .bind(name)
            .fetch_optional(&self.pool)
            .await?;
        Ok(row.map(|row| row.try_get(0)).transpose()?)
    }

    /// Makes a change; how many rows it changed. Returns after the commit.
    async fn change(&self, change: Change) -> Result<u64, StoreError> {
        let (reply, result) = oneshot::channel();
        let closed = || broken("the database is closed");
        self.changes.send((change, reply)).await.map_err(|_| closed())?;
        result.await.map_err(|_| closed())?
    }

    /// Makes a change to one game that must still be in the expected version.
    async fn change_one(&self, change: Change) -> Result<(), StoreError> {
        if self.change(change).await? == 0 { Err(StoreError::Stale) } else { Ok(()) }
    }
}

/// The file of an SQLite URL, if it is in one.
pub(crate) fn sqlite_file(url: &str) -> Option<&str> {
    let path = url.strip_prefix("sqlite:")?;
    let path = path.strip_prefix("//").unwrap_or(path);
    path.split('?').next().filter(|path| !path.is_empty() && *path != ":memory:")
}

/// Settings of a new connection.
async fn prepare(connection: &mut AnyConnection, is_sqlite: bool) -> Result<(), sqlx::Error> {
    if is_sqlite {
        // A commit is on disk when it returns, and readers do not wait for the writer.
        let pragmas = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
                       PRAGMA busy_timeout = 10000;";
        connection.execute(sqlx::raw_sql(pragmas)).await?;
    }
    Ok(())
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

#[cfg(test)]
mod tests;
