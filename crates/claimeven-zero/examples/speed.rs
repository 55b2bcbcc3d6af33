//! Positions per second of one core in inference and training, by the size of the network.
//!
//!     cargo run --release -p claimeven-zero --example speed
//!
//! Time is processor time, so that other work on the machine does not count. With the argument
//! `once`, every network evaluates 128 positions and learns one batch, for counting instructions:
//!
//!     valgrind --tool=callgrind target/release/examples/speed once

use std::ops::ControlFlow;

use claimeven_game::{Position, Setup};
use claimeven_zero::{
    Architecture, Discs, Evaluator, Inference, Learner, LearningJob, Network, Parameters, Sample,
    Wdl,
};

fn main() {
    println!("size      positions/s  learnt/s");
    for (blocks, channels) in [(3, 32), (5, 32), (4, 48), (5, 64), (6, 64), (5, 128)] {
        let architecture = Architecture::new(Setup::STANDARD, blocks, channels);
        let network = Network::new(architecture, 1).expect("the sizes are fine");
        let size = format!("{blocks}x{channels}");
        println!(
            "{size:9} {:11.0}  {:8.0}",
            evaluations_per_second(&network),
            samples_per_second(&network)
        );
    }
}

fn evaluations_per_second(network: &Network) -> f64 {
    let mut inference = Inference::new(network);
    let positions = vec![Position::new(Setup::STANDARD); 128];
    let mut evaluations = Vec::new();
    best_of(5, || {
        inference.evaluate(&positions, &mut evaluations);
        assert_eq!(evaluations.len(), positions.len());
        positions.len()
    })
}

fn samples_per_second(network: &Network) -> f64 {
    let position = Position::new(Setup::STANDARD);
    let policy = vec![1.0 / 7.0; 7];
    let pool = [Sample { discs: Discs::of(&position), policy, value: Wdl::DRAW }];
    let parameters = Parameters::strongest(Setup::STANDARD).learning;
    let mut learner = Learner::new(network.clone());
    best_of(2, || {
        let (pool, parameters) = (&pool[..], &parameters);
        let job = LearningJob { pool, steps: 1, rate: 1e-3, parameters, threads: 1, seed: 1 };
        learner.learn(&job, |_| ControlFlow::Continue(())).expect("the sample is fine");
        parameters.batch
    })
}

/// The highest rate of a few measurements of at least half a second each.
fn best_of(measurements: u32, mut work: impl FnMut() -> usize) -> f64 {
    if std::env::args().nth(1).as_deref() == Some("once") {
        return work() as f64;
    }
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

/// The processor time of this process in seconds, over all threads.
fn processor_seconds() -> f64 {
    let statistics = std::fs::read_to_string("/proc/self/stat").expect("this is Linux");
    let fields: Vec<&str> =
        statistics.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |index: usize| fields[index].parse::<f64>().expect("a number of ticks");
    (ticks(11) + ticks(12)) / 100.0
}
