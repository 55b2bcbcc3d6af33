//! `claimeven evaluate`: how often a player's moves are those of perfect play.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;

use claimeven_arena::AgentSpec;
use claimeven_game::Setup;
use claimeven_search::Limits;
use claimeven_zero::{Strength, TestSet, evaluate};
use serde_json::json;

use crate::Failure;
use crate::progress;
use crate::setup::{SetupArgs, SetupJson};

/// Measure a player's moves against exact scores
#[derive(clap::Args)]
#[command(after_help = "\
An error is a move that gives away a win or a draw; a best move keeps the exact score: the fastest\n\
win, the slowest loss. Intervals are 95 %.\n\n\
Examples:\n  \
    claimeven evaluate level:5\n  \
    claimeven evaluate alphabeta:depth=8 --sets DIR --count 200\n  \
    claimeven evaluate mcts:sims=5000 --random 1000 --discs 8..20 --seed 2 --json")]
pub(crate) struct Args {
    /// The player
    #[arg(value_name = "AGENT")]
    agent: AgentSpec,

    /// A folder of files with moves and exact score on each line
    #[arg(long, value_name = "DIR")]
    sets: Option<PathBuf>,

    /// Positions of each file at most
    #[arg(long, value_name = "N", default_value_t = 1000, allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,

    /// Positions to be drawn by random play, besides
    #[arg(long, value_name = "N", default_value_t = 500, allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    random: u32,

    /// Discs on the random positions
    #[arg(long, value_name = "A..B", default_value = "4..20", value_parser = discs)]
    discs: (u32, u32),

    /// What the random positions are drawn by
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Positions at the same time; as many as there are cores if not given
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    setup: SetupArgs,
}

fn discs(text: &str) -> Result<(u32, u32), String> {
    let range = text.split_once("..").and_then(|(first, last)| {
        let (first, last) = (first.parse().ok()?, last.trim_start_matches('=').parse().ok()?);
        (first <= last).then_some((first, last))
    });
    range.ok_or_else(|| format!("'{text}' is not a range such as 4..20"))
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let setup = args.setup.setup()?;
    args.agent.build(setup, 0)?;
    if args.discs.1 >= setup.cells() {
        let message = format!("{} discs leave no move on {setup}", args.discs.1);
        return Err(Failure::Input(message));
    }
    let cores = || thread::available_parallelism().map_or(1, Into::into);
    let threads = args.threads.map_or_else(cores, usize::from);
    let mut sets = match &args.sets {
        Some(folder) => read_sets(folder, setup, args.count as usize)?,
        None => Vec::new(),
    };
    if args.random > 0 {
        let (first, last) = args.discs;
        let count = args.random as usize;
        sets.push(TestSet::random(setup, count, first..=last, args.seed, threads)?);
    }

    let positions = sets.iter().map(|set| set.len() as u64).sum();
    let bar = progress::bar(positions, "{bar:25} {pos}/{len} positions, {msg}, {eta} left");
    let mut results = Vec::new();
    for set in &sets {
        bar.set_message(set.name.clone());
        let agent = || args.agent.build(setup, args.seed).expect("it could be built before");
        let strength = evaluate(agent, set, &Limits::default(), threads, || bar.inc(1));
        results.push(strength.map_err(|error| Failure::Input(error.to_string()))?);
    }
    bar.finish_and_clear();

    let mut out = anstream::stdout().lock();
    if args.json {
        let report = json!({
            "setup": SetupJson::from(setup),
            "agent": args.agent.to_string(),
            "sets": results.iter().map(strength_json).collect::<Vec<_>>(),
        });
        writeln!(out, "{report}")?;
    } else {
        write_table(&mut out, &results)?;
    }
    Ok(())
}

/// The sets of a folder by name: every file that is not a document.
fn read_sets(folder: &Path, setup: Setup, count: usize) -> Result<Vec<TestSet>, Failure> {
    let wrong = |error: io::Error| Failure::Input(format!("{}: {error}", folder.display()));
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        if path.is_file() && path.extension().is_none_or(|extension| extension == "txt") {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        return Err(Failure::Input(format!("{}: there are no sets", folder.display())));
    }
    paths.sort();
    let load = |path: PathBuf| match TestSet::load(&path, setup) {
        Ok(set) => Ok(set.truncated(count)),
        Err(error) => Err(Failure::Input(error.to_string())),
    };
    paths.into_iter().map(load).collect()
}

fn write_table(out: &mut impl Write, results: &[Strength]) -> io::Result<()> {
    let width = results.iter().map(|strength| strength.set.len()).max().unwrap_or(0).max(3);
    writeln!(
        out,
        "{:<width$}  {:>9}  {:>24}  {:>26}  win to draw  win to loss  draw to loss  ms a move",
        "set", "positions", "errors", "best moves"
    )?;
    for strength in results {
        let Strength { set, positions, wins_drawn, wins_lost, draws_lost, seconds, .. } = strength;
        writeln!(
            out,
            "{set:<width$}  {positions:>9}  {:>24}  {:>26}  {wins_drawn:>11}  {wins_lost:>11}  \
             {draws_lost:>12}  {:>9.3}",
            strength.error_rate().to_string(),
            strength.best_rate().to_string(),
            1e3 * seconds
        )?;
    }
    Ok(())
}

fn strength_json(strength: &Strength) -> serde_json::Value {
    json!({
        "counts": strength,
        "error_rate": strength.error_rate(),
        "best_rate": strength.best_rate(),
    })
}
