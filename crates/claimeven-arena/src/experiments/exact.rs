//! Players compared with exact scores: how often they give away a win or a draw.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use claimeven_game::{Column, Position, Setup, mix_key};
use claimeven_search::Limits;
use claimeven_solver::{Options, Solver, embedded_books};
use claimeven_work::{DynDispatcher, Files, Job, Work, run_in_order};
use serde::{Deserialize, Serialize};

use super::ExperimentError;
use super::finding::{
    Count, Figure, Finding, Line, LinePanel, Plot, Table, TableCell, Unit, Verdict, percent,
    thousands,
};
use super::lab::{Lab, agent, canonical_key};
use crate::move_units::{MOVES_PER_UNIT, MoveRequest, Moves};
use crate::roster::AgentSpec;
use claimeven_zero::{Interval, simultaneous_z};

/// Positions in which a player can err: some moves keep the result of perfect play and others give
/// it away. They come from different games between levels, so that they resemble those of human games,
/// and no two are the same or mirror images.
pub(super) struct Sample {
    groups: Vec<RangeInclusive<u32>>,
    positions: Vec<TestPosition>,
}

struct TestPosition {
    group: usize,
    position: Position,
    /// The columns that keep the result.
    keeping: Vec<Column>,
}

/// The number of positions for each range of discs.
const SAMPLE_PER_GROUP: usize = 600;

/// The maximum number of games played for one position, and of positions drawn for a suitable one.
const MAX_ATTEMPTS: u32 = 1000;

/// How often duplicate positions are replaced.
const MAX_ROUNDS: u64 = 100;

impl Sample {
    pub(super) fn draw(lab: &Lab) -> Result<Sample, ExperimentError> {
        let groups: Vec<RangeInclusive<u32>> = lab.full_or_quick(
            (0..8).map(|group| 4 * group + 4..=4 * group + 7).collect(),
            vec![24..=27, 28..=31],
        );
        let each = lab.full_or_quick(SAMPLE_PER_GROUP, 6);
        let (mut seen, mut positions) = (HashSet::new(), Vec::new());
        let mut wanted: Vec<(u64, usize)> =
            (0..groups.len() * each).map(|index| (index as u64, index / each)).collect();
        for round in 0..MAX_ROUNDS {
            lab.add_steps(wanted.len() as u64);
            let request = |&(index, group): &(u64, usize)| SampleRequest {
                seed: lab.seed ^ mix_key((round << 32) + index + 1),
                discs: groups[group].clone(),
            };
            let requests: Vec<SampleRequest> = wanted.iter().map(request).collect();
            let drawn = draw_positions(lab, &requests)?;
            let mut repeated = Vec::new();
            for (wanted, SamplePosition { position, keeping }) in wanted.into_iter().zip(drawn) {
                if seen.insert(canonical_key(&position)) {
                    positions.push(TestPosition { group: wanted.1, position, keeping });
                } else {
                    repeated.push(wanted);
                }
            }
            wanted = repeated;
            if wanted.is_empty() {
                return Ok(Sample { groups, positions });
            }
        }
        Err(ExperimentError::NoPosition)
    }

    pub(super) fn len(&self) -> u64 {
        self.positions.len() as u64
    }

    /// Tests a player's move in every position; each position gets a new player.
    pub(super) fn test(&self, lab: &Lab, spec: &AgentSpec) -> Result<TestResults, ExperimentError> {
        lab.add_steps(self.len());
        let seed = |index: usize| lab.seed ^ index as u64;
        let Some(machines) = lab.machines() else {
            let erred = lab.for_each(&self.positions, |index, test| {
                let mut player = spec.build(Setup::STANDARD, seed(index))?;
                let decision = player.decide(&test.position, &lab.limits())?;
                Ok(!test.keeping.contains(&decision.column))
            })?;
            return Ok(TestResults { erred });
        };
        let work = Moves { setup: Setup::STANDARD, player: spec.clone(), is_scored: false };
        let questions: Vec<MoveRequest> = (0..)
            .zip(&self.positions)
            .map(|(index, test)| MoveRequest { position: test.position, seed: seed(index) })
            .collect();
        let machines: &dyn DynDispatcher<Moves> = machines;
        let moves = distribute(lab, machines, &work, &questions, MOVES_PER_UNIT)?;
        let erred = moves
            .iter()
            .zip(&self.positions)
            .map(|(chosen, test)| !test.keeping.contains(&chosen.column));
        Ok(TestResults { erred: erred.collect() })
    }

