//! `claimeven analyze`: what every move of a position is worth.

use std::io::Write;
use std::time::Instant;

use anstyle::{AnsiColor, Style};
use claimeven_game::{Column, Game, Position};
use claimeven_solver::Score;
use serde::Serialize;

use crate::Failure;
use crate::draw::Drawing;
use crate::setup::{SetupArgs, SetupJson};
use crate::show::status;
use crate::solver::SolverArgs;

/// Show what every move is worth and how best play goes on
#[derive(clap::Args)]
#[command(after_help = "\
Under each column: W wins, L loses, = draws, and with how many more discs of the winner.\n\n\
Examples:\n  \
    claimeven analyze 4453\n  \
    claimeven analyze 4453 --json\n  \
    claimeven analyze 21 --cols 5 --rows 5")]
pub(crate) struct Args {
    /// Moves such as 4453
    #[arg(value_name = "POS", default_value = "", hide_default_value = true)]
    position: String,

    /// Whose opinion; so far there is only the exact truth
    #[arg(long, value_name = "AGENT", default_value = "perfect")]
    #[arg(value_parser = ["perfect"], hide_possible_values = true)]
    agent: String,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    solver: SolverArgs,

    #[command(flatten)]
    setup: SetupArgs,
}

#[derive(Serialize)]
struct Report<'a> {
    setup: SetupJson,
    position: &'a str,
    agent: &'a str,
    score: i32,
    text: String,
    columns: Vec<ColumnReport>,
    line: String,
    nodes: u64,
    ms: f64,
}

#[derive(Serialize)]
struct ColumnReport {
    column: u8,
    score: i32,
    text: String,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let setup = args.setup.setup()?;
    let game = Game::parse(setup, &args.position)?;
    let position = game.position();
    let mut solver = args.solver.solver(args.solver.books(setup)?, args.solver.threads());
    let start = Instant::now();
    let score = solver.score(position)?;
    let columns = solver.scores(position)?;
    let line: String = solver.best_line(position)?.into_iter().map(Column::to_char).collect();
    let time = start.elapsed();

    let mut out = anstream::stdout().lock();
    if args.json {
        let columns = Column::all(setup).zip(columns).filter_map(|(column, score)| {
            let score = score?;
            let (column, text) = (column.number(), score.describe(position));
            Some(ColumnReport { column, score: score.value(), text })
        });
        let report = Report {
            setup: setup.into(),
            position: &args.position,
            agent: &args.agent,
            score: score.value(),
            text: score.describe(position),
            columns: columns.collect(),
            line,
            nodes: solver.nodes(),
            ms: (time.as_secs_f64() * 1e6).round() / 1e3,
        };
        writeln!(out, "{}", serde_json::to_string(&report)?)?;
        return Ok(());
    }

    let last_move = game.moves().last().copied();
    writeln!(out, "{}", Drawing { position, last_move })?;
    if position.outcome().is_some() {
        writeln!(out, "{}", status(position))?;
        return Ok(());
    }
    for label in [outcome_label, moves_label] {
        for score in &columns {
            let style = score.map_or(Style::new(), style);
            let label = score.map_or(String::new(), |score| label(score, position));
            write!(out, "{style}{label:>3}{style:#}")?;
        }
        writeln!(out)?;
    }
    writeln!(out, "{}, {}", status(position), score.describe(position))?;
    for (column, column_score) in Column::all(setup).zip(&columns) {
        let Some(column_score) = *column_score else { continue };
        let style = style(column_score);
        let text = column_score.describe(position);
        let best = if column_score == score { ", best" } else { "" };
        writeln!(out, "  {column}  {style}{text}{style:#}{best}")?;
    }
    writeln!(out, "best play: {line}")?;
    let millis = time.as_secs_f64() * 1e3;
    writeln!(out, "{} nodes, {millis:.1} ms", solver.nodes())?;
    Ok(())
}

fn outcome_label(score: Score, _: &Position) -> String {
    match score.sign() {
        1 => "W",
        0 => "=",
        _ => "L",
    }
    .to_owned()
}

fn moves_label(score: Score, position: &Position) -> String {
    score.moves_to_win(position).map_or(String::new(), |moves| moves.to_string())
}

fn style(score: Score) -> Style {
    let colour = match score.sign() {
        1 => AnsiColor::Green,
        0 => AnsiColor::Cyan,
        _ => AnsiColor::Red,
    };
    Style::new().fg_color(Some(colour.into()))
}
