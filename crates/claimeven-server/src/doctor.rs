//! Checks of everything that a server needs, before it starts or while it runs.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use sqlx::{AnyConnection, Executor, Row};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::config::Config;
use crate::http::Reach;
use crate::http::tls::{self, Tls};
use crate::store::{self, now_ms};

/// The result of one check.
#[derive(Clone, Debug, Serialize)]
pub struct CheckResult {
    /// What was checked.
    pub check: &'static str,
    /// Whether it passed.
    pub status: CheckStatus,
    /// The result in words and, if there is a problem, what to do about it.
    pub message: String,
}

/// The status of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckStatus {
    /// Everything is fine.
    Ok,
    /// A server would run, but not as well as it could.
    Warning,
    /// A server would not run.
    Failed,
}

use CheckStatus::{Failed, Ok as Fine, Warning};

/// Checks the configuration, the database and the machine.
pub async fn doctor(config: &Config) -> Vec<CheckResult> {
    let mut results = CheckResults::default();
    check_configuration(config, &mut results);
    let is_served = check_database(config, &mut results).await;
    check_disk(config, &mut results);
    check_files(config, &mut results);
    check_memory(config, &mut results);
    check_port(config, is_served, &mut results).await;
    results.0
}

/// Asks the server at the configured address whether it is ready.
pub async fn check_readiness(config: &Config) -> CheckResult {
    let (status, message) = match readiness(config).await {
        Ok(response) if response.starts_with("HTTP/1.1 200") => {
            (Fine, "the server is ready".to_owned())
        }
        Ok(response) => {
            let body = response.split("\r\n\r\n").nth(1).unwrap_or_default().trim().to_owned();
            (Failed, format!("the server is not ready: {body}"))
        }
        Err(error) => (Failed, format!("no server responds at {}: {error}", config.addr)),
    };
    CheckResult { check: "readiness", status, message }
}

#[derive(Default)]
struct CheckResults(Vec<CheckResult>);

impl CheckResults {
    fn add(&mut self, check: &'static str, status: CheckStatus, message: impl Into<String>) {
        self.0.push(CheckResult { check, status, message: message.into() });
    }
}

fn check_configuration(config: &Config, results: &mut CheckResults) {
    const NAME: &str = "configuration";
    let before = results.0.len();
    if let Err(error) = Reach::new(config) {
        results.add(NAME, Failed, error);
    }
    if let Err(error) = Tls::new(config) {
        results.add(NAME, Failed, error);
    }
    if !matches!(&config.training[..], "local" | "everyone" | "nobody") {
        let given = &config.training;
        let message = format!("training must be local, everyone or nobody, not '{given}'");
        results.add(NAME, Failed, message);
    }
    let is_public = !config.addr.ip().is_loopback();
    if is_public && config.hosts.is_empty() {
        let message = "visitors can reach the server by its IP address only: set hosts to its name";
        results.add(NAME, Warning, message);
    }
    if !config.hosts.is_empty() && !config.secure_cookies && !config.has_tls() {
        let message = "cookies are also sent without HTTPS: set secure_cookies = true";
        results.add(NAME, Warning, message);
    }
    match config.secret_path() {
        _ if !config.secret.is_empty() => {}
        Some(path) => check_key_file(&path, results),
        None if config.is_postgres() => {
            results.add(NAME, Failed, "no file for the cookie key: set secret_file or secret");
        }
        None => {}
    }
    if results.0.len() == before {
        results.add(NAME, Fine, "valid");
    }
}

