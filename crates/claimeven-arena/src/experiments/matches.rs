//! Claims that matches decide.

use std::collections::HashSet;
use std::fmt;

use claimeven_search::Heuristic;

use super::ExperimentError;
use super::finding::{
    Count, Figure, Finding, HeatPanel, Plot, RangePanel, RangeRow, Table, TableCell, Unit, Verdict,
    percent, thousands,
};
use super::lab::{BALANCED, Lab, PlayedMatch, ScoreOf, agent};
use crate::openings::Openings;
use crate::record::GameRecord;
use crate::roster::AgentSpec;
use claimeven_zero::{Interval, PairResults, simultaneous_z};

/// Alpha-beta, which plays the moves of minimax, at a depth and with an evaluation.
fn search(depth: u32, evaluation: &str) -> AgentSpec {
    agent(&format!("alphabeta:depth={depth},eval={evaluation}"))
}

fn pooled(results: impl IntoIterator<Item = PairResults>) -> PairResults {
    let mut sum = PairResults::default();
    for PairResults { counts } in results {
        for (sum, count) in sum.counts.iter_mut().zip(counts) {
            *sum += count;
        }
    }
    sum
}

pub(super) fn beats_random(lab: &Lab) -> Result<Finding, ExperimentError> {
    let deepest = lab.full_or_quick(8, 2);
    let looks = lab.full_or_quick([200, 800], [4, 8]);
    let evaluations: Vec<&str> = Heuristic::names().collect();
    let matches = evaluations.len() as u64 * u64::from(deepest);
    let random = agent("random");
    let openings = lab.openings(&Openings::None, 1)?;
    let mut games = 0;
    let (mut scores, mut cells, mut all) = (Vec::new(), Vec::new(), Vec::new());
    let (mut rows, mut weakest) = (Vec::new(), None::<(AgentSpec, Interval, u64)>);
    for evaluation in &evaluations {
        let (mut row, mut lowest) = (Vec::new(), None::<(AgentSpec, PlayedMatch)>);
        for depth in 1..=deepest {
            let spec = search(depth, evaluation);
            let score_of = ScoreOf::FirstPlayer;
            let played = lab.play_until([&spec, &random], &openings, &looks, matches, score_of)?;
            games += played.games();
            let score = played.score();
            row.push(Some(score.estimate));
            scores.push(score);
            all.push(played.first_look);
            if lowest.as_ref().is_none_or(|(_, lowest)| score.estimate < lowest.score().estimate) {
                lowest = Some((spec, played));
            }
        }
        cells.push(row);
        let (spec, played) = lowest.expect("at least one depth");
        let [won, drawn, lost] = played.results;
        let score = played.score();
        rows.push(vec![
            format!("`{spec}`").into(),
            TableCell::Count(won),
            TableCell::Count(drawn),
            TableCell::Count(lost),
            TableCell::ShareWithin(score),
        ]);
        if weakest.as_ref().is_none_or(|(_, weakest, _)| score.estimate < weakest.estimate) {
            weakest = Some((spec, score, played.games()));
        }
    }
    let count = Count::above(0.5, scores);
    let (weakest, weakest_score, weakest_games) = weakest.expect("at least one evaluation");
    let depths: Vec<String> = (1..=deepest).map(|depth| depth.to_string()).collect();
    Ok(Finding {
        run: format!(
            "{} games of `alphabeta` against `random` on the empty board for each depth from 1 \
             to {deepest} and each evaluation, each moving first in half of them, and up to {} \
             where these do not decide: {} games.",
            looks[0],
            looks[1],
            thousands(games)
        ),
        left_out: "Depths beyond 8, openings other than the empty board, and players that do not \
                   search to a fixed depth."
            .to_owned(),
        commands: vec![format!(
            "claimeven match {weakest} random --games {weakest_games} --openings none --seed {}",
            lab.seed
        )],
        measured: format!(
            "All searches together scored {} in the first {} games of each match; the weakest of \
             them, `{weakest}`, {}.",
            percent(pooled(all).score()),
            looks[0],
            percent(weakest_score)
        ),
        verdict: count.verdict(),
        because: count.words("matches"),
        tables: vec![Table::new(
            "The lowest score of each evaluation against `random`, with simultaneous intervals",
            &["player", "won", "drawn", "lost", "score"],
            rows,
        )],
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
    played: PlayedMatch,
}

impl fmt::Display for DepthPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} against {}", self.deeper, self.lower)
    }
}

