//! Workers, NATS server and coordinator are killed at random moments: the results are those of an
//! undisturbed run on one machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::server::Server;
use super::{Process, TIMEOUT, claimeven, games, output, worker_line};

/// A fleet whose processes can be killed.
struct Fleet<'a> {
    folder: &'a Path,
    server: Server,
    workers: [Process; 3],
    coordinator: Option<Process>,
    random: fastrand::Rng,
    seed: u64,
    kills: [u32; 4],
}

/// How long a fleet sleeps between looking at its coordinator. Times are counted in these pauses and
/// not by the clock, so that a machine that stands still for a while neither ends the test nor causes
/// many kills at once.
const PAUSE: Duration = Duration::from_millis(5);

const COORDINATOR_LOG: &str = "coordinator.log";
const WORKER_LOGS: [&str; 3] = ["worker-0.log", "worker-1.log", "worker-2.log"];

impl<'a> Fleet<'a> {
    fn start(folder: &'a Path) -> Option<Fleet<'a>> {
        let server = Server::start()?;
        let seed = std::env::var("CLAIMEVEN_TEST_SEED").ok().and_then(|text| text.parse().ok());
        let seed = seed.unwrap_or_else(|| fastrand::u64(..1_000_000));
        println!("CLAIMEVEN_TEST_SEED={seed}");
        let workers = [0, 1, 2].map(|number| worker(folder, &server, number));
        let random = fastrand::Rng::with_seed(seed);
        Some(Fleet { folder, server, workers, coordinator: None, random, seed, kills: [0; 4] })
    }

    /// Runs a command, restarting it when it is killed, until it succeeds, and meanwhile kills at most
    /// `max_kills` times. Returns the number of kills.
    fn run_while_killing(&mut self, max_kills: u32, line: impl Fn() -> String) -> u32 {
        let (mut kills, mut waited, mut last) = (0, Duration::ZERO, Duration::ZERO);
        let limit = TIMEOUT + max_kills * Duration::from_secs(5);
        self.start_coordinator(&line());
        let mut next = Duration::from_millis(self.random.u64(300..1500));
        loop {
            let coordinator = self.coordinator.as_mut().expect("it has been started");
            if let Some(status) = coordinator.0.try_wait().unwrap() {
                assert!(status.success(), "{}: {status}, seed {}", line(), self.seed);
                self.coordinator = None;
                return kills;
            }
            assert!(waited < limit, "{} does not end, seed {}", line(), self.seed);
            thread::sleep(PAUSE);
            waited += PAUSE;
            if kills == max_kills || waited < last + next {
                continue;
            }
            match self.random.u8(0..10) {
                0..2 => {
                    self.server.kill_and_restart();
                    self.kills[0] += 1;
                }
                2..4 => {
                    self.start_coordinator(&line());
                    self.kills[1] += 1;
                }
                4..9 => {
                    let hit = self.random.usize(..self.workers.len());
                    self.workers[hit].kill();
                    self.workers[hit] = worker(self.folder, &self.server, hit);
                    self.kills[2] += 1;
                }
                _ => {
                    // A power failure.
                    self.coordinator = None;
                    self.workers.iter_mut().for_each(Process::kill);
                    self.server.kill_and_restart();
                    self.workers =
                        [0, 1, 2].map(|number| worker(self.folder, &self.server, number));
                    self.start_coordinator(&line());
                    self.kills[3] += 1;
                }
            }
            kills += 1;
            (last, next) = (waited, Duration::from_millis(self.random.u64(100..1500)));
        }
    }

    /// Starts the command, which is killed first if it runs.
    fn start_coordinator(&mut self, line: &str) {
        self.coordinator = None;
        let line = format!("{line} --nats {} --ack-wait 2", self.server.url());
        let process = Process::start_with_log(self.folder, &line, COORDINATOR_LOG);
        self.coordinator = Some(process);
    }

    fn report(&self, start: Instant) {
        let [server, coordinator, worker, all] = self.kills;
        println!(
            "{:.0} s, killed: a worker {worker} times, the coordinator {coordinator}, the NATS server \
             {server}, all at once {all}",
            start.elapsed().as_secs_f64()
        );
    }

    /// What the processes have logged last, and the status of the fleet.
    fn print_state(&self) {
        let logs = WORKER_LOGS.iter().chain([&COORDINATOR_LOG]).map(|log| self.folder.join(log));
        for log in logs.chain([self.server.log()]) {
            let text = fs::read(&log).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            let lines: Vec<&str> = text.lines().collect();
            let tail = lines[lines.len().saturating_sub(60)..].join("\n");
            println!("--- the last of {} lines of {}\n{tail}", lines.len(), log.display());
        }
        let line = format!("fleet status --json --once --nats {}", self.server.url());
        println!("--- fleet status\n{:?}", claimeven(self.folder, &line).output());
    }
}

impl Drop for Fleet<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.print_state();
        }
    }
}

fn worker(folder: &Path, server: &Server, number: usize) -> Process {
    Process::start_with_log(folder, &worker_line(folder, server), WORKER_LOGS[number])
}

