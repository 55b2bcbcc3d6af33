//! `claimeven review`: the moves of a recorded game judged by exact scores.

use std::io::{self, Write};
use std::time::Duration;

use claimeven_arena::{GameRecord, PlayerReview, Review, ReviewOptions};
use claimeven_game::Player;
use serde::Serialize;

use crate::Failure;
use crate::play::app::{App, Screen};
use crate::play::look::Look;
use crate::play::table::Table;
use crate::play::{is_screen, move_text, terminal};
use crate::records::{RecordsArgs, pick};

/// Judge the moves of a recorded game by exact scores
#[derive(clap::Args)]
#[command(after_help = "\
A move that gives a win or a draw away to a loss is a blunder (??), one that gives a win away to\n\
a draw a mistake (?), and the only move that keeps the result is marked with !. The accuracy is\n\
the share that a player kept of all that the moves could have given away.\n\n\
Examples:\n  \
    claimeven review games.jsonl\n  \
    claimeven review games.jsonl --game 3 --plain\n  \
    claimeven match level:3 level:4 --games 1 --out - | claimeven review - --json")]
pub(crate) struct Args {
    #[command(flatten)]
    records: RecordsArgs,

    /// The game: its id, or its number in the file from 1 [default: the last]
    #[arg(long, value_name = "ID")]
    game: Option<String>,

    /// As text, which is also how it is written to a pipe
    #[arg(long)]
    plain: bool,

    /// Print JSON with the exact score of every move
    #[arg(long)]
    json: bool,

    /// Draw with plain ASCII, as where the locale has no UTF-8
    #[arg(long)]
    ascii: bool,

    /// Most milliseconds for the moves of one position
    #[arg(long, value_name = "N", default_value_t = 3000)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    time: u64,
}

#[derive(Serialize)]
struct Report<'a> {
    id: &'a str,
    players: [&'a str; 2],
    moves: String,
    review: Review,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let record = pick(args.records.read()?, args.game.as_deref())?;
    let table = Table::of_record(&record)?;
    let is_text = args.plain || args.json || args.records.is_standard_input() || !is_screen();
    if !is_text {
        return terminal::run(App::new(table, Screen::Review(0)), Look::of_terminal(args.ascii));
    }
    let time_per_position = Some(Duration::from_millis(args.time));
    let options = ReviewOptions { time_per_position, ..ReviewOptions::default() };
    let review = Review::of(table.game(), &options);
    let mut out = anstream::stdout().lock();
    let [first, second] = by_turn(&record);
    if args.json {
        let moves = table.game().move_text();
        let report = Report { id: &record.id, players: [first, second], moves, review };
        writeln!(out, "{}", serde_json::to_string(&report)?)?;
        return Ok(());
    }
    writeln!(out, "game {}, {}: X is {first}, O is {second}", record.id, table.setup())?;
    write_review(&mut out, &review)?;
    Ok(())
}

/// The names of the players, whoever moved first before the other.
fn by_turn(record: &GameRecord) -> [&str; 2] {
    [0, 1].map(|turn| record.players[record.mover(turn)].name.as_str())
}

/// A review as text.
pub(crate) fn write_review(out: &mut impl Write, review: &Review) -> io::Result<()> {
    for (ply, reviewed) in (1..).zip(&review.moves) {
        let sign = reviewed.judgement.sign();
        let text = move_text(reviewed, ply);
        writeln!(out, "{}", format!("{sign:>2} {text}").trim_end())?;
    }
    for (player, judged) in Player::BOTH.into_iter().zip(&review.players) {
        writeln!(out, "{player}: {}", summary(judged))?;
    }
    Ok(())
}

fn summary(review: &PlayerReview) -> String {
    let accuracy = match review.accuracy {
        Some(share) => format!("accuracy {:.0} %", 100.0 * share),
        None => "nothing to give away".to_owned(),
    };
    let PlayerReview { moves, judged, blunders, mistakes, only_moves, .. } = *review;
    let unknown = match moves - judged {
        0 => String::new(),
        unknown => format!(", {unknown} unknown"),
    };
    let counts = [(moves, "move"), (blunders, "blunder"), (mistakes, "mistake")];
    let counts = counts.map(|(count, noun)| counted(count, noun)).join(", ");
    format!("{accuracy}, {counts}, {}{unknown}", counted(only_moves, "only move"))
}

/// A number of things: `1 blunder`, `2 blunders`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}
