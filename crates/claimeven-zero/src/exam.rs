//! The exam: a fixed sample of positions with exact results, on which a run measures its networks.
//!
//! Networks are never trained on it.

use std::fmt;
use std::io;
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use claimeven_game::{Column, Position, Setup};
use claimeven_search::RandomGames;
use claimeven_solver::{Limits, Options, Solver, Unsolvable, embedded_books};
use fastrand::Rng;
use serde::{Deserialize, Serialize};

use crate::cache::Cache;
use crate::evaluator::{Evaluation, Evaluator};
use crate::files::{self, FileError};
use crate::inference::Inference;
use crate::parameters::ExamParameters;
use crate::search_tree::{SearchTree, TreeParameters};
use crate::searches::search_many;

/// An exam: positions with the result of every move.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use claimeven_game::{Ruleset, Setup};
/// use claimeven_zero::{Architecture, Exam, ExamParameters, Inference, Network, Parameters};
///
/// let setup = Setup::new(4, 4, 3, Ruleset::Standard)?;
/// let parameters = Parameters::ten_minutes(setup).exam;
/// let parameters = ExamParameters { positions: 20, min_plies: 2, max_plies: 6, ..parameters };
/// let exam = Exam::new(setup, &parameters, 1, 1, |_solved| ControlFlow::Continue(()))?;
/// let exam = exam.expect("it was not cancelled");
/// let network = Network::new(Architecture::new(setup, 1, 8), 1)?;
/// let score = exam.score(&Inference::new(&network), 50, 1);
/// println!("the policy errs in {:.0} % of positions", 100.0 * score.policy_error);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exam {
    questions: Vec<Question>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    moves: String,
    /// For each column, 1 if playing there wins, 0 if it draws and -1 if it loses.
    results: Vec<Option<i32>>,
}

impl Question {
    /// The result of the best move.
    fn result(&self) -> i32 {
        self.results.iter().flatten().copied().max().unwrap_or(0)
    }

    /// Whether a move gives away a win or a draw.
    fn is_error(&self, column: usize) -> bool {
        self.results.get(column).copied().flatten() < Some(self.result())
    }

    /// The position, if its game is not over and each legal move has a result.
    fn position(&self, setup: Setup) -> Option<Position> {
        let position = Position::from_moves(setup, &self.moves).ok()?;
        let mut results = Column::all(setup).zip(&self.results);
        let is_complete = self.results.len() == usize::from(setup.cols())
            && results.all(|(column, result)| {
                let mut after = position;
                after.play(column).is_ok() == result.is_some()
                    && result.is_none_or(|result| (-1..=1).contains(&result))
            });
        (position.outcome().is_none() && is_complete).then_some(position)
    }
}

/// A network's results in an exam.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExamScore {
    /// The share of positions in which the policy alone gives away a win or a draw.
    pub policy_error: f32,
    /// The same with a search.
    pub search_error: f32,
    /// The mean absolute error of the value, on a scale from 0 to 1.
    pub value_error: f32,
}

