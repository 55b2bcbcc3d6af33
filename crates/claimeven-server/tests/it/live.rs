//! Live games over WebSockets.

use std::time::Duration;

use claimeven_server::Config;
use serde_json::{Value, json};

use crate::test_server::{TestServer, on_both_databases};

on_both_databases! {
    async fn two_people_play_a_live_game_with_a_spectator(server: TestServer) {
        let (ada, bob, eve) = (server.visitor(), server.visitor(), server.visitor());
        let id = ada.create(json!([{ "kind": "human", "name": "Ada" }, { "kind": "open" }])).await;
        let mut first = ada.follow(&id).await;
        assert_eq!(first.game(|_| true).await["status"], "waiting");
        bob.act(&id, "join", json!({ "name": "Bob" })).await.expect(200);
        first.game(|game| game["status"] == "playing").await;
        let mut second = bob.follow(&id).await;
        let mut spectator = eve.follow(&id).await;
        let both = |game: &Value| game["players"][0]["connected"] == true && game["players"][1]["connected"] == true;
        let game = first.game(|game| both(game) && game["watchers"] == 1).await;
        assert_eq!(game["players"][0]["you"], true);

        for (ply, column) in (0..).zip([1, 2, 1, 2, 1, 2, 1]) {
            let socket = if ply % 2 == 0 { &mut first } else { &mut second };
            if ply > 0 {
                socket.game(|game| game["ply"] == ply).await;
            }
            socket.play(column, ply).await;
        }
        for socket in [&mut first, &mut second, &mut spectator] {
            let game = socket.game(|game| game["status"] == "finished").await;
            assert_eq!(game["result"], json!({ "winner": 0, "reason": "line" }));
        }
    }

    async fn an_illegal_move_is_refused_with_the_current_game(server: TestServer) {
        let (ada, eve) = (server.visitor(), server.visitor());
        let id = ada.create(json!([{ "kind": "human" }, { "kind": "agent", "agent": "random" }])).await;
        let (mut own, mut foreign) = (ada.follow(&id).await, eve.follow(&id).await);
        foreign.play(4, 0).await;
        let refused = foreign.receive_type("refused", |_| true).await;
        assert_eq!(refused["error"], "You are not a player in this game");
        for (message, part) in [
            (json!({ "type": "move", "column": 0, "ply": 0 }), "column must be 1 to 7, not 0"),
            (json!({ "type": "move", "column": 8, "ply": 0 }), "column must be 1 to 7, not 8"),
            (json!({ "type": "move", "column": 4, "ply": 3 }), "The game is at ply 0, not 3"),
            (json!({ "type": "move", "column": "x", "ply": 3 }), "invalid type"),
            (json!({ "type": "dance" }), "dance"),
            (json!([1]), "invalid"),
        ] {
            own.send(message.clone()).await;
            let refused = own.receive_type("refused", |_| true).await;
            assert!(refused["error"].as_str().unwrap().contains(part), "{message}: {refused}");
            assert_eq!(refused["game"]["ply"], 0);
        }
        own.send(json!({ "type": "ping" })).await;
        own.receive_type("pong", |_| true).await;
        own.play(4, 0).await;
        assert_eq!(own.game(|game| game["ply"] == 2).await["players"][1]["connected"], true);
    }

    async fn a_player_who_disconnects_is_announced_and_can_return(server: TestServer) {
        let (ada, bob) = (server.visitor(), server.visitor());
        let id = ada.create(json!([{ "kind": "human" }, { "kind": "open" }])).await;
        bob.act(&id, "join", json!({})).await.expect(200);
        let (mut first, second) = (ada.follow(&id).await, bob.follow(&id).await);
        first.game(|game| game["players"][1]["connected"] == true).await;
        second.close().await;
        let game = first.game(|game| game["players"][1]["connected"] == false).await;
        assert!(game["players"][1]["away_ms"].is_u64());
        assert_eq!(game["away_limit_ms"], 120_000);
        let mut second = bob.follow(&id).await;
        let game = first.game(|game| game["players"][1]["connected"] == true).await;
        assert_eq!(game["players"][1]["away_ms"], Value::Null);
        first.play(4, 0).await;
        second.game(|game| game["ply"] == 1).await;
    }

    async fn watchers_are_notified_when_a_game_is_deleted_and_when_the_server_stops(server: TestServer) {
        let ada = server.visitor();
        let seats = json!([{ "kind": "human" }, { "kind": "human" }]);
        let (deleted, kept) = (ada.create(seats.clone()).await, ada.create(seats).await);
        let (mut of_deleted, mut of_kept) = (ada.follow(&deleted).await, ada.follow(&kept).await);
        of_deleted.game(|_| true).await;
        assert_eq!(ada.delete(&format!("/api/games/{deleted}")).await.status, 204);
        assert_eq!(of_deleted.receive_type("bye", |_| true).await["reason"], "deleted");
        assert_eq!(of_deleted.receive().await, None);
        of_kept.game(|_| true).await;
        let server = server.restart().await;
        of_kept.receive_type("bye", |_| true).await;
        ada.at(&server).game(&kept).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_player_who_stays_away_loses() {
    let server = TestServer::sqlite(Config { away_seconds: 1, ..Config::default() }).await;
    let (ada, bob) = (server.visitor(), server.visitor());
    let id = ada.create(json!([{ "kind": "human" }, { "kind": "open" }])).await;
    bob.act(&id, "join", json!({})).await.expect(200);
    let (mut first, second) = (ada.follow(&id).await, bob.follow(&id).await);
    first.game(|game| game["players"][1]["connected"] == true).await;
    second.close().await;
    let game = first.game(|game| game["status"] == "finished").await;
    assert_eq!(game["result"], json!({ "winner": 0, "reason": "abandoned" }));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_progress_of_an_agent_is_broadcast() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    let seats = json!([{ "kind": "agent", "agent": "timed:ms=1500" }, { "kind": "human" }]);
    let id = ada.create(seats).await;
    let mut socket = ada.follow(&id).await;
    socket.game(|game| game["thinking"] == 0).await;
    let thought =
        socket.receive_type("thinking", |thought| thought["depth"].as_u64() > Some(2)).await;
    assert_eq!(thought["player"], 0);
    assert!(thought["nodes"].as_u64().unwrap() > 100, "{thought}");
    assert!(!thought["pv"].as_array().unwrap().is_empty());
    let game = socket.game(|game| game["ply"] == 1).await;
    assert_eq!(game["thinking"], Value::Null);
    assert!((1000..3000).contains(&game["moves"][0]["ms"].as_u64().unwrap()));
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_pause_without_watchers_and_resume_with_them() {
    let server = TestServer::sqlite(Config { linger_seconds: 1, ..Config::default() }).await;
    let ada = server.visitor();
    let agent = json!({ "kind": "agent", "agent": "timed:ms=300" });
    let id = ada.create(json!([agent, agent])).await;
    let mut socket = ada.follow(&id).await;
    socket.game(|game| game["ply"].as_u64() >= Some(2)).await;
    socket.close().await;
    tokio::time::sleep(Duration::from_secs(7)).await;
    let ply = |list: Value| list["games"][0]["moves"].as_str().unwrap().len();
    let before = ply(ada.get("/api/games?mine=true").await.expect(200));
    tokio::time::sleep(Duration::from_secs(2)).await;
    let after = ply(ada.get("/api/games?mine=true").await.expect(200));
    assert_eq!(before, after, "the list does not wake the game");
    let mut socket = ada.follow(&id).await;
    socket.game(|game| game["ply"].as_u64() > Some(after as u64)).await;
}
