//! The page's checks: its types, its logic, and whole games in a real browser against the real server.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::Step;

/// What can be checked of the page on this machine; what cannot is said in a line.
pub(crate) fn steps() -> Vec<Step> {
    if find("npm").is_none() {
        println!("Node is not installed: the page is not checked");
        return Vec::new();
    }
    let npm = |name, arguments: &[&str]| Step {
        program: "npm",
        folder: Some(folder()),
        ..Step::new(name, arguments)
    };
    // The build of the server has installed what these need.
    let mut steps = vec![npm("page types", &["run", "check"]), npm("page tests", &["test"])];
    match chromium() {
        Some(chromium) => {
            let text = |path: PathBuf| path.to_string_lossy().into_owned();
            let variables = vec![("CLAIMEVEN_BIN", text(binary())), ("CHROMIUM", text(chromium))];
            // The tests have built it so; with other features it would be built once more.
            let program = ["build", "--workspace", "--all-features", "--bins"];
            steps.push(Step::new("program", &program));
            steps.push(Step { variables, ..npm("browser", &["run", "e2e"]) });
        }
        None => println!("Chromium is not installed: the page is not tried in a browser"),
    }
    steps
}

/// Where the page's sources are. Cargo tells it when this runs: checkouts that share a target folder
/// share this program too.
fn folder() -> PathBuf {
    env::var_os("CARGO_MANIFEST_DIR").map_or_else(PathBuf::new, PathBuf::from).join("../web")
}

/// Where cargo puts the program.
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

/// The system's Chromium. It is installed first where Debian's packages are and this user may.
fn chromium() -> Option<PathBuf> {
    let installed = || ["chromium", "chromium-browser", "google-chrome"].into_iter().find_map(find);
    let given = env::var_os("CHROMIUM").map(PathBuf::from);
    given.or_else(installed).or_else(|| {
        if is_root() && find("apt-get").is_some() {
            println!("installing Chromium");
            let apt = |arguments: &[&str]| {
                let mut command = Command::new("apt-get");
                command
                    .args(arguments)
                    .env("DEBIAN_FRONTEND", "noninteractive")
                    .stdout(Stdio::null());
                command.status().is_ok_and(|status| status.success())
            };
            let install = ["install", "--yes", "--no-install-recommends", "chromium"];
            let _ = apt(&install) || (apt(&["update"]) && apt(&install));
        }
        installed()
    })
}

fn is_root() -> bool {
    let user = Command::new("id").arg("-u").output();
    user.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// Where a program is on the PATH.
fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}
