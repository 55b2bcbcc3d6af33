//! One game as the server keeps it: who sits where, what was played, the clock, what is offered.
//!
//! Nothing here waits, stores or sends. A change either succeeds or leaves the session as it was.

use std::time::{Duration, Instant};

use claimeven_arena::{AgentSpec, Reason};
use claimeven_game::{Column, Game, Outcome, Ruleset, Setup};
use claimeven_search::Decision;
use serde::{Deserialize, Serialize};

use crate::visitor::Visitor;

/// A game with its players, its clock and what they have offered each other.
#[derive(Clone, Debug)]
pub(crate) struct GameSession {
    pub(crate) id: String,
    /// Grows with every change that is stored.
    pub(crate) version: u64,
    /// When it was made, in milliseconds since 1970.
    pub(crate) created: i64,
    /// Who made it.
    pub(crate) owner: Option<Visitor>,
    pub(crate) seats: [Seat; 2],
    /// Which of the players moves first.
    pub(crate) first: usize,
    /// What chance decides by.
    pub(crate) seed: u64,
    /// How many moves were given and not played.
    pub(crate) opening: usize,
    pub(crate) game: Game,
    /// What is known of each move of the game.
    pub(crate) moves: Vec<PlayedMove>,
    /// What was taken back, the earliest move last.
    pub(crate) undone: Vec<PlayedMove>,
    pub(crate) clock: Option<Clock>,
    pub(crate) end: Option<GameEnd>,
    pub(crate) offers: Offers,
    /// The game that followed this one.
    pub(crate) rematch: Option<String>,
    /// When the side to move began to think.
    pub(crate) turn_began: Instant,
}

/// A side of a session.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Seat {
    /// Nobody has come yet.
    Open,
    /// A person, until the person asks to be forgotten.
    Human { holder: Option<Visitor>, name: String },
    /// A program.
    Agent { spec: AgentSpec, name: String },
}

/// A move, and what it took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PlayedMove {
    /// Counted from 1.
    pub(crate) column: u8,
    pub(crate) time: Duration,
    /// What an agent looked at; `None` for a person's move.
    pub(crate) nodes: Option<u64>,
    /// What an agent said that the position was worth.
    pub(crate) value: Option<String>,
}

/// The time for a whole game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Clock {
    pub(crate) initial: Duration,
    pub(crate) increment: Duration,
    /// What each player had left when the turn began.
    pub(crate) left: [Duration; 2],
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GameEnd {
    pub(crate) winner: Option<usize>,
    pub(crate) reason: Reason,
}

/// What a player has asked the other for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Offers {
    pub(crate) draw: Option<usize>,
    pub(crate) undo: Option<usize>,
    pub(crate) rematch: Option<usize>,
}

/// How far a session has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Waiting,
    Playing,
    Finished,
}

impl Status {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Status::Waiting => "waiting",
            Status::Playing => "playing",
            Status::Finished => "finished",
        }
    }
}

/// Why a change was not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The values make no sense on any board like this.
    Bad(String),
    /// The visitor has no right to it.
    Forbidden(String),
    /// It cannot be done now.
    Conflict(String),
}

fn conflict<T>(message: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::Conflict(message.into()))
}

/// What asking for a rematch leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rematch {
    /// The other player has been query.
    Offered,
    /// The new game may begin.
    Agreed,
    /// There is one already.
    Begun(String),
}

impl GameSession {
    pub(crate) fn setup(&self) -> Setup {
        self.game.position().setup()
    }

    pub(crate) fn ply(&self) -> usize {
        self.moves.len()
    }

    pub(crate) fn status(&self) -> Status {
        if self.end.is_some() {
            Status::Finished
        } else if self.seats.contains(&Seat::Open) {
            Status::Waiting
        } else {
            Status::Playing
        }
    }

    /// The player who made or will make a move, by its place in the game.
    pub(crate) fn mover(&self, ply: usize) -> usize {
        (ply + self.first) % 2
    }

