//! Plays a network against alpha-beta, in pairs of games with the same random opening.
//!
//!     cargo run --release -p claimeven-zero --example versus -- NETWORK SIMULATIONS DEPTH PAIRS

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use claimeven_game::{Column, Outcome, Player, Position, Setup};
use claimeven_search::{Agent, AlphaBeta, DepthParameters, Limits};
use claimeven_zero::{MatchScore, Network, Zero, ZeroParameters};
use fastrand::Rng;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [network, simulations, depth, pairs] = &arguments[..] else {
        return Err("usage: versus NETWORK SIMULATIONS DEPTH PAIRS".into());
    };
    let network = Arc::new(Network::load(Path::new(network))?);
    let mut zero = Zero::new(ZeroParameters::new(network, simulations.parse()?));
    let parameters = DepthParameters { depth: depth.parse()?, ..DepthParameters::default() };
    let mut other = AlphaBeta { parameters, every_move: false };
    let mut random = Rng::with_seed(1);
    let mut score = MatchScore::default();
    for _ in 0..pairs.parse()? {
        let opening = opening(&mut random);
        for player in Player::BOTH {
            match play(&mut zero, &mut other, player, opening)? {
                Outcome::Draw => score.draws += 1,
                Outcome::Win(winner) if winner == player => score.wins += 1,
                Outcome::Win(_) => score.losses += 1,
            }
        }
    }
    let MatchScore { wins, draws, losses } = score;
    println!("{wins} won, {draws} drawn, {losses} lost: {:.1} %", 100.0 * score.share());
    Ok(())
}

/// Four random moves, after which nobody has three in a row.
fn opening(random: &mut Rng) -> Position {
    let mut position = Position::new(Setup::STANDARD);
    for _ in 0..4 {
        let legal: Vec<Column> = position.legal().collect();
        position.play(legal[random.usize(..legal.len())]).expect("a legal move");
    }
    position
}

fn play(
    zero: &mut Zero,
    other: &mut AlphaBeta,
    player: Player,
    mut position: Position,
) -> Result<Outcome, Box<dyn Error>> {
    loop {
        if let Some(outcome) = position.outcome() {
            return Ok(outcome);
        }
        let limits = Limits::default();
        let agent: &mut dyn Agent = if position.player() == player { zero } else { other };
        position.play(agent.decide(&position, &limits)?.column)?;
    }
}
