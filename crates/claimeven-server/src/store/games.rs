//! Games and their moves.

use std::fmt;
use std::ops::Range;
use std::time::{Duration, Instant};

use claimeven_arena::EndReason;
use claimeven_game::{Game, Ruleset, Setup};
use serde::{Deserialize, Serialize};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe, Row};

use super::{AnyQuery, Change, Store, StoreError, broken, now_ms, totals};
use crate::session::{Clock, GameEnd, GameSession, Offers, PlayedMove, Seat, Status};
use crate::visitor::Visitor;

impl Store {
    /// Stores a new game.
    pub(crate) async fn create(&self, session: GameSession) -> Result<(), StoreError> {
        self.change_one(Change::Create(Box::new(session))).await
    }

    /// Stores a changed game. The stored moves in `outdated`, at the end, are replaced with the game's.
    pub(crate) async fn update(
        &self,
        session: GameSession,
        outdated: Range<usize>,
    ) -> Result<(), StoreError> {
        self.change_one(Change::Update(Box::new(session), outdated)).await
    }

    /// Deletes a game.
    pub(crate) async fn delete(&self, id: String, version: u64) -> Result<(), StoreError> {
        self.change_one(Change::Delete(id, version)).await
    }

    /// Ends all games without a change since `before`, a few at a time; returns their number.
    pub(crate) async fn abandon(&self, before: i64) -> Result<u64, StoreError> {
        let mut games = 0;
        loop {
            match self.change(Change::Abandon(before)).await? {
                0 => return Ok(games),
                count => games += count,
            }
        }
    }

    /// A game with all its moves.
    pub(crate) async fn load(&self, id: &str) -> Result<Option<GameSession>, StoreError> {
        // The game may change between the two reads; then the moves belong to another version.
        const ATTEMPTS: usize = 3;
        let mut failed = None;
        for _ in 0..ATTEMPTS {
            let sql = format!("SELECT {COLUMNS} FROM games WHERE id = $1");
            let queries = [sqlx::query(AssertSqlSafe(sql)), sqlx::query(MOVES)];
            let [game, moves] =
                self.fetch_each(queries.map(|query| query.bind(id.to_owned()))).await?;
            let Some(row) = game.first() else { return Ok(None) };
            let moves = moves.iter().map(move_of).collect::<Result<Vec<_>, _>>()?;
            match session_of(row, moves) {
                Ok(session) => return Ok(Some(session)),
                Err(error) => failed = Some(error),
            }
        }
        Err(failed.unwrap_or_else(|| broken("the game could not be read")))
    }

    /// The games in progress that have changed since `since`.
    pub(crate) async fn unfinished(
        &self,
        since: i64,
        limit: i64,
    ) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT id FROM games WHERE status = 'playing' AND touched >= $1 \
                   ORDER BY touched DESC LIMIT $2";
        let rows = self.fetch(sqlx::query(sql).bind(since).bind(limit)).await?;
        rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
    }

    /// The games with a clock in which a player's time is up at `now`.
    pub(crate) async fn fallen_flags(
        &self,
        now: i64,
        limit: i64,
    ) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT id FROM games WHERE flag_falls <= $1 ORDER BY flag_falls LIMIT $2";
        let rows = self.fetch(sqlx::query(sql).bind(now).bind(limit)).await?;
        rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
    }

    /// Restarts all running clocks: nobody loses the time during which the server was down.
    pub(crate) async fn restart_turns(&self) -> Result<(), StoreError> {
        self.change(Change::RestartTurns(now_ms())).await.map(drop)
    }

    /// The games that match a filter, the latest first. A page examines a bounded number of games,
    /// so it may be short or even empty although more games follow.
    pub(crate) async fn list(&self, mut filter: Filter) -> Result<Page, StoreError> {
        let horizon = self.fetch_optional(filter.horizon()).await?;
        let horizon = horizon.as_ref().map(Cursor::of).transpose()?;
        if let Some(horizon) = &horizon {
            filter.until(horizon);
        }
        let rows = self.fetch(filter.page()).await?;
        let (rows, next) = match rows.get(..filter.limit) {
            Some(page) if rows.len() > page.len() => {
                (page, page.last().map(Cursor::of).transpose()?)
            }
            _ => (&rows[..], horizon),
        };
        // A list needs only the moves, which are in the game's row. A game that cannot be read, for
        // example because its agent no longer exists, is skipped.
        let read = |row: &AnyRow| session_of(row, plain_moves(row)?);
        let sessions = rows.iter().map(read).filter_map(|session| {
            session.inspect_err(|error| tracing::warn!(?error, "Failed to read a game")).ok()
        });
        Ok(Page { sessions: sessions.collect(), next: next.map(|cursor| cursor.to_string()) })
    }
}

