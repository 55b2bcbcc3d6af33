//! Deleting a visitor's data.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse};

use super::extract::{ApiResult, AppState, run_blocking};
use crate::error::ErrorView;
use crate::store::Kind;
use crate::visitor::Visitor;
use crate::work::training::remove_networks;

/// Deletes all data of the visitor: games, reviews, tournaments, training runs and the cookie. Games
/// with another person stay for that person without the visitor's name; those in progress are resigned.
#[utoipa::path(delete, path = "/api/me", operation_id = "delete_my_data", responses(
    (status = 204), (status = 409, body = ErrorView),
))]
pub(crate) async fn delete(
    State(app): AppState,
    Extension(who): Extension<Visitor>,
) -> ApiResult<impl IntoResponse> {
    app.store.forget_visitor(&who).await?;
    app.games.reload_games_of(&who).await?;
    for kind in [Kind::Tournament, Kind::Training] {
        for job in app.store.jobs(kind, Some(&who)).await? {
            app.jobs.delete(&job).await?;
            let app = Arc::clone(&app);
            run_blocking(move || remove_networks(&app.config, &job.id)).await?;
        }
    }
    Ok((StatusCode::NO_CONTENT, AppendHeaders([(header::SET_COOKIE, app.signer.clear())])))
}
