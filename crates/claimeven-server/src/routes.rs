//! The API over HTTP. Each handler reads its input, asks the live games, and shows the game.

#![allow(clippy::unused_async, reason = "handlers are async, whether they wait or not")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{FromRequest, FromRequestParts, Path, Request, State};
use axum::http::{StatusCode, header, request::Parts};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use claimeven_arena::{
    AgentSpec, GameRecord, LegacyRecord, MoveRecord, PlayerRecord, ResultRecord, pgn,
};
use claimeven_game::{Game, Ruleset, Setup};
use claimeven_search::{Limits, Perfect};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, OpenApi, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::agents::{self, AgentsView};
use crate::engine::{Question, Urgency};
use crate::error::{Error, ErrorView};
use crate::guard::Address;
use crate::session::{Clock, GameSession, Offers, PlayedMove, Seat, by_the_rules, default_name};
use crate::store::{Filter, now_ms};
use crate::view::{GameSummary, GameView, HintView};
use crate::visitor::{Visitor, random_name};

pub(crate) type AppState = State<Arc<App>>;
pub(crate) type ApiResult<T> = Result<T, Error>;

#[derive(OpenApi)]
#[openapi(info(
    title = "Claimeven",
    description = "Connect Four: live games against agents and people. Columns are counted from 1, rows from 1 at the \
        bottom; players are 0 and 1. A visitor is known by a cookie, which the first call that needs one sets."
))]
struct Description;

/// All addresses of the API, with their description.
pub(crate) fn api() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::with_openapi(Description::openapi())
        .routes(routes!(list_agents))
        .routes(routes!(create, list))
        .routes(routes!(show, delete))
        .routes(routes!(join))
        .routes(routes!(play))
        .routes(routes!(undo))
        .routes(routes!(redo))
        .routes(routes!(resign))
        .routes(routes!(draw))
        .routes(routes!(rematch))
        .routes(routes!(reseat))
        .routes(routes!(record))
        .routes(routes!(hint))
        .routes(routes!(crate::socket::live))
        .routes(routes!(health))
        .routes(routes!(metrics))
        .merge(crate::study::api())
        .merge(crate::lab::api())
        .merge(crate::arena::api())
        .merge(crate::training::api())
}

/// A JSON body; an empty one is `{}`.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Body<T> {
    type Rejection = Error;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Error> {
        let content_type = request.headers().get(header::CONTENT_TYPE).cloned();
        let most = app.games.config.body_bytes;
        let most = if most == 0 { usize::MAX } else { most };
        let bytes = axum::body::to_bytes(request.into_body(), most)
            .await
            .map_err(|_| Error::TooLarge(format!("a body has at most {most} bytes")))?;
        if bytes.is_empty() {
            return read_json(b"{}").map(Body);
        }
        let is_json =
            content_type.as_ref().and_then(|value| value.to_str().ok()).is_some_and(|value| {
                value
                    .split(';')
                    .next()
                    .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
            });
        if !is_json {
            return Err(Error::NotJson("a body is of type application/json".to_owned()));
        }
        read_json(&bytes).map(Body)
    }
}

/// Reads JSON, and says what is wrong with it in a line.
pub(crate) fn read_json<T: DeserializeOwned>(bytes: &[u8]) -> ApiResult<T> {
    serde_json::from_slice(bytes).map_err(|error| Error::Bad(error.to_string()))
}

/// The query string of a request. Errors are JSON like all others.
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<Arc<App>> for Query<T> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, Error> {
        let query = axum::extract::Query::try_from_uri(&parts.uri);
        let axum::extract::Query(query) = query.map_err(|error| Error::Bad(error.body_text()))?;
        Ok(Query(query))
    }
}

/// The name of a game in an address.
pub(crate) struct Id(pub(crate) String);

