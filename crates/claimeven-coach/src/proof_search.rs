//! The search for a small proof: AO* over positions in which the opponent is to move.
//!
//! A position is *closed* if a diagram is found for it. Other positions are expanded: for every
//! reply of the opponent, all moves of the owner that keep the result. The size of a position is
//! one more than the sizes of the best answers to all replies; the size of an open position is
//! estimated from the positions that have been solved.
//!
//! A diagram is searched for when a position is first selected. Before that, its size is estimated
//! from the length of the game.
//!
//! The search follows the answers with the smallest expected size and expands the open positions
//! among them, the deepest first. The expected size of an unexplored answer is multiplied by a
//! penalty that falls in the course of the search: at first any proof will do, then smaller ones
//! are searched for. When nothing is left at the lowest penalty, positions that were not closed are
//! tried again with more effort.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::thread;

use claimeven_game::{Bits, Column, Position, with_board};
use claimeven_solver::{Options, Solver, Unsolvable, embedded_books};

use crate::closing::{Closer, Closing, Effort};
use crate::diagram::{Diagram, Exception, Strategy, Tactics, column_of, tactics, wins_by_force};
use crate::proof::{Claim, Entry, MAX_EXCEPTIONS, MAX_OVERRIDES, canonical, write_proof};
use crate::selection::{Id, Known, Selection};

/// The search for a small proof of a claim.
///
/// ```
/// use claimeven_coach::{Claim, Goal, ProofSearch, check_proof};
/// use claimeven_game::{Player, Ruleset, Setup};
///
/// let setup = Setup::new(5, 4, 3, Ruleset::Standard)?;
/// let claim = Claim { setup, owner: Player::First, goal: Goal::Win };
/// let mut search = ProofSearch::new(claim, 1, 1, None)?;
/// search.run(|progress, _| progress.proven.is_none());
/// let file = search.proof().expect("the search ended with a proof");
/// assert_eq!(check_proof(&file, |_| ())?.claim, "5x4, connect 3, standard, X wins");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ProofSearch {
    claim: Claim,
    nodes: Vec<Node>,
    ids: HashMap<u128, Id>,
    root: Id,
    closers: Vec<Closer>,
    /// The results of earlier attempts to close positions, by key, with their number of restarts.
    attempts: HashMap<u128, (Closing, u32)>,
    /// By canonical key: see [`ProofSearch::length`].
    lengths: HashMap<u128, u32>,
    log: Option<File>,
    sizes: Sizes,
    unexplored_penalty: f64,
    restarts: u32,
    /// The number of times that positions have been tried again.
    rounds: usize,
    expansions: u64,
}

/// A position of the opponent, and that of the owner before it. An override is one more.
const NODE: u32 = 2;

/// A position in which the opponent is to move, in its canonical orientation.
struct Node {
    position: Position,
    state: State,
    /// The expected size of the smallest proof.
    estimate: f64,
    /// The size of the smallest proof found.
    proven: Option<u32>,
    parents: Vec<Id>,
    /// The number of moves until the owner has won.
    length: u32,
    /// The number of examples that no diagram satisfied; `None` before a diagram was searched for.
    wrong: Option<u32>,
}

enum State {
    /// A diagram has not been searched for or not been found.
    Open,
    Closed(Strategy),
    /// For each reply that does not lose at once, the positions after the owner's good moves.
    Expanded(Vec<Vec<Id>>),
}

/// The progress of a search.
#[derive(Clone, Copy, Debug)]
pub struct SearchProgress {
    /// The size of the smallest proof found, as a tree: repeated positions are counted each time.
    pub proven: Option<u32>,
    /// The expected size of the proof that the search works on.
    pub estimate: f64,
    /// The number of open positions in it.
    pub open: usize,
    /// The number of positions seen so far.
    pub positions: usize,
    /// The number of positions expanded so far.
    pub expansions: u64,
    /// The factor on the expected sizes of unexplored answers.
    pub unexplored_penalty: f64,
    /// Whether nothing is left to try.
    pub exhausted: bool,
}

