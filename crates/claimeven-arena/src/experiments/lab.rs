//! The lab: seed, threads, scale and cancellation of experiments.

use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use claimeven_game::{Bits, Column, Position, Setup, mix_key, with_board};
use claimeven_search::{Limits, RandomGames};
use claimeven_work::{Dispatcher, DynDispatcher, run_jobs};
use serde::{Deserialize, Serialize};

use super::ExperimentError;
use super::exact::{Sample, SamplePositions};
use super::finding::score_of_games;
use super::match_journal::MatchJournal;
use crate::game_match::{Match, MatchEvent};
use crate::game_units::Games;
use crate::move_units::Moves;
use crate::openings::Openings;
use crate::record::GameRecord;
use crate::roster::AgentSpec;
use claimeven_zero::{Interval, PairResults, simultaneous_z};

/// The environment of experiments.
///
/// Findings depend on the seed and on `quick`, but not on the number of threads, except for times.
///
/// ```
/// use claimeven_arena::experiments::{Experiment, Lab};
///
/// let lab = Lab::new(1, 2, true, &|_| {});
/// let finding = Experiment::named("same-value")?.run(&lab)?;
/// println!("{}: {}", finding.verdict, finding.because);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Lab<'a> {
    /// The seed of all random choices.
    pub seed: u64,
    /// The number of games or searches that run at the same time.
    pub threads: usize,
    /// Whether to run a smoke test: a few games and positions, whose findings mean nothing.
    pub quick: bool,
    progress: &'a (dyn Fn(Progress) + Sync),
    cancel: Arc<AtomicBool>,
    journal: Option<MatchJournal>,
    machines: Option<&'a dyn LabMachines>,
    sample: OnceLock<Sample>,
}

/// Machines that do the work of experiments. Every dispatcher implements this.
pub trait LabMachines:
    DynDispatcher<Games> + DynDispatcher<Moves> + DynDispatcher<SamplePositions> + Sync
{
}

impl<D: Dispatcher + Sync> LabMachines for D {}

/// The progress of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// This many steps are added to the total.
    More(u64),
    /// This many more steps are done.
    Done(u64),
}

/// The results of a match in an experiment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PlayedMatch {
    /// Games won, drawn and lost by the first player.
    pub(super) results: [u64; 3],
    /// The results of the first player by pairs that differ from all earlier ones.
    pub(super) pairs: PairResults,
    /// The same after the first look. Matches that continue are close, so only these results may be
    /// pooled over matches.
    pub(super) first_look: PairResults,
    /// Distinct games won, drawn and lost by the first mover.
    pub(super) first_mover: [u64; 3],
    /// Games that differ in the first mover or in their moves.
    pub(super) distinct: u64,
    /// The standard errors of its intervals.
    #[serde(skip)]
    pub(super) z: f64,
}

impl PlayedMatch {
    /// The score of the first player.
    pub(super) fn score(&self) -> Interval {
        self.pairs.score_at(self.z)
    }

    /// The score of the first movers.
    pub(super) fn first_mover_score(&self) -> Interval {
        score_of_games(self.first_mover, self.z)
    }

    pub(super) fn games(&self) -> u64 {
        self.results.iter().sum()
    }
}

/// Whose score in a match a claim is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScoreOf {
    FirstPlayer,
    FirstMover,
}

