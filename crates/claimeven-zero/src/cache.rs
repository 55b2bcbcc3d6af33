//! A cache of evaluations.

use claimeven_game::{Position, mix_key};

use crate::evaluator::{Evaluation, Evaluator};

/// A cache of the evaluations of another evaluator.
///
/// A position and its mirror image share an entry: only the one with the smaller key is evaluated,
/// and its policy is mirrored for the other.
///
/// ```
/// use claimeven_game::{Position, Setup};
/// use claimeven_zero::{Cache, Evaluator, UniformEvaluator};
///
/// let mut cache = Cache::new(UniformEvaluator, 1024);
/// let mut evaluations = Vec::new();
/// for _ in 0..2 {
///     cache.evaluate(&[Position::new(Setup::STANDARD)], &mut evaluations);
/// }
/// assert_eq!(cache.misses(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct Cache<E> {
    evaluator: E,
    /// A direct-mapped table with a power of two of entries, each with the key of its position. The
    /// newest evaluation replaces the older one.
    entries: Vec<(u128, Evaluation)>,
    /// Buffers that are reused from call to call.
    unknown: Vec<Position>,
    places: Vec<usize>,
    fresh: Vec<Evaluation>,
    hits: u64,
    requests: u64,
}

impl<E: Evaluator> Cache<E> {
    /// An empty cache for this many evaluations, rounded up to a power of two.
    pub fn new(evaluator: E, evaluations: usize) -> Cache<E> {
        let entries = vec![(u128::MAX, Evaluation::default()); evaluations.next_power_of_two()];
        let (unknown, places, fresh) = (Vec::new(), Vec::new(), Vec::new());
        Cache { evaluator, entries, unknown, places, fresh, hits: 0, requests: 0 }
    }

    /// The evaluator behind the cache.
    pub fn evaluator_mut(&mut self) -> &mut E {
        &mut self.evaluator
    }

    /// The size of the table in bytes.
    pub fn memory(&self) -> usize {
        let columns = self.entries.iter().map(|(_, known)| known.policy.capacity()).max();
        let policy = columns.unwrap_or_default() * size_of::<f32>();
        self.entries.capacity() * (size_of::<(u128, Evaluation)>() + policy)
    }

    /// The share of requests answered from the cache.
    pub fn hit_rate(&self) -> f64 {
        self.hits as f64 / self.requests.max(1) as f64
    }

    /// The number of requests passed on to the evaluator.
    pub fn misses(&self) -> u64 {
        self.requests - self.hits
    }
}

impl<E: Evaluator> Evaluator for Cache<E> {
    fn evaluate(&mut self, positions: &[Position], evaluations: &mut Vec<Evaluation>) {
        evaluations.resize_with(positions.len(), Evaluation::default);
        self.unknown.clear();
        self.places.clear();
        for (place, (position, evaluation)) in positions.iter().zip(&mut *evaluations).enumerate() {
            let canonical = canonical(position);
            let key = canonical.key();
            match &self.entries[index(key, self.entries.len())] {
                (known, remembered) if *known == key => {
                    evaluation.clone_from(remembered);
                    mirror_back(position, &canonical, evaluation);
                }
                _ => {
                    self.unknown.push(canonical);
                    self.places.push(place);
                }
            }
        }
        self.requests += positions.len() as u64;
        self.hits += (positions.len() - self.unknown.len()) as u64;

        self.evaluator.evaluate(&self.unknown, &mut self.fresh);
        for ((canonical, &place), fresh) in self.unknown.iter().zip(&self.places).zip(&self.fresh) {
            let key = canonical.key();
            let index = index(key, self.entries.len());
            let (known, remembered) = &mut self.entries[index];
            *known = key;
            remembered.clone_from(fresh);
            evaluations[place].clone_from(fresh);
            mirror_back(&positions[place], canonical, &mut evaluations[place]);
        }
    }
}

/// The position or its mirror image, whichever is evaluated.
fn canonical(position: &Position) -> Position {
    let mirror = position.mirror();
    if mirror.key() < position.key() { mirror } else { *position }
}

/// Converts the evaluation of the canonical position to that of the position itself.
fn mirror_back(position: &Position, canonical: &Position, evaluation: &mut Evaluation) {
    if position != canonical {
        evaluation.policy.reverse();
    }
}

fn index(key: u128, entries: usize) -> usize {
    (mix_key(key) >> 32) as usize & (entries - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Architecture, Inference, Network};
    use claimeven_game::Setup;

    #[test]
    fn a_cache_agrees_with_its_evaluator_and_shares_mirror_images() {
        let network = Network::new(Architecture::new(Setup::STANDARD, 1, 8), 1).unwrap();
        let mut cache = Cache::new(Inference::new(&network), 64);
        let positions = ["1", "7", "44", "123", "765", ""]
            .map(|moves| Position::from_moves(Setup::STANDARD, moves).unwrap());
        let (mut first, mut second, mut direct) = (Vec::new(), Vec::new(), Vec::new());
        cache.evaluate(&positions, &mut first);
        cache.evaluate(&positions, &mut second);
        assert_eq!(first, second);
        assert_eq!(cache.misses(), 6);
        for (one, other) in [(0, 1), (3, 4)] {
            let mut mirrored = first[one].clone();
            mirrored.policy.reverse();
            assert_eq!(mirrored, first[other]);
        }
        let canonical = positions.map(|position| canonical(&position));
        Inference::new(&network).evaluate(&canonical, &mut direct);
        assert_eq!(direct[2], first[2]);
    }
}
