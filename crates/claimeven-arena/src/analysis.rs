//! Analysis of positions: exact values of all moves if they are found in time, otherwise proven
//! bounds and the estimate of a depth-limited search.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use claimeven_game::{Column, Position, Ruleset};
use claimeven_search::{Decision, Limits, Value};
use claimeven_solver::{
    Limits as SolverLimits, Options, Score, Solver, Stop, Stopped, embedded_books,
};

use crate::line_margins::LineMargins;
use crate::roster::AgentSpec;

/// An analyzer of positions. Its exact solver keeps its table from one position to the next.
///
/// ```
/// use claimeven_arena::{Analyzer, AnalysisLimits};
/// use claimeven_game::{Position, Setup};
///
/// let position = Position::from_moves(Setup::STANDARD, "4455").unwrap();
/// let analysis = Analyzer::default().analyze(&position, &AnalysisLimits::default());
/// assert_eq!(analysis.value.unwrap().to_string(), "wins in 2");
/// assert_eq!(analysis.best().map(|column| column.number()).collect::<Vec<_>>(), [3, 6]);
/// ```
pub struct Analyzer {
    solver: Solver,
    /// For the ruleset `lines`, which the solver does not support.
    line_margins: LineMargins,
}

/// The limits of an analysis.
#[derive(Clone, Debug, Default)]
pub struct AnalysisLimits {
    /// The maximum time.
    pub time: Option<Duration>,
    /// Another thread sets this flag to end the analysis.
    pub cancel: Option<Arc<AtomicBool>>,
}

impl AnalysisLimits {
    fn for_solver(&self) -> SolverLimits {
        SolverLimits { nodes: None, time: self.time, cancel: self.cancel.clone() }
    }
}

/// The analysis of a position.
///
/// ```
/// use claimeven_arena::{AnalysisLimits, Analyzer};
/// use claimeven_game::{Position, Setup};
///
/// let position = Position::from_moves(Setup::STANDARD, "4455")?;
/// let analysis = Analyzer::default().analyze(&position, &AnalysisLimits::default());
/// for (number, column) in (1..).zip(&analysis.columns) {
///     if let Some(value) = column.and_then(|column| column.value) {
///         println!("column {number}: {value}");
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Analysis {
    /// The exact value for the side to move, if known.
    pub value: Option<ExactValue>,
    /// Each column from the left, for the side to move; `None` for illegal moves.
    pub columns: Vec<Option<ColumnAnalysis>>,
    /// The principal variation to the end of the game; empty if unknown.
    pub pv: Vec<Column>,
    /// The estimate of a search, if not every move is known exactly.
    pub estimate: Option<Estimate>,
    /// Whether the position is in an opening book.
    pub in_book: bool,
    /// Nodes searched.
    pub nodes: u64,
}

/// An exact value for the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExactValue {
    /// A win after this many plies.
    Win(u32),
    /// A draw.
    Draw,
    /// A loss after this many plies.
    Loss(u32),
    /// In the ruleset `lines`: the margin over the opponent in lines.
    Margin(i32),
}

/// The analysis of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColumnAnalysis {
    /// The exact value, if known.
    pub value: Option<ExactValue>,
    /// The lower bound of the result: 1 for a win, 0 for a draw, -1 for a loss.
    pub at_least: i32,
    /// The upper bound of the result.
    pub at_most: i32,
    /// The opponent cannot force a win with this many of its next discs.
    pub no_loss_within: u32,
}

/// The estimate of a depth-limited search.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The preferred move.
    pub column: Column,
    /// The completed depth in plies.
    pub depth: u32,
    /// The value for the side to move.
    pub value: Value,
    /// The principal variation.
    pub pv: Vec<Column>,
}

impl ExactValue {
    /// 1 for a win, 0 for a draw, -1 for a loss.
    pub const fn sign(self) -> i32 {
        match self {
            ExactValue::Win(_) => 1,
            ExactValue::Draw => 0,
            ExactValue::Loss(_) => -1,
            ExactValue::Margin(lines) => lines.signum(),
        }
    }

