//! Verifiers: they play reasons out against every reply.

use std::collections::HashSet;

use claimeven_game::{Cell, Column, Outcome, Player, Position};
use claimeven_solver::Solver;

use crate::plan::{Plan, Race};
use crate::reason::{Explanation, Hold, Reason};

/// Whether the solver agrees with an explanation: its score, every move of its line, and its
/// result.
///
/// `false` if the solver does not support the ruleset.
pub fn verify_by_solver(explanation: &Explanation, solver: &mut Solver) -> bool {
    let mut score = |position: &Position| solver.score(position).ok();
    let mut position = explanation.position;
    let mut before = score(&position);
    if before != Some(explanation.score) {
        return false;
    }
    for &column in &explanation.line {
        let Some(next) = play(&position, column) else { return false };
        position = next;
        let after = score(&position);
        if after.map(|after| -after) != before {
            return false;
        }
        before = after;
    }
    let shown = match &explanation.reason {
        Reason::Over { winner, .. } => *winner,
        Reason::WinsNow { winner, .. }
        | Reason::DoubleThreat { winner, .. }
        | Reason::EveryMoveOpens { winner, .. }
        | Reason::Forced { winner, .. }
        | Reason::EveryReply { winner, .. }
        | Reason::Numbers { winner, .. } => Some(*winner),
        Reason::Plan(plan) => Some(plan.owner),
        Reason::Draw { .. } => None,
        Reason::Calculation { plies } => {
            let left = position.setup().cells() - position.ply();
            let moves = explanation.score.moves_to_win(&position);
            return *plies <= left && moves.is_none_or(|moves| plies.div_ceil(2) == moves);
        }
    };
    shown == explanation.winner()
}

/// Whether a reason holds in a position.
///
/// Plans and forced sequences are played out against every reply, using only the rules of the game.
/// [`Reason::Calculation`] and draws by calculation are left to [`verify_by_solver`].
///
/// ```
/// use claimeven_coach::{Coach, verify};
/// use claimeven_game::{Position, Setup};
///
/// let position = Position::from_moves(Setup::STANDARD, "445566")?;
/// let explanation = Coach::new().explain(&position)?;
/// assert!(verify(&explanation.end(), &explanation.reason));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn verify(position: &Position, reason: &Reason) -> bool {
    match reason {
        Reason::Over { winner, four } => {
            position.outcome() == Some(winner.map_or(Outcome::Draw, Outcome::Win))
                && four.iter().all(|&cell| position.disc(cell) == *winner)
        }
        Reason::WinsNow { winner, cell, four } => {
            position.player() == *winner
                && connects(position, *winner, *cell, four)
                && play(position, cell.column).is_some_and(|after| is_won(&after, *winner))
        }
        Reason::DoubleThreat { winner, cells, fours } => {
            let stacked = cells[0].column == cells[1].column && cells[0].row + 1 == cells[1].row;
            position.player() != *winner
                && cells
                    .iter()
                    .zip(fours)
                    .all(|(&cell, four)| connects(position, *winner, cell, four))
                && is_open(position, cells[0])
                && (is_open(position, cells[1]) || stacked)
                && every_reply(position, |after| wins_now(after, *winner))
        }
        Reason::EveryMoveOpens { winner, cells } => {
            position.player() != *winner
                && every_reply(position, |after| {
                    cells.iter().any(|&cell| {
                        is_open(after, cell)
                            && play(after, cell.column).is_some_and(|won| is_won(&won, *winner))
                    })
                })
        }
        Reason::Forced { winner, moves, end } => forced(position, *winner, moves, end),
        Reason::Plan(plan) => plan.wins() && plan_holds(position, plan),
        Reason::EveryReply { winner, replies } => {
            position.player() != *winner
                && position.legal().all(|column| {
                    let Some(after) = play(position, column) else { return false };
                    match replies.iter().find(|(reply, _)| *reply == column) {
                        Some((_, reason)) => verify(&after, reason),
                        None => wins_now(&after, *winner),
                    }
                })
        }
        Reason::Numbers { winner, diagram } => {
            position.player() != *winner
                && holds(position, *winner, true, |position, _| diagram.answer(position))
        }
        Reason::Draw { holds } => {
            Player::BOTH.into_iter().zip(holds).all(|(player, hold)| match hold {
                None => true,
                Some(Hold::NoFourLeft) => has_no_four_left(position, player),
                Some(Hold::Plan(plan)) => plan.owner != player && plan_holds(position, plan),
            })
        }
        Reason::Calculation { .. } => true,
    }
}

/// Whether a sequence is forced: every other reply loses at once.
fn forced(position: &Position, winner: Player, moves: &[Column], end: &Reason) -> bool {
    let Some((&column, rest)) = moves.split_first() else { return verify(position, end) };
    let continues = play(position, column)
        .is_some_and(|after| after.outcome().is_none() && forced(&after, winner, rest, end));
    let others_lose = position.player() == winner
        || position
            .legal()
            .filter(|&other| other != column)
            .all(|other| play(position, other).is_some_and(|after| wins_now(&after, winner)));
    continues && others_lose
}

