//! The public interface of the solver.

use std::fmt;
use std::sync::Arc;

use claimeven_game::{Column, Position, Ruleset, Setup};

use crate::Score;
use crate::book::{Book, is_reachable};
use crate::engine::{Engine, Query, engine};
use crate::limits::{Limits, Stop};
use crate::windows::Method;

/// Options of a solver: the size of its table, its threads and its opening books.
///
/// ```
/// use claimeven_solver::{Options, Solver, embedded_books};
///
/// let options = Options::default().with_threads(2).with_books(embedded_books());
/// let solver = Solver::new(options);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Options {
    table_mb: usize,
    threads: usize,
    books: Vec<Arc<Book>>,
    portable: bool,
}

impl Options {
    /// The maximum number of threads per position.
    pub const MAX_THREADS: usize = 1024;

    /// The largest transposition table per thread, in MiB.
    pub const MAX_TABLE_MB: usize = 1 << 20;

    /// Sets the size of the transposition table in MiB per thread: 2 by default, at most
    /// [`Options::MAX_TABLE_MB`]. All threads share one table.
    ///
    /// The system clears the memory during the first searches, within their limits; that takes up
    /// to a second per GiB. Small tables stay in the processor's caches: the default is the fastest
    /// size for positions of the standard board, including the empty one.
    pub fn with_table_mb(self, table_mb: usize) -> Options {
        Options { table_mb: table_mb.min(Options::MAX_TABLE_MB), ..self }
    }

    /// Sets the number of threads that work on one position: 1 by default, and for 0; at most
    /// [`Options::MAX_THREADS`].
    ///
    /// Scores do not depend on it. Node counts do, except with one thread.
    pub fn with_threads(self, threads: usize) -> Options {
        Options { threads: threads.clamp(1, Options::MAX_THREADS), ..self }
    }

    /// Sets the opening books to consult: none by default. See
    /// [`embedded_books`](crate::embedded_books).
    pub fn with_books(self, books: Vec<Arc<Book>>) -> Options {
        Options { books, ..self }
    }

    /// Disables the faster instructions that not every processor has, for tests and measurements.
    /// Scores and node counts are the same.
    pub fn with_portable_code(self) -> Options {
        Options { portable: true, ..self }
    }

    /// The size of the transposition table in MiB per thread.
    pub fn table_mb(&self) -> usize {
        self.table_mb
    }

    /// The number of threads that work on one position.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The opening books to consult.
    pub fn books(&self) -> &[Arc<Book>] {
        &self.books
    }

    pub(crate) fn is_portable(&self) -> bool {
        self.portable
    }
}

impl Default for Options {
    fn default() -> Self {
        Options { table_mb: 2, threads: 1, books: Vec::new(), portable: false }
    }
}

/// Bounds of a score: it is at least `low` and at most `high`.
///
/// ```
/// use claimeven_game::{Position, Setup};
/// use claimeven_solver::{Limits, Solver};
///
/// // A thousand nodes do not solve the empty board.
/// let limits = Limits::default().with_nodes(1_000);
/// let bounds = Solver::default().score_within(&Position::new(Setup::STANDARD), &limits)?;
/// assert!(bounds.low < bounds.high && bounds.exact().is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "self-explanatory")]
pub struct Bounds {
    pub low: Score,
    pub high: Score,
}

impl Bounds {
    fn exactly(score: Score) -> Bounds {
        Bounds { low: score, high: score }
    }

    /// The score, if both bounds are equal.
    pub fn exact(self) -> Option<Score> {
        (self.low == self.high).then_some(self.low)
    }

    /// The bounds from the opponent's point of view.
    #[must_use]
    pub fn reversed(self) -> Bounds {
        Bounds { low: -self.high, high: -self.low }
    }
}

/// The exact solver.
///
/// Each method has two forms: one that searches until the answer is known, and one with
/// [`Limits`] that returns what is known when a limit is reached.
///
/// ```
/// use claimeven_game::{Position, Setup};
/// use claimeven_solver::Solver;
///
/// let mut solver = Solver::default();
/// let position = Position::from_moves(Setup::STANDARD, "35333571")?;
/// let score = solver.score(&position)?;
/// assert_eq!(score.describe(&position), "loses in 15");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Solver {
    options: Options,
    /// The engine for the setup of the previous position.
    engine: Option<Box<dyn Engine>>,
    nodes: u64,
}

impl Solver {
    /// A solver with the given options. Its table is allocated when the first position is solved.
    pub fn new(options: Options) -> Solver {
        Solver { options, engine: None, nodes: 0 }
    }

    /// Returns an error if positions of a setup cannot be solved.
    pub fn check(setup: Setup) -> Result<(), Unsolvable> {
        match setup.ruleset() {
            Ruleset::Standard => Ok(()),
            Ruleset::Lines => Err(Unsolvable(Ruleset::Lines)),
        }
    }