fn check_key_file(path: &Path, results: &mut CheckResults) {
    const NAME: &str = "key file";
    let shown = path.display();
    match fs::read_to_string(path) {
        Ok(content) if content.trim().is_empty() => {
            results.add(
                NAME,
                Failed,
                format!("{shown} is empty: delete it or restore it from a backup"),
            );
        }
        Ok(_) if is_readable_by_others(path) => {
            let message = format!("others can read {shown}: run chmod 600 on it");
            results.add(NAME, Warning, message);
        }
        Ok(_) => results.add(NAME, Fine, format!("{shown}, readable by its owner only")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            results.add(NAME, Fine, format!("{shown} will be created at the first start"));
        }
        Err(error) => results.add(NAME, Failed, format!("cannot read {shown}: {error}")),
    }
}

#[cfg(unix)]
fn is_readable_by_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_readable_by_others(_: &Path) -> bool {
    false
}

/// Checks everything about the database; returns whether a server is using it.
async fn check_database(config: &Config, results: &mut CheckResults) -> bool {
    const NAME: &str = "database";
    const TIMEOUT: Duration = Duration::from_secs(10);
    let shown = config.redacted_database();
    if let Some(file) = config.database_file()
        && !Path::new(file).exists()
    {
        let folder = folder_of(Path::new(file));
        match tempfile_in(&folder) {
            Ok(()) => {
                results.add(NAME, Fine, format!("{shown} will be created at the first start"));
            }
            Err(error) => {
                let message = format!("cannot create {shown}: {}: {error}", folder.display());
                results.add(NAME, Failed, message);
            }
        }
        return false;
    }
    let mut connection = match timeout(TIMEOUT, store::connect(&config.database)).await {
        Ok(Ok(connection)) => connection,
        Ok(Err(error)) => {
            results.add(NAME, Failed, format!("cannot open {shown}: {error}"));
            return false;
        }
        Err(_) => {
            results.add(NAME, Failed, format!("{shown} does not respond"));
            return false;
        }
    };
    results.add(NAME, Fine, format!("{shown} can be opened"));
    let is_served = store::is_served(&config.database).await.unwrap_or(false);
    check_schema(&mut connection, results).await;
    match check_writable(&mut connection, config.is_postgres()).await {
        Ok(()) => results.add("writing", Fine, "the database is writable"),
        Err(error) => results.add("writing", Failed, format!("cannot write: {error}")),
    }
    check_integrity(&mut connection, config, results).await;
    check_clock(&mut connection, config, results).await;
    let server = if is_served { "a server is using the database" } else { "no server is running" };
    results.add("server", Fine, server);
    is_served
}

async fn check_schema(connection: &mut AnyConnection, results: &mut CheckResults) {
    const NAME: &str = "schema";
    let latest = store::latest_schema();
    match store::schema_of(connection).await {
        Ok(schema) if schema == latest => results.add(NAME, Fine, format!("version {schema}")),
        Ok(schema) if schema < latest => {
            let message = format!("version {schema}: the next start upgrades it to {latest}");
            results.add(NAME, Warning, message);
        }
        Ok(schema) => {
            let message =
                format!("version {schema}, made by a newer program (this one supports {latest})");
            results.add(NAME, Failed, message);
        }
        Err(_) => results.add(NAME, Warning, "none yet: the next start creates it"),
    }
}

/// Creates a table and rolls back.
async fn check_writable(
    connection: &mut AnyConnection,
    is_postgres: bool,
) -> Result<(), sqlx::Error> {
    let begin = if is_postgres { "BEGIN" } else { "BEGIN IMMEDIATE" };
    connection.execute(sqlx::raw_sql(begin)).await?;
    let create = "CREATE TABLE claimeven_doctor (number BIGINT)";
    let written = connection.execute(sqlx::raw_sql(create)).await;
    connection.execute(sqlx::raw_sql("ROLLBACK")).await?;
    written.map(drop)
}

