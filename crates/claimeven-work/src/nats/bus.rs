//! The streams and buckets on the NATS server.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_nats::connection::State;
use async_nats::jetstream::Context;
use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::consumer::{AckPolicy, Consumer, pull};
use async_nats::jetstream::context::{
    ContextBuilder, CreateStreamError, CreateStreamErrorKind, PublishError, PublishErrorKind,
};
use async_nats::jetstream::kv::Store;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::object_store::ObjectStore;
use async_nats::jetstream::stream::{
    Config, DiscardPolicy, LastRawMessageErrorKind, RetentionPolicy, Stream,
};
use async_nats::{
    Client, ClientError, ConnectError, ConnectOptions, Event, ServerAddr, ServerError,
};
use futures_util::stream::FuturesUnordered;
use futures_util::{StreamExt, TryStreamExt};
use nkeys::KeyPair;
use percent_encoding::percent_decode_str;

use super::{Connection, Warnings, claim};
use crate::work::WorkError;

const UNITS: &str = "claimeven-units";
const RESULTS: &str = "claimeven-results";
pub(crate) const DAY: Duration = Duration::from_hours(24);

/// The subject of heartbeats of workers, with their id.
pub(crate) const LIVE_WORKERS: &str = "claimeven.live.worker";
/// The subject of heartbeats of coordinators, with the id of their job.
pub(crate) const LIVE_JOBS: &str = "claimeven.live.job";
/// The subject of requests for an immediate heartbeat.
pub(crate) const HELLO: &str = "claimeven.live.hello";
/// The subject of jobs that have ended, with their id.
pub(crate) const ENDED: &str = "claimeven.live.ended";
/// The last token of the subject, after that of a worker's heartbeats, on which it announces that
/// it has left a job.
pub(crate) const LEFT: &str = "left";
/// The subject of workers that are dismissed, with their id.
pub(crate) const DISMISSED: &str = "claimeven.live.dismissed";

/// The streams, buckets and object store that are used on a NATS server.
#[derive(Clone)]
pub(crate) struct Bus {
    pub(crate) client: Client,
    pub(crate) context: Context,
    pub(crate) units: Stream,
    pub(crate) results: Stream,
    pub(crate) jobs: Store,
    pub(crate) claims: Store,
    pub(crate) attempts: Store,
    pub(crate) files: ObjectStore,
}

/// How long to try to connect for the first time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Retry {
    Forever,
    Never,
}

/// Connects to the server. Connections that are lost later are always re-established.
pub(crate) async fn connect(
    connection: &Connection,
    name: &str,
    retry: Retry,
) -> Result<Client, WorkError> {
    let mut servers: Vec<ServerAddr> = Vec::new();
    for url in connection.url.split(',') {
        servers.push(url.trim().parse().map_err(|cause| connect_error(connection, cause))?);
    }
    let options = || Ok::<_, WorkError>(with_users(options(connection, name)?, &servers));
    let first = options()?.connect(servers.clone());
    if retry == Retry::Never {
        let failed =
            |cause: ConnectError| WorkError::Broker(refusal(connection, &cause.to_string()));
        return first.await.map_err(failed);
    }
    // Only the first attempt reports why it failed.
    match tokio::time::timeout(FIRST_ATTEMPT, first).await {
        Ok(Ok(client)) => return Ok(client),
        Ok(Err(cause)) => {
            connection.log(format!("{}; trying again", refusal(connection, &cause.to_string())));
        }
        Err(_) => {}
    }
    let options = options()?.retry_on_initial_connect();
    options.connect(servers).await.map_err(|cause| connect_error(connection, cause))
}

/// How long the first attempt to connect may take before the retries in the background.
const FIRST_ATTEMPT: Duration = Duration::from_secs(2);

/// The error for an address or file of the command line that cannot be used.
fn connect_error(connection: &Connection, reason: impl std::fmt::Display) -> WorkError {
    WorkError::Broker(format!("cannot connect to {}: {reason}", connection.redacted_url()))
}

