//! An immutable position.

use claimeven_game::{Cell, Column, Game as PlainGame, Outcome, Player, Position as PlainPosition};
use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyString, PyTuple, PyType};

use crate::boards::{array_of, cells_of};
use crate::setup::{Setup, make, or_standard};
use crate::{numbers, value_error};

/// A position: the discs on a board and the side to move. It is immutable; `play` returns a new
/// one.
///
/// Columns count from 1. Positions are equal if their setups and discs are equal, regardless of the
/// order of the moves.
///
/// >>> from claimeven import Position
/// >>> position = Position('4453')
/// >>> print(position.play(3))
/// | .  .  .  .  .  .  . |
/// | .  .  .  .  .  .  . |
/// | .  .  .  .  .  .  . |
/// | .  .  .  .  .  .  . |
/// | .  .  X  O  .  .  . |
/// | .  .  O  X  X  .  . |
/// +---------------------+
///   1  2  3  4  5  6  7
/// >>> position.legal_moves
/// [1, 2, 3, 4, 5, 6, 7]
#[pyclass(frozen, module = "claimeven")]
pub(crate) struct Position {
    pub(crate) position: PlainPosition,
    past: Past,
}

/// The history of a position.
enum Past {
    /// It was read from discs.
    Unknown,
    /// It was reached by these moves from the empty board.
    Moves(Box<[Column]>),
    /// It was reached by one move per disc, on a board small enough to pack the moves into one
    /// number.
    Packed(PackedMoves),
    /// It was reached by one move from another position. Keeping that object costs less than
    /// copying its moves.
    After(Py<Position>, Column),
}

/// The moves of a game on a board of at most eight columns and 42 cells, such as the standard one:
/// three bits each, the last move in the lowest bits.
#[derive(Clone, Copy)]
struct PackedMoves(u128);

impl PackedMoves {
    fn fit(setup: claimeven_game::Setup) -> bool {
        setup.cols() <= 8 && setup.cells() <= 42
    }

    fn then(self, column: Column) -> PackedMoves {
        PackedMoves(self.0 << 3 | column.index() as u128)
    }

    /// The `ply` moves in order.
    fn unpack(self, ply: u32) -> impl Iterator<Item = Column> {
        let column = move |ago| Column::from_index((self.0 >> (3 * ago) & 7) as usize);
        (0..ply).rev().map(move |ago| column(ago).expect("a column below 8"))
    }
}

impl Past {
    /// The history of a position that was reached by these moves from the empty board.
    fn of_moves(setup: claimeven_game::Setup, moves: &[Column]) -> Past {
        if !PackedMoves::fit(setup) {
            return Past::Moves(moves.into());
        }
        let packed = moves.iter().fold(PackedMoves(0), |packed, &column| packed.then(column));
        Past::Packed(packed)
    }
}

impl Position {
    /// A position that was read from discs.
    pub(crate) fn of_discs(position: PlainPosition) -> Position {
        Position { position, past: Past::Unknown }
    }

    pub(crate) fn of_game(game: &PlainGame) -> Position {
        let position = *game.position();
        Position { position, past: Past::of_moves(position.setup(), game.moves()) }
    }

    /// The position after a legal move on a board whose moves are packed.
    #[inline]
    pub(crate) fn after(&self, column: Column) -> Option<Position> {
        let Past::Packed(moves) = self.past else { return None };
        let mut position = self.position;
        position.play(column).ok()?;
        Some(Position { position, past: Past::Packed(moves.then(column)) })
    }

    /// The moves that led here, if they are known.
    fn past_moves(&self, py: Python<'_>) -> Option<Vec<Column>> {
        let mut later = Vec::new();
        let mut past = &self.past;
        loop {
            match past {
                Past::Unknown => return None,
                Past::Packed(moves) => return Some(moves.unpack(self.position.ply()).collect()),
                Past::Moves(moves) => {
                    later.reverse();
                    return Some([&moves[..], &later].concat());
                }
                Past::After(before, column) => {
                    later.push(*column);
                    past = &before.bind(py).get().past;
                }
            }
        }
    }

    /// The game that led to the position, if its moves are known.
    pub(crate) fn game(&self, py: Python<'_>) -> Option<PlainGame> {
        let mut game = PlainGame::new(self.position.setup());
        for column in self.past_moves(py)? {
            game.play(column).expect("the moves have been played before");
        }
        Some(game)
    }
}

