//! Totals of finished games, updated by the writer so that no reader has to scan all games.
//!
//! A game is counted at the end of the transaction that finished it, and subtracted from the totals
//! before anything about it changes. Games that were never counted, such as those of an older
//! database, are counted in batches.

use std::collections::BTreeMap;

use claimeven_game::Setup;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Row};

use super::games::setup_of;
use super::{Change, Store, StoreError};

/// The number of moves in the table of openings.
pub(super) const OPENING_PLIES: usize = 8;

/// The number of moves that identify an opening in the statistics.
const NAMED_PLIES: usize = 4;

/// Accuracies are summed as integers, so that subtracting one leaves no rounding error.
pub(super) const ACCURACY_UNIT: f64 = 1e6;

/// The results of a group of games from one side's point of view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) games: i64,
    pub(crate) won: i64,
    pub(crate) drawn: i64,
    pub(crate) lost: i64,
    /// Games with an accuracy for this side, and the sum of the accuracies in millionths.
    pub(crate) reviewed: i64,
    pub(crate) accuracy: i64,
    /// Moves of both players.
    pub(crate) moves: i64,
    /// Moves that this side made after the opening, and the time they took.
    pub(crate) own_moves: i64,
    pub(crate) micros: i64,
}

impl Tally {
    /// The columns of the table `totals`, of which `openings` has the first four.
    pub(super) const COLUMNS: [&str; 9] =
        ["games", "won", "drawn", "lost", "reviewed", "accuracy", "moves", "own_moves", "micros"];

    pub(super) fn from_columns(columns: [i64; 9]) -> Tally {
        let [games, won, drawn, lost, reviewed, accuracy, moves, own_moves, micros] = columns;
        Tally { games, won, drawn, lost, reviewed, accuracy, moves, own_moves, micros }
    }

    fn columns(&self) -> [i64; 9] {
        let Tally { games, won, drawn, lost, reviewed, accuracy, moves, own_moves, micros } = *self;
        [games, won, drawn, lost, reviewed, accuracy, moves, own_moves, micros]
    }

    fn add(&mut self, other: Tally, times: i64) {
        let (mine, others) = (self.columns(), other.columns());
        *self =
            Tally::from_columns(std::array::from_fn(|index| mine[index] + times * others[index]));
    }
}

/// The data of a finished game that the totals need.
#[derive(Clone, Debug)]
pub(super) struct FinishedGame {
    pub(super) owner: Option<String>,
    pub(super) holders: [Option<String>; 2],
    /// The agents' texts; `None` for a person.
    pub(super) agents: [Option<String>; 2],
    pub(super) setup: Setup,
    /// Which of the players moved first.
    pub(super) first: usize,
    /// How many moves the game started with.
    pub(super) opening: usize,
    pub(super) winner: Option<usize>,
    pub(super) line: String,
    /// The accuracy of both players, where it is known.
    pub(super) accuracy: [Option<f64>; 2],
    /// Total time of the first and of the second player to move.
    pub(super) micros: [i64; 2],
}

impl FinishedGame {
    /// The game from one side's point of view.
    fn tally(&self, player: usize) -> Tally {
        let moved_first = self.first == player;
        // Opening moves take no time.
        let chosen = self.line.len().saturating_sub(self.opening);
        let chose_first = moved_first == self.opening.is_multiple_of(2);
        let accuracy = self.accuracy[player];
        Tally {
            games: 1,
            won: i64::from(self.winner == Some(player)),
            drawn: i64::from(self.winner.is_none()),
            lost: i64::from(self.winner == Some(1 - player)),
            reviewed: i64::from(accuracy.is_some()),
            accuracy: accuracy.map_or(0, |accuracy| (accuracy * ACCURACY_UNIT).round() as i64),
            moves: self.line.len() as i64,
            own_moves: if chose_first { chosen.div_ceil(2) } else { chosen / 2 } as i64,
            micros: self.micros[usize::from(!moved_first)],
        }
    }

    fn player_name(&self, player: usize) -> &str {
        self.agents[player].as_deref().unwrap_or("human")
    }

    fn colour(&self, player: usize) -> &'static str {
        if self.first == player { "first" } else { "second" }
    }
}

/// The name of a setup in the table of openings.
pub(super) fn setup_name(setup: Setup) -> String {
    let ruleset = setup.ruleset().name();
    format!("{}x{}-{}-{ruleset}", setup.cols(), setup.rows(), setup.connect())
}

/// The contribution of one or more games to the totals, by the keys of the two tables.
#[derive(Default)]
struct Totals {
    totals: BTreeMap<[String; 3], Tally>,
    openings: BTreeMap<[String; 3], Tally>,
}

