//! The screen: what the state looks like.

use std::time::Duration;

use claimeven_arena::{AgentSpec, Judgement, MoveReview, PlayerReview, Seat};
use claimeven_game::{Cell, Column, Game, Player, Position, Ruleset};
use claimeven_search::{Bound, ColumnValue, LEVELS, Thought, Value};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Alignment, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::symbols::border;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph, Widget, Wrap};

use super::app::{App, Hint, Input, Popup, Purpose, Question, Screen, Source, share};
use super::form::{Form, name, without_seed};
use super::layout::Layout;
use super::look::Look;
use super::table::ClockText;
use crate::draw::{highlighted_cells, top_cell};
use crate::review::counted;

/// Draws everything.
pub(crate) fn draw(frame: &mut Frame, app: &App, look: Look) {
    let area = frame.area();
    let buffer = frame.buffer_mut();
    if let (Screen::Start, Some(Popup::Players(form))) = (app.screen, &app.popup) {
        draw_start(form, area, buffer, look);
        return;
    }
    let view = View { app, look, layout: Layout::of(area, app.table.setup()), game: app.shown() };
    view.draw(buffer);
    match &app.popup {
        None => {}
        Some(Popup::Help) => draw_box("Keys", help(look), area, buffer, look),
        Some(Popup::Confirm(question)) => {
            let (title, text) = match question {
                Question::Quit => ("Quit", "Leave the game?"),
                Question::Resign => ("Give up", "Give the game up?"),
                Question::New => ("New game", "Leave this game for a new one?"),
            };
            let lines = vec![Line::from(text), Line::default(), Line::from("y  yes     n  no")];
            draw_box(title, lines, area, buffer, look);
        }
        Some(Popup::Players(form)) => {
            let mut lines = field_lines(form, look);
            lines.push(about(form));
            lines.push(error_line(form.error.as_deref(), look));
            lines.push(Line::from("Left, Right or type; Enter, Esc"));
            draw_box("Players", lines, area, buffer, look);
        }
        Some(Popup::Input(purpose, input)) => draw_input(*purpose, input, area, buffer, look),
    }
}

/// The game or its review.
struct View<'a> {
    app: &'a App,
    look: Look,
    layout: Layout,
    /// What is on the board.
    game: Game,
}

/// What is said of a column.
struct Opinion {
    worth: f64,
    label: String,
    text: String,
}

