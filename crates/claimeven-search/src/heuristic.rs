//! Heuristic evaluation of unfinished games, for depth-limited searches.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::{fmt, io};

use claimeven_game::{Bits, Board, Player, Rules, Ruleset, Setup};
use serde::Deserialize;

use crate::groups::OpenGroups;
use crate::influence::influence_points;

/// A heuristic evaluation: the points of an unfinished game for one of the players.
///
/// The built-in ones are named after the programs that their weights come from. Most do not treat
/// both players alike, so a search always uses the points of the player at its root, whoever is to
/// move.
///
/// ```
/// use claimeven_game::{Board, Player, Position, Setup, with_board};
/// use claimeven_search::Heuristic;
///
/// let galli: Heuristic = "galli".parse()?;
/// let position = Position::from_moves(Setup::STANDARD, "4")?;
/// let points = with_board!(position, board => galli.points(&board, Player::First));
/// assert_eq!(points, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heuristic {
    name: String,
    estimate: Estimate,
    /// The points of a won game.
    finished: i32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Estimate {
    Groups(Weights),
    Runs,
    Influence,
    Nothing,
}

/// The weights of a heuristic: points for groups by their number of empty cells, and for discs in
/// the centre.
///
/// In the standard game, a group that is one short has three own discs and one empty cell.
///
/// ```
/// use claimeven_search::{GroupWeights, Weights};
///
/// let own = GroupWeights { one_short: 5, two_short: 2, ..GroupWeights::default() };
/// let other = GroupWeights { one_short: -4, ..GroupWeights::default() };
/// let weights = Weights { own, other, centre: 3 };
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Weights {
    /// The player's own groups.
    pub own: GroupWeights,
    /// The opponent's groups; points against the player are negative.
    pub other: GroupWeights,
    /// Each own disc in the centre column, or in the two centre columns if their number is even.
    pub centre: i32,
}

/// The weights of groups without a disc of the opponent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GroupWeights {
    /// All cells taken.
    pub complete: i32,
    /// All but one cell taken.
    pub one_short: i32,
    /// All but two cells taken, and at least one.
    pub two_short: i32,
}

/// An upper bound on the points of every heuristic.
const INFINITE: i32 = 1_000_000_000;

/// The built-in heuristics defined by weights, with the points of a won game.
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

/// The built-in heuristics defined by functions, with the points of a won game.
const FUNCTIONS: [(&str, i32, Estimate); 3] = [
    ("runs", 1_000_000, Estimate::Runs),
    ("terminal", 1_000, Estimate::Nothing),
    ("influence", 1_000_000, Estimate::Influence),
];

impl Heuristic {
    /// The names of the built-in heuristics.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let weights = WEIGHTS.iter().map(|(name, ..)| *name);
        weights.chain(FUNCTIONS.iter().map(|(name, ..)| *name))
    }

    /// The built-in heuristic with a name.
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
    /// finished = 10000000   # a won game; optional
    /// centre = 3
    /// own = { complete = 100, one_short = 5, two_short = 2 }
    /// other = { one_short = -4 }
    /// ```
    pub fn from_file(path: &Path) -> Result<Heuristic, HeuristicError> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|source| HeuristicError::Read { path: path.to_owned(), source })?;
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
                let reason = error.message().replace('\n', " ");
                return Err(HeuristicError::Invalid { name, line, reason });
            }
        };
        let File { finished, centre, own, other } = file;
        if !(1_000..=INFINITE).contains(&finished) {
            let reason = format!("finished = {finished} is not between 1000 and {INFINITE}");
            return Err(HeuristicError::Invalid { name, line: None, reason });
        }
        let estimate = Estimate::Groups(Weights { own, other, centre });
        Ok(Heuristic { name, estimate, finished })
    }

    /// The name, or the file it was read from.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The points of a won game, before the plies to it are subtracted.
    pub fn finished(&self) -> i32 {
        self.finished
    }

    /// The points of an unfinished game for a player: fewer than for a win, more than for a loss.
    pub fn points<R: Rules>(&self, board: &Board<R>, player: Player) -> i32 {
        #[cfg(target_arch = "x86_64")]
        if x86::has_popcnt() {
            #[allow(unsafe_code, reason = "it calls a function with target features")]
            // SAFETY: the processor has these instructions, as just checked.
            return unsafe { x86::points(self, board, player) };
        }
        self.points_body(board, player)
    }

    #[inline(always)]
    #[allow(clippy::inline_always, reason = "it is compiled for the target features of its caller")]
    fn points_body<R: Rules>(&self, board: &Board<R>, player: Player) -> i32 {
        let (own, other) = (board.discs(player), board.discs(player.opponent()));
        let points = match &self.estimate {
            Estimate::Groups(weights) => weights.points(board.rules(), own, other),
            Estimate::Runs => run_points(board.rules(), own, other),
            Estimate::Influence => influence_points(board, player),
            Estimate::Nothing => return 0,
        };
        let max = i64::from(self.max_estimate(board.rules().setup()));
        points.clamp(-max, max) as i32
    }

    /// The maximum for an unfinished game, which is less than for a win with the last disc.
    #[inline]
    pub(crate) fn max_estimate(&self, setup: Setup) -> i32 {
        self.finished - setup.cells() as i32 - 1
    }
}

