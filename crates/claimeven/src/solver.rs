//! The options of the commands that use the solver.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use claimeven_game::Setup;
use claimeven_solver::{Book, Options, Solver, embedded_books};

use crate::Failure;
use crate::options::ThreadsArgs;

#[derive(clap::Args)]
#[command(next_help_heading = "Solver")]
pub(crate) struct SolverArgs {
    /// Do not use the built-in opening books
    #[arg(long)]
    no_book: bool,

    /// Additional opening book; can be repeated
    #[arg(long = "book", value_name = "FILE")]
    books: Vec<PathBuf>,

    #[command(flatten)]
    threads: ThreadsArgs,

    /// Size of the transposition table of each thread, in MiB
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(default_value_t = Options::default().table_mb() as u32)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    table_mb: u32,
}

impl SolverArgs {
    pub(crate) fn threads(&self) -> usize {
        self.threads.threads()
    }

    /// The built-in books and those of the command line.
    pub(crate) fn books(&self, setup: Setup) -> Result<Vec<Arc<Book>>, Failure> {
        let mut books = if self.no_book { Vec::new() } else { embedded_books() };
        books.extend(self.given_books(setup)?);
        Ok(books)
    }

    /// Whether the built-in books are used.
    pub(crate) fn has_embedded_books(&self) -> bool {
        !self.no_book
    }

    /// The size of each table in MiB.
    pub(crate) fn table_mb(&self) -> u32 {
        self.table_mb
    }

    /// The books of the command line.
    pub(crate) fn given_books(&self, setup: Setup) -> Result<Vec<Arc<Book>>, Failure> {
        let mut books = Vec::new();
        for path in &self.books {
            let book = read_book(path)?;
            if book.setup() != setup {
                let message = format!("the book is for {}, not for {setup}", book.setup());
                return Err(Failure::in_file(path, &message));
            }
            books.push(Arc::new(book));
        }
        Ok(books)
    }

    pub(crate) fn solver(&self, books: Vec<Arc<Book>>, threads: usize) -> Solver {
        Solver::new(
            Options::default()
                .with_table_mb(self.table_mb as usize)
                .with_threads(threads)
                .with_books(books),
        )
    }
}

pub(crate) fn read_book(path: &Path) -> Result<Book, Failure> {
    let bytes = fs::read(path).map_err(|error| Failure::in_file(path, &error))?;
    Book::from_bytes(&bytes).map_err(|error| Failure::in_file(path, &error))
}