/// How many games of each index a read examines.
pub(super) const MAX_SCANNED: usize = 2000;

/// A part of a list of games.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) sessions: Vec<GameSession>,
    /// The start of the next page, for `Filter::after`.
    pub(crate) next: Option<String>,
}

/// A position in the order of all games.
#[derive(Clone, Debug)]
struct Cursor {
    created: i64,
    id: String,
}

impl Cursor {
    fn of(row: &AnyRow) -> Result<Cursor, StoreError> {
        Ok(Cursor { created: row.try_get("created")?, id: row.try_get("id")? })
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.created, self.id)
    }
}

/// Conditions for a list of games.
#[derive(Debug)]
pub(crate) struct Filter {
    /// The groups of games to search: each condition has an index in the order of the list.
    sources: &'static [&'static str],
    conditions: Vec<String>,
    values: Vec<Bound>,
    limit: usize,
}

#[derive(Debug)]
enum Bound {
    Text(String),
    Number(i64),
}

/// The indexes with the games of visitor $1.
pub(super) const OWN: &[&str] = &["owner = $1", "holder0 = $1", "holder1 = $1"];

impl Filter {
    /// A visitor's own games, at most `limit`.
    pub(crate) fn own(who: &Visitor, limit: u32) -> Filter {
        let values = vec![
            Bound::Text(who.key().to_owned()),
            // The page lies between two cursors, excluding the first and including the second.
            Bound::Number(i64::MAX),
            Bound::Text(String::new()),
            Bound::Number(i64::MIN),
            Bound::Text(String::new()),
        ];
        Filter { sources: OWN, conditions: Vec::new(), values, limit: limit as usize }
    }

    /// The public games and the visitor's own. Games that wait for a player are shown only to their
    /// creator.
    pub(crate) fn visible(who: &Visitor, limit: u32) -> Filter {
        let mut filter = Filter::own(who, limit);
        filter.sources = &["listed = 1", "owner = $1", "holder0 = $1", "holder1 = $1"];
        filter.plain("(status <> 'waiting' OR owner = $1)");
        filter
    }

    /// Adds a condition; each `?` in it is bound to a text, which is never part of the statement.
    pub(crate) fn text(&mut self, condition: &'static str, text: &str) {
        self.push(condition, |filter| filter.values.push(Bound::Text(text.to_owned())));
    }

    /// Adds a condition with a number.
    pub(crate) fn number(&mut self, condition: &'static str, number: i64) {
        self.push(condition, |filter| filter.values.push(Bound::Number(number)));
    }

    /// Adds a condition without a value.
    pub(crate) fn plain(&mut self, condition: &'static str) {
        self.conditions.push(condition.to_owned());
    }

    /// Only the games after a cursor, as returned in `Page::next`; returns whether it is valid.
    pub(crate) fn after(&mut self, cursor: &str) -> bool {
        let parsed =
            cursor.split_once('-').and_then(|(created, id)| Some((created.parse().ok()?, id)));
        let is_id = |id: &str| id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let Some((created, id)) = parsed.filter(|(_, id)| is_id(id)) else { return false };
        (self.values[1], self.values[2]) = (Bound::Number(created), Bound::Text(id.to_owned()));
        true
    }

