//! Operators' commands: listing and deleting stored data, and banning addresses. They work while
//! the server is running, which notices within seconds.

mod backup;
mod prune;

use ipnet::IpNet;
use serde::Serialize;
use serde_json::Value;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe, Executor, Row};

use crate::config::Config;
use crate::server::ServerError;
use crate::store::{self, StoreError, now_ms};
use crate::visitor::Visitor;

pub use backup::BackupSummary;
pub use prune::{Pruned, Retention};

/// A connection to the database of a server.
pub struct Admin {
    config: Config,
    connection: AnyConnection,
}

/// Which games to list.
#[derive(Clone, Debug, Default)]
pub struct GameFilter {
    /// `waiting`, `playing` or `finished`.
    pub status: Option<String>,
    /// The key of a visitor, or its first digits.
    pub visitor: Option<String>,
    /// Maximum number of games.
    pub limit: u32,
}

/// A game in progress that cannot be read.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub struct UnreadableGame {
    pub id: String,
    pub reason: String,
}

/// A game in a list.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub struct GameRow {
    pub id: String,
    pub created: String,
    pub updated: String,
    pub status: String,
    pub players: [String; 2],
    pub moves: usize,
    pub listed: bool,
    /// The keys of the visitors who created it and who play.
    pub visitors: Vec<String>,
}

/// A game with everything that is stored about it.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub struct GameDetails {
    #[serde(flatten)]
    pub row: GameRow,
    pub board: String,
    pub ruleset: String,
    pub line: String,
    pub winner: Option<i64>,
    pub reason: Option<String>,
    pub rematch: Option<String>,
    pub reviewed: bool,
    /// Why the server cannot read it, if it cannot.
    pub unreadable: Option<String>,
}

/// A visitor who has stored something.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub struct VisitorRow {
    pub key: String,
    pub games: i64,
    pub first_game: String,
    pub last_seen: String,
}

/// A visitor with their games and jobs.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub struct VisitorDetails {
    #[serde(flatten)]
    pub row: VisitorRow,
    pub names: Vec<String>,
    pub jobs: Vec<JobRow>,
    /// The latest games.
    pub latest: Vec<GameRow>,
}

/// The kinds of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobKind {
    /// A tournament.
    Tournament,
    /// A training run.
    Training,
}

impl JobKind {
    const fn name(self) -> &'static str {
        match self {
            JobKind::Tournament => "tournament",
            JobKind::Training => "training",
        }
    }
}

/// A job in a list.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub struct JobRow {
    pub id: String,
    pub kind: String,
    pub title: String,
    pub state: String,
    pub done: i64,
    pub total: i64,
    pub created: String,
    pub updated: String,
    /// The key of the visitor who started it.
    pub visitor: String,
}

/// A job with everything that is stored about it, except its games.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub struct JobDetails {
    #[serde(flatten)]
    pub row: JobRow,
    pub plan: Value,
    pub result: Value,
    pub error: Option<String>,
    pub stored_games: i64,
}

/// A banned address or range.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub struct Ban {
    pub range: String,
    pub reason: String,
    pub since: String,
    pub until: Option<String>,
}

const GAME_COLUMNS: &str = "id, created, touched, status, kind0, kind1, name0, name1, agent0, \
    agent1, line, listed, owner, holder0, holder1, board_cols, board_rows, connect, ruleset, \
    winner, reason, rematch";

const JOB_COLUMNS: &str =
    "id, kind, title, state, done, total, created, touched, owner, plan, result, error";

/// All visitors with their games; a game counts once for each of them.
const SEATS: &str = "SELECT owner AS who, id, created, touched FROM games WHERE owner IS NOT NULL \
    UNION SELECT holder0, id, created, touched FROM games WHERE holder0 IS NOT NULL \
    UNION SELECT holder1, id, created, touched FROM games WHERE holder1 IS NOT NULL";

