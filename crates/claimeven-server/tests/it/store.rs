//! Concurrent readers and writers of a database, and results that cannot be stored at first.

use std::time::{Duration, Instant};

use claimeven_server::Config;
use serde_json::json;
use sqlx::{Connection, PgConnection, SqliteConnection};

use crate::test_server::TestServer;

/// While statistics cannot be read, games continue, and the reader is told to try again.
#[tokio::test(flavor = "multi_thread")]
async fn a_blocked_read_times_out_and_does_not_block_moves() {
    let Some(server) = TestServer::postgres(Config::default()).await else {
        println!("SKIPPED: CLAIMEVEN_TEST_POSTGRES names no server");
        return;
    };
    let (ada, eve) = (server.visitor(), server.visitor());
    let id = ada.create(json!([{ "kind": "human" }, { "kind": "human" }])).await;
    let mut connection = PgConnection::connect(&server.config.database).await.unwrap();
    let lock = "BEGIN; LOCK TABLE totals IN ACCESS EXCLUSIVE MODE";
    sqlx::raw_sql(lock).execute(&mut connection).await.unwrap();
    let reads = async {
        let started = Instant::now();
        let reads = (0..6).map(|_| eve.get("/api/statistics"));
        for reply in futures_util::future::join_all(reads).await {
            assert_eq!(reply.error(503), "The database is busy, try again");
            assert!(reply.headers.contains_key("retry-after"));
        }
        assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    };
    let moves = async {
        for ply in 0..4 {
            let started = Instant::now();
            ada.play(&id, 1 + ply, ply).await.expect(200);
            assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
        }
    };
    tokio::join!(reads, moves);
    sqlx::raw_sql("ROLLBACK").execute(&mut connection).await.unwrap();
    eve.get("/api/statistics").await.expect(200);
}

/// A reader that hangs blocks neither writers nor other readers.
#[tokio::test(flavor = "multi_thread")]
async fn a_hanging_reader_does_not_block_moves() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    let id = ada.create(json!([{ "kind": "human" }, { "kind": "human" }])).await;
    let mut connection = SqliteConnection::connect(&server.config.database).await.unwrap();
    let read = "BEGIN; SELECT COUNT(*) FROM games";
    sqlx::raw_sql(read).execute(&mut connection).await.unwrap();
    for (ply, column) in (0..).zip([1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4]) {
        ada.play(&id, column, ply).await.expect(200);
    }
    assert_eq!(ada.get("/api/games?mine=true").await.expect(200)["games"][0]["id"], *id);
}

/// Otherwise it would count as running forever, and no other job would get its turn.
#[tokio::test(flavor = "multi_thread")]
async fn a_job_whose_end_cannot_be_stored_is_retried() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    let mut connection = SqliteConnection::connect(&server.config.database).await.unwrap();
    let refuse = "CREATE TRIGGER refuse BEFORE UPDATE ON jobs WHEN NEW.state = 'done' \
                  BEGIN SELECT RAISE(ABORT, 'out of order'); END";
    sqlx::raw_sql(refuse).execute(&mut connection).await.unwrap();
    let cup = json!({ "players": [{ "agent": "random" }, { "agent": "level:1" }], "games": 2 });
    let cup = ada.post("/api/arena", cup).await.expect(201);
    let path = format!("/api/arena/{}", cup["id"].as_str().unwrap());
    tokio::time::sleep(Duration::from_secs(2)).await;
    let view = ada.get(&path).await.expect(200);
    assert_eq!((&view["done"], &view["state"]), (&json!(2), &json!("running")));
    sqlx::raw_sql("DROP TRIGGER refuse").execute(&mut connection).await.unwrap();
    let started = Instant::now();
    while ada.get(&path).await.expect(200)["state"] != "done" {
        assert!(started.elapsed() < Duration::from_secs(30));
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let second = json!({ "players": [{ "agent": "random" }, { "agent": "level:1" }], "games": 2 });
    let second = ada.post("/api/arena", second).await.expect(201);
    let path = format!("/api/arena/{}", second["id"].as_str().unwrap());
    while ada.get(&path).await.expect(200)["state"] != "done" {
        assert!(started.elapsed() < Duration::from_mins(1));
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
