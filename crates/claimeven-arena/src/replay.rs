//! Checks of records: against the rules, and against the players' choices.

use std::fmt;

use claimeven_game::{Column, Game, PlayError};
use claimeven_search::{Agent, AgentError, Limits};

use crate::game::build_players;
use crate::record::{EndReason, GameRecord, ResultRecord};
use crate::roster::{Participant, SpecError};

impl GameRecord {
    /// Replays the recorded moves. Every move must be legal, and the result must be that of the last
    /// position by the rules.
    pub fn replay(&self) -> Result<Game, RecordError> {
        self.replayed().map_err(|kind| RecordError { id: self.id.clone(), kind })
    }

    /// Has the players choose their moves again, with the recorded seed. Returns the number of
    /// moves chosen, which excludes people's moves and opening moves.
    ///
    /// Records do not contain time limits, so players that had one may choose other moves.
    pub fn choose_again(&self) -> Result<usize, RecordError> {
        self.chosen_again().map_err(|kind| RecordError { id: self.id.clone(), kind })
    }

    fn replayed(&self) -> Result<Game, RecordErrorKind> {
        // 1. The header.
        if self.version != GameRecord::VERSION {
            return Err(RecordErrorKind::Version(self.version));
        }
        if self.first_player > 1 {
            return Err(RecordErrorKind::FirstPlayer(self.first_player));
        }
        let (opening, moves) = (self.opening_moves, self.moves.len());
        if opening > moves {
            return Err(RecordErrorKind::Opening { opening, moves });
        }

        // 2. The moves.
        let mut game = Game::new(self.setup);
        for (number, played) in (1..).zip(&self.moves) {
            let column = usize::from(played.column).checked_sub(1).and_then(Column::from_index);
            let reason = match column.map(|column| game.play(column)) {
                Some(Ok(())) => continue,
                Some(Err(reason)) => Some(reason),
                None => None,
            };
            return Err(RecordErrorKind::Move { number, column: played.column, reason });
        }

        // 3. The result.
        self.check_result(&game)?;
        Ok(game)
    }

    fn check_result(&self, game: &Game) -> Result<(), RecordErrorKind> {
        let ResultRecord { winner, reason, scores, detail: _ } = &self.result;
        let by_rules = ResultRecord::of_game(game, self.first_player);
        let expected = match (&by_rules, reason) {
            (Some(result), _) => result.clone(),
            (None, EndReason::Line | EndReason::BoardFull) => {
                return Err(RecordErrorKind::Unfinished(*reason));
            }
            (None, EndReason::Time | EndReason::Forfeit) => {
                ResultRecord::lost(game, self.first_player, self.mover(self.moves.len()), *reason)
            }
            (None, EndReason::Unfinished) => ResultRecord::unfinished(game, self.first_player),
            // Either player may resign at any time.
            (None, EndReason::Resigned) => {
                let loser = usize::from(*winner == Some(0));
                ResultRecord::lost(game, self.first_player, loser, *reason)
            }
            (None, EndReason::Agreed) => self.undecided(game, None),
            // The player who stayed wins; there is no winner if both left.
            (None, EndReason::Abandoned) => self.undecided(game, *winner),
        };
        if *winner != expected.winner {
            return Err(RecordErrorKind::Winner { recorded: *winner, expected: expected.winner });
        }
        if *reason != expected.reason {
            return Err(RecordErrorKind::Reason { recorded: *reason, expected: expected.reason });
        }
        if *scores != expected.scores {
            return Err(RecordErrorKind::Scores { recorded: *scores, expected: expected.scores });
        }
        Ok(())
    }

    /// The recorded result with this winner.
    fn undecided(&self, game: &Game, winner: Option<usize>) -> ResultRecord {
        let lost = ResultRecord::lost(game, self.first_player, 0, self.result.reason);
        ResultRecord { winner, ..lost }
    }

    fn chosen_again(&self) -> Result<usize, RecordErrorKind> {
        let game = self.replayed()?;
        let setup = game.position().setup();
        let spec = |place: usize| match self.players[place].agent.parse() {
            Ok(Participant::Agent(spec)) => Ok(Some(spec)),
            Ok(Participant::Human) => Ok(None),
            Err(error) => Err(RecordErrorKind::Agent(error)),
        };
        let (first, second) = (spec(0)?, spec(1)?);
        let players = [first.as_ref(), second.as_ref()];
        let is_timed = self.time_control.is_some();
        let agents = build_players(setup, players, self.seed, is_timed);
        let mut agents = agents.map_err(RecordErrorKind::Unsupported)?;
        let mut again = Game::new(setup);
        let mut chosen = 0;
        for (ply, &recorded) in game.moves().iter().enumerate() {
            let mover = self.mover(ply);
            if let (true, Some(agent)) = (ply >= self.opening_moves, &mut agents[mover]) {
                let differs =
                    |choice| RecordErrorKind::Choice { number: ply + 1, mover, recorded, choice };
                match choice(agent.as_mut(), &again) {
                    Ok(column) if column == recorded => chosen += 1,
                    choice => return Err(differs(choice)),
                }
            }
            again.play(recorded).expect("the game has been replayed");
        }
        Ok(chosen)
    }
}

