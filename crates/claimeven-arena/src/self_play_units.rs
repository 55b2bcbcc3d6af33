//! Self-play games of a training run as units of work.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use claimeven_game::Position;
use claimeven_work::{DispatchEvent, Dispatcher, File, Files, Job, Work, WorkError, run_in_order};
use claimeven_zero::{
    Exam, ExamPoint, Gate, GatePair, Inference, Network, SelfPlayBatch, SelfPlayParameters,
    SelfPlayProgress, TrainingMachines, play_games,
};
use serde::{Deserialize, Serialize};

use crate::network_units::{ExamEvaluations, GateGames, PAIRS_PER_UNIT, POSITIONS_PER_UNIT};

/// Games of a network against itself. A unit is a range of game numbers.
pub struct SelfPlayGames {
    network: Network,
    inference: Inference,
    parameters: Parameters,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Parameters {
    self_play: SelfPlayParameters,
    seed: u64,
}

/// The name of the file of the network.
const NETWORK: &str = "network";

impl SelfPlayGames {
    fn new(network: Network, parameters: Parameters) -> SelfPlayGames {
        SelfPlayGames { inference: Inference::new(&network), network, parameters }
    }
}

/// The games of a unit, with their setup, so that they can be encoded and decoded without the work.
pub struct SelfPlayOutput {
    setup: claimeven_game::Setup,
    batch: SelfPlayBatch,
}

impl Work for SelfPlayGames {
    const KIND: &'static str = "self-play";
    type Unit = Range<u64>;
    type Output = SelfPlayOutput;
    type Thread = ();
    type Error = WorkError;

    fn job(&self) -> Result<Job, String> {
        let title = format!("self-play on {}", self.network.setup());
        let files = vec![File { name: NETWORK.to_owned(), content: self.network.to_bytes() }];
        let arithmetic = Some(claimeven_zero::arithmetic().to_owned());
        Ok(Job { files, arithmetic, ..Job::new(title, &self.parameters) })
    }

    fn open(parameters: serde_json::Value, files: &Files) -> Result<SelfPlayGames, String> {
        let parameters = serde_json::from_value(parameters).map_err(|error| error.to_string())?;
        let file = files.get(NETWORK).ok_or("the network is missing")?;
        let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
        let network = Network::from_bytes(&bytes).map_err(|error| error.to_string())?;
        Ok(SelfPlayGames::new(network, parameters))
    }

    fn thread(&self) {}

    fn compute(
        &self,
        (): &mut (),
        unit: &Range<u64>,
        cancel: &Arc<AtomicBool>,
    ) -> Result<Option<SelfPlayOutput>, WorkError> {
        let Parameters { self_play, seed } = &self.parameters;
        let progress = SelfPlayProgress { cancel: Arc::clone(cancel), ..Default::default() };
        let batch = play_games(&self.inference, self_play, *seed, unit.clone(), 1, &progress);
        Ok(batch.map(|batch| SelfPlayOutput { setup: self.network.setup(), batch }))
    }

    fn encode(output: &SelfPlayOutput) -> Vec<u8> {
        let mut bytes = serde_json::to_vec(&output.setup).expect("a setup is plain data");
        bytes.push(b'\n');
        bytes.extend(output.batch.to_bytes(output.setup));
        bytes
    }

    fn decode(bytes: &[u8]) -> Result<SelfPlayOutput, String> {
        let end = bytes.iter().position(|&byte| byte == b'\n').ok_or("missing setup")?;
        let setup = serde_json::from_slice(&bytes[..end]).map_err(|error| error.to_string())?;
        let batch = SelfPlayBatch::from_bytes(&bytes[end + 1..], setup);
        Ok(SelfPlayOutput { setup, batch: batch.map_err(|error| error.to_string())? })
    }

    fn verify(&self, unit: &Range<u64>, output: &SelfPlayOutput) -> Result<(), String> {
        let games = unit.end.saturating_sub(unit.start);
        if output.setup != self.network.setup() {
            return Err(format!("games of {}", output.setup));
        }
        if output.batch.games != games || output.batch.results.iter().sum::<u64>() != games {
            return Err(format!("{} games instead of {games}", output.batch.games));
        }
        Ok(())
    }

