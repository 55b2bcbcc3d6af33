//! The search for a diagram that closes a position.
//!
//! A diagram closes a position if its owner, by the rules of `diagram.rs`, keeps the result against
//! every reply. The search is guided by counterexamples:
//!
//! 1. The numbers are played out against all replies.
//! 2. Wherever a line of play ends badly, the solver finds the choice that gave the result away.
//!    That position becomes an example: the cells to choose from, and those that keep the result.
//! 3. A decision list (Rivest 1987) is learned from the examples: the cell with the highest number
//!    must be right in all examples where it can be played, the next one in all remaining examples,
//!    and so on. Taking a cell that is always right never does harm, so this greedy choice finds an
//!    order whenever there is one. Where there is none, an exception may help.
//!
//!    Failing that, the positions of a few examples become overrides.
//!
//! An example belongs to one position, which another strategy may never reach. So if the examples
//! contradict each other, half of them are dropped.

use std::collections::{HashMap, HashSet};

use claimeven_game::{Bits, Board, Column, Position, Rules, mix_key, with_board};
use claimeven_solver::{Options, Solver};

use crate::diagram::{Diagram, Exception, Strategy, Tactics, column_of, tactics};

/// The result of trying to close a position.
#[derive(Clone, Debug)]
pub(crate) enum Closing {
    /// A strategy that keeps the result.
    Closed(Strategy),
    /// No strategy was found; `wrong` examples were left in the closest attempt.
    Failed { wrong: u32 },
}

/// The limits of one attempt to close a position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// The number of times that contradictory examples are dropped.
    pub(crate) restarts: u32,
    /// Strategies that visit more positions are abandoned.
    pub(crate) positions: usize,
    /// The maximum number of exceptions of a diagram.
    pub(crate) exceptions: usize,
    /// The maximum number of overrides.
    pub(crate) overrides: usize,
}

/// Rounds of playing out and learning for each restart.
const ROUNDS: u32 = 60;

/// The maximum number of examples found in one round.
const MAX_FAILURES: usize = 6;

/// The value of `wrong` if strategies are too large to be played out.
const TOO_LARGE: u32 = 60;

/// The largest number in a diagram.
const MAX_NUMBER: u8 = 127;

/// The number of recent diagrams that are tried first.
const MAX_RECENT: usize = 24;

/// Closes positions, with its own solver.
pub(crate) struct Closer {
    solver: Solver,
    /// By the canonical key of the position after the owner's move.
    known: HashMap<u128, bool>,
    /// The result that the owner must keep: 1 for a win, 0 for at least a draw.
    target: i32,
    /// The latest diagrams, the last one first: similar positions are often closed by the same one.
    recent: Vec<Diagram>,
}

/// A position in which a diagram made a wrong choice.
#[derive(Clone, Copy)]
struct Example<B> {
    /// The cells to choose from, and those that keep the result.
    choice: B,
    good: B,
    own: B,
    other: B,
    key: B,
}

impl Closer {
    pub(crate) fn new(target: i32, options: Options) -> Closer {
        Closer { solver: Solver::new(options), known: HashMap::new(), target, recent: Vec::new() }
    }

    /// Whether the owner, who has just moved, keeps the target result.
    pub(crate) fn keeps(&mut self, after: &Position) -> bool {
        let key = after.canonical_key();
        if let Some(&keeps) = self.known.get(&key) {
            return keeps;
        }
        let sign = self.solver.sign(after).expect("the ruleset has been checked");
        let keeps = -sign >= self.target;
        if self.known.len() >= 1 << 23 {
            self.known.clear();
        }
        self.known.insert(key, keeps);
        keeps
    }

    /// The number of moves until the owner, who has just moved, has won, or until the board is
    /// full.
    pub(crate) fn length(&mut self, after: &Position) -> u32 {
        let score = self.solver.score(after).expect("the ruleset has been checked");
        let left = after.setup().cells() - after.ply();
        score.moves_to_win(after).map_or(left, |moves| (2 * moves).min(left))
    }

