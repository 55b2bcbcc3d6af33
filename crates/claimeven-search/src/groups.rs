//! All groups of cells in which a line is possible, counted with bit operations.
//!
//! A *group* is `connect` adjacent cells in one direction: four in the standard game.

use claimeven_game::{Bits, Rules};

/// The groups of one direction that are open to a player, by the number of missing discs.
///
/// Each group is identified by its first cell, as in [`Rules::lines`]. Groups with a disc of the
/// opponent, or with none of the player's own, are left out.
pub(crate) struct OpenGroups<B> {
    /// All cells have a disc of the player.
    pub(crate) complete: B,
    /// One cell is empty.
    pub(crate) one_short: B,
    /// Two cells are empty.
    pub(crate) two_short: B,
}

impl<B: Bits> OpenGroups<B> {
    /// The groups in one direction that are open to the player with the discs `own`.
    ///
    /// The empty cells of all groups are counted at once: bit `i` of `missing[n]` is set if the
    /// group that begins at cell `i` has more than `n` of them. Each step adds one more cell of
    /// every group:
    ///
    /// ```text
    /// own            . X . X X . .     a row, groups of four from the left
    /// more than 0    1 1 1 1
    /// more than 1    1 . 1 1           . X . X  lacks two, X . X X  one
    /// ```
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "it is compiled for the target features of its caller")]
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
        // A group of two cells with two missing has no disc of the player.
        let two_short =
            if rules.setup().connect() > 2 { more_than_1 ^ more_than_2 } else { B::ZERO };
        OpenGroups {
            complete: groups ^ more_than_0,
            one_short: more_than_0 ^ more_than_1,
            two_short,
        }
    }
}
