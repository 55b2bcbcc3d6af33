//! A search tree in the DOT language of Graphviz.

use std::fmt::Write;

use claimeven_search::{NodeContent, TreeNode, Value};

use super::{Kind, TreeDrawing, bound_text, sign};
use crate::text::counted;

pub(super) fn draw(drawing: &TreeDrawing) -> String {
    let mut out = String::from("digraph tree {\n");
    let title = quoted(&format!("{}\n{}", drawing.headline(), drawing.extent()));
    let _ = writeln!(out, "  graph [label={title}, labelloc=t, ranksep=0.6, fontname=Helvetica];");
    out.push_str("  node [style=filled, fillcolor=white, fontname=Helvetica, fontsize=12];\n");
    out.push_str("  edge [arrowhead=none, fontname=Helvetica, fontsize=11];\n");
    for index in 0..drawing.tree.nodes.len() {
        write_node(&mut out, drawing, index);
        write_edge(&mut out, drawing, index);
        write_cut(&mut out, drawing, index);
    }
    out.push_str("}\n");
    out
}

fn write_node(out: &mut String, drawing: &TreeDrawing, index: usize) {
    let node = &drawing.tree.nodes[index];
    let value = node.content.value().map_or("stopped".to_owned(), Value::short);
    let mut label = format!("{}{value}", sign(&node.content));
    match node.content {
        NodeContent::Window { alpha, beta, .. } => {
            let (alpha, beta) = (bound_text(alpha, "-inf"), bound_text(beta, "+inf"));
            let _ = write!(label, "\n[{alpha}, {beta}]");
        }
        NodeContent::Visits { visits, .. } => {
            let _ = write!(label, "\n{}", counted(visits, "visit"));
        }
    }
    if node.hidden > 0 {
        let _ = write!(label, "\n+{}", node.hidden);
    }
    let (shape, colour) = match drawing.kind(index) {
        Kind::Max => ("house", "#e8f0fe"),
        Kind::Min => ("invhouse", "#fff1de"),
        Kind::Horizon | Kind::Table => ("box", "#ffffff"),
        Kind::End => ("doubleoctagon", "#ffffff"),
    };
    let width = if drawing.chosen[index] { 3 } else { 1 };
    let board = quoted(&drawing.tree.position_at(index).to_string());
    let label = quoted(&label);
    let _ = writeln!(
        out,
        "  n{index} [label={label}, shape={shape}, fillcolor=\"{colour}\", penwidth={width}, tooltip={board}];"
    );
}

fn write_edge(out: &mut String, drawing: &TreeDrawing, index: usize) {
    let TreeNode { parent: Some(parent), column, pass, .. } = &drawing.tree.nodes[index] else {
        return;
    };
    let column = column.map(|column| column.to_string());
    let label = quoted(&column.or_else(|| pass.clone()).unwrap_or_default());
    let width = if drawing.chosen[index] { 4 } else { 1 };
    let _ = writeln!(out, "  n{parent} -> n{index} [label={label}, penwidth={width}];");
}

fn write_cut(out: &mut String, drawing: &TreeDrawing, index: usize) {
    let Some(cut) = drawing.cut(index) else { return };
    let label = quoted(&format!("{} >= {}", cut.alpha, cut.beta));
    let moves = quoted(&cut.moves.join(" "));
    let _ = writeln!(out, "  cut{index} [label={moves}, shape=plaintext, fontcolor=gray40];");
    let _ = writeln!(
        out,
        "  n{index} -> cut{index} [style=dashed, label={label}, color=red3, fontcolor=red3];"
    );
}

/// A quoted string of the DOT language.
fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{text}\"")
}
