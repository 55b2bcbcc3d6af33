//! Solves every position of a ply, in several sessions if necessary.
//!
//! Positions are solved in chunks. Each finished chunk is appended to a checkpoint file, from which
//! an interrupted build resumes; an incomplete chunk at the end is dropped.
//!
//! ```text
//!   "claimevenpart"  version  cols rows connect ply | chunk number  scores …  CRC-32 | chunk number …
//! ```

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::{fmt, thread};

use claimeven_game::{Position, Setup};

use crate::Score;
use crate::book::{Book, BookError, book_positions};

const MAGIC: &[u8; 13] = b"claimevenpart";
/// Incremented when the order of the positions changes.
const VERSION: u8 = 2;
const POSITIONS_PER_CHUNK: usize = 256;

/// The progress of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildProgress {
    /// The number of solved positions, including those of earlier sessions.
    pub done: u64,
    /// The number of positions of the book.
    pub total: u64,
}

/// Builds the book of a ply, resuming from the checkpoint file if there is one; `None` if `on_progress`
/// breaks, which is asked after every chunk of 256 positions. The checkpoint has those that were solved.
///
/// Each thread solves with its own scorer, made by `new_scorer`.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use claimeven_game::{Position, Ruleset, Setup};
/// use claimeven_solver::{Solver, build_book};
///
/// let setup = Setup::new(4, 4, 4, Ruleset::Standard)?;
/// let checkpoint = std::env::temp_dir().join(format!("4x4-{}.part", std::process::id()));
/// let new_scorer = || {
///     let mut solver = Solver::default();
///     move |position: &Position| solver.score(position).expect("the ruleset is supported")
/// };
/// let go_on = |_| ControlFlow::Continue(());
/// let book = build_book(setup, 4, &checkpoint, 2, new_scorer, go_on)?;
/// let book = book.expect("nobody stops it");
/// assert_eq!((book.setup(), book.ply()), (setup, 4));
/// # std::fs::remove_file(checkpoint)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn build_book<Scorer: FnMut(&Position) -> Score>(
    setup: Setup,
    ply: u32,
    checkpoint: &Path,
    threads: usize,
    new_scorer: impl Fn() -> Scorer + Sync,
    mut on_progress: impl FnMut(BuildProgress) -> ControlFlow<()>,
) -> Result<Option<Book>, BuildError> {
    let mut build = BookBuild::open(setup, ply, checkpoint)?;
    if on_progress(build.progress()).is_break() {
        return Ok(None);
    }
    let (missing, positions) = (build.missing(), build.positions());
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    let flow = thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            let sender = sender.clone();
            let (missing, next, positions, new_scorer) = (&missing, &next, &positions, &new_scorer);
            scope.spawn(move || {
                let mut solve = new_scorer();
                while let Some(&chunk) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let solved = positions.chunk(chunk).iter().map(&mut solve);
                    if sender.send((chunk, solved.collect::<Vec<Score>>())).is_err() {
                        // The receiver was dropped, because it was told to stop or failed to write the
                        // checkpoint.
                        return;
                    }
                }
            });
        }
        drop(sender);
        for (chunk, solved) in receiver {
            build.add(chunk, &solved)?;
            if on_progress(build.progress()).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok::<_, BuildError>(ControlFlow::Continue(()))
    })?;
    if flow.is_break() { Ok(None) } else { build.finish().map(Some) }
}

/// A book that is being built, for callers that solve its chunks of positions themselves.
pub struct BookBuild {
    setup: Setup,
    ply: u32,
    positions: BookPositions,
    checkpoint: Checkpoint,
    scores: Vec<Option<Score>>,
    done: u64,
}

/// The positions of a book that is being built.
#[derive(Clone, Debug)]
pub struct BookPositions(Arc<Vec<Position>>);

impl BookPositions {
    /// The positions of a chunk.
    pub fn chunk(&self, chunk: usize) -> &[Position] {
        &self.0[chunk_range(chunk, &self.0)]
    }
}

impl BookBuild {
    /// Lists the positions, and reads the checkpoint file if there is one.
    pub fn open(setup: Setup, ply: u32, checkpoint: &Path) -> Result<BookBuild, BuildError> {
        Book::check(setup, ply)?;
        let positions = book_positions(setup, ply);
        let checkpoint = Checkpoint::open(checkpoint, setup, ply, positions.len())?;
        let scores = checkpoint.scores.clone();
        let done = scores.iter().flatten().count() as u64;
        let positions = BookPositions(Arc::new(positions));
        Ok(BookBuild { setup, ply, positions, checkpoint, scores, done })
    }

    /// The positions of all chunks.
    pub fn positions(&self) -> BookPositions {
        self.positions.clone()
    }

    /// The chunks that are not solved.
    pub fn missing(&self) -> Vec<usize> {
        let chunks = self.scores.len().div_ceil(POSITIONS_PER_CHUNK);
        let is_missing =
            |chunk: &usize| self.scores[chunk_range(*chunk, &self.scores)].contains(&None);
        (0..chunks).filter(is_missing).collect()
    }

