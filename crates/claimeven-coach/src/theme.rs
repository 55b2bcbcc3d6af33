//! Themes: what decides a position; puzzles and lost games are grouped by them.

use claimeven_game::Cell;

use crate::explain::{MoveExplanation, MoveNote};
use crate::reason::{Explanation, Reason, longest};

/// What decides a position or punishes a mistake.
///
/// ```
/// use claimeven_coach::{Coach, Theme};
/// use claimeven_game::{Position, Setup};
///
/// let position = Position::from_moves(Setup::STANDARD, "445566")?;
/// assert_eq!(Coach::new().explain(&position)?.themes(), [Theme::WinNow]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Theme {
    /// A player connects four at once.
    WinNow,
    /// The opponent would connect four with its next disc.
    MustBlock,
    /// A move lets the opponent connect four right above it.
    OpensFour,
    /// Two open threats, only one of which can be blocked.
    DoubleThreat,
    /// A threat right above the cell where another one is blocked.
    StackedThreats,
    /// A sequence of threats that have to be blocked.
    ForcingMoves,
    /// The loser has to play right below a threat in an odd row.
    OddThreat,
    /// The loser has to play right below a threat in an even row.
    EvenThreat,
    /// Every move opens a cell for the opponent's four.
    NoSafeMove,
    /// Answering right above every move (claimeven).
    FollowUp,
    /// A long plan without a simpler name.
    LongPlan,
    /// Only one move holds the draw.
    SaveTheDraw,
}

impl Theme {
    /// All themes, simple ones first.
    pub const ALL: [Theme; 12] = [
        Theme::WinNow,
        Theme::MustBlock,
        Theme::OpensFour,
        Theme::DoubleThreat,
        Theme::StackedThreats,
        Theme::ForcingMoves,
        Theme::OddThreat,
        Theme::EvenThreat,
        Theme::NoSafeMove,
        Theme::FollowUp,
        Theme::LongPlan,
        Theme::SaveTheDraw,
    ];

    /// The name in files and in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Theme::WinNow => "win-now",
            Theme::MustBlock => "must-block",
            Theme::OpensFour => "opens-four",
            Theme::DoubleThreat => "double-threat",
            Theme::StackedThreats => "stacked-threats",
            Theme::ForcingMoves => "forcing-moves",
            Theme::OddThreat => "odd-threat",
            Theme::EvenThreat => "even-threat",
            Theme::NoSafeMove => "no-safe-move",
            Theme::FollowUp => "follow-up",
            Theme::LongPlan => "long-plan",
            Theme::SaveTheDraw => "save-the-draw",
        }
    }
}

impl Reason {
    /// The themes of the reason, the one that ends the game first.
    pub fn themes(&self) -> Vec<Theme> {
        match self {
            Reason::Over { .. } | Reason::WinsNow { .. } => vec![Theme::WinNow],
            Reason::DoubleThreat { cells: [first, second], .. } => {
                let is_stacked = first.column == second.column;
                vec![if is_stacked { Theme::StackedThreats } else { Theme::DoubleThreat }]
            }
            Reason::EveryMoveOpens { .. } => vec![Theme::NoSafeMove],
            Reason::Forced { moves, end, .. } => {
                let mut themes = end.themes();
                // A single threat that leads to a double one is not a sequence.
                if moves.len() > 2 {
                    themes.push(Theme::ForcingMoves);
                }
                themes
            }
            Reason::EveryReply { replies, .. } => {
                let then = longest(replies).map(|(_, reason)| reason.themes());
                then.unwrap_or_else(|| vec![Theme::NoSafeMove])
            }
            Reason::Plan(plan) if plan.held.is_empty() => vec![Theme::FollowUp],
            Reason::Plan(plan) => {
                let is_odd = |cell: &Cell| cell.row.is_multiple_of(2);
                let any_odd = plan.held.iter().any(is_odd);
                let any_even = !plan.held.iter().all(is_odd);
                let both = [(any_odd, Theme::OddThreat), (any_even, Theme::EvenThreat)];
                both.into_iter().filter_map(|(applies, theme)| applies.then_some(theme)).collect()
            }
            Reason::Draw { .. } => vec![Theme::SaveTheDraw],
            Reason::Numbers { .. } | Reason::Calculation { .. } => vec![Theme::LongPlan],
        }
    }
}

impl Explanation {
    /// The themes of the position, the one that ends the game first.
    pub fn themes(&self) -> Vec<Theme> {
        self.reason.themes()
    }
}

impl MoveExplanation {
    /// The theme of a mistake: what it overlooked, what it allowed, or the win that it gave away.
    pub fn theme(&self) -> Option<Theme> {
        let (_, kept) = self.better.as_ref()?;
        let at_first_sight = match self.note {
            Some(MoveNote::MissesFour { .. }) => Some(Theme::WinNow),
            Some(MoveNote::LeavesFour { .. }) => Some(Theme::MustBlock),
            Some(MoveNote::Opens { .. }) => Some(Theme::OpensFour),
            None => None,
        };
        let punished_by = if self.after.winner().is_some() { &self.after } else { kept };
        at_first_sight.or_else(|| punished_by.themes().first().copied())
    }

    /// The cells that decide the game after a mistake: the threats that the winner waits for.
    pub fn deciding_cells(&self) -> Vec<Cell> {
        match (&self.note, &self.after.reason) {
            (Some(MoveNote::Opens { cell } | MoveNote::LeavesFour { cell }), _) => vec![*cell],
            (None, Reason::Plan(plan)) => plan.held.clone(),
            _ => Vec::new(),
        }
    }
}
