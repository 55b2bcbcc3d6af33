//! Finished games judged move by move.

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::Json;
use axum::extract::State;
use claimeven_arena::{Choice, Judgement, MoveReview, PlayerReview, Review, ReviewOptions};
use claimeven_game::Setup;
use serde::Serialize;
use utoipa::ToSchema;

use crate::engine::Urgency;
use crate::error::{Error, ErrorView};
use crate::guard::Address;
use crate::live_games::LiveGames;
use crate::routes::{ApiResult, AppState, Id};
use crate::session::{GameSession, Status};
use crate::store::StoredReview;
use crate::view::SetupView;

/// How long to look at the moves of one position. All of the standard board's take less, unless
/// much else is going on.
const TIME_PER_POSITION: Duration = Duration::from_secs(3);

/// A finished game, judged.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReviewView {
    id: String,
    setup: SetupView,
    /// Which of the players moved first.
    first: usize,
    /// How many of the moves were given and not chosen; nobody is judged by them.
    opening: usize,
    moves: Vec<ReviewMoveView>,
    /// What the moves come to, for both players.
    players: [ReviewPlayerView; 2],
    /// Whether all moves could be judged.
    complete: bool,
}

/// A move, judged.
#[derive(Debug, Serialize, ToSchema)]
struct ReviewMoveView {
    column: u8,
    player: usize,
    /// `best`, `only`, `slower-win`, `faster-loss`, `mistake`, `blunder` or `unknown`.
    #[schema(value_type = String)]
    judgement: Judgement,
    /// `!`, `?`, `??` or nothing.
    sign: &'static str,
    /// What it was worth to the player who made it.
    played: Option<ChoiceView>,
    /// The best move in its place.
    best: Option<ChoiceView>,
    /// What each column was worth, from the left; only those that are known.
    choices: Vec<ChoiceView>,
}

/// What a column was worth to the player who was to move.
#[derive(Debug, Serialize, ToSchema)]
struct ChoiceView {
    column: u8,
    /// Positive for a win, greater the sooner it comes; 0 for a draw; negative for a loss.
    score: i32,
    /// `wins in 3`, `draw`, `loses in 3`.
    value: String,
}

/// What a player's moves come to.
#[derive(Debug, Serialize, ToSchema)]
struct ReviewPlayerView {
    moves: usize,
    judged: usize,
    blunders: usize,
    mistakes: usize,
    slower_wins: usize,
    faster_losses: usize,
    only_moves: usize,
    /// Of all half points that the moves could have given away, the share that they kept, from 0 to
    /// 1; `null` if there was nothing to give away.
    accuracy: Option<f64>,
}

impl From<&Choice> for ChoiceView {
    fn from(choice: &Choice) -> ChoiceView {
        let Choice { column, score, value } = choice;
        ChoiceView { column: *column, score: *score, value: value.clone() }
    }
}

impl From<PlayerReview> for ReviewPlayerView {
    fn from(review: PlayerReview) -> ReviewPlayerView {
        ReviewPlayerView {
            moves: review.moves,
            judged: review.judged,
            blunders: review.blunders,
            mistakes: review.mistakes,
            slower_wins: review.slower_wins,
            faster_losses: review.faster_losses,
            only_moves: review.only_moves,
            accuracy: review.accuracy,
        }
    }
}

impl ReviewView {
    fn new(session: &GameSession, review: &Review) -> ReviewView {
        let reviewed = |(ply, reviewed): (usize, &MoveReview)| ReviewMoveView {
            column: reviewed.column,
            player: session.mover(ply),
            judgement: reviewed.judgement,
            sign: reviewed.judgement.sign(),
            played: reviewed.played().map(ChoiceView::from),
            best: reviewed.best().map(ChoiceView::from),
            choices: reviewed.choices.iter().map(ChoiceView::from).collect(),
        };
        ReviewView {
            id: session.id.clone(),
            setup: SetupView::of(session.game.position()),
            first: session.first,
            opening: session.opening,
            moves: review.moves.iter().enumerate().map(reviewed).collect(),
            players: by_player(session, review).map(ReviewPlayerView::from),
            complete: review.moves.iter().all(|m| m.judgement != Judgement::Unknown),
        }
    }
}

