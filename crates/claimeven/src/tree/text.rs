//! A search tree as indented text, one node per line.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use claimeven_search::{NodeContent, TreeNode};

use super::{PrunedMoves, TreeDrawing, bound_text, sign};
use crate::analyze;
use crate::draw::Drawing;
use crate::show::status;

pub(super) fn draw(drawing: &TreeDrawing) -> String {
    let mut out = String::new();
    let position = drawing.game.position();
    let last_move = drawing.game.moves().last().copied();
    let _ = writeln!(out, "{}", Drawing { position, last_move });
    let _ = writeln!(out, "{}", status(position));
    let _ = writeln!(out, "{}\n", drawing.headline());

    let rows = drawing.rows();
    let names: Vec<String> = (0..rows.len()).map(|node| name(drawing, node, rows[node])).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(6);
    let heading = if drawing.has_visits() {
        format!("  {:<width$}  {:<5}  {:>8}  {:<10}", "move", "kind", "visits", "value")
    } else {
        format!("  {:<width$}  {:<5}  {:<12}  {:<6} {}", "move", "kind", "value", "alpha", "beta")
    };
    let dim = Style::new().dimmed();
    let _ = writeln!(out, "{dim}{}{dim:#}", heading.trim_end());
    for node in in_search_order(drawing) {
        write_node(&mut out, drawing, node, &format!("{:<width$}", names[node]));
    }
    let _ = writeln!(
        out,
        "\n* principal variation; values are from the point of view of {}",
        drawing.player()
    );
    let _ = writeln!(out, "{}", drawing.extent());
    out
}

/// The nodes in depth-first order.
fn in_search_order(drawing: &TreeDrawing) -> Vec<usize> {
    let mut order = Vec::with_capacity(drawing.tree.nodes.len());
    let mut waiting = vec![0];
    while let Some(node) = waiting.pop() {
        order.push(node);
        waiting.extend(drawing.tree.nodes[node].children.iter().rev());
    }
    order
}

/// The move or pass that leads to a node, indented by its depth.
fn name(drawing: &TreeDrawing, node: usize, row: usize) -> String {
    let TreeNode { column, pass, .. } = &drawing.tree.nodes[node];
    let name = match (column, pass) {
        (Some(column), _) => column.to_string(),
        (None, Some(pass)) => pass.clone(),
        (None, None) => "root".to_owned(),
    };
    format!("{}{name}", "  ".repeat(row))
}

fn write_node(out: &mut String, drawing: &TreeDrawing, index: usize, name: &str) {
    let node = &drawing.tree.nodes[index];
    let is_chosen = drawing.chosen[index];
    let mark = if is_chosen { '*' } else { ' ' };
    let bold = if is_chosen { Style::new().bold() } else { Style::new() };
    let kind = drawing.kind(index).name();
    let _ = write!(out, "{bold}{mark} {name}{bold:#}  {kind:<5}  ");

    let value = node.content.value();
    let style = value.map_or(Style::new(), analyze::style);
    let text = value.map_or("stopped".to_owned(), |value| value.to_string());
    let text = format!("{}{text}", sign(&node.content));
    // The padding comes after the colour codes, so that it can be trimmed.
    let padded = |text: &str, width: usize| {
        let spaces = " ".repeat(width.saturating_sub(text.chars().count()));
        format!("{style}{text}{style:#}{spaces}")
    };
    let line_end = match node.content {
        NodeContent::Window { alpha, beta, .. } => {
            let (alpha, beta) = (bound_text(alpha, "-inf"), bound_text(beta, "+inf"));
            let text = padded(&text, 12);
            format!("{text}  {alpha:<6} {beta:<6} ")
        }
        NodeContent::Visits { visits, .. } => format!("{visits:>8}  {}  ", padded(&text, 10)),
    };
    let mut notes = Vec::new();
    if let Some(PrunedMoves { moves, .. }) = drawing.cut(index) {
        let yellow = Style::new().fg_color(Some(AnsiColor::Yellow.into()));
        let count = moves.len();
        let moves = moves.join(" ");
        notes.push(format!("{yellow}cut: alpha >= beta, {count} not searched: {moves}{yellow:#}"));
    }
    if node.hidden > 0 {
        let dim = Style::new().dimmed();
        notes.push(format!("{dim}+{} not shown{dim:#}", node.hidden));
    }
    let line = format!("{line_end}{}", notes.join(", "));
    let _ = writeln!(out, "{}", line.trim_end());
}
