//! `claimeven explain`: why a position is won, lost or drawn, and what a move does.

use std::io::Write;

use claimeven_arena::svg::board_with_marks;
use claimeven_coach::{Coach, English, Explanation, ExplanationView, Mark, MoveView, TextLevel};
use claimeven_game::{Cell, Column, Game, Position};
use clap::ValueEnum;
use serde::Serialize;

use crate::Failure;
use crate::draw::Drawing;
use crate::output::print_json;
use crate::setup::SetupArgs;
use crate::show::status;
use crate::text::wrapped;

/// Explain why a position is won, lost or drawn, or what a move does
#[derive(clap::Args)]
#[command(after_help = "\
Follows best play until the result has a reason that needs no search: a four that cannot be\n\
blocked, a forced sequence, zugzwang, or a strategy that answers every move. If there is none\n\
within 12 moves, it says so.\n\n\
Examples:\n  \
    claimeven explain 444355\n  \
    claimeven explain 444355 --move 2\n  \
    claimeven explain 6765211577 --level player\n  \
    claimeven explain 6765211577 --svg > why.svg\n  \
    claimeven explain 444355 --json")]
pub(crate) struct Args {
    /// Moves such as 4453; '' is the empty board
    #[arg(value_name = "POS")]
    position: String,

    /// Explain what playing in this column does
    #[arg(long = "move", value_name = "COLUMN")]
    played: Option<Column>,

    /// Level of the text
    #[arg(long, value_name = "LEVEL", default_value = "beginner")]
    level: LevelName,

    /// Print JSON: reason, cells, moves, marks and texts
    #[arg(long)]
    json: bool,

    /// Print an SVG image of the board with the reason drawn on it
    #[arg(long, conflicts_with = "json")]
    svg: bool,

    #[command(flatten)]
    setup: SetupArgs,
}

/// The readers for whom explanations are worded.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum LevelName {
    /// Plain words
    Beginner,
    /// Threat, zugzwang, odd and even, claimeven
    Player,
}

impl LevelName {
    pub(crate) fn level(self) -> TextLevel {
        match self {
            LevelName::Beginner => TextLevel::Beginner,
            LevelName::Player => TextLevel::Player,
        }
    }
}

#[derive(Serialize)]
struct Report<T> {
    position: String,
    #[serde(flatten)]
    explanation: T,
}

/// The width of the text.
const COLUMNS: usize = 80;

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let setup = args.setup.setup()?;
    Coach::check(setup)?;
    let game = Game::parse(setup, &args.position)?;
    let level = args.level.level();
    let english = English::default();
    let mut coach = Coach::new();
    let position = game.position();
    let moves = game.move_text();
    let Some(column) = args.played else {
        let explanation = coach.explain(position)?;
        if args.json {
            let explanation = ExplanationView::new(&explanation, &english);
            return print_json(&Report { position: moves, explanation });
        }
        let text = english.explanation(&explanation, level);
        return show(args, position, game.moves().last().copied(), &explanation, &text);
    };
    let mut after = *position;
    after.play(column).map_err(|error| {
        Failure::Input(format!("invalid value '{column}' for '--move <COLUMN>': {error}"))
    })?;
    let played = coach.explain_move(position, column)?;
    if args.json {
        let explanation = MoveView::new(&played, &english);
        return print_json(&Report { position: moves, explanation });
    }
    show(args, &after, Some(column), &played.after, &english.played(&played, level))
}

fn show(
    args: &Args,
    position: &Position,
    last_move: Option<Column>,
    explanation: &Explanation,
    text: &str,
) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    let lines = wrapped(text, if args.svg { 46 } else { COLUMNS });
    if args.svg {
        writeln!(out, "{}", board_with_marks(position, &explanation.marks(), &lines))?;
        return Ok(());
    }
    writeln!(out, "{}", Drawing { position, last_move })?;
    writeln!(out, "{}\n", status(position))?;
    for line in lines {
        writeln!(out, "{line}")?;
    }
    let marks = explanation.marks();
    if marks.iter().any(|mark| matches!(mark, Mark::Number { .. })) {
        write!(out, "\n{}", numbered(&explanation.end(), &marks))?;
    }
    Ok(())
}

/// A board with the numbers of a diagram in its empty cells.
fn numbered(position: &Position, marks: &[Mark]) -> String {
    let setup = position.setup();
    let at = |cell: Cell| match position.disc(cell) {
        Some(player) => player.to_string(),
        None => marks
            .iter()
            .find_map(|mark| match mark {
                Mark::Number { cell: numbered, number } if *numbered == cell => Some(number),
                _ => None,
            })
            .map_or_else(|| ".".to_owned(), ToString::to_string),
    };
    let row = |row: u8| {
        let columns = (0..usize::from(setup.cols())).filter_map(Column::from_index);
        let cells: Vec<String> =
            columns.map(|column| format!("{:>3}", at(Cell { column, row }))).collect();
        format!("|{} |\n", cells.concat())
    };
    (0..setup.rows()).rev().map(row).collect()
}
