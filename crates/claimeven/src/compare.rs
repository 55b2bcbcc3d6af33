//! `claimeven compare`: compares algorithms on the same positions.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use claimeven_arena::{AgentSpec, SpecError};
use claimeven_game::{Column, Position, Setup};
use claimeven_search::{Limits, SearchStats, Value};
use serde::Serialize;
use serde_json::json;

use crate::Failure;
use crate::plot::{Chart, Figure, Scale, Series, count_text, short_time_text, time_text};
use crate::progress;
use crate::setup::SetupArgs;
use crate::text::counted;

/// Compare the cost of searches on the same positions, by depth
#[derive(clap::Args)]
#[command(after_help = "\
Times, nodes, leaves, cut-offs and table hits are sums over the positions; each time is the minimum\n\
of --repeat runs. Speed-up and node ratio are relative to the first player at the same depth.\n\
Players without a depth are run once.\n\n\
Examples:\n  \
    claimeven compare\n  \
    claimeven compare --agents minimax,alphabeta:eval=sawwan,mtdf --depths 1..6\n  \
    claimeven compare --agents alphabeta,mtdf --depths 8,10,12 --positions 4453\n  \
    claimeven compare --positions games.txt --svg > compare.svg")]
pub(crate) struct Args {
    /// Players, separated by commas
    #[arg(long, value_name = "LIST", default_value = "minimax,alphabeta,mtdf,timed")]
    agents: AgentList,

    /// Depths, such as 1..8 or 2,4,6
    #[arg(long, value_name = "RANGE", default_value = "1..7")]
    depths: Depths,

    /// Moves such as 4453, or a file with moves at the start of each line [default: the empty board]
    #[arg(long, value_name = "POS|FILE", default_value = "", hide_default_value = true)]
    positions: String,

    /// Number of runs of each search, of which the fastest is reported
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,

    /// Print JSON
    #[arg(long, group = "format")]
    json: bool,

    /// Print CSV
    #[arg(long, group = "format")]
    csv: bool,

    /// Print a plot of times and nodes as SVG
    #[arg(long, group = "format")]
    svg: bool,

    #[command(flatten)]
    setup: SetupArgs,
}

/// Players separated by commas.
#[derive(Clone)]
struct AgentList(Vec<AgentSpec>);

impl FromStr for AgentList {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<AgentList, SpecError> {
        AgentSpec::parse_list(text).map(AgentList)
    }
}

#[derive(Clone)]
struct Depths(Vec<u32>);

impl FromStr for Depths {
    type Err = String;

    fn from_str(text: &str) -> Result<Depths, String> {
        let wrong = || "expected a range such as 1..8 or a list such as 2,4,6".to_owned();
        let depth = |text: &str| {
            let depth = text.trim().parse().map_err(|_| wrong())?;
            if (1..=128).contains(&depth) {
                Ok(depth)
            } else {
                Err(format!("{depth} is not in 1..=128"))
            }
        };
        let depths = match text.split_once("..") {
            Some((first, last)) => (depth(first)?..=depth(last.trim_start_matches('='))?).collect(),
            None => text.split(',').map(depth).collect::<Result<Vec<u32>, String>>()?,
        };
        if depths.is_empty() { Err(wrong()) } else { Ok(Depths(depths)) }
    }
}

/// The measurements of one player at one depth, over all positions.
struct Measured {
    agent: String,
    depth: Option<u32>,
    time: Duration,
    stats: SearchStats,
    /// Its move and value for each position.
    answers: Vec<(Column, Value)>,
    /// Relative to the first player at the same depth, by time and by nodes.
    speed_up: Option<[f64; 2]>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let setup = args.setup.setup()?;
    let positions = read_positions(&args.positions, setup)?;
    let measured = measure_all(args, setup, &positions)?;
    let mut out = anstream::stdout().lock();
    if args.json {
        let report = json!({
            "setup": setup,
            "positions": positions.iter().map(|(moves, _)| moves).collect::<Vec<_>>(),
            "results": measured.iter().map(|row| ResultJson::new(row, &positions)).collect::<Vec<_>>(),
        });
        writeln!(out, "{report}")?;
    } else if args.csv {
        write_csv(&mut out, &measured)?;
    } else if args.svg {
        write!(out, "{}", plot(setup, &positions, &measured))?;
    } else {
        write_table(&mut out, &measured)?;
    }
    Ok(())
}

