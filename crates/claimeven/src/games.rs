//! `claimeven games`: lists the games of a file, exports or imports them.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::io::{self, Write};
use std::path::PathBuf;

use claimeven_arena::{EndReason, GameRecord, LegacyRecord, import_legacy, pgn};
use clap::ValueEnum;
use serde_json::json;

use crate::Failure;
use crate::records::RecordsArgs;
use crate::text::counted;

/// List the games of a file, export them to another format, or import older ones
#[derive(clap::Args)]
#[command(arg_required_else_help = false)]
#[command(after_help = "Examples:\n  \
    claimeven games list games.jsonl --longest 5\n  \
    claimeven games export games.jsonl --format pgn > games.pgn\n  \
    claimeven games import older.json > games.jsonl")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    List(ListArgs),
    Export(ExportArgs),
    Import(ImportArgs),
}

/// List games: players, first player, winner, length and times
#[derive(clap::Args)]
#[command(after_help = "\
NAME can be a part of the name. Players are counted from 1.\n\n\
Examples:\n  \
    claimeven games list games.jsonl\n  \
    claimeven games list games.jsonl --player mcts --winner draw\n  \
    claimeven games list games.jsonl --distinct\n  \
    claimeven games list games.jsonl --longest 5 --json")]
struct ListArgs {
    #[command(flatten)]
    records: RecordsArgs,

    /// Only games of this player
    #[arg(long, value_name = "NAME")]
    player: Option<String>,

    /// Only games won by this player; 'draw' for drawn games
    #[arg(long, value_name = "NAME")]
    winner: Option<String>,

    /// Only the N longest games, longest first
    #[arg(long, value_name = "N", allow_negative_numbers = true, conflicts_with = "shortest")]
    longest: Option<usize>,

    /// Only the N shortest games, shortest first
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    shortest: Option<usize>,

    /// Only the first of several games with the same board, players and moves
    #[arg(long)]
    distinct: bool,

    /// Print a JSON object per game
    #[arg(long)]
    json: bool,
}

/// Export games to another format
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    claimeven games export games.jsonl --format pgn > games.pgn\n  \
    claimeven games export games.jsonl --format older > older.jsonl")]
struct ExportArgs {
    #[command(flatten)]
    records: RecordsArgs,

    /// Output format
    #[arg(long, value_name = "FORMAT")]
    format: Format,
}

/// Import games in the JSON of older Connect Four programs
#[derive(clap::Args)]
#[command(after_help = "\
Each game is checked against the rules. The older format has no dates, so games are dated 1970, and\n\
only a total time for each player, which is divided among the moves.\n\n\
Examples:\n  \
    claimeven games import older.json > games.jsonl")]
struct ImportArgs {
    /// File of games: JSON objects one after another, or a list of them; - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// JSON object per game, in the format of older Connect Four programs
    Older,
    /// Portable Game Notation, adapted from chess
    Pgn,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    match &args.command {
        Command::List(args) => list(args),
        Command::Export(args) => export(args),
        Command::Import(args) => import(args),
    }
}

fn list(args: &ListArgs) -> Result<(), Failure> {
    let mut records = args.records.read()?;
    records.retain(|record| args.matches(record));
    if args.distinct {
        let mut seen = HashSet::new();
        records.retain(|record| seen.insert(identity(record)));
    }
    if let Some(count) = args.longest {
        records.sort_by_key(|record| Reverse(record.moves.len()));
        records.truncate(count);
    }
    if let Some(count) = args.shortest {
        records.sort_by_key(|record| record.moves.len());
        records.truncate(count);
    }
    let mut out = anstream::stdout().lock();
    if args.json {
        for record in &records {
            writeln!(out, "{}", summary(record))?;
        }
        return Ok(());
    }
    write_table(&mut out, &records)?;
    Ok(())
}

