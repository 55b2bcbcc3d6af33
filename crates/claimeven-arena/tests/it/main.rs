//! Tests of the arena through its public interface.

mod external;
mod records;
mod ugi;
