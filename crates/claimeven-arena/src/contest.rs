//! A match between two players, on all cores.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

use claimeven_game::{Column, Setup};
use claimeven_search::AgentError;

use crate::game::{Pairing, TimeControl, play_game};
use crate::record::GameRecord;
use crate::roster::AgentSpec;
use crate::statistics::{PairResults, Sprt, Verdict};

/// Two players, and the games that they are to play.
///
/// Games come in pairs from one opening, in which either begins. Their results do not depend on
/// how many threads there are.
pub struct Contest<'a> {
    /// The game.
    pub setup: Setup,
    /// Both players.
    pub players: [&'a AgentSpec; 2],
    /// The openings, which are used in turn.
    pub openings: &'a [Vec<Column>],
    /// How many pairs of games to play.
    pub pairs: u64,
    /// What chance decides by.
    pub seed: u64,
    /// How long the players may think.
    pub time: TimeControl,
    /// A test that may end the match early.
    pub sprt: Option<Sprt>,
    /// How many games to play at the same time.
    pub threads: usize,
}

/// How a match stands.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    /// Games that the first player won, drew and lost.
    pub results: [u64; 3],
    /// The same by pairs of games.
    pub pairs: PairResults,
    /// Games that the player who began won, drew and lost.
    pub first_mover: [u64; 3],
    /// What each player spent.
    pub effort: [Effort; 2],
    /// How the test ended, if it did.
    pub verdict: Option<Verdict>,
}

/// What a player spent on its moves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Effort {
    /// The moves that it chose.
    pub moves: u64,
    /// What it took for them, in milliseconds.
    pub ms: f64,
    /// The positions that it looked at.
    pub nodes: u64,
}

impl Standing {
    /// How many games have been played.
    pub fn games(&self) -> u64 {
        self.results.iter().sum()
    }

    fn add_pair(&mut self, games: &[GameRecord; 2]) {
        for game in games {
            self.results[2 - game.half_points(0)] += 1;
            self.first_mover[2 - game.half_points(game.first_player)] += 1;
            for (ply, chosen) in game.moves.iter().enumerate().skip(game.opening_moves) {
                let effort = &mut self.effort[game.mover(ply)];
                effort.moves += 1;
                effort.ms += chosen.ms;
                effort.nodes += chosen.nodes;
            }
        }
        self.pairs.add(games[0].half_points(0) + games[1].half_points(0));
    }
}

impl Contest<'_> {
    /// Plays the match. After each pair, in their order, its games and the standing are reported.
    pub fn run(
        &self,
        mut report: impl FnMut(&[GameRecord; 2], &Standing),
    ) -> Result<Standing, AgentError> {
        let mut standing = Standing::default();
        let next = AtomicU64::new(0);
        let cancel = Arc::new(AtomicBool::new(false));
        thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            for _ in 0..self.threads.max(1) {
                let (sender, next, cancel) = (sender.clone(), &next, &cancel);
                scope.spawn(move || {
                    loop {
                        let pair = next.fetch_add(1, Ordering::Relaxed);
                        if pair >= self.pairs || cancel.load(Ordering::Relaxed) {
                            return;
                        }
                        // Nobody listens any more once the match is decided.
                        let games = self.play_pair(pair, cancel).transpose();
                        if games.is_none_or(|games| sender.send((pair, games)).is_err()) {
                            return;
                        }
                    }
                });
            }
            drop(sender);

            let mut waiting = BTreeMap::new();
            let mut counted = 0;
            let outcome = receiver.into_iter().try_for_each(|(pair, games)| {
                waiting.insert(pair, games.map_err(Some)?);
                while let Some(games) = waiting.remove(&counted) {
                    counted += 1;
                    standing.add_pair(&games);
                    standing.verdict = self.sprt.and_then(|sprt| sprt.verdict(&standing.pairs));
                    report(&games, &standing);
                    if standing.verdict.is_some() {
                        return Err(None);
                    }
                }
                Ok(())
            });
            cancel.store(true, Ordering::Relaxed);
            match outcome {
                Ok(()) | Err(None) => Ok(standing),
                Err(Some(error)) => Err(error),
            }
        })
    }

    /// Both games of a pair; `None` if they were cancelled.
    fn play_pair(
        &self,
        pair: u64,
        cancel: &Arc<AtomicBool>,
    ) -> Result<Option<[GameRecord; 2]>, AgentError> {
        let opening = &self.openings[pair as usize % self.openings.len()];
        let mut seeds =
            fastrand::Rng::with_seed(self.seed ^ pair.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut play = |first_player| {
            let pairing = Pairing {
                setup: self.setup,
                players: self.players,
                first_player,
                opening,
                seed: seeds.u64(..),
                time: self.time,
            };
            play_game(&pairing, format!("{}", 2 * pair + 1 + first_player as u64), cancel)
        };
        let (first, second) = (play(0)?, play(1)?);
        Ok(first.zip(second).map(<[GameRecord; 2]>::from))
    }
}
