//! What an unfinished game is worth to a search that can look no further.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use claimeven_game::{Bits, Board, Player, Rules, Ruleset, Setup};
use serde::Deserialize;

use crate::groups::OpenGroups;
use crate::influence::influence_points;

/// The points of a position, seen from one of the players.
///
/// The weights of the named ones are those of the programs that they are known from. Those do
/// not count both players alike: a search asks for the points of the player it thinks for, whoever
/// is to move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heuristic {
    name: String,
    estimate: Estimate,
    /// What a won game is worth.
    finished: i32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Estimate {
    Groups(Weights),
    Runs,
    Influence,
    Nothing,
}

/// Points for groups by what they lack, and for discs in the centre.
///
/// In the classical game a group that is one short has three own discs and an empty cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Weights {
    /// The player's own groups.
    pub own: GroupWeights,
    /// The other player's groups; what counts against the player is negative.
    pub other: GroupWeights,
    /// Each own disc in the centre column, or in the two of a board with an even number.
    pub centre: i32,
}

/// Points for each group that the other player has no disc in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GroupWeights {
    /// A line.
    pub complete: i32,
    /// All but one cell taken.
    pub one_short: i32,
    /// All but two cells taken, and at least one.
    pub two_short: i32,
}

/// The points that stand for infinity: more than any evaluation gives.
const INFINITE: i32 = 1_000_000_000;

/// The evaluations that are data, with what they give for a finished game.
const WEIGHTS: [(&str, i32, Weights); 4] = [
    (
        "sawwan",
        9_999_999,
        Weights {
            own: GroupWeights { complete: 99_999, one_short: 5, two_short: 2 },
            other: GroupWeights { complete: 0, one_short: -999, two_short: 0 },
            centre: 3,
        },
    ),
    (
        "galli",
        10_000_000,
        Weights {
            own: GroupWeights { complete: 100, one_short: 5, two_short: 2 },
            other: GroupWeights { complete: 0, one_short: -4, two_short: 0 },
            centre: 3,
        },
    ),
    (
        "nitk",
        INFINITE,
        Weights {
            own: GroupWeights { complete: 0, one_short: 10, two_short: 7 },
            other: GroupWeights { complete: 0, one_short: -150, two_short: 0 },
            centre: 7,
        },
    ),
    (
        "bits",
        INFINITE,
        Weights {
            own: GroupWeights { complete: 1_000_000, one_short: 100, two_short: 10 },
            other: GroupWeights { complete: -1_000_000, one_short: -100, two_short: -10 },
            centre: 0,
        },
    ),
];

/// The evaluations that are code, with what they give for a finished game.
const FUNCTIONS: [(&str, i32, Estimate); 3] = [
    ("runs", 1_000_000, Estimate::Runs),
    ("terminal", 1_000, Estimate::Nothing),
    ("influence", 1_000_000, Estimate::Influence),
];

impl Heuristic {
    /// The names of the built-in evaluations.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let weights = WEIGHTS.iter().map(|(name, ..)| *name);
        weights.chain(FUNCTIONS.iter().map(|(name, ..)| *name))
    }

    /// The built-in evaluation of that name.
    pub fn named(name: &str) -> Option<Heuristic> {
        let weights = WEIGHTS
            .into_iter()
            .map(|(name, finished, weights)| (name, finished, Estimate::Groups(weights)));
        let (name, finished, estimate) =
            weights.chain(FUNCTIONS).find(|(known, ..)| *known == name)?;
        Some(Heuristic { name: name.to_owned(), estimate, finished })
    }

    /// Reads weights from a TOML file.
    ///
    /// ```toml
    /// finished = 10000000   # a won game; may be left out
    /// centre = 3
    /// own = { complete = 100, one_short = 5, two_short = 2 }
    /// other = { one_short = -4 }
    /// ```
    pub fn from_file(path: &Path) -> Result<Heuristic, HeuristicError> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|error| HeuristicError { name: name.clone(), reason: error.to_string() })?;
        Heuristic::from_toml(name, &text)
    }

    /// Reads weights from the text of a TOML file.
    pub fn from_toml(name: String, text: &str) -> Result<Heuristic, HeuristicError> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct File {
            #[serde(default = "infinite")]
            finished: i32,
            #[serde(default)]
            centre: i32,
            #[serde(default)]
            own: GroupWeights,
            #[serde(default)]
            other: GroupWeights,
        }
        fn infinite() -> i32 {
            INFINITE
        }
        let file: File = match toml::from_str(text) {
            Ok(file) => file,
            Err(error) => {
                let line = error.span().map(|span| 1 + text[..span.start].matches('\n').count());
                let place = line.map_or(String::new(), |line| format!("line {line}: "));
                let reason = format!("{place}{}", error.message().replace('\n', " "));
                return Err(HeuristicError { name, reason });
            }
        };
        let File { finished, centre, own, other } = file;
        if !(1_000..=INFINITE).contains(&finished) {
            let reason = format!("finished = {finished} is not between 1000 and {INFINITE}");
            return Err(HeuristicError { name, reason });
        }
        let estimate = Estimate::Groups(Weights { own, other, centre });
        Ok(Heuristic { name, estimate, finished })
    }

    /// Its name, or the file it was read from.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What a won game is worth, before the plies to it are taken off.
    pub fn finished(&self) -> i32 {
        self.finished
    }

    /// What an unfinished game is worth to a player: less than a won one, more than a lost one.
    #[inline]
    pub fn points<R: Rules>(&self, board: &Board<R>, player: Player) -> i32 {
        let (own, other) = (board.discs(player), board.discs(player.opponent()));
        let points = match &self.estimate {
            Estimate::Groups(weights) => weights.points(board.rules(), own, other),
            Estimate::Runs => run_points(board.rules(), own, other),
            Estimate::Influence => influence_points(board, player),
            Estimate::Nothing => return 0,
        };
        let most = i64::from(self.max_estimate(board.rules().setup()));
        points.clamp(-most, most) as i32
    }

    /// The most that is ever said of an unfinished game: less than of one won with the last disc.
    #[inline]
    pub(crate) fn max_estimate(&self, setup: Setup) -> i32 {
        self.finished - setup.cells() as i32 - 1
    }
}

