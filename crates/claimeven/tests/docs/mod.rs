//! Runs every command in the documents and in the help texts, with smaller workloads.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Replacements that make commands quick: their full results are not tested here.
const SHORTER: &[(&str, &str)] = &[
    ("--tc 10+0.1", "--tc 0.1+0.001"),
    ("docs/twenty.toml", "docs/tournament.toml"),
    ("--hours 1", "--iterations 2"),
    ("--hours 2", "--iterations 2"),
    ("--iterations 20", "--iterations 1"),
    ("--preset 1h ", ""),
    ("--set architecture.channels=96 ", ""),
    ("--set architecture.blocks=6 ", ""),
    ("--set exam.positions=2000", ""),
    ("--depths 1..8", "--depths 1..3"),
    ("--depths 4..8", "--depths 4..5"),
    ("--depths 6..14", "--depths 6..7"),
    ("--depths 8,10,12", "--depths 2,4"),
    ("--depths 2,4,6,8,10,12", "--depths 2,4"),
    ("--repeat 5", "--repeat 1"),
    ("--repeat 3", "--repeat 1"),
    ("--random 1000", "--random 10"),
    ("--count 250", "--count 1"),
    ("--out crates/claimeven-arena/puzzles/7x6.txt", "--out puzzles.txt"),
    ("mcts:sims=100000", "mcts:sims=100"),
    ("--cols 6 --rows 5 --connect 4", "--cols 4 --rows 4"),
    ("--ruleset lines --cols 5 --rows 5", "--ruleset lines --cols 4 --rows 4"),
    ("--plies 10", "--plies 5"),
    ("--count 20", "--count 1"),
];

/// Commands that are not run here, and why.
const ELSEWHERE: &[(&str, &str)] = &[
    ("claimeven serve", "the tests of the server start it"),
    ("claimeven admin", "the tests of the server use it"),
    ("claimeven doctor", "it reports on the machine"),
    ("claimeven play", "it is interactive; the tests of the terminal run it"),
    ("claimeven ugi", "another program talks to it"),
    ("claimeven replay", "it waits for keys"),
    ("--watch", "it ends with the run that it watches"),
    ("claimeven experiments", "they have their own tests"),
    ("claimeven book", "books take hours"),
    ("claimeven bench", "it measures"),
    ("--sets DIR", "the test sets are not part of the repository"),
    ("zero:model=first@", "the run is shorter here"),
    ("claimeven solve > scores.txt", "its input is not part of the repository"),
    ("state.txt", "its input is not part of the repository"),
    ("games.txt", "its input is not part of the repository"),
    ("| dot ", "Graphviz is another program"),
    ("claimeven completions", "it has its own test"),
    ("--nats ", "the tests of the fleet have a NATS server"),
];

#[test]
fn every_documented_command_runs() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let mut commands = BTreeSet::new();
    let mut ordered = Vec::new();
    let documents = ["README", "docs/alphazero", "docs/arena", "docs/counting", "docs/experiments"]
        .iter()
        .chain(&["docs/lab", "docs/players", "docs/solver", "docs/study"]);
    let texts = documents.map(|name| fs::read_to_string(format!("{root}/{name}.md")).unwrap());
    let helps =
        ["match", "arena", "games", "games list", "games export", "games import", "compare"]
            .iter()
            .chain(&["solve", "analyze", "tree", "evaluate", "train", "review", "show", "perft"])
            .chain(&["count", "puzzles", "agents"])
            .map(|name| {
                let words: Vec<&str> = name.split(' ').chain(["--help"]).collect();
                crate::claimeven(&words)
            });
    for text in texts.into_iter().chain(helps) {
        for line in text.lines() {
            let indented = line.starts_with("    ") || line.starts_with("  claimeven ");
            let command = line.split("  #").next().unwrap_or_default().trim();
            let is_option = command.starts_with('-');
            if indented
                && !is_option
                && command.contains("claimeven ")
                && commands.insert(command.to_owned())
            {
                ordered.push(command.to_owned());
            }
        }
    }
    ordered.retain(|command| !ELSEWHERE.iter().any(|(part, _)| command.contains(part)));
    assert!(ordered.len() > 40, "{ordered:?}");

    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::create_dir(here.join("docs")).unwrap();
    fs::copy(format!("{root}/docs/tournament.toml"), here.join("docs/tournament.toml")).unwrap();
    // What the documents assume: a run, games, and games of an older program.
    let tiny = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/train/tiny.toml");
    for prepared in [
        format!("claimeven train --run first --iterations 1 --parameters {tiny}"),
        format!("claimeven train --run DIR --iterations 1 --parameters {tiny}"),
        "claimeven match level:5 random --games 4 --out games.jsonl".to_owned(),
        "claimeven games export games.jsonl --format older > older.json".to_owned(),
    ] {
        run(&prepared, here);
    }
    for command in &ordered {
        let mut shorter = with_few_games(command);
        for (long, short) in SHORTER {
            shorter = shorter.replace(long, short);
        }
        if shorter.starts_with("claimeven count --all") && !shorter.contains("--cols") {
            shorter += " --cols 4 --rows 4";
        }
        if shorter.starts_with("claimeven train --run") && !shorter.contains("--resume") {
            let new = shorter
                .replace("--run first", "--run another")
                .replace("--run small --cols 5 --rows 4", "--run small");
            shorter = format!("{new} --parameters {tiny} --keep-free 0");
            if !shorter.contains("--iterations") {
                shorter += " --iterations 1";
            }
            let _ = fs::remove_dir_all(here.join("another"));
        }
        // A documented file may exist already, or be a journal of another run.
        for file in ["games.jsonl", "zero.jsonl", "report.html"] {
            if shorter.contains(&format!("--out {file}"))
                || shorter.contains(&format!("--journal {file}"))
            {
                let _ = fs::remove_file(here.join(file));
            }
        }
        run(&shorter, here);
        if !here.join("games.jsonl").exists() {
            run("claimeven match level:5 random --games 4 --out games.jsonl", here);
        }
    }
}

/// The command with two games instead of any other number.
fn with_few_games(command: &str) -> String {
    match command.split_once("--games ") {
        Some((before, after)) => {
            let rest = after.trim_start_matches(|digit: char| digit.is_ascii_digit());
            format!("{before}--games 2{rest}")
        }
        None => command.to_owned(),
    }
}

/// Runs a shell command, with the program on the path.
fn run(command: &str, folder: &Path) {
    let program = Path::new(env!("CARGO_BIN_EXE_claimeven")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .env("PATH", format!("{}:{path}", program.display()))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}: {errors}");
}
