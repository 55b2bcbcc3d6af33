//! A game as it is kept: its setup and its moves.

use crate::{Column, PlayError, Position, Setup};

/// A position together with the moves that led to it from the empty board.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Game {
    position: Position,
    moves: Vec<Column>,
}

impl Game {
    /// A game before its first move.
    pub fn new(setup: Setup) -> Game {
        Game { position: Position::new(setup), moves: Vec::new() }
    }

    /// The position now.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// The moves so far.
    pub fn moves(&self) -> &[Column] {
        &self.moves
    }

    /// Plays a move of the side to move, or says why it cannot.
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
