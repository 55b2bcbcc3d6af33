//! Openings, so that two players do not repeat the same game.

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use claimeven_game::{Bits, Column, Game, PlayError, Setup, with_board};
use claimeven_search::RandomGames;
use claimeven_solver::{Limits, Options, Score, Solver, Stop, embedded_books};

/// The openings of a match or a tournament.
///
/// ```
/// use claimeven_arena::Openings;
/// use claimeven_game::Setup;
///
/// let openings: Openings = "random:4".parse()?;
/// assert_eq!(openings.choose(Setup::STANDARD, 10, 1)?.len(), 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Openings {
    /// The empty board.
    None,
    /// Distinct positions after this many plies that are draws under perfect play.
    Balanced(u32),
    /// Distinct positions after this many random plies.
    Random(u32),
    /// Given moves.
    Given(Vec<Vec<Column>>),
}

/// The default openings, in order of preference.
const DEFAULTS: [Openings; 2] = [Openings::Balanced(6), Openings::Random(4)];

/// After this many rejected samples in a row, no more openings are expected.
const MAX_FAILURES: u32 = 20_000;

impl Openings {
    /// Chooses up to `count` distinct openings, at least one. The choice depends only on the seed. In
    /// none of them can the next move end the game.
    ///
    /// The search for each opening is bounded: by 20,000 rejected samples, and by
    /// [`OpeningSearch::MAX_NODES`] of the solver on average. Positions that take more than
    /// [`OpeningSearch::MAX_NODES_EACH`] are skipped.
    pub fn choose(
        &self,
        setup: Setup,
        count: usize,
        seed: u64,
    ) -> Result<Vec<Vec<Column>>, OpeningError> {
        self.choose_within(setup, count, seed, &Limits::default())
    }

    /// Chooses openings like [`Openings::choose`], or fails with [`OpeningError::Stopped`] when a
    /// limit is reached.
    pub fn choose_within(
        &self,
        setup: Setup,
        count: usize,
        seed: u64,
        limits: &Limits,
    ) -> Result<Vec<Vec<Column>>, OpeningError> {
        let search = OpeningSearch::new(Some(self.clone()), setup, count, seed)?;
        search.with_nodes_per_opening().finish(limits)
    }

    /// The default openings: balanced ones on boards that can be solved, random ones elsewhere, and
    /// the empty board where neither are found.
    pub fn choose_default(setup: Setup, count: usize, seed: u64) -> Vec<Vec<Column>> {
        let unlimited = Openings::choose_default_within(setup, count, seed, &Limits::default());
        unlimited.unwrap_or_else(|_| vec![Vec::new()])
    }

    /// The default openings, or [`OpeningError::Stopped`] if a limit is reached.
    pub fn choose_default_within(
        setup: Setup,
        count: usize,
        seed: u64,
        limits: &Limits,
    ) -> Result<Vec<Vec<Column>>, OpeningError> {
        let search = OpeningSearch::new(None, setup, count, seed)?;
        search.with_nodes_per_opening().finish(limits)
    }
}

fn check_given(setup: Setup, openings: &[Vec<Column>]) -> Result<(), OpeningError> {
    if openings.is_empty() {
        return Err(OpeningError::Empty);
    }
    for (number, opening) in (1..).zip(openings) {
        let mut game = Game::new(setup);
        for &column in opening {
            game.play(column).map_err(|error| OpeningError::Illegal { number, error })?;
        }
        if game.position().outcome().is_some() {
            return Err(OpeningError::Finished { number });
        }
    }
    Ok(())
}

/// Distinct random openings, one sample at a time; balanced ones are draws under perfect play.
#[derive(Debug)]
struct Sampler {
    setup: Setup,
    plies: u32,
    balanced: bool,
    random: fastrand::Rng,
    tried: HashSet<u128>,
    openings: Vec<Vec<Column>>,
    /// Rejected samples since the last opening.
    failures: u32,
}

/// The outcome of a sample.
enum Sampled {
    Chosen,
    Rejected,
    /// A limit ended the search.
    Unsolved,
}

impl Sampler {
    fn new(setup: Setup, plies: u32, balanced: bool, seed: u64) -> Sampler {
        Sampler {
            setup,
            plies,
            balanced,
            random: fastrand::Rng::with_seed(seed),
            tried: HashSet::new(),
            openings: Vec::new(),
            failures: 0,
        }
    }

