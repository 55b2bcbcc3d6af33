//! Explanations as JSON. Players are 0 for X and 1 for O, columns and rows count from 1, and a cell
//! is `[column, row]`, row 1 at the bottom.

use claimeven_game::{Cell, Column, Player};
use serde::Serialize;

use crate::english::{English, TextLevel};
use crate::explain::{MoveExplanation, MoveNote};
use crate::plan::Plan;
use crate::reason::{Explanation, Hold, Mark, Reason};
use crate::sentence::{Couples, Parity, Sentence};

/// An explanation as JSON.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "self-explanatory")]
pub struct ExplanationView {
    /// The exact score for the side to move.
    pub score: i32,
    /// Who wins under best play; null for a draw.
    pub winner: Option<usize>,
    pub moves_to_win: Option<u32>,
    /// Best play up to the position of the reason.
    pub line: Vec<Column>,
    pub reason: ReasonView,
    /// Whether the reason needs no search.
    pub proven: bool,
    /// What to draw on the board of the position.
    pub marks: Vec<MarkView>,
    /// For texts in any language.
    pub sentences: Vec<Sentence>,
    /// The sentences in English.
    pub text: TextView,
}

/// English texts at both levels.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "self-explanatory")]
pub struct TextView {
    pub beginner: String,
    pub player: String,
}

/// A reason as JSON; fields that a kind does not have are omitted.
#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs, reason = "self-explanatory")]
pub struct ReasonView {
    pub kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub winner: Option<usize>,
    /// The cells that decide.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<[u8; 2]>,
    /// The forced moves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<Column>,
    /// Why the position after them is won.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<Box<ReasonView>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanView>,
    /// The refutation of each reply.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<ReplyView>,
    /// Why X and O cannot win, in a draw.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<HoldView>,
    /// The plies of a calculation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plies: Option<u32>,
}

/// The refutation of a reply.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "self-explanatory")]
pub struct ReplyView {
    pub column: Column,
    pub reason: ReasonView,
}

/// Why a player cannot win: `no_four_left`, `plan` or `calculation`.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "self-explanatory")]
pub struct HoldView {
    pub player: usize,
    pub kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanView>,
}

/// A plan as JSON.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "self-explanatory")]
pub struct PlanView {
    pub owner: usize,
    /// The deciding cells that the owner waits for.
    pub held: Vec<[u8; 2]>,
    pub couples: Vec<[[u8; 2]; 2]>,
    pub pairs: Vec<[[u8; 2]; 2]>,
    pub four: Option<Vec<[u8; 2]>>,
    /// A four of the opponent that comes too late.
    pub too_late: Option<Vec<[u8; 2]>>,
}

/// A mark as JSON.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[allow(missing_docs, reason = "self-explanatory")]
pub enum MarkView {
    Four { player: usize, cells: Vec<[u8; 2]> },
    Ring { player: usize, cell: [u8; 2] },
    Pair { player: usize, cells: [[u8; 2]; 2] },
    Held { cells: Vec<[u8; 2]> },
    Move { player: usize, cell: [u8; 2], number: usize },
    Number { cell: [u8; 2], number: u8 },
}

/// The explanation of a move as JSON.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "self-explanatory")]
pub struct MoveView {
    pub column: Column,
    /// The score of the position before the move, and of the move, for the player who makes it.
    pub best_score: i32,
    pub score: i32,
    /// `opens`, `leaves_four` or `misses_four`: what is wrong with the move at first sight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<NoteView>,
    /// For texts in any language.
    pub sentences: Vec<Sentence>,
    /// The sentences in English.
    pub text: TextView,
    /// The position after the move.
    pub after: ExplanationView,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub better: Option<BetterView>,
}

/// What is wrong with a move at first sight, and the cell concerned.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "self-explanatory")]
pub struct NoteView {
    pub kind: &'static str,
    pub cell: [u8; 2],
}

/// A better move.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "self-explanatory")]
pub struct BetterView {
    pub column: Column,
    pub after: ExplanationView,
}

impl ExplanationView {
    /// The JSON of an explanation, with texts that name the players.
    pub fn new(explanation: &Explanation, english: &English) -> ExplanationView {
        let sentences = explanation.sentences();
        let text = |level| english.text(&sentences, level);
        ExplanationView {
            score: explanation.score.value(),
            winner: explanation.winner().map(Player::index),
            moves_to_win: explanation.score.moves_to_win(&explanation.position),
            line: explanation.line.clone(),
            reason: ReasonView::new(&explanation.reason),
            proven: explanation.is_proven(),
            marks: explanation.marks().iter().map(MarkView::new).collect(),
            text: TextView { beginner: text(TextLevel::Beginner), player: text(TextLevel::Player) },
            sentences,
        }
    }
}

impl MoveView {
    /// The JSON of the explanation of a move.
    pub fn new(played: &MoveExplanation, english: &English) -> MoveView {
        let sentences = played.sentences();
        let text = |level| english.text(&sentences, level);
        MoveView {
            column: played.column,
            best_score: played.score.value(),
            score: played.move_score().value(),
            note: played.note.map(NoteView::new),
            text: TextView { beginner: text(TextLevel::Beginner), player: text(TextLevel::Player) },
            sentences,
            after: ExplanationView::new(&played.after, english),
            better: played.better.as_ref().map(|(column, after)| BetterView {
                column: *column,
                after: ExplanationView::new(after, english),
            }),
        }
    }
}

