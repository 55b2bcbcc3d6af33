//! Positions and search trees as self-contained SVG documents.

mod caption;
mod layout;
mod legend;
mod marks;
mod tree;

use std::fmt::Write;

use claimeven_coach::Mark;
use claimeven_game::{Cell, Column, Player, Position};

pub use tree::draw as tree;

/// The colour of the board in SVG.
pub(crate) const BOARD_COLOUR: &str = "#2456a6";

/// The colours of holes and discs in SVG, as CSS rules.
pub(crate) const DISC_COLOURS: &str =
    ".empty { fill: #f6f8fb; } .first { fill: #d8343c; } .second { fill: #f5c518; }";

/// The class of a disc in [`DISC_COLOURS`].
pub(crate) const fn disc_class(player: Player) -> &'static str {
    match player {
        Player::First => "first",
        Player::Second => "second",
    }
}

/// A position as a self-contained SVG document.
///
/// ```
/// use claimeven_arena::svg;
/// use claimeven_game::{Position, Setup};
///
/// let position = Position::from_moves(Setup::STANDARD, "4453")?;
/// assert!(svg::board(&position).starts_with("<svg"));
/// # Ok::<(), claimeven_game::MoveTextError>(())
/// ```
pub fn board(position: &Position) -> String {
    board_with_marks(position, &[], &[])
}

/// A position with the coach's marks, and lines of text below it.
pub fn board_with_marks(position: &Position, marks: &[Mark], text: &[String]) -> String {
    const CELL: u32 = 48;
    const RADIUS: u32 = 19;
    const MARGIN: u32 = 8;
    const LABELS: u32 = 22;
    const TEXT_LINE: u32 = 20;
    let setup = position.setup();
    let (cols, rows) = (u32::from(setup.cols()), u32::from(setup.rows()));
    let (width, height) = (cols * CELL + 2 * MARGIN, rows * CELL + 2 * MARGIN);
    let centre = |cell: Cell| {
        let x = MARGIN + CELL / 2 + CELL * cell.column.index() as u32;
        let y = MARGIN + CELL / 2 + CELL * (rows - 1 - u32::from(cell.row));
        (x, y)
    };
    let mut discs = String::new();
    let mut labels = String::new();
    let highlighted = highlighted_cells(position);
    for cell in Cell::in_reading_order(setup) {
        let (x, y) = centre(cell);
        let class = position.disc(cell).map_or("empty", disc_class);
        let _ = writeln!(discs, r#"  <circle class="{class}" cx="{x}" cy="{y}" r="{RADIUS}"/>"#);
        if highlighted.contains(&cell) {
            let _ = writeln!(discs, r#"  <circle class="line" cx="{x}" cy="{y}" r="9"/>"#);
        }
    }
    for column in Column::all(setup) {
        let (x, _) = centre(Cell { column, row: 0 });
        let y = height + LABELS - 6;
        let _ = writeln!(labels, r#"  <text x="{x}" y="{y}">{column}</text>"#);
    }
    let mut total = height + LABELS;
    for line in text {
        total += TEXT_LINE;
        let (x, y, line) = (MARGIN, total - 4, escape(line));
        let _ = writeln!(labels, r#"  <text class="text" x="{x}" y="{y}">{line}</text>"#);
    }
    let drawn = marks::draw(marks, centre, RADIUS);
    let (mark_colours, hatch) =
        if marks.is_empty() { ("", "") } else { (marks::MARK_COLOURS, marks::HATCH) };
    let text_style = match text {
        [] => "",
        _ => "\n    .text { text-anchor: start; fill: #111827; }",
    };
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {total}" width="{width}" height="{total}" role="img">
  <title>Connect Four board</title>
  <style>
    {DISC_COLOURS}
    .first, .second {{ stroke: #0003; stroke-width: 2; }}
    .line {{ fill: none; stroke: #fff; stroke-width: 4; }}
    text {{ font: 15px system-ui, sans-serif; fill: #6b7280; text-anchor: middle; }}{text_style}{mark_colours}
  </style>{hatch}
  <rect width="{width}" height="{height}" rx="12" fill="{BOARD_COLOUR}"/>
{discs}{drawn}{labels}</svg>"#
    )
}

/// The discs to highlight: the winning row, or all rows of both players where each is a point.
pub fn highlighted_cells(position: &Position) -> Vec<Cell> {
    Player::BOTH.into_iter().flat_map(|player| position.line_cells(player)).collect()
}

/// The topmost disc of a column.
pub fn top_cell(position: &Position, column: Column) -> Option<Cell> {
    let rows = (0..position.setup().rows()).rev();
    rows.map(|row| Cell { column, row }).find(|&cell| position.disc(cell).is_some())
}

/// Escapes the special characters of XML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A count with its noun in the singular or the plural: `1 node`, `2 nodes`.
fn counted(count: impl TryInto<u64>, noun: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}
