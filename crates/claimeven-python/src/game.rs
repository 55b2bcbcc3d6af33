//! A game and its record.

use claimeven_arena::{GameRecord, PlayerRecord, ResultRecord, pgn};
use claimeven_game::{Column, Game as PlainGame};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::attached::Attached;
use crate::position::{Position, column_argument, legal_list};
use crate::setup::{Setup, or_standard};
use crate::value_error;

/// A game: a setup and moves, with the players and the result if it comes from a match or a record.
///
/// >>> from claimeven import Game
/// >>> game = Game('4453')
/// >>> game.play(3)
/// >>> game.moves
/// '44533'
/// >>> print(game.to_pgn().splitlines()[-1])
/// 1. 4 4 2. 5 3 3. 3 *
#[pyclass(frozen, module = "claimeven")]
pub(crate) struct Game(Attached<Recorded>);

/// A game with the record it was read from, until it is changed.
#[derive(Clone)]
struct Recorded {
    game: PlainGame,
    record: Option<GameRecord>,
}

impl Game {
    pub(crate) fn of_record(record: GameRecord) -> PyResult<Game> {
        let game = record.replay().map_err(value_error)?;
        Ok(Game(Attached::new(Recorded { game, record: Some(record) })))
    }

    pub(crate) fn game(&self, py: Python<'_>) -> PlainGame {
        self.0.borrow(py).game.clone()
    }

    /// Plays a move and returns whether it was legal.
    #[inline]
    pub(crate) fn try_play(&self, py: Python<'_>, column: Column) -> bool {
        let mut this = self.0.borrow_mut(py);
        let is_legal = this.game.play(column).is_ok();
        if is_legal && this.record.is_some() {
            this.record = None;
        }
        is_legal
    }
}

impl Recorded {
    /// The record of the game; without players, it is a game between two people.
    fn record(&self) -> GameRecord {
        if let Some(record) = &self.record {
            return record.clone();
        }
        let human = || PlayerRecord { agent: "human".to_owned(), name: "human".to_owned() };
        let result = ResultRecord::of_game(&self.game, 0)
            .unwrap_or_else(|| ResultRecord::unfinished(&self.game, 0));
        GameRecord {
            version: GameRecord::VERSION,
            id: "1".to_owned(),
            time: jiff::Timestamp::now().to_string(),
            setup: self.game.position().setup(),
            players: [human(), human()],
            first_player: 0,
            seed: 0,
            time_control: None,
            opening_moves: 0,
            moves: self.game.moves().iter().map(|&column| given(column)).collect(),
            result,
        }
    }
}

fn given(column: Column) -> claimeven_arena::MoveRecord {
    claimeven_arena::MoveRecord::given(column)
}

#[pymethods]
impl Game {
    #[new]
    #[pyo3(signature = (moves="", setup=None))]
    fn new(moves: &str, setup: Option<&Setup>) -> PyResult<Game> {
        let game: PlainGame = match setup {
            setup if moves.is_empty() => PlainGame::new(or_standard(setup)),
            None if moves.contains(':') => moves.parse().map_err(value_error)?,
            setup => PlainGame::parse(or_standard(setup), moves).map_err(value_error)?,
        };
        Ok(Game(Attached::new(Recorded { game, record: None })))
    }

    /// Reads a game record, which is replayed by the rules.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Game> {
        Game::of_record(serde_json::from_str(text).map_err(value_error)?)
    }

    /// The setup.
    #[getter]
    fn setup(&self, py: Python<'_>) -> Setup {
        Setup(self.0.borrow(py).game.position().setup())
    }

    /// The moves, such as '4453'.
    #[getter]
    fn moves(&self, py: Python<'_>) -> String {
        self.0.borrow(py).game.move_text()
    }

    /// The side to move, 1 or 2; after the end of the game, the player who would be next.
    #[getter]
    fn player(&self, py: Python<'_>) -> u8 {
        self.0.borrow(py).game.position().player().index() as u8 + 1
    }

    /// The columns in which the side to move may play, from 1; none once the game is over.
    #[getter]
    fn legal_moves<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        legal_list(py, self.0.borrow(py).game.position())
    }

    /// Whether the game is over.
    #[getter]
    fn is_over(&self, py: Python<'_>) -> bool {
        self.0.borrow(py).game.position().outcome().is_some()
    }

    /// The position after the last move.
    #[getter]
    fn position(&self, py: Python<'_>) -> Position {
        Position::of_game(&self.0.borrow(py).game)
    }

    /// The positions from the empty board to the last move.
    #[getter]
    fn positions(&self, py: Python<'_>) -> Vec<Position> {
        let mut game = PlainGame::new(self.0.borrow(py).game.position().setup());
        let mut positions = vec![Position::of_game(&game)];
        for &column in self.0.borrow(py).game.moves() {
            game.play(column).expect("the moves have been played before");
            positions.push(Position::of_game(&game));
        }
        positions
    }

    /// The names of both players; the first of them is not always the one who moved first.
    #[getter]
    fn players(&self, py: Python<'_>) -> (String, String) {
        let [first, second] = self.0.borrow(py).record().players.map(|player| player.name);
        (first, second)
    }

    /// Which of the players moved first: 0 or 1.
    #[getter]
    fn first_player(&self, py: Python<'_>) -> usize {
        self.0.borrow(py).record.as_ref().map_or(0, |record| record.first_player)
    }

    /// Which of the players won, 0 or 1; None for a draw and for a game that is not over.
    #[getter]
    fn winner(&self, py: Python<'_>) -> Option<usize> {
        self.0.borrow(py).record().result.winner
    }

    /// Why the game ended: 'line', 'board-full', 'forfeit', 'time', 'unfinished' and so on.
    #[getter]
    fn reason(&self, py: Python<'_>) -> &'static str {
        self.0.borrow(py).record().result.reason.name()
    }

    /// Plays a move for the side to move, in a column counted from 1.
    pub(crate) fn play(&self, column: &Bound<'_, PyAny>) -> PyResult<()> {
        let Some(number) = column_argument(column)? else {
            let kind = column.get_type();
            return Err(PyTypeError::new_err(format!("a column is a number from 1, not {kind}")));
        };
        let mut this = self.0.borrow_mut(column.py());
        this.game.play(number).map_err(value_error)?;
        this.record = None;
        Ok(())
    }

    /// Takes the last move back and returns its column; None at the start of the game.
    fn undo(&self, py: Python<'_>) -> Option<u8> {
        let mut this = self.0.borrow_mut(py);
        let column = this.game.undo()?;
        this.record = None;
        Some(column.number())
    }

    /// The game record as JSON, which all parts of Claimeven can read.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        serde_json::to_string(&self.0.borrow(py).record()).map_err(value_error)
    }

    /// The game as text like the PGN of chess.
    fn to_pgn(&self, py: Python<'_>) -> PyResult<String> {
        pgn(&self.0.borrow(py).record()).map_err(value_error)
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.0.borrow(py).game.moves().len()
    }

    fn __str__(&self, py: Python<'_>) -> String {
        self.0.borrow(py).game.to_string()
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("Game('{}')", self.0.borrow(py).game)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let py = other.py();
        let this = self.0.borrow(py);
        other.cast::<Game>().is_ok_and(|other| other.get().0.borrow(py).game == this.game)
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyString>,))> {
        let text = slf.get().to_json(slf.py())?;
        Ok((slf.get_type().getattr("from_json")?, (PyString::new(slf.py(), &text),)))
    }
}
