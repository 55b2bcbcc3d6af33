//! Upper bounds on the score of the side to move, from strategies of its
//! opponent that need no search.
//!
//! The side to move is called the *leader* here, its opponent the *follower*.
//! Row `r` of a board with `R` rows is a *follow row* if `R - r` is even
//! (rows 2, 4 and 6 of six) and a *lead row* otherwise. `playable` holds the
//! lowest empty cell of each column. The bounds hold for any number of rows,
//! columns and connected discs; on 7x6 the leader is the first player if the
//! number of empty cells is even, and the second player if it is odd.
//!
//! # Following up while holding columns back
//!
//! Let `T` be a set of threats of the follower (empty cells that would
//! complete a line), at most one per column, each on a lead row and none of
//! them playable, such that `|T|` and the number of empty cells are both even
//! or both odd. The columns of `T` are *held*. In a held column with threat
//! `t` let `b` be the cell below `t`; the *rest* of the column is what is
//! empty below `b`. The rest of any other column is all that is empty in it.
//!
//! Who gets which cell of an empty column of six (`L` leader, `F` follower):
//!
//! ```text
//!   row   not held   held, t on row 5
//!    6       F         .
//!    5       L         t   F wins here
//!    4       F         L   this is b
//!    3       L         F
//!    2       F         L
//!    1       L        L|F  lowest cell of an odd rest, coupled
//! ```
//!
//! **The strategy.** A held column takes `R - r + 2` cells out of the rest,
//! where `r` is the row of `t`; that is an odd number because `r` is a lead
//! row. So all rests together have as many cells as the board has empty ones
//! less an odd number per held column: an even number, by the choice of `|T|`.
//! Hence the columns whose rest is odd are even in number, and the follower
//! couples them two by two (the *baseinverse* of Allis). It answers
//! - `b` of a held column with `t`, which wins;
//! - the lowest cell of an odd rest with the lowest cell of the rest it is
//!   coupled with (then both rests are even and no longer coupled);
//! - any other cell of a rest with the cell directly above it. The rest was
//!   even before the leader's move, so that cell exists and lies in the rest.
//!
//! After each answer all rests are even or coupled again, so the follower
//! never has to move first. The leader, once all rests are used up, has to
//! play some `b` if a column is held; if none is, the board is full.
//!
//! **What the leader can get.** In a column that is not held the lowest cell
//! of the rest lies on a lead row if the rest is even and on a follow row if
//! it is odd. Apart from that coupled cell the leader gets lead rows only. In
//! a held column `b` is on a follow row, so it is just the other way round:
//! the leader gets follow rows (among them `b`) and perhaps the playable cell,
//! nothing from `t` upwards. All other cells, once filled, are the follower's:
//! they are called `owned`.
//!
//! **The bound.** If the leader's discs and the cells it can get hold no line,
//! the leader never wins. If a column is held it loses: in the end only held
//! columns from `b` upwards are empty, so `t` is taken while at least
//! `sum(R - r + 2) - 2` cells are empty, which is a score of at least
//! `sum(R - r + 2) / 2` for the follower (rounded down). If none is held the
//! score is at most 0; and if the follower's discs with the owned cells up to
//! row `r` hold a line, that line is complete while the cells above its last
//! disc are empty, `R - r` at least: a score of at least `(R - r + 2) / 2`.
//!
//! For `T` empty this is Allis's claimeven, with baseinverses for the odd
//! columns; for one threat it is the first player's winning zugzwang; two
//! threats reverse it.
//!
//! With an odd number of empty cells and nothing to hold there is no such
//! strategy. What remains is the plain fact that a leader with no line left
//! among all cells except the follower's discs scores at most 0.
//!
//! **Timing.** A line the leader could get is harmless if the follower has won
//! before it can be complete. When the leader plays the last cell of a line,
//! every empty cell below a cell of the line has been filled. So if the
//! follower's discs and the owned cells *below the line* hold a line, that one
//! was complete earlier. The same argument in its cheapest form: the leader
//! never gets a cell above an owned cell that is a threat of the follower.

use std::marker::PhantomData;

use claimeven_game::Bits;

use crate::cpu::Cpu;
use crate::lines::{
    below_line, has_line, has_non_vertical_line, line_from, line_starts, vertical_lines,
};
use crate::search::off;
use crate::shape::Shape;
use crate::word::Word;

/// At most this many lines are timed one by one.
const MAX_TIMED_LINES: u32 = 8;

