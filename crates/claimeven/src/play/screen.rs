//! Draws the screen.

mod board;
mod dialogs;
mod panels;

use std::time::Duration;

use claimeven_arena::Participant;
use claimeven_game::{Game, Player, Position};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget, Wrap};

use super::app::{AnalysisBy, App, Popup, Screen};
use super::form::{name, without_seed};
use super::layout::Layout;
use super::look::Look;
use super::session::ClockText;
use super::texts::{move_text, number, short_accuracy, short_move_text};
use crate::text::{capitalized, counted};

/// Draws the whole screen.
pub(crate) fn draw(frame: &mut Frame, app: &App, look: Look) {
    let area = frame.area();
    let buffer = frame.buffer_mut();
    match (app.screen, &app.popup) {
        (Screen::Start, Some(Popup::Players(form))) => {
            dialogs::draw_start(form, area, buffer, look);
        }
        (Screen::Start, Some(Popup::Help(Some(form)))) => {
            dialogs::draw_start(form, area, buffer, look);
            dialogs::draw_form_help(area, buffer, look);
        }
        (_, popup) => {
            let game = app.displayed_game();
            let layout = Layout::of(area, game.position());
            View { app, look, layout, game }.draw(buffer);
            match popup {
                None => {}
                Some(Popup::Help(None)) => dialogs::draw_help(area, buffer, look),
                Some(Popup::Help(Some(_))) => dialogs::draw_form_help(area, buffer, look),
                Some(Popup::Confirm(question)) => {
                    dialogs::draw_question(*question, area, buffer, look);
                }
                Some(Popup::Players(form)) => dialogs::draw_players(form, area, buffer, look),
                Some(Popup::Explanation) => {
                    let text = app.current_explanation().map(|explained| explained.text.as_str());
                    dialogs::draw_explanation(text, area, buffer, look);
                }
                Some(Popup::Input(purpose, input)) => {
                    dialogs::draw_input(*purpose, input, area, buffer, look);
                }
            }
        }
    }
}

/// The screen of a game or its review.
struct View<'a> {
    app: &'a App,
    look: Look,
    layout: Layout,
    /// The displayed game.
    game: Game,
}

