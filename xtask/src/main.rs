//! The project's chores. `cargo xtask test` checks everything, `cargo xtask bench` measures.

mod page;
mod postgres;
mod solver_bench;

use std::env;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use postgres::Postgres;
use solver_bench::SolverBench;

const USAGE: &str = "\
usage: cargo xtask test                  format, lints, all tests, doctests, docs, the page in a browser
       cargo xtask load [GAMES] [SECONDS] [busy]
                                         so many live games at once against a server (500 for 60 s)
       cargo xtask bench [FILTER]        the benchmarks, or those whose name contains FILTER
       cargo xtask bench search          the players' searches
       cargo xtask bench arena           what matches cost besides the players
       cargo xtask bench solver DIR [--empty] [--json FILE]
                                         the solver and a peer on the public test sets in DIR
       cargo xtask bench ablation DIR    the solver with each technique left out
       cargo xtask compare-book          the book of ply 12 beside another project's database";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let steps = match arguments[..] {
        ["test"] => return test(),
        ["load"] => load_steps(&["500", "60"]),
        ["load", games] => load_steps(&[games, "60"]),
        ["load", games, seconds] => load_steps(&[games, seconds]),
        ["load", games, seconds, "busy"] => load_steps(&[games, seconds, "busy"]),
        ["compare-book"] => return done(solver_bench::compare_book()),
        ["bench"] => vec![bench_step(&[])],
        ["bench", "solver", sets, ref options @ ..] => return bench_solver(sets, options),
        ["bench", "search"] => vec![search_step()],
        ["bench", "arena"] => vec![arena_step()],
        ["bench", "ablation", sets] => vec![ablation_step(sets)],
        ["bench", filter] => vec![bench_step(&["--", filter])],
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("xtask: cannot '{}'\n{USAGE}", arguments.join(" "));
            return ExitCode::from(2);
        }
    };
    run(&steps)
}

/// One command of a chore.
struct Step {
    name: &'static str,
    program: &'static str,
    arguments: Vec<String>,
    /// Environment variables to run it with.
    variables: Vec<(&'static str, String)>,
    /// Where it is run, if not here.
    folder: Option<PathBuf>,
}

impl Step {
    /// A command of cargo.
    fn new(name: &'static str, arguments: &[&str]) -> Step {
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        Step { name, program: "cargo", arguments, variables: Vec::new(), folder: None }
    }
}

fn bench_step(filter: &[&str]) -> Step {
    let all = ["bench", "--workspace", "--bench", "*"];
    Step::new("benchmarks", &[&all, filter].concat())
}

fn search_step() -> Step {
    Step::new("search", &["bench", "--package", "claimeven-search", "--bench", "search"])
}

fn arena_step() -> Step {
    let example = ["run", "--release", "--package", "claimeven-arena", "--example", "harness"];
    Step::new("arena", &example)
}

fn ablation_step(sets: &str) -> Step {
    let example = ["run", "--release", "--package", "claimeven-solver", "--features", "ablation"];
    Step::new("ablation", &[&example[..], &["--example", "ablation", "--", sets]].concat())
}

fn bench_solver(sets: &str, options: &[&str]) -> ExitCode {
    let mut bench = SolverBench { sets, empty: false, json: None };
    let mut options = options.iter();
    while let Some(&option) = options.next() {
        match option {
            "--empty" => bench.empty = true,
            "--json" => bench.json = options.next().copied(),
            _ => {
                eprintln!("xtask: bench solver has no option '{option}'\n{USAGE}");
                return ExitCode::from(2);
            }
        }
    }
    done(bench.run())
}

fn done(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs all checks: those of the server also on PostgreSQL where it is installed, those of the page
/// where Node is.
fn test() -> ExitCode {
    let postgres = Postgres::start();
    let mut steps = test_steps(postgres.as_ref().map(Postgres::url));
    steps.extend(page::steps());
    run(&steps)
}

fn load_steps(arguments: &[&str]) -> Vec<Step> {
    let target = env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".to_owned());
    let program = format!("{target}/release/claimeven{}", env::consts::EXE_SUFFIX);
    let example = ["run", "--release", "--package", "claimeven-server", "--example", "load", "--"];
    vec![
        Step::new("server", &["build", "--release", "--package", "claimeven"]),
        Step::new("load", &[&example[..], &[&program], arguments].concat()),
    ]
}

fn test_steps(postgres: Option<String>) -> Vec<Step> {
    let has_nextest = Command::new("cargo")
        .args(["nextest", "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    let tests: &[&str] = if has_nextest {
        &["nextest", "run", "--workspace", "--all-features", "--no-fail-fast"]
    } else {
        println!("cargo-nextest is not installed: the tests run with cargo test");
        &["test", "--workspace", "--all-features", "--lib", "--bins", "--tests", "--no-fail-fast"]
    };
    let clippy =
        ["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"];
    let docs = ["doc", "--workspace", "--all-features", "--no-deps", "--document-private-items"];
    vec![
        Step::new("format", &["fmt", "--all", "--check"]),
        Step::new("lints", &clippy),
        Step {
            variables: postgres.map(|url| ("CLAIMEVEN_TEST_POSTGRES", url)).into_iter().collect(),
            ..Step::new("tests", tests)
        },
        Step::new("doctests", &["test", "--workspace", "--all-features", "--doc"]),
        Step {
            variables: vec![("RUSTDOCFLAGS", "-D warnings".to_owned())],
            ..Step::new("docs", &docs)
        },
    ]
}

/// Runs the steps in order up to the first that fails, and says how long each took.
fn run(steps: &[Step]) -> ExitCode {
    let mut times: Vec<(&str, Duration)> = Vec::new();
    for (number, step) in (1..).zip(steps) {
        let Step { name, program, arguments, variables, folder } = step;
        println!("\n[{number}/{}] {name}: {program} {}", steps.len(), arguments.join(" "));
        let start = Instant::now();
        let mut command = Command::new(program);
        // Cargo tells this program which package it is. Some dependencies would be built anew for
        // another one, and again when cargo is called by hand.
        for (name, _) in env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
                command.env_remove(name);
            }
        }
        command.args(arguments).envs(variables.iter().map(|(name, value)| (name, value)));
        if let Some(folder) = folder {
            command.current_dir(folder);
        }
        let status = command.status();
        times.push((name, start.elapsed()));
        let failure = match status {
            Ok(status) if status.success() => continue,
            Ok(status) => status.to_string(),
            Err(error) => format!("{program} cannot be run: {error}"),
        };
        print_times(&times);
        eprintln!("xtask: {name} failed ({failure})");
        return ExitCode::FAILURE;
    }
    print_times(&times);
    ExitCode::SUCCESS
}

fn print_times(times: &[(&str, Duration)]) {
    println!();
    let total = times.iter().map(|(_, time)| *time).sum();
    for (name, time) in times.iter().copied().chain([("total", total)]) {
        println!("{name:>10} {:>7.1} s", time.as_secs_f64());
    }
}
