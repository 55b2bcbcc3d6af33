//! Work, its units, and the dispatchers that run them.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{ControlFlow, Range};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Work that is split into numbered units.
///
/// The output of a unit depends on the work and the unit alone, so it can be computed anywhere and
/// more than once. Measured times may differ; [`Work::fingerprint`] leaves them out.
pub trait Work: Send + Sync + Sized + 'static {
    /// The name of this kind of work, in lower-case letters and hyphens.
    const KIND: &'static str;
    /// The input of one unit, in addition to what all units share.
    type Unit: Serialize + DeserializeOwned + Send + Sync;
    /// The result of a unit.
    type Output: Send;
    /// The state that a thread keeps between units, such as a table. It does not affect the output.
    type Thread;
    /// Why a unit cannot be computed. It is the same on every machine.
    type Error: fmt::Display + From<WorkError> + Send;

    /// What another machine needs to do the work, or why it can only be done on this one.
    fn job(&self) -> Result<Job, String>;

    /// Opens the work on another machine.
    fn open(parameters: serde_json::Value, files: &Files) -> Result<Self, String>;

    /// A new thread state.
    fn thread(&self) -> Self::Thread;

    /// Computes a unit; `None` if it was cancelled.
    fn compute(
        &self,
        thread: &mut Self::Thread,
        unit: &Self::Unit,
        cancel: &Arc<AtomicBool>,
    ) -> Result<Option<Self::Output>, Self::Error>;

    /// The output as bytes.
    fn encode(output: &Self::Output) -> Vec<u8>;

    /// The output from its bytes, which are not trusted.
    fn decode(bytes: &[u8]) -> Result<Self::Output, String>;

    /// Checks an output from another machine as far as that is possible without computing the unit.
    fn verify(&self, unit: &Self::Unit, output: &Self::Output) -> Result<(), String> {
        let _ = (unit, output);
        Ok(())
    }

    /// The part of the output that is the same on every machine.
    fn fingerprint(output: &Self::Output) -> Vec<u8> {
        Self::encode(output)
    }
}

/// The files of a job, by name.
pub type Files = BTreeMap<String, PathBuf>;

/// Work as it is sent to other machines.
#[derive(Clone, Debug)]
pub struct Job {
    /// A short description for people.
    pub title: String,
    /// The parameters, from which [`Work::open`] recreates the work.
    pub parameters: serde_json::Value,
    /// The files that it needs.
    pub files: Vec<File>,
    /// The floating-point arithmetic that the results depend on, if any: only workers with the same
    /// arithmetic compute them.
    pub arithmetic: Option<String>,
    /// What tells it from other jobs with the same parameters, such as a seed. It must be given if a
    /// repeated command may have fewer units, because it keeps some outputs itself. Otherwise, it is
    /// made from all units.
    pub identity: Option<String>,
    /// Whether the outputs can be reproduced; `false` if they depend on how long something took.
    pub is_deterministic: bool,
}

impl Job {
    /// A job without files, whose outputs are the same on every processor.
    ///
    /// # Panics
    ///
    /// If the parameters cannot be written as JSON.
    pub fn new(title: impl Into<String>, parameters: &impl Serialize) -> Job {
        Job {
            title: title.into(),
            parameters: serde_json::to_value(parameters).expect("parameters are plain data"),
            files: Vec::new(),
            arithmetic: None,
            identity: None,
            is_deterministic: true,
        }
    }
}

/// A file of a job.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "self-explanatory")]
pub struct File {
    /// The name by which the work finds it.
    pub name: String,
    pub content: Vec<u8>,
}

/// What a dispatcher passes to its caller.
#[derive(Debug)]
pub enum DispatchEvent<T> {
    /// The output of the unit with this number. Each number comes once, in any order.
    Output(u64, T),
    /// Some of the outputs so far were wrong: discard all outputs of this run, they will come
    /// again.
    Restart,
}

