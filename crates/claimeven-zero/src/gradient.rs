//! Backpropagation: the gradient of the loss with respect to every parameter of a network.

use std::array;

use claimeven_game::Setup;

use crate::activations::{relu, relu_backward, softmax};
use crate::architecture::{Architecture, ConvTensors, DenseTensors, Layers, ValueHead};
use crate::inference::{EPSILON, fill_input};
use crate::lanes::{Kernel, KernelGrid, LANES, Lanes, WeightGradients, vectorised};
use crate::network::Network;
use crate::sample::Sample;

/// The mean losses over samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Losses {
    /// Cross entropy of the policy.
    pub policy: f32,
    /// Cross entropy of win, draw and loss, or the squared error of a scalar value head.
    pub value: f32,
}

/// The gradient of the sum of both losses.
#[derive(Clone, Debug)]
pub(crate) struct Gradient {
    /// In the order of the network's tensors. In place of means and variances, it has the
    /// statistics of the chunk.
    pub(crate) tensors: Vec<Vec<f32>>,
    pub(crate) losses: Losses,
}

/// A network prepared for the forward and backward passes of many chunks of samples.
pub(crate) struct Backpropagation<'a> {
    network: &'a Network,
    setup: Setup,
    layers: Layers,
    tower: KernelGrid,
    heads: KernelGrid,
    dense: KernelGrid,
    /// The kernels of both directions, by the index of their weight tensor.
    forward: Vec<Option<Kernel>>,
    backward: Vec<Option<Kernel>>,
}

/// Buffers that are reused from chunk to chunk. Allocating them anew would take a sixth of the
/// training time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    free: Vec<Vec<Lanes>>,
    weight_gradients: WeightGradients,
}

impl Scratch {
    /// A buffer with unspecified contents.
    fn take(&mut self, len: usize) -> Vec<Lanes> {
        let mut buffer = self.free.pop().unwrap_or_default();
        buffer.resize(len, [0.0; LANES]);
        buffer
    }

    fn give(&mut self, buffers: impl IntoIterator<Item = Vec<Lanes>>) {
        self.free.extend(buffers);
    }
}

/// What the backward pass needs from a convolution's forward pass.
struct Trace {
    normalised: Vec<Lanes>,
    /// The reciprocal of each channel's standard deviation.
    scale: Vec<f32>,
    output: Vec<Lanes>,
}

