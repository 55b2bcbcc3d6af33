//! `claimeven train`: a network that learns from games against itself.

mod dashboard;
mod log;
mod view;

use std::fs;
use std::io::{self, IsTerminal};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use claimeven_game::Setup;
use claimeven_zero::{Observer, Parameters, ParametersError, Resources, Run, RunError};
use clap::builder::PossibleValuesParser;

use crate::setup::SetupArgs;
use crate::{Failure, cores};
use dashboard::Dashboard;
use log::Log;
use view::{Goal, Stage, View};

/// Train a network by games against itself
#[derive(clap::Args)]
#[command(after_help = "\
In a terminal a run is shown as it goes; in a pipe it prints a line per iteration. The folder has\n\
the same as JSON lines in metrics.jsonl. Ctrl-C stops at the last iteration that ended, a second\n\
one at once; nothing but the iteration under way is ever lost, and --resume goes on as if there\n\
had been no break. The same parameters give the same networks, whatever the threads.\n\n\
Without a limit, 10min and 1h end when the run has worked that long, and others when they are\n\
stopped. Limits count all that the run has done: with --resume, a command can be repeated until\n\
it is done.\n\n\
Disk: samples are removed when nobody learns them any more; of the networks stay the last 40, the\n\
best and some 40 older ones.\n\n\
Examples:\n  \
    claimeven train --run first\n  \
    claimeven train --run first --resume --hours 1\n  \
    claimeven train --watch first\n  \
    claimeven train --run wide --preset 1h --set architecture.channels=96 --set seed=2\n  \
    claimeven train --run deep --from first --set architecture.blocks=6 --hours 2\n  \
    claimeven train --run small --cols 5 --rows 4 --iterations 20\n  \
    claimeven play human zero:model=first\n  \
    claimeven evaluate zero:sims=100 --run first --svg > first.svg")]
pub(crate) struct Args {
    /// The folder of the run
    #[arg(long, value_name = "DIR", required_unless_present = "watch")]
    run: Option<PathBuf>,

    /// The parameters to begin with: 10min, 1h or strongest [default: 10min]
    #[arg(long, value_name = "NAME", hide_possible_values = true)]
    #[arg(value_parser = PossibleValuesParser::new(Parameters::PRESETS))]
    preset: Option<String>,

    /// A TOML file of parameters that are to be different
    #[arg(long, value_name = "FILE")]
    parameters: Option<PathBuf>,

    /// A parameter that is to be different, such as learning.rate=0.001
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<Override>,

    /// Learn first what the games of another run have taught, such as for a larger network
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    from: Option<PathBuf>,

    /// Go on with the run in the folder; parameters that are given must be its own
    #[arg(long)]
    resume: bool,

    /// Stop when the run has worked so many hours
    #[arg(long, value_name = "H", group = "until", value_parser = amount)]
    hours: Option<f64>,

    /// Stop when the run has worked so many minutes
    #[arg(long, value_name = "M", group = "until", value_parser = amount)]
    minutes: Option<f64>,

    /// Stop when the run has done so many iterations
    #[arg(long, value_name = "N", group = "until", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    iterations: Option<u64>,

    /// Threads to use; as many as there are cores if not given
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// Stop rather than leave less of the disk free, in MB
    #[arg(long, value_name = "MB", default_value_t = 256, allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u64).range(0..=1_000_000_000))]
    keep_free: u64,

    /// Show a run that is under way elsewhere
    #[arg(long, value_name = "DIR")]
    #[arg(conflicts_with_all = ["run", "preset", "parameters", "set", "from", "resume", "until", "threads"])]
    watch: Option<PathBuf>,

    /// Print lines in a terminal, too
    #[arg(long)]
    plain: bool,

    /// Print a JSON document per iteration
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    setup: SetupArgs,
}

/// `KEY=VALUE`.
#[derive(Clone)]
struct Override {
    name: String,
    value: String,
}

impl FromStr for Override {
    type Err = String;

