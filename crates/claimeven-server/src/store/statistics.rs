//! Statistics of finished games, and the opening explorer.

use std::collections::BTreeMap;

use claimeven_game::{Column, Setup};
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

use super::games::{MAX_SCANNED, OWN, union};
use super::totals::{OPENING_PLIES, setup_name};
use super::{Store, StoreError, Tally};
use crate::visitor::Visitor;

/// Statistics of everyone's finished games, or of those in which a visitor has exactly one seat.
#[derive(Debug, Default)]
pub(crate) struct Statistics {
    /// The results by category and name; only the most frequent names of each category.
    pub(crate) totals: BTreeMap<String, Vec<(String, Tally)>>,
    /// The visitor's latest games, the latest first.
    pub(crate) progress: Vec<Progress>,
}

/// One of the visitor's games.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    pub(crate) id: String,
    pub(crate) created: i64,
    /// The visitor's side.
    pub(crate) player: usize,
    pub(crate) winner: Option<usize>,
    /// The visitor's accuracy, if it is known.
    pub(crate) accuracy: Option<f64>,
    /// The theme of the visitor's mistake that decided the game, if there was one.
    pub(crate) theme: Option<String>,
}

/// The results of the games that start with some moves, for the first player.
#[derive(Debug, Default)]
pub(crate) struct OpeningResults {
    pub(crate) games: i64,
    /// By the next move.
    pub(crate) next: BTreeMap<u8, Tally>,
}

/// The categories of totals. Those of everyone and of a visitor differ in the first.
const CATEGORIES: [&str; 8] =
    ["player", "opponent", "total", "colour", "opening", "size", "ruleset", "length"];

/// How many names of a category are read.
const MAX_NAMES: usize = 128;

/// How many of a visitor's latest games are read.
const MAX_PROGRESS: usize = 300;

impl Store {
    /// Statistics of everyone's games or a visitor's own.
    pub(crate) async fn statistics(&self, who: Option<&Visitor>) -> Result<Statistics, StoreError> {
        let columns = Tally::COLUMNS.join(", ");
        let sql = union(&CATEGORIES, "UNION ALL", |category| {
            format!(
                "SELECT category, name, {columns} FROM totals WHERE whose = $1 \
                 AND category = '{category}' ORDER BY games DESC LIMIT {MAX_NAMES}"
            )
        });
        let mut statistics = Statistics::default();
        for row in self.fetch(sqlx::query(AssertSqlSafe(sql)).bind(whose(who))).await? {
            let category: String = row.try_get("category")?;
            let named = (row.try_get("name")?, tally_of(&row)?);
            statistics.totals.entry(category).or_default().push(named);
        }
        if let Some(who) = who {
            statistics.progress = self.progress(who).await?;
        }
        Ok(statistics)
    }

    async fn progress(&self, who: &Visitor) -> Result<Vec<Progress>, StoreError> {
        let latest = union(&OWN[1..], "UNION", |source| {
            format!(
                "SELECT id, created, status, line, winner, holder0, holder1 FROM games \
                 WHERE {source} ORDER BY created DESC, id DESC LIMIT {MAX_SCANNED}"
            )
        });
        let sql = format!(
            "SELECT id, created, winner, holder0, accuracy0, accuracy1, theme0, theme1 FROM (SELECT * FROM \
             ({latest}) AS latest WHERE status = 'finished' AND line <> '' \
             AND COALESCE(holder0, '') <> COALESCE(holder1, '') \
             ORDER BY created DESC, id DESC LIMIT {MAX_PROGRESS}) AS own \
             LEFT JOIN reviews ON reviews.game = own.id AND reviews.line = own.line \
             ORDER BY created DESC, id DESC"
        );
        let key = who.key();
        let rows = self.fetch(sqlx::query(AssertSqlSafe(sql)).bind(key.to_owned())).await?;
        let read = |row: &AnyRow| {
            let holder: Option<String> = row.try_get("holder0")?;
            let player = usize::from(holder.as_deref() != Some(key));
            let winner: Option<i64> = row.try_get("winner")?;
            Ok(Progress {
                id: row.try_get("id")?,
                created: row.try_get("created")?,
                player,
                winner: winner.map(|winner| usize::from(winner == 1)),
                accuracy: row.try_get(["accuracy0", "accuracy1"][player])?,
                theme: row.try_get(["theme0", "theme1"][player])?,
            })
        };
        rows.iter().map(read).collect()
    }

    /// The continuations of finished games after some moves: everyone's, or those that a visitor
    /// created or played in. Beyond the table of openings, only the latest games are examined.
    pub(crate) async fn explore(
        &self,
        setup: Setup,
        moves: &str,
        who: Option<&Visitor>,
    ) -> Result<OpeningResults, StoreError> {
        if moves.len() < OPENING_PLIES {
            self.explore_opening(setup, moves, who).await
        } else {
            self.explore_latest(setup, moves, who).await
        }
    }

