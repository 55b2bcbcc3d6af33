//! Counts that are killed and resumed from their checkpoints.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

const BOARD: [&str; 6] = ["count", "--all", "--cols", "5", "--rows", "5"];

fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_claimeven"));
    command.args(BOARD).args(["--json", "--resume", "--checkpoint"]).arg(folder);
    command
}

/// Positions and finished games by ply.
fn counts(output: &Output) -> Vec<(u64, u64)> {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["method"], "symbolic");
    let plies = report["plies"].as_array().unwrap();
    let number = |ply: &Value, key: &str| ply[key].as_u64().unwrap();
    plies.iter().map(|ply| (number(ply, "positions"), number(ply, "finished"))).collect()
}

#[test]
fn a_count_that_is_killed_repeatedly_gives_the_same_result() {
    let undisturbed = tempfile::tempdir().unwrap();
    let expected = counts(&command(undisturbed.path()).output().unwrap());
    let total: u64 = expected.iter().map(|(positions, _)| positions).sum();
    assert_eq!(total, 69_763_700);

    let folder = tempfile::tempdir().unwrap();
    let mut kills = 0;
    // Each process runs a little longer than the one before, so that one finishes in the end.
    let found = loop {
        let mut child =
            command(folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        thread::sleep(Duration::from_millis(10 + 17 * kills));
        if child.try_wait().unwrap().is_some() {
            break child.wait_with_output().unwrap();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        let plies = fs::read_dir(folder.path()).into_iter().flatten().filter(|file| {
            let path = file.as_ref().unwrap().path();
            path.extension().is_some_and(|extension| extension == "count")
        });
        // Briefly two: the new file is written before the old one is removed.
        assert!(plies.count() <= 2);
    };
    assert_eq!(counts(&found), expected);
    assert!(kills > 0);
    let files = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(files, fs::read_dir(undisturbed.path()).unwrap().count());
}

#[test]
fn a_checkpoint_is_not_overwritten_and_a_damaged_one_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let run = |options: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_claimeven"))
            .args(["count", "--plies", "8", "--json", "--checkpoint"])
            .arg(folder.path())
            .args(options)
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(run(&[]), (Some(0), String::new()));
    let file = folder.path().join("ply-08.count");
    let path = file.display();
    let (code, error) = run(&[]);
    assert_eq!(code, Some(2));
    assert_eq!(
        error,
        format!("error: {path} exists; use --resume to continue, or another folder\n")
    );
    let (code, error) = run(&["--resume", "--cols", "6"]);
    assert_eq!(code, Some(2));
    let other = "is a count of 7x6, connect 4, standard, not of 6x6, connect 4, standard";
    assert_eq!(error, format!("error: {path} {other}\n"));

    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&file, bytes).unwrap();
    let (code, error) = run(&["--resume"]);
    assert_eq!(code, Some(2));
    let damaged = "is damaged; remove it to count from the beginning";
    assert_eq!(error, format!("error: {path} {damaged}\n"));
    fs::remove_file(&file).unwrap();
    assert_eq!(run(&["--resume"]), (Some(0), String::new()));
}
