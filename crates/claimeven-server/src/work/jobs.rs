//! Jobs: tournaments and training runs. They are queued, run one of each kind at a time, and can be
//! stopped and resumed, even after a restart of the server. Tournaments choose their openings
//! beforehand, at the same time as others are played.

use std::collections::{BTreeMap, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::{Notify, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::engine::Engine;
use super::machines::Machines;
use super::priority::{self, Priority};
use super::{tournament, training};
use crate::bus::Message;
use crate::client::Client;
use crate::config::Config;
use crate::error::Error;
use crate::fleet::Fleet;
use crate::monitor::Monitor;
use crate::quota::{Exceeded, Permit, Quota};
use crate::store::{Job, JobState, Kind, Store, StoreError};
use crate::visitor::Visitor;

/// All jobs.
pub(crate) struct Jobs {
    config: Arc<Config>,
    store: Store,
    fleet: Arc<Fleet>,
    engine: Arc<Engine>,
    machines: Machines,
    running: Mutex<HashMap<String, Arc<RunningJob>>>,
    /// The limit per address, and the clients and permits of the active jobs that were started since
    /// the server started.
    quota: Quota,
    permits: Mutex<HashMap<String, (Client, Permit)>>,
    /// How many turns of a job in a row the database has interrupted.
    interruptions: Mutex<HashMap<String, u32>>,
    wake: [Notify; 2],
    tasks: TaskTracker,
    stopping: CancellationToken,
}

/// A running job, shared by its thread and its watchers.
#[derive(Default)]
pub(crate) struct RunningJob {
    /// Set to end its turn.
    pub(crate) cancel: Arc<AtomicBool>,
    /// Whether that is because it was stopped. Otherwise it goes back into the queue.
    is_stopped: AtomicBool,
    /// How many workers of the fleet run it; 0 if this server does.
    pub(crate) workers: AtomicUsize,
    /// The games in progress, by number; if workers play them, the latest results.
    pub(crate) boards: Mutex<BTreeMap<usize, tournament::BoardView>>,
    /// The current stage of a training run.
    pub(crate) stage: Mutex<Option<training::StageView>>,
}

impl RunningJob {
    fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        self.cancel.store(true, Ordering::Relaxed);
    }

    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }
}

/// How a turn of a job ended.
#[derive(Debug)]
pub(crate) enum TurnEnd {
    /// The job is complete.
    Done,
    /// Another job has waited long enough.
    Yielded,
    /// It was cancelled.
    Cancelled,
    /// The database failed, for this reason; it is tried again.
    Interrupted(String),
    /// It cannot continue, for this reason.
    Failed(String),
}

/// The context of a job's thread.
pub(crate) struct JobContext {
    pub(crate) config: Arc<Config>,
    pub(crate) running: Arc<RunningJob>,
    pub(crate) machines: Machines,
    store: Store,
    handle: Handle,
}

