//! Games: creating, showing, listing and playing them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use claimeven_game::{Game, Ruleset, Setup};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::extract::{ApiResult, AppState, Body, Query, SetupSchema, Visit, bad, run_blocking};
use super::names;
use super::view::{GameSummary, GameView};
use crate::App;
use crate::agents;
use crate::client::Client;
use crate::error::{Error, ErrorView};
use crate::live_games::LiveGame;
use crate::session::{Clock, GameSession, Offers, PlayedMove, Refusal, Seat, end_on_board};
use crate::store::{Filter, Page, now_ms};
use crate::visitor::{Visitor, random_name};

pub(crate) fn api() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(create, list))
        .routes(routes!(show, delete))
        .routes(routes!(join))
        .routes(routes!(play))
        .routes(routes!(undo))
        .routes(routes!(redo))
        .routes(routes!(resign))
        .routes(routes!(draw))
        .routes(routes!(rematch))
        .routes(routes!(replace_agent))
        .routes(routes!(set_listed))
}

/// Who plays a side.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
enum SeatInput {
    /// The caller.
    Human { name: Option<String> },
    /// Whoever joins.
    Open {},
    /// A program.
    Agent { agent: String, name: Option<String> },
}

/// The time control of a game.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ClockInput {
    initial_ms: u64,
    increment_ms: u64,
}

/// A new game.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewGameInput {
    #[serde(default)]
    #[schema(value_type = SetupSchema)]
    setup: Setup,
    seats: [SeatInput; 2],
    /// Who moves first; random by default.
    #[serde(default)]
    first: Option<u8>,
    #[serde(default)]
    clock: Option<ClockInput>,
    /// The opening, as move text.
    #[serde(default)]
    moves: String,
    /// Whether the game is in the public list; by default only games between agents are.
    #[serde(default)]
    listed: Option<bool>,
}

impl NewGameInput {
    /// Checks everything and builds the session.
    fn session(self, app: &App, who: &Visitor) -> ApiResult<GameSession> {
        let setup = self.setup;
        let game = Game::parse(setup, &self.moves).map_err(bad)?;
        let first = match self.first {
            None => usize::from(fastrand::bool()),
            Some(first @ (0 | 1)) => first.into(),
            Some(first) => return Err(Error::Bad(format!("first must be 0 or 1, not {first}"))),
        };
        if end_on_board(&game, first).is_some() {
            return Err(Error::Bad(format!("The game is already over after '{}'", self.moves)));
        }
        let [one, other] = self.seats;
        let seats = [seat(one, setup, app, who)?, seat(other, setup, app, who)?];
        let has_no_people = seats.iter().all(|seat| matches!(seat, Seat::Agent { .. }));
        let played = |column: &claimeven_game::Column| PlayedMove {
            column: column.number(),
            time: Duration::ZERO,
            nodes: None,
            value: None,
        };
        Ok(GameSession {
            id: random_name(),
            version: 1,
            created: now_ms(),
            owner: Some(who.clone()),
            seats,
            first,
            seed: fastrand::u64(..),
            opening: game.moves().len(),
            moves: game.moves().iter().map(played).collect(),
            game,
            undone: Vec::new(),
            clock: self.clock.as_ref().map(clock).transpose()?,
            end: None,
            offers: Offers::default(),
            rematch: None,
            is_listed: self.listed.unwrap_or(has_no_people),
            turn_began: Instant::now(),
        })
    }
}

fn seat(input: SeatInput, setup: Setup, app: &App, who: &Visitor) -> ApiResult<Seat> {
    match input {
        SeatInput::Open {} => Ok(Seat::Open),
        SeatInput::Human { name: given } => {
            let name = names::person(given.as_deref().unwrap_or_default())?.unwrap_or_default();
            Ok(Seat::Human { holder: Some(who.clone()), name })
        }
        SeatInput::Agent { agent, name: given } => {
            let spec = agents::parse(&agent, setup, &app.config).map_err(Error::Bad)?;
            let name = names::agent(given.as_deref().unwrap_or_default(), &spec)?;
            Ok(Seat::Agent { spec, name })
        }
    }
}

