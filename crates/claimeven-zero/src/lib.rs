//! AlphaZero for Connect Four: a network that learns from games against itself, on any board.
//!
//! - [`Network`] is a network and its file; [`Inference`] judges positions with it, and is one
//!   [`Evaluator`] of several.
//! - [`embedded_network`] is a trained one that is part of the program; [`Model`] is one that is not.
//! - [`SearchTree`] gathers positions and applies what evaluators say of them.
//! - [`Zero`] is the player, an [`Agent`](claimeven_search::Agent).
//! - [`Run`] is a training run in a folder: self-play, learning, gate and exam, one iteration
//!   after another, as its [`Parameters`] ask.
//! - [`evaluate`] measures any player against exact scores.
//!
//! ```
//! use std::sync::Arc;
//!
//! use claimeven_game::{Position, Setup};
//! use claimeven_search::{Agent, Limits, Value};
//! use claimeven_zero::{Architecture, Network, Zero, ZeroParameters};
//!
//! // A network that has learnt nothing; the search sees the win all the same.
//! let network = Network::new(Architecture::new(Setup::STANDARD, 2, 16), 1)?;
//! let mut zero = Zero::new(ZeroParameters::new(Arc::new(network), 100));
//! let position = Position::from_moves(Setup::STANDARD, "4455")?;
//! let decision = zero.decide(&position, &Limits::default())?;
//! assert_eq!(decision.value, Value::Win(3));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![allow(
    clippy::cast_sign_loss,
    reason = "numbers that become counts and indices here are never negative"
)]

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
mod parameters;
mod planes;
mod replay_buffer;
mod run;
mod search_tree;
mod searches;
mod self_play;
mod strength;
mod zero;

pub use architecture::{Architecture, ArchitectureError, Role, TensorShape, ValueHead};
pub use cache::Cache;
pub use evaluator::{Evaluation, Evaluator, UniformEvaluator, Wdl};
pub use exam::{Exam, ExamScore};
pub use files::{FileError, FileErrorCause};
pub use gate::MatchScore;
pub use gradient::{Losses, Sample};
pub use gumbel::{GumbelParameters, SequentialHalving, improved_policy};
pub use inference::Inference;
pub use learner::Learner;
pub use model::{
    Model, ModelError, NoNetwork, embedded_network, embedded_networks, find_runs_in, kept_networks,
};
pub use network::{Network, NetworkError};
pub use parameters::{
    ExamParameters, GateParameters, LearningParameters, Parameters, ParametersError,
    SelfPlayParameters,
};
pub use planes::{Discs, InputEncoding};
pub use replay_buffer::{ReplayBuffer, SamplesError};
pub use run::{Event, Metrics, Observer, Resources, Run, RunError, RunState};
pub use search_tree::{Gathered, Node, Proof, SearchTree, TreeParameters};
pub use searches::search_many;
pub use self_play::{SelfPlayBatch, SelfPlayGame, SelfPlayProgress, play_games};
pub use strength::{EvaluateError, LineError, Rate, Strength, TestSet, evaluate};
pub use zero::{Zero, ZeroParameters};
