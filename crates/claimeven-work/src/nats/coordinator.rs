//! A coordinator: publishes the units of a job and collects their results.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc as std_mpsc;
use std::time::{Duration, Instant, SystemTime};

use async_nats::Subscriber;
use async_nats::jetstream::message::PublishMessage;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{MissedTickBehavior, sleep, timeout};

use super::attempts;
use super::bus::{
    ANY, Bus, DAY, DISMISSED, ENDED, HELLO, LEFT, LIVE_JOBS, LIVE_WORKERS, broker_error, count,
    results_subject, store_error, units_subject,
};
use super::claim::Claim;
use super::dispatcher::{Nats, OwnWorker};
use super::kinds::Kinds;
use super::messages::{
    JobRecord, JobStatus, Rate, ResultHeader, Status, UnitHeader, WorkerStatus, digest, frame, hash,
};
use super::results::Results;
use super::worker::Worker;
use super::{Warnings, host_name};
use crate::work::{DispatchEvent, Job, Work, WorkError};

/// The arguments of [`Dispatcher::run`](crate::Dispatcher::run).
pub(super) struct Caller<'a, U, T> {
    pub(super) all: Vec<u64>,
    pub(super) unit: U,
    pub(super) take: T,
    pub(super) cancel: Option<&'a AtomicBool>,
}

/// The thread that computes disputed units.
pub(super) struct Judge<W: Work> {
    pub(super) requests: std_mpsc::Sender<Request<W::Unit>>,
    pub(super) verdicts: UnboundedReceiver<Verdict<W>>,
}

pub(super) struct Request<U> {
    pub(super) number: u64,
    pub(super) unit: U,
    /// Whether it is to be computed in a process of its own first, because it may crash.
    pub(super) is_suspect: bool,
}

pub(super) struct Verdict<W: Work> {
    pub(super) number: u64,
    pub(super) judged: Judged<W>,
}

pub(super) enum Judged<W: Work> {
    Output(Result<Option<W::Output>, W::Error>),
    /// It has crashed its process.
    Crash(String),
}

/// Why a unit is computed on this machine.
enum Dispute {
    /// To check the result of one worker.
    Check { worker: String, fingerprint: Vec<u8> },
    /// Because the results of two workers differ.
    Difference { results: [(String, Vec<u8>); 2] },
    /// Because a worker reported that it cannot be computed.
    Failure { worker: String, reason: String },
    /// Because a worker reported that it has crashed several times.
    Crash { reason: String },
}

/// A result that another worker has been asked to confirm.
struct Check {
    worker: String,
    /// The digest of the unit.
    digest: String,
    fingerprint: Vec<u8>,
    /// The first unit that was published after it.
    next: u64,
    /// Since when no unit is before it in the queue.
    since: Instant,
    /// Its sequence number in the stream, once the server has confirmed it.
    sequence: Option<u64>,
}

pub(super) struct Coordinator<'a, W: Work, U, T> {
    nats: &'a Nats,
    work: &'a W,
    bus: Bus,
    claim: Claim,
    id: String,
    record: JobRecord,
    job: Job,
    units_subject: String,
    all: Vec<u64>,
    unit: U,
    take: T,
    cancel: Option<&'a AtomicBool>,
    judge: Judge<W>,
    own_worker: &'a OwnWorker,

    results: Results,
    /// Whether earlier results are still being read. Until then, no unit is published.
    catching_up: bool,
    /// The units without an accepted result.
    remaining: BTreeSet<u64>,
    /// A lower bound of the next unit to publish.
    next: u64,
    /// Published units without a result, and their maximum number.
    outstanding: HashMap<u64, Published>,
    window: usize,
    publishing: FuturesUnordered<Publishing>,
    /// No unit is published before this time, because the server refused one.
    pause_until: Instant,
    warnings: Warnings,
    checks: HashMap<u64, Check>,
    disputes: HashMap<u64, Dispute>,
    /// Units whose result has been confirmed.
    confirmed: HashSet<u64>,
    dismissed: HashMap<String, String>,
    set_aside: BTreeMap<u64, String>,
    repeated: u64,
    checked: u64,
    /// Decides which results are checked. It never leaves this process.
    secret: RandomState,

    workers: HashMap<String, (WorkerStatus, Instant)>,
    reported_versions: HashSet<String>,
    /// Whether there has been a worker for this job.
    had_workers: bool,
    /// How long there has been no worker, in ticks of this process rather than by the clock.
    time_without_workers: Duration,
    last_result: Instant,
    /// The last time at which a worker was busy or there was no worker.
    last_busy: Instant,
    /// The last time at which the server would deliver all units that it has.
    last_complete: Instant,
    rate: Rate,
}