impl View<'_> {
    fn draw(&self, buffer: &mut Buffer) {
        self.draw_header(buffer);
        if !self.layout.fits {
            let text = "the window is too small for the board";
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
            Line::from(vec![
                Span::styled(" Claimeven  ", self.look.title_style()),
                Span::raw(setup.to_string()),
            ])
        } else {
            let mut spans = Vec::new();
            for player in Player::BOTH {
                let mut name = name(&self.app.table, player);
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
            && !self.app.table.is_over()
            && self.position().player() == player
    }

    /// What a player's clock shows: the time that is left, or else the time that was taken.
    fn clock(&self, player: Player) -> ClockText {
        let table = &self.app.table;
        let is_turn = self.is_turn(player);
        let thinking = if is_turn { self.app.turn_time() } else { Duration::ZERO };
        ClockText(table.left(player, thinking).unwrap_or(table.spent(player) + thinking))
    }

    fn disc_span(&self, player: Player) -> Span<'static> {
        Span::styled(self.look.small_disc(player), self.look.disc_style(player))
    }

    // The board.

    fn draw_hover(&self, buffer: &mut Buffer) {
        let app = self.app;
        let awaits_person = app.screen == Screen::Game
            && app.fall.is_none()
            && !app.table.is_over()
            && *app.table.seat(self.position().player()) == Seat::Human;
        if awaits_person && self.layout.fits {
            let (width, height) = self.layout.cell;
            let x = self.layout.column_x(app.cursor);
            let area = Rect::new(x, self.layout.hover.y, width, height);
            self.draw_disc(self.position().player(), area, [" ", " "], Style::new(), buffer);
        }
    }

    fn draw_board(&self, buffer: &mut Buffer) {
        let board = self.layout.board;
        let setup = self.position().setup();
        let style = self.look.board_style();
        buffer.set_style(board, style);
        let (side, floor) = (self.look.sign("│", "|"), self.look.sign("─", "-"));
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
        let lines = highlighted_cells(self.position());
        let falling = self.falling();
        for cell in Cell::in_reading_order(setup) {
            let area = self.layout.cell_area(setup, cell);
            let disc = match falling {
                Some((at, target, player)) if cell == at || cell == target => {
                    (cell == at).then_some(player)
                }
                _ => self.position().disc(cell),
            };
            let Some(player) = disc else {
                let (width, height) = self.layout.cell;
                let sign = self.look.sign("·", ".");
                put(buffer, area.x + width.saturating_sub(1) / 2, area.y + height / 2, sign, style);
                continue;
            };
            let is_still = falling.is_none();
            let (marks, style) = match () {
                () if is_still && lines.contains(&cell) => (["[", "]"], Modifier::REVERSED.into()),
                () if is_still && last == Some(cell) => (["(", ")"], Style::new()),
                () => ([" ", " "], Style::new()),
            };
            self.draw_disc(player, area, marks, style, buffer);
        }
    }

    /// Where the falling disc is, where it is going to, and whose it is.
    fn falling(&self) -> Option<(Cell, Cell, Player)> {
        let (column, fallen) = self.app.falling()?;
        let top = self.position().setup().rows() - 1;
        let target = top_cell(self.position(), column)?;
        let row = top.saturating_sub(fallen.min(255) as u8).max(target.row);
        Some((Cell { column, row }, target, self.position().disc(target)?))
    }

    /// A disc in the middle of an area, with marks at its sides where there is room.
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

    /// The numbers of the columns, and what is said of them.
    fn draw_columns(&self, buffer: &mut Buffer) {
        let width = usize::from(self.layout.cell.0);
        let opinions = self.opinions();
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
            let Some(opinion) = &opinions[column.index()] else { continue };
            let style = self.look.value_style(opinion.worth);
            let bar = bar(opinion.worth, self.look).repeat(width.saturating_sub(2).max(1));
            // Neighbours are not to run into each other; a sign alone says the most.
            let room = if opinion.label.len() < width { opinion.label.len() } else { 1 };
            let label = &opinion.label[..room];
            let texts = [format!("{bar:^width$}"), format!("{label:^width$}")];
            for (y, text) in (self.layout.opinion.y..self.layout.opinion.bottom()).zip(texts) {
                put(buffer, x, y, &text, style);
            }
        }
    }

    /// What is said of each column of the position on the board.
    fn opinions(&self) -> Vec<Option<Opinion>> {
        let cols = usize::from(self.position().setup().cols());
        let mut opinions: Vec<Option<Opinion>> = (0..cols).map(|_| None).collect();
        if self.app.screen != Screen::Game {
            let next = self.app.current_review().and_then(|r| r.moves.get(self.game.moves().len()));
            for choice in next.iter().flat_map(|next| &next.choices) {
                let worth = f64::from(choice.score.signum());
                let number: String = choice.value.chars().filter(char::is_ascii_digit).collect();
                let label = match choice.score {
                    0 => "=".to_owned(),
                    1.. => format!("W{number}"),
                    _ => format!("L{number}"),
                };
                let opinion = Opinion { worth, label, text: choice.value.clone() };
                opinions[usize::from(choice.column) - 1] = Some(opinion);
            }
            return opinions;
        }
        let told = self.app.current_opinion().filter(|_| self.app.opinion != Source::Nobody);
        let Some(Ok(decision)) = told.map(|told| &told.decision) else { return opinions };
        for (opinion, known) in opinions.iter_mut().zip(&decision.columns) {
            *opinion = known.map(|ColumnValue { value, bound }| {
                let sign = match bound {
                    Bound::Exact => "",
                    Bound::AtMost => "<",
                    Bound::AtLeast => ">",
                };
                let label = match value {
                    Value::Win(plies) => format!("{sign}W{}", plies.div_ceil(2)),
                    Value::Loss(plies) => format!("{sign}L{}", plies / 2),
                    Value::Draw => format!("{sign}="),
                    Value::Points(points) => format!("{sign}{points:+}"),
                    // Two digits of a percentage, which fit everywhere.
                    Value::Chance(chance) => format!("{:.0}", (100.0 * chance).min(99.0)),
                };
                let words = match bound {
                    Bound::Exact => "",
                    Bound::AtMost => "at most ",
                    Bound::AtLeast => "at least ",
                };
                Opinion { worth: share(value), label, text: format!("{words}{value}") }
            });
        }
        opinions
    }

    // Lines.

    fn status_line(&self) -> Line<'static> {
        let app = self.app;
        if let Some(message) = &app.message {
            return Line::styled(format!(" {message}"), Modifier::BOLD);
        }
        if let Screen::Review(ply) = app.screen {
            let count = app.table.played().len();
            let text = match app.current_review() {
                None => " judging the moves ...".to_owned(),
                Some(_) if ply == 0 => format!(" review: {count} moves"),
                Some(review) if self.layout.panels.is_none() => {
                    format!(" {}", short_move_text(&review.moves[ply - 1], ply))
                }
                Some(review) => format!(" {}", move_text(&review.moves[ply - 1], ply)),
            };
            return Line::styled(text, Modifier::BOLD);
        }
        let opinions = self.opinions();
        let about_column = opinions[app.cursor].as_ref().map_or(String::new(), |opinion| {
            format!("; column {}: {}", app.cursor + 1, opinion.text)
        });
        Line::styled(format!(" {}{about_column}", app.table.status()), Modifier::BOLD)
    }

    /// The most important line of the panels, where there is no room for them.
    fn short_line(&self) -> Line<'static> {
        let app = self.app;
        if let (true, Some(review)) = (app.table.is_over(), app.current_review()) {
            let [first, second] = &review.players;
            return Line::from(format!(
                " X {}; O {}",
                short_accuracy(first),
                short_accuracy(second)
            ));
        }
        if app.paused && app.table.agent_to_move().is_some() {
            return Line::from(" paused: p goes on, . one move");
        }
        let Some(thinking) = &app.thinking else {
            return Line::from(format!(" {}", self.opinion_text()));
        };
        let thought = &thinking.thought;
        let value = thought.value.map_or(String::new(), |value| format!("{value}, "));
        let line: String = thought.line.iter().take(8).map(|column| column.to_char()).collect();
        Line::from(format!(" {}: {value}{} nodes, {line}", thinking.player, number(thought.nodes)))
    }

    fn opinion_text(&self) -> String {
        match &self.app.opinion {
            Source::Nobody => "a: opinion on the columns".to_owned(),
            Source::Truth => self.adviser_text("the exact truth"),
            Source::Agent(spec) => self.adviser_text(&without_seed(&Seat::Agent(spec.clone()))),
        }
    }

    fn adviser_text(&self, name: &str) -> String {
        match self.app.current_opinion().map(|told| &told.decision) {
            None if !self.app.table.is_over() => format!("{name}: thinking"),
            Some(Err(_)) => format!("{name}: cannot tell"),
            Some(Ok(decision)) => format!("{name}: {}", decision.value),
            None => name.to_owned(),
        }
    }

    fn keys(&self) -> Line<'static> {
        let arrows = self.look.sign("← →", "arrows");
        let is_wide = self.layout.keys.width >= 76;
        let text = match self.app.screen {
            Screen::Review(_) if is_wide => {
                format!(
                    " {arrows} step  e/E next/last error  Home End  s save  v back  ? keys  q quit"
                )
            }
            Screen::Review(_) => format!("{arrows} step e error v back ? keys q quit"),
            _ if self.app.table.is_over() && is_wide => {
                " n new  v review  u undo  x sides  o players  s save  l load  ? keys  q quit"
                    .to_owned()
            }
            _ if self.app.table.is_over() => {
                "n new  v review  u undo  s save  ? keys  q quit".to_owned()
            }
            _ if !self.app.table.has_human() => {
                " p pause  . step  + - speed  a opinion  o players  n new  ? keys  q quit"
                    .to_owned()
            }
            _ if is_wide => format!(
                " 1-9 {arrows} Enter play  u undo  h hint  a opinion  o players  ? keys  q quit"
            ),
            _ => "1-9 play  u undo  h hint  ? keys  q quit".to_owned(),
        };
        Line::from(text)
    }

    // Panels.

    fn draw_panels(&self, area: Rect, buffer: &mut Buffer) {
        let mut sections = vec![("Players", self.player_lines())];
        match (self.app.screen, self.app.current_review()) {
            (Screen::Review(_), _) => sections.push(("Review", self.review_lines())),
            (_, Some(_)) if self.app.table.is_over() => {
                sections.push(("Review", self.review_lines()));
            }
            (_, _) if self.app.table.is_over() => {
                sections.push(("Review", vec![Line::from(" judging the moves ...")]));
            }
            _ => sections.push(("Thinking", self.thinking_lines())),
        }
        let is_game = self.app.screen == Screen::Game && !self.app.table.is_over();
        if is_game {
            sections.push(("Columns", vec![Line::from(format!(" {}", self.opinion_text()))]));
        }
        let mut y = area.y;
        for (title, lines) in sections {
            y = self.draw_section(title, lines, area, y, buffer);
        }
        // The graph and the moves share what is left.
        let left = area.bottom().saturating_sub(y);
        let graph_rows = if left >= 9 { 5 } else { 3 };
        if left >= graph_rows + 3 {
            let lines = self.graph_lines(area.width.saturating_sub(3).into(), graph_rows.into());
            y = self.draw_section("X above, O below", lines, area, y, buffer);
        }
        let left = usize::from(area.bottom().saturating_sub(y + 1));
        if left > 0 {
            let lines = self.move_lines(area.width.into(), left);
            self.draw_section("Moves", lines, area, y, buffer);
        }
    }

    fn draw_section(
        &self,
        title: &str,
        lines: Vec<Line<'static>>,
        area: Rect,
        y: u16,
        buffer: &mut Buffer,
    ) -> u16 {
        let height = lines.len() as u16 + 1;
        let place = Rect::new(area.x, y, area.width, height).intersection(area);
        let mut all = vec![Line::styled(title.to_owned(), self.look.title_style())];
        all.extend(lines);
        Paragraph::new(all).render(place, buffer);
        (y + height).min(area.bottom())
    }

    fn player_lines(&self) -> Vec<Line<'static>> {
        let width = usize::from(self.layout.panels.map_or(0, |area| area.width)).saturating_sub(14);
        let scores = self.position().scores();
        let has_scores = self.position().setup().ruleset() == Ruleset::Lines;
        let line = |player: Player| {
            let mark = if self.is_turn(player) { self.look.sign("◂", "<") } else { " " };
            let mut name: String = name(&self.app.table, player).chars().take(width).collect();
            if has_scores {
                name = format!("{name} {}", scores[player.index()]);
            }
            Line::from(vec![
                Span::raw(" "),
                self.disc_span(player),
                Span::raw(format!(" {name:<width$} {:>8} {mark}", self.clock(player))),
            ])
        };
        Player::BOTH.map(line).to_vec()
    }

    fn thinking_lines(&self) -> Vec<Line<'static>> {
        let app = self.app;
        if app.paused && app.table.agent_to_move().is_some() {
            return vec![
                Line::from(" paused: p goes on,"),
                Line::from(" . plays one move"),
                Line::default(),
            ];
        }
        let Some(thinking) = &app.thinking else {
            return vec![Line::default(), Line::default(), Line::default()];
        };
        let thought = &thinking.thought;
        let name = name(&app.table, thinking.player);
        let verb = if thinking.is_over { "took" } else { "thinks" };
        let [effort, line] = thought_texts(thought);
        vec![
            Line::from(format!(" {name} {verb} {:.1} s", thinking.time.as_secs_f64())),
            Line::from(format!(" {effort}")),
            Line::from(format!(" {line}")),
        ]
    }

    fn review_lines(&self) -> Vec<Line<'static>> {
        let Some(review) = self.app.current_review() else {
            return vec![Line::from(" judging the moves ...")];
        };
        let mut lines = Vec::new();
        for (player, judged) in Player::BOTH.into_iter().zip(&review.players) {
            lines.push(Line::from(vec![
                Span::raw(" "),
                self.disc_span(player),
                Span::raw(format!(" {}", accuracy(judged))),
            ]));
        }
        if let Screen::Review(ply @ 1..) = self.app.screen {
            let reviewed = &review.moves[ply - 1];
            let style = match reviewed.judgement {
                Judgement::Blunder | Judgement::Mistake => self.look.value_style(-1.0),
                Judgement::Only | Judgement::Best => self.look.value_style(1.0),
                _ => Style::new(),
            };
            let player = Player::BOTH[(ply - 1) % 2];
            lines.push(Line::from(vec![
                Span::raw(format!(" move {ply}: ")),
                self.disc_span(player),
                Span::styled(format!(" {}, {}", reviewed.column, reviewed.judgement.name()), style),
            ]));
            let value = reviewed.played().map_or("", |choice| &choice.value);
            lines.push(Line::from(format!(" {value}")));
            let better = reviewed.best().filter(|best| Some(*best) != reviewed.played());
            lines.push(Line::from(better.map_or(String::new(), |best| {
                format!(" better: {}, {}", best.column, best.value)
            })));
        } else if self.app.screen == Screen::Game {
            lines.push(Line::from(" v: step through the moves"));
        }
        lines
    }

    /// What positions were worth to the first player, one column of the screen for each.
    fn graph_lines(&self, width: usize, rows: usize) -> Vec<Line<'static>> {
        let plies = self.app.table.played().len() + 1;
        let worth = |ply: usize| match self.app.current_review() {
            Some(review) if ply > 0 => {
                let score = review.moves.get(ply - 1)?.played()?.score;
                let sign = f64::from(score.signum());
                Some(if ply % 2 == 1 { sign } else { -sign })
            }
            _ => *self.app.evaluations.get(ply)?,
        };
        let first = plies.saturating_sub(width);
        let half = (rows / 2) as f64;
        let (bar, dot) = (self.look.sign("█", "#"), self.look.sign("·", "."));
        let here = self.game.moves().len();
        let mut lines = Vec::new();
        for row in 0..rows {
            let level = half - row as f64;
            let mut spans = vec![Span::raw(" ")];
            for ply in first..plies {
                let worth = worth(ply);
                let is_filled = worth.is_some_and(|worth| {
                    let reach = (worth * half).round();
                    level != 0.0 && level.signum() == reach.signum() && level.abs() <= reach.abs()
                });
                let text = match () {
                    () if is_filled => bar,
                    () if level == 0.0 && worth.is_some() => self.look.sign("─", "-"),
                    () if level == 0.0 => dot,
                    () => " ",
                };
                let player = if level > 0.0 { Player::First } else { Player::Second };
                let mut style = Style::new();
                if is_filled {
                    style = self.look.disc_style(player);
                }
                if ply == here && matches!(self.app.screen, Screen::Review(_)) {
                    style = style.add_modifier(Modifier::REVERSED);
                }
                spans.push(Span::styled(text, style));
            }
            lines.push(Line::from(spans));
        }
        lines
    }

    /// The moves in pairs, as many of the last as fit.
    fn move_lines(&self, width: usize, rows: usize) -> Vec<Line<'static>> {
        let moves = self.app.table.game().moves();
        let review = self.app.current_review();
        let here = self.game.moves().len();
        let text = |ply: usize| {
            let sign = review.map_or("", |review| review.moves[ply].judgement.sign());
            format!("{}{sign}", moves[ply])
        };
        let per_row = (width / PAIR).max(1);
        let pairs = moves.len().div_ceil(2);
        let all_rows = pairs.div_ceil(per_row);
        // In a review the row with the move on the board has to be seen.
        let here_row = here.saturating_sub(1) / 2 / per_row;
        let first_row = match self.app.screen {
            Screen::Review(_) => {
                here_row.saturating_sub(rows / 2).min(all_rows.saturating_sub(rows))
            }
            _ => all_rows.saturating_sub(rows),
        };
        let mut lines = Vec::new();
        for row in first_row..all_rows.min(first_row + rows) {
            let mut spans = Vec::new();
            for pair in row * per_row..((row + 1) * per_row).min(pairs) {
                spans.push(Span::raw(format!("{:>3}.", pair + 1)));
                for ply in [2 * pair, 2 * pair + 1] {
                    if ply >= moves.len() {
                        break;
                    }
                    let mut style = self.look.disc_style(Player::BOTH[ply % 2]);
                    if ply + 1 == here && self.app.screen != Screen::Game {
                        style = style.add_modifier(Modifier::REVERSED);
                    }
                    spans.push(Span::raw(" "));
                    spans.push(Span::styled(text(ply), style));
                }
                let used = spans.iter().map(Span::width).sum::<usize>();
                let wanted = (pair - row * per_row + 1) * PAIR;
                spans.push(Span::raw(" ".repeat(wanted.saturating_sub(used))));
            }
            lines.push(Line::from(spans));
        }
        lines
    }
}

