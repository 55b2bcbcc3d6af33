//! Stopped searches and their bounds.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use claimeven_game::{Position, Setup};
use claimeven_solver::{Limits, Options, Solver, embedded_books};

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

/// A board that is far too large to solve.
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

/// The processor time of the current thread, which does not depend on how busy the machine is.
#[cfg(target_os = "linux")]
mod cpu_time {
    #![allow(unsafe_code, reason = "the system's clocks have no safe interface here")]

    use std::time::Duration;

    /// The clock of one thread, readable by other threads while it lives.
    #[derive(Clone, Copy)]
    pub(crate) struct ThreadClock(libc::clockid_t);

    impl ThreadClock {
        pub(crate) fn of_this_thread() -> ThreadClock {
            let mut clock = 0;
            // SAFETY: the thread is the running one, and the clock is written to our own variable.
            let failed =
                unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &raw mut clock) };
            assert_eq!(failed, 0);
            ThreadClock(clock)
        }

        pub(crate) fn now(self) -> Duration {
            let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            // SAFETY: the time is written to our own variable.
            let failed = unsafe { libc::clock_gettime(self.0, &raw mut time) };
            assert_eq!(failed, 0);
            Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec.cast_unsigned() as u32)
        }
    }
}

/// How far a search may overrun its limit.
#[cfg(target_os = "linux")]
const GRANULARITY: Duration = Duration::from_millis(20);

/// All solver calls that take limits.
#[cfg(target_os = "linux")]
const CALLS: [fn(&mut Solver, &Position, &Limits); 4] = [
    |solver, position, limits| assert!(solver.score_within(position, limits).is_ok()),
    |solver, position, limits| assert!(solver.sign_within(position, limits).is_ok()),
    |solver, position, limits| assert!(solver.scores_within(position, limits).is_ok()),
    |solver, position, limits| {
        assert!(solver.principal_variation_within(position, limits).is_ok());
    },
];

/// Random positions on boards of all kinds, with and without books. The solvers' memory is already
/// allocated, so that the time the system takes for that does not count.
#[cfg(target_os = "linux")]
fn hard_positions() -> impl Iterator<Item = (Solver, Position)> {
    let mut random = fastrand::Rng::with_seed(3);
    let sizes = [(7, 6, 4), (8, 7, 4), (9, 7, 4), (10, 10, 4), (6, 6, 5), (3, 30, 4), (35, 2, 3)];
    std::iter::repeat_with(move || {
        let (cols, rows, connect) = sizes[random.usize(..sizes.len())];
        let setup = setup(cols, rows, connect);
        let empty = random.u32(3 * setup.cells() / 4..=setup.cells());
        let position = random_positions(setup, empty, 20).pop().unwrap();
        let options = Options::default().with_table_mb([1, 2, 64][random.usize(..3)]);
        let books = if random.bool() { embedded_books() } else { Vec::new() };
        let mut solver = Solver::new(options.with_books(books));
        for column in position.legal() {
            let mut child = position;
            child.play(column).unwrap();
            solver.score_within(&child, &Limits::default().with_nodes(0)).unwrap();
        }
        (solver, position)
    })
}

#[cfg(target_os = "linux")]
#[test]
fn no_search_takes_longer_than_its_limit() {
    use cpu_time::ThreadClock;
    embedded_books();
    let clock = ThreadClock::of_this_thread();
    let mut random = fastrand::Rng::with_seed(4);
    for (mut solver, position) in hard_positions().take(60) {
        for call in CALLS {
            let time = Duration::from_micros(random.u64(0..15_000));
            let limits = Limits::default().with_time(time);
            let before = clock.now();
            call(&mut solver, &position, &limits);
            let used = clock.now().saturating_sub(before);
            assert!(used <= time + GRANULARITY, "{used:?} of {time:?}: {position:?}");
        }
    }
}

/// A large table is cleared page by page, so its first search ends in time as well. One page may
/// take longer on a machine that is short of memory: one of five attempts has to be in time.
#[cfg(target_os = "linux")]
#[test]
fn a_large_new_table_does_not_overrun_the_limit() {
    use cpu_time::ThreadClock;
    let clock = ThreadClock::of_this_thread();
    let limits = Limits::default().with_time(Duration::from_millis(5));
    let used = (0..5).map(|_| {
        let mut solver = Solver::new(Options::default().with_table_mb(512));
        let before = clock.now();
        solver.score_within(&Position::new(Setup::STANDARD), &limits).unwrap();
        clock.now().saturating_sub(before)
    });
    let shortest = used.min().unwrap();
    assert!(shortest <= Duration::from_millis(5) + GRANULARITY, "{shortest:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_cancelled_search_ends_at_once() {
    use cpu_time::ThreadClock;
    embedded_books();
    let clock = ThreadClock::of_this_thread();
    let mut random = fastrand::Rng::with_seed(5);
    for (mut solver, position) in hard_positions().take(20) {
        for call in CALLS {
            let cancel = Arc::new(AtomicBool::new(false));
            let limits = Limits::default().with_cancel(Arc::clone(&cancel));
            let wait = Duration::from_micros(random.u64(0..5_000));
            let canceller = thread::spawn(move || {
                thread::sleep(wait);
                cancel.store(true, Ordering::Relaxed);
                clock.now()
            });
            call(&mut solver, &position, &limits);
            let end = clock.now();
            let used = end.saturating_sub(canceller.join().unwrap());
            assert!(used <= GRANULARITY, "{used:?} after it was cancelled: {position:?}");
        }
    }
}

#[test]
fn a_node_limit_applies_to_the_whole_call() {
    let position = Position::new(Setup::STANDARD);
    for nodes in [0, 1, 1000, 20_000] {
        let limits = Limits::default().with_nodes(nodes);
        let mut solver = Solver::default();
        let columns = solver.scores_within(&position, &limits).unwrap();
        assert!(solver.nodes() <= nodes, "{} nodes", solver.nodes());
        assert!(columns.iter().flatten().all(|bounds| bounds.low < bounds.high));
        let mut solver = Solver::default();
        assert_eq!(solver.principal_variation_within(&position, &limits).unwrap(), []);
        assert!(solver.nodes() <= nodes, "{} nodes", solver.nodes());
    }
}

#[test]
fn results_within_limits_never_contradict_the_exact_ones() {
    let mut exact = Solver::default();
    for position in random_positions(Setup::STANDARD, 24, 40) {
        let scores = exact.scores(&position).unwrap();
        let sign = exact.sign(&position).unwrap();
        let pv = exact.principal_variation(&position).unwrap();
        for nodes in [0, 10, 300, 10_000] {
            let limits = Limits::default().with_nodes(nodes);
            let mut solver = Solver::default();
            let columns = solver.scores_within(&position, &limits).unwrap();
            for (bounds, score) in columns.iter().zip(&scores) {
                assert_eq!(bounds.is_some(), score.is_some());
                let (Some(bounds), Some(score)) = (bounds, score) else { continue };
                assert!(bounds.low <= *score && *score <= bounds.high, "{position:?}");
            }
            let bounds = Solver::default().sign_within(&position, &limits).unwrap();
            assert!(bounds.low.value() <= sign && sign <= bounds.high.value(), "{position:?}");
            let prefix = Solver::default().principal_variation_within(&position, &limits).unwrap();
            assert!(pv.starts_with(&prefix), "{position:?}");
        }
    }
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
