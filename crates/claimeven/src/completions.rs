//! `claimeven completions`: shell completions.

use std::io::{self, Write};

use clap::CommandFactory;
use clap_complete::Shell;

use crate::{Cli, Failure};

/// Generate shell completions
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    claimeven completions bash > ~/.local/share/bash-completion/completions/claimeven\n  \
    claimeven completions fish > ~/.config/fish/completions/claimeven.fish")]
pub(crate) struct Args {
    /// Shell
    shell: Shell,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "claimeven", &mut script);
    io::stdout().write_all(&script)?;
    Ok(())
}
