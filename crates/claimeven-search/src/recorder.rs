//! Records the tree of a depth-limited search.

use claimeven_game::{Column, Position};

use crate::agent::Bound;
use crate::depth_search::{INFINITY, Scale};
use crate::tree::{Content, Node, Source, Trace, Tree};

/// Keeps the nodes of a search down to some level and counts those below.
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
            tree: Tree { position: *position, nodes: Vec::new() },
            scale,
            levels,
            path: Vec::new(),
            column: None,
            pass: None,
            has_passes: false,
            ended: false,
        }
    }

    /// The tree, once the search has ended.
    pub(crate) fn finish(mut self) -> Tree {
        if self.has_passes {
            // The root stands for all passes and has what the last one found.
            let last = *self.tree.nodes[0].children.last().expect("a pass has begun");
            self.tree.nodes[0].content = self.tree.nodes[last].content.clone();
        }
        self.tree
    }

    /// The current level; the path has a node more where the root stands for passes.
    fn level(&self) -> u32 {
        (self.path.len() as u32).saturating_sub(u32::from(self.has_passes))
    }

    fn push(&mut self, level: u32, content: Content) {
        let parent = self.path.iter().rev().copied().flatten().next();
        if level > self.levels {
            let parent = parent.expect("the root is recorded");
            self.tree.nodes[parent].hidden += 1;
            self.path.push(None);
            return;
        }
        let (column, pass) = (self.column.take(), self.pass.take());
        let index = self.tree.add(Node { column, pass, level, ..Node::new(parent, content) });
        self.path.push(Some(index));
    }
}

/// Points of the side to move as the player at the root sees them.
fn signed(level: u32, points: i32) -> i32 {
    if level.is_multiple_of(2) { points } else { -points }
}

impl Trace for Recorder {
    fn begin_pass(&mut self, name: impl FnOnce(Scale) -> String) {
        if !self.has_passes {
            self.has_passes = true;
            self.enter(-INFINITY, INFINITY);
        }
        // A pass that a limit has ended leaves its path behind.
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
        let [mut alpha, mut beta] = [alpha, beta].map(|points| signed(level, points));
        if alpha > beta {
            (alpha, beta) = (beta, alpha);
        }
        let known = |points: i32| (points.abs() < INFINITY).then(|| self.scale.value(points));
        let content = Content::Window {
            alpha: known(alpha),
            beta: known(beta),
            value: None,
            bound: Bound::Exact,
            source: Source::Search,
        };
        self.push(level, content);
    }

    fn prune(&mut self, columns: impl FnOnce() -> Vec<Column>) {
        if let (false, Some(&Some(index))) = (self.ended, self.path.last()) {
            self.tree.nodes[index].pruned = columns();
        }
    }

    fn leave(&mut self, points: i32, bound: Bound, source: Source) {
        if self.ended {
            return;
        }
        let index = self.path.pop().expect("a node is left after it was entered");
        let level = self.level();
        let Some(index) = index else { return };
        let points = signed(level, points);
        let bound = if level.is_multiple_of(2) { bound } else { bound.reversed() };
        if let Content::Window { value, bound: found, source: origin, .. } =
            &mut self.tree.nodes[index].content
        {
            *value = Some(self.scale.value(points));
            *found = bound;
            *origin = source;
        }
    }
}
