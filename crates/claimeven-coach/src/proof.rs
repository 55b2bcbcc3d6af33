//! Proof files: a tree of the owner's moves with diagrams at its leaves.
//!
//! A file is one line of text and a stream of bits, the highest bit of a byte first:
//!
//! ```text
//! claimeven proof 1: 7x6, connect 4, standard, X wins
//! ```
//!
//! The tree is written depth-first. A position and its mirror image are one: the canonical one is
//! the lexicographically smaller, reading column by column from the bottom up, with empty < X < O.
//! A position that was visited before has no bits.
//!
//! - *The owner is to move:* no bits if it wins by force (rule 3 of `diagram.rs`). Otherwise the
//!   column to play, in as many bits as it takes to number the columns, followed by the position
//!   after that move.
//! - *The opponent is to move:* one bit. 0: the positions after all replies follow, from left to
//!   right. 1: a diagram closes the position.
//! - *A diagram:* one bit. 1: the number of an earlier diagram, from 0, in as many bits as it takes
//!   to number them. 0: three bits with the width of its numbers, then the number of every empty
//!   cell, column by column from the bottom up; then four bits with the number of exceptions, each
//!   of them a cell, the cell of the disc (both as indices in the list of empty cells), a bit that
//!   is 1 if the disc is the owner's, and a number.
//! - *After the diagram:* four bits with the number of overrides, single positions in which another
//!   move than that of the diagram is played. Each of them has four bits with the number of replies
//!   that lead there from the leaf, the columns of these replies, and the column to play. Between
//!   the replies the owner plays by the diagram and the preceding overrides.
//!
//! Cells that were not empty when a diagram was written have the number 0.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::sync::{Arc, LazyLock};

use claimeven_game::{Cell, Column, Player, Position, Setup, with_board};

use crate::closing::strategy_holds;
use crate::diagram::{Diagram, Exception, Strategy, Tactics, column_of, tactics, wins_by_force};

/// The claim of a proof: a player, and the result that it keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The game.
    pub setup: Setup,
    /// Who keeps the result.
    pub owner: Player,
    /// The result.
    pub goal: Goal,
}

/// The result that the owner of a proof keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// The owner wins.
    Win,
    /// The owner does not lose.
    Draw,
}

impl Goal {
    /// The result that the owner keeps at least: 1 or 0.
    pub(crate) fn target(self) -> i32 {
        match self {
            Goal::Win => 1,
            Goal::Draw => 0,
        }
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = match self.goal {
            Goal::Win => "wins",
            Goal::Draw => "does not lose",
        };
        write!(f, "{}, {} {verb}", self.setup, self.owner)
    }
}

/// A proof tree: moves and diagrams by which a player keeps a result.
///
/// [`embedded_proof`] shows its use; [`ProofSearch`](crate::ProofSearch) finds others.
///
/// ```
/// use claimeven_coach::{ProofTree, check_proof, embedded_proof};
/// use claimeven_game::{Ruleset, Setup};
///
/// let proof = embedded_proof(Setup::new(6, 6, 4, Ruleset::Standard)?).expect("it is embedded");
/// println!("{}: {} moves, {} leaves", proof.claim(), proof.moves(), proof.leaves());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ProofTree {
    claim: Claim,
    /// The owner's move, by the key of a position in its canonical orientation.
    moves: HashMap<u128, Column>,
    /// The positions that diagrams close, in the order of the file.
    leaves: Vec<Leaf>,
    diagrams: Vec<Diagram>,
    bytes: usize,
}

#[derive(Clone, Debug)]
struct Leaf {
    position: Position,
    /// The number of its diagram.
    diagram: usize,
    overrides: Vec<(u128, Column)>,
}

/// An entry of the tree: a position in which the opponent is to move.
pub(crate) enum Entry {
    Node,
    Leaf(Strategy),
}

pub(crate) const MAGIC: &str = "claimeven proof 1: ";

/// The maximum number of exceptions of a diagram in a file.
pub(crate) const MAX_EXCEPTIONS: usize = 15;

/// The maximum number of overrides of a leaf in a file, and of replies that lead to one.
pub(crate) const MAX_OVERRIDES: usize = 15;

/// The canonical one of a position and its mirror image, as described above.
pub(crate) fn canonical(position: &Position) -> Position {
    let content =
        |position: &Position, cell| position.disc(cell).map_or(0, |player| 1 + player.index());
    let mirror = position.mirror();
    let reading = |position: &Position| -> Vec<usize> {
        all_cells(position.setup()).map(|cell| content(position, cell)).collect()
    };
    if reading(&mirror) < reading(position) { mirror } else { *position }
}

