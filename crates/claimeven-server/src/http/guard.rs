//! Middleware: rate limits, the origin check, the visitor of a request, and security headers.
//!
//! The token bucket is hand-written: requests have different costs, refusals say how long to wait,
//! and `governor` would add a concurrent map and a clock to replace thirty lines.

use std::collections::HashMap;
use std::hash::Hash;
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
use crate::error::{DatabaseFailed, Error};
use crate::quota::{Exceeded, Permit, Quota};
use crate::visitor::{Cookie, Visitor};

/// A token bucket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    tokens: f64,
    filled: Instant,
}

impl Bucket {
    pub(crate) fn full(capacity: f64) -> Bucket {
        Bucket { tokens: capacity, filled: Instant::now() }
    }

    /// Takes tokens, or returns the seconds to wait for them.
    pub(crate) fn take(&mut self, tokens: f64, per_second: f64, capacity: f64) -> Result<(), f64> {
        let now = Instant::now();
        let filled = now.duration_since(self.filled).as_secs_f64() * per_second;
        self.tokens = (self.tokens + filled).min(capacity);
        self.filled = now;
        if self.tokens < tokens {
            return Err((tokens - self.tokens) / per_second);
        }
        self.tokens -= tokens;
        Ok(())
    }
}

/// Limits per address and per visitor.
pub(crate) struct Guard {
    config: Arc<Config>,
    used: Mutex<Recent<Address, Used>>,
    /// Bytes that addresses may still store.
    stored: Mutex<Recent<Address, Bucket>>,
    /// Bytes that visitors may still store.
    stored_by_visitors: Mutex<Recent<Visitor, Bucket>>,
    sockets: Quota,
}

struct Used {
    requests: Bucket,
    files: Bucket,
    games: Bucket,
}

/// The recent use of addresses or visitors. One that was not seen for a whole period is forgotten, in
/// constant time however many there are.
pub(super) struct Recent<K, T> {
    /// Seen in this period.
    now: HashMap<K, T>,
    /// Seen in the previous period, but not in this one.
    before: HashMap<K, T>,
    started: Instant,
    /// After this time, unused buckets are full again.
    period: Duration,
}

impl<K: Eq + Hash, T> Recent<K, T> {
    /// A period ends early after this many keys, which bounds the memory.
    const MAX_KEYS: usize = 100_000;

    pub(super) fn new(period: Duration) -> Recent<K, T> {
        Recent { now: HashMap::new(), before: HashMap::new(), started: Instant::now(), period }
    }

    pub(super) fn of(&mut self, key: K, fresh: impl FnOnce() -> T) -> &mut T {
        if self.started.elapsed() > self.period || self.now.len() >= Self::MAX_KEYS {
            self.before = mem::take(&mut self.now);
            self.started = Instant::now();
        }
        let before = self.before.remove(&key);
        self.now.entry(key).or_insert_with(|| before.unwrap_or_else(fresh))
    }
}

/// A hint costs as much as this many requests.
const HINT_COST: f64 = 5.0;

/// How many files of the page an address may load per API request: a school loads many at once.
const FILES_PER_REQUEST: f64 = 10.0;

/// The delay before a request is refused: a client that ignores the limit gets few refusals per second
/// over each connection, instead of as many as the server can write.
const REFUSAL_DELAY: Duration = Duration::from_millis(500);

/// Waits before a request is refused.
pub(crate) async fn delay_refusal() {
    tokio::time::sleep(REFUSAL_DELAY).await;
}

/// The size of a game in the database, with its moves and indexes: about 4 kB.
const GAME_BYTES: f64 = 4e3;

/// The size of a tournament game: about 4 kB.
const RECORD_BYTES: f64 = 4e3;

const DAY: Duration = Duration::from_hours(24);

impl Guard {
    pub(crate) fn new(config: Arc<Config>) -> Guard {
        let Config { sockets, sockets_per_address, sockets_per_visitor, .. } = *config;
        Guard {
            config,
            used: Mutex::new(Recent::new(Duration::from_mins(1))),
            stored: Mutex::new(Recent::new(DAY)),
            stored_by_visitors: Mutex::new(Recent::new(DAY)),
            sockets: Quota::new(sockets, sockets_per_address, sockets_per_visitor),
        }
    }

