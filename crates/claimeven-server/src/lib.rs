//! Connect Four over HTTP and WebSockets: live games against people and programs, stored in SQLite
//! or PostgreSQL, and the web page that plays them.
//!
//! ```no_run
//! use claimeven_server::{Server, Settings};
//!
//! # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
//! let mut settings = Settings::default();
//! settings.text("addr", "127.0.0.1:8080")?;
//! let server = Server::start(settings.config()?).await?;
//! println!("Listening on http://{}", server.addr()?);
//! server.run(std::future::pending()).await?;
//! # Ok(())
//! # }
//! ```
//!
//! - [`Settings`] combine a file, environment variables and options into a [`Config`].
//! - [`Server`] serves the API, live games and the page.
//! - [`Admin`] and [`doctor()`] are for operators.

mod admin;
mod agents;
mod bans;
mod bus;
mod client;
mod config;
mod doctor;
mod error;
mod fleet;
#[cfg(test)]
#[path = "../../claimeven-arena/tests/fuzz/harness.rs"]
mod fuzz;
mod http;
mod live_games;
mod metrics;
mod monitor;
mod quota;
mod secret_key;
mod server;
mod session;
mod store;
mod visitor;
mod work;

pub use admin::{
    Admin, BackupSummary, Ban, GameDetails, GameFilter, GameRow, JobDetails, JobKind, JobRow,
    Pruned, Retention, UnreadableGame, VisitorDetails, VisitorRow,
};
pub use config::{Config, Settings, SettingsError};
pub use doctor::{CheckResult, CheckStatus, check_readiness, doctor};
pub use ipnet::IpNet;
pub use server::{Server, ServerError};

pub(crate) use server::App;

/// The OpenAPI document that a server serves at `/api/openapi.json`.
pub fn openapi_json() -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(&http::openapi())? + "\n")
}
