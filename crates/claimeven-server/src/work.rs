//! Work that takes time: searches on threads that are shared fairly, and jobs in the background.

pub(crate) mod analyzers;
pub(crate) mod engine;
pub(crate) mod jobs;
pub(crate) mod priority;
pub(crate) mod review;
pub(crate) mod tournament;
pub(crate) mod training;
pub(crate) mod usage;
