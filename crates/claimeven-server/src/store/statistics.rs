//! Finished games in numbers: for statistics and the opening explorer.

use claimeven_game::{Ruleset, Setup};
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

use super::{Store, StoreError, broken};
use crate::visitor::Visitor;

/// A finished game, as far as statistics need it.
#[derive(Clone, Debug)]
pub(crate) struct Played {
    pub(crate) id: String,
    pub(crate) created: i64,
    pub(crate) setup: Setup,
    pub(crate) seats: [PlayedSeat; 2],
    /// Which of the players moved first.
    pub(crate) first: usize,
    /// How many moves the game started with.
    pub(crate) opening: usize,
    pub(crate) winner: Option<usize>,
    /// The visitor's side.
    pub(crate) mine: Option<usize>,
    pub(crate) line: String,
    /// The accuracy of both players, where it is known.
    pub(crate) accuracy: [Option<f64>; 2],
    /// Total thinking time of the first and of the second player to move.
    pub(crate) micros: [i64; 2],
}

/// A side of a finished game.
#[derive(Clone, Debug)]
pub(crate) struct PlayedSeat {
    /// The agent's text; `None` for a person.
    pub(crate) agent: Option<String>,
}

impl Store {
    /// Finished games, the latest first: all, or those in which a visitor had exactly one seat.
    pub(crate) async fn played(
        &self,
        who: Option<&Visitor>,
        most: u32,
    ) -> Result<Vec<Played>, StoreError> {
        // In a local game the visitor has neither won nor lost.
        let own = if who.is_some() {
            "AND (holder0 = $1 OR holder1 = $1) \
             AND COALESCE(holder0, '') <> COALESCE(holder1, '')"
        } else {
            "AND $1 = $1"
        };
        let time = |rest: u8| {
            format!(
                "CAST(COALESCE((SELECT SUM(took) FROM moves \
                 WHERE game = games.id AND ply % 2 = {rest}), 0) AS BIGINT) AS time{rest}"
            )
        };
        let sql = format!(
            "SELECT id, created, board_cols, board_rows, connect, ruleset, agent0, agent1, \
             holder0, first_player, opening, winner, games.line AS line, accuracy0, accuracy1, \
             {}, {} FROM games LEFT JOIN reviews \
             ON reviews.game = games.id AND reviews.line = games.line \
             WHERE status = 'finished' AND games.line <> '' {own} \
             ORDER BY created DESC, id DESC LIMIT {most}",
            time(0),
            time(1),
        );
        let key = who.map_or("", Visitor::key).to_owned();
        let rows = sqlx::query(AssertSqlSafe(sql)).bind(key.clone()).fetch_all(&self.pool).await?;
        rows.iter().map(|row| played_of(row, who.map(|_| key.as_str()))).collect()
    }

    /// The continuations of some moves in finished games: the next move as a character (empty if the
    /// game ended there), 1, 0 or -1 if the first player won, drew or lost, and how often.
    pub(crate) async fn continuations(
        &self,
        setup: Setup,
        moves: &str,
        who: Option<&Visitor>,
    ) -> Result<Vec<(String, i64, u32)>, StoreError> {
        let own =
            if who.is_some() { "(owner = $6 OR holder0 = $6 OR holder1 = $6)" } else { "$6 = $6" };
        // Moves are letters and digits only, so nothing in them is a wildcard of LIKE.
        let sql = format!(
            "SELECT next, result, COUNT(*) AS number FROM (SELECT SUBSTR(line, {}, 1) AS next, \
             CASE WHEN winner IS NULL THEN 0 WHEN winner = first_player THEN 1 ELSE -1 END AS result \
             FROM games WHERE status = 'finished' AND board_cols = $1 AND board_rows = $2 \
             AND connect = $3 AND ruleset = $4 AND line LIKE $5 AND {own}) AS found \
             GROUP BY next, result",
            moves.len() + 1,
        );
        let rows = sqlx::query(AssertSqlSafe(sql))
            .bind(i64::from(setup.cols()))
            .bind(i64::from(setup.rows()))
            .bind(i64::from(setup.connect()))
            .bind(setup.ruleset().name())
            .bind(format!("{moves}%"))
            .bind(who.map_or("", Visitor::key).to_owned())
            .fetch_all(&self.pool)
            .await?;
        let read = |row: &AnyRow| {
            // PostgreSQL returns constants as smaller integers than counts.
            let result =
                row.try_get::<i64, _>(1).or_else(|_| row.try_get::<i32, _>(1).map(i64::from))?;
            let number = row.try_get::<i64, _>(2)?;
            Ok((row.try_get(0)?, result, u32::try_from(number).unwrap_or(u32::MAX)))
        };
        rows.iter().map(read).collect()
    }
}

fn played_of(row: &AnyRow, me: Option<&str>) -> Result<Played, StoreError> {
    let number = |name: &str| row.try_get::<i64, _>(name);
    let small = |name: &str| number(name).map(|number| u8::try_from(number).unwrap_or(0));
    let agent = |name: &str| row.try_get::<Option<String>, _>(name);
    let ruleset: Ruleset = row.try_get::<String, _>("ruleset")?.parse().map_err(broken)?;
    let setup = Setup::new(small("board_cols")?, small("board_rows")?, small("connect")?, ruleset);
    let holder: Option<String> = row.try_get("holder0")?;
    Ok(Played {
        id: row.try_get("id")?,
        created: number("created")?,
        setup: setup.map_err(broken)?,
        seats: [PlayedSeat { agent: agent("agent0")? }, PlayedSeat { agent: agent("agent1")? }],
        first: usize::from(number("first_player")? == 1),
        opening: usize::try_from(number("opening")?).unwrap_or(0),
        winner: row.try_get::<Option<i64>, _>("winner")?.map(|winner| usize::from(winner == 1)),
        mine: me.map(|me| usize::from(holder.as_deref() != Some(me))),
        line: row.try_get("line")?,
        accuracy: [row.try_get("accuracy0")?, row.try_get("accuracy1")?],
        micros: [number("time0")?, number("time1")?],
    })
}
