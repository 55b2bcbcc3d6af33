//! The status of a fleet.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use async_nats::connection::State;
use async_nats::{Client, Subscriber};
use futures_util::StreamExt;
use serde::Serialize;
use tokio::time::{timeout, timeout_at};

use super::Connection;
use super::bus::{
    Bus, HELLO, LIVE_JOBS, LIVE_WORKERS, Retry, broker_error, connect, messages_by_subject,
};
use super::claim::Claim;
use super::messages::{JobRecord, JobStatus, WorkerStatus};
use crate::work::WorkError;

/// The workers and jobs of a fleet.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FleetStatus {
    /// The workers that have sent a heartbeat within [`FLEET_TIMEOUT`].
    pub workers: Vec<WorkerStatus>,
    /// The jobs whose coordinators have sent a heartbeat within [`FLEET_TIMEOUT`].
    pub jobs: Vec<JobStatus>,
    /// Other jobs of which the server has units or results.
    pub abandoned: Vec<AbandonedJob>,
    /// Units on the server, waiting or being computed.
    pub units: u64,
    /// Results that the server keeps for unfinished jobs.
    pub results: u64,
    /// The size of both in bytes.
    pub bytes: u64,
}

/// A job without a coordinator, which can be resumed by the same command or cancelled with
/// [`cancel_job`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AbandonedJob {
    /// Its id.
    pub id: String,
    /// A short description; empty if the server no longer has the job, but only parts of it.
    pub title: String,
    /// Units on the server, which workers compute although nobody waits for them.
    pub units: u64,
    /// Results on the server.
    pub results: u64,
}

/// Removes the units and results of a job without a coordinator from the server, and has workers drop
/// what they are computing for it. Fails if there is no such job, or if its coordinator is running.
pub fn cancel_job(connection: &Connection, id: &str) -> Result<AbandonedJob, WorkError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(broker_error)?.block_on(async {
        let client = connect(connection, "claimeven fleet cancel", Retry::Never).await?;
        let bus = Box::new(Bus::open(client).await?);
        let known = stored_jobs(&bus).await?.remove(id);
        let title = title(&bus, id).await?;
        let Some(job) = known.or(title.is_some().then_some([0, 0])) else {
            return Err(WorkError::Broker(format!("there is no job '{id}'")));
        };
        let claim = Claim::take_now(&bus, id).await?;
        bus.remove_job(id).await?;
        claim.release().await;
        let _ = bus.client.flush().await;
        let [units, results] = job;
        Ok(AbandonedJob { id: id.to_owned(), title: title.unwrap_or_default(), units, results })
    })
}

/// The units and results on the server, by the id of their job.
async fn stored_jobs(bus: &Bus) -> Result<BTreeMap<String, [u64; 2]>, WorkError> {
    let mut jobs: BTreeMap<String, [u64; 2]> = BTreeMap::new();
    for (index, stream) in [&bus.units, &bus.results].into_iter().enumerate() {
        for (subject, messages) in messages_by_subject(stream, ">").await? {
            let id = subject.rsplit('.').next().unwrap_or_default();
            jobs.entry(id.to_owned()).or_default()[index] += messages;
        }
    }
    Ok(jobs)
}

/// The title of a job, if the server has it.
async fn title(bus: &Bus, id: &str) -> Result<Option<String>, WorkError> {
    let record = bus.jobs.get(id).await.map_err(broker_error)?;
    let record = record.and_then(|bytes| serde_json::from_slice::<JobRecord>(&bytes).ok());
    Ok(record.map(|record| record.title))
}

/// A worker or coordinator without a heartbeat for this long is considered gone.
pub const FLEET_TIMEOUT: Duration = Duration::from_secs(5);

/// How long workers and coordinators have to answer the first request for heartbeats.
const FIRST_HEARTBEATS: Duration = Duration::from_millis(750);

