//! Reviews of finished games: on request, and in advance while the engine is idle.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use claimeven_arena::{
    Analyzer, Judgement, PlayerReview, Review, ReviewChoice, ReviewOptions, Theme,
};
use claimeven_game::{Game, Player, Position, Setup};
use serde::{Deserialize, Serialize};

use super::coaches::Coaches;
use super::engine::{Engine, Urgency};
use crate::App;
use crate::client::Client;
use crate::error::Error;
use crate::session::GameSession;
use crate::store::{Store, StoredReview};

/// Time per position. Positions of the standard board take less, unless the machine is busy.
const TIME_PER_POSITION: Duration = Duration::from_secs(3);

/// A review as it is stored and shown.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct GameReview {
    #[serde(flatten)]
    pub(crate) review: Review,
    /// Missing in reviews of earlier versions, or named `turn`.
    #[serde(default, alias = "turn")]
    pub(crate) turning_point: Option<TurningPoint>,
}

/// The mistake that decided a game.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TurningPoint {
    /// Its index in the moves.
    pub(crate) index: usize,
    /// The name of its [`Theme`].
    pub(crate) theme: String,
    /// The threats that the winner waits for, as columns and rows from 1.
    pub(crate) cells: Vec<[u8; 2]>,
}

/// A loss at least this many plies away, or a draw, is worth playing for.
const FAR_PLIES: u32 = 8;

/// The mistake that decided a game on the standard board, and its theme. If the game was lost anyway but
/// ended early because a player missed four in a row, that oversight gives the theme.
fn turning_point(
    game: &Game,
    review: &Review,
    opening: usize,
    winner: Option<Player>,
    coaches: &Coaches,
) -> Option<TurningPoint> {
    let setup = game.position().setup();
    let index = review.turning_point(opening, winner).filter(|_| setup == Setup::STANDARD)?;
    let explain = |index: usize| {
        let mut before = Game::new(setup);
        for &column in &game.moves()[..index] {
            before.play(column).ok()?;
        }
        let (position, column) = (*before.position(), game.moves()[index]);
        coaches.with(|coach| coach.explain_move(&position, column)).ok()
    };
    let last = game.moves().len().checked_sub(2).filter(|&last| last > index);
    let oversight = last.filter(|&last| {
        let reviewed = &review.moves[last];
        let is_far = |choice: &ReviewChoice| choice.plies.is_none_or(|plies| plies >= FAR_PLIES);
        game.position().outcome().is_some()
            && reviewed.judgement == Judgement::FasterLoss
            && reviewed.best().is_some_and(is_far)
    });
    let oversight = oversight.and_then(explain).filter(|played| played.note.is_some());
    let played = match oversight {
        Some(oversight) => oversight,
        None => explain(index)?,
    };
    let cells = played.deciding_cells();
    Some(TurningPoint {
        index,
        theme: played.theme()?.name().to_owned(),
        cells: cells.iter().map(|cell| [cell.column.number(), cell.row + 1]).collect(),
    })
}

/// The summaries of both players by player number, not by who moved first.
pub(crate) fn by_player(session: &GameSession, review: &Review) -> [PlayerReview; 2] {
    let [first, second] = review.players_after(session.opening);
    if session.first == 0 { [first, second] } else { [second, first] }
}

/// Reviews of games on small boards that are incomplete because the time of their request was up, the latest
/// last. The next request resumes them.
#[derive(Default)]
pub(crate) struct UnfinishedReviews(Mutex<VecDeque<(Game, Review)>>);

impl UnfinishedReviews {
    fn lock(&self) -> MutexGuard<'_, VecDeque<(Game, Review)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, game: &Game) -> Option<Review> {
        let reviews = self.lock();
        reviews.iter().find(|(reviewed, _)| reviewed == game).map(|(_, review)| review.clone())
    }

    /// Replaces the review of a game, or removes it if it is finished now.
    fn update(&self, game: &Game, unfinished: Option<&Review>) {
        const MAX_REVIEWS: usize = 64;
        let mut reviews = self.lock();
        reviews.retain(|(reviewed, _)| reviewed != game);
        let Some(review) = unfinished else { return };
        if reviews.len() == MAX_REVIEWS {
            reviews.pop_front();
        }
        reviews.push_back((game.clone(), review.clone()));
    }
}

