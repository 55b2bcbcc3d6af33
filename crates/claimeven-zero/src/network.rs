//! Networks: their tensors, and the file format.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io;
use std::path::Path;

use claimeven_game::Setup;
use fastrand::Rng;
use safetensors::{Dtype, SafeTensorError, SafeTensors};
use serde::Serialize;

use crate::architecture::{Architecture, ArchitectureError, Role, TensorShape};
use crate::files::{self, FileError};

/// A network: its architecture and its tensors.
///
/// ```
/// use claimeven_game::Setup;
/// use claimeven_zero::{Architecture, Network};
///
/// let network = Network::new(Architecture::new(Setup::STANDARD, 2, 16), 1)?;
/// assert_eq!(Network::from_bytes(&network.to_bytes())?, network);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    architecture: Architecture,
    /// In the order of [`Architecture::tensors`].
    tensors: Vec<Vec<f32>>,
    /// Metadata of the file, such as the network's origin.
    notes: HashMap<String, String>,
}

/// The key of the architecture in the metadata of a file.
const ARCHITECTURE: &str = "claimeven-zero";

impl Network {
    /// An untrained network with random weights.
    pub fn new(architecture: Architecture, seed: u64) -> Result<Network, ArchitectureError> {
        architecture.setup()?;
        let mut random = Rng::with_seed(seed);
        let shapes = architecture.tensors();
        let tensors = shapes.iter().map(|tensor| match tensor.role {
            Role::Gain | Role::Variance => vec![1.0; tensor.len()],
            Role::Bias | Role::Mean => vec![0.0; tensor.len()],
            Role::Weight => {
                let inputs: usize = tensor.shape[1..].iter().product();
                // He initialisation. The last layers are small: policy and value start near uniform.
                let is_last =
                    matches!(&*tensor.name, "policy.columns.weight" | "value.result.weight");
                let gain = if is_last { 0.1 } else { 2.0_f32.sqrt() };
                let deviation = gain / (inputs as f32).sqrt();
                (0..tensor.len()).map(|_| deviation * normal(&mut random)).collect()
            }
        });
        Ok(Network { architecture, tensors: tensors.collect(), notes: HashMap::new() })
    }

    /// A network of given tensors, in the order of [`Architecture::tensors`].
    pub fn from_tensors(
        architecture: Architecture,
        tensors: Vec<Vec<f32>>,
    ) -> Result<Network, NetworkError> {
        architecture.setup().map_err(|error| NetworkError::Architecture(error.to_string()))?;
        let shapes = architecture.tensors();
        for (index, shape) in shapes.iter().enumerate() {
            let numbers = tensors.get(index).filter(|numbers| numbers.len() == shape.len());
            if numbers.is_none_or(|numbers| !numbers.iter().all(|number| number.is_finite())) {
                return Err(NetworkError::Tensor(shape.name.clone()));
            }
        }
        Ok(Network { architecture, tensors, notes: HashMap::new() })
    }

    /// The architecture.
    #[must_use]
    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// The game it is for.
    #[must_use]
    pub fn setup(&self) -> Setup {
        self.architecture.setup().expect("a network's architecture is valid")
    }

    /// The tensors, in the order of [`Architecture::tensors`].
    #[must_use]
    pub fn tensors(&self) -> &[Vec<f32>] {
        &self.tensors
    }

    /// The tensors, whose elements can be changed but not their sizes.
    pub(crate) fn tensors_mut(&mut self) -> impl Iterator<Item = &mut [f32]> {
        self.tensors.iter_mut().map(Vec::as_mut_slice)
    }

    /// A tensor by its name.
    pub(crate) fn tensor(&self, name: &str) -> &[f32] {
        let index = self.architecture.tensors().iter().position(|tensor| tensor.name == name);
        &self.tensors[index.expect("the architecture has this tensor")]
    }

    /// A note saved with the network.
    #[must_use]
    pub fn note(&self, name: &str) -> Option<&str> {
        self.notes.get(name).map(String::as_str)
    }

    /// Saves a note with the network.
    pub fn set_note(&mut self, name: &str, text: &str) {
        self.notes.insert(name.to_owned(), text.to_owned());
    }

