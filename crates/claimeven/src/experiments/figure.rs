//! The figures of a finding as SVG plots.

use claimeven_arena::experiments::{Figure, LinePanel, Plot, Unit};

use crate::plot::{self, Chart, Scale, Series, count_text, heat_map, ranges, short_time_text};

pub(super) fn svg(figure: &Figure) -> String {
    match &figure.plot {
        Plot::Heat(panels) => heat_map(&figure.title, panels),
        Plot::Ranges(panels) => ranges(&figure.title, panels),
        Plot::Lines(panels) => {
            plot::Figure { title: &figure.title, charts: panels.iter().map(chart).collect() }.svg()
        }
    }
}

fn chart(panel: &LinePanel) -> Chart<'_> {
    let series = panel.lines.iter().map(|line| Series {
        name: line.name.clone(),
        points: line.points.iter().map(|(x, y)| (*x, y.estimate)).collect(),
        ranges: line.points.iter().map(|(x, y)| (*x, [y.low, y.high])).collect(),
    });
    Chart {
        title: &panel.title,
        x_label: &panel.x_label,
        x_ticks: panel.ticks.clone(),
        y_text: match panel.unit {
            Unit::Share => |share| format!("{:.0} %", 100.0 * share),
            Unit::Seconds => short_time_text,
            Unit::Elo | Unit::Count | Unit::Factor => count_text,
        },
        scale: if panel.logarithmic { Scale::Logarithmic } else { Scale::Linear },
        series: series.collect(),
    }
}
