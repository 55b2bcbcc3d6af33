//! The interface of all players: an [`Agent`] makes a [`Decision`] within [`Limits`].

use std::fmt;
use std::ops::AddAssign;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use claimeven_game::{Column, Outcome, Position, Ruleset, Setup};
use claimeven_solver::{Limits as SolverLimits, Score};

use crate::monitor::{SearchInfo, SearchMonitor};
use crate::tree::Tree;

/// A computer player.
///
/// A decision depends only on the position, the player's parameters, its seed and the limits,
/// unless the documentation of a player says otherwise. For example, [`Mcts`](crate::Mcts) keeps
/// its tree between moves; [`Mcts::clear`](crate::Mcts::clear) drops it.
///
/// Your own player needs one method:
///
/// ```
/// use claimeven_game::Position;
/// use claimeven_search::{Agent, AgentError, Decision, Limits};
///
/// /// Plays the leftmost legal column.
/// struct Leftmost;
///
/// impl Agent for Leftmost {
///     fn decide(&mut self, position: &Position, _: &Limits) -> Result<Decision, AgentError> {
///         let column = position.legal().next().ok_or(AgentError::GameOver)?;
///         Ok(Decision::new(position, column))
///     }
/// }
/// ```
pub trait Agent: Send {
    /// Chooses a move for the side to move, or fails with [`AgentError::GameOver`].
    fn decide(&mut self, position: &Position, limits: &Limits) -> Result<Decision, AgentError>;

    /// Chooses a move and records the search tree down to `levels` plies below the root.
    fn decide_with_tree(
        &mut self,
        _position: &Position,
        _limits: &Limits,
        _levels: u32,
    ) -> Result<(Decision, Tree), AgentError> {
        Err(AgentError::NoTree)
    }

    /// Prepares the player for a game, outside its thinking time: an external program is started
    /// here. It is optional; players prepare themselves at their first move otherwise.
    fn prepare(&mut self, _setup: Setup) -> Result<(), AgentError> {
        Ok(())
    }

    /// The approximate size in bytes of data kept between moves, such as a tree or a table.
    fn memory(&self) -> usize {
        0
    }
}

/// The limits of a search. By default there are none beyond the player's own parameters.
///
/// A search that reaches a limit returns the best move it has found, with
/// [`Decision::stopped`] set. It checks clock and flag at least once per millisecond.
///
/// ```
/// use std::time::Duration;
///
/// use claimeven_search::Limits;
///
/// let limits = Limits::default().with_time(Duration::from_millis(100)).with_depth(12);
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Limits {
    /// The maximum depth in plies.
    pub depth: Option<u32>,
    /// The maximum number of nodes.
    pub nodes: Option<u64>,
    /// The maximum number of simulations.
    pub simulations: Option<u64>,
    /// The maximum time.
    pub time: Option<Duration>,
    /// The approximate maximum size of a search tree in bytes. Transposition tables have their own
    /// size.
    pub memory: Option<usize>,
    /// Another thread sets this flag to end the search.
    pub cancel: Option<Arc<AtomicBool>>,
    /// Receives the progress of the search.
    pub monitor: Option<Arc<SearchMonitor>>,
}

impl Limits {
    /// Limits the depth in plies.
    pub fn with_depth(self, depth: u32) -> Limits {
        Limits { depth: Some(depth), ..self }
    }

    /// Limits the number of nodes.
    pub fn with_nodes(self, nodes: u64) -> Limits {
        Limits { nodes: Some(nodes), ..self }
    }

    /// Limits the number of simulations.
    pub fn with_simulations(self, simulations: u64) -> Limits {
        Limits { simulations: Some(simulations), ..self }
    }

    /// Limits the time.
    pub fn with_time(self, time: Duration) -> Limits {
        Limits { time: Some(time), ..self }
    }

    /// Limits the size of a search tree, in bytes.
    pub fn with_memory(self, bytes: usize) -> Limits {
        Limits { memory: Some(bytes), ..self }
    }

    /// Adds a flag that ends the search.
    pub fn with_cancel(self, cancel: Arc<AtomicBool>) -> Limits {
        Limits { cancel: Some(cancel), ..self }
    }

    /// Adds a monitor that receives the progress of the search.
    pub fn with_monitor(self, monitor: Arc<SearchMonitor>) -> Limits {
        Limits { monitor: Some(monitor), ..self }
    }

    /// The limits that apply to the exact solver: nodes, time and the flag.
    pub fn for_solver(&self) -> SolverLimits {
        SolverLimits { nodes: self.nodes, time: self.time, cancel: self.cancel.clone() }
    }
}

