//! Counting move sequences and distinct positions.

use std::collections::BTreeMap;
use std::fmt;

use crate::bits::Bits;
use crate::board::Board;
use crate::{Column, Position, Rules, Setup, with_board};

/// How many sequences of exactly `plies` moves can be played from a position.
///
/// A finished game has no moves, so sequences through it end there and are not counted.
///
/// ```
/// use claimeven_game::{Position, Setup, perft};
///
/// assert_eq!(perft(&Position::new(Setup::STANDARD), 7), 823_536);
/// ```
pub fn perft(position: &Position, plies: u32) -> u64 {
    with_board!(position, board => sequences(board, plies))
}

fn sequences<R: Rules>(board: Board<R>, plies: u32) -> u64 {
    let legal = board.legal();
    match plies {
        0 => 1,
        1 => legal.count().into(),
        _ => legal
            .indices()
            .map(|index| {
                let mut next = board;
                next.play_cell(R::Bits::ONE << index);
                sequences(next, plies - 1)
            })
            .sum(),
    }
}

/// The number of distinct positions after a number of plies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlyCount {
    /// The number of discs on the board.
    pub ply: u32,
    /// The number of distinct positions; mirror images count separately.
    pub positions: u64,
    /// The number of finished games among them.
    pub finished: u64,
}

/// Progress of [`count_positions`].
#[derive(Clone, Copy, Debug)]
pub enum CountEvent {
    /// Part of a ply has been counted: `done` of its groups of positions.
    #[allow(missing_docs, reason = "self-explanatory")]
    Progress { ply: u32, done: u64, of: u64 },
    /// A ply has been counted.
    Counted(PlyCount),
}

/// Counts the distinct positions of a setup, ply by ply from the empty board to ply `plies` or
/// to the full board. It is cancelled if `on_event` returns an error.
///
/// Positions are kept in groups with equal column heights. A group has at most one predecessor per
/// column, the group with one disc fewer in that column, and adding that disc keeps a sorted list of
/// positions sorted. So a ply is computed group by group, by merging sorted lists.
///
/// `memory` is the limit, in bytes, for the positions of two successive plies. From a million
/// positions on, their number is forecast before each ply, and a count that is expected to exceed
/// the limit ends with a [`CountError`]. The limit excludes the buffers in which one group is
/// merged and the allocator's overhead; a group is a small part of a ply.
///
/// ```
/// use claimeven_game::{CountError, CountEvent, Ruleset, Setup, count_positions};
///
/// let setup = Setup::new(4, 4, 4, Ruleset::Standard)?;
/// let mut total = 0;
/// count_positions(setup, u32::MAX, 1 << 30, |event| {
///     if let CountEvent::Counted(ply) = event {
///         total += ply.positions;
///     }
///     Ok::<(), CountError>(())
/// })?;
/// assert_eq!(total, 161_029);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn count_positions<E: From<CountError>>(
    setup: Setup,
    plies: u32,
    memory: u64,
    mut on_event: impl FnMut(CountEvent) -> Result<(), E>,
) -> Result<(), E> {
    let plies = plies.min(setup.cells());
    with_board!(Position::new(setup), board => count_from(board.rules(), plies, memory, &mut on_event))
}

/// The unfinished positions of a ply, grouped by their filled cells: the first player's discs in
/// each position, sorted.
type Ply<B> = BTreeMap<B, Vec<B>>;

fn count_from<R: Rules, E: From<CountError>>(
    rules: R,
    plies: u32,
    memory: u64,
    on_event: &mut impl FnMut(CountEvent) -> Result<(), E>,
) -> Result<(), E> {
    let mut forecast = Forecast::new::<R::Bits>(rules.setup(), plies, memory);
    let mut previous: Ply<R::Bits> = BTreeMap::from([(R::Bits::ZERO, vec![R::Bits::ZERO])]);
    on_event(CountEvent::Counted(PlyCount { ply: 0, positions: 1, finished: 0 }))?;
    for ply in 1..=plies {
        forecast.check(previous.values().map(|group| group.len() as u64).sum())?;

        let mut count = PlyCount { ply, positions: 0, finished: 0 };
        let mut next = groups_after(rules, &previous);
        let groups = next.len() as u64;
        for (index, (&filled, group)) in (0..).zip(&mut next) {
            on_event(CountEvent::Progress { ply, done: index, of: groups })?;
            let positions = positions_of_group(rules, filled, &previous);
            let found = positions.len() as u64;
            count.positions += found;
            let is_over = |first: R::Bits| {
                rules.is_over(filled, if ply % 2 == 1 { first } else { first ^ filled })
            };
            group.extend(positions.into_iter().filter(|&first| !is_over(first)));
            group.shrink_to_fit();
            count.finished += found - group.len() as u64;
        }
        on_event(CountEvent::Counted(count))?;
        previous = next;
    }
    Ok(())
}

