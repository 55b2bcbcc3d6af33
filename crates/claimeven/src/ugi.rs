//! `claimeven ugi`: makes the players available to other programs.

use std::io;

use claimeven_arena::{AgentSpec, run_ugi};

use crate::Failure;
use crate::setup::SetupArgs;

/// Run as an engine: Universal Game Interface on standard input and output
#[derive(clap::Args)]
#[command(after_help = "\
Moves are columns, separated by spaces: position startpos moves 4 4 5. The UGI options agent, cols,\n\
rows, connect, ruleset and seed set the player and the board.\n\n\
Examples:\n  \
    claimeven ugi\n  \
    claimeven ugi --agent mcts:sims=50000\n  \
    claimeven match level:5 'ugi:cmd=\"claimeven ugi --agent level:5\"' --games 10")]
pub(crate) struct Args {
    /// Player
    #[arg(long, value_name = "AGENT", default_value = "timed")]
    agent: AgentSpec,

    #[command(flatten)]
    setup: SetupArgs,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let setup = args.setup.setup()?;
    // Refuse a player that does not support the board before the protocol starts.
    args.agent.build(setup, 0)?;
    run_ugi(io::stdin().lock(), io::stdout(), args.agent, setup)?;
    Ok(())
}
