//! Training runs: their parameters and their execution.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use claimeven_game::Setup;
use claimeven_zero::{Architecture, Event, Parameters, Resources, Run, RunError};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::jobs::{JobContext, TurnEnd, lock};
use super::machines::TrainingPlayer;
use crate::config::Config;
use crate::error::Error;
use crate::http::extract::{ApiResult, SetupSchema};
use crate::store::Job;

/// Presets: name and description.
pub(crate) const PRESETS: [(&str, &str); 3] = [
    ("quick", "A small network that learns in iterations of a few seconds"),
    ("10min", "A network that learns visibly within ten minutes on two cores"),
    ("1h", "A good network within an hour on two cores"),
];

/// A new training run.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunInput {
    /// The displayed title.
    #[serde(default)]
    pub(crate) title: String,
    /// `quick`, `10min` or `1h`.
    pub(crate) preset: String,
    /// Duration in minutes.
    pub(crate) minutes: f64,
    #[serde(default)]
    pub(crate) seed: u32,
    #[serde(default)]
    #[schema(value_type = SetupSchema)]
    pub(crate) setup: Setup,
}

impl RunInput {
    pub(crate) fn parameters(&self) -> ApiResult<Parameters> {
        let setup = self.setup;
        let mut parameters = match self.preset.as_str() {
            "quick" => quick(setup),
            name => Parameters::preset(name, setup)
                .filter(|_| PRESETS.iter().any(|(known, _)| *known == name))
                .ok_or_else(|| {
                    let names: Vec<&str> = PRESETS.iter().map(|(name, _)| *name).collect();
                    Error::Bad(format!("unknown preset '{name}' (available: {})", names.join(", ")))
                })?,
        };
        // A seed of 0 stands for the preset's own.
        if self.seed > 0 {
            parameters.seed = self.seed.into();
        }
        parameters.check().map_err(|error| Error::Bad(error.to_string()))?;
        Ok(parameters)
    }
}

/// A tiny network with iterations of a few seconds.
fn quick(setup: Setup) -> Parameters {
    let mut parameters = Parameters::ten_minutes(setup);
    parameters.architecture = Architecture::new(setup, 2, 16);
    parameters.self_play.games = 100;
    parameters.self_play.full_simulations = 24;
    parameters.self_play.fast_simulations = 8;
    parameters.learning.min_buffer = 5_000;
    parameters.gate.every = 2;
    parameters.gate.pairs = 20;
    parameters.gate.simulations = 8;
    parameters.exam.positions = 200;
    parameters.exam.simulations = 8;
    parameters
}

/// The current stage of a run.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct StageView {
    /// `preparing`, `playing`, `learning` or `testing`.
    kind: &'static str,
    done: u64,
    of: u64,
}

/// A self-play game.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct ShownGame {
    iteration: u64,
    moves: String,
    /// How many of the moves are a random opening.
    opening: usize,
}

pub(crate) fn folder_of(config: &Config, id: &str) -> Option<PathBuf> {
    config.runs_folder().map(|folder| folder.join(id))
}

/// Removes the folder of a deleted run.
pub(crate) fn remove_networks(config: &Config, id: &str) {
    if let Some(folder) = folder_of(config, id)
        && folder.join("parameters.json").is_file()
        && let Err(error) = fs::remove_dir_all(folder)
    {
        tracing::warn!(id, %error, "Failed to remove the folder of a run");
    }
}

pub(crate) fn whole_seconds(seconds: f64) -> u64 {
    Duration::try_from_secs_f64(seconds.ceil()).map_or(0, |duration| duration.as_secs())
}

/// Trains until the run has reached its duration or is cancelled.
pub(crate) fn perform(job: &Job, context: &JobContext) -> TurnEnd {
    let failed = |error: &dyn ToString| TurnEnd::Failed(error.to_string());
    let input: RunInput = match serde_json::from_str(&job.plan) {
        Ok(input) => input,
        Err(error) => return failed(&error),
    };
    let parameters = match input.parameters() {
        Ok(parameters) => parameters,
        Err(error) => return TurnEnd::Failed(error.message()),
    };
    let Some(folder) = folder_of(&context.config, &job.id) else {
        return TurnEnd::Failed("No folder for training runs is set (setting: runs)".to_owned());
    };
    match train(job, context, &folder, &parameters, 60.0 * input.minutes) {
        Ok(end) => end,
        Err(RunError::Stopped(_)) => TurnEnd::Cancelled,
        Err(error) => {
            tracing::warn!(%error, run = job.id, "Training run failed");
            // The path stays private.
            failed(&error.to_string().replace(&*folder.to_string_lossy(), "its folder"))
        }
    }
}

fn train(
    job: &Job,
    context: &JobContext,
    folder: &Path,
    parameters: &Parameters,
    seconds: f64,
) -> Result<TurnEnd, RunError> {
    let running = &context.running;
    let check_cancel = || {
        if running.cancel.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let mut observer = |event: Event<'_>| {
        let stage = match event {
            Event::PreparingExam { solved, of } => ("preparing", solved as u64, of as u64),
            Event::Playing { games, of, .. } => ("playing", games, of),
            Event::Played { iteration, shown } => {
                let games: Vec<(i64, String)> = (0..)
                    .zip(shown)
                    .filter_map(|(index, game)| {
                        let shown = ShownGame {
                            iteration,
                            moves: game.moves.clone(),
                            opening: game.opening,
                        };
                        Some((10 * iteration as i64 + index, serde_json::to_string(&shown).ok()?))
                    })
                    .collect();
                let id = job.id.clone();
                let stored =
                    context.with_store(|store| async move { store.show_games(&id, games).await });
                if let Err(error) = stored {
                    tracing::warn!(?error, "Failed to store games of a training run");
                }
                return check_cancel();
            }
            Event::Learning { steps, of, .. } => ("learning", steps, of),
            Event::Testing { .. } => ("testing", 0, 0),
            Event::Done(metrics) => {
                let (id, done) = (job.id.clone(), whole_seconds(metrics.state.seconds));
                let text = serde_json::to_string(&metrics.state).ok();
                let stored = context.with_store(|store| async move {
                    store.advance_job(&id, &[], done, text).await
                });
                if let Err(error) = stored {
                    tracing::warn!(?error, "Failed to store the progress of a training run");
                }
                return check_cancel();
            }
        };
        let (kind, done, of) = stage;
        *lock(&running.stage) = Some(StageView { kind, done, of });
        check_cancel()
    };
    let resources = Resources::new(context.config.training_threads.max(1));
    let mut run = if folder.join("parameters.json").is_file() {
        Run::resume(folder, None, resources, &mut observer)?
    } else {
        fs::create_dir_all(folder).map_err(|error| RunError::Io(folder.to_owned(), error))?;
        Run::begin(folder, parameters, None, resources, &mut observer)?
    };
    let (machines, threads) = (context.machines.clone(), resources.threads);
    run.set_machines(Arc::new(TrainingPlayer { machines, threads }));
    run.set_cancel(Arc::clone(&running.cancel));
    while run.state().seconds < seconds {
        if running.cancel.load(Ordering::Relaxed) || run.iterate(&mut observer)?.is_none() {
            return Ok(TurnEnd::Cancelled);
        }
    }
    run.finish(&mut observer)?;
    let is_cancelled = running.cancel.load(Ordering::Relaxed);
    Ok(if is_cancelled { TurnEnd::Cancelled } else { TurnEnd::Done })
}
