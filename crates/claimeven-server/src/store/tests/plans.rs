//! No statement scans a whole table, whatever the number of games.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex};

use sqlx::{AssertSqlSafe, Connection, PgConnection, SqliteConnection};
use tracing::field::{Field, Visit};
use tracing::{Event, Metadata, Subscriber, span};

use super::*;
use crate::session::{GameEnd, PlayedMove};

/// The tables that grow.
const TABLES: [&str; 7] = ["games", "moves", "reviews", "jobs", "job_games", "totals", "openings"];

/// Partial indexes of pending work, which are meant to be read completely.
const TO_DO: [&str; 4] = ["games_to_count", "games_to_review", "totals_empty", "openings_empty"];

/// The statements that the driver logs.
#[derive(Clone, Default)]
struct Statements(Arc<Mutex<BTreeSet<String>>>);

impl Subscriber for Statements {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "sqlx::query"
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Recorder(self));
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

struct Recorder<'a>(&'a Statements);

impl Visit for Recorder<'_> {
    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}

    fn record_str(&mut self, field: &Field, text: &str) {
        // Short statements appear in the summary only.
        if ["db.statement", "summary"].contains(&field.name()) && !text.ends_with('…') {
            self.0.0.lock().unwrap().insert(text.trim().to_owned());
        }
    }
}

/// Calls everything that routes, the sweeper and the reviewer call.
async fn use_everything(store: &Store) -> Result<(), StoreError> {
    let ada = Visitor::stored("ada".to_owned());
    let mut one = session("one");
    one.owner = Some(ada.clone());
    one.seats[0] = Seat::Human { holder: Some(ada.clone()), name: "Ada".to_owned() };
    let columns: Vec<_> = one.game.position().legal().take(1).collect();
    for column in columns {
        one.game.play(column).unwrap();
        one.moves.push(PlayedMove {
            column: column.number(),
            time: Duration::ZERO,
            nodes: None,
            value: None,
        });
    }
    store.create(one.clone()).await?;
    for end in
        [None, Some(GameEnd { winner: None, reason: claimeven_arena::EndReason::Agreed }), None]
    {
        one.version += 1;
        one.end = end;
        store.update(one.clone(), 1..one.moves.len()).await?;
        let review = StoredReview {
            game: one.id.clone(),
            line: one.game.move_text(),
            accuracy: [None; 2],
            themes: [None; 2],
            content: "null".to_owned(),
        };
        store.store_review(review).await?;
        store.review(&one.id, "").await?;
        store.unreviewed().await?;
    }
    store.count_attempt("4455", true).await?;
    store.attempts().await?;
    store.load("one").await?;
    store.unfinished(0, 10).await?;
    store.fallen_flags(0, 10).await?;
    store.restart_turns().await?;
    store.abandon(0).await?;
    store.count_finished().await?;
    for mut filter in [Filter::own(&ada, 20), Filter::visible(&ada, 20)] {
        filter.text("(LOWER(name0) LIKE ? OR LOWER(name1) LIKE ?)", "%a%");
        filter.text("status = ?", "finished");
        filter.number("board_cols = ?", 7);
        store.list(filter).await?;
    }
    for who in [None, Some(&ada)] {
        store.statistics(who).await?;
        for moves in ["", "44", "4444442233"] {
            store.explore(Setup::STANDARD, moves, who).await?;
        }
    }
    store.delete("one".to_owned(), one.version).await?;

    let job = Job {
        id: "cup".to_owned(),
        kind: Kind::Tournament,
        owner: ada.clone(),
        created: 0,
        state: JobState::Queued,
        title: String::new(),
        plan: String::new(),
        done: 0,
        total: 1,
        result: None,
        error: None,
    };
    store.add_job(&job).await?;
    store.job("cup").await?;
    for owner in [None, Some(&ada)] {
        store.jobs(Kind::Tournament, owner).await?;
    }
    store.active_jobs(Kind::Tournament).await?;
    store.next_jobs(Kind::Tournament, 2).await?;
    store.requeue_jobs().await?;
    store.set_job_state("cup", &[JobState::Queued], JobState::Running, None).await?;
    store.replan_job("cup", String::new(), 2).await?;
    store.advance_job("cup", &[], 1, None).await?;
    store.retract_games("cup", vec![1], 0, None).await?;
    store.show_games("cup", vec![(1, String::new())]).await?;
    store.job_games_after("cup", 0, 50).await?;
    store.job_games("cup", i64::MAX, 10).await?;
    store.delete_job("cup").await?;
    store.check_health().await
}