/// What the moves come to by the players' numbers, not by who began.
fn by_player(session: &GameSession, review: &Review) -> [PlayerReview; 2] {
    let [beginner, other] = review.players_after(session.opening);
    if session.first == 0 { [beginner, other] } else { [other, beginner] }
}

/// A finished game judged move by move, by exact scores.
#[utoipa::path(get, path = "/api/games/{id}/review", params(("id" = String, Path)), responses(
    (status = 200, body = ReviewView), (status = 404, body = ErrorView), (status = 409, body = ErrorView),
    (status = 429, body = ErrorView), (status = 503, body = ErrorView),
))]
pub(crate) async fn show(
    State(app): AppState,
    Extension(address): Extension<Address>,
    Id(id): Id,
) -> ApiResult<Json<ReviewView>> {
    let session = app.games.live(&id).await?.session();
    if session.status() != Status::Finished {
        return Err(Error::Conflict("the game is not over yet".to_owned(), None));
    }
    let stored = app.games.store.review(&session.id, &session.game.move_text()).await?;
    let stored = stored.and_then(|content| serde_json::from_str::<Review>(&content).ok());
    let review = if let Some(review) = stored {
        review
    } else {
        app.guard.analysis(address)?;
        review(&app.games, &session, false).await?
    };
    Ok(Json(ReviewView::new(&session, &review)))
}

/// Judges a game and keeps what was found; in a hurry not if another time could find more.
async fn review(
    live_games: &LiveGames,
    session: &GameSession,
    at_leisure: bool,
) -> ApiResult<Review> {
    let game = session.game.clone();
    let name = format!("the review of game {}", session.id);
    let work = move |cancel: &Arc<_>| {
        let options = ReviewOptions {
            time_per_position: Some(TIME_PER_POSITION),
            cancel: Some(Arc::clone(cancel)),
        };
        Review::of(&game, &options)
    };
    let review = live_games.engine.run(Urgency::Other, name, work).await?;
    let is_complete = review.moves.iter().all(|m| m.judgement != Judgement::Unknown);
    let is_small = session.setup().cells() <= Setup::STANDARD.cells();
    if !is_complete && is_small && !at_leisure {
        return Ok(review);
    }
    let content = serde_json::to_string(&review);
    live_games
        .store
        .keep_review(StoredReview {
            game: session.id.clone(),
            line: session.game.move_text(),
            accuracy: by_player(session, &review).map(|player| player.accuracy),
            content: content.map_err(|error| Error::Internal(error.to_string()))?,
        })
        .await?;
    Ok(review)
}

/// Judges a finished game that nobody has asked about yet, if there is one and nobody is thinking;
/// whether it did.
pub(crate) async fn review_idly(live_games: &Arc<LiveGames>) -> bool {
    // A single thread is left to people, who may come at any time.
    if live_games.engine.threads() < 2 || live_games.engine.load() != (0, 0, 0) {
        return false;
    }
    review_next(live_games).await.unwrap_or_else(|error| {
        tracing::debug!(error = error.message(), "no review");
        false
    })
}

async fn review_next(live_games: &LiveGames) -> ApiResult<bool> {
    let Some((id, line)) = live_games.store.unreviewed().await? else { return Ok(false) };
    match live_games.store.load(&id).await {
        Ok(Some(session)) => {
            review(live_games, &session, true).await?;
        }
        Ok(None) => {}
        Err(error) => {
            // Say of an agent that there is no more. It is not asked for again.
            tracing::warn!(?error, game = id, "a game to be reviewed cannot be read");
            let content = "null".to_owned();
            let nothing = StoredReview { game: id, line, accuracy: [None; 2], content };
            live_games.store.keep_review(nothing).await?;
        }
    }
    Ok(true)
}
