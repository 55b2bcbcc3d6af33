//! Finding programs on this machine, and installing missing ones.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The path of a program on the PATH.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

pub(crate) fn is_root() -> bool {
    let user = Command::new("id").arg("-u").output();
    user.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// Installs a package on Debian and its derivatives if this user may; does nothing elsewhere.
pub(crate) fn install(package: &str) {
    if !is_root() || find("apt-get").is_none() {
        return;
    }
    println!("installing {package}");
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").stdout(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let install = ["install", "--yes", "--no-install-recommends", package];
    let _ = apt(&install) || (apt(&["update"]) && apt(&install));
}
