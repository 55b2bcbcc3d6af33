//! Fault injection while hundreds of games are played: every acknowledged move must be in the
//! database, every game must continue, and every result must be correct.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use claimeven_game::{Game, Outcome, Setup};
use serde_json::{Value, json};
use sqlx::any::AnyConnectOptions;
use sqlx::{AnyConnection, ConnectOptions, Connection, Executor, Row};
use tokio::time::sleep;

use crate::Fallible;
use crate::server::{Server, Visitor};

/// Concurrent games.
const GAMES: usize = 500;

/// The range of thinking times per move.
const PAUSE_MS: std::ops::Range<u64> = 200..2_000;

/// How long an agent may take to move after a fault.
const MAX_DELAY: Duration = Duration::from_secs(90);

/// The acknowledged moves of each game, as ply and column.
type Acknowledged = BTreeMap<String, Vec<(u64, u64)>>;

/// A fault of the database. The server itself is killed repeatedly without warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// Another connection holds a lock that all writes need.
    Locked,
    /// The disk is full for a while (SQLite).
    DiskFull,
    /// All processes of PostgreSQL are suspended for a while.
    Suspended,
    /// A process of PostgreSQL is killed; all others exit, and the database recovers.
    Crashed,
    /// PostgreSQL is restarted.
    Restarted,
}

/// How long a database is locked or suspended, and how long a disk is full.
const FAULT_TIME: Duration = Duration::from_secs(15);

/// What the players share.
struct Shared {
    addr: String,
    acknowledged: Mutex<Acknowledged>,
    /// The games in which it is an agent's turn, and since when.
    waiting: Mutex<BTreeMap<String, Instant>>,
    stop: AtomicBool,
}

impl Shared {
    /// Notes whether it is the agent's turn.
    fn see(&self, id: &str, is_agents_turn: bool) {
        let mut waiting = self.waiting.lock().unwrap();
        if is_agents_turn {
            waiting.entry(id.to_owned()).or_insert_with(Instant::now);
        } else {
            waiting.remove(id);
        }
    }

    /// Waits until every agent that had to move when a fault ended has moved; returns how many have
    /// not. The server is not restarted meanwhile, because that would also restart the agents.
    async fn count_frozen(&self) -> usize {
        let ended = Instant::now();
        loop {
            let waiting =
                self.waiting.lock().unwrap().values().filter(|&&since| since < ended).count();
            if waiting == 0 || ended.elapsed() > MAX_DELAY {
                return waiting;
            }
            sleep(Duration::from_millis(200)).await;
        }
    }
}