    /// Without the number of evaluations, which depends on the cache of a thread.
    fn fingerprint(output: &SelfPlayOutput) -> Vec<u8> {
        let batch = SelfPlayBatch { evaluations: 0, ..output.batch.clone() };
        batch.to_bytes(output.setup)
    }
}

/// The machines of a dispatcher as players of a training run.
#[derive(Clone, Debug)]
pub struct FleetTraining<D> {
    /// The machines.
    pub machines: D,
}

impl<D: Dispatcher + Send + Sync> TrainingMachines for FleetTraining<D> {
    fn play(
        &self,
        network: &Network,
        parameters: &SelfPlayParameters,
        seed: u64,
        numbers: Range<u64>,
        progress: &SelfPlayProgress,
    ) -> Result<Option<SelfPlayBatch>, String> {
        let parameters = Parameters { self_play: *parameters, seed };
        let work = SelfPlayGames::new(network.clone(), parameters);
        // Units of equal size, so that workers finish together.
        let games = numbers.end - numbers.start;
        let units = games.div_ceil(parameters.self_play.in_flight as u64);
        let size = games.div_ceil(units.max(1));
        let unit = |number: u64| {
            let start = numbers.start + number * size;
            start..numbers.end.min(start + size)
        };
        let mut parts = BTreeMap::new();
        let played = self.machines.run(&work, 0..units, unit, Some(&progress.cancel), |taken| {
            match taken {
                DispatchEvent::Output(number, SelfPlayOutput { batch, .. }) => {
                    progress.games.fetch_add(batch.games, Ordering::Relaxed);
                    parts.insert(number, batch);
                }
                DispatchEvent::Restart => {
                    progress.games.store(0, Ordering::Relaxed);
                    parts.clear();
                }
            }
            Ok(ControlFlow::Continue(()))
        });
        played.map_err(|error: WorkError| error.to_string())?;
        if parts.len() as u64 != units {
            return Ok(None);
        }
        let mut whole = SelfPlayBatch::default();
        for part in parts.into_values() {
            whole.append(part);
        }
        Ok(Some(whole))
    }

    fn play_gate(
        &self,
        gate: &Gate,
        new: &Network,
        best: &Network,
        cancel: &AtomicBool,
    ) -> Result<Option<Vec<GatePair>>, String> {
        let work = GateGames::new([new.clone(), best.clone()], *gate.parameters());
        let chunks: Vec<&[Position]> = gate.openings().chunks(PAIRS_PER_UNIT).collect();
        let unit = |number: u64| chunks[number as usize].to_vec();
        let (mut waiting, mut pairs) = (BTreeMap::new(), Vec::new());
        let units = 0..chunks.len() as u64;
        let played = self.machines.run(&work, units, unit, Some(cancel), |taken| {
            match taken {
                DispatchEvent::Output(number, results) => {
                    waiting.insert(number * PAIRS_PER_UNIT as u64, results);
                }
                DispatchEvent::Restart => {
                    waiting.clear();
                    pairs.clear();
                }
            }
            while let Some(results) = waiting.remove(&(pairs.len() as u64)) {
                pairs.extend(results);
                if gate.is_decided(&pairs) {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Ok(ControlFlow::Continue(()))
        });
        played.map_err(|error: WorkError| error.to_string())?;
        Ok(gate.is_decided(&pairs).then_some(pairs))
    }

    fn examine(
        &self,
        exam: &Exam,
        network: &Network,
        simulations: u32,
        cancel: &AtomicBool,
    ) -> Result<Option<Vec<ExamPoint>>, String> {
        let work = ExamEvaluations::new(network.clone(), exam.clone(), simulations);
        let units = exam.len().div_ceil(POSITIONS_PER_UNIT);
        let unit = |number: u64| {
            let start = number as usize * POSITIONS_PER_UNIT;
            start..exam.len().min(start + POSITIONS_PER_UNIT)
        };
        let points = run_in_order(&self.machines, &work, units as u64, &unit, Some(cancel), |_| {});
        let points = points.map_err(|error| error.to_string())?;
        Ok(points.map(|points| points.into_iter().flatten().collect()))
    }
}
