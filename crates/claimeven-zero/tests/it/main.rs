//! Integration tests of networks and training runs.

#![allow(clippy::cast_sign_loss, reason = "indices are never negative")]

mod folder;
mod kill;
mod model;
mod naive;
mod run;

#[path = "../../examples/train_tiny.rs"]
mod train_tiny;
