//! Computing a unit in a process of its own, whose death its worker survives.

use std::io::{self, BufRead, Read, Write};
use std::panic::{self, AssertUnwindSafe};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::kinds::Kinds;
use super::messages::{JobRecord, frame, unframe};
use super::worker::Outcome;
use crate::work::{Files, panic_text};

/// Creates the command that computes a unit; it calls [`run_unit`].
pub type UnitCommand = Arc<dyn Fn() -> Command + Send + Sync>;

/// What the process reads, in one line.
#[derive(Serialize, Deserialize)]
struct Request {
    kind: String,
    parameters: serde_json::Value,
    files: Files,
    unit: String,
}

/// The header line of what it writes; the output or the reason follows.
#[derive(Serialize, Deserialize)]
struct ResponseHeader {
    response: Response,
    /// The number of bytes that follow.
    length: usize,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Response {
    Done,
    Failed,
    Panicked,
}

/// How often the end of the process and the flag are polled.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Computes a unit in a process of its own. Fails if that cannot be started.
pub(super) fn compute(
    command: &UnitCommand,
    record: &JobRecord,
    files: &Files,
    unit: &[u8],
    cancel: &AtomicBool,
) -> io::Result<Outcome> {
    let request = Request {
        kind: record.kind.clone(),
        parameters: record.parameters.clone(),
        files: files.clone(),
        unit: String::from_utf8_lossy(unit).into_owned(),
    };
    let mut line = serde_json::to_vec(&request)?;
    line.push(b'\n');
    let mut command = command();
    // Ctrl-C in a terminal is for the worker.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut process = Process(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?);
    let mut output = process.0.stdout.take().expect("it is piped");
    let reader = thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = output.read_to_end(&mut bytes);
        bytes
    });
    // A process that has crashed does not read it, and one that hangs does not read all of it. The
    // pipe stays open until the process has ended: its end would tell the process that the worker has
    // been killed.
    let mut input = process.0.stdin.take().expect("it is piped");
    let _writer = thread::spawn(move || {
        let _ = input.write_all(&line);
        input
    });
    let status = loop {
        if cancel.load(Ordering::Relaxed) {
            return Ok(Outcome::Cancelled);
        }
        if let Some(status) = process.0.try_wait()? {
            break status;
        }
        thread::sleep(POLL_INTERVAL);
    };
    let bytes = reader.join().unwrap_or_default();
    Ok(match response(&bytes) {
        Some(outcome) => outcome,
        None if is_stopped(status) => Outcome::Cancelled,
        None => Outcome::Crashed(format!("its process ended with {status}")),
    })
}

/// A process that is killed when it is dropped.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The outcome that the process has written, if it has got that far.
fn response(bytes: &[u8]) -> Option<Outcome> {
    // The work may have printed something before.
    let lines = bytes.split(|&byte| byte == b'\n');
    let starts = lines.scan(0, |next, line| Some(std::mem::replace(next, *next + line.len() + 1)));
    let framed = |start: usize| unframe::<ResponseHeader>(&bytes[start..]);
    let (header, body) = starts.filter(|&start| start < bytes.len()).find_map(framed)?;
    let body = body.get(..header.length)?.to_vec();
    let text = |body| String::from_utf8_lossy(body).into_owned();
    Some(match header.response {
        Response::Done => Outcome::Done(body),
        Response::Failed => Outcome::Failed(text(&body)),
        Response::Panicked => Outcome::Crashed(text(&body)),
    })
}

/// Whether somebody has asked the process to end, as systemd asks all processes of a service.
#[cfg(unix)]
fn is_stopped(status: ExitStatus) -> bool {
    const SIGHUP: i32 = 1;
    const SIGINT: i32 = 2;
    const SIGTERM: i32 = 15;
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    signal.is_some_and(|signal| [SIGHUP, SIGINT, SIGTERM].contains(&signal))
}

#[cfg(not(unix))]
fn is_stopped(_: ExitStatus) -> bool {
    false
}

/// Computes one unit for a worker, in a process that was started by the command of
/// [`Worker::with_unit_command`](super::Worker::with_unit_command): reads it from standard input and
/// writes the result to standard output. Ends the process if the worker is killed.
pub fn run_unit(kinds: &Kinds) -> io::Result<()> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let request: Request = serde_json::from_str(&line)?;
    thread::spawn(|| {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        std::process::exit(1);
    });
    let computed = panic::catch_unwind(AssertUnwindSafe(|| {
        let work = kinds.open(&request.kind, request.parameters, &request.files)?;
        let output = work.thread().compute(request.unit.as_bytes(), &Arc::default())?;
        Ok::<_, String>(output.expect("nobody cancels it"))
    }));
    let (response, body) = match computed {
        Ok(Ok(output)) => (Response::Done, output),
        Ok(Err(reason)) => (Response::Failed, reason.into_bytes()),
        Err(panic) => (Response::Panicked, panic_text(&*panic).into_bytes()),
    };
    let mut output = io::stdout().lock();
    // On a new line, whatever the work has printed.
    output.write_all(b"\n")?;
    output.write_all(&frame(&ResponseHeader { response, length: body.len() }, &body))?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_found_after_other_output() {
        let header = ResponseHeader { response: Response::Done, length: 3 };
        let framed = frame(&header, b"a\nb");
        let found = |before: &[u8], after: &[u8]| {
            let bytes = [before, &framed, after].concat();
            matches!(response(&bytes), Some(Outcome::Done(output)) if output == b"a\nb")
        };
        assert!(found(b"", b""));
        assert!(found(b"\nloading\n{}\n\n", b"the end\n"));
        assert!(response(b"").is_none() && response(b"text\n\n").is_none());
        assert!(response(&framed[..framed.len() - 1]).is_none());
    }

    #[cfg(unix)]
    #[test]
    fn a_process_that_does_not_read_its_unit_can_be_cancelled() {
        use crate::work::Job;

        let record = JobRecord::new("sleep", "1", &Job::new("sleep", &()), String::new);
        let command: UnitCommand = Arc::new(|| {
            let mut command = Command::new("sleep");
            command.arg("600");
            command
        });
        // More than fits into a pipe.
        let unit = vec![b'1'; 10_000_000];
        let cancel = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&cancel);
        let computing =
            thread::spawn(move || compute(&command, &record, &Files::new(), &unit, &flag).unwrap());
        thread::sleep(Duration::from_millis(100));
        cancel.store(true, Ordering::Relaxed);
        let started = std::time::Instant::now();
        while !computing.is_finished() {
            assert!(started.elapsed() < Duration::from_mins(2), "it is not cancelled");
            thread::sleep(Duration::from_millis(5));
        }
        assert!(matches!(computing.join().unwrap(), Outcome::Cancelled));
    }
}
