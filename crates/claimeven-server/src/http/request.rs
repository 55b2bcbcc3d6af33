//! The outermost middleware: assigns an id to every request for its log lines and its response,
//! rejects banned addresses, and sends HSTS to browsers that use HTTPS.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::mem;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::STRICT_TRANSPORT_SECURITY;
use axum::http::{HeaderName, HeaderValue, StatusCode};
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
        tracing::debug!(status, ms, %client, "Responded");
        response
    };
    let mut response = REQUEST_ID.scope(id.clone(), respond).instrument(span).await;
    if matches!(response.status(), StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS) {
        app.refusals.count(client);
    }
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(HEADER, id);
    }
    if is_https {
        const YEAR: HeaderValue = HeaderValue::from_static("max-age=31536000");
        response.headers_mut().insert(STRICT_TRANSPORT_SECURITY, YEAR);
    }
    response
}

/// How many requests of each address were refused in the current minute.
pub(crate) struct Refusals(Mutex<(Instant, HashMap<IpAddr, u32>)>);

impl Default for Refusals {
    fn default() -> Refusals {
        Refusals(Mutex::new((Instant::now(), HashMap::new())))
    }
}

impl Refusals {
    fn count(&self, client: IpAddr) {
        /// Bounds the memory.
        const MAX_ADDRESSES: usize = 10_000;
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.1.len() < MAX_ADDRESSES || counts.1.contains_key(&client) {
            *counts.1.entry(client).or_default() += 1;
        }
    }

    /// Logs the addresses with the most refusals once a minute, so that an operator can ban them.
    pub(crate) fn report(&self) {
        const MINUTE: Duration = Duration::from_mins(1);
        const MAX_LINES: usize = 5;
        const MIN_REFUSALS: u32 = 60;
        let counts = {
            let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if counts.0.elapsed() < MINUTE {
                return;
            }
            counts.0 = Instant::now();
            mem::take(&mut counts.1)
        };
        for (address, refused) in most(counts, MIN_REFUSALS, MAX_LINES) {
            tracing::warn!(%address, refused, "Refused many requests of an address in a minute");
        }
    }
}

/// The addresses with at least `min` refusals, the most first.
fn most(counts: HashMap<IpAddr, u32>, min: u32, max_length: usize) -> Vec<(IpAddr, u32)> {
    let mut counts: Vec<_> = counts.into_iter().filter(|(_, refused)| *refused >= min).collect();
    counts.sort_unstable_by_key(|&(address, refused)| (Reverse(refused), address));
    counts.truncate(max_length);
    counts
}

/// Whether an id is safe to log.
fn is_plain(id: &str) -> bool {
    const MAX_LENGTH: usize = 64;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=MAX_LENGTH).contains(&id.len()) && id.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_refused_addresses_are_reported() {
        let address = |last| IpAddr::from([10, 0, 0, last]);
        let refusals = Refusals::default();
        for last in 0..9_u8 {
            for _ in 0..10 * u32::from(last) {
                refusals.count(address(last));
            }
        }
        refusals.report();
        let counts = mem::take(&mut refusals.0.lock().unwrap().1);
        assert_eq!(counts.len(), 8, "kept until the minute is over");
        assert_eq!(most(counts, 60, 2), [(address(8), 80), (address(7), 70)]);
    }
}
