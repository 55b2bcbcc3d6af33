//! An address that uses all it can leaves enough for others.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use claimeven_server::Config;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::test_server::{TestServer, Visitor};

const OTHER: &str = "127.0.0.2";

fn against(agent: &str) -> Value {
    json!([{ "kind": "human" }, { "kind": "agent", "agent": agent }])
}

/// The value of a metric.
async fn metric(server: &TestServer, name: &str) -> u64 {
    let text = server.visitor().get("/metrics").await.text;
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("claimeven_{name} ")));
    line.unwrap_or_else(|| panic!("no {name} in {text}")).parse().unwrap()
}

/// How long an agent takes to reply to each of some moves.
async fn replies(visitor: &Visitor, games: usize) -> Vec<Duration> {
    let mut times = Vec::new();
    for _ in 0..games {
        let id = visitor.create(against("level:3")).await;
        for (ply, column) in [(0, 4), (2, 1), (4, 7)] {
            let started = Instant::now();
            visitor.play(&id, column, ply).await.expect(200);
            visitor.wait(&id, |game| game["ply"] == ply + 2 || game["status"] != "playing").await;
            times.push(started.elapsed());
        }
        visitor.act(&id, "resign", json!({})).await;
    }
    times
}

#[tokio::test(flavor = "multi_thread")]
async fn a_greedy_address_does_not_delay_the_games_of_others() {
    let server = TestServer::sqlite(Config::default()).await;
    let polite = server.visitor();
    let quiet = replies(&polite, 3).await;
    let greedy = || server.visitor_from(OTHER);
    // Slow games, hints, analyses and lab searches, each by a different visitor.
    let stop = Arc::new(AtomicBool::new(false));
    let mut work = Vec::new();
    for number in 0..24 {
        let (visitor, stop) = (greedy(), Arc::clone(&stop));
        work.push(tokio::spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                let body = json!({ "position": { "moves": "" }, "thorough": true });
                let moves = number.to_string().repeat(2).replace(['0', '8', '9'], "4");
                let reply = match number % 4 {
                    0 => visitor.post("/api/hint", json!({ "moves": moves })).await,
                    1 => visitor.post("/api/analysis", body).await,
                    2 => {
                        visitor
                            .post("/api/lab/search", json!({ "agent": "minimax:depth=30" }))
                            .await
                    }
                    _ => {
                        let seats = against("timed:ms=10000");
                        let game = json!({ "seats": seats, "first": 1 });
                        visitor.post("/api/games", game).await
                    }
                };
                assert!(!reply.status.is_server_error() || reply.status == 503, "{reply:?}");
                tokio::time::sleep(Duration::from_millis(300)).await;
            }
        }));
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    // The polite visitor is never refused and does not wait for others.
    let busy = replies(&polite, 5).await;
    let quick = polite.post("/api/analysis", json!({ "position": { "moves": "44" } })).await;
    assert_eq!(quick.expect(200)["exact"], true);
    polite.post("/api/hint", json!({ "moves": "4455" })).await.expect(200);
    let search = json!({ "agent": "alphabeta:depth=4", "moves": "44" });
    polite.post("/api/lab/search", search).await.expect(200);
    stop.store(true, Ordering::Relaxed);
    for task in work {
        task.abort();
    }
    // It once took more than 13 seconds. `cargo xtask siege` measures the delays.
    let slowest = |times: &[Duration]| times.iter().max().copied().unwrap();
    assert!(slowest(&busy) < Duration::from_secs(3), "{quiet:?} became {busy:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn games_are_limited_per_address_and_finished_ones_do_not_count() {
    let config = Config { live_games: 6, live_games_per_address: 4, ..Config::default() };
    let server = TestServer::sqlite(config).await;
    let greedy = server.visitor_from(OTHER);
    let day = json!({ "initial_ms": 86_400_000, "increment_ms": 0 });
    let game = json!({ "seats": against("random"), "clock": day, "first": 0 });
    let mut ids = Vec::new();
    for _ in 0..4 {
        ids.push(greedy.create_with(game.clone()).await);
    }
    let refused = greedy.post("/api/games", game.clone()).await;
    assert!(refused.error(429).contains("limit: 4"));
    assert!(refused.headers.contains_key("retry-after"));
    let polite = server.visitor();
    polite.create_with(game.clone()).await;

    // Finished games do not count, even if they are read.
    for id in &ids {
        greedy.act(id, "resign", json!({})).await.expect(200);
    }
    for _ in 0..4 {
        greedy.create_with(game.clone()).await;
        for id in &ids {
            assert_eq!(polite.game(id).await["status"], "finished");
        }
    }
    polite.create_with(game).await;
}

