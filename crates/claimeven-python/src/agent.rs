//! Players: the built-in ones, and those that users write in Python.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use claimeven_arena::AgentSpec;
use claimeven_game::{Column, Position as PlainPosition, Setup as GameSetup};
use claimeven_search::{
    Agent as SearchAgent, AgentError, BoundKind, ColumnValue, Decision as SearchDecision,
    Limits as SearchLimits, SearchStats, Value as SearchValue,
};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};

use crate::history::{History, KnownOpenings};
use crate::position::{Position, column_of, is_int, position_of};
use crate::solver::duration;
use crate::{numbers, value_error, work};

/// Limits of a search, in addition to the player's own parameters. None means no limit.
///
/// >>> from claimeven import Agent, Limits
/// >>> Agent('alphabeta:depth=20').decide('44', Limits(depth=2)).depth
/// 2
#[pyclass(frozen, get_all, module = "claimeven")]
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// The maximum depth in plies.
    depth: Option<u32>,
    /// The maximum number of nodes.
    nodes: Option<u64>,
    /// The maximum number of simulations.
    simulations: Option<u64>,
    /// The maximum time in seconds.
    seconds: Option<f64>,
}

#[pymethods]
impl Limits {
    #[new]
    #[pyo3(signature = (*, depth=None, nodes=None, simulations=None, seconds=None))]
    fn new(
        #[pyo3(from_py_with = numbers::depth)] depth: Option<u32>,
        #[pyo3(from_py_with = numbers::nodes)] nodes: Option<u64>,
        #[pyo3(from_py_with = numbers::simulations)] simulations: Option<u64>,
        #[pyo3(from_py_with = numbers::seconds)] seconds: Option<f64>,
    ) -> PyResult<Limits> {
        seconds.map(duration).transpose()?;
        Ok(Limits { depth, nodes, simulations, seconds })
    }

    fn __repr__(&self) -> String {
        fn text<T: ToString>(number: Option<T>) -> String {
            number.map_or("None".to_owned(), |number| number.to_string())
        }
        let Limits { depth, nodes, simulations, seconds } = *self;
        format!(
            "Limits(depth={}, nodes={}, simulations={}, seconds={})",
            text(depth),
            text(nodes),
            text(simulations),
            text(seconds)
        )
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((), Bound<'py, PyDict>)> {
        let arguments = PyDict::new(py);
        arguments.set_item("depth", self.depth)?;
        arguments.set_item("nodes", self.nodes)?;
        arguments.set_item("simulations", self.simulations)?;
        arguments.set_item("seconds", self.seconds)?;
        Ok(((), arguments))
    }
}

impl Limits {
    fn of_search(limits: &SearchLimits) -> Limits {
        let SearchLimits { depth, nodes, simulations, time, .. } = *limits;
        Limits { depth, nodes, simulations, seconds: time.map(|time| time.as_secs_f64()) }
    }

    fn with_cancel(limits: Option<&Limits>, cancel: &Arc<AtomicBool>) -> PyResult<SearchLimits> {
        let none = Limits { depth: None, nodes: None, simulations: None, seconds: None };
        let Limits { depth, nodes, simulations, seconds } = limits.copied().unwrap_or(none);
        Ok(SearchLimits {
            depth,
            nodes,
            simulations,
            time: seconds.map(duration).transpose()?,
            cancel: Some(Arc::clone(cancel)),
            ..SearchLimits::default()
        })
    }
}

/// The value of a position or a move for the side to move.
///
/// `kind` is 'win', 'loss', 'draw' (proven), 'points' (of a heuristic) or 'expected' (expected result from 0 to 1), and
/// `number` the plies to the win or loss, the points or the expected result.
#[pyclass(frozen, from_py_object, module = "claimeven")]
#[derive(Clone, Copy)]
pub(crate) struct Value(SearchValue);

#[pymethods]
impl Value {
    /// 'win', 'loss', 'draw', 'points' or 'expected'.
    #[getter]
    fn kind(&self) -> &'static str {
        self.0.kind()
    }

