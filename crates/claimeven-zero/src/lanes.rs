//! Convolutions of sixteen positions at a time: the arithmetic of inference and training.
//!
//! The innermost index of all data is the position: sixteen positions side by side are a
//! [`Lanes`], two vector registers of eight numbers. A layer is then a sum of weights times
//! `Lanes`, without edge cases, shuffles or copies of the input (`im2col`), and cells beyond the
//! edge of the board are skipped rather than multiplied by 0. The convolutions reach 90 % of the
//! processor's peak multiply-add rate.
//!
//! # Vector instructions
//!
//! The loops are plain Rust that the compiler vectorises. On x86-64 each is compiled twice, for
//! AVX2 with FMA and for the target's baseline, and [`has_fma`] picks one at run time. With AVX-512,
//! where a `Lanes` is one register, convolutions have a third version, twice as fast, and the gradients
//! of weights one that takes about three quarters of the time.
//! All versions add in the same order. They differ in [`multiply_add`] alone: a fused
//! multiply-add rounds once, a multiplication and an addition round twice. Processors with FMA
//! (x86-64 since 2013 to 2015, all of aarch64) therefore compute the same networks bit for bit;
//! others agree with them to about six digits, and with each other bit for bit. With
//! `CLAIMEVEN_PORTABLE` in its environment, a program behaves as on a processor without FMA.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_set1_ps, _mm512_setzero_ps, _mm512_storeu_ps,
};
use std::array;
#[cfg(target_arch = "x86_64")]
use std::sync::LazyLock;

/// One number for each of sixteen positions.
pub(crate) type Lanes = [f32; LANES];

/// The number of positions computed side by side.
pub(crate) const LANES: usize = 16;

/// Outputs accumulated together: with two registers each, eight of the sixteen registers, enough to
/// hide the latency of a multiply-add.
const PANEL: usize = 4;

/// Outputs accumulated together with AVX-512: half of its 32 registers.
const WIDE_PANEL: usize = 16;

/// Whether multiply-adds are fused: known at compile time, or by asking the processor once.
#[inline]
pub(crate) fn has_fma() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        static HAS_FMA: LazyLock<bool> = LazyLock::new(|| {
            !claimeven_solver::is_portable()
                && is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
        });
        *HAS_FMA
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        cfg!(target_arch = "aarch64")
    }
}

/// Whether the processor has AVX-512, whose sums are those of AVX2 with FMA, bit for bit.
#[inline]
fn has_avx512() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        static HAS_AVX512: LazyLock<bool> =
            LazyLock::new(|| has_fma() && is_x86_feature_detected!("avx512f"));
        *HAS_AVX512
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// The name of this processor's arithmetic. Processors with the same name compute the same networks,
/// evaluations and games, bit for bit.
pub fn arithmetic() -> &'static str {
    if has_fma() { "fused" } else { "unfused" }
}

