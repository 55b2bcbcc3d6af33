//! The priority of threads.

/// A thread's share of the processors when they are busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Priority {
    /// That of the threads that serve requests.
    Normal,
    /// Below `Normal`.
    Low,
    /// Below `Low`.
    Lowest,
    /// Only idle processors. Other threads preempt it at once, while even one of the lowest priority
    /// finishes its time slice.
    Idle,
}

/// Sets the priority of this thread, which its child threads inherit. It can only be lowered.
pub(crate) fn set(priority: Priority) {
    let niceness = match priority {
        Priority::Normal => return,
        Priority::Low => 10,
        Priority::Lowest => 15,
        Priority::Idle => {
            set_idle();
            19
        }
    };
    // On other systems the priority belongs to the whole process.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, niceness);
    #[cfg(not(target_os = "linux"))]
    let _ = niceness;
}

#[cfg(target_os = "linux")]
fn set_idle() {
    use thread_priority::{
        NormalThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy,
        set_thread_priority_and_policy, thread_native_id,
    };
    let policy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
    if let Err(error) =
        set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, policy)
    {
        tracing::debug!(?error, "Failed to set the idle priority");
    }
}

#[cfg(not(target_os = "linux"))]
fn set_idle() {}