    /// Tries to close a position in which the owner has just moved and keeps its result.
    pub(crate) fn close(&mut self, position: &Position, effort: Effort) -> Closing {
        with_board!(position, board => self.close_board(board, position, effort))
    }

    fn close_board<R: Rules>(
        &mut self,
        board: Board<R>,
        position: &Position,
        effort: Effort,
    ) -> Closing {
        let rules = board.rules();
        if let Some(nth) = (0..self.recent.len())
            .find(|&nth| holds(board, &self.recent[nth], &[], self.target, effort.positions))
        {
            let diagram = self.recent.remove(nth);
            self.recent.insert(0, diagram.clone());
            return Closing::Closed(Strategy { diagram, overrides: Vec::new() });
        }
        let seed = mix_key(position.canonical_key()) ^ u64::from(effort.restarts);
        let mut rng = fastrand::Rng::with_seed(seed);
        let empty = rules.cells() & !board.filled();
        let mut fewest = TOO_LARGE;
        let mut examples: Vec<Example<R::Bits>> = Vec::new();
        let mut best: Option<Strategy> = None;
        for restart in 0..effort.restarts {
            let recent = self.recent.first();
            let preferred = preference(rules, empty, restart, recent, &mut rng);
            // Only a strategy with fewer overrides than the best one is useful.
            let max_overrides = match &best {
                Some(best) if best.overrides.is_empty() => break,
                Some(best) => best.overrides.len() - 1,
                None => effort.overrides,
            };
            for _ in 0..ROUNDS {
                let limits = [effort.exceptions, max_overrides];
                let list = match learn(&examples, &preferred, limits, &mut rng) {
                    Ok(list) => list,
                    Err(contradicting) => {
                        fewest = fewest.min(contradicting as u32);
                        break;
                    }
                };
                let numbered = list.numbered(rules);
                let mut play_out = PlayOut {
                    closer: self,
                    position,
                    diagram: &numbered,
                    overrides: &list.overrides,
                    used: Vec::new(),
                    seen: HashSet::default(),
                    path: Vec::new(),
                    failures: Vec::new(),
                    choices: HashSet::new(),
                    max_positions: effort.positions,
                };
                match play_out.run(board) {
                    Ok(()) => {
                        let (choices, used) = (play_out.choices, play_out.used);
                        let Some(diagram) = smallest(rules, &choices, &numbered) else { break };
                        if used.is_empty() {
                            self.recent.insert(0, diagram.clone());
                            self.recent.truncate(MAX_RECENT);
                        }
                        let overrides = used
                            .into_iter()
                            .map(|(key, cell): (R::Bits, _)| (key.widen(), column_of(rules, cell)))
                            .collect();
                        best = Some(Strategy { diagram, overrides });
                        break;
                    }
                    Err(Failure::TooLarge) => break,
                    Err(Failure::Wrong) => examples.append(&mut play_out.failures),
                }
            }
            // Other strategies may never reach the positions of these examples.
            rng.shuffle(&mut examples);
            examples.truncate(examples.len() / 2);
        }
        match best {
            Some(strategy) => Closing::Closed(strategy),
            None => Closing::Failed { wrong: fewest.max(1) },
        }
    }
}

/// Whether a diagram, with overrides by key, keeps the result against every reply; the opponent is
/// to move.
pub(crate) fn strategy_holds(
    position: &Position,
    diagram: &Diagram,
    overrides: &[(u128, Column)],
    target: i32,
) -> bool {
    with_board!(position, board => holds(board, diagram, overrides, target, usize::MAX))
}