impl<'a> Backpropagation<'a> {
    pub(crate) fn new(network: &'a Network) -> Backpropagation<'a> {
        let architecture = network.architecture();
        let (cols, rows) = (architecture.cols.into(), architecture.rows.into());
        let kernels = |make: fn(&[f32], usize, usize) -> Kernel| {
            let shapes = architecture.tensors().into_iter().zip(network.tensors());
            let kernel = |shape: &[usize], numbers: &[f32]| match *shape {
                [outputs, _, height, width] => Some(make(numbers, outputs, height * width)),
                [outputs, _] => Some(make(numbers, outputs, 1)),
                _ => None,
            };
            shapes.map(|(tensor, numbers)| kernel(&tensor.shape, numbers)).collect()
        };
        Backpropagation {
            network,
            setup: network.setup(),
            layers: Layers::new(architecture),
            tower: KernelGrid::new(cols, rows, 3),
            heads: KernelGrid::new(cols, rows, 1),
            dense: KernelGrid::single(),
            forward: kernels(Kernel::new),
            backward: kernels(Kernel::backwards),
        }
    }

    /// The gradient of the mean loss of a chunk of samples, whose number is a multiple of sixteen.
    /// Batch normalisation is over the chunk.
    pub(crate) fn gradient(&self, samples: &[Sample], scratch: &mut Scratch) -> Gradient {
        let Architecture { cols, value, .. } = *self.network.architecture();
        assert!(samples.len().is_multiple_of(LANES), "chunks fill their lanes");
        let Layers { stem, blocks, policy, policy_columns, .. } = &self.layers;
        let Layers { value: value_conv, value_hidden, value_result, .. } = &self.layers;
        let tensors = self.network.tensors().iter().map(|tensor| vec![0.0; tensor.len()]);
        let mut gradient = Gradient { tensors: tensors.collect(), losses: Losses::default() };
        let pass = &mut Pass { network: self, scratch, gradient: &mut gradient };

        // 1. Forward through the residual tower.
        let input = pass.input(samples);
        let mut traces = vec![pass.conv(stem, &self.tower, &input, None)];
        for [first, second] in blocks {
            let before = &traces.last().expect("the stem comes first").output;
            let inner = pass.conv(first, &self.tower, before, None);
            let outer = pass.conv(second, &self.tower, &inner.output, Some(before));
            traces.extend([inner, outer]);
        }
        let top = &traces.last().expect("the stem comes first").output;

        // 2. The policy head, forward and back.
        let policy_trace = pass.conv(policy, &self.heads, top, None);
        let mut logits = pass.dense(policy_columns, &policy_trace.output);
        pass.gradient.losses.policy = self.policy_loss(samples, &mut logits, cols.into());
        let mut back = pass.dense_backward(policy_columns, &policy_trace.output, &logits);
        let mut top_gradient =
            pass.conv_backward(policy, &self.heads, top, &policy_trace, &mut back);
        pass.scratch.give([logits, back]);

        // 3. The value head, forward and back.
        let value_trace = pass.conv(value_conv, &self.heads, top, None);
        let mut hidden = pass.dense(value_hidden, &value_trace.output);
        relu(&mut hidden);
        let mut outputs = pass.dense(value_result, &hidden);
        pass.gradient.losses.value = value_loss(value, samples, &mut outputs);
        let mut hidden_back = pass.dense_backward(value_result, &hidden, &outputs);
        relu_backward(&mut hidden_back, &hidden);
        let mut back = pass.dense_backward(value_hidden, &value_trace.output, &hidden_back);
        let from_value = pass.conv_backward(value_conv, &self.heads, top, &value_trace, &mut back);
        add(&mut top_gradient, &from_value);
        pass.scratch.give([hidden, outputs, hidden_back, back, from_value]);

        // 4. Back through the tower. The skip connection passes a block's gradient on unchanged.
        for (index, [first, second]) in blocks.iter().enumerate().rev() {
            let [before, inner, outer] = &traces[2 * index..=2 * index + 2] else { unreachable!() };
            let mut inner_back =
                pass.conv_backward(second, &self.tower, &inner.output, outer, &mut top_gradient);
            let through =
                pass.conv_backward(first, &self.tower, &before.output, inner, &mut inner_back);
            add(&mut top_gradient, &through);
            pass.scratch.give([inner_back, through]);
        }
        let unused = pass.conv_backward(stem, &self.tower, &input, &traces[0], &mut top_gradient);
        traces.extend([policy_trace, value_trace]);
        pass.scratch.give([input, top_gradient, unused]);
        pass.scratch.give(traces.into_iter().flat_map(|trace| [trace.normalised, trace.output]));
        gradient
    }

    /// The mean loss of the policy; its logits become the gradient.
    fn policy_loss(&self, samples: &[Sample], logits: &mut [Lanes], cols: usize) -> f32 {
        let mut loss = 0.0;
        for (samples_of_block, logits) in samples.chunks(LANES).zip(logits.chunks_mut(cols)) {
            for (lane, sample) in samples_of_block.iter().enumerate() {
                let mut probabilities: Vec<f32> = logits.iter().map(|lanes| lanes[lane]).collect();
                for (column, probability) in probabilities.iter_mut().enumerate() {
                    if !sample.discs.is_open(self.setup, column) {
                        *probability = f32::NEG_INFINITY;
                    }
                }
                softmax(&mut probabilities);
                loss += cross_entropy(&sample.policy, &probabilities);
                for ((lanes, probability), target) in
                    logits.iter_mut().zip(probabilities).zip(&sample.policy)
                {
                    lanes[lane] = (probability - target) / samples.len() as f32;
                }
            }
        }
        loss / samples.len() as f32
    }
}

/// The forward and backward pass of one chunk.
struct Pass<'a> {
    network: &'a Backpropagation<'a>,
    scratch: &'a mut Scratch,
    gradient: &'a mut Gradient,
}

