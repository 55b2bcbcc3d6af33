//! Opponents for people, from a child's first game to perfect play.

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
/// It judges every move as well as its sight allows, and then chooses with a temperature: of two
/// moves, one that is `n` points better is `e^(n / temperature)` times as likely. So its mistakes
/// are small ones mostly, and it never plays just anywhere.
pub struct Level {
    style: &'static Style,
    seed: u64,
    search: Box<dyn Agent>,
    perfect: Perfect,
}

/// How a level plays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style {
    /// What people are told.
    pub about: &'static str,
    /// What it can see.
    pub sight: Sight,
    /// How much it errs; 0 is never.
    pub temperature: f64,
    /// The chance that it overlooks a move that wins at once, or one that averts such a win.
    pub oversight: f64,
}

/// What a level can see.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sight {
    /// So many plies ahead.
    Plies(u32),
    /// The exact scores, or some plies where those are out of reach.
    Exact {
        /// How many plies.
        otherwise: u32,
        /// The temperature, which is then one of points and not of exact scores.
        temperature: f64,
    },
}

/// The levels, weakest first.
pub const LEVELS: [Style; 10] = [
    Style {
        about: "a first game: sees its own move, likes the centre and overlooks a lot",
        sight: Sight::Plies(1),
        temperature: 12.0,
        oversight: 0.5,
    },
    Style {
        about: "looks at your reply, now and then overlooks a row of three",
        sight: Sight::Plies(2),
        temperature: 10.0,
        oversight: 0.2,
    },
    Style {
        about: "takes every win it can reach and blocks most of yours",
        sight: Sight::Plies(2),
        temperature: 7.2,
        oversight: 0.0,
    },
    Style {
        about: "sets up simple double threats",
        sight: Sight::Plies(3),
        temperature: 3.2,
        oversight: 0.0,
    },
    Style {
        about: "thinks four plies ahead, with a few inaccuracies",
        sight: Sight::Plies(4),
        temperature: 2.3,
        oversight: 0.0,
    },
    Style {
        about: "thinks six plies ahead: a good club player",
        sight: Sight::Plies(6),
        temperature: 0.9,
        oversight: 0.0,
    },
    Style {
        about: "knows how every move ends, but is easily distracted",
        sight: Sight::Exact { otherwise: 7, temperature: 0.7 },
        temperature: 1.55,
        oversight: 0.0,
    },
    Style {
        about: "an expert with a weakness for the second-best move",
        sight: Sight::Exact { otherwise: 8, temperature: 0.5 },
        temperature: 1.08,
        oversight: 0.0,
    },
    Style {
        about: "a master who errs once or twice a game",
        sight: Sight::Exact { otherwise: 9, temperature: 0.3 },
        temperature: 0.72,
        oversight: 0.0,
    },
    Style {
        about: "perfect: never gives away a win or a draw",
        sight: Sight::Exact { otherwise: 11, temperature: 0.0 },
        temperature: 0.0,
        oversight: 0.0,
    },
];

/// The most that points can differ: a move that loses at once is no worse than that.
const MAX_POINTS: f64 = 60.0;

/// The table of the strongest level where it has to search, in megabytes.
const TABLE_MB: u32 = 64;

/// How much less likely a move is for each column that it is further from the centre: people do
/// not begin in a corner.
const CENTRE_PULL: f64 = 0.5;

impl Level {
    /// The opponent of a strength from 1 to 10; `None` for other numbers.
    pub fn new(number: usize, options: Options, seed: u64) -> Option<Level> {
        let style = LEVELS.get(number.checked_sub(1)?)?;
        let (Sight::Plies(depth) | Sight::Exact { otherwise: depth, .. }) = style.sight;
        let parameters = DepthParameters { depth, seed, ..DepthParameters::default() };
        // Without mistakes only the best move is of interest.
        let search: Box<dyn Agent> = if style.temperature > 0.0 {
            Box::new(AlphaBeta { parameters, every_move: true })
        } else {
            Box::new(Mtdf::new(parameters, TABLE_MB))
        };
        let perfect = Perfect::new(options, TieBreak::default(), seed);
        Some(Level { style, seed, search, perfect })
    }

    /// Whether exact scores of a game are within reach: of boards no larger than the classical one.
    fn is_solvable(setup: Setup) -> bool {
        Perfect::check(setup).is_ok()
            && (setup.ruleset() == Ruleset::Lines || setup.cells() <= Setup::STANDARD.cells())
    }
}

impl Agent for Level {
    fn decide(&mut self, position: &Position, limits: &Limits) -> Result<Decision, AgentError> {
        // 1. What every move is worth.
        let (exact, temperature) = match self.style.sight {
            Sight::Exact { temperature, .. } if !Level::is_solvable(position.setup()) => {
                (false, temperature)
            }
            Sight::Exact { .. } => (true, self.style.temperature),
            Sight::Plies(_) => (false, self.style.temperature),
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

        // 2. A win or a block may be overlooked.
        let mut random = generator(position, self.seed);
        let overlooks = random.f64() < self.style.oversight;
        if overlooks {
            for (_, points) in &mut moves {
                *points = points.clamp(-MAX_POINTS / 10.0, MAX_POINTS / 10.0);
            }
        } else if decision.value == Value::Win(1) {
            return Ok(decision);
        }

        // 3. The better a move, the likelier it is.
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

/// What an estimate is worth as a number: anything seen to its end is as much as an estimate can be.
fn estimated_points(value: Value, _: &Position) -> f64 {
    match value {
        Value::Win(_) => MAX_POINTS,
        Value::Loss(_) => -MAX_POINTS,
        value => value.number().clamp(-MAX_POINTS, MAX_POINTS),
    }
}

/// The exact score of a move, which is greater the sooner a game is won.
fn exact_points(value: Value, position: &Position) -> f64 {
    let empty = f64::from(position.setup().cells() - position.ply());
    match value {
        Value::Win(plies) => (empty - f64::from(plies)) / 2.0 + 1.0,
        Value::Loss(plies) => -((empty - f64::from(plies)) / 2.0 + 1.0),
        _ => 0.0,
    }
}
