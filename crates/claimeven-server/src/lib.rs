//! Connect Four over HTTP and WebSockets: live games against people and programs, stored in SQLite
//! or PostgreSQL, and the web page that plays them.
//!
//! [`Settings`] become a [`Config`], and [`Server`] serves it.

mod agents;
mod client;
mod config;
mod error;
mod http;
mod live_games;
mod metrics;
mod server;
mod session;
mod store;
mod visitor;
mod work;

pub use config::{Config, Settings};
pub use server::{Server, ServerError};

pub(crate) use server::App;

/// The OpenAPI document that a server serves at `/api/openapi.json`.
pub fn openapi_json() -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(&http::openapi())? + "\n")
}