impl<'a> Pass<'a> {
    fn input(&mut self, samples: &[Sample]) -> Vec<Lanes> {
        let Backpropagation { network, setup, tower, .. } = self.network;
        let encoding = network.architecture().encoding;
        let block = tower.cells() * encoding.planes();
        let mut input = self.scratch.take(samples.len() / LANES * block);
        for (samples, input) in samples.chunks(LANES).zip(input.chunks_mut(block)) {
            fill_input(samples.iter().map(|sample| sample.discs), encoding, *setup, input);
        }
        input
    }

    /// A convolution, its batch normalisation, the input of a skip connection and ReLU.
    fn conv(
        &mut self,
        layer: &ConvTensors,
        grid: &KernelGrid,
        input: &[Lanes],
        skipped: Option<&[Lanes]>,
    ) -> Trace {
        let kernel = self.forward_kernel(layer.weights);
        let channels = kernel.outputs();
        let mut normalised = self.apply(kernel, grid, input);
        let (means, variances) = statistics(&normalised, channels);
        let scale: Vec<f32> =
            variances.iter().map(|variance| 1.0 / (variance + EPSILON).sqrt()).collect();
        let [gain, bias] = [layer.gain, layer.bias].map(|index| self.tensor(index));
        let mut output = self.scratch.take(normalised.len());
        normalise(&mut normalised, &mut output, &means, &scale, gain, bias);
        if let Some(skipped) = skipped {
            add(&mut output, skipped);
        }
        relu(&mut output);
        self.gradient.tensors[layer.mean] = means;
        self.gradient.tensors[layer.variance] = variances;
        Trace { normalised, scale, output }
    }

    /// From the gradient of a convolution's output to that of its input. The former is left as
    /// the gradient before ReLU, which is also that of the skip connection.
    fn conv_backward(
        &mut self,
        layer: &ConvTensors,
        grid: &KernelGrid,
        input: &[Lanes],
        trace: &Trace,
        output_gradient: &mut [Lanes],
    ) -> Vec<Lanes> {
        let kernel = self.backward_kernel(layer.weights);
        let gain = self.tensor(layer.gain);
        let channels = gain.len();
        relu_backward(output_gradient, &trace.output);

        // 1. Gain and bias.
        let mut sums = vec![[[0.0; LANES]; 2]; channels];
        add_gain_and_bias(&mut sums, output_gradient, &trace.normalised);
        let sums: Vec<[f32; 2]> =
            sums.iter().map(|sums| sums.map(|lanes| lanes.iter().sum())).collect();
        for (channel, [gain, bias]) in sums.iter().enumerate() {
            self.gradient.tensors[layer.gain][channel] += gain;
            self.gradient.tensors[layer.bias][channel] += bias;
        }

        // 2. Batch normalisation, which removes the parts that shift or scale all positions alike.
        let count = (output_gradient.len() / channels * LANES) as f32;
        let mut before = self.scratch.take(output_gradient.len());
        let factors: Vec<[f32; 3]> = (0..channels)
            .map(|channel| {
                let [stretch, shift] = sums[channel].map(|sum| sum / count);
                [gain[channel] * trace.scale[channel], shift, stretch]
            })
            .collect();
        normalise_backward(&mut before, output_gradient, &trace.normalised, &factors);

        // 3. Weights and input.
        self.add_weight_gradient(layer.weights, grid, input, &before);
        let input_gradient = self.apply(kernel, grid, &before);
        self.scratch.give([before]);
        input_gradient
    }