fn holds<R: Rules>(
    board: Board<R>,
    diagram: &Diagram,
    overrides: &[(u128, Column)],
    target: i32,
    max_positions: usize,
) -> bool {
    let mut seen = HashSet::<R::Bits, KeyHasher>::default();
    let size = board.rules().stride() as usize * usize::from(board.rules().setup().cols());
    if diagram.numbers.len() != size {
        // A diagram for another board.
        return false;
    }
    let mut stack = vec![board];
    while let Some(board) = stack.pop() {
        for reply in board.open().indices() {
            let mut board = board;
            board.play_cell(R::Bits::ONE << reply);
            if board.is_over() {
                if target > 0 || board.has_line() {
                    return false;
                }
                continue;
            }
            let cell = match tactics(board) {
                Tactics::Wins(_) => continue,
                Tactics::Forced(cell) => cell,
                Tactics::Free(cells) => {
                    match overrides.iter().find(|(key, _)| *key == board.key().widen()) {
                        Some(&(_, column)) => board.open() & board.rules().column(column),
                        None => diagram.choose(board, cells),
                    }
                }
            };
            board.play_cell(cell);
            if board.is_over() {
                // Winning moves were handled above.
                if target > 0 {
                    return false;
                }
            } else if seen.insert(board.key()) {
                if seen.len() > max_positions {
                    return false;
                }
                stack.push(board);
            }
        }
    }
    true
}

/// A hasher for keys: one multiplication.
#[derive(Clone, Copy, Default)]
pub(crate) struct KeyHasher(u64);

impl std::hash::BuildHasher for KeyHasher {
    type Hasher = KeyHasher;

    fn build_hasher(&self) -> KeyHasher {
        KeyHasher(0)
    }
}

impl std::hash::Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(byte.into());
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = mix_key(self.0 ^ number);
    }

    fn write_u128(&mut self, number: u128) {
        self.write_u64(number as u64);
        self.write_u64((number >> 64) as u64);
    }
}

/// Why playing out a diagram was abandoned.
enum Failure {
    Wrong,
    TooLarge,
}

/// A choice of a diagram: the cells, the exceptions that applied, and the item that decided.
type Choice<B> = (B, u32, usize);

/// A diagram that is being played out against every reply.
struct PlayOut<'a, R: Rules> {
    closer: &'a mut Closer,
    position: &'a Position,
    diagram: &'a Numbered,
    overrides: &'a [(R::Bits, R::Bits)],
    /// The overrides that were reached, with the cells played.
    used: Vec<(R::Bits, R::Bits)>,
    seen: HashSet<R::Bits, KeyHasher>,
    /// The owner's positions on the current path, with the reply before and the answer after.
    path: Vec<Step<R>>,
    failures: Vec<Example<R::Bits>>,
    choices: HashSet<Choice<R::Bits>>,
    max_positions: usize,
}

#[derive(Clone, Copy)]
struct Step<R: Rules> {
    reply: R::Bits,
    /// The owner is to move.
    board: Board<R>,
    /// Empty if the move was forced.
    choice: R::Bits,
    answer: R::Bits,
}

