//! Server processes on one PostgreSQL database, which are killed repeatedly.

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::ops::Range;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use claimeven_server::Config;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use super::TIMEOUT;
use super::failover::play_game;
use super::server::Server;
use super::test_server::postgres_config;

/// A process of `claimeven serve`.
struct Node {
    addr: SocketAddr,
    options: Vec<String>,
    process: Child,
}

impl Node {
    fn start(nats: &Server, config: &Config) -> Node {
        let addr = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut options = vec!["serve".to_owned(), "--log".to_owned(), "error".to_owned()];
        for (name, value) in [
            ("--addr", addr.to_string()),
            ("--database", config.database.clone()),
            ("--nats", nats.url()),
        ] {
            options.extend([name.to_owned(), value]);
        }
        // Tests move faster than people.
        for setting in [
            &format!("secret={}", config.secret),
            "database_connections=4",
            "threads=1",
            "away_seconds=0",
            "requests_per_second=0",
            "games_per_minute=0",
            "live_games_per_address=0",
            "connections_per_address=0",
            "sockets_per_address=0",
        ] {
            options.extend(["--set".to_owned(), setting.to_owned()]);
        }
        let process = spawn(&options);
        Node { addr, options, process }
    }

    fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Starts a server and waits until it listens.
fn spawn(options: &[String]) -> Child {
    let start = Instant::now();
    loop {
        let mut process = Command::new(env!("CARGO_BIN_EXE_claimeven"))
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        if line.starts_with("Listening on http://") {
            return process;
        }
        // Its port may be taken for a moment.
        let status = process.wait().unwrap();
        assert!(start.elapsed() < TIMEOUT, "the server does not start: {status}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Plays games concurrently while one of the two servers is killed every five seconds, at least until
/// the given number of kills. Returns the sorted delays of all moves at watchers.
async fn play(at_once: usize, kills: usize, pauses: Range<u64>) -> Option<Vec<Duration>> {
    let Some(config) = postgres_config(Config::default()).await else {
        println!("SKIPPED: CLAIMEVEN_TEST_POSTGRES names no server");
        return None;
    };
    let nats = Server::start()?;
    let mut servers = [Node::start(&nats, &config), Node::start(&nats, &config)];
    let addrs = servers.each_ref().map(|server| server.addr);
    let mut playing: FuturesUnordered<_> =
        (0..at_once).map(|game| tokio::spawn(play_game(addrs, game, pauses.clone()))).collect();
    let (start, mut games, mut killed) = (Instant::now(), at_once, 0);
    let mut delays = Vec::new();
    let mut next_kill = tokio::time::interval(Duration::from_secs(5));
    next_kill.tick().await;
    loop {
        assert!(start.elapsed() < TIMEOUT, "{} games do not end", playing.len());
        tokio::select! {
            ended = playing.next() => match ended {
                Some(ended) => {
                    delays.extend(ended.unwrap());
                    if killed < kills {
                        playing.push(tokio::spawn(play_game(addrs, games, pauses.clone())));
                        games += 1;
                    }
                }
                None => break,
            },
            _ = next_kill.tick() => {
                let server = &mut servers[killed % 2];
                server.kill();
                let options = server.options.clone();
                server.process = tokio::task::spawn_blocking(move || spawn(&options)).await.unwrap();
                killed += 1;
            }
        }
    }
    delays.sort_unstable();
    let late = delays.iter().filter(|delay| **delay > Duration::from_millis(300)).count();
    let at = |percent: usize| delays[(delays.len() - 1) * percent / 100];
    println!(
        "{games} games, {killed} kills, {} moves seen by watchers: p50 {:.1?}, p99 {:.1?}, max {:.1?}, \
         {late} after more than 300 ms",
        delays.len(),
        at(50),
        at(99),
        at(100)
    );
    Some(delays)
}

#[tokio::test(flavor = "multi_thread")]
async fn games_survive_servers_that_are_killed() {
    let Some(delays) = play(12, 3, 100..400).await else { return };
    assert!(delays.len() > 100, "{}", delays.len());
    // Generous: other tests run at the same time.
    assert!(delays[delays.len() - 1] < Duration::from_secs(20), "{:?}", delays.last());
}

/// For an idle machine; needs PostgreSQL (`CLAIMEVEN_TEST_POSTGRES`):
/// `cargo nextest run --release -E 'test(hundred_games)' --run-ignored all --no-capture`
#[tokio::test(flavor = "multi_thread")]
#[ignore = "for a quiet machine"]
async fn hundred_games_are_seen_within_300_ms_while_servers_are_killed() {
    let Some(delays) = play(100, 6, 500..2000).await else { return };
    assert!(delays[delays.len() - 1] < Duration::from_millis(300), "{:?}", delays.last());
}
