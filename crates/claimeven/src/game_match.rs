//! `claimeven match`: many games between two players.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::{Duration, Instant};

use claimeven_arena::{
    AgentSpec, Clock, GameRecord, Interval, Match, MatchStatus, Openings, PlayerStats, Sprt,
    SprtOutcome, TimeControl,
};
use claimeven_game::{Column, Game, Setup};
use serde_json::json;

use crate::Failure;
use crate::options::{SeedArgs, ThreadsArgs};
use crate::output::create_file;
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
Examples:\n  \
    claimeven match alphabeta:depth=6 mcts:sims=5000\n  \
    claimeven match level:5 level:4 --games 400 --out games.jsonl\n  \
    claimeven match timed mcts --time 10+0.1 --games 20\n  \
    claimeven match alphabeta:depth=5 alphabeta:depth=4 --sprt 0,50"
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
    #[arg(long, value_name = "S+I")]
    time: Option<Clock>,

    /// Time limit per move, in milliseconds
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=86_400_000))]
    move_time: Option<u64>,

    /// Stop as soon as a sequential test decides between an Elo difference of ELO0 and of ELO1
    #[arg(long, value_name = "ELO0,ELO1", allow_hyphen_values = true)]
    sprt: Option<SprtText>,

    #[command(flatten)]
    threads: ThreadsArgs,

    /// File for the records of the games, one JSON object per line
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    setup: SetupArgs,
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
            (Some(elo0), Some(elo1)) if elo0 < elo1 => Ok(SprtText(Sprt { elo0, elo1 })),
            (Some(_), Some(_)) => Err("ELO0 must be smaller than ELO1".to_owned()),
            _ => Err(wrong()),
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let setup = args.setup.setup()?;
    for player in [&args.first, &args.second] {
        player.build(setup, 0)?;
    }
    let pairs = args.games.div_ceil(2);
    let openings = openings(args, setup, pairs)?;
    let per_move = args.move_time.map(Duration::from_millis);
    let planned = Match::new(setup, [&args.first, &args.second], &openings)
        .with_pairs(pairs)
        .with_seed(args.seed.seed)
        .with_time(TimeControl { clock: args.time, per_move })
        .with_sprt(args.sprt.map(|SprtText(sprt)| sprt))
        .with_threads(args.threads.threads());
    let mut records = args.out.as_deref().map(create_file).transpose()?.map(BufWriter::new);
    let mut written = Ok(());
    let bar = progress::bar(2 * pairs, "{bar:15} {pos}/{len} games, {msg}, {eta} left");
    let start = Instant::now();
    let status = planned.run(|games, status| {
        if let (Some(records), Ok(())) = (&mut records, &written) {
            written = games.iter().try_for_each(|game| write_record(records, game));
        }
        bar.set_position(status.games());
        let score = 100.0 * status.pairs.score().middle;
        let elo = elo_number(status.pairs.elo().middle);
        bar.set_message(format!("score {score:.1} %, Elo {elo}"));
    })?;
    bar.finish_and_clear();
    written?;
    if let Some(mut records) = records {
        records.flush()?;
    }
    let report = Report { args, status, openings: openings.len(), time: start.elapsed() };
    let mut out = anstream::stdout().lock();
    if args.json {
        writeln!(out, "{}", report.json())?;
    } else {
        report.write(&mut out)?;
    }
    Ok(())
}

fn openings(args: &Args, setup: Setup, pairs: u64) -> Result<Vec<Vec<Column>>, Failure> {
    let Some(text) = &args.openings else {
        return Ok(Openings::choose_default(setup, pairs as usize, args.seed.seed));
    };
    let openings = match fs::read_to_string(text) {
        Ok(content) => Openings::Given(read_openings(setup, &content)?),
        Err(_) => {
            text.parse().map_err(|error| Failure::Input(format!("{error}, nor a readable file")))?
        }
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

fn write_record(records: &mut impl Write, game: &GameRecord) -> io::Result<()> {
    writeln!(records, "{}", serde_json::to_string(game)?)
}

struct Report<'a> {
    args: &'a Args,
    status: MatchStatus,
    openings: usize,
    time: Duration,
}

impl Report<'_> {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let MatchStatus { results: [won, drawn, lost], first_mover, stats, pairs, sprt } =
            &self.status;
        let (first, second) = (&self.args.first, &self.args.second);
        let games = self.status.games();
        let (played, openings) = (counted(games, "game"), counted(self.openings, "opening"));
        writeln!(out, "{first} vs {second}: {played} from {openings}")?;
        writeln!(out, "  won {won}, drawn {drawn}, lost {lost}")?;
        let Interval { low, middle, high } = pairs.score().map(|score| 100.0 * score);
        writeln!(out, "  score {middle:.1} % (95 % CI: {low:.1} to {high:.1})")?;
        writeln!(out, "  Elo   {}", elo_text(pairs.elo()))?;
        let [won, drawn, lost] = first_mover;
        writeln!(out, "  first mover: won {won}, drawn {drawn}, lost {lost}")?;
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
        if let Some(SprtText(Sprt { elo0, elo1 })) = self.args.sprt {
            let decision = match sprt {
                Some(SprtOutcome::Accepted) => format!("H1 accepted (Elo {elo1})"),
                Some(SprtOutcome::Rejected) => format!("H0 accepted (Elo {elo0})"),
                None => format!("undecided between H0 (Elo {elo0}) and H1 (Elo {elo1})"),
            };
            writeln!(out, "  SPRT: {decision}")?;
        }
        let seconds = self.time.as_secs_f64();
        writeln!(out, "{seconds:.1} s, {:.1} games/s", games as f64 / seconds)
    }

    fn json(&self) -> serde_json::Value {
        let MatchStatus { results: [won, drawn, lost], first_mover, stats, pairs, sprt } =
            &self.status;
        let interval = |Interval { low, middle, high }: Interval| {
            // JSON has no infinity: null.
            let number = |number: f64| number.is_finite().then_some(number);
            json!({ "low": number(low), "middle": number(middle), "high": number(high) })
        };
        let stats = stats.map(
            |PlayerStats { moves, ms, nodes }| json!({ "moves": moves, "ms": ms, "nodes": nodes }),
        );
        json!({
            "players": [self.args.first.to_string(), self.args.second.to_string()],
            "seed": self.args.seed.seed, "games": self.status.games(), "openings": self.openings,
            "won": won, "drawn": drawn, "lost": lost, "pairs": pairs.counts,
            "score": interval(pairs.score()), "elo": interval(pairs.elo()),
            "first_mover": first_mover, "stats": stats,
            "sprt": sprt.map(|outcome| outcome.to_string()),
            "seconds": self.time.as_secs_f64(),
        })
    }
}

/// An Elo difference with its confidence interval: `+35 (95 % CI: +12 to +60)`.
fn elo_text(elo: Interval) -> String {
    let Interval { low, middle, high } = elo;
    format!("{} (95 % CI: {} to {})", elo_number(middle), elo_number(low), elo_number(high))
}

fn elo_number(elo: f64) -> String {
    match elo {
        f64::INFINITY => "+∞".to_owned(),
        f64::NEG_INFINITY => "-∞".to_owned(),
        _ => signed(elo),
    }
}
