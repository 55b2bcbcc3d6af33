//! Search trees prepared for drawing: kinds of nodes, pruned moves and the principal variation.

use std::fmt;

use claimeven_game::{Column, Game, Player, Setup};
use claimeven_search::{
    AgentError, Decision, Limits, NodeContent, Tree, TreeNode, Value, ValueSource,
};

use crate::agents::AGENTS;
use crate::roster::AgentSpec;

/// A search tree, ready to be drawn.
///
/// ```
/// use claimeven_arena::{NodeKind, TreeDrawing};
/// use claimeven_game::{Game, Setup};
/// use claimeven_search::Limits;
///
/// let game = Game::parse(Setup::STANDARD, "4455")?;
/// let agent = "minimax:depth=2".parse()?;
/// let drawing = TreeDrawing::new(&agent, &game, &Limits::default(), 10_000, 50)?;
/// assert_eq!((drawing.kind(0), drawing.chosen[0]), (NodeKind::Max, true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TreeDrawing {
    /// The player that searched.
    pub agent: AgentSpec,
    /// The game up to the root.
    pub game: Game,
    /// The player's decision.
    pub decision: Decision,
    /// The recorded tree.
    pub tree: Tree,
    /// Whether each node is on the principal variation.
    pub chosen: Vec<bool>,
}

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// The player at the root chooses.
    Max,
    /// The opponent chooses.
    Min,
    /// The horizon: a heuristic evaluation.
    Horizon,
    /// The game is over.
    End,
    /// A hit in the transposition table.
    Table,
}

impl NodeKind {
    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            NodeKind::Max => "max",
            NodeKind::Min => "min",
            NodeKind::Horizon => "leaf",
            NodeKind::End => "end",
            NodeKind::Table => "table",
        }
    }
}

/// Pruned moves, with the window that pruned them, as short texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrunedMoves {
    /// The value that the player at the root can guarantee.
    pub alpha: String,
    /// The value that the opponent can guarantee.
    pub beta: String,
    /// The pruned moves.
    pub moves: Vec<String>,
}

impl TreeDrawing {
    /// Searches a position and keeps at most `max_nodes` nodes of the tree. The search records as
    /// many levels as `recorded` nodes can fill; deeper nodes are only counted.
    pub fn new(
        agent: &AgentSpec,
        game: &Game,
        limits: &Limits,
        recorded: u32,
        max_nodes: usize,
    ) -> Result<TreeDrawing, AgentError> {
        let setup = game.position().setup();
        let mut player = agent.build(setup, 0)?;
        let (decision, tree) =
            player.decide_with_tree(game.position(), limits, levels(setup, recorded))?;
        let tree = tree.cut_to(max_nodes, &decision.pv);
        let mut chosen = vec![false; tree.nodes.len()];
        for node in tree.nodes_on(&decision.pv) {
            chosen[node] = true;
        }
        Ok(TreeDrawing { agent: agent.clone(), game: game.clone(), decision, tree, chosen })
    }

    /// Whether a player has a search tree; the error names the players that do.
    pub fn check(agent: &AgentSpec) -> Result<(), NoTree> {
        if agent.kind().has_tree {
            return Ok(());
        }
        Err(NoTree { agent: agent.clone() })
    }

    /// The decision of the player: `alphabeta:depth=3 plays 4: +12`.
    pub fn headline(&self) -> String {
        let Decision { column, value, .. } = self.decision;
        format!("{} plays {column}: {value}", self.agent)
    }

    /// How much of the tree is drawn: `all 8 nodes`, `60 of 137 nodes, 77 not shown`.
    pub fn extent(&self) -> String {
        let (drawn, hidden) = (self.tree.nodes.len(), self.tree.hidden());
        match hidden {
            0 if drawn == 1 => "all 1 node".to_owned(),
            0 => format!("all {drawn} nodes"),
            _ => format!("{drawn} of {} nodes, {hidden} not shown", drawn as u64 + hidden),
        }
    }

    /// The kind of a node.
    pub fn kind(&self, node: usize) -> NodeKind {
        let is_over = || self.tree.position_at(node).outcome().is_some();
        match self.tree.nodes[node].content {
            NodeContent::Window { source: ValueSource::Evaluation, .. } => NodeKind::Horizon,
            NodeContent::Window { source: ValueSource::GameOver, .. } => NodeKind::End,
            NodeContent::Window { source: ValueSource::Table, .. } => NodeKind::Table,
            NodeContent::Visits { .. } if is_over() => NodeKind::End,
            _ if self.tree.nodes[node].level.is_multiple_of(2) => NodeKind::Max,
            _ => NodeKind::Min,
        }
    }

