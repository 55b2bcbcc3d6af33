//! Records in the formats of other programs.

use std::fmt::{self, Write};

use claimeven_game::{Cell, Game};
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::record::{EndReason, GameRecord, PlayerRecord};
use crate::replay::RecordError;

/// A game in the format of older programs, for writing as JSON.
///
/// Player one is the first of the record's players and has the red discs, whoever moves first.
/// Rows and columns count from 0, row 0 at the top.
#[derive(Clone, Debug, serde::Serialize)]
pub struct LegacyRecord {
    moves_count: usize,
    player_one_settings: LegacySettings,
    player_two_settings: LegacySettings,
    /// Seconds.
    time_elapsed_player_one: f64,
    time_elapsed_player_two: f64,
    /// The last position, top row first: `red`, `black` or empty.
    tab: Vec<Vec<&'static str>>,
    /// 1 or 2.
    first_player: usize,
    /// 1 or 2; 0 for a draw.
    winner: usize,
    list_of_moves: LegacyMoves,
}

#[derive(Clone, Debug, serde::Serialize)]
struct LegacySettings {
    #[serde(rename = "AI")]
    ai: String,
    options: LegacyOptions,
}

/// Parameters by name.
#[derive(Clone, Debug)]
struct LegacyOptions(Vec<(String, String)>);

/// Moves by number, from 1.
#[derive(Clone, Debug)]
struct LegacyMoves(Vec<LegacyMove>);

#[derive(Clone, Debug, serde::Serialize)]
struct LegacyMove {
    row: usize,
    col: usize,
    color: &'static str,
}

const COLOURS: [&str; 2] = ["red", "black"];

impl LegacyRecord {
    /// Replays a record and converts it to the older format.
    pub fn new(record: &GameRecord) -> Result<LegacyRecord, RecordError> {
        let game = record.replay()?;
        let position = game.position();
        let setup = position.setup();
        let colour = |disc: usize| COLOURS[(disc + record.first_player) % 2];
        let cells: Vec<&str> = Cell::in_reading_order(setup)
            .map(|cell| position.disc(cell).map_or("", |player| colour(player.index())))
            .collect();
        let [one, two] = &record.players;
        Ok(LegacyRecord {
            moves_count: record.moves.len(),
            player_one_settings: LegacySettings::new(one),
            player_two_settings: LegacySettings::new(two),
            time_elapsed_player_one: record.ms(0) / 1e3,
            time_elapsed_player_two: record.ms(1) / 1e3,
            tab: cells.chunks(setup.cols().into()).map(<[_]>::to_vec).collect(),
            first_player: record.first_player + 1,
            winner: record.result.winner.map_or(0, |winner| winner + 1),
            list_of_moves: LegacyMoves::new(&game, colour),
        })
    }
}

impl LegacySettings {
    fn new(player: &PlayerRecord) -> LegacySettings {
        let (ai, options) = match player.agent.parse::<crate::AgentSpec>() {
            Ok(spec) => {
                let option = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
                (spec.kind().name.to_owned(), spec.all_given().map(option).collect())
            }
            // A person, or a player that this program no longer has.
            Err(_) => (player.agent.clone(), Vec::new()),
        };
        LegacySettings { ai, options: LegacyOptions(options) }
    }
}

impl LegacyMoves {
    fn new(game: &Game, colour: impl Fn(usize) -> &'static str) -> LegacyMoves {
        let setup = game.position().setup();
        let mut heights = vec![0; setup.cols().into()];
        let moves = game.moves().iter().enumerate().map(|(ply, column)| {
            let col = column.index();
            heights[col] += 1;
            LegacyMove {
                row: usize::from(setup.rows()) - heights[col],
                col,
                color: colour(ply % 2),
            }
        });
        LegacyMoves(moves.collect())
    }
}

impl Serialize for LegacyOptions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl Serialize for LegacyMoves {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (number, played) in (1..).zip(&self.0) {
            map.serialize_entry(&u64::to_string(&number), played)?;
        }
        map.end()
    }
}

