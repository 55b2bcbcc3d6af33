//! `claimeven train`: trains a network by self-play.

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
use claimeven_zero::{Event, Observer, Parameters, ParametersError, Resources, Run, RunError};
use clap::builder::PossibleValuesParser;

use crate::Failure;
use crate::fleet::{FleetArgs, FleetTraining};
use crate::options::ThreadsArgs;
use crate::setup::SetupArgs;
use dashboard::Dashboard;
use log::Log;
use view::{Stage, StopCondition, View};

/// Train a network by self-play (AlphaZero)
#[derive(clap::Args)]
#[command(after_help = "\
On a terminal, a dashboard shows the run; in a pipe, a line is printed per iteration. The folder of\n\
the run has the same figures as JSON lines in metrics.jsonl. Ctrl-C stops after the current step, a\n\
second Ctrl-C immediately; at most the current iteration is lost, and --resume continues as if the\n\
run had not been interrupted. The same parameters give the same networks, whatever the number of\n\
threads. Before a run stops, its newest network plays a gate match against the best one (its\n\
iteration is then reported again).\n\n\
Without a limit, the presets 10min and 1h stop after that time; strongest and 19x128 (the network\n\
and search of an older project) run until they are stopped. Limits include earlier sessions of the\n\
run, so that a command with --resume can be repeated until the run is finished.\n\n\
Disk: samples that have left the replay buffer are deleted. The last 40 networks, the best one and\n\
about 40 older ones are kept.\n\n\
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
    /// Folder of the run
    #[arg(long, value_name = "DIR", required_unless_present = "watch")]
    run: Option<PathBuf>,

    /// Preset of the parameters: 10min, 1h, strongest or 19x128 [default: 10min]
    #[arg(long, value_name = "NAME", hide_possible_values = true)]
    #[arg(value_parser = PossibleValuesParser::new(Parameters::PRESETS))]
    preset: Option<String>,

    /// TOML file with parameters that override the preset
    #[arg(long, value_name = "FILE")]
    parameters: Option<PathBuf>,

    /// Override a parameter, such as learning.rate=0.001; can be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<Override>,

    /// Start from the newest network and the samples of another run, or from a network file. The
    /// network can be larger: it starts with the same evaluations
    #[arg(long, value_name = "DIR|FILE", conflicts_with = "resume")]
    from: Option<PathBuf>,

    /// Resume the run in the folder; parameters, if given, must be those of the run
    #[arg(long)]
    resume: bool,

    /// Stop after this training time in hours
    #[arg(long, value_name = "H", allow_negative_numbers = true, group = "until", value_parser = amount)]
    hours: Option<f64>,

    /// Stop after this training time in minutes
    #[arg(long, value_name = "M", allow_negative_numbers = true, group = "until", value_parser = amount)]
    minutes: Option<f64>,

    /// Stop after this number of iterations
    #[arg(long, value_name = "N", group = "until", allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    iterations: Option<u64>,

    #[command(flatten)]
    threads: ThreadsArgs,

    /// Stop when less disk space than this is free, in MB
    #[arg(long, value_name = "MB", default_value_t = 256, allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u64).range(0..=1_000_000_000))]
    keep_free: u64,

    /// Watch a run that another process trains
    #[arg(long, value_name = "DIR")]
    #[arg(conflicts_with_all = ["run", "preset", "parameters", "set", "from", "resume", "until", "threads"])]
    watch: Option<PathBuf>,

    /// Print lines instead of the dashboard
    #[arg(long)]
    plain: bool,

    /// Print a JSON object per iteration
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    setup: SetupArgs,

    // Last, because its heading would be that of the options after it.
    #[command(flatten)]
    fleet: FleetArgs,
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
            .ok_or_else(|| "expected KEY=VALUE, such as learning.rate=0.001".to_owned())?;
        Ok(Override { name: name.trim().to_owned(), value: value.trim().to_owned() })
    }
}

fn amount(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| "expected a number above 0".to_owned())
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let has_dashboard = !args.plain && !args.json && io::stdout().is_terminal();
    let log = Log { is_json: args.json };
    match (&args.run, &args.watch) {
        (_, Some(folder)) if has_dashboard => watch_on_dashboard(folder),
        (_, Some(folder)) => watch(folder, &log),
        (Some(folder), None) => {
            let parameters = parameters(args, folder)?;
            let task = Task { args, folder, parameters, stop: stop_flag(has_dashboard)? };
            let view = View::new(folder, &parameters, task.stop_condition());
            if has_dashboard { task.train_on_dashboard(view) } else { task.train(view, &log) }
        }
        (None, None) => unreachable!("clap requires one of them"),
    }
}

