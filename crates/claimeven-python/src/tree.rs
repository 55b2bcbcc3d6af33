//! Search trees.

use claimeven_arena::{AgentSpec, TreeDrawing, svg};
use claimeven_game::Column;
use claimeven_search::{Limits, NodeContent, Value};
use pyo3::prelude::*;
use serde_json::{Value as Json, json};

use crate::position::game_of;
use crate::{numbers, value_error, work};

/// The maximum number of nodes that are kept in memory.
const MAX_RECORDED: u32 = 300_000;

/// The search tree of a player as JSON, and as SVG.
#[pyfunction]
pub(crate) fn search_tree(
    py: Python<'_>,
    position: &Bound<'_, PyAny>,
    agent: &str,
    #[pyo3(from_py_with = numbers::max_nodes)] max_nodes: usize,
) -> PyResult<(String, String)> {
    let game = game_of(position)?;
    let agent: AgentSpec = agent.parse().map_err(value_error)?;
    TreeDrawing::check(&agent).map_err(value_error)?;
    let drawing = work::run(
        py,
        |cancel| {
            let limits = Limits::default().with_cancel(cancel.clone());
            TreeDrawing::new(&agent, &game, &limits, MAX_RECORDED, max_nodes.max(1))
        },
        |_| Ok(()),
    )?;
    let drawing = drawing.map_err(value_error)?;
    let nodes: Vec<Json> =
        (0..drawing.tree.nodes.len()).map(|node| describe(&drawing, node)).collect();
    let column = drawing.decision.column.number();
    let tree = json!({ "column": column, "headline": drawing.headline(), "nodes": nodes });
    Ok((tree.to_string(), svg::tree(&drawing)))
}

fn describe(drawing: &TreeDrawing, index: usize) -> Json {
    let node = &drawing.tree.nodes[index];
    let text = |value: Option<Value>| value.map(|value| value.to_string());
    let (alpha, beta, bound, visits) = match node.content {
        NodeContent::Window { alpha, beta, bound, .. } => (alpha, beta, Some(bound.name()), None),
        NodeContent::Visits { visits, .. } => (None, None, None, Some(visits)),
    };
    json!({
        "parent": node.parent,
        "column": node.column.map(Column::number),
        "name": node.pass,
        "kind": drawing.kind(index).name(),
        "value": text(node.content.value()),
        "number": node.content.value().map(Value::number),
        "bound": bound,
        "alpha": text(alpha),
        "beta": text(beta),
        "visits": visits,
        "pruned": node.pruned.iter().map(|column| column.number()).collect::<Vec<_>>(),
        "hidden": node.hidden,
        "chosen": drawing.chosen[index],
    })
}
