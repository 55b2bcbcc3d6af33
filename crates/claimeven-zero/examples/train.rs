//! Trains a network from the shell, with a log line per iteration.
//!
//!     cargo run --release -p claimeven-zero --example train -- --run DIR --preset 10min

use std::error::Error;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use claimeven_game::Setup;
use claimeven_zero::{Event, Metrics, Parameters, Run};

fn main() -> Result<(), Box<dyn Error>> {
    let mut folder = None;
    let mut parameters = None;
    let (mut iterations, mut minutes, mut threads) = (u64::MAX, f64::INFINITY, 2);
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
        match &*name {
            "--run" => folder = Some(PathBuf::from(value)),
            "--preset" => {
                let preset = Parameters::preset(&value, Setup::STANDARD);
                parameters = Some(preset.ok_or_else(|| format!("no preset {value}"))?);
            }
            "--parameters" => {
                parameters = Some(serde_json::from_slice(&std::fs::read(value)?)?);
            }
            "--iterations" => iterations = value.parse()?,
            "--minutes" => minutes = value.parse()?,
            "--threads" => threads = value.parse()?,
            _ => return Err(format!("unknown option {name}").into()),
        }
    }
    let folder = folder.ok_or("--run is missing")?;
    let start = Instant::now();
    let mut observer = |event: Event<'_>| {
        if let Event::Done(metrics) = event {
            print(metrics);
        }
        ControlFlow::Continue(())
    };
    let mut run = Run::open(&folder, parameters.as_ref(), threads, &mut observer)?;
    while run.state().iteration < iterations && start.elapsed().as_secs_f64() < 60.0 * minutes {
        run.iterate(&mut observer)?;
    }
    Ok(())
}

fn print(metrics: &Metrics) {
    let percent = |share: f32| format!("{:5.2} %", 100.0 * share);
    let marks = metrics.marks.map_or(String::new(), |marks| {
        format!(
            " | errors: policy {} search {} value {:.3}",
            percent(marks.policy_error),
            percent(marks.search_error),
            marks.value_error
        )
    });
    let gate = metrics.gate.map_or(String::new(), |gate| {
        format!(" | gate {}-{}-{}", gate.wins, gate.draws, gate.losses)
    });
    println!(
        "{:4} {:6.0} s ({:4.1} play {:4.1} learn {:4.1} test) | {} games, {} samples, {} in the \
         window, {} distinct | {:.1} moves | loss {:.3} + {:.3}{marks}{gate} | best {}",
        metrics.state.iteration,
        metrics.state.seconds,
        metrics.self_play_seconds,
        metrics.learning_seconds,
        metrics.test_seconds,
        metrics.state.games,
        metrics.new_samples,
        metrics.window,
        metrics.pool,
        metrics.moves_per_game,
        metrics.policy_loss,
        metrics.value_loss,
        metrics.state.best,
    );
}
