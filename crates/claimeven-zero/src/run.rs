//! A training run: its folder, and one iteration after another.

use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use claimeven_game::{Setup, mix_key};
use fastrand::Rng;
use serde::{Deserialize, Serialize};

use crate::exam::{Exam, ExamScore};
use crate::files;
use crate::gate::{MatchScore, play_match};
use crate::gradient::Sample;
use crate::inference::Inference;
use crate::learner::Learner;
use crate::network::Network;
use crate::parameters::{Parameters, ParametersError};
use crate::replay_buffer::{ReplayBuffer, load_samples, save_samples};
use crate::self_play::{SelfPlayBatch, SelfPlayGame, SelfPlayProgress, play_games};

/// A training run in a folder of its own.
///
/// ```text
/// parameters.json            what was asked for; a run never changes it
/// state.json                 where the run is; written last, so all it names is there
/// metrics.jsonl              a line per iteration
/// exam.json                  positions with exact results, to measure and never to learn
/// best.safetensors           the network that has won the last gate match
/// networks/000012.safetensors   the network after iteration 12
/// learner/000012-….safetensors  what the learner needs to go on from there
/// samples/000012.safetensors    what the games of iteration 12 have taught
/// inherited/000001.safetensors  what another run's games have taught, in place of the first ones
/// lock                       held by the process that trains
/// ```
///
/// Killed at any time, it goes on from the last iteration that ended, as if nothing had happened.
///
/// A folder stops growing: samples are removed when they leave the window, a learner when the next
/// one is saved, and of the networks stay the last 40, the best, and of the older ones every
/// second, fourth, eighth … so that there are never more than about 80.
pub struct Run {
    folder: PathBuf,
    parameters: Parameters,
    setup: Setup,
    resources: Resources,
    state: RunState,
    learner: Learner,
    /// The network that plays: the mean of what the learner has been lately.
    player: Network,
    best: Network,
    replay: ReplayBuffer,
    exam: Option<Exam>,
    /// Nobody else trains in the folder while this is held.
    _lock: File,
}

/// What a run may use of the machine. Nothing that is learnt depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    /// Threads to work on.
    pub threads: usize,
    /// Bytes of the disk that are left to others: with less, no iteration begins.
    pub keep_free: u64,
}

impl Resources {
    /// So many threads, and 256 MB of the disk left to others.
    pub fn new(threads: usize) -> Resources {
        Resources { threads: threads.max(1), keep_free: 256_000_000 }
    }
}

/// Where a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunState {
    /// Iterations done.
    pub iteration: u64,
    /// The iteration of the best network.
    pub best: u64,
    /// Games played.
    pub games: u64,
    /// Samples taken from them.
    pub samples: u64,
    /// The oldest iteration whose samples are still learnt.
    pub buffer_from: u64,
    /// Steps of the learner.
    pub steps: u64,
    /// Positions that networks have judged in self-play.
    pub evaluations: u64,
    /// Seconds worked.
    pub seconds: f64,
}

/// What one iteration did.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Where the run is now.
    #[serde(flatten)]
    pub state: RunState,
    /// Seconds of self-play.
    pub self_play_seconds: f64,
    /// Seconds of learning.
    pub learning_seconds: f64,
    /// Seconds of the gate match and the exam.
    pub test_seconds: f64,
    /// Samples of this iteration's games.
    pub new_samples: usize,
    /// Samples in the window.
    pub buffer: usize,
    /// Distinct positions in the window.
    pub pool: usize,
    /// Games won, drawn and lost by whoever moved first after the opening.
    pub results: [u64; 3],
    /// Moves of a game, on average.
    pub moves_per_game: f64,
    /// The learner's step size.
    pub rate: f32,
    /// The policy's loss.
    pub policy_loss: f32,
    /// The value's loss.
    pub value_loss: f32,
    /// The gate match, if there was one.
    pub gate: Option<MatchScore>,
    /// The exam, if there was one.
    pub exam: Option<ExamScore>,
}

/// What a run tells its observer.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The positions of the exam are being solved.
    PreparingExam {
        /// Those that are.
        solved: usize,
        /// All of them.
        of: usize,
    },
    /// Games are being played.
    Playing {
        /// The iteration.
        iteration: u64,
        /// Games that have ended.
        games: u64,
        /// Games of the iteration.
        of: u64,
    },
    /// The games of an iteration have ended.
    Played {
        /// The iteration.
        iteration: u64,
        /// Some of the games.
        shown: &'a [SelfPlayGame],
    },
    /// The network learns.
    Learning {
        /// The iteration.
        iteration: u64,
        /// Steps taken.
        steps: u64,
        /// Steps of the iteration.
        of: u64,
    },
    /// The gate match or the exam has begun.
    Testing {
        /// The iteration.
        iteration: u64,
    },
    /// An iteration has ended and is saved.
    Done(&'a Metrics),
}

