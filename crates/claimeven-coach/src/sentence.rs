//! Sentences about a position or a move, as data: a key and typed values, from which
//! texts in any language can be made. `english.rs` has the English ones.

use claimeven_game::{Cell, Column, Player, Position};
use claimeven_solver::Score;
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::english::{English, TextLevel};
use crate::explain::{MoveExplanation, MoveNote};
use crate::plan::Plan;
use crate::reason::{Explanation, Hold, Reason, after_all, longest};
use crate::view::View;

/// Defines [`Sentence`], with its JSON: an object of a `key` and the values.
macro_rules! sentences {
    ($($key:literal => $name:ident { $($field:ident: $type:ty),* },)*) => {
        /// A sentence about a position or a move.
        ///
        /// In JSON it is an object with a `key`, which is the name of the variant in snake case,
        /// and the values: players as 0 and 1, columns counted from 1, cells as `[column, row]`,
        /// both from 1.
        ///
        /// ```
        /// use claimeven_coach::Coach;
        /// use claimeven_game::{Position, Setup};
        ///
        /// let position = Position::from_moves(Setup::STANDARD, "445566")?;
        /// let sentences = Coach::new().explain(&position)?.sentences();
        /// assert_eq!(sentences[0].key(), "wins_now");
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        #[allow(missing_docs, reason = "`English::sentence` has their texts")]
        pub enum Sentence {
            $($name { $($field: $type),* },)*
        }

        impl Sentence {
            /// The keys of all sentences.
            pub const KEYS: &'static [&'static str] = &[$($key),*];

            /// The key of the sentence.
            pub fn key(&self) -> &'static str {
                match self {
                    $(Sentence::$name { .. } => $key,)*
                }
            }
        }

        impl Serialize for Sentence {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(None)?;
                map.serialize_entry("key", self.key())?;
                match self {
                    $(Sentence::$name { $($field),* } => {
                        $(map.serialize_entry(stringify!($field), &$field.view())?;)*
                    })*
                }
                map.end()
            }
        }
    };
}

sentences! {
    // The verdict.
    "won" => Won { winner: Player },
    "drawn" => Drawn {},
    "wins_in" => WinsIn { winner: Player, moves: u32 },
    "draw" => Draw {},
    "best_play" => BestPlay { moves: Vec<Column> },
    // The reasons.
    "wins_now" => WinsNow { winner: Player, column: Column },
    "double_threat" => DoubleThreat { winner: Player, loser: Player, columns: [Column; 2] },
    "stacked_threat" => StackedThreat { winner: Player, loser: Player, column: Column },
    "every_move_opens" => EveryMoveOpens { winner: Player, loser: Player, columns: Vec<Column> },
    "threatens" => Threatens { winner: Player, column: Column },
    "must_block" => MustBlock { loser: Player, column: Column },
    "forced_moves" => ForcedMoves { winner: Player, loser: Player, moves: Vec<Column> },
    "every_reply" => EveryReply { winner: Player, loser: Player },
    "every_reply_loses_now" => EveryReplyLosesNow { winner: Player, loser: Player },
    "suppose" => Suppose { loser: Player, column: Column },
    "zugzwang" => Zugzwang { winner: Player, loser: Player, cells: Vec<Cell>, parity: Parity, couples: Couples },
    "follow_up" => FollowUp { winner: Player, loser: Player, from: Cell, to: Cell, couples: Couples },
    "no_four_for" => NoFourFor { player: Player },
    "too_late" => TooLate { player: Player },
    "numbers" => Numbers { winner: Player, loser: Player },
    "nobody_can_connect" => NobodyCanConnect {},
    "no_four_left" => NoFourLeft { player: Player },
    "holds_by_follow_up" => HoldsByFollowUp { player: Player, opponent: Player, couples: Couples },
    "cannot_win_by_calculation" => CannotWinByCalculation { player: Player },
    "calculation" => Calculation { moves: u32 },
    // Moves.
    "keeps_win" => KeepsWin { column: Column },
    "keeps_draw" => KeepsDraw { column: Column },
    "loses_slowest" => LosesSlowest { column: Column },
    "wins_slower" => WinsSlower { column: Column, moves: u32, better: Column, better_moves: u32 },
    "win_to_draw" => WinToDraw { player: Player, column: Column },
    "win_to_loss" => WinToLoss { player: Player, column: Column },
    "draw_to_loss" => DrawToLoss { player: Player, column: Column },
    "loses_sooner" => LosesSooner { column: Column, better: Column },
    "opens" => Opens { opponent: Player, cell: Cell },
    "leaves_four" => LeavesFour { opponent: Player, column: Column },
    "could_connect" => CouldConnect { player: Player, column: Column },
    "better_wins" => BetterWins { column: Column },
    "better_draws" => BetterDraws { column: Column },
}

