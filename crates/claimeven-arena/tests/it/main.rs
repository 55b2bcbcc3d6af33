//! The arena as programs use it.

mod tournament;
