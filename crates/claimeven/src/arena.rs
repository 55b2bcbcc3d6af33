//! `claimeven arena`: tournaments.

mod html;
mod text;

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use claimeven_arena::{JournalError, Plan, Tally, Tournament, TournamentError};

use crate::progress;
use crate::{Failure, cores};

/// Play a tournament from a file
#[derive(clap::Args)]
#[command(after_help = "\
The file is TOML, such as docs/tournament.toml:\n\n  \
    title = \"Depth against simulations\"\n  \
    format = \"round-robin\"           # or gauntlet (the first against all), pairings\n  \
    players = [\"random\", \"level:5\", { agent = \"mcts:sims=500\", name = \"tree\" }]\n  \
    # pairings = [[\"random\", \"tree\"]]\n  \
    games = 20                       # of each pairing\n  \
    openings = \"balanced:6\"          # none, random:PLIES, or a list such as [\"44\", \"1\"]\n  \
    seed = 1\n  \
    time = \"60+0.5\"                  # a clock for each; move_time = milliseconds a move\n  \
    anchor = { player = \"random\", elo = 0 }\n  \
    setup = { cols = 7, rows = 6, connect = 4, ruleset = \"standard\" }\n\n\
Only players are needed. JSON has the same keys, or is a list of games with player_one_settings\n\
and player_two_settings, each { \"AI\": NAME, \"options\": {...} }.\n\n\
The same seed gives the same games whatever the number of threads, unless players have time\n\
limits. With a journal, a run that was stopped goes on where it was.\n\n\
Examples:\n  \
    claimeven arena docs/tournament.toml\n  \
    claimeven arena docs/tournament.toml --journal games.jsonl --html report.html")]
pub(crate) struct Args {
    /// What to play: a TOML file, or a JSON one by its name
    #[arg(value_name = "FILE")]
    plan: PathBuf,

    /// Keep every game in a file as it ends, and go on with the games that it has
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,

    /// Games at the same time; as many as there are cores if not given
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Print the standings as comma-separated values
    #[arg(long, conflicts_with = "json")]
    csv: bool,

    /// Write a report with plots for browsers
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let plan = read_plan(&args.plan)?;
    if let Some(path) = &args.html {
        // Before hours of play rather than after them.
        let file = OpenOptions::new().append(true).create(true).open(path);
        file.map_err(|error| in_file(path, &error))?;
    }
    let tournament = Tournament::new(&plan)?;
    let threads = args.threads.map_or_else(cores, usize::from);
    let bar = progress::bar(plan.games(), "{bar:30} {pos}/{len} games, {per_sec}, {eta} left");
    let (start, mut from_journal) = (Instant::now(), None);
    let played = tournament.run(args.journal.as_deref(), threads, |tally: &Tally| {
        bar.set_position(tally.games());
        if from_journal.is_none() {
            from_journal = Some(tally.games());
            bar.reset_eta();
        }
    });
    bar.finish_and_clear();
    let tally = played.map_err(|error| stopped(args, error))?;
    let report = tally.report(&plan);
    if let Some(path) = &args.html {
        fs::write(path, html::page(&report)).map_err(|error| in_file(path, &error))?;
    }
    let mut out = anstream::stdout().lock();
    if args.json {
        writeln!(out, "{}", serde_json::to_string(&report)?)?;
    } else if args.csv {
        report.write_csv(&mut out)?;
    } else {
        text::write(&mut out, &report)?;
        let (seconds, old) = (start.elapsed().as_secs_f64(), from_journal.unwrap_or(0));
        let rate = (report.games - old) as f64 / seconds;
        let kept =
            if old > 0 { format!(", {old} of the games from the journal") } else { String::new() };
        writeln!(out, "{seconds:.1} s, {rate:.1} games a second{kept}")?;
    }
    Ok(())
}

fn read_plan(path: &Path) -> Result<Plan, Failure> {
    let text = fs::read_to_string(path).map_err(|error| in_file(path, &error))?;
    let is_json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    let plan = if is_json { Plan::from_json(&text) } else { Plan::from_toml(&text) };
    plan.map_err(|error| in_file(path, &error))
}

fn in_file(path: &Path, error: &dyn std::error::Error) -> Failure {
    Failure::Input(format!("{}: {error}", path.display()))
}

fn stopped(args: &Args, error: TournamentError) -> Failure {
    match (error, &args.journal) {
        // A full disk is nobody's wrong input.
        (TournamentError::Journal(JournalError::File(error)), Some(path))
            if error.kind() == io::ErrorKind::StorageFull =>
        {
            Failure::Other(format!("{}: {error}", path.display()))
        }
        (TournamentError::Journal(error), Some(path)) => in_file(path, &error),
        (error, _) => Failure::Input(error.to_string()),
    }
}