fn clock(input: &ClockInput) -> ApiResult<Clock> {
    const DAY: u64 = 86_400_000;
    let ClockInput { initial_ms, increment_ms } = *input;
    if !(1_000..=DAY).contains(&initial_ms) {
        return Err(Error::Bad(format!("initial_ms must be 1000 to {DAY}, not {initial_ms}")));
    }
    if increment_ms > DAY / 24 {
        return Err(Error::Bad(format!(
            "increment_ms must be 0 to {}, not {increment_ms}",
            DAY / 24
        )));
    }
    let initial = Duration::from_millis(initial_ms);
    Ok(Clock { initial, increment: Duration::from_millis(increment_ms), left: [initial; 2] })
}

/// Creates a game.
#[utoipa::path(post, path = "/api/games", operation_id = "create_game", request_body = NewGameInput, responses(
    (status = 201, body = GameView), (status = 400, body = ErrorView), (status = 429, body = ErrorView),
    (status = 503, body = ErrorView),
))]
async fn create(
    State(app): AppState,
    Extension(who): Extension<Visitor>,
    Extension(client): Extension<Client>,
    Body(new): Body<NewGameInput>,
) -> ApiResult<(StatusCode, Json<GameView>)> {
    app.guard.new_game(&client)?;
    let (worker, owner) = (Arc::clone(&app), who.clone());
    let session = run_blocking(move || new.session(&worker, &owner)).await??;
    let live = app.games.create(session, &client).await?;
    Ok((StatusCode::CREATED, Json(GameView::of(&live, &app.config, &who))))
}

/// A game as the visitor sees it.
#[utoipa::path(get, path = "/api/games/{id}", operation_id = "get_game", params(("id" = String, Path)), responses(
    (status = 200, body = GameView), (status = 404, body = ErrorView),
))]
async fn show(visit: Visit) -> ApiResult<Json<GameView>> {
    let live = visit.app.games.get(&visit.id, &visit.client).await?;
    Ok(visit.view(&live))
}

/// Removes the visitor from a game, and deletes the game if it belongs to nobody else.
#[utoipa::path(delete, path = "/api/games/{id}", operation_id = "delete_game", params(("id" = String, Path)), responses(
    (status = 204), (status = 403, body = ErrorView), (status = 404, body = ErrorView), (status = 409, body = ErrorView),
))]
async fn delete(visit: Visit) -> ApiResult<StatusCode> {
    let live = visit.app.games.get(&visit.id, &visit.client).await?;
    let deleted = visit.app.games.delete(&live, &visit.who).await;
    deleted.map_err(|error| visit.with_game(error, &live))?;
    Ok(StatusCode::NO_CONTENT)
}

/// The name of a person who joins.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct JoinInput {
    #[serde(default)]
    name: Option<String>,
}

/// Takes the open seat.
#[utoipa::path(post, path = "/api/games/{id}/join", params(("id" = String, Path)), request_body = JoinInput, responses(
    (status = 200, body = GameView), (status = 404, body = ErrorView), (status = 409, body = ErrorView),
))]
async fn join(visit: Visit, Body(input): Body<JoinInput>) -> ApiResult<Json<GameView>> {
    let name = names::person(input.name.as_deref().unwrap_or_default())?;
    visit.change(move |session, who, now| session.join(who, name.clone(), now)).await
}

/// A move.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct MoveInput {
    /// Counted from 1.
    column: u64,
    /// The number of moves made so far; a move for any other position is refused.
    ply: u64,
}