impl ProofTree {
    /// Reads a proof without verifying it: see [`check_proof`](crate::check_proof).
    pub fn from_bytes(bytes: &[u8]) -> Result<ProofTree, ProofError> {
        let (claim, bits) = parse_header(bytes)?;
        let (moves, leaves, diagrams) = (HashMap::new(), Vec::new(), Vec::new());
        let mut proof = ProofTree { claim, moves, leaves, diagrams, bytes: bytes.len() };
        let mut tree = TreeReader {
            reader: BitReader { bytes: bits, next: 0 },
            seen: HashSet::new(),
            proof: &mut proof,
        };
        tree.position(Position::new(claim.setup))?;
        Ok(proof)
    }

    /// What the proof proves.
    pub fn claim(&self) -> Claim {
        self.claim
    }

    /// The number of positions in which the tree has a move of the owner.
    pub fn moves(&self) -> usize {
        self.moves.len()
    }

    /// The number of positions that a diagram closes.
    pub fn leaves(&self) -> usize {
        self.leaves.len()
    }

    /// The number of single positions in which another move than that of a diagram is played.
    pub fn overrides(&self) -> usize {
        self.leaves.iter().map(|leaf| leaf.overrides.len()).sum()
    }

    /// The number of different diagrams.
    pub fn diagrams(&self) -> usize {
        self.diagrams.len()
    }

    /// The size of the file.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The owner's move in a position that is reached by playing the proof; `None` in any other.
    pub fn answer(&self, position: &Position) -> Option<Column> {
        let setup = self.claim.setup;
        if position.setup() != setup
            || position.player() != self.claim.owner
            || position.outcome().is_some()
        {
            return None;
        }
        if let Some(column) = forced_win(position) {
            return Some(column);
        }
        let canonical = canonical(position);
        if let Some(&column) = self.moves.get(&canonical.key()) {
            let is_mirrored = canonical != *position;
            let last = usize::from(setup.cols()) - 1;
            let index = if is_mirrored { last - column.index() } else { column.index() };
            return Column::from_index(index);
        }
        // The position comes after a leaf or its mirror image.
        let direct = self.leaf_answer(position);
        direct.or_else(|| {
            let column = self.leaf_answer(&position.mirror())?;
            Column::from_index(usize::from(setup.cols()) - 1 - column.index())
        })
    }

    /// The move of the first leaf whose strategy leads to a position.
    fn leaf_answer(&self, position: &Position) -> Option<Column> {
        self.leaves.iter().filter(|leaf| is_before(&leaf.position, position)).find_map(|leaf| {
            let strategy = self.strategy(leaf);
            leads_to(&leaf.position, &strategy, position).then(|| strategy.answer(position))?
        })
    }

    fn strategy(&self, leaf: &Leaf) -> Strategy {
        let (diagram, overrides) = (&self.diagrams[leaf.diagram], &leaf.overrides);
        Strategy { diagram: diagram.clone(), overrides: overrides.clone() }
    }
}

/// The embedded proof of a setup: that the first player wins on 7x6, and the second on 6x6.
///
/// ```
/// use claimeven_coach::embedded_proof;
/// use claimeven_game::{Position, Setup};
///
/// let proof = embedded_proof(Setup::STANDARD).unwrap();
/// assert_eq!(proof.claim().to_string(), "7x6, connect 4, standard, X wins");
/// assert_eq!(proof.answer(&Position::new(Setup::STANDARD)).unwrap().number(), 4);
/// ```
pub fn embedded_proof(setup: Setup) -> Option<Arc<ProofTree>> {
    static PROOFS: LazyLock<[Arc<ProofTree>; 2]> = LazyLock::new(|| {
        let files: [&[u8]; 2] =
            [include_bytes!("../proofs/7x6.proof"), include_bytes!("../proofs/6x6.proof")];
        files.map(|bytes| {
            let proof = ProofTree::from_bytes(bytes);
            Arc::new(proof.expect("the embedded proofs are valid"))
        })
    });
    PROOFS.iter().find(|proof| proof.claim.setup == setup).cloned()
}

/// The first move of a forced win of the side to move.
fn forced_win(position: &Position) -> Option<Column> {
    with_board!(position, board => match tactics(board) {
        Tactics::Wins(cell) => Some(column_of(board.rules(), cell)),
        // The block may be part of it.
        Tactics::Forced(cell) if wins_by_force(board) => Some(column_of(board.rules(), cell)),
        _ => None,
    })
}

