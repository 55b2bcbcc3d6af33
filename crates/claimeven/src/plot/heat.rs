//! Heat maps.

use std::fmt::Write;

use claimeven_arena::experiments::HeatPanel;

use super::{MARGIN, escape, open};

const CELL_WIDTH: f64 = 44.0;
const CELL_HEIGHT: f64 = 32.0;
/// The maximum number of panels in a row.
const PANELS_PER_ROW: usize = 3;
const TOP: f64 = 56.0;
const GAP: f64 = 22.0;

/// Panels in a grid; all have the size of the first.
pub(crate) fn heat_map(title: &str, panels: &[HeatPanel]) -> String {
    let Some(first) = panels.first() else { return open(title, 400.0, 60.0) + "</svg>\n" };
    let names = first.rows.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let labels = 30.0 + 8.0 * names as f64;
    let panel_width = labels + CELL_WIDTH * first.columns.len() as f64 + GAP;
    let heading = if first.title.is_empty() { 0.0 } else { 26.0 };
    let panel_height = heading + CELL_HEIGHT * first.rows.len() as f64 + 48.0 + GAP;
    let per_row = panels.len().min(PANELS_PER_ROW);
    let width = (2.0 * MARGIN + panel_width * per_row as f64 - GAP).max(420.0);
    let height = TOP + panel_height * panels.len().div_ceil(per_row) as f64 - GAP + 8.0;
    let mut svg = open(title, width, height);
    for (index, panel) in panels.iter().enumerate() {
        let left = MARGIN + panel_width * (index % per_row) as f64;
        let top = TOP + panel_height * (index / per_row) as f64;
        draw(&mut svg, panel, [left, left + labels], [top, top + heading]);
    }
    svg.push_str("</svg>\n");
    svg
}

/// Draws a panel: x coordinates of its labels and cells, y coordinates of its title and cells.
fn draw(svg: &mut String, panel: &HeatPanel, [left, x0]: [f64; 2], [top, y0]: [f64; 2]) {
    let HeatPanel { title, row_label, rows, column_label, columns, cells } = panel;
    let [x_middle, y_middle] =
        [x0 + CELL_WIDTH * columns.len() as f64 / 2.0, y0 + CELL_HEIGHT * rows.len() as f64 / 2.0];
    let floor = y0 + CELL_HEIGHT * rows.len() as f64;
    let _ = write!(
        svg,
        r#"  <text class="chart" x="{x0:.1}" y="{:.1}">{}</text>
  <text class="middle" x="{x:.1}" y="{y_middle:.1}" transform="rotate(-90 {x:.1} {y_middle:.1})">{}</text>
  <text class="middle" x="{x_middle:.1}" y="{:.1}">{}</text>
"#,
        top + 14.0,
        escape(title),
        escape(row_label),
        floor + 40.0,
        escape(column_label),
        x = left + 10.0,
    );
    for (index, name) in columns.iter().enumerate() {
        let x = x0 + CELL_WIDTH * (index as f64 + 0.5);
        let (y, name) = (floor + 19.0, escape(name));
        let _ = writeln!(svg, r#"  <text class="middle" x="{x:.1}" y="{y:.1}">{name}</text>"#);
    }
    for (row, (name, shares)) in rows.iter().zip(cells).enumerate() {
        let y = y0 + CELL_HEIGHT * row as f64;
        let text_y = y + CELL_HEIGHT / 2.0 + 4.5;
        let label = escape(name);
        let _ = writeln!(
            svg,
            r#"  <text class="end" x="{:.1}" y="{text_y:.1}">{label}</text>"#,
            x0 - 8.0
        );
        for (column, share) in shares.iter().enumerate() {
            let Some(share) = *share else { continue };
            let x = x0 + CELL_WIDTH * column as f64;
            let _ = writeln!(
                svg,
                r#"  <g><title>{label} against {other}: {percent:.1} %</title><rect x="{:.1}" y="{:.1}" width="{:.1}" height="{:.1}" rx="4" fill="{}"/><text class="middle on-colour" x="{:.1}" y="{text_y:.1}">{}</text></g>"#,
                x + 1.0,
                y + 1.0,
                CELL_WIDTH - 2.0,
                CELL_HEIGHT - 2.0,
                colour(share),
                x + CELL_WIDTH / 2.0,
                percent_text(share),
                other = escape(&columns[column]),
                percent = 100.0 * share,
            );
        }
    }
}

/// Percent with the digits of the tables.
fn percent_text(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

/// Orange for 0, grey for one half, blue for 1.
fn colour(share: f64) -> String {
    const NOTHING: [f64; 3] = [240.0, 140.0, 66.0];
    const HALF: [f64; 3] = [240.0, 241.0, 243.0];
    const ALL: [f64; 3] = [92.0, 164.0, 230.0];
    let (from, to, share) = match share {
        ..0.5 => (NOTHING, HALF, 2.0 * share),
        _ => (HALF, ALL, 2.0 * share - 1.0),
    };
    let [red, green, blue] = [0, 1, 2].map(|part| from[part] + share * (to[part] - from[part]));
    format!("rgb({red:.0},{green:.0},{blue:.0})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_go_from_orange_through_grey_to_blue() {
        assert_eq!(
            [0.0, 0.5, 1.0].map(colour),
            ["rgb(240,140,66)", "rgb(240,241,243)", "rgb(92,164,230)"]
        );
    }

    #[test]
    fn shares_have_the_digits_of_the_tables() {
        assert_eq!(
            [0.0, 0.003, 0.5, 0.997, 1.0].map(percent_text),
            ["0.0", "0.3", "50.0", "99.7", "100.0"]
        );
    }
}
