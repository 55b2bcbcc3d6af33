//! How a network's numbers would have to change for it to say what it should have said.

use std::array;

use claimeven_game::Setup;

use crate::architecture::{Architecture, ValueHead};
use crate::evaluator::Wdl;
use crate::inference::{EPSILON, fill_input, softmax};
use crate::lanes::{Kernel, LANES, Lanes, WeightGradients, Windows};
use crate::network::Network;
use crate::planes::Discs;

/// What a network should say of a position.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The position.
    pub discs: Discs,
    /// The chance that each column should have.
    pub policy: Vec<f32>,
    /// How the game should be expected to end.
    pub value: Wdl,
}

impl Sample {
    /// The same with left and right exchanged.
    pub fn mirrored(&self, setup: Setup) -> Sample {
        let mut policy = self.policy.clone();
        policy.reverse();
        Sample { discs: self.discs.mirrored(setup), policy, value: self.value }
    }
}

/// How far a network is from what it should say, on average.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Losses {
    /// Of the policy: cross entropy.
    pub policy: f32,
    /// Of the value: cross entropy of win, draw and loss, or the squared error of a scalar.
    pub value: f32,
}

/// The gradient of the losses' sum by every number of a network.
#[derive(Clone, Debug)]
pub(crate) struct Gradient {
    /// As the network's tensors. In place of a gradient, the mean and the variance of a channel
    /// are what has been observed.
    pub(crate) tensors: Vec<Vec<f32>>,
    pub(crate) losses: Losses,
}

/// A network prepared for learning from many chunks of samples.
pub(crate) struct Backward<'a> {
    network: &'a Network,
    setup: Setup,
    tower: Windows,
    heads: Windows,
    dense: Windows,
    /// By the index of their tensor; there are none for the others.
    forward: Vec<Option<Kernel>>,
    back: Vec<Option<Kernel>>,
}

/// The memory of one chunk's way forward and back, used again for the next: getting it from the
/// system anew would take a sixth of the time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    free: Vec<Vec<Lanes>>,
    weight_gradients: WeightGradients,
}

impl Scratch {
    /// Memory with whatever was there before.
    fn take(&mut self, len: usize) -> Vec<Lanes> {
        let mut buffer = self.free.pop().unwrap_or_default();
        buffer.resize(len, [0.0; LANES]);
        buffer
    }

    fn give(&mut self, buffers: impl IntoIterator<Item = Vec<Lanes>>) {
        self.free.extend(buffers);
    }
}

/// A convolution's place among the tensors; its gain, bias, mean and variance follow it.
#[derive(Clone, Copy)]
struct Conv<'a> {
    tensor: usize,
    windows: &'a Windows,
}

/// What a convolution leaves for the way back.
struct Trace {
    normalised: Vec<Lanes>,
    /// One by the deviation of each channel.
    scale: Vec<f32>,
    output: Vec<Lanes>,
}

