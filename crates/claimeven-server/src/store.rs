//! Games on disk: one set of statements for SQLite and PostgreSQL.
//!
//! One task writes. It takes all changes that have come while it was busy, makes them in one
//! transaction and answers when that is on disk, so that a slow disk makes nobody wait in line.

mod jobs;
mod migrations;

use std::str::FromStr;
use std::time::{Duration, Instant};

use claimeven_arena::Reason;
use claimeven_game::{Game, Ruleset, Setup};
use serde::{Deserialize, Serialize};
use sqlx::any::{AnyArguments, AnyConnectOptions, AnyPoolOptions, AnyRow};
use sqlx::query::Query;
use sqlx::{Any, AnyConnection, AnyPool, AssertSqlSafe, Row};
use tokio::sync::{mpsc, oneshot};

use crate::session::{Clock, GameEnd, GameSession, Offers, PlayedMove, Seat, Status};
use crate::visitor::{Visitor, random_hex};

pub(crate) use jobs::{Job, Kind, State};

/// The door to the database.
#[derive(Clone)]
pub(crate) struct Store {
    pool: AnyPool,
    changes: mpsc::Sender<Order>,
}

/// A change, and where to say whether it was played.
type Order = (Change, oneshot::Sender<Result<bool, StoreError>>);

/// Something to write.
enum Change {
    Create(Box<GameSession>),
    /// The session as it is to be, and how many of the stored moves stay.
    Update(Box<GameSession>, usize),
    Delete(String, u64),
    Abandon(i64),
    Review(Box<StoredReview>),
}

/// What was found of a game's moves.
#[derive(Clone, Debug)]
pub(crate) struct StoredReview {
    pub(crate) game: String,
    /// The moves that it is about: a game may go on after its end.
    pub(crate) line: String,
    /// The accuracy of both players, by their numbers.
    pub(crate) accuracy: [Option<f64>; 2],
    /// The review itself, as JSON.
    pub(crate) content: String,
}

/// Why the database did not do what it was query.
#[derive(Clone, Debug)]
pub(crate) enum StoreError {
    /// Somebody else has changed the game meanwhile.
    Stale,
    /// Anything else, for the log.
    Broken(String),
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> StoreError {
        StoreError::Broken(error.to_string())
    }
}

#[allow(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
fn broken(message: impl ToString) -> StoreError {
    StoreError::Broken(message.to_string())
}

impl Store {
    /// Opens or makes the database and brings its tables up to date.
    pub(crate) async fn open(url: &str, connections: u32) -> Result<Store, StoreError> {
        sqlx::any::install_default_drivers();
        let is_sqlite = url.starts_with("sqlite:");
        let url = if is_sqlite && !url.contains('?') {
            format!("{url}?mode=rwc")
        } else {
            url.to_owned()
        };
        let options = AnyConnectOptions::from_str(&url)?;
        let pool = AnyPoolOptions::new()
            .max_connections(connections)
            .acquire_timeout(Duration::from_secs(10))
            .after_connect(move |connection, _| {
                Box::pin(async move {
                    if is_sqlite {
                        // A move is acknowledged when it is on disk, and readers never wait.
                        sqlx::raw_sql(
                            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
                             PRAGMA busy_timeout = 10000;",
                        )
                        .execute(connection)
                        .await?;
                    }
                    Ok(())
                })
            })
            .connect_with(options)
            .await?;
        migrations::migrator().run(&pool).await.map_err(broken)?;
        let (changes, inbox) = mpsc::channel(1024);
        tokio::spawn(write(pool.clone(), inbox));
        Ok(Store { pool, changes })
    }

    /// A text that is made once and kept, such as the key that signs cookies.
    pub(crate) async fn secret(&self, name: &'static str) -> Result<String, StoreError> {
        sqlx::query("INSERT INTO settings (name, content) VALUES ($1, $2) ON CONFLICT DO NOTHING")
            .bind(name)
            .bind(random_hex::<32>())
            .execute(&self.pool)
            .await?;
        let row = sqlx::query("SELECT content FROM settings WHERE name = $1")
            .bind(name)
            .fetch_one(&self.pool)
            .await?;
        Ok(row.try_get(0)?)
    }

    /// Whether the database answers.
    pub(crate) async fn ping(&self) -> Result<(), StoreError> {
        sqlx::query("SELECT 1").execute(&self.pool).await?;
        Ok(())
    }

    /// Stores a new game.
    pub(crate) async fn create(&self, session: GameSession) -> Result<(), StoreError> {
        self.change(Change::Create(Box::new(session))).await
    }

