//! The parameters of a training run.

use std::fmt;

use claimeven_game::{Ruleset, Setup};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::architecture::{Architecture, ArchitectureError};
use crate::gumbel::GumbelParameters;
use crate::lanes::LANES;
use crate::search_tree::{SelectionRule, TreeParameters};

/// The parameters of a training run, saved with it. The same parameters give the same networks,
/// regardless of the number of threads and of interruptions.
///
/// ```
/// use claimeven_game::Setup;
/// use claimeven_zero::Parameters;
///
/// let mut parameters = Parameters::ten_minutes(Setup::STANDARD);
/// parameters.set("learning.rate", "0.001")?;
/// assert_eq!(parameters.check()?, Setup::STANDARD);
/// # Ok::<(), claimeven_zero::ParametersError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The game and the network's shape.
    pub architecture: Architecture,
    /// The seed of all random numbers.
    pub seed: u64,
    /// Self-play.
    pub self_play: SelfPlayParameters,
    /// Training on the replay buffer.
    pub learning: LearningParameters,
    /// The match against the best network.
    pub gate: GateParameters,
    /// The test against exact results, which are used for nothing else.
    pub exam: ExamParameters,
}

/// The parameters of self-play.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelfPlayParameters {
    /// Games per iteration.
    pub games: u64,
    /// The number of games that each thread plays at the same time. A batch contains one position
    /// of each.
    pub in_flight: usize,
    /// The share of moves with a full search (*playout-cap randomisation*). Only their positions
    /// become samples; the others are searched fast, so that more games are finished.
    pub full_share: f32,
    /// The share of samples among positions that need no search, such as immediate wins and forced
    /// moves. Searches never evaluate them, but playing by policy alone does.
    pub obvious_share: f32,
    /// Simulations of a full search.
    pub full_simulations: u32,
    /// Simulations of a fast search.
    pub fast_simulations: u32,
    /// A game starts with a random number of random moves, at most this many, so that the network
    /// also learns about positions that good play avoids.
    pub opening_plies: u32,
    /// The most balanced of up to this many random openings is played, because most random openings
    /// are already decided. The number is random.
    pub opening_choice: u32,
    /// The factor of the Gumbel noise at ply 0: 1 samples moves from the policy, 0 takes the best
    /// move.
    pub temperature: f32,
    /// The number of plies after which the noise is halved.
    pub temperature_half_life: f32,
    /// The share of the search's value in the value target; the rest is the game's result.
    pub search_value_share: f32,
    /// Evaluations that each thread caches.
    pub cache: usize,
    /// Root selection.
    pub gumbel: GumbelParameters,
    /// PUCT below the root.
    pub tree: TreeParameters,
}

/// The parameters of training.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearningParameters {
    /// Samples per step; a multiple of 16.
    pub batch: usize,
    /// The number of samples over which batch normalisation runs, and which a thread processes at a
    /// time; a multiple of 16.
    pub chunk: usize,
    /// How often each new sample is used on average: the steps per iteration are this number times
    /// the new samples divided by the batch size.
    pub passes: f32,
    /// The peak of the learning-rate schedule.
    pub rate: f32,
    /// The learning rate falls with the inverse square root of the iterations: to 71 % of the peak
    /// after this many.
    pub rate_patience: f32,
    /// Iterations of linear warm-up.
    pub warm_up: u32,
    /// The weight decay of AdamW, which is multiplied by the learning rate.
    pub weight_decay: f32,
    /// The momentum of batch normalisation's running means and variances.
    pub norm_momentum: f32,
    /// The network that plays is an exponential moving average of the one being trained, with this
    /// weight for the newest iteration.
    pub average: f32,
    /// The minimum size of the replay buffer, before old samples are removed.
    pub min_buffer: usize,
    /// Beyond the minimum, the share of all samples so far that the replay buffer holds.
    pub buffer_share: f32,
    /// The maximum size of the replay buffer.
    pub max_buffer: usize,
}

/// The parameters of the gate, the match against the best network.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateParameters {
    /// Iterations between matches. Another one is played before a stop.
    pub every: u64,
    /// The maximum number of pairs of games; both games of a pair have the same opening, with
    /// colours exchanged. A sequential test ends clear matches earlier.
    pub pairs: u64,
    /// Simulations per move.
    pub simulations: u32,
    /// Random plies of an opening.
    pub opening_plies: u32,
    /// The score, as a share of the points, that the new network needs to be promoted.
    pub threshold: f32,
}

