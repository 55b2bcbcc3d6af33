//! The Python package: built, installed and tested by `python/check.py`, in environments of its own.

use std::env;
use std::path::PathBuf;

use crate::step::{Report, Step};
use crate::system;

/// The tests of the package, unless there is no Python; the report is told then.
pub(crate) fn steps(report: &mut Report) -> Vec<Step> {
    if system::find("python3").is_none() {
        report.skip("Python", "Python is not installed; the package claimeven is not tested");
        return Vec::new();
    }
    vec![check("python", &[])]
}

/// The package compared with other packages, which take minutes to install.
pub(crate) fn peers() -> Step {
    check("python peers", &["--peers"])
}

fn check(name: &'static str, options: &[&str]) -> Step {
    let script = folder().join("check.py").to_string_lossy().into_owned();
    let step = Step::cargo(name, options);
    Step { program: "python3", arguments: [vec![script], step.arguments].concat(), ..step }
}

/// Where the package is. Cargo tells it when this runs: checkouts that share a target folder share this
/// program too.
fn folder() -> PathBuf {
    env::var_os("CARGO_MANIFEST_DIR").map_or_else(PathBuf::new, PathBuf::from).join("../python")
}
