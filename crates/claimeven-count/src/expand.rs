//! The count of one profile, from those with one disc fewer.
//!
//! Let *m* be the player who moved last, *top(c)* the top disc of column *c*, and the *predecessor
//! by c* the position without it.
//!
//! - A colouring is unconnected if its predecessor by any one column is, and no line through that
//!   column's top is of one colour.
//! - A colouring is orderable if for some column *c* top(c) is a disc of *m* and the predecessor by
//!   *c* is orderable. The number of such columns, the *last moves*, is a multi-terminal
//!   diagram with small integers as leaves; the orderable colourings are those where it is not 0.
//! - The unfinished positions are the unconnected and orderable ones.
//! - A finished position has an unfinished predecessor by a column *c* such that top(c) is on every
//!   line that *m* has connected. Counting moves: all moves from unfinished positions into this
//!   profile, less those that lead to its unfinished positions (the sum of the last moves over the
//!   unconnected colourings), lead to finished ones.
//! - A finished position that several columns lead to has been counted once for each of them, so
//!   one is subtracted for each but the first. All their tops are on every connected line, so only
//!   columns whose tops share a line matter, and most profiles have few.

use crate::budget::OutOfMemory;
use crate::layer::{Entry, Layer};
use crate::node::{Node, Stored};
use crate::profile::{Geometry, Line, ProfileKey};
use crate::workspace::{FALSE, Id, TRUE, Workspace};

/// The result of [`expand`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Expansion {
    /// The number of profiles that the count stands for: 2 if the mirror image is another profile,
    /// and 0 if that one is counted instead.
    pub(crate) images: u64,
    pub(crate) unfinished: u64,
    pub(crate) finished: u64,
    /// The number of nodes of the unconnected colourings; the other nodes are those of the
    /// orderable ones.
    pub(crate) unconnected: usize,
}

