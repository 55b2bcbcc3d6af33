//! A worker: pulls units, computes them, publishes their results.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io::ErrorKind;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc as std_mpsc;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use async_nats::Client;
use async_nats::connection::State;
use async_nats::jetstream::AckKind;
use async_nats::jetstream::message::Acker;
use async_nats::jetstream::object_store::GetErrorKind;
use futures_util::StreamExt;
use tokio::io::AsyncReadExt;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::{Notify, RwLock};
use tokio::time::{sleep, timeout};

use super::attempts::{self, Place};
use super::bus::{
    ANY, Bus, DISMISSED, ENDED, HELLO, LEFT, LIVE_JOBS, LIVE_WORKERS, Retry, broker_error, connect,
    wait_until_set,
};
use super::cache;
use super::isolation::{self, UnitCommand};
use super::kinds::{Compute, Kinds, OpenWork};
use super::messages::{
    JobRecord, JobStatus, Rate, ResultHeader, Status, UnitHeader, WorkerStatus, frame, hash,
    unframe,
};
use super::{Connection, Warnings, process_name, random};
use crate::work::{Files, WorkError, panic_text};

/// How long running units may continue after the stop.
const GRACE_PERIOD: Duration = Duration::from_secs(3);
/// How long leaving may take after the grace period.
const LEAVE_TIMEOUT: Duration = Duration::from_millis(1500);
/// Jobs, and the tables of their threads, are dropped after this time without a unit.
const JOB_IDLE_TIME: Duration = Duration::from_mins(1);
/// When the server delivers a unit again that could not be started.
pub(super) const RETRY: Duration = Duration::from_secs(1);
/// A worker queues units for about this much time, so that its threads never wait.
const QUEUE_TIME: Duration = Duration::from_millis(50);

/// A worker of a fleet.
///
/// ```no_run
/// use std::sync::atomic::AtomicBool;
///
/// use claimeven_work::{Connection, Kinds, Worker};
///
/// // Each kind of work is added with `Kinds::with`.
/// let kinds = Kinds::new("any");
/// let worker = Worker::new(Connection::new("nats://127.0.0.1:4222"), kinds, 4, "cache".into());
/// worker.run(&AtomicBool::new(false))?;
/// # Ok::<(), claimeven_work::WorkError>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct Worker {
    connection: Connection,
    kinds: Kinds,
    threads: usize,
    cache: PathBuf,
    unit_command: Option<UnitCommand>,
}

impl Worker {
    /// A worker that does these kinds of work. Files of jobs are kept in the folder `cache`.
    pub fn new(connection: Connection, kinds: Kinds, threads: usize, cache: PathBuf) -> Worker {
        Worker { connection, kinds, threads: threads.max(1), cache, unit_command: None }
    }

    /// Sets the command for units that may crash their process, because another worker was lost
    /// with them. Without it, they are computed like all others.
    pub fn with_unit_command(self, command: UnitCommand) -> Worker {
        Worker { unit_command: Some(command), ..self }
    }

