//! The native module of the Python package `claimeven`: thin classes on the libraries.
//!
//! Only what has to be fast or needs the libraries is here; dataclasses, environments and files are
//! Python code in `python/claimeven`. Columns count from 1 in everything that people type.
//!
//! ```python
//! import claimeven
//!
//! print(claimeven.Solver().analyze("4455"))
//! print(claimeven.match("mcts:sims=200", "level:2", games=10))
//! ```

#![cfg(feature = "extension-module")]
#![allow(
    clippy::needless_pass_by_value,
    clippy::trivially_copy_pass_by_ref,
    reason = "pyo3 determines how arguments are passed"
)]
#![allow(clippy::doc_link_with_quotes, reason = "the docs are Python docstrings")]

mod agent;
mod arena;
mod attached;
mod boards;
mod fast;
mod game;
mod game_batch;
mod history;
mod network;
mod numbers;
mod opponents;
mod position;
mod setup;
mod solver;
mod tree;
mod work;

use std::fmt::Display;

use pyo3::PyErr;
use pyo3::exceptions::PyValueError;

/// The `ValueError` for an error of a library.
fn value_error(error: impl Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The native half of the package `claimeven`.
#[pyo3::pymodule(gil_used = true)]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::fast::install(module.py())
    }

    #[pymodule_export]
    use super::agent::{Agent, Decision, Limits, Value};
    #[pymodule_export]
    use super::arena::{agent_names, evaluate, play_match, play_tournament, review, train};
    #[pymodule_export]
    use super::boards::{all_boards, boards_of, random_boards};
    #[pymodule_export]
    use super::game::Game;
    #[pymodule_export]
    use super::game_batch::GameBatch;
    #[pymodule_export]
    use super::network::Network;
    #[pymodule_export]
    use super::position::Position;
    #[pymodule_export]
    use super::setup::Setup;
    #[pymodule_export]
    use super::solver::Solver;
    #[pymodule_export]
    use super::tree::search_tree;
    #[pymodule_export]
    use super::work::panic_for_test;
}