/// Whoever watches a run; breaking off ends it at the last iteration saved.
pub type Observer<'a> = dyn FnMut(Event<'_>) -> ControlFlow<()> + 'a;

/// Networks that are kept in full before older ones are thinned out.
const KEPT_NETWORKS: u64 = 40;

impl Run {
    /// Begins a run in an empty or new folder. With another run, its first iterations learn what
    /// is in that one's window instead of playing games, which gives a larger network a start.
    pub fn begin(
        folder: &Path,
        parameters: &Parameters,
        other: Option<&Path>,
        resources: Resources,
        observer: &mut Observer<'_>,
    ) -> Result<Run, RunError> {
        let setup = parameters.check().map_err(RunError::Parameters)?;
        let inherited = other.map_or(Ok(Vec::new()), |other| samples_of(other, setup))?;
        let lock = create(folder, parameters, &inherited)?;
        Run::open(folder, parameters, lock, resources, observer)
    }

    /// Goes on with the run in a folder. If parameters are given, they must be its own.
    pub fn resume(
        folder: &Path,
        parameters: Option<&Parameters>,
        resources: Resources,
        observer: &mut Observer<'_>,
    ) -> Result<Run, RunError> {
        let saved = Run::parameters_of(folder)?;
        if let Some(asked) = parameters {
            let both = saved.list().into_iter().zip(asked.list());
            if let Some(((name, saved), (_, asked))) = both.into_iter().find(|(a, b)| a != b) {
                let folder = folder.to_owned();
                return Err(RunError::OtherParameters { folder, name, saved, asked });
            }
        }
        Run::open(folder, &saved, lock(folder)?, resources, observer)
    }

    /// The parameters of the run in a folder.
    pub fn parameters_of(folder: &Path) -> Result<Parameters, RunError> {
        let path = folder.join("parameters.json");
        if !path.exists() {
            return Err(RunError::NoRun(folder.to_owned()));
        }
        let parameters: Parameters = read_json(&path)?;
        parameters.check().map_err(|error| RunError::Damaged(path, error.to_string()))?;
        Ok(parameters)
    }

