//! `claimeven solve`: exact scores of one position or of millions.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;

use claimeven_arena::{AnalysisLimits, Analyzer, ExactValue};
use claimeven_game::{Position, Ruleset, Setup};
use claimeven_solver::{Bounds, Limits, Score, Solver};
use claimeven_work::{DispatchEvent, Dispatcher};
use indicatif::ProgressBar;
use serde::{Deserialize, Serialize};

use crate::Failure;
use crate::failure::print_error;
use crate::fleet::{FleetArgs, SolveLines, SolverWork, log_above};
use crate::interrupt::{check_interrupt, interrupt_flag};
use crate::progress::bar;
use crate::setup::SetupArgs;
use crate::solver::SolverArgs;
use crate::stream::answer_lines;

/// Solve positions exactly
#[derive(clap::Args)]
#[command(after_help = "\
Prints each position with its score: positive if the side to move wins (1 with its last disc, 2\n\
with its second to last, and so on), 0 for a draw, negative if it loses. With the ruleset lines the\n\
score is the margin in lines, for positions with at most 20 empty cells.\n\n\
Examples:\n  \
    claimeven solve 4453 44\n  \
    claimeven solve --all 4453\n  \
    cut -d' ' -f1 positions.txt | claimeven solve > scores.txt\n  \
    claimeven solve --cols 6 --rows 5 ''\n  \
    claimeven solve --ruleset lines --cols 4 --rows 4 --all 12")]
#[expect(clippy::struct_excessive_bools, reason = "they are independent switches")]
pub(crate) struct Args {
    /// Moves such as 4453; '' is the empty board [default: read one position per line from standard
    /// input]
    #[arg(value_name = "POS")]
    positions: Vec<String>,

    /// Print the score of every column, and '-' for full columns
    #[arg(long)]
    all: bool,

    /// Print only 1, 0 or -1 for a win, draw or loss (faster)
    #[arg(long, conflicts_with = "all")]
    weak: bool,

    /// Continue after an invalid line (the exit code is still 2)
    #[arg(long)]
    keep_going: bool,

    /// Print a JSON object per position
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    solver: SolverArgs,

    #[command(flatten)]
    setup: SetupArgs,

    // Last, because its heading would be that of the options after it.
    #[command(flatten)]
    fleet: FleetArgs,
}

/// What an answer contains.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct AnswerFormat {
    pub(crate) all: bool,
    pub(crate) weak: bool,
    pub(crate) json: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    position: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    columns: Option<Vec<Option<i32>>>,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    moves_to_win: Option<u32>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let setup = args.setup.setup()?;
    let format = AnswerFormat { all: args.all, weak: args.weak, json: args.json };
    let threads = args.solver.threads();
    if args.fleet.is_given() {
        return solve_on_fleet(args, setup, format);
    }
    let books = args.solver.books(setup)?;
    if !args.positions.is_empty() {
        let mut solver = args.solver.solver(books, threads);
        let mut out = io::stdout().lock();
        for text in &args.positions {
            writeln!(out, "{}", answer(text, setup, format, &mut solver)?)?;
        }
        return Ok(());
    }

    // Many positions: each thread solves its own.
    let workers = (0..threads).map(|_| {
        let mut solver = args.solver.solver(books.clone(), 1);
        move |line: &str| answer(line, setup, format, &mut solver)
    });
    let progress = progress();
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut failed = false;
    answer_lines(workers, |answers| {
        progress.inc(answers.len() as u64);
        for answer in answers {
            match answer {
                Ok(answer) => writeln!(out, "{answer}")?,
                Err(Failure::Input(message)) if args.keep_going => {
                    progress.suspend(|| print_error(&message));
                    failed = true;
                }
                Err(failure) => {
                    out.flush()?;
                    return Err(failure);
                }
            }
        }
        // The writer of these lines may be waiting for the answers.
        Ok(out.flush()?)
    })?;
    progress.finish_and_clear();
    if failed { Err(Failure::Reported) } else { Ok(()) }
}

/// The number of lines in a unit of work.
const LINES_PER_UNIT: usize = 256;