/// The parameters of the preset or the saved run, with the overrides. Resuming a run with
/// different parameters is refused later.
fn parameters(args: &Args, folder: &Path) -> Result<Parameters, Failure> {
    let setup = args.setup.setup()?;
    let preset = |name: &str| Parameters::preset(name, setup).expect("clap knows the presets");
    let mut parameters = match (&args.preset, args.resume) {
        (Some(name), _) => preset(name),
        (None, true) => {
            let saved = Run::parameters_of(folder)?;
            let own = saved.architecture.setup().map_err(ParametersError::Architecture)?;
            // The default board means that of the run.
            if setup != own && setup != Setup::STANDARD {
                let folder = folder.display();
                return Err(Failure::Input(format!(
                    "the run in {folder} is for {own}, not for {setup}"
                )));
            }
            saved
        }
        (None, false) => preset(Parameters::PRESETS[0]),
    };
    if let Some(path) = &args.parameters {
        let wrong = |reason: String| Failure::in_file(path, &reason);
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

/// A flag that Ctrl-C sets. A second Ctrl-C ends the process, which loses at most the current
/// iteration.
fn stop_flag(has_dashboard: bool) -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let handler = move || match (flag.swap(true, Ordering::Relaxed), has_dashboard) {
        (false, true) => {}
        (false, false) => anstream::eprintln!("Stopping (press Ctrl-C again to stop immediately)"),
        (true, has_dashboard) => stop_at_once(has_dashboard),
    };
    ctrlc::set_handler(handler).map_err(|error| Failure::Other(error.to_string()))?;
    Ok(stop)
}

fn stop_at_once(has_dashboard: bool) {
    if has_dashboard {
        dashboard::restore();
    }
    process::exit(130);
}

/// The training that the command line describes.
struct Task<'a> {
    args: &'a Args,
    folder: &'a Path,
    parameters: Parameters,
    stop: Arc<AtomicBool>,
}

impl Task<'_> {
    fn stop_condition(&self) -> StopCondition {
        let Args { hours, minutes, iterations, preset, resume, .. } = self.args;
        match (hours, minutes, iterations) {
            (Some(hours), ..) => StopCondition::Seconds(3600.0 * hours),
            (_, Some(minutes), _) => StopCondition::Seconds(60.0 * minutes),
            (.., Some(iterations)) => StopCondition::Iterations(*iterations),
            _ => match preset.as_deref() {
                Some("1h") => StopCondition::Seconds(3600.0),
                Some("strongest" | "19x128") => StopCondition::None,
                None if *resume => StopCondition::None,
                _ => StopCondition::Seconds(600.0),
            },
        }
    }

    /// Trains until the stop condition is reached or the stop flag is set.
    fn work(&self, observer: &mut Observer<'_>) -> Result<(), Failure> {
        let threads = self.args.threads.threads();
        let resources =
            Resources { keep_free: 1_000_000 * self.args.keep_free, ..Resources::new(threads) };
        let is_new = !self.folder.exists();
        let opened = if self.args.resume {
            Run::resume(self.folder, Some(&self.parameters), resources, observer)
        } else {
            let other = self.args.from.as_deref();
            Run::begin(self.folder, &self.parameters, other, resources, observer)
        };
        let mut run = match opened {
            Err(RunError::Stopped(_)) => return Ok(()),
            Err(error) if is_new => {
                // A rejected run leaves no folder behind.
                let _ = fs::remove_dir_all(self.folder);
                return Err(error.into());
            }
            opened => opened?,
        };
        if self.args.fleet.is_given() {
            // The dashboard fills the terminal, so there is no room for messages.
            let log: claimeven_work::Log = if self.args.json || !io::stdout().is_terminal() {
                Arc::new(|message| anstream::eprintln!("{message}"))
            } else {
                Arc::new(|_| {})
            };
            let machines = self.args.fleet.machines(threads, log);
            run.set_machines(Arc::new(FleetTraining { machines }));
        }
        while !self.stop_condition().is_reached(run.state()) && !self.stop.load(Ordering::Relaxed) {
            run.iterate(observer)?;
        }
        // The best network is up to date when the run stops.
        Ok(run.finish(observer)?)
    }

    fn keep_going(&self) -> ControlFlow<()> {
        if self.stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Trains and prints a line per iteration.
    fn train(&self, mut view: View, log: &Log) -> Result<(), Failure> {
        let mut is_started = false;
        // The exam reports progress many times but is announced only once.
        let mut is_announced = false;
        // A closed output does not stop the training.
        let worked = self.work(&mut |event| {
            let is_exam = matches!(event, Event::PreparingExam { .. });
            let is_repeated = is_exam && is_announced;
            is_announced |= is_exam;
            view.update(event);
            if !is_started {
                let _ = log.begin(&view);
                is_started = true;
            }
            if !is_repeated {
                let _ = log.event(&view, event);
            }
            self.keep_going()
        });
        worked?;
        log.end(&view)?;
        Ok(())
    }

    /// Trains on another thread while the dashboard is shown.
    fn train_on_dashboard(&self, view: View) -> Result<(), Failure> {
        let view = Mutex::new(view);
        let locked = || view.lock().unwrap_or_else(PoisonError::into_inner);
        let mut dashboard = Dashboard::open()?;
        let worked = thread::scope(|scope| {
            let work = scope.spawn(|| {
                self.work(&mut |event| {
                    locked().update(event);
                    self.keep_going()
                })
            });
            let mut show = || {
                while !work.is_finished() {
                    dashboard.draw(&locked())?;
                    if Dashboard::wants_quit(Duration::from_millis(250))?
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

/// Prints the iterations of a run, and new ones while another process trains.
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

/// Shows the dashboard of a run until the user quits.
fn watch_on_dashboard(folder: &Path) -> Result<(), Failure> {
    let mut view = View::read(folder)?;
    let mut dashboard = Dashboard::open()?;
    loop {
        dashboard.draw(&view)?;
        if Dashboard::wants_quit(Duration::from_secs(1))? {
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
            RunError::Exists(_) => Failure::Input(format!("{error}; use --resume to continue it")),
            RunError::Io(..)
            | RunError::Disk { .. }
            | RunError::Busy(_)
            | RunError::Machines(_) => Failure::Other(error.to_string()),
            _ => Failure::Input(error.to_string()),
        }
    }
}
