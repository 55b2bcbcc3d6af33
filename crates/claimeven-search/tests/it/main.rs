//! The players and their evaluations, through the crate's public door.

mod agreement;
mod heuristics;
mod limits;
mod players;
mod positions;
mod trees;
