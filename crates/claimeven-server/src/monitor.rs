//! What this server knows about the fleet: workers, jobs and servers now and in the last minutes.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use claimeven_arena::{ExamEvaluations, Games, GateGames, SelfPlayGames};
use claimeven_work::{
    Connection, FLEET_TIMEOUT, FleetMonitor, FleetSnapshot, FleetStatus, JobStatus, Work,
};

use crate::bus::{self, Message, ServerStatus};
use crate::config::Config;
use crate::metrics::{Metrics, WorkerMetrics};
use crate::store::now_ms;
use crate::work::jobs::lock;

/// How often the fleet is polled.
const INTERVAL: Duration = Duration::from_secs(1);

/// How many snapshots make one point of the history, and how many points are kept: five minutes.
const SNAPSHOTS_PER_POINT: u64 = 2;
const MAX_POINTS: usize = 150;

/// How long workers that have left are remembered, and how many of them.
const REMEMBERED: Duration = Duration::from_mins(10);
const MAX_GONE: usize = 50;

/// After this time without a status a server counts as disconnected.
const SERVER_SILENCE: Duration = Duration::from_secs(5);

/// Watches the fleet of a server. Without the setting `nats`, it stays empty.
#[derive(Default)]
pub(crate) struct Monitor {
    connection: Option<Connection>,
    state: Mutex<FleetState>,
    /// How many workers can do each kind of work.
    workers: [AtomicUsize; WorkKind::ALL.len()],
}

/// Kinds of work that the page's jobs give to workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkKind {
    Games,
    SelfPlay,
    Gate,
    Exam,
}

impl WorkKind {
    const ALL: [WorkKind; 4] =
        [WorkKind::Games, WorkKind::SelfPlay, WorkKind::Gate, WorkKind::Exam];

    const fn name(self) -> &'static str {
        match self {
            WorkKind::Games => Games::KIND,
            WorkKind::SelfPlay => SelfPlayGames::KIND,
            WorkKind::Gate => GateGames::KIND,
            WorkKind::Exam => ExamEvaluations::KIND,
        }
    }

    /// Whether it needs workers with the arithmetic of this server. A tournament does only if networks
    /// play in it.
    const fn needs_arithmetic(self) -> bool {
        !matches!(self, WorkKind::Games)
    }
}

/// The state of the fleet as last seen.
#[derive(Clone, Default)]
pub(crate) struct FleetState {
    /// Whether the NATS server can be reached, and if not, since when.
    pub(crate) is_connected: bool,
    pub(crate) lost_at: Option<Instant>,
    /// The last status.
    pub(crate) fleet: Option<FleetStatus>,
    /// Whether the units and results on the NATS server could be counted.
    pub(crate) has_streams: bool,
    pub(crate) gone: VecDeque<GoneWorker>,
    pub(crate) points: VecDeque<Point>,
    /// Other servers, by their names.
    pub(crate) servers: BTreeMap<String, (ServerStatus, Instant)>,
}

/// A worker that has left.
#[derive(Clone, Debug)]
pub(crate) struct GoneWorker {
    pub(crate) id: String,
    /// Milliseconds since 1970.
    pub(crate) at: i64,
    /// Whether it announced that it was stopping.
    pub(crate) was_stopped: bool,
    /// Units that it had completed.
    pub(crate) done: u64,
}

/// A point of the history.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    /// Milliseconds since 1970.
    pub(crate) at: i64,
    pub(crate) workers: usize,
    /// Units per second.
    pub(crate) rate: f64,
    pub(crate) waiting: u64,
}

/// The number of units that wait for a worker.
pub(crate) fn waiting_units(fleet: &FleetStatus, has_streams: bool) -> u64 {
    let running: usize = fleet.workers.iter().map(|worker| worker.running).sum();
    let all =
        if has_streams { fleet.units } else { fleet.jobs.iter().map(|job| job.outstanding).sum() };
    all.saturating_sub(running as u64)
}

impl Monitor {
    pub(crate) fn new(config: &Config) -> Monitor {
        let has_fleet = !config.nats.is_empty();
        // The bus, which shares the NATS server, writes the log.
        let connection = has_fleet.then(|| bus::connection(config).with_log(Arc::new(|_| {})));
        Monitor { connection, ..Monitor::default() }
    }