/// In a school, many visitors share an address.
#[tokio::test(flavor = "multi_thread")]
async fn a_visitor_cannot_use_up_the_limits_of_its_address() {
    let config = Config {
        live_games_per_address: 3,
        live_games_per_visitor: 2,
        sockets_per_address: 3,
        sockets_per_visitor: 2,
        ..Config::default()
    };
    let server = TestServer::sqlite(config).await;
    let [greedy, polite] = [server.visitor_from(OTHER), server.visitor_from(OTHER)];
    let game = json!({ "seats": against("random"), "first": 0 });
    let first = greedy.create_with(game.clone()).await;
    greedy.create_with(game.clone()).await;
    let refused = greedy.post("/api/games", game.clone()).await;
    assert_eq!(refused.error(429), "Too many of your games are in progress (limit: 2)");
    let own = polite.create_with(game.clone()).await;
    let refused = polite.post("/api/games", game.clone()).await;
    assert!(refused.error(429).contains("from your address"), "the address has a limit, too");
    greedy.act(&first, "resign", json!({})).await.expect(200);
    greedy.create_with(game).await;

    let sockets = [greedy.follow(&first).await, greedy.follow(&first).await];
    assert_eq!(greedy.try_follow(&first, &[]).await.err(), Some(429));
    polite.follow(&own).await.game(|_| true).await;
    drop(sockets);
}