/// The width of a pair of moves.
const PAIR: usize = 11;

/// Writes a text where the buffer has room for it.
fn put(buffer: &mut Buffer, x: u16, y: u16, text: &str, style: Style) {
    let area = buffer.area;
    if y < area.bottom() && x < area.right() {
        buffer.set_stringn(x, y, text, usize::from(area.right() - x), style);
    }
}

/// A move and what is to be said of it, in a line.
pub(crate) fn move_text(reviewed: &MoveReview, ply: usize) -> String {
    let player = Player::BOTH[(ply - 1) % 2];
    let mut text = format!("{ply}. {player} {}: {}", reviewed.column, reviewed.judgement.name());
    if let Some(played) = reviewed.played() {
        text = format!("{text}, {}", played.value);
    }
    match reviewed.best().filter(|best| Some(*best) != reviewed.played()) {
        Some(best) => format!("{text}; {} {}", best.column, best.value),
        None => text,
    }
}

/// The same for a screen that is not so wide.
fn short_move_text(reviewed: &MoveReview, ply: usize) -> String {
    let player = Player::BOTH[(ply - 1) % 2];
    let sign = reviewed.judgement.sign();
    let value = reviewed.played().map_or(reviewed.judgement.name(), |choice| &choice.value);
    let text = format!("{ply}. {player} {}{sign} {value}", reviewed.column);
    match reviewed.best().filter(|best| Some(*best) != reviewed.played()) {
        Some(best) => format!("{text}; {} {}", best.column, best.value),
        None => text,
    }
}

