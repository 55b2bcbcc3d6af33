//! Exact scores of Connect Four positions, on any board the rules allow.
//!
//! ```
//! use claimeven_game::{Position, Setup};
//! use claimeven_solver::{Options, Solver, embedded_books};
//!
//! let mut solver = Solver::new(Options::default().with_books(embedded_books()));
//! let position = Position::from_moves(Setup::STANDARD, "44")?;
//! println!("{}", solver.score(&position)?.describe(&position));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`Solver`] computes scores, within [`Limits`] if need be.
//! - [`Score`] is the result under perfect play; [`Bounds`] are what is known when a limit ends a
//!   search.
//! - [`Book`] is an opening book; [`embedded_books`] are part of the crate, [`build_book`] makes
//!   others.
//! - [`Limits`] and [`Stop`] are the limits of all searches of Claimeven.
//!
//! The example `solve_file` solves a file of positions; `docs/solver.md` explains how the solver
//! works and how fast it is.

#![allow(
    clippy::inline_always,
    reason = "the code of a search node is inlined into one function, to stay in registers"
)]

mod abdada;
#[cfg(feature = "ablation")]
pub mod ablation;
mod book;
mod book_builder;
mod book_reader;
mod bounds;
mod cpu;
mod engine;
#[cfg(target_arch = "x86_64")]
mod four;
mod limits;
mod lines;
#[cfg(test)]
#[path = "../tests/it/naive.rs"]
mod naive;
mod retrieval;
mod score;
mod search;
mod shape;
mod solver;
mod table;
mod windows;
mod word;

pub use book::{Book, BookError, book_positions, embedded_books};
pub use book_builder::{BookBuild, BookPositions, BuildError, BuildProgress, build_book};
pub use cpu::is_portable;
pub use limits::{Limits, Stop, Stopped};
pub use score::Score;
pub use solver::{Bounds, Options, Solver, Unsolvable};
