//! What each technique of the search is worth: nodes and time without it, on the public test sets.
//!
//! `cargo xtask bench ablation DIR` runs it.

use std::time::Instant;
use std::{env, fs, process};

use claimeven_game::{Position, Setup};
use claimeven_solver::ablation::{Ablated, TECHNIQUES};
use claimeven_solver::{Options, Solver};

const SETS: [(&str, &str, usize); 3] = [
    ("Middle-Medium", "Test_L2_R2", 1000),
    ("Begin-Medium", "Test_L1_R2", 100),
    ("Begin-Hard", "Test_L1_R3", 30),
];

fn main() {
    let Some(folder) = env::args().nth(1) else {
        eprintln!("usage: ablation DIR, the folder of the public test sets");
        process::exit(2);
    };
    let sets: Vec<(&str, Vec<Position>)> = SETS
        .into_iter()
        .map(|(name, file, count)| {
            let text = fs::read_to_string(format!("{folder}/{file}")).unwrap_or_else(|error| {
                eprintln!("{folder}/{file}: {error}");
                process::exit(2);
            });
            let moves = text.lines().take(count).filter_map(|line| line.split_once(' '));
            let position = |(moves, _)| Position::from_moves(Setup::STANDARD, moves);
            (name, moves.map(position).collect::<Result<_, _>>().expect("the sets are legal"))
        })
        .collect();

    println!("| without | {} |", SETS.map(|(name, ..)| name).join(" | "));
    println!("|---|{}", "---|".repeat(SETS.len()));
    let options = Options::default();
    let mut whole = Vec::new();
    for (_, positions) in &sets {
        let mut solver = Solver::new(options.clone());
        whole.push(measure(positions, |position| {
            solver.clear();
            let before = solver.nodes();
            let score = solver.score(position).expect("the standard ruleset").value();
            (score, solver.nodes() - before)
        }));
    }
    let cells = whole.iter().map(|run| format!("{} nodes, {:.2} s", run.nodes, run.seconds));
    println!("| nothing | {} |", cells.collect::<Vec<_>>().join(" | "));
    for technique in TECHNIQUES {
        let cells = sets.iter().zip(&whole).map(|((_, positions), whole)| {
            let mut ablated = Ablated::new(Setup::STANDARD, technique, &options).expect("a name");
            let run = measure(positions, |position| {
                ablated.clear();
                let before = ablated.nodes();
                (ablated.score(position), ablated.nodes() - before)
            });
            assert_eq!(run.scores, whole.scores, "without {technique}");
            let nodes = run.nodes as f64 / whole.nodes as f64;
            format!("x {nodes:.2} nodes, x {:.2} time", run.seconds / whole.seconds)
        });
        println!("| {technique} | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
}

struct Run {
    scores: Vec<i32>,
    nodes: u64,
    seconds: f64,
}

fn measure(positions: &[Position], mut solve: impl FnMut(&Position) -> (i32, u64)) -> Run {
    let start = Instant::now();
    let (scores, nodes): (Vec<i32>, Vec<u64>) = positions.iter().map(&mut solve).unzip();
    Run { scores, nodes: nodes.iter().sum(), seconds: start.elapsed().as_secs_f64() }
}
