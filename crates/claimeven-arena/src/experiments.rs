//! Experiments: claims of earlier projects tested again, and claims of our own.

mod alphazero;
mod exact;
mod finding;
mod lab;
mod match_journal;
mod matches;
mod searches;
mod tournaments;

use std::fmt;

use claimeven_search::{AgentError, RandomGameError};
use claimeven_work::WorkError;

pub use exact::{SamplePosition, SamplePositions, SampleRequest};
pub use finding::{
    Figure, Finding, HeatPanel, Line, LinePanel, Plot, RangePanel, RangeRow, Table, TableCell,
    Unit, Verdict,
};
pub use lab::{Lab, LabMachines, Progress};
pub use match_journal::MatchJournal;

use crate::game::MatchError;
use crate::openings::OpeningError;
use crate::roster::write_suggestion;
use crate::strength::EvaluateError;

/// A claim and its test.
///
/// ```
/// use claimeven_arena::experiments::{EXPERIMENTS, Experiment};
///
/// for experiment in EXPERIMENTS {
///     println!("{}: {}", experiment.name, experiment.claim);
/// }
/// assert!(Experiment::named("first-mover").is_ok());
/// ```
#[derive(Debug)]
pub struct Experiment {
    /// The name on the command line.
    pub name: &'static str,
    /// The title of the section in the report.
    pub title: &'static str,
    /// The claim as a sentence.
    pub claim: &'static str,
    /// Who made the claim.
    pub origin: Origin,
    /// Whether it counts and times single searches, which always run on this machine. Other
    /// experiments distribute games and positions to other machines if there are any.
    pub runs_locally: bool,
    run: fn(&Lab) -> Result<Finding, ExperimentError>,
}

/// Who made a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// One of the earlier projects.
    Older,
    /// This project.
    Ours,
}

impl Experiment {
    /// Runs the experiment.
    pub fn run(&self, lab: &Lab) -> Result<Finding, ExperimentError> {
        (self.run)(lab)
    }

    /// The experiment with a name.
    pub fn named(name: &str) -> Result<&'static Experiment, UnknownExperiment> {
        let found = EXPERIMENTS.iter().find(|experiment| experiment.name == name);
        found.ok_or_else(|| UnknownExperiment(name.to_owned()))
    }
}

/// Why an experiment has no finding.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExperimentError {
    /// A player cannot play or failed.
    Agent(AgentError),
    /// A match cannot be played.
    Match(MatchError),
    /// No openings were chosen.
    Openings(OpeningError),
    /// No random positions were found.
    Positions(RandomGameError),
    /// Too few positions of the kind an experiment needs were found.
    NoPosition,
    /// A finished match cannot be written to the journal.
    Journal(String),
    /// Other machines failed.
    Work(WorkError),
    /// The experiment was cancelled.
    Cancelled,
}

impl From<WorkError> for ExperimentError {
    fn from(error: WorkError) -> ExperimentError {
        ExperimentError::Work(error)
    }
}

impl From<EvaluateError> for ExperimentError {
    fn from(error: EvaluateError) -> ExperimentError {
        match error {
            EvaluateError::Agent(error) => ExperimentError::Agent(error),
            EvaluateError::Work(error) => ExperimentError::Work(error),
            EvaluateError::Unsolvable(_) | EvaluateError::OutOfReach { .. } => {
                ExperimentError::NoPosition
            }
        }
    }
}

impl From<AgentError> for ExperimentError {
    fn from(error: AgentError) -> ExperimentError {
        ExperimentError::Agent(error)
    }
}

impl From<MatchError> for ExperimentError {
    fn from(error: MatchError) -> ExperimentError {
        ExperimentError::Match(error)
    }
}

impl From<OpeningError> for ExperimentError {
    fn from(error: OpeningError) -> ExperimentError {
        ExperimentError::Openings(error)
    }
}

impl From<RandomGameError> for ExperimentError {
    fn from(error: RandomGameError) -> ExperimentError {
        match error {
            RandomGameError::Cancelled => ExperimentError::Cancelled,
            error => ExperimentError::Positions(error),
        }
    }
}

impl fmt::Display for ExperimentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExperimentError::Agent(error) => error.fmt(f),
            ExperimentError::Match(error) => error.fmt(f),
            ExperimentError::Openings(error) => error.fmt(f),
            ExperimentError::Positions(error) => error.fmt(f),
            ExperimentError::NoPosition => {
                f.write_str("found too few different positions for the experiment")
            }
            ExperimentError::Journal(error) => write!(f, "cannot write the journal: {error}"),
            ExperimentError::Work(error) => error.fmt(f),
            ExperimentError::Cancelled => f.write_str("the experiment was cancelled"),
        }
    }
}

impl std::error::Error for ExperimentError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ExperimentError::Agent(error) => Some(error),
            ExperimentError::Match(error) => Some(error),
            ExperimentError::Openings(error) => Some(error),
            ExperimentError::Positions(error) => Some(error),
            ExperimentError::Work(error) => Some(error),
            ExperimentError::NoPosition
            | ExperimentError::Journal(_)
            | ExperimentError::Cancelled => None,
        }
    }
}

