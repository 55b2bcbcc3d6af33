//! Reviews of finished games: on request, and in advance while the engine is idle.

use std::sync::Arc;
use std::time::Duration;

use claimeven_arena::{Judgement, PlayerReview, Review, ReviewOptions};
use claimeven_game::Setup;

use super::engine::{Engine, Urgency};
use crate::client::Client;
use crate::error::Error;
use crate::session::GameSession;
use crate::store::{Store, StoredReview};

/// Time per position. Positions of the standard board take less, unless the machine is busy.
const TIME_PER_POSITION: Duration = Duration::from_secs(3);

/// The summaries of both players by player number, not by who moved first.
pub(crate) fn by_player(session: &GameSession, review: &Review) -> [PlayerReview; 2] {
    let [beginner, other] = review.players_after(session.opening);
    if session.first == 0 { [beginner, other] } else { [other, beginner] }
}

/// Reviews a game and stores the result, unless it is incomplete and a review with more time could
/// be complete.
pub(crate) async fn review(
    engine: &Engine,
    client: &Client,
    store: &Store,
    session: &GameSession,
) -> Result<Review, Error> {
    let game = session.game.clone();
    let name = format!("the review of game {}", session.id);
    let work = move |cancel: &Arc<_>| {
        let options = ReviewOptions {
            time_per_position: Some(TIME_PER_POSITION),
            cancel: Some(Arc::clone(cancel)),
        };
        Review::of(&game, &options)
    };
    let at_leisure = *client == Client::SERVER;
    let urgency = if at_leisure { Urgency::Background } else { Urgency::Other };
    let review = engine.run(client, urgency, name, work).await?;
    let is_complete = review.moves.iter().all(|m| m.judgement != Judgement::Unknown);
    let is_small = session.setup().cells() <= Setup::STANDARD.cells();
    if !is_complete && is_small && !at_leisure {
        return Ok(review);
    }
    let content = serde_json::to_string(&review);
    store
        .keep_review(StoredReview {
            game: session.id.clone(),
            line: session.game.move_text(),
            accuracy: by_player(session, &review).map(|player| player.accuracy),
            content: content.map_err(|error| Error::Internal(error.to_string()))?,
        })
        .await?;
    Ok(review)
}

/// Whether a game was reviewed.
pub(crate) enum Reviewed {
    Game,
    Nothing,
}

/// How often in a row the review of a game has failed.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    game: String,
    count: u32,
}

impl Failures {
    /// Counts a failure; returns whether the game should be skipped from now on.
    fn add(&mut self, game: &str) -> bool {
        const MAX_FAILURES: u32 = 3;
        if self.game != game {
            *self = Failures { game: game.to_owned(), count: 0 };
        }
        self.count += 1;
        self.count >= MAX_FAILURES
    }
}

/// Reviews one finished game that has no review yet, if the engine is idle.
pub(crate) async fn review_idly(
    engine: &Engine,
    store: &Store,
    failures: &mut Failures,
) -> Result<Reviewed, Error> {
    if engine.load() != (0, 0, 0) {
        return Ok(Reviewed::Nothing);
    }
    let Some((id, line)) = store.unreviewed().await? else { return Ok(Reviewed::Nothing) };
    match review_stored(engine, store, &id).await {
        Ok(()) => Ok(Reviewed::Game),
        // Visitors come first.
        Err(Error::Busy(..)) => Ok(Reviewed::Nothing),
        Err(error) if failures.add(&id) => {
            // For example because of an agent that no longer exists. An empty review keeps it from
            // being tried again; a request for the review still gets a new attempt.
            tracing::error!(?error, game = id, "Gave up on the review of a game");
            let content = "null".to_owned();
            store
                .keep_review(StoredReview { game: id, line, accuracy: [None; 2], content })
                .await?;
            Ok(Reviewed::Game)
        }
        Err(error) => Err(error),
    }
}

async fn review_stored(engine: &Engine, store: &Store, id: &str) -> Result<(), Error> {
    if let Some(session) = store.load(id).await? {
        review(engine, &Client::SERVER, store, &session).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::config::Config;
    use crate::metrics::Metrics;
    use crate::store::tests::sqlite;

    #[tokio::test]
    async fn a_game_that_cannot_be_reviewed_is_skipped() {
        let (store, _folder) = sqlite().await;
        // Its moves are missing, so it cannot be read.
        store.add_damaged_game("damaged").await;
        let metrics = Arc::new(Metrics::new().unwrap());
        let engine = Engine::new(&Config::default(), &metrics);
        let mut failures = Failures::default();
        for _ in 0..2 {
            assert!(review_idly(&engine, &store, &mut failures).await.is_err());
        }
        assert!(store.unreviewed().await.unwrap().is_some());
        for _ in 0..2 {
            assert!(review_idly(&engine, &store, &mut failures).await.is_ok());
        }
        assert!(store.unreviewed().await.unwrap().is_none());
    }
}