impl ListArgs {
    fn matches(&self, record: &GameRecord) -> bool {
        let is_named = |place: usize, name: &String| record.players[place].name.contains(name);
        let by_player =
            self.player.as_ref().is_none_or(|name| is_named(0, name) || is_named(1, name));
        let by_winner = self.winner.as_ref().is_none_or(|name| match winner(record) {
            Some(winner) => is_named(winner, name),
            None => name == no_winner(record),
        });
        by_player && by_winner
    }
}

/// The entry for a game without a winner.
fn no_winner(record: &GameRecord) -> &'static str {
    if record.result.reason == EndReason::Unfinished { "none" } else { "draw" }
}

/// The index of the winner.
fn winner(record: &GameRecord) -> Option<usize> {
    record.result.winner.filter(|&winner| winner < 2)
}

fn write_table(out: &mut impl Write, records: &[GameRecord]) -> io::Result<()> {
    let header = ["id", "player 1", "player 2", "first", "winner", "reason", "moves", "s 1", "s 2"];
    let mut rows = vec![header.map(str::to_owned)];
    for record in records {
        let [one, two] = &record.players;
        let seconds = |place| format!("{:.3}", record.ms(place) / 1e3);
        rows.push([
            record.id.clone(),
            one.name.clone(),
            two.name.clone(),
            (record.first_player + 1).to_string(),
            winner(record).map_or(no_winner(record).to_owned(), |winner| (winner + 1).to_string()),
            record.result.reason.to_string(),
            record.moves.len().to_string(),
            seconds(0),
            seconds(1),
        ]);
    }
    let widths: [usize; 9] = std::array::from_fn(|column| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)
    });
    for row in &rows {
        let cells = row.iter().zip(widths).enumerate().map(|(column, (text, width))| {
            let is_number = column >= 6;
            if is_number { format!("{text:>width$}") } else { format!("{text:<width$}") }
        });
        writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    writeln!(out, "{}", counted(records.len(), "game"))
}

/// What makes two games the same: the setup, the players in order of play, and the moves.
fn identity(record: &GameRecord) -> (String, [String; 2], String) {
    let players = [0, 1].map(|turn| record.players[record.mover(turn)].agent.clone());
    (format!("{:?}", record.setup), players, record.move_text())
}

fn summary(record: &GameRecord) -> serde_json::Value {
    json!({
        "id": record.id, "players": [record.players[0].name, record.players[1].name],
        "first_player": record.first_player, "winner": record.result.winner,
        "reason": record.result.reason.name(), "moves": record.moves.len(),
        "move_text": record.move_text(), "ms": [record.ms(0), record.ms(1)],
    })
}

fn export(args: &ExportArgs) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    for (index, record) in args.records.read()?.iter().enumerate() {
        match args.format {
            Format::Older => {
                writeln!(out, "{}", serde_json::to_string(&LegacyRecord::new(record)?)?)?;
            }
            Format::Pgn => {
                let between = if index == 0 { "" } else { "\n" };
                write!(out, "{between}{}", pgn(record)?)?;
            }
        }
    }
    Ok(())
}

fn import(args: &ImportArgs) -> Result<(), Failure> {
    let wrong = |error: &dyn std::fmt::Display| Failure::in_file(&args.file, error);
    let text = if args.file.as_os_str() == "-" {
        io::read_to_string(io::stdin().lock())
    } else {
        std::fs::read_to_string(&args.file)
    };
    let text = text.map_err(|error| wrong(&error))?;
    let mut games = Vec::new();
    for document in serde_json::Deserializer::from_str(&text).into_iter() {
        match document.map_err(|error| wrong(&error))? {
            serde_json::Value::Array(list) => games.extend(list),
            game => games.push(game),
        }
    }
    let mut records = Vec::new();
    for (number, game) in (1..).zip(&games) {
        let record = import_legacy(game, u64::to_string(&number));
        records.push(record.map_err(|error| wrong(&format_args!("game {number}: {error}")))?);
    }
    let mut out = anstream::stdout().lock();
    for record in &records {
        writeln!(out, "{}", serde_json::to_string(record)?)?;
    }
    Ok(())
}
