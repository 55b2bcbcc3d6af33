//! The recorded search tree.

use claimeven_game::{Column, Position};

use crate::agent::{BoundKind, Value};
use crate::depth_search::Scale;

/// A recorded search tree, with its nodes in search order.
///
/// All values are those of the player to move at the root, who maximises; the opponent minimises.
/// The plies of proven wins and losses are counted from the root. In depth-limited searches they
/// are those of perfect play; a Monte Carlo search stops at its first proof, and a faster win may
/// exist.
///
/// ```
/// use claimeven_game::{Position, Setup};
/// use claimeven_search::{Agent, AlphaBeta, Limits};
///
/// let position = Position::new(Setup::STANDARD);
/// let (decision, tree) =
///     AlphaBeta::default().decide_with_tree(&position, &Limits::default(), 2)?;
/// let small = tree.cut_to(20, &decision.pv);
/// assert!(small.nodes.len() <= 20 && small.hidden() > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// The position at the root.
    pub position: Position,
    /// The nodes; parents come before their children, and the root comes first.
    pub nodes: Vec<TreeNode>,
    /// The playouts in order, one per simulation, if the search consists of simulations.
    pub playouts: Vec<Playout>,
}

/// A playout: the node it started from, and its result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Playout {
    /// The node it started from, or the nearest ancestor that was not cut from the tree.
    pub node: usize,
    /// The result for the player to move at the root: 1 for a win, 0.5 for a draw, 0 for a loss.
    pub result: f64,
}

/// A node of a recorded search tree.
///
/// ```
/// use claimeven_game::{Position, Setup};
/// use claimeven_search::{Agent, Limits, Minimax};
///
/// let position = Position::new(Setup::STANDARD);
/// let (_, tree) = Minimax::default().decide_with_tree(&position, &Limits::default(), 1)?;
/// let root = &tree.nodes[0];
/// for &child in &root.children {
///     let child = &tree.nodes[child];
///     println!("{:?} {:?}", child.column, child.content.value());
/// }
/// assert_eq!(root.children.len(), 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TreeNode {
    /// The parent; `None` for the root.
    pub parent: Option<usize>,
    /// The move that led to it; `None` for the root and for the passes of MTD(f) and iterative
    /// deepening.
    pub column: Option<Column>,
    /// The name of the pass, if the node is the root of a pass.
    pub pass: Option<String>,
    /// Plies from the root.
    pub level: u32,
    /// What the search found.
    pub content: NodeContent,
    /// The children in search order.
    pub children: Vec<usize>,
    /// The moves that a cutoff pruned.
    pub pruned: Vec<Column>,
    /// The number of nodes below it that are not in the tree.
    pub hidden: u64,
}

/// The result of the search at a node: a window and a value, or visits and a value.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeContent {
    /// A node of a depth-limited search.
    Window {
        /// The lower end of the search window; `None` for minus infinity.
        alpha: Option<Value>,
        /// The upper end of the search window; `None` for infinity.
        beta: Option<Value>,
        /// The value; `None` if a limit ended the search before.
        value: Option<Value>,
        /// Whether the value is exact or a bound.
        bound: BoundKind,
        /// Where the value comes from.
        source: ValueSource,
    },
    /// A node of a Monte Carlo tree search.
    Visits {
        /// The number of simulations through it.
        visits: u32,
        /// The mean result, or the proven one.
        value: Value,
    },
}

impl NodeContent {
    /// The value; `None` if a limit ended the search before.
    pub const fn value(&self) -> Option<Value> {
        match *self {
            NodeContent::Window { value, .. } => value,
            NodeContent::Visits { value, .. } => Some(value),
        }
    }

    /// A node with an open window and no value yet.
    pub(crate) const UNKNOWN: NodeContent = NodeContent::Window {
        alpha: None,
        beta: None,
        value: None,
        bound: BoundKind::Exact,
        source: ValueSource::Search,
    };
}

/// The source of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueSource {
    /// The children's values.
    Search,
    /// The heuristic at the horizon.
    Evaluation,
    /// The game is over.
    GameOver,
    /// The transposition table.
    Table,
}

impl ValueSource {
    /// The name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            ValueSource::Search => "search",
            ValueSource::Evaluation => "evaluation",
            ValueSource::GameOver => "game over",
            ValueSource::Table => "table",
        }
    }
}

impl TreeNode {
    /// A node at the root's level without a move or children.
    pub fn new(parent: Option<usize>, content: NodeContent) -> TreeNode {
        TreeNode {
            parent,
            column: None,
            pass: None,
            level: 0,
            content,
            children: Vec::new(),
            pruned: Vec::new(),
            hidden: 0,
        }
    }
}

