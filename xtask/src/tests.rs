//! `cargo xtask test`: all checks that a change must pass.

use std::process::ExitCode;

use crate::page;
use crate::postgres::Postgres;
use crate::step::{Report, Step};
use crate::system;

/// Runs all checks and reports each of them, even after a failure.
pub(crate) fn run(no_skip: bool) -> ExitCode {
    let mut report = Report::default();
    let postgres = match Postgres::start() {
        Ok(postgres) => Some(postgres),
        Err(reason) => {
            report.skip("PostgreSQL", format!("{reason}; the server is tested on SQLite alone"));
            None
        }
    };
    let mut steps = steps(postgres.as_ref().map(Postgres::url));
    steps.extend(page::steps(&mut report));
    report.run(&steps);
    report.finish(no_skip)
}

fn steps(postgres: Option<String>) -> Vec<Step> {
    let nextest = system::find("cargo-nextest").is_some();
    let tests: &[&str] = if nextest {
        &["nextest", "run", "--workspace", "--all-features", "--no-fail-fast"]
    } else {
        println!("cargo-nextest is not installed: the tests run with cargo test");
        &["test", "--workspace", "--all-features", "--lib", "--bins", "--tests", "--no-fail-fast"]
    };
    // Solver and network once more, without vector instructions.
    let portable = if nextest {
        // The longest test of the sets has already run in both modes.
        let both = "(package(claimeven-solver) & !test(begin_hard)) | package(claimeven-zero)";
        [tests, &["-E", both]].concat()
    } else {
        vec!["test", "-p", "claimeven-solver", "-p", "claimeven-zero", "--no-fail-fast"]
    };
    let clippy =
        ["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"];
    let docs = ["doc", "--workspace", "--all-features", "--no-deps", "--document-private-items"];
    vec![
        Step::cargo("format", &["fmt", "--all", "--check"]),
        Step::cargo("dependencies", &["xtask", "dependencies"]),
        Step::cargo("lints", &clippy),
        Step {
            variables: postgres.map(|url| ("CLAIMEVEN_TEST_POSTGRES", url)).into_iter().collect(),
            ..Step::cargo("tests", tests)
        },
        Step {
            variables: vec![("CLAIMEVEN_PORTABLE", "1".to_owned())],
            ..Step::cargo("tests without vector instructions", &portable)
        },
        Step::cargo("doctests", &["test", "--workspace", "--all-features", "--doc"]),
        Step {
            variables: vec![("RUSTDOCFLAGS", "-D warnings".to_owned())],
            ..Step::cargo("docs", &docs)
        },
    ]
}
