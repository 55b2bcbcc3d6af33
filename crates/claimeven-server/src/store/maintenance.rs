//! Access to the database for operators' commands, while a server may be running.

use std::collections::HashMap;
use std::str::FromStr;

use ipnet::IpNet;
use sqlx::any::AnyConnectOptions;
use sqlx::migrate::Migrator;
use sqlx::{AnyConnection, AssertSqlSafe, ConnectOptions, Row};

use super::lock::ServerLock;
use super::{Store, StoreError, broken, games, migrations, now_ms, prepare, sqlite_file};
use crate::visitor::random_hex;

/// A connection to an existing database.
pub(crate) async fn connect(url: &str) -> Result<AnyConnection, StoreError> {
    sqlx::any::install_default_drivers();
    let mut connection = AnyConnectOptions::from_str(url)?.connect().await?;
    prepare(&mut connection, url.starts_with("sqlite:")).await?;
    Ok(connection)
}

/// The same; an SQLite file that does not exist is created.
pub(crate) async fn create(url: &str) -> Result<AnyConnection, StoreError> {
    if url.starts_with("sqlite:") && !url.contains('?') {
        return connect(&format!("{url}?mode=rwc")).await;
    }
    connect(url).await
}

/// Takes the server's lock. Fails if a server is running.
pub(crate) async fn lock(url: &str) -> Result<ServerLock, StoreError> {
    sqlx::any::install_default_drivers();
    if url.starts_with("sqlite:") {
        return ServerLock::sqlite(sqlite_file(url)).await;
    }
    ServerLock::postgres(AnyConnectOptions::from_str(url)?, false).await
}

/// Whether a server is using the database.
pub(crate) async fn is_served(url: &str) -> Result<bool, StoreError> {
    sqlx::any::install_default_drivers();
    if url.starts_with("sqlite:") {
        return Ok(sqlite_file(url).is_some_and(ServerLock::is_taken_sqlite));
    }
    ServerLock::is_taken_postgres(AnyConnectOptions::from_str(url)?).await
}

/// The schema that this version of the program works with.
pub(crate) fn latest_schema() -> i64 {
    migrations::migrator().iter().map(|migration| migration.version).max().unwrap_or(0)
}

/// The schema of a database.
pub(crate) async fn schema_of(connection: &mut AnyConnection) -> Result<i64, StoreError> {
    let sql = "SELECT MAX(version) FROM _sqlx_migrations";
    let row = sqlx::query(sql).fetch_one(connection).await;
    let row = row.map_err(|_| broken("not a Claimeven database"))?;
    Ok(row.try_get::<Option<i64>, _>(0)?.unwrap_or(0))
}

/// Fails if the schema is not that of this version.
pub(crate) async fn check_schema(connection: &mut AnyConnection) -> Result<(), StoreError> {
    let (schema, latest) = (schema_of(connection).await?, latest_schema());
    if schema < latest {
        let message = format!(
            "schema {schema} is too old, this version needs {latest}: start the server once to upgrade it"
        );
        return Err(broken(message));
    }
    if schema > latest {
        return Err(broken(format!(
            "made by a newer version (schema {schema}, this version supports {latest})"
        )));
    }
    Ok(())
}

/// Migrates a database to a schema, which need not be the latest.
pub(crate) async fn migrate(connection: &mut AnyConnection, schema: i64) -> Result<(), StoreError> {
    let all = migrations::migrator();
    let some: Vec<_> = all.iter().filter(|script| script.version <= schema).cloned().collect();
    Migrator::with_migrations(some).run(connection).await.map_err(broken)
}

/// Deletes games with their moves and reviews; returns their number.
pub(crate) async fn delete_games(
    connection: &mut AnyConnection,
    ids: &[String],
) -> Result<u64, StoreError> {
    let mut deleted = 0;
    for id in ids {
        let query = sqlx::query("SELECT version FROM games WHERE id = $1").bind(id.clone());
        let Some(row) = query.fetch_optional(&mut *connection).await? else { continue };
        let version: i64 = row.try_get(0)?;
        deleted += games::delete(connection, id, version.cast_unsigned()).await?;
    }
    Ok(deleted)
}

/// Deletes jobs with their games; returns their number.
pub(crate) async fn delete_jobs(
    connection: &mut AnyConnection,
    ids: &[String],
) -> Result<u64, StoreError> {
    let mut deleted = 0;
    for id in ids {
        // The job first: a server that stores its games at the same time either finds no job or has
        // finished before.
        for (sql, counts) in
            [("DELETE FROM jobs WHERE id = $1", 1), ("DELETE FROM job_games WHERE job = $1", 0)]
        {
            let done = sqlx::query(sql).bind(id.clone()).execute(&mut *connection).await?;
            deleted += counts * done.rows_affected();
        }
    }
    Ok(deleted)
}

/// The games in progress that cannot be read, each with the reason.
pub(crate) async fn unreadable_games(
    connection: &mut AnyConnection,
    limit: u32,
) -> Result<Vec<(String, String)>, StoreError> {
    let sql = format!(
        "SELECT id FROM games WHERE status IN ('waiting', 'playing') ORDER BY touched DESC LIMIT {limit}"
    );
    let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut *connection).await?;
    let mut unreadable = Vec::new();
    for row in &rows {
        let id: String = row.try_get(0)?;
        if let Err(error) = games::load(connection, &id).await {
            unreadable.push((id, error.to_string()));
        }
    }
    Ok(unreadable)
}

/// The name of the setting that changes whenever another process changes the database.
const NOTICE: &str = "notice";

/// Notifies a running server of a change made by another process.
pub(crate) async fn notify_server(connection: &mut AnyConnection) -> Result<(), StoreError> {
    let sql = "INSERT INTO settings (name, content) VALUES ($1, $2) \
               ON CONFLICT (name) DO UPDATE SET content = excluded.content";
    sqlx::query(sql).bind(NOTICE).bind(random_hex::<8>()).execute(connection).await?;
    Ok(())
}

impl Store {
    /// A text that changes whenever another process changes the database.
    pub(crate) async fn notice(&self) -> Result<Option<String>, StoreError> {
        self.setting(NOTICE).await
    }

    /// The versions of the given games, as far as they exist.
    pub(crate) async fn versions(
        &self,
        ids: &[String],
    ) -> Result<HashMap<String, u64>, StoreError> {
        const CHUNK: usize = 200;
        let mut versions = HashMap::new();
        for ids in ids.chunks(CHUNK) {
            let placeholders: Vec<String> =
                (1..=ids.len()).map(|number| format!("${number}")).collect();
            let sql =
                format!("SELECT id, version FROM games WHERE id IN ({})", placeholders.join(", "));
            let query = sqlx::query(AssertSqlSafe(sql)).persistent(false);
            let query = ids.iter().cloned().fold(query, sqlx::query::Query::bind);
            for row in self.fetch(query).await? {
                versions.insert(row.try_get(0)?, row.try_get::<i64, _>(1)?.cast_unsigned());
            }
        }
        Ok(versions)
    }

    /// The address ranges that are banned now.
    pub(crate) async fn bans(&self) -> Result<Vec<IpNet>, StoreError> {
        let query = sqlx::query("SELECT addresses FROM bans WHERE expires > $1").bind(now_ms());
        let rows = self.fetch(query).await?;
        let ranges = rows.iter().map(|row| row.try_get::<String, _>(0));
        ranges.map(|range| range?.parse().map_err(broken)).collect()
    }
}