impl<'a> Backward<'a> {
    pub(crate) fn new(network: &'a Network) -> Backward<'a> {
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
        Backward {
            network,
            setup: architecture.setup().expect("a network's architecture is sound"),
            tower: Windows::new(cols, rows, 3),
            heads: Windows::new(cols, rows, 1),
            dense: Windows::single(),
            forward: kernels(Kernel::new),
            back: kernels(Kernel::backwards),
        }
    }

    /// The gradient of the mean loss of a chunk of samples, a multiple of sixteen. Channels are
    /// normalised over the chunk.
    pub(crate) fn gradient(&self, samples: &[Sample], scratch: &mut Scratch) -> Gradient {
        let Architecture { blocks, cols, value, .. } = *self.network.architecture();
        assert!(samples.len().is_multiple_of(LANES), "chunks fill their lanes");
        let tensors = self.network.tensors().iter().map(|tensor| vec![0.0; tensor.len()]);
        let mut gradient = Gradient { tensors: tensors.collect(), losses: Losses::default() };
        let pass = &mut Pass { backward: self, scratch, gradient: &mut gradient };

        // 1. Forward through the tower.
        let input = pass.input(samples);
        let conv = |index: usize| Conv { tensor: 5 * index, windows: &self.tower };
        let mut traces = vec![pass.conv(conv(0), &input, None)];
        for index in (1..=2 * blocks).step_by(2) {
            let before = &traces[index - 1].output;
            let first = pass.conv(conv(index), before, None);
            let second = pass.conv(conv(index + 1), &first.output, Some(before));
            traces.extend([first, second]);
        }
        let top = &traces[2 * blocks].output;

        // 2. The policy head, forward and back.
        let policy_conv = Conv { tensor: 5 * (2 * blocks + 1), windows: &self.heads };
        let columns = policy_conv.tensor + 5;
        let policy_trace = pass.conv(policy_conv, top, None);
        let mut logits = pass.dense(columns, &policy_trace.output);
        pass.gradient.losses.policy = self.policy_loss(samples, &mut logits, cols.into());
        let mut back = pass.dense_back(columns, &policy_trace.output, &logits);
        let mut top_gradient = pass.conv_back(policy_conv, top, &policy_trace, &mut back);
        pass.scratch.give([logits, back]);

        // 3. The value head, forward and back.
        let value_conv = Conv { tensor: columns + 2, windows: &self.heads };
        let (hidden, result) = (value_conv.tensor + 5, value_conv.tensor + 7);
        let value_trace = pass.conv(value_conv, top, None);
        let mut middle = pass.dense(hidden, &value_trace.output);
        cut_negative(&mut middle);
        let mut outputs = pass.dense(result, &middle);
        pass.gradient.losses.value = value_loss(value, samples, &mut outputs);
        let mut middle_back = pass.dense_back(result, &middle, &outputs);
        cut(&mut middle_back, &middle);
        let mut back = pass.dense_back(hidden, &value_trace.output, &middle_back);
        let from_value = pass.conv_back(value_conv, top, &value_trace, &mut back);
        add(&mut top_gradient, &from_value);
        pass.scratch.give([middle, outputs, middle_back, back, from_value]);

        // 4. Back through the tower; what a block has added to goes around it.
        for index in (1..=2 * blocks).rev().step_by(2) {
            let [before, first, second] = &traces[index - 2..=index] else { unreachable!() };
            let mut inner = pass.conv_back(conv(index), &first.output, second, &mut top_gradient);
            let through = pass.conv_back(conv(index - 1), &before.output, first, &mut inner);
            add(&mut top_gradient, &through);
            pass.scratch.give([inner, through]);
        }
        let unused = pass.conv_back(conv(0), &input, &traces[0], &mut top_gradient);
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
                let mut chances: Vec<f32> = logits.iter().map(|lanes| lanes[lane]).collect();
                for (column, chance) in chances.iter_mut().enumerate() {
                    if !sample.discs.is_open(self.setup, column) {
                        *chance = f32::NEG_INFINITY;
                    }
                }
                softmax(&mut chances);
                loss += cross_entropy(&sample.policy, &chances);
                for ((lanes, chance), target) in logits.iter_mut().zip(chances).zip(&sample.policy)
                {
                    lanes[lane] = (chance - target) / samples.len() as f32;
                }
            }
        }
        loss / samples.len() as f32
    }
}

/// One chunk's way through the network.
struct Pass<'a> {
    backward: &'a Backward<'a>,
    scratch: &'a mut Scratch,
    gradient: &'a mut Gradient,
}

