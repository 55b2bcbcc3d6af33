//! The samples that are learnt: those of the last iterations.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::io;
use std::path::Path;

use claimeven_game::Setup;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

use crate::evaluator::Wdl;
use crate::files::{self, FileError};
use crate::gradient::Sample;
use crate::parameters::LearningParameters;
use crate::planes::Discs;

/// A window over the samples of a run. It grows with the run, so that the first, bad games are
/// soon forgotten and the later ones learnt thoroughly.
#[derive(Clone, Debug)]
pub struct ReplayBuffer {
    setup: Setup,
    /// The samples of each iteration in the window, with its number.
    iterations: VecDeque<(u64, Vec<Sample>)>,
}

impl ReplayBuffer {
    /// An empty window.
    pub fn new(setup: Setup) -> ReplayBuffer {
        ReplayBuffer { setup, iterations: VecDeque::new() }
    }

    /// How many samples there are.
    pub fn len(&self) -> usize {
        self.iterations.iter().map(|(_, samples)| samples.len()).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of the oldest iteration in the window.
    pub fn oldest(&self) -> Option<u64> {
        self.iterations.front().map(|(number, _)| *number)
    }

    /// Adds the samples of an iteration and forgets the oldest ones beyond the window, which is
    /// given the number of samples that the whole run has had.
    pub fn add(
        &mut self,
        iteration: u64,
        samples: Vec<Sample>,
        total: u64,
        parameters: &LearningParameters,
    ) {
        self.iterations.push_back((iteration, samples));
        let grown = (parameters.buffer_share * total as f32) as usize;
        let max = grown.max(parameters.min_buffer).min(parameters.max_buffer);
        while self.iterations.len() > 1
            && self.len() - self.iterations.front().map_or(0, |(_, samples)| samples.len()) >= max
        {
            self.iterations.pop_front();
        }
    }

    /// Every position once, mirror images being the same one, with the mean of what is said of it.
    pub fn pool(&self) -> Vec<Sample> {
        let mut places: HashMap<Discs, usize> = HashMap::new();
        let mut pool: Vec<(Sample, f32)> = Vec::new();
        for (_, samples) in &self.iterations {
            for sample in samples {
                let mirrored = sample.discs.mirrored(self.setup);
                let is_canonical =
                    (sample.discs.filled, sample.discs.own) <= (mirrored.filled, mirrored.own);
                let sample =
                    if is_canonical { sample.clone() } else { sample.mirrored(self.setup) };
                let place = *places.entry(sample.discs).or_insert(pool.len());
                match pool.get_mut(place) {
                    Some((mean, count)) => {
                        *count += 1.0;
                        approach(mean, &sample, 1.0 / *count);
                    }
                    None => pool.push((sample, 1.0)),
                }
            }
        }
        pool.into_iter().map(|(sample, _)| sample).collect()
    }
}

/// Moves what is said of a position towards another opinion.
fn approach(mean: &mut Sample, other: &Sample, share: f32) {
    for (chance, other) in mean.policy.iter_mut().zip(&other.policy) {
        *chance += share * (other - *chance);
    }
    mean.value = mean.value.lerp(other.value, share);
}

/// Writes samples to a file.
pub(crate) fn save_samples(path: &Path, samples: &[Sample], setup: Setup) -> io::Result<()> {
    let discs: Vec<u8> = samples
        .iter()
        .flat_map(|sample| [sample.discs.filled, sample.discs.own])
        .flat_map(u128::to_le_bytes)
        .collect();
    let policy = samples.iter().flat_map(|sample| &sample.policy);
    let policy: Vec<u8> = policy.flat_map(|chance| chance.to_le_bytes()).collect();
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
    files::write(path, &bytes.expect("names and shapes are sound"))
}

/// Reads samples from a file.
pub(crate) fn load_samples(
    path: &Path,
    setup: Setup,
) -> Result<Vec<Sample>, FileError<SamplesError>> {
    files::read(path, |bytes| parse(bytes, setup).ok_or(SamplesError))
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
    let samples = discs.iter().zip(policy.chunks(cols)).zip(value);
    let samples = samples.map(|((&[filled, own], policy), &[win, draw])| Sample {
        discs: Discs { filled: u128::from_le_bytes(filled), own: u128::from_le_bytes(own) },
        policy: policy.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect(),
        value: Wdl { win: f32::from_le_bytes(win), draw: f32::from_le_bytes(draw) },
    });
    Some(samples.collect())
}

/// A file that does not hold samples of this game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SamplesError;

impl fmt::Display for SamplesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a whole file of samples of this game")
    }
}

impl std::error::Error for SamplesError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Parameters;
    use claimeven_game::Position;

    fn sample(moves: &str, column: usize, value: Wdl) -> Sample {
        let position = Position::from_moves(Setup::STANDARD, moves).unwrap();
        let mut policy = vec![0.0; 7];
        policy[column] = 1.0;
        Sample { discs: Discs::of(&position), policy, value }
    }

    #[test]
    fn a_position_and_its_mirror_image_are_one() {
        let mut replay = ReplayBuffer::new(Setup::STANDARD);
        let parameters = Parameters::strongest(Setup::STANDARD).learning;
        let samples = vec![
            sample("1", 0, Wdl::WIN),
            sample("7", 6, Wdl::DRAW),
            sample("7", 3, Wdl::LOSS),
            sample("4", 3, Wdl::LOSS),
        ];
        replay.add(1, samples, 4, &parameters);
        let mut pool = replay.pool();
        pool.sort_by(|a, b| a.value.win.total_cmp(&b.value.win));
        assert_eq!(pool.len(), 2);
        let mut policy = pool[1].policy.clone();
        policy.sort_by(f32::total_cmp);
        assert!((policy[6] - 2.0 / 3.0).abs() < 1e-6 && (policy[5] - 1.0 / 3.0).abs() < 1e-6);
        assert!((pool[1].value.win - 1.0 / 3.0).abs() < 1e-6, "{:?}", pool[1]);
    }

    #[test]
    fn the_window_grows_with_the_run_and_forgets_the_oldest() {
        let mut replay = ReplayBuffer::new(Setup::STANDARD);
        let parameters = LearningParameters {
            min_buffer: 20,
            buffer_share: 0.5,
            max_buffer: 60,
            ..Parameters::strongest(Setup::STANDARD).learning
        };
        let mut sizes = Vec::new();
        for iteration in 1..=14 {
            let samples = vec![sample("4", 3, Wdl::LOSS); 10];
            replay.add(iteration, samples, 10 * iteration, &parameters);
            sizes.push(replay.len());
        }
        assert_eq!(sizes, [10, 20, 20, 20, 30, 30, 40, 40, 50, 50, 60, 60, 60, 60]);
        assert_eq!(replay.oldest(), Some(9));
    }

    #[test]
    fn samples_come_back_from_their_file() {
        let folder = std::env::temp_dir().join(format!("claimeven-samples-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("samples");
        let samples = vec![sample("1", 0, Wdl::WIN), sample("7253", 6, Wdl::DRAW)];
        save_samples(&path, &samples, Setup::STANDARD).unwrap();
        assert_eq!(load_samples(&path, Setup::STANDARD).unwrap(), samples);
        std::fs::write(&path, b"something else").unwrap();
        assert!(load_samples(&path, Setup::STANDARD).is_err());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
