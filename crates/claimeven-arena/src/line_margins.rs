//! Exact margins of the ruleset `lines`, where the game lasts until the board is full.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use claimeven_game::{Column, Position, Ruleset, Setup, mix_key};
use claimeven_solver::{Limits, Stop, Stopped};

/// The maximum number of empty cells for an exhaustive search.
const MAX_EMPTY: u32 = 20;

/// The maximum number of table entries.
const MAX_ENTRIES: usize = 2_000_000;

/// Negamax with alpha-beta and a transposition table: the margin in lines by which the side to move
/// wins.
pub(crate) struct LineMargins {
    setup: Setup,
    table: HashMap<u128, Entry, BuildHasherDefault<Mixer>>,
    stop: Stop,
    /// Nodes searched since the limits were set.
    pub(crate) nodes: u64,
}

/// The bounds of a position's margin.
#[derive(Clone, Copy)]
struct Entry {
    low: i16,
    high: i16,
}

impl Default for LineMargins {
    fn default() -> LineMargins {
        let (setup, table) = (Setup::STANDARD, HashMap::default());
        LineMargins { setup, table, stop: Stop::new(&Limits::default()), nodes: 0 }
    }
}

impl LineMargins {
    /// Whether the margin of a position can be computed.
    pub(crate) fn can_solve(position: &Position) -> bool {
        let empty = position.setup().cells() - position.ply();
        position.setup().ruleset() == Ruleset::Lines && empty <= MAX_EMPTY
    }

    /// Sets the limits of the next searches.
    pub(crate) fn limit(&mut self, limits: &Limits) {
        self.stop = Stop::new(limits);
        self.nodes = 0;
    }

    /// The margin in lines by which the side to move wins with best play; negative if it loses.
    pub(crate) fn margin(&mut self, position: &Position) -> Result<i32, Stopped> {
        if self.setup != position.setup() || self.table.len() > MAX_ENTRIES {
            self.setup = position.setup();
            self.table.clear();
        }
        // No board has this many lines.
        self.search(position, -i32::from(i16::MAX), i32::from(i16::MAX))
    }

    /// The principal variation to the end of the game.
    pub(crate) fn principal_variation(
        &mut self,
        position: &Position,
    ) -> Result<Vec<Column>, Stopped> {
        let mut position = *position;
        let mut pv = Vec::new();
        while position.outcome().is_none() {
            let mut best: Option<(i32, Column, Position)> = None;
            for column in position.legal_from_centre() {
                let child = after(&position, column);
                let margin = -self.margin(&child)?;
                if best.is_none_or(|(highest, ..)| margin > highest) {
                    best = Some((margin, column, child));
                }
            }
            let Some((_, column, child)) = best else { break };
            pv.push(column);
            position = child;
        }
        Ok(pv)
    }

    fn search(
        &mut self,
        position: &Position,
        mut alpha: i32,
        mut beta: i32,
    ) -> Result<i32, Stopped> {
        self.nodes += 1;
        self.stop.check(self.nodes)?;
        if position.setup().cells() == position.ply() {
            let [first, second] = position.scores().map(|lines| lines as i32);
            let margin = first - second;
            return Ok(if position.player().index() == 0 { margin } else { -margin });
        }
        let key = position.canonical_key();
        if let Some(known) = self.table.get(&key) {
            alpha = alpha.max(known.low.into());
            beta = beta.min(known.high.into());
            if alpha >= beta {
                return Ok(alpha.min(known.high.into()).max(known.low.into()));
            }
        }
        let mut best = i32::MIN;
        for column in position.legal_from_centre() {
            let margin = -self.search(&after(position, column), -beta, -alpha.max(best))?;
            best = best.max(margin);
            if best >= beta {
                break;
            }
        }
        let entry = self.table.entry(key).or_insert(Entry { low: i16::MIN, high: i16::MAX });
        let found = best as i16;
        if best > alpha {
            entry.low = entry.low.max(found);
        }
        if best < beta {
            entry.high = entry.high.min(found);
        }
        Ok(best)
    }
}

fn after(position: &Position, column: Column) -> Position {
    let mut child = *position;
    child.play(column).expect("the column is a legal one");
    child
}

/// Hashes keys with [`mix_key`]; hash maps use the low bits as well.
#[derive(Default)]
pub(crate) struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = mix_key(self.0.rotate_left(8) ^ u64::from(byte));
        }
    }

    fn write_u128(&mut self, key: u128) {
        let mixed = mix_key(key);
        self.0 = mixed ^ (mixed >> 32);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;

    fn plain(position: &Position) -> i32 {
        if position.outcome().is_some() {
            let [first, second] = position.scores().map(|lines| lines as i32);
            return if position.player().index() == 0 { first - second } else { second - first };
        }
        position.legal().map(|column| -plain(&after(position, column))).max().unwrap()
    }

    #[test]
    fn margins_match_minimax() {
        let mut random = fastrand::Rng::with_seed(3);
        let mut margins = LineMargins::default();
        let mut seen = std::collections::HashSet::new();
        for (cols, rows, connect) in [(4, 3, 3), (3, 4, 3), (4, 4, 2), (5, 4, 3), (7, 6, 4)] {
            let setup = Setup::new(cols, rows, connect, Ruleset::Lines).unwrap();
            for _ in 0..6 {
                let mut position = Position::new(setup);
                while setup.cells() - position.ply() > 8 {
                    let legal: Vec<Column> = position.legal().collect();
                    position.play(*random.choice(&legal).unwrap()).unwrap();
                }
                let margin = margins.margin(&position).ok().unwrap();
                assert_eq!(margin, plain(&position), "{position:?}");
                seen.insert(margin);
                let mut end = position;
                for column in margins.principal_variation(&position).ok().unwrap() {
                    end.play(column).unwrap();
                }
                let sign = if end.player() == position.player() { 1 } else { -1 };
                assert_eq!(sign * plain(&end), margin, "best play ends with this margin");
            }
        }
        assert!(seen.len() > 5, "{seen:?}");
    }

    #[test]
    fn a_search_obeys_its_limits() {
        let setup = Setup::new(5, 4, 3, Ruleset::Lines).unwrap();
        let mut margins = LineMargins::default();
        margins.limit(&Limits::default().with_time(Duration::ZERO));
        assert!(margins.margin(&Position::new(setup)).is_err());
        margins.limit(&Limits::default().with_cancel(Arc::new(true.into())));
        assert!(margins.margin(&Position::new(setup)).is_err());
    }
}
