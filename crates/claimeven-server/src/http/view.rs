//! The JSON views of games. Columns and rows are counted from 1, the bottom row first.

use std::time::{Duration, Instant};

use claimeven_arena::{EndReason, ExactValue};
use claimeven_game::{Column, Player, Position, Setup};
use claimeven_search::{ColumnValue, Decision, Value};
use serde::Serialize;
use utoipa::ToSchema;

use super::extract::SetupSchema;
use crate::config::Config;
use crate::live_games::{LiveGame, Presence};
use crate::session::{GameSession, Seat, Status};
use crate::visitor::Visitor;

/// A game as one visitor sees it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct GameView {
    id: String,
    /// Increases with each change of the game. Presence and thinking change without it.
    version: u64,
    /// Milliseconds since 1970.
    created: i64,
    #[schema(value_type = SetupSchema)]
    setup: Setup,
    players: [PlayerView; 2],
    /// Which of the players moves first.
    first: usize,
    /// `waiting`, `playing` or `finished`.
    status: &'static str,
    moves: Vec<MoveView>,
    ply: usize,
    /// How many of the moves are the opening.
    opening: usize,
    /// How many moves can be redone.
    undone: usize,
    to_move: Option<usize>,
    /// The legal moves.
    legal: Vec<u8>,
    /// The completed lines of each player.
    scores: [u32; 2],
    /// The completed lines, each a list of cells as column and row.
    lines: Vec<Vec<[u8; 2]>>,
    result: Option<ResultView>,
    clock: Option<ClockView>,
    offers: OffersView,
    /// The id of the rematch.
    rematch: Option<String>,
    /// The number of spectators.
    watchers: usize,
    /// The player whose agent is thinking.
    thinking: Option<usize>,
    /// How long a disconnected player has to reconnect, in games between people.
    away_limit_ms: Option<u64>,
    /// Whether the game is one of the visitor's own.
    mine: bool,
    /// Whether it is in the public list.
    listed: bool,
}

/// A player of a game.
#[derive(Clone, Debug, Serialize, ToSchema)]
struct PlayerView {
    /// `human`, `open` or `agent`.
    kind: &'static str,
    /// Empty for a person who gave no name.
    name: String,
    /// The agent's text.
    agent: Option<String>,
    /// Whether this is the visitor.
    you: bool,
    /// Whether the player is connected; agents always are.
    connected: bool,
    /// How long the player has been disconnected.
    away_ms: Option<u64>,
    /// Total thinking time.
    time_ms: u64,
}

/// A move.
#[derive(Clone, Debug, Serialize, ToSchema)]
struct MoveView {
    column: u8,
    row: u8,
    player: usize,
    ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
}

/// How a game ended.
#[derive(Clone, Debug, Serialize, ToSchema)]
struct ResultView {
    /// `null` for a draw.
    winner: Option<usize>,
    /// `line`, `board-full`, `time`, `forfeit`, `resigned`, `agreed` or `abandoned`.
    #[schema(value_type = String)]
    reason: EndReason,
}

/// The clock.
#[derive(Clone, Debug, Serialize, ToSchema)]
struct ClockView {
    initial_ms: u64,
    increment_ms: u64,
    remaining_ms: [u64; 2],
    /// Whose clock is running.
    running: Option<usize>,
}

/// Open offers, each with the player who made it.
#[derive(Clone, Debug, Serialize, ToSchema)]
struct OffersView {
    draw: Option<usize>,
    undo: Option<usize>,
    rematch: Option<usize>,
}

impl GameView {
    /// A live game as a visitor sees it now.
    pub(crate) fn of(live: &LiveGame, config: &Config, who: &Visitor) -> GameView {
        let session = live.session();
        let presence = live.presence(&session, config);
        GameView::new(&session, &presence, who, Instant::now())
    }

    fn new(session: &GameSession, presence: &Presence, who: &Visitor, now: Instant) -> GameView {
        let position = session.game.position();
        let by_player = |[first, second]: [u32; 2]| {
            if session.first == 0 { [first, second] } else { [second, first] }
        };
        let playing = session.status() == Status::Playing;
        let legal = if playing { position.legal().map(Column::number).collect() } else { vec![] };
        let player = |player: usize| PlayerView {
            you: session.holds(who, player),
            connected: presence.connected[player],
            away_ms: presence.away[player].map(ms),
            time_ms: ms(session.thinking_time(player, now)),
            ..PlayerView::seated(&session.seats[player])
        };
        GameView {
            id: session.id.clone(),
            version: session.version,
            created: session.created,
            setup: position.setup(),
            players: [player(0), player(1)],
            first: session.first,
            status: session.status().name(),
            moves: moves(session),
            ply: session.ply(),
            opening: session.opening,
            undone: session.undone.len(),
            to_move: session.to_move(),
            legal,
            scores: by_player(position.scores()),
            lines: lines(position),
            result: result(session),
            clock: session.clock.map(|clock| ClockView {
                initial_ms: ms(clock.initial),
                increment_ms: ms(clock.increment),
                remaining_ms: [0, 1].map(|player| session.time_left(player, now).map_or(0, ms)),
                running: session.to_move(),
            }),
            offers: OffersView {
                draw: session.offers.draw,
                undo: session.offers.undo,
                rematch: session.offers.rematch,
            },
            rematch: session.rematch.clone(),
            watchers: presence.watchers,
            thinking: presence.thinking,
            away_limit_ms: presence.away_limit.map(ms),
            mine: session.belongs_to(who),
            listed: session.is_listed,
        }
    }
}