    /// Runs until the flag is set or the worker is dismissed, despite lost connections and restarts
    /// of the server. Once the flag is set, running units have a few seconds to finish; the others
    /// are handed back.
    pub fn run(&self, stop: &AtomicBool) -> Result<(), WorkError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(broker_error)?;
        let ended = runtime.block_on(self.work(stop));
        // A unit that does not end must not keep the worker alive.
        runtime.shutdown_background();
        ended
    }

    async fn work(&self, stop: &AtomicBool) -> Result<(), WorkError> {
        let id = process_name();
        let client = connect(&self.connection, &id, Retry::Forever).await?;
        let (finished, mut results) = mpsc::unbounded_channel();
        let (starting, to_start) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared::new(id, self.clone(), starting, finished));
        let mut bus = None;
        while bus.is_none() && !stop.load(Ordering::Relaxed) {
            tokio::select! {
                opened = Bus::open(client.clone()) => match opened {
                    Ok(opened) => bus = Some(opened),
                    Err(error) => {
                        shared.warn(&client, format!("{error}; trying again"));
                        pause(stop, Duration::from_millis(500)).await;
                    }
                },
                () = wait_until_set(stop) => {}
            }
        }
        let Some(bus) = bus else { return Ok(()) };
        shared.resolve();
        let list = self.kinds.names().join(", ");
        let host = self.connection.redacted_url();
        let (id, threads) = (&shared.id, self.threads);
        let plural = if threads == 1 { "" } else { "s" };
        self.connection.log(format!("{id}: {threads} thread{plural} for {list} at {host}"));
        for number in 0..self.threads {
            let shared = Arc::clone(&shared);
            let name = format!("unit-{number}");
            thread::Builder::new()
                .name(name)
                .spawn(move || shared.compute())
                .map_err(broker_error)?;
        }
        let own = Some(&*self.kinds.arithmetic).filter(|own| *own != ANY);
        for kind in self.kinds.names() {
            for arithmetic in [ANY].into_iter().chain(own) {
                tokio::spawn(pull(Arc::clone(&shared), bus.clone(), arithmetic.to_owned(), kind));
            }
        }
        tokio::spawn(record_starts(Arc::clone(&shared), bus.clone(), to_start));
        tokio::spawn(keep_alive(Arc::clone(&shared)));
        tokio::spawn(listen(Arc::clone(&shared), bus.clone()));
        tokio::spawn(send_heartbeats(Arc::clone(&shared), bus.clone()));
        tokio::select! {
            () = wait_until_set(stop) => {}
            () = wait_until_set(&shared.is_dismissed) => {}
            () = publish_all(&shared, &bus, &mut results) => {}
        }
        leave(&shared, &bus, &mut results).await;
        let dismissed = lock(&shared.dismissed).clone();
        match dismissed {
            Some(reason) => Err(WorkError::Dismissed(reason)),
            None => Ok(()),
        }
    }
}

/// What the tasks and threads of a worker share.
pub(super) struct Shared {
    pub(super) id: String,
    worker: Worker,
    /// Units that wait for a thread.
    queue: Mutex<VecDeque<Unit>>,
    ready: Condvar,
    /// All unacknowledged units: waiting, running or being published.
    held: Mutex<HashMap<u64, Arc<Acker>>>,
    /// Notifies that there is room for more units.
    released: Notify,
    next_key: AtomicU64,
    jobs: Mutex<HashMap<String, Arc<OpenJob>>>,
    /// Whether the jobs that are open or being opened have ended.
    ends: Mutex<HashMap<String, Arc<AtomicBool>>>,
    /// When a file of a job was last not on the server.
    missing: Mutex<HashMap<String, Instant>>,
    starting: UnboundedSender<Starting>,
    finished: UnboundedSender<Finished>,
    is_leaving: AtomicBool,
    is_dismissed: AtomicBool,
    dismissed: Mutex<Option<String>>,
    running: AtomicUsize,
    done: AtomicU64,
    handed_back: AtomicU64,
    /// The moving average of the time of a unit, in microseconds; 0 before the first.
    micros: AtomicU64,
    started: Instant,
    warnings: Mutex<Warnings>,
}

/// A job that the worker has opened.
pub(super) struct OpenJob {
    pub(super) id: String,
    record: JobRecord,
    files: Files,
    work: Arc<dyn OpenWork>,
    /// Cancels its running units.
    cancel: Arc<AtomicBool>,
    has_ended: Arc<AtomicBool>,
    /// Held for reading while a result is being stored.
    storing: RwLock<()>,
    used: Mutex<Instant>,
}

/// A unit that the worker has pulled.
pub(super) struct Unit {
    pub(super) key: u64,
    pub(super) job: Arc<OpenJob>,
    pub(super) header: UnitHeader,
    body: Vec<u8>,
    pub(super) acker: Arc<Acker>,
    /// How often the server has delivered it, including this time.
    pub(super) delivered: i64,
    /// The sequence number of its message in the stream.
    pub(super) sequence: u64,
}

/// A unit whose start is to be recorded before a thread computes it.
struct Starting {
    unit: Unit,
    /// Gets the unit back, unless it is not to be computed.
    recorded: std_mpsc::Sender<(Unit, Place)>,
}

struct Finished {
    unit: Unit,
    outcome: Outcome,
}

pub(super) enum Outcome {
    Done(Vec<u8>),
    Failed(String),
    /// It has panicked, or its own process has crashed.
    Crashed(String),
    Cancelled,
}

