//! Game reviews: every move judged by exact values or proven bounds.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use claimeven_game::{Column, Game, Player, Position};
use serde::{Deserialize, Serialize};

use crate::analysis::{AnalysisLimits, Analyzer, ColumnAnalysis, ExactValue};

/// The review of a game: its moves judged by exact scores.
///
/// ```
/// use claimeven_arena::{Review, ReviewOptions, Judgement};
/// use claimeven_game::{Game, Setup};
///
/// // Starting in a corner is a blunder, which the second player fails to punish.
/// let game = Game::parse(Setup::STANDARD, "1221").unwrap();
/// let review = Review::of(&game, &ReviewOptions::default());
/// assert_eq!(review.moves[0].judgement, Judgement::Blunder);
/// assert_eq!(review.moves[0].best().unwrap().column, 4);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Review {
    /// The moves in order.
    pub moves: Vec<MoveReview>,
    /// Summaries of both players, the first mover first.
    pub players: [PlayerReview; 2],
}

/// The limits of a review.
///
/// ```
/// use std::time::Duration;
///
/// use claimeven_arena::{Review, ReviewOptions};
/// use claimeven_game::{Game, Setup};
///
/// let time = Some(Duration::from_millis(100));
/// let options = ReviewOptions { time, ..ReviewOptions::default() };
/// let review = Review::of(&Game::parse(Setup::STANDARD, "4455")?, &options);
/// println!("{} moves, complete: {}", review.moves.len(), review.is_complete());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ReviewOptions {
    /// The time for all positions; each gets an equal share of what is left.
    pub time: Option<Duration>,
    /// The time per position. Values that are not found in time stay unknown.
    pub time_per_position: Option<Duration>,
    /// The size of the transposition table, in MiB.
    pub table_mb: usize,
    /// Another thread sets this flag to end the review; the rest stays unknown.
    pub cancel: Option<Arc<AtomicBool>>,
}

impl Default for ReviewOptions {
    /// Enough for every position of the standard board.
    fn default() -> Self {
        let time_per_position = Some(Duration::from_secs(3));
        ReviewOptions { time: None, time_per_position, table_mb: 64, cancel: None }
    }
}

/// The review of a move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MoveReview {
    /// The column played, from 1.
    pub column: u8,
    /// The annotation.
    pub judgement: Judgement,
    /// The legal columns whose result is known, from the left.
    pub choices: Vec<ReviewChoice>,
    /// The preferred move of a search, if not all results are known.
    #[serde(default)]
    pub estimate: Option<ReviewEstimate>,
}

/// The preferred move of a depth-limited search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewEstimate {
    /// The column, from 1.
    pub column: u8,
    /// The completed depth in plies.
    pub depth: u32,
    /// The principal variation, as columns from 1.
    pub pv: Vec<u8>,
}

/// A legal column, and its value for the side to move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewChoice {
    /// The column, counted from 1.
    pub column: u8,
    /// The exact score: positive for a win (the sooner, the higher), 0 for a draw, negative for a
    /// loss. In the ruleset `lines`, the margin in lines. If only the result is known: 1, 0 or -1.
    pub score: i32,
    /// The score in words: `wins in 3`, `loses by 2 lines`, `wins`.
    pub value: String,
    /// Whether the score is exact; otherwise only the result is known.
    pub exact: bool,
    /// Plies to the win or loss, if known; `None` in the ruleset `lines`.
    pub plies: Option<u32>,
}