fn options(connection: &Connection, name: &str) -> Result<ConnectOptions, WorkError> {
    let events = connection.clone();
    let warnings = Mutex::new(Warnings::default());
    let warn = move |message: String| {
        warnings.lock().unwrap_or_else(PoisonError::into_inner).warn(&events, message);
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
                    events.log(format!("lost the connection to {}", events.redacted_url()));
                }
                Event::Connected => events.log(format!("connected to {}", events.redacted_url())),
                // Without its cause, an I/O error adds nothing to the lost connection.
                Event::ClientError(ClientError::Other(reason)) if reason != "IO error" => {
                    warn(format!("{}; trying again", refusal(&events, &reason)));
                }
                // For example a permissions violation.
                Event::ServerError(ServerError::Other(reason)) => {
                    warn(format!("{}: {reason}", events.redacted_url()));
                }
                _ => {}
            }
            async {}
        });
    let connect_error = |reason: String| connect_error(connection, reason);
    if let Some(file) = &connection.credentials {
        let text = read_text(file).map_err(connect_error)?;
        let invalid = |_| connect_error(format!("{}: not a credentials file", file.display()));
        options = options.credentials(&text).map_err(invalid)?;
    }
    if let Some(file) = &connection.nkey {
        let seed = read_text(file).map_err(connect_error)?.trim().to_owned();
        let invalid = |_| connect_error(format!("{}: not an nkey seed", file.display()));
        KeyPair::from_seed(&seed).map_err(invalid)?;
        options = options.nkey(seed);
    }
    if let Some(file) = &connection.certificates {
        if !read_text(file).map_err(connect_error)?.contains("-----BEGIN CERTIFICATE-----") {
            return Err(connect_error(format!("{}: not a certificate file", file.display())));
        }
        options = options.add_root_certificates(file.clone());
    }
    Ok(options)
}

/// Adds the users, passwords and tokens of the addresses, which the client library ignores.
fn with_users(mut options: ConnectOptions, servers: &[ServerAddr]) -> ConnectOptions {
    for server in servers {
        if let Some(user) = server.username().map(percent_decoded) {
            options = match server.password().map(percent_decoded) {
                Some(password) => options.user_and_password(user, password),
                None => options.token(user),
            };
        }
    }
    options
}

/// Decodes a part of a URL: `%40` is an at sign.
fn percent_decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Why connecting failed, with the option that was rejected.
fn refusal(connection: &Connection, reason: &str) -> String {
    let Connection { credentials, nkey, certificates, .. } = connection;
    let used = |what: &str, file: &Path| format!(" ({what} {})", file.display());
    let hint = if reason.contains("authorization") || reason.contains("nonce") {
        match (credentials, nkey) {
            (Some(file), _) => used("using the credentials in", file),
            (None, Some(file)) => used("using the key in", file),
            (None, None) => " (without a key)".to_owned(),
        }
    } else if reason.contains("certificate") || reason.contains("TLS") {
        match certificates {
            Some(file) => used("trusting the certificates in", file),
            None => " (trusting the system's certificates)".to_owned(),
        }
    } else {
        String::new()
    };
    format!("cannot connect to {}: {reason}{hint}", connection.redacted_url())
}