impl Shared {
    fn new(
        id: String,
        worker: Worker,
        starting: UnboundedSender<Starting>,
        finished: UnboundedSender<Finished>,
    ) -> Shared {
        Shared {
            id,
            worker,
            queue: Mutex::default(),
            ready: Condvar::new(),
            held: Mutex::default(),
            released: Notify::new(),
            next_key: AtomicU64::new(0),
            jobs: Mutex::default(),
            ends: Mutex::default(),
            missing: Mutex::default(),
            starting,
            finished,
            is_leaving: AtomicBool::new(false),
            is_dismissed: AtomicBool::new(false),
            dismissed: Mutex::default(),
            running: AtomicUsize::new(0),
            done: AtomicU64::new(0),
            handed_back: AtomicU64::new(0),
            micros: AtomicU64::new(0),
            started: Instant::now(),
            warnings: Mutex::default(),
        }
    }

    /// Computes units on this thread until the worker leaves.
    fn compute(&self) {
        let mut thread = None;
        while let Some(unit) = self.next_unit(&mut thread) {
            let Some((unit, place)) = self.start(unit) else { continue };
            self.running.fetch_add(1, Ordering::Relaxed);
            let started = Instant::now();
            let outcome = match place {
                Place::Thread => compute_here(&unit, &mut thread),
                Place::Process => self.compute_isolated(&unit, &mut thread),
            };
            self.running.fetch_sub(1, Ordering::Relaxed);
            if place == Place::Thread && matches!(outcome, Outcome::Done(_)) {
                self.record_time(started.elapsed());
            }
            // The receiver is dropped once the worker has left.
            if self.finished.send(Finished { unit, outcome }).is_err() {
                return;
            }
        }
    }

    /// Records the start of a unit that has been delivered before; `None` if it is not to be
    /// computed. First deliveries are not recorded, because that would take longer than many units.
    fn start(&self, unit: Unit) -> Option<(Unit, Place)> {
        if unit.delivered <= 1 {
            return Some((unit, Place::Thread));
        }
        let (recorded, answer) = std_mpsc::channel();
        self.starting.send(Starting { unit, recorded }).ok()?;
        answer.recv().ok()
    }

    /// Computes a unit in a process of its own, if possible.
    fn compute_isolated(&self, unit: &Unit, thread: &mut Option<ThreadState>) -> Outcome {
        let Some(command) = &self.worker.unit_command else { return compute_here(unit, thread) };
        let (number, OpenJob { id, record, files, cancel, .. }) = (unit.header.unit, &*unit.job);
        self.log(format!("unit {number} of job {id} was lost with a worker: using a new process"));
        isolation::compute(command, record, files, &unit.body, cancel).unwrap_or_else(|error| {
            self.log(format!("cannot start the process: {error}"));
            compute_here(unit, thread)
        })
    }

    /// The next unit; `None` once the worker leaves.
    fn next_unit(&self, thread: &mut Option<ThreadState>) -> Option<Unit> {
        let mut queue = lock(&self.queue);
        loop {
            if self.is_leaving.load(Ordering::Relaxed) {
                return None;
            }
            if let Some(unit) = queue.pop_front() {
                return Some(unit);
            }
            let (guard, waited) = self
                .ready
                .wait_timeout(queue, JOB_IDLE_TIME)
                .unwrap_or_else(PoisonError::into_inner);
            queue = guard;
            if waited.timed_out() {
                *thread = None;
            }
        }
    }

    fn record_time(&self, time: Duration) {
        let (new, old) = (time.as_micros() as u64, self.micros.load(Ordering::Relaxed));
        let mean = if old == 0 { new } else { (7 * old + new) / 8 };
        self.micros.store(mean.max(1), Ordering::Relaxed);
    }

    /// The maximum number of units that the worker holds.
    fn capacity(&self) -> usize {
        let threads = self.worker.threads;
        match self.micros.load(Ordering::Relaxed) {
            0 => threads,
            micros => threads * (1 + (QUEUE_TIME.as_micros() as u64 / micros).min(256) as usize),
        }
    }

    fn room(&self) -> usize {
        self.capacity().saturating_sub(lock(&self.held).len())
    }

    pub(super) fn release(&self, key: u64) {
        lock(&self.held).remove(&key);
        self.released.notify_waiters();
    }

    /// Why this worker cannot compute the units of a job, although it supports this kind of work.
    fn refusal(&self, job: &JobStatus) -> Option<String> {
        let Worker { connection, kinds, .. } = &self.worker;
        let (version, arithmetic) = (&connection.version, &kinds.arithmetic);
        if !kinds.names().contains(&job.kind.as_str()) {
            return None;
        }
        if job.version != *version {
            return Some(format!("it needs version {}, this worker has {version}", job.version));
        }
        let needed = job.arithmetic.as_ref().filter(|needed| *needed != arithmetic)?;
        Some(format!("it needs the arithmetic '{needed}', this processor has '{arithmetic}'"))
    }

