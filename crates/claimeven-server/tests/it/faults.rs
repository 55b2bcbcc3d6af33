//! Faults of the machine: nothing acknowledged is lost, and games continue afterwards.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use claimeven_server::Config;
use serde_json::{Value, json};
use sqlx::{Connection, Row};

use crate::test_server::{TestServer, Visitor};

/// A small file system, unmounted on drop.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// `None` if this user may not mount one.
    fn mount() -> Option<SmallDisk> {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", "size=2m", "tmpfs"]).arg(folder.path());
        let mounted = command.output().is_ok_and(|output| output.status.success());
        mounted.then_some(SmallDisk(folder))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn fill(&self) {
        // The write fails when the disk is full.
        let _ = std::fs::write(self.path().join("filler"), vec![0; 4 << 20]);
    }

    fn free(&self) {
        std::fs::remove_file(self.path().join("filler")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.path()).output();
    }
}

/// The number of moves of a game, as seen by a process that opens the file.
async fn stored_moves(file: &Path, id: &str) -> usize {
    let url = format!("sqlite:{}?mode=ro", file.display());
    let mut connection = sqlx::SqliteConnection::connect(&url).await.unwrap();
    let row = sqlx::query("SELECT COUNT(*) FROM moves WHERE game = $1")
        .bind(id.to_owned())
        .fetch_one(&mut connection)
        .await
        .unwrap();
    usize::try_from(row.get::<i64, _>(0)).unwrap()
}

/// Plays one more legal move of a local game; returns whether it was acknowledged.
async fn play_on(ada: &Visitor, id: &str, ply: usize) -> bool {
    // This order does not connect four soon.
    const ORDER: [u64; 12] = [1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4];
    let reply = ada.play(id, ORDER[ply % ORDER.len()], ply as u64).await;
    reply.status == 200
}