fn read_text(file: &Path) -> Result<String, String> {
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
        let claims = bucket(&context, "claimeven-claims", claim::LIFETIME).await?;
        let attempts = bucket(&context, "claimeven-attempts", DAY).await?;
        let files = object_store(&context, "claimeven-files", 7 * DAY).await?;
        Ok(Bus { client, context, units, results, jobs, claims, attempts, files })
    }

    /// The number of times a connection has been established.
    pub(crate) fn connects(&self) -> u64 {
        self.client.statistics().connects.load(Ordering::Relaxed)
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// Stores a result; `Ok` once the server has it. Messages with the same id are deduplicated for
    /// two minutes.
    pub(crate) async fn store_result(
        &self,
        job: &str,
        message: Vec<u8>,
        id: Option<&str>,
    ) -> Result<(), WorkError> {
        let mut publish = PublishMessage::build().payload(message.into());
        if let Some(id) = id {
            publish = publish.message_id(id);
        }
        let stored = self.context.send_publish(results_subject(job), publish).await;
        let stored = stored.map_err(|error| store_error(&error))?;
        stored.await.map_err(|error| store_error(&error))?;
        Ok(())
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
            durable_name: Some(consumer_name(connection, arithmetic, kind)),
            filter_subject: format!("claimeven.units.{version}.{arithmetic}.{kind}.>"),
            ack_policy: AckPolicy::Explicit,
            ack_wait: connection.ack_wait,
            max_ack_pending: 1_000_000,
            max_waiting: 100_000,
            ..pull::Config::default()
        };
        self.units.create_consumer(config).await.map_err(broker_error)
    }

    /// Removes the units of a job, one by one: purging their subject makes servers before 2.9.12
    /// lose units of other jobs that the same consumer delivers.
    pub(crate) async fn remove_units(&self, subject: &str) -> Result<(), WorkError> {
        let mut removing = FuturesUnordered::new();
        let mut next = 1;
        loop {
            let found = self.units.get_first_raw_message_by_subject(subject, next).await;
            let sequence = match found {
                Ok(message) => message.sequence,
                Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => break,
                Err(error) => return Err(broker_error(error)),
            };
            next = sequence + 1;
            removing.push(self.units.delete_message(sequence));
            if removing.len() >= 64 {
                // Fails if a worker has acknowledged the unit meanwhile, which removes it as well.
                let _ = removing.next().await;
            }
        }
        while removing.next().await.is_some() {}
        Ok(())
    }

    /// Removes units by their sequence numbers, many at a time.
    pub(crate) async fn remove_units_at(&self, sequences: Vec<u64>) {
        let removing = sequences.into_iter().map(|sequence| self.units.delete_message(sequence));
        // Fails for units that a worker has acknowledged, which are already gone.
        let mut removing = futures_util::stream::iter(removing).buffer_unordered(64);
        while removing.next().await.is_some() {}
    }

    /// Removes everything of a job that has no coordinator.
    pub(crate) async fn remove_job(&self, job: &str) -> Result<(), WorkError> {
        self.jobs.purge(job).await.map_err(broker_error)?;
        for (subject, _) in messages_by_subject(&self.units, ">").await? {
            if subject.rsplit('.').next() == Some(job) {
                self.remove_units(&subject).await?;
            }
        }
        self.client.publish(format!("{ENDED}.{job}"), "".into()).await.map_err(broker_error)?;
        // Results that workers are storing.
        tokio::time::sleep(Duration::from_secs(1)).await;
        self.remove_attempts(job).await?;
        self.results.purge().filter(results_subject(job)).await.map_err(broker_error)?;
        Ok(())
    }

    /// Forgets the starts of a job's units.
    pub(crate) async fn remove_attempts(&self, job: &str) -> Result<(), WorkError> {
        let keys = format!("{}{job}.>", self.attempts.prefix);
        self.attempts.stream.purge().filter(keys).await.map_err(broker_error)?;
        Ok(())
    }

    /// Whether the consumer of a kind has forgotten units: it knows fewer than the stream has.
    pub(crate) async fn has_forgotten_units(
        &self,
        connection: &Connection,
        arithmetic: &str,
        kind: &str,
    ) -> Result<bool, WorkError> {
        let name = consumer_name(connection, arithmetic, kind);
        let info = self.units.consumer_info(name).await.map_err(broker_error)?;
        let known = info.num_pending + info.num_ack_pending as u64;
        Ok(count(&self.units, &info.config.filter_subject).await? > known)
    }

    /// Removes the consumer of a kind. Workers recreate it and get all remaining units.
    pub(crate) async fn remove_consumer(
        &self,
        connection: &Connection,
        arithmetic: &str,
        kind: &str,
    ) -> Result<(), WorkError> {
        let name = consumer_name(connection, arithmetic, kind);
        self.units.delete_consumer(&name).await.map_err(broker_error)?;
        Ok(())
    }
}

