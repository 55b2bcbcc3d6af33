//! `claimeven puzzles`: generates puzzles.

use std::io::Write;
use std::path::PathBuf;

use claimeven_arena::Puzzle;
use serde_json::json;

use crate::Failure;
use crate::options::SeedArgs;
use crate::output::write_file;

/// Generate puzzles: positions with exactly one move that wins or draws
#[derive(clap::Args)]
#[command(after_help = "\
Prints a line per puzzle: the moves, win or draw, the number of discs to the win, the solution,\n\
the difficulty from 1 to 5 and the themes. Immediate wins and forced blocks are added, a tenth as\n\
many of each. The same seed gives the same puzzles.\n\n\
Examples:\n  \
    claimeven puzzles --count 20\n  \
    claimeven puzzles --seed 4 --count 250 --out crates/claimeven-arena/puzzles/7x6.txt")]
pub(crate) struct Args {
    #[command(flatten)]
    seed: SeedArgs,

    /// Number of puzzles
    #[arg(long, value_name = "N", default_value_t = 10, allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    count: u32,

    /// File to write to [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Print a JSON object per puzzle
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let puzzles = Puzzle::generate(args.seed.seed, args.count as usize, |_| {});
    let mut text = String::new();
    for puzzle in &puzzles {
        let line = if args.json { puzzle_json(puzzle).to_string() } else { puzzle.to_string() };
        text += &line;
        text.push('\n');
    }
    match &args.out {
        None => write!(anstream::stdout().lock(), "{text}")?,
        Some(file) => write_file(file, text)?,
    }
    Ok(())
}

fn puzzle_json(puzzle: &Puzzle) -> serde_json::Value {
    let themes: Vec<&str> = puzzle.themes().iter().map(|theme| theme.name()).collect();
    json!({
        "moves": puzzle.moves(), "goal": puzzle.goal().name(), "discs": puzzle.discs(),
        "solution": puzzle.solution().number(), "difficulty": puzzle.grade(), "themes": themes,
    })
}