    /// Linear interpolation towards another network of the same architecture: `t` = 0 leaves it as
    /// it is, `t` = 1 gives the other network.
    pub(crate) fn lerp(&mut self, other: &Network, t: f32) {
        debug_assert_eq!(self.architecture, other.architecture, "the shapes are the same");
        for (own, other) in self.tensors.iter_mut().flatten().zip(other.tensors.iter().flatten()) {
            *own += t * (other - *own);
        }
    }

    /// A larger network with the same evaluations (*Net2Net*, Chen, Goodfellow, Shlens, 2016): new
    /// channels see the old ones but not the reverse, and new blocks pass their input on. `None` if
    /// the architecture has fewer blocks or channels, or differs in anything else.
    ///
    /// ```
    /// use claimeven_game::Setup;
    /// use claimeven_zero::{Architecture, Network};
    ///
    /// let small = Network::new(Architecture::new(Setup::STANDARD, 1, 8), 1)?;
    /// let large = small.grown(Architecture::new(Setup::STANDARD, 2, 16), 1);
    /// assert!(large.is_some_and(|large| large.grown(*small.architecture(), 1).is_none()));
    /// # Ok::<(), claimeven_zero::ArchitectureError>(())
    /// ```
    #[must_use]
    pub fn grown(&self, architecture: Architecture, seed: u64) -> Option<Network> {
        let Architecture { blocks, channels, .. } = architecture;
        let own = self.architecture;
        let is_larger = own.blocks <= blocks && own.channels <= channels;
        if !is_larger || (Architecture { blocks, channels, ..own }) != architecture {
            return None;
        }
        let mut grown = Network::new(architecture, seed).ok()?;
        let old: HashMap<String, (TensorShape, &Vec<f32>)> = own
            .tensors()
            .into_iter()
            .zip(&self.tensors)
            .map(|(shape, numbers)| (shape.name.clone(), (shape, numbers)))
            .collect();
        for (shape, numbers) in architecture.tensors().iter().zip(&mut grown.tensors) {
            if let Some((old_shape, old_numbers)) = old.get(&shape.name) {
                copy_channels(old_shape, old_numbers, shape, numbers);
            } else if shape.name.ends_with("second.gain") {
                // The new block adds nothing to its input.
                numbers.fill(0.0);
            }
        }
        Some(grown)
    }

