//! Claims that tournaments decide.

use claimeven_search::Heuristic;

use super::ExperimentError;
use super::exact::TestResults;
use super::finding::{
    Count, Figure, Finding, Plot, RangePanel, RangeRow, Table, TableCell, Unit, Verdict, elo,
    percent, thousands,
};
use super::lab::{BALANCED, Lab, PlayedMatch, ScoreOf, agent};
use super::matches::judge_steps;
use crate::rating::{PairScore, ratings};
use crate::roster::AgentSpec;
use claimeven_zero::{Interval, simultaneous_z};

/// A round robin from balanced openings.
struct RoundRobin<'a> {
    players: &'a [AgentSpec],
    /// Which matches decide the claim, by the indices of the upper and the lower player.
    decides: fn(usize, usize) -> bool,
    /// The numbers of games after which these may end.
    looks: &'a [u64],
    /// The number of comparisons of the claim, which these are part of.
    comparisons: u64,
    /// The number of games of other matches.
    others: u64,
    /// A player by its index, with its fixed rating.
    anchor: (usize, f64),
}

/// The results of a round robin.
struct Standings {
    /// The ratings, relative to the anchor.
    ratings: Vec<Interval>,
    /// The matches that decide the claim, from the point of view of the upper player.
    decisive: Vec<PlayedMatch>,
    games: u64,
}

impl RoundRobin<'_> {
    fn play(&self, lab: &Lab) -> Result<Standings, ExperimentError> {
        let max_games = self.looks.iter().copied().max().unwrap_or(0).max(self.others);
        let openings = lab.openings(&BALANCED, max_games)?;
        let (mut scores, mut decisive, mut games) = (Vec::new(), Vec::new(), 0);
        for upper in 1..self.players.len() {
            for lower in 0..upper {
                let players = [&self.players[upper], &self.players[lower]];
                let decides = (self.decides)(upper, lower);
                let played = if decides {
                    let score_of = ScoreOf::FirstPlayer;
                    lab.play_until(players, &openings, self.looks, self.comparisons, score_of)?
                } else {
                    lab.play(players, &openings, self.others)?
                };
                let [won, drawn, _] = played.results;
                games += played.games();
                scores.push(PairScore {
                    players: [upper, lower],
                    points: won as f64 + 0.5 * drawn as f64,
                    games: played.games() as f64,
                    pairs: played.pairs,
                });
                if decides {
                    decisive.push(played);
                }
            }
        }
        let ratings = ratings(self.players.len(), &scores, Some(self.anchor));
        Ok(Standings { ratings, decisive, games })
    }
}

/// A round robin of all evaluations at one depth.
struct AtDepth {
    depth: u32,
    ratings: Vec<Interval>,
    /// The scores against `terminal` of all others.
    scores: Vec<Interval>,
    games: u64,
    example_games: u64,
}

