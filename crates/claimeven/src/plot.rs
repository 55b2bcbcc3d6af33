//! Charts as self-contained SVG documents, for light and dark pages.

mod heat;
mod ranges;

use std::fmt::Write;

pub(crate) use claimeven_arena::svg::escape;
pub(crate) use heat::heat_map;
pub(crate) use ranges::ranges;

/// Charts side by side under one title, with one legend.
pub(crate) struct Figure<'a> {
    pub(crate) title: &'a str,
    pub(crate) charts: Vec<Chart<'a>>,
}

/// One chart with lines.
pub(crate) struct Chart<'a> {
    pub(crate) title: &'a str,
    pub(crate) x_label: &'a str,
    /// Positions and labels on the x axis; by default the x values of the points.
    pub(crate) x_ticks: Vec<(f64, String)>,
    /// Formats a value on the y axis.
    pub(crate) y_text: fn(f64) -> String,
    pub(crate) scale: Scale,
    pub(crate) series: Vec<Series>,
}

/// The scale of the y axis.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    Logarithmic,
    /// Starts at 0.
    Linear,
}

/// A named series of points, from left to right.
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
    /// Error bars.
    pub(crate) ranges: Vec<(f64, [f64; 2])>,
}

const CHART_HEIGHT: f64 = 340.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 84.0;
const BOTTOM: f64 = 52.0;
const LEGEND_ROW: f64 = 24.0;
/// The maximum number of labels on the x axis.
const MAX_TICKS: usize = 14;

/// Colours that are distinct for any kind of colour vision and in print.
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6b4fa0", "#444444"];

/// The same for dark pages.
const DARK_COLOURS: [&str; 8] =
    ["#3b9ddd", "#f0812f", "#1fbf92", "#e09cc4", "#f0b840", "#8cd0f5", "#a58be0", "#c0c4cc"];

impl Figure<'_> {
    /// Renders the SVG document.
    pub(crate) fn svg(&self) -> String {
        // A single chart is wider.
        let chart_width = if self.charts.len() == 1 { 820.0 } else { 520.0 };
        let width = chart_width * self.charts.len() as f64;
        let names: Vec<&str> = self.charts.first().map_or(Vec::new(), |chart| {
            chart.series.iter().map(|series| series.name.as_str()).collect()
        });
        let places = legend_places(&names, width);
        let rows = places.last().map_or(0, |(row, _)| row + 1);
        let legend_top = TOP + CHART_HEIGHT + BOTTOM + 22.0;
        let height = legend_top + LEGEND_ROW * rows as f64 - 4.0;
        let mut svg = open(self.title, width, height);
        for (index, chart) in self.charts.iter().enumerate() {
            chart.draw(&mut svg, chart_width * index as f64, chart_width);
        }
        for (index, (name, (row, x))) in names.iter().zip(places).enumerate() {
            let y = legend_top + LEGEND_ROW * row as f64;
            let mark = Mark::of(index);
            let _ = writeln!(
                svg,
                r#"  <line class="c{}" x1="{x}" x2="{}" y1="{2}" y2="{2}" stroke="{3}" stroke-width="2.5"/>"#,
                mark.index,
                x + 26.0,
                y - 4.0,
                mark.colour
            );
            mark.draw(&mut svg, x + 13.0, y - 4.0);
            let _ = writeln!(svg, r#"  <text x="{}" y="{y}">{}</text>"#, x + 34.0, escape(name));
        }
        svg.push_str("</svg>\n");
        svg
    }
}

/// The row and the x coordinate of each legend entry.
fn legend_places(names: &[&str], width: f64) -> Vec<(usize, f64)> {
    let (mut row, mut x) = (0, LEFT);
    let place = |name: &&str| {
        let length = 60.0 + 7.5 * name.chars().count() as f64;
        if x > LEFT && x + length > width {
            (row, x) = (row + 1, LEFT);
        }
        let place = (row, x);
        x += length;
        place
    };
    names.iter().map(place).collect()
}

