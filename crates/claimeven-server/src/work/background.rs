//! Background work: searches of the lab, tournaments and training runs. It has low-priority threads
//! of its own, so that no game waits for it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use tokio::sync::{Semaphore, oneshot};
use tokio_util::sync::CancellationToken;

use super::engine::EngineError;

/// A pool of low-priority threads with a bounded queue.
pub(crate) struct BackgroundPool {
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
    most_waiting: usize,
    /// Cancelled when the server stops.
    pub(crate) stopping: CancellationToken,
}

impl BackgroundPool {
    /// A pool for `places` searches at a time and `most_waiting` queued ones.
    pub(crate) fn new(places: usize, most_waiting: usize) -> BackgroundPool {
        BackgroundPool {
            places: Arc::new(Semaphore::new(places.max(1))),
            waiting: AtomicUsize::new(0),
            most_waiting,
            stopping: CancellationToken::new(),
        }
    }

    /// Runs work when a place is free. Dropping the future sets the flag that the work gets.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Arc<AtomicBool>) -> T + Send + 'static,
    ) -> Result<T, EngineError> {
        let place = {
            let _waiting = Waiting::new(&self.waiting, self.most_waiting)?;
            let place = Arc::clone(&self.places).acquire_owned();
            tokio::select! {
                place = place => place.map_err(|_| EngineError::Cancelled)?,
                () = self.stopping.cancelled() => return Err(EngineError::Cancelled),
            }
        };
        let (answer, answered) = oneshot::channel();
        let gone = CancelOnDrop(Arc::default());
        let cancel = Arc::clone(&gone.0);
        let spawned = spawn_low_priority("lab", move || {
            let done = catch_unwind(AssertUnwindSafe(|| work(&cancel)));
            // The place is free before the caller hears of the result.
            drop(place);
            let failed = |_| EngineError::Failed("a search of the lab panicked".to_owned());
            let _ = answer.send(done.map_err(failed));
        });
        spawned.map_err(|error| EngineError::Failed(error.to_string()))?;
        tokio::select! {
            answer = answered => answer.unwrap_or(Err(EngineError::Cancelled)),
            () = self.stopping.cancelled() => Err(EngineError::Cancelled),
        }
    }

    /// Cancels all searches and accepts no more.
    pub(crate) fn close(&self) {
        self.stopping.cancel();
    }
}

struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A place in the queue, until it is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize, most: usize) -> Result<Waiting<'a>, EngineError> {
        let waiting = Waiting(count);
        if count.fetch_add(1, Ordering::Relaxed) < most {
            Ok(waiting)
        } else {
            Err(EngineError::Busy)
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Starts a thread with low priority, which the threads that it starts inherit.
pub(crate) fn spawn_low_priority(
    name: &str,
    work: impl FnOnce() + Send + 'static,
) -> std::io::Result<thread::JoinHandle<()>> {
    thread::Builder::new().name(name.to_owned()).spawn(move || {
        // On other systems the priority belongs to the whole process.
        #[cfg(target_os = "linux")]
        let _ = rustix::process::setpriority_process(None, 15);
        work();
    })
}
