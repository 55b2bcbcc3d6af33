//! The count, ply by ply, on several threads.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use claimeven_game::{PlyCount, Setup};

use crate::budget::{Budget, OutOfMemory};
use crate::checkpoint::{Checkpoint, CheckpointError};
use crate::expand::{Expansion, expand};
use crate::layer::{Entry, Layer, Segment};
use crate::node::Node;
use crate::profile::{Geometry, ProfileKey};
use crate::workspace::Workspace;

/// The maximum number of cells: colourings are counted in 64 bits.
pub const MAX_CELLS: u32 = 64;

/// The options of a count: its last ply, resources and checkpoint. [`count_symbolically`] has an
/// example.
#[derive(Debug)]
pub struct CountOptions<'a> {
    /// The last ply to count.
    pub plies: u32,
    /// The number of threads, at least 1.
    pub threads: usize,
    /// The limit for diagrams and tables, in bytes.
    pub memory: u64,
    /// Where every counted ply is saved, and from where the count resumes.
    pub checkpoint: Option<&'a mut Checkpoint>,
}

/// The report on a counted ply: its positions, and the time and memory they took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlyReport {
    /// The positions.
    pub count: PlyCount,
    /// The nodes of all diagrams of the ply.
    pub nodes: u64,
    /// The peak size of diagrams and tables, in bytes.
    pub memory: u64,
    /// How long it took.
    pub time: Duration,
}

/// Progress of [`count_symbolically`].
#[derive(Clone, Copy, Debug)]
pub enum PlyEvent {
    /// Part of a ply has been counted: `done` of an estimated amount of work.
    #[allow(missing_docs, reason = "self-explanatory")]
    Progress { ply: u32, done: u64, of: u64 },
    /// A ply has been counted, now or before the count was resumed.
    Counted(PlyReport),
}

/// Counts the distinct positions of a setup, ply by ply from the empty board to ply `plies` or to
/// the full board, resuming from a checkpoint if there is one. It is cancelled if `on_event`
/// returns an error.
///
/// ```
/// use claimeven_count::{Error, PlyEvent, CountOptions, count_symbolically};
/// use claimeven_game::{Ruleset, Setup};
///
/// let setup = Setup::new(4, 4, 4, Ruleset::Standard)?;
/// let options = CountOptions { plies: u32::MAX, threads: 2, memory: 1 << 30, checkpoint: None };
/// let mut total = 0;
/// count_symbolically(setup, options, |event| {
///     if let PlyEvent::Counted(ply) = event {
///         total += ply.count.positions;
///     }
///     Ok::<(), Error>(())
/// })?;
/// assert_eq!(total, 161_029);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn count_symbolically<E: From<Error>>(
    setup: Setup,
    mut options: CountOptions,
    mut on_event: impl FnMut(PlyEvent) -> Result<(), E>,
) -> Result<(), E> {
    if setup.cells() > MAX_CELLS {
        return Err(Error::TooManyCells(setup).into());
    }
    let plies = options.plies.min(setup.cells());
    let geometry = Geometry::new(setup);
    let budget = Budget::new(options.memory);

    let (mut reports, mut previous) = match &mut options.checkpoint {
        Some(checkpoint) => checkpoint.read(&geometry, &budget).map_err(Error::from)?,
        None => None,
    }
    .unwrap_or_else(|| (vec![EMPTY_BOARD], Layer::first()));
    reports.truncate(plies as usize + 1);
    for &report in &reports {
        on_event(PlyEvent::Counted(report))?;
    }

    let mut workers: Vec<Worker> =
        (0..options.threads.max(1)).map(|_| Worker::new(&budget)).collect();
    for ply in reports.len() as u32..=plies {
        let progress = |done, of| on_event(PlyEvent::Progress { ply, done, of });
        let step = Step { geometry: &geometry, budget: &budget, ply };
        let (report, next) = step.count(previous, &mut workers, progress)?;
        reports.push(report);
        previous = next;
        if let Some(checkpoint) = &mut options.checkpoint {
            checkpoint.write(&geometry, &reports, &previous).map_err(Error::from)?;
        }
        on_event(PlyEvent::Counted(report))?;
    }
    Ok(())
}

const EMPTY_BOARD: PlyReport = PlyReport {
    count: PlyCount { ply: 0, positions: 1, finished: 0 },
    nodes: 0,
    memory: 0,
    time: Duration::ZERO,
};

