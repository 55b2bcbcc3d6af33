//! Jobs on the workers of the fleet.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use claimeven_arena::FleetTraining;
use claimeven_work::Nats;
use claimeven_zero::{
    Exam, ExamPoint, Gate, GatePair, Inference, Network, SelfPlayBatch, SelfPlayParameters,
    SelfPlayProgress, TrainingMachines, play_games,
};

use crate::bus;
use crate::config::Config;
use crate::monitor::{Monitor, WorkKind};

/// How long a job waits for an unreachable NATS server before it continues on this server.
const MAX_OUTAGE: Duration = Duration::from_secs(20);

/// How often a job checks whether it should end.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The machines that run jobs.
#[derive(Clone)]
pub(crate) struct Machines {
    monitor: Arc<Monitor>,
    /// The workers of the fleet, which all jobs share: one connection, and one list of those whose
    /// results have been checked.
    nats: Nats,
}

impl Machines {
    pub(crate) fn new(config: &Config, monitor: Arc<Monitor>) -> Machines {
        let connection = bus::connection(config);
        let nats = Nats::new(connection, config.arena_threads, cache(config))
            .with_arithmetic(claimeven_zero::arithmetic());
        Machines { monitor, nats }
    }

    /// How many workers there are for a kind of work.
    pub(crate) fn workers(&self, kind: WorkKind) -> usize {
        self.monitor.workers(kind)
    }

    /// The workers for a kind of work, if there are any. If all of them leave, this process does the
    /// work itself with this many threads.
    pub(crate) fn fleet(&self, kind: WorkKind, threads: usize) -> Option<Nats> {
        if self.workers(kind) == 0 {
            return None;
        }
        Some(self.nats.clone().with_threads(threads))
    }

    /// Runs `work` with a stop flag, which is set when `cancel` is or when the NATS server stays
    /// unreachable. Also returns whether the latter happened.
    pub(crate) fn run_watched<T>(
        &self,
        cancel: &AtomicBool,
        work: impl FnOnce(&Arc<AtomicBool>) -> T,
    ) -> (T, bool) {
        let (stop, is_over) = (Arc::new(AtomicBool::new(false)), AtomicBool::new(false));
        let is_lost = AtomicBool::new(false);
        let done = thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    if self.monitor.outage() > MAX_OUTAGE {
                        is_lost.store(true, Ordering::Relaxed);
                    }
                    if cancel.load(Ordering::Relaxed) || is_lost.load(Ordering::Relaxed) {
                        stop.store(true, Ordering::Relaxed);
                    }
                    thread::sleep(POLL_INTERVAL);
                }
            });
            let _set_at_end = SetOnDrop(&is_over);
            work(&stop)
        });
        (done, is_lost.into_inner())
    }
}

/// The folder for networks that this process needs if it does the work itself.
fn cache(config: &Config) -> PathBuf {
    let folder = config.runs_folder().map(|runs| runs.join(".fleet"));
    let temporary = || std::env::temp_dir().join(format!("claimeven-fleet-{}", std::process::id()));
    folder.unwrap_or_else(temporary)
}

/// Sets a flag at the end of its scope, even after a panic.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Plays the games of a training run on the fleet if there is one, otherwise on this server.
pub(crate) struct TrainingPlayer {
    pub(crate) machines: Machines,
    pub(crate) threads: usize,
}

impl TrainingMachines for TrainingPlayer {
    fn play(
        &self,
        network: &Network,
        parameters: &SelfPlayParameters,
        seed: u64,
        numbers: Range<u64>,
        progress: &SelfPlayProgress,
    ) -> Result<Option<SelfPlayBatch>, String> {
        if let Some(machines) = self.machines.fleet(WorkKind::SelfPlay, self.threads) {
            let fleet = FleetTraining { machines };
            let (batch, is_lost) = self.machines.run_watched(&progress.cancel, |stop| {
                let own = SelfPlayProgress { cancel: Arc::clone(stop), ..Default::default() };
                thread::scope(|scope| {
                    let playing = scope
                        .spawn(|| fleet.play(network, parameters, seed, numbers.clone(), &own));
                    while !playing.is_finished() {
                        let games = own.games.load(Ordering::Relaxed);
                        progress.games.store(games, Ordering::Relaxed);
                        thread::sleep(POLL_INTERVAL);
                    }
                    playing.join().unwrap_or_else(|_| Err("self-play panicked".to_owned()))
                })
            });
            match batch {
                Ok(None) if is_lost => {
                    tracing::warn!("NATS server unreachable: playing a training run's games here");
                }
                Ok(batch) => return Ok(batch),
                Err(error) => {
                    tracing::warn!(error, "The fleet cannot play a training run's games");
                }
            }
            progress.games.store(0, Ordering::Relaxed);
        }
        let network = Inference::new(network);
        Ok(play_games(&network, parameters, seed, numbers, self.threads, progress))
    }

    fn play_gate(
        &self,
        gate: &Gate,
        new: &Network,
        best: &Network,
        cancel: &AtomicBool,
    ) -> Result<Option<Vec<GatePair>>, String> {
        let Some(machines) = self.machines.fleet(WorkKind::Gate, self.threads) else {
            return Ok(None);
        };
        let fleet = FleetTraining { machines };
        let play = |stop: &Arc<AtomicBool>| fleet.play_gate(gate, new, best, stop);
        Ok(unless_it_fails("gate match", self.machines.run_watched(cancel, play)))
    }

    fn examine(
        &self,
        exam: &Exam,
        network: &Network,
        simulations: u32,
        cancel: &AtomicBool,
    ) -> Result<Option<Vec<ExamPoint>>, String> {
        let Some(machines) = self.machines.fleet(WorkKind::Exam, self.threads) else {
            return Ok(None);
        };
        let fleet = FleetTraining { machines };
        let examine = |stop: &Arc<AtomicBool>| fleet.examine(exam, network, simulations, stop);
        Ok(unless_it_fails("exam", self.machines.run_watched(cancel, examine)))
    }
}

/// What the fleet has returned; `None` if this server has to do the work.
fn unless_it_fails<T>(what: &str, (done, is_lost): (Result<Option<T>, String>, bool)) -> Option<T> {
    match done {
        Ok(None) if is_lost => {
            tracing::warn!("NATS server unreachable: running the {what} of a training run here");
            None
        }
        Ok(done) => done,
        Err(error) => {
            tracing::warn!(error, "The fleet cannot run the {what} of a training run");
            None
        }
    }
}
