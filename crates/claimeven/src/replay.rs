//! `claimeven replay`: recorded games seen again, and checked.

use std::io::{self, BufRead, IsTerminal, Write};

use claimeven_arena::{GameRecord, RecordError};
use claimeven_game::Game;

use crate::Failure;
use crate::draw::Drawing;
use crate::play::read_line;
use crate::records::RecordsArgs;
use crate::show::status;

/// Go through recorded games again, or check them
#[derive(clap::Args)]
#[command(after_help = "\
On a terminal a game is shown step by step: Enter for the next move, b for the one before, a\n\
number to jump to a move, q to leave. In a pipe it is printed as a whole.\n\n\
--seed-check lets the players choose again. Players with a time limit may well choose otherwise.\n\n\
Examples:\n  \
    claimeven match level:3 level:4 --games 10 --out games.jsonl\n  \
    claimeven replay games.jsonl --game 3\n  \
    claimeven replay games.jsonl --verify\n  \
    claimeven replay games.jsonl --verify --seed-check")]
pub(crate) struct Args {
    #[command(flatten)]
    records: RecordsArgs,

    /// Only the game with this id
    #[arg(long, value_name = "ID")]
    game: Option<String>,

    /// Check every move and result instead of showing them
    #[arg(long)]
    verify: bool,

    /// Check besides that the players choose the same moves again
    #[arg(long)]
    seed_check: bool,

    /// Step by step, though it is no terminal
    #[arg(long, conflicts_with_all = ["verify", "seed_check"])]
    step: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let mut records = args.records.read()?;
    if let Some(id) = &args.game {
        records.retain(|record| record.id == *id);
        if records.is_empty() {
            return Err(Failure::Input(format!("there is no game '{id}' in the file")));
        }
    }
    if args.verify || args.seed_check {
        return verify(&records, args.seed_check);
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
        } else if let Wish::Quit = show.step_through(&mut input, &mut out)? {
            return Ok(());
        }
    }
    Ok(())
}

/// Checks all games, says what is wrong with each that is, and how many were right.
fn verify(records: &[GameRecord], seed_check: bool) -> Result<(), Failure> {
    let (mut moves, mut chosen, mut wrong) = (0, 0, 0);
    let mut check = |record: &GameRecord| -> Result<(), RecordError> {
        record.replay()?;
        moves += record.moves.len();
        if seed_check {
            chosen += record.choose_again()?;
        }
        Ok(())
    };
    for record in records {
        if let Err(error) = check(record) {
            anstream::eprintln!("claimeven: {error}");
            wrong += 1;
        }
    }
    if wrong > 0 {
        return Err(Failure::Input(format!("{wrong} of {} games are not right", records.len())));
    }
    let mut out = anstream::stdout().lock();
    writeln!(out, "{} games: all {moves} moves are legal, all results right", records.len())?;
    if seed_check {
        writeln!(out, "{chosen} moves were chosen again as they were")?;
    }
    Ok(())
}

/// A game on show.
struct Show<'a> {
    record: &'a GameRecord,
    game: Game,
}

/// What a person wants after a game.
enum Wish {
    Next,
    Quit,
}

impl Show<'_> {
    fn write_header(&self, out: &mut impl Write) -> io::Result<()> {
        let GameRecord { id, time, players, first_player, .. } = self.record;
        let (first, second) = (&players[*first_player].name, &players[1 - first_player].name);
        let setup = self.game.position().setup();
        writeln!(out, "game {id}, {time}, {setup}: X is {first}, O is {second}")
    }

    fn write_all(&self, out: &mut impl Write) -> io::Result<()> {
        for ply in 1..=self.game.moves().len() {
            writeln!(out, "{}", self.move_line(ply))?;
        }
        writeln!(out)?;
        self.write_position(out, self.game.moves().len())?;
        writeln!(out, "moves: {}\n", self.game.move_text())
    }

    fn step_through(&self, input: &mut impl BufRead, out: &mut impl Write) -> io::Result<Wish> {
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
                    return Ok(Wish::Quit);
                };
                match (line.trim(), line.trim().parse::<usize>()) {
                    ("", _) if ply == last => return Ok(Wish::Next),
                    ("", _) => break ply + 1,
                    ("b", _) => break ply.saturating_sub(1),
                    ("q", _) => return Ok(Wish::Quit),
                    (_, Ok(number)) if number <= last => break number,
                    (text, _) => writeln!(
                        out,
                        "{text:?} is none of Enter (next), b (back), 0 to {last} (jump) and q (quit)"
                    )?,
                }
            };
        }
    }

    /// The position after so many moves.
    fn write_position(&self, out: &mut impl Write, ply: usize) -> io::Result<()> {
        let mut game = self.game.clone();
        while game.moves().len() > ply {
            game.undo();
        }
        let position = game.position();
        writeln!(out, "{}", Drawing { position, last_move: game.moves().last().copied() })?;
        writeln!(out, "{}", self.status(&game))
    }

    /// Whose turn it is or who won, also where the rules had not ended the game.
    fn status(&self, game: &Game) -> String {
        let result = &self.record.result;
        let is_last = game.moves().len() == self.game.moves().len();
        match (is_last && game.position().outcome().is_none(), result.winner) {
            (true, Some(winner)) => {
                let (winner, loser) =
                    if winner == self.record.first_player { ('X', 'O') } else { ('O', 'X') };
                let detail = result.detail.iter().map(|detail| format!(" ({detail})"));
                let detail: String = detail.collect();
                format!(
                    "{winner} wins on ply {}, {loser}: {}{detail}",
                    game.moves().len(),
                    result.reason
                )
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
                "{ply:>3}. {disc} {column}  {value}, {} nodes, {:.1} ms",
                played.nodes, played.ms
            ),
        }
    }
}
