//! The servers that share a PostgreSQL database, and their leases on games and jobs.
//!
//! A server registers and sends heartbeats; its leases are valid until its registration expires. All
//! times are those of the database, so the clocks of the servers need not agree.

use std::time::Duration;

use sqlx::{AnyConnection, AssertSqlSafe, Row};

use super::{Change, Store, StoreError, broken, games};

/// How long a server counts as running after a heartbeat.
pub(crate) const SERVER_LIFETIME: Duration = Duration::from_secs(8);

/// Milliseconds since 1970 by the clock of the database.
const NOW: &str = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)";

/// The condition that a registration is valid. One that ends later than a heartbeat could have made it
/// end was made before the clock of the database was set back, and its server may have died since. Steps
/// back by less than a lifetime are tolerated, because they would end all registrations.
fn is_valid() -> String {
    let longest = 2 * SERVER_LIFETIME.as_millis();
    format!("servers.expires > {NOW} AND servers.expires <= {NOW} + {longest}")
}

/// A change to the table of servers or to that of leases.
#[derive(Clone, Debug)]
pub(super) enum LeaseChange {
    Register { server: String, signing_key: String },
    Heartbeat { server: String, signing_key: String },
    Leave { server: String },
    Take { name: String, server: String },
    Release { name: String, server: String },
}

impl Store {
    async fn change_leases(&self, change: LeaseChange) -> Result<u64, StoreError> {
        self.change(Change::Lease(Box::new(change))).await
    }

    /// The name of this server in a fleet.
    fn server(&self) -> Result<String, StoreError> {
        let server = self.server.as_deref().ok_or_else(|| broken("the database is not shared"))?;
        Ok(server.to_owned())
    }

    /// Registers this server; returns whether it is the only one. If so, running clocks are restarted,
    /// because nobody could play in the meantime. Fails if the others sign cookies with another key.
    pub(crate) async fn register_server(&self, signing_key: &str) -> Result<bool, StoreError> {
        let (server, signing_key) = (self.server()?, signing_key.to_owned());
        Ok(self.change_leases(LeaseChange::Register { server, signing_key }).await? == ALONE)
    }

    /// Renews this server's registration; returns whether it was still valid. If not, its leases are
    /// lost.
    pub(crate) async fn heartbeat(&self, signing_key: &str) -> Result<bool, StoreError> {
        let (server, signing_key) = (self.server()?, signing_key.to_owned());
        Ok(self.change_leases(LeaseChange::Heartbeat { server, signing_key }).await? > 0)
    }

    /// Ends this server's registration.
    pub(crate) async fn leave(&self) -> Result<(), StoreError> {
        self.change_leases(LeaseChange::Leave { server: self.server()? }).await.map(drop)
    }

    /// Takes a lease that is free; returns whether this server has it now.
    pub(crate) async fn take_lease(&self, name: &str) -> Result<bool, StoreError> {
        let (name, server) = (name.to_owned(), self.server()?);
        Ok(self.change_leases(LeaseChange::Take { name, server }).await? > 0)
    }

    /// Removes a lease of this server or of a dead one.
    pub(crate) async fn release_lease(&self, name: &str) -> Result<(), StoreError> {
        let (name, server) = (name.to_owned(), self.server()?);
        self.change_leases(LeaseChange::Release { name, server }).await.map(drop)
    }

    /// The name of this server, if others share the database.
    pub(crate) fn server_name(&self) -> Option<&str> {
        self.server.as_deref()
    }

    /// The names of the running servers.
    pub(crate) async fn servers(&self) -> Result<Vec<String>, StoreError> {
        let sql = format!("SELECT id FROM servers WHERE {} ORDER BY id", is_valid());
        let rows = self.fetch(sqlx::query(AssertSqlSafe(sql))).await?;
        rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
    }

    /// Leases of dead servers.
    pub(crate) async fn orphaned_leases(&self, limit: u32) -> Result<Vec<String>, StoreError> {
        let sql = format!(
            "SELECT name FROM leases WHERE NOT {} LIMIT {limit}",
            is_alive("leases.server")
        );
        let rows = self.fetch(sqlx::query(AssertSqlSafe(sql))).await?;
        rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
    }

    /// Milliseconds since 1970 by the clock of the database.
    pub(crate) async fn database_time(&self) -> Result<i64, StoreError> {
        let row = self.fetch_optional(sqlx::query(AssertSqlSafe(format!("SELECT {NOW}")))).await?;
        Ok(row.ok_or_else(|| broken("the database returned no time"))?.try_get(0)?)
    }
}