pub(super) fn deeper_wins(lab: &Lab) -> Result<Finding, ExperimentError> {
    let deepest: u32 = lab.full_or_quick(8, 3);
    let looks = lab.full_or_quick([100, 400, 1600], [2, 4, 6]);
    let evaluations: Vec<&str> = Heuristic::names().collect();
    let matches = evaluations.len() as u64 * u64::from(deepest * (deepest - 1) / 2);
    let openings = lab.openings(&BALANCED, looks[2])?;
    let mut all: Vec<(&str, Vec<DepthPair>)> = Vec::new();
    for evaluation in evaluations {
        let mut pairs = Vec::new();
        for deeper in 2..=deepest {
            for lower in 1..deeper {
                let players = [&search(deeper, evaluation), &search(lower, evaluation)];
                let score_of = ScoreOf::FirstPlayer;
                let played = lab.play_until(players, &openings, &looks, matches, score_of)?;
                pairs.push(DepthPair { deeper, lower, played });
            }
        }
        all.push((evaluation, pairs));
    }
    let every = || {
        all.iter().flat_map(|(evaluation, pairs)| pairs.iter().map(move |pair| (evaluation, pair)))
    };
    let games = every().map(|(_, pair)| pair.played.games()).sum();
    let score = pooled(every().map(|(_, pair)| pair.played.first_look)).score();
    let count = Count::above(0.5, every().map(|(_, pair)| pair.played.score()));
    let example = every().find(|(evaluation, _)| **evaluation == "galli");
    let example = example.map_or(looks[0], |(_, pair)| pair.played.games());
    let mut because = count.words("matches");
    let lost = every().filter(|(_, pair)| pair.played.score().high < 0.5);
    let lost: Vec<String> = lost.map(|(evaluation, pair)| format!("{evaluation} {pair}")).collect();
    if !lost.is_empty() {
        because = format!("{because}; against it are {}", lost.join(", "));
    }
    let mut tables = vec![Table::new(
        format!(
            "Matches that the deeper search won, that are open and that it lost, by simultaneous \
             intervals; and its score in the first {} games of each match, with ordinary intervals",
            looks[0]
        ),
        &["evaluation", "won", "open", "lost", "score", "one ply deeper", "two plies deeper"],
        all.iter().map(|(evaluation, pairs)| evaluation_row(evaluation, pairs)).collect(),
    )];
    let not_won = every().filter(|(_, pair)| pair.played.score().low <= 0.5);
    let not_won: Vec<Vec<TableCell>> =
        not_won.map(|(evaluation, pair)| pair.row(evaluation)).collect();
    if !not_won.is_empty() {
        tables.push(Table::new(
            "Matches that the deeper search is not shown to win, with simultaneous intervals over \
             different games",
            &["evaluation", "depths", "games", "different", "score"],
            not_won,
        ));
    }
    Ok(Finding {
        run: format!(
            "{} games of `alphabeta` against itself at every pair of depths from 1 to {deepest} \
             and with every evaluation, and up to {} or {} where these do not decide, in pairs from \
             up to {} drawn positions after six moves: {} games.",
            looks[0],
            looks[1],
            looks[2],
            openings.len(),
            thousands(games)
        ),
        left_out:
            "Depths beyond 8, searches with different evaluations, and the cost: another ply \
                   takes several times as long, and at equal time no search is deeper."
                .to_owned(),
        commands: vec![format!(
            "claimeven match alphabeta:depth=2,eval=galli alphabeta:depth=1,eval=galli \
             --games {example} --openings {BALANCED} --seed {}",
            lab.seed
        )],
        measured: format!(
            "The deeper search scored {} in the first {} games of all matches.",
            percent(score),
            looks[0]
        ),
        verdict: count.verdict(),
        because,
        tables,
        figures: vec![Figure {
            name: "deeper-wins".to_owned(),
            title: "Depth against depth".to_owned(),
            caption: "Score of the deeper search (row) against the other (column), in percent."
                .to_owned(),
            plot: Plot::Heat(
                all.iter()
                    .map(|(evaluation, pairs)| depth_panel(evaluation, deepest, pairs))
                    .collect(),
            ),
        }],
    })
}