impl<R: Rules> PlayOut<'_, R> {
    fn run(&mut self, board: Board<R>) -> Result<(), Failure> {
        // A wrong choice ends the lines through it.
        let _ = self.every_reply(board)?;
        if self.failures.is_empty() { Ok(()) } else { Err(Failure::Wrong) }
    }

    /// Plays every reply and its answer. Returns the depth of the wrong choice if there was one on
    /// the path to this position.
    fn every_reply(&mut self, board: Board<R>) -> Result<Option<usize>, Failure> {
        for index in board.open().indices() {
            let reply = R::Bits::ONE << index;
            let mut board = board;
            board.play_cell(reply);
            let depth = self.path.len();
            let wrong = if board.is_over() {
                if self.closer.target > 0 || board.has_line() { self.blame()? } else { None }
            } else {
                self.answer(board, reply)?
            };
            self.path.truncate(depth);
            match wrong {
                // The choice that led here was wrong: no other reply matters.
                Some(wrong) if wrong < depth => return Ok(Some(wrong)),
                _ => {}
            }
        }
        Ok(None)
    }

    fn answer(&mut self, board: Board<R>, reply: R::Bits) -> Result<Option<usize>, Failure> {
        let (choice, answer) = match tactics(board) {
            Tactics::Wins(_) => return Ok(None),
            Tactics::Forced(cell) => (R::Bits::ZERO, cell),
            Tactics::Free(choice) => {
                let key = board.key();
                let good = self.overrides.iter().find(|(other, _)| *other == key);
                if let Some(&(_, good)) = good {
                    let cell = R::Bits::ONE << self.diagram.choose(board, good).0;
                    if !self.used.contains(&(key, cell)) {
                        self.used.push((key, cell));
                    }
                    (choice, cell)
                } else {
                    let (index, item, applied) = self.diagram.choose(board, choice);
                    self.choices.insert((choice, applied, item));
                    (choice, R::Bits::ONE << index)
                }
            }
        };
        let mut after = board;
        after.play_cell(answer);
        if !self.seen.insert(after.key()) {
            return Ok(None);
        }
        if self.seen.len() > self.max_positions {
            return Err(if self.failures.is_empty() { Failure::TooLarge } else { Failure::Wrong });
        }
        self.path.push(Step { reply, board, choice, answer });
        if after.is_over() {
            // The board is full: winning moves were handled above.
            return if self.closer.target > 0 { self.blame() } else { Ok(None) };
        }
        self.every_reply(after)
    }

    /// Finds the choice on the path that gave the result away; returns its depth.
    fn blame(&mut self) -> Result<Option<usize>, Failure> {
        let rules = self.path[0].board.rules();
        let mut positions = Vec::with_capacity(self.path.len());
        let mut position = *self.position;
        for step in &self.path {
            play(&mut position, column_of(rules, step.reply));
            let before = position;
            play(&mut position, column_of(rules, step.answer));
            positions.push((before, position));
        }
        let mut wrong = positions.len();
        while wrong > 0 && !self.closer.keeps(&positions[wrong - 1].1) {
            wrong -= 1;
        }
        let Step { board, choice, .. } = self.path[wrong];
        let mut good = R::Bits::ZERO;
        for index in choice.indices() {
            let cell = R::Bits::ONE << index;
            let mut after = positions[wrong].0;
            play(&mut after, column_of(rules, cell));
            if self.closer.keeps(&after) {
                good |= cell;
            }
        }
        assert!(!good.is_empty(), "the owner keeps its result until here");
        let (own, other, key) = (board.own(), board.other(), board.key());
        self.failures.push(Example { choice, good, own, other, key });
        if self.failures.len() >= MAX_FAILURES { Err(Failure::Wrong) } else { Ok(Some(wrong)) }
    }
}

fn play(position: &mut Position, column: Column) {
    position.play(column).expect("the column is open");
}

/// The cells in order of preference, where no example says otherwise.
fn preference<R: Rules>(
    rules: R,
    empty: R::Bits,
    restart: u32,
    recent: Option<&Diagram>,
    rng: &mut fastrand::Rng,
) -> Vec<u32> {
    let (stride, rows) = (rules.stride(), u32::from(rules.setup().rows()));
    // Most strategies follow up on the even rows, except in some columns.
    let flips: Vec<bool> =
        (0..rules.setup().cols()).map(|_| restart > 1 && rng.u8(..4) == 0).collect();
    let noise = if restart < 2 { 1 } else { 5 };
    let mut weights: Vec<(i32, u32)> = empty
        .indices()
        .map(|index| {
            let (column, row) = (index / stride, index % stride);
            let follows = (rows - 1 - row).is_multiple_of(2) != flips[column as usize];
            let weight = match recent {
                Some(diagram) if restart == 0 => {
                    diagram.numbers.get(index as usize).copied().unwrap_or(0).into()
                }
                _ => 8 * i32::from(follows) + rng.i32(0..noise),
            };
            (-weight, index)
        })
        .collect();
    weights.sort_unstable();
    weights.into_iter().map(|(_, index)| index).collect()
}

/// A decision list: the first entry that can be played is chosen.
struct DecisionList<B> {
    entries: Vec<(u32, Option<(u8, bool)>)>,
    /// Positions in which only these cells are chosen from, whatever the entries say.
    overrides: Vec<(B, B)>,
}

