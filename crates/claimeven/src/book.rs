//! `claimeven book`: opening books, built and checked.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::thread;

use claimeven_game::Position;
use claimeven_solver::{Book, BuildError, Options, Solver, Unsolvable, book_positions, build_book};
use indicatif::ProgressBar;
use serde::Serialize;

use crate::progress::bar;
use crate::setup::{SetupArgs, SetupJson};
use crate::solver::{SolverArgs, read_book};
use crate::{Failure, cores};

/// Build, check and describe opening books
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

/// Solve every position of a ply and write the book
#[derive(clap::Args)]
#[command(after_help = "\
What is solved is kept in OUT.part; the same command goes on from there after an interruption.\n\n\
Examples:\n  \
    claimeven book build --plies 8 --out 7x6-8.book\n  \
    claimeven book build --plies 8 --out 7x6-8.book --book 7x6-12.book\n  \
    claimeven book build --plies 6 --cols 6 --rows 5 --out 6x5-6.book")]
struct BuildArgs {
    /// How many discs the book's positions have
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    plies: u32,

    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,

    #[command(flatten)]
    solver: SolverArgs,

    #[command(flatten)]
    setup: SetupArgs,
}

/// Solve a sample of a book's positions again, without any book
#[derive(clap::Args)]
#[command(after_help = "Example:\n  claimeven book verify 7x6-8.book --sample 1000")]
struct VerifyArgs {
    /// The book
    file: PathBuf,

    /// How many positions to solve
    #[arg(long, value_name = "N", default_value_t = 1000, allow_negative_numbers = true)]
    sample: usize,

    /// Chooses the sample
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    seed: u64,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Say what a book holds
#[derive(clap::Args)]
struct InfoArgs {
    /// The book
    file: PathBuf,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Description {
    setup: SetupJson,
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
    // The ruleset and the ply are wrong before anything is solved, not after.
    Solver::check(setup)?;
    if args.plies >= setup.cells() {
        let message = format!("--plies {}: the board is full after {}", args.plies, setup.cells());
        return Err(Failure::Input(message));
    }
    let books = args.solver.books(setup)?;
    let checkpoint = args.out.with_added_extension("part");
    let bar = bar(0, "{msg} {wide_bar} {human_pos}/{human_len}, {eta} left");
    bar.set_message("finding positions");
    let mut before = None;
    let book = build_book(
        setup,
        args.plies,
        &checkpoint,
        args.solver.threads(),
        || {
            let mut solver = args.solver.solver(books.clone(), 1);
            move |position| solver.score(position).expect("the ruleset has been checked")
        },
        |progress| {
            let before = *before.get_or_insert(progress.done);
            bar.set_message("solving");
            bar.set_length(progress.total - before);
            bar.set_position(progress.done - before);
        },
    )
    .map_err(|error| match error {
        BuildError::ForeignCheckpoint => {
            Failure::Input(format!("{}: {error}", checkpoint.display()))
        }
        error => Failure::Other(format!("{}: {error}", checkpoint.display())),
    })?;
    bar.finish_and_clear();
    fs::write(&args.out, book.to_bytes())
        .map_err(|error| Failure::Other(format!("{}: {error}", args.out.display())))?;
    fs::remove_file(&checkpoint)?;
    describe(&book, false)
}

fn verify(args: &VerifyArgs) -> Result<(), Failure> {
    let book = read_book(&args.file)?;
    let mut positions = book_positions(book.setup(), book.ply());
    if positions.len() as u64 != book.entries() {
        let message = format!("{} entries for {} positions", book.entries(), positions.len());
        return Err(Failure::Other(format!("{}: {message}", args.file.display())));
    }
    fastrand::Rng::with_seed(args.seed).shuffle(&mut positions);
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
        writeln!(out, "{}", serde_json::to_string(&Verification { sampled, wrong })?)?;
    } else {
        writeln!(out, "{sampled} positions solved again, {wrong} differ")?;
    }
    match wrong {
        0 => Ok(()),
        _ => Err(Failure::Other(format!("{}: the book is wrong", args.file.display()))),
    }
}

/// How many of a book's scores are not those that a search finds.
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
        let setup = SetupJson::from(setup);
        let description = Description { setup, ply, entries, bytes, bits_per_entry };
        writeln!(out, "{}", serde_json::to_string(&description)?)?;
    } else {
        writeln!(
            out,
            "{setup}, ply {ply}: {entries} positions in {bytes} bytes, {bits_per_entry:.2} bits each"
        )?;
    }
    Ok(())
}
