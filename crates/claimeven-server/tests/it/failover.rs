//! Games between visitors of two servers, each of which may be killed at any moment.

use std::net::SocketAddr;
use std::ops::Range;
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use crate::test_server::{Reply, Visitor};

/// The timeout for everything, on a busy machine.
const TIMEOUT: Duration = Duration::from_mins(4);

pub(crate) fn open_game() -> Value {
    json!([{ "kind": "human" }, { "kind": "open" }])
}

/// Plays a whole game between visitors of two servers, who switch to the other server whenever theirs is
/// down. Players pause for some milliseconds before a move. Checks that no acknowledged move is lost and
/// that the game is decided once. Returns how long after its acknowledgement each move was seen by
/// watchers who were connected at the time and stayed connected.
pub(crate) async fn play_game(
    addrs: [SocketAddr; 2],
    game: usize,
    pauses: Range<u64>,
) -> Vec<Duration> {
    let mut random = fastrand::Rng::with_seed(game as u64);
    let mut players = [0, 1].map(|player| Visitor::new(addrs[player], "127.0.0.1"));
    // The first response gives a visitor their cookie. Both get one before the second joins the game:
    // if the response to joining were lost, the seat would belong to nobody.
    let mut id = String::new();
    for player in [1, 0] {
        id = loop {
            let body = json!({ "seats": open_game(), "first": 0 });
            let reply = post(&mut players[player], addrs, "/api/games", &body).await;
            if reply.status.as_u16() == 201 {
                break reply.json()["id"].as_str().unwrap().to_owned();
            }
        };
    }
    let watchers = [0, 1].map(|home| tokio::spawn(watch(addrs, home, id.clone())));
    let path = |action: &str| format!("/api/games/{id}/{action}");
    loop {
        let reply = post(&mut players[1], addrs, &path("join"), &json!({})).await;
        // 409 if the response to the first attempt was lost.
        if [200, 409].contains(&reply.status.as_u16()) {
            break;
        }
    }
    let (mut acknowledged, mut times) = (String::new(), Vec::new());
    let mut column = random.u64(1..=7);
    loop {
        let ply = acknowledged.len();
        // As soon as the player's server is back, the load balancer uses it again.
        players[ply % 2] = players[ply % 2].at_addr(addrs[ply % 2]);
        let body = json!({ "column": column, "ply": ply });
        let reply = post(&mut players[ply % 2], addrs, &path("moves"), &body).await;
        let view = reply.json();
        let view = if reply.status.as_u16() == 409 { view["game"].clone() } else { view };
        let Some(line) = moves(&view) else { continue };
        assert!(line.starts_with(&acknowledged), "{acknowledged} was acknowledged, not {line}");
        // A move whose response was lost is found when it is repeated.
        assert!(line.len() <= ply + 1, "{acknowledged} {line}");
        if reply.status.as_u16() == 200 || line.len() > ply {
            assert!(line.ends_with(&column.to_string()), "{line} does not end with {column}");
            acknowledged = line;
            times.push(Instant::now());
        }
        if view["status"] == "finished" {
            break;
        }
        column = random.u64(1..=7);
        tokio::time::sleep(Duration::from_millis(random.u64(pauses.clone()))).await;
    }
    let mut ends = Vec::new();
    let mut delays = Vec::new();
    for watcher in watchers {
        let Watched { line, seen, end } = watcher.await.unwrap();
        assert_eq!(line, acknowledged);
        ends.push(end);
        let connected = times.iter().zip(&seen).filter(|(time, seen)| seen.connected <= **time);
        delays.extend(connected.map(|(time, seen)| seen.time.saturating_duration_since(*time)));
    }
    // A game that was decided again would have another version. A server may learn of the end a little
    // later.
    let started = Instant::now();
    for addr in addrs {
        let mut visitor = Visitor::new(addr, "127.0.0.1");
        loop {
            let path = format!("/api/games/{id}");
            let game = send(&mut visitor, addrs, Method::GET, &path, None).await.json();
            if game["status"] == "finished" {
                ends.push(end_of(&game));
                break;
            }
            assert!(started.elapsed() < TIMEOUT, "{game}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    assert!(ends.iter().all(|end| *end == ends[0]), "a game is decided once: {ends:?}");
    delays
}

/// The columns of a game's moves, unless the view has none.
fn moves(game: &Value) -> Option<String> {
    Some(game["moves"].as_array()?.iter().map(|played| played["column"].to_string()).collect())
}

fn end_of(game: &Value) -> Value {
    json!([game["result"], game["version"]])
}

async fn post(visitor: &mut Visitor, addrs: [SocketAddr; 2], path: &str, body: &Value) -> Reply {
    send(visitor, addrs, Method::POST, path, Some(body)).await
}

/// Sends a request to a server, or to the other one if it is down, until there is a response.
async fn send(
    visitor: &mut Visitor,
    addrs: [SocketAddr; 2],
    method: Method,
    path: &str,
    body: Option<&Value>,
) -> Reply {
    let started = Instant::now();
    loop {
        assert!(started.elapsed() < TIMEOUT, "no server responds to {path}");
        let json = [("content-type", "application/json")];
        let body = body.map(|body| body.to_string().into_bytes());
        match visitor.try_send(method.clone(), path, &json, body).await {
            Ok(reply) if reply.status.is_server_error() => {}
            Ok(reply) => return reply,
            Err(_) => {
                let other = usize::from(visitor.addr == addrs[0]);
                *visitor = visitor.at_addr(addrs[other]);
            }
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// What a watcher saw of a game.
struct Watched {
    line: String,
    /// Of each move.
    seen: Vec<Seen>,
    end: Value,
}

/// When a move was seen.
#[derive(Clone, Copy)]
struct Seen {
    time: Instant,
    /// When the first message arrived over the same connection.
    connected: Instant,
}

/// Follows a game to its end, and checks that no move ever disappears.
async fn watch(addrs: [SocketAddr; 2], home: usize, id: String) -> Watched {
    let (mut line, mut seen) = (String::new(), Vec::new());
    let (started, mut addr) = (Instant::now(), addrs[home]);
    loop {
        assert!(started.elapsed() < TIMEOUT, "game {id} does not end");
        let visitor = Visitor::new(addr, "127.0.0.1");
        let Some(mut socket) = visitor.follow_if_available(&id).await else {
            addr = addrs[usize::from(addr == addrs[0])];
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        let mut connected = None;
        while let Some(message) = socket.receive().await {
            let game = &message["game"];
            let Some(now) = moves(game) else { continue };
            let time = Instant::now();
            let connected = *connected.get_or_insert(time);
            if now.len() >= line.len() {
                assert!(now.starts_with(&line), "{line} became {now}");
                line = now;
                seen.resize(line.len(), Seen { time, connected });
            }
            if game["status"] == "finished" {
                return Watched { line, seen, end: end_of(game) };
            }
        }
        addr = addrs[home];
    }
}
