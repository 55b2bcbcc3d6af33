//! Messages between the servers of a fleet. They only make things faster: the database is
//! authoritative, and every server polls it as well.

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use claimeven_arena::FLEET_VERSION;
use claimeven_work::{Channel, ChannelMessages, Connection};
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};
use tokio_util::task::AbortOnDropHandle;

use crate::config::Config;
use crate::metrics::Metrics;

/// The subject that all servers publish and subscribe to.
const SUBJECT: &str = "claimeven.servers";

/// A message to all other servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Message {
    /// A new version of a game has been stored.
    Changed { game: String, version: u64 },
    /// A game has been deleted.
    Deleted { game: String },
    /// Several games have changed.
    ManyChanged,
    /// A lease is free again.
    Released { game: String },
    /// A game has been loaded. The others reply with who follows it there.
    Entered { game: String },
    /// Who follows a game on one server.
    Presence { game: String, people: RemotePeople },
    /// Progress of an agent's search, as JSON.
    Thought { game: String, json: String },
    /// The owner has stopped a job.
    StopJob { job: String },
    /// A server's status, sent every second.
    Status(ServerStatus),
    /// The server is shutting down.
    Left,
}

/// The status that a server publishes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ServerStatus {
    pub(crate) version: String,
    /// Games whose lease it holds.
    pub(crate) leased_games: usize,
    /// Games in its memory.
    pub(crate) live_games: usize,
    /// Seconds since it was started.
    pub(crate) seconds: u64,
}

/// Who follows a game on one server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RemotePeople {
    pub(crate) connected: [bool; 2],
    /// How long players who were connected have been away, in milliseconds.
    pub(crate) away_ms: [Option<u64>; 2],
    pub(crate) watchers: usize,
}

/// A message with its sender.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Envelope {
    pub(crate) server: String,
    /// When it was sent, in microseconds since the sender started.
    #[serde(default)]
    pub(crate) sent_us: Option<u64>,
    #[serde(flatten)]
    pub(crate) message: Message,
}

/// The connection to the NATS server of a configuration.
pub(crate) fn connection(config: &Config) -> Connection {
    let path = |text: &str| Some(text.into()).filter(|_| !text.is_empty());
    Connection::new(&config.nats)
        .with_version(FLEET_VERSION)
        .with_nkey(path(&config.nats_nkey))
        .with_credentials(path(&config.nats_creds))
        .with_certificates(path(&config.nats_ca))
        .with_log(Arc::new(|message| tracing::info!("NATS: {message}")))
}

/// Connects the servers of a fleet.
pub(crate) trait Bus: Send + Sync {
    /// Sends a message to all other servers, which may miss it.
    fn publish(&self, message: Message);

    /// Whether messages currently reach the others.
    fn is_connected(&self) -> bool;

    /// Changes when messages may have been missed.
    fn connects(&self) -> u64;

