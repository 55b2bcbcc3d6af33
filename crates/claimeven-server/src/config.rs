//! The settings of a server.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use claimeven_zero::ModelStore;
use serde::{Deserialize, Serialize};

use crate::store::sqlite_file;

/// The settings of a server. A limit of 0 means no limit.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The address to listen on.
    pub addr: SocketAddr,
    /// Where games are stored: `sqlite:PATH` or `postgres://…`.
    pub database: String,
    /// Database connections for reading.
    pub database_connections: u32,
    /// The key that signs cookies; if empty, it is read from `secret_file`.
    pub secret: String,
    /// The file with the key that signs cookies, created if it does not exist; if empty, a file next
    /// to the SQLite file.
    pub secret_file: String,
    /// Whether cookies are sent over HTTPS only.
    pub secure_cookies: bool,
    /// The certificate chain, a PEM file; if set, the server speaks HTTPS itself.
    pub tls_certificate: String,
    /// The certificate's private key, a PEM file.
    pub tls_key: String,
    /// The host names by which visitors reach the server, separated by commas. IP addresses and
    /// `localhost` need not be listed; `*` allows every name.
    pub hosts: String,
    /// The addresses or ranges (`10.0.0.0/8`) of proxies whose X-Forwarded-For, -Host and -Proto
    /// are trusted, separated by commas.
    pub trusted_proxies: String,
    /// The NATS servers that connect this server with workers and, on a PostgreSQL database, with other
    /// servers, separated by commas; if empty, it runs on its own.
    pub nats: String,
    /// The file with the nkey seed to connect with.
    pub nats_nkey: String,
    /// The file with the credentials to connect with.
    pub nats_creds: String,
    /// The file with the certificates to trust instead of the system's.
    pub nats_ca: String,
    /// Who may see the fleet page: `local` for browsers on this machine, `everyone` or `nobody`.
    pub fleet_page: String,
    /// Whether `/metrics` is served.
    pub metrics: bool,

    /// Search threads; 0 for one per processor.
    pub threads: usize,
    /// Maximum number of queued searches in games with people, per address.
    pub queue_people: usize,
    /// Maximum number of other queued searches per address: games between agents, hints, analyses,
    /// the lab.
    pub queue_others: usize,
    /// Maximum time per move of an agent against a person, in milliseconds.
    pub think_ms: u64,
    /// Maximum time per move in games between agents, in milliseconds.
    pub think_others_ms: u64,
    /// Maximum time of a hint or an analysis, in milliseconds.
    pub hint_ms: u64,
    /// Maximum memory of a visitor's agent, table or tree, in megabytes.
    pub agent_mb: u64,
    /// Maximum number of simulations of a visitor's agent.
    pub simulations: u64,
    /// Maximum memory of all agents, in use and between moves, in megabytes.
    pub memory_mb: u64,

    /// Maximum number of concurrent lab searches.
    pub lab_searches: usize,
    /// Maximum time of a lab search, in milliseconds.
    pub lab_ms: u64,

    /// Threads of a tournament. One tournament runs at a time.
    pub arena_threads: usize,
    /// Maximum number of games of a tournament.
    pub arena_games: u64,
    /// Maximum number of running or queued tournaments of one visitor.
    pub jobs_each: usize,
    /// Maximum number of stored tournaments of one visitor.
    pub jobs_kept: usize,
    /// Maximum number of running or queued tournaments of one address.
    pub jobs_per_address: usize,
    /// Maximum number of running or queued tournaments of all visitors.
    pub jobs_queue: u64,

    /// Who may train networks: `local` for programs on the server's machine if the server listens on a
    /// loopback address, `everyone` or `nobody`.
    pub training: String,
    /// Threads of a training run. One run is active at a time.
    pub training_threads: usize,
    /// Maximum duration of a training run, in minutes.
    pub training_minutes: u64,
    /// The folder of the training runs; if empty, a folder next to the database file.
    pub runs: String,

    /// Maximum number of unfinished games in memory.
    pub live_games: usize,
    /// The same per address.
    pub live_games_per_address: usize,
    /// The same per visitor.
    pub live_games_per_visitor: usize,
    /// Maximum number of open connections that have not become WebSockets.
    pub connections: usize,
    /// The same per address.
    pub connections_per_address: usize,
    /// Maximum number of open WebSockets.
    pub sockets: usize,
    /// Maximum number of open WebSockets per address.
    pub sockets_per_address: usize,
    /// Maximum number of open WebSockets per visitor.
    pub sockets_per_visitor: usize,
    /// Requests per second and address.
    pub requests_per_second: u32,
    /// Burst of requests per address.
    pub requests_at_once: u32,
    /// New games per minute and address.
    pub games_per_minute: u32,
    /// Approximate size of the games and tournaments that an address may create per day, in
    /// megabytes.
    pub stored_mb_per_day: u64,
    /// The same for a visitor.
    pub visitor_mb_per_day: u64,
    /// Maximum size of a request body, in bytes.
    pub body_bytes: usize,
    /// Maximum size of a WebSocket message, in bytes.
    pub message_bytes: usize,
    /// Timeout of a request, in seconds.
    pub request_seconds: u64,

    /// How long a disconnected player of a game between people has to reconnect, in seconds.
    pub away_seconds: u64,
    /// How long a game without watchers stays in memory and its agents continue, in seconds.
    pub linger_seconds: u64,
    /// After how many hours without a move a game counts as abandoned.
    pub abandon_hours: u64,
    /// After how many days without a change finished games and tournaments are deleted; 0 for never.
    pub prune_days: u64,
    /// The size of the stored data, in megabytes, above which the oldest finished games and
    /// tournaments are deleted; 0 for no limit.
    pub prune_mb: u64,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            addr: SocketAddr::from(([127, 0, 0, 1], 8080)),
            database: String::new(),
            database_connections: 8,
            secret: String::new(),
            secret_file: String::new(),
            secure_cookies: false,
            nats: String::new(),
            nats_nkey: String::new(),
            nats_creds: String::new(),
            nats_ca: String::new(),
            fleet_page: "local".to_owned(),
            tls_certificate: String::new(),
            tls_key: String::new(),
            hosts: String::new(),
            trusted_proxies: String::new(),
            metrics: true,
            threads: 0,
            queue_people: 256,
            queue_others: 32,
            think_ms: 10_000,
            think_others_ms: 5_000,
            hint_ms: 4_000,
            agent_mb: 64,
            simulations: 1_000_000,
            memory_mb: 1024,
            lab_searches: 2,
            lab_ms: 10_000,
            arena_threads: 1,
            arena_games: 2_000,
            jobs_each: 2,
            jobs_kept: 30,
            jobs_per_address: 10,
            jobs_queue: 100,
            training: "local".to_owned(),
            training_threads: 1,
            training_minutes: 24 * 60,
            runs: String::new(),
            live_games: 10_000,
            live_games_per_address: 200,
            live_games_per_visitor: 100,
            connections: 4_000,
            connections_per_address: 200,
            sockets: 4_000,
            sockets_per_address: 100,
            sockets_per_visitor: 50,
            requests_per_second: 30,
            requests_at_once: 120,
            games_per_minute: 60,
            stored_mb_per_day: 400,
            visitor_mb_per_day: 200,
            body_bytes: 16 * 1024,
            message_bytes: 1024,
            request_seconds: 30,
            away_seconds: 120,
            linger_seconds: 60,
            abandon_hours: 7 * 24,
            prune_days: 0,
            prune_mb: 0,
        }
    }
}

