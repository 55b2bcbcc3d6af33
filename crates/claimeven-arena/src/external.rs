//! Other programs as players, over the Universal Game Interface.
//!
//! <https://github.com/kz04px/cutegames/blob/master/ugi.md> describes the protocol. Moves are
//! written as in move text, separated by spaces.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use claimeven_game::{Cell, Column, Game, Position, Setup};
use claimeven_search::{Agent, AgentError, Decision, Limits, SearchStats, Value};

/// The programs of a match or a tournament, which are kept running between games.
///
/// With a log folder, the communication with each program is written to a file: `>` marks its
/// input, `<` its output and `!` its standard error, each with the seconds since its start.
///
/// ```no_run
/// use claimeven_arena::{AgentSpec, EnginePool};
///
/// let engines = EnginePool::with_log_dir("logs".as_ref())?;
/// let player: AgentSpec = "ugi:cmd=./engine".parse()?;
/// let player = player.with_engines(&engines);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct EnginePool {
    shared: Arc<PoolState>,
}

#[derive(Debug, Default)]
struct PoolState {
    /// Programs that wait for a game, by their commands.
    idle: Mutex<HashMap<String, Vec<Engine>>>,
    log_dir: Option<PathBuf>,
    started: AtomicU64,
}

impl EnginePool {
    /// A pool whose programs are logged to files in a folder, which is created if it is missing.
    pub fn with_log_dir(folder: &Path) -> io::Result<EnginePool> {
        fs::create_dir_all(folder)?;
        let state = PoolState { log_dir: Some(folder.to_owned()), ..PoolState::default() };
        Ok(EnginePool { shared: Arc::new(state) })
    }

    fn idle(&self) -> MutexGuard<'_, HashMap<String, Vec<Engine>>> {
        self.shared.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, command: &str) -> Option<Engine> {
        self.idle().get_mut(command)?.pop()
    }

    fn give_back(&self, command: &str, engine: Engine) {
        self.idle().entry(command.to_owned()).or_default().push(engine);
    }

    fn start(&self, command: &str) -> Result<Engine, String> {
        let number = self.shared.started.fetch_add(1, Ordering::Relaxed) + 1;
        let log = match &self.shared.log_dir {
            Some(folder) => {
                let path = folder.join(format!("engine-{number}.log"));
                let file = File::create(&path);
                let file =
                    file.map_err(|error| format!("cannot write {}: {error}", path.display()));
                Some(Log::new(file?, command))
            }
            None => None,
        };
        Engine::start(command, log)
    }
}

/// The log of the communication with a program.
#[derive(Clone, Debug)]
struct Log {
    file: Arc<Mutex<File>>,
    start: Instant,
}

impl Log {
    fn new(file: File, command: &str) -> Log {
        let log = Log { file: Arc::new(Mutex::new(file)), start: Instant::now() };
        log.write('$', command);
        log
    }

    /// Writes a line. A log that cannot be written does not end a game.
    fn write(&self, mark: char, line: &str) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let seconds = self.start.elapsed().as_secs_f64();
        let _ = writeln!(file, "{seconds:10.4} {mark} {}", line.trim_end());
    }
}

/// A player that is another program. The program is started for the first game or decision and, unless
/// it comes from a pool, ended with the player.
pub(crate) struct External {
    /// The program and its arguments, as in a shell.
    pub(crate) command: String,
    /// The time per move.
    pub(crate) time: Duration,
    /// How much longer than that it may take before it forfeits.
    pub(crate) grace: Duration,
    /// The seed, if the program has such an option.
    pub(crate) seed: u64,
    /// The pool in which programs are kept between games.
    pub(crate) pool: Option<EnginePool>,
    /// The program, if it is running and ready for the game.
    pub(crate) engine: Option<Engine>,
    /// The game up to the last known position.
    pub(crate) game: Option<Game>,
}

impl Agent for External {
    fn decide(&mut self, position: &Position, limits: &Limits) -> Result<Decision, AgentError> {
        if position.outcome().is_some() {
            return Err(AgentError::GameOver);
        }
        if self.engine.is_none() {
            self.prepare(position.setup())?;
        }
        let start = Instant::now();
        let decision = self.ask(position, limits);
        if decision.is_err() {
            // Its next output would belong to the late move.
            self.engine = None;
        }
        match decision {
            Ok(decision) => Ok(Decision { time: start.elapsed(), ..decision }),
            Err(failure) => Err(AgentError::Failed { reason: failure }),
        }
    }

