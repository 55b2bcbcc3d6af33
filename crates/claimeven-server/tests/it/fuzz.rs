//! The server responds to any input without an internal error.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use claimeven_server::Config;
use fastrand::Rng;
use jsonschema::Validator;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config as Cases, TestRunner};
use reqwest::Method;
use serde_json::{Map, Value, json};

use crate::test_server::{Reply, TestServer, Visitor, on_both_databases};

/// Any JSON, including the names and values of the API.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0..12_i64).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        "[1-9a-z]{0,50}".prop_map(Value::from),
        prop::sample::select(vec!["human", "open", "agent", "lines", "level:3", "move", "ping"])
            .prop_map(Value::from),
        agent_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((known_name(), inner), 0..6).prop_map(|pairs| Value::Object(Map::from_iter(pairs))),
        ]
    })
}

fn known_name() -> impl Strategy<Value = String> {
    const NAMES: [&str; 25] = [
        "setup",
        "cols",
        "rows",
        "connect",
        "ruleset",
        "seats",
        "kind",
        "name",
        "agent",
        "first",
        "clock",
        "initial_ms",
        "increment_ms",
        "moves",
        "column",
        "ply",
        "accept",
        "player",
        "type",
        "game",
        "id",
        "position",
        "board",
        "thorough",
        "text",
    ];
    prop_oneof![
        9 => prop::sample::select(NAMES.to_vec()).prop_map(str::to_owned),
        1 => ".{0,8}".prop_map(String::from),
    ]
}

fn agent_text() -> impl Strategy<Value = String> {
    const WORDS: [&str; 16] = [
        "alphabeta",
        "mcts",
        "level",
        "perfect",
        "ugi",
        ":",
        "=",
        ",",
        "depth",
        "eval",
        "4",
        "-1",
        "\"",
        "galli",
        "\\",
        "99999999999999999999",
    ];
    vec(prop::sample::select(WORDS.to_vec()), 0..8).prop_map(|words| words.concat())
}

/// A request for a new game, any part of which may be wrong.
fn nearly_valid_game() -> impl Strategy<Value = Value> {
    let small = || prop_oneof![3 => (0..12_u64).prop_map(Value::from), 1 => any_json()];
    let seat = || {
        prop_oneof![
            Just(json!({ "kind": "human" })),
            Just(json!({ "kind": "open" })),
            agent_text().prop_map(|agent| json!({ "kind": "agent", "agent": agent })),
            any_json(),
        ]
    };
    (small(), small(), small(), seat(), seat(), "[1-9a-z]{0,30}", small()).prop_map(
        |(cols, rows, connect, one, other, moves, first)| {
            json!({
                "setup": { "cols": cols, "rows": rows, "connect": connect }, "seats": [one, other],
                "moves": moves, "first": first,
            })
        },
    )
}

/// Runs a property over values, each of which is sent to a server.
fn for_all<T: std::fmt::Debug>(
    cases: u32,
    strategy: impl Strategy<Value = T>,
    check: &impl AsyncFn(&Visitor, &str, T) -> Result<(), TestCaseError>,
) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let config = Config {
        requests_per_second: 0,
        games_per_minute: 0,
        think_ms: 50,
        think_others_ms: 50,
        hint_ms: 100,
        ..Config::default()
    };
    let (server, visitor, id) = runtime.block_on(async {
        let server = TestServer::sqlite(config).await;
        let visitor = server.visitor();
        let id = visitor.create(json!([{ "kind": "human" }, { "kind": "human" }])).await;
        (server, visitor, id)
    });
    let mut runner =
        TestRunner::new(Cases { cases, failure_persistence: None, ..Cases::default() });
    let result = runner.run(&strategy, |value| runtime.block_on(check(&visitor, &id, value)));
    drop(server);
    result.unwrap_or_else(|error| panic!("{error}"));
}

