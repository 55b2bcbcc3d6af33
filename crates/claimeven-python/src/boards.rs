//! Many positions at a time, as arrays of boards or lists of move texts.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use claimeven_game::{Game, Position as PlainPosition, Setup as GameSetup, mix_key};
use claimeven_search::RandomGames;
use numpy::ndarray::ArrayView3;
use numpy::{
    Element, IntoPyArray, PyArray1, PyArray3, PyArrayDyn, PyArrayMethods, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::position::Position;
use crate::setup::Setup;
use crate::{numbers, value_error, work};

/// Positions from Python, all of the same setup.
pub(crate) struct Boards {
    pub(crate) setup: GameSetup,
    pub(crate) positions: Vec<PlainPosition>,
}

impl Boards {
    /// Reads an array of shape (n, rows, cols), or any iterable of positions and move texts.
    pub(crate) fn of(boards: &Bound<'_, PyAny>, setup: Option<&Setup>) -> PyResult<Boards> {
        if let Ok(array) = boards.cast::<PyUntypedArray>() {
            return Boards::of_array(array, setup.map(|setup| setup.0));
        }
        if boards.is_instance_of::<PyString>() {
            return Err(value_error("boards must be an array or a list, not a single text"));
        }
        let mut setup = setup.map(|setup| setup.0);
        let mut positions = Vec::new();
        for (index, item) in boards.try_iter()?.enumerate() {
            let item = item?;
            let position = match item.cast::<PyString>() {
                Ok(moves) => {
                    let moves = moves.to_str()?;
                    let game = match setup {
                        Some(setup) => Game::parse(setup, moves).map_err(value_error),
                        None => moves.parse().map_err(value_error),
                    };
                    game.map(|game: Game| *game.position())
                }
                Err(_) => match item.cast::<Position>() {
                    Ok(position) => Ok(position.get().position),
                    Err(_) => Err(value_error(format!(
                        "expected a Position or moves as text, not {}",
                        item.get_type()
                    ))),
                },
            };
            let position = position.map_err(|error| {
                value_error(format!("board {index}: {}", error.value(item.py())))
            })?;
            let own = position.setup();
            let expected = *setup.get_or_insert(own);
            if own != expected {
                return Err(value_error(format!(
                    "board {index}: its setup is {own}, not {expected}"
                )));
            }
            positions.push(position);
        }
        Ok(Boards { setup: setup.unwrap_or(GameSetup::STANDARD), positions })
    }

    fn of_array(array: &Bound<'_, PyUntypedArray>, setup: Option<GameSetup>) -> PyResult<Boards> {
        let shape = array.shape();
        let &[_, rows, cols] = shape else {
            return Err(value_error(format!(
                "boards must have shape (n, rows, cols), not {shape:?}"
            )));
        };
        let setup = match setup {
            Some(setup) => setup,
            None => crate::setup::make(cols as i64, rows as i64, 4, "standard")?,
        };
        if (usize::from(setup.rows()), usize::from(setup.cols())) != (rows, cols) {
            return Err(value_error(format!(
                "boards of shape {shape:?} do not match {setup}: expected (n, {}, {})",
                setup.rows(),
                setup.cols()
            )));
        }
        let py = array.py();
        let positions = if let Ok(boards) = array.cast::<PyArray3<u8>>() {
            let boards = boards.try_readonly().map_err(value_error)?;
            let view = boards.as_array();
            py.detach(|| read(setup, view, |value| value))
        } else if let Ok(boards) = array.cast::<PyArray3<i8>>() {
            let boards = boards.try_readonly().map_err(value_error)?;
            let view = boards.as_array();
            py.detach(|| read(setup, view, i8::cast_unsigned))
        } else {
            return Err(wrong_dtype(array));
        };
        Ok(Boards { setup, positions: positions.map_err(value_error)? })
    }
}

fn read<T: Copy + Sync>(
    setup: GameSetup,
    boards: ArrayView3<'_, T>,
    value: impl Fn(T) -> u8,
) -> Result<Vec<PlainPosition>, String> {
    let mut cells = Vec::with_capacity(setup.cells() as usize);
    let mut positions = room_for(boards.len() / setup.cells() as usize, 1)?;
    for (index, board) in boards.outer_iter().enumerate() {
        cells.clear();
        cells.extend(board.iter().map(|&cell| value(cell)));
        let position = PlainPosition::from_kaggle(setup, &cells);
        positions.push(position.map_err(|error| format!("board {index}: {error}"))?);
    }
    Ok(positions)
}

/// The cells of one board in an array of dtype uint8 or int8.
pub(crate) fn cells_of(array: &Bound<'_, PyUntypedArray>) -> PyResult<Vec<u8>> {
    if let Ok(board) = array.cast::<PyArrayDyn<u8>>() {
        let board = board.try_readonly().map_err(value_error)?;
        return Ok(board.as_array().iter().copied().collect());
    }
    if let Ok(board) = array.cast::<PyArrayDyn<i8>>() {
        let board = board.try_readonly().map_err(value_error)?;
        return Ok(board.as_array().iter().map(|cell| cell.cast_unsigned()).collect());
    }
    Err(wrong_dtype(array))
}

fn wrong_dtype(array: &Bound<'_, PyUntypedArray>) -> PyErr {
    let dtype = array.dtype();
    value_error(format!(
        "boards must have dtype uint8 or int8, not {dtype}; use .astype(numpy.uint8)"
    ))
}

/// A flat array that takes ownership of the numbers without copying them.
pub(crate) fn array_of<T: Element>(py: Python<'_>, values: Vec<T>) -> Bound<'_, PyArray1<T>> {
    values.into_pyarray(py)
}

fn boards_array<'py>(
    py: Python<'py>,
    setup: GameSetup,
    positions: &[PlainPosition],
) -> PyResult<Bound<'py, PyArray3<u8>>> {
    let cells = py.detach(|| -> Result<Vec<u8>, String> {
        let mut cells = room_for(positions.len(), setup.cells() as usize)?;
        for position in positions {
            cells.extend(position.to_kaggle());
        }
        Ok(cells)
    });
    shaped(py, setup, cells.map_err(value_error)?)
}

