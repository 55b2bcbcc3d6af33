//! Inference: the forward pass of a network, with batch normalisation folded into its weights.

use std::array;

use claimeven_game::{Column, Position, Setup};

use crate::activations::softmax;
use crate::architecture::{Architecture, ValueHead};
use crate::evaluator::{Evaluation, Evaluator, Wdl, uniform_policy};
use crate::lanes::{Kernel, KernelGrid, LANES, Lanes};
use crate::network::Network;
use crate::planes::{Discs, InputEncoding};

/// Added to variances in batch normalisation.
pub(crate) const EPSILON: f32 = 1e-5;

/// A network ready for inference. Clones share nothing, so every thread has its own.
///
/// ```
/// use claimeven_game::{Position, Setup};
/// use claimeven_zero::{Evaluator, Inference, embedded_network};
///
/// let mut inference = Inference::new(&*embedded_network(Setup::STANDARD)?);
/// let mut evaluations = Vec::new();
/// inference.evaluate(&[Position::new(Setup::STANDARD)], &mut evaluations);
/// // The centre column is the best first move.
/// assert_eq!(evaluations[0].best_column(), 3);
/// # Ok::<(), claimeven_zero::NoNetwork>(())
/// ```
#[derive(Clone)]
pub struct Inference {
    architecture: Architecture,
    setup: Setup,
    tower: KernelGrid,
    /// The convolutions of the heads have 1x1 kernels.
    heads: KernelGrid,
    dense: KernelGrid,
    stem: Layer,
    blocks: Vec<[Layer; 2]>,
    policy: [Layer; 2],
    value: [Layer; 3],
    buffers: Buffers,
}

/// A convolution or dense layer.
#[derive(Clone)]
struct Layer {
    kernel: Kernel,
    bias: Vec<f32>,
}

/// Buffers that are reused from pass to pass.
#[derive(Clone)]
struct Buffers {
    input: Vec<Lanes>,
    tower: Vec<Lanes>,
    inner: Vec<Lanes>,
    policy: [Vec<Lanes>; 2],
    value: [Vec<Lanes>; 3],
}

impl Inference {
    /// Prepares a network for inference.
    #[must_use]
    pub fn new(network: &Network) -> Inference {
        let architecture = *network.architecture();
        let Architecture { channels, policy_channels, value_channels, value_hidden, .. } =
            architecture;
        let (cols, rows) = (architecture.cols.into(), architecture.rows.into());
        let cells = architecture.cells();
        let block = |index| {
            ["first", "second"]
                .map(|part| Layer::normalised(network, &format!("block{index}.{part}"), 9))
        };
        let lanes = |len| vec![[0.0; LANES]; len];
        Inference {
            architecture,
            setup: network.setup(),
            tower: KernelGrid::new(cols, rows, 3),
            heads: KernelGrid::new(cols, rows, 1),
            dense: KernelGrid::single(),
            stem: Layer::normalised(network, "stem", 9),
            blocks: (0..architecture.blocks).map(block).collect(),
            policy: [
                Layer::normalised(network, "policy", 1),
                Layer::dense(network, "policy.columns"),
            ],
            value: [
                Layer::normalised(network, "value", 1),
                Layer::dense(network, "value.hidden"),
                Layer::dense(network, "value.result"),
            ],
            buffers: Buffers {
                input: lanes(cells * architecture.encoding.planes()),
                tower: lanes(cells * channels),
                inner: lanes(cells * channels),
                policy: [lanes(cells * policy_channels), lanes(cols)],
                value: [
                    lanes(cells * value_channels),
                    lanes(value_hidden),
                    lanes(architecture.value.outputs()),
                ],
            },
        }
    }

    /// The network's architecture.
    #[must_use]
    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// Evaluates up to sixteen positions, whose planes are in the input buffer.
    fn forward(&mut self) {
        let Inference { tower, heads, dense, buffers, .. } = self;

        // 1. The stem.
        self.stem.apply(tower, &buffers.input, &mut buffers.tower);

        // 2. The residual tower.
        for [first, second] in &self.blocks {
            first.apply(tower, &buffers.tower, &mut buffers.inner);
            second.apply_and_add(tower, &buffers.inner, &mut buffers.tower);
        }

        // 3. Policy head and value head.
        let [policy_conv, columns] = &self.policy;
        let [inner, logits] = &mut buffers.policy;
        policy_conv.apply(heads, &buffers.tower, inner);
        columns.apply_linear(dense, inner, logits);
        let [value_conv, hidden, result] = &self.value;
        let [inner, middle, outputs] = &mut buffers.value;
        value_conv.apply(heads, &buffers.tower, inner);
        hidden.apply(dense, inner, middle);
        result.apply_linear(dense, middle, outputs);
    }

    fn read_evaluation(&self, position: &Position, lane: usize, evaluation: &mut Evaluation) {
        let [_, logits] = &self.buffers.policy;
        evaluation.policy.clear();
        evaluation.policy.resize(logits.len(), f32::NEG_INFINITY);
        for column in position.legal().map(Column::index) {
            evaluation.policy[column] = logits[column][lane];
        }
        softmax(&mut evaluation.policy);
        let [_, _, outputs] = &self.buffers.value;
        evaluation.value = match self.architecture.value {
            ValueHead::Wdl => {
                let mut wdl: [f32; 3] = array::from_fn(|index| outputs[index][lane]);
                softmax(&mut wdl);
                Wdl { win: wdl[0], draw: wdl[1] }
            }
            ValueHead::Tanh => Wdl { win: 0.5 * (1.0 + outputs[0][lane].tanh()), draw: 0.0 },
        };
        // Finite weights can be large enough for a sum to overflow, and a finished game has no legal
        // moves.
        let Evaluation { policy, value } = evaluation;
        if !policy.iter().all(|probability| probability.is_finite()) {
            *policy = uniform_policy(position);
        }
        if !value.is_finite() {
            *value = Wdl::UNKNOWN;
        }
    }
}