    /// Waits until everything has been sent.
    fn flush(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// The bus of a server that runs alone.
pub(crate) struct LocalBus;

impl Bus for LocalBus {
    fn publish(&self, _: Message) {}

    fn is_connected(&self) -> bool {
        true
    }

    fn connects(&self) -> u64 {
        0
    }

    fn flush(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {})
    }
}

/// A bus over a NATS server.
pub(crate) struct NatsBus {
    server: Arc<str>,
    channel: Channel,
    outbox: mpsc::Sender<Outgoing>,
    metrics: Arc<Metrics>,
    /// The origin of the timestamps in its messages.
    started: Instant,
    _sender: AbortOnDropHandle<()>,
}

enum Outgoing {
    Message(Vec<u8>),
    /// Requests a notification once everything before it has been sent.
    Flush(oneshot::Sender<()>),
}

/// How many messages may wait to be sent; further ones are dropped.
const MAX_WAITING: usize = 10_000;

/// How long to wait for pending messages to be sent.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

impl NatsBus {
    /// Opens the bus; returns it with the messages of the other servers.
    pub(crate) async fn open(
        config: &Config,
        server: &Arc<str>,
        metrics: &Arc<Metrics>,
    ) -> Result<(NatsBus, Inbox), String> {
        let opened = connection(config).channel(server, SUBJECT).await;
        let (channel, messages) = opened.map_err(|error| error.to_string())?;
        let (outbox, mut waiting) = mpsc::channel(MAX_WAITING);
        let sender = channel.clone();
        let sender = tokio::spawn(async move {
            let mut batch = Vec::new();
            while waiting.recv_many(&mut batch, MAX_WAITING).await > 0 {
                let mut flushes = Vec::new();
                for outgoing in batch.drain(..) {
                    match outgoing {
                        Outgoing::Message(bytes) => sender.publish(bytes).await,
                        Outgoing::Flush(done) => flushes.push(done),
                    }
                }
                // One flush for all that wait.
                if !flushes.is_empty() {
                    sender.flush().await;
                }
                for done in flushes {
                    let _ = done.send(());
                }
            }
        });
        let sender = AbortOnDropHandle::new(sender);
        let (server, metrics, started) = (Arc::clone(server), Arc::clone(metrics), Instant::now());
        let inbox = Inbox { server: Arc::clone(&server), messages, metrics, started };
        let metrics = Arc::clone(&inbox.metrics);
        Ok((NatsBus { server, channel, outbox, metrics, started, _sender: sender }, inbox))
    }
}

impl Bus for NatsBus {
    fn publish(&self, message: Message) {
        let sent_us = Some(self.started.elapsed().as_micros() as u64);
        let envelope = Envelope { server: self.server.to_string(), sent_us, message };
        if let Ok(bytes) = serde_json::to_vec(&envelope) {
            // If it is lost, the others find the change in the database.
            let is_sent =
                self.is_connected() && self.outbox.try_send(Outgoing::Message(bytes)).is_ok();
            let counter = if is_sent { &self.metrics.bus_sent } else { &self.metrics.bus_dropped };
            counter.inc();
        }
    }

    fn is_connected(&self) -> bool {
        self.channel.is_connected()
    }

    fn connects(&self) -> u64 {
        self.channel.connects()
    }

    fn flush(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {
            let (done, flushed) = oneshot::channel();
            if self.is_connected() && self.outbox.send(Outgoing::Flush(done)).await.is_ok() {
                let _ = tokio::time::timeout(FLUSH_TIMEOUT, flushed).await;
            }
        })
    }
}

/// The messages from the other servers.
pub(crate) struct Inbox {
    server: Arc<str>,
    messages: ChannelMessages,
    metrics: Arc<Metrics>,
    started: Instant,
}

impl Inbox {
    /// The next message from another server. One that cannot be read, for instance from a newer version,
    /// is skipped.
    pub(crate) async fn next(&mut self) -> Option<Envelope> {
        loop {
            let bytes = self.messages.next().await?;
            match serde_json::from_slice::<Envelope>(&bytes) {
                Ok(envelope) if *envelope.server != *self.server => {
                    self.metrics.bus_received.inc();
                    return Some(envelope);
                }
                // Its own message, which measures the round trip.
                Ok(envelope) => {
                    let sent = Duration::from_micros(envelope.sent_us.unwrap_or(u64::MAX));
                    if let Some(time) = self.started.elapsed().checked_sub(sent) {
                        self.metrics.bus_seconds.observe(time.as_secs_f64());
                    }
                }
                Err(error) => tracing::debug!(%error, "Skipped a message from another server"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_as_they_were_written() {
        let people =
            RemotePeople { connected: [true, false], away_ms: [None, Some(5)], watchers: 3 };
        for message in [
            Message::Changed { game: "abc".to_owned(), version: 7 },
            Message::Presence { game: "abc".to_owned(), people },
            Message::Status(ServerStatus {
                version: "1".to_owned(),
                leased_games: 2,
                live_games: 3,
                seconds: 4,
            }),
            Message::Left,
        ] {
            let server = "one".to_owned();
            let envelope = Envelope { server, sent_us: Some(5), message: message.clone() };
            let text = serde_json::to_string(&envelope).unwrap();
            let read: Envelope = serde_json::from_str(&text).unwrap();
            assert_eq!((read.server, read.message), ("one".to_owned(), message));
        }
        // Earlier versions sent no time.
        let earlier: Envelope = serde_json::from_str(r#"{"server":"two","type":"left"}"#).unwrap();
        assert_eq!((earlier.sent_us, earlier.message), (None, Message::Left));
        let unknown = r#"{"server":"two","type":"of_a_later_version"}"#;
        assert!(serde_json::from_str::<Envelope>(unknown).is_err());
    }
}