    /// A number that orders the values of one position: the higher, the better.
    const fn rank(self) -> i32 {
        match self {
            ExactValue::Win(plies) => 1000 - plies as i32,
            ExactValue::Draw => 0,
            ExactValue::Loss(plies) => plies as i32 - 1000,
            ExactValue::Margin(lines) => lines,
        }
    }

    /// The value of a solver's score.
    fn of_score(score: Score, position: &Position) -> ExactValue {
        match score.moves_to_win(position) {
            None => ExactValue::Draw,
            Some(moves) if score.sign() > 0 => ExactValue::Win(2 * moves - 1),
            Some(moves) => ExactValue::Loss(2 * moves),
        }
    }

    /// The value of a move for the player who makes it, given the value of the next position for
    /// the opponent.
    #[must_use]
    const fn before(self) -> ExactValue {
        match self {
            ExactValue::Win(plies) => ExactValue::Loss(plies + 1),
            ExactValue::Draw => ExactValue::Draw,
            ExactValue::Loss(plies) => ExactValue::Win(plies + 1),
            ExactValue::Margin(lines) => ExactValue::Margin(-lines),
        }
    }
}

impl fmt::Display for ExactValue {
    /// The value in words: `wins in 3`, `draw`, `loses by 2 lines`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match *self {
            ExactValue::Win(plies) => format!("wins in {}", plies.div_ceil(2)),
            ExactValue::Loss(plies) => format!("loses in {}", plies / 2),
            ExactValue::Draw | ExactValue::Margin(0) => "draw".to_owned(),
            ExactValue::Margin(lines) => {
                let verb = if lines > 0 { "wins" } else { "loses" };
                let noun = if lines.abs() == 1 { "line" } else { "lines" };
                format!("{verb} by {} {noun}", lines.abs())
            }
        };
        f.pad(&text)
    }
}

impl ColumnAnalysis {
    fn exactly(value: ExactValue) -> ColumnAnalysis {
        let sign = value.sign();
        ColumnAnalysis { value: Some(value), at_least: sign, at_most: sign, no_loss_within: 0 }
    }

    const UNKNOWN: ColumnAnalysis =
        ColumnAnalysis { value: None, at_least: -1, at_most: 1, no_loss_within: 0 };
}

impl Analysis {
    /// Whether every move is known exactly.
    pub fn is_exact(&self) -> bool {
        self.columns.iter().flatten().all(|column| column.value.is_some())
    }

    /// The best moves, from the left, if known.
    pub fn best(&self) -> impl Iterator<Item = Column> {
        let best = self.value;
        let is_best = move |column: &Option<ColumnAnalysis>| {
            best.is_some() && column.is_some_and(|column| column.value == best)
        };
        let columns = self.columns.iter().enumerate();
        columns
            .filter(move |(_, column)| is_best(column))
            .filter_map(|(index, _)| Column::from_index(index))
    }
}

impl Default for Analyzer {
    fn default() -> Analyzer {
        Analyzer::new(8)
    }
}

impl Analyzer {
    /// An analyzer whose solver has a transposition table of this many MiB.
    pub fn new(table_mb: usize) -> Analyzer {
        let options = Options::default().with_books(embedded_books()).with_table_mb(table_mb);
        Analyzer { solver: Solver::new(options), line_margins: LineMargins::default() }
    }

    /// Whether the exact value can be computed, given enough time.
    pub fn can_solve(position: &Position) -> bool {
        match position.setup().ruleset() {
            Ruleset::Standard => true,
            Ruleset::Lines => LineMargins::can_solve(position),
        }
    }

