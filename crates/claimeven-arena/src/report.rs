//! The results of a tournament.

use std::collections::{BTreeMap, HashMap, HashSet};

use claimeven_game::Setup;
use serde::{Deserialize, Serialize};

use crate::game_match::PlayerStats;
use crate::plan::TournamentPlan;
use crate::rating::{PairScore, rating_groups, ratings};
use crate::record::{EndReason, GameRecord};
use claimeven_zero::{Interval, MatchScore, PairResults};

/// The results of a tournament so far.
///
/// Except for times, they do not depend on the order in which games are added.
#[derive(Clone, Debug)]
pub struct TournamentResults {
    games: u64,
    /// The results of each player against each other player.
    cross_table: Vec<Vec<MatchScore>>,
    /// The pair results of the first of two players, by both players.
    pairs: BTreeMap<[usize; 2], PairResults>,
    /// Half points of games whose pair is not complete, by fixture and pair.
    half_pairs: HashMap<(usize, u64), usize>,
    /// The results of each player as first mover.
    moving_first: Vec<MatchScore>,
    stats: Vec<PlayerStats>,
    lost_on_time: Vec<u64>,
    forfeited: Vec<u64>,
    /// First mover, second mover and moves of each game.
    seen: HashSet<(usize, usize, String)>,
    lengths: BTreeMap<usize, u64>,
}

impl TournamentResults {
    /// No results yet.
    pub(crate) fn new(players: usize) -> TournamentResults {
        TournamentResults {
            games: 0,
            cross_table: vec![vec![MatchScore::default(); players]; players],
            pairs: BTreeMap::new(),
            half_pairs: HashMap::new(),
            moving_first: vec![MatchScore::default(); players],
            stats: vec![PlayerStats::default(); players],
            lost_on_time: vec![0; players],
            forfeited: vec![0; players],
            seen: HashSet::new(),
            lengths: BTreeMap::new(),
        }
    }

    /// The number of games so far.
    pub fn games(&self) -> u64 {
        self.games
    }

    /// Adds a game between two players, which is one of a pair of a fixture.
    pub(crate) fn add(&mut self, players: [usize; 2], pair: (usize, u64), game: &GameRecord) {
        self.games += 1;
        match self.half_pairs.remove(&pair) {
            Some(half_points) => {
                let both = half_points + game.half_points(0);
                self.pairs.entry(players).or_default().add(both);
            }
            None => drop(self.half_pairs.insert(pair, game.half_points(0))),
        }
        for side in [0, 1] {
            let (player, other) = (players[side], players[1 - side]);
            let half_points = game.half_points(side);
            self.cross_table[player][other].add_game(half_points);
            if side == game.first_player {
                self.moving_first[player].add_game(half_points);
            }
            self.stats[player].add(game, side);
            if half_points == 0 {
                match game.result.reason {
                    EndReason::Time => self.lost_on_time[player] += 1,
                    EndReason::Forfeit => self.forfeited[player] += 1,
                    _ => {}
                }
            }
        }
        let (first, second) = (players[game.first_player], players[1 - game.first_player]);
        self.seen.insert((first, second, game.move_text()));
        *self.lengths.entry(game.moves.len()).or_default() += 1;
    }

    /// The pairs of games between two players, for the first of them.
    fn pairs_of(&self, [a, b]: [usize; 2]) -> PairResults {
        let mut sum = self.pairs.get(&[a, b]).copied().unwrap_or_default();
        let reversed = self.pairs.get(&[b, a]).copied().unwrap_or_default();
        for (sum, count) in sum.counts.iter_mut().zip(reversed.counts.iter().rev()) {
            *sum += count;
        }
        sum
    }

