//! The sources of networks: embedded in the program, in a file or in a training run.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use claimeven_game::Setup;

use crate::files::FileError;
use crate::network::{Network, NetworkError};

/// The embedded networks, at most one per setup.
pub fn embedded_networks() -> &'static [Arc<Network>] {
    static NETWORKS: OnceLock<Vec<Arc<Network>>> = OnceLock::new();
    NETWORKS.get_or_init(|| {
        let files = [include_bytes!("../networks/7x6.safetensors")];
        let network = |bytes: &[u8]| Network::from_bytes(bytes).expect("a test loads it");
        files.into_iter().map(|bytes| Arc::new(network(bytes))).collect()
    })
}

/// The embedded network for a setup.
pub fn embedded_network(setup: Setup) -> Result<Arc<Network>, NoNetwork> {
    let network = embedded_networks().iter().find(|network| network.setup() == setup);
    network.map(Arc::clone).ok_or(NoNetwork)
}

/// The source of a network that is not embedded.
///
/// Its text is the path of a network file, the folder of a training run (for its best network), or
/// `FOLDER@ITERATION`. A [`ModelStore`] also finds runs by name.
///
/// ```
/// use claimeven_zero::Model;
///
/// assert_eq!(Model::new("run@12"), Model::Iteration("run".into(), 12));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Model {
    /// A network file.
    File(PathBuf),
    /// The best network of a training run.
    Best(PathBuf),
    /// The network of an iteration of a training run.
    Iteration(PathBuf, u64),
}

impl Model {
    /// The model named by a text, according to the files that exist now.
    #[must_use]
    pub fn new(text: &str) -> Model {
        ModelStore::default().find(text)
    }

    /// The file of the weights.
    #[must_use]
    pub fn file(&self) -> PathBuf {
        match self {
            Model::File(path) => path.clone(),
            Model::Best(folder) => folder.join("best.safetensors"),
            Model::Iteration(folder, iteration) => network_file(folder, *iteration),
        }
    }

    /// Loads the network. All callers share it as long as the file does not change.
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

/// Folders in which training runs are found by name.
///
/// ```
/// use claimeven_zero::{Model, ModelStore};
///
/// let store = ModelStore::new(["/var/lib/claimeven/runs".into()]);
/// // Without such a run, the text is a path.
/// assert_eq!(store.find("first"), Model::File("first".into()));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelStore {
    folders: Arc<[PathBuf]>,
}

impl ModelStore {
    /// A store of the runs in some folders, which are searched in order.
    pub fn new(folders: impl IntoIterator<Item = PathBuf>) -> ModelStore {
        ModelStore { folders: folders.into_iter().collect() }
    }

    /// The model named by a text, according to the files that exist now. Paths take precedence over
    /// run names, which consist of letters and digits and may be followed by `@ITERATION`.
    #[must_use]
    pub fn find(&self, text: &str) -> Model {
        let path = PathBuf::from(text);
        if path.is_dir() {
            return Model::Best(path);
        }
        if !path.exists()
            && let Some(model) = self.find_by_name(text)
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

    fn find_by_name(&self, text: &str) -> Option<Model> {
        let (name, iteration) = match text.split_once('@') {
            Some((name, iteration)) => (name, Some(iteration.parse().ok()?)),
            None => (text, None),
        };
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return None;
        }
        let run = self.folders.iter().map(|folder| folder.join(name)).find(|run| run.is_dir())?;
        Some(match iteration {
            Some(iteration) => Model::Iteration(run, iteration),
            None => Model::Best(run),
        })
    }
}

/// The file of an iteration's network.
pub(crate) fn network_file(folder: &Path, iteration: u64) -> PathBuf {
    folder.join("networks").join(format!("{iteration:06}.safetensors"))
}