/// Counts the positions of a profile and writes the nodes of its two sets. No nodes are written if
/// there is no unconnected colouring.
pub(crate) fn expand(
    workspace: &mut Workspace,
    geometry: &Geometry,
    previous: &Layer,
    ply: u32,
    key: ProfileKey,
    nodes: &mut Vec<Node>,
) -> Result<Expansion, OutOfMemory> {
    let heights = geometry.heights(key);
    let predecessors: Vec<Predecessor> = (0..heights.len())
        .filter(|&column| heights[column] > 0)
        .filter_map(|column| {
            let entry = previous.find(key - geometry.weight(column))?;
            Some(Predecessor { column, row: heights[column] - 1, entry })
        })
        .collect();
    let lines: Vec<&Line> = geometry.lines_within(&heights).collect();
    let expected =
        predecessors.iter().map(|p| p.entry.unconnected + p.entry.orderable).sum::<u32>();
    workspace.clear(expected as usize)?;

    // 1. The unconnected colourings, from the predecessor with the fewest nodes.
    let smallest = predecessors.iter().min_by_key(|p| p.entry.unconnected);
    let smallest = smallest.expect("a profile has a predecessor in the previous ply");
    let mut allowed = TRUE;
    for line in lines.iter().filter(|line| smallest.is_on(line)) {
        let unconnected = not_one_colour(workspace, line);
        allowed = workspace.and(allowed, unconnected);
    }
    let unconnected = workspace.and_stored(previous.unconnected(smallest.entry), allowed);
    workspace.check()?;
    if unconnected != FALSE {
        workspace.store(unconnected, nodes);
    }
    let unconnected_nodes = nodes.len();

    // 2. The orderable ones, by their last moves.
    let first_moved = ply % 2 == 1;
    let mirrored = geometry.mirrored(key);
    let is_counted = key <= mirrored;
    let mut last_moves = FALSE;
    let mut by_column = Vec::with_capacity(predecessors.len());
    for p in &predecessors {
        let level = geometry.level(p.column, p.row);
        let disc = of_mover(workspace, first_moved, level, TRUE, FALSE);
        let reached = workspace.and_stored(previous.orderable(p.entry), disc);
        last_moves = if is_counted {
            workspace.add(last_moves, reached)
        } else {
            workspace.or(last_moves, reached)
        };
        by_column.push(reached);
    }
    if unconnected != FALSE {
        let orderable = workspace.support(last_moves);
        workspace.check()?;
        workspace.store(orderable, nodes);
    }
    workspace.check()?;
    let mut expansion = Expansion { unconnected: unconnected_nodes, ..Expansion::default() };
    if !is_counted {
        return Ok(expansion);
    }

    // 3. Unfinished positions, and the moves that lead to them.
    let ranks = geometry.ranks(&heights);
    let moves = predecessors.iter().fold(0, |sum: u64, p| sum.wrapping_add(p.entry.unfinished));
    expansion.images = if key == mirrored { 1 } else { 2 };
    expansion.finished = moves;
    if unconnected != FALSE {
        let tally = workspace.count(Stored(&nodes[..unconnected_nodes]), last_moves, &ranks);
        expansion.unfinished = tally.colourings;
        expansion.finished = moves.wrapping_sub(tally.sum);
    }

    // 4. Finished positions that an earlier column leads to as well: counted more than once.
    for (index, p) in predecessors.iter().enumerate() {
        let through: Vec<&Line> = lines.iter().copied().filter(|line| p.is_on(line)).collect();
        let mut repeated = FALSE;
        for (earlier, &reached) in predecessors.iter().zip(&by_column).take(index) {
            let (common, others): (Vec<&Line>, Vec<&Line>) =
                through.iter().partition(|line| earlier.is_on(line));
            if common.is_empty() {
                continue;
            }
            let mut connected = FALSE;
            for line in common {
                let line = all_of_mover(workspace, first_moved, line);
                connected = workspace.or(connected, line);
            }
            for line in others {
                let line = not_all_of_mover(workspace, first_moved, line);
                connected = workspace.and(connected, line);
            }
            let both = workspace.and(connected, reached);
            repeated = workspace.or(repeated, both);
        }
        if repeated != FALSE {
            repeated = workspace.and(repeated, by_column[index]);
            let tally = workspace.count(previous.unconnected(p.entry), repeated, &ranks);
            expansion.finished = expansion.finished.wrapping_sub(tally.colourings);
        }
    }
    workspace.check()?;
    Ok(expansion)
}

/// A profile with one disc fewer in one column, and the cell of that disc.
struct Predecessor<'a> {
    column: usize,
    row: usize,
    entry: &'a Entry,
}

impl Predecessor<'_> {
    fn is_on(&self, line: &Line) -> bool {
        line.contains(self.column, self.row)
    }
}

/// A node that continues with `then` if the disc is the mover's.
fn of_mover(
    workspace: &mut Workspace,
    first_moved: bool,
    level: u8,
    then: Id,
    otherwise: Id,
) -> Id {
    if first_moved {
        workspace.node(level, otherwise, then)
    } else {
        workspace.node(level, then, otherwise)
    }
}

fn all_of_mover(workspace: &mut Workspace, first_moved: bool, line: &Line) -> Id {
    line.levels()
        .iter()
        .fold(TRUE, |rest, &level| of_mover(workspace, first_moved, level, rest, FALSE))
}

fn not_all_of_mover(workspace: &mut Workspace, first_moved: bool, line: &Line) -> Id {
    line.levels()
        .iter()
        .fold(FALSE, |rest, &level| of_mover(workspace, first_moved, level, rest, TRUE))
}

fn not_one_colour(workspace: &mut Workspace, line: &Line) -> Id {
    let (&uppermost, below) = line.levels().split_last().expect("a line has at least two cells");
    let (mut not_second, mut not_first) = (FALSE, FALSE);
    for &level in below {
        not_second = workspace.node(level, not_second, TRUE);
        not_first = workspace.node(level, TRUE, not_first);
    }
    workspace.node(uppermost, not_second, not_first)
}