/// What a player's moves come to, in a few characters: accuracy, mistakes and blunders.
fn short_accuracy(review: &PlayerReview) -> String {
    let share = review.accuracy.map_or("-".to_owned(), |share| format!("{:.0} %", 100.0 * share));
    format!("{share} {}? {}??", review.mistakes, review.blunders)
}

/// What a player's moves come to, in a line.
fn accuracy(review: &PlayerReview) -> String {
    let share = review.accuracy.map_or("-".to_owned(), |share| format!("{:.0} %", 100.0 * share));
    let (mistakes, blunders) =
        (counted(review.mistakes, "mistake"), counted(review.blunders, "blunder"));
    format!("{share}, {mistakes}, {blunders}")
}

/// The height of a bar for a worth from -1 to 1.
fn bar(worth: f64, look: Look) -> &'static str {
    const BARS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
    const ASCII: [&str; 9] = [" ", ".", ",", "-", "~", "=", "+", "*", "#"];
    let reaches = |level: &usize| (worth + 1.0) * 4.0 >= *level as f64 - 0.5;
    let level = (1..BARS.len()).take_while(reaches).count();
    if look.unicode { BARS[level] } else { ASCII[level] }
}

/// A count in at most five characters.
fn number(count: u64) -> String {
    match count {
        0..10_000 => count.to_string(),
        10_000..1_000_000 => format!("{} k", count / 1000),
        _ => format!("{:.1} M", count as f64 / 1e6),
    }
}

