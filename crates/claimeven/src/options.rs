//! Options that several commands share.

use crate::cores;

/// The seed of everything random.
#[derive(clap::Args)]
pub(crate) struct SeedArgs {
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    pub(crate) seed: u64,
}

/// How many threads to use.
#[derive(clap::Args)]
pub(crate) struct ThreadsArgs {
    /// Number of threads [default: one per core]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

impl ThreadsArgs {
    pub(crate) fn threads(&self) -> usize {
        self.threads.map_or_else(cores, usize::from)
    }
}
