//! How many positions one core judges and learns in a second, by the size of the network.
//!
//!     cargo run --release -p claimeven-zero --example speed
//!
//! Time is the processor's, so that other work on the machine does not count.

use std::ops::ControlFlow;

use claimeven_game::{Position, Setup};
use claimeven_zero::{
    Architecture, Discs, Evaluator, Inference, Learner, Network, Parameters, Sample, Wdl,
};
use fastrand::Rng;

fn main() {
    println!("size      judged/s  learnt/s");
    for (blocks, channels) in [(3, 32), (5, 32), (4, 48), (5, 64), (6, 64), (5, 128)] {
        let architecture = Architecture::new(Setup::STANDARD, blocks, channels);
        let network = Network::new(architecture, 1).expect("the sizes are fine");
        let size = format!("{blocks}x{channels}");
        println!("{size:9} {:8.0}  {:8.0}", judged(&network), learnt(&network));
    }
}

fn judged(network: &Network) -> f64 {
    let mut inference = Inference::new(network);
    let positions = vec![Position::new(Setup::STANDARD); 128];
    let mut evaluations = Vec::new();
    best_of(5, || {
        inference.evaluate(&positions, &mut evaluations);
        assert_eq!(evaluations.len(), positions.len());
        positions.len()
    })
}

fn learnt(network: &Network) -> f64 {
    let position = Position::new(Setup::STANDARD);
    let policy = vec![1.0 / 7.0; 7];
    let pool = [Sample { discs: Discs::of(&position), policy, value: Wdl::DRAW }];
    let parameters = Parameters::strongest(Setup::STANDARD).learning;
    let mut learner = Learner::new(network.clone());
    best_of(2, || {
        let go_on = |_| ControlFlow::Continue(());
        learner.learn(&pool, 1, 1e-3, &parameters, 1, &mut Rng::with_seed(1), go_on);
        parameters.batch
    })
}

/// The greatest rate of a few measurements of at least half a second each.
fn best_of(measurements: u32, mut work: impl FnMut() -> usize) -> f64 {
    let mut measure = || {
        let (start, mut count) = (processor_seconds(), 0);
        loop {
            count += work();
            let time = processor_seconds() - start;
            if time > 0.5 {
                return count as f64 / time;
            }
        }
    };
    (0..measurements).map(|_| measure()).fold(0.0, f64::max)
}

/// Seconds that this process has had of a processor, in all its threads.
fn processor_seconds() -> f64 {
    let statistics = std::fs::read_to_string("/proc/self/stat").expect("this is Linux");
    let fields: Vec<&str> =
        statistics.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |index: usize| fields[index].parse::<f64>().expect("a number of ticks");
    (ticks(11) + ticks(12)) / 100.0
}