    fn push(&mut self, condition: &str, bind: impl Fn(&mut Filter)) {
        let mut text = String::new();
        for (index, part) in condition.split('?').enumerate() {
            if index > 0 {
                bind(self);
                text.push('$');
                text.push_str(&self.values.len().to_string());
            }
            text.push_str(part);
        }
        self.conditions.push(text);
    }

    fn until(&mut self, horizon: &Cursor) {
        let Cursor { created, id } = horizon.clone();
        (self.values[3], self.values[4]) = (Bound::Number(created), Bound::Text(id));
    }

    /// Finds the last game that the page examines, if more follow: the latest of the ends of all
    /// sources, so that the page is complete up to there.
    fn horizon(&self) -> AnyQuery<'static> {
        let ends = union(self.sources, "UNION ALL", |source| {
            format!(
                "SELECT created, id FROM games WHERE {source} AND (created, id) < ($2, $3) \
                 ORDER BY created DESC, id DESC LIMIT 1 OFFSET {MAX_SCANNED}"
            )
        });
        bind_all(format!("{ends} ORDER BY created DESC, id DESC LIMIT 1"), &self.values[..3])
    }

    /// Finds the games up to the horizon, at most one more than the limit.
    fn page(&self) -> AnyQuery<'static> {
        let limit = self.limit + 1;
        let filter = [&["1 = 1".to_owned()], &self.conditions[..]].concat().join(" AND ");
        let found = union(self.sources, "UNION", |source| {
            format!(
                "SELECT created, id FROM games WHERE {source} AND (created, id) < ($2, $3) \
                 AND (created, id) >= ($4, $5) AND {filter} \
                 ORDER BY created DESC, id DESC LIMIT {limit}"
            )
        });
        let sql = format!(
            "SELECT {COLUMNS} FROM games WHERE id IN (SELECT id FROM ({found} \
             ORDER BY created DESC, id DESC LIMIT {limit}) AS page) \
             ORDER BY created DESC, id DESC"
        );
        bind_all(sql, &self.values)
    }
}

fn bind_all(sql: String, values: &[Bound]) -> AnyQuery<'static> {
    values.iter().fold(sqlx::query(AssertSqlSafe(sql)), |query, value| match value {
        Bound::Text(text) => query.bind(text.clone()),
        Bound::Number(number) => query.bind(*number),
    })
}

/// The union of a query for each source.
pub(super) fn union(sources: &[&str], operator: &str, query: impl Fn(&str) -> String) -> String {
    let parts = sources.iter().zip(1..).map(|(source, number)| {
        let query = query(source);
        format!("SELECT * FROM ({query}) AS part{number}")
    });
    parts.collect::<Vec<_>>().join(&format!(" {operator} "))
}

/// A game with all its moves, read in the caller's transaction.
pub(crate) async fn load(
    connection: &mut AnyConnection,
    id: &str,
) -> Result<Option<GameSession>, StoreError> {
    let row = sqlx::query(AssertSqlSafe(format!("SELECT {COLUMNS} FROM games WHERE id = $1")))
        .bind(id.to_owned())
        .fetch_optional(&mut *connection)
        .await?;
    let Some(row) = row else { return Ok(None) };
    let moves = sqlx::query(MOVES).bind(id.to_owned()).fetch_all(&mut *connection).await?;
    let moves = moves.iter().map(move_of).collect::<Result<Vec<_>, _>>()?;
    session_of(&row, moves).map(Some)
}

pub(super) async fn create(
    connection: &mut AnyConnection,
    session: &GameSession,
) -> Result<u64, StoreError> {
    let placeholders: Vec<String> =
        (1..=COLUMNS.split(',').count()).map(|number| format!("${number}")).collect();
    let placeholders = placeholders.join(", ");
    let sql =
        format!("INSERT INTO games ({COLUMNS}) VALUES ({placeholders}) ON CONFLICT DO NOTHING");
    let done = bind(sqlx::query(AssertSqlSafe(sql)), session)?.execute(&mut *connection).await?;
    if done.rows_affected() == 0 {
        return Ok(0);
    }
    append(connection, session, 0).await?;
    Ok(1)
}

