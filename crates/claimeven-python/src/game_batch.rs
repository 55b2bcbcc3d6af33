//! Many games at once, for environments.

use std::sync::Mutex;

use claimeven_arena::AgentSpec;
use claimeven_game::{
    Bits, Board, Column, Player, Position as PlainPosition, Rules, Setup as GameSetup, mix_key,
    with_board,
};
use claimeven_search::{Agent, Limits};
use numpy::{PyArray1, PyReadonlyArray1, PyReadwriteArray1, PyReadwriteArray2, PyReadwriteArray4};
use pyo3::prelude::*;

use crate::boards::array_of;
use crate::setup::{Setup, or_standard};
use crate::value_error;

/// `n` games that are stepped together, the state of a vector environment.
///
/// All arrays are written in place: observations int8 (n, rows, cols, 2), the discs of the side to move first, the top
/// row first; masks int8 (n, cols); rewards float64 (n,); terminated bool (n,). Actions count columns from 0.
#[pyclass(frozen, module = "claimeven._native")]
pub(crate) struct GameBatch {
    setup: GameSetup,
    count: usize,
    games: Mutex<Box<dyn Games>>,
}

/// When the environment resets a finished game.
#[derive(Clone, Copy, PartialEq)]
enum Autoreset {
    /// The next step starts a new game and ignores the action.
    NextStep,
    /// The step that ends the game starts a new one.
    SameStep,
    /// The caller resets.
    Disabled,
}

/// Who has the first move against an opponent.
#[derive(Clone, Copy)]
enum First {
    Agent,
    Opponent,
    Random,
}

/// The arrays of an environment.
struct Arrays<'a> {
    observations: &'a mut [i8],
    masks: &'a mut [i8],
    rewards: &'a mut [f64],
    terminated: &'a mut [bool],
}

trait Games: Send {
    fn seed(&mut self, seed: u64);
    fn reset(
        &mut self,
        only: Option<&[bool]>,
        observations: &mut [i8],
        masks: &mut [i8],
    ) -> Result<(), String>;
    fn step(
        &mut self,
        actions: &[i64],
        arrays: Arrays<'_>,
        last_observations: Option<&mut [i8]>,
    ) -> Result<(), String>;
    fn random_actions(&mut self, actions: &mut [i64]);
    fn plies(&self) -> Vec<i64>;
    fn boards(&self) -> Vec<u8>;
}

#[pymethods]
impl GameBatch {
    #[new]
    #[pyo3(signature = (count, setup, opponent, first, autoreset, seed))]
    fn new(
        count: usize,
        setup: Option<&Setup>,
        opponent: Option<&str>,
        first: &str,
        autoreset: &str,
        seed: u64,
    ) -> PyResult<GameBatch> {
        const MAX_GAMES: usize = 1 << 24;
        if count == 0 || count > MAX_GAMES {
            return Err(value_error(format!("{count} games: expected 1 to {MAX_GAMES}")));
        }
        let setup = or_standard(setup);
        let opponent = match opponent {
            None => Opponent::None,
            Some("random") => Opponent::Random,
            Some(text) => {
                let spec: AgentSpec = text.parse().map_err(value_error)?;
                let build = |index: usize| spec.build(setup, seed ^ mix_key(index as u64));
                Opponent::Agents(
                    (0..count).map(build).collect::<Result<_, _>>().map_err(value_error)?,
                )
            }
        };
        let first = match first {
            "agent" => First::Agent,
            "opponent" => First::Opponent,
            "random" => First::Random,
            _ => {
                return Err(value_error(format!(
                    "first '{first}': expected agent, opponent or random"
                )));
            }
        };
        let autoreset = match autoreset {
            "NextStep" => Autoreset::NextStep,
            "SameStep" => Autoreset::SameStep,
            "Disabled" => Autoreset::Disabled,
            _ => {
                let expected = "NextStep, SameStep or Disabled";
                return Err(value_error(format!("autoreset '{autoreset}': expected {expected}")));
            }
        };
        let random = fastrand::Rng::with_seed(seed);
        let games: Box<dyn Games> = with_board!(PlainPosition::new(setup), board => Box::new(State {
            empty: board,
            boards: vec![board; count],
            is_over: vec![true; count],
            random,
            opponent,
            first,
            autoreset,
        }));
        Ok(GameBatch { setup, count, games: Mutex::new(games) })
    }

