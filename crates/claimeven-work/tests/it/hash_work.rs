//! Work that is easy to check and can go wrong in several ways.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use claimeven_work::{File, Files, Job, Work, WorkError};
use serde::{Deserialize, Serialize};

/// What a unit does besides computing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) enum Fault {
    #[default]
    None,
    Sleep(u64),
    Panic,
    /// Panics the first, second … time a unit of the test is computed; otherwise takes this many
    /// milliseconds.
    PanicAt(Vec<u64>, u64),
    /// Panics unless a worker computes it, which takes this many milliseconds.
    PanicUnlessWorker(u64),
    Abort,
    Fail,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct HashUnit {
    pub(crate) number: u64,
    pub(crate) fault: Fault,
}

/// Hashes numbers, with a salt from a file. If `FAULTY`, every seventh output is wrong.
pub(crate) struct Hashes<const FAULTY: bool> {
    pub(crate) salt: u64,
    /// Counts the units that were computed in this process, by the number of the test.
    pub(crate) test: usize,
}

/// The number of tests that count.
const TESTS: usize = 48;

pub(crate) static COMPUTED: [AtomicU64; TESTS] = [const { AtomicU64::new(0) }; TESTS];

/// Counts how often work was opened in this process, by the number of the test.
pub(crate) static OPENED: [AtomicU64; TESTS] = [const { AtomicU64::new(0) }; TESTS];

/// The test whose work takes long to open for the second worker.
pub(crate) const SLOW_TO_OPEN: usize = 24;

pub(crate) fn correct_hash(salt: u64, number: u64) -> u64 {
    (number + 1).wrapping_mul(salt | 1).rotate_left(17) ^ number
}

impl<const FAULTY: bool> Work for Hashes<FAULTY> {
    const KIND: &'static str = "hashes";
    type Unit = HashUnit;
    type Output = (u64, u64);
    type Thread = u64;
    type Error = WorkError;

    fn job(&self) -> Result<Job, String> {
        let content = self.salt.to_le_bytes().to_vec();
        let files = vec![File { name: "salt".to_owned(), content }];
        Ok(Job { files, ..Job::new("hashes of numbers", &self.test) })
    }

    fn open(parameters: serde_json::Value, files: &Files) -> Result<Self, String> {
        let test: usize = serde_json::from_value(parameters).map_err(|error| error.to_string())?;
        let bytes = std::fs::read(&files["salt"]).map_err(|error| error.to_string())?;
        let is_first = OPENED[test].fetch_add(1, Ordering::Relaxed) == 0;
        if test == SLOW_TO_OPEN && !is_first {
            thread::sleep(Duration::from_millis(600));
        }
        Ok(Hashes { salt: u64::from_le_bytes(bytes.try_into().unwrap()), test })
    }

    fn thread(&self) -> u64 {
        0
    }

    fn compute(
        &self,
        count: &mut u64,
        unit: &HashUnit,
        cancel: &Arc<AtomicBool>,
    ) -> Result<Option<(u64, u64)>, WorkError> {
        *count += 1;
        let computed = COMPUTED[self.test].fetch_add(1, Ordering::Relaxed) + 1;
        match &unit.fault {
            Fault::None => {}
            Fault::PanicAt(times, _) if times.contains(&computed) => panic!("panic {computed}"),
            Fault::Sleep(ms) | Fault::PanicAt(_, ms) => {
                for _ in 0..*ms {
                    if cancel.load(Ordering::Relaxed) {
                        return Ok(None);
                    }
                    thread::sleep(Duration::from_millis(1));
                }
            }
            Fault::Panic => panic!("unit {} is poison", unit.number),
            Fault::PanicUnlessWorker(ms) => {
                let name = thread::current().name().unwrap_or_default().to_owned();
                assert!(name.starts_with("unit-"), "not a worker");
                thread::sleep(Duration::from_millis(*ms));
            }
            Fault::Abort => std::process::abort(),
            Fault::Fail => return Err(WorkError::LocalOnly(format!("{} is odd", unit.number))),
        }
        let wrong = u64::from(FAULTY && unit.number % 7 == 3);
        // The second number differs from thread to thread, as times do.
        Ok(Some((correct_hash(self.salt, unit.number) + wrong, *count)))
    }

    fn encode(output: &(u64, u64)) -> Vec<u8> {
        serde_json::to_vec(output).unwrap()
    }

    fn decode(bytes: &[u8]) -> Result<(u64, u64), String> {
        serde_json::from_slice(bytes).map_err(|error| error.to_string())
    }

    fn fingerprint(output: &(u64, u64)) -> Vec<u8> {
        output.0.to_le_bytes().to_vec()
    }
}
