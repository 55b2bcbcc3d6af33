//! Trains a tiny network on a small board and plays it against random moves.
//!
//!     cargo run --release -p claimeven-zero --example train_tiny
//!
//! Takes a few seconds: 4x4, connect 3, six iterations of 60 games.

use std::error::Error;
use std::ops::ControlFlow;
use std::sync::Arc;

use claimeven_game::{Outcome, Player, Position, Ruleset, Setup};
use claimeven_search::{Agent, Limits, Random};
use claimeven_zero::{Architecture, Event, Parameters, Resources, Run, Zero, ZeroParameters};

fn main() -> Result<(), Box<dyn Error>> {
    // 1. Start from a preset and make everything smaller.
    let setup = Setup::new(4, 4, 3, Ruleset::Standard)?;
    let mut parameters = Parameters::ten_minutes(setup);
    parameters.architecture = Architecture::new(setup, 1, 12);
    for (name, value) in [
        ("self_play.games", "60"),
        ("self_play.in_flight", "16"),
        ("self_play.full_simulations", "16"),
        ("self_play.fast_simulations", "6"),
        ("learning.batch", "64"),
        ("learning.chunk", "32"),
        ("learning.passes", "20"),
        ("learning.rate", "0.005"),
        ("learning.min_buffer", "150"),
        ("gate.every", "2"),
        ("gate.pairs", "8"),
        ("exam.positions", "200"),
        ("exam.max_plies", "6"),
    ] {
        parameters.set(name, value)?;
    }

    // 2. Train in a folder, from which the run could be resumed.
    let folder = std::env::temp_dir().join(format!("train-tiny-{}", std::process::id()));
    let mut observer = |_: Event<'_>| ControlFlow::Continue(());
    let mut run = Run::begin(&folder, &parameters, None, Resources::new(2), &mut observer)?;
    for _ in 0..6 {
        let Some(metrics) = run.iterate(&mut observer)? else { break };
        let errors = metrics.exam.map_or(f32::NAN, |exam| 100.0 * exam.policy_error);
        println!(
            "iteration {}: {} games, loss {:.3}, policy errors {errors:.1} %",
            metrics.state.iteration,
            metrics.state.games,
            metrics.policy_loss + metrics.value_loss,
        );
    }

    // 3. Play the best network.
    let network = Arc::new(run.best().clone());
    drop(run);
    std::fs::remove_dir_all(&folder)?;
    let mut score = [0; 3];
    for game in 0..20 {
        let zero_plays = if game % 2 == 0 { Player::First } else { Player::Second };
        let mut zero = Zero::new(ZeroParameters::new(Arc::clone(&network), 20));
        let mut random = Random { seed: game };
        let mut position = Position::new(setup);
        let outcome = loop {
            let agent: &mut dyn Agent =
                if position.player() == zero_plays { &mut zero } else { &mut random };
            position.play(agent.decide(&position, &Limits::default())?.column)?;
            if let Some(outcome) = position.outcome() {
                break outcome;
            }
        };
        score[match outcome {
            Outcome::Win(winner) if winner == zero_plays => 0,
            Outcome::Draw => 1,
            Outcome::Win(_) => 2,
        }] += 1;
    }
    println!("against random moves: {} won, {} drawn, {} lost", score[0], score[1], score[2]);
    Ok(())
}

#[test]
fn it_trains_a_network_and_plays_it() {
    main().unwrap();
}