/// The factors on the expected sizes of unexplored answers, in the course of the search.
const UNEXPLORED_PENALTIES: [f64; 7] = [3.0, 1.6, 1.2, 1.0, 0.8, 0.65, 0.5];

/// How much of the board must be filled before diagrams are searched for: at first, and when
/// positions are tried again. With fewer discs, the search costs the most and rarely succeeds.
const MIN_FILLED_PERCENT: [u32; 3] = [25, 20, 15];

/// The search ends when positions have been tried with this many restarts.
const MAX_RESTARTS: u32 = 256;

/// Strategies that visit more positions are abandoned.
const MAX_POSITIONS: usize = 20_000;

/// The maximum number of exceptions of a diagram: fewer than a file can hold, so that diagrams stay
/// small.
const EXCEPTIONS: usize = 6;
const _: () = assert!(EXCEPTIONS <= MAX_EXCEPTIONS);

/// The maximum number of overrides of a leaf. With more, it is cheaper to expand the position.
const OVERRIDES: usize = 6;
const _: () = assert!(OVERRIDES <= MAX_OVERRIDES);

impl ProofSearch {
    /// Starts a search, or resumes it from a checkpoint file.
    pub fn new(
        claim: Claim,
        threads: usize,
        table_mb: usize,
        checkpoint: Option<&Path>,
    ) -> Result<ProofSearch, SearchError> {
        Solver::check(claim.setup)?;
        let options = Options::default().with_books(embedded_books()).with_table_mb(table_mb);
        let closer = |_| Closer::new(claim.goal.target(), options.clone());
        let closers = (0..threads.max(1)).map(closer).collect();
        let mut search = ProofSearch {
            claim,
            nodes: Vec::new(),
            ids: HashMap::new(),
            root: 0,
            closers,
            attempts: HashMap::new(),
            lengths: HashMap::new(),
            log: None,
            sizes: Sizes::default(),
            unexplored_penalty: UNEXPLORED_PENALTIES[0],
            restarts: 2,
            rounds: 0,
            expansions: 0,
        };
        let start = Position::new(claim.setup);
        let starts = if claim.owner == start.player() {
            search.choices(&start)
        } else if search.closers[0].keeps(&start) {
            vec![start]
        } else {
            Vec::new()
        };
        let root = starts.first().ok_or(SearchError::False(claim))?;
        if let Some(path) = checkpoint {
            search.open_checkpoint(path)?;
        }
        search.root = search.node(root, None);
        Ok(search)
    }

    /// Searches until `keep_going` returns `false`. It is called after every step.
    pub fn run(&mut self, mut keep_going: impl FnMut(&SearchProgress, &ProofSearch) -> bool) {
        loop {
            let open = self.open();
            let progress = SearchProgress {
                proven: self.nodes[self.root].proven,
                estimate: self.nodes[self.root].estimate,
                open: open.len(),
                positions: self.nodes.len(),
                expansions: self.expansions,
                unexplored_penalty: self.unexplored_penalty,
                exhausted: self.restarts > MAX_RESTARTS,
            };
            if !keep_going(&progress, self) {
                return;
            }
            // The deepest first: their sizes improve the estimates further up.
            let rank = |id: &Id| (self.nodes[*id].position.ply(), std::cmp::Reverse(*id));
            if let Some(&id) = open.iter().max_by_key(|id| rank(id)) {
                if self.nodes[id].wrong.is_some() {
                    self.expand(id);
                } else {
                    let ply = self.nodes[id].position.ply();
                    let is_same_ply = |&id: &Id| {
                        self.nodes[id].wrong.is_none() && self.nodes[id].position.ply() == ply
                    };
                    let ids: Vec<Id> = open.iter().copied().filter(is_same_ply).take(8).collect();
                    self.close(&ids);
                }
            } else if let Some(&lower) =
                UNEXPLORED_PENALTIES.iter().find(|&&factor| factor < self.unexplored_penalty)
            {
                self.unexplored_penalty = lower;
                self.update_all();
            } else {
                self.retry();
            }
        }
    }