    /// Restarts the random choices from a seed.
    fn seed(&self, seed: u64) -> PyResult<()> {
        self.lock()?.seed(seed);
        Ok(())
    }

    /// Restarts all games, or those of a mask.
    #[pyo3(signature = (only, observations, masks))]
    fn reset(
        &self,
        py: Python<'_>,
        only: Option<PyReadonlyArray1<'_, bool>>,
        mut observations: PyReadwriteArray4<'_, i8>,
        mut masks: PyReadwriteArray2<'_, i8>,
    ) -> PyResult<()> {
        let only = only.as_ref().map(|only| only.as_slice()).transpose().map_err(value_error)?;
        let observations = self.observations(&mut observations)?;
        let masks =
            self.numbers(masks.as_slice_mut().map_err(value_error)?, self.setup.cols().into())?;
        if only.is_some_and(|only| only.len() != self.count) {
            return Err(value_error(format!("the mask must have {} entries", self.count)));
        }
        let mut locked = self.lock()?;
        let games = &mut *locked;
        py.detach(|| games.reset(only, observations, masks)).map_err(value_error)
    }

    /// Plays an action, a column counted from 0, in every game.
    #[pyo3(signature = (actions, observations, masks, rewards, terminated, last_observations))]
    #[expect(clippy::too_many_arguments, reason = "the arrays of an environment")]
    fn step(
        &self,
        py: Python<'_>,
        actions: PyReadonlyArray1<'_, i64>,
        mut observations: PyReadwriteArray4<'_, i8>,
        mut masks: PyReadwriteArray2<'_, i8>,
        mut rewards: PyReadwriteArray1<'_, f64>,
        mut terminated: PyReadwriteArray1<'_, bool>,
        mut last_observations: Option<PyReadwriteArray4<'_, i8>>,
    ) -> PyResult<()> {
        let actions = actions.as_slice().map_err(value_error)?;
        if actions.len() != self.count {
            return Err(value_error(format!("{} actions for {} games", actions.len(), self.count)));
        }
        let last = last_observations.as_mut().map(|last| self.observations(last)).transpose()?;
        let arrays = Arrays {
            observations: self.observations(&mut observations)?,
            masks: self
                .numbers(masks.as_slice_mut().map_err(value_error)?, self.setup.cols().into())?,
            rewards: self.numbers(rewards.as_slice_mut().map_err(value_error)?, 1)?,
            terminated: self.numbers(terminated.as_slice_mut().map_err(value_error)?, 1)?,
        };
        let mut locked = self.lock()?;
        let games = &mut *locked;
        py.detach(|| games.step(actions, arrays, last)).map_err(value_error)
    }

    /// A random legal action for every game, 0 where a game is over.
    fn random_actions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let mut actions = vec![0; self.count];
        self.lock()?.random_actions(&mut actions);
        Ok(array_of(py, actions))
    }

    /// The number of discs in every game.
    fn plies<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let plies = self.lock()?.plies();
        Ok(array_of(py, plies))
    }

    /// The boards, 0, 1 and 2, the top row first, one after another.
    fn boards<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let boards = self.lock()?.boards();
        Ok(array_of(py, boards))
    }
}

impl GameBatch {
    fn lock(&self) -> PyResult<std::sync::MutexGuard<'_, Box<dyn Games>>> {
        self.games.try_lock().map_err(|_| value_error("another thread is using the environment"))
    }

    fn observations<'a>(&self, array: &'a mut PyReadwriteArray4<'_, i8>) -> PyResult<&'a mut [i8]> {
        let size = 2 * self.setup.cells() as usize;
        self.numbers(array.as_slice_mut().map_err(value_error)?, size)
    }

    /// Checks the size of an array.
    fn numbers<'a, T>(&self, array: &'a mut [T], each: usize) -> PyResult<&'a mut [T]> {
        let (found, expected) = (array.len(), self.count * each);
        if found == expected {
            Ok(array)
        } else {
            Err(value_error(format!("an array of {found} numbers, expected {expected}")))
        }
    }
}

