//! Plans that need no search: following up, and holding columns back.
//!
//! The theorem, with its proof, is at the top of the solver's `bounds.rs`. Here the same strategies
//! are found with everything a person needs to play them: which cells are pairs, which columns are
//! left alone, and what decides the game in the end.

use claimeven_game::{Bits, Board, Cell, Column, Player, Position, Rules, Setup};

use crate::reason::Mark;

/// A plan of the side that is not to move: answer every move of the opponent until the end.
///
/// - A move directly below a deciding cell of `held` is answered there, which wins.
/// - A move in one cell of a couple is answered in the other.
/// - Any other move is answered directly above it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Who plays it; the opponent is to move.
    pub owner: Player,
    /// The deciding cells: threats of the owner that it waits for, at most one in a column.
    pub held: Vec<Cell>,
    /// Pairs of playable cells in different columns, of which each side gets one: the *baseinverses* of
    /// Allis.
    pub couples: Vec<[Cell; 2]>,
    /// The pairs in each column: the owner answers the lower cell with the upper one (*claimeven*).
    pub pairs: Vec<[Cell; 2]>,
    /// The four that the owner gets if there are no deciding cells; `None` if the plan only keeps
    /// the opponent from winning.
    pub four: Option<Vec<Cell>>,
    /// A four that the opponent would complete too late.
    pub race: Option<Race>,
}

/// Two fours, of which the owner's comes first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// The owner's four.
    pub first: Vec<Cell>,
    /// The opponent's.
    pub late: Vec<Cell>,
}

impl Plan {
    /// Whether the plan wins for its owner.
    pub fn wins(&self) -> bool {
        !self.held.is_empty() || self.four.is_some()
    }

    /// The owner's answer to the opponent's last move, which is already on the board.
    pub fn answer(&self, position: &Position, last: Column) -> Column {
        let played = top_cell(position, last);
        let other = |&[a, b]: &[Cell; 2]| {
            let other = if Some(a) == played { b } else { a };
            [Some(a), Some(b)].contains(&played).then_some(other.column)
        };
        // Below a deciding cell and in a pair, the answer is directly above.
        self.couples.iter().find_map(other).unwrap_or(last)
    }

    pub(crate) fn marks(&self, position: &Position) -> Vec<Mark> {
        let owner = self.owner;
        let rows = position.setup().rows();
        let mut marks: Vec<Mark> = self
            .couples
            .iter()
            .chain(&self.pairs)
            .map(|&cells| Mark::Pair { owner, cells })
            .collect();
        for &cell in &self.held {
            let cells = (cell.row - 1..rows).map(|row| Cell { row, ..cell }).collect();
            marks.push(Mark::Held { cells });
            marks.push(Mark::Ring { player: owner, cell });
        }
        let fours = self.four.iter().chain(self.race.iter().map(|race| &race.first));
        marks.extend(fours.map(|cells| Mark::Four { player: owner, cells: cells.clone() }));
        marks
    }
}

/// The top disc of a column.
fn top_cell(position: &Position, column: Column) -> Option<Cell> {
    let rows = (0..position.setup().rows()).rev();
    rows.map(|row| Cell { column, row }).find(|&cell| position.disc(cell).is_some())
}

/// The plans of the side that is not to move, simplest first. The side to move must have neither an
/// immediate win nor a threat to block.
pub(crate) fn plans<R: Rules>(board: Board<R>) -> Vec<Plan> {
    let view = View::new(board);
    let mut plans = Vec::new();
    let to_hold: Vec<R::Bits> = single(view.threats & !view.follow & !view.open).collect();
    if view.empty.count().is_multiple_of(2) {
        plans.extend(view.plan(&[]));
        for (nth, &first) in to_hold.iter().enumerate() {
            for &second in &to_hold[nth + 1..] {
                if view.column(first) != view.column(second) {
                    plans.extend(view.plan(&[first, second]));
                }
            }
        }
    } else {
        plans.extend(to_hold.iter().filter_map(|&threat| view.plan(&[threat])));
    }
    plans
}

/// Whether a player has no four left, even if it got every empty cell.
pub(crate) fn has_no_four_left<R: Rules>(board: Board<R>, player: Player) -> bool {
    let rules = board.rules();
    !rules.has_line(rules.cells() & !board.discs(player.opponent()))
}

/// A position from the point of view of the owner of a plan.
struct View<R: Rules> {
    rules: R,
    owner: Player,
    own: R::Bits,
    empty: R::Bits,
    open: R::Bits,
    threats: R::Bits,
    /// The rows an even number of rows below the top one.
    follow: R::Bits,
}

