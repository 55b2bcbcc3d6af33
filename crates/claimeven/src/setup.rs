//! The options for the board and the rules.

use claimeven_game::{Ruleset, Setup, SetupError};
use clap::builder::{PossibleValuesParser, TypedValueParser};

/// The board and the rules, for all commands that need them.
#[derive(clap::Args)]
#[command(next_help_heading = "Board")]
pub(crate) struct SetupArgs {
    /// Number of columns, 1 to 35
    #[arg(long, value_name = "N", default_value_t = Setup::STANDARD.cols())]
    #[arg(allow_negative_numbers = true, value_parser = clap::value_parser!(u8).range(1..=35))]
    cols: u8,

    /// Number of rows, 1 to 35; columns x (rows + 1) at most 128
    #[arg(long, value_name = "N", default_value_t = Setup::STANDARD.rows())]
    #[arg(allow_negative_numbers = true, value_parser = clap::value_parser!(u8).range(1..=35))]
    rows: u8,

    /// Discs in a row to win, 2 or more
    #[arg(long, value_name = "N", default_value_t = Setup::STANDARD.connect())]
    #[arg(allow_negative_numbers = true, value_parser = clap::value_parser!(u8).range(2..))]
    connect: u8,

    /// standard: the first four in a row wins; lines: each four in a row is a point, and whoever has
    /// more on a full board wins
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