    /// Whether all weights are finite. Only such networks are saved and loaded.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.tensors.iter().flatten().all(|number| number.is_finite())
    }

    /// Reads a network from a file.
    pub fn load(path: &Path) -> Result<Network, FileError<NetworkError>> {
        files::read(path, Network::from_bytes)
    }

    /// Writes the network to a file, atomically. A network with weights that are not finite is
    /// rejected, so that it cannot replace a good one.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        if !self.is_finite() {
            let reason = "the network has weights that are not finite";
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        files::write(path, &self.to_bytes())
    }

    /// The contents of a network file: safetensors, with the architecture as JSON in its metadata.
    /// Equal networks have equal files, because the header is sorted by name.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        #[derive(Serialize)]
        struct Header<'a> {
            #[serde(rename = "__metadata__")]
            metadata: BTreeMap<&'a str, &'a str>,
            #[serde(flatten)]
            tensors: BTreeMap<&'a str, Entry<'a>>,
        }
        #[derive(Serialize)]
        struct Entry<'a> {
            dtype: &'static str,
            shape: &'a [usize],
            data_offsets: [usize; 2],
        }
        let architecture =
            serde_json::to_string(&self.architecture).expect("the architecture is plain data");
        let notes = self.notes.iter().map(|(name, text)| (&**name, &**text));
        let metadata = notes.chain([(ARCHITECTURE, &*architecture)]).collect();
        let shapes = self.architecture.tensors();
        let sorted: BTreeMap<&str, (&[usize], &[f32])> = shapes
            .iter()
            .zip(&self.tensors)
            .map(|(tensor, numbers)| (&*tensor.name, (&*tensor.shape, &**numbers)))
            .collect();
        let mut data = Vec::new();
        let mut tensors = BTreeMap::new();
        for (name, (shape, numbers)) in sorted {
            let start = data.len();
            data.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
            let data_offsets = [start, data.len()];
            tensors.insert(name, Entry { dtype: "F32", shape, data_offsets });
        }
        let mut header =
            serde_json::to_vec(&Header { metadata, tensors }).expect("the header is plain data");
        // The data is aligned to 8 bytes.
        header.resize(header.len().next_multiple_of(8), b' ');
        [&(header.len() as u64).to_le_bytes()[..], &header, &data].concat()
    }

    /// Parses the contents of a network file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Network, NetworkError> {
        let (_, header) =
            SafeTensors::read_metadata(bytes).map_err(|error| NetworkError::damaged(&error))?;
        let mut notes = header.metadata().clone().unwrap_or_default();
        let architecture = notes.remove(ARCHITECTURE).ok_or(NetworkError::Foreign)?;
        let architecture: Architecture = serde_json::from_str(&architecture)
            .map_err(|error| NetworkError::Architecture(error.to_string()))?;
        architecture.setup().map_err(|error| NetworkError::Architecture(error.to_string()))?;

        let file =
            SafeTensors::deserialize(bytes).map_err(|error| NetworkError::damaged(&error))?;
        let shapes = architecture.tensors();
        if let Some(name) =
            file.names().iter().find(|&&name| shapes.iter().all(|tensor| tensor.name != name))
        {
            return Err(NetworkError::Tensor((*name).to_owned()));
        }
        let numbers = |name: &String, shape: &[usize]| {
            let wrong = || NetworkError::Tensor(name.clone());
            let view = file.tensor(name).map_err(|_| wrong())?;
            if view.dtype() != Dtype::F32 || view.shape() != shape {
                return Err(wrong());
            }
            let (numbers, _) = view.data().as_chunks::<4>();
            let numbers: Vec<f32> =
                numbers.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
            if numbers.iter().all(|number| number.is_finite()) { Ok(numbers) } else { Err(wrong()) }
        };
        let tensors = shapes.iter().map(|tensor| numbers(&tensor.name, &tensor.shape));
        Ok(Network { architecture, tensors: tensors.collect::<Result<_, _>>()?, notes })
    }
}

/// Why a file is not a network.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NetworkError {
    /// It is truncated or not a safetensors file.
    Damaged(String),
    /// It is a safetensors file of another program.
    Foreign,
    /// The architecture in the metadata is invalid.
    Architecture(String),
    /// A tensor is missing, unknown, of another shape or not finite.
    Tensor(String),
}

impl NetworkError {
    fn damaged(error: &SafeTensorError) -> NetworkError {
        NetworkError::Damaged(error.to_string())
    }
}

impl fmt::Display for NetworkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NetworkError::Damaged(reason) => write!(f, "damaged network file ({reason})"),
            NetworkError::Foreign => {
                f.write_str("a safetensors file, but not a network of claimeven-zero")
            }
            NetworkError::Architecture(reason) => write!(f, "invalid architecture: {reason}"),
            NetworkError::Tensor(name) => {
                write!(f, "tensor '{name}' is missing, unknown, of another shape or not finite")
            }
        }
    }
}

impl std::error::Error for NetworkError {}

/// Copies a tensor into a larger one. Old outputs ignore new inputs; new outputs stay as they are.
fn copy_channels(old_shape: &TensorShape, old: &[f32], shape: &TensorShape, new: &mut [f32]) {
    let row = |shape: &TensorShape| shape.len() / shape.shape[0];
    let (old_row, row) = (row(old_shape), row(shape));
    for (old, new) in old.chunks_exact(old_row).zip(new.chunks_exact_mut(row)) {
        new.fill(0.0);
        new[..old_row].copy_from_slice(old);
    }
}

/// A sample of the normal distribution, by the Box-Muller transform.
pub(crate) fn normal(random: &mut Rng) -> f32 {
    let radius = (-2.0 * (1.0 - random.f32()).ln()).sqrt();
    radius * (std::f32::consts::TAU * random.f32()).cos()
}

