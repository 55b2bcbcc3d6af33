//! The dashboard of a training run, with curves.

use std::io;
use std::time::Duration;

use claimeven_zero::Metrics;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Gauge, Paragraph, Sparkline};
use ratatui::{DefaultTerminal, Frame};

use super::log::gate;
use super::view::{Goal, Stage, View, time};
use crate::text::counted;

/// The terminal while the dashboard is shown; restored on drop.
pub(super) struct Dashboard {
    terminal: DefaultTerminal,
}

impl Dashboard {
    pub(super) fn open() -> io::Result<Dashboard> {
        Ok(Dashboard { terminal: ratatui::try_init()? })
    }

    pub(super) fn draw(&mut self, view: &View) -> io::Result<()> {
        self.terminal.draw(|frame| draw(frame, view))?;
        Ok(())
    }

    /// Waits for a key, and returns whether it asks to quit.
    pub(super) fn wants_quit(patience: Duration) -> io::Result<bool> {
        if !event::poll(patience)? {
            return Ok(false);
        }
        let Event::Key(key) = event::read()? else { return Ok(false) };
        let is_stop = match key.code {
            KeyCode::Char('c') => key.modifiers.contains(KeyModifiers::CONTROL),
            KeyCode::Char('q') | KeyCode::Esc => true,
            _ => false,
        };
        Ok(is_stop && key.kind == KeyEventKind::Press)
    }
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        restore();
    }
}

/// Restores the terminal.
pub(super) fn restore() {
    ratatui::restore();
}

/// A metric over the iterations.
struct Curve {
    name: &'static str,
    colour: Color,
    points: Vec<f64>,
    text: fn(f64) -> String,
}

fn curves(view: &View) -> Vec<Curve> {
    let each =
        |value: &dyn Fn(&Metrics) -> Option<f64>| view.history.iter().filter_map(value).collect();
    let exam = |value: fn(&claimeven_zero::ExamScore) -> f32| {
        each(&|metrics| Some(f64::from(value(metrics.exam.as_ref()?))))
    };
    let rates = |value: fn((f64, f64)) -> f64| {
        (0..view.history.len()).map(|index| value(view.rates(index))).collect()
    };
    let percent = |share| format!("{:.1} %", 100.0 * share);
    let decimal = |number| format!("{number:.3}");
    let curve = |name, colour, points, text| Curve { name, colour, points, text };
    vec![
        curve("errors, policy only", Color::Green, exam(|exam| exam.policy_error), percent),
        curve("errors with search", Color::Green, exam(|exam| exam.search_error), percent),
        curve("value error", Color::Green, exam(|exam| exam.value_error), decimal),
        curve("policy loss", Color::Cyan, each(&|it| Some(it.policy_loss.into())), decimal),
        curve("value loss", Color::Cyan, each(&|it| Some(it.value_loss.into())), decimal),
        curve("gate", Color::Yellow, each(&|it| Some(it.gate?.share().into())), percent),
        curve("games/s", Color::Blue, rates(|(games, _)| games), |it| format!("{it:.1}")),
        curve("positions/s", Color::Blue, rates(|(_, all)| all), |it| format!("{it:.0}")),
    ]
}

fn draw(frame: &mut Frame, view: &View) {
    let curves = curves(view);
    let height = if frame.area().height >= 9 + 2 * curves.len() as u16 { 2 } else { 1 };
    let mut rows = vec![Constraint::Length(1); 5];
    rows.extend(curves.iter().map(|_| Constraint::Length(height)));
    rows.extend([Constraint::Length(1); 4]);
    let rows = Layout::vertical(rows).horizontal_margin(1).split(frame.area());

    let state = view.state();
    let architecture = &view.parameters.architecture;
    let title = vec![
        Span::from("claimeven train  ").bold(),
        Span::from(view.folder.display().to_string()).cyan(),
        Span::from(format!("  {architecture}, connect {}", architecture.connect)),
    ];
    frame.render_widget(Line::from(title), rows[0]);
    let best = if state.best == 0 { "none yet".to_owned() } else { state.best.to_string() };
    let counts = format!(
        "{}, best {best}; {}, {}; time {}{}",
        counted(state.iteration, "iteration"),
        counted(state.games, "game"),
        counted(state.samples, "sample"),
        time(view.training_time()),
        left(view)
    );
    frame.render_widget(Paragraph::new(counts), rows[1]);
    frame.render_widget(stage(view), rows[3]);
    for (curve, row) in curves.iter().zip(&rows[5..]) {
        draw_curve(frame, curve, *row);
    }
    let last_gate = view.history.iter().rev().find_map(|metrics| {
        Some(format!("iteration {}: {}", metrics.state.iteration, gate(metrics)?))
    });
    let rest = &rows[5 + curves.len()..];
    frame.render_widget(Paragraph::new(last_gate.unwrap_or_default()).yellow(), rest[1]);
    let keys = match (view.stage, view.is_stopping) {
        (_, true) => "stopping after this step (press q again to stop immediately)",
        (Stage::Elsewhere | Stage::Idle, _) => "q quit",
        _ => "q stop (--resume continues from the last finished iteration)",
    };
    frame.render_widget(Paragraph::new(keys).dim(), rest[3]);
}

fn left(view: &View) -> String {
    let left = match view.goal {
        Goal::None => None,
        // Nothing can be estimated before the first iteration has finished.
        Goal::Seconds(seconds) if view.history.is_empty() => Some(Duration::from_secs_f64(seconds)),
        _ => view.left_after(view.history.len()),
    };
    let left = left.map(|left| left.saturating_sub(view.current_time()));
    left.map_or(String::new(), |left| format!(", {} left", time(left)))
}

