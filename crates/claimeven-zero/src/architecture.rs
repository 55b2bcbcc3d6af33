//! The architecture of a network: a residual tower with a policy head and a value head.

use std::fmt;

use claimeven_game::{Ruleset, Setup};
use serde::{Deserialize, Serialize};

use crate::planes::InputEncoding;

/// The architecture of a network: the game it is for and the sizes of its layers.
///
/// A 3x3 convolution (the stem) is followed by a tower of residual blocks. A 1x1 convolution and
/// dense layers lead from there to the policy, and others to the value. Every convolution is
/// followed by batch normalisation and ReLU.
///
/// ```
/// use claimeven_game::Setup;
/// use claimeven_zero::Architecture;
///
/// let architecture = Architecture::new(Setup::STANDARD, 3, 32);
/// assert_eq!(architecture.setup(), Ok(Setup::STANDARD));
/// assert_eq!(architecture.to_string(), "3x32 for 7x6");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Architecture {
    /// Columns of the board.
    pub cols: u8,
    /// Rows of the board.
    pub rows: u8,
    /// The number of discs to connect.
    pub connect: u8,
    /// Whether the ruleset is `lines`, in which the player with more lines wins.
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
    /// The output of the value head.
    pub value: ValueHead,
}

/// The output of a value head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ValueHead {
    /// Win, draw and loss probabilities.
    Wdl,
    /// One number from -1 to 1, by the hyperbolic tangent.
    Tanh,
}

impl ValueHead {
    /// The width of the last layer.
    pub const fn outputs(self) -> usize {
        match self {
            ValueHead::Wdl => 3,
            ValueHead::Tanh => 1,
        }
    }
}

impl Architecture {
    /// A network with the default heads and input encoding.
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

    /// The architecture of the older project's network.
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

    /// The setup, if all sizes are valid.
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

    /// All tensors of such a network, in the order of [`Network::tensors`](crate::Network::tensors).
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

/// The indices of a convolution's tensors in [`Architecture::tensors`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConvTensors {
    pub(crate) weights: usize,
    pub(crate) gain: usize,
    pub(crate) bias: usize,
    pub(crate) mean: usize,
    pub(crate) variance: usize,
}

/// The indices of a dense layer's tensors in [`Architecture::tensors`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct DenseTensors {
    pub(crate) weights: usize,
    pub(crate) bias: usize,
}

/// The layers of a network with the indices of their tensors, looked up by name.
#[derive(Clone, Debug)]
pub(crate) struct Layers {
    pub(crate) stem: ConvTensors,
    pub(crate) blocks: Vec<[ConvTensors; 2]>,
    pub(crate) policy: ConvTensors,
    pub(crate) policy_columns: DenseTensors,
    pub(crate) value: ConvTensors,
    pub(crate) value_hidden: DenseTensors,
    pub(crate) value_result: DenseTensors,
}

impl Layers {
    pub(crate) fn new(architecture: &Architecture) -> Layers {
        let shapes = architecture.tensors();
        let index = |layer: &str, part: &str| {
            let name = format!("{layer}.{part}");
            let found = shapes.iter().position(|tensor| tensor.name == name);
            found.expect("the layers are those of the architecture")
        };
        let conv = |layer: &str| ConvTensors {
            weights: index(layer, "conv"),
            gain: index(layer, "gain"),
            bias: index(layer, "bias"),
            mean: index(layer, "mean"),
            variance: index(layer, "variance"),
        };
        let dense = |layer: &str| DenseTensors {
            weights: index(layer, "weight"),
            bias: index(layer, "bias"),
        };
        let block = |block| ["first", "second"].map(|part| conv(&format!("block{block}.{part}")));
        Layers {
            stem: conv("stem"),
            blocks: (0..architecture.blocks).map(block).collect(),
            policy: conv("policy"),
            policy_columns: dense("policy.columns"),
            value: conv("value"),
            value_hidden: dense("value.hidden"),
            value_result: dense("value.result"),
        }
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
    /// The unique name.
    pub name: String,
    /// The sizes, outputs before inputs.
    pub shape: Vec<usize>,
    /// Its role in the network.
    pub role: Role,
}

impl TensorShape {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether it has no elements, which is never the case in a network.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The role of a tensor in its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The weights of a convolution or dense layer.
    Weight,
    /// The scale of each channel after batch normalisation.
    Gain,
    /// The shift of each channel.
    Bias,
    /// The running mean of each channel before batch normalisation.
    Mean,
    /// The running variance of each channel before batch normalisation.
    Variance,
}

/// A convolution and its batch normalisation, which replaces the bias.
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

/// Why an architecture is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArchitectureError {
    /// A size is out of range.
    Size {
        /// The name of the size.
        name: &'static str,
        /// Its value.
        value: usize,
        /// The minimum.
        min: usize,
        /// The maximum.
        max: usize,
    },
    /// The board or the connect length is invalid.
    Setup(claimeven_game::SetupError),
}

impl fmt::Display for ArchitectureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArchitectureError::Size { name, value, min, max } => {
                write!(f, "architecture.{name} must be from {min} to {max}, not {value}")
            }
            ArchitectureError::Setup(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ArchitectureError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ArchitectureError::Setup(error) => Some(error),
            ArchitectureError::Size { .. } => None,
        }
    }
}