#[cfg(test)]
mod tests {
    use safetensors::tensor::TensorView;

    use super::*;
    use crate::evaluator::Evaluator;
    use crate::inference::Inference;

    fn network() -> Network {
        let mut network = Network::new(Architecture::new(Setup::STANDARD, 1, 8), 7).unwrap();
        network.set_note("iteration", "12");
        network
    }

    #[test]
    fn a_network_round_trips_through_its_file() {
        let network = network();
        assert_eq!(Network::from_bytes(&network.to_bytes()), Ok(network));
    }

    #[test]
    fn a_grown_network_has_the_same_evaluations() {
        let mut small = network();
        // Trained networks have channels of different scale.
        let mut random = Rng::with_seed(1);
        small.tensors_mut().flatten().for_each(|number| *number *= 0.5 + random.f32());
        let large = small.grown(Architecture::new(Setup::STANDARD, 3, 20), 2).unwrap();
        let positions = ["", "44", "4343535"]
            .map(|moves| claimeven_game::Position::from_moves(Setup::STANDARD, moves).unwrap());
        let evaluate = |network: &Network| {
            let mut evaluations = Vec::new();
            Inference::new(network).evaluate(&positions, &mut evaluations);
            evaluations
        };
        assert_eq!(evaluate(&large), evaluate(&small));
        let same = large.grown(*large.architecture(), 3).unwrap();
        assert_eq!(same, large);
        let other = Architecture { value_hidden: 32, ..*large.architecture() };
        assert!(large.grown(other, 1).is_none());
    }

    #[test]
    fn equal_networks_have_equal_files() {
        let with_notes = |names: &[&str]| {
            let mut network = network();
            for name in names {
                network.set_note(name, "x");
            }
            network.to_bytes()
        };
        let bytes = with_notes(&["a", "b", "c", "d", "e"]);
        assert_eq!(bytes, with_notes(&["e", "d", "c", "b", "a"]));
        // Reading and writing it again, with different hash seeds.
        assert_eq!(Network::from_bytes(&bytes).unwrap().to_bytes(), bytes);
    }

    #[test]
    fn damaged_and_foreign_files_have_different_errors() {
        let bytes = network().to_bytes();
        let error = |bytes: &[u8]| Network::from_bytes(bytes).unwrap_err();
        assert!(matches!(error(b""), NetworkError::Damaged(_)));
        assert!(matches!(error(&bytes[..bytes.len() - 1]), NetworkError::Damaged(_)));
        assert!(matches!(error(&bytes[1..]), NetworkError::Damaged(_)));

        let number = [0; 4];
        let view = || TensorView::new(Dtype::F32, vec![1], &number).unwrap();
        let foreign = safetensors::serialize([("stem.conv", view())], None).unwrap();
        assert_eq!(error(&foreign), NetworkError::Foreign);

        let header = |text: &str| HashMap::from([(ARCHITECTURE.to_owned(), text.to_owned())]);
        let unknown = safetensors::serialize([("x", view())], Some(header("{}"))).unwrap();
        assert!(matches!(error(&unknown), NetworkError::Architecture(_)));

        let text = serde_json::to_string(network().architecture()).unwrap();
        let other = safetensors::serialize([("x", view())], Some(header(&text))).unwrap();
        assert_eq!(error(&other), NetworkError::Tensor("x".to_owned()));
        let missing = safetensors::serialize([("stem.gain", view())], Some(header(&text))).unwrap();
        assert_eq!(error(&missing), NetworkError::Tensor("stem.conv".to_owned()));
    }

    #[test]
    fn weights_that_are_not_finite_are_neither_saved_nor_loaded() {
        let mut network = network();
        network.tensors[0][3] = f32::NAN;
        let error = Network::from_bytes(&network.to_bytes()).unwrap_err();
        assert_eq!(error, NetworkError::Tensor("stem.conv".to_owned()));
        let path = std::env::temp_dir().join(format!("claimeven-nan-{}", std::process::id()));
        assert!(network.save(&path).is_err() && !path.exists());
    }
}
