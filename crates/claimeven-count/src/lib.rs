//! Counts all positions of Connect Four without listing them, with binary decision diagrams.
//!
//! [`count_symbolically`] counts the distinct positions of each ply as
//! [`count_positions`](claimeven_game::count_positions) does, on boards that are far too large to
//! hold every position in memory.
//!
//! Positions with the same column heights differ only in the colours of their discs, so the
//! positions of one *height profile* are a set of colourings. Two conditions describe
//! those that are not finished, and they have nothing to do with each other:
//!
//! - *unconnected*: neither player has connected four;
//! - *orderable*: the players can have dropped these discs in turns, bottom up in each column.
//!
//! Each is a small diagram over the colours of the filled cells, made from those of
//! the profiles with one disc less. The positions themselves, which satisfy both, are counted by
//! walking two diagrams at once and are never stored. The comment of `expand.rs` has the details.

mod budget;
mod checkpoint;
mod counter;
mod expand;
mod forecast;
mod layer;
mod node;
mod profile;
mod workspace;

pub use checkpoint::{Checkpoint, CheckpointError};
pub use counter::{Error, Event, MAX_CELLS, Options, PlyReport, count_symbolically};
pub use forecast::time_left;
