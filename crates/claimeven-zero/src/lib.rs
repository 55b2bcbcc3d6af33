//! AlphaZero for Connect Four: networks trained by self-play, on any board.
//!
//! ```
//! use claimeven_game::{Position, Setup};
//! use claimeven_search::{Agent, Limits, Value};
//! use claimeven_zero::{Zero, ZeroParameters, embedded_network};
//!
//! let network = embedded_network(Setup::STANDARD)?;
//! let mut zero = Zero::new(ZeroParameters::new(network, 100));
//! let position = Position::from_moves(Setup::STANDARD, "4455")?;
//! let decision = zero.decide(&position, &Limits::default())?;
//! assert_eq!(decision.value, Value::Win(3));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`Zero`] is the player, an [`Agent`](claimeven_search::Agent) with PUCT search.
//! - [`Network`] is a network and its file, [`Inference`] its forward pass. [`embedded_network`]
//!   returns the built-in one; a [`Model`] is a network in a file or a training run.
//! - [`Evaluator`] is the interface between search and network, and [`SearchTree`] the search.
//! - [`Run`] is a training run in a folder: self-play, training, gate and exam, controlled by
//!   [`Parameters`]. The example `train_tiny` trains a network and plays it.
//!
//! The arithmetic uses AVX2 and FMA where the processor has them, regardless of the target
//! that the program was compiled for.

#![allow(
    clippy::cast_sign_loss,
    reason = "numbers that are converted to counts and indices are never negative"
)]

mod activations;
mod architecture;
mod cache;
mod evaluator;
mod exam;
mod files;
mod gate;
mod gradient;
mod gumbel;
mod inference;
mod lanes;
mod learner;
mod model;
mod network;
mod onnx;
mod parameters;
mod planes;
mod replay_buffer;
mod run;
mod run_error;
mod sample;
mod search_tree;
mod searches;
mod self_play;
mod statistics;
mod zero;

pub use architecture::{Architecture, ArchitectureError, Role, TensorShape, ValueHead};
pub use cache::Cache;
pub use evaluator::{Evaluation, Evaluator, UniformEvaluator, Wdl};
pub use exam::{Exam, ExamError, ExamFileError, ExamPoint, ExamScore};
pub use files::{FileError, FileErrorCause};
pub use gate::{Gate, GatePair, MatchScore, play_gate_pairs};
pub use gradient::Losses;
pub use gumbel::{GumbelParameters, SequentialHalving, improved_policy};
pub use inference::Inference;
pub use lanes::arithmetic;
pub use learner::{LearnError, Learner, LearningJob};
pub use model::{
    Model, ModelError, ModelStore, NoNetwork, embedded_network, embedded_networks, kept_networks,
};
pub use network::{Network, NetworkError};
pub use parameters::{
    ExamParameters, GateParameters, LearningParameters, Parameters, ParametersError,
    SelfPlayParameters,
};
pub use planes::{Discs, InputEncoding};
pub use replay_buffer::ReplayBuffer;
pub use run::{Event, Metrics, Observer, Resources, Run, RunState};
pub use run_error::RunError;
pub use sample::{BatchError, Sample, SamplesError};
pub use search_tree::{Gathered, Node, Proof, SearchTree, SelectionRule, TreeParameters};
pub use searches::search_many;
pub use self_play::{SelfPlayBatch, SelfPlayGame, SelfPlayProgress, TrainingMachines, play_games};
pub use statistics::{
    Interval, PairResults, Sprt, SprtOutcome, Z95, elo_of_score, score_of_elo, simultaneous_z,
};
pub use zero::{Zero, ZeroParameters};
