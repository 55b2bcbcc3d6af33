//! `claimeven count`: counts distinct positions.

use std::io::Write;

use claimeven_game::{CountEvent, PlyCount, Setup, count_positions};
use clap::ArgGroup;
use serde::Serialize;
use sysinfo::{MemoryRefreshKind, RefreshKind, System};

use crate::Failure;
use crate::output::print_json;
use crate::progress::bar;
use crate::setup::SetupArgs;

/// Count the distinct positions at each ply
#[derive(clap::Args)]
#[command(group(ArgGroup::new("extent").required(true)))]
#[command(after_help = "Mirror images are counted separately, transpositions once.\n\n\
    Examples:\n  \
    claimeven count --plies 10\n  \
    claimeven count --all --cols 4 --rows 4\n  \
    claimeven count --all --cols 5 --rows 4 --connect 3 --json")]
pub(crate) struct Args {
    /// Count up to this ply
    #[arg(long, value_name = "N", allow_negative_numbers = true, group = "extent")]
    plies: Option<u32>,

    /// Count every position of the game
    #[arg(long, group = "extent")]
    all: bool,

    /// Memory limit, in MiB [default: 90 % of the free memory]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    memory_mb: Option<u64>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    setup: SetupArgs,
}

#[derive(Serialize)]
struct Report {
    setup: Setup,
    plies: Vec<Count>,
    positions: u64,
}

#[derive(Serialize)]
struct Count {
    ply: u32,
    positions: u64,
    finished: u64,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let setup = args.setup.setup()?;
    let memory = match args.memory_mb {
        Some(mb) => mb.saturating_mul(1 << 20),
        None => free_memory()?,
    };
    let mut out = anstream::stdout().lock();
    if !args.json {
        writeln!(out, "{:>5} {:>20} {:>20}", "ply", "positions", "finished games")?;
    }
    let bar = bar(0, "{msg} {wide_bar} {percent:>3} %, {eta} left");
    let mut report = Report { setup, plies: Vec::new(), positions: 0 };
    count_positions(setup, args.plies.unwrap_or(u32::MAX), memory, |event| {
        match event {
            CountEvent::Progress { ply, done, of } => {
                if done == 0 {
                    bar.reset();
                    bar.set_message(format!("ply {ply}"));
                    bar.set_length(of);
                }
                bar.set_position(done);
            }
            CountEvent::Counted(PlyCount { ply, positions, finished }) => {
                report.positions += positions;
                report.plies.push(Count { ply, positions, finished });
                if !args.json {
                    bar.suspend(|| writeln!(out, "{ply:>5} {positions:>20} {finished:>20}"))?;
                }
            }
        }
        Ok::<(), Failure>(())
    })?;
    bar.finish_and_clear();
    if args.json {
        print_json(&report)?;
    } else {
        let finished: u64 = report.plies.iter().map(|ply| ply.finished).sum();
        writeln!(out, "{:>5} {:>20} {finished:>20}", "total", report.positions)?;
    }
    Ok(())
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