/// The parameters of the exam.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExamParameters {
    /// Iterations between exams.
    pub every: u64,
    /// The number of positions, sampled by random play; 0 for no exam, on boards that are hard to
    /// solve.
    pub positions: usize,
    /// The minimum number of discs.
    pub min_plies: u32,
    /// The maximum number of discs.
    pub max_plies: u32,
    /// Simulations per move; the policy alone is measured as well.
    pub simulations: u32,
}

impl Parameters {
    /// A network that visibly learns within ten minutes on two cores.
    pub fn ten_minutes(setup: Setup) -> Parameters {
        let mut parameters = Parameters::one_hour(setup);
        parameters.self_play.games = 400;
        parameters.self_play.full_simulations = 48;
        parameters.gate.every = 5;
        parameters.exam.every = 1;
        parameters
    }

    /// A good network within an hour on two cores. It is small, so that it can play many games.
    pub fn one_hour(setup: Setup) -> Parameters {
        let mut parameters = Parameters::strongest(setup);
        parameters.architecture = Architecture::new(setup, 3, 32);
        parameters.self_play.games = 800;
        parameters.self_play.full_simulations = 64;
        parameters.self_play.fast_simulations = 12;
        parameters.learning.rate_patience = 60.0;
        parameters.learning.min_buffer = 20_000;
        parameters.gate.every = 20;
        parameters.exam.simulations = 16;
        parameters
    }

    /// The strongest network, over many hours.
    pub fn strongest(setup: Setup) -> Parameters {
        // Openings are the same fraction of a game on every board.
        let cells = setup.cells();
        let plies = |of_standard: u32| of_standard * cells.min(42) / 42;
        // A board larger than the standard one is too hard to solve before it is half full.
        let exam_plies = if cells > 42 { (cells - 32, cells - 20) } else { (plies(4), plies(16)) };
        Parameters {
            architecture: Architecture::new(setup, 5, 64),
            seed: 1,
            self_play: SelfPlayParameters {
                games: 600,
                in_flight: 128,
                full_share: 0.3,
                obvious_share: 0.2,
                full_simulations: 80,
                fast_simulations: 16,
                opening_plies: plies(12),
                opening_choice: 8,
                temperature: 1.0,
                temperature_half_life: 12.0,
                search_value_share: 0.5,
                cache: 1 << 17,
                gumbel: GumbelParameters::default(),
                tree: TreeParameters::default(),
            },
            learning: LearningParameters {
                batch: 512,
                chunk: 128,
                passes: 6.0,
                rate: 2e-3,
                rate_patience: 200.0,
                warm_up: 2,
                weight_decay: 0.02,
                norm_momentum: 0.1,
                average: 0.4,
                min_buffer: 50_000,
                buffer_share: 0.5,
                max_buffer: 1_500_000,
            },
            gate: GateParameters {
                every: 5,
                pairs: 50,
                simulations: 24,
                opening_plies: plies(6),
                threshold: 0.53,
            },
            exam: ExamParameters {
                every: 5,
                positions: 1000,
                min_plies: exam_plies.0,
                max_plies: exam_plies.1,
                simulations: 64,
            },
        }
    }

    /// The network, the selection rule, the simulations and the gate of an older project: 19 residual
    /// blocks of 128 channels, 777 simulations per move. It learns slowly.
    pub fn of_older_project(setup: Setup) -> Parameters {
        let mut parameters = Parameters::strongest(setup);
        parameters.architecture = Architecture {
            cols: setup.cols(),
            rows: setup.rows(),
            connect: setup.connect(),
            lines: setup.ruleset() == Ruleset::Lines,
            ..Architecture::of_older_project()
        };
        parameters.self_play.games = 100;
        parameters.self_play.full_share = 1.0;
        parameters.self_play.full_simulations = 777;
        parameters.self_play.tree.rule = SelectionRule::Ucb;
        parameters.gate.pairs = 50;
        parameters.gate.threshold = 0.55;
        parameters
    }

