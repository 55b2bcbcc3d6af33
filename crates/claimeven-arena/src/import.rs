//! Import of records of older programs.

use std::collections::BTreeMap;
use std::fmt;

use claimeven_game::{Cell, Column, Game, Ruleset, Setup};
use serde::Deserialize;

use crate::plan::{LegacyFirstPlayer, LegacySettings};
use crate::record::{EndReason, GameRecord, MoveRecord, PlayerRecord, ResultRecord};

/// Why an older record cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportError(String);

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ImportError {}

/// A game in the format that [`LegacyRecord`](crate::LegacyRecord) writes.
#[derive(Deserialize)]
struct ImportedRecord {
    player_one_settings: LegacySettings,
    player_two_settings: LegacySettings,
    #[serde(default)]
    time_elapsed_player_one: f64,
    #[serde(default)]
    time_elapsed_player_two: f64,
    /// Rows from the top.
    tab: Vec<Vec<String>>,
    first_player: LegacyFirstPlayer,
    winner: serde_json::Value,
    list_of_moves: BTreeMap<String, ImportedMove>,
}

#[derive(Deserialize)]
struct ImportedMove {
    row: usize,
    col: usize,
    color: String,
}

/// Reads a game in the JSON of older programs and checks it against the rules: the moves must lead
/// to the board and the winner of the record. A game with a winner that is not over counts as
/// resigned.
///
/// The format has neither a date nor the time of each move nor a seed: the game is dated 1970, the
/// time of each player is divided among its moves, and the seed is 0.
pub fn import_legacy(value: &serde_json::Value, id: String) -> Result<GameRecord, ImportError> {
    let old = ImportedRecord::deserialize(value).map_err(|error| ImportError(error.to_string()))?;
    old.record(id).map_err(ImportError)
}

impl ImportedRecord {
    fn record(self, id: String) -> Result<GameRecord, String> {
        let (game, colours) = self.game()?;
        let LegacyFirstPlayer(first_player) = self.first_player;
        self.check_board(&game, &colours)?;
        let winner = winner(&self.winner, &colours, first_player)?;
        let by_rules = ResultRecord::of_game(&game, first_player);
        let result = match (by_rules, winner) {
            (Some(result), _) => result,
            (None, Some(winner)) => {
                ResultRecord::lost(&game, first_player, 1 - winner, EndReason::Resigned)
            }
            (None, None) => ResultRecord::unfinished(&game, first_player),
        };
        if winner != result.winner {
            let name = |winner: Option<usize>| match winner {
                Some(winner) => format!("player {}", winner + 1),
                None => "nobody".to_owned(),
            };
            let (recorded, right) = (name(winner), name(result.winner));
            return Err(format!("the winner is {right} by the moves, not {recorded}"));
        }
        let ms = [self.time_elapsed_player_one, self.time_elapsed_player_two].map(|s| 1e3 * s);
        let moves = game.moves().iter().enumerate().map(|(ply, &column)| {
            let mover = (ply + first_player) % 2;
            let count = (0..game.moves().len()).filter(|ply| (ply + first_player) % 2 == mover);
            MoveRecord { ms: ms[mover] / count.count() as f64, ..MoveRecord::given(column) }
        });
        let moves = moves.collect();
        let player = |settings: LegacySettings| {
            let name = settings.agent.clone();
            let agent = settings.spec().map_or_else(|_| name.clone(), |spec| spec.to_string());
            PlayerRecord { agent, name }
        };
        Ok(GameRecord {
            version: GameRecord::VERSION,
            id,
            time: "1970-01-01T00:00:00Z".to_owned(),
            setup: game.position().setup(),
            players: [player(self.player_one_settings), player(self.player_two_settings)],
            first_player,
            seed: 0,
            time_control: None,
            opening_moves: 0,
            moves,
            result,
        })
    }

