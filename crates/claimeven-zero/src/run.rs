//! Training runs: the loop of self-play, training, gate and exam, and the folder it is saved in.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use claimeven_game::{Setup, mix_key};
use fastrand::Rng;
use serde::{Deserialize, Serialize};

use crate::architecture::Architecture;
use crate::exam::{Exam, ExamError, ExamScore};
use crate::files::{self, FileErrorCause};
use crate::gate::{self, Gate, MatchScore, Verdict};
use crate::inference::Inference;
use crate::learner::{Learner, LearningJob};
use crate::network::Network;
use crate::parameters::Parameters;
use crate::replay_buffer::ReplayBuffer;
use crate::run_error::RunError;
use crate::sample::{Sample, load_samples, save_samples};
use crate::self_play::{
    SelfPlayBatch, SelfPlayGame, SelfPlayProgress, TrainingMachines, play_games,
};

/// A training run and its folder.
///
/// ```no_run
/// use std::ops::ControlFlow;
///
/// use claimeven_game::Setup;
/// use claimeven_zero::{Parameters, Resources, Run};
///
/// let parameters = Parameters::ten_minutes(Setup::STANDARD);
/// let mut observer = |_: claimeven_zero::Event<'_>| ControlFlow::Continue(());
/// let mut run =
///     Run::begin("run".as_ref(), &parameters, None, Resources::new(2), &mut observer)?;
/// for _ in 0..10 {
///     run.iterate(&mut observer)?;
/// }
/// run.finish(&mut observer)?;
/// let network = run.best();
/// # Ok::<(), claimeven_zero::RunError>(())
/// ```
///
/// ```text
/// parameters.json            the parameters, which never change
/// state.json                 the last finished iteration; written last, so the files it names exist
/// metrics.jsonl              a line per iteration
/// exam.json                  positions with exact results, for measuring only
/// best.safetensors           the network that was promoted last
/// networks/000012.safetensors   the network after iteration 12
/// learner/000012-….safetensors  weights and AdamW moments after iteration 12
/// samples/000012.safetensors    the samples of iteration 12
/// inherited/000001.safetensors  another run's samples, for the first iterations
/// initial.safetensors        the network that training started from, unless it was untrained
/// lock                       locked by the process that trains
/// ```
///
/// A run that is killed at any time resumes after the last finished iteration as if nothing had
/// happened: files that `state.json` does not name are removed before it continues.
///
/// The size of the folder is bounded: samples are removed when they leave the replay buffer, the
/// learner's state when the next one is saved. The last 40 networks and the best one are kept, and
/// every second, fourth, eighth and so on of the older ones, about 80 in total.
pub struct Run {
    folder: PathBuf,
    parameters: Parameters,
    setup: Setup,
    resources: Resources,
    state: RunState,
    learner: Learner,
    /// The network that plays: an exponential moving average of the learner's.
    player: Network,
    best: Network,
    replay: ReplayBuffer,
    exam: Option<Exam>,
    /// Other machines that play the games and take the tests, if any.
    machines: Option<Arc<dyn TrainingMachines>>,
    /// Cancels a gate match.
    cancel: Arc<AtomicBool>,
    /// Prevents other processes from training in the folder.
    _lock: File,
}

/// The resources that a run may use. They do not affect the networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    /// The number of threads; 0 counts as 1.
    pub threads: usize,
    /// Bytes of free disk space below which no iteration starts.
    pub keep_free: u64,
}

impl Resources {
    /// The given number of threads, and at least 256 MB of free disk space.
    #[must_use]
    pub fn new(threads: usize) -> Resources {
        Resources { threads: threads.max(1), keep_free: 256_000_000 }
    }
}

/// The state of a run after its last finished iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunState {
    /// Finished iterations.
    pub iteration: u64,
    /// The iteration of the best network.
    pub best: u64,
    /// The last iteration whose network the gate has judged.
    #[serde(default)]
    pub gated: u64,
    /// Games played.
    pub games: u64,
    /// Samples from these games.
    pub samples: u64,
    /// The oldest iteration in the replay buffer.
    pub buffer_from: u64,
    /// Training steps.
    pub steps: u64,
    /// Positions evaluated in self-play.
    pub evaluations: u64,
    /// Seconds of work.
    pub seconds: f64,
}

