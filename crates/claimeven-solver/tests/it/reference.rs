//! Scores compared with the naive solver, on boards of every parity, in 64 and in 128 bits.

use claimeven_game::{Position, Ruleset, Setup};
use claimeven_solver::{Options, Score, Solver, Unsolvable};

use crate::naive::{Naive, children, random_positions, setup};

fn solver() -> Solver {
    Solver::new(Options::default().with_table_mb(1))
}

#[test]
fn every_position_of_the_smallest_boards() {
    for (cols, rows, connect) in [
        (4, 3, 3),
        (3, 4, 3),
        (3, 3, 3),
        (2, 5, 2),
        (5, 2, 3),
        (1, 4, 2),
        (4, 1, 2),
        (1, 1, 2),
        (4, 4, 4),
    ] {
        let setup = setup(cols, rows, connect);
        let (mut solver, mut naive) = (solver(), Naive::default());
        let mut ply = vec![Position::new(setup)];
        while !ply.is_empty() {
            for position in &ply {
                let score = solver.score(position).unwrap().value();
                assert_eq!(score, naive.score(position), "{position:?}");
            }
            ply = ply.iter().flat_map(children).collect();
            ply.sort_unstable_by_key(Position::key);
            ply.dedup();
        }
    }
}

/// Boards, each with the largest number of empty cells that the naive solver handles quickly.
const SAMPLED: [(u8, u8, u8, u32); 18] = [
    (5, 4, 4, 20),
    (4, 5, 4, 20),
    (4, 6, 4, 18),
    (5, 5, 4, 16),
    (6, 4, 4, 16),
    (6, 5, 4, 14),
    (7, 6, 4, 14),
    (3, 7, 3, 21),
    (5, 5, 3, 16),
    (6, 6, 5, 14),
    (8, 7, 4, 12),
    (9, 6, 4, 12),
    (9, 7, 4, 12),
    (10, 10, 4, 11),
    (10, 10, 5, 11),
    (3, 30, 4, 16),
    (3, 20, 4, 16),
    (2, 25, 4, 18),
];

#[test]
fn positions_of_random_games_on_many_boards() {
    for (cols, rows, connect, max_empty) in SAMPLED {
        let setup = setup(cols, rows, connect);
        let (mut solver, mut naive) = (solver(), Naive::default());
        let mut portable = Solver::new(Options::default().with_table_mb(1).with_portable_code());
        for position in random_positions(setup, max_empty, 150) {
            let score = naive.score(&position);
            for solver in [&mut solver, &mut portable] {
                assert_eq!(solver.score(&position).unwrap().value(), score, "{position:?}");
                assert_eq!(solver.sign(&position).unwrap(), score.signum(), "{position:?}");
            }
        }
        assert_eq!(solver.nodes(), portable.nodes(), "{setup}");
    }
}

#[cfg(feature = "ablation")]
#[test]
fn leaving_out_any_technique_changes_no_score() {
    use claimeven_solver::ablation::{Ablated, TECHNIQUES};
    let options = Options::default().with_table_mb(1);
    for (cols, rows, connect, max_empty) in SAMPLED {
        let setup = setup(cols, rows, connect);
        let mut solver = Solver::new(options.clone());
        let positions = random_positions(setup, max_empty + 2, 60);
        for technique in TECHNIQUES {
            let mut ablated = Ablated::new(setup, technique, &options).unwrap();
            for position in &positions {
                let score = solver.score(position).unwrap();
                let found = ablated.score(position, u64::MAX);
                assert_eq!(found, Some(score), "without {technique}: {position:?}");
            }
        }
    }
}

#[test]
fn mirror_images_children_and_several_threads_agree() {
    let mut alone = Solver::new(Options::default());
    let mut threaded = Solver::new(Options::default().with_threads(3));
    for position in random_positions(Setup::STANDARD, 27, 150) {
        let score = alone.score(&position).unwrap();
        assert_eq!(alone.score(&position.mirror()).unwrap(), score, "{position:?}");
        assert_eq!(threaded.score(&position).unwrap(), score, "{position:?}");
        let columns = alone.scores(&position).unwrap();
        assert_eq!(columns.iter().flatten().max(), Some(&score), "{position:?}");
        assert_eq!(columns.iter().flatten().count(), position.legal().count(), "{position:?}");
    }
}

#[test]
fn the_first_move_in_the_centre_wins_with_the_last_disc() {
    let mut solver = Solver::new(Options::default());
    let empty = Position::new(Setup::STANDARD);
    let columns = solver.scores(&empty).unwrap();
    let columns: Vec<i32> = columns.into_iter().flatten().map(Score::value).collect();
    assert_eq!(columns, [-2, -1, 0, 1, 0, -1, -2]);
}

#[test]
fn the_principal_variation_ends_as_the_score_says() {
    let mut solver = Solver::new(Options::default());
    for position in random_positions(Setup::STANDARD, 24, 60) {
        let score = solver.score(&position).unwrap();
        let pv = solver.principal_variation(&position).unwrap();
        let mut end = position;
        for &column in &pv {
            end.play(column).unwrap();
        }
        let winner = end.outcome().unwrap().winner();
        let expected = match score.sign() {
            1 => Some(position.player()),
            0 => None,
            _ => Some(position.player().opponent()),
        };
        assert_eq!(winner, expected, "{position:?}");
        if let Some(moves) = score.moves_to_win(&position) {
            let plies = if score.sign() > 0 { 2 * moves - 1 } else { 2 * moves };
            assert_eq!(pv.len(), plies as usize, "{position:?}");
        }
    }
}

#[test]
fn one_solver_alternates_between_setups() {
    let mut solver = solver();
    for (cols, rows, score) in [(4, 4, 0), (5, 4, 0), (10, 1, 0), (4, 4, 0), (4, 5, 0)] {
        let empty = Position::new(setup(cols, rows, 4));
        assert_eq!(solver.score(&empty).unwrap().value(), score, "{cols}x{rows}");
    }
}

#[test]
fn the_ruleset_lines_is_not_supported() {
    let setup = Setup::new(4, 4, 4, Ruleset::Lines).unwrap();
    let rejected = solver().score(&Position::new(setup)).unwrap_err();
    assert_eq!(rejected, Unsolvable(Ruleset::Lines));
    assert_eq!(rejected.to_string(), "the solver supports the ruleset standard, not lines");
}
