//! Tournament plans in TOML and JSON.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use claimeven_game::{Column, Game, Setup};
use claimeven_zero::ModelStore;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::external::EnginePool;
use crate::game::{Clock, TimeControl};
use crate::openings::{OpeningError, OpeningSearch, Openings};
use crate::roster::{AgentSpec, write_suggestion};

/// A valid tournament: its players have distinct names and support its setup.
///
/// ```
/// use claimeven_arena::TournamentPlan;
///
/// let plan = TournamentPlan::from_toml(r#"
///     games = 10
///     players = ["random", { agent = "alphabeta:depth=4", name = "four" }, "level:3"]
///     anchor = { player = "random", elo = 0 }
/// "#).unwrap();
/// assert_eq!(plan.games(), 30);
///
/// let error = TournamentPlan::from_toml("players = ['random', 'alphabet']").unwrap_err();
/// assert!(error.to_string().starts_with("line 1: unknown player 'alphabet'"), "{error}");
/// ```
#[derive(Clone, Debug)]
pub struct TournamentPlan {
    pub(crate) title: Option<String>,
    pub(crate) format: Format,
    pub(crate) players: Vec<Entrant>,
    pub(crate) fixtures: Vec<Fixture>,
    /// `None` for [`Openings::choose_default`].
    pub(crate) openings: Option<Openings>,
    pub(crate) seed: u64,
    pub(crate) setup: Setup,
    pub(crate) time: TimeControl,
    /// The memory limit of each player's tree, in bytes.
    pub(crate) memory: Option<usize>,
    /// The index of the player whose rating is fixed, and its rating.
    pub(crate) anchor: Option<(usize, f64)>,
}

/// The format of a tournament.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// All players meet each other.
    #[default]
    RoundRobin,
    /// The first player meets all others.
    Gauntlet,
    /// The pairings are listed.
    Pairings,
}

/// A player of a tournament.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "self-explanatory")]
pub struct Entrant {
    /// The displayed name, unique in its tournament.
    pub name: String,
    pub agent: AgentSpec,
}

/// A pairing of a tournament.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fixture {
    /// The players, by their indices in [`TournamentPlan::players`].
    pub players: [usize; 2],
    /// Which of the two moves first in the first game, 0 or 1; they alternate after that.
    pub first_player: usize,
    /// The number of games.
    pub games: u64,
}

/// The maximum number of games of a tournament.
const MAX_GAMES: u64 = 10_000_000;

