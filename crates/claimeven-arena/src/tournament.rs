//! Tournaments: all games of a plan, on several threads, resumed after interruptions.

use std::fmt;
use std::ops::ControlFlow::{self, Break, Continue};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use claimeven_game::{Column, Game, mix_key};
use claimeven_solver::Limits;
use claimeven_work::{DispatchEvent, Dispatcher, Local, run_jobs};

use crate::game::{MatchError, Pairing, RecordMismatch, play_game_watched};
use crate::game_units::{Games, PlannedGame};
use crate::journal::{Journal, JournalError};
use crate::openings::{OpeningError, Openings};
use crate::plan::{Fixture, TournamentPlan};
use crate::record::GameRecord;
use crate::report::TournamentResults;

/// A tournament: the schedule of a [`TournamentPlan`].
///
/// Games are scheduled round by round, each with one game of every pairing, so that intermediate
/// standings are fair. A game's number, opening and seed depend on the plan alone, so a plan with
/// more games per pairing continues where the shorter one ended.
///
/// ```
/// use claimeven_arena::{TournamentPlan, Tournament};
///
/// let plan = TournamentPlan::from_toml("games = 4\nplayers = ['random', 'alphabeta:depth=2', 'level:1']")?;
/// let results = Tournament::new(&plan)?.run(None, 2, |_| {})?;
/// let report = results.report(&plan);
/// assert_eq!((report.games, report.players.len()), (12, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Tournament<'a> {
    plan: &'a TournamentPlan,
    openings: Vec<Vec<Column>>,
    schedule: Vec<ScheduledGame>,
}

/// A game of a tournament.
#[derive(Clone, Copy, Debug)]
struct ScheduledGame {
    fixture: usize,
    /// The number of the game in its fixture, from 0.
    round: u64,
}

impl<'a> Tournament<'a> {
    /// Chooses the openings of a plan and schedules its games.
    pub fn new(plan: &'a TournamentPlan) -> Result<Tournament<'a>, OpeningError> {
        Tournament::new_within(plan, &Limits::default())
    }

    /// A tournament whose openings are chosen within limits, or [`OpeningError::Stopped`].
    pub fn new_within(
        plan: &'a TournamentPlan,
        limits: &Limits,
    ) -> Result<Tournament<'a>, OpeningError> {
        let count = plan.max_openings();
        let openings = match &plan.openings {
            Some(openings) => openings.choose_within(plan.setup, count, plan.seed, limits)?,
            None => Openings::choose_default_within(plan.setup, count, plan.seed, limits)?,
        };
        let schedule = (0..plan.rounds())
            .flat_map(|round| {
                (0..plan.fixtures.len()).map(move |fixture| ScheduledGame { fixture, round })
            })
            .filter(|game| game.round < plan.fixtures[game.fixture].games)
            .collect();
        Ok(Tournament { plan, openings, schedule })
    }

    /// The number of distinct openings.
    pub fn openings(&self) -> usize {
        self.openings.len()
    }

    /// Plays all games that are not in the journal yet, and adds them to it as they finish.
    ///
    /// Results do not depend on the number of threads, nor on how often a run was interrupted,
    /// unless players have time limits. The results are reported once before the first game, with
    /// those of the journal, and after each game.
    pub fn run(
        &self,
        journal: Option<&Path>,
        threads: usize,
        report: impl FnMut(&TournamentResults),
    ) -> Result<TournamentResults, TournamentError> {
        self.run_on(&Local { threads }, journal, None, report)
    }