async fn check_integrity(
    connection: &mut AnyConnection,
    config: &Config,
    results: &mut CheckResults,
) {
    const NAME: &str = "integrity";
    const MAX_GAMES: u32 = 1000;
    let is_postgres = config.is_postgres();
    let sql = if is_postgres { "SHOW fsync" } else { "PRAGMA quick_check(1)" };
    let row = sqlx::query(sql).fetch_one(&mut *connection).await;
    match row.and_then(|row| row.try_get::<String, _>(0)) {
        Ok(answer) if answer == "ok" => results.add(NAME, Fine, "the file is intact"),
        Ok(answer) if answer == "on" => results.add(NAME, Fine, "commits reach the disk"),
        Ok(_) if is_postgres => {
            let message = "fsync is off in PostgreSQL: acknowledged moves can be lost, turn it on";
            results.add(NAME, Warning, message);
        }
        Ok(answer) => {
            let message = format!("the file is damaged: restore a backup ({answer})");
            results.add(NAME, Failed, message);
        }
        Err(error) => results.add(NAME, Failed, error.to_string()),
    }
    if let Ok(unreadable) = store::unreadable_games(connection, MAX_GAMES).await
        && let Some((id, reason)) = unreadable.first()
    {
        let message = format!(
            "{} games in progress cannot be read, for example {id}: {reason}; \
             claimeven admin games --unreadable lists them",
            unreadable.len()
        );
        results.add("games", Warning, message);
    }
}

async fn check_clock(connection: &mut AnyConnection, config: &Config, results: &mut CheckResults) {
    const NAME: &str = "clock";
    /// The allowed difference between clocks, in milliseconds.
    const TOLERANCE: i64 = 60_000;
    /// 2026-01-01, before the release of this version.
    const EARLIEST: i64 = 1_767_225_600_000;
    if now_ms() < EARLIEST {
        let now = jiff::Timestamp::now();
        return results.add(NAME, Failed, format!("the system clock is wrong ({now}): set it"));
    }
    let mut number = async |sql: &'static str| -> Option<i64> {
        sqlx::query(sql).fetch_one(&mut *connection).await.ok()?.try_get(0).ok()?
    };
    if config.is_postgres()
        && let Some(theirs) =
            number("SELECT CAST(EXTRACT(EPOCH FROM now()) * 1000 AS BIGINT)").await
        && (theirs - now_ms()).abs() > TOLERANCE
    {
        let seconds = (theirs - now_ms()) / 1000;
        let message = format!("PostgreSQL's clock differs by {seconds} s: synchronise both");
        return results.add(NAME, Warning, message);
    }
    if let Some(latest) = number("SELECT MAX(created) FROM games").await
        && latest > now_ms() + TOLERANCE
    {
        let message = "the latest game was created in the future: set the system clock";
        return results.add(NAME, Warning, message);
    }
    results.add(NAME, Fine, "plausible");
}

fn check_disk(config: &Config, results: &mut CheckResults) {
    const NAME: &str = "disk";
    const MIN_MB: u64 = 50;
    const LOW_MB: u64 = 1000;
    let Some(file) = config.database_file() else { return };
    let folder = folder_of(Path::new(file));
    let Some(free) = free_mb(&folder) else { return };
    let message = format!("{free} MB free in {}", folder.display());
    let status = match free {
        LOW_MB.. => return results.add(NAME, Fine, message),
        MIN_MB.. => Warning,
        _ => Failed,
    };
    results.add(NAME, status, message + ": make room or prune the database");
}

#[cfg(unix)]
fn free_mb(folder: &Path) -> Option<u64> {
    let space = rustix::fs::statvfs(folder).ok()?;
    Some(space.f_bavail * space.f_frsize / 1_000_000)
}

#[cfg(not(unix))]
fn free_mb(_: &Path) -> Option<u64> {
    None
}

fn check_files(config: &Config, results: &mut CheckResults) {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit};
        const OTHERS: u64 = 100;
        let used = config.connections + config.sockets + config.database_connections as usize;
        let needed = used as u64 + OTHERS;
        match getrlimit(Resource::Nofile).maximum {
            Some(limit) if limit < needed => {
                let message = format!(
                    "{limit} open files are allowed and {needed} may be needed: \
                     raise the hard limit (ulimit -Hn) or lower connections and sockets"
                );
                results.add("open files", Warning, message);
            }
            Some(limit) => results.add("open files", Fine, format!("{limit} are allowed")),
            None => results.add("open files", Fine, "unlimited"),
        }
    }
    #[cfg(not(unix))]
    let _ = (config, results);
}

