//! A player of your own in a match against level 3.
//!
//! Run it with `cargo run --release --example own_agent`.

use claimeven_arena::{AgentSpec, Match, Openings};
use claimeven_game::{Position, Setup};
use claimeven_search::{Agent, AgentError, Decision, Limits};

/// Plays in the centre, or as near to it as a column is open.
struct Central;

impl Agent for Central {
    fn decide(&mut self, position: &Position, _: &Limits) -> Result<Decision, AgentError> {
        let column = position.legal_from_centre().next().ok_or(AgentError::GameOver)?;
        Ok(Decision::new(position, column))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let central = AgentSpec::custom("central", |_setup, _seed| Ok(Box::new(Central)))?;
    let opponent: AgentSpec = "level:3".parse()?;
    let openings = Openings::Random(4).choose(Setup::STANDARD, 10, 1)?;
    let planned = Match::new(Setup::STANDARD, [&central, &opponent], &openings);
    let status = planned.with_threads(2).run(|games, _| {
        for game in games {
            println!("{} {}", game.id, game.move_text());
        }
    })?;
    let [won, drawn, lost] = status.results;
    println!("{central} against {opponent}: {won} won, {drawn} drawn, {lost} lost");
    Ok(())
}
