//! Many concurrent players: live games over WebSockets.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::{FutureExt, SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::server::{Nats, Server, cpu_of_programs};
use crate::{Fallible, percentile, read};

/// No limits, because all players have the same address.
const NO_LIMITS: [&str; 7] = [
    "requests_per_second=0",
    "games_per_minute=0",
    "sockets=0",
    "sockets_per_address=0",
    "connections_per_address=0",
    "live_games_per_address=0",
    "queue_people=0",
];

/// Everyone's opponent.
const AGENT: &str = "level:3";

/// The range of thinking times per move.
const PAUSE_MS: std::ops::Range<u64> = 500..2500;

#[derive(Default)]
struct Figures {
    /// From sending a move to receiving it back.
    seen: Vec<Duration>,
    /// From sending a move to a watcher on another server receiving it.
    watched: Vec<Duration>,
    /// From sending a move to the agent's reply.
    replied: Vec<Duration>,
    games: usize,
    errors: Vec<String>,
}

/// What others do during the games.
#[derive(Clone, Copy)]
pub(crate) enum Meanwhile<'a> {
    Nothing,
    /// A tournament, analyses and long searches.
    Work,
    /// Requests that read this database in every way.
    Read(&'a str),
}

/// Plays this many games at a time and reports the latency of moves.
pub(crate) async fn run(
    program: &str,
    games: usize,
    time: Duration,
    meanwhile: Meanwhile<'_>,
) -> Fallible<()> {
    let folder = tempfile::tempdir()?;
    let database = match meanwhile {
        Meanwhile::Read(database) => database.to_owned(),
        _ => format!("sqlite:{}", folder.path().join("load.sqlite").display()),
    };
    // The key with which `cargo xtask fill` has signed cookies.
    let settings = [&NO_LIMITS[..], &["secret=filled"]].concat();
    let server = Server::start(program, &database, &settings)?;
    let addr = server.addr.clone();
    println!("{games} live games against {AGENT} for {} s at {addr}", time.as_secs());

    let end = Instant::now() + time;
    let client = reqwest::Client::new();
    let others = tokio::spawn(match meanwhile {
        Meanwhile::Nothing => async { Ok(()) }.boxed(),
        Meanwhile::Work => keep_busy(client.clone(), addr.clone(), end).boxed(),
        Meanwhile::Read(database) => {
            read::run(client.clone(), addr.clone(), read::routes(database).await?, end).boxed()
        }
    });
    let figures = play_all(client, &[addr], games, end).await;
    others.await??;
    match server.memory_mb("VmHWM") {
        Some(memory) => println!("peak memory of the server: {memory} MB"),
        None => println!("peak memory of the server: not known on this system"),
    }
    figures.report()
}

/// The same on two servers that share a database. Each game has its player on one of them and a
/// watcher on the other.
pub(crate) async fn run_fleet(
    program: &str,
    games: usize,
    time: Duration,
    database: &str,
    nats_server: &str,
) -> Fallible<()> {
    let nats = Nats::start(nats_server)?;
    let url = format!("nats={}", nats.url);
    let settings = [&NO_LIMITS[..], &["secret=filled", &url]].concat();
    let servers = [
        Server::start(program, database, &settings)?,
        Server::start(program, database, &settings)?,
    ];
    let addrs = [servers[0].addr.clone(), servers[1].addr.clone()];
    let idle: Vec<_> = servers.iter().filter_map(|server| server.memory_mb("VmRSS")).collect();
    let (seconds, [one, two]) = (time.as_secs(), &addrs);
    println!("{games} live games against {AGENT} for {seconds} s at {one} and {two}, watched");

    let used = || -> Option<[f64; 3]> {
        let servers = servers[0].cpu_seconds()? + servers[1].cpu_seconds()?;
        Some([servers, cpu_of_programs("postgres")?, nats.cpu_seconds()?])
    };
    let before = used();
    let figures = play_all(reqwest::Client::new(), &addrs, games, Instant::now() + time).await;
    // Every move of a person is followed by one of the agent's.
    let moves = 2.0 * figures.replied.len() as f64;
    if let (Some(before), Some(after)) = (before, used()) {
        let [servers, postgres, nats] =
            [0, 1, 2].map(|index| 1e3 * (after[index] - before[index]) / moves);
        println!(
            "processor time per move: servers {servers:.2} ms, PostgreSQL {postgres:.2} ms, NATS {nats:.2} ms"
        );
    }
    for (server, idle) in servers.iter().zip(idle) {
        if let Some(peak) = server.memory_mb("VmHWM") {
            println!("memory of a server: {idle} MB at the start, {peak} MB at most");
        }
    }
    figures.report()
}

