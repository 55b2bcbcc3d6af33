//! Findings as text.

use std::io::{self, Write};
use std::time::Duration;

use claimeven_arena::experiments::{Experiment, HeatPanel, Plot, TableCell, Verdict};

use super::{CompletedExperiment, Run};
use crate::text::counted;

pub(super) fn write_list(out: &mut impl Write, experiments: &[&Experiment]) -> io::Result<()> {
    let names = experiments.iter().map(|experiment| experiment.name.len());
    let width = names.max().unwrap_or(0);
    for experiment in experiments {
        writeln!(out, "{:<width$}  {}", experiment.name, plain(experiment.claim))?;
    }
    Ok(())
}

pub(super) fn write(out: &mut impl Write, done: &CompletedExperiment) -> io::Result<()> {
    let CompletedExperiment { experiment, finding, command } = done;
    writeln!(out, "{}", experiment.title)?;
    writeln!(out, "  claim     {}", plain(experiment.claim))?;
    writeln!(out, "  run       {}", plain(&finding.run))?;
    writeln!(out, "  left out  {}", plain(&finding.left_out))?;
    writeln!(out, "  command   {command}")?;
    if finding.verdict != Verdict::Skipped {
        for command in &finding.commands {
            writeln!(out, "  part      {command}")?;
        }
        writeln!(out, "  measured  {}", plain(&finding.measured))?;
    }
    writeln!(out, "  verdict   {}: {}", finding.verdict, plain(&finding.because))?;
    for figure in &finding.figures {
        if let Plot::Heat(panels) = &figure.plot {
            for panel in panels {
                write_panel(out, panel, &figure.caption)?;
            }
        }
    }
    for table in &finding.tables {
        let rows = table.rows.iter().map(|row| row.iter().map(TableCell::to_string).collect());
        write_table(out, &table.caption, &table.head, rows.collect())?;
    }
    writeln!(out)?;
    out.flush()
}

pub(super) fn write_summary(out: &mut impl Write, run: &Run, time: Duration) -> io::Result<()> {
    let width = run.done.iter().map(|done| done.experiment.name.len()).max().unwrap_or(0);
    for CompletedExperiment { experiment, finding, .. } in &run.done {
        let verdict = finding.verdict;
        writeln!(out, "{:<width$}  {verdict:<13}  {}", experiment.name, plain(experiment.claim))?;
    }
    let quick = if run.quick { " (quick run: the verdicts mean nothing)" } else { "" };
    let seconds = time.as_secs_f64();
    let threads = counted(run.threads, "thread");
    writeln!(out, "seed {}, {threads}, {seconds:.0} s{quick}", run.seed)
}

fn write_panel(out: &mut impl Write, panel: &HeatPanel, caption: &str) -> io::Result<()> {
    let caption = match panel.title.as_str() {
        "" => caption.to_owned(),
        title => format!("{title}: {caption}"),
    };
    let HeatPanel { row_label, column_label, .. } = panel;
    let mut head = vec![format!("{row_label} \\ {column_label}")];
    head.extend(panel.columns.iter().cloned());
    let row = |(name, cells): (&String, &Vec<Option<f64>>)| {
        let cells = cells.iter().map(|cell| cell.map_or(String::new(), percent));
        std::iter::once(name.clone()).chain(cells).collect()
    };
    let rows = panel.rows.iter().zip(&panel.cells).map(row).collect();
    write_table(out, &caption, &head, rows)
}

fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

/// A table whose first column is left-aligned; the others are right-aligned.
fn write_table(
    out: &mut impl Write,
    caption: &str,
    head: &[String],
    rows: Vec<Vec<String>>,
) -> io::Result<()> {
    let lines: Vec<Vec<String>> = std::iter::once(head.to_vec())
        .chain(rows)
        .map(|row| row.iter().map(|cell| plain(cell)).collect())
        .collect();
    let width = |column: usize| {
        lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max()
    };
    writeln!(out, "\n  {}", plain(caption))?;
    for line in &lines {
        let cells = line.iter().enumerate().map(|(column, cell)| {
            let width = width(column).unwrap_or(0);
            if column == 0 { format!("    {cell:<width$}") } else { format!("  {cell:>width$}") }
        });
        writeln!(out, "{}", cells.collect::<String>().trim_end())?;
    }
    Ok(())
}

/// A text without Markdown.
fn plain(text: &str) -> String {
    text.replace('`', "")
}