/// Kills the server this many times, with a fault of the database after every fifth kill, and reports
/// what was lost.
pub(crate) async fn run(program: &str, kills: usize, postgres: Option<&str>) -> Fallible<()> {
    sqlx::any::install_default_drivers();
    let folder = tempfile::tempdir()?;
    let disk = if postgres.is_none() { SmallDisk::mount(folder.path()) } else { None };
    let file = folder.path().join("chaos.sqlite");
    let database = postgres.map_or_else(|| format!("sqlite:{}", file.display()), str::to_owned);
    let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
    let addr = format!("127.0.0.1:{port}");
    let settings = [
        "requests_per_second=0",
        "games_per_minute=0",
        "live_games_per_address=0",
        "connections_per_address=0",
        "queue_people=0",
        "secret=chaos",
    ];
    // Discards the log, which has thousands of refused moves.
    let start = || Server::start_at(program, &addr, &database, &settings, Stdio::null());
    let mut server = start()?;
    let (name, faults): (&str, &[Fault]) = match (postgres, &disk) {
        (Some(_), _) => {
            ("PostgreSQL", &[Fault::Locked, Fault::Suspended, Fault::Crashed, Fault::Restarted])
        }
        (None, Some(_)) => ("SQLite", &[Fault::Locked, Fault::DiskFull]),
        (None, None) => ("SQLite, on a disk that cannot be filled", &[Fault::Locked]),
    };
    println!("{GAMES} games, {kills} kills, {name}");
    let started = Instant::now();

    let shared = Arc::new(Shared {
        addr: addr.clone(),
        acknowledged: Mutex::default(),
        waiting: Mutex::default(),
        stop: AtomicBool::new(false),
    });
    // One client for all, with different cookies: creating a client takes longer than a move.
    let visitor = Visitor::from("127.0.0.1")?;
    let players: Vec<_> = (0..GAMES)
        .map(|_| {
            let (shared, visitor) = (Arc::clone(&shared), visitor.clone());
            tokio::spawn(async move {
                while !shared.stop.load(Ordering::Relaxed) {
                    // An unreachable server is part of the test.
                    let _ = play(&shared, visitor.clone()).await;
                    sleep(Duration::from_millis(200)).await;
                }
            })
        })
        .collect();
    let mut injected: BTreeMap<String, usize> = BTreeMap::new();
    let mut frozen = 0;
    for round in 0..kills {
        sleep(Duration::from_millis(fastrand::u64(1_000..4_000))).await;
        server.kill()?;
        server = restart(&start).await?;
        if round % 5 < 4 {
            continue;
        }
        sleep(Duration::from_secs(2)).await;
        let fault = faults[round / 5 % faults.len()];
        *injected.entry(format!("{fault:?}")).or_default() += 1;
        match (fault, &disk) {
            (Fault::Locked, _) => lock(&database).await?,
            (Fault::DiskFull, Some(disk)) => disk.fill_for_a_while().await?,
            (Fault::DiskFull, None) => {}
            (Fault::Suspended, _) => suspend(&database).await?,
            (Fault::Crashed, _) => crash(&database).await?,
            (Fault::Restarted, _) => restart_database(&database).await?,
        }
        frozen += shared.count_frozen().await;
        let moves: usize = shared.acknowledged.lock().unwrap().values().map(Vec::len).sum();
        println!(
            "{:>5} s: {} kills, faults of the database {injected:?}, {moves} acknowledged moves",
            started.elapsed().as_secs(),
            round + 1
        );
    }
    sleep(Duration::from_secs(5)).await;
    shared.stop.store(true, Ordering::Relaxed);
    for player in players {
        player.await?;
    }
    let acknowledged = std::mem::take(&mut *shared.acknowledged.lock().unwrap());
    let lost = count_lost(&database, &acknowledged).await?;
    let (frozen_at_end, wrong) = examine(&shared.addr, &acknowledged).await?;
    frozen += frozen_at_end;
    let moves: usize = acknowledged.values().map(Vec::len).sum();
    println!("{kills} kills, faults of the database {injected:?}");
    println!("{} games, {moves} acknowledged moves: {lost} lost", acknowledged.len());
    println!("{frozen} frozen games, {wrong} wrong results");
    if moves < 100 * kills {
        return Err("too few moves to draw a conclusion".into());
    }
    if (lost, frozen, wrong) == (0, 0, 0) { Ok(()) } else { Err("the server failed".into()) }
}

/// Restarts the server; the operating system may take a moment to release the port and the lock.
async fn restart(start: &impl Fn() -> Fallible<Server>) -> Fallible<Server> {
    let started = Instant::now();
    loop {
        match start() {
            Ok(server) => return Ok(server),
            Err(error) if started.elapsed() > Duration::from_secs(30) => return Err(error),
            Err(_) => sleep(Duration::from_millis(200)).await,
        }
    }
}

/// Plays one game to its end and records every acknowledged move.
async fn play(shared: &Shared, mut visitor: Visitor) -> Fallible<()> {
    let agent = ["random", "level:1", "alphabeta:depth=2"][fastrand::usize(..3)];
    let seats = json!([{ "kind": "human" }, { "kind": "agent", "agent": agent }]);
    let mut new = json!({ "seats": seats });
    if fastrand::bool() {
        new["clock"] = json!({ "initial_ms": 3_600_000, "increment_ms": 1_000 });
    }
    let (status, mut game) = visitor.request(&shared.addr, "/api/games", Some(new)).await?;
    if status != 201 {
        return Err(format!("{status} {game}").into());
    }
    let id = game["id"].as_str().ok_or("no id")?.to_owned();
    let path = format!("/api/games/{id}");
    shared.acknowledged.lock().unwrap().insert(id.clone(), Vec::new());
    while game["status"] != "finished" && !shared.stop.load(Ordering::Relaxed) {
        sleep(Duration::from_millis(fastrand::u64(PAUSE_MS))).await;
        let own = game["players"][0]["you"] == true;
        let mine = u64::from(!own);
        shared.see(&id, game["status"] != "finished" && game["to_move"] != mine);
        if game["to_move"] == mine {
            let legal = game["legal"].as_array().ok_or("no columns")?;
            let column = legal[fastrand::usize(..legal.len())].as_u64().ok_or("no number")?;
            let ply = game["ply"].as_u64().ok_or("no ply")?;
            let body = json!({ "column": column, "ply": ply });
            let reply = visitor.request(&shared.addr, &format!("{path}/moves"), Some(body)).await;
            if let Ok((200, now)) = reply {
                let mut acknowledged = shared.acknowledged.lock().unwrap();
                acknowledged.entry(id.clone()).or_default().push((ply, column));
                game = now;
                continue;
            }
        }
        if let Ok((200, now)) = visitor.request(&shared.addr, &path, None).await {
            game = now;
        }
    }
    shared.see(&id, false);
    Ok(())
}

