//! `claimeven evaluate`: compares a player's moves with perfect play.

mod comparison;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use claimeven_arena::{
    AgentSpec, RandomPositions, Rate, Scoreboard, Strength, TestSet, evaluate, evaluate_on,
};
use claimeven_game::{Position, Setup};
use claimeven_search::Limits;
use claimeven_solver::Score;
use claimeven_work::{Local, Nats, run_in_order};
use claimeven_zero::{Run, kept_networks};
use serde_json::json;

use crate::Failure;
use crate::fleet::{BookScores, FleetArgs, Machines, SolverWork, log_above};
use crate::interrupt::interrupt_flag;
use crate::options::{SeedArgs, ThreadsArgs};
use crate::plot::{Chart, Figure, Scale, Series};
use crate::progress;
use crate::setup::SetupArgs;

/// Measure the strength of a player against exact scores
#[derive(clap::Args)]
#[command(after_help = "\
An error is a move that gives away a win or a draw. A best move keeps the exact score: the fastest\n\
win or the slowest loss. Intervals are 95 % confidence intervals. With --run, the player is measured\n\
with the networks of a training run, from the first to the last. With --nats, times are those of the\n\
workers. If DIR has public test sets (Test_L1_R1 … Test_L3_R1), the errors of other programs on them\n\
are printed, too.\n\n\
Examples:\n  \
    claimeven evaluate level:5\n  \
    claimeven evaluate alphabeta:depth=8 --sets DIR --count 200\n  \
    claimeven evaluate mcts:sims=5000 --random 1000 --discs 8..20 --seed 2 --json\n  \
    claimeven evaluate zero:sims=100 --run DIR\n  \
    claimeven evaluate zero:sims=0 --run DIR --networks 20 --svg > curve.svg")]
pub(crate) struct Args {
    /// Player to measure
    #[arg(value_name = "AGENT")]
    agent: AgentSpec,

    /// Folder of a training run whose networks are measured
    #[arg(long, value_name = "DIR")]
    run: Option<PathBuf>,

    /// Maximum number of networks of the run, evenly spread
    #[arg(long, value_name = "N", default_value_t = 10, allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    networks: u16,

    /// Folder of test sets: files with moves and exact score on each line
    #[arg(long, value_name = "DIR")]
    sets: Option<PathBuf>,

    /// Maximum number of positions of each test set
    #[arg(long, value_name = "N", default_value_t = 1000, allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,

    /// Results of other programs to compare with, as in crates/claimeven-arena/scoreboard.toml
    /// [default: that file]
    #[arg(long, value_name = "FILE", requires = "sets")]
    scoreboard: Option<PathBuf>,

    /// Number of random positions, in addition to the test sets
    #[arg(long, value_name = "N", default_value_t = 500, allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    random: u32,

    /// Number of discs in the random positions [default: depends on the board, 4..20 on 7x6]
    #[arg(long, value_name = "A..B", value_parser = discs)]
    discs: Option<(u32, u32)>,

    #[command(flatten)]
    seed: SeedArgs,

    #[command(flatten)]
    threads: ThreadsArgs,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Print a plot over the iterations of the run as SVG
    #[arg(long, requires = "run", conflicts_with = "json")]
    svg: bool,

    #[command(flatten)]
    setup: SetupArgs,

    // Last, because its heading would be that of the options after it.
    #[command(flatten)]
    fleet: FleetArgs,
}

fn discs(text: &str) -> Result<(u32, u32), String> {
    let range = text.split_once("..").and_then(|(first, last)| {
        let (first, last) = (first.parse().ok()?, last.trim_start_matches('=').parse().ok()?);
        (first <= last).then_some((first, last))
    });
    range.ok_or_else(|| "expected a range such as 4..20".to_owned())
}

/// A player to measure, and the iteration of its network.
struct Candidate {
    agent: AgentSpec,
    iteration: Option<u64>,
}