impl Admin {
    /// Adds all finished games to the statistics at once, which takes some kilobytes of memory for
    /// each. A running server does so by itself, a few hundred games at a time.
    #[doc(hidden)]
    pub async fn count_games(&mut self) -> Result<u64, ServerError> {
        store::count_all(&mut self.connection)
            .await
            .map_err(|error| ServerError::Other(error.to_string()))
    }

    /// Opens the database of a server, which must exist and have the schema of this version.
    pub async fn open(config: &Config) -> Result<Admin, ServerError> {
        if let Some(file) = config.database_file()
            && let Err(error) = std::fs::metadata(file)
        {
            return Err(ServerError::Database {
                database: config.redacted_database(),
                reason: error.to_string(),
            });
        }
        let named = |error: StoreError| ServerError::Database {
            database: config.redacted_database(),
            reason: error.to_string(),
        };
        let mut connection = store::connect(&config.database).await.map_err(named)?;
        store::check_schema(&mut connection).await.map_err(named)?;
        Ok(Admin { config: config.clone(), connection })
    }

    /// The latest games.
    pub async fn games(&mut self, filter: &GameFilter) -> Result<Vec<GameRow>, ServerError> {
        let (mut conditions, mut values) = (Vec::new(), Vec::new());
        if let Some(status) = &filter.status {
            values.push(status.clone());
            conditions.push(format!("status = ${}", values.len()));
        }
        if let Some(visitor) = &filter.visitor {
            values.push(self.visitor_key(visitor).await?);
            let at = values.len();
            conditions.push(format!("(owner = ${at} OR holder0 = ${at} OR holder1 = ${at})"));
        }
        let conditions = match &conditions[..] {
            [] => String::new(),
            conditions => format!("WHERE {}", conditions.join(" AND ")),
        };
        let sql = format!(
            "SELECT {GAME_COLUMNS} FROM games {conditions} ORDER BY created DESC, id DESC LIMIT {}",
            filter.limit
        );
        let query = sqlx::query(AssertSqlSafe(sql));
        let query = values.into_iter().fold(query, sqlx::query::Query::bind);
        let rows = query.fetch_all(&mut self.connection).await.map_err(broken)?;
        rows.iter().map(|row| game_row(row).map_err(broken)).collect()
    }

    /// Those of the latest games in progress that cannot be read: at most `limit` of them.
    pub async fn unreadable_games(
        &mut self,
        limit: u32,
    ) -> Result<Vec<UnreadableGame>, ServerError> {
        /// Each is read with all its moves.
        const MAX_READ: u32 = 100_000;
        let games =
            store::unreadable_games(&mut self.connection, MAX_READ).await.map_err(broken)?;
        let games = games.into_iter().map(|(id, reason)| UnreadableGame { id, reason });
        Ok(games.take(limit as usize).collect())
    }

    /// A game by its id.
    pub async fn game(&mut self, id: &str) -> Result<GameDetails, ServerError> {
        let sql = format!("SELECT {GAME_COLUMNS} FROM games WHERE id = $1");
        let query = sqlx::query(AssertSqlSafe(sql)).bind(id.to_owned());
        let row = query.fetch_optional(&mut self.connection).await.map_err(broken)?;
        let row = row.ok_or_else(|| unknown("game", id))?;
        let unreadable = store::load_game(&mut self.connection, id).await.err();
        let review = sqlx::query("SELECT game FROM reviews WHERE game = $1").bind(id.to_owned());
        let review = review.fetch_optional(&mut self.connection).await.map_err(broken)?;
        let read = || -> Result<GameDetails, sqlx::Error> {
            let number = |name| row.try_get::<i64, _>(name);
            Ok(GameDetails {
                row: game_row(&row)?,
                board: format!(
                    "{}x{}, connect {}",
                    number("board_cols")?,
                    number("board_rows")?,
                    number("connect")?
                ),
                ruleset: row.try_get("ruleset")?,
                line: row.try_get("line")?,
                winner: row.try_get("winner")?,
                reason: row.try_get("reason")?,
                rematch: row.try_get("rematch")?,
                reviewed: review.is_some(),
                unreadable: unreadable.map(|error| error.to_string()),
            })
        };
        read().map_err(broken)
    }

