//! Training: mini-batches from the replay buffer, AdamW steps.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use fastrand::Rng;

use crate::architecture::Role;
use crate::gradient::{Backpropagation, Gradient, Losses, Scratch};
use crate::lanes::{LANES, vectorised};
use crate::network::Network;
use crate::parameters::LearningParameters;
use crate::sample::Sample;

/// A network and the state of its optimiser, AdamW (Loshchilov and Hutter, 2019).
///
/// Weight decay applies to weights, not to gains and biases. Batch normalisation is over a chunk of
/// a batch, so that chunks can be computed by different threads.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use claimeven_game::{Position, Setup};
/// use claimeven_zero::{
///     Architecture, Discs, Learner, LearningJob, Network, Parameters, Sample, Wdl,
/// };
///
/// let discs = Discs::of(&Position::new(Setup::STANDARD));
/// let pool = [Sample { discs, policy: vec![1.0 / 7.0; 7], value: Wdl::DRAW }];
/// let mut parameters = Parameters::ten_minutes(Setup::STANDARD).learning;
/// (parameters.batch, parameters.chunk) = (16, 16);
/// let parameters = &parameters;
/// let job = LearningJob { pool: &pool, steps: 5, rate: 1e-3, parameters, threads: 1, seed: 1 };
///
/// let network = Network::new(Architecture::new(Setup::STANDARD, 1, 8), 1)?;
/// let mut learner = Learner::new(network);
/// let losses = learner.learn(&job, |_| ControlFlow::Continue(()))?;
/// assert!(losses.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Learner {
    pub(crate) network: Network,
    /// The first moment: the running mean of the gradient, as a network of the same shape.
    pub(crate) first: Network,
    /// The second moment: the running mean of its square.
    pub(crate) second: Network,
    pub(crate) steps: u64,
}

const BETA1: f32 = 0.9;
const BETA2: f32 = 0.999;
const EPSILON: f32 = 1e-8;

/// A call of [`Learner::learn`].
#[derive(Clone, Copy, Debug)]
pub struct LearningJob<'a> {
    /// The samples that batches are drawn from.
    pub pool: &'a [Sample],
    /// The number of steps, one per batch.
    pub steps: u64,
    /// The learning rate of these steps.
    pub rate: f32,
    /// Batch and chunk size, weight decay and momentum of batch normalisation.
    pub parameters: &'a LearningParameters,
    /// The number of threads, at least 1. The result does not depend on it.
    pub threads: usize,
    /// Determines which samples make up a batch, and which of them are mirrored.
    pub seed: u64,
}

impl Learner {
    /// Starts AdamW for a network, without momentum.
    #[must_use]
    pub fn new(network: Network) -> Learner {
        let mut zero = network.clone();
        zero.tensors_mut().for_each(|tensor| tensor.fill(0.0));
        Learner { network, first: zero.clone(), second: zero, steps: 0 }
    }

