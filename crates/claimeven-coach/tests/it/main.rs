//! The coach against the solver and against every reply.

mod explanations;
mod lessons;
mod opening;
mod proofs;
