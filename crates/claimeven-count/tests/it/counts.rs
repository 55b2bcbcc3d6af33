//! Symbolic counts against enumeration.

use claimeven_count::{CountOptions, Error, PlyEvent, count_symbolically};
use claimeven_game::{CountError, CountEvent, PlyCount, Ruleset, Setup, count_positions};
use proptest::prelude::*;

pub(crate) fn symbolic(setup: Setup, threads: usize) -> Vec<PlyCount> {
    let options = CountOptions { plies: u32::MAX, threads, memory: 1 << 30, checkpoint: None };
    let mut plies = Vec::new();
    count_symbolically(setup, options, |event| {
        if let PlyEvent::Counted(ply) = event {
            plies.push(ply.count);
        }
        Ok::<(), Error>(())
    })
    .unwrap();
    plies
}

fn enumerated(setup: Setup) -> Vec<PlyCount> {
    let mut plies = Vec::new();
    count_positions(setup, u32::MAX, 1 << 30, |event| {
        if let CountEvent::Counted(ply) = event {
            plies.push(ply);
        }
        Ok::<(), CountError>(())
    })
    .unwrap();
    plies
}

fn small_setup() -> impl Strategy<Value = Setup> {
    let ruleset = prop::sample::select(&Ruleset::ALL[..]);
    (1..=9u8, 1..=9u8, 2..=5u8, ruleset)
        .prop_filter("few cells", |(cols, rows, _, _)| cols * rows <= 16)
        .prop_map(|(cols, rows, connect, ruleset)| {
            Setup::new(cols, rows, connect, ruleset).unwrap()
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn small_boards_are_counted_as_by_enumeration(setup in small_setup(), threads in 1..4usize) {
        prop_assert_eq!(symbolic(setup, threads), enumerated(setup));
    }
}