impl FromRequestParts<Arc<App>> for Id {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Error> {
        let path = Path::<String>::from_request_parts(parts, app).await;
        let Path(id) = path.map_err(|_| Error::NotFound("there is no such game".to_owned()))?;
        Ok(Id(id))
    }
}

/// A board and the rules on it; what is not given is as in the shops.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SetupInput {
    cols: u8,
    rows: u8,
    connect: u8,
    ruleset: String,
}

impl Default for SetupInput {
    fn default() -> SetupInput {
        SetupInput { cols: 7, rows: 6, connect: 4, ruleset: "standard".to_owned() }
    }
}

impl SetupInput {
    pub(crate) fn setup(&self) -> ApiResult<Setup> {
        let ruleset: Ruleset = self.ruleset.parse().map_err(bad)?;
        Setup::new(self.cols, self.rows, self.connect, ruleset).map_err(bad)
    }
}

/// Who is to sit on a side.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
enum SeatInput {
    /// The caller.
    Human { name: Option<String> },
    /// Whoever comes.
    Open {},
    /// A program.
    Agent { agent: String, name: Option<String> },
}

/// The time for a whole game.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ClockInput {
    initial_ms: u64,
    increment_ms: u64,
}

/// A game to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewGame {
    #[serde(default)]
    setup: SetupInput,
    seats: [SeatInput; 2],
    /// Who begins; by chance if it is not given.
    #[serde(default)]
    first: Option<u8>,
    #[serde(default)]
    clock: Option<ClockInput>,
    /// The moves that the game begins with, as text.
    #[serde(default)]
    moves: String,
}

impl NewGame {
    /// The game, if all of it makes sense.
    fn session(self, app: &App, who: &Visitor) -> ApiResult<GameSession> {
        let setup = self.setup.setup()?;
        let game = Game::parse(setup, &self.moves).map_err(bad)?;
        let first = match self.first {
            None => usize::from(fastrand::bool()),
            Some(first @ (0 | 1)) => first.into(),
            Some(first) => return Err(Error::Bad(format!("first is 0 or 1, not {first}"))),
        };
        if by_the_rules(&game, first).is_some() {
            return Err(Error::Bad(format!("the game is over after '{}'", self.moves)));
        }
        let [one, other] = self.seats;
        let seats = [seat(one, 0, setup, app, who)?, seat(other, 1, setup, app, who)?];
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
            turn_began: Instant::now(),
        })
    }
}

fn seat(
    input: SeatInput,
    player: usize,
    setup: Setup,
    app: &App,
    who: &Visitor,
) -> ApiResult<Seat> {
    match input {
        SeatInput::Open {} => Ok(Seat::Open),
        SeatInput::Human { name: given } => {
            let name = name(given.as_deref())?.unwrap_or_else(|| default_name(player));
            Ok(Seat::Human { holder: Some(who.clone()), name })
        }
        SeatInput::Agent { agent, name: given } => {
            let spec = agents::parse(&agent, setup, &app.games.config).map_err(Error::Bad)?;
            let name = name(given.as_deref())?.unwrap_or_else(|| spec.to_string());
            Ok(Seat::Agent { spec, name })
        }
    }
}

fn clock(input: &ClockInput) -> ApiResult<Clock> {
    const DAY: u64 = 86_400_000;
    let ClockInput { initial_ms, increment_ms } = *input;
    if !(1_000..=DAY).contains(&initial_ms) {
        return Err(Error::Bad(format!("initial_ms is 1000 to {DAY}, not {initial_ms}")));
    }
    if increment_ms > DAY / 24 {
        return Err(Error::Bad(format!("increment_ms is 0 to {}, not {increment_ms}", DAY / 24)));
    }
    let initial = Duration::from_millis(initial_ms);
    Ok(Clock { initial, increment: Duration::from_millis(increment_ms), left: [initial; 2] })
}

/// The name of a player of a game.
fn name(given: Option<&str>) -> ApiResult<Option<String>> {
    short_text("a name", given.unwrap_or_default(), 40)
}