    /// How much is solved.
    pub fn progress(&self) -> BuildProgress {
        BuildProgress { done: self.done, total: self.scores.len() as u64 }
    }

    /// Appends a solved chunk to the checkpoint.
    pub fn add(&mut self, chunk: usize, solved: &[Score]) -> Result<(), BuildError> {
        self.checkpoint.append(chunk, solved)?;
        for (index, &score) in chunk_range(chunk, &self.scores).zip(solved) {
            self.done += u64::from(self.scores[index].replace(score).is_none());
        }
        Ok(())
    }

    /// Removes the chunks that were added since the build was opened.
    pub fn roll_back(&mut self) -> Result<(), BuildError> {
        self.checkpoint.roll_back()?;
        self.scores.clone_from(&self.checkpoint.scores);
        self.done = self.scores.iter().flatten().count() as u64;
        Ok(())
    }

    /// The finished book.
    ///
    /// # Panics
    ///
    /// If a chunk is missing.
    pub fn finish(self) -> Result<Book, BuildError> {
        let scores = self.scores.into_iter().map(|score| score.expect("every chunk is solved"));
        let positions = self.positions.0.iter().copied();
        Ok(Book::new(self.setup, self.ply, positions.zip(scores))?)
    }
}

/// The indices of a chunk's positions in the list of all positions.
fn chunk_range(chunk: usize, positions: &[impl Sized]) -> Range<usize> {
    let start = chunk * POSITIONS_PER_CHUNK;
    start..positions.len().min(start + POSITIONS_PER_CHUNK)
}

struct Checkpoint {
    file: File,
    /// The scores found in the file, by index.
    scores: Vec<Option<Score>>,
    /// The length of the file with these scores.
    length: u64,
}

impl Checkpoint {
    fn open(path: &Path, setup: Setup, ply: u32, count: usize) -> Result<Checkpoint, BuildError> {
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let mut header = MAGIC.to_vec();
        header.extend([VERSION, setup.cols(), setup.rows(), setup.connect(), ply as u8]);
        // A build that was interrupted while writing the header has solved nothing.
        if header.starts_with(&bytes) && bytes.len() < header.len() {
            file.rewind()?;
            file.write_all(&header)?;
            let length = header.len() as u64;
            return Ok(Checkpoint { file, scores: vec![None; count], length });
        }
        if !bytes.starts_with(&header) {
            return Err(BuildError::OtherBook);
        }
        let mut scores = vec![None; count];
        let mut valid = header.len();
        while let Some((chunk, solved)) = read_chunk(&bytes[valid..], &scores) {
            let range = chunk_range(chunk, &scores);
            for (score, solved) in scores[range].iter_mut().zip(solved) {
                *score = Some(Score::new(solved.cast_signed().into()));
            }
            valid += record_length(solved.len());
        }
        file.set_len(valid as u64)?;
        file.seek(SeekFrom::End(0))?;
        Ok(Checkpoint { file, scores, length: valid as u64 })
    }

    fn roll_back(&mut self) -> io::Result<()> {
        self.file.set_len(self.length)?;
        self.file.seek(SeekFrom::Start(self.length)).map(|_| ())
    }

    fn append(&mut self, chunk: usize, solved: &[Score]) -> io::Result<()> {
        let mut record = (chunk as u32).to_le_bytes().to_vec();
        record.extend(solved.iter().map(|score| (score.value() as i8).cast_unsigned()));
        record.extend(crc32fast::hash(&record).to_le_bytes());
        self.file.write_all(&record)
    }
}

fn record_length(scores: usize) -> usize {
    size_of::<u32>() + scores + size_of::<u32>()
}

/// The first record, if the bytes begin with a complete one.
fn read_chunk<'a>(bytes: &'a [u8], positions: &[impl Sized]) -> Option<(usize, &'a [u8])> {
    let chunk = u32::from_le_bytes(*bytes.first_chunk()?) as usize;
    if chunk * POSITIONS_PER_CHUNK >= positions.len() {
        return None;
    }
    let record = bytes.get(..record_length(chunk_range(chunk, positions).len()))?;
    let (content, stored) = record.split_last_chunk()?;
    (crc32fast::hash(content) == u32::from_le_bytes(*stored)).then_some((chunk, &content[4..]))
}

/// Why building a book failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// The file is not a checkpoint of this book.
    OtherBook,
    /// The checkpoint file cannot be read or written.
    Io(io::Error),
    /// The scores do not form a book.
    Book(BookError),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::OtherBook => f.write_str("not a checkpoint of this book"),
            BuildError::Io(error) => error.fmt(f),
            BuildError::Book(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            BuildError::OtherBook => None,
            BuildError::Io(error) => Some(error),
            BuildError::Book(error) => Some(error),
        }
    }
}

impl From<io::Error> for BuildError {
    fn from(error: io::Error) -> BuildError {
        BuildError::Io(error)
    }
}

impl From<BookError> for BuildError {
    fn from(error: BookError) -> BuildError {
        BuildError::Book(error)
    }
}
