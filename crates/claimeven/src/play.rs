//! `claimeven play`: the terminal application, and the same line by line for pipes.

pub(crate) mod app;
mod crew;
mod form;
mod layout;
pub(crate) mod look;
mod plain;
mod screen;
pub(crate) mod table;
pub(crate) mod terminal;
#[cfg(test)]
mod tests;

use std::env;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::Duration;

use claimeven_arena::{Clock, Seat};

use crate::Failure;
use crate::records::load;
use crate::setup::SetupArgs;
use app::{App, Screen};
use look::Look;
pub(crate) use plain::read_line;
pub(crate) use screen::move_text;
use table::Table;

/// Play a game in the terminal
#[derive(clap::Args)]
#[command(
    after_help = "Players: human, level:1 to level:10, or any of `claimeven agents`. The first one has X\n\
    and begins. Without players a start screen asks for them; ? shows the keys.\n\n\
    Examples:\n  \
    claimeven play\n  \
    claimeven play human level:6 --clock 180+2\n  \
    claimeven play perfect human\n  \
    claimeven play alphabeta:depth=8 mcts:sims=20000 --pace 1\n  \
    claimeven play level:3 level:7 --step\n  \
    claimeven play human human --cols 9 --rows 7\n  \
    claimeven play random:seed=7 human --ruleset lines\n  \
    claimeven play --load games.jsonl\n  \
    printf '4\\n4\\nquit\\n' | claimeven play --plain"
)]
pub(crate) struct Args {
    /// Who plays X and moves first [default: human]
    #[arg(value_name = "FIRST")]
    first: Option<Seat>,

    /// Who plays O [default: level:4]
    #[arg(value_name = "SECOND")]
    second: Option<Seat>,

    /// Line by line in plain text, which is also how it plays in a pipe
    #[arg(long)]
    plain: bool,

    /// Draw with plain ASCII, as where the locale has no UTF-8
    #[arg(long)]
    ascii: bool,

    /// Seconds for each player's game, and what each move adds: 180 or 180+2
    #[arg(long, value_name = "TIME")]
    clock: Option<Clock>,

    /// Seconds between two moves of programs that play each other [default: 0.5, --plain: 0]
    #[arg(long, value_name = "SECONDS", value_parser = pace)]
    pace: Option<Duration>,

    /// Let programs that play each other wait for a key before each move (--plain: Enter)
    #[arg(long)]
    step: bool,

    /// Go on with the last game of this file, or the one that --game names
    #[arg(long, value_name = "FILE", conflicts_with_all = ["first", "second", "clock"])]
    load: Option<PathBuf>,

    /// The game to load: its id, or its number in the file from 1
    #[arg(long, value_name = "ID", requires = "load")]
    game: Option<String>,

    #[command(flatten)]
    setup: SetupArgs,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let setup = args.setup.setup()?;
    let asks = args.first.is_none() && args.load.is_none();
    let first = args.first.unwrap_or(Seat::Human);
    let second = args.second.map_or_else(|| DEFAULT_OPPONENT.parse(), Ok)?;
    let table = match &args.load {
        Some(file) => Table::of_record(&load(file, args.game.as_deref())?)?,
        None => Table::new(setup, [first, second], args.clock)?,
    };
    if args.plain || !is_screen() {
        return plain::run(table, args.pace.unwrap_or_default(), args.step);
    }
    let screen = if asks { Screen::Start } else { Screen::Game };
    let mut app = App::new(table, screen);
    app.pace = args.pace.unwrap_or(app.pace);
    // The start screen may still put a person at the table, who is not to wait.
    app.paused = args.step && (asks || !app.table.has_human());
    terminal::run(app, Look::of_terminal(args.ascii))
}

/// Reads a pace in seconds.
fn pace(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "it is a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|pace| *pace <= Duration::from_hours(1))
        .ok_or_else(|| "a pace is between 0 and 3600 seconds".to_owned())
}

const DEFAULT_OPPONENT: &str = "level:4";

/// Whether there is a terminal that can show more than lines.
pub(crate) fn is_screen() -> bool {
    let is_dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
    io::stdin().is_terminal() && io::stdout().is_terminal() && !is_dumb
}
