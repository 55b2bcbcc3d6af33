//! Random games: the sampler of positions for openings, exams and tests.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use claimeven_game::{Column, Game, Setup};
use fastrand::Rng;

/// A sampler of random games that are not over after a given number of plies.
///
/// Games that end too soon are rejected. On boards where nearly all of them do, such as 10x10 with
/// connect 3, sampling fails after [`RandomGames::MAX_ATTEMPTS`] games.
///
/// ```
/// use claimeven_game::{Ruleset, Setup};
/// use claimeven_search::RandomGames;
///
/// let mut random = fastrand::Rng::with_seed(1);
/// let game = RandomGames::new(Setup::STANDARD).sample(12, &mut random)?;
/// assert_eq!(game.moves().len(), 12);
///
/// let too_short = Setup::new(7, 7, 2, Ruleset::Standard)?;
/// assert!(RandomGames::new(too_short).sample(40, &mut random).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct RandomGames {
    setup: Setup,
    max_attempts: u32,
    cancel: Option<Arc<AtomicBool>>,
}

impl RandomGames {
    /// The default number of games tried for one sample.
    pub const MAX_ATTEMPTS: u32 = 20_000;

    /// A sampler for games of a setup.
    pub fn new(setup: Setup) -> RandomGames {
        RandomGames { setup, max_attempts: RandomGames::MAX_ATTEMPTS, cancel: None }
    }

    /// Sets the number of games tried for one sample.
    pub fn with_max_attempts(self, max_attempts: u32) -> RandomGames {
        RandomGames { max_attempts, ..self }
    }

    /// Adds a flag that cancels the sampling.
    pub fn with_cancel(self, cancel: Arc<AtomicBool>) -> RandomGames {
        RandomGames { cancel: Some(cancel), ..self }
    }

    /// A game of `plies` random moves that is not over.
    pub fn sample(&self, plies: u32, random: &mut Rng) -> Result<Game, RandomGameError> {
        let rare = RandomGameError::Rare { setup: self.setup, plies };
        if plies >= self.setup.cells() {
            return Err(rare);
        }
        for _ in 0..self.max_attempts {
            if self.cancel.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
                return Err(RandomGameError::Cancelled);
            }
            if let Some(game) = self.attempt(plies, random) {
                return Ok(game);
            }
        }
        Err(rare)
    }

    /// One game of `plies` random moves; `None` if it is over by then.
    pub fn attempt(&self, plies: u32, random: &mut Rng) -> Option<Game> {
        let mut game = Game::new(self.setup);
        while game.moves().len() < plies as usize {
            let legal: Vec<Column> = game.position().legal().collect();
            game.play(*random.choice(&legal)?).expect("the move is legal");
        }
        game.position().outcome().is_none().then_some(game)
    }
}

/// Why no random game was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RandomGameError {
    /// Too few random games of the setup last that long.
    Rare {
        /// The setup.
        setup: Setup,
        /// The length of the games.
        plies: u32,
    },
    /// The sampling was cancelled.
    Cancelled,
}

impl fmt::Display for RandomGameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RandomGameError::Rare { setup, plies } => {
                write!(f, "nearly all random games of {setup} are over before ply {plies}")
            }
            RandomGameError::Cancelled => f.write_str("the sampling of random games was cancelled"),
        }
    }
}

impl std::error::Error for RandomGameError {}

#[cfg(test)]
mod tests {
    use claimeven_game::Ruleset;

    use super::*;

    #[test]
    fn games_have_the_requested_length_and_depend_only_on_the_seed() {
        let games = |seed| {
            let mut random = Rng::with_seed(seed);
            let sampler = RandomGames::new(Setup::STANDARD);
            (0..36).map(|plies| sampler.sample(plies, &mut random).unwrap()).collect::<Vec<_>>()
        };
        for (plies, game) in games(5).iter().enumerate() {
            assert_eq!(game.moves().len(), plies);
            assert!(game.position().outcome().is_none());
        }
        let texts = |seed| games(seed).iter().map(Game::move_text).collect::<Vec<_>>();
        assert_eq!(texts(5), texts(5));
        assert_ne!(texts(5), texts(6));
    }

    #[test]
    fn boards_where_games_end_too_early_are_rejected() {
        let mut random = Rng::with_seed(1);
        for (cols, rows, connect, plies) in [(10, 10, 3, 60), (7, 7, 2, 40), (7, 6, 4, 42)] {
            let setup = Setup::new(cols, rows, connect, Ruleset::Standard).unwrap();
            let error = RandomGames::new(setup).sample(plies, &mut random).unwrap_err();
            assert_eq!(error, RandomGameError::Rare { setup, plies });
            assert!(error.to_string().contains(&setup.to_string()), "{error}");
        }
    }

    #[test]
    fn sampling_can_be_cancelled() {
        let setup = Setup::new(7, 7, 2, Ruleset::Standard).unwrap();
        let sampler = RandomGames::new(setup).with_cancel(Arc::new(AtomicBool::new(true)));
        let cancelled = sampler.sample(12, &mut Rng::with_seed(1));
        assert_eq!(cancelled.unwrap_err(), RandomGameError::Cancelled);
    }
}
