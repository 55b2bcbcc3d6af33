//! The game line by line, for pipes and for those who like it so.

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use claimeven_arena::{AgentSpec, Reason, Review, ReviewOptions, Seat};
use claimeven_game::{Column, Player, Setup};
use claimeven_search::{Agent, Decision, Limits, Thoughts};

use super::app::{TRUTH_TIME, hinter};
use super::screen::thought_texts;
use super::table::{Played, Table};
use crate::Failure;
use crate::analyze::write_opinion;
use crate::draw::{Drawing, disc_style};
use crate::records::load;
use crate::review::write_review;

/// Plays at a table. Programs that play each other wait for so long before each move, or for an
/// empty line if they go step by step.
pub(crate) fn run(table: Table, pace: Duration, is_stepping: bool) -> Result<(), Failure> {
    let mut session = Session { table, agents: [None, None], pace, is_stepping };
    session.play(io::stdin().lock(), anstream::stdout().lock())
}

/// How often a player that thinks is asked how far it is.
const THOUGHT_TIME: Duration = Duration::from_secs(1);

/// What a person can type.
#[derive(Clone, Copy)]
enum Entry<'a> {
    Play(Column),
    /// The next move of programs that go step by step.
    Step,
    /// Programs go on without being asked.
    Go,
    Undo,
    Redo,
    Hint,
    /// What a player thinks of each column, or the truth.
    Opinion(&'a str),
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
    pace: Duration,
    is_stepping: bool,
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
            let awaits_step = self.is_stepping && !self.table.has_human();
            if !awaits_human && !awaits_step {
                if !self.table.has_human() {
                    thread::sleep(self.pace);
                }
                self.let_agent_move(mover, &mut out)?;
                continue;
            }

            let is_over = self.table.is_over();
            let prompt = match (is_over, awaits_step) {
                (true, _) => "game over".to_owned(),
                (_, true) => "Enter".to_owned(),
                _ => name(mover),
            };
            write!(out, "{prompt}> ")?;
            out.flush()?;
            let start = Instant::now();
            let Some(line) = read_line(&mut input)? else {
                writeln!(out)?;
                return self.say_goodbye(&mut out);
            };
            let time = start.elapsed();
            let is_late = awaits_human
                && !is_over
                && self.table.left(mover, time).is_some_and(|left| left.is_zero());
            if is_late {
                self.table.end(mover, Reason::Time);
                continue;
            }
            let entry = match parse_entry(line.trim(), self.table.setup()) {
                Ok(Entry::Quit) => return self.say_goodbye(&mut out),
                Ok(Entry::Step) if awaits_step => {
                    self.let_agent_move(mover, &mut out)?;
                    continue;
                }
                Ok(Entry::Play(_)) if awaits_step => {
                    writeln!(out, "programs play here: Enter for a move, go for all, help")?;
                    continue;
                }
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
            Entry::Step => writeln!(out, "{}", short_help(self.table.setup()))?,
            Entry::Go => self.is_stepping = false,
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
            Entry::Opinion(by) => {
                if let Err(failure) = self.tell_opinion(by, out) {
                    writeln!(out, "{}", failure.message())?;
                }
            }
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
        self.table = table;
        self.agents = [None, None];
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
        let thoughts = Arc::new(Thoughts::default());
        let limits = Limits { time, thoughts: Some(Arc::clone(&thoughts)), ..Limits::default() };
        let position = self.table.position();
        let decision = thread::scope(|scope| -> Result<Decision, Failure> {
            let (sender, answer) = mpsc::channel();
            scope.spawn(move || {
                // Nobody listens when the output has failed.
                let _ = sender.send(agent.decide(position, &limits));
            });
            loop {
                match answer.recv_timeout(THOUGHT_TIME) {
                    Ok(decision) => return Ok(decision?),
                    Err(RecvTimeoutError::Timeout) => {
                        let [effort, line] = thought_texts(&thoughts.now());
                        writeln!(out, "{} thinks: {effort}, {line}", name(mover))?;
                    }
                    Err(RecvTimeoutError::Disconnected) => {
                        return Err(Failure::Input("the player has failed".to_owned()));
                    }
                }
            }
        })?;
        if self.table.left(mover, decision.time).is_some_and(|left| left.is_zero()) {
            self.table.end(mover, Reason::Time);
            return Ok(());
        }
        write!(out, "\n{} plays {}", name(mover), decision.column)?;
        if decision.work.nodes > 1 {
            let [effort, line] = thought_texts(&decision.thought());
            write!(out, ": {effort}, {line}")?;
        }
        writeln!(out)?;
        self.table.play(Played::by_agent(&decision)).expect("players choose legal columns");
        Ok(())
    }

    fn hint(&self, out: &mut impl Write) -> Result<(), Failure> {
        match self.ask(hinter(self.table.setup()))? {
            Some(decision) => {
                writeln!(out, "hint: column {}, {}", decision.column, decision.value)?;
            }
            None => writeln!(out, "the game is over")?,
        }
        Ok(())
    }

    /// Writes what somebody thinks of each column.
    fn tell_opinion(&self, by: &str, out: &mut impl Write) -> Result<(), Failure> {
        match self.ask(by)? {
            Some(decision) => {
                writeln!(out, "\n{}", self.drawing())?;
                write_opinion(out, self.table.position(), &decision)
            }
            None => Ok(writeln!(out, "the game is over")?),
        }
    }

    /// What a player would do in the position on the table, unless the game is over.
    fn ask(&self, agent: &str) -> Result<Option<Decision>, Failure> {
        if self.table.is_over() {
            return Ok(None);
        }
        let spec: AgentSpec = agent.parse()?;
        let limits = Limits { time: Some(TRUTH_TIME), ..Limits::default() };
        let mut agent = spec.build(self.table.setup(), 0)?;
        Ok(Some(agent.decide(self.table.position(), &limits)?))
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
        writeln!(out, "\n{}", self.drawing())?;
        writeln!(out, "{}, time: {}", self.table.status(), self.times())
    }

    fn drawing(&self) -> Drawing<'_> {
        let last_move = self.table.game().moves().last().copied();
        Drawing { position: self.table.position(), last_move }
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
        opinion            what each column is worth, exactly where that can be known\n  \
        opinion PLAYER     what another player thinks of each column\n  \
        resign             give the game up\n  \
        switch             change sides\n  \
        first PLAYER       let another player have X: human, level:6, perfect ...\n  \
        second PLAYER      let another player have O\n  \
        save FILE          add the game to a file of records\n  \
        load FILE          go on with the last game of a file, or its third: FILE#3\n  \
        review             judge the moves by exact scores\n  \
        go                 let programs that go step by step play on\n  \
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
        ("", "") => Ok(Entry::Step),
        ("go", "") => Ok(Entry::Go),
        ("hint", "") => Ok(Entry::Hint),
        ("opinion", "") => Ok(Entry::Opinion("perfect")),
        ("opinion", by) => Ok(Entry::Opinion(by)),
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
