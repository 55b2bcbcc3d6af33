//! A search tree as a self-contained SVG document, for slides.

use std::fmt::Write;

use claimeven_game::{Cell, Player, Position};
use claimeven_search::{NodeContent, TreeNode};

use super::caption::{Caption, details, text_width, with_minus};
use super::layout::{Item, place};
use super::legend;
use super::{BOARD_COLOUR, DISC_COLOURS, counted, disc_class, escape, highlighted_cells, top_cell};
use crate::tree_drawing::{NodeKind as Kind, PrunedMoves, TreeDrawing};

/// The margin around the drawing.
pub(super) const MARGIN: f64 = 24.0;
/// The height of the title and the line below it.
const HEADER: f64 = 74.0;
/// The distance between neighbours.
const GAP: f64 = 10.0;
/// The distance between two rows, for the branches.
const ROW_GAP: f64 = 46.0;
/// The height of the roof of a max node and the point of a min node.
const ROOF: f64 = 13.0;
/// The distance between a board and the outline of its node.
const PAD: f64 = 6.0;
/// The height of the value and the window below a board.
const TEXT: f64 = 39.0;
/// The minimum width of a node.
const MIN_WIDTH: f64 = 74.0;
/// The radius of the disc on a branch that shows its column.
const BADGE: f64 = 9.0;
/// The distance between two pruned branches.
const STUB: f64 = 20.0;
/// The width of a branch that every simulation went through.
const WIDEST_BRANCH: f64 = 12.0;

