use std::time::Instant;

use claimeven_game::{Game, Setup};

use super::*;
use crate::session::{Offers, Seat};

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
        is_listed: false,
        turn_began: Instant::now(),
    }
}

async fn sqlite() -> (Store, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("games.sqlite");
    let store = Store::open(&format!("sqlite:{}", file.display()), 2).await.unwrap();
    (store, folder)
}

/// A store on a new PostgreSQL database, if `CLAIMEVEN_TEST_POSTGRES` names a server.
async fn postgres() -> Option<Store> {
    use sqlx::Connection;
    let server = std::env::var("CLAIMEVEN_TEST_POSTGRES").ok()?;
    let name = format!("claimeven_{}", fastrand::u64(..));
    let mut connection = sqlx::PgConnection::connect(&server).await.unwrap();
    let create = sqlx::AssertSqlSafe(format!("CREATE DATABASE {name}"));
    sqlx::raw_sql(create).execute(&mut connection).await.unwrap();
    let (start, rest) = server.split_at(server.rfind('/').unwrap() + 1);
    let options = rest.find('?').map_or("", |at| &rest[at..]);
    Some(Store::open(&format!("{start}{name}{options}"), 3).await.unwrap())
}

/// Makes the database refuse games of the name `bad`.
async fn refuse_bad_games(store: &Store, how: &str) {
    let trigger = format!(
        "CREATE TRIGGER refuse BEFORE INSERT ON games WHEN NEW.id = 'bad' \
         BEGIN SELECT RAISE({how}, 'no'); END"
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(trigger)).execute(&store.pool).await.unwrap();
}

/// All are written in one transaction, because they arrive at the same time.
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
    assert!(matches!(bad, Err(StoreError::Broken(_))), "{bad:?}");
    for (id, is_there) in [("one", true), ("bad", false), ("two", true)] {
        assert_eq!(store.load(id).await.unwrap().is_some(), is_there, "{id}");
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
        // The pool is another connection: it sees only what is committed.
        assert!(store.load(id).await.unwrap().is_some(), "{id} was acknowledged and is not there");
    }
    store.check_health().await.unwrap();
}

/// The connection keeps the parameter types of a statement, which a NULL must not change.
#[tokio::test]
async fn reviews_with_and_without_accuracy_are_stored() {
    let (sqlite, _folder) = sqlite().await;
    let postgres = postgres().await;
    if postgres.is_none() {
        println!("SKIPPED on PostgreSQL: CLAIMEVEN_TEST_POSTGRES is not set");
    }
    for store in [Some(sqlite), postgres].into_iter().flatten() {
        store.create(session("game")).await.unwrap();
        for accuracy in
            [[None, None], [Some(0.25), None], [None, Some(1.0)], [Some(0.1), Some(0.9)]]
        {
            let review = StoredReview {
                game: "game".to_owned(),
                line: String::new(),
                accuracy,
                content: "null".to_owned(),
            };
            store.keep_review(review).await.unwrap();
            let row = sqlx::query("SELECT accuracy0, accuracy1 FROM reviews")
                .fetch_one(&store.pool)
                .await
                .unwrap();
            let read = |at: usize| row.try_get::<Option<f64>, _>(at).unwrap();
            assert_eq!([read(0), read(1)], accuracy);
        }
    }
}
