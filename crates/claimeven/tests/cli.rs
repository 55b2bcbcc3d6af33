//! The command line as its users see it.

mod train;

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

#[test]
fn sessions_print_what_their_files_say() {
    trycmd::TestCases::new()
        .case("tests/cli/*.md")
        .case("tests/cli/*.toml")
        .case("../../README.md");
}

#[test]
fn the_picture_in_the_readme_is_the_one_it_shows_how_to_draw() {
    let drawn = claimeven(&["show", "23344545575", "--as", "svg"]);
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/board.svg");
    assert_eq!(drawn, fs::read_to_string(committed).unwrap());
}

#[test]
fn the_trees_in_the_lab_are_the_ones_its_commands_draw() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
    let lab = fs::read_to_string(format!("{docs}/lab.md")).unwrap();
    let commands = lab.lines().filter_map(|line| line.trim().strip_prefix("claimeven tree "));
    let drawn = commands.filter_map(|command| command.split_once(" --out docs/"));
    let mut count = 0;
    for (arguments, file) in drawn {
        let arguments: Vec<&str> = ["tree"].into_iter().chain(arguments.split(' ')).collect();
        let committed = fs::read_to_string(format!("{docs}/{file}")).unwrap();
        assert!(claimeven(&arguments) == committed, "{file} is not what its command draws");
        count += 1;
    }
    assert_eq!(count, 3);
}

#[test]
fn help_fits_on_one_screen() {
    let help = claimeven(&["--help"]);
    assert!(help.lines().count() <= 24, "{help}");
    assert!(help.lines().all(|line| line.len() <= 80), "{help}");
}

#[test]
fn every_shell_has_completions_for_every_command() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = claimeven(&["completions", shell]);
        let commands =
            ["play", "analyze", "compare", "match", "arena", "replay", "games", "ugi", "perft"];
        for command in commands {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
}

#[test]
fn a_tournament_that_is_killed_three_times_ends_as_if_it_had_not_been() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (plan, journal) = (path("plan.toml"), path("games.jsonl"));
    let players = "['mcts:sims=400', 'mcts:sims=200', 'alphabeta:depth=4', 'random']";
    fs::write(&plan, format!("games = 30\nopenings = 'random:4'\nplayers = {players}\n")).unwrap();
    let lines = || fs::read_to_string(&journal).unwrap_or_default().lines().count();
    for kill_at in [10, 45, 100] {
        let mut run = Command::new(env!("CARGO_BIN_EXE_claimeven"))
            .args(["arena", &plan, "--journal", &journal])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        while lines() < kill_at && start.elapsed() < Duration::from_mins(1) {
            thread::sleep(Duration::from_millis(1));
        }
        // On Unix this is SIGKILL.
        run.kill().unwrap();
        run.wait().unwrap();
        assert!((kill_at..180).contains(&lines()), "{} games", lines());
    }
    let standings = |arguments: &[&str]| {
        let json = claimeven(&[&["arena", &plan, "--json"], arguments].concat());
        let mut report: serde_json::Value = serde_json::from_str(&json).unwrap();
        for player in report["players"].as_array_mut().unwrap() {
            player.as_object_mut().unwrap().remove("ms_per_move").unwrap();
        }
        report
    };
    assert_eq!(standings(&["--journal", &journal]), standings(&["--threads", "3"]));
    assert_eq!(lines(), 180);
}

#[test]
fn our_engine_plays_itself_through_two_processes() {
    let engine = |agent: &str| {
        let program = env!("CARGO_BIN_EXE_claimeven");
        format!("ugi:cmd=\"'{program}' ugi --agent {agent}\",ms=10000,wait=60000")
    };
    let folder = env!("CARGO_TARGET_TMPDIR");
    let board = ["--cols", "6", "--rows", "5", "--openings", "random:3"];
    let games = |players: [&str; 2], name: &str| -> Vec<Value> {
        let file = format!("{folder}/{name}.jsonl");
        let rest = ["--games", "4", "--seed", "2", "--out", &file];
        claimeven(&[&["match"], &players[..], &board[..], &rest[..]].concat());
        claimeven(&["replay", &file, "--verify"]);
        let text = fs::read_to_string(file).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let (first, second) = ("alphabeta:depth=3", "mtdf:depth=2");
    let inside = games([first, second], "inside");
    let outside = games([&engine(first), &engine(second)], "outside");
    // These players leave nothing to chance, so the same games come of it.
    for (inside, outside) in inside.iter().zip(&outside) {
        assert_eq!(outside["result"], inside["result"]);
        let columns = |game: &Value| -> Vec<Value> {
            let moves = game["moves"].as_array().unwrap().iter();
            moves.map(|played| played["column"].clone()).collect()
        };
        assert_eq!(columns(outside), columns(inside));
    }
    assert_eq!(outside.len(), 4);
}

pub(crate) fn claimeven(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_claimeven")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}