impl Totals {
    /// Adds a game `times` times; -1 subtracts it.
    fn add(&mut self, game: &FinishedGame, times: i64) {
        // Everyone's games count from the first player's point of view; players and colours from
        // both.
        let first = game.first;
        for player in [0, 1] {
            self.count("", "player", game.player_name(player), game.tally(player), times);
            self.count("", "colour", game.colour(player), game.tally(player), times);
        }
        self.count_common("", game, first, times);
        // In a local game, the visitor has neither won nor lost.
        if game.holders[0] != game.holders[1] {
            for player in [0, 1] {
                let Some(holder) = &game.holders[player] else { continue };
                let tally = game.tally(player);
                self.count(holder, "opponent", game.player_name(1 - player), tally, times);
                self.count(holder, "colour", game.colour(player), tally, times);
                self.count_common(holder, game, player, times);
            }
        }
        let mut whose = vec![""];
        for visitor in [&game.owner, &game.holders[0], &game.holders[1]].into_iter().flatten() {
            if !whose.contains(&visitor.as_str()) {
                whose.push(visitor);
            }
        }
        let setup = setup_name(game.setup);
        for whose in whose {
            for plies in 0..=OPENING_PLIES.min(game.line.len()) {
                // Moves are one letter or digit each.
                let key = [whose.to_owned(), setup.clone(), game.line[..plies].to_owned()];
                self.openings.entry(key).or_default().add(game.tally(first), times);
            }
        }
    }

    fn count_common(&mut self, whose: &str, game: &FinishedGame, player: usize, times: i64) {
        let tally = game.tally(player);
        self.count(whose, "total", "", tally, times);
        if game.setup == Setup::STANDARD {
            let opening = &game.line[..NAMED_PLIES.min(game.line.len())];
            self.count(whose, "opening", opening, tally, times);
        }
        let size = format!("{}x{}", game.setup.cols(), game.setup.rows());
        self.count(whose, "size", &size, tally, times);
        self.count(whose, "ruleset", game.setup.ruleset().name(), tally, times);
        self.count(whose, "length", &game.line.len().to_string(), tally, times);
    }

    fn count(&mut self, whose: &str, category: &str, name: &str, tally: Tally, times: i64) {
        let key = [whose, category, name].map(str::to_owned);
        self.totals.entry(key).or_default().add(tally, times);
    }

    async fn store(self, connection: &mut AnyConnection) -> Result<(), StoreError> {
        let numbers = Tally::COLUMNS;
        merge(connection, "totals", ["whose", "category", "name"], &numbers, &self.totals).await?;
        merge(connection, "openings", ["whose", "setup", "line"], &numbers[..4], &self.openings)
            .await
    }
}

/// Adds rows to those with the same key.
async fn merge(
    connection: &mut AnyConnection,
    table: &str,
    keys: [&str; 3],
    numbers: &[&str],
    rows: &BTreeMap<[String; 3], Tally>,
) -> Result<(), StoreError> {
    // More rows would be slow: SQLite looks up each parameter by name among all of the statement's.
    const MAX_ROWS: usize = 20;
    let columns = [&keys[..], numbers].concat();
    let sums: Vec<String> =
        numbers.iter().map(|name| format!("{name} = {table}.{name} + excluded.{name}")).collect();
    let rows: Vec<_> = rows.iter().collect();
    for rows in rows.chunks(MAX_ROWS) {
        let sql = format!(
            "INSERT INTO {table} ({}) VALUES {} ON CONFLICT ({}) DO UPDATE SET {}",
            columns.join(", "),
            placeholders(rows.len(), columns.len()),
            keys.join(", "),
            sums.join(", "),
        );
        // Each number of rows is a different statement, not worth preparing.
        let mut query = sqlx::query(AssertSqlSafe(sql)).persistent(false);
        for (key, tally) in rows {
            query = key.iter().fold(query, |query, part| query.bind(part.clone()));
            query = tally.columns()[..numbers.len()].iter().fold(query, |query, n| query.bind(*n));
        }
        query.execute(&mut *connection).await?;
    }
    Ok(())
}

/// `($1, $2), ($3, $4)`: the placeholders of some rows.
fn placeholders(rows: usize, columns: usize) -> String {
    let row = |row: usize| {
        let row: Vec<String> =
            (1..=columns).map(|column| format!("${}", row * columns + column)).collect();
        format!("({})", row.join(", "))
    };
    (0..rows).map(row).collect::<Vec<_>>().join(", ")
}

impl Store {
    /// Counts some finished games that are not in the totals yet; returns their number.
    pub(crate) async fn count_finished(&self) -> Result<u64, StoreError> {
        self.change(Change::CountFinished).await
    }
}

