//! Atomic writing of files, and errors that name the file.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The extension of a file that is being written.
pub(crate) const TEMPORARY: &str = "new";

/// Writes a file so that a crash at any time leaves the old contents or the new ones.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(TEMPORARY);
    let new = path.with_file_name(name);
    let mut file = File::create(&new)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(new, path)
}

/// Makes the directory entries of a folder durable, if the system supports it.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}

/// Reads and parses a file.
pub(crate) fn read<T, E>(
    path: &Path,
    parse: impl FnOnce(&[u8]) -> Result<T, E>,
) -> Result<T, FileError<E>> {
    let error = |cause| FileError { path: path.to_owned(), cause };
    let bytes = fs::read(path).map_err(|cause| error(FileErrorCause::Io(cause)))?;
    parse(&bytes).map_err(|cause| error(FileErrorCause::Content(cause)))
}

/// A file could not be read or has invalid contents.
#[derive(Debug)]
#[non_exhaustive]
pub struct FileError<E> {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub cause: FileErrorCause<E>,
}

/// Why a file could not be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum FileErrorCause<E> {
    /// An I/O error.
    Io(io::Error),
    /// The contents are invalid.
    Content(E),
}

impl<E: fmt::Display> fmt::Display for FileError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.cause {
            FileErrorCause::Io(error) => write!(f, "cannot read {path}: {error}"),
            FileErrorCause::Content(error) => write!(f, "{path}: {error}"),
        }
    }
}

impl<E: std::error::Error + 'static> std::error::Error for FileError<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.cause {
            FileErrorCause::Io(error) => Some(error),
            FileErrorCause::Content(error) => Some(error),
        }
    }
}
