//! The score of a position under perfect play.

use std::fmt;
use std::ops::Neg;

use claimeven_game::{Outcome, Position};

/// The result of a position under perfect play, from the point of view of the side to move.
///
/// A positive score is a win: 1 with the winner's last disc, 2 with the disc before, and so on. 0
/// is a draw. A negative score is a loss, counted in the same way by the winner's discs.
///
/// ```
/// use claimeven_game::{Position, Setup};
/// use claimeven_solver::Solver;
///
/// let position = Position::from_moves(Setup::STANDARD, "36444341771566552351143")?;
/// let score = Solver::default().score(&position)?;
/// assert_eq!((score.value(), score.sign()), (2, 1));
/// assert_eq!(score.describe(&position), "wins in 9");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Score(i8);

impl Score {
    /// A draw.
    pub const DRAW: Score = Score(0);

    pub(crate) const fn new(value: i32) -> Score {
        Score(value as i8)
    }

    /// The score with this value; `None` if no position of any board has it.
    pub fn from_value(value: i32) -> Option<Score> {
        // A board has at most 128 cells, half of which are a player's.
        (-64..=64).contains(&value).then_some(Score::new(value))
    }

    /// The score as a number.
    pub const fn value(self) -> i32 {
        self.0 as i32
    }

    /// 1 if the side to move wins, 0 for a draw, -1 if it loses.
    pub const fn sign(self) -> i32 {
        self.0.signum() as i32
    }

    /// The score of a finished game, which is a loss or a draw for the side to move; `None` if the
    /// game is not over.
    pub fn of_finished(position: &Position) -> Option<Score> {
        let empty = position.setup().cells() - position.ply();
        position.outcome().map(|outcome| match outcome {
            Outcome::Draw => Score::DRAW,
            Outcome::Win(_) => -Score((empty / 2 + 1) as i8),
        })
    }

    /// The number of moves the winner needs, including the winning one; `None` for a draw.
    ///
    /// ```
    /// use claimeven_game::{Position, Setup};
    /// use claimeven_solver::Solver;
    ///
    /// let position = Position::from_moves(Setup::STANDARD, "4455").unwrap();
    /// let score = Solver::default().score(&position).unwrap();
    /// assert_eq!((score.value(), score.moves_to_win(&position)), (18, Some(2)));
    /// ```
    pub fn moves_to_win(self, position: &Position) -> Option<u32> {
        let (cells, ply) = (position.setup().cells(), position.ply());
        // The discs that the winner would still play until the board is full.
        let to_fill = match self.0 {
            0 => return None,
            1.. => (cells - ply).div_ceil(2),
            _ => (cells - ply) / 2,
        };
        Some((to_fill + 1).saturating_sub(self.0.unsigned_abs().into()))
    }

    /// The score in words: `wins in 3`, `loses in 3` or `draw`.
    pub fn describe(self, position: &Position) -> String {
        match (self.moves_to_win(position), self.0) {
            (Some(moves), 1..) => format!("wins in {moves}"),
            (Some(moves), _) => format!("loses in {moves}"),
            (None, _) => "draw".to_owned(),
        }
    }
}

impl Neg for Score {
    type Output = Score;

    fn neg(self) -> Score {
        Score(-self.0)
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
