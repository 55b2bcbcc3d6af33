//! Elo ratings of several players from the games between them.

use claimeven_zero::{Interval, PairResults, Z95, score_of_elo};

/// The score of two players against each other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PairScore {
    /// The players, by their indices.
    pub players: [usize; 2],
    /// The points of the first player: 1 for a win, 1/2 for a draw.
    pub points: f64,
    /// The number of games between them.
    pub games: f64,
    /// The results of those games that come in pairs from one opening, for the first player.
    pub pairs: PairResults,
}

/// Maximum-likelihood ratings with their 95 % confidence intervals.
///
/// This is the Bradley-Terry model: the expected score of a player that is `d` Elo stronger is
/// `1 / (1 + 10^(-d / 400))`, and a draw is half a win. As a prior, each player has one drawn game
/// against a virtual player of average strength. It has little weight once there are games, and keeps
/// the ratings of players finite who won or lost all games. Players who never met through any chain
/// of games must not be compared; [`rating_groups`] tells them apart.
///
/// Ratings are relative to the anchor, a player by its index with its fixed rating; without an anchor,
/// their mean is 0. The intervals are relative in the same way, so the anchor's is a point. They
/// come from the curvature of the likelihood, scaled by the dispersion of the pairs of games: two
/// games from one opening are not independent, and draws make results less uncertain. Repeated
/// games still make intervals too narrow.
///
/// ```
/// use claimeven_arena::{PairScore, ratings};
///
/// let scores = [PairScore { players: [0, 1], points: 75.0, games: 100.0, ..Default::default() }];
/// let elo = ratings(2, &scores, Some((1, 1000.0)));
/// assert!((elo[0].estimate - 1190.0).abs() < 10.0, "{elo:?}");
/// ```
pub fn ratings(
    players: usize,
    scores: &[PairScore],
    anchor: Option<(usize, f64)>,
) -> Vec<Interval> {
    let (strengths, covariance) = max_likelihood_strengths(players, scores);
    let dispersion = dispersion(&strengths, scores);
    let mean = strengths.iter().sum::<f64>() / players.max(1) as f64;
    (0..players)
        .map(|player| {
            // A rating is a difference: the player's strength minus a weighted mean of strengths.
            let mut weights = match anchor {
                Some((anchor, _)) => unit(players, anchor, -1.0),
                None => vec![-1.0 / players as f64; players],
            };
            weights[player] += 1.0;
            let variance: f64 =
                (0..players).map(|row| weights[row] * dot(&covariance[row], &weights)).sum();
            let (zero, elo) = anchor.map_or((mean, 0.0), |(anchor, elo)| (strengths[anchor], elo));
            let estimate = elo + (strengths[player] - zero) / ELO;
            let margin = Z95 * (dispersion * variance.max(0.0)).sqrt() / ELO;
            Interval { low: estimate - margin, estimate, high: estimate + margin }
        })
        .collect()
}

/// The group of each player, from 0: those who have met through a chain of games are in one.
///
/// ```
/// use claimeven_arena::{PairScore, rating_groups};
///
/// let games = [PairScore { players: [0, 2], points: 1.0, games: 2.0, ..Default::default() }];
/// // Player 1 has not met the others.
/// assert_eq!(rating_groups(3, &games), [0, 1, 0]);
/// ```
pub fn rating_groups(players: usize, scores: &[PairScore]) -> Vec<usize> {
    let mut groups: Vec<usize> = (0..players).collect();
    for &PairScore { players: [a, b], .. } in scores {
        let (kept, gone) = (groups[a].min(groups[b]), groups[a].max(groups[b]));
        for group in groups.iter_mut().filter(|group| **group == gone) {
            *group = kept;
        }
    }
    // Numbered in the order of their first players.
    let mut names = groups.clone();
    names.sort_unstable();
    names.dedup();
    groups
        .iter()
        .map(|group| names.binary_search(group).expect("every group has a number"))
        .collect()
}

/// How much more the points of pairs vary than those of two independent games without draws
/// (quasi-likelihood); 1 without pairs. As a prior, independence has the weight of four pairs.
fn dispersion(strengths: &[f64], scores: &[PairScore]) -> f64 {
    const PRIOR: f64 = 4.0 * 0.5;
    let (mut observed, mut expected) = (PRIOR, PRIOR);
    for PairScore { players: [a, b], pairs, .. } in scores {
        let score = score_of_elo((strengths[*a] - strengths[*b]) / ELO);
        for (half_points, &count) in pairs.counts.iter().enumerate() {
            let surplus = half_points as f64 / 2.0 - 2.0 * score;
            observed += count as f64 * surplus * surplus;
        }
        expected += pairs.pairs() as f64 * 2.0 * score * (1.0 - score);
    }
    observed / expected
}