fn draw_start(form: &Form, area: Rect, buffer: &mut Buffer, look: Look) {
    let mut lines = vec![Line::styled("Claimeven", look.title_style()), Line::default()];
    lines.extend(field_lines(form, look));
    lines.push(Line::default());
    lines.push(about(form));
    lines.push(error_line(form.error.as_deref(), look));
    lines.push(Line::from("Up Down: field  Left Right: choice,"));
    lines.push(Line::from("or type  Enter: play  Esc: quit"));
    let width = 60.min(area.width.saturating_sub(2));
    let height = (lines.len() as u16 + 2).min(area.height);
    let place = Rect::new(
        area.x + (area.width - width) / 2,
        area.y + (area.height - height) / 2,
        width,
        height,
    );
    Paragraph::new(lines).wrap(Wrap { trim: false }).render(place, buffer);
}

fn field_lines(form: &Form, look: Look) -> Vec<Line<'static>> {
    let line = |(index, field): (usize, &super::form::Field)| {
        let is_here = index == form.at;
        let mark = if is_here { look.sign("▸", ">") } else { " " };
        let style: Style = if is_here { Modifier::REVERSED.into() } else { Style::new() };
        Line::from(vec![
            Span::raw(format!("{mark} {:<14} ", field.label)),
            Span::styled(format!(" {} ", field.text), style),
        ])
    };
    form.fields.iter().enumerate().map(line).collect()
}