/// The date in the format of PGN.
fn pgn_date(time: &str) -> String {
    let day = time.split('T').next().unwrap_or_default();
    let is_day = day.len() == 10 && day.chars().all(|sign| sign.is_ascii_digit() || sign == '-');
    if is_day { day.replace('-', ".") } else { "????.??.??".to_owned() }
}

/// The time of day in the format of PGN, if it is known.
fn pgn_time(time: &str) -> Option<&str> {
    let (_, time) = time.split_once('T')?;
    let time = time.get(..8)?;
    time.chars().all(|sign| sign.is_ascii_digit() || sign == ':').then_some(time)
}

/// The termination of a game in PGN.
fn pgn_termination(reason: EndReason) -> &'static str {
    match reason {
        EndReason::Line | EndReason::BoardFull | EndReason::Resigned | EndReason::Agreed => {
            "normal"
        }
        EndReason::Time => "time forfeit",
        EndReason::Forfeit => "rules infraction",
        EndReason::Abandoned => "abandoned",
        EndReason::Unfinished => "unterminated",
    }
}

/// A game as text like the PGN of chess: headers, then the moves in pairs and the result. White is
/// the player who moved first.
///
/// ```
/// use claimeven_arena::{AgentSpec, Match, pgn};
/// use claimeven_game::Setup;
///
/// let players: [AgentSpec; 2] = ["level:1".parse()?, "random".parse()?];
/// let openings = [Vec::new()];
/// let mut texts = Vec::new();
/// let planned = Match::new(Setup::STANDARD, players.each_ref(), &openings);
/// planned.run(|games, _| texts.extend(games.iter().map(pgn)))?;
/// assert!(texts.iter().flatten().all(|text| text.starts_with("[Event \"Connect Four\"]")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn pgn(record: &GameRecord) -> Result<String, RecordError> {
    let game = record.replay()?;
    let result = match record.result.winner {
        None if record.result.reason == EndReason::Unfinished => "*",
        None => "1/2-1/2",
        Some(winner) if winner == record.first_player => "1-0",
        Some(_) => "0-1",
    };
    let [first, second] = [0, 1].map(|place| &record.players[(place + record.first_player) % 2]);
    let mut text = String::new();
    let mut header = |name: &str, value: &dyn fmt::Display| {
        let value = value.to_string().replace('\\', "\\\\").replace('"', "\\\"");
        writeln!(text, "[{name} \"{value}\"]").expect("writing to a string cannot fail");
    };
    // The seven-tag roster of PGN, in its order. White moves first.
    header("Event", &"Connect Four");
    header("Site", &"?");
    header("Date", &pgn_date(&record.time));
    header("Round", &record.id);
    header("White", &first.name);
    header("Black", &second.name);
    header("Result", &result);
    header("UTCDate", &pgn_date(&record.time));
    if let Some(time) = pgn_time(&record.time) {
        header("UTCTime", &time);
    }
    header("TimeControl", &record.time_control.as_deref().unwrap_or("-"));
    header("Termination", &pgn_termination(record.result.reason));
    header("Reason", &record.result.reason);
    if let Some(detail) = &record.result.detail {
        header("Detail", detail);
    }
    header("Setup", &game.position().setup());
    header("OpeningMoves", &record.opening_moves);
    header("Seed", &record.seed);
    text.push('\n');

    let mut line = String::new();
    let numbered = game.moves().chunks(2).zip(1..).map(|(pair, number)| {
        let columns: Vec<String> = pair.iter().map(ToString::to_string).collect();
        format!("{number}. {}", columns.join(" "))
    });
    for word in numbered.chain([result.to_owned()]) {
        if !line.is_empty() && line.len() + 1 + word.len() > 79 {
            text.push_str(&line);
            text.push('\n');
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
    }
    text.push_str(&line);
    text.push('\n');
    Ok(text)
}
