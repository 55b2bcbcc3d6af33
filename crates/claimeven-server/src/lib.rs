//! Connect Four over HTTP and WebSockets: live games against people and programs, kept in SQLite or
//! PostgreSQL, and the web page that plays them.
//!
//! [`Settings`] become a [`Config`], and [`Server`] serves it.

mod agents;
mod arena;
mod background;
mod config;
mod engine;
mod error;
mod guard;
mod jobs;
mod lab;
mod live_games;
mod metrics;
mod page;
mod routes;
mod server;
mod session;
mod socket;
mod store;
mod study;
mod training;
mod view;
mod visitor;

pub use config::{Config, Settings};
pub use server::{Server, ServerError};

pub(crate) use server::App;