/// The iterations whose networks a run has kept, in ascending order.
pub fn kept_networks(folder: &Path) -> Vec<u64> {
    let Ok(entries) = fs::read_dir(folder.join("networks")) else { return Vec::new() };
    let iteration = |name: &str| name.strip_suffix(".safetensors")?.parse().ok();
    let mut kept: Vec<u64> =
        entries.filter_map(|entry| iteration(entry.ok()?.file_name().to_str()?)).collect();
    kept.sort_unstable();
    kept
}

/// A file's network and the version of the file.
struct Loaded {
    file: PathBuf,
    version: Option<Version>,
    network: Arc<Network>,
}

/// Size, modification time and inode number, which distinguishes files written within one clock
/// tick.
type Version = (u64, SystemTime, u64);

fn version(file: &Path) -> Option<Version> {
    let data = fs::metadata(file).ok()?;
    #[cfg(unix)]
    let number = std::os::unix::fs::MetadataExt::ino(&data);
    #[cfg(not(unix))]
    let number = 0;
    Some((data.len(), data.modified().ok()?, number))
}

/// The most recently loaded networks, because a tournament creates its players again for every
/// game.
static LOADED: Mutex<Vec<Loaded>> = Mutex::new(Vec::new());

/// The size of that cache: more networks than most tournaments use.
const MAX_LOADED: usize = 16;

fn load_shared(file: PathBuf) -> Result<Arc<Network>, FileError<NetworkError>> {
    let version = version(&file);
    // The list is consistent even if loading panics under the lock.
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let known = loaded.iter().position(|known| known.file == file);
    let known = known.map(|index| loaded.remove(index));
    let network = match known {
        Some(known) if known.version == version && version.is_some() => known.network,
        _ => Arc::new(Network::load(&file)?),
    };
    if loaded.len() >= MAX_LOADED {
        loaded.remove(0);
    }
    loaded.push(Loaded { file, version, network: Arc::clone(&network) });
    Ok(network)
}

/// The program has no embedded network for a setup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NoNetwork;

impl fmt::Display for NoNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let setups = embedded_networks().iter().map(|network| network.setup().to_string());
        let setups = setups.collect::<Vec<_>>().join("; ");
        write!(f, "no embedded network (available: {setups}); train one and use model=PATH")
    }
}

impl std::error::Error for NoNetwork {}

/// Why a network cannot be loaded.
#[derive(Debug)]
#[non_exhaustive]
pub enum ModelError {
    /// The folder is not a training run.
    NoRun(PathBuf),
    /// The run has not finished its first iteration.
    NoNetworkYet(PathBuf),
    /// The run has not kept the network of that iteration; the list has those it has kept.
    NotKept(PathBuf, u64, Vec<u64>),
    /// The file cannot be read or is not a network.
    File(FileError<NetworkError>),
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModelError::NoRun(path) => write!(f, "no training run in {}", path.display()),
            ModelError::NoNetworkYet(path) => {
                write!(f, "the run in {} has no network yet", path.display())
            }
            ModelError::NotKept(path, iteration, kept) => {
                write!(
                    f,
                    "the run in {} has no network for iteration {iteration}",
                    path.display()
                )?;
                match (kept.first(), kept.last()) {
                    (Some(first), Some(last)) => {
                        write!(
                            f,
                            " ({} networks are kept, from iterations {first} to {last})",
                            kept.len()
                        )
                    }
                    _ => Ok(()),
                }
            }
            ModelError::File(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ModelError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ModelError::File(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_networks_are_complete_and_small() {
        for network in embedded_networks() {
            assert_eq!(*embedded_network(network.setup()).unwrap(), **network);
            assert!(network.to_bytes().len() < 2_000_000);
        }
        assert!(embedded_network(Setup::STANDARD).is_ok());
        let other = Setup::new(5, 4, 4, claimeven_game::Ruleset::Standard).unwrap();
        assert_eq!(
            embedded_network(other).unwrap_err().to_string(),
            "no embedded network (available: 7x6, connect 4, standard); train one and use model=PATH"
        );
    }
}
