//! The coach: why a Connect Four position is won, lost or drawn, and proofs that a person can
//! follow.
//!
//! ```
//! use claimeven_coach::{Coach, English, TextLevel};
//! use claimeven_game::{Position, Setup};
//!
//! let position = Position::from_moves(Setup::STANDARD, "445566")?;
//! let explanation = Coach::new().explain(&position)?;
//! println!("{}", English::default().explanation(&explanation, TextLevel::Player));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`Coach`] explains positions and moves: an [`Explanation`] is best play up to a position whose
//!   result has a [`Reason`] that needs no search. [`verify()`] plays any reason out against every
//!   reply.
//! - An explanation is a list of [`Sentence`]s, from which texts in any language can be made;
//!   [`English`] has them at two levels. [`Mark`]s are what to draw on the board.
//! - [`ProofSearch`] searches for a small tree in which one player keeps its result, with every
//!   leaf closed by a [`Diagram`]; [`ProofTree`] is such a tree read from a file, and plays by it
//!   without search.
//! - [`check_proof`] verifies a proof file using only the rules of the game.
//!
//! `docs/coach.md` explains how it works.

mod check;
mod closing;
mod diagram;
mod english;
mod explain;
mod forced;
mod plan;
mod proof;
mod proof_search;
mod reason;
mod selection;
mod sentence;
mod theme;
mod verify;
mod view;

pub use check::{CheckError, CheckReport, check_proof};
pub use diagram::Diagram;
pub use english::{English, TextLevel};
pub use explain::{Coach, MAX_LINE, MoveExplanation, MoveNote};
pub use plan::{Plan, Race};
pub use proof::{Claim, Goal, ProofError, ProofTree, embedded_proof};
pub use proof_search::{ProofSearch, SearchError, SearchProgress};
pub use reason::{Explanation, Hold, Mark, Reason};
pub use sentence::{Couples, MAX_WORDS, Parity, Sentence};
pub use theme::Theme;
pub use verify::{verify, verify_by_solver};
pub use view::{
    BetterView, ExplanationView, HoldView, MarkView, MoveView, NoteView, PlanView, ReasonView,
    ReplyView, TextView,
};
