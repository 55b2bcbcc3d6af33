//! `claimeven arena`: plays tournaments.

mod html;
mod text;

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use claimeven_arena::{JournalError, MatchError, Tournament, TournamentError, TournamentPlan};

use crate::Failure;
use crate::fleet::{FleetArgs, log_above};
use crate::interrupt::{check_interrupt, interrupt_flag};
use crate::options::ThreadsArgs;
use crate::output::{print_json, write_file};
use crate::progress;
use crate::text::counted;

/// Run a tournament described in a file
#[derive(clap::Args)]
#[command(after_help = "\
The file is TOML, such as docs/tournament.toml:\n\n  \
    title = \"Depth against simulations\"\n  \
    format = \"round-robin\"           # or gauntlet (first against all), pairings\n  \
    players = [\"random\", \"level:5\", { agent = \"mcts:sims=500\", name = \"tree\" }]\n  \
    # pairings = [[\"random\", \"tree\"]]\n  \
    games = 20                       # per pairing\n  \
    openings = \"balanced:6\"          # none, random:PLIES, or a list such as [\"44\", \"1\"]\n  \
    seed = 1\n  \
    time = \"60+0.5\"                  # per player; or move_time = milliseconds\n  \
    # memory_mb = 64                 # maximum size of a player's search tree\n  \
    anchor = { player = \"random\", elo = 0 }\n  \
    setup = { cols = 7, rows = 6, connect = 4, ruleset = \"standard\" }\n\n\
Only players is required. A JSON file has the same keys, or is a list of games with\n\
player_one_settings and player_two_settings, each { \"AI\": NAME, \"options\": {...} }.\n\n\
The same seed gives the same games, whatever the number of threads, unless players have time\n\
limits. With a journal, an interrupted tournament can be resumed.\n\n\
Examples:\n  \
    claimeven arena docs/tournament.toml\n  \
    claimeven arena docs/tournament.toml --journal games.jsonl --html report.html\n  \
    claimeven arena docs/tournament.toml --nats nats://127.0.0.1:4222")]
pub(crate) struct Args {
    /// Description of the tournament: a TOML file, or a JSON file (*.json)
    #[arg(value_name = "FILE")]
    plan: PathBuf,

    /// File in which finished games are kept, and from which the tournament is resumed
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,

    #[command(flatten)]
    threads: ThreadsArgs,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Print the standings as CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,

    /// File for a report in HTML, with plots
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    // Last, because its heading would be that of the options after it.
    #[command(flatten)]
    fleet: FleetArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let plan = read_plan(&args.plan)?;
    if let Some(path) = &args.html {
        // Fail before hours of play, not after.
        let file = OpenOptions::new().append(true).create(true).open(path);
        file.map_err(|error| Failure::unwritable(path, &error))?;
    }
    let tournament = Tournament::new(&plan)?;
    let bar = progress::bar(plan.games(), "{bar:25} {pos}/{len} games, {per_sec}, {eta} left");
    let (start, mut from_journal) = (Instant::now(), None);
    let machines = args.fleet.machines(args.threads.threads(), log_above(&bar));
    let cancel = interrupt_flag()?;
    let played = tournament.run_on(&machines, args.journal.as_deref(), Some(&cancel), |results| {
        bar.set_position(results.games());
        if from_journal.is_none() {
            from_journal = Some(results.games());
            bar.reset_eta();
        }
    });
    bar.finish_and_clear();
    let results = played.map_err(|error| stopped(args, error))?;
    if results.games() < plan.games() {
        check_interrupt(&cancel)?;
    }
    let report = results.report(&plan);
    if let Some(path) = &args.html {
        write_file(path, html::page(&report))?;
    }
    let mut out = anstream::stdout().lock();
    if args.json {
        print_json(&report)?;
    } else if args.csv {
        report.write_csv(&mut out)?;
    } else {
        text::write(&mut out, &report)?;
        let (seconds, old) = (start.elapsed().as_secs_f64(), from_journal.unwrap_or(0));
        let rate = (report.games - old) as f64 / seconds;
        let kept = if old > 0 {
            format!(", {} from the journal", counted(old, "game"))
        } else {
            String::new()
        };
        writeln!(out, "{seconds:.1} s, {rate:.1} games/s{kept}")?;
    }
    Ok(())
}

fn read_plan(path: &Path) -> Result<TournamentPlan, Failure> {
    let text = fs::read_to_string(path).map_err(|error| Failure::in_file(path, &error))?;
    let is_json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    let plan =
        if is_json { TournamentPlan::from_json(&text) } else { TournamentPlan::from_toml(&text) };
    plan.map_err(|error| Failure::in_file(path, &error))
}

fn stopped(args: &Args, error: TournamentError) -> Failure {
    match (error, &args.journal) {
        (TournamentError::Journal(JournalError::File(error)), Some(path)) => {
            Failure::unwritable(path, &error)
        }
        (TournamentError::Journal(error), Some(path)) => Failure::in_file(path, &error),
        (TournamentError::Game(MatchError::Work(error)), _) => error.into(),
        (error, _) => Failure::Input(error.to_string()),
    }
}
