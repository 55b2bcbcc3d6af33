//! Why a position is won, lost or drawn, as values. `sentence.rs` turns them into sentences.

use claimeven_game::{Cell, Column, Player, Position};
use claimeven_solver::Score;

use crate::diagram::Diagram;
use crate::plan::Plan;

/// Why a position is won, lost or drawn: best play up to a position whose result has a [`Reason`].
///
/// ```
/// use claimeven_coach::{Coach, Reason};
/// use claimeven_game::{Player, Position, Setup};
///
/// let position = Position::from_moves(Setup::STANDARD, "445566")?;
/// let explanation = Coach::new().explain(&position)?;
/// assert_eq!(explanation.winner(), Some(Player::First));
/// assert!(matches!(explanation.reason, Reason::WinsNow { .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Explanation {
    /// The position that is explained.
    pub position: Position,
    /// Its exact score for the side to move.
    pub score: Score,
    /// Best play from it to the position of the reason.
    pub line: Vec<Column>,
    /// Why the position after the line is won, lost or drawn.
    pub reason: Reason,
}

/// Why a position is won, lost or drawn.
///
/// Each reason is about one position, and [`verify`](crate::verify()) plays it out against every
/// reply.
///
/// ```
/// use claimeven_coach::{Coach, Reason, verify};
/// use claimeven_game::{Position, Setup};
///
/// let position = Position::from_moves(Setup::STANDARD, "445566")?;
/// let explanation = Coach::new().explain(&position)?;
/// if let Reason::WinsNow { winner, cell, .. } = explanation.reason {
///     println!("{winner} connects four in {cell}");
/// }
/// assert!(verify(&position, &explanation.reason));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The game is over.
    Over {
        /// Who has connected four; `None` for a draw.
        winner: Option<Player>,
        /// The winning discs.
        four: Vec<Cell>,
    },
    /// The side to move connects four.
    WinsNow {
        /// The side to move.
        winner: Player,
        /// Where.
        cell: Cell,
        /// The four cells, including that one.
        four: Vec<Cell>,
    },
    /// The side to move can block only one of two fours.
    DoubleThreat {
        /// Who connects four next.
        winner: Player,
        /// The cells to block: both can be played now, or the second is right above the first.
        cells: [Cell; 2],
        /// The four that each of them completes.
        fours: [Vec<Cell>; 2],
    },
    /// Every move of the side to move lets the opponent connect four right above it.
    EveryMoveOpens {
        /// Who connects four next.
        winner: Player,
        /// The cells that open.
        cells: Vec<Cell>,
    },
    /// A sequence of threats that have to be blocked.
    Forced {
        /// Who makes the threats.
        winner: Player,
        /// The moves of both sides; those of the loser are forced.
        moves: Vec<Column>,
        /// Why the position after them is won.
        end: Box<Reason>,
    },
    /// A plan that answers every move until it wins.
    Plan(Plan),
    /// Whatever the side to move plays, a sequence of forced moves follows.
    EveryReply {
        /// Who wins.
        winner: Player,
        /// The refutation of each move that does not lose at once.
        replies: Vec<(Column, Reason)>,
    },
    /// A strategy by numbers on the cells: see [`Diagram`].
    Numbers {
        /// Who wins by them.
        winner: Player,
        /// The numbers.
        diagram: Diagram,
    },
    /// Nobody wins.
    Draw {
        /// Why each player cannot win, first player first; `None` if only calculation shows it.
        holds: [Option<Hold>; 2],
    },
    /// Only calculation shows the result.
    Calculation {
        /// The number of moves until the end of the game under best play.
        plies: u32,
    },
}

/// Why a player cannot win.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hold {
    /// Every four-cell group has a disc of the opponent.
    NoFourLeft,
    /// The opponent has a plan against it.
    Plan(Plan),
}

/// Something to draw on the board of a reason.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "self-explanatory")]
pub enum Mark {
    /// A four in a row, on the board or to come.
    Four {
        /// Whose.
        player: Player,
        cells: Vec<Cell>,
    },
    /// The deciding cell.
    Ring {
        /// Who wins there.
        player: Player,
        cell: Cell,
    },
    /// Two cells: the owner answers one with the other.
    Pair {
        /// Who answers.
        owner: Player,
        /// The two cells, the lower one first if they are in one column.
        cells: [Cell; 2],
    },
    /// Cells that the owner of a plan leaves alone.
    Held {
        /// From below the deciding cell to the top.
        cells: Vec<Cell>,
    },
    /// A move of the line or of a forced sequence.
    Move {
        /// Who plays it.
        player: Player,
        /// Where it lands.
        cell: Cell,
        /// Its number in the line, from 1.
        number: usize,
    },
    /// A number of a diagram.
    Number { cell: Cell, number: u8 },
}

impl Explanation {
    /// The position that the reason is about.
    pub fn end(&self) -> Position {
        after_all(&self.position, &self.line)
    }

