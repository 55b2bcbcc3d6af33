//! The player that wins by a stored proof.

use std::path::Path;
use std::sync::Arc;

use claimeven_coach::{Goal, ProofTree, embedded_proof};
use claimeven_game::{Column, Position, Setup};
use claimeven_search::{Agent, AgentError, Decision, Limits, SearchStats, Value};

/// Plays the moves and diagrams of a proof, without search.
///
/// In positions outside the proof, which its owner never reaches from the start of the game, it
/// connects four, blocks, or plays as close to the centre as possible.
pub(crate) struct ProofPlayer {
    proof: Arc<ProofTree>,
}

impl ProofPlayer {
    /// A player with the proof of a file, which must be about the setup.
    pub(crate) fn from_file(path: &Path, setup: Setup) -> Result<ProofPlayer, AgentError> {
        let failed =
            |reason: String| AgentError::Failed { reason: format!("{}: {reason}", path.display()) };
        let bytes = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
        let proof = ProofTree::from_bytes(&bytes).map_err(|error| failed(error.to_string()))?;
        if proof.claim().setup == setup {
            return Ok(ProofPlayer { proof: Arc::new(proof) });
        }
        let reason = format!("the proof is about {}", proof.claim().setup);
        Err(AgentError::Unsupported { agent: "proof", setup, reason })
    }

    /// A player with the embedded proof of a setup.
    pub(crate) fn embedded(setup: Setup) -> Result<ProofPlayer, AgentError> {
        let reason = "no embedded proof for this game; use file=FILE".to_owned();
        let missing = AgentError::Unsupported { agent: "proof", setup, reason };
        embedded_proof(setup).map(|proof| ProofPlayer { proof }).ok_or(missing)
    }
}

impl Agent for ProofPlayer {
    fn decide(&mut self, position: &Position, _: &Limits) -> Result<Decision, AgentError> {
        let start = std::time::Instant::now();
        let proven = self.proof.answer(position);
        let column = proven.or_else(|| simple_move(position)).ok_or(AgentError::GameOver)?;
        let is_won = proven.is_some() && self.proof.claim().goal == Goal::Win;
        let value = Value::Expected(if is_won { 1.0 } else { 0.5 });
        Ok(Decision {
            value,
            stats: SearchStats { nodes: 1, leaves: 1, ..SearchStats::default() },
            time: start.elapsed(),
            ..Decision::new(position, column)
        })
    }
}

/// Connects four, blocks, or plays near the centre.
fn simple_move(position: &Position) -> Option<Column> {
    let player = position.player();
    let connects = |player| {
        let cells = position.threats(player);
        let is_next = move |column: Column| {
            let row = (0..position.setup().rows())
                .find(|&row| position.disc(claimeven_game::Cell { column, row }).is_none());
            row.is_some_and(|row| cells.contains(&claimeven_game::Cell { column, row }))
        };
        position.legal().find(|&column| is_next(column))
    };
    connects(player)
        .or_else(|| connects(player.opponent()))
        .or_else(|| position.legal_from_centre().next())
}

#[cfg(test)]
mod tests {
    use claimeven_coach::{Claim, ProofSearch};
    use claimeven_game::{Outcome, Player, Ruleset};

    use super::*;

    /// A proof that the first player wins on a small board.
    fn proof() -> ProofTree {
        let setup = Setup::new(5, 4, 3, Ruleset::Standard).unwrap();
        let claim = Claim { setup, owner: Player::First, goal: Goal::Win };
        let mut search = ProofSearch::new(claim, 1, 1, None).unwrap();
        search.run(|progress, _| progress.proven.is_none());
        ProofTree::from_bytes(&search.proof().unwrap()).unwrap()
    }

    #[test]
    fn it_wins_as_the_first_player_against_random_moves() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut player = ProofPlayer { proof: Arc::new(proof()) };
        for _ in 0..30 {
            let mut position = Position::new(player.proof.claim().setup);
            while position.outcome().is_none() {
                let column = if position.player() == Player::First {
                    player.decide(&position, &Limits::default()).unwrap().column
                } else {
                    let legal: Vec<Column> = position.legal().collect();
                    *random.choice(&legal).unwrap()
                };
                position.play(column).unwrap();
            }
            assert_eq!(position.outcome(), Some(Outcome::Win(Player::First)), "{position}");
        }
    }

    #[test]
    fn outside_the_proof_it_blocks_or_plays_in_the_centre() {
        let mut player = ProofPlayer { proof: Arc::new(proof()) };
        let setup = player.proof.claim().setup;
        let mut column = |moves: &str| {
            let position = Position::from_moves(setup, moves).unwrap();
            player.decide(&position, &Limits::default()).unwrap().column.number()
        };
        assert_eq!(column("1"), 3);
        assert_eq!(column("151"), 1);
    }

    #[test]
    fn a_missing_file_is_an_error_that_names_it() {
        let error =
            ProofPlayer::from_file(Path::new("missing.proof"), Setup::STANDARD).err().unwrap();
        assert!(error.to_string().starts_with("missing.proof: "), "{error}");
    }
}
