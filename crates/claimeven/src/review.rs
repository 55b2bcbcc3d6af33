//! `claimeven review`: the moves of a recorded game, judged by exact scores.

use std::io::{self, Write};
use std::time::Duration;

use claimeven_arena::{GameRecord, PlayerReview, Review, ReviewOptions};
use claimeven_coach::{Coach, English, MoveExplanation, MoveView};
use claimeven_game::{Game, Player};
use serde::Serialize;

use crate::Failure;
use crate::explain::LevelName;
use crate::output::print_json;
use crate::play::app::{App, Screen};
use crate::play::look::Look;
use crate::play::session::GameSession;
use crate::play::{is_screen, move_text, terminal};
use crate::records::{RecordsArgs, pick};
use crate::text::{counted, wrapped};

/// Review a recorded game: judge its moves by exact scores
#[derive(clap::Args)]
#[command(after_help = "\
A blunder (??) turns a win or a draw into a loss, a mistake (?) turns a win into a draw, and !\n\
marks the only move that keeps the result; each blunder and mistake is explained. Accuracy is the\n\
share of points that a player kept of those that could have been lost (a win is worth 2, a draw 1).\n\n\
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

    /// Level of the explanations
    #[arg(long, value_name = "LEVEL", default_value = "beginner")]
    level: LevelName,

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
    explanations: Vec<ExplainedMove>,
    summary: String,
}

/// An explained move as JSON.
#[derive(Serialize)]
struct ExplainedMove {
    /// The number of the move, from 1.
    ply: usize,
    #[serde(flatten)]
    explanation: MoveView,
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
    let explained = explain_errors(session.game(), &review);
    let english = English::default();
    let mut out = anstream::stdout().lock();
    let [first, second] = by_turn(&record);
    if args.json {
        let moves = session.game().move_text();
        let summary = game_summary(&explained, &english);
        let view = |(ply, played): &(usize, MoveExplanation)| ExplainedMove {
            ply: *ply,
            explanation: MoveView::new(played, &english),
        };
        let explanations = explained.iter().map(view).collect();
        let players = [first, second];
        let report = Report { id: &record.id, players, moves, review, explanations, summary };
        return print_json(&report);
    }
    writeln!(out, "Game {}, {}: X is {first}, O is {second}", record.id, session.setup())?;
    let text = |ply: usize| {
        let played = explained.iter().find(|(explained, _)| *explained == ply);
        played.map(|(_, played)| english.played(played, args.level.level()))
    };
    write_review(&mut out, &review, text)?;
    writeln!(out, "{}", game_summary(&explained, &english))?;
    Ok(())
}

/// Explains the mistakes and blunders of a game, with the numbers of the moves; none if the coach
/// does not support the rules.
fn explain_errors(game: &Game, review: &Review) -> Vec<(usize, MoveExplanation)> {
    let setup = game.position().setup();
    if Coach::check(setup).is_err()
        || review.moves.iter().all(|played| !played.judgement.is_error())
    {
        return Vec::new();
    }
    let mut coach = Coach::new();
    let mut explained = Vec::new();
    let mut replayed = Game::new(setup);
    for ((ply, &column), reviewed) in (1..).zip(game.moves()).zip(&review.moves) {
        if reviewed.judgement.is_error()
            && let Ok(played) = coach.explain_move(replayed.position(), column)
        {
            explained.push((ply, played));
        }
        if replayed.play(column).is_err() {
            break;
        }
    }
    explained
}

/// What decided the game, in one line.
fn game_summary(explained: &[(usize, MoveExplanation)], english: &English) -> String {
    let Some((ply, played)) = explained.last() else {
        return "Nobody gave away a win or a draw.".to_owned();
    };
    let mover = &english.names[played.position.player().index()];
    let was = if played.score.sign() > 0 { "winning" } else { "holding a draw" };
    let now = match played.after.winner() {
        None => "it was a draw".to_owned(),
        Some(winner) => format!(
            "{} could win by {}",
            english.names[winner.index()],
            english.theme(&played.after.reason)
        ),
    };
    format!("{mover} was {was} before move {ply}; after it, {now}.")
}

/// The names of the players, X first.
fn by_turn(record: &GameRecord) -> [&str; 2] {
    [0, 1].map(|turn| record.players[record.mover(turn)].name.as_str())
}

/// A review as text, with explanations of single moves.
pub(crate) fn write_review(
    out: &mut impl Write,
    review: &Review,
    explanation: impl Fn(usize) -> Option<String>,
) -> io::Result<()> {
    for (ply, reviewed) in (1..).zip(&review.moves) {
        let sign = reviewed.judgement.sign();
        let player = Player::BOTH[(ply - 1) % 2].to_string();
        let text = move_text(reviewed, ply, &player);
        writeln!(out, "{}", format!("{sign:>2} {text}").trim_end())?;
        for line in wrapped(&explanation(ply).unwrap_or_default(), 72) {
            writeln!(out, "     {line}")?;
        }
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