impl TournamentPlan {
    /// A round robin with the default openings, seed 1, no time limits, and this many games per
    /// pairing.
    ///
    /// ```
    /// use claimeven_arena::{AgentSpec, Openings, TournamentPlan};
    /// use claimeven_game::Setup;
    ///
    /// let players = ["random", "level:1", "level:2"].map(|text| text.parse::<AgentSpec>().unwrap());
    /// let plan = TournamentPlan::round_robin(Setup::STANDARD, players, 10)?;
    /// let plan = plan.with_title("Beginners").with_openings(Openings::Random(4)).with_seed(7);
    /// assert_eq!(plan.games(), 30);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn round_robin(
        setup: Setup,
        players: impl IntoIterator<Item = AgentSpec>,
        games: u64,
    ) -> Result<TournamentPlan, PlanError> {
        let games = Games::try_from(games).map_err(|message| PlanError { line: None, message })?;
        let entrant = |agent| EntrantFile { agent, name: None };
        let file = PlanFile {
            title: None,
            format: Format::RoundRobin,
            players: players.into_iter().map(entrant).collect(),
            pairings: None,
            games: Some(games),
            openings: None,
            seed: None,
            time: None,
            move_time: None,
            memory_mb: None,
            setup,
            anchor: None,
        };
        TournamentPlan::check(file, "", None)
    }

    /// Sets the title.
    #[must_use]
    pub fn with_title(self, title: impl Into<String>) -> TournamentPlan {
        TournamentPlan { title: Some(title.into()), ..self }
    }

    /// Sets the openings.
    #[must_use]
    pub fn with_openings(self, openings: Openings) -> TournamentPlan {
        TournamentPlan { openings: Some(openings), ..self }
    }

    /// Sets the seed of openings and random choices.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> TournamentPlan {
        TournamentPlan { seed, ..self }
    }

    /// Sets the time limits.
    #[must_use]
    pub fn with_time(self, time: TimeControl) -> TournamentPlan {
        TournamentPlan { time, ..self }
    }

    /// The title.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// The players.
    pub fn players(&self) -> &[Entrant] {
        &self.players
    }

    /// Reads a plan from the text of a TOML file.
    pub fn from_toml(text: &str) -> Result<TournamentPlan, PlanError> {
        let file = toml::from_str(text).map_err(|error| PlanError {
            line: error.span().map(|span| line_at(text, span.start)),
            message: one_line(error.message()),
        })?;
        TournamentPlan::check(file, text, Some(&ModelStore::default()))
    }

    /// Reads a plan from JSON: the same keys as in TOML, or a list of games.
    ///
    /// A game of a list has `player_one_settings` and `player_two_settings`, each with a player's
    /// name as `AI` and its parameters as `options`, and optionally a `first_player`, 1 or 2. Other
    /// keys, as in game records, are ignored. Games start from the empty board.
    pub fn from_json(text: &str) -> Result<TournamentPlan, PlanError> {
        TournamentPlan::from_json_with(text, &ModelStore::default())
    }

    /// Reads a plan from JSON; its players find their models in a store.
    pub fn from_json_with(text: &str, models: &ModelStore) -> Result<TournamentPlan, PlanError> {
        let wrong = |error: serde_json::Error| {
            let message = error.to_string();
            let end = message.rfind(" at line ").unwrap_or(message.len());
            PlanError { line: Some(error.line()), message: one_line(&message[..end]) }
        };
        if text.trim_start().starts_with('[') {
            TournamentPlan::from_games(serde_json::from_str(text).map_err(wrong)?)
        } else {
            TournamentPlan::check(serde_json::from_str(text).map_err(wrong)?, text, Some(models))
        }
    }

    /// The number of games.
    pub fn games(&self) -> u64 {
        self.fixtures.iter().map(|fixture| fixture.games).sum()
    }

    /// Starts choosing the openings of the tournament in steps. If the plan is given these openings
    /// afterwards, it has the same games.
    pub fn opening_search(&self) -> Result<OpeningSearch, OpeningError> {
        OpeningSearch::new(self.openings.clone(), self.setup, self.max_openings(), self.seed)
    }

    /// The number of games of the longest fixture.
    pub(crate) fn rounds(&self) -> u64 {
        self.fixtures.iter().map(|fixture| fixture.games).max().unwrap_or(0)
    }

    /// The maximum number of openings used: each is played twice.
    pub(crate) fn max_openings(&self) -> usize {
        self.rounds().div_ceil(2) as usize
    }

    fn check(
        file: PlanFile,
        text: &str,
        models: Option<&ModelStore>,
    ) -> Result<TournamentPlan, PlanError> {
        let wrong =
            |value: &str, message: String| PlanError { line: line_of(text, value), message };
        let setup = file.setup;
        let engines = EnginePool::default();
        let mut players: Vec<Entrant> = Vec::new();
        for EntrantFile { agent, name } in file.players {
            let name = name.unwrap_or_else(|| agent.to_string());
            if players.iter().any(|known| known.name == name) {
                let message = format!("two players are named '{name}'; rename one of them");
                return Err(wrong(&name, message));
            }
            let agent = match models {
                Some(models) => agent.with_models(models),
                None => agent,
            };
            let agent = agent.with_engines(&engines);
            agent.build(setup, 0).map_err(|error| wrong(&agent.to_string(), error.to_string()))?;
            players.push(Entrant { name, agent });
        }
        if players.len() < 2 {
            let message = format!("a tournament needs at least 2 players, not {}", players.len());
            return Err(PlanError { line: None, message });
        }
        let place = |name: &str| {
            let place = players.iter().position(|player| player.name == name);
            place.ok_or_else(|| {
                let names: Vec<&str> = players.iter().map(|player| player.name.as_str()).collect();
                wrong(name, format!("unknown player '{name}' (players: {})", names.join(", ")))
            })
        };
        let fixtures: Vec<[usize; 2]> = match (file.format, &file.pairings) {
            (Format::RoundRobin, None) => (0..players.len())
                .flat_map(|a| (a + 1..players.len()).map(move |b| [a, b]))
                .collect(),
            (Format::Gauntlet, None) => (1..players.len()).map(|other| [0, other]).collect(),
            (Format::Pairings, Some(pairings)) => pairings
                .iter()
                .map(|[a, b]| match [place(a)?, place(b)?] {
                    [a, b] if a != b => Ok([a, b]),
                    _ => Err(wrong(a, format!("'{a}' cannot play against itself"))),
                })
                .collect::<Result<_, _>>()?,
            (Format::Pairings, None) => {
                let message = "format = \"pairings\" requires a list of pairings".to_owned();
                return Err(wrong("pairings", message));
            }
            (_, Some(_)) => {
                let message = "a list of pairings requires format = \"pairings\"".to_owned();
                return Err(PlanError { line: None, message });
            }
        };
        let games = file.games.map_or(20, |Games(games)| games);
        let fixtures: Vec<Fixture> = fixtures
            .into_iter()
            .map(|players| Fixture { players, first_player: 0, games })
            .collect();
        let total = games.saturating_mul(fixtures.len() as u64);
        if !(1..=MAX_GAMES).contains(&total) {
            let message = format!("the number of games must be from 1 to {MAX_GAMES}, not {total}");
            return Err(PlanError { line: None, message });
        }
        let anchor = file.anchor.map(|anchor| Ok((place(&anchor.player)?, anchor.elo.0)));
        let openings = match file.openings {
            Some(OpeningsFile::Given(texts)) => {
                let given = texts
                    .iter()
                    .map(|moves| opening(setup, moves).map_err(|message| wrong(moves, message)));
                Some(Openings::Given(given.collect::<Result<_, _>>()?))
            }
            Some(OpeningsFile::Kind(openings)) => Some(openings),
            None => None,
        };
        Ok(TournamentPlan {
            title: file.title,
            format: file.format,
            anchor: anchor.transpose()?,
            players,
            fixtures,
            openings,
            seed: file.seed.unwrap_or(1),
            setup,
            time: TimeControl {
                clock: file.time,
                per_move: file.move_time.map(|MoveTime(ms)| Duration::from_millis(ms)),
            },
            memory: file.memory_mb.map(|MemoryMb(megabytes)| megabytes << 20),
        })
    }

    fn from_games(games: Vec<LegacyGame>) -> Result<TournamentPlan, PlanError> {
        if games.is_empty() {
            return Err(PlanError { line: None, message: "the list has no games".to_owned() });
        }
        let engines = EnginePool::default();
        let mut players: Vec<Entrant> = Vec::new();
        let mut fixtures = Vec::new();
        for game in games {
            let mut place = |LegacyPlayer(agent): LegacyPlayer| {
                let name = agent.to_string();
                let known = players.iter().position(|player| player.name == name);
                known.unwrap_or_else(|| {
                    players.push(Entrant { name, agent: agent.with_engines(&engines) });
                    players.len() - 1
                })
            };
            let pairing = [place(game.player_one_settings), place(game.player_two_settings)];
            let first_player = game.first_player.map_or(0, |LegacyFirstPlayer(place)| place);
            fixtures.push(Fixture { players: pairing, first_player, games: 1 });
        }
        Ok(TournamentPlan {
            title: None,
            format: Format::Pairings,
            players,
            fixtures,
            openings: Some(Openings::None),
            seed: 1,
            setup: Setup::STANDARD,
            time: TimeControl::default(),
            memory: None,
            anchor: None,
        })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Format::RoundRobin => "round robin",
            Format::Gauntlet => "gauntlet",
            Format::Pairings => "pairings",
        })
    }
}

