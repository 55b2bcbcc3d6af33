//! `claimeven perft`: how many move sequences there are.

use std::io::Write;

use claimeven_game::{Game, Position, perft};
use serde::Serialize;

use crate::Failure;
use crate::progress::bar;
use crate::setup::{SetupArgs, SetupJson};

/// Count the move sequences of each length
#[derive(clap::Args)]
#[command(after_help = "A sequence ends with its game: a finished game has no further moves.\n\n\
    Examples:\n  \
    claimeven perft 10\n  \
    claimeven perft 8 --from 4444\n  \
    claimeven perft 6 --cols 4 --rows 5 --ruleset lines --json")]
pub(crate) struct Args {
    /// The longest length to count
    #[arg(value_name = "N", allow_negative_numbers = true)]
    plies: u32,

    /// Moves to start from, such as 4453
    #[arg(long, value_name = "POS", default_value = "", hide_default_value = true)]
    from: String,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    setup: SetupArgs,
}

#[derive(Serialize)]
struct Report<'a> {
    setup: SetupJson,
    from: &'a str,
    sequences: Vec<Length>,
}

#[derive(Serialize)]
struct Length {
    plies: u32,
    sequences: u64,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let setup = args.setup.setup()?;
    let start = *Game::parse(setup, &args.from)?.position();
    let mut out = anstream::stdout().lock();
    let mut report = Report { setup: setup.into(), from: &args.from, sequences: Vec::new() };
    if !args.json {
        writeln!(out, "{:>5} {:>20}", "plies", "sequences")?;
    }
    for plies in 0..=args.plies {
        let sequences = count(&start, plies);
        if args.json {
            report.sequences.push(Length { plies, sequences });
        } else {
            writeln!(out, "{plies:>5} {sequences:>20}")?;
        }
    }
    if args.json {
        writeln!(out, "{}", serde_json::to_string(&report)?)?;
    }
    Ok(())
}

/// Counts in parts, one for each opening of a few moves, and shows how many of them are done.
fn count(start: &Position, plies: u32) -> u64 {
    const OPENING: u32 = 3;
    if plies <= 2 * OPENING {
        return perft(start, plies);
    }
    let mut openings = vec![*start];
    for _ in 0..OPENING {
        openings = openings.iter().flat_map(children).collect();
    }
    let template = "{msg} {wide_bar} {percent:>3} %, {eta} left";
    let bar = bar(openings.len() as u64, template).with_message(format!("{plies} plies"));
    let sequences =
        bar.wrap_iter(openings.iter()).map(|opening| perft(opening, plies - OPENING)).sum();
    bar.finish_and_clear();
    sequences
}

fn children(position: &Position) -> Vec<Position> {
    let child = |column| {
        let mut child = *position;
        child.play(column).ok().map(|()| child)
    };
    position.legal().filter_map(child).collect()
}
