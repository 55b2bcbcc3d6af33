//! One game between two players.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use claimeven_game::{Column, Game, PlayError, Setup};
use claimeven_search::{Agent, AgentError, Limits};
use claimeven_work::WorkError;

use crate::record::{EndReason, GameRecord, MoveRecord, PlayerRecord, ResultRecord};
use crate::replay::RecordError;
use crate::roster::AgentSpec;

/// A pairing: a game to play.
#[derive(Clone, Debug)]
pub struct Pairing<'a> {
    /// The board and the rules.
    pub setup: Setup,
    /// Both players.
    pub players: [&'a AgentSpec; 2],
    /// The player who moves first: 0 or 1.
    pub first_player: usize,
    /// The first moves of the game, which the players do not choose.
    pub opening: &'a [Column],
    /// The seed of the players' random choices.
    pub seed: u64,
    /// The time limits.
    pub time: TimeControl,
    /// The memory limit of each player's tree, in bytes.
    pub memory: Option<usize>,
}

/// A time control: the time limits of players, in addition to those of their own parameters.
///
/// ```
/// use std::time::Duration;
///
/// use claimeven_arena::TimeControl;
///
/// let time = TimeControl { per_move: Some(Duration::from_millis(100)), clock: None };
/// assert_eq!(time.to_string(), "1/0.1");
/// assert_eq!("1/0.1".parse(), Ok(time));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeControl {
    /// The time for a whole game, with an increment per move.
    pub clock: Option<Clock>,
    /// The time for a move.
    pub per_move: Option<Duration>,
}

impl TimeControl {
    /// All limits in microseconds, 0 for none, to derive seeds from.
    pub(crate) fn micros(self) -> [u64; 3] {
        let micros = |time: Option<Duration>| time.map_or(0, |time| time.as_micros() as u64);
        let Clock { base, increment } = self.clock.unwrap_or_default();
        [micros(Some(base)), micros(Some(increment)), micros(self.per_move)]
    }

    /// Whether there is no limit.
    pub fn is_unlimited(self) -> bool {
        self == TimeControl::default()
    }
}

impl fmt::Display for TimeControl {
    /// As in the PGN of chess: `60+0.5`, or `1/0.1` for a tenth of a second per move; `-` without a
    /// limit.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let per_move = self.per_move.map(|time| format!("1/{}", time.as_secs_f64()));
        let clock = self.clock.map(|clock| clock.to_string());
        let parts: Vec<String> = [clock, per_move].into_iter().flatten().collect();
        let text = parts.join(", ");
        f.pad(if text.is_empty() { "-" } else { &text })
    }
}

impl FromStr for TimeControl {
    type Err = ParseTimeError;

    fn from_str(text: &str) -> Result<TimeControl, ParseTimeError> {
        let mut time = TimeControl::default();
        for part in text.split(", ").filter(|_| text != "-") {
            let is_repeated = match part.strip_prefix("1/") {
                Some(per_move) => time.per_move.replace(parse_seconds(per_move)?).is_some(),
                None => time.clock.replace(part.parse()?).is_some(),
            };
            if is_repeated {
                return Err(ParseTimeError::Repeated(part.to_owned()));
            }
        }
        Ok(time)
    }
}

/// A clock: the time for a whole game, with an increment.
///
/// ```
/// use std::time::Duration;
///
/// use claimeven_arena::Clock;
///
/// let clock: Clock = "60+0.5".parse()?;
/// assert_eq!((clock.base.as_secs(), clock.increment), (60, Duration::from_millis(500)));
/// assert_eq!(clock.to_string(), "60+0.5");
/// # Ok::<(), claimeven_arena::ParseTimeError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// The time at the start.
    pub base: Duration,
    /// The increment after each move.
    pub increment: Duration,
}

impl Clock {
    /// The time for the next move given the time left: a sixteenth of it plus three quarters of the
    /// increment, but at most nine tenths of the time left.
    pub fn budget(self, left: Duration) -> Duration {
        let share = left / 16 + self.increment * 3 / 4;
        share.min(left * 9 / 10)
    }
}

impl fmt::Display for Clock {
    /// Seconds and increment, as in `60+0.5`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.base.as_secs_f64(), self.increment.as_secs_f64())
    }
}

impl FromStr for Clock {
    type Err = ParseTimeError;

    /// Seconds, or seconds and increment, as in `60+0.5`.
    fn from_str(text: &str) -> Result<Clock, ParseTimeError> {
        let (base, increment) = text.split_once('+').unwrap_or((text, "0"));
        Ok(Clock { base: parse_seconds(base)?, increment: parse_seconds(increment)? })
    }
}

fn parse_seconds(text: &str) -> Result<Duration, ParseTimeError> {
    match text.parse() {
        Ok(seconds @ 0.0..=86_400.0) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err(ParseTimeError::Seconds(text.to_owned())),
    }
}

