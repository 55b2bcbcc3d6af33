//! AlphaZero for Connect Four.

mod architecture;
mod evaluator;
mod files;
mod gradient;
mod inference;
mod lanes;
mod network;
mod planes;

pub use architecture::{Architecture, ArchitectureError, Role, TensorShape, ValueHead};
pub use evaluator::{Answer, Chances, Evaluator, Ignorant};
pub use files::{FileError, FileErrorCause};
pub use gradient::{Losses, Sample};
pub use inference::Inference;
pub use network::{Network, NetworkError};
pub use planes::{Discs, PLANES};