    /// Analyzes a position within the limits. A finished game has no analysis.
    pub fn analyze(&mut self, position: &Position, limits: &AnalysisLimits) -> Analysis {
        let mut analysis = Analysis {
            value: None,
            columns: vec![None; position.setup().cols().into()],
            pv: Vec::new(),
            estimate: None,
            in_book: self.solver.in_book(position),
            nodes: 0,
        };
        if position.outcome().is_some() {
            return analysis;
        }
        for column in position.legal() {
            analysis.columns[column.index()] = Some(ColumnAnalysis::UNKNOWN);
        }
        let start = Instant::now();
        // A third of the time is reserved for an estimate, in case the solver does not finish.
        let exact = AnalysisLimits { time: limits.time.map(|time| time * 2 / 3), ..limits.clone() };
        match position.setup().ruleset() {
            Ruleset::Standard => self.solve(position, &exact, &mut analysis),
            Ruleset::Lines if LineMargins::can_solve(position) => {
                // Keep what was found in time.
                let _ = self.count_lines(position, &exact, &mut analysis);
            }
            Ruleset::Lines => {}
        }
        if !analysis.is_exact()
            && let Some(time) = limits.time
        {
            let time = Some(time.saturating_sub(start.elapsed()));
            estimate(position, &AnalysisLimits { time, ..limits.clone() }, &mut analysis);
        }
        analysis
    }

    fn solve(&mut self, position: &Position, limits: &AnalysisLimits, analysis: &mut Analysis) {
        let stop = Stop::new(&limits.for_solver());
        let nodes = self.solver.nodes();
        let mut left = position.legal().count() as u32;
        let mut best: Option<(Score, Column)> = None;
        let mut highest: Option<Score> = None;
        for column in position.legal_from_centre() {
            let child = after(position, column);
            // Each move gets a share of the time, so that a hard one leaves time for the others.
            let remaining = stop.remaining(0);
            let time = remaining.time.map(|time| time / left);
            let limits = SolverLimits { time, ..remaining };
            left -= 1;
            let Ok(bounds) = self.solver.score_within(&child, &limits) else { continue };
            let (low, high) = (-bounds.high, -bounds.low);
            let safe = match bounds.high.moves_to_win(&child) {
                Some(moves) if bounds.high.sign() > 0 => moves - 1,
                _ => 0,
            };
            analysis.columns[column.index()] = Some(ColumnAnalysis {
                value: bounds.exact().map(|score| ExactValue::of_score(score, &child).before()),
                at_least: low.sign(),
                at_most: high.sign(),
                no_loss_within: if bounds.exact().is_some() { 0 } else { safe },
            });
            highest = highest.max(Some(high));
            if best.is_none_or(|(lowest, _)| low > lowest) {
                best = Some((low, column));
            }
        }
        // The best move is known if no other can be better.
        if let Some((_, column)) = best.filter(|(lowest, _)| Some(*lowest) == highest) {
            analysis.value = analysis.columns[column.index()].and_then(|known| known.value);
            if analysis.is_exact() {
                analysis.pv.push(column);
                let child = after(position, column);
                let rest = self.solver.principal_variation_within(&child, &stop.remaining(0));
                analysis.pv.extend(rest.unwrap_or_default());
            }
        }
        analysis.nodes += self.solver.nodes() - nodes;
    }

    fn count_lines(
        &mut self,
        position: &Position,
        limits: &AnalysisLimits,
        analysis: &mut Analysis,
    ) -> Result<(), Stopped> {
        let margins = &mut self.line_margins;
        margins.limit(&limits.for_solver());
        let mut best = None;
        for column in position.legal_from_centre() {
            let nodes = margins.nodes;
            let margin = margins.margin(&after(position, column));
            analysis.nodes += margins.nodes - nodes;
            let value = ExactValue::Margin(-margin?);
            analysis.columns[column.index()] = Some(ColumnAnalysis::exactly(value));
            if best.is_none_or(|best: ExactValue| value.rank() > best.rank()) {
                best = Some(value);
            }
        }
        analysis.value = best;
        analysis.pv = margins.principal_variation(position)?;
        Ok(())
    }
}

/// The minimum depth of an estimate, which takes microseconds.
const MIN_DEPTH: u32 = 3;

