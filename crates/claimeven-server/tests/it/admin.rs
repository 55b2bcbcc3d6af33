//! Operators' commands while the server is running, on both databases.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use claimeven_server::{Admin, CheckStatus, Config, GameFilter, JobKind, Retention, doctor};
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{AnyConnection, AssertSqlSafe, Connection, Row};

use crate::test_server::{TestServer, Visitor, on_both_databases};

fn local() -> Value {
    json!([{ "kind": "human", "name": "Ada" }, { "kind": "human", "name": "Bob" }])
}

/// A finished local game.
async fn finished(ada: &Visitor) -> String {
    let id = ada.create(local()).await;
    for (ply, column) in [4, 5, 4, 5, 4, 5, 4].into_iter().enumerate() {
        ada.play(&id, column, ply as u64).await.expect(200);
    }
    id
}

async fn execute(config: &Config, sql: String) {
    sqlx::any::install_default_drivers();
    let mut connection = AnyConnection::connect(&config.database).await.unwrap();
    sqlx::query(AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
}

async fn number(config: &Config, sql: &'static str) -> i64 {
    sqlx::any::install_default_drivers();
    let mut connection = AnyConnection::connect(&config.database).await.unwrap();
    sqlx::query(sql).fetch_one(&mut connection).await.unwrap().get(0)
}

/// Waits until a request with these headers has this status.
async fn until_status(who: &Visitor, headers: &[(&str, &str)], status: u16) {
    let started = Instant::now();
    loop {
        let reply = who.send(Method::GET, "/api/agents", headers, None).await;
        if reply.status == status {
            return;
        }
        assert!(started.elapsed() < Duration::from_secs(20), "still {reply:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// The key that signs the cookies of a server.
fn key_of(config: &Config) -> String {
    match config.database_file() {
        Some(file) => std::fs::read_to_string(format!("{file}.key")).unwrap().trim().to_owned(),
        None => config.secret.clone(),
    }
}

on_both_databases! {
    async fn games_are_listed_shown_and_deleted_while_the_server_runs(server: TestServer) {
        let ada = server.visitor();
        let (old, new) = (finished(&ada).await, ada.create(local()).await);
        let mut admin = Admin::open(&server.config).await.unwrap();
        let all = GameFilter { limit: 10, ..GameFilter::default() };
        let ids = |games: Vec<claimeven_server::GameRow>| -> Vec<String> {
            games.into_iter().map(|game| game.id).collect()
        };
        assert_eq!(ids(admin.games(&all).await.unwrap()), [new.clone(), old.clone()]);
        let playing = GameFilter { status: Some("playing".to_owned()), ..all.clone() };
        assert_eq!(ids(admin.games(&playing).await.unwrap()), std::slice::from_ref(&new));
        let game = admin.game(&old).await.unwrap();
        assert_eq!((game.line.as_str(), game.winner), ("4545454", Some(0)));
        assert_eq!(game.row.players, ["Ada", "Bob"]);
        assert_eq!(game.unreadable, None);

        // Watchers are notified.
        let mut socket = ada.follow(&new).await;
        admin.delete_game(&new).await.unwrap();
        socket.receive_type("bye", |message| message["reason"] == "deleted").await;
        ada.get(&format!("/api/games/{new}")).await.error(404);
        let error = admin.delete_game(&new).await.unwrap_err().to_string();
        assert_eq!(error, format!("game '{new}' not found"));
        // Games continue.
        finished(&ada).await;
        assert_eq!(admin.games(&all).await.unwrap().len(), 2);
    }

    async fn visitors_are_listed_shown_and_deleted(server: TestServer) {
        let (ada, bob) = (server.visitor(), server.visitor());
        finished(&ada).await;
        let shared = ada.create(json!([{ "kind": "human", "name": "Ada" }, { "kind": "open" }])).await;
        bob.act(&shared, "join", json!({ "name": "Bob" })).await.expect(200);
        let mut admin = Admin::open(&server.config).await.unwrap();
        let visitors = admin.visitors(10).await.unwrap();
        assert_eq!(visitors.len(), 2);
        let key = visitors.iter().find(|visitor| visitor.games == 2).unwrap().key.clone();
        let details = admin.visitor(&key[..12]).await.unwrap();
        assert_eq!(details.names, ["Ada", "Bob"], "a local game has two names");
        assert_eq!(details.latest.len(), 2);
        assert_eq!(admin.delete_visitor(&key[..12]).await.unwrap(), 2);
        assert_eq!(admin.visitors(10).await.unwrap().len(), 1);
        // The server has the game in memory and notices the change.
        let game = bob.wait(&shared, |game| game["status"] == "finished").await;
        assert_eq!(game["result"], json!({ "winner": 1, "reason": "resigned" }), "{game:#}");
        assert!(!game.to_string().contains("Ada"), "{game:#}");
        for wrong in ["", "12345", "'; --", "000000000000"] {
            assert!(admin.visitor(wrong).await.is_err(), "{wrong}");
        }
    }

    async fn a_running_tournament_can_be_deleted_while_the_server_runs(server: TestServer) {
        let ada = server.visitor();
        let tournament = json!({
            "players": [{ "agent": "random" }, { "agent": "level:1" }], "games": 2000,
        });
        let job = ada.post("/api/arena", tournament).await.expect(201);
        let path = format!("/api/arena/{}", job["id"].as_str().unwrap());
        while ada.get(&path).await.expect(200)["done"].as_u64().unwrap() == 0 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let mut admin = Admin::open(&server.config).await.unwrap();
        let [row] = &admin.jobs(JobKind::Tournament, 10).await.unwrap()[..] else { panic!() };
        assert!(admin.jobs(JobKind::Training, 10).await.unwrap().is_empty());
        let details = admin.job(JobKind::Tournament, &row.id).await.unwrap();
        assert!(details.stored_games > 0 && details.plan.is_object(), "{details:?}");
        admin.delete_job(JobKind::Tournament, &row.id).await.unwrap();
        ada.get(&path).await.error(404);
        // It stops without leaving anything behind, and the next job gets its turn.
        tokio::time::sleep(Duration::from_secs(4)).await;
        assert_eq!(number(&server.config, "SELECT COUNT(*) FROM job_games").await, 0);
        let next = json!({ "players": [{ "agent": "random" }, { "agent": "level:1" }], "games": 2 });
        let next = ada.post("/api/arena", next).await.expect(201);
        let path = format!("/api/arena/{}", next["id"].as_str().unwrap());
        let started = Instant::now();
        while ada.get(&path).await.expect(200)["state"] != "done" {
            assert!(started.elapsed() < Duration::from_secs(20), "the next tournament does not run");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    async fn a_banned_address_is_refused_until_the_ban_is_lifted(server: TestServer) {
        let server = server.restart_with(|config| "127.0.0.1".clone_into(&mut config.trusted_proxies)).await;
        let (ada, eve) = (server.visitor(), server.visitor());
        let game = eve.create(local()).await;
        let banned = [("x-forwarded-for", "203.0.113.7")];
        let mut socket = eve.try_follow(&game, &banned).await.unwrap();
        let mut admin = Admin::open(&server.config).await.unwrap();
        let range: claimeven_server::IpNet = "203.0.113.77/24".parse().unwrap();
        admin.ban(range, "spam", None).await.unwrap();
        until_status(&eve, &banned, 403).await;
        for path in ["/", "/api/games", "/healthz"] {
            eve.send(Method::GET, path, &banned, None).await.error(403);
        }
        assert!(matches!(eve.try_follow(&game, &banned).await, Err(403)));
        // The ban also applies to an open socket.
        socket.play(1, 0).await;
        while socket.receive().await.is_some() {}
        assert_eq!(ada.game(&game).await["moves"], json!([]));
        finished(&ada).await;

        let bans = admin.bans().await.unwrap();
        assert_eq!((bans[0].range.as_str(), bans[0].reason.as_str()), ("203.0.113.0/24", "spam"));
        assert!(admin.unban(range).await.unwrap());
        assert!(!admin.unban(range).await.unwrap());
        until_status(&eve, &banned, 200).await;
        eve.play(&game, 1, 0).await.expect(200);
        // A ban expires by itself.
        let soon = jiff::Timestamp::now().as_millisecond() + 4000;
        admin.ban("203.0.113.7/32".parse().unwrap(), "", Some(soon)).await.unwrap();
        until_status(&eve, &banned, 403).await;
        until_status(&eve, &banned, 200).await;
        assert!(admin.bans().await.unwrap().is_empty());
    }

    async fn old_games_are_pruned_by_age_and_by_size(server: TestServer) {
        let server = server.restart_with(|config| config.requests_per_second = 0).await;
        let ada = server.visitor();
        let (old, new, playing) =
            (finished(&ada).await, finished(&ada).await, ada.create(local()).await);
        execute(&server.config, format!("UPDATE games SET touched = 1000 WHERE id IN ('{old}', '{playing}')")).await;
        let mut admin = Admin::open(&server.config).await.unwrap();
        let day = Duration::from_hours(24);
        assert_eq!(admin.prunable(day).await.unwrap().games, 1);
        let by_age = Retention { older_than: Some(day), max_bytes: None };
        let pruned = admin.prune(&by_age).await.unwrap();
        assert_eq!((pruned.games, pruned.tournaments), (1, 0));
        assert!(pruned.bytes > 0);
        assert_eq!(admin.prune(&by_age).await.unwrap().games, 0);
        let _ = ada.get(&format!("/api/games/{new}")).await.expect(200);

        for _ in 0..40 {
            finished(&ada).await;
        }
        let by_size = |max_bytes| Retention { older_than: None, max_bytes: Some(max_bytes) };
        let full = admin.prune(&by_size(u64::MAX)).await.unwrap();
        assert_eq!(full.games, 0);
        // Games in progress always stay, and the newest games are deleted last.
        let pruned = admin.prune(&by_size(full.bytes - full.bytes / 20)).await.unwrap();
        assert!(pruned.games > 0 && pruned.bytes < full.bytes, "{pruned:?} {full:?}");
        admin.prune(&by_size(1)).await.unwrap();
        assert_eq!(number(&server.config, "SELECT COUNT(*) FROM games").await, 1);
        assert_eq!(number(&server.config, "SELECT COUNT(*) FROM moves").await, 0);
        ada.play(&playing, 1, 0).await.expect(200);
    }

    async fn a_server_prunes_by_itself(server: TestServer) {
        let ada = server.visitor();
        let old = finished(&ada).await;
        execute(&server.config, "UPDATE games SET touched = 1000".to_owned()).await;
        let server = server.restart_with(|config| config.prune_days = 30).await;
        let ada = ada.at(&server);
        let started = Instant::now();
        while ada.get(&format!("/api/games/{old}")).await.status != 404 {
            assert!(started.elapsed() < Duration::from_secs(20), "the old game still exists");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        finished(&ada).await;
    }

    async fn a_backup_of_a_busy_server_is_consistent_and_restores_into_either_database(server: TestServer) {
        let server = server.restart_with(|config| {
            config.requests_per_second = 0;
            config.games_per_minute = 0;
        }).await;
        let ada = server.visitor();
        for _ in 0..20 {
            finished(&ada).await;
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("games.backup");
        let stop = Arc::new(AtomicBool::new(false));
        let busy: Vec<_> = (0..3).map(|_| {
            let (player, stop) = (server.visitor(), Arc::clone(&stop));
            tokio::spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    finished(&player).await;
                }
            })
        }).collect();
        let mut admin = Admin::open(&server.config).await.unwrap();
        let first = admin.backup(&file).await.unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
        let saved = admin.backup(&file).await.unwrap();
        assert!(saved.rows["games"] > first.rows["games"], "{first:?} {saved:?}");
        stop.store(true, Ordering::Relaxed);
        for task in busy {
            task.await.unwrap();
        }
        let key = key_of(&server.config);
        let error = Admin::restore(&server.config, &file, true).await.unwrap_err().to_string();
        assert!(error.contains("another server is using it"), "{error}");
        let (config, _folder) = server.stop().await;
        let error = Admin::restore(&config, &file, false).await.unwrap_err().to_string();
        assert!(error.contains("is not empty; use --force"), "{error}");

        let mut targets = vec![config.clone()];
        let database = format!("sqlite:{}", folder.path().join("other.sqlite").display());
        targets.push(Config { database, ..config.clone() });
        if let Some(other) = TestServer::postgres(Config::default()).await {
            targets.push(other.stop().await.0);
        }
        for target in targets {
            let target = Config { secret: key.clone(), ..target };
            let restored = Admin::restore(&target, &file, true).await.unwrap();
            assert_eq!(restored, saved);
            if let Some(path) = target.database.strip_prefix("sqlite:") {
                let log = std::fs::metadata(format!("{path}-wal")).map_or(0, |log| log.len());
                assert_eq!(log, 0, "the log of {path}");
            }
            let server = TestServer::open(target).await;
            let again = server.visitor();
            again.set_cookie(&ada.cookie().unwrap());
            // Every game matches its moves, and still belongs to its visitor.
            let games = number(&server.config, "SELECT COUNT(*) FROM games").await;
            assert_eq!(games.cast_unsigned(), saved.rows["games"]);
            let mut admin = Admin::open(&server.config).await.unwrap();
            let all = GameFilter { limit: 100_000, ..GameFilter::default() };
            for game in admin.games(&all).await.unwrap() {
                let details = admin.game(&game.id).await.unwrap();
                assert_eq!(details.unreadable, None, "{details:?}");
            }
            let mine = again.get("/api/games?mine=true&limit=100").await.expect(200);
            assert_eq!(mine["games"].as_array().unwrap().len(), 20);
            finished(&again).await;
            server.stop().await;
        }
    }

    async fn a_damaged_backup_changes_nothing(server: TestServer) {
        let ada = server.visitor();
        finished(&ada).await;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("games.backup");
        Admin::open(&server.config).await.unwrap().backup(&file).await.unwrap();
        let (config, _folder) = server.stop().await;
        let content = std::fs::read(&file).unwrap();
        let mut flipped = content.clone();
        flipped[content.len() / 2] ^= 0x55;
        for wrong in [&content[..content.len() / 2], &flipped, b"", b"nonsense"] {
            std::fs::write(&file, wrong).unwrap();
            let error = Admin::restore(&config, &file, true).await.unwrap_err().to_string();
            assert!(error.contains("backup"), "{error}");
            assert_eq!(number(&config, "SELECT COUNT(*) FROM games").await, 1);
        }
    }

    async fn the_doctor_finds_no_problem_with_a_running_server(server: TestServer) {
        let ada = server.visitor();
        let game = ada.create(local()).await;
        let config = Config { addr: server.addr, ..server.config.clone() };
        for result in doctor(&config).await {
            assert_ne!(result.status, CheckStatus::Failed, "{result:?}");
        }
        let port = doctor(&config).await.into_iter().find(|result| result.check == "port").unwrap();
        assert!(port.message.contains("is served by Claimeven, which is ready"), "{port:?}");
        execute(&config, "UPDATE games SET line = '9999'".to_owned()).await;
        let found = doctor(&config).await;
        let games = found.iter().find(|result| result.check == "games").unwrap();
        assert!(games.message.contains(&game), "{games:?}");
        let details = Admin::open(&config).await.unwrap().game(&game).await.unwrap();
        assert!(details.unreadable.is_some());
    }
}

#[tokio::test]
async fn doctor_reports_problems_and_fixes() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let config = Config {
        database: "sqlite:/nowhere/at/all/games.sqlite".to_owned(),
        addr: taken.local_addr().unwrap(),
        trusted_proxies: "nonsense".to_owned(),
        ..Config::default()
    };
    let results = doctor(&config).await;
    for check in ["configuration", "database", "port"] {
        let result = results.iter().find(|result| result.check == check).unwrap();
        assert_eq!(result.status, CheckStatus::Failed, "{result:?}");
    }
}