    /// Whose turn it is, while the game is on.
    pub(crate) fn to_move(&self) -> Option<usize> {
        (self.status() == Status::Playing).then(|| self.mover(self.ply()))
    }

    /// The agent whose turn it is.
    pub(crate) fn agent_to_move(&self) -> Option<(usize, &AgentSpec)> {
        let player = self.to_move()?;
        match &self.seats[player] {
            Seat::Agent { spec, .. } => Some((player, spec)),
            _ => None,
        }
    }

    /// Whether a visitor sits on a side.
    pub(crate) fn holds(&self, who: &Visitor, player: usize) -> bool {
        matches!(&self.seats[player], Seat::Human { holder: Some(holder), .. } if holder == who)
    }

    /// Whether the game is one of a visitor's own.
    pub(crate) fn is_of(&self, who: &Visitor) -> bool {
        self.owner.as_ref() == Some(who) || self.holds(who, 0) || self.holds(who, 1)
    }

    /// Whether two people play who do not share a screen.
    pub(crate) fn is_between_people(&self) -> bool {
        match &self.seats {
            [Seat::Human { holder: one, .. }, Seat::Human { holder: other, .. }] => one != other,
            [Seat::Open, Seat::Human { .. } | Seat::Open] | [Seat::Human { .. }, Seat::Open] => {
                true
            }
            _ => false,
        }
    }

    /// Whether no person plays.
    pub(crate) fn is_between_agents(&self) -> bool {
        self.seats.iter().all(|seat| matches!(seat, Seat::Agent { .. }))
    }

    /// How long the side to move has thought.
    pub(crate) fn turn_time(&self, now: Instant) -> Duration {
        match self.to_move() {
            Some(_) => now.saturating_duration_since(self.turn_began),
            None => Duration::ZERO,
        }
    }

    /// How long a player has thought in all.
    pub(crate) fn thinking_time(&self, player: usize, now: Instant) -> Duration {
        let moves = self.moves.iter().enumerate().filter(|(ply, _)| self.mover(*ply) == player);
        let past: Duration = moves.map(|(_, played)| played.time).sum();
        past + if self.to_move() == Some(player) { self.turn_time(now) } else { Duration::ZERO }
    }

    /// What a player has left on the clock.
    pub(crate) fn time_left(&self, player: usize, now: Instant) -> Option<Duration> {
        let left = self.clock?.left[player];
        if self.to_move() != Some(player) {
            return Some(left);
        }
        Some(left.saturating_sub(self.turn_time(now)))
    }

    /// When the person to move runs out of time. Agents mind the clock themselves.
    pub(crate) fn flag_falls(&self) -> Option<Instant> {
        let player = self.to_move()?;
        match self.seats[player] {
            Seat::Human { .. } => Some(self.turn_began + self.clock?.left[player]),
            _ => None,
        }
    }

    /// Ends the game if the person to move has no time left.
    pub(crate) fn drop_flag(&mut self, now: Instant) -> bool {
        let fallen = self.flag_falls().is_some_and(|time| time <= now);
        if let (true, Some(loser)) = (fallen, self.to_move()) {
            if let Some(clock) = &mut self.clock {
                clock.left[loser] = Duration::ZERO;
            }
            self.lose(loser, Reason::Time, now);
        }
        fallen
    }

    /// Takes the open seat.
    pub(crate) fn join(
        &mut self,
        who: &Visitor,
        name: Option<String>,
        now: Instant,
    ) -> Result<(), Refusal> {
        if self.holds(who, 0) || self.holds(who, 1) {
            return conflict("you already sit in this game");
        }
        let open = self.seats.iter().position(|seat| *seat == Seat::Open);
        match open {
            Some(player) if self.end.is_none() => {
                let name = name.unwrap_or_else(|| default_name(player));
                self.seats[player] = Seat::Human { holder: Some(who.clone()), name };
                self.turn_began = now;
                Ok(())
            }
            _ => conflict("no seat is open"),
        }
    }

