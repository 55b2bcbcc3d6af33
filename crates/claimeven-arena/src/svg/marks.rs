//! The coach's marks on a board.

use std::fmt::Write;

use claimeven_coach::Mark;
use claimeven_game::{Cell, Player};

/// The colours of marks, as CSS rules.
pub(super) const MARK_COLOURS: &str = "
    .pair { stroke-width: 9; stroke-linecap: round; opacity: 0.75; }
    .by-first { stroke: #d8343c; } .by-second { stroke: #f5c518; }
    .four { stroke-width: 3; stroke-dasharray: 3 6; stroke-linecap: round; }
    .ring { fill: none; stroke-width: 5; }
    .ghost { opacity: 0.55; }
    .held { fill: url(#hatch); }
    .number { font: bold 17px system-ui, sans-serif; fill: #111827; }";

/// The hatching of held cells.
pub(super) const HATCH: &str = r##"
  <defs>
    <pattern id="hatch" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
      <rect width="3" height="8" fill="#2456a6" opacity="0.55"/>
    </pattern>
  </defs>"##;

/// The marks as SVG elements. `centre` is where a cell is drawn, and `radius` the size of its hole.
pub(super) fn draw(marks: &[Mark], centre: impl Fn(Cell) -> (u32, u32), radius: u32) -> String {
    let mut svg = String::new();
    for mark in marks {
        let _ = match mark {
            Mark::Pair { owner, cells: [first, second] } => {
                let ((x1, y1), (x2, y2)) = (centre(*first), centre(*second));
                let owner = by(*owner);
                writeln!(
                    svg,
                    r#"  <line class="pair {owner}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>"#
                )
            }
            Mark::Held { cells } => cells.iter().try_for_each(|&cell| {
                let (x, y) = centre(cell);
                writeln!(svg, r#"  <circle class="held" cx="{x}" cy="{y}" r="{radius}"/>"#)
            }),
            Mark::Four { player, cells } => match (cells.first(), cells.last()) {
                (Some(&first), Some(&last)) => {
                    let ((x1, y1), (x2, y2)) = (centre(first), centre(last));
                    let player = by(*player);
                    writeln!(
                        svg,
                        r#"  <line class="four {player}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>"#
                    )
                }
                _ => Ok(()),
            },
            Mark::Ring { player, cell } => {
                let ((x, y), player) = (centre(*cell), by(*player));
                writeln!(
                    svg,
                    r#"  <circle class="ring {player}" cx="{x}" cy="{y}" r="{}"/>"#,
                    radius - 4
                )
            }
            Mark::Move { player, cell, number } => {
                let ((x, y), class) = (centre(*cell), super::disc_class(*player));
                writeln!(svg, r#"  <circle class="{class} ghost" cx="{x}" cy="{y}" r="{radius}"/>"#)
                    .and_then(|()| text(&mut svg, (x, y), &number.to_string()))
            }
            Mark::Number { cell, number } => text(&mut svg, centre(*cell), &number.to_string()),
        };
    }
    svg
}

fn text(svg: &mut String, (x, y): (u32, u32), text: &str) -> std::fmt::Result {
    writeln!(svg, r#"  <text class="number" x="{x}" y="{}">{text}</text>"#, y + 6)
}

fn by(player: Player) -> &'static str {
    match player {
        Player::First => "by-first",
        Player::Second => "by-second",
    }
}
