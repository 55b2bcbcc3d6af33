//! Searches that are stopped say what they know.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use claimeven_game::{Position, Setup};
use claimeven_solver::{Limits, Options, Solver};

use crate::naive::{random_positions, setup};

#[test]
fn a_node_limit_leaves_bounds_around_the_score() {
    let mut exact = Solver::new(Options::default());
    for position in random_positions(Setup::STANDARD, 26, 60) {
        let score = exact.score(&position).unwrap();
        for nodes in [0, 1, 10, 100, 1000, 10_000] {
            for threads in [1, 2] {
                let mut solver = Solver::new(Options::default().with_threads(threads));
                let limits = Limits { nodes: Some(nodes), ..Limits::default() };
                let bounds = solver.score_within(&position, &limits).unwrap();
                assert!(bounds.low <= score && score <= bounds.high, "{position:?}, {nodes} nodes");
                assert!(solver.nodes() <= nodes + threads as u64, "{} nodes", solver.nodes());
            }
        }
    }
}

/// A board that nobody will solve soon.
fn huge() -> Position {
    Position::new(setup(10, 10, 4))
}

#[test]
fn a_time_limit_ends_a_hopeless_search() {
    for threads in [1, 2] {
        let mut solver = Solver::new(Options::default().with_threads(threads));
        let limits = Limits { time: Some(Duration::from_millis(50)), ..Limits::default() };
        let start = Instant::now();
        let bounds = solver.score_within(&huge(), &limits).unwrap();
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
        assert!(bounds.exact().is_none() && bounds.low < bounds.high);
    }
}

#[test]
fn a_search_can_be_cancelled_from_another_thread() {
    let cancel = Arc::new(AtomicBool::new(false));
    let limits = Limits { cancel: Some(Arc::clone(&cancel)), ..Limits::default() };
    let search = thread::spawn(move || {
        Solver::new(Options::default()).score_within(&huge(), &limits).unwrap()
    });
    thread::sleep(Duration::from_millis(20));
    cancel.store(true, Ordering::Relaxed);
    assert!(search.join().unwrap().exact().is_none());
}

#[test]
fn a_single_thread_is_deterministic() {
    let positions = random_positions(Setup::STANDARD, 24, 50);
    let nodes = || {
        let mut solver = Solver::new(Options::default());
        for position in &positions {
            solver.score(position).unwrap();
        }
        solver.nodes()
    };
    assert_eq!(nodes(), nodes());
}
