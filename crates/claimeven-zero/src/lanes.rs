//! Convolutions of many positions at once: the arithmetic under playing and learning.
//!
//! The innermost index of all data is the position: sixteen of them side by side are a [`Lanes`],
//! two registers of eight numbers. A layer is then nothing but sums of a weight times a `Lanes`,
//! without edge cases, shuffles or copies of the input (`im2col`), and cells beyond the edge of
//! the board are left out rather than multiplied by 0. That runs at nine tenths of what the
//! processor can multiply and add, and no library's matrix product on copied inputs comes near.

use std::array;

/// One number for each of sixteen positions.
pub(crate) type Lanes = [f32; LANES];

/// How many positions are computed side by side.
pub(crate) const LANES: usize = 16;

/// Outputs that are summed up together: with two registers each, eight of the sixteen registers,
/// which is as many as hide the time that a multiplication takes.
const PANEL: usize = 4;

/// A board's cells, row by row, and which of them a convolution's window covers.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    /// The window's places: 9 or 1.
    taps: usize,
    /// For each cell the places of its window that are on the board, and the cells there.
    covered: Vec<Vec<(usize, usize)>>,
}

impl Windows {
    /// Windows of `side` x `side` cells, where `side` is odd.
    pub(crate) fn new(cols: usize, rows: usize, side: usize) -> Windows {
        let margin = side / 2;
        let window = |cell: usize| {
            let mut covered = Vec::new();
            for tap in 0..side * side {
                let (row, col) = (cell / cols + tap / side, cell % cols + tap % side);
                if (margin..rows + margin).contains(&row) && (margin..cols + margin).contains(&col)
                {
                    covered.push((tap, (row - margin) * cols + col - margin));
                }
            }
            covered
        };
        Windows { taps: side * side, covered: (0..cols * rows).map(window).collect() }
    }

    /// The one cell of a dense layer, whose inputs are all its channels.
    pub(crate) fn single() -> Windows {
        Windows::new(1, 1, 1)
    }

    pub(crate) fn cells(&self) -> usize {
        self.covered.len()
    }
}

/// The weights of a convolution in the order in which they are multiplied.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    inputs: usize,
    outputs: usize,
    /// By panel of outputs, place in the window and input.
    weights: Vec<[f32; PANEL]>,
}

impl Kernel {
    /// Orders the weights of a tensor `[outputs, inputs, taps]`.
    pub(crate) fn new(weights: &[f32], outputs: usize, taps: usize) -> Kernel {
        let inputs = weights.len() / outputs / taps;
        Kernel::by(outputs, inputs, taps, |output, input, tap| {
            weights[(output * inputs + input) * taps + tap]
        })
    }

    /// The convolution that leads back from gradients of the outputs of a tensor
    /// `[outputs, inputs, taps]` to those of its inputs.
    pub(crate) fn backwards(weights: &[f32], outputs: usize, taps: usize) -> Kernel {
        let inputs = weights.len() / outputs / taps;
        Kernel::by(inputs, outputs, taps, |input, output, tap| {
            weights[(output * inputs + input) * taps + taps - 1 - tap]
        })
    }

    fn by(
        outputs: usize,
        inputs: usize,
        taps: usize,
        weight: impl Fn(usize, usize, usize) -> f32,
    ) -> Kernel {
        let mut weights = Vec::with_capacity(outputs.div_ceil(PANEL) * taps * inputs);
        for panel in 0..outputs.div_ceil(PANEL) {
            for tap in 0..taps {
                weights.extend((0..inputs).map(|input| {
                    array::from_fn::<f32, PANEL, _>(|place| match panel * PANEL + place {
                        output if output < outputs => weight(output, input, tap),
                        _ => 0.0,
                    })
                }));
            }
        }
        Kernel { inputs, outputs, weights }
    }

    pub(crate) fn inputs(&self) -> usize {
        self.inputs
    }

    pub(crate) fn outputs(&self) -> usize {
        self.outputs
    }

