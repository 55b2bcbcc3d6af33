//! Where experiments are run: how many threads, which seed, how much of everything.

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
use crate::statistics::{Interval, PairResults};

/// Where experiments are run.
///
/// What is found depends on the seed and on whether it is to be quick, and not on the threads;
/// times excepted.
pub struct Lab<'a> {
    /// What chance decides by.
    pub seed: u64,
    /// How many games or searches to run at the same time.
    pub threads: usize,
    /// Whether to do so little of everything that it takes seconds and says next to nothing.
    pub quick: bool,
    progress: &'a (dyn Fn(Progress) + Sync),
    cancel: Arc<AtomicBool>,
    sample: OnceLock<Sample>,
}

/// How far an experiment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It has so many steps more.
    More(u64),
    /// So many steps are done.
    Done(u64),
}

/// The games of two players, and what they show.
pub(super) struct PlayedMatch {
    pub(super) status: MatchStatus,
    /// The score of whoever began, over the same pairs of games.
    pub(super) first_mover: PairResults,
    /// Games that differ in who began or in their moves.
    pub(super) distinct: u64,
}

impl PlayedMatch {
    /// The score of the first player.
    pub(super) fn score(&self) -> Interval {
        self.status.pairs.score()
    }
}

impl<'a> Lab<'a> {
    /// A lab that tells how far it is.
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

    /// As much as is to be done of something: in earnest, or quickly.
    pub(super) fn either<T>(&self, in_earnest: T, quickly: T) -> T {
        if self.quick { quickly } else { in_earnest }
    }

    pub(super) fn more(&self, steps: u64) {
        (self.progress)(Progress::More(steps));
    }

    pub(super) fn done(&self, steps: u64) {
        (self.progress)(Progress::Done(steps));
    }

    /// Different openings, the same as `claimeven match` takes for as many games and the seed.
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

    /// Lets two players play, and counts each game as a step.
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

    /// Does something with every item on all threads, keeps the order, and counts each as a step.
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

    /// Positions of random games that are not over, with any number of discs in a range.
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

    /// Positions in which one can err; they are drawn once.
    pub(super) fn sample(&self) -> Result<&Sample, ExperimentError> {
        if let Some(sample) = self.sample.get() {
            return Ok(sample);
        }
        let sample = Sample::draw(self)?;
        Ok(self.sample.get_or_init(|| sample))
    }
}

/// Openings that neither side has lost yet.
pub(super) const BALANCED: Openings = Openings::Balanced(6);

/// A player of the roster.
pub(super) fn agent(text: &str) -> AgentSpec {
    text.parse().expect("the player is in the roster")
}
