//! Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::Failure;

/// A flag that Ctrl-C and SIGTERM set. The second signal ends the process.
pub(crate) fn interrupt_flag() -> Result<Arc<AtomicBool>, Failure> {
    let cancel = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&cancel);
    let handler = move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    };
    ctrlc::set_handler(handler).map_err(|error| Failure::Other(error.to_string()))?;
    Ok(cancel)
}

/// An error if the flag is set.
pub(crate) fn check_interrupt(flag: &AtomicBool) -> Result<(), Failure> {
    if flag.load(Ordering::Relaxed) { Err(Failure::Interrupted) } else { Ok(()) }
}