    /// The smallest proof found so far, as a file.
    pub fn proof(&self) -> Option<Vec<u8>> {
        self.nodes[self.root].proven?;
        let node = |position: &Position| {
            let id = self.ids.get(&canonical(position).key())?;
            let node = &self.nodes[*id];
            Some((node.proven?, node))
        };
        let selection = self.selection();
        let choose = |position: &Position| {
            let id = |column: Column| {
                let mut after = *position;
                after.play(column).expect("the move is legal");
                self.ids.get(&canonical(&after).key()).copied()
            };
            let mut answers: Vec<Id> = position.legal().filter_map(id).collect();
            answers.sort_unstable();
            answers.dedup();
            // Only the first move, to the root, is not an answer.
            let is_first = position.ply() == 0;
            let answer = if is_first { Some(self.root) } else { selection.answer(&answers) };
            let answer = answer.expect("the proof has an answer");
            position.legal().find(|&column| id(column) == Some(answer)).expect("the move is legal")
        };
        let entry = |position: &Position| match node(position).map(|(_, node)| &node.state) {
            Some(State::Closed(strategy)) => Entry::Leaf(strategy.clone()),
            _ => Entry::Node,
        };
        Some(write_proof(self.claim, choose, entry))
    }

    /// The number of positions of a small proof by ply, and how many of them are closed.
    pub fn profile(&self) -> BTreeMap<u32, (u32, u32)> {
        let mut profile = BTreeMap::<u32, (u32, u32)>::new();
        for id in self.selection().positions() {
            let entry = profile.entry(self.nodes[id].position.ply()).or_default();
            entry.0 += 1;
            entry.1 += u32::from(matches!(self.nodes[id].state, State::Closed(_)));
        }
        profile
    }

    /// The number of positions of the proof that would be written now.
    pub fn size(&self) -> Option<u32> {
        self.nodes[self.root].proven?;
        // The position before the owner's first move counts, too.
        let owner_begins = self.nodes[self.root].position.ply() > 0;
        Some(self.selection().size() + u32::from(owner_begins))
    }