impl Pass<'_> {
    fn input(&mut self, samples: &[Sample]) -> Vec<Lanes> {
        let Backward { network, setup, tower, .. } = self.backward;
        let encoding = network.architecture().encoding;
        let block = tower.cells() * encoding.planes();
        let mut input = self.scratch.take(samples.len() / LANES * block);
        for (samples, input) in samples.chunks(LANES).zip(input.chunks_mut(block)) {
            fill_input(samples.iter().map(|sample| sample.discs), encoding, *setup, input);
        }
        input
    }

    /// A convolution, its normalisation and what follows: the skipped block's input is added and
    /// the negative cut off.
    fn conv(
        &mut self,
        Conv { tensor, windows }: Conv<'_>,
        input: &[Lanes],
        skipped: Option<&[Lanes]>,
    ) -> Trace {
        let kernel = self.backward.forward[tensor].as_ref().expect("it is a convolution");
        let channels = kernel.outputs();
        let mut normalised = self.apply(kernel, windows, input);
        let (means, variances) = statistics(&normalised, channels);
        let scale: Vec<f32> =
            variances.iter().map(|variance| 1.0 / (variance + EPSILON).sqrt()).collect();
        let [gain, bias] = [1, 2].map(|part| &self.backward.network.tensors()[tensor + part]);
        let mut output = self.scratch.take(normalised.len());
        for (index, (normalised, output)) in normalised.iter_mut().zip(&mut output).enumerate() {
            let channel = index % channels;
            *normalised = normalised.map(|number| (number - means[channel]) * scale[channel]);
            *output = normalised.map(|number| gain[channel] * number + bias[channel]);
        }
        if let Some(skipped) = skipped {
            add(&mut output, skipped);
        }
        cut_negative(&mut output);
        self.gradient.tensors[tensor + 3] = means;
        self.gradient.tensors[tensor + 4] = variances;
        Trace { normalised, scale, output }
    }

    /// From the gradient of a convolution's output to that of its input. The former is left as
    /// the gradient of what was added before the negative was cut off.
    fn conv_back(
        &mut self,
        Conv { tensor, windows }: Conv<'_>,
        input: &[Lanes],
        trace: &Trace,
        output_gradient: &mut [Lanes],
    ) -> Vec<Lanes> {
        let kernel = self.backward.back[tensor].as_ref().expect("it is a convolution");
        let gain = &self.backward.network.tensors()[tensor + 1];
        let channels = gain.len();
        cut(output_gradient, &trace.output);

        // 1. Gain and bias.
        let mut sums = vec![[[0.0; LANES]; 2]; channels];
        let pairs = output_gradient.iter().zip(&trace.normalised).enumerate();
        for (index, (change, normalised)) in pairs {
            let [gain, bias] = &mut sums[index % channels];
            for lane in 0..LANES {
                gain[lane] += change[lane] * normalised[lane];
                bias[lane] += change[lane];
            }
        }
        let sums: Vec<[f32; 2]> =
            sums.iter().map(|sums| sums.map(|lanes| lanes.iter().sum())).collect();
        for (channel, [gain, bias]) in sums.iter().enumerate() {
            self.gradient.tensors[tensor + 1][channel] += gain;
            self.gradient.tensors[tensor + 2][channel] += bias;
        }

        // 2. Through the normalisation: a change that all positions share, or that stretches
        //    all of them, is normalised away.
        let count = (output_gradient.len() / channels * LANES) as f32;
        let mut before = self.scratch.take(output_gradient.len());
        let pairs = output_gradient.iter().zip(&trace.normalised);
        for (index, (before, (change, normalised))) in before.iter_mut().zip(pairs).enumerate() {
            let channel = index % channels;
            let factor = gain[channel] * trace.scale[channel];
            let [stretch, shift] = sums[channel].map(|sum| sum / count);
            *before =
                array::from_fn(|lane| factor * (change[lane] - shift - normalised[lane] * stretch));
        }

        // 3. The weights and the input.
        self.add_weight_gradient(tensor, windows, input, &before);
        let input_gradient = self.apply(kernel, windows, &before);
        self.scratch.give([before]);
        input_gradient
    }

    fn dense(&mut self, tensor: usize, input: &[Lanes]) -> Vec<Lanes> {
        let kernel = self.backward.forward[tensor].as_ref().expect("it is a dense layer");
        let bias = &self.backward.network.tensors()[tensor + 1];
        let mut output = self.scratch.take(input.len() / kernel.inputs() * bias.len());
        for (input, output) in input.chunks(kernel.inputs()).zip(output.chunks_mut(bias.len())) {
            kernel.convolve(&self.backward.dense, input, output, |channel, _, sum| {
                sum.map(|sum| sum + bias[channel])
            });
        }
        output
    }

    fn dense_back(
        &mut self,
        tensor: usize,
        input: &[Lanes],
        output_gradient: &[Lanes],
    ) -> Vec<Lanes> {
        let windows = &self.backward.dense;
        let kernel = self.backward.back[tensor].as_ref().expect("it is a dense layer");
        let bias = &mut self.gradient.tensors[tensor + 1];
        for (index, change) in output_gradient.iter().enumerate() {
            bias[index % kernel.inputs()] += change.iter().sum::<f32>();
        }
        self.add_weight_gradient(tensor, windows, input, output_gradient);
        self.apply(kernel, windows, output_gradient)
    }

    /// Convolves every block of a chunk.
    fn apply(&mut self, kernel: &Kernel, windows: &Windows, input: &[Lanes]) -> Vec<Lanes> {
        let block = windows.cells() * kernel.inputs();
        let output_block = windows.cells() * kernel.outputs();
        let mut output = self.scratch.take(input.len() / block * output_block);
        for (input, output) in input.chunks(block).zip(output.chunks_mut(output_block)) {
            kernel.convolve(windows, input, output, |_, _, sum| sum);
        }
        output
    }

    /// Adds what the blocks of a chunk contribute to the gradient of a layer's weights.
    fn add_weight_gradient(
        &mut self,
        tensor: usize,
        windows: &Windows,
        input: &[Lanes],
        output_gradient: &[Lanes],
    ) {
        let kernel = self.backward.forward[tensor].as_ref().expect("it is a layer");
        let inputs = input.chunks(windows.cells() * kernel.inputs());
        let outputs = output_gradient.chunks(windows.cells() * kernel.outputs());
        let gradient = &mut self.gradient.tensors[tensor];
        for (input, output_gradient) in inputs.zip(outputs) {
            self.scratch.weight_gradients.add(windows, input, output_gradient, gradient);
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
                    let mut chances: [f32; 3] = array::from_fn(|index| outputs[index][lane]);
                    softmax(&mut chances);
                    let targets = [value.win, value.draw, value.loss()];
                    loss += cross_entropy(&targets, &chances);
                    for (index, (chance, target)) in chances.iter().zip(targets).enumerate() {
                        outputs[index][lane] = share * (chance - target);
                    }
                }
                ValueHead::Tanh => {
                    let said = outputs[0][lane].tanh();
                    let error = said - (value.win - value.loss());
                    loss += error * error;
                    outputs[0][lane] = share * 2.0 * error * (1.0 - said * said);
                }
            }
        }
    }
    loss * share
}

