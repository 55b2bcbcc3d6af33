//! Retention: old games and tournaments are deleted by age and by the size of the database.

use std::time::Duration;

use serde::Serialize;
use sqlx::{Executor, Row};

use super::{Admin, broken};
use crate::server::ServerError;
use crate::store::{self, now_ms};

/// What to keep.
#[derive(Clone, Copy, Debug, Default)]
pub struct Retention {
    /// Finished games and tournaments without a change for this long are deleted.
    pub older_than: Option<Duration>,
    /// The oldest ones are deleted until the stored data has at most this many bytes.
    pub max_bytes: Option<u64>,
}

/// What was deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub struct Pruned {
    pub games: u64,
    pub tournaments: u64,
    /// The size of the stored data afterwards; on PostgreSQL an estimate.
    pub bytes: u64,
}

/// The number of games deleted per transaction, so that a server can write in between.
const CHUNK: u64 = 100;

/// What may be deleted: neither games in progress nor training runs.
const ENDED: [(&str, &str); 2] = [
    ("games", "status = 'finished'"),
    ("jobs", "kind = 'tournament' AND state IN ('stopped', 'done', 'failed')"),
];

impl Admin {
    /// Deletes what the retention does not keep.
    pub async fn prune(&mut self, retention: &Retention) -> Result<Pruned, ServerError> {
        let mut pruned = Pruned::default();
        if let Some(age) = retention.older_than {
            let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
            self.delete_before(now_ms().saturating_sub(age), &mut pruned).await?;
        }
        loop {
            pruned.bytes = self.stored_bytes().await?;
            let Some(max) = retention.max_bytes.filter(|max| pruned.bytes > *max) else { break };
            // Delete the excess share of the games, but at most a tenth, then measure again.
            let ended = self.count_ended().await?;
            let part = u128::from(ended) * u128::from(pruned.bytes - max);
            let part = part.div_ceil(u128::from(pruned.bytes)) as u64;
            let number = part.min(ended.div_ceil(10));
            if number == 0 {
                break;
            }
            let time = self.time_of_oldest(number).await?;
            self.delete_before(time + 1, &mut pruned).await?;
        }
        Ok(pruned)
    }

    /// What [`Admin::prune`] would delete by age; nothing is changed.
    pub async fn prunable(&mut self, older_than: Duration) -> Result<Pruned, ServerError> {
        let age = i64::try_from(older_than.as_millis()).unwrap_or(i64::MAX);
        let before = now_ms().saturating_sub(age);
        let mut counts = [0; 2];
        for ((table, ended), count) in ENDED.into_iter().zip(&mut counts) {
            let sql = format!("SELECT COUNT(*) FROM {table} WHERE {ended} AND touched < {before}");
            *count = self.number(sql).await?.cast_unsigned();
        }
        let [games, tournaments] = counts;
        Ok(Pruned { games, tournaments, bytes: self.stored_bytes().await? })
    }

    /// Deletes what ended before a time, in milliseconds since 1970.
    async fn delete_before(&mut self, time: i64, pruned: &mut Pruned) -> Result<(), ServerError> {
        for (table, ended) in ENDED {
            loop {
                let sql = format!(
                    "SELECT id FROM {table} WHERE {ended} AND touched < $1 \
                     ORDER BY touched LIMIT {CHUNK}"
                );
                let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(time);
                let rows = query.fetch_all(&mut self.connection).await.map_err(broken)?;
                let ids = rows.iter().map(|row| row.try_get(0)).collect::<Result<Vec<String>, _>>();
                let ids = ids.map_err(broken)?;
                if ids.is_empty() {
                    break;
                }
                let is_games = table == "games";
                let deleted = self
                    .change(async |connection| {
                        if is_games {
                            store::delete_games(connection, &ids).await
                        } else {
                            store::delete_jobs(connection, &ids).await
                        }
                    })
                    .await?;
                *if is_games { &mut pruned.games } else { &mut pruned.tournaments } += deleted;
                if deleted == 0 {
                    break;
                }
            }
        }
        Ok(())
    }

    async fn count_ended(&mut self) -> Result<u64, ServerError> {
        let mut all = 0;
        for (table, ended) in ENDED {
            let sql = format!("SELECT COUNT(*) FROM {table} WHERE {ended}");
            all += self.number(sql).await?;
        }
        Ok(all.cast_unsigned())
    }

    /// When the newest of the `number` oldest items was changed.
    async fn time_of_oldest(&mut self, number: u64) -> Result<i64, ServerError> {
        let times =
            ENDED.map(|(table, ended)| format!("SELECT touched FROM {table} WHERE {ended}"));
        self.number(format!(
            "SELECT MAX(touched) FROM (SELECT touched FROM ({}) AS ended \
             ORDER BY touched LIMIT {number}) AS oldest",
            times.join(" UNION ALL ")
        ))
        .await
    }

    /// The size of the stored data. Deleted rows do not count, because their space is reused.
    async fn stored_bytes(&mut self) -> Result<u64, ServerError> {
        let sql = if self.config.is_postgres() {
            // Rows according to the statistics, and half as much for indexes.
            self.connection.execute(sqlx::raw_sql("ANALYZE")).await.map_err(broken)?;
            "SELECT CAST(COALESCE(SUM(rows * (24 + width) * 1.5), 0) AS BIGINT) FROM ( \
             SELECT GREATEST(MAX(c.reltuples), 0) AS rows, SUM(s.avg_width) AS width \
             FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
             JOIN pg_stats s ON s.schemaname = n.nspname AND s.tablename = c.relname \
             WHERE n.nspname = current_schema() AND c.relkind = 'r' GROUP BY c.oid) AS sizes"
        } else {
            "SELECT (page_count - freelist_count) * page_size \
             FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()"
        };
        Ok(self.number(sql.to_owned()).await?.cast_unsigned())
    }

    async fn number(&mut self, sql: String) -> Result<i64, ServerError> {
        let query = sqlx::query(sqlx::AssertSqlSafe(sql));
        let row = query.fetch_one(&mut self.connection).await.map_err(broken)?;
        Ok(row.try_get::<Option<i64>, _>(0).map_err(broken)?.unwrap_or(0))
    }
}
