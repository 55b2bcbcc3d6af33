//! The chunks of a book as units of work.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use claimeven_game::{Position, Setup};
use claimeven_solver::{Book, Limits, Options, Score, Solver, embedded_books};
use claimeven_work::{File, Files, Job, Work, WorkError};
use serde::{Deserialize, Serialize};

use crate::Failure;
use crate::solver::SolverArgs;

/// The solver of a command line, which other machines can build as well.
#[derive(Clone)]
pub(crate) struct SolverWork {
    setup: Setup,
    table_mb: u32,
    has_embedded_books: bool,
    /// The books of the command line.
    books: Vec<Arc<Book>>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct SolverParameters {
    setup: Setup,
    table_mb: u32,
    has_embedded_books: bool,
}

impl SolverWork {
    pub(crate) fn new(args: &SolverArgs, setup: Setup) -> Result<SolverWork, Failure> {
        Ok(SolverWork {
            setup,
            table_mb: args.table_mb(),
            has_embedded_books: args.has_embedded_books(),
            books: args.given_books(setup)?,
        })
    }

    /// A solver with the embedded books.
    pub(crate) fn with_embedded_books(setup: Setup) -> SolverWork {
        let table_mb = Options::default().table_mb() as u32;
        SolverWork { setup, table_mb, has_embedded_books: true, books: Vec::new() }
    }

    pub(super) fn setup(&self) -> Setup {
        self.setup
    }

    pub(super) fn parameters(&self) -> SolverParameters {
        let SolverWork { setup, table_mb, has_embedded_books, .. } = *self;
        SolverParameters { setup, table_mb, has_embedded_books }
    }

    pub(super) fn files(&self) -> Vec<File> {
        let file = |(number, book): (usize, &Arc<Book>)| File {
            name: format!("book {number:03}"),
            content: book.to_bytes(),
        };
        self.books.iter().enumerate().map(file).collect()
    }

    pub(super) fn open(parameters: SolverParameters, files: &Files) -> Result<SolverWork, String> {
        let SolverParameters { setup, table_mb, has_embedded_books } = parameters;
        let read = |path| {
            let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
            Book::from_bytes(&bytes).map(Arc::new).map_err(|error| error.to_string())
        };
        let books = files.values().map(read).collect::<Result<_, String>>()?;
        Ok(SolverWork { setup, table_mb, has_embedded_books, books })
    }

    pub(crate) fn solver(&self) -> Solver {
        let mut books = if self.has_embedded_books { embedded_books() } else { Vec::new() };
        books.extend(self.books.iter().cloned());
        Solver::new(Options::default().with_table_mb(self.table_mb as usize).with_books(books))
    }
}

/// The exact scores of positions.
pub(crate) struct BookScores {
    pub(crate) solver: SolverWork,
    /// The ply of the book, if they are the positions of one, some of which may be known already.
    pub(crate) ply: Option<u32>,
}

impl Work for BookScores {
    const KIND: &'static str = "book";
    type Unit = Vec<Position>;
    type Output = Vec<Score>;
    type Thread = Solver;
    type Error = WorkError;

    fn job(&self) -> Result<Job, String> {
        let title = format!("book of {}", self.solver.setup());
        let identity = self.ply.map(|ply| format!("ply {ply}"));
        let job = Job::new(title, &self.solver.parameters());
        Ok(Job { files: self.solver.files(), identity, ..job })
    }

    fn open(parameters: serde_json::Value, files: &Files) -> Result<BookScores, String> {
        let parameters = serde_json::from_value(parameters).map_err(|error| error.to_string())?;
        Ok(BookScores { solver: SolverWork::open(parameters, files)?, ply: None })
    }

    fn thread(&self) -> Solver {
        self.solver.solver()
    }

    fn compute(
        &self,
        solver: &mut Solver,
        unit: &Vec<Position>,
        cancel: &Arc<AtomicBool>,
    ) -> Result<Option<Vec<Score>>, WorkError> {
        let limits = Limits::default().with_cancel(Arc::clone(cancel));
        let mut scores = Vec::new();
        for position in unit {
            let bounds = solver
                .score_within(position, &limits)
                .map_err(|error| WorkError::LocalOnly(error.to_string()))?;
            let Some(score) = bounds.exact() else { return Ok(None) };
            scores.push(score);
        }
        Ok(Some(scores))
    }

    fn encode(output: &Vec<Score>) -> Vec<u8> {
        let values: Vec<i32> = output.iter().map(|score| score.value()).collect();
        serde_json::to_vec(&values).expect("scores are numbers")
    }

    fn decode(bytes: &[u8]) -> Result<Vec<Score>, String> {
        let values: Vec<i32> = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        let score = |value| Score::from_value(value).ok_or(format!("{value} is not a score"));
        values.into_iter().map(score).collect()
    }

    fn verify(&self, unit: &Vec<Position>, output: &Vec<Score>) -> Result<(), String> {
        if unit.len() == output.len() {
            return Ok(());
        }
        Err(format!("{} scores for {} positions", output.len(), unit.len()))
    }
}