/// The start of the document: size, styles, background and title.
fn open(title: &str, width: f64, height: f64) -> String {
    let mut dark = String::new();
    for (index, colour) in DARK_COLOURS.iter().enumerate() {
        let _ = write!(
            dark,
            "\n      polyline.c{index}, line.c{index} {{ stroke: {colour}; }} \
             circle.c{index}, polygon.c{index} {{ fill: {colour}; stroke: #0d1117; }}"
        );
    }
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">
  <title>{title}</title>
  <style>
    text {{ font: 13px system-ui, sans-serif; fill: #374151; }}
    .title {{ font-size: 19px; font-weight: 600; fill: #111827; }}
    .chart {{ font-size: 15px; font-weight: 600; }}
    .page {{ fill: #fff; }}
    .grid {{ stroke: #e5e7eb; }} .minor {{ stroke: #f3f4f6; }} .axis {{ stroke: #9ca3af; }}
    .middle {{ text-anchor: middle; }} .end {{ text-anchor: end; }}
    .on-colour {{ fill: #111827; }}
    polyline {{ fill: none; stroke-width: 2.5; stroke-linejoin: round; }}
    @media (prefers-color-scheme: dark) {{
      text {{ fill: #c3cad4; }} .title {{ fill: #f0f3f6; }} .page {{ fill: #0d1117; }}
      .grid {{ stroke: #2b323c; }} .minor {{ stroke: #1a2028; }} .axis {{ stroke: #7b8696; }}
      .on-colour {{ fill: #111827; }}{dark}
    }}
  </style>
  <rect class="page" width="{width}" height="{height}"/>
  <text class="title" x="{MARGIN}" y="34">{title}</text>
"#,
        title = escape(title),
    )
}

/// The x coordinate of titles.
const MARGIN: f64 = 24.0;

impl Chart<'_> {
    fn all_x_ticks(&self) -> Vec<(f64, String)> {
        if !self.x_ticks.is_empty() {
            return self.x_ticks.clone();
        }
        let points = self.series.iter().flat_map(|series| &series.points);
        let mut numbers: Vec<f64> = points.map(|&(x, _)| x).collect();
        numbers.sort_by(f64::total_cmp);
        numbers.dedup();
        numbers.into_iter().map(|x| (x, x.to_string())).collect()
    }

    fn draw(&self, svg: &mut String, left: f64, width: f64) {
        let Some(axis) = Axis::of(self) else { return };
        let x_ticks = self.all_x_ticks();
        let xs = || x_ticks.iter().map(|(x, _)| *x);
        let (x_min, x_max) =
            (xs().fold(f64::INFINITY, f64::min), xs().fold(f64::NEG_INFINITY, f64::max));
        let (start, end, floor) = (left + LEFT, left + width - RIGHT, TOP + CHART_HEIGHT);
        // Some room beside the first and the last point.
        let (first, last) = (start + 14.0, end - 14.0);
        let x_at = |x: f64| {
            let share = if x_max > x_min { (x - x_min) / (x_max - x_min) } else { 0.5 };
            first + share * (last - first)
        };
        let y_at = |value: f64| TOP + CHART_HEIGHT * (1.0 - axis.share(value));

        let title = escape(self.title);
        let _ =
            writeln!(svg, r#"  <text class="chart" x="{start}" y="{}">{title}</text>"#, TOP - 18.0);
        for value in axis.minor_ticks() {
            line(svg, "minor", [start, y_at(value), end, y_at(value)]);
        }
        for value in axis.ticks() {
            let y = y_at(value);
            line(svg, "grid", [start, y, end, y]);
            let _ = writeln!(
                svg,
                r#"  <text class="end" x="{}" y="{:.1}">{}</text>"#,
                start - 8.0,
                y + 4.5,
                escape(&(self.y_text)(value))
            );
        }
        for (tick, name) in x_ticks.iter().step_by(x_ticks.len().div_ceil(MAX_TICKS).max(1)) {
            let x = x_at(*tick);
            line(svg, "axis", [x, floor, x, floor + 5.0]);
            let y = floor + 21.0;
            let name = escape(name);
            let _ = writeln!(svg, r#"  <text class="middle" x="{x:.1}" y="{y}">{name}</text>"#);
        }
        line(svg, "axis", [start, floor, end, floor]);
        let _ = writeln!(
            svg,
            r#"  <text class="middle" x="{}" y="{}">{}</text>"#,
            f64::midpoint(start, end),
            floor + 43.0,
            escape(self.x_label)
        );
        for (index, Series { name, points, ranges }) in self.series.iter().enumerate() {
            let mark = Mark::of(index);
            for &(x, [low, high]) in ranges.iter().filter(|(_, [low, high])| low < high) {
                let (x, y1, y2) = (x_at(x), y_at(low), y_at(high));
                let _ = writeln!(
                    svg,
                    r#"  <line class="c{}" x1="{x:.1}" x2="{x:.1}" y1="{y1:.1}" y2="{y2:.1}" stroke="{}" stroke-width="1.5" opacity="0.45"/>"#,
                    mark.index, mark.colour
                );
            }
            let places: Vec<(f64, f64)> = points.iter().map(|&(x, y)| (x_at(x), y_at(y))).collect();
            let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            let _ = writeln!(
                svg,
                r#"  <polyline class="c{}" points="{}" stroke="{}"/>"#,
                mark.index,
                path.join(" "),
                mark.colour
            );
            for (&(x, y), &(x_value, y_value)) in places.iter().zip(points) {
                let at = x_ticks.iter().find(|(tick, _)| tick.total_cmp(&x_value).is_eq());
                let at = at.map_or_else(|| x_value.to_string(), |(_, name)| name.clone());
                let text = escape(&format!("{name}, {at}: {}", (self.y_text)(y_value)));
                let _ = writeln!(svg, "  <g><title>{text}</title>");
                mark.draw(svg, x, y);
                svg.push_str("  </g>\n");
            }
        }
    }
}

/// The y axis of a chart.
struct Axis {
    scale: Scale,
    /// Minimum and maximum; their base-10 logarithms on a logarithmic axis.
    ends: [f64; 2],
    step: f64,
}

impl Axis {
    /// An axis for all values; `None` if there are none.
    fn of(chart: &Chart) -> Option<Axis> {
        let points = chart.series.iter().flat_map(|series| &series.points).map(|&(_, y)| y);
        let ends =
            chart.series.iter().flat_map(|series| &series.ranges).flat_map(|&(_, ends)| ends);
        let values: Vec<f64> = points.chain(ends).filter(|value| value.is_finite()).collect();
        let max = values.iter().copied().reduce(f64::max)?;
        let min = values.iter().copied().reduce(f64::min)?;
        Some(match chart.scale {
            // Whole decades, and at least one of them.
            Scale::Logarithmic => {
                let min = min.log10().floor();
                let ends = [min, max.log10().ceil().max(min + 1.0)];
                Axis { scale: Scale::Logarithmic, ends, step: 1.0 }
            }
            Scale::Linear => {
                let step = round_step(max / 5.0);
                Axis { scale: Scale::Linear, ends: [0.0, (max / step).ceil() * step], step }
            }
        })
    }

    /// The height of a value, 0 to 1.
    fn share(&self, value: f64) -> f64 {
        let [min, max] = self.ends;
        let value = match self.scale {
            Scale::Logarithmic => value.log10(),
            Scale::Linear => value,
        };
        (value - min) / (max - min)
    }

    fn ticks(&self) -> Vec<f64> {
        let [min, max] = self.ends;
        let ticks = ticks(min, max, self.step);
        match self.scale {
            Scale::Logarithmic => ticks.map(|decade| 10_f64.powf(decade)).collect(),
            Scale::Linear => ticks.collect(),
        }
    }

    fn minor_ticks(&self) -> Vec<f64> {
        if self.scale == Scale::Linear {
            return Vec::new();
        }
        let [_, max] = self.ends;
        let decades = self.ticks().into_iter().filter(|decade| decade.log10() < max - 0.5);
        decades.flat_map(|decade| (2..10).map(move |step| decade * f64::from(step))).collect()
    }
}

/// Rounds up to 1, 2 or 5 times a power of ten.
pub(crate) fn round_step(min: f64) -> f64 {
    let decade = 10_f64.powf(min.max(1e-9).log10().floor());
    let steps = [1.0, 2.0, 5.0].map(|step| step * decade);
    steps.into_iter().find(|&step| step >= min).unwrap_or(10.0 * decade)
}

/// The multiples of the step from the minimum to the maximum.
pub(crate) fn ticks(min: f64, max: f64, step: f64) -> impl Iterator<Item = f64> {
    let numbers = (0..=100).map(move |tick| min + f64::from(tick) * step);
    numbers.take_while(move |&number| number <= max + 1e-6 * step)
}

/// The marker of a series: its own colour and shape.
struct Mark {
    index: usize,
    colour: &'static str,
    shape: usize,
}

impl Mark {
    fn of(index: usize) -> Mark {
        let index = index % COLOURS.len();
        Mark { index, colour: COLOURS[index], shape: index % 4 }
    }

    fn draw(&self, svg: &mut String, x: f64, y: f64) {
        let Mark { index, colour, shape } = *self;
        let polygon = |corners: &[(f64, f64)]| {
            let corners: Vec<String> =
                corners.iter().map(|(dx, dy)| format!("{:.1},{:.1}", x + dx, y + dy)).collect();
            format!(
                r##"<polygon class="c{index}" points="{}" fill="{colour}" stroke="#fff"/>"##,
                corners.join(" ")
            )
        };
        let shape = match shape {
            0 => format!(
                r##"<circle class="c{index}" cx="{x:.1}" cy="{y:.1}" r="4.5" fill="{colour}" stroke="#fff"/>"##
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

/// A time in seconds with a suitable unit, without trailing zeros.
pub(crate) fn short_time_text(seconds: f64) -> String {
    let text = time_text(seconds);
    let (number, unit) = text.split_once(' ').unwrap_or((&text, ""));
    let number = if number.contains('.') { number.trim_end_matches('0') } else { number };
    format!("{} {unit}", number.trim_end_matches('.'))
}

/// A time in seconds with a suitable unit.
pub(crate) fn time_text(seconds: f64) -> String {
    let three_digits = |number: f64| match number {
        ..9.995 => format!("{number:.2}"),
        ..99.95 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    };
    match seconds {
        ..0.999_5e-3 => format!("{} us", three_digits(seconds * 1e6)),
        ..0.999_5 => format!("{} ms", three_digits(seconds * 1e3)),
        _ => format!("{} s", three_digits(seconds)),
    }
}

/// A count in thousands, millions and so on, for an axis.
pub(crate) fn count_text(count: f64) -> String {
    let (unit, name) = match count {
        ..1e3 => (1.0, ""),
        ..1e6 => (1e3, " k"),
        ..1e9 => (1e6, " M"),
        _ => (1e9, " G"),
    };
    format!("{}{name}", (10.0 * count / unit).round() / 10.0)
}
