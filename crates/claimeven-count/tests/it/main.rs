//! Counts compared with enumeration, and checkpoints.

mod checkpoints;
mod counts;
