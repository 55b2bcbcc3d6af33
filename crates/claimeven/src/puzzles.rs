//! `claimeven puzzles`: finds the puzzles that are part of the program.

use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;

use claimeven_arena::Puzzle;

use crate::Failure;

/// Find positions with exactly one move that wins or draws
#[derive(clap::Args)]
#[command(after_help = "\
A line per puzzle: the moves, win or draw, the discs to the win, the one move, and how hard it is\n\
from 1 to 5. The same seed finds the same puzzles.\n\n\
Examples:\n  \
    claimeven puzzles --count 20\n  \
    claimeven puzzles --seed 4 --count 400 --out crates/claimeven-arena/puzzles/7x6.txt")]
pub(crate) struct Args {
    /// What chance decides by
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// How many
    #[arg(long, value_name = "N", default_value_t = 10)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    count: u32,

    /// Write them to a file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let puzzles = Puzzle::generate(args.seed, args.count as usize, |_| {});
    let mut text = String::new();
    for puzzle in &puzzles {
        writeln!(text, "{puzzle}").expect("a text takes every line");
    }
    match &args.out {
        None => write!(anstream::stdout().lock(), "{text}")?,
        Some(file) => std::fs::write(file, text)
            .map_err(|error| Failure::Other(format!("{}: {error}", file.display())))?,
    }
    Ok(())
}
