//! Claims that tournaments decide.

use claimeven_search::Heuristic;

use super::ExperimentError;
use super::exact::Answers;
use super::finding::{
    Cell, Count, Figure, Finding, Plot, RangePanel, RangeRow, Table, Unit, Verdict, elo, percent,
    thousands,
};
use super::lab::{BALANCED, Lab, agent};
use super::matches::judge_steps;
use crate::rating::{PairScore, ratings};
use crate::roster::AgentSpec;
use claimeven_zero::Interval;

/// The results of matches between all players.
struct RoundRobin {
    /// Told from that of the anchor.
    ratings: Vec<Interval>,
    /// The score of each player, from the second on, against the one before.
    steps: Vec<Interval>,
}

/// Plays a round robin from balanced openings, with the given numbers of games between neighbours
/// and between other players. The anchor is a player by its index, with its fixed rating.
fn round_robin(
    lab: &Lab,
    players: &[AgentSpec],
    [neighbours, others]: [u64; 2],
    anchor: (usize, f64),
) -> Result<RoundRobin, ExperimentError> {
    let openings = lab.openings(&BALANCED, neighbours.max(others))?;
    let (mut scores, mut steps) = (Vec::new(), Vec::new());
    for upper in 1..players.len() {
        for lower in 0..upper {
            let is_step = upper == lower + 1;
            let games = if is_step { neighbours } else { others };
            let played = lab.play([&players[upper], &players[lower]], &openings, games)?;
            let [won, drawn, _] = played.status.results;
            let points = won as f64 + 0.5 * drawn as f64;
            let games = played.status.games() as f64;
            let pairs = played.status.pairs;
            scores.push(PairScore { players: [upper, lower], points, games, pairs });
            if is_step {
                steps.push(played.score());
            }
        }
    }
    Ok(RoundRobin { ratings: ratings(players.len(), &scores, Some(anchor)), steps })
}

pub(super) fn evaluations(lab: &Lab) -> Result<Finding, ExperimentError> {
    let depths = lab.either(vec![2, 4, 6, 8], vec![1, 2]);
    let games = lab.either(100, 2);
    // The rating of the first one is the zero of the scale.
    let mut names = vec!["terminal"];
    names.extend(Heuristic::names().filter(|&name| name != "terminal"));
    let meetings = (names.len() * (names.len() - 1) / 2) as u64;
    lab.more(meetings * games * depths.len() as u64);
    let mut ratings: Vec<Vec<Interval>> = vec![Vec::new(); names.len()];
    let mut panels = Vec::new();
    for depth in &depths {
        let players: Vec<AgentSpec> = names
            .iter()
            .map(|name| agent(&format!("alphabeta:depth={depth},eval={name}")))
            .collect();
        let elos = round_robin(lab, &players, [games, games], (0, 0.0))?.ratings;
        let mut rows = Vec::new();
        for ((value, name), ratings) in elos.into_iter().zip(&names).zip(&mut ratings) {
            ratings.push(value);
            rows.push(RangeRow { name: (*name).to_owned(), value });
        }
        panels.push(RangePanel {
            title: format!("Elo at depth {depth}"),
            unit: Unit::Elo,
            mark: Some(0.0),
            rows,
        });
    }
    // The best over all depths comes first; the order of the rows is that of all panels.
    let mut order: Vec<usize> = (0..names.len()).collect();
    let sum = |player: &usize| ratings[*player].iter().map(|elo| elo.middle).sum::<f64>();
    order.sort_by(|a, b| sum(b).total_cmp(&sum(a)));
    for panel in &mut panels {
        panel.rows = order.iter().map(|&player| panel.rows[player].clone()).collect();
    }
    let table = order.iter().map(|&player| {
        let elos = ratings[player].iter().map(|&elo| Cell::Elo(elo));
        std::iter::once(format!("`{}`", names[player]).into()).chain(elos).collect()
    });
    let mut head = vec!["evaluation".to_owned()];
    head.extend(depths.iter().map(|depth| format!("depth {depth}")));
    let count = Count::above(0.0, ratings.iter().skip(1).flatten().copied());
    let best: Vec<String> = depths
        .iter()
        .enumerate()
        .map(|(index, depth)| {
            let by_rating = |a: &&usize, b: &&usize| {
                ratings[**a][index].middle.total_cmp(&ratings[**b][index].middle)
            };
            let best = order.iter().max_by(by_rating).expect("there are evaluations");
            format!("`{}` at depth {depth} with {}", names[*best], elo(ratings[*best][index]))
        })
        .collect();
    Ok(Finding {
        run: format!(
            "A round robin of `alphabeta` with each of the {} evaluations at each of the depths, \
             {games} games a pairing in pairs from drawn positions after six moves: {} games. \
             Ratings are told from that of `terminal`, which knows nothing but finished games.",
            names.len(),
            thousands(meetings * games * depths.len() as u64)
        ),
        commands: vec![format!(
            "claimeven match alphabeta:depth=4,eval=galli alphabeta:depth=4,eval=terminal \
             --games {games} --openings {BALANCED} --seed {}",
            lab.seed
        )],
        measured: format!("The best: {}.", best.join(", ")),
        verdict: count.verdict(),
        because: count.words("ratings"),
        tables: vec![Table {
            caption: "Elo above `terminal` of the same depth, with 95 % intervals".to_owned(),
            head,
            rows: table.collect(),
        }],
        figures: vec![Figure {
            name: "evaluations".to_owned(),
            title: "Evaluations at equal depth".to_owned(),
            caption: "Elo above `terminal`, with 95 % intervals.".to_owned(),
            plot: Plot::Ranges(panels),
        }],
    })
}

