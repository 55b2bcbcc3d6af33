//! Findings: the results of experiments.

use std::fmt;

use serde::Serialize;

use claimeven_zero::{Interval, Z95};

/// The result of an experiment as text, tables and figures.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// What was run.
    pub run: String,
    /// Commands that reproduce parts of it.
    pub commands: Vec<String>,
    /// The parts of the claim that were not tested.
    pub left_out: String,
    /// What was measured, with intervals.
    pub measured: String,
    /// Whether the claim holds.
    pub verdict: Verdict,
    /// The reason for the verdict.
    pub because: String,
    /// The numbers.
    pub tables: Vec<Table>,
    /// The numbers, to be drawn.
    pub figures: Vec<Figure>,
}

/// Whether a claim holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every comparison supports it.
    Holds,
    /// Some comparisons contradict it, and at least as many support it.
    HoldsInPart,
    /// More comparisons contradict it than support it.
    DoesNotHold,
    /// No comparison contradicts it, and some are inconclusive.
    Undecided,
    /// It could not be tested.
    Skipped,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Holds => "holds",
            Verdict::HoldsInPart => "holds in part",
            Verdict::DoesNotHold => "does not hold",
            Verdict::Undecided => "is undecided",
            Verdict::Skipped => "not tested",
        })
    }
}

/// The number of comparisons that support a claim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    /// The whole interval is on the claim's side.
    pub(crate) supporting: usize,
    /// The interval is on both sides.
    pub(crate) open: usize,
    /// The whole interval is on the other side.
    pub(crate) contradicting: usize,
}

impl Count {
    /// Counts the intervals that lie above a number.
    pub(crate) fn above(threshold: f64, intervals: impl IntoIterator<Item = Interval>) -> Count {
        let mut count = Count::default();
        for Interval { low, high, .. } in intervals {
            if low > threshold {
                count.supporting += 1;
            } else if high < threshold {
                count.contradicting += 1;
            } else {
                count.open += 1;
            }
        }
        count
    }

    pub(crate) fn total(self) -> usize {
        self.supporting + self.open + self.contradicting
    }

    /// A claim about all comparisons fails by those against it; if there are none, an open
    /// comparison leaves it undecided.
    pub(crate) fn verdict(self) -> Verdict {
        let Count { supporting, open, contradicting } = self;
        match (contradicting, open) {
            (0, 0) => Verdict::Holds,
            (0, _) => Verdict::Undecided,
            _ if contradicting <= supporting => Verdict::HoldsInPart,
            _ => Verdict::DoesNotHold,
        }
    }

    pub(crate) fn plus(self, other: Count) -> Count {
        Count {
            supporting: self.supporting + other.supporting,
            open: self.open + other.open,
            contradicting: self.contradicting + other.contradicting,
        }
    }

    /// The numbers in words, as in `26 of 28 matches support it (1 open, 1 against)`.
    pub(crate) fn words(self, what: &str) -> String {
        let Count { supporting, open, contradicting } = self;
        let total = self.total();
        if supporting == total {
            return format!("all {total} {what} support it");
        }
        format!("{supporting} of {total} {what} support it ({open} open, {contradicting} against)")
    }
}

/// Numbers in rows and columns.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "self-explanatory")]
pub struct Table {
    /// What the numbers mean.
    pub caption: String,
    /// The names of the columns.
    pub head: Vec<String>,
    pub rows: Vec<Vec<TableCell>>,
}

impl Table {
    pub(crate) fn new(
        caption: impl Into<String>,
        head: &[&str],
        rows: Vec<Vec<TableCell>>,
    ) -> Table {
        Table {
            caption: caption.into(),
            head: head.iter().map(|&name| name.to_owned()).collect(),
            rows,
        }
    }
}

/// A number or a text in a table: formatted as text, and a plain number in JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[allow(missing_docs, reason = "self-explanatory")]
pub enum TableCell {
    Text(String),
    Count(u64),
    /// A share, from 0 to 1.
    Share(f64),
    /// A share with its interval.
    ShareWithin(Interval),
    /// A ratio.
    Factor(f64),
    /// A ratio with its interval.
    FactorWithin(Interval),
    /// A rating with its interval.
    Elo(Interval),
    /// A time in seconds.
    Seconds(f64),
    /// An empty cell.
    Nothing,
}

impl From<&str> for TableCell {
    fn from(text: &str) -> TableCell {
        TableCell::Text(text.to_owned())
    }
}

impl From<String> for TableCell {
    fn from(text: String) -> TableCell {
        TableCell::Text(text)
    }
}

