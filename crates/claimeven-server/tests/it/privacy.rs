//! Visitors' data, and its deletion on request.

use std::path::PathBuf;

use claimeven_server::Config;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Row};

use crate::test_server::{TestServer, Visitor, on_both_databases};

async fn database(server: &TestServer) -> AnyConnection {
    sqlx::any::install_default_drivers();
    AnyConnection::connect(&server.config.database).await.unwrap()
}

async fn execute(server: &TestServer, sql: String) -> u64 {
    let mut connection = database(server).await;
    let done = sqlx::query(AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
    done.rows_affected()
}

/// The texts in the first column of a query's result.
async fn texts(server: &TestServer, sql: &'static str) -> Vec<String> {
    let mut connection = database(server).await;
    let rows = sqlx::query(sql).fetch_all(&mut connection).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

const VISITORS: &str = "SELECT owner FROM games WHERE owner IS NOT NULL \
    UNION SELECT holder0 FROM games WHERE holder0 IS NOT NULL \
    UNION SELECT holder1 FROM games WHERE holder1 IS NOT NULL UNION SELECT owner FROM jobs";

fn people() -> Value {
    json!([{ "kind": "human", "name": "Ada" }, { "kind": "open" }])
}

async fn number_of_games(who: &Visitor) -> usize {
    let list = who.get("/api/games?mine=true").await.expect(200);
    list["games"].as_array().unwrap().len()
}

on_both_databases! {
    async fn the_database_does_not_reveal_cookies(server: TestServer) {
        let ada = server.visitor();
        ada.create(people()).await;
        let cookie = ada.cookie().unwrap();
        let id = cookie.strip_prefix("claimeven=").unwrap().split('.').next().unwrap();
        let visitors = texts(&server, VISITORS).await;
        assert_eq!(visitors.len(), 1);
        assert!(!visitors[0].contains(id), "{visitors:?} {id}");
        assert_eq!(texts(&server, "SELECT name FROM settings WHERE name = 'cookie'").await, [""; 0]);
        assert_eq!(number_of_games(&ada).await, 1);
    }

    async fn all_data_of_a_visitor_can_be_deleted(server: TestServer) {
        let (ada, bob) = (server.visitor(), server.visitor());
        // One in progress, one waiting, one finished, one that belongs to nobody else, and one that is
        // only Bob's.
        let shared = ada.create(people()).await;
        bob.act(&shared, "join", json!({ "name": "Bob" })).await.expect(200);
        ada.play(&shared, 4, 0).await.expect(200);
        let waiting = ada.create(people()).await;
        let local = json!([{ "kind": "human", "name": "Ada" }, { "kind": "human", "name": "Eve" }]);
        let local = ada.create(local).await;
        let finished = ada.create(people()).await;
        bob.act(&finished, "join", json!({ "name": "Bob" })).await.expect(200);
        bob.act(&finished, "resign", json!({})).await.expect(200);
        let other = bob.create(people()).await;
        let tournament = json!({
            "players": [{ "agent": "random" }, { "agent": "level:1" }], "games": 1000,
        });
        let tournament = ada.post("/api/arena", tournament).await.expect(201);
        let tournament = tournament["id"].as_str().unwrap();
        let mut socket = bob.follow(&shared).await;
        socket.game(|game| game["moves"].as_array().unwrap().len() == 1).await;

        let reply = ada.delete("/api/me").await;
        reply.expect(204);
        let cookie = reply.headers["set-cookie"].to_str().unwrap();
        assert!(cookie.starts_with("claimeven=;") && cookie.contains("Max-Age=0"), "{cookie}");

        // Bob sees at once that he has won, but not against whom.
        let game = socket.game(|game| game["status"] == "finished").await;
        assert_eq!(game["result"], json!({ "winner": 1, "reason": "resigned" }), "{game:#}");
        for id in [&shared, &finished] {
            let game = bob.game(id).await;
            assert!(!game.to_string().contains("Ada"), "{game}");
            assert!(game.to_string().contains("Bob"), "{game}");
        }
        for id in [&waiting, &local] {
            bob.get(&format!("/api/games/{id}")).await.error(404);
        }
        bob.get(&format!("/api/arena/{tournament}")).await.error(404);
        assert_eq!(number_of_games(&bob).await, 3);
        assert_eq!(bob.game(&other).await["status"], "waiting");
        let left = texts(&server, VISITORS).await;
        assert_eq!(left.len(), 1, "only Bob is left");
        let counted = "SELECT whose FROM totals WHERE whose <> '' \
                       UNION SELECT whose FROM openings WHERE whose <> ''";
        assert!(texts(&server, counted).await.iter().all(|whose| *whose == left[0]));
        let names = "SELECT name0 FROM games UNION SELECT name1 FROM games";
        let mut names = texts(&server, names).await;
        names.sort();
        assert_eq!(names, ["", "Ada", "Bob"], "the game that Bob created names its player Ada");

        // The next game belongs to a new visitor.
        assert_eq!(number_of_games(&ada).await, 0);
        ada.create(people()).await;
        assert_eq!(number_of_games(&ada).await, 1);
        assert_eq!(texts(&server, VISITORS).await.len(), 2);
    }

    async fn deleting_a_game_removes_the_name_of_the_visitor(server: TestServer) {
        let (ada, bob) = (server.visitor(), server.visitor());
        let id = ada.create(people()).await;
        bob.act(&id, "join", json!({ "name": "Bob" })).await.expect(200);
        bob.act(&id, "resign", json!({})).await.expect(200);
        ada.delete(&format!("/api/games/{id}")).await.expect(204);
        assert!(!bob.game(&id).await.to_string().contains("Ada"));
        assert_eq!(texts(&server, "SELECT name0 FROM games").await, [""]);
    }

    // Unhashed ids, and the signing key in the database.
    async fn a_database_of_an_earlier_version_keeps_its_visitors(server: TestServer) {
        let folder = tempfile::tempdir().unwrap();
        let key_file = folder.path().join("state/cookies.key");
        let server = server.restart_with(|config| {
            config.secret = String::new();
            config.secret_file = key_file.display().to_string();
        }).await;
        let ada = server.visitor();
        let id = ada.create(people()).await;
        let (old_id, key) = ("0123456789abcdef0123456789abcdef", "the key of an earlier version");
        execute(&server, format!("UPDATE games SET owner = '{old_id}', holder0 = '{old_id}'")).await;
        execute(&server, "DELETE FROM settings".to_owned()).await;
        execute(&server, format!("INSERT INTO settings VALUES ('cookie', '{key}')")).await;
        let server = server.restart_with(|_| std::fs::remove_file(&key_file).unwrap()).await;

        assert_eq!(std::fs::read_to_string(&key_file).unwrap().trim(), key);
        assert!(is_private(&key_file));
        assert_eq!(texts(&server, "SELECT name FROM settings WHERE name = 'cookie'").await, [""; 0]);
        let visitors = texts(&server, VISITORS).await;
        assert!(!visitors.contains(&old_id.to_owned()), "{visitors:?}");
        let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).unwrap();
        mac.update(old_id.as_bytes());
        let signature = mac.finalize().into_bytes();
        let signature = signature.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
        let ada = server.visitor();
        ada.set_cookie(&format!("claimeven={old_id}.{signature}"));
        assert_eq!(number_of_games(&ada).await, 1);
        assert_ne!(ada.cookie().unwrap(), format!("claimeven={old_id}.{signature}"), "renewed");
        let server = server.restart().await;
        let ada = ada.at(&server);
        let game = ada.delete(&format!("/api/games/{id}")).await;
        game.expect(204);
        assert_eq!(number_of_games(&ada).await, 0);
    }
}

#[cfg(unix)]
fn is_private(file: &PathBuf) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file).unwrap().permissions().mode() & 0o777 == 0o600
}

#[tokio::test]
async fn the_key_of_an_sqlite_database_is_in_a_file_next_to_it() {
    let server = TestServer::sqlite(Config::default()).await;
    let file = server.config.database_file().unwrap().to_owned();
    let key = std::fs::read_to_string(format!("{file}.key")).unwrap();
    assert!(is_private(&PathBuf::from(format!("{file}.key"))));
    let ada = server.visitor();
    ada.create(people()).await;
    let server = server.restart().await;
    assert_eq!(number_of_games(&ada.at(&server)).await, 1);
    for name in [file.clone(), format!("{file}-wal")] {
        let content = std::fs::read(name).unwrap_or_default();
        assert!(!content.windows(64).any(|part| part == key.trim().as_bytes()));
    }
}

#[tokio::test]
async fn postgresql_without_a_key_file_is_rejected() {
    let Some(server) = TestServer::postgres(Config::default()).await else {
        println!("skipped: CLAIMEVEN_TEST_POSTGRES names no server");
        return;
    };
    let (config, _folder) = server.stop().await;
    let server = claimeven_server::Server::start(Config { secret: String::new(), ..config }).await;
    let error = server.err().unwrap().to_string();
    assert!(error.contains("set secret_file or secret"), "{error}");
}
