//! The options of every command that solves.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use claimeven_game::Setup;
use claimeven_solver::{Book, Options, Solver, embedded_books};

use crate::{Failure, cores};

#[derive(clap::Args)]
#[command(next_help_heading = "Solver")]
pub(crate) struct SolverArgs {
    /// Do not use the opening books that come with the program
    #[arg(long)]
    no_book: bool,

    /// Use this opening book as well; may be given more than once
    #[arg(long = "book", value_name = "FILE")]
    books: Vec<PathBuf>,

    /// Threads to use [default: one per core]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// Memory for the transposition table per thread, in MiB
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(default_value_t = Options::default().table_mb() as u32)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    table_mb: u32,
}

impl SolverArgs {
    pub(crate) fn threads(&self) -> usize {
        self.threads.map_or_else(cores, usize::from)
    }

    /// The books to use, read and checked.
    pub(crate) fn books(&self, setup: Setup) -> Result<Vec<Arc<Book>>, Failure> {
        let mut books = if self.no_book { Vec::new() } else { embedded_books() };
        for path in &self.books {
            let book = read_book(path)?;
            if book.setup() != setup {
                let message = format!("the book is for {}, not for {setup}", book.setup());
                return Err(Failure::Input(format!("{}: {message}", path.display())));
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

pub(crate) fn read_book(path: &PathBuf) -> Result<Book, Failure> {
    let wrong =
        |error: &dyn std::fmt::Display| Failure::Input(format!("{}: {error}", path.display()));
    let bytes = fs::read(path).map_err(|error| wrong(&error))?;
    Book::from_bytes(&bytes).map_err(|error| wrong(&error))
}
