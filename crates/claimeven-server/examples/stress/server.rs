//! A server process, and its visitors.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Fallible;

/// A server process that is killed on drop.
pub(crate) struct Server {
    process: Child,
    pub(crate) addr: String,
}

impl Server {
    /// Starts a server on a free port.
    pub(crate) fn start(program: &str, database: &str, settings: &[&str]) -> Fallible<Server> {
        Server::start_at(program, "127.0.0.1:0", database, settings, Stdio::inherit())
    }

    /// Starts a server with a database and some settings.
    pub(crate) fn start_at(
        program: &str,
        addr: &str,
        database: &str,
        settings: &[&str],
        log: Stdio,
    ) -> Fallible<Server> {
        let mut command = Command::new(program);
        command.args(["serve", "--addr", addr, "--log", "error"]).stderr(log);
        command.args(["--database", database]);
        for setting in settings {
            command.args(["--set", setting]);
        }
        let mut process = command.stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        let addr =
            line.strip_prefix("Listening on http://").and_then(|rest| rest.split(' ').next());
        let addr =
            addr.ok_or_else(|| format!("unexpected output of the server: {line:?}"))?.to_owned();
        Ok(Server { process, addr })
    }

    /// A field of the process's status in /proc, such as `VmRSS`, in MB.
    pub(crate) fn memory_mb(&self, name: &str) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kb| kb / 1024)
    }

    /// The processor time that it has used.
    pub(crate) fn cpu_seconds(&self) -> Option<f64> {
        cpu_seconds(self.process.id())
    }

    /// The number of open files and of threads.
    pub(crate) fn handles(&self) -> Option<(usize, usize)> {
        let count = |what: &str| -> Option<usize> {
            let folder = format!("/proc/{}/{what}", self.process.id());
            Some(fs::read_dir(folder).ok()?.count())
        };
        Some((count("fd")?, count("task")?))
    }

    /// Kills the process.
    pub(crate) fn kill(&mut self) -> Fallible<()> {
        self.process.kill()?;
        self.process.wait()?;
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have exited already.
        let _ = self.kill();
    }
}

/// A NATS server that is killed on drop.
pub(crate) struct Nats {
    process: Child,
    pub(crate) url: String,
}

impl Nats {
    /// Starts a server without JetStream, which web servers do not need.
    pub(crate) fn start(program: &str) -> Fallible<Nats> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut command = Command::new(program);
        command.args(["-a", "127.0.0.1", "-p", &port.to_string()]);
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let nats = Nats { process, url: format!("nats://127.0.0.1:{port}") };
        let started = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if started.elapsed() > Duration::from_secs(30) {
                return Err("the NATS server did not start".into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(nats)
    }

    pub(crate) fn cpu_seconds(&self) -> Option<f64> {
        cpu_seconds(self.process.id())
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The processor time of a process, on Linux, where the kernel counts in hundredths of a second.
fn cpu_seconds(process: u32) -> Option<f64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in parentheses may contain spaces.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / 100.0)
}

/// The processor time of all running processes of a program.
pub(crate) fn cpu_of_programs(name: &str) -> Option<f64> {
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let of_program = ids.filter(|id| {
        fs::read_to_string(format!("/proc/{id}/comm")).is_ok_and(|comm| comm.trim() == name)
    });
    Some(of_program.filter_map(cpu_seconds).sum())
}

/// A browser with its cookie.
#[derive(Clone)]
pub(crate) struct Visitor {
    client: reqwest::Client,
    cookie: Option<String>,
}

impl Visitor {
    /// A new visitor with one of this machine's addresses.
    pub(crate) fn from(address: &str) -> Fallible<Visitor> {
        let client = reqwest::Client::builder().local_address(Some(address.parse()?));
        // A killed server may never respond.
        let client = client.timeout(Duration::from_mins(1)).build()?;
        Ok(Visitor { client, cookie: None })
    }

    /// Sends a request, GET without a body and POST with one; returns the status and JSON of the response.
    pub(crate) async fn request(
        &mut self,
        addr: &str,
        path: &str,
        body: Option<Value>,
    ) -> Fallible<(u16, Value)> {
        let url = format!("http://{addr}{path}");
        let mut request = match body {
            Some(body) => self.client.post(url).json(&body),
            None => self.client.get(url),
        };
        if let Some(cookie) = &self.cookie {
            request = request.header("cookie", cookie);
        }
        let response = request.send().await?;
        if let Some(cookie) = response.headers().get("set-cookie") {
            self.cookie = cookie.to_str()?.split(';').next().map(str::to_owned);
        }
        let status = response.status().as_u16();
        let text = response.text().await?;
        Ok((status, serde_json::from_str(&text).unwrap_or(Value::Null)))
    }
}
