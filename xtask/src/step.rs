//! Commands run one after another, and a report of how each of them ended.

use std::env;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// A command to run.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) program: &'static str,
    pub(crate) arguments: Vec<String>,
    /// Environment variables to run it with.
    pub(crate) variables: Vec<(&'static str, String)>,
    /// The working directory, if not the current one.
    pub(crate) folder: Option<PathBuf>,
}

impl Step {
    /// A cargo command.
    pub(crate) fn cargo(name: &'static str, arguments: &[&str]) -> Step {
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        Step { name, program: "cargo", arguments, variables: Vec::new(), folder: None }
    }

    fn run(&self) -> Result<(), String> {
        let mut command = Command::new(self.program);
        // Cargo sets variables that describe this package. They would cause some dependencies to be
        // built again, and once more when cargo is called by hand.
        for (name, _) in env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
                command.env_remove(name);
            }
        }
        command
            .args(&self.arguments)
            .envs(self.variables.iter().map(|(name, value)| (name, value)));
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        match command.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(status.to_string()),
            Err(error) => Err(format!("{} cannot be run: {error}", self.program)),
        }
    }
}

/// The results of the steps.
#[derive(Default)]
pub(crate) struct Report {
    steps: Vec<(&'static str, Duration, Result<(), String>)>,
    skipped: Vec<(&'static str, String)>,
}

impl Report {
    /// Runs all steps, even if some of them fail.
    pub(crate) fn run(&mut self, steps: &[Step]) {
        for (number, step) in (1..).zip(steps) {
            let command = format!("{} {}", step.program, step.arguments.join(" "));
            println!("\n[{number}/{}] {}: {command}", steps.len(), step.name);
            let start = Instant::now();
            let result = step.run();
            if let Err(reason) = &result {
                eprintln!("xtask: {} failed ({reason})", step.name);
            }
            self.steps.push((step.name, start.elapsed(), result));
        }
    }

    /// Records a check that cannot run on this machine.
    pub(crate) fn skip(&mut self, name: &'static str, reason: impl Into<String>) {
        let reason = reason.into();
        println!("SKIPPED {name}: {reason}");
        self.skipped.push((name, reason));
    }

    /// Prints the result of each step. With `no_skip`, skipped checks count as failures.
    pub(crate) fn finish(self, no_skip: bool) -> ExitCode {
        println!();
        for (name, time, result) in &self.steps {
            let ending = if result.is_ok() { "" } else { "  FAILED" };
            println!("{name:>12} {:>7.1} s{ending}", time.as_secs_f64());
        }
        let total: Duration = self.steps.iter().map(|(_, time, _)| *time).sum();
        println!("{:>12} {:>7.1} s", "total", total.as_secs_f64());
        for (name, reason) in &self.skipped {
            println!("{name:>12} SKIPPED: {reason}");
        }
        let failed: Vec<_> = self
            .steps
            .iter()
            .filter(|(.., result)| result.is_err())
            .map(|(name, ..)| *name)
            .collect();
        if !failed.is_empty() {
            eprintln!("xtask: failed: {}", failed.join(", "));
        } else if no_skip && !self.skipped.is_empty() {
            eprintln!("xtask: skipped checks count as failures here (--no-skip)");
        } else {
            return ExitCode::SUCCESS;
        }
        ExitCode::FAILURE
    }
}