    /// What the iterations of the run in a folder did, as far as they have ended.
    pub fn metrics_of(folder: &Path) -> Result<Vec<Metrics>, RunError> {
        let path = folder.join("metrics.jsonl");
        match fs::read_to_string(&path) {
            // A line that is being written is none yet.
            Ok(text) => {
                Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(RunError::Io(path, error)),
        }
    }

    /// Whether some process trains in a folder now.
    pub fn is_active(folder: &Path) -> bool {
        let file = File::open(folder.join("lock"));
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Where it is.
    pub fn state(&self) -> &RunState {
        &self.state
    }

    /// What was asked for.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The network that plays.
    pub fn player(&self) -> &Network {
        &self.player
    }

    /// The network that has won the last gate match.
    pub fn best(&self) -> &Network {
        &self.best
    }

    /// Plays, learns, measures and saves once. `None` if the observer broke off, which leaves the
    /// run at the last iteration; after an error it must be opened again.
    pub fn iterate(&mut self, observer: &mut Observer<'_>) -> Result<Option<Metrics>, RunError> {
        self.check_disk()?;
        let start = Instant::now();
        let iteration = self.state.iteration + 1;
        let mut state = RunState { iteration, ..self.state };

        // 1. Games of the newest network against itself.
        let batch = match self.inherited(iteration)? {
            Some(samples) => Some(SelfPlayBatch { samples, ..SelfPlayBatch::default() }),
            None => self.play(iteration, observer),
        };
        let Some(batch) = batch else { return Ok(None) };
        let self_play_seconds = start.elapsed().as_secs_f64();
        let _ = observer(Event::Played { iteration, shown: &batch.shown });
        state.games += batch.games;
        state.samples += batch.samples.len() as u64;
        state.evaluations += batch.evaluations;
        let samples_path = self.path("samples", iteration, "");
        save_samples(&samples_path, &batch.samples, self.setup)
            .map_err(|error| RunError::Io(samples_path, error))?;

        // 2. Learning from the window.
        let new_samples = batch.samples.len();
        let learning = self.parameters.learning;
        let steps = (learning.passes * new_samples as f32 / learning.batch as f32).round() as u64;
        self.replay.add(iteration, batch.samples, state.samples, &learning);
        state.buffer_from = self.replay.oldest().unwrap_or(0);
        let pool = self.replay.pool();
        let rate = self.rate(iteration);
        let mut random = Rng::with_seed(self.seed(iteration, 2));
        let progress = |done| observer(Event::Learning { iteration, steps: done, of: steps });
        let threads = self.resources.threads;
        let losses =
            self.learner.learn(&pool, steps, rate, &learning, threads, &mut random, progress);
        let Some(losses) = losses else {
            self.load()?;
            return Ok(None);
        };
        state.steps = self.learner.steps;
        let share = learning.average.max(1.0 / iteration as f32);
        self.player.approach(self.learner.network(), share);
        self.player.set_note("iteration", &iteration.to_string());
        let learning_seconds = start.elapsed().as_secs_f64() - self_play_seconds;

        // 3. Gate and exam.
        let _ = observer(Event::Testing { iteration });
        let inference = Inference::new(&self.player);
        let gate = self.gate(iteration, &inference);
        let has_won = gate.is_some_and(|score| score.share() >= self.parameters.gate.threshold);
        if has_won || iteration == 1 {
            state.best = iteration;
        }
        let is_exam_due = iteration.is_multiple_of(self.parameters.exam.every.max(1));
        let exam = self.exam.as_ref().filter(|_| is_exam_due);
        let exam =
            exam.map(|exam| exam.score(&inference, self.parameters.exam.simulations, threads));

        // 4. Everything is saved before the state says so.
        let seconds = start.elapsed().as_secs_f64();
        state.seconds += seconds;
        let metrics = Metrics {
            state,
            self_play_seconds,
            learning_seconds,
            test_seconds: seconds - self_play_seconds - learning_seconds,
            new_samples,
            buffer: self.replay.len(),
            pool: pool.len(),
            results: batch.results,
            moves_per_game: batch.moves as f64 / batch.games.max(1) as f64,
            rate,
            policy_loss: losses.policy,
            value_loss: losses.value,
            gate,
            exam,
        };
        if state.best == iteration {
            self.best = self.player.clone();
        }
        self.save(state, &metrics)?;
        self.state = state;
        self.clean_up();
        let _ = observer(Event::Done(&metrics));
        Ok(Some(metrics))
    }

    /// What another run's games have taught, if this iteration is to learn that.
    fn inherited(&self, iteration: u64) -> Result<Option<Vec<Sample>>, RunError> {
        let path = self.path("inherited", iteration, "");
        if !path.exists() {
            return Ok(None);
        }
        let samples = load_samples(&path, self.setup);
        samples.map(Some).map_err(|error| RunError::Damaged(path, error.to_string()))
    }

    fn play(&self, iteration: u64, observer: &mut Observer<'_>) -> Option<SelfPlayBatch> {
        let parameters = &self.parameters.self_play;
        let numbers = (iteration - 1) * parameters.games..iteration * parameters.games;
        let network = Inference::new(&self.player);
        let (seed, progress, threads) =
            (self.seed(0, 1), SelfPlayProgress::default(), self.resources.threads);
        let observing = thread::current();
        thread::scope(|scope| {
            let games = scope.spawn(|| {
                let batch = play_games(&network, parameters, seed, numbers, threads, &progress);
                observing.unpark();
                batch
            });
            while !games.is_finished() {
                thread::park_timeout(Duration::from_millis(200));
                let games = progress.games.load(std::sync::atomic::Ordering::Relaxed);
                let event = Event::Playing { iteration, games, of: parameters.games };
                if observer(event).is_break() {
                    progress.cancel.store(true, std::sync::atomic::Ordering::Relaxed);
                }
            }
            games.join().expect("no panic")
        })
    }

    fn gate(&self, iteration: u64, new: &Inference) -> Option<MatchScore> {
        let parameters = &self.parameters.gate;
        (iteration > 1 && iteration.is_multiple_of(parameters.every.max(1))).then(|| {
            let best = Inference::new(&self.best);
            play_match(new, &best, parameters, self.seed(iteration, 3), self.resources.threads)
        })
    }

    /// The step size: it rises in the first iterations, then goes down with their root.
    fn rate(&self, iteration: u64) -> f32 {
        let learning = &self.parameters.learning;
        let iteration = iteration as f32;
        let rise = (iteration / (learning.warm_up + 1) as f32).min(1.0);
        learning.rate * rise / (1.0 + iteration / learning.rate_patience).sqrt()
    }

    /// A seed for one purpose in one iteration.
    fn seed(&self, iteration: u64, purpose: u64) -> u64 {
        let mut random = Rng::with_seed(self.parameters.seed.wrapping_add(purpose << 32));
        random.u64(..) ^ mix_key(iteration)
    }

    /// Whether there is room for what an iteration writes, and for others.
    fn check_disk(&self) -> Result<(), RunError> {
        // Three of the learner, one of the player and two of the best, before older ones go; and
        // samples, which are less.
        let needed = 10 * self.player.to_bytes().len() as u64 + self.resources.keep_free;
        match fs4::available_space(&self.folder) {
            Ok(free) if free < needed => {
                Err(RunError::Disk { folder: self.folder.clone(), free, needed })
            }
            // Where nobody can tell, writing will.
            Ok(_) | Err(_) => Ok(()),
        }
    }

    fn path(&self, kind: &str, iteration: u64, part: &str) -> PathBuf {
        path(&self.folder, kind, iteration, part)
    }

    fn save(&self, state: RunState, metrics: &Metrics) -> Result<(), RunError> {
        let save = |network: &Network, path: PathBuf| {
            network.save(&path).map_err(|error| RunError::Io(path, error))
        };
        let iteration = state.iteration;
        save(self.learner.network(), self.path("learner", iteration, "-weights"))?;
        save(&self.learner.first, self.path("learner", iteration, "-first"))?;
        save(&self.learner.second, self.path("learner", iteration, "-second"))?;
        save(&self.player, self.path("networks", iteration, ""))?;
        save(&self.best, self.path("best", iteration, ""))?;
        let path = self.folder.join("metrics.jsonl");
        append_line(&path, &serde_json::to_string(metrics).expect("metrics are plain data"))
            .map_err(|error| RunError::Io(path, error))?;
        write_json(&self.folder.join("state.json"), &state)?;
        save(&self.best, self.folder.join("best.safetensors"))
    }

    fn open(
        folder: &Path,
        parameters: &Parameters,
        lock: File,
        resources: Resources,
        observer: &mut Observer<'_>,
    ) -> Result<Run, RunError> {
        let setup = parameters.check().map_err(RunError::Parameters)?;
        let state: RunState = read_json(&folder.join("state.json"))?;
        let network = Network::new(parameters.architecture, parameters.seed)
            .expect("the parameters have been checked");
        let mut run = Run {
            folder: folder.to_owned(),
            parameters: *parameters,
            setup,
            resources,
            state,
            learner: Learner::new(network.clone()),
            player: network.clone(),
            best: network,
            replay: ReplayBuffer::new(setup),
            exam: None,
            _lock: lock,
        };
        run.load()?;
        run.forget_later_metrics()?;
        run.check_disk()?;
        run.exam = run.prepare_exam(observer)?;
        Ok(run)
    }

    /// Everything as it was at the end of the last iteration.
    fn load(&mut self) -> Result<(), RunError> {
        let iteration = self.state.iteration;
        self.replay = ReplayBuffer::new(self.setup);
        if iteration == 0 {
            let network = Network::new(self.parameters.architecture, self.parameters.seed)
                .expect("the parameters have been checked");
            self.learner = Learner::new(network.clone());
            self.player = network.clone();
            self.best = network;
            return Ok(());
        }
        let load = |path: PathBuf| -> Result<Network, RunError> {
            let network = Network::load(&path)
                .map_err(|error| RunError::Damaged(path.clone(), error.to_string()))?;
            if *network.architecture() != self.parameters.architecture {
                return Err(RunError::Damaged(path, "a network of another shape".to_owned()));
            }
            Ok(network)
        };
        self.learner = Learner {
            network: load(self.path("learner", iteration, "-weights"))?,
            first: load(self.path("learner", iteration, "-first"))?,
            second: load(self.path("learner", iteration, "-second"))?,
            steps: self.state.steps,
        };
        self.player = load(self.path("networks", iteration, ""))?;
        self.best = load(self.path("best", iteration, ""))?;
        for iteration in self.state.buffer_from..=iteration {
            let path = self.path("samples", iteration, "");
            let samples = load_samples(&path, self.setup)
                .map_err(|error| RunError::Damaged(path, error.to_string()))?;
            let learning = &self.parameters.learning;
            self.replay.add(iteration, samples, self.state.samples, learning);
        }
        Ok(())
    }

    /// Lines of an iteration that was cut off before its state was saved.
    fn forget_later_metrics(&self) -> Result<(), RunError> {
        let path = self.folder.join("metrics.jsonl");
        let Ok(text) = fs::read_to_string(&path) else { return Ok(()) };
        let is_done = |line: &&str| {
            serde_json::from_str::<Metrics>(line)
                .is_ok_and(|metrics| metrics.state.iteration <= self.state.iteration)
        };
        let kept: String = text.lines().filter(is_done).flat_map(|line| [line, "\n"]).collect();
        files::write(&path, kept.as_bytes()).map_err(|error| RunError::Io(path, error))
    }

    fn prepare_exam(&self, observer: &mut Observer<'_>) -> Result<Option<Exam>, RunError> {
        let path = self.folder.join("exam.json");
        let parameters = &self.parameters.exam;
        if parameters.positions == 0 {
            return Ok(None);
        }
        if path.exists() {
            let exam =
                Exam::load(&path).map_err(|error| RunError::Damaged(path, error.to_string()))?;
            return Ok(Some(exam));
        }
        let (seed, threads) = (self.seed(0, 4), self.resources.threads);
        let progress = |solved| observer(Event::PreparingExam { solved, of: parameters.positions });
        let exam = match Exam::new(self.setup, parameters, seed, threads, progress) {
            Ok(Some(exam)) => exam,
            Ok(None) => return Err(RunError::Stopped(self.folder.clone())),
            // A ruleset that cannot be solved has no exam.
            Err(_) => return Ok(None),
        };
        exam.save(&path).map_err(|error| RunError::Io(path, error))?;
        Ok(Some(exam))
    }

    /// Removes what the run does not need any more. A file that cannot be removed now will be
    /// tried again next time.
    fn clean_up(&self) {
        let now = self.state.iteration;
        self.remove("samples", |iteration| iteration < self.state.buffer_from);
        self.remove("inherited", |iteration| iteration <= now);
        self.remove("learner", |iteration| iteration < now);
        self.remove("best", |iteration| iteration < now);
        // Of the older networks every second, fourth, eighth ... stays.
        let stride = (now / KEPT_NETWORKS).max(1).next_power_of_two();
        self.remove("networks", |iteration| {
            iteration + KEPT_NETWORKS <= now
                && iteration % stride != 0
                && iteration != self.state.best
        });
    }

    fn remove(&self, kind: &str, is_old: impl Fn(u64) -> bool) {
        let Ok(entries) = fs::read_dir(self.folder.join(kind)) else { return };
        for path in entries.flatten().map(|entry| entry.path()) {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let number = name.get(..6).and_then(|digits| digits.parse().ok());
            if number.is_some_and(&is_old) {
                let _ = fs::remove_file(path);
            }
        }
    }
}

fn path(folder: &Path, kind: &str, iteration: u64, part: &str) -> PathBuf {
    folder.join(kind).join(format!("{iteration:06}{part}.safetensors"))
}

/// The folders of a run.
const FOLDERS: [&str; 5] = ["networks", "learner", "samples", "inherited", "best"];

/// The files of samples in a run's window, oldest first.
fn samples_of(folder: &Path, setup: Setup) -> Result<Vec<PathBuf>, RunError> {
    let own = Run::parameters_of(folder)?.check().map_err(RunError::Parameters)?;
    if own != setup {
        return Err(RunError::OtherGame { folder: folder.to_owned(), own, setup });
    }
    let samples = folder.join("samples");
    let entries = fs::read_dir(&samples).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let entries = entries.map_err(|error| RunError::Io(samples, error))?;
    let mut paths: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "safetensors"));
    paths.sort();
    Ok(paths)
}