/// Checks that a response is not an internal error and that an error has a one-line message.
fn check_reply(reply: &Reply) -> Result<(), TestCaseError> {
    let status = reply.status.as_u16();
    prop_assert!(status < 500 || status == 503, "{reply:?}");
    if (400..500).contains(&status) {
        let error = reply.json()["error"].as_str().map(str::to_owned);
        prop_assert!(
            error.is_some_and(|error| !error.is_empty() && error.lines().count() == 1),
            "{reply:?}"
        );
    }
    Ok(())
}

#[test]
fn any_body_gets_a_response() {
    const ACTIONS: [&str; 14] = [
        "join",
        "moves",
        "undo",
        "redo",
        "resign",
        "draw",
        "rematch",
        "seat",
        "/api/hint",
        "/api/analysis",
        "/api/analysis/opinion",
        "/api/explain",
        "/api/puzzles/attempts",
        "/api/positions",
    ];
    let body = prop_oneof![
        3 => any_json().prop_map(|json| json.to_string().into_bytes()),
        1 => vec(any::<u8>(), 0..64),
    ];
    for_all(
        300,
        (prop::sample::select(ACTIONS.to_vec()), body),
        &async |visitor, id, (action, body)| {
            let json = [("content-type", "application/json")];
            let path = match action {
                whole if whole.starts_with('/') => whole.to_owned(),
                action => format!("/api/games/{id}/{action}"),
            };
            check_reply(&visitor.send(Method::POST, &path, &json, Some(body)).await)
        },
    );
}

#[test]
fn any_game_is_created_or_rejected() {
    for_all(300, nearly_valid_game(), &async |visitor, _, game| {
        check_reply(&visitor.post("/api/games", game).await)
    });
}

#[test]
fn any_path_and_cookie_gets_a_response() {
    let text = || {
        "[ -~]{0,24}".prop_map(|text| text.replace(['#', '?', ' ', '"', '<', '>', '\\', '%'], ""))
    };
    let query = prop_oneof![
        ("(mine|player|agent|winner|ruleset|status|cols|rows|before|limit)", text())
            .prop_map(|(name, value)| format!("/api/games?{name}={value}")),
        ("(mine|moves|cols|rows|connect|ruleset)", text())
            .prop_map(|(name, value)| format!("/api/explorer?{name}={value}")),
        text().prop_map(|path| format!("/api/games/{path}")),
        text().prop_map(|path| format!("/{path}")),
    ];
    for_all(300, (query, text()), &async |visitor, _, (path, cookie)| {
        let cookie = format!("claimeven={cookie}");
        let reply = visitor.send(Method::GET, &path, &[("cookie", &cookie)], None).await;
        prop_assert!(reply.status.as_u16() < 500, "{path}: {reply:?}");
        Ok(())
    });
}

#[test]
fn any_socket_message_gets_a_response_or_closes_the_socket() {
    let text = prop_oneof![
        3 => any_json().prop_map(|json| json.to_string()),
        1 => ".{0,64}".prop_map(String::from),
    ];
    for_all(100, vec(text, 1..4), &async |visitor, id, messages| {
        let mut socket = visitor.follow(id).await;
        for message in messages {
            socket.send_text(message).await;
        }
        socket.send(json!({ "type": "ping" })).await;
        // A message that is too long closes the socket; anything else leaves it open.
        while let Some(message) = socket.receive().await {
            if message["type"] == "pong" {
                break;
            }
        }
        prop_assert!(visitor.get("/readyz").await.status == 200);
        Ok(())
    });
}

/// The calls of the OpenAPI document, and the schemas of their responses.
struct Described {
    document: Value,
    calls: Vec<(String, Method)>,
    /// By path, method and status.
    responses: HashMap<(String, String, String), Option<Validator>>,
}

