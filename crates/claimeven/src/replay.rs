//! `claimeven replay`: steps through recorded games, and verifies them.

use std::io::{self, BufRead, IsTerminal, Write};

use claimeven_arena::{GameRecord, RecordError};
use claimeven_game::Game;
use serde_json::json;

use crate::Failure;
use crate::draw::Drawing;
use crate::failure::print_error;
use crate::output::print_json;
use crate::play::read_line;
use crate::records::{RecordsArgs, pick};
use crate::show::status;
use crate::text::{counted, lost_by};

/// Step through recorded games, or verify them
#[derive(clap::Args)]
#[command(after_help = "\
On a terminal, games are shown step by step: Enter for the next move, b for the previous one, a\n\
number to jump to a move, q to quit. In a pipe, whole games are printed.\n\n\
--seed-check lets the players choose their moves again. Players with a time limit may choose\n\
different ones.\n\n\
Examples:\n  \
    claimeven match level:3 level:4 --games 10 --out games.jsonl\n  \
    claimeven replay games.jsonl --game 3\n  \
    claimeven replay games.jsonl --verify\n  \
    claimeven replay games.jsonl --verify --seed-check")]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct Args {
    #[command(flatten)]
    records: RecordsArgs,

    /// Only the game with this id, or with this number in the file
    #[arg(long, value_name = "ID")]
    game: Option<String>,

    /// Check that all moves are legal and all results correct, instead of showing the games
    #[arg(long)]
    verify: bool,

    /// Also check that the players choose the same moves again (implies --verify)
    #[arg(long)]
    seed_check: bool,

    /// Show games step by step even in a pipe
    #[arg(long, conflicts_with_all = ["verify", "seed_check"])]
    step: bool,

    /// Print the result of --verify as JSON
    #[arg(long, conflicts_with = "step")]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let mut records = args.records.read()?;
    if let Some(id) = &args.game {
        records = vec![pick(records, Some(id))?];
    }
    if args.verify || args.seed_check {
        return verify(&records, args);
    }
    let mut out = anstream::stdout().lock();
    let on_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let steps = args.step || (on_terminal && !args.records.is_standard_input());
    let mut input = io::stdin().lock();
    for record in &records {
        let show = Show { record, game: record.replay()? };
        show.write_header(&mut out)?;
        if !steps {
            show.write_all(&mut out)?;
        } else if let After::Quit = show.step_through(&mut input, &mut out)? {
            return Ok(());
        }
    }
    Ok(())
}

/// Checks all games, and reports the first error of each.
fn verify(records: &[GameRecord], args: &Args) -> Result<(), Failure> {
    let (mut moves, mut chosen, mut wrong) = (0, 0, 0);
    let mut check = |record: &GameRecord| -> Result<(), RecordError> {
        record.replay()?;
        moves += record.moves.len();
        if args.seed_check {
            chosen += record.choose_again()?;
        }
        Ok(())
    };
    for record in records {
        if let Err(error) = check(record) {
            print_error(&error.to_string());
            wrong += 1;
        }
    }
    let games = counted(records.len(), "game");
    if args.json {
        let reproduced = args.seed_check.then_some(chosen);
        let games = records.len();
        let report = json!({ "games": games, "invalid": wrong, "moves": moves, "reproduced_moves": reproduced });
        print_json(&report)?;
    }
    if wrong > 0 {
        let invalid = counted(wrong, "invalid game");
        return Err(Failure::Input(format!("{invalid} ({} checked)", records.len())));
    }
    if args.json {
        return Ok(());
    }
    let mut out = anstream::stdout().lock();
    writeln!(out, "{games}, {}: all legal, all results correct", counted(moves, "move"))?;
    if args.seed_check {
        writeln!(out, "{} reproduced", counted(chosen, "move"))?;
    }
    Ok(())
}

/// A game being shown.
struct Show<'a> {
    record: &'a GameRecord,
    game: Game,
}

/// What to do after a game.
enum After {
    NextGame,
    Quit,
}

impl Show<'_> {
    fn write_header(&self, out: &mut impl Write) -> io::Result<()> {
        let GameRecord { id, time, players, first_player, .. } = self.record;
        let (first, second) = (&players[*first_player].name, &players[1 - first_player].name);
        let setup = self.game.position().setup();
        writeln!(out, "Game {id}, {time}, {setup}: X is {first}, O is {second}")
    }

    fn write_all(&self, out: &mut impl Write) -> io::Result<()> {
        for ply in 1..=self.game.moves().len() {
            writeln!(out, "{}", self.move_line(ply))?;
        }
        writeln!(out)?;
        self.write_position(out, self.game.moves().len())?;
        writeln!(out, "moves: {}\n", self.game.move_text())
    }

    fn step_through(&self, input: &mut impl BufRead, out: &mut impl Write) -> io::Result<After> {
        let last = self.game.moves().len();
        let mut ply = 0;
        loop {
            writeln!(out)?;
            if ply > 0 {
                writeln!(out, "{}", self.move_line(ply))?;
            }
            self.write_position(out, ply)?;
            ply = loop {
                write!(out, "{ply}/{last}> ")?;
                out.flush()?;
                let Some(line) = read_line(input)? else {
                    writeln!(out)?;
                    return Ok(After::Quit);
                };
                match (line.trim(), line.trim().parse::<usize>()) {
                    ("", _) if ply == last => return Ok(After::NextGame),
                    ("", _) => break ply + 1,
                    ("b", _) => break ply.saturating_sub(1),
                    ("q", _) => return Ok(After::Quit),
                    (_, Ok(number)) if number <= last => break number,
                    (text, _) => writeln!(
                        out,
                        "unknown command '{text}': Enter for the next move, b for the previous one, \
                         0 to {last} to jump, q to quit"
                    )?,
                }
            };
        }
    }

    /// The position after this many moves.
    fn write_position(&self, out: &mut impl Write, ply: usize) -> io::Result<()> {
        let mut game = self.game.clone();
        while game.moves().len() > ply {
            game.undo();
        }
        let position = game.position();
        writeln!(out, "{}", Drawing { position, last_move: game.moves().last().copied() })?;
        writeln!(out, "{}", self.status(&game))
    }

    /// The side to move or the result, which may be a resignation, a loss on time or a forfeit.
    fn status(&self, game: &Game) -> String {
        let result = &self.record.result;
        let is_last = game.moves().len() == self.game.moves().len();
        match (is_last && game.position().outcome().is_none(), result.winner) {
            (true, Some(winner)) => {
                let (winner, loser) =
                    if winner == self.record.first_player { ('X', 'O') } else { ('O', 'X') };
                let detail = result.detail.iter().map(|detail| format!(" ({detail})"));
                let detail: String = detail.collect();
                let ply = game.moves().len();
                format!("{winner} wins: {loser} {}{detail}, ply {ply}", lost_by(result.reason))
            }
            _ => status(game.position()),
        }
    }

    fn move_line(&self, ply: usize) -> String {
        let played = &self.record.moves[ply - 1];
        let disc = if ply % 2 == 1 { 'X' } else { 'O' };
        let column = self.game.moves()[ply - 1];
        match &played.value {
            None => format!("{ply:>3}. {disc} {column}"),
            Some(value) => format!(
                "{ply:>3}. {disc} {column}  {value}, {}, {:.1} ms",
                counted(played.nodes, "node"),
                played.ms
            ),
        }
    }
}
