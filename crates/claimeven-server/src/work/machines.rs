//! Jobs on the workers of the fleet.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use claimeven_arena::FleetPlayer;
use claimeven_work::Nats;
use claimeven_zero::{
    Inference, Network, SelfPlayBatch, SelfPlayParameters, SelfPlayProgress, TrainingMachines,
    play_games,
};

use crate::bus;
use crate::config::Config;
use crate::monitor::{Monitor, WorkKind};

/// How long a job waits for a NATS server that is away before it goes on here.
const PATIENCE: Duration = Duration::from_secs(20);

/// How often a job looks whether it is to end.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The machines that can do the work of jobs.
#[derive(Clone)]
pub(crate) struct Machines {
    config: Arc<Config>,
    monitor: Arc<Monitor>,
}

impl Machines {
    pub(crate) fn new(config: Arc<Config>, monitor: Arc<Monitor>) -> Machines {
        Machines { config, monitor }
    }

    /// How many workers there are for a kind of work.
    pub(crate) fn workers(&self, kind: WorkKind) -> usize {
        self.monitor.workers(kind)
    }

    /// The workers, if there are any for a kind of work. If all of them go, this process works itself,
    /// with this many threads.
    pub(crate) fn fleet(&self, kind: WorkKind, threads: usize) -> Option<Nats> {
        if self.workers(kind) == 0 {
            return None;
        }
        let nats = Nats::new(bus::connection(&self.config), threads, self.cache());
        Some(nats.with_arithmetic(claimeven_zero::arithmetic()))
    }

    /// The folder of networks that this process needs if it works itself.
    fn cache(&self) -> PathBuf {
        let folder = self.config.runs_folder().map(|runs| runs.join(".fleet"));
        let temporary =
            || std::env::temp_dir().join(format!("claimeven-fleet-{}", std::process::id()));
        folder.unwrap_or_else(temporary)
    }

    /// Does work that ends when the flag that it is given is set: if `cancel` is, or if the NATS server
    /// stays away. Returns whether the latter has happened.
    pub(crate) fn watched<T>(
        &self,
        cancel: &AtomicBool,
        work: impl FnOnce(&Arc<AtomicBool>) -> T,
    ) -> (T, bool) {
        let (stop, is_over) = (Arc::new(AtomicBool::new(false)), AtomicBool::new(false));
        let is_lost = AtomicBool::new(false);
        let done = thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    if self.monitor.away() > PATIENCE {
                        is_lost.store(true, Ordering::Relaxed);
                    }
                    if cancel.load(Ordering::Relaxed) || is_lost.load(Ordering::Relaxed) {
                        stop.store(true, Ordering::Relaxed);
                    }
                    thread::sleep(POLL_INTERVAL);
                }
            });
            let _over_at_end = SetOnDrop(&is_over);
            work(&stop)
        });
        (done, is_lost.into_inner())
    }
}

/// Sets the flag at the end of its scope, even in a panic.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Plays the games of a training run on the fleet if there is one, otherwise here.
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
            let fleet = FleetPlayer { machines };
            let (batch, is_lost) = self.machines.watched(&progress.cancel, |stop| {
                let own = SelfPlayProgress { cancel: Arc::clone(stop), ..Default::default() };
                thread::scope(|scope| {
                    let playing = scope
                        .spawn(|| fleet.play(network, parameters, seed, numbers.clone(), &own));
                    while !playing.is_finished() {
                        let games = own.games.load(Ordering::Relaxed);
                        progress.games.store(games, Ordering::Relaxed);
                        thread::sleep(POLL_INTERVAL);
                    }
                    playing.join().unwrap_or_else(|_| Err("a panic".to_owned()))
                })
            });
            match batch {
                Ok(None) if is_lost => {
                    tracing::warn!("The NATS server is away: the games of a run are played here");
                }
                Ok(batch) => return Ok(batch),
                Err(error) => {
                    tracing::warn!(error, "The fleet cannot play the games of a run");
                }
            }
            progress.games.store(0, Ordering::Relaxed);
        }
        let network = Inference::new(network);
        Ok(play_games(&network, parameters, seed, numbers, self.threads, progress))
    }
}
