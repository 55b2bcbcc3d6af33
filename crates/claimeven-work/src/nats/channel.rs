//! Messages between processes that are not stored.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_nats::connection::State;
use async_nats::{Client, Subscriber};
use futures_util::StreamExt;

use super::Connection;
use super::bus::{Retry, broker_error, connect};
use crate::work::WorkError;

/// A subject of a NATS server to which several processes publish and subscribe. A process that is
/// disconnected misses messages, which it can tell from [`Channel::connects`].
#[derive(Clone)]
pub struct Channel {
    client: Client,
    subject: Arc<str>,
}

impl Connection {
    /// Opens a channel and subscribes to it; `name` identifies this process to the server. If the
    /// server is unavailable, connecting continues in the background.
    pub async fn channel(
        &self,
        name: &str,
        subject: &str,
    ) -> Result<(Channel, ChannelMessages), WorkError> {
        let client = connect(self, name, Retry::Forever).await?;
        let messages = client.subscribe(subject.to_owned()).await.map_err(broker_error)?;
        Ok((Channel { client, subject: subject.into() }, ChannelMessages(messages)))
    }
}

impl Channel {
    /// Publishes a message, or drops it while the server is unavailable.
    pub async fn publish(&self, message: Vec<u8>) {
        if self.is_connected() {
            let _ = self.client.publish(self.subject.to_string(), message.into()).await;
        }
    }

    /// Whether the server is connected.
    pub fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// The number of times a connection has been established. If it has changed, messages were
    /// missed.
    pub fn connects(&self) -> u64 {
        self.client.statistics().connects.load(Ordering::Relaxed)
    }

    /// Waits until all published messages have been sent.
    pub async fn flush(&self) {
        let _ = self.client.flush().await;
    }
}

/// The messages published on a channel, including those of this process.
pub struct ChannelMessages(Subscriber);

impl ChannelMessages {
    /// The next message; `None` once the connection is closed.
    pub async fn next(&mut self) -> Option<Vec<u8>> {
        self.0.next().await.map(|message| message.payload.to_vec())
    }
}
