//! Claims that single searches decide.

use std::time::Duration;

use claimeven_game::{Position, Setup};
use claimeven_search::{Heuristic, SearchStats};

use super::ExperimentError;
use super::finding::{
    Cell, Count, Figure, Finding, Line, LinePanel, Plot, Table, Unit, Verdict, percent, thousands,
    time, times,
};
use super::lab::{Lab, agent};
use crate::roster::AgentSpec;
use claimeven_zero::Interval;

/// Times of the older projects on the empty board in seconds, by depth: minimax and alpha-beta.
/// They were taken on other machines, in Python and Java.
const REFERENCE: [(u32, [f64; 2]); 2] = [(6, [7.7, 0.73]), (7, [46.6, 5.9])];

fn reference(depth: u32) -> Option<[f64; 2]> {
    REFERENCE.iter().find(|(known, _)| *known == depth).map(|(_, seconds)| *seconds)
}

pub(super) fn same_value(lab: &Lab) -> Result<Finding, ExperimentError> {
    let deepest: u32 = lab.either(6, 3);
    let positions = lab.positions(lab.either(300, 4), 0..=30)?;
    let evaluations: Vec<&str> = Heuristic::names().collect();
    lab.more(positions.len() as u64 * u64::from(deepest));
    let mut rows = Vec::new();
    let (mut differences, mut total) = (0, 0);
    for depth in 1..=deepest {
        let counted = lab.for_each(&positions, |_, position| {
            let mut counts = [0_u64; 3];
            for evaluation in &evaluations {
                for ties in ["centre", "first"] {
                    let answer = |beginning: &str| {
                        let text =
                            format!("{beginning}depth={depth},eval={evaluation},ties={ties}");
                        let mut agent = agent(&text).build(Setup::STANDARD, 0)?;
                        agent.decide(position, &lab.limits())
                    };
                    let minimax = answer("minimax:")?;
                    for other in ["alphabeta:", "mtdf:table=1,"] {
                        let other = answer(other)?;
                        counts[0] += 1;
                        counts[1] += u64::from(other.value != minimax.value);
                        counts[2] += u64::from(other.column != minimax.column);
                    }
                }
            }
            Ok(counts)
        })?;
        let mut sum = [0; 3];
        for counts in counted {
            for (sum, count) in sum.iter_mut().zip(counts) {
                *sum += count;
            }
        }
        rows.push(std::iter::once(u64::from(depth)).chain(sum).map(Cell::Count).collect());
        total += sum[0];
        differences += sum[1] + sum[2];
    }
    Ok(Finding {
        run: format!(
            "`minimax`, `alphabeta` and `mtdf` on {} positions of random games with 0 to 30 discs, \
             at depths 1 to {deepest}, with {} evaluations and two rules for equal moves.",
            positions.len(),
            evaluations.len()
        ),
        commands: vec![
            "claimeven compare --agents minimax,alphabeta,mtdf --depths 1..6".to_owned(),
        ],
        measured: format!(
            "{differences} differences in value or move in {} comparisons; a share of {}.",
            thousands(total),
            percent(Interval::of_share(differences, total))
        ),
        verdict: judge_differences(differences, total),
        because: match differences {
            0 => "there is no difference".to_owned(),
            _ => format!("there are {differences} differences"),
        },
        tables: vec![Table::new(
            "Answers of alpha-beta and MTD(f) held against those of minimax",
            &["depth", "comparisons", "other values", "other moves"],
            rows,
        )],
        figures: Vec::new(),
    })
}

/// Equality has no "nearly": one difference is enough to refute it in part.
fn judge_differences(differences: u64, total: u64) -> Verdict {
    match differences {
        0 => Verdict::Holds,
        _ if 2 * differences < total => Verdict::HoldsInPart,
        _ => Verdict::DoesNotHold,
    }
}

/// A search, and what it took.
#[derive(Clone, Copy)]
struct Search {
    stats: SearchStats,
    seconds: f64,
}

