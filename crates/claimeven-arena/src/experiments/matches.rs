//! Claims that matches decide.

use claimeven_search::Heuristic;

use super::ExperimentError;
use super::finding::{
    Cell, Count, Figure, Finding, HeatPanel, Plot, RangePanel, RangeRow, Table, Unit, Verdict,
    percent, thousands,
};
use super::lab::{BALANCED, Lab, agent};
use crate::openings::Openings;
use crate::roster::AgentSpec;
use claimeven_zero::{Interval, PairResults};

/// Alpha-beta, which plays the moves of minimax, at a depth and with an evaluation.
fn search(depth: u32, evaluation: &str) -> AgentSpec {
    agent(&format!("alphabeta:depth={depth},eval={evaluation}"))
}

fn together(results: impl IntoIterator<Item = PairResults>) -> PairResults {
    let mut sum = PairResults::default();
    for PairResults { counts } in results {
        for (sum, count) in sum.counts.iter_mut().zip(counts) {
            *sum += count;
        }
    }
    sum
}

pub(super) fn beats_random(lab: &Lab) -> Result<Finding, ExperimentError> {
    let deepest = lab.either(8, 2);
    let games = lab.either(200, 4);
    let evaluations: Vec<&str> = Heuristic::names().collect();
    let players = evaluations.len() as u64 * u64::from(deepest);
    lab.more(players * games);
    let random = agent("random");
    let openings = lab.openings(&Openings::None, games)?;
    let (mut scores, mut cells, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for evaluation in &evaluations {
        let mut row = Vec::new();
        for depth in 1..=deepest {
            let spec = search(depth, evaluation);
            let played = lab.play([&spec, &random], &openings, games)?;
            row.push(Some(played.score().middle));
            scores.push((spec, played.score()));
            all.push(played.status.pairs);
        }
        cells.push(row);
    }
    let count = Count::above(0.5, scores.iter().map(|(_, score)| *score));
    let least = scores.iter().min_by(|(_, a), (_, b)| a.middle.total_cmp(&b.middle));
    let (weakest, weakest_score) = least.expect("there are evaluations");
    let depths: Vec<String> = (1..=deepest).map(|depth| depth.to_string()).collect();
    Ok(Finding {
        run: format!(
            "{games} games of `alphabeta` against `random` on the empty board for each depth from 1 \
             to {deepest} and each evaluation, half of them begun by either: {} games.",
            thousands(players * games)
        ),
        commands: vec![format!(
            "claimeven match {weakest} random --games {games} --openings none --seed {}",
            lab.seed
        )],
        measured: format!(
            "All searches together scored {}; the weakest of them, `{weakest}`, {}.",
            percent(together(all).score()),
            percent(*weakest_score)
        ),
        verdict: count.verdict(),
        because: count.words("matches"),
        tables: Vec::new(),
        figures: vec![Figure {
            name: "beats-random".to_owned(),
            title: "Searches against random".to_owned(),
            caption: "Score of the search against `random`, in percent.".to_owned(),
            plot: Plot::Heat(vec![HeatPanel {
                title: String::new(),
                row_label: "evaluation".to_owned(),
                rows: evaluations.iter().map(|&name| name.to_owned()).collect(),
                column_label: "depth".to_owned(),
                columns: depths,
                cells,
            }]),
        }],
    })
}

/// A match of two depths of one evaluation.
struct DepthPair {
    deeper: u32,
    lower: u32,
    pairs: PairResults,
}

pub(super) fn deeper_wins(lab: &Lab) -> Result<Finding, ExperimentError> {
    let deepest: u32 = lab.either(8, 3);
    let games = lab.either(100, 2);
    let evaluations: Vec<&str> = Heuristic::names().collect();
    let matches = evaluations.len() as u64 * u64::from(deepest * (deepest - 1) / 2);
    lab.more(matches * games);
    let openings = lab.openings(&BALANCED, games)?;
    let (mut rows, mut panels) = (Vec::new(), Vec::new());
    let (mut total, mut all, mut exceptions) = (Count::default(), Vec::new(), Vec::new());
    for evaluation in &evaluations {
        let mut pairs = Vec::new();
        for deeper in 2..=deepest {
            for lower in 1..deeper {
                let players = [&search(deeper, evaluation), &search(lower, evaluation)];
                let pair = lab.play(players, &openings, games)?.status.pairs;
                pairs.push(DepthPair { deeper, lower, pairs: pair });
                if pair.score().high < 0.5 {
                    exceptions.push(format!("{evaluation} {deeper} against {lower}"));
                }
            }
        }
        let count = Count::above(0.5, pairs.iter().map(|pair| pair.pairs.score()));
        total = Count {
            borne_out: total.borne_out + count.borne_out,
            open: total.open + count.open,
            refuted: total.refuted + count.refuted,
        };
        let apart = |is_wanted: &dyn Fn(u32) -> bool| {
            let some = pairs.iter().filter(|pair| is_wanted(pair.deeper - pair.lower));
            Cell::ShareWithin(together(some.map(|pair| pair.pairs)).score())
        };
        rows.push(vec![
            (*evaluation).into(),
            Cell::Count(count.borne_out as u64),
            Cell::Count(count.open as u64),
            Cell::Count(count.refuted as u64),
            apart(&|_| true),
            apart(&|plies| plies == 1),
            apart(&|plies| plies == 2),
        ]);
        all.extend(pairs.iter().map(|pair| pair.pairs));
        panels.push(depth_panel(evaluation, deepest, &pairs));
    }
    let score = together(all).score();
    let mut because = total.words("matches");
    if !exceptions.is_empty() {
        because = format!("{because}; against it are {}", exceptions.join(", "));
    }
    Ok(Finding {
        run: format!(
            "{games} games of `alphabeta` against itself at every pair of depths from 1 to {deepest} \
             and with every evaluation, in pairs from {} drawn positions after six moves: {} games.",
            openings.len(),
            thousands(matches * games)
        ),
        commands: vec![format!(
            "claimeven match alphabeta:depth=2,eval=galli alphabeta:depth=1,eval=galli \
             --games {games} --openings {BALANCED} --seed {}",
            lab.seed
        )],
        measured: format!("The deeper search scored {} over all matches.", percent(score)),
        verdict: total.verdict(),
        because,
        tables: vec![Table::new(
            "Matches that the deeper search won, that are open, that it lost (by 95 % intervals), and \
             its score",
            &["evaluation", "won", "open", "lost", "score", "one ply deeper", "two plies deeper"],
            rows,
        )],
        figures: vec![Figure {
            name: "deeper-wins".to_owned(),
            title: "Depth against depth".to_owned(),
            caption: "Score of the deeper search (row) against the other (column), in percent."
                .to_owned(),
            plot: Plot::Heat(panels),
        }],
    })
}

fn depth_panel(evaluation: &str, deepest: u32, pairs: &[DepthPair]) -> HeatPanel {
    let score = |row: u32, column: u32| {
        let pair = pairs.iter().find(|pair| (pair.deeper, pair.lower) == (row, column))?;
        Some(pair.pairs.score().middle)
    };
    HeatPanel {
        title: evaluation.to_owned(),
        row_label: "depth".to_owned(),
        rows: (2..=deepest).map(|depth| depth.to_string()).collect(),
        column_label: "against depth".to_owned(),
        columns: (1..deepest).map(|depth| depth.to_string()).collect(),
        cells: (2..=deepest)
            .map(|row| (1..deepest).map(|column| score(row, column)).collect())
            .collect(),
    }
}

pub(super) fn first_mover(lab: &Lab) -> Result<Finding, ExperimentError> {
    // Exact scores take a while, so who plays by them plays less.
    let players = [
        ("random", 400),
        ("influence:ties=random", 400),
        ("alphabeta:depth=1,ties=random", 400),
        ("alphabeta:depth=2,ties=random", 400),
        ("alphabeta:depth=4,ties=random", 400),
        ("alphabeta:depth=6,ties=random", 400),
        ("alphabeta:depth=8,ties=random", 400),
        ("mcts:sims=100", 400),
        ("mcts:sims=1000", 400),
        ("level:2", 400),
        ("level:5", 400),
        ("level:8", 60),
        ("perfect:ties=random", 20),
    ];
    let players = &players[..lab.either(players.len(), 4)];
    let games_of = |&(_, games): &(&str, u64)| lab.either(games, 4);
    lab.more(players.iter().map(games_of).sum());
    let openings = lab.openings(&Openings::None, 1)?;
    let (mut rows, mut ranges, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for entry in players {
        let spec = agent(entry.0);
        let games = games_of(entry);
        let played = lab.play([&spec, &spec], &openings, games)?;
        let score = played.first_mover.score();
        let [won, drawn, lost] = played.status.first_mover;
        rows.push(vec![
            format!("`{spec}`").into(),
            Cell::Count(games),
            Cell::Count(played.distinct),
            Cell::Count(won),
            Cell::Count(drawn),
            Cell::Count(lost),
            Cell::ShareWithin(score),
        ]);
        ranges.push(RangeRow { name: spec.to_string(), value: score });
        all.push(played.first_mover);
    }
    let count = Count::above(0.5, ranges.iter().map(|row| row.value));
    Ok(Finding {
        run: "Games of each player against itself from the empty board. Searches choose by \
             chance between equal moves, or all their games would be the same; the fewer different \
             games there are, the less an interval is worth."
            .to_owned(),
        commands: vec![format!(
            "claimeven match {0} {0} --games {1} --openings none --seed {2}",
            players[0].0,
            games_of(&players[0]),
            lab.seed
        )],
        measured: format!(
            "Whoever began scored {} over all players.",
            percent(together(all).score())
        ),
        verdict: count.verdict(),
        because: count.words("players"),
        tables: vec![Table::new(
            "Results of whoever began",
            &["player", "games", "different", "won", "drawn", "lost", "score"],
            rows,
        )],
        figures: vec![Figure {
            name: "first-mover".to_owned(),
            title: "The score of whoever begins".to_owned(),
            caption: "Each player against itself, with 95 % intervals.".to_owned(),
            plot: Plot::Ranges(vec![RangePanel {
                title: "score of the first mover".to_owned(),
                unit: Unit::Share,
                mark: Some(0.5),
                rows: ranges,
            }]),
        }],
    })
}

pub(super) fn repeats(lab: &Lab) -> Result<Finding, ExperimentError> {
    let deepest = lab.either(5, 2);
    let games = lab.either(100, 4);
    let pairs: Vec<[u32; 2]> =
        (2..=deepest).flat_map(|deeper| (1..deeper).map(move |lower| [deeper, lower])).collect();
    let rules = ["first", "last", "centre", "random"];
    lab.more(games * (pairs.len() * rules.len()) as u64);
    let openings = lab.openings(&Openings::None, games)?;
    let player = |depth, ties| agent(&format!("minimax:depth={depth},ties={ties}"));
    let (mut rows, mut shares) = (Vec::new(), Vec::new());
    for ties in rules {
        let (mut distinct, mut most) = (0, 0);
        for &[deeper, lower] in &pairs {
            let players = [&player(deeper, ties), &player(lower, ties)];
            let different = lab.play(players, &openings, games)?.distinct;
            distinct += different;
            most = most.max(different);
        }
        let total = games * pairs.len() as u64;
        let repeated = Interval::of_share(total - distinct, total);
        shares.push(repeated);
        rows.push(vec![
            format!("`ties={ties}`").into(),
            Cell::Count(total),
            Cell::Count(distinct),
            Cell::Count(most),
            Cell::ShareWithin(repeated),
        ]);
    }
    let count = Count::above(0.5, shares.iter().copied());
    Ok(Finding {
        run: format!(
            "{games} games of `minimax` against itself from the empty board at every pair of \
             depths from 1 to {deepest}, half of them begun by either, with each rule for equal moves."
        ),
        commands: vec![format!(
            "claimeven match minimax:depth=2,ties=first minimax:depth=1,ties=first --games {games} \
             --openings none --seed {} --out games.jsonl",
            lab.seed
        )],
        measured: format!(
            "With the leftmost of equal moves {} of the games had been played before, with any of \
             them {}.",
            percent(shares[0]),
            percent(shares[3])
        ),
        verdict: count.verdict(),
        because: format!("more than half of the games repeat: {}", count.words("rules")),
        tables: vec![Table::new(
            "Different games by the rule for equal moves",
            &["rule", "games", "different", "most of one pairing", "repeated"],
            rows,
        )],
        figures: Vec::new(),
    })
}

pub(super) fn difficulties(lab: &Lab) -> Result<Finding, ExperimentError> {
    let games = lab.either(400, 4);
    let names = ["easy", "medium", "hard"];
    let scales = [[1, 3, 5], [2, 4, 6]];
    lab.more(games * 2 * scales.len() as u64);
    let openings = lab.openings(&BALANCED, games)?;
    let (mut rows, mut scores) = (Vec::new(), Vec::new());
    for depths in scales {
        for step in 1..depths.len() {
            let [lower, upper] = [depths[step - 1], depths[step]];
            let players = [&search(upper, "galli"), &search(lower, "galli")];
            let played = lab.play(players, &openings, games)?;
            let [won, drawn, lost] = played.status.results;
            rows.push(vec![
                format!("{} against {}", names[step], names[step - 1]).into(),
                format!("{upper} against {lower}").into(),
                Cell::Count(won),
                Cell::Count(drawn),
                Cell::Count(lost),
                Cell::ShareWithin(played.score()),
            ]);
            scores.push(played.score());
        }
    }
    let (verdict, because) = judge_steps(&scores);
    Ok(Finding {
        run: format!(
            "{games} games of `alphabeta` with `galli` between neighbouring difficulties, in pairs \
             from {} drawn positions after six moves. `easy`, `medium` and `hard` are depths 1, 3 \
             and 5 here.",
            openings.len()
        ),
        commands: vec![format!(
            "claimeven match medium easy --games {games} --openings {BALANCED} --seed {}",
            lab.seed
        )],
        measured: scores_in_words(&scores),
        verdict,
        because,
        tables: vec![Table::new(
            "Each difficulty against the one below",
            &["difficulties", "depths", "won", "drawn", "lost", "score"],
            rows,
        )],
        figures: Vec::new(),
    })
}

fn scores_in_words(scores: &[Interval]) -> String {
    let texts: Vec<String> = scores.iter().map(|&score| percent(score)).collect();
    format!("The harder one scored {}.", texts.join(", "))
}

/// Steps of a ladder, each by the score of the upper player against the lower one.
pub(super) fn judge_steps(scores: &[Interval]) -> (Verdict, String) {
    let count = Count::above(0.5, scores.iter().copied());
    (count.verdict(), count.words("steps"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_several_matches_add_up() {
        let sum = together([
            PairResults { counts: [1, 2, 3, 4, 5] },
            PairResults { counts: [0, 0, 1, 0, 10] },
        ]);
        assert_eq!(sum.counts, [1, 2, 4, 4, 15]);
    }

    #[test]
    fn an_undecided_step_supports_a_ladder_only_in_part() {
        let clear = Interval { low: 0.6, middle: 0.7, high: 0.8 };
        let open = Interval { low: 0.45, middle: 0.5, high: 0.55 };
        assert_eq!(judge_steps(&[clear, clear]).0, Verdict::Holds);
        assert_eq!(judge_steps(&[clear, clear, open]).0, Verdict::HoldsInPart);
        assert_eq!(judge_steps(&[open, open]).0, Verdict::DoesNotHold);
    }

    #[test]
    fn a_panel_has_the_deeper_search_in_its_rows() {
        let pair =
            DepthPair { deeper: 3, lower: 1, pairs: PairResults { counts: [0, 0, 0, 0, 9] } };
        let panel = depth_panel("galli", 3, &[pair]);
        assert_eq!(
            (panel.rows, panel.columns),
            (vec!["2".into(), "3".into()], vec!["1".into(), "2".into()])
        );
        assert_eq!(panel.cells, [[None, None], [Some(1.0), None]]);
    }
}
