//! Puzzles and the puzzle of the day.

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use claimeven_arena::{Puzzle, Theme};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::extract::{ApiResult, AppState, Body};
use crate::client::Address;
use crate::error::{Error, ErrorView};
use crate::store::Attempts;

/// All puzzles.
#[derive(Serialize, ToSchema)]
pub(crate) struct PuzzlesView {
    /// The current day in UTC, as `2030-12-31`.
    date: String,
    /// The index of the puzzle of the day.
    daily: usize,
    /// Sorted by difficulty.
    puzzles: Vec<PuzzleView>,
}

/// A position on the standard board in which exactly one move wins or saves the draw.
#[derive(Serialize, ToSchema)]
struct PuzzleView {
    /// The moves that lead to it, as text.
    moves: &'static str,
    /// `win` or `draw`.
    goal: &'static str,
    /// The number of moves to the win; 0 for a draw.
    discs: u32,
    /// The solution.
    column: u8,
    /// From 1 (easiest) to 5.
    grade: u8,
    /// `win-now`, `must-block`, `double-threat`, `stacked-threats`, `forcing-moves`, `odd-threat`,
    /// `even-threat`, `no-safe-move`, `follow-up`, `long-plan` or `save-the-draw`.
    themes: Vec<&'static str>,
    /// Its difficulty as a rating: based on the grade at first, then more and more on visitors' attempts.
    rating: u32,
    /// How many visitors have tried it, and how many of them solved it without a mistake or a hint.
    tried: i64,
    solved: i64,
}

/// The rating of a puzzle: a player of the same rating solves half of such puzzles at the first attempt. The grade
/// counts as much as ten attempts.
fn rating(grade: u8, attempts: Attempts) -> u32 {
    const PRIOR: f64 = 10.0;
    const MEAN: f64 = 1500.0;
    let expected = 1.0 - 0.15 * f64::from(grade);
    let solved = PRIOR * expected + attempts.solved.max(0) as f64;
    let tried = PRIOR + attempts.tried.max(attempts.solved).max(0) as f64;
    let failed = (tried - solved).max(0.5);
    let rating = MEAN + 400.0 * (failed / solved).log10();
    u32::try_from(rating.clamp(0.0, 3000.0).round() as i64).unwrap_or(0)
}

/// A first attempt at a puzzle.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AttemptInput {
    /// The moves of the puzzle.
    moves: String,
    /// Solved without a mistake or a hint.
    solved: bool,
}

/// Counts a visitor's first attempt at a puzzle, for its rating. Nothing about the visitor is stored.
#[utoipa::path(post, path = "/api/puzzles/attempts", request_body = AttemptInput, responses(
    (status = 204), (status = 400, body = ErrorView), (status = 404, body = ErrorView), (status = 429, body = ErrorView),
    (status = 503, body = ErrorView),
))]
pub(crate) async fn attempt(
    State(app): AppState,
    Extension(address): Extension<Address>,
    Body(input): Body<AttemptInput>,
) -> ApiResult<StatusCode> {
    let known = Puzzle::embedded().iter().find(|puzzle| puzzle.moves() == input.moves);
    let puzzle = known.ok_or_else(|| Error::NotFound("Unknown puzzle".to_owned()))?;
    app.guard.hint(address)?;
    app.store.count_attempt(puzzle.moves(), input.solved).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// All puzzles and the puzzle of the day.
#[utoipa::path(get, path = "/api/puzzles", operation_id = "list_puzzles", responses(
    (status = 200, body = PuzzlesView), (status = 503, body = ErrorView),
))]
pub(crate) async fn list(State(app): AppState) -> ApiResult<Json<PuzzlesView>> {
    let now = jiff::Timestamp::now();
    let puzzles = Puzzle::embedded();
    let attempts = app.store.attempts().await?;
    let view = |puzzle: &'static Puzzle| {
        let attempts = attempts.get(puzzle.moves()).copied().unwrap_or_default();
        PuzzleView {
            moves: puzzle.moves(),
            goal: puzzle.goal().name(),
            discs: puzzle.discs(),
            column: puzzle.solution().number(),
            grade: puzzle.grade(),
            themes: puzzle.themes().iter().copied().map(Theme::name).collect(),
            rating: rating(puzzle.grade(), attempts),
            tried: attempts.tried,
            solved: attempts.solved,
        }
    };
    Ok(Json(PuzzlesView {
        date: now.to_string().chars().take(10).collect(),
        daily: of_the_day(now.as_second().div_euclid(86_400), puzzles.len()),
        puzzles: puzzles.iter().map(view).collect(),
    }))
}

/// The puzzle of a day. Those of consecutive days are far apart in the list, and every puzzle comes once
/// before the first one repeats.
fn of_the_day(day: i64, puzzles: usize) -> usize {
    let count = puzzles.max(1) as i64;
    let gcd = |mut a: i64, mut b: i64| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let golden = (count * 618 / 1000).max(1);
    let step = (golden..=golden + count).find(|&step| gcd(step, count) == 1).unwrap_or(1);
    (day.rem_euclid(count) * step).rem_euclid(count) as usize
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ratings_follow_the_grade_and_then_the_attempts() {
        let of = |grade, tried, solved| rating(grade, Attempts { tried, solved });
        let untried: Vec<u32> = (1..=Puzzle::GRADES).map(|grade| of(grade, 0, 0)).collect();
        assert!(untried.is_sorted() && untried[0] < 1300 && untried[4] > 1600, "{untried:?}");
        assert!(of(1, 20, 2) > of(1, 0, 0) && of(5, 20, 20) < of(5, 0, 0));
        // Many attempts outweigh the grade.
        assert!(of(1, 1000, 100) > of(5, 1000, 900));
        assert!(of(5, 1_000_000, 0) <= 3000 && of(1, 5, 9) > 0);
    }

    #[test]
    fn every_puzzle_has_its_day() {
        for count in [1, 2, 7, 300, 301] {
            let days: HashSet<usize> =
                (20_000..20_000 + count as i64).map(|day| of_the_day(day, count)).collect();
            assert_eq!(days.len(), count);
        }
        assert_eq!(of_the_day(5, 0), 0);
    }
}