impl JobContext {
    /// Runs a query on the threads that serve requests, and waits for its result. On this thread the
    /// query, and any database connection that it opens for the pool, would have low priority.
    pub(crate) fn with_store<T, F>(&self, query: impl FnOnce(Store) -> F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, StoreError>> + Send + 'static,
    {
        let (sender, receiver) = mpsc::sync_channel(1);
        let query = query(self.store.clone());
        self.handle.spawn(async move {
            let _ = sender.send(query.await);
        });
        // Not `block_on`: this may be a thread of a coordinator's runtime.
        let closed = |_| Err(StoreError::Broken("the server is shutting down".to_owned()));
        receiver.recv().unwrap_or_else(closed)
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why a visitor cannot start another tournament.
pub(crate) const OTHERS_ACTIVE: &str = "Your other tournaments are still running: stop one first";

impl Jobs {
    pub(crate) fn new(
        config: Arc<Config>,
        store: Store,
        fleet: Arc<Fleet>,
        engine: Arc<Engine>,
        monitor: Arc<Monitor>,
    ) -> Arc<Jobs> {
        Arc::new(Jobs {
            machines: Machines::new(&config, monitor),
            store,
            fleet,
            engine,
            running: Mutex::default(),
            quota: Quota::new(0, config.jobs_per_address, config.jobs_each.max(1)),
            permits: Mutex::default(),
            interruptions: Mutex::default(),
            wake: [Notify::new(), Notify::new()],
            tasks: TaskTracker::new(),
            stopping: CancellationToken::new(),
            config,
        })
    }

    /// Starts working on the queue, including the jobs that were running when the server stopped.
    pub(crate) async fn start(self: &Arc<Self>) -> Result<(), StoreError> {
        self.requeue().await?;
        for kind in [Kind::Tournament, Kind::Training] {
            let jobs = Arc::clone(self);
            self.tasks.spawn(async move { jobs.run_queue(kind).await });
        }
        Ok(())
    }

    /// Puts the jobs of dead servers back into the queue.
    pub(crate) async fn requeue(&self) -> Result<(), StoreError> {
        let jobs = self.store.requeue_jobs().await?;
        if jobs > 0 {
            tracing::info!(jobs, "Resumed jobs");
            self.wake.iter().for_each(Notify::notify_one);
        }
        Ok(())
    }

    /// Cancels all jobs on this server, because another server may be running them by now.
    pub(crate) fn cancel_all(&self) {
        for running in lock(&self.running).values() {
            running.cancel.store(true, Ordering::Relaxed);
        }
    }

    /// Stops a job if it runs on this server.
    pub(crate) fn cancel(&self, id: &str) {
        if let Some(running) = self.running(id) {
            running.stop();
        }
    }

    /// Adds a job of a client to the queue.
    pub(crate) async fn add(&self, job: &Job, client: &Client) -> Result<(), Error> {
        let permit = self.acquire_permit(job.kind, client)?;
        self.store.add_job(job).await?;
        lock(&self.permits).insert(job.id.clone(), (client.clone(), permit));
        self.wake(job.kind).notify_one();
        Ok(())
    }

    fn acquire_permit(&self, kind: Kind, client: &Client) -> Result<Permit, Error> {
        let mut client = client.clone();
        if kind == Kind::Training {
            // The limit per visitor is for tournaments.
            client.visitor = None;
        }
        self.quota.acquire(&client).map_err(|exceeded| match exceeded {
            Exceeded::Visitor => Error::Conflict(OTHERS_ACTIVE.to_owned()),
            Exceeded::All | Exceeded::Address => {
                let limit = self.config.jobs_per_address;
                let message = format!(
                    "Too many tournaments and training runs from your address are active (limit: {limit})"
                );
                Error::TooMany(message, 60)
            }
        })
    }

    /// A job by its id.
    pub(crate) async fn find(&self, kind: Kind, id: &str) -> Result<Job, Error> {
        let unknown = || Error::NotFound(format!("{} '{id}' not found", kind.name()));
        if id.len() > 32 || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(unknown());
        }
        let job = self.store.job(id).await?;
        job.filter(|job| job.kind == kind).ok_or_else(unknown)
    }

    /// A job by its id, if it belongs to the visitor.
    pub(crate) async fn own(&self, kind: Kind, id: &str, who: &Visitor) -> Result<Job, Error> {
        let job = self.find(kind, id).await?;
        if job.owner == *who {
            return Ok(job);
        }
        Err(Error::Forbidden(format!("This {} belongs to someone else", kind.name())))
    }

    /// The jobs that run on this server.
    pub(crate) fn running_ids(&self) -> Vec<String> {
        lock(&self.running).keys().cloned().collect()
    }

    /// A running job.
    pub(crate) fn running(&self, id: &str) -> Option<Arc<RunningJob>> {
        lock(&self.running).get(id).cloned()
    }

    /// Stops a job; returns whether it has stopped yet.
    pub(crate) async fn stop(&self, id: &str) -> Result<bool, Error> {
        const TIMEOUT: Duration = Duration::from_secs(5);
        let started = Instant::now();
        loop {
            // A job whose turn ended before it could be cancelled is in the queue as well.
            self.store.set_job_state(id, &[JobState::Queued], JobState::Stopped, None).await?;
            let job = self.store.job(id).await?;
            if !job.is_some_and(|job| job.state.is_active()) && self.running(id).is_none() {
                lock(&self.permits).remove(id);
                return Ok(true);
            }
            self.cancel(id);
            self.fleet.publish(Message::StopJob { job: id.to_owned() });
            if started.elapsed() > TIMEOUT {
                return Ok(false);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Stops and deletes a job with its games.
    pub(crate) async fn delete(&self, job: &Job) -> Result<(), Error> {
        if !self.stop(&job.id).await? {
            let message = format!("The {} is still stopping, try again", job.kind.name());
            return Err(Error::Conflict(message));
        }
        Ok(self.store.delete_job(&job.id).await?)
    }

    /// Resumes a stopped or failed job, or a training run that was done.
    pub(crate) async fn resume(&self, job: &Job, client: &Client) -> Result<(), Error> {
        let permit = self.acquire_permit(job.kind, client)?;
        let from = match job.kind {
            Kind::Tournament => &[JobState::Stopped, JobState::Failed][..],
            Kind::Training => &[JobState::Stopped, JobState::Failed, JobState::Done],
        };
        if self.store.set_job_state(&job.id, from, JobState::Queued, None).await? {
            lock(&self.permits).insert(job.id.clone(), (client.clone(), permit));
            self.wake(job.kind).notify_one();
            return Ok(());
        }
        let message = format!("Only a stopped {} can be resumed", job.kind.name());
        Err(Error::Conflict(message))
    }

    /// Stops all jobs, to be resumed at the next start.
    pub(crate) async fn close(&self) {
        self.stopping.cancel();
        self.cancel_all();
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Stops the jobs that the operator has deleted from the database.
    pub(crate) async fn stop_deleted(&self) -> Result<(), StoreError> {
        let mut known = self.running_ids();
        known.extend(lock(&self.permits).keys().cloned());
        for id in known {
            if self.store.job(&id).await?.is_none() {
                lock(&self.permits).remove(&id);
                self.cancel(&id);
            }
        }
        Ok(())
    }

    fn wake(&self, kind: Kind) -> &Notify {
        &self.wake[usize::from(kind == Kind::Training)]
    }

    /// Runs the jobs of a kind one after another.
    async fn run_queue(self: Arc<Self>, kind: Kind) {
        while !self.stopping.is_cancelled() {
            let turn = self.next_turn(kind).await;
            let pause = match turn {
                Ok(true) => continue,
                Ok(false) => Duration::from_mins(1),
                Err(error) => {
                    tracing::error!(?error, "Failed to run a job");
                    Duration::from_secs(5)
                }
            };
            tokio::select! {
                () = self.wake(kind).notified() => {}
                () = self.stopping.cancelled() => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// Runs the job that has waited longest for a turn; returns whether there was one.
    async fn next_turn(self: &Arc<Self>, kind: Kind) -> Result<bool, StoreError> {
        let busy = lock(&self.running).len();
        let waiting = self.store.next_jobs(kind, busy + 1).await?;
        // A turn whose lease has lapsed may not have ended yet, although its job is in the queue again.
        let is_free = |job: &Job| !lock(&self.running).contains_key(&job.id);
        let Some(job) = waiting.into_iter().find(is_free) else { return Ok(false) };
        let (id, running) = (job.id.clone(), Arc::new(RunningJob::default()));
        // Registered before its state changes, so that it can be stopped at any time.
        lock(&self.running).insert(id.clone(), Arc::clone(&running));
        let started =
            self.store.set_job_state(&id, &[JobState::Queued], JobState::Running, None).await;
        if !matches!(started, Ok(true)) {
            lock(&self.running).remove(&id);
            return started;
        }
        if self.stopping.is_cancelled() {
            running.cancel.store(true, Ordering::Relaxed);
        }
        if kind == Kind::Tournament && tournament::needs_openings(&job) {
            // The next tournament can be played in the meantime.
            let jobs = Arc::clone(self);
            self.tasks.spawn(async move { jobs.prepare(job, &running).await });
            return Ok(true);
        }
        let end = self.work(job, Arc::clone(&running)).await;
        self.end_turn(kind, &id, &running, end).await;
        Ok(true)
    }

    /// Chooses the openings of a tournament, which then waits for its turn.
    async fn prepare(&self, job: Job, running: &RunningJob) {
        let client = lock(&self.permits).get(&job.id).map(|(client, _)| client.clone());
        // After a restart of the server, the client's address is unknown.
        let owner = || Client { address: None, visitor: Some(job.owner.clone()) };
        let client = client.unwrap_or_else(owner);
        let chosen =
            tournament::choose_openings(&job, &client, &self.engine, &self.config, &running.cancel);
        let end = match chosen.await {
            Ok(plan) => match self.store.complete_plan(&job.id, plan, job.total).await {
                Ok(()) => TurnEnd::Yielded,
                Err(error) => TurnEnd::Interrupted(format!("failed to store openings: {error}")),
            },
            Err(end) => end,
        };
        self.end_turn(job.kind, &job.id, running, end).await;
        self.wake(job.kind).notify_one();
    }

    /// Stores how a turn ended.
    async fn end_turn(&self, kind: Kind, id: &str, running: &RunningJob, end: TurnEnd) {
        let is_interrupted = matches!(end, TurnEnd::Interrupted(_));
        let (state, error) = match end {
            TurnEnd::Done => (JobState::Done, None),
            TurnEnd::Cancelled if running.is_stopped() => (JobState::Stopped, None),
            // If it was cancelled, the server is shutting down, or its registration has lapsed.
            TurnEnd::Yielded | TurnEnd::Cancelled => (JobState::Queued, None),
            TurnEnd::Interrupted(reason) => self.after_interruption(id, running, &reason).await,
            TurnEnd::Failed(reason) => (JobState::Failed, Some(reason)),
        };
        if !is_interrupted || state != JobState::Queued {
            lock(&self.interruptions).remove(id);
        }
        // Retry until it is stored, or the job would count as running forever.
        let mut pause = Duration::from_millis(200);
        while let Err(failure) =
            self.store.set_job_state(id, &[JobState::Running], state, error.clone()).await
        {
            tracing::error!(?failure, ?pause, job = id, "Failed to store the end of a job's turn");
            if self.stopping.is_cancelled() {
                // The next start puts it back into the queue.
                break;
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.stopping.cancelled() => {}
            }
            pause = (2 * pause).min(Duration::from_mins(1));
        }
        lock(&self.running).remove(id);
        if state != JobState::Queued {
            lock(&self.permits).remove(id);
        }
        if kind == Kind::Training && matches!(self.store.job(id).await, Ok(None)) {
            // Remove what it wrote after it was deleted.
            training::remove_networks(&self.config, id);
        }
    }

    /// The state of a job whose turn the database has interrupted: after a growing pause it goes back
    /// into the queue, unless that has happened too often or it is stopped.
    async fn after_interruption(
        &self,
        id: &str,
        running: &RunningJob,
        reason: &str,
    ) -> (JobState, Option<String>) {
        const MAX_INTERRUPTIONS: u32 = 8;
        let count = {
            let mut interruptions = lock(&self.interruptions);
            let count = interruptions.entry(id.to_owned()).or_default();
            *count += 1;
            *count
        };
        tracing::error!(reason, count, job = id, "The database interrupted a job");
        if count > MAX_INTERRUPTIONS {
            return (JobState::Failed, Some("The games could not be stored".to_owned()));
        }
        let pause = Duration::from_secs(1 << (count - 1));
        tokio::select! {
            () = tokio::time::sleep(pause.min(Duration::from_mins(1))) => {}
            () = tournament::until_set(&running.is_stopped) => {}
            () = self.stopping.cancelled() => {}
        }
        (if running.is_stopped() { JobState::Stopped } else { JobState::Queued }, None)
    }

    async fn work(&self, job: Job, running: Arc<RunningJob>) -> TurnEnd {
        let (sender, receiver) = oneshot::channel();
        let context = JobContext {
            config: Arc::clone(&self.config),
            running,
            machines: self.machines.clone(),
            store: self.store.clone(),
            handle: Handle::current(),
        };
        let agents = match job.kind {
            Kind::Tournament => 2 * self.config.arena_threads.max(1),
            Kind::Training => 0,
        };
        let (_reserved, surplus) = self.engine.reserve_agents(agents);
        let thread = thread::Builder::new().name(job.kind.name().to_owned());
        let spawned = thread.spawn(move || {
            drop(surplus);
            // Games come first.
            priority::set(Priority::Lowest);
            let end = catch_unwind(AssertUnwindSafe(|| match job.kind {
                Kind::Tournament => tournament::perform(&job, &context),
                Kind::Training => training::perform(&job, &context),
            }));
            let panicked = |_| TurnEnd::Failed("Internal error".to_owned());
            let _ = sender.send(end.unwrap_or_else(panicked));
        });
        match spawned {
            Ok(_) => receiver.await.unwrap_or(TurnEnd::Cancelled),
            Err(error) => TurnEnd::Failed(error.to_string()),
        }
    }
}