pub(super) fn evaluations(lab: &Lab) -> Result<Finding, ExperimentError> {
    let depths = lab.full_or_quick(vec![2, 4, 6, 8], vec![1, 2]);
    let looks = lab.full_or_quick([100, 400, 1600], [2, 4, 6]);
    // The rating of the first one is the zero of the scale.
    let mut names = vec!["terminal"];
    names.extend(Heuristic::names().filter(|&name| name != "terminal"));
    let comparisons = ((names.len() - 1) * depths.len()) as u64;
    let mut all = Vec::new();
    for &depth in &depths {
        let player = |name| agent(&format!("alphabeta:depth={depth},eval={name}"));
        let players: Vec<AgentSpec> = names.iter().map(player).collect();
        let Standings { ratings, decisive, games } = RoundRobin {
            players: &players,
            decides: |_, lower| lower == 0,
            looks: &looks,
            comparisons,
            others: looks[0],
            anchor: (0, 0.0),
        }
        .play(lab)?;
        let scores = decisive.iter().map(PlayedMatch::score).collect();
        all.push(AtDepth { depth, ratings, scores, games, example_games: decisive[0].games() });
    }
    // The best over all depths comes first, in tables and panels.
    let mut order: Vec<usize> = (0..names.len()).collect();
    let sum = |player: &usize| all.iter().map(|at| at.ratings[*player].estimate).sum::<f64>();
    order.sort_by(|a, b| sum(b).total_cmp(&sum(a)));
    let count = Count::above(0.5, all.iter().flat_map(|at| at.scores.iter().copied()));
    let (timed, timed_words) = at_equal_time(lab, &names)?;
    let best: Vec<String> = all
        .iter()
        .map(|AtDepth { depth, ratings, .. }| {
            let by_rating =
                |a: &&usize, b: &&usize| ratings[**a].estimate.total_cmp(&ratings[**b].estimate);
            let best = *order.iter().max_by(by_rating).expect("at least one evaluation");
            format!("`{}` at depth {depth} ({} Elo)", names[best], elo(ratings[best]))
        })
        .collect();
    Ok(Finding {
        run: format!(
            "A round robin of `alphabeta` with each of the {} evaluations at each of the depths, in \
             pairs from drawn positions after six moves: {} games a pairing, and up to {} or {} \
             against `terminal` where these do not decide, {} games in all. Ratings are relative to \
             `terminal`, which knows only finished games; the claim is judged by the games against it.",
            names.len(),
            looks[0],
            looks[1],
            looks[2],
            thousands(all.iter().map(|at| at.games).sum())
        ),
        left_out: "Other depths and openings. At equal time, which is a different question and depends on \
                   the machine, only `terminal` is the opponent; the verdict is about equal depth."
            .to_owned(),
        commands: vec![format!(
            "claimeven match alphabeta:depth={1},eval={0} alphabeta:depth={1},eval=terminal \
             --games {2} --openings {BALANCED} --seed {3}",
            names[1], depths[0], all[0].example_games, lab.seed
        )],
        measured: format!("The best: {}. {timed_words}", best.join(", ")),
        verdict: count.verdict(),
        because: count.words("matches"),
        tables: vec![
            evaluation_table(
                "Elo above `terminal` of the same depth, with ordinary 95 % intervals",
                &all,
                order.iter().map(|&player| {
                    (names[player], all.iter().map(|at| TableCell::Elo(at.ratings[player])).collect())
                }),
            ),
            evaluation_table(
                "Score against `terminal` of the same depth, with simultaneous intervals",
                &all,
                order.iter().filter(|&&player| player > 0).map(|&player| {
                    let score = |at: &AtDepth| TableCell::ShareWithin(at.scores[player - 1]);
                    (names[player], all.iter().map(score).collect())
                }),
            ),
            timed,
        ],
        figures: vec![Figure {
            name: "evaluations".to_owned(),
            title: "Evaluations at equal depth".to_owned(),
            caption: "Elo above `terminal`, with ordinary 95 % intervals.".to_owned(),
            plot: Plot::Ranges(all.iter().map(|at| at.panel(&names, &order)).collect()),
        }],
    })
}

impl AtDepth {
    fn panel(&self, names: &[&str], order: &[usize]) -> RangePanel {
        let row = |&player: &usize| RangeRow {
            name: names[player].to_owned(),
            value: self.ratings[player],
        };
        RangePanel {
            title: format!("Elo at depth {}", self.depth),
            unit: Unit::Elo,
            mark: Some(0.0),
            rows: order.iter().map(row).collect(),
        }
    }
}

/// A table of evaluations with a column for each depth.
fn evaluation_table<'a>(
    caption: &str,
    depths: &[AtDepth],
    rows: impl Iterator<Item = (&'a str, Vec<TableCell>)>,
) -> Table {
    let mut head = vec!["evaluation".to_owned()];
    head.extend(depths.iter().map(|at| format!("depth {}", at.depth)));
    let row = |(name, cells): (&str, Vec<TableCell>)| {
        std::iter::once(TableCell::from(format!("`{name}`"))).chain(cells).collect()
    };
    Table { caption: caption.to_owned(), head, rows: rows.map(row).collect() }
}

