//! The gate: a match that decides whether a new network replaces the best.
//!
//! It is a sequential test over pairs of games (SPRT), so that a clear case takes few of them.
//!
//! The arena's matches are for any players, one game at a time. Here all games of a thread are
//! played in lockstep, so that one batch of a network has a position of each.

use std::ops::Add;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use claimeven_game::{Outcome, Player, Position, Setup};
use fastrand::Rng;
use serde::{Deserialize, Serialize};

use crate::cache::Cache;
use crate::inference::Inference;
use crate::parameters::GateParameters;
use crate::search_tree::TreeParameters;
use crate::searches::search_many;
use crate::self_play::random_position;
use crate::statistics::{PairResults, Sprt, SprtOutcome, elo_of_score};

/// The score of a match: games won, drawn and lost by one side.
///
/// ```
/// use claimeven_zero::MatchScore;
///
/// let score = MatchScore { wins: 6, draws: 2, losses: 2 };
/// assert_eq!((score.games(), score.score()), (10, Some(0.7)));
/// assert_eq!(score + score, MatchScore { wins: 12, draws: 4, losses: 4 });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "self-explanatory")]
pub struct MatchScore {
    pub wins: u64,
    pub draws: u64,
    pub losses: u64,
}

impl MatchScore {
    /// Adds a game in which the side got this many half points.
    pub fn add_game(&mut self, half_points: usize) {
        *match half_points {
            0 => &mut self.losses,
            1 => &mut self.draws,
            _ => &mut self.wins,
        } += 1;
    }

    /// The number of games.
    #[must_use]
    pub fn games(self) -> u64 {
        self.wins + self.draws + self.losses
    }

    /// One point for each win, half a point for each draw.
    #[must_use]
    pub fn points(self) -> f64 {
        self.wins as f64 + 0.5 * self.draws as f64
    }

    /// Points per game, from 0 to 1; `None` without games.
    #[must_use]
    pub fn score(self) -> Option<f64> {
        (self.games() > 0).then(|| self.points() / self.games() as f64)
    }

    /// The share of the points; 0 without games.
    #[must_use]
    pub fn share(self) -> f32 {
        (self.wins as f32 + 0.5 * self.draws as f32) / self.games().max(1) as f32
    }
}

impl Add for MatchScore {
    type Output = MatchScore;

    fn add(self, other: MatchScore) -> MatchScore {
        MatchScore {
            wins: self.wins + other.wins,
            draws: self.draws + other.draws,
            losses: self.losses + other.losses,
        }
    }
}

/// Plays the match on this machine; `None` if the flag is set before it is decided.
pub(crate) fn gate(
    new: &Inference,
    best: &Inference,
    parameters: &GateParameters,
    seed: u64,
    threads: usize,
    cancel: &AtomicBool,
) -> Option<(MatchScore, Verdict)> {
    let setup = new.architecture().setup().expect("a network's setup is valid");
    let gate = Gate::new(setup, parameters, seed);
    let mut pairs: Vec<GatePair> = Vec::new();
    for openings in gate.openings.chunks(PAIRS_AT_ONCE) {
        pairs.extend(play_match(new, best, parameters, openings, threads, cancel)?);
        if gate.is_decided(&pairs) {
            break;
        }
    }
    Some(gate.outcome(&pairs).expect("all pairs have been played"))
}

/// The half points of the new network in a pair of games: as first and as second player.
pub type GatePair = [usize; 2];

/// A gate match: pairs of games with the same random opening and colours exchanged.
///
/// The new network is promoted if a sequential test finds its score to be above the threshold, or
/// if the test is undecided after the maximum number of pairs and the score reaches the threshold.
#[derive(Clone, Debug)]
pub struct Gate {
    parameters: GateParameters,
    openings: Vec<Position>,
}

impl Gate {
    pub(crate) fn new(setup: Setup, parameters: &GateParameters, seed: u64) -> Gate {
        let plies = parameters.opening_plies.min(setup.cells() / 2);
        let mut random = Rng::with_seed(seed);
        let opening = |_| random_position(setup, plies, &mut random);
        Gate { parameters: *parameters, openings: (0..parameters.pairs).map(opening).collect() }
    }