/// The measurements of a player.
struct Measured {
    iteration: Option<u64>,
    results: Vec<Strength>,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let setup = setup(args)?;
    let candidates = candidates(args)?;
    let scoreboard = scoreboard(args, setup)?;
    for candidate in &candidates {
        candidate.agent.build(setup, 0)?;
    }
    let threads = args.threads.threads();
    let log = Arc::new(|message: &str| anstream::eprintln!("{message}"));
    // On this machine alone, Ctrl-C ends the process.
    let cancel = if args.fleet.is_given() { interrupt_flag()? } else { Arc::default() };
    let sets = sets(args, setup, &args.fleet.machines(threads, log), &cancel)?;

    let positions: u64 = sets.iter().map(|set| set.len() as u64).sum();
    let length = positions * candidates.len() as u64;
    let bar = progress::bar(length, "{bar:15} {pos}/{len} positions, {eta} left, {wide_msg}");
    let machines = args.fleet.machines(threads, log_above(&bar));
    let mut measured = Vec::new();
    for Candidate { agent, iteration } in &candidates {
        let mut results = Vec::new();
        for set in &sets {
            bar.set_message(set.name.clone());
            let seed = args.seed.seed;
            let strength = if args.fleet.is_given() {
                let before = bar.position();
                let progress = |moves| bar.set_position(before + moves);
                let strength = evaluate_on(&machines, agent, seed, set, Some(&cancel), progress)?;
                strength.ok_or(Failure::Interrupted)?
            } else {
                let agent = || agent.build(setup, seed);
                evaluate(agent, set, &Limits::default(), threads, || bar.inc(1))?
            };
            results.push(strength);
        }
        measured.push(Measured { iteration: *iteration, results });
    }
    bar.finish_and_clear();

    let mut out = anstream::stdout().lock();
    if args.json {
        writeln!(out, "{}", report(args, setup, &measured))?;
    } else if args.svg {
        write!(out, "{}", plot(args, &measured))?;
    } else {
        write_table(&mut out, &measured)?;
        if let Some((Candidate { agent, .. }, Measured { results, .. })) =
            candidates.iter().zip(&measured).next_back()
        {
            comparison::write(&mut out, &scoreboard, &agent.to_string(), results)?;
        }
    }
    Ok(())
}

/// The board of the command line, or of the run.
fn setup(args: &Args) -> Result<Setup, Failure> {
    let setup = args.setup.setup()?;
    let setup = match &args.run {
        Some(folder) if setup == Setup::STANDARD => Run::parameters_of(folder)?.check()?,
        _ => setup,
    };
    if let Some((first, last)) = args.discs.filter(|discs| discs.1 >= setup.cells()) {
        let message = format!(
            "invalid value '{first}..{last}' for '--discs': expected fewer discs than the board's {} cells",
            setup.cells()
        );
        return Err(Failure::Input(message));
    }
    Ok(setup)
}

/// The results of other programs, which are for the standard board.
fn scoreboard(args: &Args, setup: Setup) -> Result<Scoreboard, Failure> {
    match &args.scoreboard {
        _ if setup != Setup::STANDARD => Ok(Scoreboard { entries: Vec::new() }),
        None => Ok(Scoreboard::embedded()),
        Some(file) => {
            let text = fs::read_to_string(file).map_err(|error| Failure::in_file(file, &error))?;
            text.parse().map_err(|error| Failure::in_file(file, &error))
        }
    }
}

/// The discs of random positions: the given range, or the same part of a game on every board. On
/// boards larger than the standard one, few enough cells are empty that positions can be solved.
fn disc_range(args: &Args, setup: Setup) -> (u32, u32) {
    let cells = setup.cells();
    let by_board = match cells {
        43.. => (cells - 32, cells - 20),
        _ => (cells * 4 / 42, cells * 20 / 42),
    };
    args.discs.unwrap_or(by_board)
}

