//! `play` without the overhead of a PyO3 method, which takes longer than the move itself.
//!
//! The classes have `play` as an ordinary method. [`install`] replaces it with functions of a
//! single argument (`METH_O`) that handle whole numbers and leave everything else to that method:
//! texts, errors, large boards.

use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use claimeven_game::Column;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::type_object::PyTypeInfo;
use pyo3::{Borrowed, ffi};

use crate::game::Game;
use crate::position::Position;

/// Replaces `play` of positions and games.
pub(crate) fn install(py: Python<'_>) -> PyResult<()> {
    SMALL_INTS.find(py)?;
    replace_play::<Position>(py, play_position)?;
    replace_play::<Game>(py, play_game)
}

fn replace_play<T: PyTypeInfo>(py: Python<'_>, function: ffi::PyCFunction) -> PyResult<()> {
    let class = T::type_object(py);
    let doc: String = class.getattr("play")?.getattr("__doc__")?.extract()?;
    let doc = CString::new(format!("play($self, column, /)\n--\n\n{doc}"))?;
    let definition = Box::new(ffi::PyMethodDef {
        ml_name: c"play".as_ptr(),
        ml_meth: ffi::PyMethodDefPointer { PyCFunction: function },
        ml_flags: ffi::METH_O,
        ml_doc: doc.into_raw(),
    });
    // SAFETY: the definition lives as long as the program.
    #[allow(unsafe_code, reason = "a call of Python")]
    let method = unsafe {
        let method = ffi::PyDescr_NewMethod(class.as_type_ptr(), Box::into_raw(definition));
        Bound::from_owned_ptr_or_err(py, method)?
    };
    class.setattr("play", method)
}

#[allow(unsafe_code, reason = "called by Python")]
unsafe extern "C" fn play_position(
    slf: *mut ffi::PyObject,
    column: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: Python holds its lock, has checked the type of the first argument, and keeps both alive.
    let (py, slf, column) = unsafe {
        let py = Python::assume_attached();
        let slf = Borrowed::from_ptr(py, slf).cast_unchecked::<Position>();
        (py, slf, Borrowed::from_ptr(py, column))
    };
    if let Some(number) = whole_number(column)
        && let Some(next) = slf.get().after(number)
        && let Ok(next) = Bound::new(py, next)
    {
        return next.into_ptr();
    }
    ordinary(|py| Ok(Bound::new(py, Position::play((*slf).clone(), &column)?)?.into_any()))
}

#[allow(unsafe_code, reason = "called by Python")]
unsafe extern "C" fn play_game(
    slf: *mut ffi::PyObject,
    column: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: Python holds its lock, has checked the type of the first argument, and keeps both alive.
    let (py, slf, column) = unsafe {
        let py = Python::assume_attached();
        let slf = Borrowed::from_ptr(py, slf).cast_unchecked::<Game>();
        (py, slf, Borrowed::from_ptr(py, column))
    };
    if let Some(column) = whole_number(column)
        && slf.get().try_play(py, column)
    {
        return py.None().into_ptr();
    }
    ordinary(|py| {
        slf.get().play(&column)?;
        Ok(py.None().into_bound(py))
    })
}

/// The column of an int, if it is an int and such a column exists.
#[inline]
fn whole_number(column: Borrowed<'_, '_, PyAny>) -> Option<Column> {
    let pointer = column.as_ptr();
    if let Some(column) = SMALL_INTS.column(pointer) {
        return Some(column);
    }
    // SAFETY: it is an object, and an int when it is read as one.
    #[allow(unsafe_code, reason = "calls of Python")]
    let number = unsafe {
        if ffi::PyLong_CheckExact(pointer) == 0 {
            return None;
        }
        let mut overflow = 0;
        ffi::PyLong_AsLongAndOverflow(pointer, &raw mut overflow)
    };
    // A number that is too large is read as -1.
    Column::from_index(usize::try_from(number).ok()?.checked_sub(1)?)
}

/// The ints from 1, by their addresses. Python makes each small int once, all of them in one array, so
/// the address tells the number without a call.
struct SmallInts {
    /// The address of 1; 0 if they are not in an array.
    one: AtomicUsize,
}

static SMALL_INTS: SmallInts = SmallInts { one: AtomicUsize::new(0) };

impl SmallInts {
    const SIZE: usize = 32;
    const COUNT: usize = 20;

    /// Looks for the array. The ints are kept for ever, so no other object ever has their addresses.
    fn find(&self, py: Python<'_>) -> PyResult<()> {
        let mut addresses = Vec::new();
        for number in 1..=SmallInts::COUNT {
            addresses.push(number.into_pyobject(py)?.into_ptr() as usize);
        }
        if addresses.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == SmallInts::SIZE) {
            self.one.store(addresses[0], Ordering::Relaxed);
        }
        Ok(())
    }

    #[inline]
    fn column(&self, int: *mut ffi::PyObject) -> Option<Column> {
        let offset = (int as usize).wrapping_sub(self.one.load(Ordering::Relaxed));
        if offset >= SmallInts::COUNT * SmallInts::SIZE {
            return None;
        }
        Column::from_index(offset / SmallInts::SIZE)
    }
}

/// Calls a method as PyO3 does: errors are raised, and a panic becomes one.
#[cold]
fn ordinary(method: impl FnOnce(Python<'_>) -> PyResult<Bound<'_, PyAny>>) -> *mut ffi::PyObject {
    Python::attach(|py| {
        let result = catch_unwind(AssertUnwindSafe(|| method(py)));
        let panicked = |_| Err(PyRuntimeError::new_err("internal error in claimeven"));
        match result.unwrap_or_else(panicked) {
            Ok(value) => value.into_ptr(),
            Err(error) => {
                error.restore(py);
                std::ptr::null_mut()
            }
        }
    })
}