fn cross_entropy(targets: &[f32], chances: &[f32]) -> f32 {
    let pairs = targets.iter().zip(chances).filter(|(target, _)| **target > 0.0);
    -pairs.map(|(target, chance)| target * chance.max(1e-12).ln()).sum::<f32>()
}

/// The mean and variance of each channel.
fn statistics(data: &[Lanes], channels: usize) -> (Vec<f32>, Vec<f32>) {
    let count = (data.len() / channels * LANES) as f32;
    let sums = |number: &dyn Fn(usize, &Lanes) -> Lanes| -> Vec<f32> {
        let mut sums = vec![[0.0; LANES]; channels];
        for (index, lanes) in data.iter().enumerate() {
            let channel = index % channels;
            let added = number(channel, lanes);
            for (sum, added) in sums[channel].iter_mut().zip(added) {
                *sum += added;
            }
        }
        sums.iter().map(|lanes| lanes.iter().sum::<f32>() / count).collect()
    };
    let means = sums(&|_, lanes| *lanes);
    let variances = sums(&|channel, lanes| lanes.map(|number| (number - means[channel]).powi(2)));
    (means, variances)
}

fn add(data: &mut [Lanes], other: &[Lanes]) {
    for (lanes, other) in data.iter_mut().zip(other) {
        for (number, other) in lanes.iter_mut().zip(other) {
            *number += other;
        }
    }
}

/// Nothing flows back to where the negative was cut off.
fn cut(gradient: &mut [Lanes], output: &[Lanes]) {
    for (lanes, output) in gradient.iter_mut().zip(output) {
        for (number, output) in lanes.iter_mut().zip(output) {
            *number = if *output > 0.0 { *number } else { 0.0 };
        }
    }
}

