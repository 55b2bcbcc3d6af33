//! Drawings of a position: as text for terminals and pipes, and as SVG.

use std::fmt::{self, Write};

use anstyle::{AnsiColor, Style};
use claimeven_game::{Cell, Column, Player, Position};

/// A board as text, with the winning discs in brackets and the last move in parentheses.
///
/// It contains colours, which `anstream` removes where they are not wanted.
pub(crate) struct Drawing<'a> {
    pub(crate) position: &'a Position,
    pub(crate) last_move: Option<Column>,
}

impl fmt::Display for Drawing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let setup = self.position.setup();
        let highlighted = highlighted_cells(self.position);
        let last_cell = self.last_move.and_then(|column| top_cell(self.position, column));
        for cell in Cell::in_reading_order(setup) {
            let disc = self.position.disc(cell);
            let (left, right) = match () {
                () if highlighted.contains(&cell) => ('[', ']'),
                () if last_cell == Some(cell) => ('(', ')'),
                () => (' ', ' '),
            };
            let style = disc.map_or(Style::new().dimmed(), disc_style);
            let disc = disc.map_or('.', Player::disc);
            if cell.column.index() == 0 {
                f.write_str("|")?;
            }
            write!(f, "{style}{left}{disc}{right}{style:#}")?;
            if cell.column.number() == setup.cols() {
                f.write_str("|\n")?;
            }
        }
        writeln!(f, "+{}+", "---".repeat(setup.cols().into()))?;
        let numbers: Vec<String> = Column::all(setup).map(|column| column.to_string()).collect();
        write!(f, "  {}", numbers.join("  "))
    }
}

/// The style of a player's discs and name.
pub(crate) fn disc_style(player: Player) -> Style {
    let colour = match player {
        Player::First => AnsiColor::BrightRed,
        Player::Second => AnsiColor::BrightYellow,
    };
    Style::new().bold().fg_color(Some(colour.into()))
}

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

/// The position as a self-contained SVG document.
pub(crate) fn svg(position: &Position) -> String {
    const CELL: u32 = 48;
    const RADIUS: u32 = 19;
    const MARGIN: u32 = 8;
    const LABELS: u32 = 22;
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
    let total = height + LABELS;
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {total}" width="{width}" height="{total}" role="img">
  <title>Connect Four board</title>
  <style>
    {DISC_COLOURS}
    .first, .second {{ stroke: #0003; stroke-width: 2; }}
    .line {{ fill: none; stroke: #fff; stroke-width: 4; }}
    text {{ font: 15px system-ui, sans-serif; fill: #6b7280; text-anchor: middle; }}
  </style>
  <rect width="{width}" height="{height}" rx="12" fill="{BOARD_COLOUR}"/>
{discs}{labels}</svg>"#
    )
}

/// The discs to highlight: the winning row, or all rows of both players if each scores a point.
pub(crate) fn highlighted_cells(position: &Position) -> Vec<Cell> {
    Player::BOTH.into_iter().flat_map(|player| position.line_cells(player)).collect()
}

/// The topmost disc of a column.
pub(crate) fn top_cell(position: &Position, column: Column) -> Option<Cell> {
    let rows = (0..position.setup().rows()).rev();
    rows.map(|row| Cell { column, row }).find(|&cell| position.disc(cell).is_some())
}