    fn dense(&mut self, layer: &DenseTensors, input: &[Lanes]) -> Vec<Lanes> {
        let kernel = self.forward_kernel(layer.weights);
        let bias = self.tensor(layer.bias);
        let mut output = self.scratch.take(input.len() / kernel.inputs() * bias.len());
        for (input, output) in input.chunks(kernel.inputs()).zip(output.chunks_mut(bias.len())) {
            kernel.convolve(&self.network.dense, input, output, |channel, _, sum| {
                sum.map(|sum| sum + bias[channel])
            });
        }
        output
    }

    fn dense_backward(
        &mut self,
        layer: &DenseTensors,
        input: &[Lanes],
        output_gradient: &[Lanes],
    ) -> Vec<Lanes> {
        let grid = &self.network.dense;
        let kernel = self.backward_kernel(layer.weights);
        let bias = &mut self.gradient.tensors[layer.bias];
        for (index, change) in output_gradient.iter().enumerate() {
            bias[index % kernel.inputs()] += change.iter().sum::<f32>();
        }
        self.add_weight_gradient(layer.weights, grid, input, output_gradient);
        self.apply(kernel, grid, output_gradient)
    }

    /// Convolves every block of a chunk.
    fn apply(&mut self, kernel: &Kernel, grid: &KernelGrid, input: &[Lanes]) -> Vec<Lanes> {
        let block = grid.cells() * kernel.inputs();
        let output_block = grid.cells() * kernel.outputs();
        let mut output = self.scratch.take(input.len() / block * output_block);
        for (input, output) in input.chunks(block).zip(output.chunks_mut(output_block)) {
            kernel.convolve(grid, input, output, |_, _, sum| sum);
        }
        output
    }

    /// Adds the contribution of a chunk's blocks to the gradient of a layer's weights.
    fn add_weight_gradient(
        &mut self,
        weights: usize,
        grid: &KernelGrid,
        input: &[Lanes],
        output_gradient: &[Lanes],
    ) {
        let kernel = self.forward_kernel(weights);
        let inputs = input.chunks(grid.cells() * kernel.inputs());
        let outputs = output_gradient.chunks(grid.cells() * kernel.outputs());
        let gradient = &mut self.gradient.tensors[weights];
        for (input, output_gradient) in inputs.zip(outputs) {
            self.scratch.weight_gradients.add(grid, input, output_gradient, gradient);
        }
    }

    fn tensor(&self, index: usize) -> &'a [f32] {
        &self.network.network.tensors()[index]
    }

    fn forward_kernel(&self, weights: usize) -> &'a Kernel {
        self.network.forward[weights].as_ref().expect("the tensor holds weights")
    }

    fn backward_kernel(&self, weights: usize) -> &'a Kernel {
        self.network.backward[weights].as_ref().expect("the tensor holds weights")
    }
}

vectorised! {
    /// Normalises every channel, and applies its gain and bias.
    fn normalise(
        normalised: &mut [Lanes],
        output: &mut [Lanes],
        means: &[f32],
        scale: &[f32],
        gain: &[f32],
        bias: &[f32],
    ) {
        let channels = means.len();
        for (index, (normalised, output)) in normalised.iter_mut().zip(output).enumerate() {
            let channel = index % channels;
            *normalised = normalised.map(|number| (number - means[channel]) * scale[channel]);
            *output = normalised.map(|number| gain[channel] * number + bias[channel]);
        }
    }
}

vectorised! {
    /// Sums up the gradients of gain and bias for every channel.
    fn add_gain_and_bias(
        sums: &mut [[Lanes; 2]],
        output_gradient: &[Lanes],
        normalised: &[Lanes],
    ) {
        let channels = sums.len();
        for (index, (change, normalised)) in output_gradient.iter().zip(normalised).enumerate() {
            let [gain, bias] = &mut sums[index % channels];
            for lane in 0..LANES {
                gain[lane] += change[lane] * normalised[lane];
                bias[lane] += change[lane];
            }
        }
    }
}

