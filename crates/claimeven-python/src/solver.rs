//! Exact scores.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use claimeven_game::{Column, Position as PlainPosition};
use claimeven_solver::{
    Book, Bounds, Limits as SolverLimits, Options, Solver as PlainSolver, embedded_books,
};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};

use crate::boards::{Boards, array_of, in_parallel};
use crate::position::position_of;
use crate::setup::Setup;
use crate::{numbers, value_error, work};

/// Computes exact scores: the result of a position under perfect play, and how soon it is reached.
///
/// A score is positive if the side to move wins: 1 with its last disc, 2 with the one before, and so on. It is 0 for
/// a draw and negative for a loss. One solver may be used by several threads at once.
///
/// `threads` is the number of threads: by default all cores for a batch and one for a single
/// position. `table_mb` is the size of the transposition table per thread. `book` is True for the
/// built-in opening books (7x6), False for none, or the path of a book file.
///
/// >>> from claimeven import Solver
/// >>> solver = Solver()
/// >>> solver.score('4455')
/// 18
/// >>> solver.scores('4455')
/// [-4, -3, 18, 2, 2, 18, -3]
#[pyclass(frozen, subclass, module = "claimeven")]
pub(crate) struct Solver {
    options: Options,
    threads: Option<usize>,
    /// The book as it was given.
    book: Option<Py<PyAny>>,
    /// Solvers that are not in use. Each call takes one or creates one.
    idle: Mutex<Vec<PlainSolver>>,
}

/// Nodes that a search may take before the interpreter's lock is released: about 50 us.
const INSTANT: u64 = 1 << 9;

/// Nodes that a search may take before it moves to a thread that Ctrl-C can interrupt: about 10 ms.
const SHORT: u64 = 1 << 16;

/// Marks columns that are not legal moves.
const ILLEGAL: i8 = i8::MIN;

impl Solver {
    fn take(&self) -> PlainSolver {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.unwrap_or_else(|| PlainSolver::new(self.options.clone()))
    }

    #[inline]
    fn put_back(&self, solvers: impl IntoIterator<Item = PlainSolver>) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).extend(solvers);
    }

    /// Searches with increasing limits: first while holding the interpreter's lock, because
    /// releasing it takes longer than most searches, then without it, and finally on a thread that
    /// Ctrl-C can interrupt. Earlier results are in the transposition table.
    fn search<T: Send>(
        &self,
        py: Python<'_>,
        limits: &SolverLimits,
        is_found: impl Fn(&T) -> bool,
        search: impl Fn(&mut PlainSolver, &SolverLimits) -> T + Sync,
    ) -> PyResult<T> {
        let mut solver = self.take();
        let nodes = limits.nodes.unwrap_or(u64::MAX);
        let at_most = |max: u64| SolverLimits { nodes: Some(nodes.min(max)), ..limits.clone() };
        let mut result = search(&mut solver, &at_most(INSTANT));
        if !is_found(&result) && nodes > INSTANT {
            result = py.detach(|| search(&mut solver, &at_most(SHORT)));
        }
        if is_found(&result) || nodes <= SHORT {
            self.put_back([solver]);
            return Ok(result);
        }
        let (result, solver) = work::run(
            py,
            |cancel| (search(&mut solver, &limits.clone().with_cancel(Arc::clone(cancel))), solver),
            |_| Ok(()),
        )?;
        self.put_back([solver]);
        Ok(result)
    }

    /// Solves positions on several threads; returns `width` numbers for each. Repeated positions
    /// are solved once.
    fn batch(
        &self,
        py: Python<'_>,
        boards: &Boards,
        width: usize,
        progress: Option<Py<PyAny>>,
        solve: impl Fn(&mut PlainSolver, &PlainPosition, &SolverLimits, &mut Vec<i8>) + Sync,
    ) -> PyResult<Vec<i8>> {
        PlainSolver::check(boards.setup).map_err(value_error)?;
        let count = boards.positions.len();
        let distinct = py.detach(|| Distinct::of(&boards.positions));
        let threads = work::threads(self.threads).min(distinct.firsts.len().max(1));
        let mut solvers: Vec<PlainSolver> = (0..threads).map(|_| self.single()).collect();
        let repeated = count - distinct.firsts.len();
        let done = AtomicUsize::new(repeated);
        let report = |py: Python<'_>, done: usize| match &progress {
            Some(progress) => progress.call1(py, (done, count)).map(drop),
            None => Ok(()),
        };
        let solved = work::run(
            py,
            |cancel| {
                let limits = SolverLimits::default().with_cancel(Arc::clone(cancel));
                let count = distinct.firsts.len();
                in_parallel(count, width, &mut solvers, &done, cancel, |solver, index, values| {
                    solve(solver, &boards.positions[distinct.firsts[index]], &limits, values);
                })
            },
            |py| report(py, done.load(Ordering::Relaxed)),
        )?;
        report(py, count)?;
        if self.options.threads() == 1 {
            self.put_back(solvers);
        }
        let solved = solved.unwrap_or_default();
        if repeated == 0 {
            return Ok(solved);
        }
        let values = |place: &usize| &solved[place * width..][..width];
        Ok(py.detach(|| distinct.places.iter().flat_map(values).copied().collect()))
    }

    /// A solver with one thread.
    fn single(&self) -> PlainSolver {
        if self.options.threads() == 1 {
            return self.take();
        }
        PlainSolver::new(self.options.clone().with_threads(1))
    }
}