    fn attempt(&mut self, solver: &mut Solver, limits: &Limits) -> Result<Sampled, OpeningError> {
        self.failures += 1;
        let games = RandomGames::new(self.setup);
        let Some(game) = opening(&games, self.plies, &mut self.random) else {
            return Ok(Sampled::Rejected);
        };
        let position = game.position();
        let key: u128 = with_board!(position, board => board.canonical_key().widen());
        if !self.tried.insert(key) {
            return Ok(Sampled::Rejected);
        }
        if self.balanced {
            let bounds = solver.sign_within(position, limits);
            match bounds.map_err(|_| OpeningError::OutOfReach(self.setup))?.exact() {
                Some(sign) if sign == Score::DRAW => {}
                Some(_) => return Ok(Sampled::Rejected),
                None => return Ok(Sampled::Unsolved),
            }
        }
        self.openings.push(game.moves().to_vec());
        self.failures = 0;
        Ok(Sampled::Chosen)
    }
}

/// A choice of openings that can be interrupted after every sample, for programs that interleave
/// several choices.
///
/// It chooses the same openings as [`Openings::choose_within`], except that it ends with what it
/// has found after a total of [`OpeningSearch::MAX_NODES`].
///
/// ```
/// use claimeven_arena::{OpeningSearch, Openings};
/// use claimeven_game::Setup;
///
/// let openings = Openings::Balanced(4);
/// let mut search = OpeningSearch::new(Some(openings.clone()), Setup::STANDARD, 3, 1)?;
/// let mut solver = OpeningSearch::solver();
/// while !search.advance(&mut solver, &Default::default())? {}
/// assert_eq!(search.openings(), openings.choose(Setup::STANDARD, 3, 1)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct OpeningSearch {
    setup: Setup,
    count: usize,
    seed: u64,
    /// `None` once the openings are chosen.
    sampler: Option<Sampler>,
    chosen: Vec<Vec<Column>>,
    /// What to choose if the sampler finds nothing.
    alternatives: VecDeque<Openings>,
    nodes: u64,
    max_nodes: u64,
}

impl OpeningSearch {
    /// The maximum number of nodes of the solver per position: a few seconds.
    pub const MAX_NODES_EACH: u64 = 20_000_000;

    /// The maximum number of nodes of the solver for all positions.
    pub const MAX_NODES: u64 = 500_000_000;

    /// Starts choosing up to `count` openings; the default ones for `None`.
    pub fn new(
        openings: Option<Openings>,
        setup: Setup,
        count: usize,
        seed: u64,
    ) -> Result<OpeningSearch, OpeningError> {
        let choices = openings.map_or_else(
            || DEFAULTS.into_iter().chain([Openings::None]).collect(),
            |openings| VecDeque::from([openings]),
        );
        let mut search = OpeningSearch {
            setup,
            count,
            seed,
            sampler: None,
            chosen: Vec::new(),
            alternatives: choices,
            nodes: 0,
            max_nodes: OpeningSearch::MAX_NODES,
        };
        search.start_next(OpeningError::Empty)?;
        Ok(search)
    }

    /// A solver for [`OpeningSearch::advance`], which several choices can share.
    pub fn solver() -> Solver {
        Solver::new(Options::default().with_books(embedded_books()))
    }

    /// Tries one sample and returns whether the openings are chosen. [`OpeningError::Stopped`] if the
    /// flag is set.
    pub fn advance(
        &mut self,
        solver: &mut Solver,
        cancel: &Arc<AtomicBool>,
    ) -> Result<bool, OpeningError> {
        self.step(solver, &Stop::new(&Limits::default().with_cancel(Arc::clone(cancel))), 0)
    }

    /// Allows [`OpeningSearch::MAX_NODES`] for each opening.
    fn with_nodes_per_opening(self) -> OpeningSearch {
        let max_nodes = OpeningSearch::MAX_NODES.saturating_mul(self.count as u64);
        OpeningSearch { max_nodes, ..self }
    }

    /// Chooses all openings.
    fn finish(mut self, limits: &Limits) -> Result<Vec<Vec<Column>>, OpeningError> {
        let stop = Stop::new(limits);
        let mut solver = OpeningSearch::solver();
        let mut is_chosen = false;
        while !is_chosen {
            let nodes = solver.nodes();
            is_chosen = self.step(&mut solver, &stop, nodes)?;
        }
        Ok(self.chosen)
    }

