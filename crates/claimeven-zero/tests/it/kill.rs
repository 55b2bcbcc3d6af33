//! Runs that are killed at random moments end with the same files as uninterrupted ones.
//!
//! The moments are random in the progress of the run, not in time, so that they are spread over all
//! iterations however busy the machine is.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use claimeven_game::{Ruleset, Setup};
use claimeven_zero::{Architecture, Metrics, Parameters, Resources, Run, RunState};

use crate::folder::Folder;

const FOLDER: &str = "CLAIMEVEN_KILLED_RUN";
const ITERATIONS: u64 = 12;
/// The line with which a process reports its progress.
const REPORT: &[u8] = b"iteration\n";

/// Iterations of a few milliseconds, most of which are spent writing files.
fn parameters() -> Parameters {
    let setup = Setup::new(3, 3, 3, Ruleset::Standard).unwrap();
    let mut parameters = Parameters::ten_minutes(setup);
    parameters.architecture = Architecture::new(setup, 1, 4);
    parameters.self_play.games = 4;
    parameters.self_play.in_flight = 4;
    parameters.self_play.full_share = 1.0;
    parameters.self_play.full_simulations = 4;
    parameters.self_play.fast_simulations = 2;
    parameters.self_play.opening_plies = 2;
    parameters.self_play.cache = 1 << 8;
    parameters.learning.batch = 16;
    parameters.learning.chunk = 16;
    parameters.learning.min_buffer = 30;
    parameters.gate.every = 5;
    parameters.gate.pairs = 2;
    parameters.gate.simulations = 2;
    parameters.gate.opening_plies = 2;
    parameters.exam.positions = 10;
    parameters.exam.min_plies = 0;
    parameters.exam.max_plies = 3;
    parameters.exam.simulations = 2;
    parameters
}

/// Starts or resumes the run in a folder and trains to the last iteration. Reports the start and
/// the end of each iteration.
fn train(folder: &Path, report: impl Fn()) {
    report();
    let mut observer = |_: claimeven_zero::Event<'_>| std::ops::ControlFlow::Continue(());
    let resources = Resources { keep_free: 0, ..Resources::new(1) };
    let mut run = if folder.join("parameters.json").exists() {
        Run::resume(folder, None, resources, &mut observer).unwrap()
    } else {
        Run::begin(folder, &parameters(), None, resources, &mut observer).unwrap()
    };
    while run.state().iteration < ITERATIONS {
        run.iterate(&mut observer).unwrap().unwrap();
        report();
    }
    run.finish(&mut observer).unwrap();
}

/// All files with their contents, except times.
fn content(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
            let content = match &*name {
                "state.json" | "metrics.jsonl" => Vec::new(),
                _ => fs::read(path).unwrap(),
            };
            files.insert(name, content);
        }
    }
    files
}

/// All metrics, except times.
fn metrics(folder: &Path) -> Vec<Metrics> {
    let timeless = |metrics: Metrics| Metrics {
        state: RunState { seconds: 0.0, ..metrics.state },
        self_play_seconds: 0.0,
        learning_seconds: 0.0,
        test_seconds: 0.0,
        ..metrics
    };
    Run::metrics_of(folder).unwrap().into_iter().map(timeless).collect()
}

/// The state, except times.
fn state(folder: &Path) -> RunState {
    let text = fs::read_to_string(folder.join("state.json")).unwrap();
    RunState { seconds: 0.0, ..serde_json::from_str(&text).unwrap() }
}

/// The process that the other tests start and kill.
#[test]
#[ignore = "started by the other tests"]
fn child() {
    if let Ok(folder) = std::env::var(FOLDER) {
        train(folder.as_ref(), || std::io::stderr().write_all(REPORT).unwrap());
    }
}

/// A process that trains in a folder.
struct Trainer {
    process: Child,
    reports: BufReader<ChildStderr>,
}

