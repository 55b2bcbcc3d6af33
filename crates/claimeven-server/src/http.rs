//! The HTTP API and the page. Each handler reads its input, calls the games, the store or the
//! workers, and returns a view; the OpenAPI document is generated from the same routes.

#![allow(clippy::unused_async, reason = "handlers are async, whether they wait or not")]

mod agents;
mod analysis;
mod arena;
pub(crate) mod explain;
pub(crate) mod extract;
mod fleet;
mod games;
mod guard;
mod hints;
mod lab;
pub(crate) mod listener;
mod malformed;
mod me;
mod names;
mod notation;
mod page;
mod puzzles;
mod reach;
mod records;
pub(crate) mod request;
mod review;
mod share;
mod socket;
mod statistics;
pub(crate) mod status;
pub(crate) mod tls;
mod training;
pub(crate) mod view;

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::Request;
use axum::http::header;
use axum::middleware::Next;
use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Router, middleware};
use tokio::time::timeout;
use tower_http::compression::CompressionLayer;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;
use crate::error::Error;

pub(crate) use guard::Guard;
pub(crate) use reach::Reach;

#[derive(OpenApi)]
#[openapi(info(
    title = "Claimeven",
    description = "Connect Four: live games against agents and people. Columns are counted from 1, rows from 1 at the \
        bottom; players are 0 and 1. Visitors are identified by a cookie, which is set by the first call that needs one."
))]
struct Description;

/// All routes of the API, with their description.
fn api() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::with_openapi(Description::openapi())
        .routes(routes!(agents::list_agents))
        .merge(games::api())
        .routes(routes!(me::delete))
        .routes(routes!(records::record))
        .routes(routes!(hints::hint))
        .routes(routes!(socket::live))
        .routes(routes!(status::health))
        .routes(routes!(status::ready))
        .routes(routes!(status::metrics))
        .routes(routes!(analysis::analyze))
        .routes(routes!(analysis::opinion))
        .routes(routes!(explain::explain))
        .routes(routes!(notation::read))
        .routes(routes!(share::game_picture))
        .routes(routes!(share::position_picture))
        .routes(routes!(review::show))
        .routes(routes!(puzzles::list))
        .routes(routes!(puzzles::attempt))
        .routes(routes!(statistics::statistics))
        .routes(routes!(statistics::explore))
        .merge(lab::api())
        .merge(arena::api())
        .merge(training::api())
        .routes(routes!(fleet::show))
}

/// The description of the API, as `/api/openapi.json` serves it.
pub(crate) fn openapi() -> utoipa::openapi::OpenApi {
    api().split_for_parts().1
}

/// The API and the page behind their middleware.
pub(crate) fn router(app: Arc<App>) -> Router {
    let max_request_time = app.config.max_request_time().unwrap_or(Duration::MAX);
    let (api, description) = api().split_for_parts();
    // Serialized once: the document does not change.
    let description =
        Bytes::from(serde_json::to_vec(&description).expect("the document should serialize"));
    let is_json = [(header::CONTENT_TYPE, "application/json")];
    let openapi = get(move || async move { (is_json, description.clone()) });
    api.route("/api/openapi.json", openapi)
        .method_not_allowed_fallback(|| async { Error::Method })
        // The page's files are compressed when it is built.
        .layer(CompressionLayer::new())
        .layer(middleware::from_fn_with_state(Arc::clone(&app), guard::check))
        .fallback(page::serve)
        .layer(middleware::from_fn(move |request: Request, next: Next| async move {
            let response = timeout(max_request_time, next.run(request)).await;
            response.unwrap_or_else(|_| Error::Timeout.into_response())
        }))
        .layer(middleware::from_fn_with_state(Arc::clone(&app), guard::security_headers))
        .layer(middleware::from_fn_with_state(Arc::clone(&app), request::identify))
        .with_state(app)
}