/// What people call a tournament, a player in it or a run.
pub(crate) fn title(given: &str) -> ApiResult<Option<String>> {
    short_text("a title", given, 60)
}

/// A line as others may be shown it; none if it is blank.
fn short_text(what: &str, given: &str, longest: usize) -> ApiResult<Option<String>> {
    let text = given.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().any(char::is_control) || text.chars().count() > longest {
        let text = text.escape_debug();
        let message = format!("{what} has at most {longest} printable characters, not '{text}'");
        return Err(Error::Bad(message));
    }
    Ok(Some(text).filter(|text| !text.is_empty()))
}

#[allow(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
pub(crate) fn bad(error: impl ToString) -> Error {
    Error::Bad(error.to_string())
}

/// Who can be played against.
#[utoipa::path(get, path = "/api/agents", responses((status = 200, body = AgentsView)))]
async fn list_agents(State(app): AppState) -> Json<AgentsView> {
    Json(AgentsView::new(&app.games.config))
}

/// Makes a game.
#[utoipa::path(post, path = "/api/games", request_body = NewGame, responses(
    (status = 201, body = GameView), (status = 400, body = ErrorView), (status = 429, body = ErrorView),
    (status = 503, body = ErrorView),
))]
async fn create(
    State(app): AppState,
    Extension(who): Extension<Visitor>,
    Extension(address): Extension<Address>,
    Body(new): Body<NewGame>,
) -> ApiResult<(StatusCode, Json<GameView>)> {
    let session = new.session(&app, &who)?;
    app.guard.new_game(address)?;
    let live = app.games.create(session).await?;
    Ok((StatusCode::CREATED, Json(app.games.view(&live, &who))))
}

/// A game as the visitor sees it.
#[utoipa::path(get, path = "/api/games/{id}", params(("id" = String, Path)), responses(
    (status = 200, body = GameView), (status = 404, body = ErrorView),
))]
async fn show(
    State(app): AppState,
    Extension(who): Extension<Visitor>,
    Id(id): Id,
) -> ApiResult<Json<GameView>> {
    let live = app.games.live(&id).await?;
    Ok(Json(app.games.view(&live, &who)))
}

/// Takes the visitor's name off a game, and the game away if it was nobody else's.
#[utoipa::path(delete, path = "/api/games/{id}", params(("id" = String, Path)), responses(
    (status = 204), (status = 403, body = ErrorView), (status = 404, body = ErrorView), (status = 409, body = ErrorView),
))]
async fn delete(
    State(app): AppState,
    Extension(who): Extension<Visitor>,
    Id(id): Id,
) -> ApiResult<StatusCode> {
    let live = app.games.live(&id).await?;
    app.games.delete(&live, &who).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A name to be called by.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Joining {
    #[serde(default)]
    name: Option<String>,
}

/// Takes the open seat.
#[utoipa::path(post, path = "/api/games/{id}/join", params(("id" = String, Path)), request_body = Joining, responses(
    (status = 200, body = GameView), (status = 404, body = ErrorView), (status = 409, body = ErrorView),
))]
async fn join(
    State(app): AppState,
    Extension(who): Extension<Visitor>,
    Id(id): Id,
    Body(joining): Body<Joining>,
) -> ApiResult<Json<GameView>> {
    let name = name(joining.name.as_deref())?;
    change(&app, &who, &id, move |session, who, now| session.join(who, name, now)).await
}

/// A move.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Playing {
    /// Counted from 1.
    column: u64,
    /// How many moves have been made so far; a move for any other position is refused.
    ply: u64,
}

/// Plays a move.
#[utoipa::path(post, path = "/api/games/{id}/moves", params(("id" = String, Path)), request_body = Playing, responses(
    (status = 200, body = GameView), (status = 400, body = ErrorView), (status = 403, body = ErrorView),
    (status = 404, body = ErrorView), (status = 409, body = ErrorView),
))]
async fn play(
    State(app): AppState,
    Extension(who): Extension<Visitor>,
    Id(id): Id,
    Body(Playing { column, ply }): Body<Playing>,
) -> ApiResult<Json<GameView>> {
    change(&app, &who, &id, move |session, who, now| session.play(who, column, ply, now)).await
}

