//! The version of everything that results of units depend on.

/// What workers and coordinators must have in common: the version of this crate and a digest of the
/// sources of the rules, the players, the solver, the networks and the units. Two builds of one version
/// may differ, and their results with them.
pub const FLEET_VERSION: &str = env!("FLEET_VERSION");

#[cfg(test)]
#[path = "../build/sources.rs"]
mod sources;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn the_version_identifies_the_sources() {
        let paths = sources::of_results(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
        assert!(paths.iter().any(|path| path.ends_with("claimeven-zero/src")), "{paths:?}");
        let digest = sources::digest(&paths);
        assert_eq!(FLEET_VERSION, format!("{}+{digest:08x}", env!("CARGO_PKG_VERSION")));
    }

    #[test]
    fn every_change_of_a_source_counts() {
        let folder = tempfile::tempdir().unwrap();
        let paths = [folder.path().to_owned()];
        let digest = || sources::digest(&paths);
        fs::create_dir(folder.path().join("src")).unwrap();
        fs::write(folder.path().join("src/lib.rs"), "one\ntwo\n").unwrap();
        let first = digest();
        fs::write(folder.path().join("src/lib.rs"), "one\r\ntwo\r\n").unwrap();
        assert_eq!(digest(), first);
        fs::write(folder.path().join("src/lib.rs"), "one\ntwo \n").unwrap();
        let changed = digest();
        fs::write(folder.path().join("src/new.rs"), "").unwrap();
        assert!(first != changed && changed != digest() && first != digest());
    }
}