/// The positions with their moves; none of them is a finished game.
fn read_positions(text: &str, setup: Setup) -> Result<Vec<(String, Position)>, Failure> {
    let path = Path::new(text);
    if !path.is_file() {
        let position = unfinished(setup, text).map_err(|failure| {
            let reason = failure.message();
            let expected = "expected moves or a file";
            Failure::Input(format!(
                "invalid value '{text}' for '--positions': {expected} ({reason})"
            ))
        })?;
        return Ok(vec![(text.to_owned(), position)]);
    }
    let content = fs::read_to_string(path).map_err(|error| Failure::in_file(path, &error))?;
    let mut positions = Vec::new();
    for (number, line) in (1..).zip(content.lines()) {
        // In the public test sets the moves are followed by a score.
        let moves = line.split_whitespace().next().unwrap_or_default();
        let position = unfinished(setup, moves).map_err(|failure| failure.in_line(number))?;
        positions.push((moves.to_owned(), position));
    }
    if positions.is_empty() {
        return Err(Failure::in_file(path, &"the file has no positions"));
    }
    Ok(positions)
}

fn unfinished(setup: Setup, moves: &str) -> Result<Position, Failure> {
    let position = Position::from_moves(setup, moves)?;
    match position.outcome() {
        Some(outcome) => Err(Failure::Input(format!("the game is over: {outcome}"))),
        None => Ok(position),
    }
}

fn measure_all(
    args: &Args,
    setup: Setup,
    positions: &[(String, Position)],
) -> Result<Vec<Measured>, Failure> {
    let runs = runs(args)?;
    let bar = progress::bar(
        runs.len() as u64 * positions.len() as u64,
        "{bar:20} {percent} %, {eta} left, {wide_msg}",
    );
    let mut all: Vec<Measured> = Vec::new();
    for (agent, depth, spec) in runs {
        bar.set_message(spec.to_string());
        let mut measured = Measured {
            agent,
            depth,
            time: Duration::ZERO,
            stats: SearchStats::default(),
            answers: Vec::new(),
            speed_up: None,
        };
        for (_, position) in positions {
            let mut min_time = Duration::MAX;
            for run in 0..args.repeat {
                let decision = spec.build(setup, 0)?.decide(position, &Limits::default())?;
                min_time = min_time.min(decision.time);
                if run == 0 {
                    measured.stats += decision.stats;
                    measured.answers.push((decision.column, decision.value));
                }
            }
            measured.time += min_time;
            bar.inc(1);
        }
        let first = all.iter().find(|first| depth.is_some() && first.depth == depth);
        measured.speed_up = first.map(|first| {
            let times = first.time.as_secs_f64() / measured.time.as_secs_f64().max(1e-9);
            [times, first.stats.nodes as f64 / measured.stats.nodes.max(1) as f64]
        });
        all.push(measured);
    }
    bar.finish_and_clear();
    Ok(all)
}

/// Each player at each depth: its name without the depth, the depth and the player.
fn runs(args: &Args) -> Result<Vec<(String, Option<u32>, AgentSpec)>, Failure> {
    let AgentList(agents) = &args.agents;
    let mut runs = Vec::new();
    for &depth in &args.depths.0 {
        for spec in agents.iter().filter(|spec| spec.has_parameter("depth")) {
            let at_depth = spec.with("depth", &depth.to_string())?;
            runs.push((spec.to_string(), Some(depth), at_depth));
        }
    }
    for spec in agents.iter().filter(|spec| !spec.has_parameter("depth")) {
        runs.push((spec.to_string(), None, spec.clone()));
    }
    Ok(runs)
}

fn write_table(out: &mut impl Write, measured: &[Measured]) -> io::Result<()> {
    let width = measured.iter().map(|row| row.agent.len()).max().unwrap_or(0).max(6);
    writeln!(
        out,
        "depth  {:<width$}  {:>9}  {:>11}  {:>11}  {:>10}  {:>10}  {:>8}  {:>10}  move  value",
        "player", "time", "nodes", "leaves", "cut-offs", "table hits", "speed-up", "node ratio"
    )?;
    let mut last_depth = None;
    for row in measured {
        if last_depth.is_some_and(|last| last != row.depth) {
            writeln!(out)?;
        }
        last_depth = Some(row.depth);
        let depth = row.depth.map_or("-".to_owned(), |depth| depth.to_string());
        let [speed, nodes] = row.speed_up.map_or([String::new(), String::new()], |factors| {
            factors.map(|factor| format!("{factor:.1}x"))
        });
        let SearchStats { nodes: visited, leaves, cutoffs, table_hits, .. } = row.stats;
        let (column, value) = row.answer_texts();
        writeln!(
            out,
            "{depth:>5}  {:<width$}  {:>9}  {visited:>11}  {leaves:>11}  {cutoffs:>10}  \
             {table_hits:>10}  {speed:>8}  {nodes:>10}  {column:>4}  {value}",
            row.agent,
            time_text(row.time.as_secs_f64()),
        )?;
    }
    Ok(())
}

