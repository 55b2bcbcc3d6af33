//! The arena as programs use it.

mod external;
mod records;
mod review;
mod strength;
mod tournament;
mod trees;
mod ugi;
