//! The server responds to any input, and never with an internal error.

use claimeven_server::Config;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config as Cases, TestRunner};
use reqwest::Method;
use serde_json::{Map, Value, json};

use crate::world::{Visitor, World};

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
        "patient",
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
fn almost_a_game() -> impl Strategy<Value = Value> {
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
    let (world, visitor, id) = runtime.block_on(async {
        let world = World::sqlite(config).await;
        let visitor = world.visitor();
        let id = visitor.create(json!([{ "kind": "human" }, { "kind": "human" }])).await;
        (world, visitor, id)
    });
    let mut runner =
        TestRunner::new(Cases { cases, failure_persistence: None, ..Cases::default() });
    let result = runner.run(&strategy, |value| runtime.block_on(check(&visitor, &id, value)));
    drop(world);
    result.unwrap_or_else(|error| panic!("{error}"));
}

/// Whether a response is not an internal error; a refusal must have a one-line reason.
fn is_sound(reply: &crate::world::Reply) -> Result<(), TestCaseError> {
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
fn any_body_is_answered() {
    const ACTIONS: [&str; 12] = [
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
            is_sound(&visitor.send(Method::POST, &path, &json, Some(body)).await)
        },
    );
}

#[test]
fn any_game_is_created_or_rejected() {
    for_all(300, almost_a_game(), &async |visitor, _, game| {
        is_sound(&visitor.post("/api/games", game).await)
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
fn any_socket_message_is_answered_or_closes_the_socket() {
    let text = prop_oneof![
        3 => any_json().prop_map(|json| json.to_string()),
        1 => ".{0,64}".prop_map(String::from),
    ];
    for_all(100, vec(text, 1..4), &async |visitor, id, messages| {
        let mut socket = visitor.follow(id).await;
        for message in messages {
            socket.say_text(message).await;
        }
        socket.say(json!({ "type": "ping" })).await;
        // A message that is too long closes the socket; anything else leaves it open.
        while let Some(told) = socket.hear().await {
            if told["type"] == "pong" {
                break;
            }
        }
        prop_assert!(visitor.get("/readyz").await.status == 200);
        Ok(())
    });
}