/// Plays this many games at a time until the end, spread over the servers.
async fn play_all(
    client: reqwest::Client,
    addrs: &[String],
    games: usize,
    end: Instant,
) -> Figures {
    let figures = Arc::new(Mutex::new(Figures::default()));
    let people = (0..games).map(|number| {
        let addr = addrs[number % addrs.len()].clone();
        let other = (addrs.len() > 1).then(|| addrs[(number + 1) % addrs.len()].clone());
        let (figures, client) = (Arc::clone(&figures), client.clone());
        tokio::spawn(async move {
            // Players do not all arrive at the same time.
            sleep(Duration::from_millis(4 * number as u64)).await;
            while Instant::now() < end {
                if let Err(error) = play(&client, &addr, other.as_deref(), end, &figures).await {
                    figures.lock().unwrap().errors.push(error.to_string());
                }
            }
        })
    });
    futures_util::future::join_all(people).await;
    std::mem::take(&mut *figures.lock().unwrap())
}

impl Figures {
    fn report(mut self) -> Fallible<()> {
        println!("{} games ended, {} moves", self.games, self.replied.len());
        report("move seen", &mut self.seen);
        if !self.watched.is_empty() {
            report("move seen on the other server", &mut self.watched);
        }
        report("move and reply", &mut self.replied);
        println!("errors: {}", self.errors.len());
        for error in self.errors.iter().take(5) {
            println!("  {error}");
        }
        if self.errors.is_empty() { Ok(()) } else { Err("there were errors".into()) }
    }
}

/// A tournament, and two concurrent analyses and two long searches at a time.
async fn keep_busy(client: reqwest::Client, addr: String, end: Instant) -> Fallible<()> {
    let players = [json!({ "agent": "alphabeta:depth=8" }), json!({ "agent": "mcts:sims=5000" })];
    let cup = json!({ "players": players, "games": 1000 });
    let reply = client.post(format!("http://{addr}/api/arena")).json(&cup).send().await?;
    reply.error_for_status()?;

    let repeat = |path: &'static str, body: fn(usize) -> Value| {
        let (client, addr) = (client.clone(), addr.clone());
        async move {
            let mut count = 0;
            while Instant::now() < end {
                let call = client.post(format!("http://{addr}{path}")).json(&body(count));
                call.send().await?.error_for_status()?;
                count += 1;
            }
            Fallible::Ok(count)
        }
    };
    let search = |_: usize| json!({ "moves": "44", "agent": "mcts:sims=100000" });
    let (one, two, three, four) = tokio::join!(
        repeat("/api/analysis", analysis),
        repeat("/api/analysis", |number| analysis(number + 5000)),
        repeat("/api/lab/tree", search),
        repeat("/api/lab/search", search),
    );
    let (analyses, searches) = (one? + two?, three? + four?);
    println!("meanwhile a tournament, {analyses} analyses and {searches} lab searches");
    Ok(())
}

/// An analysis of one of many positions with twelve discs: a full row, and five more discs that complete
/// no line.
fn analysis(number: usize) -> Value {
    let digits = (0..5).map(|place| number * 7919 / 7_usize.pow(place) % 7 + 1);
    let moves: String = digits.map(|digit| digit.to_string()).collect();
    json!({ "position": { "moves": format!("1234567{moves}") } })
}

