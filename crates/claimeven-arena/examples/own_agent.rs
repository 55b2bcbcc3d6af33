//! Your own player in a tournament with three built-in ones.
//!
//!     cargo run --release -p claimeven-arena --example own_agent

use claimeven_arena::{AgentSpec, MatchScore, Openings, Tournament, TournamentPlan};
use claimeven_game::{Position, Setup};
use claimeven_search::{Agent, AgentError, Decision, Limits};

/// Plays the open column closest to the centre.
struct Central;

impl Agent for Central {
    fn decide(&mut self, position: &Position, _: &Limits) -> Result<Decision, AgentError> {
        let column = position.legal_from_centre().next().ok_or(AgentError::GameOver)?;
        Ok(Decision::new(position, column))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let central = AgentSpec::custom("central", |_setup, _seed| Ok(Box::new(Central)))?;
    let players = [central, "random".parse()?, "level:1".parse()?, "level:3".parse()?];
    let plan = TournamentPlan::round_robin(Setup::STANDARD, players, 20)?
        .with_openings(Openings::Random(4));
    let results = Tournament::new(&plan)?.run(None, 2, |_| {})?;
    for player in results.report(&plan).players {
        let MatchScore { wins, draws, losses } = player.results;
        println!(
            "{:8} Elo {:5.0}: {wins} won, {draws} drawn, {losses} lost",
            player.name, player.elo.estimate
        );
    }
    Ok(())
}

#[test]
fn it_plays_the_tournament() {
    main().unwrap();
}