/// The groups of the next ply, still empty.
fn groups_after<R: Rules>(rules: R, previous: &Ply<R::Bits>) -> Ply<R::Bits> {
    let unfinished = previous.iter().filter(|(_, group)| !group.is_empty());
    unfinished
        .flat_map(|(&filled, _)| {
            let open = Board::with_discs(rules, filled, R::Bits::ZERO).open();
            open.indices().map(move |index| (filled | R::Bits::ONE << index, Vec::new()))
        })
        .collect()
}

/// The first player's discs in every position of a group, given by its filled cells; sorted.
fn positions_of_group<R: Rules>(
    rules: R,
    filled: R::Bits,
    previous: &Ply<R::Bits>,
) -> Vec<R::Bits> {
    let board = Board::with_discs(rules, filled, R::Bits::ZERO);
    let first_moved = filled.count() % 2 == 1;
    let mut positions = Vec::new();
    for column in Column::all(rules.setup()) {
        let top = board.top(column);
        if let Some(group) = previous.get(&(filled ^ top)) {
            let played = if first_moved { top } else { R::Bits::ZERO };
            positions.extend(group.iter().map(|&first| first | played));
        }
    }
    // A stable sort finds the sorted runs and merges them.
    positions.sort();
    positions.dedup();
    positions
}

/// Forecasts whether the next plies fit in memory.
///
/// The number of combinations of column heights times the number of colourings is an upper bound
/// on the positions of a ply. The ratio of the real number to that bound falls from ply to ply,
/// because more and more games are finished. Extrapolating the ratio with its latest decrease
/// overestimates the next plies.
struct Forecast {
    setup: Setup,
    plies: u32,
    memory: f64,
    bytes_per_position: f64,
    bounds: Vec<f64>,
    shares: Vec<f64>,
}

impl Forecast {
    /// Below this, plies need little memory and show no trend yet.
    const FEW: u64 = 1_000_000;

    fn new<B>(setup: Setup, plies: u32, memory: u64) -> Forecast {
        let mut heights = vec![0.0; plies as usize + 1];
        heights[0] = 1.0;
        for _ in 0..setup.cols() {
            heights = (0..heights.len())
                .map(|discs| {
                    heights[discs.saturating_sub(setup.rows().into())..=discs].iter().sum()
                })
                .collect();
        }
        let colourings = (1..).scan(1.0, |ways, discs: u32| {
            let now = *ways;
            // From C(n, n/2) to C(n + 1, (n + 1)/2).
            *ways *= f64::from(discs) / f64::from(discs.div_ceil(2));
            Some(now)
        });
        Forecast {
            setup,
            plies,
            memory: memory as f64,
            bytes_per_position: size_of::<B>() as f64,
            bounds: heights.into_iter().zip(colourings).map(|(a, b)| a * b).collect(),
            shares: Vec::new(),
        }
    }

    /// Adds the number of unfinished positions of the latest ply and forecasts the next ones.
    #[expect(clippy::cast_sign_loss, reason = "sizes are not negative")]
    fn check(&mut self, unfinished: u64) -> Result<(), CountError> {
        let ply = self.shares.len();
        let share = unfinished as f64 / self.bounds[ply];
        self.shares.push(share);
        if unfinished < Forecast::FEW {
            return Ok(());
        }
        let decline_in_two_plies = (share / self.shares[ply - 2]).min(1.0);
        let bytes = |later: usize| {
            let share = share * decline_in_two_plies.powf((later - ply) as f64 / 2.0);
            share * (self.bounds[later - 1] + self.bounds[later]) * self.bytes_per_position
        };
        let plies = ply + 1..=self.plies as usize;
        let Some(too_much) = plies.clone().find(|&later| bytes(later) > self.memory) else {
            return Ok(());
        };
        let peak = plies.map(bytes).fold(0.0, f64::max);
        Err(CountError {
            setup: self.setup,
            plies: self.plies,
            needed: peak as u64,
            memory: self.memory as u64,
            fits: too_much as u32 - 1,
        })
    }
}

/// A count that would not fit in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CountError {
    /// The setup to count.
    pub setup: Setup,
    /// The last ply to count.
    pub plies: u32,
    /// The forecast of the memory needed, in bytes.
    pub needed: u64,
    /// The limit in bytes.
    pub memory: u64,
    /// The last ply that would fit.
    pub fits: u32,
}

impl fmt::Display for CountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (cols, rows) = (self.setup.cols(), self.setup.rows());
        write!(
            f,
            "counting {cols}x{rows} to ply {} would take up to {:.0} GiB of memory, but only {:.1} \
             GiB are available; {} plies would fit",
            self.plies,
            gib(self.needed),
            gib(self.memory),
            self.fits
        )
    }
}

fn gib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 30)
}

impl std::error::Error for CountError {}
