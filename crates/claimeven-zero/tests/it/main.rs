//! The crate as its users see it.

mod naive;
mod run;
mod strength;