/// A player's decision: the move, and the search result behind it.
///
/// ```
/// use claimeven_game::{Position, Setup};
/// use claimeven_search::{Agent, AlphaBeta, Limits};
///
/// let position = Position::from_moves(Setup::STANDARD, "4455")?;
/// let decision = AlphaBeta::default().decide(&position, &Limits::default())?;
/// assert_eq!(decision.pv[0], decision.column);
/// println!("{} after {} nodes", decision.value, decision.stats.nodes);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The column to play.
    pub column: Column,
    /// The value of the position for the side to move.
    pub value: Value,
    /// The value of each column, from the left; `None` if it is unknown or the column is full.
    pub columns: Vec<Option<ColumnValue>>,
    /// The share of visits of each column, from the left, or the policy of a network that plays
    /// without search. Shares add up to 1. Empty for players that count no visits.
    pub shares: Vec<f64>,
    /// The principal variation: the expected play, starting with the move.
    pub pv: Vec<Column>,
    /// Statistics of the search.
    pub stats: SearchStats,
    /// The time used.
    pub time: Duration,
    /// Whether a limit, including the player's own time limit, ended the search early.
    pub stopped: bool,
}

impl Decision {
    /// A move without a search result, for players that do not search.
    pub fn new(position: &Position, column: Column) -> Decision {
        Decision {
            column,
            value: Value::Expected(0.5),
            columns: vec![None; position.setup().cols().into()],
            shares: Vec::new(),
            pv: vec![column],
            stats: SearchStats::default(),
            time: Duration::ZERO,
            stopped: false,
        }
    }

    /// The result in the form that a [`SearchMonitor`] shows.
    pub fn info(&self) -> SearchInfo {
        SearchInfo {
            nodes: self.stats.nodes,
            depth: self.stats.depth,
            value: Some(self.value),
            pv: self.pv.clone(),
        }
    }
}

/// The value of a column, or a bound on it.
///
/// ```
/// use claimeven_game::{Position, Setup};
/// use claimeven_search::{Agent, AlphaBeta, BoundKind, ColumnValue, Limits, Value};
///
/// let position = Position::from_moves(Setup::STANDARD, "4455")?;
/// let decision = AlphaBeta::default().decide(&position, &Limits::default())?;
/// let exact = ColumnValue { value: Value::Win(3), bound: BoundKind::Exact };
/// assert_eq!(decision.columns[decision.column.index()], Some(exact));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColumnValue {
    /// The value for the side to move.
    pub value: Value,
    /// Whether the value is exact or a bound.
    pub bound: BoundKind,
}

/// Whether a value is exact or a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundKind {
    /// The exact value.
    Exact,
    /// An upper bound: the search failed low.
    Upper,
    /// A lower bound: the search failed high.
    Lower,
}

impl BoundKind {
    /// The symbol before a bound: `≤`, `≥` or nothing.
    pub const fn sign(self) -> &'static str {
        match self {
            BoundKind::Exact => "",
            BoundKind::Upper => "≤",
            BoundKind::Lower => "≥",
        }
    }

    /// The name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            BoundKind::Exact => "exact",
            BoundKind::Upper => "upper",
            BoundKind::Lower => "lower",
        }
    }

    /// The bound from the opponent's point of view.
    #[must_use]
    pub const fn reversed(self) -> BoundKind {
        match self {
            BoundKind::Exact => BoundKind::Exact,
            BoundKind::Upper => BoundKind::Lower,
            BoundKind::Lower => BoundKind::Upper,
        }
    }
}

/// The value of a position for the side to move: a proven result, points or an expected result.
///
/// ```
/// use claimeven_search::Value;
///
/// let value = Value::Win(3);
/// assert_eq!((value.to_string(), value.short()), ("wins in 2".to_owned(), "W2".to_owned()));
/// assert_eq!(value.reversed(), Value::Loss(3));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A proven win in this many plies.
    Win(u32),
    /// A proven loss in this many plies.
    Loss(u32),
    /// A proven draw.
    Draw,
    /// The points of a heuristic.
    Points(i32),
    /// The expected result: 1 for a win, 0.5 for a draw, 0 for a loss.
    Expected(f64),
}

impl Value {
    /// The value from the opponent's point of view.
    #[must_use]
    pub fn reversed(self) -> Value {
        match self {
            Value::Win(plies) => Value::Loss(plies),
            Value::Loss(plies) => Value::Win(plies),
            Value::Draw => Value::Draw,
            Value::Points(points) => Value::Points(-points),
            Value::Expected(result) => Value::Expected(1.0 - result),
        }
    }

    /// The value of a position with an exact score.
    pub fn of_score(score: Score, position: &Position) -> Value {
        match score.moves_to_win(position) {
            None => Value::Draw,
            Some(moves) if score.sign() > 0 => Value::Win(2 * moves - 1),
            Some(moves) => Value::Loss(2 * moves),
        }
    }

