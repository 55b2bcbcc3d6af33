//! The game line by line, for pipes and for those who like it so.

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::time::Instant;

use claimeven_arena::{Reason, Review, ReviewOptions, Seat};
use claimeven_game::{Column, Player, Setup};
use claimeven_search::{Agent, Limits};

use super::app::{TRUTH_TIME, hinter};
use super::table::{Played, Table};
use crate::Failure;
use crate::draw::{Drawing, disc_style};
use crate::records::load;
use crate::review::write_review;

pub(crate) fn run(table: Table) -> Result<(), Failure> {
    let mut session = Session { table, agents: [None, None] };
    session.play(io::stdin().lock(), anstream::stdout().lock())
}

/// What a person can type.
#[derive(Clone, Copy)]
enum Entry<'a> {
    Play(Column),
    Undo,
    Redo,
    Hint,
    New,
    Resign,
    Switch,
    /// Another player for a seat.
    Seat(Player, &'a str),
    Save(&'a str),
    Load(&'a str),
    Review,
    Help,
    Quit,
}

struct Session {
    table: Table,
    /// The programs at the table, made when they are to move first.
    agents: [Option<Box<dyn Agent>>; 2],
}

impl Session {
    fn play(&mut self, mut input: impl BufRead, mut out: impl Write) -> Result<(), Failure> {
        self.write_head(&mut out)?;
        let mut drawn = None;
        loop {
            let table = &self.table;
            let mover = table.position().player();
            let awaits_human = table.agent_to_move().is_none();
            let is_news = drawn.as_ref() != Some(&(table.game().clone(), table.is_over()));
            if (awaits_human || !table.has_human()) && is_news {
                self.draw(&mut out)?;
                drawn = Some((self.table.game().clone(), self.table.is_over()));
            }
            if self.table.is_over() && !self.table.has_human() {
                return Ok(());
            }
            if !awaits_human {
                self.let_agent_move(mover, &mut out)?;
                continue;
            }

            let is_over = self.table.is_over();
            let prompt = if is_over { "game over".to_owned() } else { name(mover) };
            write!(out, "{prompt}> ")?;
            out.flush()?;
            let start = Instant::now();
            let Some(line) = read_line(&mut input)? else {
                writeln!(out)?;
                return self.say_goodbye(&mut out);
            };
            let time = start.elapsed();
            let is_late =
                !is_over && self.table.left(mover, time).is_some_and(|left| left.is_zero());
            if is_late {
                self.table.end(mover, Reason::Time);
                continue;
            }
            let entry = match parse_entry(line.trim(), self.table.setup()) {
                Ok(Entry::Quit) => return self.say_goodbye(&mut out),
                Ok(Entry::Play(column)) => {
                    if let Err(error) = self.table.play(Played::by_hand(column, time)) {
                        writeln!(out, "{error}")?;
                    }
                    continue;
                }
                Ok(entry) => entry,
                Err(message) => {
                    writeln!(out, "{message}")?;
                    continue;
                }
            };
            if self.obey(entry, &mut out)? {
                drawn = None;
            }
        }
    }

    /// Does what was typed; returns whether the board is to be drawn again.
    fn obey(&mut self, entry: Entry, out: &mut impl Write) -> Result<bool, Failure> {
        match entry {
            Entry::Play(_) | Entry::Quit => {}
            Entry::Undo => {
                if !self.table.undo() {
                    writeln!(out, "there is no move to take back")?;
                }
            }
            Entry::Redo => {
                if !self.table.redo() {
                    writeln!(out, "there is no move to play again")?;
                }
            }
            Entry::Hint => self.hint(out)?,
            Entry::New => {
                self.sit_down(self.table.again()?);
                return Ok(true);
            }
            Entry::Resign => {
                if let Some(player) = self.table.resigner() {
                    self.table.end(player, Reason::Resigned);
                }
            }
            Entry::Switch => {
                self.table.switch_sides();
                self.agents.swap(0, 1);
                self.write_head(out)?;
            }
            Entry::Seat(player, text) => {
                let changed = match text.parse::<Seat>() {
                    Ok(seat) => self.table.set_seat(player, seat),
                    Err(error) => Err(error.into()),
                };
                match changed {
                    Ok(()) => {
                        self.agents[player.index()] = None;
                        self.write_head(out)?;
                    }
                    Err(failure) => writeln!(out, "{}", failure.message())?,
                }
            }
            Entry::Save(path) => match self.table.save(Path::new(path)) {
                Ok(()) => writeln!(out, "saved to {path}")?,
                Err(error) => writeln!(out, "{path}: {error}")?,
            },
            Entry::Load(text) => {
                let (file, game) = match text.rsplit_once('#') {
                    Some((file, game)) => (file, Some(game)),
                    None => (text, None),
                };
                let table =
                    load(Path::new(file), game).and_then(|record| Table::of_record(&record));
                match table {
                    Ok(table) => {
                        self.sit_down(table);
                        self.write_head(out)?;
                        return Ok(true);
                    }
                    Err(failure) => writeln!(out, "{}", failure.message())?,
                }
            }
            Entry::Review => {
                let review = Review::of(self.table.game(), &ReviewOptions::default());
                write_review(out, &review)?;
            }
            Entry::Help => writeln!(out, "{}", help(self.table.setup()))?,
        }
        Ok(false)
    }

    fn sit_down(&mut self, table: Table) {
        *self = Session { table, agents: [None, None] };
    }

    fn let_agent_move(&mut self, mover: Player, out: &mut impl Write) -> Result<(), Failure> {
        let setup = self.table.setup();
        let Seat::Agent(spec) = self.table.seat(mover) else { return Ok(()) };
        let agent = match &mut self.agents[mover.index()] {
            Some(agent) => agent,
            none => none.insert(spec.build(setup, 0)?),
        };
        let left = self.table.left(mover, std::time::Duration::ZERO);
        let time = self.table.clock().zip(left).map(|(clock, left)| clock.budget(left));
        let limits = Limits { time, ..Limits::default() };
        let decision = agent.decide(self.table.position(), &limits)?;
        if self.table.left(mover, decision.time).is_some_and(|left| left.is_zero()) {
            self.table.end(mover, Reason::Time);
            return Ok(());
        }
        writeln!(out, "\n{} plays {}", name(mover), decision.column)?;
        self.table.play(Played::by_agent(&decision)).expect("players choose legal columns");
        Ok(())
    }

    fn hint(&self, out: &mut impl Write) -> Result<(), Failure> {
        if self.table.is_over() {
            writeln!(out, "the game is over")?;
            return Ok(());
        }
        let spec: claimeven_arena::AgentSpec = hinter(self.table.setup()).parse()?;
        let limits = Limits { time: Some(TRUTH_TIME), ..Limits::default() };
        let decision = spec.build(self.table.setup(), 0)?.decide(self.table.position(), &limits)?;
        writeln!(out, "hint: column {}, {}", decision.column, decision.value)?;
        Ok(())
    }

    fn write_head(&self, out: &mut impl Write) -> Result<(), Failure> {
        let setup = self.table.setup();
        let [first, second] = self.table.seats();
        writeln!(out, "{setup}: X is {first}, O is {second}")?;
        if self.table.has_human() {
            writeln!(out, "{}", short_help(setup))?;
        }
        Ok(())
    }

    fn draw(&self, out: &mut impl Write) -> io::Result<()> {
        let position = self.table.position();
        let last_move = self.table.game().moves().last().copied();
        writeln!(out, "\n{}", Drawing { position, last_move })?;
        writeln!(out, "{}, time: {}", self.table.status(), self.times())
    }

    fn say_goodbye(&self, out: &mut impl Write) -> Result<(), Failure> {
        let moves = self.table.game().move_text();
        let moves = if moves.is_empty() { "none" } else { &moves };
        writeln!(out, "moves: {moves}, time: {}", self.times())?;
        Ok(())
    }

    fn times(&self) -> String {
        let [first, second] = Player::BOTH.map(|player| self.table.spent(player).as_secs_f64());
        format!("X {first:.1} s, O {second:.1} s")
    }
}

fn name(player: Player) -> String {
    let style = disc_style(player);
    format!("{style}{player}{style:#}")
}

fn short_help(setup: Setup) -> String {
    format!("Type a column ({}), or undo, hint, new, help, quit.", Column::names(setup))
}

fn help(setup: Setup) -> String {
    format!(
        "Type a column ({}), or one of these:\n  \
        undo, redo         take back to your last move, play it again\n  \
        hint               the best column\n  \
        resign             give the game up\n  \
        switch             change sides\n  \
        first PLAYER       let another player have X: human, level:6, perfect ...\n  \
        second PLAYER      let another player have O\n  \
        save FILE          add the game to a file of records\n  \
        load FILE          go on with the last game of a file, or its third: FILE#3\n  \
        review             judge the moves by exact scores\n  \
        new, help, quit",
        Column::names(setup)
    )
}

/// Understands what was typed. Commands may be shortened to a letter that names no column.
fn parse_entry(text: &str, setup: Setup) -> Result<Entry<'_>, String> {
    let mut characters = text.chars();
    let column = match (characters.next(), characters.next()) {
        (Some(character), None) => Column::from_char(character),
        _ => None,
    };
    if let Some(column) = column.filter(|column| column.index() < setup.cols().into()) {
        return Ok(Entry::Play(column));
    }
    let (command, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim();
    match (command.to_ascii_lowercase().as_str(), rest) {
        ("u" | "undo", "") => Ok(Entry::Undo),
        ("r" | "redo", "") => Ok(Entry::Redo),
        ("hint", "") => Ok(Entry::Hint),
        ("n" | "new", "") => Ok(Entry::New),
        ("resign", "") => Ok(Entry::Resign),
        ("switch", "") => Ok(Entry::Switch),
        ("review", "") => Ok(Entry::Review),
        ("h" | "?" | "help", "") => Ok(Entry::Help),
        ("q" | "quit" | "exit", "") => Ok(Entry::Quit),
        ("first" | "second" | "save" | "load", "") => {
            Err(format!("{text} needs a name after it, as help shows"))
        }
        ("first", text) => Ok(Entry::Seat(Player::First, text)),
        ("second", text) => Ok(Entry::Seat(Player::Second, text)),
        ("save", path) => Ok(Entry::Save(path)),
        ("load", path) => Ok(Entry::Load(path)),
        _ => Err(format!(
            "{text:?} is no column ({}), nor undo, hint, new, help, quit",
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
