//! Records held against the rules, and against the players who made them.

use std::fmt;

use claimeven_game::{Column, Game, PlayError, Setup, SetupError, UnknownRuleset};
use claimeven_search::{Agent, AgentError, Limits};

use crate::game::seat_players;
use crate::record::{GameRecord, Reason, ResultRecord};
use crate::roster::{Participant, SpecError};

impl GameRecord {
    /// Plays the recorded moves again. Every move has to be legal, and the result what the rules
    /// say of the last position.
    pub fn replay(&self) -> Result<Game, RecordError> {
        self.replayed().map_err(|fault| RecordError { id: self.id.clone(), fault })
    }

    /// Lets the players choose their moves again, by the recorded seed. Returns how many moves
    /// were chosen; those of people and those that were given are not.
    ///
    /// The record does not say how long players were allowed to think: who had a time limit may
    /// well choose otherwise.
    pub fn choose_again(&self) -> Result<usize, RecordError> {
        self.chosen_again().map_err(|fault| RecordError { id: self.id.clone(), fault })
    }

    fn replayed(&self) -> Result<Game, Fault> {
        // 1. What the record says of itself.
        if self.version != GameRecord::VERSION {
            return Err(Fault::Version(self.version));
        }
        if self.first_player > 1 {
            return Err(Fault::FirstPlayer(self.first_player));
        }
        let (opening, moves) = (self.opening_moves, self.moves.len());
        if opening > moves {
            return Err(Fault::Opening { opening, moves });
        }

        // 2. The moves.
        let mut game = Game::new(self.setup()?);
        for (number, played) in (1..).zip(&self.moves) {
            let column = usize::from(played.column).checked_sub(1).and_then(Column::from_index);
            let reason = match column.map(|column| game.play(column)) {
                Some(Ok(())) => continue,
                Some(Err(reason)) => Some(reason),
                None => None,
            };
            return Err(Fault::Move { number, column: played.column, reason });
        }

        // 3. The result.
        self.check_result(&game)?;
        Ok(game)
    }

    fn check_result(&self, game: &Game) -> Result<(), Fault> {
        let ResultRecord { winner, reason, scores, detail: _ } = &self.result;
        let by_rules = ResultRecord::of_game(game, self.first_player);
        let right = match (&by_rules, reason) {
            (Some(result), _) => result.clone(),
            (None, Reason::Line | Reason::BoardFull) => return Err(Fault::Unfinished(*reason)),
            (None, Reason::Time | Reason::Forfeit) => {
                ResultRecord::lost(game, self.first_player, self.mover(self.moves.len()), *reason)
            }
            (None, Reason::Unfinished) => ResultRecord::unfinished(game, self.first_player),
            // Anybody may give up at any time.
            (None, Reason::Resigned) => {
                let loser = usize::from(*winner == Some(0));
                ResultRecord::lost(game, self.first_player, loser, *reason)
            }
            (None, Reason::Agreed) => self.undecided(game, None),
            // The one who stayed has won; nobody has if both left.
            (None, Reason::Abandoned) => self.undecided(game, *winner),
        };
        if *winner != right.winner {
            return Err(Fault::Winner { recorded: *winner, right: right.winner });
        }
        if *reason != right.reason {
            return Err(Fault::Reason { recorded: *reason, right: right.reason });
        }
        if *scores != right.scores {
            return Err(Fault::Scores { recorded: *scores, right: right.scores });
        }
        Ok(())
    }

    /// The recorded result with this winner.
    fn undecided(&self, game: &Game, winner: Option<usize>) -> ResultRecord {
        let lost = ResultRecord::lost(game, self.first_player, 0, self.result.reason);
        ResultRecord { winner, ..lost }
    }

    fn chosen_again(&self) -> Result<usize, Fault> {
        let game = self.replayed()?;
        let setup = game.position().setup();
        let spec = |place: usize| match self.players[place].agent.parse() {
            Ok(Participant::Agent(spec)) => Ok(Some(spec)),
            Ok(Participant::Human) => Ok(None),
            Err(error) => Err(Fault::Agent(error)),
        };
        let (first, second) = (spec(0)?, spec(1)?);
        let players = [first.as_ref(), second.as_ref()];
        let mut agents = seat_players(setup, players, self.seed).map_err(Fault::Unsuited)?;
        let mut again = Game::new(setup);
        let mut chosen = 0;
        for (ply, &recorded) in game.moves().iter().enumerate() {
            let mover = self.mover(ply);
            if let (true, Some(agent)) = (ply >= self.opening_moves, &mut agents[mover]) {
                let fault = |choice| Fault::Choice { number: ply + 1, mover, recorded, choice };
                match choice(agent.as_mut(), &again) {
                    Ok(column) if column == recorded => chosen += 1,
                    choice => return Err(fault(choice)),
                }
            }
            again.play(recorded).expect("the game has been replayed");
        }
        Ok(chosen)
    }

