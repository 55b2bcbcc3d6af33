//! Counts compared with published numbers and with brute force.

use std::collections::HashSet;

use claimeven_game::{
    CountError, CountEvent, PlyCount, Position, Ruleset, Setup, count_positions, perft,
};

fn count(setup: Setup, plies: u32) -> Vec<PlyCount> {
    let mut counts = Vec::new();
    count_positions(setup, plies, u64::MAX, |event| {
        if let CountEvent::Counted(count) = event {
            counts.push(count);
        }
        Ok::<(), CountError>(())
    })
    .unwrap();
    counts
}

fn positions(counts: &[PlyCount]) -> Vec<u64> {
    counts.iter().map(|count| count.positions).collect()
}

#[test]
fn the_standard_board_has_the_published_numbers_of_sequences() {
    let start = Position::new(Setup::STANDARD);
    let sequences: Vec<u64> = (0..=8).map(|plies| perft(&start, plies)).collect();
    assert_eq!(sequences, [1, 7, 49, 343, 2401, 16807, 117_649, 823_536, 5_673_234]);
}

#[test]
fn the_standard_board_has_the_published_numbers_of_positions() {
    let published = [1, 7, 49, 238, 1120, 4263, 16422, 54859, 184_275, 558_186, 1_662_623];
    assert_eq!(positions(&count(Setup::STANDARD, 10)), published);
}

#[test]
fn the_4x4_board_has_161_029_positions() {
    let setup = Setup::new(4, 4, 4, Ruleset::Standard).unwrap();
    assert_eq!(positions(&count(setup, u32::MAX)).iter().sum::<u64>(), 161_029);
}

/// Small boards in 64 and in 128 bits, compared with sets of positions and sequences.
#[test]
fn counts_match_brute_force() {
    for (cols, rows, connect, ruleset, plies) in [
        (4, 3, 3, Ruleset::Standard, 12),
        (3, 4, 3, Ruleset::Lines, 12),
        (4, 4, 2, Ruleset::Standard, 16),
        (2, 5, 4, Ruleset::Standard, 10),
        (7, 6, 4, Ruleset::Lines, 6),
        (10, 10, 4, Ruleset::Standard, 4),
        (1, 3, 2, Ruleset::Lines, 3),
        (35, 1, 4, Ruleset::Standard, 3),
    ] {
        let setup = Setup::new(cols, rows, connect, ruleset).unwrap();
        let start = Position::new(setup);
        let mut sequences = vec![start];
        for count in count(setup, plies) {
            assert_eq!(perft(&start, count.ply), sequences.len() as u64, "{setup}, {count:?}");
            let distinct: HashSet<Position> = sequences.iter().copied().collect();
            let finished = distinct.iter().filter(|position| position.outcome().is_some());
            assert_eq!(count.finished, finished.count() as u64, "{setup}, {count:?}");
            assert_eq!(count.positions, distinct.len() as u64, "{setup}, {count:?}");
            if sequences.len() > 300_000 {
                break;
            }
            sequences = sequences.iter().flat_map(children).collect();
        }
    }
}

fn children(position: &Position) -> Vec<Position> {
    let after = |column| {
        let mut child = *position;
        child.play(column).unwrap();
        child
    };
    position.legal().map(after).collect()
}

#[test]
fn a_count_that_does_not_fit_fails_before_its_memory_is_used() {
    let mut last = 0;
    let error = count_positions(Setup::STANDARD, u32::MAX, 1 << 30, |event| {
        if let CountEvent::Counted(count) = event {
            last = count.ply;
        }
        Ok::<(), CountError>(())
    })
    .unwrap_err();
    assert_eq!(last, 10, "forecasts start with plies of a million positions");
    assert_eq!((error.plies, error.fits), (42, 14));
    assert!(error.needed > 1 << 40);
}

/// The forecast is compared with the real number of positions and must never be too low.
#[test]
fn the_forecast_is_never_too_low() {
    let setup = Setup::new(5, 5, 4, Ruleset::Standard).unwrap();
    let mut unfinished = Vec::new();
    let counted = count_positions(setup, 17, u64::MAX, |event| {
        if let CountEvent::Counted(count) = event {
            unfinished.push(count.positions - count.finished);
        }
        Ok::<(), CountError>(())
    });
    assert_eq!(counted, Ok(()));
    let need = 8 * (unfinished[16] + unfinished[17]);
    let rejected = count_positions(setup, 17, need - 1, |_| Ok::<(), CountError>(()));
    assert_eq!(rejected.map_err(|error| error.fits), Err(16));
}

#[test]
fn an_error_from_the_callback_cancels_the_count() {
    let stopped = count_positions(Setup::STANDARD, 20, u64::MAX, |event| match event {
        CountEvent::Counted(count) if count.ply == 3 => Err(Stop),
        _ => Ok(()),
    });
    assert_eq!(stopped, Err(Stop));
}

#[derive(Debug, PartialEq)]
struct Stop;

impl From<CountError> for Stop {
    fn from(error: CountError) -> Stop {
        unreachable!("{error}")
    }
}