    /// Plies to the win or loss, points, or the expected result.
    #[getter]
    fn number(&self) -> f64 {
        self.0.number()
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<Value {}>", self.0)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Value>().is_ok_and(|other| other.get().0 == self.0)
    }

    fn __hash__(&self) -> u64 {
        self.number().to_bits() ^ (self.kind().len() as u64)
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (&'static str, f64))> {
        let value = slf.get();
        Ok((slf.get_type().getattr("_of")?, (value.kind(), value.number())))
    }

    #[staticmethod]
    fn _of(kind: &str, number: f64) -> PyResult<Value> {
        let plies = || u32::try_from(number as i64).map_err(value_error);
        Ok(Value(match kind {
            "win" => SearchValue::Win(plies()?),
            "loss" => SearchValue::Loss(plies()?),
            "draw" => SearchValue::Draw,
            "points" => SearchValue::Points(number as i32),
            "expected" => SearchValue::Expected(number),
            _ => return Err(value_error(format!("unknown kind of value '{kind}'"))),
        }))
    }
}

/// A move and the search result behind it.
#[pyclass(frozen, module = "claimeven")]
pub(crate) struct Decision(SearchDecision);

/// The value of a column and its kind of bound, as they are pickled.
type PickledColumn = (Value, String);

/// Seconds and nanoseconds.
type PickledTime = (u64, u32);

#[pymethods]
impl Decision {
    /// The column to play, from 1.
    #[getter]
    fn column(&self) -> u8 {
        self.0.column.number()
    }

    /// The value of the position for the side to move.
    #[getter]
    fn value(&self) -> Value {
        Value(self.0.value)
    }

    /// The value of each column, from the left; None if it is unknown or the column is full.
    #[getter]
    fn columns(&self) -> Vec<Option<Value>> {
        self.0.columns.iter().map(|value| value.map(|value| Value(value.value))).collect()
    }

    /// The share of visits of each column, or the policy of a network; empty for other players.
    #[getter]
    fn shares(&self) -> Vec<f64> {
        self.0.shares.clone()
    }

    /// The principal variation, starting with the move, such as '3526'.
    #[getter]
    fn pv(&self) -> String {
        self.0.pv.iter().map(|column| column.to_char()).collect()
    }

    /// Nodes visited.
    #[getter]
    fn nodes(&self) -> u64 {
        self.0.stats.nodes
    }

    /// Simulations.
    #[getter]
    fn simulations(&self) -> u64 {
        self.0.stats.simulations
    }

    /// The depth of the last finished iteration, in plies.
    #[getter]
    fn depth(&self) -> u32 {
        self.0.stats.depth
    }

    /// The time used, in seconds.
    #[getter]
    fn seconds(&self) -> f64 {
        self.0.time.as_secs_f64()
    }

    /// Whether a limit ended the search early.
    #[getter]
    fn stopped(&self) -> bool {
        self.0.stopped
    }

