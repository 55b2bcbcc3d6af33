//! Work on all machines that are connected to a NATS server with JetStream.
//!
//! ```text
//!   claimeven.units.VERSION.ARITHMETIC.KIND.JOB   units to compute        work-queue stream
//!   claimeven.results.JOB                         their results           stream, kept for a week
//!   claimeven-jobs        JOB                     what its units share    key-value bucket
//!   claimeven-claims      JOB                     its coordinator         key-value bucket, 6 s
//!   claimeven-attempts    JOB.MESSAGE             starts without an end   key-value bucket
//!   claimeven-files       SHA-256                 networks, books         object store
//!   claimeven.live.…                              heartbeats, notices     not stored
//! ```
//!
//! A coordinator publishes units and collects results; it accepts one result for each number,
//! however many arrive and however late. A worker acknowledges a unit once the server has stored
//! its result; if it dies before that, the server hands the unit to another worker. A coordinator
//! can be killed and restarted, too: it rebuilds its state from the stream of results. Only one
//! coordinator works on a job at a time: it holds the job's claim, which it has to renew.
//!
//! Only this module is async.

mod attempts;
mod bus;
mod cache;
mod channel;
mod claim;
mod coordinator;
mod dispatcher;
mod isolation;
mod kinds;
mod messages;
mod results;
mod status;
mod worker;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use channel::{Channel, ChannelMessages};
pub use dispatcher::Nats;
pub use isolation::{UnitCommand, run_unit};
pub use kinds::Kinds;
pub use messages::{JobStatus, WorkerStatus};
pub use status::{
    AbandonedJob, FLEET_TIMEOUT, FleetMonitor, FleetSnapshot, FleetStatus, cancel_job, watch_fleet,
};
pub use worker::Worker;

/// Receives log messages, one line each.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// How to reach the NATS server, and the settings that all its clients must have in common.
///
/// ```
/// use claimeven_work::Connection;
///
/// let connection = Connection::new("tls://ada:secret@example.org:4222").with_version("1.0");
/// assert_eq!(connection.redacted_url(), "tls://example.org:4222");
/// ```
#[derive(Clone)]
#[must_use]
pub struct Connection {
    /// The servers, separated by commas: `nats://HOST:4222`, `tls://USER:PASSWORD@HOST`.
    pub(crate) url: String,
    pub(crate) credentials: Option<PathBuf>,
    pub(crate) nkey: Option<PathBuf>,
    pub(crate) certificates: Option<PathBuf>,
    pub(crate) ack_wait: Duration,
    pub(crate) version: String,
    pub(crate) log: Log,
}

impl Connection {
    /// A connection to one or more servers, separated by commas.
    pub fn new(url: impl Into<String>) -> Connection {
        Connection {
            url: url.into(),
            credentials: None,
            nkey: None,
            certificates: None,
            ack_wait: Duration::from_secs(15),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            log: Arc::new(|_| {}),
        }
    }

    /// Uses a credentials file: a JWT and the seed of its key.
    pub fn with_credentials(self, file: Option<PathBuf>) -> Connection {
        Connection { credentials: file, ..self }
    }

    /// Uses the nkey whose seed is in a file.
    pub fn with_nkey(self, file: Option<PathBuf>) -> Connection {
        Connection { nkey: file, ..self }
    }

    /// Trusts the certificates in a file instead of the system's.
    pub fn with_certificates(self, file: Option<PathBuf>) -> Connection {
        Connection { certificates: file, ..self }
    }

    /// Sets how long the server waits for a sign of life before it hands a unit to another worker.
    /// It must be the same for all clients of the server.
    pub fn with_ack_wait(self, ack_wait: Duration) -> Connection {
        Connection { ack_wait, ..self }
    }

    /// Sets the version, which must be the same for workers and coordinators.
    pub fn with_version(self, version: impl Into<String>) -> Connection {
        Connection { version: version.into(), ..self }
    }

    /// Sets the receiver of log messages.
    pub fn with_log(self, log: Log) -> Connection {
        Connection { log, ..self }
    }

    /// The URL without its user name and password.
    pub fn redacted_url(&self) -> String {
        let shown = |url: &str| match (url.split_once("://"), url.rsplit_once('@')) {
            (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
            (None, Some((_, host))) => host.to_owned(),
            (_, None) => url.to_owned(),
        };
        self.url.split(',').map(shown).collect::<Vec<_>>().join(",")
    }

    /// The version that workers and coordinators must have in common.
    pub fn version(&self) -> &str {
        &self.version
    }

    pub(crate) fn log(&self, message: impl fmt::Display) {
        (self.log)(&message.to_string());
    }
}

/// Logs a warning once, and again every half minute for as long as the problem lasts.
#[derive(Default)]
pub(crate) struct Warnings {
    last: Option<(String, Instant)>,
}

impl Warnings {
    const INTERVAL: Duration = Duration::from_secs(30);

    /// Logs the warning unless it has just been logged.
    pub(crate) fn warn(&mut self, connection: &Connection, message: String) {
        let is_known = |(last, logged): &(String, Instant)| {
            *last == message && logged.elapsed() < Warnings::INTERVAL
        };
        if !self.last.as_ref().is_some_and(is_known) {
            connection.log(&message);
            self.last = Some((message, Instant::now()));
        }
    }

    /// Logs once that the problem has been resolved.
    pub(crate) fn resolve(&mut self, connection: &Connection, message: &str) {
        if self.last.take().is_some() {
            connection.log(message);
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("url", &self.redacted_url()).finish_non_exhaustive()
    }
}

/// A name for this process: the host name and a random suffix.
pub fn process_name() -> String {
    format!("{}-{}", host_name(), random_text())
}

/// The name of this machine.
pub(crate) fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname")
        .ok()
        .or_else(|| std::env::var("HOSTNAME").ok())
        .or_else(|| std::env::var("COMPUTERNAME").ok());
    let name = name.unwrap_or_default();
    let is_plain = |character: &char| character.is_ascii_alphanumeric() || *character == '-';
    let name: String = name.trim().chars().filter(is_plain).collect();
    if name.is_empty() { "worker".to_owned() } else { name }
}

/// A random number, from the standard library's source of randomness for hash maps.
pub(crate) fn random() -> u64 {
    std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0)
}

/// Eight random hexadecimal digits.
pub(crate) fn random_text() -> String {
    format!("{:08x}", random() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        let shown = |url: &str| Connection::new(url).redacted_url();
        assert_eq!(shown("nats://127.0.0.1:4222"), "nats://127.0.0.1:4222");
        assert_eq!(shown("tls://ada:se@cret@one,nats://two"), "tls://one,nats://two");
        assert_eq!(shown("ada:secret@one:4222"), "one:4222");
    }
}
