//! Every search obeys its limits and still returns a move.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use claimeven_game::{Position, Ruleset, Setup};
use claimeven_search::{
    Agent, AgentError, AlphaBeta, Decision, DepthParameters, Influence, IterativeDeepening, Level,
    Limits, Mcts, MctsParameters, Minimax, Mtdf, Perfect, Random, SearchInfo, SearchMonitor,
    TieBreak,
};
use claimeven_solver::Options;
use proptest::prelude::*;

use crate::positions::positions;

/// Players whose searches only a limit can end.
fn endless_players() -> Vec<(&'static str, Box<dyn Agent>)> {
    let parameters = DepthParameters { depth: 40, ..DepthParameters::default() };
    let simulations = MctsParameters { simulations: u64::MAX, ..MctsParameters::default() };
    vec![
        ("minimax", Box::new(Minimax { parameters: parameters.clone() })),
        ("alphabeta", Box::new(AlphaBeta::new(parameters.clone()).with_exact_moves())),
        ("mtdf", Box::new(Mtdf::new(parameters.clone(), 1))),
        ("timed", Box::new(IterativeDeepening::new(parameters, 1))),
        ("mcts", Box::new(Mcts::new(simulations))),
        ("perfect", Box::new(Perfect::new(Options::default(), TieBreak::default(), 0))),
    ]
}

fn standard(moves: &str) -> Position {
    Position::from_moves(Setup::STANDARD, moves).unwrap()
}

fn large_board() -> Position {
    Position::new(Setup::new(9, 7, 4, Ruleset::Standard).unwrap())
}

#[test]
fn time_limits_are_obeyed() {
    let limits = Limits { time: Some(Duration::from_millis(60)), ..Limits::default() };
    for (name, mut agent) in endless_players() {
        let start = Instant::now();
        let decision = agent.decide(&large_board(), &limits).unwrap();
        let took = start.elapsed();
        assert!(decision.stopped, "{name}");
        // The target is 10 ms, but a busy machine may suspend a test for longer than that.
        assert!(took < Duration::from_millis(500), "{name} took {took:?}");
    }
}

#[test]
fn node_limits_are_obeyed() {
    let limits = Limits { nodes: Some(5_000), ..Limits::default() };
    for (name, mut agent) in endless_players() {
        let decision = agent.decide(&large_board(), &limits).unwrap();
        assert!(decision.stats.nodes <= 20_000, "{name}: {}", decision.stats.nodes);
        let again = agent.decide(&large_board(), &limits).unwrap();
        assert!(large_board().legal().any(|column| column == again.column), "{name}");
    }
}

#[test]
fn a_search_can_be_cancelled() {
    for (name, mut agent) in endless_players() {
        let cancel = Arc::new(AtomicBool::new(false));
        let limits = Limits { cancel: Some(Arc::clone(&cancel)), ..Limits::default() };
        let start = Instant::now();
        let thinking = thread::spawn(move || agent.decide(&large_board(), &limits).unwrap());
        thread::sleep(Duration::from_millis(20));
        cancel.store(true, Ordering::Relaxed);
        thinking.join().unwrap();
        assert!(start.elapsed() < Duration::from_secs(2), "{name} took {:?}", start.elapsed());
    }
}

#[test]
fn a_monitor_receives_progress_while_the_search_runs() {
    // These may not finish a move within the time of a test.
    let is_slow = |name| matches!(name, "minimax" | "alphabeta" | "mtdf");
    for (name, mut agent) in endless_players() {
        let cancel = Arc::new(AtomicBool::new(false));
        let monitor = Arc::new(SearchMonitor::default());
        let limits = Limits {
            depth: Some(12).filter(|_| name != "timed"),
            cancel: Some(Arc::clone(&cancel)),
            monitor: Some(Arc::clone(&monitor)),
            ..Limits::default()
        };
        // The solver finishes columns only on a smaller board.
        let position = if name == "perfect" { standard("4444") } else { large_board() };
        let thinking = thread::spawn(move || agent.decide(&position, &limits).unwrap());
        let start = Instant::now();
        let seen_growing = loop {
            let earlier = monitor.snapshot();
            thread::sleep(Duration::from_millis(5));
            let later = monitor.snapshot();
            let has_pv = !later.pv.is_empty() || is_slow(name);
            if later.nodes > earlier.nodes && has_pv || thinking.is_finished() {
                break !thinking.is_finished();
            }
            assert!(start.elapsed() < Duration::from_mins(1), "{name} reports nothing");
        };
        cancel.store(true, Ordering::Relaxed);
        let decision = thinking.join().unwrap();
        assert!(seen_growing || name == "perfect", "{name} decided before its first report");
        let info = monitor.snapshot();
        assert!(info.nodes > 0, "{name}");
        if !is_slow(name) {
            assert!(!info.pv.is_empty() && info.value.is_some(), "{name}: {info:?}");
        }
        if name == "timed" {
            assert!(info.depth > 0, "{info:?}");
        }
        assert!(decision.stats.nodes > 0);
    }
}

