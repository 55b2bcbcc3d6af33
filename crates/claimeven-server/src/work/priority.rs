//! The priority of threads.

/// How much of the processors a thread gets while others want them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Priority {
    /// As much as the threads that serve requests.
    Normal,
    /// What those leave.
    Low,
    /// What those two leave.
    Lowest,
    /// Only what nobody else wants. Others need not wait for the end of its time slice, as they do even
    /// for one of the lowest priority.
    Idle,
}

/// Sets the priority of this thread, which the threads that it starts inherit. It can only be lowered.
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
        tracing::debug!(?error, "No idle priority");
    }
}

#[cfg(not(target_os = "linux"))]
fn set_idle() {}
