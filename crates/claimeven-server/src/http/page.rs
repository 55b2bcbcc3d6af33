//! The web page, embedded in the program.

#[cfg(feature = "page")]
use std::net::SocketAddr;

#[cfg(feature = "page")]
use axum::body::Bytes;
#[cfg(feature = "page")]
use axum::extract::{ConnectInfo, State};
#[cfg(feature = "page")]
use axum::http::HeaderMap;
use axum::http::{Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};

#[cfg(feature = "page")]
use sha2::{Digest, Sha256};

#[cfg(feature = "page")]
use super::extract::AppState;
#[cfg(feature = "page")]
use super::share;
#[cfg(feature = "page")]
use crate::App;
#[cfg(feature = "page")]
use crate::client::Address;
use crate::error::Error;
#[cfg(feature = "page")]
use crate::visitor::hex;

/// Serves a file, or `index.html` for the routes of the page.
#[cfg(feature = "page")]
pub(crate) async fn serve(
    State(app): AppState,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    if !matches!(method, Method::GET | Method::HEAD) {
        return Error::Method.into_response();
    }
    let path = uri.path().trim_start_matches('/');
    if path.starts_with("api/") {
        return Error::NotFound(format!("Not found: /{path}")).into_response();
    }
    let game = path
        .strip_prefix("embed/game/")
        .or_else(|| path.strip_prefix("game/").map(|id| id.strip_suffix("/review").unwrap_or(id)));
    let is_page = path.is_empty()
        || matches!(path, "new" | "games" | "settings" | "about")
        || matches!(
            path,
            "analysis"
                | "puzzles"
                | "statistics"
                | "learn"
                | "lab"
                | "arena"
                | "training"
                | "fleet"
                | "embed"
        )
        || path.strip_prefix("learn/").is_some_and(|id| !id.contains('/'))
        || path.strip_prefix("arena/").is_some_and(|id| !id.contains('/'))
        || path.strip_prefix("training/").is_some_and(|id| !id.contains('/'))
        || game.is_some_and(|id| !id.contains('/'));
    let (name, status) = match claimeven_page::file(path) {
        Some(_) => (path, StatusCode::OK),
        None if is_page => ("index.html", StatusCode::OK),
        // The page shows the error in the visitor's language.
        None => ("index.html", StatusCode::NOT_FOUND),
    };
    let Some(file) = claimeven_page::file(name) else { return without_page() };
    let address = Address::new(app.reach.client(peer, &headers));
    if let Err(error) = app.guard.file(address).await {
        return error.into_response();
    }
    let tags = match name {
        // The tags need the database, so they count as an API request; over the limit, the page has none.
        "index.html" if app.guard.has_request(address) => {
            share::tags(&app, &uri, &origin(&app, peer, &headers)).await
        }
        _ => None,
    };
    let (content, hash) = match tags {
        Some(tags) => {
            let page =
                String::from_utf8_lossy(file.data).replacen("</head>", &(tags + "</head>"), 1);
            let hash = hex(&Sha256::digest(page.as_bytes())[..12]);
            (Bytes::from(page), hash)
        }
        None => (Bytes::from_static(file.data), file.hash.to_owned()),
    };
    let etag = format!("\"{hash}\"");
    // Assets have a hash in their names; everything else is revalidated.
    let cache = if name.starts_with("assets/") {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    if status == StatusCode::OK && known.is_some_and(|known| known.contains(&etag)) {
        return (StatusCode::NOT_MODIFIED, [(header::ETAG, etag)]).into_response();
    }
    let accepts = |coding| accepts(&headers, coding);
    let compressed = [("br", file.brotli), ("gzip", file.gzip)];
    let compressed = compressed
        .into_iter()
        .find_map(|(coding, small)| small.filter(|_| accepts(coding)).map(|small| (coding, small)));
    let headers = [
        (header::CONTENT_TYPE, file.mime_type),
        (header::CACHE_CONTROL, cache),
        (header::ETAG, &etag),
        (header::VARY, "accept-encoding"),
    ];
    match compressed {
        Some((coding, small)) => {
            (status, headers, [(header::CONTENT_ENCODING, coding)], small).into_response()
        }
        None => (status, headers, content).into_response(),
    }
}

/// Whether the client accepts a content coding.
#[cfg(feature = "page")]
fn accepts(headers: &HeaderMap, wanted: &str) -> bool {
    let accepted = headers.get_all(header::ACCEPT_ENCODING).iter();
    let mut codings = accepted.filter_map(|value| value.to_str().ok()).flat_map(|v| v.split(','));
    codings.any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = weight.trim().strip_prefix("q=").map_or(Ok(1.0), str::parse::<f32>);
        name.trim().eq_ignore_ascii_case(wanted) && weight.is_ok_and(|weight| weight > 0.0)
    })
}

/// The origin by which the visitor reaches this server, according to the request.
#[cfg(feature = "page")]
fn origin(app: &App, peer: SocketAddr, headers: &HeaderMap) -> String {
    let host = app.reach.host(peer, headers).unwrap_or("localhost");
    let default = if app.config.secure_cookies || app.config.has_tls() { "https" } else { "http" };
    let scheme = app.reach.forwarded(peer, headers, "x-forwarded-proto").unwrap_or(default);
    format!("{scheme}://{host}")
}

/// Explains that this build has no page.
#[cfg(not(feature = "page"))]
pub(crate) async fn serve(method: Method, uri: Uri) -> Response {
    match (method, uri.path()) {
        (Method::GET | Method::HEAD, "/") => without_page(),
        (Method::GET | Method::HEAD, path) => {
            Error::NotFound(format!("Not found: {path}")).into_response()
        }
        _ => Error::Method.into_response(),
    }
}

fn without_page() -> Response {
    let text =
        "This build of Claimeven has no web page. The API is described at /api/openapi.json.\n";
    (StatusCode::OK, [(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response()
}
