//! Random moves.

use claimeven_game::Position;

use crate::agent::{Agent, AgentError, Decision, Limits, SearchStats};
use crate::stop::Stop;
use crate::tie_break::generator;

/// A player of random moves: each legal column has the same probability.
///
/// ```
/// use claimeven_game::{Position, Setup};
/// use claimeven_search::{Agent, Limits, Random};
///
/// let empty = Position::new(Setup::STANDARD);
/// let decide = || Random { seed: 7 }.decide(&empty, &Limits::default());
/// assert_eq!(decide()?.column, decide()?.column);
/// # Ok::<(), claimeven_search::AgentError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Random {
    /// The seed of the choices.
    pub seed: u64,
}

impl Agent for Random {
    fn decide(&mut self, position: &Position, limits: &Limits) -> Result<Decision, AgentError> {
        let stop = Stop::new(limits, None, None);
        let legal: Vec<_> = position.legal().collect();
        let column = generator(position, self.seed).choice(&legal).ok_or(AgentError::GameOver)?;
        Ok(Decision {
            stats: SearchStats { nodes: 1, leaves: 1, ..SearchStats::default() },
            time: stop.elapsed(),
            ..Decision::new(position, *column)
        })
    }
}