    /// The parameters.
    #[must_use]
    pub fn parameters(&self) -> &GateParameters {
        &self.parameters
    }

    /// The openings, one for each pair.
    #[must_use]
    pub fn openings(&self) -> &[Position] {
        &self.openings
    }

    /// Whether the results of the first pairs, in order, decide the match.
    #[must_use]
    pub fn is_decided(&self, pairs: &[GatePair]) -> bool {
        self.outcome(pairs).is_some()
    }

    /// The outcome, if the results of the first pairs decide the match. Pairs after the decision
    /// are ignored.
    pub(crate) fn outcome(&self, pairs: &[GatePair]) -> Option<(MatchScore, Verdict)> {
        let test = sequential_test(self.parameters.threshold);
        let (mut score, mut results) = (MatchScore::default(), PairResults::default());
        for pairs in pairs.chunks(PAIRS_AT_ONCE) {
            for half_points in pairs {
                for &points in half_points {
                    score.add_game(points);
                }
                results.add(half_points.iter().sum());
            }
            if pairs.len() < PAIRS_AT_ONCE && score.games() < 2 * self.openings.len() as u64 {
                return None;
            }
            match test.outcome(&results) {
                Some(SprtOutcome::Accepted) => return Some((score, Verdict::Promoted)),
                Some(SprtOutcome::Rejected) => return Some((score, Verdict::Rejected)),
                None => {}
            }
        }
        let is_promoted = score.share() >= self.parameters.threshold;
        let verdict = if is_promoted { Verdict::Promoted } else { Verdict::Rejected };
        (pairs.len() >= self.openings.len()).then_some((score, verdict))
    }
}

/// Pairs between two checks of the test: enough games for full batches of the networks. It is the
/// same on every machine, because the result depends on it.
const PAIRS_AT_ONCE: usize = 8;

/// The distance of the two hypotheses of the test from the threshold, as a share of the points.
const MARGIN: f64 = 0.05;

/// Tests a score of at least the threshold plus a margin against one of at most the threshold minus
/// a margin.
fn sequential_test(threshold: f32) -> Sprt {
    let elo = |score: f64| elo_of_score(score.clamp(0.001, 0.999));
    let threshold = f64::from(threshold);
    Sprt::new(elo(threshold - MARGIN), elo(threshold + MARGIN))
}

/// Whether a network replaces the best one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Promoted,
    Rejected,
}

/// Plays pairs of games with the same random opening and swapped colours.
fn play_match(
    new: &Inference,
    best: &Inference,
    parameters: &GateParameters,
    openings: &[Position],
    threads: usize,
    cancel: &AtomicBool,
) -> Option<Vec<GatePair>> {
    let share = openings.len().div_ceil(threads.max(1)).max(1);
    thread::scope(|scope| {
        let workers: Vec<_> = openings
            .chunks(share)
            .map(|openings| {
                scope.spawn(move || play_gate_pairs(new, best, parameters, openings, cancel))
            })
            .collect();
        let mut pairs = Vec::new();
        for worker in workers {
            pairs.extend(worker.join().expect("no panic")?);
        }
        Some(pairs)
    })
}

struct Pairing {
    position: Position,
    /// The new network's player.
    new: Player,
    /// The index of the pair.
    pair: usize,
}

