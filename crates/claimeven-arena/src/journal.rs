//! The journal of a tournament: the file to which its games are appended.

use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::Path;

use crate::record::GameRecord;

/// A journal: a file of JSON lines, one game each, to which games are added as they finish.
///
/// Each game is one write, so a program that is killed leaves complete lines and at most one torn
/// line at the end, which is removed when the journal is opened again.
///
/// ```no_run
/// use claimeven_arena::Journal;
///
/// let mut games = Vec::new();
/// let journal = Journal::open("games.jsonl".as_ref(), |game| {
///     games.push(game);
///     Ok(())
/// })?;
/// # Ok::<(), claimeven_arena::JournalError>(())
/// ```
#[derive(Debug)]
pub struct Journal {
    file: File,
}

impl Journal {
    /// Opens or creates a journal and passes its games to `take`.
    ///
    /// `take` may reject a game with an error message. The file is locked until the journal is
    /// dropped, so that no other run writes to it.
    pub fn open(
        path: &Path,
        mut take: impl FnMut(GameRecord) -> Result<(), String>,
    ) -> Result<Journal, JournalError> {
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => JournalError::InUse,
            TryLockError::Error(error) => JournalError::File(error),
        })?;
        let mut reader = BufReader::new(&file);
        let mut line = Vec::new();
        let (mut number, mut whole) = (0, 0);
        let mut is_torn = false;
        loop {
            line.clear();
            let length = reader.read_until(b'\n', &mut line)? as u64;
            if length == 0 {
                break;
            }
            number += 1;
            let is_complete = line.ends_with(b"\n");
            match serde_json::from_slice(&line) {
                Ok(record) => {
                    take(record).map_err(|reason| JournalError::Game { line: number, reason })?;
                    whole += length;
                    is_torn = !is_complete;
                }
                Err(_) if !is_complete => break,
                Err(error) => {
                    let reason = error.to_string();
                    return Err(JournalError::Game { line: number, reason });
                }
            }
        }
        file.set_len(whole)?;
        file.seek(SeekFrom::Start(whole))?;
        // The game is complete, only its line break is missing.
        if is_torn {
            file.write_all(b"\n")?;
        }
        Ok(Journal { file })
    }

    /// The length of the file.
    pub fn length(&mut self) -> io::Result<u64> {
        self.file.stream_position()
    }

    /// Removes the games that were appended since the file had this length.
    pub fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.file.set_len(length)?;
        self.file.seek(SeekFrom::Start(length)).map(|_| ())
    }

    /// Appends a game, which survives if the program is killed afterwards.
    pub fn append(&mut self, game: &GameRecord) -> io::Result<()> {
        let mut line = serde_json::to_vec(game)?;
        line.push(b'\n');
        self.file.write_all(&line)
    }
}

/// Why a journal cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum JournalError {
    /// The file cannot be read or written.
    File(io::Error),
    /// Another run is writing to it.
    InUse,
    /// A line is not a game of the tournament.
    Game {
        /// The number of the line, from 1.
        line: u64,
        /// Why it is rejected.
        reason: String,
    },
}

impl From<io::Error> for JournalError {
    fn from(error: io::Error) -> JournalError {
        JournalError::File(error)
    }
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JournalError::File(error) => error.fmt(f),
            JournalError::InUse => f.write_str("another run is writing to the journal"),
            JournalError::Game { line, reason } => write!(f, "line {line}: {reason}"),
        }
    }
}

impl std::error::Error for JournalError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            JournalError::File(error) => Some(error),
            JournalError::InUse | JournalError::Game { .. } => None,
        }
    }
}
