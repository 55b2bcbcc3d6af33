//! The command line from the user's point of view.

mod docs;
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
fn the_picture_in_the_readme_is_up_to_date() {
    let drawn = claimeven(&["show", "23344545575", "--as", "svg"]);
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/board.svg");
    assert_eq!(drawn, fs::read_to_string(committed).unwrap());
}

#[test]
fn the_trees_in_the_lab_document_are_up_to_date() {
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
fn a_proof_is_built_verified_and_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("4x4.proof");
    let file = file.to_str().unwrap();
    let board = ["--cols", "4", "--rows", "4", "--player", "second", "--goal", "draw"];
    let out = ["proof", "build", "--out", file, "--stop-at", "5000", "--threads", "1"];
    let build = [&out[..], &board[..]].concat();
    let report = claimeven(&build);
    assert!(report.starts_with("4x4, connect 4, standard, O does not lose: proven\n"), "{report}");
    assert_eq!(claimeven(&["proof", "verify", file]), report);
    let json: Value =
        serde_json::from_str(&claimeven(&["proof", "verify", file, "--json"])).unwrap();
    assert_eq!(json["bytes"], fs::metadata(file).unwrap().len());
    assert!(json["positions"].as_u64().unwrap() > 0, "{json}");
    // What was found is kept.
    assert!(fs::metadata(format!("{file}.part")).unwrap().len() > 100);
    claimeven(&build);
    // A damaged file is rejected.
    let bytes = fs::read(file).unwrap();
    fs::write(file, &bytes[..bytes.len() - 1]).unwrap();
    let output =
        Command::new(env!("CARGO_BIN_EXE_claimeven")).args(["proof", "verify", file]).output();
    let output = output.unwrap();
    assert!(!output.status.success());
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("not a proof: the file ends too early"), "{error}");
}