#[test]
fn the_last_report_is_the_decision() {
    let monitor = Arc::new(SearchMonitor::default());
    for (name, mut agent) in endless_players() {
        let limits = Limits {
            depth: Some(5),
            simulations: Some(512),
            monitor: Some(Arc::clone(&monitor)),
            ..Limits::default()
        };
        let decision = agent.decide(&standard("444437"), &limits).unwrap();
        let SearchInfo { depth, value, pv, .. } = monitor.snapshot();
        assert_eq!((depth, value), (decision.stats.depth, Some(decision.value)), "{name}");
        assert!(decision.pv.starts_with(&pv) && !pv.is_empty(), "{name}: {pv:?}");
    }
}

#[test]
fn depth_and_simulations_are_capped() {
    let limits = Limits { depth: Some(3), simulations: Some(70), ..Limits::default() };
    for (name, mut agent) in endless_players() {
        if name == "perfect" {
            continue;
        }
        let decision = agent.decide(&large_board(), &limits).unwrap();
        let expected = if name == "mcts" { (0, 70) } else { (3, 0) };
        assert_eq!((decision.stats.depth, decision.stats.simulations), expected, "{name}");
        assert!(!decision.stopped, "{name}");
    }
}

/// Every player of the crate, with parameters that let only the limits end the search.
fn all_players(seed: u64) -> Vec<(&'static str, Box<dyn Agent>)> {
    let mut players = endless_players();
    players.push(("random", Box::new(Random { seed })));
    players.push(("influence", Box::new(Influence { seed, ..Influence::default() })));
    for number in [1, 6, 10] {
        players.push(("level", Box::new(Level::new(number, Options::default(), seed).unwrap())));
    }
    players
}

/// The processor time of this thread, which does not depend on how busy the machine is.
fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

/// Whether a player may return this error for an unfinished game: only `perfect`, on boards of the
/// ruleset `lines` that are too large for it.
fn may_refuse(name: &str, error: &AgentError) -> bool {
    name == "perfect" && matches!(error, AgentError::Unsupported { .. })
}

/// How far a search may overrun its limit.
const GRANULARITY: Duration = Duration::from_millis(20);

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn every_player_obeys_its_time_limit_on_every_board(
        position in positions(100), ms in 0..30_u64, seed in any::<u64>(),
    ) {
        let time = Duration::from_millis(ms);
        for (name, mut agent) in all_players(seed) {
            let start = thread_time();
            let decision = agent.decide(&position, &Limits::default().with_time(time));
            let used = thread_time().saturating_sub(start);
            prop_assert!(used <= time + GRANULARITY, "{}: {:?} of {:?}", name, used, time);
            match decision {
                Ok(Decision { column, .. }) => {
                    prop_assert!(position.legal().any(|legal| legal == column), "{}", name);
                }
                Err(error) => prop_assert!(may_refuse(name, &error), "{}: {}", name, error),
            }
        }
    }

    #[test]
    fn a_cancelled_search_returns_at_once(
        position in positions(100), ms in 0..20_u64, seed in any::<u64>(),
    ) {
        for (name, mut agent) in all_players(seed) {
            let cancel = Arc::new(AtomicBool::new(ms == 0));
            let limits = Limits::default().with_cancel(Arc::clone(&cancel));
            let start = Instant::now();
            let searching = thread::spawn(move || {
                (agent.decide(&position, &limits), thread_time())
            });
            thread::sleep(Duration::from_millis(ms));
            cancel.store(true, Ordering::Relaxed);
            // A thread cannot have used more processor time than has passed since its start.
            let at_cancel = start.elapsed();
            let (decision, used) = searching.join().unwrap();
            prop_assert!(used <= at_cancel + GRANULARITY, "{}: {:?}, {:?}", name, used, at_cancel);
            if let Err(error) = decision {
                prop_assert!(may_refuse(name, &error), "{}: {}", name, error);
            }
        }
    }
}
