//! The OpenAPI document compared with the API.

use std::collections::BTreeMap;

use claimeven_server::Config;
use reqwest::Method;
use serde_json::{Value, json};

use crate::test_server::{TestServer, Visitor};

/// Checks the response of a call against its schema in the document.
#[track_caller]
fn check(description: &Value, method: &str, path: &str, status: &str, response: &Value) {
    let responses = &description["paths"][path][method]["responses"];
    let schema = &responses[status]["content"]["application/json"]["schema"];
    assert!(schema.is_object(), "{method} {path} {status} is not described: {responses}");
    let whole = json!({ "allOf": [schema], "components": description["components"] });
    let validator = jsonschema::validator_for(&whole).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(response)
        .map(|error| format!("{}: {error}", error.instance_path))
        .collect();
    assert!(errors.is_empty(), "{method} {path} {status}: {errors:?} in {response:#}");
}

async fn description(visitor: &Visitor) -> Value {
    visitor.get("/api/openapi.json").await.expect(200)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_documented_call_exists_and_no_other() {
    // All calls together exceed the limits of one address.
    let server = TestServer::sqlite(Config { requests_per_second: 0, ..Config::default() }).await;
    let ada = server.visitor();
    let description = description(&ada).await;
    let paths = description["paths"].as_object().unwrap();
    assert!(paths.len() >= 15, "{:?}", paths.keys());
    for (path, calls) in paths {
        let real = path.replace("{id}", "nothing");
        for method in [Method::GET, Method::POST, Method::PUT, Method::DELETE, Method::PATCH] {
            let described = calls.get(method.as_str().to_lowercase()).is_some();
            let reply = ada.send(method.clone(), &real, &[], None).await;
            let exists = reply.status != 405;
            assert_eq!(exists, described, "{method} {path}: {reply:?}");
            assert!(reply.status.as_u16() < 500, "{method} {path}: {reply:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn responses_match_their_description() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    let description = description(&ada).await;
    let check = |method, path, status, response: &Value| {
        check(&description, method, path, status, response);
    };

    check("get", "/api/agents", "200", &ada.get("/api/agents").await.expect(200));
    let new = json!({
        "seats": [{ "kind": "human", "name": "Ada" }, { "kind": "agent", "agent": "level:2" }],
        "first": 0, "clock": { "initial_ms": 60_000, "increment_ms": 0 },
    });
    let game = ada.post("/api/games", new).await.expect(201);
    check("post", "/api/games", "201", &game);
    let id = game["id"].as_str().unwrap();
    let played = ada.play(id, 4, 0).await.expect(200);
    check("post", "/api/games/{id}/moves", "200", &played);
    let game = ada.wait(id, |game| game["ply"] == 2).await;
    check("get", "/api/games/{id}", "200", &game);
    check("post", "/api/games/{id}/moves", "409", &ada.play(id, 4, 0).await.expect(409));
    check("post", "/api/games/{id}/moves", "400", &ada.play(id, 9, 2).await.expect(400));
    let done = ada.act(id, "resign", json!({})).await.expect(200);
    check("post", "/api/games/{id}/resign", "200", &done);
    check("get", "/api/games", "200", &ada.get("/api/games").await.expect(200));
    let next = ada.act(id, "rematch", json!({})).await.expect(200);
    check("post", "/api/games/{id}/rematch", "200", &next);
    check(
        "post",
        "/api/hint",
        "200",
        &ada.post("/api/hint", json!({ "moves": "44" })).await.expect(200),
    );
    check(
        "get",
        "/api/games/{id}/review",
        "200",
        &ada.get(&format!("/api/games/{id}/review")).await.expect(200),
    );
    let position = json!({ "moves": "4453" });
    let body = json!({ "position": position });
    check("post", "/api/analysis", "200", &ada.post("/api/analysis", body).await.expect(200));
    let body = json!({ "position": position, "agent": "mcts:sims=100" });
    let opinion = ada.post("/api/analysis/opinion", body).await.expect(200);
    check("post", "/api/analysis/opinion", "200", &opinion);
    let body = json!({ "position": { "moves": "44553" }, "column": 7 });
    check("post", "/api/explain", "200", &ada.post("/api/explain", body).await.expect(200));
    let read = ada.post("/api/positions", json!({ "text": "4453" })).await.expect(200);
    check("post", "/api/positions", "200", &read);
    let attempt = json!({ "moves": "4", "solved": true });
    let unknown = ada.post("/api/puzzles/attempts", attempt).await.expect(404);
    check("post", "/api/puzzles/attempts", "404", &unknown);
    for path in ["/api/puzzles", "/api/statistics", "/api/explorer"] {
        check("get", path, "200", &ada.get(path).await.expect(200));
    }
    for agent in ["alphabeta:depth=2", "mcts:sims=20"] {
        let tree = ada.post("/api/lab/tree", json!({ "moves": "44", "agent": agent })).await;
        check("post", "/api/lab/tree", "200", &tree.expect(200));
    }
    let search = ada.post("/api/lab/search", json!({ "agent": "mtdf:depth=2" })).await.expect(200);
    check("post", "/api/lab/search", "200", &search);
    let cup = json!({ "players": [{ "agent": "random" }, { "agent": "level:1" }], "games": 2 });
    let cup = ada.post("/api/arena", cup).await.expect(201);
    check("post", "/api/arena", "201", &cup);
    let path = format!("/api/arena/{}", cup["id"].as_str().unwrap());
    check("get", "/api/arena/{id}", "200", &ada.get(&path).await.expect(200));
    let games = ada.get(&format!("{path}/games")).await.expect(200);
    check("get", "/api/arena/{id}/games", "200", &games);
    check("get", "/api/arena", "200", &ada.get("/api/arena").await.expect(200));
    check("get", "/api/training", "200", &ada.get("/api/training").await.expect(200));
    check("get", "/api/games/{id}", "404", &ada.get("/api/games/nothing").await.expect(404));
}

/// Generated clients use the ids as function names.
#[test]
fn every_operation_has_a_unique_id() {
    let document: Value = serde_json::from_str(&claimeven_server::openapi_json().unwrap()).unwrap();
    let paths = document["paths"].as_object().unwrap().iter();
    let calls = paths.flat_map(|(path, calls)| {
        calls.as_object().unwrap().iter().map(move |(method, call)| (path, method, call))
    });
    let mut seen = BTreeMap::new();
    for (path, method, call) in calls {
        let id = call["operationId"].as_str().unwrap();
        let other = seen.insert(id, (path, method));
        assert_eq!(other, None, "{method} {path} is also {id}");
    }
    assert!(seen.len() >= 40, "{seen:?}");
}

/// The page's types are generated from this file. `UPDATE_OPENAPI=1` rewrites it.
#[test]
fn the_committed_document_is_current() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi.json");
    let current = claimeven_server::openapi_json().unwrap();
    if std::env::var_os("UPDATE_OPENAPI").is_some() {
        std::fs::write(&file, &current).unwrap();
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(committed == current, "run this test with UPDATE_OPENAPI=1 and commit openapi.json");
}