    fn log(&self, message: impl std::fmt::Display) {
        self.worker.connection.log(message);
    }

    /// Warns about an error of the server. A lost connection has already been logged.
    fn warn(&self, client: &Client, message: String) {
        if client.connection_state() == State::Connected {
            lock(&self.warnings).warn(&self.worker.connection, message);
        }
    }

    fn resolve(&self) {
        lock(&self.warnings).resolve(&self.worker.connection, "the NATS server is working again");
    }

    fn status(&self, rate: &mut Rate) -> WorkerStatus {
        let done = self.done.load(Ordering::Relaxed);
        WorkerStatus {
            id: self.id.clone(),
            version: self.worker.connection.version.clone(),
            kinds: self.worker.kinds.names().into_iter().map(str::to_owned).collect(),
            arithmetic: self.worker.kinds.arithmetic.clone(),
            threads: self.worker.threads,
            running: self.running.load(Ordering::Relaxed),
            waiting: lock(&self.queue).len(),
            done,
            handed_back: self.handed_back.load(Ordering::Relaxed),
            rate: rate.update(done),
            seconds: self.started.elapsed().as_secs(),
            is_leaving: self.is_leaving.load(Ordering::Relaxed),
        }
    }
}

/// The state of a thread, and the job that it belongs to.
type ThreadState = (String, Box<dyn Compute>);