    /// The share of errors in each group, by the mean number of discs.
    fn by_discs(&self, results: &TestResults) -> Vec<(f64, Interval)> {
        let mut counts = vec![(0, 0); self.groups.len()];
        for (test, &erred) in self.positions.iter().zip(&results.erred) {
            counts[test.group].0 += u64::from(erred);
            counts[test.group].1 += 1;
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

/// Whether a player erred in the positions of a sample, in their order.
pub(super) struct TestResults {
    erred: Vec<bool>,
}

impl TestResults {
    /// The share of errors.
    pub(super) fn error_rate(&self) -> Interval {
        let errors = self.erred.iter().filter(|&&erred| erred).count();
        Interval::of_share(errors as u64, self.erred.len() as u64)
    }

    /// Of the positions in which exactly one of two players errs, the share in which this one does,
    /// with the interval of this many standard errors: the comparison of McNemar's test.
    pub(super) fn share_of_differing_errors(&self, other: &TestResults, z: f64) -> Interval {
        let [here, there] = self.differing_errors(other).map(|count| count as f64);
        let differing = here + there;
        Interval::wilson_at(if differing > 0.0 { here / differing } else { 0.5 }, differing, z)
    }

    /// The positions in which only this player errs, and those in which only the other does.
    fn differing_errors(&self, other: &TestResults) -> [u64; 2] {
        let count = |here| {
            let pairs = self.erred.iter().zip(&other.erred);
            pairs.filter(|&(&a, &b)| a == here && b != here).count() as u64
        };
        [count(true), count(false)]
    }
}

/// Distributes the requests for a player's moves or for positions to other machines.
fn distribute<W, Q, A>(
    lab: &Lab,
    machines: &dyn DynDispatcher<W>,
    work: &W,
    questions: &[Q],
    at_once: usize,
) -> Result<Vec<A>, ExperimentError>
where
    W: Work<Unit = Vec<Q>, Output = Vec<A>>,
    Q: Clone + Sync,
    ExperimentError: From<W::Error>,
{
    let chunks: Vec<&[Q]> = questions.chunks(at_once).collect();
    let unit = |number: u64| chunks[number as usize].to_vec();
    let mut done = 0;
    let progress = |units: u64| {
        let now = (units * at_once as u64).min(questions.len() as u64);
        // After a wrong result of a worker, everything is counted again.
        lab.add_steps(done.max(now) - now);
        lab.finish_steps(now.saturating_sub(done));
        done = now;
    };
    let units = chunks.len() as u64;
    let results = run_in_order(machines, work, units, &unit, Some(lab.cancel()), progress)?;
    lab.check_cancelled()?;
    let results = results.ok_or(ExperimentError::Cancelled)?;
    Ok(results.into_iter().flatten().collect())
}

/// A request for a position in which a player can err.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampleRequest {
    seed: u64,
    /// The range of the number of discs.
    discs: RangeInclusive<u32>,
}

/// A position in which a player can err.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SamplePosition {
    position: Position,
    keeping: Vec<Column>,
}

/// The search for positions in which players can err, as units of work.
#[derive(Clone, Copy, Debug)]
pub struct SamplePositions;

/// The number of positions per unit.
const POSITIONS_PER_UNIT: usize = 4;

fn draw_positions(
    lab: &Lab,
    requests: &[SampleRequest],
) -> Result<Vec<SamplePosition>, ExperimentError> {
    let machines = lab.machines().map(|machines| machines as &dyn DynDispatcher<SamplePositions>);
    match machines {
        Some(machines) => distribute(lab, machines, &SamplePositions, requests, POSITIONS_PER_UNIT),
        None => lab.for_each(requests, |_, request| draw_position(request, &lab.limits())),
    }
}

impl Work for SamplePositions {
    const KIND: &'static str = "sample";
    type Unit = Vec<SampleRequest>;
    type Output = Vec<SamplePosition>;
    type Thread = ();
    type Error = ExperimentError;

