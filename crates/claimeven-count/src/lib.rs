//! Counts all positions of Connect Four without listing them, with binary decision diagrams.
//!
//! [`count_symbolically`] counts the distinct positions of each ply as
//! [`count_positions`](claimeven_game::count_positions) does, on boards that are far too large to
//! hold every position in memory.
//!
//! Positions with the same column heights differ only in the colours of their discs, so the
//! positions of one *height profile* are a set of colourings. Two independent conditions describe
//! those that are not finished:
//!
//! - *unconnected*: neither player has connected four;
//! - *orderable*: the players can have dropped these discs in turns, bottom up in each column.
//!
//! Each is a small diagram over the colours of the filled cells, built from those of
//! the profiles with one disc fewer. The positions themselves, which satisfy both, are counted by
//! walking both diagrams at once and are never stored. `expand.rs` has the details.
//!
//! ```
//! use claimeven_count::{Error, PlyEvent, CountOptions, count_symbolically};
//! use claimeven_game::{Ruleset, Setup};
//!
//! let setup = Setup::new(4, 4, 4, Ruleset::Standard)?;
//! let options = CountOptions { plies: u32::MAX, threads: 2, memory: 1 << 30, checkpoint: None };
//! count_symbolically(setup, options, |event| {
//!     if let PlyEvent::Counted(ply) = event {
//!         println!("ply {}: {} positions", ply.count.ply, ply.count.positions);
//!     }
//!     Ok::<(), Error>(())
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
pub use counter::{CountOptions, Error, MAX_CELLS, PlyEvent, PlyReport, count_symbolically};
pub use forecast::time_left;
