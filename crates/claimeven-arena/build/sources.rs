//! The sources on which the results of units depend.

use std::fs;
use std::path::{Path, PathBuf};

/// The files and folders on which the results of units depend, in the folder of all crates.
pub(super) fn of_results(crates: &Path) -> Vec<PathBuf> {
    let names = ["arena", "game", "search", "solver", "work", "zero"];
    let sources = names.iter().map(|name| format!("claimeven-{name}/src"));
    let others = [
        // The units that only the program has.
        "claimeven/src/fleet",
        "claimeven/src/solve.rs",
        "claimeven/src/solver.rs",
        "claimeven-solver/books",
        "claimeven-zero/networks",
        // The versions of other crates.
        "../Cargo.lock",
    ];
    let paths = sources.chain(others.map(str::to_owned)).map(|path| crates.join(path));
    // A package of the crate is without the others.
    paths.filter(|path| path.exists()).collect()
}

/// The digest of files and folders: FNV-1a of their names and contents. Carriage returns are left out,
/// because git may have added them.
pub(super) fn digest(paths: &[PathBuf]) -> u32 {
    let mut files = Vec::new();
    for path in paths {
        add_files(path, &mut files);
    }
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut add = |bytes: &[u8]| {
        for &byte in bytes.iter().filter(|&&byte| byte != b'\r') {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    };
    for file in files {
        add(file.file_name().unwrap_or_default().as_encoded_bytes());
        add(&fs::read(file).unwrap_or_default());
    }
    (hash ^ (hash >> 32)) as u32
}

/// Adds the files below a path, in an order that is the same everywhere.
fn add_files(path: &Path, files: &mut Vec<PathBuf>) {
    let Ok(folder) = fs::read_dir(path) else { return files.push(path.to_owned()) };
    let mut entries: Vec<PathBuf> = folder.flatten().map(|entry| entry.path()).collect();
    entries.sort_by_key(|path| path.file_name().unwrap_or_default().to_owned());
    for entry in entries {
        add_files(&entry, files);
    }
}