/// The opponent that replies to the actions.
enum Opponent {
    /// No opponent: the actions are those of both sides in turn.
    None,
    Random,
    /// A player for every game.
    Agents(Vec<Box<dyn Agent>>),
}

/// Games of one kind of board.
struct State<R: Rules> {
    empty: Board<R>,
    boards: Vec<Board<R>>,
    is_over: Vec<bool>,
    random: fastrand::Rng,
    opponent: Opponent,
    first: First,
    autoreset: Autoreset,
}

impl<R: Rules> State<R> {
    fn start(&mut self, game: usize) -> Result<(), String> {
        self.boards[game] = self.empty;
        self.is_over[game] = false;
        let opponent_starts = match (&self.opponent, self.first) {
            (Opponent::None, _) | (_, First::Agent) => false,
            (_, First::Opponent) => true,
            (_, First::Random) => self.random.bool(),
        };
        if opponent_starts { self.reply(game) } else { Ok(()) }
    }

    /// Plays the opponent's move.
    fn reply(&mut self, game: usize) -> Result<(), String> {
        let board = &mut self.boards[game];
        let cell = match &mut self.opponent {
            Opponent::None => return Ok(()),
            Opponent::Random => random_cell(board, &mut self.random),
            Opponent::Agents(agents) => {
                let position = position(board);
                let decision = agents[game].decide(&position, &Limits::default());
                let column = decision.map_err(|error| format!("game {game}: {error}"))?.column;
                board.open() & board.rules().column(column)
            }
        };
        board.play_cell(cell);
        Ok(())
    }

    /// Plays an action; returns the reward and whether the game has ended.
    fn play(&mut self, game: usize, action: i64) -> Result<(f64, bool), String> {
        let board = &mut self.boards[game];
        let setup = board.rules().setup();
        let cell = match usize::try_from(action).ok().filter(|&a| a < setup.cols().into()) {
            Some(index) => {
                let column = Column::from_index(index).expect("the board has it");
                board.open() & board.rules().column(column)
            }
            None => R::Bits::ZERO,
        };
        // An illegal move ends the game, as in PettingZoo.
        if cell.is_empty() {
            return Ok((-1.0, true));
        }
        let mover = board.player();
        board.play_cell(cell);
        if board.is_over() {
            return Ok((reward(board, mover), true));
        }
        self.reply(game)?;
        let board = &self.boards[game];
        let is_over = !matches!(self.opponent, Opponent::None) && board.is_over();
        Ok((if is_over { reward(board, mover) } else { 0.0 }, is_over))
    }
}

impl<R: Rules> Games for State<R> {
    fn seed(&mut self, seed: u64) {
        self.random = fastrand::Rng::with_seed(seed);
    }

    fn reset(
        &mut self,
        only: Option<&[bool]>,
        observations: &mut [i8],
        masks: &mut [i8],
    ) -> Result<(), String> {
        let games = observations.chunks_mut(2 * self.empty.rules().setup().cells() as usize);
        let cols = self.empty.rules().setup().cols().into();
        for (game, (observation, mask)) in games.zip(masks.chunks_mut(cols)).enumerate() {
            if only.is_none_or(|only| only[game]) {
                self.start(game)?;
                observe(&self.boards[game], observation);
                write_mask(&self.boards[game], false, mask);
            }
        }
        Ok(())
    }

    fn step(
        &mut self,
        actions: &[i64],
        arrays: Arrays<'_>,
        mut last_observations: Option<&mut [i8]>,
    ) -> Result<(), String> {
        let setup = self.empty.rules().setup();
        let (size, cols) = (2 * setup.cells() as usize, usize::from(setup.cols()));
        let Arrays { observations, masks, rewards, terminated } = arrays;
        for (game, &action) in actions.iter().enumerate() {
            let (reward, mut is_over) = if !self.is_over[game] {
                self.play(game, action)?
            } else if self.autoreset == Autoreset::NextStep {
                self.start(game)?;
                (0.0, false)
            } else {
                return Err(format!("game {game} is over and must be reset"));
            };
            rewards[game] = reward;
            terminated[game] = is_over;
            self.is_over[game] = is_over;
            if is_over && self.autoreset == Autoreset::SameStep {
                if let Some(last) = &mut last_observations {
                    observe(&self.boards[game], &mut last[game * size..][..size]);
                }
                self.start(game)?;
                is_over = false;
            }
            observe(&self.boards[game], &mut observations[game * size..][..size]);
            write_mask(&self.boards[game], is_over, &mut masks[game * cols..][..cols]);
        }
        Ok(())
    }

