//! How often puzzles were solved.

use std::collections::HashMap;

use sqlx::{AnyConnection, Row};

use super::{Change, Store, StoreError};

/// How many visitors tried a puzzle, and how many solved it at the first attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Attempts {
    pub(crate) tried: i64,
    pub(crate) solved: i64,
}

impl Store {
    /// Counts a first attempt at a puzzle, which is identified by its moves.
    pub(crate) async fn count_attempt(
        &self,
        moves: &'static str,
        solved: bool,
    ) -> Result<(), StoreError> {
        self.change(Change::Attempt(moves, solved)).await.map(drop)
    }

    /// The attempts at all puzzles that were tried. There are as many rows as puzzles.
    pub(crate) async fn attempts(&self) -> Result<HashMap<String, Attempts>, StoreError> {
        let rows = self.fetch(sqlx::query("SELECT moves, tried, solved FROM puzzles")).await?;
        let read = |row: &sqlx::any::AnyRow| {
            let attempts = Attempts { tried: row.try_get(1)?, solved: row.try_get(2)? };
            Ok((row.try_get(0)?, attempts))
        };
        rows.iter().map(read).collect()
    }
}

pub(super) async fn count(
    connection: &mut AnyConnection,
    moves: &'static str,
    solved: bool,
) -> Result<u64, StoreError> {
    let sql = "INSERT INTO puzzles (moves, tried, solved) VALUES ($1, 1, $2) \
               ON CONFLICT (moves) DO UPDATE SET tried = puzzles.tried + 1, \
               solved = puzzles.solved + excluded.solved";
    let query = sqlx::query(sql).bind(moves).bind(i64::from(solved));
    Ok(query.execute(connection).await?.rows_affected())
}