impl Trainer {
    fn start(folder: &Path) -> Trainer {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["kill::child", "--exact", "--ignored"])
            .env(FOLDER, folder)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let reports = BufReader::new(process.stderr.take().unwrap());
        Trainer { process, reports }
    }

    /// Waits for the next report; `false` if the process has ended instead.
    fn reports(&mut self) -> bool {
        let mut line = String::new();
        self.reports.read_line(&mut line).unwrap() > 0
    }
}

/// The number of kills by the last iteration that was complete.
type Kills = [u32; ITERATIONS as usize + 1];

/// Kills a run repeatedly, at most this often or until a process ends before it is killed, and
/// compares its files with those of an undisturbed run.
fn kill_and_compare(max_kills: u32, seed: u64, kills: &mut Kills) {
    let (whole, broken) = (Folder::new("unkilled"), Folder::new("killed"));
    let mut undisturbed = Trainer::start(&whole.0);
    assert!(undisturbed.reports());
    let start = Instant::now();
    while undisturbed.reports() {}
    assert!(undisturbed.process.wait().unwrap().success());
    let iteration = start.elapsed() / (ITERATIONS as u32 + 1);
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..max_kills {
        if !kill_once(&broken.0, iteration, &mut random, kills) {
            break;
        }
    }
    train(&broken.0, || {});
    let (expected, found) = (content(&whole.0), content(&broken.0));
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&found), names(&expected), "seed {seed}");
    let differing: Vec<&String> = expected
        .iter()
        .filter(|(name, content)| found[*name] != **content)
        .map(|(name, _)| name)
        .collect();
    assert!(differing.is_empty(), "seed {seed}: {differing:?}");
    assert_eq!(metrics(&broken.0), metrics(&whole.0), "seed {seed}");
    assert_eq!(state(&broken.0), state(&whole.0), "seed {seed}");
    assert_eq!(state(&whole.0).gated, ITERATIONS);
}

/// Lets a process train for up to two iterations and a random part of another, then kills it. Returns
/// whether it was still running.
fn kill_once(
    folder: &Path,
    iteration: Duration,
    random: &mut fastrand::Rng,
    kills: &mut Kills,
) -> bool {
    let mut trainer = Trainer::start(folder);
    let started = trainer.reports();
    let start = Instant::now();
    let iterations = random.u32(0..=4).saturating_sub(2);
    if !started || !(0..iterations).all(|_| trainer.reports()) {
        assert!(trainer.process.wait().unwrap().success(), "the run has failed");
        return false;
    }
    // The duration of an iteration under the current load.
    let iteration = if iterations > 0 { start.elapsed() / iterations } else { iteration };
    thread::sleep(iteration.mul_f64(1.5 * random.f64()));
    // On Unix this is SIGKILL.
    let was_running = trainer.process.try_wait().unwrap().is_none();
    trainer.process.kill().unwrap();
    let status = trainer.process.wait().unwrap();
    assert!(was_running || status.success(), "the run has failed");
    if was_running {
        let complete = if folder.join("state.json").exists() { state(folder).iteration } else { 0 };
        kills[complete as usize] += 1;
    }
    was_running
}

/// Kills runs this often in total.
fn kill_runs(total: u32, first_seed: u64) -> Kills {
    let mut kills = Kills::default();
    for seed in first_seed.. {
        let left = total - kills.iter().sum::<u32>();
        if left == 0 {
            break;
        }
        kill_and_compare(left, seed, &mut kills);
    }
    kills
}

#[test]
fn a_killed_run_ends_like_an_uninterrupted_one() {
    assert_eq!(kill_runs(40, 1).iter().sum::<u32>(), 40);
}

/// `cargo nextest run -p claimeven-zero --run-ignored only killed_often`
#[test]
#[ignore = "300 kills"]
fn a_run_killed_often_ends_like_an_uninterrupted_one() {
    let kills = kill_runs(300, 1000);
    println!("kills by the last complete iteration: {kills:?}");
    assert!(kills[..ITERATIONS as usize].iter().all(|&kills| kills >= 5), "{kills:?}");
}
