//! Long-running work: searches on fairly shared threads, and background jobs.

pub(crate) mod analyzers;
pub(crate) mod coaches;
pub(crate) mod engine;
pub(crate) mod jobs;
pub(crate) mod machines;
pub(crate) mod priority;
pub(crate) mod review;
pub(crate) mod tournament;
pub(crate) mod training;
pub(crate) mod usage;
