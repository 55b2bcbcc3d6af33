//! The lab, the arena and training.

use std::time::{Duration, Instant};

use claimeven_arena::GameRecord;
use claimeven_server::Config;
use reqwest::Method;
use serde_json::{Value, json};

use crate::test_server::{TestServer, Visitor, on_both_databases};

async fn tree(ada: &Visitor, body: Value) -> Value {
    ada.post("/api/lab/tree", body).await.expect(200)
}

/// Polls until a condition holds.
#[track_caller]
fn wait(
    ada: &Visitor,
    path: &str,
    condition: impl Fn(&Value) -> bool,
) -> impl Future<Output = Value> {
    let (path, caller) = (path.to_owned(), std::panic::Location::caller());
    async move {
        let started = Instant::now();
        loop {
            let view = ada.get(&path).await.expect(200);
            if condition(&view) {
                return view;
            }
            assert!(started.elapsed() < Duration::from_mins(10), "{caller}: still {view:#}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn search_trees_have_windows_cutoffs_and_simulations() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    let minimax = tree(&ada, json!({ "moves": "4455", "agent": "minimax:depth=3" })).await;
    assert_eq!(minimax["nodes"].as_array().unwrap().len() as u64, minimax["nodes_searched"]);
    assert_eq!((&minimax["value"]["text"], &minimax["hidden"]), (&json!("wins in 2"), &json!(0)));

    let alphabeta = tree(&ada, json!({ "moves": "4455", "agent": "alphabeta:depth=3" })).await;
    assert_eq!(alphabeta["column"], minimax["column"]);
    let nodes = alphabeta["nodes"].as_array().unwrap();
    assert!(nodes.len() < minimax["nodes"].as_array().unwrap().len());
    let cuts: Vec<&Value> = nodes.iter().filter(|node| node["cut"].is_object()).collect();
    assert_eq!(cuts.len() as u64, alphabeta["cutoffs"]);
    assert!(!cuts[0]["cut"]["columns"].as_array().unwrap().is_empty());
    assert!(nodes[0]["parent"].is_null() && nodes[0]["chosen"] == true);

    let mcts = tree(&ada, json!({ "agent": "mcts:sims=300" })).await;
    assert_eq!(mcts["playouts"].as_array().unwrap().len(), 300);
    assert_eq!(mcts["nodes"][0]["visits"], 300);

    let large = tree(&ada, json!({ "agent": "minimax:depth=6" })).await;
    let shown = large["nodes"].as_array().unwrap().len() as u64;
    assert_eq!(shown, 5000);
    assert_eq!(large["nodes_searched"], shown + large["hidden"].as_u64().unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lab_names_the_bad_value_it_rejects() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    for (body, error) in [
        (json!({ "agent": "random" }), "random has no search tree"),
        (json!({ "agent": "minimax", "moves": "48" }), "'8'"),
        (
            json!({ "agent": "minimax", "moves": "1212121" }),
            "The game is already over after '1212121'",
        ),
        (json!({ "agent": "minimax", "nodes": 6000 }), "nodes must be 1 to 5000, not 6000"),
        (json!({ "agent": "minimax:depth=999" }), "999"),
        (json!({ "agent": "zero:model=nothing" }), "zero: 'model' cannot be set on this server"),
        (json!({ "agent": "minimax", "setup": { "cols": 99 } }), "99"),
    ] {
        let message = ada.post("/api/lab/tree", body.clone()).await.error(400);
        assert!(message.contains(error), "{body}: {message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lab_search_ends_at_its_time_limit_and_the_queue_is_limited() {
    let server = TestServer::sqlite(Config {
        lab_ms: 300,
        lab_searches: 1,
        queue_others: 2,
        ..Config::default()
    })
    .await;
    let ada = server.visitor();
    let search = json!({ "agent": "minimax:depth=30" });
    let started = Instant::now();
    let stopped = ada.post("/api/lab/search", search.clone()).await.expect(200);
    assert_eq!(stopped["stopped"], true);
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());

    // One searches, one waits, which is the visitor's half of the queue, and the third is refused.
    let searches = (0..3).map(|_| ada.post("/api/lab/search", search.clone()));
    let replies = futures_util::future::join_all(searches).await;
    let busy = replies.iter().filter(|reply| reply.status == 503).count();
    assert!(busy >= 1, "{replies:?}");
    let quick = json!({ "agent": "alphabeta:depth=4", "moves": "44" });
    let found = ada.post("/api/lab/search", quick).await.expect(200);
    assert!(found["nodes_searched"].as_u64().unwrap() > 0 && found["stopped"] == false);
}

#[tokio::test(flavor = "multi_thread")]
async fn games_continue_while_the_lab_searches() {
    let server = TestServer::sqlite(Config { lab_ms: 4_000, ..Config::default() }).await;
    let (ada, bob) = (server.visitor(), server.visitor());
    let long = ada.post("/api/lab/search", json!({ "agent": "minimax:depth=30" }));
    let game = async {
        let seats = json!([{ "kind": "human" }, { "kind": "agent", "agent": "alphabeta:depth=2" }]);
        let id = bob.create(seats).await;
        bob.play(&id, 4, 0).await.expect(200);
        let started = Instant::now();
        bob.wait(&id, |game| game["ply"] == 2).await;
        started.elapsed()
    };
    let (searched, waited) = tokio::join!(long, game);
    assert_eq!(searched.expect(200)["stopped"], true);
    assert!(waited < Duration::from_secs(3), "{waited:?}");
}

fn cup(games: u64) -> Value {
    json!({
        "title": "Cup",
        "players": [
            { "agent": "random" }, { "agent": "alphabeta:depth=1", "name": "One" }, { "agent": "alphabeta:depth=2", "name": "Two" },
        ],
        "games": games, "seed": 7, "openings": "random:4",
        "setup": { "cols": 5, "rows": 4 },
    })
}

on_both_databases! {
    async fn a_tournament_is_played_watched_and_downloaded(server: TestServer) {
        let ada = server.visitor();
        let made = ada.post("/api/arena", cup(6)).await.expect(201);
        let id = made["id"].as_str().unwrap();
        assert_eq!((&made["total"], &made["mine"], &made["title"]), (&json!(18), &json!(true), &json!("Cup")));
        let done = wait(&ada, &format!("/api/arena/{id}"), |view| view["state"] == "done").await;
        assert_eq!((&done["done"], &done["report"]["games"]), (&json!(18), &json!(18)));
        assert_eq!(done["report"]["players"].as_array().unwrap().len(), 3);
        assert_eq!(done["report"]["players"][2]["name"], "random", "the weakest is last");

        let games = ada.get(&format!("/api/arena/{id}/games?limit=5")).await.expect(200);
        let numbers: Vec<u64> = games.as_array().unwrap().iter().map(|game| game["number"].as_u64().unwrap()).collect();
        assert_eq!(numbers, [18, 17, 16, 15, 14]);
        let next = ada.get(&format!("/api/arena/{id}/games?limit=5&before=14")).await.expect(200);
        assert_eq!(next[0]["number"], 13);

        let csv = ada.get(&format!("/api/arena/{id}/download?format=csv")).await;
        assert_eq!(csv.text.lines().count(), 4, "{}", csv.text);
        assert!(csv.headers["content-disposition"].to_str().unwrap().contains(id));
        let records = ada.get(&format!("/api/arena/{id}/download?format=games")).await;
        for line in records.text.lines() {
            let record: GameRecord = serde_json::from_str(line).unwrap();
            record.replay().expect("the record should follow the rules");
        }
        assert_eq!(records.text.lines().count(), 18);
        assert!(ada.get(&format!("/api/arena/{id}/download?format=xml")).await.error(400).contains("'xml'"));

        let bob = server.visitor();
        assert_eq!(bob.get(&format!("/api/arena/{id}")).await.expect(200)["mine"], false);
        assert_eq!(bob.get("/api/arena").await.expect(200), json!([]));
        bob.delete(&format!("/api/arena/{id}")).await.error(403);
        assert_eq!(ada.delete(&format!("/api/arena/{id}")).await.status, 204);
        ada.get(&format!("/api/arena/{id}")).await.error(404);
    }

    async fn a_tournament_can_be_stopped_and_resumes_even_after_a_restart(server: TestServer) {
        let ada = server.visitor();
        let slow = json!({
            "players": [{ "agent": "mcts:sims=3000" }, { "agent": "mcts:sims=3000,seed=2", "name": "Two" }],
            "games": 12, "seed": 3,
        });
        let id = ada.post("/api/arena", slow).await.expect(201)["id"].as_str().unwrap().to_owned();
        let path = format!("/api/arena/{id}");
        let running = wait(&ada, &path, |view| view["boards"][0]["moves"].as_str().is_some_and(|moves| moves.len() > 2)).await;
        assert_eq!(running["state"], "running");
        let stopped = ada.post(&format!("{path}/stop"), json!({})).await.expect(200);
        assert_eq!((&stopped["state"], &stopped["boards"]), (&json!("stopped"), &json!([])));
        ada.post(&format!("{path}/resume"), json!({})).await.expect(200);
        wait(&ada, &path, |view| view["done"].as_u64() >= Some(2)).await;

        let server = server.restart().await;
        let ada = ada.at(&server);
        let after = ada.get(&path).await.expect(200);
        assert!(after["done"].as_u64() >= Some(2), "{after}");
        assert!(["queued", "running", "done"].contains(&after["state"].as_str().unwrap()), "{after}");
        let done = wait(&ada, &path, |view| view["state"] == "done").await;
        assert_eq!(done["report"]["games"], 12);
        let records = ada.get(&format!("{path}/download?format=games")).await;
        let ids: std::collections::HashSet<String> = records.text.lines()
            .map(|line| serde_json::from_str::<GameRecord>(line).unwrap().id).collect();
        assert_eq!(ids.len(), 12, "each game exists once");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tournaments_are_limited_and_bad_ones_rejected() {
    let server =
        TestServer::sqlite(Config { jobs_each: 1, jobs_kept: 2, ..Config::default() }).await;
    let ada = server.visitor();
    for (change, error) in [
        (json!({ "players": [{ "agent": "random" }] }), "at least 2 players, not 1"),
        (
            json!({ "players": [{ "agent": "random" }, { "agent": "random" }] }),
            "two players are named 'random'",
        ),
        (
            json!({ "players": [{ "agent": "random" }, { "agent": "ugi:cmd=ls" }] }),
            "player 'ugi' is not available on this server",
        ),
        (json!({ "games": 100_000 }), "at most 2000 games on this server, not 300000"),
        (json!({ "games": 0 }), "games must be from 1 to"),
        (json!({ "openings": "balanced:30" }), "not 'balanced:30'"),
        (json!({ "openings": "/etc/passwd" }), "not '/etc/passwd'"),
        (json!({ "format": "cup" }), "not 'cup'"),
        (json!({ "title": "x".repeat(61) }), "at most 60 printable characters"),
        (json!({ "setup": { "cols": 0 } }), "0"),
    ] {
        let mut plan = cup(2);
        for (key, value) in change.as_object().unwrap() {
            plan[key] = value.clone();
        }
        let message = ada.post("/api/arena", plan).await.error(400);
        assert!(message.contains(error), "{change}: {message}");
    }
    let mut long = cup(600);
    long["players"] = json!([{ "agent": "mcts:sims=100000" }, { "agent": "random" }]);
    let id = ada.post("/api/arena", long).await.expect(201)["id"].as_str().unwrap().to_owned();
    assert!(ada.post("/api/arena", cup(1)).await.error(409).contains("stop one first"));
    let bob = server.visitor();
    bob.post(&format!("/api/arena/{id}/stop"), json!({})).await.error(403);
    ada.post(&format!("/api/arena/{id}/stop"), json!({})).await.expect(200);
    let second =
        ada.post("/api/arena", cup(1)).await.expect(201)["id"].as_str().unwrap().to_owned();
    wait(&ada, &format!("/api/arena/{second}"), |view| view["state"] == "done").await;
    assert!(ada.post("/api/arena", cup(1)).await.error(409).contains("delete one first"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_training_run_can_be_stopped_resumed_and_played_against() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    let info = ada.get("/api/training").await.expect(200);
    assert_eq!((&info["allowed"], &info["runs"]), (&json!(true), &json!([])));
    let small = json!({ "cols": 4, "rows": 4, "connect": 4, "ruleset": "standard" });
    let plan = json!({ "title": "First", "preset": "quick", "minutes": 60, "setup": small });
    let id = ada.post("/api/training", plan.clone()).await.expect(201)["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = format!("/api/training/{id}");
    assert!(ada.post("/api/training", plan).await.error(409).contains("wait for 'First' to end"));
    let run = wait(&ada, &path, |run| run["history"].as_array().unwrap().len() >= 2).await;
    assert!(run["history"][0]["policy_loss"].as_f64().unwrap() > 0.0);
    assert!(run["history"][1]["exam"]["policy_error"].is_number());
    assert!(run["history"][1]["gate"]["wins"].is_number());
    let games = ada.get(&format!("{path}/games")).await.expect(200);
    assert!(
        games[0]["moves"].as_str().unwrap().len() > games[0]["opening"].as_u64().unwrap() as usize
    );

    let bob = server.visitor();
    bob.post(&format!("{path}/stop"), json!({})).await.error(403);
    let stopped = ada.post(&format!("{path}/stop"), json!({})).await.expect(200);
    assert_eq!(stopped["state"], "stopped");
    let before = stopped["iterations"].as_u64().unwrap();

    let agent = format!("zero:model={id}@1,sims=8");
    let seats = json!([{ "kind": "human" }, { "kind": "agent", "agent": agent }]);
    let game = ada.create_with(json!({ "seats": seats, "first": 1, "setup": small })).await;
    let game = ada.wait(&game, |game| game["ply"] == 1).await;
    assert!(!game.to_string().contains("sqlite"), "no path is revealed: {game}");
    let seats =
        json!([{ "kind": "human" }, { "kind": "agent", "agent": format!("zero:model={id}@9999") }]);
    let unknown =
        ada.post("/api/games", json!({ "seats": seats, "setup": small })).await.error(400);
    assert!(unknown.contains("9999"), "{unknown}");
    let tree = json!({ "agent": format!("zero:model={id}@9999"), "setup": small });
    let in_lab = ada.post("/api/lab/tree", tree).await.error(400);
    for text in [unknown, in_lab] {
        assert!(!text.contains("sqlite") && !text.contains('/'), "no path is revealed: {text}");
    }
    let cup = json!({ "players": [{ "agent": agent }, { "agent": "random" }], "games": 2, "setup": small });
    let cup = ada.post("/api/arena", cup).await.expect(201)["id"].as_str().unwrap().to_owned();
    wait(&ada, &format!("/api/arena/{cup}"), |view| view["state"] == "done").await;

    let server = server.restart().await;
    let ada = ada.at(&server);
    ada.post(&format!("{path}/resume"), json!({ "minutes": -1 })).await.error(400);
    ada.post(&format!("{path}/resume"), json!({ "minutes": 50 })).await.expect(200);
    wait(&ada, &path, |run| run["iterations"].as_u64() > Some(before)).await;
    assert_eq!(ada.delete(&path).await.status, 204);
    ada.get(&path).await.error(404);
}

#[tokio::test(flavor = "multi_thread")]
async fn training_can_be_disabled() {
    let server =
        TestServer::sqlite(Config { training: "nobody".to_owned(), ..Config::default() }).await;
    let ada = server.visitor();
    assert_eq!(ada.get("/api/training").await.expect(200)["allowed"], false);
    let plan = json!({ "preset": "quick", "minutes": 1 });
    ada.post("/api/training", plan).await.error(403);
    for (plan, error) in [
        (json!({ "preset": "best", "minutes": 1 }), "unknown preset 'best'"),
        (json!({ "preset": "quick", "minutes": 0 }), "not 0"),
        (json!({ "preset": "quick", "minutes": 1e9 }), "1000000000"),
    ] {
        let message = ada.post("/api/training", plan).await.error(400);
        assert!(message.contains(error), "{message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn training_through_a_proxy_on_the_same_machine_is_not_local() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    assert_eq!(ada.get("/api/training").await.expect(200)["allowed"], true);
    let plan = json!({ "preset": "quick", "minutes": 1 }).to_string().into_bytes();
    for forwarded in ["x-forwarded-for", "x-real-ip", "via"] {
        let headers = [("content-type", "application/json"), (forwarded, "203.0.113.9")];
        let reply = ada.send(Method::POST, "/api/training", &headers, Some(plan.clone())).await;
        assert!(reply.error(403).contains("from the machine of the server"));
    }
}

/// With balanced openings on a board whose positions take long to solve.
#[tokio::test(flavor = "multi_thread")]
async fn a_tournament_that_chooses_its_openings_can_be_stopped_and_deleted() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    let cup = json!({
        "players": [{ "agent": "random" }, { "agent": "level:1" }], "games": 2000,
        "setup": { "cols": 6, "rows": 7 }, "openings": "balanced:2",
    });
    let slow = ada.post("/api/arena", cup).await.expect(201);
    let path = format!("/api/arena/{}", slow["id"].as_str().unwrap());
    wait(&ada, &path, |view| view["state"] == "running").await;
    let started = Instant::now();
    let stopped = ada.post(&format!("{path}/stop"), json!({})).await.expect(200);
    assert_eq!(stopped["state"], "stopped", "{stopped:#}");
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    let deleted = ada.send(reqwest::Method::DELETE, &path, &[], None).await;
    assert_eq!(deleted.status, 204);

    // The next one gets its turn, and its openings are chosen once.
    let cup = json!({
        "players": [{ "agent": "random" }, { "agent": "level:1" }], "games": 6,
        "openings": "balanced:4",
    });
    let next = ada.post("/api/arena", cup).await.expect(201);
    let path = format!("/api/arena/{}", next["id"].as_str().unwrap());
    let done = wait(&ada, &path, |view| view["state"] == "done").await;
    assert_eq!(done["plan"]["openings"], "balanced:4", "{done:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tournaments_that_choose_their_openings_do_not_hold_up_others() {
    let server = TestServer::sqlite(Config::default()).await;
    // Each of these takes minutes to choose its openings.
    let slow = json!({
        "players": [{ "agent": "random" }, { "agent": "level:1" }], "games": 2000,
        "setup": { "cols": 6, "rows": 7 }, "openings": "balanced:2",
    });
    let mut greedy = Vec::new();
    for _ in 0..3 {
        let visitor = server.visitor_from("127.0.0.2");
        let made = visitor.post("/api/arena", slow.clone()).await.expect(201);
        let path = format!("/api/arena/{}", made["id"].as_str().unwrap());
        wait(&visitor, &path, |view| view["state"] == "running").await;
        greedy.push((visitor, path));
    }
    let ada = server.visitor();
    let quick = json!({
        "players": [{ "agent": "random" }, { "agent": "level:1" }], "games": 20,
        "openings": "balanced:4",
    });
    for number in 1..=2 {
        let made = ada.post("/api/arena", quick.clone()).await.expect(201);
        let path = format!("/api/arena/{}", made["id"].as_str().unwrap());
        let done = wait(&ada, &path, |view| view["state"] == "done").await;
        assert_eq!(done["report"]["games"], 20, "tournament {number}");
    }
    for (visitor, path) in greedy {
        let choosing = visitor.get(&path).await.expect(200);
        assert_eq!((&choosing["state"], &choosing["done"]), (&json!("running"), &json!(0)));
        let started = Instant::now();
        let stopped = visitor.post(&format!("{path}/stop"), json!({})).await.expect(200);
        assert_eq!(stopped["state"], "stopped", "{stopped:#}");
        assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    }
}
