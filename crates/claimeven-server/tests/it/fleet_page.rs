//! The workers of a server: the fleet page, the metrics, and jobs on workers.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use claimeven_arena::{
    ExamEvaluations, FLEET_VERSION, GameRecord, Games, GateGames, MatchError, PlannedGame,
    SelfPlayGames,
};
use claimeven_server::{Config, Server};
use claimeven_work::{Connection, Files, Job, Kinds, Work, Worker};
use serde_json::{Value, json};

use crate::nats;
use crate::test_server::{TestServer, Visitor, postgres_config};

/// The timeout for everything, on a busy machine.
const TIMEOUT: Duration = Duration::from_mins(4);

/// A worker in this process.
struct TestWorker {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    _cache: tempfile::TempDir,
}

impl TestWorker {
    fn new(url: &str) -> TestWorker {
        let kinds = Kinds::new(claimeven_zero::arithmetic());
        let kinds = kinds.with::<Games>().with::<SelfPlayGames>();
        TestWorker::with(url, kinds.with::<GateGames>().with::<ExamEvaluations>())
    }

    fn with(url: &str, kinds: Kinds) -> TestWorker {
        let cache = tempfile::tempdir().unwrap();
        let connection = Connection::new(url).with_version(FLEET_VERSION);
        let worker = Worker::new(connection, kinds, 1, cache.path().to_owned());
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let thread = std::thread::spawn(move || drop(worker.run(&flag)));
        TestWorker { stop, thread: Some(thread), _cache: cache }
    }

