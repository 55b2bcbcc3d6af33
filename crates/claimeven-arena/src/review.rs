//! A game judged move by move, by exact values and by what is certain.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use claimeven_game::{Column, Game, Position};
use serde::{Deserialize, Serialize};

use crate::analysis::{AnalysisLimits, Analyzer, ColumnAnalysis, ExactValue};

/// What exact scores say of the moves of a game.
///
/// ```
/// use claimeven_arena::{Review, ReviewOptions, Judgement};
/// use claimeven_game::{Game, Setup};
///
/// // A corner is the wrong place to begin, and the second player does not see why.
/// let game = Game::parse(Setup::STANDARD, "1221").unwrap();
/// let review = Review::of(&game, &ReviewOptions::default());
/// assert_eq!(review.moves[0].judgement, Judgement::Blunder);
/// assert_eq!(review.moves[0].best().unwrap().column, 4);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Review {
    /// All moves, in their order.
    pub moves: Vec<MoveReview>,
    /// What comes of them for both players, whoever moved first before the other.
    pub players: [PlayerReview; 2],
}

/// How much trouble a review is worth.
#[derive(Clone, Debug)]
pub struct ReviewOptions {
    /// How long to look at the moves of one position. What is not known by then stays unknown.
    pub time_per_position: Option<Duration>,
    /// Leave the rest unknown as soon as this is set.
    pub cancel: Option<Arc<AtomicBool>>,
}

impl Default for ReviewOptions {
    /// Enough for every position of the standard board.
    fn default() -> Self {
        ReviewOptions { time_per_position: Some(Duration::from_secs(3)), cancel: None }
    }
}

/// What exact scores say of a move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoveReview {
    /// The column that was played, counted from 1.
    pub column: u8,
    /// What is to be said of it.
    pub judgement: Judgement,
    /// The columns that could be played and what each was worth, from the left; only those whose
    /// result is known.
    pub choices: Vec<Choice>,
    /// What a search preferred, where not all was known.
    #[serde(default)]
    pub estimate: Option<ReviewEstimate>,
}

/// What a search of limited depth preferred.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewEstimate {
    /// The column, counted from 1.
    pub column: u8,
    /// How many plies the search looked ahead.
    pub depth: u32,
    /// How it expected the game to go on, as columns counted from 1.
    pub pv: Vec<u8>,
}

/// What a column was worth to the player who was to move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// The column, counted from 1.
    pub column: u8,
    /// The exact score: positive for a win, greater the sooner it comes; 0 for a draw; negative for
    /// a loss. With the ruleset `lines` the margin in lines. Where only the result is known: 1, 0
    /// or -1.
    pub score: i32,
    /// The same in words: `wins in 3`, `loses by 2 lines`, `wins`.
    pub value: String,
    /// Whether the score is exact; else only the result is known.
    pub exact: bool,
    /// Plies to the win or loss, where they are known and no lines are counted.
    pub plies: Option<u32>,
}

impl Choice {
    /// What is known of a column, if the result is.
    fn of(column: Column, known: ColumnAnalysis, position: &Position) -> Option<Choice> {
        let column = column.number();
        let Some(value) = known.value else {
            let score = (known.at_least == known.at_most).then_some(known.at_least)?;
            let value = match score {
                1 => "wins",
                0 => "draw",
                _ => "loses",
            };
            return Some(Choice {
                column,
                score,
                value: value.to_owned(),
                exact: false,
                plies: None,
            });
        };
        // A score counts the discs that the winner has left when the board is filled.
        let empty = (position.setup().cells() - position.ply()) as i32;
        let (score, plies) = match value {
            ExactValue::Win(plies) => ((empty + 1) / 2 + 1 - plies.div_ceil(2) as i32, Some(plies)),
            ExactValue::Loss(plies) => (plies as i32 / 2 - empty / 2 - 1, Some(plies)),
            ExactValue::Draw => (0, None),
            ExactValue::Margin(lines) => (lines, None),
        };
        Some(Choice { column, score, value: value.to_string(), exact: true, plies })
    }
}

/// What is to be said of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// No move was better.
    Best,
    /// It kept the result; whether another move was better still is not known.
    Good,
    /// Every other move would have given the result away.
    Only,
    /// It still wins, but later than another move would have.
    SlowerWin,
    /// It loses, and sooner than another move would have.
    FasterLoss,
    /// It gave a win away and kept the draw.
    Mistake,
    /// It gave a win or a draw away, and loses.
    Blunder,
    /// The scores are not known.
    Unknown,
}

impl Judgement {
    /// All there are, in the order in which they are listed.
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

    /// What people are told.
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

