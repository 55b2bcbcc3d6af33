//! Exact values of all moves of a position, or bounds on them where time is short.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use claimeven_game::{Column, Position, Ruleset};
use claimeven_search::{Agent, BoundKind, Limits, Perfect, TieBreak, Value};
use claimeven_solver::{Limits as SolverLimits, Options, Score, Solver, Stop, embedded_books};

/// Analyzes positions with the exact solver, whose table is kept from one position to the next.
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
    /// For the ruleset that the solver does not know.
    perfect: Perfect,
}

/// The limits of an analysis.
#[derive(Clone, Debug, Default)]
pub struct AnalysisLimits {
    /// The maximum time.
    pub time: Option<Duration>,
    /// The analysis ends soon after another thread sets this flag.
    pub cancel: Option<Arc<AtomicBool>>,
}

impl AnalysisLimits {
    fn for_solver(&self) -> SolverLimits {
        SolverLimits { nodes: None, time: self.time, cancel: self.cancel.clone() }
    }
}

/// The analysis of a position.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// The exact value to the side to move, if it is known.
    pub value: Option<Value>,
    /// The analysis of each column, from the left; `None` for a column that cannot be played.
    pub columns: Vec<Option<ColumnAnalysis>>,
    /// The principal variation, as far as it was found; empty if some column is not known exactly.
    pub pv: Vec<Column>,
    /// Whether its value is in the opening books.
    pub in_book: bool,
    /// Nodes searched.
    pub nodes: u64,
}

/// The analysis of a move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColumnAnalysis {
    /// The exact value, if it is known.
    pub value: Option<Value>,
    /// The lower bound of the result: 1 for a win, 0 for a draw, -1 for a loss.
    pub at_least: i32,
    /// The upper bound of the result.
    pub at_most: i32,
}

impl ColumnAnalysis {
    fn exactly(value: Value) -> ColumnAnalysis {
        let sign = sign(value);
        ColumnAnalysis { value: Some(value), at_least: sign, at_most: sign }
    }

    const UNKNOWN: ColumnAnalysis = ColumnAnalysis { value: None, at_least: -1, at_most: 1 };
}

impl Analysis {
    /// Whether every move is known exactly.
    pub fn is_exact(&self) -> bool {
        self.columns.iter().flatten().all(|column| column.value.is_some())
    }

    /// The best moves, from the left, if they are known.
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
        const TABLE_MB: usize = 8;
        let options = Options::default().with_books(embedded_books()).with_table_mb(TABLE_MB);
        let perfect = Perfect::new(Options::default(), TieBreak::default(), 0);
        Analyzer { solver: Solver::new(options), perfect }
    }
}

impl Analyzer {
    /// Whether positions of this setup can be analyzed.
    pub fn can_analyze(position: &Position) -> bool {
        Perfect::check(position.setup()).is_ok()
    }

    /// Analyzes a position until everything is known or a limit is reached. The analysis of a finished
    /// game, or of one that cannot be analyzed, is empty.
    pub fn analyze(&mut self, position: &Position, limits: &AnalysisLimits) -> Analysis {
        let nothing = Analysis {
            value: None,
            columns: vec![None; position.setup().cols().into()],
            pv: Vec::new(),
            in_book: self.solver.in_book(position),
            nodes: 0,
        };
        if position.outcome().is_some() || !Analyzer::can_analyze(position) {
            return nothing;
        }
        match position.setup().ruleset() {
            Ruleset::Standard => self.solved(position, limits, nothing),
            Ruleset::Lines => self.searched(position, limits, nothing),
        }
    }