impl Weights {
    #[inline]
    fn points<R: Rules>(&self, rules: R, own: R::Bits, other: R::Bits) -> i64 {
        let counts_lines = rules.setup().ruleset() == Ruleset::Lines;
        let sum = |weights: &GroupWeights, own: R::Bits, other: R::Bits| {
            let (mut complete, mut one_short, mut two_short) = (0, 0, 0);
            for direction in rules.directions() {
                let groups = OpenGroups::new(rules, direction, own, other);
                if counts_lines {
                    complete += groups.complete.count();
                }
                one_short += groups.one_short.count();
                two_short += groups.two_short.count();
            }
            i64::from(weights.complete) * i64::from(complete)
                + i64::from(weights.one_short) * i64::from(one_short)
                + i64::from(weights.two_short) * i64::from(two_short)
        };
        let centre = i64::from((own & centre(rules)).count());
        sum(&self.own, own, other) + sum(&self.other, other, own) + i64::from(self.centre) * centre
    }
}

/// The centre column, or both of a board with an even number of them.
#[inline]
fn centre<R: Rules>(rules: R) -> R::Bits {
    let (cols, stride) = (u32::from(rules.setup().cols()), rules.stride());
    let first = (R::Bits::ONE << u32::from(rules.setup().rows())) - R::Bits::ONE;
    first << ((cols - 1) / 2 * stride) | first << (cols / 2 * stride)
}

/// For each empty cell and each player 100^(n-1), where n is the longest run of the player's
/// discs that ends beside the cell; own cells less the other's.
///
/// Runs as long as a line and longer count as one disc less than a line: that is what the cell
/// would complete.
fn run_points<R: Rules>(rules: R, own: R::Bits, other: R::Bits) -> i64 {
    let empty = rules.cells() & !(own | other);
    let longest = u32::from(rules.setup().connect()) - 1;
    let sum = |discs: R::Bits| {
        let mut sum = 0_i64;
        // A cell beside a run of n is beside a run of n - 1 too, and gets the difference.
        let (mut value, mut value_before) = (1_i64, 0_i64);
        for length in 1..=longest {
            let beside = rules.directions().into_iter().fold(R::Bits::ZERO, |beside, direction| {
                let up = (0..length)
                    .fold(empty, |cells, step| cells & discs.shifted_down(direction * (step + 1)));
                let down = (0..length)
                    .fold(discs, |runs, step| runs & discs.shifted_down(direction * step));
                beside | up | (empty & shifted_up(down, direction * length))
            });
            if beside.is_empty() {
                break;
            }
            sum += (value - value_before) * i64::from(beside.count());
            value_before = value;
            value = value.saturating_mul(100).min(i64::from(INFINITE));
        }
        sum
    };
    sum(own) - sum(other)
}

/// Shifts up; nothing is left when `by` is the width or more.
fn shifted_up<B: Bits>(bits: B, by: u32) -> B {
    if by < B::WIDTH { bits << by } else { B::ZERO }
}

impl fmt::Display for Heuristic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

impl FromStr for Heuristic {
    type Err = HeuristicError;

    /// A built-in name, or the path of a TOML file.
    fn from_str(text: &str) -> Result<Heuristic, HeuristicError> {
        if let Some(heuristic) = Heuristic::named(text) {
            return Ok(heuristic);
        }
        let path = Path::new(text);
        if path.extension().is_some_and(|extension| extension == "toml") {
            return Heuristic::from_file(path);
        }
        let names: Vec<&str> = Heuristic::names().collect();
        let reason = format!("no such evaluation (there are {} and .toml files)", names.join(", "));
        Err(HeuristicError { name: text.to_owned(), reason })
    }
}

/// An evaluation that cannot be used, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeuristicError {
    /// The name or the file.
    pub name: String,
    /// Why it cannot be used.
    pub reason: String,
}

impl fmt::Display for HeuristicError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.reason)
    }
}

impl std::error::Error for HeuristicError {}