/// Plays a move.
#[utoipa::path(post, path = "/api/games/{id}/moves", params(("id" = String, Path)), request_body = MoveInput, responses(
    (status = 200, body = GameView), (status = 400, body = ErrorView), (status = 403, body = ErrorView),
    (status = 404, body = ErrorView), (status = 409, body = ErrorView),
))]
async fn play(
    visit: Visit,
    Body(MoveInput { column, ply }): Body<MoveInput>,
) -> ApiResult<Json<GameView>> {
    visit.change(move |session, who, now| session.play(who, column, ply, now)).await
}

/// An offer, or the response to one.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct OfferInput {
    /// Whether to accept the other player's offer; omitted to make one.
    #[serde(default)]
    accept: Option<bool>,
}

/// Takes a move back, or requests a takeback from the other person.
#[utoipa::path(post, path = "/api/games/{id}/undo", params(("id" = String, Path)), request_body = OfferInput, responses(
    (status = 200, body = GameView), (status = 403, body = ErrorView), (status = 404, body = ErrorView),
    (status = 409, body = ErrorView),
))]
async fn undo(
    visit: Visit,
    Body(OfferInput { accept }): Body<OfferInput>,
) -> ApiResult<Json<GameView>> {
    visit.change(move |session, who, now| session.undo(who, accept, now)).await
}

/// An empty object.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct EmptyInput {}

/// Replays the moves taken back.
#[utoipa::path(post, path = "/api/games/{id}/redo", params(("id" = String, Path)), request_body = EmptyInput, responses(
    (status = 200, body = GameView), (status = 403, body = ErrorView), (status = 404, body = ErrorView),
    (status = 409, body = ErrorView),
))]
async fn redo(visit: Visit, Body(EmptyInput {}): Body<EmptyInput>) -> ApiResult<Json<GameView>> {
    visit.change(GameSession::redo).await
}

/// Resigns.
#[utoipa::path(post, path = "/api/games/{id}/resign", params(("id" = String, Path)), request_body = EmptyInput, responses(
    (status = 200, body = GameView), (status = 403, body = ErrorView), (status = 404, body = ErrorView),
    (status = 409, body = ErrorView),
))]
async fn resign(visit: Visit, Body(EmptyInput {}): Body<EmptyInput>) -> ApiResult<Json<GameView>> {
    visit.change(GameSession::resign).await
}

/// Offers a draw, or responds to an offer.
#[utoipa::path(post, path = "/api/games/{id}/draw", params(("id" = String, Path)), request_body = OfferInput, responses(
    (status = 200, body = GameView), (status = 403, body = ErrorView), (status = 404, body = ErrorView),
    (status = 409, body = ErrorView),
))]
async fn draw(
    visit: Visit,
    Body(OfferInput { accept }): Body<OfferInput>,
) -> ApiResult<Json<GameView>> {
    visit.change(move |session, who, now| session.draw(who, accept, now)).await
}

/// A rematch.
#[derive(Debug, Serialize, ToSchema)]
struct RematchView {
    /// The id of the new game; `null` until the other person agrees.
    id: Option<String>,
}

/// Starts a rematch in which the other player moves first; between people, offers one or responds to
/// an offer.
#[utoipa::path(post, path = "/api/games/{id}/rematch", params(("id" = String, Path)), request_body = OfferInput, responses(
    (status = 200, body = RematchView), (status = 403, body = ErrorView), (status = 404, body = ErrorView),
    (status = 409, body = ErrorView),
))]
async fn rematch(
    visit: Visit,
    Body(OfferInput { accept }): Body<OfferInput>,
) -> ApiResult<Json<RematchView>> {
    if accept == Some(false) {
        let decline = |session: &mut GameSession, who: &Visitor, _| session.decline_rematch(who);
        let Json(_) = visit.change(decline).await?;
        return Ok(Json(RematchView { id: None }));
    }
    let live = visit.app.games.get(&visit.id, &visit.client).await?;
    visit.app.guard.new_game(&visit.client)?;
    let rematch = visit.app.games.rematch(&live, &visit.who, &visit.client).await;
    let id = rematch.map_err(|error| visit.with_game(error, &live))?;
    Ok(Json(RematchView { id }))
}

