//! A position as text for terminals and pipes.

use std::fmt;

use anstyle::{AnsiColor, Style};
use claimeven_arena::svg::{highlighted_cells, top_cell};
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
