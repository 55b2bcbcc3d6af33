//! The panels beside the board: players, search, review, graph and moves.

use claimeven_arena::Judgement;
use claimeven_game::{Player, Ruleset};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

use super::super::app::Screen;
use super::super::form::name;
use super::super::texts::{accuracy, search_texts};
use super::View;

impl View<'_> {
    pub(super) fn draw_panels(&self, area: Rect, buffer: &mut Buffer) {
        let mut sections = vec![("Players", self.player_lines())];
        match (self.app.screen, self.app.current_review()) {
            (Screen::Review(_), _) => sections.push(("Review", self.review_lines())),
            (_, Some(_)) if self.app.session.is_over() => {
                sections.push(("Review", self.review_lines()));
            }
            (_, _) if self.app.session.is_over() => {
                sections.push(("Review", vec![Line::from(" Reviewing the game ...")]));
            }
            _ => sections.push(("Search", self.search_lines())),
        }
        let is_game = self.app.screen == Screen::Game && !self.app.session.is_over();
        if is_game {
            sections.push(("Analysis", vec![Line::from(format!(" {}", self.analysis_text()))]));
        }
        let mut y = area.y;
        for (title, lines) in sections {
            y = self.draw_section(title, lines, area, y, buffer);
        }
        // The graph and the moves share the remaining rows.
        let left = area.bottom().saturating_sub(y);
        let graph_rows = if left >= 9 { 5 } else { 3 };
        if left >= graph_rows + 3 {
            let lines = self.graph_lines(area.width.saturating_sub(3).into(), graph_rows.into());
            y = self.draw_section(&self.graph_title(), lines, area, y, buffer);
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
            let mark = if self.is_turn(player) { self.look.symbol("◂", "<") } else { " " };
            let mut name: String = name(&self.app.session, player).chars().take(width).collect();
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

    fn search_lines(&self) -> Vec<Line<'static>> {
        let app = self.app;
        if app.is_waiting() {
            return vec![
                Line::styled(" PAUSED", Modifier::BOLD),
                Line::from(" p resume"),
                Line::from(" . play one move"),
            ];
        }
        let Some(thinking) = &app.thinking else {
            return vec![Line::default(), Line::default(), Line::default()];
        };
        let info = &thinking.info;
        let name = name(&app.session, thinking.player);
        let verb = if thinking.is_over { "took" } else { "is thinking:" };
        let [stats, pv] = search_texts(info);
        vec![
            Line::from(format!(" {name} {verb} {:.1} s", thinking.time.as_secs_f64())),
            Line::from(format!(" {stats}")),
            Line::from(format!(" {pv}")),
        ]
    }

    fn review_lines(&self) -> Vec<Line<'static>> {
        let Some(review) = self.app.current_review() else {
            return vec![Line::from(" Reviewing the game ...")];
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
                Span::raw(format!(" Move {ply}: ")),
                self.disc_span(player),
                Span::styled(format!(" {}, {}", reviewed.column, reviewed.judgement.name()), style),
            ]));
            let value = reviewed.played().map_or("", |choice| &choice.value);
            lines.push(Line::from(format!(" {value}")));
            let better = reviewed.best().filter(|best| Some(*best) != reviewed.played());
            lines.push(Line::from(better.map_or(String::new(), |best| {
                format!(" Better: {}, {}", best.column, best.value)
            })));
        } else if self.app.screen == Screen::Game {
            lines.push(Line::from(" v: review move by move"));
        }
        lines
    }

    fn graph_title(&self) -> String {
        let [first, second] = Player::BOTH.map(|player| self.look.player_name(player));
        format!("{first} above, {second} below")
    }

    /// The evaluations of all positions for the first player, one character each.
    fn graph_lines(&self, width: usize, rows: usize) -> Vec<Line<'static>> {
        let plies = self.app.session.played().len() + 1;
        let value = |ply: usize| match self.app.current_review() {
            Some(review) if ply > 0 => {
                let score = review.moves.get(ply - 1)?.played()?.score;
                let sign = f64::from(score.signum());
                Some(if ply % 2 == 1 { sign } else { -sign })
            }
            _ => *self.app.evaluations.get(ply)?,
        };
        let first = plies.saturating_sub(width);
        let half = (rows / 2) as f64;
        let (bar, dot) = (self.look.symbol("█", "#"), self.look.symbol("·", "."));
        let here = self.game.moves().len();
        let mut lines = Vec::new();
        for row in 0..rows {
            let level = half - row as f64;
            let mut spans = vec![Span::raw(" ")];
            for ply in first..plies {
                let value = value(ply);
                let is_filled = value.is_some_and(|value| {
                    let reach = (value * half).round();
                    level != 0.0 && level.signum() == reach.signum() && level.abs() <= reach.abs()
                });
                let text = match () {
                    () if is_filled => bar,
                    () if level == 0.0 && value.is_some() => self.look.symbol("─", "-"),
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

    /// The moves in pairs; the last ones if not all of them fit.
    fn move_lines(&self, width: usize, rows: usize) -> Vec<Line<'static>> {
        let moves = self.app.session.game().moves();
        let review = self.app.current_review();
        let here = self.game.moves().len();
        let text = |ply: usize| {
            let sign = review.map_or("", |review| review.moves[ply].judgement.sign());
            format!("{}{sign}", moves[ply])
        };
        let per_row = (width / PAIR).max(1);
        let pairs = moves.len().div_ceil(2);
        let all_rows = pairs.div_ceil(per_row);
        // In a review, the row of the displayed move is visible.
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