impl Config {
    /// The store that resolves the names of training runs to networks.
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

    /// The number of search threads.
    pub(crate) fn engine_threads(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        }
    }

    /// The search threads for those who have used little: at least two, so that one address cannot
    /// occupy them all, and one for brief searches.
    pub(crate) fn express_threads(&self) -> usize {
        self.engine_threads().max(2) + 1
    }

    /// The search threads of the lab.
    pub(crate) fn background_threads(&self) -> usize {
        self.lab_searches.max(1)
    }

    /// The memory limit of one agent in megabytes, so that as many as can search at the same time fit
    /// into the memory of all; 0 for no limit.
    pub(crate) fn max_agent_mb(&self) -> u64 {
        let in_engine =
            self.express_threads() + self.engine_threads() + self.background_threads() + 1;
        let searches = (in_engine + 2 * self.arena_threads.max(1)) as u64;
        match (self.agent_mb, self.agents_mb()) {
            (0, _) | (_, 0) => self.agent_mb,
            (each, all) => each.min((all / searches).max(1)),
        }
    }

    /// Lowers the limits of connections so that a process with a limit of open files has some left for the
    /// database and everything else. Returns whether it had to.
    pub(crate) fn fit_connections(&mut self, files: u64) -> bool {
        /// Logs, networks, jobs and accepted connections that are refused.
        const OTHERS: usize = 100;
        /// An SQLite file, its log and its index.
        const PER_DATABASE_CONNECTION: usize = 3;
        let database = PER_DATABASE_CONNECTION * self.database_connections as usize;
        let files = usize::try_from(files).unwrap_or(usize::MAX);
        let each = (files.saturating_sub(OTHERS + database) / 2).max(1);
        let mut is_lowered = false;
        for limit in [&mut self.connections, &mut self.sockets] {
            is_lowered |= *limit > each;
            if *limit == 0 || *limit > each {
                *limit = each;
            }
        }
        is_lowered
    }

    /// The memory of all agents in megabytes: what analyzers and coaches leave of `memory_mb`, but at least
    /// half of it; 0 for no limit.
    fn agents_mb(&self) -> u64 {
        /// An analyzer with a table of 8 MB, and a coach.
        const STUDY_MB: u64 = 14;
        let studies = (self.express_threads() + self.engine_threads()) as u64;
        self.memory_mb.saturating_sub(studies * STUDY_MB).max(self.memory_mb.div_ceil(2))
    }

    /// The timeout of a request; `None` for no limit.
    pub(crate) fn max_request_time(&self) -> Option<Duration> {
        (self.request_seconds > 0).then(|| Duration::from_secs(self.request_seconds))
    }

    /// The memory limit of one agent in bytes; `None` for no limit.
    pub(crate) fn agent_memory(&self) -> Option<usize> {
        bytes(self.max_agent_mb())
    }

    /// The memory limit of all agents in bytes; `None` for no limit.
    pub(crate) fn memory(&self) -> Option<usize> {
        bytes(self.agents_mb())
    }

    /// The file of an SQLite database.
    ///
    /// ```
    /// let mut config = claimeven_server::Config::default();
    /// config.database = "sqlite:///srv/games.sqlite?mode=rwc".to_owned();
    /// assert_eq!(config.database_file(), Some("/srv/games.sqlite"));
    /// ```
    pub fn database_file(&self) -> Option<&str> {
        sqlite_file(&self.database)
    }

    /// Whether the server speaks HTTPS itself.
    pub fn has_tls(&self) -> bool {
        !self.tls_certificate.is_empty()
    }

    /// Whether the database is on a PostgreSQL server.
    pub fn is_postgres(&self) -> bool {
        self.database.starts_with("postgres")
    }

    /// The file of the key that signs cookies, if there is one.
    pub(crate) fn secret_path(&self) -> Option<PathBuf> {
        if !self.secret_file.is_empty() {
            return Some(PathBuf::from(&self.secret_file));
        }
        self.database_file().map(|path| PathBuf::from(format!("{path}.key")))
    }

    /// The database's URL without its password.
    ///
    /// ```
    /// let mut config = claimeven_server::Config::default();
    /// config.database = "postgres://user:p@ss@host/games?password=secret".to_owned();
    /// assert_eq!(config.redacted_database(), "postgres://user:…@host/games");
    /// ```
    pub fn redacted_database(&self) -> String {
        without_password(&self.database)
    }

    /// The settings as a TOML file, without secrets.
    pub fn to_toml(&self) -> Result<String, SettingsError> {
        let secret = if self.secret.is_empty() { "" } else { HIDDEN };
        let (secret, database) = (secret.to_owned(), self.redacted_database());
        let nats: Vec<String> = self.nats.split(',').map(without_password).collect();
        let nats = nats.join(",");
        let shown = Config { database, secret, nats, ..self.clone() };
        toml::to_string(&shown).map_err(SettingsError::config)
    }
}