    async fn explore_opening(
        &self,
        setup: Setup,
        moves: &str,
        who: Option<&Visitor>,
    ) -> Result<OpeningResults, StoreError> {
        let columns = (0..usize::from(setup.cols())).filter_map(Column::from_index);
        let lines: BTreeMap<String, Option<u8>> = columns
            .map(|column| (format!("{moves}{}", column.to_char()), Some(column.number())))
            .chain([(moves.to_owned(), None)])
            .collect();
        let placeholders: Vec<String> =
            (0..lines.len()).map(|index| format!("${}", index + 3)).collect();
        let sql = format!(
            "SELECT line, games, won, drawn, lost FROM openings \
             WHERE whose = $1 AND setup = $2 AND line IN ({})",
            placeholders.join(", ")
        );
        let query = sqlx::query(AssertSqlSafe(sql)).bind(whose(who)).bind(setup_name(setup));
        let query = lines.keys().fold(query, |query, line| query.bind(line.clone()));
        let mut results = OpeningResults::default();
        for row in self.fetch(query).await? {
            let number = |name: &str| row.try_get::<i64, _>(name);
            let (games, won) = (number("games")?, number("won")?);
            let (drawn, lost) = (number("drawn")?, number("lost")?);
            let line: String = row.try_get("line")?;
            match lines.get(&line) {
                Some(Some(column)) => {
                    let tally = Tally { games, won, drawn, lost, ..Tally::default() };
                    results.next.insert(*column, tally);
                }
                _ => results.games = games,
            }
        }
        Ok(results)
    }

    async fn explore_latest(
        &self,
        setup: Setup,
        moves: &str,
        who: Option<&Visitor>,
    ) -> Result<OpeningResults, StoreError> {
        let is_setup = "board_cols = $2 AND board_rows = $3 AND connect = $4 AND ruleset = $5";
        let columns = "id, line, winner, first_player";
        let (source, latest) = match who {
            None => (
                moves[..OPENING_PLIES].to_owned(),
                format!(
                    "SELECT {columns} FROM games WHERE {is_setup} AND counted > 0 \
                     AND SUBSTR(line, 1, {OPENING_PLIES}) = $1 \
                     ORDER BY created DESC LIMIT {MAX_SCANNED}"
                ),
            ),
            Some(who) => {
                let own = union(OWN, "UNION", |source| {
                    format!(
                        "SELECT {columns}, counted, board_cols, board_rows, connect, ruleset \
                         FROM games WHERE {source} \
                         ORDER BY created DESC, id DESC LIMIT {MAX_SCANNED}"
                    )
                });
                let sql = format!(
                    "SELECT {columns} FROM ({own}) AS own WHERE {is_setup} AND counted > 0"
                );
                (who.key().to_owned(), sql)
            }
        };
        // Moves are letters and digits only, so they contain no LIKE wildcards.
        let sql = format!(
            "SELECT next, result, COUNT(*) AS number FROM (SELECT SUBSTR(line, {}, 1) AS next, \
             CAST(CASE WHEN winner IS NULL THEN 0 WHEN winner = first_player THEN 1 ELSE -1 END \
             AS BIGINT) AS result FROM ({latest}) AS latest WHERE line LIKE $6) AS found \
             GROUP BY next, result",
            moves.len() + 1,
        );
        let query = sqlx::query(AssertSqlSafe(sql))
            .bind(source)
            .bind(i64::from(setup.cols()))
            .bind(i64::from(setup.rows()))
            .bind(i64::from(setup.connect()))
            .bind(setup.ruleset().name())
            .bind(format!("{moves}%"));
        let mut results = OpeningResults::default();
        for row in self.fetch(query).await? {
            let (result, games) = (row.try_get::<i64, _>(1)?, row.try_get::<i64, _>(2)?);
            results.games += games;
            let next: String = row.try_get(0)?;
            let Some(column) = next.chars().next().and_then(Column::from_char) else { continue };
            let tally = results.next.entry(column.number()).or_default();
            tally.games += games;
            match result {
                1 => tally.won += games,
                0 => tally.drawn += games,
                _ => tally.lost += games,
            }
        }
        Ok(results)
    }
}

/// The owner of the games in the tables of totals.
fn whose(who: Option<&Visitor>) -> String {
    who.map_or("", Visitor::key).to_owned()
}

pub(super) fn tally_of(row: &AnyRow) -> Result<Tally, StoreError> {
    let mut columns = [0; Tally::COLUMNS.len()];
    for (value, name) in columns.iter_mut().zip(Tally::COLUMNS) {
        *value = row.try_get(name)?;
    }
    Ok(Tally::from_columns(columns))
}