    /// Runs the tournament on the machines of a dispatcher, until it is done or the flag is set. If a
    /// machine returns wrong games, the new games are removed from the journal and played again.
    pub fn run_on(
        &self,
        dispatcher: &impl Dispatcher,
        journal: Option<&Path>,
        cancel: Option<&AtomicBool>,
        mut report: impl FnMut(&TournamentResults),
    ) -> Result<TournamentResults, TournamentError> {
        let mut results = TournamentResults::new(self.plan.players.len());
        let mut is_played = vec![false; self.schedule.len()];
        let mut journal = match journal {
            Some(path) => Some(Journal::open(path, |record| {
                let number = self.number_of(&record).map_err(|error| error.to_string())?;
                if std::mem::replace(&mut is_played[number], true) {
                    return Err(format!("game {} occurs twice", record.id));
                }
                self.add_to(&mut results, number, &record);
                Ok(())
            })?),
            None => None,
        };
        let length = match &mut journal {
            Some(journal) => journal.length().map_err(JournalError::File)?,
            None => 0,
        };
        let at_start = results.clone();
        report(&results);
        let mut written = Ok(());
        let played = dispatcher.run(
            &self.games(),
            (0..self.schedule.len() as u64).filter(|&number| !is_played[number as usize]),
            |number| vec![self.planned(number as usize)],
            cancel,
            |taken| {
                let kept = match taken {
                    DispatchEvent::Output(number, records) => {
                        let number = number as usize;
                        records.into_iter().try_for_each(|record| {
                            let record = self.with_names(number, record);
                            if let Some(journal) = &mut journal {
                                journal.append(&record)?;
                            }
                            self.add_to(&mut results, number, &record);
                            report(&results);
                            Ok(())
                        })
                    }
                    DispatchEvent::Restart => {
                        results = at_start.clone();
                        report(&results);
                        journal.as_mut().map_or(Ok(()), |journal| journal.truncate(length))
                    }
                };
                // Without a journal to write to, stop playing.
                let flow = if kept.is_ok() { Continue(()) } else { Break(()) };
                written = kept;
                Ok(flow)
            },
        );
        played.map_err(TournamentError::Game)?;
        written.map_err(JournalError::File)?;
        Ok(results)
    }

    /// Plays all games that have not been played yet, for callers who store the games themselves.
    ///
    /// `take` receives each game as it ends, with the results so far. It may end the run, and so
    /// may the flag. `watch` is called before each move, on the playing threads, with the number of
    /// the game, from 0, and its fixture.
    pub fn resume(
        &self,
        played: impl IntoIterator<Item = GameRecord>,
        threads: usize,
        cancel: &AtomicBool,
        watch: impl Fn(usize, Fixture, &Game) + Sync,
        mut take: impl FnMut(GameRecord, &TournamentResults) -> ControlFlow<()>,
    ) -> Result<TournamentResults, TournamentError> {
        let (mut results, is_played) = self.count(played)?;
        run_jobs(
            (0..self.schedule.len()).filter(|&number| !is_played[number]),
            threads,
            Some(cancel),
            |&number, cancel| {
                let first_player = self.pairing(number).first_player;
                let fixture = Fixture { first_player, ..*self.fixture(number) };
                self.play(number, cancel, |game| watch(number, fixture, game))
                    .map_err(TournamentError::Game)
            },
            |number, record| {
                self.add_to(&mut results, number, &record);
                Ok(take(record, &results))
            },
        )?;
        Ok(results)
    }

    /// Resumes the tournament on the machines of a dispatcher. Tournaments that are played at the
    /// same time need different titles.
    pub fn resume_on(
        &self,
        dispatcher: &impl Dispatcher,
        title: &str,
        played: impl IntoIterator<Item = GameRecord>,
        cancel: &AtomicBool,
        mut take: impl FnMut(TournamentProgress, &TournamentResults) -> ControlFlow<()>,
    ) -> Result<TournamentResults, TournamentError> {
        let (mut results, is_played) = self.count(played)?;
        let at_start = results.clone();
        let result = dispatcher.run(
            &Games { title: Some(title.to_owned()), ..self.games() },
            (0..self.schedule.len() as u64).filter(|&number| !is_played[number as usize]),
            |number| vec![self.planned(number as usize)],
            Some(cancel),
            |taken| match taken {
                DispatchEvent::Output(number, records) => {
                    for record in records {
                        let record = self.with_names(number as usize, record);
                        self.add_to(&mut results, number as usize, &record);
                        if take(TournamentProgress::Game(Box::new(record)), &results).is_break() {
                            return Ok(Break(()));
                        }
                    }
                    Ok(Continue(()))
                }
                DispatchEvent::Restart => {
                    results = at_start.clone();
                    Ok(take(TournamentProgress::Restart, &results))
                }
            },
        );
        result.map_err(TournamentError::Game)?;
        Ok(results)
    }

    /// The results of the played games, and which games of the schedule have been played.
    fn count(
        &self,
        played: impl IntoIterator<Item = GameRecord>,
    ) -> Result<(TournamentResults, Vec<bool>), TournamentError> {
        let mut results = TournamentResults::new(self.plan.players.len());
        let mut is_played = vec![false; self.schedule.len()];
        for (line, record) in (1..).zip(played) {
            let number = self.number_of(&record).map_err(|error| {
                let reason = error.to_string();
                JournalError::Game { line, reason }
            })?;
            if !std::mem::replace(&mut is_played[number], true) {
                self.add_to(&mut results, number, &record);
            }
        }
        Ok((results, is_played))
    }

