//! The influence map: how much each empty cell matters to either player.
//!
//! Every group with discs of only one player adds influence to its empty cells: the fewer there
//! are, the more. Influence maps come from strategy games, where they show which army controls
//! which part of the map.
//!
//! ```text
//!   .  .  .  .  .  .  .
//!   .  .  .  .  .  .  .          X threatens both ends of its row of three: they
//!   .  .  .  .  .  .  .          have the most influence of X. The cells above them
//!   .  .  .  .  .  .  .          have less, for diagonals that are two discs short.
//!   .  .  O  O  .  .  .
//!   *  X  X  X  *  .  O
//! ```
//!
//! [`Influence`] plays by the map alone. It looks at the cell in which a disc would land and at the
//! one above, which becomes playable for the opponent, but not at replies. The heuristic
//! `influence` is the sum of the map, for searches.

use claimeven_game::{Bits, Board, Column, Player, Position, Rules, with_board};

use crate::agent::{
    Agent, AgentError, BoundKind, ColumnValue, Decision, Limits, SearchStats, Value,
};
use crate::groups::OpenGroups;
use crate::stop::Stop;
use crate::tie_break::TieBreak;

/// A player that follows an influence map, without search.
///
/// ```
/// use claimeven_game::{Position, Setup};
/// use claimeven_search::{Agent, Influence, Limits};
///
/// let position = Position::from_moves(Setup::STANDARD, "112233")?;
/// let decision = Influence::default().decide(&position, &Limits::default())?;
/// assert_eq!(decision.column.number(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Influence {
    /// Which of several equally good moves is played.
    pub tie_break: TieBreak,
    /// The seed for ties that the rule does not decide.
    pub seed: u64,
}

/// Points for the influence of a cell.
struct CellWeights {
    /// The cell completes a group.
    one_short: i32,
    /// The cell and another one complete a group.
    two_short: i32,
}

/// Playing on a cell of one's own groups: completing one wins.
const TAKE: CellWeights = CellWeights { one_short: 1_000_000, two_short: 12 };
/// Playing on a cell of the opponent's groups: blocking comes right after winning.
const DENY: CellWeights = CellWeights { one_short: 50_000, two_short: 10 };
/// Making a cell of the opponent's groups playable: if it completes one, that loses at once.
const OPEN: CellWeights = CellWeights { one_short: -2_000, two_short: -4 };
/// Making a cell of one's own groups playable, so that the opponent can block it.
const SPOIL: CellWeights = CellWeights { one_short: -60, two_short: -2 };

impl Agent for Influence {
    fn decide(&mut self, position: &Position, limits: &Limits) -> Result<Decision, AgentError> {
        let stop = Stop::new(limits, None, None);
        let order = self.tie_break.order(position, self.seed);
        let points = |column: Column| with_board!(position, board => column_points(&board, column));
        // `max_by_key` returns the last of several equal moves.
        let best = order.iter().rev().copied().max_by_key(|&column| points(column));
        let column = best.ok_or(AgentError::GameOver)?;
        let mut columns = vec![None; position.setup().cols().into()];
        for &column in &order {
            let value = Value::Points(points(column));
            columns[column.index()] = Some(ColumnValue { value, bound: BoundKind::Exact });
        }
        Ok(Decision {
            column,
            value: Value::Points(points(column)),
            columns,
            shares: Vec::new(),
            pv: vec![column],
            stats: SearchStats { nodes: 1, leaves: order.len() as u64, ..SearchStats::default() },
            time: stop.elapsed(),
            stopped: false,
        })
    }
}

/// The points of a move.
fn column_points<R: Rules>(board: &Board<R>, column: Column) -> i32 {
    let (own, other) = (board.own(), board.other());
    let cell = board.open() & board.rules().column(column);
    let above = (cell << 1) & board.rules().cells();
    let influence = |cell: R::Bits, own: R::Bits, other: R::Bits, weights: CellWeights| {
        let count = |select: fn(&OpenGroups<R::Bits>) -> R::Bits| {
            groups_through(board.rules(), cell, own, other, select) as i32
        };
        weights.one_short * count(|groups| groups.one_short)
            + weights.two_short * count(|groups| groups.two_short)
    };
    let room = room(board.rules(), cell, other) as i32;
    influence(cell, own, other, TAKE)
        + influence(cell, other, own, DENY)
        + influence(above, other, own, OPEN)
        + influence(above, own, other, SPOIL)
        + room
}

