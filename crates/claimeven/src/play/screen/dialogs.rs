//! The start screen and the dialogs.

use claimeven_arena::AgentSpec;
use claimeven_search::LEVELS;
use ratatui::buffer::Buffer;
use ratatui::layout::{Alignment, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::symbols::border;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Padding, Paragraph, Widget, Wrap};

use super::super::app::{Input, Purpose, Question};
use super::super::form::{Field, Form};
use super::super::look::Look;
use crate::text::wrapped;

/// The start screen.
pub(super) fn draw_start(form: &Form, area: Rect, buffer: &mut Buffer, look: Look) {
    let mut lines = vec![Line::styled("Claimeven", look.title_style()), Line::default()];
    lines.extend(field_lines(form, look));
    lines.push(Line::default());
    lines.push(about(form));
    lines.push(error_line(form.error.as_deref(), look));
    lines.push(Line::from("Up Down field  Left Right suggestion"));
    lines.push(Line::from("Enter play   ? help   Esc quit"));
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

/// A text to be entered.
pub(super) fn draw_input(
    purpose: Purpose,
    input: &Input,
    area: Rect,
    buffer: &mut Buffer,
    look: Look,
) {
    let (title, text) = match purpose {
        Purpose::Save => ("Save", "Append the game to this file:"),
        Purpose::Load => ("Load", "File of games (FILE#3 for the third):"),
        Purpose::Analysis => ("Analysis", "Player that evaluates, such as mcts:"),
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
        Line::from("Enter accept  Ctrl-U clear  Esc cancel"),
    ];
    draw_box(title, lines, area, buffer, look);
}

/// Why a position is won, lost or drawn; `None` while the explanation is computed.
pub(super) fn draw_explanation(text: Option<&str>, area: Rect, buffer: &mut Buffer, look: Look) {
    let width = usize::from(area.width.saturating_sub(8)).clamp(20, 60);
    let mut lines: Vec<Line> = match text {
        None => vec![Line::from("Explaining ...")],
        Some(text) => wrapped(text, width).into_iter().map(Line::from).collect(),
    };
    lines.extend([Line::default(), Line::from("Press any key to close.")]);
    draw_box("Why?", lines, area, buffer, look);
}

/// The keys of the game and the review.
pub(super) fn draw_help(area: Rect, buffer: &mut Buffer, look: Look) {
    let arrows = look.symbol("← → Enter", "arrows, Enter");
    let lines = [
        &format!("1-9, {arrows}, mouse: drop a disc"),
        "A-Z  drop a disc in column 10 to 35",
        "u r  undo, redo     h  hint",
        "n    new game       g  resign",
        "x    swap sides     o  players",
        "a    analysis: exact, opponent, off",
        "i    analysis by any player",
        "e    explain the position",
        "v    review (e E errors, w why)",
        "s l  save, load",
        "p .  pause, step (programs)",
        "+ -  faster, slower (programs)",
        "q    quit    Ctrl-C  quit now",
    ];
    draw_box("Keys", to_lines(&lines), area, buffer, look);
}

/// The keys of a form.
pub(super) fn draw_form_help(area: Rect, buffer: &mut Buffer, look: Look) {
    let lines = [
        "Up, Down     select a field",
        "Left, Right  select a suggestion",
        "Ctrl-U, Del  clear the field",
        "Enter, Esc   accept, cancel",
        "",
        "Players: human, level:1 to level:10,",
        "or any player that the command",
        "`claimeven agents` lists.",
        "",
        "Press ? in the game for its keys.",
    ];
    draw_box("Help", to_lines(&lines), area, buffer, look);
}

fn to_lines(texts: &[&str]) -> Vec<Line<'static>> {
    texts.iter().map(|&text| Line::from(text.to_owned())).collect()
}

/// A yes-or-no question.
pub(super) fn draw_question(question: Question, area: Rect, buffer: &mut Buffer, look: Look) {
    let (title, text) = match question {
        Question::Quit => ("Quit", "Quit the game?"),
        Question::Resign => ("Resign", "Resign the game?"),
        Question::New => ("New game", "Leave this game and start a new one?"),
    };
    draw_box(title, to_lines(&[text, "", "y  yes     n  no"]), area, buffer, look);
}

/// The choice of players during a game.
pub(super) fn draw_players(form: &Form, area: Rect, buffer: &mut Buffer, look: Look) {
    let mut lines = field_lines(form, look);
    lines.push(about(form));
    lines.push(error_line(form.error.as_deref(), look));
    lines.push(Line::from("Enter accept   Esc cancel   ? help"));
    draw_box("Players", lines, area, buffer, look);
}

fn field_lines(form: &Form, look: Look) -> Vec<Line<'static>> {
    let line = |(index, field): (usize, &Field)| {
        let is_here = index == form.at;
        let mark = if is_here { look.symbol("▸", ">") } else { " " };
        let style: Style = if is_here { Modifier::REVERSED.into() } else { Style::new() };
        Line::from(vec![
            Span::raw(format!("{mark} {:<14} ", field.label)),
            Span::styled(format!(" {} ", field.text), style),
        ])
    };
    form.fields.iter().enumerate().map(line).collect()
}

/// A description of the field's value.
fn about(form: &Form) -> Line<'static> {
    let text = form.fields[form.at].text.as_str();
    let about = match (form.at, text.parse::<AgentSpec>()) {
        (0 | 1, _) if text == "human" => "you, or another person at this keyboard",
        (0 | 1, Ok(spec)) => {
            let level = spec.given("level").and_then(|level| level.parse::<usize>().ok());
            let style = level.and_then(|level| LEVELS.get(level.wrapping_sub(1)));
            style.map_or(spec.kind().about, |style| style.about)
        }
        (2, _) => "columns x rows",
        (3, _) => "discs in a row to win",
        (4, _) => "lines: each row is a point, most points win",
        (5, _) => "seconds per player + increment per move",
        _ => "",
    };
    Line::styled(about, Modifier::DIM)
}

fn error_line(error: Option<&str>, look: Look) -> Line<'static> {
    Line::styled(error.unwrap_or_default().to_owned(), look.error_style())
}

/// Draws a box in the middle of the screen.
fn draw_box(title: &str, lines: Vec<Line<'static>>, area: Rect, buffer: &mut Buffer, look: Look) {
    let widest = lines.iter().map(Line::width).max().unwrap_or(0) as u16;
    let width = (widest + 4).max(34).min(area.width);
    let inner = usize::from(width.saturating_sub(4)).max(1);
    // Long lines are wrapped at words, which may take one more row.
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
        .padding(Padding::horizontal(1));
    Paragraph::new(lines).wrap(Wrap { trim: false }).block(block).render(place, buffer);
}

/// Borders for terminals without Unicode.
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