impl Exam {
    /// Samples positions by random play and solves them. `progress` receives the number of solved
    /// positions about fifty times per second; returns `None` if it breaks.
    pub fn new(
        setup: Setup,
        parameters: &ExamParameters,
        seed: u64,
        threads: usize,
        mut progress: impl FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Option<Exam>, ExamError> {
        Solver::check(setup).map_err(ExamError::Unsolvable)?;
        let plies = parameters.min_plies..=parameters.max_plies;
        if plies.is_empty() {
            return Err(ExamError::NoPlies { min: *plies.start(), max: *plies.end() });
        }
        let sampler = RandomGames::new(setup).with_max_attempts(MAX_ATTEMPTS);
        let mut random = Rng::with_seed(seed);
        let mut games = Vec::new();
        for index in 0..parameters.positions {
            if index % 16 == 0 && progress(0).is_break() {
                return Ok(None);
            }
            let plies = random.u32(plies.clone());
            let game = sampler.sample(plies, &mut random);
            games.push(game.map_err(|_| ExamError::OutOfReach { setup, plies })?);
        }
        let (next, count) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let cancel = Arc::new(AtomicBool::new(false));
        let limits = Limits::default().with_cancel(Arc::clone(&cancel));
        let work = || {
            let books = embedded_books();
            let mut solver = Solver::new(Options::default().with_books(books));
            let mut done = Vec::new();
            while let index = next.fetch_add(1, Ordering::Relaxed)
                && let Some(game) = games.get(index)
                && !cancel.load(Ordering::Relaxed)
            {
                let Some(results) = results(&mut solver, game.position(), &limits)? else { break };
                done.push((index, Question { moves: game.move_text(), results }));
                count.fetch_add(1, Ordering::Relaxed);
            }
            Ok(done)
        };
        let parts: Vec<_> = thread::scope(|scope| {
            let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
            while !workers.iter().all(ScopedJoinHandle::is_finished) {
                let solved = count.load(Ordering::Relaxed);
                if progress(solved).is_break() {
                    cancel.store(true, Ordering::Relaxed);
                }
                thread::sleep(Duration::from_millis(20));
            }
            workers.into_iter().map(|worker| worker.join().expect("no panic")).collect()
        });
        if cancel.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let mut questions = Vec::new();
        for part in parts {
            questions.extend(part.map_err(ExamError::Unsolvable)?);
        }
        questions.sort_by_key(|(index, _)| *index);
        let questions = questions.into_iter().map(|(_, question)| question).collect();
        Ok(Some(Exam { questions }))
    }

    /// Reads the exam of a setup from a file.
    pub fn load(path: &Path, setup: Setup) -> Result<Exam, FileError<ExamFileError>> {
        files::read(path, |bytes| Exam::from_bytes(bytes, setup))
    }

    /// Reads the exam of a setup.
    pub fn from_bytes(bytes: &[u8], setup: Setup) -> Result<Exam, ExamFileError> {
        let exam: Exam = serde_json::from_slice(bytes).map_err(ExamFileError::Json)?;
        match exam.questions.iter().position(|question| question.position(setup).is_none()) {
            Some(index) => Err(ExamFileError::Question(index)),
            None => Ok(exam),
        }
    }

    /// The contents of an exam file.
    ///
    /// # Panics
    ///
    /// Never: an exam is plain data.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("an exam is plain data")
    }

    /// Writes the exam to a file.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        files::write(path, &self.to_bytes())
    }

    /// The number of positions.
    pub fn len(&self) -> usize {
        self.questions.len()
    }

    /// Whether it has no positions.
    pub fn is_empty(&self) -> bool {
        self.questions.is_empty()
    }

    /// Measures a network for the exam's setup.
    ///
    /// # Panics
    ///
    /// If the network is for another setup.
    #[must_use]
    pub fn score(&self, network: &Inference, simulations: u32, threads: usize) -> ExamScore {
        let share = self.questions.len().div_ceil(threads.max(1)).max(1);
        let starts = (0..self.questions.len()).step_by(share);
        let points: Vec<ExamPoint> = thread::scope(|scope| {
            let examine = |start| move || self.points(network, simulations, start..start + share);
            let workers: Vec<_> = starts.map(|start| scope.spawn(examine(start))).collect();
            workers.into_iter().flat_map(|worker| worker.join().expect("no panic")).collect()
        });
        ExamScore::of(&points)
    }

    /// The errors of a network for the exam's setup in a range of the positions, which may extend
    /// past the last one. An error does not depend on the range.
    ///
    /// # Panics
    ///
    /// If the network is for another setup.
    #[must_use]
    pub fn points(
        &self,
        network: &Inference,
        simulations: u32,
        range: Range<usize>,
    ) -> Vec<ExamPoint> {
        let setup = network.architecture().setup().expect("a network's setup is valid");
        let end = range.end.min(self.questions.len());
        let questions = &self.questions[range.start.min(end)..end];
        let positions: Vec<Position> = questions
            .iter()
            .map(|question| question.position(setup).expect("the network is for this setup"))
            .collect();
        let mut evaluator = Cache::new(network.clone(), 1 << 12);
        let mut evaluations = Vec::new();
        evaluator.evaluate(&positions, &mut evaluations);
        let trees = search_many(&mut evaluator, &positions, simulations, TreeParameters::default());
        let examined = questions.iter().zip(evaluations).zip(trees);
        let point = |((question, evaluation), tree): ((&Question, Evaluation), SearchTree)| {
            let best = tree.best_move().expect("the root has been visited").column;
            let result = 0.5 * (1 + question.result()) as f32;
            [
                f32::from(question.is_error(evaluation.best_column())),
                f32::from(question.is_error(best.index())),
                (evaluation.value.expected() - result).abs(),
            ]
        };
        examined.map(point).collect()
    }
}

