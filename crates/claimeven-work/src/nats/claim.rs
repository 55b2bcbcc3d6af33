//! The claim of a coordinator on its job. Two coordinators of one job would remove each other's units
//! and results.
//!
//! The NATS server forgets a claim that is not renewed, so the job of a coordinator that was killed
//! can be continued after a few seconds, and on the same machine at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_nats::jetstream::kv::{CreateErrorKind, UpdateErrorKind};
use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::bus::{Bus, broker_error};
use super::{Connection, host_name, random_text};
use crate::work::WorkError;

/// How long a claim lasts without being renewed. Longer than the pauses between attempts to connect
/// to a server that was restarted.
pub(super) const LIFETIME: Duration = Duration::from_secs(6);
/// How often it is renewed.
const INTERVAL: Duration = Duration::from_secs(1);
/// How long to wait for the coordinator that holds it, which may be ending.
const PATIENCE: Duration = Duration::from_secs(15);
/// How long to wait before saying so.
const LOG_AFTER: Duration = Duration::from_secs(1);

/// A claim. It expires some seconds after it was dropped.
pub(super) struct Claim {
    bus: Bus,
    job: String,
    is_lost: Arc<AtomicBool>,
    renewal: JoinHandle<()>,
}

/// A coordinator, as stored in its claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Holder {
    host: String,
    /// Differs for each claim.
    id: String,
    process: Option<Process>,
}

/// A process, if it can be told from all others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Process {
    /// The machine since it was started, and the processes that see each other there.
    place: String,
    id: u32,
}

impl Claim {
    /// Claims a job. Waits for another coordinator of the same job, but not for long.
    pub(super) async fn take(
        bus: &Bus,
        connection: &Connection,
        job: &str,
    ) -> Result<Claim, WorkError> {
        let holder = Holder::new();
        let started = Instant::now();
        let mut is_logged = false;
        loop {
            let host = match Claim::try_to_take(bus, job, &holder).await? {
                Ok(claim) => return Ok(claim),
                Err(host) => host,
            };
            if started.elapsed() > PATIENCE {
                return Err(WorkError::Claimed(host));
            }
            // One that has just ended may not have been forgotten yet.
            if started.elapsed() > LOG_AFTER && !std::mem::replace(&mut is_logged, true) {
                connection
                    .log(format!("job {job} is being done by another process on {host}; waiting"));
            }
            sleep(Duration::from_millis(200)).await;
        }
    }

    /// Claims a job unless another coordinator has it.
    pub(super) async fn take_now(bus: &Bus, job: &str) -> Result<Claim, WorkError> {
        match Claim::try_to_take(bus, job, &Holder::new()).await? {
            Ok(claim) => Ok(claim),
            Err(host) => Err(WorkError::Claimed(host)),
        }
    }

    /// Claims a job, or returns the machine of the coordinator that has it.
    async fn try_to_take(
        bus: &Bus,
        job: &str,
        holder: &Holder,
    ) -> Result<Result<Claim, String>, WorkError> {
        let taken = |revision| Ok(Ok(Claim::new(bus, job, holder.clone(), revision)));
        match bus.claims.create(job, holder.to_bytes().into()).await {
            Ok(revision) => return taken(revision),
            Err(error) if error.kind() == CreateErrorKind::AlreadyExists => {}
            Err(error) => return Err(broker_error(error)),
        }
        let entry = bus.claims.entry(job).await.map_err(broker_error)?;
        let other = entry.as_ref().map(|entry| serde_json::from_slice::<Holder>(&entry.value));
        let (Some(entry), Some(Ok(other))) = (entry, other) else {
            // It has just been released.
            return Ok(Err("another machine".to_owned()));
        };
        if other.is_gone() {
            let stored = bus.claims.update(job, holder.to_bytes().into(), entry.revision).await;
            if let Ok(revision) = stored {
                return taken(revision);
            }
        }
        Ok(Err(other.host))
    }

    fn new(bus: &Bus, job: &str, holder: Holder, revision: u64) -> Claim {
        let is_lost = Arc::new(AtomicBool::new(false));
        let renewal = renew(bus.clone(), job.to_owned(), holder, revision, Arc::clone(&is_lost));
        // A task of its own, because the caller of a job may be slow to take its results.
        Claim { bus: bus.clone(), job: job.to_owned(), is_lost, renewal: tokio::spawn(renewal) }
    }

    /// Whether another coordinator has the job because this one was frozen or cut off.
    pub(super) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }

    /// Lets others claim the job at once.
    pub(super) async fn release(&self) {
        self.renewal.abort();
        if !self.is_lost() {
            let _ = timeout(INTERVAL, self.bus.claims.purge(&self.job)).await;
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.renewal.abort();
    }
}

/// Renews a claim until another coordinator has it.
async fn renew(bus: Bus, job: String, holder: Holder, mut revision: u64, is_lost: Arc<AtomicBool>) {
    loop {
        sleep(INTERVAL).await;
        let bytes = || holder.to_bytes().into();
        revision = match bus.claims.update(&job, bytes(), revision).await {
            Ok(revision) => revision,
            Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => {
                // It has expired, or an earlier update was stored without an answer.
                let Ok(entry) = bus.claims.entry(&job).await else { continue };
                let current = entry.as_ref().map(|entry| serde_json::from_slice(&entry.value));
                match (current, entry) {
                    (Some(Ok(current)), Some(entry)) if holder == current => entry.revision,
                    (Some(Ok(_)), _) => return is_lost.store(true, Ordering::Relaxed),
                    _ => bus.claims.create(&job, bytes()).await.unwrap_or(revision),
                }
            }
            // The server is not available.
            Err(_) => revision,
        };
    }
}

impl Holder {
    /// This process, with a new id.
    fn new() -> Holder {
        let id = format!("{}{}", random_text(), random_text());
        Holder { host: host_name(), id, process: Process::current() }
    }

    fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a holder is plain data")
    }

    /// Whether it was a process of this machine that no longer exists.
    fn is_gone(&self) -> bool {
        match (&self.process, Process::current()) {
            (Some(process), Some(own)) => process.place == own.place && !process.is_running(),
            _ => false,
        }
    }
}

impl Process {
    /// This process; `None` where that is not known.
    fn current() -> Option<Process> {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let processes = std::fs::read_link("/proc/self/ns/pid").ok()?;
        let place = format!("{} {}", boot.trim(), processes.display());
        Some(Process { place, id: std::process::id() })
    }

    /// Whether a process of this machine is running. Another one may have got its id.
    fn is_running(&self) -> bool {
        std::fs::exists(format!("/proc/{}", self.id)).unwrap_or(true)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_has_ended_is_gone() {
        let own = Holder::new();
        assert!(!own.is_gone());
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let id = child.id();
        child.wait().unwrap();
        let process = own.process.clone().unwrap();
        let ended = |process| Holder { process: Some(process), ..own.clone() };
        assert!(ended(Process { id, ..process.clone() }).is_gone());
        // It says nothing about the processes of other machines.
        let elsewhere = Process { place: "elsewhere".to_owned(), id };
        assert!(!ended(elsewhere).is_gone());
    }
}
