//! Who plays whom in Connect Four.
//!
//! - [`AgentSpec`] is a player by name and parameters: `alphabeta:depth=8,eval=sawwan`.
//! - [`Seat`] is a side of a game, taken by a person or by a program.

mod agents;
mod roster;

pub use agents::AGENTS;
pub use roster::{AgentKind, AgentSpec, Parameter, Seat, SpecError, Values};