fn cut_negative(data: &mut [Lanes]) {
    for lanes in data {
        *lanes = lanes.map(|number| number.max(0.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::architecture::Role;
    use crate::planes::InputEncoding;
    use claimeven_game::{Position, Ruleset};
    use fastrand::Rng;

    fn samples(setup: Setup, count: usize) -> Vec<Sample> {
        let mut random = Rng::with_seed(3);
        let sample = |_| {
            let mut position = Position::new(setup);
            for _ in 0..random.usize(..6) {
                let legal: Vec<_> = position.legal().collect();
                position.play(*random.choice(&legal).unwrap()).unwrap();
            }
            let mut policy = vec![0.0; setup.cols().into()];
            for column in position.legal() {
                policy[column.index()] = random.f32();
            }
            let sum: f32 = policy.iter().sum();
            let policy = policy.into_iter().map(|chance: f32| chance / sum).collect();
            let win = random.f32();
            let value = Wdl { win, draw: (1.0 - win) * random.f32() };
            Sample { discs: Discs::of(&position), policy, value }
        };
        (0..count).map(sample).collect()
    }

    #[test]
    fn the_gradient_is_the_slope_of_the_loss() {
        // Rare inputs such as threats would reach far beyond the bias below, so none are shown.
        let setup = Setup::new(4, 4, 3, Ruleset::Standard).unwrap();
        let encoding = InputEncoding::Discs;
        for value in [ValueHead::Wdl, ValueHead::Tanh] {
            let architecture =
                Architecture { encoding, value, value_hidden: 6, ..Architecture::new(setup, 2, 6) };
            let mut network = Network::new(architecture, 5).unwrap();
            for (tensor, numbers) in architecture.tensors().iter().zip(network.tensors_mut()) {
                for (channel, number) in numbers.iter_mut().enumerate() {
                    match tensor.role {
                        // Channels far from where the negative is cut off, on either side, for
                        // there the loss has no slope.
                        Role::Bias => *number = if channel % 3 == 0 { -5.0 } else { 5.0 },
                        // Large slopes, which rounding does not hide.
                        Role::Weight if tensor.shape.len() == 2 => *number *= 4.0,
                        _ => {}
                    }
                }
            }
            let samples = samples(setup, 2 * LANES);
            let loss = |network: &Network| {
                let losses =
                    Backward::new(network).gradient(&samples, &mut Scratch::default()).losses;
                f64::from(losses.policy) + f64::from(losses.value)
            };
            let gradient = Backward::new(&network).gradient(&samples, &mut Scratch::default());
            let mut random = Rng::with_seed(1);
            for (index, tensor) in architecture.tensors().into_iter().enumerate() {
                if matches!(tensor.role, Role::Mean | Role::Variance) {
                    continue;
                }
                // All numbers of a tensor at once, in a random direction.
                let direction: Vec<f32> = (0..tensor.len()).map(|_| random.f32() - 0.5).collect();
                let expected: f64 = gradient.tensors[index]
                    .iter()
                    .zip(&direction)
                    .map(|(slope, step)| f64::from(slope * step))
                    .sum();
                let step = 2e-3;
                let mut loss_at = |way: f32| {
                    let old = network.clone();
                    let numbers = network.tensors_mut().nth(index).unwrap();
                    for (number, direction) in numbers.iter_mut().zip(&direction) {
                        *number += way * direction;
                    }
                    let loss = loss(&network);
                    network = old;
                    loss
                };
                let slope = (loss_at(step) - loss_at(-step)) / (2.0 * f64::from(step));
                assert!(
                    (slope - expected).abs() < 1e-3 + 0.01 * slope.abs(),
                    "{}: {slope} {expected}",
                    tensor.name
                );
            }
        }
    }

    #[test]
    fn learning_and_playing_compute_the_same_network() {
        // With the statistics of a chunk as its own, the network that plays says the same.
        let setup = Setup::STANDARD;
        let mut network = Network::new(Architecture::new(setup, 2, 10), 5).unwrap();
        let position = Position::from_moves(setup, "443").unwrap();
        let mut samples = samples(setup, LANES);
        samples[0].discs = Discs::of(&position);
        samples[0].policy = vec![1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let gradient = Backward::new(&network).gradient(&samples, &mut Scratch::default());
        let shapes = network.architecture().tensors();
        for (index, numbers) in network.tensors_mut().enumerate() {
            if matches!(shapes[index].role, Role::Mean | Role::Variance) {
                numbers.copy_from_slice(&gradient.tensors[index]);
            }
        }
        let positions = [position; 1];
        let mut evaluations = Vec::new();
        let mut inference = crate::Inference::new(&network);
        crate::Evaluator::evaluate(&mut inference, &positions, &mut evaluations);
        let backward = Backward::new(&network);
        let (mut scratch, mut unused) = (Scratch::default(), gradient.clone());
        let mut pass = Pass { backward: &backward, scratch: &mut scratch, gradient: &mut unused };
        let conv = |index: usize| Conv { tensor: 5 * index, windows: &backward.tower };
        let input = pass.input(&samples);
        let mut top = pass.conv(conv(0), &input, None).output;
        for index in [1, 3] {
            let inner = pass.conv(conv(index), &top, None).output;
            top = pass.conv(conv(index + 1), &inner, Some(&top)).output;
        }
        let head = Conv { tensor: 25, windows: &backward.heads };
        let inner = pass.conv(head, &top, None).output;
        let logits = pass.dense(30, &inner);
        let mut policy: Vec<f32> = logits.iter().map(|lanes| lanes[0]).collect();
        softmax(&mut policy);
        for (learnt, played) in policy.iter().zip(&evaluations[0].policy) {
            assert!((learnt - played).abs() < 1e-4, "{policy:?} {:?}", evaluations[0].policy);
        }
    }
}
