//! Stored reviews of finished games.

use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row};

use super::{Change, Store, StoreError, totals};

/// The review of a game.
#[derive(Clone, Debug)]
pub(crate) struct StoredReview {
    pub(crate) game: String,
    /// The reviewed moves: a finished game can continue after an undo.
    pub(crate) line: String,
    /// The accuracy of both players, by player number.
    pub(crate) accuracy: [Option<f64>; 2],
    /// The theme of the mistake that decided the game, for the player who made it.
    pub(crate) themes: [Option<&'static str>; 2],
    /// The review itself, as JSON.
    pub(crate) content: String,
}

impl Store {
    /// Stores the review of a game.
    pub(crate) async fn store_review(&self, review: StoredReview) -> Result<(), StoreError> {
        self.change(Change::Review(Box::new(review))).await.map(drop)
    }

    /// The review of a game, if it is about these moves.
    pub(crate) async fn review(&self, id: &str, line: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT content FROM reviews WHERE game = $1 AND line = $2";
        let query = sqlx::query(sql).bind(id.to_owned()).bind(line.to_owned());
        let row = self.fetch_optional(query).await?;
        Ok(row.map(|row| row.try_get(0)).transpose()?)
    }

    /// The latest finished game without a review: its id and moves.
    pub(crate) async fn unreviewed(&self) -> Result<Option<(String, String)>, StoreError> {
        let sql = "SELECT id, line FROM games WHERE counted = 1 AND line <> '' \
                   ORDER BY touched DESC LIMIT 1";
        let row = self.fetch_optional(sqlx::query(sql)).await?;
        let read = |row: AnyRow| Ok((row.try_get(0)?, row.try_get(1)?));
        row.map(read).transpose()
    }
}

/// Replaces NULL in the statement below. The driver sends a NULL of type f64 as one of type f32,
/// and PostgreSQL then expects f32 from this connection forever.
const NO_ACCURACY: f64 = -1.0;

pub(super) async fn store_review(
    connection: &mut AnyConnection,
    review: &StoredReview,
) -> Result<u64, StoreError> {
    totals::uncount(connection, &review.game, None).await?;
    // The game may have been deleted in the meantime.
    let done = sqlx::query(
        "INSERT INTO reviews (game, line, accuracy0, accuracy1, theme0, theme1, content) \
         SELECT id, $2, NULLIF(CAST($3 AS DOUBLE PRECISION), -1), \
         NULLIF(CAST($4 AS DOUBLE PRECISION), -1), \
         NULLIF(CAST($5 AS TEXT), ''), NULLIF(CAST($6 AS TEXT), ''), $7 \
         FROM games WHERE id = $1 \
         ON CONFLICT (game) DO UPDATE SET line = excluded.line, accuracy0 = excluded.accuracy0, \
         accuracy1 = excluded.accuracy1, theme0 = excluded.theme0, theme1 = excluded.theme1, \
         content = excluded.content",
    )
    .bind(review.game.clone())
    .bind(review.line.clone())
    .bind(review.accuracy[0].unwrap_or(NO_ACCURACY))
    .bind(review.accuracy[1].unwrap_or(NO_ACCURACY))
    .bind(review.themes[0].unwrap_or_default())
    .bind(review.themes[1].unwrap_or_default())
    .bind(review.content.clone())
    .execute(&mut *connection)
    .await?;
    Ok(done.rows_affected())
}
