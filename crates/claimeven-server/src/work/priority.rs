//! The priority of threads.

/// How much of the processors a thread gets while others want them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Priority {
    /// As much as the threads that serve requests.
    Normal,
    /// What those leave.
    Low,
    /// What all others leave.
    Lowest,
}

/// Sets the priority of this thread, which the threads that it starts inherit. It can only be lowered.
pub(crate) fn set(priority: Priority) {
    let niceness = match priority {
        Priority::Normal => return,
        Priority::Low => 10,
        Priority::Lowest => 15,
    };
    // On other systems the priority belongs to the whole process.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, niceness);
    #[cfg(not(target_os = "linux"))]
    let _ = niceness;
}