#[pymethods]
impl Position {
    #[new]
    #[pyo3(signature = (moves="", setup=None))]
    fn new(moves: &str, setup: Option<&Setup>) -> PyResult<Position> {
        Position::from_moves(moves, setup)
    }

    /// The position after moves such as '4453', from the empty board.
    #[staticmethod]
    #[pyo3(signature = (moves, setup=None))]
    fn from_moves(moves: &str, setup: Option<&Setup>) -> PyResult<Position> {
        let game = match setup {
            setup if moves.is_empty() => PlainGame::new(or_standard(setup)),
            None if moves.contains(':') => moves.parse().map_err(value_error)?,
            setup => PlainGame::parse(or_standard(setup), moves).map_err(value_error)?,
        };
        Ok(Position::of_game(&game))
    }

    /// The position on a board of 0 (empty), 1 (first player) and 2, the top row first.
    ///
    /// The array has shape (rows, cols) and dtype uint8 or int8.
    ///
    /// >>> import numpy
    /// >>> from claimeven import Position
    /// >>> board = numpy.zeros((6, 7), numpy.uint8)
    /// >>> board[5, 3] = 1
    /// >>> Position.from_array(board) == Position('4')
    /// True
    #[staticmethod]
    #[pyo3(signature = (board, *, connect=4, ruleset="standard"))]
    fn from_array(
        board: &Bound<'_, PyUntypedArray>,
        #[pyo3(from_py_with = numbers::connect)] connect: i64,
        ruleset: &str,
    ) -> PyResult<Position> {
        let shape = board.shape();
        let &[rows, cols] = shape else {
            return Err(value_error(format!(
                "a board must have shape (rows, cols), not {shape:?}"
            )));
        };
        let setup = make(cols as i64, rows as i64, connect, ruleset)?;
        let cells = cells_of(board)?;
        PlainPosition::from_kaggle(setup, &cells).map(Position::of_discs).map_err(value_error)
    }

    /// The position of the board in a Kaggle ConnectX observation: a flat list, the top row first.
    #[staticmethod]
    #[pyo3(signature = (board, setup=None))]
    fn from_kaggle(board: Vec<Bound<'_, PyAny>>, setup: Option<&Setup>) -> PyResult<Position> {
        let cell = |(index, value): (usize, &Bound<'_, PyAny>)| match value.extract::<u8>() {
            Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => {
                let value = numbers::text_of(value);
                Err(value_error(format!("value {value} at index {index} is not 0, 1 or 2")))
            }
            cell => cell,
        };
        let board = board.iter().enumerate().map(cell).collect::<PyResult<Vec<u8>>>()?;
        let position = PlainPosition::from_kaggle(or_standard(setup), &board);
        position.map(Position::of_discs).map_err(value_error)
    }

    /// The position of the text of an OpenSpiel `connect_four` state.
    #[staticmethod]
    #[pyo3(signature = (state, setup=None))]
    fn from_openspiel(state: &str, setup: Option<&Setup>) -> PyResult<Position> {
        let position = PlainPosition::from_openspiel(or_standard(setup), state);
        position.map(Position::of_discs).map_err(value_error)
    }

    /// The position in a picture: lines of '.', 'X' and 'O', the top row first.
    ///
    /// >>> from claimeven import Position, Setup
    /// >>> Position.from_picture('....\n.O..\n.XX.', Setup(4, 3, 3)).ply
    /// 3
    #[staticmethod]
    #[pyo3(signature = (picture, setup=None))]
    fn from_picture(picture: &str, setup: Option<&Setup>) -> PyResult<Position> {
        let position = PlainPosition::from_picture(or_standard(setup), picture);
        position.map(Position::of_discs).map_err(value_error)
    }

    /// The setup of the game.
    #[getter]
    fn setup(&self) -> Setup {
        Setup(self.position.setup())
    }

    /// The number of discs on the board.
    #[getter]
    fn ply(&self) -> u32 {
        self.position.ply()
    }

    /// The side to move, 1 or 2; after the end of the game, the player who would be next.
    #[getter]
    fn player(&self) -> u8 {
        number(self.position.player())
    }

