//! A game being played: its players, moves and clocks.

use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use claimeven_arena::{
    AgentSpec, Clock, EndReason, GameRecord, MoveRecord, Participant, PlayerRecord, ResultRecord,
};
use claimeven_game::{Column, Game, PlayError, Player, Position, Setup};
use claimeven_search::Decision;

use crate::Failure;
use crate::records::load;
use crate::show::state;
use crate::text::lost_by;

/// A game being played: turns, undo, clocks and resignation, without screens and threads.
#[derive(Clone, Debug)]
pub(crate) struct GameSession {
    seats: [Participant; 2],
    game: Game,
    /// One entry per move of the game.
    played: Vec<Played>,
    /// Moves that can be redone; the next one is the last entry.
    undone: Vec<Played>,
    clock: Option<Clock>,
    /// The loser and the reason, if the game ended by resignation, time or forfeit.
    ended: Option<(Player, EndReason)>,
    started_at: String,
    seed: u64,
}

/// A move with its cost.
#[derive(Clone, Debug)]
pub(crate) struct Played {
    pub(crate) column: Column,
    pub(crate) time: Duration,
    pub(crate) nodes: u64,
    /// The player's evaluation of the position.
    value: Option<String>,
}

impl Played {
    /// A move of a human player.
    pub(crate) fn by_human(column: Column, time: Duration) -> Played {
        Played { column, time, nodes: 0, value: None }
    }

    /// A move of a program.
    pub(crate) fn by_agent(decision: &Decision) -> Played {
        Played {
            column: decision.column,
            time: decision.time,
            nodes: decision.stats.nodes,
            value: Some(decision.value.to_string()),
        }
    }

    fn record(&self) -> MoveRecord {
        MoveRecord {
            ms: (self.time.as_secs_f64() * 1e6).round() / 1e3,
            nodes: self.nodes,
            value: self.value.clone(),
            ..MoveRecord::given(self.column)
        }
    }
}

impl GameSession {
    /// A session before the first move. Programs without a seed get a random one.
    pub(crate) fn new(
        setup: Setup,
        seats: [Participant; 2],
        clock: Option<Clock>,
    ) -> Result<GameSession, Failure> {
        let [first, second] = seats;
        Ok(GameSession {
            seats: [seated(first, setup)?, seated(second, setup)?],
            game: Game::new(setup),
            played: Vec::new(),
            undone: Vec::new(),
            clock,
            ended: None,
            started_at: jiff::Timestamp::now().to_string(),
            seed: fastrand::u32(..).into(),
        })
    }

    /// The session of a recorded game, at its end. Players that are no longer available are replaced
    /// by people.
    pub(crate) fn of_record(record: &GameRecord) -> Result<GameSession, Failure> {
        let game = record.replay().map_err(|error| Failure::Input(error.to_string()))?;
        let setup = game.position().setup();
        let seat = |place: usize| {
            let agent = &record.players[(place + record.first_player) % 2].agent;
            agent
                .parse()
                .ok()
                .and_then(|seat| seated(seat, setup).ok())
                .unwrap_or(Participant::Human)
        };
        let played = game.moves().iter().zip(&record.moves).map(|(&column, record)| Played {
            column,
            time: Duration::try_from_secs_f64(record.ms / 1e3).unwrap_or_default(),
            nodes: record.nodes,
            value: record.value.clone(),
        });
        let ended = match record.result.reason {
            EndReason::Line | EndReason::BoardFull | EndReason::Unfinished => None,
            reason => record.result.winner.map(|winner| {
                let loser = (1 - winner + record.first_player) % 2;
                (Player::BOTH[loser], reason)
            }),
        };
        Ok(GameSession {
            seats: [seat(0), seat(1)],
            played: played.collect(),
            undone: Vec::new(),
            game,
            clock: None,
            ended,
            started_at: record.time.clone(),
            seed: record.seed,
        })
    }

    /// Loads a game: `FILE` for the last one of a file, `FILE#GAME` for another one.
    pub(crate) fn load(text: &str) -> Result<GameSession, Failure> {
        let (file, game) = match text.rsplit_once('#') {
            Some((file, game)) => (file, Some(game)),
            None => (text, None),
        };
        GameSession::of_record(&load(Path::new(file), game)?)
    }

    /// A new game with the same players, board and clock.
    pub(crate) fn rematch(&self) -> Result<GameSession, Failure> {
        GameSession::new(self.setup(), self.seats.clone(), self.clock)
    }

    pub(crate) fn setup(&self) -> Setup {
        self.position().setup()
    }

    pub(crate) fn position(&self) -> &Position {
        self.game.position()
    }

    pub(crate) fn game(&self) -> &Game {
        &self.game
    }

    pub(crate) fn played(&self) -> &[Played] {
        &self.played
    }

    pub(crate) fn clock(&self) -> Option<Clock> {
        self.clock
    }

    pub(crate) fn seat(&self, player: Player) -> &Participant {
        &self.seats[player.index()]
    }

    pub(crate) fn seats(&self) -> &[Participant; 2] {
        &self.seats
    }

    pub(crate) fn is_over(&self) -> bool {
        self.ended.is_some() || self.position().outcome().is_some()
    }

    /// The program to move, unless the game is over or a person is to move.
    pub(crate) fn agent_to_move(&self) -> Option<&AgentSpec> {
        match self.seat(self.position().player()) {
            Participant::Agent(spec) if !self.is_over() => Some(spec),
            _ => None,
        }
    }

