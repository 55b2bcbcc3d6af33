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

/// One record of a file: the one with an id or a number from 1, or else the last.
pub(crate) fn load(path: &Path, game: Option<&str>) -> Result<GameRecord, Failure> {
    pick(RecordsArgs { file: path.to_owned() }.read()?, game)
}

/// One of several records: the one with an id or a number from 1, or else the last.
pub(crate) fn pick(
    mut records: Vec<GameRecord>,
    game: Option<&str>,
) -> Result<GameRecord, Failure> {
    let index = match game {
        None => records.len().checked_sub(1),
        Some(game) => {
            let by_id = records.iter().position(|record| record.id == game);
            let number = game.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            by_id.or(number).filter(|&index| index < records.len())
        }
    };
    match (index, game) {
        (Some(index), _) => Ok(records.swap_remove(index)),
        (None, Some(game)) => {
            let count = records.len();
            Err(Failure::Input(format!("there is no game '{game}' among the {count} of the file")))
        }
        (None, None) => Err(Failure::Input("there is no game in the file".to_owned())),
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
