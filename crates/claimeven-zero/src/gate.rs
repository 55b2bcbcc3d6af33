//! The gate: a match that decides whether a new network replaces the best.
//!
//! The arena's matches are for any players, one game at a time. Here all games of a thread are
//! played in lockstep, so that one batch of a network has a position of each.

use std::thread;

use claimeven_game::{Outcome, Player, Position};
use fastrand::Rng;
use serde::{Deserialize, Serialize};

use crate::cache::Cache;
use crate::inference::Inference;
use crate::parameters::GateParameters;
use crate::search_tree::TreeParameters;
use crate::searches::search_many;
use crate::self_play::random_position;

/// The result of a match, from the new network's point of view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it all")]
pub struct MatchScore {
    pub wins: u64,
    pub draws: u64,
    pub losses: u64,
}

impl MatchScore {
    /// The share of the points; a draw is half a point.
    #[must_use]
    pub fn share(self) -> f32 {
        let games = (self.wins + self.draws + self.losses).max(1);
        (self.wins as f32 + 0.5 * self.draws as f32) / games as f32
    }
}

/// Plays the match. The new network is promoted if its score reaches the threshold.
pub(crate) fn gate(
    new: &Inference,
    best: &Inference,
    parameters: &GateParameters,
    seed: u64,
    threads: usize,
) -> (MatchScore, Verdict) {
    let score = play_match(new, best, parameters, seed, threads);
    let is_promoted = score.share() >= parameters.threshold;
    (score, if is_promoted { Verdict::Promoted } else { Verdict::Rejected })
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
    seed: u64,
    threads: usize,
) -> MatchScore {
    let setup = new.architecture().setup().expect("a network's setup is sound");
    let mut random = Rng::with_seed(seed);
    let openings: Vec<Position> = (0..parameters.pairs)
        .map(|_| {
            random_position(setup, parameters.opening_plies.min(setup.cells() / 2), &mut random)
        })
        .collect();
    let share = openings.len().div_ceil(threads.max(1)).max(1);
    let parts: Vec<MatchScore> = thread::scope(|scope| {
        let workers: Vec<_> = openings
            .chunks(share)
            .map(|openings| scope.spawn(move || play_pairs(new, best, parameters, openings)))
            .collect();
        workers.into_iter().map(|worker| worker.join().expect("no panic")).collect()
    });
    parts.into_iter().fold(MatchScore::default(), |sum, part| MatchScore {
        wins: sum.wins + part.wins,
        draws: sum.draws + part.draws,
        losses: sum.losses + part.losses,
    })
}

struct Pairing {
    position: Position,
    /// The new network's player.
    new: Player,
}

fn play_pairs(
    new: &Inference,
    best: &Inference,
    parameters: &GateParameters,
    openings: &[Position],
) -> MatchScore {
    let mut playing: Vec<Pairing> = openings
        .iter()
        .flat_map(|&position| Player::BOTH.map(|new| Pairing { position, new }))
        .collect();
    let mut evaluators = [new, best].map(|network| Cache::new(network.clone(), 1 << 14));
    let mut score = MatchScore::default();
    while !playing.is_empty() {
        for (evaluator, is_new) in evaluators.iter_mut().zip([true, false]) {
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
            playing.retain(|game| match game.position.outcome() {
                None => true,
                Some(Outcome::Draw) => {
                    score.draws += 1;
                    false
                }
                Some(Outcome::Win(winner)) => {
                    *(if winner == game.new { &mut score.wins } else { &mut score.losses }) += 1;
                    false
                }
            });
        }
    }
    score
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Architecture, Network, Parameters, embedded_network};
    use claimeven_game::Setup;

    #[test]
    fn a_better_network_is_promoted_and_a_worse_one_is_not() {
        let setup = Setup::STANDARD;
        let trained = Inference::new(&embedded_network(setup).unwrap());
        let untrained = Network::new(Architecture::new(setup, 1, 8), 1).unwrap();
        let untrained = Inference::new(&untrained);
        let parameters =
            GateParameters { pairs: 8, simulations: 6, ..Parameters::strongest(setup).gate };
        let (score, verdict) = gate(&trained, &untrained, &parameters, 1, 2);
        assert!(score.share() > 0.8, "{score:?}");
        assert_eq!(verdict, Verdict::Promoted);
        let (reversed, verdict) = gate(&untrained, &trained, &parameters, 1, 2);
        assert_eq!(verdict, Verdict::Rejected);
        // The same games from the other side.
        assert_eq!((reversed.wins, reversed.losses), (score.losses, score.wins));
    }

    #[test]
    fn a_network_draws_a_match_against_itself() {
        let setup = Setup::STANDARD;
        let network = Network::new(Architecture::new(setup, 1, 8), 1).unwrap();
        let network = Inference::new(&network);
        let parameters =
            GateParameters { pairs: 6, simulations: 8, ..Parameters::strongest(setup).gate };
        for threads in [1, 2] {
            let score = play_match(&network, &network, &parameters, 1, threads);
            assert_eq!(score.wins, score.losses);
            assert_eq!(score.wins + score.draws + score.losses, 12);
        }
    }
}
