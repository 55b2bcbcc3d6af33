//! Players compared with exact scores: how often they give away a win or a draw.

use std::ops::RangeInclusive;

use claimeven_game::{Column, Position, Setup, mix_key};
use claimeven_solver::{Options, Solver, embedded_books};

use super::ExperimentError;
use super::finding::{
    Cell, Count, Figure, Finding, Line, LinePanel, Plot, Table, Unit, Verdict, percent,
};
use super::lab::{Lab, agent};
use crate::roster::AgentSpec;
use claimeven_zero::Interval;

/// Positions in which a player can err: some moves keep the result of perfect play and others give
/// it away. They come from games between levels, so that they resemble those of human games.
pub(super) struct Sample {
    groups: Vec<RangeInclusive<u32>>,
    questions: Vec<Question>,
}

struct Question {
    group: usize,
    position: Position,
    /// The columns that keep the result.
    keeping: Vec<Column>,
}

/// Games played for one position, and positions drawn for one question, before giving up.
const MAX_ATTEMPTS: u32 = 1000;

impl Sample {
    pub(super) fn draw(lab: &Lab) -> Result<Sample, ExperimentError> {
        let groups: Vec<RangeInclusive<u32>> = lab.either(
            (0..8).map(|group| 4 * group + 4..=4 * group + 7).collect(),
            vec![24..=27, 28..=31],
        );
        let each = lab.either(150, 6);
        let wanted: Vec<usize> = (0..groups.len() * each).map(|index| index / each).collect();
        lab.more(wanted.len() as u64);
        let questions = lab.for_each(&wanted, |index, &group| {
            let mut random = fastrand::Rng::with_seed(lab.seed ^ mix_key(index as u64 + 1));
            let options = Options::default().with_books(embedded_books());
            let mut solver = Solver::new(options);
            for _ in 0..MAX_ATTEMPTS {
                let discs = random.u32(groups[group].clone());
                let position = played_position(lab, discs, &mut random)?;
                if let Some(keeping) = keeping_columns(lab, &mut solver, &position)? {
                    return Ok(Question { group, position, keeping });
                }
            }
            Err(ExperimentError::NoPosition)
        })?;
        Ok(Sample { groups, questions })
    }

    pub(super) fn len(&self) -> u64 {
        self.questions.len() as u64
    }

    /// Asks a player for its move in every position; each position gets a new player.
    pub(super) fn ask(&self, lab: &Lab, spec: &AgentSpec) -> Result<Answers, ExperimentError> {
        lab.more(self.len());
        let erred = lab.for_each(&self.questions, |index, question| {
            let mut player = spec.build(Setup::STANDARD, lab.seed ^ index as u64)?;
            let decision = player.decide(&question.position, &lab.limits())?;
            Ok(!question.keeping.contains(&decision.column))
        })?;
        Ok(Answers { erred })
    }

    /// The share of errors in each group, by the mean number of discs.
    fn by_discs(&self, answers: &Answers) -> Vec<(f64, Interval)> {
        let mut counts = vec![(0, 0); self.groups.len()];
        for (question, &erred) in self.questions.iter().zip(&answers.erred) {
            counts[question.group].0 += u64::from(erred);
            counts[question.group].1 += 1;
        }
        self.groups
            .iter()
            .zip(counts)
            .map(|(group, (errors, of))| (middle(group), Interval::of_share(errors, of)))
            .collect()
    }
}

fn middle(group: &RangeInclusive<u32>) -> f64 {
    f64::midpoint((*group.start()).into(), (*group.end()).into())
}

fn name(group: &RangeInclusive<u32>) -> String {
    format!("{}–{}", group.start(), group.end())
}

/// What a player did in the positions of a sample, in their order.
pub(super) struct Answers {
    erred: Vec<bool>,
}

impl Answers {
    /// The share of errors.
    pub(super) fn error_rate(&self) -> Interval {
        let errors = self.erred.iter().filter(|&&erred| erred).count();
        Interval::of_share(errors as u64, self.erred.len() as u64)
    }

    /// How much larger the share of errors is than that of another player in the same positions.
    pub(super) fn excess_over(&self, other: &Answers) -> Interval {
        let pairs = self.erred.iter().zip(&other.erred);
        let differences: Vec<f64> =
            pairs.map(|(&a, &b)| f64::from(u8::from(a)) - f64::from(u8::from(b))).collect();
        Interval::of_mean(&differences)
    }
}

