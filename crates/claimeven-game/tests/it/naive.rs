//! A deliberately naive second implementation of the rules, cell by cell.

use std::collections::BTreeSet;

use claimeven_game::{Cell, Column, Outcome, Player, Ruleset, Setup};
use proptest::prelude::*;

/// Columns of discs, each from the bottom up.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Naive {
    pub(crate) setup: Setup,
    pub(crate) columns: Vec<Vec<Player>>,
}

impl Naive {
    pub(crate) fn new(setup: Setup) -> Naive {
        Naive { setup, columns: vec![Vec::new(); setup.cols().into()] }
    }

    pub(crate) fn ply(&self) -> usize {
        self.columns.iter().map(Vec::len).sum()
    }

    pub(crate) fn player(&self) -> Player {
        Player::BOTH[self.ply() % 2]
    }

    pub(crate) fn disc(&self, column: isize, row: isize) -> Option<Player> {
        let column = self.columns.get(usize::try_from(column).ok()?)?;
        column.get(usize::try_from(row).ok()?).copied()
    }

    /// Every line of a player, as the list of its cells.
    pub(crate) fn lines(&self, player: Player) -> Vec<Vec<Cell>> {
        self.runs(|column, row| self.disc(column, row) == Some(player))
    }

    /// Every empty cell that would complete a line for a player.
    pub(crate) fn threats(&self, player: Player) -> BTreeSet<Cell> {
        let is_empty = |cell: &Cell| {
            let (column, row) = (cell.column.index().cast_signed(), cell.row.into());
            self.disc(column, row).is_none()
        };
        let completes = |new: &Cell| {
            let lines = self.runs(|column, row| {
                self.disc(column, row) == Some(player) || is_at(*new, column, row)
            });
            lines.iter().any(|line| line.contains(new))
        };
        Cell::in_reading_order(self.setup).filter(is_empty).filter(completes).collect()
    }

    /// Every run of `connect` cells that all satisfy a condition.
    fn runs(&self, is_part: impl Fn(isize, isize) -> bool) -> Vec<Vec<Cell>> {
        let mut lines = Vec::new();
        for column in 0..isize::from(self.setup.cols()) {
            for row in 0..isize::from(self.setup.rows()) {
                for (right, up) in [(1, 0), (0, 1), (1, 1), (1, -1)] {
                    let steps = 0..isize::from(self.setup.connect());
                    let line: Vec<(isize, isize)> =
                        steps.map(|step| (column + step * right, row + step * up)).collect();
                    if line.iter().all(|&(c, r)| is_part(c, r)) {
                        lines.push(line.into_iter().map(|(c, r)| cell(c, r)).collect());
                    }
                }
            }
        }
        lines
    }

    pub(crate) fn scores(&self) -> [u32; 2] {
        Player::BOTH.map(|player| self.lines(player).len() as u32)
    }

    pub(crate) fn outcome(&self) -> Option<Outcome> {
        let full = self.ply() == self.setup.cells() as usize;
        let [first, second] = self.scores();
        match self.setup.ruleset() {
            Ruleset::Standard if first > 0 => Some(Outcome::Win(Player::First)),
            Ruleset::Standard if second > 0 => Some(Outcome::Win(Player::Second)),
            Ruleset::Lines if full && first > second => Some(Outcome::Win(Player::First)),
            Ruleset::Lines if full && second > first => Some(Outcome::Win(Player::Second)),
            _ => full.then_some(Outcome::Draw),
        }
    }

    pub(crate) fn winning_cells(&self) -> BTreeSet<Cell> {
        match self.outcome() {
            Some(Outcome::Win(player)) => self.lines(player).into_iter().flatten().collect(),
            _ => BTreeSet::new(),
        }
    }

    pub(crate) fn legal(&self) -> Vec<Column> {
        if self.outcome().is_some() {
            return Vec::new();
        }
        let rows = usize::from(self.setup.rows());
        let open = (0..self.columns.len()).filter(|&index| self.columns[index].len() < rows);
        open.map(|index| Column::from_index(index).unwrap()).collect()
    }

    pub(crate) fn play(&mut self, column: Column) {
        let player = self.player();
        self.columns[column.index()].push(player);
    }

    pub(crate) fn mirror(&self) -> Naive {
        let mut mirror = self.clone();
        mirror.columns.reverse();
        mirror
    }
}

fn is_at(cell: Cell, column: isize, row: isize) -> bool {
    (cell.column.index().cast_signed(), isize::from(cell.row)) == (column, row)
}

pub(crate) fn cell(column: isize, row: isize) -> Cell {
    Cell {
        column: Column::from_index(column.try_into().unwrap()).unwrap(),
        row: row.try_into().unwrap(),
    }
}

/// Any setup. Small and standard boards are more frequent, because their games end in more ways.
pub(crate) fn setups() -> impl Strategy<Value = Setup> {
    let length = || prop_oneof![3 => 1..=8u8, 1 => 1..=35u8];
    let size = prop_oneof![1 => Just((7, 6)), 6 => (length(), length())];
    let connect = prop_oneof![4 => Just(4u8), 6 => 2..=6u8, 1 => 7..=255u8];
    let ruleset = prop::sample::select(&Ruleset::ALL[..]);
    (size, connect, ruleset).prop_filter_map("too large", |((cols, rows), connect, ruleset)| {
        Setup::new(cols, rows, connect, ruleset).ok()
    })
}

/// A setup and the choices of a random game on it, each taken modulo the number of legal moves.
pub(crate) fn games() -> impl Strategy<Value = (Setup, Vec<usize>)> {
    setups().prop_flat_map(|setup| {
        let choices = prop::collection::vec(any::<usize>(), 0..=setup.cells() as usize);
        (Just(setup), choices)
    })
}
