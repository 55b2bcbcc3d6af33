//! Counted plies on disk, from which a count resumes.

use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use claimeven_game::{PlyCount, Ruleset, Setup};

use crate::budget::Budget;
use crate::counter::PlyReport;
use crate::layer::{Entry, Layer, Segment};
use crate::node::{Node, Stored};
use crate::profile::Geometry;

/// A checkpoint: the folder with the latest ply of a count.
///
/// A ply is a file, `ply-21.count`. It is written under another name, flushed to the disk and then
/// renamed; only then is the file of the previous ply removed. So there is a complete ply to resume
/// from, whenever the process ends. Only one process at a time can use the folder.
///
/// ```
/// use claimeven_count::{Checkpoint, Error, CountOptions, count_symbolically};
/// use claimeven_game::Setup;
///
/// let folder = std::env::temp_dir().join(format!("claimeven-count-{}", std::process::id()));
/// let mut checkpoint = Checkpoint::open(&folder)?;
/// let options =
///     CountOptions { plies: 5, threads: 1, memory: 1 << 30, checkpoint: Some(&mut checkpoint) };
/// count_symbolically(Setup::STANDARD, options, |_| Ok::<(), Error>(()))?;
/// assert!(checkpoint.latest().is_some_and(|file| file.ends_with("ply-05.count")));
/// # drop(checkpoint);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Checkpoint {
    folder: PathBuf,
    /// The files of plies, the latest last. There are several only after a process was killed.
    files: Vec<PathBuf>,
    /// Locked as long as it is open.
    _lock: File,
}

/// The first word of a file, and the version of its format.
const MAGIC: u64 = u64::from_le_bytes(*b"c4count1");
const EXTENSION: &str = "count";
/// A file that is being written.
const DRAFT: &str = "draft";

impl Checkpoint {
    /// Opens a folder, which is created if it does not exist.
    pub fn open(folder: &Path) -> Result<Checkpoint, CheckpointError> {
        let at = |path: &Path| {
            let path = path.to_owned();
            move |error| CheckpointError::Io { path, error }
        };
        fs::create_dir_all(folder).map_err(at(folder))?;
        let path = folder.join("lock");
        let lock = File::create(&path).map_err(at(&path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(CheckpointError::InUse(folder.to_owned())),
            Err(TryLockError::Error(error)) => return Err(at(&path)(error)),
        }
        let mut plies = Vec::new();
        for file in fs::read_dir(folder).map_err(at(folder))? {
            let path = file.map_err(at(folder))?.path();
            let name = path.file_stem().and_then(|name| name.to_str());
            let ply = name.and_then(|name| name.strip_prefix("ply-")?.parse::<u32>().ok());
            if let Some(ply) = ply {
                if path.extension().is_some_and(|extension| extension == EXTENSION) {
                    plies.push((ply, path));
                } else if path.extension().is_some_and(|extension| extension == DRAFT) {
                    fs::remove_file(&path).map_err(at(&path))?;
                }
            }
        }
        plies.sort();
        let files = plies.into_iter().map(|(_, path)| path).collect();
        Ok(Checkpoint { folder: folder.to_owned(), files, _lock: lock })
    }

    /// The file of the latest ply, if there is one to resume from.
    pub fn latest(&self) -> Option<&Path> {
        self.files.last().map(PathBuf::as_path)
    }

    /// The latest ply.
    pub(crate) fn read<'b>(
        &self,
        geometry: &Geometry,
        budget: &'b Budget,
    ) -> Result<Option<(Vec<PlyReport>, Layer<'b>)>, CheckpointError> {
        let Some(path) = self.files.last() else { return Ok(None) };
        let error = |reason| match reason {
            Unreadable::Io(error) => CheckpointError::Io { path: path.clone(), error },
            Unreadable::Damaged => CheckpointError::Damaged(path.clone()),
            Unreadable::OtherSetup(found) => CheckpointError::OtherSetup {
                path: path.clone(),
                found,
                expected: geometry.setup(),
            },
            Unreadable::OutOfMemory => {
                CheckpointError::Memory { path: path.clone(), limit: budget.limit() }
            }
        };
        read_file(path, geometry, budget).map(Some).map_err(error)
    }

