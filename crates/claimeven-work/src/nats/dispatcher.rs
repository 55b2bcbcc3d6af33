//! The dispatcher that gives units to the workers at a NATS server.

use std::collections::HashSet;
use std::ops::ControlFlow;
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

use super::bus::{Bus, Patience, broker, connect, until_set};
use super::coordinator::{Caller, Coordinator, Judge, Verdict, store_job};
use super::messages::JobRecord;
use super::worker::Worker;
use super::{Complaints, Connection, host_name, random_text};
use crate::work::{Dispatcher, Job, Taken, Work, WorkError};

/// All workers that are connected to a NATS server.
#[derive(Clone)]
#[must_use]
pub struct Nats {
    pub(super) connection: Connection,
    pub(super) arithmetic: String,
    pub(super) threads: usize,
    pub(super) check_share: f64,
    pub(super) cache: PathBuf,
    /// Workers of which a result of some kind has been or is being checked.
    checked: Arc<Mutex<HashSet<(&'static str, String)>>>,
    /// The connection of all jobs, once the first of them has begun.
    link: Arc<Mutex<Option<Arc<Link>>>>,
}

/// A connection and the threads that serve it.
struct Link {
    /// `None` at the very end.
    runtime: Option<Runtime>,
    client: Client,
}

impl Link {
    fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().expect("it is there until the end")
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // The usual way waits for tasks, which async callers must not do.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Nats {
    /// The workers at a NATS server. If there are none, this process works itself, with this many
    /// threads.
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

    /// Names the arithmetic of this processor, for the case that it works itself.
    pub fn with_arithmetic(self, arithmetic: &str) -> Nats {
        Nats { arithmetic: arithmetic.to_owned(), ..self }
    }

    /// Sets the share of the units that a second worker computes again, from 0 to 1.
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
        take: impl FnMut(Taken<W::Output>) -> Result<ControlFlow<()>, W::Error>,
    ) -> Result<(), W::Error> {
        let job = work.job().map_err(WorkError::OnlyHere)?;
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
            // The requests to the judge end with it.
            let ended = link.runtime().block_on(async move { coordinator.run().await });
            stop_judge.store(true, Ordering::Relaxed);
            own_worker.end();
            ended
        })
    }
}

/// How long the first job of a command waits for a server that answers but cannot be used, for
/// example because it has just been started.
const START: Duration = Duration::from_secs(10);

/// How long it waits for a server that is away.
const RESTART: Duration = Duration::from_secs(3);

impl Nats {
    /// Stores a job on the server; `None` if it is cancelled before. A first job ends with an error if
    /// the server cannot be used; later ones wait for it.
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
                    () = until_cancelled(cancel) => None,
                }
            });
            return Ok(bus.transpose()?.map(|bus| (link, bus)));
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(broker)?;
        let began = Instant::now();
        let opened = runtime.block_on(async {
            let opened = async {
                let client = self.connect(began).await?;
                let bus = Box::pin(self.store(&client, record, job, Some(began + START))).await?;
                Ok::<_, WorkError>((client, bus))
            };
            tokio::select! {
                opened = opened => Some(opened),
                () = until_cancelled(cancel) => None,
            }
        });
        let Some((client, bus)) = opened.transpose()? else { return Ok(None) };
        let link = Arc::new(Link { runtime: Some(runtime), client });
        *self.link() = Some(Arc::clone(&link));
        Ok(Some((link, bus)))
    }

    /// Remembers that a result of a worker is checked; whether that is new.
    pub(super) fn note_check(&self, kind: &'static str, worker: &str) -> bool {
        let mut checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        checked.insert((kind, worker.to_owned()))
    }

    /// Takes that back, because the check has not been completed.
    pub(super) fn forget_check(&self, kind: &'static str, worker: String) {
        self.checked.lock().unwrap_or_else(PoisonError::into_inner).remove(&(kind, worker));
    }

    fn link(&self) -> MutexGuard<'_, Option<Arc<Link>>> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn connect(&self, began: Instant) -> Result<Client, WorkError> {
        let name = format!("{}-{} (coordinator)", host_name(), random_text());
        loop {
            match connect(&self.connection, &name, Patience::FailAtOnce).await {
                // A server that is being started again.
                Err(WorkError::Broker(reason))
                    if reason.contains("IO error") && began.elapsed() < RESTART =>
                {
                    sleep(Duration::from_millis(300)).await;
                }
                connected => return connected,
            }
        }
    }

    /// Stores a job, trying again until the deadline.
    async fn store(
        &self,
        client: &Client,
        record: &JobRecord,
        job: &Job,
        deadline: Option<Instant>,
    ) -> Result<Bus, WorkError> {
        let mut complaints = Complaints::default();
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
                    complaints.say(&self.connection, format!("{error}; trying again"));
                    sleep(Duration::from_millis(300)).await;
                }
            }
        }
    }
}

async fn until_cancelled(cancel: Option<&AtomicBool>) {
    match cancel {
        Some(cancel) => until_set(cancel).await,
        None => std::future::pending().await,
    }
}

/// The worker of this process, if it had to start one.
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
                connection.say(error);
            }
        });
        *self.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
    }

    fn end(&self) {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

/// Computes units on this machine whose results are disputed, one after another.
fn judge<W: Work>(
    work: &W,
    requests: &std_mpsc::Receiver<(u64, W::Unit)>,
    verdicts: &UnboundedSender<Verdict<W>>,
    stop: &Arc<AtomicBool>,
) {
    let mut thread = None;
    while let Ok((number, unit)) = requests.recv() {
        let thread = thread.get_or_insert_with(|| work.thread());
        let output = work.compute(thread, &unit, stop);
        if verdicts.send(Verdict { number, output }).is_err() {
            return;
        }
    }
}
