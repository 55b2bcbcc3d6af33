//! Middleware: rate limits, the origin check, the visitor of a request, and security headers.
//!
//! The token bucket is hand-written: requests have different costs, refusals say how long to wait,
//! and `governor` would add a concurrent map and a clock to replace thirty lines.

use std::collections::HashMap;
use std::mem;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::App;
use crate::client::{Address, Client};
use crate::config::Config;
use crate::error::Error;
use crate::places::{Full, Place, Places};
use crate::visitor::Cookie;

/// A token bucket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    tokens: f64,
    filled: Instant,
}

impl Bucket {
    pub(crate) fn full(most: f64) -> Bucket {
        Bucket { tokens: most, filled: Instant::now() }
    }

    /// Takes tokens, or returns the seconds to wait for them.
    pub(crate) fn take(&mut self, tokens: f64, per_second: f64, most: f64) -> Result<(), f64> {
        let now = Instant::now();
        let filled = now.duration_since(self.filled).as_secs_f64() * per_second;
        self.tokens = (self.tokens + filled).min(most);
        self.filled = now;
        if self.tokens < tokens {
            return Err((tokens - self.tokens) / per_second);
        }
        self.tokens -= tokens;
        Ok(())
    }
}

/// Limits per address.
pub(crate) struct Guard {
    config: Arc<Config>,
    used: Mutex<Recent>,
    sockets: Places,
}

struct Used {
    requests: Bucket,
    games: Bucket,
}

/// The recent use of addresses. An address that was not seen for a whole period is forgotten, which
/// takes the same time for many addresses as for few.
struct Recent {
    /// Seen in this period.
    now: HashMap<Address, Used>,
    /// Seen in the previous period, but not in this one.
    before: HashMap<Address, Used>,
    began: Instant,
}

impl Default for Recent {
    fn default() -> Recent {
        Recent { now: HashMap::new(), before: HashMap::new(), began: Instant::now() }
    }
}

impl Recent {
    /// All buckets are full again after a minute.
    const PERIOD: Duration = Duration::from_mins(1);
    /// A period ends early after this many addresses, which bounds the memory.
    const MAX_ADDRESSES: usize = 100_000;

    fn of(&mut self, address: Address, fresh: impl FnOnce() -> Used) -> &mut Used {
        if self.began.elapsed() > Recent::PERIOD || self.now.len() >= Recent::MAX_ADDRESSES {
            self.before = mem::take(&mut self.now);
            self.began = Instant::now();
        }
        let before = &mut self.before;
        let seen = || before.remove(&address).unwrap_or_else(fresh);
        self.now.entry(address).or_insert_with(seen)
    }
}

/// A hint costs as much as this many requests.
const HINT_COST: f64 = 5.0;

impl Guard {
    pub(crate) fn new(config: Arc<Config>) -> Guard {
        let sockets = Places::new(config.sockets, config.sockets_per_address);
        Guard { config, used: Mutex::default(), sockets }
    }

    fn request(&self, address: Address, cost: f64) -> Result<(), Error> {
        let Config { requests_per_second: rate, requests_at_once: most, .. } = *self.config;
        self.take(address, cost, rate.into(), most.into(), |used| &mut used.requests)
    }

    /// Counts a new game.
    pub(crate) fn new_game(&self, address: Address) -> Result<(), Error> {
        let most = f64::from(self.config.games_per_minute);
        self.take(address, 1.0, most / 60.0, most, |used| &mut used.games)
    }

    /// Counts a hint.
    pub(crate) fn hint(&self, address: Address) -> Result<(), Error> {
        self.request(address, HINT_COST)
    }

    /// Counts a long analysis.
    pub(crate) fn analysis(&self, address: Address) -> Result<(), Error> {
        self.request(address, HINT_COST)
    }

    /// Admits a socket, up to the limits.
    pub(crate) fn socket(&self, address: Address) -> Result<Place, Error> {
        self.sockets.take(Some(address)).map_err(|full| match full {
            Full::All => Error::Busy("Too many connections, try again later".to_owned(), 30),
            Full::Address => {
                let limit = self.config.sockets_per_address;
                let message = format!("Too many connections from your address (limit: {limit})");
                Error::TooMany(message, 30)
            }
        })
    }

    fn take(
        &self,
        address: Address,
        cost: f64,
        rate: f64,
        most: f64,
        bucket: impl Fn(&mut Used) -> &mut Bucket,
    ) -> Result<(), Error> {
        if rate == 0.0 {
            return Ok(());
        }
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = || Used {
            requests: Bucket::full(self.config.requests_at_once.into()),
            games: Bucket::full(self.config.games_per_minute.into()),
        };
        let used = used.of(address, fresh);
        bucket(used).take(cost, rate, most.max(cost)).map_err(|wait| {
            Error::TooMany(
                "Too many requests, slow down".to_owned(),
                Duration::from_secs_f64(wait).as_secs() + 1,
            )
        })
    }
}

