mod plans;
mod recount;

use std::time::Instant;

use claimeven_game::{Game, Setup};

use super::*;
use crate::session::{Offers, Seat};
use crate::visitor::Visitor;

/// A game without players.
pub(crate) fn session(id: &str) -> GameSession {
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
        is_listed: false,
        turn_began: Instant::now(),
    }
}

/// A store on a new SQLite file.
pub(crate) async fn sqlite() -> (Store, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("games.sqlite");
    let store = Store::open(&format!("sqlite:{}", file.display()), 2, None).await.unwrap();
    (store, folder)
}

/// A new PostgreSQL database, if `CLAIMEVEN_TEST_POSTGRES` names a server.
async fn postgres_url() -> Option<String> {
    use sqlx::Connection;
    let Ok(server) = std::env::var("CLAIMEVEN_TEST_POSTGRES") else {
        println!("SKIPPED on PostgreSQL: CLAIMEVEN_TEST_POSTGRES is not set");
        return None;
    };
    let name = format!("claimeven_{}", fastrand::u64(..));
    let mut connection = sqlx::PgConnection::connect(&server).await.unwrap();
    let create = sqlx::AssertSqlSafe(format!("CREATE DATABASE {name}"));
    sqlx::raw_sql(create).execute(&mut connection).await.unwrap();
    let (start, rest) = server.split_at(server.rfind('/').unwrap() + 1);
    let options = rest.find('?').map_or("", |at| &rest[at..]);
    Some(format!("{start}{name}{options}"))
}

async fn postgres() -> Option<Store> {
    Some(Store::open(&postgres_url().await?, 3, None).await.unwrap())
}

impl Store {
    /// Changes the database as another program would.
    pub(crate) async fn execute(&self, sql: &'static str) {
        sqlx::raw_sql(sql).execute(&self.pool).await.unwrap();
    }

    /// The number in the only row of a query.
    pub(crate) async fn number(&self, sql: &'static str) -> i64 {
        sqlx::query(sql).fetch_one(&self.pool).await.unwrap().try_get(0).unwrap()
    }

    /// A finished game whose moves are missing.
    pub(crate) async fn add_damaged_game(&self, id: &str) {
        self.create(session(id)).await.unwrap();
        let sql = "UPDATE games SET status = 'finished', line = '44' WHERE id = $1";
        sqlx::query(sql).bind(id.to_owned()).execute(&self.pool).await.unwrap();
        assert_eq!(self.count_finished().await.unwrap(), 1);
    }
}

/// Makes the database reject games with the id `bad`.
async fn refuse_bad_games(store: &Store, how: &str) {
    let trigger = format!(
        "CREATE TRIGGER refuse BEFORE INSERT ON games WHEN NEW.id = 'bad' \
         BEGIN SELECT RAISE({how}, 'no'); END"
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(trigger)).execute(&store.pool).await.unwrap();
}

/// They arrive at the same time, so they are written in one transaction.
#[tokio::test]
async fn a_refused_change_does_not_affect_others() {
    let (store, _folder) = sqlite().await;
    refuse_bad_games(&store, "ABORT").await;
    let (one, bad, two) = tokio::join!(
        store.create(session("one")),
        store.create(session("bad")),
        store.create(session("two")),
    );
    assert!(one.is_ok() && two.is_ok(), "{one:?} {two:?}");
    assert!(matches!(bad, Err(StoreError::Unavailable(_))), "{bad:?}");
    for (id, exists) in [("one", true), ("bad", false), ("two", true)] {
        assert_eq!(store.load(id).await.unwrap().is_some(), exists, "{id}");
    }
}

/// As SQLite does on a full disk.
#[tokio::test]
async fn writes_are_committed_after_the_database_rolled_back_by_itself() {
    let (store, _folder) = sqlite().await;
    refuse_bad_games(&store, "ROLLBACK").await;
    assert!(store.create(session("bad")).await.is_err());
    for id in ["one", "two", "three"] {
        store.create(session(id)).await.unwrap();
        // The pool is another connection: it sees only committed data.
        assert!(store.load(id).await.unwrap().is_some(), "{id} was acknowledged but not stored");
    }
    store.check_health().await.unwrap();
}

