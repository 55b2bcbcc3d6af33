//! Self-play: games of a network against itself, many at a time.
//!
//! Playout-cap randomisation (Wu, "Accelerating self-play learning in Go", 2019): only a share of
//! the moves gets a full search, and only their positions are learnt; the others are searched with
//! fewer simulations, so that more games reach their end. What differs here: fast searches also
//! use Gumbel root selection with its noise, and positions that need no search at all are learnt
//! less often.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use claimeven_game::{Column, Outcome, Player, Position, Setup, mix_key};
use claimeven_search::RandomGames;
use fastrand::Rng;
use serde::{Deserialize, Serialize};

use crate::cache::Cache;
use crate::evaluator::{Evaluation, Evaluator, Wdl};
use crate::exam::{Exam, ExamPoint};
use crate::gate::{Gate, GatePair};
use crate::gumbel::{SequentialHalving, improved_policy};
use crate::inference::Inference;
use crate::network::Network;
use crate::parameters::SelfPlayParameters;
use crate::planes::Discs;
use crate::sample::{self, BatchError, Sample};
use crate::search_tree::{Gathered, SearchTree};

/// The samples and statistics of a number of games.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SelfPlayBatch {
    /// The samples, in the order of the games.
    pub samples: Vec<Sample>,
    /// The number of games.
    pub games: u64,
    /// Wins, draws and losses of the player with the first move after the opening.
    pub results: [u64; 3],
    /// Moves after the openings.
    pub moves: u64,
    /// Simulations.
    pub simulations: u64,
    /// Positions that the network has evaluated.
    pub evaluations: u64,
    /// The first four games, for observers.
    pub shown: Vec<SelfPlayGame>,
}

/// A game of a network against itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelfPlayGame {
    /// The move text.
    pub moves: String,
    /// The number of random opening moves.
    pub opening: usize,
}

/// A batch without its samples.
#[derive(Serialize, Deserialize)]
struct BatchHead {
    games: u64,
    results: [u64; 3],
    moves: u64,
    simulations: u64,
    evaluations: u64,
    shown: Vec<(String, usize)>,
}

/// The number of games of a batch that are kept for observers.
const SHOWN: usize = 4;

/// Progress and cancellation of self-play, shared between threads.
#[derive(Debug, Default)]
pub struct SelfPlayProgress {
    /// Finished games.
    pub games: AtomicU64,
    /// Set this to stop before all games are finished.
    pub cancel: Arc<AtomicBool>,
}

/// Plays the games with the given numbers; `None` if cancelled. A game depends only on the network,
/// the parameters, the seed and its number, so the number of threads makes no difference.
///
/// ```
/// use claimeven_game::{Ruleset, Setup};
/// use claimeven_zero::{
///     Architecture, Inference, Network, Parameters, SelfPlayProgress, play_games,
/// };
///
/// let setup = Setup::new(4, 4, 3, Ruleset::Standard)?;
/// let network = Network::new(Architecture::new(setup, 1, 4), 1)?;
/// let mut parameters = Parameters::ten_minutes(setup).self_play;
/// parameters.cache = 1 << 10;
/// let progress = SelfPlayProgress::default();
/// let batch = play_games(&Inference::new(&network), &parameters, 1, 0..4, 1, &progress);
/// assert_eq!(batch.expect("it was not cancelled").games, 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn play_games(
    network: &Inference,
    parameters: &SelfPlayParameters,
    seed: u64,
    numbers: std::ops::Range<u64>,
    threads: usize,
    progress: &SelfPlayProgress,
) -> Option<SelfPlayBatch> {
    let next = AtomicU64::new(numbers.start);
    let work = || Worker::new(network, parameters, seed).play(&next, numbers.end, progress);
    let parts: Vec<Part> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().expect("no panic")).collect()
    });
    if progress.cancel.load(Ordering::Relaxed) {
        return None;
    }
    let evaluations = parts.iter().map(|part| part.evaluations).sum();
    let mut batch = SelfPlayBatch { evaluations, ..SelfPlayBatch::default() };
    let mut games: Vec<Play> = parts.into_iter().flat_map(|part| part.games).collect();
    games.sort_by_key(|game| game.number);
    for game in games {
        batch.add(game, parameters.search_value_share);
    }
    Some(batch)
}

