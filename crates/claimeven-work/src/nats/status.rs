//! What a fleet is doing.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use serde::Serialize;
use tokio::time::timeout_at;

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

/// Whoever is not heard of for this long has gone.
const SILENCE: Duration = Duration::from_secs(5);

/// Passes the status of a fleet on every `interval` until `show` breaks. The first comes after
/// three quarters of a second, in which everybody answers.
pub fn watch_fleet(
    connection: &Connection,
    interval: Duration,
    mut show: impl FnMut(&FleetStatus) -> ControlFlow<()>,
) -> Result<(), WorkError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(broker)?.block_on(async {
        let client = connect(connection, "claimeven fleet status", Patience::FailAtOnce).await?;
        let bus = Bus::open(client).await?;
        let mut workers =
            bus.client.subscribe(format!("{LIVE_WORKERS}.*")).await.map_err(broker)?;
        let mut jobs = bus.client.subscribe(format!("{LIVE_JOBS}.*")).await.map_err(broker)?;
        bus.client.publish(HELLO, "".into()).await.map_err(broker)?;
        let mut known_workers = BTreeMap::new();
        let mut known_jobs = BTreeMap::new();
        let mut next = tokio::time::Instant::now() + Duration::from_millis(750);
        loop {
            let heard = timeout_at(next, async {
                tokio::select! {
                    message = workers.next() => message,
                    message = jobs.next() => message,
                }
            });
            let now = Instant::now();
            match heard.await {
                Ok(Some(message)) => {
                    if let Ok(status) = serde_json::from_slice::<WorkerStatus>(&message.payload) {
                        if status.is_leaving {
                            known_workers.remove(&status.id);
                        } else {
                            known_workers.insert(status.id.clone(), (status, now));
                        }
                    } else if let Ok(job) = serde_json::from_slice::<JobStatus>(&message.payload) {
                        known_jobs.insert(job.id.clone(), (job, now));
                    }
                    continue;
                }
                Ok(None) => return Err(WorkError::Broker("the connection was closed".to_owned())),
                Err(_) => next += interval,
            }
            known_workers.retain(|_, (_, heard)| heard.elapsed() < SILENCE);
            known_jobs.retain(|_, (_, heard)| heard.elapsed() < SILENCE);
            // While the server is away, there is nothing new to tell.
            let (Ok(units), Ok(results)) =
                (bus.units.get_info().await, bus.results.get_info().await)
            else {
                continue;
            };
            let status = FleetStatus {
                workers: known_workers.values().map(|(status, _)| status.clone()).collect(),
                jobs: known_jobs.values().map(|(status, _)| status.clone()).collect(),
                units: units.state.messages,
                results: results.state.messages,
                bytes: units.state.bytes + results.state.bytes,
            };
            if show(&status).is_break() {
                return Ok(());
            }
        }
    })
}
