//! `claimeven serve`: the web application.

use std::env;
use std::fs;
use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use std::path::PathBuf;

use claimeven_server::{Config, Server, ServerError, Settings};
use clap::ValueEnum;
use etcetera::base_strategy::{BaseStrategy, choose_native_strategy};
use tracing_subscriber::filter::LevelFilter;

use crate::Failure;

/// Start the web application, to play in the browser
#[derive(clap::Args)]
#[command(
    after_help = "Settings can also be given in the file of --config and in environment variables such as\n\
    CLAIMEVEN_ADDR. Options override variables, and variables override the file.\n\n\
    Examples:\n  \
    claimeven serve\n  \
    claimeven serve --addr 0.0.0.0:80 --database postgres://user:password@host/claimeven\n  \
    claimeven serve --set think_ms=2000 --set threads=4\n  \
    claimeven serve --settings > claimeven.toml"
)]
pub(crate) struct Args {
    /// Address to listen on [default: 127.0.0.1:8080]
    #[arg(long, value_name = "IP:PORT")]
    addr: Option<SocketAddr>,

    /// Database of the games: sqlite:PATH or postgres://… [default: a file in the data directory]
    #[arg(long, value_name = "URL")]
    database: Option<String>,

    /// TOML file with settings
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Any other setting; can be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,

    /// Print the settings and exit
    #[arg(long)]
    settings: bool,

    /// Log level
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    log: LogLevel,

    /// Log format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    log_format: LogFormat,
}

#[derive(Clone, Copy, ValueEnum)]
enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

#[derive(Clone, Copy, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let config = config(args)?;
    if args.settings {
        let text = config.to_toml().map_err(Failure::Other)?;
        write!(anstream::stdout(), "{text}")?;
        return Ok(());
    }
    start_log(args);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(serve(config));
    // A thread that is still drawing, loading or sending does not hold up the end.
    runtime.shutdown_background();
    served.map_err(|error| Failure::Other(error.to_string()))
}

async fn serve(config: Config) -> Result<(), ServerError> {
    let games = config.database_file().map(|path| format!("\nGames are kept in {path}"));
    let server = Server::start(config).await?;
    let addr = server.addr()?;
    // A closed output does not stop the server.
    let _ = writeln!(
        anstream::stdout(),
        "Listening on http://{addr} (press Ctrl-C to stop){}",
        games.unwrap_or_default()
    );
    server.run(stop_signal()).await
}

/// Waits for Ctrl-C or a termination signal.
async fn stop_signal() {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut terminate) => {
                tokio::select! {
                    _ = interrupt => {}
                    _ = terminate.recv() => {}
                }
            }
            Err(_) => drop(interrupt.await),
        }
    }
    #[cfg(not(unix))]
    drop(interrupt.await);
}

/// The settings of the file, the environment and the options; later ones override earlier ones.
fn config(args: &Args) -> Result<Config, Failure> {
    let mut settings = Settings::default();
    if let Some(path) = &args.config {
        let named = |error: String| Failure::in_file(path, &error);
        let content = fs::read_to_string(path).map_err(|error| named(error.to_string()))?;
        settings.file(&content).map_err(named)?;
    }
    for name in Settings::names() {
        let variable = format!("CLAIMEVEN_{}", name.to_uppercase());
        if let Ok(value) = env::var(&variable) {
            let named = |error: String| Failure::Input(format!("{variable}: {error}"));
            settings.text(&name, &value).map_err(named)?;
        }
    }
    for setting in &args.set {
        let (name, value) = setting.split_once('=').ok_or_else(|| {
            Failure::Input(format!("invalid value '{setting}' for '--set': expected NAME=VALUE"))
        })?;
        settings.text(name.trim(), value.trim()).map_err(Failure::Input)?;
    }
    let addr = args.addr.map(|addr| addr.to_string());
    for (name, value) in [("addr", &addr), ("database", &args.database)] {
        if let Some(value) = value {
            settings.text(name, value).map_err(Failure::Input)?;
        }
    }
    let mut config = settings.config().map_err(Failure::Input)?;
    if config.database.is_empty() {
        config.database = default_database(!args.settings)?;
    }
    if !["sqlite:", "postgres:", "postgresql:"].iter().any(|kind| config.database.starts_with(kind))
    {
        return Err(Failure::Input(format!(
            "invalid database '{}': expected sqlite:PATH or postgres://…",
            config.database
        )));
    }
    Ok(config)
}

/// A file in the user's data directory.
fn default_database(make: bool) -> Result<String, Failure> {
    let base = choose_native_strategy().map_err(|error| {
        Failure::Other(format!("no data directory found ({error}); use --database"))
    })?;
    let folder = base.data_dir().join("claimeven");
    if make {
        fs::create_dir_all(&folder).map_err(|error| Failure::unwritable(&folder, &error))?;
    }
    Ok(format!("sqlite:{}", folder.join("games.sqlite").display()))
}

fn start_log(args: &Args) {
    let level = match args.log {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    let log = tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr);
    match args.log_format {
        LogFormat::Text => log.with_ansi(std::io::stderr().is_terminal()).init(),
        LogFormat::Json => log.json().init(),
    }
}