/// A new agent for a seat.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct AgentInput {
    player: u8,
    agent: String,
}

/// Replaces an agent with another one.
#[utoipa::path(post, path = "/api/games/{id}/seat", params(("id" = String, Path)), request_body = AgentInput, responses(
    (status = 200, body = GameView), (status = 400, body = ErrorView), (status = 403, body = ErrorView),
    (status = 404, body = ErrorView), (status = 409, body = ErrorView),
))]
async fn replace_agent(
    visit: Visit,
    Body(AgentInput { player, agent }): Body<AgentInput>,
) -> ApiResult<Json<GameView>> {
    if player > 1 {
        return Err(Error::Bad(format!("player must be 0 or 1, not {player}")));
    }
    let setup = visit.app.games.session(&visit.id).await?.setup();
    let config = Arc::clone(&visit.app.config);
    let spec = run_blocking(move || agents::parse(&agent, setup, &config)).await?;
    let spec = spec.map_err(Error::Bad)?;
    visit
        .change(move |session, who, now| {
            session.replace_agent(who, player.into(), spec.clone(), now)
        })
        .await
}

/// Whether a game is in the public list.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ListingInput {
    listed: bool,
}

/// Adds a game to the public list or removes it. Every player may remove it; only somebody who is the
/// only person in the game may add it.
#[utoipa::path(post, path = "/api/games/{id}/listing", params(("id" = String, Path)), request_body = ListingInput, responses(
    (status = 200, body = GameView), (status = 400, body = ErrorView), (status = 403, body = ErrorView),
    (status = 404, body = ErrorView), (status = 409, body = ErrorView),
))]
async fn set_listed(
    visit: Visit,
    Body(ListingInput { listed }): Body<ListingInput>,
) -> ApiResult<Json<GameView>> {
    visit.change(move |session, who, _| session.set_listed(who, listed)).await
}

impl Visit {
    /// Changes a game and shows it. A conflict includes the current game.
    async fn change(
        &self,
        change: impl Fn(&mut GameSession, &Visitor, Instant) -> Result<(), Refusal>
        + Send
        + Sync
        + 'static,
    ) -> ApiResult<Json<GameView>> {
        let live = self.app.games.get(&self.id, &self.client).await?;
        let who = self.who.clone();
        let changed = self.app.games.change(&live, move |session, now| change(session, &who, now));
        changed.await.map_err(|error| self.with_game(error, &live))?;
        Ok(self.view(&live))
    }

    fn view(&self, live: &LiveGame) -> Json<GameView> {
        Json(GameView::of(live, &self.app.config, &self.who))
    }

    /// Adds the current game to a conflict, so that the page can show it.
    fn with_game(&self, error: Error, live: &LiveGame) -> Error {
        match error {
            Error::Conflict(message) => {
                let Json(view) = self.view(live);
                Error::GameConflict(message, Box::new(view))
            }
            error => error,
        }
    }
}

/// Filters for a list of games.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListInput {
    /// Only the visitor's own games.
    mine: Option<bool>,
    /// Part of a player's name.
    player: Option<String>,
    /// A prefix of an agent's text.
    agent: Option<String>,
    /// `0`, `1`, `draw`, or for the visitor's own games `me` and `lost`.
    winner: Option<String>,
    /// `standard` or `lines`.
    ruleset: Option<String>,
    /// `waiting`, `playing` or `finished`.
    status: Option<String>,
    /// Columns of the board.
    cols: Option<u8>,
    /// Rows of the board.
    rows: Option<u8>,
    /// The value of `next` in the previous page.
    before: Option<String>,
    /// Maximum number of games, from 1 to 100.
    limit: Option<u32>,
}

/// Games, the latest first.
#[derive(Debug, Serialize, ToSchema)]
struct ListView {
    games: Vec<GameSummary>,
    /// Pass it as `before` to get the next page. Even an empty page may have one, because each request
    /// examines a bounded number of games.
    next: Option<String>,
}

