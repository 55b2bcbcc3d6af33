//! Strength: a player's moves compared with perfect play.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use claimeven_game::{Position, Setup};
use claimeven_search::{Agent, AgentError, Limits, RandomGames};
use claimeven_solver::{Options, Solver, Unsolvable, embedded_books};
use claimeven_work::{Dispatcher, WorkError, run_in_order};
use claimeven_zero::Interval;
use fastrand::Rng;
use serde::Serialize;

use crate::move_units::{MOVES_PER_UNIT, MoveRequest, Moves};
use crate::roster::AgentSpec;
use crate::scoreboard::public_set;

/// A test set: positions with their exact scores.
///
/// ```
/// use claimeven_arena::TestSet;
/// use claimeven_game::{Position, Setup};
///
/// // The first player wins with its last disc.
/// let set = TestSet::new("first move", [(Position::new(Setup::STANDARD), 1)]);
/// assert_eq!(set.len(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct TestSet {
    /// The displayed name.
    pub name: String,
    positions: Vec<(Position, i32)>,
}

impl TestSet {
    /// Positions of unfinished games with known scores.
    pub fn new(
        name: impl Into<String>,
        positions: impl IntoIterator<Item = (Position, i32)>,
    ) -> TestSet {
        TestSet { name: name.into(), positions: positions.into_iter().collect() }
    }

    /// Reads lines of `moves score`. The public sets are named by what they contain, others by their
    /// file.
    pub fn load(path: &Path, setup: Setup) -> Result<TestSet, TestSetError> {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let name = public_set(&file).unwrap_or(&file).to_owned();
        let bytes = fs::read(path).map_err(|error| TestSetError::Io(path.to_owned(), error))?;
        let text = String::from_utf8_lossy(&bytes);
        let mut positions = Vec::new();
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let bad = || LineError { number: index + 1, line: line.to_owned() };
            let position = parse_line(setup, line).ok_or_else(bad);
            positions.push(position.map_err(|error| TestSetError::Line(path.to_owned(), error))?);
        }
        Ok(TestSet { name, positions })
    }

    /// Samples positions by random play, with a number of discs from a range, and solves them.
    pub fn random(
        setup: Setup,
        count: usize,
        plies: std::ops::RangeInclusive<u32>,
        seed: u64,
        threads: usize,
    ) -> Result<TestSet, EvaluateError> {
        let RandomPositions { name, positions } = RandomPositions::new(setup, count, plies, seed)?;
        let scores = in_parallel(&positions, threads, solver, |solver, position| {
            solver.score(position).map(claimeven_solver::Score::value)
        });
        let positions = positions
            .into_iter()
            .zip(scores)
            .map(|(position, score)| Ok((position, score.map_err(EvaluateError::Unsolvable)?)))
            .collect::<Result<_, EvaluateError>>()?;
        Ok(TestSet { name, positions })
    }

    /// The number of positions.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether it has no positions.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// The set with only its first `count` positions.
    #[must_use]
    pub fn truncated(mut self, count: usize) -> TestSet {
        self.positions.truncate(count);
        self
    }
}

/// Positions of random games, from which a test set can be built.
///
/// ```
/// use claimeven_arena::RandomPositions;
/// use claimeven_game::Setup;
///
/// let sample = RandomPositions::new(Setup::STANDARD, 10, 8..=36, 1)?;
/// assert_eq!(sample.positions.len(), 10);
/// println!("{}", sample.name);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RandomPositions {
    /// The name of the test set.
    pub name: String,
    /// The positions.
    pub positions: Vec<Position>,
}

impl RandomPositions {
    /// Samples positions by random play, with a number of discs from a range.
    pub fn new(
        setup: Setup,
        count: usize,
        plies: std::ops::RangeInclusive<u32>,
        seed: u64,
    ) -> Result<RandomPositions, EvaluateError> {
        const MAX_ATTEMPTS: u32 = 10_000;
        Solver::check(setup).map_err(EvaluateError::Unsolvable)?;
        let games = RandomGames::new(setup).with_max_attempts(MAX_ATTEMPTS);
        let mut random = Rng::with_seed(seed);
        let mut positions: Vec<Position> = Vec::new();
        for _ in 0..count {
            let plies = random.u32(plies.clone());
            let game = games.sample(plies, &mut random);
            let game = game.map_err(|_| EvaluateError::OutOfReach { setup, plies })?;
            positions.push(*game.position());
        }
        let name = format!("random, {} to {} discs, seed {seed}", plies.start(), plies.end());
        Ok(RandomPositions { name, positions })
    }
}

