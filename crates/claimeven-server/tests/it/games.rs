//! Games over HTTP.

use std::time::{Duration, Instant};

use claimeven_arena::GameRecord;
use claimeven_server::Config;
use serde_json::{Value, json};

use crate::test_server::{TestServer, on_both_databases};

fn against(agent: &str) -> Value {
    json!([{ "kind": "human", "name": "Ada" }, { "kind": "agent", "agent": agent }])
}

fn online() -> Value {
    json!([{ "kind": "human", "name": "Ada" }, { "kind": "open" }])
}

fn local() -> Value {
    json!([{ "kind": "human" }, { "kind": "human" }])
}

fn columns(game: &Value) -> Vec<u64> {
    let moves = game["moves"].as_array().unwrap();
    moves.iter().map(|played| played["column"].as_u64().unwrap()).collect()
}

on_both_databases! {
    async fn a_game_against_an_agent_is_played_to_the_end_and_listed(server: TestServer) {
        let ada = server.visitor();
        let id = ada.create(against("alphabeta:depth=2,seed=1")).await;
        let game = loop {
            let game = ada.wait(&id, |game| game["to_move"] != 1).await;
            if game["status"] == "finished" {
                break game;
            }
            let column = game["legal"][0].as_u64().unwrap();
            let after = ada.play(&id, column, game["ply"].as_u64().unwrap()).await.expect(200);
            assert_eq!(after["moves"][game["ply"].as_u64().unwrap() as usize]["column"], column);
        };
        assert_eq!(game["result"]["winner"], 1, "always playing the leftmost column loses");
        assert_eq!(game["result"]["reason"], "line");
        assert_eq!(game["lines"].as_array().unwrap().len(), 1);
        assert_eq!(game["players"][0]["you"], true);
        assert!(game["moves"][1]["nodes"].as_u64().unwrap() > 0);

        let record = ada.get(&format!("/api/games/{id}/record")).await;
        assert!(record.headers["content-disposition"].to_str().unwrap().contains(&id));
        let record: GameRecord = serde_json::from_str(record.text.trim()).unwrap();
        record.replay().expect("the record should follow the rules");
        assert_eq!(record.players[0].name, "Ada");
        let pgn = ada.get(&format!("/api/games/{id}/record?format=pgn")).await;
        assert!(pgn.text.contains("[Result \"0-1\"]"), "{}", pgn.text);
        let old = ada.get(&format!("/api/games/{id}/record?format=old")).await.expect(200);
        assert_eq!(old["winner"], 2);

        let mine = ada.get("/api/games?mine=true").await.expect(200);
        assert_eq!(mine["games"][0]["id"], *id);
        assert_eq!(mine["games"][0]["result"]["winner"], 1);
    }

    async fn a_game_survives_a_restart_and_continues(server: TestServer) {
        let ada = server.visitor();
        let game = json!({
            "seats": against("alphabeta:depth=3,seed=1"), "first": 0, "moves": "44",
            "clock": { "initial_ms": 60_000, "increment_ms": 1000 },
        });
        let id = ada.create_with(game).await;
        ada.play(&id, 3, 2).await.expect(200);
        let before = ada.wait(&id, |game| game["ply"] == 4).await;
        let down = Duration::from_secs(4);
        let server = server.restart_after(down).await;
        let ada = ada.at(&server);
        let mut after = ada.game(&id).await;
        let left = |game: &Value| Duration::from_millis(game["clock"]["remaining_ms"][0].as_u64().unwrap());
        assert!(left(&after) + down > left(&before), "time does not pass while the server is down");
        for key in ["clock", "players"] {
            after[key] = before[key].clone();
        }
        assert_eq!(after, before);
        ada.play(&id, 3, 4).await.expect(200);
        ada.wait(&id, |game| game["ply"] == 6).await;
    }

    async fn exactly_one_of_several_simultaneous_moves_is_played(server: TestServer) {
        let ada = server.visitor();
        let id = ada.create(local()).await;
        for ply in 0..6 {
            let moves = (1..=7).map(|column| ada.play(&id, column, ply));
            let replies = futures_util::future::join_all(moves).await;
            let (played, refused): (Vec<_>, Vec<_>) =
                replies.iter().partition(|reply| reply.status == 200);
            assert_eq!(played.len(), 1, "{replies:?}");
            for reply in refused {
                let game = &reply.expect(409)["game"];
                assert_eq!(game["ply"], ply + 1, "a refused move shows the current game");
            }
        }
        assert_eq!(ada.game(&id).await["ply"], 6);
    }

    async fn exactly_one_of_many_visitors_takes_an_open_seat(server: TestServer) {
        let ada = server.visitor();
        let id = ada.create(online()).await;
        assert_eq!(ada.game(&id).await["status"], "waiting");
        assert_eq!(ada.play(&id, 4, 0).await.error(409), "The other player has not joined yet");
        assert_eq!(ada.act(&id, "join", json!({})).await.error(409), "You already have a seat in this game");

        let others: Vec<_> = (0..8).map(|_| server.visitor()).collect();
        let joining = others.iter().map(|other| other.act(&id, "join", json!({ "name": "Bob" })));
        let replies = futures_util::future::join_all(joining).await;
        assert_eq!(replies.iter().filter(|reply| reply.status == 200).count(), 1);
        let seated = replies.iter().position(|reply| reply.status == 200).unwrap();

        ada.play(&id, 4, 0).await.expect(200);
        for (index, other) in others.iter().enumerate() {
            let reply = other.play(&id, 4, 1).await;
            if index == seated {
                reply.expect(200);
            } else {
                assert_eq!(reply.error(403), "You are not a player in this game");
            }
        }
        assert_eq!(others[seated].play(&id, 4, 2).await.error(409), "It is not your turn");
        let text = others[seated].game(&id).await.to_string();
        assert!(!text.contains("holder") && !text.contains("owner"), "{text}");
    }

    async fn visitors_cannot_act_in_games_of_others(server: TestServer) {
        let (ada, eve) = (server.visitor(), server.visitor());
        let id = ada.create(against("level:1")).await;
        eve.create(local()).await;
        for (action, body) in [
            ("moves", json!({ "column": 1, "ply": 0 })),
            ("undo", json!({})),
            ("redo", json!({})),
            ("resign", json!({})),
            ("draw", json!({})),
            ("rematch", json!({})),
            ("seat", json!({ "player": 1, "agent": "random" })),
        ] {
            assert_eq!(eve.act(&id, action, body).await.status, 403, "{action}");
        }
        assert_eq!(eve.delete(&format!("/api/games/{id}")).await.status, 403);
        let game = eve.game(&id).await;
        assert_eq!((&game["mine"], &game["ply"]), (&json!(false), &json!(0)));
    }

    async fn undo_and_redo_against_an_agent_go_to_the_persons_turn(server: TestServer) {
        let ada = server.visitor();
        let id = ada.create(against("influence")).await;
        assert_eq!(ada.act(&id, "undo", json!({})).await.error(409), "There is no move to take back");
        ada.play(&id, 4, 0).await.expect(200);
        ada.wait(&id, |game| game["ply"] == 2).await;
        ada.play(&id, 4, 2).await.expect(200);
        let before = ada.wait(&id, |game| game["ply"] == 4).await;

        let game = ada.act(&id, "undo", json!({})).await.expect(200);
        assert_eq!((&game["ply"], &game["undone"], &game["to_move"]), (&json!(2), &json!(2), &json!(0)));
        let game = ada.act(&id, "undo", json!({})).await.expect(200);
        assert_eq!((&game["ply"], &game["undone"]), (&json!(0), &json!(4)));
        let game = ada.act(&id, "redo", json!({})).await.expect(200);
        assert_eq!((&game["ply"], &game["undone"]), (&json!(2), &json!(2)));
        let game = ada.act(&id, "redo", json!({})).await.expect(200);
        assert_eq!(game["moves"], before["moves"]);
        assert_eq!(ada.act(&id, "redo", json!({})).await.error(409), "There is no move to redo");

        ada.act(&id, "undo", json!({})).await.expect(200);
        let game = ada.play(&id, 1, 2).await.expect(200);
        assert_eq!(game["undone"], 0, "a new move clears the redo list");
        let stored = ada.wait(&id, |game| game["ply"] == 4).await;
        let server = server.restart().await;
        assert_eq!(ada.at(&server).game(&id).await["moves"], stored["moves"]);
    }

    async fn a_lost_game_can_be_taken_back_and_won(server: TestServer) {
        let ada = server.visitor();
        let id = ada.create(local()).await;
        for (ply, column) in (0..).zip([1, 2, 1, 2, 1, 2, 1]) {
            ada.play(&id, column, ply).await.expect(200);
        }
        let game = ada.game(&id).await;
        assert_eq!(game["lines"], json!([[[1, 1], [1, 2], [1, 3], [1, 4]]]));
        assert_eq!(ada.play(&id, 2, 7).await.error(409), "The game is over");
        let game = ada.act(&id, "undo", json!({})).await.expect(200);
        assert_eq!((&game["status"], &game["result"]), (&json!("playing"), &Value::Null));
        assert_eq!(game["ply"], 6);
    }

    async fn people_agree_on_takebacks_draws_and_rematches(server: TestServer) {
        let (ada, bob) = (server.visitor(), server.visitor());
        let id = ada.create(online()).await;
        bob.act(&id, "join", json!({ "name": " Bob " })).await.expect(200);
        ada.play(&id, 4, 0).await.expect(200);
        bob.play(&id, 4, 1).await.expect(200);

        assert_eq!(ada.act(&id, "undo", json!({})).await.expect(200)["offers"]["undo"], 0);
        assert_eq!(ada.act(&id, "undo", json!({ "accept": true })).await.status, 409);
        let game = bob.act(&id, "undo", json!({ "accept": false })).await.expect(200);
        assert_eq!((&game["offers"]["undo"], &game["ply"]), (&Value::Null, &json!(2)));
        ada.act(&id, "undo", json!({})).await.expect(200);
        let game = bob.act(&id, "undo", json!({ "accept": true })).await.expect(200);
        assert_eq!((&game["ply"], &game["to_move"]), (&json!(0), &json!(0)));
        assert_eq!(ada.act(&id, "redo", json!({})).await.status, 409);

        assert_eq!(bob.act(&id, "draw", json!({})).await.expect(200)["offers"]["draw"], 1);
        ada.play(&id, 1, 0).await.expect(200);
        assert_eq!(ada.game(&id).await["offers"]["draw"], Value::Null, "a move declines");
        bob.act(&id, "draw", json!({})).await.expect(200);
        let game = ada.act(&id, "draw", json!({ "accept": true })).await.expect(200);
        assert_eq!(game["result"], json!({ "winner": null, "reason": "agreed" }));

        assert_eq!(ada.act(&id, "rematch", json!({})).await.expect(200), json!({ "id": null }));
        assert_eq!(bob.game(&id).await["offers"]["rematch"], 0);
        let no = json!({ "accept": false });
        assert_eq!(bob.act(&id, "rematch", no.clone()).await.expect(200), json!({ "id": null }));
        assert_eq!(bob.game(&id).await["offers"]["rematch"], Value::Null);
        assert_eq!(
            bob.act(&id, "rematch", no.clone()).await.error(409),
            "Nobody has offered a rematch"
        );
        assert_eq!(ada.act(&id, "rematch", json!({})).await.expect(200), json!({ "id": null }));
        let next = bob.act(&id, "rematch", json!({})).await.expect(200)["id"].clone();
        assert_eq!(
            ada.act(&id, "rematch", no.clone()).await.error(409),
            "The rematch has already started"
        );
        let next = next.as_str().unwrap();
        assert_eq!(ada.act(&id, "rematch", json!({})).await.expect(200)["id"], next);
        let game = ada.wait(&id, |game| game["rematch"] == next).await;
        assert_eq!(game["players"][1]["name"], "Bob");
        let game = bob.game(next).await;
        assert_eq!((&game["first"], &game["players"][1]["you"]), (&json!(1), &json!(true)));
        bob.play(next, 4, 0).await.expect(200);
    }

    async fn a_rematch_exists_when_its_players_are_notified(server: TestServer) {
        let (ada, bob) = (server.visitor(), server.visitor());
        let mut id = ada.create(online()).await;
        bob.act(&id, "join", json!({ "name": "Bob" })).await.expect(200);
        // Several rounds, because the order of events varies.
        for round in 0..10 {
            let mut socket = ada.follow(&id).await;
            bob.act(&id, "resign", json!({})).await.expect(200);
            ada.act(&id, "rematch", json!({})).await.expect(200);
            let notified = async {
                let game = socket.game(|game| !game["rematch"].is_null()).await;
                let next = game["rematch"].as_str().unwrap().to_owned();
                ada.get(&format!("/api/games/{next}")).await.expect(200);
                next
            };
            let (next, reply) = tokio::join!(notified, bob.act(&id, "rematch", json!({})));
            assert_eq!(reply.expect(200)["id"], next.as_str(), "round {round}");
            id = next;
        }
        let first = ada.game(&id).await["first"].clone();
        let mover = if first == 0 { &ada } else { &bob };
        mover.play(&id, 4, 0).await.expect(200);
    }

    async fn a_rematch_that_was_deleted_can_be_started_again(server: TestServer) {
        let ada = server.visitor();
        let id = ada.create(against("random")).await;
        ada.act(&id, "resign", json!({})).await.expect(200);
        let gone = ada.act(&id, "rematch", json!({})).await.expect(200)["id"].clone();
        let gone = gone.as_str().unwrap();
        assert_eq!(ada.act(&id, "rematch", json!({})).await.expect(200)["id"], gone);
        assert_eq!(ada.delete(&format!("/api/games/{gone}")).await.status, 204);
        let next = ada.act(&id, "rematch", json!({})).await.expect(200)["id"].clone();
        assert_ne!(next, gone);
        let game = ada.wait(next.as_str().unwrap(), |game| game["ply"] == 1).await;
        ada.play(next.as_str().unwrap(), 4, 1).await.expect(200);
        assert_eq!(game["to_move"], 0);
    }

    async fn resigning_ends_a_game_and_a_rematch_swaps_the_first_player(server: TestServer) {
        let ada = server.visitor();
        let id = ada.create(against("random")).await;
        assert_eq!(ada.act(&id, "rematch", json!({})).await.error(409), "The game is not over yet");
        assert!(ada.get(&format!("/api/games/{id}/record")).await.error(409).contains("not over"));
        let game = ada.act(&id, "resign", json!({})).await.expect(200);
        assert_eq!(game["result"], json!({ "winner": 1, "reason": "resigned" }));
        assert_eq!(ada.act(&id, "undo", json!({})).await.status, 409);
        let next = ada.act(&id, "rematch", json!({})).await.expect(200)["id"].clone();
        let game = ada.wait(next.as_str().unwrap(), |game| game["ply"] == 1).await;
        assert_eq!((&game["first"], &game["to_move"]), (&json!(1), &json!(0)));
    }

    async fn an_agent_can_be_replaced_during_a_game(server: TestServer) {
        let ada = server.visitor();
        let id = ada.create(against("random")).await;
        let game = ada.act(&id, "seat", json!({ "player": 1, "agent": "level:10" })).await.expect(200);
        assert_eq!(game["players"][1]["agent"], "level:10");
        assert_eq!(ada.act(&id, "seat", json!({ "player": 0, "agent": "random" })).await.status, 403);
        assert!(ada.act(&id, "seat", json!({ "player": 2, "agent": "random" })).await.error(400).contains('2'));
        ada.play(&id, 4, 0).await.expect(200);
        let game = ada.wait(&id, |game| game["ply"] == 2).await;
        assert_eq!(columns(&game), [4, 4], "perfect play");
    }

    async fn agents_play_each_other_while_somebody_watches(server: TestServer) {
        let ada = server.visitor();
        let seats = json!([{ "kind": "agent", "agent": "random:seed=1" }, { "kind": "agent", "agent": "level:2" }]);
        let id = ada.create(seats).await;
        let game = ada.wait(&id, |game| game["status"] == "finished").await;
        assert!(game["ply"].as_u64().unwrap() >= 7);
        assert_eq!((&game["mine"], &game["players"][0]["you"]), (&json!(true), &json!(false)));
    }

    async fn games_are_listed_filtered_paged_and_deleted(server: TestServer) {
        let (ada, eve) = (server.visitor(), server.visitor());
        let mut ids = Vec::new();
        for agent in ["level:1", "level:10", "random", "random"] {
            ids.push(ada.create(against(agent)).await);
        }
        let lines = json!({
            "setup": { "cols": 5, "rows": 4, "connect": 3, "ruleset": "lines" }, "seats": local(),
        });
        ids.push(ada.create_with(lines).await);
        let waiting = ada.create(online()).await;
        ada.act(&ids[2], "resign", json!({})).await.expect(200);

        let names = |list: Value| -> Vec<String> {
            let games = list["games"].as_array().unwrap();
            games.iter().map(|game| game["id"].as_str().unwrap().to_owned()).collect()
        };
        let list = async |query: &str| names(ada.get(&format!("/api/games?{query}")).await.expect(200));
        assert_eq!(list("mine=true").await.len(), 6);
        assert_eq!(list("mine=true&agent=level:1").await, [ids[0].clone()]);
        assert_eq!(list("agent=random&status=finished").await, [ids[2].clone()]);
        assert_eq!(list("winner=lost").await, [ids[2].clone()]);
        assert_eq!(list("winner=me").await, [""; 0]);
        assert_eq!(list("ruleset=lines&cols=5&rows=4").await, [ids[4].clone()]);
        assert_eq!(list("player=aDa&limit=100").await.len(), 5);
        assert_eq!(list("status=waiting").await, std::slice::from_ref(&waiting));
        let others = eve.get("/api/games?limit=100").await.expect(200);
        assert_eq!(names(others), [""; 0], "games of people are private by default");

        let (mut paged, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = ada.get(&format!("/api/games?mine=true&limit=4{cursor}")).await.expect(200);
            let next = page["next"].as_str().map(|next| format!("&before={next}"));
            paged.extend(names(page));
            match next {
                Some(next) => cursor = next,
                None => break,
            }
        }
        assert_eq!(paged, list("mine=true&limit=100").await);

        for id in &ids {
            assert_eq!(ada.delete(&format!("/api/games/{id}")).await.status, 204);
            assert!(ada.get(&format!("/api/games/{id}")).await.error(404).contains(id));
        }
        assert_eq!(list("mine=true").await, [waiting]);
    }

    async fn strangers_see_only_the_games_that_are_listed(server: TestServer) {
        let (ada, bob, eve) = (server.visitor(), server.visitor(), server.visitor());
        let agent = json!({ "kind": "agent", "agent": "random" });
        let watched = ada.create(json!([agent, agent])).await;
        let local = ada.create(local()).await;
        let computer = ada.create(against("level:1")).await;
        let invited = ada.create(online()).await;
        bob.act(&invited, "join", json!({ "name": "Bob" })).await.expect(200);
        let shown = ada.create_with(json!({ "seats": against("level:1"), "listed": true })).await;

        let ids = async |visitor: &crate::test_server::Visitor| -> Vec<String> {
            let list = visitor.get("/api/games?limit=100").await.expect(200);
            let games = list["games"].as_array().unwrap();
            games.iter().map(|game| game["id"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(ids(&eve).await, [shown.clone(), watched.clone()]);
        assert_eq!(ids(&bob).await, [shown.clone(), invited.clone(), watched.clone()]);
        assert_eq!(ids(&ada).await.len(), 5);
        assert_eq!(eve.game(&local).await["listed"], false, "anybody with the link may watch");

        let list = async |who: &crate::test_server::Visitor, id: &str, listed: bool| {
            who.act(id, "listing", json!({ "listed": listed })).await
        };
        list(&ada, &local, true).await.expect(200);
        list(&ada, &shown, false).await.expect(200);
        assert_eq!(ids(&eve).await, [local.clone(), watched.clone()]);
        list(&eve, &computer, true).await.error(403);
        assert_eq!(list(&ada, &invited, true).await.error(409), "The other player would have to agree");
        assert_eq!(ids(&eve).await, [local.clone(), watched]);

        // A game created as listed can be unlisted by either player, and a rematch stays unlisted.
        let open = ada.create_with(json!({ "seats": online(), "listed": true, "first": 0 })).await;
        bob.act(&open, "join", json!({})).await.expect(200);
        assert!(ids(&eve).await.contains(&open));
        list(&bob, &open, false).await.expect(200);
        assert!(!ids(&eve).await.contains(&open));
        bob.act(&open, "resign", json!({})).await.expect(200);
        ada.act(&open, "rematch", json!({})).await.expect(200);
        let next = bob.act(&open, "rematch", json!({})).await.expect(200);
        let next = next["id"].as_str().unwrap();
        assert_eq!(ada.game(next).await["listed"], false);

        let server = server.restart().await;
        let eve = eve.at(&server);
        assert!(ids(&eve).await.contains(&local));
        assert_eq!(eve.game(&open).await["listed"], false);
    }

    async fn a_person_may_have_no_name(server: TestServer) {
        let ada = server.visitor();
        let id = ada.create(local()).await;
        let game = ada.act(&id, "resign", json!({})).await.expect(200);
        assert_eq!((&game["players"][0]["name"], &game["players"][1]["name"]), (&json!(""), &json!("")));
        let pgn = ada.get(&format!("/api/games/{id}/record?format=pgn")).await;
        assert!(pgn.text.contains("\"Guest\""), "{}", pgn.text);
    }

    async fn a_game_of_two_people_stays_until_both_have_deleted_it(server: TestServer) {
        let (ada, bob) = (server.visitor(), server.visitor());
        let id = ada.create(online()).await;
        bob.act(&id, "join", json!({})).await.expect(200);
        assert_eq!(ada.delete(&format!("/api/games/{id}")).await.status, 409);
        bob.act(&id, "resign", json!({})).await.expect(200);
        assert_eq!(ada.delete(&format!("/api/games/{id}")).await.status, 204);
        assert_eq!(ada.get("/api/games?mine=true").await.expect(200)["games"], json!([]));
        let list = bob.get("/api/games?mine=true").await.expect(200);
        assert_eq!(list["games"][0]["players"][0]["name"], "", "her name is removed");
        assert_eq!(bob.delete(&format!("/api/games/{id}")).await.status, 204);
        assert_eq!(bob.get(&format!("/api/games/{id}")).await.status, 404);
    }

    async fn a_flag_falls_without_a_request(server: TestServer) {
        let ada = server.visitor();
        let clock = json!({ "initial_ms": 1000, "increment_ms": 0 });
        let id = ada.create_with(json!({ "seats": local(), "first": 1, "clock": clock })).await;
        tokio::time::sleep(Duration::from_millis(1600)).await;
        let list = ada.get("/api/games?mine=true&status=finished").await.expect(200);
        assert_eq!(list["games"][0]["result"], json!({ "winner": 0, "reason": "time" }));
        let game = ada.game(&id).await;
        assert_eq!(game["clock"]["remaining_ms"], json!([1000, 0]));
        assert_eq!(ada.play(&id, 1, 0).await.error(409), "The game is over");
    }

    async fn clocks_add_the_increment_and_agents_observe_them(server: TestServer) {
        let ada = server.visitor();
        let clock = json!({ "initial_ms": 2000, "increment_ms": 1000 });
        let game = json!({ "seats": against("timed:ms=10000"), "first": 0, "clock": clock });
        let id = ada.create_with(game).await;
        let game = ada.play(&id, 4, 0).await.expect(200);
        let left = game["clock"]["remaining_ms"][0].as_u64().unwrap();
        assert!((2500..=3000).contains(&left), "{left}");
        let game = ada.wait(&id, |game| game["ply"] == 2).await;
        let left = game["clock"]["remaining_ms"][1].as_u64().unwrap();
        assert!((1500..=3000).contains(&left), "an agent set to ten seconds left {left} ms of two");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_game_can_start_with_moves_that_cannot_be_taken_back() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    let game = json!({ "seats": local(), "first": 1, "moves": "4453" });
    let id = ada.create_with(game).await;
    let game = ada.game(&id).await;
    assert_eq!(
        (&game["ply"], &game["opening"], &game["to_move"]),
        (&json!(4), &json!(4), &json!(1))
    );
    assert_eq!(game["moves"][3], json!({ "column": 3, "row": 1, "player": 0, "ms": 0 }));
    assert_eq!(ada.act(&id, "undo", json!({})).await.status, 409);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_game_with_ruleset_lines_has_scores_and_lasts_until_the_board_is_full() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    let setup = json!({ "cols": 3, "rows": 3, "connect": 3, "ruleset": "lines" });
    let id = ada.create_with(json!({ "setup": setup, "seats": local(), "first": 0 })).await;
    for (ply, column) in (0..).zip([1, 2, 1, 2, 1, 2, 3, 3, 3]) {
        ada.play(&id, column, ply).await.expect(200);
        if ply == 5 {
            let game = ada.game(&id).await;
            assert_eq!((&game["scores"], &game["status"]), (&json!([1, 1]), &json!("playing")));
        }
    }
    let game = ada.game(&id).await;
    assert_eq!(game["result"], json!({ "winner": null, "reason": "board-full" }));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hint_is_exact_if_the_position_can_be_solved() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    let hint = ada.post("/api/hint", json!({ "moves": "4455" })).await.expect(200);
    assert!([3, 6].map(Value::from).contains(&hint["column"]), "{hint}");
    assert_eq!((&hint["value"]["text"], &hint["exact"]), (&json!("wins in 2"), &json!(true)));
    assert_eq!(hint["columns"].as_array().unwrap().len(), 7);

    let setup = json!({ "cols": 11, "rows": 9, "connect": 5, "ruleset": "lines" });
    let hint = ada.post("/api/hint", json!({ "setup": setup })).await.expect(200);
    assert_eq!(hint["exact"], false);
    let over = ada.post("/api/hint", json!({ "moves": "1212121" })).await;
    assert_eq!(over.error(400), "The game is already over after '1212121'");
}

#[tokio::test(flavor = "multi_thread")]
async fn redo_does_not_continue_a_game_that_was_resigned() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    for (seats, moves) in [(against("random"), 2), (local(), 1)] {
        let id = ada.create(seats).await;
        ada.play(&id, 4, 0).await.expect(200);
        ada.wait(&id, |game| game["ply"] == moves).await;
        ada.act(&id, "undo", json!({})).await.expect(200);
        ada.act(&id, "resign", json!({})).await.expect(200);
        assert_eq!(ada.act(&id, "redo", json!({})).await.error(409), "The game is over");
        assert_eq!(ada.game(&id).await["result"]["reason"], "resigned");
        ada.act(&id, "rematch", json!({})).await.expect(200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn takebacks_and_redos_gain_no_time() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    let clock = json!({ "initial_ms": 60_000, "increment_ms": 5_000 });
    let begin = Instant::now();
    let id = ada.create_with(json!({ "seats": local(), "clock": clock, "first": 0 })).await;
    ada.play(&id, 4, 0).await.expect(200);
    let require_left = |game: &Value, most: u64| {
        let left = game["clock"]["remaining_ms"][0].as_u64().unwrap();
        let least = most.saturating_sub(begin.elapsed().as_millis() as u64);
        assert!((least..=most).contains(&left), "{least} <= {left} <= {most}: {game:#}");
    };
    require_left(&ada.game(&id).await, 65_000);
    for seconds_spent in 0..3 {
        let game = ada.act(&id, "undo", json!({})).await.expect(200);
        require_left(&game, 60_000 - 1_000 * seconds_spent);
        // The person to move thinks.
        tokio::time::sleep(Duration::from_secs(1)).await;
        ada.act(&id, "redo", json!({})).await.expect(200);
    }
    require_left(&ada.game(&id).await, 62_000);
    ada.play(&id, 4, 1).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_only_created_a_game_cannot_seat_others_in_a_rematch() {
    let server = TestServer::sqlite(Config::default()).await;
    let [owner, guest] = [server.visitor(), server.visitor()];
    let seats = json!([{ "kind": "open" }, { "kind": "agent", "agent": "random" }]);
    let id = owner.create(seats).await;
    guest.act(&id, "join", json!({ "name": "Xenia" })).await.expect(200);
    guest.act(&id, "resign", json!({})).await.expect(200);
    owner.act(&id, "rematch", json!({})).await.error(403);
    let next = guest.act(&id, "rematch", json!({})).await.expect(200);
    assert_eq!(guest.game(next["id"].as_str().unwrap()).await["status"], "playing");
    // Games between agents have only an owner.
    let agents =
        json!([{ "kind": "agent", "agent": "random" }, { "kind": "agent", "agent": "random" }]);
    let id = owner.create(agents).await;
    owner.wait(&id, |game| game["status"] == "finished").await;
    owner.act(&id, "rematch", json!({})).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_seat_that_is_left_before_the_game_starts_is_open_again() {
    let server = TestServer::sqlite(Config::default()).await;
    let [owner, first, second, third] = [(); 4].map(|()| server.visitor());
    let id = owner.create(json!([{ "kind": "open" }, { "kind": "open" }])).await;
    first.act(&id, "join", json!({})).await.expect(200);
    first.delete(&format!("/api/games/{id}")).await.expect(204);
    second.act(&id, "join", json!({})).await.expect(200);
    assert_eq!(second.game(&id).await["status"], "waiting");
    third.act(&id, "join", json!({})).await.expect(200);
    let game = third.game(&id).await;
    let mover = if game["players"][0]["you"] == (game["to_move"] == 0) { &third } else { &second };
    mover.play(&id, 4, 0).await.expect(200);
}

on_both_databases! {
    async fn filters_find_any_letters_and_refuse_control_characters(server: TestServer) {
        let ada = server.visitor();
        let seats = json!([{ "kind": "human", "name": "Österreich" }, { "kind": "human" }]);
        let id = ada.create(seats).await;
        for player in ["%C3%96sterreich", "%C3%96STERREICH", "sterr"] {
            let found = ada.get(&format!("/api/games?mine=true&player={player}")).await.expect(200);
            assert_eq!(found["games"][0]["id"], *id, "{player}");
        }
        for query in ["player=%00", "agent=%00", "before=5-%00", "player=a%00b&mine=true"] {
            ada.get(&format!("/api/games?{query}")).await.error(400);
        }
    }
}
