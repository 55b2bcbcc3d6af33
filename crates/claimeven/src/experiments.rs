//! `claimeven experiments`: tests claims about players.

mod document;
mod figure;
mod text;

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use claimeven_arena::experiments::{
    EXPERIMENTS, Experiment, Finding, Lab, MatchJournal, Origin, Progress,
};
use serde_json::json;

use crate::Failure;
use crate::fleet::{FleetArgs, log_above};
use crate::interrupt::interrupt_flag;
use crate::options::{SeedArgs, ThreadsArgs};
use crate::output::write_file;
use crate::progress;

/// Test claims about players with games and exact scores
#[derive(clap::Args)]
#[command(after_help = "\
Each experiment prints the claim, what was run, the measurements with 95 % confidence intervals, and\n\
whether the claim holds, which follows from the numbers. The same seed gives the same numbers except\n\
for times, whatever the number of threads. All experiments take about half an hour on two cores. With\n\
--nats, workers play the games and search the positions; experiments about the time of searches run\n\
on this machine.\n\n\
Examples:\n  \
    claimeven experiments --list\n  \
    claimeven experiments deeper-wins\n  \
    claimeven experiments --quick\n  \
    claimeven experiments --out docs --journal matches.jsonl")]
pub(crate) struct Args {
    /// Experiments to run [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// List the experiments and their claims
    #[arg(long)]
    list: bool,

    /// Folder for a report, experiments.md, and its plots; an existing report keeps the sections of
    /// the other experiments
    #[arg(long, value_name = "DIR", conflicts_with = "list")]
    out: Option<PathBuf>,

    /// File in which finished matches are kept, and from which an interrupted run is resumed
    #[arg(long, value_name = "FILE", conflicts_with = "list")]
    journal: Option<PathBuf>,

    /// Run a few seconds of each experiment, to try the command; the verdicts mean nothing
    #[arg(long)]
    quick: bool,

    #[command(flatten)]
    seed: SeedArgs,

    #[command(flatten)]
    threads: ThreadsArgs,

    /// Print JSON
    #[arg(long)]
    json: bool,

    // Last, because its heading would be that of the options after it.
    #[command(flatten)]
    fleet: FleetArgs,
}

/// An experiment with its finding.
struct CompletedExperiment {
    experiment: &'static Experiment,
    finding: Finding,
    /// The command that runs it again.
    command: String,
}

/// The experiments of one invocation, and its options.
struct Run {
    done: Vec<CompletedExperiment>,
    seed: u64,
    threads: usize,
    quick: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let chosen = chosen(&args.names)?;
    let mut out = anstream::stdout().lock();
    if args.list {
        if args.json {
            let list: Vec<_> = chosen.iter().map(|experiment| claim_json(experiment)).collect();
            writeln!(out, "{}", json!(list))?;
        } else {
            text::write_list(&mut out, &chosen)?;
        }
        return Ok(());
    }
    if let Some(folder) = &args.out {
        // Fail before minutes of play, not after.
        let plots = folder.join("experiments");
        fs::create_dir_all(&plots).map_err(|error| Failure::unwritable(&plots, &error))?;
    }
    let (seed, threads) = (args.seed.seed, args.threads.threads());
    let bar = progress::bar(0, "{bar:20} {msg} {pos}/{len}, {eta} left");
    let watch = |progress| match progress {
        Progress::More(steps) => bar.inc_length(steps),
        Progress::Done(steps) => bar.inc(steps),
    };
    let machines = args.fleet.machines(threads, log_above(&bar));
    let mut lab = Lab::new(seed, threads, args.quick, &watch);
    if args.fleet.is_given() {
        // The units on the NATS server have to be removed.
        lab = lab.with_machines(&machines).with_cancel(interrupt_flag()?);
    }
    if let Some(path) = &args.journal {
        lab = lab.with_journal(open_journal(path)?);
    }
    let start = Instant::now();
    let mut run = Run { done: Vec::new(), seed, threads, quick: args.quick };
    for (number, experiment) in (1..).zip(&chosen) {
        bar.reset();
        bar.set_length(0);
        bar.set_message(format!("{number} of {}: {}", chosen.len(), experiment.name));
        if args.fleet.is_given() && experiment.runs_locally {
            let name = experiment.name;
            bar.suspend(|| {
                anstream::eprintln!(
                    "{name} counts and times single searches, so it runs on this machine"
                );
            });
        }
        let finding = experiment.run(&lab)?;
        bar.set_message("");
        let quick = if args.quick { " --quick" } else { "" };
        let command = format!("claimeven experiments {} --seed {seed}{quick}", experiment.name);
        let result = CompletedExperiment { experiment, finding, command };
        if !args.json {
            bar.suspend(|| text::write(&mut out, &result))?;
        }
        run.done.push(result);
        if let Some(folder) = &args.out {
            // After each experiment, so that an interrupted run keeps its findings.
            write_files(folder, &run)?;
        }
    }
    bar.finish_and_clear();
    if args.json {
        writeln!(out, "{}", run.json(start.elapsed()))?;
    } else {
        text::write_summary(&mut out, &run, start.elapsed())?;
    }
    Ok(())
}

fn open_journal(path: &Path) -> Result<MatchJournal, Failure> {
    MatchJournal::open(path).map_err(|error| match error.kind() {
        ErrorKind::Other | ErrorKind::InvalidData => Failure::in_file(path, &error.to_string()),
        _ => Failure::unwritable(path, &error),
    })
}

/// The experiments with these names, each once, in the order of the table; all if none is named.
fn chosen(names: &[String]) -> Result<Vec<&'static Experiment>, Failure> {
    for name in names {
        Experiment::named(name)?;
    }
    let is_wanted = |name| names.is_empty() || names.iter().any(|wanted| wanted == name);
    Ok(EXPERIMENTS.iter().filter(|experiment| is_wanted(experiment.name)).collect())
}

fn write_files(folder: &Path, run: &Run) -> Result<(), Failure> {
    for done in &run.done {
        for figure in &done.finding.figures {
            let file = format!("{}.svg", figure.name);
            write_file(&folder.join("experiments").join(file), figure::svg(figure))?;
        }
    }
    let path = folder.join("experiments.md");
    // The file may not exist yet.
    let previous = fs::read_to_string(&path).unwrap_or_default();
    write_file(&path, document::markdown(run, &previous))
}

impl Run {
    fn find(&self, experiment: &Experiment) -> Option<&CompletedExperiment> {
        self.done.iter().find(|done| done.experiment.name == experiment.name)
    }

    fn json(&self, time: Duration) -> serde_json::Value {
        let experiments: Vec<_> = self
            .done
            .iter()
            .map(|done| {
                let mut json = claim_json(done.experiment);
                json["command"] = json!(done.command);
                json["finding"] = json!(done.finding);
                json
            })
            .collect();
        json!({
            "seed": self.seed, "quick": self.quick, "threads": self.threads,
            "seconds": time.as_secs_f64(), "experiments": experiments,
        })
    }
}

fn claim_json(experiment: &Experiment) -> serde_json::Value {
    json!({
        "name": experiment.name, "title": experiment.title, "claim": experiment.claim,
        "origin": match experiment.origin { Origin::Older => "older", Origin::Ours => "ours" },
    })
}
