//! A temporary folder for a test.

use std::fs;
use std::path::PathBuf;

/// A folder that is removed at the end of its test.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Folder {
        let path =
            std::env::temp_dir().join(format!("claimeven-zero-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
