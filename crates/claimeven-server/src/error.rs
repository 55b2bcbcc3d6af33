//! The one place where errors become HTTP statuses. Causes are logged, not told.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::view::GameView;
use crate::session::Refusal;
use crate::store::StoreError;
use crate::work::engine::EngineError;

/// Why a request was not done.
#[derive(Debug)]
pub(crate) enum Error {
    /// Something in the request is wrong.
    Bad(String),
    /// The visitor may not do that.
    Forbidden(String),
    /// There is no such thing.
    NotFound(String),
    /// The method has no meaning there.
    Method,
    /// It cannot be done in the current state.
    Conflict(String),
    /// The same, with the game as the visitor sees it.
    GameConflict(String, Box<GameView>),
    /// More bytes than are taken.
    TooLarge(String),
    /// Not JSON.
    NotJson(String),
    /// Too many requests; seconds to wait.
    TooMany(String, u64),
    /// Nothing is free at the moment; seconds to wait.
    Busy(String, u64),
    /// A fault of ours; for the log.
    Internal(String),
}

/// What a refused request is told.
#[derive(Serialize, ToSchema)]
pub(crate) struct ErrorView {
    /// One line that names the bad value.
    error: String,
    /// The game as it is, where that is the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    game: Option<Box<GameView>>,
}

impl Error {
    /// The line that the visitor is told.
    pub(crate) fn message(&self) -> String {
        match self {
            Error::Bad(message)
            | Error::Forbidden(message)
            | Error::NotFound(message)
            | Error::Conflict(message)
            | Error::GameConflict(message, _)
            | Error::TooLarge(message)
            | Error::NotJson(message)
            | Error::TooMany(message, _)
            | Error::Busy(message, _) => message.clone(),
            Error::Method => "this address does not take that method".to_owned(),
            Error::Internal(_) => "something is wrong with the server".to_owned(),
        }
    }

    fn status(&self) -> StatusCode {
        match self {
            Error::Bad(_) => StatusCode::BAD_REQUEST,
            Error::Forbidden(_) => StatusCode::FORBIDDEN,
            Error::NotFound(_) => StatusCode::NOT_FOUND,
            Error::Method => StatusCode::METHOD_NOT_ALLOWED,
            Error::Conflict(_) | Error::GameConflict(..) => StatusCode::CONFLICT,
            Error::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Error::NotJson(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Error::TooMany(..) => StatusCode::TOO_MANY_REQUESTS,
            Error::Busy(..) => StatusCode::SERVICE_UNAVAILABLE,
            Error::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let (status, error) = (self.status(), self.message());
        let (game, wait) = match self {
            Error::GameConflict(_, game) => (Some(game), None),
            Error::TooMany(_, wait) | Error::Busy(_, wait) => (None, Some(wait)),
            Error::Internal(cause) => {
                tracing::error!(cause, "a request failed");
                (None, None)
            }
            _ => (None, None),
        };
        let mut response = (status, Json(ErrorView { error, game })).into_response();
        if let Some(wait) = wait {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(wait));
        }
        response
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Error {
        match refusal {
            Refusal::Bad(message) => Error::Bad(message),
            Refusal::Forbidden(message) => Error::Forbidden(message),
            Refusal::Conflict(message) => Error::Conflict(message),
        }
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Error {
        match error {
            StoreError::Stale => Error::Conflict("the game was changed in the meantime".to_owned()),
            StoreError::Broken(cause) => Error::Internal(cause),
        }
    }
}

impl From<EngineError> for Error {
    fn from(error: EngineError) -> Error {
        match error {
            EngineError::Busy => Error::Busy("all threads are thinking, try again".to_owned(), 2),
            EngineError::Cancelled => Error::Busy("the server is stopping".to_owned(), 5),
            EngineError::Unsuited(message) => Error::Bad(message),
            EngineError::Failed(cause) => Error::Internal(cause),
        }
    }
}