/// Adds the estimate of iterative deepening, and the bounds it has proven.
fn estimate(position: &Position, limits: &AnalysisLimits, analysis: &mut Analysis) {
    let spec: AgentSpec = "timed:ms=600000,table=16".parse().expect("the roster has it");
    let Ok(mut searcher) = spec.build(position.setup(), 0) else { return };
    let limits = Limits { time: limits.time, cancel: limits.cancel.clone(), ..Limits::default() };
    let Ok(mut decision) = searcher.decide(position, &limits) else { return };
    if decision.stopped && decision.stats.depth < MIN_DEPTH {
        // On a busy machine, the time may be up before the search starts.
        let limits = Limits { time: None, ..limits }.with_depth(MIN_DEPTH);
        let Ok(shallow) = searcher.decide(position, &limits) else { return };
        decision = shallow;
    }
    let (column, depth) = (decision.column, decision.stats.depth);
    analysis.nodes += decision.stats.nodes;
    match decision.value {
        Value::Win(_) => {
            if let Some(known) = &mut analysis.columns[column.index()] {
                known.at_least = 1;
                known.at_most = 1;
            }
        }
        // If the best move loses, all do.
        Value::Loss(_) => {
            for known in analysis.columns.iter_mut().flatten() {
                known.at_least = -1;
                known.at_most = -1;
            }
        }
        // Every second ply is the opponent's.
        _ if position.setup().ruleset() == Ruleset::Standard => {
            if let Some(known) = &mut analysis.columns[column.index()]
                && known.value.is_none()
            {
                known.no_loss_within = known.no_loss_within.max(depth / 2);
            }
        }
        _ => {}
    }
    let Decision { value, pv, .. } = decision;
    analysis.estimate = (depth > 0).then_some(Estimate { column, depth, value, pv });
}

fn after(position: &Position, column: Column) -> Position {
    let mut child = *position;
    child.play(column).expect("the column is a legal one");
    child
}

#[cfg(test)]
mod tests {
    use claimeven_game::Setup;

    use super::*;

    fn position(cols: u8, rows: u8, ruleset: Ruleset, moves: &str) -> Position {
        Position::from_moves(Setup::new(cols, rows, 4, ruleset).unwrap(), moves).unwrap()
    }

    #[test]
    fn every_column_has_the_solvers_score() {
        let mut analyzer = Analyzer::default();
        let mut solver = Solver::new(Options::default().with_books(embedded_books()));
        for moves in [
            "",
            "4455",
            "44444432222",
            "3537121",
            "4444442266115",
            "7422341735647741166133573473242566",
        ] {
            let position = position(7, 6, Ruleset::Standard, moves);
            let analysis = analyzer.analyze(&position, &AnalysisLimits::default());
            let scores = solver.scores(&position).unwrap();
            for (known, score) in analysis.columns.iter().zip(scores) {
                let signs = known.map(|known| (known.at_least, known.at_most));
                assert_eq!(signs, score.map(|score| (score.sign(), score.sign())), "{moves}");
                let value = known.and_then(|known| known.value).map(|value| value.to_string());
                assert_eq!(value, score.map(|score| score.describe(&position)), "{moves}");
            }
            let mut game = position;
            for &column in &analysis.pv {
                game.play(column).unwrap();
            }
            assert!(game.outcome().is_some(), "the principal variation ends the game");
            assert_eq!(analysis.in_book, moves.len() <= 12);
        }
    }