    /// The game that was played.
    fn setup(&self) -> Result<Setup, Fault> {
        let ruleset = self.setup.ruleset.parse().map_err(Fault::Ruleset)?;
        Setup::new(self.setup.cols, self.setup.rows, self.setup.connect, ruleset)
            .map_err(Fault::Setup)
    }
}

fn choice(agent: &mut dyn Agent, game: &Game) -> Result<Column, AgentError> {
    agent.decide(game.position(), &Limits::default()).map(|decision| decision.column)
}

/// A record that is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordError {
    /// The game's id.
    pub id: String,
    /// What is wrong.
    pub fault: Fault,
}

/// What is wrong with a record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The version is not one that is known.
    Version(u32),
    /// There is no such player to move first.
    FirstPlayer(usize),
    /// No ruleset has the name.
    Ruleset(UnknownRuleset),
    /// The board cannot be played on.
    Setup(SetupError),
    /// More moves are said to be given than there are.
    Opening {
        /// The moves that are said to be given.
        opening: usize,
        /// All moves.
        moves: usize,
    },
    /// A move is not legal.
    Move {
        /// Which move, counted from 1.
        number: usize,
        /// The column, as it is recorded.
        column: u8,
        /// What the rules say; `None` if no board has the column.
        reason: Option<PlayError>,
    },
    /// The game is said to have ended by the rules, and goes on.
    Unfinished(Reason),
    /// Another player won, or nobody.
    Winner {
        /// Who is said to have won.
        recorded: Option<usize>,
        /// Who did.
        right: Option<usize>,
    },
    /// The game ended for another reason.
    Reason {
        /// What is said to have ended it.
        recorded: Reason,
        /// What did.
        right: Reason,
    },
    /// The players have other scores.
    Scores {
        /// What they are said to be.
        recorded: [u32; 2],
        /// What they are.
        right: [u32; 2],
    },
    /// A player is none that there is.
    Agent(SpecError),
    /// A player cannot play the game.
    Unsuited(AgentError),
    /// A player does not choose the recorded move again.
    Choice {
        /// Which move, counted from 1.
        number: usize,
        /// Who made it.
        mover: usize,
        /// The move.
        recorded: Column,
        /// What the player chooses now.
        choice: Result<Column, AgentError>,
    },
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "game {}, ", self.id)?;
        self.fault.fmt(f)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let player = |place: &Option<usize>| match place {
            Some(place) => format!("player {place}"),
            None => "nobody".to_owned(),
        };
        match self {
            Fault::Version(version) => {
                write!(f, "version {version}: only version {} is known", GameRecord::VERSION)
            }
            Fault::FirstPlayer(place) => write!(f, "first player {place}: it is 0 or 1"),
            Fault::Ruleset(error) => write!(f, "setup: {error}"),
            Fault::Setup(error) => write!(f, "setup: {error}"),
            Fault::Opening { opening, moves } => {
                write!(f, "opening: {opening} moves are given, but there are only {moves}")
            }
            Fault::Move { number, column, reason: Some(reason) } => {
                write!(f, "move {number}, column {column}: {reason}")
            }
            Fault::Move { number, column, reason: None } => {
                write!(f, "move {number}, column {column}: no board has this column")
            }
            Fault::Unfinished(reason) => {
                write!(f, "result: the reason is {reason}, but the game is not over")
            }
            Fault::Winner { recorded, right } => {
                write!(f, "result: {} won, not {}", player(right), player(recorded))
            }
            Fault::Reason { recorded, right } => {
                write!(f, "result: the reason is {right}, not {recorded}")
            }
            Fault::Scores { recorded, right } => {
                write!(f, "result: the scores are {right:?}, not {recorded:?}")
            }
            Fault::Agent(error) => write!(f, "players: {error}"),
            Fault::Unsuited(error) => write!(f, "players: {error}"),
            Fault::Choice { number, mover, recorded, choice: Ok(column) } => {
                write!(f, "move {number}: player {mover} chooses {column}, not {recorded}")
            }
            Fault::Choice { number, mover, choice: Err(error), .. } => {
                write!(f, "move {number}: player {mover}: {error}")
            }
        }
    }
}

impl std::error::Error for RecordError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.fault {
            Fault::Ruleset(error) => Some(error),
            Fault::Setup(error) => Some(error),
            Fault::Move { reason: Some(error), .. } => Some(error),
            Fault::Agent(error) => Some(error),
            Fault::Unsuited(error) | Fault::Choice { choice: Err(error), .. } => Some(error),
            _ => None,
        }
    }
}
