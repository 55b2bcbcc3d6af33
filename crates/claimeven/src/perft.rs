//! `claimeven perft`: counts move sequences.

use std::io::Write;

use claimeven_game::{Game, Position, Setup, perft};
use serde::Serialize;

use crate::Failure;
use crate::output::print_json;
use crate::progress::bar;
use crate::setup::SetupArgs;

/// Count the move sequences of each length
#[derive(clap::Args)]
#[command(after_help = "Sequences end when the game is over.\n\n\
    Examples:\n  \
    claimeven perft 10\n  \
    claimeven perft 8 --from 4444\n  \
    claimeven perft 6 --cols 4 --rows 5 --ruleset lines --json")]
pub(crate) struct Args {
    /// Maximum length of the sequences, in plies
    #[arg(value_name = "N", allow_negative_numbers = true)]
    plies: u32,

    /// Moves of the starting position, such as 4453
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
    setup: Setup,
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
    let mut report = Report { setup, from: &args.from, sequences: Vec::new() };
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
        print_json(&report)?;
    }
    Ok(())
}

/// Counts opening by opening, to show the progress.
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
