//! A game and its record.

use claimeven_arena::{GameRecord, PlayerRecord, ResultRecord, pgn};
use claimeven_game::{Column, Game as PlainGame};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::position::{Position, column_of};
use crate::setup::{Setup, or_standard};
use crate::value_error;

/// A game: a setup and moves, with the players and the result if it was played by players.
///
/// >>> from claimeven import Game
/// >>> game = Game('4453')
/// >>> game.play(3)
/// >>> game.moves
/// '44533'
/// >>> print(game.to_pgn().splitlines()[-1])
/// 1. 4 4 2. 5 3 3. 3 *
#[pyclass(module = "claimeven")]
#[derive(Clone)]
pub(crate) struct Game {
    pub(crate) game: PlainGame,
    record: Option<GameRecord>,
}

impl Game {
    pub(crate) fn of_record(record: GameRecord) -> PyResult<Game> {
        let game = record.replay().map_err(value_error)?;
        Ok(Game { game, record: Some(record) })
    }

    /// The record of the game; one without players is that of two people.
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
        let game = match setup {
            None if moves.contains(':') => moves.parse().map_err(value_error)?,
            setup => PlainGame::parse(or_standard(setup), moves).map_err(value_error)?,
        };
        Ok(Game { game, record: None })
    }

    /// Reads a game record, which is replayed by the rules.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Game> {
        Game::of_record(serde_json::from_str(text).map_err(value_error)?)
    }

    /// The setup.
    #[getter]
    fn setup(&self) -> Setup {
        Setup(self.game.position().setup())
    }

    /// The moves, such as '4453'.
    #[getter]
    fn moves(&self) -> String {
        self.game.move_text()
    }

    /// The position after the last move.
    #[getter]
    fn position(&self) -> Position {
        Position::of_game(&self.game)
    }

    /// The positions from the empty board to the last move.
    #[getter]
    fn positions(&self) -> Vec<Position> {
        let mut game = PlainGame::new(self.game.position().setup());
        let mut positions = vec![Position::of_game(&game)];
        for &column in self.game.moves() {
            game.play(column).expect("the moves have been played before");
            positions.push(Position::of_game(&game));
        }
        positions
    }

    /// The names of both players; the first of them is not always the one who moved first.
    #[getter]
    fn players(&self) -> (String, String) {
        let [first, second] = self.record().players.map(|player| player.name);
        (first, second)
    }

    /// Which of the players moved first: 0 or 1.
    #[getter]
    fn first_player(&self) -> usize {
        self.record.as_ref().map_or(0, |record| record.first_player)
    }

    /// Which of the players won, 0 or 1; None for a draw and for a game that is not over.
    #[getter]
    fn winner(&self) -> Option<usize> {
        self.record().result.winner
    }

    /// Why the game ended: 'line', 'board-full', 'forfeit', 'time', 'unfinished' and so on.
    #[getter]
    fn reason(&self) -> &'static str {
        self.record().result.reason.name()
    }

    /// Plays a move of the side to move, in a column counted from 1.
    fn play(&mut self, column: i64) -> PyResult<()> {
        self.game.play(column_of(column)?).map_err(value_error)?;
        self.record = None;
        Ok(())
    }

    /// Takes the last move back and returns its column; None at the start of the game.
    fn undo(&mut self) -> Option<u8> {
        let column = self.game.undo()?;
        self.record = None;
        Some(column.number())
    }

    /// The game record as JSON, which every part of Claimeven reads.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.record()).map_err(value_error)
    }

    /// The game in a text like the PGN of chess.
    fn to_pgn(&self) -> PyResult<String> {
        pgn(&self.record()).map_err(value_error)
    }

    fn __len__(&self) -> usize {
        self.game.moves().len()
    }

    fn __str__(&self) -> String {
        self.game.to_string()
    }

    fn __repr__(&self) -> String {
        format!("Game('{}')", self.game)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Game>().is_ok_and(|other| other.borrow().game == self.game)
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyString>,))> {
        let text = slf.borrow().to_json()?;
        Ok((slf.get_type().getattr("from_json")?, (PyString::new(slf.py(), &text),)))
    }
}
