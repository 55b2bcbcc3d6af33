//! `claimeven proof`: builds and verifies proofs that a player wins or does not lose.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use claimeven_coach::{CheckReport, Claim, Goal, ProofSearch, ProofTree, SearchError, check_proof};
use claimeven_game::Player;
use clap::ValueEnum;
use serde::Serialize;

use crate::Failure;
use crate::options::ThreadsArgs;
use crate::output::{print_json, write_file};
use crate::progress::bar;
use crate::setup::SetupArgs;
use crate::text::counted;

/// Build and verify small proofs that a player wins
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
}

/// Search for a small proof: one move for every position, each leaf closed by a strategy
#[derive(clap::Args)]
#[command(after_help = "\
Writes FILE whenever it has found a smaller proof, and searches until the time is up or Ctrl-C is\n\
pressed. Progress is kept in FILE.part: the same command resumes the search.\n\n\
Examples:\n  \
    claimeven proof build --out 7x6.proof\n  \
    claimeven proof build --out 7x6.proof --minutes 30 --threads 2\n  \
    claimeven proof build --cols 6 --player second --out 6x6.proof\n  \
    claimeven proof build --cols 4 --rows 4 --goal draw --stop-at 1000 --out 4x4.proof")]
struct BuildArgs {
    /// File to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,

    /// Player whose result is proven
    #[arg(long, value_name = "PLAYER", default_value = "first")]
    player: Owner,

    /// What is proven: the player wins, or does not lose
    #[arg(long, value_name = "GOAL", default_value = "win")]
    goal: GoalName,

    /// Stop at a proof of at most this many positions [default: never]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    stop_at: Option<u32>,

    /// Time limit in minutes [default: none]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    minutes: Option<u32>,

    /// Size of the transposition table of each thread, in MiB
    #[arg(long, value_name = "N", default_value_t = 64, allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1 << 16))]
    table_mb: u32,

    #[command(flatten)]
    threads: ThreadsArgs,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    setup: SetupArgs,
}

/// Verify a proof by the rules alone: every line of play ends as it claims
#[derive(clap::Args)]
#[command(after_help = "\
Examples:\n  \
    claimeven proof verify 7x6.proof\n  \
    claimeven proof verify 7x6.proof --json")]
