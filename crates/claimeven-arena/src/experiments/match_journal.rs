//! Finished matches of experiments in a file, so that an interrupted run can be resumed.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::lab::PlayedMatch;

/// A file with one line per finished match, whose key describes the match completely.
#[derive(Debug)]
pub struct MatchJournal {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: File,
    matches: HashMap<String, PlayedMatch>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    key: String,
    played: PlayedMatch,
}

impl MatchJournal {
    /// Opens or creates a journal. A torn last line, which an interrupted process leaves, is
    /// removed.
    pub fn open(path: &Path) -> io::Result<MatchJournal> {
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let mut matches = HashMap::new();
        for (number, line) in (1..).zip(text[..whole].lines()) {
            let Line { key, played } = serde_json::from_str(line)
                .map_err(|error| io::Error::other(format!("line {number}: {error}")))?;
            matches.insert(key, played);
        }
        file.set_len(whole as u64)?;
        file.seek(SeekFrom::End(0))?;
        Ok(MatchJournal { state: Mutex::new(State { file, matches }) })
    }

    pub(super) fn find(&self, key: &str) -> Option<PlayedMatch> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.matches.get(key).cloned()
    }

    /// Adds a match with one write.
    pub(super) fn add(&self, key: String, played: &PlayedMatch) -> io::Result<()> {
        let line = Line { key, played: played.clone() };
        let text = serde_json::to_string(&line)? + "\n";
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.file.write_all(text.as_bytes())?;
        state.matches.insert(line.key, line.played);
        Ok(())
    }
}
