//! A game session: seats, moves, clock and offers.
//!
//! This is pure state: nothing here waits, stores or sends. A change either succeeds or leaves the
//! session unchanged.

use std::time::{Duration, Instant};

use claimeven_arena::{AgentSpec, EndReason};
use claimeven_game::{Column, Game, Outcome, Ruleset, Setup};
use claimeven_search::Decision;
use serde::{Deserialize, Serialize};

use crate::visitor::Visitor;

/// A game with its players, its clock and their offers.
#[derive(Clone, Debug)]
pub(crate) struct GameSession {
    pub(crate) id: String,
    /// Increases with every stored change.
    pub(crate) version: u64,
    /// Milliseconds since 1970.
    pub(crate) created: i64,
    /// The visitor who created it.
    pub(crate) owner: Option<Visitor>,
    pub(crate) seats: [Seat; 2],
    /// Which of the players moves first.
    pub(crate) first: usize,
    /// The seed of the agents' random numbers.
    pub(crate) seed: u64,
    /// How many moves the game started with.
    pub(crate) opening: usize,
    pub(crate) game: Game,
    /// The moves of `game` with their times and the agents' statistics.
    pub(crate) moves: Vec<PlayedMove>,
    /// The moves taken back, in reverse order.
    pub(crate) undone: Vec<PlayedMove>,
    pub(crate) clock: Option<Clock>,
    pub(crate) end: Option<GameEnd>,
    pub(crate) offers: Offers,
    /// The id of the rematch.
    pub(crate) rematch: Option<String>,
    /// Whether it is in the public list.
    pub(crate) is_listed: bool,
    /// When the current turn began.
    pub(crate) turn_began: Instant,
}

/// The player of one side.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Seat {
    /// Waiting for someone to join.
    Open,
    /// A person. The holder is removed when they delete the game; the name is empty if none was
    /// given.
    Human { holder: Option<Visitor>, name: String },
    /// A program.
    Agent { spec: AgentSpec, name: String },
}

impl Seat {
    /// Whether a person other than this visitor has the seat.
    fn is_other_person(&self, who: &Visitor) -> bool {
        matches!(self, Seat::Human { holder: Some(holder), .. } if holder != who)
    }
}

/// A move with its time and the agent's statistics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PlayedMove {
    /// Counted from 1.
    pub(crate) column: u8,
    pub(crate) time: Duration,
    /// Nodes searched by an agent; `None` for a person's move.
    pub(crate) nodes: Option<u64>,
    /// The agent's evaluation as text.
    pub(crate) value: Option<String>,
}

/// The time control of a game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Clock {
    pub(crate) initial: Duration,
    pub(crate) increment: Duration,
    /// The players' remaining time at the start of the turn.
    pub(crate) left: [Duration; 2],
}

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GameEnd {
    pub(crate) winner: Option<usize>,
    pub(crate) reason: EndReason,
}

/// Open offers, each with the player who made it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Offers {
    pub(crate) draw: Option<usize>,
    pub(crate) undo: Option<usize>,
    pub(crate) rematch: Option<usize>,
}

/// The state of a game.
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

/// Why a change was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The input is invalid.
    Bad(String),
    /// The visitor is not allowed to do it.
    Forbidden(String),
    /// The game is in the wrong state for it.
    Conflict(String),
}

fn conflict<T>(message: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::Conflict(message.into()))
}