    /// The game, and the colours of the first and the second mover.
    fn game(&self) -> Result<(Game, [String; 2]), String> {
        let (rows, cols) = (self.tab.len(), self.tab.first().map_or(0, Vec::len));
        if self.tab.iter().any(|row| row.len() != cols) {
            return Err("the rows of tab differ in length".to_owned());
        }
        let size = |size: usize| u8::try_from(size).map_err(|_| format!("tab is {cols}x{rows}"));
        let setup = Setup::new(size(cols)?, size(rows)?, 4, Ruleset::Standard);
        let setup = setup.map_err(|error| error.to_string())?;
        let mut moves = Vec::new();
        for (number, played) in &self.list_of_moves {
            let place: usize =
                number.parse().map_err(|_| format!("move '{number}' has no number"))?;
            moves.push((place, played));
        }
        moves.sort_by_key(|(place, _)| *place);
        let mut game = Game::new(setup);
        let mut colours: [Option<&str>; 2] = [None; 2];
        for (ply, (number, played)) in moves.into_iter().enumerate() {
            let wrong = |reason: String| format!("move {number}: {reason}");
            let column = Column::from_index(played.col);
            let column = column.ok_or_else(|| wrong(format!("no column {}", played.col)))?;
            game.play(column).map_err(|error| wrong(error.to_string()))?;
            let height = (0..setup.rows())
                .take_while(|&row| game.position().disc(Cell { column, row }).is_some())
                .count();
            if rows - height != played.row {
                return Err(wrong(format!("row {} should be {}", played.row, rows - height)));
            }
            if *colours[ply % 2].get_or_insert(&played.color) != played.color {
                return Err(wrong(format!("the colour {} is not to move", played.color)));
            }
        }
        let [first, second] = colours.map(|colour| colour.unwrap_or_default().to_owned());
        Ok((game, [first, second]))
    }

    fn check_board(&self, game: &Game, colours: &[String; 2]) -> Result<(), String> {
        let setup = game.position().setup();
        let cells = Cell::in_reading_order(setup).zip(self.tab.iter().flatten());
        for (cell, text) in cells {
            let disc = game.position().disc(cell);
            let expected = disc.map_or("", |player| &*colours[player.index()]);
            if text != expected {
                return Err("the moves do not lead to the board of tab".to_owned());
            }
        }
        Ok(())
    }
}

/// The winner, 0 or 1: a number from 1, a name or a colour.
fn winner(
    value: &serde_json::Value,
    colours: &[String; 2],
    first_player: usize,
) -> Result<Option<usize>, String> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match &*text {
        "0" | "null" | "" | "draw" => Ok(None),
        "1" | "player_one" => Ok(Some(0)),
        "2" | "player_two" => Ok(Some(1)),
        colour => {
            let disc = colours.iter().position(|known| known == colour);
            let disc = disc.ok_or_else(|| format!("unknown winner '{colour}'"))?;
            Ok(Some((disc + first_player) % 2))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AgentSpec, LegacyRecord, Match};

    #[test]
    fn exported_records_can_be_imported() {
        let players: [AgentSpec; 2] =
            ["alphabeta:depth=2,eval=nitk", "random"].map(|text| text.parse().unwrap());
        let openings = [Vec::new()];
        let mut games = Vec::new();
        Match::new(Setup::STANDARD, players.each_ref(), &openings)
            .with_pairs(5)
            .run(|pair, _| games.extend_from_slice(pair))
            .unwrap();
        for game in games {
            let json = serde_json::to_value(LegacyRecord::new(&game).unwrap()).unwrap();
            let again = import_legacy(&json, game.id.clone()).unwrap();
            assert_eq!(again.move_text(), game.move_text());
            assert_eq!((again.first_player, &again.result), (game.first_player, &game.result));
            assert_eq!(
                [0, 1].map(|side| &again.players[side].agent),
                [0, 1].map(|side| &game.players[side].agent)
            );
            assert!((again.ms(0) - game.ms(0)).abs() < 1e-6);
            assert!(again.replay().is_ok());

            let damaged = |change: &dyn Fn(&mut serde_json::Value)| {
                let mut json = json.clone();
                change(&mut json);
                import_legacy(&json, "1".to_owned()).unwrap_err().to_string()
            };
            let error = damaged(&|json| json["winner"] = 0.into());
            assert!(error.ends_with("by the moves, not nobody"), "{error}");
            let error = damaged(&|json| json["tab"][5][0] = "blue".into());
            assert_eq!(error, "the moves do not lead to the board of tab");
            let error = damaged(&|json| json["list_of_moves"]["1"]["row"] = 0.into());
            assert_eq!(error, "move 1: row 0 should be 5");
            let error = damaged(&|json| drop(json.as_object_mut().unwrap().remove("tab")));
            assert_eq!(error, "missing field `tab`");
        }
    }
}
