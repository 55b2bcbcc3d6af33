//! `claimeven count`: counts distinct positions.

use std::fmt;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use claimeven_count::{
    Checkpoint, CheckpointError, CountOptions, MAX_CELLS, PlyEvent, PlyReport, count_symbolically,
    time_left,
};
use claimeven_game::{CountEvent, PlyCount, Setup, count_positions};
use clap::{ArgGroup, ValueEnum};
use indicatif::ProgressBar;
use serde::Serialize;
use sysinfo::{MemoryRefreshKind, RefreshKind, System};

use crate::Failure;
use crate::options::ThreadsArgs;
use crate::output::print_json;
use crate::progress::bar;
use crate::setup::SetupArgs;
use crate::text::clock;

/// Count the distinct positions at each ply
#[derive(clap::Args)]
#[command(group(ArgGroup::new("extent").required(true)))]
#[command(after_help = "\
Mirror images are counted separately, transpositions once. In the ruleset lines no game ends before \
the board is full.\n\n\
Enumeration keeps the positions of two plies in memory. The symbolic method keeps sets of positions \
as binary decision diagrams, on boards of up to 64 cells; it uses all cores and can resume from \
checkpoints. The column `left` estimates the remaining time from the growth of the diagrams: only \
roughly in the first half of the plies, but well in the second.\n\n\
    Examples:\n  \
    claimeven count --plies 10\n  \
    claimeven count --all --cols 4 --rows 4\n  \
    claimeven count --all --cols 5 --rows 4 --connect 3 --json\n  \
    claimeven count --all --checkpoint count-7x6\n  \
    claimeven count --all --checkpoint count-7x6 --resume")]
pub(crate) struct Args {
    /// Count up to this ply
    #[arg(long, value_name = "N", allow_negative_numbers = true, group = "extent")]
    plies: Option<u32>,

    /// Count every position of the game
    #[arg(long, group = "extent")]
    all: bool,

    /// auto: symbolic for --all on boards of more than 20 cells, else enumeration
    #[arg(long, value_enum, default_value_t)]
    method: Method,

    /// Folder for a checkpoint after each ply (symbolic method)
    #[arg(long, value_name = "DIR")]
    checkpoint: Option<PathBuf>,

    /// Continue after the last ply of the checkpoint
    #[arg(long, requires = "checkpoint")]
    resume: bool,

    /// Memory limit for positions or diagrams, without the program itself, in MiB [default: 90 % of
    /// the free memory]
    #[arg(long, value_name = "N", allow_negative_numbers = true, alias = "memory")]
    memory_mb: Option<u64>,

    #[command(flatten)]
    threads: ThreadsArgs,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    setup: SetupArgs,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum Method {
    #[default]
    Auto,
    Enumeration,
    Symbolic,
}

#[derive(Serialize)]
struct Report {
    setup: Setup,
    method: Method,
    plies: Vec<Count>,
    positions: u64,
    finished: u64,
}

#[derive(Serialize)]
struct Count {
    ply: u32,
    positions: u64,
    finished: u64,
    /// What the symbolic method needed.
    #[serde(flatten)]
    cost: Option<Cost>,
}

#[derive(Serialize)]
struct Cost {
    nodes: u64,
    memory_bytes: u64,
    seconds: f64,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let setup = args.setup.setup()?;
    let method = args.method(setup)?;
    if method == Method::Symbolic && setup.cells() > MAX_CELLS {
        return Err(claimeven_count::Error::TooManyCells(setup).into());
    }
    let memory = match args.memory_mb {
        Some(mb) => mb.saturating_mul(1 << 20),
        None => free_memory()?,
    };
    let plies = args.plies.unwrap_or(u32::MAX);
    let mut checkpoint = args.open_checkpoint()?;
    let mut table = Table::new(setup, method, plies, args.json)?;
    if method == Method::Enumeration {
        count_positions(setup, plies, memory, |event| match event {
            CountEvent::Progress { ply, done, of } => {
                table.progress(ply, done, of);
                Ok(())
            }
            CountEvent::Counted(count) => table.add(count, None, None),
        })?;
    } else {
        let mut reports = Vec::new();
        let options = CountOptions {
            plies,
            threads: args.threads.threads(),
            memory,
            checkpoint: checkpoint.as_mut(),
        };
        count_symbolically(setup, options, |event| match event {
            PlyEvent::Progress { ply, done, of } => {
                table.progress(ply, done, of);
                Ok(())
            }
            PlyEvent::Counted(report) => {
                reports.push(report);
                let PlyReport { count, nodes, memory, time } = report;
                let seconds = time.as_secs_f64();
                let cost = Cost { nodes, memory_bytes: memory, seconds };
                table.add(count, Some(cost), time_left(setup, &reports, plies))
            }
        })?;
    }
    table.finish()
}

impl Args {
    fn method(&self, setup: Setup) -> Result<Method, Failure> {
        const FEW_CELLS: u32 = 20;
        let many_cells = FEW_CELLS < setup.cells() && setup.cells() <= MAX_CELLS;
        match self.method {
            Method::Enumeration if self.checkpoint.is_some() => Err(Failure::Input(
                "the method enumeration has no checkpoints (use --method symbolic)".to_owned(),
            )),
            Method::Auto if self.checkpoint.is_some() || self.all && many_cells => {
                Ok(Method::Symbolic)
            }
            Method::Auto => Ok(Method::Enumeration),
            method => Ok(method),
        }
    }