/// Counts a bounded number of finished games that are not in the totals yet; returns their number.
pub(super) async fn count_finished(connection: &mut AnyConnection) -> Result<u64, StoreError> {
    // Marked first, so that no other transaction changes or counts them in the meantime.
    let marked = sqlx::query(
        "UPDATE games SET counted = CASE WHEN EXISTS (SELECT 1 FROM reviews \
         WHERE reviews.game = games.id AND reviews.line = games.line) THEN 2 ELSE 1 END \
         WHERE id IN (SELECT id FROM games WHERE status || '' = 'finished' AND counted = 0 LIMIT 256) \
         AND counted = 0 RETURNING id",
    );
    let marked = marked.fetch_all(&mut *connection).await?;
    if marked.is_empty() {
        return Ok(0);
    }
    let sql = finished_games(&format!("id IN {}", placeholders(1, marked.len())));
    let mut query = sqlx::query(AssertSqlSafe(sql)).persistent(false);
    for row in &marked {
        query = query.bind(row.try_get::<String, _>(0)?);
    }
    let mut totals = Totals::default();
    for row in query.fetch_all(&mut *connection).await? {
        if let Some(game) = finished_game(&row) {
            totals.add(&game, 1);
        }
    }
    totals.store(connection).await?;
    Ok(marked.len() as u64)
}

/// Counts all finished games that are not in the totals yet, in one transaction and in memory: for
/// benchmarks on many games, of which a running server counts a few hundred at a time. Returns their
/// number.
pub(crate) async fn count_all(connection: &mut AnyConnection) -> Result<u64, StoreError> {
    const PAGE: usize = 10_000;
    let (mut totals, mut last, mut count) = (Totals::default(), String::new(), 0);
    let mut transaction = connection.begin().await?;
    loop {
        let sql = finished_games(&format!(
            "id IN (SELECT id FROM games WHERE id > $1 ORDER BY id LIMIT {PAGE}) \
             AND status || '' = 'finished' AND counted = 0"
        ));
        let query = sqlx::query(AssertSqlSafe(sql)).bind(last.clone());
        for row in query.fetch_all(&mut *transaction).await? {
            if let Some(game) = finished_game(&row) {
                totals.add(&game, 1);
                count += 1;
            }
        }
        let page = format!("SELECT id FROM games WHERE id > $1 ORDER BY id LIMIT {PAGE}");
        let ids = sqlx::query(AssertSqlSafe(page)).bind(last.clone());
        let ids = ids.fetch_all(&mut *transaction).await?;
        let Some(row) = ids.last() else { break };
        last = row.try_get(0)?;
    }
    let mark = "UPDATE games SET counted = CASE WHEN EXISTS (SELECT 1 FROM reviews \
                WHERE reviews.game = games.id AND reviews.line = games.line) THEN 2 ELSE 1 END \
                WHERE status || '' = 'finished' AND counted = 0";
    sqlx::query(mark).execute(&mut *transaction).await?;
    totals.store(&mut transaction).await?;
    transaction.commit().await?;
    Ok(count)
}

/// Subtracts a game from the totals before it changes, if it has the given version (`None` for any).
/// If it is still finished, it is counted again at the end of the transaction.
pub(super) async fn uncount(
    connection: &mut AnyConnection,
    id: &str,
    version: Option<i64>,
) -> Result<(), StoreError> {
    let sql = "UPDATE games SET counted = 0 \
               WHERE id = $1 AND version = COALESCE($2, version) AND counted > 0";
    let done = sqlx::query(sql).bind(id.to_owned()).bind(version).execute(&mut *connection).await?;
    if done.rows_affected() == 0 {
        return Ok(());
    }
    let query = sqlx::query(AssertSqlSafe(finished_games("id = $1"))).bind(id.to_owned());
    let row = query.fetch_optional(&mut *connection).await?;
    let Some(game) = row.as_ref().and_then(finished_game) else { return Ok(()) };
    let mut totals = Totals::default();
    totals.add(&game, -1);
    totals.store(connection).await?;
    for sql in ["DELETE FROM totals WHERE games = 0", "DELETE FROM openings WHERE games = 0"] {
        sqlx::query(sql).execute(&mut *connection).await?;
    }
    Ok(())
}

fn finished_games(which: &str) -> String {
    let time = |parity: u8| {
        format!(
            "CAST(COALESCE((SELECT SUM(took) FROM moves \
             WHERE game = games.id AND ply % 2 = {parity}), 0) AS BIGINT) AS time{parity}"
        )
    };
    format!(
        "SELECT id, board_cols, board_rows, connect, ruleset, owner, holder0, holder1, agent0, \
         agent1, first_player, opening, winner, games.line AS line, accuracy0, accuracy1, {}, {} \
         FROM games LEFT JOIN reviews ON reviews.game = games.id AND reviews.line = games.line \
         WHERE {which}",
        time(0),
        time(1),
    )
}

