//! Statistics of results: Elo differences, intervals and the sequential test.

use std::fmt;

use serde::Serialize;

/// The results of pairs of games; both games of a pair start from one opening, and each player
/// moves first in one of them.
///
/// The two games of a pair are not independent, so intervals are computed over pairs: a pair has
/// 0, 1/2, 1, 3/2 or 2 points for the player (*pentanomial* statistics).
///
/// ```
/// use claimeven_arena::{PairResults, Sprt, SprtOutcome};
///
/// let results = PairResults { counts: [5, 20, 60, 60, 55] };
/// println!("Elo {:.0}", results.elo().middle);
/// let sprt = Sprt { elo0: 0.0, elo1: 50.0 };
/// assert_eq!(sprt.outcome(&results), Some(SprtOutcome::Accepted));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairResults {
    /// Pairs by twice their points, from 0 to 4.
    pub counts: [u64; 5],
}

impl PairResults {
    /// Adds a pair with this many half points, at most 4.
    pub fn add(&mut self, half_points: usize) {
        self.counts[half_points] += 1;
    }

    /// The number of pairs.
    pub fn pairs(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The mean score of a game, from 0 to 1, and the variance of a pair's mean around it.
    fn moments(&self) -> (f64, f64) {
        let pairs = self.pairs().max(1) as f64;
        let score = |index: usize| index as f64 / 4.0;
        let weighted = |of: &dyn Fn(f64) -> f64| {
            let sum: f64 = (0..5).map(|index| self.counts[index] as f64 * of(score(index))).sum();
            sum / pairs
        };
        let mean = weighted(&|score| score);
        (mean, weighted(&|score| (score - mean).powi(2)))
    }

    /// The mean score of a game with its 95 % confidence interval.
    ///
    /// It is the Wilson interval for the number of independent games without draws that would have
    /// the same variance, so that even a score of 0 or 1 has an interval.
    pub fn score(&self) -> Interval {
        let (mean, variance) = self.moments();
        let pairs = self.pairs().max(1) as f64;
        let games =
            if variance > 0.0 { pairs * mean * (1.0 - mean) / variance } else { 2.0 * pairs };
        Interval::wilson(mean, games)
    }

    /// The Elo difference between the player and its opponent.
    pub fn elo(&self) -> Interval {
        self.score().map(elo_of_score)
    }

    /// The log-likelihood ratio of an Elo difference of `elo1` to one of `elo0`, by the normal
    /// approximation of the pentanomial model (generalised SPRT).
    pub fn log_likelihood_ratio(&self, elo0: f64, elo1: f64) -> f64 {
        let (mean, variance) = self.moments();
        // Equal results have no variance; assume at least that of one pair among all.
        let variance = variance.max(0.25 / (self.pairs() + 1) as f64);
        let [score0, score1] = [elo0, elo1].map(score_of_elo);
        self.pairs() as f64 * (score1 - score0) * (2.0 * mean - score0 - score1) / (2.0 * variance)
    }
}

/// An estimate with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Interval {
    pub low: f64,
    /// The estimate.
    pub middle: f64,
    pub high: f64,
}

impl Interval {
    /// A share of `count` cases with its 95 % Wilson score interval, which is 0 to 1 without cases.
    ///
    /// ```
    /// use claimeven_arena::Interval;
    ///
    /// let share = Interval::wilson(0.8, 10.0);
    /// assert_eq!(format!("{:.3} to {:.3}", share.low, share.high), "0.490 to 0.943");
    /// ```
    pub fn wilson(share: f64, count: f64) -> Interval {
        const Z: f64 = 1.959_964;
        if count <= 0.0 {
            return Interval { low: 0.0, middle: share, high: 1.0 };
        }
        let scale = 1.0 + Z * Z / count;
        let centre = (share + Z * Z / (2.0 * count)) / scale;
        let spread = share * (1.0 - share) / count + Z * Z / (4.0 * count * count);
        let margin = Z * spread.sqrt() / scale;
        // Rounding must not push an end past the share itself.
        Interval {
            low: (centre - margin).clamp(0.0, share),
            middle: share,
            high: (centre + margin).clamp(share, 1.0),
        }
    }

    /// The interval mapped by a monotonic function.
    pub fn map(self, f: impl Fn(f64) -> f64) -> Interval {
        Interval { low: f(self.low), middle: f(self.middle), high: f(self.high) }
    }
}