    #[test]
    fn unsolved_moves_have_bounds() {
        let limits = AnalysisLimits { time: Some(Duration::from_millis(60)), cancel: None };
        let position = position(10, 8, Ruleset::Standard, "");
        let analysis = Analyzer::default().analyze(&position, &limits);
        assert!(!analysis.is_exact() && analysis.value.is_none() && analysis.pv.is_empty());
        for known in analysis.columns.iter().flatten() {
            assert!(known.at_least <= known.at_most);
        }
        // An immediate win is found even without the solver.
        let position = self::position(10, 8, Ruleset::Standard, "1212121".split_at(6).0);
        let analysis = Analyzer::default().analyze(&position, &limits);
        assert_eq!(analysis.value, Some(ExactValue::Win(1)));
        assert_eq!(analysis.best().map(Column::number).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn values_of_the_ruleset_lines_are_margins() {
        let limits = AnalysisLimits::default();
        let small = position(4, 4, Ruleset::Lines, "1234123");
        let analysis = Analyzer::default().analyze(&small, &limits);
        assert!(analysis.is_exact() && matches!(analysis.value, Some(ExactValue::Margin(_))));
        // The last disc decides, and the value of the finished game is not "wins in 1".
        let setup = Setup::new(4, 1, 2, Ruleset::Lines).unwrap();
        let position = Position::from_moves(setup, "142").unwrap();
        let analysis = Analyzer::default().analyze(&position, &limits);
        assert_eq!(analysis.value.unwrap().to_string(), "draw");
        assert_eq!(ExactValue::Margin(3).to_string(), "wins by 3 lines");
        assert_eq!(ExactValue::Margin(-1).to_string(), "loses by 1 line");
    }

    #[test]
    fn unsolved_positions_have_an_estimate() {
        let limits = AnalysisLimits { time: Some(Duration::from_millis(300)), cancel: None };
        for (ruleset, moves) in [(Ruleset::Lines, "4453"), (Ruleset::Standard, "55")] {
            let (cols, connect) = if ruleset == Ruleset::Lines { (7, 4) } else { (9, 5) };
            let setup = Setup::new(cols, 7, connect, ruleset).unwrap();
            let position = Position::from_moves(setup, moves).unwrap();
            let analysis = Analyzer::default().analyze(&position, &limits);
            assert!(!analysis.is_exact() && analysis.value.is_none(), "{analysis:?}");
            let estimate = analysis.estimate.expect("the search has an estimate");
            assert!(estimate.depth >= 3 && estimate.pv.first() == Some(&estimate.column));
            let known = analysis.columns[estimate.column.index()].unwrap();
            assert!(known.at_least <= known.at_most);
            if ruleset == Ruleset::Standard {
                assert!(known.no_loss_within >= estimate.depth / 2, "{known:?}");
            }
        }
    }

    /// Proven bounds are compared with exact values of the same positions.
    #[test]
    fn proven_bounds_are_correct() {
        let short = AnalysisLimits { time: Some(Duration::from_millis(3)), cancel: None };
        let mut random = fastrand::Rng::with_seed(1);
        let mut analyzer = Analyzer::default();
        let (mut open, mut safe) = (0, 0);
        for _ in 0..60 {
            let mut position = Position::new(Setup::STANDARD);
            let plies = random.usize(12..26);
            while position.ply() < plies as u32 && position.outcome().is_none() {
                let legal: Vec<Column> = position.legal().collect();
                position.play(*random.choice(&legal).unwrap()).unwrap();
            }
            if position.outcome().is_some() {
                continue;
            }
            let hurried = Analyzer::default().analyze(&position, &short);
            let exact = analyzer.analyze(&position, &AnalysisLimits::default());
            for (hurried, exact) in hurried.columns.iter().zip(&exact.columns) {
                let (Some(hurried), Some(exact)) = (hurried, exact) else { continue };
                let value = exact.value.unwrap();
                assert!(hurried.at_least <= value.sign() && value.sign() <= hurried.at_most);
                assert!(hurried.value.is_none_or(|hurried| hurried == value));
                if let ExactValue::Loss(plies) = value {
                    assert!(plies / 2 > hurried.no_loss_within, "{hurried:?} {value}");
                }
                open += u32::from(hurried.value.is_none());
                safe += u32::from(hurried.no_loss_within > 0);
            }
        }
        assert!(open > 20 && safe > 5, "{open} {safe}");
    }
}
