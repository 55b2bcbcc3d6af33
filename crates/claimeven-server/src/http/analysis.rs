//! Analysis of positions: exact values, and the opinion of any agent.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::{Extension, Json};
use claimeven_arena::{Analysis, AnalysisLimits, ColumnAnalysis, Estimate};
use claimeven_game::{Column, Player, Position, Setup};
use claimeven_search::{ColumnValue, Decision, Limits};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::extract::{ApiResult, AppState, Body, SetupSchema, bad, run_blocking};
use super::view::{ValueView, lines};
use crate::agents;
use crate::client::{Address, Client};
use crate::error::{Error, ErrorView};
use crate::work::engine::{SearchRequest, Urgency};

/// Time limit of a quick analysis, which may use the express lane.
const QUICK_TIME: Duration = Duration::from_millis(150);

/// A position: moves from the empty board or from a custom position.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PositionInput {
    #[serde(default)]
    #[schema(value_type = SetupSchema)]
    pub(crate) setup: Setup,
    /// The initial discs, as a picture: lines of `.`, `X` and `O`, the top row first, with
    /// line breaks or `/` between them.
    #[serde(default)]
    pub(crate) board: Option<String>,
    /// The moves from there, as text.
    #[serde(default)]
    pub(crate) moves: String,
}

impl PositionInput {
    pub(crate) fn position(&self) -> ApiResult<Position> {
        let setup = self.setup;
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

/// A position to analyze.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnalysisInput {
    #[serde(default)]
    position: PositionInput,
    /// Whether to take more time than a quick analysis.
    #[serde(default)]
    thorough: bool,
}

/// The analysis of a position.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AnalysisView {
    #[schema(value_type = SetupSchema)]
    setup: Setup,
    /// The discs as a picture, the top row first.
    board: String,
    /// 0 for the first player, 1 for the second; `null` in a finished game.
    to_move: Option<usize>,
    /// The result of a finished game.
    outcome: Option<OutcomeView>,
    /// The legal moves.
    legal: Vec<u8>,
    /// The completed lines of each player.
    scores: [u32; 2],
    /// The completed lines, each a list of cells as column and row.
    lines: Vec<Vec<[u8; 2]>>,
    /// The exact value for the side to move, if known.
    value: Option<ValueView>,
    /// From the left; `null` for full columns and where nothing is known.
    columns: Vec<Option<ColumnValueView>>,
    /// The best moves, if known.
    best: Vec<u8>,
    /// The principal variation to the end of the game, if known.
    pv: Vec<u8>,
    /// The estimate of a depth-limited search, if not everything is known.
    estimate: Option<EstimateView>,
    /// Whether everything is exact.
    exact: bool,
    /// Whether it is in the opening book.
    book: bool,
    /// The threats of the first and of the second player: empty cells that would complete a line.
    threats: [Vec<ThreatView>; 2],
    nodes: u64,
    ms: f64,
}

/// The result of a finished game.
#[derive(Debug, Serialize, ToSchema)]
struct OutcomeView {
    /// `null` for a draw.
    winner: Option<usize>,
}

/// What is known about a move, for the side to move.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ColumnValueView {
    pub(crate) column: u8,
    /// Its exact value, if known.
    pub(crate) value: Option<ValueView>,
    /// Lower bound of the result: 1 for a win, 0 for a draw, -1 for a loss.
    pub(crate) at_least: i32,
    /// Upper bound of the result.
    pub(crate) at_most: i32,
    /// The opponent cannot force a win with this many of its next discs.
    pub(crate) no_loss_within: u32,
}

