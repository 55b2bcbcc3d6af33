//! A temporary PostgreSQL server for the tests.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use std::{env, fs, process};

use crate::system;

/// A running server with an empty database.
pub(crate) struct Postgres {
    /// The folder of PostgreSQL's programs.
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
}

impl Postgres {
    /// Starts a server for tests, which does not wait for the disk. PostgreSQL is installed first if
    /// necessary and possible.
    pub(crate) fn start() -> Result<Postgres, String> {
        Postgres::start_with("-c fsync=off")
    }

    /// Starts a server that waits for the disk as in production, for measurements.
    pub(crate) fn start_durable() -> Result<Postgres, String> {
        Postgres::start_with("")
    }

    fn start_with(options: &str) -> Result<Postgres, String> {
        let programs = programs()
            .or_else(|| {
                system::install("postgresql");
                programs()
            })
            .ok_or("PostgreSQL is not installed and could not be installed (no initdb)")?;
        let folder = env::temp_dir().join(format!("claimeven-postgres-{}", process::id()));
        Postgres::start_in(folder.clone(), programs, options).map_err(|reason| {
            let _ = fs::remove_dir_all(folder);
            format!("PostgreSQL did not start: {reason}")
        })
    }

    /// The URL of the database.
    pub(crate) fn url(&self) -> String {
        format!("postgres://claimeven@127.0.0.1:{}/postgres", self.port)
    }

    fn start_in(folder: PathBuf, programs: PathBuf, options: &str) -> Result<Postgres, String> {
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        if system::is_root() {
            run(Command::new("chown").arg("postgres").arg(&folder))?;
        }
        let free = TcpListener::bind(("127.0.0.1", 0)).and_then(|socket| socket.local_addr());
        let port = free.map_err(|error| error.to_string())?.port();
        let data = folder.join("data");
        let mut initdb = as_user(&programs.join("initdb"));
        initdb.args(["--username=claimeven", "--auth=trust", "--encoding=UTF8", "--no-sync", "-D"]);
        run(initdb.arg(&data))?;
        let options = format!(
            "-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories='' \
             -c max_connections=300 {options}"
        );
        let mut start = as_user(&programs.join("pg_ctl"));
        start.args(["start", "--silent", "--wait", "-o", &options, "-D"]).arg(&data);
        run(start.arg("-l").arg(folder.join("log")))?;
        let postgres = Postgres { programs, folder, port };
        postgres.wait()?;
        Ok(postgres)
    }

    fn wait(&self) -> Result<(), String> {
        let started = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            if started.elapsed() > Duration::from_secs(30) {
                return Err("it does not respond".to_owned());
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let data = self.folder.join("data");
        let mut stop = as_user(&self.programs.join("pg_ctl"));
        if let Err(reason) =
            run(stop.args(["stop", "--silent", "--mode=immediate", "-D"]).arg(data))
        {
            println!("PostgreSQL could not be stopped: {reason}");
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A command for a PostgreSQL program, as another user if this one is root, because PostgreSQL refuses
/// to run as root.
fn as_user(program: &Path) -> Command {
    if !system::is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("runuser");
    command.args(["-u", "postgres", "--"]).arg(program);
    command
}

/// The folder of `initdb` and the other programs, which Debian keeps off the PATH.
fn programs() -> Option<PathBuf> {
    let on_path = || system::find("initdb")?.canonicalize().ok()?.parent().map(Path::to_owned);
    let of_debian = || {
        let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
        let folders = versions.flatten().map(|version| version.path().join("bin"));
        folders.filter(|folder| folder.join("initdb").is_file()).max()
    };
    on_path().or_else(of_debian)
}

fn run(command: &mut Command) -> Result<(), String> {
    // The other user may not have access to the current folder.
    command.current_dir(Path::new("/")).stdin(Stdio::null()).stdout(Stdio::null());
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(errors.lines().next().unwrap_or("no error message").to_owned())
}