    fn selection<'a>(&'a self) -> Selection<'a, impl Fn(Id) -> (Known<'a>, Option<u32>)> {
        Selection::new(self.root, |id: Id| {
            let node = &self.nodes[id];
            let known = match &node.state {
                State::Open => Known::Open,
                State::Closed(strategy) => Known::Closed(strategy.overrides.len() as u32),
                State::Expanded(replies) => Known::Expanded(replies),
            };
            (known, node.proven)
        })
    }

    /// The node of a position.
    fn node(&mut self, position: &Position, parent: Option<Id>) -> Id {
        let position = canonical(position);
        let id = self.ids.get(&position.key()).copied().unwrap_or_else(|| {
            let id = self.nodes.len();
            let length = self.length(&position);
            let estimate = self.sizes.estimate(position.ply(), length, None);
            let (state, proven, parents, wrong) = (State::Open, None, Vec::new(), None);
            self.ids.insert(position.key(), id);
            self.nodes.push(Node { position, state, estimate, proven, parents, length, wrong });
            id
        });
        if let Some(parent) = parent
            && !self.nodes[id].parents.contains(&parent)
        {
            self.nodes[id].parents.push(parent);
        }
        id
    }

    /// Searches for diagrams of open positions, on all threads.
    fn close(&mut self, ids: &[Id]) {
        let positions: Vec<Position> = ids.iter().map(|&id| self.nodes[id].position).collect();
        let closings = self.close_all(&positions);
        for (&id, closing) in ids.iter().zip(closings) {
            let node = &mut self.nodes[id];
            match closing {
                Some(Closing::Closed(strategy)) => {
                    let size = NODE + strategy.overrides.len() as u32;
                    if let State::Open = node.state {
                        self.sizes.learn(node.position.ply(), node.length, None, size.into());
                    }
                    if node.proven.is_none_or(|known| size < known) {
                        node.state = State::Closed(strategy);
                        node.estimate = size.into();
                        node.proven = Some(size);
                    }
                }
                Some(Closing::Failed { wrong }) => {
                    node.wrong = Some(wrong);
                    if let State::Open = node.state {
                        let ply = node.position.ply();
                        node.estimate = self.sizes.estimate(ply, node.length, Some(wrong));
                    }
                }
                // There are too few discs.
                None => node.wrong = Some(0),
            }
            let parents = self.nodes[id].parents.clone();
            self.update(parents);
        }
    }

    /// Tries to close positions; `None` for those with too few discs.
    fn close_all(&mut self, positions: &[Position]) -> Vec<Option<Closing>> {
        let restarts = self.restarts;
        let mut results: Vec<Option<Closing>> = positions
            .iter()
            .map(|position| {
                let (closing, effort) = self.attempts.get(&position.key())?;
                let is_best = match closing {
                    Closing::Closed(strategy) => strategy.overrides.is_empty(),
                    Closing::Failed { .. } => false,
                };
                (*effort >= restarts || is_best).then(|| closing.clone())
            })
            .collect();
        let effort = Effort {
            restarts,
            positions: MAX_POSITIONS,
            exceptions: EXCEPTIONS,
            overrides: OVERRIDES,
        };
        let left: Vec<usize> = (0..positions.len())
            .filter(|&index| results[index].is_none() && positions[index].ply() >= self.min_ply())
            .collect();
        let threads = self.closers.len();
        let found: Vec<Vec<(usize, Closing)>> = thread::scope(|scope| {
            let workers: Vec<_> = self
                .closers
                .iter_mut()
                .enumerate()
                .map(|(worker, closer)| {
                    let mine: Vec<usize> =
                        left.iter().copied().skip(worker).step_by(threads).collect();
                    scope.spawn(move || {
                        mine.into_iter()
                            .map(|index| (index, closer.close(&positions[index], effort)))
                            .collect()
                    })
                })
                .collect();
            workers
                .into_iter()
                .map(|worker| worker.join().expect("the worker does not panic"))
                .collect()
        });
        for (index, closing) in found.into_iter().flatten() {
            // Keep the better result.
            let key = positions[index].key();
            let closing = match (self.attempts.remove(&key), closing) {
                (Some((Closing::Closed(known), _)), Closing::Closed(found))
                    if found.overrides.len() < known.overrides.len() =>
                {
                    Closing::Closed(found)
                }
                (Some((Closing::Closed(known), _)), _) => Closing::Closed(known),
                (_, closing) => closing,
            };
            self.store_attempt(key, &closing, restarts);
            results[index] = Some(closing);
        }
        results
    }

    fn expand(&mut self, id: Id) {
        self.expansions += 1;
        let position = self.nodes[id].position;
        let mut seen = HashSet::new();
        let mut choices: Vec<Vec<Position>> = Vec::new();
        for reply in position.legal() {
            let mut after = position;
            after.play(reply).expect("the move is legal");
            if after.outcome().is_none() && seen.insert(after.canonical_key()) {
                choices.push(self.choices(&after));
            }
        }
        choices.retain(|answers| !answers.is_empty());
        let replies = choices
            .into_iter()
            .map(|answers| {
                let mut ids: Vec<Id> =
                    answers.iter().map(|answer| self.node(answer, Some(id))).collect();
                ids.sort_unstable();
                ids.dedup();
                ids
            })
            .collect();
        self.nodes[id].state = State::Expanded(replies);
        self.update(vec![id]);
    }

    /// The positions after the owner's good moves; none where it wins by force.
    fn choices(&mut self, position: &Position) -> Vec<Position> {
        let columns: Vec<Column> = with_board!(position, board => {
            let rules = board.rules();
            match tactics(board) {
                Tactics::Wins(_) => return Vec::new(),
                Tactics::Forced(_) if wins_by_force(board) => return Vec::new(),
                Tactics::Forced(cell) => vec![column_of(rules, cell)],
                Tactics::Free(cells) => {
                    let column = |index| column_of(rules, Bits::truncate(1_u128 << index));
                    cells.indices().map(column).collect()
                }
            }
        });
        let mut after: Vec<Position> = Vec::new();
        for column in columns {
            let mut position = *position;
            position.play(column).expect("the column is open");
            if self.length(&position) > 0 {
                after.push(position);
            }
        }
        after
    }

    /// The number of moves until the owner, who has just moved, has won; 0 if it does not keep its
    /// result.
    fn length(&mut self, after: &Position) -> u32 {
        let key = after.canonical_key();
        if let Some(&length) = self.lengths.get(&key) {
            return length;
        }
        let closer = &mut self.closers[0];
        let length = if closer.keeps(after) { closer.length(after).max(1) } else { 0 };
        self.lengths.insert(key, length);
        self.write_line(&format!("{key:x} = {length}"));
        length
    }

    /// The open positions of the proof that the search is working on.
    fn open(&self) -> Vec<Id> {
        let mut open = Vec::new();
        let mut seen = HashSet::from([self.root]);
        let mut stack = vec![self.root];
        while let Some(id) = stack.pop() {
            match &self.nodes[id].state {
                State::Open => open.push(id),
                State::Closed(_) => {}
                State::Expanded(replies) => {
                    for answers in replies {
                        let best = self.most_promising(answers);
                        if seen.insert(best) {
                            stack.push(best);
                        }
                    }
                }
            }
        }
        open
    }

    fn most_promising(&self, answers: &[Id]) -> Id {
        let size = |id: &Id| self.expected_size(*id);
        *answers
            .iter()
            .min_by(|a, b| size(a).total_cmp(&size(b)))
            .expect("every reply has an answer")
    }

    /// The expected size, with the penalty for unexplored positions.
    fn expected_size(&self, id: Id) -> f64 {
        let node = &self.nodes[id];
        match node.state {
            State::Open => node.estimate * self.unexplored_penalty,
            _ => node.estimate,
        }
    }

    /// Recomputes sizes, from some positions upwards.
    fn update(&mut self, mut changed: Vec<Id>) {
        while let Some(id) = changed.pop() {
            let State::Expanded(replies) = &self.nodes[id].state else { continue };
            let mut estimate = f64::from(NODE);
            let mut proven = Some(NODE);
            for answers in replies {
                let best = self.most_promising(answers);
                estimate += self.nodes[best].estimate;
                let smallest = answers.iter().filter_map(|&id| self.nodes[id].proven).min();
                proven = proven.and_then(|sum| Some(sum + smallest?));
            }
            // A proof bounds the size from above.
            let estimate = proven.map_or(estimate, |proven| estimate.min(f64::from(proven)));
            let node = &mut self.nodes[id];
            if let (Some(size), None) = (proven, node.proven) {
                let (ply, size) = (node.position.ply(), f64::from(size));
                self.sizes.learn(ply, node.length, None, size);
                self.sizes.learn(ply, node.length, node.wrong, size);
            }
            if (estimate - node.estimate).abs() > 1e-9 || proven != node.proven {
                node.estimate = estimate;
                node.proven = proven;
                changed.extend(&node.parents);
            }
        }
    }

    /// Recomputes all sizes.
    fn update_all(&mut self) {
        let mut order: Vec<Id> = (0..self.nodes.len()).collect();
        order.sort_by_key(|&id| std::cmp::Reverse(self.nodes[id].position.ply()));
        for id in order {
            let node = &self.nodes[id];
            if let State::Open = node.state {
                self.nodes[id].estimate =
                    self.sizes.estimate(node.position.ply(), node.length, node.wrong);
            } else {
                self.update(vec![id]);
            }
        }
    }

    /// Tries again, with more effort, to close the expanded positions of the proof.
    fn retry(&mut self) {
        self.restarts *= 2;
        self.rounds += 1;
        let mut again: Vec<Id> = Vec::new();
        let mut seen = HashSet::from([self.root]);
        let mut stack = vec![self.root];
        while let Some(id) = stack.pop() {
            match &self.nodes[id].state {
                State::Expanded(replies) => {
                    again.push(id);
                    for answers in replies {
                        let best = self.most_promising(answers);
                        if seen.insert(best) {
                            stack.push(best);
                        }
                    }
                }
                State::Closed(strategy) if !strategy.overrides.is_empty() => again.push(id),
                _ => {}
            }
        }
        again.retain(|&id| self.nodes[id].position.ply() >= self.min_ply());
        self.close(&again);
        self.unexplored_penalty = UNEXPLORED_PENALTIES[1];
        self.update_all();
    }

    /// The minimum number of discs for attempts to close a position.
    fn min_ply(&self) -> u32 {
        let percent = MIN_FILLED_PERCENT[self.rounds.min(MIN_FILLED_PERCENT.len() - 1)];
        (percent * self.claim.setup.cells()).div_ceil(100)
    }

    /// Reads a checkpoint and opens it for appending.
    fn open_checkpoint(&mut self, path: &Path) -> Result<(), SearchError> {
        let header = format!("claimeven proof checkpoint 1: {}", self.claim);
        if path.exists() {
            let text = fs::read_to_string(path)?;
            // A truncated last line is dropped.
            let whole = text.rfind('\n').map_or(0, |end| end + 1);
            let mut lines = text[..whole].lines();
            if lines.next() != Some(&header) {
                return Err(SearchError::Foreign);
            }
            for line in lines {
                if let Some((key, length)) = line.split_once(" = ") {
                    if let (Ok(key), Ok(length)) = (u128::from_str_radix(key, 16), length.parse()) {
                        self.lengths.insert(key, length);
                    }
                } else if let Some((key, closing, restarts)) = parse_line(line, self.claim) {
                    self.attempts.insert(key, (closing, restarts));
                }
            }
            let log = OpenOptions::new().append(true).open(path)?;
            log.set_len(whole as u64)?;
            self.log = Some(log);
        } else {
            self.log = Some(File::create(path)?);
            self.write_line(&header);
        }
        Ok(())
    }

    fn store_attempt(&mut self, key: u128, closing: &Closing, restarts: u32) {
        self.attempts.insert(key, (closing.clone(), restarts));
        let result = match closing {
            Closing::Closed(Strategy { diagram, overrides }) => {
                let mut bytes = diagram.numbers.clone();
                for &Exception { cell, disc, is_own, number } in &diagram.exceptions {
                    bytes.extend([cell, disc, u8::from(is_own), number]);
                }
                let mut text = String::new();
                for byte in bytes {
                    let _ = write!(text, "{byte:02x}");
                }
                for (key, column) in overrides {
                    let _ = write!(text, " {key:x}:{}", column.index());
                }
                text
            }
            Closing::Failed { wrong } => format!("- {wrong}"),
        };
        self.write_line(&format!("{key:x} {restarts} {result}"));
    }

    /// Appends a line to the checkpoint. If that fails, the work is only repeated after a restart.
    fn write_line(&mut self, line: &str) {
        if let Some(log) = &mut self.log {
            let _ = log.write_all(format!("{line}\n").as_bytes());
        }
    }
}