    /// Tries one sample; `nodes` is the number of nodes used so far of those that `stop` allows.
    fn step(&mut self, solver: &mut Solver, stop: &Stop, nodes: u64) -> Result<bool, OpeningError> {
        let Some(sampler) = &mut self.sampler else { return Ok(true) };
        if stop.is_requested() {
            return Err(OpeningError::Stopped);
        }
        let own_limit =
            self.max_nodes.saturating_sub(self.nodes).min(OpeningSearch::MAX_NODES_EACH);
        let remaining = stop.remaining(nodes);
        let max_nodes = remaining.nodes.map_or(own_limit, |nodes| nodes.min(own_limit));
        let nodes_before = solver.nodes();
        let result = sampler.attempt(solver, &remaining.with_nodes(max_nodes))?;
        self.nodes += solver.nodes() - nodes_before;
        let is_stopped = max_nodes < own_limit || stop.is_requested();
        if matches!(result, Sampled::Unsolved) && is_stopped {
            return Err(OpeningError::Stopped);
        }
        let is_spent = sampler.balanced && self.nodes >= self.max_nodes;
        let is_last =
            sampler.openings.len() >= self.count || sampler.failures >= MAX_FAILURES || is_spent;
        if !is_last {
            return Ok(false);
        }
        self.chosen = std::mem::take(&mut sampler.openings);
        let (setup, plies) = (self.setup, sampler.plies);
        self.sampler = None;
        if self.chosen.is_empty() {
            let not_found = OpeningError::NotFound { setup, plies };
            self.start_next(if is_spent { OpeningError::OutOfReach(setup) } else { not_found })?;
        }
        Ok(self.sampler.is_none())
    }

    /// The chosen openings.
    pub fn openings(&self) -> &[Vec<Column>] {
        &self.chosen
    }

    /// The chosen openings as move texts, for a [`TournamentPlan`](crate::TournamentPlan).
    pub fn texts(&self) -> Vec<String> {
        let text = |opening: &Vec<Column>| {
            let mut game = Game::new(self.setup);
            for &column in opening {
                game.play(column).expect("openings are legal");
            }
            game.move_text()
        };
        self.chosen.iter().map(text).collect()
    }

    /// Starts the next possible alternative, or fails if none is left.
    fn start_next(&mut self, mut error: OpeningError) -> Result<(), OpeningError> {
        while let Some(openings) = self.alternatives.pop_front() {
            let (plies, balanced) = match openings {
                Openings::None => {
                    self.chosen = vec![Vec::new()];
                    return Ok(());
                }
                Openings::Given(openings) => {
                    check_given(self.setup, &openings)?;
                    self.chosen = openings;
                    return Ok(());
                }
                Openings::Balanced(_) if !can_balance(self.setup) => {
                    error = OpeningError::OutOfReach(self.setup);
                    continue;
                }
                Openings::Balanced(plies) => (plies, true),
                Openings::Random(plies) => (plies, false),
            };
            self.sampler = Some(Sampler::new(self.setup, plies, balanced, self.seed));
            return Ok(());
        }
        Err(error)
    }
}

/// Whether positions of a setup can be solved in a reasonable time.
fn can_balance(setup: Setup) -> bool {
    Solver::check(setup).is_ok() && setup.cells() <= Setup::STANDARD.cells()
}

/// A random game that the next move cannot end.
fn opening(games: &RandomGames, plies: u32, random: &mut fastrand::Rng) -> Option<Game> {
    let game = games.attempt(plies, random)?;
    let continues = |column| {
        let mut next = *game.position();
        next.play(column).is_ok() && next.outcome().is_none()
    };
    let mut legal = game.position().legal().peekable();
    let useful = legal.peek().is_some() && legal.all(continues);
    useful.then(|| game.clone())
}

impl FromStr for Openings {
    type Err = ParseOpeningsError;

    fn from_str(text: &str) -> Result<Openings, ParseOpeningsError> {
        let plies = |text: &str| match text.parse() {
            Ok(plies @ 1..=30) => Ok(plies),
            _ => Err(ParseOpeningsError::Plies(text.to_owned())),
        };
        match text.split_once(':') {
            None if text == "none" => Ok(Openings::None),
            Some(("balanced", number)) => plies(number).map(Openings::Balanced),
            Some(("random", number)) => plies(number).map(Openings::Random),
            _ => Err(ParseOpeningsError::Unknown(text.to_owned())),
        }
    }
}