    /// Stores a changed game whose first `kept` moves are stored already.
    pub(crate) async fn update(&self, session: GameSession, kept: usize) -> Result<(), StoreError> {
        self.change(Change::Update(Box::new(session), kept)).await
    }

    /// Deletes a game.
    pub(crate) async fn delete(&self, id: String, version: u64) -> Result<(), StoreError> {
        self.change(Change::Delete(id, version)).await
    }

    /// Ends all games that nobody has touched since a time.
    pub(crate) async fn abandon(&self, before: i64) -> Result<(), StoreError> {
        self.change(Change::Abandon(before)).await
    }

    /// Stores what was found of a game's moves.
    pub(crate) async fn keep_review(&self, review: StoredReview) -> Result<(), StoreError> {
        self.change(Change::Review(Box::new(review))).await
    }

    /// What was found of a game's moves, if it has those moves still.
    pub(crate) async fn review(&self, id: &str, line: &str) -> Result<Option<String>, StoreError> {
        let row = sqlx::query("SELECT content FROM reviews WHERE game = $1 AND line = $2")
            .bind(id.to_owned())
            .bind(line.to_owned())
            .fetch_optional(&self.pool)
            .await?;
        Ok(row.map(|row| row.try_get(0)).transpose()?)
    }

    /// A finished game whose moves nobody has looked at, the latest first: its name and moves.
    pub(crate) async fn unreviewed(&self) -> Result<Option<(String, String)>, StoreError> {
        let row = sqlx::query(
            "SELECT id, line FROM games WHERE status = 'finished' AND line <> '' AND NOT EXISTS \
             (SELECT 1 FROM reviews WHERE reviews.game = games.id AND reviews.line = games.line) \
             ORDER BY touched DESC LIMIT 1",
        )
        .fetch_optional(&self.pool)
        .await?;
        let read = |row: AnyRow| Ok((row.try_get(0)?, row.try_get(1)?));
        row.map(read).transpose()
    }

    async fn change(&self, change: Change) -> Result<(), StoreError> {
        let (answer, answered) = oneshot::channel();
        let gone = |_| broken("the database is closed");
        self.changes.send((change, answer)).await.map_err(|_| broken("the database is closed"))?;
        if answered.await.map_err(gone)?? { Ok(()) } else { Err(StoreError::Stale) }
    }

    /// A game with all its moves.
    pub(crate) async fn load(&self, id: &str) -> Result<Option<GameSession>, StoreError> {
        // One transaction, so that the moves are those of the game's version.
        let mut transaction = self.pool.begin().await?;
        let row = sqlx::query(AssertSqlSafe(format!("SELECT {COLUMNS} FROM games WHERE id = $1")))
            .bind(id.to_owned())
            .fetch_optional(&mut *transaction)
            .await?;
        let Some(row) = row else { return Ok(None) };
        let moves = sqlx::query(
            "SELECT board_col, took, nodes, said FROM moves WHERE game = $1 ORDER BY ply",
        )
        .bind(id.to_owned())
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        let moves = moves.iter().map(move_of).collect::<Result<Vec<_>, _>>()?;
        session_of(&row, moves).map(Some)
    }

    /// The games that somebody has touched since a time and that are not over.
    pub(crate) async fn unfinished(
        &self,
        since: i64,
        most: i64,
    ) -> Result<Vec<String>, StoreError> {
        let rows = sqlx::query(
            "SELECT id FROM games WHERE status = 'playing' AND touched >= $1 \
             ORDER BY touched DESC LIMIT $2",
        )
        .bind(since)
        .bind(most)
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
    }

    /// Games by what they must have, the latest first.
    pub(crate) async fn list(&self, filter: Filter) -> Result<Vec<GameSession>, StoreError> {
        let Filter { conditions, values, most } = filter;
        let conditions = if conditions.is_empty() {
            String::new()
        } else {
            format!("WHERE {}", conditions.join(" AND "))
        };
        let sql = format!(
            "SELECT {COLUMNS} FROM games {conditions} ORDER BY created DESC, id DESC LIMIT {most}"
        );
        let query =
            values.into_iter().fold(sqlx::query(AssertSqlSafe(sql)), |query, value| match value {
                Bound::Text(text) => query.bind(text),
                Bound::Number(number) => query.bind(number),
            });
        let rows = query.fetch_all(&self.pool).await?;
        // A list shows no more than the columns, which the line of moves has. A game that cannot be
        // read, say of an agent that there is no more, does not spoil the list.
        let read = |row: &AnyRow| session_of(row, plain_moves(row)?);
        let sessions = rows.iter().map(read).filter_map(|session| {
            session.inspect_err(|error| tracing::warn!(?error, "a game cannot be read")).ok()
        });
        Ok(sessions.collect())
    }
}