/// Why a text is not a [`Clock`] or a [`TimeControl`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseTimeError {
    /// A part is not a number of seconds from 0 to 86400.
    Seconds(String),
    /// A second clock, or a second time per move.
    Repeated(String),
}

impl fmt::Display for ParseTimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseTimeError::Seconds(text) => {
                write!(f, "'{text}' is not a number of seconds from 0 to 86400")
            }
            ParseTimeError::Repeated(text) => write!(f, "a second limit of this kind: '{text}'"),
        }
    }
}

impl std::error::Error for ParseTimeError {}

/// Plays a game; `None` if it was cancelled.
///
/// ```
/// use std::sync::Arc;
///
/// use claimeven_arena::{AgentSpec, Pairing, TimeControl, play_game};
/// use claimeven_game::Setup;
///
/// let players: [AgentSpec; 2] = ["alphabeta:depth=3".parse()?, "random".parse()?];
/// let pairing = Pairing {
///     setup: Setup::STANDARD,
///     players: players.each_ref(),
///     first_player: 0,
///     opening: &[],
///     seed: 1,
///     time: TimeControl::default(),
///     memory: None,
/// };
/// let record = play_game(&pairing, "1".to_owned(), &Arc::default())?.expect("not cancelled");
/// println!("{} {:?}", record.move_text(), record.result);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn play_game(
    pairing: &Pairing,
    id: String,
    cancel: &Arc<AtomicBool>,
) -> Result<Option<GameRecord>, MatchError> {
    play_game_watched(pairing, id, cancel, |_| {})
}

/// Plays a game and calls `watch` before each move; `None` if it was cancelled.
pub fn play_game_watched(
    pairing: &Pairing,
    id: String,
    cancel: &Arc<AtomicBool>,
    watch: impl Fn(&Game),
) -> Result<Option<GameRecord>, MatchError> {
    let Pairing { setup, players, first_player, opening, seed, time, memory } = *pairing;
    if first_player > 1 {
        return Err(MatchError::FirstPlayer(first_player));
    }
    let mut game = play_opening(setup, opening)?;
    let mut moves: Vec<MoveRecord> = opening.iter().copied().map(MoveRecord::given).collect();
    let mut agents = build_players(setup, players.map(Some), seed, !time.is_unlimited())?;
    let mut is_prepared = [false; 2];
    let started = jiff::Timestamp::now();
    let mut left = [time.clock.map(|clock| clock.base); 2];
    let result = loop {
        if let Some(result) = ResultRecord::of_game(&game, first_player) {
            break result;
        }
        watch(&game);
        let turn = (game.moves().len() + first_player) % 2;
        let budget = time.clock.zip(left[turn]).map(|(clock, left)| clock.budget(left));
        let limits = Limits {
            time: [budget, time.per_move].into_iter().flatten().min(),
            cancel: Some(Arc::clone(cancel)),
            memory,
            ..Limits::default()
        };
        let agent = agents[turn].as_mut().expect("both players are programs");
        let is_ready = std::mem::replace(&mut is_prepared[turn], true);
        let ready = if is_ready { Ok(()) } else { agent.prepare(setup) };
        let decision = ready.and_then(|()| agent.decide(game.position(), &limits));
        if cancel.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let forfeit =
            |game: &Game| ResultRecord::lost(game, first_player, turn, EndReason::Forfeit);
        let decision = match decision {
            Ok(decision) => decision,
            Err(error) => break forfeit(&game).with_detail(error),
        };
        if let (Some(clock), Some(left)) = (time.clock, &mut left[turn]) {
            match left.checked_sub(decision.time) {
                Some(rest) => *left = rest + clock.increment,
                None => break ResultRecord::lost(&game, first_player, turn, EndReason::Time),
            }
        }
        if let Err(error) = game.play(decision.column) {
            break forfeit(&game).with_detail(error);
        }
        moves.push(MoveRecord::chosen(&decision));
    };
    let player =
        |spec: &AgentSpec| PlayerRecord { agent: spec.to_string(), name: spec.to_string() };
    Ok(Some(GameRecord {
        version: GameRecord::VERSION,
        id,
        time: started.to_string(),
        setup,
        players: players.map(player),
        first_player,
        seed,
        time_control: (!time.is_unlimited()).then(|| time.to_string()),
        opening_moves: opening.len(),
        moves,
        result,
    }))
}

/// The game after an opening.
pub(crate) fn play_opening(setup: Setup, opening: &[Column]) -> Result<Game, MatchError> {
    let mut game = Game::new(setup);
    for (&column, ply) in opening.iter().zip(1..) {
        game.play(column).map_err(|error| MatchError::Opening { ply, error })?;
    }
    Ok(game)
}