/// A search tree as a self-contained document.
pub fn draw(drawing: &TreeDrawing) -> String {
    let picture = Picture::new(drawing);
    let mut body = String::new();
    for node in 1..drawing.tree.nodes.len() {
        picture.draw_branch(&mut body, node);
    }
    for node in 0..drawing.tree.nodes.len() {
        picture.draw_cut(&mut body, node);
        picture.draw_node(&mut body, node);
    }
    let foot = HEADER + picture.rows_height() + 24.0;
    let legend_height = legend::draw(&mut body, drawing, foot, picture.width);
    let (width, height) = (picture.width, foot + legend_height + MARGIN);
    let title = escape(&drawing.headline());
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {height:.0}" width="{width:.0}" height="{height:.0}" role="img">
  <title>{title}</title>
  <style>
    text {{ font: 12px system-ui, "Helvetica Neue", Arial, sans-serif; fill: #374151; }}
    .title {{ font-size: 21px; font-weight: 600; fill: #111827; }}
    .about {{ font-size: 14px; }}
    .middle {{ text-anchor: middle; }}
    .value {{ font-size: 17px; font-weight: 700; fill: #111827; }}
    .words {{ font-size: 14px; }} .win {{ fill: #15803d; }} .loss {{ fill: #b91c1c; }}
    .small {{ font-size: 11px; fill: #4b5563; }}
    .max {{ fill: #e4edfd; stroke: #2456a6; }} .min {{ fill: #ffedd5; stroke: #c2660c; }}
    .leaf {{ fill: #fff; stroke: #9ca3af; }} .end {{ fill: #e5e7eb; stroke: #4b5563; }}
    .table {{ fill: #fff; stroke: #7c3aed; stroke-dasharray: 2 3; }}
    .card {{ stroke-width: 1.5; stroke-linejoin: round; }}
    .branch {{ fill: none; stroke: #9ca3af; stroke-width: 1.6; stroke-linecap: round; }}
    .chosen {{ stroke: #111827; }} .card.chosen {{ stroke-width: 3.5; stroke-dasharray: none; }}
    .branch.chosen {{ stroke-width: 4.5; }}
    .visits {{ stroke: #b6c3d9; }} .visits.chosen {{ stroke: #111827; }}
    .stub {{ fill: none; stroke: #6b7280; stroke-width: 1.4; stroke-dasharray: 4 3; }}
    .slash {{ stroke: #dc2626; stroke-width: 2.4; stroke-linecap: round; }}
    .cut {{ font-size: 11px; font-weight: 600; fill: #dc2626; }}
    .badge {{ font-size: 11px; font-weight: 700; }} .on-first {{ fill: #fff; }} .on-second {{ fill: #422006; }}
    .hidden {{ fill: #374151; }} .hidden-text {{ font-size: 11px; font-weight: 600; fill: #fff; }}
    {DISC_COLOURS}
    .line {{ fill: none; stroke: #fff; stroke-width: 1.4; }} .last {{ fill: #fff; }}
  </style>
  <defs>
    <g id="board">{board}</g>
  </defs>
  <rect width="{width:.0}" height="{height:.0}" fill="#fff"/>
  <text class="title" x="{MARGIN}" y="38">{title}</text>
  <text class="about" x="{MARGIN}" y="60">{about}</text>
{body}</svg>
"##,
        board = picture.board.empty(drawing.game.position()),
        about = escape(&about(drawing)),
    )
}

/// The point of view, and how much of the tree is drawn.
fn about(drawing: &TreeDrawing) -> String {
    let player = drawing.player();
    let drawn = match drawing.tree.hidden() {
        0 => format!("all {} of the search", counted(drawing.tree.nodes.len(), "node")),
        _ => format!("{} (dark labels)", drawing.extent()),
    };
    format!("{player} to move at the root; values from the point of view of {player}; {drawn}.")
}

/// The sizes of the small boards.
struct BoardSize {
    cell: f64,
    cols: f64,
    rows: f64,
}

impl BoardSize {
    fn new(position: &Position) -> BoardSize {
        let setup = position.setup();
        let (cols, rows) = (f64::from(setup.cols()), f64::from(setup.rows()));
        BoardSize { cell: (62.0 / cols).clamp(5.0, 12.0), cols, rows }
    }

    fn width(&self) -> f64 {
        self.cell * self.cols + 4.0
    }

    fn height(&self) -> f64 {
        self.cell * self.rows + 4.0
    }

    fn radius(&self) -> f64 {
        0.4 * self.cell
    }

    /// The middle of a cell, from the upper left corner of the board.
    fn middle(&self, cell: Cell) -> (f64, f64) {
        let x = 2.0 + self.cell * (cell.column.index() as f64 + 0.5);
        let y = 2.0 + self.cell * (self.rows - 0.5 - f64::from(cell.row));
        (x, y)
    }

    /// A board without discs.
    fn empty(&self, position: &Position) -> String {
        let (width, height, radius) = (self.width(), self.height(), self.radius());
        let mut svg = format!(
            r#"<rect width="{width:.1}" height="{height:.1}" rx="3" fill="{BOARD_COLOUR}"/>"#
        );
        for cell in Cell::in_reading_order(position.setup()) {
            let (x, y) = self.middle(cell);
            let _ =
                write!(svg, r#"<circle class="empty" cx="{x:.1}" cy="{y:.1}" r="{radius:.1}"/>"#);
        }
        svg
    }
}

/// The layout of all parts of the drawing.
struct Picture<'a> {
    drawing: &'a TreeDrawing,
    board: BoardSize,
    rows: Vec<usize>,
    captions: Vec<Caption>,
    card_width: f64,
    /// The middle of each node.
    middles: Vec<f64>,
    /// The centre of the pruned branches below each node that has some.
    cut_middles: Vec<Option<f64>>,
    width: f64,
}

impl<'a> Picture<'a> {
    fn new(drawing: &'a TreeDrawing) -> Picture<'a> {
        let board = BoardSize::new(drawing.game.position());
        let nodes = &drawing.tree.nodes;
        let captions = Caption::of_all(drawing);
        let text_widths = captions.iter().map(Caption::width);
        let card_width = text_widths.fold(MIN_WIDTH.max(board.width() + 2.0 * PAD), f64::max);
        let width = |node: &TreeNode| card_width.max(node.pass.as_deref().map_or(0.0, text_width));
        let item = |node| Item { width: width(node), children: node.children.clone() };
        let mut items: Vec<Item> = nodes.iter().map(item).collect();
        // Pruned moves come after the searched ones, as a separate item.
        let mut cut_items = vec![None; nodes.len()];
        for node in 0..nodes.len() {
            if let Some(cut) = drawing.cut(node) {
                cut_items[node] = Some(items.len());
                let index = items.len();
                items[node].children.push(index);
                let label = text_width(&cut_label(&cut));
                let width = label.max(STUB * cut.moves.len() as f64);
                items.push(Item { width, children: Vec::new() });
            }
        }
        let (middles, tree_width) = place(&items, GAP);
        let width = (tree_width + 2.0 * MARGIN).max(900.0);
        let left = (width - tree_width) / 2.0;
        let middles: Vec<f64> = middles.into_iter().map(|middle| middle + left).collect();
        let cut_middles = cut_items.into_iter().map(|item| item.map(|item| middles[item]));
        let cut_middles = cut_middles.collect();
        Picture {
            drawing,
            board,
            rows: drawing.rows(),
            captions,
            card_width,
            middles,
            cut_middles,
            width,
        }
    }

    /// The height of a node's outline without its roof or point.
    fn card_height(&self) -> f64 {
        self.board.height() + PAD + TEXT + 4.0
    }

    fn row_height(&self) -> f64 {
        self.card_height() + 2.0 * ROOF + ROW_GAP
    }

    fn rows_height(&self) -> f64 {
        let has_cut = |row: usize| {
            (0..self.rows.len())
                .any(|node| self.rows[node] == row && self.cut_middles[node].is_some())
        };
        let last = self.rows.iter().max().copied().unwrap_or(0);
        let stubs = if has_cut(last) { ROW_GAP } else { 0.0 };
        last as f64 * self.row_height() + self.card_height() + 2.0 * ROOF + stubs
    }

    /// The upper edge of a node, without a roof.
    fn top(&self, node: usize) -> f64 {
        HEADER + self.rows[node] as f64 * self.row_height() + ROOF + 8.0
    }

    /// Where the branches to a node's children start.
    fn foot(&self, node: usize) -> (f64, f64) {
        let point = if self.drawing.kind(node) == Kind::Min { ROOF } else { 0.0 };
        (self.middles[node], self.top(node) + self.card_height() + point)
    }

    /// Where the branch to a node ends.
    fn head(&self, node: usize) -> (f64, f64) {
        let roof = if self.drawing.kind(node) == Kind::Max { ROOF } else { 0.0 };
        (self.middles[node], self.top(node) - roof)
    }

    fn draw_branch(&self, svg: &mut String, node: usize) {
        let Some(parent) = self.drawing.tree.nodes[node].parent else { return };
        let ((x1, y1), (x2, y2)) = (self.foot(parent), self.head(node));
        let middle = f64::midpoint(y1, y2);
        let chosen = if self.drawing.chosen[node] { " chosen" } else { "" };
        let (class, style) = match self.visit_share(node) {
            None => ("branch", String::new()),
            Some(share) => {
                let width = 1.5 + (WIDEST_BRANCH - 1.5) * share;
                ("branch visits", format!(r#" style="stroke-width: {width:.1}""#))
            }
        };
        let _ = writeln!(
            svg,
            r#"  <path class="{class}{chosen}"{style} d="M{x1:.1} {y1:.1}C{x1:.1} {middle:.1} {x2:.1} {middle:.1} {x2:.1} {y2:.1}"/>"#
        );
    }

    /// The share of all simulations that went through a node.
    fn visit_share(&self, node: usize) -> Option<f64> {
        let visits = |node: usize| match self.drawing.tree.nodes[node].content {
            NodeContent::Visits { visits, .. } => Some(f64::from(visits)),
            NodeContent::Window { .. } => None,
        };
        Some(visits(node)? / visits(0)?.max(1.0))
    }

    fn draw_node(&self, svg: &mut String, index: usize) {
        let node = &self.drawing.tree.nodes[index];
        let _ =
            writeln!(svg, "  <g>\n    <title>{}</title>", escape(&details(self.drawing, index)));
        self.draw_card(svg, index);
        self.draw_board(svg, index);
        self.draw_texts(svg, index);
        self.draw_name(svg, index);
        if node.hidden > 0 {
            let text = format!("+{}", node.hidden);
            let width = text_width(&text) + 4.0;
            let (x, y) = (self.middles[index], self.foot(index).1);
            let left = x - width / 2.0;
            let top = y - 5.0;
            let _ = writeln!(
                svg,
                r#"    <rect class="hidden" x="{left:.1}" y="{top:.1}" width="{width:.1}" height="16" rx="8"/><text class="hidden-text middle" x="{x:.1}" y="{:.1}">{text}</text>"#,
                y + 7.0
            );
        }
        svg.push_str("  </g>\n");
    }

    fn draw_card(&self, svg: &mut String, index: usize) {
        let chosen = if self.drawing.chosen[index] { " chosen" } else { "" };
        let half = self.card_width / 2.0;
        let (x, top) = (self.middles[index], self.top(index));
        let kind = self.drawing.kind(index);
        card(svg, kind, chosen, [x - half, top, 2.0 * half, self.card_height()]);
    }

    fn draw_board(&self, svg: &mut String, index: usize) {
        let position = self.drawing.tree.position_at(index);
        let (left, top) = (self.middles[index] - self.board.width() / 2.0, self.top(index) + PAD);
        let radius = self.board.radius();
        let _ = write!(
            svg,
            r##"    <g transform="translate({left:.1} {top:.1})"><use href="#board"/>"##
        );
        for cell in Cell::in_reading_order(position.setup()) {
            let Some(player) = position.disc(cell) else { continue };
            let (x, y) = self.board.middle(cell);
            let class = disc_class(player);
            let _ =
                write!(svg, r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="{radius:.1}"/>"#);
        }
        let column = self.drawing.tree.nodes[index].column;
        if let Some(cell) = column.and_then(|column| top_cell(&position, column)) {
            let (x, y) = self.board.middle(cell);
            let dot = radius * 0.42;
            let _ = write!(svg, r#"<circle class="last" cx="{x:.1}" cy="{y:.1}" r="{dot:.1}"/>"#);
        }
        for cell in highlighted_cells(&position) {
            let (x, y) = self.board.middle(cell);
            let ring = radius * 0.7;
            let _ = write!(svg, r#"<circle class="line" cx="{x:.1}" cy="{y:.1}" r="{ring:.1}"/>"#);
        }
        svg.push_str("</g>\n");
    }

    fn draw_texts(&self, svg: &mut String, index: usize) {
        let Caption { value, class, small } = &self.captions[index];
        let x = self.middles[index];
        let y = self.top(index) + PAD + self.board.height() + 18.0;
        let _ = writeln!(
            svg,
            r#"    <text class="value middle{class}" x="{x:.1}" y="{y:.1}">{value}</text><text class="small middle" x="{x:.1}" y="{:.1}">{small}</text>"#,
            y + 15.0
        );
    }

    /// The column played, as a disc of its player; or the name of a pass.
    fn draw_name(&self, svg: &mut String, index: usize) {
        let (x, y) = self.head(index);
        let TreeNode { column, pass, level, .. } = &self.drawing.tree.nodes[index];
        if let Some(column) = column {
            let player = self.drawing.player();
            let mover = if level.is_multiple_of(2) { player.opponent() } else { player };
            badge(svg, mover, &column.to_string(), x, y - 4.0);
        } else if let Some(pass) = pass {
            let width = text_width(pass);
            let (left, top, pass) = (x - width / 2.0, y - 16.0, escape(&with_minus(pass)));
            let _ = writeln!(
                svg,
                r##"    <rect x="{left:.1}" y="{top:.1}" width="{width:.1}" height="18" rx="9" fill="#fff" stroke="#9ca3af"/><text class="badge middle" x="{x:.1}" y="{:.1}">{pass}</text>"##,
                y - 3.0
            );
        }
    }

    /// The pruned branches, and the bounds that pruned them.
    fn draw_cut(&self, svg: &mut String, index: usize) {
        let (Some(cut), Some(middle)) = (self.drawing.cut(index), self.cut_middles[index]) else {
            return;
        };
        let (x1, y1) = self.foot(index);
        let y2 = y1 + ROW_GAP;
        let title = format!("not searched: {}", cut.moves.join(" "));
        let _ = writeln!(svg, "  <g>\n    <title>{}</title>", escape(&title));
        let first = middle - STUB * (cut.moves.len() as f64 - 1.0) / 2.0;
        for (place, column) in cut.moves.iter().enumerate() {
            let x2 = first + STUB * place as f64;
            let _ =
                writeln!(svg, r#"    <path class="stub" d="M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}"/>"#);
            let (x, y) = (x1 + 0.62 * (x2 - x1), y1 + 0.62 * (y2 - y1));
            let _ = writeln!(svg, r#"    <path class="slash" d="M{:.1} {y:.1}h10"/>"#, x - 5.0);
            let _ = writeln!(
                svg,
                r##"    <circle cx="{x2:.1}" cy="{y2:.1}" r="8" fill="#fff" stroke="#6b7280" stroke-dasharray="3 2"/><text class="small middle" x="{x2:.1}" y="{:.1}">{column}</text>"##,
                y2 + 4.0
            );
        }
        let label = cut_label(&cut);
        let _ = writeln!(
            svg,
            r#"    <text class="cut middle" x="{middle:.1}" y="{:.1}">{label}</text>"#,
            y2 + 24.0
        );
        svg.push_str("  </g>\n");
    }
}

/// The outline of a node: a house for max, an inverted house for min, otherwise a box.
pub(super) fn card(svg: &mut String, kind: Kind, chosen: &str, [x, y, width, height]: [f64; 4]) {
    let class = kind.name();
    let roof = ROOF.min(0.7 * height);
    let (right, bottom, middle) = (x + width, y + height, x + width / 2.0);
    let path = match kind {
        Kind::Max => format!(
            "M{x:.1} {bottom:.1}V{y:.1}L{middle:.1} {:.1}L{right:.1} {y:.1}V{bottom:.1}Z",
            y - roof
        ),
        Kind::Min => format!(
            "M{x:.1} {y:.1}H{right:.1}V{bottom:.1}L{middle:.1} {:.1}L{x:.1} {bottom:.1}Z",
            bottom + roof
        ),
        _ => {
            let _ = writeln!(
                svg,
                r#"    <rect class="card {class}{chosen}" x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" rx="5"/>"#
            );
            return;
        }
    };
    let _ = writeln!(svg, r#"    <path class="card {class}{chosen}" d="{path}"/>"#);
}

/// A disc with the name of a column.
pub(super) fn badge(svg: &mut String, player: Player, column: &str, x: f64, y: f64) {
    let class = disc_class(player);
    let _ = writeln!(
        svg,
        r##"    <circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="{BADGE}" stroke="#fff" stroke-width="1.5"/><text class="badge middle on-{class}" x="{x:.1}" y="{:.1}">{column}</text>"##,
        y + 4.0
    );
}

fn cut_label(cut: &PrunedMoves) -> String {
    format!("α {} ≥ β {}", with_minus(&cut.alpha), with_minus(&cut.beta))
}
