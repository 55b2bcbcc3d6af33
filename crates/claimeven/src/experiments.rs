//! `claimeven experiments`: claims about players, put to the test.

mod document;
mod figure;
mod text;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use claimeven_arena::{EXPERIMENTS, Experiment, Finding, Lab, Origin, Progress};
use serde_json::json;

use crate::progress;
use crate::{Failure, cores};

/// Put claims about players to the test, with games and exact scores
#[derive(clap::Args)]
#[command(after_help = "\
Each experiment prints the claim, what was run, what was measured with 95 % intervals, and whether\n\
the claim holds, which follows from the numbers. The same seed gives the same numbers, times\n\
excepted, whatever the number of threads. All of them take some 20 minutes of two cores.\n\n\
Examples:\n  \
    claimeven experiments --list\n  \
    claimeven experiments deeper-wins\n  \
    claimeven experiments --quick\n  \
    claimeven experiments --out docs")]
pub(crate) struct Args {
    /// Which experiments; all of them if none is named
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// List the experiments and their claims, and run none
    #[arg(long)]
    list: bool,

    /// Write a document, experiments.md, and its pictures to a folder; what it has of experiments
    /// that are not named is kept
    #[arg(long, value_name = "DIR", conflicts_with = "list")]
    out: Option<PathBuf>,

    /// A little of everything, in seconds: to see how it works, not what comes of it
    #[arg(long)]
    quick: bool,

    /// What chance decides by
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Games at the same time; as many as there are cores if not given
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// An experiment that was run.
struct Done {
    experiment: &'static Experiment,
    finding: Finding,
    /// What runs it again.
    command: String,
}

/// All experiments of a run, and how they were run.
struct Run {
    done: Vec<Done>,
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
        // Before minutes of play rather than after them.
        let pictures = folder.join("experiments");
        fs::create_dir_all(&pictures).map_err(|error| in_file(&pictures, &error))?;
    }
    let threads = args.threads.map_or_else(cores, usize::from);
    let bar = progress::bar(0, "{bar:25} {msg} {pos}/{len}, {eta} left");
    let watch = |progress| match progress {
        Progress::More(steps) => bar.inc_length(steps),
        Progress::Done(steps) => bar.inc(steps),
    };
    let lab = Lab::new(args.seed, threads, args.quick, &watch);
    let start = Instant::now();
    let mut run = Run { done: Vec::new(), seed: args.seed, threads, quick: args.quick };
    for (number, experiment) in (1..).zip(&chosen) {
        bar.reset();
        bar.set_length(0);
        bar.set_message(format!("{number} of {}: {}", chosen.len(), experiment.name));
        let finding = experiment.run(&lab)?;
        bar.set_message("");
        let quick = if args.quick { " --quick" } else { "" };
        let command =
            format!("claimeven experiments {} --seed {}{quick}", experiment.name, args.seed);
        let result = Done { experiment, finding, command };
        if !args.json {
            bar.suspend(|| text::write(&mut out, &result))?;
        }
        run.done.push(result);
        if let Some(folder) = &args.out {
            // At once, so that an interrupted run leaves what it has found.
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

/// The experiments that were named, each once, in the order of the table; all if none was named.
fn chosen(names: &[String]) -> Result<Vec<&'static Experiment>, Failure> {
    for name in names {
        Experiment::named(name)?;
    }
    let is_wanted = |name| names.is_empty() || names.iter().any(|wanted| wanted == name);
    Ok(EXPERIMENTS.iter().filter(|experiment| is_wanted(experiment.name)).collect())
}

fn write_files(folder: &Path, run: &Run) -> Result<(), Failure> {
    let write = |path: PathBuf, content: String| {
        fs::write(&path, content).map_err(|error| in_file(&path, &error))
    };
    for done in &run.done {
        for figure in &done.finding.figures {
            let file = format!("{}.svg", figure.name);
            write(folder.join("experiments").join(file), figure::svg(figure))?;
        }
    }
    let path = folder.join("experiments.md");
    // There may be none yet.
    let older = fs::read_to_string(&path).unwrap_or_default();
    write(path, document::markdown(run, &older))
}

fn in_file(path: &Path, error: &std::io::Error) -> Failure {
    Failure::Input(format!("{}: {error}", path.display()))
}

impl Run {
    fn find(&self, experiment: &Experiment) -> Option<&Done> {
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
