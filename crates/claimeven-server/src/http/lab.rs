//! The lab: search trees and comparisons of searches.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use claimeven_arena::{AgentSpec, TreeDrawing};
use claimeven_game::{Column, Game, Setup};
use claimeven_search::{BoundKind, Decision, Limits, NodeContent, Value};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{ApiResult, Body, SetupSchema, bad, run_blocking};
use super::view::ValueView;
use crate::App;
use crate::agents;
use crate::client::{Address, Client};
use crate::error::{Error, ErrorView};
use crate::work::engine::{EngineError, Urgency};

pub(crate) fn api() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(tree)).routes(routes!(measure))
}

/// Maximum number of nodes in a response.
const MAX_NODES: usize = 5000;

/// Maximum number of nodes that a search records before the tree is pruned for display.
const MAX_RECORDED: u32 = 50_000;

/// Maximum number of playouts in a response.
const MAX_PLAYOUTS: usize = 20_000;

/// A position and the agent to search it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct SearchInput {
    #[serde(default)]
    #[schema(value_type = SetupSchema)]
    setup: Setup,
    /// The moves so far, as text.
    #[serde(default)]
    moves: String,
    /// The agent's text.
    agent: String,
    /// Maximum number of nodes, from 1 to 5000 (default).
    nodes: Option<usize>,
}

impl SearchInput {
    async fn read(self, app: &Arc<App>) -> ApiResult<(Game, AgentSpec)> {
        let app = Arc::clone(app);
        run_blocking(move || self.check(&app)).await?
    }

    fn check(&self, app: &App) -> ApiResult<(Game, AgentSpec)> {
        let setup = self.setup;
        let game = Game::parse(setup, &self.moves).map_err(bad)?;
        if game.position().outcome().is_some() {
            return Err(Error::Bad(format!("The game is already over after '{}'", self.moves)));
        }
        let agent = agents::parse(&self.agent, setup, &app.config).map_err(Error::Bad)?;
        Ok((game, agent))
    }
}

/// A search tree with the statistics of the search.
#[derive(Debug, Serialize, ToSchema)]
struct TreeView {
    #[schema(value_type = SetupSchema)]
    setup: Setup,
    /// The moves to the root.
    moves: String,
    #[serde(flatten)]
    search: SearchView,
    /// The number of nodes left out.
    hidden: u64,
    /// Parents before their children, the root first; for depth-first searches in search order.
    nodes: Vec<NodeView>,
    /// The playouts in order, one per simulation: the node each started from, and its result for the
    /// player at the root: 1, 0.5 or 0.
    playouts: Vec<(usize, f64)>,
}

/// The result and the statistics of a search.
#[derive(Debug, Serialize, ToSchema)]
struct SearchView {
    agent: String,
    column: u8,
    value: ValueView,
    /// The principal variation, as move text.
    pv: String,
    ms: f64,
    nodes_searched: u64,
    leaves: u64,
    cutoffs: u64,
    table_hits: u64,
    simulations: u64,
    /// Whether the server's time limit ended the search.
    stopped: bool,
}

/// A node of a search tree. Values are from the point of view of the player at the root: `+12`, `W2`,
/// `L1`, `draw`, `62 %`.
#[derive(Debug, Serialize, ToSchema)]
struct NodeView {
    parent: Option<usize>,
    /// The move that led to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u8>,
    /// The label of a pass, on its first node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pass: Option<String>,
    /// `max`, `min`, `leaf`, `end` or `table`.
    kind: &'static str,
    value: Option<String>,
    /// `exact`, `upper` or `lower`.
    bound: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    alpha: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    beta: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    visits: Option<u32>,
    /// The cut-off, with the moves that were not searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<CutView>,
    /// Whether it is on the principal variation.
    #[serde(skip_serializing_if = "is_false")]
    chosen: bool,
    /// The number of descendants left out.
    #[serde(skip_serializing_if = "is_zero")]
    hidden: u64,
}