/// Computes a unit on this thread.
fn compute_here(unit: &Unit, thread: &mut Option<ThreadState>) -> Outcome {
    let computed = panic::catch_unwind(AssertUnwindSafe(|| {
        if thread.as_ref().is_none_or(|(job, _)| *job != unit.job.id) {
            // Drop the old tables before making new ones.
            *thread = None;
            *thread = Some((unit.job.id.clone(), unit.job.work.thread()));
        }
        let (_, compute) = thread.as_mut().expect("it has just been made");
        compute.compute(&unit.body, &unit.job.cancel)
    }));
    match computed {
        Ok(Ok(Some(output))) => Outcome::Done(output),
        Ok(Ok(None)) => Outcome::Cancelled,
        Ok(Err(reason)) => Outcome::Failed(reason),
        Err(panic) => {
            *thread = None;
            Outcome::Crashed(panic_text(&*panic))
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn pause(stop: &AtomicBool, time: Duration) {
    let _ = timeout(time, wait_until_set(stop)).await;
}

/// Pulls the units of a kind as long as there is room for them.
async fn pull(shared: Arc<Shared>, bus: Bus, arithmetic: String, kind: &'static str) {
    const FIRST_DELAY: Duration = Duration::from_millis(100);
    let mut delay = FIRST_DELAY;
    while !shared.is_leaving.load(Ordering::Relaxed) {
        let connection = &shared.worker.connection;
        let consumer = match bus.consumer(connection, &arithmetic, kind).await {
            Ok(consumer) => consumer,
            Err(refused) => {
                // The first time, the server may have lost its data.
                let opened = Bus::open(bus.client.clone()).await;
                if let Some(error) = opened.err().or((delay > FIRST_DELAY).then_some(refused)) {
                    shared.warn(&bus.client, format!("cannot get units: {error}; trying again"));
                }
                sleep(delay).await;
                delay = (2 * delay).min(Duration::from_secs(4));
                continue;
            }
        };
        delay = FIRST_DELAY;
        loop {
            if shared.is_leaving.load(Ordering::Relaxed) {
                return;
            }
            let room = shared.room();
            if room == 0 {
                // The timeout covers a release between the check and the wait.
                let _ = timeout(Duration::from_millis(20), shared.released.notified()).await;
                continue;
            }
            let batch =
                consumer.batch().max_messages(room.min(256)).expires(Duration::from_secs(5));
            let Ok(mut messages) = batch.messages().await else { break };
            let (mut is_lost, mut is_empty) = (false, true);
            let (started, connects) = (Instant::now(), bus.connects());
            loop {
                // A restarted server has lost the request.
                let Ok(message) = timeout(Duration::from_millis(500), messages.next()).await else {
                    is_lost = bus.connects() != connects;
                    if is_lost {
                        break;
                    }
                    continue;
                };
                let Some(message) = message else { break };
                let Ok(message) = message else {
                    is_lost = true;
                    break;
                };
                is_empty = false;
                let Ok(info) = message.info() else { continue };
                let (delivered, sequence) = (info.delivered, info.stream_sequence);
                let (message, acker) = message.split();
                receive(&shared, &bus, &message, acker, delivered, sequence).await;
            }
            if is_lost || is_empty {
                // A server that has lost its disk no longer has the consumer and answers immediately.
                if started.elapsed() < Duration::from_millis(500) {
                    sleep(Duration::from_millis(100)).await;
                }
                break;
            }
        }
    }
}

/// Queues a unit.
async fn receive(
    shared: &Arc<Shared>,
    bus: &Bus,
    message: &async_nats::Message,
    acker: Acker,
    delivered: i64,
    sequence: u64,
) {
    let acker = Arc::new(acker);
    let Some((header, body)) = unframe::<UnitHeader>(&message.payload) else {
        shared.log(format!("a message on {} is not a unit", message.subject));
        let _ = acker.ack_with(AckKind::Term).await;
        return;
    };
    if shared.is_leaving.load(Ordering::Relaxed) {
        let _ = acker.ack_with(AckKind::Nak(None)).await;
        return;
    }
    if header.check_of.as_ref() == Some(&shared.id) {
        // Another worker has to check this one. If none does, the coordinator will. The server
        // delivers units round-robin: after equal pauses, two workers could get their own units
        // forever.
        let pause = Duration::from_millis(random() % 100);
        let answer = if delivered < 100 { AckKind::Nak(Some(pause)) } else { AckKind::Term };
        let _ = acker.ack_with(answer).await;
        return;
    }
    let key = shared.next_key.fetch_add(1, Ordering::Relaxed);
    lock(&shared.held).insert(key, Arc::clone(&acker));
    let id = message.subject.rsplit('.').next().unwrap_or_default();
    let job = match open_job(shared, bus, id).await {
        Ok(Some(job)) => job,
        Ok(None) => {
            // The job has ended, or the server has lost it or one of its files. A replica of the
            // server may also lag behind. Once no unit is left, the coordinator of a job that has
            // not ended stores everything again.
            let answer = if delivered > 1 { AckKind::Term } else { AckKind::Nak(Some(RETRY)) };
            shared.release(key);
            let _ = acker.ack_with(answer).await;
            return;
        }
        Err(OpenError::Here(reason)) => {
            shared.warn(&bus.client, format!("cannot open job {id}: {reason}; trying again"));
            shared.release(key);
            let _ = acker.ack_with(AckKind::Nak(Some(RETRY))).await;
            return;
        }
        Err(OpenError::Job(reason)) => {
            shared.log(format!("job {id}: {reason}"));
            let failed = ResultHeader {
                unit: header.unit,
                digest: header.digest,
                worker: shared.id.clone(),
                status: Status::Failed,
                is_check: header.check_of.is_some(),
                lost: Vec::new(),
            };
            let stored = bus.store_result(id, frame(&failed, reason.as_bytes()), None).await;
            let answer = match stored {
                Ok(()) => AckKind::Ack,
                Err(_) => AckKind::Nak(Some(RETRY)),
            };
            shared.release(key);
            let _ = acker.ack_with(answer).await;
            return;
        }
    };
    let unit = Unit { key, job, header, body: body.to_vec(), acker, delivered, sequence };
    lock(&shared.queue).push_back(unit);
    shared.ready.notify_one();
}

enum OpenError {
    /// The server does not answer, or this machine has a problem, such as a full disk.
    Here(String),
    /// The job itself is wrong.
    Job(String),
}

fn error_here(error: impl std::fmt::Display) -> OpenError {
    OpenError::Here(error.to_string())
}

/// After a file of a job was found to be missing, it is not looked for again for this long. Finding out
/// that parts of it are missing takes a while, and every unit of the job needs it.
const MISSING_TIME: Duration = Duration::from_secs(3);

/// Finds or opens a job; `None` if it or one of its files is not on the server.
async fn open_job(
    shared: &Arc<Shared>,
    bus: &Bus,
    id: &str,
) -> Result<Option<Arc<OpenJob>>, OpenError> {
    if let Some(job) = lock(&shared.jobs).get(id) {
        *lock(&job.used) = Instant::now();
        return Ok(Some(Arc::clone(job)));
    }
    if lock(&shared.missing).get(id).is_some_and(|found| found.elapsed() < MISSING_TIME) {
        return Ok(None);
    }
    // A job may end while it is being opened. It is removed before its end is announced, so from
    // here on either the record is missing or the end is recorded.
    let has_ended = Arc::clone(lock(&shared.ends).entry(id.to_owned()).or_default());
    let record = bus.jobs.get(id).await.map_err(error_here)?;
    let Some(record) = record else { return Ok(None) };
    let record: JobRecord = serde_json::from_slice(&record)
        .map_err(|error| OpenError::Job(format!("invalid record: {error}")))?;
    let mut files = Files::new();
    for (name, hash) in &record.files {
        let Some(path) = fetch_file(bus, &shared.worker.cache, hash).await? else {
            let message = format!("job {id}: file {hash} is not on the server or damaged there");
            shared.warn(&bus.client, message);
            let mut missing = lock(&shared.missing);
            missing.retain(|_, found| found.elapsed() < MISSING_TIME);
            missing.insert(id.to_owned(), Instant::now());
            return Ok(None);
        };
        files.insert(name.clone(), path);
    }
    shared.log(format!("job {id}: {}", record.title));
    let kinds = shared.worker.kinds.clone();
    let (kind, parameters, of_job) =
        (record.kind.clone(), record.parameters.clone(), files.clone());
    let opened = tokio::task::spawn_blocking(move || kinds.open(&kind, parameters, &of_job));
    let work = opened.await.map_err(|_| OpenError::Job("panic while opening it".to_owned()))?;
    let work = work.map_err(OpenError::Job)?;
    if has_ended.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let job = Arc::new(OpenJob {
        id: id.to_owned(),
        record,
        files,
        work,
        cancel: Arc::default(),
        has_ended,
        storing: RwLock::default(),
        used: Mutex::new(Instant::now()),
    });
    // Another task may have opened it meanwhile.
    Ok(Some(Arc::clone(lock(&shared.jobs).entry(id.to_owned()).or_insert(job))))
}

/// How long to wait for the next part of a file.
const FILE_TIMEOUT: Duration = Duration::from_secs(10);

/// The path of a file in the cache, to which it is downloaded if necessary; `None` if the server does
/// not have it, or not all of it.
async fn fetch_file(
    bus: &Bus,
    folder: &Path,
    expected: &str,
) -> Result<Option<PathBuf>, OpenError> {
    if let Some(path) = cache::find(folder, expected) {
        return Ok(Some(path));
    }
    let mut object = match bus.files.get(expected).await {
        Ok(object) => object,
        Err(error) if error.kind() == GetErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error_here(error)),
    };
    let mut bytes = Vec::new();
    loop {
        match timeout(FILE_TIMEOUT, object.read_buf(&mut bytes)).await {
            Ok(Ok(0)) => break,
            Ok(Ok(_)) => {}
            Ok(Err(error)) if error.kind() != ErrorKind::InvalidData => {
                return Err(error_here(error));
            }
            // Its digest is wrong, or parts are missing.
            Ok(Err(_)) => return Ok(None),
            Err(_) if bus.is_connected() => return Ok(None),
            Err(_) => return Err(error_here("lost the connection")),
        }
    }
    if hash(&bytes) != expected {
        return Ok(None);
    }
    let stored = cache::store(folder, &bytes);
    let failed = |error| error_here(format!("cannot write to {}: {error}", folder.display()));
    stored.map(Some).map_err(failed)
}

/// Records starts for threads, several at a time.
async fn record_starts(shared: Arc<Shared>, bus: Bus, mut to_start: UnboundedReceiver<Starting>) {
    while let Some(Starting { unit, recorded }) = to_start.recv().await {
        let (shared, bus) = (Arc::clone(&shared), bus.clone());
        tokio::spawn(async move {
            if let Some(place) = attempts::record_start(&shared, &bus, &unit).await {
                let _ = recorded.send((unit, place));
            }
        });
    }
}

/// Lets the server hand the unit to another worker.
pub(super) async fn hand_back(shared: &Shared, unit: &Unit, delay: Duration) {
    shared.release(unit.key);
    shared.handed_back.fetch_add(1, Ordering::Relaxed);
    let delay = (delay > Duration::ZERO).then_some(delay);
    let _ = unit.acker.ack_with(AckKind::Nak(delay)).await;
}

/// Drops a unit whose job has ended.
async fn discard(shared: &Shared, unit: &Unit) {
    shared.release(unit.key);
    let _ = unit.acker.ack_with(AckKind::Term).await;
}

/// Publishes results as they arrive, several at a time.
async fn publish_all(shared: &Arc<Shared>, bus: &Bus, finished: &mut UnboundedReceiver<Finished>) {
    while let Some(finished) = finished.recv().await {
        tokio::spawn(publish(Arc::clone(shared), bus.clone(), finished));
    }
}

/// Stores the result of a unit and then acknowledges the unit, in this order.
async fn publish(shared: Arc<Shared>, bus: Bus, finished: Finished) {
    let Finished { unit, outcome } = finished;
    let job = Arc::clone(&unit.job);
    let _storing = job.storing.read().await;
    let (status, body) = match outcome {
        // The result would never be removed.
        Outcome::Done(_) | Outcome::Failed(_) if unit.job.has_ended.load(Ordering::Relaxed) => {
            discard(&shared, &unit).await;
            return;
        }
        Outcome::Done(output) => (Status::Done, output),
        Outcome::Failed(reason) => (Status::Failed, reason.into_bytes()),
        Outcome::Crashed(error) => {
            shared.log(format!("unit {} of job {}: {error}", unit.header.unit, unit.job.id));
            attempts::record_error(&shared, &bus, &unit, error).await;
            hand_back(&shared, &unit, Duration::ZERO).await;
            return;
        }
        Outcome::Cancelled => {
            if unit.job.has_ended.load(Ordering::Relaxed) {
                discard(&shared, &unit).await;
            } else {
                attempts::forget_start(&shared, &bus, &unit).await;
                hand_back(&shared, &unit, Duration::ZERO).await;
            }
            return;
        }
    };
    let header = ResultHeader {
        unit: unit.header.unit,
        digest: unit.header.digest.clone(),
        worker: shared.id.clone(),
        status,
        is_check: unit.header.check_of.is_some(),
        lost: Vec::new(),
    };
    let message = frame(&header, &body);
    let id = format!("{}.{}", unit.sequence, shared.id);
    let mut delay = Duration::from_millis(50);
    while let Err(error) = bus.store_result(&unit.job.id, message.clone(), Some(&id)).await {
        if unit.job.has_ended.load(Ordering::Relaxed) {
            discard(&shared, &unit).await;
            return;
        }
        shared.warn(&bus.client, format!("cannot store results: {error}; trying again"));
        sleep(delay).await;
        delay = (2 * delay).min(Duration::from_secs(4));
    }
    shared.resolve();
    let _ = unit.acker.ack().await;
    shared.release(unit.key);
    shared.done.fetch_add(1, Ordering::Relaxed);
    if unit.delivered > 1 {
        attempts::forget(&bus, &unit).await;
    }
}

/// Tells the server that all units are still being worked on.
async fn keep_alive(shared: Arc<Shared>) {
    loop {
        sleep(shared.worker.connection.ack_wait / 3).await;
        let held: Vec<Arc<Acker>> = lock(&shared.held).values().cloned().collect();
        for acker in held {
            let _ = acker.ack_with(AckKind::Progress).await;
        }
        let mut jobs = lock(&shared.jobs);
        jobs.retain(|_, job| {
            Arc::strong_count(job) > 1 || lock(&job.used).elapsed() < JOB_IDLE_TIME
        });
        lock(&shared.ends).retain(|_, has_ended| Arc::strong_count(has_ended) > 1);
    }
}

/// Listens for the end of jobs and for the dismissal of this worker.
async fn listen(shared: Arc<Shared>, bus: Bus) {
    let Ok(mut ended) = bus.client.subscribe(format!("{ENDED}.*")).await else { return };
    let own = format!("{DISMISSED}.{}", shared.id);
    let Ok(mut dismissed) = bus.client.subscribe(own).await else { return };
    let Ok(mut jobs) = bus.client.subscribe(format!("{LIVE_JOBS}.*")).await else { return };
    let mut refused = HashSet::new();
    loop {
        tokio::select! {
            Some(message) = jobs.next() => {
                let Ok(job) = serde_json::from_slice::<JobStatus>(&message.payload) else { continue };
                if let Some(reason) = shared.refusal(&job)
                    && refused.insert(job.id.clone())
                {
                    shared.log(format!("skipping job {} ({}): {reason}", job.id, job.title));
                }
            }
            Some(message) = ended.next() => {
                let id = message.subject.rsplit('.').next().unwrap_or_default();
                if let Some(has_ended) = lock(&shared.ends).remove(id) {
                    has_ended.store(true, Ordering::Relaxed);
                }
                let job = lock(&shared.jobs).remove(id);
                if let Some(job) = &job {
                    job.cancel.store(true, Ordering::Relaxed);
                }
                let unneeded: Vec<Unit> = {
                    let mut queue = lock(&shared.queue);
                    let (gone, kept) = queue.drain(..).partition(|unit| unit.job.id == id);
                    *queue = kept;
                    Vec::from(gone)
                };
                for unit in unneeded {
                    discard(&shared, &unit).await;
                }
                tokio::spawn(leave_job(Arc::clone(&shared), bus.clone(), id.to_owned(), job));
            }
            Some(message) = dismissed.next() => {
                let reason = String::from_utf8_lossy(&message.payload).into_owned();
                *lock(&shared.dismissed) = Some(reason);
                shared.is_dismissed.store(true, Ordering::Relaxed);
            }
            else => return,
        }
    }
}

/// Tells the coordinator of an ended job that no more results will come. This waits until the server
/// has stored the results that were still being published: it forwards messages sooner than it stores
/// them.
async fn leave_job(shared: Arc<Shared>, bus: Bus, id: String, job: Option<Arc<OpenJob>>) {
    if let Some(job) = &job {
        let _ = job.storing.write().await;
    }
    let subject = format!("{LIVE_WORKERS}.{}.{LEFT}", shared.id);
    let _ = bus.client.publish(subject, id.into()).await;
}

/// Sends heartbeats, every second and on request.
async fn send_heartbeats(shared: Arc<Shared>, bus: Bus) {
    let Ok(mut hello) = bus.client.subscribe(HELLO).await else { return };
    let subject = format!("{LIVE_WORKERS}.{}", shared.id);
    let mut rate = Rate::default();
    loop {
        let status = shared.status(&mut rate);
        let bytes = serde_json::to_vec(&status).expect("a status is plain data");
        if bus.is_connected() {
            let _ = bus.client.publish(subject.clone(), bytes.into()).await;
        }
        let _ = timeout(Duration::from_secs(1), hello.next()).await;
    }
}

/// Hands back waiting units, gives running ones time to finish, and publishes their results. Takes
/// no longer if the server does not answer.
async fn leave(shared: &Arc<Shared>, bus: &Bus, finished: &mut UnboundedReceiver<Finished>) {
    shared.is_leaving.store(true, Ordering::Relaxed);
    let waiting: Vec<Unit> = lock(&shared.queue).drain(..).collect();
    // No thread is between checking the flag and waiting, as it would hold the lock.
    shared.ready.notify_all();
    let is_idle = async {
        for unit in waiting {
            hand_back(shared, &unit, Duration::ZERO).await;
        }
        loop {
            while let Ok(finished) = finished.try_recv() {
                tokio::spawn(publish(Arc::clone(shared), bus.clone(), finished));
            }
            if lock(&shared.held).is_empty() {
                break;
            }
            sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::pin!(is_idle);
    let mut unfinished = Vec::new();
    if timeout(GRACE_PERIOD, &mut is_idle).await.is_err() {
        for job in lock(&shared.jobs).values() {
            job.cancel.store(true, Ordering::Relaxed);
        }
        let _ = timeout(LEAVE_TIMEOUT / 2, &mut is_idle).await;
        // Units that ignore the cancellation are handed back as well.
        unfinished = lock(&shared.held).drain().map(|(_, acker)| acker).collect();
        shared.handed_back.fetch_add(unfinished.len() as u64, Ordering::Relaxed);
    }
    let status = shared.status(&mut Rate::default());
    let bytes = serde_json::to_vec(&status).expect("a status is plain data");
    let subject = format!("{LIVE_WORKERS}.{}", shared.id);
    let _ = timeout(LEAVE_TIMEOUT / 2, async {
        for acker in unfinished {
            let _ = acker.ack_with(AckKind::Nak(None)).await;
        }
        let _ = bus.client.publish(subject, bytes.into()).await;
        let _ = bus.client.flush().await;
    })
    .await;
}
