//! Extractors of the handlers, and their result type.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, FromRequest, FromRequestParts, Path, Request, State};
use axum::http::{Uri, header, request::Parts};
use claimeven_game::Setup;
use http_body_util::{BodyExt, Collected, LengthLimitError, Limited};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use utoipa::{IntoParams, ToSchema};

use crate::App;
use crate::client::Client;
use crate::error::Error;
use crate::visitor::Visitor;

pub(crate) type AppState = State<Arc<App>>;
pub(crate) type ApiResult<T> = Result<T, Error>;

/// A JSON body; an empty one is `{}`.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Body<T> {
    type Rejection = Error;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Error> {
        let content_type = request.headers().get(header::CONTENT_TYPE).cloned();
        let max = app.config.body_bytes;
        let max = if max == 0 { usize::MAX } else { max };
        let body = Limited::new(request.into_body(), max);
        let bytes = body.collect().await.map(Collected::to_bytes).map_err(|error| {
            if error.is::<LengthLimitError>() {
                Error::TooLarge(format!("The request body must have at most {max} bytes"))
            } else {
                Error::Bad("The request body is incomplete".to_owned())
            }
        })?;
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
            return Err(Error::NotJson("The request body must be application/json".to_owned()));
        }
        read_json(&bytes).map(Body)
    }
}

/// Whether the request comes from a program on the server's own machine.
#[derive(Clone, Copy)]
pub(crate) struct IsLocal(pub(crate) bool);

impl FromRequestParts<Arc<App>> for IsLocal {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Error> {
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        Ok(IsLocal(peer.is_some_and(|peer| app.reach.is_local(peer.0, &parts.headers))))
    }
}

/// Parses JSON; the error is one line.
pub(crate) fn read_json<T: DeserializeOwned>(bytes: &[u8]) -> ApiResult<T> {
    serde_json::from_slice(bytes).map_err(|error| Error::Bad(error.to_string()))
}

/// The query string of a request. Errors are JSON like all others.
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<Arc<App>> for Query<T> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, Error> {
        read_query(&parts.uri).map(Query)
    }
}

/// A setup in the query string, alongside other parameters.
pub(crate) struct SetupQuery<T>(pub(crate) Setup, pub(crate) T);

impl<T: DeserializeOwned> SetupQuery<T> {
    pub(crate) fn of_uri(uri: &Uri) -> ApiResult<SetupQuery<T>> {
        let query = uri.query().unwrap_or_default();
        let is_of_setup = |pair: &&str| {
            let name = pair.split('=').next().unwrap_or_default();
            ["cols", "rows", "connect", "ruleset"].contains(&name)
        };
        let (setup, others): (Vec<&str>, Vec<&str>) = query.split('&').partition(is_of_setup);
        let uri = |pairs: Vec<&str>| format!("/?{}", pairs.join("&")).parse().map_err(bad);
        Ok(SetupQuery(read_query(&uri(setup)?)?, read_query(&uri(others)?)?))
    }
}

impl<T: DeserializeOwned> FromRequestParts<Arc<App>> for SetupQuery<T> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, Error> {
        SetupQuery::of_uri(&parts.uri)
    }
}

fn read_query<T: DeserializeOwned>(uri: &Uri) -> ApiResult<T> {
    let query = axum::extract::Query::try_from_uri(uri);
    query.map(|query| query.0).map_err(|error| Error::Bad(error.body_text()))
}

/// The id in a path.
pub(crate) struct Id(pub(crate) String);

impl FromRequestParts<Arc<App>> for Id {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Error> {
        let path = Path::<String>::from_request_parts(parts, app).await;
        let Path(id) = path.map_err(|_| Error::NotFound("Not found".to_owned()))?;
        Ok(Id(id))
    }
}

/// A visitor's request about one game, tournament or training run.
pub(crate) struct Visit {
    pub(crate) app: Arc<App>,
    pub(crate) who: Visitor,
    pub(crate) client: Client,
    pub(crate) id: String,
}

impl FromRequestParts<Arc<App>> for Visit {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Error> {
        let Id(id) = Id::from_request_parts(parts, app).await?;
        let missing = || Error::Internal("a request without a visitor".to_owned());
        let who = parts.extensions.get::<Visitor>().cloned().ok_or_else(missing)?;
        let client = parts.extensions.get::<Client>().cloned().ok_or_else(missing)?;
        Ok(Visit { app: Arc::clone(app), who, client, id })
    }
}

/// The board and the rules. Missing fields are those of the standard game.
// Describes a `Setup` in JSON and in query strings for OpenAPI; what is read and written is `Setup`.
#[derive(Deserialize, ToSchema, IntoParams)]
#[serde(deny_unknown_fields)]
#[schema(as = Setup)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "used for its schema only")]
pub(crate) struct SetupSchema {
    #[serde(default)]
    #[schema(default = 7, minimum = 1, maximum = 35)]
    cols: u8,
    #[serde(default)]
    #[schema(default = 6, minimum = 1, maximum = 35)]
    rows: u8,
    #[serde(default)]
    #[schema(default = 4, minimum = 2)]
    connect: u8,
    /// `standard` or `lines`.
    #[serde(default)]
    #[schema(default = "standard")]
    ruleset: String,
}

/// The title of a tournament, of a player in it or of a run.
pub(crate) fn title(given: &str) -> ApiResult<Option<String>> {
    short_text("a title", given, 60)
}

/// A readable line of limited length, normalised to NFC; `None` if it is blank.
pub(crate) fn short_text(what: &str, given: &str, max_length: usize) -> ApiResult<Option<String>> {
    // Longer texts are rejected anyway and need not be normalised.
    const MAX_BYTES: usize = 4096;
    let shown =
        || given.chars().take(max_length + 1).collect::<String>().escape_debug().to_string();
    let text: String = if given.len() > MAX_BYTES {
        given.to_owned()
    } else {
        // Variation selectors only choose a glyph.
        given.nfc().filter(|letter| !matches!(letter, '\u{fe00}'..='\u{fe0f}')).collect()
    };
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().any(char::is_control) || text.chars().count() > max_length {
        return Err(Error::Bad(format!(
            "{what} must have at most {max_length} printable characters, not '{}'",
            shown()
        )));
    }
    if text.chars().any(is_invisible) || has_stacked_marks(&text) {
        return Err(Error::Bad(format!(
            "{what} must not contain invisible characters or stacked accents, but '{}' does",
            shown()
        )));
    }
    Ok(Some(text).filter(|text| !text.is_empty()))
}

/// Characters that are invisible or change the direction of the text.
fn is_invisible(letter: char) -> bool {
    matches!(letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a letter has more combining marks than any language uses.
fn has_stacked_marks(text: &str) -> bool {
    const MAX_MARKS: usize = 3;
    let mut marks = 0;
    text.chars().any(|letter| {
        marks = if is_combining_mark(letter) { marks + 1 } else { 0 };
        marks > MAX_MARKS
    })
}

/// Runs long work on a thread that may block.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> ApiResult<T> {
    let span = tracing::Span::current();
    let done = tokio::task::spawn_blocking(move || span.in_scope(work)).await;
    done.map_err(|error| Error::Internal(error.to_string()))
}

#[allow(clippy::needless_pass_by_value, reason = "the signature that `map_err` needs")]
pub(crate) fn bad(error: impl ToString) -> Error {
    Error::Bad(error.to_string())
}
