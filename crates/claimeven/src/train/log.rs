//! A training run as lines, one per iteration.

use std::io::{self, Write};

use claimeven_zero::{Event, Metrics};

use super::view::{Stage, View};
use crate::text::{clock, counted};

/// Prints to standard output, as text or as JSON.
pub(super) struct Log {
    pub(super) is_json: bool,
}

impl Log {
    pub(super) fn begin(&self, view: &View) -> io::Result<()> {
        let architecture = &view.parameters.architecture;
        self.text(&format!("{architecture} in {}", view.folder.display()))
    }

    pub(super) fn event(&self, view: &View, event: Event<'_>) -> io::Result<()> {
        match event {
            Event::PreparingExam { solved: 0, of } => {
                self.text(&format!("solving {of} positions for the exam"))
            }
            Event::Done(_) => self.line(view, view.history.len() - 1),
            _ => Ok(()),
        }
    }

    /// Prints an iteration, by its index in the history.
    pub(super) fn line(&self, view: &View, index: usize) -> io::Result<()> {
        if self.is_json {
            let line = serde_json::to_string(&view.history[index])?;
            return writeln!(anstream::stdout(), "{line}");
        }
        self.text(&line(view, index))
    }

    /// Prints a summary of the run.
    pub(super) fn end(&self, view: &View) -> io::Result<()> {
        let state = view.state();
        let folder = view.folder.display();
        let best = match state.best {
            0 => "no network yet".to_owned(),
            best => format!("best network: iteration {best} (zero:model={folder})"),
        };
        self.text(&format!(
            "{}, {}, {} of training; {best}",
            counted(state.iteration, "iteration"),
            counted(state.games, "game"),
            clock(view.training_time())
        ))
    }

    fn text(&self, line: &str) -> io::Result<()> {
        if self.is_json { Ok(()) } else { writeln!(anstream::stdout(), "{line}") }
    }
}

/// An iteration in one line.
pub(super) fn line(view: &View, index: usize) -> String {
    let metrics = &view.history[index];
    let (games, positions) = view.rates(index);
    let mut parts = vec![format!(
        "{:4} {:>8}  {} games, {games:.1}/s, {positions:.0} positions/s  loss {:.3} + {:.3}",
        metrics.state.iteration,
        clock(std::time::Duration::from_secs_f64(metrics.state.seconds)),
        metrics.state.games,
        metrics.policy_loss,
        metrics.value_loss,
    )];
    if let Some(exam) = metrics.exam {
        let percent = |share: f32| format!("{:.1} %", 100.0 * share);
        let [policy, search] = [exam.policy_error, exam.search_error].map(percent);
        parts.push(format!("errors {policy} policy only, {search} with search"));
    }
    parts.extend(gate(metrics));
    if let Some(left) = view.left_after(index + 1)
        && view.stage != Stage::Idle
    {
        parts.push(format!("{} left", clock(left)));
    }
    parts.join("  ")
}

/// The result of a gate match.
pub(super) fn gate(metrics: &Metrics) -> Option<String> {
    let gate = metrics.gate?;
    let verdict =
        if metrics.state.best == metrics.state.iteration { "new best" } else { "not better" };
    Some(format!(
        "gate {}-{}-{} ({:.1} %), {verdict}",
        gate.wins,
        gate.draws,
        gate.losses,
        100.0 * gate.share()
    ))
}