    /// Plays a person's move.
    pub(crate) fn play(
        &mut self,
        who: &Visitor,
        column: u64,
        ply: u64,
        now: Instant,
    ) -> Result<(), Refusal> {
        self.require_seat(who)?;
        let index = usize::try_from(column).ok().and_then(|number| number.checked_sub(1));
        let on_board = index.filter(|&index| index < self.setup().cols().into());
        let Some(column) = on_board.and_then(Column::from_index) else {
            let cols = self.setup().cols();
            return Err(Refusal::Bad(format!("column {column} is not one of 1 to {cols}")));
        };
        let player = self.require_playing()?;
        if ply != self.ply() as u64 {
            return conflict(format!("ply {ply} has passed, the game is at {}", self.ply()));
        }
        if !self.holds(who, player) {
            return conflict("it is not your turn");
        }
        let time = self.turn_time(now);
        let played = PlayedMove { column: column.number(), time, nodes: None, value: None };
        self.append(column, played, now)
    }

    /// Plays an agent's move.
    pub(crate) fn play_agent(&mut self, decision: &Decision, now: Instant) -> Result<(), Refusal> {
        let played = PlayedMove {
            column: decision.column.number(),
            time: decision.time,
            nodes: Some(decision.stats.nodes),
            value: Some(decision.value.to_string()),
        };
        self.append(decision.column, played, now)
    }

    /// Ends the game for an agent that cannot go on.
    pub(crate) fn forfeit(&mut self, player: usize, now: Instant) {
        self.lose(player, Reason::Forfeit, now);
    }

    /// Ends the game for a person who left and did not come back.
    pub(crate) fn abandon(&mut self, player: usize, now: Instant) {
        self.lose(player, Reason::Abandoned, now);
    }

    /// Takes a move back, or asks the other person to agree to it.
    pub(crate) fn undo(
        &mut self,
        who: &Visitor,
        accept: Option<bool>,
        now: Instant,
    ) -> Result<(), Refusal> {
        self.require_seat(who)?;
        if !self.is_between_people() {
            if accept.is_some() {
                return conflict("nobody has asked to take a move back");
            }
            if self.end.is_some_and(|end| !ends_by_the_rules(end.reason)) {
                return conflict("the game is over");
            }
            let target = self.last_move_of(|player| self.holds(who, player))?;
            self.take_back(target, now);
            return Ok(());
        }
        self.require_playing()?;
        let player = self.player_of(who);
        match (accept, self.offers.undo) {
            (Some(true) | None, Some(asker)) if asker != player => {
                let target = self.last_move_of(|player| player == asker)?;
                self.take_back(target, now);
            }
            (Some(false), Some(_)) => self.offers.undo = None,
            (Some(_), _) => return conflict("nobody has asked to take a move back"),
            (None, _) => {
                self.last_move_of(|mover| mover == player)?;
                self.offers.undo = Some(player);
            }
        }
        Ok(())
    }

    /// Plays again what was taken back, up to the person's next turn.
    pub(crate) fn redo(&mut self, who: &Visitor, now: Instant) -> Result<(), Refusal> {
        self.require_seat(who)?;
        if self.is_between_people() {
            return conflict("moves are played again only against an agent or at one screen");
        }
        if self.undone.is_empty() {
            return conflict("there is no move to play again");
        }
        while let Some(played) = self.undone.pop() {
            let column = Column::from_index(usize::from(played.column) - 1);
            let column = column.expect("it was played before");
            let undone = std::mem::take(&mut self.undone);
            self.append(column, played, now)?;
            self.undone = undone;
            if self.to_move().is_none_or(|player| self.holds(who, player)) {
                break;
            }
        }
        Ok(())
    }

