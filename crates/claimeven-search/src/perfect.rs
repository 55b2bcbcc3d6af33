//! The player that knows.

use std::sync::Arc;

use claimeven_game::{Column, Position, Ruleset, Setup};
use claimeven_solver::{Limits as SolverLimits, Options, Solver};

use crate::agent::{
    Agent, AgentError, BoundKind, ColumnValue, Decision, Limits, SearchStats, Value,
};
use crate::depth_search::DepthParameters;
use crate::heuristic::Heuristic;
use crate::mtdf::Mtdf;
use crate::stop::Stop;
use crate::tie_break::TieBreak;

/// Plays perfectly: the fastest win, else a draw, else the slowest loss.
///
/// Where each line is a point it looks at every game to its end, which takes a small board.
pub struct Perfect {
    tie_break: TieBreak,
    seed: u64,
    solver: Solver,
    lines_solver: Mtdf,
}

/// The cells of the largest boards that are solved where each line is a point.
const MAX_LINES_CELLS: u32 = 20;

/// The table for those, in megabytes.
const LINES_TABLE_MB: u32 = 32;

impl Perfect {
    /// A player who uses the exact solver with these options.
    pub fn new(options: Options, tie_break: TieBreak, seed: u64) -> Perfect {
        let to_the_end = DepthParameters {
            depth: u32::MAX,
            heuristic: Heuristic::named("terminal").expect("it is built in"),
            ..DepthParameters::default()
        };
        let lines_solver = Mtdf::new(to_the_end, LINES_TABLE_MB);
        Perfect { tie_break, seed, solver: Solver::new(options), lines_solver }
    }

    /// Whether it can play a game at all.
    pub fn check(setup: Setup) -> Result<(), AgentError> {
        if setup.ruleset() == Ruleset::Standard || setup.cells() <= MAX_LINES_CELLS {
            return Ok(());
        }
        let reason = format!(
            "with the ruleset {} it needs a board of at most {MAX_LINES_CELLS} cells, not {}",
            Ruleset::Lines,
            setup.cells()
        );
        Err(AgentError::Unsuited { agent: "perfect", setup, reason })
    }

    /// What the position after a move is worth to the player who made it, as far as the limits
    /// let it be known, and the nodes that took.
    fn value_after(&mut self, child: &Position, limits: &Limits) -> (Option<ColumnValue>, u64) {
        let exactly = |value| Some(ColumnValue { value, bound: BoundKind::Exact });
        if child.setup().ruleset() == Ruleset::Lines {
            let Ok(decision) = self.lines_solver.decide(child, limits) else {
                return (exactly(Value::of_outcome(child).before()), 1);
            };
            let value = match decision.value {
                Value::Points(_) => Value::Draw,
                value => value.before(),
            };
            return (if decision.stopped { None } else { exactly(value) }, decision.stats.nodes);
        }
        let nodes = self.solver.nodes();
        let limits = SolverLimits {
            nodes: limits.nodes,
            time: limits.time,
            cancel: limits.cancel.as_ref().map(Arc::clone),
        };
        let bounds = self.solver.score_within(child, &limits).expect("the ruleset is solvable");
        // The most that the other side can have is the least that this one is sure of.
        let value = Value::of_score(bounds.high, child).before();
        let bound = if bounds.exact().is_some() { BoundKind::Exact } else { BoundKind::Lower };
        (Some(ColumnValue { value, bound }), self.solver.nodes() - nodes)
    }

    /// Perfect play from a position on.
    fn pv(&mut self, position: &Position, limits: &Limits) -> Vec<Column> {
        match position.setup().ruleset() {
            Ruleset::Standard => self.solver.principal_variation(position).unwrap_or_default(),
            Ruleset::Lines => {
                let decision = self.lines_solver.decide(position, limits);
                decision.map_or(Vec::new(), |decision| decision.pv)
            }
        }
    }
}

/// What is known of a move, as something to compare: a win soon, a draw, a loss late, nothing.
fn rank(known: Option<ColumnValue>) -> (i8, i64) {
    match known.map(|known| known.value) {
        Some(Value::Win(plies)) => (2, -i64::from(plies)),
        Some(Value::Loss(plies)) => (0, i64::from(plies)),
        Some(_) => (1, 0),
        None => (-1, 0),
    }
}

impl Agent for Perfect {
    fn decide(&mut self, position: &Position, limits: &Limits) -> Result<Decision, AgentError> {
        Perfect::check(position.setup())?;
        let stop = Stop::new(limits, None);
        // What the searches of single moves find is nothing to tell: they are the other side's.
        let limits = &Limits { monitor: None, ..limits.clone() };
        let mut columns = vec![None; position.setup().cols().into()];
        let (mut nodes, mut stopped) = (0, false);
        let mut best: Option<(Column, Position)> = None;
        for column in self.tie_break.order(position, self.seed) {
            let mut child = *position;
            child.play(column).expect("the column is a legal one");
            let limits = Limits {
                nodes: limits.nodes.map(|most| most.saturating_sub(nodes)),
                time: limits.time.map(|most| most.saturating_sub(stop.elapsed())),
                ..limits.clone()
            };
            let (known, took) = self.value_after(&child, &limits);
            nodes += took;
            stopped |= known.is_none_or(|known| known.bound != BoundKind::Exact);
            columns[column.index()] = known;
            if best.is_none_or(|(best, _)| rank(known) > rank(columns[best.index()])) {
                best = Some((column, child));
            }
            if let Some((best, _)) = best
                && let Some(known) = columns[best.index()]
            {
                stop.tell(nodes, 0, known.value, &[best]);
            }
        }
        let (column, child) = best.ok_or(AgentError::GameOver)?;
        let value = columns[column.index()].map_or(Value::Chance(0.5), |known| known.value);
        let mut pv = vec![column];
        if !stopped {
            pv.extend(self.pv(&child, limits));
        }
        let stats = SearchStats { nodes, ..SearchStats::default() };
        let time = stop.elapsed();
        Ok(Decision { column, value, columns, shares: Vec::new(), pv, stats, time, stopped })
    }
}