/// An offer, or the answer to one.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Answering {
    /// Whether the other player's offer is taken; nothing to make one.
    #[serde(default)]
    accept: Option<bool>,
}

/// Takes a move back, or asks the other person to agree to it.
#[utoipa::path(post, path = "/api/games/{id}/undo", params(("id" = String, Path)), request_body = Answering, responses(
    (status = 200, body = GameView), (status = 403, body = ErrorView), (status = 404, body = ErrorView),
    (status = 409, body = ErrorView),
))]
async fn undo(
    State(app): AppState,
    Extension(who): Extension<Visitor>,
    Id(id): Id,
    Body(Answering { accept }): Body<Answering>,
) -> ApiResult<Json<GameView>> {
    change(&app, &who, &id, move |session, who, now| session.undo(who, accept, now)).await
}

/// Nothing.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// Plays again what was taken back.
#[utoipa::path(post, path = "/api/games/{id}/redo", params(("id" = String, Path)), request_body = Nothing, responses(
    (status = 200, body = GameView), (status = 403, body = ErrorView), (status = 404, body = ErrorView),
    (status = 409, body = ErrorView),
))]
async fn redo(
    State(app): AppState,
    Extension(who): Extension<Visitor>,
    Id(id): Id,
    Body(Nothing {}): Body<Nothing>,
) -> ApiResult<Json<GameView>> {
    change(&app, &who, &id, GameSession::redo).await
}

/// Gives the game up.
#[utoipa::path(post, path = "/api/games/{id}/resign", params(("id" = String, Path)), request_body = Nothing, responses(
    (status = 200, body = GameView), (status = 403, body = ErrorView), (status = 404, body = ErrorView),
    (status = 409, body = ErrorView),
))]
async fn resign(
    State(app): AppState,
    Extension(who): Extension<Visitor>,
    Id(id): Id,
    Body(Nothing {}): Body<Nothing>,
) -> ApiResult<Json<GameView>> {
    change(&app, &who, &id, GameSession::resign).await
}

/// Offers a draw, or answers an offer.
#[utoipa::path(post, path = "/api/games/{id}/draw", params(("id" = String, Path)), request_body = Answering, responses(
    (status = 200, body = GameView), (status = 403, body = ErrorView), (status = 404, body = ErrorView),
    (status = 409, body = ErrorView),
))]
async fn draw(
    State(app): AppState,
    Extension(who): Extension<Visitor>,
    Id(id): Id,
    Body(Answering { accept }): Body<Answering>,
) -> ApiResult<Json<GameView>> {
    change(&app, &who, &id, move |session, who, now| session.draw(who, accept, now)).await
}

/// The next game.
#[derive(Debug, Serialize, ToSchema)]
struct RematchView {
    /// Its name; `null` while the other person has not agreed.
    id: Option<String>,
}

/// Begins another game of the same players, the other of whom begins; between people, asks for it or
/// answers who has query.
#[utoipa::path(post, path = "/api/games/{id}/rematch", params(("id" = String, Path)), request_body = Answering, responses(
    (status = 200, body = RematchView), (status = 403, body = ErrorView), (status = 404, body = ErrorView),
    (status = 409, body = ErrorView),
))]
async fn rematch(
    State(app): AppState,
    Extension(who): Extension<Visitor>,
    Extension(address): Extension<Address>,
    Id(id): Id,
    Body(Answering { accept }): Body<Answering>,
) -> ApiResult<Json<RematchView>> {
    if accept == Some(false) {
        let decline = |session: &mut GameSession, who: &Visitor, _| session.decline_rematch(who);
        let Json(_) = change(&app, &who, &id, decline).await?;
        return Ok(Json(RematchView { id: None }));
    }
    let live = app.games.live(&id).await?;
    app.guard.new_game(address)?;
    Ok(Json(RematchView { id: app.games.rematch(&live, &who).await? }))
}

