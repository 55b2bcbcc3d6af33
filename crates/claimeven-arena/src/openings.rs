//! Beginnings of games, so that two players do not play the same game again and again.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use claimeven_game::{Bits, Column, Game, Setup, with_board};
use claimeven_solver::{Options, Score, Solver, embedded_books};

/// How games of a match begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Openings {
    /// From the empty board.
    None,
    /// From different drawn positions after so many moves.
    Balanced(u32),
    /// From different positions after so many random moves.
    Random(u32),
    /// From given positions.
    Given(Vec<Vec<Column>>),
}

/// How often a random beginning may be of no use before there are taken to be no more.
const MAX_FAILURES: u32 = 20_000;

impl Openings {
    /// So many beginnings, or as many different ones as there are, at least one; the same for the
    /// same seed. No game is over or can be won at once.
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
        let mut random = fastrand::Rng::with_seed(seed);
        let mut tried = HashSet::new();
        let mut openings = Vec::new();
        let mut failures = 0;
        while openings.len() < count && failures < MAX_FAILURES {
            failures += 1;
            let Some(game) = random_game(setup, plies, &mut random) else { continue };
            let position = game.position();
            let key: u128 = with_board!(position, board => board.canonical_key().widen());
            let is_new = tried.insert(key);
            if is_new && (!balanced || solver.score(position) == Ok(Score::DRAW)) {
                openings.push(game.moves().to_vec());
                failures = 0;
            }
        }
        if openings.is_empty() { Err(OpeningError::Nothing { plies }) } else { Ok(openings) }
    }

    /// The beginnings for those who ask for none in particular: balanced ones where positions can
    /// be solved; elsewhere chance has to be balance enough.
    pub fn choose_usual(setup: Setup, count: usize, seed: u64) -> Vec<Vec<Column>> {
        let balanced = Openings::Balanced(6).choose(setup, count, seed);
        let random = || Openings::Random(4).choose(setup, count, seed);
        balanced.or_else(|_| random()).unwrap_or_else(|_| vec![Vec::new()])
    }
}

/// Random moves after which the game goes on and the next one cannot end it.
fn random_game(setup: Setup, plies: u32, random: &mut fastrand::Rng) -> Option<Game> {
    let mut game = Game::new(setup);
    for _ in 0..plies {
        let legal: Vec<Column> = game.position().legal().collect();
        game.play(*random.choice(&legal)?).expect("the column is a legal one");
    }
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
            _ => Err(format!("'{text}' is none of none, balanced:PLIES and random:PLIES")),
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

/// Why there are no openings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpeningError {
    /// Positions of the game cannot be solved in a reasonable time.
    OutOfReach(Setup),
    /// No position after so many moves will do.
    Nothing {
        /// The moves.
        plies: u32,
    },
}

impl fmt::Display for OpeningError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpeningError::OutOfReach(setup) => write!(
                f,
                "balanced openings take exact scores, which are out of reach for {setup}; \
                 random:PLIES needs none"
            ),
            OpeningError::Nothing { plies } => {
                write!(f, "there is no such opening of {plies} moves")
            }
        }
    }
}

impl std::error::Error for OpeningError {}
