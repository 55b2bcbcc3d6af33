//! Visitors: their stored data, and deleting it.

use std::time::Instant;

use sqlx::{AnyConnection, AssertSqlSafe, Connection, Row};

use super::{Change, Store, StoreError, games};
use crate::visitor::Visitor;

/// The tables and columns that contain visitors.
const VISITOR_COLUMNS: [(&str, &str); 4] =
    [("games", "owner"), ("games", "holder0"), ("games", "holder1"), ("jobs", "owner")];

/// The number of games per transaction, so that others can write in between.
const CHUNK: i64 = 100;

impl Store {
    /// Removes a visitor from all their games. Games that belong to nobody else are deleted; those
    /// in progress with another person are resigned.
    pub(crate) async fn forget_visitor(&self, who: &Visitor) -> Result<(), StoreError> {
        while self.change(Change::ForgetVisitor(who.clone())).await? > 0 {}
        Ok(())
    }
}

/// Removes a visitor from some of their games; returns the number of games.
pub(crate) async fn forget(
    connection: &mut AnyConnection,
    who: &Visitor,
) -> Result<u64, StoreError> {
    // One query per index, because with OR not both databases would use the indexes.
    let sql = format!(
        "SELECT id, version FROM games WHERE owner = $1 \
         UNION SELECT id, version FROM games WHERE holder0 = $1 \
         UNION SELECT id, version FROM games WHERE holder1 = $1 LIMIT {CHUNK}"
    );
    let rows = sqlx::query(AssertSqlSafe(sql))
        .bind(who.key().to_owned())
        .fetch_all(&mut *connection)
        .await?;
    for row in &rows {
        let (id, version): (String, i64) = (row.try_get(0)?, row.try_get(1)?);
        let stays = match games::load(connection, &id).await {
            Ok(Some(mut session)) => {
                session.resign_and_forget(who, Instant::now()).then_some(session)
            }
            // A game that cannot be read is useless to the others, too.
            Ok(None) | Err(_) => None,
        };
        match stays {
            Some(mut session) => {
                session.version += 1;
                let stored = session.moves.len();
                games::update(connection, &session, stored..stored).await?;
            }
            None => drop(games::delete(connection, &id, version.cast_unsigned()).await?),
        }
    }
    Ok(rows.len() as u64)
}

/// Replaces the ids that earlier versions stored with their hashes, once.
pub(super) async fn hash_ids(connection: &mut AnyConnection) -> Result<(), StoreError> {
    const MARK: &str = "visitors";
    let mut transaction = connection.begin().await?;
    let mark = sqlx::query("SELECT content FROM settings WHERE name = $1").bind(MARK);
    if mark.fetch_optional(&mut *transaction).await?.is_some() {
        return Ok(());
    }
    for (table, column) in VISITOR_COLUMNS {
        let sql = format!(
            "SELECT DISTINCT {column} FROM {table} WHERE LENGTH({column}) = {}",
            Visitor::ID_LENGTH
        );
        let update = format!("UPDATE {table} SET {column} = $1 WHERE {column} = $2");
        for row in sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut *transaction).await? {
            let id: String = row.try_get(0)?;
            let key = Visitor::of(&id).key().to_owned();
            let update = sqlx::query(AssertSqlSafe(update.clone())).bind(key).bind(id);
            update.execute(&mut *transaction).await?;
        }
    }
    let sql = "INSERT INTO settings (name, content) VALUES ($1, 'hashed')";
    sqlx::query(sql).bind(MARK).execute(&mut *transaction).await?;
    transaction.commit().await?;
    Ok(())
}