fn parse_line(line: &str, claim: Claim) -> Option<(u128, Closing, u32)> {
    let mut words = line.split(' ');
    let key = u128::from_str_radix(words.next()?, 16).ok()?;
    let restarts = words.next()?.parse().ok()?;
    let closing = match words.next()? {
        "-" => Closing::Failed { wrong: words.next()?.parse().ok()? },
        bytes => {
            let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
            let bytes: Option<Vec<u8>> = bytes.as_bytes().chunks(2).map(byte).collect();
            let bytes = bytes?;
            let mut diagram = Diagram::empty(claim.setup);
            let (numbers, exceptions) = bytes.split_at_checked(diagram.numbers.len())?;
            diagram.numbers.copy_from_slice(numbers);
            let exceptions = exceptions.chunks(4).map(|bytes| match *bytes {
                [cell, disc, is_own, number] => {
                    Some(Exception { cell, disc, is_own: is_own == 1, number })
                }
                _ => None,
            });
            diagram.exceptions = exceptions.collect::<Option<_>>()?;
            let overrides = words.map(|word| {
                let (key, column) = word.split_once(':')?;
                let column = Column::from_index(column.parse().ok()?)?;
                Some((u128::from_str_radix(key, 16).ok()?, column))
            });
            Closing::Closed(Strategy { diagram, overrides: overrides.collect::<Option<_>>()? })
        }
    };
    Some((key, closing, restarts))
}