    fn solved(
        &mut self,
        position: &Position,
        limits: &AnalysisLimits,
        mut analysis: Analysis,
    ) -> Analysis {
        let stop = Stop::new(&limits.for_solver());
        let nodes = self.solver.nodes();
        let mut left = position.legal().count() as u32;
        let mut best: Option<(Score, Column)> = None;
        let mut most: Option<Score> = None;
        for column in position.legal_from_centre() {
            let mut child = *position;
            child.play(column).expect("the column is a legal one");
            // Each move gets an equal share of what is left, so that a hard one leaves something.
            let remaining = stop.remaining(0);
            let time = remaining.time.map(|time| time / left);
            let limits = SolverLimits { time, ..remaining };
            left -= 1;
            let Ok(bounds) = self.solver.score_within(&child, &limits) else { continue };
            let (low, high) = (-bounds.high, -bounds.low);
            analysis.columns[column.index()] = Some(ColumnAnalysis {
                value: bounds.exact().map(|score| Value::of_score(score, &child).before()),
                at_least: low.sign(),
                at_most: high.sign(),
            });
            most = most.max(Some(high));
            if best.is_none_or(|(least, _)| low > least) {
                best = Some((low, column));
            }
        }
        // The best move is known when no other can be better.
        if let Some((_, column)) = best.filter(|(least, _)| Some(*least) == most) {
            analysis.value = analysis.columns[column.index()].and_then(|known| known.value);
            if analysis.is_exact() {
                let mut child = *position;
                child.play(column).expect("the column is a legal one");
                analysis.pv.push(column);
                analysis.pv.extend(
                    self.solver
                        .principal_variation_within(&child, &stop.remaining(0))
                        .unwrap_or_default(),
                );
            }
        }
        analysis.nodes = self.solver.nodes() - nodes;
        analysis
    }

    fn searched(
        &mut self,
        position: &Position,
        limits: &AnalysisLimits,
        mut analysis: Analysis,
    ) -> Analysis {
        let limits =
            Limits { time: limits.time, cancel: limits.cancel.clone(), ..Limits::default() };
        let Ok(decision) = self.perfect.decide(position, &limits) else { return analysis };
        for column in position.legal() {
            let known = decision.columns[column.index()].filter(|k| k.bound == BoundKind::Exact);
            analysis.columns[column.index()] = Some(match known {
                Some(known) => ColumnAnalysis::exactly(known.value),
                None => ColumnAnalysis::UNKNOWN,
            });
        }
        if !decision.stopped {
            analysis.value = Some(decision.value);
            analysis.pv = decision.pv;
        }
        analysis.nodes = decision.stats.nodes;
        analysis
    }
}

fn sign(value: Value) -> i32 {
    match value {
        Value::Win(_) => 1,
        Value::Loss(_) => -1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use claimeven_game::Setup;

    use super::*;

    fn position(cols: u8, rows: u8, ruleset: Ruleset, moves: &str) -> Position {
        Position::from_moves(Setup::new(cols, rows, 4, ruleset).unwrap(), moves).unwrap()
    }

    #[test]
    fn every_column_is_what_the_solver_says() {
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
            assert!(game.outcome().is_some(), "best play goes to the end");
            assert_eq!(analysis.in_book, moves.len() <= 12);
        }
    }

    #[test]
    fn without_time_it_says_between_what_a_move_lies() {
        let limits = AnalysisLimits { time: Some(Duration::from_millis(60)), cancel: None };
        let position = position(10, 8, Ruleset::Standard, "");
        let analysis = Analyzer::default().analyze(&position, &limits);
        assert!(!analysis.is_exact() && analysis.value.is_none() && analysis.pv.is_empty());
        for known in analysis.columns.iter().flatten() {
            assert!(known.at_least <= known.at_most);
        }
        // A win that is there to be taken is seen all the same.
        let position = self::position(10, 8, Ruleset::Standard, "1212121".split_at(6).0);
        let analysis = Analyzer::default().analyze(&position, &limits);
        assert_eq!(analysis.value, Some(Value::Win(1)));
        assert_eq!(analysis.best().map(Column::number).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn where_each_line_is_a_point_small_boards_are_exact_and_large_ones_unknown() {
        let limits = AnalysisLimits::default();
        let small = position(4, 4, Ruleset::Lines, "1234123");
        let analysis = Analyzer::default().analyze(&small, &limits);
        assert!(analysis.is_exact() && analysis.value.is_some());
        let large = position(7, 6, Ruleset::Lines, "");
        assert_eq!(Analyzer::default().analyze(&large, &limits).columns, [None; 7]);
    }
}