/// Whether the side to move wins by force.
fn wins(position: &Position) -> bool {
    with_board!(position, board => matches!(tactics(board), Tactics::Wins(_)))
}

/// Whether all discs of an earlier position are in a later one.
fn is_before(earlier: &Position, later: &Position) -> bool {
    Cell::in_reading_order(earlier.setup())
        .all(|cell| earlier.disc(cell).is_none_or(|player| later.disc(cell) == Some(player)))
}

/// Whether a strategy leads from a leaf to a position, for some replies.
fn leads_to(leaf: &Position, strategy: &Strategy, position: &Position) -> bool {
    let mut stack = vec![*leaf];
    let mut seen = HashSet::new();
    while let Some(before) = stack.pop() {
        for reply in before.legal() {
            let mut after = before;
            after.play(reply).expect("the move is legal");
            if after == *position {
                return true;
            }
            if !is_before(&after, position) {
                continue;
            }
            let Some(answer) = strategy.answer(&after) else { continue };
            after.play(answer).expect("the move is legal");
            if is_before(&after, position) && seen.insert(after.key()) {
                stack.push(after);
            }
        }
    }
    false
}

/// Reads the header; returns the claim and the bits.
pub(crate) fn parse_header(bytes: &[u8]) -> Result<(Claim, &[u8]), ProofError> {
    let end = bytes.iter().take(200).position(|&byte| byte == b'\n').ok_or(ProofError::Header)?;
    let header = std::str::from_utf8(&bytes[..end]).map_err(|_| ProofError::Header)?;
    let text = header.strip_prefix(MAGIC).ok_or(ProofError::Header)?;
    let (setup, claim) = text.rsplit_once(", ").ok_or(ProofError::Header)?;
    let setup: Setup = setup.parse().map_err(|_| ProofError::Header)?;
    let (owner, goal) = match claim {
        "X wins" => (Player::First, Goal::Win),
        "O wins" => (Player::Second, Goal::Win),
        "X does not lose" => (Player::First, Goal::Draw),
        "O does not lose" => (Player::Second, Goal::Draw),
        _ => return Err(ProofError::Header),
    };
    Ok((Claim { setup, owner, goal }, &bytes[end + 1..]))
}

/// The number of bits that distinguish this many values.
fn bits_for(count: usize) -> u32 {
    usize::BITS - count.saturating_sub(1).leading_zeros()
}

struct TreeReader<'a> {
    reader: BitReader<'a>,
    seen: HashSet<u128>,
    proof: &'a mut ProofTree,
}

impl TreeReader<'_> {
    fn position(&mut self, position: Position) -> Result<(), ProofError> {
        let mut position = canonical(&position);
        if position.outcome().is_some() || !self.seen.insert(position.key()) {
            return Ok(());
        }
        let claim = self.proof.claim;
        if position.player() == claim.owner {
            if forced_win(&position).is_some() {
                return Ok(());
            }
            let index = self.reader.bits(bits_for(claim.setup.cols().into()))?;
            let column = Column::from_index(index as usize).ok_or(ProofError::Move)?;
            self.proof.moves.insert(position.key(), column);
            position.play(column).map_err(|_| ProofError::Move)?;
            return self.position(position);
        }
        if self.reader.bits(1)? == 0 {
            for reply in position.legal() {
                let mut after = position;
                after.play(reply).expect("the move is legal");
                self.position(after)?;
            }
            return Ok(());
        }
        let diagram = self.diagram(&position)?;
        let overrides = self.overrides(&position, diagram)?;
        self.proof.leaves.push(Leaf { position, diagram, overrides });
        Ok(())
    }

    /// Reads the overrides of a leaf.
    fn overrides(
        &mut self,
        leaf: &Position,
        diagram: usize,
    ) -> Result<Vec<(u128, Column)>, ProofError> {
        let column_bits = bits_for(leaf.setup().cols().into());
        let column = |reader: &mut BitReader| {
            Column::from_index(reader.bits(column_bits)? as usize).ok_or(ProofError::Move)
        };
        let diagram = self.proof.diagrams[diagram].clone();
        let mut strategy = Strategy { diagram, overrides: Vec::new() };
        for _ in 0..self.reader.bits(4)? {
            let mut position = *leaf;
            for nth in 0..self.reader.bits(4)? {
                if nth > 0 {
                    let answer = strategy.answer(&position).ok_or(ProofError::Move)?;
                    position.play(answer).map_err(|_| ProofError::Move)?;
                }
                let reply = column(&mut self.reader)?;
                position.play(reply).map_err(|_| ProofError::Move)?;
            }
            strategy.overrides.push((position.key(), column(&mut self.reader)?));
        }
        Ok(strategy.overrides)
    }

    /// Reads a diagram; returns its number.
    fn diagram(&mut self, leaf: &Position) -> Result<usize, ProofError> {
        let known = self.proof.diagrams.len();
        if self.reader.bits(1)? == 1 {
            let nth = self.reader.bits(bits_for(known))? as usize;
            return if nth < known { Ok(nth) } else { Err(ProofError::Diagram) };
        }
        let setup = leaf.setup();
        let empty: Vec<u8> = empty_cells(leaf).map(|cell| cell.index(setup) as u8).collect();
        let width = self.reader.bits(3)?;
        let mut diagram = Diagram::empty(setup);
        for &cell in &empty {
            diagram.numbers[usize::from(cell)] = self.reader.bits(width)? as u8;
        }
        for _ in 0..self.reader.bits(4)? {
            let mut cell = || {
                let nth = self.reader.bits(bits_for(empty.len()))? as usize;
                empty.get(nth).copied().ok_or(ProofError::Diagram)
            };
            let (cell, disc) = (cell()?, cell()?);
            let is_own = self.reader.bits(1)? == 1;
            let number = self.reader.bits(width)? as u8;
            diagram.exceptions.push(Exception { cell, disc, is_own, number });
        }
        self.proof.diagrams.push(diagram);
        Ok(known)
    }
}