/// Estimates of proof sizes: the mean of their logarithms, by discs and wrong examples.
#[derive(Default)]
struct Sizes {
    learned: HashMap<(u32, u32), (f64, f64)>,
}

impl Sizes {
    /// The expected size, by the number of discs, the length of the game and, after a diagram was
    /// searched for, the number of examples that stayed wrong.
    fn estimate(&self, ply: u32, length: u32, wrong: Option<u32>) -> f64 {
        const PRIOR_WEIGHT: f64 = 2.0;
        let by_length = 2.0 + 0.008 * f64::from(length).powi(3) * 0.9_f64.powi(ply as i32 - 9);
        let prior = match wrong {
            None | Some(0) => by_length,
            Some(wrong) => (4.0 + 2.0 * f64::from(wrong)).min(60.0).max(by_length / 2.0),
        };
        let class = Self::class(ply, length, wrong);
        let (sum, count) = self.learned.get(&class).copied().unwrap_or_default();
        let size = ((sum + PRIOR_WEIGHT * prior.ln()) / (count + PRIOR_WEIGHT)).exp();
        if wrong.is_some() { size.max(4.0) } else { size }
    }

    fn learn(&mut self, ply: u32, length: u32, wrong: Option<u32>, size: f64) {
        let (sum, count) = self.learned.entry(Self::class(ply, length, wrong)).or_default();
        *sum += size.ln();
        *count += 1.0;
    }

