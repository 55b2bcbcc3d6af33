//! Why a position is won, lost or drawn, and what a move does.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::{Extension, Json};
use claimeven_arena::AnalysisLimits;
use claimeven_coach::{Explanation, Mark, MoveExplanation, MoveNote, Sentence};
use claimeven_game::{Cell, Column, Player, Setup};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::analysis::PositionInput;
use super::extract::{ApiResult, AppState, Body};
use crate::client::{Address, Client};
use crate::error::{Error, ErrorView};
use crate::work::engine::Urgency;

/// A position to explain, or a move in it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExplainInput {
    #[serde(default)]
    position: PositionInput,
    /// The move to explain.
    #[serde(default)]
    column: Option<u8>,
}

/// Why a position, or the position after a move, is won, lost or drawn.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ExplainView {
    /// The move, if one was given.
    column: Option<u8>,
    /// The explanation as sentences in a form that can be translated.
    #[schema(value_type = Vec<Object>)]
    sentences: Vec<Sentence>,
    /// An obvious flaw of the move: `opens`, `leaves_four` or `misses_four`.
    note: Option<&'static str>,
    /// The position after the move, or the position itself.
    reason: ExplanationView,
    /// A better move, if there is one, and the position after it.
    better: Option<BetterView>,
}

/// The reason for a result, at the end of a line of best play.
#[derive(Debug, Serialize, ToSchema)]
struct ExplanationView {
    /// 0 for the first player, 1 for the second, `null` for a draw.
    winner: Option<usize>,
    /// The number of discs that the winner still needs.
    moves_to_win: Option<u32>,
    /// Best play up to the position of the reason.
    line: Vec<u8>,
    /// The kind of reason: `wins_now`, `double_threat`, `every_move_opens`, `forced`, `every_reply`, `zugzwang`,
    /// `follow_up`, `numbers`, `draw`, `calculation` or `over`.
    kind: &'static str,
    /// Whether the reason needs no search.
    proven: bool,
    /// The marks to draw on the board.
    marks: Vec<CoachMarkView>,
    /// The sentences about this position.
    #[schema(value_type = Vec<Object>)]
    sentences: Vec<Sentence>,
}

/// A better move.
#[derive(Debug, Serialize, ToSchema)]
struct BetterView {
    column: u8,
    reason: ExplanationView,
}

/// A mark on the board. Cells are column and row.
#[derive(Debug, Serialize, ToSchema)]
struct CoachMarkView {
    /// `four`, `ring` (the deciding cell), `pair` (of which each player gets one), `held` (cells that the winner leaves
    /// alone), `move` or `number`.
    kind: &'static str,
    /// The player it belongs to.
    player: Option<usize>,
    cells: Vec<[u8; 2]>,
    /// The number of the move, or the number on the cell.
    number: Option<usize>,
}

impl ExplanationView {
    fn new(explanation: &Explanation) -> ExplanationView {
        ExplanationView {
            winner: explanation.winner().map(Player::index),
            moves_to_win: explanation.score.moves_to_win(&explanation.position),
            line: explanation.line.iter().map(|column| column.number()).collect(),
            kind: explanation.reason.kind(),
            proven: explanation.is_proven(),
            marks: explanation.marks().iter().map(CoachMarkView::new).collect(),
            sentences: explanation.sentences(),
        }
    }
}

impl ExplainView {
    fn of_position(explanation: &Explanation) -> ExplainView {
        ExplainView {
            column: None,
            sentences: explanation.sentences(),
            note: None,
            reason: ExplanationView::new(explanation),
            better: None,
        }
    }

    fn of_move(played: &MoveExplanation) -> ExplainView {
        ExplainView {
            column: Some(played.column.number()),
            sentences: played.sentences(),
            note: played.note.map(|note| match note {
                MoveNote::Opens { .. } => "opens",
                MoveNote::LeavesFour { .. } => "leaves_four",
                MoveNote::MissesFour { .. } => "misses_four",
            }),
            reason: ExplanationView::new(&played.after),
            better: played.better.as_ref().map(|(column, after)| BetterView {
                column: column.number(),
                reason: ExplanationView::new(after),
            }),
        }
    }
}

impl CoachMarkView {
    fn new(mark: &Mark) -> CoachMarkView {
        let cells = |cells: &[Cell]| cells.iter().copied().map(pair).collect();
        let (kind, player, cells, number) = match mark {
            Mark::Four { player, cells: four } => ("four", Some(*player), cells(four), None),
            Mark::Ring { player, cell } => ("ring", Some(*player), vec![pair(*cell)], None),
            Mark::Pair { owner, cells: both } => ("pair", Some(*owner), cells(both), None),
            Mark::Held { cells: held } => ("held", None, cells(held), None),
            Mark::Move { player, cell, number } => {
                ("move", Some(*player), vec![pair(*cell)], Some(*number))
            }
            Mark::Number { cell, number } => {
                ("number", None, vec![pair(*cell)], Some(usize::from(*number)))
            }
        };
        CoachMarkView { kind, player: player.map(Player::index), cells, number }
    }
}

fn pair(cell: Cell) -> [u8; 2] {
    [cell.column.number(), cell.row + 1]
}

/// Why a position is won, lost or drawn; with a column, what that move does. Only for the standard board, where the
/// opening books bound the time it takes.
#[utoipa::path(post, path = "/api/explain", request_body = ExplainInput, responses(
    (status = 200, body = ExplainView), (status = 400, body = ErrorView), (status = 429, body = ErrorView),
    (status = 503, body = ErrorView),
))]
pub(crate) async fn explain(
    State(app): AppState,
    Extension(client): Extension<Client>,
    Extension(address): Extension<Address>,
    Body(input): Body<ExplainInput>,
) -> ApiResult<Json<ExplainView>> {
    let position = input.position.position()?;
    if position.setup() != Setup::STANDARD {
        let message = "Explanations are available for the standard board (7x6, connect 4)";
        return Err(Error::Bad(message.to_owned()));
    }
    let column = match input.column {
        None => None,
        Some(number) => {
            let legal = |column: &Column| column.number() == number;
            let column = position.legal().find(legal);
            Some(column.ok_or_else(|| Error::Bad(format!("column {number} cannot be played")))?)
        }
    };
    app.guard.analysis(address)?;
    let name = format!("the explanation of {position:?}");
    let worker = Arc::clone(&app);
    let time = Duration::from_millis(app.config.hint_ms.max(100));
    let work = move |cancel: &Arc<_>| {
        // The coach searches without a limit, so it gets only positions that are solved in time. Those of games always
        // are; a position that was set up may have few discs and not be in the opening book.
        let limits = AnalysisLimits { time: Some(time), cancel: Some(Arc::clone(cancel)) };
        let known = worker.analyzers.with(|analyzer| analyzer.analyze(&position, &limits));
        if position.outcome().is_none() && !known.is_exact() {
            return Err("This position cannot be solved in time to be explained".to_owned());
        }
        let explained = worker.coaches.with(|coach| match column {
            None => {
                coach.explain(&position).map(|explanation| ExplainView::of_position(&explanation))
            }
            Some(column) => {
                coach.explain_move(&position, column).map(|played| ExplainView::of_move(&played))
            }
        });
        explained.map_err(|error| error.to_string())
    };
    let explained = app.engine.run(&client, Urgency::Other, name, work).await?;
    Ok(Json(explained.map_err(Error::Bad)?))
}
