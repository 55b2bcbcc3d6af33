//! Claims that single searches decide.

use std::time::Duration;

use claimeven_game::{Position, Setup};
use claimeven_search::{Heuristic, SearchStats};

use super::ExperimentError;
use super::finding::{
    Count, Figure, Finding, Line, LinePanel, Plot, Table, TableCell, Unit, Verdict, percent,
    thousands, time, times, widened,
};
use super::lab::{Lab, agent};
use crate::roster::AgentSpec;
use claimeven_zero::{Interval, simultaneous_z};

/// Times of the older projects on the empty board in seconds, by depth: minimax and alpha-beta.
/// They were taken on other machines, in Python and Java.
const REFERENCE: [(u32, [f64; 2]); 2] = [(6, [7.7, 0.73]), (7, [46.6, 5.9])];

fn reference(depth: u32) -> Option<[f64; 2]> {
    REFERENCE.iter().find(|(known, _)| *known == depth).map(|(_, seconds)| *seconds)
}

pub(super) fn same_value(lab: &Lab) -> Result<Finding, ExperimentError> {
    let deepest: u32 = lab.full_or_quick(6, 3);
    let positions = lab.positions(lab.full_or_quick(300, 4), 0..=30)?;
    let evaluations: Vec<&str> = Heuristic::names().collect();
    lab.add_steps(positions.len() as u64 * u64::from(deepest));
    let mut rows = Vec::new();
    let (mut differences, mut total) = (0, 0);
    let mut differs = vec![false; positions.len()];
    for depth in 1..=deepest {
        let counted = lab.for_each(&positions, |_, position| {
            let mut counts = [0_u64; 4];
            for evaluation in &evaluations {
                for ties in ["centre", "first"] {
                    let decide = |prefix: &str| {
                        let text = format!("{prefix}depth={depth},eval={evaluation},ties={ties}");
                        let mut agent = agent(&text).build(Setup::STANDARD, 0)?;
                        agent.decide(position, &lab.limits())
                    };
                    let minimax = decide("minimax:")?;
                    for other in ["alphabeta:", "mtdf:table=1,"] {
                        let other = decide(other)?;
                        counts[0] += 1;
                        counts[1] += u64::from(other.value != minimax.value);
                        counts[2] += u64::from(other.column != minimax.column);
                    }
                }
            }
            counts[3] = u64::from(counts[1] + counts[2] > 0);
            Ok(counts)
        })?;
        let mut sum = [0; 4];
        for (counts, differs) in counted.iter().zip(&mut differs) {
            *differs |= counts[3] > 0;
            for (sum, count) in sum.iter_mut().zip(counts) {
                *sum += count;
            }
        }
        rows.push(std::iter::once(u64::from(depth)).chain(sum).map(TableCell::Count).collect());
        total += sum[0];
        differences += sum[1] + sum[2];
    }
    let different_positions = differs.iter().filter(|&&differs| differs).count() as u64;
    Ok(Finding {
        run: format!(
            "`minimax`, `alphabeta` and `mtdf` on {} different positions of random games with 0 to 30 discs, \
             at depths 1 to {deepest}, with {} evaluations and two rules for equal moves.",
            positions.len(),
            evaluations.len()
        ),
        left_out:
            "Positions with more than 30 discs, depths beyond 6, other boards and rulesets; the property \
             tests of the searches include some of them."
                .to_owned(),
        commands: vec![
            "claimeven compare --agents minimax,alphabeta,mtdf --depths 1..6".to_owned(),
        ],
        measured: format!(
            "{differences} differences in value or move in {} comparisons. The comparisons of one \
             position are not independent; the share of positions with a difference is {}.",
            thousands(total),
            percent(Interval::of_share(different_positions, positions.len() as u64))
        ),
        verdict: judge_differences(different_positions, positions.len() as u64),
        because: match differences {
            0 => "there is no difference, as the theory of both searches predicts".to_owned(),
            _ => format!("there are {differences} differences"),
        },
        tables: vec![Table::new(
            "Results of alpha-beta and MTD(f) compared with those of minimax",
            &[
                "depth",
                "comparisons",
                "different values",
                "different moves",
                "positions with a difference",
            ],
            rows,
        )],
        figures: Vec::new(),
    })
}

/// A single difference is enough to contradict equality in part.
fn judge_differences(differences: u64, total: u64) -> Verdict {
    match differences {
        0 => Verdict::Holds,
        _ if 2 * differences < total => Verdict::HoldsInPart,
        _ => Verdict::DoesNotHold,
    }
}

