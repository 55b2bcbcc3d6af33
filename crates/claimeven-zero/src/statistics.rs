//! Statistics of results: Elo differences, intervals and the sequential test.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The results of pairs of games; both games of a pair start from one opening, and each player
/// moves first in one of them.
///
/// The two games of a pair are not independent, so intervals are computed over pairs: a pair has
/// 0, 1/2, 1, 3/2 or 2 points for the player (*pentanomial* statistics).
///
/// ```
/// use claimeven_zero::{PairResults, Sprt, SprtOutcome};
///
/// let results = PairResults { counts: [5, 20, 60, 60, 55] };
/// println!("Elo {:.0}", results.elo().estimate);
/// let sprt = Sprt::new(0.0, 50.0);
/// assert_eq!(sprt.outcome(&results), Some(SprtOutcome::Accepted));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    pub fn score(&self) -> Interval {
        self.score_at(Z95)
    }

    /// The mean score of a game with the interval of this many standard errors.
    ///
    /// It is the Wilson interval of the number of independent games without draws that has the same
    /// variance, so that even a score of 0 or 1 has an interval.
    pub fn score_at(&self, z: f64) -> Interval {
        let (mean, variance) = self.moments();
        let pairs = self.pairs() as f64;
        let games =
            if variance > 0.0 { pairs * mean * (1.0 - mean) / variance } else { 2.0 * pairs };
        Interval::wilson_at(mean, games, z)
    }

    /// The Elo difference between the player and its opponent.
    pub fn elo(&self) -> Interval {
        self.score().map(elo_of_score)
    }

    /// The likelihood of superiority: the probability that the player is the stronger one, with
    /// even odds before the first game, by the normal approximation.
    ///
    /// The variance is that of pairs around one half. Over single games, this is the customary
    /// `(won - lost) / sqrt(won + lost)` standard errors, and a few wins are no certainty.
    pub fn superiority(&self) -> f64 {
        let leads =
            || (-2..=2).zip(self.counts).map(|(lead, count)| (f64::from(lead), count as f64));
        let sum: f64 = leads().map(|(lead, count)| count * lead).sum();
        let squares: f64 = leads().map(|(lead, count)| count * lead * lead).sum();
        let z = if squares > 0.0 { sum / squares.sqrt() } else { 0.0 };
        if z >= 0.0 { 1.0 - upper_tail(z.min(30.0)) } else { upper_tail((-z).min(30.0)) }
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "self-explanatory")]
pub struct Interval {
    pub low: f64,
    /// The estimate.
    pub estimate: f64,
    pub high: f64,
}

impl Interval {
    /// A share of `count` cases with its 95 % Wilson score interval, which is 0 to 1 without cases.
    ///
    /// ```
    /// use claimeven_zero::Interval;
    ///
    /// let share = Interval::wilson(0.8, 10.0);
    /// assert_eq!(format!("{:.3} to {:.3}", share.low, share.high), "0.490 to 0.943");
    /// ```
    pub fn wilson(share: f64, count: f64) -> Interval {
        Interval::wilson_at(share, count, Z95)
    }

    /// A share of `count` cases with its Wilson score interval of this many standard errors.
    pub fn wilson_at(share: f64, count: f64, z: f64) -> Interval {
        if count <= 0.0 {
            return Interval { low: 0.0, estimate: share, high: 1.0 };
        }
        let scale = 1.0 + z * z / count;
        let centre = (share + z * z / (2.0 * count)) / scale;
        let spread = share * (1.0 - share) / count + z * z / (4.0 * count * count);
        let margin = z * spread.sqrt() / scale;
        // Rounding must not push an end past the share itself.
        Interval {
            low: (centre - margin).clamp(0.0, share),
            estimate: share,
            high: (centre + margin).clamp(share, 1.0),
        }
    }

    /// A number that is known exactly.
    pub fn exactly(number: f64) -> Interval {
        Interval { low: number, estimate: number, high: number }
    }

    /// The share of `count` in `of` cases.
    pub fn of_share(count: u64, of: u64) -> Interval {
        Interval::wilson(if of == 0 { 0.0 } else { count as f64 / of as f64 }, of as f64)
    }

    /// The mean of numbers, by the normal approximation.
    pub fn of_mean(numbers: &[f64]) -> Interval {
        let n = numbers.len().max(1) as f64;
        let estimate = numbers.iter().sum::<f64>() / n;
        let squares: f64 = numbers.iter().map(|number| (number - estimate).powi(2)).sum();
        let margin = if n > 1.0 { Z95 * (squares / (n - 1.0) / n).sqrt() } else { f64::INFINITY };
        Interval { low: estimate - margin, estimate, high: estimate + margin }
    }