/// Why a plan is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlanError {
    /// The line of the error, from 1, if it is known.
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for PlanError {}

fn line_at(text: &str, offset: usize) -> usize {
    1 + text[..offset].matches('\n').count()
}

/// The last line that contains a value in quotes: the most likely line of an error that is found
/// after parsing, when positions are no longer known. References come after what they refer to.
fn line_of(text: &str, value: &str) -> Option<usize> {
    let places = ['"', '\''].map(|quote| text.rfind(&format!("{quote}{value}{quote}")));
    places.into_iter().flatten().max().map(|offset| line_at(text, offset))
}

/// The message of a parser in one line; an unknown key comes with a suggestion.
fn one_line(message: &str) -> String {
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut quoted = message.split('`').skip(1).step_by(2);
    match quoted.next() {
        Some(key) if message.starts_with("unknown field") => {
            UnknownKey(key, quoted.collect()).to_string()
        }
        _ => message,
    }
}

/// A key that is not allowed, and those that are.
struct UnknownKey<'a>(&'a str, Vec<&'a str>);

impl fmt::Display for UnknownKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnknownKey(key, known) = self;
        write!(f, "unknown key '{key}'")?;
        write_suggestion(f, key, known)?;
        write!(f, " (available: {})", known.join(", "))
    }
}

