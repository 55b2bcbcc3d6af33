//! `claimeven play`: the terminal application, and a line-by-line game for pipes.

pub(crate) mod app;
mod form;
mod layout;
pub(crate) mod look;
mod plain;
mod screen;
pub(crate) mod session;
pub(crate) mod terminal;
#[cfg(test)]
mod tests;
mod texts;
mod workers;

use std::env;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::Duration;

use claimeven_arena::{Clock, Participant};

use crate::Failure;
use crate::records::load;
use crate::setup::SetupArgs;
use app::{App, Screen};
use look::Look;
pub(crate) use plain::read_line;
use session::GameSession;
pub(crate) use texts::move_text;

/// Play a game in the terminal
#[derive(clap::Args)]
#[command(
    after_help = "Players: human, level:1 to level:10, or any player that `claimeven agents` lists. Without\n\
    players, a start screen asks for them; ? shows the keys.\n\n\
    Examples:\n  \
    claimeven play\n  \
    claimeven play human level:6 --clock 180+2\n  \
    claimeven play perfect human\n  \
    claimeven play alphabeta:depth=8 mcts:sims=20000 --delay 1\n  \
    claimeven play level:3 level:7 --step\n  \
    claimeven play human human --cols 9 --rows 7\n  \
    claimeven play random:seed=7 human --ruleset lines\n  \
    claimeven play --load games.jsonl\n  \
    printf '4\\n4\\nquit\\n' | claimeven play --plain"
)]
pub(crate) struct Args {
    /// First player, with X [default: human]
    #[arg(value_name = "FIRST")]
    first: Option<Participant>,

    /// Second player, with O [default: level:4]
    #[arg(value_name = "SECOND")]
    second: Option<Participant>,

    /// Play line by line in plain text (the default in a pipe)
    #[arg(long)]
    plain: bool,

    /// Draw with ASCII characters only (the default if the locale is not UTF-8)
    #[arg(long)]
    ascii: bool,

    /// Time control in seconds per player: 180, or 180+2 with an increment per move
    #[arg(long, value_name = "TIME")]
    clock: Option<Clock>,

    /// Delay between moves if only programs play [default: 0.5, with --plain: 0]
    #[arg(long, value_name = "SECONDS", value_parser = delay, allow_negative_numbers = true)]
    delay: Option<Duration>,

    /// Wait for a key before each move if only programs play (with --plain: Enter)
    #[arg(long)]
    step: bool,

    /// Continue the last game in a file, or the one given by --game
    #[arg(long, value_name = "FILE", conflicts_with_all = ["first", "second", "clock"])]
    load: Option<PathBuf>,

    /// Game to load: its id, or its number in the file
    #[arg(long, value_name = "ID", requires = "load")]
    game: Option<String>,

    #[command(flatten)]
    setup: SetupArgs,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let setup = args.setup.setup()?;
    let shows_start = args.first.is_none() && args.load.is_none();
    let first = args.first.unwrap_or(Participant::Human);
    let second = args.second.map_or_else(|| DEFAULT_OPPONENT.parse(), Ok)?;
    let session = match &args.load {
        Some(file) => GameSession::of_record(&load(file, args.game.as_deref())?)?,
        None => GameSession::new(setup, [first, second], args.clock)?,
    };
    if args.plain || !is_screen() {
        return plain::run(session, args.delay.unwrap_or_default(), args.step);
    }
    let screen = if shows_start { Screen::Start } else { Screen::Game };
    let mut app = App::new(session, screen);
    app.delay = args.delay.unwrap_or(app.delay);
    // The start screen may still add a person, for whom the game must not be paused.
    app.paused = args.step && (shows_start || !app.session.has_human());
    terminal::run(app, Look::of_terminal(args.ascii))
}

fn delay(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|delay| *delay <= Duration::from_hours(1))
        .ok_or_else(|| "expected 0 to 3600 seconds".to_owned())
}

const DEFAULT_OPPONENT: &str = "level:4";

/// Whether standard input and output are a terminal that supports full-screen applications.
pub(crate) fn is_screen() -> bool {
    let is_dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
    io::stdin().is_terminal() && io::stdout().is_terminal() && !is_dumb
}
