//! Runs jobs of waiting units through a real NATS server and measures the processor time of all
//! parts.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use claimeven_work::{
    Connection, DispatchEvent, Dispatcher, Files, Job, Kinds, Nats, Work, WorkError, Worker,
    watch_fleet,
};

use super::Fallible;
use super::model::Costs;

/// A job to run, and its workers.
pub(super) struct Load {
    pub(super) workers: usize,
    pub(super) threads: usize,
    /// How long a unit waits.
    pub(super) millis: f64,
    pub(super) units: u64,
}

/// The measurements of a run.
pub(super) struct Measured {
    units: f64,
    seconds: f64,
    coordinator: f64,
    broker: f64,
    workers: f64,
    messages: f64,
    bytes: f64,
    pub(super) broker_mb: u64,
}

impl Measured {
    pub(super) fn units_per_second(&self) -> f64 {
        self.units / self.seconds
    }

    /// Processor seconds of a unit.
    pub(super) fn costs(&self) -> Costs {
        Costs {
            coordinator: self.coordinator / self.units,
            broker: self.broker / self.units,
            worker: self.workers / self.units,
        }
    }

    /// In and out of the NATS server.
    pub(super) fn messages_per_unit(&self) -> f64 {
        self.messages / self.units
    }

    pub(super) fn bytes_per_unit(&self) -> f64 {
        self.bytes / self.units
    }
}

/// Units that wait for some microseconds.
struct Wait;

impl Work for Wait {
    const KIND: &'static str = "wait";
    type Unit = (u64, u64);
    type Output = u64;
    type Thread = ();
    type Error = WorkError;

    fn job(&self) -> Result<Job, String> {
        Ok(Job::new("units that wait", &()))
    }

    fn open(_: serde_json::Value, _: &Files) -> Result<Wait, String> {
        Ok(Wait)
    }

    fn thread(&self) {}

    fn compute(
        &self,
        (): &mut (),
        &(number, micros): &(u64, u64),
        _: &Arc<AtomicBool>,
    ) -> Result<Option<u64>, WorkError> {
        if micros > 0 {
            thread::sleep(Duration::from_micros(micros));
        }
        Ok(Some(number))
    }

    fn encode(output: &u64) -> Vec<u8> {
        output.to_le_bytes().to_vec()
    }

    fn decode(bytes: &[u8]) -> Result<u64, String> {
        bytes.try_into().map(u64::from_le_bytes).map_err(|_| "not a number".to_owned())
    }
}

/// Runs this many workers until the process is killed.
pub(super) fn work(url: &str, workers: usize, threads: usize) {
    let cache = env::temp_dir().join("claimeven-simulate");
    let connection = Connection::new(url).with_log(Arc::new(|_| {}));
    thread::scope(|scope| {
        for _ in 0..workers {
            let kinds = Kinds::new("none").with::<Wait>();
            let worker = Worker::new(connection.clone(), kinds, threads, cache.clone());
            scope.spawn(move || worker.run(&AtomicBool::new(false)));
        }
    });
}

/// Runs a load and measures it.
pub(super) fn run(load: &Load) -> Fallible<Measured> {
    let server = Server::start()?;
    let numbers = [load.workers.to_string(), load.threads.to_string()];
    let mut worker = Command::new(env::current_exe()?);
    let workers = Process(worker.args(["worker", &server.url]).args(numbers).spawn()?);
    let connection = Connection::new(&server.url);
    watch_fleet(&connection, Duration::from_millis(200), |status| {
        let is_ready = status.workers.len() >= load.workers;
        if is_ready { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    let used = || -> Fallible<[f64; 3]> {
        Ok([cpu_seconds(std::process::id())?, server.process.cpu()?, workers.cpu()?])
    };
    let (messages, bytes) = server.traffic()?;
    let (before, started) = (used()?, Instant::now());
    let micros = (1e3 * load.millis) as u64;
    let nats = Nats::new(connection, 1, env::temp_dir().join("claimeven-simulate"));
    let mut units = 0_u32;
    // Without checks, each of which would be another unit.
    nats.with_check_share(0.0).run(
        &Wait,
        0..load.units,
        |number| (number, micros),
        None,
        |taken| {
            units += u32::from(matches!(taken, DispatchEvent::Output(..)));
            Ok(ControlFlow::Continue(()))
        },
    )?;
    let (seconds, after) = (started.elapsed().as_secs_f64(), used()?);
    let (all_messages, all_bytes) = server.traffic()?;
    let [coordinator, broker, workers] = [0, 1, 2].map(|who| after[who] - before[who]);
    Ok(Measured {
        units: f64::from(units),
        seconds,
        coordinator,
        broker,
        workers,
        messages: all_messages - messages,
        bytes: all_bytes - bytes,
        broker_mb: server.process.peak_mb()?,
    })
}

/// A process that is killed on drop.
struct Process(Child);

impl Process {
    fn cpu(&self) -> Fallible<f64> {
        cpu_seconds(self.0.id())
    }

    fn peak_mb(&self) -> Fallible<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0.id()))?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kb = peak.and_then(|text| text.trim().strip_suffix(" kB")).ok_or("no VmHWM")?;
        Ok(kb.trim().parse::<u64>()? / 1024)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The processor time of a process, on Linux, where the kernel counts in hundredths of a second.
fn cpu_seconds(process: u32) -> Fallible<f64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The name in parentheses may contain spaces.
    let (_, fields) = stat.rsplit_once(')').ok_or("no processor time in /proc")?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    Ok((fields[11].parse::<f64>()? + fields[12].parse::<f64>()?) / 100.0)
}

/// A NATS server with JetStream, and its counters.
struct Server {
    process: Process,
    url: String,
    monitor: u16,
    _folder: tempfile::TempDir,
}

impl Server {
    fn start() -> Fallible<Server> {
        let free =
            || Ok::<u16, std::io::Error>(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port());
        let (folder, port, monitor) = (tempfile::tempdir()?, free()?, free()?);
        let program = env::var("CLAIMEVEN_TEST_NATS").unwrap_or_else(|_| "nats-server".to_owned());
        let mut command = Command::new(program);
        command.args(["-a", "127.0.0.1", "-p", &port.to_string(), "-m", &monitor.to_string()]);
        command.arg("-js").arg("-sd").arg(folder.path());
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let process = Process(process.map_err(|error| format!("nats-server: {error}"))?);
        let started = Instant::now();
        while [port, monitor].iter().any(|&port| TcpStream::connect(("127.0.0.1", port)).is_err()) {
            if started.elapsed() > Duration::from_secs(30) {
                return Err("the NATS server does not start".into());
            }
            thread::sleep(Duration::from_millis(20));
        }
        let url = format!("nats://127.0.0.1:{port}");
        Ok(Server { process, url, monitor, _folder: folder })
    }

    /// Messages and bytes so far, in both directions.
    fn traffic(&self) -> Fallible<(f64, f64)> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.monitor))?;
        stream.write_all(b"GET /varz HTTP/1.0\r\n\r\n")?;
        let mut response = String::new();
        stream.read_to_string(&mut response)?;
        let (_, body) = response.split_once("\r\n\r\n").ok_or("no response from the monitor")?;
        let varz: serde_json::Value = serde_json::from_str(body)?;
        let sum = |one: &str, two: &str| {
            varz[one].as_f64().zip(varz[two].as_f64()).map(|(one, two)| one + two)
        };
        let messages = sum("in_msgs", "out_msgs").ok_or("no messages in varz")?;
        Ok((messages, sum("in_bytes", "out_bytes").ok_or("no bytes in varz")?))
    }
}