    fn request(&self, address: Address, cost: f64) -> Result<(), Error> {
        let Config { requests_per_second: rate, requests_at_once: max, .. } = *self.config;
        self.take(address, cost, rate.into(), max.into(), |used| &mut used.requests)
    }

    /// Counts a file of the page.
    #[cfg(feature = "page")]
    pub(crate) async fn file(&self, address: Address) -> Result<(), Error> {
        let Config { requests_per_second: rate, requests_at_once: max, .. } = *self.config;
        let [rate, max] = [rate, max].map(|limit| FILES_PER_REQUEST * f64::from(limit));
        let counted = self.take(address, 1.0, rate, max, |used| &mut used.files);
        if counted.is_err() {
            delay_refusal().await;
        }
        counted
    }

    /// Counts a request if the address may still make one.
    #[cfg(feature = "page")]
    pub(crate) fn has_request(&self, address: Address) -> bool {
        self.request(address, 1.0).is_ok()
    }

    /// Counts a new game.
    pub(crate) fn new_game(&self, client: &Client) -> Result<(), Error> {
        self.new_games(client)?;
        self.store(client, GAME_BYTES)
    }

    /// Counts a new tournament with this many games.
    pub(crate) fn new_tournament(&self, client: &Client, games: u64) -> Result<(), Error> {
        self.new_games(client)?;
        self.store(client, RECORD_BYTES * games as f64)
    }

    fn new_games(&self, client: &Client) -> Result<(), Error> {
        let Some(address) = client.address else { return Ok(()) };
        let max = f64::from(self.config.games_per_minute);
        self.take(address, 1.0, max / 60.0, max, |used| &mut used.games)
    }

    /// Counts data that a client stores.
    fn store(&self, client: &Client, bytes: f64) -> Result<(), Error> {
        let Config { stored_mb_per_day, visitor_mb_per_day, .. } = *self.config;
        // The visitor first: what is refused here does not count for the address.
        store(
            &self.stored_by_visitors,
            client.visitor.clone(),
            bytes,
            visitor_mb_per_day,
            "You have",
        )?;
        store(&self.stored, client.address, bytes, stored_mb_per_day, "Your address has")
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
    pub(crate) fn socket(&self, client: &Client) -> Result<Permit, Error> {
        self.sockets.acquire(client).map_err(|exceeded| match exceeded {
            Exceeded::All => Error::Busy("Too many connections, try again later".to_owned(), 30),
            Exceeded::Address => {
                let limit = self.config.sockets_per_address;
                let message = format!("Too many connections from your address (limit: {limit})");
                Error::TooMany(message, 30)
            }
            Exceeded::Visitor => {
                let limit = self.config.sockets_per_visitor;
                let message = format!("You have too many connections (limit: {limit})");
                Error::TooMany(message, 30)
            }
        })
    }

    fn take(
        &self,
        address: Address,
        cost: f64,
        rate: f64,
        max: f64,
        bucket: impl Fn(&mut Used) -> &mut Bucket,
    ) -> Result<(), Error> {
        if rate == 0.0 {
            return Ok(());
        }
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let at_once = f64::from(self.config.requests_at_once);
        let fresh = || Used {
            requests: Bucket::full(at_once),
            files: Bucket::full(FILES_PER_REQUEST * at_once),
            games: Bucket::full(self.config.games_per_minute.into()),
        };
        let used = used.of(address, fresh);
        bucket(used).take(cost, rate, max.max(cost)).map_err(|wait| {
            Error::TooMany(
                "Too many requests, slow down".to_owned(),
                Duration::from_secs_f64(wait).as_secs() + 1,
            )
        })
    }
}

/// Counts data that an address or a visitor stores, up to a limit in megabytes a day.
fn store<K: Eq + Hash>(
    stored: &Mutex<Recent<K, Bucket>>,
    key: Option<K>,
    bytes: f64,
    limit: u64,
    who: &str,
) -> Result<(), Error> {
    let Some(key) = key.filter(|_| limit > 0) else { return Ok(()) };
    let max = limit as f64 * 1e6;
    let mut stored = stored.lock().unwrap_or_else(PoisonError::into_inner);
    let bucket = stored.of(key, || Bucket::full(max));
    bucket.take(bytes, max / DAY.as_secs_f64(), max.max(bytes)).map_err(|wait| {
        let message =
            format!("{who} stored too many games and tournaments (limit: {limit} MB a day)");
        Error::TooMany(message, Duration::from_secs_f64(wait).as_secs() + 1)
    })
}

/// The seconds to wait before a read is repeated that failed because of the database.
const DATABASE_WAIT: u64 = 3;

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
    if let Err(error) = app.guard.request(address, 1.0) {
        delay_refusal().await;
        return error.into_response();
    }
    let allowed = app
        .reach
        .check_host(host)
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
    if !changes && response.extensions().get::<DatabaseFailed>().is_some() {
        // Nothing was changed, so the page repeats the request until the database is back.
        let message = "The database is not available, try again".to_owned();
        response = Error::Busy(message, DATABASE_WAIT).into_response();
    }
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
    let started = Instant::now();
    let mut response = next.run(request).await;
    let metrics = &app.metrics;
    metrics.requests.with_label_values(&[response.status().as_str()]).inc();
    metrics.request_seconds.observe(started.elapsed().as_secs_f64());
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
    fn many_addresses_take_bounded_memory_and_refill_no_bucket() {
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
        assert!(used.now.len() + used.before.len() <= 2 * Recent::<Address, Used>::MAX_KEYS);
    }

