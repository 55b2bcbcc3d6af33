//! Game records as files.

use axum::Extension;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use claimeven_arena::{
    GameRecord, LegacyRecord, MoveRecord, PlayerRecord, ResultRecord, game_gif, pgn,
};
use serde::Deserialize;
use utoipa::IntoParams;

use super::extract::{ApiResult, AppState, Id, Query};
use super::share;
use crate::client::Client;
use crate::error::{Error, ErrorView};
use crate::session::{GameSession, PlayedMove, Seat};

/// Width and height of an animation.
const GIF_SIZE: [u16; 2] = [480, 420];

/// The format of a record.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RecordInput {
    /// Omitted for Claimeven's own JSON; `pgn`, `text` for the moves and the board as text, `gif` for
    /// an animation, or `old` for the legacy format.
    format: Option<String>,
}

/// The record of a finished game as a file.
#[utoipa::path(get, path = "/api/games/{id}/record", params(("id" = String, Path), RecordInput), responses(
    (status = 200, body = String), (status = 400, body = ErrorView), (status = 404, body = ErrorView),
    (status = 409, body = ErrorView), (status = 503, body = ErrorView),
))]
pub(crate) async fn record(
    State(app): AppState,
    Extension(client): Extension<Client>,
    Id(id): Id,
    Query(query): Query<RecordInput>,
) -> ApiResult<Response> {
    let session = app.games.session(&id).await?;
    let internal = |error: &dyn std::fmt::Display| Error::Internal(error.to_string());
    let record = game_record(&session)?;
    let (content, kind, extension) = match query.format.as_deref() {
        None => {
            let line = serde_json::to_string(&record).map_err(|error| internal(&error))?;
            ((line + "\n").into_bytes(), "application/json", "jsonl")
        }
        Some("old") => {
            let legacy = LegacyRecord::new(&record).map_err(|error| internal(&error))?;
            let text = serde_json::to_string_pretty(&legacy).map_err(|error| internal(&error))?;
            ((text + "\n").into_bytes(), "application/json", "json")
        }
        Some("pgn") => {
            let text = pgn(&record).map_err(|error| internal(&error))?;
            (text.into_bytes(), "text/plain; charset=utf-8", "pgn")
        }
        Some("text") => {
            let text = format!("{}\n\n{}\n", session.game.move_text(), session.game.position());
            (text.into_bytes(), "text/plain; charset=utf-8", "txt")
        }
        Some("gif") => {
            let (game, red) = (session.game.clone(), share::red(&session));
            let gif = move || game_gif(&game, red, GIF_SIZE);
            let gif = share::draw(&app, &client, "an animation", gif).await?;
            (gif, "image/gif", "gif")
        }
        Some(other) => {
            let known = "pgn, text, gif or old";
            return Err(Error::Bad(format!("unknown format '{other}' (available: {known})")));
        }
    };
    let file = format!("attachment; filename=\"claimeven-{}.{extension}\"", session.id);
    let headers = [(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, file)];
    Ok((headers, content).into_response())
}

/// The record of a finished game.
fn game_record(session: &GameSession) -> ApiResult<GameRecord> {
    let Some(end) = session.end else {
        return Err(Error::Conflict("The game is not over yet".to_owned()));
    };
    let [first, second] = session.game.position().scores();
    let player = |seat: &Seat| match seat {
        Seat::Open => PlayerRecord { agent: "human".to_owned(), name: String::new() },
        Seat::Human { name, .. } => {
            let name = if name.is_empty() { "Guest" } else { name };
            PlayerRecord { agent: "human".to_owned(), name: name.to_owned() }
        }
        Seat::Agent { spec, name } => PlayerRecord { agent: spec.to_string(), name: name.clone() },
    };
    let move_record = |played: &PlayedMove| MoveRecord {
        column: played.column,
        ms: played.time.as_micros() as f64 / 1e3,
        nodes: played.nodes.unwrap_or(0),
        value: played.value.clone(),
    };
    let time = jiff::Timestamp::from_millisecond(session.created);
    Ok(GameRecord {
        time_control: None,
        version: GameRecord::VERSION,
        id: session.id.clone(),
        time: time.map_err(|error| Error::Internal(error.to_string()))?.to_string(),
        setup: session.setup(),
        players: session.seats.each_ref().map(player),
        first_player: session.first,
        seed: session.seed,
        opening_moves: session.opening,
        moves: session.moves.iter().map(move_record).collect(),
        result: ResultRecord {
            winner: end.winner,
            reason: end.reason,
            scores: if session.first == 0 { [first, second] } else { [second, first] },
            detail: None,
        },
    })
}