/// Plays a plan out against every reply: a winning plan has to win, any other must not lose.
fn plan_holds(position: &Position, plan: &Plan) -> bool {
    // The owner gets its discs and the upper cell of every pair.
    let is_owned = |cell: &Cell| {
        position.disc(*cell) == Some(plan.owner)
            || (position.disc(*cell).is_none() && plan.pairs.iter().any(|[_, upper]| upper == cell))
    };
    let fours_are_owned = plan.four.iter().all(|four| four.iter().all(is_owned));
    let are_threats = plan.held.iter().all(|cell| position.threats(plan.owner).contains(cell));
    let are_open = plan.couples.iter().flatten().all(|&cell| is_open(position, cell));
    // The opponent gets no cell from a held one upwards.
    let opponent_gets = |cell: Cell| {
        let is_held = |held: &Cell| held.column == cell.column && cell.row >= held.row;
        !is_owned(&cell) && !plan.held.iter().any(is_held)
    };
    let race_is_won = match &plan.race {
        None => !has_four_within(position, opponent_gets),
        Some(Race { first, late }) => first.iter().all(|cell| {
            let is_below = |other: &Cell| other.column == cell.column && cell.row < other.row;
            is_owned(cell) && (position.disc(*cell).is_some() || late.iter().any(is_below))
        }),
    };
    position.player() != plan.owner
        && fours_are_owned
        && are_threats
        && are_open
        && race_is_won
        && holds(position, plan.owner, plan.wins(), |position, last| {
            Some(plan.answer(position, last))
        })
}

/// Plays a strategy out against every reply.
fn holds(
    position: &Position,
    owner: Player,
    must_win: bool,
    strategy: impl Fn(&Position, Column) -> Option<Column>,
) -> bool {
    let is_success = |outcome| match outcome {
        Outcome::Win(player) => player == owner,
        Outcome::Draw => !must_win,
    };
    let mut seen = HashSet::new();
    let mut waiting = vec![*position];
    while let Some(before) = waiting.pop() {
        for reply in before.legal() {
            let Some(after) = play(&before, reply) else { return false };
            if let Some(outcome) = after.outcome() {
                if !is_success(outcome) {
                    return false;
                }
                continue;
            }
            let answer = strategy(&after, reply);
            let Some(after) = answer.and_then(|answer| play(&after, answer)) else { return false };
            match after.outcome() {
                Some(outcome) if is_success(outcome) => {}
                Some(_) => return false,
                None => {
                    if seen.insert(after.key()) {
                        waiting.push(after);
                    }
                }
            }
        }
    }
    true
}

/// Whether every four-cell group has a disc of the opponent.
fn has_no_four_left(position: &Position, player: Player) -> bool {
    !has_four_within(position, |cell| position.disc(cell) != Some(player.opponent()))
}

/// Whether some four-cell group lies within a set of cells.
fn has_four_within(position: &Position, is_inside: impl Fn(Cell) -> bool) -> bool {
    let setup = position.setup();
    // The next cell of a group in each of the four directions, if it is on the board.
    let step = |cell: Cell, [right, up]: [i8; 2]| {
        let column = cell.column.index().checked_add_signed(right.into())?;
        let row = cell.row.checked_add_signed(up)?;
        let is_on_board = column < setup.cols().into() && row < setup.rows();
        let column = Column::from_index(column).filter(|_| is_on_board)?;
        Some(Cell { column, row })
    };
    let is_group = |first: Cell, direction: [i8; 2]| {
        let cells = std::iter::successors(Some(first), |&cell| step(cell, direction));
        let connect = usize::from(setup.connect());
        cells.take(connect).filter(|&cell| is_inside(cell)).count() == connect
    };
    Cell::in_reading_order(setup).any(|cell| {
        [[0, 1], [1, 0], [1, 1], [1, -1]].into_iter().any(|direction| is_group(cell, direction))
    })
}

fn every_reply(position: &Position, check: impl Fn(&Position) -> bool) -> bool {
    position.legal().all(|reply| play(position, reply).is_some_and(|after| check(&after)))
}

/// Whether a cell completes these four cells for a player.
fn connects(position: &Position, player: Player, cell: Cell, four: &[Cell]) -> bool {
    four.contains(&cell)
        && four.len() == usize::from(position.setup().connect())
        && four.iter().all(|&other| other == cell || position.disc(other) == Some(player))
        && position.disc(cell).is_none()
        && position.threats(player).contains(&cell)
}

fn wins_now(position: &Position, player: Player) -> bool {
    position.player() == player
        && position
            .legal()
            .any(|column| play(position, column).is_some_and(|after| is_won(&after, player)))
}

fn is_won(position: &Position, player: Player) -> bool {
    position.outcome() == Some(Outcome::Win(player))
}

fn is_open(position: &Position, cell: Cell) -> bool {
    position.disc(cell).is_none()
        && (cell.row == 0 || position.disc(Cell { row: cell.row - 1, ..cell }).is_some())
}

fn play(position: &Position, column: Column) -> Option<Position> {
    let mut after = *position;
    after.play(column).ok()?;
    Some(after)
}
