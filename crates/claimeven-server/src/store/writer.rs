//! The task that writes to the database.
//!
//! It sends BEGIN and COMMIT itself, over a connection that it drops after any error. The driver's
//! transactions count their depth: if SQLite rolls back by itself, for instance because the disk is
//! full, that count stays above zero, and every later "commit" only releases a savepoint of a
//! transaction that never ends. Here BEGIN inside a transaction and COMMIT outside one are errors,
//! so a change is acknowledged only after a commit that every other connection can see.

use std::time::Duration;

use sqlx::any::AnyConnectOptions;
use sqlx::{AnyConnection, ConnectOptions, Connection, Executor};
use tokio::sync::mpsc;

use super::leases::LeaseChange;
use super::{
    Change, Request, StoreError, broken, games, jobs, leases, prepare, puzzles, reviews, totals,
    visitors,
};

/// The writing half of the store.
pub(super) struct Writer {
    options: AnyConnectOptions,
    is_sqlite: bool,
    /// `None` before the first write and after an error.
    connection: Option<AnyConnection>,
}

/// How long opening a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long one transaction may take, so that a hanging database cannot block all writes forever.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

impl Writer {
    pub(super) fn new(options: AnyConnectOptions, is_sqlite: bool) -> Writer {
        Writer { options, is_sqlite, connection: None }
    }

    /// Applies changes as they arrive; all that are waiting go into one transaction.
    pub(super) async fn run(mut self, mut inbox: mpsc::Receiver<Request>) {
        const MAX_BATCH: usize = 256;
        let mut batch = Vec::new();
        while inbox.recv_many(&mut batch, MAX_BATCH).await > 0 {
            // Other servers write to the same rows; with a common order they do not deadlock.
            batch.sort_by(|(one, _), (other, _)| write_order(one).cmp(&write_order(other)));
            let (changes, replies): (Vec<Change>, Vec<_>) = batch.drain(..).unzip();
            let results = self.write_all(&changes).await;
            for (reply, result) in replies.into_iter().zip(results) {
                // The caller may have been dropped.
                let _ = reply.send(result);
            }
        }
        if let Some(connection) = self.connection.take() {
            let _ = connection.close().await;
        }
    }

    /// Applies all changes in one transaction or, if one of them fails, each in its own, so that a bad
    /// one does not affect the others.
    async fn write_all(&mut self, changes: &[Change]) -> Vec<Result<u64, StoreError>> {
        let error = match self.write(changes).await {
            Ok(rows) => return rows.into_iter().map(Ok).collect(),
            Err(error) => error,
        };
        tracing::error!(?error, changes = changes.len(), "Failed to write to the database");
        let mut failure = match error {
            WriteError::Unreachable(error) => Some(error),
            WriteError::Refused(error) if changes.len() == 1 => Some(error),
            WriteError::Refused(_) => None,
        };
        let mut results = Vec::with_capacity(changes.len());
        for change in changes {
            if let Some(error) = &failure {
                results.push(Err(error.clone()));
                continue;
            }
            results.push(match self.write(std::slice::from_ref(change)).await {
                Ok(rows) => Ok(rows.iter().sum()),
                Err(WriteError::Refused(error)) => Err(error),
                Err(WriteError::Unreachable(error)) => Err(failure.insert(error).clone()),
            });
        }
        results
    }

    /// Applies changes in one transaction; returns the number of rows that each changed. Transactions of
    /// different servers can deadlock; PostgreSQL aborts one of them, which is then retried.
    async fn write(&mut self, changes: &[Change]) -> Result<Vec<u64>, WriteError> {
        const ATTEMPTS: u64 = 5;
        for attempt in 1..ATTEMPTS {
            match self.write_once(changes).await {
                Err(WriteError::Refused(StoreError::Deadlock)) => {
                    tokio::time::sleep(Duration::from_millis(fastrand::u64(1..=10 * attempt)))
                        .await;
                }
                written => return written,
            }
        }
        self.write_once(changes).await
    }

    /// One attempt. After an error the connection is dropped, which rolls back the transaction.
    async fn write_once(&mut self, changes: &[Change]) -> Result<Vec<u64>, WriteError> {
        let mut connection = self.begin().await.map_err(WriteError::Unreachable)?;
        let transaction = transaction(&mut connection, changes);
        let error = match tokio::time::timeout(WRITE_TIMEOUT, transaction).await {
            Ok(Ok(rows)) => {
                self.connection = Some(connection);
                return Ok(rows);
            }
            Ok(Err(error)) => WriteError::Refused(error),
            Err(_) => WriteError::Unreachable(broken("the database does not respond")),
        };
        // Closing rolls back; do not wait for a database that does not respond.
        let _ = tokio::time::timeout(CONNECT_TIMEOUT, connection.close_hard()).await;
        Err(error)
    }

    /// A connection with an open transaction. If the database has closed the last one, for instance
    /// because it restarted, a new one is opened.
    async fn begin(&mut self) -> Result<AnyConnection, StoreError> {
        if let Some(mut connection) = self.connection.take() {
            match begin(&mut connection, self.is_sqlite).await {
                Ok(()) => return Ok(connection),
                Err(error) if is_locked(&error) => return Err(error.into()),
                Err(error) => tracing::info!(%error, "Reconnecting to the database"),
            }
            let _ = tokio::time::timeout(CONNECT_TIMEOUT, connection.close_hard()).await;
        }
        let mut connection = self.connect().await?;
        begin(&mut connection, self.is_sqlite).await?;
        Ok(connection)
    }