/// Where the sums of a network overflow, its policy or value is that of
/// [`UniformEvaluator`](crate::UniformEvaluator). All columns of a finished game have probability 0.
///
/// # Panics
///
/// `evaluate` panics if a position does not have the network's setup.
impl Evaluator for Inference {
    fn evaluate(&mut self, positions: &[Position], evaluations: &mut Vec<Evaluation>) {
        evaluations.resize_with(positions.len(), Evaluation::default);
        for position in positions {
            assert_eq!(position.setup(), self.setup, "the network is for this setup");
        }
        for (positions, evaluations) in positions.chunks(LANES).zip(evaluations.chunks_mut(LANES)) {
            fill_input(
                positions.iter().map(Discs::of),
                self.architecture.encoding,
                self.setup,
                &mut self.buffers.input,
            );
            self.forward();
            for (lane, (position, evaluation)) in positions.iter().zip(evaluations).enumerate() {
                self.read_evaluation(position, lane, evaluation);
            }
        }
    }
}

/// Writes the planes of up to sixteen positions; lanes without a position are empty.
pub(crate) fn fill_input(
    positions: impl Iterator<Item = Discs>,
    encoding: InputEncoding,
    setup: Setup,
    input: &mut [Lanes],
) {
    input.fill([0.0; LANES]);
    for (lane, discs) in positions.enumerate() {
        encoding.each(setup, discs, |cell, plane, value| {
            input[cell * encoding.planes() + plane][lane] = value;
        });
    }
}

impl Layer {
    /// A convolution with its batch normalisation folded into weights and bias.
    fn normalised(network: &Network, name: &str, taps: usize) -> Layer {
        let part = |part: &str| network.tensor(&format!("{name}.{part}"));
        let (weights, gain, bias) = (part("conv"), part("gain"), part("bias"));
        let (mean, variance) = (part("mean"), part("variance"));
        let scale: Vec<f32> =
            gain.iter().zip(variance).map(|(gain, var)| gain / (var + EPSILON).sqrt()).collect();
        let per_output = weights.len() / scale.len();
        let weights: Vec<f32> =
            weights.iter().enumerate().map(|(i, weight)| weight * scale[i / per_output]).collect();
        let bias = (0..scale.len()).map(|i| bias[i] - mean[i] * scale[i]).collect();
        Layer { kernel: Kernel::new(&weights, scale.len(), taps), bias }
    }

    fn dense(network: &Network, name: &str) -> Layer {
        let bias = network.tensor(&format!("{name}.bias")).to_vec();
        let weights = network.tensor(&format!("{name}.weight"));
        Layer { kernel: Kernel::new(weights, bias.len(), 1), bias }
    }

    fn apply_linear(&self, grid: &KernelGrid, input: &[Lanes], output: &mut [Lanes]) {
        self.kernel.convolve(grid, input, output, |channel, _, sum| {
            array::from_fn(|lane| sum[lane] + self.bias[channel])
        });
    }

    fn apply(&self, grid: &KernelGrid, input: &[Lanes], output: &mut [Lanes]) {
        self.kernel.convolve(grid, input, output, |channel, _, sum| {
            array::from_fn(|lane| (sum[lane] + self.bias[channel]).max(0.0))
        });
    }

    /// Adds the layer to its output, the skip connection, before ReLU.
    fn apply_and_add(&self, grid: &KernelGrid, input: &[Lanes], output: &mut [Lanes]) {
        self.kernel.convolve(grid, input, output, |channel, old, sum| {
            array::from_fn(|lane| (old[lane] + sum[lane] + self.bias[channel]).max(0.0))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use claimeven_game::Ruleset;

    #[test]
    fn overflowing_sums_give_probabilities() {
        let architecture = Architecture::new(Setup::STANDARD, 1, 8);
        let finished = Position::from_moves(Setup::STANDARD, "1212121").unwrap();
        let positions = [Position::new(Setup::STANDARD), finished];
        for weights in [[1e38, 1e38], [-1e38, -1e38], [1e38, -1e38]] {
            let tensors = architecture.tensors();
            let alternating = |len| weights.into_iter().cycle().take(len).collect();
            let tensors = tensors.iter().map(|tensor| alternating(tensor.len())).collect();
            let network = Network::from_tensors(architecture, tensors).unwrap();
            let mut evaluations = Vec::new();
            Inference::new(&network).evaluate(&positions, &mut evaluations);
            assert!(evaluations.iter().all(|it| it.value.is_finite()), "{evaluations:?}");
            let sum = |evaluation: &Evaluation| evaluation.policy.iter().sum::<f32>();
            assert!((sum(&evaluations[0]) - 1.0).abs() < 1e-6, "{evaluations:?}");
            assert_eq!(evaluations[1].policy, [0.0; 7]);
        }
    }

    #[test]
    #[should_panic(expected = "the network is for this setup")]
    fn positions_of_another_connect_length_are_rejected() {
        let network = Network::new(Architecture::new(Setup::STANDARD, 1, 8), 1).unwrap();
        let setup = Setup::new(7, 6, 5, Ruleset::Standard).unwrap();
        Inference::new(&network).evaluate(&[Position::new(setup)], &mut Vec::new());
    }
}
