//! Finding programs on this machine, and installing missing ones.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, process};

/// The path of a program on the PATH.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// The path of a program; if necessary and possible, the package of the same name is installed first.
pub(crate) fn find_or_install(name: &str) -> Option<PathBuf> {
    // Debian installs servers into a folder that is not on every user's PATH.
    let find = || {
        let installed = Path::new("/usr/sbin").join(name);
        find(name).or_else(|| installed.is_file().then_some(installed))
    };
    find().or_else(|| {
        install(name);
        find()
    })
}

pub(crate) fn is_root() -> bool {
    let user = Command::new("id").arg("-u").output();
    user.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// Whether this user may mount a file system, as the tests of full disks do.
pub(crate) fn can_mount() -> bool {
    let folder = env::temp_dir().join(format!("claimeven-mount-{}", process::id()));
    let run = |command: &mut Command| command.output().is_ok_and(|output| output.status.success());
    let is_mounted = fs::create_dir(&folder).is_ok()
        && run(Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(&folder));
    if is_mounted {
        run(Command::new("umount").arg(&folder));
    }
    let _ = fs::remove_dir(folder);
    is_mounted
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