/// Other machines that do the work of a training run.
///
/// ```
/// use std::ops::Range;
///
/// use claimeven_zero::{
///     Inference, Network, SelfPlayBatch, SelfPlayParameters, SelfPlayProgress, TrainingMachines,
///     play_games,
/// };
///
/// /// Plays the games on this machine. The gate and the exam are left to the run.
/// struct ThisMachine;
///
/// impl TrainingMachines for ThisMachine {
///     fn play(
///         &self,
///         network: &Network,
///         parameters: &SelfPlayParameters,
///         seed: u64,
///         numbers: Range<u64>,
///         progress: &SelfPlayProgress,
///     ) -> Result<Option<SelfPlayBatch>, String> {
///         Ok(play_games(&Inference::new(network), parameters, seed, numbers, 2, progress))
///     }
/// }
/// ```
pub trait TrainingMachines: Send + Sync {
    /// Plays the games with the given numbers; `None` if cancelled. Samples and results must be those
    /// of [`play_games`].
    fn play(
        &self,
        network: &Network,
        parameters: &SelfPlayParameters,
        seed: u64,
        numbers: std::ops::Range<u64>,
        progress: &SelfPlayProgress,
    ) -> Result<Option<SelfPlayBatch>, String>;

    /// Plays a gate match, until it is decided or the flag is set. Returns the results of its first
    /// pairs, which must be those of [`play_gate_pairs`](crate::play_gate_pairs); `None` leaves the
    /// match to the process of the run.
    fn play_gate(
        &self,
        gate: &Gate,
        new: &Network,
        best: &Network,
        cancel: &AtomicBool,
    ) -> Result<Option<Vec<GatePair>>, String> {
        let _ = (gate, new, best, cancel);
        Ok(None)
    }

    /// The errors of a network in all positions of an exam, which must be those of [`Exam::points`];
    /// `None`, also if the flag is set, leaves the exam to the process of the run.
    fn examine(
        &self,
        exam: &Exam,
        network: &Network,
        simulations: u32,
        cancel: &AtomicBool,
    ) -> Result<Option<Vec<ExamPoint>>, String> {
        let _ = (exam, network, simulations, cancel);
        Ok(None)
    }
}

impl SelfPlayBatch {
    /// Appends the games of the next batch.
    pub fn append(&mut self, next: SelfPlayBatch) {
        self.samples.extend(next.samples);
        self.games += next.games;
        for (sum, more) in self.results.iter_mut().zip(next.results) {
            *sum += more;
        }
        self.moves += next.moves;
        self.simulations += next.simulations;
        self.evaluations += next.evaluations;
        let missing = SHOWN - self.shown.len();
        self.shown.extend(next.shown.into_iter().take(missing));
    }

    /// The batch as bytes: a line of JSON, and the samples as in their files.
    #[must_use]
    pub fn to_bytes(&self, setup: Setup) -> Vec<u8> {
        let head = BatchHead {
            games: self.games,
            results: self.results,
            moves: self.moves,
            simulations: self.simulations,
            evaluations: self.evaluations,
            shown: self.shown.iter().map(|game| (game.moves.clone(), game.opening)).collect(),
        };
        let mut bytes = serde_json::to_vec(&head).expect("the head is plain data");
        bytes.push(b'\n');
        bytes.extend(sample::to_bytes(&self.samples, setup));
        bytes
    }

    /// Reads a batch and checks each of its samples.
    pub fn from_bytes(bytes: &[u8], setup: Setup) -> Result<SelfPlayBatch, BatchError> {
        let end = bytes.iter().position(|&byte| byte == b'\n').ok_or(BatchError::NoHeader)?;
        let head: BatchHead = serde_json::from_slice(&bytes[..end]).map_err(BatchError::Header)?;
        let samples = sample::from_bytes(&bytes[end + 1..], setup);
        let shown = head.shown.into_iter().take(SHOWN);
        Ok(SelfPlayBatch {
            samples: samples.map_err(BatchError::Samples)?,
            games: head.games,
            results: head.results,
            moves: head.moves,
            simulations: head.simulations,
            evaluations: head.evaluations,
            shown: shown.map(|(moves, opening)| SelfPlayGame { moves, opening }).collect(),
        })
    }

