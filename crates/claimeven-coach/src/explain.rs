//! Explanations: best play up to a position whose result can be explained without search.

use std::collections::HashSet;

use claimeven_game::{
    Bits, Board, Cell, Column, Outcome, Player, Position, Rules, Setup, with_board,
};
use claimeven_solver::{Options, Score, Solver, Unsolvable, embedded_books};

use crate::closing::{Closer, Closing, Effort};
use crate::diagram::Strategy;
use crate::forced::{MAX_THREATS, every_reply, forced_loss, forced_win};
use crate::plan::{Plan, has_no_four_left, plans};
use crate::reason::{Explanation, Hold, Reason, landing};

/// A coach, who explains positions and moves. It keeps a solver with its transposition table.
///
/// ```
/// use claimeven_coach::{Coach, English, TextLevel};
/// use claimeven_game::{Position, Setup};
///
/// let position = Position::from_moves(Setup::STANDARD, "44455")?;
/// let explanation = Coach::new().explain(&position)?;
/// println!("{}", English::default().explanation(&explanation, TextLevel::Beginner));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Coach {
    solver: Solver,
    /// For positions that the owner of the diagram wins.
    closer: Closer,
}

/// The longest line of best play before a reason.
pub const MAX_LINE: usize = 12;

/// The maximum number of positions examined per ply.
const MAX_WIDTH: usize = 12;

/// The maximum number of better moves that are explained, to choose the simplest.
const MAX_BETTER: usize = 3;

/// Diagrams are searched for in positions with at least this many discs.
const NUMBERS_MIN_PLY: u32 = 14;

/// The effort of searching for a diagram, where no simpler reason is found.
const NUMBERS: Effort = Effort { restarts: 2, positions: 3000, exceptions: 0, overrides: 0 };

impl Coach {
    /// A coach with the embedded opening books.
    pub fn new() -> Coach {
        let options = || Options::default().with_books(embedded_books());
        Coach { solver: Solver::new(options()), closer: Closer::new(1, options()) }
    }

    /// Fails if positions of a setup cannot be explained.
    pub fn check(setup: Setup) -> Result<(), Unsolvable> {
        Solver::check(setup)
    }

    /// Why a position is won, lost or drawn.
    pub fn explain(&mut self, position: &Position) -> Result<Explanation, Unsolvable> {
        let score = self.solver.score(position)?;
        let mut level = vec![(*position, Vec::new(), score)];
        let mut seen = HashSet::from([position.canonical_key()]);
        let mut best: Option<(usize, Vec<Column>, Reason)> = None;
        // Positions in which the loser is to move, where a diagram may be found.
        let mut lost: Vec<(Position, Vec<Column>)> = Vec::new();
        for plies in 0..=MAX_LINE {
            for (position, line, score) in &level {
                if let Some(reason) = Self::reason(position, *score) {
                    let cost = plies + reading_effort(&reason);
                    if best.as_ref().is_none_or(|(lowest, ..)| cost < *lowest) {
                        best = Some((cost, line.clone(), reason));
                    }
                }
            }
            if best.as_ref().is_some_and(|(cost, ..)| *cost <= plies + 1) || plies == MAX_LINE {
                break;
            }
            let is_lost = |(_, _, score): &&(Position, Vec<Column>, Score)| score.sign() < 0;
            lost.extend(
                level
                    .iter()
                    .filter(is_lost)
                    .take(2)
                    .map(|(position, line, _)| (*position, line.clone())),
            );
            let mut next = Vec::new();
            for (position, line, score) in level {
                for (column, after) in self.best_moves(&position, score)? {
                    if next.len() < MAX_WIDTH && seen.insert(after.canonical_key()) {
                        let mut line = line.clone();
                        line.push(column);
                        next.push((after, line, -score));
                    }
                }
            }
            level = next;
        }
        let (line, reason) = match best {
            Some((_, line, reason)) => (line, reason),
            None => {
                self.numbers(lost).unwrap_or_else(|| (Vec::new(), calculation(position, score)))
            }
        };
        Ok(Explanation { position: *position, score, line, reason })
    }

    /// Explains a move: the position after it, and a better move if there is one.
    pub fn explain_move(
        &mut self,
        position: &Position,
        column: Column,
    ) -> Result<MoveExplanation, Unsolvable> {
        let mut after = *position;
        let score = self.solver.score(position)?;
        let best: Vec<Column> =
            self.best_moves(position, score)?.into_iter().map(|(column, _)| column).collect();
        after.play(column).expect("the caller passes a legal move");
        let explanation = self.explain(&after)?;
        let better = if best.contains(&column) {
            None
        } else {
            // Of equally good moves near the centre, the one with the simplest explanation.
            let mut candidates = Vec::new();
            for &column in best.iter().take(MAX_BETTER) {
                let mut after = *position;
                after.play(column).expect("a best move is legal");
                let explanation = self.explain(&after)?;
                let cost = explanation.line.len() + reading_effort(&explanation.reason);
                candidates.push((cost, column, explanation));
            }
            let simplest = candidates.into_iter().min_by_key(|(cost, column, _)| (*cost, *column));
            simplest.map(|(_, column, explanation)| (column, explanation))
        };
        let note = better.as_ref().and_then(|_| note(position, column));
        Ok(MoveExplanation { position: *position, score, column, after: explanation, better, note })
    }

    /// Best moves, from the centre outwards, with the positions after them.
    fn best_moves(
        &mut self,
        position: &Position,
        score: Score,
    ) -> Result<Vec<(Column, Position)>, Unsolvable> {
        let mut best = Vec::new();
        for column in position.legal_from_centre() {
            let mut after = *position;
            after.play(column).expect("the move is legal");
            if self.solver.score(&after)? == -score {
                best.push((column, after));
            }
        }
        Ok(best)
    }