    fn end(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for TestWorker {
    fn drop(&mut self) {
        self.end();
    }
}

/// The settings of a server that has workers.
fn with_workers(nats: &nats::Server) -> Config {
    Config { nats: nats.url(), requests_per_second: 0, threads: 1, ..Config::default() }
}

/// Polls until a condition holds. While a job makes progress, it may take as long as it needs: on a busy machine
/// that can be minutes, because games of tournaments have the lowest priority.
async fn wait(ada: &Visitor, path: &str, condition: impl Fn(&Value) -> bool) -> Value {
    let (mut started, mut done) = (Instant::now(), Value::Null);
    loop {
        let view = ada.get(path).await.expect(200);
        if condition(&view) {
            return view;
        }
        if view["done"] != done {
            (started, done) = (Instant::now(), view["done"].clone());
        }
        assert!(started.elapsed() < TIMEOUT, "{view:#}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn wait_for_workers(ada: &Visitor, count: usize) -> Value {
    wait(ada, "/api/fleet", |view| {
        view["fleet"]["workers"].as_array().is_some_and(|workers| workers.len() == count)
    })
    .await
}

/// Starts a tournament; returns its path.
async fn start(ada: &Visitor, games: u64, depth: u32) -> String {
    let plan = json!({
        "title": "Cup",
        "players": [
            { "agent": format!("alphabeta:depth={depth}") },
            { "agent": format!("minimax:depth={}", depth / 2) },
        ],
        "games": games,
        "openings": "random:4",
        "seed": 7,
    });
    let job = ada.post("/api/arena", plan).await.expect(201);
    format!("/api/arena/{}", job["id"].as_str().unwrap())
}

/// All games of a tournament without the measured times.
async fn games(ada: &Visitor, path: &str) -> Vec<GameRecord> {
    let reply = ada.get(&format!("{path}/download?format=games")).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    let games = reply.text.lines().map(|line| {
        let mut record: GameRecord = serde_json::from_str(line).unwrap();
        record.time.clear();
        record.moves.iter_mut().for_each(|chosen| chosen.ms = 0.0);
        record
    });
    games.collect()
}

fn is_done(view: &Value) -> bool {
    assert_ne!(view["state"], "failed", "{view:#}");
    view["state"] == "done"
}

/// The games of the same tournament on a server without workers.
async fn expected(plan: (u64, u32)) -> Vec<GameRecord> {
    let server = TestServer::sqlite(Config { requests_per_second: 0, ..Config::default() }).await;
    let ada = server.visitor();
    let path = start(&ada, plan.0, plan.1).await;
    let view = wait(&ada, &path, is_done).await;
    assert_eq!(view["done"], view["total"]);
    games(&ada, &path).await
}

async fn metric(ada: &Visitor, name: &str) -> u64 {
    let text = ada.get("/metrics").await.text;
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("claimeven_{name} ")));
    line.unwrap_or_else(|| panic!("no {name} in\n{text}")).parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_shows_workers_jobs_and_lost_connections() {
    let Some(mut nats) = nats::Server::start() else { return };
    let server = TestServer::sqlite(with_workers(&nats)).await;
    let ada = server.visitor();
    let empty = wait(&ada, "/api/fleet", |view| view["fleet"]["connected"] == true).await;
    assert_eq!(empty["fleet"]["workers"], json!([]));
    assert_eq!(empty["fleet"]["nats"], nats.url());
    assert_eq!(empty["fleet"]["servers"][0]["this"], true);

    let mut helper = TestWorker::new(&nats.url());
    let one = wait_for_workers(&ada, 1).await;
    let worker = &one["fleet"]["workers"][0];
    assert_eq!((&worker["threads"], &worker["compatible"]), (&json!(1), &json!(true)));
    assert_eq!(worker["kinds"], json!(["games", "self-play", "gate", "exam"]));

    let path = start(&ada, 40, 6).await;
    let view = wait(&ada, "/api/fleet", |view| {
        view["fleet"]["jobs"][0]["done"].as_u64().is_some_and(|done| done > 0)
    })
    .await;
    let job = &view["fleet"]["jobs"][0];
    assert_eq!((&job["kind"], &job["units"]), (&json!("games"), &json!(40)));
    assert!(job["title"].as_str().unwrap().ends_with(": Cup"), "{job}");
    let playing = wait(&ada, &path, |view| view["boards"] != json!([]) || is_done(view)).await;
    if playing["state"] == "running" {
        assert_eq!(playing["workers"], 1);
        assert!(!playing["boards"][0]["moves"].as_str().unwrap().is_empty(), "{playing}");
    }
    wait(&ada, &path, is_done).await;
    // The tournament may end before the worker's next status says so.
    let history = wait(&ada, "/api/fleet", |view| {
        let points = view["fleet"]["history"].as_array().unwrap();
        let has_rate = points.iter().any(|point| point["rate"].as_f64().unwrap() > 0.0);
        has_rate && view["fleet"]["workers"][0]["done"].as_u64().is_some_and(|done| done >= 40)
    })
    .await;
    let done = history["fleet"]["workers"][0]["done"].as_u64().unwrap();
    assert!((40..=41).contains(&done), "{history:#}");
    assert!(metric(&ada, "fleet_units_done_total").await.abs_diff(done) <= 2);
    assert_eq!(metric(&ada, "fleet_workers").await, 1);
    assert_eq!(metric(&ada, "fleet_connected").await, 1);

    helper.end();
    let gone = wait_for_workers(&ada, 0).await;
    assert_eq!(gone["fleet"]["gone"][0]["id"], worker["id"]);
    assert_eq!(gone["fleet"]["gone"][0]["stopped"], true);
    assert_eq!(gone["fleet"]["gone"][0]["done"], done);

    nats.kill();
    wait(&ada, "/api/fleet", |view| view["fleet"]["connected"] == false).await;
    assert_eq!(metric(&ada, "fleet_connected").await, 0);
    nats.kill_and_restart();
    wait(&ada, "/api/fleet", |view| view["fleet"]["connected"] == true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_see_nothing_of_the_fleet() {
    let nats = "nats://operator:secret@127.0.0.1:9".to_owned();
    let config = Config { nats, ..Config::default() };
    // The server starts and plays without its NATS server.
    let server = TestServer::sqlite(config).await;
    let ada = server.visitor();
    let own = ada.get("/api/fleet").await.expect(200);
    assert_eq!(own["fleet"]["nats"], "nats://127.0.0.1:9");
    assert_eq!(own["fleet"]["connected"], false);
    for headers in [[("x-forwarded-for", "9.9.9.9")], [("via", "1.1 proxy")]] {
        let reply = ada.send(reqwest::Method::GET, "/api/fleet", &headers, None).await;
        let view = reply.expect(200);
        assert_eq!((&view["allowed"], &view["fleet"]), (&json!(false), &Value::Null));
        assert!(!reply.text.contains("nats"), "{reply:?}");
    }
    let game = ada.create(json!([{ "kind": "human" }, { "kind": "agent", "agent": "level:1" }]));
    let game = game.await;
    ada.play(&game, 4, 0).await.expect(200);

    let forwarded = [("x-forwarded-for", "9.9.9.9")];
    for (setting, is_allowed) in [("everyone", true), ("nobody", false)] {
        let fleet_page = setting.to_owned();
        let server = TestServer::sqlite(Config { fleet_page, ..Config::default() }).await;
        let ada = server.visitor();
        let reply = ada.send(reqwest::Method::GET, "/api/fleet", &forwarded, None).await;
        assert_eq!(reply.expect(200)["allowed"], is_allowed, "{setting}");
        assert_eq!(reply.json()["fleet"], Value::Null);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_play_the_games_that_the_server_would_play() {
    let Some(nats) = nats::Server::start() else { return };
    let plan = (60, 6);
    let expected = expected(plan).await;
    let server = TestServer::sqlite(with_workers(&nats)).await;
    let ada = server.visitor();
    let _helpers = [TestWorker::new(&nats.url()), TestWorker::new(&nats.url())];
    wait_for_workers(&ada, 2).await;
    let path = start(&ada, plan.0, plan.1).await;
    wait(&ada, &path, |view| view["done"].as_u64() > Some(3)).await;
    // It keeps its games when it is stopped and resumed.
    ada.post(&format!("{path}/stop"), json!({})).await.expect(200);
    let stopped = wait(&ada, &path, |view| view["state"] != "running").await;
    if stopped["state"] == "stopped" {
        assert_eq!(stopped["boards"], json!([]));
        ada.post(&format!("{path}/resume"), json!({})).await.expect(200);
    }
    let view = wait(&ada, &path, is_done).await;
    assert_eq!(view["done"], view["total"]);
    assert!(view["report"]["games"] == view["total"], "{view:#}");
    assert_eq!(games(&ada, &path).await, expected);
    // Workers have played them; they report it within a second.
    let done = |worker: &Value| worker["done"].as_u64().unwrap();
    wait(&ada, "/api/fleet", |view| {
        view["fleet"]["workers"].as_array().unwrap().iter().map(done).sum::<u64>() >= 60
    })
    .await;
    // A second one with the same players is a different job; nothing is left after it is deleted.
    let second = start(&ada, plan.0, plan.1).await;
    wait(&ada, &second, |view| view["done"].as_u64() > Some(0)).await;
    assert_eq!(ada.delete(&second).await.status, 204);
    assert_eq!(ada.get(&second).await.status, 404);
    assert_eq!(games(&ada, &path).await, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tournament_continues_here_without_nats_and_moves_to_workers_that_join() {
    let Some(mut nats) = nats::Server::start() else { return };
    let plan = (300, 8);
    let server = TestServer::sqlite(with_workers(&nats)).await;
    let ada = server.visitor();
    // Without workers it starts on this server.
    let path = start(&ada, plan.0, plan.1).await;
    let here = wait(&ada, &path, |view| view["done"].as_u64() > Some(0)).await;
    assert_eq!(here["workers"], 0, "{here:#}");
    let _helper = TestWorker::new(&nats.url());
    let there = wait(&ada, &path, |view| view["workers"] == 1 || view["state"] == "done").await;
    assert_eq!(there["state"], "running", "too few games: {there:#}");
    let before = wait(&ada, &path, |view| view["done"].as_u64() > there["done"].as_u64()).await;
    nats.kill();
    // After some time without the NATS server it continues here.
    let back = wait(&ada, &path, |view| view["workers"] == 0 && view["boards"] != json!([])).await;
    assert_eq!(back["state"], "running", "{back:#}");
    wait(&ada, &path, |view| view["done"].as_u64() > before["done"].as_u64()).await;
    ada.post(&format!("{path}/stop"), json!({})).await.expect(200);
    wait(&ada, &path, |view| view["state"] == "stopped").await;
}

/// Plays correctly for a while and then returns games under wrong numbers.
struct FaultyGames(Games);

/// How many units the faulty worker has completed.
static DONE: AtomicU64 = AtomicU64::new(0);

impl Work for FaultyGames {
    const KIND: &'static str = "games";
    type Unit = Vec<PlannedGame>;
    type Output = Vec<GameRecord>;
    type Thread = ();
    type Error = MatchError;

    fn job(&self) -> Result<Job, String> {
        self.0.job()
    }

    fn open(parameters: Value, files: &Files) -> Result<FaultyGames, String> {
        Games::open(parameters, files).map(FaultyGames)
    }

    fn thread(&self) {}

    fn compute(
        &self,
        thread: &mut (),
        unit: &Vec<PlannedGame>,
        cancel: &Arc<AtomicBool>,
    ) -> Result<Option<Vec<GameRecord>>, MatchError> {
        let mut played = self.0.compute(thread, unit, cancel)?;
        if DONE.fetch_add(1, Ordering::Relaxed) > 10 {
            played.iter_mut().flatten().for_each(|record| record.id.push('0'));
        }
        Ok(played)
    }

    fn encode(output: &Vec<GameRecord>) -> Vec<u8> {
        Games::encode(output)
    }

    fn decode(bytes: &[u8]) -> Result<Vec<GameRecord>, String> {
        Games::decode(bytes)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_games_of_a_worker_are_removed_and_played_again() {
    let Some(nats) = nats::Server::start() else { return };
    let plan = (60, 6);
    let expected = expected(plan).await;
    let server = TestServer::sqlite(with_workers(&nats)).await;
    let ada = server.visitor();
    let kinds = Kinds::new(claimeven_zero::arithmetic()).with::<FaultyGames>();
    let _helpers = [TestWorker::new(&nats.url()), TestWorker::with(&nats.url(), kinds)];
    wait_for_workers(&ada, 2).await;
    let path = start(&ada, plan.0, plan.1).await;
    let view = wait(&ada, &path, is_done).await;
    assert_eq!((&view["done"], &view["report"]["games"]), (&json!(60), &json!(60)));
    assert_eq!(games(&ada, &path).await, expected);
    wait_for_workers(&ada, 1).await;
    let started = Instant::now();
    while metric(&ada, "fleet_workers_dismissed_total").await < 1 {
        assert!(started.elapsed() < TIMEOUT, "no worker was dismissed");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// A server in its own runtime; shutting that down is like killing a process.
struct Node {
    addr: SocketAddr,
    runtime: Option<tokio::runtime::Runtime>,
}

impl Node {
    async fn start(config: &Config) -> Node {
        let config = Config { addr: SocketAddr::from(([127, 0, 0, 1], 0)), ..config.clone() };
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).enable_all().build().unwrap();
        let handle = runtime.handle().clone();
        let starting = move || handle.block_on(Server::start(config)).unwrap();
        let server = tokio::task::spawn_blocking(starting).await.unwrap();
        let addr = server.addr().unwrap();
        runtime.spawn(server.run(std::future::pending()));
        Node { addr, runtime: Some(runtime) }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_server_takes_over_a_tournament_on_workers() {
    let Some(nats) = nats::Server::start() else { return };
    let Some(config) = postgres_config(with_workers(&nats)).await else {
        println!("SKIPPED: CLAIMEVEN_TEST_POSTGRES names no server");
        return;
    };
    let plan = (150, 7);
    let expected = expected(plan).await;
    let (one, two) = (Node::start(&config).await, Node::start(&config).await);
    let ada = Visitor::new(one.addr, "127.0.0.1");
    let mut helper = TestWorker::new(&nats.url());
    wait_for_workers(&ada, 1).await;
    // Both servers are running and connected.
    let view = wait(&ada, "/api/fleet", |view| {
        let servers = view["fleet"]["servers"].as_array().unwrap();
        servers.len() == 2 && servers.iter().all(|server| server["connected"] == true)
    })
    .await;
    assert_eq!(view["fleet"]["servers"][1]["version"], view["fleet"]["version"]);
    assert!(metric(&ada, "bus_received_total").await > 0);
    assert!(metric(&ada, "bus_seconds_count").await > 0);

    let path = start(&ada, plan.0, plan.1).await;
    // Either server may have taken it.
    wait(&ada, &path, |view| view["done"].as_u64() > Some(3)).await;
    let runs_on_one = ada.get(&path).await.expect(200)["workers"].is_number();
    let (killed, other) = if runs_on_one { (one, two) } else { (two, one) };
    drop(killed);
    let ada = ada.at_addr(other.addr);
    let view = wait(&ada, &path, is_done).await;
    assert_eq!(view["done"], view["total"]);
    assert_eq!(games(&ada, &path).await, expected);
    wait(&ada, "/api/fleet", |view| view["fleet"]["servers"].as_array().unwrap().len() == 1).await;
    helper.end();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_training_run_on_workers_gives_the_same_networks_as_a_local_one() {
    let Some(nats) = nats::Server::start() else { return };
    let run = async |config: Config, workers: usize| {
        let runs = tempfile::tempdir().unwrap();
        let folder = runs.path().to_string_lossy().into_owned();
        let server = TestServer::sqlite(Config { runs: folder, ..config }).await;
        let ada = server.visitor();
        if workers > 0 {
            wait_for_workers(&ada, workers).await;
        }
        let setup = json!({ "cols": 4, "rows": 4, "connect": 4, "ruleset": "standard" });
        let plan = json!({ "preset": "quick", "minutes": 60, "seed": 3, "setup": setup });
        let job = ada.post("/api/training", plan).await.expect(201);
        let path = format!("/api/training/{}", job["id"].as_str().unwrap());
        wait(&ada, &path, |view| {
            assert_ne!(view["state"], "failed", "{view:#}");
            view["iterations"].as_u64() >= Some(2)
        })
        .await;
        // Workers report every second.
        wait(&ada, "/api/fleet", |view| {
            workers == 0 || view["fleet"]["workers"][0]["done"].as_u64() > Some(0)
        })
        .await;
        ada.post(&format!("{path}/stop"), json!({})).await.expect(200);
        wait(&ada, &path, |view| view["state"] != "running").await;
        let mut networks = Vec::new();
        for iteration in 1..=2 {
            let file = claimeven_zero::ModelStore::new(Some(runs.path().to_owned()));
            let name = format!("{}@{iteration}", job["id"].as_str().unwrap());
            networks.push(std::fs::read(file.find(&name).file()).unwrap());
        }
        networks
    };
    let local = run(Config { requests_per_second: 0, ..Config::default() }, 0).await;
    let _helper = TestWorker::new(&nats.url());
    let (is_over, url) = (Arc::new(AtomicBool::new(false)), nats.url());
    let flag = Arc::clone(&is_over);
    let watching = std::thread::spawn(move || {
        let mut kinds = BTreeSet::new();
        let connection = Connection::new(url);
        claimeven_work::watch_fleet(&connection, Duration::from_millis(500), |status| {
            kinds.extend(status.jobs.iter().map(|job| job.kind.clone()));
            let is_over = flag.load(Ordering::Relaxed);
            if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
        kinds
    });
    let remote = run(with_workers(&nats), 1).await;
    assert!(local == remote, "the networks differ");
    is_over.store(true, Ordering::Relaxed);
    let kinds = watching.join().unwrap();
    for kind in ["self-play", "gate", "exam"] {
        assert!(kinds.contains(kind), "{kinds:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_sqlite_file_has_one_server_with_or_without_workers() {
    let nats = "nats://127.0.0.1:9".to_owned();
    let server = TestServer::sqlite(Config { nats, ..Config::default() }).await;
    let addr = SocketAddr::from(([127, 0, 0, 1], 0));
    let second = Server::start(Config { addr, ..server.config.clone() }).await;
    let refusal = second.err().expect("a second server should be refused").to_string();
    assert!(refusal.contains("another server is using it"), "{refusal}");
}

/// A NATS server with user accounts.
struct NatsWithUsers {
    process: std::process::Child,
    port: u16,
    _folder: tempfile::TempDir,
}

impl NatsWithUsers {
    fn start() -> Option<NatsWithUsers> {
        let program = nats::program()?;
        let folder = tempfile::tempdir().unwrap();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let config = folder.path().join("nats.conf");
        let text = format!(
            "listen: \"127.0.0.1:{port}\"\njetstream {{ store_dir: \"{}\" }}\n\
             authorization {{ users = [ {{ user: all, password: \"a@b\" }}, {{ user: server, \
             password: s, permissions: {{ publish: claimeven.servers, subscribe: claimeven.servers }} \
             }} ] }}\n",
            folder.path().join("js").display()
        );
        std::fs::write(&config, text).unwrap();
        let quiet = std::process::Stdio::null;
        let process = std::process::Command::new(program)
            .arg("-c")
            .arg(&config)
            .stdout(quiet())
            .stderr(quiet())
            .spawn()
            .unwrap();
        Some(NatsWithUsers { process, port, _folder: folder })
    }

    fn url(&self, login: &str) -> String {
        format!("nats://{login}@127.0.0.1:{}", self.port)
    }
}

impl Drop for NatsWithUsers {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_permission_to_see_workers_plays_by_itself() {
    let Some(nats) = NatsWithUsers::start() else { return };
    let with_login = |login: &str| Config {
        nats: nats.url(login),
        requests_per_second: 0,
        threads: 1,
        ..Config::default()
    };
    let _helper = TestWorker::new(&nats.url("all:a%40b"));
    let permitted = TestServer::sqlite(with_login("all:a%40b")).await;
    let view = wait_for_workers(&permitted.visitor(), 1).await;
    assert_eq!(view["fleet"]["nats"], format!("nats://127.0.0.1:{}", nats.port));

    let restricted = TestServer::sqlite(with_login("server:s")).await;
    let ada = restricted.visitor();
    wait(&ada, "/api/fleet", |view| view["fleet"]["connected"] == true).await;
    let path = start(&ada, 10, 4).await;
    let done = wait(&ada, &path, |view| {
        assert_ne!(view["workers"], 1, "{view:#}");
        is_done(view)
    })
    .await;
    assert_eq!(done["done"], 10);
    assert_eq!(ada.get("/api/fleet").await.expect(200)["fleet"]["workers"], json!([]));
}
