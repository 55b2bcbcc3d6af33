//! Results as JSON on standard output, and files to write.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use crate::Failure;

/// Prints a result as one line of JSON.
pub(crate) fn print_json(result: &impl Serialize) -> Result<(), Failure> {
    writeln!(anstream::stdout(), "{}", serde_json::to_string(result)?)?;
    Ok(())
}

pub(crate) fn create_file(path: &Path) -> Result<File, Failure> {
    File::create(path).map_err(|error| Failure::unwritable(path, &error))
}

/// Creates a file of results. An existing one is an error unless `may_overwrite`.
pub(crate) fn create_results(path: &Path, may_overwrite: bool) -> Result<File, Failure> {
    if may_overwrite {
        return create_file(path);
    }
    File::create_new(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            Failure::Input(format!("{} exists; use --force to overwrite it", path.display()))
        }
        _ => Failure::unwritable(path, &error),
    })
}

pub(crate) fn write_file(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Failure> {
    fs::write(path, content).map_err(|error| Failure::unwritable(path, &error))
}