/// The position after this many moves of a game between two levels that make mistakes.
fn played_position(
    lab: &Lab,
    discs: u32,
    random: &mut fastrand::Rng,
) -> Result<Position, ExperimentError> {
    for _ in 0..MAX_ATTEMPTS {
        let mut level = || {
            let level = agent(&format!("level:{}", random.u32(2..=6)));
            level.build(Setup::STANDARD, random.u64(..))
        };
        let mut players = [level()?, level()?];
        let mut position = Position::new(Setup::STANDARD);
        while position.ply() < discs && position.outcome().is_none() {
            let player = &mut players[position.ply() as usize % 2];
            let column = player.decide(&position, &lab.limits())?.column;
            position.play(column).expect("a player's move is legal");
        }
        lab.check_cancelled()?;
        if position.outcome().is_none() {
            return Ok(position);
        }
    }
    Err(ExperimentError::NoPosition)
}

/// The columns that keep the result of perfect play; `None` if all do.
fn keeping_columns(
    lab: &Lab,
    solver: &mut Solver,
    position: &Position,
) -> Result<Option<Vec<Column>>, ExperimentError> {
    let limits = lab.limits().for_solver();
    let mut signs = Vec::new();
    for column in position.legal() {
        let mut child = *position;
        child.play(column).expect("the column is a legal one");
        let bounds = solver.sign_within(&child, &limits).expect("the ruleset is solvable");
        signs.push((column, -bounds.exact().ok_or(ExperimentError::Cancelled)?));
    }
    let Some(best) = signs.iter().map(|(_, sign)| *sign).max() else { return Ok(None) };
    let keeping: Vec<Column> =
        signs.iter().filter(|(_, sign)| *sign == best).map(|(column, _)| *column).collect();
    Ok((keeping.len() < signs.len()).then_some(keeping))
}

pub(super) fn errors(lab: &Lab) -> Result<Finding, ExperimentError> {
    // Each family has its players from little search to much.
    let families: [&[&str]; 3] = [
        &[
            "alphabeta:depth=1",
            "alphabeta:depth=2",
            "alphabeta:depth=4",
            "alphabeta:depth=6",
            "alphabeta:depth=8",
            "alphabeta:depth=10",
        ],
        &["mcts:sims=100", "mcts:sims=1000", "mcts:sims=10000"],
        &["random", "influence"],
    ];
    let keep = lab.either(usize::MAX, 2);
    let sample = lab.sample()?;
    let (mut rows, mut lines, mut steps) = (Vec::new(), Vec::new(), Vec::new());
    let mut ends = Vec::new();
    for family in families {
        let mut below: Option<Answers> = None;
        let mut rates = Vec::new();
        for text in family.iter().take(keep) {
            let spec = agent(text);
            let answers = sample.ask(lab, &spec)?;
            let by_discs = sample.by_discs(&answers);
            let step = below.as_ref().map(|below| below.excess_over(&answers));
            steps.extend(step);
            let mut row = vec![format!("`{spec}`").into(), Cell::ShareWithin(answers.error_rate())];
            row.extend(by_discs.iter().map(|(_, rate)| Cell::Share(rate.middle)));
            rows.push(row);
            lines.push(Line { name: spec.to_string(), points: by_discs });
            rates.push((spec, answers.error_rate()));
            below = Some(answers);
        }
        if let ([(first, most), ..], [.., (last, least)]) = (&rates[..], &rates[..]) {
            let (most, least) = (percent(*most), percent(*least));
            ends.push(format!("from {most} with `{first}` to {least} with `{last}`"));
        }
    }
    let perfect = sample.ask(lab, &agent("perfect"))?.error_rate();
    let (verdict, because) = judge_errors(&steps, perfect);
    rows.push(
        [Cell::from("`perfect`"), Cell::ShareWithin(perfect)]
            .into_iter()
            .chain(sample.groups.iter().map(|_| Cell::Share(perfect.middle)))
            .collect(),
    );
    let mut head = vec!["player".to_owned(), "errors".to_owned()];
    head.extend(sample.groups.iter().map(name));
    let drawn = [
        "random",
        "influence",
        "alphabeta:depth=2",
        "alphabeta:depth=4",
        "alphabeta:depth=8",
        "mcts:sims=1000",
        "mcts:sims=10000",
    ];
    Ok(Finding {
        run: format!(
            "{} positions of games between levels 2 to 6, {} for each range of discs, in each of which some move \
             keeps the result of perfect play and some other gives it away. A player errs if it \
             gives away a win or a draw; exact scores are the solver's. All players get the same positions.",
            sample.len(),
            sample.len() as usize / sample.groups.len()
        ),
        commands: Vec::new(),
        measured: format!("Errors fall {}.", ends.join(", ")),
        verdict,
        because,
        tables: vec![Table {
            caption: "Share of errors in all positions, and by the number of discs on the board"
                .to_owned(),
            head,
            rows,
        }],
        figures: vec![Figure {
            name: "errors".to_owned(),
            title: "How often a move gives away a win or a draw".to_owned(),
            caption: "In positions where that is possible, by the discs on the board; bars are \
                      95 % intervals."
                .to_owned(),
            plot: Plot::Lines(vec![LinePanel {
                title: "share of moves that are errors".to_owned(),
                x_label: "discs on the board".to_owned(),
                ticks: sample.groups.iter().map(|group| (middle(group), name(group))).collect(),
                unit: Unit::Share,
                logarithmic: false,
                lines: lines
                    .into_iter()
                    .filter(|line| lab.quick || drawn.contains(&line.name.as_str()))
                    .collect(),
            }]),
        }],
    })
}

