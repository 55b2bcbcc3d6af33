//! The board, the disc above it, and the evaluations of the columns below it.

use claimeven_arena::Participant;
use claimeven_arena::svg::{highlighted_cells, top_cell};
use claimeven_game::{Cell, Column, Player};
use claimeven_search::{BoundKind, ColumnValue, Value};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::super::app::{AnalysisBy, Hint, Screen, normalized};
use super::super::look::Look;
use super::{View, put};

/// The evaluation of a column.
pub(super) struct ColumnEvaluation {
    /// From -1 (lost) to 1 (won).
    value: f64,
    label: String,
    pub(super) text: String,
}

impl View<'_> {
    pub(super) fn draw_hover(&self, buffer: &mut Buffer) {
        let app = self.app;
        let awaits_human = app.screen == Screen::Game
            && app.fall.is_none()
            && !app.session.is_over()
            && *app.session.seat(self.position().player()) == Participant::Human;
        if awaits_human && self.layout.fits {
            let (width, height) = self.layout.cell;
            let x = self.layout.column_x(app.cursor);
            let area = Rect::new(x, self.layout.hover.y, width, height);
            self.draw_disc(self.position().player(), area, [" ", " "], Style::new(), buffer);
        }
    }

    pub(super) fn draw_board(&self, buffer: &mut Buffer) {
        let board = self.layout.board;
        let setup = self.position().setup();
        let style = self.look.board_style();
        buffer.set_style(board, style);
        let side = self.look.symbol("│", "|");
        // A floor of dots has more rows below it.
        let floor = match self.layout.rows.start {
            0 => self.look.symbol("─", "-"),
            _ => self.look.symbol("┈", "."),
        };
        let base_y = board.bottom().saturating_sub(1);
        for y in board.y..base_y {
            put(buffer, board.x, y, side, style);
            put(buffer, board.right().saturating_sub(1), y, side, style);
        }
        let inside = floor.repeat(usize::from(board.width.saturating_sub(2)));
        let base =
            if self.look.unicode { format!("└{inside}┘") } else { format!("+{inside}+") };
        put(buffer, board.x, base_y, &base, style);

        let last = self.game.moves().last().and_then(|&column| top_cell(self.position(), column));
        let highlighted = highlighted_cells(self.position());
        let falling = self.falling();
        for cell in Cell::in_reading_order(setup) {
            let Some(area) = self.layout.cell_area(cell) else { continue };
            let disc = match falling {
                Some((at, target, player)) if cell == at || cell == target => {
                    (cell == at).then_some(player)
                }
                _ => self.position().disc(cell),
            };
            let Some(player) = disc else {
                let (width, height) = self.layout.cell;
                let sign = self.look.symbol("·", ".");
                put(buffer, area.x + width.saturating_sub(1) / 2, area.y + height / 2, sign, style);
                continue;
            };
            let is_still = falling.is_none();
            let (marks, style) = match () {
                () if is_still && highlighted.contains(&cell) => {
                    (["[", "]"], Modifier::REVERSED.into())
                }
                () if is_still && last == Some(cell) => (["(", ")"], Style::new()),
                () => ([" ", " "], Style::new()),
            };
            self.draw_disc(player, area, marks, style, buffer);
        }
    }

    /// The current cell of the falling disc, its destination and its player.
    fn falling(&self) -> Option<(Cell, Cell, Player)> {
        let (column, fallen) = self.app.falling()?;
        let top = self.position().setup().rows() - 1;
        let target = top_cell(self.position(), column)?;
        let row = top.saturating_sub(fallen.min(255) as u8).max(target.row);
        Some((Cell { column, row }, target, self.position().disc(target)?))
    }

    /// Draws a disc in the middle of an area, with marks beside it if there is room.
    fn draw_disc(
        &self,
        player: Player,
        area: Rect,
        [left, right]: [&str; 2],
        style: Style,
        buffer: &mut Buffer,
    ) {
        let disc = self.look.disc(player, self.layout.cell);
        let disc_style = self.look.disc_style(player).patch(style);
        let width = disc[0].chars().count() as u16;
        let margin = area.width.saturating_sub(width) / 2;
        for (y, row) in (area.y..).zip(disc) {
            put(buffer, area.x + margin, y, row, disc_style);
            let mark_style = self.look.disc_style(player);
            if margin > 0 {
                put(buffer, area.x + margin - 1, y, left, mark_style);
                put(buffer, area.x + margin + width, y, right, mark_style);
            }
        }
        if margin == 0 && left != " " {
            buffer.set_style(area, Modifier::REVERSED);
        }
    }

    /// Draws the column numbers and the evaluations of the columns.
    pub(super) fn draw_columns(&self, buffer: &mut Buffer) {
        let width = usize::from(self.layout.cell.0);
        let evaluations = self.column_evaluations();
        for column in Column::all(self.position().setup()) {
            let x = self.layout.column_x(column.index());
            let is_cursor = self.app.screen == Screen::Game && column.index() == self.app.cursor;
            let is_hint = self.app.hint == Hint::Given(column);
            let text = match () {
                () if width >= 3 && is_hint => format!("*{column}*"),
                () if width >= 3 && is_cursor => format!("[{column}]"),
                () => column.to_string(),
            };
            let style = match () {
                () if is_hint => self.look.title_style(),
                () if is_cursor => Modifier::BOLD.into(),
                () => Style::new().add_modifier(Modifier::DIM),
            };
            let style =
                if width < 3 && is_cursor { style.add_modifier(Modifier::REVERSED) } else { style };
            put(buffer, x, self.layout.numbers.y, &format!("{text:^width$}"), style);
            let Some(evaluation) = &evaluations[column.index()] else { continue };
            let style = self.look.value_style(evaluation.value);
            let bar = bar(evaluation.value, self.look).repeat(width.saturating_sub(2).max(1));
            // Labels must not touch each other; the first character is the most useful one.
            let room = if evaluation.label.len() < width { evaluation.label.len() } else { 1 };
            let label = &evaluation.label[..room];
            let texts = [format!("{bar:^width$}"), format!("{label:^width$}")];
            for (y, text) in
                (self.layout.evaluations.y..self.layout.evaluations.bottom()).zip(texts)
            {
                put(buffer, x, y, &text, style);
            }
        }
    }

    /// The evaluation of each column of the displayed position.
    pub(super) fn column_evaluations(&self) -> Vec<Option<ColumnEvaluation>> {
        let cols = usize::from(self.position().setup().cols());
        let mut evaluations: Vec<Option<ColumnEvaluation>> = (0..cols).map(|_| None).collect();
        if self.app.screen != Screen::Game {
            let next = self.app.current_review().and_then(|r| r.moves.get(self.game.moves().len()));
            for choice in next.iter().flat_map(|next| &next.choices) {
                let value = f64::from(choice.score.signum());
                let number: String = choice.value.chars().filter(char::is_ascii_digit).collect();
                let label = match choice.score {
                    0 => "=".to_owned(),
                    1.. => format!("W{number}"),
                    _ => format!("L{number}"),
                };
                let evaluation = ColumnEvaluation { value, label, text: choice.value.clone() };
                evaluations[usize::from(choice.column) - 1] = Some(evaluation);
            }
            return evaluations;
        }
        let analysis =
            self.app.current_analysis().filter(|_| self.app.analysis_by != AnalysisBy::Off);
        let Some(Ok(decision)) = analysis.map(|analysis| &analysis.decision) else {
            return evaluations;
        };
        for (evaluation, known) in evaluations.iter_mut().zip(&decision.columns) {
            *evaluation = known.map(|ColumnValue { value, bound }| {
                let sign = match bound {
                    BoundKind::Exact => "",
                    BoundKind::Upper => "<",
                    BoundKind::Lower => ">",
                };
                let label = match value {
                    Value::Win(plies) => format!("{sign}W{}", plies.div_ceil(2)),
                    Value::Loss(plies) => format!("{sign}L{}", plies / 2),
                    Value::Draw => format!("{sign}="),
                    Value::Points(points) => format!("{sign}{points:+}"),
                    // Two digits fit everywhere.
                    Value::Expected(result) => format!("{:.0}", (100.0 * result).min(99.0)),
                };
                let words = match bound {
                    BoundKind::Exact => "",
                    BoundKind::Upper => "at most ",
                    BoundKind::Lower => "at least ",
                };
                ColumnEvaluation {
                    value: normalized(value),
                    label,
                    text: format!("{words}{value}"),
                }
            });
        }
        evaluations
    }
}

/// A bar for a value from -1 to 1.
fn bar(value: f64, look: Look) -> &'static str {
    const BARS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
    const ASCII: [&str; 9] = [" ", ".", ",", "-", "~", "=", "+", "*", "#"];
    let reaches = |level: &usize| (value + 1.0) * 4.0 >= *level as f64 - 0.5;
    let level = (1..BARS.len()).take_while(reaches).count();
    if look.unicode { BARS[level] } else { ASCII[level] }
}