/// Passes the status of a fleet to `show` every `interval` until it breaks. The first status comes
/// after 750 ms, in which the workers and coordinators answer.
///
/// ```no_run
/// use std::ops::ControlFlow;
/// use std::time::Duration;
///
/// use claimeven_work::{Connection, watch_fleet};
///
/// let connection = Connection::new("nats://127.0.0.1:4222");
/// watch_fleet(&connection, Duration::from_secs(1), |status| {
///     println!("{} workers", status.workers.len());
///     ControlFlow::Break(())
/// })?;
/// # Ok::<(), claimeven_work::WorkError>(())
/// ```
pub fn watch_fleet(
    connection: &Connection,
    interval: Duration,
    mut show: impl FnMut(&FleetStatus) -> ControlFlow<()>,
) -> Result<(), WorkError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(broker_error)?.block_on(async {
        let name = "claimeven fleet status";
        let client = connect(connection, name, Retry::Never).await?;
        let bus = Box::new(Bus::open(client.clone()).await?);
        let mut monitor = FleetMonitor::new(client, Some(bus)).await?;
        loop {
            let snapshot = monitor.next(interval).await?;
            // While the server is unavailable, there is nothing new to show.
            if snapshot.is_connected && snapshot.has_streams && show(&snapshot.status).is_break() {
                return Ok(());
            }
        }
    })
}

/// Listens to the heartbeats of the workers and coordinators of a fleet.
pub struct FleetMonitor {
    client: Client,
    bus: Option<Box<Bus>>,
    /// When reading the streams last failed.
    streams_failed: Option<Instant>,
    workers: Subscriber,
    jobs: Subscriber,
    known_workers: BTreeMap<String, (WorkerStatus, Instant)>,
    known_jobs: BTreeMap<String, (JobStatus, Instant)>,
    connects: u64,
    next: tokio::time::Instant,
}

/// A snapshot of what a [`FleetMonitor`] knows.
#[derive(Clone, Debug)]
pub struct FleetSnapshot {
    /// Whether the NATS server can be reached. If not, the status is the last known one.
    pub is_connected: bool,
    /// Whether the streams can be read; otherwise their numbers are 0. This process may lack the
    /// permission.
    pub has_streams: bool,
    /// The workers that have announced that they are leaving since the last snapshot.
    pub left: Vec<String>,
    /// The workers and jobs.
    pub status: FleetStatus,
}

/// What the streams have.
#[derive(Default)]
struct Stored {
    units: u64,
    results: u64,
    bytes: u64,
    abandoned: Vec<AbandonedJob>,
}

/// How long to wait before trying again to read the streams.
const RETRY_STREAMS: Duration = Duration::from_secs(20);
/// How long reading them may take. A server does not answer requests that the client's key does not
/// permit.
const STREAMS_TIMEOUT: Duration = Duration::from_secs(3);

impl FleetMonitor {
    /// Starts listening; `name` identifies this process to the NATS server. If the server is
    /// unavailable, connecting continues in the background.
    pub async fn open(connection: &Connection, name: &str) -> Result<FleetMonitor, WorkError> {
        let client = connect(connection, name, Retry::Forever).await?;
        FleetMonitor::new(client, None).await
    }

    async fn new(client: Client, bus: Option<Box<Bus>>) -> Result<FleetMonitor, WorkError> {
        let workers = client.subscribe(format!("{LIVE_WORKERS}.*")).await.map_err(broker_error)?;
        let jobs = client.subscribe(format!("{LIVE_JOBS}.*")).await.map_err(broker_error)?;
        client.publish(HELLO, "".into()).await.map_err(broker_error)?;
        Ok(FleetMonitor {
            connects: client.statistics().connects.load(Ordering::Relaxed),
            client,
            bus,
            streams_failed: None,
            workers,
            jobs,
            known_workers: BTreeMap::new(),
            known_jobs: BTreeMap::new(),
            next: tokio::time::Instant::now() + FIRST_HEARTBEATS,
        })
    }

