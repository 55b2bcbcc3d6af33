//! Line charts as self-contained SVG pictures.

use std::fmt::Write;

/// Charts side by side under one title, with one legend.
pub(crate) struct Figure<'a> {
    pub(crate) title: &'a str,
    pub(crate) charts: Vec<Chart<'a>>,
}

/// One chart.
pub(crate) struct Chart<'a> {
    pub(crate) title: &'a str,
    pub(crate) x_label: &'a str,
    pub(crate) scale: Scale,
    /// How a value on the vertical axis is written.
    pub(crate) y_text: fn(f64) -> String,
    pub(crate) series: Vec<Series>,
}

/// What the vertical axis is like.
#[derive(Clone, Copy)]
pub(crate) enum Scale {
    /// By whole decades.
    Logarithmic,
    /// From 0 on.
    Linear,
}

/// Points that belong together, from left to right.
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
}

const CHART_WIDTH: f64 = 520.0;
const CHART_HEIGHT: f64 = 340.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 84.0;
const BOTTOM: f64 = 52.0;
const LEGEND: f64 = 40.0;
const LEGEND_ROW: f64 = 22.0;
/// Numbers below the horizontal axis at most.
const MOST_TICKS: usize = 14;

/// Colours that people with any kind of colour vision can tell apart, and that print well.
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6b4fa0", "#444444"];

