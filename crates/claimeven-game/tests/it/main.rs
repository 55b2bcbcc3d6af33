//! The rules, seen from outside the crate.

mod counting;
mod naive;
mod notation;
mod properties;
mod regressions;