impl Measured {
    /// The move and the value, if there is only one position.
    fn answer_texts(&self) -> (String, String) {
        match self.answers[..] {
            [(column, value)] => (column.to_string(), value.to_string()),
            _ => ("-".to_owned(), counted(self.answers.len(), "position")),
        }
    }
}

fn write_csv(out: &mut impl Write, measured: &[Measured]) -> io::Result<()> {
    writeln!(
        out,
        "depth,player,positions,ms,nodes,leaves,cutoffs,table_hits,simulations,speed_up,node_ratio,move,value"
    )?;
    for row in measured {
        let depth = row.depth.map_or(String::new(), |depth| depth.to_string());
        let factors = row.speed_up.map_or([String::new(), String::new()], |factors| {
            factors.map(|factor| format!("{factor:.3}"))
        });
        let SearchStats { nodes, leaves, cutoffs, table_hits, simulations, .. } = row.stats;
        let (column, value) = match row.answers[..] {
            [(column, value)] => (column.to_string(), value.to_string()),
            _ => (String::new(), String::new()),
        };
        // Agent texts may contain commas.
        writeln!(
            out,
            "{depth},\"{}\",{},{:.3},{nodes},{leaves},{cutoffs},{table_hits},{simulations},{},{column},{value}",
            row.agent,
            row.answers.len(),
            row.time.as_secs_f64() * 1e3,
            factors.join(","),
        )?;
    }
    Ok(())
}

#[derive(Serialize)]
struct ResultJson<'a> {
    agent: &'a str,
    depth: Option<u32>,
    ms: f64,
    nodes: u64,
    leaves: u64,
    cutoffs: u64,
    table_hits: u64,
    simulations: u64,
    speed_up: Option<f64>,
    node_ratio: Option<f64>,
    answers: Vec<serde_json::Value>,
}

impl<'a> ResultJson<'a> {
    fn new(row: &'a Measured, positions: &[(String, Position)]) -> ResultJson<'a> {
        let answers = row.answers.iter().zip(positions).map(|((column, value), (_, position))| {
            json!({ "column": column.number(), "kind": value.kind(), "number": value.number(),
                "score": value.score(position), "text": value.to_string() })
        });
        ResultJson {
            agent: &row.agent,
            depth: row.depth,
            ms: (row.time.as_secs_f64() * 1e6).round() / 1e3,
            nodes: row.stats.nodes,
            leaves: row.stats.leaves,
            cutoffs: row.stats.cutoffs,
            table_hits: row.stats.table_hits,
            simulations: row.stats.simulations,
            speed_up: row.speed_up.map(|[speed, _]| speed),
            node_ratio: row.speed_up.map(|[_, nodes]| nodes),
            answers: answers.collect(),
        }
    }
}

fn plot(setup: Setup, positions: &[(String, Position)], measured: &[Measured]) -> String {
    let depths = measured.iter().filter_map(|row| row.depth);
    let ends = [depths.clone().min().unwrap_or(1), depths.max().unwrap_or(2)].map(f64::from);
    let mut names: Vec<&str> = Vec::new();
    for row in measured {
        if !names.contains(&row.agent.as_str()) {
            names.push(&row.agent);
        }
    }
    let series = |number: fn(&Measured) -> f64| {
        let of_agent = |name: &&str| {
            let rows = measured.iter().filter(|row| row.agent == *name);
            // A player without a depth is a level line.
            let points = rows.flat_map(|row| {
                let places = row.depth.map_or(ends.to_vec(), |depth| vec![f64::from(depth)]);
                places.into_iter().map(|place| (place, number(row)))
            });
            Series { name: (*name).to_owned(), points: points.collect(), ranges: Vec::new() }
        };
        names.iter().map(of_agent).collect()
    };
    let title = match positions {
        [(moves, _)] if moves.is_empty() => format!("Search from the empty board, {setup}"),
        [(moves, _)] => format!("Search after {moves}, {setup}"),
        _ => format!("Search on {} positions, {setup}", positions.len()),
    };
    let chart = |title, y_text, series| Chart {
        title,
        x_label: "depth in plies",
        x_ticks: Vec::new(),
        y_text,
        scale: Scale::Logarithmic,
        series,
    };
    let time = series(|row| row.time.as_secs_f64().max(1e-7));
    let nodes = series(|row| row.stats.nodes.max(1) as f64);
    Figure {
        title: &title,
        charts: vec![chart("time", short_time_text, time), chart("nodes", count_text, nodes)],
    }
    .svg()
}