    /// The exact score of a proven value at a position; see [`Score`]. Under the
    /// ruleset `lines`, where games end with the last disc, only draws have one.
    pub fn score(self, position: &Position) -> Option<i32> {
        let empty = (position.setup().cells() - position.ply()) as i32;
        let is_standard = position.setup().ruleset() == Ruleset::Standard;
        let discs = |plies: u32| (empty - plies as i32) / 2 + 1;
        match self {
            Value::Draw => Some(0),
            Value::Win(plies) if is_standard => Some(discs(plies)),
            Value::Loss(plies) if is_standard => Some(-discs(plies)),
            _ => None,
        }
    }

    /// The value of a finished game for the side that would be to move.
    pub fn of_outcome(position: &Position) -> Value {
        match position.outcome().and_then(Outcome::winner) {
            None => Value::Draw,
            Some(winner) if winner == position.player() => Value::Win(0),
            Some(_) => Value::Loss(0),
        }
    }

    /// The value of the move that leads to a position with this value, for the player who makes the
    /// move.
    #[must_use]
    pub fn before(self) -> Value {
        match self.reversed() {
            Value::Win(plies) => Value::Win(plies + 1),
            Value::Loss(plies) => Value::Loss(plies + 1),
            value => value,
        }
    }

    /// The value in short form: `+12`, `W2`, `L1`, `draw`, `62 %`.
    pub fn short(self) -> String {
        match self {
            Value::Win(plies) => format!("W{}", plies.div_ceil(2)),
            Value::Loss(plies) => format!("L{}", plies / 2),
            Value::Expected(result) => format!("{:.0} %", 100.0 * result),
            Value::Draw | Value::Points(_) => self.to_string(),
        }
    }

    /// The kind of value in JSON.
    pub const fn kind(self) -> &'static str {
        match self {
            Value::Win(_) => "win",
            Value::Loss(_) => "loss",
            Value::Draw => "draw",
            Value::Points(_) => "points",
            Value::Expected(_) => "expected",
        }
    }

    /// The number of the value: plies to a win or a loss, points or the expected result.
    pub fn number(self) -> f64 {
        match self {
            Value::Win(plies) | Value::Loss(plies) => plies.into(),
            Value::Draw => 0.0,
            Value::Points(points) => points.into(),
            Value::Expected(result) => result,
        }
    }
}

impl fmt::Display for Value {
    /// The value as users see it: `wins in 3`, `draw`, `+14`, `62.5 %`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match *self {
            Value::Win(plies) => format!("wins in {}", plies.div_ceil(2)),
            Value::Loss(plies) => format!("loses in {}", plies / 2),
            Value::Draw => "draw".to_owned(),
            Value::Points(points) => format!("{points:+}"),
            Value::Expected(result) => format!("{:.1} %", 100.0 * result),
        };
        f.pad(&text)
    }
}

/// Statistics of a search.
///
/// ```
/// use claimeven_game::{Position, Setup};
/// use claimeven_search::{Agent, AlphaBeta, Limits, SearchStats};
///
/// let mut total = SearchStats::default();
/// for moves in ["44", "4455"] {
///     let position = Position::from_moves(Setup::STANDARD, moves)?;
///     total += AlphaBeta::default().decide(&position, &Limits::default())?.stats;
/// }
/// println!("{} nodes, {} cutoffs, depth {}", total.nodes, total.cutoffs, total.depth);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchStats {
    /// Visited nodes, including the root.
    pub nodes: u64,
    /// Nodes that were not searched further: finished games and heuristic values.
    pub leaves: u64,
    /// Beta cutoffs.
    pub cutoffs: u64,
    /// Nodes decided by the transposition table.
    pub table_hits: u64,
    /// The depth of the last finished iteration, in plies.
    pub depth: u32,
    /// Simulations.
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

/// Why a player made no decision.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AgentError {
    /// The game is over.
    GameOver,
    /// The player does not support the setup.
    Unsupported {
        /// The player.
        agent: &'static str,
        /// The setup.
        setup: Setup,
        /// What it needs.
        reason: String,
    },
    /// The player has no search tree.
    NoTree,
    /// The player failed.
    Failed {
        /// What went wrong.
        reason: String,
    },
}

impl fmt::Display for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AgentError::GameOver => f.write_str("the game is over"),
            AgentError::Unsupported { agent, setup, reason } => {
                write!(f, "{agent} cannot play {setup}: {reason}")
            }
            AgentError::Failed { reason } => f.write_str(reason),
            AgentError::NoTree => f.write_str("this player has no search tree"),
        }
    }
}

impl std::error::Error for AgentError {}