fn opening(setup: Setup, moves: &str) -> Result<Vec<Column>, String> {
    let game = Game::parse(setup, moves).map_err(|error| format!("opening '{moves}': {error}"))?;
    match game.position().outcome() {
        Some(outcome) => Err(format!("'{moves}' is a finished game: {outcome}")),
        None => Ok(game.moves().to_vec()),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanFile {
    title: Option<String>,
    #[serde(default)]
    format: Format,
    players: Vec<EntrantFile>,
    pairings: Option<Vec<[String; 2]>>,
    games: Option<Games>,
    openings: Option<OpeningsFile>,
    seed: Option<u64>,
    #[serde(default, deserialize_with = "some_parsed")]
    time: Option<Clock>,
    move_time: Option<MoveTime>,
    memory_mb: Option<MemoryMb>,
    #[serde(default)]
    setup: Setup,
    anchor: Option<AnchorFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnchorFile {
    player: String,
    #[serde(default)]
    elo: Elo,
}

#[derive(Deserialize)]
#[serde(try_from = "u64")]
struct Games(u64);

impl TryFrom<u64> for Games {
    type Error = String;

    fn try_from(games: u64) -> Result<Games, String> {
        match games {
            1..=MAX_GAMES => Ok(Games(games)),
            _ => Err(format!("games must be from 1 to {MAX_GAMES}, not {games}")),
        }
    }
}

#[derive(Deserialize)]
#[serde(try_from = "u64")]
struct MoveTime(u64);

impl TryFrom<u64> for MoveTime {
    type Error = String;

    fn try_from(ms: u64) -> Result<MoveTime, String> {
        match ms {
            1..=86_400_000 => Ok(MoveTime(ms)),
            _ => Err(format!("move_time must be from 1 to 86400000 milliseconds, not {ms}")),
        }
    }
}

#[derive(Deserialize)]
#[serde(try_from = "usize")]
struct MemoryMb(usize);

impl TryFrom<usize> for MemoryMb {
    type Error = String;

    fn try_from(megabytes: usize) -> Result<MemoryMb, String> {
        match megabytes {
            1..=1_048_576 => Ok(MemoryMb(megabytes)),
            _ => Err(format!("memory_mb must be from 1 to 1048576 megabytes, not {megabytes}")),
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(try_from = "f64")]
struct Elo(f64);

impl TryFrom<f64> for Elo {
    type Error = String;

    fn try_from(elo: f64) -> Result<Elo, String> {
        match elo {
            -10_000.0..=10_000.0 => Ok(Elo(elo)),
            _ => Err(format!("elo must be from -10000 to 10000, not {elo}")),
        }
    }
}

fn parsed<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: FromStr<Err: fmt::Display>,
    D: Deserializer<'de>,
{
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}

fn some_parsed<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: FromStr<Err: fmt::Display>,
    D: Deserializer<'de>,
{
    parsed(deserializer).map(Some)
}

/// A player: an agent text, or a table with an agent text and a name.
struct EntrantFile {
    agent: AgentSpec,
    name: Option<String>,
}

impl<'de> Deserialize<'de> for EntrantFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Table {
            #[serde(deserialize_with = "parsed")]
            agent: AgentSpec,
            name: Option<String>,
        }
        struct TextOrTable;
        impl<'de> Visitor<'de> for TextOrTable {
            type Value = EntrantFile;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a player such as \"level:3\" or { agent = \"level:3\", name = \"Ann\" }",
                )
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<EntrantFile, E> {
                Ok(EntrantFile { agent: text.parse().map_err(E::custom)?, name: None })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<EntrantFile, A::Error> {
                let Table { agent, name } = Table::deserialize(MapAccessDeserializer::new(map))?;
                Ok(EntrantFile { agent, name })
            }
        }
        deserializer.deserialize_any(TextOrTable)
    }
}

/// Openings: a kind, or a list of moves.
enum OpeningsFile {
    Kind(Openings),
    Given(Vec<String>),
}

impl<'de> Deserialize<'de> for OpeningsFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrList;
        impl<'de> Visitor<'de> for TextOrList {
            type Value = OpeningsFile;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("openings such as \"balanced:6\" or a list of moves")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<OpeningsFile, E> {
                text.parse().map(OpeningsFile::Kind).map_err(E::custom)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<OpeningsFile, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = list.next_element()? {
                    texts.push(text);
                }
                if texts.is_empty() {
                    return Err(A::Error::custom("the list of openings is empty"));
                }
                Ok(OpeningsFile::Given(texts))
            }
        }
        deserializer.deserialize_any(TextOrList)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LegacyGame {
    player_one_settings: LegacyPlayer,
    player_two_settings: LegacyPlayer,
    first_player: Option<LegacyFirstPlayer>,
    /// Fields of records of played games, which are ignored.
    #[serde(rename = "moves_count")]
    _moves_count: Option<IgnoredAny>,
    #[serde(rename = "time_elapsed_player_one")]
    _time_one: Option<IgnoredAny>,
    #[serde(rename = "time_elapsed_player_two")]
    _time_two: Option<IgnoredAny>,
    #[serde(rename = "tab")]
    _tab: Option<IgnoredAny>,
    #[serde(rename = "winner")]
    _winner: Option<IgnoredAny>,
    #[serde(rename = "list_of_moves")]
    _list_of_moves: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(try_from = "LegacySettings")]
struct LegacyPlayer(AgentSpec);

/// A player in the JSON of older projects.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LegacySettings {
    #[serde(rename = "AI")]
    pub(crate) agent: String,
    #[serde(default)]
    options: Option<BTreeMap<String, serde_json::Value>>,
}

impl TryFrom<LegacySettings> for LegacyPlayer {
    type Error = String;

    fn try_from(settings: LegacySettings) -> Result<LegacyPlayer, String> {
        settings.spec().map(LegacyPlayer)
    }
}

impl LegacySettings {
    /// The built-in player with this name.
    pub(crate) fn spec(self) -> Result<AgentSpec, String> {
        let LegacySettings { agent, options } = self;
        // `MTD(f)` and `Alpha-Beta` are names too.
        let letters = agent.chars().filter(char::is_ascii_alphanumeric);
        let name = letters.collect::<String>().to_lowercase();
        let options = options.unwrap_or_default().into_iter().map(|(name, value)| {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            format!("{name}={value}")
        });
        let text = format!("{name}:{}", options.collect::<Vec<_>>().join(","));
        text.parse().map_err(|error: crate::SpecError| error.to_string())
    }
}

/// The player who moves first, 0 or 1, in the JSON of older projects.
#[derive(Deserialize)]
#[serde(try_from = "serde_json::Value")]
pub(crate) struct LegacyFirstPlayer(pub(crate) usize);

impl TryFrom<serde_json::Value> for LegacyFirstPlayer {
    type Error = String;

    fn try_from(value: serde_json::Value) -> Result<LegacyFirstPlayer, String> {
        match value.as_str().map_or_else(|| value.to_string(), str::to_owned).as_str() {
            "1" | "player_one" => Ok(LegacyFirstPlayer(0)),
            "2" | "player_two" => Ok(LegacyFirstPlayer(1)),
            other => Err(format!("first_player '{other}' is neither 1 nor 2")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_schedules_the_pairings() {
        let pairings_of = |text: &str| {
            let plan = TournamentPlan::from_toml(&format!(
                "players = ['random', 'level:1', 'level:2']\n{text}"
            ));
            plan.unwrap().fixtures.iter().map(|fixture| fixture.players).collect::<Vec<_>>()
        };
        assert_eq!(pairings_of(""), [[0, 1], [0, 2], [1, 2]]);
        assert_eq!(pairings_of("format = 'round-robin'"), [[0, 1], [0, 2], [1, 2]]);
        assert_eq!(pairings_of("format = 'gauntlet'"), [[0, 1], [0, 2]]);
        let pairings = "format = 'pairings'\npairings = [['level:2', 'random']]";
        assert_eq!(pairings_of(pairings), [[2, 0]]);
    }

    #[test]
    fn json_and_toml_give_the_same_plan() {
        let toml = "games = 4\nseed = 9\ntime = '10+0.1'\nmove_time = 50\nmemory_mb = 8\nopenings = ['44', '1']\n\
                    players = ['random', { agent = 'level:2', name = 'two' }]\n\
                    anchor = { player = 'two', elo = -3.5 }\n[setup]\ncols = 6\nruleset = 'lines'\n";
        let json = r#"{ "games": 4, "seed": 9, "time": "10+0.1", "move_time": 50, "memory_mb": 8,
            "openings": ["44", "1"],
            "players": ["random", { "agent": "level:2", "name": "two" }],
            "anchor": { "player": "two", "elo": -3.5 }, "setup": { "cols": 6, "ruleset": "lines" } }"#;
        let [toml, json] =
            [TournamentPlan::from_toml(toml).unwrap(), TournamentPlan::from_json(json).unwrap()];
        assert_eq!(format!("{toml:?}"), format!("{json:?}"));
        assert_eq!(toml.anchor, Some((1, -3.5)));
        assert_eq!(toml.setup.to_string(), "6x6, connect 4, lines");
    }

    #[test]
    fn a_list_of_games_is_a_plan() {
        let plan = TournamentPlan::from_json(
            r#"[
              { "player_one_settings": { "AI": "MiniMax", "options": { "depth": 2 } },
                "player_two_settings": { "AI": "random" }, "first_player": 2, "winner": "red" },
              { "player_one_settings": { "AI": "random", "options": null },
                "player_two_settings": { "AI": "MTD(f)", "options": { "depth": "3", "eval": "nitk" } } }
            ]"#,
        )
        .unwrap();
        let names: Vec<&str> = plan.players.iter().map(|player| player.name.as_str()).collect();
        assert_eq!(names, ["minimax:depth=2", "random", "mtdf:depth=3,eval=nitk"]);
        let fixture = |players, first_player| Fixture { players, first_player, games: 1 };
        assert_eq!(plan.fixtures, [fixture([0, 1], 1), fixture([1, 2], 0)]);
    }

    #[test]
    fn errors_name_the_value_and_its_line() {
        let two = "players = [\n  'random',\n  'level:1'\n]\n";
        for (text, line, message) in [
            ("games = 2", Some(1), "missing field `players`"),
            ("players = ['random']", None, "a tournament needs at least 2 players, not 1"),
            (
                "gams = 2",
                Some(1),
                "unknown key 'gams'; did you mean games? (available: title, format, ",
            ),
            ("players = ['random',\n 'nobody']", Some(2), "unknown player 'nobody'"),
            ("players = ['random',\n 7]", Some(2), "invalid type: integer `7`"),
            (
                "players = ['random',\n { agent = 'level:11' }]",
                Some(2),
                "level '11' of level: not a whole number from 1 to 10",
            ),
            ("players = ['random',\n\n 'random']", Some(3), "two players are named 'random'"),
            ("games = 0", Some(1), "games must be from 1 to 10000000, not 0"),
            ("games = -1", Some(1), "invalid value: integer `-1`"),
            ("\nformat = 'swiss'", Some(2), "unknown variant `swiss`"),
            ("time = 'soon'", Some(1), "'soon' is not a number of seconds"),
            ("move_time = 0", Some(1), "move_time must be from 1"),
            ("memory_mb = 0", Some(1), "memory_mb must be from 1"),
            ("openings = 'wild'", Some(1), "unknown openings 'wild'"),
            ("openings = []", Some(1), "the list of openings is empty"),
            (&format!("{two}openings = ['44',\n'48']"), Some(6), "opening '48': move 2"),
            (&format!("{two}openings = ['1212121']"), Some(5), "'1212121' is a finished game"),
            (&format!("{two}anchor.player = 'me'"), Some(5), "unknown player 'me' (players: "),
            (
                &format!("{two}anchor = {{ player = 'random', elo = 1e9 }}"),
                Some(5),
                "elo must be from -10000 to 10000, not 1000",
            ),
            (&format!("{two}format = 'pairings'"), Some(5), "format = \"pairings\" requires"),
            (&format!("{two}pairings = []"), None, "a list of pairings requires format"),
            (
                &format!("{two}format = 'pairings'\npairings = [['random', 'x']]"),
                Some(6),
                "unknown player 'x' (players: ",
            ),
            (
                &format!("{two}format = 'pairings'\npairings = [['random', 'random']]"),
                Some(6),
                "'random' cannot play against itself",
            ),
            (
                &format!("{two}format = 'pairings'\npairings = []"),
                None,
                "the number of games must be from 1",
            ),
            (&format!("{two}[setup]\ncols = 50"), Some(5), "a board has 1 to 35 columns, not 50"),
            (&format!("{two}[setup]\nruleset = 'x'"), Some(6), "unknown ruleset 'x'"),
            (
                "setup.cols = 8\nplayers = [\n'random', 'perfect']\nsetup.ruleset='lines'",
                Some(3),
                "perfect cannot play",
            ),
            ("games = ", Some(1), ""),
        ] {
            let error = TournamentPlan::from_toml(text).unwrap_err();
            assert!(error.message.contains(message), "{text}: {error}");
            assert_eq!(error.line, line, "{text}: {error}");
            assert!(!error.to_string().contains('\n'), "{error}");
        }
    }

    #[test]
    fn errors_in_json_name_the_value_and_its_line() {
        let game = |one: &str, first: &str| {
            format!(
                "[\n{{\"player_one_settings\": {one},\n \"player_two_settings\": {{\"AI\": \"random\"}},\n\
                 \"first_player\": {first}}}\n]"
            )
        };
        for (text, line, message) in [
            (
                "{\"games\": 2,\n \"players\": [\"nobody\"]}".to_owned(),
                Some(2),
                "unknown player 'nobody'",
            ),
            (
                "{\"players\": [\"random\", \"level:1\"],\n\"anchor\": {\"player\": \"me\"}}"
                    .to_owned(),
                Some(2),
                "unknown player 'me' (players: ",
            ),
            ("[]".to_owned(), None, "the list has no games"),
            (game("{\"AI\": \"oracle\"}", "1"), Some(2), "unknown player 'oracle'"),
            (game("{\"AI\": \"random\"}", "3"), Some(4), "first_player '3' is neither 1 nor 2"),
            ("[".to_owned(), Some(1), "EOF"),
        ] {
            let error = TournamentPlan::from_json(&text).unwrap_err();
            assert!(error.message.contains(message), "{text}: {error}");
            assert_eq!(error.line, line, "{text}: {error}");
        }
    }
}
