//! Reduced ordered binary decision diagrams (Bryant, 1986) of one profile at a time.
//!
//! The tables are small enough for a core's cache and are cleared for every profile. So there is no
//! garbage to collect and nothing for threads to share; results are [stored](Stored) elsewhere.

use claimeven_game::mix_key;

use crate::budget::{Budget, OutOfMemory};
use crate::node::{LEAF, MAX_NODES, Node, Stored};
use crate::profile::Ranks;

/// A diagram in a workspace. Those below [`LEAVES`] are leaves, with their own number as their
/// value; sets have only the leaves 0 and 1.
pub(crate) type Id = u32;

pub(crate) const FALSE: Id = 0;
pub(crate) const TRUE: Id = 1;
const LEAVES: usize = 64;

/// The result of counting a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// The colourings of the set for which the function is not 0.
    pub(crate) colourings: u64,
    /// The sum of the function over the set.
    pub(crate) sum: u64,
}

pub(crate) struct Workspace<'b> {
    budget: &'b Budget,
    /// An allocation exceeded the budget. All results since then are meaningless.
    exhausted: bool,
    nodes: Vec<Node>,
    /// The unique table: a hash table of all nodes, open addressing.
    unique: Vec<Id>,
    /// The binary logarithm of the part of `unique` that is in use.
    bits: u32,
    /// The computed table: results of operations, direct-mapped and lossy.
    computed: Vec<Computed>,
    /// Marks the entries of `computed` that belong to the current profile.
    tag: u32,
    next_tag: u32,
    counted: Vec<Counted>,
    /// Where each node goes when a diagram is stored.
    places: Vec<u32>,
}

#[derive(Clone, Copy, Default)]
struct Computed {
    operands: u64,
    tag: u32,
    result: Id,
}

#[derive(Clone, Copy, Default)]
struct Counted {
    /// 0 if the entry is empty: leaves are not inserted.
    operands: u64,
    tally: Tally,
}

/// A commutative binary operation; `leaf` gives the result where no recursion is needed.
trait Operation {
    const TAG: u32;
    fn leaf(a: Id, b: Id) -> Option<Id>;
}

struct And;
struct Or;
struct Add;

/// The tags of the operations above and of `support`, relative to the tag of the profile.
const SUPPORT_TAG: u32 = 3;
const TAGS: u32 = 4;

impl Operation for And {
    const TAG: u32 = 0;
    fn leaf(a: Id, b: Id) -> Option<Id> {
        match (a, b) {
            (FALSE, _) | (_, FALSE) => Some(FALSE),
            (TRUE, other) | (other, TRUE) => Some(other),
            _ => (a == b).then_some(a),
        }
    }
}

impl Operation for Or {
    const TAG: u32 = 1;
    fn leaf(a: Id, b: Id) -> Option<Id> {
        match (a, b) {
            (TRUE, _) | (_, TRUE) => Some(TRUE),
            (FALSE, other) | (other, FALSE) => Some(other),
            _ => (a == b).then_some(a),
        }
    }
}

impl Operation for Add {
    const TAG: u32 = 2;
    fn leaf(a: Id, b: Id) -> Option<Id> {
        match (a, b) {
            (0, other) | (other, 0) => Some(other),
            _ => ((a as usize) < LEAVES && (b as usize) < LEAVES).then_some(a + b),
        }
    }
}

