//! The dispatcher for the workers at a NATS server.

use std::collections::HashSet;
use std::io;
use std::ops::ControlFlow;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc as std_mpsc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use async_nats::Client;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::time::sleep;

use super::bus::{Bus, Retry, broker_error, connect, wait_until_set};
use super::cache;
use super::claim::Claim;
use super::coordinator::{Caller, Coordinator, Judge, Judged, Request, Verdict, store_job};
use super::isolation::{self, UnitCommand};
use super::messages::{JobRecord, digest_of_units, hash};
use super::worker::{Outcome, Worker};
use super::{Connection, Warnings, host_name, random_text};
use crate::work::{DispatchEvent, Dispatcher, Files, Job, Work, WorkError, panic_text};

/// All workers that are connected to a NATS server.
///
/// ```no_run
/// use claimeven_work::{Connection, Nats};
///
/// let connection = Connection::new("nats://127.0.0.1:4222");
/// let dispatcher = Nats::new(connection, 4, "cache".into()).with_check_share(0.05);
/// ```
#[derive(Clone)]
#[must_use]
pub struct Nats {
    pub(super) connection: Connection,
    pub(super) arithmetic: String,
    pub(super) threads: usize,
    pub(super) check_share: f64,
    pub(super) cache: PathBuf,
    /// Workers of whom a result has been or is being checked, by kind of work.
    checked: Arc<Mutex<HashSet<(&'static str, String)>>>,
    /// Whether the last job that started waited in vain for a worker.
    pub(super) is_alone: Arc<AtomicBool>,
    unit_command: Option<UnitCommand>,
    /// The connection that all jobs share, once the first one has started.
    link: Arc<Mutex<Option<Arc<Link>>>>,
}

/// A connection and the threads that serve it.
struct Link {
    /// `None` only while it is being dropped.
    runtime: Option<Runtime>,
    client: Client,
}

impl Link {
    fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().expect("it is taken on drop only")
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // Dropping a runtime waits for its tasks, which is not allowed in async callers.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Nats {
    /// The workers at a NATS server. If there are none, this process computes the units with this
    /// many threads.
    pub fn new(connection: Connection, threads: usize, cache: PathBuf) -> Nats {
        Nats {
            connection,
            arithmetic: String::new(),
            threads: threads.max(1),
            check_share: 0.02,
            cache,
            checked: Arc::default(),
            is_alone: Arc::default(),
            unit_command: None,
            link: Arc::default(),
        }
    }

    /// Sets the number of threads of this process, in case there are no workers.
    pub fn with_threads(self, threads: usize) -> Nats {
        Nats { threads: threads.max(1), ..self }
    }

    /// Sets the arithmetic of this processor, in case this process computes the units.
    pub fn with_arithmetic(self, arithmetic: &str) -> Nats {
        Nats { arithmetic: arithmetic.to_owned(), ..self }
    }

    /// Sets the command for units that are said to crash their processes. This process computes them
    /// with it before they are set aside. Without it, the reports of the workers are believed.
    pub fn with_unit_command(self, command: UnitCommand) -> Nats {
        Nats { unit_command: Some(command), ..self }
    }

