//! The effect of each technique of the search: nodes and time without it, on the public test sets.
//!
//! `cargo xtask bench ablation DIR` runs it and prints a table for Markdown.

use std::time::Instant;
use std::{env, fs, process};

use claimeven_game::{Position, Setup};
use claimeven_solver::ablation::{Ablated, TECHNIQUES};
use claimeven_solver::{Options, Score, Solver};

const SETS: [(&str, &str, usize); 3] = [
    ("Begin-Easy", "Test_L1_R1", 300),
    ("Middle-Medium", "Test_L2_R2", 300),
    ("Begin-Hard", "Test_L1_R3", 10),
];

/// The multiple of the full solver's nodes after which a set is abandoned.
const GIVE_UP: u64 = 30;

fn main() {
    let Some(folder) = env::args().nth(1) else {
        eprintln!("usage: ablation DIR, the folder of the public test sets");
        process::exit(2);
    };
    let mut sets: Vec<(String, Vec<Position>)> = SETS
        .map(|(name, file, count)| (format!("{name} {count}"), read(&folder, file, count)))
        .into();
    sets.push(("empty board".to_owned(), vec![Position::new(Setup::STANDARD)]));

    let names: Vec<&str> = sets.iter().map(|(name, _)| name.as_str()).collect();
    println!("| without | {} |", names.join(" | "));
    println!("|---|{}", "---|".repeat(names.len()));
    let full: Vec<Run> = sets.iter().map(|(_, positions)| run_full(positions)).collect();
    let cells = full.iter().map(|run| format!("{} nodes, {:.2} s", run.nodes, run.seconds));
    println!("| nothing | {} |", cells.collect::<Vec<_>>().join(" | "));
    for technique in TECHNIQUES {
        let cells = sets.iter().zip(&full).map(|((_, positions), full)| {
            let Some(run) = run_without(technique, positions, GIVE_UP * full.nodes) else {
                return format!("over {GIVE_UP}");
            };
            assert_eq!(run.scores, full.scores, "without {technique}");
            let nodes = run.nodes as f64 / full.nodes as f64;
            format!("{nodes:.2} / {:.2}", run.seconds / full.seconds)
        });
        println!("| {technique} | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
}

fn read(folder: &str, file: &str, count: usize) -> Vec<Position> {
    let text = fs::read_to_string(format!("{folder}/{file}")).unwrap_or_else(|error| {
        eprintln!("{folder}/{file}: {error}");
        process::exit(2);
    });
    let moves = text.lines().take(count).filter_map(|line| line.split_once(' '));
    let position = |(moves, _)| Position::from_moves(Setup::STANDARD, moves);
    moves.map(position).collect::<Result<_, _>>().expect("the sets are legal")
}

struct Run {
    scores: Vec<Score>,
    nodes: u64,
    seconds: f64,
}

fn run_full(positions: &[Position]) -> Run {
    let mut solver = Solver::new(Options::default());
    let start = Instant::now();
    let score = |position| {
        solver.clear();
        solver.score(position).expect("the ruleset is the standard one")
    };
    let scores = positions.iter().map(score).collect();
    Run { scores, nodes: solver.nodes(), seconds: start.elapsed().as_secs_f64() }
}

fn run_without(technique: &str, positions: &[Position], nodes: u64) -> Option<Run> {
    let mut ablated = Ablated::new(Setup::STANDARD, technique, &Options::default())?;
    let start = Instant::now();
    let score = |position| {
        ablated.clear();
        ablated.score(position, nodes.saturating_sub(ablated.nodes()))
    };
    let scores = positions.iter().map(score).collect::<Option<_>>()?;
    Some(Run { scores, nodes: ablated.nodes(), seconds: start.elapsed().as_secs_f64() })
}