/// The page repeats such requests, so that it recovers without a reload.
#[tokio::test(flavor = "multi_thread")]
async fn reads_can_be_repeated_while_the_database_fails() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    let id = ada.create(json!([{ "kind": "human" }, { "kind": "human" }])).await;
    let url = server.config.database.clone();
    let mut connection = sqlx::SqliteConnection::connect(&url).await.unwrap();
    let rename = "ALTER TABLE games RENAME TO elsewhere";
    sqlx::raw_sql(rename).execute(&mut connection).await.unwrap();
    for path in ["/api/games", "/api/games?mine=true", "/api/games/aaaaaaaaaaaa"] {
        let reply = ada.get(path).await;
        let wait = reply.headers.get("retry-after").cloned();
        assert_eq!(reply.error(503), "The database is not available, try again");
        assert_eq!(wait.unwrap(), "3");
    }
    // A change may have been stored, so it must not be repeated like this.
    ada.play(&id, 4, 0).await.error(500);
    let back = "ALTER TABLE elsewhere RENAME TO games";
    sqlx::raw_sql(back).execute(&mut connection).await.unwrap();
    assert_eq!(ada.get("/api/games").await.status, 200);
    ada.play(&id, 4, 0).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_loses_no_acknowledged_move() {
    let Some(disk) = SmallDisk::mount() else {
        println!("SKIPPED: this user may not mount a small file system");
        return;
    };
    let file = disk.path().join("games.sqlite");
    let database = format!("sqlite:{}", file.display());
    let config =
        Config { database, requests_per_second: 0, games_per_minute: 0, ..Config::default() };
    let server = TestServer::open(config).await;
    let ada = server.visitor();
    let mut games: Vec<(String, usize)> = Vec::new();
    for _ in 0..4 {
        games.push((ada.create(json!([{ "kind": "human" }, { "kind": "human" }])).await, 0));
    }
    let mut refused = 0;
    for phase in ["roomy", "full", "free again"] {
        match phase {
            "full" => disk.fill(),
            "free again" => disk.free(),
            _ => {}
        }
        for _ in 0..4 {
            for (id, acknowledged) in &mut games {
                if play_on(&ada, id, *acknowledged).await {
                    *acknowledged += 1;
                    assert_eq!(stored_moves(&file, id).await, *acknowledged, "{phase}");
                } else {
                    assert_eq!(phase, "full", "moves are accepted while the disk has room");
                    refused += 1;
                }
            }
        }
        if phase == "full" && refused > 0 {
            assert_eq!(ada.get("/readyz").await.status, 503, "the server reports it");
        }
    }
    assert!(refused > 0, "the disk was never full");
    assert_eq!(ada.get("/readyz").await.status, 200);
    let server = server.restart().await;
    let ada = ada.at(&server);
    for (id, acknowledged) in &games {
        assert_eq!(ada.game(id).await["ply"], *acknowledged);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_moves_once_the_database_works_again() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    let seats = json!([{ "kind": "human" }, { "kind": "agent", "agent": "timed:ms=700" }]);
    let id = ada.create(seats).await;
    ada.play(&id, 4, 0).await.expect(200);
    // While the agent thinks, the database starts to reject its moves.
    let file = server.config.database.clone();
    let mut connection = sqlx::SqliteConnection::connect(&file).await.unwrap();
    let refuse = "CREATE TRIGGER refuse BEFORE INSERT ON moves WHEN NEW.ply = 1 \
                  BEGIN SELECT RAISE(ABORT, 'out of order'); END";
    sqlx::raw_sql(refuse).execute(&mut connection).await.unwrap();
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(ada.game(&id).await["ply"], 1);
    sqlx::raw_sql("DROP TRIGGER refuse").execute(&mut connection).await.unwrap();
    let game = ada.wait(&id, |game| game["ply"] == 2).await;
    assert_eq!(game["thinking"], Value::Null);
    ada.play(&id, 4, 2).await.expect(200);
    ada.wait(&id, |game| game["ply"] == 4).await;
}

/// Makes the database reject changes of games.
const REFUSE_CHANGES: &str = "CREATE TRIGGER refuse BEFORE UPDATE ON games \
                              BEGIN SELECT RAISE(ABORT, 'out of order'); END";

const ACCEPT_CHANGES: &str = "DROP TRIGGER refuse";

#[tokio::test(flavor = "multi_thread")]
async fn clocks_stand_still_while_moves_cannot_be_stored() {
    let server = TestServer::sqlite(Config { requests_per_second: 0, ..Config::default() }).await;
    let ada = server.visitor();
    let clock = json!({ "initial_ms": 8_000, "increment_ms": 0 });
    let seats = json!([{ "kind": "human" }, { "kind": "agent", "agent": "timed:ms=300" }]);
    let game = json!({ "seats": seats, "clock": clock, "first": 0 });
    // In one of the games the person tries again by hand, in the other one they wait for the clock.
    let [tried, left] = [ada.create_with(game.clone()).await, ada.create_with(game).await];
    let mut database = sqlx::SqliteConnection::connect(&server.config.database).await.unwrap();
    sqlx::raw_sql(REFUSE_CHANGES).execute(&mut database).await.unwrap();
    for id in [&tried, &left] {
        ada.play(id, 4, 0).await.error(500);
    }
    // Longer than the whole time for the game.
    tokio::time::sleep(Duration::from_secs(10)).await;
    for id in [&tried, &left] {
        ada.play(id, 4, 0).await.error(500);
        assert_eq!(ada.game(id).await["status"], "playing");
    }
    sqlx::raw_sql(ACCEPT_CHANGES).execute(&mut database).await.unwrap();
    ada.play(&tried, 4, 0).await.expect(200);
    let game = ada.wait(&tried, |game| game["ply"] == 2).await;
    let remaining =
        |game: &Value| [0, 1].map(|player| game["clock"]["remaining_ms"][player].as_u64().unwrap());
    assert!(remaining(&game).into_iter().all(|ms| (4_000..8_000).contains(&ms)), "{game:#}");
    ada.play(&tried, 4, 2).await.expect(200);
    ada.wait(&tried, |game| game["ply"] == 4).await;
    // The other clock runs again, and its flag falls.
    let game = ada.wait(&left, |game| game["status"] == "finished").await;
    assert_eq!(game["result"]["reason"], "time");
    ada.act(&left, "rematch", json!({})).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flag_that_falls_while_the_database_fails_ends_the_game_afterwards() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    let clock = json!({ "initial_ms": 1_500, "increment_ms": 0 });
    let seats = json!([{ "kind": "human" }, { "kind": "agent", "agent": "random" }]);
    let id = ada.create_with(json!({ "seats": seats, "clock": clock, "first": 0 })).await;
    let mut database = sqlx::SqliteConnection::connect(&server.config.database).await.unwrap();
    sqlx::raw_sql(REFUSE_CHANGES).execute(&mut database).await.unwrap();
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(ada.game(&id).await["status"], "playing");
    sqlx::raw_sql(ACCEPT_CHANGES).execute(&mut database).await.unwrap();
    let game = ada.wait(&id, |game| game["status"] == "finished").await;
    assert_eq!(game["result"]["reason"], "time");
    let next = ada.act(&id, "rematch", json!({})).await.expect(200);
    let next = next["id"].as_str().unwrap();
    let first = ada.wait(next, |game| !game["legal"].is_null()).await;
    assert_eq!(first["status"], "playing");
}

/// While it waits longer and longer for the database.
#[tokio::test(flavor = "multi_thread")]
async fn a_tournament_that_waits_for_the_database_can_be_stopped() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    let mut connection = sqlx::SqliteConnection::connect(&server.config.database).await.unwrap();
    let refuse = "CREATE TRIGGER refuse BEFORE INSERT ON job_games \
                  BEGIN SELECT RAISE(ABORT, 'out of order'); END";
    sqlx::raw_sql(refuse).execute(&mut connection).await.unwrap();
    let plan = json!({ "players": [{ "agent": "random" }, { "agent": "alphabeta:depth=2" }], "games": 20, "seed": 1, "openings": "random:2" });
    let tournament = ada.post("/api/arena", plan).await.expect(201);
    let path = format!("/api/arena/{}", tournament["id"].as_str().unwrap());
    // After pauses of 1, 2 and 4 seconds, it is in one of 8 seconds.
    tokio::time::sleep(Duration::from_secs(9)).await;
    let stopped = ada.post(&format!("{path}/stop"), json!({})).await.expect(200);
    assert_eq!(stopped["state"], "stopped", "{stopped}");
    sqlx::raw_sql("DROP TRIGGER refuse").execute(&mut connection).await.unwrap();
    tokio::time::sleep(Duration::from_secs(9)).await;
    assert_eq!(ada.get(&path).await.expect(200)["state"], "stopped");
}

