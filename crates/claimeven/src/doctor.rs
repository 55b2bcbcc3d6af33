//! `claimeven doctor`: checks the configuration and the machine of a server.

use std::io::Write;
use std::net::SocketAddr;

use anstyle::{AnsiColor, Style};
use claimeven_server::{CheckStatus, check_readiness, doctor};

use crate::Failure;
use crate::output::print_json;
use crate::server_settings::SettingsArgs;

/// Check the configuration, the database and the machine of a server
#[derive(clap::Args)]
#[command(
    after_help = "Reads the settings of `claimeven serve` and changes nothing, so it can run alongside a server.\n\
    The exit code is 1 if a check has failed.\n\n\
    Examples:\n  \
    claimeven doctor\n  \
    claimeven doctor --config claimeven.toml --json\n  \
    claimeven doctor --ready --addr 127.0.0.1:8080"
)]
pub(crate) struct Args {
    #[command(flatten)]
    settings: SettingsArgs,

    /// Address of the server [default: 127.0.0.1:8080]
    #[arg(long, value_name = "IP:PORT")]
    addr: Option<SocketAddr>,

    /// Only ask the running server whether it is ready
    #[arg(long)]
    ready: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let addr = args.addr.map(|addr| addr.to_string());
    let config = args.settings.config(&[("addr", addr)], false)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let results = runtime.block_on(async {
        if args.ready { vec![check_readiness(&config).await] } else { doctor(&config).await }
    });
    if args.json {
        print_json(&results)?;
    } else {
        let mut out = anstream::stdout();
        for result in &results {
            let (word, colour) = match result.status {
                CheckStatus::Ok => ("ok", AnsiColor::Green),
                CheckStatus::Warning => ("warning", AnsiColor::Yellow),
                CheckStatus::Failed => ("failed", AnsiColor::Red),
            };
            let style = Style::new().fg_color(Some(colour.into()));
            writeln!(out, "{style}{word:<8}{style:#} {}: {}", result.check, result.message)?;
        }
    }
    let failed = results.iter().filter(|result| result.status == CheckStatus::Failed).count();
    match failed {
        0 => Ok(()),
        1 => Err(Failure::Other("1 check failed".to_owned())),
        failed => Err(Failure::Other(format!("{failed} checks failed"))),
    }
}
