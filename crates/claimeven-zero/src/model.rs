//! Networks by where they are kept: in the program, in a file or in a run's folder.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::SystemTime;

use claimeven_game::Setup;

use crate::files::FileError;
use crate::network::{Network, NetworkError};

/// The networks that are part of the program, one for each of some setups.
pub fn embedded_networks() -> &'static [Arc<Network>] {
    static NETWORKS: OnceLock<Vec<Arc<Network>>> = OnceLock::new();
    NETWORKS.get_or_init(|| {
        let files = [include_bytes!("../networks/7x6.safetensors")];
        let network = |bytes: &[u8]| Network::from_bytes(bytes).expect("a test reads it");
        files.into_iter().map(|bytes| Arc::new(network(bytes))).collect()
    })
}

/// The network for a setup that is part of the program.
pub fn embedded_network(setup: Setup) -> Result<Arc<Network>, NoNetwork> {
    let network = embedded_networks().iter().find(|network| network.setup() == setup);
    network.map(Arc::clone).ok_or(NoNetwork)
}

/// Where a network is kept outside the program.
///
/// As a text it is a file of weights, the folder of a training run, which stands for its best
/// network, or `FOLDER@ITERATION`. A run may be given by its name alone where a program has said in
/// which folders its runs are ([`find_runs_in`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Model {
    /// In a file of its own.
    File(PathBuf),
    /// In a training run, as the network that won the last gate match.
    Best(PathBuf),
    /// In a training run, as the network of an iteration.
    Iteration(PathBuf, u64),
}

impl Model {
    /// What a text stands for, as the files are now.
    pub fn new(text: &str) -> Model {
        let path = PathBuf::from(text);
        if path.is_dir() {
            return Model::Best(path);
        }
        if !path.exists()
            && let Some(model) = Model::by_name(text)
        {
            return model;
        }
        if let Some((folder, iteration)) = text.rsplit_once('@')
            && let Ok(iteration) = iteration.parse()
            && !path.exists()
        {
            return Model::Iteration(folder.into(), iteration);
        }
        Model::File(path)
    }

    fn by_name(text: &str) -> Option<Model> {
        let (name, iteration) = match text.split_once('@') {
            Some((name, iteration)) => (name, Some(iteration.parse().ok()?)),
            None => (text, None),
        };
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return None;
        }
        let folders = RUNS.read().unwrap_or_else(PoisonError::into_inner);
        let run = folders.iter().map(|folder| folder.join(name)).find(|run| run.is_dir())?;
        Some(match iteration {
            Some(iteration) => Model::Iteration(run, iteration),
            None => Model::Best(run),
        })
    }

    /// The file of the weights.
    pub fn file(&self) -> PathBuf {
        match self {
            Model::File(path) => path.clone(),
            Model::Best(folder) => folder.join("best.safetensors"),
            Model::Iteration(folder, iteration) => network_file(folder, *iteration),
        }
    }

    /// Loads the network. All who ask for one that has not changed since get the same.
    pub fn load(&self) -> Result<Arc<Network>, ModelError> {
        if let Model::Best(folder) | Model::Iteration(folder, _) = self {
            if !folder.join("parameters.json").is_file() {
                return Err(ModelError::NoRun(folder.clone()));
            }
            let kept = kept_networks(folder);
            match self {
                Model::Best(_) if kept.is_empty() => {
                    return Err(ModelError::NoNetworkYet(folder.clone()));
                }
                Model::Iteration(_, iteration) if !kept.contains(iteration) => {
                    return Err(ModelError::NotKept(folder.clone(), *iteration, kept));
                }
                _ => {}
            }
        }
        load_shared(self.file()).map_err(ModelError::File)
    }
}

/// Folders in which runs have names.
static RUNS: RwLock<Vec<PathBuf>> = RwLock::new(Vec::new());

/// Lets runs in a folder be given by their names alone, which are letters and digits, for as long as
/// the program runs. A path of that name comes first.
pub fn find_runs_in(folder: &Path) {
    let mut folders = RUNS.write().unwrap_or_else(PoisonError::into_inner);
    if !folders.iter().any(|known| known == folder) {
        folders.push(folder.to_owned());
    }
}

