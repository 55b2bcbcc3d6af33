//! Why a command failed, and the exit code that says so.

use std::io;
use std::process::ExitCode;

use claimeven_arena::{OpeningError, RecordError, SpecError, UnknownExperiment};
use claimeven_game::{BoardError, CountError, MoveTextError, SetupError};
use claimeven_search::AgentError;
use claimeven_solver::Unsolvable;

/// The end of a command that did not do what it was asked for.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line or the input is wrong.
    Input(String),
    /// The command line is a question (`--help`, `--version`), or not one that clap understands.
    CommandLine(clap::Error),
    /// Nobody reads the output any more, so there is nothing left to do.
    OutputClosed,
    /// The input is wrong, and the user has been told.
    Reported,
    /// Anything else.
    Other(String),
}

impl Failure {
    /// The same failure with the number of the input line whose fault it is.
    pub(crate) fn in_line(self, number: u64) -> Failure {
        match self {
            Failure::Input(message) => Failure::Input(format!("line {number}: {message}")),
            other => other,
        }
    }

    /// What went wrong, in one line.
    pub(crate) fn message(&self) -> String {
        match self {
            Failure::CommandLine(error) => one_line(error),
            Failure::Input(message) | Failure::Other(message) => message.clone(),
            Failure::OutputClosed => "nobody reads the output".to_owned(),
            Failure::Reported => "the input is wrong".to_owned(),
        }
    }

    /// Says what went wrong in one line on standard error and chooses the exit code.
    pub(crate) fn report(self) -> ExitCode {
        let (code, message) = match self {
            Failure::CommandLine(error) if !error.use_stderr() => {
                // Help and version texts; a closed output is the reader's choice.
                let _ = error.print();
                return ExitCode::SUCCESS;
            }
            Failure::OutputClosed => return ExitCode::SUCCESS,
            Failure::Reported => return ExitCode::from(2),
            Failure::CommandLine(error) => (2, one_line(&error)),
            Failure::Input(message) => (2, message),
            Failure::Other(message) => (1, message),
        };
        anstream::eprintln!("claimeven: {message}");
        ExitCode::from(code)
    }
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

/// Errors of the libraries that are always the input's fault.
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

impl From<CountError> for Failure {
    fn from(error: CountError) -> Failure {
        Failure::Other(error.to_string())
    }
}
