//! Column heights, and the variable order.

use claimeven_game::{Column, Ruleset, Setup};

use crate::node::LEAF;

/// The column heights of a position as one number in base `rows + 1`, the left column first. The
/// largest successor of a profile is the one with another disc in the left column.
pub(crate) type ProfileKey = u64;

/// The cells of the board as variables, and its lines.
pub(crate) struct Geometry {
    setup: Setup,
    /// What a disc adds to the key of a profile, by column.
    weights: Vec<ProfileKey>,
    /// The level of each cell's variable, by column and row. Columns follow each other from the
    /// centre outwards, and cells from the bottom up: of the orders tried, the one with the fewest
    /// nodes.
    levels: Vec<Vec<u8>>,
    lines: Vec<Line>,
}

/// Cells that win if one player has them all. The ruleset `lines`, where no line ends the game, has
/// none.
pub(crate) struct Line {
    cells: Vec<(usize, usize)>,
    /// The levels of the cells, deepest first.
    levels: Vec<u8>,
}

impl Geometry {
    pub(crate) fn new(setup: Setup) -> Geometry {
        let (cols, rows) = (usize::from(setup.cols()), usize::from(setup.rows()));
        let base = u64::from(setup.rows()) + 1;
        let weights = (0..cols as u32).rev().map(|power| base.pow(power)).collect();
        let mut levels = vec![Vec::new(); cols];
        for (block, column) in Column::from_centre(setup).enumerate() {
            levels[column.index()] = (0..rows).map(|row| (block * rows + row) as u8).collect();
        }
        let lines = match setup.ruleset() {
            Ruleset::Standard => lines(setup, &levels),
            Ruleset::Lines => Vec::new(),
        };
        Geometry { setup, weights, levels, lines }
    }

    pub(crate) fn setup(&self) -> Setup {
        self.setup
    }

    /// What a disc in a column adds to a profile's key.
    pub(crate) fn weight(&self, column: usize) -> ProfileKey {
        self.weights[column]
    }

    pub(crate) fn heights(&self, key: ProfileKey) -> Vec<usize> {
        let base = u64::from(self.setup.rows()) + 1;
        self.weights.iter().map(|weight| (key / weight % base) as usize).collect()
    }

    pub(crate) fn key(&self, heights: impl Iterator<Item = usize>) -> ProfileKey {
        heights.zip(&self.weights).map(|(height, weight)| height as u64 * weight).sum()
    }

    pub(crate) fn mirrored(&self, key: ProfileKey) -> ProfileKey {
        self.key(self.heights(key).into_iter().rev())
    }

    pub(crate) fn level(&self, column: usize, row: usize) -> u8 {
        self.levels[column][row]
    }

    /// The lines whose cells are all filled.
    pub(crate) fn lines_within<'a>(
        &'a self,
        heights: &'a [usize],
    ) -> impl Iterator<Item = &'a Line> {
        self.lines
            .iter()
            .filter(|line| line.cells.iter().all(|&(column, row)| row < heights[column]))
    }

    /// For every level, the number of filled cells with a lower one; for that of the leaves, the
    /// number of all filled cells.
    pub(crate) fn ranks(&self, heights: &[usize]) -> Ranks {
        let mut filled = [false; LEAF as usize];
        for (column, &height) in heights.iter().enumerate() {
            for row in 0..height {
                filled[usize::from(self.levels[column][row])] = true;
            }
        }
        let mut ranks = [0; LEAF as usize + 1];
        for (level, &filled) in filled.iter().enumerate() {
            ranks[level + 1] = ranks[level] + u8::from(filled);
        }
        ranks
    }
}

pub(crate) type Ranks = [u8; LEAF as usize + 1];

impl Line {
    pub(crate) fn contains(&self, column: usize, row: usize) -> bool {
        self.cells.contains(&(column, row))
    }

    pub(crate) fn levels(&self) -> &[u8] {
        &self.levels
    }
}

fn lines(setup: Setup, levels: &[Vec<u8>]) -> Vec<Line> {
    let (cols, rows) = (usize::from(setup.cols()), usize::from(setup.rows()));
    let reach = usize::from(setup.connect()) - 1;
    let mut lines = Vec::new();
    for column in 0..cols {
        for row in 0..rows {
            let ends = [
                (column + reach, Some(row)),
                (column, Some(row + reach)),
                (column + reach, Some(row + reach)),
                (column + reach, row.checked_sub(reach)),
            ];
            for (end_column, end_row) in ends {
                let Some(end_row) = end_row.filter(|&row| row < rows && end_column < cols) else {
                    continue;
                };
                let along = |from: usize, to: usize, step| match from <= to {
                    true if from == to => from,
                    true => from + step,
                    false => from - step,
                };
                let cells: Vec<_> = (0..=reach)
                    .map(|step| (along(column, end_column, step), along(row, end_row, step)))
                    .collect();
                let mut deepest_first: Vec<u8> =
                    cells.iter().map(|&(column, row)| levels[column][row]).collect();
                deepest_first.sort_unstable_by(|a, b| b.cmp(a));
                lines.push(Line { cells, levels: deepest_first });
            }
        }
    }
    lines
}
