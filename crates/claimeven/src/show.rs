//! `claimeven show`: draws a position and changes it from one notation to another.

use std::io::{self, Read, Write};

use claimeven_game::{Column, Game, Outcome, Player, Position, Ruleset, Setup};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Failure;
use crate::draw::{self, Drawing};
use crate::setup::{SetupArgs, SetupJson};

/// Draw a position, or write it for another program
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    claimeven show 4453\n  \
    claimeven show 1122334 --json\n  \
    claimeven show 4453 --as kaggle\n  \
    claimeven show 4453 --as svg > board.svg\n  \
    claimeven show --from openspiel - < state.txt")]
pub(crate) struct Args {
    /// The position: moves such as 4453 unless --from says otherwise; - reads standard input
    #[arg(value_name = "POS", default_value = "", hide_default_value = true)]
    position: String,

    /// How POS is written
    #[arg(long, value_name = "NOTATION", default_value = "moves")]
    from: Source,

    /// What to print
    #[arg(long, value_name = "FORMAT", default_value = "board")]
    r#as: Format,

    /// Print JSON with everything the rules say about the position
    #[arg(long, conflicts_with = "as")]
    json: bool,

    #[command(flatten)]
    setup: SetupArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum Source {
    /// Columns played, 1-9 and a-z
    Moves,
    /// Lines of '.', 'X' and 'O', top row first
    Picture,
    /// The list of 0, 1 and 2 of a Kaggle ConnectX observation, or the observation itself
    Kaggle,
    /// The text of an OpenSpiel connect_four state
    Openspiel,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// A drawing with the column names and whose turn it is
    Board,
    /// Lines of '.', 'X' and 'O', top row first
    Picture,
    /// The list of 0, 1 and 2 of a Kaggle ConnectX observation
    Kaggle,
    /// The text of an OpenSpiel connect_four state
    Openspiel,
    /// A picture file
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
        writeln!(out, "{}", serde_json::to_string(&report)?)?;
        return Ok(());
    }
    match args.r#as {
        Format::Board => {
            writeln!(out, "{}", Drawing { position: &position, last_move })?;
            writeln!(out, "{}", status(&position))?;
        }
        Format::Picture => writeln!(out, "{position}")?,
        Format::Kaggle => writeln!(out, "{}", serde_json::to_string(&position.to_kaggle())?)?,
        Format::Openspiel => write!(out, "{}", position.to_openspiel())?,
        Format::Svg => writeln!(out, "{}", draw::svg(&position))?,
    }
    Ok(())
}

/// Whose turn it is, or how the game ended, and the points where they count.
pub(crate) fn status(position: &Position) -> String {
    let ply = position.ply();
    let state = match position.outcome() {
        None => format!("{} to move, ply {ply}", position.player()),
        Some(outcome) => format!("{outcome} on ply {ply}"),
    };
    let [first, second] = position.scores();
    match position.setup().ruleset() {
        Ruleset::Standard => state,
        Ruleset::Lines => format!("{state}, lines: X {first}, O {second}"),
    }
}

fn read_input() -> io::Result<String> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    Ok(text)
}

/// What Kaggle hands to an agent, as far as it says something of the position.
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
                "{start:?} is neither a list of numbers nor a Kaggle observation"
            )));
        }
    };
    let number = |(index, value): (usize, &Value)| {
        let number = value.as_u64().and_then(|number| u8::try_from(number).ok());
        number.ok_or_else(|| {
            Failure::Input(format!("value {value} at index {index} (from 0) is none of 0, 1 and 2"))
        })
    };
    let board: Vec<u8> = board.iter().enumerate().map(number).collect::<Result<_, _>>()?;
    let position = Position::from_kaggle(setup, &board)?;
    let to_move = position.player().index() + 1;
    match mark {
        Some(mark) if mark != to_move => Err(Failure::Input(format!(
            "mark {mark} is to move, but by the discs it is {to_move}'s turn"
        ))),
        _ => Ok(position),
    }
}

#[derive(Serialize)]
struct Report {
    setup: SetupJson,
    /// Move text; absent where the position was not given as moves.
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
    /// Lines of X and of O.
    scores: [u32; 2],
    /// Hexadecimal, because JSON numbers end at 53 bits.
    key: String,
    canonical_key: String,
}

impl Report {
    fn new(position: &Position, game: Option<&Game>) -> Report {
        let outcome = position.outcome();
        let cells = position.winning_cells();
        Report {
            setup: position.setup().into(),
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
