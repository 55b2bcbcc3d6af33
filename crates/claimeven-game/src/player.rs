//! The two players.

use std::fmt;

/// One of the two players: the first to move has the discs `X`, the second `O`.
///
/// ```
/// use claimeven_game::{Player, Position, Setup};
///
/// let position = Position::from_moves(Setup::STANDARD, "44")?;
/// assert_eq!((position.player(), position.player().opponent()), (Player::First, Player::Second));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Player {
    /// Moves first and has the discs `X`.
    First,
    /// Moves second and has the discs `O`.
    Second,
}

impl Player {
    /// Both players in move order.
    pub const BOTH: [Player; 2] = [Player::First, Player::Second];

    /// The other player.
    pub const fn opponent(self) -> Player {
        match self {
            Player::First => Player::Second,
            Player::Second => Player::First,
        }
    }

    /// 0 for the first player, 1 for the second.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The player's disc in a picture.
    pub const fn disc(self) -> char {
        match self {
            Player::First => 'X',
            Player::Second => 'O',
        }
    }
}

impl fmt::Display for Player {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.disc())
    }
}
