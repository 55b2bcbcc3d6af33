//! Positions as the network's input planes.

use claimeven_game::{AnySize, Bits, Player, Position, Rules, Setup, with_board};
use serde::{Deserialize, Serialize};

/// The discs of a position as two bit sets.
///
/// They are smaller than a [`Position`], which matters for a replay buffer of millions of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Discs {
    /// All discs.
    pub filled: u128,
    /// The discs of the side to move.
    pub own: u128,
}

impl Discs {
    /// The discs of a position.
    #[must_use]
    pub fn of(position: &Position) -> Discs {
        with_board!(position, board => Discs {
            filled: board.filled().widen(),
            own: board.own().widen(),
        })
    }

    /// Whether a column has room for another disc.
    #[must_use]
    pub fn is_open(self, setup: Setup, column: usize) -> bool {
        let top = column as u32 * setup.stride() + u32::from(setup.rows()) - 1;
        self.filled >> top & 1 == 0
    }

    /// Whether the discs form a legal position: all are on the board, none floats, their numbers
    /// fit alternating turns, and the board is not full.
    #[must_use]
    pub fn is_valid(self, setup: Setup) -> bool {
        let (rows, stride) = (u32::from(setup.rows()), setup.stride());
        let bottom = (0..u32::from(setup.cols())).fold(0, |cells, col| cells | 1 << (col * stride));
        let board = (0..rows).fold(0, |cells, row| cells | bottom << row);
        self.filled & !board == 0
            && self.filled != board
            && self.own & !self.filled == 0
            // With an odd number of discs, the first player has one more and the second player is
            // to move.
            && self.own.count_ones() == self.filled.count_ones() / 2
            // Every disc above the bottom row has one below it.
            && (self.filled & !bottom) >> 1 & !self.filled == 0
    }

    /// The mirror image, with left and right exchanged.
    #[must_use]
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

/// The input encoding: which planes over the cells of the board a network gets.
///
/// Zugzwang depends on who is to move, and counting discs is hard with 3x3 kernels. One plane is
/// therefore 1 everywhere if the first player is to move and -1 if the second is. As it is never 0,
/// it also marks the edge of the board.
///
/// ```
/// use claimeven_game::{Position, Setup};
/// use claimeven_zero::InputEncoding;
///
/// let mut planes = vec![0.0; 4 * 42];
/// InputEncoding::Discs.encode(&Position::from_moves(Setup::STANDARD, "4")?, &mut planes);
/// // The opponent's disc is in the middle of the bottom row.
/// assert_eq!(planes[42 + 3], 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InputEncoding {
    /// Four planes: own discs, the opponent's discs, the cells that can be played now, and the
    /// player to move.
    #[default]
    Discs,
    /// Seven planes: additionally the threats of either side (empty cells that would connect four)
    /// and the even rows, so that the network does not have to learn what a threat is and which
    /// rows are odd or even.
    Threats,
}

impl InputEncoding {
    /// The number of planes.
    pub const fn planes(self) -> usize {
        match self {
            InputEncoding::Discs => 4,
            InputEncoding::Threats => 7,
        }
    }

    /// Writes the planes of a position one after another, each row by row from the bottom: the input
    /// of [`Network::to_onnx`](crate::Network::to_onnx).
    ///
    /// # Panics
    ///
    /// If the length of `planes` is not [`planes`](InputEncoding::planes) times the number of
    /// cells.
    pub fn encode(self, position: &Position, planes: &mut [f32]) {
        let setup = position.setup();
        let cells = setup.cells() as usize;
        assert_eq!(planes.len(), self.planes() * cells, "a number for each cell of each plane");
        planes.fill(0.0);
        self.each(setup, Discs::of(position), |cell, plane, value| {
            planes[plane * cells + cell] = value;
        });
    }

    /// Calls `set(cell, plane, value)` for every nonzero number. Cells are numbered row by row from
    /// the bottom.
    pub(crate) fn each(self, setup: Setup, discs: Discs, mut set: impl FnMut(usize, usize, f32)) {
        let (cols, rows, stride) =
            (usize::from(setup.cols()), usize::from(setup.rows()), setup.stride() as usize);
        let side = if discs.player() == Player::First { 1.0 } else { -1.0 };
        let threats = self.threats(setup, discs);
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
                let Some(threats) = threats else { continue };
                for (plane, threats) in (4..).zip(threats) {
                    if threats & bit != 0 {
                        set(cell, plane, 1.0);
                    }
                }
                if row % 2 == 1 {
                    set(cell, 6, 1.0);
                }
            }
        }
    }

    /// The threats of both sides, own ones first, if the encoding has them.
    fn threats(self, setup: Setup, discs: Discs) -> Option<[u128; 2]> {
        match self {
            InputEncoding::Discs => None,
            InputEncoding::Threats => {
                let rules = AnySize::<u128>::new(setup).expect("every board fits in 128 bits");
                let of = |own| rules.threats(own) & !discs.filled;
                Some([of(discs.own), of(discs.filled ^ discs.own)])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_show_the_board_from_the_side_to_move() {
        let position = Position::from_moves(Setup::STANDARD, "112").unwrap();
        let mut planes = vec![[0.0; InputEncoding::Discs.planes()]; 42];
        InputEncoding::Discs.each(Setup::STANDARD, Discs::of(&position), |cell, plane, value| {
            planes[cell][plane] = value;
        });
        // The second player is to move: its disc is the upper one of the first column.
        let planes: Vec<[i32; 4]> =
            planes.iter().map(|cell: &[f32; 4]| cell.map(|value| value as i32)).collect();
        assert_eq!(planes[7], [1, 0, 0, -1]);
        assert_eq!([planes[0], planes[1]], [[0, 1, 0, -1]; 2]);
        let open: Vec<usize> = (0..42).filter(|&cell| planes[cell][2] == 1).collect();
        assert_eq!(open, [2, 3, 4, 5, 6, 8, 14]);
    }

    #[test]
    fn threats_of_both_sides_have_separate_planes() {
        // Three in a row for the first player, who is to move, and three in a column for the
        // second.
        let position = Position::from_moves(Setup::STANDARD, "213141").unwrap();
        let mut planes = [Vec::new(), Vec::new(), Vec::new()];
        InputEncoding::Threats.each(Setup::STANDARD, Discs::of(&position), |cell, plane, value| {
            if plane >= 4 {
                assert_eq!(value.to_bits(), 1.0_f32.to_bits());
                planes[plane - 4].push(cell);
            }
        });
        assert_eq!(planes[0], [4]);
        assert_eq!(planes[1], [21]);
        assert_eq!(planes[2].len(), 21);
    }

    #[test]
    fn discs_are_mirrored_like_positions() {
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
