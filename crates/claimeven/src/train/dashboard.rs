//! The dashboard of a training run, with curves.

use std::io;
use std::time::Duration;

use claimeven_zero::Metrics;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Stylize};
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Axis, Block, Chart, Dataset, Gauge, GraphType, Paragraph, Sparkline};
use ratatui::{DefaultTerminal, Frame};

use super::log::gate;
use super::view::{Stage, StopCondition, View};
use crate::text::{clock, counted};

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

    /// Waits for a key, and returns whether it means quit. A closed terminal is an error.
    pub(super) fn wants_quit(timeout: Duration) -> io::Result<bool> {
        wait_for_input(timeout)?;
        if !event::poll(Duration::ZERO)? {
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

/// Waits for terminal input. If the terminal has been closed, crossterm would keep reading forever.
#[cfg(unix)]
fn wait_for_input(timeout: Duration) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let output = io::stdout();
    let mut terminal = [PollFd::new(&output, PollFlags::IN)];
    let timeout = Timespec::try_from(timeout).map_err(io::Error::other)?;
    match poll(&mut terminal, Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let closed = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    if terminal[0].revents().intersects(closed) {
        return Err(io::Error::other("the terminal was closed"));
    }
    Ok(())
}

#[cfg(not(unix))]
fn wait_for_input(timeout: Duration) -> io::Result<()> {
    event::poll(timeout).map(|_| ())
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
    let is_large = frame.area().width >= 70 && frame.area().height >= 22;
    let curves = curves(view);
    let height = if frame.area().height >= 9 + 2 * curves.len() as u16 { 2 } else { 1 };
    let middle = if is_large {
        Constraint::Fill(1)
    } else {
        Constraint::Length(height * curves.len() as u16)
    };
    let line = Constraint::Length(1);
    let rows = [line, line, line, line, middle, line, line];
    let [title_row, counts_row, _, stage_row, middle, gate_row, keys_row] =
        Layout::vertical(rows).horizontal_margin(1).areas(frame.area());

    let state = view.state();
    let architecture = &view.parameters.architecture;
    let title = vec![
        Span::from("claimeven train  ").bold(),
        Span::from(view.folder.display().to_string()).cyan(),
        Span::from(format!("  {architecture}, connect {}", architecture.connect)),
    ];
    frame.render_widget(Line::from(title), title_row);
    let best = if state.best == 0 { "none yet".to_owned() } else { state.best.to_string() };
    let counts = format!(
        "{}, best {best}; {}, {}; time {}{}",
        counted(state.iteration, "iteration"),
        counted(state.games, "game"),
        counted(state.samples, "sample"),
        clock(view.training_time()),
        left(view)
    );
    frame.render_widget(Paragraph::new(counts), counts_row);
    frame.render_widget(stage(view), stage_row);
    if is_large {
        let [top, bottom] = Layout::vertical([Constraint::Fill(1); 2]).areas(middle);
        let halves = |area| Layout::horizontal([Constraint::Fill(1); 2]).areas::<2>(area);
        let areas = [halves(top), halves(bottom)].concat();
        for (panel, area) in panels(view).iter().zip(areas) {
            draw_panel(frame, panel, area);
        }
    } else {
        let rows = Layout::vertical(vec![Constraint::Length(height); curves.len()]).split(middle);
        for (curve, row) in curves.iter().zip(rows.iter()) {
            draw_curve(frame, curve, *row);
        }
    }
    let last_gate = view.history.iter().rev().find_map(|metrics| {
        Some(format!("iteration {}: {}", metrics.state.iteration, gate(metrics)?))
    });
    frame.render_widget(Paragraph::new(last_gate.unwrap_or_default()).yellow(), gate_row);
    let keys = match (view.stage, view.is_stopping) {
        (_, true) => {
            "stopping after this step and a gate match (press q again to stop immediately)"
        }
        (Stage::OtherProcess | Stage::Idle, _) => "q quit",
        _ => "q stop (--resume continues from the last finished iteration)",
    };
    frame.render_widget(Paragraph::new(keys).dim(), keys_row);
}

/// Curves with axes, on a screen that has room for them.
struct Panel {
    title: String,
    /// What the numbers are, and what the dotted line is.
    about: &'static str,
    lines: Vec<(Color, Vec<(f64, f64)>)>,
    baseline: Option<f64>,
    /// The top of the vertical axis, if it does not follow the numbers.
    max: Option<f64>,
    text: fn(f64) -> String,
}

fn panels(view: &View) -> Vec<Panel> {
    let points = |value: &dyn Fn(&Metrics) -> Option<f64>| -> Vec<(f64, f64)> {
        let point = |metrics: &Metrics| Some((metrics.state.iteration as f64, value(metrics)?));
        view.history.iter().filter_map(point).collect()
    };
    let exam = |value: fn(&claimeven_zero::ExamScore) -> f32| {
        points(&|metrics| Some(f64::from(value(metrics.exam.as_ref()?))))
    };
    let first = |line: &[(f64, f64)]| line.first().map(|(_, value)| *value);
    let newest = |line: &[(f64, f64)], text: fn(f64) -> String| {
        line.last().map_or("-".to_owned(), |(_, value)| text(*value))
    };
    let percent: fn(f64) -> String = |share| format!("{:.1} %", 100.0 * share);
    let decimal: fn(f64) -> String = |number| format!("{number:.3}");
    let whole: fn(f64) -> String = |number| format!("{number:.0}");
    let (policy, search) = (exam(|exam| exam.policy_error), exam(|exam| exam.search_error));
    let policy_loss = points(&|metrics| Some(metrics.policy_loss.into()));
    let value_loss = points(&|metrics| Some(metrics.value_loss.into()));
    let gate = points(&|metrics| Some(metrics.gate?.share().into()));
    let rates: Vec<(f64, f64)> = (0..view.history.len()).map(|index| view.rates(index)).collect();
    let speed: Vec<(f64, f64)> = view
        .history
        .iter()
        .zip(&rates)
        .map(|(metrics, (_, positions))| (metrics.state.iteration as f64, *positions))
        .collect();
    let games = rates.last().map_or("-".to_owned(), |(games, _)| format!("{games:.1}"));
    vec![
        Panel {
            title: format!(
                "errors {} policy, {} search",
                newest(&policy, percent),
                newest(&search, percent)
            ),
            about: "wins and draws lost; dots: first",
            baseline: first(&policy),
            lines: vec![(Color::Green, policy), (Color::Cyan, search)],
            max: None,
            text: percent,
        },
        Panel {
            title: format!(
                "loss {} policy, {} value",
                newest(&policy_loss, decimal),
                newest(&value_loss, decimal)
            ),
            about: "on self-play samples; dots: first",
            baseline: first(&policy_loss),
            lines: vec![(Color::Green, policy_loss), (Color::Cyan, value_loss)],
            max: None,
            text: decimal,
        },
        Panel {
            title: format!("gate {}", newest(&gate, percent)),
            about: "against the best; dots: 50 %",
            baseline: Some(0.5),
            lines: vec![(Color::Yellow, gate)],
            max: Some(1.0),
            text: percent,
        },
        Panel {
            title: format!("{games} games/s, {} positions/s", newest(&speed, whole)),
            about: "speed of self-play; dots: first",
            baseline: first(&speed),
            lines: vec![(Color::Blue, speed)],
            max: None,
            text: whole,
        },
    ]
}

fn draw_panel(frame: &mut Frame, panel: &Panel, area: Rect) {
    let all = || panel.lines.iter().flat_map(|(_, points)| points.iter().copied());
    let last = all().map(|(x, _)| x).fold(2.0, f64::max);
    let highest = all().map(|(_, y)| y).chain(panel.baseline).fold(0.0, f64::max);
    let max = panel.max.unwrap_or(1.05 * highest).max(1e-6);
    let baseline = panel.baseline.map(|value| [(1.0, value), (last, value)]);
    let mut datasets = Vec::new();
    if let Some(points) = &baseline {
        let dots = Dataset::default().marker(Marker::Dot).graph_type(GraphType::Line);
        datasets.push(dots.style(Color::DarkGray).data(points));
    }
    for (colour, points) in &panel.lines {
        let line = Dataset::default().marker(Marker::Braille).graph_type(GraphType::Line);
        datasets.push(line.style(*colour).data(points));
    }
    let y_labels = [0.0, max / 2.0, max].map(panel.text);
    let x_labels = ["1".to_owned(), format!("iteration {last:.0}")];
    let block = Block::bordered()
        .border_style(Color::DarkGray)
        .title(Line::from(format!(" {} ", panel.title)).bold())
        .title_bottom(Line::from(format!(" {} ", panel.about)).dim());
    let chart = Chart::new(datasets)
        .block(block)
        .x_axis(Axis::default().bounds([1.0, last]).labels(x_labels).style(Color::DarkGray))
        .y_axis(Axis::default().bounds([0.0, max]).labels(y_labels).style(Color::DarkGray));
    frame.render_widget(chart, area);
}

fn left(view: &View) -> String {
    let left = match view.stop_condition {
        StopCondition::None => None,
        // Nothing can be estimated before the first iteration has finished.
        StopCondition::Seconds(seconds) if view.history.is_empty() => {
            Some(Duration::from_secs_f64(seconds))
        }
        _ => view.left_after(view.history.len()),
    };
    let left = left.map(|left| left.saturating_sub(view.current_time()));
    left.map_or(String::new(), |left| format!(", {} left", clock(left)))
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
        Stage::Learning { of: 0, .. } => (0.0, "learning".to_owned()),
        Stage::Learning { steps, of } => {
            (steps as f64 / of.max(1) as f64, format!("step {steps} of {of}"))
        }
        Stage::Testing => (1.0, "gate and exam".to_owned()),
        Stage::OtherProcess => (0.0, format!("training for {}", clock(view.current_time()))),
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
        let mut view = View::new(Path::new("some/run"), &parameters, StopCondition::Iterations(20));
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
                "wins and draws lost; dots: first",
                "iteration 12",
                "50.0 %",
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
