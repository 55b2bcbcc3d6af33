//! Dot plots with intervals.

use std::fmt::Write;

use claimeven_arena::Interval;
use claimeven_arena::experiments::{RangePanel, Unit};

use super::{COLOURS, MARGIN, count_text, escape, line, open, round_step, short_time_text, ticks};

const ROW: f64 = 30.0;
const TOP: f64 = 88.0;
const BOTTOM: f64 = 40.0;
/// The width of the number at the end of a row.
const NUMBER: f64 = 66.0;

/// Panels side by side with the same rows; the names are left of the first.
pub(crate) fn ranges(title: &str, panels: &[RangePanel]) -> String {
    let rows = panels.first().map_or(0, |panel| panel.rows.len());
    let names = panels.iter().flat_map(|panel| &panel.rows).map(|row| row.name.chars().count());
    let labels = MARGIN + 14.0 + 7.3 * names.max().unwrap_or(0) as f64;
    let panel_width = match panels.len() {
        ..2 => 560.0,
        2 => 380.0,
        _ => 250.0,
    };
    let width = labels + panel_width * panels.len() as f64 + 8.0;
    let mut svg = open(title, width, TOP + ROW * rows as f64 + BOTTOM);
    let text_y = |index: usize| TOP + ROW * (index as f64 + 0.5) + 4.5;
    if let Some(first) = panels.first() {
        for (index, row) in first.rows.iter().enumerate() {
            let _ = writeln!(
                svg,
                r#"  <text class="end" x="{:.1}" y="{:.1}">{}</text>"#,
                labels - 8.0,
                text_y(index),
                escape(&row.name)
            );
        }
    }
    for (index, panel) in panels.iter().enumerate() {
        let start = labels + panel_width * index as f64 + 6.0;
        draw(&mut svg, panel, start, start + panel_width - NUMBER - 30.0);
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw(svg: &mut String, panel: &RangePanel, start: f64, end: f64) {
    // Shares are shown in percent.
    let factor = if panel.unit == Unit::Share { 100.0 } else { 1.0 };
    let values = || panel.rows.iter().map(|row| row.value.map(|value| factor * value));
    let mark = panel.mark.map(|mark| factor * mark);
    let min = values().map(|value| value.low).chain(mark).fold(f64::INFINITY, f64::min);
    let max = values().map(|value| value.high).chain(mark).fold(f64::NEG_INFINITY, f64::max);
    let step = round_step(((max - min) / 5.0).max(1e-6));
    let (min, max) = ((min / step).floor() * step, (max / step).ceil() * step);
    let x_at = |value: f64| start + (end - start) * (value - min) / (max - min);
    let floor = TOP + ROW * panel.rows.len() as f64;

    let title = escape(&panel.title);
    let _ =
        writeln!(svg, r#"  <text class="chart" x="{start:.1}" y="{}">{title}</text>"#, TOP - 20.0);
    for tick in ticks(min, max, step) {
        let x = x_at(tick);
        line(svg, "grid", [x, TOP - 4.0, x, floor]);
        let (y, text) = (floor + 20.0, text(panel.unit, tick));
        let _ = writeln!(svg, r#"  <text class="middle" x="{x:.1}" y="{y:.1}">{text}</text>"#);
    }
    if let Some(mark) = mark {
        let x = x_at(mark);
        line(svg, "axis", [x, TOP - 4.0, x, floor]);
    }
    for (index, (row, value)) in panel.rows.iter().zip(values()).enumerate() {
        let y = TOP + ROW * (index as f64 + 0.5);
        let Interval { low, estimate, high } = value;
        let [from, to, x] = [low, high, estimate].map(x_at);
        let [low, number, high] = [low, estimate, high].map(|value| table_text(panel.unit, value));
        let _ = writeln!(
            svg,
            r##"  <g><title>{name}: {number} ({low} to {high})</title><line class="c0" x1="{from:.1}" x2="{to:.1}" y1="{y:.1}" y2="{y:.1}" stroke="{colour}" stroke-width="5" stroke-linecap="round" opacity="0.4"/><circle class="c0" cx="{x:.1}" cy="{y:.1}" r="5" fill="{colour}" stroke="#fff"/></g>
  <text class="end" x="{:.1}" y="{:.1}">{number}</text>"##,
            end + NUMBER,
            y + 4.5,
            name = escape(&row.name),
            colour = COLOURS[0],
        );
    }
}

/// A number with the digits that it has in tables.
fn table_text(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Share => format!("{value:.1} %"),
        Unit::Elo => format!("{:.0}", value.round() + 0.0),
        _ => text(unit, value),
    }
}

fn text(unit: Unit, value: f64) -> String {
    // Avoids the rounding errors of binary fractions.
    let value = (1e6 * value).round() / 1e6;
    match unit {
        Unit::Share => format!("{value} %"),
        Unit::Elo => format!("{value}"),
        Unit::Seconds => short_time_text(value),
        Unit::Count | Unit::Factor => count_text(value),
    }
}
