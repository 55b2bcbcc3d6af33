//! Game records: the JSON of finished games.

use std::fmt;

use claimeven_game::{Column, Game, Outcome, Ruleset, Setup};
use claimeven_search::Decision;
use serde::{Deserialize, Serialize};

/// A recorded game: players, moves and result.
///
/// ```
/// use claimeven_arena::GameRecord;
///
/// let text = r#"{"version":1,"id":"1","time":"2026-01-01T00:00:00Z",
///     "setup":{"cols":2,"rows":1,"connect":2,"ruleset":"standard"},
///     "players":[{"agent":"human","name":"Ada"},{"agent":"random","name":"random"}],
///     "first_player":0,"seed":1,"opening_moves":0,
///     "moves":[{"column":1,"ms":0.0,"nodes":0,"value":null},
///              {"column":2,"ms":0.0,"nodes":1,"value":"draw"}],
///     "result":{"winner":null,"reason":"board-full","scores":[0,0]}}"#;
/// let record: GameRecord = serde_json::from_str(text)?;
/// assert_eq!(record.replay()?.move_text(), "12");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameRecord {
    /// The version of the format: [`GameRecord::VERSION`].
    pub version: u32,
    /// An identifier that is unique in its match or tournament.
    pub id: String,
    /// The start of the game, in RFC 3339.
    pub time: String,
    /// The board and the rules.
    pub setup: Setup,
    /// Both players; other fields refer to them as 0 and 1.
    pub players: [PlayerRecord; 2],
    /// The player who moved first: 0 or 1.
    pub first_player: usize,
    /// The seed of the players' random choices.
    pub seed: u64,
    /// The time control, if there is one: `60+0.5`, or `1/0.1` for a tenth of a second per move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_control: Option<String>,
    /// The number of opening moves, which the players did not choose.
    pub opening_moves: usize,
    /// The moves from the empty board.
    pub moves: Vec<MoveRecord>,
    /// How the game ended.
    pub result: ResultRecord,
}

/// A player in a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlayerRecord {
    /// The agent text, or `human`.
    pub agent: String,
    /// The displayed name.
    pub name: String,
}

/// A move in a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MoveRecord {
    /// The column, from 1.
    pub column: u8,
    /// The thinking time in milliseconds.
    pub ms: f64,
    /// Nodes searched.
    pub nodes: u64,
    /// The player's evaluation of the position; `null` for an opening move.
    pub value: Option<String>,
}

/// The result of a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResultRecord {
    /// The winner, 0 or 1; `null` for a draw.
    pub winner: Option<usize>,
    /// Why the game ended.
    pub reason: EndReason,
    /// The number of lines of each player.
    pub scores: [u32; 2],
    /// Details in words, such as the error of a player who forfeited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// Why a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum EndReason {
    /// The winner connected four (or the connect length of the setup).
    Line,
    /// The board is full.
    BoardFull,
    /// The loser ran out of time.
    Time,
    /// The loser failed or made an illegal move.
    Forfeit,
    /// The loser resigned.
    Resigned,
    /// The players agreed on a draw.
    Agreed,
    /// A player left and did not come back; without a winner, both did.
    Abandoned,
    /// The game was stopped before its end, without a winner.
    Unfinished,
}

impl EndReason {
    /// The name in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            EndReason::Line => "line",
            EndReason::BoardFull => "board-full",
            EndReason::Time => "time",
            EndReason::Forfeit => "forfeit",
            EndReason::Resigned => "resigned",
            EndReason::Agreed => "agreed",
            EndReason::Abandoned => "abandoned",
            EndReason::Unfinished => "unfinished",
        }
    }
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl GameRecord {
    /// The version of the format that is written and read.
    pub const VERSION: u32 = 1;

    /// The half points of a player: two for a win, one for a draw.
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

    /// The thinking time of a player in milliseconds.
    pub fn ms(&self, player: usize) -> f64 {
        let moves = self.moves.iter().enumerate();
        // An empty sum of floats is -0.
        moves
            .filter(|(ply, _)| self.mover(*ply) == player)
            .fold(0.0, |sum, (_, played)| sum + played.ms)
    }

    /// The player who made the move at a ply, counted from 0.
    pub fn mover(&self, ply: usize) -> usize {
        (ply + self.first_player) % 2
    }
}

impl MoveRecord {
    /// An opening move.
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
    /// The result by the rules; `None` if the game is not over.
    pub fn of_game(game: &Game, first_player: usize) -> Option<ResultRecord> {
        let outcome = game.position().outcome()?;
        let by_line =
            game.position().setup().ruleset() == Ruleset::Standard && outcome != Outcome::Draw;
        Some(ResultRecord {
            winner: outcome.winner().map(|winner| (winner.index() + first_player) % 2),
            reason: if by_line { EndReason::Line } else { EndReason::BoardFull },
            scores: scores(game, first_player),
            detail: None,
        })
    }

    /// The result of a game that a player lost for a reason other than the rules.
    pub fn lost(game: &Game, first_player: usize, loser: usize, reason: EndReason) -> Self {
        let winner = Some(1 - loser);
        ResultRecord { winner, reason, scores: scores(game, first_player), detail: None }
    }

    /// The result of a game that was stopped before its end.
    pub fn unfinished(game: &Game, first_player: usize) -> ResultRecord {
        let scores = scores(game, first_player);
        ResultRecord { winner: None, reason: EndReason::Unfinished, scores, detail: None }
    }

    /// The same result with details.
    pub(crate) fn with_detail(self, detail: impl fmt::Display) -> ResultRecord {
        ResultRecord { detail: Some(detail.to_string()), ..self }
    }
}

fn scores(game: &Game, first_player: usize) -> [u32; 2] {
    let [first, second] = game.position().scores();
    if first_player == 0 { [first, second] } else { [second, first] }
}
