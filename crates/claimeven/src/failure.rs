//! Why a command failed, and its exit code.

use std::fmt::Display;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use claimeven_arena::experiments::{ExperimentError, UnknownExperiment};
use claimeven_arena::{EvaluateError, MatchError, OpeningError, RecordError, SpecError};
use claimeven_game::{BoardError, CountError, MoveTextError, SetupError};
use claimeven_search::AgentError;
use claimeven_solver::Unsolvable;

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line or the input is invalid: exit code 2.
    Input(String),
    /// What clap returns instead of arguments: an error, or the text of `--help` or `--version`.
    CommandLine(clap::Error),
    /// The output was closed (`| head`), which is not an error.
    OutputClosed,
    /// The input is invalid, and the errors have been printed: exit code 2.
    Reported,
    /// Anything else, such as output that cannot be written: exit code 1.
    Other(String),
    /// Ctrl-C, after the results so far have been printed: exit code 130.
    Interrupted,
}

impl Failure {
    /// An input file that cannot be read, or whose content is invalid.
    pub(crate) fn in_file(path: &Path, error: &dyn Display) -> Failure {
        Failure::Input(format!("{}: {error}", path.display()))
    }

    /// An output file that cannot be written.
    pub(crate) fn unwritable(path: &Path, error: &io::Error) -> Failure {
        Failure::Other(format!("cannot write {}: {error}", path.display()))
    }

    /// The same failure with the number of the input line that caused it.
    pub(crate) fn in_line(self, number: u64) -> Failure {
        match self {
            Failure::Input(message) => Failure::Input(format!("line {number}: {message}")),
            other => other,
        }
    }

    /// The error message, in one line.
    pub(crate) fn message(&self) -> String {
        match self {
            Failure::CommandLine(error) => one_line(error),
            Failure::Input(message) | Failure::Other(message) => message.clone(),
            Failure::OutputClosed => "the output was closed".to_owned(),
            Failure::Reported => "invalid input".to_owned(),
            Failure::Interrupted => "interrupted".to_owned(),
        }
    }

    /// Prints the error on standard error and returns the exit code.
    pub(crate) fn report(self) -> ExitCode {
        let (code, message) = match self {
            Failure::CommandLine(error) if !error.use_stderr() => {
                // Help and version; a closed output is not an error.
                let _ = error.print();
                return ExitCode::SUCCESS;
            }
            Failure::OutputClosed => return ExitCode::SUCCESS,
            Failure::Reported => return ExitCode::from(2),
            Failure::Interrupted => return ExitCode::from(130),
            Failure::CommandLine(error) => (2, one_line(&error)),
            Failure::Input(message) => (2, message),
            Failure::Other(message) => (1, message),
        };
        print_error(&message);
        ExitCode::from(code)
    }
}

/// Prints an error as clap does, in one line.
pub(crate) fn print_error(message: &str) {
    let style = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
    anstream::eprintln!("{style}error:{style:#} {message}");
}

/// Clap's message without its usage and its line breaks.
fn one_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let end =
        ["\n\nUsage:", "\n\nFor more information"].iter().filter_map(|end| text.find(end)).min();
    let paragraphs = text[..end.unwrap_or(text.len())].split("\n\n");
    let paragraphs = paragraphs.map(|p| p.split_whitespace().collect::<Vec<_>>().join(" "));
    paragraphs.filter(|p| !p.is_empty()).collect::<Vec<_>>().join("; ")
}

impl From<clap::Error> for Failure {
    fn from(error: clap::Error) -> Failure {
        Failure::CommandLine(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::OutputClosed,
            _ => Failure::Other(error.to_string()),
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Failure {
        io::Error::from(error).into()
    }
}

/// Library errors that are always caused by the input.
macro_rules! input_errors {
    ($($error:ty),*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Failure {
                Failure::Input(error.to_string())
            }
        }
    )*};
}

input_errors!(
    SetupError,
    MoveTextError,
    BoardError,
    Unsolvable,
    SpecError,
    AgentError,
    OpeningError,
    RecordError,
    UnknownExperiment
);

impl From<EvaluateError> for Failure {
    fn from(error: EvaluateError) -> Failure {
        match error {
            EvaluateError::Work(error) => error.into(),
            error => Failure::Input(error.to_string()),
        }
    }
}

impl From<ExperimentError> for Failure {
    fn from(error: ExperimentError) -> Failure {
        match error {
            ExperimentError::Work(error) => error.into(),
            ExperimentError::Match(error) => error.into(),
            error => Failure::Input(error.to_string()),
        }
    }
}

impl From<MatchError> for Failure {
    fn from(error: MatchError) -> Failure {
        match error {
            MatchError::Work(error) => error.into(),
            error => Failure::Input(error.to_string()),
        }
    }
}

impl From<CountError> for Failure {
    fn from(error: CountError) -> Failure {
        Failure::Other(error.to_string())
    }
}
