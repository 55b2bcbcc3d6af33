//! The state of a training run as it is displayed.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use claimeven_zero::{Event, Metrics, Parameters, Run, RunState};

use crate::Failure;

/// A training run as the log and the dashboard show it.
pub(super) struct View {
    pub(super) folder: PathBuf,
    pub(super) parameters: Parameters,
    pub(super) stop_condition: StopCondition,
    /// The finished iterations.
    pub(super) history: Vec<Metrics>,
    pub(super) stage: Stage,
    /// When the current iteration began.
    start: Instant,
    pub(super) is_stopping: bool,
}

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum StopCondition {
    Iterations(u64),
    /// Training time, including earlier sessions.
    Seconds(f64),
    /// Only when the user stops it.
    None,
}

impl StopCondition {
    pub(super) fn is_reached(self, state: &RunState) -> bool {
        match self {
            StopCondition::Iterations(iterations) => state.iteration >= iterations,
            StopCondition::Seconds(seconds) => state.seconds >= seconds,
            StopCondition::None => false,
        }
    }
}

/// What the run is doing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Stage {
    Preparing {
        solved: usize,
        of: usize,
    },
    Playing {
        games: u64,
        of: u64,
    },
    Learning {
        steps: u64,
        of: u64,
    },
    Testing,
    /// Training in another process.
    OtherProcess,
    Idle,
}

impl View {
    /// A run that this process trains.
    pub(super) fn new(
        folder: &Path,
        parameters: &Parameters,
        stop_condition: StopCondition,
    ) -> View {
        View {
            folder: folder.to_owned(),
            parameters: *parameters,
            stop_condition,
            history: Run::metrics_of(folder).unwrap_or_default(),
            stage: Stage::Preparing { solved: 0, of: parameters.exam.positions },
            start: Instant::now(),
            is_stopping: false,
        }
    }

    /// A run as read from its folder.
    pub(super) fn read(folder: &Path) -> Result<View, Failure> {
        let parameters = Run::parameters_of(folder)?;
        // Read before the metrics, so that the last line of a run that is just ending is not missed.
        let stage = if Run::is_active(folder) { Stage::OtherProcess } else { Stage::Idle };
        let history = Run::metrics_of(folder)?;
        // The file was last changed when the last iteration ended.
        let changed = folder.join("metrics.jsonl").metadata().and_then(|data| data.modified());
        let age = changed.ok().and_then(|time| time.elapsed().ok()).unwrap_or_default();
        let now = Instant::now();
        let start = now.checked_sub(age).unwrap_or(now);
        let mut view = View::new(folder, &parameters, StopCondition::None);
        (view.stage, view.history, view.start) = (stage, history, start);
        Ok(view)
    }

    pub(super) fn update(&mut self, event: Event<'_>) {
        if matches!(self.stage, Stage::Preparing { .. } | Stage::Testing) {
            self.start = Instant::now();
        }
        self.stage = match event {
            Event::PreparingExam { solved, of } => Stage::Preparing { solved, of },
            Event::Playing { games, of, .. } => Stage::Playing { games, of },
            // The samples are being prepared.
            Event::Played { .. } => Stage::Learning { steps: 0, of: 0 },
            Event::Learning { steps, of, .. } => Stage::Learning { steps, of },
            Event::Testing { .. } => Stage::Testing,
            Event::Done(metrics) => {
                // A killed run may have left the metrics of an iteration that was now repeated.
                self.history.retain(|old| old.state.iteration < metrics.state.iteration);
                self.history.push(*metrics);
                Stage::Testing
            }
        };
    }

    /// The state after the last finished iteration.
    pub(super) fn state(&self) -> RunState {
        self.history.last().map_or(RunState::default(), |metrics| metrics.state)
    }

    /// The time since the current iteration began.
    pub(super) fn current_time(&self) -> Duration {
        self.start.elapsed()
    }

    /// The training time of the run.
    pub(super) fn training_time(&self) -> Duration {
        Duration::from_secs_f64(self.state().seconds)
    }

    /// The estimated time left after this many iterations.
    pub(super) fn left_after(&self, count: usize) -> Option<Duration> {
        let state = self.history.get(count.checked_sub(1)?)?.state;
        let seconds = match self.stop_condition {
            StopCondition::Seconds(seconds) => seconds - state.seconds,
            StopCondition::Iterations(iterations) => {
                let earlier = self.history[count.saturating_sub(6)..count].first()?.state;
                let done = (state.iteration - earlier.iteration).max(1) as f64;
                let each = match state.iteration {
                    1 => state.seconds,
                    _ => (state.seconds - earlier.seconds) / done,
                };
                iterations.saturating_sub(state.iteration) as f64 * each
            }
            StopCondition::None => return None,
        };
        Some(Duration::from_secs_f64(seconds.max(0.0)))
    }

    /// Games and evaluated positions per second of self-play.
    pub(super) fn rates(&self, index: usize) -> (f64, f64) {
        let metrics = &self.history[index];
        let before =
            index.checked_sub(1).map_or(0, |before| self.history[before].state.evaluations);
        let games: u64 = metrics.results.iter().sum();
        let positions = metrics.state.evaluations.saturating_sub(before);
        let seconds = metrics.self_play_seconds.max(1e-6);
        (games as f64 / seconds, positions as f64 / seconds)
    }
}