/// Whether the strategies above prove that the side to move, the `leader`, scores at most `alpha`.
/// It must have no winning move and no threat to block.
#[inline(always)]
pub(crate) fn at_most<S: Shape, C: Cpu, const OFF: u32>(
    shape: S,
    leader: S::Bits,
    follower: S::Bits,
    threats: S::Bits,
    alpha: i32,
    even: bool,
) -> bool {
    let view = View::<S, C, OFF>::new(shape, leader, follower, threats);
    let to_hold = threats & !shape.follow_rows();
    if even {
        (OFF & off::HOLD_NONE == 0 && view.hold_none(alpha))
            || (OFF & off::HOLD_TWO == 0 && to_hold.any() && C::hold_two(&view, to_hold, alpha))
    } else {
        (OFF & off::NO_LINE_LEFT == 0
            && alpha >= 0
            && !has_line::<S, C>(shape, shape.cells() & !follower))
            || (OFF & off::HOLD_ONE == 0 && to_hold.any() && view.hold_one(to_hold, alpha))
    }
}

/// A position from the follower's point of view.
pub(crate) struct View<S: Shape, C: Cpu, const OFF: u32> {
    shape: S,
    _cpu: PhantomData<C>,
    follower: S::Bits,
    threats: S::Bits,
    empty: S::Bits,
    playable: S::Bits,
    /// The cells the follower owns if no column is held.
    owned: S::Bits,
}

impl<S: Shape, C: Cpu, const OFF: u32> View<S, C, OFF> {
    #[inline(always)]
    fn new(shape: S, leader: S::Bits, follower: S::Bits, threats: S::Bits) -> Self {
        let occupied = leader | follower;
        let empty = shape.cells() & !occupied;
        let playable = shape.playable(occupied);
        let owned = shape.follow_rows() & empty & !playable;
        View { shape, _cpu: PhantomData, follower, threats, empty, playable, owned }
    }

    /// An even number of empty cells, no column held: at most 0, or less if the follower gets a
    /// line that is low enough.
    #[inline(always)]
    fn hold_none(&self, alpha: i32) -> bool {
        let top_row = self.shape.rows() as i32 + 2 + 2 * alpha;
        let is_low_enough = alpha >= 0
            || (top_row >= 1
                && has_line::<S, C>(
                    self.shape,
                    self.follower | (self.owned & self.shape.rows_up_to(top_row.cast_unsigned())),
                ));
        is_low_enough && self.holding(S::Bits::ZERO, S::Bits::ZERO)
    }

    /// An even number of empty cells: two columns held.
    #[inline(always)]
    pub(crate) fn hold_two_body(&self, mut held: S::Bits, alpha: i32) -> bool {
        while held.any() {
            let first = held.lowest();
            let first_column = self.shape.column_of(first);
            held &= !first_column;
            let mut others = held;
            while others.any() {
                let second = others.lowest();
                let second_column = self.shape.column_of(second);
                others &= !second_column;
                let score = (self.held_cells(first) + self.held_cells(second)) >> 1;
                if -score <= alpha && self.holding(first | second, first_column | second_column) {
                    return true;
                }
            }
        }
        false
    }

    /// An odd number of empty cells: one column held.
    #[inline(always)]
    fn hold_one(&self, mut held: S::Bits, alpha: i32) -> bool {
        while held.any() {
            let threat = held.lowest();
            let column = self.shape.column_of(threat);
            held &= !column;
            if -(self.held_cells(threat) / 2) <= alpha && self.holding(threat, column) {
                return true;
            }
        }
        false
    }

    /// The cells a held column keeps out of its rest.
    #[inline(always)]
    fn held_cells(&self, threat: S::Bits) -> i32 {
        let row = threat.lowest_index() % self.shape.stride() + 1;
        (self.shape.rows() + 2 - row) as i32
    }

    /// Whether the leader never wins against a follower who holds the columns
    /// of these threats.
    #[inline(always)]
    fn holding(&self, threats: S::Bits, columns: S::Bits) -> bool {
        let held = Held::new(self, threats, columns);
        let owned = (self.owned & !columns) | held.owned;
        let reach = (self.reach(self.owned & !columns) & !(columns & self.empty)) | held.reach;
        self.all_harmless(reach, owned)
    }

    /// What the leader has or can get: all but the follower's discs, the owned
    /// cells and the cells above an owned one that is a threat.
    ///
    /// With a stop on top of every column, `stops - bottom` flips each
    /// column's lowest stop and the cells below it, and only those.
    #[inline(always)]
    fn reach(&self, owned: S::Bits) -> S::Bits {
        let shape = self.shape;
        let mut reach = shape.cells() & !(self.follower | owned);
        if OFF & off::CHEAP_TIMING == 0 {
            let stops = (self.threats & owned) | (shape.bottom() << shape.rows());
            reach &= stops ^ stops.minus(shape.bottom());
        }
        reach
    }

    /// Whether no line within `reach` can be complete before one of the
    /// follower's.
    #[inline(always)]
    fn all_harmless(&self, reach: S::Bits, owned: S::Bits) -> bool {
        !has_line::<S, C>(self.shape, reach)
            || (OFF & off::LINE_TIMING == 0 && C::each_line_late(self, reach, owned))
    }

