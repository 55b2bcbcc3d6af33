//! Games on all cores.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

/// Does jobs on some threads, and hands over what comes of each as soon as it is done, in whatever
/// order that is. Ends early when it is told to, or with the first error.
///
/// A job gets the flag that cancels it, and gives `None` once it was cancelled. The flag is set at the
/// end, whoever brought that about.
pub(crate) fn run_jobs<J, T, E>(
    jobs: impl Iterator<Item = J> + Send,
    threads: usize,
    cancel: &Arc<AtomicBool>,
    work: impl Fn(&J, &Arc<AtomicBool>) -> Result<Option<T>, E> + Sync,
    mut take: impl FnMut(J, T) -> Result<ControlFlow<()>, E>,
) -> Result<(), E>
where
    J: Send,
    T: Send,
    E: Send,
{
    let jobs = Mutex::new(jobs);
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for _ in 0..threads.max(1) {
            let (sender, jobs, work) = (sender.clone(), &jobs, &work);
            scope.spawn(move || {
                while !cancel.load(Ordering::Relaxed) {
                    let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some(job) = job else { return };
                    let Some(done) = work(&job, cancel).transpose() else { return };
                    // Nobody listens any more once the end has come early.
                    if sender.send((job, done)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut outcome = Ok(());
        for (job, done) in receiver {
            match done.and_then(|done| take(job, done)) {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => break,
                Err(error) => {
                    outcome = Err(error);
                    break;
                }
            }
        }
        cancel.store(true, Ordering::Relaxed);
        outcome
    })
}
