//! The solver, seen from outside the crate.

mod book;
mod limits;
mod naive;
mod reference;
mod sets;