    fn job(&self) -> Result<Job, String> {
        Ok(Job::new("positions in which players can err", &()))
    }

    fn open(_: serde_json::Value, _: &Files) -> Result<SamplePositions, String> {
        Ok(SamplePositions)
    }

    fn thread(&self) {}

    fn compute(
        &self,
        (): &mut (),
        unit: &Vec<SampleRequest>,
        cancel: &Arc<AtomicBool>,
    ) -> Result<Option<Vec<SamplePosition>>, ExperimentError> {
        let limits = Limits::default().with_cancel(Arc::clone(cancel));
        let drawn: Result<_, _> =
            unit.iter().map(|request| draw_position(request, &limits)).collect();
        match drawn {
            Err(ExperimentError::Cancelled) => Ok(None),
            drawn => drawn.map(Some),
        }
    }

    fn encode(output: &Vec<SamplePosition>) -> Vec<u8> {
        serde_json::to_vec(output).expect("positions are plain data")
    }

    fn decode(bytes: &[u8]) -> Result<Vec<SamplePosition>, String> {
        serde_json::from_slice(bytes).map_err(|error| error.to_string())
    }

    fn verify(
        &self,
        unit: &Vec<SampleRequest>,
        output: &Vec<SamplePosition>,
    ) -> Result<(), String> {
        let is_one = |(request, drawn): (&SampleRequest, &SamplePosition)| {
            drawn.position.setup() == Setup::STANDARD
                && drawn.position.outcome().is_none()
                && request.discs.contains(&drawn.position.ply())
        };
        if unit.len() == output.len() && unit.iter().zip(output).all(is_one) {
            return Ok(());
        }
        Err("the positions do not match the requests".to_owned())
    }
}

/// A position with a number of discs in a range, in which a player can err.
fn draw_position(
    request: &SampleRequest,
    limits: &Limits,
) -> Result<SamplePosition, ExperimentError> {
    let mut random = fastrand::Rng::with_seed(request.seed);
    let mut solver = Solver::new(Options::default().with_books(embedded_books()));
    for _ in 0..MAX_ATTEMPTS {
        let discs = random.u32(request.discs.clone());
        let position = played_position(limits, discs, &mut random)?;
        if let Some(keeping) = keeping_columns(limits, &mut solver, &position)? {
            return Ok(SamplePosition { position, keeping });
        }
    }
    Err(ExperimentError::NoPosition)
}

/// The position after this many moves of a game between two levels that make mistakes.
fn played_position(
    limits: &Limits,
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
            let column = player.decide(&position, limits)?.column;
            position.play(column).expect("a player's move is legal");
        }
        if limits.cancel.as_ref().is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
            return Err(ExperimentError::Cancelled);
        }
        if position.outcome().is_none() {
            return Ok(position);
        }
    }
    Err(ExperimentError::NoPosition)
}

