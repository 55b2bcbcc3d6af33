//! The messages between coordinators and workers.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;
use std::time::Instant;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::work::Job;

/// The header line of a unit's message; the unit follows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct UnitHeader {
    pub(crate) unit: u64,
    /// The digest of the unit, so that a result is never mistaken for that of another unit.
    pub(crate) digest: String,
    /// If the unit is a check, the worker whose result is checked; another one must compute it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) check_of: Option<String>,
}

/// The header line of a result's message; the output or the reason follows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ResultHeader {
    pub(crate) unit: u64,
    pub(crate) digest: String,
    pub(crate) worker: String,
    pub(crate) status: Status,
    #[serde(default)]
    pub(crate) is_check: bool,
    /// If the unit was set aside without an error, the workers that were lost with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) lost: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Status {
    Done,
    /// The worker reports that the unit cannot be computed.
    Failed,
    /// The unit has crashed too often.
    SetAside,
}

/// A message: one line of JSON and a body.
pub(crate) fn frame(header: &impl Serialize, body: &[u8]) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(header).expect("headers are plain data");
    bytes.push(b'\n');
    bytes.extend_from_slice(body);
    bytes
}

pub(crate) fn unframe<H: DeserializeOwned>(bytes: &[u8]) -> Option<(H, &[u8])> {
    let end = bytes.iter().position(|&byte| byte == b'\n')?;
    Some((serde_json::from_slice(&bytes[..end]).ok()?, &bytes[end + 1..]))
}

/// The SHA-256 of bytes, in hexadecimal.
pub(crate) fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A shorter digest, for units.
pub(crate) fn digest(bytes: &[u8]) -> String {
    hash(bytes)[..16].to_owned()
}

/// The digest of numbered units.
pub(crate) fn digest_of_units<U: Serialize>(units: impl Iterator<Item = (u64, U)>) -> String {
    let mut hasher = Sha256::new();
    for (number, unit) in units {
        let bytes = serde_json::to_vec(&unit).expect("units are plain data");
        hasher.update(number.to_le_bytes());
        hasher.update((bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    }
    digest(&hasher.finalize())
}

/// A job as stored in its bucket.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct JobRecord {
    pub(crate) kind: String,
    pub(crate) version: String,
    pub(crate) title: String,
    pub(crate) parameters: serde_json::Value,
    /// The hash of each file, by name.
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) arithmetic: Option<String>,
    /// The digest of what tells it from other jobs with the same parameters.
    pub(crate) identity: String,
}

impl JobRecord {
    /// The record of a job; `units` digests its units and is called if it has no identity of its own.
    pub(crate) fn new(
        kind: &str,
        version: &str,
        job: &Job,
        units: impl FnOnce() -> String,
    ) -> JobRecord {
        JobRecord {
            kind: kind.to_owned(),
            version: version.to_owned(),
            title: job.title.clone(),
            parameters: job.parameters.clone(),
            files: job.files.iter().map(|file| (file.name.clone(), hash(&file.content))).collect(),
            arithmetic: job.arithmetic.clone(),
            identity: job.identity.as_ref().map_or_else(units, |text| digest(text.as_bytes())),
        }
    }

    /// Equal work has equal ids, so a restarted coordinator finds its results.
    pub(crate) fn id(&self) -> String {
        digest(&serde_json::to_vec(self).expect("records are plain data"))
    }
}

/// The heartbeat of a worker, sent every second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "self-explanatory")]
pub struct WorkerStatus {
    /// The host name and a random suffix.
    pub id: String,
    pub version: String,
    /// The kinds of work that it does.
    pub kinds: Vec<String>,
    /// Its floating-point arithmetic, on which the results of networks depend.
    pub arithmetic: String,
    pub threads: usize,
    /// Units that it is computing.
    pub running: usize,
    /// Units that wait for one of its threads.
    pub waiting: usize,
    /// Units that it has finished.
    pub done: u64,
    /// Units that it has handed back, because it was stopped or they failed.
    pub handed_back: u64,
    /// Units done per second, over the last ten seconds.
    pub rate: f64,
    /// Seconds since it was started.
    pub seconds: u64,
    /// Whether it is shutting down.
    pub is_leaving: bool,
}

/// The heartbeat of a job, sent by its coordinator every second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "self-explanatory")]
pub struct JobStatus {
    pub id: String,
    /// The kind of work.
    pub kind: String,
    /// A short description.
    pub title: String,
    /// The version that it needs.
    pub version: String,
    /// The arithmetic that it needs, if its results depend on it.
    pub arithmetic: Option<String>,
    /// The machine of its coordinator.
    pub host: String,
    /// The number of units.
    pub units: u64,
    /// Units whose result has been accepted.
    pub done: u64,
    /// Units that are published and have no result yet.
    pub outstanding: u64,
    /// Results that arrived more than once.
    pub repeated: u64,
    /// Units that were recomputed to check a worker.
    pub checked: u64,
    /// Units that were set aside, and why.
    pub set_aside: Vec<(u64, String)>,
    /// Workers that were dismissed, and why.
    pub dismissed: Vec<(String, String)>,
    /// Units done per second, over the last ten seconds.
    pub rate: f64,
}

/// The rate of events over the last ten seconds.
#[derive(Debug, Default)]
pub(crate) struct Rate {
    /// The total count at each update.
    marks: VecDeque<(Instant, u64)>,
}

impl Rate {
    /// Events per second, given the total count so far.
    pub(crate) fn update(&mut self, total: u64) -> f64 {
        let now = Instant::now();
        self.marks.push_back((now, total));
        while self.marks.len() > 2 && now.duration_since(self.marks[0].0).as_secs_f64() > 10.0 {
            self.marks.pop_front();
        }
        let (since, before) = self.marks[0];
        let seconds = now.duration_since(since).as_secs_f64();
        if seconds > 0.0 { total.saturating_sub(before) as f64 / seconds } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_round_trip() {
        let header = UnitHeader { unit: 7, digest: digest(b"x"), check_of: None };
        let bytes = frame(&header, b"one\ntwo");
        let (read, body) = unframe::<UnitHeader>(&bytes).unwrap();
        assert_eq!((read.unit, read.digest, body), (7, header.digest, &b"one\ntwo"[..]));
        assert!(unframe::<UnitHeader>(b"{}\n").is_none());
        assert!(unframe::<UnitHeader>(b"no line").is_none());
    }

    #[test]
    fn different_work_has_a_different_id() {
        let id = |version: &str, parameter: i32, units: &[&str]| {
            let units = || digest_of_units((0..).zip(units));
            JobRecord::new("squares", version, &Job::new("a", &parameter), units).id()
        };
        let one = id("1", 1, &["a", "b"]);
        assert_eq!(one, id("1", 1, &["a", "b"]));
        for other in [
            id("2", 1, &["a", "b"]),
            id("1", 2, &["a", "b"]),
            id("1", 1, &["a"]),
            id("1", 1, &["b", "a"]),
            id("1", 1, &["ab"]),
        ] {
            assert_ne!(one, other);
        }
    }

    #[test]
    fn a_job_with_an_identity_is_the_same_with_fewer_units() {
        let id = |identity: &str, units: &str| {
            let job = Job { identity: Some(identity.to_owned()), ..Job::new("a", &1) };
            JobRecord::new("squares", "1", &job, || units.to_owned()).id()
        };
        assert_eq!(id("seed 1", "all"), id("seed 1", "some"));
        assert_ne!(id("seed 1", "all"), id("seed 2", "all"));
    }
}