/// Why a game or a match cannot be played.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MatchError {
    /// The first player of a pairing is neither 0 nor 1.
    FirstPlayer(usize),
    /// The match has no openings; the empty board is an opening without moves.
    NoOpenings,
    /// An opening has an illegal move.
    Opening {
        /// The number of the move, from 1.
        ply: usize,
        /// Why the move is illegal.
        error: PlayError,
    },
    /// A player cannot play.
    Agent(AgentError),
    /// A recorded game is not one of the match.
    Record(RecordMismatch),
    /// A planned game names a player that is not in the list of players.
    #[allow(missing_docs, reason = "self-explanatory")]
    Player { id: String, player: usize },
    /// Other machines cannot play the games.
    Work(WorkError),
}

impl From<WorkError> for MatchError {
    fn from(error: WorkError) -> MatchError {
        MatchError::Work(error)
    }
}

impl From<AgentError> for MatchError {
    fn from(error: AgentError) -> MatchError {
        MatchError::Agent(error)
    }
}

impl fmt::Display for MatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MatchError::FirstPlayer(place) => {
                write!(f, "first player {place}: must be 0 or 1")
            }
            MatchError::NoOpenings => f.write_str("the match has no openings"),
            MatchError::Opening { ply, error } => write!(f, "move {ply} of an opening: {error}"),
            MatchError::Agent(error) => error.fmt(f),
            MatchError::Record(error) => error.fmt(f),
            MatchError::Player { id, player } => write!(f, "game {id} has no player {player}"),
            MatchError::Work(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for MatchError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            MatchError::FirstPlayer(_) | MatchError::NoOpenings | MatchError::Player { .. } => None,
            MatchError::Record(error) => Some(error),
            MatchError::Opening { error, .. } => Some(error),
            MatchError::Agent(error) => Some(error),
            MatchError::Work(error) => Some(error),
        }
    }
}

/// Why a recorded game does not belong to a match or a tournament.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordMismatch {
    /// The record is invalid.
    Invalid(RecordError),
    /// No planned game has this id.
    Unplanned(String),
    /// The planned game differs.
    Different {
        /// The game's id.
        id: String,
        /// What differs, such as `board` or `opening`.
        part: &'static str,
    },
}

impl fmt::Display for RecordMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordMismatch::Invalid(error) => error.fmt(f),
            RecordMismatch::Unplanned(id) => write!(f, "game '{id}' is not in the plan"),
            RecordMismatch::Different { id, part } => {
                write!(f, "game {id} differs from the plan in its {part}")
            }
        }
    }
}

impl std::error::Error for RecordMismatch {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            RecordMismatch::Invalid(error) => Some(error),
            RecordMismatch::Unplanned(_) | RecordMismatch::Different { .. } => None,
        }
    }
}

impl Pairing<'_> {
    /// Checks that a recorded game between players of these names is the planned one.
    pub(crate) fn check_record(
        &self,
        record: &GameRecord,
        names: [&str; 2],
    ) -> Result<(), RecordMismatch> {
        let game = record.replay().map_err(RecordMismatch::Invalid)?;
        let other = |part| Err(RecordMismatch::Different { id: record.id.clone(), part });
        if record.setup != self.setup {
            return other("board");
        }
        let is_planned = |side: usize| {
            let player = &record.players[side];
            player.agent == self.players[side].to_string() && player.name == names[side]
        };
        if !(is_planned(0) && is_planned(1)) {
            return other("player");
        }
        if record.seed != self.seed {
            return other("seed or time control");
        }
        if record.first_player != self.first_player {
            return other("first player");
        }
        let is_opening = game.moves().starts_with(self.opening);
        if record.opening_moves != self.opening.len() || !is_opening {
            return other("opening");
        }
        Ok(())
    }
}

/// Builds the players of a game from its seed; `None` stands for a person.
pub(crate) fn build_players(
    setup: Setup,
    players: [Option<&AgentSpec>; 2],
    seed: u64,
    is_timed: bool,
) -> Result<[Option<Box<dyn Agent>>; 2], AgentError> {
    let mut seeds = fastrand::Rng::with_seed(seed);
    let [first, second] = players.map(|player| {
        let seed = seeds.u64(..);
        let build = |spec: &AgentSpec| {
            if is_timed { spec.build_timed(setup, seed) } else { spec.build(setup, seed) }
        };
        player.map(build).transpose()
    });
    Ok([first?, second?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_controls_round_trip_through_their_text() {
        for text in ["-", "60+0", "0.25+0.001", "1/0.1", "300+2.5, 1/10"] {
            let time: TimeControl = text.parse().unwrap();
            assert_eq!(time.to_string(), text);
        }
        assert_eq!("90".parse::<Clock>().unwrap().to_string(), "90+0");
        for (text, part) in [("", ""), ("1/", ""), ("60+x", "x"), ("-1", "-1"), ("86401", "86401")]
        {
            let error = text.parse::<TimeControl>().unwrap_err();
            assert_eq!(error, ParseTimeError::Seconds(part.to_owned()));
        }
        let error = "60, 70".parse::<TimeControl>().unwrap_err();
        assert_eq!(error.to_string(), "a second limit of this kind: '70'");
    }
}