async fn connect(database: &str) -> Fallible<AnyConnection> {
    let options: AnyConnectOptions = database.parse()?;
    Ok(options.connect().await?)
}

/// Locks SQLite's file, or the games in PostgreSQL, for a while.
async fn lock(database: &str) -> Fallible<()> {
    let mut connection = connect(database).await?;
    let (begin, lock) = if database.starts_with("sqlite") {
        ("BEGIN IMMEDIATE", "SELECT 1")
    } else {
        ("BEGIN", "LOCK TABLE games, moves IN ACCESS EXCLUSIVE MODE")
    };
    // Another connection may hold the lock.
    while connection.execute(begin).await.is_err() {
        sleep(Duration::from_millis(5)).await;
    }
    connection.execute(lock).await?;
    sleep(FAULT_TIME).await;
    connection.execute("ROLLBACK").await?;
    connection.close().await?;
    Ok(())
}

/// Suspends all processes of PostgreSQL for a while.
async fn suspend(database: &str) -> Fallible<()> {
    let postmaster = postmaster(database).await?;
    let mut processes = children(postmaster)?;
    // The parent first, so that it starts no new ones.
    processes.insert(0, postmaster);
    signal("STOP", &processes)?;
    sleep(FAULT_TIME).await;
    signal("CONT", &processes)
}

/// Kills a process of PostgreSQL and waits until the database has recovered.
async fn crash(database: &str) -> Fallible<()> {
    let mut connection = connect(database).await?;
    let sql = "SELECT pid::BIGINT FROM pg_stat_activity \
               WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() LIMIT 1";
    let backend: Option<i64> =
        sqlx::query(sql).fetch_optional(&mut connection).await?.map(|row| row.get(0));
    let own: i64 = sqlx::query("SELECT pg_backend_pid()::BIGINT")
        .fetch_one(&mut connection)
        .await?
        .try_get(0)?;
    signal("KILL", &[backend.unwrap_or(own)])?;
    wait_until_available(database).await;
    Ok(())
}

/// Restarts PostgreSQL without waiting for its clients.
async fn restart_database(database: &str) -> Fallible<()> {
    let postmaster = postmaster(database).await?;
    let row = sqlx::query("SELECT setting FROM pg_settings WHERE name = 'data_directory'")
        .fetch_one(&mut connect(database).await?)
        .await?;
    let folder: String = row.try_get(0)?;
    let owner = Command::new("stat").args(["-c", "%U", &folder]).output()?;
    let owner = String::from_utf8(owner.stdout)?;
    let pg_ctl = std::fs::read_link(format!("/proc/{postmaster}/exe"))?.with_file_name("pg_ctl");
    // It refuses to run as root.
    let mut command = Command::new("runuser");
    command.args(["-u", owner.trim(), "--"]).arg(pg_ctl);
    command.args(["restart", "--silent", "--wait", "--mode=fast", "-D", &folder]);
    command.current_dir("/").stdout(Stdio::null()).stderr(Stdio::null());
    if !command.status()?.success() {
        return Err("PostgreSQL could not be restarted".into());
    }
    wait_until_available(database).await;
    Ok(())
}

async fn wait_until_available(database: &str) {
    while connect(database).await.is_err() {
        sleep(Duration::from_millis(100)).await;
    }
}

