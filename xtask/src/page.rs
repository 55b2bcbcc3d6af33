//! The checks of the page: types, unit tests, and browser tests against the real server.

use std::env;
use std::path::PathBuf;

use crate::step::{Report, Step};
use crate::system;

/// The checks of the page; those that cannot run on this machine are reported as skipped. They need the
/// program and the npm packages, which building the tests provides.
pub(crate) fn steps(report: &mut Report) -> Vec<Step> {
    if system::find("npm").is_none() {
        report.skip("page", "Node.js is not installed");
        return Vec::new();
    }
    let npm = |name, arguments: &[&str]| Step {
        program: "npm",
        folder: Some(folder()),
        ..Step::cargo(name, arguments)
    };
    let mut steps = vec![npm("page types", &["run", "check"]), npm("page tests", &["test"])];
    if let Some(chromium) = chromium() {
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        let variables = vec![("CLAIMEVEN_BIN", text(binary())), ("CHROMIUM", text(chromium))];
        steps.push(Step { variables, ..npm("browser", &["run", "e2e"]) });
    } else {
        report.skip("browser", "Chromium is not installed and could not be installed");
    }
    steps
}

/// The folder of the page's sources, determined at run time, because checkouts that share a target
/// folder also share this program.
fn folder() -> PathBuf {
    env::var_os("CARGO_MANIFEST_DIR").map_or_else(PathBuf::new, PathBuf::from).join("../web")
}

/// The path of the built program.
fn binary() -> PathBuf {
    let target =
        env::var_os("CARGO_TARGET_DIR").map_or_else(|| folder().join("../target"), PathBuf::from);
    let target = if target.is_absolute() {
        target
    } else {
        env::current_dir().unwrap_or_default().join(target)
    };
    target.join("debug").join(format!("claimeven{}", env::consts::EXE_SUFFIX))
}

/// The system's Chromium, which is installed first if possible.
fn chromium() -> Option<PathBuf> {
    let installed =
        || ["chromium", "chromium-browser", "google-chrome"].into_iter().find_map(system::find);
    let given = env::var_os("CHROMIUM").map(PathBuf::from);
    given.or_else(installed).or_else(|| {
        system::install("chromium");
        installed()
    })
}