/// A player's result on a test set.
///
/// ```
/// use claimeven_arena::Strength;
///
/// let strength = Strength { positions: 200, wins_drawn: 3, draws_lost: 1, ..Strength::default() };
/// assert_eq!(strength.error_rate().to_string(), "2.00 % (0.78 to 5.03)");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Strength {
    /// The name of the set.
    pub set: String,
    /// The number of its positions.
    pub positions: u64,
    /// Wins that became draws.
    pub wins_drawn: u64,
    /// Wins that became losses.
    pub wins_lost: u64,
    /// Draws that became losses.
    pub draws_lost: u64,
    /// Moves that keep the exact score: the fastest win, the slowest loss.
    pub best_moves: u64,
    /// Mean simulations per move.
    pub simulations: f64,
    /// Mean seconds per move.
    pub seconds: f64,
}

impl Strength {
    /// Moves that gave away a win or a draw.
    pub fn errors(&self) -> u64 {
        self.wins_drawn + self.wins_lost + self.draws_lost
    }

    /// The share of moves that gave away a win or a draw.
    pub fn error_rate(&self) -> Rate {
        Rate::new(self.errors(), self.positions)
    }

    /// The share of moves that keep the exact score.
    pub fn best_rate(&self) -> Rate {
        Rate::new(self.best_moves, self.positions)
    }
}

/// A share with its 95 % Wilson score interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// The share itself.
    pub share: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

impl Rate {
    /// The share of `count` in `of`.
    #[must_use]
    pub fn new(count: u64, of: u64) -> Rate {
        let Interval { low, estimate, high } = Interval::of_share(count, of);
        Rate { share: estimate, low, high }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rate { share, low, high } = self;
        let percent = |share: &f64| 100.0 * share;
        write!(f, "{:.2} % ({:.2} to {:.2})", percent(share), percent(low), percent(high))
    }
}

/// Compares a player's move in every position of a set with the exact scores. A new player is built
/// for every position, so the number of threads makes no difference. `progress` is called after
/// every move.
///
/// ```
/// use claimeven_arena::{AgentSpec, TestSet, evaluate};
/// use claimeven_game::{Ruleset, Setup};
/// use claimeven_search::Limits;
///
/// let setup = Setup::new(5, 4, 4, Ruleset::Standard)?;
/// let set = TestSet::random(setup, 20, 4..=10, 1, 1)?;
/// let player: AgentSpec = "perfect".parse()?;
/// let strength = evaluate(|| player.build(setup, 1), &set, &Limits::default(), 1, || {})?;
/// assert_eq!((strength.positions, strength.errors()), (20, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn evaluate(
    make_agent: impl Fn() -> Result<Box<dyn Agent>, AgentError> + Sync,
    set: &TestSet,
    limits: &Limits,
    threads: usize,
    progress: impl Fn() + Sync,
) -> Result<Strength, EvaluateError> {
    let moves = in_parallel(&set.positions, threads, solver, |solver, (position, score)| {
        let mut agent = make_agent().map_err(EvaluateError::Agent)?;
        let judged = judge_move(agent.as_mut(), solver, position, *score, limits);
        progress();
        judged
    });
    Ok(Strength::of(set, moves.into_iter().collect::<Result<_, _>>()?))
}

/// Evaluates a built-in player on the machines of a dispatcher. `progress` receives the number of
/// moves so far; returns `None` if the flag was set before all were known.
pub fn evaluate_on(
    dispatcher: &impl Dispatcher,
    player: &AgentSpec,
    seed: u64,
    set: &TestSet,
    cancel: Option<&AtomicBool>,
    mut progress: impl FnMut(u64),
) -> Result<Option<Strength>, EvaluateError> {
    let Some((first, _)) = set.positions.first() else {
        return Ok(Some(Strength::of(set, Vec::new())));
    };
    let work = Moves { setup: first.setup(), player: player.clone(), is_scored: true };
    let chunks: Vec<&[(Position, i32)]> = set.positions.chunks(MOVES_PER_UNIT).collect();
    let unit = |number: u64| {
        let questions = chunks[number as usize].iter();
        questions.map(|(position, _)| MoveRequest { position: *position, seed }).collect()
    };
    let units = chunks.len() as u64;
    let done = |units: u64| progress((units * MOVES_PER_UNIT as u64).min(set.len() as u64));
    let Some(moves) = run_in_order(dispatcher, &work, units, &unit, cancel, done)? else {
        return Ok(None);
    };
    let judged = moves.iter().flatten().zip(&set.positions).map(|(chosen, (_, score))| {
        let reached = chosen.score.expect("the outputs have been verified");
        JudgedMove::new(*score, reached, chosen.simulations, Duration::from_micros(chosen.micros))
    });
    Ok(Some(Strength::of(set, judged.collect())))
}

impl Strength {
    fn of(set: &TestSet, moves: Vec<JudgedMove>) -> Strength {
        let mut strength = Strength { set: set.name.clone(), ..Strength::default() };
        let mut time = Duration::ZERO;
        for judged in moves {
            strength.positions += 1;
            strength.wins_drawn += u64::from(judged.signs == (1, 0));
            strength.wins_lost += u64::from(judged.signs == (1, -1));
            strength.draws_lost += u64::from(judged.signs == (0, -1));
            strength.best_moves += u64::from(judged.is_best);
            strength.simulations += judged.simulations as f64;
            time += judged.time;
        }
        let count = strength.positions.max(1) as f64;
        strength.simulations /= count;
        strength.seconds = time.as_secs_f64() / count;
        strength
    }
}

