//! The shape of a network.

use std::fmt;

use claimeven_game::{Ruleset, Setup};
use serde::{Deserialize, Serialize};

use crate::planes::InputEncoding;

/// The game a network is for and the sizes of its parts.
///
/// A 3x3 convolution leads from the input planes into a tower of residual blocks, and from there
/// two heads of a 1x1 convolution and dense layers to the policy and the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Architecture {
    /// The board's columns.
    pub cols: u8,
    /// The board's rows.
    pub rows: u8,
    /// How many cells make a line.
    pub connect: u8,
    /// Whether the game is the one of most lines.
    pub lines: bool,
    /// The input planes. Networks saved under the field's former name still load.
    #[serde(default, alias = "view")]
    pub encoding: InputEncoding,
    /// Residual blocks, each of two 3x3 convolutions.
    pub blocks: usize,
    /// Channels of the tower.
    pub channels: usize,
    /// Channels of the policy head's convolution.
    pub policy_channels: usize,
    /// Channels of the value head's convolution.
    pub value_channels: usize,
    /// Width of the value head's hidden layer.
    pub value_hidden: usize,
    /// What the value head says.
    pub value: ValueHead,
}

/// What a value head says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ValueHead {
    /// The chances of a win, a draw and a loss.
    Wdl,
    /// One number from -1 to 1, by the hyperbolic tangent.
    Tanh,
}

impl ValueHead {
    /// How many numbers the last layer has.
    pub const fn outputs(self) -> usize {
        match self {
            ValueHead::Wdl => 3,
            ValueHead::Tanh => 1,
        }
    }
}

impl Architecture {
    /// A network with the usual heads.
    pub fn new(setup: Setup, blocks: usize, channels: usize) -> Architecture {
        Architecture {
            cols: setup.cols(),
            rows: setup.rows(),
            connect: setup.connect(),
            lines: setup.ruleset() == Ruleset::Lines,
            encoding: InputEncoding::Threats,
            blocks,
            channels,
            policy_channels: 16,
            value_channels: 8,
            value_hidden: 64,
            value: ValueHead::Wdl,
        }
    }

    /// The shape of the older project's network.
    pub fn of_older_project() -> Architecture {
        Architecture {
            policy_channels: 32,
            value_channels: 3,
            value_hidden: 32,
            value: ValueHead::Tanh,
            encoding: InputEncoding::Discs,
            ..Architecture::new(Setup::STANDARD, 19, 128)
        }
    }

    /// The game it is for, if the numbers are ones that a network can have.
    pub fn setup(&self) -> Result<Setup, ArchitectureError> {
        let ruleset = if self.lines { Ruleset::Lines } else { Ruleset::Standard };
        let sizes = [
            ("blocks", self.blocks, 0, 64),
            ("channels", self.channels, 1, 1024),
            ("policy_channels", self.policy_channels, 1, 1024),
            ("value_channels", self.value_channels, 1, 1024),
            ("value_hidden", self.value_hidden, 1, 4096),
        ];
        for (name, value, min, max) in sizes {
            if !(min..=max).contains(&value) {
                return Err(ArchitectureError::Size { name, value, min, max });
            }
        }
        Setup::new(self.cols, self.rows, self.connect, ruleset).map_err(ArchitectureError::Setup)
    }

    /// The number of cells of the board.
    pub fn cells(&self) -> usize {
        usize::from(self.cols) * usize::from(self.rows)
    }

    /// All tensors of such a network, in their order.
    pub fn tensors(&self) -> Vec<TensorShape> {
        let Architecture { channels, policy_channels, value_channels, value_hidden, .. } = *self;
        let cells = self.cells();
        let mut list = Vec::new();
        conv(&mut list, "stem", channels, self.encoding.planes(), 3);
        for block in 0..self.blocks {
            conv(&mut list, &format!("block{block}.first"), channels, channels, 3);
            conv(&mut list, &format!("block{block}.second"), channels, channels, 3);
        }
        conv(&mut list, "policy", policy_channels, channels, 1);
        dense(&mut list, "policy.columns", self.cols.into(), policy_channels * cells);
        conv(&mut list, "value", value_channels, channels, 1);
        dense(&mut list, "value.hidden", value_hidden, value_channels * cells);
        dense(&mut list, "value.result", self.value.outputs(), value_hidden);
        list
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{} for {}x{}", self.blocks, self.channels, self.cols, self.rows)
    }
}

/// One tensor of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorShape {
    /// Its name, which is unique.
    pub name: String,
    /// Its sizes, outputs before inputs.
    pub shape: Vec<usize>,
    /// What it is.
    pub role: Role,
}

impl TensorShape {
    /// How many numbers it has.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether it has none, which no tensor does.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What a tensor is to its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The weights of a convolution or dense layer.
    Weight,
    /// What a normalised channel is multiplied by.
    Gain,
    /// What is added to a channel.
    Bias,
    /// The mean of a channel before it is normalised, observed in training.
    Mean,
    /// The variance of a channel before it is normalised, observed in training.
    Variance,
}

/// A convolution is followed by batch normalisation, which takes the place of its bias.
fn conv(list: &mut Vec<TensorShape>, name: &str, outputs: usize, inputs: usize, side: usize) {
    let mut add = |part: &str, shape: &[usize], role| {
        list.push(TensorShape { name: format!("{name}.{part}"), shape: shape.to_vec(), role });
    };
    add("conv", &[outputs, inputs, side, side], Role::Weight);
    add("gain", &[outputs], Role::Gain);
    add("bias", &[outputs], Role::Bias);
    add("mean", &[outputs], Role::Mean);
    add("variance", &[outputs], Role::Variance);
}

fn dense(list: &mut Vec<TensorShape>, name: &str, outputs: usize, inputs: usize) {
    let weight = TensorShape {
        name: format!("{name}.weight"),
        shape: vec![outputs, inputs],
        role: Role::Weight,
    };
    let bias = TensorShape { name: format!("{name}.bias"), shape: vec![outputs], role: Role::Bias };
    list.extend([weight, bias]);
}

/// Why there is no network of a shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArchitectureError {
    /// A size is out of range.
    Size {
        /// Which one.
        name: &'static str,
        /// What it is.
        value: usize,
        /// The minimum.
        min: usize,
        /// The maximum.
        max: usize,
    },
    /// The game cannot be played.
    Setup(claimeven_game::SetupError),
}

impl fmt::Display for ArchitectureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArchitectureError::Size { name, value, min, max } => {
                write!(f, "a network's {name} are {min} to {max}, not {value}")
            }
            ArchitectureError::Setup(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ArchitectureError {}
