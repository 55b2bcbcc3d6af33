//! `claimeven match`: many games between two players.

use std::fs;
use std::io::{self, Seek, Write};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use claimeven_arena::{
    AgentSpec, Clock, EnginePool, GameRecord, Interval, Journal, JournalError, Match, MatchEvent,
    MatchScore, MatchStatus, Openings, PlayerStats, Sprt, SprtOutcome, TimeControl,
};
use claimeven_game::{Column, Game, Setup};
use serde_json::json;

use crate::Failure;
use crate::fleet::{FleetArgs, log_above};
use crate::interrupt::interrupt_flag;
use crate::options::{SeedArgs, ThreadsArgs};
use crate::output::create_results;
use crate::progress;
use crate::setup::SetupArgs;
use crate::text::{counted, signed};

/// Play a match: many games between two players
#[derive(clap::Args)]
#[command(
    name = "match",
    after_help = "\
Games are played in pairs: from each opening, each player moves first once. The same seed gives the\n\
same games, whatever the number of threads, unless players have time limits.\n\n\
Openings: none, balanced:PLIES (distinct drawn positions, the default on boards that can be solved),\n\
random:PLIES, or a file with the moves of an opening at the start of each line.\n\n\
Time: with --movetime or --tc, mcts, zero and timed use all the time they have, unless their text\n\
sets its own limit; searches of a fixed depth stop at that depth.\n\n\
Ctrl-C ends the match and prints the score so far; with --journal, the same command resumes it.\n\n\
Examples:\n  \
    claimeven match alphabeta:depth=6 mcts:sims=5000\n  \
    claimeven match level:5 level:4 --games 400 --out games.jsonl\n  \
    claimeven match timed mcts --tc 10+0.1 --games 20\n  \
    claimeven match zero timed --movetime 20 --games 100 --journal zero.jsonl\n  \
    claimeven match alphabeta:depth=5 alphabeta:depth=4 --sprt 0,50 --alpha 0.05 --beta 0.05"
)]
pub(crate) struct Args {
    /// First player of the match, whose score is reported
    #[arg(value_name = "A")]
    first: AgentSpec,

    /// Second player of the match
    #[arg(value_name = "B")]
    second: AgentSpec,

    /// Number of games, rounded up to an even number
    #[arg(long, value_name = "N", default_value_t = 200, allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    games: u64,

    /// Openings: none, balanced:PLIES, random:PLIES or a file
    #[arg(long, value_name = "OPENINGS")]
    openings: Option<String>,

    #[command(flatten)]
    seed: SeedArgs,

    /// Time control: seconds per player and game, or SECONDS+INCREMENT
    #[arg(long, value_name = "S+I", alias = "time", allow_hyphen_values = true)]
    tc: Option<Clock>,

    /// Time per move, in milliseconds
    #[arg(long, value_name = "MS", alias = "move-time", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=86_400_000))]
    movetime: Option<u64>,

    /// Stop as soon as a sequential test decides between an Elo difference of ELO0 and of ELO1
    #[arg(long, value_name = "ELO0,ELO1", allow_hyphen_values = true)]
    sprt: Option<SprtText>,

    /// Probability that the sequential test accepts ELO1 although ELO0 is true
    #[arg(long, value_name = "P", default_value_t = 0.05, value_parser = error_probability)]
    #[arg(allow_negative_numbers = true, requires = "sprt")]
    alpha: f64,

    /// Probability that the sequential test accepts ELO0 although ELO1 is true
    #[arg(long, value_name = "P", default_value_t = 0.05, value_parser = error_probability)]
    #[arg(allow_negative_numbers = true, requires = "sprt")]
    beta: f64,

    #[command(flatten)]
    threads: ThreadsArgs,

    /// File for the records of the games, one JSON object per line
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Overwrite the file of --out if it exists
    #[arg(long, requires = "out")]
    force: bool,

    /// File in which finished games are kept, and from which the match is resumed
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,

    /// Folder for logs of the input and output of other programs (ugi)
    #[arg(long, value_name = "DIR")]
    log_dir: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    setup: SetupArgs,

    // Last, because its heading would be that of the options after it.
    #[command(flatten)]
    fleet: FleetArgs,
}

#[derive(Clone, Copy)]
struct SprtText(Sprt);

impl FromStr for SprtText {
    type Err = String;

