//! Runs that are killed at random moments end with the same files as uninterrupted ones.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Instant;

use claimeven_game::{Ruleset, Setup};
use claimeven_zero::{Architecture, Metrics, Parameters, Resources, Run, RunState};

use crate::folder::Folder;

const FOLDER: &str = "CLAIMEVEN_KILLED_RUN";
const ITERATIONS: u64 = 12;

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

/// Begins or resumes the run in a folder and trains to the last iteration.
fn train(folder: &Path) {
    let mut observer = |_: claimeven_zero::Event<'_>| std::ops::ControlFlow::Continue(());
    let resources = Resources { keep_free: 0, ..Resources::new(1) };
    let mut run = if folder.join("parameters.json").exists() {
        Run::resume(folder, None, resources, &mut observer).unwrap()
    } else {
        Run::begin(folder, &parameters(), None, resources, &mut observer).unwrap()
    };
    while run.state().iteration < ITERATIONS {
        run.iterate(&mut observer).unwrap().unwrap();
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

/// The process that the other test starts and kills.
#[test]
#[ignore = "it is started by the other test"]
fn child() {
    if let Ok(folder) = std::env::var(FOLDER) {
        train(folder.as_ref());
    }
}

/// Starts a process that trains in a folder.
fn start(folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["kill::child", "--exact", "--ignored"])
        .env(FOLDER, folder)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// Kills a run up to this many times at random moments, and then lets it finish.
fn kill_and_compare(kills: u32, seed: u64) -> u32 {
    let (whole, broken) = (Folder::new("unkilled"), Folder::new("killed"));
    // The duration of a run depends on the load of the machine, and so do the moments.
    let began = Instant::now();
    assert!(start(&whole.0).wait().unwrap().success());
    let longest = began.elapsed() / 2;
    let mut random = fastrand::Rng::with_seed(seed);
    let mut killed = 0;
    for _ in 0..kills {
        let mut child = start(&broken.0);
        thread::sleep(longest.mul_f64(random.f64()));
        // On Unix this is SIGKILL.
        let was_running = child.try_wait().unwrap().is_none();
        child.kill().unwrap();
        let status = child.wait().unwrap();
        assert!(was_running || status.success(), "the run has failed");
        killed += u32::from(was_running);
        if !was_running {
            break;
        }
    }
    train(&broken.0);
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
    killed
}

#[test]
fn a_killed_run_ends_like_an_uninterrupted_one() {
    let killed: u32 = (1..40)
        .scan(0, |sum, seed| {
            (*sum < 40).then(|| {
                let killed = kill_and_compare(20, seed);
                *sum += killed;
                killed
            })
        })
        .sum();
    assert!(killed >= 10, "{killed}");
}

/// `cargo nextest run -p claimeven-zero --run-ignored only killed_often`
#[test]
#[ignore = "300 kills"]
fn a_run_killed_often_ends_like_an_uninterrupted_one() {
    let (mut killed, mut seed) = (0, 1000);
    while killed < 300 {
        killed += kill_and_compare(50, seed);
        seed += 1;
    }
}
