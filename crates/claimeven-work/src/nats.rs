//! Work on all machines that are connected to a NATS server with JetStream.
//!
//! ```text
//!   claimeven.units.VERSION.ARITHMETIC.KIND.JOB   units to compute        work-queue stream
//!   claimeven.results.JOB                         their results           stream, kept for a week
//!   claimeven-jobs        JOB                     what its units share    key-value bucket
//!   claimeven-attempts    JOB.UNIT                starts without an end   key-value bucket
//!   claimeven-files       SHA-256                 networks, books         object store
//!   claimeven.live.…                              heartbeats, notices     not stored
//! ```
//!
//! A coordinator publishes units and collects results; it accepts one result for each number,
//! however many arrive and however late. A worker acknowledges a unit once the server has stored its
//! result. If it dies before, the server hands the unit to another one. All that a coordinator knows
//! can be read again from the stream of results, so it can be killed and started again, too.
//!
//! Only this module is async.

mod bus;
mod channel;
mod coordinator;
mod dispatcher;
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
pub use kinds::Kinds;
pub use messages::{JobStatus, WorkerStatus};
pub use status::{FLEET_SILENCE, FleetMonitor, FleetStatus, Sighting, watch_fleet};
pub use worker::Worker;

/// Takes messages for people, one line each.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// How to reach the NATS server, and what all that use it must have in common.
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
    /// A connection to the servers of a URL, separated by commas.
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

    /// Uses a file of credentials: a JWT and the seed of its key.
    pub fn with_credentials(self, file: Option<PathBuf>) -> Connection {
        Connection { credentials: file, ..self }
    }

    /// Uses a file with the seed of an nkey.
    pub fn with_nkey(self, file: Option<PathBuf>) -> Connection {
        Connection { nkey: file, ..self }
    }

    /// Trusts the certificates of a file instead of those of the system.
    pub fn with_certificates(self, file: Option<PathBuf>) -> Connection {
        Connection { certificates: file, ..self }
    }

    /// Sets how long the server waits for a sign of life before it hands a unit to another worker.
    /// The same for all that use the server.
    pub fn with_ack_wait(self, ack_wait: Duration) -> Connection {
        Connection { ack_wait, ..self }
    }

    /// Sets the version, which workers and coordinators must have in common.
    pub fn with_version(self, version: impl Into<String>) -> Connection {
        Connection { version: version.into(), ..self }
    }

    /// Sets who is told about what happens.
    pub fn with_log(self, log: Log) -> Connection {
        Connection { log, ..self }
    }

    /// The URL without user and password.
    pub fn shown_url(&self) -> String {
        let shown = |url: &str| match (url.split_once("://"), url.rsplit_once('@')) {
            (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
            (None, Some((_, host))) => host.to_owned(),
            (_, None) => url.to_owned(),
        };
        self.url.split(',').map(shown).collect::<Vec<_>>().join(",")
    }

    /// The version.
    pub fn version(&self) -> &str {
        &self.version
    }

    pub(crate) fn say(&self, message: impl fmt::Display) {
        (self.log)(&message.to_string());
    }
}

/// What is wrong, said once and again every half minute for as long as it lasts.
#[derive(Default)]
pub(crate) struct Complaints {
    last: Option<(String, Instant)>,
}

impl Complaints {
    const PAUSE: Duration = Duration::from_secs(30);

    /// Says it, unless it has just been said.
    pub(crate) fn say(&mut self, connection: &Connection, message: String) {
        let is_known = |(last, said): &(String, Instant)| {
            *last == message && said.elapsed() < Complaints::PAUSE
        };
        if !self.last.as_ref().is_some_and(is_known) {
            connection.say(&message);
            self.last = Some((message, Instant::now()));
        }
    }

    /// Says once that all is well again.
    pub(crate) fn settle(&mut self, connection: &Connection, message: &str) {
        if self.last.take().is_some() {
            connection.say(message);
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("url", &self.shown_url()).finish_non_exhaustive()
    }
}

/// A name for this process: that of its machine and a random part.
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

/// Eight random letters and digits.
pub(crate) fn random_text() -> String {
    format!("{:08x}", random() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        let shown = |url: &str| Connection::new(url).shown_url();
        assert_eq!(shown("nats://127.0.0.1:4222"), "nats://127.0.0.1:4222");
        assert_eq!(shown("tls://ada:se@cret@one,nats://two"), "tls://one,nats://two");
        assert_eq!(shown("ada:secret@one:4222"), "one:4222");
    }
}