    /// Replaces the latest ply.
    pub(crate) fn write(
        &mut self,
        geometry: &Geometry,
        reports: &[PlyReport],
        layer: &Layer,
    ) -> Result<(), CheckpointError> {
        let remove = |old: PathBuf| {
            fs::remove_file(&old).map_err(|error| CheckpointError::Io { path: old, error })
        };
        // Left by a process that was killed before it could remove them.
        let superseded = self.files.len().saturating_sub(1);
        self.files.drain(..superseded).try_for_each(remove)?;
        let path = self.folder.join(format!("ply-{:02}.{EXTENSION}", reports.len() - 1));
        let draft = path.with_extension(DRAFT);
        let write = || {
            write_file(&draft, geometry, reports, layer)?;
            fs::rename(&draft, &path)?;
            if cfg!(unix) {
                File::open(&self.folder)?.sync_all()?;
            }
            Ok(())
        };
        write().map_err(|error| CheckpointError::Io { path: path.clone(), error })?;
        let previous = std::mem::replace(&mut self.files, vec![path.clone()]);
        previous.into_iter().filter(|old| *old != path).try_for_each(remove)
    }
}

/// Why a file cannot be used.
enum Unreadable {
    Io(io::Error),
    Damaged,
    OtherSetup(Setup),
    OutOfMemory,
}

impl From<io::Error> for Unreadable {
    fn from(error: io::Error) -> Unreadable {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Unreadable::Damaged,
            _ => Unreadable::Io(error),
        }
    }
}

fn write_file(
    path: &Path,
    geometry: &Geometry,
    reports: &[PlyReport],
    layer: &Layer,
) -> io::Result<()> {
    let mut out = Words { stream: BufWriter::with_capacity(1 << 20, File::create(path)?), sum: 0 };
    out.put(MAGIC)?;
    out.put(setup_to_word(geometry.setup()))?;
    out.put(reports.len() as u64)?;
    for PlyReport { count, nodes, memory, time } in reports {
        let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        for word in [count.positions, count.finished, *nodes, *memory, millis] {
            out.put(word)?;
        }
    }
    out.put(layer.entries().len() as u64)?;
    for entry in layer.entries() {
        out.put(entry.key)?;
        out.put(entry.unfinished)?;
        out.put(u64::from(entry.unconnected) << 32 | u64::from(entry.orderable))?;
        for set in [layer.unconnected(entry), layer.orderable(entry)] {
            for node in set.0 {
                out.put(node.to_bits())?;
            }
        }
    }
    out.put(out.sum)?;
    let file = out.stream.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.sync_all()
}

