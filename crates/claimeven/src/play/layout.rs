//! The layout of the screen, for any size.

use std::ops::Range;

use claimeven_game::{Cell, Column, Position};
use ratatui::layout::Rect;

/// The areas of the screen during a game. The board has the largest cells that fit.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) header: Rect,
    /// The disc above the board.
    pub(crate) hover: Rect,
    /// The cells and the frame around them.
    pub(crate) board: Rect,
    pub(crate) numbers: Rect,
    /// The evaluations of the columns; may be empty.
    pub(crate) evaluations: Rect,
    pub(crate) status: Rect,
    /// The search of the player to move; empty if there are panels.
    pub(crate) thinking: Rect,
    pub(crate) keys: Rect,
    /// `None` if there is not enough room.
    pub(crate) panels: Option<Rect>,
    /// Width and height.
    pub(crate) cell: (u16, u16),
    /// Whether the board fits on the screen; if it is too tall, some of its rows are hidden.
    pub(crate) fits: bool,
    /// The visible rows, counted from the bottom.
    pub(crate) rows: Range<u8>,
}

/// Widths and heights of cells, largest first.
const CELLS: [(u16, u16); 5] = [(8, 3), (6, 2), (3, 1), (2, 1), (1, 1)];

/// The minimum width of the panels.
const PANELS: u16 = 30;

/// Lines besides the cells and the disc above them: header, frame, numbers, status and keys.
const LINES: u16 = 5;

impl Layout {
    pub(crate) fn of(area: Rect, position: &Position) -> Layout {
        let setup = position.setup();
        let visible = visible_rows(area, position);
        let (cols, rows) = (u16::from(setup.cols()), u16::from(visible.end - visible.start));
        let fits = |&(width, height): &(u16, u16)| {
            cols * width + 2 <= area.width && LINES + height * (rows + 1) <= area.height
        };
        let found = CELLS.into_iter().find(fits);
        let (width, height) = found.unwrap_or((1, 1));
        let board_width = cols * width + 2;
        let has_panels = area.width >= board_width + 1 + PANELS;
        let mut spare = area.height.saturating_sub(LINES + height * (rows + 1));
        let mut take = |lines: u16| {
            let lines = lines.min(spare);
            spare -= lines;
            lines
        };
        let evaluation_height = take(2);
        let thinking_height = if has_panels { 0 } else { take(1) };
        // The keys get a second line if there is room.
        let keys_height = 1 + if area.width < 76 { take(1) } else { 0 };

        let left = if has_panels { 1 } else { area.width.saturating_sub(board_width) / 2 };
        let mut y = area.y;
        let mut rows_of = |x: u16, width: u16, height: u16| {
            let rect = Rect::new(area.x + x, y, width, height).intersection(area);
            y += height;
            rect
        };
        let header = rows_of(0, area.width, 1);
        let hover = rows_of(left, board_width, height);
        let board = rows_of(left, board_width, height * rows + 1);
        let numbers = rows_of(left, board_width, 1);
        let evaluations = rows_of(left, board_width, evaluation_height);
        // The last lines are at the bottom of the screen; the panels end above them.
        let foot = area.height.saturating_sub(keys_height + thinking_height + 1);
        let status = Rect::new(area.x, area.y + foot, area.width, 1).intersection(area);
        let thinking =
            Rect::new(area.x, status.bottom(), area.width, thinking_height).intersection(area);
        let keys = Rect::new(area.x, thinking.bottom(), area.width, keys_height).intersection(area);
        let panels = has_panels.then(|| {
            let x = left + board_width + 1;
            let height = status.y.saturating_sub(hover.y);
            Rect::new(area.x + x, hover.y, area.width - x, height).intersection(area)
        });
        Layout {
            header,
            hover,
            board,
            numbers,
            evaluations,
            status,
            thinking,
            keys,
            panels,
            cell: (width, height),
            fits: found.is_some(),
            rows: visible,
        }
    }

    /// The x coordinate of a column.
    pub(crate) fn column_x(&self, column: usize) -> u16 {
        self.board.x + 1 + self.cell.0 * column as u16
    }

    /// The area of a cell, unless its row is hidden.
    pub(crate) fn cell_area(&self, cell: Cell) -> Option<Rect> {
        let (width, height) = self.cell;
        let from_top = self.rows.contains(&cell.row).then(|| self.rows.end - 1 - cell.row)?;
        let y = self.board.y + height * u16::from(from_top);
        Some(Rect::new(self.column_x(cell.column.index()), y, width, height))
    }

    /// The column at a point on the board or above it.
    pub(crate) fn column_at(&self, x: u16, y: u16) -> Option<usize> {
        let is_inside = (self.hover.y..self.numbers.bottom()).contains(&y);
        let x = x.checked_sub(self.board.x + 1)?;
        let columns = (self.board.width.saturating_sub(2)) / self.cell.0;
        let column = x / self.cell.0;
        (is_inside && column < columns).then_some(usize::from(column))
    }
}

/// The rows to show: all of them, or as many as fit below the first free row above all discs.
fn visible_rows(area: Rect, position: &Position) -> Range<u8> {
    let rows = position.setup().rows();
    let room = area.height.saturating_sub(LINES + 1).clamp(1, 255) as u8;
    if room >= rows {
        return 0..rows;
    }
    let tallest = Column::all(position.setup()).map(|column| height(position, column)).max();
    let top = (tallest.unwrap_or(0) as u8 + 2).clamp(room, rows);
    top - room..top
}

/// The number of discs in a column.
pub(crate) fn height(position: &Position, column: Column) -> usize {
    let rows = 0..position.setup().rows();
    rows.filter(|&row| position.disc(Cell { column, row }).is_some()).count()
}