/// When the moves of a game were sent, by the ply before the move.
type Sent = Arc<Mutex<HashMap<u64, Instant>>>;

/// Watches a game on a server other than its player's.
async fn watch(addr: String, id: String, sent: Sent, figures: Arc<Mutex<Figures>>) -> Fallible<()> {
    let request = format!("ws://{addr}/api/games/{id}/live").into_client_request()?;
    let (mut socket, _) = tokio_tungstenite::connect_async(request).await?;
    while let Some(message) = socket.next().await {
        let Message::Text(text) = message? else { continue };
        let update: Value = serde_json::from_str(&text)?;
        let Some(ply) = update["game"]["ply"].as_u64() else { continue };
        let started = ply.checked_sub(1).and_then(|at| sent.lock().unwrap().remove(&at));
        if let Some(started) = started {
            figures.lock().unwrap().watched.push(started.elapsed());
        }
    }
    Ok(())
}

/// One player's game, to its end or to the end of the test.
async fn play(
    client: &reqwest::Client,
    addr: &str,
    other: Option<&str>,
    end: Instant,
    figures: &Arc<Mutex<Figures>>,
) -> Fallible<()> {
    let new =
        json!({ "seats": [{ "kind": "human" }, { "kind": "agent", "agent": AGENT }], "first": 0 });
    let request = client.post(format!("http://{addr}/api/games"));
    let response = request.json(&new).send().await?.error_for_status()?;
    let cookie = response.headers().get("set-cookie").ok_or("no cookie")?.to_str()?.to_owned();
    let game: Value = response.json().await?;
    let id = game["id"].as_str().ok_or("no id")?;

    let mut request = format!("ws://{addr}/api/games/{id}/live").into_client_request()?;
    request.headers_mut().insert("cookie", cookie.split(';').next().unwrap_or("").parse()?);
    let (mut socket, _) = tokio_tungstenite::connect_async(request).await?;
    let mut sent: Option<(u64, Instant)> = None;
    let all_sent = Sent::default();
    let watcher = other.map(|other| {
        let (other, id) = (other.to_owned(), id.to_owned());
        tokio::spawn(watch(other, id, Arc::clone(&all_sent), Arc::clone(figures)))
    });
    while Instant::now() < end {
        let message = timeout(Duration::from_secs(20), socket.next()).await?;
        let Message::Text(text) = message.ok_or("the socket was closed")?? else { continue };
        let update: Value = serde_json::from_str(&text)?;
        if update["type"] == "refused" {
            return Err(update["error"].to_string().into());
        }
        let game = &update["game"];
        let (Some(ply), finished) = (game["ply"].as_u64(), game["status"] == "finished") else {
            continue;
        };
        if let Some((at, started)) = sent {
            let mut figures = figures.lock().unwrap();
            if ply == at + 1 {
                figures.seen.push(started.elapsed());
            }
            if ply > at + 1 || finished {
                figures.replied.push(started.elapsed());
                figures.games += usize::from(finished);
                sent = None;
            }
        }
        if finished {
            break;
        }
        if sent.is_none() && game["to_move"] == 0 {
            sleep(Duration::from_millis(fastrand::u64(PAUSE_MS))).await;
            let legal = game["legal"].as_array().ok_or("no columns")?;
            let column = &legal[fastrand::usize(..legal.len())];
            let message = json!({ "type": "move", "column": column, "ply": ply });
            let now = Instant::now();
            sent = Some((ply, now));
            all_sent.lock().unwrap().insert(ply, now);
            socket.send(Message::text(message.to_string())).await?;
        }
    }
    socket.close(None).await?;
    if let Some(watcher) = watcher {
        watcher.abort();
    }
    Ok(())
}

fn report(name: &str, times: &mut [Duration]) {
    let [median, p99, worst] = [50, 99, 100].map(|percent| percentile(times, percent));
    println!("{name}: p50 {median:.1} ms, p99 {p99:.1} ms, worst {worst:.1} ms");
}