/// Why a text does not name openings.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseOpeningsError {
    /// The kind of openings is unknown.
    Unknown(String),
    /// The number of plies is not a number from 1 to 30.
    Plies(String),
}

impl fmt::Display for ParseOpeningsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseOpeningsError::Unknown(text) => write!(
                f,
                "unknown openings '{text}' (available: none, balanced:PLIES, random:PLIES)"
            ),
            ParseOpeningsError::Plies(text) => {
                write!(f, "'{text}' is not a number of moves from 1 to 30")
            }
        }
    }
}

impl std::error::Error for ParseOpeningsError {}

impl fmt::Display for Openings {
    /// The text that [`FromStr`] reads; given openings have none and are only counted.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Openings::None => f.write_str("none"),
            Openings::Balanced(plies) => write!(f, "balanced:{plies}"),
            Openings::Random(plies) => write!(f, "random:{plies}"),
            Openings::Given(openings) => write!(f, "{} given", openings.len()),
        }
    }
}

/// Why no openings were chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpeningError {
    /// Positions of the setup cannot be solved in a reasonable time.
    OutOfReach(Setup),
    /// Nearly all random games of the setup are over by then.
    #[allow(missing_docs, reason = "self-explanatory")]
    NotFound { setup: Setup, plies: u32 },
    /// The list of given openings is empty.
    Empty,
    /// A given opening has an illegal move.
    Illegal {
        /// The number of the opening, from 1.
        number: usize,
        /// Why the move is illegal.
        error: PlayError,
    },
    /// The game is over after a given opening.
    Finished {
        /// The number of the opening, from 1.
        number: usize,
    },
    /// A limit was reached, or the choice was cancelled.
    Stopped,
}

impl fmt::Display for OpeningError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpeningError::OutOfReach(setup) => write!(
                f,
                "balanced openings need exact scores, which are out of reach for {setup}; \
                 use random:PLIES"
            ),
            OpeningError::NotFound { setup, plies } => write!(
                f,
                "no opening of {plies} moves found for {setup}: random games are decided by then"
            ),
            OpeningError::Empty => f.write_str("the list of openings is empty"),
            OpeningError::Illegal { number, error } => write!(f, "opening {number}: {error}"),
            OpeningError::Finished { number } => {
                write!(f, "opening {number}: the game is over after its last move")
            }
            OpeningError::Stopped => f.write_str("the choice of openings was stopped"),
        }
    }
}

