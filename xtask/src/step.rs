//! Commands, run in sequence or in parallel, and a report of their results.

use std::env;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::thread;
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

    /// Runs it with its output on this terminal.
    fn run(&self) -> Result<(), String> {
        println!("\n{}: {}", self.name, self.text());
        self.result_of(self.command().status())
    }

    /// Runs it and prints its output when it has finished, so that it is not mixed with that of others.
    fn run_captured(&self) -> Result<(), String> {
        println!("\n{}: {} (in parallel; the output follows)", self.name, self.text());
        // Both streams in one, in the order of writing.
        let (mut output, writer) = io::pipe().map_err(|error| error.to_string())?;
        let second_writer = writer.try_clone().map_err(|error| error.to_string())?;
        let mut command = self.command();
        command.stdin(Stdio::null()).stdout(writer).stderr(second_writer);
        let child = command.spawn();
        // The command holds the write end of the pipe, too.
        drop(command);
        let ended = child.and_then(|mut child| {
            let mut captured = Vec::new();
            io::copy(&mut output, &mut captured)?;
            let status = child.wait()?;
            let mut terminal = io::stdout().lock();
            writeln!(terminal, "\n{}, which ran in parallel:", self.name)?;
            terminal.write_all(&captured)?;
            Ok(status)
        });
        self.result_of(ended)
    }

    fn result_of(&self, status: io::Result<ExitStatus>) -> Result<(), String> {
        let reason = match status {
            Ok(status) if status.success() => return Ok(()),
            Ok(status) => status.to_string(),
            Err(error) => format!("cannot run {}: {error}", self.program),
        };
        eprintln!("xtask: {} failed ({reason})", self.name);
        Err(reason)
    }

    fn text(&self) -> String {
        format!("{} {}", self.program, self.arguments.join(" "))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.program);
        // Cargo sets variables that describe this package. They would cause some dependencies to be
        // rebuilt now, and again when cargo is called by hand.
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
        command
    }
}

/// The result of a step, and its duration.
struct Finished {
    name: &'static str,
    time: Duration,
    result: Result<(), String>,
}

/// The results of all steps.
pub(crate) struct Report {
    started: Instant,
    steps: Vec<Finished>,
    skipped: Vec<(&'static str, String)>,
}

impl Report {
    pub(crate) fn new() -> Report {
        Report { started: Instant::now(), steps: Vec::new(), skipped: Vec::new() }
    }

    /// Runs all steps, even after one has failed.
    pub(crate) fn run(&mut self, steps: &[Step]) {
        self.steps.extend(run_all(steps, Step::run));
    }

    /// Runs two lists of steps in parallel. The steps of the second mostly wait, so they hardly slow
    /// down the first.
    pub(crate) fn run_both(&mut self, steps: &[Step], waiting: &[Step]) {
        thread::scope(|scope| {
            let waiting = scope.spawn(|| run_all(waiting, Step::run_captured));
            self.run(steps);
            self.steps.extend(waiting.join().expect("steps should not panic"));
        });
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
        for Finished { name, time, result } in &self.steps {
            let ending = if result.is_ok() { "" } else { "  FAILED" };
            println!("{name:>12} {:>7.1} s{ending}", time.as_secs_f64());
        }
        println!("{:>12} {:>7.1} s", "all", self.started.elapsed().as_secs_f64());
        for (name, reason) in &self.skipped {
            println!("{name:>12} SKIPPED: {reason}");
        }
        let failed = self.steps.iter().filter(|step| step.result.is_err());
        let failed: Vec<_> = failed.map(|step| step.name).collect();
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

fn run_all(steps: &[Step], run: impl Fn(&Step) -> Result<(), String>) -> Vec<Finished> {
    let ended = steps.iter().map(|step| {
        let started = Instant::now();
        let result = run(step);
        Finished { name: step.name, time: started.elapsed(), result }
    });
    ended.collect()
}
