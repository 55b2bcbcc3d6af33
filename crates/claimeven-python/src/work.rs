//! Long work on another thread, without the interpreter's lock, which Ctrl-C can interrupt.

use std::any::Any;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;

/// How often signals are checked and progress is reported.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

thread_local! {
    /// The flag of the work that has called Python on this thread.
    static ENCLOSING: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Calls Python from long work. What Python starts there ends when the work is cancelled: only the main
/// thread receives Ctrl-C.
pub(crate) fn within<T>(cancel: Option<&Arc<AtomicBool>>, call: impl FnOnce() -> T) -> T {
    let before = ENCLOSING.replace(cancel.cloned());
    let result = call();
    ENCLOSING.set(before);
    result
}

fn check_enclosing() -> PyResult<()> {
    let is_cancelled = |cancel: &Arc<AtomicBool>| cancel.load(Ordering::Relaxed);
    if ENCLOSING.with_borrow(|cancel| cancel.as_ref().is_some_and(is_cancelled)) {
        return Err(PyKeyboardInterrupt::new_err("the work that called this was cancelled"));
    }
    Ok(())
}

/// Runs `work` on its own thread while this one waits without the interpreter's lock.
///
/// Every few milliseconds it checks for signals, and whether work that called it has been cancelled,
/// and calls `tick`. An error of either (Ctrl-C raises
/// `KeyboardInterrupt`) sets the flag passed to `work` and is returned once `work` has ended. A
/// panic becomes a `RuntimeError`.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Arc<AtomicBool>) -> T + Send,
    mut tick: impl FnMut(Python<'_>) -> PyResult<()>,
) -> PyResult<T> {
    let cancel = Arc::new(AtomicBool::new(false));
    let is_done = AtomicBool::new(false);
    let (flag, done) = (&cancel, &is_done);
    let caller = thread::current();
    thread::scope(|scope| {
        let worker = scope.spawn(move || {
            let _wake = Wake { done, caller };
            work(flag)
        });
        let mut error = None;
        while !is_done.load(Ordering::Acquire) {
            py.detach(|| thread::park_timeout(POLL_INTERVAL));
            if error.is_none()
                && let Err(raised) =
                    py.check_signals().and_then(|()| check_enclosing()).and_then(|()| tick(py))
            {
                cancel.store(true, Ordering::Relaxed);
                error = Some(raised);
            }
        }
        let result = py.detach(|| worker.join());
        match (error, result) {
            (Some(error), _) => Err(error),
            (None, Ok(result)) => Ok(result),
            (None, Err(panic)) => Err(PyRuntimeError::new_err(panic_text(&*panic))),
        }
    })
}

/// Wakes the waiting thread when the work ends, also by a panic.
struct Wake<'a> {
    done: &'a AtomicBool,
    caller: Thread,
}

impl Drop for Wake<'_> {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Release);
        self.caller.unpark();
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unknown cause");
    format!("internal error in claimeven: {text}")
}

/// Panics in long work or in the call itself, to test that a panic becomes an exception.
#[pyfunction]
#[pyo3(name = "_panic")]
pub(crate) fn panic_for_test(py: Python<'_>, text: String, is_long: bool) -> PyResult<()> {
    if is_long { run(py, |_| panic!("{text}"), |_| Ok(())) } else { panic!("{text}") }
}

/// The number of threads: that of the processors unless a number is given.
pub(crate) fn threads(given: Option<usize>) -> usize {
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    given.map_or_else(cores, |threads| threads.clamp(1, 1024))
}