    /// Why a position has its score, if that needs no search.
    fn reason(position: &Position, score: Score) -> Option<Reason> {
        if let Some(outcome) = position.outcome() {
            let winner = match outcome {
                Outcome::Win(player) => Some(player),
                Outcome::Draw => None,
            };
            return Some(Reason::Over { winner, four: position.winning_cells() });
        }
        with_board!(position, board => match score.sign() {
            1 => forced_win(board, MAX_THREATS),
            0 => draw(board),
            _ => lost(board),
        })
    }

    /// A diagram that wins the first position for which one is found, near enough to the end.
    fn numbers(&mut self, lost: Vec<(Position, Vec<Column>)>) -> Option<(Vec<Column>, Reason)> {
        let is_near = |position: &Position| position.ply() >= NUMBERS_MIN_PLY;
        lost.into_iter().filter(|(position, _)| is_near(position)).find_map(|(position, line)| {
            let Closing::Closed(Strategy { diagram, .. }) = self.closer.close(&position, NUMBERS)
            else {
                return None;
            };
            let winner = position.player().opponent();
            Some((line, Reason::Numbers { winner, diagram }))
        })
    }
}

/// The reason where no other is found.
fn calculation(position: &Position, score: Score) -> Reason {
    let left = position.setup().cells() - position.ply();
    let plies = match score.moves_to_win(position) {
        None => left,
        Some(moves) if score.sign() > 0 => 2 * moves - 1,
        Some(moves) => 2 * moves,
    };
    Reason::Calculation { plies }
}

impl Default for Coach {
    fn default() -> Coach {
        Coach::new()
    }
}

/// The explanation of a move.
///
/// ```
/// use claimeven_coach::{Coach, MoveNote};
/// use claimeven_game::{Position, Setup};
///
/// let position = Position::from_moves(Setup::STANDARD, "445566")?;
/// let explanation = Coach::new().explain_move(&position, "1".parse()?)?;
/// assert!(explanation.better.is_some());
/// assert!(matches!(explanation.note, Some(MoveNote::MissesFour { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MoveExplanation {
    /// The position before it.
    pub position: Position,
    /// The score of that position.
    pub score: Score,
    /// The move.
    pub column: Column,
    /// The explanation of the position after it.
    pub after: Explanation,
    /// A best move and why it is good, if this one is not best.
    pub better: Option<(Column, Explanation)>,
    /// What is wrong with the move at first sight.
    pub note: Option<MoveNote>,
}

/// What is wrong with a move at first sight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveNote {
    /// The opponent can now connect four right above it.
    Opens {
        /// Where.
        cell: Cell,
    },
    /// The move does not block the opponent's four.
    LeavesFour {
        /// Where.
        cell: Cell,
    },
    /// The player could have connected four.
    MissesFour {
        /// Where.
        cell: Cell,
    },
}

/// What is wrong at first sight with a move that is not best.
fn note(position: &Position, column: Column) -> Option<MoveNote> {
    let opens = |position: &Position, player| {
        let is_open =
            |cell: &Cell| !position.is_full(cell.column) && landing(position, cell.column) == *cell;
        position.threats(player).into_iter().find(is_open)
    };
    let player = position.player();
    if let Some(cell) = opens(position, player) {
        return Some(MoveNote::MissesFour { cell });
    }
    let mut after = *position;
    after.play(column).ok()?;
    let cell = opens(&after, player.opponent())?;
    let is_new = opens(position, player.opponent()).is_none();
    Some(if is_new { MoveNote::Opens { cell } } else { MoveNote::LeavesFour { cell } })
}

impl MoveExplanation {
    /// The score of the move for the player who makes it.
    pub fn move_score(&self) -> Score {
        -self.after.score
    }
}

/// The length of a reason for readers, in plies of a line.
fn reading_effort(reason: &Reason) -> usize {
    match reason {
        Reason::Over { .. } | Reason::WinsNow { .. } => 0,
        Reason::DoubleThreat { .. } | Reason::EveryMoveOpens { .. } => 1,
        Reason::Forced { moves, .. } => moves.len(),
        Reason::Plan(plan) => 2 + plan.held.len() + 2 * usize::from(plan.race.is_some()),
        Reason::EveryReply { .. } => 5,
        Reason::Draw { holds } => 2 + 6 * holds.iter().filter(|hold| hold.is_none()).count(),
        Reason::Numbers { .. } => 8,
        Reason::Calculation { .. } => 12,
    }
}

/// Why the side to move loses.
fn lost<R: Rules>(board: Board<R>) -> Option<Reason> {
    if let Some(reason) = forced_loss(board, MAX_THREATS) {
        return Some(reason);
    }
    let has_to_block = !(board.rules().threats(board.other()) & board.open()).is_empty();
    if has_to_block {
        return None;
    }
    let plan = plans(board).into_iter().find(Plan::wins).map(Reason::Plan);
    plan.or_else(|| every_reply(board, 2))
}

/// Why neither side wins; at least one of them has a reason.
fn draw<R: Rules>(board: Board<R>) -> Option<Reason> {
    let mover = board.player();
    let rules = board.rules();
    let quiet = (rules.threats(board.own()) & board.open()).is_empty()
        && (rules.threats(board.other()) & board.open()).is_empty();
    let holds = Player::BOTH.map(|player| {
        if has_no_four_left(board, player) {
            return Some(Hold::NoFourLeft);
        }
        if player != mover || !quiet {
            return None;
        }
        plans(board)
            .into_iter()
            .find(|plan| plan.held.is_empty() && plan.four.is_none())
            .map(Hold::Plan)
    });
    holds.iter().any(Option::is_some).then_some(Reason::Draw { holds })
}
