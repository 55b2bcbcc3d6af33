//! `claimeven fleet`: what workers and jobs are doing, and removing jobs that nobody waits for.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use anstyle::Style;
use claimeven_work::{
    AbandonedJob, FleetStatus, JobStatus, WorkError, WorkerStatus, cancel_job, watch_fleet,
};

use super::ConnectionArgs;
use crate::Failure;
use crate::text::counted;

/// Monitor a fleet of workers and clean up after it
#[derive(clap::Args)]
#[command(arg_required_else_help = false)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Status(StatusArgs),
    Cancel(CancelArgs),
}

/// Show the workers and jobs of a NATS server
#[derive(clap::Args)]
#[command(after_help = "\
On a terminal, the tables are updated until Ctrl-C; in a pipe, and with --once, they are printed once.\n\
With --json, each status is one line.\n\n\
Examples:\n  \
    claimeven fleet status --nats nats://127.0.0.1:4222\n  \
    claimeven fleet status --nats nats://127.0.0.1:4222 --json --once")]
struct StatusArgs {
    /// NATS server
    #[arg(long, value_name = "URL", env = "CLAIMEVEN_NATS", hide_env = true)]
    nats: String,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Print the status once
    #[arg(long)]
    once: bool,

    #[command(flatten)]
    connection: ConnectionArgs,
}

/// Remove a job whose command was killed
#[derive(clap::Args)]
#[command(after_help = "\
Workers compute the units that a killed command has left on the NATS server, and the server keeps\n\
their results for a week, so that the same command can continue. This removes them. A command that is\n\
running is stopped with Ctrl-C instead.\n\n\
Example:\n  \
    claimeven fleet cancel 3f9a2c1be07d4a55 --nats nats://127.0.0.1:4222")]
struct CancelArgs {
    /// Job, as shown by `claimeven fleet status`
    #[arg(value_name = "JOB")]
    job: String,

    /// NATS server
    #[arg(long, value_name = "URL", env = "CLAIMEVEN_NATS", hide_env = true)]
    nats: String,

    #[command(flatten)]
    connection: ConnectionArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    match &args.command {
        Command::Status(args) => show_status(args),
        Command::Cancel(args) => cancel(args),
    }
}

fn cancel(args: &CancelArgs) -> Result<(), Failure> {
    let connection = args.connection.connection(&args.nats, Arc::new(|_| {}));
    if args.job.len() != 16 || !args.job.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(Failure::Input(format!("'{}' is not the id of a job", args.job)));
    }
    let job = cancel_job(&connection, &args.job).map_err(|error| match error {
        WorkError::Claimed(host) => {
            let message = format!("the command of job {} is running on {host}: stop it", args.job);
            Failure::Input(message)
        }
        error => error.into(),
    })?;
    let (units, results) = (counted(job.units, "unit"), counted(job.results, "result"));
    let mut out = anstream::stdout().lock();
    Ok(writeln!(out, "removed job {}: {units} and {results}", job.id)?)
}

fn show_status(args: &StatusArgs) -> Result<(), Failure> {
    let is_live = !args.once && (args.json || io::stdout().is_terminal());
    let connection = args.connection.connection(&args.nats, Arc::new(|_| {}));
    let mut written = Ok(());
    let mut lines = 0;
    watch_fleet(&connection, Duration::from_secs(1), |status| {
        written =
            if args.json { print_json(status) } else { print_table(status, &mut lines, is_live) };
        if is_live && written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    written
}

fn print_json(status: &FleetStatus) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", serde_json::to_string(status)?)?;
    Ok(out.flush()?)
}

/// Prints the tables; if `is_live`, over the previous ones, which had this number of `lines`.
fn print_table(status: &FleetStatus, lines: &mut usize, is_live: bool) -> Result<(), Failure> {
    let text = table(status);
    let mut out = anstream::stdout().lock();
    if is_live && *lines > 0 {
        write!(out, "\x1b[{lines}F\x1b[J")?;
    }
    write!(out, "{text}")?;
    *lines = text.lines().count();
    Ok(out.flush()?)
}

fn table(status: &FleetStatus) -> String {
    let bold = Style::new().bold();
    let threads: usize = status.workers.iter().map(|worker| worker.threads).sum();
    let mut text = format!(
        "{} with {}, {}; {} and {} stored on the server ({:.1} MB)\n",
        counted(status.workers.len(), "worker"),
        counted(threads, "thread"),
        counted(status.jobs.len(), "job"),
        counted(status.units, "unit"),
        counted(status.results, "result"),
        status.bytes as f64 / 1e6,
    );
    if !status.workers.is_empty() {
        let width = status.workers.iter().map(|worker| worker.id.len()).max().unwrap_or(0).max(6);
        let _ = write!(
            text,
            "\n{bold}{:<width$}  version         threads  running  waiting      done  handed back  units/s  \
             arithmetic  kinds{bold:#}\n",
            "worker"
        );
        for worker in &status.workers {
            let WorkerStatus { id, version, threads, running, waiting, done, .. } = worker;
            let _ = writeln!(
                text,
                "{id:<width$}  {version:<14}  {threads:>7}  {running:>7}  {waiting:>7}  {done:>8}  \
                 {:>11}  {:>7.1}  {:<10}  {}",
                worker.handed_back,
                worker.rate,
                worker.arithmetic,
                worker.kinds.join(", ")
            );
        }
    }
    if !status.jobs.is_empty() {
        let _ = write!(
            text,
            "\n{bold}job               kind       units      done  repeated  checked  set aside  \
             dismissed  units/s  left{bold:#}\n"
        );
        for job in &status.jobs {
            text += &job_lines(job);
        }
    }
    if !status.abandoned.is_empty() {
        let _ = write!(
            text,
            "\n{bold}no command        units   results{bold:#}  (the same command continues it, \
             `claimeven fleet cancel` removes it)\n"
        );
        for AbandonedJob { id, title, units, results } in &status.abandoned {
            let _ = writeln!(text, "{id}  {units:>5}  {results:>8}  {title}");
        }
    }
    text
}

fn job_lines(job: &JobStatus) -> String {
    let JobStatus { id, kind, units, done, repeated, checked, rate, .. } = job;
    let left = units.saturating_sub(*done) as f64 / rate;
    let left = if left.is_finite() { format!("{left:.0} s") } else { "-".to_owned() };
    let (aside, dismissed) = (job.set_aside.len(), job.dismissed.len());
    let mut text = format!(
        "{id}  {kind:<5}  {units:>9}  {done:>8}  {repeated:>8}  {checked:>7}  {aside:>9}  \
         {dismissed:>9}  {rate:>7.1}  {left}\n  {} (version {}, coordinator on {})\n",
        job.title, job.version, job.host
    );
    for (unit, reason) in &job.set_aside {
        let _ = writeln!(text, "  unit {unit} set aside: {reason}");
    }
    for (worker, reason) in &job.dismissed {
        let _ = writeln!(text, "  {worker} dismissed: {reason}");
    }
    text
}