struct VerifyArgs {
    /// Proof file
    file: PathBuf,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Owner {
    /// The player who moves first
    First,
    /// The player who moves second
    Second,
}

#[derive(Clone, Copy, ValueEnum)]
enum GoalName {
    /// The player wins
    Win,
    /// The player does not lose
    Draw,
}

/// The minimum time between two writes of the proof.
const WRITE_INTERVAL: Duration = Duration::from_secs(30);

#[derive(Serialize)]
struct Verification {
    claim: String,
    positions: usize,
    owner_positions: usize,
    opponent_positions: usize,
    leaves: usize,
    diagrams: usize,
    overrides: usize,
    forced_wins: usize,
    played_out: usize,
    bytes: usize,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    match &args.command {
        Command::Build(args) => build(args),
        Command::Verify(args) => verify(args),
    }
}

fn build(args: &BuildArgs) -> Result<(), Failure> {
    let claim = Claim {
        setup: args.setup.setup()?,
        owner: match args.player {
            Owner::First => Player::First,
            Owner::Second => Player::Second,
        },
        goal: match args.goal {
            GoalName::Win => Goal::Win,
            GoalName::Draw => Goal::Draw,
        },
    };
    let checkpoint = args.out.with_added_extension("part");
    let (threads, table_mb) = (args.threads.threads(), args.table_mb as usize);
    let mut search = ProofSearch::new(claim, threads, table_mb, Some(&checkpoint)).map_err(
        |error| match error {
            SearchError::Foreign => Failure::in_file(&checkpoint, &error),
            SearchError::Io(error) => Failure::unwritable(&checkpoint, &error),
            error => Failure::Input(error.to_string()),
        },
    )?;
    let bar = bar(0, "{msg}, {elapsed}");
    let begin = Instant::now();
    let limit = args.minutes.map(|minutes| Duration::from_secs(60 * u64::from(minutes)));
    let mut smallest = None;
    let mut last_write = None;
    let mut written = Ok(());
    search.run(|progress, search| {
        let size =
            progress.proven.map_or("none yet".to_owned(), |size| format!("{size} positions"));
        bar.set_message(format!(
            "proof: {size}; working on {:.0} (open {}, seen {})",
            progress.estimate, progress.open, progress.positions
        ));
        bar.tick();
        // Writing compares the diagrams with each other, which takes a while: not at every step.
        let is_smaller = progress.proven.is_some() && progress.proven != smallest;
        if is_smaller && last_write.is_none_or(|last: Instant| last.elapsed() >= WRITE_INTERVAL) {
            smallest = progress.proven;
            if let Some(proof) = search.proof() {
                written = write_if_smaller(&args.out, claim, &proof);
            }
            last_write = Some(Instant::now());
        }
        let is_small =
            args.stop_at.is_some_and(|max| progress.proven.is_some_and(|size| size <= max));
        written.is_ok()
            && !is_small
            && !progress.exhausted
            && limit.is_none_or(|limit| begin.elapsed() < limit)
    });
    bar.finish_and_clear();
    written?;
    let Some(proof) = search.proof() else {
        let message = "no proof found in time; the same command continues the search";
        return Err(Failure::Other(format!("{}: {message}", checkpoint.display())));
    };
    write_if_smaller(&args.out, claim, &proof)?;
    let bytes = fs::read(&args.out).map_err(|error| Failure::in_file(&args.out, &error))?;
    report(&args.out.display().to_string(), &bytes, args.json)
}

/// Writes a proof, unless the file has a smaller one of the same claim from an earlier search.
fn write_if_smaller(path: &Path, claim: Claim, bytes: &[u8]) -> Result<(), Failure> {
    let size = |bytes: &[u8]| {
        let proof = ProofTree::from_bytes(bytes).ok().filter(|proof| proof.claim() == claim)?;
        Some(proof.moves() + proof.overrides())
    };
    let earlier = fs::read(path).ok().and_then(|bytes| size(&bytes));
    match (earlier, size(bytes)) {
        (Some(earlier), Some(now)) if earlier <= now => Ok(()),
        _ => write_file(path, bytes),
    }
}

fn verify(args: &VerifyArgs) -> Result<(), Failure> {
    let file = &args.file;
    let bytes = fs::read(file).map_err(|error| Failure::in_file(file, &error))?;
    report(&file.display().to_string(), &bytes, args.json)
}

/// Checks a proof and prints what it consists of.
fn report(name: &str, bytes: &[u8], json: bool) -> Result<(), Failure> {
    let bar = bar(bytes.len() as u64, "checking {wide_bar} {percent} %");
    let checked = check_proof(bytes, |checked| bar.set_position(checked as u64));
    bar.finish_and_clear();
    let checked =
        checked.map_err(|error| Failure::Input(format!("{name}: not a proof: {error}")))?;
    let CheckReport {
        claim,
        owner_positions,
        opponent_positions,
        leaves,
        diagrams,
        overrides,
        forced_wins,
        played_out,
        bytes,
    } = checked;
    let positions = owner_positions + opponent_positions + overrides;
    if json {
        return print_json(&Verification {
            claim,
            positions,
            owner_positions,
            opponent_positions,
            leaves,
            diagrams,
            overrides,
            forced_wins,
            played_out,
            bytes,
        });
    }
    let mut out = anstream::stdout().lock();
    writeln!(out, "{claim}: proven")?;
    writeln!(
        out,
        "{}: {owner_positions} of the owner, {opponent_positions} of the opponent, {overrides} overrides",
        counted(positions, "position")
    )?;
    writeln!(out, "{leaves} of them are leaves, closed by {}", counted(diagrams, "diagram"))?;
    writeln!(out, "{forced_wins} more positions won by force")?;
    writeln!(out, "{played_out} positions played out, {bytes} bytes")?;
    Ok(())
}
