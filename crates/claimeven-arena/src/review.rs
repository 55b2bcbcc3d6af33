//! A game judged move by move, by exact scores.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use claimeven_game::{Column, Game, Position, Ruleset};
use claimeven_search::{Agent, BoundKind, Limits, Perfect, TieBreak, Value};
use claimeven_solver::{Limits as SolverLimits, Options, Score, Solver, embedded_books};
use serde::{Deserialize, Serialize};

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
    /// The columns that could be played and what each was worth, from the left; only those that
    /// are known.
    pub choices: Vec<Choice>,
}

/// What a column was worth to the player who was to move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// The column, counted from 1.
    pub column: u8,
    /// The exact score: positive for a win, greater the sooner it comes; 0 for a draw; negative for
    /// a loss. With the ruleset `lines`, where no game ends early, 1, 0 or -1.
    pub score: i32,
    /// The same in words: `wins in 3`.
    pub value: String,
}

/// What is to be said of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// No move was better.
    Best,
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
    pub const ALL: [Judgement; 7] = [
        Judgement::Only,
        Judgement::Best,
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
            let choices = judge.choices(game.position(), played).unwrap_or_default();
            let judgement = judgement(&choices, played.number());
            moves.push(MoveReview { column: played.number(), judgement, choices });
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
    /// for a draw.
    fn given_away(&self) -> Option<(i32, i32)> {
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
                Judgement::Best | Judgement::Unknown => {}
            }
            let (gave, could_give) = reviewed.given_away().unwrap_or_default();
            given += gave;
            most += could_give;
        }
        review.accuracy = (most > 0).then(|| 1.0 - f64::from(given) / f64::from(most));
        review
    }
}

fn judgement(choices: &[Choice], column: u8) -> Judgement {
    let played = choices.iter().find(|choice| choice.column == column);
    let best = choices.iter().map(|choice| choice.score).max();
    let (Some(played), Some(best)) = (played.map(|choice| choice.score), best) else {
        return Judgement::Unknown;
    };
    let keeps = |score: i32| score.signum() == best.signum();
    let keepers = choices.iter().filter(|choice| keeps(choice.score)).count();
    match () {
        () if !keeps(played) && played < 0 => Judgement::Blunder,
        () if !keeps(played) => Judgement::Mistake,
        () if keepers == 1 && choices.len() > 1 => Judgement::Only,
        () if played == best => Judgement::Best,
        () if played > 0 => Judgement::SlowerWin,
        () => Judgement::FasterLoss,
    }
}

/// Finds exact scores, as long as that is worth its while.
struct Judge<'a> {
    options: &'a ReviewOptions,
    solver: Solver,
    /// For the ruleset that the solver does not know.
    perfect: Perfect,
    /// What the last position was worth to its own player, if that is known.
    after: Option<Score>,
    /// How many positions in a row it could not solve in time.
    failures: u32,
}

/// Earlier positions are harder: after so many failures in a row there is no more to be had.
const PATIENCE: u32 = 2;

impl<'a> Judge<'a> {
    fn new(options: &'a ReviewOptions) -> Judge<'a> {
        let solver_options = Options::default().with_books(embedded_books());
        let perfect = Perfect::new(Options::default(), TieBreak::default(), 0);
        Judge { options, solver: Solver::new(solver_options), perfect, after: None, failures: 0 }
    }

    /// What each legal column of a position is worth. The last one that was asked for is the one
    /// after the played move.
    fn choices(&mut self, position: &Position, played: Column) -> Option<Vec<Choice>> {
        let is_cancelled =
            self.options.cancel.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed));
        if is_cancelled || self.failures >= PATIENCE {
            return None;
        }
        let choices = match position.setup().ruleset() {
            Ruleset::Standard => self.solved(position, played),
            Ruleset::Lines => self.searched(position),
        };
        self.failures = if choices.is_some() { 0 } else { self.failures + 1 };
        choices
    }

    fn solved(&mut self, position: &Position, played: Column) -> Option<Vec<Choice>> {
        let start = Instant::now();
        let after = self.after.take();
        let mut best: Option<Score> = None;
        let mut choices = Vec::new();
        for column in position.legal() {
            let mut child = *position;
            child.play(column).expect("the column is a legal one");
            let known = after.filter(|_| column == played);
            let limits = SolverLimits {
                time: self.options.time_per_position.map(|t| t.saturating_sub(start.elapsed())),
                cancel: self.options.cancel.clone(),
                nodes: None,
            };
            let score = match known {
                Some(score) => -score,
                None => -self.solver.score_within(&child, &limits).ok()?.exact()?,
            };
            best = best.max(Some(score));
            let (column, value) = (column.number(), score.describe(position));
            choices.push(Choice { column, score: score.value(), value });
        }
        self.after = best;
        Some(choices)
    }

    fn searched(&mut self, position: &Position) -> Option<Vec<Choice>> {
        let limits = Limits {
            time: self.options.time_per_position,
            cancel: self.options.cancel.clone(),
            ..Limits::default()
        };
        let decision = self.perfect.decide(position, &limits).ok()?;
        let choice = |column: Column| {
            let known = decision.columns[column.index()].filter(|k| k.bound == BoundKind::Exact)?;
            let score = match known.value {
                Value::Win(_) => 1,
                Value::Loss(_) => -1,
                _ => 0,
            };
            Some(Choice { column: column.number(), score, value: known.value.to_string() })
        };
        position.legal().map(choice).collect()
    }
}