impl PlayerView {
    fn seated(seat: &Seat) -> PlayerView {
        let (kind, name, agent) = match seat {
            Seat::Open => ("open", String::new(), None),
            Seat::Human { name, .. } => ("human", name.clone(), None),
            Seat::Agent { name, spec } => ("agent", name.clone(), Some(spec.to_string())),
        };
        PlayerView { kind, name, agent, you: false, connected: false, away_ms: None, time_ms: 0 }
    }
}

fn moves(session: &GameSession) -> Vec<MoveView> {
    let mut heights = [0; claimeven_game::Setup::MAX_SIDE as usize];
    let columns = session.game.moves().iter().zip(&session.moves).enumerate();
    columns
        .map(|(ply, (column, played))| {
            heights[column.index()] += 1;
            MoveView {
                column: column.number(),
                row: heights[column.index()],
                player: session.mover(ply),
                ms: ms(played.time),
                nodes: played.nodes,
                value: played.value.clone(),
            }
        })
        .collect()
}

pub(crate) fn lines(position: &Position) -> Vec<Vec<[u8; 2]>> {
    let lines = Player::BOTH.into_iter().flat_map(|player| position.lines(player));
    lines
        .map(|line| line.iter().map(|cell| [cell.column.number(), cell.row + 1]).collect())
        .collect()
}

fn result(session: &GameSession) -> Option<ResultView> {
    session.end.map(|end| ResultView { winner: end.winner, reason: end.reason })
}

/// Whole milliseconds.
pub(crate) fn ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A game in a list.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct GameSummary {
    id: String,
    created: i64,
    #[schema(value_type = SetupSchema)]
    setup: Setup,
    players: [SummaryPlayer; 2],
    first: usize,
    status: &'static str,
    /// The moves as text.
    moves: String,
    result: Option<ResultView>,
    /// Whether the game is one of the visitor's own.
    mine: bool,
    /// Whether it is in the public list.
    listed: bool,
}

/// A player in a list.
#[derive(Clone, Debug, Serialize, ToSchema)]
struct SummaryPlayer {
    kind: &'static str,
    name: String,
    agent: Option<String>,
    you: bool,
}

impl GameSummary {
    pub(crate) fn new(session: &GameSession, who: &Visitor) -> GameSummary {
        let player = |player: usize| {
            let PlayerView { kind, name, agent, .. } = PlayerView::seated(&session.seats[player]);
            SummaryPlayer { kind, name, agent, you: session.holds(who, player) }
        };
        GameSummary {
            id: session.id.clone(),
            created: session.created,
            setup: session.setup(),
            players: [player(0), player(1)],
            first: session.first,
            status: session.status().name(),
            moves: session.game.move_text(),
            result: result(session),
            mine: session.belongs_to(who),
            listed: session.is_listed,
        }
    }
}

/// The value of a position for the side to move.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ValueView {
    /// `win`, `loss`, `draw`, `lines`, `points` or `expected`.
    kind: &'static str,
    /// Plies to a win or loss, the margin in lines, points, or a probability from 0 to 1.
    number: f64,
    text: String,
}

impl From<Value> for ValueView {
    fn from(value: Value) -> ValueView {
        ValueView { kind: value.kind(), number: value.number(), text: value.to_string() }
    }
}

impl From<ExactValue> for ValueView {
    fn from(value: ExactValue) -> ValueView {
        let (kind, number) = match value {
            ExactValue::Win(plies) => ("win", plies.into()),
            ExactValue::Loss(plies) => ("loss", plies.into()),
            ExactValue::Draw => ("draw", 0.0),
            ExactValue::Margin(lines) => ("lines", lines.into()),
        };
        ValueView { kind, number, text: value.to_string() }
    }
}

/// The best move and the values of all columns.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct HintView {
    column: u8,
    value: ValueView,
    /// From the left; `null` for full columns and where nothing is known.
    columns: Vec<Option<ColumnView>>,
    /// Whether the values are exact.
    exact: bool,
}

/// The value of a move for the side to move.
#[derive(Clone, Debug, Serialize, ToSchema)]
struct ColumnView {
    column: u8,
    value: ValueView,
    /// `exact`, `upper` or `lower`.
    bound: &'static str,
}

impl HintView {
    pub(crate) fn new(decision: &Decision, exact: bool) -> HintView {
        let column = |(column, known): (u8, &Option<ColumnValue>)| {
            known.map(|known| ColumnView {
                column,
                value: known.value.into(),
                bound: known.bound.name(),
            })
        };
        HintView {
            column: decision.column.number(),
            value: decision.value.into(),
            columns: (1..).zip(&decision.columns).map(column).collect(),
            exact,
        }
    }
}