impl ReviewChoice {
    /// The value of a column, if its result is known.
    fn of(column: Column, known: ColumnAnalysis, position: &Position) -> Option<ReviewChoice> {
        let column = column.number();
        let Some(value) = known.value else {
            let score = (known.at_least == known.at_most).then_some(known.at_least)?;
            let value = match score {
                1 => "wins",
                0 => "draw",
                _ => "loses",
            };
            return Some(ReviewChoice {
                column,
                score,
                value: value.to_owned(),
                exact: false,
                plies: None,
            });
        };
        // A score counts the discs that the winner would have left until the board is full.
        let empty = (position.setup().cells() - position.ply()) as i32;
        let (score, plies) = match value {
            ExactValue::Win(plies) => ((empty + 1) / 2 + 1 - plies.div_ceil(2) as i32, Some(plies)),
            ExactValue::Loss(plies) => (plies as i32 / 2 - empty / 2 - 1, Some(plies)),
            ExactValue::Draw => (0, None),
            ExactValue::Margin(lines) => (lines, None),
        };
        Some(ReviewChoice { column, score, value: value.to_string(), exact: true, plies })
    }
}

/// The annotation of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// No other move was better.
    Best,
    /// It kept the result, but another move may have been even better.
    Good,
    /// Every other move would have given away the result.
    Only,
    /// It still wins, but later than another move would have.
    SlowerWin,
    /// It loses, and sooner than another move would have.
    FasterLoss,
    /// It turned a win into a draw.
    Mistake,
    /// It turned a win or a draw into a loss.
    Blunder,
    /// The values are not known.
    Unknown,
}

impl Judgement {
    /// All annotations, in display order.
    pub const ALL: [Judgement; 8] = [
        Judgement::Only,
        Judgement::Best,
        Judgement::Good,
        Judgement::SlowerWin,
        Judgement::FasterLoss,
        Judgement::Mistake,
        Judgement::Blunder,
        Judgement::Unknown,
    ];

    /// The displayed name.
    pub const fn name(self) -> &'static str {
        match self {
            Judgement::Best => "best",
            Judgement::Good => "good",
            Judgement::Only => "only move",
            Judgement::SlowerWin => "slower win",
            Judgement::FasterLoss => "faster loss",
            Judgement::Mistake => "mistake",
            Judgement::Blunder => "blunder",
            Judgement::Unknown => "unknown",
        }
    }

    /// The annotation symbol, as in chess: `!`, `?`, `??` or nothing.
    pub const fn sign(self) -> &'static str {
        match self {
            Judgement::Only => "!",
            Judgement::Mistake => "?",
            Judgement::Blunder => "??",
            _ => "",
        }
    }

    /// Whether the move gave away a better result.
    pub const fn is_error(self) -> bool {
        matches!(self, Judgement::Mistake | Judgement::Blunder)
    }
}

/// A player's part of a review.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlayerReview {
    /// Moves of the player.
    pub moves: usize,
    /// Moves whose annotation is known.
    pub judged: usize,
    /// Wins and draws turned into losses.
    pub blunders: usize,
    /// Wins turned into draws.
    pub mistakes: usize,
    /// Delayed wins.
    pub slower_wins: usize,
    /// Hastened losses.
    pub faster_losses: usize,
    /// Only moves: every other move would have given away the result.
    pub only_moves: usize,
    /// The share of points kept, of those that the player's moves could have given away, from 0 to
    /// 1; `None` if there was nothing to give away.
    ///
    /// Counted in half points: two for a win, one for a draw. A move can give away at most the
    /// difference between the best and the worst move of its position. So a move that could not go
    /// wrong has no weight, and a player who is lost from the start gets no credit for losing.
    pub accuracy: Option<f64>,
}

impl Review {
    /// The mistake that decided the game, as an index of a move: the last one, if its result is that of the game.
    /// `None` if nobody made one after the opening, or if a later move is not judged.
    pub fn turning_point(&self, opening: usize, winner: Option<Player>) -> Option<usize> {
        let index = self.moves.iter().rposition(|played| played.judgement.is_error())?;
        let is_judged = |played: &MoveReview| played.judgement != Judgement::Unknown;
        let mover = Player::BOTH[index % 2];
        let result = match self.moves[index].played()?.score.signum() {
            0 => None,
            1 => Some(mover),
            _ => Some(mover.opponent()),
        };
        let decides = index >= opening && result == winner;
        (decides && self.moves[index..].iter().all(is_judged)).then_some(index)
    }

