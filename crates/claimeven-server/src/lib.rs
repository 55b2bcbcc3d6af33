//! Connect Four over HTTP and WebSockets: live games against people and programs, kept in SQLite or
//! PostgreSQL, and the web page that plays them.
//!
//! [`Settings`] become a [`Config`], and [`Server`] serves it.

mod agents;
mod config;
mod engine;
mod error;
mod guard;
mod hall;
mod metrics;
mod page;
mod round;
mod routes;
mod server;
mod socket;
mod store;
mod study;
mod view;
mod visitor;

pub use config::{Config, Settings};
pub use server::{Server, ServerError};

pub(crate) use server::App;