impl View<'_> {
    fn draw(&self, buffer: &mut Buffer) {
        self.draw_header(buffer);
        if !self.layout.fits {
            let text = "The window is too small for the board.";
            put(buffer, self.layout.header.x, self.layout.hover.y, text, self.look.error_style());
        }
        self.draw_hover(buffer);
        self.draw_board(buffer);
        self.draw_columns(buffer);
        Paragraph::new(self.status_line()).render(self.layout.status, buffer);
        if self.layout.thinking.height > 0 {
            Paragraph::new(self.short_line()).render(self.layout.thinking, buffer);
        }
        if let Some(panels) = self.layout.panels {
            self.draw_panels(panels, buffer);
        }
        let keys = Paragraph::new(self.keys()).wrap(Wrap { trim: true });
        keys.style(Style::new().add_modifier(Modifier::DIM)).render(self.layout.keys, buffer);
    }

    fn position(&self) -> &Position {
        self.game.position()
    }

    fn draw_header(&self, buffer: &mut Buffer) {
        let line = if self.layout.panels.is_some() {
            let setup = self.position().setup();
            let rows = &self.layout.rows;
            let shown = if rows.len() < usize::from(setup.rows()) {
                format!("; rows {} to {} are shown", rows.start + 1, rows.end)
            } else {
                String::new()
            };
            Line::from(vec![
                Span::styled(" Claimeven  ", self.look.title_style()),
                Span::raw(format!("{setup}{shown}")),
            ])
        } else {
            let mut spans = Vec::new();
            for player in Player::BOTH {
                let mut name = name(&self.app.session, player);
                name.truncate(11);
                spans.push(self.disc_span(player));
                let mark = if self.is_turn(player) { "<" } else { " " };
                spans.push(Span::raw(format!(" {name} {}{mark} ", self.clock(player))));
            }
            Line::from(spans)
        };
        Paragraph::new(line).render(self.layout.header, buffer);
    }

    fn is_turn(&self, player: Player) -> bool {
        self.app.screen == Screen::Game
            && !self.app.session.is_over()
            && self.position().player() == player
    }

    /// The time left on a player's clock, or the time used if there is no clock.
    fn clock(&self, player: Player) -> ClockText {
        let session = &self.app.session;
        let is_turn = self.is_turn(player);
        let thinking = if is_turn { self.app.turn_time() } else { Duration::ZERO };
        ClockText(session.left(player, thinking).unwrap_or(session.spent(player) + thinking))
    }

    fn disc_span(&self, player: Player) -> Span<'static> {
        Span::styled(self.look.small_disc(player), self.look.disc_style(player))
    }

    fn status_line(&self) -> Line<'static> {
        let app = self.app;
        if let Some(message) = &app.message {
            return Line::styled(format!(" {message}"), Modifier::BOLD);
        }
        if let Screen::Review(ply) = app.screen {
            let text = match app.current_review() {
                None => "Reviewing the game ...".to_owned(),
                Some(_) if ply == 0 => {
                    format!("Review of {}", counted(app.session.played().len(), "move"))
                }
                Some(review) => {
                    let reviewed = &review.moves[ply - 1];
                    let name = self.look.player_name(Player::BOTH[(ply - 1) % 2]);
                    if self.layout.panels.is_none() {
                        short_move_text(reviewed, ply, name)
                    } else {
                        move_text(reviewed, ply, name)
                    }
                }
            };
            return Line::styled(format!(" {text}"), Modifier::BOLD);
        }
        let evaluations = self.column_evaluations();
        let about_column = evaluations[app.cursor].as_ref().map_or(String::new(), |evaluation| {
            let column = if self.layout.panels.is_some() { "column " } else { "" };
            format!("; {column}{}: {}", app.cursor + 1, evaluation.text)
        });
        let paused = if app.is_waiting() { " (paused)" } else { "" };
        Line::styled(format!(" {}{paused}{about_column}", self.status()), Modifier::BOLD)
    }

    /// The number of the move with the side to move, or the result.
    fn status(&self) -> String {
        let session = &self.app.session;
        let status =
            session.status(&Player::BOTH.map(|player| self.look.player_name(player).to_owned()));
        if session.is_over() {
            return capitalized(&status);
        }
        format!("Move {}: {status}", session.played().len() + 1)
    }

    /// One line instead of the panels, if there is no room for them.
    fn short_line(&self) -> Line<'static> {
        let app = self.app;
        if let (true, Some(review)) = (app.session.is_over(), app.current_review()) {
            let [first, second] = &review.players;
            let [red, yellow] = Player::BOTH.map(|player| self.look.player_name(player));
            let (first, second) = (short_accuracy(first), short_accuracy(second));
            return Line::from(format!(" {red} {first}; {yellow} {second}"));
        }
        if app.is_waiting() {
            return Line::from(" Paused: p resume, . one move");
        }
        let Some(thinking) = &app.thinking else {
            return Line::from(format!(" {}", self.analysis_text()));
        };
        let info = &thinking.info;
        let value = info.value.map_or(String::new(), |value| format!("{value}, "));
        let pv: String = info.pv.iter().take(8).map(|column| column.to_char()).collect();
        let name = self.look.player_name(thinking.player);
        Line::from(format!(" {name}: {value}{} nodes, {pv}", number(info.nodes)))
    }

    fn analysis_text(&self) -> String {
        match &self.app.analysis_by {
            AnalysisBy::Off => "a: evaluate the columns".to_owned(),
            AnalysisBy::Exact => self.analyst_text("exact"),
            AnalysisBy::Agent(spec) => {
                self.analyst_text(&without_seed(&Participant::Agent(spec.clone())))
            }
        }
    }

    fn analyst_text(&self, name: &str) -> String {
        match self.app.current_analysis().map(|analysis| &analysis.decision) {
            None if !self.app.session.is_over() => format!("{name}: searching ..."),
            Some(Err(_)) => format!("{name}: not available"),
            Some(Ok(decision)) => format!("{name}: {}", decision.value),
            None => name.to_owned(),
        }
    }

    fn keys(&self) -> Line<'static> {
        let arrows = self.look.symbol("← →", "arrows");
        let is_wide = self.layout.keys.width >= 76;
        let text = match self.app.screen {
            Screen::Review(_) if is_wide => {
                format!(
                    " {arrows} step  e/E next/previous error  w why  s save  v back  ? keys  q quit"
                )
            }
            Screen::Review(_) => format!("{arrows} step e error w why v back ? keys"),
            _ if self.app.session.is_over() && is_wide => {
                " n new  v review  u undo  x swap  o players  s save  l load  ? keys  q quit"
                    .to_owned()
            }
            _ if self.app.session.is_over() => {
                "n new  v review  u undo  s save  ? keys  q quit".to_owned()
            }
            _ if !self.app.session.has_human() => {
                let pause = if self.app.paused { "resume" } else { "pause" };
                format!(
                    " p {pause}  . step  + - speed  a analysis  o players  n new  ? keys  q quit"
                )
            }
            _ if is_wide => format!(
                " 1-9 {arrows} Enter play  u undo  h hint  a analysis  e explain  ? keys  q quit"
            ),
            _ => "1-9 play  u undo  h hint  ? keys  q quit".to_owned(),
        };
        Line::from(text)
    }
}

/// Writes a text, clipped to the buffer.
fn put(buffer: &mut Buffer, x: u16, y: u16, text: &str, style: Style) {
    let area = buffer.area;
    if y < area.bottom() && x < area.right() {
        buffer.set_stringn(x, y, text, usize::from(area.right() - x), style);
    }
}
