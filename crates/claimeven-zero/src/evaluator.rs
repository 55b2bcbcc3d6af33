//! What a search asks and who answers.

use claimeven_game::{Column, Position};

/// Judges positions, many at a time.
///
/// The search collects positions and asks about all of them at once; it never knows whether a
/// network answers, a cache or something made up for a test.
pub trait Evaluator {
    /// Judges positions of unfinished games, one answer for each in the same order. What
    /// `answers` had before is forgotten; its memory is used again.
    fn evaluate(&mut self, positions: &[Position], answers: &mut Vec<Answer>);
}

/// What is thought of a position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The chance of each column to be the one to play, from the left; 0 where nobody can play.
    pub policy: Vec<f32>,
    /// How the game will end for the side to move.
    pub value: Chances,
}

impl Answer {
    /// The column with the greatest chance, by index.
    pub fn best_column(&self) -> usize {
        let chances = self.policy.iter().enumerate();
        chances.max_by(|a, b| a.1.total_cmp(b.1)).expect("a board has columns").0
    }
}

/// The chances of a win and a draw; the rest is the chance of a loss.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Chances {
    /// The chance of a win.
    pub win: f32,
    /// The chance of a draw.
    pub draw: f32,
}

impl Chances {
    /// A sure win.
    pub const WIN: Chances = Chances { win: 1.0, draw: 0.0 };
    /// A sure draw.
    pub const DRAW: Chances = Chances { win: 0.0, draw: 1.0 };
    /// A sure loss.
    pub const LOSS: Chances = Chances { win: 0.0, draw: 0.0 };

    /// The chance of a loss.
    pub fn loss(self) -> f32 {
        1.0 - self.win - self.draw
    }

    /// The expected result: 1 for a win, 0.5 for a draw, 0 for a loss.
    pub fn expected(self) -> f32 {
        self.win + 0.5 * self.draw
    }

    /// The same as the other side sees it.
    pub fn reversed(self) -> Chances {
        Chances { win: self.loss(), ..self }
    }

    /// So much of this and the rest of the other.
    pub fn mixed(self, share: f32, other: Chances) -> Chances {
        Chances {
            win: share * self.win + (1.0 - share) * other.win,
            draw: share * self.draw + (1.0 - share) * other.draw,
        }
    }
}

/// Knows nothing: every legal column has the same chance, and so has every result.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ignorant;

impl Evaluator for Ignorant {
    fn evaluate(&mut self, positions: &[Position], answers: &mut Vec<Answer>) {
        answers.clear();
        answers.extend(positions.iter().map(|position| {
            let mut policy = vec![0.0; position.setup().cols().into()];
            let legal: Vec<Column> = position.legal().collect();
            for column in &legal {
                policy[column.index()] = 1.0 / legal.len() as f32;
            }
            Answer { policy, value: Chances { win: 0.375, draw: 0.25 } }
        }));
    }
}
