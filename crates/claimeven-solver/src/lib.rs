//! Exact scores of Connect Four positions, on any board the rules allow.
//!
//! [`Solver`] is the door. `docs/solver.md` explains how it works and how fast it is.

#![allow(
    clippy::inline_always,
    reason = "a node of the search is to be one piece of code, in registers as far as possible"
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
pub use book_builder::{BuildError, BuildProgress, build_book};
pub use limits::{Limits, Stop, Stopped};
pub use score::Score;
pub use solver::{Bounds, Options, Solver, Unsolvable};
