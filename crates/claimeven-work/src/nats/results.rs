//! The results of a job on the NATS server.

use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, Consumer, DeliverPolicy, pull};
use futures_util::StreamExt;
use tokio::sync::mpsc::{self, Receiver};
use tokio::time::{sleep, timeout};

use super::bus::{Bus, broker_error};
use super::messages::{ResultHeader, unframe};
use crate::work::WorkError;

/// The results of a job, in order, read by a task that survives restarts of the server.
pub(super) struct Results {
    bus: Bus,
    pub(super) subject: String,
    pub(super) received: Receiver<Received>,
    reader: Option<tokio::task::JoinHandle<()>>,
}

pub(super) struct Received {
    /// The number of results after this one.
    pub(super) pending: u64,
    /// `None` for a message that is not a result.
    pub(super) result: Option<(ResultHeader, Vec<u8>)>,
}

impl Results {
    pub(super) fn new(bus: Bus, subject: String) -> Results {
        let (_, received) = mpsc::channel(1);
        Results { bus, subject, received, reader: None }
    }

    /// Restarts from the first result.
    pub(super) fn rewind(&mut self) {
        self.stop();
        let (sender, received) = mpsc::channel(1024);
        self.received = received;
        let reader = read_results(self.bus.clone(), self.subject.clone(), sender);
        self.reader = Some(tokio::spawn(reader));
    }

    fn stop(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.abort();
        }
    }
}

impl Drop for Results {
    fn drop(&mut self) {
        self.stop();
    }
}

async fn read_results(bus: Bus, subject: String, sender: mpsc::Sender<Received>) {
    // The sequence number of the last message, and the creation time of the stream.
    let (mut last, mut created) = (0, None);
    loop {
        let Ok(info) = bus.results.get_info().await else {
            sleep(Duration::from_millis(300)).await;
            continue;
        };
        if created.replace(info.created) != Some(info.created) {
            // The first stream, or a new one because the server has lost its disk.
            last = 0;
        }
        let Ok(consumer) = results_after(&bus, &subject, last).await else {
            sleep(Duration::from_millis(300)).await;
            continue;
        };
        let pending = consumer.cached_info().num_pending;
        if pending == 0 && sender.send(Received { pending, result: None }).await.is_err() {
            return;
        }
        let Ok(mut messages) = message_stream(&consumer).await else {
            sleep(Duration::from_millis(300)).await;
            continue;
        };
        let mut is_empty = true;
        // After a timeout, a new consumer is created: when the results of another job are removed,
        // servers before 2.9.12 may stop delivering these.
        while let Ok(Some(Ok(message))) = timeout(READ_TIMEOUT, messages.next()).await {
            is_empty = false;
            let Ok(info) = message.info() else { continue };
            let (sequence, pending) = (info.stream_sequence, info.pending);
            let result = unframe::<ResultHeader>(&message.payload).filter(|_| sequence > last);
            let result = result.map(|(header, body)| (header, body.to_vec()));
            last = last.max(sequence);
            if sender.send(Received { pending, result }).await.is_err() {
                return;
            }
        }
        drop(messages);
        // The server has counted results that it does not deliver, for example because they were
        // removed meanwhile. Those that arrive later are not too late.
        if is_empty && sender.send(Received { pending: 0, result: None }).await.is_err() {
            return;
        }
        let _ = bus.results.delete_consumer(&consumer.cached_info().name).await;
    }
}

/// How long to wait for the next result before creating a new consumer.
const READ_TIMEOUT: Duration = Duration::from_secs(5);

async fn results_after(
    bus: &Bus,
    subject: &str,
    last: u64,
) -> Result<Consumer<pull::Config>, WorkError> {
    let config = pull::Config {
        filter_subject: subject.to_owned(),
        ack_policy: AckPolicy::None,
        deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: last + 1 },
        inactive_threshold: Duration::from_mins(1),
        ..pull::Config::default()
    };
    bus.results.create_consumer(config).await.map_err(broker_error)
}

async fn message_stream(consumer: &Consumer<pull::Config>) -> Result<pull::Stream, WorkError> {
    consumer
        .stream()
        .max_messages_per_batch(1000)
        .expires(Duration::from_secs(10))
        .heartbeat(Duration::from_secs(1))
        .messages()
        .await
        .map_err(broker_error)
}