    pub(crate) fn has_human(&self) -> bool {
        self.seats.contains(&Participant::Human)
    }

    /// Plays a move; moves that were undone can no longer be redone.
    pub(crate) fn play(&mut self, played: Played) -> Result<(), PlayError> {
        self.game.play(played.column)?;
        self.played.push(played);
        self.undone.clear();
        Ok(())
    }

    /// Undoes moves until a person is to move again, or one move if only programs play. Returns
    /// whether there was anything to undo.
    pub(crate) fn undo(&mut self) -> bool {
        let is_human = |ply: &usize| self.seats[ply % 2] == Participant::Human;
        let mut plies = (0..self.played.len()).rev();
        let last = if self.has_human() { plies.find(is_human) } else { plies.next() };
        let Some(last) = last else {
            // A resignation before the first move is undone as well.
            return self.ended.take().is_some();
        };
        self.ended = None;
        while self.played.len() > last {
            self.game.undo();
            self.undone.extend(self.played.pop());
        }
        true
    }

    /// Redoes moves until a person is to move. Returns whether there was anything to redo.
    pub(crate) fn redo(&mut self) -> bool {
        let mut any = false;
        while let Some(played) = self.undone.pop() {
            self.game.play(played.column).expect("it was played before");
            self.played.push(played);
            any = true;
            if !self.has_human() || self.agent_to_move().is_none() {
                break;
            }
        }
        any
    }

    /// Ends the game by resignation, time or forfeit.
    pub(crate) fn end(&mut self, loser: Player, reason: EndReason) {
        if !self.is_over() {
            self.ended = Some((loser, reason));
        }
    }

    /// The player that can resign: the person to move, or else the other person.
    pub(crate) fn resigner(&self) -> Option<Player> {
        let mover = self.position().player();
        let humans = [mover, mover.opponent()];
        humans.into_iter().find(|&player| *self.seat(player) == Participant::Human)
    }

    /// Replaces a player.
    pub(crate) fn set_seat(&mut self, player: Player, seat: Participant) -> Result<(), Failure> {
        self.seats[player.index()] = seated(seat, self.setup())?;
        Ok(())
    }

    /// Swaps the players.
    pub(crate) fn switch_sides(&mut self) {
        self.seats.swap(0, 1);
    }

    /// The time that a player has used, without the current move.
    pub(crate) fn spent(&self, player: Player) -> Duration {
        self.played.iter().skip(player.index()).step_by(2).map(|played| played.time).sum()
    }

    /// The time left on a player's clock after `thinking` about the current move.
    pub(crate) fn left(&self, player: Player, thinking: Duration) -> Option<Duration> {
        let clock = self.clock?;
        let moves = self.played.iter().skip(player.index()).step_by(2).count() as u32;
        let all = clock.base + clock.increment * moves;
        Some(all.saturating_sub(self.spent(player) + thinking))
    }

    /// The side to move or the result, with these names for the players.
    pub(crate) fn status(&self, names: &[String; 2]) -> String {
        let Some((loser, reason)) = self.ended else { return state(self.position(), names) };
        let (winner, loser) = (&names[loser.opponent().index()], &names[loser.index()]);
        format!("{winner} wins: {loser} {}", lost_by(reason))
    }

    /// The record of the game.
    pub(crate) fn record(&self) -> GameRecord {
        let result = match (ResultRecord::of_game(&self.game, 0), self.ended) {
            (Some(result), _) => result,
            (None, Some((loser, reason))) => {
                ResultRecord::lost(&self.game, 0, loser.index(), reason)
            }
            (None, None) => ResultRecord::unfinished(&self.game, 0),
        };
        let player =
            |seat: &Participant| PlayerRecord { agent: seat.to_string(), name: seat.to_string() };
        GameRecord {
            time_control: None,
            version: GameRecord::VERSION,
            id: self.started_at.clone(),
            time: self.started_at.clone(),
            setup: self.setup(),
            players: [player(&self.seats[0]), player(&self.seats[1])],
            first_player: 0,
            seed: self.seed,
            opening_moves: 0,
            moves: self.played.iter().map(Played::record).collect(),
            result,
        }
    }

    /// Appends the game to a file of records.
    pub(crate) fn save(&self, path: &Path) -> io::Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        // A single write, so that no reader sees half a line.
        file.write_all(format!("{}\n", serde_json::to_string(&self.record())?).as_bytes())
    }
}

/// The player with a seed, if it supports the board.
fn seated(seat: Participant, setup: Setup) -> Result<Participant, Failure> {
    let Participant::Agent(spec) = seat else { return Ok(seat) };
    let seed: u64 = fastrand::u32(..).into();
    let spec = match spec.given("seed") {
        Some(_) => spec,
        None => spec.with("seed", &seed.to_string())?,
    };
    spec.build(setup, seed)?;
    Ok(Participant::Agent(spec))
}

/// A duration in the form of a clock: `1:05`, or `9.4` below ten seconds.
pub(crate) struct ClockText(pub(crate) Duration);

impl fmt::Display for ClockText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        let text = match seconds {
            0..10 => format!("{:.1}", self.0.as_secs_f64()),
            10..3600 => format!("{}:{:02}", seconds / 60, seconds % 60),
            _ => format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60),
        };
        f.pad(&text)
    }
}
