//! A NATS server for a test, and a line to it that can be cut.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A server with JetStream in a folder of its own.
pub(crate) struct Server {
    program: PathBuf,
    folder: TempDir,
    port: u16,
    process: Child,
}

/// The program, unless it is missing: then the test is skipped, aloud.
pub(crate) fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into()]);
    let on_path = folders.map(|folder| folder.join("nats-server")).find(|file| file.is_file());
    let program = std::env::var_os("CLAIMEVEN_TEST_NATS").map(PathBuf::from).or(on_path);
    if program.is_none() {
        eprintln!("SKIPPED: nats-server is not installed");
    }
    program
}

impl Server {
    pub(crate) fn start() -> Option<Server> {
        let program = program()?;
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let process = spawn(&program, &folder, port);
        Some(Server { program, folder, port, process })
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Kills the server and starts it again with what is on its disk.
    pub(crate) fn kill_and_restart(&mut self) {
        self.kill();
        self.process = spawn(&self.program, &self.folder, self.port);
    }

    /// The same, but its disk is empty.
    pub(crate) fn kill_and_lose_disk(&mut self) {
        self.kill();
        std::fs::remove_dir_all(self.folder.path().join("jetstream")).unwrap();
        self.process = spawn(&self.program, &self.folder, self.port);
    }

    /// Kills the server.
    pub(crate) fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn spawn(program: &PathBuf, folder: &TempDir, port: u16) -> Child {
    let process = Command::new(program)
        .args(["-a", "127.0.0.1", "-p", &port.to_string(), "-js", "-sd"])
        .arg(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let began = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(began.elapsed() < Duration::from_mins(1), "the NATS server does not start");
        thread::sleep(Duration::from_millis(20));
    }
    process
}

/// A line to a server. While it is cut, nothing passes in either direction, and nobody is told.
pub(crate) struct Line {
    port: u16,
    is_cut: Arc<AtomicBool>,
    is_over: Arc<AtomicBool>,
    sockets: Arc<Mutex<Vec<TcpStream>>>,
}

impl Line {
    pub(crate) fn new(server: &Server) -> Line {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let (port, to) = (listener.local_addr().unwrap().port(), server.port());
        let (is_cut, is_over) =
            (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let sockets: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
        let (cut, over, all) = (Arc::clone(&is_cut), Arc::clone(&is_over), Arc::clone(&sockets));
        thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                match listener.accept() {
                    Ok((client, _)) => {
                        let Ok(server) = TcpStream::connect(("127.0.0.1", to)) else { continue };
                        client.set_nonblocking(false).unwrap();
                        all.lock().unwrap().push(client.try_clone().unwrap());
                        forward(client.try_clone().unwrap(), server.try_clone().unwrap(), &cut);
                        forward(server, client, &cut);
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {
                        thread::sleep(Duration::from_millis(10));
                    }
                    Err(_) => return,
                }
            }
        });
        Line { port, is_cut, is_over, sockets }
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub(crate) fn cut(&self) {
        self.is_cut.store(true, Ordering::Relaxed);
    }

    pub(crate) fn mend(&self) {
        self.is_cut.store(false, Ordering::Relaxed);
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.mend();
        for socket in self.sockets.lock().unwrap().iter() {
            let _ = socket.shutdown(Shutdown::Both);
        }
    }
}

fn forward(mut from: TcpStream, mut to: TcpStream, is_cut: &Arc<AtomicBool>) {
    let is_cut = Arc::clone(is_cut);
    thread::spawn(move || {
        let mut buffer = [0; 16_384];
        while let Ok(length) = from.read(&mut buffer) {
            while is_cut.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(5));
            }
            if length == 0 || to.write_all(&buffer[..length]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
        let _ = from.shutdown(Shutdown::Both);
    });
}
