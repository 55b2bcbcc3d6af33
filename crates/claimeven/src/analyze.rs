//! `claimeven analyze`: a player's evaluation of a position.

use std::io::Write;

use anstyle::{AnsiColor, Style};
use claimeven_arena::AgentSpec;
use claimeven_game::{Column, Game, Position, Setup};
use claimeven_search::{BoundKind, ColumnValue, Decision, Limits, Value};
use serde::Serialize;

use crate::Failure;
use crate::draw::Drawing;
use crate::setup::SetupArgs;
use crate::show::status;
use crate::text::counted;

/// Evaluate the moves of a position, exactly or with any player
#[derive(clap::Args)]
#[command(after_help = "\
Below each column: W for a win, L for a loss, = for a draw, and the number of discs that the winner\n\
still has to play. Players that estimate give points or a probability of winning; <= and >= mark\n\
upper and lower bounds. In JSON, the score of a proven value is that of solve.\n\n\
Examples:\n  \
    claimeven analyze 4453\n  \
    claimeven analyze 4453 --agent alphabeta:depth=8,every=on\n  \
    claimeven analyze 4453 --agent mcts:sims=100000 --json\n  \
    claimeven analyze 21 --cols 5 --rows 5")]
pub(crate) struct Args {
    /// Moves such as 4453
    #[arg(value_name = "POS", default_value = "", hide_default_value = true)]
    position: String,

    /// Player that evaluates, such as perfect, alphabeta:depth=8 or mcts:sims=20000
    #[arg(long, value_name = "AGENT", default_value = "perfect")]
    agent: AgentSpec,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    setup: SetupArgs,
}

#[derive(Serialize)]
struct Report<'a> {
    setup: Setup,
    position: &'a str,
    agent: String,
    /// Absent if the game is over.
    #[serde(flatten)]
    decision: Option<DecisionJson>,
    status: String,
}

#[derive(Serialize)]
struct DecisionJson {
    column: u8,
    value: ValueJson,
    columns: Vec<ColumnJson>,
    pv: String,
    nodes: u64,
    leaves: u64,
    cutoffs: u64,
    table_hits: u64,
    simulations: u64,
    depth: u32,
    stopped: bool,
    ms: f64,
}

/// A value in JSON output.
#[derive(Serialize)]
pub(crate) struct ValueJson {
    kind: &'static str,
    number: f64,
    /// The score of a proven value, as `solve` prints it.
    score: Option<i32>,
    text: String,
}

#[derive(Serialize)]
struct ColumnJson {
    column: u8,
    value: ValueJson,
    bound: &'static str,
}

impl ValueJson {
    /// A value whose plies are counted from a position, for its side to move.
    pub(crate) fn new(value: Value, position: &Position) -> ValueJson {
        let score = value.score(position);
        ValueJson { kind: value.kind(), number: value.number(), score, text: value.to_string() }
    }
}

impl DecisionJson {
    fn new(decision: &Decision, position: &Position) -> DecisionJson {
        let json = |value| ValueJson::new(value, position);
        let columns = (1..).zip(&decision.columns).filter_map(|(column, known)| {
            let ColumnValue { value, bound } = (*known)?;
            Some(ColumnJson { column, value: json(value), bound: bound.name() })
        });
        DecisionJson {
            column: decision.column.number(),
            value: json(decision.value),
            columns: columns.collect(),
            pv: pv_text(decision),
            nodes: decision.stats.nodes,
            leaves: decision.stats.leaves,
            cutoffs: decision.stats.cutoffs,
            table_hits: decision.stats.table_hits,
            simulations: decision.stats.simulations,
            depth: decision.stats.depth,
            stopped: decision.stopped,
            ms: (decision.time.as_secs_f64() * 1e6).round() / 1e3,
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let setup = args.setup.setup()?;
    let game = Game::parse(setup, &args.position)?;
    let position = game.position();
    let mut agent = args.agent.build(setup, 0)?;
    let decision = match position.outcome() {
        Some(_) => None,
        None => Some(agent.decide(position, &Limits::default())?),
    };

    let mut out = anstream::stdout().lock();
    if args.json {
        let report = Report {
            setup,
            position: &args.position,
            agent: args.agent.to_string(),
            decision: decision.map(|decision| DecisionJson::new(&decision, position)),
            status: status(position),
        };
        writeln!(out, "{}", serde_json::to_string(&report)?)?;
        return Ok(());
    }

    let last_move = game.moves().last().copied();
    writeln!(out, "{}", Drawing { position, last_move })?;
    match decision {
        Some(decision) => write_decision(&mut out, position, &decision),
        None => Ok(writeln!(out, "{}", status(position))?),
    }
}

/// Writes a player's evaluation, to be shown below the drawing of the board.
pub(crate) fn write_decision(
    out: &mut impl Write,
    position: &Position,
    decision: &Decision,
) -> Result<(), Failure> {
    let is_proven = |known: &ColumnValue| label(known.value).is_some();
    let mut known = decision.columns.iter().flatten().peekable();
    if known.peek().is_some() && known.all(is_proven) {
        for part in [0, 1] {
            for known in &decision.columns {
                let style = known.map_or(Style::new(), |known| style(known.value));
                let labels = known.and_then(|known| label(known.value));
                let label = labels.map_or(String::new(), |labels| labels[part].clone());
                write!(out, "{style}{label:>3}{style:#}")?;
            }
            writeln!(out)?;
        }
    }
    writeln!(out, "{}, {}", status(position), decision.value)?;
    let best_value = decision.columns[decision.column.index()].map(|known| known.value);
    for (column, known) in Column::all(position.setup()).zip(&decision.columns) {
        let Some(ColumnValue { value, bound }) = *known else { continue };
        let style = style(value);
        let is_best = bound == BoundKind::Exact && Some(value) == best_value;
        let best = if is_best { ", best" } else { "" };
        let sign = match bound {
            BoundKind::Exact => "",
            BoundKind::Upper => "<= ",
            BoundKind::Lower => ">= ",
        };
        writeln!(out, "  {column}  {style}{sign}{value}{style:#}{best}")?;
    }
    writeln!(out, "best play: {}", pv_text(decision))?;
    let millis = decision.time.as_secs_f64() * 1e3;
    let early = if decision.stopped { ", stopped early by a limit" } else { "" };
    let nodes = counted(decision.stats.nodes, "node");
    writeln!(out, "{nodes}, {millis:.1} ms{early}")?;
    Ok(())
}

fn pv_text(decision: &Decision) -> String {
    decision.pv.iter().map(|column| column.to_char()).collect()
}

/// The exact result of a move as a letter and a number of discs.
fn label(value: Value) -> Option<[String; 2]> {
    match value {
        Value::Win(plies) => Some(["W".to_owned(), plies.div_ceil(2).to_string()]),
        Value::Loss(plies) => Some(["L".to_owned(), (plies / 2).to_string()]),
        Value::Draw => Some(["=".to_owned(), String::new()]),
        Value::Points(_) | Value::Expected(_) => None,
    }
}

pub(crate) fn style(value: Value) -> Style {
    let colour = match value {
        Value::Win(_) => AnsiColor::Green,
        Value::Loss(_) => AnsiColor::Red,
        _ => AnsiColor::Cyan,
    };
    Style::new().fg_color(Some(colour.into()))
}
