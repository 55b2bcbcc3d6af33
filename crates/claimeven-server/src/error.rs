//! The mapping of errors to HTTP statuses. Internal causes are logged, not sent.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::request::request_id;
use crate::http::view::GameView;
use crate::session::Refusal;
use crate::store::StoreError;
use crate::work::engine::EngineError;

/// Why a request failed.
#[derive(Debug)]
pub(crate) enum Error {
    /// The request is invalid.
    Bad(String),
    /// The visitor is not allowed to do it.
    Forbidden(String),
    /// The resource does not exist.
    NotFound(String),
    /// The address does not support the method.
    Method,
    /// The current state does not allow it.
    Conflict(String),
    /// The same, with the current game as the visitor sees it.
    GameConflict(String, Box<GameView>),
    /// The body is too large.
    TooLarge(String),
    /// The body is not JSON.
    NotJson(String),
    /// Too many requests; with the seconds to wait.
    TooMany(String, u64),
    /// The server is busy and has not executed the request; with the seconds to wait.
    Busy(String, u64),
    /// The request took too long. It may still be executed, so it must not simply be repeated.
    Timeout,
    /// The database does not work; the cause is only logged.
    Database(String),
    /// An internal error; the cause is only logged.
    Internal(String),
}

/// Marks the responses to requests that failed because of the database.
#[derive(Clone, Copy)]
pub(crate) struct DatabaseFailed;

/// The body of an error response.
#[derive(Serialize, ToSchema)]
pub(crate) struct ErrorView {
    /// The error message, on one line.
    error: String,
    /// The id of the request in the server's log, if the server is at fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    /// The current game, if its state is the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    game: Option<Box<GameView>>,
}

impl Error {
    /// The message for the visitor, on one line even if it quotes the visitor's input.
    pub(crate) fn message(&self) -> String {
        let message = match self {
            Error::Bad(message)
            | Error::Forbidden(message)
            | Error::NotFound(message)
            | Error::Conflict(message)
            | Error::GameConflict(message, _)
            | Error::TooLarge(message)
            | Error::NotJson(message)
            | Error::TooMany(message, _)
            | Error::Busy(message, _) => message,
            Error::Method => "Method not allowed",
            Error::Timeout => {
                "The request took too long; reload the page to see whether it succeeded"
            }
            Error::Database(_) | Error::Internal(_) => "Internal server error",
        };
        message.replace(char::is_control, " ")
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
            Error::Timeout => StatusCode::GATEWAY_TIMEOUT,
            Error::Database(_) | Error::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let (status, error) = (self.status(), self.message());
        let request_id = request_id().filter(|_| status == StatusCode::INTERNAL_SERVER_ERROR);
        let database_failed = matches!(self, Error::Database(_));
        let (game, wait) = match self {
            Error::GameConflict(_, game) => (Some(game), None),
            Error::TooMany(_, wait) | Error::Busy(_, wait) => (None, Some(wait)),
            Error::Database(cause) | Error::Internal(cause) => {
                tracing::error!(cause, "Request failed");
                (None, None)
            }
            _ => (None, None),
        };
        let mut response = (status, Json(ErrorView { error, request_id, game })).into_response();
        if let Some(wait) = wait {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(wait));
        }
        if database_failed {
            response.extensions_mut().insert(DatabaseFailed);
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
            StoreError::Stale => Error::Conflict("The game was changed in the meantime".to_owned()),
            StoreError::Busy => Error::Busy("The database is busy, try again".to_owned(), 2),
            error @ (StoreError::Unavailable(_) | StoreError::Deadlock) => {
                Error::Database(error.to_string())
            }
            StoreError::Broken(cause) => Error::Internal(cause),
        }
    }
}

impl From<EngineError> for Error {
    fn from(error: EngineError) -> Error {
        match error {
            EngineError::Busy => Error::Busy("The server is busy, try again".to_owned(), 2),
            EngineError::Cancelled => Error::Busy("The server is shutting down".to_owned(), 5),
            EngineError::Unsupported(message) => Error::Bad(message),
            EngineError::Failed(cause) => Error::Internal(cause),
        }
    }
}
