//! The study pages: analysis, opinions, reviews, puzzles, statistics.

use std::time::Duration;

use claimeven_server::Config;
use serde_json::{Value, json};

use crate::test_server::{TestServer, Visitor, on_both_databases};

fn local() -> Value {
    json!([{ "kind": "human" }, { "kind": "human" }])
}

/// Plays all moves of a local game.
async fn played(visitor: &Visitor, seats: Value, first: u64, moves: &[u64]) -> String {
    let id = visitor.create_with(json!({ "seats": seats, "first": first })).await;
    for (ply, column) in (0..).zip(moves) {
        visitor.play(&id, *column, ply).await.expect(200);
    }
    id
}

#[tokio::test(flavor = "multi_thread")]
async fn an_analysis_is_exact_from_moves_and_custom_positions() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    let analysis =
        ada.post("/api/analysis", json!({ "position": { "moves": "4455" } })).await.expect(200);
    assert_eq!(analysis["value"]["text"], "wins in 2");
    assert_eq!((&analysis["best"], &analysis["exact"]), (&json!([3, 6]), &json!(true)));
    assert_eq!((&analysis["to_move"], &analysis["book"]), (&json!(0), &json!(true)));
    assert_eq!(analysis["pv"].as_array().unwrap().len(), 3);
    assert_eq!(analysis["columns"][0]["at_most"], analysis["columns"][0]["at_least"]);

    let board = analysis["board"].as_str().unwrap().replace('\n', "/");
    let position = json!({ "board": board, "moves": "3" });
    let after = ada.post("/api/analysis", json!({ "position": position })).await.expect(200);
    assert_eq!((&after["to_move"], &after["value"]["text"]), (&json!(1), &json!("loses in 1")));
    let threats = json!([{ "cell": [2, 1], "open": true, "odd": true }, { "cell": [6, 1], "open": true, "odd": true }]);
    assert_eq!(after["threats"], json!([threats, []]));

    let over = json!({ "position": { "moves": "4455336" } });
    let over = ada.post("/api/analysis", over).await.expect(200);
    assert_eq!(over["outcome"], json!({ "winner": 0 }));
    assert_eq!((&over["legal"], &over["exact"]), (&json!([]), &json!(true)));
    assert_eq!(over["lines"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_verdict_and_a_move_are_explained() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    let won =
        ada.post("/api/explain", json!({ "position": { "moves": "4455" } })).await.expect(200);
    assert_eq!((&won["reason"]["winner"], &won["reason"]["proven"]), (&json!(0), &json!(true)));
    assert_eq!(won["sentences"][0], json!({ "key": "wins_in", "winner": 0, "moves": 2 }));
    assert!(!won["reason"]["marks"].as_array().unwrap().is_empty(), "{won}");

    // A mistake: what it allows, and the better move.
    let body = json!({ "position": { "moves": "44553" }, "column": 7 });
    let mistake = ada.post("/api/explain", body).await.expect(200);
    assert_eq!((&mistake["column"], &mistake["reason"]["winner"]), (&json!(7), &json!(0)));
    let body = json!({ "position": { "moves": "445" }, "column": 4 });
    let mistake = ada.post("/api/explain", body).await.expect(200);
    assert_eq!(mistake["sentences"][0]["key"], "win_to_loss");
    assert!([3, 6].contains(&mistake["better"]["column"].as_u64().unwrap()), "{mistake}");

    // The next position of the game is explained as well.
    let next = json!({ "position": { "moves": "4454" } });
    assert_eq!(ada.post("/api/explain", next).await.expect(200)["reason"]["winner"], 0);

    for (body, named) in [
        (json!({ "position": { "moves": "444444" }, "column": 4 }), "column 4"),
        (json!({ "position": { "moves": "4" }, "column": 8 }), "column 8"),
        (
            json!({ "position": { "moves": "4", "setup": { "cols": 9, "rows": 7 } } }),
            "standard board",
        ),
        (json!({ "position": { "moves": "48" } }), "8"),
    ] {
        let refused = ada.post("/api/explain", body).await.expect(400);
        assert!(refused["error"].as_str().unwrap().contains(named), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_board_too_large_to_solve_gets_proven_bounds_in_time() {
    let server = TestServer::sqlite(Config { hint_ms: 400, ..Config::default() }).await;
    let ada = server.visitor();
    let setup = json!({ "cols": 11, "rows": 9 });
    for thorough in [false, true] {
        let started = std::time::Instant::now();
        let body = json!({ "position": { "setup": setup, "moves": "" }, "thorough": thorough });
        let analysis = ada.post("/api/analysis", body).await.expect(200);
        assert!(started.elapsed() < Duration::from_secs(3));
        assert_eq!((&analysis["exact"], &analysis["value"]), (&json!(false), &Value::Null));
        assert_eq!(analysis["columns"][5]["at_most"], 1);
        // The preferred move is an estimate; that it does not lose within the depth is proven.
        let (column, depth) = (&analysis["estimate"]["column"], &analysis["estimate"]["depth"]);
        let known = &analysis["columns"][column.as_u64().unwrap() as usize - 1];
        assert!(
            known["no_loss_within"].as_u64() >= Some(depth.as_u64().unwrap() / 2),
            "{analysis}"
        );
    }
    let lines = json!({ "setup": { "ruleset": "lines" } });
    let analysis = ada.post("/api/analysis", json!({ "position": lines })).await.expect(200);
    assert_eq!((&analysis["exact"], &analysis["value"]), (&json!(false), &Value::Null));
    assert!(analysis["estimate"]["depth"].as_u64() >= Some(1), "{analysis}");
    let small = json!({ "setup": { "cols": 4, "rows": 3, "connect": 3, "ruleset": "lines" } });
    let body = json!({ "position": small, "thorough": true });
    let analysis = ada.post("/api/analysis", body).await.expect(200);
    assert_eq!((&analysis["exact"], &analysis["value"]["kind"]), (&json!(true), &json!("lines")));
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_have_opinions_with_values_or_shares() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    let opinion_of = async |agent: &str, moves: &str| {
        let body = json!({ "position": { "moves": moves }, "agent": agent });
        ada.post("/api/analysis/opinion", body).await
    };
    let depth = opinion_of("alphabeta:depth=6,every=on", "4455").await.expect(200);
    assert_eq!(depth["value"]["text"], "wins in 2");
    assert_eq!(depth["shares"], json!([]));
    for agent in ["mcts:sims=500", "zero:sims=0", "zero:sims=20"] {
        let opinion = opinion_of(agent, "44").await.expect(200);
        let shares = opinion["shares"].as_array().unwrap();
        let sum: f64 = shares.iter().map(|share| share.as_f64().unwrap()).sum();
        assert!(shares.len() == 7 && (sum - 1.0).abs() < 1e-3, "{agent}: {opinion}");
    }
    assert!(opinion_of("ugi:cmd=ls", "").await.error(400).contains("ugi"));
    assert!(opinion_of("mcts:sims=9000000", "").await.error(400).contains("9000000"));
    assert!(opinion_of("random", "1212121").await.error(400).contains("over"));
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_positions_are_rejected_with_a_one_line_error_that_names_them() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    let empty = [".......", ".......", ".......", ".......", "......."].join("/");
    for (position, part) in [
        (json!({ "moves": "448" }), "'8'"),
        (json!({ "setup": { "cols": 99 } }), "99"),
        (json!({ "board": "X" }), "1 cells"),
        (json!({ "board": format!("{empty}/XX.....") }), "2 X and 0 O"),
        (json!({ "board": format!("{empty}/X......"), "moves": "19" }), "move 2, '9'"),
        (json!({ "moves": "4", "colour": "red" }), "colour"),
    ] {
        let reply = ada.post("/api/analysis", json!({ "position": position })).await;
        let error = reply.error(400);
        assert!(error.contains(part) && error.lines().count() == 1, "{position}: {error}");
    }
    let read = ada.post("/api/positions", json!({ "text": "4, 4, 5, 3" })).await.expect(200);
    assert_eq!((&read["kind"], &read["moves"]), (&json!("moves"), &json!("4453")));
    let link = json!({ "text": "https://connect4.gamesolver.org/?pos=4453" });
    let read = ada.post("/api/positions", link).await.expect(200);
    assert_eq!((&read["kind"], &read["moves"]), (&json!("link"), &json!("4453")));
    let picture = format!("{empty}/.XO....");
    let read = ada.post("/api/positions", json!({ "text": picture })).await.expect(200);
    assert_eq!((&read["kind"], &read["moves"]), (&json!("picture"), &Value::Null));
    assert!(ada.post("/api/positions", json!({ "text": "4x" })).await.error(400).contains("'x'"));
}

on_both_databases! {
    async fn a_finished_game_is_reviewed_and_the_review_is_stored(server: TestServer) {
        let ada = server.visitor();
        // The second player, who is player 0, overlooks three in a row.
        let id = played(&ada, local(), 1, &[4, 5, 4, 5, 4, 5]).await;
        let path = format!("/api/games/{id}/review");
        assert_eq!(ada.get(&path).await.error(409), "The game is not over yet");
        ada.play(&id, 4, 6).await.expect(200);
        let review = ada.get(&path).await.expect(200);
        let moves = review["moves"].as_array().unwrap();
        assert_eq!((moves.len(), &review["complete"], &review["first"]), (7, &json!(true), &json!(1)));
        assert_eq!(moves[5]["player"], 0);
        assert!(["best", "only"].map(Value::from).contains(&moves[6]["judgement"]), "{}", moves[6]);
        assert_eq!(moves[6]["played"]["value"]["text"], "wins in 1");
        assert_eq!((&moves[6]["played"]["at_least"], &moves[6]["estimate"]), (&json!(1), &Value::Null));
        let errors = |player: usize| {
            let count = |name: &str| review["players"][player][name].as_u64().unwrap();
            count("blunders") + count("mistakes")
        };
        let marked = moves.iter().filter(|m| ["mistake", "blunder"].map(Value::from).contains(&m["judgement"]));
        assert_eq!(errors(0) + errors(1), marked.count() as u64);
        assert!(review["players"][1]["accuracy"].is_number(), "the first move could be a mistake");
        // The fourth move decided the game, which ended because four in column 4 was not blocked.
        let turning_point = &review["turning_point"];
        assert_eq!((&turning_point["ply"], &turning_point["theme"]), (&json!(4), &json!("must-block")), "{turning_point}");
        assert_eq!(turning_point["cells"], json!([[4, 4]]));
        assert_eq!(ada.get(&path).await.expect(200), review, "the stored review is the same");

        // A game that continues after its end counts as another game.
        ada.act(&id, "undo", json!({})).await.expect(200);
        ada.play(&id, 7, 6).await.expect(200);
        ada.act(&id, "resign", json!({})).await.expect(200);
        let again = ada.get(&path).await.expect(200);
        assert_eq!(again["moves"][6]["column"], 7);
        assert_eq!(ada.delete(&format!("/api/games/{id}")).await.status, 204);
        ada.get(&path).await.error(404);
    }

    async fn statistics_cover_own_games_and_everyones_games(server: TestServer) {
        let (ada, eve) = (server.visitor(), server.visitor());
        let against = json!([{ "kind": "human", "name": "Ada" }, { "kind": "agent", "agent": "level:1" }]);
        let lost = ada.create(against.clone()).await;
        ada.play(&lost, 4, 0).await.expect(200);
        ada.wait(&lost, |game| game["ply"] == 2).await;
        ada.act(&lost, "resign", json!({})).await.expect(200);
        played(&ada, local(), 0, &[4, 5, 4, 5, 4, 5, 4]).await;

        let mine = ada.get("/api/statistics?mine=true").await.expect(200);
        assert_eq!(mine["games"], 1, "nobody wins a local game");
        assert_eq!((&mine["total"]["lost"], &mine["total"]["score"]), (&json!(1), &json!(0.0)));
        assert_eq!(mine["groups"][0]["rows"][0]["key"], "level:1");
        assert_eq!(mine["progress"][0]["id"], *lost);
        assert_eq!(eve.get("/api/statistics?mine=true").await.expect(200)["games"], 0);
        let all = eve.get("/api/statistics").await.expect(200);
        assert_eq!((&all["games"], &all["total"]["won"]), (&json!(2), &json!(1)));
        assert_eq!(all["progress"], json!([]));

        let explored = eve.get("/api/explorer?moves=").await.expect(200);
        assert_eq!(explored["games"], 2);
        assert_eq!(explored["moves"][0]["column"], 4);
        assert_eq!((&explored["moves"][0]["games"], &explored["moves"][0]["won"]), (&json!(2), &json!(1)));
        assert_eq!(explored["moves"][0]["value"]["text"], "wins in 21");
        let explored = eve.get("/api/explorer?moves=4545454").await.expect(200);
        assert_eq!((&explored["games"], &explored["moves"]), (&json!(1), &json!([])));
        assert_eq!(eve.get("/api/explorer?mine=true").await.expect(200)["games"], 0);
        assert!(eve.get("/api/explorer?moves=48").await.error(400).contains("'8'"));
        assert!(eve.get("/api/explorer?cols=99").await.error(400).contains("99"));
    }

    async fn puzzle_ratings_follow_visitors_attempts(server: TestServer) {
        let ada = server.visitor();
        let puzzle = async || ada.get("/api/puzzles").await.expect(200)["puzzles"][0].clone();
        let before = puzzle().await;
        assert_eq!((&before["tried"], &before["solved"]), (&json!(0), &json!(0)));
        for solved in [true, false, false] {
            let attempt = json!({ "moves": before["moves"], "solved": solved });
            assert_eq!(ada.post("/api/puzzles/attempts", attempt).await.status, 204);
        }
        let after = puzzle().await;
        assert_eq!((&after["tried"], &after["solved"]), (&json!(3), &json!(1)));
        assert!(after["rating"].as_u64() > before["rating"].as_u64(), "{before} {after}");
        let unknown = json!({ "moves": "4", "solved": true });
        ada.post("/api/puzzles/attempts", unknown).await.error(404);
        assert_eq!(puzzle().await, after);
    }

    async fn finished_games_are_reviewed_while_the_engine_is_idle(server: TestServer) {
        let ada = server.visitor();
        let against = json!([{ "kind": "human" }, { "kind": "open" }]);
        let bob = server.visitor();
        let id = ada.create(against).await;
        bob.act(&id, "join", json!({})).await.expect(200);
        for (ply, column) in (0..).zip([4, 5, 4, 5, 4, 5, 4]) {
            let player = if ply % 2 == 0 { &ada } else { &bob };
            player.play(&id, column, ply).await.expect(200);
        }
        let started = std::time::Instant::now();
        loop {
            let mine = ada.get("/api/statistics?mine=true").await.expect(200);
            if mine["total"]["reviewed"] == 1 {
                assert!(mine["total"]["accuracy"].is_number());
                // The mistake that cost the game is the loser's.
                assert_eq!(mine["progress"][0]["theme"], Value::Null);
                let his = bob.get("/api/statistics?mine=true").await.expect(200);
                assert_eq!(his["progress"][0]["theme"], "must-block");
                break;
            }
            // The thread that reviews in advance only runs while the processor is idle.
            assert!(started.elapsed() < Duration::from_mins(5), "{mine:#}");
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    }
}

/// Early moves on a large board cannot be judged: the review counts those that could, and shows the
/// preference of a search for the others.
#[tokio::test(flavor = "multi_thread")]
async fn a_review_of_a_large_board_counts_the_judged_moves() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    let setup = json!({ "cols": 9, "rows": 7, "connect": 5 });
    let id = ada.create_with(json!({ "seats": local(), "first": 0, "setup": setup })).await;
    for (ply, column) in (0..).zip([5, 1, 4, 1, 6, 9, 3, 9, 7]) {
        ada.play(&id, column, ply).await.expect(200);
    }
    let review = ada.get(&format!("/api/games/{id}/review")).await.expect(200);
    assert_eq!(review["complete"], json!(false));
    let moves = review["moves"].as_array().unwrap();
    assert_eq!(moves[0]["judgement"], "unknown");
    assert!(moves[0]["estimate"]["depth"].as_u64() >= Some(3), "{}", moves[0]);
    // The last disc wins; before it, the opponent overlooked an open row.
    assert_eq!(moves[8]["played"]["value"]["text"], "wins in 1");
    assert_ne!(moves[8]["judgement"], "unknown");
    let judged: u64 = [0, 1].map(|p| review["players"][p]["judged"].as_u64().unwrap()).iter().sum();
    assert!(judged > 0 && judged < 9, "{judged}");
}

/// What could not be judged within one request is judged in the next ones.
#[tokio::test(flavor = "multi_thread")]
async fn a_review_that_takes_longer_than_a_request_is_continued() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    // Every line counts, so the game lasts until the board is full, and its first half is hard to solve.
    let setup = json!({ "cols": 7, "rows": 6, "connect": 4, "ruleset": "lines" });
    let id = ada.create_with(json!({ "seats": local(), "first": 0, "setup": setup })).await;
    for ply in 0..42 {
        ada.play(&id, 1 + ply % 7, ply).await.expect(200);
    }
    let server = server.restart_with(|config| config.request_seconds = 6).await;
    let ada = ada.at(&server);
    let mut judged = 0;
    for request in 0..3 {
        let review = ada.get(&format!("/api/games/{id}/review")).await.expect(200);
        assert_eq!(review["complete"], json!(false));
        let now = [0, 1].map(|p| review["players"][p]["judged"].as_u64().unwrap()).iter().sum();
        assert!(now >= judged, "{now} after {judged}");
        judged = now;
        if review["unfinished"] == json!(false) {
            // It was finished in advance, meanwhile.
            assert!(request > 0);
            break;
        }
    }
    assert!((10..42).contains(&judged), "{judged}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_puzzle_of_the_day_is_solved_by_its_move() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    let view = ada.get("/api/puzzles").await.expect(200);
    let puzzles = view["puzzles"].as_array().unwrap();
    assert!(puzzles.len() >= 200);
    assert!(puzzles.iter().all(|puzzle| !puzzle["themes"].as_array().unwrap().is_empty()));
    let daily = &puzzles[view["daily"].as_u64().unwrap() as usize];
    let position = json!({ "position": { "moves": daily["moves"] }, "thorough": true });
    let analysis = ada.post("/api/analysis", position).await.expect(200);
    assert_eq!(analysis["best"], json!([daily["column"]]));
    assert_eq!(analysis["value"]["kind"], daily["goal"]);
}

/// Analyses of one visitor do not delay another's game.
#[tokio::test(flavor = "multi_thread")]
async fn study_does_not_delay_games() {
    let config = Config { requests_per_second: 0, hint_ms: 3000, ..Config::default() };
    let server = TestServer::sqlite(config).await;
    let (ada, eve) = (server.visitor(), server.visitor());
    let large = json!({ "position": { "setup": { "cols": 11, "rows": 9 } }, "thorough": true });
    let study = async {
        let requests = (0..6).map(|_| eve.post("/api/analysis", large.clone()));
        futures_util::future::join_all(requests).await
    };
    let play = async {
        let seats = json!([{ "kind": "human" }, { "kind": "agent", "agent": "alphabeta:depth=4" }]);
        let id = ada.create(seats).await;
        let started = std::time::Instant::now();
        for ply in [0, 2, 4] {
            ada.play(&id, 1 + ply, ply).await.expect(200);
            ada.wait(&id, |game| {
                game["ply"].as_u64() >= Some(ply + 2) || game["status"] == "finished"
            })
            .await;
        }
        started.elapsed()
    };
    let time = tokio::select! {
        took = play => took,
        _ = study => panic!("six long analyses ended before three moves"),
    };
    assert!(time < Duration::from_secs(8), "{time:?}");
}