    fn add(&mut self, game: Play, search_value_share: f32) {
        let outcome = game.outcome.expect("the game has ended");
        self.games += 1;
        self.moves += u64::from(game.moves);
        self.simulations += game.simulations;
        self.results[match outcome {
            Outcome::Win(player) if player == game.first => 0,
            Outcome::Draw => 1,
            Outcome::Win(_) => 2,
        }] += 1;
        if self.shown.len() < SHOWN {
            let moves = game.columns.iter().map(|column| column.to_char()).collect();
            self.shown.push(SelfPlayGame { moves, opening: game.opening });
        }
        self.samples.extend(game.records.into_iter().map(|record| {
            let result = result_for(record.player, outcome);
            let value = match record.value {
                RootValue::Proven(value) => value,
                RootValue::Search(value) => result.lerp(value, search_value_share),
                RootValue::Unknown => result,
            };
            Sample { discs: record.discs, policy: record.policy, value }
        }));
    }
}

fn result_for(player: Player, outcome: Outcome) -> Wdl {
    match outcome {
        Outcome::Draw => Wdl::DRAW,
        Outcome::Win(winner) if winner == player => Wdl::WIN,
        Outcome::Win(_) => Wdl::LOSS,
    }
}

/// The games of one thread.
struct Worker<'a> {
    evaluator: Cache<Inference>,
    setup: Setup,
    parameters: &'a SelfPlayParameters,
    seed: u64,
}

struct Part {
    games: Vec<Play>,
    evaluations: u64,
}

impl<'a> Worker<'a> {
    fn new(network: &Inference, parameters: &'a SelfPlayParameters, seed: u64) -> Worker<'a> {
        let setup = network.architecture().setup().expect("a network's setup is valid");
        let evaluator = Cache::new(network.clone(), parameters.cache);
        Worker { evaluator, setup, parameters, seed }
    }

    fn play(mut self, next: &AtomicU64, end: u64, progress: &SelfPlayProgress) -> Part {
        let start_game = |evaluator: &mut Cache<Inference>| {
            let number = next.fetch_add(1, Ordering::Relaxed);
            (number < end)
                .then(|| Play::new(self.setup, self.parameters, self.seed, number, evaluator))
        };
        let mut playing: Vec<Play> =
            (0..self.parameters.in_flight).map_while(|_| start_game(&mut self.evaluator)).collect();
        let mut games = Vec::new();
        let (mut positions, mut evaluations): (Vec<Position>, Vec<Evaluation>) =
            (Vec::new(), Vec::new());
        while !playing.is_empty() && !progress.cancel.load(Ordering::Relaxed) {
            // 1. Gather a position from every game; finished games are replaced by new ones.
            positions.clear();
            let mut index = 0;
            while index < playing.len() {
                if let Some(position) = playing[index].gather(self.parameters) {
                    positions.push(position);
                    index += 1;
                } else {
                    progress.games.fetch_add(1, Ordering::Relaxed);
                    match start_game(&mut self.evaluator) {
                        Some(game) => games.push(std::mem::replace(&mut playing[index], game)),
                        None => games.push(playing.swap_remove(index)),
                    }
                }
            }
            // 2. Evaluate them in one batch.
            self.evaluator.evaluate(&positions, &mut evaluations);
            for (game, evaluation) in playing.iter_mut().zip(&evaluations) {
                game.tree.apply(evaluation);
            }
        }
        Part { games, evaluations: self.evaluator.misses() }
    }
}

/// A game in progress.
struct Play {
    number: u64,
    random: Rng,
    tree: SearchTree,
    /// Root selection of the current search; `None` until its root has been evaluated.
    halving: Option<SequentialHalving>,
    is_full: bool,
    /// Whether the position needs no search.
    is_obvious: bool,
    /// The remaining simulations of the current search.
    left: u32,
    records: Vec<Record>,
    first: Player,
    /// The moves so far, including the opening.
    columns: Vec<Column>,
    opening: usize,
    moves: u32,
    simulations: u64,
    outcome: Option<Outcome>,
}

/// A future sample, before the game's result is known.
struct Record {
    discs: Discs,
    player: Player,
    policy: Vec<f32>,
    value: RootValue,
}

enum RootValue {
    Proven(Wdl),
    Search(Wdl),
    /// The position needed no search.
    Unknown,
}

impl Play {
    fn new(
        setup: Setup,
        parameters: &SelfPlayParameters,
        seed: u64,
        number: u64,
        evaluator: &mut impl Evaluator,
    ) -> Play {
        let mut random = Rng::with_seed(seed ^ mix_key(number));
        let plies = random.u32(0..=parameters.opening_plies);
        let count = random.u32(1..=parameters.opening_choice);
        let openings = (0..count).map(|_| random_opening(setup, plies, &mut random)).collect();
        let (position, columns) = most_balanced(openings, evaluator);
        let mut play = Play {
            number,
            random,
            tree: SearchTree::new(position, parameters.tree),
            halving: None,
            is_full: false,
            is_obvious: false,
            left: 0,
            records: Vec::new(),
            first: position.player(),
            opening: columns.len(),
            columns,
            moves: 0,
            simulations: 0,
            outcome: None,
        };
        play.start_search(parameters);
        play
    }

