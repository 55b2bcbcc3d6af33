//! Puzzles and the puzzle of the day.

use axum::Json;
use claimeven_arena::{Puzzle, Theme};
use serde::Serialize;
use utoipa::ToSchema;

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

/// A position of the standard board with exactly one move that wins, or that holds a draw.
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
    /// From 1, easy, to 5.
    grade: u8,
    /// `win-now`, `must-block`, `double-threat`, `stacked-threats`, `forcing-moves`, `odd-threat`,
    /// `even-threat` or `save-the-draw`.
    themes: Vec<&'static str>,
}

/// All puzzles and the puzzle of the day.
#[utoipa::path(get, path = "/api/puzzles", operation_id = "list_puzzles", responses((status = 200, body = PuzzlesView)))]
pub(crate) async fn list() -> Json<PuzzlesView> {
    let now = jiff::Timestamp::now();
    let puzzles = Puzzle::embedded();
    let view = |puzzle: &'static Puzzle| PuzzleView {
        moves: &puzzle.moves,
        goal: puzzle.goal.name(),
        discs: puzzle.discs,
        column: puzzle.column,
        grade: puzzle.grade,
        themes: puzzle.themes.iter().copied().map(Theme::name).collect(),
    };
    Json(PuzzlesView {
        date: now.to_string().chars().take(10).collect(),
        daily: of_the_day(now.as_second().div_euclid(86_400), puzzles.len()),
        puzzles: puzzles.iter().map(view).collect(),
    })
}

/// The puzzle of a day. Consecutive days are far apart in the list, and every puzzle comes once before
/// the first one repeats.
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
    fn every_puzzle_has_its_day() {
        for count in [1, 2, 7, 300, 301] {
            let days: HashSet<usize> =
                (20_000..20_000 + count as i64).map(|day| of_the_day(day, count)).collect();
            assert_eq!(days.len(), count);
        }
        assert_eq!(of_the_day(5, 0), 0);
    }
}