impl Described {
    fn new(document: Value) -> Described {
        let (mut calls, mut responses) = (Vec::new(), HashMap::new());
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, call) in methods.as_object().unwrap() {
                calls.push((path.clone(), method.to_uppercase().parse().unwrap()));
                for (status, response) in call["responses"].as_object().unwrap() {
                    let schema = &response["content"]["application/json"]["schema"];
                    let validator = schema.is_object().then(|| {
                        let components = &document["components"];
                        let whole = json!({ "allOf": [schema], "components": components });
                        jsonschema::validator_for(&whole).unwrap()
                    });
                    responses
                        .insert((path.clone(), method.to_uppercase(), status.clone()), validator);
                }
            }
        }
        Described { document, calls, responses }
    }

    fn call(&self, path: &str, method: &Method) -> &Value {
        &self.document["paths"][path][method.as_str().to_lowercase()]
    }

    /// A value that a schema describes, any part of which may be wrong.
    fn value(&self, schema: &Value, random: &mut Rng, depth: usize) -> Value {
        if depth > 6 || random.u8(..40) == 0 {
            let wrong = [Value::Null, json!(-1), json!(1e300), json!("\u{202e}x"), json!([[]])];
            return wrong[random.usize(..wrong.len())].clone();
        }
        if let Some(name) = schema["$ref"].as_str() {
            let schema = &self.document["components"]["schemas"][name.rsplit('/').next().unwrap()];
            return self.value(schema, random, depth + 1);
        }
        for choice in ["oneOf", "anyOf", "allOf", "enum"] {
            if let Some(options) = schema[choice].as_array() {
                let option = &options[random.usize(..options.len())];
                return match choice {
                    "enum" => option.clone(),
                    _ => self.value(option, random, depth + 1),
                };
            }
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => kinds[random.usize(..kinds.len())].as_str(),
            kind => kind.as_str(),
        };
        match kind {
            Some("object") => {
                let empty = Map::new();
                let properties = schema["properties"].as_object().unwrap_or(&empty);
                let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
                let mut object = Map::new();
                for (name, schema) in properties {
                    if required.contains(&json!(name)) || random.bool() {
                        object.insert(name.clone(), self.value(schema, random, depth + 1));
                    }
                }
                Value::Object(object)
            }
            Some("array") => {
                let length = if random.u8(..4) > 0 { 2 } else { random.usize(..5) };
                (0..length).map(|_| self.value(&schema["items"], random, depth + 1)).collect()
            }
            Some("boolean") => random.bool().into(),
            Some("integer" | "number") if random.u8(..10) > 0 => random.u8(..12).into(),
            Some("integer" | "number") => random.u64(..).into(),
            Some("string") => {
                let long = "x".repeat(300);
                let texts = [
                    "",
                    "44",
                    "4455661",
                    "human",
                    "open",
                    "agent",
                    "level:1",
                    "random",
                    "lines",
                    "alphabeta:depth=2",
                    "mcts:sims=20",
                    "7x6",
                    "Ada",
                    &long,
                ];
                texts[random.usize(..texts.len())].into()
            }
            _ => Value::Null,
        }
    }

    /// A request of one of the calls.
    fn request(&self, ids: &[String], random: &mut Rng) -> (String, Method, String, Option<Value>) {
        let (path, method) = &self.calls[random.usize(..self.calls.len())];
        let call = self.call(path, method);
        let id = match random.u8(..10) {
            0 => "nothing",
            _ => &ids[random.usize(..ids.len())],
        };
        let mut address = path.replace("{id}", id);
        while let Some((before, rest)) = address.split_once('{') {
            let (_, after) = rest.split_once('}').unwrap();
            address = format!("{before}{}{after}", random.u8(..5));
        }
        let parameters = call["parameters"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut separator = '?';
        for parameter in parameters.iter().filter(|parameter| parameter["in"] == "query") {
            if random.u8(..3) == 0 {
                let value = match self.value(&parameter["schema"], random, 0) {
                    Value::String(text) => text.replace(['\u{202e}', ' '], "%E2"),
                    other => other.to_string().replace(['"', '[', ']', '{', '}'], ""),
                };
                let name = parameter["name"].as_str().unwrap();
                address.push(separator);
                address.extend([name, "=", &value]);
                separator = '&';
            }
        }
        let schema = &call["requestBody"]["content"]["application/json"]["schema"];
        let body = schema.is_object().then(|| self.value(schema, random, 0));
        (path.clone(), method.clone(), address, body)
    }

    /// Compares a response with its description. Those that every call may return need not be described:
    /// bad requests, exceeded limits and a busy server.
    fn check(&self, path: &str, method: &Method, reply: &Reply) -> Result<(), String> {
        let status = reply.status.as_u16();
        if status >= 500 && status != 503 {
            return Err("internal error".to_owned());
        }
        let key = (path.to_owned(), method.to_string(), status.to_string());
        let validator = match self.responses.get(&key) {
            Some(Some(validator)) => validator,
            Some(None) => return Ok(()),
            None if [400, 403, 405, 413, 415, 429, 503].contains(&status) => {
                let error = reply.json()["error"].as_str().map(str::to_owned);
                return error.map(drop).ok_or_else(|| "an error without a message".to_owned());
            }
            None => return Err(format!("{status} is not described")),
        };
        let is_json = reply.headers.get("content-type").is_some_and(|kind| {
            kind.to_str().is_ok_and(|kind| kind.starts_with("application/json"))
        });
        if !is_json {
            return Ok(());
        }
        let response = reply.json();
        let errors: Vec<String> = validator
            .iter_errors(&response)
            .map(|error| format!("{}: {error}", error.instance_path))
            .collect();
        if errors.is_empty() { Ok(()) } else { Err(errors.join("; ")) }
    }
}