/// Runs the units of work.
pub trait Dispatcher {
    /// Computes the units with the given numbers and passes each output to `take` as soon as it is
    /// available. Ends early if `take` breaks, if the flag is set, or with the first error. A unit
    /// that panics is reported at the end, once all others are done
    /// ([`WorkError::SetAside`]).
    ///
    /// The numbers must come to an end, because dispatchers may collect them before they start.
    fn run<W: Work>(
        &self,
        work: &W,
        numbers: impl Iterator<Item = u64> + Send,
        unit: impl Fn(u64) -> W::Unit + Sync,
        cancel: Option<&AtomicBool>,
        take: impl FnMut(DispatchEvent<W::Output>) -> Result<ControlFlow<()>, W::Error>,
    ) -> Result<(), W::Error>;
}

/// A dispatcher of one kind of work, for trait objects. Every [`Dispatcher`] is one.
pub trait DynDispatcher<W: Work> {
    /// As [`Dispatcher::run`].
    fn run_all(
        &self,
        work: &W,
        numbers: Range<u64>,
        unit: &(dyn Fn(u64) -> W::Unit + Sync),
        cancel: Option<&AtomicBool>,
        take: &mut dyn FnMut(DispatchEvent<W::Output>) -> Result<ControlFlow<()>, W::Error>,
    ) -> Result<(), W::Error>;
}

impl<W: Work, D: Dispatcher> DynDispatcher<W> for D {
    fn run_all(
        &self,
        work: &W,
        numbers: Range<u64>,
        unit: &(dyn Fn(u64) -> W::Unit + Sync),
        cancel: Option<&AtomicBool>,
        take: &mut dyn FnMut(DispatchEvent<W::Output>) -> Result<ControlFlow<()>, W::Error>,
    ) -> Result<(), W::Error> {
        self.run(work, numbers, unit, cancel, take)
    }
}

/// Runs all units of work and returns their outputs in order; `None` if it was cancelled.
/// `progress` gets the number of outputs so far.
pub fn run_in_order<W: Work>(
    dispatcher: &dyn DynDispatcher<W>,
    work: &W,
    units: u64,
    unit: &(dyn Fn(u64) -> W::Unit + Sync),
    cancel: Option<&AtomicBool>,
    mut progress: impl FnMut(u64),
) -> Result<Option<Vec<W::Output>>, W::Error> {
    let mut outputs = BTreeMap::new();
    dispatcher.run_all(work, 0..units, unit, cancel, &mut |taken| {
        match taken {
            DispatchEvent::Output(number, output) => {
                outputs.insert(number, output);
            }
            DispatchEvent::Restart => outputs.clear(),
        }
        progress(outputs.len() as u64);
        Ok(ControlFlow::Continue(()))
    })?;
    let is_complete = outputs.len() as u64 == units;
    Ok(is_complete.then(|| outputs.into_values().collect()))
}

/// Why work on other machines failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WorkError {
    /// The work can only be done on this machine.
    LocalOnly(String),
    /// The NATS server cannot be used.
    Broker(String),
    /// These units crashed every worker that tried them.
    SetAside(Vec<(u64, String)>),
    /// This unit crashed on this machine, where it was computed to check the result of a worker.
    Panicked(u64, String),
    /// This worker was dismissed because one of its results was wrong.
    Dismissed(String),
    /// Another process, on the machine with this name, is already doing the same work.
    Claimed(String),
}

impl fmt::Display for WorkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WorkError::LocalOnly(reason) => write!(f, "cannot run on other machines: {reason}"),
            WorkError::Broker(reason) => write!(f, "NATS: {reason}"),
            WorkError::SetAside(units) => {
                let count = units.len();
                write!(f, "{count} unit{} set aside", if count == 1 { "" } else { "s" })?;
                let (number, reason) = units.first().expect("at least one unit is set aside");
                write!(f, "; unit {number}: {reason}")
            }
            WorkError::Panicked(number, reason) => write!(f, "unit {number}: {reason}"),
            WorkError::Dismissed(reason) => write!(f, "this worker was dismissed: {reason}"),
            WorkError::Claimed(host) => {
                write!(f, "the same work is already being done by another process on {host}")
            }
        }
    }
}

impl std::error::Error for WorkError {}

/// The message of a panic.
pub(crate) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("panic: {}", text.unwrap_or("no message"))
}