/// Otherwise an address could have any number of games in memory.
#[tokio::test(flavor = "multi_thread")]
async fn a_finished_game_that_continues_counts_again() {
    let config = Config { live_games_per_address: 1, ..Config::default() };
    let server = TestServer::sqlite(config).await;
    let ada = server.visitor();
    let local = json!([{ "kind": "human" }, { "kind": "human" }]);
    let won = ada.create(local.clone()).await;
    for (ply, column) in [1, 2, 1, 2, 1, 2, 1].into_iter().enumerate() {
        ada.play(&won, column, ply as u64).await.expect(200);
    }
    assert_eq!(ada.game(&won).await["status"], "finished");
    let second = ada.create(local).await;
    assert!(ada.act(&won, "undo", json!({})).await.error(429).contains("limit: 1"));
    assert_eq!(ada.game(&won).await["ply"], 7);
    ada.act(&second, "resign", json!({})).await.expect(200);
    ada.act(&won, "undo", json!({})).await.expect(200);
    ada.play(&won, 3, 6).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_game_with_a_long_clock_is_evicted_and_ends_on_time() {
    let server = TestServer::sqlite(Config { linger_seconds: 1, ..Config::default() }).await;
    let ada = server.visitor();
    let seconds = |seconds: u64| {
        let clock = json!({ "initial_ms": 1000 * seconds, "increment_ms": 0 });
        json!({ "seats": against("random"), "clock": clock, "first": 0 })
    };
    let long = ada.create_with(seconds(86_400)).await;
    let short = ada.create_with(seconds(14)).await;
    let started = Instant::now();
    while metric(&server, "live_games").await > 0 {
        assert!(
            started.elapsed() < Duration::from_secs(13),
            "games without visitors stay in memory"
        );
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    // Nobody watches it, but it still ends.
    while metric(&server, "games_finished_total").await == 0 {
        assert!(started.elapsed() < Duration::from_secs(40), "the game does not end");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert!(started.elapsed() > Duration::from_secs(14), "{:?}", started.elapsed());
    assert_eq!(ada.game(&short).await["result"]["reason"], "time");
    // The clock of the other game kept running, and the game continues.
    let game = ada.game(&long).await;
    let left = game["clock"]["remaining_ms"][0].as_u64().unwrap();
    assert!((86_340_000..86_387_000).contains(&left), "{game:#}");
    ada.play(&long, 4, 0).await.expect(200);
    ada.wait(&long, |game| game["ply"] == 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_drops_its_cookies_cannot_fill_the_tournament_queue() {
    let config = Config { jobs_per_address: 3, ..Config::default() };
    let server = TestServer::sqlite(config).await;
    let cup =
        json!({ "players": [{ "agent": "random" }, { "agent": "mcts:sims=20000" }], "games": 500 });
    let mut first = None;
    for _ in 0..3 {
        let visitor = server.visitor_from(OTHER);
        let made = visitor.post("/api/arena", cup.clone()).await.expect(201);
        first.get_or_insert((visitor, made["id"].as_str().unwrap().to_owned()));
    }
    let refused = server.visitor_from(OTHER).post("/api/arena", cup.clone()).await;
    assert!(refused.error(429).contains("limit: 3"));
    server.visitor().post("/api/arena", cup.clone()).await.expect(201);
    // A stopped one no longer counts.
    let (visitor, id) = first.unwrap();
    let path = format!("/api/arena/{id}");
    visitor.post(&format!("{path}/stop"), json!({})).await.expect(200);
    // Its thread has the lowest priority, so on a busy machine it takes a while to notice.
    while visitor.get(&path).await.expect(200)["state"] != "stopped" {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    server.visitor_from(OTHER).post("/api/arena", cup).await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn simultaneous_requests_do_not_exceed_the_limit_of_tournaments() {
    let server = TestServer::sqlite(Config::default()).await;
    let visitor = server.visitor();
    // The first request sets the cookie.
    visitor.create(against("random")).await;
    let cup =
        json!({ "players": [{ "agent": "random" }, { "agent": "mcts:sims=20000" }], "games": 500 });
    let requests = (0..12).map(|_| visitor.post("/api/arena", cup.clone()));
    let replies = futures_util::future::join_all(requests).await;
    let created = replies.iter().filter(|reply| reply.status == 201).count();
    assert_eq!(created, 2, "jobs_each");
    assert!(replies.iter().all(|reply| reply.status == 201 || reply.status == 409));
}

/// A tournament is prepared, queued and played in turns, and may be stopped between any two of these.
#[tokio::test(flavor = "multi_thread")]
async fn a_tournament_can_be_stopped_at_any_moment() {
    let rates = Config { requests_per_second: 0, games_per_minute: 0, ..Config::default() };
    let config = Config { jobs_per_address: 2, ..rates };
    let server = TestServer::sqlite(config).await;
    let visitor = server.visitor();
    let players = json!([{ "agent": "random" }, { "agent": "mcts:sims=2000" }]);
    let cup = json!({ "players": players, "games": 500 });
    visitor.post("/api/arena", cup.clone()).await.expect(201);
    for pause in (0..80).map(|step| Duration::from_micros(50 * step)) {
        let made = visitor.post("/api/arena", cup.clone()).await.expect(201);
        // Tokio's clock is coarser. Blocking is fine: the server has its own threads.
        std::thread::sleep(pause);
        let path = format!("/api/arena/{}", made["id"].as_str().unwrap());
        let stopped = visitor.post(&format!("{path}/stop"), json!({})).await.expect(200);
        assert_eq!(stopped["state"], "stopped", "after {pause:?}");
        visitor.delete(&path).await.expect(204);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn simultaneous_watchers_are_announced_together() {
    let config = Config { sockets_per_address: 0, requests_per_second: 0, ..Config::default() };
    let server = TestServer::sqlite(config).await;
    let ada = server.visitor();
    let id = ada.create(json!([{ "kind": "human" }, { "kind": "open" }])).await;
    let mut socket = ada.follow(&id).await;
    let started = Instant::now();
    let watchers = join_all((0..100).map(|_| async {
        let visitor = server.visitor();
        visitor.follow(&id).await
    }))
    .await;
    let mut messages = 0;
    while socket.receive().await.expect("a game")["game"]["watchers"] != 100 {
        messages += 1;
    }
    let seconds = started.elapsed().as_secs() as usize;
    assert!(messages <= 4 + seconds, "{messages} messages in {seconds} s");
    // A player is announced at once.
    let bob = server.visitor();
    bob.act(&id, "join", json!({})).await.expect(200);
    let bobs = bob.follow(&id).await;
    socket.game(|game| game["players"][1]["connected"] == true).await;
    drop((watchers, bobs));
}

/// The processor time of this thread, which does not depend on the other programs of this machine.
/// A virtual machine that has to wait for others counts that as well.
#[cfg(target_os = "linux")]
fn thread_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split(' ').next().unwrap().parse().unwrap())
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "current_thread")]
async fn no_heavy_work_runs_on_the_request_threads() {
    let mut heavy = heavy_requests().await;
    for _ in 0..2 {
        if heavy.is_empty() {
            break;
        }
        let again = heavy_requests().await;
        heavy.retain(|request, _| again.contains_key(request));
    }
    assert!(heavy.is_empty(), "{heavy:#?}");
}

/// A request of one of two visitors.
#[cfg(target_os = "linux")]
struct Call {
    visitor: usize,
    method: reqwest::Method,
    path: String,
    body: Option<Value>,
}

#[cfg(target_os = "linux")]
impl Call {
    /// From `METHOD PATH`.
    fn new(visitor: usize, text: &str, body: Option<Value>) -> Call {
        let (method, path) = text.split_once(' ').unwrap();
        Call { visitor, method: method.parse().unwrap(), path: path.to_owned(), body }
    }
}

/// Every operation of the API at least once. The placeholders stand for a finished tournament, one that runs,
/// a training run, a finished game, and games in progress: of one person, and of two.
#[cfg(target_os = "linux")]
fn calls() -> Vec<Call> {
    let big = json!({ "cols": 9, "rows": 9 });
    let mut calls = Vec::new();
    let gets = [
        "/",
        "/game/FINISHED",
        "/healthz",
        "/readyz",
        "/metrics",
        "/api/openapi.json",
        "/api/agents",
        "/api/fleet",
        "/api/arena",
        "/api/arena/RUNNING",
        "/api/arena/CUP",
        "/api/arena/CUP/download?format=csv",
        "/api/arena/CUP/download?format=games",
        "/api/arena/CUP/games",
        "/api/explorer?moves=44",
        "/api/games",
        "/api/games?agent=level:1&status=finished&player=ada&cols=7",
        "/api/games/FINISHED",
        "/api/games/FINISHED/picture.png",
        "/api/games/FINISHED/record?format=gif",
        "/api/games/FINISHED/record?format=pgn",
        "/api/games/FINISHED/review",
        "/api/positions/picture.png?pos=4455",
        "/api/puzzles",
        "/api/statistics",
        "/api/statistics?mine=true",
        "/api/training",
        "/api/training/RUN",
        "/api/training/RUN/games",
    ];
    calls.extend(gets.map(|path| Call::new(0, &format!("GET {path}"), None)));
    let players = json!([{ "agent": "random" }, { "agent": "level:1" }]);
    let position = |moves: &str| json!({ "moves": moves });
    let of_visitors = [
        (0, "analysis", json!({ "position": { "moves": "", "setup": big } })),
        (0, "analysis", json!({ "position": position("4"), "thorough": true })),
        (0, "explain", json!({ "position": position("4453"), "column": 4 })),
        (0, "hint", position("1234567")),
        (0, "positions", json!({ "text": "4455" })),
        (0, "puzzles/attempts", json!({ "moves": "527224445444253", "solved": true })),
        (0, "lab/tree", json!({ "agent": "mcts:sims=3000" })),
        (0, "arena", json!({ "players": players, "games": 2000, "openings": "random:8" })),
        (0, "games/LOCAL/moves", json!({ "column": 4, "ply": 0 })),
        (0, "games/LOCAL/undo", json!({})),
        (0, "games/LOCAL/redo", json!({})),
        (0, "games/LOCAL/listing", json!({ "listed": true })),
        (0, "games/AGENT/seat", json!({ "player": 1, "agent": "level:2" })),
        (1, "games/OPEN/join", json!({})),
        (0, "games/OPEN/moves", json!({ "column": 4, "ply": 0 })),
        (1, "games/OPEN/draw", json!({})),
        (0, "games/OPEN/draw", json!({ "accept": true })),
        (0, "games/OPEN/rematch", json!({})),
        (0, "games/LOCAL/resign", json!({})),
    ];
    let post = |(visitor, path, body)| Call::new(visitor, &format!("POST /api/{path}"), Some(body));
    calls.extend(of_visitors.map(post));
    for agent in ["zero", "mcts:sims=2000", "perfect", "mtdf:depth=8,table=64", "level:10"] {
        let of_agent = [
            (0, "lab/search", json!({ "agent": agent, "moves": "444445" })),
            (0, "analysis/opinion", json!({ "agent": agent })),
            (0, "games", json!({ "seats": against(agent), "first": 1 })),
        ];
        calls.extend(of_agent.map(post));
    }
    let ending = [
        "POST /api/training/RUN/stop",
        "POST /api/training/RUN/resume",
        "POST /api/training/RUN/stop",
        "DELETE /api/training/RUN",
        "POST /api/arena/RUNNING/stop",
        "POST /api/arena/RUNNING/resume",
        "POST /api/arena/RUNNING/stop",
        "DELETE /api/arena/RUNNING",
        "DELETE /api/games/LOCAL",
        "DELETE /api/me",
    ];
    calls.extend(ending.map(|text| Call::new(0, text, text.contains("resume").then(|| json!({})))));
    calls
}

/// The operations of the API that no call uses.
#[cfg(target_os = "linux")]
fn unused_operations(calls: &[Call]) -> Vec<String> {
    let document: Value = serde_json::from_str(&claimeven_server::openapi_json().unwrap()).unwrap();
    let mut unused = Vec::new();
    for (template, operations) in document["paths"].as_object().unwrap() {
        let is_used = |method: &str| {
            calls.iter().any(|call| {
                let path = call.path.split('?').next().unwrap();
                let (parts, known) = (path.split('/'), template.split('/'));
                call.method.as_str().eq_ignore_ascii_case(method)
                    && parts.clone().count() == known.clone().count()
                    && parts.zip(known).all(|(part, known)| known == "{id}" || part == known)
            })
        };
        let operations = operations.as_object().unwrap().keys().filter(|method| !is_used(method));
        unused.extend(operations.map(|method| format!("{method} {template}")));
    }
    unused
}

#[cfg(target_os = "linux")]
#[test]
fn heavy_work_is_looked_for_in_every_operation() {
    // These are measured in other ways: a socket is opened, and a run is created, before the others.
    let others = ["get /api/games/{id}/live", "post /api/training"];
    assert_eq!(unused_operations(&calls()), others);
}

/// The requests to a new server that keep its thread from other work for too long, and how long.
///
/// Server and visitors share one thread with a task that measures the time between its turns:
/// anything that blocks the thread would delay everyone.
#[cfg(target_os = "linux")]
async fn heavy_requests() -> std::collections::BTreeMap<String, Duration> {
    use std::sync::Mutex;

    let server = TestServer::sqlite(Config { requests_per_second: 0, ..Config::default() }).await;
    let visitors = [server.visitor(), server.visitor()];
    let ada = &visitors[0];
    let id = |reply: Value| reply["id"].as_str().unwrap().to_owned();
    let tournament = async |agent: &str, games: u64, openings: &str| {
        let players = json!([{ "agent": agent }, { "agent": "level:1" }]);
        let plan = json!({ "players": players, "games": games, "openings": openings });
        id(ada.post("/api/arena", plan).await.expect(201))
    };
    let cup = tournament("random", 40, "balanced:4").await;
    while ada.get(&format!("/api/arena/{cup}")).await.expect(200)["state"] != "done" {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let finished = ada.create(against("level:1")).await;
    ada.act(&finished, "resign", json!({})).await.expect(200);
    let human = || json!({ "kind": "human" });
    let local = ada.create(json!([human(), human()])).await;
    let agent = ada.create(against("level:1")).await;
    let open = ada.create(json!([human(), { "kind": "open" }])).await;
    let running = tournament("mcts:sims=20000", 2000, "random:8").await;

    let longest = Arc::new(Mutex::new(Duration::ZERO));
    let heartbeat = tokio::spawn({
        let longest = Arc::clone(&longest);
        async move {
            let mut last = thread_time();
            loop {
                tokio::task::yield_now().await;
                let now = thread_time();
                let mut longest = longest.lock().unwrap();
                *longest = longest.max(now.saturating_sub(last));
                last = now;
            }
        }
    });
    let mut heavy = std::collections::BTreeMap::new();
    let take_longest = || std::mem::take(&mut *longest.lock().unwrap());
    let mut check = |text: String, longest: Duration| {
        if longest >= Duration::from_millis(20) {
            heavy.insert(text, longest);
        }
    };
    take_longest();
    let socket = ada.follow(&open).await;
    check("a socket".to_owned(), take_longest());
    let plan = json!({ "preset": "quick", "minutes": 1 });
    let run = id(ada.post("/api/training", plan).await.expect(201));
    check("POST /api/training".to_owned(), take_longest());
    for Call { visitor, method, path, body } in calls() {
        let placeholders = [
            ("CUP", &cup),
            ("RUNNING", &running),
            ("FINISHED", &finished),
            ("LOCAL", &local),
            ("AGENT", &agent),
            ("OPEN", &open),
            ("RUN", &run),
        ];
        let filled = placeholders.iter().fold(path.clone(), |path, (placeholder, id)| {
            path.replace(&format!("/{placeholder}"), &format!("/{id}"))
        });
        let text = format!("{method} {path} {}", body.clone().unwrap_or_default());
        let json = [("content-type", "application/json")];
        let body = body.map(|body| body.to_string().into_bytes());
        let deletes_job = method == reqwest::Method::DELETE && path.contains("RUN");
        take_longest();
        let reply = loop {
            let reply = visitors[visitor].send(method.clone(), &filled, &json, body.clone()).await;
            // A run stops after its iteration.
            if !(deletes_job && reply.status == 409) {
                break reply;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        };
        check(text.clone(), take_longest());
        let is_page = ["/", "/game/FINISHED"].contains(&path.as_str());
        assert!(reply.status.is_success() || (is_page && reply.status == 404), "{text}: {reply:?}");
    }
    drop(socket);
    heartbeat.abort();
    heavy
}
