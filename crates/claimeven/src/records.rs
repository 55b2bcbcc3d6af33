//! Files of game records, one JSON document per line.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use claimeven_arena::GameRecord;

use crate::Failure;
use crate::text::counted;

/// The argument that names a file of records.
#[derive(clap::Args)]
pub(crate) struct RecordsArgs {
    /// File of games, one JSON record per line, as `match --out` writes it; - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl RecordsArgs {
    pub(crate) fn read(&self) -> Result<Vec<GameRecord>, Failure> {
        if self.is_standard_input() {
            return read_records(io::stdin().lock(), Path::new("standard input"));
        }
        let file = File::open(&self.file).map_err(|error| Failure::in_file(&self.file, &error))?;
        read_records(BufReader::new(file), &self.file)
    }

    pub(crate) fn is_standard_input(&self) -> bool {
        self.file.as_os_str() == "-"
    }
}

/// One record of a file, by its id or its number from 1; the last one by default.
pub(crate) fn load(path: &Path, game: Option<&str>) -> Result<GameRecord, Failure> {
    pick(RecordsArgs { file: path.to_owned() }.read()?, game)
}

/// One of several records, by its id or its number from 1; the last one by default.
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
            let games = counted(records.len(), "game");
            Err(Failure::Input(format!("game '{game}' not found (the file has {games})")))
        }
        (None, None) => Err(Failure::Input("the file has no games".to_owned())),
    }
}

fn read_records(input: impl BufRead, path: &Path) -> Result<Vec<GameRecord>, Failure> {
    let mut records = Vec::new();
    for (number, line) in (1..).zip(input.split(b'\n')) {
        let wrong =
            |error: &dyn Display| Failure::in_file(path, &format_args!("line {number}: {error}"));
        let line = line.map_err(|error| wrong(&error))?;
        if line.trim_ascii().is_empty() {
            continue;
        }
        let record = serde_json::from_slice(&line).map_err(|error| {
            // Each record is a document of its own, so serde_json always reports its line 1.
            let text = error.to_string();
            wrong(&text.replace(" at line 1 column ", " at column "))
        })?;
        records.push(record);
    }
    Ok(records)
}