    /// Judges all moves of a game, whether it is over or not.
    pub fn of(game: &Game, options: &ReviewOptions) -> Review {
        Review::judge(game, options, &[])
    }

    /// Judges the moves that this review of the same game left unknown.
    pub fn resume(&self, game: &Game, options: &ReviewOptions) -> Review {
        let columns = self.moves.iter().map(|reviewed| reviewed.column);
        let is_same = columns.eq(game.moves().iter().map(|column| column.number()));
        Review::judge(game, options, if is_same { &self.moves } else { &[] })
    }

    /// Whether all moves are judged.
    pub fn is_complete(&self) -> bool {
        self.moves.iter().all(|reviewed| reviewed.judgement != Judgement::Unknown)
    }

    fn judge(game: &Game, options: &ReviewOptions, known: &[MoveReview]) -> Review {
        let mut judge = Judge::new(options);
        let mut game = game.clone();
        let mut moves = Vec::new();
        // From the end to the beginning: later positions are easier, and their table entries help
        // with the earlier ones.
        while let Some(played) = game.undo() {
            let index = game.moves().len();
            let known = known.get(index).filter(|known| known.judgement != Judgement::Unknown);
            moves.push(match known {
                Some(known) => known.clone(),
                None => judge.review(game.position(), played, index + 1),
            });
        }
        moves.reverse();
        let players = Review::players_of(&moves, 0);
        Review { moves, players }
    }

    /// The summaries of both players without the first `opening` moves, which they did not choose.
    pub fn players_after(&self, opening: usize) -> [PlayerReview; 2] {
        Review::players_of(&self.moves, opening)
    }

    fn players_of(moves: &[MoveReview], opening: usize) -> [PlayerReview; 2] {
        [0, 1].map(|player| {
            let own = moves.iter().enumerate().skip(opening).filter(|(ply, _)| ply % 2 == player);
            PlayerReview::of(own.map(|(_, reviewed)| reviewed))
        })
    }
}

impl MoveReview {
    /// The value of the played move.
    pub fn played(&self) -> Option<&ReviewChoice> {
        self.choices.iter().find(|choice| choice.column == self.column)
    }

    /// The best move; if there are several, the one played or else the first.
    pub fn best(&self) -> Option<&ReviewChoice> {
        let best = self.choices.iter().map(|choice| choice.score).max()?;
        let is_best = |choice: &&ReviewChoice| choice.score == best;
        self.played().filter(is_best).or_else(|| self.choices.iter().find(is_best))
    }

    /// The half points that the move gave away, and the maximum that a move could have: two for a
    /// win, one for a draw. Moves that could not be judged gave nothing away.
    fn given_away(&self) -> Option<(i32, i32)> {
        if self.judgement == Judgement::Unknown {
            return None;
        }
        let half_points = |choice: &ReviewChoice| choice.score.signum() + 1;
        let best = self.choices.iter().map(half_points).max()?;
        let worst = self.choices.iter().map(half_points).min()?;
        Some((best - half_points(self.played()?), best - worst))
    }
}

impl PlayerReview {
    fn of<'a>(moves: impl Iterator<Item = &'a MoveReview>) -> PlayerReview {
        let mut review = PlayerReview::default();
        let (mut given, mut at_stake) = (0, 0);
        for reviewed in moves {
            review.moves += 1;
            review.judged += usize::from(reviewed.judgement != Judgement::Unknown);
            match reviewed.judgement {
                Judgement::Only => review.only_moves += 1,
                Judgement::SlowerWin => review.slower_wins += 1,
                Judgement::FasterLoss => review.faster_losses += 1,
                Judgement::Mistake => review.mistakes += 1,
                Judgement::Blunder => review.blunders += 1,
                Judgement::Best | Judgement::Good | Judgement::Unknown => {}
            }
            let (gave, could_give) = reviewed.given_away().unwrap_or_default();
            given += gave;
            at_stake += could_give;
        }
        review.accuracy = (at_stake > 0).then(|| 1.0 - f64::from(given) / f64::from(at_stake));
        review
    }
}