    /// The exact score of a position.
    pub fn score(&mut self, position: &Position) -> Result<Score, Unsolvable> {
        let bounds = self.score_within(position, &Limits::default())?;
        Ok(bounds.exact().expect("only a limit stops the search"))
    }

    /// The score of a position, or its bounds when a limit is reached.
    pub fn score_within(
        &mut self,
        position: &Position,
        limits: &Limits,
    ) -> Result<Bounds, Unsolvable> {
        self.bounds(position, full_range(position), &Task::new(self, limits))
    }

    /// The sign of the score: 1 if the side to move wins, 0 for a draw, -1 if it loses. This is
    /// faster than the score.
    pub fn sign(&mut self, position: &Position) -> Result<i32, Unsolvable> {
        let bounds = self.sign_within(position, &Limits::default())?;
        Ok(bounds.exact().expect("only a limit stops the search").sign())
    }

    /// The sign of the score, or its bounds from -1 to 1 when a limit is reached.
    pub fn sign_within(
        &mut self,
        position: &Position,
        limits: &Limits,
    ) -> Result<Bounds, Unsolvable> {
        self.bounds(position, [-1, 1], &Task::new(self, limits))
    }

    /// The score of each column from left to right, for the side to move; `None` for columns that
    /// are not legal moves.
    pub fn scores(&mut self, position: &Position) -> Result<Vec<Option<Score>>, Unsolvable> {
        let bounds = self.scores_within(position, &Limits::default())?;
        let exact = |bounds: Bounds| bounds.exact().expect("only a limit stops the search");
        Ok(bounds.into_iter().map(|bounds| bounds.map(exact)).collect())
    }

    /// The score of each column, or its bounds when a limit is reached; see [`Solver::scores`].
    ///
    /// The limits apply to all columns together. Columns are searched from the centre outwards, and
    /// each gets an equal share of the remaining limits, so that a hard one leaves something for
    /// the others. Without a limit the order is reversed: the best column is often the last one
    /// then, and needs no search if a book has the position.
    pub fn scores_within(
        &mut self,
        position: &Position,
        limits: &Limits,
    ) -> Result<Vec<Option<Bounds>>, Unsolvable> {
        Solver::check(position.setup())?;
        let task = Task::new(self, limits);
        let mut bounds = vec![None; position.setup().cols().into()];
        let mut columns: Vec<Column> = position.legal_from_centre().collect();
        if limits.nodes.is_none() && limits.time.is_none() {
            columns.reverse();
        }
        let range = full_range(position);
        // No column is better than the position, and at least one is as good.
        let best = self.score_in_book(position, &task);
        let mut is_best_found = false;
        for (index, &column) in columns.iter().enumerate() {
            let shares = (columns.len() - index) as u32;
            if let Some(best) = best
                && shares == 1
                && !is_best_found
            {
                bounds[column.index()] = Some(Bounds::exactly(best));
                break;
            }
            let left = task.stop.remaining(self.nodes - task.nodes_before);
            let limits = Limits {
                nodes: left.nodes.map(|nodes| nodes / u64::from(shares)),
                time: left.time.map(|time| time / shares),
                cancel: left.cancel,
            };
            let child = after(position, column);
            let task = Task { method: Method::Steps, ..Task::new(self, &limits) };
            let found = self.bounds(&child, range, &task)?.reversed();
            is_best_found |= best.is_some_and(|best| found.high >= best);
            bounds[column.index()] = Some(found);
        }
        Ok(bounds)
    }

    /// The principal variation: perfect play from a position to the end of the game. Among equally
    /// good moves it prefers the one closest to the centre, then the left one.
    pub fn principal_variation(&mut self, position: &Position) -> Result<Vec<Column>, Unsolvable> {
        self.principal_variation_within(position, &Limits::default())
    }

    /// The part of the principal variation that is found before a limit is reached: moves that are
    /// proven best, possibly none; see [`Solver::principal_variation`].
    pub fn principal_variation_within(
        &mut self,
        position: &Position,
        limits: &Limits,
    ) -> Result<Vec<Column>, Unsolvable> {
        let task = Task::new(self, limits);
        let mut pv = Vec::new();
        let mut position = *position;
        let bounds = self.bounds(&position, full_range(&position), &task)?;
        let Some(mut score) = bounds.exact() else { return Ok(pv) };
        while position.outcome().is_none() {
            let mut best = None;
            for column in position.legal_from_centre() {
                let child = after(&position, column);
                // No move is better than the position's score, so a move that is not worse is best.
                let target = -score.value();
                let bounds = self.bounds(&child, [target, target + 1], &task)?;
                if bounds.exact().is_none() {
                    return Ok(pv);
                }
                if bounds.high.value() <= target {
                    best = Some((column, child));
                    break;
                }
            }
            // Only a book with wrong scores has no move as good as the position.
            let Some((column, child)) = best else { return Ok(pv) };
            pv.push(column);
            position = child;
            score = -score;
        }
        Ok(pv)
    }

