//! Training from the command line: killed, interrupted, watched and measured.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use claimeven_zero::Network;
use serde_json::Value;

const TINY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/train/tiny.toml");

/// A run in a folder that is removed at the end of its test.
struct Run {
    folder: tempfile::TempDir,
}

impl Run {
    fn new() -> Run {
        Run { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("run")
    }

    fn text(&self) -> String {
        self.path().to_str().unwrap().to_owned()
    }

    /// `claimeven train` with the run, and with tiny parameters if it does not exist yet.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_claimeven"));
        command.args(["train", "--run", &self.text()]).args(arguments);
        if self.path().join("parameters.json").exists() {
            command.arg("--resume");
        } else {
            command.args(["--parameters", TINY]);
        }
        command
    }

    fn train(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn spawn(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdout(Stdio::piped()).spawn().unwrap()
    }

    fn lines(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.path().join("metrics.jsonl")).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    fn wait_for(&self, iterations: usize) {
        let start = Instant::now();
        while self.lines().len() < iterations {
            assert!(start.elapsed() < Duration::from_mins(5), "{:?}", self.lines().len());
            thread::sleep(Duration::from_millis(2));
        }
    }
}

fn text(output: &Output) -> (String, String, Option<i32>) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

/// All networks of a run, by file.
fn networks(run: &Path) -> Vec<(String, Network)> {
    let mut files: Vec<_> =
        fs::read_dir(run.join("networks")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.push(run.join("best.safetensors"));
    files.sort();
    let name = |path: &Path| path.strip_prefix(run).unwrap().to_str().unwrap().to_owned();
    files.iter().map(|path| (name(path), Network::load(path).unwrap())).collect()
}

#[test]
fn a_killed_training_run_ends_like_an_uninterrupted_one() {
    let (whole, broken) = (Run::new(), Run::new());
    for (iterations, ms) in [(0, 150), (1, 0), (2, 30), (4, 80)] {
        let mut run = broken.spawn(&["--iterations", "50"]);
        broken.wait_for(iterations);
        thread::sleep(Duration::from_millis(ms));
        // On Unix this is SIGKILL.
        run.kill().unwrap();
        run.wait().unwrap();
    }
    let done = broken.lines().len();
    assert!(done >= 4, "{done}");
    // The run may have finished before it was killed.
    let iterations = done.max(5).to_string();
    for (run, threads) in [(&whole, "1"), (&broken, "2")] {
        let output = run.train(&["--iterations", &iterations, "--threads", threads]);
        assert!(output.status.success(), "{output:?}");
    }
    let (expected, found) = (networks(&whole.path()), networks(&broken.path()));
    let names = |networks: &[(String, Network)]| -> Vec<String> {
        networks.iter().map(|(name, _)| name.clone()).collect()
    };
    assert_eq!(names(&found), names(&expected));
    assert!(found == expected);
    let without_times = |run: &Run| -> Vec<Value> {
        let mut lines = run.lines();
        for line in &mut lines {
            let line = line.as_object_mut().unwrap();
            // Every thread has its own cache, so the number of evaluations depends on the number of
            // threads.
            line.retain(|name, _| !name.contains("seconds") && name != "evaluations");
        }
        lines
    };
    assert_eq!(without_times(&whole), without_times(&broken));
}

/// Eight iterations with another value of a parameter.
fn trained_with(value: &str) -> Run {
    let run = Run::new();
    assert!(run.train(&["--iterations", "8", "--set", value]).status.success());
    run
}

#[test]
fn a_training_run_improves_and_reports_it() {
    let run = Run::new();
    let (out, err, code) = text(&run.train(&["--iterations", "8"]));
    assert_eq!((err.as_str(), code), ("", Some(0)));
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 11, "{out}");
    assert!(lines[0].starts_with("1x8 for 4x4 in "), "{out}");
    assert_eq!(lines[1], "solving 200 positions for the exam");
    assert!(lines[2].starts_with("   1 ") && lines[2].ends_with(" left"), "{out}");
    assert!(lines[9].ends_with("  0:00 left"), "{out}");
    assert!(lines[10].starts_with("8 iterations, 480 games, "), "{out}");
    // A single run depends on luck, so eight are taken together.
    let runs: Vec<Run> = (2..=8).map(|seed| trained_with(&format!("seed={seed}"))).collect();
    for name in ["policy_error", "value_error"] {
        let mean = |iteration: usize| -> f64 {
            let error = |run: &Run| run.lines()[iteration]["exam"][name].as_f64().unwrap();
            (error(&run) + runs.iter().map(error).sum::<f64>()) / 8.0
        };
        assert!(mean(7) < 0.7 * mean(0), "{name} {} {}", mean(0), mean(7));
    }
    // The trained network can be played with, and measured over the iterations.
    let best = format!("zero:sims=16,model={}", run.text());
    let board = ["--cols", "4", "--rows", "4", "--connect", "3"];
    let contest = ["match", &best, "random", "--games", "20", "--json"];
    let result: Value =
        serde_json::from_str(&super::claimeven(&[&contest[..], &board].concat())).unwrap();
    assert!(result["score"]["estimate"].as_f64().unwrap() > 0.7, "{result}");
    let third = format!("{best}@3");
    super::claimeven(&[&["analyze", "--agent", &third][..], &board].concat());

    let discs = ["--discs", "0..6", "--random", "50"];
    let measure = |rest: &[&str]| {
        let run = run.text();
        super::claimeven(&[&["evaluate", "zero:sims=4", "--run", &run][..], &discs, rest].concat())
    };
    let table = measure(&["--networks", "3"]);
    let rows: Vec<&str> = table.lines().collect();
    assert_eq!(rows.len(), 4, "{table}");
    assert!(rows[0].starts_with("iteration  set "), "{table}");
    for (row, iteration) in rows[1..].iter().zip(["1", "5", "8"]) {
        assert_eq!(row.split_whitespace().next(), Some(iteration), "{table}");
    }
    let json: Value = serde_json::from_str(&measure(&["--json"])).unwrap();
    assert_eq!(json["iterations"].as_array().unwrap().len(), 8);
    let error = |index: usize| json["iterations"][index]["sets"][0]["error_rate"]["share"].as_f64();
    assert!(error(7) <= error(0), "{json}");
    let svg = measure(&["--svg"]);
    assert!(svg.starts_with("<svg") && svg.contains("keep the exact score"), "{svg}");
}

#[test]
fn an_existing_run_is_not_overwritten() {
    let run = Run::new();
    let program = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_claimeven"));
        text(&command.arg("train").args(arguments).output().unwrap())
    };
    let folder = run.text();
    let (_, err, code) = program(&["--run", &folder, "--resume"]);
    let missing = format!("error: no training run in {folder}\n");
    assert_eq!((err, code), (missing.clone(), Some(2)));
    assert_eq!(program(&["--watch", &folder]).1, missing);

