//! `cargo xtask test`: all checks that a change must pass.

use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;

use crate::page;
use crate::postgres::Postgres;
use crate::python;
use crate::step::{Report, Step};
use crate::system;

/// Runs all checks and reports each of them, even after one has failed.
///
/// Steps that compute run in sequence. The page's tests need the program and mostly wait for it and for
/// the browser, so they run in parallel with the others once it is built, followed by the Python package.
pub(crate) fn run(no_skip: bool) -> ExitCode {
    let mut report = Report::new();
    let postgres = match Postgres::start() {
        Ok(postgres) => Some(postgres),
        Err(reason) => {
            report.skip("PostgreSQL", format!("{reason}; the server is tested on SQLite only"));
            None
        }
    };
    let nats = system::find_or_install("nats-server");
    if nats.is_none() {
        let reason = "nats-server is not installed and could not be installed";
        report.skip("NATS", format!("{reason}; fleets are not tested"));
    }
    if !system::can_mount() {
        report.skip("full disk", "this user may not mount a small file system");
    }
    let mut waiting = page::steps(&mut report);
    waiting.extend(python::steps(&mut report));
    let (first, then) = steps(postgres.as_ref().map(Postgres::url), nats);
    report.run(&first);
    report.run_both(&then, &waiting);
    report.finish(no_skip)
}

/// The steps up to the build of the program, and those after it.
fn steps(postgres: Option<String>, nats: Option<PathBuf>) -> (Vec<Step>, Vec<Step>) {
    // Examples are checked with the lints; nothing runs them here.
    const TARGETS: [&str; 5] = ["--workspace", "--all-features", "--lib", "--bins", "--tests"];
    let nextest = system::find("cargo-nextest").is_some();
    let runner: &[&str] = if nextest {
        &["nextest", "run"]
    } else {
        println!("cargo-nextest is not installed: the tests run with cargo test");
        &["test"]
    };
    let build = [runner, &TARGETS, &["--no-run"]].concat();
    // The profile weighs the tests: those that compute take three of the three places per core.
    let threads = (3 * thread::available_parallelism().map_or(1, usize::from)).to_string();
    let parallel: &[&str] =
        if nextest { &["--profile", "checks", "--test-threads", &threads] } else { &[] };
    let tests = &[runner, &TARGETS, &["--no-fail-fast"], parallel].concat();
    // The solver and the networks once more, as on a processor without vector instructions.
    let portable = if nextest {
        // The longest test of the sets has already run in both modes.
        let both = "(package(claimeven-solver) & !test(begin_hard)) | package(claimeven-zero)";
        [&tests[..], &["-E", both]].concat()
    } else {
        vec!["test", "-p", "claimeven-solver", "-p", "claimeven-zero", "--no-fail-fast"]
    };
    let clippy =
        ["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"];
    let docs = ["doc", "--workspace", "--all-features", "--no-deps", "--document-private-items"];
    let first = vec![
        Step::cargo("format", &["fmt", "--all", "--check"]),
        Step::cargo("dependencies", &["xtask", "dependencies"]),
        Step::cargo("build", &build),
    ];
    let then = vec![
        Step::cargo("lints", &clippy),
        Step {
            variables: [
                postgres.map(|url| ("CLAIMEVEN_TEST_POSTGRES", url)),
                nats.map(|path| ("CLAIMEVEN_TEST_NATS", path.display().to_string())),
            ]
            .into_iter()
            .flatten()
            .collect(),
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
    ];
    (first, then)
}