vectorised! {
    /// Backpropagation through batch normalisation. The factors of a channel are gain over standard
    /// deviation, shift and scale.
    fn normalise_backward(
        before: &mut [Lanes],
        output_gradient: &[Lanes],
        normalised: &[Lanes],
        factors: &[[f32; 3]],
    ) {
        let pairs = output_gradient.iter().zip(normalised);
        for (index, (before, (change, normalised))) in before.iter_mut().zip(pairs).enumerate() {
            let [factor, shift, stretch] = factors[index % factors.len()];
            *before =
                array::from_fn(|lane| factor * (change[lane] - shift - normalised[lane] * stretch));
        }
    }
}

/// The mean loss of the value; its outputs become the gradient.
fn value_loss(head: ValueHead, samples: &[Sample], outputs: &mut [Lanes]) -> f32 {
    let mut loss = 0.0;
    let share = 1.0 / samples.len() as f32;
    let blocks = outputs.chunks_mut(head.outputs());
    for (samples, outputs) in samples.chunks(LANES).zip(blocks) {
        for (lane, Sample { value, .. }) in samples.iter().enumerate() {
            match head {
                ValueHead::Wdl => {
                    let mut probabilities: [f32; 3] = array::from_fn(|index| outputs[index][lane]);
                    softmax(&mut probabilities);
                    let targets = [value.win, value.draw, value.loss()];
                    loss += cross_entropy(&targets, &probabilities);
                    for (index, (probability, target)) in
                        probabilities.iter().zip(targets).enumerate()
                    {
                        outputs[index][lane] = share * (probability - target);
                    }
                }
                ValueHead::Tanh => {
                    let predicted = outputs[0][lane].tanh();
                    let error = predicted - (value.win - value.loss());
                    loss += error * error;
                    outputs[0][lane] = share * 2.0 * error * (1.0 - predicted * predicted);
                }
            }
        }
    }
    loss * share
}

fn cross_entropy(targets: &[f32], probabilities: &[f32]) -> f32 {
    let pairs = targets.iter().zip(probabilities).filter(|(target, _)| **target > 0.0);
    -pairs.map(|(target, probability)| target * probability.max(1e-12).ln()).sum::<f32>()
}

/// The mean and variance of each channel.
fn statistics(data: &[Lanes], channels: usize) -> (Vec<f32>, Vec<f32>) {
    let count = (data.len() / channels * LANES) as f32;
    let mean = |sums: &[Lanes]| -> Vec<f32> {
        sums.iter().map(|lanes| lanes.iter().sum::<f32>() / count).collect()
    };
    let mut sums = vec![[0.0; LANES]; channels];
    add_up(&mut sums, data);
    let means = mean(&sums);
    sums.fill([0.0; LANES]);
    add_up_squares(&mut sums, data, &means);
    (means, mean(&sums))
}

vectorised! {
    fn add_up(sums: &mut [Lanes], data: &[Lanes]) {
        let channels = sums.len();
        for (index, lanes) in data.iter().enumerate() {
            for (sum, number) in sums[index % channels].iter_mut().zip(lanes) {
                *sum += number;
            }
        }
    }
}

vectorised! {
    fn add_up_squares(sums: &mut [Lanes], data: &[Lanes], means: &[f32]) {
        let channels = sums.len();
        for (index, lanes) in data.iter().enumerate() {
            let mean = means[index % channels];
            for (sum, number) in sums[index % channels].iter_mut().zip(lanes) {
                *sum += (number - mean) * (number - mean);
            }
        }
    }
}

