//! The `claimeven` command: one file per subcommand, and the parts that they share.
//!
//! A library, because cargo compiles a library while it still generates the code of its dependencies,
//! but a program only after that. `main.rs` calls [`main`].

mod admin;
mod agents;
mod analyze;
mod arena;
mod bench;
mod book;
mod compare;
mod completions;
#[cfg(test)]
mod compose;
mod count;
mod doctor;
mod draw;
mod evaluate;
mod experiments;
mod explain;
mod failure;
mod fleet;
mod game_match;
mod games;
mod interrupt;
mod memory;
mod options;
mod output;
mod perft;
mod play;
mod plot;
mod progress;
mod proof;
mod puzzles;
mod records;
mod replay;
mod review;
mod serve;
mod server_settings;
mod setup;
mod show;
mod solve;
mod solver;
mod stream;
mod text;
mod train;
mod tree;
mod ugi;
mod work;

use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use failure::Failure;

/// Play, solve, analyze and study Connect Four on any board
#[derive(Parser)]
#[command(version, max_term_width = 100)]
#[command(
    after_help = "More: admin, doctor, show, review, compare, evaluate, experiments, replay,\n\
    games, puzzles, perft, count, book, proof, bench, ugi, work, fleet, completions."
)]
struct Cli {
    /// When to use colour: auto, always or never
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    #[arg(hide_default_value = true, hide_possible_values = true)]
    color: When,

    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    Serve(serve::Args),
    Play(play::Args),
    Analyze(analyze::Args),
    Solve(solve::Args),
    Explain(explain::Args),
    Tree(tree::Args),
    #[command(hide = true)]
    Compare(compare::Args),
    Match(game_match::Args),
    Arena(arena::Args),
    Train(train::Args),
    #[command(hide = true)]
    Admin(admin::Args),
    #[command(hide = true)]
    Doctor(doctor::Args),
    #[command(hide = true)]
    Evaluate(evaluate::Args),
    #[command(hide = true)]
    Show(show::Args),
    Agents(agents::Args),
    #[command(hide = true)]
    Experiments(experiments::Args),
    #[command(hide = true)]
    Replay(replay::Args),
    #[command(hide = true)]
    Review(review::Args),
    #[command(hide = true)]
    Games(games::Args),
    #[command(hide = true)]
    Ugi(ugi::Args),
    #[command(hide = true)]
    Perft(perft::Args),
    #[command(hide = true)]
    Count(count::Args),
    #[command(hide = true)]
    Book(book::Args),
    #[command(hide = true)]
    Proof(proof::Args),
    #[command(hide = true)]
    Bench(bench::Args),
    #[command(hide = true)]
    Puzzles(puzzles::Args),
    #[command(hide = true)]
    Work(work::Args),
    #[command(hide = true)]
    Fleet(fleet::Args),
    #[command(hide = true)]
    Completions(completions::Args),
}

#[derive(Clone, Copy, ValueEnum)]
enum When {
    Auto,
    Always,
    Never,
}

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    match Cli::try_parse().map_err(Failure::from).and_then(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// The default number of threads.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, Into::into)
}

fn run(cli: Cli) -> Result<(), Failure> {
    match cli.color {
        When::Auto => anstream::ColorChoice::Auto,
        When::Always => anstream::ColorChoice::Always,
        When::Never => anstream::ColorChoice::Never,
    }
    .write_global();
    match cli.command {
        None => run(Cli { command: default_command()?, ..cli }),
        Some(Command::Serve(args)) => serve::run(&args),
        Some(Command::Admin(args)) => admin::run(&args),
        Some(Command::Doctor(args)) => doctor::run(&args),
        Some(Command::Play(args)) => play::run(args),
        Some(Command::Show(args)) => show::run(&args),
        Some(Command::Solve(args)) => solve::run(&args),
        Some(Command::Explain(args)) => explain::run(&args),
        Some(Command::Analyze(args)) => analyze::run(&args),
        Some(Command::Tree(args)) => tree::run(&args),
        Some(Command::Compare(args)) => compare::run(&args),
        Some(Command::Match(args)) => game_match::run(&args),
        Some(Command::Arena(args)) => arena::run(&args),
        Some(Command::Train(args)) => train::run(&args),
        Some(Command::Evaluate(args)) => evaluate::run(&args),
        Some(Command::Agents(args)) => agents::run(&args),
        Some(Command::Experiments(args)) => experiments::run(&args),
        Some(Command::Replay(args)) => replay::run(&args),
        Some(Command::Review(args)) => review::run(&args),
        Some(Command::Games(args)) => games::run(&args),
        Some(Command::Ugi(args)) => ugi::run(args),
        Some(Command::Perft(args)) => perft::run(&args),
        Some(Command::Count(args)) => count::run(&args),
        Some(Command::Book(args)) => book::run(&args),
        Some(Command::Proof(args)) => proof::run(&args),
        Some(Command::Bench(args)) => bench::run(&args),
        Some(Command::Puzzles(args)) => puzzles::run(&args),
        Some(Command::Work(args)) => work::run(&args),
        Some(Command::Fleet(args)) => fleet::run(&args),
        Some(Command::Completions(args)) => completions::run(&args),
    }
}

/// The command to run if none is given.
fn default_command() -> Result<Option<Command>, clap::Error> {
    Ok(Cli::try_parse_from(["claimeven", "serve"])?.command)
}