/// The result of requesting a rematch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rematch {
    /// The other player has been asked.
    Offered,
    /// Both players agree.
    Agreed,
    /// The rematch exists already, with this id.
    Started(String),
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

    /// The player who moves at `ply`.
    pub(crate) fn mover(&self, ply: usize) -> usize {
        (ply + self.first) % 2
    }

    /// Whose turn it is, while the game is in progress.
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

    /// Whether a visitor plays a side.
    pub(crate) fn holds(&self, who: &Visitor, player: usize) -> bool {
        matches!(&self.seats[player], Seat::Human { holder: Some(holder), .. } if holder == who)
    }

    /// Whether a visitor created the game or plays in it.
    pub(crate) fn belongs_to(&self, who: &Visitor) -> bool {
        self.owner.as_ref() == Some(who) || self.holds(who, 0) || self.holds(who, 1)
    }

    /// Whether two people play on two devices.
    pub(crate) fn is_between_people(&self) -> bool {
        match &self.seats {
            [Seat::Human { holder: one, .. }, Seat::Human { holder: other, .. }] => one != other,
            [Seat::Open, Seat::Human { .. } | Seat::Open] | [Seat::Human { .. }, Seat::Open] => {
                true
            }
            _ => false,
        }
    }

    /// Whether both players are agents.
    pub(crate) fn is_between_agents(&self) -> bool {
        self.seats.iter().all(|seat| matches!(seat, Seat::Agent { .. }))
    }

    /// How long the current turn has taken.
    pub(crate) fn turn_time(&self, now: Instant) -> Duration {
        match self.to_move() {
            Some(_) => now.saturating_duration_since(self.turn_began),
            None => Duration::ZERO,
        }
    }

    /// How long a player has thought in total.
    pub(crate) fn thinking_time(&self, player: usize, now: Instant) -> Duration {
        let moves = self.moves.iter().enumerate().filter(|(ply, _)| self.mover(*ply) == player);
        let past: Duration = moves.map(|(_, played)| played.time).sum();
        past + if self.to_move() == Some(player) { self.turn_time(now) } else { Duration::ZERO }
    }

    /// Excludes a period, which ends now, from the time of the current turn.
    pub(crate) fn pause_clock(&mut self, since: Instant, now: Instant) {
        self.turn_began += now.saturating_duration_since(since.max(self.turn_began));
    }

    /// A player's remaining time.
    pub(crate) fn time_left(&self, player: usize, now: Instant) -> Option<Duration> {
        let left = self.clock?.left[player];
        if self.to_move() != Some(player) {
            return Some(left);
        }
        Some(left.saturating_sub(self.turn_time(now)))
    }

    /// When the person to move runs out of time. Agents watch the clock themselves.
    pub(crate) fn flag_falls(&self) -> Option<Instant> {
        let player = self.to_move()?;
        match self.seats[player] {
            Seat::Human { .. } => Some(self.turn_began + self.clock?.left[player]),
            _ => None,
        }
    }

    /// Ends the game if the person to move has run out of time; returns whether it did.
    pub(crate) fn drop_flag(&mut self, now: Instant) -> bool {
        let fallen = self.flag_falls().is_some_and(|time| time <= now);
        if let (true, Some(loser)) = (fallen, self.to_move()) {
            if let Some(clock) = &mut self.clock {
                clock.left[loser] = Duration::ZERO;
            }
            self.lose(loser, EndReason::Time, now);
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
            return conflict("You already have a seat in this game");
        }
        let open = self.seats.iter().position(|seat| *seat == Seat::Open);
        match open {
            Some(player) if self.end.is_none() => {
                let name = name.unwrap_or_default();
                self.seats[player] = Seat::Human { holder: Some(who.clone()), name };
                self.turn_began = now;
                Ok(())
            }
            _ => conflict("This game has no open seat"),
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
            return Err(Refusal::Bad(format!("column must be 1 to {cols}, not {column}")));
        };
        let player = self.require_playing()?;
        if ply != self.ply() as u64 {
            return conflict(format!("The game is at ply {}, not {ply}", self.ply()));
        }
        if !self.holds(who, player) {
            return conflict("It is not your turn");
        }
        let time = self.turn_time(now);
        let new_move = PlayedMove { column: column.number(), time, nodes: None, value: None };
        self.append(column, new_move, time, now)
    }

    /// Plays an agent's move.
    pub(crate) fn play_agent(&mut self, decision: &Decision, now: Instant) -> Result<(), Refusal> {
        let played = PlayedMove {
            column: decision.column.number(),
            time: decision.time,
            nodes: Some(decision.stats.nodes),
            value: Some(decision.value.to_string()),
        };
        self.append(decision.column, played, decision.time, now)
    }

    /// Ends the game because an agent failed.
    pub(crate) fn forfeit(&mut self, player: usize, now: Instant) {
        self.lose(player, EndReason::Forfeit, now);
    }

    /// Ends the game because a person left and did not return.
    pub(crate) fn abandon(&mut self, player: usize, now: Instant) {
        self.lose(player, EndReason::Abandoned, now);
    }

    /// Takes a move back, or requests a takeback from the other person.
    pub(crate) fn undo(
        &mut self,
        who: &Visitor,
        accept: Option<bool>,
        now: Instant,
    ) -> Result<(), Refusal> {
        self.require_seat(who)?;
        if !self.is_between_people() {
            if accept.is_some() {
                return conflict("Nobody has requested a takeback");
            }
            if self.end.is_some_and(|end| !is_on_board(end.reason)) {
                return conflict("The game is over");
            }
            let target = self.last_move_of(|player| self.holds(who, player))?;
            self.take_back(target, now);
            return Ok(());
        }
        self.require_playing()?;
        let player = self.player_of(who);
        match (accept, self.offers.undo) {
            (Some(true) | None, Some(requester)) if requester != player => {
                let target = self.last_move_of(|player| player == requester)?;
                self.take_back(target, now);
            }
            (Some(false), Some(_)) => self.offers.undo = None,
            (Some(_), _) => return conflict("Nobody has requested a takeback"),
            (None, _) => {
                self.last_move_of(|mover| mover == player)?;
                self.offers.undo = Some(player);
            }
        }
        Ok(())
    }

    /// Replays the moves taken back, up to the person's next turn.
    pub(crate) fn redo(&mut self, who: &Visitor, now: Instant) -> Result<(), Refusal> {
        self.require_seat(who)?;
        if self.is_between_people() {
            return conflict("Redo is only available against the computer and in local games");
        }
        self.require_playing()?;
        if self.undone.is_empty() {
            return conflict("There is no move to redo");
        }
        self.charge_turn(now);
        while let Some(played) = self.undone.pop() {
            let column = Column::from_index(usize::from(played.column) - 1);
            let column = column.expect("it was played before");
            let undone = std::mem::take(&mut self.undone);
            self.append(column, played, Duration::ZERO, now)?;
            self.undone = undone;
            if self.to_move().is_none_or(|player| self.holds(who, player)) {
                break;
            }
        }
        Ok(())
    }

    /// Resigns.
    pub(crate) fn resign(&mut self, who: &Visitor, now: Instant) -> Result<(), Refusal> {
        self.require_seat(who)?;
        let to_move = self.require_playing()?;
        let loser = if self.holds(who, to_move) { to_move } else { 1 - to_move };
        self.lose(loser, EndReason::Resigned, now);
        Ok(())
    }

    /// Offers a draw, or responds to an offer.
    pub(crate) fn draw(
        &mut self,
        who: &Visitor,
        accept: Option<bool>,
        now: Instant,
    ) -> Result<(), Refusal> {
        self.require_seat(who)?;
        self.require_playing()?;
        if self.seats.iter().any(|seat| matches!(seat, Seat::Agent { .. })) {
            return conflict("The computer does not accept draws");
        }
        let player = self.player_of(who);
        let agreed = GameEnd { winner: None, reason: EndReason::Agreed };
        match (accept, self.offers.draw) {
            (None, _) if self.holds(who, 0) && self.holds(who, 1) => self.end(agreed, now),
            (Some(true) | None, Some(requester)) if requester != player => self.end(agreed, now),
            (Some(false), Some(_)) => self.offers.draw = None,
            (Some(_), _) => return conflict("Nobody has offered a draw"),
            (None, _) => self.offers.draw = Some(player),
        }
        Ok(())
    }

    /// Requests a rematch, in which the other player moves first.
    pub(crate) fn request_rematch(&mut self, who: &Visitor) -> Result<Rematch, Refusal> {
        if !self.belongs_to(who) {
            return Err(not_a_player());
        }
        if self.status() != Status::Finished {
            return conflict("The game is not over yet");
        }
        if let Some(id) = &self.rematch {
            return Ok(Rematch::Started(id.clone()));
        }
        if self.is_between_agents() {
            return Ok(Rematch::Agreed);
        }
        // Whoever only created the game cannot seat others in a new one.
        self.require_seat(who)?;
        if !self.is_between_people() {
            return Ok(Rematch::Agreed);
        }
        if self.seats.contains(&Seat::Open) {
            return conflict("Nobody joined this game");
        }
        let player = self.player_of(who);
        match self.offers.rematch {
            Some(requester) if requester != player => Ok(Rematch::Agreed),
            _ => {
                self.offers.rematch = Some(player);
                Ok(Rematch::Offered)
            }
        }
    }

    /// Declines a rematch, or withdraws one's own offer.
    pub(crate) fn decline_rematch(&mut self, who: &Visitor) -> Result<(), Refusal> {
        self.require_seat(who)?;
        if self.rematch.is_some() {
            return conflict("The rematch has already started");
        }
        match self.offers.rematch.take() {
            Some(_) => Ok(()),
            None => conflict("Nobody has offered a rematch"),
        }
    }

    /// The rematch: the same players, with the other side moving first.
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

    /// Replaces an agent with another one.
    pub(crate) fn replace_agent(
        &mut self,
        who: &Visitor,
        player: usize,
        spec: AgentSpec,
        now: Instant,
    ) -> Result<(), Refusal> {
        let is_allowed = self.holds(who, 1 - player)
            || (self.is_between_agents() && self.owner.as_ref() == Some(who));
        if !is_allowed {
            return Err(not_a_player());
        }
        self.require_playing()?;
        if !matches!(self.seats[player], Seat::Agent { .. }) {
            return conflict("This seat belongs to a person");
        }
        self.seats[player] = Seat::Agent { name: spec.to_string(), spec };
        if self.to_move() == Some(player) {
            self.turn_began = now;
        }
        Ok(())
    }

    /// Adds the game to the public list or removes it. Every player may remove it; only somebody who is
    /// the only person in the game may add it.
    pub(crate) fn set_listed(&mut self, who: &Visitor, listed: bool) -> Result<(), Refusal> {
        if !self.belongs_to(who) {
            return Err(not_a_player());
        }
        if listed && self.seats.iter().any(|seat| seat.is_other_person(who)) {
            return conflict("The other player would have to agree");
        }
        self.is_listed = listed;
        Ok(())
    }

    /// Removes a visitor and their name from the game; returns whether it still belongs to anybody.
    pub(crate) fn forget(&mut self, who: &Visitor) -> Result<bool, Refusal> {
        if !self.belongs_to(who) {
            return Err(not_a_player());
        }
        let other_person = |seat: &Seat| seat.is_other_person(who);
        if self.status() == Status::Playing && self.seats.iter().any(other_person) {
            return conflict("The game is still in progress: resign first");
        }
        Ok(self.detach(who))
    }

    /// The same in any state: a game with another person is resigned first.
    pub(crate) fn resign_and_forget(&mut self, who: &Visitor, now: Instant) -> bool {
        let with_other = self.seats.iter().any(|seat| seat.is_other_person(who));
        if with_other {
            // This fails if the game is not in progress or if they only created it, which does not matter.
            let _ = self.resign(who, now);
        }
        self.detach(who)
    }

    fn detach(&mut self, who: &Visitor) -> bool {
        let is_waiting = self.status() == Status::Waiting;
        if self.owner.as_ref() == Some(who) {
            self.owner = None;
        }
        for seat in &mut self.seats {
            if let Seat::Human { holder, name } = seat
                && holder.as_ref() == Some(who)
            {
                *holder = None;
                name.clear();
                if is_waiting {
                    *seat = Seat::Open;
                }
            }
        }
        self.seats.iter().any(|seat| seat.is_other_person(who)) || self.owner.is_some()
    }

    fn require_seat(&self, who: &Visitor) -> Result<(), Refusal> {
        if self.holds(who, 0) || self.holds(who, 1) { Ok(()) } else { Err(not_a_player()) }
    }

    fn require_playing(&self) -> Result<usize, Refusal> {
        match self.status() {
            Status::Playing => Ok(self.mover(self.ply())),
            Status::Waiting => conflict("The other player has not joined yet"),
            Status::Finished => conflict("The game is over"),
        }
    }

    /// The side that a visitor plays.
    fn player_of(&self, who: &Visitor) -> usize {
        usize::from(!self.holds(who, 0))
    }

    /// Charges the time of the current turn to the person to move, who then continues it.
    fn charge_turn(&mut self, now: Instant) {
        if let Some(player) = self.to_move()
            && matches!(self.seats[player], Seat::Human { .. })
            && let Some(left) = self.time_left(player, now)
            && let Some(clock) = &mut self.clock
        {
            clock.left[player] = left;
        }
        self.turn_began = now;
    }

    /// Plays a move and charges time for it.
    fn append(
        &mut self,
        column: Column,
        new_move: PlayedMove,
        charged: Duration,
        now: Instant,
    ) -> Result<(), Refusal> {
        let player = self.mover(self.ply());
        self.game.play(column).map_err(|error| Refusal::Conflict(error.to_string()))?;
        if let Some(clock) = &mut self.clock {
            clock.left[player] = clock.left[player].saturating_sub(charged) + clock.increment;
        }
        self.moves.push(new_move);
        self.undone.clear();
        self.offers = Offers::default();
        self.turn_began = now;
        self.end = end_on_board(&self.game, self.first);
        Ok(())
    }

    /// The last move, not counting the opening, made by one of the given players.
    fn last_move_of(&self, is_one: impl Fn(usize) -> bool) -> Result<usize, Refusal> {
        let last = (self.opening..self.ply()).rev().find(|&ply| is_one(self.mover(ply)));
        last.map_or_else(|| conflict("There is no move to take back"), Ok)
    }

    /// Takes moves back. The time spent on them stays spent, but increments are for moves on the board.
    fn take_back(&mut self, target: usize, now: Instant) {
        // The takeback itself must not lose the game.
        const MIN_LEFT: Duration = Duration::from_secs(1);
        self.charge_turn(now);
        while self.ply() > target {
            self.game.undo();
            self.undone.extend(self.moves.pop());
            let player = self.mover(self.ply());
            if let Some(clock) = &mut self.clock {
                let left = &mut clock.left[player];
                *left = left.saturating_sub(clock.increment).max(MIN_LEFT.min(*left));
            }
        }
        self.end = None;
        self.offers = Offers::default();
    }

    fn lose(&mut self, loser: usize, reason: EndReason, now: Instant) {
        self.end(GameEnd { winner: Some(1 - loser), reason }, now);
    }

    fn end(&mut self, end: GameEnd, now: Instant) {
        // The running clock stops here.
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

/// The result of a game that has ended on the board.
pub(crate) fn end_on_board(game: &Game, first: usize) -> Option<GameEnd> {
    let outcome = game.position().outcome()?;
    let has_line =
        game.position().setup().ruleset() == Ruleset::Standard && outcome != Outcome::Draw;
    Some(GameEnd {
        winner: outcome.winner().map(|winner| (winner.index() + first) % 2),
        reason: if has_line { EndReason::Line } else { EndReason::BoardFull },
    })
}

fn is_on_board(reason: EndReason) -> bool {
    matches!(reason, EndReason::Line | EndReason::BoardFull)
}

fn not_a_player() -> Refusal {
    Refusal::Forbidden("You are not a player in this game".to_owned())
}