fn choice(agent: &mut dyn Agent, game: &Game) -> Result<Column, AgentError> {
    agent.decide(game.position(), &Limits::default()).map(|decision| decision.column)
}

/// An invalid record, and why it is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordError {
    /// The game's id.
    pub id: String,
    /// What is wrong.
    pub kind: RecordErrorKind,
}

/// Why a record is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordErrorKind {
    /// The version of the format is unknown.
    Version(u32),
    /// The first player is neither 0 nor 1.
    FirstPlayer(usize),
    /// The opening has more moves than the game.
    #[allow(missing_docs, reason = "self-explanatory")]
    Opening { opening: usize, moves: usize },
    /// A move is illegal.
    Move {
        /// The number of the move, from 1.
        number: usize,
        /// The recorded column.
        column: u8,
        /// Why it is illegal; `None` if no board has this column.
        reason: Option<PlayError>,
    },
    /// The recorded reason is an end by the rules, but the game is not over.
    Unfinished(EndReason),
    /// The recorded winner is wrong.
    #[allow(missing_docs, reason = "self-explanatory")]
    Winner { recorded: Option<usize>, expected: Option<usize> },
    /// The recorded reason is wrong.
    #[allow(missing_docs, reason = "self-explanatory")]
    Reason { recorded: EndReason, expected: EndReason },
    /// The recorded scores are wrong.
    #[allow(missing_docs, reason = "self-explanatory")]
    Scores { recorded: [u32; 2], expected: [u32; 2] },
    /// A player's agent text is invalid.
    Agent(SpecError),
    /// A player cannot play the game.
    Unsupported(AgentError),
    /// A player does not choose the recorded move again.
    Choice {
        /// The number of the move, from 1.
        number: usize,
        /// The player, 0 or 1.
        mover: usize,
        /// The recorded move.
        recorded: Column,
        /// The player's choice now.
        choice: Result<Column, AgentError>,
    },
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "game {}, ", self.id)?;
        self.kind.fmt(f)
    }
}

impl fmt::Display for RecordErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let player = |place: &Option<usize>| match place {
            Some(place) => format!("player {}", place + 1),
            None => "nobody".to_owned(),
        };
        match self {
            RecordErrorKind::Version(version) => {
                write!(f, "unknown version {version} (expected {})", GameRecord::VERSION)
            }
            RecordErrorKind::FirstPlayer(place) => {
                write!(f, "first player {place}: must be 0 or 1")
            }
            RecordErrorKind::Opening { opening, moves } => {
                write!(f, "opening: {opening} moves of a game of {moves}")
            }
            RecordErrorKind::Move { number, column, reason: Some(reason) } => {
                write!(f, "move {number}, column {column}: {reason}")
            }
            RecordErrorKind::Move { number, column, reason: None } => {
                write!(f, "move {number}, column {column}: no board has this column")
            }
            RecordErrorKind::Unfinished(reason) => {
                write!(f, "result: the reason is {reason}, but the game is not over")
            }
            RecordErrorKind::Winner { recorded, expected } => {
                write!(f, "result: {} won, not {}", player(expected), player(recorded))
            }
            RecordErrorKind::Reason { recorded, expected } => {
                write!(f, "result: the reason is {expected}, not {recorded}")
            }
            RecordErrorKind::Scores { recorded, expected } => {
                write!(f, "result: the scores are {expected:?}, not {recorded:?}")
            }
            RecordErrorKind::Agent(error) => write!(f, "players: {error}"),
            RecordErrorKind::Unsupported(error) => write!(f, "players: {error}"),
            RecordErrorKind::Choice { number, mover, recorded, choice: Ok(column) } => {
                write!(f, "move {number}: player {} chooses {column}, not {recorded}", mover + 1)
            }
            RecordErrorKind::Choice { number, mover, choice: Err(error), .. } => {
                write!(f, "move {number}: player {}: {error}", mover + 1)
            }
        }
    }
}

impl std::error::Error for RecordError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            RecordErrorKind::Move { reason: Some(error), .. } => Some(error),
            RecordErrorKind::Agent(error) => Some(error),
            RecordErrorKind::Unsupported(error)
            | RecordErrorKind::Choice { choice: Err(error), .. } => Some(error),
            _ => None,
        }
    }
}