/// Checks limits and origin, and identifies the visitor.
pub(crate) async fn check(
    State(app): State<Arc<App>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    mut request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    let address = Address::new(app.reach.client(peer, headers));
    let host = app.reach.host(peer, headers);
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    let upgrades = headers.contains_key(header::UPGRADE);
    let allowed = app
        .guard
        .request(address, 1.0)
        .and_then(|()| app.reach.check_host(host))
        .and_then(|()| if changes || upgrades { same_origin(headers, host) } else { Ok(()) });
    if let Err(error) = allowed {
        return error.into_response();
    }
    let known = app.signer.read(request.headers());
    // Only requests that change something can take a seat, so only those set a new cookie.
    let sets_cookie = known.as_ref().map_or(changes, Cookie::is_old);
    let cookie = known.unwrap_or_else(Cookie::random);
    let visitor = cookie.visitor();
    let client = Client { address: Some(address), visitor: Some(visitor.clone()) };
    request.extensions_mut().insert(client);
    request.extensions_mut().insert(visitor);
    request.extensions_mut().insert(address);
    let mut response = next.run(request).await;
    if sets_cookie
        && response.status().is_success()
        && !response.headers().contains_key(header::SET_COOKIE)
        && let Ok(cookie) = HeaderValue::from_str(&app.signer.set(&cookie))
    {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    let no_store = HeaderValue::from_static("no-store");
    response.headers_mut().entry(header::CACHE_CONTROL).or_insert(no_store);
    response
}

/// Refuses cross-site requests.
fn same_origin(headers: &HeaderMap, host: Option<&str>) -> Result<(), Error> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let foreign = || Error::Forbidden("Requests from other sites are not allowed".to_owned());
    if let Some(site) = text("sec-fetch-site")
        && !matches!(site, "same-origin" | "none")
    {
        return Err(foreign());
    }
    if headers.contains_key(header::ORIGIN) {
        let host = host.ok_or_else(foreign)?;
        let origin = text("origin").ok_or_else(foreign)?;
        let (_, origin) = origin.split_once("://").ok_or_else(foreign)?;
        if !origin.eq_ignore_ascii_case(host) {
            return Err(foreign());
        }
    }
    Ok(())
}

/// Adds security headers and counts the response.
pub(crate) async fn security_headers(
    State(app): State<Arc<App>>,
    request: Request,
    next: Next,
) -> Response {
    const HEADERS: [(HeaderName, &str); 6] = [
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
             connect-src 'self'; media-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; \
             form-action 'none'; frame-ancestors 'none'",
        ),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    /// Headers of the only page that others may embed: it shows a board and has no actions.
    const EMBEDDED: [(HeaderName, &str); 2] = [
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
             connect-src 'self'; media-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors *",
        ),
        (HeaderName::from_static("cross-origin-resource-policy"), "cross-origin"),
    ];
    let path = request.uri().path();
    let is_embedded = path == "/embed" || path.starts_with("/embed/");
    let is_picture = path.starts_with("/api/") && path.ends_with("/picture.png");
    let began = Instant::now();
    let mut response = next.run(request).await;
    let metrics = &app.metrics;
    metrics.requests.with_label_values(&[response.status().as_str()]).inc();
    metrics.request_seconds.observe(began.elapsed().as_secs_f64());
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    if is_embedded || is_picture {
        for (name, value) in EMBEDDED {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        response.headers_mut().remove(header::X_FRAME_OPTIONS);
    }
    response
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn many_addresses_take_bounded_memory_and_refill_nobodys_bucket() {
        let config = Config { requests_per_second: 1, requests_at_once: 100, ..Config::default() };
        let guard = Guard::new(Arc::new(config));
        let address = |number: u32| Address::new(Ipv4Addr::from(number).into());
        let greedy = address(0);
        assert!(guard.request(greedy, 100.0).is_ok());
        for number in 1..250_000 {
            assert!(guard.request(address(number), 1.0).is_ok());
            if number.is_multiple_of(10_000) {
                assert!(guard.request(greedy, 100.0).is_err(), "after {number} addresses");
            }
        }
        let used = guard.used.lock().unwrap();
        assert!(used.now.len() + used.before.len() <= 2 * Recent::MAX_ADDRESSES);
    }
}