    /// Deletes a game with its moves and review, for everyone.
    pub async fn delete_game(&mut self, id: &str) -> Result<(), ServerError> {
        let deleted = self
            .change(async |connection| store::delete_games(connection, &[id.to_owned()]).await)
            .await?;
        if deleted == 0 { Err(unknown("game", id)) } else { Ok(()) }
    }

    /// The visitors who have games, the most recently seen first.
    pub async fn visitors(&mut self, limit: u32) -> Result<Vec<VisitorRow>, ServerError> {
        self.visitor_rows("", &format!("ORDER BY MAX(touched) DESC, who LIMIT {limit}")).await
    }

    /// A visitor by their key or its first digits.
    pub async fn visitor(&mut self, start: &str) -> Result<VisitorDetails, ServerError> {
        let key = self.visitor_key(start).await?;
        let rows = self.visitor_rows(&format!("WHERE who = '{key}'"), "").await?;
        let jobs = self.job_rows("owner = $1", &key, 100).await?;
        let row = rows.into_iter().next().unwrap_or_else(|| VisitorRow {
            key: key.clone(),
            games: 0,
            first_game: String::new(),
            last_seen: jobs.first().map(|job| job.updated.clone()).unwrap_or_default(),
        });
        let sql = "SELECT name0 FROM games WHERE holder0 = $1 AND name0 <> '' \
                   UNION SELECT name1 FROM games WHERE holder1 = $1 AND name1 <> ''";
        let names = sqlx::query(sql).bind(key.clone()).fetch_all(&mut self.connection).await;
        let names = names.map_err(broken)?;
        let names = names.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>();
        let filter = GameFilter { visitor: Some(key), limit: 20, ..GameFilter::default() };
        let latest = self.games(&filter).await?;
        Ok(VisitorDetails { row, names: names.map_err(broken)?, jobs, latest })
    }

    /// Deletes all data of a visitor, as the visitor could; returns the number of games affected.
    /// Running jobs stop.
    pub async fn delete_visitor(&mut self, start: &str) -> Result<u64, ServerError> {
        let key = self.visitor_key(start).await?;
        let who = Visitor::stored(key.clone());
        let mut games = 0;
        loop {
            let batch =
                self.change(async |connection| store::forget_games(connection, &who).await).await?;
            if batch == 0 {
                break;
            }
            games += batch;
        }
        for job in self.job_rows("owner = $1", &key, 10_000).await? {
            self.delete_job_row(&job).await?;
        }
        Ok(games)
    }

    /// The latest jobs of a kind.
    pub async fn jobs(&mut self, kind: JobKind, limit: u32) -> Result<Vec<JobRow>, ServerError> {
        self.job_rows("kind = $1", kind.name(), limit).await
    }