/// Each evaluation against `terminal` with the same time per move, in which costly evaluations
/// search less deeply: a table and a sentence.
fn at_equal_time(lab: &Lab, names: &[&str]) -> Result<(Table, String), ExperimentError> {
    let ms = 2;
    let looks = lab.full_or_quick([100, 400, 1600], [2, 4, 6]);
    let openings = lab.openings(&BALANCED, looks[2])?;
    let search = |name: &str| agent(&format!("timed:ms={ms},eval={name}"));
    let comparisons = names.len() as u64 - 1;
    let (mut rows, mut scores) = (Vec::new(), Vec::new());
    for name in &names[1..] {
        let players = [&search(name), &search(names[0])];
        let score_of = ScoreOf::FirstPlayer;
        let played = lab.play_until(players, &openings, &looks, comparisons, score_of)?;
        let [won, drawn, lost] = played.results;
        rows.push(vec![
            format!("`{name}`").into(),
            TableCell::Count(won),
            TableCell::Count(drawn),
            TableCell::Count(lost),
            TableCell::ShareWithin(played.score()),
        ]);
        scores.push(played.score());
    }
    let Count { supporting, open, contradicting } = Count::above(0.5, scores);
    let words = format!(
        "At equal time, {supporting} of {comparisons} evaluations beat `terminal`, {contradicting} \
         lose to it and {open} are undecided."
    );
    let table = Table::new(
        format!(
            "At equal time: `timed:ms={ms}` with each evaluation against \
             `timed:ms={ms},eval=terminal`, with simultaneous intervals; {}, {} or {} games",
            looks[0], looks[1], looks[2]
        ),
        &["evaluation", "won", "drawn", "lost", "score"],
        rows,
    );
    Ok((table, words))
}

/// The rating of the middle of the ladder.
const ANCHOR_ELO: f64 = 1000.0;

