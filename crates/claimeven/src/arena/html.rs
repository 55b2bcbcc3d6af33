//! A tournament's report as one page for browsers, which needs nothing else.

use std::fmt::Write;

use claimeven_arena::{Interval, Length, PlayerReport, Report, Results};

use super::text::{percent, range};
use crate::plot::{escape, round_step, ticks};

/// The page.
pub(super) fn page(report: &Report) -> String {
    let title = escape(report.title.as_deref().unwrap_or("Tournament"));
    let setup = &report.setup;
    let summary = format!(
        "{} of {} players on {} x {}, connect {}, {}; seed {}",
        capital(&report.format),
        report.players.len(),
        setup.cols,
        setup.rows,
        setup.connect,
        escape(&setup.ruleset),
        report.seed,
    );
    let origin = report.anchor.as_ref().map_or_else(
        || "Ratings are told from their mean.".to_owned(),
        |name| format!("Ratings are told from that of {}, which is given.", escape(name)),
    );
    format!(
        r#"<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{STYLE}</style>
<main>
<h1>{title}</h1>
<p class="quiet">{summary}</p>
{facts}
<h2>Ratings</h2>
<p class="quiet">Elo with 95 % intervals. {origin}</p>
<div class="scroll">{ladder}</div>
<h2>Standings</h2>
<div class="scroll">{standings}</div>
<h2>Who beats whom</h2>
<p class="quiet">Points of the row against the column, in percent.</p>
<div class="scroll">{heat_map}</div>
<details><summary>Every pairing in numbers</summary><div class="scroll">{pairings}</div></details>
<h2>How long games are</h2>
<div class="scroll">{lengths}</div>
<p class="quiet foot">Written by <code>claimeven arena</code>.</p>
</main>
</html>
"#,
        facts = facts(report),
        ladder = ladder(report),
        standings = standings(&report.players),
        heat_map = heat_map(report),
        pairings = pairings(report),
        lengths = lengths(&report.lengths),
    )
}

