//! Work on the threads of this process.

use std::ops::ControlFlow;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::work::{DispatchEvent, Dispatcher, Work, WorkError, panic_text};

/// The threads of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Local {
    /// The number of threads; 0 counts as 1.
    pub threads: usize,
}

impl Dispatcher for Local {
    fn run<W: Work>(
        &self,
        work: &W,
        numbers: impl Iterator<Item = u64> + Send,
        unit: impl Fn(u64) -> W::Unit + Sync,
        cancel: Option<&AtomicBool>,
        mut take: impl FnMut(DispatchEvent<W::Output>) -> Result<ControlFlow<()>, W::Error>,
    ) -> Result<(), W::Error> {
        let mut set_aside = Vec::new();
        run_on_threads(
            numbers,
            self.threads,
            cancel,
            || None,
            |thread: &mut Option<W::Thread>, &number, cancel| {
                let computed = panic::catch_unwind(AssertUnwindSafe(|| {
                    let thread = thread.get_or_insert_with(|| work.thread());
                    work.compute(thread, &unit(number), cancel)
                }));
                match computed {
                    Ok(output) => Ok(output?.map(Ok)),
                    Err(panic) => {
                        *thread = None;
                        Ok(Some(Err(panic_text(&*panic))))
                    }
                }
            },
            |number, output| match output {
                Ok(output) => take(DispatchEvent::Output(number, output)),
                Err(reason) => {
                    set_aside.push((number, reason));
                    Ok(ControlFlow::Continue(()))
                }
            },
        )?;
        if set_aside.is_empty() {
            return Ok(());
        }
        set_aside.sort_unstable();
        Err(WorkError::SetAside(set_aside).into())
    }
}

/// How often the caller's flag is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Runs jobs on several threads and passes each result on as soon as it is available, in any order.
/// Ends early if `take` breaks, if the caller's flag is set, or with the first error.
///
/// A job polls the flag it is given and returns `None` once it is set. This is not the caller's
/// flag, which is only read.
///
/// ```
/// use std::convert::Infallible;
/// use std::ops::ControlFlow;
///
/// use claimeven_work::run_jobs;
///
/// let mut sum = 0;
/// let done: Result<(), Infallible> = run_jobs(
///     1_u64..=10,
///     2,
///     None,
///     |&number, _| Ok(Some(number * number)),
///     |_, square| {
///         sum += square;
///         Ok(ControlFlow::Continue(()))
///     },
/// );
/// assert_eq!((done, sum), (Ok(()), 385));
/// ```
pub fn run_jobs<J, T, E>(
    jobs: impl Iterator<Item = J> + Send,
    threads: usize,
    cancel: Option<&AtomicBool>,
    work: impl Fn(&J, &Arc<AtomicBool>) -> Result<Option<T>, E> + Sync,
    take: impl FnMut(J, T) -> Result<ControlFlow<()>, E>,
) -> Result<(), E>
where
    J: Send,
    T: Send,
    E: Send,
{
    run_on_threads(jobs, threads, cancel, || (), |(), job, stop| work(job, stop), take)
}

/// Like [`run_jobs`], with a state for each thread.
fn run_on_threads<J, S, T, E>(
    jobs: impl Iterator<Item = J> + Send,
    threads: usize,
    cancel: Option<&AtomicBool>,
    new_state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &J, &Arc<AtomicBool>) -> Result<Option<T>, E> + Sync,
    mut take: impl FnMut(J, T) -> Result<ControlFlow<()>, E>,
) -> Result<(), E>
where
    J: Send,
    T: Send,
    E: Send,
{
    let jobs = Mutex::new(jobs);
    let stop = Arc::new(AtomicBool::new(false));
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for _ in 0..threads.max(1) {
            let (sender, jobs, stop) = (sender.clone(), &jobs, &stop);
            let (new_state, work) = (&new_state, &work);
            scope.spawn(move || {
                let mut state = None;
                while !stop.load(Ordering::Relaxed) {
                    let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some(job) = job else { return };
                    let state = state.get_or_insert_with(new_state);
                    let Some(done) = work(state, &job, stop).transpose() else { return };
                    // The receiver is dropped on an early return.
                    if sender.send((job, done)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        // An early return drops the receiver and sets the flag that the jobs poll.
        let _stop_at_end = SetOnDrop(&stop);
        loop {
            // Results that are already available are still passed on.
            if cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
                stop.store(true, Ordering::Relaxed);
            }
            match receiver.recv_timeout(POLL_INTERVAL) {
                Ok((job, done)) => {
                    if take(job, done?)?.is_break() {
                        return Ok(());
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    })
}

/// Sets the flag at the end of its scope, even on a panic.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::time::Instant;

    use super::*;

    #[test]
    fn the_callers_flag_cancels_the_jobs_and_is_only_read() {
        let cancel = AtomicBool::new(false);
        let started = Instant::now();
        let mut taken = 0;
        let ended: Result<(), Infallible> = run_jobs(
            0_u64..,
            2,
            Some(&cancel),
            |&job, stop| {
                while job >= 10 && !stop.load(Ordering::Relaxed) {
                    thread::sleep(Duration::from_millis(1));
                }
                Ok((job < 10).then_some(job))
            },
            |_, _| {
                taken += 1;
                cancel.store(taken == 10, Ordering::Relaxed);
                Ok(ControlFlow::Continue(()))
            },
        );
        assert_eq!((ended, taken), (Ok(()), 10));
        assert!(started.elapsed() < Duration::from_secs(10));

        cancel.store(false, Ordering::Relaxed);
        let take = |_, _| Ok(ControlFlow::Break(()));
        let ended: Result<(), Infallible> =
            run_jobs(0_u64.., 2, Some(&cancel), |&job, _| Ok(Some(job)), take);
        assert_eq!((ended, cancel.load(Ordering::Relaxed)), (Ok(()), false));
    }
}