/// The statistics and the time of a search.
#[derive(Clone, Copy)]
struct Search {
    stats: SearchStats,
    seconds: f64,
}

/// Has a player search a position several times; the time is the median.
fn measure(
    lab: &Lab,
    spec: &AgentSpec,
    position: &Position,
    runs: usize,
) -> Result<Search, ExperimentError> {
    let mut times: Vec<Duration> = Vec::new();
    let mut stats = SearchStats::default();
    for _ in 0..runs {
        let decision = spec.build(Setup::STANDARD, 0)?.decide(position, &lab.limits())?;
        lab.check_cancelled()?;
        times.push(decision.time);
        stats = decision.stats;
    }
    times.sort();
    // A clock with a low resolution must not make a factor infinite.
    Ok(Search { stats, seconds: times[runs / 2].as_secs_f64().max(1e-8) })
}

/// Two searches of one depth on the empty board, and how the first compares on many positions.
struct Measured {
    depth: u32,
    empty: [Search; 2],
    nodes: Interval,
    leaves: Interval,
    seconds: Interval,
    /// How the factor in nodes compares with that of the previous depth, position by position.
    growth: Option<Interval>,
}

/// Measures two kinds of search at some depths, one search at a time so that times are meaningful.
fn compare(
    lab: &Lab,
    kinds: [&str; 2],
    depths: impl Iterator<Item = u32>,
    positions: &[Position],
    runs: usize,
) -> Result<Vec<Measured>, ExperimentError> {
    let empty = Position::new(Setup::STANDARD);
    let mut measured = Vec::new();
    let mut below: Option<Vec<f64>> = None;
    for depth in depths {
        let specs = kinds.map(|kind| {
            let separator = if kind.contains(':') { ',' } else { ':' };
            agent(&format!("{kind}{separator}depth={depth}"))
        });
        let both = |position: &Position| {
            let searched = [
                measure(lab, &specs[0], position, runs)?,
                measure(lab, &specs[1], position, runs)?,
            ];
            lab.finish_steps(1);
            Ok::<_, ExperimentError>(searched)
        };
        let on_empty = both(&empty)?;
        let searched: Vec<[Search; 2]> = positions.iter().map(both).collect::<Result<_, _>>()?;
        let factors = |of: &dyn Fn(&Search) -> f64| -> Vec<f64> {
            searched.iter().map(|[a, b]| of(a) / of(b)).collect()
        };
        let factor = |of: &dyn Fn(&Search) -> f64| Interval::of_factors(&factors(of));
        let nodes = factors(&|search| search.stats.nodes as f64);
        let growth = below.map(|below| {
            let ratios: Vec<f64> =
                nodes.iter().zip(&below).map(|(here, below)| here / below).collect();
            Interval::of_factors(&ratios)
        });
        measured.push(Measured {
            depth,
            empty: on_empty,
            nodes: Interval::of_factors(&nodes),
            leaves: factor(&|search| search.stats.leaves.max(1) as f64),
            seconds: factor(&|search| search.seconds),
            growth,
        });
        below = Some(nodes);
    }
    Ok(measured)
}