    /// The winner under best play.
    pub fn winner(&self) -> Option<Player> {
        let player = self.position.player();
        match self.score.sign() {
            0 => None,
            1 => Some(player),
            _ => Some(player.opponent()),
        }
    }

    /// Whether the reason needs no search.
    pub fn is_proven(&self) -> bool {
        match &self.reason {
            Reason::Calculation { .. } => false,
            Reason::Draw { holds } => holds.iter().all(Option::is_some),
            _ => true,
        }
    }

    /// What to draw on the board of the position, the moves of the line first.
    pub fn marks(&self) -> Vec<Mark> {
        let mut marks = move_marks(&self.position, &self.line, 0);
        marks.extend(self.reason.marks(&self.end(), self.line.len()));
        marks
    }
}

impl Reason {
    /// The name of the kind in JSON.
    pub fn kind(&self) -> &'static str {
        match self {
            Reason::Over { .. } => "over",
            Reason::WinsNow { .. } => "wins_now",
            Reason::DoubleThreat { .. } => "double_threat",
            Reason::EveryMoveOpens { .. } => "every_move_opens",
            Reason::Forced { .. } => "forced",
            Reason::Plan(plan) if plan.held.is_empty() => "follow_up",
            Reason::Plan(_) => "zugzwang",
            Reason::EveryReply { .. } => "every_reply",
            Reason::Numbers { .. } => "numbers",
            Reason::Draw { .. } => "draw",
            Reason::Calculation { .. } => "calculation",
        }
    }

    /// What to draw; the first move has the number `before + 1`.
    fn marks(&self, position: &Position, before: usize) -> Vec<Mark> {
        match self {
            Reason::Over { winner, four } => {
                let four = |&player: &Player| Mark::Four { player, cells: four.clone() };
                winner.iter().map(four).collect()
            }
            Reason::WinsNow { winner, cell, four } => vec![
                Mark::Four { player: *winner, cells: four.clone() },
                Mark::Ring { player: *winner, cell: *cell },
            ],
            Reason::DoubleThreat { winner, cells, fours } => {
                let four = |cells: &Vec<Cell>| Mark::Four { player: *winner, cells: cells.clone() };
                let ring = |&cell: &Cell| Mark::Ring { player: *winner, cell };
                fours.iter().map(four).chain(cells.iter().map(ring)).collect()
            }
            Reason::EveryMoveOpens { winner, cells } => {
                cells.iter().map(|&cell| Mark::Ring { player: *winner, cell }).collect()
            }
            Reason::Forced { moves, end, .. } => {
                let mut marks = move_marks(position, moves, before);
                marks.extend(end.marks(&after_all(position, moves), before + moves.len()));
                marks
            }
            Reason::Plan(plan) => plan.marks(position),
            Reason::EveryReply { replies, .. } => {
                let Some((reply, reason)) = longest(replies) else { return Vec::new() };
                let mut marks = move_marks(position, &[*reply], before);
                marks.extend(reason.marks(&after_all(position, &[*reply]), before + 1));
                marks
            }
            Reason::Numbers { diagram, .. } => Cell::in_reading_order(position.setup())
                .filter(|&cell| position.disc(cell).is_none())
                .map(|cell| Mark::Number { cell, number: diagram.number(position.setup(), cell) })
                .collect(),
            Reason::Draw { holds } => {
                let plan = holds.iter().flatten().find_map(|hold| match hold {
                    Hold::Plan(plan) => Some(plan),
                    Hold::NoFourLeft => None,
                });
                plan.map_or(Vec::new(), |plan| plan.marks(position))
            }
            Reason::Calculation { .. } => Vec::new(),
        }
    }
}

/// The reply that delays the loss longest.
pub(crate) fn longest(replies: &[(Column, Reason)]) -> Option<&(Column, Reason)> {
    replies.iter().max_by_key(|(_, reason)| match reason {
        Reason::Forced { moves, .. } => moves.len(),
        _ => 0,
    })
}

/// The position after moves, which must be legal.
pub(crate) fn after_all(position: &Position, moves: &[Column]) -> Position {
    let mut position = *position;
    for &column in moves {
        position.play(column).expect("the moves of an explanation are legal");
    }
    position
}

/// The cell in which the next disc of an open column lands.
pub(crate) fn landing(position: &Position, column: Column) -> Cell {
    let row = (0..position.setup().rows())
        .find(|&row| position.disc(Cell { column, row }).is_none())
        .expect("the column is open");
    Cell { column, row }
}

fn move_marks(position: &Position, moves: &[Column], before: usize) -> Vec<Mark> {
    let mut position = *position;
    let mut marks = Vec::new();
    for (number, &column) in (before + 1..).zip(moves) {
        marks.push(Mark::Move {
            player: position.player(),
            cell: landing(&position, column),
            number,
        });
        position.play(column).expect("the moves of an explanation are legal");
    }
    marks
}