    fn prepare(&mut self, setup: Setup) -> Result<(), AgentError> {
        self.game = None;
        let ready = self.ready_engine(setup);
        self.engine = Some(ready.map_err(|reason| AgentError::Failed { reason })?);
        Ok(())
    }
}

impl Drop for External {
    fn drop(&mut self) {
        if let (Some(pool), Some(engine)) = (&self.pool, self.engine.take()) {
            pool.give_back(&self.command, engine);
        }
    }
}

impl External {
    /// A program that is ready for a game: the current one, an idle one or a new one.
    fn ready_engine(&mut self, setup: Setup) -> Result<Engine, String> {
        let pool = self.pool.clone().unwrap_or_default();
        while let Some(mut engine) = self.engine.take().or_else(|| pool.take(&self.command)) {
            // A program may have exited while it was idle.
            if engine.start_game(setup, self.seed, self.grace).is_ok() {
                return Ok(engine);
            }
        }
        let mut engine = pool.start(&self.command)?;
        let started = engine.start_game(setup, self.seed, self.grace);
        started.map_err(|reason| format!("{}: {reason}", self.command))?;
        Ok(engine)
    }

    fn ask(&mut self, position: &Position, limits: &Limits) -> Result<Decision, String> {
        let engine = self.engine.as_mut().ok_or("the program is not running")?;

        // 1. Send the position.
        let game = follow(self.game.take(), position)
            .ok_or("the position cannot be reached from the empty board")?;
        let moves: String =
            game.moves().iter().flat_map(|column| [' ', column.to_char()]).collect();
        let moves = if moves.is_empty() { moves } else { format!(" moves{moves}") };
        self.game = Some(game);
        let time = limits.time.map_or(self.time, |limit| limit.min(self.time));
        let depth = limits.depth.map_or(String::new(), |depth| format!(" depth {depth}"));
        let nodes = limits.nodes.map_or(String::new(), |nodes| format!(" nodes {nodes}"));
        engine.send(&format!("position startpos{moves}"))?;
        engine.send(&format!("go movetime {}{depth}{nodes}", time.as_millis().max(1)))?;

        // 2. Receive the move.
        let cancel = limits.cancel.as_deref();
        let (best, report) = engine.best_move(time + self.grace, self.grace, cancel)?;
        let column = parse_move(&best, position)?;
        Ok(Decision {
            column,
            value: report.value,
            columns: vec![None; position.setup().cols().into()],
            shares: Vec::new(),
            pv: vec![column],
            stats: report.stats,
            time: Duration::ZERO,
            stopped: false,
        })
    }
}

fn parse_move(text: &str, position: &Position) -> Result<Column, String> {
    let mut characters = text.chars();
    let column = match (characters.next(), characters.next()) {
        (Some(character), None) => Column::from_char(character),
        _ => None,
    };
    let illegal = |reason: String| format!("illegal move {:?}: {reason}", shortened(text));
    let columns = Column::names(position.setup());
    let column = column.ok_or_else(|| illegal(format!("not a column ({columns})")))?;
    let mut next = *position;
    next.play(column).map_err(|error| illegal(error.to_string()))?;
    Ok(column)
}

/// A running program and its output.
#[derive(Debug)]
pub(crate) struct Engine {
    process: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    /// The names of its options, after the handshake.
    options: Option<HashSet<String>>,
    log: Option<Log>,
}

/// A program's report on its search.
#[derive(Clone, Copy)]
struct SearchReport {
    value: Value,
    stats: SearchStats,
}

/// The maximum length of a line; the rest of a longer one is treated as another line.
const MAX_LINE: u64 = 1 << 16;

/// The maximum number of unread lines.
const MAX_UNREAD_LINES: usize = 1024;

/// The time a program has to exit after `quit`.
const QUIT_TIMEOUT: Duration = Duration::from_millis(200);