    fn open_checkpoint(&self) -> Result<Option<Checkpoint>, Failure> {
        let Some(folder) = &self.checkpoint else { return Ok(None) };
        let checkpoint = Checkpoint::open(folder)?;
        match checkpoint.latest() {
            Some(file) if !self.resume => Err(Failure::Input(format!(
                "{} exists; use --resume to continue, or another folder",
                file.display()
            ))),
            _ => Ok(Some(checkpoint)),
        }
    }
}

/// The counts of all plies, printed as they are completed.
struct Table {
    report: Report,
    last_ply: u32,
    json: bool,
    bar: ProgressBar,
    /// The estimated time for all further plies, and when it was estimated.
    left: Option<(Duration, Instant)>,
}

impl Table {
    fn new(setup: Setup, method: Method, plies: u32, json: bool) -> Result<Table, Failure> {
        if !json {
            let mut out = anstream::stdout().lock();
            if method == Method::Symbolic {
                writeln!(
                    out,
                    "{:>5} {:>17} {:>17} {:>11} {:>6} {:>8} {:>9}",
                    "ply", "positions", "finished games", "nodes", "MiB", "seconds", "left"
                )?;
            } else {
                writeln!(out, "{:>5} {:>20} {:>20}", "ply", "positions", "finished games")?;
            }
        }
        let report = Report { setup, method, plies: Vec::new(), positions: 0, finished: 0 };
        let bar = bar(0, "{msg} {bar:20} {percent:>3} %, {eta} left{prefix}");
        Ok(Table { report, last_ply: plies.min(setup.cells()), json, bar, left: None })
    }

    fn progress(&self, ply: u32, done: u64, of: u64) {
        if done == 0 {
            self.bar.reset();
            self.bar.set_message(format!("ply {ply} of {}", self.last_ply));
            self.bar.set_length(of);
        }
        if let Some((left, estimated)) = self.left {
            let left = left.saturating_sub(estimated.elapsed());
            self.bar.set_prefix(format!("; all plies: about {}", clock(left)));
        }
        self.bar.set_position(done);
    }

    /// Adds a ply, with the estimated time for those to come.
    fn add(
        &mut self,
        count: PlyCount,
        cost: Option<Cost>,
        left: Option<Duration>,
    ) -> Result<(), Failure> {
        let PlyCount { ply, positions, finished } = count;
        self.report.positions = self.report.positions.checked_add(positions).ok_or_else(|| {
            Failure::Other(format!("there are more than {} positions up to ply {ply}", u64::MAX))
        })?;
        self.report.finished += finished;
        let count = Count { ply, positions, finished, cost };
        if !self.json {
            self.bar.suspend(|| count.print(left))?;
        }
        self.left = left.map(|left| (left, Instant::now()));
        self.report.plies.push(count);
        Ok(())
    }

    fn finish(self) -> Result<(), Failure> {
        self.bar.finish_and_clear();
        if self.json {
            return print_json(&self.report);
        }
        let Report { plies, positions, finished, .. } = self.report;
        let mut out = anstream::stdout().lock();
        let costs: Vec<&Cost> = plies.iter().filter_map(|count| count.cost.as_ref()).collect();
        if let Some(memory_bytes) = costs.iter().map(|cost| cost.memory_bytes).max() {
            let nodes = costs.iter().map(|cost| cost.nodes).sum();
            let seconds = costs.iter().map(|cost| cost.seconds).sum();
            let cost = Cost { nodes, memory_bytes, seconds };
            writeln!(out, "{:>5} {positions:>17} {finished:>17} {cost}", "total")?;
        } else {
            writeln!(out, "{:>5} {positions:>20} {finished:>20}", "total")?;
        }
        Ok(())
    }
}

impl Count {
    fn print(&self, left: Option<Duration>) -> std::io::Result<()> {
        let mut out = anstream::stdout().lock();
        let Count { ply, positions, finished, cost } = self;
        match (cost, left) {
            (Some(cost), Some(left)) => {
                let left = clock(left);
                writeln!(out, "{ply:>5} {positions:>17} {finished:>17} {cost} {left:>9}")
            }
            (Some(cost), None) => writeln!(out, "{ply:>5} {positions:>17} {finished:>17} {cost}"),
            (None, _) => writeln!(out, "{ply:>5} {positions:>20} {finished:>20}"),
        }
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cost { nodes, memory_bytes, seconds } = self;
        write!(f, "{nodes:>11} {:>6} {seconds:>8.2}", memory_bytes.div_ceil(1 << 20))
    }
}

impl From<claimeven_count::Error> for Failure {
    fn from(error: claimeven_count::Error) -> Failure {
        use claimeven_count::Error;
        match error {
            Error::Checkpoint(error) => error.into(),
            Error::TooManyCells(_) => Failure::Input(error.to_string()),
            Error::Memory { .. } => Failure::Other(format!(
                "{error}; raise --memory-mb (with --checkpoint, --resume continues from there)"
            )),
            _ => Failure::Other(error.to_string()),
        }
    }
}

impl From<CheckpointError> for Failure {
    fn from(error: CheckpointError) -> Failure {
        let message = error.to_string();
        match error {
            CheckpointError::Damaged(_) | CheckpointError::OtherSetup { .. } => {
                Failure::Input(message)
            }
            _ => Failure::Other(message),
        }
    }
}

/// 90 % of the bytes that can be used without swapping.
fn free_memory() -> Result<u64, Failure> {
    let memory = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    let system = System::new_with_specifics(memory).map_err(|error| {
        Failure::Other(format!("cannot determine the free memory ({error}); use --memory-mb"))
    })?;
    let group = system.cgroup_limits().map_or(u64::MAX, |limits| limits.free_memory);
    Ok(system.available_memory().min(group) / 10 * 9)
}
