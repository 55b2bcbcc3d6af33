//! Reviews of finished games.

use axum::extract::State;
use axum::{Extension, Json};
use claimeven_arena::{
    ExactValue, Judgement, MoveReview, PlayerReview, ReviewChoice, ReviewEstimate,
};
use claimeven_game::{Ruleset, Setup};
use serde::Serialize;
use utoipa::ToSchema;

use super::analysis::ColumnValueView;
use super::extract::{ApiResult, AppState, Id, SetupSchema};
use crate::client::{Address, Client};
use crate::error::{Error, ErrorView};
use crate::session::{GameSession, Status};
use crate::work::review as work;
use crate::work::review::{GameReview, by_player};

/// The review of a finished game.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReviewView {
    id: String,
    #[schema(value_type = SetupSchema)]
    setup: Setup,
    /// Which of the players moved first.
    first: usize,
    /// How many of the moves are the opening, which is not judged.
    opening: usize,
    moves: Vec<ReviewMoveView>,
    /// The summaries of both players.
    players: [ReviewPlayerView; 2],
    /// The mistake that decided the game, if there was one; only for the standard board.
    turning_point: Option<TurningPointView>,
    /// Whether all moves could be judged.
    complete: bool,
    /// Whether the time of the request was up, so that another one will judge more moves.
    unfinished: bool,
}

/// The mistake that decided a game: the result did not change after it.
#[derive(Debug, Serialize, ToSchema)]
struct TurningPointView {
    /// The number of the move, from 1.
    ply: usize,
    /// Its theme: `win-now`, `must-block`, `opens-four`, `double-threat`, `stacked-threats`, `forcing-moves`,
    /// `odd-threat`, `even-threat`, `no-safe-move`, `follow-up`, `long-plan` or `save-the-draw`.
    theme: String,
    /// The deciding cells, as column and row.
    cells: Vec<[u8; 2]>,
}

/// The review of a move.
#[derive(Debug, Serialize, ToSchema)]
struct ReviewMoveView {
    column: u8,
    player: usize,
    /// `best`, `good`, `only`, `slower-win`, `faster-loss`, `mistake`, `blunder` or `unknown`.
    #[schema(value_type = String)]
    judgement: Judgement,
    /// `!`, `?`, `??` or empty.
    sign: &'static str,
    /// The value of the move for its player.
    played: Option<ColumnValueView>,
    /// The best move of the position.
    best: Option<ColumnValueView>,
    /// The value of each column with a known result, from the left.
    choices: Vec<ColumnValueView>,
    /// The preference of a search, if not everything was known.
    estimate: Option<ReviewEstimateView>,
}

/// The preference of a depth-limited search.
#[derive(Debug, Serialize, ToSchema)]
struct ReviewEstimateView {
    column: u8,
    /// The depth of the search, in plies.
    depth: u32,
    /// The expected continuation.
    pv: Vec<u8>,
}

/// The summary of a player's moves.
#[derive(Debug, Serialize, ToSchema)]
struct ReviewPlayerView {
    moves: usize,
    judged: usize,
    blunders: usize,
    mistakes: usize,
    slower_wins: usize,
    faster_losses: usize,
    only_moves: usize,
    /// The share of the half points at stake that were kept, from 0 to 1; `null` if nothing was at
    /// stake.
    accuracy: Option<f64>,
}

impl ColumnValueView {
    /// The value of a move for its player.
    fn of_choice(choice: &ReviewChoice, ruleset: Ruleset) -> ColumnValueView {
        let sign = choice.score.signum();
        let value = match (ruleset, choice.plies) {
            (Ruleset::Lines, _) => ExactValue::Margin(choice.score),
            (Ruleset::Standard, Some(plies)) if sign > 0 => ExactValue::Win(plies),
            (Ruleset::Standard, Some(plies)) => ExactValue::Loss(plies),
            (Ruleset::Standard, None) => ExactValue::Draw,
        };
        ColumnValueView {
            column: choice.column,
            value: choice.exact.then(|| value.into()),
            at_least: sign,
            at_most: sign,
            no_loss_within: 0,
        }
    }
}

impl From<&ReviewEstimate> for ReviewEstimateView {
    fn from(estimate: &ReviewEstimate) -> ReviewEstimateView {
        let ReviewEstimate { column, depth, pv } = estimate.clone();
        ReviewEstimateView { column, depth, pv }
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
    fn new(session: &GameSession, reviewed: &GameReview, unfinished: bool) -> ReviewView {
        let GameReview { review, turning_point } = reviewed;
        let turning_point = turning_point.clone().map(|turning_point| TurningPointView {
            ply: turning_point.index + 1,
            theme: turning_point.theme,
            cells: turning_point.cells,
        });
        let ruleset = session.setup().ruleset();
        let view = |choice: &ReviewChoice| ColumnValueView::of_choice(choice, ruleset);
        let reviewed = |(ply, reviewed): (usize, &MoveReview)| ReviewMoveView {
            column: reviewed.column,
            player: session.mover(ply),
            judgement: reviewed.judgement,
            sign: reviewed.judgement.sign(),
            played: reviewed.played().map(view),
            best: reviewed.best().map(view),
            choices: reviewed.choices.iter().map(view).collect(),
            estimate: reviewed.estimate.as_ref().map(ReviewEstimateView::from),
        };
        ReviewView {
            id: session.id.clone(),
            setup: session.setup(),
            first: session.first,
            opening: session.opening,
            moves: review.moves.iter().enumerate().map(reviewed).collect(),
            players: by_player(session, review).map(ReviewPlayerView::from),
            turning_point,
            complete: review.is_complete(),
            unfinished,
        }
    }
}

/// The review of a finished game: every move judged by exact scores.
#[utoipa::path(get, path = "/api/games/{id}/review", operation_id = "get_review", params(("id" = String, Path)), responses(
    (status = 200, body = ReviewView), (status = 404, body = ErrorView), (status = 409, body = ErrorView),
    (status = 429, body = ErrorView), (status = 503, body = ErrorView),
))]
pub(crate) async fn show(
    State(app): AppState,
    Extension(client): Extension<Client>,
    Extension(address): Extension<Address>,
    Id(id): Id,
) -> ApiResult<Json<ReviewView>> {
    let session = app.games.session(&id).await?;
    if session.status() != Status::Finished {
        return Err(Error::Conflict("The game is not over yet".to_owned()));
    }
    let stored = app.store.review(&session.id, &session.game.move_text()).await?;
    let stored = stored.and_then(|content| serde_json::from_str::<GameReview>(&content).ok());
    let is_stored = stored.is_some();
    let reviewed = if let Some(reviewed) = stored {
        reviewed
    } else {
        app.guard.analysis(address)?;
        // The rest is for waiting.
        let time = app.config.max_request_time().map(|time| time.mul_f64(0.6));
        work::review_on_request(&app, &client, &session, time).await?
    };
    let unfinished = !is_stored && work::is_unfinished(&session, &reviewed.review);
    Ok(Json(ReviewView::new(&session, &reviewed, unfinished)))
}
