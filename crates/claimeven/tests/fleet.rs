//! Commands with `--nats`, and the workers that do their work: real processes and a real NATS server.

#[path = "fleet/chaos.rs"]
mod chaos;
#[path = "../../claimeven-server/tests/it/failover.rs"]
mod failover;
#[path = "../../claimeven-work/tests/it/server.rs"]
#[allow(dead_code, reason = "shared with the tests of the library")]
mod server;
#[path = "fleet/servers.rs"]
mod servers;
#[path = "../../claimeven-server/tests/it/test_server.rs"]
#[allow(dead_code, unused_imports, unused_macros, reason = "shared with the tests of the server")]
mod test_server;

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use server::Server;

/// A timeout for everything, generous enough for a busy machine.
const TIMEOUT: Duration = Duration::from_mins(4);

fn claimeven(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_claimeven"));
    let words = shell_words(line);
    command.args(words).current_dir(folder).stdin(Stdio::null());
    command
}

/// Words separated by spaces.
fn shell_words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// A process that is killed at the end of the test.
struct Process(Child);

impl Process {
    fn start(folder: &Path, line: &str) -> Process {
        let mut command = claimeven(folder, line);
        Process(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    /// Appends what the process logs to a file.
    fn start_with_log(folder: &Path, line: &str, log: &str) -> Process {
        let log = File::options().create(true).append(true).open(folder.join(log)).unwrap();
        let mut command = claimeven(folder, line);
        Process(command.stdout(Stdio::null()).stderr(log).spawn().unwrap())
    }

    fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }

    /// Whether it has exited; panics if it has failed.
    fn has_succeeded(&mut self) -> bool {
        match self.0.try_wait().unwrap() {
            Some(status) => {
                assert!(status.success(), "{status}");
                true
            }
            None => false,
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn worker_line(folder: &Path, server: &Server) -> String {
    let cache = folder.join("cache");
    let (url, cache) = (server.url(), cache.display());
    format!("work --nats {url} --threads 1 --cache {cache} --ack-wait 2")
}

fn worker(folder: &Path, server: &Server) -> Process {
    Process::start(folder, &worker_line(folder, server))
}

fn output(folder: &Path, line: &str) -> String {
    let output = claimeven(folder, line).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{line}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

fn status(folder: &Path, server: &Server) -> serde_json::Value {
    let line = format!("fleet status --json --once --nats {}", server.url());
    serde_json::from_str(&output(folder, &line)).unwrap()
}

fn await_workers(folder: &Path, server: &Server, count: usize) {
    let start = Instant::now();
    while status(folder, server)["workers"].as_array().unwrap().len() < count {
        assert!(start.elapsed() < TIMEOUT);
    }
}

/// The games of a file by number, without what differs from run to run.
fn games(path: &Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(path).unwrap();
    let mut games: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    games.sort_by_key(|game| game["id"].as_str().unwrap().parse::<u64>().unwrap());
    for game in &mut games {
        game["time"] = "".into();
        for chosen in game["moves"].as_array_mut().unwrap() {
            chosen["ms"] = 0.into();
        }
    }
    games
}

#[test]
fn commands_print_the_same_with_workers_as_without() {
    let Some(server) = Server::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let _workers = [worker(folder, &server), worker(folder, &server)];
    await_workers(folder, &server, 2);
    let nats = format!("--nats {} --ack-wait 2", server.url());

    // A match, with a network and with weights that the workers do not have.
    fs::write(folder.join("mine.toml"), "centre = 3").unwrap();
    let line = "match zero:sims=5 alphabeta:depth=3,eval=mine.toml --games 20 --openings random:3";
    output(folder, &format!("{line} --out here.jsonl"));
    output(folder, &format!("{line} --out there.jsonl {nats}"));
    assert_eq!(games(&folder.join("here.jsonl")), games(&folder.join("there.jsonl")));

    // A match that ends early.
    let line =
        "match alphabeta:depth=4 random --games 2000 --sprt 0,200 --openings random:3 --json";
    let score = |text: &str| {
        let report: serde_json::Value = serde_json::from_str(text).unwrap();
        (report["games"].clone(), report["pairs"].clone(), report["sprt"]["outcome"].clone())
    };
    let here = output(folder, line);
    assert_eq!(score(&here), score(&output(folder, &format!("{line} {nats}"))));

    // Positions.
    let positions = "solve --all 4453 44 123456 7777 121212";
    assert_eq!(output(folder, positions), output(folder, &format!("{positions} {nats}")));

    // A player measured on random positions, and one with a network on positions of a file.
    let without_times = |text: &str| {
        let mut report: serde_json::Value = serde_json::from_str(text).unwrap();
        for set in report["sets"].as_array_mut().unwrap() {
            set["counts"]["seconds"] = 0.into();
        }
        report
    };
    fs::create_dir(folder.join("sets")).unwrap();
    fs::write(folder.join("sets/one"), "4444 0\n44 2\n7477341735434 -2\n").unwrap();
    for line in
        ["evaluate mcts:sims=30 --random 50", "evaluate zero:sims=8 --random 20 --sets sets"]
    {
        let line = format!("{line} --discs 14..20 --json");
        let here = without_times(&output(folder, &line));
        assert_eq!(without_times(&output(folder, &format!("{line} {nats}"))), here);
    }

    // Experiments with games and with positions, and one that runs locally.
    let findings = |text: &str| {
        let report: serde_json::Value = serde_json::from_str(text).unwrap();
        report["experiments"].clone()
    };
    let line = "experiments beats-random repeats errors ladder same-value --quick --json";
    let here = findings(&output(folder, line));
    let there = claimeven(folder, &format!("{line} {nats}")).output().unwrap();
    assert_eq!(findings(&String::from_utf8(there.stdout).unwrap()), here);
    let stderr = String::from_utf8(there.stderr).unwrap();
    let local = "same-value counts and times single searches, so it runs on this machine";
    assert!(stderr.contains(local) && !stderr.contains("computing locally"), "{stderr}");

    let status = status(folder, &server);
    let done: u64 =
        status["workers"].as_array().unwrap().iter().map(|w| w["done"].as_u64().unwrap()).sum();
    assert!(done >= 11, "{status}");
    assert_eq!((&status["units"], &status["results"]), (&0.into(), &0.into()));
}

#[test]
fn jobs_that_workers_cannot_run_are_rejected() {
    let Some(server) = Server::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let error = |line: &str, code: i32| {
        let output = claimeven(folder.path(), line).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{line}");
        String::from_utf8(output.stderr).unwrap()
    };
    let custom =
        format!("match random ugi:cmd=cat,ms=10,wait=10 --games 2 --nats {}", server.url());
    let stderr = error(&custom, 2);
    assert!(stderr.contains("error: "), "{stderr}");
    let stderr = error("work --nats nats://127.0.0.1:9 --kinds games,chess", 2);
    assert_eq!(
        stderr,
        "error: invalid value for '--kinds': unknown kind 'chess' (available: games, book, solve, self-play, gate, exam, moves, sample)\n"
    );
    let stderr = error("solve 44 --nats nats://127.0.0.1:9", 1);
    assert!(stderr.starts_with("error: NATS: cannot connect to nats://127.0.0.1:9"), "{stderr}");
}

#[cfg(unix)]
#[test]
fn a_worker_ends_on_sigterm_within_five_seconds() {
    let Some(server) = Server::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut worker = worker(folder.path(), &server);
    await_workers(folder.path(), &server, 1);
    // A job that would take hours.
    let line = format!(
        "book build --plies 10 --no-book --out x.book --nats {} --ack-wait 2",
        server.url()
    );
    let _job = Process::start(folder.path(), &line);
    let start = Instant::now();
    while status(folder.path(), &server)["workers"][0]["running"] != 1 {
        assert!(start.elapsed() < TIMEOUT);
    }
    let start = Instant::now();
    let sent = Command::new("kill").arg(worker.0.id().to_string()).status().unwrap();
    assert!(sent.success());
    while !worker.has_succeeded() {
        assert!(start.elapsed() < TIMEOUT);
        thread::sleep(Duration::from_millis(10));
    }
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

/// What two commands of one kind would once have removed from each other.
#[test]
fn two_commands_at_once_print_what_each_prints_alone() {
    let Some(server) = Server::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let _workers = [worker(folder, &server), worker(folder, &server)];
    await_workers(folder, &server, 2);
    let nats = format!("--nats {} --ack-wait 2", server.url());
    let solve = |number: u64| {
        let mut random = fastrand::Rng::with_seed(number);
        let mut moves = || -> String { (0..12).map(|_| random.char('1'..='7')).collect() };
        let is_open = |moves: &String| {
            let position =
                claimeven_game::Position::from_moves(claimeven_game::Setup::STANDARD, moves);
            position.is_ok_and(|position| position.outcome().is_none())
        };
        let positions: Vec<String> =
            std::iter::repeat_with(&mut moves).filter(is_open).take(40).collect();
        format!("solve --no-book --table-mb 4 {}", positions.join(" "))
    };
    let lines = [solve(1), solve(2)];
    let alone = lines.each_ref().map(|line| output(folder, line));
    let running = lines.each_ref().map(|line| {
        let mut command = claimeven(folder, &format!("{line} {nats}"));
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    });
    for (process, alone) in running.into_iter().zip(alone) {
        let together = process.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&together.stderr).into_owned();
        assert!(together.status.success(), "{stderr}");
        assert_eq!(String::from_utf8(together.stdout).unwrap(), alone, "{stderr}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_command_leaves_no_units_and_a_killed_one_can_be_cancelled() {
    let Some(server) = Server::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let _worker = worker(folder, &server);
    await_workers(folder, &server, 1);
    let nats = format!("--nats {} --ack-wait 2", server.url());
    // It would take hours.
    let line = format!("book build --plies 10 --no-book --out x.book {nats}");
    let start = || {
        let process = Process::start(folder, &line);
        let started = Instant::now();
        while status(folder, &server)["jobs"][0]["outstanding"].as_u64().unwrap_or(0) == 0 {
            assert!(started.elapsed() < TIMEOUT);
        }
        process
    };
    let mut process = start();
    let sent = Command::new("kill").args(["-INT", &process.0.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let started = Instant::now();
    let code = loop {
        if let Some(status) = process.0.try_wait().unwrap() {
            break status.code();
        }
        assert!(started.elapsed() < TIMEOUT);
        thread::sleep(Duration::from_millis(10));
    };
    assert_eq!(code, Some(130));
    assert_eq!(status(folder, &server)["units"], 0);

    let process = start();
    let id = status(folder, &server)["jobs"][0]["id"].as_str().unwrap().to_owned();
    let cancel = format!("fleet cancel {id} {nats}");
    let refused = claimeven(folder, &cancel).output().unwrap();
    let stderr = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("is running on"), "{stderr}");
    // Kills it.
    drop(process);
    let started = Instant::now();
    loop {
        let status = status(folder, &server);
        if let Some(job) = status["abandoned"].get(0) {
            assert_eq!(job["id"], *id);
            assert!(job["units"].as_u64().unwrap() > 0, "{status}");
            break;
        }
        assert!(started.elapsed() < TIMEOUT, "{status}");
        thread::sleep(Duration::from_millis(200));
    }
    let table = output(folder, &format!("fleet status --once {nats}"));
    assert!(table.contains("no command") && table.contains(&id), "{table}");
    let removed = output(folder, &cancel);
    assert!(removed.starts_with(&format!("removed job {id}: ")), "{removed}");
    let after = status(folder, &server);
    assert_eq!((&after["units"], &after["abandoned"]), (&0.into(), &serde_json::json!([])));
    let unknown = claimeven(folder, &cancel).output().unwrap();
    let stderr = String::from_utf8(unknown.stderr).unwrap();
    assert!(stderr.contains(&format!("there is no job '{id}'")), "{stderr}");
}