impl fmt::Display for TableCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            TableCell::Text(text) => text.clone(),
            TableCell::Count(count) => thousands(*count),
            TableCell::Share(share) => format!("{:.1} %", 100.0 * share),
            TableCell::ShareWithin(share) => percent(*share),
            TableCell::Factor(factor) => times(*factor),
            TableCell::FactorWithin(Interval { low, estimate, high }) => {
                format!("{} ({} to {})", times(*estimate), times(*low), times(*high))
            }
            TableCell::Elo(elo) => self::elo(*elo),
            TableCell::Seconds(seconds) => time(*seconds),
            TableCell::Nothing => String::new(),
        };
        f.pad(&text)
    }
}

/// The mean result of independent games won, drawn and lost, with the interval of this many
/// standard errors. As for pairs, it is that of the number of games without draws that has the same
/// variance.
pub(crate) fn score_of_games([won, drawn, lost]: [u64; 3], z: f64) -> Interval {
    let games = (won + drawn + lost) as f64;
    let mean = (won as f64 + 0.5 * drawn as f64) / games.max(1.0);
    let squares = won as f64 * (1.0 - mean).powi(2)
        + drawn as f64 * (0.5 - mean).powi(2)
        + lost as f64 * mean.powi(2);
    let equivalent =
        if squares > 0.0 { games * games * mean * (1.0 - mean) / squares } else { games };
    Interval::wilson_at(mean, equivalent, z)
}

/// Converts the 95 % interval of a factor to one of this many standard errors of its logarithm.
pub(crate) fn widened(factor: Interval, z: f64) -> Interval {
    let Interval { low, estimate, high } = factor.map(f64::ln);
    let ratio = z / Z95;
    let wide = Interval {
        low: estimate - ratio * (estimate - low),
        estimate,
        high: estimate + ratio * (high - estimate),
    };
    wide.map(f64::exp)
}

/// A share with its interval, as in `71.4 % (67.2 to 75.2)`.
pub(crate) fn percent(share: Interval) -> String {
    let Interval { low, estimate, high } = share.map(|share| 100.0 * share);
    format!("{estimate:.1} % ({low:.1} to {high:.1})")
}

/// A rating with its interval, as in `35 (12 to 60)`.
pub(crate) fn elo(Interval { low, estimate, high }: Interval) -> String {
    if low < high {
        format!("{estimate:.0} ({low:.0} to {high:.0})")
    } else {
        format!("{estimate:.0}")
    }
}

/// A factor with three significant digits.
pub(crate) fn times(factor: f64) -> String {
    match factor {
        ..9.995 => format!("{factor:.2}"),
        ..99.95 => format!("{factor:.1}"),
        _ => separate_thousands(&format!("{factor:.0}")),
    }
}

/// A time in a suitable unit.
pub(crate) fn time(seconds: f64) -> String {
    match seconds {
        ..0.999_5e-3 => format!("{} µs", times(seconds * 1e6)),
        ..0.999_5 => format!("{} ms", times(seconds * 1e3)),
        _ => format!("{} s", times(seconds)),
    }
}

/// A count with thousands separators, as in `12 345`.
pub(crate) fn thousands(count: u64) -> String {
    separate_thousands(&count.to_string())
}

fn separate_thousands(digits: &str) -> String {
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// A figure of a finding.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// The name of its file.
    pub name: String,
    /// The title, above it.
    pub title: String,
    /// The caption, below it.
    pub caption: String,
    /// What is drawn.
    pub plot: Plot,
}

/// What is drawn.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Plot {
    /// Shares by row and column, in colours.
    Heat(Vec<HeatPanel>),
    /// Line charts.
    Lines(Vec<LinePanel>),
    /// A dot with its interval in each row.
    Ranges(Vec<RangePanel>),
}

/// Shares, 0 to 1, by row and column.
#[derive(Clone, Debug, Serialize)]
pub struct HeatPanel {
    /// What it shows.
    pub title: String,
    /// The label of the rows.
    pub row_label: String,
    /// The rows, from the top.
    pub rows: Vec<String>,
    /// The label of the columns.
    pub column_label: String,
    /// The columns, from the left.
    pub columns: Vec<String>,
    /// The shares by row and column, where there are any.
    pub cells: Vec<Vec<Option<f64>>>,
}

/// Line charts.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "self-explanatory")]
pub struct LinePanel {
    /// What it shows.
    pub title: String,
    /// The label of the horizontal axis.
    pub x_label: String,
    /// The tick marks of the horizontal axis: places and labels.
    pub ticks: Vec<(f64, String)>,
    /// The unit of the numbers.
    pub unit: Unit,
    /// Whether the vertical axis is logarithmic.
    pub logarithmic: bool,
    pub lines: Vec<Line>,
}