/// The columns that keep the result of perfect play; `None` if all do.
fn keeping_columns(
    limits: &Limits,
    solver: &mut Solver,
    position: &Position,
) -> Result<Option<Vec<Column>>, ExperimentError> {
    let limits = limits.for_solver();
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

/// Two families of searches, from the least search to the most, and players that do not search.
const FAMILIES: [&[&str]; 3] = [
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

/// The players in the figure.
const DRAWN: [&str; 7] = [
    "random",
    "influence",
    "alphabeta:depth=2",
    "alphabeta:depth=4",
    "alphabeta:depth=8",
    "mcts:sims=1000",
    "mcts:sims=10000",
];

pub(super) fn errors(lab: &Lab) -> Result<Finding, ExperimentError> {
    let keep = lab.full_or_quick(usize::MAX, 2);
    let sample = lab.sample()?;
    let mut families: Vec<Vec<(AgentSpec, TestResults)>> = Vec::new();
    for family in FAMILIES {
        let test = |text: &&str| {
            let spec = agent(text);
            sample.test(lab, &spec).map(|results| (spec, results))
        };
        families.push(family.iter().take(keep).map(test).collect::<Result<_, _>>()?);
    }
    let perfect = sample.test(lab, &agent("perfect"))?;
    let searches = &families[..2];
    let ends: Vec<String> = searches
        .iter()
        .filter_map(|family| {
            let [from, to] = [family.first()?, family.last()?]
                .map(|(spec, results)| format!("{} with `{spec}`", percent(results.error_rate())));
            Some(format!("from {from} to {to}"))
        })
        .collect();
    let (steps, step_rows) = steps(searches);
    let (verdict, because) = judge_errors(&steps, perfect.error_rate());
    let (mut rows, mut lines) = (Vec::new(), Vec::new());
    let perfect = (agent("perfect"), perfect);
    for (spec, results) in families.iter().flatten().chain([&perfect]) {
        let by_discs = sample.by_discs(results);
        let mut row =
            vec![format!("`{spec}`").into(), TableCell::ShareWithin(results.error_rate())];
        row.extend(by_discs.iter().map(|(_, rate)| TableCell::Share(rate.estimate)));
        rows.push(row);
        let name = spec.to_string();
        if lab.quick || DRAWN.contains(&name.as_str()) {
            lines.push(Line { name, points: by_discs });
        }
    }
    let mut head = vec!["player".to_owned(), "errors".to_owned()];
    head.extend(sample.groups.iter().map(name));
    Ok(Finding {
        run: format!(
            "{} different positions of games between levels 2 to 6, {} for each range of discs, in each \
             of which some move keeps the result of perfect play and some other gives it away. A \
             player errs if it gives away a win or a draw; exact scores are the solver's. All players \
             get the same positions. A step from less to more search is judged by the positions in \
             which exactly one of the two errs (McNemar's test).",
            thousands(sample.len()),
            sample.len() as usize / sample.groups.len()
        ),
        left_out:
            "Searches other than alpha-beta with `galli` and `mcts`, and a comparison of the two, \
                   whose cost differs. `random` and `influence` do not search and are shown for \
                   orientation."
                .to_owned(),
        commands: Vec::new(),
        measured: format!("Errors fall {}.", ends.join(", ")),
        verdict,
        because,
        tables: vec![
            Table {
                caption:
                    "Share of errors in all positions, and by the number of discs on the board"
                        .to_owned(),
                head,
                rows,
            },
            Table::new(
                "Steps from less to more search: positions in which only one of the two errs, and the \
                 share of them in which it is the one with less search, with simultaneous intervals",
                &["less", "more", "only less errs", "only more errs", "share"],
                step_rows,
            ),
        ],
        figures: vec![Figure {
            name: "errors".to_owned(),
            title: "How often a move gives away a win or a draw".to_owned(),
            caption: "In positions where that is possible, by the discs on the board; bars are \
                      ordinary 95 % intervals."
                .to_owned(),
            plot: Plot::Lines(vec![LinePanel {
                title: "share of moves that are errors".to_owned(),
                x_label: "discs on the board".to_owned(),
                ticks: sample.groups.iter().map(|group| (middle(group), name(group))).collect(),
                unit: Unit::Share,
                logarithmic: false,
                lines,
            }]),
        }],
    })
}

/// Each player of a family compared with the one that searches less, and the rows of a table.
fn steps(families: &[Vec<(AgentSpec, TestResults)>]) -> (Vec<Interval>, Vec<Vec<TableCell>>) {
    let pairs: Vec<_> = families.iter().flat_map(|family| family.windows(2)).collect();
    let z = simultaneous_z(pairs.len() as u64);
    pairs
        .into_iter()
        .map(|pair| {
            let [(less, before), (more, after)] = pair else { unreachable!("pairs have two") };
            let step = before.share_of_differing_errors(after, z);
            let [only_before, only_after] = before.differing_errors(after);
            let row = vec![
                format!("`{less}`").into(),
                format!("`{more}`").into(),
                TableCell::Count(only_before),
                TableCell::Count(only_after),
                TableCell::ShareWithin(step),
            ];
            (step, row)
        })
        .unzip()
}

/// Errors have to fall at each step. An error of `perfect` would be a bug of the experiment.
fn judge_errors(steps: &[Interval], perfect: Interval) -> (Verdict, String) {
    if perfect.estimate > 0.0 {
        return (Verdict::DoesNotHold, "perfect play erred, which is impossible".to_owned());
    }
    let count = Count::above(0.5, steps.iter().copied());
    (count.verdict(), format!("{}; perfect play never errs", count.words("steps")))
}

#[cfg(test)]
mod tests {
    use claimeven_zero::Z95;

    use super::*;

    #[test]
    fn errors_have_to_fall_at_each_step() {
        let fall = Interval { low: 0.52, estimate: 0.55, high: 0.58 };
        let open = Interval { low: 0.49, estimate: 0.51, high: 0.53 };
        let (none, one) = (Interval::of_share(0, 100), Interval::of_share(1, 100));
        assert_eq!(judge_errors(&[fall, fall], none).0, Verdict::Holds);
        assert_eq!(judge_errors(&[fall, open], none).0, Verdict::Undecided);
        let rise = Interval { low: 0.41, estimate: 0.44, high: 0.47 };
        assert_eq!(judge_errors(&[fall, rise], none).0, Verdict::HoldsInPart);
        assert_eq!(judge_errors(&[rise], none).0, Verdict::DoesNotHold);
        assert_eq!(judge_errors(&[fall, fall], one).0, Verdict::DoesNotHold);
    }

    #[test]
    fn players_are_compared_position_by_position() {
        let weaker = TestResults { erred: vec![true, true, true, false] };
        let stronger = TestResults { erred: vec![true, false, false, false] };
        assert_eq!(weaker.differing_errors(&stronger), [2, 0]);
        let share = weaker.share_of_differing_errors(&stronger, Z95);
        assert_eq!(share, Interval::of_share(2, 2));
        assert!((weaker.error_rate().estimate - 0.75).abs() < 1e-9);
        let same = weaker.share_of_differing_errors(&weaker, Z95);
        assert_eq!(same, Interval { low: 0.0, estimate: 0.5, high: 1.0 });
    }

    #[test]
    fn errors_are_possible_if_moves_have_different_results() {
        let lab = Lab::new(1, 1, true, &|_| {});
        let mut solver = Solver::new(Options::default().with_books(embedded_books()));
        let mut keeping = |moves: &str| {
            let position = Position::from_moves(Setup::STANDARD, moves).unwrap();
            let columns = keeping_columns(&lab.limits(), &mut solver, &position).unwrap()?;
            Some(columns.iter().map(|column| column.number()).collect::<Vec<_>>())
        };
        // On the empty board the centre wins and nothing else does.
        assert_eq!(keeping(""), Some(vec![4]));
        // After that, every move of the second player loses.
        assert_eq!(keeping("4"), None);
        // Two discs side by side in the bottom row: either side of them makes three that are open at
        // both ends, and the corners give the win away.
        let columns = keeping("4455").unwrap();
        assert!([3, 6].iter().all(|column| columns.contains(column)), "{columns:?}");
        assert!([1, 7].iter().all(|column| !columns.contains(column)), "{columns:?}");
        assert_eq!(keeping("44553"), None);
    }
}
