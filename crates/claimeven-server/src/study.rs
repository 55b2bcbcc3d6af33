//! The study room: what positions and games are worth. One file per page.

mod analysis;
mod notation;
mod puzzles;
mod review;
mod statistics;

use std::sync::{Arc, Mutex, PoisonError};

use claimeven_arena::Analyzer;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;

pub(crate) use review::review_idly;

/// The addresses of the study room.
pub(crate) fn api() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(analysis::analyze))
        .routes(routes!(analysis::opinion))
        .routes(routes!(notation::read))
        .routes(routes!(review::show))
        .routes(routes!(puzzles::list))
        .routes(routes!(statistics::statistics))
        .routes(routes!(statistics::explore))
}

/// What the study room keeps between calls.
#[derive(Default)]
pub(crate) struct Study {
    /// Analysts with what they remember, for whoever asks next.
    analyzers: Mutex<Vec<Analyzer>>,
}

impl Study {
    /// Lets an analyzer who is free do something. It is called on threads that think.
    fn with_analyzer<T>(&self, work: impl FnOnce(&mut Analyzer) -> T) -> T {
        let lock = || self.analyzers.lock().unwrap_or_else(PoisonError::into_inner);
        let free = lock().pop();
        let mut analyzer = free.unwrap_or_default();
        let result = work(&mut analyzer);
        lock().push(analyzer);
        result
    }
}
