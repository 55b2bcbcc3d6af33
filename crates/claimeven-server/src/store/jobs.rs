//! Jobs: their plan, progress and games.

use claimeven_arena::GameRecord;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe, Row};

use super::{Change, Store, StoreError, broken, leases, now_ms};
use crate::visitor::Visitor;

/// A tournament or a training run.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) id: String,
    pub(crate) kind: Kind,
    pub(crate) owner: Visitor,
    /// Milliseconds since 1970.
    pub(crate) created: i64,
    pub(crate) state: JobState,
    pub(crate) title: String,
    /// The request as JSON.
    pub(crate) plan: String,
    pub(crate) done: u64,
    pub(crate) total: u64,
    /// The result so far, as JSON.
    pub(crate) result: Option<String>,
    /// Why it failed.
    pub(crate) error: Option<String>,
}

/// The kinds of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Tournament,
    Training,
}

impl Kind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Kind::Tournament => "tournament",
            Kind::Training => "training",
        }
    }
}

/// The state of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JobState {
    /// Waiting for its turn.
    Queued,
    Running,
    /// Stopped by its owner, who may resume it.
    Stopped,
    Done,
    Failed,
}

impl JobState {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            JobState::Queued => "queued",
            JobState::Running => "running",
            JobState::Stopped => "stopped",
            JobState::Done => "done",
            JobState::Failed => "failed",
        }
    }

    /// Whether it is running or queued.
    pub(crate) const fn is_active(self) -> bool {
        matches!(self, JobState::Queued | JobState::Running)
    }
}

/// A change to stored jobs.
#[derive(Clone, Debug)]
pub(super) enum JobChange {
    Add(Job),
    /// Puts jobs whose server has stopped back into the queue.
    Requeue {
        is_shared: bool,
    },
    SetState {
        /// The server, if others share the database.
        server: Option<String>,
        id: String,
        from: Vec<JobState>,
        to: JobState,
        error: Option<String>,
    },
    /// The games are numbered records as JSON. This and the following changes are made only while the
    /// server holds the lease of the job, if others share the database.
    Advance {
        server: Option<String>,
        id: String,
        games: Vec<(i64, String)>,
        done: u64,
        result: Option<String>,
    },
    /// Removes games, by their numbers.
    Retract {
        server: Option<String>,
        id: String,
        games: Vec<i64>,
        done: u64,
        result: Option<String>,
    },
    /// Without a server, it is made at any time: the owner of the job makes it.
    Replan {
        server: Option<String>,
        id: String,
        plan: String,
        total: u64,
    },
    /// Stores games under their numbers, replacing existing ones.
    ShowGames {
        server: Option<String>,
        id: String,
        games: Vec<(i64, String)>,
    },
    Delete(String),
}

const COLUMNS: &str =
    "id, kind, owner, created, state, title, plan, done, total, result, error, touched";

impl Store {
    async fn change_jobs(&self, change: JobChange) -> Result<u64, StoreError> {
        self.change(Change::Job(Box::new(change))).await
    }

    /// Stores a new job.
    pub(crate) async fn add_job(&self, job: &Job) -> Result<(), StoreError> {
        self.change_jobs(JobChange::Add(job.clone())).await.map(drop)
    }

