//! The solver as its users see it.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use claimeven_game::{Bits, Board, Column, Position, Rules, Ruleset, Setup, with_board};

use crate::Score;
use crate::book::{Book, has_winning_move, is_reachable};
use crate::engine::{Engine, engine};

/// What a solver may use.
#[derive(Clone, Debug)]
pub struct Options {
    /// The size of the transposition table for each thread, which brings caches of its own to the
    /// table that all of them share. Small tables stay in the processor's caches: with the
    /// default, positions of the standard board are solved fastest, and the empty one too.
    pub table_mb: usize,
    /// How many threads work on one position. Scores do not depend on it; with one thread,
    /// neither do node counts.
    pub threads: usize,
    /// Opening books to consult.
    pub books: Vec<Arc<Book>>,
}

impl Default for Options {
    fn default() -> Self {
        Options { table_mb: 2, threads: 1, books: Vec::new() }
    }
}

/// When to stop before the score is known.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// After so many nodes.
    pub nodes: Option<u64>,
    /// After so much time.
    pub time: Option<Duration>,
    /// As soon as this is set.
    pub cancel: Option<Arc<AtomicBool>>,
}

/// What is known of a score: it is not below `low` and not above `high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The least the score can be.
    pub low: Score,
    /// The most the score can be.
    pub high: Score,
}

impl Bounds {
    fn exactly(score: Score) -> Bounds {
        Bounds { low: score, high: score }
    }

    /// The score, if it is known.
    pub fn exact(self) -> Option<Score> {
        (self.low == self.high).then_some(self.low)
    }
}

/// Finds exact scores.
///
/// ```
/// use claimeven_game::{Position, Setup};
/// use claimeven_solver::{Options, Solver};
///
/// let mut solver = Solver::new(Options::default());
/// let position = Position::from_moves(Setup::STANDARD, "35333571").unwrap();
/// let score = solver.score(&position).unwrap();
/// assert_eq!(score.describe(&position), "loses in 15");
/// ```
pub struct Solver {
    options: Options,
    /// For the setup of the last position.
    engine: Option<Box<dyn Engine>>,
    nodes: u64,
}

impl Solver {
    /// A solver with an empty table. Memory is taken with the first position.
    pub fn new(options: Options) -> Solver {
        Solver { options, engine: None, nodes: 0 }
    }

    /// Whether positions of a setup can be solved at all.
    pub fn check(setup: Setup) -> Result<(), Unsolvable> {
        match setup.ruleset() {
            Ruleset::Standard => Ok(()),
            Ruleset::Lines => Err(Unsolvable(Ruleset::Lines)),
        }
    }

    /// The exact score of a position.
    pub fn score(&mut self, position: &Position) -> Result<Score, Unsolvable> {
        let bounds = self.bounds(position, &Limits::default())?;
        Ok(bounds.exact().expect("only a limit stops the search"))
    }

    /// The exact score of a position, or what is known of it when a limit is reached.
    pub fn bounds(&mut self, position: &Position, limits: &Limits) -> Result<Bounds, Unsolvable> {
        let most = position.setup().cells() as i32;
        self.bounds_within(position, [-most, most], limits)
    }

    /// The sign of the score, which is found faster than the score itself: 1 if the side to move
    /// wins, 0 for a draw, -1 if it loses.
    pub fn sign(&mut self, position: &Position) -> Result<i32, Unsolvable> {
        let bounds = self.bounds_within(position, [-1, 1], &Limits::default())?;
        Ok(bounds.exact().expect("only a limit stops the search").sign())
    }

    /// For every column the score of playing there, seen from the side to move; `None` where it
    /// cannot play.
    pub fn scores(&mut self, position: &Position) -> Result<Vec<Option<Score>>, Unsolvable> {
        let score = |column| {
            let mut child = *position;
            match child.play(column) {
                Ok(()) => Ok(Some(-self.score(&child)?)),
                Err(_) => Ok(None),
            }
        };
        Column::all(position.setup()).map(score).collect()
    }

    /// A line of perfect play from a position to the end of the game. Of the best moves it takes
    /// the one nearest to the centre, the left one of two.
    pub fn best_line(&mut self, position: &Position) -> Result<Vec<Column>, Unsolvable> {
        let mut position = *position;
        let mut score = self.score(&position)?;
        let mut line = Vec::new();
        while position.outcome().is_none() {
            let mut next = None;
            for column in position.legal_from_centre() {
                let mut child = position;
                child.play(column).expect("the column is a legal one");
                // No move is better than the score, so one that is not worse is best.
                let least = -score.value();
                let bounds = self.bounds_within(&child, [least, least + 1], &Limits::default())?;
                if bounds.high.value() <= least {
                    next = Some((column, child));
                    break;
                }
            }
            let (column, child) = next.expect("some move is as good as the position");
            line.push(column);
            position = child;
            score = -score;
        }
        Ok(line)
    }

