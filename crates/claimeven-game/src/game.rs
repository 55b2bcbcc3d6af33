//! A game: its setup and its moves.

use crate::{Column, PlayError, Position, Setup};

/// A game: a position together with the moves that led to it from the empty board.
///
/// A game is written as its moves, preceded by its setup unless that is the standard one:
///
/// ```
/// use claimeven_game::Game;
///
/// let mut game: Game = "4453".parse()?;
/// game.play("3".parse()?)?;
/// assert_eq!(game.to_string(), "44533");
///
/// let game: Game = "9x7, connect 4, lines: 4453".parse()?;
/// assert_eq!(game.to_string(), "9x7, connect 4, lines: 4453");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Game {
    position: Position,
    moves: Vec<Column>,
}

impl Game {
    /// A game before its first move.
    pub fn new(setup: Setup) -> Game {
        // Room for the longest game, at most 128 bytes.
        let moves = Vec::with_capacity(setup.cells() as usize);
        Game { position: Position::new(setup), moves }
    }

    /// The position after the last move.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// The moves so far.
    pub fn moves(&self) -> &[Column] {
        &self.moves
    }

    /// Plays a move for the side to move.
    #[inline]
    pub fn play(&mut self, column: Column) -> Result<(), PlayError> {
        self.position.play(column)?;
        self.moves.push(column);
        Ok(())
    }

    /// Takes the last move back and returns it; `None` at the start of the game.
    pub fn undo(&mut self) -> Option<Column> {
        let column = self.moves.pop()?;
        self.position.undo(column).expect("it was the last move");
        Some(column)
    }
}