/// A unit on the server.
struct Published {
    digest: String,
    /// Its sequence number in the stream, once the server has confirmed it.
    sequence: Option<u64>,
}

type Publishing = Pin<Box<dyn Future<Output = (u64, Result<u64, WorkError>)> + Send>>;

/// How long removing an ended job from the server may take.
const CLEAN_UP_TIMEOUT: Duration = Duration::from_secs(10);
/// How long workers have to confirm that they have left an ended job.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(2);
/// How long to pause publishing after the server has refused a unit.
const REFUSED_PAUSE: Duration = Duration::from_secs(1);

/// The interval of the coordinator's periodic tasks.
const TICK: Duration = Duration::from_millis(50);
/// How long to wait for the first worker, and for another one after the last has gone.
const FIRST_WORKER_WAIT: Duration = Duration::from_secs(2);
const NEXT_WORKER_WAIT: Duration = Duration::from_secs(10);
/// How long to wait for a worker if none came for the part of the work before.
const KNOWN_WORKER_WAIT: Duration = Duration::from_millis(300);
/// Bounds of the number of outstanding units: enough to keep all workers busy, but not so many that
/// the server has to store all of a large job.
const MIN_WINDOW: usize = 512;
const MAX_WINDOW: usize = 16_384;
/// If the workers have been idle for this long, the consumer is reset.
const MAX_IDLE: Duration = Duration::from_secs(20);
/// A worker without a heartbeat for this long is considered gone.
const WORKER_TIMEOUT: Duration = Duration::from_secs(5);