pub(super) async fn update(
    connection: &mut AnyConnection,
    session: &GameSession,
    outdated: Range<usize>,
) -> Result<u64, StoreError> {
    let assignments: Vec<String> = (1..)
        .zip(COLUMNS.split(','))
        .map(|(number, column)| format!("{} = ${number}", column.trim()))
        .collect();
    let sql = format!(
        "UPDATE games SET {} WHERE id = $1 AND version = ${} AND counted = 0",
        assignments.join(", "),
        assignments.len() + 1,
    );
    let version = session.version as i64 - 1;
    let query = || {
        let query = sqlx::query(AssertSqlSafe(sql.clone()));
        Ok::<_, StoreError>(bind(query, session)?.bind(version))
    };
    if query()?.execute(&mut *connection).await?.rows_affected() == 0 {
        // The game is finished and counted, or the update is stale.
        totals::uncount(connection, &session.id, Some(version)).await?;
        if query()?.execute(&mut *connection).await?.rows_affected() == 0 {
            return Ok(0);
        }
    }
    if !outdated.is_empty() {
        sqlx::query("DELETE FROM moves WHERE game = $1 AND ply >= $2")
            .bind(session.id.clone())
            .bind(outdated.start as i64)
            .execute(&mut *connection)
            .await?;
    }
    append(connection, session, outdated.start).await?;
    Ok(1)
}

