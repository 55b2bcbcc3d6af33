//! Counts compared with enumeration, and checkpoints.

mod counts;