/// Has all positions solved by the workers of a fleet. The whole input is read first.
fn solve_on_fleet(args: &Args, setup: Setup, format: AnswerFormat) -> Result<(), Failure> {
    let lines: Vec<String> = if args.positions.is_empty() {
        io::read_to_string(io::stdin().lock())?.lines().map(|line| line.trim().to_owned()).collect()
    } else {
        args.positions.clone()
    };
    let work = SolveLines { solver: SolverWork::new(&args.solver, setup)?, format };
    let progress = progress();
    let machines = args.fleet.machines(args.solver.threads(), log_above(&progress));
    let units: Vec<&[String]> = lines.chunks(LINES_PER_UNIT).collect();
    let cancel = interrupt_flag()?;
    let mut answers = BTreeMap::new();
    machines.run(
        &work,
        0..units.len() as u64,
        |number| units[number as usize].to_vec(),
        Some(&cancel),
        |taken| {
            match taken {
                DispatchEvent::Output(number, answered) => {
                    progress.inc(answered.len() as u64);
                    answers.insert(number, answered);
                }
                DispatchEvent::Restart => {
                    progress.set_position(0);
                    answers.clear();
                }
            }
            Ok(ControlFlow::Continue(()))
        },
    )?;
    progress.finish_and_clear();
    if answers.len() < units.len() {
        check_interrupt(&cancel)?;
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut failed = false;
    for (number, answer) in (1..).zip(answers.into_values().flatten()) {
        match answer {
            Ok(answer) => writeln!(out, "{answer}")?,
            Err(message) => {
                let failure = Failure::Input(message).in_line(number);
                if !args.keep_going {
                    out.flush()?;
                    return Err(failure);
                }
                print_error(&failure.message());
                failed = true;
            }
        }
    }
    out.flush()?;
    if failed { Err(Failure::Reported) } else { Ok(()) }
}

fn progress() -> ProgressBar {
    // On a terminal the answers show the progress.
    if io::stdout().is_terminal() {
        return ProgressBar::hidden();
    }
    bar(0, "{human_pos} positions, {per_sec}, {elapsed}")
}

/// The result of a position: scores, or margins in lines.
struct Solved {
    columns: Option<Vec<Option<i32>>>,
    score: Option<i32>,
    sign: i32,
    moves_to_win: Option<u32>,
}

impl Solved {
    fn by_score(
        position: &Position,
        format: AnswerFormat,
        solver: &mut Solver,
        limits: &Limits,
    ) -> Result<Solved, Failure> {
        let exact = |bounds: Bounds| bounds.exact().ok_or(Failure::Interrupted);
        let columns = if format.all {
            let columns = solver.scores_within(position, limits)?.into_iter();
            let exact = |bounds: Option<Bounds>| bounds.map(exact).transpose();
            Some(columns.map(exact).collect::<Result<Vec<_>, Failure>>()?)
        } else {
            None
        };
        let score = match &columns {
            // A finished game has no columns to play.
            Some(columns) => columns.iter().flatten().max().copied(),
            None if format.weak => None,
            None => Some(exact(solver.score_within(position, limits)?)?),
        };
        let sign = match score {
            Some(score) => score.sign(),
            None => exact(solver.sign_within(position, limits)?)?.sign(),
        };
        let values = |columns: Vec<Option<Score>>| {
            columns.into_iter().map(|score| score.map(Score::value)).collect()
        };
        Ok(Solved {
            columns: columns.map(values),
            score: score.map(Score::value),
            sign,
            moves_to_win: score.and_then(|score| score.moves_to_win(position)),
        })
    }

    fn by_margin(
        position: &Position,
        format: AnswerFormat,
        limits: &Limits,
    ) -> Result<Solved, Failure> {
        if !Analyzer::can_solve(position) {
            let empty = position.setup().cells() - position.ply();
            return Err(Failure::Input(format!(
                "with the ruleset lines a position needs at most 20 empty cells, not {empty}"
            )));
        }
        let margin = |value: Option<ExactValue>| match value {
            Some(ExactValue::Margin(lines)) => Some(lines),
            _ => None,
        };
        let cancel = limits.cancel.clone();
        let limits = AnalysisLimits { cancel: cancel.clone(), ..AnalysisLimits::default() };
        let analysis = Analyzer::new(1).analyze(position, &limits);
        if let Some(cancel) = &cancel {
            check_interrupt(cancel)?;
        }
        let columns: Vec<Option<i32>> = analysis
            .columns
            .iter()
            .map(|column| margin(column.and_then(|column| column.value)))
            .collect();
        // A finished game has no columns to play.
        let final_margin = || {
            let [first, second] = position.scores().map(|lines| lines as i32);
            if position.player().index() == 0 { first - second } else { second - first }
        };
        let score = margin(analysis.value).unwrap_or_else(final_margin);
        Ok(Solved {
            columns: format.all.then_some(columns),
            score: (!format.weak).then_some(score),
            sign: score.signum(),
            moves_to_win: None,
        })
    }
}

/// The line that answers a position.
fn answer(
    text: &str,
    setup: Setup,
    format: AnswerFormat,
    solver: &mut Solver,
) -> Result<String, Failure> {
    answer_within(text, setup, format, solver, &Limits::default())
}

/// The line that answers a position, or [`Failure::Interrupted`] when a limit is reached.
pub(crate) fn answer_within(
    text: &str,
    setup: Setup,
    format: AnswerFormat,
    solver: &mut Solver,
    limits: &Limits,
) -> Result<String, Failure> {
    let position = Position::from_moves(setup, text)?;
    let Solved { columns, score, sign, moves_to_win } = match setup.ruleset() {
        Ruleset::Standard => Solved::by_score(&position, format, solver, limits)?,
        Ruleset::Lines => Solved::by_margin(&position, format, limits)?,
    };
    if format.json {
        let outcome = match sign {
            1 => "win",
            0 => "draw",
            _ => "loss",
        };
        let report = Report { position: text, score, columns, outcome, moves_to_win };
        return Ok(serde_json::to_string(&report)?);
    }
    let numbers = match (columns, score) {
        (Some(columns), _) => columns
            .iter()
            .map(|score| score.map_or("-".to_owned(), |score| score.to_string()))
            .collect::<Vec<_>>()
            .join(" "),
        (None, Some(score)) => score.to_string(),
        (None, None) => sign.to_string(),
    };
    Ok(format!("{text} {numbers}"))
}
