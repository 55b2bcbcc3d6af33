//! Integration tests of the rules.

mod counting;
mod naive;
mod notation;
mod properties;
mod regressions;
