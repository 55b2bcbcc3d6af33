//! `claimeven show`: draws a position or converts it to another notation.

use std::io::{self, Read, Write};

use claimeven_game::{Column, Game, Outcome, Player, Position, Ruleset, Setup};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Failure;
use crate::draw::Drawing;
use crate::output::print_json;
use crate::setup::SetupArgs;
use crate::text::in_words;

/// Draw a position, or convert it to another notation
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    claimeven show 4453\n  \
    claimeven show 1122334 --json\n  \
    claimeven show 4453 --as kaggle\n  \
    claimeven show 4453 --as svg > board.svg\n  \
    claimeven show --from openspiel - < state.txt")]
pub(crate) struct Args {
    /// Position: moves such as 4453, or the notation of --from; - for standard input
    #[arg(value_name = "POS", default_value = "", hide_default_value = true)]
    position: String,

    /// Notation of POS
    #[arg(long, value_name = "NOTATION", default_value = "moves")]
    from: Source,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "board")]
    r#as: Format,

    /// Print JSON: board, side to move, legal columns, result and keys
    #[arg(long, conflicts_with = "as")]
    json: bool,

    #[command(flatten)]
    setup: SetupArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum Source {
    /// Columns played: 1-9, then a-z
    Moves,
    /// Rows of '.', 'X' and 'O', top row first
    Picture,
    /// List of 0, 1 and 2 of a Kaggle ConnectX observation, or the observation itself
    Kaggle,
    /// Text of an OpenSpiel connect_four state
    Openspiel,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// Drawing with column numbers and the side to move
    Board,
    /// Rows of '.', 'X' and 'O', top row first
    Picture,
    /// List of 0, 1 and 2 of a Kaggle ConnectX observation
    Kaggle,
    /// Text of an OpenSpiel connect_four state
    Openspiel,
    /// SVG image
    Svg,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let setup = args.setup.setup()?;
    let text = if args.position == "-" { read_input()? } else { args.position.clone() };
    let (position, game) = match args.from {
        Source::Moves => {
            let game = Game::parse(setup, text.trim())?;
            (*game.position(), Some(game))
        }
        Source::Picture => (Position::from_picture(setup, &text)?, None),
        Source::Openspiel => (Position::from_openspiel(setup, &text)?, None),
        Source::Kaggle => (from_kaggle(setup, &text)?, None),
    };
    let last_move = game.as_ref().and_then(|game| game.moves().last().copied());

    let mut out = anstream::stdout().lock();
    if args.json {
        let report = Report::new(&position, game.as_ref());
        return print_json(&report);
    }
    match args.r#as {
        Format::Board => {
            writeln!(out, "{}", Drawing { position: &position, last_move })?;
            writeln!(out, "{}", status(&position))?;
        }
        Format::Picture => writeln!(out, "{position}")?,
        Format::Kaggle => writeln!(out, "{}", serde_json::to_string(&position.to_kaggle())?)?,
        Format::Openspiel => write!(out, "{}", position.to_openspiel())?,
        Format::Svg => writeln!(out, "{}", claimeven_arena::svg::board(&position))?,
    }
    Ok(())
}

/// The side to move or the result, the ply, and the points if the ruleset counts them.
pub(crate) fn status(position: &Position) -> String {
    let names = Player::BOTH.map(|player| player.to_string());
    let status = format!("{}, ply {}", state(position, &names), position.ply());
    if position.setup().ruleset() != Ruleset::Lines {
        return status;
    }
    let [first, second] = position.scores();
    format!("{status}, points: X {first}, O {second}")
}

/// The side to move or the result, with these names for the players.
pub(crate) fn state(position: &Position, names: &[String; 2]) -> String {
    let setup = position.setup();
    let Some(outcome) = position.outcome() else {
        return format!("{} to move", names[position.player().index()]);
    };
    match (outcome.winner(), setup.ruleset()) {
        (None, _) => "draw".to_owned(),
        (Some(winner), Ruleset::Standard) => {
            let connect = in_words(setup.connect());
            format!("{} wins: {connect} in a row", names[winner.index()])
        }
        (Some(winner), Ruleset::Lines) => format!("{} wins on points", names[winner.index()]),
    }
}

fn read_input() -> io::Result<String> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    Ok(text)
}

/// The parts of a Kaggle observation that describe the position.
#[derive(Deserialize)]
#[serde(untagged)]
enum Kaggle {
    Board(Vec<Value>),
    Observation { board: Vec<Value>, mark: Option<Value> },
}

fn from_kaggle(setup: Setup, text: &str) -> Result<Position, Failure> {
    let (board, mark) = match serde_json::from_str(text) {
        Ok(Kaggle::Board(board)) => (board, None),
        Ok(Kaggle::Observation { board, mark }) => (board, mark),
        Err(_) => {
            let start: String = text.trim().chars().take(40).collect();
            return Err(Failure::Input(format!(
                "'{start}' is neither a list of numbers nor a Kaggle observation"
            )));
        }
    };
    let number = |(index, value): (usize, &Value)| {
        let number = value.as_u64().and_then(|number| u8::try_from(number).ok());
        number.ok_or_else(|| {
            Failure::Input(format!("invalid value {value} at index {index} (expected 0, 1 or 2)"))
        })
    };
    let board: Vec<u8> = board.iter().enumerate().map(number).collect::<Result<_, _>>()?;
    let position = Position::from_kaggle(setup, &board)?;
    let to_move = position.player().index() + 1;
    match mark {
        Some(mark) if mark != to_move => Err(Failure::Input(format!(
            "mark is {mark}, but by the number of discs it is {to_move}'s turn"
        ))),
        _ => Ok(position),
    }
}

#[derive(Serialize)]
struct Report {
    setup: Setup,
    /// Absent unless the position was given as moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    moves: Option<String>,
    ply: u32,
    /// Rows from the top.
    board: Vec<String>,
    /// 0 for X, 1 for O; null when the game is over.
    to_move: Option<usize>,
    /// 1-based columns.
    legal: Vec<u8>,
    finished: bool,
    winner: Option<usize>,
    /// [column, row], both 1-based, row 1 at the bottom.
    winning_cells: Vec<[u8; 2]>,
    /// Rows of four (or the connect length) of X and of O.
    scores: [u32; 2],
    /// Hexadecimal, because many JSON parsers keep only 53 bits of a number.
    key: String,
    canonical_key: String,
}

impl Report {
    fn new(position: &Position, game: Option<&Game>) -> Report {
        let outcome = position.outcome();
        let cells = position.winning_cells();
        Report {
            setup: position.setup(),
            moves: game.map(Game::move_text),
            ply: position.ply(),
            board: position.to_string().lines().map(str::to_owned).collect(),
            to_move: outcome.is_none().then(|| position.player().index()),
            legal: position.legal().map(Column::number).collect(),
            finished: outcome.is_some(),
            winner: outcome.and_then(Outcome::winner).map(Player::index),
            winning_cells: cells.iter().map(|cell| [cell.column.number(), cell.row + 1]).collect(),
            scores: position.scores(),
            key: format!("{:x}", position.key()),
            canonical_key: format!("{:x}", position.canonical_key()),
        }
    }
}