    /// Convolves sixteen positions: `[cell][input]` to `[cell][output]`. What is stored as an
    /// output is left to `finish`, who gets its channel, what is stored there
    /// and the sum.
    pub(crate) fn convolve(
        &self,
        windows: &Windows,
        input: &[Lanes],
        output: &mut [Lanes],
        finish: impl Fn(usize, Lanes, Lanes) -> Lanes,
    ) {
        let panels = self.weights.chunks_exact(windows.taps * self.inputs);
        for (panel, weights) in panels.enumerate() {
            let first = panel * PANEL;
            let channels = first..self.outputs.min(first + PANEL);
            for (cell, covered) in windows.covered.iter().enumerate() {
                let mut sums = [[0.0; LANES]; PANEL];
                for &(tap, neighbour) in covered {
                    let weights = &weights[tap * self.inputs..][..self.inputs];
                    let input = &input[neighbour * self.inputs..][..self.inputs];
                    add_products(weights, input, &mut sums);
                }
                for (channel, sum) in channels.clone().zip(sums) {
                    let index = cell * self.outputs + channel;
                    output[index] = finish(channel, output[index], sum);
                }
            }
        }
    }
}

/// The memory in which gradients of weights are computed, used again for the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct WeightGradients {
    input: Vec<[f32; PANEL]>,
    output_gradient: Vec<Lanes>,
}

impl WeightGradients {
    /// Adds to the gradient of a tensor `[outputs, inputs, taps]` what sixteen positions
    /// contribute, given the inputs of its convolution and the gradients of its outputs.
    pub(crate) fn add(
        &mut self,
        windows: &Windows,
        input: &[Lanes],
        output_gradient: &[Lanes],
        gradient: &mut [f32],
    ) {
        let (cells, taps) = (windows.cells(), windows.taps);
        let (inputs, outputs) = (input.len() / cells, output_gradient.len() / cells);
        // Here the sum runs over positions, so they become the outer index of both factors.
        by_position(input, inputs, &mut self.input);
        by_position(output_gradient, outputs, &mut self.output_gradient);
        let mut sums = vec![[[0.0; LANES]; PANEL]; taps];
        let output_panels = self.output_gradient.chunks_exact(cells * LANES).enumerate();
        for (output_panel, output_gradient) in output_panels {
            for (input_panel, input) in self.input.chunks_exact(cells * LANES).enumerate() {
                sums.fill([[0.0; LANES]; PANEL]);
                for (cell, covered) in windows.covered.iter().enumerate() {
                    let output_gradient = &output_gradient[cell * LANES..][..LANES];
                    for &(tap, neighbour) in covered {
                        let input = &input[neighbour * LANES..][..LANES];
                        add_products(input, output_gradient, &mut sums[tap]);
                    }
                }
                for (tap, sums) in sums.iter().enumerate() {
                    for (input, sums) in (input_panel * PANEL..inputs).zip(sums) {
                        for (output, sum) in (output_panel * LANES..outputs).zip(sums) {
                            gradient[(output * inputs + input) * taps + tap] += sum;
                        }
                    }
                }
            }
        }
    }
}

/// `[cell][channel][position]` as `[panel of channels][cell][position][channel of the panel]`.
fn by_position<const WIDTH: usize>(
    data: &[Lanes],
    channels: usize,
    result: &mut Vec<[f32; WIDTH]>,
) {
    result.clear();
    for first in (0..channels).step_by(WIDTH) {
        let width = WIDTH.min(channels - first);
        for cell in data.chunks_exact(channels) {
            let panel = &cell[first..first + width];
            result.extend((0..LANES).map(|lane| {
                let mut row = [0.0; WIDTH];
                for (number, lanes) in row.iter_mut().zip(panel) {
                    *number = lanes[lane];
                }
                row
            }));
        }
    }
}

/// Adds the products of pairs of a few numbers and a `Lanes`: all the time goes here.
#[inline(always)]
#[allow(clippy::inline_always, reason = "the sums are to stay in registers from call to call")]
fn add_products(factors: &[[f32; PANEL]], lanes: &[Lanes], sums: &mut [Lanes; PANEL]) {
    let mut local = *sums;
    for (factors, lanes) in factors.iter().zip(lanes) {
        for (sums, factor) in local.iter_mut().zip(factors) {
            for (sum, number) in sums.iter_mut().zip(lanes) {
                *sum = multiply_add(*factor, *number, *sum);
            }
        }
    }
    *sums = local;
}