impl Engine {
    fn start(command: &str, log: Option<Log>) -> Result<Engine, String> {
        let words = shlex::split(command).filter(|words| !words.is_empty());
        let words = words.ok_or_else(|| format!("'{command}' is not a command"))?;
        let process = Command::new(&words[0])
            .args(&words[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(if log.is_some() { Stdio::piped() } else { Stdio::null() })
            .spawn();
        let mut process = process.map_err(|error| format!("cannot start {}: {error}", words[0]))?;
        let input = process.stdin.take().expect("it is a pipe");
        let output = process.stdout.take().expect("it is a pipe");
        if let (Some(log), Some(errors)) = (log.clone(), process.stderr.take()) {
            thread::spawn(move || {
                read_lines(errors, |line| {
                    log.write('!', &line);
                    true
                });
            });
        }
        let (sender, lines) = sync_channel(MAX_UNREAD_LINES);
        let output_log = log.clone();
        thread::spawn(move || {
            read_lines(output, |line| {
                if let Some(log) = &output_log {
                    log.write('<', &line);
                }
                sender.send(line).is_ok()
            });
        });
        Ok(Engine { process, input, lines, options: None, log })
    }

    /// Asks a new program for the names of its options.
    fn handshake(&mut self, grace: Duration) -> Result<HashSet<String>, String> {
        self.send("ugi")?;
        let mut options = HashSet::new();
        self.wait_for("ugiok", Instant::now() + grace, |line| {
            let mut words = line.split_whitespace();
            if (words.next(), words.next()) == (Some("option"), Some("name")) {
                options.extend(words.next().map(str::to_owned));
            }
        })?;
        Ok(options)
    }

    /// Prepares the program for a game.
    fn start_game(&mut self, setup: Setup, seed: u64, grace: Duration) -> Result<(), String> {
        let options = match self.options.take() {
            Some(options) => options,
            None => self.handshake(grace)?,
        };
        let board = [
            ("cols", setup.cols().to_string()),
            ("rows", setup.rows().to_string()),
            ("connect", setup.connect().to_string()),
            ("ruleset", setup.ruleset().to_string()),
        ];
        let knows_boards = board.iter().all(|(name, _)| options.contains(*name));
        if setup != Setup::STANDARD && !knows_boards {
            return Err(format!("it has no board options and cannot play {setup}"));
        }
        for (name, value) in board.iter().filter(|_| knows_boards) {
            self.send(&format!("setoption name {name} value {value}"))?;
        }
        if options.contains("seed") {
            self.send(&format!("setoption name seed value {seed}"))?;
        }
        self.send("isready")?;
        self.wait_for("readyok", Instant::now() + grace, |_| ())?;
        self.options = Some(options);
        self.send("uginewgame")
    }

    /// Waits for the move. If the search is cancelled, the program is told to stop and has only the
    /// grace period left.
    fn best_move(
        &mut self,
        time: Duration,
        grace: Duration,
        cancel: Option<&AtomicBool>,
    ) -> Result<(String, SearchReport), String> {
        let mut report = SearchReport { value: Value::Points(0), stats: SearchStats::default() };
        let mut deadline = Instant::now() + time;
        let mut stopped = false;
        loop {
            if !stopped && cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
                stopped = true;
                deadline = deadline.min(Instant::now() + grace);
                self.send("stop")?;
            }
            let Some(line) = self.line("bestmove", deadline)? else { continue };
            let mut words = line.split_whitespace();
            match words.next() {
                Some("bestmove") => return Ok((words.next().unwrap_or("").to_owned(), report)),
                Some("info") => report.update(&words.collect::<Vec<_>>()),
                _ => {}
            }
        }
    }

    /// Reads lines up to the expected word.
    fn wait_for(
        &mut self,
        word: &str,
        deadline: Instant,
        mut other: impl FnMut(&str),
    ) -> Result<(), String> {
        loop {
            match self.line(word, deadline)? {
                Some(line) if line.trim() == word => return Ok(()),
                Some(line) => other(&line),
                None => {}
            }
        }
    }

    /// The next line; `None` if there is none yet, an error if the program has exited or is out of
    /// time.
    fn line(&mut self, awaited: &str, deadline: Instant) -> Result<Option<String>, String> {
        const POLL_INTERVAL: Duration = Duration::from_millis(10);
        if Instant::now() >= deadline {
            return Err(format!("timed out waiting for {awaited}"));
        }
        match self.lines.recv_timeout(POLL_INTERVAL) {
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(self.exit_error(awaited)),
        }
    }

    fn send(&mut self, line: &str) -> Result<(), String> {
        if let Some(log) = &self.log {
            log.write('>', line);
        }
        let sent = writeln!(self.input, "{line}").and_then(|()| self.input.flush());
        sent.map_err(|_| self.exit_error("more"))
    }

    /// The error for a program that no longer responds.
    fn exit_error(&mut self, awaited: &str) -> String {
        match self.end_within(QUIT_TIMEOUT) {
            Some(status) => format!("the program exited before sending {awaited} ({status})"),
            None => format!("the program closed its output before sending {awaited}"),
        }
    }

    fn end_within(&mut self, time: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + time;
        loop {
            match self.process.try_wait() {
                Ok(Some(status)) => return Some(status),
                _ if Instant::now() >= deadline => return None,
                _ => thread::sleep(Duration::from_millis(2)),
            }
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // Fails if the program has exited or hangs.
        let _ = writeln!(self.input, "quit");
        if self.end_within(QUIT_TIMEOUT).is_none() {
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }
}

/// Reads lines until there are no more or `take` returns `false`.
fn read_lines(output: impl Read, mut take: impl FnMut(String) -> bool) {
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    while let Ok(1..) = output.by_ref().take(MAX_LINE).read_until(b'\n', &mut line) {
        if !take(String::from_utf8_lossy(&line).into_owned()) {
            return;
        }
        line.clear();
    }
}

impl SearchReport {
    fn update(&mut self, words: &[&str]) {
        let number = |name: &str| -> Option<u64> {
            let place = words.iter().position(|word| *word == name)?;
            words.get(place + 1)?.parse().ok()
        };
        self.stats.nodes = number("nodes").unwrap_or(self.stats.nodes);
        self.stats.depth = number("depth").map_or(self.stats.depth, |depth| depth as u32);
        let Some(place) = words.iter().position(|word| *word == "score") else { return };
        let score = words.get(place + 2).and_then(|number| number.parse::<i32>().ok());
        self.value = match (words.get(place + 1), score) {
            (Some(&"cp"), Some(points)) => Value::Points(points),
            (Some(&"mate"), Some(moves @ 1..)) => Value::Win(2 * moves.unsigned_abs() - 1),
            (Some(&"mate"), Some(moves)) => Value::Loss(2 * moves.unsigned_abs()),
            _ => return,
        };
    }
}

/// The start of a text, shortened for error messages.
fn shortened(text: &str) -> String {
    text.chars().take(20).collect()
}

/// A game that leads to a position: the known game with one or two more moves, or any game with the
/// same discs.
fn follow(known: Option<Game>, position: &Position) -> Option<Game> {
    let extended = known.filter(|game| game.position().setup() == position.setup());
    let extended = extended.and_then(|game| {
        let more = position.ply().checked_sub(game.position().ply())?;
        if more <= 2 { extend(&game, position, &mut HashSet::new()) } else { None }
    });
    extended.or_else(|| extend(&Game::new(position.setup()), position, &mut HashSet::new()))
}

/// Adds the missing discs of a position to a game, with the players alternating.
fn extend(game: &Game, position: &Position, tried: &mut HashSet<u128>) -> Option<Game> {
    let now = game.position();
    if now.ply() == position.ply() {
        return (now == position).then(|| game.clone());
    }
    if !tried.insert(now.key()) {
        return None;
    }
    let legal: Vec<Column> = now.legal().collect();
    legal.into_iter().find_map(|column| {
        let mut next = game.clone();
        next.play(column).ok()?;
        is_part(next.position(), position, column).then(|| extend(&next, position, tried))?
    })
}

/// Whether the top disc of a column is also in the other position.
fn is_part(part: &Position, whole: &Position, column: Column) -> bool {
    let mut cells = (0..part.setup().rows()).rev().map(|row| Cell { column, row });
    let top = cells.find(|&cell| part.disc(cell).is_some());
    top.is_some_and(|cell| part.disc(cell) == whole.disc(cell))
}

#[cfg(test)]
mod tests {
    use claimeven_game::Ruleset;

    use super::*;

    #[test]
    fn a_game_with_the_same_discs_is_found_for_every_position() {
        let wide = Setup::new(9, 7, 4, Ruleset::Lines).unwrap();
        for setup in [Setup::STANDARD, wide] {
            for seed in 0..20 {
                let mut random = fastrand::Rng::with_seed(seed);
                let mut game = Game::new(setup);
                let mut known = None;
                loop {
                    let legal: Vec<Column> = game.position().legal().collect();
                    let Some(&column) = random.choice(&legal) else { break };
                    game.play(column).unwrap();
                    if game.position().outcome().is_none() {
                        let found = follow(None, game.position()).unwrap();
                        assert_eq!(found.position(), game.position());
                        known = follow(known, game.position());
                        assert_eq!(known.as_ref().unwrap(), &game, "{}", game.move_text());
                    }
                }
            }
        }
    }
}