impl fmt::Debug for Config {
    /// Keeps secrets out of the logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_toml().map_err(|_| fmt::Error)?)
    }
}

/// Replaces a secret in printed settings.
const HIDDEN: &str = "…";

/// A database URL without its password, which may be before the host or among the parameters.
pub(crate) fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    if scheme == "sqlite" {
        return url.to_owned();
    }
    let without_query = |text: &str| text.split('?').next().unwrap_or(text).to_owned();
    match rest.rsplit_once('@') {
        Some((login, host)) => match login.split_once(':') {
            Some((user, _)) => format!("{scheme}://{user}:{HIDDEN}@{}", without_query(host)),
            None => format!("{scheme}://{login}@{}", without_query(host)),
        },
        None => format!("{scheme}://{}", without_query(rest)),
    }
}

fn bytes(megabytes: u64) -> Option<usize> {
    (megabytes > 0).then(|| usize::try_from(megabytes << 20).unwrap_or(usize::MAX))
}

/// Settings from several sources; a later source overrides earlier ones.
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

    /// Adds the settings of a TOML file.
    pub fn file(&mut self, content: &str) -> Result<(), SettingsError> {
        // The whole message would quote the line, which may contain a password.
        let named = |error: toml::de::Error| {
            let start = error.span().map_or(0, |span| span.start);
            let line = content.bytes().take(start).filter(|byte| *byte == b'\n').count() + 1;
            SettingsError::Line { line, message: error.message().to_owned() }
        };
        let table: toml::Table = content.parse().map_err(named)?;
        self.0.extend(table);
        Ok(())
    }

    /// Adds one setting as text, without quotes, as in an environment variable.
    pub fn text(&mut self, name: &str, value: &str) -> Result<(), SettingsError> {
        let wrong = |expected| SettingsError::Value {
            name: name.to_owned(),
            value: value.to_owned(),
            expected,
        };
        let defaults = toml::Table::try_from(Config::default()).map_err(SettingsError::config)?;
        let value = match defaults.get(name) {
            None => return Err(SettingsError::Unknown(name.to_owned())),
            Some(toml::Value::String(_)) => toml::Value::String(value.to_owned()),
            Some(toml::Value::Boolean(_)) => {
                toml::Value::Boolean(value.parse().map_err(|_| wrong("true or false"))?)
            }
            Some(_) => toml::Value::Integer(value.parse().map_err(|_| wrong("an integer"))?),
        };
        self.0.insert(name.to_owned(), value);
        Ok(())
    }

    /// The configuration, with defaults for everything that is not set.
    pub fn config(self) -> Result<Config, SettingsError> {
        self.0.try_into().map_err(SettingsError::config)
    }
}