pub(super) fn pruning(lab: &Lab) -> Result<Finding, ExperimentError> {
    let deepest = lab.full_or_quick(8, 3);
    let positions = lab.positions(lab.full_or_quick(60, 3), 0..=16)?;
    let runs = lab.full_or_quick(3, 1);
    lab.add_steps(u64::from(deepest) * (positions.len() as u64 + 1));
    let measured = compare(lab, ["minimax", "alphabeta"], 1..=deepest, &positions, runs)?;
    let rows = measured.iter().map(|row| {
        let [minimax, alphabeta] = row.empty;
        vec![
            TableCell::Count(row.depth.into()),
            TableCell::Count(minimax.stats.nodes),
            TableCell::Count(alphabeta.stats.nodes),
            TableCell::Factor(minimax.stats.nodes as f64 / alphabeta.stats.nodes as f64),
            TableCell::Seconds(minimax.seconds),
            TableCell::Seconds(alphabeta.seconds),
            TableCell::Factor(minimax.seconds / alphabeta.seconds),
            reference(row.depth).map_or(TableCell::Nothing, |[a, b]| TableCell::Factor(a / b)),
        ]
    });
    let many = measured.iter().map(|row| {
        vec![
            TableCell::Count(row.depth.into()),
            TableCell::FactorWithin(row.nodes),
            row.growth.map_or(TableCell::Nothing, TableCell::FactorWithin),
            TableCell::FactorWithin(row.seconds),
        ]
    });
    let last = measured.last().expect("at least one depth");
    let (verdict, because) = judge_pruning(&measured);
    let names = ["minimax", "alpha-beta"];
    let mut times_panel =
        empty_board_panel("time", Unit::Seconds, &measured, names, |search| search.seconds);
    times_panel.lines.extend(reference_lines(&measured, names));
    let nodes_panel = empty_board_panel("nodes", Unit::Count, &measured, names, |search| {
        search.stats.nodes as f64
    });
    Ok(Finding {
        run: format!(
            "`minimax` and `alphabeta` with `galli`, one thread, on the empty board and on {} \
             different positions of random games with 0 to 16 discs. Times are medians of {runs} runs. \
             The factors over the positions are geometric means.",
            positions.len()
        ),
        left_out:
            "Evaluations other than `galli`, orders of moves other than from the centre, and the \
                   times at depths below 4, which are only microseconds."
                .to_owned(),
        commands: vec![format!(
            "claimeven compare --agents minimax,alphabeta --depths 1..{deepest} --repeat {runs}"
        )],
        measured: format!(
            "At depth {} minimax takes {} and {}.",
            last.depth,
            times_within(last.nodes, "the nodes of alpha-beta"),
            times_within(last.seconds, "its time"),
        ),
        verdict,
        because,
        tables: vec![
            Table::new(
                "The empty board. The older projects took 7.7 s and 0.73 s at depth 6, 46.6 s and \
                 5.9 s at depth 7",
                &[
                    "depth",
                    "minimax nodes",
                    "alpha-beta nodes",
                    "factor",
                    "minimax time",
                    "alpha-beta time",
                    "factor",
                    "theirs",
                ],
                rows.collect(),
            ),
            Table::new(
                "Minimax against alpha-beta on many positions",
                &["depth", "factor in nodes", "relative to the previous depth", "factor in time"],
                many.collect(),
            ),
        ],
        figures: vec![Figure {
            name: "pruning".to_owned(),
            title: "Minimax and alpha-beta on the empty board".to_owned(),
            caption: "The vertical axes are logarithmic.".to_owned(),
            plot: Plot::Lines(vec![times_panel, nodes_panel]),
        }],
    })
}

/// A number of two searches on the empty board by depth.
fn empty_board_panel(
    title: &str,
    unit: Unit,
    measured: &[Measured],
    names: [&str; 2],
    number: fn(&Search) -> f64,
) -> LinePanel {
    let line = |kind: usize| {
        let point =
            |row: &Measured| (f64::from(row.depth), Interval::exactly(number(&row.empty[kind])));
        Line { name: names[kind].to_owned(), points: measured.iter().map(point).collect() }
    };
    LinePanel {
        title: title.to_owned(),
        x_label: "depth in plies".to_owned(),
        ticks: measured.iter().map(|row| (row.depth.into(), row.depth.to_string())).collect(),
        unit,
        logarithmic: true,
        lines: vec![line(0), line(1)],
    }
}

/// The times of the older projects at the depths that were measured.
fn reference_lines(measured: &[Measured], names: [&str; 2]) -> Vec<Line> {
    let is_measured = |depth: u32| measured.iter().any(|row| row.depth == depth);
    let line = |kind: usize| {
        let known = REFERENCE.iter().filter(|(depth, _)| is_measured(*depth));
        let point = |(depth, seconds): &(u32, [f64; 2])| {
            (f64::from(*depth), Interval::exactly(seconds[kind]))
        };
        Line { name: format!("{}, older", names[kind]), points: known.map(point).collect() }
    };
    [line(0), line(1)].into_iter().filter(|line| !line.points.is_empty()).collect()
}

