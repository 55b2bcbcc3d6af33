//! Random positions for tests.

use claimeven_game::{Position, Ruleset, Setup};
use proptest::prelude::*;

/// Setups of up to `max_cells` cells, in both rulesets, with lines of two to five.
pub(crate) fn setups(max_cells: u32) -> impl Strategy<Value = Setup> {
    let rulesets = prop_oneof![Just(Ruleset::Standard), Just(Ruleset::Lines)];
    let setup = (1..=9_u8, 1..=9_u8, 2..=5_u8, rulesets);
    setup.prop_filter_map("the board is too large", move |(cols, rows, connect, ruleset)| {
        let setup = Setup::new(cols, rows, connect, ruleset).ok()?;
        (setup.cells() <= max_cells).then_some(setup)
    })
}

/// Unfinished positions of such setups.
pub(crate) fn positions(max_cells: u32) -> impl Strategy<Value = Position> {
    (setups(max_cells), prop::collection::vec(any::<u8>(), 0..60))
        .prop_map(|(setup, choices)| random_position(setup, &choices))
}

/// Unfinished positions of the standard game.
pub(crate) fn standard_positions() -> impl Strategy<Value = Position> {
    prop::collection::vec(any::<u8>(), 0..36)
        .prop_map(|choices| random_position(Setup::STANDARD, &choices))
}

/// The position after random moves, as long as the game is unfinished.
fn random_position(setup: Setup, choices: &[u8]) -> Position {
    let mut position = Position::new(setup);
    for &choice in choices {
        let legal: Vec<_> = position.legal().collect();
        let mut next = position;
        next.play(legal[usize::from(choice) % legal.len()]).unwrap();
        if next.outcome().is_some() {
            break;
        }
        position = next;
    }
    position
}
