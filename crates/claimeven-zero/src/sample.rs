//! Training samples, and the files they are saved in.

use std::fmt;
use std::io;
use std::path::Path;

use claimeven_game::Setup;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

use crate::evaluator::Wdl;
use crate::files::{self, FileError};
use crate::planes::Discs;

/// A position with its policy and value targets.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The position.
    pub discs: Discs,
    /// The target probability of each column.
    pub policy: Vec<f32>,
    /// The target value, for the side to move.
    pub value: Wdl,
}

impl Sample {
    /// The sample of the mirror image.
    #[must_use]
    pub fn mirrored(&self, setup: Setup) -> Sample {
        let mut policy = self.policy.clone();
        policy.reverse();
        Sample { discs: self.discs.mirrored(setup), policy, value: self.value }
    }

    /// Whether a network for the setup can learn from it: the discs form a legal position, the
    /// policy is a distribution over open columns, and the value is one over results.
    #[must_use]
    pub fn is_valid(&self, setup: Setup) -> bool {
        const TOLERANCE: f32 = 1e-3;
        let is_probability = |number: f32| (-TOLERANCE..=1.0 + TOLERANCE).contains(&number);
        let Wdl { win, draw } = self.value;
        let is_open = |column| self.discs.is_open(setup, column);
        self.discs.is_valid(setup)
            && self.policy.len() == usize::from(setup.cols())
            && self.policy.iter().all(|&number| is_probability(number))
            && (self.policy.iter().sum::<f32>() - 1.0).abs() < TOLERANCE
            && self.policy.iter().enumerate().all(|(column, &p)| p == 0.0 || is_open(column))
            && [win, draw, self.value.loss()].into_iter().all(is_probability)
    }
}

/// Writes samples to a file.
pub(crate) fn save_samples(path: &Path, samples: &[Sample], setup: Setup) -> io::Result<()> {
    files::write(path, &to_bytes(samples, setup))
}

/// The contents of a samples file.
pub(crate) fn to_bytes(samples: &[Sample], setup: Setup) -> Vec<u8> {
    let discs: Vec<u8> = samples
        .iter()
        .flat_map(|sample| [sample.discs.filled, sample.discs.own])
        .flat_map(u128::to_le_bytes)
        .collect();
    let policy = samples.iter().flat_map(|sample| &sample.policy);
    let policy: Vec<u8> = policy.flat_map(|probability| probability.to_le_bytes()).collect();
    let value = samples.iter().flat_map(|sample| [sample.value.win, sample.value.draw]);
    let value: Vec<u8> = value.flat_map(f32::to_le_bytes).collect();
    let view = |dtype, width: usize, bytes| {
        TensorView::new(dtype, vec![samples.len(), width], bytes).expect("the bytes fit the shape")
    };
    let bytes = safetensors::serialize(
        [
            ("discs", view(Dtype::U64, 4, &discs)),
            ("policy", view(Dtype::F32, setup.cols().into(), &policy)),
            ("value", view(Dtype::F32, 2, &value)),
        ],
        None,
    );
    bytes.expect("names and shapes are valid")
}

/// Reads samples from a file and checks each of them.
pub(crate) fn load_samples(
    path: &Path,
    setup: Setup,
) -> Result<Vec<Sample>, FileError<SamplesError>> {
    files::read(path, |bytes| from_bytes(bytes, setup))
}

/// Parses the contents of a samples file and checks each sample.
pub(crate) fn from_bytes(bytes: &[u8], setup: Setup) -> Result<Vec<Sample>, SamplesError> {
    let samples = parse(bytes, setup).ok_or(SamplesError)?;
    if samples.iter().all(|sample| sample.is_valid(setup)) {
        Ok(samples)
    } else {
        Err(SamplesError)
    }
}

fn parse(bytes: &[u8], setup: Setup) -> Option<Vec<Sample>> {
    let file = SafeTensors::deserialize(bytes).ok()?;
    let tensor = |name, dtype, width: usize| {
        let tensor = file.tensor(name).ok()?;
        (tensor.dtype() == dtype && tensor.shape().get(1) == Some(&width)).then_some(tensor.data())
    };
    let cols = usize::from(setup.cols());
    let (discs, _) = tensor("discs", Dtype::U64, 4)?.as_chunks::<16>();
    let (policy, _) = tensor("policy", Dtype::F32, cols)?.as_chunks::<4>();
    let (value, _) = tensor("value", Dtype::F32, 2)?.as_chunks::<4>();
    let (discs, _) = discs.as_chunks::<2>();
    let (value, _) = value.as_chunks::<2>();
    if policy.len() != cols * discs.len() || value.len() != discs.len() {
        return None;
    }
    let samples = discs.iter().zip(policy.chunks(cols)).zip(value);
    let samples = samples.map(|((&[filled, own], policy), &[win, draw])| Sample {
        discs: Discs { filled: u128::from_le_bytes(filled), own: u128::from_le_bytes(own) },
        policy: policy.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect(),
        value: Wdl { win: f32::from_le_bytes(win), draw: f32::from_le_bytes(draw) },
    });
    Some(samples.collect())
}

/// A file that does not contain samples of this game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SamplesError;

impl fmt::Display for SamplesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("damaged, or not samples of this game")
    }
}

impl std::error::Error for SamplesError {}

/// Why bytes are not a [`SelfPlayBatch`](crate::SelfPlayBatch).
#[derive(Debug)]
#[non_exhaustive]
pub enum BatchError {
    /// The line of JSON is missing.
    NoHeader,
    /// The line of JSON is not a header of a batch.
    Header(serde_json::Error),
    /// The samples are damaged, or of another game.
    Samples(SamplesError),
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BatchError::NoHeader => f.write_str("missing header"),
            BatchError::Header(error) => error.fmt(f),
            BatchError::Samples(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BatchError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            BatchError::NoHeader => None,
            BatchError::Header(error) => Some(error),
            BatchError::Samples(error) => Some(error),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use claimeven_game::Position;

    /// A sample whose policy target is a single column.
    pub(crate) fn sample(moves: &str, column: usize, value: Wdl) -> Sample {
        let position = Position::from_moves(Setup::STANDARD, moves).unwrap();
        let mut policy = vec![0.0; 7];
        policy[column] = 1.0;
        Sample { discs: Discs::of(&position), policy, value }
    }

    #[test]
    fn samples_round_trip_through_their_file() {
        let folder = std::env::temp_dir().join(format!("claimeven-samples-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("samples");
        let samples = vec![sample("1", 0, Wdl::WIN), sample("7253", 6, Wdl::DRAW)];
        save_samples(&path, &samples, Setup::STANDARD).unwrap();
        assert_eq!(load_samples(&path, Setup::STANDARD).unwrap(), samples);
        std::fs::write(&path, b"something else").unwrap();
        assert!(load_samples(&path, Setup::STANDARD).is_err());
        // The file is intact, but the samples are invalid.
        let change: [fn(&mut Sample); 6] = [
            |sample| sample.policy[0] = f32::NAN,
            |sample| sample.policy[3] = 0.5,
            |sample| sample.value.draw = f32::INFINITY,
            |sample| sample.value.win = 2.0,
            |sample| sample.discs.filled <<= 1,
            |sample| sample.discs.own = 1 << 100,
        ];
        for change in change {
            let mut samples = samples.clone();
            change(&mut samples[1]);
            save_samples(&path, &samples, Setup::STANDARD).unwrap();
            assert!(load_samples(&path, Setup::STANDARD).is_err(), "{:?}", samples[1]);
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