/// Errors have to fall at each step, and who knows everything makes none: an error of `perfect`
/// would be one of the experiment.
fn judge_errors(steps: &[Interval], perfect: Interval) -> (Verdict, String) {
    if perfect.middle > 0.0 {
        return (Verdict::DoesNotHold, "perfect play erred, which it cannot".to_owned());
    }
    let count = Count::above(0.0, steps.iter().copied());
    (count.verdict(), format!("{}; perfect play never errs", count.words("steps")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_to_fall_at_each_step() {
        let fall = Interval { low: 0.02, middle: 0.05, high: 0.08 };
        let open = Interval { low: -0.01, middle: 0.01, high: 0.03 };
        let (none, one) = (Interval::of_share(0, 100), Interval::of_share(1, 100));
        assert_eq!(judge_errors(&[fall, fall], none).0, Verdict::Holds);
        assert_eq!(judge_errors(&[fall, open], none).0, Verdict::HoldsInPart);
        assert_eq!(judge_errors(&[open], none).0, Verdict::DoesNotHold);
        assert_eq!(judge_errors(&[fall, fall], one).0, Verdict::DoesNotHold);
    }

    #[test]
    fn players_are_compared_position_by_position() {
        let weaker = Answers { erred: vec![true, true, true, false] };
        let stronger = Answers { erred: vec![true, false, false, false] };
        let excess = weaker.excess_over(&stronger);
        assert!((excess.middle - 0.5).abs() < 1e-9);
        assert!((weaker.error_rate().middle - 0.75).abs() < 1e-9);
        assert!(weaker.excess_over(&weaker).high.abs() < 1e-9);
    }

    #[test]
    fn errors_are_possible_if_moves_have_different_results() {
        let lab = Lab::new(1, 1, true, &|_| {});
        let mut solver = Solver::new(Options::default().with_books(embedded_books()));
        let mut keeping = |moves: &str| {
            let position = Position::from_moves(Setup::STANDARD, moves).unwrap();
            let columns = keeping_columns(&lab, &mut solver, &position).unwrap()?;
            Some(columns.iter().map(|column| column.number()).collect::<Vec<_>>())
        };
        // On the empty board the centre wins and nothing else does.
        assert_eq!(keeping(""), Some(vec![4]));
        // After it the second player has lost, whatever it does.
        assert_eq!(keeping("4"), None);
        // Two discs side by side in the bottom row: either side of them makes three that are open at
        // both ends, and the corners give the win away.
        let columns = keeping("4455").unwrap();
        assert!([3, 6].iter().all(|column| columns.contains(column)), "{columns:?}");
        assert!([1, 7].iter().all(|column| !columns.contains(column)), "{columns:?}");
        assert_eq!(keeping("44553"), None);
    }
}
