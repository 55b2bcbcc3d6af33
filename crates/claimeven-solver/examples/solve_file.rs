//! Solves a file of positions, one per line as move text (`4453`); what follows a space is ignored.
//!
//! ```text
//! cargo run --release -p claimeven-solver --example solve_file -- crates/claimeven-solver/tests/data/end-easy.txt
//! ```

use std::error::Error;
use std::process::ExitCode;
use std::{env, fs};

use claimeven_game::{Position, Setup};
use claimeven_solver::{Options, Solver, embedded_books};

fn main() -> ExitCode {
    let Some(path) = env::args().nth(1) else {
        eprintln!("usage: solve_file FILE");
        return ExitCode::from(2);
    };
    match solve_file(&path) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{path}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn solve_file(path: &str) -> Result<(), Box<dyn Error>> {
    let mut solver = Solver::new(Options::default().with_books(embedded_books()));
    for (number, line) in (1..).zip(fs::read_to_string(path)?.lines()) {
        let moves = line.split(' ').next().unwrap_or_default();
        let position = Position::from_moves(Setup::STANDARD, moves)
            .map_err(|error| format!("line {number}: {error}"))?;
        let score = solver.score(&position)?;
        println!("{moves} {score} ({})", score.describe(&position));
    }
    eprintln!("{} nodes", solver.nodes());
    Ok(())
}

#[test]
fn it_solves_a_test_set() {
    solve_file(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/end-easy.txt")).unwrap();
    assert!(solve_file(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).is_err());
}
