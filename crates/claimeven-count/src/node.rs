//! Nodes of binary decision diagrams, and stored diagrams.

/// A node in eight bytes: the variable it tests, by its level in the variable order, and its low
/// and high children, for false (the second player's disc) and true (the first player's).
///
/// ```text
/// level (8 bits) | high (28 bits) | low (28 bits)
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node(u64);

/// The level of a leaf, below all variables.
pub(crate) const LEAF: u8 = u8::MAX;

/// The number of nodes that a link can address.
pub(crate) const MAX_NODES: usize = 1 << LINK_BITS;

const LINK_BITS: u32 = 28;
const LINK: u64 = (1 << LINK_BITS) - 1;

impl Node {
    pub(crate) const fn new(level: u8, low: u32, high: u32) -> Node {
        debug_assert!(low as u64 <= LINK && high as u64 <= LINK);
        Node((level as u64) << (2 * LINK_BITS) | (high as u64) << LINK_BITS | low as u64)
    }

    pub(crate) const fn leaf() -> Node {
        Node::new(LEAF, 0, 0)
    }

    pub(crate) const fn level(self) -> u8 {
        (self.0 >> (2 * LINK_BITS)) as u8
    }

    pub(crate) const fn low(self) -> u32 {
        (self.0 & LINK) as u32
    }

    pub(crate) const fn high(self) -> u32 {
        (self.0 >> LINK_BITS & LINK) as u32
    }

    pub(crate) const fn to_bits(self) -> u64 {
        self.0
    }

    pub(crate) const fn from_bits(bits: u64) -> Node {
        Node(bits)
    }
}

/// A stored set: the nodes of its diagram with children before parents, the root last. Link 0 is
/// the empty set, 1 the full one, and 2 the first node. The full set has no nodes; the empty set is
/// never stored.
#[derive(Clone, Copy)]
pub(crate) struct Stored<'a>(pub(crate) &'a [Node]);

impl Stored<'_> {
    pub(crate) const FALSE: u32 = 0;
    pub(crate) const TRUE: u32 = 1;
    pub(crate) const FIRST: u32 = 2;

    pub(crate) fn root(self) -> u32 {
        self.0.len() as u32 + 1
    }

    #[inline]
    pub(crate) fn node(self, link: u32) -> Node {
        if link < Self::FIRST { Node::leaf() } else { self.0[(link - Self::FIRST) as usize] }
    }

    /// Whether all children precede their parents and have higher levels.
    pub(crate) fn is_well_formed(self, levels: u8) -> bool {
        self.0.iter().zip(Self::FIRST..).all(|(&node, link)| {
            let below = |child| child < link && self.node(child).level() > node.level();
            node.level() < levels && below(node.low()) && below(node.high())
        })
    }
}
