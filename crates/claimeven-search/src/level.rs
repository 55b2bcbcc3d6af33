//! Ten levels of play for human opponents, from beginner to perfect.

use claimeven_game::{Column, Position, Ruleset, Setup};
use claimeven_solver::Options;

use crate::agent::{Agent, AgentError, Decision, Limits, Value};
use crate::alphabeta::AlphaBeta;
use crate::depth_search::DepthParameters;
use crate::mtdf::Mtdf;
use crate::perfect::Perfect;
use crate::tie_break::{TieBreak, generator};

/// An opponent of one of ten strengths.
///
/// It evaluates every move, by search or by the exact solver, and samples one with a softmax: a
/// move that is `n` points better is `e^(n / temperature)` times as likely. So small mistakes are
/// far more frequent than blunders.
///
/// ```
/// use claimeven_game::{Position, Setup};
/// use claimeven_search::{Agent, Level, Limits};
/// use claimeven_solver::Options;
///
/// let mut level = Level::new(3, Options::default(), 1).expect("levels are 1 to 10");
/// let decision = level.decide(&Position::new(Setup::STANDARD), &Limits::default())?;
/// println!("level 3 opens with column {}", decision.column);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Level {
    style: &'static LevelStyle,
    seed: u64,
    search: Box<dyn Agent>,
    perfect: Perfect,
}

/// The playing style of a level.
///
/// ```
/// use claimeven_search::{LEVELS, MoveEvaluation};
///
/// assert_eq!(LEVELS[5].evaluation, MoveEvaluation::Plies(6));
/// println!("level 6 {}", LEVELS[5].about);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelStyle {
    /// The description for users.
    pub about: &'static str,
    /// How it evaluates moves.
    pub evaluation: MoveEvaluation,
    /// The softmax temperature; 0 always plays the best move.
    pub temperature: f64,
    /// The probability of overlooking an immediate win or an immediate threat.
    pub oversight: f64,
}

/// How a level evaluates moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MoveEvaluation {
    /// By a search of this many plies.
    Plies(u32),
    /// By exact scores, or by search on boards that are too large to solve.
    Exact {
        /// The depth of the search.
        fallback_depth: u32,
        /// The temperature of the search, in points of the heuristic.
        fallback_temperature: f64,
    },
}

/// The levels, weakest first.
pub const LEVELS: [LevelStyle; 10] = [
    LevelStyle {
        about: "for your first game: likes the centre and overlooks a lot",
        evaluation: MoveEvaluation::Plies(1),
        temperature: 12.0,
        oversight: 0.5,
    },
    LevelStyle {
        about: "looks at your reply, but sometimes overlooks three in a row",
        evaluation: MoveEvaluation::Plies(2),
        temperature: 10.0,
        oversight: 0.2,
    },
    LevelStyle {
        about: "never misses an immediate win and blocks most of yours",
        evaluation: MoveEvaluation::Plies(2),
        temperature: 7.2,
        oversight: 0.0,
    },
    LevelStyle {
        about: "sets up simple double threats",
        evaluation: MoveEvaluation::Plies(3),
        temperature: 3.2,
        oversight: 0.0,
    },
    LevelStyle {
        about: "searches four plies ahead, with occasional inaccuracies",
        evaluation: MoveEvaluation::Plies(4),
        temperature: 2.3,
        oversight: 0.0,
    },
    LevelStyle {
        about: "searches six plies ahead: a good club player",
        evaluation: MoveEvaluation::Plies(6),
        temperature: 0.9,
        oversight: 0.0,
    },
    LevelStyle {
        about: "knows the exact value of every move, but is easily distracted",
        evaluation: MoveEvaluation::Exact { fallback_depth: 7, fallback_temperature: 0.7 },
        temperature: 1.55,
        oversight: 0.0,
    },
    LevelStyle {
        about: "an expert with a weakness for the second-best move",
        evaluation: MoveEvaluation::Exact { fallback_depth: 8, fallback_temperature: 0.5 },
        temperature: 1.08,
        oversight: 0.0,
    },
    LevelStyle {
        about: "a master who makes one or two mistakes per game",
        evaluation: MoveEvaluation::Exact { fallback_depth: 9, fallback_temperature: 0.3 },
        temperature: 0.72,
        oversight: 0.0,
    },
    LevelStyle {
        about: "perfect: never gives away a win or a draw",
        evaluation: MoveEvaluation::Exact { fallback_depth: 11, fallback_temperature: 0.0 },
        temperature: 0.0,
        oversight: 0.0,
    },
];

/// Points are clamped to this value, so that all decided moves count the same.
const MAX_POINTS: f64 = 60.0;

