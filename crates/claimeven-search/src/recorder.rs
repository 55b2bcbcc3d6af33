//! Records the tree of a depth-limited search.

use claimeven_game::{Column, Position};

use crate::agent::{BoundKind, Decision, Value};
use crate::depth_search::{INFINITY, Scale};
use crate::tree::{NodeContent, Trace, Tree, TreeNode, ValueSource};

/// Records the nodes of a search down to some level and counts those below.
pub(crate) struct Recorder {
    tree: Tree,
    scale: Scale,
    levels: u32,
    /// The nodes from the root to the current one; `None` below the last level.
    path: Vec<Option<usize>>,
    column: Option<Column>,
    pass: Option<String>,
    has_passes: bool,
    ended: bool,
}

impl Recorder {
    pub(crate) fn new(position: &Position, scale: Scale, levels: u32) -> Recorder {
        Recorder {
            tree: Tree { position: *position, nodes: Vec::new(), playouts: Vec::new() },
            scale,
            levels,
            path: Vec::new(),
            column: None,
            pass: None,
            has_passes: false,
            ended: false,
        }
    }

    /// The tree, once the search has ended with a decision.
    pub(crate) fn finish(mut self, decision: &Decision) -> Tree {
        // A search that was stopped at once has not entered its root.
        if self.tree.nodes.is_empty() {
            self.tree.add(TreeNode::new(None, NodeContent::UNKNOWN));
        }
        // The root represents all passes: together they found the value that each one bounds. A
        // stopped search has a value if it has finished a depth.
        if let (true, NodeContent::Window { value, .. }) =
            (self.has_passes && decision.stats.depth > 0, &mut self.tree.nodes[0].content)
        {
            *value = Some(decision.value);
        }
        self.tree
    }

    /// A window at a level from the point of view of the player at the root.
    fn window(&self, level: u32, alpha: i32, beta: i32) -> [Option<Value>; 2] {
        let mut window = [alpha, beta].map(|points| signed(level, points));
        window.sort_unstable();
        window.map(|points| (points.abs() < INFINITY).then(|| self.scale.value(points)))
    }

    /// The current level. The path has an extra node if the root represents several passes.
    fn level(&self) -> u32 {
        (self.path.len() as u32).saturating_sub(u32::from(self.has_passes))
    }

    fn push(&mut self, level: u32, content: NodeContent) {
        let parent = self.path.iter().rev().copied().flatten().next();
        if level > self.levels {
            let parent = parent.expect("the root is recorded");
            self.tree.nodes[parent].hidden += 1;
            self.path.push(None);
            return;
        }
        let (column, pass) = (self.column.take(), self.pass.take());
        let index =
            self.tree.add(TreeNode { column, pass, level, ..TreeNode::new(parent, content) });
        self.path.push(Some(index));
    }
}

/// Points of the side to move from the point of view of the player at the root.
fn signed(level: u32, points: i32) -> i32 {
    if level.is_multiple_of(2) { points } else { -points }
}

impl Trace for Recorder {
    fn begin_pass(&mut self, name: impl FnOnce(Scale) -> String) {
        if !self.has_passes {
            self.has_passes = true;
            self.enter(-INFINITY, INFINITY);
        }
        // A pass that a limit ended leaves its path behind.
        self.path.truncate(1);
        self.column = None;
        self.pass = Some(name(self.scale));
    }

    fn end(&mut self) {
        self.ended = true;
    }

    fn step(&mut self, column: Column) {
        self.column = Some(column);
    }

    fn enter(&mut self, alpha: i32, beta: i32) {
        if self.ended {
            return;
        }
        let level = self.level();
        let [alpha, beta] = self.window(level, alpha, beta);
        let (value, bound, source) = (None, BoundKind::Exact, ValueSource::Search);
        self.push(level, NodeContent::Window { alpha, beta, value, bound, source });
    }

    fn narrow(&mut self, alpha: i32, beta: i32) {
        let (false, Some(&Some(index))) = (self.ended, self.path.last()) else { return };
        let [low, high] = self.window(self.tree.nodes[index].level, alpha, beta);
        if let NodeContent::Window { alpha, beta, .. } = &mut self.tree.nodes[index].content {
            (*alpha, *beta) = (low, high);
        }
    }

    fn prune(&mut self, columns: impl FnOnce() -> Vec<Column>) {
        if let (false, Some(&Some(index))) = (self.ended, self.path.last()) {
            self.tree.nodes[index].pruned = columns();
        }
    }

    fn leave(&mut self, points: i32, bound: BoundKind, source: ValueSource) {
        if self.ended {
            return;
        }
        let index = self.path.pop().expect("a node is left after it was entered");
        let level = self.level();
        let Some(index) = index else { return };
        let points = signed(level, points);
        let bound = if level.is_multiple_of(2) { bound } else { bound.reversed() };
        if let NodeContent::Window { value, bound: found, source: origin, .. } =
            &mut self.tree.nodes[index].content
        {
            // The scale cannot distinguish a draw from an estimate of 0 points.
            let is_draw = source == ValueSource::GameOver && points == 0;
            *value = Some(if is_draw { Value::Draw } else { self.scale.value(points) });
            *found = bound;
            *origin = source;
        }
    }
}