impl<B: Bits> DecisionList<B> {
    fn numbered<R: Rules>(&self, rules: R) -> Numbered {
        let size = rules.stride() as usize * usize::from(rules.setup().cols());
        let mut numbered = Numbered { numbers: vec![0; size], exceptions: Vec::new() };
        for (&(cell, condition), number) in self.entries.iter().rev().zip(1..) {
            match condition {
                None => numbered.numbers[cell as usize] = number,
                Some((disc, is_own)) => {
                    let exception = Exception { cell: cell as u8, disc, is_own, number: 0 };
                    numbered.exceptions.push((exception, number));
                }
            }
        }
        numbered
    }
}

/// A decision list as numbers, each used once.
struct Numbered {
    numbers: Vec<u16>,
    exceptions: Vec<(Exception, u16)>,
}

/// The items of exceptions follow those of the cells.
const FIRST_EXCEPTION: usize = 128;

impl Numbered {
    /// The index of the chosen cell, the item that decided, and the exceptions that applied.
    fn choose<R: Rules>(&self, board: Board<R>, cells: R::Bits) -> (u32, usize, u32) {
        let mut best = (0, 0, 0);
        for index in cells.indices() {
            let number = self.numbers[index as usize];
            if number >= best.0 {
                best = (number, index, index as usize);
            }
        }
        let mut applied = 0;
        for (nth, (exception, number)) in self.exceptions.iter().enumerate() {
            let cell = R::Bits::ONE << u32::from(exception.cell);
            if !(cells & cell).is_empty() && exception.applies(board) {
                applied |= 1 << nth;
                if *number > best.0 {
                    best = (*number, exception.cell.into(), FIRST_EXCEPTION + nth);
                }
            }
        }
        (best.1, best.2, applied)
    }
}

/// Learns a decision list from examples, with limits on its exceptions and overrides. If there is
/// none, returns the number of examples that are left.
fn learn<B: Bits>(
    examples: &[Example<B>],
    preferred: &[u32],
    [max_exceptions, max_overrides]: [usize; 2],
    rng: &mut fastrand::Rng,
) -> Result<DecisionList<B>, usize> {
    let mut entries = Vec::with_capacity(preferred.len() + 4);
    let mut overrides: Vec<(B, B)> = Vec::new();
    let mut left: Vec<Example<B>> = examples.to_vec();
    let mut cells: Vec<u32> = preferred.to_vec();
    let mut exceptions = 0;
    while !left.is_empty() {
        // 1. A cell that is right wherever it can be played.
        let bad = left.iter().fold(B::ZERO, |bad, example| bad | (example.choice & !example.good));
        let is_right = |&cell: &u32| (bad & (B::ONE << cell)).is_empty();
        if let Some(nth) = cells.iter().position(is_right) {
            let cell = cells.remove(nth);
            entries.push((cell, None));
            left.retain(|example| (example.choice & (B::ONE << cell)).is_empty());
            continue;
        }
        // 2. A cell that is right whenever some disc is on the board.
        if exceptions < max_exceptions
            && let Some((cell, disc, is_own)) = best_exception(&left, rng)
        {
            exceptions += 1;
            entries.push((cell, Some((disc as u8, is_own))));
            let bit = B::ONE << disc;
            left.retain(|example| {
                let discs = if is_own { example.own } else { example.other };
                (discs & bit).is_empty() || (example.choice & (B::ONE << cell)).is_empty()
            });
            continue;
        }
        // 3. A cell that is wrong in few examples, whose positions become overrides.
        let count = |cell: u32, is_good: bool| {
            let bit = B::ONE << cell;
            let matches = |example: &&Example<B>| {
                !(example.choice & bit).is_empty() && (example.good & bit).is_empty() != is_good
            };
            left.iter().filter(matches).count()
        };
        let rank = |&nth: &usize| {
            let (right, wrong) = (count(cells[nth], true), count(cells[nth], false));
            (wrong, std::cmp::Reverse(right))
        };
        let Some(nth) = (0..cells.len()).min_by_key(rank) else { return Err(left.len()) };
        let cell = cells.remove(nth);
        let bit = B::ONE << cell;
        for example in &left {
            if !(example.choice & bit).is_empty()
                && (example.good & bit).is_empty()
                && overrides.iter().all(|(key, _)| *key != example.key)
            {
                overrides.push((example.key, example.good));
            }
        }
        if overrides.len() > max_overrides {
            return Err(left.len());
        }
        entries.push((cell, None));
        left.retain(|example| (example.choice & bit).is_empty());
    }
    entries.extend(cells.into_iter().map(|cell| (cell, None)));
    Ok(DecisionList { entries, overrides })
}

