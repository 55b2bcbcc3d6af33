//! The project's tasks: `cargo xtask test` checks everything, `cargo xtask bench` measures.

mod dependencies;
mod page;
mod postgres;
mod python;
mod solver_bench;
mod step;
mod system;
mod tests;

use std::env;
use std::process::ExitCode;

use postgres::Postgres;
use solver_bench::SolverBench;
use step::{Report, Step};

const USAGE: &str = "\
usage: cargo xtask test [--no-skip]      format, lints, all tests, doctests, docs, the page in a browser;
                                         --no-skip fails if a check has to be skipped
       cargo xtask dependencies          licences, duplicates and sources, according to deny.toml
       cargo xtask python-peers          the Python package compared with OpenSpiel, Kaggle and bitbully
       cargo xtask load [GAMES] [SECONDS] [busy]
                                         live games on a server (500 for 60 s)
       cargo xtask load GAMES SECONDS read DATABASE
                                         the same with a filled database, and the latency of read requests
       cargo xtask load GAMES SECONDS fleet
                                         the same on two servers with PostgreSQL and NATS, all games watched
       cargo xtask simulate-fleet        the overhead of a unit of work, and the predicted speed of many machines
       cargo xtask fill DATABASE GAMES   fills a new database (sqlite:PATH, postgres://…) with finished games
       cargo xtask siege [SECONDS]       one address floods a server while another plays (600 s)
       cargo xtask soak [MINUTES]        games against memory-hungry players: memory, files, threads (40 min)
       cargo xtask chaos [KILLS]         kills, locks and full disks during 500 games, both databases (100)
       cargo xtask bench [FILTER]        the benchmarks, or those whose name contains FILTER
       cargo xtask bench search          the players' searches
       cargo xtask bench arena           the overhead of matches
       cargo xtask bench solver DIR [--empty] [--json FILE]
                                         the solver and bitbully on the public test sets in DIR
       cargo xtask bench ablation DIR    the solver with each technique left out
       cargo xtask compare-book          the book of ply 12 compared with another project's database";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let steps = match arguments[..] {
        ["help" | "--help" | "-h"] | [_, "--help" | "-h"] | [_, _, "--help" | "-h"] => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        ["test"] => return tests::run(false),
        ["test", "--no-skip"] => return tests::run(true),
        ["dependencies"] => return done(dependencies::check()),
        ["python-peers"] => vec![python::peers()],
        ["load"] => stress_steps("load", &["500", "60"]),
        ["load", games] => stress_steps("load", &[games, "60"]),
        ["load", games, seconds] => stress_steps("load", &[games, seconds]),
        ["load", games, seconds, "busy"] => stress_steps("load", &[games, seconds, "busy"]),
        ["load", games, seconds, "read", database] => {
            stress_steps("load", &[games, seconds, "read", database])
        }
        ["load", games, seconds, "fleet"] => return load_fleet(games, seconds),
        ["simulate-fleet"] => vec![simulate_step()],
        ["fill", database, games] => vec![fill_step(database, games)],
        ["siege"] => stress_steps("siege", &["600"]),
        ["siege", seconds] => stress_steps("siege", &[seconds]),
        ["soak"] => stress_steps("soak", &["40"]),
        ["soak", minutes] => stress_steps("soak", &[minutes]),
        ["chaos"] => return chaos("100"),
        ["chaos", kills] => return chaos(kills),
        ["compare-book"] => return done(solver_bench::compare_book()),
        ["bench"] => vec![bench_step(&[])],
        ["bench", "solver", sets, ref options @ ..] => return bench_solver(sets, options),
        ["bench", "search"] => vec![search_step()],
        ["bench", "arena"] => vec![arena_step()],
        ["bench", "ablation", sets] => vec![ablation_step(sets)],
        ["bench", filter] => vec![bench_step(&["--", filter])],
        _ => {
            eprintln!("xtask: unknown command '{}'\n{USAGE}", arguments.join(" "));
            return ExitCode::from(2);
        }
    };
    let mut report = Report::new();
    report.run(&steps);
    report.finish(false)
}

fn bench_step(filter: &[&str]) -> Step {
    let all = ["bench", "--workspace", "--bench", "*"];
    Step::cargo("benchmarks", &[&all, filter].concat())
}

fn search_step() -> Step {
    Step::cargo("search", &["bench", "--package", "claimeven-search", "--bench", "search"])
}

fn arena_step() -> Step {
    let example = ["run", "--release", "--package", "claimeven-arena", "--example", "harness"];
    Step::cargo("arena", &example)
}

fn ablation_step(sets: &str) -> Step {
    let example = ["run", "--release", "--package", "claimeven-solver", "--features", "ablation"];
    Step::cargo("ablation", &[&example[..], &["--example", "ablation", "--", sets]].concat())
}

fn bench_solver(sets: &str, options: &[&str]) -> ExitCode {
    let mut bench = SolverBench { sets, empty: false, json: None };
    let mut options = options.iter();
    while let Some(&option) = options.next() {
        match option {
            "--empty" => bench.empty = true,
            "--json" => bench.json = options.next().copied(),
            _ => {
                eprintln!("xtask: unknown option '{option}' of bench solver\n{USAGE}");
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

fn fill_step(database: &str, games: &str) -> Step {
    let example = ["run", "--release", "--package", "claimeven-server", "--example", "fill", "--"];
    Step::cargo("fill", &[&example[..], &[database, games]].concat())
}

/// Builds a server and runs a stress test against it.
fn stress_steps(name: &'static str, arguments: &[&str]) -> Vec<Step> {
    let target = env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".to_owned());
    let program = format!("{target}/release/claimeven{}", env::consts::EXE_SUFFIX);
    let example =
        ["run", "--release", "--package", "claimeven-server", "--example", "stress", "--"];
    vec![
        Step::cargo("server", &["build", "--release", "--package", "claimeven"]),
        Step::cargo(name, &[&example[..], &[&program, name], arguments].concat()),
    ]
}

/// Games on two servers that share a database.
fn load_fleet(games: &str, seconds: &str) -> ExitCode {
    let Some(nats) = system::find_or_install("nats-server") else {
        return done(Err("nats-server is not installed and could not be installed".to_owned()));
    };
    match Postgres::start_durable() {
        Ok(postgres) => {
            let nats = nats.display().to_string();
            let arguments = [games, seconds, "fleet", &postgres.url(), &nats];
            let mut report = Report::new();
            report.run(&stress_steps("load", &arguments));
            report.finish(false)
        }
        Err(reason) => done(Err(reason)),
    }
}

fn simulate_step() -> Step {
    let example = ["run", "--release", "--package", "claimeven-work", "--features", "nats"];
    let nats = system::find_or_install("nats-server");
    Step {
        variables: nats
            .map(|path| ("CLAIMEVEN_TEST_NATS", path.display().to_string()))
            .into_iter()
            .collect(),
        ..Step::cargo("simulation", &[&example[..], &["--example", "simulate"]].concat())
    }
}

/// The same faults with both databases.
fn chaos(kills: &str) -> ExitCode {
    let mut report = Report::new();
    report.run(&stress_steps("chaos", &[kills]));
    match Postgres::start() {
        Ok(postgres) => report.run(&stress_steps("chaos", &[kills, &postgres.url()])),
        Err(reason) => println!("skipped PostgreSQL: {reason}"),
    }
    report.finish(false)
}