    fn from_str(text: &str) -> Result<SprtText, String> {
        let wrong = || "expected two Elo differences, such as 0,20".to_owned();
        let (elo0, elo1) = text.split_once(',').ok_or_else(wrong)?;
        let elo = |text: &str| text.trim().parse::<f64>().ok().filter(|elo| elo.abs() <= 2000.0);
        match (elo(elo0), elo(elo1)) {
            (Some(elo0), Some(elo1)) if elo0 < elo1 => Ok(SprtText(Sprt::new(elo0, elo1))),
            (Some(_), Some(_)) => Err("ELO0 must be smaller than ELO1".to_owned()),
            _ => Err(wrong()),
        }
    }
}

fn error_probability(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0001..0.5).contains(number));
    number.ok_or_else(|| "expected a probability from 0.0001 to 0.5".to_owned())
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let setup = args.setup.setup()?;
    let engines = match &args.log_dir {
        Some(folder) => {
            EnginePool::with_log_dir(folder).map_err(|error| Failure::unwritable(folder, &error))?
        }
        None => EnginePool::default(),
    };
    let players = [&args.first, &args.second].map(|player| player.clone().with_engines(&engines));
    for player in &players {
        // Before the openings are chosen, which takes a while.
        player.build(setup, 0)?.prepare(setup)?;
    }
    let pairs = args.games.div_ceil(2);
    let openings = openings(args, setup, pairs)?;
    let per_move = args.movetime.map(Duration::from_millis);
    let cancel = interrupt_flag()?;
    let planned = Match::new(setup, players.each_ref(), &openings)
        .with_pairs(pairs)
        .with_seed(args.seed.seed)
        .with_time(TimeControl { clock: args.tc, per_move })
        .with_sprt(args.sprt())
        .with_threads(args.threads.threads())
        .with_cancel(Arc::clone(&cancel));
    let (mut played, mut journal) = (Vec::new(), None);
    if let Some(path) = &args.journal {
        let opened = Journal::open(path, |game| {
            planned.check(&game).map_err(|error| error.to_string())?;
            played.push(game);
            Ok(())
        });
        journal = Some(opened.map_err(|error| match error {
            JournalError::File(error) => Failure::unwritable(path, &error),
            error => Failure::in_file(path, &error),
        })?);
    }
    let from_journal = played.len();
    let out = args.out.as_deref().map(|path| create_results(path, args.force));
    let mut out = out.transpose()?;
    let mut written = Ok(());
    let bar = progress::bar(2 * pairs, "{bar:10} {pos}/{len} games, {msg}, {eta} left");
    let start = Instant::now();
    let journal_start = journal.as_mut().map(Journal::length).transpose()?;
    let machines = args.fleet.machines(args.threads.threads(), log_above(&bar));
    let status = planned.resume_on(&machines, played, |event| {
        let MatchEvent::Pair { games, is_new, status } = event else {
            // The match starts over and repeats its games, so the files do, too.
            let mut empty = || -> io::Result<()> {
                if let Some(out) = &mut out {
                    out.set_len(0)?;
                    out.rewind()?;
                }
                if let (Some(journal), Some(length)) = (&mut journal, journal_start) {
                    journal.truncate(length)?;
                }
                Ok(())
            };
            if written.is_ok() {
                written = empty();
            }
            return;
        };
        let mut keep = || -> io::Result<()> {
            for (game, is_new) in games.iter().zip(is_new) {
                if let Some(out) = &mut out {
                    out.write_all(&record_line(game)?)?;
                }
                if let (Some(journal), true) = (&mut journal, is_new) {
                    journal.append(game)?;
                }
            }
            Ok(())
        };
        if written.is_ok() {
            written = keep();
            if written.is_err() {
                // Games that cannot be saved need not be played.
                cancel.store(true, Ordering::Relaxed);
            }
        }
        bar.set_position(status.games());
        let score = 100.0 * status.pairs.score().estimate;
        let elo = elo_number(status.pairs.elo().estimate);
        bar.set_message(format!("score {score:.1} %, Elo {elo}"));
    })?;
    bar.finish_and_clear();
    written?;
    let is_interrupted = cancel.load(Ordering::Relaxed);
    let used = (status.pairs.pairs() as usize).min(openings.len());
    let time = start.elapsed();
    let report = Report { args, status, openings: used, from_journal, is_interrupted, time };
    let mut out = anstream::stdout().lock();
    if args.json {
        writeln!(out, "{}", report.json())?;
    } else {
        report.write(&mut out)?;
    }
    if is_interrupted { Err(Failure::Interrupted) } else { Ok(()) }
}

