//! The files of jobs on this machine's disk, by their hashes.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::messages::hash;
use super::random_text;

/// Files that no job has needed for this long are removed.
const MAX_AGE: Duration = Duration::from_hours(7 * 24);

/// The path of a file, if it is there and whole.
pub(super) fn find(folder: &Path, expected: &str) -> Option<PathBuf> {
    let path = folder.join(expected);
    let bytes = fs::read(&path).ok()?;
    if hash(&bytes) != expected {
        return None;
    }
    // It is needed again, so it is kept for longer.
    let _ =
        File::options().append(true).open(&path).map(|file| file.set_modified(SystemTime::now()));
    Some(path)
}

/// Stores a file under its hash. Processes may share the folder.
pub(super) fn store(folder: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    prune(folder);
    let name = hash(bytes);
    let (path, new) = (folder.join(&name), folder.join(format!("{name}.{}", random_text())));
    let stored = fs::write(&new, bytes).and_then(|()| fs::rename(&new, &path));
    if stored.is_err() {
        let _ = fs::remove_file(&new);
    }
    stored.map(|()| path)
}

/// Removes the files that have not been needed for a long time. Others in the folder are left alone.
fn prune(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let (hash, _) =
            name.to_str().and_then(|name| name.split_at_checked(64)).unwrap_or_default();
        let is_old = || {
            let modified = entry.metadata().and_then(|file| file.modified());
            modified.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > MAX_AGE))
        };
        if !hash.is_empty() && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) && is_old() {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_were_not_needed_for_a_week_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let [old, used] = [b"old", b"use"].map(|bytes| store(folder, bytes).unwrap());
        let torn = folder.join(format!("{}.1234abcd", hash(b"torn")));
        let foreign = folder.join("notes.txt");
        let long_ago = SystemTime::now() - MAX_AGE - Duration::from_mins(1);
        for path in [&old, &used, &torn, &foreign] {
            let file = File::options().create(true).append(true).open(path).unwrap();
            file.set_modified(long_ago).unwrap();
        }
        assert_eq!(find(folder, &hash(b"use")), Some(used.clone()));
        store(folder, b"new").unwrap();
        let exist = [&old, &used, &torn, &foreign].map(|path| path.exists());
        assert_eq!(exist, [false, true, false, true]);
        // A damaged file does not count.
        fs::write(&used, "damaged").unwrap();
        assert_eq!(find(folder, &hash(b"use")), None);
    }
}