    /// Sets the share of units that a second worker recomputes, from 0 to 1.
    pub fn with_check_share(self, share: f64) -> Nats {
        Nats { check_share: share.clamp(0.0, 1.0), ..self }
    }
}

impl Dispatcher for Nats {
    fn run<W: Work>(
        &self,
        work: &W,
        numbers: impl Iterator<Item = u64> + Send,
        unit: impl Fn(u64) -> W::Unit + Sync,
        cancel: Option<&AtomicBool>,
        take: impl FnMut(DispatchEvent<W::Output>) -> Result<ControlFlow<()>, W::Error>,
    ) -> Result<(), W::Error> {
        let job = work.job().map_err(WorkError::LocalOnly)?;
        if numbers.size_hint().0 > MAX_UNITS {
            let reason = format!("it has more than {MAX_UNITS} units");
            return Err(WorkError::LocalOnly(reason).into());
        }
        let all: Vec<u64> = numbers.collect();
        if all.is_empty() {
            return Ok(());
        }
        let units = || digest_of_units(all.iter().map(|&number| (number, unit(number))));
        let record = JobRecord::new(W::KIND, &self.connection.version, &job, units);
        let Some((link, bus, claim)) = self.open(&record, &job, cancel)? else { return Ok(()) };
        let own_worker = OwnWorker::default();
        let stop_judge = Arc::new(AtomicBool::new(false));
        thread::scope(|scope| {
            let (requests, to_judge) = std_mpsc::channel();
            let (verdicts, judged) = mpsc::unbounded_channel();
            let stop = Arc::clone(&stop_judge);
            let isolated = Isolated { nats: self, record: record.clone(), job: job.clone() };
            scope.spawn(move || judge(work, &isolated, &to_judge, &verdicts, &stop));
            let caller = Caller { all, unit, take, cancel };
            let judge = Judge { requests, verdicts: judged };
            let mut coordinator =
                Coordinator::new(self, work, bus, claim, record, job, caller, judge, &own_worker);
            // Dropping the coordinator closes the channel to the judge.
            let ended = link.runtime().block_on(async move { coordinator.run().await });
            stop_judge.store(true, Ordering::Relaxed);
            own_worker.end();
            ended
        })
    }
}

/// The maximum number of units of a job, whose numbers are kept in memory.
const MAX_UNITS: usize = 100_000_000;

/// How long the first job of a command waits for a server that responds but is not ready, for
/// example because it has just been started.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// How long it waits for a server that does not respond.
const RESTART_TIMEOUT: Duration = Duration::from_secs(3);

impl Nats {
    /// Claims a job and stores it on the server; `None` if it is cancelled first. The first job fails
    /// if the server cannot be used; later jobs wait for it.
    fn open(
        &self,
        record: &JobRecord,
        job: &Job,
        cancel: Option<&AtomicBool>,
    ) -> Result<Option<(Arc<Link>, Bus, Claim)>, WorkError> {
        let known = self.link().clone();
        if let Some(link) = known {
            let stored = link.runtime().block_on(async {
                tokio::select! {
                    stored = self.store(&link.client, record, job, None) => Some(stored),
                    () = wait_until_cancelled(cancel) => None,
                }
            });
            return Ok(stored.transpose()?.map(|(bus, claim)| (link, bus, claim)));
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(broker_error)?;
        let started = Instant::now();
        let opened = runtime.block_on(async {
            let opened = async {
                let client = self.connect(started).await?;
                let deadline = Some(started + START_TIMEOUT);
                let stored = Box::pin(self.store(&client, record, job, deadline)).await?;
                Ok::<_, WorkError>((client, stored))
            };
            tokio::select! {
                opened = opened => Some(opened),
                () = wait_until_cancelled(cancel) => None,
            }
        });
        let Some((client, (bus, claim))) = opened.transpose()? else { return Ok(None) };
        let link = Arc::new(Link { runtime: Some(runtime), client });
        *self.link() = Some(Arc::clone(&link));
        Ok(Some((link, bus, claim)))
    }

    /// Whether units that are said to crash can be computed in a process of their own.
    pub(super) fn can_isolate(&self) -> bool {
        self.unit_command.is_some()
    }

    /// Records that a result of a worker is being checked. Returns whether it is the first one.
    pub(super) fn mark_checked(&self, kind: &'static str, worker: &str) -> bool {
        let mut checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        checked.insert((kind, worker.to_owned()))
    }

    /// Undoes [`Nats::mark_checked`] if the check was not completed.
    pub(super) fn unmark_checked(&self, kind: &'static str, worker: String) {
        self.checked.lock().unwrap_or_else(PoisonError::into_inner).remove(&(kind, worker));
    }

    fn link(&self) -> MutexGuard<'_, Option<Arc<Link>>> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn connect(&self, started: Instant) -> Result<Client, WorkError> {
        let name = format!("{}-{} (coordinator)", host_name(), random_text());
        loop {
            match connect(&self.connection, &name, Retry::Never).await {
                // The server is being restarted.
                Err(WorkError::Broker(reason))
                    if reason.contains("IO error") && started.elapsed() < RESTART_TIMEOUT =>
                {
                    sleep(Duration::from_millis(300)).await;
                }
                connected => return connected,
            }
        }
    }

