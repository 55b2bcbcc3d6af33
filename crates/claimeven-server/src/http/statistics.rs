//! Statistics of finished games, and the opening explorer.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::{Extension, Json};
use claimeven_arena::{AnalysisLimits, Interval};
use claimeven_game::Game;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::extract::{ApiResult, AppState, Query, SetupQuery, SetupSchema, bad};
use super::view::ValueView;
use crate::client::{Address, Client};
use crate::error::ErrorView;
use crate::store::{Progress, Statistics, Tally};
use crate::visitor::Visitor;
use crate::work::engine::Urgency;

/// Whose games are counted.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct StatisticsInput {
    /// Only the visitor's own games.
    mine: Option<bool>,
}

/// Statistics of finished games.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StatisticsView {
    /// The number of games counted.
    games: u32,
    /// All games: the visitor's results, or those of the first player to move.
    total: ResultsView,
    groups: Vec<GroupView>,
    /// The distribution of game lengths.
    lengths: Vec<LengthView>,
    /// The visitor's latest games, at most 300, the earliest first; empty for everyone's.
    progress: Vec<ProgressView>,
}

/// The games grouped by one property.
#[derive(Debug, Serialize, ToSchema)]
struct GroupView {
    /// `opponent`, `player`, `colour`, `opening`, `size` or `ruleset`.
    name: &'static str,
    /// The most frequent first, at most 128.
    rows: Vec<ResultsView>,
}

/// Results of a group of games.
#[derive(Debug, Default, Serialize, ToSchema)]
struct ResultsView {
    key: String,
    games: u32,
    won: u32,
    drawn: u32,
    lost: u32,
    /// The share of points, a draw counting half, with its 95 % Wilson interval.
    score: f64,
    low: f64,
    high: f64,
    /// The mean accuracy over the reviewed games, and their number.
    accuracy: Option<f64>,
    reviewed: u32,
    /// The mean number of moves of both players.
    moves: f64,
    /// The mean time of a move.
    ms_per_move: Option<f64>,
}

/// The number of games of one length.
#[derive(Debug, Serialize, ToSchema)]
struct LengthView {
    moves: u32,
    games: u32,
}

/// One of the visitor's games.
#[derive(Debug, Serialize, ToSchema)]
struct ProgressView {
    id: String,
    created: i64,
    /// 1 for a win, 0.5 for a draw, 0 for a loss.
    points: f64,
    accuracy: Option<f64>,
    /// The theme of the visitor's mistake that decided the game, as in reviews; `null` if there was none.
    theme: Option<String>,
}

impl ResultsView {
    fn new(key: &str, tally: Tally) -> ResultsView {
        let count = |number: i64| u32::try_from(number).unwrap_or(0);
        let mean = |sum: i64, number: i64| (number > 0).then(|| sum as f64 / number as f64);
        let score = mean(2 * tally.won + tally.drawn, 2 * tally.games).unwrap_or(0.0);
        let interval = Interval::wilson(score, tally.games as f64);
        ResultsView {
            key: key.to_owned(),
            games: count(tally.games),
            won: count(tally.won),
            drawn: count(tally.drawn),
            lost: count(tally.lost),
            score,
            low: interval.low,
            high: interval.high,
            accuracy: mean(tally.accuracy, tally.reviewed).map(|millionths| millionths / 1e6),
            reviewed: count(tally.reviewed),
            moves: mean(tally.moves, tally.games).unwrap_or(0.0),
            ms_per_move: mean(tally.micros, tally.own_moves).map(|micros| micros / 1e3),
        }
    }
}

impl ProgressView {
    fn new(game: Progress) -> ProgressView {
        let points = match game.winner {
            None => 0.5,
            Some(winner) if winner == game.player => 1.0,
            Some(_) => 0.0,
        };
        let Progress { id, created, accuracy, theme, .. } = game;
        ProgressView { id, created, points, accuracy, theme }
    }
}

impl StatisticsView {
    fn new(mut statistics: Statistics, mine: bool) -> StatisticsView {
        let mut rows = |category: &str| statistics.totals.remove(category).unwrap_or_default();
        let total = rows("total").first().map_or_else(Tally::default, |(_, tally)| *tally);
        let mut lengths: Vec<LengthView> = rows("length")
            .iter()
            .filter_map(|(name, tally)| {
                let games = u32::try_from(tally.games).ok()?;
                Some(LengthView { moves: name.parse().ok()?, games })
            })
            .collect();
        lengths.sort_by_key(|length| length.moves);
        let groups =
            [if mine { "opponent" } else { "player" }, "colour", "opening", "size", "ruleset"];
        let groups = groups.map(|name| {
            let mut rows = rows(name);
            rows.sort_by(|(one, a), (other, b)| b.games.cmp(&a.games).then(one.cmp(other)));
            let rows = rows.iter().map(|(key, tally)| ResultsView::new(key, *tally)).collect();
            GroupView { name, rows }
        });
        let total = ResultsView::new("all", total);
        StatisticsView {
            games: total.games,
            total,
            groups: groups.into(),
            lengths,
            progress: statistics.progress.into_iter().rev().map(ProgressView::new).collect(),
        }
    }
}

/// Results, lengths, accuracy and times of finished games. A visitor's own games are those in which the
/// visitor plays one side.
#[utoipa::path(get, path = "/api/statistics", params(StatisticsInput), responses(
    (status = 200, body = StatisticsView), (status = 400, body = ErrorView), (status = 429, body = ErrorView),
    (status = 503, body = ErrorView),
))]
pub(crate) async fn statistics(
    State(app): AppState,
    Extension(who): Extension<Visitor>,
    Extension(address): Extension<Address>,
    Query(query): Query<StatisticsInput>,
) -> ApiResult<Json<StatisticsView>> {
    app.guard.analysis(address)?;
    let mine = query.mine == Some(true);
    let statistics = app.store.statistics(mine.then_some(&who)).await?;
    Ok(Json(StatisticsView::new(statistics, mine)))
}