    fn add_to(&self, results: &mut TournamentResults, number: usize, record: &GameRecord) {
        let ScheduledGame { fixture, round } = self.schedule[number];
        results.add(self.fixture(number).players, (fixture, round / 2), record);
    }

    fn fixture(&self, number: usize) -> &Fixture {
        &self.plan.fixtures[self.schedule[number].fixture]
    }

    /// The pairing of a game, by its number.
    fn pairing(&self, number: usize) -> Pairing<'_> {
        let ScheduledGame { round, .. } = self.schedule[number];
        let fixture = self.fixture(number);
        Pairing {
            setup: self.plan.setup,
            players: fixture.players.map(|player| &self.plan.players[player].agent),
            first_player: (fixture.first_player + (round % 2) as usize) % 2,
            opening: &self.openings[(round / 2) as usize % self.openings.len()],
            seed: self.seed(number),
            time: self.plan.time,
            memory: self.plan.memory,
        }
    }

    /// The seed of a game. Records do not contain the limits of time and memory, so they are mixed in
    /// here: games with other limits have other seeds.
    fn seed(&self, number: usize) -> u64 {
        let ScheduledGame { fixture, round } = self.schedule[number];
        let memory = self.plan.memory.map(|bytes| bytes as u64);
        let parts =
            [fixture as u64, round].into_iter().chain(self.plan.time.micros()).chain(memory);
        parts.fold(self.plan.seed, |seed, part| {
            fastrand::Rng::with_seed(seed ^ mix_key(part)).u64(..)
        })
    }

    fn play(
        &self,
        number: usize,
        cancel: &Arc<AtomicBool>,
        watch: impl Fn(&Game),
    ) -> Result<Option<GameRecord>, MatchError> {
        let id = (number + 1).to_string();
        let record = play_game_watched(&self.pairing(number), id, cancel, watch)?;
        Ok(record.map(|record| self.with_names(number, record)))
    }

    /// A record with the players' names in the plan.
    fn with_names(&self, number: usize, mut record: GameRecord) -> GameRecord {
        for (player, place) in record.players.iter_mut().zip(self.fixture(number).players) {
            player.name.clone_from(&self.plan.players[place].name);
        }
        record
    }

    /// What tells the tournament from others of the same players. The games that have been played
    /// already make no difference.
    fn identity(&self) -> String {
        format!("{} {:?} {:?}", self.plan.seed, self.plan.fixtures, self.openings)
    }

    /// The games as work for a dispatcher.
    fn games(&self) -> Games {
        let players = self.plan.players.iter().map(|entrant| entrant.agent.clone()).collect();
        Games {
            title: None,
            identity: Some(self.identity()),
            setup: self.plan.setup,
            players,
            time: self.plan.time,
            memory: self.plan.memory,
        }
    }

    fn planned(&self, number: usize) -> PlannedGame {
        let Pairing { first_player, opening, seed, .. } = self.pairing(number);
        PlannedGame {
            id: (number + 1).to_string(),
            players: self.fixture(number).players,
            first_player,
            opening: opening.to_vec(),
            seed,
        }
    }

    /// The number of a recorded game, if it belongs to this tournament.
    fn number_of(&self, record: &GameRecord) -> Result<usize, RecordMismatch> {
        let id = &record.id;
        let number = id.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let number = number.filter(|&number| number < self.schedule.len());
        let number = number.ok_or_else(|| RecordMismatch::Unplanned(id.clone()))?;
        let names = self.fixture(number).players.map(|place| &*self.plan.players[place].name);
        self.pairing(number).check_record(record, names)?;
        Ok(number)
    }
}

/// An event of a tournament on other machines.
#[derive(Debug)]
pub enum TournamentProgress {
    /// A game has ended.
    Game(Box<GameRecord>),
    /// A machine returned wrong games: discard all games of this run, they will come again.
    Restart,
}

/// Why a tournament could not be finished.
#[derive(Debug)]
#[non_exhaustive]
pub enum TournamentError {
    /// The journal cannot be used.
    Journal(JournalError),
    /// A game cannot be played.
    Game(MatchError),
}

impl From<JournalError> for TournamentError {
    fn from(error: JournalError) -> TournamentError {
        TournamentError::Journal(error)
    }
}

impl fmt::Display for TournamentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TournamentError::Journal(error) => error.fmt(f),
            TournamentError::Game(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TournamentError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            TournamentError::Journal(error) => Some(error),
            TournamentError::Game(error) => Some(error),
        }
    }
}