/// Compiles a function for AVX2 and for the baseline, and calls the one that the processor
/// supports. Neither fuses multiplications and additions, so both give the same bits.
macro_rules! vectorised {
    ($(#[$attribute:meta])* $visibility:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) $body:block) => {
        $(#[$attribute])*
        $visibility fn $name($($argument: $type),*) {
            #[inline(always)]
            #[allow(clippy::inline_always, reason = "it takes on the features of its caller")]
            fn baseline($($argument: $type),*) $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma")]
                fn avx2($($argument: $type),*) {
                    baseline($($argument),*);
                }
                if $crate::lanes::has_fma() {
                    // SAFETY: the processor has AVX2 and FMA, as just checked.
                    #[allow(unsafe_code, reason = "calls of functions with target features")]
                    return unsafe { avx2($($argument),*) };
                }
            }
            baseline($($argument),*);
        }
    };
}
pub(crate) use vectorised;

/// The cells of a board, row by row, and which of them a convolution's kernel covers around each.
#[derive(Clone, Debug)]
pub(crate) struct KernelGrid {
    /// The number of kernel elements: 9 or 1.
    taps: usize,
    /// For each cell, the kernel elements that are on the board, and their cells.
    covered: Vec<Vec<(usize, usize)>>,
    /// For each kernel element, the cells around which it is on the board, and its cells.
    covered_by_tap: Vec<Vec<(usize, usize)>>,
}

impl KernelGrid {
    /// Kernels of `side` x `side` cells, where `side` is odd.
    pub(crate) fn new(cols: usize, rows: usize, side: usize) -> KernelGrid {
        let margin = side / 2;
        let around = |cell: usize| {
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
        let covered: Vec<_> = (0..cols * rows).map(around).collect();
        let mut covered_by_tap = vec![Vec::new(); side * side];
        for (cell, covered) in covered.iter().enumerate() {
            for &(tap, neighbour) in covered {
                covered_by_tap[tap].push((cell, neighbour));
            }
        }
        KernelGrid { taps: side * side, covered, covered_by_tap }
    }

    /// The single cell of a dense layer, whose inputs are all its channels.
    pub(crate) fn single() -> KernelGrid {
        KernelGrid::new(1, 1, 1)
    }

    pub(crate) fn cells(&self) -> usize {
        self.covered.len()
    }
}

/// The weights of a convolution, in the order in which they are used.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    inputs: usize,
    outputs: usize,
    /// By output panel, kernel element and input.
    weights: Vec<[f32; PANEL]>,
    /// The same in wide panels; empty without AVX-512.
    wide_weights: Vec<[f32; WIDE_PANEL]>,
}

impl Kernel {
    /// Reorders the weights of a tensor `[outputs, inputs, taps]`.
    pub(crate) fn new(weights: &[f32], outputs: usize, taps: usize) -> Kernel {
        let inputs = weights.len() / outputs / taps;
        Kernel::by(outputs, inputs, taps, |output, input, tap| {
            weights[(output * inputs + input) * taps + tap]
        })
    }

    /// The transposed convolution, from gradients of the outputs of a tensor `[outputs, inputs,
    /// taps]` to those of its inputs.
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
        fn panels<const WIDTH: usize>(
            [outputs, inputs, taps]: [usize; 3],
            weight: &impl Fn(usize, usize, usize) -> f32,
        ) -> Vec<[f32; WIDTH]> {
            let mut weights = Vec::with_capacity(outputs.div_ceil(WIDTH) * taps * inputs);
            for panel in 0..outputs.div_ceil(WIDTH) {
                for tap in 0..taps {
                    weights.extend((0..inputs).map(|input| {
                        array::from_fn::<f32, WIDTH, _>(|place| match panel * WIDTH + place {
                            output if output < outputs => weight(output, input, tap),
                            _ => 0.0,
                        })
                    }));
                }
            }
            weights
        }
        let size = [outputs, inputs, taps];
        let weights = panels(size, &weight);
        let wide_weights = if has_avx512() { panels(size, &weight) } else { Vec::new() };
        Kernel { inputs, outputs, weights, wide_weights }
    }

    pub(crate) fn inputs(&self) -> usize {
        self.inputs
    }

    pub(crate) fn outputs(&self) -> usize {
        self.outputs
    }

    /// Convolves sixteen positions: `[cell][input]` to `[cell][output]`. `finish` computes the
    /// output from the channel, the number stored there and the sum.
    pub(crate) fn convolve(
        &self,
        grid: &KernelGrid,
        input: &[Lanes],
        output: &mut [Lanes],
        finish: impl Fn(usize, Lanes, Lanes) -> Lanes,
    ) {
        if !has_fma() {
            return self.convolve_with::<false>(grid, input, output, finish);
        }
        #[cfg(target_arch = "x86_64")]
        {
            // SAFETY: the processor has AVX2 and FMA, and AVX-512 where it is used, as just checked.
            #[allow(unsafe_code, reason = "calls of functions with target features")]
            unsafe {
                if has_avx512() {
                    self.convolve_avx512(grid, input, output, finish);
                } else {
                    self.convolve_avx2(grid, input, output, finish);
                }
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        self.convolve_with::<true>(grid, input, output, finish);
    }

    /// Sixteen outputs at a time, one register each. The compiler does not vectorise this by itself.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx2,fma")]
    fn convolve_avx512(
        &self,
        grid: &KernelGrid,
        input: &[Lanes],
        output: &mut [Lanes],
        finish: impl Fn(usize, Lanes, Lanes) -> Lanes,
    ) {
        let panels = self.wide_weights.chunks_exact(grid.taps * self.inputs);
        for (panel, weights) in panels.enumerate() {
            for (cell, covered) in grid.covered.iter().enumerate() {
                let mut sums = [_mm512_setzero_ps(); WIDE_PANEL];
                for &(tap, neighbour) in covered {
                    let weights = &weights[tap * self.inputs..][..self.inputs];
                    let input = &input[neighbour * self.inputs..][..self.inputs];
                    for (weights, lanes) in weights.iter().zip(input) {
                        // SAFETY: a `Lanes` has as many numbers as the register.
                        #[allow(unsafe_code, reason = "a load from a pointer")]
                        let lanes = unsafe { _mm512_loadu_ps(lanes.as_ptr()) };
                        for (sum, weight) in sums.iter_mut().zip(weights) {
                            *sum = _mm512_fmadd_ps(_mm512_set1_ps(*weight), lanes, *sum);
                        }
                    }
                }
                let output = &mut output[cell * self.outputs..][..self.outputs];
                for (channel, register) in (panel * WIDE_PANEL..self.outputs).zip(sums) {
                    let mut sum = [0.0; LANES];
                    // SAFETY: a `Lanes` has as many numbers as the register.
                    #[allow(unsafe_code, reason = "a store to a pointer")]
                    unsafe {
                        _mm512_storeu_ps(sum.as_mut_ptr(), register);
                    }
                    output[channel] = finish(channel, output[channel], sum);
                }
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn convolve_avx2(
        &self,
        grid: &KernelGrid,
        input: &[Lanes],
        output: &mut [Lanes],
        finish: impl Fn(usize, Lanes, Lanes) -> Lanes,
    ) {
        self.convolve_with::<true>(grid, input, output, finish);
    }

    #[inline(always)]
    #[allow(clippy::inline_always, reason = "it takes on the features of its caller")]
    fn convolve_with<const FUSED: bool>(
        &self,
        grid: &KernelGrid,
        input: &[Lanes],
        output: &mut [Lanes],
        finish: impl Fn(usize, Lanes, Lanes) -> Lanes,
    ) {
        let panels = self.weights.chunks_exact(grid.taps * self.inputs);
        for (panel, weights) in panels.enumerate() {
            let first = panel * PANEL;
            let channels = first..self.outputs.min(first + PANEL);
            for (cell, covered) in grid.covered.iter().enumerate() {
                let mut sums = [[0.0; LANES]; PANEL];
                for &(tap, neighbour) in covered {
                    let weights = &weights[tap * self.inputs..][..self.inputs];
                    let input = &input[neighbour * self.inputs..][..self.inputs];
                    add_products::<FUSED>(weights, input, &mut sums);
                }
                for (channel, sum) in channels.clone().zip(sums) {
                    let index = cell * self.outputs + channel;
                    output[index] = finish(channel, output[index], sum);
                }
            }
        }
    }
}

/// Buffers for the gradients of weights.
#[derive(Clone, Debug, Default)]
pub(crate) struct WeightGradients {
    input: Vec<[f32; PANEL]>,
    #[cfg(target_arch = "x86_64")]
    wide_input: Vec<[f32; WIDE_PANEL]>,
    output_gradient: Vec<Lanes>,
}

impl WeightGradients {
    /// Adds the contribution of sixteen positions to the gradient of a tensor `[outputs, inputs,
    /// taps]`, given the inputs of its convolution and the gradients of its outputs.
    pub(crate) fn add(
        &mut self,
        grid: &KernelGrid,
        input: &[Lanes],
        output_gradient: &[Lanes],
        gradient: &mut [f32],
    ) {
        if !has_fma() {
            return self.add_with::<false>(grid, input, output_gradient, gradient);
        }
        #[cfg(target_arch = "x86_64")]
        {
            // SAFETY: the processor has AVX2 and FMA, and AVX-512 where it is used, as just checked.
            #[allow(unsafe_code, reason = "calls of functions with target features")]
            unsafe {
                if has_avx512() {
                    self.add_avx512(grid, input, output_gradient, gradient);
                } else {
                    self.add_avx2(grid, input, output_gradient, gradient);
                }
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        self.add_with::<true>(grid, input, output_gradient, gradient);
    }

    /// Sixteen inputs and sixteen outputs at a time: the sums of a kernel element stay in registers.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx2,fma")]
    fn add_avx512(
        &mut self,
        grid: &KernelGrid,
        input: &[Lanes],
        output_gradient: &[Lanes],
        gradient: &mut [f32],
    ) {
        let (cells, taps) = (grid.cells(), grid.taps);
        let (inputs, outputs) = (input.len() / cells, output_gradient.len() / cells);
        by_position(input, inputs, &mut self.wide_input);
        by_position(output_gradient, outputs, &mut self.output_gradient);
        let output_panels = self.output_gradient.chunks_exact(cells * LANES).enumerate();
        for (output_panel, output_gradient) in output_panels {
            for (input_panel, input) in self.wide_input.chunks_exact(cells * LANES).enumerate() {
                for (tap, covered) in grid.covered_by_tap.iter().enumerate() {
                    let mut sums = [_mm512_setzero_ps(); WIDE_PANEL];
                    for &(cell, neighbour) in covered {
                        let output_gradient = &output_gradient[cell * LANES..][..LANES];
                        let input = &input[neighbour * LANES..][..LANES];
                        for (factors, lanes) in input.iter().zip(output_gradient) {
                            // SAFETY: a `Lanes` has as many numbers as the register.
                            #[allow(unsafe_code, reason = "a load from a pointer")]
                            let lanes = unsafe { _mm512_loadu_ps(lanes.as_ptr()) };
                            for (sum, factor) in sums.iter_mut().zip(factors) {
                                *sum = _mm512_fmadd_ps(_mm512_set1_ps(*factor), lanes, *sum);
                            }
                        }
                    }
                    for (input, register) in (input_panel * WIDE_PANEL..inputs).zip(sums) {
                        let mut sums = [0.0; LANES];
                        // SAFETY: a `Lanes` has as many numbers as the register.
                        #[allow(unsafe_code, reason = "a store to a pointer")]
                        unsafe {
                            _mm512_storeu_ps(sums.as_mut_ptr(), register);
                        }
                        for (output, sum) in (output_panel * LANES..outputs).zip(sums) {
                            gradient[(output * inputs + input) * taps + tap] += sum;
                        }
                    }
                }
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn add_avx2(
        &mut self,
        grid: &KernelGrid,
        input: &[Lanes],
        output_gradient: &[Lanes],
        gradient: &mut [f32],
    ) {
        self.add_with::<true>(grid, input, output_gradient, gradient);
    }

    #[inline(always)]
    #[allow(clippy::inline_always, reason = "it takes on the features of its caller")]
    fn add_with<const FUSED: bool>(
        &mut self,
        grid: &KernelGrid,
        input: &[Lanes],
        output_gradient: &[Lanes],
        gradient: &mut [f32],
    ) {
        let (cells, taps) = (grid.cells(), grid.taps);
        let (inputs, outputs) = (input.len() / cells, output_gradient.len() / cells);
        // Here the sum is over positions, so they become the outer index of both factors.
        by_position(input, inputs, &mut self.input);
        by_position(output_gradient, outputs, &mut self.output_gradient);
        let mut sums = vec![[[0.0; LANES]; PANEL]; taps];
        let output_panels = self.output_gradient.chunks_exact(cells * LANES).enumerate();
        for (output_panel, output_gradient) in output_panels {
            for (input_panel, input) in self.input.chunks_exact(cells * LANES).enumerate() {
                sums.fill([[0.0; LANES]; PANEL]);
                for (cell, covered) in grid.covered.iter().enumerate() {
                    let output_gradient = &output_gradient[cell * LANES..][..LANES];
                    for &(tap, neighbour) in covered {
                        let input = &input[neighbour * LANES..][..LANES];
                        add_products::<FUSED>(input, output_gradient, &mut sums[tap]);
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

/// Transposes `[cell][channel][position]` to `[panel of channels][cell][position][channel of the
/// panel]`.
#[inline(always)]
#[allow(clippy::inline_always, reason = "it takes on the features of its caller")]
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

/// Adds the products of pairs of a few numbers and a `Lanes`: the inner loop of everything.
#[inline(always)]
#[allow(clippy::inline_always, reason = "the sums are to stay in registers from call to call")]
fn add_products<const FUSED: bool>(
    factors: &[[f32; PANEL]],
    lanes: &[Lanes],
    sums: &mut [Lanes; PANEL],
) {
    let mut local = *sums;
    for (factors, lanes) in factors.iter().zip(lanes) {
        for (sums, factor) in local.iter_mut().zip(factors) {
            for (sum, number) in sums.iter_mut().zip(lanes) {
                *sum = multiply_add::<FUSED>(*factor, *number, *sum);
            }
        }
    }
    *sums = local;
}

/// `a * b + c`, rounded once if fused. Without an FMA instruction, fusing would be a slow function
/// call.
#[inline(always)]
#[allow(clippy::inline_always, reason = "it is one instruction")]
fn multiply_add<const FUSED: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
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

    const CASES: [Case; 5] = [
        Case { cols: 7, rows: 6, side: 3, inputs: 8, outputs: 20 },
        Case { cols: 7, rows: 6, side: 3, inputs: 32, outputs: 39 },
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
    fn convolutions_and_gradients_match_their_definition() {
        let mut rng = Rng::with_seed(1);
        for case in CASES {
            let (cells, taps) = (case.cols * case.rows, case.side * case.side);
            let grid = KernelGrid::new(case.cols, case.rows, case.side);
            let weights = random(&mut rng, case.outputs * case.inputs * taps);
            let input = random_lanes(&mut rng, cells * case.inputs);
            let output_gradient = random_lanes(&mut rng, cells * case.outputs);
            let mut output = vec![[0.0; LANES]; cells * case.outputs];
            let kernel = Kernel::new(&weights, case.outputs, taps);
            kernel.convolve(&grid, &input, &mut output, |_, _, sum| sum);
            let mut input_gradient = vec![[0.0; LANES]; cells * case.inputs];
            Kernel::backwards(&weights, case.outputs, taps).convolve(
                &grid,
                &output_gradient,
                &mut input_gradient,
                |_, _, sum| sum,
            );
            let mut weight_gradient = vec![0.0; weights.len()];
            let mut gradients = WeightGradients::default();
            gradients.add(&grid, &input, &output_gradient, &mut weight_gradient);

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

    /// All results of a case: outputs, gradients of inputs and of weights.
    fn results<const FUSED: bool>(case: &Case, seed: u64, is_dispatched: bool) -> Vec<f32> {
        let mut rng = Rng::with_seed(seed);
        let (cells, taps) = (case.cols * case.rows, case.side * case.side);
        let grid = KernelGrid::new(case.cols, case.rows, case.side);
        let weights = random(&mut rng, case.outputs * case.inputs * taps);
        let input = random_lanes(&mut rng, cells * case.inputs);
        let output_gradient = random_lanes(&mut rng, cells * case.outputs);
        let mut output = vec![[0.0; LANES]; cells * case.outputs];
        let mut weight_gradient = vec![0.0; weights.len()];
        let kernel = Kernel::new(&weights, case.outputs, taps);
        let mut gradients = WeightGradients::default();
        let add_up = |_: usize, old: Lanes, sum: Lanes| array::from_fn(|i| old[i] + sum[i]);
        if is_dispatched {
            kernel.convolve(&grid, &input, &mut output, add_up);
            gradients.add(&grid, &input, &output_gradient, &mut weight_gradient);
        } else {
            kernel.convolve_with::<FUSED>(&grid, &input, &mut output, add_up);
            gradients.add_with::<FUSED>(&grid, &input, &output_gradient, &mut weight_gradient);
        }
        output.into_iter().flatten().chain(weight_gradient).collect()
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn wide_registers_give_the_same_bits() {
        if !has_avx512() {
            return;
        }
        for (case, seed) in CASES.iter().zip(1..) {
            let mut rng = Rng::with_seed(seed);
            let (cells, taps) = (case.cols * case.rows, case.side * case.side);
            let grid = KernelGrid::new(case.cols, case.rows, case.side);
            let weights = random(&mut rng, case.outputs * case.inputs * taps);
            let kernel = Kernel::new(&weights, case.outputs, taps);
            let input = random_lanes(&mut rng, cells * case.inputs);
            let old = random_lanes(&mut rng, cells * case.outputs);
            let add_up = |channel: usize, old: Lanes, sum: Lanes| {
                array::from_fn(|lane| (old[lane] + sum[lane] + weights[channel]).max(0.0))
            };
            let (mut narrow, mut wide) = (old.clone(), old);
            // SAFETY: the processor has AVX-512, and so AVX2 and FMA.
            #[allow(unsafe_code, reason = "calls of functions with target features")]
            unsafe {
                kernel.convolve_avx2(&grid, &input, &mut narrow, add_up);
                kernel.convolve_avx512(&grid, &input, &mut wide, add_up);
            }
            let bits = |lanes: &[Lanes]| {
                lanes.as_flattened().iter().map(|x| x.to_bits()).collect::<Vec<_>>()
            };
            assert_eq!(bits(&narrow), bits(&wide));
        }
    }

    /// Built for a baseline without FMA (`RUSTFLAGS="-C target-cpu=x86-64"`), this compares vector
    /// instructions with scalar functions; otherwise it shows that dispatch changes nothing.
    #[test]
    fn vector_and_portable_code_give_the_same_bits() {
        for (case, seed) in CASES.iter().zip(1..) {
            let bits = |numbers: Vec<f32>| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            let (fused, unfused) =
                (results::<true>(case, seed, false), results::<false>(case, seed, false));
            let chosen = results::<true>(case, seed, true);
            let expected = if has_fma() { fused.clone() } else { unfused.clone() };
            assert_eq!(bits(chosen), bits(expected));
            // Sums of at most 672 products of numbers below 1/2, each rounded at 24 bits.
            for (fused, unfused) in fused.iter().zip(&unfused) {
                assert!((fused - unfused).abs() < 1e-4, "{fused} {unfused}");
            }
            assert_ne!(bits(fused), bits(unfused), "the case is too small to tell them apart");
        }
    }
}
