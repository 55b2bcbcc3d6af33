//! A PostgreSQL of the tests' own, gone when they are done.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use std::{env, fs, process};

/// A running server with an empty database.
pub(crate) struct Postgres {
    /// Where PostgreSQL's programs are.
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
}

impl Postgres {
    /// Starts one where PostgreSQL is installed; else says why the tests go without.
    pub(crate) fn start() -> Option<Postgres> {
        let Some(programs) = programs() else {
            println!(
                "PostgreSQL is not installed (no initdb): the server is tested on SQLite alone"
            );
            return None;
        };
        let folder = env::temp_dir().join(format!("claimeven-postgres-{}", process::id()));
        match Postgres::start_in(folder.clone(), programs) {
            Ok(postgres) => Some(postgres),
            Err(reason) => {
                println!(
                    "PostgreSQL cannot be started ({reason}): the server is tested on SQLite alone"
                );
                let _ = fs::remove_dir_all(folder);
                None
            }
        }
    }

    /// How to reach it.
    pub(crate) fn url(&self) -> String {
        format!("postgres://claimeven@127.0.0.1:{}/postgres", self.port)
    }

    fn start_in(folder: PathBuf, programs: PathBuf) -> Result<Postgres, String> {
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        if is_root() {
            run(Command::new("chown").arg("postgres").arg(&folder))?;
        }
        let free = TcpListener::bind(("127.0.0.1", 0)).and_then(|socket| socket.local_addr());
        let port = free.map_err(|error| error.to_string())?.port();
        let data = folder.join("data");
        let mut initdb = as_user(&programs.join("initdb"));
        initdb.args(["--username=claimeven", "--auth=trust", "--encoding=UTF8", "--no-sync", "-D"]);
        run(initdb.arg(&data))?;
        let options = format!(
            "-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories='' -c fsync=off \
             -c max_connections=300"
        );
        let mut start = as_user(&programs.join("pg_ctl"));
        start.args(["start", "--silent", "--wait", "-o", &options, "-D"]).arg(&data);
        run(start.arg("-l").arg(folder.join("log")))?;
        let postgres = Postgres { programs, folder, port };
        postgres.wait()?;
        Ok(postgres)
    }

    fn wait(&self) -> Result<(), String> {
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            if began.elapsed() > Duration::from_secs(30) {
                return Err("it does not answer".to_owned());
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

/// A program of PostgreSQL, which refuses to be run by root.
fn as_user(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("runuser");
    command.args(["-u", "postgres", "--"]).arg(program);
    command
}

/// The folder of `initdb`. Its neighbours need not be on the path themselves.
fn programs() -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let initdb =
        env::split_paths(&path).find_map(|folder| folder.join("initdb").canonicalize().ok())?;
    initdb.parent().map(Path::to_owned)
}

fn is_root() -> bool {
    let owner = Command::new("id").arg("-u").output();
    owner.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

fn run(command: &mut Command) -> Result<(), String> {
    // Not in this folder, which another user may not be allowed to enter.
    command.current_dir(Path::new("/")).stdin(Stdio::null()).stdout(Stdio::null());
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(said.lines().next().unwrap_or("without a word").to_owned())
}