    /// Whether a book tells the score of a position, without a search.
    pub fn in_book(&self, position: &Position) -> bool {
        position.outcome().is_none() && self.book(position).is_some()
    }

    /// The nodes searched since the solver was made.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Forgets what earlier searches have found.
    pub fn clear(&mut self) {
        if let Some(engine) = &mut self.engine {
            engine.clear();
        }
    }

    /// The score, where anything beyond either end of the range counts as that end.
    fn bounds_within(
        &mut self,
        position: &Position,
        [low, high]: [i32; 2],
        limits: &Limits,
    ) -> Result<Bounds, Unsolvable> {
        let setup = position.setup();
        Solver::check(setup)?;
        let known = match Score::of_finished(position) {
            Some(score) => Some(score),
            None => self.book_score(position),
        };
        if let Some(score) = known {
            return Ok(Bounds::exactly(Score::new(score.value().clamp(low, high))));
        }
        if self.engine.as_ref().is_none_or(|engine| engine.setup() != setup) {
            self.engine = Some(engine(setup, &self.options));
        }
        let engine = self.engine.as_mut().expect("it has just been made");
        let (bounds, nodes) = engine.solve(position, [low, high], limits);
        self.nodes += nodes;
        Ok(bounds)
    }

    /// The book whose ply comes next, if one tells the score of a position.
    fn book(&self, position: &Position) -> Option<&Book> {
        let books = self.options.books.iter();
        let book = books
            .filter(|book| book.setup() == position.setup() && book.ply() >= position.ply())
            .min_by_key(|book| book.ply())?;
        is_reachable(position).then_some(book)
    }

    fn book_score(&self, position: &Position) -> Option<Score> {
        let most = position.setup().cells() as i32;
        let mut reader = BookReader { book: self.book(position)?, known: HashMap::new() };
        Some(Score::new(with_board!(position, board => reader.score(board, -most, most))))
    }
}

/// Looks ahead from a position to the ply of a book.
struct BookReader<'a> {
    book: &'a Book,
    /// What is known of positions before the book's ply, by canonical key: low and high.
    known: HashMap<u128, (i32, i32)>,
}

impl BookReader<'_> {
    /// The score of a position that can be reached by play: exact if it is between the bounds,
    /// else a bound on the same side of them.
    fn score<R: Rules>(&mut self, board: Board<R>, mut alpha: i32, mut beta: i32) -> i32 {
        let rules = board.rules();
        let (cells, ply) = (rules.setup().cells() as i32, board.ply() as i32);
        let key = board.canonical_key().widen();

        // 1. Wins at once are not in the book.
        if has_winning_move(&board) {
            return (cells + 1 - ply) / 2;
        }
        if board.ply() == self.book.ply() {
            return self.book.score(key).into();
        }

        // 2. What is known already.
        let (low, high) = *self.known.get(&key).unwrap_or(&(-cells, cells));
        alpha = alpha.max(low);
        beta = beta.min(high);
        if alpha >= beta {
            return if low >= beta { low } else { high };
        }

        // 3. Every move, from the centre outwards.
        let middle = i32::from(rules.setup().cols()) * rules.stride() as i32 / 2;
        let mut moves: Vec<u32> = board.open().indices().collect();
        moves.sort_by_key(|&index| (index as i32 - middle).abs());
        let (mut best, first_alpha) = (-cells, alpha);
        for index in moves {
            let mut child = board;
            child.play_cell(R::Bits::ONE << index);
            best = best.max(-self.score(child, -beta, -alpha));
            alpha = alpha.max(best);
            if alpha >= beta {
                break;
            }
        }
        let low = if best > first_alpha { low.max(best) } else { low };
        let high = if best < beta { high.min(best) } else { high };
        self.known.insert(key, (low, high));
        best
    }
}

/// A ruleset that the solver does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsolvable(pub Ruleset);

impl fmt::Display for Unsolvable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the solver knows the ruleset {}, not {}", Ruleset::Standard, self.0)
    }
}

impl std::error::Error for Unsolvable {}
