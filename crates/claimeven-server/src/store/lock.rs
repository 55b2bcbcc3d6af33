//! One server per database, unless the servers form a fleet: otherwise two that write the same games
//! would conflict.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::any::AnyConnectOptions;
use sqlx::{AnyConnection, ConnectOptions, Connection, Row};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::{StoreError, broken};

/// The exclusive right to serve a database, released on drop or at the end of the process.
pub(crate) struct ServerLock {
    /// The locked file next to an SQLite file; none for a database in memory.
    _file: Option<File>,
    /// Keeps the PostgreSQL session that holds the advisory lock alive.
    _session: Option<AbortOnDropHandle<()>>,
    /// Cancelled when another server has taken the lock.
    lost: CancellationToken,
}

/// The key of the advisory lock: "claimeven" as a number.
const KEY: i64 = 0x636c_6169_6d65_7665;

/// How long to wait for a server that is shutting down.
const TIMEOUT: Duration = Duration::from_secs(5);

/// How long a server tries to get its lock back. Its own session may still hold it: PostgreSQL needs a
/// while to notice that a connection was lost.
const RECLAIM_TIMEOUT: Duration = Duration::from_secs(15);

/// The pause between two attempts to take the lock.
const PAUSE: Duration = Duration::from_millis(100);

/// How often the session of the lock is checked.
const PERIOD: Duration = Duration::from_secs(5);

impl ServerLock {
    /// The lock of an SQLite file; `None` for a database in memory.
    pub(crate) async fn sqlite(database: Option<&str>) -> Result<ServerLock, StoreError> {
        let Some(database) = database else {
            return Ok(ServerLock::new(None, None, CancellationToken::new()));
        };
        let path = lock_file(database);
        let failed = |error: &dyn ToString| {
            broken(format!("cannot lock {}: {}", path.display(), error.to_string()))
        };
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(|error| failed(&error))?;
        let deadline = Instant::now() + TIMEOUT;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(ServerLock::new(Some(file), None, CancellationToken::new())),
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => sleep(PAUSE).await,
                Err(TryLockError::WouldBlock) => return Err(in_use()),
                Err(TryLockError::Error(error)) => return Err(failed(&error)),
            }
        }
    }

    /// The advisory lock of a PostgreSQL database, exclusive or shared with the other servers of a fleet.
    pub(crate) async fn postgres(
        options: AnyConnectOptions,
        is_shared: bool,
    ) -> Result<ServerLock, StoreError> {
        let deadline = Instant::now() + TIMEOUT;
        let connection = loop {
            match session(&options, is_shared).await? {
                Some(connection) => break connection,
                None if Instant::now() < deadline => sleep(PAUSE).await,
                None => return Err(in_use()),
            }
        };
        let lost = CancellationToken::new();
        let task = tokio::spawn(keep_locked(options, is_shared, connection, lost.clone()));
        Ok(ServerLock::new(None, Some(AbortOnDropHandle::new(task)), lost))
    }

    fn new(
        file: Option<File>,
        session: Option<AbortOnDropHandle<()>>,
        lost: CancellationToken,
    ) -> ServerLock {
        ServerLock { _file: file, _session: session, lost }
    }

    /// Cancelled when another server has taken the lock, for instance while PostgreSQL restarted.
    pub(crate) fn lost(&self) -> &CancellationToken {
        &self.lost
    }

    /// Whether a server has locked an SQLite file.
    pub(crate) fn is_taken_sqlite(database: &str) -> bool {
        let file = File::open(lock_file(database));
        file.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
    }

    /// Whether a server holds the advisory lock of a PostgreSQL database.
    pub(crate) async fn is_taken_postgres(options: AnyConnectOptions) -> Result<bool, StoreError> {
        let Some(connection) = session(&options, false).await? else { return Ok(true) };
        connection.close().await?;
        Ok(false)
    }
}

/// The file whose lock protects a database: next to it, whichever links lead there.
fn lock_file(database: &str) -> PathBuf {
    let database = Path::new(database);
    let folder = |path: &Path| match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    // A new database does not exist yet, but its folder does.
    let path = fs::canonicalize(database).or_else(|_| {
        let folder = fs::canonicalize(folder(database))?;
        Ok::<_, io::Error>(folder.join(database.file_name().unwrap_or_default()))
    });
    path.unwrap_or_else(|_| database.to_owned()).with_added_extension("lock")
}

fn in_use() -> StoreError {
    broken(
        "another server is using it; several can serve the games of a database only with a NATS server (docs/fleet.md)",
    )
}

/// A connection that holds the lock; `None` if another one does.
async fn session(
    options: &AnyConnectOptions,
    is_shared: bool,
) -> Result<Option<AnyConnection>, StoreError> {
    let mut connection = options.connect().await?;
    let sql = if is_shared {
        "SELECT pg_try_advisory_lock_shared($1)"
    } else {
        "SELECT pg_try_advisory_lock($1)"
    };
    let row = sqlx::query(sql).bind(KEY);
    let has_lock: bool = row.fetch_one(&mut connection).await?.try_get(0)?;
    Ok(has_lock.then_some(connection))
}

/// Takes the lock again whenever its connection is lost, for instance after a restart of PostgreSQL,
/// until another server has taken it.
async fn keep_locked(
    options: AnyConnectOptions,
    is_shared: bool,
    connection: AnyConnection,
    lost: CancellationToken,
) {
    let mut connection = Some(connection);
    loop {
        sleep(PERIOD).await;
        let is_alive = match &mut connection {
            Some(connection) => matches!(timeout(PERIOD, connection.ping()).await, Ok(Ok(()))),
            None => false,
        };
        if is_alive {
            continue;
        }
        let deadline = Instant::now() + RECLAIM_TIMEOUT;
        connection = loop {
            match timeout(PERIOD, session(&options, is_shared)).await {
                Ok(Ok(Some(connection))) => break Some(connection),
                Ok(Ok(None)) if Instant::now() < deadline => sleep(PAUSE).await,
                Ok(Ok(None)) => return lost.cancel(),
                // The database is unreachable, which the writer reports.
                Ok(Err(_)) | Err(_) => break None,
            }
        };
    }
}
