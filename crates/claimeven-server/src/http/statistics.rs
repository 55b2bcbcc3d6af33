//! Statistics of finished games, and the opening explorer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::{Extension, Json};
use claimeven_arena::{AnalysisLimits, Interval};
use claimeven_game::{Game, Ruleset, Setup};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::extract::{ApiResult, AppState, Query, bad};
use super::view::ValueView;
use crate::client::{Address, Client};
use crate::error::ErrorView;
use crate::store::{Played, PlayedSeat};
use crate::visitor::Visitor;
use crate::work::engine::Urgency;

/// How many of the latest games are counted.
const MAX_GAMES: u32 = 5000;

/// How many of a visitor's latest games the progress shows.
const PROGRESS: usize = 300;

/// The number of moves that make an opening.
const OPENING: usize = 4;

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
    games: usize,
    /// The maximum number of games counted: the latest ones.
    max_games: u32,
    /// All games: the visitor's results, or those of the first player to move.
    total: ResultsView,
    groups: Vec<GroupView>,
    /// The distribution of game lengths.
    lengths: Vec<LengthView>,
    /// The visitor's games, the earliest first; empty for everyone's.
    progress: Vec<ProgressView>,
}

/// The games grouped by one property.
#[derive(Debug, Serialize, ToSchema)]
struct GroupView {
    /// `opponent`, `player`, `colour`, `opening`, `size` or `ruleset`.
    name: &'static str,
    /// The most frequent first.
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
    #[serde(skip)]
    sums: Sums,
}

#[derive(Debug, Default)]
struct Sums {
    accuracy: f64,
    moves: usize,
    micros: i64,
    own_moves: usize,
}

/// The number of games of one length.
#[derive(Debug, Serialize, ToSchema)]
struct LengthView {
    moves: usize,
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
}

/// A game seen from one side.
struct Seen<'a> {
    game: &'a Played,
    player: usize,
}

impl Seen<'_> {
    fn half_points(&self) -> u32 {
        match self.game.winner {
            None => 1,
            Some(winner) if winner == self.player => 2,
            Some(_) => 0,
        }
    }

    fn moved_first(&self) -> bool {
        self.game.first == self.player
    }
}

impl ResultsView {
    fn add(&mut self, seen: &Seen<'_>) {
        let (game, player) = (seen.game, seen.player);
        self.games += 1;
        match seen.half_points() {
            2 => self.won += 1,
            1 => self.drawn += 1,
            _ => self.lost += 1,
        }
        if let Some(accuracy) = game.accuracy[player] {
            self.reviewed += 1;
            self.sums.accuracy += accuracy;
        }
        self.sums.moves += game.line.len();
        // Moves of the opening took no time.
        let chosen = game.line.len().saturating_sub(game.opening);
        let first_of_them = seen.moved_first() == game.opening.is_multiple_of(2);
        self.sums.own_moves += if first_of_them { chosen.div_ceil(2) } else { chosen / 2 };
        self.sums.micros += game.micros[usize::from(!seen.moved_first())];
    }

    fn finish(mut self, key: String) -> ResultsView {
        let games = f64::from(self.games.max(1));
        self.key = key;
        let share = (f64::from(self.won) + 0.5 * f64::from(self.drawn)) / games;
        let interval = Interval::wilson(share, self.games.into());
        (self.score, self.low, self.high) = (share, interval.low, interval.high);
        self.accuracy = (self.reviewed > 0).then(|| self.sums.accuracy / f64::from(self.reviewed));
        self.moves = self.sums.moves as f64 / games;
        self.ms_per_move = (self.sums.own_moves > 0)
            .then(|| self.sums.micros as f64 / 1e3 / self.sums.own_moves as f64);
        self
    }
}

fn group<'a>(name: &'static str, games: impl Iterator<Item = (String, Seen<'a>)>) -> GroupView {
    let mut tallies: BTreeMap<String, ResultsView> = BTreeMap::new();
    for (key, seen) in games {
        tallies.entry(key).or_default().add(&seen);
    }
    let mut rows: Vec<ResultsView> =
        tallies.into_iter().map(|(key, tally)| tally.finish(key)).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.games));
    GroupView { name, rows }
}