/// Checks the memory according to Linux; skipped on other systems.
fn check_memory(config: &Config, results: &mut CheckResults) {
    /// What a server needs besides its agents.
    const OTHERS_MB: u64 = 100;
    let Ok(content) = fs::read_to_string("/proc/meminfo") else { return };
    let line = content.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kb = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    let Some(mb) = kb.map(|kb| kb / 1000) else { return };
    // A container may have a lower limit.
    let limit = fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let limit =
        limit.and_then(|text| text.trim().parse::<u64>().ok()).map(|bytes| bytes / 1_000_000);
    let mb = limit.map_or(mb, |limit| mb.min(limit));
    let needed = config.memory_mb + OTHERS_MB;
    if mb < needed {
        let message = format!("{mb} MB available and {needed} MB may be needed: lower memory_mb");
        return results.add("memory", Warning, message);
    }
    results.add("memory", Fine, format!("{mb} MB available"));
}

async fn check_port(config: &Config, is_served: bool, results: &mut CheckResults) {
    const NAME: &str = "port";
    let addr = config.addr;
    let Err(error) = TcpListener::bind(addr).await else {
        return results.add(NAME, Fine, format!("{addr} is free"));
    };
    if error.kind() != std::io::ErrorKind::AddrInUse {
        return results.add(NAME, Failed, format!("cannot listen on {addr}: {error}"));
    }
    match readiness(config).await {
        Ok(response) if response.to_lowercase().contains("\r\nx-request-id:") => {
            let is_ready = response.starts_with("HTTP/1.1 200");
            let status = if is_ready { Fine } else { Warning };
            let state = if is_ready { "ready" } else { "not ready" };
            results.add(NAME, status, format!("{addr} is served by Claimeven, which is {state}"));
        }
        _ if is_served => {
            results.add(NAME, Fine, format!("{addr} is in use, and a server is running"));
        }
        _ => {
            let message = format!("another program uses {addr}: stop it or choose another addr");
            results.add(NAME, Failed, message);
        }
    }
}

/// The response to `GET /readyz` at the configured address.
async fn readiness(config: &Config) -> std::io::Result<String> {
    const TIMEOUT: Duration = Duration::from_secs(8);
    let mut addr = config.addr;
    if addr.ip().is_unspecified() {
        addr.set_ip(if addr.is_ipv4() {
            std::net::Ipv4Addr::LOCALHOST.into()
        } else {
            std::net::Ipv6Addr::LOCALHOST.into()
        });
    }
    let request = async {
        let stream = TcpStream::connect(addr).await?;
        if config.has_tls() {
            get_readiness(tls::connect(config, stream).await?, addr).await
        } else {
            get_readiness(stream, addr).await
        }
    };
    timeout(TIMEOUT, request).await.unwrap_or_else(|_| Err(std::io::ErrorKind::TimedOut.into()))
}

async fn get_readiness(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    addr: SocketAddr,
) -> std::io::Result<String> {
    let request = format!("GET /readyz HTTP/1.1\r\nHost: {addr}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut response = Vec::new();
    stream.take(64 * 1024).read_to_end(&mut response).await?;
    Ok(String::from_utf8_lossy(&response).into_owned())
}

fn folder_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(folder) if folder != Path::new("") => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Whether a file can be created in a folder.
fn tempfile_in(folder: &Path) -> std::io::Result<()> {
    let path = folder.join(format!(".claimeven-doctor-{}", std::process::id()));
    fs::File::create_new(&path)?;
    fs::remove_file(path)
}
