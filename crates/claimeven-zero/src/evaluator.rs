//! Evaluators: policy and value for batches of positions.

use claimeven_game::{Column, Position};

/// An evaluator: policy and value for batches of positions.
///
/// The search collects positions and evaluates all of them in one call. The implementation may be
/// a network, a cache or a test double.
///
/// ```
/// use claimeven_game::{Position, Setup};
/// use claimeven_zero::{Cache, Evaluation, Evaluator, UniformEvaluator, Wdl};
///
/// /// Expects every game to be drawn.
/// struct Drawish;
///
/// impl Evaluator for Drawish {
///     fn evaluate(&mut self, positions: &[Position], evaluations: &mut Vec<Evaluation>) {
///         UniformEvaluator.evaluate(positions, evaluations);
///         for evaluation in evaluations {
///             evaluation.value = Wdl::DRAW;
///         }
///     }
/// }
///
/// let mut evaluations = Vec::new();
/// Cache::new(Drawish, 1024).evaluate(&[Position::new(Setup::STANDARD)], &mut evaluations);
/// assert_eq!(evaluations[0].value, Wdl::DRAW);
/// ```
pub trait Evaluator {
    /// Evaluates positions of unfinished games, in order. The previous contents of `evaluations`
    /// are overwritten; its memory is reused.
    fn evaluate(&mut self, positions: &[Position], evaluations: &mut Vec<Evaluation>);
}

/// Policy and value of a position, for its side to move.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluation {
    /// The probability of each column, from the left; 0 for full columns.
    pub policy: Vec<f32>,
    /// The predicted result.
    pub value: Wdl,
}

impl Evaluation {
    /// The index of the most probable column.
    #[must_use]
    pub fn best_column(&self) -> usize {
        let policy = self.policy.iter().enumerate();
        policy.max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(column, _)| column)
    }
}

/// Win, draw and loss probabilities, which add up to 1. Only the first two are stored.
///
/// ```
/// use claimeven_zero::Wdl;
///
/// let wdl = Wdl { win: 0.5, draw: 0.25 };
/// assert_eq!((wdl.loss(), wdl.expected()), (0.25, 0.625));
/// assert_eq!(wdl.reversed().win, 0.25);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "self-explanatory")]
pub struct Wdl {
    pub win: f32,
    pub draw: f32,
}

impl Wdl {
    /// A certain win.
    pub const WIN: Wdl = Wdl { win: 1.0, draw: 0.0 };
    /// A certain draw.
    pub const DRAW: Wdl = Wdl { win: 0.0, draw: 1.0 };
    /// A certain loss.
    pub const LOSS: Wdl = Wdl { win: 0.0, draw: 0.0 };

    /// The value of a position about which nothing is known.
    pub(crate) const UNKNOWN: Wdl = Wdl { win: 0.375, draw: 0.25 };

    /// Whether the probabilities are numbers.
    pub(crate) fn is_finite(self) -> bool {
        self.win.is_finite() && self.draw.is_finite()
    }

    /// The loss probability.
    #[must_use]
    pub fn loss(self) -> f32 {
        1.0 - self.win - self.draw
    }

    /// The expected score: 1 for a win, 0.5 for a draw, 0 for a loss.
    #[must_use]
    pub fn expected(self) -> f32 {
        self.win + 0.5 * self.draw
    }

    /// The probabilities from the opponent's point of view.
    #[must_use]
    pub fn reversed(self) -> Wdl {
        Wdl { win: self.loss(), ..self }
    }

    /// Linear interpolation: `self` for `t` = 0, `other` for `t` = 1.
    #[must_use]
    pub fn lerp(self, other: Wdl, t: f32) -> Wdl {
        Wdl {
            win: t * other.win + (1.0 - t) * self.win,
            draw: t * other.draw + (1.0 - t) * self.draw,
        }
    }
}

/// An evaluator that gives every legal column the same probability and every position the same
/// value.
///
/// ```
/// use claimeven_game::{Position, Setup};
/// use claimeven_zero::{Evaluator, UniformEvaluator};
///
/// let mut evaluations = Vec::new();
/// UniformEvaluator.evaluate(&[Position::new(Setup::STANDARD)], &mut evaluations);
/// assert_eq!(evaluations[0].policy, [1.0 / 7.0; 7]);
/// assert_eq!(evaluations[0].value.expected(), 0.5);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct UniformEvaluator;

impl Evaluator for UniformEvaluator {
    fn evaluate(&mut self, positions: &[Position], evaluations: &mut Vec<Evaluation>) {
        evaluations.clear();
        evaluations.extend(
            positions.iter().map(|position| Evaluation {
                policy: uniform_policy(position),
                value: Wdl::UNKNOWN,
            }),
        );
    }
}

/// The same probability for every legal column.
pub(crate) fn uniform_policy(position: &Position) -> Vec<f32> {
    let mut policy = vec![0.0; position.setup().cols().into()];
    let legal: Vec<Column> = position.legal().collect();
    for column in &legal {
        policy[column.index()] = 1.0 / legal.len() as f32;
    }
    policy
}
