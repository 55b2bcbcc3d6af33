//! Integration tests of the players and heuristics.

mod agreement;
mod heuristics;
mod limits;
mod players;
mod positions;
mod trees;
