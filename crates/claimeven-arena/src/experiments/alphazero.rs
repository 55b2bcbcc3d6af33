//! The network against minimax.

use super::ExperimentError;
use super::finding::{Count, Finding, Table, TableCell, Verdict, percent};
use super::lab::{BALANCED, Lab, PlayedMatch, ScoreOf, agent};
use crate::agents::AGENTS;
use crate::roster::AgentSpec;
use claimeven_zero::Interval;

/// The player that is a network, by the name of its kind.
const NETWORK: &str = "zero";

pub(super) fn against_minimax(lab: &Lab) -> Result<Finding, ExperimentError> {
    if AGENTS.iter().all(|kind| kind.name != NETWORK) {
        return Ok(Finding {
            run: "Nothing: the roster has no player `zero`.".to_owned(),
            left_out: "Everything.".to_owned(),
            commands: vec!["claimeven agents".to_owned()],
            measured: "Nothing.".to_owned(),
            verdict: Verdict::Skipped,
            because: "the roster has no player `zero`".to_owned(),
            tables: Vec::new(),
            figures: Vec::new(),
        });
    }
    let network = agent(lab.full_or_quick(NETWORK, "zero:sims=8"));
    let looks = lab.full_or_quick([100, 400], [2, 4]);
    let depths = lab.full_or_quick(1..=4, 4..=4);
    let openings = lab.openings(&BALANCED, looks[1])?;
    // Minimax at equal time is iterative deepening; `mcts` is only shown in the table.
    let (ms, rivals) = (lab.full_or_quick(10, 1), ["timed", "timed:eval=influence", "mcts"]);
    let judged_rivals = 2;
    let comparisons = depths.clone().count() as u64 + rivals.len() as u64;
    let play = |players: [&AgentSpec; 2]| {
        lab.play_until(players, &openings, &looks, comparisons, ScoreOf::FirstPlayer)
    };
    let row = |opponent: TableCell, played: &PlayedMatch| {
        let [won, drawn, lost] = played.results.map(TableCell::Count);
        vec![opponent, won, drawn, lost, TableCell::ShareWithin(played.score())]
    };
    let mut rows = Vec::new();
    let mut last = None;
    for depth in depths {
        let minimax = agent(&format!("minimax:depth={depth}"));
        let played = play([&network, &minimax])?;
        rows.push(row(TableCell::Count(depth), &played));
        last = Some(played);
    }
    let last = last.expect("at least one depth");
    let score = last.score();
    let (mut timed_rows, mut timed_scores) = (Vec::new(), Vec::new());
    let timed_network = agent(&format!("zero:ms={ms}"));
    for rival in rivals {
        let rival = agent(rival).with("ms", &ms.to_string()).expect("it has the parameter");
        let played = play([&timed_network, &rival])?;
        timed_rows.push(row(format!("`{rival}`").into(), &played));
        timed_scores.push(played.score());
    }
    let (verdict, because) = judge(score, &timed_scores[..judged_rivals]);
    Ok(Finding {
        run: format!(
            "{0} games of `{network}` against `minimax` at each depth, and {1} where these do not \
             decide, in pairs from drawn positions after six moves. The network takes some hundred \
             times as long as minimax of depth 4, so it also meets iterative deepening, which plays \
             the moves of minimax, with the same {ms} ms per move.",
            looks[0], looks[1]
        ),
        left_out: "The older project's own network, whose one win in five games shows little; other \
                   networks and times per move. `mcts` is not minimax and is shown for orientation. \
                   Results at equal time depend on the machine."
            .to_owned(),
        commands: vec![
            format!(
                "claimeven match {network} minimax:depth=4 --games {} --openings {BALANCED} --seed {}",
                last.games(),
                lab.seed
            ),
            format!(
                "claimeven match zero:ms={ms} timed:ms={ms} --games {} --openings {BALANCED} --seed {}",
                looks[0], lab.seed
            ),
        ],
        measured: format!(
            "Against depth 4 the network scored {}; against iterative deepening with the same time {}.",
            percent(score),
            percent(timed_scores[0])
        ),
        verdict,
        because,
        tables: vec![
            Table::new(
                format!("Games of `{network}` against minimax, with simultaneous intervals"),
                &["depth", "won", "drawn", "lost", "score of the network"],
                rows,
            ),
            Table::new(
                format!(
                    "Games of `{timed_network}` against searches with the same time per move, with \
                     simultaneous intervals"
                ),
                &["opponent", "won", "drawn", "lost", "score of the network"],
                timed_rows,
            ),
        ],
        figures: Vec::new(),
    })
}

/// The claim is that the network loses, so scores below one half support it.
fn judge(score: Interval, timed: &[Interval]) -> (Verdict, String) {
    let reversed = |&Interval { low, estimate, high }: &Interval| Interval {
        low: 1.0 - high,
        estimate: 1.0 - estimate,
        high: 1.0 - low,
    };
    let depth = Count::above(0.5, [reversed(&score)]);
    let time = Count::above(0.5, timed.iter().map(reversed));
    let words = |count: Count| match count.verdict() {
        Verdict::Holds => "loses",
        Verdict::DoesNotHold => "wins",
        Verdict::HoldsInPart => "wins some matches and loses others",
        Verdict::Undecided | Verdict::Skipped => "is not shown to be better or worse",
    };
    let because = format!(
        "against minimax of depth 4 the network {}, at equal time it {}",
        words(depth),
        words(time)
    );
    (depth.plus(time).verdict(), because)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_that_wins_refutes_the_claim() {
        let score =
            |low: f64, high: f64| Interval { low, estimate: f64::midpoint(low, high), high };
        let (wins, loses, open) = (score(0.6, 0.9), score(0.1, 0.4), score(0.4, 0.6));
        assert_eq!(judge(loses, &[loses]).0, Verdict::Holds);
        assert_eq!(judge(wins, &[wins]).0, Verdict::DoesNotHold);
        assert_eq!(judge(wins, &[loses]).0, Verdict::HoldsInPart);
        assert_eq!(judge(open, &[loses]).0, Verdict::Undecided);
        assert!(judge(wins, &[loses]).1.ends_with("the network wins, at equal time it loses"));
    }
}