    /// The setup, if all parameters are valid.
    pub fn check(&self) -> Result<Setup, ParametersError> {
        let setup = self.architecture.setup().map_err(ParametersError::Architecture)?;
        let (play, learning) = (&self.self_play, &self.learning);
        // Openings that fill the board would leave no game to play.
        let max_plies = f64::from(setup.cells() / 2);
        let any = f64::from(u32::MAX);
        let ranges = [
            ("self_play.games", play.games as f64, 1.0, any),
            ("self_play.in_flight", play.in_flight as f64, 1.0, 65_536.0),
            ("self_play.full_share", play.full_share.into(), 0.0, 1.0),
            ("self_play.obvious_share", play.obvious_share.into(), 0.0, 1.0),
            ("self_play.full_simulations", play.full_simulations.into(), 1.0, any),
            ("self_play.opening_plies", play.opening_plies.into(), 0.0, max_plies),
            ("self_play.opening_choice", play.opening_choice.into(), 1.0, 1000.0),
            ("self_play.temperature", play.temperature.into(), 0.0, 100.0),
            ("self_play.search_value_share", play.search_value_share.into(), 0.0, 1.0),
            ("self_play.gumbel.considered", play.gumbel.considered as f64, 1.0, any),
            ("learning.passes", learning.passes.into(), 0.0, 1000.0),
            ("learning.rate", learning.rate.into(), 0.0, 1.0),
            ("learning.norm_momentum", learning.norm_momentum.into(), 0.0, 1.0),
            ("learning.average", learning.average.into(), 0.0, 1.0),
            ("gate.opening_plies", self.gate.opening_plies.into(), 0.0, max_plies),
            ("gate.threshold", self.gate.threshold.into(), 0.0, 1.0),
            ("exam.max_plies", self.exam.max_plies.into(), 0.0, f64::from(setup.cells() - 1)),
            ("exam.min_plies", self.exam.min_plies.into(), 0.0, self.exam.max_plies.into()),
        ];
        for (name, value, min, max) in ranges {
            if !(min..=max).contains(&value) {
                return Err(ParametersError::Range { name, value, min, max });
            }
        }
        for (name, samples) in
            [("learning.batch", learning.batch), ("learning.chunk", learning.chunk)]
        {
            if samples == 0 || !samples.is_multiple_of(LANES) {
                return Err(ParametersError::Lanes { name, samples });
            }
        }
        Ok(setup)
    }

    /// Sets a parameter by its name, such as `learning.rate`. [`check`](Parameters::check)
    /// validates the value.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), ParametersError> {
        let mut all = self.document();
        let wrong = || ParametersError::Value { name: name.to_owned(), value: value.to_owned() };
        let mut parts = name.split('.');
        let place = parts.try_fold(&mut all, |value, part| value.get_mut(part));
        match place {
            None | Some(Value::Object(_)) => {
                return Err(ParametersError::Name(name.to_owned()));
            }
            Some(text @ Value::String(_)) => *text = Value::String(value.to_owned()),
            Some(number) => *number = serde_json::from_str(value).map_err(|_| wrong())?,
        }
        *self = serde_json::from_value(all).map_err(|_| wrong())?;
        Ok(())
    }

    /// Sets all parameters in a document, which is nested like the parameters.
    pub fn set_all(&mut self, document: &Value) -> Result<(), ParametersError> {
        let mut list = Vec::new();
        list_values("", document, &mut list);
        list.iter().try_for_each(|(name, value)| self.set(name, value))
    }

    /// All parameters as text, with their names, such as `learning.rate`.
    pub fn list(&self) -> Vec<(String, String)> {
        let mut list = Vec::new();
        list_values("", &self.document(), &mut list);
        list
    }

    /// The parameters as a JSON document. They are converted by way of text, so that
    /// single-precision numbers such as 0.1 keep their digits.
    fn document(&self) -> Value {
        let text = serde_json::to_string(self).expect("parameters are plain data");
        serde_json::from_str(&text).expect("the text is a document")
    }

    /// A preset by its name.
    pub fn preset(name: &str, setup: Setup) -> Option<Parameters> {
        match name {
            "10min" => Some(Parameters::ten_minutes(setup)),
            "1h" => Some(Parameters::one_hour(setup)),
            "strongest" => Some(Parameters::strongest(setup)),
            "19x128" => Some(Parameters::of_older_project(setup)),
            _ => None,
        }
    }

    /// The names of the presets.
    pub const PRESETS: [&str; 4] = ["10min", "1h", "strongest", "19x128"];
}

fn list_values(name: &str, value: &Value, list: &mut Vec<(String, String)>) {
    match value {
        Value::Object(parts) => {
            for (part, value) in parts {
                let dot = if name.is_empty() { "" } else { "." };
                list_values(&format!("{name}{dot}{part}"), value, list);
            }
        }
        Value::String(text) => list.push((name.to_owned(), text.clone())),
        number => list.push((name.to_owned(), number.to_string())),
    }
}