    fn from_str(text: &str) -> Result<Override, String> {
        let (name, value) = text
            .split_once('=')
            .ok_or_else(|| format!("'{text}' is not KEY=VALUE, such as learning.rate=0.001"))?;
        Ok(Override { name: name.trim().to_owned(), value: value.trim().to_owned() })
    }
}

fn amount(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| format!("'{text}' is not a number above 0"))
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let is_drawn = !args.plain && !args.json && io::stdout().is_terminal();
    let log = Log { is_json: args.json };
    match (&args.run, &args.watch) {
        (_, Some(folder)) if is_drawn => watch_drawn(folder),
        (_, Some(folder)) => watch(folder, &log),
        (Some(folder), None) => {
            let parameters = parameters(args, folder)?;
            let task = Task { args, folder, parameters, stop: stop_flag(is_drawn)? };
            let view = View::new(folder, &parameters, task.goal());
            if is_drawn { task.train_drawn(view) } else { task.train(view, &log) }
        }
        (None, None) => unreachable!("clap asks for one of them"),
    }
}

/// The parameters to train with; those of the folder with what is to be different, in which case
/// the run itself will refuse.
fn parameters(args: &Args, folder: &Path) -> Result<Parameters, Failure> {
    let setup = args.setup.setup()?;
    let preset = |name: &str| Parameters::preset(name, setup).expect("clap knows the presets");
    let mut parameters = match (&args.preset, args.resume) {
        (Some(name), _) => preset(name),
        (None, true) => {
            let saved = Run::parameters_of(folder)?;
            let own = saved.architecture.setup().map_err(ParametersError::Architecture)?;
            // No board on the command line means the run's own.
            if setup != own && setup != Setup::STANDARD {
                let folder = folder.display();
                return Err(Failure::Input(format!(
                    "the run in {folder} is for {own}, not {setup}"
                )));
            }
            saved
        }
        (None, false) => preset(Parameters::PRESETS[0]),
    };
    if let Some(path) = &args.parameters {
        let wrong = |reason: String| Failure::Input(format!("{}: {reason}", path.display()));
        let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        let document = toml::from_str(&text).map_err(|error| wrong(error.message().to_owned()))?;
        parameters.set_all(&document).map_err(|error| wrong(error.to_string()))?;
    }
    for Override { name, value } in &args.set {
        parameters.set(name, value)?;
    }
    parameters.check()?;
    Ok(parameters)
}

/// Becomes true when the user wants to stop. A second wish is granted at once, which costs no more
/// than the iteration under way.
fn stop_flag(is_drawn: bool) -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let handler = move || match (flag.swap(true, Ordering::Relaxed), is_drawn) {
        (false, true) => {}
        (false, false) => anstream::eprintln!("stopping; a second Ctrl-C stops at once"),
        (true, is_drawn) => stop_at_once(is_drawn),
    };
    ctrlc::set_handler(handler).map_err(|error| Failure::Other(error.to_string()))?;
    Ok(stop)
}

fn stop_at_once(is_drawn: bool) {
    if is_drawn {
        dashboard::restore();
    }
    process::exit(130);
}

/// A training that was asked for.
struct Task<'a> {
    args: &'a Args,
    folder: &'a Path,
    parameters: Parameters,
    stop: Arc<AtomicBool>,
}