pub(super) fn ladder(lab: &Lab) -> Result<Finding, ExperimentError> {
    let levels = lab.full_or_quick((1..=10).collect(), vec![1, 4, 10]);
    // Neighbours decide the steps; the other matches connect the ratings.
    let (looks, others) = (lab.full_or_quick([100, 400], [4, 6]), lab.full_or_quick(10, 2));
    let players: Vec<AgentSpec> = std::iter::once(agent("random"))
        .chain(levels.iter().map(|level| agent(&format!("level:{level}"))))
        .collect();
    // Each step is judged by games and by errors.
    let comparisons = 2 * (players.len() as u64 - 1);
    // In the middle, so that the ratings at both ends are as precise as possible.
    let anchor = players.len() / 2;
    let Standings { ratings, decisive, games } = RoundRobin {
        players: &players,
        decides: |upper, lower| upper == lower + 1,
        looks: &looks,
        comparisons,
        others,
        anchor: (anchor, ANCHOR_ELO),
    }
    .play(lab)?;
    let scores: Vec<Interval> = decisive.iter().map(PlayedMatch::score).collect();
    let sample = lab.sample()?;
    let (mut rows, mut falls) = (Vec::new(), Vec::new());
    let (mut elos, mut rates) = (Vec::new(), Vec::new());
    let mut below: Option<TestResults> = None;
    let z = simultaneous_z(comparisons * looks.len() as u64);
    for (place, (player, elo)) in players.iter().zip(ratings).enumerate() {
        let results = sample.test(lab, player)?;
        let rate = results.error_rate();
        let fall = below.map(|below| below.share_of_differing_errors(&results, z));
        falls.extend(fall);
        let score = place
            .checked_sub(1)
            .map_or(TableCell::Nothing, |step| TableCell::ShareWithin(scores[step]));
        rows.push(vec![
            format!("`{player}`").into(),
            TableCell::Elo(elo),
            score,
            TableCell::ShareWithin(rate),
            fall.map_or(TableCell::Nothing, TableCell::ShareWithin),
        ]);
        below = Some(results);
        elos.push(RangeRow { name: player.to_string(), value: elo });
        rates.push(RangeRow { name: player.to_string(), value: rate });
    }
    let (verdict, because) = judge_ladder(&scores, &falls);
    let [bottom, top] = [elos[0].value, elos[elos.len() - 1].value];
    let by_score = |a: &&Interval, b: &&Interval| a.estimate.total_cmp(&b.estimate);
    let smallest = *scores.iter().min_by(by_score).expect("at least one step");
    let largest = *scores.iter().max_by(by_score).expect("at least one step");
    // The strongest on top, as on a ladder.
    elos.reverse();
    rates.reverse();
    let panel =
        |title: &str, unit, rows| RangePanel { title: title.to_owned(), unit, mark: None, rows };
    Ok(Finding {
        run: format!(
            "Matches of `random` and the levels: {} games between neighbours, and {} where these do not \
             decide, {others} between others, in pairs from drawn positions after six moves: {} games; \
             and the {} positions of the experiment `errors`, in which neighbours are compared as \
             there. `{}` has {ANCHOR_ELO} Elo by definition.",
            looks[0],
            looks[1],
            thousands(games),
            thousands(sample.len()),
            players[anchor]
        ),
        left_out:
            "Boards other than 7x6, games between levels and people, and the time that levels take."
                .to_owned(),
        commands: vec![format!(
            "claimeven match {} {} --games {} --openings {BALANCED} --seed {}",
            players[2],
            players[1],
            decisive[1].games(),
            lab.seed
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
            "The ladder: Elo; the score against the one below; how often a move gives away a win or a \
             draw where it can; and of the positions in which exactly one of two neighbours does, the \
             share in which it is the lower one. Scores and the last column have simultaneous intervals",
            &["player", "Elo", "score against the one below", "errors", "only the one below errs"],
            rows,
        )],
        figures: vec![Figure {
            name: "ladder".to_owned(),
            title: "The ladder of levels".to_owned(),
            caption: "Ratings and errors with ordinary 95 % intervals.".to_owned(),
            plot: Plot::Ranges(vec![
                panel("Elo", Unit::Elo, elos),
                panel("errors where one can err", Unit::Share, rates),
            ]),
        }],
    })
}

/// Every level has to beat the one below and to err less.
fn judge_ladder(scores: &[Interval], falls: &[Interval]) -> (Verdict, String) {
    let (_, because) = judge_steps(scores);
    let fewer = Count::above(0.5, falls.iter().copied());
    let verdict = Count::above(0.5, scores.iter().copied()).plus(fewer).verdict();
    (verdict, format!("in matches {because}; in errors {}", fewer.words("steps")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ladder_needs_both_matches_and_error_rates() {
        let beats = Interval { low: 0.6, estimate: 0.7, high: 0.8 };
        let equal = Interval { low: 0.45, estimate: 0.5, high: 0.55 };
        let (fewer, same) = (beats, equal);
        let judge = |scores: &[Interval], falls: &[Interval]| judge_ladder(scores, falls).0;
        assert_eq!(judge(&[beats, beats], &[fewer, fewer]), Verdict::Holds);
        assert_eq!(judge(&[beats, beats], &[fewer, same]), Verdict::Undecided);
        assert_eq!(judge(&[beats, equal], &[fewer, fewer]), Verdict::Undecided);
        let more = Interval { low: 0.2, estimate: 0.3, high: 0.4 };
        assert_eq!(judge(&[beats, beats], &[fewer, more]), Verdict::HoldsInPart);
        assert_eq!(judge(&[equal, equal], &[more, more]), Verdict::DoesNotHold);
    }
}
