//! `claimeven review`: the moves of a recorded game, judged by exact scores.

use std::io::{self, Write};
use std::time::Duration;

use claimeven_arena::{GameRecord, PlayerReview, Review, ReviewOptions};
use claimeven_game::Player;
use serde::Serialize;

use crate::Failure;
use crate::output::print_json;
use crate::play::app::{App, Screen};
use crate::play::look::Look;
use crate::play::session::GameSession;
use crate::play::{is_screen, move_text, terminal};
use crate::records::{RecordsArgs, pick};
use crate::text::counted;

/// Review a recorded game: judge its moves by exact scores
#[derive(clap::Args)]
#[command(after_help = "\
A blunder (??) turns a win or a draw into a loss, a mistake (?) turns a win into a draw, and !\n\
marks the only move that keeps the result. Accuracy is the share of points that a player kept\n\
(a win is worth 2, a draw 1), of those that could have been lost.\n\n\
Examples:\n  \
    claimeven review games.jsonl\n  \
    claimeven review games.jsonl --game 3 --plain\n  \
    tail -n 1 games.jsonl | claimeven review - --json")]
pub(crate) struct Args {
    #[command(flatten)]
    records: RecordsArgs,

    /// Game to review: its id, or its number in the file [default: the last one]
    #[arg(long, value_name = "ID")]
    game: Option<String>,

    /// Print text instead of opening the terminal application (the default in a pipe)
    #[arg(long)]
    plain: bool,

    /// Print JSON, with the exact score of every move
    #[arg(long)]
    json: bool,

    /// Draw with ASCII characters only (the default if the locale is not UTF-8)
    #[arg(long)]
    ascii: bool,

    /// Time limit per position, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 3000, allow_negative_numbers = true)]
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
    let session = GameSession::of_record(&record)?;
    let is_text = args.plain || args.json || args.records.is_standard_input() || !is_screen();
    if !is_text {
        return terminal::run(App::new(session, Screen::Review(0)), Look::of_terminal(args.ascii));
    }
    let time_per_position = Some(Duration::from_millis(args.time));
    let options = ReviewOptions { time_per_position, ..ReviewOptions::default() };
    let review = Review::of(session.game(), &options);
    let mut out = anstream::stdout().lock();
    let [first, second] = by_turn(&record);
    if args.json {
        let moves = session.game().move_text();
        let report = Report { id: &record.id, players: [first, second], moves, review };
        return print_json(&report);
    }
    writeln!(out, "Game {}, {}: X is {first}, O is {second}", record.id, session.setup())?;
    write_review(&mut out, &review)?;
    Ok(())
}

/// The names of the players, X first.
fn by_turn(record: &GameRecord) -> [&str; 2] {
    [0, 1].map(|turn| record.players[record.mover(turn)].name.as_str())
}

/// A review as text.
pub(crate) fn write_review(out: &mut impl Write, review: &Review) -> io::Result<()> {
    for (ply, reviewed) in (1..).zip(&review.moves) {
        let sign = reviewed.judgement.sign();
        let player = Player::BOTH[(ply - 1) % 2].to_string();
        let text = move_text(reviewed, ply, &player);
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
        None => "no accuracy (no result could be given away)".to_owned(),
    };
    let PlayerReview { moves, judged, blunders, mistakes, only_moves, .. } = *review;
    let unknown = match moves - judged {
        0 => String::new(),
        unknown => format!(", {unknown} not judged"),
    };
    let counts = [(moves, "move"), (blunders, "blunder"), (mistakes, "mistake")];
    let counts = counts.map(|(count, noun)| counted(count, noun)).join(", ");
    format!("{accuracy}, {counts}, {}{unknown}", counted(only_moves, "only move"))
}