    let free = ["--keep-free", "999999999"];
    let (_, err, code) = text(&run.train(&[&["--iterations", "1"][..], &free].concat()));
    assert!(err.contains(" MB of 1000000000 MB needed") && code == Some(1), "{err}");
    assert!(!run.path().exists(), "a refused training leaves a folder behind");
    assert!(run.train(&["--iterations", "1"]).status.success());
    let before = networks(&run.path());

    let (_, err, code) = program(&["--run", &folder, "--parameters", TINY]);
    let exists =
        format!("error: {folder} already holds a training run; use --resume to continue it\n");
    assert_eq!((err, code), (exists, Some(2)));
    for (change, reason) in [
        (&["--set", "learning.rate=0.25"][..], "has learning.rate 0.005, not 0.25"),
        (&["--preset", "1h", "--cols", "4", "--rows", "4"], "has architecture.blocks 1, not 3"),
        (&["--cols", "5"], "is for 4x4, connect 3, standard, not for 5x6, connect 4, standard"),
    ] {
        let arguments = [&["--run", &folder, "--resume", "--iterations", "2"][..], change].concat();
        let (_, err, code) = program(&arguments);
        assert_eq!((err, code), (format!("error: the run in {folder} {reason}\n"), Some(2)));
    }
    assert!(networks(&run.path()) == before);

    // Finished work is not repeated, and the same parameters may be given again.
    let repeated = run.train(&["--iterations", "1", "--parameters", TINY]);
    assert!(repeated.status.success(), "{repeated:?}");
    assert_eq!(run.lines().len(), 1);
}

#[test]
fn a_run_can_be_watched_and_is_trained_by_one_process() {
    let run = Run::new();
    let training = run.spawn(&["--iterations", "6"]);
    run.wait_for(1);
    let (_, err, code) = text(&run.train(&["--iterations", "6"]));
    assert_eq!(code, Some(1));
    assert!(err.starts_with("error: another process is training in "), "{err}");
    let watch = || super::claimeven(&["train", "--watch", &run.text()]);
    let (seen, out) = (watch(), text(&training.wait_with_output().unwrap()).0);
    let numbers = |text: &str| -> Vec<String> {
        let words = text.lines().map(|line| line.split_whitespace().next().unwrap().to_owned());
        words.collect()
    };
    assert_eq!(numbers(&seen), ["1x8", "1", "2", "3", "4", "5", "6", "6"]);
    assert_eq!(seen.lines().last(), out.lines().last());
    // A finished run is shown in full.
    assert_eq!(numbers(&watch()), numbers(&seen));
    let json = super::claimeven(&["train", "--watch", &run.text(), "--json"]);
    let lines: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines, run.lines());
}

#[cfg(unix)]
#[test]
fn an_interrupted_training_run_stops_and_resumes() {
    let run = Run::new();
    let training = run.spawn(&["--hours", "1"]);
    run.wait_for(2);
    let interrupted = Command::new("kill").args(["-INT", &training.id().to_string()]).status();
    assert!(interrupted.unwrap().success());
    let output = training.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let done = run.lines().len();
    let out = text(&output).0;
    assert!(out.lines().last().unwrap().starts_with(&format!("{done} iterations, ")), "{out}");
    assert!(run.train(&["--iterations", &(done + 1).to_string()]).status.success());
    assert_eq!(run.lines().len(), done + 1);
}