vectorised! {
    fn add(data: &mut [Lanes], other: &[Lanes]) {
        for (lanes, other) in data.iter_mut().zip(other) {
            for (number, other) in lanes.iter_mut().zip(other) {
                *number += other;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::architecture::Role;
    use crate::evaluator::Wdl;
    use crate::planes::Discs;
    use claimeven_game::{Position, Ruleset};
    use fastrand::Rng;

    fn positions(setup: Setup, count: usize) -> Vec<Position> {
        let mut random = Rng::with_seed(3);
        let position = |_| {
            let mut position = Position::new(setup);
            for _ in 0..random.usize(..6) {
                let legal: Vec<_> = position.legal().collect();
                position.play(*random.choice(&legal).unwrap()).unwrap();
            }
            position
        };
        (0..count).map(position).collect()
    }

    fn samples(positions: &[Position]) -> Vec<Sample> {
        let mut random = Rng::with_seed(4);
        let sample = |position: &Position| {
            let setup = position.setup();
            let mut policy = vec![0.0; setup.cols().into()];
            for column in position.legal() {
                policy[column.index()] = random.f32();
            }
            let sum: f32 = policy.iter().sum();
            let policy = policy.into_iter().map(|probability: f32| probability / sum).collect();
            let win = random.f32();
            let value = Wdl { win, draw: (1.0 - win) * random.f32() };
            Sample { discs: Discs::of(position), policy, value }
        };
        positions.iter().map(sample).collect()
    }

    /// A reference implementation of the loss, in double precision.
    struct ReferenceLoss<'a> {
        architecture: Architecture,
        tensors: Vec<(String, Vec<f64>)>,
        samples: &'a [Sample],
        /// How many numbers ReLU has set to 0, and out of how many.
        zeroed: std::cell::Cell<(u64, u64)>,
    }

    /// `[sample][cell][channel]`.
    type Data = Vec<Vec<Vec<f64>>>;

    impl ReferenceLoss<'_> {
        fn tensor(&self, layer: &str, part: &str) -> &[f64] {
            let name = format!("{layer}.{part}");
            &self.tensors.iter().find(|(other, _)| *other == name).unwrap().1
        }

        fn relu(&self, number: f64) -> f64 {
            let (zeroed, all) = self.zeroed.get();
            self.zeroed.set((zeroed + u64::from(number <= 0.0), all + 1));
            number.max(0.0)
        }

        fn conv(&self, layer: &str, input: &Data, side: usize, skipped: Option<&Data>) -> Data {
            let (cols, rows) =
                (usize::from(self.architecture.cols), usize::from(self.architecture.rows));
            let weights = self.tensor(layer, "conv");
            let (gain, bias) = (self.tensor(layer, "gain"), self.tensor(layer, "bias"));
            let inputs = input[0][0].len();
            let mut output = vec![vec![vec![0.0; gain.len()]; cols * rows]; input.len()];
            for (input, output) in input.iter().zip(&mut output) {
                for (cell, output) in output.iter_mut().enumerate() {
                    for tap in 0..side * side {
                        let row = (cell / cols + tap / side).wrapping_sub(side / 2);
                        let col = (cell % cols + tap % side).wrapping_sub(side / 2);
                        if row >= rows || col >= cols {
                            continue;
                        }
                        for (channel, sum) in output.iter_mut().enumerate() {
                            for (index, number) in input[row * cols + col].iter().enumerate() {
                                let weight = (channel * inputs + index) * side * side + tap;
                                *sum += weights[weight] * number;
                            }
                        }
                    }
                }
            }
            let count = (input.len() * cols * rows) as f64;
            for channel in 0..gain.len() {
                let all = || output.iter().flatten().map(|numbers| numbers[channel]);
                let mean = all().sum::<f64>() / count;
                let variance = all().map(|number| (number - mean).powi(2)).sum::<f64>() / count;
                let scale = gain[channel] / (variance + f64::from(EPSILON)).sqrt();
                for (sample, cells) in output.iter_mut().enumerate() {
                    for (cell, numbers) in cells.iter_mut().enumerate() {
                        let skipped = skipped.map_or(0.0, |data| data[sample][cell][channel]);
                        let number = (numbers[channel] - mean) * scale + bias[channel];
                        numbers[channel] = self.relu(number + skipped);
                    }
                }
            }
            output
        }

        fn dense(&self, layer: &str, input: &[f64]) -> Vec<f64> {
            let weights = self.tensor(layer, "weight").chunks(input.len());
            weights
                .zip(self.tensor(layer, "bias"))
                .map(|(weights, bias)| {
                    bias + weights.iter().zip(input).map(|(a, b)| a * b).sum::<f64>()
                })
                .collect()
        }

        fn loss(&self) -> f64 {
            let Architecture { encoding, blocks, .. } = self.architecture;
            let setup = self.architecture.setup().unwrap();
            let mut input = Data::new();
            for sample in self.samples {
                let mut planes = vec![vec![0.0; encoding.planes()]; setup.cells() as usize];
                encoding.each(setup, sample.discs, |cell, plane, value| {
                    planes[cell][plane] = value.into();
                });
                input.push(planes);
            }
            let mut tower = self.conv("stem", &input, 3, None);
            for block in 0..blocks {
                let inner = self.conv(&format!("block{block}.first"), &tower, 3, None);
                tower = self.conv(&format!("block{block}.second"), &inner, 3, Some(&tower));
            }
            let (policy, value) =
                (self.conv("policy", &tower, 1, None), self.conv("value", &tower, 1, None));
            let mut loss = 0.0;
            for (index, sample) in self.samples.iter().enumerate() {
                let mut logits = self.dense("policy.columns", &policy[index].concat());
                for (column, logit) in logits.iter_mut().enumerate() {
                    if !sample.discs.is_open(setup, column) {
                        *logit = f64::NEG_INFINITY;
                    }
                }
                let targets: Vec<f64> = sample.policy.iter().map(|&p| p.into()).collect();
                loss += cross_entropy_of(&logits, &targets);
                let mut hidden = self.dense("value.hidden", &value[index].concat());
                for number in &mut hidden {
                    *number = self.relu(*number);
                }
                let outputs = self.dense("value.result", &hidden);
                let Wdl { win, draw } = sample.value;
                let (win, draw) = (f64::from(win), f64::from(draw));
                loss += match self.architecture.value {
                    ValueHead::Wdl => cross_entropy_of(&outputs, &[win, draw, 1.0 - win - draw]),
                    ValueHead::Tanh => (outputs[0].tanh() - (2.0 * win + draw - 1.0)).powi(2),
                };
            }
            loss / self.samples.len() as f64
        }
    }

    fn cross_entropy_of(logits: &[f64], targets: &[f64]) -> f64 {
        let sum: f64 = logits.iter().map(|logit| logit.exp()).sum();
        let pairs = logits.iter().zip(targets).filter(|(_, target)| **target > 0.0);
        pairs.map(|(logit, target)| target * (sum.ln() - logit)).sum()
    }

    #[test]
    fn the_gradient_matches_finite_differences_of_the_loss() {
        let setup = Setup::new(4, 4, 3, Ruleset::Standard).unwrap();
        for value in [ValueHead::Wdl, ValueHead::Tanh] {
            let architecture =
                Architecture { value, value_hidden: 6, ..Architecture::new(setup, 2, 6) };
            let mut network = Network::new(architecture, 5).unwrap();
            // Gains, biases and the last layers of a new network are all equal or close to 0.
            let mut random = Rng::with_seed(1);
            for (tensor, numbers) in architecture.tensors().iter().zip(network.tensors_mut()) {
                for number in numbers {
                    match tensor.role {
                        Role::Gain | Role::Bias => *number += 0.5 * (random.f32() - 0.5),
                        Role::Weight if tensor.shape.len() == 2 => *number *= 4.0,
                        _ => {}
                    }
                }
            }
            let samples = samples(&positions(setup, LANES));
            let gradient =
                Backpropagation::new(&network).gradient(&samples, &mut Scratch::default());
            let shapes = architecture.tensors();
            let mut reference = ReferenceLoss {
                architecture,
                tensors: shapes
                    .iter()
                    .zip(network.tensors())
                    .map(|(shape, tensor)| {
                        (shape.name.clone(), tensor.iter().map(|&x| x.into()).collect())
                    })
                    .collect(),
                samples: &samples,
                zeroed: std::cell::Cell::default(),
            };
            let found = f64::from(gradient.losses.policy) + f64::from(gradient.losses.value);
            assert!((reference.loss() - found).abs() < 1e-5, "{} {found}", reference.loss());
            // ReLU sets about half of the numbers to 0, in a mixed pattern.
            let (zeroed, all) = reference.zeroed.get();
            assert!((0.3..0.7).contains(&(zeroed as f64 / all as f64)), "{zeroed} of {all}");

            for (index, tensor) in shapes.iter().enumerate() {
                if matches!(tensor.role, Role::Mean | Role::Variance) {
                    continue;
                }
                // All numbers of a tensor at once: along the gradient, where the slope is its norm,
                // and in a random direction.
                let slopes: Vec<f64> = gradient.tensors[index].iter().map(|&x| x.into()).collect();
                let norm = slopes.iter().map(|slope| slope * slope).sum::<f64>().sqrt();
                assert!(norm > 1e-3, "{}: {norm}", tensor.name);
                let along: Vec<f64> = slopes.iter().map(|slope| slope / norm).collect();
                let random_direction: Vec<f64> = along.iter().map(|_| random.f64() - 0.5).collect();
                for direction in [along, random_direction] {
                    let expected: f64 = slopes.iter().zip(&direction).map(|(a, b)| a * b).sum();
                    // Small enough that hardly any number crosses 0.
                    let step = 1e-7;
                    let mut loss_at = |distance: f64| {
                        let old = reference.tensors[index].1.clone();
                        let numbers = reference.tensors[index].1.iter_mut();
                        numbers.zip(&direction).for_each(|(number, by)| *number += distance * by);
                        let loss = reference.loss();
                        reference.tensors[index].1 = old;
                        loss
                    };
                    let slope = (loss_at(step) - loss_at(-step)) / (2.0 * step);
                    assert!(
                        (slope - expected).abs() < 1e-3 * norm,
                        "{}: {slope} {expected}, norm {norm}",
                        tensor.name
                    );
                }
            }
        }
    }

    #[test]
    fn training_and_inference_compute_the_same_network() {
        // With the statistics of the chunk as running statistics, inference gives the same
        // evaluation.
        let setup = Setup::STANDARD;
        let mut network = Network::new(Architecture::new(setup, 2, 10), 5).unwrap();
        let positions = positions(setup, LANES);
        let samples = samples(&positions);
        let gradient = Backpropagation::new(&network).gradient(&samples, &mut Scratch::default());
        let shapes = network.architecture().tensors();
        for (index, numbers) in network.tensors_mut().enumerate() {
            if matches!(shapes[index].role, Role::Mean | Role::Variance) {
                numbers.copy_from_slice(&gradient.tensors[index]);
            }
        }
        // The losses of all samples, by inference.
        let mut inference = crate::Inference::new(&network);
        let mut evaluations = Vec::new();
        crate::Evaluator::evaluate(&mut inference, &positions, &mut evaluations);
        let mut losses = Losses::default();
        for (sample, evaluation) in samples.iter().zip(&evaluations) {
            let Wdl { win, draw } = evaluation.value;
            let targets = [sample.value.win, sample.value.draw, sample.value.loss()];
            losses.policy += cross_entropy(&sample.policy, &evaluation.policy) / LANES as f32;
            losses.value += cross_entropy(&targets, &[win, draw, 1.0 - win - draw]) / LANES as f32;
        }
        assert!((losses.policy - gradient.losses.policy).abs() < 1e-4, "{losses:?}");
        assert!((losses.value - gradient.losses.value).abs() < 1e-4, "{losses:?}");
    }
}
