//! The memory of programs that run for long.

/// Makes the allocator return large blocks to the system as soon as they are freed, so that the
/// process uses what its searches hold now, not their past maximum: otherwise, glibc keeps blocks of
/// up to 32 MB.
pub(crate) fn return_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[allow(unsafe_code, reason = "the C library has no safe interface for it")]
    {
        const LARGE: libc::c_int = 1 << 20;
        // SAFETY: it only sets a parameter of the allocator, before other threads exist.
        unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE) };
    }
}