fn consumer_name(connection: &Connection, arithmetic: &str, kind: &str) -> String {
    format!("{}-{arithmetic}-{kind}", token(&connection.version))
}

/// A key-value bucket. The client library's own function first requests the limits of the account,
/// in a form that servers before 2.10 do not answer.
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
    context.get_key_value(name).await.map_err(broker_error)
}

/// An object store, created like the bucket above.
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
    context.get_object_store(name).await.map_err(broker_error)
}

/// A stream, created unless it exists. While another client is creating it, the server may report
/// an overlap before the stream can be found.
async fn stream(context: &Context, config: Config) -> Result<Stream, WorkError> {
    const ATTEMPTS: u32 = 40;
    const PAUSE: Duration = Duration::from_millis(50);
    for _ in 1..ATTEMPTS {
        match context.get_or_create_stream(config.clone()).await {
            Err(error) if is_being_created(&error) => tokio::time::sleep(PAUSE).await,
            found => return found.map_err(broker_error),
        }
    }
    context.get_or_create_stream(config).await.map_err(broker_error)
}

fn is_being_created(error: &CreateStreamError) -> bool {
    let CreateStreamErrorKind::JetStream(error) = error.kind() else { return false };
    [ErrorCode::STREAM_SUBJECT_OVERLAP, ErrorCode::STREAM_NAME_EXIST].contains(&error.error_code())
}

/// The subject of a job's units. Workers only get units of their own version and arithmetic.
pub(crate) fn units_subject(
    version: &str,
    arithmetic: Option<&str>,
    kind: &str,
    job: &str,
) -> String {
    format!("claimeven.units.{}.{}.{kind}.{job}", token(version), arithmetic.unwrap_or(ANY))
}

/// Stands for the arithmetic in subjects of jobs that do not depend on it.
pub(crate) const ANY: &str = "any";

pub(crate) fn results_subject(job: &str) -> String {
    format!("claimeven.results.{job}")
}

/// Turns a text into one token of a subject.
fn token(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

/// The number of messages of a subject in a stream.
pub(crate) async fn count(stream: &Stream, subject: &str) -> Result<u64, WorkError> {
    let counts = messages_by_subject(stream, subject).await?;
    Ok(counts.iter().map(|(_, count)| count).sum())
}

/// The numbers of messages of all subjects in a stream that a filter matches.
pub(crate) async fn messages_by_subject(
    stream: &Stream,
    filter: &str,
) -> Result<Vec<(String, u64)>, WorkError> {
    let info = stream.info_builder().subjects(filter).fetch().await.map_err(broker_error)?;
    let counts: Vec<(String, usize)> = info.try_collect().await.map_err(broker_error)?;
    Ok(counts.into_iter().map(|(subject, count)| (subject, count as u64)).collect())
}

pub(crate) fn broker_error(error: impl std::fmt::Display) -> WorkError {
    WorkError::Broker(error.to_string())
}

/// Why a message was not stored. A server whose disk is full disables JetStream and stops
/// answering.
pub(crate) fn store_error(error: &PublishError) -> WorkError {
    let text = error.to_string();
    let is_full = error.kind() == PublishErrorKind::TimedOut || text.contains("insufficient");
    let hint = if is_full { " (the disk of the NATS server may be full, see its log)" } else { "" };
    WorkError::Broker(format!("{text}{hint}"))
}

/// Waits until a flag is set.
pub(crate) async fn wait_until_set(flag: &AtomicBool) {
    while !flag.load(Ordering::Relaxed) {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