/// The evaluation compiled for BMI1 and POPCNT, which not every x86-64 processor has.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::sync::LazyLock;

    use claimeven_solver::is_portable;

    use super::{Board, Heuristic, Player, Rules};

    /// Whether the processor has BMI1 and POPCNT.
    #[inline]
    pub(super) fn has_popcnt() -> bool {
        static HAS_POPCNT: LazyLock<bool> = LazyLock::new(|| {
            !is_portable() && is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("popcnt")
        });
        *HAS_POPCNT
    }

    #[target_feature(enable = "bmi1,popcnt")]
    pub(super) fn points<R: Rules>(heuristic: &Heuristic, board: &Board<R>, player: Player) -> i32 {
        heuristic.points_body(board, player)
    }
}

impl Weights {
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "it is compiled for the target features of its caller")]
    fn points<R: Rules>(&self, rules: R, own: R::Bits, other: R::Bits) -> i64 {
        let centre = i64::from((own & centre(rules)).count());
        self.own.points(rules, own, other)
            + self.other.points(rules, other, own)
            + i64::from(self.centre) * centre
    }
}

impl GroupWeights {
    /// The points for the groups of the player with the discs `own`.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "it is compiled for the target features of its caller")]
    fn points<R: Rules>(&self, rules: R, own: R::Bits, other: R::Bits) -> i64 {
        let counts_lines = rules.setup().ruleset() == Ruleset::Lines;
        let (mut complete, mut one_short, mut two_short) = (0, 0, 0);
        for direction in rules.directions() {
            let groups = OpenGroups::new(rules, direction, own, other);
            if counts_lines {
                complete += groups.complete.count();
            }
            one_short += groups.one_short.count();
            two_short += groups.two_short.count();
        }
        i64::from(self.complete) * i64::from(complete)
            + i64::from(self.one_short) * i64::from(one_short)
            + i64::from(self.two_short) * i64::from(two_short)
    }
}

/// The centre column, or both of them on a board with an even number of columns.
#[inline]
fn centre<R: Rules>(rules: R) -> R::Bits {
    let (cols, stride) = (u32::from(rules.setup().cols()), rules.stride());
    let first = (R::Bits::ONE << u32::from(rules.setup().rows())) - R::Bits::ONE;
    first << ((cols - 1) / 2 * stride) | first << (cols / 2 * stride)
}

/// For each empty cell and each player 100^(n-1), where n is the longest run of the player's
/// discs that ends next to the cell; own points minus the opponent's.
///
/// Runs of `connect` discs or more count as one disc short, which the cell would complete.
fn run_points<R: Rules>(rules: R, own: R::Bits, other: R::Bits) -> i64 {
    let empty = rules.cells() & !(own | other);
    let longest = u32::from(rules.setup().connect()) - 1;
    let sum = |discs: R::Bits| {
        let mut sum = 0_i64;
        // A cell next to a run of n is also next to a run of n - 1, so it gets the difference.
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

/// Shifts up; 0 if `by` is the width or more.
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

    /// Parses the name of a built-in heuristic. Weights in a file are read by
    /// [`Heuristic::from_file`].
    fn from_str(text: &str) -> Result<Heuristic, HeuristicError> {
        Heuristic::named(text).ok_or_else(|| HeuristicError::Unknown(text.to_owned()))
    }
}

/// Why a heuristic cannot be loaded.
#[derive(Debug)]
#[non_exhaustive]
pub enum HeuristicError {
    /// There is no built-in heuristic with this name.
    Unknown(String),
    /// The file cannot be read.
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The weights are invalid.
    Invalid {
        /// The name of the file.
        name: String,
        /// The line of the error, if known.
        line: Option<usize>,
        /// What is wrong.
        reason: String,
    },
}

impl fmt::Display for HeuristicError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeuristicError::Unknown(name) => {
                let names: Vec<&str> = Heuristic::names().collect();
                write!(f, "unknown evaluation '{name}' (available: {})", names.join(", "))
            }
            HeuristicError::Read { path, source } => write!(f, "{}: {source}", path.display()),
            HeuristicError::Invalid { name, line: Some(line), reason } => {
                write!(f, "{name}: line {line}: {reason}")
            }
            HeuristicError::Invalid { name, line: None, reason } => write!(f, "{name}: {reason}"),
        }
    }
}

impl std::error::Error for HeuristicError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            HeuristicError::Read { source, .. } => Some(source),
            _ => None,
        }
    }
}
