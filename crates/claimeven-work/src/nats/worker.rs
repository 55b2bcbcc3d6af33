//! A worker: pulls units, computes them, publishes their results.

use std::collections::{HashMap, HashSet, VecDeque};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, thread};

use async_nats::Client;
use async_nats::connection::State;
use async_nats::jetstream::AckKind;
use async_nats::jetstream::message::Acker;
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use tokio::io::AsyncReadExt;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::{Notify, RwLock};
use tokio::time::{sleep, timeout};

use super::bus::{
    ANY, Bus, DISMISSED, ENDED, HELLO, LEFT, LIVE_JOBS, LIVE_WORKERS, Retry, broker_error, connect,
    wait_until_set,
};
use super::kinds::{Compute, Kinds, OpenWork};
use super::messages::{
    JobRecord, JobStatus, Rate, ResultHeader, Status, UnitHeader, WorkerStatus, frame, hash,
    unframe,
};
use super::{Connection, Warnings, process_name, random, random_text};
use crate::work::{Files, WorkError};

/// A unit that has been started this often without finishing is set aside.
const MAX_STARTS: usize = 3;
/// How long running units may continue after the stop.
const GRACE_PERIOD: Duration = Duration::from_secs(3);
/// How long leaving may take after the grace period.
const LEAVE_TIMEOUT: Duration = Duration::from_millis(1500);
/// Jobs, and the tables of their threads, are dropped after this time without a unit.
const JOB_IDLE_TIME: Duration = Duration::from_mins(1);
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
}