    /// The NATS server, without a password, if there is one.
    pub(crate) fn nats(&self) -> Option<String> {
        self.connection.as_ref().map(Connection::redacted_url)
    }

    pub(crate) fn state(&self) -> FleetState {
        lock(&self.state).clone()
    }

    /// How many workers can currently do work of a kind for this version; 0 while the NATS server is
    /// unreachable.
    pub(crate) fn workers(&self, kind: WorkKind) -> usize {
        self.workers[kind as usize].load(Ordering::Relaxed)
    }

    /// How long the NATS server has been unreachable.
    pub(crate) fn outage(&self) -> Duration {
        lock(&self.state).lost_at.map_or(Duration::ZERO, |lost| lost.elapsed())
    }

    /// Whether the NATS server can be reached.
    pub(crate) fn is_connected(&self) -> bool {
        lock(&self.state).is_connected
    }

    /// Records the status of another server.
    pub(crate) fn record_server(&self, server: &str, message: &Message) {
        let mut state = lock(&self.state);
        match message {
            Message::Status(status) => {
                state.servers.insert(server.to_owned(), (status.clone(), Instant::now()));
                state.servers.retain(|_, (_, seen)| seen.elapsed() < REMEMBERED);
            }
            Message::Left => drop(state.servers.remove(server)),
            _ => {}
        }
    }

    /// Watches the fleet until the future is dropped.
    pub(crate) async fn watch(&self, name: &str, metrics: &Metrics) {
        let Some(connection) = &self.connection else { return };
        let mut counts = Counts::default();
        loop {
            let opened = FleetMonitor::open(connection, name).await;
            let failed = match opened {
                Ok(monitor) => Box::pin(self.follow(monitor, metrics, &mut counts)).await,
                Err(error) => error,
            };
            tracing::warn!(%failed, "Failed to watch the fleet");
            self.mark_disconnected();
            tokio::time::sleep(INTERVAL).await;
        }
    }

    async fn follow(
        &self,
        mut monitor: FleetMonitor,
        metrics: &Metrics,
        counts: &mut Counts,
    ) -> claimeven_work::WorkError {
        for number in 0_u64.. {
            match monitor.next(INTERVAL).await {
                Ok(snapshot) => {
                    counts.add(&snapshot, &metrics.workers);
                    self.record(snapshot, number.is_multiple_of(SNAPSHOTS_PER_POINT));
                }
                Err(error) => return error,
            }
        }
        unreachable!("the loop has no end")
    }

    fn mark_disconnected(&self) {
        let mut state = lock(&self.state);
        state.is_connected = false;
        state.lost_at.get_or_insert_with(Instant::now);
        self.workers.iter().for_each(|count| count.store(0, Ordering::Relaxed));
    }

    fn record(&self, snapshot: FleetSnapshot, is_point: bool) {
        if !snapshot.is_connected {
            return self.mark_disconnected();
        }
        let FleetSnapshot { has_streams, left, status, .. } = snapshot;
        let version = self.connection.as_ref().map(Connection::version);
        for kind in WorkKind::ALL {
            let can_help = status.workers.iter().filter(|worker| {
                Some(&*worker.version) == version
                    && (!kind.needs_arithmetic()
                        || worker.arithmetic == claimeven_zero::arithmetic())
                    && worker.kinds.iter().any(|known| known == kind.name())
            });
            self.workers[kind as usize].store(can_help.count(), Ordering::Relaxed);
        }
        let mut state = lock(&self.state);
        (state.is_connected, state.lost_at, state.has_streams) = (true, None, has_streams);
        let at = now_ms();
        let before = state.fleet.take().map(|fleet| fleet.workers).unwrap_or_default();
        for worker in before {
            if !status.workers.iter().any(|other| other.id == worker.id) {
                let was_stopped = left.contains(&worker.id);
                // A silent worker is noticed only after a while.
                let silent = if was_stopped { 0 } else { FLEET_TIMEOUT.as_millis() as i64 };
                let (at, done) = (at - silent, worker.done);
                state.gone.push_front(GoneWorker { id: worker.id, at, was_stopped, done });
            }
        }
        // A worker that was only disconnected may be back.
        let oldest = at - REMEMBERED.as_millis() as i64;
        state.gone.retain(|gone| {
            gone.at > oldest && !status.workers.iter().any(|worker| worker.id == gone.id)
        });
        state.gone.truncate(MAX_GONE);
        if is_point {
            let rate = status.workers.iter().map(|worker| worker.rate).sum();
            let waiting = waiting_units(&status, has_streams);
            state.points.push_back(Point { at, workers: status.workers.len(), rate, waiting });
            while state.points.len() > MAX_POINTS {
                state.points.pop_front();
            }
        }
        state.fleet = Some(status);
    }
}