/// The process of PostgreSQL that is the parent of all others.
async fn postmaster(database: &str) -> Fallible<i64> {
    let mut connection = connect(database).await?;
    let row = sqlx::query("SELECT pg_backend_pid()::BIGINT").fetch_one(&mut connection).await?;
    parent(row.try_get(0)?).ok_or_else(|| "PostgreSQL runs on another machine".into())
}

fn parent(process: i64) -> Option<i64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

fn children(process: i64) -> Fallible<Vec<i64>> {
    let processes = std::fs::read_dir("/proc")?.flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    Ok(ids.filter(|&id| parent(id) == Some(process)).collect())
}

fn signal(name: &str, processes: &[i64]) -> Fallible<()> {
    let processes = processes.iter().map(i64::to_string);
    // Some may have exited by themselves.
    Command::new("kill").arg(format!("-{name}")).args(processes).output()?;
    Ok(())
}

/// A small file system for the database of SQLite, unmounted when dropped.
struct SmallDisk(std::path::PathBuf);

impl SmallDisk {
    /// `None` if this user may not mount one.
    fn mount(folder: &Path) -> Option<SmallDisk> {
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", "size=512m", "tmpfs"]).arg(folder);
        let mounted = command.output().is_ok_and(|output| output.status.success());
        mounted.then(|| SmallDisk(folder.to_owned()))
    }

    async fn fill_for_a_while(&self) -> Fallible<()> {
        let filler = self.0.join("filler");
        let mut file = std::fs::File::create(&filler)?;
        // The last write fails.
        while file.write_all(&[0; 1 << 12]).is_ok() {}
        sleep(FAULT_TIME).await;
        std::fs::remove_file(filler)?;
        Ok(())
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).output();
    }
}

/// The number of acknowledged moves that are not in the database, read over a separate connection.
async fn count_lost(database: &str, acknowledged: &Acknowledged) -> Fallible<usize> {
    let mut connection = connect(database).await?;
    let mut lost = 0;
    for (game, moves) in acknowledged {
        let query = sqlx::query("SELECT ply, board_col FROM moves WHERE game = $1");
        let rows = query.bind(game.clone()).fetch_all(&mut connection).await?;
        let mut stored = BTreeMap::new();
        for row in rows {
            stored.insert(row.try_get::<i64, _>(0)?.cast_unsigned(), row.try_get::<i64, _>(1)?);
        }
        lost += moves
            .iter()
            .filter(|(ply, column)| stored.get(ply) != Some(&column.cast_signed()))
            .count();
    }
    Ok(lost)
}

/// The number of games in which an agent is to move but does not, and of results that do not match
/// their moves.
async fn examine(addr: &str, acknowledged: &Acknowledged) -> Fallible<(usize, usize)> {
    let mut visitor = Visitor::from("127.0.0.1")?;
    let (mut frozen, mut wrong) = (0, 0);
    let started = Instant::now();
    for id in acknowledged.keys() {
        let path = format!("/api/games/{id}");
        let game = loop {
            let (status, game) = visitor.request(addr, &path, None).await?;
            let seat = game["to_move"].as_u64().unwrap_or(0) as usize;
            let is_done = status == 200
                && (game["status"] == "finished" || game["players"][seat]["kind"] != "agent");
            if is_done || started.elapsed() > MAX_DELAY {
                frozen += usize::from(!is_done);
                break game;
            }
            sleep(Duration::from_millis(100)).await;
        };
        wrong += usize::from(!has_correct_result(&game));
    }
    Ok((frozen, wrong))
}

/// Whether a game's status and winner match its moves.
fn has_correct_result(game: &Value) -> bool {
    let moves = game["moves"].as_array().map(Vec::as_slice).unwrap_or_default();
    let moves: String = moves.iter().map(|played| played["column"].to_string()).collect();
    let Ok(replayed) = Game::parse(Setup::STANDARD, &moves) else { return false };
    let first = game["first"].as_u64().unwrap_or(0);
    let outcome = replayed.position().outcome();
    let winner = outcome.and_then(Outcome::winner);
    let winner = winner.map(|winner| (winner.index() as u64 + first) % 2);
    (game["status"] == "finished") == outcome.is_some()
        && game["result"]["winner"].as_u64() == winner
}
