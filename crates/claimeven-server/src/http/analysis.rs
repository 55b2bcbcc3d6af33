//! What a position is worth: the truth first and fast, then any agent's opinion.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::{Extension, Json};
use claimeven_arena::{Analysis, AnalysisLimits, ColumnAnalysis, Estimate};
use claimeven_game::{Column, Player, Position};
use claimeven_search::{ColumnValue, Decision, Limits};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::extract::{ApiResult, AppState, Body, SetupInput, bad};
use super::guard::Address;
use super::view::{SetupView, ValueView, lines};
use crate::agents;
use crate::error::{Error, ErrorView};
use crate::work::engine::{Question, Urgency};

/// How long the first answer may take. It is done on the threads of people's games, so not long.
const BRIEF: Duration = Duration::from_millis(150);

/// A position: moves, from the empty board or from discs that were set up.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PositionInput {
    #[serde(default)]
    pub(crate) setup: SetupInput,
    /// The discs to begin with, as a picture: lines of `.`, `X` and `O`, the top row first, with
    /// line breaks or `/` between them.
    #[serde(default)]
    pub(crate) board: Option<String>,
    /// The moves from there, as text.
    #[serde(default)]
    pub(crate) moves: String,
}

impl PositionInput {
    pub(crate) fn position(&self) -> ApiResult<Position> {
        let setup = self.setup.setup()?;
        let Some(board) = &self.board else {
            return Position::from_moves(setup, &self.moves).map_err(bad);
        };
        let mut position = Position::from_picture(setup, &board.replace('/', "\n")).map_err(bad)?;
        for (number, character) in (1..).zip(self.moves.chars()) {
            let wrong =
                |reason: String| Error::Bad(format!("move {number}, {character:?}: {reason}"));
            let column = Column::from_char(character).ok_or_else(|| {
                wrong(format!("not a column (expected {})", Column::names(setup)))
            })?;
            position.play(column).map_err(|error| wrong(error.to_string()))?;
        }
        Ok(position)
    }
}

/// A position to be analysed.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnalysisInput {
    #[serde(default)]
    position: PositionInput,
    /// Whether to look longer than a moment.
    #[serde(default)]
    patient: bool,
}

/// What is known of a position.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AnalysisView {
    setup: SetupView,
    /// The discs as a picture, the top row first.
    board: String,
    /// 0 for the player who moved first in the game, 1 for the other; nobody in a finished game.
    to_move: Option<usize>,
    /// The winner of a finished game, or `draw`.
    over: Option<OverView>,
    /// Columns that can be played.
    legal: Vec<u8>,
    /// Lines of each player.
    scores: [u32; 2],
    /// The closed lines, each a list of cells as column and row.
    lines: Vec<Vec<[u8; 2]>>,
    /// The exact value for the side to move, where it is known.
    value: Option<ValueView>,
    /// From the left; `null` where nobody can play or nothing can be known.
    columns: Vec<Option<ColumnTruthView>>,
    /// The best moves, where they are known.
    best: Vec<u8>,
    /// Best play to the end of the game, where it is known.
    pv: Vec<u8>,
    /// What a search thinks, where not all is known: an opinion.
    estimate: Option<EstimateView>,
    /// Whether all of it is exact.
    exact: bool,
    /// Whether the opening book has it.
    book: bool,
    /// The empty cells on which a disc of the first player, and of the second, would close a line.
    threats: [Vec<ThreatView>; 2],
    nodes: u64,
    ms: f64,
}

/// How a game has ended.
#[derive(Debug, Serialize, ToSchema)]
struct OverView {
    /// `null` for a draw.
    winner: Option<usize>,
}

/// What is known of a move, for the side to move.
#[derive(Debug, Serialize, ToSchema)]
struct ColumnTruthView {
    column: u8,
    /// Its exact worth, if that is known.
    value: Option<ValueView>,
    /// The least that can come of it: 1 for a win, 0 for a draw, -1 for a loss.
    at_least: i32,
    /// The most that can come of it.
    at_most: i32,
    /// The other side cannot force a win with so many of its next discs.
    no_loss_within: u32,
}

/// What a search of limited depth prefers.
#[derive(Debug, Serialize, ToSchema)]
struct EstimateView {
    column: u8,
    /// How many plies the whole search looked ahead.
    depth: u32,
    value: ValueView,
    /// How it expects the game to go on.
    pv: Vec<u8>,
}

impl From<Estimate> for EstimateView {
    fn from(estimate: Estimate) -> EstimateView {
        EstimateView {
            column: estimate.column.number(),
            depth: estimate.depth,
            value: estimate.value.into(),
            pv: estimate.pv.into_iter().map(Column::number).collect(),
        }
    }
}

/// A cell that would close a line.
#[derive(Debug, Serialize, ToSchema)]
struct ThreatView {
    /// Column and row.
    cell: [u8; 2],
    /// Whether a disc dropped now would fall there.
    open: bool,
    /// Whether its row is an odd one, counted from the bottom.
    odd: bool,
}