/// One Elo in log-odds, the unit of strengths in the computation.
const ELO: f64 = std::f64::consts::LN_10 / 400.0;

/// Newton's method stops at a step smaller than this, about a millionth of an Elo point.
const SMALL: f64 = 1e-8;

/// The maximum-likelihood strengths and their covariance matrix.
///
/// The log-likelihood is concave, so damped Newton steps converge to its only maximum.
fn max_likelihood_strengths(players: usize, scores: &[PairScore]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let mut strengths = vec![0.0; players];
    loop {
        let (gradient, curvature) = derivatives(&strengths, scores);
        let inverse = inverse(curvature);
        let step: Vec<f64> = inverse.iter().map(|row| dot(row, &gradient)).collect();
        let largest = step.iter().fold(0.0_f64, |largest, part| largest.max(part.abs()));
        if largest < SMALL {
            return (strengths, inverse);
        }
        let here = log_likelihood(&strengths, scores);
        let mut share = 1.0;
        let next = loop {
            let next: Vec<f64> = strengths
                .iter()
                .zip(&step)
                .map(|(strength, part)| strength + share * part)
                .collect();
            // At the maximum, the likelihood is flat within floating-point accuracy.
            if log_likelihood(&next, scores) > here {
                break next;
            }
            share /= 2.0;
            if share * largest < SMALL {
                return (strengths, inverse);
            }
        };
        strengths = next;
    }
}

fn log_likelihood(strengths: &[f64], scores: &[PairScore]) -> f64 {
    // ln of the odds' share: -ln(1 + e^-d), without overflow for any d.
    let ln_share = |d: f64| d.min(0.0) - (-d.abs()).exp().ln_1p();
    let prior = strengths.iter().map(|&d| 0.5 * (ln_share(d) + ln_share(-d)));
    let played = scores.iter().map(|&PairScore { players: [a, b], points, games, .. }| {
        let d = strengths[a] - strengths[b];
        points * ln_share(d) + (games - points) * ln_share(-d)
    });
    prior.chain(played).sum()
}

/// The gradient of the log-likelihood, and its negated Hessian.
fn derivatives(strengths: &[f64], scores: &[PairScore]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let players = strengths.len();
    let mut gradient = vec![0.0; players];
    let mut curvature = vec![vec![0.0; players]; players];
    for (player, &strength) in strengths.iter().enumerate() {
        let expected = score_of_elo(strength / ELO);
        gradient[player] += 0.5 - expected;
        curvature[player][player] += expected * (1.0 - expected);
    }
    for &PairScore { players: [a, b], points, games, .. } in scores {
        let expected = score_of_elo((strengths[a] - strengths[b]) / ELO);
        let surplus = points - games * expected;
        gradient[a] += surplus;
        gradient[b] -= surplus;
        let weight = games * expected * (1.0 - expected);
        curvature[a][a] += weight;
        curvature[b][b] += weight;
        curvature[a][b] -= weight;
        curvature[b][a] -= weight;
    }
    (gradient, curvature)
}

/// The inverse of a symmetric positive definite matrix by Gauss-Jordan elimination, which needs no
/// pivoting for such a matrix.
fn inverse(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let size = matrix.len();
    let mut inverse: Vec<Vec<f64>> = (0..size).map(|row| unit(size, row, 1.0)).collect();
    for pivot in 0..size {
        let scale = matrix[pivot][pivot];
        for part in matrix[pivot].iter_mut().chain(&mut inverse[pivot]) {
            *part /= scale;
        }
        let (pivot_row, pivot_inverse) = (matrix[pivot].clone(), inverse[pivot].clone());
        for row in (0..size).filter(|&row| row != pivot) {
            let factor = matrix[row][pivot];
            for (part, pivot_part) in matrix[row].iter_mut().zip(&pivot_row) {
                *part -= factor * pivot_part;
            }
            for (part, pivot_part) in inverse[row].iter_mut().zip(&pivot_inverse) {
                *part -= factor * pivot_part;
            }
        }
    }
    inverse
}