/// A cut-off.
#[derive(Debug, Serialize, ToSchema)]
struct CutView {
    alpha: String,
    beta: String,
    columns: Vec<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde needs")]
fn is_false(flag: &bool) -> bool {
    !flag
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde needs")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The search tree of an agent for a position.
///
/// A larger tree is pruned: the principal variation, nodes near the root and, with simulations, the
/// most visited nodes are kept; the others are counted at their parents.
#[utoipa::path(post, path = "/api/lab/tree", request_body = SearchInput, responses(
    (status = 200, body = TreeView), (status = 400, body = ErrorView), (status = 429, body = ErrorView),
    (status = 503, body = ErrorView),
))]
async fn tree(
    State(app): State<Arc<App>>,
    Extension(client): Extension<Client>,
    Extension(address): Extension<Address>,
    Body(input): Body<SearchInput>,
) -> ApiResult<Response> {
    let max = input.nodes.unwrap_or(MAX_NODES);
    let (game, agent) = input.read(&app).await?;
    TreeDrawing::check(&agent).map_err(|error| Error::Bad(error.to_string()))?;
    if !(1..=MAX_NODES).contains(&max) {
        return Err(Error::Bad(format!("nodes must be 1 to {MAX_NODES}, not {max}")));
    }
    app.guard.hint(address)?;
    let limits = limits(&app);
    let name = format!("the tree of {agent}");
    let searched = app.engine.run(&client, Urgency::Background, name, move |cancel| {
        let limits = Limits { cancel: Some(Arc::clone(cancel)), ..limits };
        // A large tree is also serialized here, because that would delay other requests.
        let drawing = TreeDrawing::new(&agent, &game, &limits, MAX_RECORDED, max)?;
        Ok(serde_json::to_vec(&TreeView::new(&drawing)))
    });
    let json: Result<_, claimeven_search::AgentError> = searched.await?;
    let json = json.map_err(|error| EngineError::Unsupported(error.to_string()))?;
    let json = json.map_err(|error| Error::Internal(error.to_string()))?;
    Ok(([(header::CONTENT_TYPE, "application/json")], json).into_response())
}

/// Runs one search and returns its statistics.
#[utoipa::path(post, path = "/api/lab/search", request_body = SearchInput, responses(
    (status = 200, body = SearchView), (status = 400, body = ErrorView), (status = 429, body = ErrorView),
    (status = 503, body = ErrorView),
))]
async fn measure(
    State(app): State<Arc<App>>,
    Extension(client): Extension<Client>,
    Extension(address): Extension<Address>,
    Body(input): Body<SearchInput>,
) -> ApiResult<Json<SearchView>> {
    let (game, agent) = input.read(&app).await?;
    app.guard.hint(address)?;
    let limits = limits(&app);
    let name = format!("the search of {agent}");
    let searched = app.engine.run(&client, Urgency::Background, name, move |cancel| {
        let limits = Limits { cancel: Some(Arc::clone(cancel)), ..limits };
        let mut player = agent.build(game.position().setup(), 0)?;
        let decision = player.decide(game.position(), &limits)?;
        Ok(SearchView::new(&agent, &decision))
    });
    let view: Result<SearchView, claimeven_search::AgentError> = searched.await?;
    Ok(Json(view.map_err(|error| EngineError::Unsupported(error.to_string()))?))
}

fn limits(app: &App) -> Limits {
    let ms = app.config.lab_ms;
    let time = (ms > 0).then(|| Duration::from_millis(ms));
    Limits { time, memory: app.config.agent_memory(), ..Limits::default() }
}

impl SearchView {
    fn new(agent: &AgentSpec, decision: &Decision) -> SearchView {
        let stats = decision.stats;
        SearchView {
            agent: agent.to_string(),
            column: decision.column.number(),
            value: decision.value.into(),
            pv: decision.pv.iter().map(|column| column.to_char()).collect(),
            ms: (decision.time.as_secs_f64() * 1e6).round() / 1e3,
            nodes_searched: stats.nodes,
            leaves: stats.leaves,
            cutoffs: stats.cutoffs,
            table_hits: stats.table_hits,
            simulations: stats.simulations,
            stopped: decision.stopped,
        }
    }
}

impl TreeView {
    fn new(drawing: &TreeDrawing) -> TreeView {
        let playouts = drawing.tree.playouts.iter().take(MAX_PLAYOUTS);
        TreeView {
            setup: drawing.game.position().setup(),
            moves: drawing.game.move_text(),
            search: SearchView::new(&drawing.agent, &drawing.decision),
            hidden: drawing.tree.hidden(),
            nodes: (0..drawing.tree.nodes.len()).map(|node| NodeView::new(drawing, node)).collect(),
            playouts: playouts.map(|playout| (playout.node, playout.result)).collect(),
        }
    }
}

impl NodeView {
    fn new(drawing: &TreeDrawing, index: usize) -> NodeView {
        let node = &drawing.tree.nodes[index];
        let (alpha, beta, bound, visits) = match node.content {
            NodeContent::Window { alpha, beta, bound, .. } => (alpha, beta, bound, None),
            NodeContent::Visits { visits, .. } => (None, None, BoundKind::Exact, Some(visits)),
        };
        let cut = drawing.cut(index);
        NodeView {
            parent: node.parent,
            column: node.column.map(Column::number),
            pass: node.pass.clone(),
            kind: drawing.kind(index).name(),
            value: node.content.value().map(Value::short),
            bound: bound.name(),
            alpha: alpha.map(Value::short),
            beta: beta.map(Value::short),
            visits,
            cut: cut.map(|cut| CutView { alpha: cut.alpha, beta: cut.beta, columns: cut.moves }),
            chosen: drawing.chosen[index],
            hidden: node.hidden,
        }
    }
}