impl Figure<'_> {
    /// The picture.
    pub(crate) fn svg(&self) -> String {
        let width = CHART_WIDTH * self.charts.len() as f64;
        let legend = self.legend(width - RIGHT);
        let rows = legend.last().map_or(0, |&(_, row)| row);
        let first_row = TOP + CHART_HEIGHT + BOTTOM + LEGEND - 18.0;
        let height = first_row + 18.0 + LEGEND_ROW * f64::from(rows);
        let mut svg = format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">
  <title>{title}</title>
  <style>
    text {{ font: 13px system-ui, sans-serif; fill: #374151; }}
    .title {{ font-size: 19px; font-weight: 600; fill: #111827; }}
    .chart {{ font-size: 15px; font-weight: 600; }}
    .grid {{ stroke: #e5e7eb; }} .minor {{ stroke: #f3f4f6; }} .axis {{ stroke: #9ca3af; }}
    .middle {{ text-anchor: middle; }} .end {{ text-anchor: end; }}
    polyline {{ fill: none; stroke-width: 2.5; stroke-linejoin: round; }}
  </style>
  <rect width="{width}" height="{height}" fill="#fff"/>
  <text class="title" x="{LEFT}" y="34">{title}</text>
"##,
            title = escape(self.title),
        );
        for (index, chart) in self.charts.iter().enumerate() {
            chart.draw(&mut svg, CHART_WIDTH * index as f64);
        }
        self.draw_legend(&mut svg, &legend, first_row);
        svg.push_str("</svg>\n");
        svg
    }

    /// The names of the series, which are those of the first chart.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.charts.first().into_iter().flat_map(|chart| &chart.series).map(|series| &*series.name)
    }

    /// Where the names of the series begin, and in which row.
    fn legend(&self, width: f64) -> Vec<(f64, u32)> {
        let (mut x, mut row) = (LEFT, 0);
        let place = |name: &str| {
            let room = 60.0 + 7.5 * name.chars().count() as f64;
            if x > LEFT && x + room > width {
                (x, row) = (LEFT, row + 1);
            }
            let place = (x, row);
            x += room;
            place
        };
        self.names().map(place).collect()
    }

    fn draw_legend(&self, svg: &mut String, legend: &[(f64, u32)], first_row: f64) {
        for (index, (name, &(x, row))) in self.names().zip(legend).enumerate() {
            let y = first_row + LEGEND_ROW * f64::from(row);
            let style = Mark::of(index);
            let _ = writeln!(
                svg,
                r#"  <line x1="{x}" x2="{}" y1="{}" y2="{}" stroke="{}" stroke-width="2.5"/>"#,
                x + 26.0,
                y - 4.0,
                y - 4.0,
                style.colour
            );
            style.draw(svg, x + 13.0, y - 4.0);
            let _ = writeln!(svg, r#"  <text x="{}" y="{y}">{}</text>"#, x + 34.0, escape(name));
        }
    }
}

impl Chart<'_> {
    fn draw(&self, svg: &mut String, left: f64) {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let (mut x_least, mut x_most) = (f64::INFINITY, f64::NEG_INFINITY);
        for &(x, _) in points() {
            (x_least, x_most) = (x_least.min(x), x_most.max(x));
        }
        let Some(axis) = Axis::new(self.scale, points().map(|&(_, y)| y)) else { return };
        let plot_width = CHART_WIDTH - LEFT - RIGHT;
        let x_at = |x: f64| {
            let share = if x_most > x_least { (x - x_least) / (x_most - x_least) } else { 0.5 };
            left + LEFT + share * plot_width
        };
        let y_at = |y: f64| TOP + CHART_HEIGHT * (1.0 - axis.share(y));
        let (start, end, floor) = (left + LEFT, left + LEFT + plot_width, TOP + CHART_HEIGHT);

        let title = escape(self.title);
        let _ =
            writeln!(svg, r#"  <text class="chart" x="{start}" y="{}">{title}</text>"#, TOP - 18.0);
        for &value in &axis.minor {
            line(svg, "minor", [start, y_at(value), end, y_at(value)]);
        }
        for &value in &axis.major {
            let y = y_at(value);
            line(svg, "grid", [start, y, end, y]);
            let text = (self.y_text)(value);
            let _ = writeln!(
                svg,
                r#"  <text class="end" x="{}" y="{}">{}</text>"#,
                start - 8.0,
                y + 4.5,
                escape(&text)
            );
        }
        let mut ticks: Vec<f64> = points().map(|&(x, _)| x).collect();
        ticks.sort_by(f64::total_cmp);
        ticks.dedup();
        let every = ticks.len().div_ceil(MOST_TICKS).max(1);
        for tick in ticks.into_iter().step_by(every) {
            let x = x_at(tick);
            line(svg, "axis", [x, floor, x, floor + 5.0]);
            let y = floor + 21.0;
            let _ = writeln!(svg, r#"  <text class="middle" x="{x}" y="{y}">{tick}</text>"#);
        }
        line(svg, "axis", [start, floor, end, floor]);
        let _ = writeln!(
            svg,
            r#"  <text class="middle" x="{}" y="{}">{}</text>"#,
            f64::midpoint(start, end),
            floor + 43.0,
            escape(self.x_label)
        );
        for (index, Series { name, points }) in self.series.iter().enumerate() {
            let mark = Mark::of(index);
            let places: Vec<(f64, f64)> = points.iter().map(|&(x, y)| (x_at(x), y_at(y))).collect();
            let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            let _ = writeln!(
                svg,
                r#"  <polyline points="{}" stroke="{}"/>"#,
                path.join(" "),
                mark.colour
            );
            for (&(x, y), &(x_value, y_value)) in places.iter().zip(points) {
                let text = escape(&format!("{name}, {x_value}: {}", (self.y_text)(y_value)));
                let _ = writeln!(svg, "  <g><title>{text}</title>");
                mark.draw(svg, x, y);
                svg.push_str("  </g>\n");
            }
        }
    }
}

/// A vertical axis: its ends, and the values that have a line across the chart.
struct Axis {
    scale: Scale,
    least: f64,
    most: f64,
    major: Vec<f64>,
    minor: Vec<f64>,
}

impl Axis {
    /// An axis with room for all values, if there are any.
    fn new(scale: Scale, values: impl Iterator<Item = f64>) -> Option<Axis> {
        let (least, most) = values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| {
                (least.min(value), most.max(value))
            });
        if !least.is_finite() || !most.is_finite() {
            return None;
        }
        Some(match scale {
            Scale::Logarithmic => {
                // Whole decades, and at least one of them.
                let least = least.log10().floor() as i32;
                let most = (most.log10().ceil() as i32).max(least + 1);
                let decades = least..most;
                let minor = decades.flat_map(|decade| {
                    (2..10).map(move |step| f64::from(step) * 10_f64.powi(decade))
                });
                Axis {
                    scale,
                    least: 10_f64.powi(least),
                    most: 10_f64.powi(most),
                    major: (least..=most).map(|decade| 10_f64.powi(decade)).collect(),
                    minor: minor.collect(),
                }
            }
            Scale::Linear => {
                // Steps of 1, 2 or 5 of some decade, of which there are five or so.
                let most = if most > 0.0 { most } else { 1.0 };
                let decade = 10_f64.powf((most / 5.0).log10().floor());
                let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * decade);
                let step = steps.into_iter().find(|step| 5.5 * step >= most).unwrap_or(steps[3]);
                let lines = (1..10).find(|&count| f64::from(count) * step >= 0.999 * most);
                let count = lines.unwrap_or(10);
                let major = (0..=count).map(|line| f64::from(line) * step).collect();
                let most = f64::from(count) * step;
                Axis { scale, least: 0.0, most, major, minor: Vec::new() }
            }
        })
    }

    /// Where a value is, from 0 at the bottom to 1 at the top.
    fn share(&self, value: f64) -> f64 {
        let share = |value: f64, least: f64, most: f64| (value - least) / (most - least);
        match self.scale {
            Scale::Logarithmic => share(value.log10(), self.least.log10(), self.most.log10()),
            Scale::Linear => share(value, self.least, self.most),
        }
    }
}

/// How the points of a series look: a colour and a shape of their own.
struct Mark {
    colour: &'static str,
    shape: usize,
}

impl Mark {
    fn of(index: usize) -> Mark {
        Mark { colour: COLOURS[index % COLOURS.len()], shape: index % 4 }
    }

    fn draw(&self, svg: &mut String, x: f64, y: f64) {
        let colour = self.colour;
        let polygon = |corners: &[(f64, f64)]| {
            let corners: Vec<String> =
                corners.iter().map(|(dx, dy)| format!("{:.1},{:.1}", x + dx, y + dy)).collect();
            format!(r##"<polygon points="{}" fill="{colour}" stroke="#fff"/>"##, corners.join(" "))
        };
        let shape = match self.shape {
            0 => format!(
                r##"<circle cx="{x:.1}" cy="{y:.1}" r="4.5" fill="{colour}" stroke="#fff"/>"##
            ),
            1 => polygon(&[(-4.5, -4.5), (4.5, -4.5), (4.5, 4.5), (-4.5, 4.5)]),
            2 => polygon(&[(0.0, -6.0), (5.5, 4.5), (-5.5, 4.5)]),
            _ => polygon(&[(0.0, -6.0), (6.0, 0.0), (0.0, 6.0), (-6.0, 0.0)]),
        };
        let _ = writeln!(svg, "  {shape}");
    }
}

fn line(svg: &mut String, class: &str, [x1, y1, x2, y2]: [f64; 4]) {
    let _ = writeln!(
        svg,
        r#"  <line class="{class}" x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}"/>"#
    );
}

/// A text as it stands in an SVG file.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
