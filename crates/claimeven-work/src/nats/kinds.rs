//! The kinds of work that a worker does.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::bus::ANY;
use crate::work::{Files, Work};

/// A list of kinds of work.
#[derive(Clone)]
#[must_use]
pub struct Kinds {
    list: Vec<(&'static str, Open)>,
    /// The arithmetic of this processor, for kinds whose results depend on it.
    pub(crate) arithmetic: String,
}

type Open = fn(serde_json::Value, &Files) -> Result<Arc<dyn OpenWork>, String>;

impl Kinds {
    /// An empty list, for a processor with this arithmetic. If it is empty, only work that does not
    /// depend on it is done.
    pub fn new(arithmetic: &str) -> Kinds {
        let arithmetic = if arithmetic.is_empty() { ANY } else { arithmetic };
        Kinds { list: Vec::new(), arithmetic: arithmetic.to_owned() }
    }

    /// Adds a kind of work.
    pub fn with<W: Work>(mut self) -> Kinds {
        self.list.push((W::KIND, |parameters, files| {
            Ok(Arc::new(Opened(Arc::new(W::open(parameters, files)?))))
        }));
        self
    }

    /// Keeps only the kinds with these names. Unknown names are an error.
    pub fn only(self, names: &[String]) -> Result<Kinds, String> {
        for name in names {
            if !self.names().contains(&name.as_str()) {
                let known = self.names().join(", ");
                return Err(format!("unknown kind '{name}' (available: {known})"));
            }
        }
        let list = self.list.into_iter().filter(|(kind, _)| names.iter().any(|name| name == kind));
        Ok(Kinds { list: list.collect(), arithmetic: self.arithmetic })
    }

    /// The names of the kinds.
    pub fn names(&self) -> Vec<&'static str> {
        self.list.iter().map(|(kind, _)| *kind).collect()
    }

    pub(crate) fn open(
        &self,
        kind: &str,
        parameters: serde_json::Value,
        files: &Files,
    ) -> Result<Arc<dyn OpenWork>, String> {
        let known = self.list.iter().find(|(known, _)| *known == kind);
        let (_, open) = known.ok_or_else(|| format!("this worker does not support '{kind}'"))?;
        open(parameters, files)
    }
}

/// Work of any kind.
pub(crate) trait OpenWork: Send + Sync {
    /// A thread's state.
    fn thread(&self) -> Box<dyn Compute>;
}

/// Computes units as bytes, on one thread.
pub(crate) trait Compute {
    /// `None` if it was cancelled.
    fn compute(&mut self, unit: &[u8], cancel: &Arc<AtomicBool>)
    -> Result<Option<Vec<u8>>, String>;
}

struct Opened<W>(Arc<W>);

impl<W: Work> OpenWork for Opened<W> {
    fn thread(&self) -> Box<dyn Compute> {
        let thread = self.0.thread();
        Box::new(WorkThread { work: Arc::clone(&self.0), thread })
    }
}

struct WorkThread<W: Work> {
    work: Arc<W>,
    thread: W::Thread,
}

impl<W: Work> Compute for WorkThread<W> {
    fn compute(
        &mut self,
        unit: &[u8],
        cancel: &Arc<AtomicBool>,
    ) -> Result<Option<Vec<u8>>, String> {
        let unit = serde_json::from_slice(unit).map_err(|error| format!("unit: {error}"))?;
        let output = self.work.compute(&mut self.thread, &unit, cancel);
        Ok(output.map_err(|error| error.to_string())?.as_ref().map(W::encode))
    }
}