impl Args {
    fn sprt(&self) -> Option<Sprt> {
        let SprtText(sprt) = self.sprt?;
        Some(Sprt { alpha: self.alpha, beta: self.beta, ..sprt })
    }
}

fn openings(args: &Args, setup: Setup, pairs: u64) -> Result<Vec<Vec<Column>>, Failure> {
    let Some(text) = &args.openings else {
        return Ok(Openings::choose_default(setup, pairs as usize, args.seed.seed));
    };
    let openings = match fs::read_to_string(text) {
        Ok(content) => Openings::Given(read_openings(setup, &content)?),
        Err(_) => text.parse().map_err(|error| {
            Failure::Input(format!("{error}; '{text}' is not a readable file either"))
        })?,
    };
    Ok(openings.choose(setup, pairs as usize, args.seed.seed)?)
}

fn read_openings(setup: Setup, content: &str) -> Result<Vec<Vec<Column>>, Failure> {
    let mut openings = Vec::new();
    for (number, line) in (1..).zip(content.lines()) {
        let moves = line.split_whitespace().next().unwrap_or_default();
        let game =
            Game::parse(setup, moves).map_err(|error| Failure::from(error).in_line(number))?;
        if let Some(outcome) = game.position().outcome() {
            let finished = Failure::Input(format!("the game is over after '{moves}': {outcome}"));
            return Err(finished.in_line(number));
        }
        openings.push(game.moves().to_vec());
    }
    if openings.is_empty() {
        return Err(Failure::Input("the file has no openings".to_owned()));
    }
    Ok(openings)
}

fn record_line(game: &GameRecord) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(game)?;
    line.push(b'\n');
    Ok(line)
}

struct Report<'a> {
    args: &'a Args,
    status: MatchStatus,
    /// Openings from which games were played.
    openings: usize,
    /// Games that were played earlier.
    from_journal: usize,
    is_interrupted: bool,
    time: Duration,
}

