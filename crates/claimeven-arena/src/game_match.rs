//! A match between two players, on all cores.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use claimeven_game::{Column, Setup, mix_key};
use claimeven_search::AgentError;

use crate::game::{Pairing, TimeControl, play_game};
use crate::pool::run_jobs;
use crate::record::GameRecord;
use crate::roster::AgentSpec;
use crate::statistics::{PairResults, Sprt, SprtOutcome};

/// Two players, and the games that they are to play.
///
/// Games come in pairs from one opening, in which either begins. Their results do not depend on
/// how many threads there are.
pub struct Match<'a> {
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
pub struct MatchStatus {
    /// Games that the first player won, drew and lost.
    pub results: [u64; 3],
    /// The same by pairs of games.
    pub pairs: PairResults,
    /// Games that the player who began won, drew and lost.
    pub first_mover: [u64; 3],
    /// What each player spent.
    pub stats: [PlayerStats; 2],
    /// How the test ended, if it did.
    pub sprt: Option<SprtOutcome>,
}

/// What a player spent on its moves.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlayerStats {
    /// The moves that it chose.
    pub moves: u64,
    /// What it took for them, in milliseconds.
    pub ms: f64,
    /// The positions that it looked at.
    pub nodes: u64,
}

impl PlayerStats {
    /// Adds what a player spent on the moves that it chose in a game.
    pub(crate) fn add(&mut self, game: &GameRecord, player: usize) {
        for (ply, chosen) in game.moves.iter().enumerate().skip(game.opening_moves) {
            if game.mover(ply) == player {
                self.moves += 1;
                self.ms += chosen.ms;
                self.nodes += chosen.nodes;
            }
        }
    }
}

impl MatchStatus {
    /// How many games have been played.
    pub fn games(&self) -> u64 {
        self.results.iter().sum()
    }

    fn add_pair(&mut self, games: &[GameRecord; 2]) {
        for game in games {
            self.results[2 - game.half_points(0)] += 1;
            self.first_mover[2 - game.half_points(game.first_player)] += 1;
            for (player, stats) in self.stats.iter_mut().enumerate() {
                stats.add(game, player);
            }
        }
        self.pairs.add(games[0].half_points(0) + games[1].half_points(0));
    }
}

impl Match<'_> {
    /// Plays the match. After each pair, in their order, its games and the status are reported.
    pub fn run(
        &self,
        mut report: impl FnMut(&[GameRecord; 2], &MatchStatus),
    ) -> Result<MatchStatus, AgentError> {
        let mut status = MatchStatus::default();
        let mut waiting = BTreeMap::new();
        let mut counted = 0;
        run_jobs(
            0..self.pairs,
            self.threads,
            &Arc::default(),
            |&pair, cancel| self.play_pair(pair, cancel),
            |pair, games| {
                waiting.insert(pair, games);
                while let Some(games) = waiting.remove(&counted) {
                    counted += 1;
                    status.add_pair(&games);
                    status.sprt = self.sprt.and_then(|sprt| sprt.outcome(&status.pairs));
                    report(&games, &status);
                    if status.sprt.is_some() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                Ok(ControlFlow::Continue(()))
            },
        )?;
        Ok(status)
    }

    /// Both games of a pair; `None` if they were cancelled.
    fn play_pair(
        &self,
        pair: u64,
        cancel: &Arc<AtomicBool>,
    ) -> Result<Option<[GameRecord; 2]>, AgentError> {
        let opening = &self.openings[pair as usize % self.openings.len()];
        let mut seeds = fastrand::Rng::with_seed(self.seed ^ mix_key(pair));
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