/// Plays a pair of games from each opening; `None` if the flag is set before they end. The result of a
/// pair does not depend on the others.
#[must_use]
pub fn play_gate_pairs(
    new: &Inference,
    best: &Inference,
    parameters: &GateParameters,
    openings: &[Position],
    cancel: &AtomicBool,
) -> Option<Vec<GatePair>> {
    let mut playing: Vec<Pairing> = openings
        .iter()
        .enumerate()
        .flat_map(|(pair, &position)| Player::BOTH.map(|new| Pairing { position, new, pair }))
        .collect();
    let mut evaluators = [new, best].map(|network| Cache::new(network.clone(), 1 << 14));
    let mut half_points = vec![[0; 2]; openings.len()];
    while !playing.is_empty() {
        for (evaluator, is_new) in evaluators.iter_mut().zip([true, false]) {
            if cancel.load(Ordering::Relaxed) {
                return None;
            }
            // Games in which the other network is to move wait.
            let to_move = |game: &&mut Pairing| (game.position.player() == game.new) == is_new;
            let mut games: Vec<&mut Pairing> = playing.iter_mut().filter(to_move).collect();
            let positions: Vec<Position> = games.iter().map(|game| game.position).collect();
            let trees = search_many(
                evaluator,
                &positions,
                parameters.simulations,
                TreeParameters::default(),
            );
            for (game, tree) in games.iter_mut().zip(trees) {
                let column = tree.best_move().expect("the root has been visited").column;
                game.position.play(column).expect("moves of the tree are legal");
            }
            playing.retain(|game| {
                let Some(outcome) = game.position.outcome() else { return true };
                half_points[game.pair][game.new.index()] = match outcome {
                    Outcome::Draw => 1,
                    Outcome::Win(winner) if winner == game.new => 2,
                    Outcome::Win(_) => 0,
                };
                false
            });
        }
    }
    Some(half_points)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Architecture, Network, Parameters, embedded_network};
    use claimeven_game::Setup;

    fn networks() -> [Inference; 2] {
        let setup = Setup::STANDARD;
        let untrained = Network::new(Architecture::new(setup, 1, 8), 1).unwrap();
        [Inference::new(&embedded_network(setup).unwrap()), Inference::new(&untrained)]
    }

    #[test]
    fn a_gate_match_can_be_cancelled() {
        let [trained, untrained] = networks();
        // It would take hours.
        let parameters = GateParameters {
            pairs: 100,
            simulations: 1_000_000,
            ..Parameters::strongest(Setup::STANDARD).gate
        };
        let cancel = AtomicBool::new(true);
        assert_eq!(gate(&trained, &untrained, &parameters, 1, 2, &cancel), None);
    }

    #[test]
    fn a_clear_case_takes_few_games() {
        let [trained, untrained] = networks();
        let parameters = GateParameters {
            pairs: 100,
            simulations: 6,
            ..Parameters::strongest(Setup::STANDARD).gate
        };
        let play = |new, best, threads| {
            gate(new, best, &parameters, 1, threads, &AtomicBool::new(false)).unwrap()
        };
        let (score, verdict) = play(&trained, &untrained, 2);
        assert_eq!((verdict, score.games()), (Verdict::Promoted, 16), "{score:?}");
        let (reversed, verdict) = play(&untrained, &trained, 1);
        assert_eq!((verdict, reversed.games()), (Verdict::Rejected, 16), "{reversed:?}");
        // The same games, seen from the other side.
        assert_eq!((reversed.wins, reversed.losses), (score.losses, score.wins));
    }

    #[test]
    fn results_after_the_decision_are_ignored() {
        let parameters =
            GateParameters { pairs: 20, ..Parameters::strongest(Setup::STANDARD).gate };
        let gate = Gate::new(Setup::STANDARD, &parameters, 1);
        let won = [[2, 2]; 20];
        assert_eq!(gate.outcome(&won[..7]), None);
        let decided = gate.outcome(&won[..8]);
        assert_eq!(decided.unwrap().1, Verdict::Promoted);
        assert_eq!((gate.outcome(&won[..11]), gate.outcome(&won)), (decided, decided));
        // Undecided matches are played to the end, where an incomplete chunk counts.
        let even: Vec<GatePair> = [[2, 2], [0, 0]].into_iter().cycle().take(20).collect();
        assert_eq!(gate.outcome(&even[..19]), None);
        let (score, verdict) = gate.outcome(&even).unwrap();
        assert_eq!((score.wins, score.losses, verdict), (20, 20, Verdict::Rejected));
    }

    #[test]
    fn a_match_against_itself_is_even_and_undecided() {
        let [_, network] = networks();
        let parameters = GateParameters {
            pairs: 12,
            simulations: 8,
            ..Parameters::strongest(Setup::STANDARD).gate
        };
        for threads in [1, 2] {
            let go_on = AtomicBool::new(false);
            let (score, verdict) =
                gate(&network, &network, &parameters, 1, threads, &go_on).unwrap();
            assert_eq!((score.wins, verdict), (score.losses, Verdict::Rejected));
            assert_eq!(score.games(), 24);
        }
    }
}