impl Worker {
    /// A worker that does these kinds of work. Files of jobs are kept in the folder `cache`.
    pub fn new(connection: Connection, kinds: Kinds, threads: usize, cache: PathBuf) -> Worker {
        Worker { connection, kinds, threads: threads.max(1), cache }
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
        let shared = Arc::new(Shared::new(id, self.clone(), finished));
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
        for kind in self.kinds.names() {
            for arithmetic in [ANY, &self.kinds.arithmetic] {
                tokio::spawn(pull(Arc::clone(&shared), bus.clone(), arithmetic.to_owned(), kind));
            }
        }
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
struct Shared {
    id: String,
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
struct OpenJob {
    id: String,
    work: Arc<dyn OpenWork>,
    /// Cancels its running units.
    cancel: Arc<AtomicBool>,
    has_ended: Arc<AtomicBool>,
    /// Held for reading while a result is being stored.
    storing: RwLock<()>,
    used: Mutex<Instant>,
}

/// A unit that the worker has pulled.
struct Unit {
    key: u64,
    job: Arc<OpenJob>,
    header: UnitHeader,
    body: Vec<u8>,
    acker: Arc<Acker>,
    /// How often the server has delivered it, including this time.
    delivered: i64,
    /// The sequence number of its message in the stream.
    sequence: u64,
}

struct Finished {
    unit: Unit,
    outcome: Outcome,
}

enum Outcome {
    Done(Vec<u8>),
    Failed(String),
    Panicked(String),
    Cancelled,
}

/// The starts of a unit that have not finished so far.
#[derive(Default, Serialize, Deserialize)]
struct Attempts {
    starts: Vec<Start>,
}

#[derive(Serialize, Deserialize)]
struct Start {
    worker: String,
    /// The panic message, unless the process crashed.
    error: Option<String>,
}

impl Shared {
    fn new(id: String, worker: Worker, finished: UnboundedSender<Finished>) -> Shared {
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
        let mut thread: Option<(String, Box<dyn Compute>)> = None;
        loop {
            let Some(unit) = self.next_unit(&mut thread) else { return };
            self.running.fetch_add(1, Ordering::Relaxed);
            let started = Instant::now();
            let computed = panic::catch_unwind(AssertUnwindSafe(|| {
                if thread.as_ref().is_none_or(|(job, _)| *job != unit.job.id) {
                    // Drop the old tables before making new ones.
                    thread = None;
                    thread = Some((unit.job.id.clone(), unit.job.work.thread()));
                }
                let (_, compute) = thread.as_mut().expect("it has just been made");
                compute.compute(&unit.body, &unit.job.cancel)
            }));
            self.running.fetch_sub(1, Ordering::Relaxed);
            let outcome = match computed {
                Ok(Ok(Some(output))) => {
                    self.record_time(started.elapsed());
                    Outcome::Done(output)
                }
                Ok(Ok(None)) => Outcome::Cancelled,
                Ok(Err(reason)) => Outcome::Failed(reason),
                Err(panic) => {
                    thread = None;
                    Outcome::Panicked(panic_text(&*panic))
                }
            };
            // The receiver is dropped once the worker has left.
            if self.finished.send(Finished { unit, outcome }).is_err() {
                return;
            }
        }
    }

    /// The next unit; `None` once the worker leaves.
    fn next_unit(&self, thread: &mut Option<(String, Box<dyn Compute>)>) -> Option<Unit> {
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

    fn release(&self, key: u64) {
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("panic: {}", text.unwrap_or("no message"))
}

async fn pause(stop: &AtomicBool, time: Duration) {
    let _ = timeout(time, wait_until_set(stop)).await;
}

/// Pulls the units of a kind as long as there is room for them.
async fn pull(shared: Arc<Shared>, bus: Bus, arithmetic: String, kind: &'static str) {
    let mut delay = Duration::from_millis(100);
    while !shared.is_leaving.load(Ordering::Relaxed) {
        let connection = &shared.worker.connection;
        let Ok(consumer) = bus.consumer(connection, &arithmetic, kind).await else {
            // This also happens after the server has lost its data.
            sleep(delay).await;
            delay = (2 * delay).min(Duration::from_secs(4));
            if let Err(error) = Bus::open(bus.client.clone()).await {
                shared.warn(&bus.client, format!("cannot get units: {error}; trying again"));
            }
            continue;
        };
        delay = Duration::from_millis(100);
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
            let batch = consumer
                .batch()
                .max_messages(room.min(256))
                .expires(Duration::from_secs(5))
                .heartbeat(Duration::from_secs(2));
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
            // The job has ended.
            shared.release(key);
            let _ = acker.ack_with(AckKind::Term).await;
            return;
        }
        Err(OpenError::Broker) => {
            shared.release(key);
            let _ = acker.ack_with(AckKind::Nak(Some(Duration::from_secs(1)))).await;
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
            };
            let stored = bus.store_result(id, frame(&failed, reason.as_bytes()), None).await;
            let answer = match stored {
                Ok(()) => AckKind::Ack,
                Err(_) => AckKind::Nak(Some(Duration::from_secs(1))),
            };
            shared.release(key);
            let _ = acker.ack_with(answer).await;
            return;
        }
    };
    let unit = Unit { key, job, header, body: body.to_vec(), acker, delivered, sequence };
    if delivered > 1 && !record_start(shared, bus, &unit).await {
        return;
    }
    let mut queue = lock(&shared.queue);
    if unit.delivered > 1 {
        // Its start has been recorded, so it comes first.
        queue.push_front(unit);
    } else {
        queue.push_back(unit);
    }
    drop(queue);
    shared.ready.notify_one();
}

enum OpenError {
    /// The server does not answer.
    Broker,
    /// The job cannot be opened here.
    Job(String),
}

/// Finds or opens a job; `None` if it has ended.
async fn open_job(
    shared: &Arc<Shared>,
    bus: &Bus,
    id: &str,
) -> Result<Option<Arc<OpenJob>>, OpenError> {
    if let Some(job) = lock(&shared.jobs).get(id) {
        *lock(&job.used) = Instant::now();
        return Ok(Some(Arc::clone(job)));
    }
    // A job may end while it is being opened. It is removed before its end is announced, so from
    // here on either the record is missing or the end is recorded.
    let has_ended = Arc::clone(lock(&shared.ends).entry(id.to_owned()).or_default());
    let record = bus.jobs.get(id).await.map_err(|_| OpenError::Broker)?;
    let Some(record) = record else { return Ok(None) };
    let record: JobRecord = serde_json::from_slice(&record)
        .map_err(|error| OpenError::Job(format!("invalid record: {error}")))?;
    let mut files = Files::new();
    for (name, hash) in &record.files {
        let path = fetch_file(bus, &shared.worker.cache, hash).await?;
        files.insert(name.clone(), path);
    }
    shared.log(format!("job {id}: {}", record.title));
    let kinds = shared.worker.kinds.clone();
    let opened =
        tokio::task::spawn_blocking(move || kinds.open(&record.kind, record.parameters, &files));
    let work = opened.await.map_err(|_| OpenError::Job("panic while opening it".to_owned()))?;
    let work = work.map_err(OpenError::Job)?;
    if has_ended.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let job = Arc::new(OpenJob {
        id: id.to_owned(),
        work,
        cancel: Arc::default(),
        has_ended,
        storing: RwLock::default(),
        used: Mutex::new(Instant::now()),
    });
    // Another task may have opened it meanwhile.
    Ok(Some(Arc::clone(lock(&shared.jobs).entry(id.to_owned()).or_insert(job))))
}

/// The path of a file in the cache, to which it is downloaded if necessary.
async fn fetch_file(bus: &Bus, cache: &Path, expected: &str) -> Result<PathBuf, OpenError> {
    let path = cache.join(expected);
    let is_whole = |bytes: &[u8]| hash(bytes) == expected;
    if fs::read(&path).is_ok_and(|bytes| is_whole(&bytes)) {
        return Ok(path);
    }
    let mut object = bus.files.get(expected).await.map_err(|_| OpenError::Broker)?;
    let mut bytes = Vec::new();
    object.read_to_end(&mut bytes).await.map_err(|_| OpenError::Broker)?;
    if !is_whole(&bytes) {
        return Err(OpenError::Job(format!("file {expected} is corrupt")));
    }
    let failed = |error: std::io::Error| OpenError::Job(format!("{}: {error}", path.display()));
    fs::create_dir_all(cache).map_err(failed)?;
    // Workers on one machine may share the folder.
    let new = cache.join(format!("{expected}.{}", random_text()));
    fs::write(&new, &bytes).and_then(|()| fs::rename(&new, &path)).map_err(failed)?;
    Ok(path)
}

fn attempts_key(unit: &Unit) -> String {
    format!("{}.{}", unit.job.id, unit.header.unit)
}

/// Records that a unit which another worker has not finished is started again. A unit that has been
/// started too often is set aside. Returns whether the unit is to be computed.
async fn record_start(shared: &Shared, bus: &Bus, unit: &Unit) -> bool {
    let key = attempts_key(unit);
    let Ok(known) = bus.attempts.get(&key).await else {
        hand_back(shared, unit, Duration::from_secs(1)).await;
        return false;
    };
    let mut attempts: Attempts =
        known.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    if attempts.starts.len() >= MAX_STARTS {
        let error = attempts.starts.iter().rev().find_map(|start| start.error.clone());
        let error = error.unwrap_or_else(|| "the process crashed".to_owned());
        let workers: Vec<&str> =
            attempts.starts.iter().map(|start| start.worker.as_str()).collect();
        let reason = format!("{error} (workers {})", workers.join(", "));
        let header = ResultHeader {
            unit: unit.header.unit,
            digest: unit.header.digest.clone(),
            worker: shared.id.clone(),
            status: Status::SetAside,
            is_check: unit.header.check_of.is_some(),
        };
        if bus.store_result(&unit.job.id, frame(&header, reason.as_bytes()), None).await.is_ok() {
            shared.release(unit.key);
            let _ = unit.acker.ack().await;
            let _ = bus.attempts.purge(&key).await;
        } else {
            hand_back(shared, unit, Duration::from_secs(1)).await;
        }
        return false;
    }
    attempts.starts.push(Start { worker: shared.id.clone(), error: None });
    let bytes = serde_json::to_vec(&attempts).expect("attempts are plain data");
    if bus.attempts.put(&key, bytes.into()).await.is_err() {
        hand_back(shared, unit, Duration::from_secs(1)).await;
        return false;
    }
    true
}

/// Lets the server hand the unit to another worker.
async fn hand_back(shared: &Shared, unit: &Unit, delay: Duration) {
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
        Outcome::Panicked(error) => {
            shared.log(format!("unit {} of job {}: {error}", unit.header.unit, unit.job.id));
            record_panic(&shared, &bus, &unit, error).await;
            hand_back(&shared, &unit, Duration::ZERO).await;
            return;
        }
        Outcome::Cancelled => {
            if unit.job.has_ended.load(Ordering::Relaxed) {
                discard(&shared, &unit).await;
            } else {
                forget_start(&shared, &bus, &unit).await;
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
        let _ = bus.attempts.purge(attempts_key(&unit)).await;
    }
}

/// Adds a panic to the starts of a unit.
async fn record_panic(shared: &Shared, bus: &Bus, unit: &Unit, error: String) {
    let key = attempts_key(unit);
    let known = bus.attempts.get(&key).await.ok().flatten();
    let mut attempts: Attempts =
        known.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    match attempts.starts.last_mut() {
        Some(last) if last.worker == shared.id && last.error.is_none() => last.error = Some(error),
        _ => attempts.starts.push(Start { worker: shared.id.clone(), error: Some(error) }),
    }
    let bytes = serde_json::to_vec(&attempts).expect("attempts are plain data");
    let _ = bus.attempts.put(&key, bytes.into()).await;
}

/// Removes the recorded start of a unit that is handed back on purpose and not after a crash.
async fn forget_start(shared: &Shared, bus: &Bus, unit: &Unit) {
    if unit.delivered <= 1 {
        return;
    }
    let key = attempts_key(unit);
    let Ok(Some(known)) = bus.attempts.get(&key).await else { return };
    let Ok(mut attempts) = serde_json::from_slice::<Attempts>(&known) else { return };
    attempts.starts.retain(|start| start.worker != shared.id || start.error.is_some());
    let bytes = serde_json::to_vec(&attempts).expect("attempts are plain data");
    let _ = bus.attempts.put(&key, bytes.into()).await;
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

/// Hands back waiting units, gives running ones time to finish, and publishes their results.
async fn leave(shared: &Arc<Shared>, bus: &Bus, finished: &mut UnboundedReceiver<Finished>) {
    shared.is_leaving.store(true, Ordering::Relaxed);
    let waiting: Vec<Unit> = lock(&shared.queue).drain(..).collect();
    // No thread is between checking the flag and waiting, as it would hold the lock.
    shared.ready.notify_all();
    for unit in &waiting {
        forget_start(shared, bus, unit).await;
        hand_back(shared, unit, Duration::ZERO).await;
    }
    drop(waiting);
    let is_idle = async {
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
    if timeout(GRACE_PERIOD, &mut is_idle).await.is_err() {
        for job in lock(&shared.jobs).values() {
            job.cancel.store(true, Ordering::Relaxed);
        }
        let _ = timeout(LEAVE_TIMEOUT / 2, &mut is_idle).await;
        // Units that ignore the cancellation are handed back as well.
        let held: Vec<Arc<Acker>> = lock(&shared.held).drain().map(|(_, acker)| acker).collect();
        for acker in held {
            shared.handed_back.fetch_add(1, Ordering::Relaxed);
            let _ = acker.ack_with(AckKind::Nak(None)).await;
        }
    }
    let status = shared.status(&mut Rate::default());
    let bytes = serde_json::to_vec(&status).expect("a status is plain data");
    let subject = format!("{LIVE_WORKERS}.{}", shared.id);
    let _ = timeout(LEAVE_TIMEOUT / 2, async {
        let _ = bus.client.publish(subject, bytes.into()).await;
        let _ = bus.client.flush().await;
    })
    .await;
}
