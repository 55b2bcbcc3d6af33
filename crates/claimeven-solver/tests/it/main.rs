//! Integration tests of the solver.

mod book;
mod limits;
mod naive;
mod reference;
mod sets;
