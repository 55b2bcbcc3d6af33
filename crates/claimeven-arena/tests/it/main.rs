//! Integration tests of the arena.

mod external;
mod records;
mod review;
mod strength;
mod tournament;
mod trees;
mod ugi;

#[path = "../../examples/own_agent.rs"]
mod own_agent;
