//! Mutable data that is protected by the interpreter's lock.

use std::cell::{Ref, RefCell, RefMut};

use pyo3::Python;

/// Interior mutability for a frozen class. It needs no lock but the interpreter's: every access
/// takes the token of a thread that holds it. This costs less than the atomic flag of a mutable
/// class.
pub(crate) struct Attached<T>(RefCell<T>);

// SAFETY: the cell is private and only used by threads that hold the interpreter's lock, one at a time. The
// module asks for that lock (`gil_used`), and the stable ABI is not that of an interpreter without one.
#[allow(unsafe_code, reason = "the interpreter's lock is a lock")]
unsafe impl<T: Send> Sync for Attached<T> {}

impl<T> Attached<T> {
    pub(crate) fn new(value: T) -> Attached<T> {
        Attached(RefCell::new(value))
    }

    #[inline]
    pub(crate) fn borrow<'py>(&'py self, _: Python<'py>) -> Ref<'py, T> {
        self.0.borrow()
    }

    #[inline]
    pub(crate) fn borrow_mut<'py>(&'py self, _: Python<'py>) -> RefMut<'py, T> {
        self.0.borrow_mut()
    }
}