    fn __repr__(&self) -> String {
        let (column, value, pv) = (self.column(), self.0.value, self.pv());
        format!("<Decision column={column} value='{value}' pv='{pv}' nodes={}>", self.nodes())
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let Decision(decision) = slf.get();
        let SearchStats { nodes, leaves, cutoffs, table_hits, depth, simulations } = decision.stats;
        let column = |known: ColumnValue| (Value(known.value), known.bound.name());
        let columns: Vec<_> = decision.columns.iter().map(|known| known.map(column)).collect();
        let arguments = (
            slf.get().column(),
            slf.get().value(),
            columns,
            decision.shares.clone(),
            slf.get().pv(),
            (nodes, leaves, cutoffs, table_hits, depth, simulations),
            (decision.time.as_secs(), decision.time.subsec_nanos()),
            decision.stopped,
        );
        Ok((slf.get_type().getattr("_of")?, arguments.into_pyobject(slf.py())?))
    }

    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "they are the fields of a decision")]
    fn _of(
        column: i64,
        value: Value,
        columns: Vec<Option<PickledColumn>>,
        shares: Vec<f64>,
        pv: &str,
        stats: (u64, u64, u64, u64, u32, u64),
        time: PickledTime,
        stopped: bool,
    ) -> PyResult<Decision> {
        let known = |(value, name): PickledColumn| {
            let bounds = [BoundKind::Exact, BoundKind::Upper, BoundKind::Lower];
            let bound = bounds.into_iter().find(|bound| bound.name() == name);
            let bound = bound.ok_or_else(|| value_error(format!("unknown bound '{name}'")))?;
            Ok(ColumnValue { value: value.0, bound })
        };
        let (nodes, leaves, cutoffs, table_hits, depth, simulations) = stats;
        let pv = pv.chars().map(|character| Column::try_from(character).map_err(value_error));
        Ok(Decision(SearchDecision {
            column: column_of(column)?,
            value: value.0,
            columns: columns
                .into_iter()
                .map(|column| column.map(known).transpose())
                .collect::<PyResult<_>>()?,
            shares,
            pv: pv.collect::<PyResult<_>>()?,
            stats: SearchStats { nodes, leaves, cutoffs, table_hits, depth, simulations },
            time: Duration::new(time.0, time.1.min(999_999_999)),
            stopped,
        }))
    }
}

/// A built-in player by its agent text, such as 'mcts:sims=1000', 'alphabeta:depth=8' or 'level:3'.
///
/// `claimeven.agents()` lists the players and their parameters. Calling an agent with a position
/// returns the column, so it can be used like a function of your own. One agent may be used by several
/// threads at once.
///
/// >>> from claimeven import Agent
/// >>> decision = Agent('alphabeta:depth=6').decide('4455')
/// >>> decision.column, str(decision.value)
/// (3, 'wins in 2')
#[pyclass(frozen, module = "claimeven")]
pub(crate) struct Agent {
    spec: AgentSpec,
    seed: u64,
    /// The players that are not in use, for the setup of the previous position, each with its table or
    /// tree. Each call takes one or builds one, so that threads do not wait for each other.
    idle: Mutex<Vec<(GameSetup, Box<dyn SearchAgent>)>>,
}

impl Agent {
    fn think(
        &self,
        py: Python<'_>,
        position: &PlainPosition,
        limits: Option<&Limits>,
    ) -> PyResult<SearchDecision> {
        work::run(
            py,
            |cancel| -> Result<SearchDecision, PyErr> {
                let limits = Limits::with_cancel(limits, cancel)?;
                let setup = position.setup();
                let mut player = match self.take(setup) {
                    Some(player) => player,
                    None => self.spec.build(setup, self.seed).map_err(value_error)?,
                };
                let decision = player.decide(position, &limits);
                self.idle().push((setup, player));
                decision.map_err(value_error)
            },
            |_| Ok(()),
        )?
    }

    fn idle(&self) -> MutexGuard<'_, Vec<(GameSetup, Box<dyn SearchAgent>)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An idle player for a setup. Those for other setups are dropped.
    fn take(&self, setup: GameSetup) -> Option<Box<dyn SearchAgent>> {
        let mut idle = self.idle();
        idle.retain(|(own, _)| *own == setup);
        idle.pop().map(|(_, player)| player)
    }
}

#[pymethods]
impl Agent {
    #[new]
    #[pyo3(signature = (text, *, seed=1))]
    fn new(text: &str, #[pyo3(from_py_with = numbers::seed)] seed: u64) -> PyResult<Agent> {
        let spec = text.parse().map_err(value_error)?;
        Ok(Agent { spec, seed, idle: Mutex::default() })
    }

    /// The agent text, with its parameters in order.
    #[getter]
    fn text(&self) -> String {
        self.spec.to_string()
    }

    /// Chooses a move for the side to move.
    #[pyo3(signature = (position, limits=None))]
    fn decide(
        &self,
        py: Python<'_>,
        position: &Bound<'_, PyAny>,
        limits: Option<&Limits>,
    ) -> PyResult<Decision> {
        self.think(py, &position_of(position)?, limits).map(Decision)
    }

