//! Computer players for Connect Four, on any board and in both rulesets.
//!
//! - [`Agent`] is the interface of all players: it makes a [`Decision`] within [`Limits`]. The
//!   example `own_agent` of `claimeven-arena` implements it.
//! - [`Random`], [`Minimax`], [`AlphaBeta`], [`Mtdf`], [`IterativeDeepening`], [`Influence`], [`Mcts`],
//!   [`Perfect`] and [`Level`] are the players.
//! - [`Heuristic`] evaluates positions at the horizon of a depth-limited search.
//! - [`Tree`] is a recorded search tree; [`SearchMonitor`] shows the progress of a running search.
//! - [`RandomGames`] samples positions by random play.
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
mod groups;
mod heuristic;
mod influence;
mod iterative_deepening;
mod level;
mod mcts;
mod minimax;
mod monitor;
mod mtdf;
mod perfect;
mod random;
mod random_game;
mod recorder;
mod stop;
mod tie_break;
mod transposition_table;
mod tree;

pub use agent::{Agent, AgentError, BoundKind, ColumnValue, Decision, Limits, SearchStats, Value};
pub use alphabeta::AlphaBeta;
pub use depth_search::DepthParameters;
pub use heuristic::{GroupWeights, Heuristic, HeuristicError, Weights};
pub use influence::Influence;
pub use iterative_deepening::IterativeDeepening;
pub use level::{LEVELS, Level, LevelStyle, MoveEvaluation};
pub use mcts::{Mcts, MctsParameters};
pub use minimax::Minimax;
pub use monitor::{SearchInfo, SearchMonitor};
pub use mtdf::Mtdf;
pub use perfect::Perfect;
pub use random::Random;
pub use random_game::{RandomGameError, RandomGames};
pub use tie_break::{TieBreak, UnknownTieBreak};
pub use tree::{NodeContent, Playout, Tree, TreeNode, ValueSource};