/// The preference of a depth-limited search.
#[derive(Debug, Serialize, ToSchema)]
struct EstimateView {
    column: u8,
    /// The completed depth of the search, in plies.
    depth: u32,
    value: ValueView,
    /// The expected continuation.
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

/// An empty cell that would complete a line.
#[derive(Debug, Serialize, ToSchema)]
struct ThreatView {
    /// Column and row.
    cell: [u8; 2],
    /// Whether it can be played now.
    open: bool,
    /// Whether its row is odd, counted from 1 at the bottom.
    odd: bool,
}

impl AnalysisView {
    fn new(position: &Position, analysis: &Analysis, took: Duration) -> AnalysisView {
        let column = |(column, known): (u8, &Option<ColumnAnalysis>)| {
            known.map(|known| ColumnValueView {
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
            setup: position.setup(),
            board: position.to_string(),
            to_move: outcome.is_none().then(|| position.player().index()),
            outcome: outcome
                .map(|outcome| OutcomeView { winner: outcome.winner().map(Player::index) }),
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

/// The value of every move, as far as it is known after 150 ms or, if `thorough`, after the time limit
/// of a hint.
#[utoipa::path(post, path = "/api/analysis", request_body = AnalysisInput, responses(
    (status = 200, body = AnalysisView), (status = 400, body = ErrorView), (status = 429, body = ErrorView),
    (status = 503, body = ErrorView),
))]
pub(crate) async fn analyze(
    State(app): AppState,
    Extension(client): Extension<Client>,
    Extension(address): Extension<Address>,
    Body(input): Body<AnalysisInput>,
) -> ApiResult<Json<AnalysisView>> {
    let position = input.position.position()?;
    let (urgency, time) = if input.thorough {
        app.guard.analysis(address)?;
        (Urgency::Other, Duration::from_millis(app.config.hint_ms.max(100)))
    } else {
        (Urgency::Brief, QUICK_TIME)
    };
    let name = format!("the analysis of {position:?}");
    let worker = Arc::clone(&app);
    let work = move |cancel: &Arc<_>| {
        let started = Instant::now();
        let limits = AnalysisLimits { time: Some(time), cancel: Some(Arc::clone(cancel)) };
        let analysis = worker.analyzers.with(|analyzer| analyzer.analyze(&position, &limits));
        AnalysisView::new(&position, &analysis, started.elapsed())
    };
    Ok(Json(app.engine.run(&client, urgency, name, work).await?))
}

/// A position and the agent that evaluates it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OpinionInput {
    #[serde(default)]
    position: PositionInput,
    /// The agent's text.
    agent: String,
}

/// An agent's evaluation of a position.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OpinionView {
    agent: String,
    /// The move it would play.
    column: u8,
    /// Its evaluation for the side to move.
    value: ValueView,
    /// From the left; `null` for full columns and where it has no opinion.
    columns: Vec<Option<OpinionColumnView>>,
    /// The distribution of its simulations, or a network's policy, over the columns. Empty for other
    /// players.
    shares: Vec<f64>,
    /// The principal variation.
    pv: Vec<u8>,
    nodes: u64,
    simulations: u64,
    depth: u32,
    ms: f64,
    /// Whether the time limit ended the search.
    stopped: bool,
}

/// An agent's evaluation of a move.
#[derive(Debug, Serialize, ToSchema)]
struct OpinionColumnView {
    column: u8,
    value: ValueView,
    /// `exact`, `upper` or `lower`.
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

/// An agent's evaluation of a position.
#[utoipa::path(post, path = "/api/analysis/opinion", request_body = OpinionInput, responses(
    (status = 200, body = OpinionView), (status = 400, body = ErrorView), (status = 429, body = ErrorView),
    (status = 503, body = ErrorView),
))]
pub(crate) async fn opinion(
    State(app): AppState,
    Extension(client): Extension<Client>,
    Extension(address): Extension<Address>,
    Body(input): Body<OpinionInput>,
) -> ApiResult<Json<OpinionView>> {
    let position = input.position.position()?;
    if position.outcome().is_some() {
        return Err(Error::Bad("The game is over".to_owned()));
    }
    let config = Arc::clone(&app.config);
    let parse = move || agents::parse(&input.agent, position.setup(), &config);
    let spec = run_blocking(parse).await?.map_err(Error::Bad)?;
    app.guard.analysis(address)?;
    let time = Duration::from_millis(app.config.hint_ms.max(100));
    let limits = Limits { time: Some(time), ..Limits::default() };
    let name = spec.to_string();
    let request = SearchRequest { spec, seed: 0, position, limits, seat: None };
    let decision = app.engine.decide(&client, Urgency::Other, request).await?;
    Ok(Json(OpinionView::new(name, decision)))
}