    /// A job by its id.
    pub async fn job(&mut self, kind: JobKind, id: &str) -> Result<JobDetails, ServerError> {
        let sql = format!("SELECT {JOB_COLUMNS} FROM jobs WHERE id = $1 AND kind = $2");
        let query = sqlx::query(AssertSqlSafe(sql)).bind(id.to_owned()).bind(kind.name());
        let row = query.fetch_optional(&mut self.connection).await.map_err(broken)?;
        let row = row.ok_or_else(|| unknown(kind.name(), id))?;
        let games = sqlx::query("SELECT COUNT(*) FROM job_games WHERE job = $1");
        let games = games.bind(id.to_owned()).fetch_one(&mut self.connection).await;
        let games = games.map_err(broken)?;
        let read = || -> Result<JobDetails, sqlx::Error> {
            let json = |name| -> Result<Value, sqlx::Error> {
                let text: Option<String> = row.try_get(name)?;
                Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or(Value::Null))
            };
            Ok(JobDetails {
                row: job_row(&row)?,
                plan: json("plan")?,
                result: json("result")?,
                error: row.try_get("error")?,
                stored_games: games.try_get(0)?,
            })
        };
        read().map_err(broken)
    }

    /// Deletes a job with its games and, for a training run, its networks. If a server is running
    /// it, the job stops.
    pub async fn delete_job(&mut self, kind: JobKind, id: &str) -> Result<(), ServerError> {
        let JobDetails { row, .. } = self.job(kind, id).await?;
        self.delete_job_row(&row).await
    }

    /// Bans an address or range, until a time in milliseconds since 1970 or forever.
    pub async fn ban(
        &mut self,
        range: IpNet,
        reason: &str,
        until: Option<i64>,
    ) -> Result<(), ServerError> {
        // The maximum stands for "forever": the driver cannot bind a NULL for every type.
        let sql = "INSERT INTO bans (addresses, created, expires, reason) VALUES ($1, $2, $3, $4) \
                   ON CONFLICT (addresses) DO UPDATE SET expires = excluded.expires, \
                   reason = excluded.reason";
        let range = range.trunc().to_string();
        self.change(async |connection| {
            let query = sqlx::query(sql).bind(range).bind(now_ms());
            let query = query.bind(until.unwrap_or(i64::MAX)).bind(reason.to_owned());
            Ok(query.execute(connection).await?)
        })
        .await
        .map(drop)
    }

    /// Lifts the ban on exactly this address or range; returns whether there was one.
    pub async fn unban(&mut self, range: IpNet) -> Result<bool, ServerError> {
        let range = range.trunc().to_string();
        let deleted = self
            .change(async |connection| {
                let sql = "DELETE FROM bans WHERE addresses = $1";
                Ok(sqlx::query(sql).bind(range).execute(connection).await?.rows_affected())
            })
            .await?;
        Ok(deleted > 0)
    }

    /// The bans that have not expired, the latest first.
    pub async fn bans(&mut self) -> Result<Vec<Ban>, ServerError> {
        let sql = "SELECT addresses, reason, created, expires FROM bans WHERE expires > $1 \
                   ORDER BY created DESC, addresses";
        let rows = sqlx::query(sql).bind(now_ms()).fetch_all(&mut self.connection).await;
        let read = |row: &AnyRow| -> Result<Ban, sqlx::Error> {
            let until: i64 = row.try_get("expires")?;
            Ok(Ban {
                range: row.try_get("addresses")?,
                reason: row.try_get("reason")?,
                since: time(row.try_get("created")?),
                until: (until != i64::MAX).then(|| time(until)),
            })
        };
        rows.map_err(broken)?.iter().map(|row| read(row).map_err(broken)).collect()
    }

    async fn delete_job_row(&mut self, job: &JobRow) -> Result<(), ServerError> {
        let ids = [job.id.clone()];
        self.change(async |connection| store::delete_jobs(connection, &ids).await).await?;
        if job.kind == JobKind::Training.name() {
            crate::work::training::remove_networks(&self.config, &job.id);
        }
        Ok(())
    }

    async fn visitor_rows(
        &mut self,
        which: &str,
        order: &str,
    ) -> Result<Vec<VisitorRow>, ServerError> {
        let sql = format!(
            "SELECT who, COUNT(*) AS games, MIN(created) AS first, MAX(touched) AS seen \
             FROM ({SEATS}) AS seats {which} GROUP BY who {order}"
        );
        let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut self.connection).await;
        let read = |row: &AnyRow| -> Result<VisitorRow, sqlx::Error> {
            Ok(VisitorRow {
                key: row.try_get("who")?,
                games: row.try_get("games")?,
                first_game: time(row.try_get("first")?),
                last_seen: time(row.try_get("seen")?),
            })
        };
        rows.map_err(broken)?.iter().map(|row| read(row).map_err(broken)).collect()
    }

    /// The complete key of a visitor, given its first digits.
    async fn visitor_key(&mut self, start: &str) -> Result<String, ServerError> {
        const MIN_LENGTH: usize = 6;
        if start.len() < MIN_LENGTH || !start.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let message = format!(
                "invalid visitor '{start}': expected {MIN_LENGTH} or more hexadecimal digits"
            );
            return Err(ServerError::Other(message));
        }
        let sql = format!(
            "SELECT DISTINCT who FROM (SELECT who FROM ({SEATS}) AS seats UNION SELECT owner FROM jobs) \
             AS everyone WHERE who LIKE $1 LIMIT 2"
        );
        let query = sqlx::query(AssertSqlSafe(sql)).bind(format!("{}%", start.to_lowercase()));
        let rows = query.fetch_all(&mut self.connection).await.map_err(broken)?;
        match &rows[..] {
            [] => Err(unknown("visitor", start)),
            [row] => row.try_get(0).map_err(broken),
            _ => Err(ServerError::Other(format!(
                "'{start}' is ambiguous: several visitors have keys that start with it"
            ))),
        }
    }

    async fn job_rows(
        &mut self,
        which: &str,
        value: &str,
        limit: u32,
    ) -> Result<Vec<JobRow>, ServerError> {
        let sql = format!(
            "SELECT {JOB_COLUMNS} FROM jobs WHERE {which} ORDER BY created DESC, id LIMIT {limit}"
        );
        let query = sqlx::query(AssertSqlSafe(sql)).bind(value.to_owned());
        let rows = query.fetch_all(&mut self.connection).await.map_err(broken)?;
        rows.iter().map(|row| job_row(row).map_err(broken)).collect()
    }

    /// Makes a change in one transaction. After an error, the connection must not be used any more.
    async fn change<T>(
        &mut self,
        change: impl AsyncFnOnce(&mut AnyConnection) -> Result<T, StoreError>,
    ) -> Result<T, ServerError> {
        let begin = if self.config.is_postgres() { "BEGIN" } else { "BEGIN IMMEDIATE" };
        self.connection.execute(sqlx::raw_sql(begin)).await.map_err(broken)?;
        let result = change(&mut self.connection).await.map_err(broken)?;
        store::notify_server(&mut self.connection).await.map_err(broken)?;
        self.connection.execute(sqlx::raw_sql("COMMIT")).await.map_err(broken)?;
        Ok(result)
    }
}

