//! Numbers given in Python. One that is out of range is a `ValueError` that names the argument and the
//! value, where PyO3 would raise an `OverflowError` with neither.

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;

use crate::value_error;

/// Functions that read the argument of their name, for `from_py_with`.
macro_rules! arguments {
    ($($name:ident)*) => {$(
        pub(crate) fn $name<T: Number>(value: &Bound<'_, PyAny>) -> PyResult<T> {
            T::read(stringify!($name), value)
        }
    )*};
}

arguments! {
    blocks boards cell channels cols column connect count depth games iterations max_nodes nodes player plies
    rows seconds seed simulations sprt table_mb threads
}

/// A number, or several, that Python may give.
pub(crate) trait Number: Sized {
    fn read(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Self>;
}

macro_rules! whole_numbers {
    ($($number:ty)*) => {$(
        impl Number for $number {
            fn read(name: &str, value: &Bound<'_, PyAny>) -> PyResult<$number> {
                value.extract().map_err(|error| {
                    let (min, max) = (<$number>::MIN, <$number>::MAX);
                    in_range(error, name, value, &format!("a whole number from {min} to {max}"))
                })
            }
        }
    )*};
}

whole_numbers! { i64 u32 u64 usize }

impl Number for f64 {
    fn read(name: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
        value.extract().map_err(|error| in_range(error, name, value, "a number of this machine"))
    }
}

impl Number for (f64, f64) {
    fn read(name: &str, value: &Bound<'_, PyAny>) -> PyResult<(f64, f64)> {
        value.extract().map_err(|error| in_range(error, name, value, "two numbers of this machine"))
    }
}

impl<T: Number> Number for Option<T> {
    fn read(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<T>> {
        if value.is_none() { Ok(None) } else { T::read(name, value).map(Some) }
    }
}

/// The error for a number that is out of range; other errors stay as they are.
fn in_range(error: PyErr, name: &str, value: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    if !error.is_instance_of::<PyOverflowError>(value.py()) {
        return error;
    }
    value_error(format!("{name} {}: expected {expected}", text_of(value)))
}

/// The number as text; Python refuses to write ints of thousands of digits.
pub(crate) fn text_of(number: &Bound<'_, PyAny>) -> String {
    number.str().map_or_else(|_| "a huge number".to_owned(), |text| text.to_string())
}
