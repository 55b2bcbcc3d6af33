//! The public test sets, where they are at hand.

use std::fs;
use std::path::Path;

use claimeven_game::{Position, Setup};
use claimeven_solver::{Options, Solver};

fn check(file: &str, count: usize, threads: usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/testdata");
    let Ok(text) = fs::read_to_string(folder.join(file)) else {
        eprintln!("{file} is not here: nothing to check");
        return;
    };
    let mut solver = Solver::new(Options::default().with_threads(threads));
    let mut checked = 0;
    for line in text.lines().take(count) {
        let (moves, score) = line.split_once(' ').unwrap();
        let position = Position::from_moves(Setup::STANDARD, moves).unwrap();
        let found = solver.score(&position).unwrap().value();
        assert_eq!(found, score.parse::<i32>().unwrap(), "{moves}");
        checked += 1;
    }
    assert_eq!(checked, count);
}

#[test]
fn end_easy() {
    check("Test_L3_R1", 1000, 1);
}

#[test]
fn middle_easy() {
    check("Test_L2_R1", 1000, 1);
}

#[test]
fn middle_medium() {
    check("Test_L2_R2", 1000, 1);
}

#[test]
fn begin_easy() {
    check("Test_L1_R1", 1000, 1);
}

#[test]
fn begin_medium() {
    check("Test_L1_R2", 1000, 1);
}

#[test]
fn begin_hard() {
    check("Test_L1_R3", 60, 1);
}

#[test]
fn begin_medium_in_a_team() {
    check("Test_L1_R2", 100, 2);
}
