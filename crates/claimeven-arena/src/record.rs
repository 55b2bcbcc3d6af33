//! A game as it is kept in files.

use std::fmt;

use claimeven_game::{Column, Game, Outcome, Ruleset, Setup};
use claimeven_search::Decision;
use serde::{Deserialize, Serialize};

/// A game: who played, what they played, and how it ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameRecord {
    /// The version of this format, which is 1.
    pub version: u32,
    /// A name for the game that no other of its run has.
    pub id: String,
    /// When the game began, as in RFC 3339.
    pub time: String,
    /// The game that was played.
    pub setup: SetupRecord,
    /// Both players; results speak of them by their place.
    pub players: [PlayerRecord; 2],
    /// Which of the players moved first: 0 or 1.
    pub first_player: usize,
    /// What chance decided by.
    pub seed: u64,
    /// How many moves were given and not chosen by the players.
    pub opening_moves: usize,
    /// The moves from the empty board.
    pub moves: Vec<MoveRecord>,
    /// How the game ended.
    pub result: ResultRecord,
}

/// A setup in a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetupRecord {
    /// Columns.
    pub cols: u8,
    /// Rows.
    pub rows: u8,
    /// How many in a line.
    pub connect: u8,
    /// The name of the ruleset.
    pub ruleset: String,
}

/// A player in a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlayerRecord {
    /// What makes the player: an agent's text, or `human`.
    pub agent: String,
    /// What people call the player.
    pub name: String,
}

/// A move in a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MoveRecord {
    /// The column, counted from 1.
    pub column: u8,
    /// How long the player thought, in milliseconds.
    pub ms: f64,
    /// The positions that it looked at.
    pub nodes: u64,
    /// What it said that the position was worth; `null` for a move it did not choose.
    pub value: Option<String>,
}

/// How a game ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResultRecord {
    /// The place of the winner among the players; `null` for a draw.
    pub winner: Option<usize>,
    /// Why the game ended.
    pub reason: Reason,
    /// How many lines each player had.
    pub scores: [u32; 2],
    /// What happened, for people, where the reason alone does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// Why a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// A line that wins.
    Line,
    /// The board is full.
    BoardFull,
    /// The loser had no time left.
    Time,
    /// The loser could not decide.
    Forfeit,
    /// The loser gave up.
    Resigned,
    /// The players agreed on a draw.
    Agreed,
    /// A player left and did not come back; without a winner, both did.
    Abandoned,
    /// Nobody won: the game was put away before its end.
    Unfinished,
}

impl Reason {
    /// The name by which users and files know the reason.
    pub const fn name(self) -> &'static str {
        match self {
            Reason::Line => "line",
            Reason::BoardFull => "board-full",
            Reason::Time => "time",
            Reason::Forfeit => "forfeit",
            Reason::Resigned => "resigned",
            Reason::Agreed => "agreed",
            Reason::Abandoned => "abandoned",
            Reason::Unfinished => "unfinished",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl GameRecord {
    /// The version of the format that is written and read.
    pub const VERSION: u32 = 1;

    /// Half points of a player: two for a win, one for a draw.
    pub fn half_points(&self, player: usize) -> usize {
        match self.result.winner {
            None => 1,
            Some(winner) => {
                if winner == player {
                    2
                } else {
                    0
                }
            }
        }
    }

    /// The moves as text.
    pub fn move_text(&self) -> String {
        let column = |record: &MoveRecord| {
            Column::from_index(usize::from(record.column).checked_sub(1)?).map(Column::to_char)
        };
        self.moves.iter().filter_map(column).collect()
    }

    /// How long a player thought, in milliseconds.
    pub fn ms(&self, player: usize) -> f64 {
        let moves = self.moves.iter().enumerate();
        // An empty sum of floats is -0.
        moves
            .filter(|(ply, _)| self.mover(*ply) == player)
            .fold(0.0, |sum, (_, played)| sum + played.ms)
    }

    /// The player who made a move, by its place in the game.
    pub fn mover(&self, ply: usize) -> usize {
        (ply + self.first_player) % 2
    }
}

impl MoveRecord {
    /// A move that was given.
    pub fn given(column: Column) -> MoveRecord {
        MoveRecord { column: column.number(), ms: 0.0, nodes: 0, value: None }
    }

    /// A move that a player chose.
    pub fn chosen(decision: &Decision) -> MoveRecord {
        MoveRecord {
            column: decision.column.number(),
            ms: (decision.time.as_secs_f64() * 1e6).round() / 1e3,
            nodes: decision.stats.nodes,
            value: Some(decision.value.to_string()),
        }
    }
}

impl ResultRecord {
    /// The result of a game that ended by the rules; `None` while it goes on.
    pub fn of_game(game: &Game, first_player: usize) -> Option<ResultRecord> {
        let outcome = game.position().outcome()?;
        let by_line =
            game.position().setup().ruleset() == Ruleset::Standard && outcome != Outcome::Draw;
        Some(ResultRecord {
            winner: outcome.winner().map(|winner| (winner.index() + first_player) % 2),
            reason: if by_line { Reason::Line } else { Reason::BoardFull },
            scores: scores(game, first_player),
            detail: None,
        })
    }

    /// The result of a game that a player lost otherwise.
    pub fn lost(game: &Game, first_player: usize, loser: usize, reason: Reason) -> Self {
        let winner = Some(1 - loser);
        ResultRecord { winner, reason, scores: scores(game, first_player), detail: None }
    }

    /// The result of a game that was put away before its end.
    pub fn unfinished(game: &Game, first_player: usize) -> ResultRecord {
        let scores = scores(game, first_player);
        ResultRecord { winner: None, reason: Reason::Unfinished, scores, detail: None }
    }

    /// The same with what happened.
    pub(crate) fn because(self, detail: impl fmt::Display) -> ResultRecord {
        ResultRecord { detail: Some(detail.to_string()), ..self }
    }
}

fn scores(game: &Game, first_player: usize) -> [u32; 2] {
    let [first, second] = game.position().scores();
    if first_player == 0 { [first, second] } else { [second, first] }
}

impl From<Setup> for SetupRecord {
    fn from(setup: Setup) -> Self {
        SetupRecord {
            cols: setup.cols(),
            rows: setup.rows(),
            connect: setup.connect(),
            ruleset: setup.ruleset().name().to_owned(),
        }
    }
}