    /// The geometric mean of factors.
    pub fn of_factors(factors: &[f64]) -> Interval {
        let logarithms: Vec<f64> = factors.iter().map(|factor| factor.ln()).collect();
        Interval::of_mean(&logarithms).map(f64::exp)
    }

    /// The interval mapped by a monotonic function.
    pub fn map(self, f: impl Fn(f64) -> f64) -> Interval {
        Interval { low: f(self.low), estimate: f(self.estimate), high: f(self.high) }
    }
}

/// A sequential probability ratio test between two Elo differences.
///
/// ```
/// use claimeven_zero::{PairResults, Sprt, SprtOutcome};
///
/// // Is the new version stronger, or at most 10 Elo weaker?
/// let sprt = Sprt::new(-10.0, 0.0);
/// let [lower, upper] = sprt.bounds();
/// let results = PairResults { counts: [300, 100, 100, 100, 10] };
/// assert!(sprt.llr(&results) < lower);
/// assert_eq!(sprt.outcome(&results), Some(SprtOutcome::Rejected));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sprt {
    /// The Elo difference of the null hypothesis.
    pub elo0: f64,
    /// The Elo difference of the alternative hypothesis, greater than `elo0`.
    pub elo1: f64,
    /// The probability of accepting the alternative where the null hypothesis is true.
    pub alpha: f64,
    /// The probability of accepting the null hypothesis where the alternative is true.
    pub beta: f64,
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
    /// A test with error probabilities of 5 %.
    pub const fn new(elo0: f64, elo1: f64) -> Sprt {
        Sprt { elo0, elo1, alpha: 0.05, beta: 0.05 }
    }

    /// The log-likelihood ratios at which the null hypothesis and the alternative are accepted
    /// (Wald).
    pub fn bounds(self) -> [f64; 2] {
        [(self.beta / (1.0 - self.alpha)).ln(), ((1.0 - self.beta) / self.alpha).ln()]
    }

    /// The log-likelihood ratio of the results.
    pub fn llr(self, results: &PairResults) -> f64 {
        results.log_likelihood_ratio(self.elo0, self.elo1)
    }

    /// The outcome, if the results decide the test.
    pub fn outcome(self, results: &PairResults) -> Option<SprtOutcome> {
        let [lower, upper] = self.bounds();
        match self.llr(results) {
            llr if llr >= upper => Some(SprtOutcome::Accepted),
            llr if llr <= lower => Some(SprtOutcome::Rejected),
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

/// The standard errors on either side of a 95 % interval.
pub const Z95: f64 = 1.959_963_984_540_054;

/// The standard errors on either side of each of several intervals that hold simultaneously with 95
/// % confidence (Bonferroni).
///
/// ```
/// use claimeven_zero::simultaneous_z;
///
/// assert!((simultaneous_z(1) - 1.96).abs() < 1e-3);
/// assert!((simultaneous_z(10) - 2.807).abs() < 1e-3);
/// ```
pub fn simultaneous_z(intervals: u64) -> f64 {
    normal_quantile(1.0 - 0.025 / intervals.max(1) as f64)
}

/// The quantile of the standard normal distribution for a probability of at least one half, by
/// bisection.
fn normal_quantile(probability: f64) -> f64 {
    let (mut low, mut high) = (0.0, 20.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if upper_tail(middle) > 1.0 - probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// The probability that a standard normal variable exceeds `z`, which is not negative: a series
/// near zero, Laplace's continued fraction beyond.
fn upper_tail(z: f64) -> f64 {
    let density = (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
    if z < 2.5 {
        let terms = (0..60).scan(z, |term, k| {
            let this = *term;
            *term *= z * z / f64::from(2 * k + 3);
            Some(this)
        });
        return 0.5 - density * terms.sum::<f64>();
    }
    density / (1..60).rev().fold(z, |rest, k| z + f64::from(k) / rest)
}

/// The expected score of a player with this Elo advantage.
pub fn score_of_elo(elo: f64) -> f64 {
    1.0 / (1.0 + 10_f64.powf(-elo / 400.0))
}

/// The Elo advantage of a player with this expected score; infinite for 0 and 1.
pub fn elo_of_score(score: f64) -> f64 {
    // In this form, an even score gives 0 and not -0.
    400.0 * (score / (1.0 - score)).log10()
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
        assert!(elo.estimate.abs() < 1e-9);
        assert!((elo.low + elo.high).abs() < 1e-9 && elo.high > 0.0);
    }

    #[test]
    fn a_score_of_75_percent_is_191_elo() {
        let elo = results([0, 0, 50, 0, 50]).elo();
        assert!((elo.estimate - 190.85).abs() < 0.01, "{elo:?}");
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
        let Interval { low, estimate, high } = Interval::wilson(1.0, 2.0);
        assert!((estimate - 1.0).abs() < 1e-9 && low < 0.4 && (high - 1.0).abs() < 1e-9);
        let Interval { low, high, .. } = Interval::wilson(0.5, 100.0);
        assert!((low - 0.4038).abs() < 1e-3 && (high - 0.5962).abs() < 1e-3);
        assert_eq!(Interval::wilson(0.0, 0.0), Interval { low: 0.0, estimate: 0.0, high: 1.0 });
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
        let sprt = Sprt::new(0.0, 50.0);
        assert_eq!(sprt.outcome(&results([5, 20, 60, 60, 55])), Some(SprtOutcome::Accepted));
        assert_eq!(sprt.outcome(&results([60, 100, 180, 100, 60])), Some(SprtOutcome::Rejected));
        assert_eq!(sprt.outcome(&results([1, 1, 2, 2, 1])), None);
        assert_eq!(sprt.outcome(&PairResults::default()), None);
    }

    #[test]
    fn the_bounds_of_a_test_match_wald() {
        let [lower, upper] = Sprt::new(0.0, 5.0).bounds();
        assert!((upper - 2.944).abs() < 1e-3 && (lower + 2.944).abs() < 1e-3);
        let strict = Sprt { alpha: 0.01, beta: 0.1, ..Sprt::new(0.0, 5.0) };
        let [lower, upper] = strict.bounds();
        assert!((upper - 90_f64.ln()).abs() < 1e-9 && (lower - (0.1_f64 / 0.99).ln()).abs() < 1e-9);
    }

    #[test]
    fn superiority_matches_the_normal_distribution() {
        assert!((results([10, 20, 40, 20, 10]).superiority() - 0.5).abs() < 1e-9);
        assert!((results([0; 5]).superiority() - 0.5).abs() < 1e-9);
        // A mean of 0.6 and a variance of 0.05 around one half, over 100 pairs.
        let lead = results([0, 0, 80, 0, 20]);
        let z = 0.1 / (0.05_f64 / 100.0).sqrt();
        assert!((lead.superiority() - (1.0 - upper_tail(z))).abs() < 1e-9, "{z}");
        // Five pairs of wins are as many standard errors as five games won: the root of five.
        let five = results([0, 0, 0, 0, 5]).superiority();
        assert!((five - (1.0 - upper_tail(5_f64.sqrt()))).abs() < 1e-9, "{five}");
        assert!((results([5, 0, 0, 0, 0]).superiority() - (1.0 - five)).abs() < 1e-9);
        // One pair says little.
        assert!((results([0, 0, 0, 1, 0]).superiority() - 0.841).abs() < 1e-3);
    }

    #[test]
    fn quantiles_match_the_tables() {
        for (tail, z) in [
            (0.5, 0.0),
            (0.1, 1.281_552),
            (0.025, 1.959_964),
            (0.005, 2.575_829),
            (1e-6, 4.753_424),
        ] {
            assert!((normal_quantile(1.0 - tail) - z).abs() < 1e-5, "{tail}");
        }
        // Both formulas agree where one takes over.
        assert!((upper_tail(2.5 - 1e-9) - upper_tail(2.5)).abs() < 1e-9);
    }

    #[test]
    fn intervals_match_known_values() {
        // Wilson's interval of 8 in 10 is 0.490 to 0.943.
        let share = Interval::of_share(8, 10);
        assert!((share.low - 0.490).abs() < 1e-3 && (share.high - 0.943).abs() < 1e-3, "{share:?}");
        assert!(Interval::of_share(0, 10).low.abs() < 1e-12);
        // Mean 2, standard deviation 1, of four.
        let mean = Interval::of_mean(&[1.0, 1.0, 3.0, 3.0]);
        assert!((mean.high - (2.0 + Z95 * (4.0_f64 / 3.0 / 4.0).sqrt())).abs() < 1e-9, "{mean:?}");
        let factor = Interval::of_factors(&[2.0, 8.0]);
        assert!((factor.estimate - 4.0).abs() < 1e-9 && factor.low < 2.0, "{factor:?}");
        assert!(Interval::of_mean(&[1.0]).low.is_infinite());
    }
}
