//! A reference implementation of the network: slow, in double precision, without folding.

use claimeven_game::{Column, Position, Ruleset, Setup};
use claimeven_zero::{Architecture, Evaluator, Inference, InputEncoding, Network, Role, ValueHead};
use fastrand::Rng;

/// The channels of a board, each with one number per cell, row by row from the bottom.
type Planes = Vec<Vec<f64>>;

struct Naive<'a> {
    network: &'a Network,
    cols: usize,
    rows: usize,
}

impl Naive<'_> {
    fn tensor(&self, name: &str) -> Vec<f64> {
        let shapes = self.network.architecture().tensors();
        let index = shapes.iter().position(|tensor| tensor.name == name).unwrap();
        self.network.tensors()[index].iter().map(|&number| number.into()).collect()
    }

    fn planes(&self, position: &Position) -> Planes {
        let encoding = self.network.architecture().encoding;
        let mut planes = vec![vec![0.0; self.cols * self.rows]; encoding.planes()];
        let player = position.player();
        for column in Column::all(position.setup()) {
            let mut is_open = true;
            for row in 0..self.rows {
                let cell = claimeven_game::Cell { column, row: row as u8 };
                let index = row * self.cols + column.index();
                match position.disc(cell) {
                    Some(owner) if owner == player => planes[0][index] = 1.0,
                    Some(_) => planes[1][index] = 1.0,
                    None if is_open => {
                        planes[2][index] = 1.0;
                        is_open = false;
                    }
                    None => {}
                }
                let is_first = player == claimeven_game::Player::First;
                planes[3][index] = if is_first { 1.0 } else { -1.0 };
                if encoding == InputEncoding::Threats {
                    planes[6][index] = (row % 2) as f64;
                }
            }
        }
        if encoding == InputEncoding::Threats {
            for (plane, player) in [(4, player), (5, player.opponent())] {
                for cell in position.threats(player) {
                    planes[plane][usize::from(cell.row) * self.cols + cell.column.index()] = 1.0;
                }
            }
        }
        planes
    }

    /// A convolution with its batch normalisation.
    fn conv(&self, name: &str, input: &Planes, side: i32) -> Planes {
        let part = |part: &str| self.tensor(&format!("{name}.{part}"));
        let (weights, gain, bias) = (part("conv"), part("gain"), part("bias"));
        let (mean, variance) = (part("mean"), part("variance"));
        let taps = (side * side) as usize;
        let (cols, rows) = (self.cols as i32, self.rows as i32);
        let cell = |output: usize, x: i32, y: i32| {
            let mut sum = 0.0;
            for (channel, plane) in input.iter().enumerate() {
                for tap in 0..side * side {
                    let (nx, ny) = (x + tap % side - side / 2, y + tap / side - side / 2);
                    if (0..cols).contains(&nx) && (0..rows).contains(&ny) {
                        let weight =
                            weights[(output * input.len() + channel) * taps + tap as usize];
                        sum += weight * plane[(ny * cols + nx) as usize];
                    }
                }
            }
            gain[output] * (sum - mean[output]) / (variance[output] + 1e-5).sqrt() + bias[output]
        };
        (0..gain.len())
            .map(|output| (0..cols * rows).map(|i| cell(output, i % cols, i / cols)).collect())
            .collect()
    }

    fn dense(&self, name: &str, input: &[f64]) -> Vec<f64> {
        let weights = self.tensor(&format!("{name}.weight"));
        let bias = self.tensor(&format!("{name}.bias"));
        let rows = weights.chunks(input.len());
        rows.zip(bias)
            .map(|(row, bias)| row.iter().zip(input).map(|(a, b)| a * b).sum::<f64>() + bias)
            .collect()
    }

    /// The probabilities of the columns and the expected result.
    fn evaluate(&self, position: &Position) -> (Vec<f64>, f64) {
        let mut tower = relu(self.conv("stem", &self.planes(position), 3));
        for block in 0..self.network.architecture().blocks {
            let inner = relu(self.conv(&format!("block{block}.first"), &tower, 3));
            let mut outer = self.conv(&format!("block{block}.second"), &inner, 3);
            for (outer, tower) in outer.iter_mut().flatten().zip(tower.iter().flatten()) {
                *outer += tower;
            }
            tower = relu(outer);
        }
        let head = |name: &str| by_cell(&relu(self.conv(name, &tower, 1)));
        let logits = self.dense("policy.columns", &head("policy"));
        let legal: Vec<usize> = position.legal().map(Column::index).collect();
        let weight =
            |column: usize| if legal.contains(&column) { logits[column].exp() } else { 0.0 };
        let weights: Vec<f64> = (0..logits.len()).map(weight).collect();
        let sum: f64 = weights.iter().sum();
        let policy = weights.iter().map(|weight| weight / sum).collect();

        let hidden = self.dense("value.hidden", &head("value"));
        let hidden: Vec<f64> = hidden.into_iter().map(|number| number.max(0.0)).collect();
        let result = self.dense("value.result", &hidden);
        let expected = match self.network.architecture().value {
            ValueHead::Tanh => 0.5 * (1.0 + result[0].tanh()),
            ValueHead::Wdl => {
                let weights: Vec<f64> = result.iter().map(|logit| logit.exp()).collect();
                (weights[0] + 0.5 * weights[1]) / weights.iter().sum::<f64>()
            }
        };
        (policy, expected)
    }
}