/// The key of a player in a group.
fn called(seat: &PlayedSeat) -> String {
    match &seat.agent {
        Some(agent) => agent.clone(),
        None => "human".to_owned(),
    }
}

impl StatisticsView {
    fn new(games: &[Played], mine: bool) -> StatisticsView {
        // A visitor's own games are seen from the visitor's side, all others from that of the
        // player who moved first.
        let side = |game: &Played| if mine { game.mine.unwrap_or(game.first) } else { game.first };
        let seen = || games.iter().map(|game| Seen { game, player: side(game) });
        let mut total = ResultsView::default();
        seen().for_each(|game| total.add(&game));
        let both = || games.iter().flat_map(|game| [0, 1].map(|player| Seen { game, player }));
        let players = if mine {
            group("opponent", seen().map(|s| (called(&s.game.seats[1 - s.player]), s)))
        } else {
            group("player", both().map(|s| (called(&s.game.seats[s.player]), s)))
        };
        let sides: Vec<Seen<'_>> = if mine { seen().collect() } else { both().collect() };
        let colours = group(
            "colour",
            sides
                .into_iter()
                .map(|s| (if s.moved_first() { "first" } else { "second" }.to_owned(), s)),
        );
        let opening = |game: &Played| game.line.chars().take(OPENING).collect::<String>();
        let is_standard = |s: &Seen<'_>| s.game.setup == Setup::STANDARD;
        let openings = group("opening", seen().filter(is_standard).map(|s| (opening(s.game), s)));
        let board = |setup: Setup| format!("{}x{}", setup.cols(), setup.rows());
        let boards = group("size", seen().map(|s| (board(s.game.setup), s)));
        let ruleset = |setup: Setup| setup.ruleset().name().to_owned();
        let rulesets = group("ruleset", seen().map(|s| (ruleset(s.game.setup), s)));
        let mut lengths: BTreeMap<usize, u32> = BTreeMap::new();
        for game in games {
            *lengths.entry(game.line.len()).or_default() += 1;
        }
        let progress = seen().take(if mine { PROGRESS } else { 0 }).map(|s| ProgressView {
            id: s.game.id.clone(),
            created: s.game.created,
            points: f64::from(s.half_points()) / 2.0,
            accuracy: s.game.accuracy[s.player],
        });
        let mut progress: Vec<ProgressView> = progress.collect();
        progress.reverse();
        StatisticsView {
            games: games.len(),
            max_games: MAX_GAMES,
            total: total.finish("all".to_owned()),
            groups: vec![players, colours, openings, boards, rulesets],
            lengths: lengths
                .into_iter()
                .map(|(moves, games)| LengthView { moves, games })
                .collect(),
            progress,
        }
    }
}

/// Results, lengths, accuracy and times of finished games. A visitor's own games are those in which the
/// visitor plays one side.
#[utoipa::path(get, path = "/api/statistics", params(StatisticsInput), responses(
    (status = 200, body = StatisticsView), (status = 400, body = ErrorView), (status = 429, body = ErrorView),
))]
pub(crate) async fn statistics(
    State(app): AppState,
    Extension(who): Extension<Visitor>,
    Extension(address): Extension<Address>,
    Query(query): Query<StatisticsInput>,
) -> ApiResult<Json<StatisticsView>> {
    app.guard.analysis(address)?;
    let mine = query.mine == Some(true);
    let games = app.store.played(mine.then_some(&who), MAX_GAMES).await?;
    Ok(Json(StatisticsView::new(&games, mine)))
}

/// A position to look up in finished games.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ExplorerInput {
    /// Only the visitor's own games.
    mine: Option<bool>,
    /// The moves that lead to it, as text.
    moves: String,
    cols: u8,
    rows: u8,
    connect: u8,
    /// `standard` or `lines`.
    ruleset: String,
}

impl Default for ExplorerInput {
    fn default() -> ExplorerInput {
        ExplorerInput {
            mine: None,
            moves: String::new(),
            cols: 7,
            rows: 6,
            connect: 4,
            ruleset: "standard".to_owned(),
        }
    }
}

/// The continuations of a position.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ExplorerView {
    /// The number of games that began with these moves.
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

