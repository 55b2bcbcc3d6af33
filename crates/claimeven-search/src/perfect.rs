//! Perfect play by the exact solver.

use claimeven_game::{Column, Position, Ruleset, Setup};
use claimeven_solver::{Options, Solver};

use crate::agent::{
    Agent, AgentError, BoundKind, ColumnValue, Decision, Limits, SearchStats, Value,
};
use crate::depth_search::DepthParameters;
use crate::heuristic::Heuristic;
use crate::mtdf::Mtdf;
use crate::stop::Stop;
use crate::tie_break::TieBreak;

/// The perfect player: the fastest win, else a draw, else the slowest loss.
///
/// In the ruleset `lines`, which the solver does not support, it searches to the end of the game
/// with [`Mtdf`]. That is feasible on boards of up to 20 cells.
///
/// ```
/// use claimeven_game::{Position, Setup};
/// use claimeven_search::{Agent, Limits, Perfect};
///
/// let position = Position::from_moves(Setup::STANDARD, "444443")?;
/// let decision = Perfect::default().decide(&position, &Limits::default())?;
/// assert_eq!(decision.pv[0], decision.column);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Perfect {
    tie_break: TieBreak,
    seed: u64,
    solver: Solver,
    lines_solver: Mtdf,
}

/// The maximum number of cells of boards that are searched to the end in the ruleset `lines`.
const MAX_LINES_CELLS: u32 = 20;

/// The size of their transposition table in MiB.
const LINES_TABLE_MB: u32 = 32;

impl Perfect {
    /// A player that uses the exact solver with these options.
    pub fn new(options: Options, tie_break: TieBreak, seed: u64) -> Perfect {
        let to_the_end = DepthParameters {
            depth: u32::MAX,
            heuristic: Heuristic::named("terminal").expect("it is built in"),
            ..DepthParameters::default()
        };
        let lines_solver = Mtdf::new(to_the_end, LINES_TABLE_MB);
        Perfect { tie_break, seed, solver: Solver::new(options), lines_solver }
    }

    /// Returns an error if games of a setup cannot be solved.
    pub fn check(setup: Setup) -> Result<(), AgentError> {
        if setup.ruleset() == Ruleset::Standard || setup.cells() <= MAX_LINES_CELLS {
            return Ok(());
        }
        let reason = format!(
            "with the ruleset {} it needs a board of at most {MAX_LINES_CELLS} cells, not {}",
            Ruleset::Lines,
            setup.cells()
        );
        Err(AgentError::Unsupported { agent: "perfect", setup, reason })
    }

    /// The value of a move for the player who made it, given the position after it, and the nodes
    /// searched. `None` if a limit ended the search without a result.
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
        let bounds =
            self.solver.score_within(child, &limits.for_solver()).expect("the ruleset is solvable");
        // The opponent's upper bound is our lower bound.
        let value = Value::of_score(bounds.high, child).before();
        let bound = if bounds.exact().is_some() { BoundKind::Exact } else { BoundKind::Lower };
        (Some(ColumnValue { value, bound }), self.solver.nodes() - nodes)
    }

    /// The part of perfect play from a position that is found within the limits.
    fn pv(&mut self, position: &Position, limits: &Limits) -> Vec<Column> {
        match position.setup().ruleset() {
            Ruleset::Standard => self
                .solver
                .principal_variation_within(position, &limits.for_solver())
                .unwrap_or_default(),
            Ruleset::Lines => {
                let decision = self.lines_solver.decide(position, limits);
                decision.map_or(
                    Vec::new(),
                    |decision| if decision.stopped { Vec::new() } else { decision.pv },
                )
            }
        }
    }
}

/// Ranks moves by what is known about them: fast wins, draws, slow losses, unknown.
fn rank(known: Option<ColumnValue>) -> (i8, i64) {
    match known.map(|known| known.value) {
        Some(Value::Win(plies)) => (2, -i64::from(plies)),
        Some(Value::Loss(plies)) => (0, i64::from(plies)),
        Some(_) => (1, 0),
        None => (-1, 0),
    }
}

impl Default for Perfect {
    /// A player with the solver's default options and without opening books.
    fn default() -> Perfect {
        Perfect::new(Options::default(), TieBreak::default(), 0)
    }
}

impl Agent for Perfect {
    fn memory(&self) -> usize {
        self.solver.memory() + Agent::memory(&self.lines_solver)
    }

    fn decide(&mut self, position: &Position, limits: &Limits) -> Result<Decision, AgentError> {
        Perfect::check(position.setup())?;
        let stop = Stop::new(limits, None, None);
        let mut columns = vec![None; position.setup().cols().into()];
        let (mut nodes, mut stopped) = (0, false);
        let mut best: Option<(Column, Position)> = None;
        for column in self.tie_break.order(position, self.seed) {
            let mut child = *position;
            child.play(column).expect("the move is legal");
            let (known, searched) = self.value_after(&child, &stop.remaining(nodes));
            nodes += searched;
            stopped |= known.is_none_or(|known| known.bound != BoundKind::Exact);
            columns[column.index()] = known;
            if best.is_none_or(|(best, _)| rank(known) > rank(columns[best.index()])) {
                best = Some((column, child));
            }
            if let Some((best, _)) = best
                && let Some(known) = columns[best.index()]
            {
                stop.report(nodes, 0, known.value, &[best]);
            }
        }
        let (column, child) = best.ok_or(AgentError::GameOver)?;
        let value = columns[column.index()].map_or(Value::Expected(0.5), |known| known.value);
        let mut pv = vec![column];
        if !stopped {
            pv.extend(self.pv(&child, &stop.remaining(nodes)));
        }
        let stats = SearchStats { nodes, ..SearchStats::default() };
        let time = stop.elapsed();
        Ok(Decision { column, value, columns, shares: Vec::new(), pv, stats, time, stopped })
    }
}
