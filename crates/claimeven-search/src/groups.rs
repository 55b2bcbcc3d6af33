//! The groups of cells that can become a connection, all of them at once.
//!
//! A *group* is as many adjacent cells in one direction as have to be connected: four of them
//! in the classical game.

use claimeven_game::{Bits, Rules};

/// The groups of one direction that are open to a player, sorted by what the player still lacks.
///
/// Each group is told by its first cell, as in [`Rules::lines`]. Groups with a disc of the
/// other player, or with none of the player's own, are left out.
pub(crate) struct OpenGroups<B> {
    /// The player's own disc is on every cell.
    pub(crate) complete: B,
    /// One cell is empty.
    pub(crate) one_short: B,
    /// Two cells are empty.
    pub(crate) two_short: B,
}

impl<B: Bits> OpenGroups<B> {
    /// The groups in one direction open to the player who has the discs `own`.
    ///
    /// The empty cells of all groups are counted at once: bit `i` of `missing[n]` says that
    /// the group which begins at cell `i` has more than `n` of them. One more cell of each
    /// group is looked at in each step:
    ///
    /// ```text
    /// own            . X . X X . .     a row, groups of four from the left
    /// more than 0    1 1 1 1
    /// more than 1    1 . 1 1           . X . X  lacks two, X . X X  one
    /// ```
    #[inline]
    pub(crate) fn new<R: Rules<Bits = B>>(rules: R, direction: u32, own: B, other: B) -> Self {
        let groups = rules.lines(rules.cells() & !other, direction);
        let empty = !own;
        let mut missing = [B::ZERO; 3];
        for step in 0..u32::from(rules.setup().connect()) {
            let here = empty.shifted_down(step * direction);
            missing[2] |= missing[1] & here;
            missing[1] |= missing[0] & here;
            missing[0] |= here;
        }
        let [more_than_0, more_than_1, more_than_2] = missing.map(|missing| groups & missing);
        // In a group of two cells nothing of the player's own is left when two are missing.
        let two_short =
            if rules.setup().connect() > 2 { more_than_1 ^ more_than_2 } else { B::ZERO };
        OpenGroups {
            complete: groups ^ more_than_0,
            one_short: more_than_0 ^ more_than_1,
            two_short,
        }
    }
}