impl Task<'_> {
    fn goal(&self) -> Goal {
        let Args { hours, minutes, iterations, preset, resume, .. } = self.args;
        match (hours, minutes, iterations) {
            (Some(hours), ..) => Goal::Seconds(3600.0 * hours),
            (_, Some(minutes), _) => Goal::Seconds(60.0 * minutes),
            (.., Some(iterations)) => Goal::Iterations(*iterations),
            _ => match preset.as_deref() {
                Some("1h") => Goal::Seconds(3600.0),
                Some("strongest") => Goal::None,
                None if *resume => Goal::None,
                _ => Goal::Seconds(600.0),
            },
        }
    }

    /// Trains until the goal is reached or the user wants to stop.
    fn work(&self, observer: &mut Observer<'_>) -> Result<(), Failure> {
        let threads = self.args.threads.map_or_else(cores, usize::from);
        let resources =
            Resources { keep_free: 1_000_000 * self.args.keep_free, ..Resources::new(threads) };
        let opened = if self.args.resume {
            Run::resume(self.folder, Some(&self.parameters), resources, observer)
        } else {
            let other = self.args.from.as_deref();
            Run::begin(self.folder, &self.parameters, other, resources, observer)
        };
        let mut run = match opened {
            Err(RunError::Stopped(_)) => return Ok(()),
            opened => opened?,
        };
        while !self.goal().is_reached(run.state()) && !self.stop.load(Ordering::Relaxed) {
            run.iterate(observer)?;
        }
        Ok(())
    }

    fn wish(&self) -> ControlFlow<()> {
        if self.stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Trains and prints a line per iteration.
    fn train(&self, mut view: View, log: &Log) -> Result<(), Failure> {
        let mut has_begun = false;
        // Nobody may read the lines any more, but the training goes on.
        let worked = self.work(&mut |event| {
            view.update(event);
            if !has_begun {
                let _ = log.begin(&view);
                has_begun = true;
            }
            let _ = log.event(&view, event);
            self.wish()
        });
        worked?;
        log.end(&view)?;
        Ok(())
    }

    /// Trains on a thread of its own while the terminal shows how it goes.
    fn train_drawn(&self, view: View) -> Result<(), Failure> {
        let view = Mutex::new(view);
        let locked = || view.lock().unwrap_or_else(PoisonError::into_inner);
        let mut dashboard = Dashboard::open()?;
        let worked = thread::scope(|scope| {
            let work = scope.spawn(|| {
                self.work(&mut |event| {
                    locked().update(event);
                    self.wish()
                })
            });
            let mut show = || {
                while !work.is_finished() {
                    dashboard.draw(&locked())?;
                    if Dashboard::is_left(Duration::from_millis(250))?
                        && self.stop.swap(true, Ordering::Relaxed)
                    {
                        stop_at_once(true);
                    }
                    locked().is_stopping = self.stop.load(Ordering::Relaxed);
                }
                Ok(())
            };
            let shown: Result<(), Failure> = show();
            if shown.is_err() {
                // The terminal is gone.
                self.stop.store(true, Ordering::Relaxed);
            }
            shown.and(work.join().expect("training does not panic"))
        });
        drop(dashboard);
        worked?;
        Log { is_json: false }.end(&locked())?;
        Ok(())
    }
}

/// Prints the lines of a run, and those to come while some process trains.
fn watch(folder: &Path, log: &Log) -> Result<(), Failure> {
    let mut view = View::read(folder)?;
    log.begin(&view)?;
    let mut printed = 0;
    loop {
        for count in printed..view.history.len() {
            log.line(&view, count)?;
        }
        printed = view.history.len();
        if view.stage == Stage::Idle {
            log.end(&view)?;
            return Ok(());
        }
        thread::sleep(Duration::from_millis(500));
        view = View::read(folder)?;
    }
}

/// Shows a run, and how it goes on, until the user has seen enough.
fn watch_drawn(folder: &Path) -> Result<(), Failure> {
    let mut view = View::read(folder)?;
    let mut dashboard = Dashboard::open()?;
    loop {
        dashboard.draw(&view)?;
        if Dashboard::is_left(Duration::from_secs(1))? {
            return Ok(());
        }
        view = View::read(folder)?;
    }
}

impl From<ParametersError> for Failure {
    fn from(error: ParametersError) -> Failure {
        Failure::Input(error.to_string())
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Failure {
        match error {
            RunError::Exists(_) => Failure::Input(format!("{error}; --resume goes on with it")),
            RunError::Io(..) | RunError::Disk { .. } | RunError::Busy(_) => {
                Failure::Other(error.to_string())
            }
            _ => Failure::Input(error.to_string()),
        }
    }
}
