//! An estimate of the remaining time.

use std::f64::consts::LN_2;
use std::time::Duration;

use claimeven_game::Setup;

use crate::counter::PlyReport;

/// An estimate of the time for the plies after the last report up to ply `plies`; `None` as long as
/// too little is known about the board and the machine.
///
/// The number of profiles of each ply is known. The nodes per profile grow by a factor that changes
/// slowly from ply to ply, so its logarithm is extrapolated linearly, and the remaining nodes take
/// as long as those of the last two plies. On 7x6, the remaining nodes are estimated within a
/// factor of 2.5 from ply 9 on and within a quarter from ply 20 on. Nodes of late plies take up to
/// twice as long as those of early ones.
pub fn time_left(setup: Setup, reports: &[PlyReport], plies: u32) -> Option<Duration> {
    let plies = plies.min(setup.cells()) as usize;
    let last = reports.len().checked_sub(1)?;
    if last >= plies {
        return Some(Duration::ZERO);
    }
    let profiles = profiles(setup);
    let nodes_per_profile =
        |ply: usize| (reports[ply].nodes > 0).then(|| reports[ply].nodes as f64 / profiles[ply]);
    // Growth per ply over two plies, because even and odd plies differ.
    let earlier = last.checked_sub(4).filter(|&ply| ply >= FIRST_PLY)?;
    let [first, middle, now] =
        [nodes_per_profile(earlier)?, nodes_per_profile(last - 2)?, nodes_per_profile(last)?];
    let (growth_before, growth) = ((middle / first).ln() / 2.0, (now / middle).ln() / 2.0);
    let rise = ((growth - growth_before) / 2.0).max(0.0);

    let recent = &reports[last - 1..];
    let seconds: f64 = recent.iter().map(|ply| ply.time.as_secs_f64()).sum();
    if seconds < MIN_SECONDS {
        return None;
    }
    let nodes: f64 = recent.iter().map(|ply| ply.nodes as f64).sum();

    let (mut size, mut remaining_nodes) = (now.ln(), 0.0);
    for (step, ply) in (1..).zip(last + 1..=plies) {
        // `growth` was measured around the previous ply. One more variable at most about doubles a
        // diagram.
        size += (growth + rise * (f64::from(step) + 0.5)).min(LN_2);
        remaining_nodes += profiles[ply] * size.exp();
    }
    Duration::try_from_secs_f64(remaining_nodes * seconds / nodes).ok()
}

/// Earlier plies do not predict later ones.
const FIRST_PLY: usize = 4;

/// Shorter times are dominated by the start of the threads.
const MIN_SECONDS: f64 = 0.02;

/// The number of profiles by ply.
fn profiles(setup: Setup) -> Vec<f64> {
    let (cols, rows) = (usize::from(setup.cols()), usize::from(setup.rows()));
    let mut counts = vec![1.0];
    for _ in 0..cols {
        let mut wider = vec![0.0; counts.len() + rows];
        for (discs, count) in counts.iter().enumerate() {
            for height in 0..=rows {
                wider[discs + height] += count;
            }
        }
        counts = wider;
    }
    counts
}

#[cfg(test)]
mod tests {
    use claimeven_game::PlyCount;

    use super::*;

    /// The nodes of each ply of 7x6.
    const NODES: [u64; 43] = [
        0,
        7,
        77,
        406,
        1750,
        5717,
        17_598,
        44_418,
        110_604,
        235_219,
        502_425,
        931_025,
        1_748_177,
        2_893_592,
        4_935_591,
        7_450_050,
        11_791_528,
        16_574_466,
        24_701_606,
        32_912_825,
        46_646_048,
        59_658_189,
        80_762_006,
        99_743_531,
        128_848_596,
        153_630_546,
        188_306_353,
        215_209_978,
        247_982_998,
        268_526_911,
        288_344_640,
        292_349_871,
        289_127_422,
        269_247_802,
        239_973_647,
        199_483_198,
        155_373_700,
        110_637_650,
        71_210_419,
        39_996_498,
        18_868_791,
        6_866_622,
        0,
    ];

    fn reports() -> Vec<PlyReport> {
        (0..)
            .zip(NODES)
            .map(|(ply, nodes)| PlyReport {
                count: PlyCount { ply, positions: 1, finished: 0 },
                nodes,
                memory: 0,
                time: Duration::from_micros(nodes),
            })
            .collect()
    }

    #[test]
    fn profiles_are_the_ways_to_fill_columns() {
        let profiles = profiles(Setup::STANDARD);
        assert!((profiles.iter().sum::<f64>() - 7_f64.powi(7)).abs() < 0.5);
        assert!((profiles[2] - 28.0).abs() < 0.5 && (profiles[42] - 1.0).abs() < 0.5);
    }

    #[test]
    fn estimates_become_more_precise() {
        let reports = reports();
        let ratio = |ply: usize| {
            let left = time_left(Setup::STANDARD, &reports[..=ply], u32::MAX).unwrap();
            let truth: u64 = NODES[ply + 1..].iter().sum();
            left.as_secs_f64() / Duration::from_micros(truth).as_secs_f64()
        };
        for ply in 9..=40 {
            let tolerance = if ply < 20 { 2.5 } else { 1.25 };
            let ratio = ratio(ply);
            assert!((1.0 / tolerance..tolerance).contains(&ratio), "ply {ply}: {ratio}");
        }
    }

    #[test]
    fn there_is_no_estimate_from_few_or_quick_plies() {
        let reports = reports();
        let left = |plies: usize| time_left(Setup::STANDARD, &reports[..plies], u32::MAX);
        assert_eq!((left(0), left(1), left(8)), (None, None, None));
        assert_eq!(left(43), Some(Duration::ZERO));
        assert_eq!(time_left(Setup::STANDARD, &reports[..12], 11), Some(Duration::ZERO));
        let quick: Vec<PlyReport> =
            reports.iter().map(|&ply| PlyReport { time: Duration::ZERO, ..ply }).collect();
        assert_eq!(time_left(Setup::STANDARD, &quick[..20], u32::MAX), None);
    }
}
