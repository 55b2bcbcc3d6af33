//! Everything that decides how a network is trained.

use std::fmt;

use claimeven_game::Setup;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::architecture::{Architecture, ArchitectureError};
use crate::gumbel::GumbelParameters;
use crate::lanes::LANES;
use crate::search_tree::TreeParameters;

/// Everything that decides how a network is trained, saved with the run. The same parameters
/// give the same networks, whatever the number of threads and of interruptions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The game and the network.
    pub architecture: Architecture,
    /// Where all randomness comes from.
    pub seed: u64,
    /// How games are played.
    pub self_play: SelfPlayParameters,
    /// How their positions are learnt.
    pub learning: LearningParameters,
    /// When a network replaces the best.
    pub gate: GateParameters,
    /// How the run measures itself. Exact scores are used for nothing else.
    pub exam: ExamParameters,
}

/// How games are played.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelfPlayParameters {
    /// Games of one iteration.
    pub games: u64,
    /// Games that each thread plays at the same time, so that one pass of the network judges a
    /// position of each.
    pub in_flight: usize,
    /// The share of moves with a full search; only their positions are learnt. The others are
    /// played fast, to see more games' ends (*playout-cap randomisation*).
    pub full_share: f32,
    /// The share of these for positions in which the rules leave nothing to find out: a search
    /// never asks about them, but whoever asks the bare network does.
    pub obvious_share: f32,
    /// Simulations of a full search.
    pub full_simulations: u32,
    /// Simulations of a fast one.
    pub fast_simulations: u32,
    /// A game begins with any number of random moves up to this, so that the network also learns
    /// what nobody would play.
    pub opening_plies: u32,
    /// Of any number of openings up to this, the one whose result the network knows least is
    /// played: most random ones are decided.
    pub opening_choice: u32,
    /// The noise of the first move after the opening: 1 draws moves from the policy, 0 takes the
    /// best.
    pub temperature: f32,
    /// After so many plies the noise is half as large.
    pub temperature_half_life: f32,
    /// How much of the value to be learnt is the search's own value; the rest is the result.
    pub search_value_share: f32,
    /// Answers that each thread remembers.
    pub cache: usize,
    /// How the root's moves are weighed.
    pub gumbel: GumbelParameters,
    /// How simulations are divided below the root.
    pub tree: TreeParameters,
}

/// How positions are learnt.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearningParameters {
    /// Samples of a step.
    pub batch: usize,
    /// Samples over which channels are normalised, and which a thread takes at a time.
    pub chunk: usize,
    /// How often a sample is learnt on average before it leaves the window.
    pub passes: f32,
    /// The step size of AdamW in the beginning.
    pub rate: f32,
    /// The step size goes down with the root of the iterations; here it is at 71 %.
    pub rate_patience: f32,
    /// Iterations in which the step size rises from nothing.
    pub warm_up: u32,
    /// How much weights shrink, times the step size.
    pub weight_decay: f32,
    /// How fast the observed means and variances follow the newest.
    pub norm_momentum: f32,
    /// How far the network that plays moves towards the one that learns after every iteration;
    /// an average over the last few is stronger than each of them.
    pub average: f32,
    /// Samples in the window at least, before any are left out.
    pub min_buffer: usize,
    /// The share of all samples so far that the window holds beyond that.
    pub buffer_share: f32,
    /// Samples in the window at most.
    pub max_buffer: usize,
}

/// When a network replaces the best.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateParameters {
    /// Iterations from one match to the next.
    pub every: u64,
    /// Pairs of games; both of a pair begin with the same opening, with colours exchanged.
    pub pairs: u64,
    /// Simulations of a move.
    pub simulations: u32,
    /// Random plies of an opening.
    pub opening_plies: u32,
    /// The share of points that the new network must reach.
    pub threshold: f32,
}

/// How the run measures itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExamParameters {
    /// Iterations from one exam to the next.
    pub every: u64,
    /// Positions, drawn by random play; 0 for no exam, as on boards that are hard to solve.
    pub positions: usize,
    /// Discs on the board at least.
    pub min_plies: u32,
    /// Discs on the board at most.
    pub max_plies: u32,
    /// Simulations of a move in the second part; the first asks the bare policy.
    pub simulations: u32,
}

impl Parameters {
    /// A network that visibly learns within ten minutes of two cores.
    pub fn ten_minutes(setup: Setup) -> Parameters {
        let mut parameters = Parameters::one_hour(setup);
        parameters.self_play.games = 400;
        parameters.self_play.full_simulations = 48;
        parameters.gate.every = 5;
        parameters.exam.every = 1;
        parameters
    }

    /// A good network within an hour of two cores: a small one, because it plays many games.
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