    /// The columns in which the side to move may play, from 1; none once the game is over.
    #[getter]
    fn legal_moves<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        legal_list(py, &self.position)
    }

    /// Whether the game is over.
    #[getter]
    fn is_over(&self) -> bool {
        self.position.outcome().is_some()
    }

    /// The winner, 1 or 2; None before the end and after a draw.
    #[getter]
    fn winner(&self) -> Option<u8> {
        self.position.outcome().and_then(Outcome::winner).map(number)
    }

    /// Whether the game is over without a winner.
    #[getter]
    fn is_draw(&self) -> bool {
        self.position.outcome() == Some(Outcome::Draw)
    }

    /// The number of lines of each player: the points of the ruleset 'lines'.
    #[getter]
    fn lines(&self) -> (u32, u32) {
        let [first, second] = self.position.scores();
        (first, second)
    }

    /// The moves that led here, such as '4453'; None for a position that was read from discs.
    #[getter]
    fn moves(&self, py: Python<'_>) -> Option<String> {
        let moves = self.past_moves(py)?;
        Some(moves.into_iter().map(Column::to_char).collect())
    }

    /// A number that is unique among the positions of a setup.
    #[getter]
    fn key(&self) -> u128 {
        self.position.key()
    }

    /// The position after a disc in a column, counted from 1, or after several moves such as '453'.
    ///
    /// >>> from claimeven import Position
    /// >>> Position().play(4).play('45').moves
    /// '445'
    pub(crate) fn play(slf: Bound<'_, Self>, column: &Bound<'_, PyAny>) -> PyResult<Position> {
        let this = slf.get();
        if let Some(column) = column_argument(column)? {
            let mut position = this.position;
            position.play(column).map_err(value_error)?;
            let past = match &this.past {
                Past::Packed(moves) => Past::Packed(moves.then(column)),
                _ => Past::After(slf.unbind(), column),
            };
            return Ok(Position { position, past });
        }
        let Ok(text) = column.cast::<PyString>() else {
            let kind = column.get_type();
            return Err(PyTypeError::new_err(format!("a column is a number from 1, not {kind}")));
        };
        let mut position = this.position;
        let mut moves = this.past_moves(slf.py());
        for (index, character) in text.to_str()?.chars().enumerate() {
            let move_error =
                |error: &dyn std::fmt::Display| value_error(format!("move {}: {error}", index + 1));
            let column = Column::try_from(character).map_err(|error| move_error(&error))?;
            position.play(column).map_err(|error| move_error(&error))?;
            if let Some(moves) = &mut moves {
                moves.push(column);
            }
        }
        let past = moves.map_or(Past::Unknown, |moves| Past::of_moves(position.setup(), &moves));
        Ok(Position { position, past })
    }

    /// Whether a column, counted from 1, is a legal move.
    fn is_legal(&self, column: &Bound<'_, PyAny>) -> PyResult<bool> {
        let column = match column.extract::<i64>() {
            Err(error) if error.is_instance_of::<PyOverflowError>(column.py()) => None,
            number => column_of(number?).ok(),
        };
        Ok(column.is_some_and(|column| {
            !self.position.is_full(column) && self.position.outcome().is_none()
        }))
    }

    /// The position with left and right exchanged.
    fn mirror(&self, py: Python<'_>) -> Position {
        let mirrored = |column: Column| {
            let index = usize::from(self.position.setup().cols()) - 1 - column.index();
            Column::from_index(index).expect("the board has it")
        };
        let moves = self.past_moves(py);
        let past = moves.map_or(Past::Unknown, |moves| {
            let moves: Vec<Column> = moves.into_iter().map(mirrored).collect();
            Past::of_moves(self.position.setup(), &moves)
        });
        Position { position: self.position.mirror(), past }
    }

    /// The board as a uint8 array of shape (rows, cols): 0, 1, 2, the top row first.
    fn to_array<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u8>>> {
        let setup = self.position.setup();
        let cells = array_of(py, self.position.to_kaggle());
        cells.reshape([usize::from(setup.rows()), usize::from(setup.cols())])
    }

    /// The discs of a player, 1 or 2, and of the opponent as an int8 array of shape (rows, cols,
    /// 2), the top row first: the observation of the environments. Without a player, those of the
    /// side to move come first.
    #[pyo3(signature = (player=None))]
    fn planes<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = numbers::player)] player: Option<i64>,
    ) -> PyResult<Bound<'py, PyArray3<i8>>> {
        let setup = self.position.setup();
        let first = player.map_or(Ok(self.position.player()), player_of)?;
        let planes = |cell: Cell| match self.position.disc(cell) {
            None => [0, 0],
            Some(owner) if owner == first => [1, 0],
            Some(_) => [0, 1],
        };
        let planes: Vec<i8> = Cell::in_reading_order(setup).flat_map(planes).collect();
        array_of(py, planes).reshape([usize::from(setup.rows()), setup.cols().into(), 2])
    }

    /// The legal columns as an int8 array of 0 and 1; all 0 for a player who is not to move.
    #[pyo3(signature = (is_to_move=true))]
    fn action_mask<'py>(&self, py: Python<'py>, is_to_move: bool) -> Bound<'py, PyArray1<i8>> {
        let mut mask = vec![0; self.position.setup().cols().into()];
        if is_to_move {
            for column in self.position.legal() {
                mask[column.index()] = 1;
            }
        }
        array_of(py, mask)
    }

    /// The board as an image: a uint8 array of shape (height, width, 3) with `cell` pixels for each cell.
    #[pyo3(signature = (cell=48))]
    fn to_image<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = numbers::cell)] cell: usize,
    ) -> PyResult<Bound<'py, PyArray3<u8>>> {
        let setup = self.position.setup();
        if !(4..=256).contains(&cell) {
            return Err(value_error(format!("cell {cell}: expected 4 to 256 pixels")));
        }
        let (width, height) = (cell * usize::from(setup.cols()), cell * usize::from(setup.rows()));
        let mut pixels = Vec::with_capacity(3 * width * height);
        for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
            // Twice the distance from the middle of the cell, so that all numbers are whole.
            let [across, down] = [x, y].map(|at| (2 * (at % cell) + 1).abs_diff(cell));
            let is_disc = 25 * (across * across + down * down) < 16 * cell * cell;
            let column = Column::from_index(x / cell).expect("the board has it");
            let place = Cell { column, row: setup.rows() - 1 - (y / cell) as u8 };
            pixels.extend(match (is_disc, self.position.disc(place)) {
                (false, _) => [0x24, 0x56, 0xa6],
                (true, None) => [0xf6, 0xf8, 0xfb],
                (true, Some(Player::First)) => [0xd8, 0x34, 0x3c],
                (true, Some(Player::Second)) => [0xf5, 0xc5, 0x18],
            });
        }
        array_of(py, pixels).reshape([height, width, 3])
    }

    /// The board in the format of Kaggle ConnectX: a flat list of 0, 1 and 2, the top row first.
    fn to_kaggle(&self) -> Vec<u16> {
        self.position.to_kaggle().into_iter().map(u16::from).collect()
    }

    /// The text of the OpenSpiel `connect_four` state.
    fn to_openspiel(&self) -> String {
        self.position.to_openspiel()
    }

    /// The discs of the winning row as (column, row), both counted from 1, row 1 at the bottom.
    fn winning_cells(&self) -> Vec<(u8, u8)> {
        self.position.winning_cells().into_iter().map(pair).collect()
    }

    /// The empty cells that complete a row of a player, 1 or 2, as (column, row) counted from 1.
    fn threats(
        &self,
        #[pyo3(from_py_with = numbers::player)] player: i64,
    ) -> PyResult<Vec<(u8, u8)>> {
        Ok(self.position.threats(player_of(player)?).into_iter().map(pair).collect())
    }

    /// The board as an SVG document, which notebooks display.
    fn _repr_svg_(&self) -> String {
        claimeven_arena::svg::board(&self.position)
    }

    fn __str__(&self) -> String {
        let setup = self.position.setup();
        let won = self.position.winning_cells();
        let mut text = String::new();
        for cell in Cell::in_reading_order(setup) {
            let (left, right) = if won.contains(&cell) { ('[', ']') } else { (' ', ' ') };
            let disc = self.position.disc(cell).map_or('.', Player::disc);
            let start = if cell.column.index() == 0 { "|" } else { "" };
            let end = if cell.column.number() == setup.cols() { "|\n" } else { "" };
            text.extend([start, &format!("{left}{disc}{right}"), end]);
        }
        let names: Vec<String> = Column::all(setup).map(|column| column.to_string()).collect();
        text + &format!("+{}+\n  {}", "---".repeat(setup.cols().into()), names.join("  "))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let setup = self.position.setup();
        let is_standard = setup == claimeven_game::Setup::STANDARD;
        match self.moves(py) {
            Some(moves) if is_standard => format!("Position('{moves}')"),
            Some(moves) => format!("Position('{moves}', Setup.parse('{setup}'))"),
            None => {
                let picture = self.position.to_string().replace('\n', "\\n");
                format!("Position.from_picture('{picture}', Setup.parse('{setup}'))")
            }
        }
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Position>().is_ok_and(|other| other.get().position == self.position)
    }

    fn __hash__(&self) -> u64 {
        let key = self.position.key();
        claimeven_game::mix_key(key as u64 ^ claimeven_game::mix_key((key >> 64) as u64))
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (this, py) = (slf.get(), slf.py());
        let class: Bound<'py, PyType> = slf.get_type();
        let setup = this.setup().into_pyobject(py)?;
        if let Some(moves) = this.moves(py) {
            return Ok((class.into_any(), (moves, setup).into_pyobject(py)?));
        }
        let arguments = (this.position.to_string(), setup).into_pyobject(py)?;
        Ok((class.getattr("from_picture")?, arguments))
    }
}

