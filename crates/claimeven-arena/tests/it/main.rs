//! Tests of the arena through its public interface.

mod records;