#[tokio::test]
async fn a_health_check_fails_if_its_write_cannot_be_seen() {
    let (store, _folder) = sqlite().await;
    store.check_health().await.unwrap();
    let ignore = "CREATE TRIGGER ignore BEFORE UPDATE ON settings BEGIN SELECT RAISE(IGNORE); END";
    sqlx::raw_sql(ignore).execute(&store.pool).await.unwrap();
    store.check_health().await.unwrap_err();
    sqlx::raw_sql("DROP TRIGGER ignore").execute(&store.pool).await.unwrap();
    let (one, two, three) =
        tokio::join!(store.check_health(), store.check_health(), store.check_health());
    assert!(one.is_ok() && two.is_ok() && three.is_ok(), "{one:?} {two:?} {three:?}");
}

/// They do not wait for the lock one after another.
#[tokio::test]
async fn changes_to_a_locked_database_fail_together() {
    let (store, _folder) = sqlite().await;
    store.create(session("first")).await.unwrap();
    let mut other = store.pool.acquire().await.unwrap().detach();
    sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    let started = std::time::Instant::now();
    let ids = ["a", "b", "c", "d"];
    let created = futures_util::future::join_all(ids.map(|id| store.create(session(id)))).await;
    assert!(created.iter().all(Result::is_err), "{created:?}");
    // One is written alone; the others arrive meanwhile. Each batch waits for ten seconds.
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    sqlx::raw_sql("ROLLBACK").execute(&mut other).await.unwrap();
    for id in ids {
        store.create(session(id)).await.unwrap();
    }
}

/// The connection keeps the parameter types of a statement, which a NULL must not change.
#[tokio::test]
async fn reviews_with_and_without_accuracy_are_stored() {
    let (sqlite, _folder) = sqlite().await;
    for store in [Some(sqlite), postgres().await].into_iter().flatten() {
        store.create(session("game")).await.unwrap();
        for accuracy in
            [[None, None], [Some(0.25), None], [None, Some(1.0)], [Some(0.1), Some(0.9)]]
        {
            let review = StoredReview {
                game: "game".to_owned(),
                line: String::new(),
                accuracy,
                themes: [None, Some("odd-threat")],
                content: "null".to_owned(),
            };
            store.store_review(review).await.unwrap();
            let row = sqlx::query("SELECT accuracy0, accuracy1 FROM reviews")
                .fetch_one(&store.pool)
                .await
                .unwrap();
            let read = |at: usize| row.try_get::<Option<f64>, _>(at).unwrap();
            assert_eq!([read(0), read(1)], accuracy);
        }
    }
}

/// Its connection does not block the next read.
#[tokio::test]
async fn a_slow_read_ends_at_its_deadline() {
    let (sqlite, _folder) = sqlite().await;
    let endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) \
                   SELECT COUNT(*) FROM n";
    for (store, sql) in
        [(Some(sqlite), endless), (postgres().await, "SELECT CAST(pg_sleep(60) AS TEXT)")]
    {
        let Some(store) = store else { continue };
        let started = Instant::now();
        let reads = [(); 4].map(|()| store.fetch(sqlx::query(sql)));
        for read in futures_util::future::join_all(reads).await {
            let rows = read.map(|rows| rows.len());
            assert!(matches!(rows, Err(StoreError::Busy)), "{rows:?}");
        }
        assert!(started.elapsed() < 3 * READ_TIMEOUT, "{:?}", started.elapsed());
        store.create(session("one")).await.unwrap();
        assert!(store.load("one").await.unwrap().is_some());
    }
}

