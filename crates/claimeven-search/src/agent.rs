//! What every player is: something that decides, within limits, and says what it thought.

use std::fmt;
use std::ops::AddAssign;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use claimeven_game::{Column, Outcome, Position, Setup};
use claimeven_solver::Score;

use crate::monitor::{SearchInfo, SearchMonitor};
use crate::tree::Tree;

/// A player that is a program.
///
/// What it decides depends on the position, its own parameters, its seed and the limits, and on
/// nothing else; players that remember earlier positions say so.
pub trait Agent: Send {
    /// Chooses a move for the side to move. The game must not be over.
    fn decide(&mut self, position: &Position, limits: &Limits) -> Result<Decision, AgentError>;

    /// Chooses a move and records the search tree, down to `levels` plies below the root.
    fn decide_with_tree(
        &mut self,
        _position: &Position,
        _limits: &Limits,
        _levels: u32,
    ) -> Result<(Decision, Tree), AgentError> {
        Err(AgentError::NoTree)
    }
}

/// When to stop thinking. What is not set here is left to the player's own parameters.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Look so many plies ahead at most.
    pub depth: Option<u32>,
    /// Visit so many positions at most.
    pub nodes: Option<u64>,
    /// Simulate so many games at most.
    pub simulations: Option<u64>,
    /// Think so long at most.
    pub time: Option<Duration>,
    /// Stop as soon as this is set.
    pub cancel: Option<Arc<AtomicBool>>,
    /// Tell here what has been found so far.
    pub monitor: Option<Arc<SearchMonitor>>,
}

/// A move, and what led to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The column to play.
    pub column: Column,
    /// What the position is worth to the side to move.
    pub value: Value,
    /// What each column is worth, from the left; `None` where nothing is known or nobody can play.
    pub columns: Vec<Option<ColumnValue>>,
    /// How the player divided its attention among the columns, from the left, adding up to 1: the
    /// simulations through each of them, or the policy of a network. Empty for players that do
    /// not divide it.
    pub shares: Vec<f64>,
    /// How the player expects the game to go on, from its own move.
    pub pv: Vec<Column>,
    /// What it took.
    pub stats: SearchStats,
    /// How long it took.
    pub time: Duration,
    /// Whether a limit ended the search before it had done what the player's parameters ask for.
    pub stopped: bool,
}

impl Decision {
    /// The last thought of the search: how far it got, and the best play that it saw.
    pub fn info(&self) -> SearchInfo {
        SearchInfo {
            nodes: self.stats.nodes,
            depth: self.stats.depth,
            value: Some(self.value),
            pv: self.pv.clone(),
        }
    }
}

/// What is known of one column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColumnValue {
    /// What playing there is worth to the side to move.
    pub value: Value,
    /// How well that is known.
    pub bound: BoundKind,
}

/// How a number stands to the value it tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundKind {
    /// It is the value.
    Exact,
    /// The value is this or less: the search had seen enough.
    Upper,
    /// The value is this or more: the search had seen enough.
    Lower,
}

impl BoundKind {
    /// The sign that goes before a number: `≤`, `≥` or nothing.
    pub const fn sign(self) -> &'static str {
        match self {
            BoundKind::Exact => "",
            BoundKind::Upper => "≤",
            BoundKind::Lower => "≥",
        }
    }

    /// The name, as a word for files.
    pub const fn name(self) -> &'static str {
        match self {
            BoundKind::Exact => "exact",
            BoundKind::Upper => "upper",
            BoundKind::Lower => "lower",
        }
    }

    /// The same, as the other side sees it.
    #[must_use]
    pub const fn reversed(self) -> BoundKind {
        match self {
            BoundKind::Exact => BoundKind::Exact,
            BoundKind::Upper => BoundKind::Lower,
            BoundKind::Lower => BoundKind::Upper,
        }
    }
}

/// What a position is worth to the side to move, in the terms of the player who says so.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A win that has been seen to its end, so many plies away.
    Win(u32),
    /// A loss that has been seen to its end, so many plies away.
    Loss(u32),
    /// A draw that has been seen to its end.
    Draw,
    /// The points of an evaluation.
    Points(i32),
    /// The expected result: 1 for a win, 0.5 for a draw, 0 for a loss.
    Chance(f64),
}

impl Value {
    /// The value as the other side sees it.
    #[must_use]
    pub fn reversed(self) -> Value {
        match self {
            Value::Win(plies) => Value::Loss(plies),
            Value::Loss(plies) => Value::Win(plies),
            Value::Draw => Value::Draw,
            Value::Points(points) => Value::Points(-points),
            Value::Chance(chance) => Value::Chance(1.0 - chance),
        }
    }