/// What `Register` returns for the only server.
const ALONE: u64 = 2;

/// The condition that a server is running.
pub(super) fn is_alive(server: &str) -> String {
    let is_valid = is_valid();
    format!("EXISTS (SELECT 1 FROM servers WHERE servers.id = {server} AND {is_valid})")
}

pub(super) async fn apply(
    connection: &mut AnyConnection,
    change: &LeaseChange,
) -> Result<u64, StoreError> {
    match change {
        LeaseChange::Register { server, signing_key } => {
            register(connection, server, signing_key).await
        }
        LeaseChange::Heartbeat { server, signing_key } => {
            let lifetime = SERVER_LIFETIME.as_millis();
            let is_valid = is_valid();
            let sql = format!(
                "UPDATE servers SET expires = {NOW} + {lifetime} WHERE id = $1 AND {is_valid}"
            );
            let extended = execute(connection, sql, &[server]).await?;
            if extended == 0 {
                // Others may have taken over some of its leases; the rest is no longer valid either.
                let sql = "DELETE FROM leases WHERE server = $1".to_owned();
                execute(connection, sql, &[server]).await?;
                insert(connection, server, signing_key).await?;
            }
            Ok(extended)
        }
        LeaseChange::Leave { server } => {
            execute(connection, "DELETE FROM servers WHERE id = $1".to_owned(), &[server]).await
        }
        LeaseChange::Take { name, server } => take(connection, name, server).await,
        LeaseChange::Release { name, server } => {
            let sql = format!(
                "DELETE FROM leases WHERE name = $1 AND (server = $2 OR NOT {})",
                is_alive("leases.server")
            );
            execute(connection, sql, &[name, server]).await
        }
    }
}

async fn register(
    connection: &mut AnyConnection,
    server: &str,
    signing_key: &str,
) -> Result<u64, StoreError> {
    // One at a time, so that only the first of several that start together restarts the clocks.
    execute(connection, "LOCK TABLE servers IN EXCLUSIVE MODE".to_owned(), &[]).await?;
    // Expired servers, and this one if its registration had expired.
    let sql = format!("DELETE FROM servers WHERE NOT ({}) OR id = $1", is_valid());
    execute(connection, sql, &[server]).await?;
    let others = sqlx::query("SELECT signing_key FROM servers").fetch_all(&mut *connection).await?;
    for other in &others {
        if other.try_get::<String, _>(0)? != signing_key {
            return Err(broken(
                "the other servers sign cookies with another key: give all of them the same secret",
            ));
        }
    }
    if others.is_empty() {
        let now = database_time(connection).await?;
        games::restart_turns(connection, now).await?;
    }
    insert(connection, server, signing_key).await?;
    Ok(if others.is_empty() { ALONE } else { 1 })
}

async fn insert(
    connection: &mut AnyConnection,
    server: &str,
    signing_key: &str,
) -> Result<u64, StoreError> {
    let lifetime = SERVER_LIFETIME.as_millis();
    let sql = format!(
        "INSERT INTO servers (id, expires, signing_key) VALUES ($1, {NOW} + {lifetime}, $2) \
         ON CONFLICT (id) DO UPDATE SET expires = excluded.expires"
    );
    execute(connection, sql, &[server, signing_key]).await
}

async fn database_time(connection: &mut AnyConnection) -> Result<i64, StoreError> {
    let row = sqlx::query(AssertSqlSafe(format!("SELECT {NOW}"))).fetch_one(connection).await?;
    Ok(row.try_get(0)?)
}

/// Takes a lease unless a running server has it; returns 1 if this one has it now.
pub(super) async fn take(
    connection: &mut AnyConnection,
    name: &str,
    server: &str,
) -> Result<u64, StoreError> {
    let sql = format!(
        "INSERT INTO leases (name, server) VALUES ($1, $2) \
         ON CONFLICT (name) DO UPDATE SET server = excluded.server \
         WHERE leases.server = excluded.server OR NOT {}",
        is_alive("leases.server")
    );
    execute(connection, sql, &[name, server]).await
}

async fn execute(
    connection: &mut AnyConnection,
    sql: String,
    texts: &[&str],
) -> Result<u64, StoreError> {
    let query = sqlx::query(AssertSqlSafe(sql));
    let query = texts.iter().fold(query, |query, text| query.bind((*text).to_owned()));
    Ok(query.execute(connection).await?.rows_affected())
}