/// The player, or the player with each network of a run.
fn candidates(args: &Args) -> Result<Vec<Candidate>, Failure> {
    let Some(folder) = &args.run else {
        return Ok(vec![Candidate { agent: args.agent.clone(), iteration: None }]);
    };
    if !args.agent.has_parameter("model") || args.agent.given("model").is_some() {
        let agent = &args.agent;
        let reason =
            if agent.has_parameter("model") { "already has a model" } else { "has no network" };
        return Err(Failure::Input(format!("--run cannot be used with '{agent}', which {reason}")));
    }
    let kept = kept_networks(folder);
    if kept.is_empty() {
        return Err(Failure::Input(format!("the run in {} has no network yet", folder.display())));
    }
    let candidate = |iteration: u64| {
        let model = format!("{}@{iteration}", folder.display());
        let agent = args.agent.with("model", &model)?;
        Ok(Candidate { agent, iteration: Some(iteration) })
    };
    spread(&kept, args.networks.into()).into_iter().map(candidate).collect()
}

/// At most `count` of the kept iterations, evenly spread; they include the last one, and the first
/// one if there are two or more.
fn spread(kept: &[u64], count: usize) -> Vec<u64> {
    let (first, last) = (kept[0], kept[kept.len() - 1]);
    if count == 1 {
        return vec![last];
    }
    let nearest = |iteration: u64| kept.iter().min_by_key(|&&one| one.abs_diff(iteration));
    let place = |index: u64| first + (index * (last - first)).div_ceil(count as u64 - 1);
    let mut chosen: Vec<u64> = (0..count as u64).map(place).filter_map(nearest).copied().collect();
    chosen.dedup();
    chosen
}

fn sets(
    args: &Args,
    setup: Setup,
    machines: &Machines,
    cancel: &AtomicBool,
) -> Result<Vec<TestSet>, Failure> {
    let mut sets = match &args.sets {
        Some(folder) => read_sets(folder, setup, args.count as usize)?,
        None => Vec::new(),
    };
    if args.random > 0 {
        let (first, last) = disc_range(args, setup);
        let (count, seed) = (args.random as usize, args.seed.seed);
        sets.push(match machines {
            Machines::Local(Local { threads }) => {
                TestSet::random(setup, count, first..=last, seed, *threads)?
            }
            Machines::Fleet(nats) => solve_on_fleet(
                nats,
                setup,
                RandomPositions::new(setup, count, first..=last, seed)?,
                cancel,
            )?,
        });
    }
    Ok(sets)
}

/// A test set whose scores are computed by the workers of a fleet.
fn solve_on_fleet(
    nats: &Nats,
    setup: Setup,
    sampled: RandomPositions,
    cancel: &AtomicBool,
) -> Result<TestSet, Failure> {
    const POSITIONS_PER_UNIT: usize = 16;
    let RandomPositions { name, positions } = sampled;
    let work = BookScores { solver: SolverWork::with_embedded_books(setup), ply: None };
    let chunks: Vec<&[Position]> = positions.chunks(POSITIONS_PER_UNIT).collect();
    let unit = |number: u64| chunks[number as usize].to_vec();
    let scores = run_in_order(nats, &work, chunks.len() as u64, &unit, Some(cancel), |_| {})?;
    let scores = scores.ok_or(Failure::Interrupted)?.into_iter().flatten();
    Ok(TestSet::new(name, positions.iter().copied().zip(scores.map(Score::value))))
}

/// The test sets of a folder, sorted by name: files without an extension or with `.txt`.
fn read_sets(folder: &Path, setup: Setup, count: usize) -> Result<Vec<TestSet>, Failure> {
    let wrong = |error: io::Error| Failure::in_file(folder, &error);
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        if path.is_file() && path.extension().is_none_or(|extension| extension == "txt") {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        return Err(Failure::in_file(folder, &"the folder has no test sets"));
    }
    paths.sort();
    let load = |path: PathBuf| match TestSet::load(&path, setup) {
        Ok(set) => Ok(set.truncated(count)),
        Err(error) => Err(Failure::Input(error.to_string())),
    };
    paths.into_iter().map(load).collect()
}

