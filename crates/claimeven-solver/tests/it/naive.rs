//! A naive solver: every move of every position, with memoisation.

use std::collections::HashMap;

use claimeven_game::{Outcome, Position, Ruleset, Setup};

#[derive(Default)]
pub(crate) struct Naive {
    scores: HashMap<u128, i32>,
}

impl Naive {
    pub(crate) fn score(&mut self, position: &Position) -> i32 {
        if let Some(outcome) = position.outcome() {
            // The loser's score is that of the winner one ply earlier: 1 for its last disc and so
            // on.
            let empty = (position.setup().cells() - position.ply()) as i32;
            return if outcome == Outcome::Draw { 0 } else { -(empty / 2 + 1) };
        }
        if let Some(&score) = self.scores.get(&position.key()) {
            return score;
        }
        let score = children(position).iter().map(|child| -self.score(child)).max().unwrap();
        self.scores.insert(position.key(), score);
        score
    }
}

pub(crate) fn children(position: &Position) -> Vec<Position> {
    let child = |column| {
        let mut child = *position;
        child.play(column).unwrap();
        child
    };
    position.legal().map(child).collect()
}

pub(crate) fn setup(cols: u8, rows: u8, connect: u8) -> Setup {
    Setup::new(cols, rows, connect, Ruleset::Standard).unwrap()
}

/// Unfinished positions with at most this many empty cells, from random games that avoid moves
/// which end the game.
pub(crate) fn random_positions(setup: Setup, max_empty: u32, count: usize) -> Vec<Position> {
    let mut random = fastrand::Rng::with_seed(7);
    let mut positions = Vec::new();
    let mut games = 0;
    while positions.len() < count && games < 100 * count {
        games += 1;
        let empty = random.u32(1..=max_empty.min(setup.cells()));
        let mut position = Position::new(setup);
        while position.ply() < setup.cells() - empty {
            let mut next = children(&position);
            next.retain(|child| child.outcome().is_none());
            match random.choice(next) {
                Some(child) => position = child,
                None => break,
            }
        }
        if setup.cells() - position.ply() <= max_empty {
            positions.push(position);
        }
    }
    assert_eq!(positions.len(), count, "{setup}");
    positions
}