/// A line of a chart: its points from left to right.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "self-explanatory")]
pub struct Line {
    /// The name in the legend.
    pub name: String,
    pub points: Vec<(f64, Interval)>,
}

/// A dot with its interval in each row.
#[derive(Clone, Debug, Serialize)]
pub struct RangePanel {
    /// What it shows.
    pub title: String,
    /// The unit of the numbers.
    pub unit: Unit,
    /// A number to mark with a line.
    pub mark: Option<f64>,
    /// The rows, from the top.
    pub rows: Vec<RangeRow>,
}

/// A row of a panel.
#[derive(Clone, Debug, Serialize)]
pub struct RangeRow {
    /// The label.
    pub name: String,
    /// The number.
    pub value: Interval,
}

/// The unit of numbers, which determines their format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Shares, written in percent.
    Share,
    /// Ratings.
    Elo,
    /// Counts.
    Count,
    /// Times.
    Seconds,
    /// Ratios.
    Factor,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within(low: f64, high: f64) -> Interval {
        Interval { low, estimate: f64::midpoint(low, high), high }
    }

    #[test]
    fn a_claim_holds_if_all_comparisons_support_it() {
        let verdict =
            |intervals: &[Interval]| Count::above(0.5, intervals.iter().copied()).verdict();
        let (yes, open, no) = (within(0.6, 0.8), within(0.4, 0.6), within(0.1, 0.3));
        assert_eq!(verdict(&[yes, yes]), Verdict::Holds);
        assert_eq!(verdict(&[yes, open]), Verdict::Undecided);
        assert_eq!(verdict(&[open, open]), Verdict::Undecided);
        assert_eq!(verdict(&[yes, no]), Verdict::HoldsInPart);
        assert_eq!(verdict(&[yes, open, no]), Verdict::HoldsInPart);
        assert_eq!(verdict(&[yes, no, no]), Verdict::DoesNotHold);
        assert_eq!(verdict(&[no, open]), Verdict::DoesNotHold);
        // An interval that ends at the threshold is inconclusive.
        assert_eq!(verdict(&[within(0.5, 0.8)]), Verdict::Undecided);
    }

    #[test]
    fn scores_of_single_games_have_the_interval_of_their_variance() {
        let decided = score_of_games([60, 0, 40], Z95);
        let wilson = Interval::wilson(0.6, 100.0);
        assert!(
            (decided.low - wilson.low).abs() < 1e-9 && (decided.high - wilson.high).abs() < 1e-9
        );
        // Draws make it narrower, and a perfect score still has an interval.
        assert!(score_of_games([30, 60, 10], Z95).low > decided.low);
        let clean = score_of_games([4, 0, 0], Z95);
        assert!(clean.low < 0.6 && clean.high > 0.999, "{clean:?}");
        let factor = widened(Interval { low: 1.0, estimate: 2.0, high: 4.0 }, 2.0 * Z95);
        assert!((factor.low - 0.5).abs() < 1e-9 && (factor.high - 8.0).abs() < 1e-9);
    }

    #[test]
    fn counts_in_words() {
        let count = Count { supporting: 3, open: 1, contradicting: 2 };
        assert_eq!(count.words("matches"), "3 of 6 matches support it (1 open, 2 against)");
        let all = Count { supporting: 2, ..Count::default() };
        assert_eq!(all.words("matches"), "all 2 matches support it");
    }

    #[test]
    fn numbers_are_written_with_three_digits() {
        assert_eq!(times(0.456), "0.46");
        assert_eq!(times(12.34), "12.3");
        assert_eq!(times(1234.6), "1 235");
        assert_eq!(time(0.000_012_3), "12.3 µs");
        assert_eq!(time(0.004), "4.00 ms");
        assert_eq!(time(46.6), "46.6 s");
        assert_eq!(TableCell::Count(1_234_567).to_string(), "1 234 567");
        assert_eq!(TableCell::ShareWithin(within(0.4, 0.6)).to_string(), "50.0 % (40.0 to 60.0)");
    }

    #[test]
    fn cells_are_numbers_in_json() {
        let json = |cell: TableCell| serde_json::to_string(&cell).unwrap();
        assert_eq!(json(TableCell::Count(12_345)), "12345");
        assert_eq!(json(TableCell::Share(0.25)), "0.25");
        assert_eq!(json(TableCell::Nothing), "null");
        assert_eq!(
            json(TableCell::Elo(within(0.0, 2.0))),
            r#"{"low":0.0,"estimate":1.0,"high":2.0}"#
        );
    }
}
