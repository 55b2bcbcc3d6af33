//! The choice between equally good moves.

use std::fmt;
use std::str::FromStr;

use claimeven_game::{Column, Position, mix_key};
use fastrand::Rng;

/// The choice between equally good moves.
///
/// ```
/// use claimeven_search::TieBreak;
///
/// assert_eq!("centre".parse::<TieBreak>().unwrap(), TieBreak::default());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TieBreak {
    /// The leftmost.
    First,
    /// The rightmost.
    Last,
    /// The one closest to the centre; the seed chooses between two at the same distance.
    #[default]
    Centre,
    /// A random one, chosen by the seed.
    Random,
}

impl TieBreak {
    /// All rules, in the order shown to users.
    pub const ALL: [TieBreak; 4] =
        [TieBreak::First, TieBreak::Last, TieBreak::Centre, TieBreak::Random];

    /// The name of the rule for users.
    pub const fn name(self) -> &'static str {
        match self {
            TieBreak::First => "first",
            TieBreak::Last => "last",
            TieBreak::Centre => "centre",
            TieBreak::Random => "random",
        }
    }

    /// The legal columns of a position, the preferred one first.
    ///
    /// A search that tries the moves of its root in this order, and replaces its choice only by a
    /// better one, breaks ties by this rule.
    pub(crate) fn order(self, position: &Position, seed: u64) -> Vec<Column> {
        let mut columns: Vec<Column> = position.legal().collect();
        if matches!(self, TieBreak::Centre | TieBreak::Random) {
            generator(position, seed).shuffle(&mut columns);
        }
        match self {
            TieBreak::First | TieBreak::Random => {}
            TieBreak::Last => columns.reverse(),
            TieBreak::Centre => {
                columns.sort_by_key(|column| column.distance_from_centre(position.setup()));
            }
        }
        columns
    }
}

impl fmt::Display for TieBreak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for TieBreak {
    type Err = UnknownTieBreak;

    fn from_str(text: &str) -> Result<TieBreak, UnknownTieBreak> {
        let rule = TieBreak::ALL.into_iter().find(|rule| rule.name() == text);
        rule.ok_or_else(|| UnknownTieBreak(text.to_owned()))
    }
}

/// A text that is not a tie-break rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownTieBreak(pub String);

impl fmt::Display for UnknownTieBreak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = TieBreak::ALL.map(TieBreak::name).join(", ");
        write!(f, "unknown tie-break '{}' (available: {names})", self.0)
    }
}

impl std::error::Error for UnknownTieBreak {}

/// A random number generator for one decision: the same position and seed give the same numbers,
/// whatever was decided before.
pub(crate) fn generator(position: &Position, seed: u64) -> Rng {
    Rng::with_seed(seed ^ mix_key(position.key()))
}