    /// Listens until the next snapshot is due. The one after that is due `interval` later.
    pub async fn next(&mut self, interval: Duration) -> Result<FleetSnapshot, WorkError> {
        let mut left = Vec::new();
        loop {
            let heard = timeout_at(self.next, async {
                tokio::select! {
                    message = self.workers.next() => message,
                    message = self.jobs.next() => message,
                }
            });
            match heard.await {
                Ok(Some(message)) => self.on_heartbeat(&message.payload, &mut left),
                Ok(None) => return Err(WorkError::Broker("the connection was closed".to_owned())),
                Err(_) => break,
            }
        }
        self.next = (self.next + interval).max(tokio::time::Instant::now());
        let is_connected = self.client.connection_state() == State::Connected;
        let connects = self.client.statistics().connects.load(Ordering::Relaxed);
        if std::mem::replace(&mut self.connects, connects) != connects {
            // Heartbeats were missed.
            self.streams_failed = None;
            let _ = self.client.publish(HELLO, "".into()).await;
        }
        let now = Instant::now();
        if is_connected {
            self.known_workers.retain(|_, (_, heard)| now.duration_since(*heard) < FLEET_TIMEOUT);
            self.known_jobs.retain(|_, (_, heard)| now.duration_since(*heard) < FLEET_TIMEOUT);
        } else {
            self.known_workers.values_mut().for_each(|(_, heard)| *heard = now);
            self.known_jobs.values_mut().for_each(|(_, heard)| *heard = now);
        }
        let stored = if is_connected { self.count_stored().await } else { None };
        let has_streams = stored.is_some();
        let Stored { units, results, bytes, abandoned } = stored.unwrap_or_default();
        let status = FleetStatus {
            workers: self.known_workers.values().map(|(status, _)| status.clone()).collect(),
            jobs: self.known_jobs.values().map(|(status, _)| status.clone()).collect(),
            abandoned,
            units,
            results,
            bytes,
        };
        Ok(FleetSnapshot { is_connected, has_streams, left, status })
    }

    fn on_heartbeat(&mut self, payload: &[u8], left: &mut Vec<String>) {
        let now = Instant::now();
        if let Ok(status) = serde_json::from_slice::<WorkerStatus>(payload) {
            if status.is_leaving {
                self.known_workers.remove(&status.id);
                left.push(status.id);
            } else {
                self.known_workers.insert(status.id.clone(), (status, now));
            }
        } else if let Ok(job) = serde_json::from_slice::<JobStatus>(payload) {
            self.known_jobs.insert(job.id.clone(), (job, now));
        }
    }

    /// What the streams have.
    async fn count_stored(&mut self) -> Option<Stored> {
        if self.streams_failed.is_some_and(|missed| missed.elapsed() < RETRY_STREAMS) {
            return None;
        }
        let count = async {
            if self.bus.is_none() {
                self.bus = Some(Box::new(Bus::open(self.client.clone()).await.ok()?));
            }
            let bus = self.bus.as_ref()?;
            let (units, results) =
                (bus.units.get_info().await.ok()?.state, bus.results.get_info().await.ok()?.state);
            let mut abandoned = Vec::new();
            if units.messages + results.messages > 0 {
                for (id, [units, results]) in stored_jobs(bus).await.ok()? {
                    if !self.known_jobs.contains_key(&id) {
                        let title = title(bus, &id).await.ok()?.unwrap_or_default();
                        abandoned.push(AbandonedJob { id, title, units, results });
                    }
                }
            }
            Some(Stored {
                units: units.messages,
                results: results.messages,
                bytes: units.bytes + results.bytes,
                abandoned,
            })
        };
        let stored = timeout(STREAMS_TIMEOUT, count).await.ok().flatten();
        if stored.is_none() {
            self.bus = None;
            self.streams_failed = Some(Instant::now());
        }
        stored
    }
}
