//! The network that learns.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use fastrand::Rng;

use crate::architecture::Role;
use crate::gradient::{Backward, Gradient, Losses, Sample, Scratch};
use crate::network::Network;
use crate::parameters::LearningParameters;

/// A network and the state of its optimiser, AdamW.
#[derive(Clone, Debug, PartialEq)]
pub struct Learner {
    /// The network.
    pub(crate) network: Network,
    /// The running mean of the gradient, as a network of the same shape.
    pub(crate) first: Network,
    /// The running mean of its square.
    pub(crate) second: Network,
    /// Steps taken.
    pub(crate) steps: u64,
}

const FIRST_DECAY: f32 = 0.9;
const SECOND_DECAY: f32 = 0.999;

impl Learner {
    /// A learner that goes on from a network, without momentum.
    pub fn new(network: Network) -> Learner {
        let mut zero = network.clone();
        zero.tensors_mut().for_each(|tensor| tensor.fill(0.0));
        Learner { network, first: zero.clone(), second: zero, steps: 0 }
    }

    /// The network as it is now.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Takes steps on batches drawn from a pool, each sample as it is or mirrored. Returns the
    /// mean losses, or `None` if `progress`, which is told the steps taken, breaks off. The result
    /// does not depend on the number of threads.
    #[expect(clippy::too_many_arguments, reason = "each is what a step is made of")]
    pub fn learn(
        &mut self,
        pool: &[Sample],
        steps: u64,
        rate: f32,
        parameters: &LearningParameters,
        threads: usize,
        random: &mut Rng,
        mut progress: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Option<Losses> {
        let setup = self.network.setup();
        let mut sum = Losses::default();
        let mut scratches = vec![Scratch::default(); threads];
        for step in 0..steps {
            if progress(step).is_break() {
                return None;
            }
            let batch: Vec<Sample> = (0..parameters.batch)
                .map(|_| {
                    let sample = &pool[random.usize(..pool.len())];
                    if random.bool() { sample.mirrored(setup) } else { sample.clone() }
                })
                .collect();
            let gradient = self.gradient(&batch, parameters.chunk, &mut scratches);
            sum.policy += gradient.losses.policy / steps as f32;
            sum.value += gradient.losses.value / steps as f32;
            self.step(&gradient, rate, parameters);
        }
        Some(sum)
    }

    /// The mean gradient of a batch, whose chunks the threads take one by one.
    fn gradient(&self, batch: &[Sample], chunk: usize, scratches: &mut [Scratch]) -> Gradient {
        let backward = Backward::new(&self.network);
        let chunks: Vec<&[Sample]> = batch.chunks(chunk).collect();
        let next = AtomicUsize::new(0);
        let work = |scratch: &mut Scratch| {
            let mut done = Vec::new();
            while let index = next.fetch_add(1, Ordering::Relaxed)
                && let Some(chunk) = chunks.get(index)
            {
                done.push((index, backward.gradient(chunk, scratch)));
            }
            done
        };
        let mut gradients: Vec<(usize, Gradient)> = thread::scope(|scope| {
            let spawn = |scratch| scope.spawn(|| work(scratch));
            let workers: Vec<_> = scratches.iter_mut().map(spawn).collect();
            let results = workers.into_iter().flat_map(|worker| worker.join().expect("no panic"));
            results.collect()
        });
        // Sums of rounded numbers depend on their order.
        gradients.sort_by_key(|(index, _)| *index);
        mean(gradients.into_iter().map(|(_, gradient)| gradient).collect())
    }

    fn step(&mut self, gradient: &Gradient, rate: f32, parameters: &LearningParameters) {
        self.steps += 1;
        let power = self.steps.min(100_000) as i32;
        let (first_bias, second_bias) =
            (1.0 - FIRST_DECAY.powi(power), 1.0 - SECOND_DECAY.powi(power));
        let roles = self.network.architecture().tensors().into_iter().map(|tensor| tensor.role);
        let moments = self.first.tensors_mut().zip(self.second.tensors_mut());
        let tensors = self.network.tensors_mut().zip(moments).zip(&gradient.tensors);
        for (role, ((numbers, (first, second)), slopes)) in roles.zip(tensors) {
            if matches!(role, Role::Mean | Role::Variance) {
                for (number, observed) in numbers.iter_mut().zip(slopes) {
                    *number += parameters.norm_momentum * (observed - *number);
                }
                continue;
            }
            let decay = if role == Role::Weight { parameters.weight_decay } else { 0.0 };
            for (((number, first), second), slope) in
                numbers.iter_mut().zip(first).zip(second).zip(slopes)
            {
                *first += (1.0 - FIRST_DECAY) * (slope - *first);
                *second += (1.0 - SECOND_DECAY) * (slope * slope - *second);
                let step = (*first / first_bias) / ((*second / second_bias).sqrt() + 1e-8);
                *number -= rate * (step + decay * *number);
            }
        }
    }
}

fn mean(gradients: Vec<Gradient>) -> Gradient {
    let share = 1.0 / gradients.len() as f32;
    let mut gradients = gradients.into_iter();
    let mut sum = gradients.next().expect("a batch has a chunk");
    for gradient in gradients {
        sum.losses.policy += gradient.losses.policy;
        sum.losses.value += gradient.losses.value;
        let numbers = sum.tensors.iter_mut().flatten();
        for (number, other) in numbers.zip(gradient.tensors.iter().flatten()) {
            *number += other;
        }
    }
    sum.losses.policy *= share;
    sum.losses.value *= share;
    sum.tensors.iter_mut().flatten().for_each(|number| *number *= share);
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluator::{Evaluation, Evaluator, Wdl};
    use crate::{Architecture, Discs, Inference, Parameters};
    use claimeven_game::{Position, Setup};

    #[test]
    fn a_learner_learns_what_it_is_told_whatever_the_threads() {
        let setup = Setup::STANDARD;
        let positions =
            ["", "4", "44", "43"].map(|text| Position::from_moves(setup, text).unwrap());
        let pool: Vec<Sample> = (0..4)
            .map(|index| {
                let mut policy = vec![0.0; 7];
                policy[3] = if index % 2 == 0 { 1.0 } else { 0.0 };
                policy[0] = 0.5 * (1.0 - policy[3]);
                policy[6] = policy[0];
                let value = if index < 2 { Wdl::WIN } else { Wdl::DRAW };
                Sample { discs: Discs::of(&positions[index]), policy, value }
            })
            .collect();
        let parameters =
            LearningParameters { batch: 64, chunk: 32, ..Parameters::strongest(setup).learning };
        let network = Network::new(Architecture::new(setup, 1, 16), 1).unwrap();
        let learnt = |threads| {
            let mut learner = Learner::new(network.clone());
            let mut random = Rng::with_seed(1);
            let go_on = |_| ControlFlow::Continue(());
            learner.learn(&pool, 60, 5e-3, &parameters, threads, &mut random, go_on);
            learner
        };
        let learner = learnt(2);
        assert_eq!(learner, learnt(1));
        let mut evaluations: Vec<Evaluation> = Vec::new();
        Inference::new(learner.network()).evaluate(&positions, &mut evaluations);
        assert!(
            evaluations[0].policy[3] > 0.9 && evaluations[2].policy[3] > 0.9,
            "{evaluations:?}"
        );
        assert!(
            evaluations[1].policy[3] < 0.1 && evaluations[3].policy[3] < 0.1,
            "{evaluations:?}"
        );
        assert!(
            evaluations[1].value.win > 0.9 && evaluations[2].value.draw > 0.9,
            "{evaluations:?}"
        );
    }
}
