//! Options of commands that can use the workers of a fleet, and `claimeven fleet`.

mod lines;
mod scores;
mod status;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use claimeven_arena::experiments::SamplePositions;
use claimeven_arena::{ExamEvaluations, FLEET_VERSION, Games, GateGames, Moves, SelfPlayGames};
use claimeven_work::{
    Connection, DispatchEvent, Dispatcher, Kinds, Local, Log, Nats, UnitCommand, Work,
};
use etcetera::BaseStrategy;

use crate::Failure;

pub(crate) use claimeven_arena::FleetTraining;
pub(crate) use lines::SolveLines;
pub(crate) use scores::{BookScores, SolverWork};
pub(crate) use status::{Args, run};

/// How to reach the NATS server.
#[derive(clap::Args)]
pub(crate) struct ConnectionArgs {
    /// Seed of the nkey to connect with
    #[arg(long, value_name = "FILE", env = "CLAIMEVEN_NATS_NKEY", hide = true)]
    nats_nkey: Option<PathBuf>,

    /// Credentials (JWT and nkey) to connect with
    #[arg(long, value_name = "FILE", env = "CLAIMEVEN_NATS_CREDS", hide = true)]
    nats_creds: Option<PathBuf>,

    /// Certificates to trust instead of those of the system
    #[arg(long, value_name = "FILE", env = "CLAIMEVEN_NATS_CA", hide = true)]
    nats_ca: Option<PathBuf>,

    /// Seconds without a heartbeat after which a unit is given to another worker; must be the same
    /// for all clients of a NATS server
    #[arg(long, value_name = "S", default_value_t = 15, hide = true)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=3600))]
    ack_wait: u64,
}

impl ConnectionArgs {
    pub(crate) fn connection(&self, url: &str, log: Log) -> Connection {
        Connection::new(url)
            .with_version(FLEET_VERSION)
            .with_nkey(self.nats_nkey.clone())
            .with_credentials(self.nats_creds.clone())
            .with_certificates(self.nats_ca.clone())
            .with_ack_wait(Duration::from_secs(self.ack_wait))
            .with_log(log)
    }
}

/// The options of a command that can use the workers of a fleet.
#[derive(clap::Args)]
#[command(next_help_heading = "Fleet")]
pub(crate) struct FleetArgs {
    /// Let the workers on this NATS server do the work (see `claimeven work`)
    #[arg(long, value_name = "URL", env = "CLAIMEVEN_NATS", hide_env = true)]
    nats: Option<String>,

    /// Share of the work that a second worker repeats, to compare the results
    #[arg(long, value_name = "P", default_value_t = 0.02, requires = "nats")]
    #[arg(value_parser = share)]
    check: f64,

    #[command(flatten)]
    connection: ConnectionArgs,
}

fn share(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "expected a share from 0 to 1".to_owned())
}

impl FleetArgs {
    pub(crate) fn is_given(&self) -> bool {
        self.nats.is_some()
    }

    /// The machines that the command line selects. Their messages are passed to `log`.
    pub(crate) fn machines(&self, threads: usize, log: Log) -> Machines {
        let Some(url) = &self.nats else { return Machines::Local(Local { threads }) };
        let connection = self.connection.connection(url, log);
        let nats = Nats::new(connection, threads, cache())
            .with_arithmetic(claimeven_zero::arithmetic())
            .with_check_share(self.check);
        let nats = match unit_command() {
            Some(command) => nats.with_unit_command(command),
            None => nats,
        };
        Machines::Fleet(Box::new(nats))
    }
}

/// The machines that do the work of a command.
pub(crate) enum Machines {
    Local(Local),
    Fleet(Box<Nats>),
}

impl Dispatcher for Machines {
    fn run<W: Work>(
        &self,
        work: &W,
        numbers: impl Iterator<Item = u64> + Send,
        unit: impl Fn(u64) -> W::Unit + Sync,
        cancel: Option<&AtomicBool>,
        take: impl FnMut(DispatchEvent<W::Output>) -> Result<ControlFlow<()>, W::Error>,
    ) -> Result<(), W::Error> {
        match self {
            Machines::Local(local) => local.run(work, numbers, unit, cancel, take),
            Machines::Fleet(nats) => nats.run(work, numbers, unit, cancel, take),
        }
    }
}

/// All kinds of work that a worker can do.
pub(crate) fn kinds() -> Kinds {
    Kinds::new(claimeven_zero::arithmetic())
        .with::<Games>()
        .with::<BookScores>()
        .with::<SolveLines>()
        .with::<SelfPlayGames>()
        .with::<GateGames>()
        .with::<ExamEvaluations>()
        .with::<Moves>()
        .with::<SamplePositions>()
}

/// The command that computes a unit in a process of its own.
pub(crate) fn unit_command() -> Option<UnitCommand> {
    let program = std::env::current_exe().ok()?;
    Some(Arc::new(move || {
        let mut command = Command::new(&program);
        command.args(["work", "--unit"]);
        command
    }))
}

/// The folder in which workers cache networks and books.
pub(crate) fn cache() -> PathBuf {
    let folder = etcetera::choose_base_strategy().map(|strategy| strategy.cache_dir());
    folder.unwrap_or_else(|_| std::env::temp_dir()).join("claimeven").join("fleet")
}

/// Prints messages on standard error, above a progress bar.
pub(crate) fn log_above(bar: &indicatif::ProgressBar) -> Log {
    let bar = bar.clone();
    Arc::new(move |message| bar.suspend(|| anstream::eprintln!("{message}")))
}

impl From<claimeven_work::WorkError> for Failure {
    fn from(error: claimeven_work::WorkError) -> Failure {
        match error {
            claimeven_work::WorkError::LocalOnly(_) => Failure::Input(error.to_string()),
            error => Failure::Other(error.to_string()),
        }
    }
}