/// The errors of a network in a position: of its policy, of a search, and of its value.
pub type ExamPoint = [f32; 3];

impl ExamScore {
    /// The means, in the order of the positions, because a sum of rounded numbers depends on it.
    pub(crate) fn of(points: &[ExamPoint]) -> ExamScore {
        let mean = |index: usize| {
            points.iter().map(|point| point[index]).sum::<f32>() / points.len().max(1) as f32
        };
        ExamScore { policy_error: mean(0), search_error: mean(1), value_error: mean(2) }
    }
}

/// The result of each column for the side to move; `None` if a limit was reached.
fn results(
    solver: &mut Solver,
    position: &Position,
    limits: &Limits,
) -> Result<Option<Vec<Option<i32>>>, Unsolvable> {
    let mut results = Vec::new();
    for column in Column::all(position.setup()) {
        let mut after = *position;
        if after.play(column).is_err() {
            results.push(None);
            continue;
        }
        match solver.sign_within(&after, limits)?.exact() {
            Some(score) => results.push(Some(-score.sign())),
            None => return Ok(None),
        }
    }
    Ok(Some(results))
}

/// After this many games that ended too early, positions count as out of reach of random play.
const MAX_ATTEMPTS: u32 = 10_000;

/// Why an exam cannot be created.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExamError {
    /// The solver does not support the game.
    Unsolvable(Unsolvable),
    /// The minimum number of plies is greater than the maximum.
    NoPlies {
        /// `exam.min_plies`
        min: u32,
        /// `exam.max_plies`
        max: u32,
    },
    /// Random games end before this ply.
    OutOfReach {
        /// The game.
        setup: Setup,
        /// The plies.
        plies: u32,
    },
}

impl fmt::Display for ExamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExamError::Unsolvable(error) => error.fmt(f),
            ExamError::NoPlies { min, max } => {
                write!(f, "exam.min_plies {min} is greater than exam.max_plies {max}")
            }
            ExamError::OutOfReach { setup, plies } => {
                write!(f, "random games of {setup} end before ply {plies}; lower exam.max_plies")
            }
        }
    }
}

impl std::error::Error for ExamError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ExamError::Unsolvable(error) => Some(error),
            _ => None,
        }
    }
}

/// Why a file is not an exam of a setup.
#[derive(Debug)]
#[non_exhaustive]
pub enum ExamFileError {
    /// It is not valid JSON.
    Json(serde_json::Error),
    /// The question with this index is not a position of the game with a result for every move.
    Question(usize),
}

impl fmt::Display for ExamFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExamFileError::Json(error) => write!(f, "not an exam: {error}"),
            ExamFileError::Question(index) => {
                write!(f, "question {index} is not a position of this game with its results")
            }
        }
    }
}

impl std::error::Error for ExamFileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ExamFileError::Json(error) => Some(error),
            ExamFileError::Question(_) => None,
        }
    }
}