impl std::error::Error for OpeningError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            OpeningError::Illegal { error, .. } => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;
    use std::time::{Duration, Instant};

    use claimeven_game::Ruleset;

    use super::*;

    fn moves(text: &str) -> Vec<Column> {
        Game::parse(Setup::STANDARD, text).unwrap().moves().to_vec()
    }

    #[test]
    fn given_openings_are_checked() {
        let choose =
            |openings: Vec<Vec<Column>>| Openings::Given(openings).choose(Setup::STANDARD, 1, 1);
        assert_eq!(choose(vec![moves(""), moves("44")]), Ok(vec![moves(""), moves("44")]));
        assert_eq!(choose(Vec::new()), Err(OpeningError::Empty));
        let overfull = vec![moves("4"), vec![moves("1")[0]; 7]];
        assert!(matches!(choose(overfull), Err(OpeningError::Illegal { number: 2, .. })));
        let finished = choose(vec![moves("1212121")]);
        assert_eq!(finished, Err(OpeningError::Finished { number: 1 }));
        let narrow = Setup::new(4, 4, 3, Ruleset::Standard).unwrap();
        let foreign = Openings::Given(vec![moves("7")]).choose(narrow, 1, 1).unwrap_err();
        assert!(std::error::Error::source(&foreign).is_some(), "{foreign}");
    }

    #[test]
    fn a_choice_stops_at_its_limits() {
        // On boards of this size without a book, each opening takes minutes.
        let setup = Setup::new(6, 7, 4, Ruleset::Standard).unwrap();
        let cancelled = Limits::default().with_cancel(Arc::new(AtomicBool::new(true)));
        for limits in [
            cancelled,
            Limits::default().with_time(Duration::from_millis(30)),
            Limits::default().with_nodes(100_000),
        ] {
            let started = Instant::now();
            let stopped = Openings::Balanced(2).choose_within(setup, 50, 1, &limits);
            assert_eq!(stopped, Err(OpeningError::Stopped), "{limits:?}");
            let default = Openings::choose_default_within(setup, 1_000_000, 1, &limits);
            assert_eq!(default, Err(OpeningError::Stopped), "{limits:?}");
            assert!(started.elapsed() < Duration::from_secs(5), "{limits:?}");
        }
    }

    /// The choice in steps, interleaved with another choice.
    fn in_steps(
        openings: Option<Openings>,
        setup: Setup,
        count: usize,
    ) -> Result<Vec<Vec<Column>>, OpeningError> {
        let mut search = OpeningSearch::new(openings, setup, count, 5)?;
        let mut other = OpeningSearch::new(Some(Openings::Balanced(8)), Setup::STANDARD, 9, 6)?;
        let mut solver = OpeningSearch::solver();
        while !search.advance(&mut solver, &Arc::default())? {
            other.advance(&mut solver, &Arc::default())?;
        }
        Ok(search.openings().to_vec())
    }

    #[test]
    fn a_choice_in_steps_is_the_same() {
        let small = Setup::new(5, 4, 4, Ruleset::Standard).unwrap();
        let tiny = Setup::new(2, 2, 2, Ruleset::Standard).unwrap();
        let lines = Setup::new(7, 6, 4, Ruleset::Lines).unwrap();
        for setup in [Setup::STANDARD, small, tiny, lines] {
            for text in ["none", "balanced:2", "balanced:5", "random:3", "random:12"] {
                let openings: Openings = text.parse().unwrap();
                let at_once = openings.choose(setup, 7, 5);
                assert_eq!(in_steps(Some(openings), setup, 7), at_once, "{text} {setup}");
            }
            let at_once = Openings::choose_default(setup, 7, 5);
            assert_eq!(in_steps(None, setup, 7), Ok(at_once), "{setup}");
        }
        let given = Openings::Given(vec![moves("44"), moves("1")]);
        assert_eq!(
            in_steps(Some(given.clone()), Setup::STANDARD, 7),
            given.choose(Setup::STANDARD, 7, 5)
        );
        let illegal = Openings::Given(vec![moves("1212121")]);
        let rejected = in_steps(Some(illegal), Setup::STANDARD, 7);
        assert_eq!(rejected, Err(OpeningError::Finished { number: 1 }));
    }

    #[test]
    fn a_choice_in_steps_stops_when_it_is_cancelled() {
        let setup = Setup::new(6, 7, 4, Ruleset::Standard).unwrap();
        let mut search = OpeningSearch::new(Some(Openings::Balanced(2)), setup, 9, 1).unwrap();
        let mut solver = OpeningSearch::solver();
        let cancel = Arc::new(AtomicBool::new(false));
        let started = Instant::now();
        let stopped = std::thread::scope(|scope| {
            let searched = scope.spawn(|| {
                loop {
                    if let Err(error) = search.advance(&mut solver, &cancel) {
                        return error;
                    }
                }
            });
            cancel.store(true, Ordering::Relaxed);
            searched.join().unwrap()
        });
        assert_eq!(stopped, OpeningError::Stopped);
        assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    }

    #[test]
    fn a_choice_in_steps_is_bounded() {
        let setup = Setup::new(6, 7, 4, Ruleset::Standard).unwrap();
        let nearly_spent = || {
            let mut search = OpeningSearch::new(Some(Openings::Balanced(2)), setup, 9, 1).unwrap();
            search.nodes = OpeningSearch::MAX_NODES - 100_000;
            search
        };
        let finish = |search: &mut OpeningSearch| {
            let mut solver = OpeningSearch::solver();
            while !search.advance(&mut solver, &Arc::default())? {}
            Ok(search.openings().len())
        };
        assert_eq!(finish(&mut nearly_spent()), Err(OpeningError::OutOfReach(setup)));
        let mut found_one = nearly_spent();
        found_one.sampler.as_mut().unwrap().openings.push(moves("11"));
        assert_eq!(finish(&mut found_one), Ok(1));
        let mut by_default =
            OpeningSearch { alternatives: [Openings::Random(4)].into(), ..nearly_spent() };
        assert_eq!(finish(&mut by_default), Ok(9));
    }
}