    fn __call__(&self, py: Python<'_>, position: &Bound<'_, PyAny>) -> PyResult<u8> {
        Ok(self.think(py, &position_of(position)?, None)?.column.number())
    }

    fn __repr__(&self) -> String {
        format!("Agent('{}')", self.spec)
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((String,), Bound<'py, PyDict>)> {
        let arguments = PyDict::new(py);
        arguments.set_item("seed", self.seed)?;
        Ok(((self.text(),), arguments))
    }
}

/// The first exception of a player written in Python, which ends the match.
pub(crate) type FirstError = Arc<Mutex<Option<PyErr>>>;

/// A player of a match: an agent text, an `Agent`, or a player written in Python.
///
/// A function is called with the position, and with the limits if it has a parameter of that name. A
/// class is instantiated for every game, and the instance's `decide`, or the instance itself, is called.
pub(crate) fn player_of(
    value: &Bound<'_, PyAny>,
    errors: &FirstError,
    openings: &Arc<KnownOpenings>,
    forfeit: bool,
) -> PyResult<AgentSpec> {
    if let Ok(text) = value.cast::<PyString>() {
        return text.to_str()?.parse().map_err(value_error);
    }
    if let Ok(agent) = value.cast::<Agent>() {
        return Ok(agent.get().spec.clone());
    }
    let name = player_name(value)?;
    let is_class = value.is_instance_of::<PyType>();
    if !is_class && !value.hasattr("decide")? && !value.is_callable() {
        return Err(PyTypeError::new_err(format!(
            "a player must be an agent text, an Agent, a function of a position or an object with decide(position), not {}",
            value.get_type()
        )));
    }
    let (errors, openings) = (Arc::clone(errors), Arc::clone(openings));
    let value = value.clone().unbind();
    let build = move |_: GameSetup, _: u64| {
        let player = Python::attach(|py| -> PyResult<(Py<PyAny>, LimitsParameter)> {
            let object = if is_class { value.call0(py)? } else { value.clone_ref(py) };
            let object = object.bind(py);
            let decide =
                if object.hasattr("decide")? { object.getattr("decide")? } else { object.clone() };
            let limits = LimitsParameter::of(&decide)?;
            Ok((decide.unbind(), limits))
        });
        match player {
            Ok((decide, limits)) => {
                let (errors, history) = (Arc::clone(&errors), History::new(Arc::clone(&openings)));
                let agent = PythonAgent { decide, limits, history, errors, forfeit };
                Ok(Box::new(agent) as Box<dyn SearchAgent>)
            }
            Err(error) => Err(failed(&errors, error, false)),
        }
    };
    AgentSpec::custom(&name, build).map_err(value_error)
}

/// The name of a player in records: its `name`, or that of the function or class.
fn player_name(value: &Bound<'_, PyAny>) -> PyResult<String> {
    for attribute in ["name", "__name__"] {
        if let Ok(name) = value.getattr(attribute)
            && let Ok(name) = name.extract::<String>()
        {
            return Ok(name);
        }
    }
    Ok(value.get_type().name()?.to_string())
}

/// A player written in Python.
struct PythonAgent {
    decide: Py<PyAny>,
    limits: LimitsParameter,
    history: History,
    errors: FirstError,
    /// Whether an exception or an illegal move loses the game instead of ending the match.
    forfeit: bool,
}

/// How a player takes the limits of its search.
#[derive(Clone, Copy)]
enum LimitsParameter {
    None,
    Second,
    Keyword,
}

impl LimitsParameter {
    /// Looks for a parameter named `limits`. A second parameter of another name is the player's own.
    fn of(decide: &Bound<'_, PyAny>) -> PyResult<LimitsParameter> {
        let inspect = decide.py().import("inspect")?;
        // Functions of native modules may have no signature.
        let Ok(signature) = inspect.call_method1("signature", (decide,)) else {
            return Ok(LimitsParameter::None);
        };
        let parameter = signature.getattr("parameters")?.call_method1("get", ("limits",))?;
        if parameter.is_none() {
            return Ok(LimitsParameter::None);
        }
        let kind: String = parameter.getattr("kind")?.getattr("name")?.extract()?;
        Ok(match kind.as_str() {
            "POSITIONAL_ONLY" => LimitsParameter::Second,
            "POSITIONAL_OR_KEYWORD" | "KEYWORD_ONLY" => LimitsParameter::Keyword,
            _ => LimitsParameter::None,
        })
    }
}

impl PythonAgent {
    fn call<'py>(
        &mut self,
        py: Python<'py>,
        position: &PlainPosition,
        limits: &SearchLimits,
    ) -> PyResult<Bound<'py, PyAny>> {
        let history = self.history.follow(position);
        let given = history.map_or_else(|| Position::of_discs(*position), Position::of_game);
        let limits = Limits::of_search(limits);
        let decide = self.decide.bind(py);
        match self.limits {
            LimitsParameter::None => decide.call1((given,)),
            LimitsParameter::Second => decide.call1((given, limits)),
            LimitsParameter::Keyword => {
                let arguments = PyDict::new(py);
                arguments.set_item("limits", Bound::new(py, limits)?)?;
                decide.call((given,), Some(&arguments))
            }
        }
    }
}

