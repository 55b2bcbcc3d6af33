//! The texts at the nodes of an SVG tree.

use claimeven_search::{BoundKind, NodeContent, TreeNode, Value};

use super::counted;
use crate::tree_drawing::{NodeKind as Kind, PrunedMoves, TreeDrawing};

/// The texts in a node.
pub(super) struct Caption {
    pub(super) value: String,
    /// CSS classes of the value, each after a space.
    pub(super) class: &'static str,
    pub(super) small: String,
}

impl Caption {
    /// The captions of all nodes.
    pub(super) fn of_all(drawing: &TreeDrawing) -> Vec<Caption> {
        // Minimax has no window, which leaves room for the kind of the node.
        let has_window = |node: &TreeNode| {
            let NodeContent::Window { alpha, beta, .. } = node.content else { return false };
            alpha.is_some() || beta.is_some()
        };
        let has_windows = drawing.tree.nodes.iter().any(has_window);
        let caption = |node| Caption::new(drawing, node, has_windows);
        (0..drawing.tree.nodes.len()).map(caption).collect()
    }

    fn new(drawing: &TreeDrawing, node: usize, has_windows: bool) -> Caption {
        let content = &drawing.tree.nodes[node].content;
        let value = content.value();
        let class = match value {
            Some(Value::Win(_)) => " win",
            Some(Value::Loss(_)) => " loss",
            Some(Value::Points(_) | Value::Expected(_)) => "",
            Some(Value::Draw) | None => " words",
        };
        let value = value.map_or("stopped".to_owned(), |value| with_minus(&value.short()));
        let value = match content {
            NodeContent::Window {
                bound: bound @ (BoundKind::Upper | BoundKind::Lower), ..
            } => {
                format!("{} {value}", bound.sign())
            }
            _ => value,
        };
        let small = match *content {
            NodeContent::Window { .. } if !has_windows => match drawing.kind(node) {
                Kind::Horizon => "evaluation".to_owned(),
                Kind::End => "game over".to_owned(),
                kind => kind.name().to_owned(),
            },
            NodeContent::Window { alpha, beta, .. } => {
                let alpha = alpha.map_or("-∞".to_owned(), Value::short);
                let beta = beta.map_or("∞".to_owned(), Value::short);
                format!("α {}  β {}", with_minus(&alpha), with_minus(&beta))
            }
            NodeContent::Visits { visits, .. } => counted(visits, "visit"),
        };
        Caption { value, class, small }
    }

    /// The approximate width.
    pub(super) fn width(&self) -> f64 {
        let value = 8.0 + 11.0 * self.value.chars().count() as f64;
        value.max(text_width(&self.small) - 8.0)
    }
}

/// The details of a node, for its tooltip.
pub(super) fn details(drawing: &TreeDrawing, index: usize) -> String {
    let node = &drawing.tree.nodes[index];
    let mut lines = Vec::new();
    let moves = drawing.moves_to(index);
    lines.push(if moves.is_empty() { "empty board".to_owned() } else { format!("moves {moves}") });
    lines.push(match drawing.kind(index) {
        Kind::Max => "max node: the maximum of its children".to_owned(),
        Kind::Min => "min node: the minimum of its children".to_owned(),
        Kind::Horizon => "leaf: heuristic evaluation".to_owned(),
        Kind::End => "the game is over".to_owned(),
        Kind::Table => "value from the transposition table".to_owned(),
    });
    let value = node.content.value().map_or("unknown".to_owned(), |value| value.to_string());
    match node.content {
        NodeContent::Window { alpha, beta, bound, .. } => {
            let alpha = alpha.map_or("-∞".to_owned(), |alpha| alpha.to_string());
            let beta = beta.map_or("∞".to_owned(), |beta| beta.to_string());
            let bound = if bound == BoundKind::Exact { "exactly" } else { bound.name() };
            lines.push(format!("value {bound} {value}"));
            lines.push(format!("alpha {alpha}, beta {beta}"));
        }
        NodeContent::Visits { visits, .. } => lines.push(format!("value {value}, visits {visits}")),
    }
    if let Some(PrunedMoves { alpha, beta, moves }) = drawing.cut(index) {
        let moves = moves.join(" ");
        lines.push(format!("cut: alpha {alpha} >= beta {beta}; not searched: {moves}"));
    }
    if node.hidden > 0 {
        lines.push(format!("{} below it not shown", counted(node.hidden, "node")));
    }
    lines.join("\n")
}

/// Replaces hyphens by minus signs.
pub(super) fn with_minus(text: &str) -> String {
    text.replace('-', "−")
}

/// The approximate width of a small text, with padding.
pub(super) fn text_width(text: &str) -> f64 {
    10.0 + 6.6 * text.chars().count() as f64
}
