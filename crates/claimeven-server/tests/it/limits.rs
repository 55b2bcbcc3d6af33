//! Rejected requests, with one-line reasons.

use std::time::Instant;

use claimeven_server::Config;
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::test_server::{Reply, TestServer};

fn game(agent: &str) -> Value {
    json!({ "seats": [{ "kind": "human" }, { "kind": "agent", "agent": agent }], "first": 0 })
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_input_is_rejected_with_a_one_line_error_that_names_it() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    let seats = json!([{ "kind": "human" }, { "kind": "open" }]);
    for (body, part) in [
        (json!({}), "missing field `seats`"),
        (json!({ "seats": [] }), "invalid length 0"),
        (json!({ "seats": [{ "kind": "cat" }, { "kind": "open" }] }), "cat"),
        (json!({ "seats": seats, "first": 2 }), "first must be 0 or 1, not 2"),
        (json!({ "seats": seats, "colour": "red" }), "colour"),
        (json!({ "seats": seats, "setup": { "cols": 99 } }), "1 to 35 columns, not 99"),
        (json!({ "seats": seats, "setup": { "cols": 12, "rows": 12 } }), "12x12"),
        (json!({ "seats": seats, "setup": { "ruleset": "chess" } }), "unknown ruleset 'chess'"),
        (json!({ "seats": seats, "moves": "448" }), "move 3, '8'"),
        (json!({ "seats": seats, "moves": "1212121" }), "The game is already over after '1212121'"),
        (json!({ "seats": seats, "clock": { "initial_ms": 5, "increment_ms": 0 } }), "not 5"),
        (
            json!({ "seats": [{ "kind": "human", "name": "x".repeat(41) }, { "kind": "open" }] }),
            "40",
        ),
        (game("lvl:3"), "unknown player 'lvl'"),
        (game("level:11"), "level '11' of level"),
        (game("alphabeta:depth=900"), "depth '900' of alphabeta"),
        (game("perfect:threads=2"), "perfect: threads must be at most 1 on this server, not 2"),
        (game("mtdf:table=60000"), "mtdf: table must be at most 64 on this server, not 60000"),
        (
            game("mcts:sims=9000000"),
            "mcts: sims must be at most 1000000 on this server, not 9000000",
        ),
        (game("human"), "unknown player 'human'"),
    ] {
        let error = ada.post("/api/games", body.clone()).await.error(400);
        assert!(error.contains(part), "{body}: {error}");
        assert_eq!(error.lines().count(), 1);
    }
    for (query, part) in [
        ("limit=0", "not 0"),
        ("limit=101", "not 101"),
        ("winner=you", "'you'"),
        ("status=lost", "'lost'"),
        ("before=x", "'x'"),
        ("ruleset=x", "'x'"),
        ("colour=red", "colour"),
    ] {
        let error = ada.get(&format!("/api/games?{query}")).await.error(400);
        assert!(error.contains(part), "{query}: {error}");
    }
    for path in ["/api/games/nothing", "/api/nothing", "/api/games/%2e%2e", "/api/games/a/b/c"] {
        ada.get(path).await.error(404);
    }
    ada.post("/healthz", json!({})).await.error(405);
}

