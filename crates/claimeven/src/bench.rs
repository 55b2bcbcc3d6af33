//! `claimeven bench`: benchmarks the solver on fixed positions, with node counts.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use claimeven_arena::public_set;
use claimeven_game::{Position, Setup};
use claimeven_solver::{Limits, Options, Score, Solver, Unsolvable, embedded_books};
use serde::Serialize;

use crate::Failure;
use crate::output::print_json;
use crate::progress::bar;

/// Benchmark the solver on fixed positions
#[derive(clap::Args)]
#[command(after_help = "\
The default is a built-in set, whose node count changes only if the search changes. The solver uses\n\
one thread, no opening book (unless --book) and an empty table for each position.\n\n\
Examples:\n  \
    claimeven bench\n  \
    claimeven bench --sets DIR --empty    DIR holds the public sets Test_L1_R1 … Test_L3_R1\n  \
    claimeven bench --sets DIR --book --columns")]
#[expect(clippy::struct_excessive_bools, reason = "they are independent switches")]
pub(crate) struct Args {
    /// Folder with the six public test sets
    #[arg(long, value_name = "DIR")]
    sets: Option<PathBuf>,

    /// Also solve the empty board
    #[arg(long)]
    empty: bool,

    /// Use the built-in opening books
    #[arg(long)]
    book: bool,

    /// Score all columns instead of the position
    #[arg(long)]
    columns: bool,

    /// Size of the transposition table, in MiB
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(default_value_t = Options::default().table_mb() as u32)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    table_mb: u32,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The files of the public sets, easy ones first, and how many of their positions are solved without
/// a book.
const SETS: [(&str, usize); 6] = [
    ("Test_L3_R1", 1000),
    ("Test_L2_R1", 1000),
    ("Test_L2_R2", 1000),
    ("Test_L1_R1", 1000),
    ("Test_L1_R2", 1000),
    ("Test_L1_R3", 30),
];

/// Positions from all stages of the game, with their scores.
const BUILT_IN: &str = include_str!("bench.txt");

#[derive(Serialize)]
struct Report {
    name: String,
    positions: usize,
    correct: usize,
    nodes: u64,
    mean_us: f64,
    median_us: f64,
    nodes_per_second: f64,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let books = if args.book { embedded_books() } else { Vec::new() };
    let table_mb = args.table_mb as usize;
    let mut solver = Solver::new(Options::default().with_table_mb(table_mb).with_books(books));
    let mut reports = Vec::new();
    let mut out = anstream::stdout().lock();
    if !args.json {
        let heads = ["set", "correct", "nodes", "mean", "median", "nodes/s"];
        let [name, correct, nodes, mean, median, speed] = heads;
        writeln!(out, "{name:<14}{correct:>10}{nodes:>14}{mean:>12}{median:>12}{speed:>10}")?;
    }
    let mut measure = |name: &str, lines: &[Line]| -> Result<(), Failure> {
        let solve = if args.columns { best_column } else { Solver::score };
        let report = measure(name, lines, &mut solver, solve)?;
        if !args.json {
            writeln!(
                out,
                "{:<14}{:>10}{:>14}{:>12}{:>12}{:>8.1} M",
                report.name,
                format!("{}/{}", report.correct, report.positions),
                report.nodes,
                time(report.mean_us),
                time(report.median_us),
                report.nodes_per_second / 1e6,
            )?;
        }
        reports.push(report);
        Ok(())
    };
    match &args.sets {
        None => measure("built-in", &parse(BUILT_IN, Path::new("bench.txt"), usize::MAX)?)?,
        Some(folder) => {
            for (file, count) in SETS {
                let path = folder.join(file);
                let text =
                    fs::read_to_string(&path).map_err(|error| Failure::in_file(&path, &error))?;
                let count = if args.book { usize::MAX } else { count };
                measure(public_set(file).unwrap_or(file), &parse(&text, &path, count)?)?;
            }
        }
    }
    if args.empty {
        measure("empty board", &[Line { position: Position::new(Setup::STANDARD), score: 1 }])?;
    }
    if args.json {
        print_json(&reports)?;
    }
    match reports.iter().find(|report| report.correct < report.positions) {
        None => Ok(()),
        Some(report) => Err(Failure::Other(format!("{}: wrong scores", report.name))),
    }
}

struct Line {
    position: Position,
    score: i32,
}

/// Parses lines of moves and score.
fn parse(text: &str, path: &Path, count: usize) -> Result<Vec<Line>, Failure> {
    let parse_line = |(number, line): (u64, &str)| {
        let (moves, score) = line.rsplit_once(' ').unwrap_or((line, ""));
        let score = score.parse().map_err(|_| format!("invalid score '{score}'"));
        let position = Position::from_moves(Setup::STANDARD, moves).map_err(|e| e.to_string());
        match (position, score) {
            (Ok(position), Ok(score)) => Ok(Line { position, score }),
            (Err(error), _) | (_, Err(error)) => {
                Err(Failure::in_file(path, &format_args!("line {number}: {error}")))
            }
        }
    };
    (1..).zip(text.lines().take(count)).map(parse_line).collect()
}

/// The score of a position as the maximum of its columns.
fn best_column(solver: &mut Solver, position: &Position) -> Result<Score, Unsolvable> {
    let scores = solver.scores(position)?;
    Ok(scores.into_iter().flatten().max().expect("no game is over in these positions"))
}

fn measure(
    name: &str,
    lines: &[Line],
    solver: &mut Solver,
    solve: fn(&mut Solver, &Position) -> Result<Score, Unsolvable>,
) -> Result<Report, Failure> {
    let bar = bar(lines.len() as u64, "{msg} {wide_bar} {pos}/{len}, {eta} left");
    bar.set_message(name.to_owned());
    if let Some(last) = lines.iter().max_by_key(|line| line.position.ply()) {
        // Allocates the memory of the solver, which should not be measured.
        solver.score_within(&last.position, &Limits { nodes: Some(0), ..Limits::default() })?;
    }
    let before = solver.nodes();
    let mut correct = 0;
    let mut times: Vec<Duration> = Vec::with_capacity(lines.len());
    for line in lines {
        solver.clear();
        let start = Instant::now();
        let score = solve(solver, &line.position)?;
        times.push(start.elapsed());
        correct += usize::from(score.value() == line.score);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let total: Duration = times.iter().sum();
    times.sort_unstable();
    let nodes = solver.nodes() - before;
    Ok(Report {
        name: name.to_owned(),
        positions: lines.len(),
        correct,
        nodes,
        mean_us: total.as_secs_f64() * 1e6 / lines.len() as f64,
        median_us: times[times.len() / 2].as_secs_f64() * 1e6,
        nodes_per_second: nodes as f64 / total.as_secs_f64(),
    })
}

/// A time in microseconds with a suitable unit.
fn time(us: f64) -> String {
    match us {
        ..1e3 => format!("{us:.2} us"),
        ..1e6 => format!("{:.2} ms", us / 1e3),
        _ => format!("{:.2} s", us / 1e6),
    }
}
