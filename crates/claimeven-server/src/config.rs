//! Everything that can be chosen about a server.

use std::net::SocketAddr;
use std::path::PathBuf;

use claimeven_zero::ModelStore;
use serde::{Deserialize, Serialize};

/// Everything that can be chosen about a server. A limit of 0 is no limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Where to listen.
    pub addr: SocketAddr,
    /// Where games are kept: `sqlite:PATH` or `postgres://…`.
    pub database: String,
    /// Connections to the database.
    pub database_connections: u32,
    /// What signs the visitors' cookies; one is made and kept in the database if this is empty.
    pub secret: String,
    /// Whether cookies are for HTTPS alone.
    pub secure_cookies: bool,
    /// Whether a proxy in front of the server says whose the requests are (X-Forwarded-For, -Host).
    pub trust_proxy: bool,
    /// Whether `/metrics` is served.
    pub metrics: bool,

    /// Threads that think; 0 for one per processor.
    pub threads: usize,
    /// Thoughts of people's games that may wait for a thread.
    pub queue_people: usize,
    /// Other thoughts that may wait for a thread: games without a person, and hints.
    pub queue_others: usize,
    /// The longest that an agent thinks about a move against a person, in milliseconds.
    pub think_ms: u64,
    /// The same for games without a person.
    pub think_others_ms: u64,
    /// The longest that a hint takes, in milliseconds.
    pub hint_ms: u64,
    /// The largest table that a visitor may give an agent, in megabytes.
    pub table_mb: u64,
    /// The most simulations that a visitor may ask for.
    pub simulations: u64,
    /// Agents that are kept in memory between their moves.
    pub agents_kept: usize,

    /// Searches of the lab at the same time.
    pub lab_searches: usize,
    /// Searches of the lab that may wait.
    pub lab_queue: usize,
    /// The longest that a search of the lab takes, in milliseconds.
    pub lab_ms: u64,

    /// Threads of a tournament; one tournament is played at a time.
    pub arena_threads: usize,
    /// Games of a tournament at most.
    pub arena_games: u64,
    /// Tournaments of one visitor that are played or wait.
    pub jobs_each: usize,
    /// Tournaments that one visitor keeps.
    pub jobs_kept: usize,
    /// Tournaments of all visitors that are played or wait.
    pub jobs_queue: u64,

    /// Who may train networks: `local` for everybody if the server listens at an address of this
    /// machine alone, `everyone` or `nobody`.
    pub training: String,
    /// Threads of a training run; one run is under way at a time.
    pub training_threads: usize,
    /// The longest that a run may work, in minutes.
    pub training_minutes: u64,
    /// The folder of the runs; beside the database if this is empty and that is a file.
    pub runs: String,

    /// Games in memory.
    pub live_games: usize,
    /// Open WebSockets.
    pub sockets: usize,
    /// Open WebSockets of one address.
    pub sockets_per_address: usize,
    /// Requests of one address per second.
    pub requests_per_second: u32,
    /// Requests that one address may make at once.
    pub requests_at_once: u32,
    /// New games of one address per minute.
    pub games_per_minute: u32,
    /// The largest body of a request, in bytes.
    pub body_bytes: usize,
    /// The largest message on a WebSocket, in bytes.
    pub message_bytes: usize,
    /// The longest that a request takes, in seconds.
    pub request_seconds: u64,

    /// How long a person who dropped out of a game with another has to come back, in seconds.
    pub away_seconds: u64,
    /// How long a game that nobody sees stays in memory, and its agents go on thinking, in seconds.
    pub linger_seconds: u64,
    /// After how many hours without a move a game is over.
    pub abandon_hours: u64,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            addr: SocketAddr::from(([127, 0, 0, 1], 8080)),
            database: String::new(),
            database_connections: 8,
            secret: String::new(),
            secure_cookies: false,
            trust_proxy: false,
            metrics: true,
            threads: 0,
            queue_people: 1024,
            queue_others: 32,
            think_ms: 10_000,
            think_others_ms: 5_000,
            hint_ms: 4_000,
            table_mb: 64,
            simulations: 1_000_000,
            agents_kept: 64,
            lab_searches: 1,
            lab_queue: 16,
            lab_ms: 10_000,
            arena_threads: 1,
            arena_games: 2_000,
            jobs_each: 2,
            jobs_kept: 30,
            jobs_queue: 100,
            training: "local".to_owned(),
            training_threads: 1,
            training_minutes: 24 * 60,
            runs: String::new(),
            live_games: 10_000,
            sockets: 4_000,
            sockets_per_address: 100,
            requests_per_second: 30,
            requests_at_once: 120,
            games_per_minute: 60,
            body_bytes: 16 * 1024,
            message_bytes: 1024,
            request_seconds: 30,
            away_seconds: 120,
            linger_seconds: 60,
            abandon_hours: 7 * 24,
        }
    }
}