    fn class(ply: u32, length: u32, wrong: Option<u32>) -> (u32, u32) {
        (
            ply,
            match wrong {
                None | Some(0) => 100 + length / 3,
                Some(wrong) => 1 + 3 * wrong.ilog2() / 2,
            },
        )
    }
}

/// Why a search cannot start.
#[derive(Debug)]
#[non_exhaustive]
pub enum SearchError {
    /// The claim is false.
    False(Claim),
    /// The checkpoint belongs to another claim.
    Foreign,
    /// The checkpoint cannot be read or written.
    Io(io::Error),
    /// The solver does not support the ruleset.
    Unsolvable(Unsolvable),
}

impl std::fmt::Display for SearchError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SearchError::False(claim) => {
                write!(f, "cannot prove a false claim: {claim}")
            }
            SearchError::Foreign => write!(f, "the checkpoint belongs to another proof"),
            SearchError::Io(error) => error.fmt(f),
            SearchError::Unsolvable(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SearchError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            SearchError::Io(error) => error.source(),
            SearchError::Unsolvable(error) => error.source(),
            SearchError::False(_) | SearchError::Foreign => None,
        }
    }
}

impl From<io::Error> for SearchError {
    fn from(error: io::Error) -> SearchError {
        SearchError::Io(error)
    }
}

impl From<Unsolvable> for SearchError {
    fn from(error: Unsolvable) -> SearchError {
        SearchError::Unsolvable(error)
    }
}