fn create(folder: &Path, parameters: &Parameters, inherited: &[PathBuf]) -> Result<File, RunError> {
    let error = |error| RunError::Io(folder.to_owned(), error);
    if folder.join("parameters.json").exists() {
        return Err(RunError::Exists(folder.to_owned()));
    }
    fs::create_dir_all(folder).map_err(error)?;
    for entry in fs::read_dir(folder).map_err(error)? {
        // What a beginning that was cut off has left is in nobody's way.
        let own = [&FOLDERS[..], &["lock", "state.json", "state.json.new", "parameters.json.new"]];
        let name = entry.map_err(error)?.file_name();
        if !own.concat().iter().any(|&own| name == own) {
            return Err(RunError::NotEmpty(folder.to_owned()));
        }
    }
    let lock = lock(folder)?;
    for kind in FOLDERS {
        fs::create_dir_all(folder.join(kind)).map_err(error)?;
    }
    for (iteration, samples) in (1..).zip(inherited) {
        let path = path(folder, "inherited", iteration, "");
        fs::copy(samples, path).map_err(|error| RunError::Io(samples.clone(), error))?;
    }
    write_json(&folder.join("state.json"), &RunState::default())?;
    // Last, because it makes the folder a run.
    write_json(&folder.join("parameters.json"), parameters)?;
    Ok(lock)
}

