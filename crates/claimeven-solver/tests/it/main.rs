//! Integration tests of the solver.

mod book;
mod limits;
mod naive;
mod reference;
mod sets;

#[path = "../../examples/solve_file.rs"]
#[allow(dead_code, reason = "the test calls what the example's main calls")]
mod solve_file;