/// The cells of boards as an array of shape (n, rows, cols).
fn shaped(py: Python<'_>, setup: GameSetup, cells: Vec<u8>) -> PyResult<Bound<'_, PyArray3<u8>>> {
    let count = cells.len() / setup.cells() as usize;
    array_of(py, cells).reshape([count, setup.rows().into(), setup.cols().into()])
}

/// The boards of positions or move texts as a uint8 array of shape (n, rows, cols).
#[pyfunction]
#[pyo3(signature = (positions, setup=None))]
pub(crate) fn boards_of<'py>(
    py: Python<'py>,
    positions: &Bound<'py, PyAny>,
    setup: Option<&Setup>,
) -> PyResult<Bound<'py, PyArray3<u8>>> {
    let Boards { setup, positions } = Boards::of(positions, setup)?;
    boards_array(py, setup, &positions)
}

/// Boards after random moves; each has a random number of discs from `low` to `high`.
#[pyfunction]
pub(crate) fn random_boards<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = numbers::boards)] count: usize,
    #[pyo3(from_py_with = numbers::plies)] low: u32,
    #[pyo3(from_py_with = numbers::plies)] high: u32,
    #[pyo3(from_py_with = numbers::seed)] seed: u64,
    setup: &Setup,
) -> PyResult<Bound<'py, PyArray3<u8>>> {
    let setup = setup.0;
    if low > high || high >= setup.cells() {
        return Err(value_error(format!(
            "plies from {low} to {high}: expected a range within 0 to {}",
            setup.cells() - 1
        )));
    }
    let cells = work::run(
        py,
        |cancel| -> Result<Vec<u8>, String> {
            let games = RandomGames::new(setup).with_cancel(cancel.clone());
            let mut cells = room_for(count, setup.cells() as usize)?;
            for index in 0..count as u64 {
                // Every board has its own generator, so that the first boards do not depend on the
                // count.
                let mut random = fastrand::Rng::with_seed(seed ^ mix_key(index));
                let plies = random.u32(low..=high);
                let game = games.sample(plies, &mut random).map_err(|error| error.to_string())?;
                cells.extend(game.position().to_kaggle());
            }
            Ok(cells)
        },
        |_| Ok(()),
    )?;
    shaped(py, setup, cells.map_err(value_error)?)
}

