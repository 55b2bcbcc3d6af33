//! `claimeven work`: a worker of a fleet.

use std::path::PathBuf;
use std::sync::Arc;

use claimeven_work::{Worker, run_unit};

use crate::Failure;
use crate::fleet::{ConnectionArgs, cache, kinds, unit_command};
use crate::interrupt::interrupt_flag;
use crate::memory::return_freed_memory;
use crate::options::ThreadsArgs;

/// Run a worker: play games and solve positions for commands with --nats
#[derive(clap::Args)]
#[command(after_help = "\
Connects to a NATS server with JetStream and computes units of work until it is stopped. While the\n\
server is unreachable, it waits. On Ctrl-C and SIGTERM, running units get 3 seconds to finish, and\n\
the others are handed back.\n\n\
Kinds: games (match, arena, experiments), moves (evaluate, experiments), sample (experiments), book\n\
(book build, evaluate), solve, self-play, gate, exam (train).\n\n\
Keys: --nats-nkey FILE or --nats-creds FILE, and --nats-ca FILE for certificates of your own, as for\n\
all commands with --nats (see docs/fleet.md).\n\n\
Examples:\n  \
    claimeven work --nats nats://127.0.0.1:4222\n  \
    claimeven work --nats tls://nats.example.org --nats-nkey worker.nk --threads 8 --kinds games,solve")]
pub(crate) struct Args {
    /// NATS server, or several, separated by commas
    #[arg(
        long,
        value_name = "URL",
        env = "CLAIMEVEN_NATS",
        hide_env = true,
        required_unless_present = "unit"
    )]
    nats: Option<String>,

    /// Compute one unit from standard input for a worker
    #[arg(long, hide = true)]
    unit: bool,

    #[command(flatten)]
    threads: ThreadsArgs,

    /// Kinds of work [default: all]
    #[arg(long, value_name = "KINDS", value_delimiter = ',')]
    kinds: Vec<String>,

    /// Cache folder for networks and books [default: in the user's cache folder]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,

    #[command(flatten)]
    connection: ConnectionArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    if args.unit {
        return run_unit(&kinds()).map_err(|error| Failure::Other(error.to_string()));
    }
    return_freed_memory();
    let kinds = if args.kinds.is_empty() {
        kinds()
    } else {
        let invalid = |error| Failure::Input(format!("invalid value for '--kinds': {error}"));
        kinds().only(&args.kinds).map_err(invalid)?
    };
    let log = Arc::new(|message: &str| {
        let now = jiff::Timestamp::now().round(jiff::Unit::Second);
        let now = now.map_or_else(|_| String::new(), |now| now.to_string());
        anstream::eprintln!("{now} {message}");
    });
    let connection = args.connection.connection(args.nats.as_deref().unwrap_or_default(), log);
    let cache = args.cache.clone().unwrap_or_else(cache);
    let stop = interrupt_flag()?;
    let mut worker = Worker::new(connection, kinds, args.threads.threads(), cache);
    if let Some(command) = unit_command() {
        worker = worker.with_unit_command(command);
    }
    Ok(worker.run(&stop)?)
}