    /// The sign behind the move, as chess has it: `!`, `?`, `??` or nothing.
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

/// What a player's moves come to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlayerReview {
    /// How many moves the player made.
    pub moves: usize,
    /// How many of them could be judged.
    pub judged: usize,
    /// Wins and draws given away to a loss.
    pub blunders: usize,
    /// Wins given away to a draw.
    pub mistakes: usize,
    /// Wins put off.
    pub slower_wins: usize,
    /// Losses hastened.
    pub faster_losses: usize,
    /// Moves that alone kept the result.
    pub only_moves: usize,
    /// Of all that the player's moves could have given away, the share that they kept, from 0 to 1;
    /// `None` if there was nothing to give away.
    ///
    /// Counted in half points: two for a win, one for a draw. A move can give away what lies between
    /// the best and the worst move of its position. So a move that could not go wrong counts for
    /// nothing, and a player who is lost from the start is not praised for losing.
    pub accuracy: Option<f64>,
}

impl Review {
    /// Judges all moves of a game, whether it is over or not.
    pub fn of(game: &Game, options: &ReviewOptions) -> Review {
        let mut judge = Judge::new(options);
        let mut game = game.clone();
        let mut moves = Vec::new();
        // From the end to the beginning: the later positions are easy, and what is found of them
        // serves for the earlier ones.
        while let Some(played) = game.undo() {
            moves.push(judge.review(game.position(), played));
        }
        moves.reverse();
        let players = Review::players_of(&moves, 0);
        Review { moves, players }
    }

    /// What comes of the moves for both players if the first `opening` of them were given and not
    /// chosen.
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
    /// What the move was worth.
    pub fn played(&self) -> Option<&Choice> {
        self.choices.iter().find(|choice| choice.column == self.column)
    }

    /// The best move; of several the played one, or else the first.
    pub fn best(&self) -> Option<&Choice> {
        let best = self.choices.iter().map(|choice| choice.score).max()?;
        let is_best = |choice: &&Choice| choice.score == best;
        self.played().filter(is_best).or_else(|| self.choices.iter().find(is_best))
    }

    /// Half points that the move gave away, and the most that a move could have: two for a win, one
    /// for a draw. Moves that could not be judged gave nothing away.
    fn given_away(&self) -> Option<(i32, i32)> {
        if self.judgement == Judgement::Unknown {
            return None;
        }
        let half_points = |choice: &Choice| choice.score.signum() + 1;
        let best = self.choices.iter().map(half_points).max()?;
        let worst = self.choices.iter().map(half_points).min()?;
        Some((best - half_points(self.played()?), best - worst))
    }
}

impl PlayerReview {
    fn of<'a>(moves: impl Iterator<Item = &'a MoveReview>) -> PlayerReview {
        let mut review = PlayerReview::default();
        let (mut given, mut most) = (0, 0);
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
            most += could_give;
        }
        review.accuracy = (most > 0).then(|| 1.0 - f64::from(given) / f64::from(most));
        review
    }
}

/// Judges a move by the choices whose result is known, which may not be all of the `legal` ones.
fn judgement(choices: &[Choice], column: u8, legal: usize) -> Judgement {
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
        // A better result was certain, whatever the other moves are worth.
        () if !keeps(played) && played < 0 => Judgement::Blunder,
        () if !keeps(played) => Judgement::Mistake,
        // A move that is not known could have been better than this draw or loss.
        () if !all_known && played <= 0 => Judgement::Unknown,
        () if keepers == 1 && all_known && choices.len() > 1 => Judgement::Only,
        () if !all_exact && played != 0 => Judgement::Good,
        () if played == best => Judgement::Best,
        () if played > 0 => Judgement::SlowerWin,
        () => Judgement::FasterLoss,
    }
}

/// Finds out what moves were worth, as long as that takes a reasonable time.
struct Judge<'a> {
    options: &'a ReviewOptions,
    analyzer: Analyzer,
    /// How many positions in a row it could not judge in time.
    failures: u32,
}

/// Earlier positions are harder: after so many failures in a row only an opinion is asked for.
const MAX_FAILURES: u32 = 2;

/// The time for such an opinion.
const OPINION_TIME: Duration = Duration::from_millis(150);

impl<'a> Judge<'a> {
    fn new(options: &'a ReviewOptions) -> Judge<'a> {
        const TABLE_MB: usize = 64;
        Judge { options, analyzer: Analyzer::new(TABLE_MB), failures: 0 }
    }

    /// Judges a move that was played in a position. Positions come from the end of the game to its
    /// beginning.
    fn review(&mut self, position: &Position, played: Column) -> MoveReview {
        let column = played.number();
        let cancel = self.options.cancel.clone();
        if cancel.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            let judgement = Judgement::Unknown;
            return MoveReview { column, judgement, choices: Vec::new(), estimate: None };
        }
        let time = match self.options.time_per_position {
            Some(time) if self.failures >= MAX_FAILURES => Some(time.min(OPINION_TIME)),
            time => time,
        };
        let analysis = self.analyzer.analyze(position, &AnalysisLimits { time, cancel });
        let choices: Vec<Choice> = position
            .legal()
            .filter_map(|column| Choice::of(column, analysis.columns[column.index()]?, position))
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
