//! Hints.

use std::time::Duration;

use axum::extract::State;
use axum::{Extension, Json};
use claimeven_arena::AgentSpec;
use claimeven_game::{Game, Setup};
use claimeven_search::{Limits, Perfect};
use serde::Deserialize;
use utoipa::ToSchema;

use super::extract::{ApiResult, AppState, Body, SetupSchema, bad};
use super::view::HintView;
use crate::client::{Address, Client};
use crate::error::{Error, ErrorView};
use crate::work::engine::{SearchRequest, Urgency};

/// A position.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HintInput {
    #[serde(default)]
    #[schema(value_type = SetupSchema)]
    setup: Setup,
    /// The moves so far, as text.
    #[serde(default)]
    moves: String,
}

/// The best move: exact if the position can be solved in time, otherwise that of a search.
#[utoipa::path(post, path = "/api/hint", request_body = HintInput, responses(
    (status = 200, body = HintView), (status = 400, body = ErrorView), (status = 429, body = ErrorView),
    (status = 503, body = ErrorView),
))]
pub(crate) async fn hint(
    State(app): AppState,
    Extension(client): Extension<Client>,
    Extension(address): Extension<Address>,
    Body(input): Body<HintInput>,
) -> ApiResult<Json<HintView>> {
    let setup = input.setup;
    let game = Game::parse(setup, &input.moves).map_err(bad)?;
    let position = *game.position();
    if position.outcome().is_some() {
        return Err(Error::Bad(format!("The game is already over after '{}'", input.moves)));
    }
    app.guard.hint(address)?;
    let total = Duration::from_millis(app.config.hint_ms.max(100));
    let search = |agent: &str, time: Duration| {
        let spec: AgentSpec = agent.parse().expect("a valid agent text");
        let limits = Limits { time: Some(time), ..Limits::default() };
        let request = SearchRequest { spec, seed: 0, position, limits, seat: None };
        app.engine.decide(&client, Urgency::Other, request)
    };
    // Larger boards cannot be solved in a reasonable time.
    if Perfect::check(setup).is_ok() && setup.cells() <= Setup::STANDARD.cells() {
        let decision = search("perfect:table=16", total * 3 / 4).await?;
        if !decision.stopped {
            return Ok(Json(HintView::new(&decision, true)));
        }
    }
    let decision = search("timed:ms=1000,table=16", total / 4).await?;
    Ok(Json(HintView::new(&decision, false)))
}