/// Repeats rounds, each with its own number, until there have been enough kills.
fn repeat(
    fleet: &mut Fleet<'_>,
    kills: u32,
    mut round: impl FnMut(&mut Fleet<'_>, u64, u32) -> u32,
) {
    let (start, mut killed) = (Instant::now(), 0);
    for number in 1.. {
        killed += round(fleet, number, kills - killed);
        if killed == kills {
            break;
        }
    }
    fleet.report(start);
}

fn tournaments(kills: u32) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let Some(mut fleet) = Fleet::start(folder) else { return };
    repeat(&mut fleet, kills, |fleet, round, kills| {
        let plan = format!(
            "seed = {round}\ngames = 60\nopenings = 'random:4'\nplayers = ['mcts:sims=600', \
             'alphabeta:depth=5', 'minimax:depth=4,ties=random', 'zero:sims=8']\n"
        );
        fs::write(folder.join(format!("{round}.toml")), plan).unwrap();
        output(folder, &format!("arena {round}.toml --journal here-{round}.jsonl --threads 2"));
        let killed = fleet.run_while_killing(kills, || {
            format!("arena {round}.toml --journal there-{round}.jsonl")
        });
        let journal = |place: &str| games(&folder.join(format!("{place}-{round}.jsonl")));
        assert_eq!(journal("there"), journal("here"), "seed {}", fleet.seed);
        killed
    });
}

fn books(kills: u32) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let Some(mut fleet) = Fleet::start(folder) else { return };
    let book = "book build --cols 6 --rows 5 --plies 8 --no-book --table-mb 1";
    output(folder, &format!("{book} --out here.book --threads 2"));
    let here = fs::read(folder.join("here.book")).unwrap();
    repeat(&mut fleet, kills, |fleet, round, kills| {
        let killed = fleet.run_while_killing(kills, || format!("{book} --out there-{round}.book"));
        let there = fs::read(folder.join(format!("there-{round}.book"))).unwrap();
        assert!(there == here, "seed {}", fleet.seed);
        killed
    });
}

/// All files of a training run. Numbers that depend on time or threads are left out.
fn files_of_run(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for place in ["", "networks", "samples", "learner", "inherited"] {
        for entry in fs::read_dir(folder.join(place)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                continue;
            }
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let mut bytes = fs::read(&path).unwrap();
            if ["state.json", "metrics.jsonl"].contains(&name.as_str()) {
                let text = String::from_utf8(bytes).unwrap();
                let values: Vec<Value> = serde_json::Deserializer::from_str(&text)
                    .into_iter()
                    .map(|value| without_times(value.unwrap()))
                    .collect();
                bytes = serde_json::to_vec(&values).unwrap();
            }
            files.insert(format!("{place}/{name}"), bytes);
        }
    }
    files
}

fn without_times(mut value: Value) -> Value {
    for (name, value) in value.as_object_mut().unwrap() {
        if name.ends_with("seconds") || name == "evaluations" {
            *value = Value::Null;
        }
    }
    value
}

fn trainings(kills: u32) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let Some(mut fleet) = Fleet::start(folder) else { return };
    repeat(&mut fleet, kills, |fleet, round, kills| {
        let train = |place: &str| {
            let is_there = folder.join(place).join("parameters.json").exists();
            let resume = if is_there { "--resume" } else { "--preset 10min" };
            format!(
                "train --run {place} {resume} --cols 5 --rows 4 --plain --threads 1 --iterations 5 \
                 --set seed={round} --set architecture.blocks=1 --set architecture.channels=8 \
                 --set self_play.games=96 --set self_play.in_flight=4 --set gate.every=2 \
                 --set gate.pairs=20 --set exam.positions=50 --set exam.every=2 --keep-free 0"
            )
        };
        let [here, there] = ["here", "there"].map(|place| format!("{place}-{round}"));
        output(folder, &train(&here));
        let killed = fleet.run_while_killing(kills, || train(&there));
        let [here, there] = [here, there].map(|place| files_of_run(&folder.join(place)));
        let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&there), names(&here), "seed {}", fleet.seed);
        for (name, bytes) in here {
            assert!(there[&name] == bytes, "{name} differs, seed {}", fleet.seed);
        }
        killed
    });
}

/// The number of kills in the tests that always run.
const FEW: u32 = 4;
/// The number of kills in those that take minutes.
const MANY: u32 = 50;

#[test]
fn a_tournament_is_the_same_whatever_is_killed() {
    tournaments(FEW);
}

#[test]
fn a_book_is_the_same_whatever_is_killed() {
    books(FEW);
}

#[test]
fn a_training_run_is_the_same_whatever_is_killed() {
    trainings(FEW);
}

/// Takes minutes: `cargo nextest run --release -E 'test(fifty)' --run-ignored all --no-capture`
#[test]
#[ignore = "takes minutes"]
fn fifty_kills_during_tournaments() {
    tournaments(MANY);
}

/// See [`fifty_kills_during_tournaments`].
#[test]
#[ignore = "takes minutes"]
fn fifty_kills_during_books() {
    books(MANY);
}

/// See [`fifty_kills_during_tournaments`].
#[test]
#[ignore = "takes minutes"]
fn fifty_kills_during_training() {
    trainings(MANY);
}