/// What the player in the field is, if the field has one.
fn about(form: &Form) -> Line<'static> {
    let text = form.fields[form.at].text.as_str();
    let about = match (form.at, text.parse::<AgentSpec>()) {
        (0 | 1, _) if text == "human" => "a person at this keyboard",
        (0 | 1, Ok(spec)) => {
            let level = spec.given("level").and_then(|level| level.parse::<usize>().ok());
            let style = level.and_then(|level| LEVELS.get(level.wrapping_sub(1)));
            style.map_or(spec.kind().about, |style| style.about)
        }
        (2, _) => "columns x rows",
        (3, _) => "how many in a line",
        (4, _) => "standard: first line wins; lines: most lines",
        (5, _) => "seconds for the game + seconds for each move",
        _ => "",
    };
    Line::styled(about, Modifier::DIM)
}

fn error_line(error: Option<&str>, look: Look) -> Line<'static> {
    Line::styled(error.unwrap_or_default().to_owned(), look.error_style())
}

fn draw_input(purpose: Purpose, input: &Input, area: Rect, buffer: &mut Buffer, look: Look) {
    let (title, text) = match purpose {
        Purpose::Save => ("Save", "Add the game to this file:"),
        Purpose::Load => ("Load", "File of records (FILE#3 for its third):"),
        Purpose::Opinion => ("Opinion", "Who judges the columns (such as mcts):"),
    };
    let room = usize::from(area.width.saturating_sub(6)).max(8);
    let shown: String = {
        let count = input.text.chars().count();
        input.text.chars().skip(count.saturating_sub(room)).collect()
    };
    let lines = vec![
        Line::from(text),
        Line::from(vec![Span::raw(shown), Span::styled(" ", Modifier::REVERSED)]),
        error_line(input.error.as_deref(), look),
        Line::from("Enter  take it     Esc  leave it"),
    ];
    draw_box(title, lines, area, buffer, look);
}

