//! The program `claimeven`.

use std::process::ExitCode;

fn main() -> ExitCode {
    claimeven::main()
}