impl Report<'_> {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let MatchStatus { results, first_mover, stats, pairs, .. } = &self.status;
        let (first, second) = (&self.args.first, &self.args.second);
        let games = self.status.games();
        let (played, openings) = (counted(games, "game"), counted(self.openings, "opening"));
        let uses = self.status.pairs.pairs().div_ceil(self.openings.max(1) as u64);
        let uses = match uses {
            ..2 => String::new(),
            uses => format!(" (up to {uses} pairs from each)"),
        };
        writeln!(out, "{first} vs {second}: {played} from {openings}{uses}")?;
        if self.is_interrupted {
            let hint = if self.args.journal.is_some() {
                " (the same command resumes the match)"
            } else {
                ""
            };
            let planned = 2 * self.args.games.div_ceil(2);
            writeln!(out, "  interrupted after {games} of {planned} games{hint}")?;
        }
        writeln!(out, "  {}", score_text(*results))?;
        let counts = pairs.counts.map(|count| count.to_string()).join("-");
        writeln!(out, "  pairs with 0, ½, 1, 1½, 2 points: {counts}")?;
        let Interval { low, estimate, high } = pairs.score().map(|score| 100.0 * score);
        writeln!(out, "  score {estimate:.1} % (95 % CI: {low:.1} to {high:.1})")?;
        let superiority = 100.0 * pairs.superiority();
        writeln!(out, "  Elo   {}, LOS {superiority:.1} %", elo_text(pairs.elo()))?;
        self.write_sprt(out)?;
        writeln!(out, "  first mover: {}", score_text(*first_mover))?;
        self.write_incidents(out)?;
        for (player, PlayerStats { moves, ms, nodes }) in [first, second].into_iter().zip(stats) {
            let each = |sum: f64| sum / (*moves).max(1) as f64;
            writeln!(
                out,
                "  {player}: {:.3} ms and {} per move, {:.2} ms per game",
                each(*ms),
                counted((nodes + moves / 2) / (*moves).max(1), "node"),
                ms / games.max(1) as f64
            )?;
        }
        let seconds = self.time.as_secs_f64();
        let new = games.saturating_sub(self.from_journal as u64);
        let kept = match self.from_journal {
            0 => String::new(),
            count => format!(", {} from the journal", counted(count, "game")),
        };
        writeln!(out, "{seconds:.1} s, {:.1} games/s{kept}", new as f64 / seconds)
    }

    fn write_sprt(&self, out: &mut impl Write) -> io::Result<()> {
        let Some(sprt) = self.args.sprt() else { return Ok(()) };
        let Sprt { elo0, elo1, alpha, beta } = sprt;
        let [lower, upper] = sprt.bounds();
        let llr = sprt.llr(&self.status.pairs);
        let decision = match self.status.sprt {
            Some(SprtOutcome::Accepted) => format!("H1 accepted (Elo {elo1})"),
            Some(SprtOutcome::Rejected) => format!("H0 accepted (Elo {elo0})"),
            None => format!("undecided between H0 (Elo {elo0}) and H1 (Elo {elo1})"),
        };
        writeln!(
            out,
            "  SPRT: LLR {llr:.2} (bounds {lower:.2} and {upper:.2}, alpha {alpha}, beta {beta}): \
             {decision}"
        )
    }

    /// Forfeits, losses on time and repeated games.
    fn write_incidents(&self, out: &mut impl Write) -> io::Result<()> {
        let MatchStatus { lost_on_time, forfeited, first_forfeit, repeated, .. } = &self.status;
        for (side, player) in [&self.args.first, &self.args.second].into_iter().enumerate() {
            if let Some((game, reason)) = &first_forfeit[side] {
                let count = counted(forfeited[side], "game");
                writeln!(out, "  {player} forfeited {count}; game {game}: {reason}")?;
            }
            if lost_on_time[side] > 0 {
                let count = counted(lost_on_time[side], "game");
                writeln!(out, "  {player} lost {count} on time")?;
            }
        }
        if *repeated > 0 {
            let verb = if *repeated == 1 { "repeats" } else { "repeat" };
            let games = counted(*repeated, "game");
            writeln!(
                out,
                "  {games} {verb} an earlier one move for move: the intervals are too narrow"
            )?;
        }
        Ok(())
    }

    fn json(&self) -> serde_json::Value {
        let MatchStatus { results, first_mover, stats, pairs, .. } = &self.status;
        let interval = |Interval { low, estimate, high }: Interval| {
            // JSON has no infinity: null.
            let number = |number: f64| number.is_finite().then_some(number);
            json!({ "low": number(low), "estimate": number(estimate), "high": number(high) })
        };
        let stats = stats.map(
            |PlayerStats { moves, ms, nodes }| json!({ "moves": moves, "ms": ms, "nodes": nodes }),
        );
        let sprt = self.args.sprt().map(|sprt| {
            let outcome = self.status.sprt;
            json!({
                "elo0": sprt.elo0, "elo1": sprt.elo1, "alpha": sprt.alpha, "beta": sprt.beta,
                "llr": sprt.llr(pairs), "bounds": sprt.bounds(),
                "outcome": outcome.map_or("undecided".to_owned(), |outcome| outcome.to_string()),
            })
        });
        let forfeit = |forfeit: &Option<(String, String)>| {
            forfeit.as_ref().map(|(game, reason)| json!({ "game": game, "reason": reason }))
        };
        json!({
            "players": [self.args.first.to_string(), self.args.second.to_string()],
            "seed": self.args.seed.seed, "games": self.status.games(), "openings": self.openings,
            "won": results.wins, "drawn": results.draws, "lost": results.losses,
            "pairs": pairs.counts,
            "score": interval(pairs.score()), "elo": interval(pairs.elo()),
            "los": pairs.superiority(), "first_mover": [first_mover.wins, first_mover.draws, first_mover.losses],
            "stats": stats,
            "forfeited": self.status.forfeited,
            "first_forfeit": self.status.first_forfeit.each_ref().map(forfeit),
            "lost_on_time": self.status.lost_on_time, "repeated": self.status.repeated,
            "interrupted": self.is_interrupted, "from_journal": self.from_journal,
            "sprt": sprt, "seconds": self.time.as_secs_f64(),
        })
    }
}

fn score_text(MatchScore { wins, draws, losses }: MatchScore) -> String {
    format!("won {wins}, drawn {draws}, lost {losses}")
}

/// An Elo difference with its confidence interval: `+35 (95 % CI: +12 to +60)`.
fn elo_text(elo: Interval) -> String {
    let Interval { low, estimate, high } = elo;
    format!("{} (95 % CI: {} to {})", elo_number(estimate), elo_number(low), elo_number(high))
}

fn elo_number(elo: f64) -> String {
    match elo {
        f64::INFINITY => "+∞".to_owned(),
        f64::NEG_INFINITY => "-∞".to_owned(),
        _ => signed(elo),
    }
}