impl<'a, W, U, T> Coordinator<'a, W, U, T>
where
    W: Work,
    U: Fn(u64) -> W::Unit,
    T: FnMut(DispatchEvent<W::Output>) -> Result<ControlFlow<()>, W::Error>,
{
    #[allow(clippy::too_many_arguments, reason = "called once")]
    pub(super) fn new(
        nats: &'a Nats,
        work: &'a W,
        bus: Bus,
        claim: Claim,
        record: JobRecord,
        job: Job,
        caller: Caller<'a, U, T>,
        judge: Judge<W>,
        own_worker: &'a OwnWorker,
    ) -> Self {
        let Caller { all, unit, take, cancel } = caller;
        let id = record.id();
        let units_subject =
            units_subject(&record.version, record.arithmetic.as_deref(), W::KIND, &id);
        let results = Results::new(bus.clone(), results_subject(&id));
        let now = Instant::now();
        Coordinator {
            nats,
            work,
            bus,
            claim,
            id,
            record,
            job,
            units_subject,
            all,
            unit,
            take,
            cancel,
            judge,
            own_worker,
            results,
            catching_up: false,
            remaining: BTreeSet::new(),
            next: 0,
            outstanding: HashMap::new(),
            window: MIN_WINDOW,
            publishing: FuturesUnordered::new(),
            pause_until: now,
            warnings: Warnings::default(),
            checks: HashMap::new(),
            disputes: HashMap::new(),
            confirmed: HashSet::new(),
            dismissed: HashMap::new(),
            set_aside: BTreeMap::new(),
            repeated: 0,
            checked: 0,
            secret: RandomState::new(),
            workers: HashMap::new(),
            reported_versions: HashSet::new(),
            had_workers: false,
            time_without_workers: Duration::ZERO,
            last_result: now,
            last_busy: now,
            last_complete: now,
            rate: Rate::default(),
        }
    }

    pub(super) async fn run(&mut self) -> Result<(), W::Error> {
        let ended = self.collect().await;
        self.drop_checks();
        if self.claim.is_lost() {
            // The units and results are those of another coordinator now.
            ended?;
            return Err(WorkError::Claimed("this or another machine".to_owned()).into());
        }
        // The final numbers, for monitors.
        self.send_heartbeat().await;
        // The units are no longer needed. The results are kept if the job may be resumed.
        let is_over = matches!(ended, Ok(End::Complete | End::Enough));
        let _ = timeout(CLEAN_UP_TIMEOUT, self.clean_up(is_over)).await;
        self.claim.release().await;
        ended?;
        if self.set_aside.is_empty() {
            return Ok(());
        }
        Err(WorkError::SetAside(std::mem::take(&mut self.set_aside).into_iter().collect()).into())
    }

    async fn collect(&mut self) -> Result<End, W::Error> {
        let subject = format!("{LIVE_WORKERS}.*");
        let mut workers = self.bus.client.subscribe(subject).await.map_err(broker_error)?;
        let mut hello = self.bus.client.subscribe(HELLO).await.map_err(broker_error)?;
        self.bus.client.publish(HELLO, "".into()).await.map_err(broker_error)?;
        self.start_collecting().await;
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut last_heartbeat, mut last_audit) = (Instant::now(), Instant::now());
        loop {
            if self.is_complete() {
                return Ok(End::Complete);
            }
            self.publish_units().await;
            tokio::select! {
                Some(received) = self.results.received.recv() => {
                    self.catching_up &= received.pending > 0;
                    if let Some((header, body)) = received.result
                        && self.on_result(header, &body).await?.is_break()
                    {
                        return Ok(End::Enough);
                    }
                }
                Some((number, stored)) = self.publishing.next() => self.on_published(number, stored),
                Some(verdict) = self.judge.verdicts.recv() => {
                    if self.on_verdict(verdict).await?.is_break() {
                        return Ok(End::Enough);
                    }
                }
                Some(message) = workers.next() => self.on_worker(&message.payload),
                Some(_) = hello.next() => self.send_heartbeat().await,
                _ = tick.tick() => {
                    if self.is_cancelled() || self.claim.is_lost() {
                        return Ok(End::Cancelled);
                    }
                    self.adapt_to_workers();
                    if last_heartbeat.elapsed() > Duration::from_secs(1) {
                        last_heartbeat = Instant::now();
                        self.send_heartbeat().await;
                    }
                    if last_audit.elapsed() > self.nats.connection.ack_wait / 4 {
                        last_audit = Instant::now();
                        Box::pin(self.republish_lost_units()).await;
                        self.take_over_old_checks().await;
                    }
                }
            }
        }
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed))
    }

    fn is_complete(&self) -> bool {
        !self.catching_up
            && self.remaining.is_empty()
            && self.checks.is_empty()
            && self.disputes.is_empty()
    }

    /// Starts collecting from the first stored result. Waits for an unavailable server unless the
    /// job is cancelled.
    async fn start_collecting(&mut self) {
        let is_open = |number: &u64| !self.set_aside.contains_key(number);
        self.remaining = self.all.iter().copied().filter(is_open).collect();
        self.remove_outstanding().await;
        self.publishing.clear();
        self.next = 0;
        self.catching_up = true;
        self.results.rewind();
        while !self.is_cancelled() && !self.claim.is_lost() {
            // Units of a previous coordinator are republished if they are still needed.
            match self.bus.remove_units(&self.units_subject).await {
                Ok(()) => return,
                Err(error) => self.warn(format!("{error}; trying again")),
            }
            sleep(Duration::from_millis(300)).await;
        }
    }

    /// Publishes units until enough of them are outstanding.
    async fn publish_units(&mut self) {
        if self.catching_up || !self.bus.is_connected() || Instant::now() < self.pause_until {
            return;
        }
        while self.outstanding.len() < self.window {
            let Some(&number) = self.remaining.range(self.next..).next() else { return };
            self.next = number + 1;
            if self.outstanding.contains_key(&number) || self.disputes.contains_key(&number) {
                continue;
            }
            let body = self.encode_unit(number);
            let header = UnitHeader { unit: number, digest: digest(&body), check_of: None };
            let published = Published { digest: header.digest.clone(), sequence: None };
            self.outstanding.insert(number, published);
            self.publish(number, frame(&header, &body)).await;
        }
    }

    async fn publish(&mut self, number: u64, message: Vec<u8>) {
        let publish = PublishMessage::build().payload(message.into());
        match self.bus.context.send_publish(self.units_subject.clone(), publish).await {
            Ok(stored) => self.publishing.push(Box::pin(async move {
                let stored = stored.await.map(|stored| stored.sequence);
                (number, stored.map_err(|error| store_error(&error)))
            })),
            Err(error) => {
                let refused = (number, Err(store_error(&error)));
                self.publishing.push(Box::pin(std::future::ready(refused)));
            }
        }
    }

    fn on_published(&mut self, number: u64, stored: Result<u64, WorkError>) {
        match stored {
            Ok(sequence) => {
                if let Some(published) = self.outstanding.get_mut(&number) {
                    published.sequence = Some(sequence);
                } else if let Some(check) = self.checks.get_mut(&number) {
                    check.sequence = Some(sequence);
                }
                self.warnings.resolve(&self.nats.connection, "the NATS server is working again");
            }
            Err(error) => {
                // If it was stored after all, its second result is ignored.
                self.outstanding.remove(&number);
                self.next = self.next.min(number);
                self.pause_until = Instant::now() + REFUSED_PAUSE;
                self.warn(format!("cannot publish units: {error}; trying again"));
            }
        }
    }

    /// Warns about an error of the server. A lost connection has already been logged.
    fn warn(&mut self, message: String) {
        if self.bus.is_connected() {
            self.warnings.warn(&self.nats.connection, message);
        }
    }

    fn encode_unit(&self, number: u64) -> Vec<u8> {
        serde_json::to_vec(&(self.unit)(number)).expect("units are plain data")
    }

    async fn on_result(
        &mut self,
        header: ResultHeader,
        body: &[u8],
    ) -> Result<ControlFlow<()>, W::Error> {
        self.last_result = Instant::now();
        if self.dismissed.contains_key(&header.worker) {
            return Ok(ControlFlow::Continue(()));
        }
        let number = header.unit;
        if header.is_check {
            self.on_check(&header, body).await?;
            return Ok(ControlFlow::Continue(()));
        }
        if header.status == Status::Done
            && matches!(self.disputes.get(&number), Some(Dispute::Crash { .. }))
        {
            self.disputes.remove(&number);
        }
        // A worker that was only cut off may still finish a unit that has been set aside.
        let is_needed = self.remaining.contains(&number)
            || (header.status == Status::Done && self.set_aside.contains_key(&number));
        if !is_needed || self.disputes.contains_key(&number) {
            self.repeated += 1;
            return Ok(ControlFlow::Continue(()));
        }
        let expected = match self.outstanding.get(&number) {
            Some(published) => published.digest.clone(),
            None => digest(&self.encode_unit(number)),
        };
        if header.digest != expected {
            // A unit with the same number of a job that was split differently.
            return Ok(ControlFlow::Continue(()));
        }
        match header.status {
            Status::Done => match self.decode_output(number, body) {
                Ok(output) => {
                    self.start_check(number, &header.worker, &output).await;
                    self.accept(number, output)
                }
                Err(reason) => {
                    let reason = format!("its result of unit {number} is invalid: {reason}");
                    self.dismiss(header.worker, reason).await?;
                    Ok(ControlFlow::Continue(()))
                }
            },
            Status::Failed => {
                let reason = String::from_utf8_lossy(body).into_owned();
                self.dispute(number, Dispute::Failure { worker: header.worker, reason });
                Ok(ControlFlow::Continue(()))
            }
            Status::SetAside if self.suitable_workers().any(|it| header.lost.contains(&it.id)) => {
                // The unit did not crash it.
                self.outstanding.remove(&number);
                self.next = self.next.min(number);
                Ok(ControlFlow::Continue(()))
            }
            Status::SetAside => {
                let reason = String::from_utf8_lossy(body).into_owned();
                if header.lost.is_empty() && self.nats.can_isolate() {
                    self.dispute(number, Dispute::Crash { reason });
                } else if self.is_recorded(number).await {
                    self.set_aside(number, reason);
                } else {
                    // Published again, it gets another three attempts.
                    let connection = &self.nats.connection;
                    connection.log(format!("unit {number} has not crashed often enough: {reason}"));
                    self.outstanding.remove(&number);
                    self.next = self.next.min(number);
                }
                Ok(ControlFlow::Continue(()))
            }
        }
    }

    /// Whether its recorded starts are a reason for setting a unit aside.
    async fn is_recorded(&self, number: u64) -> bool {
        let published = self.outstanding.get(&number).and_then(|published| published.sequence);
        match published {
            Some(sequence) => attempts::is_hopeless(&self.bus, &self.id, sequence).await,
            // Of an earlier coordinator of this job.
            None => false,
        }
    }

    fn set_aside(&mut self, number: u64, reason: String) {
        self.nats.connection.log(format!("unit {number} is set aside: {reason}"));
        self.set_aside.insert(number, reason);
        self.remaining.remove(&number);
        self.outstanding.remove(&number);
    }

    /// Decodes and verifies an output from another machine.
    fn decode_output(&self, number: u64, body: &[u8]) -> Result<W::Output, String> {
        let output = W::decode(body)?;
        self.work.verify(&(self.unit)(number), &output)?;
        Ok(output)
    }

    fn accept(&mut self, number: u64, output: W::Output) -> Result<ControlFlow<()>, W::Error> {
        self.remaining.remove(&number);
        self.set_aside.remove(&number);
        self.outstanding.remove(&number);
        (self.take)(DispatchEvent::Output(number, output))
    }

    /// Has a result confirmed if it is the first one of a worker or belongs to the sampled share.
    async fn start_check(&mut self, number: u64, worker: &str, output: &W::Output) {
        let share = self.nats.check_share;
        if !self.job.is_deterministic || share == 0.0 || self.confirmed.contains(&number) {
            return;
        }
        let is_new = self.nats.mark_checked(W::KIND, worker);
        if !is_new && draw(&self.secret, &self.id, number) >= share {
            return;
        }
        let fingerprint = W::fingerprint(output);
        let worker = worker.to_owned();
        if self.suitable_workers().all(|other| other.id == worker) {
            self.dispute(number, Dispute::Check { worker, fingerprint });
            return;
        }
        let body = self.encode_unit(number);
        let digest = digest(&body);
        let header =
            UnitHeader { unit: number, digest: digest.clone(), check_of: Some(worker.clone()) };
        // If this fails, the check times out and is done locally.
        self.publish(number, frame(&header, &body)).await;
        let (next, since) = (self.next, Instant::now());
        let check = Check { worker, digest, fingerprint, next, since, sequence: None };
        self.checks.insert(number, check);
    }

    async fn on_check(&mut self, header: &ResultHeader, body: &[u8]) -> Result<(), W::Error> {
        if header.status != Status::Done {
            // The check times out and is done locally.
            return Ok(());
        }
        let Some(check) = self.checks.get(&header.unit) else { return Ok(()) };
        if check.worker == header.worker || check.digest != header.digest {
            return Ok(());
        }
        let fingerprint = match self.decode_output(header.unit, body) {
            Ok(output) => W::fingerprint(&output),
            Err(reason) => {
                let reason = format!("its result of unit {} is invalid: {reason}", header.unit);
                return self.dismiss(header.worker.clone(), reason).await;
            }
        };
        let check = self.checks.remove(&header.unit).expect("it has just been found");
        self.nats.mark_checked(W::KIND, &header.worker);
        if check.fingerprint == fingerprint {
            self.confirm(header.unit);
            return Ok(());
        }
        let results = [(check.worker, check.fingerprint), (header.worker.clone(), fingerprint)];
        self.dispute(header.unit, Dispute::Difference { results });
        Ok(())
    }

    fn confirm(&mut self, number: u64) {
        self.checked += 1;
        self.confirmed.insert(number);
    }

    /// Drops all pending checks. Their workers still have to be checked.
    fn drop_checks(&mut self) {
        let disputed = self.disputes.drain().filter_map(|(_, dispute)| match dispute {
            Dispute::Check { worker, .. } => Some(worker),
            Dispute::Difference { .. } | Dispute::Failure { .. } | Dispute::Crash { .. } => None,
        });
        for worker in self.checks.drain().map(|(_, check)| check.worker).chain(disputed) {
            self.nats.unmark_checked(W::KIND, worker);
        }
    }

    /// Has a unit computed on this machine.
    fn dispute(&mut self, number: u64, dispute: Dispute) {
        let is_suspect = matches!(dispute, Dispute::Crash { .. });
        self.disputes.insert(number, dispute);
        let request = Request { number, unit: (self.unit)(number), is_suspect };
        self.judge.requests.send(request).expect("the judge waits for requests");
    }

    async fn on_verdict(&mut self, verdict: Verdict<W>) -> Result<ControlFlow<()>, W::Error> {
        let Verdict { number, judged } = verdict;
        let Some(dispute) = self.disputes.remove(&number) else {
            // Collecting has been restarted meanwhile.
            return Ok(ControlFlow::Continue(()));
        };
        let output = match (judged, &dispute) {
            (Judged::Output(output), _) => output,
            (Judged::Crash(_), Dispute::Crash { reason }) => {
                self.set_aside(number, reason.clone());
                return Ok(ControlFlow::Continue(()));
            }
            (Judged::Crash(reason), _) => Err(WorkError::Panicked(number, reason).into()),
        };
        // An error on this machine is an error of the work itself.
        let Some(output) = output? else { return Ok(ControlFlow::Break(())) };
        let fingerprint = W::fingerprint(&output);
        let differs = format!("its result of unit {number} differs from that of another machine");
        match dispute {
            Dispute::Crash { reason } => {
                let connection = &self.nats.connection;
                connection.log(format!("unit {number} can be computed here: {reason}"));
                return self.accept(number, output);
            }
            Dispute::Failure { worker, reason } => {
                let reason = format!("it failed on unit {number}, which can be computed: {reason}");
                if self.accept(number, output)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
                self.dismiss(worker, reason).await?;
            }
            Dispute::Check { worker, fingerprint: claimed } => {
                if claimed == fingerprint {
                    self.confirm(number);
                } else {
                    self.dismiss(worker, differs).await?;
                }
            }
            Dispute::Difference { results } => {
                self.confirm(number);
                let wrong: Vec<String> = results
                    .into_iter()
                    .filter(|(_, claimed)| *claimed != fingerprint)
                    .map(|(worker, _)| worker)
                    .collect();
                for worker in wrong {
                    self.dismiss(worker, differs.clone()).await?;
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Discards all results of a worker and restarts with those of the others.
    async fn dismiss(&mut self, worker: String, reason: String) -> Result<(), W::Error> {
        if self.dismissed.contains_key(&worker) {
            return Ok(());
        }
        self.nats.connection.log(format!("{worker} is dismissed: {reason}"));
        let subject = format!("{DISMISSED}.{worker}");
        let _ = self.bus.client.publish(subject, reason.clone().into()).await;
        self.workers.remove(&worker);
        self.drop_checks();
        self.dismissed.insert(worker, reason);
        let _ = (self.take)(DispatchEvent::Restart)?;
        self.start_collecting().await;
        Ok(())
    }

    fn on_worker(&mut self, payload: &[u8]) {
        let Ok(status) = serde_json::from_slice::<WorkerStatus>(payload) else { return };
        if status.is_leaving {
            self.workers.remove(&status.id);
            return;
        }
        let own = &self.nats.connection.version;
        if status.version != *own && self.reported_versions.insert(status.version.clone()) {
            self.nats.connection.log(format!(
                "{} has version {} and cannot work on jobs of version {own}",
                status.id, status.version
            ));
        }
        if status.running + status.waiting > 0 {
            self.last_busy = Instant::now();
        }
        self.workers.insert(status.id.clone(), (status, Instant::now()));
    }

    /// The workers that can compute units of this job.
    fn suitable_workers(&self) -> impl Iterator<Item = &WorkerStatus> {
        let now = Instant::now();
        let record = &self.record;
        self.workers.values().filter_map(move |(status, heard)| {
            let is_suitable = now.duration_since(*heard) < WORKER_TIMEOUT
                && status.version == record.version
                && status.kinds.contains(&record.kind)
                && record.arithmetic.as_ref().is_none_or(|needed| *needed == status.arithmetic)
                && !self.dismissed.contains_key(&status.id);
            is_suitable.then_some(status)
        })
    }

    /// Adapts the window to the workers. If there are none, starts one in this process.
    fn adapt_to_workers(&mut self) {
        let threads: usize = self.suitable_workers().map(|worker| worker.threads).sum();
        self.window = (64 * threads).clamp(MIN_WINDOW, MAX_WINDOW);
        if !self.bus.is_connected() || self.suitable_workers().next().is_some() {
            self.had_workers |= self.bus.is_connected();
            if self.bus.is_connected() && !self.own_worker.is_running() {
                self.nats.is_alone.store(false, Ordering::Relaxed);
            }
            self.time_without_workers = Duration::ZERO;
            return;
        }
        self.last_busy = Instant::now();
        let patience = match (self.had_workers, self.workers.is_empty()) {
            (true, false) => NEXT_WORKER_WAIT,
            // Those of an earlier part of the same command would have answered by now.
            (false, _) if self.nats.is_alone.load(Ordering::Relaxed) => KNOWN_WORKER_WAIT,
            _ => FIRST_WORKER_WAIT,
        };
        self.time_without_workers += TICK;
        if self.own_worker.is_running() || self.time_without_workers < patience {
            return;
        }
        self.nats.is_alone.store(!self.had_workers, Ordering::Relaxed);
        let Nats { connection, arithmetic, threads, cache, .. } = self.nats;
        let (kind, version) = (W::KIND, &connection.version);
        connection.log(format!(
            "no worker of version {version} for {kind} at {}; computing locally with {threads} threads",
            connection.redacted_url()
        ));
        let connection = connection.clone().with_log(Arc::new(|_| {}));
        let worker =
            Worker::new(connection, Kinds::new(arithmetic).with::<W>(), *threads, cache.clone());
        self.own_worker.start(worker, self.nats.connection.clone());
    }

    /// Republishes units that the server no longer has, for example because it lost its disk.
    async fn republish_lost_units(&mut self) {
        let is_quiet = self.last_result.elapsed() > self.nats.connection.ack_wait / 4;
        if self.outstanding.is_empty() || !is_quiet || !self.publishing.is_empty() {
            return;
        }
        match count(&self.bus.units, &self.units_subject).await {
            Ok(0) => {
                // A worker may have recreated the streams, without the job.
                if restore_job(&self.bus, &self.id, &self.record, &self.job).await.is_ok() {
                    self.next = 0;
                    self.outstanding.clear();
                }
            }
            Ok(_) => self.reset_stuck_units().await,
            Err(_) => match Bus::open(self.bus.client.clone()).await {
                Ok(bus) => self.bus = bus,
                Err(error) => self.warn(format!("{error}; trying again")),
            },
        }
    }

    /// After a crash, a server may have units that it never delivers. Removing the consumer makes
    /// it deliver them all, including those that are being computed. So this is done only if no worker
    /// is busy or, because they may be busy with other jobs, if the consumer has forgotten units.
    async fn reset_stuck_units(&mut self) {
        let connection = &self.nats.connection;
        let arithmetic = self.record.arithmetic.as_deref().unwrap_or(ANY);
        let forgotten = self.bus.has_forgotten_units(connection, arithmetic, W::KIND).await;
        if !forgotten.unwrap_or(false) {
            self.last_complete = Instant::now();
        }
        let idle = self.last_busy.min(self.last_complete).max(self.last_result).elapsed();
        if idle < MAX_IDLE.max(2 * self.nats.connection.ack_wait) {
            return;
        }
        (self.last_busy, self.last_complete) = (Instant::now(), Instant::now());
        connection.log("the NATS server does not deliver its units; resetting its consumer");
        if let Err(error) = self.bus.remove_consumer(connection, arithmetic, W::KIND).await {
            self.warn(format!("{error}; trying again"));
        }
    }

    /// Does checks locally that no worker has done although it was their turn.
    async fn take_over_old_checks(&mut self) {
        let first_outstanding = self.outstanding.keys().min().copied().unwrap_or(u64::MAX);
        let waiting = self.checks.values_mut().filter(|check| first_outstanding < check.next);
        for check in waiting {
            check.since = Instant::now();
        }
        let is_old = |check: &Check| check.since.elapsed() > 2 * self.nats.connection.ack_wait;
        let is_alone = self.suitable_workers().count() < 2;
        let is_idle = self.remaining.is_empty();
        let old: Vec<u64> = self
            .checks
            .iter()
            .filter(|(_, check)| is_old(check) || (is_alone && is_idle))
            .map(|(number, _)| *number)
            .collect();
        let mut sequences = Vec::new();
        for number in old {
            let Check { worker, fingerprint, sequence, .. } =
                self.checks.remove(&number).expect("it has just been found");
            sequences.extend(sequence);
            self.dispute(number, Dispute::Check { worker, fingerprint });
        }
        if !sequences.is_empty() && self.bus.is_connected() {
            self.bus.remove_units_at(sequences).await;
        }
    }

    async fn send_heartbeat(&mut self) {
        if !self.bus.is_connected() {
            return;
        }
        let units = self.all.len() as u64;
        let done = units - self.remaining.len() as u64 - self.set_aside.len() as u64;
        let status = JobStatus {
            id: self.id.clone(),
            kind: W::KIND.to_owned(),
            title: self.record.title.clone(),
            version: self.record.version.clone(),
            arithmetic: self.record.arithmetic.clone(),
            host: host_name(),
            units,
            done,
            outstanding: self.outstanding.len() as u64,
            repeated: self.repeated,
            checked: self.checked,
            set_aside: self.set_aside.clone().into_iter().collect(),
            dismissed: self.dismissed.clone().into_iter().collect(),
            rate: self.rate.update(done),
        };
        let bytes = serde_json::to_vec(&status).expect("a status is plain data");
        let _ = self.bus.client.publish(format!("{LIVE_JOBS}.{}", self.id), bytes.into()).await;
    }

    /// Removes the units whose sequence numbers are known. The others have to be searched for.
    async fn remove_outstanding(&mut self) {
        let published = self.outstanding.drain().filter_map(|(_, published)| published.sequence);
        let published: Vec<u64> = published.collect();
        if self.bus.is_connected() {
            self.bus.remove_units_at(published).await;
        }
    }

    async fn clean_up(&mut self, is_over: bool) {
        if is_over {
            // Workers that still get a unit see that the job has ended.
            let _ = self.bus.jobs.purge(&self.id).await;
        }
        // Otherwise, the server might store a unit in flight after the others have been removed.
        let _ = timeout(CLEAN_UP_TIMEOUT / 4, self.wait_until_published()).await;
        self.remove_outstanding().await;
        let _ = timeout(CLEAN_UP_TIMEOUT / 2, self.bus.remove_units(&self.units_subject)).await;
        let left = self.bus.client.subscribe(format!("{LIVE_WORKERS}.*.{LEFT}")).await;
        let _ = self.bus.client.publish(format!("{ENDED}.{}", self.id), "".into()).await;
        if is_over {
            // Otherwise, a result in flight would be kept for a week.
            if let Ok(left) = left {
                let _ = timeout(LEAVE_TIMEOUT, self.wait_until_left(left)).await;
            }
            let _ = self.bus.remove_attempts(&self.id).await;
            let _ = self.bus.results.purge().filter(&self.results.subject).await;
        }
        let _ = self.bus.client.flush().await;
    }

    async fn wait_until_published(&mut self) {
        while let Some((number, stored)) = self.publishing.next().await {
            self.on_published(number, stored);
        }
    }

    /// Waits until all workers have confirmed the end of the job.
    async fn wait_until_left(&self, mut left: Subscriber) {
        let mut remaining: HashSet<&str> =
            self.suitable_workers().map(|worker| worker.id.as_str()).collect();
        while !remaining.is_empty() {
            let Some(message) = left.next().await else { return };
            if message.payload == self.id {
                // The subject ends with the worker's id and `left`.
                remaining.remove(message.subject.rsplit('.').nth(1).unwrap_or_default());
            }
        }
    }
}

/// Stores a job and its files again, because workers did not find all of them.
async fn restore_job(bus: &Bus, id: &str, record: &JobRecord, job: &Job) -> Result<(), WorkError> {
    for file in &job.files {
        store_file(bus, &hash(&file.content), &file.content).await?;
    }
    store_record(bus, id, record).await
}

/// Stores what all units of a job share.
pub(super) async fn store_job(
    bus: &Bus,
    id: &str,
    record: &JobRecord,
    job: &Job,
) -> Result<(), WorkError> {
    for file in &job.files {
        let name = hash(&file.content);
        if !has_fresh_file(bus, &name).await {
            store_file(bus, &name, &file.content).await?;
        }
    }
    store_record(bus, id, record).await
}

async fn store_file(bus: &Bus, name: &str, mut content: &[u8]) -> Result<(), WorkError> {
    bus.files.put(name, &mut content).await.map(drop).map_err(broker_error)
}

async fn store_record(bus: &Bus, id: &str, record: &JobRecord) -> Result<(), WorkError> {
    let bytes = serde_json::to_vec(record).expect("records are plain data");
    bus.jobs.put(id, bytes.into()).await.map(drop).map_err(broker_error)
}

/// Whether the server has a file that it will keep for some time.
async fn has_fresh_file(bus: &Bus, name: &str) -> bool {
    let Ok(info) = bus.files.info(name).await else { return false };
    let Some(stored) = info.modified.map(SystemTime::from) else { return false };
    // The clock of the server may be ahead of this one.
    stored.elapsed().ok().is_none_or(|age| age < DAY)
}

/// Why collecting ended.
enum End {
    Complete,
    /// The caller needs no more.
    Enough,
    Cancelled,
}

/// A number from 0 to 1 that depends on a job and a unit, for the choice of checks. Without the secret,
/// a worker cannot tell which of its results will be checked.
fn draw(secret: &RandomState, job: &str, number: u64) -> f64 {
    let hash = secret.hash_one((job, number));
    f64::from(hash as u32) / (f64::from(u32::MAX) + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_cannot_predict_which_results_are_checked() {
        let sample = |secret: &RandomState| -> Vec<u64> {
            (0..10_000).filter(|&number| draw(secret, "job", number) < 0.02).collect()
        };
        let secret = RandomState::new();
        let checked = sample(&secret);
        assert!((100..300).contains(&checked.len()), "{}", checked.len());
        assert_eq!(sample(&secret), checked);
        assert_ne!(sample(&RandomState::new()), checked);
    }
}
