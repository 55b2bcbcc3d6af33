//! What a fleet is doing.

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
use super::bus::{Bus, HELLO, LIVE_JOBS, LIVE_WORKERS, Patience, broker, connect};
use super::messages::{JobStatus, WorkerStatus};
use crate::work::WorkError;

/// The workers and jobs of a fleet.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FleetStatus {
    /// The workers that have been heard of in the last seconds.
    pub workers: Vec<WorkerStatus>,
    /// The jobs whose coordinators have been heard of in the last seconds.
    pub jobs: Vec<JobStatus>,
    /// Units that the server has, waiting or at a worker.
    pub units: u64,
    /// Results that the server keeps for jobs that are not over.
    pub results: u64,
    /// The bytes of both.
    pub bytes: u64,
}

/// A worker or coordinator that is not heard of for this long has gone.
pub const FLEET_SILENCE: Duration = Duration::from_secs(5);

/// How long everybody has to answer the first question.
const FIRST_ANSWERS: Duration = Duration::from_millis(750);

/// Passes the status of a fleet on every `interval` until `show` breaks. The first comes after
/// three quarters of a second, in which everybody answers.
pub fn watch_fleet(
    connection: &Connection,
    interval: Duration,
    mut show: impl FnMut(&FleetStatus) -> ControlFlow<()>,
) -> Result<(), WorkError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(broker)?.block_on(async {
        let name = "claimeven fleet status";
        let client = connect(connection, name, Patience::FailAtOnce).await?;
        let bus = Bus::open(client.clone()).await?;
        let mut monitor = FleetMonitor::new(client, Some(bus)).await?;
        loop {
            let sighting = monitor.next(interval).await?;
            // While the server is away, there is nothing new to tell.
            if sighting.is_connected && sighting.has_streams && show(&sighting.status).is_break() {
                return Ok(());
            }
        }
    })
}

/// Hears what the workers and coordinators of a fleet say.
pub struct FleetMonitor {
    client: Client,
    bus: Option<Bus>,
    /// When the streams were last looked for in vain.
    missed_streams: Option<Instant>,
    workers: Subscriber,
    jobs: Subscriber,
    known_workers: BTreeMap<String, (WorkerStatus, Instant)>,
    known_jobs: BTreeMap<String, (JobStatus, Instant)>,
    connects: u64,
    next: tokio::time::Instant,
}

/// What a [`FleetMonitor`] knows at one time.
#[derive(Clone, Debug)]
pub struct Sighting {
    /// Whether the NATS server can be reached. If not, the status is the last one that is known.
    pub is_connected: bool,
    /// Whether the streams can be read; otherwise their numbers are 0. The key of this process may not
    /// allow it.
    pub has_streams: bool,
    /// The workers that have said goodbye since the last sighting.
    pub left: Vec<String>,
    /// The workers and jobs.
    pub status: FleetStatus,
}

/// How long to wait before streams that could not be read are tried again.
const RETRY_STREAMS: Duration = Duration::from_secs(20);
/// How long reading them may take. A server does not answer those whose key does not allow it.
const STREAMS_PATIENCE: Duration = Duration::from_secs(3);

impl FleetMonitor {
    /// Begins to listen, under a name that the NATS server shows. A server that is away is waited for in
    /// the background.
    pub async fn open(connection: &Connection, name: &str) -> Result<FleetMonitor, WorkError> {
        let client = connect(connection, name, Patience::UntilConnected).await?;
        FleetMonitor::new(client, None).await
    }

    async fn new(client: Client, bus: Option<Bus>) -> Result<FleetMonitor, WorkError> {
        let workers = client.subscribe(format!("{LIVE_WORKERS}.*")).await.map_err(broker)?;
        let jobs = client.subscribe(format!("{LIVE_JOBS}.*")).await.map_err(broker)?;
        client.publish(HELLO, "".into()).await.map_err(broker)?;
        Ok(FleetMonitor {
            connects: client.statistics().connects.load(Ordering::Relaxed),
            client,
            bus,
            missed_streams: None,
            workers,
            jobs,
            known_workers: BTreeMap::new(),
            known_jobs: BTreeMap::new(),
            next: tokio::time::Instant::now() + FIRST_ANSWERS,
        })
    }

    /// Listens until the next sighting is due, which is `interval` after this one.
    pub async fn next(&mut self, interval: Duration) -> Result<Sighting, WorkError> {
        let mut left = Vec::new();
        loop {
            let heard = timeout_at(self.next, async {
                tokio::select! {
                    message = self.workers.next() => message,
                    message = self.jobs.next() => message,
                }
            });
            match heard.await {
                Ok(Some(message)) => self.hear(&message.payload, &mut left),
                Ok(None) => return Err(WorkError::Broker("the connection was closed".to_owned())),
                Err(_) => break,
            }
        }
        self.next = (self.next + interval).max(tokio::time::Instant::now());
        let is_connected = self.client.connection_state() == State::Connected;
        let connects = self.client.statistics().connects.load(Ordering::Relaxed);
        if std::mem::replace(&mut self.connects, connects) != connects {
            // Nobody could be heard for a while.
            self.missed_streams = None;
            let _ = self.client.publish(HELLO, "".into()).await;
        }
        let now = Instant::now();
        if is_connected {
            self.known_workers.retain(|_, (_, heard)| now.duration_since(*heard) < FLEET_SILENCE);
            self.known_jobs.retain(|_, (_, heard)| now.duration_since(*heard) < FLEET_SILENCE);
        } else {
            self.known_workers.values_mut().for_each(|(_, heard)| *heard = now);
            self.known_jobs.values_mut().for_each(|(_, heard)| *heard = now);
        }
        let stored = if is_connected { self.count_stored().await } else { None };
        let [units, results, bytes] = stored.unwrap_or_default();
        let status = FleetStatus {
            workers: self.known_workers.values().map(|(status, _)| status.clone()).collect(),
            jobs: self.known_jobs.values().map(|(status, _)| status.clone()).collect(),
            units,
            results,
            bytes,
        };
        Ok(Sighting { is_connected, has_streams: stored.is_some(), left, status })
    }

    fn hear(&mut self, payload: &[u8], left: &mut Vec<String>) {
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

    /// Units, results and bytes of the streams.
    async fn count_stored(&mut self) -> Option<[u64; 3]> {
        if self.missed_streams.is_some_and(|missed| missed.elapsed() < RETRY_STREAMS) {
            return None;
        }
        let count = async {
            if self.bus.is_none() {
                self.bus = Some(Bus::open(self.client.clone()).await.ok()?);
            }
            let bus = self.bus.as_ref()?;
            let (units, results) =
                (bus.units.get_info().await.ok()?.state, bus.results.get_info().await.ok()?.state);
            Some([units.messages, results.messages, units.bytes + results.bytes])
        };
        let stored = timeout(STREAMS_PATIENCE, count).await.ok().flatten();
        if stored.is_none() {
            self.bus = None;
            self.missed_streams = Some(Instant::now());
        }
        stored
    }
}