    /// Ratings and statistics of the games so far, the strongest player first.
    pub fn report(&self, plan: &TournamentPlan) -> Report {
        let count = plan.players.len();
        let pairs = (0..count).flat_map(|a| (a + 1..count).map(move |b| [a, b]));
        let scores: Vec<PairScore> = pairs
            .map(|[a, b]| (self.cross_table[a][b], [a, b]))
            .filter(|(results, _)| results.games() > 0)
            .map(|(results, players)| PairScore {
                players,
                points: results.points(),
                games: results.games() as f64,
                pairs: self.pairs_of(players),
            })
            .collect();
        let groups = rating_groups(count, &scores);
        let ratings = group_ratings(&groups, &scores, plan.anchor);
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|&a, &b| {
            groups[a].cmp(&groups[b]).then(ratings[b].estimate.total_cmp(&ratings[a].estimate))
        });
        let player = |&place: &usize| {
            let results =
                self.cross_table[place].iter().fold(MatchScore::default(), |sum, &r| sum + r);
            let PlayerStats { moves, ms, nodes } = self.stats[place];
            let each = |sum: f64| if moves > 0 { sum / moves as f64 } else { 0.0 };
            PlayerReport {
                name: plan.players[place].name.clone(),
                agent: plan.players[place].agent.to_string(),
                group: groups[place] + 1,
                elo: ratings[place],
                points: results.points(),
                score: results.score(),
                results,
                moving_first: self.moving_first[place],
                moves,
                ms_per_move: each(ms),
                nodes_per_move: each(nodes as f64),
                lost_on_time: self.lost_on_time[place],
                forfeited: self.forfeited[place],
            }
        };
        let moving_first = self.moving_first.iter().fold(MatchScore::default(), |sum, &r| sum + r);
        Report {
            title: plan.title.clone(),
            format: plan.format.to_string(),
            setup: plan.setup,
            seed: plan.seed,
            anchor: plan.anchor.map(|(place, _)| plan.players[place].name.clone()),
            games: self.games,
            planned: plan.games(),
            players: order.iter().map(player).collect(),
            head_to_head: order
                .iter()
                .map(|&row| order.iter().map(|&column| self.cross_table[row][column]).collect())
                .collect(),
            first_player: moving_first,
            first_player_score: moving_first.score(),
            distinct: self.seen.len() as u64,
            repeated: self.games - self.seen.len() as u64,
            lengths: self
                .lengths
                .iter()
                .map(|(&moves, &games)| GameLength { moves, games })
                .collect(),
        }
    }
}

/// The ratings of each group by itself. The anchor applies to its own group; in other groups the
/// mean is 0.
fn group_ratings(
    groups: &[usize],
    scores: &[PairScore],
    anchor: Option<(usize, f64)>,
) -> Vec<Interval> {
    let mut all = vec![Interval::exactly(0.0); groups.len()];
    for group in 0..groups.iter().max().map_or(0, |max| max + 1) {
        let members: Vec<usize> =
            (0..groups.len()).filter(|&player| groups[player] == group).collect();
        let place = |player: usize| members.iter().position(|&member| member == player);
        let own: Vec<PairScore> = scores
            .iter()
            .filter_map(|score| {
                let [a, b] = score.players.map(place);
                Some(PairScore { players: [a?, b?], ..*score })
            })
            .collect();
        let anchor = anchor.and_then(|(player, elo)| Some((place(player)?, elo)));
        for (&member, rating) in members.iter().zip(ratings(members.len(), &own, anchor)) {
            all[member] = rating;
        }
    }
    all
}

