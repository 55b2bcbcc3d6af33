//! The speed of playing and counting positions. Each benchmark checks its counts.

use claimeven_game::{
    CountError, CountEvent, Game, Position, Ruleset, Setup, count_positions, perft,
};
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

fn setup(cols: u8, rows: u8, ruleset: Ruleset) -> Setup {
    Setup::new(cols, rows, 4, ruleset).expect("the benchmarks use valid setups")
}

/// Move sequences on boards whose size is known at compile time or not, in 64 bits and in 128.
#[divan::bench(sample_count = 10, sample_size = 1, args = [
    (Setup::STANDARD, 9, 39_394_572),
    (setup(7, 6, Ruleset::Lines), 8, 5_764_458),
    (setup(10, 10, Ruleset::Standard), 7, 10_000_000),
].map(Sequences::from))]
fn sequences(bencher: Bencher, of: &Sequences) {
    let start = Position::new(of.setup);
    bencher.counter(ItemsCount::new(of.expected)).bench(|| {
        assert_eq!(perft(black_box(&start), of.plies), of.expected);
    });
}

struct Sequences {
    setup: Setup,
    plies: u32,
    expected: u64,
}

impl From<(Setup, u32, u64)> for Sequences {
    fn from((setup, plies, expected): (Setup, u32, u64)) -> Self {
        Sequences { setup, plies, expected }
    }
}

impl std::fmt::Display for Sequences {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, {} plies", self.setup, self.plies)
    }
}

/// Distinct positions, ply by ply.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn positions_10(bencher: Bencher) {
    const EXPECTED: u64 = 2_482_043;
    bencher.counter(ItemsCount::new(EXPECTED)).bench(|| {
        let mut positions = 0;
        let counted = count_positions(Setup::STANDARD, 10, u64::MAX, |event| {
            if let CountEvent::Counted(count) = event {
                positions += count.positions;
            }
            Ok::<(), CountError>(())
        });
        assert_eq!((counted, positions), (Ok(()), EXPECTED));
    });
}

/// A whole game through the checked interface, including parsing of the move text.
#[divan::bench]
fn replay_42_moves(bencher: Bencher) {
    const MOVES: &str = "774347425471264463721651633321611575623552";
    bencher.counter(ItemsCount::new(MOVES.len())).bench(|| {
        let game = Game::parse(Setup::STANDARD, black_box(MOVES));
        assert_eq!(game.map(|game| game.moves().len()), Ok(42));
    });
}
