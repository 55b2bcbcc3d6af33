//! Where everything is on a screen of any size.

use claimeven_game::{Cell, Column, Position, Setup};
use ratatui::layout::Rect;

/// The parts of the screen during a game. The board takes the largest cells that fit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// Who plays, in a line.
    pub(crate) header: Rect,
    /// Where the hover disc is.
    pub(crate) hover: Rect,
    /// The cells with the frame at their sides and below.
    pub(crate) board: Rect,
    pub(crate) numbers: Rect,
    /// What columns are worth; may have no height.
    pub(crate) opinion: Rect,
    pub(crate) status: Rect,
    /// What the player to move thinks; has no height where there are panels.
    pub(crate) thinking: Rect,
    pub(crate) keys: Rect,
    /// The panels, where there is room for them.
    pub(crate) panels: Option<Rect>,
    /// The width and height of a cell.
    pub(crate) cell: (u16, u16),
    /// Whether the whole board is on the screen.
    pub(crate) fits: bool,
}

/// Widths and heights of cells, the largest first.
const CELLS: [(u16, u16); 5] = [(8, 3), (6, 2), (3, 1), (2, 1), (1, 1)];

/// The least width of the panels.
const PANELS: u16 = 30;

/// Lines besides the cells and the hover disc: players, base, numbers, status and keys.
const LINES: u16 = 5;

impl Layout {
    pub(crate) fn of(area: Rect, setup: Setup) -> Layout {
        let (cols, rows) = (u16::from(setup.cols()), u16::from(setup.rows()));
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
        let opinion_height = take(2);
        let thinking_height = if has_panels { 0 } else { take(1) };
        // The keys have a second line where there is room.
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
        let opinion = rows_of(left, board_width, opinion_height);
        // The last lines stand at the foot of the screen; the panels go down to them.
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
            opinion,
            status,
            thinking,
            keys,
            panels,
            cell: (width, height),
            fits: found.is_some(),
        }
    }

    /// The left end of a column.
    pub(crate) fn column_x(&self, column: usize) -> u16 {
        self.board.x + 1 + self.cell.0 * column as u16
    }

    /// The area of a cell.
    pub(crate) fn cell_area(&self, setup: Setup, cell: Cell) -> Rect {
        let (width, height) = self.cell;
        let from_top = u16::from(setup.rows() - 1 - cell.row);
        let y = self.board.y + height * from_top;
        Rect::new(self.column_x(cell.column.index()), y, width, height)
    }

    /// The column at a place of the screen, on the board or above it.
    pub(crate) fn column_at(&self, x: u16, y: u16) -> Option<usize> {
        let is_inside = (self.hover.y..self.numbers.bottom()).contains(&y);
        let x = x.checked_sub(self.board.x + 1)?;
        let columns = (self.board.width.saturating_sub(2)) / self.cell.0;
        let column = x / self.cell.0;
        (is_inside && column < columns).then_some(usize::from(column))
    }
}

/// How many discs are in a column.
pub(crate) fn height(position: &Position, column: Column) -> usize {
    let rows = 0..position.setup().rows();
    rows.filter(|&row| position.disc(Cell { column, row }).is_some()).count()
}