/// The legal columns, counted from 1, as a list.
pub(crate) fn legal_list<'py>(
    py: Python<'py>,
    position: &PlainPosition,
) -> PyResult<Bound<'py, PyList>> {
    let mut numbers = [0_u16; claimeven_game::Setup::MAX_SIDE as usize];
    let mut count = 0;
    for column in position.legal() {
        numbers[count] = column.number().into();
        count += 1;
    }
    PyList::new(py, &numbers[..count])
}

/// The column of an int or an object that converts to one; `None` for other objects.
pub(crate) fn column_argument(column: &Bound<'_, PyAny>) -> PyResult<Option<Column>> {
    match column.extract::<i64>() {
        Ok(number) => column_of(number).map(Some),
        Err(error) if error.is_instance_of::<PyOverflowError>(column.py()) => {
            let column = numbers::text_of(column);
            Err(value_error(format!("no column {column}: columns count from 1")))
        }
        Err(_) => Ok(None),
    }
}

/// The column with a number from 1.
pub(crate) fn column_of(number: i64) -> PyResult<Column> {
    let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    let column = index.and_then(Column::from_index);
    column.ok_or_else(|| value_error(format!("no column {number}: columns count from 1")))
}

fn player_of(number: i64) -> PyResult<Player> {
    match number {
        1 => Ok(Player::First),
        2 => Ok(Player::Second),
        _ => Err(value_error(format!("a player is 1 or 2, not {number}"))),
    }
}