/// Another agent.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Reseating {
    player: u8,
    agent: String,
}

/// Puts another agent on an agent's seat.
#[utoipa::path(post, path = "/api/games/{id}/seat", params(("id" = String, Path)), request_body = Reseating, responses(
    (status = 200, body = GameView), (status = 400, body = ErrorView), (status = 403, body = ErrorView),
    (status = 404, body = ErrorView), (status = 409, body = ErrorView),
))]
async fn reseat(
    State(app): AppState,
    Extension(who): Extension<Visitor>,
    Id(id): Id,
    Body(Reseating { player, agent }): Body<Reseating>,
) -> ApiResult<Json<GameView>> {
    if player > 1 {
        return Err(Error::Bad(format!("player is 0 or 1, not {player}")));
    }
    let setup = app.games.live(&id).await?.session().setup();
    let spec = agents::parse(&agent, setup, &app.games.config).map_err(Error::Bad)?;
    let change = change(&app, &who, &id, move |session, who, now| {
        session.reseat(who, player.into(), spec, now)
    });
    change.await
}

/// Changes a game and shows it.
async fn change(
    app: &App,
    who: &Visitor,
    id: &str,
    change: impl FnOnce(&mut GameSession, &Visitor, Instant) -> Result<(), crate::session::Refusal>
    + Send
    + 'static,
) -> ApiResult<Json<GameView>> {
    let live = app.games.live(id).await?;
    let asker = who.clone();
    app.games.change(&live, who, move |session, now| change(session, &asker, now)).await?;
    Ok(Json(app.games.view(&live, who)))
}

/// The form of a record.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct RecordInput {
    /// Nothing for the record that `claimeven` writes and reads, `pgn`, or `old` for older programs.
    format: Option<String>,
}

/// The record of a finished game, to keep.
#[utoipa::path(get, path = "/api/games/{id}/record", params(("id" = String, Path), RecordInput), responses(
    (status = 200, body = String), (status = 400, body = ErrorView), (status = 404, body = ErrorView),
    (status = 409, body = ErrorView),
))]
async fn record(
    State(app): AppState,
    Id(id): Id,
    Query(query): Query<RecordInput>,
) -> ApiResult<Response> {
    let session = app.games.live(&id).await?.session();
    let internal = |error: &dyn std::fmt::Display| Error::Internal(error.to_string());
    let record = game_record(&session)?;
    let (content, kind, ending) = match query.format.as_deref() {
        None => {
            let line = serde_json::to_string(&record).map_err(|error| internal(&error))?;
            (line + "\n", "application/json", "jsonl")
        }
        Some("old") => {
            let older = LegacyRecord::new(&record).map_err(|error| internal(&error))?;
            let text = serde_json::to_string_pretty(&older).map_err(|error| internal(&error))?;
            (text + "\n", "application/json", "json")
        }
        Some("pgn") => {
            let text = pgn(&record).map_err(|error| internal(&error))?;
            (text, "text/plain; charset=utf-8", "pgn")
        }
        Some(other) => return Err(Error::Bad(format!("format is pgn or old, not '{other}'"))),
    };
    let file = format!("attachment; filename=\"claimeven-{}.{ending}\"", session.id);
    let headers = [(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, file)];
    Ok((headers, content).into_response())
}

