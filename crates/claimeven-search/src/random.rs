//! The player that does not think.

use claimeven_game::Position;

use crate::agent::{Agent, AgentError, Decision, Limits, SearchStats, Value};
use crate::stop::Stop;
use crate::tie_break::generator;

/// Plays every legal column with the same chance.
#[derive(Clone, Debug, Default)]
pub struct Random {
    /// Where the choices come from.
    pub seed: u64,
}

impl Agent for Random {
    fn decide(&mut self, position: &Position, limits: &Limits) -> Result<Decision, AgentError> {
        let stop = Stop::new(limits, None);
        let legal: Vec<_> = position.legal().collect();
        let column = generator(position, self.seed).choice(&legal).ok_or(AgentError::GameOver)?;
        Ok(Decision {
            column: *column,
            value: Value::Chance(0.5),
            columns: vec![None; position.setup().cols().into()],
            shares: Vec::new(),
            pv: vec![*column],
            stats: SearchStats { nodes: 1, leaves: 1, ..SearchStats::default() },
            time: stop.elapsed(),
            stopped: false,
        })
    }
}