    /// Gives the game up.
    pub(crate) fn resign(&mut self, who: &Visitor, now: Instant) -> Result<(), Refusal> {
        self.require_seat(who)?;
        let to_move = self.require_playing()?;
        let loser = if self.holds(who, to_move) { to_move } else { 1 - to_move };
        self.lose(loser, Reason::Resigned, now);
        Ok(())
    }

    /// Offers a draw, or answers an offer.
    pub(crate) fn draw(
        &mut self,
        who: &Visitor,
        accept: Option<bool>,
        now: Instant,
    ) -> Result<(), Refusal> {
        self.require_seat(who)?;
        self.require_playing()?;
        if self.seats.iter().any(|seat| matches!(seat, Seat::Agent { .. })) {
            return conflict("an agent plays to the end and takes no draw");
        }
        let player = self.player_of(who);
        let agreed = GameEnd { winner: None, reason: Reason::Agreed };
        match (accept, self.offers.draw) {
            (None, _) if self.holds(who, 0) && self.holds(who, 1) => self.end(agreed, now),
            (Some(true) | None, Some(asker)) if asker != player => self.end(agreed, now),
            (Some(false), Some(_)) => self.offers.draw = None,
            (Some(_), _) => return conflict("nobody has offered a draw"),
            (None, _) => self.offers.draw = Some(player),
        }
        Ok(())
    }

    /// Asks for another game with the other player beginning.
    pub(crate) fn ask_rematch(&mut self, who: &Visitor) -> Result<Rematch, Refusal> {
        if !self.is_of(who) {
            return Err(not_yours());
        }
        if self.status() != Status::Finished {
            return conflict("the game is not over yet");
        }
        if let Some(id) = &self.rematch {
            return Ok(Rematch::Begun(id.clone()));
        }
        if !self.is_between_people() {
            return Ok(Rematch::Agreed);
        }
        self.require_seat(who)?;
        if self.seats.contains(&Seat::Open) {
            return conflict("nobody came to play against");
        }
        let player = self.player_of(who);
        match self.offers.rematch {
            Some(asker) if asker != player => Ok(Rematch::Agreed),
            _ => {
                self.offers.rematch = Some(player);
                Ok(Rematch::Offered)
            }
        }
    }

    /// Turns a rematch down, or takes one's own offer back.
    pub(crate) fn decline_rematch(&mut self, who: &Visitor) -> Result<(), Refusal> {
        self.require_seat(who)?;
        match self.offers.rematch.take() {
            Some(_) => Ok(()),
            None => conflict("nobody has offered a rematch"),
        }
    }

    /// The next game of the same players, whose other one begins.
    pub(crate) fn next(&self, id: String, created: i64, seed: u64, now: Instant) -> GameSession {
        let clock = self.clock.map(|clock| Clock { left: [clock.initial; 2], ..clock });
        GameSession {
            id,
            version: 0,
            created,
            first: 1 - self.first,
            seed,
            opening: 0,
            game: Game::new(self.setup()),
            moves: Vec::new(),
            undone: Vec::new(),
            clock,
            end: None,
            offers: Offers::default(),
            rematch: None,
            turn_began: now,
            ..self.clone()
        }
    }

    /// Puts another agent on an agent's seat.
    pub(crate) fn reseat(
        &mut self,
        who: &Visitor,
        player: usize,
        spec: AgentSpec,
        now: Instant,
    ) -> Result<(), Refusal> {
        let may = self.holds(who, 1 - player)
            || (self.is_between_agents() && self.owner.as_ref() == Some(who));
        if !may {
            return Err(not_yours());
        }
        self.require_playing()?;
        if !matches!(self.seats[player], Seat::Agent { .. }) {
            return conflict("a person sits there");
        }
        self.seats[player] = Seat::Agent { name: spec.to_string(), spec };
        if self.to_move() == Some(player) {
            self.turn_began = now;
        }
        Ok(())
    }