/// A finished game, as much of it as statistics need.
#[derive(Clone, Debug)]
pub(crate) struct Played {
    pub(crate) id: String,
    pub(crate) created: i64,
    pub(crate) setup: Setup,
    pub(crate) seats: [PlayedSeat; 2],
    /// Which of the players moved first.
    pub(crate) first: usize,
    /// How many moves were given and not played.
    pub(crate) opening: usize,
    pub(crate) winner: Option<usize>,
    /// The side of the visitor who asks.
    pub(crate) mine: Option<usize>,
    pub(crate) line: String,
    /// The accuracy of both players, where it is known.
    pub(crate) accuracy: [Option<f64>; 2],
    /// How long the moves of the one who moved first took, and those of the other.
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
        // Whoever holds both seats has neither won nor lost.
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
        let secret = who.map_or("", Visitor::secret).to_owned();
        let rows =
            sqlx::query(AssertSqlSafe(sql)).bind(secret.clone()).fetch_all(&self.pool).await?;
        rows.iter().map(|row| played_of(row, who.map(|_| secret.as_str()))).collect()
    }

    /// What was played after some moves: the next move as a letter (none if the game ended there),
    /// 1, 0 or -1 as the one who moved first won, drew or lost, and how often.
    pub(crate) async fn continuations(
        &self,
        setup: Setup,
        moves: &str,
        who: Option<&Visitor>,
    ) -> Result<Vec<(String, i64, u32)>, StoreError> {
        let own =
            if who.is_some() { "(owner = $6 OR holder0 = $6 OR holder1 = $6)" } else { "$6 = $6" };
        // Letters and figures alone, so nothing in the moves has a meaning for LIKE.
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
            .bind(who.map_or("", Visitor::secret).to_owned())
            .fetch_all(&self.pool)
            .await?;
        let read = |row: &AnyRow| {
            // PostgreSQL's constants are smaller integers than its counts.
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

/// Conditions for a list of games.
#[derive(Debug)]
pub(crate) struct Filter {
    conditions: Vec<String>,
    values: Vec<Bound>,
    most: u32,
}

#[derive(Debug)]
enum Bound {
    Text(String),
    Number(i64),
}

impl Filter {
    /// All games, but so many at most.
    pub(crate) fn new(most: u32) -> Filter {
        Filter { conditions: Vec::new(), values: Vec::new(), most }
    }

    /// Adds a condition; each `?` in it stands for a text, which is never part of the statement.
    pub(crate) fn text(&mut self, condition: &'static str, text: &str) {
        self.push(condition, |filter| filter.values.push(Bound::Text(text.to_owned())));
    }

    /// The same with a number.
    pub(crate) fn number(&mut self, condition: &'static str, number: i64) {
        self.push(condition, |filter| filter.values.push(Bound::Number(number)));
    }

    /// Adds a condition without a value.
    pub(crate) fn plain(&mut self, condition: &'static str) {
        self.conditions.push(condition.to_owned());
    }

    /// What comes after a game in the list.
    pub(crate) fn after(&mut self, created: i64, id: &str) {
        self.values.extend([Bound::Number(created), Bound::Text(id.to_owned())]);
        let (time, name) = (self.values.len() - 1, self.values.len());
        self.conditions
            .push(format!("(created < ${time} OR (created = ${time} AND id < ${name}))"));
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
}

/// Makes changes as they come, as many at once as have come.
async fn write(pool: AnyPool, mut inbox: mpsc::Receiver<Order>) {
    const MOST_AT_ONCE: usize = 256;
    let mut batch = Vec::new();
    while inbox.recv_many(&mut batch, MOST_AT_ONCE).await > 0 {
        let (changes, answers): (Vec<Change>, Vec<_>) = batch.drain(..).unzip();
        let results = match write_batch(&pool, &changes).await {
            Ok(results) => results.into_iter().map(Ok).collect(),
            Err(_) => write_singly(&pool, &changes).await,
        };
        for (answer, result) in answers.into_iter().zip(results) {
            // Whoever has gone meanwhile needs no answer.
            let _ = answer.send(result);
        }
    }
}

/// Makes changes one by one, so that one which cannot be made does not take others with it.
async fn write_singly(pool: &AnyPool, changes: &[Change]) -> Vec<Result<bool, StoreError>> {
    let mut results = Vec::with_capacity(changes.len());
    for change in changes {
        let written = write_batch(pool, std::slice::from_ref(change)).await;
        if let Err(error) = &written {
            tracing::error!(?error, "the database refused to write");
        }
        results.push(written.map(|results| results == [true]));
    }
    results
}

async fn write_batch(pool: &AnyPool, changes: &[Change]) -> Result<Vec<bool>, StoreError> {
    let mut transaction = pool.begin().await?;
    let mut results = Vec::with_capacity(changes.len());
    for change in changes {
        results.push(match change {
            Change::Create(session) => create(&mut transaction, session).await?,
            Change::Update(session, kept) => update(&mut transaction, session, *kept).await?,
            Change::Delete(id, version) => delete(&mut transaction, id, *version).await?,
            Change::Abandon(before) => abandon(&mut transaction, *before).await?,
            Change::Review(review) => keep_review(&mut transaction, review).await?,
        });
    }
    transaction.commit().await?;
    Ok(results)
}

async fn create(connection: &mut AnyConnection, session: &GameSession) -> Result<bool, StoreError> {
    let places: Vec<String> =
        (1..=COLUMNS.split(',').count()).map(|place| format!("${place}")).collect();
    let places = places.join(", ");
    let sql = format!("INSERT INTO games ({COLUMNS}) VALUES ({places}) ON CONFLICT DO NOTHING");
    let done = bind(sqlx::query(AssertSqlSafe(sql)), session)?.execute(&mut *connection).await?;
    if done.rows_affected() == 0 {
        return Ok(false);
    }
    append(connection, session, 0).await?;
    Ok(true)
}

async fn update(
    connection: &mut AnyConnection,
    session: &GameSession,
    kept: usize,
) -> Result<bool, StoreError> {
    let assignments: Vec<String> = (1..)
        .zip(COLUMNS.split(','))
        .map(|(place, column)| format!("{} = ${place}", column.trim()))
        .collect();
    let last = assignments.len() + 1;
    let sql =
        format!("UPDATE games SET {} WHERE id = $1 AND version = ${last}", assignments.join(", "));
    let query = bind(sqlx::query(AssertSqlSafe(sql)), session)?.bind(session.version as i64 - 1);
    if query.execute(&mut *connection).await?.rows_affected() == 0 {
        return Ok(false);
    }
    sqlx::query("DELETE FROM moves WHERE game = $1 AND ply >= $2")
        .bind(session.id.clone())
        .bind(kept as i64)
        .execute(&mut *connection)
        .await?;
    append(connection, session, kept).await?;
    Ok(true)
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

async fn delete(
    connection: &mut AnyConnection,
    id: &str,
    version: u64,
) -> Result<bool, StoreError> {
    let done = sqlx::query("DELETE FROM games WHERE id = $1 AND version = $2")
        .bind(id.to_owned())
        .bind(version as i64)
        .execute(&mut *connection)
        .await?;
    if done.rows_affected() == 0 {
        return Ok(false);
    }
    for sql in ["DELETE FROM moves WHERE game = $1", "DELETE FROM reviews WHERE game = $1"] {
        sqlx::query(sql).bind(id.to_owned()).execute(&mut *connection).await?;
    }
    Ok(true)
}

async fn keep_review(
    connection: &mut AnyConnection,
    review: &StoredReview,
) -> Result<bool, StoreError> {
    // The game may have been deleted meanwhile.
    sqlx::query(
        "INSERT INTO reviews (game, line, accuracy0, accuracy1, content) \
         SELECT id, $2, $3, $4, $5 FROM games WHERE id = $1 \
         ON CONFLICT (game) DO UPDATE SET line = excluded.line, accuracy0 = excluded.accuracy0, \
         accuracy1 = excluded.accuracy1, content = excluded.content",
    )
    .bind(review.game.clone())
    .bind(review.line.clone())
    .bind(review.accuracy[0])
    .bind(review.accuracy[1])
    .bind(review.content.clone())
    .execute(&mut *connection)
    .await?;
    Ok(true)
}

async fn abandon(connection: &mut AnyConnection, before: i64) -> Result<bool, StoreError> {
    sqlx::query(
        "UPDATE games SET status = 'finished', reason = 'abandoned', version = version + 1 \
         WHERE status <> 'finished' AND touched < $1",
    )
    .bind(before)
    .execute(&mut *connection)
    .await?;
    Ok(true)
}

/// The columns of a game in the order in which `bind` gives them; the name comes first.
const COLUMNS: &str = "id, version, created, touched, owner, kind0, kind1, holder0, holder1, name0, name1, agent0, agent1, \
    board_cols, board_rows, connect, ruleset, first_player, seed, opening, clock_initial, clock_increment, left0, left1, \
    status, winner, reason, rematch, line, pending";

/// What of a session is neither a column of its own nor a move.
#[derive(Default, Serialize, Deserialize)]
struct Pending {
    undone: Vec<PlayedMove>,
    offers: Offers,
}

type AnyQuery<'q> = Query<'q, Any, AnyArguments>;

fn bind<'q>(query: AnyQuery<'q>, session: &GameSession) -> Result<AnyQuery<'q>, StoreError> {
    let setup = session.setup();
    let kinds = session.seats.each_ref().map(|seat| match seat {
        Seat::Open => "open",
        Seat::Human { .. } => "human",
        Seat::Agent { .. } => "agent",
    });
    let [holder0, holder1] = session.seats.each_ref().map(|seat| match seat {
        Seat::Human { holder, .. } => holder.as_ref().map(|holder| holder.secret().to_owned()),
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
    let reason = session.end.map(|end| serde_json::to_value(end.reason));
    let reason = reason.transpose().map_err(broken)?;
    Ok(query
        .bind(session.id.clone())
        .bind(session.version as i64)
        .bind(session.created)
        .bind(now_ms())
        .bind(session.owner.as_ref().map(|owner| owner.secret().to_owned()))
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
        .bind(session.game.move_text())
        .bind(serde_json::to_string(&pending).map_err(broken)?))
}

fn session_of(row: &AnyRow, moves: Vec<PlayedMove>) -> Result<GameSession, StoreError> {
    let number = |name| row.try_get::<i64, _>(name);
    let optional = |name| row.try_get::<Option<i64>, _>(name);
    let text = |name| row.try_get::<String, _>(name);
    let some_text = |name| row.try_get::<Option<String>, _>(name);
    let small = |name| number(name).map(|number| u8::try_from(number).unwrap_or(0));

    let ruleset: Ruleset = text("ruleset")?.parse().map_err(broken)?;
    let setup = Setup::new(small("board_cols")?, small("board_rows")?, small("connect")?, ruleset);
    let game = Game::parse(setup.map_err(broken)?, &text("line")?).map_err(broken)?;
    if game.moves().len() != moves.len() {
        return Err(broken(format!("the moves of game {} are not all there", text("id")?)));
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
        serde_json::from_value::<Reason>(serde_json::Value::String(reason)).map_err(broken)
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
        turn_began: Instant::now(),
    })
}

fn move_of(row: &AnyRow) -> Result<PlayedMove, StoreError> {
    Ok(PlayedMove {
        column: u8::try_from(row.try_get::<i64, _>("board_col")?).map_err(broken)?,
        time: duration(row.try_get("took")?),
        nodes: row.try_get::<Option<i64>, _>("nodes")?.map(i64::cast_unsigned),
        value: row.try_get("said")?,
    })
}

/// The moves of a line without what is known of each.
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

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

fn duration(micros: i64) -> Duration {
    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use claimeven_game::Game;

    fn session(id: &str) -> GameSession {
        GameSession {
            id: id.to_owned(),
            version: 0,
            created: now_ms(),
            owner: None,
            seats: [Seat::Open, Seat::Open],
            first: 0,
            seed: 1,
            opening: 0,
            game: Game::new(Setup::STANDARD),
            moves: Vec::new(),
            undone: Vec::new(),
            clock: None,
            end: None,
            offers: Offers::default(),
            rematch: None,
            turn_began: Instant::now(),
        }
    }

    /// All are written in one transaction, as they come at the same time.
    #[tokio::test]
    async fn a_change_that_is_refused_takes_no_other_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("games.sqlite");
        let store = Store::open(&format!("sqlite:{}", file.display()), 2).await.unwrap();
        sqlx::raw_sql(
            "CREATE TRIGGER refuse BEFORE INSERT ON games WHEN NEW.id = 'bad' \
             BEGIN SELECT RAISE(ABORT, 'no'); END",
        )
        .execute(&store.pool)
        .await
        .unwrap();

        let (one, bad, two) = tokio::join!(
            store.create(session("one")),
            store.create(session("bad")),
            store.create(session("two")),
        );
        assert!(one.is_ok() && two.is_ok(), "{one:?} {two:?}");
        assert!(matches!(bad, Err(StoreError::Broken(_))), "{bad:?}");
        for (id, is_there) in [("one", true), ("bad", false), ("two", true)] {
            assert_eq!(store.load(id).await.unwrap().is_some(), is_there, "{id}");
        }
    }
}