/// From depth 2 on, where something can be pruned, nodes and time have to be saved, and more nodes
/// at each depth than at the previous one. Times below depth 4 are only microseconds and say
/// little.
fn judge_pruning(measured: &[Measured]) -> (Verdict, String) {
    let from = |depth| measured.iter().filter(move |row| row.depth >= depth);
    let nodes: Vec<Interval> = from(2).map(|row| row.nodes).collect();
    let seconds: Vec<Interval> = from(4).map(|row| row.seconds).collect();
    let growth: Vec<Interval> = from(2).filter_map(|row| row.growth).collect();
    let z = simultaneous_z((nodes.len() + seconds.len() + growth.len()) as u64);
    let count =
        |factors: &[Interval]| Count::above(1.0, factors.iter().map(|&factor| widened(factor, z)));
    let (saved, grows) = (count(&nodes).plus(count(&seconds)), count(&growth));
    let because = format!(
        "{}; of the factors in nodes compared with the previous depth, {}",
        saved.words("factors in nodes and time"),
        grows.words("ratios")
    );
    (saved.plus(grows).verdict(), because)
}

pub(super) fn patience(lab: &Lab) -> Result<Finding, ExperimentError> {
    let runs = lab.full_or_quick(5, 1);
    let searches =
        [("minimax", 4, lab.full_or_quick(8, 5)), ("alphabeta", 6, lab.full_or_quick(14, 7))];
    let empty = Position::new(Setup::STANDARD);
    let (mut rows, mut beyond) = (Vec::new(), Vec::new());
    for (index, (kind, last_reasonable, deepest)) in searches.into_iter().enumerate() {
        let depths = last_reasonable..=deepest;
        lab.add_steps(depths.clone().count() as u64);
        for depth in depths {
            let measured = measure(lab, &agent(&format!("{kind}:depth={depth}")), &empty, runs)?;
            lab.finish_steps(1);
            let theirs = reference(depth).map(|seconds| seconds[index]);
            rows.push(vec![
                format!("`{kind}`").into(),
                TableCell::Count(depth.into()),
                TableCell::Seconds(measured.seconds),
                theirs.map_or(TableCell::Nothing, TableCell::Seconds),
                theirs.map_or(TableCell::Nothing, |theirs| {
                    TableCell::Factor(theirs / measured.seconds)
                }),
            ]);
            if depth == last_reasonable + 1 {
                beyond.push(measured.seconds);
            }
        }
    }
    let [minimax, alphabeta] = [beyond[0], beyond[1]];
    let (verdict, because) = judge_patience([minimax, alphabeta]);
    Ok(Finding {
        run: format!(
            "One move on the empty board with `galli`, one thread, median of {runs} runs. A move \
             that takes more than a second counts as unreasonable."
        ),
        left_out:
            "Positions other than the empty board, and the languages and machines of the older \
                   projects."
                .to_owned(),
        commands: vec![
            format!("claimeven compare --agents minimax --depths 4..8 --repeat {runs}"),
            format!("claimeven compare --agents alphabeta --depths 6..14 --repeat {runs}"),
        ],
        measured: format!(
            "Minimax of depth 5 takes {}, alpha-beta of depth 7 {}.",
            time(minimax),
            time(alphabeta)
        ),
        verdict,
        because,
        tables: vec![Table::new(
            "Time of a move",
            &["player", "depth", "time", "older projects", "times as fast"],
            rows,
        )],
        figures: Vec::new(),
    })
}

/// A move that takes longer is unreasonable.
const PATIENCE_SECONDS: f64 = 1.0;

/// The first depth beyond the reasonable ones has to be unreasonable, with and without pruning.
fn judge_patience(seconds: [f64; 2]) -> (Verdict, String) {
    let too_long = seconds.map(|seconds| seconds > PATIENCE_SECONDS);
    let verdict = match too_long {
        [true, true] => Verdict::Holds,
        [false, false] => Verdict::DoesNotHold,
        _ => Verdict::HoldsInPart,
    };
    let share = seconds.map(|seconds| times(seconds / PATIENCE_SECONDS * 100.0));
    let because =
        format!("the first depths beyond take {} % and {} % of a second", share[0], share[1]);
    (verdict, because)
}