/// Lets a player search a position some times; the time is the median.
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
    // A clock that did not tick must not make a factor infinite.
    Ok(Search { stats, seconds: times[runs / 2].as_secs_f64().max(1e-8) })
}

/// Two searches of one depth on the empty board, and how the first compares on many positions.
struct Measured {
    depth: u32,
    empty: [Search; 2],
    nodes: Interval,
    leaves: Interval,
    seconds: Interval,
}

/// Measures two kinds of search at some depths, one search at a time so that times mean something.
fn compare(
    lab: &Lab,
    kinds: [&str; 2],
    depths: impl Iterator<Item = u32>,
    positions: &[Position],
    runs: usize,
) -> Result<Vec<Measured>, ExperimentError> {
    let empty = Position::new(Setup::STANDARD);
    let mut measured = Vec::new();
    for depth in depths {
        let specs = kinds.map(|kind| agent(&format!("{kind}:depth={depth}")));
        let both = |position: &Position| {
            let searched = [
                measure(lab, &specs[0], position, runs)?,
                measure(lab, &specs[1], position, runs)?,
            ];
            lab.done(1);
            Ok::<_, ExperimentError>(searched)
        };
        let on_empty = both(&empty)?;
        let searched: Vec<[Search; 2]> = positions.iter().map(both).collect::<Result<_, _>>()?;
        let factor = |of: &dyn Fn(&Search) -> f64| {
            let factors: Vec<f64> = searched.iter().map(|[a, b]| of(a) / of(b)).collect();
            Interval::of_factors(&factors)
        };
        measured.push(Measured {
            depth,
            empty: on_empty,
            nodes: factor(&|search| search.stats.nodes as f64),
            leaves: factor(&|search| search.stats.leaves.max(1) as f64),
            seconds: factor(&|search| search.seconds),
        });
    }
    Ok(measured)
}

pub(super) fn pruning(lab: &Lab) -> Result<Finding, ExperimentError> {
    let deepest = lab.either(8, 3);
    let positions = lab.positions(lab.either(30, 3), 0..=16)?;
    let runs = lab.either(3, 1);
    lab.more(u64::from(deepest) * (positions.len() as u64 + 1));
    let measured = compare(lab, ["minimax", "alphabeta"], 1..=deepest, &positions, runs)?;
    let rows = measured.iter().map(|row| {
        let [minimax, alphabeta] = row.empty;
        vec![
            Cell::Count(row.depth.into()),
            Cell::Count(minimax.stats.nodes),
            Cell::Count(alphabeta.stats.nodes),
            Cell::Factor(minimax.stats.nodes as f64 / alphabeta.stats.nodes as f64),
            Cell::Seconds(minimax.seconds),
            Cell::Seconds(alphabeta.seconds),
            Cell::Factor(minimax.seconds / alphabeta.seconds),
            reference(row.depth).map_or(Cell::Nothing, |[a, b]| Cell::Factor(a / b)),
        ]
    });
    let many = measured.iter().map(|row| {
        vec![
            Cell::Count(row.depth.into()),
            Cell::FactorWithin(row.nodes),
            Cell::FactorWithin(row.seconds),
        ]
    });
    let last = measured.last().expect("there is a depth");
    let factors: Vec<[Interval; 2]> = measured.iter().map(|row| [row.nodes, row.seconds]).collect();
    let (verdict, because) = judge_pruning(&factors);
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
             positions of random games with 0 to 16 discs. Times are medians of {runs} runs. The \
             factors over the positions are geometric means.",
            positions.len()
        ),
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
                &["depth", "factor in nodes", "factor in time"],
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