impl NoteView {
    fn new(note: MoveNote) -> NoteView {
        let (kind, at) = match note {
            MoveNote::Opens { cell } => ("opens", cell),
            MoveNote::LeavesFour { cell } => ("leaves_four", cell),
            MoveNote::MissesFour { cell } => ("misses_four", cell),
        };
        NoteView { kind, cell: cell(at) }
    }
}

impl ReasonView {
    fn new(reason: &Reason) -> ReasonView {
        let view = ReasonView { kind: reason.kind(), ..ReasonView::default() };
        let won_by = |winner: &Player| Some(winner.index());
        match reason {
            Reason::Over { winner, four } => {
                ReasonView { winner: winner.as_ref().and_then(won_by), cells: cells(four), ..view }
            }
            Reason::WinsNow { winner, cell, .. } => {
                ReasonView { winner: won_by(winner), cells: cells(&[*cell]), ..view }
            }
            Reason::DoubleThreat { winner, cells: two, .. } => {
                ReasonView { winner: won_by(winner), cells: cells(two), ..view }
            }
            Reason::EveryMoveOpens { winner, cells: opened } => {
                ReasonView { winner: won_by(winner), cells: cells(opened), ..view }
            }
            Reason::Forced { winner, moves, end } => ReasonView {
                winner: won_by(winner),
                moves: moves.clone(),
                end: Some(Box::new(ReasonView::new(end))),
                ..view
            },
            Reason::Plan(plan) => ReasonView {
                winner: won_by(&plan.owner),
                cells: cells(&plan.held),
                plan: Some(PlanView::new(plan)),
                ..view
            },
            Reason::EveryReply { winner, replies } => ReasonView {
                winner: won_by(winner),
                replies: replies
                    .iter()
                    .map(|(column, reason)| ReplyView {
                        column: *column,
                        reason: ReasonView::new(reason),
                    })
                    .collect(),
                ..view
            },
            Reason::Numbers { winner, .. } => ReasonView { winner: won_by(winner), ..view },
            Reason::Draw { holds } => {
                let hold = |(player, hold): (Player, &Option<Hold>)| HoldView {
                    player: player.index(),
                    kind: match hold {
                        None => "calculation",
                        Some(Hold::NoFourLeft) => "no_four_left",
                        Some(Hold::Plan(_)) => "plan",
                    },
                    plan: match hold {
                        Some(Hold::Plan(plan)) => Some(PlanView::new(plan)),
                        _ => None,
                    },
                };
                ReasonView {
                    holds: Player::BOTH.into_iter().zip(holds).map(hold).collect(),
                    ..view
                }
            }
            Reason::Calculation { plies } => ReasonView { plies: Some(*plies), ..view },
        }
    }
}

impl PlanView {
    fn new(plan: &Plan) -> PlanView {
        let pair = |pair: &[Cell; 2]| pair.map(cell);
        PlanView {
            owner: plan.owner.index(),
            held: cells(&plan.held),
            couples: plan.couples.iter().map(pair).collect(),
            pairs: plan.pairs.iter().map(pair).collect(),
            four: plan.four.as_ref().map(|four| cells(four)),
            too_late: plan.race.as_ref().map(|race| cells(&race.late)),
        }
    }
}

impl MarkView {
    fn new(mark: &Mark) -> MarkView {
        match mark {
            Mark::Four { player, cells: four } => {
                MarkView::Four { player: player.index(), cells: cells(four) }
            }
            Mark::Ring { player, cell: ringed } => {
                MarkView::Ring { player: player.index(), cell: cell(*ringed) }
            }
            Mark::Pair { owner, cells } => {
                MarkView::Pair { player: owner.index(), cells: cells.map(cell) }
            }
            Mark::Held { cells: held } => MarkView::Held { cells: cells(held) },
            Mark::Move { player, cell: played, number } => {
                MarkView::Move { player: player.index(), cell: cell(*played), number: *number }
            }
            Mark::Number { cell: numbered, number } => {
                MarkView::Number { cell: cell(*numbered), number: *number }
            }
        }
    }
}

fn cells(cells: &[Cell]) -> Vec<[u8; 2]> {
    cells.iter().copied().map(cell).collect()
}

fn cell(cell: Cell) -> [u8; 2] {
    [cell.column.number(), cell.row + 1]
}

/// The JSON of a value.
pub(crate) trait View {
    type Json: Serialize;

    fn view(&self) -> Self::Json;
}

impl View for Player {
    type Json = usize;

    fn view(&self) -> usize {
        self.index()
    }
}

impl View for Column {
    type Json = Column;

    fn view(&self) -> Column {
        *self
    }
}

impl View for Cell {
    type Json = [u8; 2];

    fn view(&self) -> [u8; 2] {
        cell(*self)
    }
}

impl View for u32 {
    type Json = u32;

    fn view(&self) -> u32 {
        *self
    }
}

impl View for Parity {
    type Json = &'static str;

    fn view(&self) -> &'static str {
        match self {
            Parity::Odd => "odd",
            Parity::Even => "even",
            Parity::Mixed => "mixed",
        }
    }
}

/// [`Couples`] as JSON.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct CouplesView {
    columns: Vec<[Column; 2]>,
    only_marked: bool,
}

impl View for Couples {
    type Json = CouplesView;

    fn view(&self) -> CouplesView {
        CouplesView { columns: self.columns.clone(), only_marked: self.only_marked }
    }
}

impl<T: View> View for Vec<T> {
    type Json = Vec<T::Json>;

    fn view(&self) -> Vec<T::Json> {
        self.iter().map(View::view).collect()
    }
}

impl<T: View> View for [T; 2] {
    type Json = [T::Json; 2];

    fn view(&self) -> [T::Json; 2] {
        self.each_ref().map(View::view)
    }
}
