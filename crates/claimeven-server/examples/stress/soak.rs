//! A long run: memory, open files and threads must not grow.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::time::sleep;

use crate::Fallible;
use crate::server::{Server, Visitor};

/// The memory budget of the server's agents.
const MEMORY_MB: u64 = 512;

/// Memory that the server may use in addition.
const ALLOWED_MB: u64 = 100;

/// The allowed random difference between two parts of a long run.
const TOLERATED_MB: u64 = 20;
const TOLERATED_HANDLES: usize = 10;

/// Opponents that keep as much as they can between moves.
const AGENTS: [&str; 6] = [
    "mcts:sims=1000000",
    "mtdf:depth=12,table=64",
    "timed:ms=300,table=64",
    "perfect:table=64",
    "zero:sims=400",
    "level:6",
];

/// Plays games against memory-hungry agents from many addresses and reports the server's resources.
pub(crate) async fn run(program: &str, time: Duration) -> Fallible<()> {
    let folder = tempfile::tempdir()?;
    let database = format!("sqlite:{}", folder.path().join("soak.sqlite").display());
    let memory = format!("memory_mb={MEMORY_MB}");
    let server = Server::start(program, &database, &[&memory, "think_ms=1000"])?;
    let stop = Arc::new(AtomicBool::new(false));
    let mut players = Vec::new();
    for number in 0..40 {
        let (addr, stop) = (server.addr.clone(), Arc::clone(&stop));
        let visitor = Visitor::from(&format!("127.0.1.{}", number + 1))?;
        players.push(tokio::spawn(async move {
            let mut moves = 0;
            while !stop.load(Ordering::Relaxed) {
                moves += play(&addr, visitor.clone(), &stop).await.unwrap_or_default();
                sleep(Duration::from_millis(100)).await;
            }
            moves
        }));
    }
    let started = Instant::now();
    let mut figures = Vec::new();
    while started.elapsed() < time {
        sleep((time / 20).min(Duration::from_mins(1))).await;
        let memory = server.memory_mb("VmRSS").ok_or("the memory is not known on this system")?;
        let (files, threads) = server.handles().ok_or("the files are not known on this system")?;
        let figure = Figures { memory, files, threads };
        println!("{:>5.1} min: {figure}", started.elapsed().as_secs_f64() / 60.0);
        figures.push(figure);
    }
    stop.store(true, Ordering::Relaxed);
    let mut moves = 0;
    for player in players {
        moves += player.await?;
    }
    // In the last quarter, after 30 of 40 minutes, nothing may grow.
    let (before, last) = figures.split_at(figures.len() * 3 / 4);
    let max = |part: &[Figures]| part.iter().fold(Figures::default(), Figures::max);
    let (before, last) = (max(before), max(last));
    println!("{moves} moves; the budget is {} MB", MEMORY_MB + ALLOWED_MB);
    println!("at most {before} in the first three quarters, {last} in the last one");
    // The peak may lie between two samples.
    let peak = server.memory_mb("VmHWM").ok_or("the memory is not known on this system")?;
    println!("peak memory: {peak} MB");
    if peak > MEMORY_MB + ALLOWED_MB {
        return Err("the server uses more memory than its budget".into());
    }
    let grown = last.memory > before.memory + TOLERATED_MB
        || last.files > before.files + TOLERATED_HANDLES
        || last.threads > before.threads + TOLERATED_HANDLES;
    if grown { Err("the server is still growing".into()) } else { Ok(()) }
}

/// The server's use of system resources.
#[derive(Clone, Copy, Default)]
struct Figures {
    /// In MB.
    memory: u64,
    files: usize,
    threads: usize,
}

impl Figures {
    fn max(self, other: &Figures) -> Figures {
        Figures {
            memory: self.memory.max(other.memory),
            files: self.files.max(other.files),
            threads: self.threads.max(other.threads),
        }
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} MB, {} files, {} threads", self.memory, self.files, self.threads)
    }
}

/// One player's game; returns the number of moves.
async fn play(addr: &str, mut visitor: Visitor, stop: &AtomicBool) -> Fallible<usize> {
    let agent = AGENTS[fastrand::usize(..AGENTS.len())];
    let seats = json!([{ "kind": "human" }, { "kind": "agent", "agent": agent }]);
    let (status, mut game) =
        visitor.request(addr, "/api/games", Some(json!({ "seats": seats }))).await?;
    if status != 201 {
        return Err(format!("{status} {game}").into());
    }
    let path = format!("/api/games/{}", game["id"].as_str().unwrap_or_default());
    let mut moves = 0;
    while game["status"] == "playing" && !stop.load(Ordering::Relaxed) {
        if game["thinking"].is_null() {
            let legal = game["legal"].as_array().ok_or("no columns")?;
            let column = legal[fastrand::usize(..legal.len())].clone();
            let body = json!({ "column": column, "ply": game["ply"] });
            visitor.request(addr, &format!("{path}/moves"), Some(body)).await?;
            moves += 1;
        }
        sleep(Duration::from_millis(200)).await;
        let (status, now) = visitor.request(addr, &path, None).await?;
        if status == 200 {
            game = now;
        }
    }
    Ok(moves)
}