    fn start_search(&mut self, parameters: &SelfPlayParameters) {
        self.tree.expand_root();
        self.is_obvious = self.tree.is_obvious();
        let share = if self.is_obvious { parameters.obvious_share } else { 1.0 };
        self.is_full = self.random.f32() < parameters.full_share * share;
        self.left =
            if self.is_full { parameters.full_simulations } else { parameters.fast_simulations };
        self.halving = None;
    }

    /// Plays on until a position needs an evaluation; `None` once the game is over.
    fn gather(&mut self, parameters: &SelfPlayParameters) -> Option<Position> {
        loop {
            let root = self.tree.root();
            let is_decided = self.is_obvious || root.proof.is_some();
            if is_decided || (root.visits > 0 && self.left == 0) {
                self.play_move(parameters);
                if self.outcome.is_some() {
                    return None;
                }
                continue;
            }
            let first = (root.visits > 0).then(|| self.next_move(parameters));
            self.left = self.left.saturating_sub(first.is_some().into());
            self.simulations += 1;
            if let Gathered::Position(position) = self.tree.gather(first) {
                return Some(position);
            }
        }
    }

    /// The root's move for the next simulation.
    fn next_move(&mut self, parameters: &SelfPlayParameters) -> usize {
        let halving = self.halving.get_or_insert_with(|| {
            let plies = self.tree.position().ply() as f32;
            let noise =
                parameters.temperature * 0.5_f32.powf(plies / parameters.temperature_half_life);
            SequentialHalving::new(
                &self.tree,
                parameters.gumbel,
                self.left,
                noise,
                &mut self.random,
            )
        });
        halving.next(&self.tree)
    }