/// Makes the folder one that this process trains in.
fn lock(folder: &Path) -> Result<File, RunError> {
    let path = folder.join("lock");
    let error = |error| RunError::Io(path.clone(), error);
    let file = File::options().create(true).append(true).open(&path).map_err(error)?;
    // Whoever watches holds it for an instant.
    for _ in 0..5 {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(20)),
            Err(TryLockError::Error(cause)) => return Err(error(cause)),
        }
    }
    Err(RunError::Busy(folder.to_owned()))
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<(), RunError> {
    let mut text = serde_json::to_vec_pretty(value).expect("the value is plain data");
    text.push(b'\n');
    files::write(path, &text).map_err(|error| RunError::Io(path.to_owned(), error))
}

fn read_json<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, RunError> {
    let bytes = fs::read(path).map_err(|error| RunError::Io(path.to_owned(), error))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| RunError::Damaged(path.to_owned(), error.to_string()))
}

fn append_line(path: &Path, line: &str) -> io::Result<()> {
    let mut file = File::options().create(true).append(true).open(path)?;
    writeln!(file, "{line}")?;
    file.sync_all()
}

/// Why a run cannot go on.
#[derive(Debug)]
pub enum RunError {
    /// There is no run in the folder.
    NoRun(PathBuf),
    /// The folder holds something else.
    NotEmpty(PathBuf),
    /// The folder holds a run already.
    Exists(PathBuf),
    /// Another process trains in the folder.
    Busy(PathBuf),
    /// The folder holds a run with other parameters.
    OtherParameters {
        /// The folder.
        folder: PathBuf,
        /// A parameter that is not the same.
        name: String,
        /// What it is in the run.
        saved: String,
        /// What was asked for.
        asked: String,
    },
    /// The run whose games are to be learnt is of another game.
    OtherGame {
        /// Its folder.
        folder: PathBuf,
        /// Its game.
        own: Setup,
        /// The game that was asked for.
        setup: Setup,
    },
    /// The observer broke off before the first iteration.
    Stopped(PathBuf),
    /// There is too little room on the disk.
    Disk {
        /// The folder.
        folder: PathBuf,
        /// Bytes that are free.
        free: u64,
        /// Bytes that should be.
        needed: u64,
    },
    /// No network can be trained like that.
    Parameters(ParametersError),
    /// A file of the run is not what it should be.
    Damaged(PathBuf, String),
    /// A file cannot be read or written.
    Io(PathBuf, io::Error),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::NoRun(path) => write!(f, "there is no training run in {}", path.display()),
            RunError::NotEmpty(path) => {
                write!(f, "{} is not empty and holds no training run", path.display())
            }
            RunError::Exists(path) => {
                write!(f, "there is a training run in {} already", path.display())
            }
            RunError::Busy(path) => {
                write!(f, "another process is training in {}", path.display())
            }
            RunError::Stopped(path) => {
                write!(f, "the run in {} was stopped before it began", path.display())
            }
            RunError::OtherParameters { folder, name, saved, asked } => {
                write!(f, "the run in {} has {name} {saved}, not {asked}", folder.display())
            }
            RunError::OtherGame { folder, own, setup } => {
                write!(f, "the run in {} is for {own}, not {setup}", folder.display())
            }
            RunError::Disk { folder, free, needed } => write!(
                f,
                "{}: {} MB are free on the disk, of {} MB that should be",
                folder.display(),
                free / 1_000_000,
                needed.div_ceil(1_000_000)
            ),
            RunError::Parameters(error) => error.fmt(f),
            RunError::Damaged(path, reason) => write!(f, "{}: {reason}", path.display()),
            RunError::Io(path, error) => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for RunError {}
