//! The Python package: built, installed and tested by `python/check.py`, in virtual environments.

use std::env;
use std::path::PathBuf;

use crate::step::{Report, Step};
use crate::system;

/// The tests of the package. Without Python they are reported as skipped.
pub(crate) fn steps(report: &mut Report) -> Vec<Step> {
    if system::find("python3").is_none() {
        report.skip("Python", "Python is not installed; the package claimeven is not tested");
        return Vec::new();
    }
    vec![check("python", &["--workspace"])]
}

/// Compares the package with other packages, which take minutes to install.
pub(crate) fn peers() -> Step {
    check("python peers", &["--peers"])
}

fn check(name: &'static str, options: &[&str]) -> Step {
    let script = folder().join("check.py").to_string_lossy().into_owned();
    let step = Step::cargo(name, options);
    Step { program: "python3", arguments: [vec![script], step.arguments].concat(), ..step }
}

/// The folder of the package, determined at run time, because checkouts that share a target folder also
/// share this program.
fn folder() -> PathBuf {
    env::var_os("CARGO_MANIFEST_DIR").map_or_else(PathBuf::new, PathBuf::from).join("../python")
}