/// Allocates room for `each` values per board. Too many are an error rather than an allocation that
/// would abort the process.
pub(crate) fn room_for<T>(count: usize, each: usize) -> Result<Vec<T>, String> {
    let mut values = Vec::new();
    let total = count.checked_mul(each).filter(|total| has_memory(*total, size_of::<T>()));
    match total.map(|total| values.try_reserve_exact(total)) {
        Some(Ok(())) => Ok(values),
        _ => Err(format!("{count} boards are too many for the memory of this machine")),
    }
}

/// Whether there is memory for this many values, as far as is known. Linux overcommits memory and
/// would kill the process when it is used.
fn has_memory(count: usize, size: usize) -> bool {
    const ALWAYS_ALLOWED: usize = 1 << 30;
    let Some(bytes) = count.checked_mul(size) else { return false };
    if bytes <= ALWAYS_ALLOWED {
        return true;
    }
    let Ok(content) = std::fs::read_to_string("/proc/meminfo") else { return true };
    let line = content.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kilobytes =
        line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok());
    kilobytes.is_none_or(|kilobytes| bytes / 1024 < kilobytes)
}

/// All distinct boards with this many discs on which the game is not over.
#[pyfunction]
#[pyo3(signature = (plies, mirrored, setup))]
pub(crate) fn all_boards<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = numbers::plies)] plies: u32,
    mirrored: bool,
    setup: &Setup,
) -> PyResult<Bound<'py, PyArray3<u8>>> {
    let setup = setup.0;
    let positions =
        work::run(py, |cancel| all_positions(setup, plies, mirrored, cancel), |_| Ok(()))?;
    boards_array(py, setup, &positions.map_err(value_error)?)
}

fn all_positions(
    setup: GameSetup,
    plies: u32,
    mirrored: bool,
    cancel: &AtomicBool,
) -> Result<Vec<PlainPosition>, String> {
    /// A position, its key in a half-full set, and its cells.
    const BYTES_EACH: usize = 256;
    let mut positions = vec![PlainPosition::new(setup)];
    let mut growth = usize::from(setup.cols());
    for ply in 1..=plies {
        // The number of positions grows more slowly from ply to ply.
        if !has_memory(positions.len().saturating_mul(growth), BYTES_EACH) {
            return Err(format!(
                "ply {ply} has about {} boards, too many for the memory of this machine",
                positions.len().saturating_mul(growth)
            ));
        }
        let mut seen = HashSet::new();
        let mut next = Vec::new();
        for position in &positions {
            if cancel.load(Ordering::Relaxed) {
                return Ok(Vec::new());
            }
            for column in position.legal() {
                let mut child = *position;
                child.play(column).expect("the move is legal");
                let key = if mirrored { child.key() } else { child.canonical_key() };
                if child.outcome().is_none() && seen.insert(key) {
                    next.push(child);
                }
            }
        }
        growth = next.len().div_ceil(positions.len().max(1));
        positions = next;
    }
    Ok(positions)
}

/// Calls `work(worker, index)` for every index on several threads and collects the results, `width`
/// numbers each, in order. `None` if it was cancelled.
pub(crate) fn in_parallel<W: Send>(
    count: usize,
    width: usize,
    workers: &mut [W],
    done: &AtomicUsize,
    cancel: &AtomicBool,
    work: impl Fn(&mut W, usize, &mut Vec<i8>) + Sync,
) -> Option<Vec<i8>> {
    const CHUNK: usize = 16;
    let next = AtomicUsize::new(0);
    let (next, work) = (&next, &work);
    let run = move |worker: &mut W| {
        let mut chunks = Vec::new();
        loop {
            let start = next.fetch_add(CHUNK, Ordering::Relaxed);
            if start >= count || cancel.load(Ordering::Relaxed) {
                return chunks;
            }
            let end = count.min(start + CHUNK);
            let mut values = Vec::with_capacity(CHUNK * width);
            for index in start..end {
                work(worker, index, &mut values);
            }
            done.fetch_add(end - start, Ordering::Relaxed);
            chunks.push((start, values));
        }
    };
    let mut values = vec![0; count * width];
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            workers.iter_mut().map(|worker| scope.spawn(move || run(worker))).collect();
        for thread in threads {
            let chunks = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            for (start, chunk) in chunks {
                values[start * width..start * width + chunk.len()].copy_from_slice(&chunk);
            }
        }
    });
    (!cancel.load(Ordering::Relaxed)).then_some(values)
}
