//! A player's moves in given positions as units of work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use claimeven_game::{Column, Position, Setup};
use claimeven_search::Limits;
use claimeven_solver::Solver;
use claimeven_work::{Files, Job, Work};
use serde::{Deserialize, Serialize};

use crate::game_units::{job_of_players, open_player};
use crate::roster::AgentSpec;
use crate::strength::{EvaluateError, solver};

/// Moves of a player in positions, each of which gets a new player: the work of
/// [`evaluate`](crate::evaluate) and of some experiments.
#[derive(Clone, Debug)]
pub struct Moves {
    pub(crate) setup: Setup,
    pub(crate) player: AgentSpec,
    /// Whether the exact score after each move is wanted.
    pub(crate) is_scored: bool,
}

/// A position in which a player is to move.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MoveRequest {
    pub(crate) position: Position,
    /// The seed of the player.
    pub(crate) seed: u64,
}

/// The move that a player has chosen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChosenMove {
    pub(crate) column: Column,
    /// The exact score after the move for the side that made it.
    pub(crate) score: Option<i32>,
    pub(crate) simulations: u64,
    pub(crate) micros: u64,
}

#[derive(Serialize, Deserialize)]
struct Parameters {
    setup: Setup,
    player: String,
    is_scored: bool,
}

/// The number of positions per unit.
pub(crate) const MOVES_PER_UNIT: usize = 16;

impl Work for Moves {
    const KIND: &'static str = "moves";
    type Unit = Vec<MoveRequest>;
    type Output = Vec<ChosenMove>;
    type Thread = Option<Solver>;
    type Error = EvaluateError;

    fn job(&self) -> Result<Job, String> {
        let Moves { setup, is_scored, .. } = *self;
        let parameters = Parameters { setup, player: self.player.to_string(), is_scored };
        let title = format!("moves of {}", self.player);
        job_of_players(title, &parameters, std::slice::from_ref(&self.player))
    }

    fn open(parameters: serde_json::Value, files: &Files) -> Result<Moves, String> {
        let Parameters { setup, player, is_scored } =
            serde_json::from_value(parameters).map_err(|error| error.to_string())?;
        Ok(Moves { setup, player: open_player(&player, files)?, is_scored })
    }

    fn thread(&self) -> Option<Solver> {
        self.is_scored.then(solver)
    }

    fn compute(
        &self,
        solver: &mut Option<Solver>,
        unit: &Vec<MoveRequest>,
        cancel: &Arc<AtomicBool>,
    ) -> Result<Option<Vec<ChosenMove>>, EvaluateError> {
        let limits = Limits::default().with_cancel(Arc::clone(cancel));
        let mut moves = Vec::new();
        for MoveRequest { position, seed } in unit {
            let mut player = self.player.build(self.setup, *seed).map_err(EvaluateError::Agent)?;
            let decision = player.decide(position, &limits).map_err(EvaluateError::Agent)?;
            if cancel.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let mut score = None;
            if let Some(solver) = solver {
                let mut after = *position;
                after.play(decision.column).expect("a player's move is legal");
                let bounds = solver
                    .score_within(&after, &limits.for_solver())
                    .map_err(EvaluateError::Unsolvable)?;
                let Some(exact) = bounds.exact() else { return Ok(None) };
                score = Some(-exact.value());
            }
            moves.push(ChosenMove {
                column: decision.column,
                score,
                simulations: decision.stats.simulations,
                micros: decision.time.as_micros() as u64,
            });
        }
        Ok(Some(moves))
    }

    fn encode(output: &Vec<ChosenMove>) -> Vec<u8> {
        serde_json::to_vec(output).expect("moves are plain data")
    }

    fn decode(bytes: &[u8]) -> Result<Vec<ChosenMove>, String> {
        serde_json::from_slice(bytes).map_err(|error| error.to_string())
    }

    fn verify(&self, unit: &Vec<MoveRequest>, output: &Vec<ChosenMove>) -> Result<(), String> {
        if unit.len() != output.len() {
            return Err(format!("{} moves instead of {}", output.len(), unit.len()));
        }
        for (question, chosen) in unit.iter().zip(output) {
            let mut after = question.position;
            if after.play(chosen.column).is_err() {
                return Err(format!("column {} cannot be played", chosen.column.number()));
            }
            if chosen.score.is_some() != self.is_scored {
                return Err("a score is missing or was not requested".to_owned());
            }
        }
        Ok(())
    }

    fn fingerprint(output: &Vec<ChosenMove>) -> Vec<u8> {
        let without_time = |chosen: &ChosenMove| ChosenMove { micros: 0, ..*chosen };
        Self::encode(&output.iter().map(without_time).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_the_same_on_other_machines_and_are_verified() {
        let player = "mcts:sims=50".parse().unwrap();
        let here = Moves { setup: Setup::STANDARD, player, is_scored: true };
        let job = here.job().unwrap();
        assert!(job.is_deterministic && job.arithmetic.is_none());
        let there = Moves::open(job.parameters, &Files::new()).unwrap();
        let position = Position::from_moves(Setup::STANDARD, "44444412233").unwrap();
        let unit: Vec<_> = (0..3).map(|seed| MoveRequest { position, seed }).collect();
        let ask = |work: &Moves| {
            let moves = work.compute(&mut work.thread(), &unit, &Arc::default());
            moves.unwrap().unwrap()
        };
        let moves = ask(&there);
        assert_eq!(Moves::fingerprint(&moves), Moves::fingerprint(&ask(&here)));
        assert_eq!(Moves::decode(&Moves::encode(&moves)).unwrap(), moves);
        here.verify(&unit, &moves).unwrap();
        let full = Column::from_index(3).unwrap();
        let mut wrong = moves.clone();
        wrong[1].column = full;
        assert_eq!(here.verify(&unit, &wrong).unwrap_err(), "column 4 cannot be played");
        let mut wrong = moves.clone();
        wrong[2].score = None;
        here.verify(&unit, &wrong).unwrap_err();
        here.verify(&unit, &moves[1..].to_vec()).unwrap_err();
        let cancelled = Arc::new(AtomicBool::new(true));
        assert_eq!(here.compute(&mut here.thread(), &unit, &cancelled), Ok(None));
    }
}