/// The report of a tournament: ratings, standings and statistics.
///
/// ```
/// use claimeven_arena::{TournamentPlan, Tournament};
///
/// let plan = TournamentPlan::from_toml("games = 2\nplayers = ['random', 'level:1']")?;
/// let report = Tournament::new(&plan)?.run(None, 1, |_| {})?.report(&plan);
/// let mut csv = Vec::new();
/// report.write_csv(&mut csv)?;
/// assert!(csv.starts_with(b"rank,player,agent,elo,"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "self-explanatory")]
#[non_exhaustive]
pub struct Report {
    pub title: Option<String>,
    /// The name of the plan's [`Format`](crate::Format).
    pub format: String,
    pub setup: Setup,
    pub seed: u64,
    /// The player whose rating is fixed.
    pub anchor: Option<String>,
    /// Games played.
    pub games: u64,
    /// Games of the whole plan.
    pub planned: u64,
    /// All players, the strongest first.
    pub players: Vec<PlayerReport>,
    /// The results of each player against each other player, in the same order.
    #[serde(with = "scores_in_json::table")]
    pub head_to_head: Vec<Vec<MatchScore>>,
    /// The results of the first movers.
    #[serde(with = "scores_in_json::WonDrawnLost")]
    pub first_player: MatchScore,
    /// The points per game of the first movers.
    pub first_player_score: Option<f64>,
    /// Games that differ in their players, in the first mover or in their moves.
    pub distinct: u64,
    /// Games that repeat an earlier one.
    pub repeated: u64,
    /// The distribution of game lengths, including opening moves, the shortest first.
    pub lengths: Vec<GameLength>,
}

/// A player's part of a [`Report`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "self-explanatory")]
#[non_exhaustive]
pub struct PlayerReport {
    pub name: String,
    /// The agent text.
    pub agent: String,
    /// The group, from 1. Ratings of different groups cannot be compared: their players never met
    /// through any chain of games.
    pub group: usize,
    pub elo: Interval,
    #[serde(flatten, with = "scores_in_json::WonDrawnLost")]
    pub results: MatchScore,
    pub points: f64,
    /// Points per game.
    pub score: Option<f64>,
    /// The results as first mover.
    #[serde(with = "scores_in_json::WonDrawnLost")]
    pub moving_first: MatchScore,
    /// Moves chosen by the player, without opening moves.
    pub moves: u64,
    pub ms_per_move: f64,
    pub nodes_per_move: f64,
    pub lost_on_time: u64,
    pub forfeited: u64,
}

/// Scores in the JSON of reports, as `won`, `drawn` and `lost`.
mod scores_in_json {
    use claimeven_zero::MatchScore;
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize)]
    #[serde(remote = "MatchScore")]
    pub(super) struct WonDrawnLost {
        #[serde(rename = "won")]
        wins: u64,
        #[serde(rename = "drawn")]
        draws: u64,
        #[serde(rename = "lost")]
        losses: u64,
    }

    #[derive(Serialize, Deserialize)]
    struct Entry(#[serde(with = "WonDrawnLost")] MatchScore);

    pub(super) mod table {
        use serde::{Deserializer, Serializer};

        use super::{Deserialize, Entry, MatchScore};

        pub(in super::super) fn serialize<S: Serializer>(
            rows: &[Vec<MatchScore>],
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            serializer.collect_seq(
                rows.iter().map(|row| row.iter().copied().map(Entry).collect::<Vec<_>>()),
            )
        }

        pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Vec<Vec<MatchScore>>, D::Error> {
            let rows = Vec::<Vec<Entry>>::deserialize(deserializer)?;
            let scores = |row: Vec<Entry>| row.into_iter().map(|Entry(score)| score).collect();
            Ok(rows.into_iter().map(scores).collect())
        }
    }
}

/// A length of games, and how many games have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "self-explanatory")]
pub struct GameLength {
    pub moves: usize,
    pub games: u64,
}

impl Report {
    /// The mean number of moves per game; `None` without games.
    pub fn mean_length(&self) -> Option<f64> {
        let moves: u64 = self.lengths.iter().map(|length| length.moves as u64 * length.games).sum();
        (self.games > 0).then(|| moves as f64 / self.games as f64)
    }

    /// Games lost on time or forfeited.
    pub fn lost_on_time_or_forfeited(&self) -> u64 {
        self.players.iter().map(|player| player.lost_on_time + player.forfeited).sum()
    }
}