    /// What an exact score says of a position.
    pub fn of_score(score: Score, position: &Position) -> Value {
        match score.moves_to_win(position) {
            None => Value::Draw,
            Some(moves) if score.sign() > 0 => Value::Win(2 * moves - 1),
            Some(moves) => Value::Loss(2 * moves),
        }
    }

    /// What a finished game is worth to the side that would be to move.
    pub fn of_outcome(position: &Position) -> Value {
        match position.outcome().and_then(Outcome::winner) {
            None => Value::Draw,
            Some(winner) if winner == position.player() => Value::Win(0),
            Some(_) => Value::Loss(0),
        }
    }

    /// What a move is worth to the player who makes it, if this is what the position after it is
    /// worth to the other.
    #[must_use]
    pub fn before(self) -> Value {
        match self.reversed() {
            Value::Win(plies) => Value::Win(plies + 1),
            Value::Loss(plies) => Value::Loss(plies + 1),
            value => value,
        }
    }

    /// The value in a few letters, for drawings: `+12`, `W2`, `L1`, `draw`, `62 %`.
    pub fn short(self) -> String {
        match self {
            Value::Win(plies) => format!("W{}", plies.div_ceil(2)),
            Value::Loss(plies) => format!("L{}", plies / 2),
            Value::Chance(chance) => format!("{:.0} %", 100.0 * chance),
            Value::Draw | Value::Points(_) => self.to_string(),
        }
    }

    /// The kind of value, as a word for files.
    pub const fn kind(self) -> &'static str {
        match self {
            Value::Win(_) => "win",
            Value::Loss(_) => "loss",
            Value::Draw => "draw",
            Value::Points(_) => "points",
            Value::Chance(_) => "chance",
        }
    }

    /// The number that goes with the kind: plies to a win or loss, points or a chance.
    pub fn number(self) -> f64 {
        match self {
            Value::Win(plies) | Value::Loss(plies) => plies.into(),
            Value::Draw => 0.0,
            Value::Points(points) => points.into(),
            Value::Chance(chance) => chance,
        }
    }
}

impl fmt::Display for Value {
    /// What people are told: `wins in 3`, `draw`, `+14`, `62.5 %`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match *self {
            Value::Win(plies) => format!("wins in {}", plies.div_ceil(2)),
            Value::Loss(plies) => format!("loses in {}", plies / 2),
            Value::Draw => "draw".to_owned(),
            Value::Points(points) => format!("{points:+}"),
            Value::Chance(chance) => format!("{:.1} %", 100.0 * chance),
        };
        f.pad(&text)
    }
}

/// What a search did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchStats {
    /// Positions visited, the first one included.
    pub nodes: u64,
    /// Positions whose value was not found by looking further: finished games and estimates.
    pub leaves: u64,
    /// Positions whose remaining moves did not matter any more.
    pub cutoffs: u64,
    /// Positions that the transposition table knew enough about.
    pub table_hits: u64,
    /// How many plies ahead the whole search has looked.
    pub depth: u32,
    /// Games simulated.
    pub simulations: u64,
}

impl AddAssign for SearchStats {
    fn add_assign(&mut self, other: SearchStats) {
        self.nodes += other.nodes;
        self.leaves += other.leaves;
        self.cutoffs += other.cutoffs;
        self.table_hits += other.table_hits;
        self.depth = self.depth.max(other.depth);
        self.simulations += other.simulations;
    }
}

/// Why a player cannot decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentError {
    /// There is nothing to decide in a finished game.
    GameOver,
    /// The player cannot play this game.
    Unsuited {
        /// The player.
        agent: &'static str,
        /// The game.
        setup: Setup,
        /// What it can play.
        reason: String,
    },
    /// The player has no search tree to show.
    NoTree,
    /// The player should have decided, and something went wrong with it.
    Failed {
        /// What went wrong.
        reason: String,
    },
}

impl fmt::Display for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AgentError::GameOver => f.write_str("the game is over"),
            AgentError::Unsuited { agent, setup, reason } => {
                write!(f, "{agent} cannot play {setup}: {reason}")
            }
            AgentError::Failed { reason } => f.write_str(reason),
            AgentError::NoTree => f.write_str("this player has no search tree to show"),
        }
    }
}

impl std::error::Error for AgentError {}
