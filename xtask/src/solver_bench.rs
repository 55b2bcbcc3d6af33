//! `cargo xtask bench solver`: our solver and another one, measured in the same run.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

const PEER: &str = "bitbully";
const PEER_DATABASE: &str = "bitbully-databases";

/// The options of the benchmark.
pub(crate) struct SolverBench<'a> {
    /// The folder of the public test sets.
    pub(crate) sets: &'a str,
    /// Whether to solve the empty board too, which takes the other solver five minutes.
    pub(crate) empty: bool,
    /// The file for a JSON report.
    pub(crate) json: Option<&'a str>,
}

/// One line of `claimeven bench --json`, which the script of the other solver also prints.
#[derive(Serialize, Deserialize)]
struct Measured {
    name: String,
    positions: usize,
    correct: usize,
    nodes: u64,
    mean_us: f64,
    median_us: f64,
    nodes_per_second: f64,
}

#[derive(Serialize)]
struct Report {
    ours: Vec<Measured>,
    peer: Vec<Measured>,
    /// How many times as long the other solver takes, on average.
    ratios: Vec<f64>,
}

impl SolverBench<'_> {
    pub(crate) fn run(&self) -> Result<(), String> {
        let python = install(PEER)?;
        println!("measuring claimeven");
        let mut ours = Command::new("cargo");
        ours.args(["run", "--quiet", "--release", "--package", "claimeven", "--"]);
        ours.args(["bench", "--json", "--sets", self.sets]);
        ours.args(self.empty.then_some("--empty"));
        let ours = measure(&mut ours)?;

        println!("measuring {PEER}, which takes some minutes");
        let mut peer = Command::new(python);
        peer.args(["-c", include_str!("bitbully.py"), self.sets]);
        peer.args(self.empty.then_some("--empty"));
        let peer = measure(&mut peer)?;

        let ratios = ours.iter().zip(&peer).map(|(ours, peer)| peer.mean_us / ours.mean_us);
        let report = Report { ratios: ratios.collect(), ours, peer };
        report.print();
        if let Some(path) = self.json {
            let text = serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?;
            fs::write(path, text).map_err(|error| format!("{path}: {error}"))?;
        }
        Ok(())
    }
}

impl Report {
    /// Prints a Markdown table.
    fn print(&self) {
        println!();
        println!(
            "| set | correct | nodes | nodes/s | median | mean | {PEER}: median | mean | ratio |"
        );
        println!("|---|---|---|---|---|---|---|---|---|");
        for ((ours, peer), ratio) in self.ours.iter().zip(&self.peer).zip(&self.ratios) {
            println!(
                "| {} | {}/{} | {} | {:.1} M | {} | {} | {} | {} | {ratio:.1} |",
                ours.name,
                ours.correct,
                ours.positions,
                ours.nodes,
                ours.nodes_per_second / 1e6,
                time(ours.median_us),
                time(ours.mean_us),
                time(peer.median_us),
                time(peer.mean_us),
            );
        }
    }
}

/// Compares every score of the embedded book of ply 12 with the other solver's database.
pub(crate) fn compare_book() -> Result<(), String> {
    let python = install(PEER_DATABASE)?;
    let script = "import bitbully_databases as data, pathlib; \
                  print(pathlib.Path(data.__file__).parent / 'assets/book_12ply_distances.dat')";
    let output = Command::new(python).args(["-c", script]).output();
    let path = String::from_utf8(output.map_err(|error| error.to_string())?.stdout);
    let path = path.map_err(|error| error.to_string())?;
    let example = ["run", "--release", "--package", "claimeven-solver", "--example"];
    succeed(Command::new("cargo").args(example).args(["compare_book", "--", path.trim()]))
}

/// Installs a package into a virtual environment and returns the path of its Python.
fn install(package: &str) -> Result<String, String> {
    let folder = "target/bench-solver";
    let python = format!("{folder}/bin/python");
    if !Path::new(&python).exists() {
        succeed(Command::new("python3").args(["-m", "venv", folder]))?;
    }
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", package];
    succeed(Command::new(&python).args(pip))?;
    Ok(python)
}

fn succeed(command: &mut Command) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?}: {status}")),
        Err(error) => Err(format!("{command:?}: {error}")),
    }
}

fn measure(command: &mut Command) -> Result<Vec<Measured>, String> {
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{}", output.status));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())
}

/// Microseconds in a suitable unit.
fn time(us: f64) -> String {
    match us {
        ..1e3 => format!("{us:.2} us"),
        ..1e6 => format!("{:.2} ms", us / 1e3),
        _ => format!("{:.2} s", us / 1e6),
    }
}