pub(super) fn mtdf(lab: &Lab) -> Result<Finding, ExperimentError> {
    let depths = lab.full_or_quick(vec![2, 4, 6, 8, 10, 12], vec![2, 3]);
    let positions = lab.positions(lab.full_or_quick(60, 3), 0..=16)?;
    let runs = lab.full_or_quick(5, 1);
    lab.add_steps(depths.len() as u64 * (positions.len() as u64 + 1));
    lab.add_steps(depths.len() as u64 * (positions.len() as u64 + 1));
    let measured = compare(lab, ["alphabeta", "mtdf"], depths.iter().copied(), &positions, runs)?;
    // For a fair comparison, alpha-beta gets a table of the same size.
    let kinds = ["alphabeta:table=8", "mtdf"];
    let equals = compare(lab, kinds, depths.iter().copied(), &positions, runs)?;
    let on_empty = measured.iter().map(|row| {
        let [alphabeta, mtdf] = row.empty;
        vec![
            TableCell::Count(row.depth.into()),
            TableCell::Count(alphabeta.stats.leaves),
            TableCell::Count(mtdf.stats.leaves),
            TableCell::Count(alphabeta.stats.nodes),
            TableCell::Count(mtdf.stats.nodes),
            TableCell::Seconds(alphabeta.seconds),
            TableCell::Seconds(mtdf.seconds),
        ]
    });
    let factors_of = |measured: &[Measured]| -> Vec<[Interval; 2]> {
        measured.iter().map(|row| [row.leaves, row.seconds]).collect()
    };
    let (plain, because_plain) = judge_mtdf(&depths, &factors_of(&measured));
    let (equal, because_equal) = judge_mtdf(&depths, &factors_of(&equals));
    let verdict = plain.plus(equal).verdict();
    let because = format!(
        "against alpha-beta without a table {because_plain}; against alpha-beta with the same table \
         {because_equal}"
    );
    let last_equal = equals.last().expect("at least one depth");
    let last = measured.last().expect("at least one depth");
    let panel = |title, unit, number| {
        empty_board_panel(title, unit, &measured, ["alpha-beta", "MTD(f)"], number)
    };
    Ok(Finding {
        run: format!(
            "`alphabeta`, without a table and with one of 8 MiB, and `mtdf` with such a table, each with \
             `galli`, one thread, on the empty board and on {} different positions of random games \
             with 0 to 16 discs. All play the same moves, so only their times differ. Tables are \
             empty before each move. Times are medians of {runs} runs, factors geometric means.",
            positions.len()
        ),
        left_out: "Evaluations other than `galli`, which has many values, and searches that need more than \
                   the table; other classical searches, such as principal variation search."
            .to_owned(),
        commands: vec![format!(
            "claimeven compare --agents alphabeta,alphabeta:table=8,mtdf --depths {} --repeat {runs}",
            depths.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
        )],
        measured: format!(
            "At depth {} alpha-beta takes {} and {}; with the same table {} and {}.",
            last.depth,
            times_within(last.leaves, "the leaves of MTD(f)"),
            times_within(last.seconds, "its time"),
            times_within(last_equal.leaves, "its leaves"),
            times_within(last_equal.seconds, "its time"),
        ),
        verdict,
        because,
        tables: vec![
            factor_table(
                "Alpha-beta against MTD(f) on many positions: factors above 1 favour MTD(f)",
                &measured,
            ),
            factor_table("Alpha-beta with a table against MTD(f) with an equal one", &equals),
            Table::new(
                "The empty board",
                &[
                    "depth",
                    "alpha-beta leaves",
                    "MTD(f) leaves",
                    "alpha-beta nodes",
                    "MTD(f) nodes",
                    "alpha-beta time",
                    "MTD(f) time",
                ],
                on_empty.collect(),
            ),
        ],
        figures: vec![Figure {
            name: "mtdf".to_owned(),
            title: "Alpha-beta and MTD(f) on the empty board".to_owned(),
            caption: "The vertical axes are logarithmic.".to_owned(),
            plot: Plot::Lines(vec![
                panel("time", Unit::Seconds, |search| search.seconds),
                panel("leaves", Unit::Count, |search| search.stats.leaves.max(1) as f64),
            ]),
        }],
    })
}

fn factor_table(caption: &str, measured: &[Measured]) -> Table {
    let row = |row: &Measured| {
        let factors = [row.leaves, row.nodes, row.seconds].map(TableCell::FactorWithin);
        std::iter::once(TableCell::Count(row.depth.into())).chain(factors).collect()
    };
    let head = ["depth", "factor in leaves", "factor in nodes", "factor in time"];
    Table::new(caption, &head, measured.iter().map(row).collect())
}

/// A factor with its interval, as in `3.20 times the nodes (2.90 to 3.50)`.
fn times_within(Interval { low, estimate, high }: Interval, what: &str) -> String {
    format!("{} times {what} ({} to {})", times(estimate), times(low), times(high))
}

