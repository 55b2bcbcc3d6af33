//! A fixed sample of positions with exact results, by which a run measures its networks.
//!
//! What is learnt never depends on it.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use claimeven_game::{Column, Game, Position, Setup};
use claimeven_solver::{Options, Solver, Unsolvable, embedded_books};
use fastrand::Rng;
use serde::{Deserialize, Serialize};

use crate::cache::Cache;
use crate::evaluator::Evaluator;
use crate::files::{self, FileError};
use crate::inference::Inference;
use crate::parameters::ExamParameters;
use crate::search_tree::TreeParameters;
use crate::searches::search_many;

/// Positions with what every move leads to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exam {
    questions: Vec<Question>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Question {
    moves: String,
    /// For each column 1 if playing there wins, 0 if it draws and -1 if it loses.
    results: Vec<Option<i32>>,
}

impl Question {
    /// What the best move leads to.
    fn result(&self) -> i32 {
        *self.results.iter().flatten().max().expect("the game goes on")
    }

    /// Whether a move gives away a win or a draw.
    fn is_error(&self, column: usize) -> bool {
        self.results[column] < Some(self.result())
    }
}

/// How a network did.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExamScore {
    /// The share of positions in which the bare policy gives away a win or a draw.
    pub policy_error: f32,
    /// The same with a search.
    pub search_error: f32,
    /// The mean distance of the value from the true result, both from 0 to 1.
    pub value_error: f32,
}

impl Exam {
    /// Draws positions by random play and solves them. `progress` is told how many are solved, once
    /// before the first and then now and again; `None` if it breaks off.
    pub fn new(
        setup: Setup,
        parameters: &ExamParameters,
        seed: u64,
        threads: usize,
        mut progress: impl FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Option<Exam>, Unsolvable> {
        Solver::check(setup)?;
        let mut random = Rng::with_seed(seed);
        let games: Vec<Game> = (0..parameters.positions)
            .map(|_| {
                let plies = random.u32(parameters.min_plies..=parameters.max_plies);
                random_game(setup, plies, &mut random)
            })
            .collect();
        let (next, count) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let cancel = AtomicBool::new(false);
        let work = || {
            let books = embedded_books();
            let mut solver = Solver::new(Options::default().with_books(books));
            let mut done = Vec::new();
            while let index = next.fetch_add(1, Ordering::Relaxed)
                && let Some(game) = games.get(index)
                && !cancel.load(Ordering::Relaxed)
            {
                let results = results(&mut solver, game.position())?;
                done.push((index, Question { moves: game.move_text(), results }));
                count.fetch_add(1, Ordering::Relaxed);
            }
            Ok(done)
        };
        if progress(0).is_break() {
            return Ok(None);
        }
        let parts: Vec<_> = thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            while !workers.iter().all(ScopedJoinHandle::is_finished) {
                let solved = count.load(Ordering::Relaxed);
                if solved > 0 && progress(solved).is_break() {
                    cancel.store(true, Ordering::Relaxed);
                }
                thread::sleep(Duration::from_millis(20));
            }
            workers.into_iter().map(|worker| worker.join().expect("no panic")).collect()
        });
        if cancel.into_inner() {
            return Ok(None);
        }
        let mut questions = Vec::new();
        for part in parts {
            questions.extend(part?);
        }
        questions.sort_by_key(|(index, _)| *index);
        let questions = questions.into_iter().map(|(_, question)| question).collect();
        Ok(Some(Exam { questions }))
    }

    /// Reads an exam from a file.
    pub fn load(path: &Path) -> Result<Exam, FileError<serde_json::Error>> {
        files::read(path, |bytes| serde_json::from_slice(bytes))
    }

    /// Writes the exam to a file.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        files::write(path, &serde_json::to_vec(self).expect("an exam is plain data"))
    }

    /// How many positions it has.
    pub fn len(&self) -> usize {
        self.questions.len()
    }

    /// Whether it has no positions.
    pub fn is_empty(&self) -> bool {
        self.questions.is_empty()
    }

    /// Examines a network.
    pub fn score(&self, network: &Inference, simulations: u32, threads: usize) -> ExamScore {
        let setup = network.architecture().setup().expect("a network's setup is sound");
        let share = self.questions.len().div_ceil(threads).max(1);
        let examine = |questions: &[Question]| {
            let positions: Vec<Position> = questions
                .iter()
                .map(|question| {
                    Position::from_moves(setup, &question.moves).expect("the moves were legal")
                })
                .collect();
            let mut evaluator = Cache::new(network.clone(), 1 << 12);
            let mut evaluations = Vec::new();
            evaluator.evaluate(&positions, &mut evaluations);
            let trees =
                search_many(&mut evaluator, &positions, simulations, TreeParameters::default());
            let judged = questions.iter().zip(evaluations).zip(trees);
            let points = judged.map(|((question, evaluation), tree)| {
                let best = tree.best_move().expect("the root has been visited").column;
                let result = 0.5 * (1 + question.result()) as f32;
                [
                    f32::from(question.is_error(evaluation.best_column())),
                    f32::from(question.is_error(best.index())),
                    (evaluation.value.expected() - result).abs(),
                ]
            });
            points.collect::<Vec<[f32; 3]>>()
        };
        // Question by question, for a sum of rounded numbers depends on its order.
        let points: Vec<[f32; 3]> = thread::scope(|scope| {
            let chunks = self.questions.chunks(share);
            let workers: Vec<_> = chunks.map(|chunk| scope.spawn(move || examine(chunk))).collect();
            workers.into_iter().flat_map(|worker| worker.join().expect("no panic")).collect()
        });
        let mean = |index: usize| {
            points.iter().map(|point| point[index]).sum::<f32>() / points.len().max(1) as f32
        };
        ExamScore { policy_error: mean(0), search_error: mean(1), value_error: mean(2) }
    }
}

/// What each column leads to, for the side to move.
fn results(solver: &mut Solver, position: &Position) -> Result<Vec<Option<i32>>, Unsolvable> {
    Column::all(position.setup())
        .map(|column| {
            let mut after = *position;
            match after.play(column) {
                Ok(()) => Ok(Some(-solver.sign(&after)?)),
                Err(_) => Ok(None),
            }
        })
        .collect()
}

/// A game after so many random moves that goes on.
pub(crate) fn random_game(setup: Setup, plies: u32, random: &mut Rng) -> Game {
    let mut game = Game::new(setup);
    while game.position().ply() < plies {
        let legal: Vec<Column> = game.position().legal().collect();
        game.play(*random.choice(&legal).expect("the game goes on")).expect("a legal move");
        // A game that ends too soon begins again.
        if game.position().outcome().is_some() {
            game = Game::new(setup);
        }
    }
    game
}