fn read_file<'b>(
    path: &Path,
    geometry: &Geometry,
    budget: &'b Budget,
) -> Result<(Vec<PlyReport>, Layer<'b>), Unreadable> {
    let mut words = Words { stream: BufReader::with_capacity(1 << 20, File::open(path)?), sum: 0 };
    let setup = geometry.setup();
    if words.take()? != MAGIC {
        return Err(Unreadable::Damaged);
    }
    let found = setup_from_word(words.take()?).ok_or(Unreadable::Damaged)?;
    if found != setup {
        return Err(Unreadable::OtherSetup(found));
    }
    let counted = words.take()?;
    if counted > u64::from(setup.cells()) + 1 {
        return Err(Unreadable::Damaged);
    }
    let mut reports = Vec::new();
    for ply in 0..counted as u32 {
        let count = PlyCount { ply, positions: words.take()?, finished: words.take()? };
        let (nodes, memory) = (words.take()?, words.take()?);
        let time = Duration::from_millis(words.take()?);
        reports.push(PlyReport { count, nodes, memory, time });
    }
    let mut entries: Vec<Entry> = Vec::new();
    let mut segments: Vec<Segment> = Vec::new();
    let mut nodes = Vec::new();
    for _ in 0..words.take()? {
        let (key, unfinished, lengths) = (words.take()?, words.take()?, words.take()?);
        let (unconnected, orderable) = ((lengths >> 32) as u32, lengths as u32);
        nodes.clear();
        for _ in 0..u64::from(unconnected) + u64::from(orderable) {
            nodes.push(Node::from_bits(words.take()?));
        }
        let sets = nodes.split_at(unconnected as usize);
        let is_well_formed = |set| Stored(set).is_well_formed(setup.cells() as u8);
        let in_order = entries.last().is_none_or(|last| last.key < key);
        if !in_order || !is_well_formed(sets.0) || !is_well_formed(sets.1) {
            return Err(Unreadable::Damaged);
        }
        if segments.last().is_none_or(|segment| !segment.has_room_for(nodes.len())) {
            segments.push(Segment::new(budget));
        }
        let index = segments.len() - 1;
        let start = segments[index].nodes().len() as u32;
        let entry = Entry { key, unfinished, segment: index as u32, start, unconnected, orderable };
        entries.push(entry);
        segments[index].append(key, nodes.iter().copied()).map_err(|_| Unreadable::OutOfMemory)?;
    }
    let sum = words.sum;
    if words.take()? != sum || words.stream.read(&mut [0])? > 0 {
        return Err(Unreadable::Damaged);
    }
    Ok((reports, Layer::new(geometry, vec![(entries, segments)])))
}

/// A stream of 64-bit words with a running checksum.
struct Words<S> {
    stream: S,
    sum: u64,
}

impl<S> Words<S> {
    fn add(&mut self, word: u64) {
        self.sum = (self.sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
}

impl<S: Write> Words<S> {
    fn put(&mut self, word: u64) -> io::Result<()> {
        self.add(word);
        self.stream.write_all(&word.to_le_bytes())
    }
}

impl<S: Read> Words<S> {
    fn take(&mut self) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.stream.read_exact(&mut bytes)?;
        let word = u64::from_le_bytes(bytes);
        self.add(word);
        Ok(word)
    }
}

fn setup_to_word(setup: Setup) -> u64 {
    let ruleset = Ruleset::ALL.iter().position(|&ruleset| ruleset == setup.ruleset());
    let ruleset = ruleset.expect("every ruleset is listed") as u8;
    u64::from(u32::from_le_bytes([setup.cols(), setup.rows(), setup.connect(), ruleset]))
}

fn setup_from_word(word: u64) -> Option<Setup> {
    let [cols, rows, connect, ruleset] = u32::try_from(word).ok()?.to_le_bytes();
    Setup::new(cols, rows, connect, *Ruleset::ALL.get(usize::from(ruleset))?).ok()
}

/// Why a checkpoint cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum CheckpointError {
    /// A file cannot be read or written.
    #[allow(missing_docs, reason = "self-explanatory")]
    Io { path: PathBuf, error: io::Error },
    /// A file is not as it was written.
    Damaged(PathBuf),
    /// A file belongs to the count of another board.
    #[allow(missing_docs, reason = "self-explanatory")]
    OtherSetup { path: PathBuf, found: Setup, expected: Setup },
    /// A file does not fit in the allowed memory, in bytes.
    #[allow(missing_docs, reason = "self-explanatory")]
    Memory { path: PathBuf, limit: u64 },
    /// Another process is using the folder.
    InUse(PathBuf),
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckpointError::Io { path, error } => write!(f, "{}: {error}", path.display()),
            CheckpointError::Damaged(path) => {
                write!(f, "{} is damaged; remove it to count from the beginning", path.display())
            }
            CheckpointError::OtherSetup { path, found, expected } => {
                write!(f, "{} is a count of {found}, not of {expected}", path.display())
            }
            CheckpointError::Memory { path, limit } => write!(
                f,
                "{} takes more than the {} MiB of memory allowed",
                path.display(),
                limit >> 20
            ),
            CheckpointError::InUse(folder) => {
                write!(f, "{} is in use by another process", folder.display())
            }
        }
    }
}

impl std::error::Error for CheckpointError {}
