//! A search tree as JSON: a list of nodes with their parents.

use claimeven_game::{Column, Position, Setup};
use claimeven_search::NodeContent;
use serde::Serialize;

use super::TreeDrawing;
use crate::analyze::ValueJson;

pub(super) fn draw(drawing: &TreeDrawing) -> Result<String, serde_json::Error> {
    let report = Report {
        setup: drawing.tree.position.setup(),
        position: drawing.game.move_text(),
        agent: drawing.agent.to_string(),
        column: drawing.decision.column.number(),
        value: ValueJson::new(drawing.decision.value, &drawing.tree.position),
        pv: drawing.decision.pv.iter().map(|column| column.to_char()).collect(),
        shown: drawing.tree.nodes.len(),
        hidden: drawing.tree.hidden(),
        nodes: (0..drawing.tree.nodes.len()).map(|node| NodeJson::new(drawing, node)).collect(),
    };
    Ok(serde_json::to_string(&report)? + "\n")
}

#[derive(Serialize)]
struct Report {
    setup: Setup,
    position: String,
    agent: String,
    column: u8,
    value: ValueJson,
    pv: String,
    shown: usize,
    hidden: u64,
    /// Parents before their children, the root first.
    nodes: Vec<NodeJson>,
}

#[derive(Serialize)]
struct NodeJson {
    id: usize,
    parent: Option<usize>,
    children: Vec<usize>,
    /// The move that leads to the node, counted from 1.
    column: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pass: Option<String>,
    level: u32,
    kind: &'static str,
    #[serde(flatten)]
    content: ContentJson,
    /// The moves that were not searched, counted from 1.
    pruned: Vec<u8>,
    hidden: u64,
    chosen: bool,
    /// All moves from the empty board.
    moves: String,
    /// Rows from the top.
    board: Vec<String>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ContentJson {
    Window {
        alpha: Option<ValueJson>,
        beta: Option<ValueJson>,
        value: Option<ValueJson>,
        bound: &'static str,
        source: &'static str,
    },
    Visits {
        visits: u32,
        value: ValueJson,
    },
}

impl NodeJson {
    fn new(drawing: &TreeDrawing, index: usize) -> NodeJson {
        let node = &drawing.tree.nodes[index];
        let board = drawing.tree.position_at(index).to_string();
        NodeJson {
            id: index,
            parent: node.parent,
            children: node.children.clone(),
            column: node.column.map(Column::number),
            pass: node.pass.clone(),
            level: node.level,
            kind: drawing.kind(index).name(),
            content: ContentJson::new(&node.content, &drawing.tree.position),
            pruned: node.pruned.iter().map(|column| column.number()).collect(),
            hidden: node.hidden,
            chosen: drawing.chosen[index],
            moves: drawing.moves_to(index),
            board: board.lines().map(str::to_owned).collect(),
        }
    }
}

impl ContentJson {
    /// Values are those of the player at the root, with plies counted from there.
    fn new(content: &NodeContent, root: &Position) -> ContentJson {
        let json = |value| ValueJson::new(value, root);
        match *content {
            NodeContent::Window { alpha, beta, value, bound, source } => ContentJson::Window {
                alpha: alpha.map(json),
                beta: beta.map(json),
                value: value.map(json),
                bound: bound.name(),
                source: source.name(),
            },
            NodeContent::Visits { visits, value } => {
                ContentJson::Visits { visits, value: json(value) }
            }
        }
    }
}