/// A position to look up in finished games.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ExplorerInput {
    /// Only the visitor's own games.
    mine: Option<bool>,
    /// The moves that lead to it, as text.
    moves: String,
}

/// The continuations of a position.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ExplorerView {
    /// The number of games that start with these moves.
    games: u32,
    /// The continuations, the most frequent first.
    moves: Vec<ExplorerMoveView>,
}

/// A continuation.
#[derive(Debug, Serialize, ToSchema)]
struct ExplorerMoveView {
    column: u8,
    games: u32,
    /// Results of the first player to move.
    won: u32,
    drawn: u32,
    lost: u32,
    /// Its exact value for the side to move, if known.
    value: Option<ValueView>,
}

/// The continuations of a position in finished games, with results and exact values. From eight moves
/// on, only the latest games are searched: 2000 with the same first eight moves, or 2000 of the
/// visitor's own.
#[utoipa::path(get, path = "/api/explorer", params(ExplorerInput, SetupSchema), responses(
    (status = 200, body = ExplorerView), (status = 400, body = ErrorView), (status = 429, body = ErrorView),
    (status = 503, body = ErrorView),
))]
pub(crate) async fn explore(
    State(app): AppState,
    Extension(who): Extension<Visitor>,
    Extension(client): Extension<Client>,
    SetupQuery(setup, query): SetupQuery<ExplorerInput>,
) -> ApiResult<Json<ExplorerView>> {
    let game = Game::parse(setup, &query.moves).map_err(bad)?;
    let mine = (query.mine == Some(true)).then_some(&who);
    let found = app.store.explore(setup, &game.move_text(), mine).await?;
    let count = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
    let view = |(column, tally): (u8, Tally)| ExplorerMoveView {
        column,
        games: count(tally.games),
        won: count(tally.won),
        drawn: count(tally.drawn),
        lost: count(tally.lost),
        value: None,
    };
    let mut moves: Vec<ExplorerMoveView> = found.next.into_iter().map(view).collect();
    if !moves.is_empty() {
        let position = *game.position();
        let name = format!("the analysis of {position:?}");
        let worker = Arc::clone(&app);
        let work = move |cancel: &Arc<_>| {
            let time = Some(Duration::from_millis(150));
            let limits = AnalysisLimits { time, cancel: Some(Arc::clone(cancel)) };
            worker.analyzers.with(|analyzer| analyzer.analyze(&position, &limits))
        };
        // Without values the games are still worth showing.
        if let Ok(analysis) = app.engine.run(&client, Urgency::Brief, name, work).await {
            for entry in &mut moves {
                let known = analysis.columns.get(usize::from(entry.column) - 1).copied().flatten();
                entry.value = known.and_then(|known| known.value).map(ValueView::from);
            }
        }
    }
    moves.sort_by_key(|entry| std::cmp::Reverse(entry.games));
    Ok(Json(ExplorerView { games: count(found.games), moves }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_over_the_games_that_count() {
        let tally = Tally {
            games: 3,
            won: 1,
            drawn: 1,
            lost: 1,
            reviewed: 2,
            accuracy: 1_500_000,
            moves: 10,
            own_moves: 2,
            micros: 2_000_000,
        };
        let lost = Tally { games: 4, lost: 4, ..Tally::default() };
        let progress = |winner| Progress {
            id: "x".to_owned(),
            created: 0,
            player: 1,
            winner,
            accuracy: None,
            theme: None,
        };
        let named = |name: &str, tally| (name.to_owned(), tally);
        let totals = [
            ("total".to_owned(), vec![named("", tally)]),
            ("length".to_owned(), vec![named("12", tally), named("7", lost)]),
            (
                "opponent".to_owned(),
                vec![named("level:3", tally), named("level:2", tally), named("human", lost)],
            ),
        ];
        let statistics = Statistics {
            totals: totals.into(),
            progress: vec![progress(Some(1)), progress(None), progress(Some(0))],
        };
        let view = StatisticsView::new(statistics, true);
        assert_eq!((view.games, view.total.won, view.total.drawn, view.total.lost), (3, 1, 1, 1));
        assert!((view.total.score - 0.5).abs() < 1e-9);
        assert!(view.total.low < 0.5 && view.total.high > 0.5);
        assert_eq!((view.total.accuracy, view.total.reviewed), (Some(0.75), 2));
        assert_eq!(view.total.ms_per_move, Some(1000.0));
        assert!((view.total.moves - 10.0 / 3.0).abs() < 1e-9);
        let opponents: Vec<&str> = view.groups[0].rows.iter().map(|row| &row.key[..]).collect();
        assert_eq!(
            (view.groups[0].name, &opponents[..]),
            ("opponent", &["human", "level:2", "level:3"][..])
        );
        assert_eq!(view.groups[0].rows[0].accuracy, None);
        let lengths: Vec<(u32, u32)> =
            view.lengths.iter().map(|length| (length.moves, length.games)).collect();
        assert_eq!(lengths, [(7, 4), (12, 3)]);
        let points: Vec<f64> = view.progress.iter().map(|game| game.points).collect();
        assert_eq!(points, [0.0, 0.5, 1.0], "the earliest first");
    }

    #[test]
    fn an_empty_report_has_no_averages() {
        let view = StatisticsView::new(Statistics::default(), false);
        assert_eq!((view.games, view.total.ms_per_move), (0, None));
        assert!(view.total.score.abs() < 1e-9);
        assert_eq!(view.groups[0].name, "player");
    }
}