fn is_whole_table(table: &str, index: Option<&str>) -> bool {
    TABLES.contains(&table) && index.is_none_or(|index| !TO_DO.contains(&index))
}

/// The tables that SQLite would scan for a statement.
async fn sqlite_scans(connection: &mut SqliteConnection, statement: &str) -> Vec<String> {
    let explain = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {statement}"));
    let rows = sqlx::query(explain).fetch_all(connection).await.unwrap();
    let steps = rows.iter().map(|row| row.get::<String, _>("detail"));
    let scans = steps.filter(|step| {
        let words: Vec<&str> = step.split_whitespace().collect();
        let index = words.iter().position(|word| *word == "INDEX").map(|at| words[at + 1]);
        words[0] == "SCAN" && is_whole_table(words[1], index)
    });
    scans.collect()
}

/// The tables that PostgreSQL would scan, for any values of the parameters.
async fn postgres_scans(connection: &mut PgConnection, statement: &str) -> Vec<String> {
    let parameters =
        (1..10_000).take_while(|number| statement.contains(&format!("${number}"))).count();
    let values = if parameters == 0 {
        String::new()
    } else {
        format!("({})", vec!["NULL"; parameters].join(", "))
    };
    // Small tables are faster to scan; what matters here is whether there is an alternative.
    let prepare = format!(
        "DEALLOCATE ALL; SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan; \
         PREPARE statement AS {statement}"
    );
    sqlx::raw_sql(AssertSqlSafe(prepare)).execute(&mut *connection).await.unwrap();
    let explain = AssertSqlSafe(format!("EXPLAIN EXECUTE statement{values}"));
    let rows = sqlx::raw_sql(explain).fetch_all(connection).await.unwrap();
    let plan = rows.iter().map(|row| row.get::<String, _>(0)).collect::<Vec<_>>().join("\n");
    let scans = plan.split("->").filter(|step| {
        let words: Vec<&str> = step.split_whitespace().collect();
        let after =
            |name: &str| words.iter().position(|word| *word == name).map(|at| words[at + 1]);
        let table = after("on").unwrap_or_default();
        if step.contains("Seq Scan on") {
            is_whole_table(table, None)
        } else {
            let is_index = step.contains("Index Scan") || step.contains("Index Only Scan");
            is_index && !step.contains("Index Cond:") && is_whole_table(table, after("using"))
        }
    });
    scans.map(str::to_owned).collect()
}

#[tokio::test]
async fn no_statement_reads_a_whole_table() {
    let statements = Statements::default();
    tracing::subscriber::set_global_default(statements.clone()).unwrap();
    let (store, folder) = sqlite().await;
    let url = format!("sqlite:{}", folder.path().join("games.sqlite").display());
    use_everything(&store).await.unwrap();
    let is_about_tables = |statement: &&String| {
        ["SELECT", "INSERT", "UPDATE", "DELETE"].iter().any(|word| statement.starts_with(word))
            && !statement.contains("_sqlx_migrations")
            && !statement.contains("settings")
            // One-time work of migrations and of hashing the ids of older databases.
            && !statement.contains("LENGTH(")
            && !statement.contains("SET listed = 1")
            && !statement.contains("Player 1")
    };
    let statements: Vec<String> =
        statements.0.lock().unwrap().iter().filter(is_about_tables).cloned().collect();
    assert!(statements.len() > 40, "{statements:#?}");

    let mut connection = SqliteConnection::connect(&url).await.unwrap();
    for statement in &statements {
        let scans = sqlite_scans(&mut connection, statement).await;
        assert!(scans.is_empty(), "SQLite: {scans:#?} in {statement}");
    }
    let Some(url) = postgres_url().await else { return };
    let store = Store::open(&url, 3, None).await.unwrap();
    use_everything(&store).await.unwrap();
    let mut connection = PgConnection::connect(&url).await.unwrap();
    for statement in &statements {
        let scans = postgres_scans(&mut connection, statement).await;
        assert!(scans.is_empty(), "PostgreSQL: {scans:#?} in {statement}");
    }
}
