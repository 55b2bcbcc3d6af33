//! The legend of an SVG tree.

use std::fmt::Write;

use claimeven_game::Player;
use claimeven_search::Value;

use super::escape;
use super::tree::{MARGIN, badge, card};
use crate::tree_drawing::{NodeKind as Kind, TreeDrawing};

/// Draws the legend in rows as wide as the image, and returns its height.
pub(super) fn draw(svg: &mut String, drawing: &TreeDrawing, top: f64, width: f64) -> f64 {
    const LINE: f64 = 30.0;
    let (mut x, mut y) = (MARGIN, top + 16.0);
    for (sign, text) in entries(drawing) {
        let room = 40.0 + text.chars().count() as f64 * 6.6;
        if x > MARGIN && x + room > width - MARGIN {
            (x, y) = (MARGIN, y + LINE);
        }
        sign.draw(svg, x, y);
        let _ = writeln!(
            svg,
            r#"  <text x="{:.1}" y="{:.1}">{}</text>"#,
            x + 32.0,
            y + 4.0,
            escape(&text)
        );
        x += room + 14.0;
    }
    y + 16.0 - top
}

fn entries(drawing: &TreeDrawing) -> Vec<(Sign, String)> {
    let player = drawing.player();
    let nodes = 0..drawing.tree.nodes.len();
    let has_kind = |kind| nodes.clone().any(|node| drawing.kind(node) == kind);
    let has_value = |has: fn(Value) -> bool| {
        drawing.tree.nodes.iter().any(|node| node.content.value().is_some_and(has))
    };
    let mut legend = Vec::new();
    for (kind, text) in [
        (Kind::Max, format!("max: {player} to move")),
        (Kind::Min, format!("min: {} to move", player.opponent())),
        (Kind::Horizon, "leaf: evaluation".to_owned()),
        (Kind::End, "game over".to_owned()),
        (Kind::Table, "transposition table".to_owned()),
    ] {
        if has_kind(kind) {
            legend.push((Sign::Card(kind), text));
        }
    }
    legend.push((Sign::Badge(player), "column played".to_owned()));
    legend.push((Sign::Chosen, "principal variation".to_owned()));
    if drawing.has_visits() {
        legend.push((Sign::Visits, "width: share of the simulations".to_owned()));
    }
    if nodes.clone().any(|node| drawing.cut(node).is_some()) {
        legend.push((Sign::Stub, "not searched: α ≥ β".to_owned()));
    }
    if drawing.tree.hidden() > 0 {
        legend.push((Sign::Hidden, "nodes not shown".to_owned()));
    }
    if has_value(|value| matches!(value, Value::Win(_))) {
        let text = format!("{player} wins with 2 more discs");
        legend.push((Sign::Text("W2"), text));
    }
    if has_value(|value| matches!(value, Value::Loss(_))) {
        let text = format!("{} wins with 1 more disc", player.opponent());
        legend.push((Sign::Text("L1"), text));
    }
    legend
}

/// The symbol of a legend entry.
enum Sign {
    Card(Kind),
    Badge(Player),
    Chosen,
    Visits,
    Stub,
    Hidden,
    Text(&'static str),
}

impl Sign {
    fn draw(&self, svg: &mut String, x: f64, y: f64) {
        let end = x + 26.0;
        let _ = match *self {
            Sign::Card(kind) => {
                card(svg, kind, "", [x + 2.0, y - 5.0, 22.0, 10.0]);
                Ok(())
            }
            Sign::Badge(player) => {
                badge(svg, player, "4", x + 13.0, y);
                Ok(())
            }
            Sign::Chosen => {
                writeln!(svg, r#"  <path class="branch chosen" d="M{x:.1} {y:.1}H{end:.1}"/>"#)
            }
            Sign::Visits => writeln!(
                svg,
                r#"  <path class="branch visits" style="stroke-width: 8" d="M{:.1} {y:.1}H{:.1}"/>"#,
                x + 4.0,
                end - 4.0
            ),
            Sign::Stub => writeln!(
                svg,
                r#"  <path class="stub" d="M{x:.1} {y:.1}H{end:.1}"/><path class="slash" d="M{:.1} {:.1}v10"/>"#,
                x + 13.0,
                y - 5.0
            ),
            Sign::Hidden => writeln!(
                svg,
                r#"  <rect class="hidden" x="{x:.1}" y="{:.1}" width="26" height="16" rx="8"/><text class="hidden-text middle" x="{:.1}" y="{:.1}">+9</text>"#,
                y - 8.0,
                x + 13.0,
                y + 4.0
            ),
            Sign::Text(text) => writeln!(
                svg,
                r#"  <text class="value words middle" x="{:.1}" y="{:.1}">{text}</text>"#,
                x + 13.0,
                y + 5.0
            ),
        };
    }
}
