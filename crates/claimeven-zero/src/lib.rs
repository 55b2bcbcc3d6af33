//! AlphaZero for Connect Four.

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
mod network;
mod parameters;
mod planes;
mod replay;
mod run;
mod search_tree;
mod searches;
mod self_play;
mod strength;
mod zero;

pub use architecture::{Architecture, ArchitectureError, Role, TensorShape, ValueHead};
pub use cache::Cache;
pub use evaluator::{Answer, Chances, Evaluator, Ignorant};
pub use exam::{Exam, Marks};
pub use files::{FileError, FileErrorCause};
pub use gate::{MatchScore, play_match};
pub use gradient::{Losses, Sample};
pub use gumbel::{GumbelParameters, Halving, improved_policy};
pub use inference::Inference;
pub use learner::Learner;
pub use network::{Network, NetworkError};
pub use parameters::{
    ExamParameters, GateParameters, LearningParameters, Parameters, SelfPlayParameters,
};
pub use planes::{Discs, PLANES};
pub use replay::{Replay, SamplesError};
pub use run::{Event, Metrics, Observer, Run, RunError, RunState};
pub use search_tree::{Gathered, Node, Proof, SearchTree, TreeParameters};
pub use searches::search_many;
pub use self_play::{Harvest, Watch, play_games};
pub use strength::{EvaluateError, LineError, Rate, Strength, TestSet, evaluate};
pub use zero::{Zero, ZeroParameters};
