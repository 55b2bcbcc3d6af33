//! The network against minimax.

use super::ExperimentError;
use super::finding::{Cell, Finding, Table, Verdict, percent};
use super::lab::{BALANCED, Lab, agent};
use crate::agents::AGENTS;
use claimeven_zero::Interval;

/// The player that is a network, by the name of its kind.
const NETWORK: &str = "zero";

pub(super) fn against_minimax(lab: &Lab) -> Result<Finding, ExperimentError> {
    if AGENTS.iter().all(|kind| kind.name != NETWORK) {
        return Ok(Finding {
            run: "Nothing: it takes the player `zero`, and the roster has none.".to_owned(),
            commands: vec!["claimeven agents".to_owned()],
            measured: "Nothing.".to_owned(),
            verdict: Verdict::Skipped,
            because: "the roster has no player `zero`".to_owned(),
            tables: Vec::new(),
            figures: Vec::new(),
        });
    }
    let network = agent(lab.either(NETWORK, "zero:sims=8"));
    let games = lab.either(100, 2);
    let depths = lab.either(1..=4, 4..=4);
    lab.more(games * depths.clone().count() as u64);
    let openings = lab.openings(&BALANCED, games)?;
    let mut rows = Vec::new();
    let mut final_score = None;
    for depth in depths {
        let minimax = agent(&format!("minimax:depth={depth}"));
        let played = lab.play([&network, &minimax], &openings, games)?;
        let [won, drawn, lost] = played.status.results;
        rows.push(vec![
            Cell::Count(depth),
            Cell::Count(won),
            Cell::Count(drawn),
            Cell::Count(lost),
            Cell::ShareWithin(played.score()),
        ]);
        final_score = Some(played.score());
    }
    let score = final_score.expect("there is a depth");
    let (verdict, because) = judge(score);
    Ok(Finding {
        run: format!(
            "{games} games of `{network}` against `minimax` at each depth, in pairs from drawn \
             positions after six moves."
        ),
        commands: vec![format!(
            "claimeven match {network} minimax:depth=4 --games {games} --openings {BALANCED} --seed {}",
            lab.seed
        )],
        measured: format!("Against depth 4 the network scored {}.", percent(score)),
        verdict,
        because,
        tables: vec![Table::new(
            format!("Games of `{network}` against minimax"),
            &["depth", "won", "drawn", "lost", "score of the network"],
            rows,
        )],
        figures: Vec::new(),
    })
}

/// The claim is that the network loses, so a score above one half refutes it.
fn judge(score: Interval) -> (Verdict, String) {
    if score.high < 0.5 {
        (Verdict::Holds, "the network scores less than half".to_owned())
    } else if score.low > 0.5 {
        (Verdict::DoesNotHold, "the network scores more than half".to_owned())
    } else {
        (Verdict::HoldsInPart, "neither is shown to be the better one".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_that_wins_refutes_the_claim() {
        let verdict = |low, high| judge(Interval { low, middle: f64::midpoint(low, high), high }).0;
        assert_eq!(verdict(0.1, 0.4), Verdict::Holds);
        assert_eq!(verdict(0.6, 0.9), Verdict::DoesNotHold);
        assert_eq!(verdict(0.4, 0.6), Verdict::HoldsInPart);
    }
}