impl<R: Rules> View<R> {
    fn new(board: Board<R>) -> Self {
        let rules = board.rules();
        let empty = rules.cells() & !board.filled();
        let rows = u32::from(rules.setup().rows());
        let follow = (0..rows)
            .filter(|row| (rows - 1 - row).is_multiple_of(2))
            .fold(R::Bits::ZERO, |mask, row| mask | rules.bottom() << row);
        View {
            rules,
            owner: board.player().opponent(),
            own: board.other(),
            empty,
            open: board.open(),
            threats: rules.threats(board.other()) & empty,
            follow,
        }
    }

    /// The plan that waits for some threats, if the opponent cannot win against it.
    fn plan(&self, held: &[R::Bits]) -> Option<Plan> {
        let rules = self.rules;
        let mut owned = self.follow & self.empty & !self.open;
        let mut gets = rules.cells() & !(self.own | owned);
        for &threat in held {
            let column = self.column(threat) & self.empty;
            let below = column & (threat - R::Bits::ONE);
            let lower = below & (self.follow | self.open);
            owned = (owned & !column) | (below & !lower);
            gets = (gets & !column) | lower;
        }
        // A four of the opponent is harmless if one of the owner's comes before it.
        let mut race = None;
        if rules.has_line(gets) {
            for late in lines(rules, gets) {
                let first = self.earlier(owned, late)?;
                race.get_or_insert(Race { first: self.cells(first), late: self.cells(late) });
            }
        }
        let four = if held.is_empty() { self.lowest_line(owned) } else { None };
        let (couples, pairs) = self.pairs(held);
        let held = held.iter().flat_map(|&threat| self.cells(threat)).collect();
        let four = four.map(|line| self.cells(line));
        Some(Plan { owner: self.owner, held, couples, pairs, four, race })
    }

    /// The couples and the pairs of a plan.
    fn pairs(&self, held: &[R::Bits]) -> (Vec<[Cell; 2]>, Vec<[Cell; 2]>) {
        let setup = self.rules.setup();
        let mut odd = Vec::new();
        let mut pairs = Vec::new();
        for column in Column::all(setup) {
            let all = self.rules.column(column);
            let mut rest = all & self.empty;
            if let Some(&threat) = held.iter().find(|&&threat| !(threat & all).is_empty()) {
                // The cell below the threat and all cells above it are left alone.
                let below = threat.shifted_down(1);
                rest &= below - R::Bits::ONE;
            }
            let mut cells = self.cells(rest);
            if cells.len() % 2 == 1 {
                odd.push(cells.remove(0));
            }
            pairs.extend(cells.chunks(2).map(|pair| [pair[0], pair[1]]));
        }
        (odd.chunks(2).map(|couple| [couple[0], couple[1]]).collect(), pairs)
    }

    /// A line that the owner completes before the opponent can complete `line`.
    fn earlier(&self, owned: R::Bits, line: R::Bits) -> Option<R::Bits> {
        let below = single(line)
            .fold(R::Bits::ZERO, |below, cell| below | (self.column(cell) & (cell - R::Bits::ONE)));
        self.first_line(self.own | (owned & below))
    }

    /// The owner's line whose highest cell is lowest.
    fn lowest_line(&self, owned: R::Bits) -> Option<R::Bits> {
        let rows = u32::from(self.rules.setup().rows());
        (1..=rows).find_map(|top| {
            let low = (self.rules.bottom() << top) - self.rules.bottom();
            self.first_line(self.own | (owned & low))
        })
    }

    fn first_line(&self, cells: R::Bits) -> Option<R::Bits> {
        if !self.rules.has_line(cells) {
            return None;
        }
        lines(self.rules, cells).into_iter().next()
    }

    fn column(&self, cell: R::Bits) -> R::Bits {
        self.rules.column(crate::diagram::column_of(self.rules, cell))
    }

    fn cells(&self, cells: R::Bits) -> Vec<Cell> {
        cells_of(self.rules.setup(), cells)
    }
}

/// All lines within cells.
pub(crate) fn lines<R: Rules>(rules: R, cells: R::Bits) -> Vec<R::Bits> {
    let connect = u32::from(rules.setup().connect());
    let mut found = Vec::new();
    for direction in rules.directions() {
        for first in rules.lines(cells, direction).indices() {
            found.push((0..connect).fold(R::Bits::ZERO, |line, step| {
                line | R::Bits::ONE << (first + step * direction)
            }));
        }
    }
    found
}

/// The cells of a set, column by column from the bottom up.
pub(crate) fn cells_of<B: Bits>(setup: Setup, cells: B) -> Vec<Cell> {
    let stride = setup.stride();
    cells
        .indices()
        .map(|index| Cell {
            column: Column::from_index((index / stride) as usize).expect("on the board"),
            row: (index % stride) as u8,
        })
        .collect()
}

/// The cells of a set one by one.
fn single<B: Bits>(cells: B) -> impl Iterator<Item = B> {
    let mut rest = cells;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let lowest = B::ONE << rest.lowest_index();
        rest = rest ^ lowest;
        Some(lowest)
    })
}
