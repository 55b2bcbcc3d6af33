//! A match between two players, on all cores.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use claimeven_game::{Column, Setup, mix_key};

use crate::game::{MatchError, Pairing, TimeControl, play_game, play_opening};
use crate::pool::run_jobs;
use crate::record::GameRecord;
use crate::roster::AgentSpec;
use crate::statistics::{PairResults, Sprt, SprtOutcome};

/// A match between two players.
///
/// Games are played in pairs: from each opening, each player moves first once. Results do not
/// depend on the number of threads.
///
/// ```
/// use claimeven_arena::{AgentSpec, Match, Openings};
/// use claimeven_game::Setup;
///
/// let players: [AgentSpec; 2] = ["alphabeta:depth=4".parse()?, "random".parse()?];
/// let openings = Openings::Random(4).choose(Setup::STANDARD, 5, 1)?;
/// let status = Match::new(Setup::STANDARD, players.each_ref(), &openings).run(|_, _| {})?;
/// assert_eq!(status.games(), 10);
/// assert!(status.pairs.score().middle > 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Match<'a> {
    setup: Setup,
    players: [&'a AgentSpec; 2],
    openings: &'a [Vec<Column>],
    pairs: u64,
    seed: u64,
    time: TimeControl,
    sprt: Option<Sprt>,
    threads: usize,
    cancel: Option<Arc<AtomicBool>>,
}

/// The results of a match so far.
#[derive(Clone, Debug, Default)]
pub struct MatchStatus {
    /// Games won, drawn and lost by the first player.
    pub results: [u64; 3],
    /// The results of the first player by pairs of games.
    pub pairs: PairResults,
    /// Games won, drawn and lost by the first mover.
    pub first_mover: [u64; 3],
    /// Moves, time and nodes of each player.
    pub stats: [PlayerStats; 2],
    /// The outcome of the sequential test, once it is decided.
    pub sprt: Option<SprtOutcome>,
}

/// A player's moves, opening moves excluded, with their time and nodes.
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs, reason = "the names say it")]
pub struct PlayerStats {
    pub moves: u64,
    pub ms: f64,
    pub nodes: u64,
}

impl PlayerStats {
    /// Adds a player's moves of a game.
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
    /// The number of games.
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

impl<'a> Match<'a> {
    /// A match with one pair of games from each opening, seed 1, one thread and no time limits.
    pub fn new(
        setup: Setup,
        players: [&'a AgentSpec; 2],
        openings: &'a [Vec<Column>],
    ) -> Match<'a> {
        Match {
            setup,
            players,
            openings,
            pairs: openings.len() as u64,
            seed: 1,
            time: TimeControl::default(),
            sprt: None,
            threads: 1,
            cancel: None,
        }
    }

    /// Sets the number of pairs of games; the openings are used in turn.
    pub fn with_pairs(self, pairs: u64) -> Match<'a> {
        Match { pairs, ..self }
    }

    /// Sets the seed of the players' random choices.
    pub fn with_seed(self, seed: u64) -> Match<'a> {
        Match { seed, ..self }
    }

    /// Sets the time limits.
    pub fn with_time(self, time: TimeControl) -> Match<'a> {
        Match { time, ..self }
    }

    /// Ends the match early by a sequential probability ratio test.
    pub fn with_sprt(self, sprt: impl Into<Option<Sprt>>) -> Match<'a> {
        Match { sprt: sprt.into(), ..self }
    }

    /// Sets the number of games played at the same time.
    pub fn with_threads(self, threads: usize) -> Match<'a> {
        Match { threads, ..self }
    }

    /// Adds a flag that ends the match.
    pub fn with_cancel(self, cancel: Arc<AtomicBool>) -> Match<'a> {
        Match { cancel: Some(cancel), ..self }
    }

    /// Plays the match. After each pair, in order, its games and the status are reported. A
    /// cancelled match ends with the status of the pairs reported so far.
    pub fn run(
        &self,
        mut report: impl FnMut(&[GameRecord; 2], &MatchStatus),
    ) -> Result<MatchStatus, MatchError> {
        if self.openings.is_empty() {
            return Err(MatchError::NoOpenings);
        }
        for opening in self.openings {
            play_opening(self.setup, opening)?;
        }
        let mut status = MatchStatus::default();
        let mut waiting = BTreeMap::new();
        let mut counted = 0;
        run_jobs(
            0..self.pairs,
            self.threads,
            self.cancel.as_deref(),
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
    ) -> Result<Option<[GameRecord; 2]>, MatchError> {
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

#[cfg(test)]
mod tests {
    use claimeven_game::Game;

    use super::*;

    #[test]
    fn illegal_openings_are_an_error() {
        let random: AgentSpec = "random".parse().unwrap();
        let run = |openings: &[Vec<Column>]| {
            let planned = Match::new(Setup::STANDARD, [&random, &random], openings);
            planned.with_pairs(3).run(|_, _| {}).map(|status| status.games())
        };
        let moves = |text| Game::parse(Setup::STANDARD, text).unwrap().moves().to_vec();
        assert_eq!(run(&[]), Err(MatchError::NoOpenings));
        let overfull = vec![moves("1")[0]; 7];
        let error = run(&[Vec::new(), overfull.clone()]).unwrap_err();
        assert!(matches!(error, MatchError::Opening { ply: 7, .. }), "{error}");
        assert!(std::error::Error::source(&error).is_some());
        assert_eq!(run(&[Vec::new(), moves("44")]), Ok(6));

        let pairing = Pairing {
            setup: Setup::STANDARD,
            players: [&random, &random],
            first_player: 0,
            opening: &overfull,
            seed: 1,
            time: TimeControl::default(),
        };
        let play = |pairing: &Pairing| play_game(pairing, String::new(), &Arc::default());
        assert!(matches!(play(&pairing), Err(MatchError::Opening { .. })));
        let third = Pairing { first_player: 2, opening: &[], ..pairing };
        assert_eq!(play(&third), Err(MatchError::FirstPlayer(2)));
    }

    #[test]
    fn a_cancelled_match_returns_the_games_played_so_far() {
        let random: AgentSpec = "random".parse().unwrap();
        let cancel = Arc::new(AtomicBool::new(false));
        let openings = [Vec::new()];
        let status = Match::new(Setup::STANDARD, [&random, &random], &openings)
            .with_pairs(u64::MAX)
            .with_cancel(Arc::clone(&cancel))
            .run(|_, status| {
                cancel.store(status.games() >= 6, std::sync::atomic::Ordering::Relaxed);
            });
        assert!(status.unwrap().games() >= 6);
    }
}