struct JudgedMove {
    /// The signs of the score before and after the move, for the side that made it.
    signs: (i32, i32),
    is_best: bool,
    simulations: u64,
    time: Duration,
}

impl JudgedMove {
    /// A move between positions with these exact scores, for the side that made it.
    fn new(score: i32, reached: i32, simulations: u64, time: Duration) -> JudgedMove {
        let signs = (score.signum(), reached.signum());
        JudgedMove { signs, is_best: reached == score, simulations, time }
    }
}

fn judge_move(
    agent: &mut dyn Agent,
    solver: &mut Solver,
    position: &Position,
    score: i32,
    limits: &Limits,
) -> Result<JudgedMove, EvaluateError> {
    let decision = agent.decide(position, limits).map_err(EvaluateError::Agent)?;
    let mut after = *position;
    after.play(decision.column).expect("a player's move is legal");
    let reached = -solver.score(&after).map_err(EvaluateError::Unsolvable)?.value();
    Ok(JudgedMove::new(score, reached, decision.stats.simulations, decision.time))
}

pub(crate) fn solver() -> Solver {
    Solver::new(Options::default().with_books(embedded_books()))
}

/// Maps items on several threads, each with its own worker, in order.
fn in_parallel<T: Sync, W, R: Send>(
    items: &[T],
    threads: usize,
    make_worker: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, &T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            let (sender, next, make_worker, work) = (sender.clone(), &next, &make_worker, &work);
            scope.spawn(move || {
                let mut worker = make_worker();
                while let index = next.fetch_add(1, Ordering::Relaxed)
                    && let Some(item) = items.get(index)
                {
                    let result = work(&mut worker, item);
                    sender.send((index, result)).expect("the receiver waits for all");
                }
            });
        }
    });
    drop(sender);
    let mut results: Vec<(usize, R)> = receiver.into_iter().collect();
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

fn parse_line(setup: Setup, line: &str) -> Option<(Position, i32)> {
    let (moves, score) = line.trim_end().rsplit_once(' ')?;
    let position = Position::from_moves(setup, moves.trim()).ok()?;
    position.outcome().is_none().then_some((position, score.parse().ok()?))
}

/// A line of a test set that is not `moves score`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LineError {
    /// The line's number, from 1.
    pub number: usize,
    /// The line.
    pub line: String,
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} is not 'moves score': '{}'", self.number, self.line)
    }
}

impl std::error::Error for LineError {}

/// Why a test set cannot be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum TestSetError {
    /// The file cannot be read.
    Io(PathBuf, io::Error),
    /// A line is invalid.
    Line(PathBuf, LineError),
}

impl fmt::Display for TestSetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TestSetError::Io(path, error) => write!(f, "cannot read {}: {error}", path.display()),
            TestSetError::Line(path, error) => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for TestSetError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            TestSetError::Io(_, error) => Some(error),
            TestSetError::Line(_, error) => Some(error),
        }
    }
}

/// Why a player cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EvaluateError {
    /// The player cannot be built or cannot decide.
    Agent(AgentError),
    /// The game cannot be solved.
    Unsolvable(Unsolvable),
    /// Random games end before this ply.
    OutOfReach {
        /// The game.
        setup: Setup,
        /// The plies.
        plies: u32,
    },
    /// Other machines failed.
    Work(WorkError),
}

impl From<WorkError> for EvaluateError {
    fn from(error: WorkError) -> EvaluateError {
        EvaluateError::Work(error)
    }
}

impl fmt::Display for EvaluateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvaluateError::Agent(error) => error.fmt(f),
            EvaluateError::Unsolvable(error) => error.fmt(f),
            EvaluateError::OutOfReach { setup, plies } => {
                write!(f, "random games of {setup} end before ply {plies}")
            }
            EvaluateError::Work(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for EvaluateError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            EvaluateError::Agent(error) => Some(error),
            EvaluateError::Unsolvable(error) => Some(error),
            EvaluateError::OutOfReach { .. } => None,
            EvaluateError::Work(error) => Some(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_wilson_intervals() {
        let rate = Rate::new(10, 1000);
        assert_eq!(rate.to_string(), "1.00 % (0.54 to 1.83)");
        assert_eq!(Rate::new(0, 1000).to_string(), "0.00 % (0.00 to 0.38)");
        assert_eq!(Rate::new(0, 0).to_string(), "0.00 % (0.00 to 100.00)");
    }

    #[test]
    fn parallel_work_keeps_its_order() {
        let items: Vec<u32> = (0..100).collect();
        for threads in [1, 3] {
            let results = in_parallel(&items, threads, || 1, |one, item| item + *one);
            assert_eq!(results, (1..=100).collect::<Vec<u32>>());
        }
    }
}