/// What the middle of the ladder is given.
const ANCHOR_ELO: f64 = 1000.0;

pub(super) fn ladder(lab: &Lab) -> Result<Finding, ExperimentError> {
    let levels = lab.either((1..=10).collect(), vec![1, 4, 10]);
    // Neighbours decide the steps; the others tie the ladder together.
    let (games, step_games) = (lab.either(10, 2), lab.either(100, 4));
    let players: Vec<AgentSpec> = std::iter::once(agent("random"))
        .chain(levels.iter().map(|level| agent(&format!("level:{level}"))))
        .collect();
    let steps = players.len() as u64 - 1;
    let meetings = steps * (steps - 1) / 2;
    let all_games = meetings * games + steps * step_games;
    lab.more(all_games);
    // In the middle, so that ratings at either end are known as well as can be.
    let anchor = players.len() / 2;
    let RoundRobin { ratings, steps: scores } =
        round_robin(lab, &players, [step_games, games], (anchor, ANCHOR_ELO))?;
    let sample = lab.sample()?;
    let (mut rows, mut falls) = (Vec::new(), Vec::new());
    let (mut elos, mut rates) = (Vec::new(), Vec::new());
    let mut below: Option<Answers> = None;
    for (place, (player, elo)) in players.iter().zip(ratings).enumerate() {
        let answers = sample.ask(lab, player)?;
        let rate = answers.error_rate();
        let score =
            place.checked_sub(1).map_or(Cell::Nothing, |step| Cell::ShareWithin(scores[step]));
        rows.push(vec![
            format!("`{player}`").into(),
            Cell::Elo(elo),
            Cell::ShareWithin(rate),
            score,
        ]);
        falls.extend(below.map(|below| below.excess_over(&answers)));
        below = Some(answers);
        elos.push(RangeRow { name: player.to_string(), value: elo });
        rates.push(RangeRow { name: player.to_string(), value: rate });
    }
    let (verdict, because) = judge_ladder(&scores, &falls);
    let [bottom, top] = [elos[0].value, elos[elos.len() - 1].value];
    let by_score = |a: &&Interval, b: &&Interval| a.middle.total_cmp(&b.middle);
    let smallest = *scores.iter().min_by(by_score).expect("there are steps");
    let largest = *scores.iter().max_by(by_score).expect("there are steps");
    // The strongest on top, as on a ladder.
    elos.reverse();
    rates.reverse();
    let panel =
        |title: &str, unit, rows| RangePanel { title: title.to_owned(), unit, mark: None, rows };
    Ok(Finding {
        run: format!(
            "Matches of `random` and the levels: {step_games} games between neighbours, {games} \
             between others, in pairs from drawn positions after six moves ({} games); and the {} \
             positions of the experiment `errors`. `{}` has {ANCHOR_ELO} Elo by definition.",
            thousands(all_games),
            sample.len(),
            players[anchor]
        ),
        commands: vec![format!(
            "claimeven match {} {} --games {step_games} --openings {BALANCED} --seed {}",
            players[2], players[1], lab.seed
        )],
        measured: format!(
            "`random` has {} Elo, `{}` {}; neighbours score between {} and {}.",
            elo(bottom),
            players[players.len() - 1],
            elo(top),
            percent(smallest),
            percent(largest)
        ),
        verdict,
        because,
        tables: vec![Table::new(
            "The ladder: Elo, how often a move gives away a win or a draw where it can, and the \
             score against the one below",
            &["player", "Elo", "errors", "score against the one below"],
            rows,
        )],
        figures: vec![Figure {
            name: "ladder".to_owned(),
            title: "The ladder of levels".to_owned(),
            caption: "Ratings and errors with 95 % intervals.".to_owned(),
            plot: Plot::Ranges(vec![
                panel("Elo", Unit::Elo, elos),
                panel("errors where one can err", Unit::Share, rates),
            ]),
        }],
    })
}

/// Every level has to beat the one below and to err less.
fn judge_ladder(scores: &[Interval], falls: &[Interval]) -> (Verdict, String) {
    let (wins, because) = judge_steps(scores);
    let fewer = Count::above(0.0, falls.iter().copied());
    let verdict = match (wins, fewer.verdict()) {
        (Verdict::Holds, Verdict::Holds) => Verdict::Holds,
        (Verdict::DoesNotHold, _) | (_, Verdict::DoesNotHold) => Verdict::DoesNotHold,
        _ => Verdict::HoldsInPart,
    };
    (verdict, format!("in matches {because}; in errors {}", fewer.words("steps")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ladder_needs_both_matches_and_error_rates() {
        let beats = Interval { low: 0.6, middle: 0.7, high: 0.8 };
        let equal = Interval { low: 0.45, middle: 0.5, high: 0.55 };
        let fewer = Interval { low: 0.01, middle: 0.03, high: 0.05 };
        let same = Interval { low: -0.01, middle: 0.0, high: 0.01 };
        let judge = |scores: &[Interval], falls: &[Interval]| judge_ladder(scores, falls).0;
        assert_eq!(judge(&[beats, beats], &[fewer, fewer]), Verdict::Holds);
        assert_eq!(judge(&[beats, beats], &[fewer, same]), Verdict::HoldsInPart);
        assert_eq!(judge(&[beats, equal], &[fewer, fewer]), Verdict::HoldsInPart);
        assert_eq!(judge(&[equal, equal], &[fewer, fewer]), Verdict::DoesNotHold);
        assert_eq!(judge(&[beats, beats], &[same, same]), Verdict::DoesNotHold);
    }
}
