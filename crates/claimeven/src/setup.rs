//! The options that choose a board, and a setup in JSON.

use claimeven_game::{Ruleset, Setup, SetupError};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::Serialize;

/// The options that choose a board, shared by all commands that use one.
#[derive(clap::Args)]
#[command(next_help_heading = "Board")]
pub(crate) struct SetupArgs {
    /// Columns, 1 to 35
    #[arg(long, value_name = "N", default_value_t = Setup::STANDARD.cols())]
    #[arg(allow_negative_numbers = true)]
    cols: u8,

    /// Rows, 1 to 35; columns x (rows + 1) is at most 128
    #[arg(long, value_name = "N", default_value_t = Setup::STANDARD.rows())]
    #[arg(allow_negative_numbers = true)]
    rows: u8,

    /// How many in a line, 2 or more
    #[arg(long, value_name = "N", default_value_t = Setup::STANDARD.connect())]
    #[arg(allow_negative_numbers = true)]
    connect: u8,

    /// standard: the first line wins; lines: most lines on a full board win
    #[arg(long, value_name = "RULES", default_value_t, hide_possible_values = true)]
    #[arg(value_parser = PossibleValuesParser::new(Ruleset::ALL.map(Ruleset::name))
        .try_map(|name| name.parse::<Ruleset>()))]
    ruleset: Ruleset,
}

impl SetupArgs {
    pub(crate) fn setup(&self) -> Result<Setup, SetupError> {
        Setup::new(self.cols, self.rows, self.connect, self.ruleset)
    }
}

/// A setup as all JSON of the program has it.
#[derive(Serialize)]
pub(crate) struct SetupJson {
    cols: u8,
    rows: u8,
    connect: u8,
    ruleset: &'static str,
}

impl From<Setup> for SetupJson {
    fn from(setup: Setup) -> Self {
        SetupJson {
            cols: setup.cols(),
            rows: setup.rows(),
            connect: setup.connect(),
            ruleset: setup.ruleset().name(),
        }
    }
}
