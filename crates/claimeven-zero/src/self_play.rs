//! Games of a network against itself, many at a time.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use claimeven_game::{Column, Outcome, Player, Position, Setup, mix_key};
use fastrand::Rng;

use crate::cache::Cache;
use crate::evaluator::{Evaluation, Evaluator, Wdl};
use crate::gradient::Sample;
use crate::gumbel::{SequentialHalving, improved_policy};
use crate::inference::Inference;
use crate::parameters::SelfPlayParameters;
use crate::planes::Discs;
use crate::search_tree::{Gathered, SearchTree};

/// What came of some games.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SelfPlayBatch {
    /// What is to be learnt, in the order of the games.
    pub samples: Vec<Sample>,
    /// Games played.
    pub games: u64,
    /// Games that the player with the first move after the opening has won, drawn and lost.
    pub results: [u64; 3],
    /// Moves played after the openings.
    pub moves: u64,
    /// Simulations.
    pub simulations: u64,
    /// Positions that the network has judged.
    pub evaluations: u64,
    /// The first few games, for those who want to see some.
    pub shown: Vec<SelfPlayGame>,
}

/// A game of a network against itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelfPlayGame {
    /// All moves, as text.
    pub moves: String,
    /// How many of them were made at random, to begin with.
    pub opening: usize,
}

/// Games that are shown of each batch.
const SHOWN: usize = 4;

/// How far the games are, for those who progress.
#[derive(Debug, Default)]
pub struct SelfPlayProgress {
    /// Games that have ended.
    pub games: AtomicU64,
    /// Set this to end before all games have.
    pub cancel: AtomicBool,
}

/// Plays the games of the given numbers. Each depends on the network, the seed and its number
/// alone, so nothing depends on the number of threads. `None` if it was cancelled.
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
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
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

impl SelfPlayBatch {
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
            let moves = game.line.iter().map(|column| column.to_char()).collect();
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

/// One thread's games.
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
        let setup = network.architecture().setup().expect("a network's setup is sound");
        let evaluator = Cache::new(network.clone(), parameters.cache);
        Worker { evaluator, setup, parameters, seed }
    }

    fn play(mut self, next: &AtomicU64, end: u64, progress: &SelfPlayProgress) -> Part {
        let begin = |evaluator: &mut Cache<Inference>| {
            let number = next.fetch_add(1, Ordering::Relaxed);
            (number < end)
                .then(|| Play::new(self.setup, self.parameters, self.seed, number, evaluator))
        };
        let mut playing: Vec<Play> =
            (0..self.parameters.in_flight).map_while(|_| begin(&mut self.evaluator)).collect();
        let mut games = Vec::new();
        let (mut positions, mut evaluations): (Vec<Position>, Vec<Evaluation>) =
            (Vec::new(), Vec::new());
        while !playing.is_empty() && !progress.cancel.load(Ordering::Relaxed) {
            // 1. Gather a position from every game; games that end make room for new ones.
            positions.clear();
            let mut index = 0;
            while index < playing.len() {
                if let Some(position) = playing[index].gather(self.parameters) {
                    positions.push(position);
                    index += 1;
                } else {
                    progress.games.fetch_add(1, Ordering::Relaxed);
                    match begin(&mut self.evaluator) {
                        Some(game) => games.push(std::mem::replace(&mut playing[index], game)),
                        None => games.push(playing.swap_remove(index)),
                    }
                }
            }
            // 2. Judge them all at once, and apply the evaluations.
            self.evaluator.evaluate(&positions, &mut evaluations);
            for (game, evaluation) in playing.iter_mut().zip(&evaluations) {
                game.tree.apply(evaluation);
            }
        }
        Part { games, evaluations: self.evaluator.asked() }
    }
}

/// A game under way.
struct Play {
    number: u64,
    random: Rng,
    tree: SearchTree,
    /// How the current search divides its simulations; `None` until its root has been judged.
    halving: Option<SequentialHalving>,
    is_full: bool,
    /// Whether the position needs no search.
    is_obvious: bool,
    /// Simulations that the current search still has.
    left: u32,
    records: Vec<Record>,
    first: Player,
    /// The moves so far, and how many of them are the opening.
    line: Vec<Column>,
    opening: usize,
    moves: u32,
    simulations: u64,
    outcome: Option<Outcome>,
}

/// A position that is to be learnt, before the result is known.
struct Record {
    discs: Discs,
    player: Player,
    policy: Vec<f32>,
    value: RootValue,
}

enum RootValue {
    Proven(Wdl),
    Search(Wdl),
    /// There was no search.
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
        let (position, line) = most_balanced(openings, evaluator);
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
            opening: line.len(),
            line,
            moves: 0,
            simulations: 0,
            outcome: None,
        };
        play.begin_search(parameters);
        play
    }

    fn begin_search(&mut self, parameters: &SelfPlayParameters) {
        self.tree.look();
        self.is_obvious = self.tree.is_obvious();
        let share = if self.is_obvious { parameters.obvious_share } else { 1.0 };
        self.is_full = self.random.f32() < parameters.full_share * share;
        self.left =
            if self.is_full { parameters.full_simulations } else { parameters.fast_simulations };
        self.halving = None;
    }

    /// Goes on to the next position that is to be judged; `None` once the game is over.
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

    /// Ends a search: its position is recorded if it was a full one, and the move is played.
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
        self.line.push(column);
        let mut after = position;
        after.play(column).expect("moves of the tree are legal");
        self.outcome = after.outcome();
        if self.outcome.is_none() {
            self.tree.play(column);
            self.begin_search(parameters);
        }
    }
}

/// The opening whose result is least clear to the evaluator.
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

/// A position after so many random moves, in which the game goes on.
pub(crate) fn random_position(setup: Setup, plies: u32, random: &mut Rng) -> Position {
    random_opening(setup, plies, random).0
}

/// The same with its moves.
fn random_opening(setup: Setup, plies: u32, random: &mut Rng) -> (Position, Vec<Column>) {
    let mut position = Position::new(setup);
    let mut line = Vec::new();
    while position.ply() < plies {
        let legal: Vec<Column> = position.legal().collect();
        let mut after = position;
        let column = *random.choice(&legal).expect("the game goes on");
        after.play(column).expect("a legal move");
        line.push(column);
        // A game that ends too soon begins again.
        if after.outcome().is_some() {
            after = Position::new(setup);
            line.clear();
        }
        position = after;
    }
    (position, line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Architecture, Network, Parameters};

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
    fn games_depend_on_nothing_but_seed_and_number() {
        let batch = batch(1, 8);
        assert_eq!(batch.games, 20);
        assert_eq!(batch.results.iter().sum::<u64>(), 20);
        assert!(batch.samples.len() > 50, "{}", batch.samples.len());
        for sample in &batch.samples {
            assert!((sample.policy.iter().sum::<f32>() - 1.0).abs() < 1e-4, "{sample:?}");
            for (column, chance) in sample.policy.iter().enumerate() {
                assert!(sample.discs.is_open(Setup::STANDARD, column) || *chance == 0.0);
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