impl Tree {
    /// Adds a node below its parent and returns its index.
    pub(crate) fn add(&mut self, node: TreeNode) -> usize {
        let index = self.nodes.len();
        if let Some(parent) = node.parent {
            self.nodes[parent].children.push(index);
        }
        self.nodes.push(node);
        index
    }

    /// The position at a node.
    pub fn position_at(&self, node: usize) -> Position {
        let mut columns = Vec::new();
        let mut next = Some(node);
        while let Some(index) = next {
            columns.extend(self.nodes[index].column);
            next = self.nodes[index].parent;
        }
        let mut position = self.position;
        for column in columns.into_iter().rev() {
            position.play(column).expect("the moves of a search are legal");
        }
        position
    }

    /// The tree reduced to at most `max_nodes` nodes, at least the root. Nodes of the principal
    /// variation are kept first, then those near the root or, in a Monte Carlo tree, those with
    /// the most visits. Removed nodes are counted as hidden at their nearest kept ancestor.
    #[must_use]
    pub fn cut_to(&self, max_nodes: usize, pv: &[Column]) -> Tree {
        let pv_nodes = self.nodes_on(pv);
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        // If a node is on the variation, so is its parent, which is also closer to the root, has at
        // least as many visits and comes earlier. So no node is kept without its parent.
        order.sort_by_cached_key(|&index| {
            let node = &self.nodes[index];
            let importance = match node.content {
                NodeContent::Window { .. } => node.level,
                NodeContent::Visits { visits, .. } => u32::MAX - visits,
            };
            (!pv_nodes.contains(&index), importance, index)
        });
        let mut stays = vec![false; self.nodes.len()];
        for &index in order.iter().take(max_nodes.max(1)) {
            stays[index] = true;
        }
        let mut tree = Tree { position: self.position, nodes: Vec::new(), playouts: Vec::new() };
        let mut new_index = vec![0; self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate() {
            let parent = node.parent.map(|parent| new_index[parent]);
            if stays[index] {
                new_index[index] =
                    tree.add(TreeNode { parent, children: Vec::new(), ..node.clone() });
            } else {
                let ancestor = parent.expect("the root stays");
                new_index[index] = ancestor;
                tree.nodes[ancestor].hidden += 1 + node.hidden;
            }
        }
        let moved = |playout: &Playout| Playout { node: new_index[playout.node], ..*playout };
        tree.playouts = self.playouts.iter().map(moved).collect();
        tree
    }

    /// The nodes along a variation. If there are several passes, those of the last pass that found
    /// the value of its first move.
    pub fn nodes_on(&self, pv: &[Column]) -> Vec<usize> {
        let mut nodes = vec![0];
        let mut node = 0;
        let passes = || self.nodes[0].children.iter().filter(|&&child| self.is_pass(child));
        let has_value = |pass: &&usize| {
            let first = pv.first().and_then(|&column| self.child(**pass, column));
            first.is_some_and(|first| self.nodes[first].content.value().is_some())
        };
        if let Some(&pass) = passes().rfind(has_value).or_else(|| passes().next_back()) {
            node = pass;
            nodes.push(pass);
        }
        for &column in pv {
            let Some(child) = self.child(node, column) else { break };
            nodes.push(child);
            node = child;
        }
        nodes
    }

    fn is_pass(&self, node: usize) -> bool {
        self.nodes[node].pass.is_some()
    }

    fn child(&self, node: usize, column: Column) -> Option<usize> {
        let mut children = self.nodes[node].children.iter().copied();
        children.find(|&child| self.nodes[child].column == Some(column))
    }

    /// The number of nodes that are not in the tree.
    pub fn hidden(&self) -> u64 {
        self.nodes.iter().map(|node| node.hidden).sum()
    }
}

/// Receives the nodes of a depth-limited search in search order.
///
/// Points are from the point of view of the side to move at the node. The trace `()` does nothing
/// and is compiled away.
pub(crate) trait Trace {
    /// A pass begins at the root.
    fn begin_pass(&mut self, _name: impl FnOnce(Scale) -> String) {}
    /// The search is finished; what follows is not part of its tree.
    fn end(&mut self) {}
    /// The next node is entered by this move.
    #[inline]
    fn step(&mut self, _column: Column) {}
    /// A node is entered with this window.
    #[inline]
    fn enter(&mut self, _alpha: i32, _beta: i32) {}
    /// The table has narrowed the window of the current node.
    #[inline]
    fn narrow(&mut self, _alpha: i32, _beta: i32) {}
    /// The remaining moves of the current node will not be searched.
    #[inline]
    fn prune(&mut self, _columns: impl FnOnce() -> Vec<Column>) {}
    /// The current node is left.
    #[inline]
    fn leave(&mut self, _points: i32, _bound: BoundKind, _source: ValueSource) {}
}

impl Trace for () {}
