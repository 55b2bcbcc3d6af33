//! The arena as programs use it.

mod external;
mod records;
mod tournament;
mod ugi;