/// The name of an unknown experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownExperiment(pub String);

impl fmt::Display for UnknownExperiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnknownExperiment(name) = self;
        let names: Vec<&str> = EXPERIMENTS.iter().map(|experiment| experiment.name).collect();
        write!(f, "unknown experiment '{name}'")?;
        write_suggestion(f, name, &names)?;
        write!(f, " (available: {})", names.join(", "))
    }
}

impl std::error::Error for UnknownExperiment {}

/// All experiments, in the order of the report.
pub static EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "beats-random",
        title: "Any depth beats random",
        claim: "A search of any depth, with any evaluation, beats a player who moves at random.",
        origin: Origin::Older,
        runs_locally: false,
        run: matches::beats_random,
    },
    Experiment {
        name: "deeper-wins",
        title: "A higher depth beats a lower one",
        claim: "Of two searches with the same evaluation, the deeper one wins the match.",
        origin: Origin::Older,
        runs_locally: false,
        run: matches::deeper_wins,
    },
    Experiment {
        name: "first-mover",
        title: "The first mover wins between equals",
        claim: "When a player meets itself on the empty board, the player who moves first wins \
                more often.",
        origin: Origin::Older,
        runs_locally: false,
        run: matches::first_mover,
    },
    Experiment {
        name: "repeats",
        title: "Games of minimax repeat",
        claim: "Minimax players play the same games again and again, so that only distinct games \
                are worth listing.",
        origin: Origin::Older,
        runs_locally: false,
        run: matches::repeats,
    },
    Experiment {
        name: "difficulties",
        title: "Easy, medium and hard",
        claim: "Depths 1, 3 and 5, or 2, 4 and 6, make three difficulties, each of which beats the \
                one below.",
        origin: Origin::Older,
        runs_locally: false,
        run: matches::difficulties,
    },
    Experiment {
        name: "same-value",
        title: "Alpha-beta is minimax",
        claim: "Alpha-beta finds the value and the move of minimax at the same depth; so does \
                MTD(f).",
        origin: Origin::Older,
        runs_locally: true,
        run: searches::same_value,
    },
    Experiment {
        name: "pruning",
        title: "What pruning saves",
        claim: "Alpha-beta visits fewer nodes and takes less time than minimax, and saves more the \
                deeper it looks.",
        origin: Origin::Older,
        runs_locally: true,
        run: searches::pruning,
    },
    Experiment {
        name: "patience",
        title: "How deep is reasonable",
        claim: "More than 4 plies without pruning, or 6 with it, take unreasonably long.",
        origin: Origin::Older,
        runs_locally: true,
        run: searches::patience,
    },
    Experiment {
        name: "mtdf",
        title: "MTD(f) against alpha-beta",
        claim: "MTD(f) is the best classical choice: it takes less time and fewer leaves than \
                alpha-beta.",
        origin: Origin::Older,
        runs_locally: true,
        run: searches::mtdf,
    },
    Experiment {
        name: "evaluations",
        title: "The evaluations against each other",
        claim: "At equal depth every evaluation of unfinished games is better than none \
                (`terminal`).",
        origin: Origin::Older,
        runs_locally: false,
        run: tournaments::evaluations,
    },
    Experiment {
        name: "alphazero",
        title: "AlphaZero against minimax",
        claim: "A network that learnt from games against itself loses to minimax of depth 4.",
        origin: Origin::Older,
        runs_locally: false,
        run: alphazero::against_minimax,
    },
    Experiment {
        name: "errors",
        title: "Who gives away what, and when",
        claim: "The more a player searches, the fewer wins and draws it gives away.",
        origin: Origin::Ours,
        runs_locally: false,
        run: exact::errors,
    },
    Experiment {
        name: "ladder",
        title: "The ladder of levels",
        claim: "Each of the ten levels beats the one below, and gives away less.",
        origin: Origin::Ours,
        runs_locally: false,
        run: tournaments::ladder,
    },
];

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn every_experiment_can_be_cancelled() {
        for experiment in EXPERIMENTS {
            let lab = Lab::new(1, 2, false, &|_| {}).with_cancel(Arc::new(AtomicBool::new(true)));
            let started = Instant::now();
            let result = experiment.run(&lab);
            assert_eq!(result.unwrap_err(), ExperimentError::Cancelled, "{}", experiment.name);
            assert!(started.elapsed() < Duration::from_secs(5), "{}", experiment.name);
        }
    }

    #[test]
    fn names_are_unique_and_plain() {
        for (index, experiment) in EXPERIMENTS.iter().enumerate() {
            let name = experiment.name;
            assert!(
                name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-'),
                "{name}"
            );
            assert!(EXPERIMENTS[..index].iter().all(|other| other.name != name), "{name}");
            assert!(std::ptr::eq(Experiment::named(name).unwrap(), experiment));
        }
        let error = Experiment::named("deeper").unwrap_err().to_string();
        assert!(
            error.starts_with("unknown experiment 'deeper'; did you mean deeper-wins? (available:"),
            "{error}"
        );
    }
}