/// Judges a move by the choices with known results, which may be fewer than `legal`.
fn judgement(choices: &[ReviewChoice], column: u8, legal: usize) -> Judgement {
    let played = choices.iter().find(|choice| choice.column == column);
    let best = choices.iter().map(|choice| choice.score).max();
    let (Some(played), Some(best)) = (played.map(|choice| choice.score), best) else {
        return Judgement::Unknown;
    };
    let keeps = |score: i32| score.signum() == best.signum();
    let keepers = choices.iter().filter(|choice| keeps(choice.score)).count();
    let all_known = choices.len() == legal;
    let all_exact = all_known && choices.iter().all(|choice| choice.exact);
    match () {
        // A better result was certain, regardless of the values of the other moves.
        () if !keeps(played) && played < 0 => Judgement::Blunder,
        () if !keeps(played) => Judgement::Mistake,
        // An unknown move could have been better than this draw or loss.
        () if !all_known && played <= 0 => Judgement::Unknown,
        () if keepers == 1 && all_known && choices.len() > 1 => Judgement::Only,
        () if !all_exact && played != 0 => Judgement::Good,
        () if played == best => Judgement::Best,
        () if played > 0 => Judgement::SlowerWin,
        () => Judgement::FasterLoss,
    }
}

/// Judges moves within the limits of a review.
struct Judge<'a> {
    options: &'a ReviewOptions,
    deadline: Option<Instant>,
    analyzer: Analyzer,
    /// The number of successive positions that were not solved in time.
    failures: u32,
}

/// Earlier positions are harder: after this many failures in a row, only an estimate is made.
const MAX_FAILURES: u32 = 2;

/// The time for such an estimate.
const ESTIMATE_TIME: Duration = Duration::from_millis(150);

impl<'a> Judge<'a> {
    fn new(options: &'a ReviewOptions) -> Judge<'a> {
        let deadline = options.time.and_then(|time| Instant::now().checked_add(time));
        Judge { options, deadline, analyzer: Analyzer::new(options.table_mb), failures: 0 }
    }

    /// Judges a move. Positions come from the end of the game to its beginning.
    fn review(&mut self, position: &Position, played: Column, positions_left: usize) -> MoveReview {
        let column = played.number();
        let cancel = self.options.cancel.clone();
        if cancel.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            let judgement = Judgement::Unknown;
            return MoveReview { column, judgement, choices: Vec::new(), estimate: None };
        }
        let most = match self.options.time_per_position {
            Some(time) if self.failures >= MAX_FAILURES => Some(time.min(ESTIMATE_TIME)),
            time => time,
        };
        let left = self.deadline.map(|at| at.saturating_duration_since(Instant::now()));
        let share = left.map(|left| left.div_f64(positions_left as f64));
        let time = [most, share].into_iter().flatten().min();
        let analysis = self.analyzer.analyze(position, &AnalysisLimits { time, cancel });
        let choices: Vec<ReviewChoice> = position
            .legal()
            .filter_map(|column| {
                ReviewChoice::of(column, analysis.columns[column.index()]?, position)
            })
            .collect();
        let judgement = judgement(&choices, column, position.legal().count());
        self.failures = if judgement == Judgement::Unknown { self.failures + 1 } else { 0 };
        let estimate = analysis.estimate.map(|estimate| ReviewEstimate {
            column: estimate.column.number(),
            depth: estimate.depth,
            pv: estimate.pv.into_iter().map(Column::number).collect(),
        });
        MoveReview { column, judgement, choices, estimate }
    }
}