async fn append(
    connection: &mut AnyConnection,
    session: &GameSession,
    kept: usize,
) -> Result<(), StoreError> {
    for (ply, played) in session.moves.iter().enumerate().skip(kept) {
        sqlx::query(
            "INSERT INTO moves (game, ply, board_col, took, nodes, said) \
             VALUES ($1, $2, $3, $4, $5, $6)",
        )
        .bind(session.id.clone())
        .bind(ply as i64)
        .bind(i64::from(played.column))
        .bind(micros(played.time))
        .bind(played.nodes.map(|nodes| nodes as i64))
        .bind(played.value.clone())
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}

pub(super) async fn delete(
    connection: &mut AnyConnection,
    id: &str,
    version: u64,
) -> Result<u64, StoreError> {
    totals::uncount(connection, id, Some(version as i64)).await?;
    let done = sqlx::query("DELETE FROM games WHERE id = $1 AND version = $2")
        .bind(id.to_owned())
        .bind(version as i64)
        .execute(&mut *connection)
        .await?;
    if done.rows_affected() == 0 {
        return Ok(0);
    }
    for sql in ["DELETE FROM moves WHERE game = $1", "DELETE FROM reviews WHERE game = $1"] {
        sqlx::query(sql).bind(id.to_owned()).execute(&mut *connection).await?;
    }
    Ok(1)
}

pub(super) async fn abandon(
    connection: &mut AnyConnection,
    before: i64,
) -> Result<u64, StoreError> {
    // A few at a time, so that other writes do not wait for all of them.
    let done = sqlx::query(
        "UPDATE games SET status = 'finished', reason = 'abandoned', version = version + 1, \
         flag_falls = NULL \
         WHERE id IN (SELECT id FROM games WHERE status IN ('waiting', 'playing') \
         AND touched < $1 LIMIT 256) AND status IN ('waiting', 'playing')",
    )
    .bind(before)
    .execute(connection)
    .await?;
    Ok(done.rows_affected())
}

pub(super) async fn restart_turns(
    connection: &mut AnyConnection,
    now: i64,
) -> Result<u64, StoreError> {
    let done = sqlx::query(
        "UPDATE games SET flag_falls = flag_falls - turn_began + $1, turn_began = $1 \
         WHERE flag_falls >= 0",
    )
    .bind(now)
    .execute(connection)
    .await?;
    Ok(done.rows_affected())
}

/// The moves of a game.
const MOVES: &str = "SELECT board_col, took, nodes, said FROM moves WHERE game = $1 ORDER BY ply";

/// The columns of a game in the order of `bind`; the id comes first.
const COLUMNS: &str = "id, version, created, touched, owner, kind0, kind1, holder0, holder1, name0, name1, agent0, agent1, \
    board_cols, board_rows, connect, ruleset, first_player, seed, opening, clock_initial, clock_increment, left0, left1, \
    status, winner, reason, rematch, listed, line, pending, \
    turn_began, flag_falls";

/// The rest of a session, stored as JSON.
#[derive(Default, Serialize, Deserialize)]
struct Pending {
    undone: Vec<PlayedMove>,
    offers: Offers,
}

fn bind<'q>(query: AnyQuery<'q>, session: &GameSession) -> Result<AnyQuery<'q>, StoreError> {
    let setup = session.setup();
    let kinds = session.seats.each_ref().map(|seat| match seat {
        Seat::Open => "open",
        Seat::Human { .. } => "human",
        Seat::Agent { .. } => "agent",
    });
    let [holder0, holder1] = session.seats.each_ref().map(|seat| match seat {
        Seat::Human { holder, .. } => holder.as_ref().map(|holder| holder.key().to_owned()),
        _ => None,
    });
    let [name0, name1] = session.seats.each_ref().map(|seat| match seat {
        Seat::Open => String::new(),
        Seat::Human { name, .. } | Seat::Agent { name, .. } => name.clone(),
    });
    let [agent0, agent1] = session.seats.each_ref().map(|seat| match seat {
        Seat::Agent { spec, .. } => Some(spec.to_string()),
        _ => None,
    });
    let pending = Pending { undone: session.undone.clone(), offers: session.offers };
    let falls = session.flag_falls().map(|falls| {
        let started = now_ms() - millis(session.turn_began.elapsed());
        (started, started + millis(falls.saturating_duration_since(session.turn_began)))
    });
    let reason = session.end.map(|end| serde_json::to_value(end.reason));
    let reason = reason.transpose().map_err(broken)?;
    Ok(query
        .bind(session.id.clone())
        .bind(session.version as i64)
        .bind(session.created)
        .bind(now_ms())
        .bind(session.owner.as_ref().map(|owner| owner.key().to_owned()))
        .bind(kinds[0])
        .bind(kinds[1])
        .bind(holder0)
        .bind(holder1)
        .bind(name0)
        .bind(name1)
        .bind(agent0)
        .bind(agent1)
        .bind(i64::from(setup.cols()))
        .bind(i64::from(setup.rows()))
        .bind(i64::from(setup.connect()))
        .bind(setup.ruleset().name())
        .bind(session.first as i64)
        .bind(session.seed.cast_signed())
        .bind(session.opening as i64)
        .bind(session.clock.map(|clock| micros(clock.initial)))
        .bind(session.clock.map(|clock| micros(clock.increment)))
        .bind(session.clock.map(|clock| micros(clock.left[0])))
        .bind(session.clock.map(|clock| micros(clock.left[1])))
        .bind(session.status().name())
        .bind(session.end.and_then(|end| end.winner).map(|winner| winner as i64))
        .bind(reason.and_then(|reason| reason.as_str().map(str::to_owned)))
        .bind(session.rematch.clone())
        .bind(i64::from(session.is_listed))
        .bind(session.game.move_text())
        .bind(serde_json::to_string(&pending).map_err(broken)?)
        .bind(falls.map(|(started, _)| started))
        .bind(falls.map(|(_, falls)| falls)))
}