fn relu(planes: Planes) -> Planes {
    let clip = |plane: Vec<f64>| plane.into_iter().map(|number| number.max(0.0)).collect();
    planes.into_iter().map(clip).collect()
}

/// The inputs of a dense layer: cell by cell, all channels of each.
fn by_cell(planes: &Planes) -> Vec<f64> {
    (0..planes[0].len()).flat_map(|cell| planes.iter().map(move |plane| plane[cell])).collect()
}

/// A network whose numbers are all different, made by editing its file.
fn random_network(architecture: Architecture, random: &mut Rng) -> Network {
    let network = Network::new(architecture, random.u64(..)).unwrap();
    let mut bytes = network.to_bytes();
    // Gains, biases, means and variances of a new network are all 0 or 1. They are at known places
    // in the file, and each of them is changed a little.
    let shapes = architecture.tensors();
    let header = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let text: serde_json::Value = serde_json::from_slice(&bytes[8..header]).unwrap();
    for tensor in shapes.iter().filter(|tensor| tensor.role != Role::Weight) {
        let place = text[&tensor.name]["data_offsets"][0].as_u64().unwrap() as usize;
        for index in 0..tensor.len() {
            let number = &mut bytes[header + place + 4 * index..][..4];
            let old = f32::from_le_bytes((&*number).try_into().unwrap());
            let new = old + 0.5 * (random.f32() - 0.5);
            number.copy_from_slice(&new.to_le_bytes());
        }
    }
    Network::from_bytes(&bytes).unwrap()
}

#[test]
fn inference_matches_the_reference_implementation() {
    let mut random = Rng::with_seed(7);
    let small = Setup::new(5, 4, 4, Ruleset::Standard).unwrap();
    let wide = Setup::new(9, 8, 5, Ruleset::Lines).unwrap();
    let tanh = Architecture {
        value: ValueHead::Tanh,
        value_channels: 3,
        value_hidden: 30,
        policy_channels: 10,
        ..Architecture::new(small, 1, 6)
    };
    for architecture in [
        Architecture::new(Setup::STANDARD, 3, 12),
        tanh,
        Architecture::new(wide, 0, 5),
        Architecture::new(small, 2, 17),
    ] {
        let setup = architecture.setup().unwrap();
        let network = random_network(architecture, &mut random);
        let naive =
            Naive { network: &network, cols: setup.cols().into(), rows: setup.rows().into() };
        // More than one batch of sixteen, the last of them not full.
        let positions: Vec<Position> = (0..19)
            .map(|_| {
                let mut position = Position::new(setup);
                for _ in 0..random.usize(..10) {
                    let mut after = position;
                    let legal: Vec<Column> = position.legal().collect();
                    after.play(*random.choice(&legal).unwrap()).unwrap();
                    if after.outcome().is_none() {
                        position = after;
                    }
                }
                position
            })
            .collect();
        let mut evaluations = Vec::new();
        Inference::new(&network).evaluate(&positions, &mut evaluations);
        for (position, evaluation) in positions.iter().zip(&evaluations) {
            let (policy, expected) = naive.evaluate(position);
            for (found, policy) in evaluation.policy.iter().zip(&policy) {
                assert!((f64::from(*found) - policy).abs() < 1e-4, "{evaluation:?} {policy:?}");
            }
            let found = f64::from(evaluation.value.expected());
            assert!((found - expected).abs() < 1e-4, "{found} {expected}");
        }
    }
}