/// One ply of a count.
struct Step<'a, 'b> {
    geometry: &'a Geometry,
    budget: &'b Budget,
    ply: u32,
}

impl<'b> Step<'_, 'b> {
    fn count<E: From<Error>>(
        &self,
        mut previous: Layer<'b>,
        workers: &mut [Worker<'b>],
        mut progress: impl FnMut(u64, u64) -> Result<(), E>,
    ) -> Result<(PlyReport, Layer<'b>), E> {
        let started = Instant::now();
        self.budget.take_peak();
        let jobs = self.jobs(&previous);
        let of = jobs.iter().map(|job| job.work).sum();
        let mut done = 0;
        for (batch, rest) in batches(&jobs) {
            progress(done, of)?;
            self.run(batch, &previous, workers).map_err(|OutOfMemory| {
                let made = workers.iter().map(Worker::bytes).sum::<u64>();
                let rest = (of - done).checked_mul(made).and_then(|rest| rest.checked_div(done));
                Error::Memory {
                    setup: self.geometry.setup(),
                    ply: self.ply,
                    needed: rest.map(|rest| self.budget.used() + rest),
                    limit: self.budget.limit(),
                }
            })?;
            done += batch.iter().map(|job| job.work).sum::<u64>();
            // The smallest predecessor of a profile has one disc fewer in the left column.
            let needed = rest.first().map_or(ProfileKey::MAX, |job| job.key);
            previous.release_below(needed.saturating_sub(self.geometry.weight(0)));
        }
        progress(done, of)?;
        drop(previous);

        let mut count = PlyCount { ply: self.ply, positions: 0, finished: 0 };
        for worker in &mut *workers {
            let (positions, finished) = std::mem::take(&mut worker.counted);
            let add = |a: u64, b: u128| u64::try_from(b).ok().and_then(|b| a.checked_add(b));
            (count.positions, count.finished) = add(count.positions, positions)
                .zip(add(count.finished, finished))
                .ok_or(Error::TooManyPositions { ply: self.ply })?;
        }
        if self.ply == self.geometry.setup().cells() {
            count.finished = count.positions;
        }
        let layer = Layer::new(self.geometry, workers.iter_mut().map(Worker::take).collect());
        let report = PlyReport {
            count,
            nodes: layer.nodes(),
            memory: self.budget.take_peak(),
            time: started.elapsed(),
        };
        Ok((report, layer))
    }

    /// The profiles of this ply, by key.
    fn jobs(&self, previous: &Layer) -> Vec<ProfileJob> {
        let rows = usize::from(self.geometry.setup().rows());
        let mut jobs: Vec<ProfileJob> = previous
            .entries()
            .iter()
            .flat_map(|entry| {
                let heights = self.geometry.heights(entry.key);
                let open = (0..heights.len()).filter(move |&column| heights[column] < rows);
                open.map(move |column| ProfileJob {
                    key: entry.key + self.geometry.weight(column),
                    work: u64::from(entry.unconnected) + 1,
                })
            })
            .collect();
        jobs.sort_unstable_by_key(|job| (job.key, job.work));
        jobs.dedup_by_key(|job| job.key);
        jobs
    }

    fn run(
        &self,
        batch: &[ProfileJob],
        previous: &Layer<'b>,
        workers: &mut [Worker<'b>],
    ) -> Result<(), OutOfMemory> {
        let next = AtomicUsize::new(0);
        let work = |worker: &mut Worker<'b>| {
            while let Some(job) = batch.get(next.fetch_add(1, Ordering::Relaxed)) {
                worker.expand(self.geometry, previous, self.ply, job.key)?;
            }
            Ok(())
        };
        let (first, others) = workers.split_first_mut().expect("there is at least one worker");
        thread::scope(|scope| {
            let others = if batch.len() > 1 { others } else { &mut [] };
            let others: Vec<_> =
                others.iter_mut().map(|worker| scope.spawn(|| work(worker))).collect();
            let mut result = work(first);
            for other in others {
                let other = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                result = result.and(other);
            }
            result
        })
    }
}

/// A profile to count, with an estimate of the work: the nodes of its smallest predecessor.
struct ProfileJob {
    key: ProfileKey,
    work: u64,
}

/// The jobs in batches, each with the jobs after it. Between batches progress is reported and
/// memory is freed.
fn batches(jobs: &[ProfileJob]) -> impl Iterator<Item = (&[ProfileJob], &[ProfileJob])> {
    let size = (jobs.len() / 128).clamp(64, 1024);
    (0..jobs.len()).step_by(size).map(move |start| {
        let (batch, rest) = jobs[start..].split_at(size.min(jobs.len() - start));
        (batch, rest)
    })
}

