//! `claimeven serve`: the web application.

use std::io::{self, IsTerminal, Write};
use std::net::SocketAddr;

use claimeven_server::{Config, Server, ServerError};
use clap::ValueEnum;
use tracing_subscriber::filter::LevelFilter;

use crate::Failure;
use crate::memory::return_freed_memory;
use crate::server_settings::SettingsArgs;

/// Start the web application, to play in the browser (the default)
#[derive(clap::Args)]
#[command(
    after_help = "Settings can also be given in a file (--config) and in environment variables such as\n\
    CLAIMEVEN_ADDR. Options override variables, and variables override the file.\n\n\
    Examples:\n  \
    claimeven serve\n  \
    claimeven serve --addr 0.0.0.0:80 --database postgres://user:password@host/claimeven\n  \
    claimeven serve --database postgres://host/claimeven --nats nats://host:4222\n  \
    claimeven serve --set think_ms=2000 --set threads=4\n  \
    claimeven serve --settings > claimeven.toml"
)]
pub(crate) struct Args {
    /// Address to listen on [default: 127.0.0.1:8080]
    #[arg(long, value_name = "IP:PORT")]
    addr: Option<SocketAddr>,

    /// NATS server that connects this server with workers and, on PostgreSQL, with other servers
    #[arg(long, value_name = "URL")]
    nats: Option<String>,

    #[command(flatten)]
    from: SettingsArgs,

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
    let addr = args.addr.map(|addr| addr.to_string());
    let config =
        args.from.config(&[("addr", addr), ("nats", args.nats.clone())], !args.settings)?;
    if args.settings {
        let text = config.to_toml().map_err(|error| Failure::Other(error.to_string()))?;
        write!(anstream::stdout(), "{text}")?;
        return Ok(());
    }
    start_log(args);
    return_freed_memory();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(serve(config));
    // A thread that is still drawing, loading or sending does not delay the exit.
    runtime.shutdown_background();
    served.map_err(|error| Failure::Other(error.to_string()))
}

async fn serve(config: Config) -> Result<(), ServerError> {
    let games = config.database_file().map(|path| format!("\nGames are kept in {path}"));
    let scheme = if config.has_tls() { "https" } else { "http" };
    let server = Server::start(config).await?;
    let addr = server.addr()?;
    // A closed output does not stop the server.
    let _ = writeln!(
        anstream::stdout(),
        "Listening on {scheme}://{addr} (press Ctrl-C to stop){}",
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

fn start_log(args: &Args) {
    let level = match args.log {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    let log = tracing_subscriber::fmt().with_max_level(level).with_writer(|| LogStream);
    match args.log_format {
        LogFormat::Text => log.with_ansi(std::io::stderr().is_terminal()).init(),
        LogFormat::Json => log.json().init(),
    }
}

/// Standard error, without errors. The log may be on a disk that is full, or its reader may have exited;
/// the logger would then report that on standard error, which panics, and the server must go on.
struct LogStream;

impl Write for LogStream {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let _ = io::stderr().write_all(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