    /// A job by its id.
    pub(crate) async fn job(&self, id: &str) -> Result<Option<Job>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM jobs WHERE id = $1");
        let row = self.fetch_optional(sqlx::query(AssertSqlSafe(sql)).bind(id.to_owned())).await?;
        row.as_ref().map(job_of).transpose()
    }

    /// The jobs of a visitor, or all of a kind, the latest first.
    pub(crate) async fn jobs(
        &self,
        kind: Kind,
        owner: Option<&Visitor>,
    ) -> Result<Vec<Job>, StoreError> {
        let whose = if owner.is_some() { " AND owner = $2" } else { "" };
        let sql = format!(
            "SELECT {COLUMNS} FROM jobs WHERE kind = $1{whose} ORDER BY created DESC, id LIMIT 200"
        );
        let mut query = sqlx::query(AssertSqlSafe(sql)).bind(kind.name());
        if let Some(owner) = owner {
            query = query.bind(owner.key().to_owned());
        }
        self.fetch(query).await?.iter().map(job_of).collect()
    }

    /// How many jobs of a kind are running or queued.
    pub(crate) async fn active_jobs(&self, kind: Kind) -> Result<u64, StoreError> {
        let sql = "SELECT COUNT(*) FROM jobs WHERE kind = $1 AND state IN ('queued', 'running')";
        let row = self.fetch_optional(sqlx::query(sql).bind(kind.name())).await?;
        Ok(row.map_or(Ok(0), |row| row.try_get::<i64, _>(0))?.cast_unsigned())
    }

    /// The jobs of a kind that have waited longest.
    pub(crate) async fn next_jobs(&self, kind: Kind, limit: usize) -> Result<Vec<Job>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM jobs WHERE kind = $1 AND state = 'queued' ORDER BY touched, id LIMIT {limit}"
        );
        let rows = self.fetch(sqlx::query(AssertSqlSafe(sql)).bind(kind.name())).await?;
        rows.iter().map(job_of).collect()
    }

    /// Puts jobs whose server has stopped back into the queue; returns their number.
    pub(crate) async fn requeue_jobs(&self) -> Result<u64, StoreError> {
        self.change_jobs(JobChange::Requeue { is_shared: self.server.is_some() }).await
    }

    /// Changes the state of a job if it is in one of the states `from`; returns whether it was.
    pub(crate) async fn set_job_state(
        &self,
        id: &str,
        from: &[JobState],
        to: JobState,
        error: Option<String>,
    ) -> Result<bool, StoreError> {
        let (server, id, from) = (self.own_name(), id.to_owned(), from.to_vec());
        let changed = self.change_jobs(JobChange::SetState { server, id, from, to, error }).await?;
        Ok(changed > 0)
    }

    /// Stores the progress of a job, with the games that have ended since the last call.
    pub(crate) async fn advance_job(
        &self,
        id: &str,
        games: &[GameRecord],
        done: u64,
        result: Option<String>,
    ) -> Result<(), StoreError> {
        let record = |game: &GameRecord| {
            let number: i64 = game.id.parse().map_err(broken)?;
            Ok((number, serde_json::to_string(game).map_err(broken)?))
        };
        let games = games.iter().map(record).collect::<Result<Vec<_>, StoreError>>()?;
        let (server, id) = (self.own_name(), id.to_owned());
        self.change_jobs(JobChange::Advance { server, id, games, done, result }).await.map(drop)
    }

    /// Removes wrong games of a job and restores its earlier progress.
    pub(crate) async fn retract_games(
        &self,
        id: &str,
        games: Vec<i64>,
        done: u64,
        result: Option<String>,
    ) -> Result<(), StoreError> {
        let (server, id) = (self.own_name(), id.to_owned());
        self.change_jobs(JobChange::Retract { server, id, games, done, result }).await.map(drop)
    }

    /// Changes the plan of a job for its owner.
    pub(crate) async fn replan_job(
        &self,
        id: &str,
        plan: String,
        total: u64,
    ) -> Result<(), StoreError> {
        let (server, id) = (None, id.to_owned());
        self.change_jobs(JobChange::Replan { server, id, plan, total }).await.map(drop)
    }

    /// Completes the plan of a running job.
    pub(crate) async fn complete_plan(
        &self,
        id: &str,
        plan: String,
        total: u64,
    ) -> Result<(), StoreError> {
        let (server, id) = (self.own_name(), id.to_owned());
        self.change_jobs(JobChange::Replan { server, id, plan, total }).await.map(drop)
    }

    /// The name of this server, if others share the database.
    fn own_name(&self) -> Option<String> {
        self.server_name().map(str::to_owned)
    }

    /// Stores games of a training run under their numbers, as JSON.
    pub(crate) async fn show_games(
        &self,
        id: &str,
        games: Vec<(i64, String)>,
    ) -> Result<(), StoreError> {
        let (server, id) = (self.own_name(), id.to_owned());
        self.change_jobs(JobChange::ShowGames { server, id, games }).await.map(drop)
    }

    /// Games of a job as JSON with numbers below `before`, the latest first.
    pub(crate) async fn job_games(
        &self,
        id: &str,
        before: i64,
        limit: u32,
    ) -> Result<Vec<String>, StoreError> {
        let sql = format!(
            "SELECT record FROM job_games WHERE job = $1 AND number < $2 ORDER BY number DESC LIMIT {limit}"
        );
        let query = sqlx::query(AssertSqlSafe(sql)).bind(id.to_owned()).bind(before);
        let rows = self.fetch(query).await?;
        rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
    }

    /// Games of a job as JSON with numbers above `after`, the earliest first.
    pub(crate) async fn job_games_after(
        &self,
        id: &str,
        after: i64,
        limit: u32,
    ) -> Result<Vec<(i64, String)>, StoreError> {
        let sql = format!(
            "SELECT number, record FROM job_games WHERE job = $1 AND number > $2 ORDER BY number LIMIT {limit}"
        );
        let query = sqlx::query(AssertSqlSafe(sql)).bind(id.to_owned()).bind(after);
        let rows = self.fetch(query).await?;
        rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
    }

    /// Deletes a job with its games.
    pub(crate) async fn delete_job(&self, id: &str) -> Result<(), StoreError> {
        self.change_jobs(JobChange::Delete(id.to_owned())).await.map(drop)
    }
}

