//! Several servers on one PostgreSQL database, connected by a real NATS server.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use claimeven_server::{Config, Server};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::failover::{open_game, play_game};
use crate::nats;
use crate::test_server::{Visitor, postgres_config};

/// The timeout for everything, on a busy machine.
const TIMEOUT: Duration = Duration::from_mins(4);

/// What all servers share.
struct Common {
    nats: nats::Server,
    config: Config,
}

impl Common {
    /// `None` if PostgreSQL or NATS is missing.
    async fn new(config: Config) -> Option<Common> {
        let Some(config) = postgres_config(config).await else {
            println!("SKIPPED: CLAIMEVEN_TEST_POSTGRES names no server");
            return None;
        };
        let nats = nats::Server::start()?;
        // Tests play faster than people.
        let config = Config {
            nats: nats.url(),
            requests_per_second: 0,
            games_per_minute: 0,
            live_games_per_address: 0,
            connections_per_address: 0,
            sockets_per_address: 0,
            threads: 1,
            ..config
        };
        Some(Common { nats, config })
    }

    async fn server(&self) -> Node {
        Node::start(&self.config, 0).await
    }
}

/// A server in its own runtime; shutting that down is like killing a process.
struct Node {
    addr: SocketAddr,
    config: Config,
    runtime: Option<Runtime>,
    stop: Option<oneshot::Sender<()>>,
    running: Option<JoinHandle<()>>,
}

impl Node {
    async fn start(config: &Config, port: u16) -> Node {
        let addr = SocketAddr::from(([127, 0, 0, 1], port));
        let config = Config { addr, ..config.clone() };
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).enable_all().build().unwrap();
        let (handle, own) = (runtime.handle().clone(), config.clone());
        let starting = move || loop {
            // The port of a killed server may stay in use for a moment.
            match handle.block_on(Server::start(own.clone())) {
                Err(error) if error.to_string().contains("cannot listen") => {
                    std::thread::sleep(Duration::from_millis(100));
                }
                started => return started.unwrap(),
            }
        };
        let server = tokio::task::spawn_blocking(starting).await.unwrap();
        let addr = server.addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let running = runtime.spawn(async move {
            server.run(async move { drop(stopped.await) }).await.unwrap();
        });
        let (runtime, stop, running) = (Some(runtime), Some(stop), Some(running));
        Node { addr, config, runtime, stop, running }
    }

    fn visitor(&self) -> Visitor {
        Visitor::new(self.addr, "127.0.0.1")
    }

    /// Ends it without notifying anybody.
    fn kill(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }

    /// Shuts it down as SIGTERM does.
    async fn stop(&mut self) {
        self.stop.take();
        self.running.take().unwrap().await.unwrap();
        self.kill();
    }

    async fn restart(&mut self) {
        *self = Node::start(&self.config, self.addr.port()).await;
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.kill();
    }
}

fn is_ply(ply: u64) -> impl Fn(&Value) -> bool {
    move |game| game["ply"].as_u64() >= Some(ply)
}

