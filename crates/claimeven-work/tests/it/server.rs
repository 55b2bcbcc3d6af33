//! A NATS server for tests, a proxy whose connections can be cut, and a small disk.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A server with JetStream in its own folder.
pub(crate) struct Server {
    program: PathBuf,
    /// Its configuration, and its store unless that is elsewhere.
    folder: TempDir,
    store: PathBuf,
    port: u16,
    process: Child,
}

/// The program. If it is missing, the test is skipped with a message.
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
        Server::start_with("", None)
    }

    /// A server with more configuration, and with its store in another folder.
    pub(crate) fn start_with(configuration: &str, store: Option<&Path>) -> Option<Server> {
        let program = program()?;
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("nats.conf"), configuration).unwrap();
        let store = store.unwrap_or(folder.path()).to_owned();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let process = spawn(&program, folder.path(), &store, port);
        Some(Server { program, folder, store, port, process })
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// The file that it logs to.
    #[allow(dead_code, reason = "for the tests of the program")]
    pub(crate) fn log(&self) -> PathBuf {
        log_file(self.folder.path())
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Sends a message over the protocol of NATS.
    pub(crate) fn publish(&self, subject: &str, text: &str) {
        self.send(subject, "", text);
    }

    /// Sends a request and waits for the response.
    pub(crate) fn request(&self, subject: &str, text: &str) {
        let connection = self.send(subject, "answer ", text);
        let lines = BufReader::new(connection).lines();
        assert!(lines.map_while(Result::ok).any(|line| line.starts_with("MSG answer ")));
    }

    fn send(&self, subject: &str, reply: &str, text: &str) -> TcpStream {
        let mut connection = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let size = text.len();
        let commands = format!(
            "CONNECT {{\"verbose\":false}}\r\nSUB answer 1\r\nPUB {subject} {reply}{size}\r\n{text}\r\nPING\r\n"
        );
        connection.write_all(commands.as_bytes()).unwrap();
        let mut line = String::new();
        let mut lines = BufReader::new(connection.try_clone().unwrap());
        // The server has received the message.
        while reply.is_empty() && line.trim_end() != "PONG" {
            line.clear();
            assert!(lines.read_line(&mut line).unwrap() > 0);
        }
        connection
    }

    /// Kills the server and restarts it with the data on its disk.
    pub(crate) fn kill_and_restart(&mut self) {
        self.kill();
        self.process = spawn(&self.program, self.folder.path(), &self.store, self.port);
    }

    /// The same with an empty disk.
    pub(crate) fn kill_and_lose_disk(&mut self) {
        self.kill();
        std::fs::remove_dir_all(self.store.join("jetstream")).unwrap();
        self.kill_and_restart();
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

fn log_file(folder: &Path) -> PathBuf {
    folder.join("nats.log")
}

fn spawn(program: &Path, folder: &Path, store: &Path, port: u16) -> Child {
    let log = File::options().create(true).append(true).open(log_file(folder)).unwrap();
    let process = Command::new(program)
        .args(["-a", "127.0.0.1", "-p", &port.to_string(), "-js", "-sd"])
        .arg(store)
        .arg("-c")
        .arg(folder.join("nats.conf"))
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .unwrap();
    let started = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(started.elapsed() < Duration::from_mins(1), "the NATS server does not start");
        thread::sleep(Duration::from_millis(20));
    }
    process
}

/// A file system in memory.
pub(crate) struct SmallDisk(TempDir);

impl SmallDisk {
    /// `None`, with a message, if this process may not mount one.
    pub(crate) fn mount(megabytes: u32) -> Option<SmallDisk> {
        let folder = tempfile::tempdir().unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={megabytes}m"), "tmpfs"])
            .arg(folder.path())
            .status();
        if mount.is_ok_and(|status| status.success()) {
            return Some(SmallDisk(folder));
        }
        eprintln!("NOT TESTED: a full disk, because a tmpfs cannot be mounted (not root?)");
        None
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Fills it to the last byte.
    pub(crate) fn fill(&self) {
        let mut file = std::fs::File::create(self.filler()).unwrap();
        for size in [65_536, 1] {
            while file.write_all(&vec![0; size]).is_ok() {}
        }
    }

    /// Makes room again.
    pub(crate) fn free(&self) {
        std::fs::remove_file(self.filler()).unwrap();
    }

    fn filler(&self) -> PathBuf {
        self.path().join("filler")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}

/// A TCP proxy in front of a server. While it is cut, nothing passes in either direction, and both
/// ends stay connected.
pub(crate) struct Proxy {
    port: u16,
    is_cut: Arc<AtomicBool>,
    is_over: Arc<AtomicBool>,
    sockets: Arc<Mutex<Vec<TcpStream>>>,
}

impl Proxy {
    pub(crate) fn new(server: &Server) -> Proxy {
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
        Proxy { port, is_cut, is_over, sockets }
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub(crate) fn cut(&self) {
        self.is_cut.store(true, Ordering::Relaxed);
    }

    pub(crate) fn restore(&self) {
        self.is_cut.store(false, Ordering::Relaxed);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.restore();
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