pub(super) async fn apply(
    connection: &mut AnyConnection,
    change: &JobChange,
) -> Result<u64, StoreError> {
    if let JobChange::Advance { server: Some(server), id, .. }
    | JobChange::Retract { server: Some(server), id, .. }
    | JobChange::Replan { server: Some(server), id, .. }
    | JobChange::ShowGames { server: Some(server), id, .. } = change
        && !holds_lease(connection, server, id).await?
    {
        return Ok(0);
    }
    make(connection, change).await
}

async fn make(connection: &mut AnyConnection, change: &JobChange) -> Result<u64, StoreError> {
    let done = match change {
        JobChange::Add(job) => return add(connection, job).await,
        JobChange::Requeue { is_shared: false } => {
            sqlx::query("UPDATE jobs SET state = 'queued' WHERE state = 'running'")
                .execute(connection)
                .await?
        }
        JobChange::Requeue { is_shared: true } => {
            let sql = format!(
                "UPDATE jobs SET state = 'queued' WHERE state = 'running' AND NOT EXISTS \
                 (SELECT 1 FROM leases WHERE leases.name = '{LEASE}' || jobs.id AND {})",
                leases::is_alive("leases.server")
            );
            sqlx::query(AssertSqlSafe(sql)).execute(connection).await?
        }
        JobChange::SetState { server, id, from, to, error } => {
            if let Some(server) = server
                && !may_change_state(connection, server, id, from, *to).await?
            {
                return Ok(0);
            }
            // Safe: these names are constants.
            let from: Vec<String> =
                from.iter().map(|state| format!("'{}'", state.name())).collect();
            let sql = format!(
                "UPDATE jobs SET state = $1, error = $2, touched = $3 \
                 WHERE id = $4 AND state IN ({})",
                from.join(", ")
            );
            let done = sqlx::query(AssertSqlSafe(sql))
                .bind(to.name())
                .bind(error.clone())
                .bind(now_ms())
                .bind(id.clone())
                .execute(&mut *connection)
                .await?;
            if let (Some(server), JobState::Running, 0) = (server, to, done.rows_affected()) {
                release(connection, server, id).await?;
            }
            done
        }
        JobChange::Advance { id, games, done, result, .. } => {
            let sql = "UPDATE jobs SET done = $1, result = COALESCE($2, result) WHERE id = $3";
            let query = sqlx::query(sql).bind(*done as i64).bind(result.clone()).bind(id.clone());
            let updated = query.execute(&mut *connection).await?;
            // The operator may have deleted it in the meantime.
            if updated.rows_affected() > 0 {
                insert_games(connection, id, games, "ON CONFLICT DO NOTHING").await?;
            }
            updated
        }
        JobChange::Retract { id, games, done, result, .. } => {
            for number in games {
                sqlx::query("DELETE FROM job_games WHERE job = $1 AND number = $2")
                    .bind(id.clone())
                    .bind(*number)
                    .execute(&mut *connection)
                    .await?;
            }
            sqlx::query("UPDATE jobs SET done = $1, result = $2 WHERE id = $3")
                .bind(*done as i64)
                .bind(result.clone())
                .bind(id.clone())
                .execute(connection)
                .await?
        }
        JobChange::Replan { id, plan, total, .. } => {
            sqlx::query("UPDATE jobs SET plan = $1, total = $2 WHERE id = $3")
                .bind(plan.clone())
                .bind(*total as i64)
                .bind(id.clone())
                .execute(connection)
                .await?
        }
        JobChange::ShowGames { id, games, .. } => {
            // Locks the job; the operator may have deleted it in the meantime.
            let known = sqlx::query("UPDATE jobs SET done = done WHERE id = $1").bind(id.clone());
            if known.execute(&mut *connection).await?.rows_affected() == 0 {
                return Ok(0);
            }
            // After an interruption the iteration is played again.
            let replace = "ON CONFLICT (job, number) DO UPDATE SET record = excluded.record";
            insert_games(connection, id, games, replace).await?;
            return Ok(games.len() as u64);
        }
        JobChange::Delete(id) => {
            sqlx::query("DELETE FROM job_games WHERE job = $1")
                .bind(id.clone())
                .execute(&mut *connection)
                .await?;
            sqlx::query("DELETE FROM jobs WHERE id = $1")
                .bind(id.clone())
                .execute(connection)
                .await?
        }
    };
    Ok(done.rows_affected())
}

