//! A long run: memory, open files and threads must not grow.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::time::sleep;

use crate::Fallible;
use crate::server::{Server, Visitor};

/// The memory budget of the server's agents.
const MEMORY_MB: u64 = 512;

/// What the server may use in addition.
const ALLOWED_MB: u64 = 100;

/// Opponents that keep as much memory as they can between moves.
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
    println!("{:>8} {:>9} {:>7} {:>8}", "minutes", "memory", "files", "threads");
    let began = Instant::now();
    let mut figures = Vec::new();
    while began.elapsed() < time {
        sleep((time / 20).min(Duration::from_mins(1))).await;
        let memory = server.memory_mb("VmRSS").ok_or("the memory is not known on this system")?;
        let (files, threads) = server.handles().ok_or("the files are not known on this system")?;
        let minutes = began.elapsed().as_secs_f64() / 60.0;
        println!("{minutes:>8.1} {memory:>6} MB {files:>7} {threads:>8}");
        figures.push((memory, files, threads));
    }
    stop.store(true, Ordering::Relaxed);
    let mut moves = 0;
    for player in players {
        moves += player.await?;
    }
    // The second half must not use more than the first.
    let (first, second) = figures.split_at(figures.len() / 2);
    let most = |part: &[(u64, usize, usize)]| part.iter().map(|figure| figure.0).max().unwrap_or(0);
    println!(
        "{moves} moves; at most {} MB in the first half and {} MB in the second (budget {} MB)",
        most(first),
        most(second),
        MEMORY_MB + ALLOWED_MB
    );
    if most(&figures) > MEMORY_MB + ALLOWED_MB {
        return Err("the server uses more memory than its budget".into());
    }
    Ok(())
}

/// One player's game; returns the number of moves.
async fn play(addr: &str, mut visitor: Visitor, stop: &AtomicBool) -> Fallible<usize> {
    let agent = AGENTS[fastrand::usize(..AGENTS.len())];
    let seats = json!([{ "kind": "human" }, { "kind": "agent", "agent": agent }]);
    let (status, mut game) =
        visitor.ask(addr, "/api/games", Some(json!({ "seats": seats }))).await?;
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
            visitor.ask(addr, &format!("{path}/moves"), Some(body)).await?;
            moves += 1;
        }
        sleep(Duration::from_millis(200)).await;
        let (status, now) = visitor.ask(addr, &path, None).await?;
        if status == 200 {
            game = now;
        }
    }
    Ok(moves)
}
