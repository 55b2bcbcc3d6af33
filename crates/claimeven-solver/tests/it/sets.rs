//! The public test sets: excerpts of 100 positions each (`tests/data`), whole sets on request.

use std::path::Path;
use std::{env, fs};

use claimeven_game::{Position, Setup};
use claimeven_solver::{Options, Solver};

/// Solves lines of `moves score` and returns the number of nodes.
fn check(text: &str, count: usize, options: Options) -> u64 {
    let mut solver = Solver::new(options);
    assert!(text.lines().count() >= count, "the set has {count} positions");
    for line in text.lines().take(count) {
        let (moves, score) = line.split_once(' ').unwrap();
        let position = Position::from_moves(Setup::STANDARD, moves).unwrap();
        let found = solver.score(&position).unwrap().value();
        assert_eq!(found, score.parse::<i32>().unwrap(), "{moves}");
    }
    solver.nodes()
}

macro_rules! excerpts {
    ($($name:ident: $file:literal, $portable:literal;)*) => {$(
        #[test]
        fn $name() {
            let text = include_str!(concat!("../data/", $file));
            check(text, 100, Options::default());

            // The portable code finds the same scores with the same nodes.
            let portable = check(text, $portable, Options::default().with_portable_code());
            assert_eq!(portable, check(text, $portable, Options::default()));
        }
    )*};
}

excerpts! {
    end_easy: "end-easy.txt", 100;
    middle_easy: "middle-easy.txt", 100;
    middle_medium: "middle-medium.txt", 100;
    begin_easy: "begin-easy.txt", 100;
    begin_medium: "begin-medium.txt", 30;
    begin_hard: "begin-hard.txt", 5;
}

#[test]
fn begin_medium_with_two_threads() {
    check(include_str!("../data/begin-medium.txt"), 100, Options::default().with_threads(2));
}

#[test]
#[ignore = "takes the whole sets: CLAIMEVEN_TEST_SETS=FOLDER cargo test -- --ignored whole_sets"]
fn whole_sets() {
    let folder = env::var("CLAIMEVEN_TEST_SETS").expect("CLAIMEVEN_TEST_SETS names a folder");
    for file in ["L3_R1", "L2_R1", "L2_R2", "L1_R1", "L1_R2", "L1_R3"] {
        let path = Path::new(&folder).join(format!("Test_{file}"));
        let text = fs::read_to_string(&path).unwrap_or_else(|error| {
            panic!("{}: {error}", path.display());
        });
        check(&text, if file == "L1_R3" { 60 } else { 1000 }, Options::default());
    }
}