/// The progress of the current stage.
fn stage(view: &View) -> Gauge<'static> {
    let iteration = view.state().iteration + 1;
    let (share, text) = match view.stage {
        Stage::Preparing { solved, of } => {
            let text = format!("solving the exam positions: {solved} of {of}");
            (solved as f64 / of.max(1) as f64, text)
        }
        Stage::Playing { games, of } => {
            (games as f64 / of.max(1) as f64, format!("game {games} of {of}"))
        }
        Stage::Learning { steps, of } => {
            (steps as f64 / of.max(1) as f64, format!("step {steps} of {of}"))
        }
        Stage::Testing => (1.0, "gate and exam".to_owned()),
        Stage::Elsewhere => (0.0, format!("training for {}", time(view.current_time()))),
        Stage::Idle => (0.0, "not training".to_owned()),
    };
    let text = match view.stage {
        Stage::Preparing { .. } | Stage::Idle => text,
        _ => format!("iteration {iteration}: {text}"),
    };
    Gauge::default()
        .ratio(share.clamp(0.0, 1.0))
        .label(text)
        .gauge_style(Color::Magenta)
        .use_unicode(true)
}

fn draw_curve(frame: &mut Frame, curve: &Curve, row: Rect) {
    let parts =
        [Constraint::Length(22), Constraint::Length(9), Constraint::Length(1), Constraint::Fill(1)];
    let [name, value, _, line] = Layout::horizontal(parts).areas(row);
    frame.render_widget(Paragraph::new(curve.name), name);
    let newest = curve.points.last().map_or("-".to_owned(), |&point| (curve.text)(point));
    frame.render_widget(Paragraph::new(newest).right_aligned().bold(), value);
    let bars = bars(&curve.points, line.width.into());
    frame.render_widget(Sparkline::default().data(bars).max(BAR).style(curve.colour), line);
}

/// The height of the highest bar.
const BAR: u64 = 64;

/// Bar heights of the points, averaged in groups if there are more points than columns.
#[expect(clippy::cast_sign_loss, reason = "no mean is below the minimum")]
fn bars(points: &[f64], width: usize) -> Vec<u64> {
    let group = points.len().div_ceil(width.max(1)).max(1);
    let means: Vec<f64> =
        points.chunks(group).map(|group| group.iter().sum::<f64>() / group.len() as f64).collect();
    let min = means.iter().copied().fold(f64::INFINITY, f64::min);
    let max = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let span = (max - min).max(1e-9 * max.abs()).max(f64::MIN_POSITIVE);
    // The minimum has a bar, too.
    let bar = |mean: &f64| 8 + ((mean - min) / span * (BAR - 8) as f64).round() as u64;
    means.iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use claimeven_game::Setup;
    use claimeven_zero::{Event, ExamScore, MatchScore, Parameters, RunState};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;

    fn metrics(iteration: u64) -> Metrics {
        let share = 1.0 / iteration as f32;
        let gate = MatchScore { wins: 60, draws: 10, losses: 30 };
        Metrics {
            state: RunState {
                iteration,
                best: 1,
                games: 400 * iteration,
                samples: 3000 * iteration,
                evaluations: 90_000 * iteration,
                seconds: 30.0 * iteration as f64,
                ..RunState::default()
            },
            self_play_seconds: 20.0,
            learning_seconds: 8.0,
            test_seconds: 2.0,
            new_samples: 3000,
            buffer: 3000,
            pool: 2900,
            results: [200, 20, 180],
            moves_per_game: 25.0,
            rate: 1e-3,
            policy_loss: share,
            value_loss: 0.5 * share,
            gate: iteration.is_multiple_of(5).then_some(gate),
            exam: Some(ExamScore {
                policy_error: share,
                search_error: 0.5 * share,
                value_error: 0.3,
            }),
        }
    }

    fn screen(view: &View, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(frame, view)).unwrap();
        terminal.backend().to_string()
    }

    #[test]
    fn the_dashboard_shows_the_stage_and_the_metrics() {
        let parameters = Parameters::ten_minutes(Setup::STANDARD);
        let mut view = View::new(Path::new("some/run"), &parameters, Goal::Iterations(20));
        let empty = screen(&view, 80, 24);
        assert!(empty.contains("solving the exam positions"), "{empty}");
        for iteration in 1..=12 {
            view.update(Event::Done(&metrics(iteration)));
        }
        view.update(Event::Playing { iteration: 13, games: 100, of: 400 });
        for (width, height) in [(80, 24), (60, 15), (200, 60), (20, 5), (1, 1)] {
            let screen = screen(&view, width, height);
            if width < 80 {
                continue;
            }
            for text in [
                "some/run",
                "3x32 for 7x6",
                "12 iterations, best 1; 4800 games, 36000 samples; time 6:00, ",
                "iteration 13: game 100 of 400",
                "8.3 %",
                "0.083",
                "iteration 10: gate 60-10-30 (65.0 %), not better",
                "20.0",
                "4500",
                "q stop",
            ] {
                assert!(screen.contains(text), "{text}\n{screen}");
            }
        }
    }

    #[test]
    fn bars_range_from_the_minimum_to_the_maximum() {
        assert_eq!(bars(&[1.0, 2.0, 3.0], 10), [8, 36, 64]);
        assert_eq!(bars(&[1.0, 3.0, 4.0, 8.0], 2), [8, 64]);
        assert_eq!(bars(&[5.0, 5.0], 2), [8, 8]);
        assert_eq!(bars(&[], 2), [0; 0]);
    }
}
