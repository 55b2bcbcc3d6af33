//! Every search obeys its limits and has a move all the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use claimeven_game::{Position, Ruleset, Setup};
use claimeven_search::{
    Agent, AlphaBeta, DepthParameters, Limits, Mcts, MctsParameters, Minimax, Mtdf, Perfect, Ties,
    Timed,
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
        ("timed", Box::new(Timed::new(parameters, 1))),
        ("mcts", Box::new(Mcts::new(simulations))),
        ("perfect", Box::new(Perfect::new(Options::default(), Ties::default(), 0))),
    ]
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
        assert!(decision.work.nodes <= 20_000, "{name}: {}", decision.work.nodes);
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
fn depth_and_simulations_are_capped() {
    let limits = Limits { depth: Some(3), simulations: Some(70), ..Limits::default() };
    for (name, mut agent) in thinkers() {
        if name == "perfect" {
            continue;
        }
        let decision = agent.decide(&large_board(), &limits).unwrap();
        let expected = if name == "mcts" { (0, 70) } else { (3, 0) };
        assert_eq!((decision.work.depth, decision.work.simulations), expected, "{name}");
        assert!(!decision.stopped, "{name}");
    }
}