on_both_databases! {
    async fn responses_to_random_requests_match_their_description(server: TestServer) {
        let server = server.restart_with(|config| {
            (config.requests_per_second, config.games_per_minute) = (0, 0);
            (config.think_ms, config.think_others_ms) = (50, 50);
            (config.hint_ms, config.lab_ms) = (100, 100);
            (config.jobs_per_address, config.live_games_per_address) = (0, 0);
            config.training = String::from("nobody");
        }).await;
        let ada = server.visitor();
        let described = Described::new(ada.get("/api/openapi.json").await.expect(200));
        let seed = fastrand::u64(..);
        let mut random = Rng::with_seed(seed);
        let seconds = std::env::var("CLAIMEVEN_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
        let (started, time) = (Instant::now(), Duration::from_secs(seconds.unwrap_or(20)));
        let (mut count, mut accepted) = (0, 0);
        let mut ids = vec!["nothing".to_owned()];
        while started.elapsed() < time {
            // There is always a game and a tournament to request, but never many.
            if count % 100 == 0 {
                let seats = json!([{ "kind": "human" }, { "kind": "agent", "agent": "level:1" }]);
                let over = ada.create(seats.clone()).await;
                ada.act(&over, "resign", json!({})).await;
                let players = json!([{ "agent": "random" }, { "agent": "level:1" }]);
                let cup = ada.post("/api/arena", json!({ "players": players, "games": 4 })).await;
                ids = vec![ada.create(seats).await, over];
                ids.extend(cup.json()["id"].as_str().map(str::to_owned));
            }
            let (path, method, address, body) = described.request(&ids, &mut random);
            let text = body.as_ref().map(|body| body.to_string().into_bytes());
            let kind = [("content-type", "application/json")];
            let reply = ada.send(method.clone(), &address, &kind, text).await;
            if let Err(error) = described.check(&path, &method, &reply) {
                panic!("seed {seed}: {method} {address} {body:?}: {error}: {reply:?}");
            }
            count += 1;
            accepted += usize::from(reply.status.is_success());
        }
        println!("{count} requests, {accepted} of them accepted");
        assert!(accepted * 10 > count, "too few requests were accepted: {accepted} of {count}");
    }
}