    /// The current network.
    #[must_use]
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Takes steps on batches drawn from a pool, each sample as it is or mirrored. Returns the mean
    /// losses, or `None` if `progress`, which receives the number of steps taken, breaks. After an
    /// error, the network must no longer be used.
    pub fn learn(
        &mut self,
        job: &LearningJob<'_>,
        mut progress: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Option<Losses>, LearnError> {
        let LearningJob { pool, steps, rate, parameters, threads, seed } = *job;
        let setup = self.network.setup();
        for size in [parameters.batch, parameters.chunk] {
            if size == 0 || !size.is_multiple_of(LANES) {
                return Err(LearnError::BatchSize(size));
            }
        }
        if let Some(index) = pool.iter().position(|sample| !sample.is_valid(setup)) {
            return Err(LearnError::Sample(index));
        }
        let mut sum = Losses::default();
        if pool.is_empty() {
            return Ok(Some(sum));
        }
        let mut random = Rng::with_seed(seed);
        let mut scratches = vec![Scratch::default(); threads.max(1)];
        for step in 0..steps {
            if progress(step).is_break() {
                return Ok(None);
            }
            let batch: Vec<Sample> = (0..parameters.batch)
                .map(|_| {
                    let sample = &pool[random.usize(..pool.len())];
                    if random.bool() { sample.mirrored(setup) } else { sample.clone() }
                })
                .collect();
            let gradient = self.gradient(&batch, parameters.chunk, &mut scratches);
            let Losses { policy, value } = gradient.losses;
            if !(policy.is_finite() && value.is_finite()) {
                return Err(LearnError::Diverged { step });
            }
            sum.policy += policy / steps as f32;
            sum.value += value / steps as f32;
            self.step(&gradient, rate, parameters);
        }
        let has_diverged =
            [&self.network, &self.first, &self.second].iter().any(|it| !it.is_finite());
        if has_diverged { Err(LearnError::Diverged { step: steps }) } else { Ok(Some(sum)) }
    }

    /// The mean gradient of a batch, whose chunks are distributed among the threads.
    fn gradient(&self, batch: &[Sample], chunk: usize, scratches: &mut [Scratch]) -> Gradient {
        let network = Backpropagation::new(&self.network);
        let chunks: Vec<&[Sample]> = batch.chunks(chunk).collect();
        let next = AtomicUsize::new(0);
        let work = |scratch: &mut Scratch| {
            let mut done = Vec::new();
            while let index = next.fetch_add(1, Ordering::Relaxed)
                && let Some(chunk) = chunks.get(index)
            {
                done.push((index, network.gradient(chunk, scratch)));
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

    /// One step of AdamW; batch normalisation's statistics follow those of the batch.
    fn step(&mut self, gradient: &Gradient, rate: f32, parameters: &LearningParameters) {
        self.steps += 1;
        let power = self.steps.min(100_000) as i32;
        let bias_corrections = [1.0 - BETA1.powi(power), 1.0 - BETA2.powi(power)];
        let roles = self.network.architecture().tensors().into_iter().map(|tensor| tensor.role);
        let moments = self.first.tensors_mut().zip(self.second.tensors_mut());
        let tensors = self.network.tensors_mut().zip(moments).zip(&gradient.tensors);
        for (role, ((numbers, (first, second)), slopes)) in roles.zip(tensors) {
            match role {
                Role::Mean | Role::Variance => {
                    for (number, observed) in numbers.iter_mut().zip(slopes) {
                        *number += parameters.norm_momentum * (observed - *number);
                    }
                }
                Role::Weight => {
                    let decay = parameters.weight_decay;
                    adamw(numbers, first, second, slopes, bias_corrections, rate, decay);
                }
                Role::Gain | Role::Bias => {
                    adamw(numbers, first, second, slopes, bias_corrections, rate, 0.0);
                }
            }
        }
    }
}

vectorised! {
    /// One step of AdamW for one tensor.
    fn adamw(
        numbers: &mut [f32],
        first: &mut [f32],
        second: &mut [f32],
        slopes: &[f32],
        bias_corrections: [f32; 2],
        rate: f32,
        decay: f32,
    ) {
        let [first_correction, second_correction] = bias_corrections;
        let moments = first.iter_mut().zip(second);
        for ((number, (first, second)), slope) in numbers.iter_mut().zip(moments).zip(slopes) {
            *first += (1.0 - BETA1) * (slope - *first);
            *second += (1.0 - BETA2) * (slope * slope - *second);
            let step =
                (*first / first_correction) / ((*second / second_correction).sqrt() + EPSILON);
            *number -= rate * (step + decay * *number);
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

/// Why training failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LearnError {
    /// The batch or chunk size is not a positive multiple of sixteen.
    BatchSize(usize),
    /// The sample with this index does not belong to the network's game.
    Sample(usize),
    /// Losses or weights are no longer finite.
    Diverged {
        /// The number of steps until then.
        step: u64,
    },
}

impl fmt::Display for LearnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LearnError::BatchSize(size) => {
                write!(f, "batch and chunk size must be multiples of {LANES}, not {size}")
            }
            LearnError::Sample(index) => {
                write!(f, "sample {index} is not a position of the network's game with targets")
            }
            LearnError::Diverged { step } => {
                write!(f, "training diverged after {step} steps: weights are not finite")
            }
        }
    }
}

impl std::error::Error for LearnError {}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::evaluator::{Evaluation, Evaluator, Wdl};
    use crate::{Architecture, Discs, Inference, Parameters};
    use claimeven_game::{Position, Setup};

    #[test]
    fn a_learner_fits_its_targets_with_any_number_of_threads() {
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
            let job = LearningJob {
                pool: &pool,
                steps: 60,
                rate: 5e-3,
                parameters: &parameters,
                threads,
                seed: 1,
            };
            learner.learn(&job, |_| ControlFlow::Continue(())).unwrap().unwrap();
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

    /// Training steps computed by PyTorch in double precision, with `tests/data/torch_step.py`.
    #[derive(serde::Deserialize)]
    struct TorchSteps {
        rate: f32,
        weight_decay: f32,
        norm_momentum: f32,
        chunk: usize,
        tensors: HashMap<String, Vec<f32>>,
        samples: Vec<TorchSample>,
        steps: Vec<TorchStep>,
    }

    #[derive(serde::Deserialize)]
    struct TorchSample {
        moves: String,
        policy: Vec<f32>,
        value: [f32; 2],
    }

    #[derive(serde::Deserialize)]
    struct TorchStep {
        losses: [f32; 2],
        gradient: HashMap<String, Vec<f32>>,
        tensors: HashMap<String, Vec<f32>>,
    }

    impl TorchSteps {
        fn read() -> (TorchSteps, Learner, Vec<Sample>, LearningParameters) {
            let text = include_str!("../tests/data/torch_step.json");
            let steps: TorchSteps = serde_json::from_str(text).unwrap();
            let setup = Setup::new(4, 4, 3, claimeven_game::Ruleset::Standard).unwrap();
            let architecture = Architecture {
                encoding: crate::InputEncoding::Discs,
                policy_channels: 2,
                value_channels: 2,
                value_hidden: 4,
                ..Architecture::new(setup, 1, 4)
            };
            let mut network = Network::new(architecture, 1).unwrap();
            for (shape, numbers) in architecture.tensors().iter().zip(network.tensors_mut()) {
                numbers.copy_from_slice(&steps.tensors[&shape.name]);
            }
            let sample = |sample: &TorchSample| Sample {
                discs: Discs::of(&Position::from_moves(setup, &sample.moves).unwrap()),
                policy: sample.policy.clone(),
                value: Wdl { win: sample.value[0], draw: sample.value[1] },
            };
            let samples: Vec<Sample> = steps.samples.iter().map(sample).collect();
            assert!(samples.iter().all(|sample| sample.is_valid(setup)));
            let parameters = LearningParameters {
                batch: samples.len(),
                chunk: steps.chunk,
                weight_decay: steps.weight_decay,
                norm_momentum: steps.norm_momentum,
                ..Parameters::strongest(setup).learning
            };
            (steps, Learner::new(network), samples, parameters)
        }
    }

    fn assert_close(
        network: &Network,
        found: &[Vec<f32>],
        expected: &HashMap<String, Vec<f32>>,
        tolerance: f32,
    ) {
        for (shape, found) in network.architecture().tensors().iter().zip(found) {
            let expected = &expected[&shape.name];
            assert_eq!(found.len(), expected.len());
            for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
                let is_close = (found - expected).abs() < tolerance;
                assert!(is_close, "{} {index}: {found} {expected}", shape.name);
            }
        }
    }

    #[test]
    fn adamw_steps_match_pytorch() {
        let (torch, mut learner, _, parameters) = TorchSteps::read();
        let names = learner.network.architecture().tensors();
        for step in &torch.steps {
            // PyTorch's gradient, so that only the optimiser is compared.
            let tensors = names.iter().map(|shape| step.gradient[&shape.name].clone()).collect();
            let gradient = Gradient { tensors, losses: Losses::default() };
            learner.step(&gradient, torch.rate, &parameters);
            assert_close(&learner.network, learner.network.tensors(), &step.tensors, 1e-6);
        }
    }

    #[test]
    fn training_steps_match_pytorch() {
        let (torch, mut learner, samples, parameters) = TorchSteps::read();
        for step in &torch.steps {
            let gradient = learner.gradient(&samples, parameters.chunk, &mut [Scratch::default()]);
            let Losses { policy, value } = gradient.losses;
            assert!((policy - step.losses[0]).abs() < 1e-5, "{policy} {:?}", step.losses);
            assert!((value - step.losses[1]).abs() < 1e-5, "{value} {:?}", step.losses);
            assert_close(&learner.network, &gradient.tensors, &step.gradient, 1e-5);
            learner.step(&gradient, torch.rate, &parameters);
            // A step changes most weights by 0.01; a wrong sign or decay would be far off.
            assert_close(&learner.network, learner.network.tensors(), &step.tensors, 2e-4);
        }
    }

    #[test]
    fn invalid_samples_are_rejected() {
        let setup = Setup::STANDARD;
        let network = Network::new(Architecture::new(setup, 1, 8), 1).unwrap();
        let discs = Discs::of(&Position::new(setup));
        let pool = [Sample { discs, policy: vec![1.0 / 7.0; 7], value: Wdl::DRAW }];
        let parameters =
            LearningParameters { batch: 16, chunk: 16, ..Parameters::strongest(setup).learning };
        let learn = |pool: &[Sample], rate: f32, parameters: &LearningParameters, threads| {
            let job = LearningJob { pool, steps: 20, rate, parameters, threads, seed: 1 };
            let mut learner = Learner::new(network.clone());
            learner.learn(&job, |_| ControlFlow::Continue(()))
        };
        assert!(matches!(learn(&pool, 1e-3, &parameters, 0), Ok(Some(_))));
        assert_eq!(learn(&[], 1e-3, &parameters, 1), Ok(Some(Losses::default())));
        let odd = LearningParameters { chunk: 0, ..parameters };
        assert_eq!(learn(&pool, 1e-3, &odd, 1), Err(LearnError::BatchSize(0)));
        let short = Sample { policy: vec![1.0], ..pool[0].clone() };
        assert_eq!(learn(&[short], 1e-3, &parameters, 1), Err(LearnError::Sample(0)));
        let found = learn(&pool, f32::MAX, &parameters, 1);
        assert!(matches!(found, Err(LearnError::Diverged { .. })), "{found:?}");
    }
}