/// Lists games, the latest first: those in the public list and the visitor's own. Games that wait for
/// a player are shown only to the visitor who created them.
#[utoipa::path(get, path = "/api/games", operation_id = "list_games", params(ListInput), responses(
    (status = 200, body = ListView), (status = 400, body = ErrorView),
))]
async fn list(
    State(app): AppState,
    Extension(who): Extension<Visitor>,
    Query(query): Query<ListInput>,
) -> ApiResult<Json<ListView>> {
    let limit = query.limit.unwrap_or(20);
    if !(1..=100).contains(&limit) {
        return Err(Error::Bad(format!("limit must be 1 to 100, not {limit}")));
    }
    let filter = filter(&query, &who, limit)?;
    let Page { sessions, next } = app.store.list(filter).await?;
    let games = sessions.iter().map(|session| GameSummary::new(session, &who)).collect();
    Ok(Json(ListView { games, next }))
}

/// A text for a pattern of the database, without special characters.
fn pattern(text: &str) -> ApiResult<String> {
    if text.contains(char::is_control) {
        return Err(Error::Bad(format!("{text:?} has control characters")));
    }
    Ok(text.replace(['\\', '%', '_'], ""))
}

fn filter(query: &ListInput, who: &Visitor, limit: u32) -> ApiResult<Filter> {
    let mut filter = match query.mine {
        Some(true) => Filter::own(who, limit),
        _ => Filter::visible(who, limit),
    };
    let key = who.key();
    if let Some(player) = &query.player {
        let part = pattern(player)?;
        let condition = "(LOWER(name0) LIKE LOWER(?) OR LOWER(name1) LIKE LOWER(?))";
        filter.text(condition, &format!("%{part}%"));
    }
    if let Some(agent) = &query.agent {
        let start = pattern(agent)?;
        // `level:1` must not match `level:10`.
        if has_parameters(&start) {
            filter.text("(agent0 = ? OR agent1 = ?)", &start);
        } else {
            filter.text("(agent0 LIKE ? OR agent1 LIKE ?)", &format!("{start}%"));
        }
    }
    match query.winner.as_deref() {
        None => {}
        Some("0") => filter.plain("winner = 0"),
        Some("1") => filter.plain("winner = 1"),
        Some("draw") => filter.plain("(status = 'finished' AND winner IS NULL)"),
        Some("me") => {
            filter.text("((winner = 0 AND holder0 = ?) OR (winner = 1 AND holder1 = ?))", key);
        }
        Some("lost") => {
            filter.text("((winner = 1 AND holder0 = ?) OR (winner = 0 AND holder1 = ?))", key);
        }
        Some(other) => {
            return Err(Error::Bad(format!(
                "winner must be 0, 1, draw, me or lost, not '{other}'"
            )));
        }
    }
    if let Some(ruleset) = &query.ruleset {
        let ruleset: Ruleset = ruleset.parse().map_err(bad)?;
        filter.text("ruleset = ?", ruleset.name());
    }
    match query.status.as_deref() {
        None => {}
        Some(status @ ("waiting" | "playing" | "finished")) => filter.text("status = ?", status),
        Some(other) => {
            return Err(Error::Bad(format!(
                "status must be waiting, playing or finished, not '{other}'"
            )));
        }
    }
    if let Some(cols) = query.cols {
        filter.number("board_cols = ?", cols.into());
    }
    if let Some(rows) = query.rows {
        filter.number("board_rows = ?", rows.into());
    }
    if let Some(before) = &query.before
        && !filter.after(before)
    {
        return Err(Error::Bad(format!(
            "before must be the next value of an earlier page, not '{before}'"
        )));
    }
    Ok(filter)
}

/// Whether a text names an agent with its parameters, not only its kind.
fn has_parameters(text: &str) -> bool {
    text.starts_with("level:")
}