impl AnalysisView {
    fn new(position: &Position, analysis: &Analysis, took: Duration) -> AnalysisView {
        let column = |(column, known): (u8, &Option<ColumnAnalysis>)| {
            known.map(|known| ColumnTruthView {
                column,
                value: known.value.map(ValueView::from),
                at_least: known.at_least,
                at_most: known.at_most,
                no_loss_within: known.no_loss_within,
            })
        };
        let outcome = position.outcome();
        let numbers =
            |columns: &mut dyn Iterator<Item = Column>| columns.map(Column::number).collect();
        let legal: Vec<u8> = numbers(&mut position.legal());
        AnalysisView {
            setup: SetupView::of(position),
            board: position.to_string(),
            to_move: outcome.is_none().then(|| position.player().index()),
            over: outcome.map(|outcome| OverView { winner: outcome.winner().map(Player::index) }),
            scores: position.scores(),
            lines: lines(position),
            value: analysis.value.map(ValueView::from),
            columns: (1..).zip(&analysis.columns).map(column).collect(),
            best: numbers(&mut analysis.best()),
            pv: numbers(&mut analysis.pv.iter().copied()),
            estimate: analysis.estimate.clone().map(EstimateView::from),
            exact: outcome.is_some() || analysis.is_exact(),
            book: analysis.in_book,
            threats: Player::BOTH.map(|player| threats(position, player)),
            legal,
            nodes: analysis.nodes,
            ms: (took.as_secs_f64() * 1e6).round() / 1e3,
        }
    }
}

fn threats(position: &Position, player: Player) -> Vec<ThreatView> {
    let cells = position.threats(player).into_iter();
    cells
        .map(|cell| {
            let below = claimeven_game::Cell { row: cell.row.saturating_sub(1), ..cell };
            ThreatView {
                cell: [cell.column.number(), cell.row + 1],
                open: cell.row == 0 || position.disc(below).is_some(),
                odd: cell.row.is_multiple_of(2),
            }
        })
        .collect()
}

/// What every move is worth. It answers within a moment with what is known by then, or, if asked to
/// be patient, within a hint's time.
#[utoipa::path(post, path = "/api/analysis", request_body = AnalysisInput, responses(
    (status = 200, body = AnalysisView), (status = 400, body = ErrorView), (status = 429, body = ErrorView),
    (status = 503, body = ErrorView),
))]
pub(crate) async fn analyze(
    State(app): AppState,
    Extension(address): Extension<Address>,
    Body(input): Body<AnalysisInput>,
) -> ApiResult<Json<AnalysisView>> {
    let position = input.position.position()?;
    let (urgency, time) = if input.patient {
        app.guard.analysis(address)?;
        (Urgency::Other, Duration::from_millis(app.config.hint_ms.max(100)))
    } else {
        (Urgency::Brief, BRIEF)
    };
    let name = format!("the analysis of {position:?}");
    let worker = Arc::clone(&app);
    let work = move |cancel: &Arc<_>| {
        let began = Instant::now();
        let limits = AnalysisLimits { time: Some(time), cancel: Some(Arc::clone(cancel)) };
        let analysis = worker.analyzers.with(|analyzer| analyzer.analyze(&position, &limits));
        AnalysisView::new(&position, &analysis, began.elapsed())
    };
    Ok(Json(app.engine.run(urgency, name, work).await?))
}

/// A position, and who is to say something about it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OpinionInput {
    #[serde(default)]
    position: PositionInput,
    /// The agent's text.
    agent: String,
}

/// What an agent thinks of a position.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OpinionView {
    agent: String,
    /// What it would play.
    column: u8,
    /// What it thinks the position is worth to the side to move.
    value: ValueView,
    /// From the left; `null` where nobody can play or it has no opinion.
    columns: Vec<Option<OpinionColumnView>>,
    /// How it divided its attention among the columns, adding up to 1: simulations, or a network's
    /// policy. Empty for players that do not divide it.
    shares: Vec<f64>,
    /// How it expects the game to go on.
    pv: Vec<u8>,
    nodes: u64,
    simulations: u64,
    depth: u32,
    ms: f64,
    /// Whether the time was up before it was done.
    stopped: bool,
}

/// What an agent thinks of a move.
#[derive(Debug, Serialize, ToSchema)]
struct OpinionColumnView {
    column: u8,
    value: ValueView,
    /// `exact`, `at most` or `at least`.
    bound: &'static str,
}

impl OpinionView {
    fn new(agent: String, decision: Decision) -> OpinionView {
        let column = |(column, known): (u8, Option<ColumnValue>)| {
            known.map(|known| OpinionColumnView {
                column,
                value: known.value.into(),
                bound: known.bound.name(),
            })
        };
        OpinionView {
            agent,
            column: decision.column.number(),
            value: decision.value.into(),
            columns: (1..).zip(decision.columns).map(column).collect(),
            shares: decision.shares,
            pv: decision.pv.into_iter().map(Column::number).collect(),
            nodes: decision.stats.nodes,
            simulations: decision.stats.simulations,
            depth: decision.stats.depth,
            ms: (decision.time.as_secs_f64() * 1e6).round() / 1e3,
            stopped: decision.stopped,
        }
    }
}

/// What an agent thinks of a position.
#[utoipa::path(post, path = "/api/analysis/opinion", request_body = OpinionInput, responses(
    (status = 200, body = OpinionView), (status = 400, body = ErrorView), (status = 429, body = ErrorView),
    (status = 503, body = ErrorView),
))]
pub(crate) async fn opinion(
    State(app): AppState,
    Extension(address): Extension<Address>,
    Body(input): Body<OpinionInput>,
) -> ApiResult<Json<OpinionView>> {
    let position = input.position.position()?;
    if position.outcome().is_some() {
        return Err(Error::Bad("the game is over, there is nothing to think about".to_owned()));
    }
    let spec = agents::parse(&input.agent, position.setup(), &app.config).map_err(Error::Bad)?;
    app.guard.analysis(address)?;
    let time = Duration::from_millis(app.config.hint_ms.max(100));
    let limits = Limits { time: Some(time), ..Limits::default() };
    let name = spec.to_string();
    let question = Question { spec, seed: 0, position, limits, seat: None };
    let decision = app.engine.decide(Urgency::Other, question).await?;
    Ok(Json(OpinionView::new(name, decision)))
}
