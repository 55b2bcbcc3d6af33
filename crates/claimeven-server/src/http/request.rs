//! The outermost middleware: assigns an id to every request for its log lines and its response,
//! rejects banned addresses, and sends HSTS to browsers that use HTTPS.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::STRICT_TRANSPORT_SECURITY;
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tracing::Instrument;

use super::guard::delay_refusal;
use crate::App;
use crate::error::Error;
use crate::visitor::random_hex;

tokio::task_local! {
    static REQUEST_ID: String;
}

/// The client's exact address.
#[derive(Clone, Copy)]
pub(crate) struct ClientIp(pub(crate) IpAddr);

const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// The id of the request that the current task responds to.
pub(crate) fn request_id() -> Option<String> {
    REQUEST_ID.try_with(String::clone).ok()
}

pub(crate) async fn identify(
    State(app): State<Arc<App>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    mut request: Request,
    next: Next,
) -> Response {
    let given = app.reach.forwarded(peer, request.headers(), HEADER.as_str());
    let id = given.filter(|id| is_plain(id)).map_or_else(random_hex::<8>, str::to_owned);
    // At the error level, so that it is never filtered out.
    let (method, path) = (request.method(), request.uri().path());
    let span = tracing::error_span!("request", id, %method, path);
    let client = app.reach.client(peer, request.headers());
    let is_banned = app.bans.contains(client);
    let is_https = app.reach.is_https(peer, request.headers());
    request.extensions_mut().insert(ClientIp(client));
    let started = Instant::now();
    let respond = async {
        let response = if is_banned {
            delay_refusal().await;
            Error::Forbidden("Your address is banned from this server".to_owned()).into_response()
        } else {
            next.run(request).await
        };
        let status = response.status().as_u16();
        let ms = started.elapsed().as_secs_f64() * 1e3;
        tracing::debug!(status, ms, "Responded");
        response
    };
    let mut response = REQUEST_ID.scope(id.clone(), respond).instrument(span).await;
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(HEADER, id);
    }
    if is_https {
        const YEAR: HeaderValue = HeaderValue::from_static("max-age=31536000");
        response.headers_mut().insert(STRICT_TRANSPORT_SECURITY, YEAR);
    }
    response
}

/// Whether an id is safe to log.
fn is_plain(id: &str) -> bool {
    const MAX_LENGTH: usize = 64;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=MAX_LENGTH).contains(&id.len()) && id.bytes().all(is_plain)
}
