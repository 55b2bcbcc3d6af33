//! The streams and buckets on the NATS server.

use std::time::Duration;

use async_nats::connection::State;
use async_nats::jetstream::Context;
use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::consumer::{AckPolicy, Consumer, pull};
use async_nats::jetstream::context::{ContextBuilder, CreateStreamError, CreateStreamErrorKind};
use async_nats::jetstream::kv::Store;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::object_store::ObjectStore;
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, Stream};
use async_nats::{Client, ConnectOptions, Event, ServerAddr};
use futures_util::TryStreamExt;

use super::Connection;
use crate::work::WorkError;

const UNITS: &str = "claimeven-units";
const RESULTS: &str = "claimeven-results";
const DAY: Duration = Duration::from_hours(24);

/// The subject of heartbeats of workers, with their id.
pub(crate) const LIVE_WORKERS: &str = "claimeven.live.worker";
/// The subject of heartbeats of coordinators, with the id of their job.
pub(crate) const LIVE_JOBS: &str = "claimeven.live.job";
/// The subject on which everybody is asked for a heartbeat now.
pub(crate) const HELLO: &str = "claimeven.live.hello";
/// The subject of jobs that have ended, with their id.
pub(crate) const ENDED: &str = "claimeven.live.ended";
/// The subject of workers that are dismissed, with their id.
pub(crate) const DISMISSED: &str = "claimeven.live.dismissed";

/// All that is used on a NATS server.
#[derive(Clone)]
pub(crate) struct Bus {
    pub(crate) client: Client,
    pub(crate) context: Context,
    pub(crate) units: Stream,
    pub(crate) results: Stream,
    pub(crate) jobs: Store,
    pub(crate) attempts: Store,
    pub(crate) files: ObjectStore,
}

/// Whether the first connection may take forever.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    UntilConnected,
    FailAtOnce,
}

/// Connects to the server. Later on, lost connections are made again for ever.
pub(crate) async fn connect(
    connection: &Connection,
    name: &str,
    patience: Patience,
) -> Result<Client, WorkError> {
    let error = |error: String| {
        WorkError::Broker(format!("cannot connect to {}: {error}", connection.shown_url()))
    };
    let events = connection.clone();
    let mut options = ConnectOptions::new()
        .name(name)
        .max_reconnects(None)
        // Backoff: 50 ms at first, 4 s at most.
        .reconnect_delay_callback(|attempts| {
            Duration::from_millis(50 << attempts.saturating_sub(1).min(7))
                .min(Duration::from_secs(4))
        })
        .ping_interval(Duration::from_secs(10))
        .event_callback(move |event| {
            match event {
                Event::Disconnected => {
                    events.say(format!("lost the connection to {}", events.shown_url()));
                }
                Event::Connected => events.say(format!("connected to {}", events.shown_url())),
                _ => {}
            }
            async {}
        });
    if patience == Patience::UntilConnected {
        options = options.retry_on_initial_connect();
    }
    if let Some(file) = &connection.credentials {
        let text = read_secret(file).map_err(error)?;
        options = options.credentials(&text).map_err(|cause| error(cause.to_string()))?;
    }
    if let Some(file) = &connection.nkey {
        options = options.nkey(read_secret(file).map_err(error)?.trim().to_owned());
    }
    if let Some(file) = &connection.certificates {
        options = options.add_root_certificates(file.clone());
    }
    let mut servers = Vec::new();
    for url in connection.url.split(',') {
        let server: ServerAddr = url.trim().parse().map_err(|cause| error(format!("{cause}")))?;
        // The library does not look for them in the address.
        if let Some(user) = server.username().map(percent_decoded) {
            options = match server.password().map(percent_decoded) {
                Some(password) => options.user_and_password(user, password),
                None => options.token(user),
            };
        }
        servers.push(server);
    }
    options.connect(servers).await.map_err(|cause| error(cause.to_string()))
}

