//! The setup of a game.

use claimeven_game::{Ruleset, Setup as GameSetup};
use pyo3::prelude::*;

use crate::{numbers, value_error};

/// The size of the board, the connect length and the ruleset.
///
/// >>> from claimeven import Setup
/// >>> Setup()
/// Setup(cols=7, rows=6, connect=4, ruleset='standard')
/// >>> str(Setup(9, 7, connect=5))
/// '9x7, connect 5, standard'
#[pyclass(frozen, eq, hash, module = "claimeven")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Setup(pub(crate) GameSetup);

#[pymethods]
impl Setup {
    #[new]
    #[pyo3(signature = (cols=7, rows=6, connect=4, ruleset="standard"))]
    fn new(
        #[pyo3(from_py_with = numbers::cols)] cols: i64,
        #[pyo3(from_py_with = numbers::rows)] rows: i64,
        #[pyo3(from_py_with = numbers::connect)] connect: i64,
        ruleset: &str,
    ) -> PyResult<Setup> {
        make(cols, rows, connect, ruleset).map(Setup)
    }

    /// Parses a text such as '9x7, connect 5'.
    ///
    /// >>> from claimeven import Setup
    /// >>> Setup.parse('6x5')
    /// Setup(cols=6, rows=5, connect=4, ruleset='standard')
    #[staticmethod]
    fn parse(text: &str) -> PyResult<Setup> {
        text.parse().map(Setup).map_err(value_error)
    }

    /// The number of columns.
    #[getter]
    fn cols(&self) -> u8 {
        self.0.cols()
    }

    /// The number of rows.
    #[getter]
    fn rows(&self) -> u8 {
        self.0.rows()
    }

    /// The number of discs in a row that win.
    #[getter]
    fn connect(&self) -> u8 {
        self.0.connect()
    }

    /// 'standard' or 'lines'.
    #[getter]
    fn ruleset(&self) -> &'static str {
        self.0.ruleset().name()
    }

    /// The number of cells, which is also the length of the longest game.
    #[getter]
    fn cells(&self) -> u32 {
        self.0.cells()
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        let (cols, rows, connect, ruleset) = self.__getnewargs__();
        format!("Setup(cols={cols}, rows={rows}, connect={connect}, ruleset='{ruleset}')")
    }

    fn __getnewargs__(&self) -> (u8, u8, u8, &'static str) {
        (self.cols(), self.rows(), self.connect(), self.ruleset())
    }
}

/// A setup from numbers given in Python.
pub(crate) fn make(cols: i64, rows: i64, connect: i64, ruleset: &str) -> PyResult<GameSetup> {
    let small = |name: &str, number: i64| {
        let wrong = || value_error(format!("{name} {number} is out of range"));
        u8::try_from(number).map_err(|_| wrong())
    };
    let ruleset: Ruleset = ruleset.parse().map_err(value_error)?;
    GameSetup::new(small("cols", cols)?, small("rows", rows)?, small("connect", connect)?, ruleset)
        .map_err(value_error)
}

/// The given setup, or the standard one.
pub(crate) fn or_standard(setup: Option<&Setup>) -> GameSetup {
    setup.map_or(GameSetup::STANDARD, |setup| setup.0)
}