/// The continuations of a position in finished games, with results and exact values.
#[utoipa::path(get, path = "/api/explorer", params(ExplorerInput), responses(
    (status = 200, body = ExplorerView), (status = 400, body = ErrorView), (status = 429, body = ErrorView),
    (status = 503, body = ErrorView),
))]
pub(crate) async fn explore(
    State(app): AppState,
    Extension(who): Extension<Visitor>,
    Extension(client): Extension<Client>,
    Query(query): Query<ExplorerInput>,
) -> ApiResult<Json<ExplorerView>> {
    let ruleset: Ruleset = query.ruleset.parse().map_err(bad)?;
    let setup = Setup::new(query.cols, query.rows, query.connect, ruleset).map_err(bad)?;
    let game = Game::parse(setup, &query.moves).map_err(bad)?;
    let mine = (query.mine == Some(true)).then_some(&who);
    let rows = app.store.continuations(setup, &game.move_text(), mine).await?;
    let mut moves: BTreeMap<u8, ExplorerMoveView> = BTreeMap::new();
    let mut games = 0;
    for (next, result, count) in rows {
        games += count;
        let Some(column) = next.chars().next().and_then(claimeven_game::Column::from_char) else {
            continue;
        };
        let entry = moves.entry(column.number()).or_insert(ExplorerMoveView {
            column: column.number(),
            games: 0,
            won: 0,
            drawn: 0,
            lost: 0,
            value: None,
        });
        entry.games += count;
        match result {
            1 => entry.won += count,
            0 => entry.drawn += count,
            _ => entry.lost += count,
        }
    }
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
            for entry in moves.values_mut() {
                let known = analysis.columns.get(usize::from(entry.column) - 1).copied().flatten();
                entry.value = known.and_then(|known| known.value).map(ValueView::from);
            }
        }
    }
    let mut moves: Vec<ExplorerMoveView> = moves.into_values().collect();
    moves.sort_by_key(|entry| std::cmp::Reverse(entry.games));
    Ok(Json(ExplorerView { games, moves }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn played(winner: Option<usize>, first: usize, mine: Option<usize>, line: &str) -> Played {
        let seat = |agent: Option<&str>| PlayedSeat { agent: agent.map(str::to_owned) };
        Played {
            id: "x".to_owned(),
            created: 0,
            setup: Setup::STANDARD,
            seats: [seat(None), seat(Some("level:3"))],
            first,
            opening: 0,
            winner,
            mine,
            line: line.to_owned(),
            accuracy: [Some(0.5), Some(1.0)],
            micros: [4_000_000, 2_000_000],
        }
    }

    #[test]
    fn a_visitors_games_are_seen_from_the_visitors_side() {
        let games = [
            played(Some(0), 1, Some(0), "4453"),
            played(None, 0, Some(0), "44531"),
            played(Some(1), 0, Some(0), "1"),
        ];
        let view = StatisticsView::new(&games, true);
        assert_eq!((view.total.won, view.total.drawn, view.total.lost), (1, 1, 1));
        assert!((view.total.score - 0.5).abs() < 1e-9);
        assert_eq!(view.total.accuracy, Some(0.5));
        let rows = |name: &str| {
            let group = view.groups.iter().find(|group| group.name == name).unwrap();
            group.rows.iter().map(|row| (row.key.clone(), row.games)).collect::<Vec<_>>()
        };
        assert_eq!(rows("opponent"), [("level:3".to_owned(), 3)]);
        assert_eq!(rows("colour"), [("first".to_owned(), 2), ("second".to_owned(), 1)]);
        assert_eq!(rows("opening"), [("4453".to_owned(), 2), ("1".to_owned(), 1)]);
        let points: Vec<f64> = view.progress.iter().map(|game| game.points).collect();
        assert_eq!(points, [0.0, 0.5, 1.0], "the earliest first");
        // Moving second with two of four moves took two seconds.
        let second = &view.groups[1].rows[1];
        assert_eq!(second.ms_per_move, Some(1000.0));
    }

    #[test]
    fn everyones_games_count_for_both_players() {
        let view = StatisticsView::new(&[played(Some(1), 0, None, "4453")], false);
        let players = &view.groups[0];
        assert_eq!((players.name, players.rows.len()), ("player", 2));
        assert!(players.rows.iter().any(|row| row.key == "human" && row.lost == 1));
        assert_eq!((view.total.won, view.total.lost), (0, 1), "seen from the first mover");
        assert!(view.progress.is_empty());
    }
}