/// A finished game as the arena keeps it.
fn game_record(session: &GameSession) -> ApiResult<GameRecord> {
    let Some(end) = session.end else {
        return Err(Error::Conflict("the game is not over yet".to_owned(), None));
    };
    let [first, second] = session.game.position().scores();
    let player = |seat: &Seat| match seat {
        Seat::Open => PlayerRecord { agent: "human".to_owned(), name: String::new() },
        Seat::Human { name, .. } => PlayerRecord { agent: "human".to_owned(), name: name.clone() },
        Seat::Agent { spec, name } => PlayerRecord { agent: spec.to_string(), name: name.clone() },
    };
    let played = |played: &PlayedMove| MoveRecord {
        column: played.column,
        ms: played.time.as_micros() as f64 / 1e3,
        nodes: played.nodes.unwrap_or(0),
        value: played.value.clone(),
    };
    let time = jiff::Timestamp::from_millisecond(session.created);
    Ok(GameRecord {
        version: GameRecord::VERSION,
        id: session.id.clone(),
        time: time.map_err(|error| Error::Internal(error.to_string()))?.to_string(),
        setup: session.setup().into(),
        players: session.seats.each_ref().map(player),
        first_player: session.first,
        seed: session.seed,
        opening_moves: session.opening,
        moves: session.moves.iter().map(played).collect(),
        result: ResultRecord {
            winner: end.winner,
            reason: end.reason,
            scores: if session.first == 0 { [first, second] } else { [second, first] },
            detail: None,
        },
    })
}

/// What games are to be listed.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListInput {
    /// Only the visitor's own games.
    mine: Option<bool>,
    /// A part of a player's name.
    player: Option<String>,
    /// The beginning of an agent's text.
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
    /// Where the list before ended.
    before: Option<String>,
    /// How many games at most, from 1 to 100.
    limit: Option<u32>,
}

/// Games, the latest first.
#[derive(Debug, Serialize, ToSchema)]
struct ListView {
    games: Vec<GameSummary>,
    /// Where the list goes on.
    next: Option<String>,
}

/// Lists games, the latest first. Games that wait for a player are shown to their makers only.
#[utoipa::path(get, path = "/api/games", params(ListInput), responses(
    (status = 200, body = ListView), (status = 400, body = ErrorView),
))]
async fn list(
    State(app): AppState,
    Extension(who): Extension<Visitor>,
    Query(query): Query<ListInput>,
) -> ApiResult<Json<ListView>> {
    let limit = query.limit.unwrap_or(20);
    if !(1..=100).contains(&limit) {
        return Err(Error::Bad(format!("limit is 1 to 100, not {limit}")));
    }
    let filter = filter(&query, &who, limit)?;
    let mut sessions = app.games.store.list(filter).await?;
    let more = sessions.len() > limit as usize;
    sessions.truncate(limit as usize);
    let cursor = |session: &GameSession| format!("{}-{}", session.created, session.id);
    let next = sessions.last().filter(|_| more).map(cursor);
    let games = sessions.iter().map(|session| GameSummary::new(session, &who)).collect();
    Ok(Json(ListView { games, next }))
}

fn filter(query: &ListInput, who: &Visitor, limit: u32) -> ApiResult<Filter> {
    let mut filter = Filter::new(limit + 1);
    let me = who.secret();
    if query.mine == Some(true) {
        filter.text("(owner = ? OR holder0 = ? OR holder1 = ?)", me);
    } else {
        filter.text("(status <> 'waiting' OR owner = ?)", me);
    }
    if let Some(player) = &query.player {
        let part = player.to_lowercase().replace(['\\', '%', '_'], "");
        filter.text("(LOWER(name0) LIKE ? OR LOWER(name1) LIKE ?)", &format!("%{part}%"));
    }
    if let Some(agent) = &query.agent {
        let start = agent.replace(['\\', '%', '_'], "");
        // `level:1` is not to find `level:10`.
        let exact = names_one_agent(&start);
        if exact {
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
            filter.text("((winner = 0 AND holder0 = ?) OR (winner = 1 AND holder1 = ?))", me);
        }
        Some("lost") => {
            filter.text("((winner = 1 AND holder0 = ?) OR (winner = 0 AND holder1 = ?))", me);
        }
        Some(other) => {
            return Err(Error::Bad(format!("winner is 0, 1, draw, me or lost, not '{other}'")));
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
                "status is waiting, playing or finished, not '{other}'"
            )));
        }
    }
    if let Some(cols) = query.cols {
        filter.number("board_cols = ?", cols.into());
    }
    if let Some(rows) = query.rows {
        filter.number("board_rows = ?", rows.into());
    }
    if let Some(before) = &query.before {
        let parsed =
            before.split_once('-').and_then(|(created, id)| Some((created.parse().ok()?, id)));
        let (created, id) =
            parsed.ok_or_else(|| Error::Bad(format!("before '{before}' is no place in a list")))?;
        filter.after(created, id);
    }
    Ok(filter)
}

