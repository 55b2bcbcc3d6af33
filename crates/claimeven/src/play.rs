//! `claimeven play`: a game at the terminal or through a pipe, line by line.

use std::io::{self, BufRead, Write};
use std::time::{Duration, Instant};

use claimeven_arena::Seat;
use claimeven_game::{Column, Game, Player, Setup};
use claimeven_search::{Agent, Limits};

use crate::Failure;
use crate::draw::{Drawing, disc_style};
use crate::setup::SetupArgs;
use crate::show::status;

/// Play a game in the terminal
#[derive(clap::Args)]
#[command(
    after_help = "Players: human, level:1 to level:10, or any of `claimeven agents`. The first one has X\n\
    and begins.\n\n\
    Examples:\n  \
    claimeven play\n  \
    claimeven play perfect human\n  \
    claimeven play alphabeta:depth=8 mcts:sims=20000\n  \
    claimeven play human human --cols 9 --rows 7\n  \
    claimeven play random:seed=7 human --ruleset lines\n  \
    printf '4\\n4\\nquit\\n' | claimeven play --plain"
)]
pub(crate) struct Args {
    /// Who plays X and moves first
    #[arg(value_name = "FIRST", default_value = "human")]
    first: Seat,

    /// Who plays O
    #[arg(value_name = "SECOND", default_value = "level:4")]
    second: Seat,

    /// Line by line in plain text, which is also how it plays in a pipe
    #[arg(long)]
    plain: bool,

    #[command(flatten)]
    setup: SetupArgs,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let setup = args.setup.setup()?;
    let players = [player(args.first, setup)?, player(args.second, setup)?];
    let mut session = Session { game: Game::new(setup), players, spent: [Duration::ZERO; 2] };
    session.play(io::stdin().lock(), anstream::stdout().lock())
}

/// Who chooses a side's moves.
struct Seated {
    seat: Seat,
    /// `None` for a person.
    agent: Option<Box<dyn Agent>>,
}

/// Takes a seat; a program that is given no seed gets one that is on show.
fn player(seat: Seat, setup: Setup) -> Result<Seated, Failure> {
    let Seat::Agent(spec) = seat else { return Ok(Seated { seat, agent: None }) };
    let seed = fastrand::u32(..).into();
    let spec = if spec.given("seed").is_some() {
        spec
    } else {
        spec.with("seed", &u64::to_string(&seed))?
    };
    let agent = Some(spec.build(setup, seed)?);
    Ok(Seated { seat: Seat::Agent(spec), agent })
}

/// What a person can type.
enum Entry {
    Play(Column),
    Undo,
    New,
    Help,
    Quit,
}

struct Session {
    game: Game,
    players: [Seated; 2],
    spent: [Duration; 2],
}

impl Session {
    fn play(&mut self, mut input: impl BufRead, mut out: impl Write) -> Result<(), Failure> {
        let setup = self.game.position().setup();
        let [first, second] = &self.players;
        writeln!(out, "{setup}: X is {}, O is {}", first.seat, second.seat)?;
        let has_human = self.players.iter().any(|player| player.agent.is_none());
        if has_human {
            writeln!(out, "{}", help(setup))?;
        }
        let mut drawn = None;
        loop {
            let over = self.game.position().outcome().is_some();
            let mover = self.game.position().player();
            let awaits_human = over || self.players[mover.index()].agent.is_none();
            if (awaits_human || !has_human) && drawn.as_ref() != Some(&self.game) {
                self.draw(&mut out)?;
                drawn = Some(self.game.clone());
            }
            if over && !has_human {
                return Ok(());
            }
            if let (false, Some(agent)) = (over, &mut self.players[mover.index()].agent) {
                let decision = agent.decide(self.game.position(), &Limits::default())?;
                self.spent[mover.index()] += decision.time;
                writeln!(out, "\n{} plays {}", name(mover), decision.column)?;
                self.game.play(decision.column).expect("players choose legal columns");
                continue;
            }

            let prompt = if over { "game over".to_owned() } else { name(mover) };
            write!(out, "{prompt}> ")?;
            out.flush()?;
            let start = Instant::now();
            let line = read_line(&mut input)?;
            if !over {
                self.spent[mover.index()] += start.elapsed();
            }
            let Some(line) = line else {
                writeln!(out)?;
                return self.say_goodbye(&mut out);
            };
            match parse_entry(line.trim(), setup) {
                Ok(Entry::Play(column)) => {
                    if let Err(error) = self.game.play(column) {
                        writeln!(out, "{error}")?;
                    }
                }
                Ok(Entry::Undo) => {
                    if !self.undo() {
                        writeln!(out, "there is no move to take back")?;
                    }
                }
                Ok(Entry::New) => {
                    self.game = Game::new(setup);
                    self.spent = [Duration::ZERO; 2];
                    drawn = None;
                }
                Ok(Entry::Help) => writeln!(out, "{}", help(setup))?,
                Ok(Entry::Quit) => return self.say_goodbye(&mut out),
                Err(message) => writeln!(out, "{message}")?,
            }
        }
    }

    /// Takes back moves until it is a person's turn again, if a person has moved at all.
    fn undo(&mut self) -> bool {
        let plies = 0..self.game.moves().len();
        let Some(last) = plies.rev().find(|ply| self.players[ply % 2].agent.is_none()) else {
            return false;
        };
        while self.game.moves().len() > last {
            self.game.undo();
        }
        true
    }

    fn draw(&self, out: &mut impl Write) -> io::Result<()> {
        let position = self.game.position();
        let last_move = self.game.moves().last().copied();
        writeln!(out, "\n{}", Drawing { position, last_move })?;
        writeln!(out, "{}, time: {}", status(position), self.times())
    }

    fn say_goodbye(&self, out: &mut impl Write) -> Result<(), Failure> {
        let moves = self.game.move_text();
        let moves = if moves.is_empty() { "none" } else { &moves };
        writeln!(out, "moves: {moves}, time: {}", self.times())?;
        Ok(())
    }

    fn times(&self) -> String {
        let [first, second] = self.spent.map(|spent| spent.as_secs_f64());
        format!("X {first:.1} s, O {second:.1} s")
    }
}

fn name(player: Player) -> String {
    let style = disc_style(player);
    format!("{style}{player}{style:#}")
}

fn help(setup: Setup) -> String {
    format!("Type a column ({}), or undo, new, help, quit.", Column::names(setup))
}

/// Understands what was typed. Commands may be shortened to a letter that names no column.
fn parse_entry(text: &str, setup: Setup) -> Result<Entry, String> {
    let mut characters = text.chars();
    let column = match (characters.next(), characters.next()) {
        (Some(character), None) => Column::from_char(character),
        _ => None,
    };
    if let Some(column) = column.filter(|column| column.index() < setup.cols().into()) {
        return Ok(Entry::Play(column));
    }
    match text.to_ascii_lowercase().as_str() {
        "u" | "undo" => Ok(Entry::Undo),
        "n" | "new" => Ok(Entry::New),
        "h" | "?" | "help" => Ok(Entry::Help),
        "q" | "quit" | "exit" => Ok(Entry::Quit),
        _ => Err(format!(
            "{text:?} is no column ({}), nor undo, new, help, quit",
            Column::names(setup)
        )),
    }
}

/// One line without regard to its encoding; `None` at the end of the input.
pub(crate) fn read_line(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    let read = input.read_until(b'\n', &mut bytes)?;
    Ok((read > 0).then(|| String::from_utf8_lossy(&bytes).into_owned()))
}
