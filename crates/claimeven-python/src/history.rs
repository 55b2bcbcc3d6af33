//! The moves of a match's games, for players written in Python: the search interface passes positions
//! without them.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use claimeven_game::{Column, Game, Position, Setup};

/// The openings of a match, by the positions in which players first see its games.
#[derive(Default)]
pub(crate) struct KnownOpenings(OnceLock<HashMap<u128, Vec<Column>>>);

impl KnownOpenings {
    /// Sets the openings once they have been chosen.
    pub(crate) fn set(&self, setup: Setup, openings: &[Vec<Column>]) {
        let mut known = HashMap::new();
        // Where two openings lead to the same position, the first stands for both.
        let mut insert = |game: &Game| {
            known.entry(game.position().key()).or_insert_with(|| game.moves().to_vec());
        };
        for opening in openings {
            let mut game = Game::new(setup);
            if opening.iter().all(|&column| game.play(column).is_ok()) {
                insert(&game);
                // The player who moves second sees the game after the first reply.
                for column in game.position().legal().collect::<Vec<_>>() {
                    game.play(column).expect("the move is legal");
                    insert(&game);
                    game.undo();
                }
            }
        }
        // They are set once per match.
        let _ = self.0.set(known);
    }

    fn game(&self, position: &Position) -> Option<Game> {
        let moves = self.0.get()?.get(&position.key())?;
        let mut game = Game::new(position.setup());
        moves.iter().try_for_each(|&column| game.play(column)).ok()?;
        Some(game)
    }
}

/// A game as one of its players sees it.
pub(crate) struct History {
    openings: Arc<KnownOpenings>,
    game: Option<Game>,
}

impl History {
    pub(crate) fn new(openings: Arc<KnownOpenings>) -> History {
        History { openings, game: None }
    }

    /// The game with the reply that led to a position, if it can be known.
    pub(crate) fn follow(&mut self, position: &Position) -> Option<&Game> {
        let known = self.game.take().and_then(|game| after_reply(game, position));
        self.game = known.or_else(|| self.openings.game(position));
        self.game.as_ref()
    }

    /// Adds the player's own move.
    pub(crate) fn play(&mut self, column: Column) {
        self.game = self.game.take().and_then(|mut game| {
            game.play(column).ok()?;
            Some(game)
        });
    }
}

fn after_reply(mut game: Game, position: &Position) -> Option<Game> {
    if game.position() == position {
        return Some(game);
    }
    let reply = game.position().legal().find(|&column| {
        let mut next = *game.position();
        next.play(column).is_ok() && next == *position
    })?;
    game.play(reply).ok()?;
    Some(game)
}