/// A sequential probability ratio test between two Elo differences, with error probabilities of 5 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sprt {
    /// The Elo difference of the null hypothesis.
    pub elo0: f64,
    /// The Elo difference of the alternative hypothesis, greater than `elo0`.
    pub elo1: f64,
}

/// The outcome of a sequential test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SprtOutcome {
    /// The alternative hypothesis is accepted: the difference is at least `elo1`.
    Accepted,
    /// The null hypothesis is accepted: the difference is at most `elo0`.
    Rejected,
}

impl Sprt {
    /// log(0.95 / 0.05): both error probabilities are 5 %.
    const BOUND: f64 = 2.944_438_979_166_44;

    /// The outcome, if the results decide the test.
    pub fn outcome(self, results: &PairResults) -> Option<SprtOutcome> {
        match results.log_likelihood_ratio(self.elo0, self.elo1) {
            ratio if ratio >= Sprt::BOUND => Some(SprtOutcome::Accepted),
            ratio if ratio <= -Sprt::BOUND => Some(SprtOutcome::Rejected),
            _ => None,
        }
    }
}

impl fmt::Display for SprtOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SprtOutcome::Accepted => "accepted",
            SprtOutcome::Rejected => "rejected",
        })
    }
}

/// The expected score of a player with this Elo advantage.
pub fn score_of_elo(elo: f64) -> f64 {
    1.0 / (1.0 + 10_f64.powf(-elo / 400.0))
}

/// The Elo advantage of a player with this expected score; infinite for 0 and 1.
pub fn elo_of_score(score: f64) -> f64 {
    -400.0 * (1.0 / score - 1.0).log10()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(counts: [u64; 5]) -> PairResults {
        PairResults { counts }
    }

    #[test]
    fn equal_results_are_not_a_difference() {
        let elo = results([10, 20, 40, 20, 10]).elo();
        assert!(elo.middle.abs() < 1e-9);
        assert!((elo.low + elo.high).abs() < 1e-9 && elo.high > 0.0);
    }

    #[test]
    fn a_score_of_75_percent_is_191_elo() {
        let elo = results([0, 0, 50, 0, 50]).elo();
        assert!((elo.middle - 190.85).abs() < 0.01, "{elo:?}");
        // About 0.75 +- 1.96 * 0.25 / 10, shifted towards one half.
        assert!((elo.low - elo_of_score(0.698)).abs() < 1.0, "{elo:?}");
    }

    #[test]
    fn a_perfect_score_still_has_an_interval() {
        let score = results([0, 0, 0, 0, 100]).score();
        assert!(score.high > 0.999_999 && (0.97..0.99).contains(&score.low), "{score:?}");
        assert_eq!(results([0; 5]).score().low.total_cmp(&0.0), std::cmp::Ordering::Equal);
    }

    #[test]
    fn intervals_are_wide_for_few_games_and_never_leave_the_scale() {
        let Interval { low, middle, high } = Interval::wilson(1.0, 2.0);
        assert!((middle - 1.0).abs() < 1e-9 && low < 0.4 && (high - 1.0).abs() < 1e-9);
        let Interval { low, high, .. } = Interval::wilson(0.5, 100.0);
        assert!((low - 0.4038).abs() < 1e-3 && (high - 0.5962).abs() < 1e-3);
        assert_eq!(Interval::wilson(0.0, 0.0), Interval { low: 0.0, middle: 0.0, high: 1.0 });
    }

    #[test]
    fn elo_and_score_are_inverse() {
        for elo in [-300.0, -1.0, 0.0, 12.5, 400.0] {
            assert!((elo_of_score(score_of_elo(elo)) - elo).abs() < 1e-9);
        }
        assert!(elo_of_score(1.0).is_infinite());
    }

    #[test]
    fn a_test_accepts_the_stronger_and_rejects_the_equal() {
        let sprt = Sprt { elo0: 0.0, elo1: 50.0 };
        assert_eq!(sprt.outcome(&results([5, 20, 60, 60, 55])), Some(SprtOutcome::Accepted));
        assert_eq!(sprt.outcome(&results([60, 100, 180, 100, 60])), Some(SprtOutcome::Rejected));
        assert_eq!(sprt.outcome(&results([1, 1, 2, 2, 1])), None);
        assert_eq!(sprt.outcome(&PairResults::default()), None);
    }
}