/// With a filter that few games match, each page examines a bounded number of games, and the pages
/// together contain all matches.
#[tokio::test]
async fn pages_of_a_rare_filter_contain_all_games() {
    let ada = Visitor::stored("ada".to_owned());
    let (sqlite, _folder) = sqlite().await;
    for store in [Some(sqlite), postgres().await].into_iter().flatten() {
        let games = (0..2 * games::MAX_SCANNED + 500).map(|number| {
            let mut session = session(&format!("g{number}"));
            // Many games with the same time, so that a page may have to end among them.
            session.created = number as i64 / 300;
            session.is_listed = true;
            let name = if number % 900 == 0 { "Rare" } else { "" };
            let holder = (number % 2 == 0).then(|| ada.clone());
            session.owner.clone_from(&holder);
            session.seats[0] = Seat::Human { holder, name: name.to_owned() };
            session.seats[1] = Seat::Human { holder: None, name: String::new() };
            session
        });
        let created = futures_util::future::join_all(games.map(|game| store.create(game))).await;
        assert!(created.iter().all(Result::is_ok));
        for own in [true, false] {
            let (mut found, mut cursor, mut pages) = (Vec::new(), None, 0);
            loop {
                let mut filter = if own { Filter::own(&ada, 2) } else { Filter::visible(&ada, 2) };
                filter.text("name0 = ?", "Rare");
                assert!(cursor.is_none_or(|cursor: String| filter.after(&cursor)));
                let page = store.list(filter).await.unwrap();
                assert!(page.sessions.len() <= 2);
                found.extend(page.sessions.into_iter().map(|session| session.id));
                pages += 1;
                cursor = page.next;
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!(found, ["g3600", "g2700", "g1800", "g900", "g0"]);
            assert!(pages < 8, "{pages}");
        }
    }
}

/// A server whose registration has lapsed may not have noticed it yet.
#[tokio::test]
async fn a_server_without_the_lease_cannot_change_a_job() {
    let Some(url) = postgres_url().await else { return };
    let mut stores = Vec::new();
    for name in ["one", "two"] {
        let store = Store::open(&url, 2, Some(name.into())).await.unwrap();
        store.register_server("key").await.unwrap();
        stores.push(store);
    }
    let [one, two] = &stores[..] else { unreachable!() };
    let job = Job {
        id: "cup".to_owned(),
        kind: Kind::Tournament,
        owner: Visitor::stored("ada".to_owned()),
        created: 0,
        state: JobState::Queued,
        title: String::new(),
        plan: "old".to_owned(),
        done: 0,
        total: 9,
        result: None,
        error: None,
    };
    one.add_job(&job).await.unwrap();
    let start = |store: &Store| {
        let store = store.clone();
        async move {
            store.set_job_state("cup", &[JobState::Queued], JobState::Running, None).await.unwrap()
        }
    };
    assert!(start(one).await);
    let game = |text: &str| vec![(1, text.to_owned())];
    one.complete_plan("cup", "new".to_owned(), 9).await.unwrap();
    one.show_games("cup", game("of one")).await.unwrap();
    one.advance_job("cup", &[], 1, None).await.unwrap();
    // The first server's registration ends, and the second one takes the job.
    one.leave().await.unwrap();
    assert_eq!(two.requeue_jobs().await.unwrap(), 1);
    assert!(start(two).await);
    two.advance_job("cup", &[], 2, Some("of two".to_owned())).await.unwrap();
    one.advance_job("cup", &[], 7, Some("of one".to_owned())).await.unwrap();
    one.show_games("cup", game("again of one")).await.unwrap();
    one.retract_games("cup", vec![1], 0, None).await.unwrap();
    one.complete_plan("cup", "lost".to_owned(), 1).await.unwrap();
    let job = two.job("cup").await.unwrap().unwrap();
    assert_eq!((job.done, job.total, &*job.plan), (2, 9, "new"));
    assert_eq!(job.result.as_deref(), Some("of two"));
    assert_eq!(two.job_games("cup", 9, 9).await.unwrap(), ["of one"]);
}