/// How far a search has got, and the best play that it sees.
pub(crate) fn thought_texts(thought: &Thought) -> [String; 2] {
    let depth = match thought.depth {
        0 => String::new(),
        depth => format!("depth {depth}, "),
    };
    let value = thought.value.map_or(String::new(), |value| format!("{value}: "));
    let line: Vec<String> = thought.line.iter().take(10).map(ToString::to_string).collect();
    [format!("{depth}{} nodes", number(thought.nodes)), format!("{value}{}", line.join(" "))]
}

fn help(look: Look) -> Vec<Line<'static>> {
    let arrows = look.sign("← → Enter", "arrows, Enter");
    [
        format!("1-9, {arrows}, mouse: drop a disc"),
        "A-Z  drop a disc beyond column 9".to_owned(),
        "u r  undo, redo     h  hint".to_owned(),
        "n    new game       g  give up".to_owned(),
        "x    switch sides   o  other players".to_owned(),
        "a    opinion: truth, opponent, none".to_owned(),
        "i    opinion of any player".to_owned(),
        "v    review the game".to_owned(),
        "e E  next error, last error (review)".to_owned(),
        "s l  save, load".to_owned(),
        "p .  pause, step (programs)".to_owned(),
        "+ -  faster, slower (programs)".to_owned(),
        "q    quit    Ctrl-C  quit at once".to_owned(),
    ]
    .map(Line::from)
    .to_vec()
}

/// Borders for terminals without line drawing.
const ASCII_BORDER: border::Set = border::Set {
    top_left: "+",
    top_right: "+",
    bottom_left: "+",
    bottom_right: "+",
    vertical_left: "|",
    vertical_right: "|",
    horizontal_top: "-",
    horizontal_bottom: "-",
};

fn draw_box(title: &str, lines: Vec<Line<'static>>, area: Rect, buffer: &mut Buffer, look: Look) {
    let widest = lines.iter().map(Line::width).max().unwrap_or(0) as u16;
    let width = (widest + 4).max(34).min(area.width);
    let inner = usize::from(width.saturating_sub(4)).max(1);
    // Long lines are wrapped, and a word may have to move to the next line as a whole.
    let rows: usize = lines.iter().map(|line| line.width().div_ceil(inner).max(1)).sum();
    let slack = usize::from(lines.iter().any(|line| line.width() > inner));
    let height = ((rows + slack) as u16 + 2).min(area.height);
    let place = Rect::new(
        area.x + (area.width - width) / 2,
        area.y + (area.height - height) / 2,
        width,
        height,
    );
    Clear.render(place, buffer);
    let set = if look.unicode { border::PLAIN } else { ASCII_BORDER };
    let block = Block::bordered()
        .border_set(set)
        .title(format!(" {title} "))
        .title_alignment(Alignment::Center)
        .title_style(look.title_style())
        .padding(ratatui::widgets::Padding::horizontal(1));
    Paragraph::new(lines).wrap(Wrap { trim: false }).block(block).render(place, buffer);
}