impl RunState {
    /// Records the gate's verdict on the newest network. The first network needs none to be the
    /// best.
    fn record_gate(&mut self, verdict: Option<Verdict>) {
        if verdict.is_some() || self.iteration == 1 {
            self.gated = self.iteration;
        }
        if verdict == Some(Verdict::Promoted) || self.iteration == 1 {
            self.best = self.iteration;
        }
    }
}

/// The metrics of an iteration, a line of `metrics.jsonl`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// The state after the iteration.
    #[serde(flatten)]
    pub state: RunState,
    /// Seconds of self-play.
    pub self_play_seconds: f64,
    /// Seconds of training.
    pub learning_seconds: f64,
    /// Seconds of the gate match and the exam.
    pub test_seconds: f64,
    /// Samples from this iteration's games.
    pub new_samples: usize,
    /// Samples in the replay buffer.
    pub buffer: usize,
    /// Distinct positions in the replay buffer.
    pub pool: usize,
    /// Wins, draws and losses of the player who moves first after the opening.
    pub results: [u64; 3],
    /// Mean number of moves of a game.
    pub moves_per_game: f64,
    /// The learning rate.
    pub rate: f32,
    /// The policy loss.
    pub policy_loss: f32,
    /// The value loss.
    pub value_loss: f32,
    /// The result of the gate, in iterations that have one.
    pub gate: Option<MatchScore>,
    /// The result of the exam, in iterations that have one.
    pub exam: Option<ExamScore>,
}

impl Metrics {
    /// As a line of `metrics.jsonl`.
    fn line(&self) -> String {
        serde_json::to_string(self).expect("metrics are plain data")
    }
}

/// Progress of a run.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use claimeven_zero::{Event, Observer};
///
/// let mut show = |event: Event<'_>| {
///     if let Event::Done(metrics) = event {
///         println!("iteration {}: policy loss {}", metrics.state.iteration, metrics.policy_loss);
///     }
///     ControlFlow::Continue(())
/// };
/// let observer: &mut Observer<'_> = &mut show;
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The positions of the exam are being solved.
    PreparingExam {
        /// Solved positions.
        solved: usize,
        /// All positions.
        of: usize,
    },
    /// Games are being played.
    Playing {
        /// The iteration.
        iteration: u64,
        /// Finished games.
        games: u64,
        /// All games of the iteration.
        of: u64,
    },
    /// All games of an iteration are finished.
    Played {
        /// The iteration.
        iteration: u64,
        /// Some of the games.
        shown: &'a [SelfPlayGame],
    },
    /// The network is being trained.
    Learning {
        /// The iteration.
        iteration: u64,
        /// Steps taken.
        steps: u64,
        /// All steps of the iteration.
        of: u64,
    },
    /// The gate match or the exam has started.
    Testing {
        /// The iteration.
        iteration: u64,
    },
    /// An iteration is finished and saved. For the last one it is sent again after the gate match
    /// before the stop.
    Done(&'a Metrics),
}

/// A callback for the events of a run. If it breaks, the run stays at the last saved iteration.
pub type Observer<'a> = dyn FnMut(Event<'_>) -> ControlFlow<()> + 'a;

/// The number of newest networks that are all kept.
const KEPT_NETWORKS: u64 = 40;

impl Run {
    /// Starts a run in an empty or new folder. `other` gives it a head start. If it is a network file,
    /// training starts from its weights; a smaller network is [grown](Network::grown). If it is the
    /// folder of another run, training starts from its newest network, unless that cannot be grown, and
    /// the first iterations learn from its replay buffer instead of playing games.
    pub fn begin(
        folder: &Path,
        parameters: &Parameters,
        other: Option<&Path>,
        resources: Resources,
        observer: &mut Observer<'_>,
    ) -> Result<Run, RunError> {
        let setup = parameters.check().map_err(RunError::Parameters)?;
        let (inherited, initial) = match other {
            Some(path) if path.is_file() => {
                let shape = || RunError::Damaged(path.to_owned(), OTHER_SHAPE.to_owned());
                let network = read_network(path)?;
                let grown = network.grown(parameters.architecture, parameters.seed);
                (Vec::new(), Some(grown.ok_or_else(shape)?))
            }
            Some(other) => {
                let samples = samples_of(other, setup)?;
                let network = newest_network(other)?;
                let grown = network
                    .and_then(|network| network.grown(parameters.architecture, parameters.seed));
                (samples, grown)
            }
            None => (Vec::new(), None),
        };
        let lock = create(folder, parameters, &inherited, initial.as_ref())?;
        Run::open(folder, parameters, lock, resources, observer)
    }