/// A part of a URL as it was meant: `%40` is an at sign.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, others)) = rest.split_first() {
        let digits = others.get(..2).filter(|_| first == b'%');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            bytes.push(byte);
            rest = &others[2..];
        } else {
            bytes.push(first);
            rest = others;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn read_secret(file: &std::path::Path) -> Result<String, String> {
    std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

impl Bus {
    /// Finds or creates the streams and buckets.
    pub(crate) async fn open(client: Client) -> Result<Bus, WorkError> {
        let context = ContextBuilder::new()
            .timeout(Duration::from_secs(5))
            .max_ack_inflight(100_000)
            .build(client.clone());
        let units = Config {
            name: UNITS.to_owned(),
            subjects: vec!["claimeven.units.>".to_owned()],
            retention: RetentionPolicy::WorkQueue,
            max_age: 7 * DAY,
            ..Config::default()
        };
        let results = Config {
            name: RESULTS.to_owned(),
            subjects: vec!["claimeven.results.>".to_owned()],
            max_age: 7 * DAY,
            duplicate_window: Duration::from_mins(2),
            ..Config::default()
        };
        let (units, results) = (stream(&context, units).await?, stream(&context, results).await?);
        let jobs = bucket(&context, "claimeven-jobs", 7 * DAY).await?;
        let attempts = bucket(&context, "claimeven-attempts", DAY).await?;
        let files = object_store(&context, "claimeven-files", 7 * DAY).await?;
        Ok(Bus { client, context, units, results, jobs, attempts, files })
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// Stores a result; whether the server has it. A message with the id of an earlier one is not stored
    /// again for a while.
    pub(crate) async fn store_result(&self, job: &str, message: Vec<u8>, id: Option<&str>) -> bool {
        let mut publish = PublishMessage::build().payload(message.into());
        if let Some(id) = id {
            publish = publish.message_id(id);
        }
        match self.context.send_publish(results_subject(job), publish).await {
            Ok(stored) => stored.await.is_ok(),
            Err(_) => false,
        }
    }

    /// The consumer of the units of a kind, which all workers share.
    pub(crate) async fn consumer(
        &self,
        connection: &Connection,
        arithmetic: &str,
        kind: &str,
    ) -> Result<Consumer<pull::Config>, WorkError> {
        let version = token(&connection.version);
        let config = pull::Config {
            durable_name: Some(format!("{version}-{arithmetic}-{kind}")),
            filter_subject: format!("claimeven.units.{version}.{arithmetic}.{kind}.>"),
            ack_policy: AckPolicy::Explicit,
            ack_wait: connection.ack_wait,
            max_ack_pending: 1_000_000,
            max_waiting: 100_000,
            ..pull::Config::default()
        };
        self.units.create_consumer(config).await.map_err(broker)
    }
}

/// A key-value bucket. The client's own function asks the account for its limits first, in a form
/// that servers before 2.10 do not answer.
async fn bucket(context: &Context, name: &str, max_age: Duration) -> Result<Store, WorkError> {
    if let Ok(store) = context.get_key_value(name).await {
        return Ok(store);
    }
    let config = Config {
        name: format!("KV_{name}"),
        subjects: vec![format!("$KV.{name}.>")],
        max_messages_per_subject: 1,
        discard: DiscardPolicy::New,
        allow_rollup: true,
        deny_delete: true,
        allow_direct: true,
        max_age,
        ..Config::default()
    };
    stream(context, config).await?;
    context.get_key_value(name).await.map_err(broker)
}

/// An object store, made as the bucket above.
async fn object_store(
    context: &Context,
    name: &str,
    max_age: Duration,
) -> Result<ObjectStore, WorkError> {
    if let Ok(store) = context.get_object_store(name).await {
        return Ok(store);
    }
    let config = Config {
        name: format!("OBJ_{name}"),
        subjects: vec![format!("$O.{name}.C.>"), format!("$O.{name}.M.>")],
        discard: DiscardPolicy::New,
        allow_rollup: true,
        allow_direct: true,
        max_age,
        ..Config::default()
    };
    stream(context, config).await?;
    context.get_object_store(name).await.map_err(broker)
}

/// A stream, which is created unless it exists. While somebody else creates it, the server can refuse it as
/// one that overlaps before it can be found.
async fn stream(context: &Context, config: Config) -> Result<Stream, WorkError> {
    const ATTEMPTS: u32 = 40;
    const PAUSE: Duration = Duration::from_millis(50);
    for _ in 1..ATTEMPTS {
        match context.get_or_create_stream(config.clone()).await {
            Err(error) if is_being_created(&error) => tokio::time::sleep(PAUSE).await,
            found => return found.map_err(broker),
        }
    }
    context.get_or_create_stream(config).await.map_err(broker)
}

fn is_being_created(error: &CreateStreamError) -> bool {
    let CreateStreamErrorKind::JetStream(error) = error.kind() else { return false };
    [ErrorCode::STREAM_SUBJECT_OVERLAP, ErrorCode::STREAM_NAME_EXIST].contains(&error.error_code())
}

/// The subject of a job's units. Workers get those of their own version and arithmetic alone.
pub(crate) fn units_subject(
    version: &str,
    arithmetic: Option<&str>,
    kind: &str,
    job: &str,
) -> String {
    format!("claimeven.units.{}.{}.{kind}.{job}", token(version), arithmetic.unwrap_or(ANY))
}

/// Where the arithmetic of a processor makes no difference.
pub(crate) const ANY: &str = "any";

pub(crate) fn results_subject(job: &str) -> String {
    format!("claimeven.results.{job}")
}

/// A text as one token of a subject.
fn token(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

/// How many messages a stream has of a subject.
pub(crate) async fn count(stream: &Stream, subject: &str) -> Result<u64, WorkError> {
    let info = stream.info_builder().subjects(subject).fetch().await.map_err(broker)?;
    let counts: Vec<(String, usize)> = info.try_collect().await.map_err(broker)?;
    Ok(counts.iter().map(|(_, count)| *count as u64).sum())
}

pub(crate) fn broker(error: impl std::fmt::Display) -> WorkError {
    WorkError::Broker(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_in_passwords_are_read_as_they_were_meant() {
        for (text, meant) in
            [("plain", "plain"), ("se%40cret", "se@cret"), ("%C3%A4%", "ä%"), ("%zz%4", "%zz%4")]
        {
            assert_eq!(percent_decoded(text), meant);
        }
    }
}