/// A failed write interrupts a tournament; it does not end it.
#[tokio::test(flavor = "multi_thread")]
async fn a_tournament_continues_once_the_database_works_again() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    let mut connection = sqlx::SqliteConnection::connect(&server.config.database).await.unwrap();
    let refuse = "CREATE TRIGGER refuse BEFORE INSERT ON job_games \
                  BEGIN SELECT RAISE(ABORT, 'out of order'); END";
    sqlx::raw_sql(refuse).execute(&mut connection).await.unwrap();
    let plan = json!({ "players": [{ "agent": "random" }, { "agent": "alphabeta:depth=2" }], "games": 20, "seed": 1, "openings": "random:2" });
    let tournament = ada.post("/api/arena", plan).await.expect(201);
    let path = format!("/api/arena/{}", tournament["id"].as_str().unwrap());
    tokio::time::sleep(Duration::from_secs(3)).await;
    let state = ada.get(&path).await.expect(200)["state"].clone();
    assert!(state == "running" || state == "queued", "{state}");
    sqlx::raw_sql("DROP TRIGGER refuse").execute(&mut connection).await.unwrap();
    for _ in 0..600 {
        let tournament = ada.get(&path).await.expect(200);
        if tournament["state"] == "done" {
            assert_eq!(tournament["done"], 20);
            return;
        }
        assert_ne!(tournament["state"], "failed", "{tournament}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the tournament did not end");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_starts_even_if_a_game_cannot_be_read() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    let seats = json!([{ "kind": "human" }, { "kind": "human" }]);
    let (damaged, sound) = (ada.create(seats.clone()).await, ada.create(seats).await);
    for id in [&damaged, &sound] {
        ada.play(id, 4, 0).await.expect(200);
    }
    let mut connection = sqlx::SqliteConnection::connect(&server.config.database).await.unwrap();
    sqlx::query("UPDATE games SET line = '99' WHERE id = $1")
        .bind(damaged.clone())
        .execute(&mut connection)
        .await
        .unwrap();
    let server = server.restart().await;
    let ada = ada.at(&server);
    assert_eq!(ada.game(&sound).await["ply"], 1);
    ada.play(&sound, 4, 1).await.expect(200);
    assert_eq!(ada.get(&format!("/api/games/{damaged}")).await.status, 500);
    // The operator sees which one.
    let mut admin = claimeven_server::Admin::open(&server.config).await.unwrap();
    let unreadable = admin.unreadable_games(10).await.unwrap();
    assert_eq!(unreadable.iter().map(|game| &game.id).collect::<Vec<_>>(), [&damaged]);
    admin.delete_game(&damaged).await.unwrap();
    assert!(admin.unreadable_games(10).await.unwrap().is_empty());
}