/// The rows of the deciding cells, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "self-explanatory")]
pub enum Parity {
    Odd,
    Even,
    Mixed,
}

/// Pairs of columns whose next discs answer each other in a plan (*baseinverses*).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Couples {
    /// The columns, two by two.
    pub columns: Vec<[Column; 2]>,
    /// Whether a short text refers to the marks on the board instead of naming the columns.
    pub only_marked: bool,
}

/// What is left out to make a text short enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Brevity {
    Full,
    /// Without the loser's chances and without the reason for a better move.
    Short,
    /// Also without the names of columns that answer each other, which are marked on the board.
    Shortest,
}

/// Explanations have fewer words than this.
pub const MAX_WORDS: usize = 60;

/// The fullest text that has fewer than [`MAX_WORDS`] words in English.
fn short_enough(sentences: impl Fn(Brevity) -> Vec<Sentence>) -> Vec<Sentence> {
    let english = English::default();
    let is_short = |sentences: &Vec<Sentence>| {
        [TextLevel::Beginner, TextLevel::Player]
            .into_iter()
            .all(|level| english.text(sentences, level).split_whitespace().count() < MAX_WORDS)
    };
    let brevities = [Brevity::Full, Brevity::Short, Brevity::Shortest];
    let fullest = brevities.map(&sentences).into_iter().find(is_short);
    fullest.unwrap_or_else(|| sentences(Brevity::Shortest))
}

impl Explanation {
    /// The sentences about the position, in fewer than [`MAX_WORDS`] words of English.
    pub fn sentences(&self) -> Vec<Sentence> {
        short_enough(|brevity| {
            let reason = self.reasons(brevity);
            let says_it_all = matches!(self.reason, Reason::Over { .. } | Reason::WinsNow { .. });
            if says_it_all && self.line.is_empty() {
                return reason;
            }
            let verdict = match (self.winner(), self.score.moves_to_win(&self.position)) {
                (Some(winner), Some(moves)) => Sentence::WinsIn { winner, moves },
                _ => Sentence::Draw {},
            };
            [vec![verdict], reason].concat()
        })
    }

    /// The line and the reason, without the verdict.
    fn reasons(&self, brevity: Brevity) -> Vec<Sentence> {
        let mut sentences = Vec::new();
        if !self.line.is_empty() {
            sentences.push(Sentence::BestPlay { moves: self.line.clone() });
        }
        sentences.extend(self.reason.sentences(&self.end(), brevity));
        sentences
    }
}

impl MoveExplanation {
    /// The sentences about the move, in fewer than [`MAX_WORDS`] words of English.
    pub fn sentences(&self) -> Vec<Sentence> {
        short_enough(|brevity| self.brief_sentences(brevity))
    }

    fn brief_sentences(&self, brevity: Brevity) -> Vec<Sentence> {
        let column = self.column;
        let player = self.position.player();
        let (before, after) = (self.score, self.move_score());
        let moves = |score: Score, position: &Position| score.moves_to_win(position).unwrap_or(0);
        let Some((better, kept)) = &self.better else {
            let verdict = match before.sign() {
                _ if self.after.position.outcome().is_some() => None,
                1 => Some(Sentence::KeepsWin { column }),
                0 => Some(Sentence::KeepsDraw { column }),
                _ => Some(Sentence::LosesSlowest { column }),
            };
            return verdict.into_iter().chain(self.after.reasons(brevity)).collect();
        };
        let better = *better;
        let turns = before.sign() != after.sign();
        let mut sentences = vec![match (before.sign(), after.sign()) {
            (1, 1) => Sentence::WinsSlower {
                column,
                moves: moves(self.after.score, &self.after.position) + 1,
                better,
                better_moves: moves(before, &self.position),
            },
            (1, 0) => Sentence::WinToDraw { player, column },
            (1, _) => Sentence::WinToLoss { player, column },
            (0, _) => Sentence::DrawToLoss { player, column },
            _ => Sentence::LosesSooner { column, better },
        }];
        let opponent = player.opponent();
        match self.note {
            Some(MoveNote::Opens { cell }) => sentences.push(Sentence::Opens { opponent, cell }),
            Some(MoveNote::LeavesFour { cell }) => {
                sentences.push(Sentence::LeavesFour { opponent, column: cell.column });
            }
            Some(MoveNote::MissesFour { cell }) => {
                sentences.push(Sentence::CouldConnect { player, column: cell.column });
                return sentences;
            }
            None if turns && self.after.winner().is_some() => {
                sentences.extend(self.after.reasons(brevity));
            }
            None => {}
        }
        match before.sign() {
            1 if turns => {
                sentences.push(Sentence::BetterWins { column: better });
                if brevity == Brevity::Full {
                    sentences.extend(kept.reasons(brevity));
                }
            }
            0 => sentences.push(Sentence::BetterDraws { column: better }),
            _ => {}
        }
        sentences
    }
}