fn write_table(out: &mut impl Write, measured: &[Measured]) -> io::Result<()> {
    let all = || measured.iter().flat_map(|one| &one.results);
    let width = all().map(|strength| strength.set.len()).max().unwrap_or(0).max(3);
    if measured.iter().any(|one| one.iteration.is_some()) {
        write!(out, "iteration  ")?;
    }
    writeln!(
        out,
        "{:<width$}  {:>9}  {:>24}  {:>26}  win to draw  win to loss  draw to loss  \
         simulations  ms/move",
        "set", "positions", "errors", "best moves"
    )?;
    for Measured { iteration, results } in measured {
        for strength in results {
            let Strength { set, positions, wins_drawn, wins_lost, draws_lost, .. } = strength;
            if let Some(iteration) = iteration {
                write!(out, "{iteration:>9}  ")?;
            }
            writeln!(
                out,
                "{set:<width$}  {positions:>9}  {:>24}  {:>26}  {wins_drawn:>11}  \
                 {wins_lost:>11}  {draws_lost:>12}  {:>11.1}  {:>7.3}",
                strength.error_rate().to_string(),
                strength.best_rate().to_string(),
                strength.simulations,
                1e3 * strength.seconds
            )?;
        }
    }
    Ok(())
}

fn report(args: &Args, setup: Setup, measured: &[Measured]) -> serde_json::Value {
    let sets = |one: &Measured| one.results.iter().map(strength_json).collect::<Vec<_>>();
    let mut report = json!({
        "setup": setup,
        "agent": args.agent.to_string(),
    });
    match &args.run {
        None => report["sets"] = json!(measured.iter().flat_map(sets).collect::<Vec<_>>()),
        Some(folder) => {
            let iteration =
                |one: &Measured| json!({ "iteration": one.iteration, "sets": sets(one) });
            report["run"] = json!(folder);
            report["iterations"] = json!(measured.iter().map(iteration).collect::<Vec<_>>());
        }
    }
    report
}

fn strength_json(strength: &Strength) -> serde_json::Value {
    json!({
        "counts": strength,
        "error_rate": strength.error_rate(),
        "best_rate": strength.best_rate(),
    })
}

/// Error and best-move rates over the iterations, a line per test set.
fn plot(args: &Args, measured: &[Measured]) -> String {
    let names = measured.first().map_or(&[][..], |one| &one.results[..]);
    let series = |rate: fn(&Strength) -> Rate| {
        let line = |(index, strength): (usize, &Strength)| {
            let rates: Vec<(f64, Rate)> = measured
                .iter()
                .map(|one| {
                    let iteration = one.iteration.unwrap_or_default() as f64;
                    (iteration, rate(&one.results[index]))
                })
                .collect();
            Series {
                name: strength.set.clone(),
                points: rates.iter().map(|(iteration, rate)| (*iteration, rate.share)).collect(),
                ranges: rates
                    .iter()
                    .map(|(iteration, rate)| (*iteration, [rate.low, rate.high]))
                    .collect(),
            }
        };
        names.iter().enumerate().map(line).collect()
    };
    let chart = |title, series| Chart {
        title,
        x_label: "iteration",
        x_ticks: Vec::new(),
        scale: Scale::Linear,
        y_text: |share| format!("{:.3} %", 100.0 * share).replace(".000", ""),
        series,
    };
    let title = format!("{} vs. perfect play", args.agent);
    Figure {
        title: &title,
        charts: vec![
            chart("moves that give away a win or a draw", series(Strength::error_rate)),
            chart("moves that keep the exact score", series(Strength::best_rate)),
        ],
    }
    .svg()
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn networks_are_evenly_spread_from_the_first_to_the_last() {
        let list: Vec<u64> = (1..=9).collect();
        assert_eq!(spread(&list, 1), [9]);
        assert_eq!(spread(&list, 2), [1, 9]);
        assert_eq!(spread(&list, 5), [1, 3, 5, 7, 9]);
        assert_eq!(spread(&list, 9), list);
        assert_eq!(spread(&list, 500), list);
        assert_eq!(spread(&[4], 3), [4]);
        assert_eq!(spread(&[1, 8, 16, 17, 18, 19, 20], 3), [1, 8, 20]);
    }
}