/// The prefix of the names of leases on jobs; those on games are the ids of the games.
const LEASE: &str = "job ";

/// Takes or releases the lease of a job for a change of its state; returns whether the server may make
/// the change.
async fn may_change_state(
    connection: &mut AnyConnection,
    server: &str,
    id: &str,
    from: &[JobState],
    to: JobState,
) -> Result<bool, StoreError> {
    if to == JobState::Running {
        return Ok(leases::take(connection, &format!("{LEASE}{id}"), server).await? > 0);
    }
    if from.contains(&JobState::Running) {
        return Ok(release(connection, server, id).await? > 0);
    }
    Ok(true)
}

/// Whether a server holds the lease of a job. If so, nobody else can take it before the end of the
/// transaction.
async fn holds_lease(
    connection: &mut AnyConnection,
    server: &str,
    id: &str,
) -> Result<bool, StoreError> {
    let sql = "UPDATE leases SET server = server WHERE name = $1 AND server = $2";
    let held = sqlx::query(sql).bind(format!("{LEASE}{id}")).bind(server.to_owned());
    Ok(held.execute(connection).await?.rows_affected() > 0)
}

async fn release(
    connection: &mut AnyConnection,
    server: &str,
    id: &str,
) -> Result<u64, StoreError> {
    let sql = "DELETE FROM leases WHERE name = $1 AND server = $2";
    let released = sqlx::query(sql).bind(format!("{LEASE}{id}")).bind(server.to_owned());
    Ok(released.execute(connection).await?.rows_affected())
}

async fn add(connection: &mut AnyConnection, job: &Job) -> Result<u64, StoreError> {
    let sql = format!(
        "INSERT INTO jobs ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"
    );
    let done = sqlx::query(AssertSqlSafe(sql))
        .bind(job.id.clone())
        .bind(job.kind.name())
        .bind(job.owner.key().to_owned())
        .bind(job.created)
        .bind(job.state.name())
        .bind(job.title.clone())
        .bind(job.plan.clone())
        .bind(job.done as i64)
        .bind(job.total as i64)
        .bind(job.result.clone())
        .bind(job.error.clone())
        .bind(now_ms())
        .execute(connection)
        .await?;
    Ok(done.rows_affected())
}

async fn insert_games(
    connection: &mut AnyConnection,
    id: &str,
    games: &[(i64, String)],
    on_conflict: &'static str,
) -> Result<(), StoreError> {
    for (number, record) in games {
        let sql = format!(
            "INSERT INTO job_games (job, number, record) VALUES ($1, $2, $3) {on_conflict}"
        );
        sqlx::query(AssertSqlSafe(sql))
            .bind(id.to_owned())
            .bind(*number)
            .bind(record.clone())
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

fn job_of(row: &AnyRow) -> Result<Job, StoreError> {
    let text = |name| row.try_get::<String, _>(name);
    let count = |name| row.try_get::<i64, _>(name).map(|number| u64::try_from(number).unwrap_or(0));
    let state = text("state")?;
    let states =
        [JobState::Queued, JobState::Running, JobState::Stopped, JobState::Done, JobState::Failed];
    let kind = text("kind")?;
    let kinds = [Kind::Tournament, Kind::Training];
    Ok(Job {
        id: text("id")?,
        kind: kinds
            .into_iter()
            .find(|known| known.name() == kind)
            .ok_or_else(|| broken(format!("unknown kind of job '{kind}'")))?,
        owner: Visitor::stored(text("owner")?),
        created: row.try_get("created")?,
        state: states
            .into_iter()
            .find(|known| known.name() == state)
            .ok_or_else(|| broken(format!("unknown state '{state}'")))?,
        title: text("title")?,
        plan: text("plan")?,
        done: count("done")?,
        total: count("total")?,
        result: row.try_get("result")?,
        error: row.try_get("error")?,
    })
}