/// All cells, column by column from the bottom up.
fn all_cells(setup: Setup) -> impl Iterator<Item = Cell> {
    Column::all(setup)
        .flat_map(move |column| (0..setup.rows()).map(move |row| Cell { column, row }))
}

/// The empty cells in that order.
fn empty_cells(position: &Position) -> impl Iterator<Item = Cell> {
    all_cells(position.setup()).filter(|&cell| position.disc(cell).is_none())
}

struct BitReader<'a> {
    bytes: &'a [u8],
    next: usize,
}

impl BitReader<'_> {
    fn bits(&mut self, count: u32) -> Result<u32, ProofError> {
        let mut value = 0;
        for _ in 0..count {
            let byte = self.bytes.get(self.next / 8).ok_or(ProofError::Truncated)?;
            value = value << 1 | u32::from(byte >> (7 - self.next % 8) & 1);
            self.next += 1;
        }
        Ok(value)
    }
}

/// Writes a proof depth-first; `choose` returns the owner's move and `entry` the entry of a
/// position.
pub(crate) fn write_proof(
    claim: Claim,
    mut choose: impl FnMut(&Position) -> Column,
    mut entry: impl FnMut(&Position) -> Entry,
) -> Vec<u8> {
    let mut writer = BitWriter { bytes: format!("{MAGIC}{claim}\n").into_bytes(), free: 0 };
    let mut seen = HashSet::new();
    let mut diagrams: Vec<Diagram> = Vec::new();
    // The numbers of the diagrams, the most recently used one first.
    let mut recent: Vec<usize> = Vec::new();
    let start = Position::new(claim.setup);
    // The same order as that of the reader, with an explicit stack.
    let mut stack = vec![start];
    while let Some(position) = stack.pop() {
        let mut position = canonical(&position);
        if position.outcome().is_some() || !seen.insert(position.key()) {
            continue;
        }
        if position.player() == claim.owner {
            if forced_win(&position).is_some() {
                continue;
            }
            let column = choose(&position);
            writer.bits(column.index() as u32, bits_for(claim.setup.cols().into()));
            position.play(column).expect("the proof plays legal moves");
            stack.push(position);
            continue;
        }
        match entry(&position) {
            Entry::Node => {
                writer.bits(0, 1);
                let replies: Vec<Column> = position.legal().collect();
                for reply in replies.into_iter().rev() {
                    let mut after = position;
                    after.play(reply).expect("the move is legal");
                    stack.push(after);
                }
            }
            Entry::Leaf(Strategy { diagram, overrides }) => {
                writer.bits(1, 1);
                let target = claim.goal.target();
                // An earlier diagram may close the position without overrides.
                let fit = |&nth: &usize| {
                    let without = strategy_holds(&position, &diagrams[nth], &[], target);
                    without.then_some(nth)
                };
                if let Some(nth) = recent.iter().find_map(fit) {
                    recent.retain(|&other| other != nth);
                    recent.insert(0, nth);
                    writer.bits(1, 1);
                    writer.bits(nth as u32, bits_for(diagrams.len()));
                    writer.bits(0, 4);
                    continue;
                }
                writer.bits(0, 1);
                recent.insert(0, diagrams.len());
                diagrams.push(writer.diagram(&position, &diagram));
                writer.overrides(&position, &Strategy { diagram, overrides });
            }
        }
    }
    writer.bytes
}