/// The file of a run's network.
pub(crate) fn network_file(folder: &Path, iteration: u64) -> PathBuf {
    folder.join("networks").join(format!("{iteration:06}.safetensors"))
}

/// The iterations whose networks a run has kept, in their order.
pub fn kept_networks(folder: &Path) -> Vec<u64> {
    let Ok(entries) = fs::read_dir(folder.join("networks")) else { return Vec::new() };
    let iteration = |name: &str| name.strip_suffix(".safetensors")?.parse().ok();
    let mut kept: Vec<u64> =
        entries.filter_map(|entry| iteration(entry.ok()?.file_name().to_str()?)).collect();
    kept.sort_unstable();
    kept
}

/// A file's network, and how the file was when it was read.
struct Loaded {
    file: PathBuf,
    version: Option<Version>,
    network: Arc<Network>,
}

/// What another file in the same place would have different: its size, its time, or, if it came
/// within the same tick of the clock, its number in the file system.
type Version = (u64, SystemTime, u64);

fn version(file: &Path) -> Option<Version> {
    let data = fs::metadata(file).ok()?;
    #[cfg(unix)]
    let number = std::os::unix::fs::MetadataExt::ino(&data);
    #[cfg(not(unix))]
    let number = 0;
    Some((data.len(), data.modified().ok()?, number))
}

/// The networks that were asked for last. A tournament makes its players anew for every game.
static LOADED: Mutex<Vec<Loaded>> = Mutex::new(Vec::new());

/// How many are remembered: more than play in most tournaments.
const REMEMBERED: usize = 16;

fn load_shared(file: PathBuf) -> Result<Arc<Network>, FileError<NetworkError>> {
    let version = version(&file);
    // Nothing is done under the lock that could leave the list half changed.
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let known = loaded.iter().position(|known| known.file == file);
    let known = known.map(|index| loaded.remove(index));
    let network = match known {
        Some(known) if known.version == version && version.is_some() => known.network,
        _ => Arc::new(Network::load(&file)?),
    };
    if loaded.len() >= REMEMBERED {
        loaded.remove(0);
    }
    loaded.push(Loaded { file, version, network: Arc::clone(&network) });
    Ok(network)
}

/// A setup for which the program has no network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoNetwork;

impl fmt::Display for NoNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let setups = embedded_networks().iter().map(|network| network.setup().to_string());
        let setups = setups.collect::<Vec<_>>().join("; ");
        write!(f, "there is a network for {setups}; others are trained, and given as model=PATH")
    }
}

impl std::error::Error for NoNetwork {}

/// Why a network is not to be had.
#[derive(Debug)]
pub enum ModelError {
    /// The folder holds no training run.
    NoRun(PathBuf),
    /// The first iteration of the run has not ended.
    NoNetworkYet(PathBuf),
    /// The run has no network of that iteration, but of these.
    NotKept(PathBuf, u64, Vec<u64>),
    /// The file is not one of a network.
    File(FileError<NetworkError>),
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModelError::NoRun(path) => write!(f, "there is no training run in {}", path.display()),
            ModelError::NoNetworkYet(path) => {
                write!(f, "the run in {} has no network yet", path.display())
            }
            ModelError::NotKept(path, iteration, kept) => {
                write!(f, "the run in {} has no network of iteration {iteration}", path.display())?;
                match (kept.first(), kept.last()) {
                    (Some(first), Some(last)) => {
                        write!(f, " ({} are kept, of iterations {first} to {last})", kept.len())
                    }
                    _ => Ok(()),
                }
            }
            ModelError::File(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ModelError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_networks_are_whole_and_small() {
        for network in embedded_networks() {
            assert_eq!(*embedded_network(network.setup()).unwrap(), **network);
            assert!(network.to_bytes().len() < 2_000_000);
        }
        assert!(embedded_network(Setup::STANDARD).is_ok());
        let other = Setup::new(5, 4, 4, claimeven_game::Ruleset::Standard).unwrap();
        assert_eq!(
            embedded_network(other).unwrap_err().to_string(),
            "there is a network for 7x6, connect 4, standard; others are trained, and given as model=PATH"
        );
    }
}