impl Reason {
    fn sentences(&self, position: &Position, brevity: Brevity) -> Vec<Sentence> {
        match self {
            Reason::Over { winner: Some(winner), .. } => vec![Sentence::Won { winner: *winner }],
            Reason::Over { winner: None, .. } => vec![Sentence::Drawn {}],
            Reason::WinsNow { winner, cell, .. } => {
                vec![Sentence::WinsNow { winner: *winner, column: cell.column }]
            }
            Reason::DoubleThreat { winner, cells: [first, second], .. } => {
                let (winner, loser) = (*winner, winner.opponent());
                vec![if first.column == second.column {
                    Sentence::StackedThreat { winner, loser, column: first.column }
                } else {
                    let columns = [first.column, second.column];
                    Sentence::DoubleThreat { winner, loser, columns }
                }]
            }
            Reason::EveryMoveOpens { winner, cells } => {
                let columns = cells.iter().map(|cell| cell.column).collect();
                let (winner, loser) = (*winner, winner.opponent());
                vec![Sentence::EveryMoveOpens { winner, loser, columns }]
            }
            Reason::Forced { winner, moves, end } => {
                let (winner, loser) = (*winner, winner.opponent());
                let first = match moves[..] {
                    [column] if position.player() == winner => {
                        Sentence::Threatens { winner, column }
                    }
                    [column] => Sentence::MustBlock { loser, column },
                    _ => Sentence::ForcedMoves { winner, loser, moves: moves.clone() },
                };
                let end = end.sentences(&after_all(position, moves), brevity);
                [vec![first], end].concat()
            }
            Reason::Plan(plan) => plan_sentences(plan, brevity),
            Reason::EveryReply { winner, replies } => {
                let (winner, loser) = (*winner, winner.opponent());
                let Some((column, then)) = longest(replies) else {
                    return vec![Sentence::EveryReplyLosesNow { winner, loser }];
                };
                let mut sentences = vec![
                    Sentence::EveryReply { winner, loser },
                    Sentence::Suppose { loser, column: *column },
                ];
                sentences.extend(then.sentences(&after_all(position, &[*column]), brevity));
                sentences
            }
            Reason::Numbers { winner, .. } => {
                vec![Sentence::Numbers { winner: *winner, loser: winner.opponent() }]
            }
            Reason::Draw { holds } => draw_sentences(holds, brevity),
            Reason::Calculation { plies } => {
                vec![Sentence::Calculation { moves: plies.div_ceil(2) }]
            }
        }
    }
}

fn plan_sentences(plan: &Plan, brevity: Brevity) -> Vec<Sentence> {
    let (winner, loser) = (plan.owner, plan.owner.opponent());
    let couples = couples(plan, brevity);
    let ends = plan.four.as_ref().and_then(|four| Some((*four.first()?, *four.last()?)));
    let mut sentences = vec![if let Some((from, to)) = ends {
        Sentence::FollowUp { winner, loser, from, to, couples }
    } else {
        let is_odd = |cell: &Cell| cell.row.is_multiple_of(2);
        let parity = match () {
            () if plan.held.iter().all(is_odd) => Parity::Odd,
            () if plan.held.iter().any(is_odd) => Parity::Mixed,
            () => Parity::Even,
        };
        Sentence::Zugzwang { winner, loser, cells: plan.held.clone(), parity, couples }
    }];
    if brevity == Brevity::Full {
        sentences.push(match plan.race {
            None => Sentence::NoFourFor { player: loser },
            Some(_) => Sentence::TooLate { player: loser },
        });
    }
    sentences
}

fn draw_sentences(holds: &[Option<Hold>; 2], brevity: Brevity) -> Vec<Sentence> {
    if holds.iter().all(|hold| *hold == Some(Hold::NoFourLeft)) {
        return vec![Sentence::NobodyCanConnect {}];
    }
    let sentence = |(player, hold): (Player, &Option<Hold>)| match hold {
        Some(Hold::NoFourLeft) => Sentence::NoFourLeft { player },
        Some(Hold::Plan(plan)) => Sentence::HoldsByFollowUp {
            player: plan.owner,
            opponent: player,
            couples: couples(plan, brevity),
        },
        None => Sentence::CannotWinByCalculation { player },
    };
    Player::BOTH.into_iter().zip(holds).map(sentence).collect()
}

fn couples(plan: &Plan, brevity: Brevity) -> Couples {
    let columns = plan.couples.iter().map(|couple| couple.map(|cell| cell.column)).collect();
    Couples { columns, only_marked: brevity == Brevity::Shortest }
}
