//! The replay buffer: the samples of the last iterations.

use std::collections::{HashMap, VecDeque};

use claimeven_game::Setup;

use crate::parameters::LearningParameters;
use crate::planes::Discs;
use crate::sample::Sample;

/// A replay buffer over the last iterations of a run. It grows with the run, so that the first,
/// weak games soon leave it and later ones stay longer.
#[derive(Clone, Debug)]
pub struct ReplayBuffer {
    setup: Setup,
    /// The number and the samples of each iteration in the buffer.
    iterations: VecDeque<(u64, Vec<Sample>)>,
}

impl ReplayBuffer {
    /// An empty buffer.
    pub fn new(setup: Setup) -> ReplayBuffer {
        ReplayBuffer { setup, iterations: VecDeque::new() }
    }

    /// The number of samples.
    pub fn len(&self) -> usize {
        self.iterations.iter().map(|(_, samples)| samples.len()).sum()
    }

    /// Whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of the oldest iteration in the buffer.
    pub fn oldest(&self) -> Option<u64> {
        self.iterations.front().map(|(number, _)| *number)
    }

    /// Adds the samples of an iteration and removes the oldest iterations beyond the buffer's size,
    /// which follows from `total`, the number of samples of the whole run so far.
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

    /// Every distinct position once, with the mean of its targets. Mirror images count as the same
    /// position.
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
                        lerp(mean, &sample, 1.0 / *count);
                    }
                    None => pool.push((sample, 1.0)),
                }
            }
        }
        pool.into_iter().map(|(sample, _)| sample).collect()
    }
}

/// Moves a sample's targets towards those of another one.
fn lerp(mean: &mut Sample, other: &Sample, share: f32) {
    for (probability, other) in mean.policy.iter_mut().zip(&other.policy) {
        *probability += share * (other - *probability);
    }
    mean.value = mean.value.lerp(other.value, share);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::tests::sample;
    use crate::{Parameters, Wdl};

    #[test]
    fn a_position_and_its_mirror_image_are_merged() {
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
    fn the_buffer_grows_with_the_run_and_drops_the_oldest() {
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
}
