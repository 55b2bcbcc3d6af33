//! A position as the network sees it.

use claimeven_game::{Bits, Player, Position, Setup, with_board};

/// The discs of a position as two sets of cells, which is all that the network is shown.
///
/// It takes the place of a [`Position`] where millions are kept and no moves are played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Discs {
    /// Every disc.
    pub filled: u128,
    /// Those of the side to move.
    pub own: u128,
}

impl Discs {
    /// The discs of a position.
    pub fn of(position: &Position) -> Discs {
        with_board!(position, board => Discs {
            filled: board.filled().widen(),
            own: board.own().widen(),
        })
    }

    /// Whether a column has room for another disc.
    pub fn is_open(self, setup: Setup, column: usize) -> bool {
        let top = column as u32 * setup.stride() + u32::from(setup.rows()) - 1;
        self.filled >> top & 1 == 0
    }

    /// The same discs with left and right exchanged.
    pub fn mirrored(self, setup: Setup) -> Discs {
        let (cols, stride) = (u32::from(setup.cols()), setup.stride());
        let mirror = |cells: u128| {
            let column = |index: u32| cells >> (index * stride) & ((1 << stride) - 1);
            (0..cols).fold(0, |all, index| all | column(index) << ((cols - 1 - index) * stride))
        };
        Discs { filled: mirror(self.filled), own: mirror(self.own) }
    }

    fn player(self) -> Player {
        if self.filled.count_ones().is_multiple_of(2) { Player::First } else { Player::Second }
    }
}

/// How many planes there are: own discs, other discs, the cells on which a disc can come to rest
/// now, and one that is 1 all over for the first player and -1 for the second.
///
/// Who moves first decides who is forced to open a column in the end, and the number of discs is
/// hard to see for a network that looks at nine cells at a time. Being nowhere 0, the last plane
/// also shows where the board ends.
pub const PLANES: usize = 4;

/// Calls `set(cell, plane, value)` for all that is not 0. Cells are numbered row by row from the
/// bottom.
pub(crate) fn each_input(setup: Setup, discs: Discs, mut set: impl FnMut(usize, usize, f32)) {
    let (cols, rows, stride) =
        (usize::from(setup.cols()), usize::from(setup.rows()), setup.stride() as usize);
    let side = if discs.player() == Player::First { 1.0 } else { -1.0 };
    for col in 0..cols {
        let mut is_above_discs = true;
        for row in 0..rows {
            let (bit, cell) = (1 << (col * stride + row), row * cols + col);
            if discs.own & bit != 0 {
                set(cell, 0, 1.0);
            } else if discs.filled & bit != 0 {
                set(cell, 1, 1.0);
            } else if is_above_discs {
                set(cell, 2, 1.0);
                is_above_discs = false;
            }
            set(cell, 3, side);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_show_the_board_from_the_side_to_move() {
        let position = Position::from_moves(Setup::STANDARD, "112").unwrap();
        let mut planes = vec![[0.0; PLANES]; 42];
        each_input(Setup::STANDARD, Discs::of(&position), |cell, plane, value| {
            planes[cell][plane] = value;
        });
        // The second player moves: its disc is the upper one of the first column.
        let planes: Vec<[i32; PLANES]> =
            planes.iter().map(|cell: &[f32; PLANES]| cell.map(|value| value as i32)).collect();
        assert_eq!(planes[7], [1, 0, 0, -1]);
        assert_eq!([planes[0], planes[1]], [[0, 1, 0, -1]; 2]);
        let open: Vec<usize> = (0..42).filter(|&cell| planes[cell][2] == 1).collect();
        assert_eq!(open, [2, 3, 4, 5, 6, 8, 14]);
    }

    #[test]
    fn discs_are_mirrored_as_positions_are() {
        for setup in [Setup::STANDARD, Setup::new(9, 8, 4, claimeven_game::Ruleset::Lines).unwrap()]
        {
            let position = Position::from_moves(setup, "1123333").unwrap();
            let discs = Discs::of(&position);
            assert_eq!(discs.mirrored(setup), Discs::of(&position.mirror()));
            assert!(discs.is_open(setup, 0));
        }
        let full = Position::from_moves(Setup::STANDARD, "111111").unwrap();
        assert!(!Discs::of(&full).is_open(Setup::STANDARD, 0));
    }
}