/// The exception that is right in the most examples and wrong in none: the cell, the disc and
/// whether the disc is the owner's.
fn best_exception<B: Bits>(
    left: &[Example<B>],
    rng: &mut fastrand::Rng,
) -> Option<(u32, u32, bool)> {
    let mut highest = (0, 0);
    let mut best = None;
    let all = left.iter().fold(B::ZERO, |all, example| all | example.own | example.other);
    for disc in all.indices() {
        for is_own in [false, true] {
            let applies = |example: &&Example<B>| {
                let discs = if is_own { example.own } else { example.other };
                !(discs & (B::ONE << disc)).is_empty()
            };
            let (mut good, mut bad) = (B::ZERO, B::ZERO);
            for example in left.iter().filter(applies) {
                good |= example.good;
                bad |= example.choice & !example.good;
            }
            for cell in (good & !bad).indices() {
                let covers = |example: &&Example<B>| !(example.good & (B::ONE << cell)).is_empty();
                let count = left.iter().filter(applies).filter(covers).count();
                let rank = (count, rng.u8(..));
                if best.is_none() || rank > highest {
                    highest = rank;
                    best = Some((cell, disc, is_own));
                }
            }
        }
    }
    best
}

/// The diagram with the smallest numbers that makes the same choices.
fn smallest<R: Rules>(
    rules: R,
    choices: &HashSet<Choice<R::Bits>>,
    numbered: &Numbered,
) -> Option<Diagram> {
    let cell_of = |item: usize| match item.checked_sub(FIRST_EXCEPTION) {
        None => item,
        Some(nth) => usize::from(numbered.exceptions[nth].0.cell),
    };
    let decisive: HashSet<usize> = choices.iter().map(|&(_, _, chosen)| chosen).collect();
    let mut numbers = vec![0_u8; FIRST_EXCEPTION + numbered.exceptions.len()];
    loop {
        let mut changed = false;
        for &(cells, applied, chosen) in choices {
            let cell = cell_of(chosen);
            let applied = (0..numbered.exceptions.len())
                .filter(|nth| applied >> nth & 1 == 1)
                .map(|nth| FIRST_EXCEPTION + nth)
                .filter(|item| decisive.contains(item));
            let others = cells.indices().map(|index| index as usize).chain(applied);
            let min = others
                .filter(|&item| cell_of(item) != cell)
                .map(|item| numbers[item] + u8::from(cell_of(item) < cell))
                .max()
                .unwrap_or(0);
            if numbers[chosen] < min {
                numbers[chosen] = min;
                changed = true;
                if min > MAX_NUMBER {
                    return None;
                }
            }
        }
        if !changed {
            break;
        }
    }
    let exceptions = numbered.exceptions.iter().enumerate().map(|(nth, &(exception, _))| {
        (FIRST_EXCEPTION + nth, Exception { number: numbers[FIRST_EXCEPTION + nth], ..exception })
    });
    let exceptions = exceptions
        .filter(|(item, _)| decisive.contains(item))
        .map(|(_, exception)| exception)
        .collect();
    numbers.truncate(rules.stride() as usize * usize::from(rules.setup().cols()));
    Some(Diagram { numbers, exceptions })
}