impl FleetState {
    /// The other servers that have sent a status in the last seconds.
    pub(crate) fn live_servers(&self) -> impl Iterator<Item = (&String, &ServerStatus)> {
        self.servers
            .iter()
            .filter(|(_, (_, seen))| seen.elapsed() < SERVER_SILENCE)
            .map(|(name, (status, _))| (name, status))
    }
}

/// The last counts of workers and jobs, which they report since their own start.
#[derive(Default)]
struct Counts {
    /// When the fleet was first seen. Work done before that is not counted.
    started: Option<Instant>,
    workers: HashMap<String, LastCounts<2>>,
    jobs: HashMap<String, LastCounts<4>>,
}

/// The last counts of a worker or a job.
struct LastCounts<const N: usize> {
    counts: [u64; N],
    seen: Instant,
}

/// How long the counts of a worker that has left are kept. It may only be disconnected.
const KEPT: Duration = Duration::from_hours(1);

impl Counts {
    /// Adds what has happened since the last snapshot.
    fn add(&mut self, snapshot: &FleetSnapshot, metrics: &WorkerMetrics) {
        let FleetSnapshot { status, is_connected, has_streams, .. } = snapshot;
        let count = |number: usize| number as i64;
        if !is_connected {
            metrics.workers.set(0);
            metrics.threads.set(0);
            return;
        }
        metrics.workers.set(count(status.workers.len()));
        metrics.threads.set(status.workers.iter().map(|worker| count(worker.threads)).sum());
        metrics.running.set(status.workers.iter().map(|worker| count(worker.running)).sum());
        metrics.jobs.set(count(status.jobs.len()));
        metrics.waiting.set(waiting_units(status, *has_streams).cast_signed());
        let is_first = self.started.is_none();
        let age = self.started.get_or_insert_with(Instant::now).elapsed();
        for worker in &status.workers {
            let is_older = is_first || worker.seconds > age.as_secs() + 1;
            let now = [worker.done, worker.handed_back];
            let counters = [&metrics.done, &metrics.handed_back];
            add_growth(&mut self.workers, &worker.id, is_older, now, counters);
        }
        for job in &status.jobs {
            let JobStatus { repeated, checked, .. } = *job;
            let now = [repeated, checked, job.set_aside.len() as u64, job.dismissed.len() as u64];
            let counters =
                [&metrics.repeated, &metrics.checked, &metrics.set_aside, &metrics.dismissed];
            add_growth(&mut self.jobs, &job.id, is_first, now, counters);
        }
        self.workers.retain(|_, known| known.seen.elapsed() < KEPT);
        self.jobs.retain(|_, known| known.seen.elapsed() < KEPT);
    }
}