const STYLE: &str = "
:root { --page: #fbfbfa; --card: #fff; --ink: #1c2430; --quiet: #5c6675; --line: #e2e5ea;
  --blue: #2f7fd1; --win: #6fb1ee; --loss: #f2a668; --cell: #f4f5f7; }
@media (prefers-color-scheme: dark) { :root { --page: #12161c; --card: #1a2029; --ink: #e8ebf0;
  --quiet: #9aa5b5; --line: #303846; --blue: #6fb1ee; --win: #2468a8; --loss: #a85a1c; --cell: #232a35; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 1060px; margin: 0 auto; padding: 32px 16px 48px; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0; }
h2 { font-size: 1.2rem; margin: 40px 0 4px; }
p { margin: 4px 0 12px; } .quiet { color: var(--quiet); } .foot { margin-top: 40px; font-size: 14px; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px; margin: 24px 0 0; }
.facts div { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 12px 16px; }
.facts dt { color: var(--quiet); font-size: 14px; } .facts dd { margin: 0; font-size: 1.5rem; font-weight: 600; }
.facts small { display: block; color: var(--quiet); font-size: 13px; font-weight: 400; }
.scroll { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 12px; }
table { border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums; white-space: nowrap; }
th { color: var(--quiet); font-weight: 500; } th, td { padding: 6px 8px; text-align: right; }
th.name, td.name { text-align: left; } td.name small { display: block; color: var(--quiet); font-size: 12px; }
tbody tr { border-top: 1px solid var(--line); }
details { margin-top: 12px; } summary { cursor: pointer; color: var(--blue); padding: 6px 0; }
svg { display: block; width: 100%; margin: 0 auto; }
svg text { font: 13px system-ui, sans-serif; fill: var(--ink); font-variant-numeric: tabular-nums; }
svg .quiet { fill: var(--quiet); } .end { text-anchor: end; } .middle { text-anchor: middle; }
.grid { stroke: var(--line); } .range { stroke: var(--blue); stroke-width: 5; stroke-linecap: round; opacity: .35; }
.dot { fill: var(--blue); } .anchor { fill: none; stroke: var(--blue); stroke-width: 2; } .bar { fill: var(--blue); }
@media (min-width: 800px) { .who { transform: translateY(17px); } }
.cell { fill: var(--cell); } .win { fill: var(--win); } .loss { fill: var(--loss); }
";

fn facts(report: &Report) -> String {
    let Results { won, drawn, lost } = report.first_player;
    let played = if report.games == report.planned {
        "all that were planned".to_owned()
    } else {
        format!("of {} planned", thousands(report.planned as f64))
    };
    let shortest = report.lengths.first().map_or(0, |length| length.moves);
    let longest = report.lengths.last().map_or(0, |length| length.moves);
    let facts = [
        ("Games", thousands(report.games as f64), played),
        (
            "Different games",
            thousands(report.distinct as f64),
            format!("{} repeated", thousands(report.repeated as f64)),
        ),
        (
            "Whoever began scored",
            percent(report.first_player_score),
            format!(
                "won {}, drew {}, lost {}",
                thousands(won as f64),
                thousands(drawn as f64),
                thousands(lost as f64)
            ),
        ),
        (
            "Moves a game",
            report.mean_length().map_or("-".to_owned(), |mean| format!("{mean:.1}")),
            format!("from {shortest} to {longest}"),
        ),
    ];
    let mut html = "<dl class=\"facts\">".to_owned();
    for (name, value, note) in facts {
        let _ = write!(html, "<div><dt>{name}</dt><dd>{value}<small>{note}</small></dd></div>");
    }
    html + "</dl>"
}

/// A row for each player: a dot at its rating on a line as long as its interval, beside its name, or
/// under it where there is no room.
fn ladder(report: &Report) -> String {
    const ROW: f64 = 40.0;
    let players = &report.players;
    let bottom = ROW * players.len() as f64;
    let least = players.iter().map(|player| player.elo.low).fold(f64::INFINITY, f64::min);
    let most = players.iter().map(|player| player.elo.high).fold(f64::NEG_INFINITY, f64::max);
    let step = round_step(((most - least) / 6.0).max(1.0));
    let (least, most) = ((least / step).floor() * step, (most / step).ceil() * step);
    // Percent of the picture's width, so that it fits every screen.
    let x_at = |elo: f64| 22.0 + 70.0 * (elo - least) / (most - least).max(1.0);

    let mut svg = open_plot(bottom + 28.0, "Ratings with their intervals");
    for elo in ticks(least, most, step) {
        let x = x_at(elo);
        let _ = write!(
            svg,
            r#"<line class="grid" x1="{x:.2}%" x2="{x:.2}%" y1="0" y2="{bottom}"/>
<text class="quiet middle" x="{x:.2}%" y="{:.1}">{elo:.0}</text>"#,
            bottom + 18.0
        );
    }
    for (index, player) in players.iter().enumerate() {
        let top = ROW * index as f64;
        let Interval { low, middle, high } = player.elo;
        let is_anchor = report.anchor.as_ref() == Some(&player.name);
        let _ = write!(
            svg,
            r#"<g><title>{name}: {middle:.0} ({range})</title>
<text class="who" x="0" y="{text:.1}">{name}</text>
<text class="who end" x="100%" y="{text:.1}">{middle:.0}</text>
<line class="range" x1="{from:.2}%" x2="{to:.2}%" y1="{y:.1}" y2="{y:.1}"/>
<circle class="{class}" cx="{x:.2}%" cy="{y:.1}" r="5"/></g>"#,
            name = escape(&player.name),
            range = range(player.elo),
            text = top + 15.0,
            y = top + 28.0,
            from = x_at(low),
            to = x_at(high),
            x = x_at(middle),
            class = if is_anchor { "anchor" } else { "dot" },
        );
    }
    svg + "</svg>"
}

fn standings(players: &[PlayerReport]) -> String {
    let mut html = "<table><thead><tr><th></th><th class=\"name\">Player</th><th>Elo</th>\
        <th>95 %</th><th>Won</th><th>Drawn</th><th>Lost</th><th>Points</th><th>Score</th>\
        <th>Beginning</th><th>ms a move</th><th>Nodes a move</th></tr></thead><tbody>"
        .to_owned();
    for (rank, player) in (1..).zip(players) {
        let Results { won, drawn, lost } = player.results;
        let (middle, range) = (player.elo.middle, range(player.elo));
        let agent = match &player.agent {
            agent if *agent == player.name => String::new(),
            agent => format!("<small>{}</small>", escape(agent)),
        };
        let _ = write!(
            html,
            "<tr><td>{rank}</td><td class=\"name\">{name}{agent}</td><td><b>{middle:.0}</b></td>\
             <td>{range}</td><td>{won}</td><td>{drawn}</td><td>{lost}</td>\
             <td>{points:.1}</td><td>{score}</td><td>{begun}</td><td>{ms:.3}</td><td>{nodes}</td></tr>",
            name = escape(&player.name),
            points = player.points,
            score = percent(player.score),
            begun = percent(player.begun.score()),
            ms = player.ms_per_move,
            nodes = thousands(player.nodes_per_move),
        );
    }
    html + "</tbody></table>"
}

/// A cell for each pair of players, the bluer the more of the points went to the row.
fn heat_map(report: &Report) -> String {
    const CELL: f64 = 36.0;
    let players = &report.players;
    let left = label_width(players) + 24.0;
    let (width, top) = (left + CELL * players.len() as f64, 24.0);
    let mut svg = open_map(width, top + CELL * players.len() as f64);
    let middle_of = |index: usize| CELL * (index as f64 + 0.5);
    for (row, (player, results)) in players.iter().zip(&report.head_to_head).enumerate() {
        let rank = row + 1;
        let _ = write!(
            svg,
            r#"<text class="quiet middle" x="{x:.1}" y="16">{rank}</text>
<text class="end" x="{label:.1}" y="{y:.1}">{name}</text>
<text class="quiet end" x="{number:.1}" y="{y:.1}">{rank}</text>"#,
            x = left + middle_of(row),
            label = left - 34.0,
            number = left - 8.0,
            y = top + middle_of(row) + 4.5,
            name = escape(&shortened(&player.name)),
        );
        for (column, results) in results.iter().enumerate() {
            let Some(score) = results.score() else { continue };
            let (x, y) = (left + CELL * column as f64, top + CELL * row as f64);
            let Results { won, drawn, lost } = *results;
            let _ = write!(
                svg,
                "<g><title>{name} against {other}: won {won}, drawn {drawn}, lost {lost}</title>",
                name = escape(&player.name),
                other = escape(&players[column].name),
            );
            let class = if score < 0.5 { "loss" } else { "win" };
            let strength = (2.0 * score - 1.0).abs();
            for (class, opacity) in [("cell", 1.0), (class, strength)] {
                let _ = write!(
                    svg,
                    r#"<rect class="{class}" opacity="{opacity:.2}" x="{:.1}" y="{:.1}" width="{side}" height="{side}" rx="4"/>"#,
                    x + 1.0,
                    y + 1.0,
                    side = CELL - 2.0,
                );
            }
            let _ = write!(
                svg,
                r#"<text class="middle" x="{:.1}" y="{:.1}">{:.0}</text></g>"#,
                x + CELL / 2.0,
                y + CELL / 2.0 + 4.5,
                100.0 * score
            );
        }
    }
    svg + "</svg>"
}

fn pairings(report: &Report) -> String {
    let mut html =
        "<table><thead><tr><th class=\"name\">Player</th><th class=\"name\">Against</th>\
        <th>Games</th><th>Won</th><th>Drawn</th><th>Lost</th><th>Points</th><th>Score</th></tr>\
        </thead><tbody>"
            .to_owned();
    for (row, results) in report.head_to_head.iter().enumerate() {
        let meetings = results.iter().enumerate().skip(row);
        for (column, results) in meetings.filter(|(_, results)| results.games() > 0) {
            let Results { won, drawn, lost } = *results;
            let _ = write!(
                html,
                "<tr><td class=\"name\">{}</td><td class=\"name\">{}</td><td>{}</td><td>{won}</td>\
                 <td>{drawn}</td><td>{lost}</td><td>{:.1}</td><td>{}</td></tr>",
                escape(&report.players[row].name),
                escape(&report.players[column].name),
                results.games(),
                results.points(),
                percent(results.score()),
            );
        }
    }
    html + "</tbody></table>"
}

/// A bar for each length of a game.
fn lengths(lengths: &[Length]) -> String {
    const HEIGHT: f64 = 220.0;
    const TOP: f64 = 20.0;
    const FLOOR: f64 = TOP + HEIGHT;
    let (Some(shortest), Some(longest)) = (lengths.first(), lengths.last()) else {
        return String::new();
    };
    let most = lengths.iter().map(|length| length.games).max().unwrap_or(1) as f64;
    let step = round_step((most / 4.0).max(1.0));
    let ceiling = (most / step).ceil() * step;
    let y_at = |games: f64| FLOOR - HEIGHT * games / ceiling;
    let slots = longest.moves - shortest.moves + 1;
    // Percent of the picture's width, so that it fits every screen.
    let slot = 92.0 / slots as f64;
    let x_at = |moves: usize| 8.0 + slot * (moves - shortest.moves) as f64;
    let mut svg = open_plot(FLOOR + 44.0, "Games by their number of moves");
    for games in ticks(0.0, ceiling, step) {
        let y = y_at(games);
        let _ = write!(
            svg,
            r#"<line class="grid" x1="0" x2="100%" y1="{y:.1}" y2="{y:.1}"/>
<text class="quiet" x="0" y="{:.1}">{}</text>"#,
            y - 4.0,
            thousands(games)
        );
    }
    for &Length { moves, games } in lengths {
        let y = y_at(games as f64);
        let width = (slot * 0.8).min(6.0);
        let _ = write!(
            svg,
            r#"<g><title>{moves} moves: {games} games</title><rect class="bar" x="{:.2}%" y="{y:.1}" width="{width:.2}%" height="{:.1}" rx="2"/></g>"#,
            x_at(moves) + (slot - width) / 2.0,
            FLOOR - y
        );
    }
    let every = slots.div_ceil(9);
    for moves in (shortest.moves..=longest.moves).filter(|moves| moves % every == 0) {
        let x = x_at(moves) + slot / 2.0;
        let y = FLOOR + 18.0;
        let _ = write!(svg, r#"<text class="quiet middle" x="{x:.2}%" y="{y:.1}">{moves}</text>"#);
    }
    let _ = write!(
        svg,
        r#"<text class="quiet middle" x="54%" y="{:.1}">moves</text></svg>"#,
        FLOOR + 40.0
    );
    svg
}

/// A picture as wide as the page.
fn open_plot(height: f64, title: &str) -> String {
    format!(r#"<svg height="{height:.0}" role="img"><title>{title}</title>"#)
}

/// A picture that shrinks with the page, though not beyond what can be read.
fn open_map(width: f64, height: f64) -> String {
    let least = width.min(640.0);
    format!(
        r#"<svg viewBox="0 0 {width:.0} {height:.0}" style="max-width:{width:.0}px;min-width:{least:.0}px" role="img"><title>Points of each against each</title>"#
    )
}

const LONGEST_LABEL: usize = 30;

fn label_width(players: &[PlayerReport]) -> f64 {
    let longest = players.iter().map(|player| player.name.chars().count()).max().unwrap_or(0);
    24.0 + 7.2 * longest.min(LONGEST_LABEL) as f64
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= LONGEST_LABEL {
        return name.to_owned();
    }
    name.chars().take(LONGEST_LABEL - 1).chain(['…']).collect()
}

/// A count with its thousands apart, as in `12 345`.
fn thousands(count: f64) -> String {
    let digits = format!("{count:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
