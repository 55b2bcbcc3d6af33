//! What the servers of a fleet tell each other. Nothing depends on it but the time that something takes:
//! what counts is in the database, and every server looks there from time to time.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use claimeven_work::{Channel, ChannelMessages, Connection};
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};
use tokio_util::task::AbortOnDropHandle;

use crate::config::Config;

/// The subject that all servers publish to and hear.
const SUBJECT: &str = "claimeven.servers";

/// A message to all other servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Message {
    /// A game has been stored in a new version.
    Changed { game: String, version: u64 },
    /// A game has been deleted.
    Deleted { game: String },
    /// Several games have changed.
    ManyChanged,
    /// A lease is free again.
    Released { game: String },
    /// A game has been loaded; who follows it elsewhere?
    Entered { game: String },
    /// Who follows a game on one server.
    Presence { game: String, people: RemotePeople },
    /// Progress of an agent's search, as JSON.
    Thought { game: String, json: String },
    /// The owner has stopped a job.
    StopJob { job: String },
    /// The server is going.
    Left,
}

/// Who follows a game on one server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RemotePeople {
    pub(crate) connected: [bool; 2],
    /// For how long players who were connected have been away, in milliseconds.
    pub(crate) away_ms: [Option<u64>; 2],
    pub(crate) watchers: usize,
}

/// A message with its sender.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Heard {
    pub(crate) server: String,
    #[serde(flatten)]
    pub(crate) message: Message,
}

/// Connects the servers of a fleet.
pub(crate) trait Bus: Send + Sync {
    /// Tells all other servers; they may miss it.
    fn publish(&self, message: Message);

    /// Whether messages reach the others now.
    fn is_connected(&self) -> bool;

    /// Changes when messages may have been missed.
    fn connects(&self) -> u64;

    /// Waits until everything has been sent.
    fn flush(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// The bus of a server without others.
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

/// A subject of a NATS server.
pub(crate) struct NatsBus {
    server: Arc<str>,
    channel: Channel,
    outbox: mpsc::Sender<Outgoing>,
    _sender: AbortOnDropHandle<()>,
}

enum Outgoing {
    Message(Vec<u8>),
    /// Asks for a notification when everything before it has been sent.
    Flush(oneshot::Sender<()>),
}

/// How many messages may wait for the connection; more are dropped.
const MAX_WAITING: usize = 10_000;

/// How long the last messages may take.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

impl NatsBus {
    /// The bus of a server, and what the others say on it.
    pub(crate) async fn open(
        config: &Config,
        server: &Arc<str>,
    ) -> Result<(NatsBus, Inbox), String> {
        let path = |text: &str| Some(text.into()).filter(|_| !text.is_empty());
        let connection = Connection::new(&config.nats)
            .with_nkey(path(&config.nats_nkey))
            .with_credentials(path(&config.nats_creds))
            .with_certificates(path(&config.nats_ca))
            .with_log(Arc::new(|message| tracing::info!("NATS: {message}")));
        let opened = connection.channel(server, SUBJECT).await;
        let (channel, messages) = opened.map_err(|error| error.to_string())?;
        let (outbox, mut waiting) = mpsc::channel(MAX_WAITING);
        let sender = channel.clone();
        let sender = tokio::spawn(async move {
            while let Some(outgoing) = waiting.recv().await {
                match outgoing {
                    Outgoing::Message(bytes) => sender.publish(bytes).await,
                    Outgoing::Flush(done) => {
                        sender.flush().await;
                        let _ = done.send(());
                    }
                }
            }
        });
        let sender = AbortOnDropHandle::new(sender);
        let bus = NatsBus { server: Arc::clone(server), channel, outbox, _sender: sender };
        Ok((bus, Inbox { server: Arc::clone(server), messages }))
    }
}

impl Bus for NatsBus {
    fn publish(&self, message: Message) {
        let heard = Heard { server: self.server.to_string(), message };
        if let Ok(bytes) = serde_json::to_vec(&heard) {
            // The others look into the database if this is lost.
            let _ = self.outbox.try_send(Outgoing::Message(bytes));
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

/// The messages of the other servers.
pub(crate) struct Inbox {
    server: Arc<str>,
    messages: ChannelMessages,
}

impl Inbox {
    /// The next message of another server. One that cannot be read, for instance of a newer version, is
    /// skipped.
    pub(crate) async fn next(&mut self) -> Option<Heard> {
        loop {
            let bytes = self.messages.next().await?;
            match serde_json::from_slice::<Heard>(&bytes) {
                Ok(heard) if *heard.server != *self.server => return Some(heard),
                Ok(_) => {}
                Err(error) => tracing::debug!(%error, "Skipped a message of another server"),
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
            Message::Left,
        ] {
            let heard = Heard { server: "one".to_owned(), message: message.clone() };
            let text = serde_json::to_string(&heard).unwrap();
            let read: Heard = serde_json::from_str(&text).unwrap();
            assert_eq!((read.server, read.message), ("one".to_owned(), message));
        }
        let unknown = r#"{"server":"two","type":"of a later version"}"#;
        assert!(serde_json::from_str::<Heard>(unknown).is_err());
    }
}
