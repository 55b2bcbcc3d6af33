//! The rules of Connect Four for any board size and connect length, in two rulesets.
//!
//! - [`Setup`] is the board size, connect length and ruleset.
//! - [`Position`] is a board with a side to move: legal moves, play, undo, outcome, mirror, key.
//! - [`Game`] is a position with the moves that led to it.
//! - [`Board`] is a position for code that must be fast: generic over [`Rules`], copied
//!   instead of undone, unchecked. [`with_board!`] gives access to the board of a position.
//! - [`Game`] and [`Position`] read and write move text, pictures and the boards of other programs.
//! - [`perft`] counts move sequences, [`count_positions`] distinct positions.
//! - With the feature `serde`, setups, columns, positions and games are serialized.
//!
//! ```
//! use claimeven_game::{Game, Setup};
//!
//! let game = Game::parse(Setup::STANDARD, "4453")?;
//! println!("{}\n{} to move", game.position(), game.position().player());
//! # Ok::<(), claimeven_game::MoveTextError>(())
//! ```

mod bits;
mod board;
mod cell;
mod column;
mod counting;
mod game;
mod hash;
mod notation;
mod outcome;
mod player;
mod position;
mod rules;
#[cfg(feature = "serde")]
mod serde;
mod setup;

pub use bits::Bits;
pub use board::Board;
pub use cell::Cell;
pub use column::{Column, ParseColumnError};
pub use counting::{CountError, CountEvent, PlyCount, count_positions, perft};
pub use game::Game;
pub use hash::mix_key;
pub use notation::{BoardError, MoveTextError, MoveTextReason, ParseGameError, ParsePositionError};
pub use outcome::Outcome;
pub use player::Player;
pub use position::{AnyBoard, PlayError, Position, UndoError};
pub use rules::{AnySize, Fixed, Rules, Standard};
pub use setup::{ParseSetupError, Ruleset, Setup, SetupError, UnknownRuleset};