    /// Whether a book has the score of a position, so that no search is needed.
    pub fn in_book(&self, position: &Position) -> bool {
        position.outcome().is_none() && self.book(position).is_some()
    }

    /// The number of nodes searched since the solver was created.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// The size of the transposition table in bytes; 0 before the first search.
    pub fn memory(&self) -> usize {
        self.engine.as_ref().map_or(0, |engine| engine.memory())
    }

    /// Forgets the results of earlier searches.
    pub fn clear(&mut self) {
        if let Some(engine) = &mut self.engine {
            engine.clear();
        }
    }

    /// The bounds of the score; scores outside the range count as its nearer end.
    fn bounds(
        &mut self,
        position: &Position,
        [low, high]: [i32; 2],
        task: &Task,
    ) -> Result<Bounds, Unsolvable> {
        let setup = position.setup();
        Solver::check(setup)?;
        // 1. Finished games and book positions.
        let known = Score::of_finished(position).or_else(|| {
            let book = self.book(position)?;
            book.look_ahead(position, &task.stop).ok()
        });
        if let Some(score) = known {
            return Ok(Bounds::exactly(Score::new(score.value().clamp(low, high))));
        }
        // 2. A lower bound from the book of the previous ply. It is often the exact score.
        let bound = self.lower_bound_from_book(position).map(Score::value);
        if let Some(bound) = bound
            && bound >= high
        {
            return Ok(Bounds::exactly(Score::new(high)));
        }
        let low = bound.map_or(low, |bound| bound.max(low));
        // 3. A search with the remaining nodes.
        let engine = match &mut self.engine {
            Some(engine) if engine.setup() == setup => engine,
            outdated => outdated.insert(engine(setup, &self.options)),
        };
        let nodes = task.stop.max_nodes().saturating_sub(self.nodes - task.nodes_before);
        let guess = bound.unwrap_or_default();
        let query = Query { range: [low, high], guess, method: task.method };
        let (bounds, nodes) = engine.solve(position, query, nodes, &task.stop);
        self.nodes += nodes;
        Ok(bounds)
    }

    /// A lower bound of a score, if there is a book of the previous ply: the opponent's last move
    /// was no better than the score of the position before it.
    fn lower_bound_from_book(&self, position: &Position) -> Option<Score> {
        let setup = position.setup();
        let before = position.ply().checked_sub(1)?;
        let is_before = |book: &&Arc<Book>| book.setup() == setup && book.ply() == before;
        let book = self.options.books.iter().find(is_before)?;
        let scores = Column::all(setup).filter_map(|column| {
            let mut before = *position;
            before.undo(column).ok()?;
            Some(-book.get(&before)?)
        });
        scores.max()
    }

    /// The score of a position at the last ply of all books, whose columns are in no book.
    fn score_in_book(&self, position: &Position, task: &Task) -> Option<Score> {
        let books = self.options.books.iter().filter(|book| book.setup() == position.setup());
        let last_ply = books.map(|book| book.ply()).max()?;
        if last_ply != position.ply() || position.outcome().is_some() {
            return None;
        }
        self.book(position)?.look_ahead(position, &task.stop).ok()
    }

    /// The book to look a position up in: the one with the next ply, if the position is reachable.
    fn book(&self, position: &Position) -> Option<&Book> {
        let books = self.options.books.iter();
        let book = books
            .filter(|book| book.setup() == position.setup() && book.ply() >= position.ply())
            .min_by_key(|book| book.ply())?;
        is_reachable(position).then_some(book)
    }
}

impl Default for Solver {
    fn default() -> Solver {
        Solver::new(Options::default())
    }
}

/// A task that may take several searches within the same limits.
struct Task {
    stop: Stop,
    nodes_before: u64,
    method: Method,
}

impl Task {
    fn new(solver: &Solver, limits: &Limits) -> Task {
        let (stop, nodes_before) = (Stop::new(limits), solver.nodes);
        Task { stop, nodes_before, method: Method::Alternate }
    }
}

/// All possible scores of a position.
fn full_range(position: &Position) -> [i32; 2] {
    let max = position.setup().cells() as i32;
    [-max, max]
}

/// The position after a legal move.
fn after(position: &Position, column: Column) -> Position {
    let mut child = *position;
    child.play(column).expect("the move is legal");
    child
}

/// A ruleset that the solver does not support.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsolvable(pub Ruleset);

impl fmt::Display for Unsolvable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the solver supports the ruleset {}, not {}", Ruleset::Standard, self.0)
    }
}

impl std::error::Error for Unsolvable {}
