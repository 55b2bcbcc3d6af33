//! A match between two players, on all cores.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use claimeven_game::{Column, Setup, mix_key};
use claimeven_work::{DispatchEvent, DynDispatcher, Local};

use crate::external::EnginePool;
use crate::game::{MatchError, Pairing, RecordMismatch, TimeControl, play_opening};
use crate::game_units::{Games, PlannedGame};
use crate::record::{EndReason, GameRecord};
use crate::roster::AgentSpec;
use claimeven_zero::{MatchScore, PairResults, Sprt, SprtOutcome};

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
/// assert!(status.pairs.score().estimate > 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Match<'a> {
    setup: Setup,
    players: [&'a AgentSpec; 2],
    openings: &'a [Vec<Column>],
    first_pair: u64,
    pairs: u64,
    seed: u64,
    time: TimeControl,
    sprt: Option<Sprt>,
    threads: usize,
    cancel: Option<Arc<AtomicBool>>,
}

/// The results of a match so far.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct MatchStatus {
    /// The results of the first player.
    pub results: MatchScore,
    /// The results of the first player by pairs of games.
    pub pairs: PairResults,
    /// The results of the first mover.
    pub first_mover: MatchScore,
    /// Moves, time and nodes of each player.
    pub stats: [PlayerStats; 2],
    /// Games that each player lost on time.
    pub lost_on_time: [u64; 2],
    /// Games that each player forfeited.
    pub forfeited: [u64; 2],
    /// The first forfeit of each player: the game's id and what happened.
    pub first_forfeit: [Option<(String, String)>; 2],
    /// Games that repeat an earlier one move for move.
    pub repeated: u64,
    /// The outcome of the sequential test, once it is decided.
    pub sprt: Option<SprtOutcome>,
}