    async fn connect(&mut self) -> Result<AnyConnection, StoreError> {
        let connecting = async {
            let mut connection = self.options.connect().await?;
            prepare(&mut connection, self.is_sqlite).await?;
            Ok(connection)
        };
        let connected = tokio::time::timeout(CONNECT_TIMEOUT, connecting).await;
        connected.unwrap_or_else(|_| Err(broken("connecting to the database timed out")))
    }
}

/// Why a transaction failed.
#[derive(Debug)]
enum WriteError {
    /// One of its statements failed. Other changes may succeed.
    Refused(StoreError),
    /// The database cannot be reached or is locked, so no other change would succeed now.
    Unreachable(StoreError),
}

/// Begins a transaction. On SQLite this waits for other writers, so that no later statement has to.
async fn begin(connection: &mut AnyConnection, is_sqlite: bool) -> Result<(), sqlx::Error> {
    let begin = if is_sqlite { "BEGIN IMMEDIATE" } else { "BEGIN" };
    let begin = connection.execute(sqlx::raw_sql(begin));
    match tokio::time::timeout(WRITE_TIMEOUT, begin).await {
        Ok(result) => result.map(drop),
        Err(_) => Err(sqlx::Error::PoolTimedOut),
    }
}

/// Whether another process holds the lock of an SQLite database.
fn is_locked(error: &sqlx::Error) -> bool {
    const BUSY: &str = "5";
    let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
    code.is_some_and(|code| code == BUSY)
}

/// Applies changes in the open transaction and commits it.
async fn transaction(
    connection: &mut AnyConnection,
    changes: &[Change],
) -> Result<Vec<u64>, StoreError> {
    let mut rows = Vec::with_capacity(changes.len());
    for change in changes {
        rows.push(apply(connection, change).await?);
    }
    if changes.iter().any(may_finish_games) {
        totals::count_finished(connection).await?;
    }
    connection.execute(sqlx::raw_sql("COMMIT")).await?;
    Ok(rows)
}

/// The order of changes in a transaction: by the kind of rows they change first, then by row.
fn write_order(change: &Change) -> (u8, &str) {
    match change {
        Change::Lease(change) => match &**change {
            LeaseChange::Register { .. }
            | LeaseChange::Heartbeat { .. }
            | LeaseChange::Leave { .. } => (0, ""),
            LeaseChange::Take { name, .. } | LeaseChange::Release { name, .. } => (1, name),
        },
        Change::Job(_) => (2, ""),
        Change::Create(session) | Change::Update(session, _) => (3, &session.id),
        Change::Delete(id, _) => (3, id),
        Change::Review(review) => (3, &review.game),
        Change::Abandon(_) | Change::RestartTurns(_) | Change::ForgetVisitor(_) => (4, ""),
        Change::CountFinished => (5, ""),
        Change::Attempt(moves, _) => (6, moves),
        Change::Set(name, _) | Change::Unset(name) => (7, name),
    }
}

/// Whether finished games may have to be counted after a change.
fn may_finish_games(change: &Change) -> bool {
    match change {
        Change::Update(session, _) => session.end.is_some(),
        Change::Abandon(_) | Change::Review(_) | Change::ForgetVisitor(_) => true,
        _ => false,
    }
}

async fn apply(connection: &mut AnyConnection, change: &Change) -> Result<u64, StoreError> {
    match change {
        Change::Create(session) => games::create(connection, session).await,
        Change::Update(session, outdated) => {
            games::update(connection, session, outdated.clone()).await
        }
        Change::Delete(id, version) => games::delete(connection, id, *version).await,
        Change::Abandon(before) => games::abandon(connection, *before).await,
        Change::RestartTurns(now) => games::restart_turns(connection, *now).await,
        Change::Review(review) => reviews::store_review(connection, review).await,
        Change::Attempt(moves, solved) => puzzles::count(connection, moves, *solved).await,
        Change::CountFinished => totals::count_finished(connection).await,
        Change::Job(change) => jobs::apply(connection, change).await,
        Change::Lease(change) => leases::apply(connection, change).await,
        Change::Set(name, content) => {
            let sql = "INSERT INTO settings (name, content) VALUES ($1, $2) \
                       ON CONFLICT (name) DO UPDATE SET content = excluded.content";
            set(connection, sql, name, content).await
        }
        Change::Unset(name) => {
            let sql = "DELETE FROM settings WHERE name = $1";
            Ok(sqlx::query(sql).bind(*name).execute(connection).await?.rows_affected())
        }
        Change::ForgetVisitor(who) => visitors::forget(connection, who).await,
    }
}

async fn set(
    connection: &mut AnyConnection,
    sql: &'static str,
    name: &'static str,
    content: &str,
) -> Result<u64, StoreError> {
    let done = sqlx::query(sql).bind(name).bind(content.to_owned()).execute(connection).await?;
    Ok(done.rows_affected())
}