    /// Whether every line within `reach` is complete only after one of the follower's.
    #[inline(always)]
    pub(crate) fn each_line_late_body(&self, reach: S::Bits, owned: S::Bits) -> bool {
        let shape = self.shape;
        if vertical_lines(shape, reach).any()
            || !has_non_vertical_line(shape, self.follower | owned)
        {
            return false;
        }
        let stride = shape.stride();
        let steps = [stride - 1, stride, stride + 1];
        let starts = steps.map(|step| line_starts(shape, reach, step));
        if starts.iter().map(|starts| starts.count()).sum::<u32>() > MAX_TIMED_LINES {
            return false;
        }
        for (step, mut starts) in steps.into_iter().zip(starts) {
            while starts.any() {
                let start = starts.lowest();
                starts = starts.without_lowest();
                let below = below_line(shape, start, line_from(shape, start, step));
                if !has_non_vertical_line(shape, self.follower | (owned & below)) {
                    return false;
                }
            }
        }
        true
    }
}

/// Who gets the cells below the threats of held columns.
struct Held<B> {
    reach: B,
    owned: B,
}

impl<B: Word> Held<B> {
    #[inline(always)]
    fn new<S: Shape<Bits = B>, C: Cpu, const OFF: u32>(
        view: &View<S, C, OFF>,
        threats: B,
        columns: B,
    ) -> Self {
        // One threat per held column: the subtraction stays inside columns.
        let below = threats.minus(columns & view.shape.bottom()) & columns & view.empty;
        let reach = below & (view.shape.follow_rows() | view.playable);
        Held { reach, owned: below & !reach }
    }
}

#[cfg(test)]
mod tests {
    use claimeven_game::{AnySize, Bits, Rules, with_board};

    use super::*;
    use crate::cpu::Portable;
    use crate::{lines, naive};

    const ALL: u32 = off::HOLD_NONE | off::HOLD_ONE | off::HOLD_TWO | off::NO_LINE_LEFT;

    /// Checks the bound at every alpha, without the strategies `OFF`, against the score. Returns
    /// how often it applied.
    fn check<const OFF: u32>(rules: AnySize<u128>, [own, opp]: [u128; 2], score: i32) -> usize {
        let empty = rules.cells() & !(own | opp);
        let threats = lines::threats::<_, Portable>(rules, opp, empty);
        let even_left = empty.count().is_multiple_of(2);
        let is_proven =
            |alpha: &i32| at_most::<_, Portable, OFF>(rules, own, opp, threats, *alpha, even_left);
        let max = (rules.setup().cells() / 2 + 1) as i32;
        let fired: Vec<i32> = (-max..=max).filter(is_proven).collect();
        let lowest = fired.iter().min();
        assert!(lowest.is_none_or(|&alpha| score <= alpha), "{score}: {fired:?}, {own:x} {opp:x}");
        fired.len()
    }

    /// Each strategy alone, on boards of every parity, compared with naive scores.
    #[test]
    fn no_bound_is_below_the_score() {
        let mut fired = [0; 5];
        for (cols, rows, connect, max_empty) in [
            (7, 6, 4, 12),
            (6, 5, 4, 12),
            (5, 5, 4, 13),
            (7, 5, 4, 12),
            (5, 4, 3, 14),
            (4, 6, 4, 14),
            (6, 6, 5, 12),
        ] {
            let setup = naive::setup(cols, rows, connect);
            let rules = AnySize::<u128>::new(setup).unwrap();
            let mut solver = naive::Naive::default();
            for position in naive::random_positions(setup, max_empty, 400) {
                let discs: [u128; 2] =
                    with_board!(position, board => [board.own().widen(), board.other().widen()]);
                // The bounds apply to positions without a win and without a threat to block.
                let empty = rules.cells() & !(discs[0] | discs[1]);
                let playable = rules.playable(discs[0] | discs[1]);
                let is_quiet = discs.iter().all(|&discs| {
                    (lines::threats::<_, Portable>(rules, discs, empty) & playable).is_empty()
                });
                if !is_quiet {
                    continue;
                }
                let score = solver.score(&position);
                for (total, fired) in fired.iter_mut().zip([
                    check::<{ ALL & !off::HOLD_NONE }>(rules, discs, score),
                    check::<{ ALL & !off::HOLD_ONE }>(rules, discs, score),
                    check::<{ ALL & !off::HOLD_TWO }>(rules, discs, score),
                    check::<{ ALL & !off::NO_LINE_LEFT }>(rules, discs, score),
                    check::<0>(rules, discs, score),
                ]) {
                    *total += fired;
                }
            }
        }
        // Following up, one column held, two columns held, no line left, all together.
        assert_eq!(fired, [2368, 378, 45, 1566, 4283]);
    }
}