/// `None` for games without moves and games that cannot be read.
fn finished_game(row: &AnyRow) -> Option<FinishedGame> {
    let game = read_game(row);
    let game = game.inspect_err(|error| tracing::warn!(?error, "Failed to count a game")).ok()?;
    (!game.line.is_empty() && game.line.is_ascii()).then_some(game)
}

fn read_game(row: &AnyRow) -> Result<FinishedGame, StoreError> {
    let number = |name: &str| row.try_get::<i64, _>(name);
    let text = |name: &str| row.try_get::<Option<String>, _>(name);
    Ok(FinishedGame {
        owner: text("owner")?,
        holders: [text("holder0")?, text("holder1")?],
        agents: [text("agent0")?, text("agent1")?],
        setup: setup_of(row)?,
        first: usize::from(number("first_player")? == 1),
        opening: usize::try_from(number("opening")?).unwrap_or(0),
        winner: row.try_get::<Option<i64>, _>("winner")?.map(|winner| usize::from(winner == 1)),
        line: row.try_get("line")?,
        accuracy: [row.try_get("accuracy0")?, row.try_get("accuracy1")?],
        micros: [number("time0")?, number("time1")?],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(winner: Option<usize>, first: usize, line: &str) -> FinishedGame {
        FinishedGame {
            owner: Some("ada".to_owned()),
            holders: [Some("ada".to_owned()), None],
            agents: [None, Some("level:3".to_owned())],
            setup: Setup::STANDARD,
            first,
            opening: 0,
            winner,
            line: line.to_owned(),
            accuracy: [Some(0.5), Some(1.0)],
            micros: [4_000_000, 2_000_000],
        }
    }

    fn totals(games: &[FinishedGame]) -> Totals {
        let mut totals = Totals::default();
        for game in games {
            totals.add(game, 1);
        }
        totals
    }

    fn tally(totals: &Totals, whose: &str, category: &str, name: &str) -> Tally {
        totals.totals[&[whose, category, name].map(str::to_owned)]
    }

    fn games(totals: &Totals, whose: &str, category: &str) -> Vec<(String, i64)> {
        let found = totals.totals.iter().filter(|(key, _)| key[..2] == [whose, category]);
        found.map(|(key, tally)| (key[2].clone(), tally.games)).collect()
    }

    #[test]
    fn a_visitors_games_count_from_the_visitors_side() {
        let played =
            [finished(Some(0), 1, "4453"), finished(None, 0, "44531"), finished(Some(1), 0, "1")];
        let totals = totals(&played);
        let total = tally(&totals, "ada", "total", "");
        assert_eq!((total.won, total.drawn, total.lost), (1, 1, 1));
        assert_eq!((total.reviewed, total.accuracy), (3, 1_500_000));
        assert_eq!(games(&totals, "ada", "opponent"), [("level:3".to_owned(), 3)]);
        let colours = [("first".to_owned(), 2), ("second".to_owned(), 1)];
        assert_eq!(games(&totals, "ada", "colour"), colours);
        let openings = [("1".to_owned(), 1), ("4453".to_owned(), 2)];
        assert_eq!(games(&totals, "ada", "opening"), openings);
        // Moving second with two of four moves took two seconds.
        let second = tally(&totals, "ada", "colour", "second");
        assert_eq!((second.own_moves, second.micros), (2, 2_000_000));
    }

    #[test]
    fn everyones_games_count_for_both_players() {
        let totals = totals(&[finished(Some(1), 0, "4453")]);
        let players = [("human".to_owned(), 1), ("level:3".to_owned(), 1)];
        assert_eq!(games(&totals, "", "player"), players);
        assert_eq!(tally(&totals, "", "player", "human").lost, 1);
        let total = tally(&totals, "", "total", "");
        assert_eq!((total.won, total.lost), (0, 1), "from the first player's point of view");
        let lines: Vec<&str> = totals.openings.keys().map(|key| &key[2][..]).collect();
        assert_eq!(lines, ["", "4", "44", "445", "4453", "", "4", "44", "445", "4453"]);
    }

    #[test]
    fn nobody_wins_a_local_game() {
        let both = [Some("ada".to_owned()), Some("ada".to_owned())];
        let totals = totals(&[FinishedGame { holders: both, ..finished(Some(1), 0, "4453") }]);
        assert!(games(&totals, "ada", "total").is_empty());
        assert_eq!(totals.openings[&["ada", "7x6-4-standard", "44"].map(str::to_owned)].games, 1);
    }
}