/// The distinct positions of a list.
struct Distinct {
    /// The index of the first occurrence of each.
    firsts: Vec<usize>,
    /// For each position of the list, the index of its distinct position.
    places: Vec<usize>,
}

impl Distinct {
    fn of(positions: &[PlainPosition]) -> Distinct {
        let mut known = HashMap::new();
        let mut firsts = Vec::new();
        let mut place = |(index, position): (usize, &PlainPosition)| {
            *known.entry(position.key()).or_insert_with(|| {
                firsts.push(index);
                firsts.len() - 1
            })
        };
        let places = positions.iter().enumerate().map(&mut place).collect();
        Distinct { firsts, places }
    }
}

#[pymethods]
impl Solver {
    #[new]
    #[pyo3(signature = (*, threads=None, table_mb=2, book=None))]
    fn new(
        #[pyo3(from_py_with = numbers::threads)] threads: Option<usize>,
        #[pyo3(from_py_with = numbers::table_mb)] table_mb: usize,
        book: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Solver> {
        let options = Options::default();
        if table_mb == 0 || table_mb > Options::MAX_TABLE_MB {
            let max = Options::MAX_TABLE_MB;
            return Err(value_error(format!("table_mb {table_mb}: expected 1 to {max}")));
        }
        let max = Options::MAX_THREADS;
        if let Some(threads) = threads.filter(|threads| !(1..=max).contains(threads)) {
            return Err(value_error(format!("threads {threads}: expected 1 to {max}")));
        }
        let books = match book {
            None => embedded_books(),
            Some(book) => match book.cast::<PyBool>() {
                Ok(is_used) if is_used.is_true() => embedded_books(),
                Ok(_) => Vec::new(),
                Err(_) => vec![Arc::new(read_book(&book.extract::<PathBuf>()?)?)],
            },
        };
        let options = options.with_table_mb(table_mb).with_books(books);
        let options = options.with_threads(threads.unwrap_or(1));
        let book = book.map(|book| book.clone().unbind());
        Ok(Solver { options, threads, book, idle: Mutex::default() })
    }

    /// The exact score of a position.
    fn score(&self, py: Python<'_>, position: &Bound<'_, PyAny>) -> PyResult<i32> {
        let position = position_of(position)?;
        PlainSolver::check(position.setup()).map_err(value_error)?;
        let bounds = self.search(
            py,
            &SolverLimits::default(),
            |bounds: &Bounds| bounds.exact().is_some(),
            |solver, limits| {
                solver.score_within(&position, limits).expect("the setup has been checked")
            },
        )?;
        Ok(bounds.low.value())
    }

    /// The (lowest, highest) possible score when a limit is reached.
    ///
    /// >>> from claimeven import Solver
    /// >>> low, high = Solver(book=False).bounds('', nodes=1000)
    /// >>> low < high
    /// True
    #[pyo3(signature = (position, *, nodes=None, seconds=None))]
    fn bounds(
        &self,
        py: Python<'_>,
        position: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = numbers::nodes)] nodes: Option<u64>,
        #[pyo3(from_py_with = numbers::seconds)] seconds: Option<f64>,
    ) -> PyResult<(i32, i32)> {
        let position = position_of(position)?;
        PlainSolver::check(position.setup()).map_err(value_error)?;
        let limits = SolverLimits { nodes, time: seconds.map(duration).transpose()?, cancel: None };
        let bounds = self.search(
            py,
            &limits,
            |bounds: &Bounds| bounds.exact().is_some(),
            |solver, limits| {
                solver.score_within(&position, limits).expect("the setup has been checked")
            },
        )?;
        Ok((bounds.low.value(), bounds.high.value()))
    }

    /// The score of playing in each column, from the left; None for a column that is not a legal move.
    fn scores(&self, py: Python<'_>, position: &Bound<'_, PyAny>) -> PyResult<Vec<Option<i32>>> {
        let position = position_of(position)?;
        PlainSolver::check(position.setup()).map_err(value_error)?;
        let is_exact = |bounds: &Vec<Option<Bounds>>| {
            bounds.iter().flatten().all(|bounds| bounds.exact().is_some())
        };
        let bounds = self.search(py, &SolverLimits::default(), is_exact, |solver, limits| {
            solver.scores_within(&position, limits).expect("the setup has been checked")
        })?;
        Ok(bounds.into_iter().map(|bounds| bounds.map(|bounds| bounds.low.value())).collect())
    }

    /// The principal variation from a position to the end of the game, as moves such as '3526'.
    ///
    /// >>> from claimeven import Solver
    /// >>> Solver().principal_variation('4455')
    /// '342'
    fn principal_variation(&self, py: Python<'_>, position: &Bound<'_, PyAny>) -> PyResult<String> {
        let position = position_of(position)?;
        PlainSolver::check(position.setup()).map_err(value_error)?;
        let is_complete = |line: &Vec<Column>| {
            let mut end = position;
            line.iter().all(|&column| end.play(column).is_ok()) && end.outcome().is_some()
        };
        let line = self.search(py, &SolverLimits::default(), is_complete, |solver, limits| {
            solver
                .principal_variation_within(&position, limits)
                .expect("the setup has been checked")
        })?;
        Ok(line.into_iter().map(Column::to_char).collect())
    }

    /// The score of a position in words: 'wins in 3', 'loses in 3' or 'draw'.
    fn describe(&self, py: Python<'_>, position: &Bound<'_, PyAny>) -> PyResult<String> {
        let plain = position_of(position)?;
        PlainSolver::check(plain.setup()).map_err(value_error)?;
        let bounds = self.search(
            py,
            &SolverLimits::default(),
            |bounds: &Bounds| bounds.exact().is_some(),
            |solver, limits| {
                solver.score_within(&plain, limits).expect("the setup has been checked")
            },
        )?;
        Ok(bounds.low.describe(&plain))
    }

    /// The score of every board, as an int8 array of shape (n,).
    #[pyo3(signature = (boards, setup=None, progress=None))]
    fn _score_batch<'py>(
        &self,
        py: Python<'py>,
        boards: &Bound<'py, PyAny>,
        setup: Option<&Setup>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<i8>>> {
        let boards = Boards::of(boards, setup)?;
        let scores = self.batch(py, &boards, 1, progress, |solver, position, limits, values| {
            let bounds = solver.score_within(position, limits).expect("the setup has been checked");
            values.push(bounds.low.value() as i8);
        })?;
        Ok(array_of(py, scores))
    }

    /// The score of every column of every board, as an int8 array of shape (n, cols); -128 if it is not legal.
    #[pyo3(signature = (boards, setup=None, progress=None))]
    fn _scores_batch<'py>(
        &self,
        py: Python<'py>,
        boards: &Bound<'py, PyAny>,
        setup: Option<&Setup>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<i8>>> {
        let boards = Boards::of(boards, setup)?;
        let cols = usize::from(boards.setup.cols());
        let scores =
            self.batch(py, &boards, cols, progress, |solver, position, limits, values| {
                let bounds =
                    solver.scores_within(position, limits).expect("the setup has been checked");
                let score = |bounds: Option<Bounds>| {
                    bounds.map_or(ILLEGAL, |bounds| bounds.low.value() as i8)
                };
                values.extend(bounds.into_iter().map(score));
            })?;
        array_of(py, scores).reshape([boards.positions.len(), cols])
    }

    /// Clears the transposition tables.
    fn clear(&self) {
        for solver in self.idle.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
            solver.clear();
        }
    }

    /// The number of nodes searched so far, except by calls in progress.
    #[getter]
    fn nodes(&self) -> u64 {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.iter().map(PlainSolver::nodes).sum()
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((), Bound<'py, PyDict>)> {
        let arguments = PyDict::new(py);
        arguments.set_item("threads", self.threads)?;
        arguments.set_item("table_mb", self.options.table_mb())?;
        arguments.set_item("book", &self.book)?;
        Ok(((), arguments))
    }

    fn __repr__(&self) -> String {
        let books = self.options.books().len();
        let (threads, table_mb) = (work::threads(self.threads), self.options.table_mb());
        format!("<Solver threads={threads} table_mb={table_mb} books={books}>")
    }
}

fn read_book(path: &Path) -> PyResult<Book> {
    let wrong =
        |reason: &dyn std::fmt::Display| value_error(format!("{}: {reason}", path.display()));
    let bytes = fs::read(path)?;
    Book::from_bytes(&bytes).map_err(|error| wrong(&error))
}

/// A duration from seconds given in Python.
pub(crate) fn duration(seconds: f64) -> PyResult<Duration> {
    let wrong = || value_error(format!("{seconds} seconds: expected a number of at least 0"));
    Duration::try_from_secs_f64(seconds).map_err(|_| wrong())
}