/// Why settings are invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingsError {
    /// A line of a file is not valid TOML.
    Line {
        /// The number of the line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// No setting has this name.
    Unknown(String),
    /// A value does not have the type of its setting.
    Value {
        /// The setting.
        name: String,
        /// The value.
        value: String,
        /// What is expected, such as `an integer`.
        expected: &'static str,
    },
    /// All settings together are not a configuration.
    Config(String),
}

impl SettingsError {
    /// An error of the TOML library, in one line.
    #[allow(clippy::needless_pass_by_value, reason = "the signature that `map_err` needs")]
    fn config(error: impl ToString) -> SettingsError {
        let text = error.to_string();
        SettingsError::Config(text.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingsError::Line { line, message } => write!(f, "line {line}: {message}"),
            SettingsError::Unknown(name) => {
                let names = Settings::names().join(", ");
                write!(f, "unknown setting '{name}' (available: {names})")
            }
            SettingsError::Value { name, value, expected } => {
                write!(f, "{name} must be {expected}, not '{value}'")
            }
            SettingsError::Config(error) => f.write_str(error),
        }
    }
}

impl std::error::Error for SettingsError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_files_for_the_database() {
        let fitted = |connections, files| {
            let mut config = Config { connections, sockets: 100, ..Config::default() };
            let is_lowered = config.fit_connections(files);
            (is_lowered, config.connections, config.sockets)
        };
        assert_eq!(fitted(4000, 1 << 20), (false, 4000, 100));
        let (is_lowered, connections, sockets) = fitted(4000, 4096);
        assert!(is_lowered && (1500..2000).contains(&connections), "{connections}");
        assert_eq!(sockets, 100);
        // No limit becomes what is possible.
        assert_eq!(fitted(0, 4096), (false, connections, 100));
        assert_eq!(fitted(4000, 64), (true, 1, 1));
    }
}