    /// Ends a search: records its position if it was a full search, and plays the move.
    fn play_move(&mut self, parameters: &SelfPlayParameters) {
        let (root, position) = (self.tree.root(), *self.tree.position());
        if self.is_full {
            self.records.push(Record {
                discs: Discs::of(&position),
                player: position.player(),
                policy: improved_policy(&self.tree, parameters.gumbel),
                value: match root.proof {
                    Some(proof) => RootValue::Proven(proof.wdl()),
                    None if self.is_obvious => RootValue::Unknown,
                    None => RootValue::Search(root.value()),
                },
            });
        }
        let column = match &self.halving {
            Some(halving) if root.proof.is_none() => {
                self.tree.moves()[halving.choice(&self.tree)].column
            }
            _ => self.tree.best_move().expect("the root has been visited").column,
        };
        self.moves += 1;
        self.columns.push(column);
        let mut after = position;
        after.play(column).expect("moves of the tree are legal");
        self.outcome = after.outcome();
        if self.outcome.is_none() {
            self.tree.play(column);
            self.start_search(parameters);
        }
    }
}

/// The opening whose expected score is closest to a draw.
fn most_balanced(
    mut openings: Vec<(Position, Vec<Column>)>,
    evaluator: &mut impl Evaluator,
) -> (Position, Vec<Column>) {
    let mut evaluations = Vec::new();
    if openings.len() > 1 {
        let positions: Vec<Position> = openings.iter().map(|(position, _)| *position).collect();
        evaluator.evaluate(&positions, &mut evaluations);
    }
    let distance = |evaluation: &Evaluation| (evaluation.value.expected() - 0.5).abs();
    let nearest =
        evaluations.iter().enumerate().min_by(|(_, a), (_, b)| distance(a).total_cmp(&distance(b)));
    openings.swap_remove(nearest.map_or(0, |(index, _)| index))
}

/// A position after this many random moves in which the game is not over.
pub(crate) fn random_position(setup: Setup, plies: u32, random: &mut Rng) -> Position {
    random_opening(setup, plies, random).0
}

/// A random opening and its moves. It is shorter on boards where random games end sooner, such as
/// with connect 2.
fn random_opening(setup: Setup, mut plies: u32, random: &mut Rng) -> (Position, Vec<Column>) {
    let games = RandomGames::new(setup).with_max_attempts(200);
    loop {
        if let Ok(game) = games.sample(plies, random) {
            return (*game.position(), game.moves().to_vec());
        }
        plies -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Architecture, Parameters};

    fn batch(threads: usize, in_flight: usize) -> SelfPlayBatch {
        let setup = Setup::STANDARD;
        let network = Network::new(Architecture::new(setup, 1, 8), 1).unwrap();
        let parameters = SelfPlayParameters {
            in_flight,
            full_share: 0.5,
            full_simulations: 12,
            fast_simulations: 4,
            cache: 1 << 10,
            ..Parameters::ten_minutes(setup).self_play
        };
        let progress = SelfPlayProgress::default();
        play_games(&Inference::new(&network), &parameters, 3, 5..25, threads, &progress).unwrap()
    }

    #[test]
    fn batches_can_be_joined_and_round_trip_through_bytes() {
        let setup = Setup::STANDARD;
        let network = Network::new(Architecture::new(setup, 1, 8), 1).unwrap();
        let parameters = SelfPlayParameters {
            in_flight: 4,
            full_simulations: 8,
            fast_simulations: 4,
            cache: 1 << 10,
            ..Parameters::ten_minutes(setup).self_play
        };
        let play = |numbers| {
            let (network, progress) = (Inference::new(&network), SelfPlayProgress::default());
            play_games(&network, &parameters, 3, numbers, 1, &progress).unwrap()
        };
        let mut joined = SelfPlayBatch::default();
        for numbers in [5..8, 8..9, 9..14] {
            let part = play(numbers);
            let read = SelfPlayBatch::from_bytes(&part.to_bytes(setup), setup).unwrap();
            assert_eq!(read, part);
            joined.append(read);
        }
        // Positions that occur in several parts are evaluated once in each.
        let whole = SelfPlayBatch { evaluations: joined.evaluations, ..play(5..14) };
        assert_eq!(joined, whole);
        assert!(SelfPlayBatch::from_bytes(b"{}\n", setup).is_err());
    }

    #[test]
    fn games_depend_only_on_seed_and_number() {
        let batch = batch(1, 8);
        assert_eq!(batch.games, 20);
        assert_eq!(batch.results.iter().sum::<u64>(), 20);
        assert!(batch.samples.len() > 50, "{}", batch.samples.len());
        for sample in &batch.samples {
            assert!((sample.policy.iter().sum::<f32>() - 1.0).abs() < 1e-4, "{sample:?}");
            for (column, probability) in sample.policy.iter().enumerate() {
                assert!(sample.discs.is_open(Setup::STANDARD, column) || *probability == 0.0);
            }
        }
        assert_eq!(batch.shown.len(), SHOWN);
        for game in &batch.shown {
            let moves = claimeven_game::Game::parse(Setup::STANDARD, &game.moves).unwrap();
            assert!(moves.position().outcome().is_some(), "{game:?}");
            assert!(game.opening < game.moves.len(), "{game:?}");
        }
        let other = super::tests::batch(2, 3);
        assert_eq!(batch.shown, other.shown);
        assert_eq!(batch.samples, other.samples);
        assert_eq!(batch.results, other.results);
    }
}
