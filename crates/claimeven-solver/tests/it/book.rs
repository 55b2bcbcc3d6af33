//! Complete books of small boards.

use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use claimeven_game::{Position, Setup};
use claimeven_solver::{
    Book, BuildError, BuildProgress, Options, Score, Solver, book_positions, build_book,
    embedded_books,
};

use crate::naive::{children, setup};

/// The path of a checkpoint file for one test, which does not exist yet.
fn checkpoint(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("claimeven-{}-{name}.part", std::process::id()));
    let _ = fs::remove_file(&path);
    path
}

fn scorer() -> impl FnMut(&Position) -> Score {
    let mut solver = Solver::new(Options::default());
    move |position| solver.score(position).unwrap()
}

fn go_on(_: BuildProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn build(setup: Setup, ply: u32, name: &str) -> Book {
    let path = checkpoint(name);
    let book = build_book(setup, ply, &path, 2, scorer, go_on).unwrap().unwrap();
    fs::remove_file(path).unwrap();
    book
}

#[test]
fn a_book_has_the_score_of_each_of_its_positions() {
    for (cols, rows, connect, ply) in
        [(5, 5, 4, 0), (5, 5, 4, 3), (5, 5, 4, 7), (6, 5, 4, 2), (6, 5, 4, 5), (5, 4, 3, 4)]
    {
        let setup = setup(cols, rows, connect);
        let book = build(setup, ply, &format!("all-{cols}x{rows}-{ply}"));
        let book = Book::from_bytes(&book.to_bytes()).unwrap();
        let positions = book_positions(setup, ply);
        assert_eq!(book.entries(), positions.len() as u64);
        let mut scorer = scorer();
        for position in positions {
            assert!(book.contains(&position));
            let score = Some(scorer(&position));
            assert_eq!(book.get(&position), score, "{position:?}");
            assert_eq!(book.get(&position.mirror()), score, "{position:?}");
        }
    }
}

#[test]
fn a_solver_with_a_book_gives_the_same_scores_without_searching() {
    let setup = setup(5, 5, 4);
    let book = Arc::new(build(setup, 6, "same"));
    let mut with = Solver::new(Options::default().with_books(vec![book]));
    let mut without = Solver::new(Options::default());
    let mut ply = vec![Position::new(setup)];
    for _ in 0..=6 {
        for position in &ply {
            let score = without.score(position).unwrap();
            assert_eq!(with.score(position).unwrap(), score, "{position:?}");
        }
        ply = ply.iter().flat_map(children).collect();
        ply.sort_unstable_by_key(Position::canonical_key);
        ply.dedup_by_key(|position| position.canonical_key());
    }
    assert_eq!(with.nodes(), 0);
}

#[test]
fn the_ply_after_a_book_needs_fewer_nodes_for_the_same_scores() {
    let setup = setup(5, 5, 4);
    let book = Arc::new(build(setup, 6, "after"));
    let mut with = Solver::new(Options::default().with_books(vec![book]));
    let mut without = Solver::new(Options::default());
    let mut ply = vec![Position::new(setup)];
    for _ in 0..7 {
        ply = ply.iter().flat_map(children).collect();
        ply.sort_unstable_by_key(Position::canonical_key);
        ply.dedup_by_key(|position| position.canonical_key());
    }
    // The tables are cleared, so that earlier positions do not help.
    for position in ply.iter().filter(|position| position.outcome().is_none()).step_by(5) {
        with.clear();
        without.clear();
        let score = without.score(position).unwrap();
        assert_eq!(with.score(position).unwrap(), score, "{position:?}");
        assert_eq!(with.sign(position).unwrap(), score.sign(), "{position:?}");
        assert_eq!(without.sign(position).unwrap(), score.sign(), "{position:?}");
    }
    assert!(with.nodes() < without.nodes(), "{} of {}", with.nodes(), without.nodes());
}

/// Positions of the standard board that a book contains, by random play.
fn sample(book: &Book, count: usize) -> Vec<Position> {
    let mut rng = fastrand::Rng::with_seed(5);
    let random_play = || {
        let mut position = Position::new(Setup::STANDARD);
        while position.ply() < book.ply() && position.outcome().is_none() {
            let legal: Vec<_> = position.legal().collect();
            position.play(legal[rng.usize(..legal.len())]).unwrap();
        }
        position
    };
    std::iter::repeat_with(random_play)
        .filter(|position| book.contains(position))
        .take(count)
        .collect()
}

#[test]
fn the_embedded_books_are_small_complete_and_right() {
    let books = embedded_books();
    let known = [(8, 77_715, 100_000), (12, 4_200_899, 3_000_000)];
    assert_eq!(books.len(), known.len());
    for (book, (ply, entries, max_bytes)) in books.iter().zip(known) {
        assert_eq!((book.setup(), book.ply(), book.entries()), (Setup::STANDARD, ply, entries));
        assert!(book.to_bytes().len() <= max_bytes, "ply {ply}");
        let mut solve = scorer();
        for position in sample(book, 60) {
            assert_eq!(book.get(&position), Some(solve(&position)), "{position:?}");
        }
    }
    assert_eq!(book_positions(Setup::STANDARD, 8).len() as u64, books[0].entries());

    let mut solver = Solver::new(Options::default().with_books(books));
    let columns = solver.scores(&Position::new(Setup::STANDARD)).unwrap();
    let columns: Vec<i32> = columns.into_iter().flatten().map(Score::value).collect();
    assert_eq!(columns, [-2, -1, 0, 1, 0, -1, -2]);
    assert_eq!(solver.nodes(), 0);
}

#[test]
fn each_embedded_book_can_be_derived_from_the_next() {
    let [earlier, later] = &embedded_books()[..] else { panic!("there are two") };
    let mut reader = Solver::new(Options::default().with_books(vec![Arc::clone(later)]));
    for position in sample(earlier, 500) {
        let score = reader.score(&position).unwrap();
        assert_eq!(earlier.get(&position), Some(score), "{position:?}");
    }
    assert_eq!(reader.nodes(), 0);
}

#[test]
fn an_unreachable_position_is_not_looked_up() {
    let setup = setup(5, 5, 4);
    let book = Arc::new(build(setup, 2, "unreachable"));
    let mut with = Solver::new(Options::default().with_books(vec![book]));
    let mut without = Solver::new(Options::default());
    let unreachable = Position::from_picture(setup, ".....\n.....\n.....\nX....\nO....").unwrap();
    assert!(!with.in_book(&unreachable) && with.in_book(&Position::new(setup)));
    assert_eq!(with.score(&unreachable).unwrap(), without.score(&unreachable).unwrap());
    assert!(with.nodes() > 0);
}

#[test]
fn an_interrupted_build_resumes() {
    let setup = setup(6, 4, 4);
    let (ply, path) = (6, checkpoint("resume"));
    let whole = build_book(setup, ply, &path, 1, scorer, go_on).unwrap().unwrap().to_bytes();
    let record = fs::read(&path).unwrap();
    let total = book_positions(setup, ply).len();
    assert!(total > 512, "the build has several chunks: {total} positions");

    for length in [0, 7, 18, 19, 100, record.len() / 2, record.len() - 1, record.len()] {
        fs::write(&path, &record[..length]).unwrap();
        let solved = AtomicUsize::new(0);
        let mut first = None;
        let counting = || {
            let mut scorer = scorer();
            let solved = &solved;
            move |position: &Position| {
                solved.fetch_add(1, Ordering::Relaxed);
                scorer(position)
            }
        };
        let book = build_book(setup, ply, &path, 2, counting, |progress| {
            first.get_or_insert(progress.done as usize);
            ControlFlow::Continue(())
        });
        assert_eq!(book.unwrap().unwrap().to_bytes(), whole, "{length} bytes");
        let solved = solved.into_inner();
        assert_eq!(first.unwrap() + solved, total, "{length} bytes: nothing is solved twice");
        assert_eq!(solved == 0, length == record.len());
    }
    fs::remove_file(path).unwrap();
}

#[test]
fn a_build_can_be_stopped_and_resumes() {
    let setup = setup(6, 4, 4);
    let (ply, path) = (6, checkpoint("stop"));
    let stop = |progress: BuildProgress| {
        if progress.done > 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    assert!(build_book(setup, ply, &path, 2, scorer, stop).unwrap().is_none());
    let mut before = None;
    let resumed = build_book(setup, ply, &path, 2, scorer, |progress| {
        before.get_or_insert(progress);
        ControlFlow::Continue(())
    });
    let before = before.unwrap();
    assert!(0 < before.done && before.done < before.total, "{before:?}");
    assert_eq!(resumed.unwrap().unwrap().to_bytes(), build(setup, ply, "whole").to_bytes());
    fs::remove_file(path).unwrap();
}

#[test]
fn a_damaged_record_is_solved_again() {
    let setup = setup(6, 4, 4);
    let path = checkpoint("damaged");
    let whole = build_book(setup, 6, &path, 1, scorer, go_on).unwrap().unwrap().to_bytes();
    let mut record = fs::read(&path).unwrap();
    record[40] ^= 1;
    fs::write(&path, &record).unwrap();
    assert_eq!(build_book(setup, 6, &path, 1, scorer, go_on).unwrap().unwrap().to_bytes(), whole);
    fs::remove_file(path).unwrap();
}

#[test]
fn the_checkpoint_of_another_book_is_rejected_and_unchanged() {
    let path = checkpoint("foreign");
    fs::write(&path, b"my thesis").unwrap();
    let rejected = build_book(setup(4, 4, 4), 2, &path, 1, scorer, go_on);
    assert!(matches!(rejected, Err(BuildError::OtherBook)));
    assert_eq!(fs::read(&path).unwrap(), b"my thesis");
    fs::remove_file(path).unwrap();
}