    /// The steps from the root to each node. A pass counts as a step, although it is not a move.
    pub fn rows(&self) -> Vec<usize> {
        let mut rows: Vec<usize> = Vec::with_capacity(self.tree.nodes.len());
        for node in &self.tree.nodes {
            rows.push(node.parent.map_or(0, |parent| rows[parent] + 1));
        }
        rows
    }

    /// The player to move at the root, from whose point of view values are.
    pub fn player(&self) -> Player {
        self.game.position().player()
    }

    /// The moves from the empty board to a node.
    pub fn moves_to(&self, node: usize) -> String {
        let mut moves = Vec::new();
        let mut next = Some(node);
        while let Some(index) = next {
            moves.extend(self.tree.nodes[index].column.map(Column::to_char));
            next = self.tree.nodes[index].parent;
        }
        let start = self.game.move_text();
        start.chars().chain(moves.into_iter().rev()).collect()
    }

    /// Whether the search consists of simulations.
    pub fn has_visits(&self) -> bool {
        matches!(self.tree.nodes[0].content, NodeContent::Visits { .. })
    }

    /// The pruned moves of a node, if there are any.
    pub fn cut(&self, node: usize) -> Option<PrunedMoves> {
        let TreeNode { pruned, content, .. } = &self.tree.nodes[node];
        let NodeContent::Window { alpha, beta, value, .. } = *content else { return None };
        let (alpha, beta) =
            if self.kind(node) == NodeKind::Max { (value, beta) } else { (alpha, value) };
        (!pruned.is_empty()).then(|| PrunedMoves {
            alpha: alpha.map_or("-inf".to_owned(), Value::short),
            beta: beta.map_or("+inf".to_owned(), Value::short),
            moves: pruned.iter().map(|column| column.to_char().to_string()).collect(),
        })
    }
}

/// The number of levels that this many nodes can fill, which bounds the memory of a search.
fn levels(setup: Setup, recorded: u32) -> u32 {
    if setup.cols() == 1 { setup.cells() } else { recorded.ilog(setup.cols().into()) }
}

/// The error of a player that has no search tree to draw.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NoTree {
    /// The player.
    pub agent: AgentSpec,
}

impl fmt::Display for NoTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = AGENTS.iter().filter(|kind| kind.has_tree).map(|kind| kind.name);
        let names = names.collect::<Vec<_>>().join(", ");
        write!(f, "{} has no search tree (available: {names})", self.agent)
    }
}

impl std::error::Error for NoTree {}

#[cfg(test)]
mod tests {
    use claimeven_game::Ruleset;

    use super::*;

    #[test]
    fn recorded_levels_fit_into_memory_on_every_board() {
        for (cols, rows, expected) in [(1, 9, 9), (2, 30, 18), (7, 6, 6), (35, 2, 3)] {
            let setup = Setup::new(cols, rows, 4, Ruleset::Standard).unwrap();
            assert_eq!(levels(setup, 300_000), expected, "{setup}");
        }
    }

    #[test]
    fn playouts_add_up_to_the_visits_and_results_of_the_nodes() {
        let agent: AgentSpec = "mcts:sims=700,proofs=off".parse().unwrap();
        let game = Game::parse(Setup::STANDARD, "4453").unwrap();
        for max_nodes in [20, 10_000] {
            let drawing =
                TreeDrawing::new(&agent, &game, &Limits::default(), 10_000, max_nodes).unwrap();
            let nodes = &drawing.tree.nodes;
            let mut sums = vec![(0, 0.0); nodes.len()];
            for playout in &drawing.tree.playouts {
                let mut next = Some(playout.node);
                while let Some(node) = next {
                    sums[node].0 += 1;
                    sums[node].1 += playout.result;
                    next = nodes[node].parent;
                }
            }
            for (node, (visits, sum)) in nodes.iter().zip(sums) {
                let NodeContent::Visits { visits: drawn, value: Value::Expected(mean) } =
                    node.content
                else {
                    panic!("{node:?}");
                };
                assert_eq!(visits, drawn);
                assert!((sum / f64::from(visits) - mean).abs() < 1e-9, "{sum} {visits} {mean}");
            }
        }
    }
}
