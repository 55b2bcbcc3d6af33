//! The speed of the players from the empty board. Each benchmark checks its counts.

use claimeven_game::{Position, Setup};
use claimeven_search::{
    Agent, AlphaBeta, DepthParameters, IterativeDeepening, Limits, Mcts, MctsParameters, Minimax,
    Mtdf, SearchStats,
};
use divan::Bencher;
use divan::counter::ItemsCount;

fn main() {
    divan::main();
}

fn parameters(depth: u32) -> DepthParameters {
    DepthParameters { depth, ..DepthParameters::default() }
}

fn alphabeta(depth: u32) -> AlphaBeta {
    AlphaBeta::new(parameters(depth))
}

fn stats(mut agent: impl Agent) -> SearchStats {
    let empty = Position::new(Setup::STANDARD);
    agent.decide(&empty, &Limits::default()).expect("the game is not over").stats
}

/// Checks the number of nodes, which is the same in every run.
fn nodes<A: Agent>(bencher: Bencher, expected: u64, agent: impl Fn() -> A + Sync) {
    bencher.counter(ItemsCount::new(expected)).bench(|| assert_eq!(stats(agent()).nodes, expected));
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn minimax_depth_7(bencher: Bencher) {
    nodes(bencher, 960_793, || Minimax { parameters: parameters(7) });
}

#[divan::bench(sample_count = 10)]
fn alphabeta_depth_07(bencher: Bencher) {
    nodes(bencher, 6_846, || alphabeta(7));
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn alphabeta_depth_10(bencher: Bencher) {
    nodes(bencher, 85_565, || alphabeta(10));
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn alphabeta_depth_12(bencher: Bencher) {
    nodes(bencher, 1_604_172, || alphabeta(12));
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn mtdf_depth_10(bencher: Bencher) {
    let expected = stats(Mtdf::new(parameters(10), 8)).nodes;
    assert!(5 * expected <= 6 * stats(alphabeta(10)).nodes, "{expected} nodes");
    nodes(bencher, expected, || Mtdf::new(parameters(10), 8));
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn mtdf_depth_12(bencher: Bencher) {
    let expected = stats(Mtdf::new(parameters(12), 8)).nodes;
    nodes(bencher, expected, || Mtdf::new(parameters(12), 8));
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn timed_depth_12(bencher: Bencher) {
    let expected = stats(IterativeDeepening::new(parameters(12), 8)).nodes;
    nodes(bencher, expected, || IterativeDeepening::new(parameters(12), 8));
}

/// Random playouts from the empty board, including tree growth.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn mcts_playouts(bencher: Bencher) {
    let parameters = MctsParameters { simulations: 100_000, ..MctsParameters::default() };
    bencher.counter(ItemsCount::new(parameters.simulations)).bench(|| {
        let stats = stats(Mcts::new(parameters.clone()));
        assert_eq!(stats.simulations, parameters.simulations);
    });
}