/// Whether a text names an agent with its parameters, and not only a kind.
fn names_one_agent(text: &str) -> bool {
    text.starts_with("level:")
}

/// A position to be judged.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct HintInput {
    #[serde(default)]
    setup: SetupInput,
    /// The moves so far, as text.
    #[serde(default)]
    moves: String,
}

/// What to play: exact where it can be found in time, else the best guess.
#[utoipa::path(post, path = "/api/hint", request_body = HintInput, responses(
    (status = 200, body = HintView), (status = 400, body = ErrorView), (status = 429, body = ErrorView),
    (status = 503, body = ErrorView),
))]
async fn hint(
    State(app): AppState,
    Extension(address): Extension<Address>,
    Body(input): Body<HintInput>,
) -> ApiResult<Json<HintView>> {
    let setup = input.setup.setup()?;
    let game = Game::parse(setup, &input.moves).map_err(bad)?;
    let position = *game.position();
    if position.outcome().is_some() {
        return Err(Error::Bad(format!("the game is over after '{}'", input.moves)));
    }
    app.guard.hint(address)?;
    let whole = Duration::from_millis(app.games.config.hint_ms.max(100));
    let ask = |agent: &str, time: Duration| {
        let spec: AgentSpec = agent.parse().expect("the roster has it");
        let limits = Limits { time: Some(time), ..Limits::default() };
        let question = Question { spec, seed: 0, position, limits, seat: None };
        app.games.engine.decide(Urgency::Other, question)
    };
    // Larger boards are beyond exact scores within a person's patience.
    if Perfect::check(setup).is_ok() && setup.cells() <= Setup::STANDARD.cells() {
        let decision = ask("perfect:table=16", whole * 3 / 4).await?;
        if !decision.stopped {
            return Ok(Json(HintView::new(&decision, true)));
        }
    }
    let decision = ask("timed:ms=1000,table=16", whole / 4).await?;
    Ok(Json(HintView::new(&decision, false)))
}

/// Whether the server and its database are well.
#[utoipa::path(get, path = "/healthz", responses((status = 200, body = String), (status = 503, body = ErrorView)))]
async fn health(State(app): AppState) -> ApiResult<&'static str> {
    match app.games.store.ping().await {
        Ok(()) => Ok("ok\n"),
        Err(error) => {
            tracing::error!(?error, "the database does not answer");
            Err(Error::Busy("the database does not answer".to_owned(), 5))
        }
    }
}

/// Figures in Prometheus' text format.
#[utoipa::path(get, path = "/metrics", responses((status = 200, body = String), (status = 404, body = ErrorView)))]
async fn metrics(State(app): AppState) -> ApiResult<Response> {
    let live_games = &app.games;
    if !live_games.config.metrics {
        return Err(Error::NotFound("there are no metrics here".to_owned()));
    }
    let (people, others, thinking) = live_games.engine.load();
    live_games.metrics.live_games.set(live_games.len() as i64);
    live_games.metrics.waiting_people.set(people as i64);
    live_games.metrics.waiting_others.set(others as i64);
    live_games.metrics.thinking.set(thinking as i64);
    let text = live_games.metrics.text().map_err(|error| Error::Internal(error.to_string()))?;
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response())
}
