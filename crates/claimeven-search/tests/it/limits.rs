//! Every search obeys its limits and has a move all the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use claimeven_game::{Position, Ruleset, Setup};
use claimeven_search::{
    Agent, AlphaBeta, DepthParameters, IterativeDeepening, Limits, Mcts, MctsParameters, Minimax,
    Mtdf, Perfect, SearchInfo, SearchMonitor, TieBreak,
};
use claimeven_solver::Options;

/// Players who would think for ages.
fn thinkers() -> Vec<(&'static str, Box<dyn Agent>)> {
    let parameters = DepthParameters { depth: 40, ..DepthParameters::default() };
    let simulations = MctsParameters { simulations: u64::MAX, ..MctsParameters::default() };
    vec![
        ("minimax", Box::new(Minimax { parameters: parameters.clone() })),
        ("alphabeta", Box::new(AlphaBeta { parameters: parameters.clone(), every_move: true })),
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
fn time_is_kept() {
    let limits = Limits { time: Some(Duration::from_millis(60)), ..Limits::default() };
    for (name, mut agent) in thinkers() {
        let start = Instant::now();
        let decision = agent.decide(&large_board(), &limits).unwrap();
        let took = start.elapsed();
        assert!(decision.stopped || name == "timed", "{name}");
        // Ten milliseconds are the target; a busy machine may not run a test for longer than that.
        assert!(took < Duration::from_millis(500), "{name} took {took:?}");
    }
}

#[test]
fn nodes_are_kept() {
    let limits = Limits { nodes: Some(5_000), ..Limits::default() };
    for (name, mut agent) in thinkers() {
        let decision = agent.decide(&large_board(), &limits).unwrap();
        assert!(decision.stats.nodes <= 20_000, "{name}: {}", decision.stats.nodes);
        let again = agent.decide(&large_board(), &limits).unwrap();
        assert!(large_board().legal().any(|column| column == again.column), "{name}");
    }
}

#[test]
fn a_flag_ends_the_search() {
    for (name, mut agent) in thinkers() {
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
fn a_search_is_watched_while_it_runs() {
    // These may not be through with a move within a test's patience.
    let is_slow = |name| matches!(name, "minimax" | "alphabeta" | "mtdf");
    for (name, mut agent) in thinkers() {
        let cancel = Arc::new(AtomicBool::new(false));
        let monitor = Arc::new(SearchMonitor::default());
        let limits = Limits {
            depth: Some(12).filter(|_| name != "timed"),
            cancel: Some(Arc::clone(&cancel)),
            monitor: Some(Arc::clone(&monitor)),
            ..Limits::default()
        };
        // The solver is through with columns on a smaller board only.
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
            assert!(start.elapsed() < Duration::from_mins(1), "{name} tells nothing");
        };
        cancel.store(true, Ordering::Relaxed);
        let decision = thinking.join().unwrap();
        assert!(seen_growing || name == "perfect", "{name} had decided before it told anything");
        let told = monitor.snapshot();
        assert!(told.nodes > 0, "{name}");
        if !is_slow(name) {
            assert!(!told.pv.is_empty() && told.value.is_some(), "{name}: {told:?}");
        }
        if name == "timed" {
            assert!(told.depth > 0, "{told:?}");
        }
        assert!(decision.stats.nodes > 0);
    }
}

#[test]
fn the_last_thought_is_the_decision() {
    let monitor = Arc::new(SearchMonitor::default());
    for (name, mut agent) in thinkers() {
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
    for (name, mut agent) in thinkers() {
        if name == "perfect" {
            continue;
        }
        let decision = agent.decide(&large_board(), &limits).unwrap();
        let expected = if name == "mcts" { (0, 70) } else { (3, 0) };
        assert_eq!((decision.stats.depth, decision.stats.simulations), expected, "{name}");
        assert!(!decision.stopped, "{name}");
    }
}