impl<'b> Workspace<'b> {
    pub(crate) fn new(budget: &'b Budget) -> Workspace<'b> {
        Workspace {
            budget,
            exhausted: false,
            nodes: vec![Node::leaf(); LEAVES],
            unique: Vec::new(),
            bits: 0,
            computed: Vec::new(),
            tag: 0,
            next_tag: 1,
            counted: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Removes all diagrams and makes room for about as many nodes as are expected.
    pub(crate) fn clear(&mut self, expected_nodes: usize) -> Result<(), OutOfMemory> {
        self.nodes.truncate(LEAVES);
        self.retire_tags();
        self.bits = (2 * expected_nodes).max(1 << 10).next_power_of_two().ilog2();
        self.size_tables();
        self.check()?;
        self.unique[..1 << self.bits].fill(0);
        Ok(())
    }

    /// Whether all results since the last `clear` are valid.
    pub(crate) fn check(&self) -> Result<(), OutOfMemory> {
        if self.exhausted { Err(OutOfMemory) } else { Ok(()) }
    }

    /// The diagram that tests this variable first.
    #[inline]
    pub(crate) fn node(&mut self, level: u8, low: Id, high: Id) -> Id {
        if low == high {
            return low;
        }
        let node = Node::new(level, low, high);
        let mut slot = slot(node.to_bits(), self.bits);
        loop {
            match self.unique[slot] {
                0 => return self.insert(slot, node),
                id if self.nodes[id as usize] == node => return id,
                _ => slot = (slot + 1) & ((1 << self.bits) - 1),
            }
        }
    }

    pub(crate) fn and(&mut self, a: Id, b: Id) -> Id {
        self.apply::<And>(a, b)
    }

    pub(crate) fn or(&mut self, a: Id, b: Id) -> Id {
        self.apply::<Or>(a, b)
    }

    /// The sum of two functions.
    pub(crate) fn add(&mut self, a: Id, b: Id) -> Id {
        self.apply::<Add>(a, b)
    }

    /// The set on which a function is not 0.
    pub(crate) fn support(&mut self, function: Id) -> Id {
        if (function as usize) < LEAVES {
            return function.min(TRUE);
        }
        let (operands, tag) = (pair(function, 0), self.tag + SUPPORT_TAG);
        if let Some(result) = self.look_up(operands, tag) {
            return result;
        }
        let node = self.nodes[function as usize];
        let low = self.support(node.low());
        let high = self.support(node.high());
        let result = self.node(node.level(), low, high);
        self.cache(operands, tag, result)
    }

    /// The intersection of a stored set with one of the workspace.
    pub(crate) fn and_stored(&mut self, stored: Stored, set: Id) -> Id {
        // Links are valid within one stored set only.
        let tag = self.next_tag;
        self.next_tag += 1;
        self.intersect(stored, stored.root(), set, tag)
    }

    /// Counts a stored set, weighted by a function. Numbers wrap around at 2^64.
    pub(crate) fn count(&mut self, stored: Stored, function: Id, ranks: &Ranks) -> Tally {
        // A walk meets several pairs for each node of the set.
        let mut bits = (8 * stored.0.len()).max(1 << 10).next_power_of_two().ilog2();
        self.reserve_counted(bits);
        if self.exhausted {
            return Tally::default();
        }
        self.counted[..1 << bits].fill(Counted::default());
        let mut walk = Walk { workspace: self, stored, ranks, bits: &mut bits, len: 0 };
        let root = stored.root();
        let tally = walk.tally(root, function);
        let free = ranks[usize::from(walk.level(root, function))];
        tally.doubled(free)
    }

    /// Appends the nodes of a set in the order of [`Stored`]. The set must not be empty.
    pub(crate) fn store(&mut self, set: Id, out: &mut Vec<Node>) {
        debug_assert_ne!(set, FALSE);
        self.places.clear();
        if self.places.capacity() < self.nodes.len() {
            let capacity = self.nodes.len().next_power_of_two();
            let more = capacity - self.places.capacity();
            if !self.reserve(more * size_of::<u32>()) {
                return;
            }
            self.places.reserve_exact(capacity);
        }
        self.places.resize(self.nodes.len(), 0);
        let first = out.len();
        self.place(set, first, out);
    }

    fn place(&mut self, id: Id, first: usize, out: &mut Vec<Node>) -> u32 {
        if id <= TRUE {
            return id;
        }
        if self.places[id as usize] == 0 {
            let node = self.nodes[id as usize];
            let low = self.place(node.low(), first, out);
            let high = self.place(node.high(), first, out);
            self.places[id as usize] = Stored::FIRST + (out.len() - first) as u32;
            out.push(Node::new(node.level(), low, high));
        }
        self.places[id as usize]
    }

    fn apply<O: Operation>(&mut self, a: Id, b: Id) -> Id {
        if let Some(result) = O::leaf(a, b) {
            return result;
        }
        let (operands, tag) = (pair(a.min(b), a.max(b)), self.tag + O::TAG);
        if let Some(result) = self.look_up(operands, tag) {
            return result;
        }
        let (node_a, node_b) = (self.nodes[a as usize], self.nodes[b as usize]);
        let level = node_a.level().min(node_b.level());
        let (a_low, a_high) = cofactors(node_a, a, level);
        let (b_low, b_high) = cofactors(node_b, b, level);
        let low = self.apply::<O>(a_low, b_low);
        let high = self.apply::<O>(a_high, b_high);
        let result = self.node(level, low, high);
        self.cache(operands, tag, result)
    }

    fn intersect(&mut self, stored: Stored, link: u32, set: Id, tag: u32) -> Id {
        if link == Stored::FALSE || set == FALSE {
            return FALSE;
        }
        if link == Stored::TRUE {
            return set;
        }
        let operands = pair(link, set);
        if let Some(result) = self.look_up(operands, tag) {
            return result;
        }
        let (node_a, node_b) = (stored.node(link), self.nodes[set as usize]);
        let level = node_a.level().min(node_b.level());
        let (a_low, a_high) = cofactors(node_a, link, level);
        let (b_low, b_high) = cofactors(node_b, set, level);
        let low = self.intersect(stored, a_low, b_low, tag);
        let high = self.intersect(stored, a_high, b_high, tag);
        let result = self.node(level, low, high);
        self.cache(operands, tag, result)
    }

    #[inline]
    fn look_up(&self, operands: u64, tag: u32) -> Option<Id> {
        if self.exhausted {
            return Some(FALSE);
        }
        let entry = self.computed[slot(operands ^ u64::from(tag) << 59, self.bits)];
        (entry.operands == operands && entry.tag == tag).then_some(entry.result)
    }

    #[inline]
    fn cache(&mut self, operands: u64, tag: u32, result: Id) -> Id {
        if !self.exhausted {
            let slot = slot(operands ^ u64::from(tag) << 59, self.bits);
            self.computed[slot] = Computed { operands, tag, result };
        }
        result
    }

    /// Invalidates all results in the computed table.
    fn retire_tags(&mut self) {
        const MAX_TAGS_PER_PROFILE: u32 = 1 << 10;
        if self.next_tag > u32::MAX - MAX_TAGS_PER_PROFILE {
            self.computed.fill(Computed::default());
            self.next_tag = 1;
        }
        self.tag = self.next_tag;
        self.next_tag += TAGS;
    }

    fn insert(&mut self, slot: usize, node: Node) -> Id {
        let id = self.nodes.len();
        if id == self.nodes.capacity() {
            if id >= MAX_NODES || !self.reserve(id * size_of::<Node>()) {
                self.exhausted = true;
                return FALSE;
            }
            self.nodes.reserve_exact(id);
        }
        self.nodes.push(node);
        self.unique[slot] = id as Id;
        if 2 * self.nodes.len() > 1 << self.bits {
            self.rehash();
        }
        id as Id
    }

    #[cold]
    fn rehash(&mut self) {
        self.bits += 1;
        self.size_tables();
        if self.exhausted {
            self.bits -= 1;
            return;
        }
        self.unique[..1 << self.bits].fill(0);
        for (id, node) in self.nodes.iter().enumerate().skip(LEAVES) {
            let mut slot = slot(node.to_bits(), self.bits);
            while self.unique[slot] != 0 {
                slot = (slot + 1) & ((1 << self.bits) - 1);
            }
            self.unique[slot] = id as Id;
        }
    }

    /// Grows the unique and the computed table to `bits`.
    fn size_tables(&mut self) {
        let more = (1_usize << self.bits).saturating_sub(self.unique.len());
        if more > 0 && self.reserve(more * (size_of::<Id>() + size_of::<Computed>())) {
            // The old ones are freed before the new ones are allocated.
            (self.unique, self.computed) = (Vec::new(), Vec::new());
            self.unique = vec![0; 1 << self.bits];
            self.computed = vec![Computed::default(); 1 << self.bits];
        }
    }

    fn reserve_counted(&mut self, bits: u32) {
        let more = (1_usize << bits).saturating_sub(self.counted.len());
        if more > 0 && self.reserve(more * size_of::<Counted>()) {
            self.counted.reserve_exact(more);
            self.counted.resize(1 << bits, Counted::default());
        }
    }

    fn reserve(&mut self, bytes: usize) -> bool {
        self.exhausted |= self.budget.reserve(bytes).is_err();
        !self.exhausted
    }
}

/// A count in progress: walks a stored set and a function at once.
struct Walk<'w, 'b, 's> {
    workspace: &'w mut Workspace<'b>,
    stored: Stored<'s>,
    ranks: &'s Ranks,
    bits: &'w mut u32,
    len: usize,
}

impl Walk<'_, '_, '_> {
    /// The tally over the variables from the first one that either diagram tests.
    fn tally(&mut self, link: u32, function: Id) -> Tally {
        if link == Stored::FALSE || function == FALSE || self.workspace.exhausted {
            return Tally::default();
        }
        if link == Stored::TRUE && (function as usize) < LEAVES {
            return Tally { colourings: 1, sum: function.into() };
        }
        let operands = pair(link, function);
        let mut at = slot(operands, *self.bits);
        loop {
            let entry = &self.workspace.counted[at];
            if entry.operands == operands {
                return entry.tally;
            }
            if entry.operands == 0 {
                break;
            }
            at = (at + 1) & ((1 << *self.bits) - 1);
        }
        let (node_a, node_b) = (self.stored.node(link), self.workspace.nodes[function as usize]);
        let level = node_a.level().min(node_b.level());
        let (a_low, a_high) = cofactors(node_a, link, level);
        let (b_low, b_high) = cofactors(node_b, function, level);
        let low = self.tally(a_low, b_low);
        let high = self.tally(a_high, b_high);
        let rank = self.ranks[usize::from(level)] + 1;
        let low_free = self.ranks[usize::from(self.level(a_low, b_low))] - rank;
        let high_free = self.ranks[usize::from(self.level(a_high, b_high))] - rank;
        let tally = low.doubled(low_free).plus(high.doubled(high_free));
        self.insert(Counted { operands, tally });
        tally
    }

    fn level(&self, link: u32, function: Id) -> u8 {
        self.stored.node(link).level().min(self.workspace.nodes[function as usize].level())
    }

    fn insert(&mut self, entry: Counted) {
        self.len += 1;
        if 2 * self.len > 1 << *self.bits {
            self.grow();
            if self.workspace.exhausted {
                return;
            }
        }
        insert_counted(&mut self.workspace.counted[..1 << *self.bits], *self.bits, entry);
    }

    #[cold]
    fn grow(&mut self) {
        let workspace = &mut *self.workspace;
        workspace.reserve_counted(*self.bits + 1);
        let copied = self.len * size_of::<Counted>();
        if !workspace.reserve(copied) {
            return;
        }
        let entries: Vec<Counted> = workspace.counted[..1 << *self.bits]
            .iter()
            .filter(|entry| entry.operands != 0)
            .copied()
            .collect();
        *self.bits += 1;
        let table = &mut workspace.counted[..1 << *self.bits];
        table.fill(Counted::default());
        for entry in entries {
            insert_counted(table, *self.bits, entry);
        }
        workspace.budget.release(copied);
    }
}

fn insert_counted(table: &mut [Counted], bits: u32, entry: Counted) {
    let mut at = slot(entry.operands, bits);
    while table[at].operands != 0 {
        at = (at + 1) & (table.len() - 1);
    }
    table[at] = entry;
}

impl Tally {
    /// The tally with this many more variables that neither diagram tests.
    #[inline]
    fn doubled(self, times: u8) -> Tally {
        let times = u32::from(times);
        Tally {
            colourings: self.colourings.checked_shl(times).unwrap_or(0),
            sum: self.sum.checked_shl(times).unwrap_or(0),
        }
    }

    #[inline]
    fn plus(self, other: Tally) -> Tally {
        Tally {
            colourings: self.colourings.wrapping_add(other.colourings),
            sum: self.sum.wrapping_add(other.sum),
        }
    }
}

/// The two cofactors of a diagram at a level, which may be above its own.
#[inline]
fn cofactors(node: Node, itself: u32, level: u8) -> (u32, u32) {
    debug_assert_ne!(level, LEAF);
    if node.level() == level { (node.low(), node.high()) } else { (itself, itself) }
}

#[inline]
fn pair(a: u32, b: u32) -> u64 {
    u64::from(a) << 32 | u64::from(b)
}

/// The place of a key in a table of 2^bits entries.
#[inline]
fn slot(key: u64, bits: u32) -> usize {
    (mix_key(key ^ key >> 29) >> (u64::BITS - bits)) as usize
}
