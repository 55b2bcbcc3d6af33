//! The dispatcher for the workers at a NATS server.

use std::collections::HashSet;
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
use super::coordinator::{Caller, Coordinator, Judge, Verdict, store_job};
use super::messages::JobRecord;
use super::worker::{Worker, panic_text};
use super::{Connection, Warnings, host_name, random_text};
use crate::work::{DispatchEvent, Dispatcher, Job, Work, WorkError};

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
            link: Arc::default(),
        }
    }

    /// Sets the arithmetic of this processor, in case this process computes the units.
    pub fn with_arithmetic(self, arithmetic: &str) -> Nats {
        Nats { arithmetic: arithmetic.to_owned(), ..self }
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
        let all: Vec<u64> = numbers.collect();
        if all.is_empty() {
            return Ok(());
        }
        let record = JobRecord::new(W::KIND, &self.connection.version, &job);
        let Some((link, bus)) = self.open(&record, &job, cancel)? else { return Ok(()) };
        let own_worker = OwnWorker::default();
        let stop_judge = Arc::new(AtomicBool::new(false));
        thread::scope(|scope| {
            let (requests, to_judge) = std_mpsc::channel();
            let (verdicts, judged) = mpsc::unbounded_channel();
            let stop = Arc::clone(&stop_judge);
            scope.spawn(move || judge(work, &to_judge, &verdicts, &stop));
            let caller = Caller { all, unit, take, cancel };
            let judge = Judge { requests, verdicts: judged };
            let mut coordinator =
                Coordinator::new(self, work, bus, record, job, caller, judge, &own_worker);
            // Dropping the coordinator closes the channel to the judge.
            let ended = link.runtime().block_on(async move { coordinator.run().await });
            stop_judge.store(true, Ordering::Relaxed);
            own_worker.end();
            ended
        })
    }
}

/// How long the first job of a command waits for a server that responds but is not ready, for
/// example because it has just been started.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// How long it waits for a server that does not respond.
const RESTART_TIMEOUT: Duration = Duration::from_secs(3);

impl Nats {
    /// Stores a job on the server; `None` if it is cancelled first. The first job fails if the
    /// server cannot be used; later jobs wait for it.
    fn open(
        &self,
        record: &JobRecord,
        job: &Job,
        cancel: Option<&AtomicBool>,
    ) -> Result<Option<(Arc<Link>, Bus)>, WorkError> {
        let known = self.link().clone();
        if let Some(link) = known {
            let bus = link.runtime().block_on(async {
                tokio::select! {
                    bus = self.store(&link.client, record, job, None) => Some(bus),
                    () = wait_until_cancelled(cancel) => None,
                }
            });
            return Ok(bus.transpose()?.map(|bus| (link, bus)));
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
                let bus = Box::pin(self.store(&client, record, job, Some(started + START_TIMEOUT)))
                    .await?;
                Ok::<_, WorkError>((client, bus))
            };
            tokio::select! {
                opened = opened => Some(opened),
                () = wait_until_cancelled(cancel) => None,
            }
        });
        let Some((client, bus)) = opened.transpose()? else { return Ok(None) };
        let link = Arc::new(Link { runtime: Some(runtime), client });
        *self.link() = Some(Arc::clone(&link));
        Ok(Some((link, bus)))
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

    /// Stores a job, retrying until the deadline.
    async fn store(
        &self,
        client: &Client,
        record: &JobRecord,
        job: &Job,
        deadline: Option<Instant>,
    ) -> Result<Bus, WorkError> {
        let mut warnings = Warnings::default();
        loop {
            let stored = async {
                let bus = Bus::open(client.clone()).await?;
                store_job(&bus, &record.id(), record, job).await?;
                Ok(bus)
            };
            match stored.await {
                Ok(bus) => return Ok(bus),
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

/// Computes disputed units on this machine, one after another.
fn judge<W: Work>(
    work: &W,
    requests: &std_mpsc::Receiver<(u64, W::Unit)>,
    verdicts: &UnboundedSender<Verdict<W>>,
    stop: &Arc<AtomicBool>,
) {
    let mut thread = None;
    while let Ok((number, unit)) = requests.recv() {
        let computed = panic::catch_unwind(AssertUnwindSafe(|| {
            let thread = thread.get_or_insert_with(|| work.thread());
            work.compute(thread, &unit, stop)
        }));
        let output = computed.unwrap_or_else(|panic| {
            thread = None;
            Err(WorkError::Panicked(number, panic_text(&*panic)).into())
        });
        if verdicts.send(Verdict { number, output }).is_err() {
            return;
        }
    }
}