    /// Resumes the run in a folder. If parameters are given, they must be those of the run.
    pub fn resume(
        folder: &Path,
        parameters: Option<&Parameters>,
        resources: Resources,
        observer: &mut Observer<'_>,
    ) -> Result<Run, RunError> {
        let saved = Run::parameters_of(folder)?;
        if let Some(requested) = parameters {
            let both = saved.list().into_iter().zip(requested.list());
            if let Some(((name, saved), (_, requested))) = both.into_iter().find(|(a, b)| a != b) {
                let folder = folder.to_owned();
                return Err(RunError::OtherParameters { folder, name, saved, requested });
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

    /// The metrics of the finished iterations of the run in a folder.
    pub fn metrics_of(folder: &Path) -> Result<Vec<Metrics>, RunError> {
        let path = folder.join("metrics.jsonl");
        match fs::read_to_string(&path) {
            // The last line may be incomplete.
            Ok(text) => {
                Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(RunError::Io(path, error)),
        }
    }

    /// Whether a process is training in a folder.
    #[must_use]
    pub fn is_active(folder: &Path) -> bool {
        let file = File::open(folder.join("lock"));
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// The state after the last finished iteration.
    #[must_use]
    pub fn state(&self) -> &RunState {
        &self.state
    }

    /// The parameters.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The network that plays.
    #[must_use]
    pub fn player(&self) -> &Network {
        &self.player
    }

    /// The best network: the one that was promoted last.
    #[must_use]
    pub fn best(&self) -> &Network {
        &self.best
    }

    /// One iteration: self-play, training, gate, exam, saving. `None` if the observer broke, which
    /// leaves the run at the last iteration. After an I/O error, the run must be reopened with
    /// `resume`.
    pub fn iterate(&mut self, observer: &mut Observer<'_>) -> Result<Option<Metrics>, RunError> {
        self.check_disk()?;
        let start = Instant::now();
        let iteration = self.state.iteration + 1;
        let mut state = RunState { iteration, ..self.state };

        // 1. Self-play of the newest network.
        let batch = match self.inherited(iteration)? {
            Some(samples) => Some(SelfPlayBatch { samples, ..SelfPlayBatch::default() }),
            None => self.play(iteration, observer)?,
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

        // 2. Training on the replay buffer.
        let new_samples = batch.samples.len();
        let learning = self.parameters.learning;
        let steps = (learning.passes * new_samples as f32 / learning.batch as f32).round() as u64;
        self.replay.add(iteration, batch.samples, state.samples, &learning);
        state.buffer_from = self.replay.oldest().unwrap_or(0);
        let pool = self.replay.pool();
        let rate = self.rate(iteration);
        let progress = |done| observer(Event::Learning { iteration, steps: done, of: steps });
        let threads = self.resources.threads;
        let seed = self.seed(iteration, 2);
        let (pool, parameters) = (&pool[..], &learning);
        let job = LearningJob { pool, steps, rate, parameters, threads, seed };
        let losses = match self.learner.learn(&job, progress) {
            Ok(Some(losses)) => losses,
            Ok(None) => {
                self.load()?;
                self.roll_back()?;
                return Ok(None);
            }
            // Nothing of this iteration is saved, so the run stays at the previous one.
            Err(source) => {
                self.load()?;
                self.roll_back()?;
                return Err(RunError::Learning { folder: self.folder.clone(), iteration, source });
            }
        };
        state.steps = self.learner.steps;
        let share = learning.average.max(1.0 / iteration as f32);
        self.player.lerp(self.learner.network(), share);
        self.player.set_note("iteration", &iteration.to_string());
        let learning_seconds = start.elapsed().as_secs_f64() - self_play_seconds;

        // 3. Gate and exam.
        let _ = observer(Event::Testing { iteration });
        let inference = Inference::new(&self.player);
        let is_gate_due = iteration.is_multiple_of(self.parameters.gate.every.max(1));
        let has_gate = iteration > 1 && is_gate_due;
        let mut gate = None;
        if has_gate {
            gate = self.gate(iteration, &inference)?;
            if gate.is_none() {
                return Ok(None);
            }
        }
        state.record_gate(gate.map(|(_, verdict)| verdict));
        let is_exam_due = iteration.is_multiple_of(self.parameters.exam.every.max(1));
        let exam = self.exam.as_ref().filter(|_| is_exam_due);
        let exam = exam.map(|exam| self.examine(exam, &inference)).transpose()?;

        // 4. Save, with the state last.
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
            gate: gate.map(|(score, _)| score),
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

    /// The samples of another run that this iteration learns from instead of playing games.
    fn inherited(&self, iteration: u64) -> Result<Option<Vec<Sample>>, RunError> {
        let path = self.path("inherited", iteration, "");
        if !path.exists() {
            return Ok(None);
        }
        let samples = load_samples(&path, self.setup);
        samples.map(Some).map_err(|error| RunError::Damaged(path, error.to_string()))
    }

    /// Has other machines play the games, including those of the gate, and take the exams. The
    /// networks and their results are the same.
    pub fn set_machines(&mut self, machines: Arc<dyn TrainingMachines>) {
        self.machines = Some(machines);
    }

    /// Sets a flag that cancels a gate match. It counts as not played: its iteration ends without a
    /// result and is repeated when the run resumes.
    pub fn set_cancel(&mut self, cancel: Arc<AtomicBool>) {
        self.cancel = cancel;
    }

    fn play(
        &self,
        iteration: u64,
        observer: &mut Observer<'_>,
    ) -> Result<Option<SelfPlayBatch>, RunError> {
        let parameters = &self.parameters.self_play;
        let numbers = (iteration - 1) * parameters.games..iteration * parameters.games;
        let (seed, progress, threads) =
            (self.seed(0, 1), SelfPlayProgress::default(), self.resources.threads);
        let observing = thread::current();
        thread::scope(|scope| {
            let games = scope.spawn(|| {
                let batch = if let Some(machines) = &self.machines {
                    machines.play(&self.player, parameters, seed, numbers, &progress)
                } else {
                    let network = Inference::new(&self.player);
                    Ok(play_games(&network, parameters, seed, numbers, threads, &progress))
                };
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
            games.join().expect("no panic").map_err(RunError::Machines)
        })
    }

    /// Plays the gate match of the newest network before a stop, unless it has been played. Without
    /// it, the best network could be many iterations old.
    pub fn finish(&mut self, observer: &mut Observer<'_>) -> Result<(), RunError> {
        let iteration = self.state.iteration;
        if self.state.gated == iteration {
            return Ok(());
        }
        let start = Instant::now();
        let _ = observer(Event::Testing { iteration });
        let Some((score, verdict)) = self.gate(iteration, &Inference::new(&self.player))? else {
            return Ok(());
        };
        let seconds = start.elapsed().as_secs_f64();
        let mut state = self.state;
        state.record_gate(Some(verdict));
        state.seconds += seconds;
        let mut lines = self.metrics_lines()?;
        let Some((line, last)) = lines.last_mut() else {
            let path = self.folder.join("metrics.jsonl");
            let reason = format!("no line for iteration {iteration}");
            return Err(RunError::Damaged(path, reason));
        };
        last.state = state;
        last.gate = Some(score);
        last.test_seconds += seconds;
        *line = last.line();
        let last = *last;
        if state.best == iteration {
            self.best = self.player.clone();
            self.save_best()?;
        }
        self.write_metrics(&lines)?;
        self.sync_folders()?;
        write_json(&self.folder.join("state.json"), &state)?;
        self.state = state;
        let _ = observer(Event::Done(&last));
        Ok(())
    }

    /// Plays the gate match; `None` if it was cancelled.
    fn gate(
        &self,
        iteration: u64,
        new: &Inference,
    ) -> Result<Option<(MatchScore, Verdict)>, RunError> {
        let (parameters, seed) = (&self.parameters.gate, self.seed(iteration, 3));
        let gate = Gate::new(self.setup, parameters, seed);
        let machines = self.machines.as_ref();
        let cancel = &*self.cancel;
        let play = |machines: &Arc<dyn TrainingMachines>| {
            machines.play_gate(&gate, &self.player, &self.best, cancel)
        };
        let pairs = machines.map(play);
        let Some(pairs) = pairs.transpose().map_err(RunError::Machines)?.flatten() else {
            let best = Inference::new(&self.best);
            return Ok(gate::gate(new, &best, parameters, seed, self.resources.threads, cancel));
        };
        let missing = || RunError::Machines("games of the gate match are missing".to_owned());
        gate.outcome(&pairs).map(Some).ok_or_else(missing)
    }

    fn examine(&self, exam: &Exam, network: &Inference) -> Result<ExamScore, RunError> {
        let simulations = self.parameters.exam.simulations;
        let machines = self.machines.as_ref();
        let examine = |machines: &Arc<dyn TrainingMachines>| {
            machines.examine(exam, &self.player, simulations, &self.cancel)
        };
        let points = machines.map(examine);
        let points = points.transpose().map_err(RunError::Machines)?.flatten();
        Ok(match points {
            Some(points) => ExamScore::of(&points),
            None => exam.score(network, simulations, self.resources.threads),
        })
    }

    /// The learning-rate schedule: linear warm-up, then inverse square root of the iterations.
    fn rate(&self, iteration: u64) -> f32 {
        let learning = &self.parameters.learning;
        let iteration = iteration as f32;
        let rise = (iteration / (learning.warm_up + 1) as f32).min(1.0);
        learning.rate * rise / (1.0 + iteration / learning.rate_patience).sqrt()
    }

    /// The seed for a purpose in an iteration.
    fn seed(&self, iteration: u64, purpose: u64) -> u64 {
        let mut random = Rng::with_seed(self.parameters.seed.wrapping_add(purpose << 32));
        random.u64(..) ^ mix_key(iteration)
    }

    /// Checks that there is enough disk space for an iteration.
    fn check_disk(&self) -> Result<(), RunError> {
        // Three files of the learner, one of the player and one of the best, before older ones are
        // removed; and samples, which are smaller.
        let needed = 10 * self.player.to_bytes().len() as u64 + self.resources.keep_free;
        match fs4::available_space(&self.folder) {
            Ok(free) if free < needed => {
                Err(RunError::Disk { folder: self.folder.clone(), free, needed })
            }
            // If the free space is unknown, a failing write will tell.
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
        self.save_best()?;
        let path = self.folder.join("metrics.jsonl");
        append_line(&path, &metrics.line()).map_err(|error| RunError::Io(path, error))?;
        self.sync_folders()?;
        write_json(&self.folder.join("state.json"), &state)
    }

    fn save_best(&self) -> Result<(), RunError> {
        let path = self.folder.join("best.safetensors");
        self.best.save(&path).map_err(|error| RunError::Io(path, error))
    }

    /// Makes the directory entries of all files durable before the state is written, in case of a
    /// power failure.
    fn sync_folders(&self) -> Result<(), RunError> {
        for kind in ["learner", "networks", "samples", "."] {
            let path = self.folder.join(kind);
            files::sync_folder(&path).map_err(|error| RunError::Io(path, error))?;
        }
        Ok(())
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
            machines: None,
            cancel: Arc::default(),
            _lock: lock,
        };
        run.load()?;
        run.roll_back()?;
        run.check_disk()?;
        run.exam = run.prepare_exam(observer)?;
        Ok(run)
    }

    /// Loads everything as it was after the last finished iteration.
    fn load(&mut self) -> Result<(), RunError> {
        let iteration = self.state.iteration;
        self.replay = ReplayBuffer::new(self.setup);
        let Parameters { architecture, seed, .. } = &self.parameters;
        if iteration == 0 {
            let initial = self.folder.join(INITIAL);
            let network = if initial.exists() {
                load_network(&initial, architecture)?
            } else {
                Network::new(*architecture, *seed).expect("the parameters have been checked")
            };
            self.learner = Learner::new(network.clone());
            self.player = network.clone();
            self.best = network;
            return Ok(());
        }
        let load = |path: PathBuf| load_network(&path, architecture);
        self.learner = Learner {
            network: load(self.path("learner", iteration, "-weights"))?,
            first: load(self.path("learner", iteration, "-first"))?,
            second: load(self.path("learner", iteration, "-second"))?,
            steps: self.state.steps,
        };
        self.player = load(self.path("networks", iteration, ""))?;
        self.best = load(self.path("networks", self.state.best, ""))?;
        for iteration in self.state.buffer_from..=iteration {
            let path = self.path("samples", iteration, "");
            let samples = load_samples(&path, self.setup)
                .map_err(|error| RunError::Damaged(path, error.to_string()))?;
            let learning = &self.parameters.learning;
            self.replay.add(iteration, samples, self.state.samples, learning);
        }
        Ok(())
    }

    /// Removes the leftovers of an interrupted iteration, whether it was interrupted before
    /// `state.json` was written or while files of the previous iteration were being removed.
    fn roll_back(&self) -> Result<(), RunError> {
        let now = self.state.iteration;
        for kind in FOLDERS.iter().copied().filter(|&kind| kind != "inherited").chain(["."]) {
            remove_temporary(&self.folder.join(kind));
        }
        // Earlier versions stored a copy of the best network there.
        let _ = fs::remove_dir_all(self.folder.join("best"));
        for kind in ["samples", "learner", "networks"] {
            self.remove(kind, |iteration| iteration > now);
        }
        self.clean_up();
        let path = self.folder.join("best.safetensors");
        if now == 0 {
            // Nothing has been trained yet, so there is no best network.
            let _ = fs::remove_file(path);
        } else if Network::load(&path).ok().as_ref() != Some(&self.best) {
            self.save_best()?;
        }
        self.roll_back_metrics()
    }

    /// Removes what `state.json` does not name: later iterations, and the gate match of an
    /// interrupted stop.
    fn roll_back_metrics(&self) -> Result<(), RunError> {
        let mut lines = self.metrics_lines()?;
        if let Some((line, last)) = lines.last_mut()
            && last.state.gated > self.state.gated
        {
            (last.state, last.gate) = (self.state, None);
            *line = last.line();
        }
        self.write_metrics(&lines)
    }

    /// The lines of the finished iterations with their metrics.
    fn metrics_lines(&self) -> Result<Vec<(String, Metrics)>, RunError> {
        let path = self.folder.join("metrics.jsonl");
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(RunError::Io(path, error)),
        };
        let parse = |line: &str| Some((line.to_owned(), serde_json::from_str(line).ok()?));
        let mut lines: Vec<(String, Metrics)> = text.lines().filter_map(parse).collect();
        lines.retain(|(_, metrics)| metrics.state.iteration <= self.state.iteration);
        Ok(lines)
    }

    /// Writes all lines of the metrics, if they differ from the file's.
    fn write_metrics(&self, lines: &[(String, Metrics)]) -> Result<(), RunError> {
        let path = self.folder.join("metrics.jsonl");
        let text: String = lines.iter().flat_map(|(line, _)| [line, "\n"]).collect();
        if fs::read_to_string(&path).unwrap_or_default() == text {
            return Ok(());
        }
        files::write(&path, text.as_bytes()).map_err(|error| RunError::Io(path, error))
    }

    fn prepare_exam(&self, observer: &mut Observer<'_>) -> Result<Option<Exam>, RunError> {
        let path = self.folder.join("exam.json");
        let parameters = &self.parameters.exam;
        if parameters.positions == 0 {
            return Ok(None);
        }
        if path.exists() {
            let exam = Exam::load(&path, self.setup);
            return exam.map(Some).map_err(|error| RunError::Damaged(path, error.to_string()));
        }
        let (seed, threads) = (self.seed(0, 4), self.resources.threads);
        let progress = |solved| observer(Event::PreparingExam { solved, of: parameters.positions });
        let exam = match Exam::new(self.setup, parameters, seed, threads, progress) {
            Ok(Some(exam)) => exam,
            Ok(None) => return Err(RunError::Stopped(self.folder.clone())),
            // A game that cannot be solved has no exam.
            Err(ExamError::Unsolvable(_)) => return Ok(None),
            Err(error) => return Err(RunError::Exam(error)),
        };
        exam.save(&path).map_err(|error| RunError::Io(path, error))?;
        Ok(Some(exam))
    }

    /// Removes files that are no longer needed. Failed removals are repeated after the next
    /// iteration.
    fn clean_up(&self) {
        let now = self.state.iteration;
        self.remove("samples", |iteration| iteration < self.state.buffer_from);
        self.remove("inherited", |iteration| iteration <= now);
        self.remove("learner", |iteration| iteration < now);
        // Of the older networks, every second, fourth, eighth and so on is kept.
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

/// Removes incompletely written files.
fn remove_temporary(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.extension().is_some_and(|extension| extension == files::TEMPORARY) {
            let _ = fs::remove_file(path);
        }
    }
}

fn path(folder: &Path, kind: &str, iteration: u64, part: &str) -> PathBuf {
    folder.join(kind).join(format!("{iteration:06}{part}.safetensors"))
}

/// The network that training starts from, if it is not a new one.
const INITIAL: &str = "initial.safetensors";

/// The subfolders of a run.
const FOLDERS: [&str; 4] = ["networks", "learner", "samples", "inherited"];

/// The files of samples in a run's replay buffer, oldest first.
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

/// The newest network of a run, if it has finished an iteration.
fn newest_network(folder: &Path) -> Result<Option<Network>, RunError> {
    let state: RunState = read_json(&folder.join("state.json"))?;
    let path = path(folder, "networks", state.iteration, "");
    (state.iteration > 0).then(|| read_network(&path)).transpose()
}

fn read_network(path: &Path) -> Result<Network, RunError> {
    Network::load(path).map_err(|error| match error.cause {
        FileErrorCause::Io(error) => RunError::Io(path.to_owned(), error),
        FileErrorCause::Content(error) => RunError::Damaged(path.to_owned(), error.to_string()),
    })
}

/// Reads a network of this architecture.
fn load_network(path: &Path, architecture: &Architecture) -> Result<Network, RunError> {
    let network = read_network(path)?;
    if network.architecture() == architecture {
        Ok(network)
    } else {
        Err(RunError::Damaged(path.to_owned(), OTHER_SHAPE.to_owned()))
    }
}

const OTHER_SHAPE: &str = "a network of a different shape";

fn create(
    folder: &Path,
    parameters: &Parameters,
    inherited: &[PathBuf],
    initial: Option<&Network>,
) -> Result<File, RunError> {
    let error = |error| RunError::Io(folder.to_owned(), error);
    if folder.join("parameters.json").exists() {
        return Err(RunError::Exists(folder.to_owned()));
    }
    fs::create_dir_all(folder).map_err(error)?;
    for entry in fs::read_dir(folder).map_err(error)? {
        // An interrupted start may have left these.
        let files = ["lock", INITIAL, "state.json", "state.json.new", "parameters.json.new"];
        let own = [&FOLDERS[..], &files];
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
    if let Some(network) = initial {
        let path = folder.join(INITIAL);
        network.save(&path).map_err(|error| RunError::Io(path, error))?;
    }
    write_json(&folder.join("state.json"), &RunState::default())?;
    // This comes last, because the file makes the folder a run.
    write_json(&folder.join("parameters.json"), parameters)?;
    Ok(lock)
}

/// Locks the folder for this process.
fn lock(folder: &Path) -> Result<File, RunError> {
    let path = folder.join("lock");
    let error = |error| RunError::Io(path.clone(), error);
    let file = File::options().create(true).append(true).open(&path).map_err(error)?;
    // `is_active` locks it briefly.
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