impl Config {
    /// Where players find the networks of training runs by name.
    pub fn models(&self) -> ModelStore {
        ModelStore::new(self.runs_folder())
    }

    /// The folder of the training runs, if there is one.
    pub fn runs_folder(&self) -> Option<PathBuf> {
        if !self.runs.is_empty() {
            return Some(PathBuf::from(&self.runs));
        }
        self.database_file().map(|path| PathBuf::from(format!("{path}-runs")))
    }

    /// How many threads search for moves.
    pub(crate) fn engine_threads(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        }
    }

    /// The file that games are kept in, if it is one.
    ///
    /// ```
    /// let mut config = claimeven_server::Config::default();
    /// config.database = "sqlite:///srv/games.sqlite?mode=rwc".to_owned();
    /// assert_eq!(config.database_file(), Some("/srv/games.sqlite"));
    /// ```
    pub fn database_file(&self) -> Option<&str> {
        let path = self.database.strip_prefix("sqlite:")?;
        let path = path.strip_prefix("//").unwrap_or(path);
        path.split('?').next().filter(|path| !path.is_empty() && *path != ":memory:")
    }

    /// The settings as a file has them.
    pub fn to_toml(&self) -> Result<String, String> {
        toml::to_string(self).map_err(one_line)
    }
}

/// Where settings come from, each source before the ones that it yields to.
///
/// ```
/// use claimeven_server::Settings;
///
/// let mut settings = Settings::default();
/// settings.file("away_seconds = 30").unwrap();
/// settings.text("addr", "127.0.0.1:9000").unwrap();
/// let config = settings.config().unwrap();
/// assert_eq!((config.away_seconds, config.addr.port()), (30, 9000));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Settings(toml::Table);

impl Settings {
    /// The names of all settings.
    pub fn names() -> Vec<String> {
        toml::Table::try_from(Config::default())
            .map(|table| table.keys().cloned().collect())
            .unwrap_or_default()
    }

    /// Adds what a TOML file says.
    pub fn file(&mut self, content: &str) -> Result<(), String> {
        let table: toml::Table = content.parse().map_err(one_line)?;
        self.0.extend(table);
        Ok(())
    }

    /// Adds one setting as people write it: numbers and `true` or `false` need no quotes, and
    /// neither do texts.
    pub fn text(&mut self, name: &str, value: &str) -> Result<(), String> {
        let names = Settings::names();
        if !names.iter().any(|known| known == name) {
            return Err(format!("there is no setting '{name}' (there are {})", names.join(", ")));
        }
        let defaults = toml::Table::try_from(Config::default()).map_err(one_line)?;
        let value = match defaults.get(name) {
            Some(toml::Value::String(_)) => toml::Value::String(value.to_owned()),
            Some(toml::Value::Boolean(_)) => toml::Value::Boolean(
                value.parse().map_err(|_| format!("{name} '{value}' is neither true nor false"))?,
            ),
            _ => toml::Value::Integer(
                value.parse().map_err(|_| format!("{name} '{value}' is not a whole number"))?,
            ),
        };
        self.0.insert(name.to_owned(), value);
        Ok(())
    }

    /// The settings with the defaults for all that was not said.
    pub fn config(self) -> Result<Config, String> {
        self.0.try_into().map_err(one_line)
    }
}

#[allow(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
fn one_line(error: impl ToString) -> String {
    let text = error.to_string();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
