//! `claimeven book`: builds, verifies and describes opening books.

use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::thread;

use claimeven_game::{Position, Setup};
use claimeven_solver::{Book, BookBuild, BuildError, Options, Solver, Unsolvable, book_positions};
use claimeven_work::{DispatchEvent, Dispatcher};
use indicatif::ProgressBar;
use serde::Serialize;

use crate::fleet::{BookScores, FleetArgs, SolverWork, log_above};
use crate::interrupt::{check_interrupt, interrupt_flag};
use crate::options::SeedArgs;
use crate::output::{print_json, write_file};
use crate::progress::bar;
use crate::setup::SetupArgs;
use crate::solver::{SolverArgs, read_book};
use crate::text::counted;
use crate::{Failure, cores};

/// Build, verify and describe opening books
#[derive(clap::Args)]
#[command(arg_required_else_help = false)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Build(BuildArgs),
    Verify(VerifyArgs),
    Info(InfoArgs),
}

/// Build a book: solve every position at a ply
#[derive(clap::Args)]
#[command(after_help = "\
Progress is kept in FILE.part: the same command resumes an interrupted build.\n\n\
Examples:\n  \
    claimeven book build --plies 8 --out 7x6-8.book\n  \
    claimeven book build --plies 8 --out 7x6-8.book --book 7x6-12.book\n  \
    claimeven book build --plies 6 --cols 6 --rows 5 --out 6x5-6.book\n  \
    claimeven book build --plies 8 --out 7x6-8.book --nats nats://127.0.0.1:4222")]
struct BuildArgs {
    /// Number of discs in the positions of the book
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    plies: u32,

    /// File to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,

    /// Print JSON
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

/// Verify a book: solve a sample of its positions without a book
#[derive(clap::Args)]
#[command(after_help = "Example:\n  claimeven book verify 7x6-8.book --sample 1000")]
struct VerifyArgs {
    /// Book file
    file: PathBuf,

    /// Number of positions to solve
    #[arg(long, value_name = "N", default_value_t = 1000, allow_negative_numbers = true)]
    sample: usize,

    #[command(flatten)]
    seed: SeedArgs,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Describe a book: board, ply, number of positions and size
#[derive(clap::Args)]
struct InfoArgs {
    /// Book file
    file: PathBuf,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Description {
    setup: Setup,
    ply: u32,
    entries: u64,
    bytes: usize,
    bits_per_entry: f64,
}

#[derive(Serialize)]
struct Verification {
    sampled: usize,
    wrong: usize,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    match &args.command {
        Command::Build(args) => build(args),
        Command::Verify(args) => verify(args),
        Command::Info(args) => {
            let book = read_book(&args.file)?;
            describe(&book, args.json)
        }
    }
}

fn build(args: &BuildArgs) -> Result<(), Failure> {
    let setup = args.setup.setup()?;
    // Refuse an invalid ruleset or ply before solving anything.
    Solver::check(setup)?;
    if args.plies >= setup.cells() {
        let message = format!(
            "invalid value '{}' for '--plies': the board has {} cells",
            args.plies,
            setup.cells()
        );
        return Err(Failure::Input(message));
    }
    let work = BookScores { solver: SolverWork::new(&args.solver, setup)?, ply: Some(args.plies) };
    let checkpoint = args.out.with_added_extension("part");
    let bar = bar(0, "{msg} {wide_bar} {human_pos}/{human_len}, {eta} left");
    bar.set_message("enumerating");
    let failed = |error: BuildError| match error {
        BuildError::OtherBook => Failure::in_file(&checkpoint, &error),
        error => Failure::Other(format!("{}: {error}", checkpoint.display())),
    };
    let mut build = BookBuild::open(setup, args.plies, &checkpoint).map_err(failed)?;
    let before = build.progress();
    bar.set_message("solving");
    bar.set_length(before.total - before.done);
    let (missing, positions) = (build.missing(), build.positions());
    let machines = args.fleet.machines(args.solver.threads(), log_above(&bar));
    let cancel = interrupt_flag()?;
    let mut kept = Ok(());
    machines.run(
        &work,
        missing.into_iter().map(|chunk| chunk as u64),
        |chunk| positions.chunk(chunk as usize).to_vec(),
        Some(&cancel),
        |taken| {
            kept = match taken {
                DispatchEvent::Output(chunk, scores) => build.add(chunk as usize, &scores),
                DispatchEvent::Restart => build.roll_back(),
            };
            bar.set_position(build.progress().done - before.done);
            Ok(if kept.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        },
    )?;
    kept.map_err(failed)?;
    if !build.missing().is_empty() {
        check_interrupt(&cancel)?;
    }
    let book = build.finish().map_err(failed)?;
    bar.finish_and_clear();
    write_file(&args.out, book.to_bytes())?;
    fs::remove_file(&checkpoint)?;
    describe(&book, args.json)
}

fn verify(args: &VerifyArgs) -> Result<(), Failure> {
    let book = read_book(&args.file)?;
    let mut positions = book_positions(book.setup(), book.ply());
    if positions.len() as u64 != book.entries() {
        let message = format!("{} entries for {} positions", book.entries(), positions.len());
        return Err(Failure::Other(format!("{}: {message}", args.file.display())));
    }
    fastrand::Rng::with_seed(args.seed.seed).shuffle(&mut positions);
    positions.truncate(args.sample);
    let bar = bar(positions.len() as u64, "{wide_bar} {human_pos}/{human_len}, {eta} left");
    let share = positions.len().div_ceil(cores()).max(1);
    let wrong: usize = thread::scope(|scope| {
        let (book, bar) = (&book, &bar);
        let count = |part| scope.spawn(move || count_wrong(book, part, bar));
        let threads: Vec<_> = positions.chunks(share).map(count).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).sum::<Result<_, _>>()
    })?;
    bar.finish_and_clear();
    let mut out = anstream::stdout().lock();
    let sampled = positions.len();
    if args.json {
        print_json(&Verification { sampled, wrong })?;
    } else {
        let positions = counted(sampled, "position");
        writeln!(out, "{positions} solved, {} found", counted(wrong, "wrong score"))?;
    }
    match wrong {
        0 => Ok(()),
        _ => Err(Failure::Other(format!("{}: the book has wrong scores", args.file.display()))),
    }
}

/// Counts the scores of a book that differ from those of the search.
fn count_wrong(
    book: &Book,
    positions: &[Position],
    bar: &ProgressBar,
) -> Result<usize, Unsolvable> {
    let mut solver = Solver::new(Options::default());
    let mut wrong = 0;
    for position in positions {
        let score = solver.score(position)?;
        wrong += usize::from(book.get(position) != Some(score));
        bar.inc(1);
    }
    Ok(wrong)
}

fn describe(book: &Book, json: bool) -> Result<(), Failure> {
    let bytes = book.to_bytes().len();
    let bits_per_entry = 8.0 * bytes as f64 / book.entries().max(1) as f64;
    let mut out = anstream::stdout().lock();
    let (setup, ply, entries) = (book.setup(), book.ply(), book.entries());
    if json {
        let description = Description { setup, ply, entries, bytes, bits_per_entry };
        print_json(&description)?;
    } else {
        writeln!(
            out,
            "{setup}, ply {ply}: {entries} positions in {bytes} bytes, {bits_per_entry:.2} bits each"
        )?;
    }
    Ok(())
}