/// The workspace of a thread, and its results for the current ply.
struct Worker<'b> {
    budget: &'b Budget,
    workspace: Workspace<'b>,
    nodes: Vec<Node>,
    segments: Vec<Segment<'b>>,
    entries: Vec<Entry>,
    /// Positions, and how many of them are finished.
    counted: (u128, u128),
}

impl<'b> Worker<'b> {
    fn new(budget: &'b Budget) -> Worker<'b> {
        Worker {
            budget,
            workspace: Workspace::new(budget),
            nodes: Vec::new(),
            segments: Vec::new(),
            entries: Vec::new(),
            counted: (0, 0),
        }
    }

    fn expand(
        &mut self,
        geometry: &Geometry,
        previous: &Layer,
        ply: u32,
        key: ProfileKey,
    ) -> Result<(), OutOfMemory> {
        self.nodes.clear();
        let capacity = self.nodes.capacity();
        let expansion = expand(&mut self.workspace, geometry, previous, ply, key, &mut self.nodes)?;
        self.budget.reserve((self.nodes.capacity() - capacity) * size_of::<Node>())?;
        let Expansion { images, unfinished, finished, unconnected } = expansion;
        self.counted.0 += u128::from(images) * (u128::from(unfinished) + u128::from(finished));
        self.counted.1 += u128::from(images) * u128::from(finished);
        let needed = !self.nodes.is_empty() && (images == 0 || unfinished > 0);
        if needed && ply < geometry.setup().cells() {
            self.keep(key, unfinished, unconnected)?;
        }
        Ok(())
    }

    fn keep(
        &mut self,
        key: ProfileKey,
        unfinished: u64,
        unconnected: usize,
    ) -> Result<(), OutOfMemory> {
        if self.segments.last().is_none_or(|segment| !segment.has_room_for(self.nodes.len())) {
            self.segments.push(Segment::new(self.budget));
        }
        let index = self.segments.len() - 1;
        let segment = &mut self.segments[index];
        self.entries.push(Entry {
            key,
            unfinished,
            segment: index as u32,
            start: segment.nodes().len() as u32,
            unconnected: unconnected as u32,
            orderable: (self.nodes.len() - unconnected) as u32,
        });
        segment.append(key, self.nodes.iter().copied())
    }

    fn bytes(&self) -> u64 {
        self.segments.iter().map(Segment::bytes).sum::<usize>() as u64
    }

    fn take(&mut self) -> (Vec<Entry>, Vec<Segment<'b>>) {
        (std::mem::take(&mut self.entries), std::mem::take(&mut self.segments))
    }
}

/// Why a count ended early.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The board has more than [`MAX_CELLS`] cells.
    TooManyCells(Setup),
    /// The number of positions does not fit in 64 bits.
    #[allow(missing_docs, reason = "self-explanatory")]
    TooManyPositions { ply: u32 },
    /// A ply would take more memory than the limit.
    Memory {
        /// The setup to count.
        setup: Setup,
        /// The ply.
        ply: u32,
        /// An estimate of the bytes needed for this ply; `None` if it had hardly started.
        needed: Option<u64>,
        /// The limit in bytes.
        limit: u64,
    },
    /// A checkpoint cannot be read or written.
    Checkpoint(CheckpointError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::TooManyCells(setup) => write!(
                f,
                "a {}x{} board has too many cells for symbolic counting (at most {MAX_CELLS})",
                setup.cols(),
                setup.rows()
            ),
            Error::TooManyPositions { ply } => {
                write!(f, "ply {ply} has more than {} positions", u64::MAX)
            }
            Error::Memory { setup, ply, needed, limit } => {
                let (cols, rows) = (setup.cols(), setup.rows());
                let amount = match needed {
                    Some(bytes) => format!("about {}", bytes.div_ceil(1 << 20)),
                    None => format!("more than {}", limit >> 20),
                };
                write!(
                    f,
                    "counting ply {ply} of {cols}x{rows} would take {amount} MiB of memory, but \
                     only {} MiB are allowed",
                    limit >> 20
                )
            }
            Error::Checkpoint(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Checkpoint(error) => Some(error),
            _ => None,
        }
    }
}

impl From<CheckpointError> for Error {
    fn from(error: CheckpointError) -> Error {
        Error::Checkpoint(error)
    }
}
