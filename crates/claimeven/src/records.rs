//! Files of game records, one JSON document per line.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use claimeven_arena::GameRecord;

use crate::Failure;

/// The argument that names a file of records.
#[derive(clap::Args)]
pub(crate) struct RecordsArgs {
    /// The games, one JSON record per line, as `match --out` writes them; - reads standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl RecordsArgs {
    /// All records in their order.
    pub(crate) fn read(&self) -> Result<Vec<GameRecord>, Failure> {
        if self.is_standard_input() {
            return read_records(io::stdin().lock(), Path::new("standard input"));
        }
        let failed = |error| Failure::Input(format!("{}: {error}", self.file.display()));
        read_records(BufReader::new(File::open(&self.file).map_err(failed)?), &self.file)
    }

    pub(crate) fn is_standard_input(&self) -> bool {
        self.file.as_os_str() == "-"
    }
}

fn read_records(input: impl BufRead, path: &Path) -> Result<Vec<GameRecord>, Failure> {
    let mut records = Vec::new();
    for (number, line) in (1..).zip(input.split(b'\n')) {
        let wrong = |error: &dyn std::fmt::Display| {
            Failure::Input(format!("{}: line {number}: {error}", path.display()))
        };
        let line = line.map_err(|error| wrong(&error))?;
        if line.trim_ascii().is_empty() {
            continue;
        }
        let record = serde_json::from_slice(&line).map_err(|error| {
            // A document is one line: the line that the error names is always the first.
            let text = error.to_string();
            wrong(&text.replace(" at line 1 column ", " at column "))
        })?;
        records.push(record);
    }
    Ok(records)
}