#[tokio::test(flavor = "multi_thread")]
async fn visitors_cannot_make_the_server_run_a_program_or_read_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let (witness, weights) = (folder.path().join("witness"), folder.path().join("own.toml"));
    std::fs::write(&weights, "three = 7").unwrap();
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    for agent in [
        format!("ugi:cmd=touch {}", witness.display()),
        format!("ugi:cmd=\"touch {}\"", witness.display()),
        "ugi".to_owned(),
        format!("alphabeta:eval={}", weights.display()),
        format!("alphabeta:depth=2, eval = {}", weights.display()),
        format!("alphabeta:eval=\"{}\"", weights.display()),
        "alphabeta:eval=own.toml".to_owned(),
        "zero:model=x".to_owned(),
    ] {
        let error = ada.post("/api/games", game(&agent)).await.error(400);
        assert!(!error.contains("No such file"), "{agent}: {error}");
    }
    assert!(!witness.exists());
    let agents = ada.get("/api/agents").await.expect(200);
    assert!(agents["agents"].as_array().unwrap().iter().all(|agent| agent["name"] != "ugi"));
    assert_eq!(agents["levels"].as_array().unwrap().len(), 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn cross_site_requests_are_rejected() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    let body = || Some(game("random").to_string().into_bytes());
    let host = server.addr.to_string();
    let own = format!("http://{host}");
    for (header, value, status) in [
        ("origin", "https://evil.example", 403),
        ("origin", "null", 403),
        ("sec-fetch-site", "cross-site", 403),
        ("sec-fetch-site", "same-site", 403),
        ("sec-fetch-site", "same-origin", 201),
        ("origin", &own, 201),
    ] {
        let headers = [("content-type", "application/json"), (header, value)];
        let reply = ada.send(Method::POST, "/api/games", &headers, body()).await;
        assert_eq!(reply.status, status, "{header}: {value}");
    }
    let form = [("content-type", "text/plain")];
    assert_eq!(ada.send(Method::POST, "/api/games", &form, body()).await.status, 415);

    let id = ada.create(game("random")["seats"].clone()).await;
    let foreign = [("origin", "https://evil.example")];
    assert_eq!(ada.try_follow(&id, &foreign).await.err(), Some(403));
    assert!(ada.try_follow(&id, &[("origin", &own)]).await.is_ok());
    assert_eq!(ada.try_follow("nothing", &[]).await.err(), Some(404));
    assert_eq!(ada.get(&format!("/api/games/{id}/live")).await.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn responses_have_security_headers() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    for path in ["/", "/api/agents", "/api/nothing", "/healthz"] {
        let headers = ada.get(path).await.headers;
        let policy = headers["content-security-policy"].to_str().unwrap();
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{path}");
        assert_eq!(headers["x-content-type-options"], "nosniff", "{path}");
        assert_eq!(headers["x-frame-options"], "DENY", "{path}");
    }
    let reply = ada.post("/api/games", game("random")).await;
    let cookie = reply.headers["set-cookie"].to_str().unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"), "{cookie}");
    assert_eq!(reply.headers["cache-control"], "no-store");
    let again = ada.post("/api/games", game("random")).await;
    assert!(!again.headers.contains_key("set-cookie"), "a known visitor needs no new cookie");
    let metrics = ada.get("/metrics").await.text;
    assert!(metrics.contains("claimeven_games_total 2"), "{metrics}");
    assert_eq!(ada.get("/healthz").await.text, "ok\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn excess_requests_of_one_address_are_refused() {
    let config = Config { requests_per_second: 1, requests_at_once: 10, ..Config::default() };
    let server = TestServer::sqlite(config).await;
    let ada = server.visitor();
    let started = Instant::now();
    let replies = join_all((0..30).map(|_| ada.get("/api/agents"))).await;
    let (accepted, refused): (Vec<Reply>, Vec<Reply>) =
        replies.into_iter().partition(|reply| reply.status == 200);
    let max = 11 + started.elapsed().as_secs() as usize;
    assert!((10..=max).contains(&accepted.len()), "{} of at most {max}", accepted.len());
    assert!(!refused.is_empty());
    for reply in refused {
        reply.error(429);
        assert!(reply.headers["retry-after"].to_str().unwrap().parse::<u64>().unwrap() >= 1);
    }
    // Only a trusted proxy may speak for others.
    let spoofed: Vec<String> = (0..20).map(|number| format!("10.1.2.{number}")).collect();
    let spoofed = spoofed.iter().map(|address| async {
        let forwarded = [("x-forwarded-for", address.as_str())];
        ada.send(Method::GET, "/api/agents", &forwarded, None).await.status
    });
    assert!(join_all(spoofed).await.iter().any(|status| *status == 429));
}

#[tokio::test(flavor = "multi_thread")]
async fn names_are_readable_and_not_reserved() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    let with_name = |name: &str| json!({ "seats": [{ "kind": "human", "name": name }, { "kind": "open" }], "first": 0 });
    for name in [
        "Ada\u{202e}nimda",
        "Ada\u{200b}",
        "A\u{e0041}da",
        "Z\u{300}\u{301}\u{302}\u{303}\u{304}algo",
        "level:3",
        "Random",
        "Player 1",
        "Ada (you)",
    ] {
        ada.post("/api/games", with_name(name)).await.error(400);
    }
    // A program passes neither for a person nor for another program.
    let agent = |name: &str| {
        let seats =
            json!([{ "kind": "human" }, { "kind": "agent", "agent": "random", "name": name }]);
        json!({ "seats": seats, "first": 0 })
    };
    for name in ["Player 1 (you)", "player 2", "level:3", "Perfect"] {
        ada.post("/api/games", agent(name)).await.error(400);
    }
    for name in ["random", "Deep Four"] {
        let game = ada.post("/api/games", agent(name)).await.expect(201);
        assert_eq!(game["players"][1]["name"], name);
    }
    for (given, kept) in
        [("Zoe\u{308}", "Zoë"), ("Nguyễn  Văn", "Nguyễn Văn"), ("I ❤\u{fe0f}", "I ❤")]
    {
        let game = ada.post("/api/games", with_name(given)).await.expect(201);
        assert_eq!(game["players"][0]["name"], kept);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trusted_proxy_forwards_client_addresses() {
    let config = Config {
        requests_per_second: 1,
        requests_at_once: 3,
        trusted_proxies: "127.0.0.1".to_owned(),
        ..Config::default()
    };
    let server = TestServer::sqlite(config).await;
    let ada = server.visitor();
    for address in ["10.0.0.1", "10.0.0.2", "made up, 10.0.0.3", "2001:db8:1:2::7"] {
        let headers = [("x-forwarded-for", address)];
        for _ in 0..3 {
            assert_eq!(ada.send(Method::GET, "/api/agents", &headers, None).await.status, 200);
        }
        assert_eq!(ada.send(Method::GET, "/api/agents", &headers, None).await.status, 429);
    }
    let neighbour = [("x-forwarded-for", "2001:db8:1:2::8")];
    assert_eq!(ada.send(Method::GET, "/api/agents", &neighbour, None).await.status, 429);
}

#[tokio::test(flavor = "multi_thread")]
async fn games_sockets_and_bytes_have_limits() {
    let config = Config {
        games_per_minute: 4,
        live_games: 3,
        sockets_per_address: 2,
        body_bytes: 500,
        message_bytes: 200,
        ..Config::default()
    };
    let server = TestServer::sqlite(config).await;
    let ada = server.visitor();
    let mut statuses = Vec::new();
    for _ in 0..5 {
        statuses.push(ada.post("/api/games", game("random")).await.status.as_u16());
    }
    assert_eq!(statuses, [201, 201, 201, 503, 429]);
    let long = json!({ "seats": "x".repeat(600) });
    assert_eq!(
        ada.post("/api/games", long).await.error(413),
        "The request body must have at most 500 bytes"
    );

    let list = ada.get("/api/games?mine=true").await.expect(200);
    let id = list["games"][0]["id"].as_str().unwrap();
    let (mut first, second) = (ada.follow(id).await, ada.follow(id).await);
    assert_eq!(ada.try_follow(id, &[]).await.err(), Some(429));
    second.close().await;
    first.game(|_| true).await;
    first.send_text("x".repeat(300)).await;
    while first.receive().await.is_some() {}
    // Closing a socket returns its permit.
    for _ in 0..100 {
        if ada.try_follow(id, &[]).await.is_ok() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("no socket can be opened");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_floods_a_socket_is_disconnected() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    let id = ada.create(game("random")["seats"].clone()).await;
    let mut socket = ada.follow(&id).await;
    // Wait for each response, because pending ones may be lost when a socket is closed.
    let mut responses = 0;
    while responses < 100 {
        socket.send(json!({ "type": "ping" })).await;
        if socket.receive().await.is_none() {
            break;
        }
        responses += 1;
    }
    assert!((20..60).contains(&responses), "{responses}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_queue_is_reported_at_once_and_others_do_not_wait() {
    let config = Config { queue_others: 1, think_others_ms: 5000, ..Config::default() };
    let server = TestServer::sqlite(config).await;
    let ada = server.visitor();
    let slow = json!({ "kind": "agent", "agent": "timed:ms=5000" });
    // One thread of the express lane and both common ones are busy, one game waits, and the next is
    // refused.
    let mut statuses = Vec::new();
    for _ in 0..5 {
        let reply = ada.post("/api/games", json!({ "seats": [slow, slow] })).await;
        if reply.status == 503 {
            assert!(reply.headers.contains_key("retry-after"));
        }
        statuses.push(reply.status.as_u16());
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    }
    assert_eq!(statuses, [201, 201, 201, 201, 503]);
    assert_eq!(ada.post("/api/hint", json!({})).await.status, 503);

    let bob = server.visitor_from("127.0.0.2");
    let id = bob.create(game("level:1")["seats"].clone()).await;
    let started = std::time::Instant::now();
    bob.play(&id, 4, 0).await.expect(200);
    bob.wait(&id, |game| game["ply"] == 2).await;
    assert!(started.elapsed().as_millis() < 2000, "others do not wait: {:?}", started.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn strange_paths_and_queries_are_refused_with_an_error() {
    let server = TestServer::sqlite(Config::default()).await;
    let ada = server.visitor();
    for path in [
        "/api/games/a%20b",
        "/api/games/%FF",
        "/api/games/%2F/review",
        "/api/games/%00/moves",
        "/api/arena/%FF/games",
        "/api/games?limit=%FF",
        "/api/games?limit=many",
        "/api/explorer?moves=%FF",
        "/api/nothing",
    ] {
        let reply = ada.get(path).await;
        assert!([400, 404, 405].contains(&reply.status.as_u16()), "{path}: {reply:?}");
        let error = reply.json()["error"].as_str().map(str::to_owned);
        assert!(error.is_some_and(|error| !error.is_empty()), "{path}: {reply:?}");
    }
}
