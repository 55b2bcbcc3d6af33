//! Forced wins: threats that have to be blocked, until one cannot be.

use claimeven_game::{Bits, Board, Cell, Column, Rules};

use crate::diagram::column_of;
use crate::plan::{cells_of, lines};
use crate::reason::Reason;

/// The maximum number of threats in a forced sequence.
pub(crate) const MAX_THREATS: u32 = 6;

/// Why the side to move wins at once or by force, with the fewest threats.
pub(crate) fn forced_win<R: Rules>(board: Board<R>, max_threats: u32) -> Option<Reason> {
    let wins = board.rules().threats(board.own()) & board.open();
    if !wins.is_empty() {
        return Some(wins_now(board, wins));
    }
    let winner = board.player();
    (1..=max_threats).find_map(|threats| {
        let mut moves = Vec::new();
        let end = force(board, threats, &mut moves)?;
        Some(Reason::Forced { winner, moves, end: Box::new(end) })
    })
}

/// Why the side to move, which cannot connect four itself, loses at once or by force.
pub(crate) fn forced_loss<R: Rules>(board: Board<R>, max_threats: u32) -> Option<Reason> {
    let rules = board.rules();
    let winner = board.player().opponent();
    if !(rules.threats(board.own()) & board.open()).is_empty() {
        return None;
    }
    if let Some(reason) = double_threat(board) {
        return Some(reason);
    }
    let block = rules.threats(board.other()) & board.open();
    if !block.is_empty() {
        let mut after = board;
        after.play_cell(block);
        if after.is_over() {
            return None;
        }
        let Reason::Forced { mut moves, end, .. } = forced_win(after, max_threats)? else {
            return None;
        };
        moves.insert(0, column_of(rules, block));
        return Some(Reason::Forced { winner, moves, end });
    }
    // Nothing to block: perhaps every move opens a cell.
    let opened = (board.open() << 1) & rules.cells() & rules.threats(board.other());
    if opened.count() == board.open().count() && opened.count() > 0 {
        return Some(Reason::EveryMoveOpens { winner, cells: cells_of(rules.setup(), opened) });
    }
    None
}

/// Why the side to move loses whatever it plays: every move has a short forced refutation.
pub(crate) fn every_reply<R: Rules>(board: Board<R>, max_threats: u32) -> Option<Reason> {
    let rules = board.rules();
    let winner = board.player().opponent();
    let mut replies = Vec::new();
    for index in board.open().indices() {
        let mut after = board;
        after.play_cell(R::Bits::ONE << index);
        if after.is_over() {
            return None;
        }
        match forced_win(after, max_threats)? {
            Reason::WinsNow { .. } => {}
            reason => replies.push((column_of(rules, R::Bits::ONE << index), reason)),
        }
    }
    Some(Reason::EveryReply { winner, replies })
}

/// How a win of the side to move with at most this many threats ends, if there is one. Its moves
/// are added to `moves`.
fn force<R: Rules>(board: Board<R>, threats: u32, moves: &mut Vec<Column>) -> Option<Reason> {
    let rules = board.rules();
    let block = rules.threats(board.other()) & board.open();
    let cells = match block.count() {
        0 => board.open(),
        1 => block,
        _ => return None,
    };
    for index in cells.indices() {
        let cell = R::Bits::ONE << index;
        let mut after = board;
        after.play_cell(cell);
        let must_block = rules.threats(after.other()) & after.open();
        if must_block.is_empty() || !(rules.threats(after.own()) & after.open()).is_empty() {
            continue;
        }
        moves.push(column_of(rules, cell));
        if let Some(end) = double_threat(after) {
            return Some(end);
        }
        if threats > 1 {
            let block = must_block;
            after.play_cell(block);
            if !after.is_over() {
                moves.push(column_of(rules, block));
                if let Some(end) = force(after, threats - 1, moves) {
                    return Some(end);
                }
                moves.pop();
            }
        }
        moves.pop();
    }
    None
}

/// Two threats against the side to move, of which it can block only one.
fn double_threat<R: Rules>(board: Board<R>) -> Option<Reason> {
    let (rules, open) = (board.rules(), board.open());
    let threats = rules.threats(board.other());
    let now = threats & open;
    if now.is_empty() {
        return None;
    }
    let second = if now.count() >= 2 { now } else { (now << 1) & rules.cells() & threats };
    let first = R::Bits::ONE << now.lowest_index();
    let second = second & !first;
    if second.is_empty() {
        return None;
    }
    let second = R::Bits::ONE << second.lowest_index();
    // The side to move would connect four first.
    if !(rules.threats(board.own()) & open).is_empty() {
        return None;
    }
    let four = |cell| four_with(rules, board.other(), cell);
    let cells = [first, second].map(|cell| cells_of(rules.setup(), cell)[0]);
    Some(Reason::DoubleThreat {
        winner: board.player().opponent(),
        cells,
        fours: [four(first), four(second)],
    })
}

fn wins_now<R: Rules>(board: Board<R>, wins: R::Bits) -> Reason {
    let rules = board.rules();
    let cell = R::Bits::ONE << wins.lowest_index();
    Reason::WinsNow {
        winner: board.player(),
        cell: cells_of(rules.setup(), cell)[0],
        four: four_with(rules, board.own(), cell),
    }
}

/// The four that a cell completes.
fn four_with<R: Rules>(rules: R, discs: R::Bits, cell: R::Bits) -> Vec<Cell> {
    let line = lines(rules, discs | cell).into_iter().find(|&line| !(line & cell).is_empty());
    cells_of(rules.setup(), line.expect("the cell completes a four"))
}
