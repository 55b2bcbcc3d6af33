//! Why a training run cannot start or continue.

use std::path::PathBuf;
use std::{fmt, io};

use claimeven_game::Setup;

use crate::exam::ExamError;
use crate::learner::LearnError;
use crate::parameters::ParametersError;

/// Why a run cannot start or continue.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunError {
    /// The folder is not a run.
    NoRun(PathBuf),
    /// The folder contains other files.
    NotEmpty(PathBuf),
    /// The folder already contains a run.
    Exists(PathBuf),
    /// Another process is training in the folder.
    Busy(PathBuf),
    /// The folder contains a run with other parameters.
    OtherParameters {
        /// The folder.
        folder: PathBuf,
        /// A parameter that differs.
        name: String,
        /// Its value in the run.
        saved: String,
        /// The requested value.
        requested: String,
    },
    /// Training failed; the run keeps the networks of the previous iteration.
    Learning {
        /// The folder.
        folder: PathBuf,
        /// The iteration that failed.
        iteration: u64,
        /// Why.
        source: LearnError,
    },
    /// The other run, given as a source of samples, is for a different game.
    OtherGame {
        /// Its folder.
        folder: PathBuf,
        /// Its game.
        own: Setup,
        /// The game of this run.
        setup: Setup,
    },
    /// The observer broke before the first iteration.
    Stopped(PathBuf),
    /// There is not enough free disk space.
    Disk {
        /// The folder.
        folder: PathBuf,
        /// Free bytes.
        free: u64,
        /// Bytes that are needed.
        needed: u64,
    },
    /// The parameters are invalid.
    Parameters(ParametersError),
    /// The positions of the exam cannot be sampled.
    Exam(ExamError),
    /// Other machines could not play the games.
    Machines(String),
    /// A file of the run is damaged.
    Damaged(PathBuf, String),
    /// A file cannot be read or written.
    Io(PathBuf, io::Error),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::NoRun(path) => write!(f, "no training run in {}", path.display()),
            RunError::NotEmpty(path) => {
                write!(f, "{} is not empty and holds no training run", path.display())
            }
            RunError::Exists(path) => {
                write!(f, "{} already holds a training run", path.display())
            }
            RunError::Busy(path) => {
                write!(f, "another process is training in {}", path.display())
            }
            RunError::Stopped(path) => {
                write!(f, "the run in {} was stopped before its first iteration", path.display())
            }
            RunError::OtherParameters { folder, name, saved, requested } => {
                write!(f, "the run in {} has {name} {saved}, not {requested}", folder.display())
            }
            RunError::Learning { folder, iteration, source } => write!(
                f,
                "iteration {iteration} of the run in {}: {source}; the networks of iteration {} \
                 are kept (a lower learning.rate may help)",
                folder.display(),
                iteration - 1
            ),
            RunError::OtherGame { folder, own, setup } => {
                write!(f, "the run in {} is for {own}, not {setup}", folder.display())
            }
            RunError::Disk { folder, free, needed } => write!(
                f,
                "{}: too little free disk space: {} MB of {} MB needed",
                folder.display(),
                free / 1_000_000,
                needed.div_ceil(1_000_000)
            ),
            RunError::Parameters(error) => error.fmt(f),
            RunError::Exam(error) => {
                write!(f, "exam: {error} (exam.positions=0 trains without an exam)")
            }
            RunError::Machines(reason) => f.write_str(reason),
            RunError::Damaged(path, reason) => write!(f, "{}: {reason}", path.display()),
            RunError::Io(path, error) => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for RunError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            RunError::Learning { source, .. } => Some(source),
            RunError::Exam(error) => Some(error),
            RunError::Parameters(error) => Some(error),
            RunError::Io(_, error) => Some(error),
            _ => None,
        }
    }
}