impl DepthPair {
    /// The match in a table.
    fn row(&self, evaluation: &str) -> Vec<TableCell> {
        vec![
            evaluation.into(),
            self.to_string().into(),
            TableCell::Count(self.played.games()),
            TableCell::Count(self.played.distinct),
            TableCell::ShareWithin(self.played.score()),
        ]
    }
}

/// The matches of one evaluation in a table.
fn evaluation_row(evaluation: &str, pairs: &[DepthPair]) -> Vec<TableCell> {
    let count = Count::above(0.5, pairs.iter().map(|pair| pair.played.score()));
    let score_of_gap = |is_wanted: fn(u32) -> bool| {
        let some = pairs.iter().filter(|pair| is_wanted(pair.deeper - pair.lower));
        TableCell::ShareWithin(pooled(some.map(|pair| pair.played.first_look)).score())
    };
    vec![
        evaluation.into(),
        TableCell::Count(count.supporting as u64),
        TableCell::Count(count.open as u64),
        TableCell::Count(count.contradicting as u64),
        score_of_gap(|_| true),
        score_of_gap(|plies| plies == 1),
        score_of_gap(|plies| plies == 2),
    ]
}

fn depth_panel(evaluation: &str, deepest: u32, pairs: &[DepthPair]) -> HeatPanel {
    let score = |row: u32, column: u32| {
        let pair = pairs.iter().find(|pair| (pair.deeper, pair.lower) == (row, column))?;
        Some(pair.played.score().estimate)
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
    // Each with the numbers of games after which it may be decided. Players that use exact scores
    // are slow and play fewer games.
    let players: [(&str, &[u64]); 13] = [
        ("random", &[400, 4000, 40_000]),
        ("influence:ties=random", &[400, 4000, 40_000]),
        ("alphabeta:depth=1,ties=random", &[400, 4000, 40_000]),
        ("alphabeta:depth=2,ties=random", &[400, 4000, 40_000]),
        ("alphabeta:depth=4,ties=random", &[400, 4000, 16_000]),
        ("alphabeta:depth=6,ties=random", &[400, 1600, 6400]),
        ("alphabeta:depth=8,ties=random", &[400, 1600, 3200]),
        ("mcts:sims=100", &[400, 1600, 6400]),
        ("mcts:sims=1000", &[400, 800, 1600]),
        ("level:2", &[400, 1600, 6400]),
        ("level:5", &[400, 1600, 6400]),
        ("level:8", &[60, 120, 240]),
        ("perfect:ties=random", &[20]),
    ];
    let players = &players[..lab.full_or_quick(players.len(), 4)];
    let looks_of = |&(_, looks): &(&str, &'static [u64])| lab.full_or_quick(looks, &[4, 8]);
    let comparisons = players.len() as u64;
    let openings = lab.openings(&Openings::None, 1)?;
    let (mut rows, mut ranges, mut games) = (Vec::new(), Vec::new(), Vec::new());
    for entry in players {
        let spec = agent(entry.0);
        let (looks, score_of) = (looks_of(entry), ScoreOf::FirstMover);
        let played = lab.play_until([&spec, &spec], &openings, looks, comparisons, score_of)?;
        let score = played.first_mover_score();
        let [won, drawn, lost] = played.first_mover;
        rows.push(vec![
            format!("`{spec}`").into(),
            TableCell::Count(looks[looks.len() - 1]),
            TableCell::Count(played.games()),
            TableCell::Count(played.distinct),
            TableCell::Count(won),
            TableCell::Count(drawn),
            TableCell::Count(lost),
            TableCell::ShareWithin(score),
        ]);
        ranges.push(RangeRow { name: spec.to_string(), value: score });
        games.push(played.games());
    }
    let count = Count::above(0.5, ranges.iter().map(|row| row.value));
    let by_score = |a: &&RangeRow, b: &&RangeRow| a.value.estimate.total_cmp(&b.value.estimate);
    let lowest = ranges.iter().min_by(by_score).expect("at least one player");
    let highest = ranges.iter().max_by(by_score).expect("at least one player");
    let measured = format!(
        "The first mover scored between {} (`{}`) and {} (`{}`).",
        percent(lowest.value),
        lowest.name,
        percent(highest.value),
        highest.name
    );
    Ok(Finding {
        run: "Games of each player against itself from the empty board, until the score of the first \
              mover is decided or the player's budget is spent. Searches choose at random between \
              equal moves, or all their games would be the same. Each distinct game counts once, \
              however often it was played: the score is that of the player's distinct games."
            .to_owned(),
        left_out: "Other boards and openings, and `zero`, which repeats its games."
            .to_owned(),
        commands: vec![format!(
            "claimeven match {0} {0} --games {1} --openings none --seed {2}",
            players[0].0, games[0], lab.seed
        )],
        measured,
        verdict: count.verdict(),
        because: count.words("players"),
        tables: vec![Table::new(
            "Budget and games of each player; results of the first mover in different games, with \
             simultaneous intervals",
            &["player", "budget", "games", "different", "won", "drawn", "lost", "score"],
            rows,
        )],
        figures: vec![Figure {
            name: "first-mover".to_owned(),
            title: "The score of the first mover".to_owned(),
            caption: "Each player against itself, with simultaneous 95 % intervals.".to_owned(),
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
    let deepest = lab.full_or_quick(5, 2);
    let games = lab.full_or_quick(100, 4);
    let pairs: Vec<[u32; 2]> =
        (2..=deepest).flat_map(|deeper| (1..deeper).map(move |lower| [deeper, lower])).collect();
    let rules = ["first", "last", "centre", "random"];
    let openings = lab.openings(&Openings::None, games)?;
    let player = |depth, ties| agent(&format!("minimax:depth={depth},ties={ties}"));
    let (mut rows, mut shares) = (Vec::new(), Vec::new());
    for ties in rules {
        let (mut distinct, mut max_distinct, mut repeated) = (0, 0, 0);
        for &[deeper, lower] in &pairs {
            let players = [&player(deeper, ties), &player(lower, ties)];
            let mut list = HashSet::new();
            lab.play_pairs(players, &openings, 0..games / 2, |played| {
                list.extend(played.iter().map(|game| (game.first_player, game.move_text())));
            })?;
            lab.play_pairs(players, &openings, games / 2..games, |played| {
                let is_listed =
                    |game: &&GameRecord| list.contains(&(game.first_player, game.move_text()));
                repeated += played.iter().filter(is_listed).count() as u64;
            })?;
            distinct += list.len() as u64;
            max_distinct = max_distinct.max(list.len() as u64);
        }
        let total = games * pairs.len() as u64;
        let share = repeated as f64 / total as f64;
        let repeated = Interval::wilson_at(share, total as f64, simultaneous_z(rules.len() as u64));
        shares.push(repeated);
        rows.push(vec![
            format!("`ties={ties}`").into(),
            TableCell::Count(total),
            TableCell::Count(distinct),
            TableCell::Count(max_distinct),
            TableCell::Count(total),
            TableCell::ShareWithin(repeated),
        ]);
    }
    let count = Count::above(0.5, shares.iter().copied());
    Ok(Finding {
        run: format!(
            "{games} games of `minimax` against itself from the empty board at every pair of \
             depths from 1 to {deepest}, each moving first in half of them, with each rule for \
             equal moves, make a list; {games} further games are looked up in it. We say that games repeat \
             if more than half of the further games are in the list. Given the lists, the further \
             games are independent."
        ),
        left_out: format!(
            "Depths beyond {deepest} and evaluations other than `galli`. A longer list would contain \
             more games."
        ),
        commands: vec![format!(
            "claimeven match minimax:depth=2,ties=first minimax:depth=1,ties=first --games {games} \
             --openings none --seed {} --out games.jsonl",
            lab.seed
        )],
        measured: format!(
            "With the leftmost of equal moves, {} of the further games had been played before; with \
             a random one, {}.",
            percent(shares[0]),
            percent(shares[3])
        ),
        verdict: count.verdict(),
        because: format!("more than half of the games repeat: {}", count.words("rules")),
        tables: vec![Table::new(
            "Games in the lists and further games that are in them, by the rule for equal moves, \
             with simultaneous intervals",
            &["rule", "listed", "different", "most of one pairing", "further", "repeated"],
            rows,
        )],
        figures: Vec::new(),
    })
}

pub(super) fn difficulties(lab: &Lab) -> Result<Finding, ExperimentError> {
    let looks = lab.full_or_quick([400, 1600], [4, 8]);
    let names = ["easy", "medium", "hard"];
    let scales = [[1, 3, 5], [2, 4, 6]];
    let comparisons = 2 * scales.len() as u64;
    let openings = lab.openings(&BALANCED, looks[1])?;
    let (mut rows, mut scores, mut games) = (Vec::new(), Vec::new(), Vec::new());
    for depths in scales {
        for step in 1..depths.len() {
            let [lower, upper] = [depths[step - 1], depths[step]];
            let players = [&search(upper, "galli"), &search(lower, "galli")];
            let score_of = ScoreOf::FirstPlayer;
            let played = lab.play_until(players, &openings, &looks, comparisons, score_of)?;
            let [won, drawn, lost] = played.results;
            rows.push(vec![
                format!("{} against {}", names[step], names[step - 1]).into(),
                format!("{upper} against {lower}").into(),
                TableCell::Count(won),
                TableCell::Count(drawn),
                TableCell::Count(lost),
                TableCell::ShareWithin(played.score()),
            ]);
            scores.push(played.score());
            games.push(played.games());
        }
    }
    let (verdict, because) = judge_steps(&scores);
    Ok(Finding {
        run: format!(
            "{} games of `alphabeta` with `galli` between neighbouring difficulties, and up to {} \
             where these do not decide, in pairs from drawn positions after six moves. `easy`, \
             `medium` and `hard` are depths 1, 3 and 5 here.",
            looks[0], looks[1]
        ),
        left_out: "Evaluations other than `galli`, and whether people find them easy or hard."
            .to_owned(),
        commands: vec![format!(
            "claimeven match medium easy --games {} --openings {BALANCED} --seed {}",
            games[0], lab.seed
        )],
        measured: scores_in_words(&scores),
        verdict,
        because,
        tables: vec![Table::new(
            "Each difficulty against the one below, with simultaneous intervals",
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
    use claimeven_zero::Z95;

    use super::*;

    #[test]
    fn results_of_several_matches_add_up() {
        let sum = pooled([
            PairResults { counts: [1, 2, 3, 4, 5] },
            PairResults { counts: [0, 0, 1, 0, 10] },
        ]);
        assert_eq!(sum.counts, [1, 2, 4, 4, 15]);
    }

    #[test]
    fn a_step_that_is_open_leaves_a_ladder_undecided() {
        let clear = Interval { low: 0.6, estimate: 0.7, high: 0.8 };
        let open = Interval { low: 0.45, estimate: 0.5, high: 0.55 };
        assert_eq!(judge_steps(&[clear, clear]).0, Verdict::Holds);
        assert_eq!(judge_steps(&[clear, clear, open]).0, Verdict::Undecided);
        let lost = Interval { low: 0.2, estimate: 0.3, high: 0.4 };
        assert_eq!(judge_steps(&[clear, lost]).0, Verdict::HoldsInPart);
        assert_eq!(judge_steps(&[open, lost]).0, Verdict::DoesNotHold);
    }

    #[test]
    fn a_panel_has_the_deeper_search_in_its_rows() {
        let pairs = PairResults { counts: [0, 0, 0, 0, 9] };
        let played = PlayedMatch {
            results: [18, 0, 0],
            pairs,
            first_look: pairs,
            first_mover: [9, 0, 9],
            distinct: 18,
            z: Z95,
        };
        let pair = DepthPair { deeper: 3, lower: 1, played };
        let panel = depth_panel("galli", 3, &[pair]);
        assert_eq!(
            (panel.rows, panel.columns),
            (vec!["2".into(), "3".into()], vec!["1".into(), "2".into()])
        );
        assert_eq!(panel.cells, [[None, None], [Some(1.0), None]]);
    }
}