    /// Claims and stores a job, retrying until the deadline.
    async fn store(
        &self,
        client: &Client,
        record: &JobRecord,
        job: &Job,
        deadline: Option<Instant>,
    ) -> Result<(Bus, Claim), WorkError> {
        let id = record.id();
        let mut warnings = Warnings::default();
        loop {
            let stored = async {
                let bus = Bus::open(client.clone()).await?;
                let claim = Claim::take(&bus, &self.connection, &id).await?;
                if let Err(error) = store_job(&bus, &id, record, job).await {
                    claim.release().await;
                    return Err(error);
                }
                Ok((bus, claim))
            };
            match Box::pin(stored).await {
                Ok(stored) => return Ok(stored),
                Err(error @ WorkError::Claimed(_)) => return Err(error),
                Err(error) if deadline.is_some_and(|end| Instant::now() > end) => {
                    return Err(error);
                }
                Err(error) => {
                    warnings.warn(&self.connection, format!("{error}; trying again"));
                    sleep(Duration::from_millis(300)).await;
                }
            }
        }
    }
}

async fn wait_until_cancelled(cancel: Option<&AtomicBool>) {
    match cancel {
        Some(cancel) => wait_until_set(cancel).await,
        None => std::future::pending().await,
    }
}

/// The worker in this process, which is started if there is no other.
#[derive(Default)]
pub(super) struct OwnWorker {
    stop: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl OwnWorker {
    pub(super) fn start(&self, worker: Worker, connection: Connection) {
        let stop = Arc::clone(&self.stop);
        let thread = thread::spawn(move || {
            if let Err(error) = worker.run(&stop) {
                connection.log(error);
            }
        });
        *self.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
    }

    /// Whether it has been started and has not ended, for example because it was dismissed.
    pub(super) fn is_running(&self) -> bool {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    fn end(&self) {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

/// What computing a unit in a process of its own needs.
struct Isolated<'a> {
    nats: &'a Nats,
    record: JobRecord,
    job: Job,
}

impl Isolated<'_> {
    /// Computes a unit; `None` if there is no command for it.
    fn compute(&self, unit: &[u8], stop: &AtomicBool) -> Option<Outcome> {
        let command = self.nats.unit_command.as_ref()?;
        loop {
            let computed = self
                .files()
                .and_then(|files| isolation::compute(command, &self.record, &files, unit, stop));
            match computed {
                // Somebody has stopped the process.
                Ok(Outcome::Cancelled) if !stop.load(Ordering::Relaxed) => {}
                Ok(outcome) => return Some(outcome),
                Err(error) => {
                    return Some(Outcome::Crashed(format!("cannot start a process: {error}")));
                }
            }
        }
    }

    /// The files of the job on this machine.
    fn files(&self) -> io::Result<Files> {
        let stored = self.job.files.iter().map(|file| {
            let path = cache::find(&self.nats.cache, &hash(&file.content));
            let path = path.map_or_else(|| cache::store(&self.nats.cache, &file.content), Ok)?;
            Ok((file.name.clone(), path))
        });
        stored.collect()
    }
}

/// Computes disputed units on this machine, one after another.
fn judge<W: Work>(
    work: &W,
    isolated: &Isolated<'_>,
    requests: &std_mpsc::Receiver<Request<W::Unit>>,
    verdicts: &UnboundedSender<Verdict<W>>,
    stop: &Arc<AtomicBool>,
) {
    let mut thread = None;
    while let Ok(Request { number, unit, is_suspect }) = requests.recv() {
        let outcome = is_suspect
            .then(|| serde_json::to_vec(&unit).expect("units are plain data"))
            .and_then(|unit| isolated.compute(&unit, stop));
        let known = match outcome {
            Some(Outcome::Crashed(reason)) => Some(Judged::Crash(reason)),
            Some(Outcome::Done(output)) => {
                W::decode(&output).ok().map(|output| Judged::Output(Ok(Some(output))))
            }
            // It has not crashed, but only here its error has a type.
            Some(Outcome::Failed(_) | Outcome::Cancelled) | None => None,
        };
        let judged = known.unwrap_or_else(|| {
            let computed = panic::catch_unwind(AssertUnwindSafe(|| {
                let thread = thread.get_or_insert_with(|| work.thread());
                work.compute(thread, &unit, stop)
            }));
            Judged::Output(computed.unwrap_or_else(|panic| {
                thread = None;
                Err(WorkError::Panicked(number, panic_text(&*panic)).into())
            }))
        });
        if verdicts.send(Verdict { number, judged }).is_err() {
            return;
        }
    }
}
