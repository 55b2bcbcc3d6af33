//! `claimeven serve`: the web application.

use std::env;
use std::fs;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use claimeven_server::{Config, Server, ServerError, Settings};
use clap::ValueEnum;
use etcetera::base_strategy::{BaseStrategy, choose_native_strategy};
use tracing_subscriber::filter::LevelFilter;

use crate::Failure;

/// Play in the browser: serve the web application
#[derive(clap::Args)]
#[command(
    after_help = "Each setting can also stand in the file of --config or in an environment variable, such as\n\
    CLAIMEVEN_ADDR; options come before variables, and variables before the file.\n\n\
    Examples:\n  \
    claimeven serve\n  \
    claimeven serve --addr 0.0.0.0:80 --database postgres://user:password@host/claimeven\n  \
    claimeven serve --set think_ms=2000 --set threads=4\n  \
    claimeven serve --settings > claimeven.toml"
)]
pub(crate) struct Args {
    /// Where to listen [default: 127.0.0.1:8080]
    #[arg(long)]
    addr: Option<String>,

    /// Where games are kept: sqlite:PATH or postgres://… [default: a file in the data directory]
    #[arg(long, value_name = "URL")]
    database: Option<String>,

    /// A TOML file of settings
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Another setting; may be given several times
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,

    /// Print all settings as they would be used, and stop
    #[arg(long)]
    settings: bool,

    /// What to log: error, warn, info, debug or trace
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    log: String,

    /// How to log
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    log_format: LogFormat,
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
    start_log(args)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(serve(config)).map_err(|error| Failure::Other(error.to_string()))
}

async fn serve(config: Config) -> Result<(), ServerError> {
    let place = config.database_file().map(|path| format!(", games in {path}"));
    let server = Server::start(config).await?;
    let addr = server.addr()?;
    // Whoever closed the output does not want to read it.
    let _ = writeln!(
        anstream::stdout(),
        "Claimeven at http://{addr}{}; Ctrl-C ends it",
        place.unwrap_or_default()
    );
    server.run(stop_signal()).await
}

/// Waits for Ctrl-C or for the system to end the program.
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

/// What the file, the environment and the options say, the last of them loudest.
fn config(args: &Args) -> Result<Config, Failure> {
    let mut settings = Settings::default();
    if let Some(path) = &args.config {
        let named = |error: String| Failure::Input(format!("{}: {error}", path.display()));
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
            Failure::Input(format!("--set '{setting}' is not of the form NAME=VALUE"))
        })?;
        settings.text(name.trim(), value.trim()).map_err(Failure::Input)?;
    }
    for (name, value) in [("addr", &args.addr), ("database", &args.database)] {
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
            "database '{}' is neither sqlite:PATH nor postgres://…",
            config.database
        )));
    }
    Ok(config)
}

/// A file in the place that the system has for such.
fn default_database(make: bool) -> Result<String, Failure> {
    let base = choose_native_strategy().map_err(|error| {
        Failure::Other(format!("there is no place for games ({error}); name one with --database"))
    })?;
    let folder = base.data_dir().join("claimeven");
    if make {
        fs::create_dir_all(&folder)
            .map_err(|error| Failure::Other(format!("{}: {error}", folder.display())))?;
    }
    Ok(format!("sqlite:{}", folder.join("games.sqlite").display()))
}

fn start_log(args: &Args) -> Result<(), Failure> {
    let bad = |_| Failure::Input(format!("--log '{}' is no level of logging", args.log));
    let level: LevelFilter = args.log.parse().map_err(bad)?;
    let log = tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr);
    match args.log_format {
        LogFormat::Text => log.with_ansi(std::io::stderr().is_terminal()).init(),
        LogFormat::Json => log.json().init(),
    }
    Ok(())
}
