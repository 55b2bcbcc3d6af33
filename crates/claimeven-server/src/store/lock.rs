//! One server per database, unless the servers form a fleet: otherwise two that write the same games
//! would conflict.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::PathBuf;
use std::time::Duration;

use sqlx::any::AnyConnectOptions;
use sqlx::{AnyConnection, ConnectOptions, Connection, Row};
use tokio::time::{Instant, sleep};
use tokio_util::task::AbortOnDropHandle;

use super::{StoreError, broken};

/// The exclusive right to serve a database, released on drop or at the end of the process.
pub(crate) struct ServerLock {
    /// The locked file next to an SQLite file; none for a database in memory.
    _file: Option<File>,
    /// Keeps the PostgreSQL session that holds the advisory lock alive.
    _session: Option<AbortOnDropHandle<()>>,
}

/// The key of the advisory lock: "claimeven" as a number.
const KEY: i64 = 0x636c_6169_6d65_7665;

/// How long to wait for a server that is shutting down.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The pause between two attempts to take the lock.
const PAUSE: Duration = Duration::from_millis(100);

/// How often the session of the lock is checked.
const PERIOD: Duration = Duration::from_secs(5);

impl ServerLock {
    /// The lock of an SQLite file; `None` for a database in memory.
    pub(crate) async fn sqlite(database: Option<&str>) -> Result<ServerLock, StoreError> {
        let Some(database) = database else {
            return Ok(ServerLock { _file: None, _session: None });
        };
        let path = PathBuf::from(format!("{database}.lock"));
        let failed = |error: &dyn ToString| {
            broken(format!("cannot lock {}: {}", path.display(), error.to_string()))
        };
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(|error| failed(&error))?;
        let deadline = Instant::now() + TIMEOUT;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(ServerLock { _file: Some(file), _session: None }),
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
        let task = tokio::spawn(keep_locked(options, is_shared, connection));
        Ok(ServerLock { _file: None, _session: Some(AbortOnDropHandle::new(task)) })
    }
}

impl ServerLock {
    /// Whether a server has locked an SQLite file.
    pub(crate) fn is_taken_sqlite(database: &str) -> bool {
        let file = File::open(format!("{database}.lock"));
        file.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
    }

    /// Whether a server holds the advisory lock of a PostgreSQL database.
    pub(crate) async fn is_taken_postgres(options: AnyConnectOptions) -> Result<bool, StoreError> {
        let Some(connection) = session(&options, false).await? else { return Ok(true) };
        connection.close().await?;
        Ok(false)
    }
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

/// Takes the lock again whenever its connection is lost, for instance after a restart of PostgreSQL.
async fn keep_locked(options: AnyConnectOptions, is_shared: bool, connection: AnyConnection) {
    let mut connection = Some(connection);
    loop {
        sleep(PERIOD).await;
        let is_alive = match &mut connection {
            Some(connection) => connection.ping().await.is_ok(),
            None => false,
        };
        if is_alive {
            continue;
        }
        connection = match session(&options, is_shared).await {
            Ok(Some(connection)) => Some(connection),
            Ok(None) => {
                tracing::error!("Another server has taken over the database: stop one of the two");
                None
            }
            // The database is unreachable, which the writer reports.
            Err(_) => None,
        };
    }
}
