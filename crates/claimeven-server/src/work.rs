//! Work that takes time: searches on a bounded pool of threads, and jobs in the background.

pub(crate) mod analyzers;
pub(crate) mod background;
pub(crate) mod engine;
pub(crate) mod jobs;
pub(crate) mod review;
pub(crate) mod tournament;
pub(crate) mod training;