/// Whether a review with more time would judge more moves: some that are not judged follow positions that
/// can be solved in seconds.
pub(crate) fn is_unfinished(session: &GameSession, review: &Review) -> bool {
    let setup = session.setup();
    let mut position = Position::new(setup);
    let mut moves = session.game.moves().iter().zip(&review.moves);
    setup.cells() <= Setup::STANDARD.cells()
        && moves.any(|(&column, reviewed)| {
            let is_solvable = Analyzer::can_solve(&position);
            position.play(column).expect("the moves of a game are legal");
            is_solvable && reviewed.judgement == Judgement::Unknown
        })
}

/// Reviews a game for a visitor within a time, in which it may stay incomplete.
pub(crate) async fn review_on_request(
    app: &App,
    client: &Client,
    session: &GameSession,
    time: Option<Duration>,
) -> Result<GameReview, Error> {
    let known = app.unfinished_reviews.find(&session.game);
    let reviewed =
        review(&app.engine, client, &app.coaches, &app.store, session, time, known).await?;
    let unfinished = is_unfinished(session, &reviewed.review).then_some(&reviewed.review);
    app.unfinished_reviews.update(&session.game, unfinished);
    Ok(reviewed)
}

/// Reviews a game within a time, beginning with what is known, and stores the result, unless it is incomplete and
/// a review with more time could be complete.
async fn review(
    engine: &Engine,
    client: &Client,
    coaches: &Arc<Coaches>,
    store: &Store,
    session: &GameSession,
    time: Option<Duration>,
    known: Option<Review>,
) -> Result<GameReview, Error> {
    let game = session.game.clone();
    let (coaches, opening) = (Arc::clone(coaches), session.opening);
    let winner = session.end.as_ref().and_then(|end| end.winner);
    let winner = winner.map(|player| Player::BOTH[(player + session.first) % 2]);
    let name = format!("the review of game {}", session.id);
    let table_mb = engine.max_table_mb().min(ReviewOptions::default().table_mb);
    let work = move |cancel: &Arc<_>| {
        let options = ReviewOptions {
            time,
            time_per_position: Some(TIME_PER_POSITION),
            table_mb,
            cancel: Some(Arc::clone(cancel)),
        };
        let review = match known {
            Some(known) => known.resume(&game, &options),
            None => Review::of(&game, &options),
        };
        let turning_point = turning_point(&game, &review, opening, winner, &coaches);
        GameReview { review, turning_point }
    };
    let is_in_advance = *client == Client::SERVER;
    let urgency = if is_in_advance { Urgency::Idle } else { Urgency::Other };
    let reviewed = engine.run(client, urgency, name, work).await?;
    let GameReview { review, turning_point } = &reviewed;
    if is_unfinished(session, review) && !is_in_advance {
        return Ok(reviewed);
    }
    let content = serde_json::to_string(&reviewed);
    let mut themes = [None; 2];
    if let Some(turning_point) = turning_point {
        let is_named = |theme: &Theme| theme.name() == turning_point.theme;
        themes[session.mover(turning_point.index)] =
            Theme::ALL.into_iter().find(is_named).map(Theme::name);
    }
    store
        .store_review(StoredReview {
            game: session.id.clone(),
            line: session.game.move_text(),
            accuracy: by_player(session, review).map(|player| player.accuracy),
            themes,
            content: content.map_err(|error| Error::Internal(error.to_string()))?,
        })
        .await?;
    Ok(reviewed)
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
pub(crate) async fn review_when_idle(
    engine: &Engine,
    coaches: &Arc<Coaches>,
    store: &Store,
    failures: &mut Failures,
) -> Result<Reviewed, Error> {
    if engine.load() != (0, 0, 0) {
        return Ok(Reviewed::Nothing);
    }
    let Some((id, line)) = store.unreviewed().await? else { return Ok(Reviewed::Nothing) };
    match review_stored(engine, coaches, store, &id).await {
        Ok(()) => Ok(Reviewed::Game),
        // Visitors come first.
        Err(Error::Busy(..)) => Ok(Reviewed::Nothing),
        Err(error) if failures.add(&id) => {
            // For example because of an agent that no longer exists. An empty review keeps it from
            // being tried again; a request for the review still gets a new attempt.
            tracing::error!(?error, game = id, "Gave up on the review of a game");
            let content = "null".to_owned();
            let (accuracy, themes) = ([None; 2], [None; 2]);
            store.store_review(StoredReview { game: id, line, accuracy, themes, content }).await?;
            Ok(Reviewed::Game)
        }
        Err(error) => Err(error),
    }
}

async fn review_stored(
    engine: &Engine,
    coaches: &Arc<Coaches>,
    store: &Store,
    id: &str,
) -> Result<(), Error> {
    if let Some(session) = store.load(id).await? {
        review(engine, &Client::SERVER, coaches, store, &session, None, None).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use claimeven_game::{Column, Ruleset};

    use super::*;
    use crate::config::Config;
    use crate::metrics::Metrics;
    use crate::store::tests::{session, sqlite};

    #[test]
    fn unfinished_reviews_are_kept_until_they_are_complete() {
        let unfinished = UnfinishedReviews::default();
        let game = |moves: &str| Game::parse(Setup::STANDARD, moves).unwrap();
        let complete = Review::of(&game("4545454"), &ReviewOptions::default());
        let mut partial = complete.clone();
        partial.moves[0].judgement = Judgement::Unknown;
        unfinished.update(&game("4545454"), Some(&partial));
        assert_eq!(unfinished.find(&game("4545454")), Some(partial.clone()));
        assert_eq!(unfinished.find(&game("4545451")), None);
        unfinished.update(&game("4545454"), None);
        assert_eq!(unfinished.find(&game("4545454")), None);
        // Memory is bounded.
        unfinished.update(&game("1"), Some(&partial));
        for first in 1..8 {
            for second in 1..8 {
                for third in 1..3 {
                    unfinished.update(&game(&format!("{first}{second}{third}")), Some(&partial));
                }
            }
        }
        assert_eq!(unfinished.lock().len(), 64);
        assert_eq!(unfinished.find(&game("1")), None);
        assert_eq!(unfinished.find(&game("772")), Some(partial));
    }

    #[test]
    fn a_review_is_finished_when_no_further_position_can_be_solved() {
        let is_unfinished = |cols, rows, ruleset, unknown: &[usize]| {
            let setup = Setup::new(cols, rows, 4, ruleset).unwrap();
            let mut game = Game::new(setup);
            for ply in 0..usize::from(cols * rows) {
                game.play(Column::from_index(ply % usize::from(cols)).unwrap()).unwrap();
                if game.position().outcome().is_some() {
                    break;
                }
            }
            let cancel = Some(Arc::new(true.into()));
            let options = ReviewOptions { cancel, ..ReviewOptions::default() };
            let mut review = Review::of(&game, &options);
            for (index, reviewed) in review.moves.iter_mut().enumerate() {
                if !unknown.contains(&index) {
                    reviewed.judgement = Judgement::Good;
                }
            }
            super::is_unfinished(&GameSession { game, ..session("g") }, &review)
        };
        assert!(is_unfinished(7, 6, Ruleset::Standard, &[0]));
        assert!(!is_unfinished(7, 6, Ruleset::Standard, &[]));
        assert!(!is_unfinished(8, 7, Ruleset::Standard, &[0]));
        // Margins are only computed near the end.
        assert!(is_unfinished(7, 6, Ruleset::Lines, &[0, 41]));
        assert!(!is_unfinished(7, 6, Ruleset::Lines, &[0, 5]));
    }

    #[tokio::test]
    async fn a_game_that_cannot_be_reviewed_is_skipped() {
        let (store, _folder) = sqlite().await;
        // Its moves are missing, so it cannot be read.
        store.add_damaged_game("damaged").await;
        let metrics = Arc::new(Metrics::new().unwrap());
        let engine = Engine::new(&Config::default(), &metrics);
        let (coaches, mut failures) = (Arc::default(), Failures::default());
        for _ in 0..2 {
            assert!(review_when_idle(&engine, &coaches, &store, &mut failures).await.is_err());
        }
        assert!(store.unreviewed().await.unwrap().is_some());
        for _ in 0..2 {
            assert!(review_when_idle(&engine, &coaches, &store, &mut failures).await.is_ok());
        }
        assert!(store.unreviewed().await.unwrap().is_none());
    }
}
