//! What there is to see of a training run.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use claimeven_zero::{Event, Metrics, Parameters, Run, RunState};

use crate::Failure;

/// A training run as it is shown, in lines and in pictures.
pub(super) struct View {
    pub(super) folder: PathBuf,
    pub(super) parameters: Parameters,
    pub(super) goal: Goal,
    /// The iterations that have ended.
    pub(super) history: Vec<Metrics>,
    pub(super) stage: Stage,
    /// When the iteration under way began.
    began: Instant,
    pub(super) is_stopping: bool,
}

/// When a run is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Goal {
    /// After so many iterations.
    Iterations(u64),
    /// After so many seconds of work.
    Seconds(f64),
    /// When the user stops it.
    None,
}

impl Goal {
    pub(super) fn is_reached(self, state: &RunState) -> bool {
        match self {
            Goal::Iterations(iterations) => state.iteration >= iterations,
            Goal::Seconds(seconds) => state.seconds >= seconds,
            Goal::None => false,
        }
    }
}

/// What a run is doing.
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
    /// Some iteration, in another process.
    Elsewhere,
    Idle,
}

impl View {
    /// A run that this process trains.
    pub(super) fn new(folder: &Path, parameters: &Parameters, goal: Goal) -> View {
        View {
            folder: folder.to_owned(),
            parameters: *parameters,
            goal,
            history: Run::metrics_of(folder).unwrap_or_default(),
            stage: Stage::Preparing { solved: 0, of: parameters.exam.positions },
            began: Instant::now(),
            is_stopping: false,
        }
    }

    /// A run as its folder says.
    pub(super) fn read(folder: &Path) -> Result<View, Failure> {
        let parameters = Run::parameters_of(folder)?;
        // Before the metrics, so that the last line of a run that ends now is read.
        let stage = if Run::is_active(folder) { Stage::Elsewhere } else { Stage::Idle };
        let history = Run::metrics_of(folder)?;
        // The last iteration has ended when its line was written.
        let changed = folder.join("metrics.jsonl").metadata().and_then(|data| data.modified());
        let age = changed.ok().and_then(|time| time.elapsed().ok()).unwrap_or_default();
        let now = Instant::now();
        let began = now.checked_sub(age).unwrap_or(now);
        let mut view = View::new(folder, &parameters, Goal::None);
        (view.stage, view.history, view.began) = (stage, history, began);
        Ok(view)
    }

    pub(super) fn update(&mut self, event: Event<'_>) {
        if matches!(self.stage, Stage::Preparing { .. } | Stage::Testing) {
            self.began = Instant::now();
        }
        self.stage = match event {
            Event::PreparingExam { solved, of } => Stage::Preparing { solved, of },
            Event::Playing { games, of, .. } => Stage::Playing { games, of },
            // What is to be learnt is being put in order.
            Event::Played { .. } => Stage::Learning { steps: 0, of: 0 },
            Event::Learning { steps, of, .. } => Stage::Learning { steps, of },
            Event::Testing { .. } => Stage::Testing,
            Event::Done(metrics) => {
                // A run that was killed may have left the line of an iteration that is now done again.
                self.history.retain(|old| old.state.iteration < metrics.state.iteration);
                self.history.push(*metrics);
                Stage::Testing
            }
        };
    }

    /// Where the run was after its last iteration.
    pub(super) fn state(&self) -> RunState {
        self.history.last().map_or(RunState::default(), |metrics| metrics.state)
    }

    /// How long the iteration under way has taken.
    pub(super) fn under_way(&self) -> Duration {
        self.began.elapsed()
    }

    /// How long the run has worked.
    pub(super) fn worked(&self) -> Duration {
        Duration::from_secs_f64(self.state().seconds)
    }

    /// How long the run will take from the end of an iteration on.
    pub(super) fn left_after(&self, count: usize) -> Option<Duration> {
        let state = self.history.get(count.checked_sub(1)?)?.state;
        let seconds = match self.goal {
            Goal::Seconds(seconds) => seconds - state.seconds,
            Goal::Iterations(iterations) => {
                let earlier = self.history[count.saturating_sub(6)..count].first()?.state;
                let done = (state.iteration - earlier.iteration).max(1) as f64;
                let each = match state.iteration {
                    1 => state.seconds,
                    _ => (state.seconds - earlier.seconds) / done,
                };
                iterations.saturating_sub(state.iteration) as f64 * each
            }
            Goal::None => return None,
        };
        Some(Duration::from_secs_f64(seconds.max(0.0)))
    }

    /// Games and judged positions per second of self-play in an iteration.
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

/// A time such as `4:05` or `2:04:05`.
pub(super) fn time(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    match hours {
        0 => format!("{minutes}:{:02}", seconds % 60),
        _ => format!("{hours}:{minutes:02}:{:02}", seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_on_a_clock() {
        for (seconds, text) in [(0.2, "0:00"), (65.9, "1:05"), (7445.0, "2:04:05")] {
            assert_eq!(time(Duration::from_secs_f64(seconds)), text);
        }
    }
}
