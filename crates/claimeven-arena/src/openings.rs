//! Openings, so that two players do not repeat the same game.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use claimeven_game::{Bits, Column, Game, Setup, with_board};
use claimeven_search::RandomGames;
use claimeven_solver::{Options, Score, Solver, embedded_books};

/// How the games of a match begin.
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
    /// With the empty board.
    None,
    /// With distinct positions after so many moves whose exact value is a draw.
    Balanced(u32),
    /// With distinct positions after so many random moves.
    Random(u32),
    /// With given moves.
    Given(Vec<Vec<Column>>),
}

/// Rejected samples in a row after which no further openings are expected.
const MAX_FAILURES: u32 = 20_000;

impl Openings {
    /// Chooses `count` openings, or as many distinct ones as are found, at least one. The choice
    /// depends on the seed alone. In none of them is the game over or won with the next move.
    pub fn choose(
        &self,
        setup: Setup,
        count: usize,
        seed: u64,
    ) -> Result<Vec<Vec<Column>>, OpeningError> {
        let (plies, balanced) = match self {
            Openings::None => return Ok(vec![Vec::new()]),
            Openings::Given(openings) => return Ok(openings.clone()),
            Openings::Balanced(plies) => (*plies, true),
            Openings::Random(plies) => (*plies, false),
        };
        if balanced && (Solver::check(setup).is_err() || setup.cells() > Setup::STANDARD.cells()) {
            return Err(OpeningError::OutOfReach(setup));
        }
        let mut solver = Solver::new(Options::default().with_books(embedded_books()));
        let games = RandomGames::new(setup);
        let mut random = fastrand::Rng::with_seed(seed);
        let mut tried = HashSet::new();
        let mut openings = Vec::new();
        let mut failures = 0;
        while openings.len() < count && failures < MAX_FAILURES {
            failures += 1;
            let Some(game) = opening(&games, plies, &mut random) else { continue };
            let position = game.position();
            let key: u128 = with_board!(position, board => board.canonical_key().widen());
            let is_new = tried.insert(key);
            if is_new && (!balanced || solver.score(position) == Ok(Score::DRAW)) {
                openings.push(game.moves().to_vec());
                failures = 0;
            }
        }
        if openings.is_empty() { Err(OpeningError::Nothing { setup, plies }) } else { Ok(openings) }
    }

    /// The default openings: balanced ones on boards that can be solved, random ones elsewhere.
    pub fn choose_usual(setup: Setup, count: usize, seed: u64) -> Vec<Vec<Column>> {
        let balanced = Openings::Balanced(6).choose(setup, count, seed);
        let random = || Openings::Random(4).choose(setup, count, seed);
        balanced.or_else(|_| random()).unwrap_or_else(|_| vec![Vec::new()])
    }
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

/// Why no openings were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpeningError {
    /// Positions of the game cannot be solved in a reasonable time.
    OutOfReach(Setup),
    /// Nearly all random games of the setup are over by then.
    Nothing {
        /// The setup.
        setup: Setup,
        /// The length of the openings.
        plies: u32,
    },
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
        }
    }
}

impl std::error::Error for OpeningError {}