    /// As strong as it gets, over many hours.
    pub fn strongest(setup: Setup) -> Parameters {
        // Openings are the same part of a game on every board.
        let cells = setup.cells();
        let plies = |of_standard: u32| of_standard * cells.min(42) / 42;
        // A board that is larger than the standard one is too hard to solve before it is half full.
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

    /// The game, if a network can be trained with these numbers.
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

    /// Changes one number by its name, such as `learning.rate`. Whether a network can be trained
    /// with it is for [`check`](Parameters::check) to say.
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

    /// Changes all numbers that a document has, which is built as the parameters are.
    pub fn set_all(&mut self, document: &Value) -> Result<(), ParametersError> {
        let mut list = Vec::new();
        list_values("", document, &mut list);
        list.iter().try_for_each(|(name, value)| self.set(name, value))
    }

    /// All numbers with their names, such as `learning.rate`.
    pub fn list(&self) -> Vec<(String, String)> {
        let mut list = Vec::new();
        list_values("", &self.document(), &mut list);
        list
    }

    /// As a document. By way of its text, in which 0.1 is 0.1 and not the nearest number that
    /// single precision has, in double precision.
    fn document(&self) -> Value {
        let text = serde_json::to_string(self).expect("parameters are plain data");
        serde_json::from_str(&text).expect("the text is a document")
    }

    /// The presets by name.
    pub fn preset(name: &str, setup: Setup) -> Option<Parameters> {
        match name {
            "10min" => Some(Parameters::ten_minutes(setup)),
            "1h" => Some(Parameters::one_hour(setup)),
            "strongest" => Some(Parameters::strongest(setup)),
            _ => None,
        }
    }

    /// The names of the presets.
    pub const PRESETS: [&str; 3] = ["10min", "1h", "strongest"];
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

/// Why a network cannot be trained with some numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum ParametersError {
    /// No number has the name.
    Name(String),
    /// A number cannot have the value.
    Value {
        /// Which one.
        name: String,
        /// What it should be.
        value: String,
    },
    /// There is no such network.
    Architecture(ArchitectureError),
    /// A number is out of range.
    Range {
        /// Which one.
        name: &'static str,
        /// What it is.
        value: f64,
        /// The minimum.
        min: f64,
        /// The maximum.
        max: f64,
    },
    /// Samples are learnt sixteen at a time.
    Lanes {
        /// Which number of samples.
        name: &'static str,
        /// What it is.
        samples: usize,
    },
}

impl fmt::Display for ParametersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParametersError::Name(name) => {
                let list = Parameters::ten_minutes(Setup::STANDARD).list();
                let names: Vec<String> = list.into_iter().map(|(name, _)| name).collect();
                write!(f, "there is no parameter '{name}' (there are {})", names.join(", "))
            }
            ParametersError::Value { name, value } => write!(f, "{name} cannot be '{value}'"),
            ParametersError::Architecture(error) => error.fmt(f),
            ParametersError::Range { name, value, min, max } => {
                write!(f, "{name} is {min} to {max}, not {value}")
            }
            ParametersError::Lanes { name, samples } => {
                write!(f, "{name} is a multiple of {LANES}, not {samples}")
            }
        }
    }
}

impl std::error::Error for ParametersError {}

#[cfg(test)]
mod tests {
    use super::*;
    use claimeven_game::Ruleset;

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
        assert_eq!(error("learning.batch", "-1"), "learning.batch cannot be '-1'");
        assert_eq!(error("learning.rate", "fast"), "learning.rate cannot be 'fast'");
        assert_eq!(error("architecture.value", "vague"), "architecture.value cannot be 'vague'");
        for name in ["rate", "learning", "", "learning/rate"] {
            let error = error(name, "1");
            assert!(error.starts_with(&format!("there is no parameter '{name}' (")), "{error}");
            assert!(error.contains("learning.rate, "), "{error}");
        }
    }

    #[test]
    fn presets_can_be_trained_and_bad_numbers_are_named() {
        let boards = [(7, 6, 4), (4, 4, 3), (2, 2, 2), (9, 9, 5), (35, 2, 3)];
        for (cols, rows, connect) in boards {
            let setup = Setup::new(cols, rows, connect, Ruleset::Standard).unwrap();
            for name in Parameters::PRESETS {
                let parameters = Parameters::preset(name, setup).unwrap();
                assert_eq!(parameters.check(), Ok(setup));
            }
        }
        let refused = |change: fn(&mut Parameters)| {
            let mut parameters = Parameters::ten_minutes(Setup::STANDARD);
            change(&mut parameters);
            parameters.check().unwrap_err().to_string()
        };
        for (found, expected) in [
            (refused(|it| it.learning.chunk = 100), "learning.chunk is a multiple of 16, not 100"),
            (refused(|it| it.self_play.games = 0), "self_play.games is 1 to 4294967295, not 0"),
            (
                refused(|it| it.self_play.opening_plies = 22),
                "self_play.opening_plies is 0 to 21, not 22",
            ),
            (
                refused(|it| it.architecture.channels = 0),
                "a network's channels are 1 to 1024, not 0",
            ),
        ] {
            assert_eq!(found, expected);
        }
    }
}
