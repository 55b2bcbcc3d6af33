//! Many people at once: live games over WebSockets against a server of its own.
//!
//! `cargo xtask load` builds both and runs this.

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

type Fallible<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// The opponent of everybody.
const AGENT: &str = "level:3";

/// How long people think about a move, at least and at most.
const PAUSE_MS: std::ops::Range<u64> = 500..2500;

#[derive(Default)]
struct Figures {
    /// From sending a move to seeing it on the board.
    seen: Vec<Duration>,
    /// From sending a move to the agent's reply.
    answered: Vec<Duration>,
    games: usize,
    errors: Vec<String>,
}

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::main]
async fn main() -> Fallible<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (program, games, seconds, is_busy) = match &arguments[..] {
        [program, games, seconds] => (program, games, seconds, false),
        [program, games, seconds, busy] if busy == "busy" => (program, games, seconds, true),
        _ => return Err("usage: load PROGRAM GAMES SECONDS [busy]".into()),
    };
    let (games, seconds): (usize, u64) = (games.parse()?, seconds.parse()?);
    let folder = tempfile::tempdir()?;
    let (server, addr) = start(program, folder.path())?;
    println!("{games} live games against {AGENT} for {seconds} s at {addr}");

    let end = Instant::now() + Duration::from_secs(seconds);
    let figures = Arc::new(Mutex::new(Figures::default()));
    let client = reqwest::Client::new();
    let people = (0..games).map(|number| {
        let (addr, figures, client) = (addr.clone(), Arc::clone(&figures), client.clone());
        tokio::spawn(async move {
            // People do not all come in the same moment.
            sleep(Duration::from_millis(4 * number as u64)).await;
            while Instant::now() < end {
                if let Err(error) = play(&client, &addr, end, &figures).await {
                    figures.lock().unwrap().errors.push(error.to_string());
                }
            }
        })
    });
    let others = is_busy.then(|| tokio::spawn(keep_busy(client.clone(), addr.clone(), end)));
    futures_util::future::join_all(people).await;
    if let Some(others) = others {
        let [analyses, searches] = others.await??;
        println!("meanwhile a tournament, {analyses} analyses and {searches} searches of the lab");
    }

    let memory = peak_memory_mb(server.0.id());
    let mut figures = std::mem::take(&mut *figures.lock().unwrap());
    println!("{} games ended, {} moves", figures.games, figures.answered.len());
    report("move seen", &mut figures.seen);
    report("move and reply", &mut figures.answered);
    println!("errors: {}", figures.errors.len());
    for error in figures.errors.iter().take(5) {
        println!("  {error}");
    }
    match memory {
        Some(memory) => println!("peak memory of the server: {memory} MB"),
        None => println!("peak memory of the server: not known on this system"),
    }
    if figures.errors.is_empty() { Ok(()) } else { Err("there were errors".into()) }
}

fn start(program: &str, folder: &std::path::Path) -> Fallible<(Server, String)> {
    let mut child = Command::new(program)
        .args(["serve", "--addr", "127.0.0.1:0", "--log", "warn"])
        .args(["--set", "requests_per_second=0", "--set", "games_per_minute=0"])
        .args(["--set", "sockets_per_address=0", "--set", "sockets=0"])
        .args(["--database", &format!("sqlite:{}", folder.join("load.sqlite").display())])
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut line)?;
    let addr = line.strip_prefix("Listening on http://").and_then(|rest| rest.split(' ').next());
    let addr = addr.ok_or_else(|| format!("the server said {line:?}"))?.to_owned();
    Ok((Server(child), addr))
}

/// What others do who do not play: a tournament, analyses and long searches, two of each at a time.
/// Returns how many analyses and searches were answered.
async fn keep_busy(client: reqwest::Client, addr: String, end: Instant) -> Fallible<[usize; 2]> {
    let players = [json!({ "agent": "alphabeta:depth=8" }), json!({ "agent": "mcts:sims=5000" })];
    let cup = json!({ "players": players, "games": 1000 });
    let reply = client.post(format!("http://{addr}/api/arena")).json(&cup).send().await?;
    reply.error_for_status()?;

    let ask = |path: &'static str, body: fn(usize) -> Value| {
        let (client, addr) = (client.clone(), addr.clone());
        async move {
            let mut answered = 0;
            while Instant::now() < end {
                let call = client.post(format!("http://{addr}{path}")).json(&body(answered));
                call.send().await?.error_for_status()?;
                answered += 1;
            }
            Fallible::Ok(answered)
        }
    };
    let search = |_: usize| json!({ "moves": "44", "agent": "mcts:sims=100000" });
    let (one, two, three, four) = tokio::join!(
        ask("/api/analysis", analysis),
        ask("/api/analysis", |number| analysis(number + 5000)),
        ask("/api/lab/tree", search),
        ask("/api/lab/search", search),
    );
    Ok([one? + two?, three? + four?])
}

/// A question about one of many positions of twelve discs: a row, and five more in which nobody can
/// have a line.
fn analysis(number: usize) -> Value {
    let digits = (0..5).map(|place| number * 7919 / 7_usize.pow(place) % 7 + 1);
    let moves: String = digits.map(|digit| digit.to_string()).collect();
    json!({ "position": { "moves": format!("1234567{moves}") } })
}

/// One person's game, to its end or to the end of the test.
async fn play(
    client: &reqwest::Client,
    addr: &str,
    end: Instant,
    figures: &Mutex<Figures>,
) -> Fallible<()> {
    let new =
        json!({ "seats": [{ "kind": "human" }, { "kind": "agent", "agent": AGENT }], "first": 0 });
    let request = client.post(format!("http://{addr}/api/games"));
    let response = request.json(&new).send().await?.error_for_status()?;
    let cookie = response.headers().get("set-cookie").ok_or("no cookie")?.to_str()?.to_owned();
    let game: Value = response.json().await?;
    let id = game["id"].as_str().ok_or("no name")?;

    let mut request = format!("ws://{addr}/api/games/{id}/live").into_client_request()?;
    request.headers_mut().insert("cookie", cookie.split(';').next().unwrap_or("").parse()?);
    let (mut socket, _) = tokio_tungstenite::connect_async(request).await?;
    let mut sent: Option<(u64, Instant)> = None;
    while Instant::now() < end {
        let message = timeout(Duration::from_secs(20), socket.next()).await?;
        let Message::Text(text) = message.ok_or("the socket was closed")?? else { continue };
        let told: Value = serde_json::from_str(&text)?;
        if told["type"] == "refused" {
            return Err(told["error"].to_string().into());
        }
        let game = &told["game"];
        let (Some(ply), finished) = (game["ply"].as_u64(), game["status"] == "finished") else {
            continue;
        };
        if let Some((at, began)) = sent {
            let mut figures = figures.lock().unwrap();
            if ply == at + 1 {
                figures.seen.push(began.elapsed());
            }
            if ply > at + 1 || finished {
                figures.answered.push(began.elapsed());
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
            let said = json!({ "type": "move", "column": column, "ply": ply });
            sent = Some((ply, Instant::now()));
            socket.send(Message::text(said.to_string())).await?;
        }
    }
    socket.close(None).await?;
    Ok(())
}

fn report(name: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let at = |percent: usize| match times.len() {
        0 => 0.0,
        count => times[(count - 1) * percent / 100].as_secs_f64() * 1e3,
    };
    println!("{name}: p50 {:.1} ms, p99 {:.1} ms, worst {:.1} ms", at(50), at(99), at(100));
}

/// The most memory that a process has used, where the system tells.
fn peak_memory_mb(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kb| kb / 1024)
}
