//! `claimeven play`: a game at the terminal or through a pipe, line by line.

use std::fmt;
use std::io::{self, BufRead, Write};
use std::str::FromStr;
use std::time::{Duration, Instant};

use claimeven_game::{Column, Game, Player, Setup};

use crate::Failure;
use crate::draw::{Drawing, disc_style};
use crate::setup::SetupArgs;
use crate::show::status;

/// Play a game in the terminal
#[derive(clap::Args)]
#[command(
    after_help = "Players: human, random, random:seed=N. The first one has X and begins.\n\n\
    Examples:\n  \
    claimeven play\n  \
    claimeven play human human --cols 9 --rows 7\n  \
    claimeven play random:seed=7 human --ruleset lines\n  \
    printf '4\\n4\\nquit\\n' | claimeven play --plain"
)]
pub(crate) struct Args {
    /// Who plays X and moves first
    #[arg(value_name = "FIRST", default_value = "human")]
    first: Seat,

    /// Who plays O
    #[arg(value_name = "SECOND", default_value = "random")]
    second: Seat,

    /// Line by line in plain text, which is also how it plays in a pipe
    #[arg(long)]
    plain: bool,

    #[command(flatten)]
    setup: SetupArgs,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let setup = args.setup.setup()?;
    let mut session = Session {
        game: Game::new(setup),
        seats: [args.first, args.second],
        spent: [Duration::ZERO; 2],
    };
    session.play(io::stdin().lock(), anstream::stdout().lock())
}

/// Who chooses a side's moves.
#[derive(Clone)]
enum Seat {
    Human,
    Random { seed: u64, generator: fastrand::Rng },
}

impl FromStr for Seat {
    type Err = String;

    fn from_str(text: &str) -> Result<Seat, String> {
        let (name, parameters) = text.split_once(':').unwrap_or((text, ""));
        let mut seed = None;
        for parameter in parameters.split(',').filter(|parameter| !parameter.is_empty()) {
            match parameter.split_once('=') {
                Some(("seed", value)) if name == "random" => {
                    let wrong =
                        |_| format!("seed '{value}' is not a whole number from 0 to {}", u64::MAX);
                    seed = Some(value.parse().map_err(wrong)?);
                }
                _ if name == "random" => {
                    return Err(format!(
                        "'{parameter}' is no parameter of random (there is seed=N)"
                    ));
                }
                _ => return Err(format!("{name} has no parameters, not '{parameter}'")),
            }
        }
        match name {
            "human" => Ok(Seat::Human),
            "random" => {
                let seed = seed.unwrap_or_else(|| fastrand::u64(..));
                Ok(Seat::Random { seed, generator: fastrand::Rng::with_seed(seed) })
            }
            _ => Err(format!("there is no player '{name}' (there are human and random)")),
        }
    }
}

impl fmt::Display for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Seat::Human => f.write_str("human"),
            Seat::Random { seed, .. } => write!(f, "random:seed={seed}"),
        }
    }
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
    seats: [Seat; 2],
    spent: [Duration; 2],
}

impl Session {
    fn play(&mut self, mut input: impl BufRead, mut out: impl Write) -> Result<(), Failure> {
        let setup = self.game.position().setup();
        let [first, second] = &self.seats;
        writeln!(out, "{setup}: X is {first}, O is {second}")?;
        let has_human = self.seats.iter().any(|seat| matches!(seat, Seat::Human));
        if has_human {
            writeln!(out, "{}", help(setup))?;
        }
        let mut drawn = None;
        loop {
            let over = self.game.position().outcome().is_some();
            let mover = self.game.position().player();
            let awaits_human = over || matches!(self.seats[mover.index()], Seat::Human);
            if (awaits_human || !has_human) && drawn.as_ref() != Some(&self.game) {
                self.draw(&mut out)?;
                drawn = Some(self.game.clone());
            }
            if over && !has_human {
                return Ok(());
            }
            if let (false, Seat::Random { generator, .. }) = (over, &mut self.seats[mover.index()])
            {
                let start = Instant::now();
                let legal: Vec<Column> = self.game.position().legal().collect();
                let column = legal[generator.usize(..legal.len())];
                self.spent[mover.index()] += start.elapsed();
                writeln!(out, "\n{} plays {column}", name(mover))?;
                self.game.play(column).expect("the column is a legal one");
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
        let Some(last) = plies.rev().find(|ply| matches!(self.seats[ply % 2], Seat::Human)) else {
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
fn read_line(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    let read = input.read_until(b'\n', &mut bytes)?;
    Ok((read > 0).then(|| String::from_utf8_lossy(&bytes).into_owned()))
}
