//! Random positions, by random play.

use claimeven_game::{Column, Game, Setup};
use fastrand::Rng;

/// A game after so many random moves that is not over. Games that end too soon are started again;
/// `None` if so many attempts fail. On 10x10 with connect 3, for example, nearly every game ends
/// long before the board is half full.
///
/// ```
/// use claimeven_game::{Ruleset, Setup};
/// use claimeven_search::random_game;
///
/// let mut random = fastrand::Rng::with_seed(1);
/// let game = random_game(Setup::STANDARD, 12, 1000, &mut random).unwrap();
/// assert_eq!((game.position().ply(), game.position().outcome()), (12, None));
///
/// let impossible = Setup::new(7, 7, 2, Ruleset::Standard)?;
/// assert!(random_game(impossible, 20, 1000, &mut random).is_none());
/// # Ok::<(), claimeven_game::SetupError>(())
/// ```
pub fn random_game(setup: Setup, plies: u32, max_attempts: u32, random: &mut Rng) -> Option<Game> {
    let mut game = Game::new(setup);
    let mut attempts = 0;
    while game.position().ply() < plies {
        let legal: Vec<Column> = game.position().legal().collect();
        game.play(*random.choice(&legal)?).ok()?;
        if game.position().outcome().is_some() {
            attempts += 1;
            if attempts >= max_attempts {
                return None;
            }
            game = Game::new(setup);
        }
    }
    Some(game)
}
