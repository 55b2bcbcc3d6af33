//! The lab: seed, threads, scale and cancellation of experiments.

use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use claimeven_game::{Column, Position, Setup};
use claimeven_search::{Limits, RandomGames};

use super::ExperimentError;
use super::exact::Sample;
use crate::game_match::{Match, MatchStatus};
use crate::openings::Openings;
use crate::pool::run_jobs;
use crate::roster::AgentSpec;
use claimeven_zero::{Interval, PairResults};

/// The environment of experiments.
///
/// Findings depend on the seed and on `quick`, but not on the number of threads, except for times.
///
/// ```
/// use claimeven_arena::{Experiment, Lab};
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
    sample: OnceLock<Sample>,
}

/// The progress of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// This many steps are added to the total.
    More(u64),
    /// This many more steps are done.
    Done(u64),
}

/// The results of a match in an experiment.
pub(super) struct PlayedMatch {
    pub(super) status: MatchStatus,
    /// The results of the first movers, over the same pairs of games.
    pub(super) first_mover: PairResults,
    /// Games that differ in the first mover or in their moves.
    pub(super) distinct: u64,
}

impl PlayedMatch {
    /// The score of the first player.
    pub(super) fn score(&self) -> Interval {
        self.status.pairs.score()
    }
}

impl<'a> Lab<'a> {
    /// A lab that reports its progress.
    pub fn new(
        seed: u64,
        threads: usize,
        quick: bool,
        progress: &'a (dyn Fn(Progress) + Sync),
    ) -> Lab<'a> {
        Lab { seed, threads, quick, progress, cancel: Arc::default(), sample: OnceLock::new() }
    }

    /// The same lab, whose experiments end with [`ExperimentError::Cancelled`] after another thread
    /// has set the flag.
    #[must_use]
    pub fn with_cancel(self, cancel: Arc<AtomicBool>) -> Lab<'a> {
        Lab { cancel, ..self }
    }

    /// The limits of all searches: the flag alone.
    pub(super) fn limits(&self) -> Limits {
        Limits::default().with_cancel(Arc::clone(&self.cancel))
    }

    pub(super) fn check_cancelled(&self) -> Result<(), ExperimentError> {
        let cancelled = self.cancel.load(Ordering::Relaxed);
        if cancelled { Err(ExperimentError::Cancelled) } else { Ok(()) }
    }

    /// One of two values: for a full run or for a quick one.
    pub(super) fn either<T>(&self, in_earnest: T, quickly: T) -> T {
        if self.quick { quickly } else { in_earnest }
    }

    pub(super) fn more(&self, steps: u64) {
        (self.progress)(Progress::More(steps));
    }

    pub(super) fn done(&self, steps: u64) {
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

    /// Plays a match; each game is a step of the progress.
    pub(super) fn play(
        &self,
        players: [&AgentSpec; 2],
        openings: &[Vec<Column>],
        games: u64,
    ) -> Result<PlayedMatch, ExperimentError> {
        let planned = Match::new(Setup::STANDARD, players, openings)
            .with_pairs(games.div_ceil(2))
            .with_seed(self.seed)
            .with_threads(self.threads)
            .with_cancel(Arc::clone(&self.cancel));
        let mut seen = HashSet::new();
        let mut first_mover = PairResults::default();
        let status = planned.run(|games, _| {
            first_mover.add(games.iter().map(|game| game.half_points(game.first_player)).sum());
            // When a player meets itself, it does not matter which of the two began.
            let side = |first_player| if players[0] == players[1] { 0 } else { first_player };
            seen.extend(games.iter().map(|game| (side(game.first_player), game.move_text())));
            self.done(2);
        })?;
        self.check_cancelled()?;
        Ok(PlayedMatch { status, first_mover, distinct: seen.len() as u64 })
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
                self.done(1);
                Ok(ControlFlow::Continue(()))
            },
        )?;
        self.check_cancelled()?;
        Ok(results.into_values().collect())
    }

    /// Unfinished positions of random games, with a random number of discs in a range.
    pub(super) fn positions(
        &self,
        count: usize,
        discs: std::ops::RangeInclusive<u32>,
    ) -> Result<Vec<Position>, ExperimentError> {
        let mut random = fastrand::Rng::with_seed(self.seed);
        let games = RandomGames::new(Setup::STANDARD).with_cancel(Arc::clone(&self.cancel));
        let mut sample = || games.sample(random.u32(discs.clone()), &mut random);
        (0..count).map(|_| Ok(*sample()?.position())).collect()
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

/// Openings that are draws under perfect play.
pub(super) const BALANCED: Openings = Openings::Balanced(6);

/// A player of the roster.
pub(super) fn agent(text: &str) -> AgentSpec {
    text.parse().expect("the player is in the roster")
}