    fn random_actions(&mut self, actions: &mut [i64]) {
        let stride = self.empty.rules().stride();
        for (game, action) in actions.iter_mut().enumerate() {
            *action = if self.is_over[game] {
                0
            } else {
                let cell = random_cell(&self.boards[game], &mut self.random);
                i64::from(cell.lowest_index() / stride)
            };
        }
    }

    fn plies(&self) -> Vec<i64> {
        self.boards.iter().map(|board| board.ply().into()).collect()
    }

    fn boards(&self) -> Vec<u8> {
        self.boards.iter().flat_map(|board| position(board).to_kaggle()).collect()
    }
}

/// A random open cell; none if the board is full.
#[inline]
fn random_cell<R: Rules>(board: &Board<R>, random: &mut fastrand::Rng) -> R::Bits {
    let mut open = board.open();
    let count = open.count();
    if count == 0 {
        return open;
    }
    for _ in 0..random.u32(..count) {
        open &= open - R::Bits::ONE;
    }
    R::Bits::ONE << open.lowest_index()
}

fn reward<R: Rules>(board: &Board<R>, player: Player) -> f64 {
    match board.leader() {
        None => 0.0,
        Some(winner) if winner == player => 1.0,
        Some(_) => -1.0,
    }
}

/// The checked position of a board.
fn position<R: Rules>(board: &Board<R>) -> PlainPosition {
    let setup: GameSetup = board.rules().setup();
    let cells: Vec<u8> = claimeven_game::Cell::in_reading_order(setup)
        .map(|cell| {
            let bit = R::Bits::ONE << cell.index(setup);
            let has = |player| !(board.discs(player) & bit).is_empty();
            if has(Player::First) { 1 } else { u8::from(has(Player::Second)) * 2 }
        })
        .collect();
    PlainPosition::from_kaggle(setup, &cells).expect("it was reached by play")
}

/// Writes the discs of the side to move and of the opponent, the top row first.
#[inline]
fn observe<R: Rules>(board: &Board<R>, observation: &mut [i8]) {
    let rules = board.rules();
    let (cols, rows) = (usize::from(rules.setup().cols()), u32::from(rules.setup().rows()));
    let lines = observation.chunks_exact_mut(2 * cols).zip((0..rows).rev());
    if rules.stride() == 8 {
        // A column takes a byte, so a row is one bit of each byte.
        for (line, row) in lines {
            let own = (board.own().shifted_down(row) & rules.bottom()).widen().to_le_bytes();
            let other = (board.other().shifted_down(row) & rules.bottom()).widen().to_le_bytes();
            // Plain assignments, because short copies would call `memmove`.
            for (pair, (own, other)) in line.chunks_exact_mut(2).zip(own.iter().zip(&other)) {
                pair[0] = own.cast_signed();
                pair[1] = other.cast_signed();
            }
        }
        return;
    }
    let (own, other) = (board.own(), board.other());
    for (line, row) in lines {
        for (col, cell) in (0..).zip(line.chunks_exact_mut(2)) {
            let index = col * rules.stride() + row;
            let has = |discs: R::Bits| i8::from(!((discs >> index) & R::Bits::ONE).is_empty());
            cell[0] = has(own);
            cell[1] = has(other);
        }
    }
}

#[inline]
fn write_mask<R: Rules>(board: &Board<R>, is_over: bool, mask: &mut [i8]) {
    let rules = board.rules();
    let open = if is_over { R::Bits::ZERO } else { board.open() };
    let (stride, rows) = (rules.stride(), u32::from(rules.setup().rows()));
    let column = (R::Bits::ONE << rows) - R::Bits::ONE;
    for (col, legal) in (0..).zip(mask) {
        *legal = i8::from(!((open >> (col * stride)) & column).is_empty());
    }
}
