//! Networks.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use claimeven_game::Position as PlainPosition;
use claimeven_zero::{
    Architecture, Evaluation, Evaluator, Inference, Model, Network as PlainNetwork,
    embedded_network,
};
use numpy::{PyArray2, PyArray4, PyArrayDyn, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::boards::{Boards, array_of, room_for};
use crate::setup::{Setup, or_standard};
use crate::{numbers, value_error, work};

/// A neural network for playing: a residual tower with a policy head and a value head.
///
/// `Network()` is the built-in network (7x6); `load` reads a file or a training run, and
/// `untrained` makes a new one.
///
/// >>> from claimeven import Network
/// >>> policy, wdl = Network().predict(['', '4455'])
/// >>> int(policy[0].argmax())
/// 3
/// >>> policy.shape, wdl.shape
/// ((2, 7), (2, 3))
#[pyclass(frozen, module = "claimeven")]
pub(crate) struct Network {
    network: Arc<PlainNetwork>,
    /// Inferences that are not in use.
    idle: Mutex<Vec<Inference>>,
}

/// A policy array and a win-draw-loss array.
type PredictionArrays<'py> = (Bound<'py, PyArray2<f32>>, Bound<'py, PyArray2<f32>>);

/// The policies and the win, draw and loss probabilities of several positions, one after another.
type Predictions = (Vec<f32>, Vec<f32>);

impl Network {
    fn of(network: Arc<PlainNetwork>) -> Network {
        Network { network, idle: Mutex::default() }
    }

    fn take(&self) -> Inference {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.unwrap_or_else(|| Inference::new(&self.network))
    }

    fn boards(&self, boards: &Bound<'_, PyAny>) -> PyResult<Vec<PlainPosition>> {
        let setup = Setup(self.network.setup());
        Ok(Boards::of(boards, Some(&setup))?.positions)
    }

    fn evaluate(&self, positions: &[PlainPosition]) -> Predictions {
        let mut inference = self.take();
        let mut evaluations: Vec<Evaluation> = Vec::new();
        inference.evaluate(positions, &mut evaluations);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(inference);
        let cols = usize::from(self.network.setup().cols());
        let mut policy = Vec::with_capacity(positions.len() * cols);
        let mut wdl = Vec::with_capacity(positions.len() * 3);
        for evaluation in &evaluations {
            policy.extend(&evaluation.policy);
            let (win, draw) = (evaluation.value.win, evaluation.value.draw);
            wdl.extend([win, draw, (1.0 - win - draw).max(0.0)]);
        }
        (policy, wdl)
    }
}

#[pymethods]
impl Network {
    #[new]
    #[pyo3(signature = (setup=None))]
    fn new(setup: Option<&Setup>) -> PyResult<Network> {
        embedded_network(or_standard(setup)).map(Network::of).map_err(value_error)
    }

    /// Reads a network file, the best network of a training run's folder, or FOLDER@ITERATION.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Network> {
        let text = path.to_str().ok_or_else(|| value_error("the path is not Unicode"))?;
        Model::new(text).load().map(Network::of).map_err(value_error)
    }

    /// A network with random weights.
    #[staticmethod]
    #[pyo3(signature = (setup=None, *, blocks=3, channels=32, seed=1))]
    fn untrained(
        setup: Option<&Setup>,
        #[pyo3(from_py_with = numbers::blocks)] blocks: usize,
        #[pyo3(from_py_with = numbers::channels)] channels: usize,
        #[pyo3(from_py_with = numbers::seed)] seed: u64,
    ) -> PyResult<Network> {
        let architecture = Architecture::new(or_standard(setup), blocks, channels);
        let network = PlainNetwork::new(architecture, seed).map_err(value_error)?;
        Ok(Network::of(Arc::new(network)))
    }

    /// The same network with other weights, for example from another framework. Weights that are
    /// not given are kept.
    fn with_weights(&self, weights: &Bound<'_, PyDict>) -> PyResult<Network> {
        let architecture = *self.network.architecture();
        let shapes = architecture.tensors();
        let mut tensors = self.network.tensors().to_vec();
        for (name, numbers) in weights {
            let name: String = name.extract()?;
            let place = shapes.iter().position(|shape| shape.name == name);
            let place = place.ok_or_else(|| value_error(format!("unknown weights '{name}'")))?;
            let numbers = numbers
                .cast::<PyArrayDyn<f32>>()
                .map_err(|_| value_error(format!("weights '{name}': expected a float32 array")))?;
            let numbers = numbers.try_readonly().map_err(value_error)?;
            let view = numbers.as_array();
            if view.shape() != shapes[place].shape {
                return Err(value_error(format!(
                    "weights '{name}' have shape {:?}, not {:?}",
                    shapes[place].shape,
                    view.shape()
                )));
            }
            tensors[place] = view.iter().copied().collect();
        }
        let network = PlainNetwork::from_tensors(architecture, tensors).map_err(value_error)?;
        Ok(Network::of(Arc::new(network)))
    }

    /// The game it is for.
    #[getter]
    fn setup(&self) -> Setup {
        Setup(self.network.setup())
    }

    /// Residual blocks.
    #[getter]
    fn blocks(&self) -> usize {
        self.network.architecture().blocks
    }

    /// Channels of the tower.
    #[getter]
    fn channels(&self) -> usize {
        self.network.architecture().channels
    }

    /// All weights by name, as float32 arrays (copies).
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let weights = PyDict::new(py);
        let shapes = self.network.architecture().tensors();
        for (shape, numbers) in shapes.iter().zip(self.network.tensors()) {
            let array = array_of(py, numbers.clone()).reshape(shape.shape.clone())?;
            weights.set_item(&shape.name, array)?;
        }
        Ok(weights)
    }

    /// The policy, float32 of shape (n, cols), and the probabilities of a win, a draw and a loss for the side to
    /// move, float32 of shape (n, 3). Columns that are not legal have probability 0.
    #[pyo3(signature = (boards, *, threads=None))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        boards: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = numbers::threads)] threads: Option<usize>,
    ) -> PyResult<PredictionArrays<'py>> {
        /// A multiple of the network's batch size, after which signals such as Ctrl-C are checked.
        const CHUNK: usize = 4096;
        let positions = self.boards(boards)?;
        let (count, threads) = (positions.len(), work::threads(threads));
        let mut all: Predictions = Default::default();
        for part in positions.chunks(CHUNK * threads) {
            let share = part.len().div_ceil(threads).next_multiple_of(16);
            let parts: Vec<Predictions> = py.detach(|| {
                std::thread::scope(|scope| {
                    let mut shares = part.chunks(share);
                    let first = shares.next();
                    let others: Vec<_> =
                        shares.map(|share| scope.spawn(|| self.evaluate(share))).collect();
                    let first = first.map(|share| self.evaluate(share));
                    let joined = others.into_iter().map(|thread| {
                        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                    });
                    first.into_iter().chain(joined).collect()
                })
            });
            for (policy, wdl) in parts {
                all.0.extend(policy);
                all.1.extend(wdl);
            }
            py.check_signals()?;
        }
        let cols = usize::from(self.network.setup().cols());
        let (policy, wdl) = all;
        Ok((array_of(py, policy).reshape([count, cols])?, array_of(py, wdl).reshape([count, 3])?))
    }

    /// The input planes of boards, float32 of shape (n, planes, rows, cols), the bottom row first.
    fn planes<'py>(
        &self,
        py: Python<'py>,
        boards: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray4<f32>>> {
        let positions = self.boards(boards)?;
        let Architecture { cols, rows, encoding, .. } = *self.network.architecture();
        let size = encoding.planes() * usize::from(cols) * usize::from(rows);
        let mut planes = room_for(positions.len(), size).map_err(value_error)?;
        py.detach(|| {
            planes.resize(positions.len() * size, 0.0);
            for (position, planes) in positions.iter().zip(planes.chunks_mut(size)) {
                encoding.encode(position, planes);
            }
        });
        let shape = [positions.len(), encoding.planes(), rows.into(), cols.into()];
        array_of(py, planes).reshape(shape)
    }

    /// Writes the network to a file, which `load` and the player 'zero:model=FILE' read.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        Ok(self.network.save(&path)?)
    }

    /// The network as an ONNX model: input 'planes', outputs 'policy' (logits) and 'wdl'.
    fn to_onnx<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.network.to_onnx())
    }

    fn __repr__(&self) -> String {
        format!("<Network {}>", self.network.architecture())
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let bytes = PyBytes::new(slf.py(), &slf.get().network.to_bytes());
        Ok((slf.get_type().getattr("_from_bytes")?, (bytes,)))
    }

    #[staticmethod]
    fn _from_bytes(bytes: &[u8]) -> PyResult<Network> {
        let network = PlainNetwork::from_bytes(bytes).map_err(value_error)?;
        Ok(Network::of(Arc::new(network)))
    }
}