/// The number of groups through a cell without a disc of the opponent; largest in the centre.
fn room<R: Rules>(rules: R, cell: R::Bits, other: R::Bits) -> u32 {
    let through = |direction| {
        let groups = rules.lines(rules.cells() & !other, direction);
        count_through(rules, groups, direction, cell)
    };
    rules.directions().into_iter().map(through).sum()
}

/// The number of groups of one direction through a cell.
fn count_through<R: Rules>(rules: R, groups: R::Bits, direction: u32, cell: R::Bits) -> u32 {
    let steps = 0..u32::from(rules.setup().connect());
    steps.map(|step| (groups & cell.shifted_down(step * direction)).count()).sum()
}

/// The number of selected groups through a cell.
fn groups_through<R: Rules>(
    rules: R,
    cell: R::Bits,
    own: R::Bits,
    other: R::Bits,
    select: impl Fn(&OpenGroups<R::Bits>) -> R::Bits,
) -> u32 {
    let through = |direction| {
        let groups = select(&OpenGroups::new(rules, direction, own, other));
        count_through(rules, groups, direction, cell)
    };
    rules.directions().into_iter().map(through).sum()
}

/// The influence of a group on its empty cells, by their height above the discs of their column.
struct InfluenceWeights {
    one_short: CellFactors,
    two_short: CellFactors,
}

struct CellFactors {
    /// The next disc of the column lands here.
    open: i64,
    /// The one after that.
    next: i64,
    /// Higher up.
    high: i64,
    /// In addition, if the cell is not playable yet and its row is the player's by *claimeven*: the
    /// rows that the player gets when both sides fill the columns in turn.
    claimed: i64,
}

const INFLUENCE: InfluenceWeights = InfluenceWeights {
    one_short: CellFactors { open: 32, next: 20, high: 24, claimed: 24 },
    two_short: CellFactors { open: 6, next: 4, high: 3, claimed: 2 },
};

/// The sum of the map: the player's influence minus the opponent's.
pub(crate) fn influence_points<R: Rules>(board: &Board<R>, player: Player) -> i64 {
    let rules = board.rules();
    let empty = rules.cells() & !board.filled();
    let open = board.open();
    let next = (open << 1) & rules.cells();
    let high = empty & !(open | next);
    let sum = |player: Player| {
        let (own, other) = (board.discs(player), board.discs(player.opponent()));
        let claimed = claimed_rows(rules, player) & empty & !open;
        let mut sum = 0;
        for direction in rules.directions() {
            let groups = OpenGroups::new(rules, direction, own, other);
            let kinds =
                [(groups.one_short, INFLUENCE.one_short), (groups.two_short, INFLUENCE.two_short)];
            for (groups, factors) in kinds {
                if groups.is_empty() {
                    continue;
                }
                for step in 0..u32::from(rules.setup().connect()) {
                    // No group extends beyond the board, so nothing is shifted out.
                    let cells = if step == 0 { groups } else { groups << (step * direction) };
                    let count = |of: R::Bits| i64::from((cells & of).count());
                    sum += factors.open * count(open)
                        + factors.next * count(next)
                        + factors.high * count(high)
                        + factors.claimed * count(claimed);
                }
            }
        }
        sum
    };
    sum(player) - sum(player.opponent())
}

/// The rows of a player by *claimeven*, on boards with an even number of rows: the odd ones are the
/// first player's, the even ones the second player's.
fn claimed_rows<R: Rules>(rules: R, player: Player) -> R::Bits {
    let rows = u32::from(rules.setup().rows());
    if !rows.is_multiple_of(2) {
        return R::Bits::ZERO;
    }
    let first = u32::from(player == Player::Second);
    (first..rows).step_by(2).fold(R::Bits::ZERO, |cells, row| cells | rules.bottom() << row)
}
