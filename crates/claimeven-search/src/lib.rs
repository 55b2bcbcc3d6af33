//! Players of Connect Four by search, on any board and in both rulesets.
//!
//! - [`Agent`] is what every player is: it makes a [`Decision`] within [`Limits`].
//! - [`Random`], [`Minimax`], [`AlphaBeta`], [`Mtdf`], [`Timed`], [`Influence`], [`Mcts`],
//!   [`Perfect`] and [`Level`] are the players.
//! - [`Evaluation`] judges positions for the searches that stop at a horizon.
//! - [`Tree`] is what a search looked at, for drawings; [`Thoughts`] what it has found while it runs.
//!
//! ```
//! use claimeven_game::{Position, Setup};
//! use claimeven_search::{Agent, AlphaBeta, Limits};
//!
//! let position = Position::from_moves(Setup::STANDARD, "4455")?;
//! let decision = AlphaBeta::default().decide(&position, &Limits::default())?;
//! assert_eq!((decision.column.number(), decision.value.to_string()), (3, "wins in 2".to_owned()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod agent;
mod alphabeta;
mod depth_search;
mod evaluation;
mod influence;
mod level;
mod mcts;
mod memory;
mod minimax;
mod mtdf;
mod perfect;
mod random;
mod recorder;
mod stop;
mod thoughts;
mod ties;
mod timed;
mod tree;
mod windows;

pub use agent::{Agent, AgentError, Bound, ColumnValue, Decision, Limits, Value, Work};
pub use alphabeta::AlphaBeta;
pub use depth_search::DepthParameters;
pub use evaluation::{Evaluation, EvaluationError, Weights, WindowWeights};
pub use influence::Influence;
pub use level::{LEVELS, Level, Sight, Style};
pub use mcts::{Mcts, MctsParameters};
pub use minimax::Minimax;
pub use mtdf::Mtdf;
pub use perfect::Perfect;
pub use random::Random;
pub use thoughts::{Thought, Thoughts};
pub use ties::Ties;
pub use timed::Timed;
pub use tree::{Content, Node, Source, Tree, Walk};