/// `a * b + c`, in one instruction where there is one; elsewhere that would be a slow function.
#[inline(always)]
#[allow(clippy::inline_always, reason = "it is one instruction")]
fn multiply_add(a: f32, b: f32, c: f32) -> f32 {
    if cfg!(any(target_feature = "fma", target_arch = "aarch64")) {
        a.mul_add(b, c)
    } else {
        a * b + c
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    fn random(rng: &mut Rng, len: usize) -> Vec<f32> {
        (0..len).map(|_| rng.f32() - 0.5).collect()
    }

    fn random_lanes(rng: &mut Rng, len: usize) -> Vec<Lanes> {
        (0..len).map(|_| array::from_fn(|_| rng.f32() - 0.5)).collect()
    }

    struct Case {
        cols: usize,
        rows: usize,
        side: usize,
        inputs: usize,
        outputs: usize,
    }

    const CASES: [Case; 4] = [
        Case { cols: 7, rows: 6, side: 3, inputs: 8, outputs: 20 },
        Case { cols: 5, rows: 4, side: 3, inputs: 3, outputs: 5 },
        Case { cols: 7, rows: 6, side: 1, inputs: 6, outputs: 3 },
        Case { cols: 1, rows: 1, side: 1, inputs: 42, outputs: 7 },
    ];

    impl Case {
        /// Calls back with the indices of every product of the convolution.
        fn products(&self, mut visit: impl FnMut(usize, usize, usize)) {
            let (cols, rows, side) = (self.cols as i32, self.rows as i32, self.side as i32);
            for (y, x) in (0..rows).flat_map(|y| (0..cols).map(move |x| (y, x))) {
                for (dy, dx) in (0..side).flat_map(|dy| (0..side).map(move |dx| (dy, dx))) {
                    let (ny, nx) = (y + dy - side / 2, x + dx - side / 2);
                    if !(0..rows).contains(&ny) || !(0..cols).contains(&nx) {
                        continue;
                    }
                    let (cell, neighbour) = ((y * cols + x) as usize, (ny * cols + nx) as usize);
                    for output in 0..self.outputs {
                        for input in 0..self.inputs {
                            let tap = (dy * side + dx) as usize;
                            let weight =
                                (output * self.inputs + input) * self.side * self.side + tap;
                            visit(
                                cell * self.outputs + output,
                                neighbour * self.inputs + input,
                                weight,
                            );
                        }
                    }
                }
            }
        }
    }

    fn assert_close(found: &[f32], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
            assert!((f64::from(*found) - expected).abs() < 1e-4, "{index}: {found} {expected}");
        }
    }

    #[test]
    fn convolutions_and_their_gradients_are_those_of_the_definition() {
        let mut rng = Rng::with_seed(1);
        for case in CASES {
            let (cells, taps) = (case.cols * case.rows, case.side * case.side);
            let windows = Windows::new(case.cols, case.rows, case.side);
            let weights = random(&mut rng, case.outputs * case.inputs * taps);
            let input = random_lanes(&mut rng, cells * case.inputs);
            let output_gradient = random_lanes(&mut rng, cells * case.outputs);
            let mut output = vec![[0.0; LANES]; cells * case.outputs];
            let kernel = Kernel::new(&weights, case.outputs, taps);
            kernel.convolve(&windows, &input, &mut output, |_, _, sum| sum);
            let mut input_gradient = vec![[0.0; LANES]; cells * case.inputs];
            Kernel::backwards(&weights, case.outputs, taps).convolve(
                &windows,
                &output_gradient,
                &mut input_gradient,
                |_, _, sum| sum,
            );
            let mut weight_gradient = vec![0.0; weights.len()];
            let mut gradients = WeightGradients::default();
            gradients.add(&windows, &input, &output_gradient, &mut weight_gradient);

            let mut expected_weight_gradient = vec![0.0; weights.len()];
            for lane in 0..LANES {
                let mut expected_output = vec![0.0; output.len()];
                let mut expected_input_gradient = vec![0.0; input.len()];
                case.products(|o, i, w| {
                    let (x, weight) = (f64::from(input[i][lane]), f64::from(weights[w]));
                    let gradient = f64::from(output_gradient[o][lane]);
                    expected_output[o] += weight * x;
                    expected_input_gradient[i] += weight * gradient;
                    expected_weight_gradient[w] += x * gradient;
                });
                let lane_of = |data: &[Lanes]| data.iter().map(|x| x[lane]).collect::<Vec<_>>();
                assert_close(&lane_of(&output), &expected_output);
                assert_close(&lane_of(&input_gradient), &expected_input_gradient);
            }
            assert_close(&weight_gradient, &expected_weight_gradient);
        }
    }
}