/// Leaves and time have to be saved at every depth.
fn judge_mtdf(depths: &[u32], factors: &[[Interval; 2]]) -> (Count, String) {
    // Leaves and time, without a table and with one.
    let z = simultaneous_z(4 * factors.len() as u64);
    let wide = |factor| widened(factor, z);
    let factors: Vec<[Interval; 2]> = factors.iter().map(|pair| pair.map(wide)).collect();
    let fewer = Count::above(1.0, factors.iter().map(|[leaves, _]| *leaves));
    let faster = Count::above(1.0, factors.iter().map(|[_, seconds]| *seconds));
    let both = Count::above(1.0, factors.iter().flatten().copied());
    let first_fast = depths.iter().zip(&factors).rev();
    let first_fast = first_fast.take_while(|(_, [_, seconds])| seconds.low > 1.0).last();
    let from = match first_fast {
        Some((depth, _)) => format!("from depth {depth} on it is faster"),
        None => "at the maximum depth it is not faster".to_owned(),
    };
    let because = format!(
        "it takes fewer leaves at {} and less time at {} of {} depths ({} open, {} against); {from}",
        fewer.supporting,
        faster.supporting,
        depths.len(),
        both.open,
        both.contradicting
    );
    (both, because)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(estimate: f64) -> Interval {
        Interval { low: 0.9 * estimate, estimate, high: 1.1 * estimate }
    }

    #[test]
    fn one_difference_contradicts_equality_in_part() {
        assert_eq!(judge_differences(0, 100), Verdict::Holds);
        assert_eq!(judge_differences(1, 100), Verdict::HoldsInPart);
        assert_eq!(judge_differences(60, 100), Verdict::DoesNotHold);
    }

    #[test]
    fn pruning_has_to_save_more_with_every_ply() {
        let search = Search { stats: SearchStats::default(), seconds: 1.0 };
        let judge = |nodes: &[f64], seconds: f64| {
            let growth = |index: usize| near(nodes[index] / nodes[index - 1]);
            let measured: Vec<Measured> = nodes
                .iter()
                .enumerate()
                .map(|(index, &factor)| Measured {
                    depth: index as u32 + 1,
                    empty: [search; 2],
                    nodes: near(factor),
                    leaves: near(factor),
                    seconds: near(seconds),
                    growth: (index > 0).then(|| growth(index)),
                })
                .collect();
            judge_pruning(&measured).0
        };
        assert_eq!(judge(&[1.0, 2.0, 4.0, 8.0], 3.0), Verdict::Holds);
        assert_eq!(judge(&[1.0, 2.0, 8.0, 4.0], 3.0), Verdict::HoldsInPart);
        assert_eq!(judge(&[1.0, 2.0, 2.1, 4.0], 3.0), Verdict::Undecided);
        assert_eq!(judge(&[1.0, 2.0, 4.0, 8.0], 0.5), Verdict::HoldsInPart);
        assert_eq!(judge(&[1.0, 0.5, 0.4, 0.3], 0.5), Verdict::DoesNotHold);
    }

    #[test]
    fn both_searches_have_to_be_too_slow() {
        assert_eq!(judge_patience([5.0, 3.0]).0, Verdict::Holds);
        assert_eq!(judge_patience([5.0, 0.3]).0, Verdict::HoldsInPart);
        assert_eq!(judge_patience([0.005, 0.003]).0, Verdict::DoesNotHold);
        assert!(judge_patience([0.005, 0.003]).1.contains("0.50 % and 0.30 %"));
    }

    #[test]
    fn mtdf_has_to_save_leaves_and_time() {
        let depths = [2, 4, 6];
        let judge =
            |factors: [[f64; 2]; 3]| judge_mtdf(&depths, &factors.map(|pair| pair.map(near)));
        assert_eq!(judge([[2.0, 2.0]; 3]).0.verdict(), Verdict::Holds);
        let (count, because) = judge([[2.0, 0.5], [2.0, 2.0], [2.0, 3.0]]);
        assert_eq!(count.verdict(), Verdict::HoldsInPart);
        assert!(because.ends_with("from depth 4 on it is faster"), "{because}");
        let (count, because) = judge([[0.5, 0.5], [0.5, 2.0], [0.5, 0.5]]);
        assert_eq!(count.verdict(), Verdict::DoesNotHold);
        assert!(because.ends_with("it is not faster"), "{because}");
    }

    #[test]
    fn the_older_times_are_known_for_two_depths() {
        assert_eq!(reference(7), Some([46.6, 5.9]));
        assert_eq!(reference(5), None);
    }
}
