//! The game line by line, for pipes and simple terminals.

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use claimeven_arena::{AgentSpec, EndReason, Participant, Review, ReviewOptions};
use claimeven_game::{Column, Player, Setup};
use claimeven_search::{Agent, Decision, Limits, SearchMonitor};

use super::app::{ANALYSIS_TIME, hint_agent};
use super::session::{GameSession, Played};
use super::texts::search_texts;
use crate::Failure;
use crate::analyze::write_decision;
use crate::draw::{Drawing, disc_style};
use crate::review::write_review;
use crate::show::status;

/// Plays a session. If only programs play, they wait for `delay` before each move, or for Enter if
/// `is_stepping`.
pub(crate) fn run(session: GameSession, delay: Duration, is_stepping: bool) -> Result<(), Failure> {
    let mut plain_game = PlainGame { session, agents: [None, None], delay, is_stepping };
    plain_game.play(io::stdin().lock(), anstream::stdout().lock())
}

/// The interval between progress reports of a search.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);

/// An entered command.
#[derive(Clone, Copy)]
enum Command<'a> {
    Play(Column),
    /// Enter: the next move if only programs play.
    Step,
    /// Play on without waiting for Enter.
    Continue,
    Undo,
    Redo,
    Hint,
    /// Evaluate the columns with this player.
    Analyze(&'a str),
    New,
    Resign,
    Swap,
    /// Replace a player.
    Seat(Player, &'a str),
    Save(&'a str),
    Load(&'a str),
    Review,
    Help,
    Quit,
}

struct PlainGame {
    session: GameSession,
    /// The programs, built on first use.
    agents: [Option<Box<dyn Agent>>; 2],
    delay: Duration,
    is_stepping: bool,
}

impl PlainGame {
    fn play(&mut self, mut input: impl BufRead, mut out: impl Write) -> Result<(), Failure> {
        self.write_header(&mut out)?;
        let mut drawn = None;
        loop {
            let session = &self.session;
            let mover = session.position().player();
            let awaits_human = session.agent_to_move().is_none();
            let has_changed = drawn.as_ref() != Some(&(session.game().clone(), session.is_over()));
            if (awaits_human || !session.has_human()) && has_changed {
                self.draw(&mut out)?;
                drawn = Some((self.session.game().clone(), self.session.is_over()));
            }
            if self.session.is_over() && !self.session.has_human() {
                return Ok(());
            }
            let awaits_step = self.is_stepping && !self.session.has_human();
            if !awaits_human && !awaits_step {
                if !self.session.has_human() {
                    thread::sleep(self.delay);
                }
                self.play_agent_move(mover, &mut out)?;
                continue;
            }

            let is_over = self.session.is_over();
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
                return self.write_summary(&mut out);
            };
            let time = start.elapsed();
            let is_late = awaits_human
                && !is_over
                && self.session.left(mover, time).is_some_and(|left| left.is_zero());
            if is_late {
                self.session.end(mover, EndReason::Time);
                continue;
            }
            let entry = match parse_entry(line.trim(), self.session.setup()) {
                Ok(Command::Quit) => return self.write_summary(&mut out),
                Ok(Command::Step) if awaits_step => {
                    self.play_agent_move(mover, &mut out)?;
                    continue;
                }
                Ok(Command::Play(_)) if awaits_step => {
                    writeln!(
                        out,
                        "only programs are playing: press Enter for the next move, or type continue or help"
                    )?;
                    continue;
                }
                Ok(Command::Play(column)) => {
                    if let Err(error) = self.session.play(Played::by_human(column, time)) {
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
            if self.execute(entry, &mut out)? {
                drawn = None;
            }
        }
    }

    /// Executes a command; returns whether the board has to be drawn again.
    fn execute(&mut self, entry: Command, out: &mut impl Write) -> Result<bool, Failure> {
        match entry {
            Command::Play(_) | Command::Quit => {}
            Command::Step => writeln!(out, "{}", short_help(self.session.setup()))?,
            Command::Continue => self.is_stepping = false,
            Command::Undo => {
                if !self.session.undo() {
                    writeln!(out, "no move to undo")?;
                }
            }
            Command::Redo => {
                if !self.session.redo() {
                    writeln!(out, "no move to redo")?;
                }
            }
            Command::Hint => self.hint(out)?,
            Command::Analyze(by) => {
                if let Err(failure) = self.analyze(by, out) {
                    writeln!(out, "{}", failure.message())?;
                }
            }
            Command::New => {
                self.start_session(self.session.rematch()?);
                return Ok(true);
            }
            Command::Resign => {
                if let Some(player) = self.session.resigner() {
                    self.session.end(player, EndReason::Resigned);
                }
            }
            Command::Swap => {
                self.session.switch_sides();
                self.agents.swap(0, 1);
                self.write_header(out)?;
            }
            Command::Seat(player, text) => {
                let changed = match text.parse::<Participant>() {
                    Ok(seat) => self.session.set_seat(player, seat),
                    Err(error) => Err(error.into()),
                };
                match changed {
                    Ok(()) => {
                        self.agents[player.index()] = None;
                        self.write_header(out)?;
                    }
                    Err(failure) => writeln!(out, "{}", failure.message())?,
                }
            }
            Command::Save(path) => match self.session.save(Path::new(path)) {
                Ok(()) => writeln!(out, "saved to {path}")?,
                Err(error) => writeln!(out, "{path}: {error}")?,
            },
            Command::Load(text) => match GameSession::load(text) {
                Ok(session) => {
                    self.start_session(session);
                    self.write_header(out)?;
                    return Ok(true);
                }
                Err(failure) => writeln!(out, "{}", failure.message())?,
            },
            Command::Review => {
                let review = Review::of(self.session.game(), &ReviewOptions::default());
                write_review(out, &review, |_| None)?;
            }
            Command::Help => writeln!(out, "{}", help(self.session.setup()))?,
        }
        Ok(false)
    }

    fn start_session(&mut self, session: GameSession) {
        self.session = session;
        self.agents = [None, None];
    }

    fn play_agent_move(&mut self, mover: Player, out: &mut impl Write) -> Result<(), Failure> {
        let setup = self.session.setup();
        let Participant::Agent(spec) = self.session.seat(mover) else { return Ok(()) };
        let agent = match &mut self.agents[mover.index()] {
            Some(agent) => agent,
            none => none.insert(spec.build(setup, 0)?),
        };
        let left = self.session.left(mover, Duration::ZERO);
        let time = self.session.clock().zip(left).map(|(clock, left)| clock.budget(left));
        let monitor = Arc::new(SearchMonitor::default());
        let limits = Limits { time, monitor: Some(Arc::clone(&monitor)), ..Limits::default() };
        let position = self.session.position();
        let decision = thread::scope(|scope| -> Result<Decision, Failure> {
            let (sender, answer) = mpsc::channel();
            scope.spawn(move || {
                // The receiver is gone if the output failed.
                let _ = sender.send(agent.decide(position, &limits));
            });
            loop {
                match answer.recv_timeout(REPORT_INTERVAL) {
                    Ok(decision) => return Ok(decision?),
                    Err(RecvTimeoutError::Timeout) => {
                        let [stats, pv] = search_texts(&monitor.snapshot());
                        writeln!(out, "{} is thinking: {stats}, {pv}", name(mover))?;
                    }
                    Err(RecvTimeoutError::Disconnected) => {
                        return Err(Failure::Input("the player failed".to_owned()));
                    }
                }
            }
        })?;
        if self.session.left(mover, decision.time).is_some_and(|left| left.is_zero()) {
            self.session.end(mover, EndReason::Time);
            return Ok(());
        }
        write!(out, "\n{} plays {}", name(mover), decision.column)?;
        if decision.stats.nodes > 1 {
            let [stats, pv] = search_texts(&decision.info());
            write!(out, ": {stats}, {pv}")?;
        }
        writeln!(out)?;
        self.session.play(Played::by_agent(&decision)).expect("players choose legal columns");
        Ok(())
    }

    fn hint(&self, out: &mut impl Write) -> Result<(), Failure> {
        match self.decide(hint_agent(self.session.setup()))? {
            Some(decision) => {
                writeln!(out, "hint: column {}, {}", decision.column, decision.value)?;
            }
            None => writeln!(out, "the game is over")?,
        }
        Ok(())
    }

    /// Writes an agent's evaluation of each column.
    fn analyze(&self, by: &str, out: &mut impl Write) -> Result<(), Failure> {
        match self.decide(by)? {
            Some(decision) => {
                writeln!(out, "\n{}", self.drawing())?;
                write_decision(out, self.session.position(), &decision)
            }
            None => Ok(writeln!(out, "the game is over")?),
        }
    }

    /// An agent's decision in the current position; `None` if the game is over.
    fn decide(&self, agent: &str) -> Result<Option<Decision>, Failure> {
        if self.session.is_over() {
            return Ok(None);
        }
        let spec: AgentSpec = agent.parse()?;
        let limits = Limits { time: Some(ANALYSIS_TIME), ..Limits::default() };
        let mut agent = spec.build(self.session.setup(), 0)?;
        Ok(Some(agent.decide(self.session.position(), &limits)?))
    }

    fn write_header(&self, out: &mut impl Write) -> Result<(), Failure> {
        let setup = self.session.setup();
        let [first, second] = self.session.seats();
        writeln!(out, "{setup}: X is {first}, O is {second}")?;
        if self.session.has_human() {
            writeln!(out, "{}", short_help(setup))?;
        }
        Ok(())
    }

    fn draw(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "\n{}", self.drawing())?;
        let names = Player::BOTH.map(|player| player.to_string());
        let position = self.session.position();
        let status = if self.session.is_over() && position.outcome().is_none() {
            self.session.status(&names)
        } else {
            status(position)
        };
        writeln!(out, "{status}, time: {}", self.times())
    }

    fn drawing(&self) -> Drawing<'_> {
        let last_move = self.session.game().moves().last().copied();
        Drawing { position: self.session.position(), last_move }
    }

    fn write_summary(&self, out: &mut impl Write) -> Result<(), Failure> {
        let moves = self.session.game().move_text();
        let moves = if moves.is_empty() { "none" } else { &moves };
        writeln!(out, "moves: {moves}, time: {}", self.times())?;
        Ok(())
    }

    fn times(&self) -> String {
        let [first, second] = Player::BOTH.map(|player| self.session.spent(player).as_secs_f64());
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
        undo, redo         undo your last move, redo it\n  \
        hint               show the best column\n  \
        analyze            evaluate every column, exactly if possible\n  \
        analyze PLAYER     evaluate every column with this player\n  \
        resign             resign the game\n  \
        swap               swap sides\n  \
        first PLAYER       change the first player (X): human, level:6, perfect ...\n  \
        second PLAYER      change the second player (O)\n  \
        save FILE          append the game to a file\n  \
        load FILE          continue the last game of a file, or its third: FILE#3\n  \
        review             judge the moves by exact scores\n  \
        continue           with --step: play on without waiting\n  \
        new, help, quit",
        Column::names(setup)
    )
}

/// Parses a command. Some can be abbreviated to a letter, unless it is a column.
fn parse_entry(text: &str, setup: Setup) -> Result<Command<'_>, String> {
    let mut characters = text.chars();
    let column = match (characters.next(), characters.next()) {
        (Some(character), None) => Column::from_char(character),
        _ => None,
    };
    if let Some(column) = column.filter(|column| column.index() < setup.cols().into()) {
        return Ok(Command::Play(column));
    }
    let (command, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim();
    match (command.to_ascii_lowercase().as_str(), rest) {
        ("u" | "undo", "") => Ok(Command::Undo),
        ("r" | "redo", "") => Ok(Command::Redo),
        ("", "") => Ok(Command::Step),
        ("continue", "") => Ok(Command::Continue),
        ("hint", "") => Ok(Command::Hint),
        ("analyze", "") => Ok(Command::Analyze("perfect")),
        ("analyze", by) => Ok(Command::Analyze(by)),
        ("n" | "new", "") => Ok(Command::New),
        ("resign", "") => Ok(Command::Resign),
        ("swap", "") => Ok(Command::Swap),
        ("review", "") => Ok(Command::Review),
        ("h" | "?" | "help", "") => Ok(Command::Help),
        ("q" | "quit" | "exit", "") => Ok(Command::Quit),
        ("first" | "second" | "save" | "load", "") => {
            Err(format!("'{text}' needs an argument; type help for a list"))
        }
        ("first", text) => Ok(Command::Seat(Player::First, text)),
        ("second", text) => Ok(Command::Seat(Player::Second, text)),
        ("save", path) => Ok(Command::Save(path)),
        ("load", path) => Ok(Command::Load(path)),
        _ => Err(format!(
            "unknown command '{text}': type a column ({}), or help for a list",
            Column::names(setup)
        )),
    }
}

/// Reads a line of any encoding; `None` at the end of the input.
pub(crate) fn read_line(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    let read = input.read_until(b'\n', &mut bytes)?;
    Ok((read > 0).then(|| String::from_utf8_lossy(&bytes).into_owned()))
}