/// The size in MiB of the transposition table that the strongest level uses where it searches.
const TABLE_MB: u32 = 64;

/// The decrease of a move's log-probability for each column from the centre: people rarely start at
/// the edge.
const CENTRE_PULL: f64 = 0.5;

impl Level {
    /// The opponent of a level from 1 to 10; `None` for other numbers.
    pub fn new(number: usize, options: Options, seed: u64) -> Option<Level> {
        let style = LEVELS.get(number.checked_sub(1)?)?;
        let (MoveEvaluation::Plies(depth) | MoveEvaluation::Exact { fallback_depth: depth, .. }) =
            style.evaluation;
        let parameters = DepthParameters { depth, seed, ..DepthParameters::default() };
        // With temperature 0 only the best move matters.
        let search: Box<dyn Agent> = if style.temperature > 0.0 {
            Box::new(AlphaBeta::new(parameters).with_exact_moves())
        } else {
            Box::new(Mtdf::new(parameters, TABLE_MB))
        };
        let perfect = Perfect::new(options, TieBreak::default(), seed);
        Some(Level { style, seed, search, perfect })
    }

    /// Whether positions are solved exactly: on boards no larger than the standard one.
    fn is_solvable(setup: Setup) -> bool {
        Perfect::check(setup).is_ok()
            && (setup.ruleset() == Ruleset::Lines || setup.cells() <= Setup::STANDARD.cells())
    }
}

impl Agent for Level {
    fn memory(&self) -> usize {
        self.search.memory() + self.perfect.memory()
    }

    fn decide(&mut self, position: &Position, limits: &Limits) -> Result<Decision, AgentError> {
        // 1. Evaluate every move.
        let (exact, temperature) = match self.style.evaluation {
            MoveEvaluation::Exact { fallback_temperature, .. }
                if !Level::is_solvable(position.setup()) =>
            {
                (false, fallback_temperature)
            }
            MoveEvaluation::Exact { .. } => (true, self.style.temperature),
            MoveEvaluation::Plies(_) => (false, self.style.temperature),
        };
        let agent: &mut dyn Agent = if exact { &mut self.perfect } else { &mut *self.search };
        let decision = agent.decide(position, limits)?;
        if temperature == 0.0 || decision.stopped {
            return Ok(decision);
        }
        let points = if exact { exact_points } else { estimated_points };
        let mut moves: Vec<(Column, f64)> = Column::all(position.setup())
            .zip(&decision.columns)
            .filter_map(|(column, known)| Some((column, points(known.as_ref()?.value, position))))
            .collect();

        // 2. An immediate win or threat may be overlooked.
        let mut random = generator(position, self.seed);
        let overlooks = random.f64() < self.style.oversight;
        if overlooks {
            for (_, points) in &mut moves {
                *points = points.clamp(-MAX_POINTS / 10.0, MAX_POINTS / 10.0);
            }
        } else if decision.value == Value::Win(1) {
            return Ok(decision);
        }

        // 3. Sample a move by softmax.
        let best = moves.iter().map(|(_, points)| *points).fold(f64::NEG_INFINITY, f64::max);
        let weight = |&(column, points): &(Column, f64)| {
            let distance = f64::from(column.distance_from_centre(position.setup())) / 2.0;
            ((points - best) / temperature - CENTRE_PULL * distance).exp()
        };
        let total: f64 = moves.iter().map(weight).sum();
        let mut rest = random.f64() * total;
        let chosen = moves.iter().find(|choice| {
            rest -= weight(choice);
            rest < 0.0
        });
        let column = chosen.map_or(decision.column, |(column, _)| *column);
        if column == decision.column {
            return Ok(decision);
        }
        let value = decision.columns[column.index()].map_or(decision.value, |known| known.value);
        Ok(Decision { column, value, pv: vec![column], ..decision })
    }
}

/// The points of a heuristic value; proven wins and losses have the maximum.
fn estimated_points(value: Value, _: &Position) -> f64 {
    match value {
        Value::Win(_) => MAX_POINTS,
        Value::Loss(_) => -MAX_POINTS,
        value => value.number().clamp(-MAX_POINTS, MAX_POINTS),
    }
}

/// The exact score of a move.
fn exact_points(value: Value, position: &Position) -> f64 {
    let empty = f64::from(position.setup().cells() - position.ply());
    match value {
        Value::Win(plies) => (empty - f64::from(plies)) / 2.0 + 1.0,
        Value::Loss(plies) => -((empty - f64::from(plies)) / 2.0 + 1.0),
        _ => 0.0,
    }
}