/// From depth 2 on, where there is something to prune, nodes and time have to be saved; and more
/// nodes at each depth than at the one before. Times below depth 4 are those of microseconds,
/// which say little.
fn judge_pruning(factors: &[[Interval; 2]]) -> (Verdict, String) {
    let nodes = factors.iter().skip(1).map(|[nodes, _]| *nodes);
    let seconds = factors.iter().skip(3).map(|[_, seconds]| *seconds);
    let saved = Count::above(1.0, nodes.chain(seconds));
    let grows = factors.is_sorted_by(|[a, _], [b, _]| a.middle <= b.middle);
    let growth = if grows {
        "the factor in nodes grows with every ply"
    } else {
        "the factor in nodes does not grow with every ply"
    };
    let because = format!("{} and {growth}", saved.words("factors in nodes and time"));
    match saved.verdict() {
        Verdict::Holds if !grows => (Verdict::HoldsInPart, because),
        verdict => (verdict, because),
    }
}

pub(super) fn patience(lab: &Lab) -> Result<Finding, ExperimentError> {
    let runs = lab.either(5, 1);
    let searches = [("minimax", 4, lab.either(8, 5)), ("alphabeta", 6, lab.either(14, 7))];
    let empty = Position::new(Setup::STANDARD);
    let (mut rows, mut beyond) = (Vec::new(), Vec::new());
    for (index, (kind, last_reasonable, deepest)) in searches.into_iter().enumerate() {
        let depths = last_reasonable..=deepest;
        lab.more(depths.clone().count() as u64);
        for depth in depths {
            let measured = measure(lab, &agent(&format!("{kind}:depth={depth}")), &empty, runs)?;
            lab.done(1);
            let theirs = reference(depth).map(|seconds| seconds[index]);
            rows.push(vec![
                format!("`{kind}`").into(),
                Cell::Count(depth.into()),
                Cell::Seconds(measured.seconds),
                theirs.map_or(Cell::Nothing, Cell::Seconds),
                theirs.map_or(Cell::Nothing, |theirs| Cell::Factor(theirs / measured.seconds)),
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
            "One move on the empty board with `galli`, one thread, median of {runs} runs. We call a \
             move unreasonable that takes more than a second."
        ),
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
    let depths = lab.either(vec![2, 4, 6, 8, 10, 12], vec![2, 3]);
    let positions = lab.positions(lab.either(30, 3), 0..=16)?;
    let runs = lab.either(5, 1);
    lab.more(depths.len() as u64 * (positions.len() as u64 + 1));
    let measured = compare(lab, ["alphabeta", "mtdf"], depths.iter().copied(), &positions, runs)?;
    let rows = measured.iter().map(|row| {
        vec![
            Cell::Count(row.depth.into()),
            Cell::FactorWithin(row.leaves),
            Cell::FactorWithin(row.nodes),
            Cell::FactorWithin(row.seconds),
        ]
    });
    let on_empty = measured.iter().map(|row| {
        let [alphabeta, mtdf] = row.empty;
        vec![
            Cell::Count(row.depth.into()),
            Cell::Count(alphabeta.stats.leaves),
            Cell::Count(mtdf.stats.leaves),
            Cell::Count(alphabeta.stats.nodes),
            Cell::Count(mtdf.stats.nodes),
            Cell::Seconds(alphabeta.seconds),
            Cell::Seconds(mtdf.seconds),
        ]
    });
    let factors: Vec<[Interval; 2]> =
        measured.iter().map(|row| [row.leaves, row.seconds]).collect();
    let (verdict, because) = judge_mtdf(&depths, &factors);
    let last = measured.last().expect("there is a depth");
    let panel = |title, unit, number| {
        empty_board_panel(title, unit, &measured, ["alpha-beta", "MTD(f)"], number)
    };
    Ok(Finding {
        run: format!(
            "`alphabeta` (no table) and `mtdf` (a table of 8 MB, emptied before each move) with \
             `galli`, one thread, on the empty board and on {} positions of random games with 0 to \
             16 discs. Times are medians of {runs} runs, factors geometric means.",
            positions.len()
        ),
        commands: vec![format!(
            "claimeven compare --agents alphabeta,mtdf --depths {} --repeat {runs}",
            depths.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
        )],
        measured: format!(
            "At depth {} alpha-beta takes {} and {}.",
            last.depth,
            times_within(last.leaves, "the leaves of MTD(f)"),
            times_within(last.seconds, "its time"),
        ),
        verdict,
        because,
        tables: vec![
            Table::new(
                "Alpha-beta against MTD(f) on many positions: factors above 1 speak for MTD(f)",
                &["depth", "factor in leaves", "factor in nodes", "factor in time"],
                rows.collect(),
            ),
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

/// A factor with its interval, as in `3.20 times the nodes (2.90 to 3.50)`.
fn times_within(Interval { low, middle, high }: Interval, what: &str) -> String {
    format!("{} times {what} ({} to {})", times(middle), times(low), times(high))
}

/// Leaves and time have to be saved at every depth.
fn judge_mtdf(depths: &[u32], factors: &[[Interval; 2]]) -> (Verdict, String) {
    let fewer = Count::above(1.0, factors.iter().map(|[leaves, _]| *leaves));
    let faster = Count::above(1.0, factors.iter().map(|[_, seconds]| *seconds));
    let both = Count::above(1.0, factors.iter().flatten().copied());
    let first_fast = depths.iter().zip(factors).rev();
    let first_fast = first_fast.take_while(|(_, [_, seconds])| seconds.low > 1.0).last();
    let from = match first_fast {
        Some((depth, _)) => format!("from depth {depth} on it is faster"),
        None => "at the greatest depth it is not faster".to_owned(),
    };
    let because = format!(
        "it takes fewer leaves at {} and less time at {} of {} depths; {from}",
        fewer.borne_out,
        faster.borne_out,
        depths.len()
    );
    (both.verdict(), because)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(middle: f64) -> Interval {
        Interval { low: 0.9 * middle, middle, high: 1.1 * middle }
    }

    #[test]
    fn one_difference_contradicts_equality_in_part() {
        assert_eq!(judge_differences(0, 100), Verdict::Holds);
        assert_eq!(judge_differences(1, 100), Verdict::HoldsInPart);
        assert_eq!(judge_differences(60, 100), Verdict::DoesNotHold);
    }

    #[test]
    fn pruning_has_to_save_more_with_every_ply() {
        let judge = |nodes: &[f64], seconds: f64| {
            let factors: Vec<_> = nodes.iter().map(|&nodes| [near(nodes), near(seconds)]).collect();
            judge_pruning(&factors).0
        };
        assert_eq!(judge(&[1.0, 2.0, 4.0, 8.0], 3.0), Verdict::Holds);
        assert_eq!(judge(&[1.0, 2.0, 8.0, 4.0], 3.0), Verdict::HoldsInPart);
        assert_eq!(judge(&[1.0, 2.0, 4.0, 8.0], 0.5), Verdict::HoldsInPart);
        assert_eq!(judge(&[1.0, 0.5, 0.4, 0.3], 0.5), Verdict::DoesNotHold);
    }

    #[test]
    fn both_searches_may_run_out_of_time() {
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
        assert_eq!(judge([[2.0, 2.0]; 3]).0, Verdict::Holds);
        let (verdict, because) = judge([[2.0, 0.5], [2.0, 2.0], [2.0, 3.0]]);
        assert_eq!(verdict, Verdict::HoldsInPart);
        assert!(because.ends_with("from depth 4 on it is faster"), "{because}");
        let (verdict, because) = judge([[0.5, 0.5], [0.5, 2.0], [0.5, 0.5]]);
        assert_eq!(verdict, Verdict::DoesNotHold);
        assert!(because.ends_with("it is not faster"), "{because}");
    }

    #[test]
    fn the_older_times_are_known_for_two_depths() {
        assert_eq!(reference(7), Some([46.6, 5.9]));
        assert_eq!(reference(5), None);
    }
}