fn number(player: Player) -> u8 {
    player.index() as u8 + 1
}

fn pair(cell: Cell) -> (u8, u8) {
    (cell.column.number(), cell.row + 1)
}

/// The position of an argument: a `Position`, or moves as text.
pub(crate) fn position_of(value: &Bound<'_, PyAny>) -> PyResult<PlainPosition> {
    match value.cast::<Position>() {
        Ok(position) => Ok(position.get().position),
        Err(_) => game_of_text(value).map(|game| *game.position()),
    }
}

/// The game of an argument: a `Position` with known moves, or moves as text.
pub(crate) fn game_of(value: &Bound<'_, PyAny>) -> PyResult<PlainGame> {
    let Ok(position) = value.cast::<Position>() else { return game_of_text(value) };
    let game = position.get().game(value.py());
    game.ok_or_else(|| value_error("the moves that led to this position are not known"))
}

fn game_of_text(value: &Bound<'_, PyAny>) -> PyResult<PlainGame> {
    if let Ok(moves) = value.cast::<PyString>() {
        return moves.to_str()?.parse().map_err(value_error);
    }
    let kind = value.get_type();
    Err(PyTypeError::new_err(format!("expected a Position or moves as text, not {kind}")))
}

/// Whether a value is an int and not, say, a text.
pub(crate) fn is_int(value: &Bound<'_, PyAny>) -> bool {
    value.cast::<PyInt>().is_ok()
}