/// Adds the growth of some counts to their counters. Counts that began before the counters contribute
/// only their growth from now on.
fn add_growth<const N: usize>(
    known: &mut HashMap<String, LastCounts<N>>,
    id: &str,
    is_older: bool,
    counts: [u64; N],
    counters: [&prometheus::IntCounter; N],
) {
    let before = known.insert(id.to_owned(), LastCounts { counts, seen: Instant::now() });
    let new = if is_older { counts } else { [0; N] };
    let before = before.map_or(new, |known| known.counts);
    for ((now, before), counter) in counts.into_iter().zip(before).zip(counters) {
        // A job that is restarted counts from 0.
        counter.inc_by(now.checked_sub(before).unwrap_or(now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use claimeven_work::WorkerStatus;

    fn worker(id: &str, done: u64) -> WorkerStatus {
        WorkerStatus {
            id: id.to_owned(),
            version: claimeven_arena::FLEET_VERSION.to_owned(),
            kinds: vec!["games".to_owned()],
            arithmetic: "fused".to_owned(),
            threads: 2,
            running: 1,
            waiting: 0,
            done,
            handed_back: 0,
            rate: 1.5,
            seconds: 9,
            is_leaving: false,
        }
    }

    fn snapshot(workers: Vec<WorkerStatus>, left: &[&str]) -> FleetSnapshot {
        let (jobs, abandoned) = (Vec::new(), Vec::new());
        let status = FleetStatus { workers, jobs, abandoned, units: 7, results: 0, bytes: 0 };
        let left = left.iter().map(|id| (*id).to_owned()).collect();
        FleetSnapshot { is_connected: true, has_streams: true, left, status }
    }

    #[test]
    fn workers_that_left_are_remembered_until_they_come_back() {
        let config = Config { nats: "nats://one".to_owned(), ..Config::default() };
        let monitor = Monitor::new(&config);
        assert_eq!(monitor.workers(WorkKind::Games), 0);
        monitor.record(snapshot(vec![worker("a", 1), worker("b", 2), worker("c", 3)], &[]), true);
        let workers = WorkKind::ALL.map(|kind| monitor.workers(kind));
        assert_eq!(workers, [3, 0, 0, 0]);
        monitor.record(snapshot(vec![worker("a", 5)], &["b"]), true);
        let gone = |monitor: &Monitor| -> Vec<(String, bool, u64)> {
            let state = monitor.state();
            state.gone.iter().map(|one| (one.id.clone(), one.was_stopped, one.done)).collect()
        };
        let mut both = gone(&monitor);
        both.sort();
        assert_eq!(both, [("b".to_owned(), true, 2), ("c".to_owned(), false, 3)]);
        monitor.record(snapshot(vec![worker("a", 5), worker("c", 3)], &[]), false);
        assert_eq!(gone(&monitor), [("b".to_owned(), true, 2)]);
        let state = monitor.state();
        assert_eq!(state.points.len(), 2);
        assert_eq!((state.points[0].rate, state.points[0].waiting), (4.5, 4));
        // An unreachable NATS server does not mean that the workers have left.
        let disconnected = FleetSnapshot { is_connected: false, ..snapshot(Vec::new(), &[]) };
        monitor.record(disconnected, true);
        let state = monitor.state();
        assert!(!state.is_connected && state.lost_at.is_some());
        assert_eq!(state.fleet.unwrap().workers.len(), 2);
        assert_eq!((gone(&monitor).len(), monitor.workers(WorkKind::Games)), (1, 0));
    }

    #[test]
    fn workers_of_another_arithmetic_do_not_help_with_networks() {
        let config = Config { nats: "nats://one".to_owned(), ..Config::default() };
        let monitor = Monitor::new(&config);
        let kinds = WorkKind::ALL.map(|kind| kind.name().to_owned()).to_vec();
        let able = |id: &str, arithmetic: &str| WorkerStatus {
            kinds: kinds.clone(),
            arithmetic: arithmetic.to_owned(),
            ..worker(id, 0)
        };
        let own = claimeven_zero::arithmetic();
        monitor.record(snapshot(vec![able("a", own), able("b", "another")], &[]), true);
        let workers = WorkKind::ALL.map(|kind| monitor.workers(kind));
        assert_eq!(workers, [2, 1, 1, 1]);
    }

    #[test]
    fn counters_add_the_work_since_the_first_snapshot() {
        let metrics = Metrics::new().unwrap();
        let mut counts = Counts::default();
        for (done, counted) in [(100, 0), (103, 3), (110, 10), (2, 12)] {
            counts.add(&snapshot(vec![worker("a", done)], &[]), &metrics.workers);
            assert_eq!(metrics.workers.done.get(), counted, "{done}");
        }
        assert_eq!((metrics.workers.workers.get(), metrics.workers.waiting.get()), (1, 6));
        // A worker that was started in the meantime counts from its start, even after a silence.
        let new = |done| WorkerStatus { seconds: 0, ..worker("b", done) };
        counts.add(&snapshot(vec![new(5)], &[]), &metrics.workers);
        counts.add(&snapshot(Vec::new(), &[]), &metrics.workers);
        counts.add(&snapshot(vec![new(8), worker("older", 50)], &[]), &metrics.workers);
        assert_eq!(metrics.workers.done.get(), 20);
    }
}
