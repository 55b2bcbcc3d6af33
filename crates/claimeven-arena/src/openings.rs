//! Openings, so that two players do not repeat the same game.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

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

/// After this many rejected samples in a row, no more openings are expected.
const MAX_FAILURES: u32 = 20_000;

/// The maximum number of nodes of the solver per opening.
const MAX_NODES: u64 = 500_000_000;

impl Openings {
    /// Chooses up to `count` distinct openings, at least one. The choice depends only on the seed. In
    /// none of them can the next move end the game.
    ///
    /// The search for each opening is bounded: by 20,000 rejected samples, and by 500 million nodes
    /// of the solver.
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
        match self {
            Openings::None => Ok(vec![Vec::new()]),
            Openings::Given(openings) => check_given(setup, openings).map(|()| openings.clone()),
            Openings::Balanced(_)
                if Solver::check(setup).is_err() || setup.cells() > Setup::STANDARD.cells() =>
            {
                Err(OpeningError::OutOfReach(setup))
            }
            Openings::Balanced(plies) => sample(setup, *plies, true, count, seed, limits),
            Openings::Random(plies) => sample(setup, *plies, false, count, seed, limits),
        }
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
        let stop = Stop::new(limits);
        for openings in [Openings::Balanced(6), Openings::Random(4)] {
            match openings.choose_within(setup, count, seed, &stop.remaining(0)) {
                Err(OpeningError::OutOfReach(_) | OpeningError::Nothing { .. }) => {}
                chosen_or_stopped => return chosen_or_stopped,
            }
        }
        Ok(vec![Vec::new()])
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

/// Distinct random openings; balanced ones are draws under perfect play.
fn sample(
    setup: Setup,
    plies: u32,
    balanced: bool,
    count: usize,
    seed: u64,
    limits: &Limits,
) -> Result<Vec<Vec<Column>>, OpeningError> {
    let stop = Stop::new(limits);
    let mut solver = Solver::new(Options::default().with_books(embedded_books()));
    let games = RandomGames::new(setup);
    let mut random = fastrand::Rng::with_seed(seed);
    let mut tried = HashSet::new();
    let mut openings = Vec::new();
    let (mut failures, mut nodes_before) = (0, 0);
    while openings.len() < count && failures < MAX_FAILURES {
        if stop.is_requested() {
            return Err(OpeningError::Stopped);
        }
        failures += 1;
        let Some(game) = opening(&games, plies, &mut random) else { continue };
        let position = game.position();
        let key: u128 = with_board!(position, board => board.canonical_key().widen());
        if !tried.insert(key) {
            continue;
        }
        if balanced {
            let own_limit = MAX_NODES.saturating_sub(solver.nodes() - nodes_before);
            let remaining = stop.remaining(solver.nodes());
            let nodes = remaining.nodes.map_or(own_limit, |nodes| nodes.min(own_limit));
            let bounds = solver.sign_within(position, &remaining.clone().with_nodes(nodes));
            let bounds = bounds.map_err(|_| OpeningError::OutOfReach(setup))?;
            match bounds.exact() {
                Some(sign) if sign == Score::DRAW => {}
                Some(_) => continue,
                None if nodes < own_limit || stop.is_requested() => {
                    return Err(OpeningError::Stopped);
                }
                None if openings.is_empty() => return Err(OpeningError::OutOfReach(setup)),
                None => break,
            }
        }
        openings.push(game.moves().to_vec());
        (failures, nodes_before) = (0, solver.nodes());
    }
    if openings.is_empty() { Err(OpeningError::Nothing { setup, plies }) } else { Ok(openings) }
}

/// A random game that the next move cannot end.
fn opening(games: &RandomGames, plies: u32, random: &mut fastrand::Rng) -> Option<Game> {
    let game = games.attempt(plies, random)?;
    let goes_on = |column| {
        let mut next = *game.position();
        next.play(column).is_ok() && next.outcome().is_none()
    };
    let mut legal = game.position().legal().peekable();
    let useful = legal.peek().is_some() && legal.all(goes_on);
    useful.then(|| game.clone())
}

impl FromStr for Openings {
    type Err = String;

    fn from_str(text: &str) -> Result<Openings, String> {
        let plies = |text: &str| match text.parse() {
            Ok(plies @ 1..=30) => Ok(plies),
            _ => Err(format!("'{text}' is not a number of moves from 1 to 30")),
        };
        match text.split_once(':') {
            None if text == "none" => Ok(Openings::None),
            Some(("balanced", number)) => plies(number).map(Openings::Balanced),
            Some(("random", number)) => plies(number).map(Openings::Random),
            _ => Err(format!(
                "unknown openings '{text}' (available: none, balanced:PLIES, random:PLIES)"
            )),
        }
    }
}

impl fmt::Display for Openings {
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
    #[allow(missing_docs, reason = "the names say it")]
    Nothing { setup: Setup, plies: u32 },
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
            OpeningError::Nothing { setup, plies } => write!(
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
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
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
            let began = Instant::now();
            let stopped = Openings::Balanced(2).choose_within(setup, 50, 1, &limits);
            assert_eq!(stopped, Err(OpeningError::Stopped), "{limits:?}");
            let usual = Openings::choose_default_within(setup, 1_000_000, 1, &limits);
            assert_eq!(usual, Err(OpeningError::Stopped), "{limits:?}");
            assert!(began.elapsed() < Duration::from_secs(5), "{limits:?}");
        }
    }
}
