//! Many games at once, for environments.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use claimeven_arena::AgentSpec;
use claimeven_game::{
    Bits, Board, Column, Player, Position as PlainPosition, Rules, Setup as GameSetup, with_board,
};
use numpy::{PyArray1, PyReadonlyArray1, PyReadwriteArray1, PyReadwriteArray2, PyReadwriteArray4};
use pyo3::prelude::*;

use crate::boards::array_of;
use crate::opponents::AgainstPlayers;
use crate::setup::{Setup, or_standard};
use crate::{numbers, value_error, work};

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
pub(crate) enum Autoreset {
    /// The next step starts a new game and ignores the action.
    NextStep,
    /// The step that ends the game starts a new one.
    SameStep,
    /// The caller resets.
    Disabled,
}

/// Who has the first move against an opponent.
#[derive(Clone, Copy)]
pub(crate) enum First {
    Agent,
    Opponent,
    Random,
}

/// The arrays of an environment.
pub(crate) struct Arrays<'a> {
    pub(crate) observations: &'a mut [i8],
    pub(crate) masks: &'a mut [i8],
    pub(crate) rewards: &'a mut [f64],
    pub(crate) terminated: &'a mut [bool],
}

/// What the games are asked to do.
#[derive(Clone, Copy)]
pub(crate) enum Request<'a> {
    /// Restart all games, or those of a mask.
    Reset(Option<&'a [bool]>),
    /// Play an action in every game.
    Step(&'a [i64]),
}

pub(crate) trait Games: Send {
    fn seed(&mut self, seed: u64);
    /// Computes the replies to a request, which changes nothing, if they take no longer than a few
    /// milliseconds; otherwise [`compute`](Games::compute) follows.
    fn compute_briefly(&mut self, _: Request<'_>) -> Result<bool, String> {
        Ok(true)
    }
    /// Computes the replies to a request, which changes nothing.
    fn compute(&mut self, _: Request<'_>, _cancel: &Arc<AtomicBool>) -> Result<(), String> {
        Ok(())
    }
    fn reset(&mut self, only: Option<&[bool]>, observations: &mut [i8], masks: &mut [i8]);
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
        #[pyo3(from_py_with = numbers::count)] count: usize,
        setup: Option<&Setup>,
        opponent: Option<&str>,
        first: &str,
        autoreset: &str,
        #[pyo3(from_py_with = numbers::seed)] seed: u64,
    ) -> PyResult<GameBatch> {
        const MAX_GAMES: usize = 1 << 24;
        if count == 0 || count > MAX_GAMES {
            return Err(value_error(format!("{count} games: expected 1 to {MAX_GAMES}")));
        }
        let setup = or_standard(setup);
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
        let player: Option<AgentSpec> = match opponent {
            None | Some("random") => None,
            Some(text) => Some(text.parse().map_err(value_error)?),
        };
        let games: Box<dyn Games> = with_board!(PlainPosition::new(setup), board => {
            let games = State {
                empty: board,
                boards: vec![board; count],
                is_over: vec![true; count],
                random,
                replies: opponent.is_some(),
                first,
                autoreset,
            };
            match player {
                None => Box::new(games),
                Some(spec) => {
                    Box::new(AgainstPlayers::new(games, spec, setup).map_err(value_error)?)
                }
            }
        });
        Ok(GameBatch { setup, count, games: Mutex::new(games) })
    }

    /// Restarts the random choices from a seed.
    fn seed(&self, #[pyo3(from_py_with = numbers::seed)] seed: u64) -> PyResult<()> {
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
        let games = &mut **locked;
        compute(py, games, Request::Reset(only))?;
        py.detach(|| games.reset(only, observations, masks));
        Ok(())
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
        let games = &mut **locked;
        compute(py, games, Request::Step(actions))?;
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

/// Computes the replies to a request, on threads that Ctrl-C can interrupt if they take time.
fn compute(py: Python<'_>, games: &mut dyn Games, request: Request<'_>) -> PyResult<()> {
    if !py.detach(|| games.compute_briefly(request)).map_err(value_error)? {
        work::run(py, |cancel| games.compute(request, cancel), |_| Ok(()))?.map_err(value_error)?;
    }
    Ok(())
}

/// Games of one kind of board, without an opponent or against random moves.
pub(crate) struct State<R: Rules> {
    pub(crate) empty: Board<R>,
    pub(crate) boards: Vec<Board<R>>,
    pub(crate) is_over: Vec<bool>,
    pub(crate) random: fastrand::Rng,
    /// Whether an opponent replies to the actions. Otherwise they are those of both sides in turn.
    pub(crate) replies: bool,
    pub(crate) first: First,
    pub(crate) autoreset: Autoreset,
}

impl First {
    /// Whether the opponent has the first move of the next game.
    pub(crate) fn is_opponent(self, random: &mut fastrand::Rng) -> bool {
        match self {
            First::Agent => false,
            First::Opponent => true,
            First::Random => random.bool(),
        }
    }
}

impl<R: Rules> State<R> {
    fn start(&mut self, game: usize) {
        self.boards[game] = self.empty;
        self.is_over[game] = false;
        if self.replies && self.first.is_opponent(&mut self.random) {
            self.reply(game);
        }
    }

    /// Plays a random move of the opponent.
    fn reply(&mut self, game: usize) {
        let board = &mut self.boards[game];
        board.play_cell(random_cell(board, &mut self.random));
    }

    /// Plays an action; returns the reward and whether the game has ended.
    fn play(&mut self, game: usize, action: i64) -> (f64, bool) {
        let board = &mut self.boards[game];
        let mover = board.player();
        if let Some(reward) = act(board, action) {
            return (reward, true);
        }
        if !self.replies {
            return (0.0, false);
        }
        self.reply(game);
        let board = &self.boards[game];
        let is_over = board.is_over();
        (if is_over { reward(board, mover) } else { 0.0 }, is_over)
    }

    /// Fails if a game is over and is not reset by a step.
    pub(crate) fn check_can_step(&self) -> Result<(), String> {
        if self.autoreset == Autoreset::NextStep {
            return Ok(());
        }
        match self.is_over.iter().position(|&is_over| is_over) {
            None => Ok(()),
            Some(game) => Err(format!("game {game} is over and must be reset")),
        }
    }
}

/// Plays an action on a board; returns the reward if it ends the game.
#[inline]
pub(crate) fn act<R: Rules>(board: &mut Board<R>, action: i64) -> Option<f64> {
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
        return Some(-1.0);
    }
    let mover = board.player();
    board.play_cell(cell);
    board.is_over().then(|| reward(board, mover))
}

impl<R: Rules> Games for State<R> {
    fn seed(&mut self, seed: u64) {
        self.random = fastrand::Rng::with_seed(seed);
    }

    fn reset(&mut self, only: Option<&[bool]>, observations: &mut [i8], masks: &mut [i8]) {
        let games = observations.chunks_mut(2 * self.empty.rules().setup().cells() as usize);
        let cols = self.empty.rules().setup().cols().into();
        for (game, (observation, mask)) in games.zip(masks.chunks_mut(cols)).enumerate() {
            if only.is_none_or(|only| only[game]) {
                self.start(game);
                observe(&self.boards[game], observation);
                write_mask(&self.boards[game], false, mask);
            }
        }
    }

    fn step(
        &mut self,
        actions: &[i64],
        arrays: Arrays<'_>,
        mut last_observations: Option<&mut [i8]>,
    ) -> Result<(), String> {
        self.check_can_step()?;
        let setup = self.empty.rules().setup();
        let (size, cols) = (2 * setup.cells() as usize, usize::from(setup.cols()));
        let Arrays { observations, masks, rewards, terminated } = arrays;
        for (game, &action) in actions.iter().enumerate() {
            let (reward, mut is_over) = if self.is_over[game] {
                self.start(game);
                (0.0, false)
            } else {
                self.play(game, action)
            };
            rewards[game] = reward;
            terminated[game] = is_over;
            self.is_over[game] = is_over;
            if is_over && self.autoreset == Autoreset::SameStep {
                if let Some(last) = &mut last_observations {
                    observe(&self.boards[game], &mut last[game * size..][..size]);
                }
                self.start(game);
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

pub(crate) fn reward<R: Rules>(board: &Board<R>, player: Player) -> f64 {
    match board.leader() {
        None => 0.0,
        Some(winner) if winner == player => 1.0,
        Some(_) => -1.0,
    }
}

/// The checked position of a board.
pub(crate) fn position<R: Rules>(board: &Board<R>) -> PlainPosition {
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
pub(crate) fn observe<R: Rules>(board: &Board<R>, observation: &mut [i8]) {
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
pub(crate) fn write_mask<R: Rules>(board: &Board<R>, is_over: bool, mask: &mut [i8]) {
    let rules = board.rules();
    let open = if is_over { R::Bits::ZERO } else { board.open() };
    let (stride, rows) = (rules.stride(), u32::from(rules.setup().rows()));
    let column = (R::Bits::ONE << rows) - R::Bits::ONE;
    for (col, legal) in (0..).zip(mask) {
        *legal = i8::from(!((open >> (col * stride)) & column).is_empty());
    }
}