impl SearchAgent for PythonAgent {
    fn decide(
        &mut self,
        position: &PlainPosition,
        limits: &SearchLimits,
    ) -> Result<SearchDecision, AgentError> {
        let start = Instant::now();
        let choose = |py: Python<'_>| -> PyResult<Column> {
            let chosen = self.call(py, position, limits)?;
            let chosen = if let Ok(decision) = chosen.cast::<Decision>() {
                return Ok(decision.get().0.column);
            } else if is_int(&chosen) || chosen.hasattr("__index__")? {
                numbers::column::<i64>(&chosen)?
            } else {
                let kind = chosen.get_type();
                return Err(PyTypeError::new_err(format!(
                    "a player must return a column, not {kind}"
                )));
            };
            let column = column_of(chosen)?;
            let mut after = *position;
            after.play(column).map_err(|error| {
                value_error(format!("illegal move {chosen}: {error}\n{position}"))
            })?;
            Ok(column)
        };
        let column = work::within(limits.cancel.as_ref(), || Python::attach(choose));
        match column {
            Ok(column) => {
                self.history.play(column);
                Ok(SearchDecision {
                    time: start.elapsed(),
                    ..SearchDecision::new(position, column)
                })
            }
            Err(error) => {
                // Of a match that has been cancelled, the reason is raised.
                let is_cancelled = |cancel: &Arc<AtomicBool>| cancel.load(Ordering::Relaxed);
                if limits.cancel.as_ref().is_some_and(is_cancelled) {
                    return Err(AgentError::Failed { reason: error.to_string() });
                }
                let failure = failed(&self.errors, error, self.forfeit);
                if let Some(cancel) = limits.cancel.as_ref().filter(|_| !self.forfeit) {
                    cancel.store(true, Ordering::Relaxed);
                }
                Err(failure)
            }
        }
    }
}

/// Keeps the first exception, which is raised at the end, unless it only forfeits a game.
fn failed(errors: &FirstError, error: PyErr, forfeit: bool) -> AgentError {
    let reason = error.to_string();
    if !forfeit {
        errors.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
    AgentError::Failed { reason }
}

/// Raises the first exception of a player, if there was one.
pub(crate) fn raise_first(errors: &FirstError) -> PyResult<()> {
    match errors.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// Whether a player has raised an exception.
pub(crate) fn has_failed(errors: &FirstError) -> bool {
    errors.lock().unwrap_or_else(PoisonError::into_inner).is_some()
}

/// The error for work that ended without a result although it was not cancelled.
pub(crate) fn no_result() -> PyErr {
    PyRuntimeError::new_err("the work ended without a result")
}