fn game_row(row: &AnyRow) -> Result<GameRow, sqlx::Error> {
    let text = |name| row.try_get::<Option<String>, _>(name);
    let player = |kind, name, agent| -> Result<String, sqlx::Error> {
        Ok(match (text(kind)?.as_deref(), text(name)?, text(agent)?) {
            (Some("open"), ..) => "(open)".to_owned(),
            (_, _, Some(agent)) => agent,
            (_, Some(name), _) if !name.is_empty() => name,
            _ => "(guest)".to_owned(),
        })
    };
    let mut visitors: Vec<String> = Vec::new();
    for name in ["owner", "holder0", "holder1"] {
        visitors.extend(text(name)?.filter(|key| !visitors.contains(key)));
    }
    Ok(GameRow {
        id: row.try_get("id")?,
        created: time(row.try_get("created")?),
        updated: time(row.try_get("touched")?),
        status: row.try_get("status")?,
        players: [player("kind0", "name0", "agent0")?, player("kind1", "name1", "agent1")?],
        moves: text("line")?.map_or(0, |line| line.chars().count()),
        listed: row.try_get::<i64, _>("listed")? != 0,
        visitors,
    })
}

fn job_row(row: &AnyRow) -> Result<JobRow, sqlx::Error> {
    Ok(JobRow {
        id: row.try_get("id")?,
        kind: row.try_get("kind")?,
        title: row.try_get("title")?,
        state: row.try_get("state")?,
        done: row.try_get("done")?,
        total: row.try_get("total")?,
        created: time(row.try_get("created")?),
        updated: time(row.try_get("touched")?),
        visitor: row.try_get("owner")?,
    })
}

/// A time in milliseconds since 1970 as readable text, in UTC and without fractions.
fn time(ms: i64) -> String {
    jiff::Timestamp::from_second(ms / 1000).map(|time| time.to_string()).unwrap_or_default()
}

fn unknown(what: &str, id: &str) -> ServerError {
    ServerError::Other(format!("{what} '{id}' not found"))
}

#[allow(clippy::needless_pass_by_value, reason = "the signature that `map_err` needs")]
fn broken(error: impl ToString) -> ServerError {
    ServerError::Other(error.to_string())
}