    #[test]
    fn an_address_stores_a_limited_amount_of_data() {
        let config = Config { stored_mb_per_day: 100, games_per_minute: 0, ..Config::default() };
        let guard = Guard::new(Arc::new(config));
        // Deletes its cookie all the time.
        let client = |number: u32| Client {
            address: Some(Address::new(Ipv4Addr::from(number).into())),
            visitor: Some(Cookie::random().visitor()),
        };
        let (greedy, polite) = (|| client(1), client(2));
        let accepted =
            (0..100).take_while(|_| guard.new_tournament(&greedy(), 2_000).is_ok()).count();
        assert_eq!(accepted, 12, "tournaments of 8 MB");
        let Err(Error::TooMany(message, wait)) = guard.new_tournament(&greedy(), 2_000) else {
            panic!("the limit was exceeded");
        };
        assert!(message.contains("limit: 100 MB a day"), "{message}");
        assert!((1_000..10_000).contains(&wait), "4 MB take an hour, not {wait} s");
        let games = (0..10_000).take_while(|_| guard.new_game(&greedy()).is_ok()).count();
        assert!((990..1_200).contains(&games), "the remaining 4 MB are {games} games");
        assert!(guard.new_tournament(&polite, 2_000).is_ok());
    }

    #[test]
    fn a_visitor_stores_a_limited_amount_of_data_whatever_its_address() {
        let config = Config {
            stored_mb_per_day: 100,
            visitor_mb_per_day: 20,
            games_per_minute: 0,
            ..Config::default()
        };
        let guard = Guard::new(Arc::new(config));
        let visitor = Some(Cookie::random().visitor());
        let client = |number: u32| Client {
            address: Some(Address::new(Ipv4Addr::from(number).into())),
            visitor: visitor.clone(),
        };
        let accepted = (0..100).take_while(|&n| guard.new_tournament(&client(n), 2_000).is_ok());
        assert_eq!(accepted.count(), 2, "tournaments of 8 MB");
        let Err(Error::TooMany(message, _)) = guard.new_tournament(&client(7), 2_000) else {
            panic!("the limit was exceeded");
        };
        assert!(message.starts_with("You have stored too many"), "{message}");
        let other = Client { visitor: Some(Cookie::random().visitor()), ..client(7) };
        assert!(guard.new_tournament(&other, 2_000).is_ok());
    }
}