/// Why parameters are invalid.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ParametersError {
    /// An unknown parameter.
    Name(String),
    /// An invalid value for the parameter.
    Value {
        /// The parameter.
        name: String,
        /// The value.
        value: String,
    },
    /// An invalid architecture.
    Architecture(ArchitectureError),
    /// A value is out of range.
    Range {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The minimum.
        min: f64,
        /// The maximum.
        max: f64,
    },
    /// A number of samples is not a multiple of sixteen.
    Lanes {
        /// The parameter.
        name: &'static str,
        /// Its value.
        samples: usize,
    },
}

impl fmt::Display for ParametersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParametersError::Name(name) => {
                let list = Parameters::ten_minutes(Setup::STANDARD).list();
                let names: Vec<String> = list.into_iter().map(|(name, _)| name).collect();
                write!(f, "unknown parameter '{name}' (available: {})", names.join(", "))
            }
            ParametersError::Value { name, value } => {
                write!(f, "invalid value '{value}' for {name}")
            }
            ParametersError::Architecture(error) => error.fmt(f),
            ParametersError::Range { name, value, min, max } => {
                write!(f, "{name} must be from {min} to {max}, not {value}")
            }
            ParametersError::Lanes { name, samples } => {
                write!(f, "{name} must be a multiple of {LANES}, not {samples}")
            }
        }
    }
}

impl std::error::Error for ParametersError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ParametersError::Architecture(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_set_by_name() {
        let mut parameters = Parameters::ten_minutes(Setup::STANDARD);
        let list = parameters.list();
        for (name, value) in &list {
            parameters.set(name, value).unwrap();
        }
        assert_eq!(parameters, Parameters::ten_minutes(Setup::STANDARD));
        for (name, value) in [
            ("learning.rate", "0.25"),
            ("self_play.gumbel.considered", "3"),
            ("architecture.value", "tanh"),
            ("architecture.lines", "true"),
        ] {
            parameters.set(name, value).unwrap();
            assert!(parameters.list().contains(&(name.to_owned(), value.to_owned())), "{name}");
        }
        let document = serde_json::json!({ "seed": 7, "learning": { "rate": 0.5, "batch": 32 } });
        parameters.set_all(&document).unwrap();
        assert_eq!((parameters.seed, parameters.learning.batch), (7, 32));
        let error = |name, value| {
            let mut parameters = Parameters::ten_minutes(Setup::STANDARD);
            parameters.set(name, value).unwrap_err().to_string()
        };
        for (name, value) in
            [("learning.batch", "-1"), ("learning.rate", "fast"), ("architecture.value", "vague")]
        {
            assert_eq!(error(name, value), format!("invalid value '{value}' for {name}"));
        }
        for name in ["rate", "learning", "", "learning/rate"] {
            let error = error(name, "1");
            assert!(error.starts_with(&format!("unknown parameter '{name}' (")), "{error}");
            assert!(error.contains("learning.rate, "), "{error}");
        }
    }

    #[test]
    fn presets_are_valid_and_errors_name_the_parameter() {
        let boards = [(7, 6, 4), (4, 4, 3), (2, 2, 2), (9, 9, 5), (35, 2, 3)];
        for (cols, rows, connect) in boards {
            let setup = Setup::new(cols, rows, connect, Ruleset::Standard).unwrap();
            for name in Parameters::PRESETS {
                let parameters = Parameters::preset(name, setup).unwrap();
                assert_eq!(parameters.check(), Ok(setup));
            }
        }
        let error = |change: fn(&mut Parameters)| {
            let mut parameters = Parameters::ten_minutes(Setup::STANDARD);
            change(&mut parameters);
            parameters.check().unwrap_err().to_string()
        };
        for (found, expected) in [
            (
                error(|it| it.learning.chunk = 100),
                "learning.chunk must be a multiple of 16, not 100",
            ),
            (
                error(|it| it.self_play.games = 0),
                "self_play.games must be from 1 to 4294967295, not 0",
            ),
            (
                error(|it| it.self_play.opening_plies = 22),
                "self_play.opening_plies must be from 0 to 21, not 22",
            ),
            (
                error(|it| it.architecture.channels = 0),
                "architecture.channels must be from 1 to 1024, not 0",
            ),
        ] {
            assert_eq!(found, expected);
        }
    }
}