#[test]
fn a_picture_of_an_explanation_has_its_marks() {
    let svg = claimeven(&["explain", "445566", "--svg"]);
    assert!(svg.starts_with("<svg") && svg.contains("class=\"ring by-first\""), "{svg}");
    assert!(svg.contains("makes four in a row."), "{svg}");
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
fn a_tournament_killed_three_times_ends_like_an_uninterrupted_one() {
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
fn our_engine_plays_itself_in_two_processes() {
    let engine = |agent: &str| {
        let program = env!("CARGO_BIN_EXE_claimeven");
        format!("ugi:cmd=\"'{program}' ugi --agent {agent}\",ms=10000,wait=60000")
    };
    let folder = tempfile::tempdir().unwrap();
    let board = ["--cols", "6", "--rows", "5", "--openings", "random:3"];
    let games = |players: [&str; 2], name: &str| -> Vec<Value> {
        let file = folder.path().join(format!("{name}.jsonl")).display().to_string();
        let rest = ["--games", "4", "--seed", "2", "--out", &file];
        claimeven(&[&["match"], &players[..], &board[..], &rest[..]].concat());
        claimeven(&["replay", &file, "--verify"]);
        let text = fs::read_to_string(file).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let (first, second) = ("alphabeta:depth=3", "mtdf:depth=2");
    let inside = games([first, second], "inside");
    let outside = games([&engine(first), &engine(second)], "outside");
    // These players are deterministic, so the games are the same.
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

#[test]
fn every_experiment_has_a_quick_run_and_a_section_in_the_report() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let json = claimeven(&["experiments", "--quick", "--json", "--out", out]);
    let run: Value = serde_json::from_str(&json).unwrap();
    let document = fs::read_to_string(folder.path().join("experiments.md")).unwrap();
    let names = |list: &Value| -> Vec<String> {
        let names = list.as_array().unwrap().iter();
        names.map(|experiment| experiment["name"].as_str().unwrap().to_owned()).collect()
    };
    let all = claimeven(&["experiments", "--list", "--json"]);
    assert_eq!(names(&run["experiments"]), names(&serde_json::from_str(&all).unwrap()));
    for experiment in run["experiments"].as_array().unwrap() {
        let finding = &experiment["finding"];
        let verdict = finding["verdict"].as_str().unwrap();
        let verdicts = ["holds", "holds-in-part", "does-not-hold", "undecided", "skipped"];
        assert!(verdicts.contains(&verdict), "{verdict}");
        let heading = format!("\n### {}\n", experiment["title"].as_str().unwrap());
        assert!(document.contains(&heading), "{heading}");
        for figure in finding["figures"].as_array().unwrap() {
            let file = format!("experiments/{}.svg", figure["name"].as_str().unwrap());
            assert!(document.contains(&file), "{file}");
            let picture = fs::read_to_string(folder.path().join(&file)).unwrap();
            assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"), "{file}");
            assert!(!picture.contains("NaN") && !picture.contains("inf\""), "{file}");
        }
    }
    assert!(document.contains("A quick run"));

    // Another seed replaces one section and leaves the others as they are.
    claimeven(&["experiments", "repeats", "--quick", "--seed", "2", "--out", out]);
    let later = fs::read_to_string(folder.path().join("experiments.md")).unwrap();
    let (before, after): (Vec<&str>, Vec<&str>) =
        document.lines().zip(later.lines()).filter(|(before, after)| before != after).unzip();
    assert_eq!(document.lines().count(), later.lines().count());
    assert!(after.contains(&"    claimeven experiments repeats --seed 2 --quick"), "{after:?}");
    assert!(before.iter().all(|line| !line.contains("experiments deeper-wins")), "{before:?}");
}

#[test]
fn experiments_do_not_depend_on_the_number_of_threads() {
    let findings = |threads: &str| {
        let chosen = ["experiments", "deeper-wins", "repeats", "errors", "--quick", "--json"];
        let json = claimeven(&[&chosen[..], &["--seed", "7", "--threads", threads]].concat());
        let run: Value = serde_json::from_str(&json).unwrap();
        run["experiments"].clone()
    };
    assert_eq!(findings("1"), findings("3"));
}

#[test]
fn an_interrupted_experiment_resumes_with_its_journal() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("matches.jsonl");
    let findings = |options: &[&str]| {
        let chosen = ["experiments", "difficulties", "beats-random", "--quick", "--json"];
        let run: Value =
            serde_json::from_str(&claimeven(&[&chosen[..], options].concat())).unwrap();
        run["experiments"].clone()
    };
    let expected = findings(&[]);
    let options = ["--journal", journal.to_str().unwrap()];
    assert_eq!(findings(&options), expected);
    let whole = fs::read_to_string(&journal).unwrap();
    assert_eq!(whole.lines().count(), 4 + 14);
    // A process was killed while it wrote the sixth match.
    let lines: Vec<&str> = whole.lines().collect();
    fs::write(&journal, format!("{}\n{}", lines[..5].join("\n"), &lines[5][..20])).unwrap();
    assert_eq!(findings(&options), expected);
    assert_eq!(fs::read_to_string(&journal).unwrap(), whole);
    // A match that is in the journal is not played again: an edited result is used as it is.
    let (start, end) = whole.rsplit_once("\"results\":[5,0,3]").expect("the last match is there");
    fs::write(&journal, format!("{start}\"results\":[3,0,5]{end}")).unwrap();
    assert_ne!(findings(&options), expected);
}

#[test]
fn an_experiment_reports_the_numbers_of_its_command() {
    let json = claimeven(&["experiments", "difficulties", "--quick", "--seed", "3", "--json"]);
    let run: Value = serde_json::from_str(&json).unwrap();
    let finding = &run["experiments"][0]["finding"];
    let command = finding["commands"][0].as_str().unwrap();
    let mut arguments: Vec<&str> = command.split(' ').skip(1).collect();
    arguments.push("--json");
    let played: Value = serde_json::from_str(&claimeven(&arguments)).unwrap();
    // The first row is medium against easy, by their depths.
    let row = finding["tables"][0]["rows"][0].as_array().unwrap();
    assert_eq!(row[1], "3 against 1");
    // The interval of the experiment is wider, as it is one of several.
    let results = ["won", "drawn", "lost"].map(|key| played[key].clone());
    assert_eq!(row[2..5], results);
    assert_eq!(row[5]["estimate"], played["score"]["estimate"]);
}

#[test]
fn the_committed_report_has_all_experiments() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
    let document = fs::read_to_string(format!("{docs}/experiments.md")).unwrap();
    let list: Value =
        serde_json::from_str(&claimeven(&["experiments", "--list", "--json"])).unwrap();
    for experiment in list.as_array().unwrap() {
        let [name, title, claim] =
            ["name", "title", "claim"].map(|key| experiment[key].as_str().unwrap());
        let start = document.find(&format!("\n### {title}\n")).expect(title);
        let section = &document[start + 1..];
        let section = &section[..section.find("\n#").unwrap_or(section.len())];
        assert!(section.contains(claim), "{title}");
        assert!(section.contains(&format!("    claimeven experiments {name} --seed ")), "{title}");
        assert!(section.contains("*Verdict.* The claim **"), "{title}");
    }
    let pictures = document.split("](experiments/").skip(1);
    for picture in pictures.filter_map(|rest| rest.split_once(')')) {
        let file = format!("{docs}/experiments/{}", picture.0);
        assert!(fs::exists(&file).unwrap(), "{file}");
    }
    assert!(!document.contains("--quick"));
}

pub(crate) fn claimeven(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_claimeven")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}