#[tokio::test(flavor = "multi_thread")]
async fn players_and_watchers_on_two_servers_see_the_same_game() {
    let Some(common) = Common::new(Config::default()).await else { return };
    let (one, two) = (common.server().await, common.server().await);
    let (ada, bob) = (one.visitor(), two.visitor());
    let id = ada.create(open_game()).await;
    let mut first = ada.follow(&id).await;
    bob.act(&id, "join", json!({ "name": "Bob" })).await.expect(200);
    let mut second = bob.follow(&id).await;
    let mut watchers = [one.visitor().follow(&id).await, two.visitor().follow(&id).await];
    let all_connected = |game: &Value| {
        game["players"][0]["connected"] == true
            && game["players"][1]["connected"] == true
            && game["watchers"] == 2
    };
    first.game(all_connected).await;
    second.game(all_connected).await;
    for (ply, column) in (0..).zip([1, 2, 1, 2, 1, 2, 1]) {
        let socket = if ply % 2 == 0 { &mut first } else { &mut second };
        if ply > 0 {
            socket.game(is_ply(ply)).await;
        }
        socket.play(column, ply).await;
    }
    for socket in [&mut first, &mut second].into_iter().chain(&mut watchers) {
        let game = socket.game(|game| game["status"] == "finished").await;
        assert_eq!(game["result"], json!({ "winner": 0, "reason": "line" }));
    }
    // A player who was sent to the other server offers a rematch there.
    assert_eq!(
        ada.at_addr(two.addr).act(&id, "rematch", json!({})).await.expect(200)["id"],
        Value::Null
    );
    let next = bob.at_addr(one.addr).act(&id, "rematch", json!({})).await.expect(200);
    first.game(|game| game["rematch"] == next["id"]).await;
    second.game(|game| game["rematch"] == next["id"]).await;
    // Watchers on all servers learn that a game was deleted.
    let local = ada.create(json!([{ "kind": "human" }, { "kind": "human" }])).await;
    let mut watcher = two.visitor().follow(&local).await;
    watcher.game(|_| true).await;
    assert_eq!(ada.delete(&format!("/api/games/{local}")).await.status, 204);
    assert_eq!(watcher.receive_type("bye", |_| true).await["reason"], "deleted");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_one_of_two_simultaneous_moves_on_two_servers_is_played() {
    let Some(common) = Common::new(Config::default()).await else { return };
    let (one, two) = (common.server().await, common.server().await);
    let ada = one.visitor();
    let id = ada.create(json!([{ "kind": "human" }, { "kind": "human" }])).await;
    let same = ada.at_addr(two.addr);
    same.game(&id).await;
    for ply in 0..20 {
        let (left, right) = tokio::join!(ada.play(&id, 1 + ply % 6, ply), same.play(&id, 7, ply));
        let mut statuses = [left.status.as_u16(), right.status.as_u16()];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409], "{left:?} {right:?}");
        let game = ada.wait(&id, is_ply(ply + 1)).await;
        assert_eq!(game["ply"], ply + 1);
        if game["status"] == "finished" {
            break;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_moves_once_and_continues_elsewhere_after_its_server_is_killed() {
    let Some(common) = Common::new(Config::default()).await else { return };
    let (mut one, two) = (common.server().await, common.server().await);
    let ada = one.visitor();
    let against = json!([{ "kind": "human" }, { "kind": "agent", "agent": "timed:ms=600" }]);
    let id = ada.create(against).await;
    let agent = json!({ "kind": "agent", "agent": "timed:ms=100" });
    let agents = ada.create(json!([agent, agent])).await;
    let mut first = ada.follow(&id).await;
    let mut watcher = two.visitor().follow(&id).await;
    let mut of_agents = two.visitor().follow(&agents).await;
    // A server passes thoughts on once it knows that somebody is watching elsewhere.
    first.game(|game| game["watchers"] == 1).await;
    first.play(4, 0).await;
    // The agent's thoughts are shown on the other server.
    watcher.game(|game| game["thinking"] == 1).await;
    watcher.receive_type("thinking", |_| true).await;
    assert_eq!(watcher.game(is_ply(2)).await["ply"], 2);
    let before = of_agents.game(is_ply(1)).await["ply"].as_u64().unwrap();
    first.play(4, 2).await;
    first.game(is_ply(3)).await;
    one.kill();
    // The other server takes over by itself.
    assert_eq!(watcher.game(is_ply(4)).await["ply"], 4);
    let game =
        of_agents.game(|game| game["status"] == "finished" || is_ply(before + 4)(game)).await;
    assert!(game["ply"].as_u64() > Some(before), "{game}");
    let ada = ada.at_addr(two.addr);
    let mut first = ada.follow(&id).await;
    first.play(4, 4).await;
    assert_eq!(first.game(is_ply(6)).await["ply"], 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn flags_fall_and_leavers_lose_once_on_any_server() {
    let Some(common) = Common::new(Config { away_seconds: 1, ..Config::default() }).await else {
        return;
    };
    let (one, mut two) = (common.server().await, common.server().await);
    let (ada, bob) = (one.visitor(), two.visitor());
    // Bob disconnects from the second server; Ada is on the first.
    let left = ada.create(open_game()).await;
    bob.act(&left, "join", json!({})).await.expect(200);
    let (mut first, second) = (ada.follow(&left).await, bob.follow(&left).await);
    first.game(|game| game["players"][1]["connected"] == true).await;
    second.close().await;
    let game = first.game(|game| game["status"] == "finished").await;
    assert_eq!(game["result"], json!({ "winner": 0, "reason": "abandoned" }));
    assert_eq!(
        bob.wait(&left, |game| game["status"] == "finished").await["version"],
        game["version"]
    );

    // A game with a clock whose players were on a server that is killed.
    let clock = json!({ "seats": open_game(), "first": 0, "clock": { "initial_ms": 5000, "increment_ms": 0 } });
    let bob = two.visitor();
    let timed = bob.create_with(clock).await;
    ada.at_addr(two.addr).act(&timed, "join", json!({})).await.expect(200);
    bob.play(&timed, 4, 0).await.expect(200);
    two.kill();
    let game = ada.wait(&timed, |game| game["status"] == "finished").await;
    assert_eq!(game["result"], json!({ "winner": 0, "reason": "time" }));
    assert_eq!(game["clock"]["remaining_ms"][1], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn games_continue_without_the_nats_server() {
    let Some(mut common) = Common::new(Config::default()).await else { return };
    let (one, two) = (common.server().await, common.server().await);
    let (ada, bob) = (one.visitor(), two.visitor());
    let id = ada.create(open_game()).await;
    bob.act(&id, "join", json!({})).await.expect(200);
    let (mut first, mut second) = (ada.follow(&id).await, bob.follow(&id).await);
    first.game(|game| game["status"] == "playing").await;
    common.nats.kill();
    for ply in 0..6 {
        let socket = if ply % 2 == 0 { &mut first } else { &mut second };
        if ply > 0 {
            socket.game(is_ply(ply)).await;
        }
        socket.play(1 + ply % 2, ply).await;
    }
    second.game(is_ply(6)).await;
    common.nats.kill_and_restart();
    first.play(1, 6).await;
    second.game(|game| game["status"] == "finished").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tournament_runs_on_one_server_and_is_taken_over_when_that_is_killed() {
    let Some(common) = Common::new(Config::default()).await else { return };
    let mut one = common.server().await;
    let ada = one.visitor();
    let players = json!([{ "agent": "mcts:sims=3000" }, { "agent": "mcts:sims=4000" }]);
    let plan = json!({ "title": "Cup", "players": players, "games": 200, "openings": "random:4" });
    let job = ada.post("/api/arena", plan).await.expect(201);
    let path = format!("/api/arena/{}", job["id"].as_str().unwrap());
    let wait = async |ada: &Visitor, condition: &dyn Fn(&Value) -> bool| {
        let started = Instant::now();
        loop {
            let view = ada.get(&path).await.expect(200);
            if condition(&view) {
                return view;
            }
            assert!(started.elapsed() < TIMEOUT, "{view:#}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    wait(&ada, &|job| job["state"] == "running" && job["done"].as_u64() > Some(0)).await;
    // A second server that starts does not take it over.
    let two = common.server().await;
    let ada = ada.at_addr(two.addr);
    let before = wait(&ada, &|job| job["state"] == "running").await["done"].as_u64();
    one.kill();
    wait(&ada, &|job| job["done"].as_u64() > before.map(|done| done + 2)).await;
    one.restart().await;
    // It can be stopped on a server where it is not running.
    let elsewhere = ada.at_addr(one.addr);
    elsewhere.post(&format!("{path}/stop"), json!({})).await.expect(200);
    wait(&ada, &|job| job["state"] == "stopped").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn incompatible_servers_are_refused() {
    let Some(common) = Common::new(Config::default()).await else { return };
    let _one = common.server().await;
    let refusal = async |config: Config| {
        let addr = SocketAddr::from(([127, 0, 0, 1], 0));
        Server::start(Config { addr, ..config })
            .await
            .err()
            .expect("the server should be refused")
            .to_string()
    };
    let alone = refusal(Config { nats: String::new(), ..common.config.clone() }).await;
    assert!(alone.contains("another server is using it"), "{alone}");
    let stranger = Config { secret: "another secret".to_owned(), ..common.config.clone() };
    let stranger = refusal(stranger).await;
    assert!(stranger.contains("give all of them the same secret"), "{stranger}");
}

/// How the servers end repeatedly.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Killed,
    Stopped,
}

/// A number for the next tests: concurrent games or restarts. The environment variables allow longer
/// runs.
fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[tokio::test(flavor = "multi_thread")]
async fn no_acknowledged_move_is_lost_when_servers_are_killed() {
    play_during_restarts(End::Killed).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rolling_restart_only_causes_reconnections() {
    play_during_restarts(End::Stopped).await;
}

/// Plays games whose players are on different servers while one server after another is restarted, and
/// compares the acknowledged moves with those that watchers saw and those that are stored.
async fn play_during_restarts(end: End) {
    let Some(common) = Common::new(Config { away_seconds: 0, ..Config::default() }).await else {
        return;
    };
    let mut servers = [common.server().await, common.server().await];
    let addrs = [servers[0].addr, servers[1].addr];
    let at_once = number("CLAIMEVEN_TEST_GAMES", 12);
    let max_ends = number("CLAIMEVEN_TEST_KILLS", 6);
    let (started, mut games, mut ends) = (Instant::now(), 0, 0);
    let mut play = FuturesUnordered::new();
    let mut pause = Box::pin(tokio::time::sleep(Duration::from_secs(1)));
    loop {
        assert!(
            started.elapsed() < TIMEOUT,
            "{} games are not over after {ends} restarts",
            play.len()
        );
        while play.len() < at_once && ends < max_ends {
            play.push(tokio::spawn(play_game(addrs, games, 20..200)));
            games += 1;
        }
        tokio::select! {
            game = play.next() => match game {
                Some(game) => drop(game.unwrap()),
                None => break,
            },
            () = &mut pause => {
                let server = &mut servers[ends % 2];
                match end {
                    End::Killed => server.kill(),
                    End::Stopped => server.stop().await,
                }
                tokio::time::sleep(Duration::from_millis(fastrand::u64(0..1000))).await;
                server.restart().await;
                ends += 1;
                let next = Duration::from_millis(fastrand::u64(500..4000));
                pause = Box::pin(tokio::time::sleep(next));
            }
        }
    }
    println!("{games} games, {ends} restarts");
}