    /// Takes a visitor's name off the game; whether anybody is left whose game it is.
    pub(crate) fn forget(&mut self, who: &Visitor) -> Result<bool, Refusal> {
        if !self.is_of(who) {
            return Err(not_yours());
        }
        let other_person =
            |seat: &Seat| matches!(seat, Seat::Human { holder: Some(holder), .. } if holder != who);
        if self.status() == Status::Playing && self.seats.iter().any(other_person) {
            return conflict("another person is still playing; resign first");
        }
        if self.owner.as_ref() == Some(who) {
            self.owner = None;
        }
        for seat in &mut self.seats {
            if let Seat::Human { holder, .. } = seat
                && holder.as_ref() == Some(who)
            {
                *holder = None;
            }
        }
        Ok(self.seats.iter().any(other_person) || self.owner.is_some())
    }

    fn require_seat(&self, who: &Visitor) -> Result<(), Refusal> {
        if self.holds(who, 0) || self.holds(who, 1) { Ok(()) } else { Err(not_yours()) }
    }

    fn require_playing(&self) -> Result<usize, Refusal> {
        match self.status() {
            Status::Playing => Ok(self.mover(self.ply())),
            Status::Waiting => conflict("the other player has not come yet"),
            Status::Finished => conflict("the game is over"),
        }
    }

    /// The side of a visitor who has one.
    fn player_of(&self, who: &Visitor) -> usize {
        usize::from(!self.holds(who, 0))
    }

    fn append(&mut self, column: Column, played: PlayedMove, now: Instant) -> Result<(), Refusal> {
        let player = self.mover(self.ply());
        let time = played.time;
        self.game.play(column).map_err(|error| Refusal::Conflict(error.to_string()))?;
        if let Some(clock) = &mut self.clock {
            clock.left[player] = clock.left[player].saturating_sub(time) + clock.increment;
        }
        self.moves.push(played);
        self.undone.clear();
        self.offers = Offers::default();
        self.turn_began = now;
        self.end = by_the_rules(&self.game, self.first);
        Ok(())
    }

    /// The last move that one of some players made by choice.
    fn last_move_of(&self, is_one: impl Fn(usize) -> bool) -> Result<usize, Refusal> {
        let last = (self.opening..self.ply()).rev().find(|&ply| is_one(self.mover(ply)));
        last.map_or_else(|| conflict("there is no move to take back"), Ok)
    }

    fn take_back(&mut self, target: usize, now: Instant) {
        while self.ply() > target {
            self.game.undo();
            self.undone.extend(self.moves.pop());
        }
        self.end = None;
        self.offers = Offers::default();
        self.turn_began = now;
    }

    fn lose(&mut self, loser: usize, reason: Reason, now: Instant) {
        self.end(GameEnd { winner: Some(1 - loser), reason }, now);
    }

    fn end(&mut self, end: GameEnd, now: Instant) {
        // What the side to move has left is what it had when the game ended.
        if let Some(player) = self.to_move()
            && let Some(left) = self.time_left(player, now)
            && let Some(clock) = &mut self.clock
        {
            clock.left[player] = left;
        }
        self.end = Some(end);
        self.offers = Offers::default();
        self.turn_began = now;
    }
}

/// The result of a game that ended by the rules.
pub(crate) fn by_the_rules(game: &Game, first: usize) -> Option<GameEnd> {
    let outcome = game.position().outcome()?;
    let by_line =
        game.position().setup().ruleset() == Ruleset::Standard && outcome != Outcome::Draw;
    Some(GameEnd {
        winner: outcome.winner().map(|winner| (winner.index() + first) % 2),
        reason: if by_line { Reason::Line } else { Reason::BoardFull },
    })
}

/// What a person without a name is called.
pub(crate) fn default_name(player: usize) -> String {
    format!("Player {}", player + 1)
}

fn ends_by_the_rules(reason: Reason) -> bool {
    matches!(reason, Reason::Line | Reason::BoardFull)
}

fn not_yours() -> Refusal {
    Refusal::Forbidden("you have no seat in this game".to_owned())
}