/// A player's moves, opening moves excluded, with their time and nodes.
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs, reason = "self-explanatory")]
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
        self.results.games()
    }

    fn add_pair(&mut self, games: &[GameRecord; 2], seen: &mut HashSet<(usize, String)>) {
        for game in games {
            if !seen.insert((game.first_player, game.move_text())) {
                self.repeated += 1;
            }
            if let (Some(winner), reason) = (game.result.winner, game.result.reason) {
                let loser = 1 - winner;
                self.lost_on_time[loser] += u64::from(reason == EndReason::Time);
                if reason == EndReason::Forfeit {
                    self.forfeited[loser] += 1;
                    let detail = game.result.detail.clone().unwrap_or_default();
                    self.first_forfeit[loser].get_or_insert_with(|| (game.id.clone(), detail));
                }
            }
            self.results.add_game(game.half_points(0));
            self.first_mover.add_game(game.half_points(game.first_player));
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
            first_pair: 0,
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

    /// Skips this many pairs of games at the start.
    pub fn without_first_pairs(self, pairs: u64) -> Match<'a> {
        Match { first_pair: pairs, ..self }
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

    /// Sets a flag that cancels the match.
    pub fn with_cancel(self, cancel: Arc<AtomicBool>) -> Match<'a> {
        Match { cancel: Some(cancel), ..self }
    }

    /// Plays the match. After each pair, in order, its games and the status are reported. A
    /// cancelled match ends with the status of the pairs reported so far.
    pub fn run(
        &self,
        mut report: impl FnMut(&[GameRecord; 2], &MatchStatus),
    ) -> Result<MatchStatus, MatchError> {
        self.resume([], |games, _, status| report(games, status))
    }

    /// Plays the missing games of a match, given those that have been played, which
    /// [`check`](Match::check) must accept. Results are the same as without an interruption. The
    /// report also says which games of a pair are new.
    pub fn resume(
        &self,
        played: impl IntoIterator<Item = GameRecord>,
        mut report: impl FnMut(&[GameRecord; 2], [bool; 2], &MatchStatus),
    ) -> Result<MatchStatus, MatchError> {
        self.resume_on(&Local { threads: self.threads }, played, |event| {
            if let MatchEvent::Pair { games, is_new, status } = event {
                report(games, is_new, status);
            }
        })
    }

    /// Resumes the match on the machines of a dispatcher. If a machine returns wrong games, the
    /// match restarts with the games of the others.
    pub fn resume_on(
        &self,
        dispatcher: &dyn DynDispatcher<Games>,
        played: impl IntoIterator<Item = GameRecord>,
        mut report: impl FnMut(MatchEvent<'_>),
    ) -> Result<MatchStatus, MatchError> {
        if self.openings.is_empty() {
            return Err(MatchError::NoOpenings);
        }
        for opening in self.openings {
            play_opening(self.setup, opening)?;
        }
        let engines = EnginePool::default();
        let players = self.players.map(|player| player.clone().with_engines(&engines));
        for player in &players {
            // A program that cannot be started or cannot play the board ends the match here.
            player.build(self.setup, 0)?.prepare(self.setup)?;
        }
        let mut known: HashMap<u64, GameRecord> = HashMap::new();
        for game in played {
            let number = self.check(&game).map_err(MatchError::Record)?;
            known.insert(number, game);
        }
        let (mut status, mut seen) = (MatchStatus::default(), HashSet::new());
        let mut waiting = BTreeMap::new();
        let mut counted = self.first_pair;
        let games = Games {
            title: None,
            identity: Some(self.identity()),
            setup: self.setup,
            players: players.to_vec(),
            time: self.time,
            memory: None,
        };
        dispatcher.run_all(
            &games,
            self.first_pair..self.pairs,
            &|pair| {
                let both = [2 * pair, 2 * pair + 1];
                let missing = both.into_iter().filter(|number| !known.contains_key(number));
                missing.map(|number| self.planned(number)).collect()
            },
            self.cancel.as_deref(),
            &mut |taken| {
                let (pair, new) = match taken {
                    DispatchEvent::Output(pair, new) => (pair, new),
                    DispatchEvent::Restart => {
                        (status, seen) = (MatchStatus::default(), HashSet::new());
                        waiting.clear();
                        counted = self.first_pair;
                        report(MatchEvent::Restart);
                        return Ok(ControlFlow::Continue(()));
                    }
                };
                let mut new = new.into_iter();
                let mut game = |number: u64| match known.get(&number) {
                    Some(game) => game.clone(),
                    None => new.next().expect("the unit has all missing games"),
                };
                waiting.insert(pair, [game(2 * pair), game(2 * pair + 1)]);
                while let Some(games) = waiting.remove(&counted) {
                    let is_new = [0, 1].map(|side| !known.contains_key(&(2 * counted + side)));
                    counted += 1;
                    status.add_pair(&games, &mut seen);
                    status.sprt = self.sprt.and_then(|sprt| sprt.outcome(&status.pairs));
                    report(MatchEvent::Pair { games: &games, is_new, status: &status });
                    if status.sprt.is_some() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                Ok(ControlFlow::Continue(()))
            },
        )?;
        Ok(status)
    }

    /// The number of a recorded game, from 0, if it belongs to this match.
    pub fn check(&self, record: &GameRecord) -> Result<u64, RecordMismatch> {
        let id = &record.id;
        let number = id.parse::<u64>().ok().and_then(|number| number.checked_sub(1));
        let number = number.filter(|number| number / 2 < self.pairs);
        let number = number.ok_or_else(|| RecordMismatch::Unplanned(id.clone()))?;
        let pairing = self.pairing(number, self.players);
        let names = self.players.map(ToString::to_string);
        pairing.check_record(record, names.each_ref().map(|name| &**name))?;
        Ok(number)
    }

    /// The pairing of a game by its number, from 0.
    fn pairing<'b>(&'b self, number: u64, players: [&'b AgentSpec; 2]) -> Pairing<'b> {
        let (pair, first_player) = (number / 2, (number % 2) as usize);
        let mut seeds = fastrand::Rng::with_seed(self.seed(pair));
        let both = [seeds.u64(..), seeds.u64(..)];
        Pairing {
            setup: self.setup,
            players,
            first_player,
            opening: &self.openings[pair as usize % self.openings.len()],
            seed: both[first_player],
            time: self.time,
            memory: None,
        }
    }

    /// The seed of a pair. It depends on the time control, so that records of different matches are
    /// not mixed.
    fn seed(&self, pair: u64) -> u64 {
        let seed = self.seed ^ mix_key(pair);
        if self.time.is_unlimited() {
            return seed;
        }
        self.time.micros().into_iter().fold(seed, |seed, part| mix_key(seed ^ part))
    }

    /// What tells the match from others between the same players. The games that have been played
    /// already make no difference.
    fn identity(&self) -> String {
        let Match { seed, pairs, first_pair, sprt, openings, .. } = self;
        format!("{seed} {first_pair}..{pairs} {sprt:?} {openings:?}")
    }

    /// A game by its number, from 0, as a unit of work.
    fn planned(&self, number: u64) -> PlannedGame {
        let Pairing { first_player, opening, seed, .. } = self.pairing(number, self.players);
        PlannedGame {
            id: (number + 1).to_string(),
            players: [0, 1],
            first_player,
            opening: opening.to_vec(),
            seed,
        }
    }
}

/// An event of a match.
#[derive(Debug)]
pub enum MatchEvent<'a> {
    /// The next pair of games has been played.
    Pair {
        /// Its games.
        games: &'a [GameRecord; 2],
        /// Which of them are new.
        is_new: [bool; 2],
        /// The status after them.
        status: &'a MatchStatus,
    },
    /// Some of the new games were wrong: discard all of them, the match restarts.
    Restart,
}

#[cfg(test)]
mod tests {
    use claimeven_game::Game;

    use super::*;
    use crate::game::play_game;

    #[test]
    fn trees_stay_within_the_memory_limit() {
        let players: [AgentSpec; 2] =
            ["mcts:sims=3000", "random"].map(|text| text.parse().unwrap());
        let play = |memory| {
            let pairing = Pairing {
                setup: Setup::STANDARD,
                players: players.each_ref(),
                first_player: 0,
                opening: &[],
                seed: 1,
                time: TimeControl::default(),
                memory,
            };
            play_game(&pairing, "1".to_owned(), &Arc::default()).unwrap().unwrap()
        };
        let values = |record: GameRecord| record.moves[0].value.clone();
        // Few positions fit into 4 kB, so the first move is judged differently.
        assert_ne!(values(play(Some(4 << 10))), values(play(None)));
        assert_eq!(values(play(Some(1 << 30))), values(play(None)));
    }

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
            memory: None,
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

    #[test]
    fn a_resumed_match_has_the_same_games() {
        let players: [AgentSpec; 2] = ["mcts:sims=20", "random"].map(|text| text.parse().unwrap());
        let openings = [Vec::new()];
        let planned = Match::new(Setup::STANDARD, players.each_ref(), &openings).with_pairs(4);
        let timeless = |game: &GameRecord| (game.id.clone(), game.seed, game.move_text());
        let mut games = Vec::new();
        let whole = planned.run(|pair, _| games.extend_from_slice(pair)).unwrap();
        // A whole pair and half of another have been played.
        let played = [&games[0], &games[1], &games[4]].map(Clone::clone);
        let (mut again, mut new) = (Vec::new(), 0);
        let resumed = planned.clone().with_threads(2).resume(played, |pair, is_new, _| {
            again.extend_from_slice(pair);
            new += is_new.iter().filter(|&&is_new| is_new).count();
        });
        assert_eq!((resumed.unwrap().results, new), (whole.results, 5));
        let [again, games] =
            [&again, &games].map(|games| games.iter().map(timeless).collect::<Vec<_>>());
        assert_eq!(again, games);
    }

    #[test]
    fn games_of_another_match_are_rejected() {
        let players: [AgentSpec; 2] = ["random", "random"].map(|text| text.parse().unwrap());
        let openings = [Vec::new()];
        let planned = Match::new(Setup::STANDARD, players.each_ref(), &openings).with_pairs(2);
        let mut games = Vec::new();
        planned.run(|pair, _| games.extend_from_slice(pair)).unwrap();
        let timed = TimeControl { per_move: Some(std::time::Duration::from_secs(1)), clock: None };
        for other in [planned.clone().with_seed(2), planned.clone().with_time(timed)] {
            let error = other.resume(games.clone(), |_, _, _| {}).unwrap_err();
            let expected = "game 1 differs from the plan in its seed or time control";
            assert_eq!(error.to_string(), expected);
        }
        let error = planned.with_pairs(1).resume(games, |_, _, _| {}).unwrap_err();
        assert_eq!(error.to_string(), "game '3' is not in the plan");
    }

    #[test]
    fn forfeits_losses_on_time_and_repeats_are_counted() {
        let never = AgentSpec::custom("never", |_, _| {
            struct Never;
            impl claimeven_search::Agent for Never {
                fn decide(
                    &mut self,
                    _: &claimeven_game::Position,
                    _: &claimeven_search::Limits,
                ) -> Result<claimeven_search::Decision, claimeven_search::AgentError>
                {
                    Err(claimeven_search::AgentError::Failed { reason: "no idea".to_owned() })
                }
            }
            Ok(Box::new(Never))
        });
        let (never, leftmost) = (never.unwrap(), "minimax:depth=1,ties=first".parse().unwrap());
        let openings = [Vec::new()];
        let status = Match::new(Setup::STANDARD, [&leftmost, &never], &openings)
            .with_pairs(3)
            .run(|_, _| {})
            .unwrap();
        assert_eq!((status.results.wins, status.games(), status.forfeited), (6, 6, [0, 6]));
        assert_eq!(status.first_forfeit[1], Some(("1".to_owned(), "no idea".to_owned())));
        assert_eq!((status.repeated, status.lost_on_time), (4, [0, 0]));
    }

    #[test]
    fn a_program_that_cannot_start_ends_the_match_before_the_first_game() {
        let openings = [Vec::new()];
        let random: AgentSpec = "random".parse().unwrap();
        let nobody: AgentSpec = "ugi:cmd=/no/such/program".parse().unwrap();
        let run = Match::new(Setup::STANDARD, [&random, &nobody], &openings).run(|_, _| {
            panic!("no game can be played");
        });
        let error = run.unwrap_err().to_string();
        assert!(error.starts_with("cannot start /no/such/program"), "{error}");
    }
}
