//! Messages between processes that nobody stores.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_nats::connection::State;
use async_nats::{Client, Subscriber};
use futures_util::StreamExt;

use super::Connection;
use super::bus::{Patience, broker, connect};
use crate::work::WorkError;

/// A subject of a NATS server to which several processes publish and which all of them hear. Who is
/// not connected at the moment misses messages, and can see that in [`Channel::connects`].
#[derive(Clone)]
pub struct Channel {
    client: Client,
    subject: Arc<str>,
}

impl Connection {
    /// Opens a channel under the name of this process, and everything that is published there from now
    /// on. A server that is away is waited for in the background.
    pub async fn channel(
        &self,
        name: &str,
        subject: &str,
    ) -> Result<(Channel, ChannelMessages), WorkError> {
        let client = connect(self, name, Patience::UntilConnected).await?;
        let messages = client.subscribe(subject.to_owned()).await.map_err(broker)?;
        Ok((Channel { client, subject: subject.into() }, ChannelMessages(messages)))
    }
}

impl Channel {
    /// Publishes a message. While the server is away, it is dropped.
    pub async fn publish(&self, message: Vec<u8>) {
        if self.is_connected() {
            let _ = self.client.publish(self.subject.to_string(), message.into()).await;
        }
    }

    /// Whether the server can be reached.
    pub fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// How often a connection has been made. Messages were missed if the number has changed.
    pub fn connects(&self) -> u64 {
        self.client.statistics().connects.load(Ordering::Relaxed)
    }

    /// Waits until everything that was published has been sent.
    pub async fn flush(&self) {
        let _ = self.client.flush().await;
    }
}

/// What is published on a channel, including by this process.
pub struct ChannelMessages(Subscriber);

impl ChannelMessages {
    /// The next message; `None` after the end of the connection.
    pub async fn next(&mut self) -> Option<Vec<u8>> {
        self.0.next().await.map(|message| message.payload.to_vec())
    }
}