impl<'a> Lab<'a> {
    /// A lab that reports its progress.
    pub fn new(
        seed: u64,
        threads: usize,
        quick: bool,
        progress: &'a (dyn Fn(Progress) + Sync),
    ) -> Lab<'a> {
        let (cancel, sample) = (Arc::default(), OnceLock::new());
        Lab { seed, threads, quick, progress, cancel, journal: None, machines: None, sample }
    }

    /// Has other machines play the games and test the positions. Findings are the same.
    #[must_use]
    pub fn with_machines(self, machines: &'a dyn LabMachines) -> Lab<'a> {
        Lab { machines: Some(machines), ..self }
    }

    /// The machines; `None` if this process does the work.
    pub(super) fn machines(&self) -> Option<&'a dyn LabMachines> {
        self.machines
    }

    pub(super) fn cancel(&self) -> &AtomicBool {
        &self.cancel
    }

    /// Sets a flag with which another thread can cancel experiments, which then end with
    /// [`ExperimentError::Cancelled`].
    #[must_use]
    pub fn with_cancel(self, cancel: Arc<AtomicBool>) -> Lab<'a> {
        Lab { cancel, ..self }
    }

    /// Keeps finished matches in a journal and does not replay those it contains.
    #[must_use]
    pub fn with_journal(self, journal: MatchJournal) -> Lab<'a> {
        Lab { journal: Some(journal), ..self }
    }

    /// The limits of all searches: only the cancel flag.
    pub(super) fn limits(&self) -> Limits {
        Limits::default().with_cancel(Arc::clone(&self.cancel))
    }

    pub(super) fn check_cancelled(&self) -> Result<(), ExperimentError> {
        let cancelled = self.cancel.load(Ordering::Relaxed);
        if cancelled { Err(ExperimentError::Cancelled) } else { Ok(()) }
    }

    /// The first value for a full run, the second for a quick one.
    pub(super) fn full_or_quick<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }

    pub(super) fn add_steps(&self, steps: u64) {
        (self.progress)(Progress::More(steps));
    }

    pub(super) fn finish_steps(&self, steps: u64) {
        (self.progress)(Progress::Done(steps));
    }

    /// Distinct openings, those of `claimeven match` for the same number of games and seed.
    pub(super) fn openings(
        &self,
        how: &Openings,
        games: u64,
    ) -> Result<Vec<Vec<Column>>, ExperimentError> {
        let (count, limits) = (games.div_ceil(2) as usize, self.limits().for_solver());
        let openings = how.choose_within(Setup::STANDARD, count, self.seed, &limits);
        self.check_cancelled()?;
        Ok(openings?)
    }

    /// Plays a match until the interval of a score no longer contains one half, looking after each of
    /// these numbers of games; each game is a step of the progress. The last number is the budget.
    ///
    /// The match is one of several comparisons of a claim. With 95 % confidence, all intervals of
    /// the claim contain the true scores, at all looks (Bonferroni).
    pub(super) fn play_until(
        &self,
        players: [&AgentSpec; 2],
        openings: &[Vec<Column>],
        looks: &[u64],
        comparisons: u64,
        score_of: ScoreOf,
    ) -> Result<PlayedMatch, ExperimentError> {
        let Some(journal) = &self.journal else {
            return self.play_match(players, openings, looks, comparisons, score_of);
        };
        let all = openings.iter().flat_map(|opening| opening.iter().map(|column| column.number()));
        let all = all.fold(0, |hash, column| mix_key(hash ^ u64::from(column)));
        let key = format!(
            "{} {} openings={}:{all:x} looks={looks:?} comparisons={comparisons} {score_of:?} seed={}",
            players[0],
            players[1],
            openings.len(),
            self.seed
        );
        if let Some(played) = journal.find(&key) {
            self.add_steps(played.games());
            self.finish_steps(played.games());
            return Ok(PlayedMatch {
                z: simultaneous_z(comparisons * looks.len() as u64),
                ..played
            });
        }
        let played = self.play_match(players, openings, looks, comparisons, score_of)?;
        journal.add(key, &played).map_err(|error| ExperimentError::Journal(error.to_string()))?;
        Ok(played)
    }

    /// Plays a match as [`Lab::play_until`] describes.
    fn play_match(
        &self,
        players: [&AgentSpec; 2],
        openings: &[Vec<Column>],
        looks: &[u64],
        comparisons: u64,
        score_of: ScoreOf,
    ) -> Result<PlayedMatch, ExperimentError> {
        let mut played = PlayedMatch {
            results: [0; 3],
            pairs: PairResults::default(),
            first_look: PairResults::default(),
            first_mover: [0; 3],
            distinct: 0,
            z: simultaneous_z(comparisons * looks.len() as u64),
        };
        let (mut seen, mut seen_pairs) = (HashSet::new(), HashSet::new());
        for (index, &look) in looks.iter().enumerate() {
            let pairs = played.games() / 2..look.div_ceil(2);
            self.play_pairs(players, openings, pairs, |games| {
                for game in games {
                    played.results[2 - game.half_points(0)] += 1;
                    // When a player meets itself, it does not matter which of the two moved first.
                    let side = if players[0] == players[1] { 0 } else { game.first_player };
                    if seen.insert((side, game.move_text())) {
                        played.distinct += 1;
                        played.first_mover[2 - game.half_points(game.first_player)] += 1;
                    }
                }
                let [first, second] = games;
                if seen_pairs.insert([first.move_text(), second.move_text()]) {
                    played.pairs.add(first.half_points(0) + second.half_points(0));
                }
            })?;
            if index == 0 {
                played.first_look = played.pairs;
            }
            let score = match score_of {
                ScoreOf::FirstPlayer => played.score(),
                ScoreOf::FirstMover => played.first_mover_score(),
            };
            if score.low > 0.5 || score.high < 0.5 {
                break;
            }
        }
        Ok(played)
    }

    /// Plays a match of a fixed number of games.
    pub(super) fn play(
        &self,
        players: [&AgentSpec; 2],
        openings: &[Vec<Column>],
        games: u64,
    ) -> Result<PlayedMatch, ExperimentError> {
        self.play_until(players, openings, &[games], 1, ScoreOf::FirstPlayer)
    }

    /// Plays pairs of games of a match, by their numbers, and reports them in order.
    pub(super) fn play_pairs(
        &self,
        players: [&AgentSpec; 2],
        openings: &[Vec<Column>],
        pairs: std::ops::Range<u64>,
        mut report: impl FnMut(&[GameRecord; 2]),
    ) -> Result<(), ExperimentError> {
        self.add_steps(2 * (pairs.end - pairs.start.min(pairs.end)));
        let planned = Match::new(Setup::STANDARD, players, openings)
            .with_pairs(pairs.end)
            .without_first_pairs(pairs.start)
            .with_seed(self.seed)
            .with_threads(self.threads)
            .with_cancel(Arc::clone(&self.cancel));
        let Some(machines) = self.machines else {
            planned.run(|games, _| {
                report(games);
                self.finish_steps(2);
            })?;
            return self.check_cancelled();
        };
        // A restart may discard some of them, so they are reported at the end.
        let mut played: Vec<[GameRecord; 2]> = Vec::new();
        planned.resume_on(machines, [], |event| match event {
            MatchEvent::Pair { games, .. } => {
                played.push(games.clone());
                self.finish_steps(2);
            }
            MatchEvent::Restart => {
                self.add_steps(2 * played.len() as u64);
                played.clear();
            }
        })?;
        self.check_cancelled()?;
        played.iter().for_each(report);
        Ok(())
    }

    /// Maps items on all threads in their order; each item is a step of the progress.
    pub(super) fn for_each<T: Sync, R: Send>(
        &self,
        items: &[T],
        work: impl Fn(usize, &T) -> Result<R, ExperimentError> + Sync,
    ) -> Result<Vec<R>, ExperimentError> {
        let mut results = BTreeMap::new();
        run_jobs(
            0..items.len(),
            self.threads,
            Some(&self.cancel),
            |&index, _| work(index, &items[index]).map(Some),
            |index, result| {
                results.insert(index, result);
                self.finish_steps(1);
                Ok(ControlFlow::Continue(()))
            },
        )?;
        self.check_cancelled()?;
        Ok(results.into_values().collect())
    }

    /// Distinct unfinished positions of random games, with a random number of discs in a range.
    /// Mirror images are not distinct.
    pub(super) fn positions(
        &self,
        count: usize,
        discs: std::ops::RangeInclusive<u32>,
    ) -> Result<Vec<Position>, ExperimentError> {
        let mut random = fastrand::Rng::with_seed(self.seed);
        let games = RandomGames::new(Setup::STANDARD).with_cancel(Arc::clone(&self.cancel));
        let (mut seen, mut positions) = (HashSet::new(), Vec::new());
        for _ in 0..1000 * count {
            if positions.len() == count {
                return Ok(positions);
            }
            let position = *games.sample(random.u32(discs.clone()), &mut random)?.position();
            if seen.insert(canonical_key(&position)) {
                positions.push(position);
            }
        }
        Err(ExperimentError::NoPosition)
    }

    /// The positions in which a player can err, drawn once per lab.
    pub(super) fn sample(&self) -> Result<&Sample, ExperimentError> {
        if let Some(sample) = self.sample.get() {
            return Ok(sample);
        }
        let sample = Sample::draw(self)?;
        Ok(self.sample.get_or_init(|| sample))
    }
}

/// A key that a position shares only with its mirror image.
pub(super) fn canonical_key(position: &Position) -> u128 {
    with_board!(position, board => board.canonical_key().widen())
}

/// Openings that are draws under perfect play.
pub(super) const BALANCED: Openings = Openings::Balanced(6);

/// A player of the roster.
pub(super) fn agent(text: &str) -> AgentSpec {
    text.parse().expect("the player is in the roster")
}