fn session_of(row: &AnyRow, moves: Vec<PlayedMove>) -> Result<GameSession, StoreError> {
    let number = |name| row.try_get::<i64, _>(name);
    let optional = |name| row.try_get::<Option<i64>, _>(name);
    let text = |name| row.try_get::<String, _>(name);
    let some_text = |name| row.try_get::<Option<String>, _>(name);

    let game = Game::parse(setup_of(row)?, &text("line")?).map_err(broken)?;
    if !game.moves().iter().map(|column| column.number()).eq(moves.iter().map(|m| m.column)) {
        return Err(broken(format!("the moves of game {} do not match its line", text("id")?)));
    }
    let seat = |kind, holder, name, agent| -> Result<Seat, StoreError> {
        let name = text(name)?;
        Ok(match (text(kind)?.as_str(), some_text(agent)?) {
            ("open", _) => Seat::Open,
            (_, Some(agent)) => Seat::Agent { spec: agent.parse().map_err(broken)?, name },
            _ => Seat::Human { holder: some_text(holder)?.map(Visitor::stored), name },
        })
    };
    let clock = match (optional("clock_initial")?, optional("clock_increment")?) {
        (Some(initial), Some(increment)) => {
            let left = [optional("left0")?, optional("left1")?];
            let left = left.map(|left| duration(left.unwrap_or(initial)));
            Some(Clock { initial: duration(initial), increment: duration(increment), left })
        }
        _ => None,
    };
    let reason = some_text("reason")?.map(|reason| {
        serde_json::from_value::<EndReason>(serde_json::Value::String(reason)).map_err(broken)
    });
    let winner = optional("winner")?.map(|winner| usize::from(winner == 1));
    let pending: Pending = serde_json::from_str(&text("pending")?).map_err(broken)?;
    Ok(GameSession {
        id: text("id")?,
        version: number("version")?.cast_unsigned(),
        created: number("created")?,
        owner: some_text("owner")?.map(Visitor::stored),
        seats: [
            seat("kind0", "holder0", "name0", "agent0")?,
            seat("kind1", "holder1", "name1", "agent1")?,
        ],
        first: usize::from(number("first_player")? == 1),
        seed: number("seed")?.cast_unsigned(),
        opening: usize::try_from(number("opening")?).unwrap_or(0),
        game,
        moves,
        undone: pending.undone,
        clock,
        end: match (text("status")? == Status::Finished.name(), reason.transpose()?) {
            (true, Some(reason)) => Some(GameEnd { winner, reason }),
            _ => None,
        },
        offers: pending.offers,
        rematch: some_text("rematch")?,
        is_listed: number("listed")? != 0,
        turn_began: optional("turn_began")?.map_or_else(Instant::now, instant),
    })
}

pub(super) fn setup_of(row: &AnyRow) -> Result<Setup, StoreError> {
    let number = |name: &str| row.try_get::<i64, _>(name);
    let small = |name: &str| number(name).map(|number| u8::try_from(number).unwrap_or(0));
    let ruleset: Ruleset = row.try_get::<String, _>("ruleset")?.parse().map_err(broken)?;
    let setup = Setup::new(small("board_cols")?, small("board_rows")?, small("connect")?, ruleset);
    setup.map_err(broken)
}

fn move_of(row: &AnyRow) -> Result<PlayedMove, StoreError> {
    Ok(PlayedMove {
        column: u8::try_from(row.try_get::<i64, _>("board_col")?).map_err(broken)?,
        time: duration(row.try_get("took")?),
        nodes: row.try_get::<Option<i64>, _>("nodes")?.map(i64::cast_unsigned),
        value: row.try_get("said")?,
    })
}

/// The moves without their times and statistics.
fn plain_moves(row: &AnyRow) -> Result<Vec<PlayedMove>, StoreError> {
    let line: String = row.try_get("line")?;
    let column = |character| claimeven_game::Column::from_char(character);
    Ok(line
        .chars()
        .filter_map(column)
        .map(|column| PlayedMove {
            column: column.number(),
            time: Duration::ZERO,
            nodes: None,
            value: None,
        })
        .collect())
}

/// A time in milliseconds since 1970.
fn instant(time: i64) -> Instant {
    let ago = Duration::from_millis(u64::try_from(now_ms() - time).unwrap_or(0));
    Instant::now().checked_sub(ago).unwrap_or_else(Instant::now)
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

fn duration(micros: i64) -> Duration {
    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
}