struct BitWriter {
    bytes: Vec<u8>,
    /// The unused bits of the last byte.
    free: u32,
}

impl BitWriter {
    /// Writes a diagram of a leaf; returns it as it will be read.
    fn diagram(&mut self, leaf: &Position, diagram: &Diagram) -> Diagram {
        let setup = leaf.setup();
        let diagram = diagram.simplified_at(leaf);
        let mut written = Diagram::empty(setup);
        let empty: Vec<u8> = empty_cells(leaf).map(|cell| cell.index(setup) as u8).collect();
        let index_of = |cell: u8| empty.iter().position(|&other| other == cell);
        let exceptions: Vec<(usize, usize, Exception)> = diagram
            .exceptions
            .iter()
            .filter_map(|&exception| {
                Some((index_of(exception.cell)?, index_of(exception.disc)?, exception))
            })
            .collect();
        let numbers = empty.iter().map(|&cell| diagram.numbers[usize::from(cell)]);
        let highest =
            numbers.chain(exceptions.iter().map(|(.., exception)| exception.number)).max();
        let width = u8::BITS - highest.unwrap_or(0).leading_zeros();
        self.bits(width, 3);
        for &cell in &empty {
            let number = diagram.numbers[usize::from(cell)];
            self.bits(number.into(), width);
            written.numbers[usize::from(cell)] = number;
        }
        self.bits(exceptions.len() as u32, 4);
        let cell_bits = bits_for(empty.len());
        for (cell, disc, exception) in exceptions {
            self.bits(cell as u32, cell_bits);
            self.bits(disc as u32, cell_bits);
            self.bits(exception.is_own.into(), 1);
            self.bits(exception.number.into(), width);
            written.exceptions.push(exception);
        }
        written
    }

    /// Writes the overrides of a leaf, with the replies that lead to them.
    fn overrides(&mut self, leaf: &Position, strategy: &Strategy) {
        let mut found: Vec<(Vec<Column>, Column)> = Vec::new();
        let mut seen = HashSet::new();
        // Breadth first, so that an override comes before those that it leads to.
        let mut waiting = VecDeque::from([(*leaf, Vec::new())]);
        while let Some((before, replies)) = waiting.pop_front() {
            for reply in before.legal() {
                let mut after = before;
                after.play(reply).expect("the move is legal");
                if after.outcome().is_some() || !seen.insert(after.key()) || wins(&after) {
                    continue;
                }
                let replies = [&replies[..], &[reply]].concat();
                let key = after.key();
                if let Some(&(_, column)) = strategy.overrides.iter().find(|(k, _)| *k == key) {
                    found.push((replies.clone(), column));
                    if found.len() == strategy.overrides.len() {
                        waiting.clear();
                        break;
                    }
                }
                let answer = strategy.answer(&after).expect("the game is not over");
                after.play(answer).expect("the move is legal");
                if after.outcome().is_none() {
                    waiting.push_back((after, replies));
                }
            }
            if found.len() == strategy.overrides.len() {
                break;
            }
        }
        let column_bits = bits_for(leaf.setup().cols().into());
        self.bits(found.len() as u32, 4);
        for (replies, column) in found {
            self.bits(replies.len() as u32, 4);
            for column in replies.into_iter().chain([column]) {
                self.bits(column.index() as u32, column_bits);
            }
        }
    }

    fn bits(&mut self, value: u32, count: u32) {
        for bit in (0..count).rev() {
            if self.free == 0 {
                self.bytes.push(0);
                self.free = 8;
            }
            self.free -= 1;
            *self.bytes.last_mut().expect("a byte was pushed") |=
                ((value >> bit & 1) << self.free) as u8;
        }
    }
}

/// Why a file is not a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProofError {
    /// The first line is not a proof header.
    Header,
    /// The file is truncated.
    Truncated,
    /// A move is illegal.
    Move,
    /// A diagram is invalid.
    Diagram,
}

impl fmt::Display for ProofError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ProofError::Header => "not a Claimeven proof file (invalid first line)",
            ProofError::Truncated => "the proof ends too early",
            ProofError::Move => "the proof plays an illegal move",
            ProofError::Diagram => "the proof has an invalid diagram",
        })
    }
}

impl std::error::Error for ProofError {}