fn unit(size: usize, place: usize, value: f64) -> Vec<f64> {
    let mut vector = vec![0.0; size];
    vector[place] = value;
    vector
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use claimeven_zero::elo_of_score;

    fn score(a: usize, b: usize, points: f64, games: f64) -> PairScore {
        PairScore { players: [a, b], points, games, ..PairScore::default() }
    }

    #[test]
    fn a_score_of_75_percent_is_191_elo() {
        // Enough games for the prior not to matter.
        let [zero, better] = &ratings(2, &[score(1, 0, 75e4, 1e6)], Some((0, 0.0)))[..] else {
            panic!()
        };
        assert!(
            [zero.low, zero.estimate, zero.high].iter().all(|elo| elo.abs() < 1e-9),
            "{zero:?}"
        );
        assert!((better.estimate - elo_of_score(0.75)).abs() < 0.01, "{better:?}");
        // The standard error of log-odds is 1 / sqrt(n p (1 - p)).
        let margin = Z95 / (1e6_f64 * 0.75 * 0.25).sqrt() / ELO;
        assert!((better.high - better.estimate - margin).abs() < 0.01, "{better:?}");
    }

    #[test]
    fn a_perfect_score_has_the_rating_that_solves_its_equation() {
        // 20 (1 - P(d)) = P(d / 2) - 1/2: the games balance the drawn games of the prior.
        let ratings = ratings(2, &[score(0, 1, 20.0, 20.0)], Some((1, 100.0)));
        let d = ratings[0].estimate - 100.0;
        let rest = 20.0 * (1.0 - score_of_elo(d)) - (score_of_elo(d / 2.0) - 0.5);
        assert!(rest.abs() < 1e-6, "{d}");
        assert!((600.0..800.0).contains(&d) && ratings[0].low < ratings[0].estimate, "{ratings:?}");
    }

    #[test]
    fn strength_is_transitive() {
        // 0 beats 1 and 1 beats 2 by 3 : 1, so 0 is twice as far from 2, which it never met.
        let games = [score(0, 1, 75e4, 1e6), score(1, 2, 75e4, 1e6)];
        let ratings = ratings(3, &games, Some((2, 0.0)));
        assert!((ratings[0].estimate - 2.0 * elo_of_score(0.75)).abs() < 0.01, "{ratings:?}");
        // Variances of differences add up.
        let [far, near] = [0, 1].map(|player| ratings[player].high - ratings[player].estimate);
        assert!((far / near - std::f64::consts::SQRT_2).abs() < 1e-3, "{ratings:?}");
    }

    #[test]
    fn without_an_anchor_the_mean_is_zero() {
        let ratings = ratings(3, &[score(0, 1, 6.0, 10.0), score(2, 1, 3.5, 10.0)], None);
        assert!(ratings.iter().map(|rating| rating.estimate).sum::<f64>().abs() < 1e-6);
        assert!(
            ratings[0].estimate > ratings[1].estimate && ratings[1].estimate > ratings[2].estimate
        );
    }

    #[test]
    fn players_who_never_met_are_in_different_groups() {
        let games = [score(4, 1, 5.0, 10.0), score(2, 3, 10.0, 10.0), score(0, 4, 1.0, 2.0)];
        assert_eq!(rating_groups(6, &games), [0, 0, 1, 1, 0, 2]);
        assert_eq!(rating_groups(2, &[]), [0, 1]);
        assert!(super::ratings(0, &[], None).is_empty() && rating_groups(0, &[]).is_empty());
    }

    #[test]
    fn intervals_follow_the_dispersion_of_pairs() {
        let width = |counts: [u64; 5]| {
            let pairs = PairResults { counts };
            let (games, points) = (2000.0, 2.0 * 1000.0 * pairs.score().estimate);
            let elo =
                ratings(2, &[PairScore { players: [0, 1], points, games, pairs }], Some((1, 0.0)));
            elo[0].high - elo[0].low
        };
        let unpaired = {
            let elo = ratings(2, &[score(0, 1, 1000.0, 2000.0)], Some((1, 0.0)));
            elo[0].high - elo[0].low
        };
        // Two independent games without draws: a quarter, a half, a quarter.
        assert!((width([250, 0, 500, 0, 250]) / unpaired - 1.0).abs() < 0.01);
        // Both games of a pair always have the same winner: twice the variance.
        let ratio: f64 = width([500, 0, 0, 0, 500]) / unpaired;
        assert!((ratio - std::f64::consts::SQRT_2).abs() < 0.01, "{ratio}");
        // Every pair is shared: hardly any variance.
        assert!(width([0, 0, 1000, 0, 0]) < 0.1 * unpaired);
    }

    #[test]
    fn a_long_chain_of_perfect_scores_converges() {
        let games: Vec<PairScore> = (0..30)
            .flat_map(|low| (low + 1..30).map(move |high| score(high, low, 1000.0, 1000.0)))
            .collect();
        let ratings = ratings(30, &games, Some((0, 0.0)));
        assert!(ratings.windows(2).all(|pair| pair[0].estimate < pair[1].estimate), "{ratings:?}");
    }
}
